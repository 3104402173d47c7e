/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_hooks.c - the bare limit of recording: hooks that read the counter and keep the last
 * reading.
 */
#include <stdint.h>

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static volatile uint64_t last;

static inline void take(void)
{
#if defined(__x86_64__)
    last = __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    last = ticks;
#else
    last++;
#endif
}

void __cyg_profile_func_enter(void *function, void *site)
{
    (void)function;
    (void)site;
    take();
}

void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
    take();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what time it is, cheaply.
 *
 * Wall time is the processor's counter where the kernel itself trusts it as its clock (13 ns a
 * reading against 30 for clock_gettime), else CLOCK_MONOTONIC.  A counter's reading becomes
 * nanoseconds only afterwards, by two pairs of readings of both clocks.
 */
#ifndef TV_RECORDER_CLOCK_H
#define TV_RECORDER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Both clocks at one moment. */
struct tv_clock_pair {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

/* From readings to nanoseconds since the first pair. */
struct tv_clock_scale {
    uint64_t first;
    double ns_per_tick;
};

#if defined(__x86_64__)
#define TV_CLOCK_HAS_COUNTER 1
static inline uint64_t tv_clock_counter(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define TV_CLOCK_HAS_COUNTER 1
static inline uint64_t tv_clock_counter(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#define TV_CLOCK_HAS_COUNTER 0
static inline uint64_t tv_clock_counter(void)
{
    return 0;
}
#endif

static inline uint64_t tv_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* One reading of the wall clock: ticks with the counter, else nanoseconds. */
static inline uint64_t tv_clock_read(bool counter)
{
    return counter ? tv_clock_counter() : tv_clock_ns(CLOCK_MONOTONIC);
}

/* Does the counter of this machine run evenly on all cores, also in sleep? */
bool tv_clock_counter_is_reliable(void);

/* Both at once: of a few tries the one with the least time between the two. */
struct tv_clock_pair tv_clock_read_pair(bool counter);

/* The scale between two pairs, the first of which is time 0. */
struct tv_clock_scale tv_clock_scale_between(bool counter, struct tv_clock_pair first,
                                        struct tv_clock_pair last);

static inline uint64_t tv_clock_to_ns(const struct tv_clock_scale *scale, uint64_t ticks)
{
    /* A counter of another core may lie a few ticks before the start. */
    if (ticks <= scale->first)
        return 0;
    return (uint64_t)((double)(ticks - scale->first) * scale->ns_per_tick);
}

/* What reading the wall clock, the CPU clock or both costs: undisturbed, in ns. */
uint32_t tv_clock_measure_overhead(bool counter, bool wall, bool cpu);

#endif

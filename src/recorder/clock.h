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

#include <stdatomic.h>
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

/*
 * cpu_clock.h - the CPU time of the calling thread, without asking the kernel each time.
 *
 * While a thread keeps its processor, its CPU time grows as the wall clock does.  So the kernel is
 * asked only after the thread has lost its processor, and every 10 ms:
 *
 *     CPU time = what the kernel said last + the wall time since then
 *
 * A task-clock event of perf_event_open tells when that was: the kernel maps a page of it into the
 * process, and adds 2 to the page's `lock` each time the thread gets a processor.  A reading takes
 * one load more than the wall clock's; the system call takes 150 to 900 ns.  Where the system
 * allows no such event, each reading is the system call.
 *
 * Interrupts, and time that a hypervisor took, are not CPU time for the kernel but pass here, until
 * it is asked again.  A thread's time never decreases: it waits for the kernel's to catch up.
 *
 * A forked child does not have the page.  It records nothing before a new begin, which has each
 * thread look at the process again.
 */

/* A thread's.  All zeros: it has not read the clock yet. */
struct tv_cpu_clock {
    const volatile uint32_t *switches; /* in the kernel's page; NULL: there is none */
    uint32_t number;                   /* of the begin for which this is set up */
    uint32_t asked_switches;           /* when the kernel was asked last */
    uint64_t asked_ticks, asked_ns;
    uint64_t last_ns; /* the latest reading */
    int pid;          /* of the process that has the page */
};

/* Of the process. */
struct tv_cpu_clock_rate {
    _Atomic uint32_t number; /* of the last begin; 0: none yet */
    bool counter;            /* ticks are the counter's, else nanoseconds */
    double ns_per_tick;
    uint64_t most_ticks; /* 10 ms */
};

extern __thread struct tv_cpu_clock tv_cpu_clock_self __attribute__((tls_model("initial-exec")));
extern struct tv_cpu_clock_rate tv_cpu_clock_rate;

/* Begin to measure, before threads read the clock; takes 5 ms with the counter, whose rate is
 * learnt. */
void tv_cpu_clock_begin(bool counter);

/* End the calling thread's part, when it ends; later readings are system calls. */
void tv_cpu_clock_end(void);

/* What tv_cpu_clock_ns does when the kernel has to be asked. */
uint64_t tv_cpu_clock_resync(void);

/* The calling thread's CPU time, in nanoseconds. */
static inline uint64_t tv_cpu_clock_ns(void)
{
    struct tv_cpu_clock *self = &tv_cpu_clock_self;
    const struct tv_cpu_clock_rate *rate = &tv_cpu_clock_rate;
    if (!self->switches ||
        self->number != atomic_load_explicit(&rate->number, memory_order_acquire))
        return tv_cpu_clock_resync();
    /* The load comes second: who lost the processor before it sees the change. */
    uint64_t since = tv_clock_read(rate->counter) - self->asked_ticks;
    atomic_signal_fence(memory_order_seq_cst);
    if (*self->switches != self->asked_switches || since >= rate->most_ticks)
        return tv_cpu_clock_resync();
    uint64_t ns = self->asked_ns + (uint64_t)((double)since * rate->ns_per_tick);
    if (ns > self->last_ns)
        self->last_ns = ns;
    return self->last_ns;
}

#endif

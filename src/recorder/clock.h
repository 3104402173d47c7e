/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - cheap clocks: wall time and the CPU time of a thread.
 *
 * Wall time is the processor's cycle counter where the kernel itself trusts it as its clock (13 ns
 * a reading), else CLOCK_MONOTONIC (30 ns).  Readings of the counter become nanoseconds only when
 * the file is written, by two pairs of readings of both clocks.
 */
#ifndef TV_RECORDER_CLOCK_H
#define TV_RECORDER_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Readings of both clocks at one moment. */
struct tv_clock_pair {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

/* Converts readings to nanoseconds since the first pair. */
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

/* Read the wall clock: ticks of the counter, or nanoseconds. */
static inline uint64_t tv_clock_read(bool counter)
{
    return counter ? tv_clock_counter() : tv_clock_ns(CLOCK_MONOTONIC);
}

/* Does the counter run evenly on all cores of this machine, also in sleep? */
bool tv_clock_counter_is_reliable(void);

/* Read both clocks: of a few tries, the one with the shortest time between the two readings. */
struct tv_clock_pair tv_clock_read_pair(bool counter);

/* Return the scale between two pairs, the first of which is time 0. */
struct tv_clock_scale tv_clock_scale_between(bool counter, struct tv_clock_pair first,
                                             struct tv_clock_pair last);

static inline uint64_t tv_clock_to_ns(const struct tv_clock_scale *scale, uint64_t ticks)
{
    /* The counter of another core may lie a few ticks before the start. */
    if (ticks <= scale->first)
        return 0;
    return (uint64_t)((double)(ticks - scale->first) * scale->ns_per_tick);
}

/* Measure the undisturbed cost of a reading of the wall clock, the CPU clock or both, in ns. */
uint32_t tv_clock_measure_overhead(bool counter, bool wall, bool cpu);

/*
 * The CPU time of the calling thread, without a system call at each reading.
 *
 * While a thread keeps its processor, its CPU time grows like the wall clock.  So the kernel is
 * asked only after the thread has lost its processor, and every 10 ms:
 *
 *     CPU time = last answer of the kernel + wall time since then
 *
 * A task-clock event of perf_event_open shows when the thread lost its processor: the kernel maps a
 * page of the event into the process, and adds 2 to the page's `lock` each time the thread is
 * scheduled in. A reading takes one load more than one of the wall clock; the system call takes 150
 * to 900 ns.  Where the system allows no such event, each reading is the system call.
 *
 * Interrupts and time that a hypervisor stole do not count as CPU time for the kernel, but pass
 * here until the kernel is asked again.  The time of a thread never decreases: it waits until the
 * kernel's has caught up.
 *
 * A forked child does not have the page.  It records nothing before its own tv_cpu_clock_begin,
 * after which each thread sees that the process is another one.
 */

/* The clock of a thread.  All zeros: it has not been read yet. */
struct tv_cpu_clock {
    const volatile uint32_t *switches; /* in the kernel's page; NULL: there is none */
    uint32_t number;                   /* rate.number for which it is set up */
    uint32_t asked_switches;           /* at the last system call */
    uint64_t asked_ticks, asked_ns;
    uint64_t last_ns; /* the latest result */
    int pid;          /* process that has the page */
};

/* The clock of the process. */
struct tv_cpu_clock_rate {
    _Atomic uint32_t number; /* number of the last begin; 0: none yet */
    bool counter;            /* ticks are of the counter, else nanoseconds */
    double ns_per_tick;
    uint64_t most_ticks; /* 10 ms */
};

extern __thread struct tv_cpu_clock tv_cpu_clock_self __attribute__((tls_model("initial-exec")));
extern struct tv_cpu_clock_rate tv_cpu_clock_rate;

/* Begin to measure, before any thread reads the clock.  With the counter it takes 5 ms to learn
 * its rate. */
void tv_cpu_clock_begin(bool counter);

/* End the calling thread's clock, when it ends; later readings are system calls. */
void tv_cpu_clock_end(void);

/* Read the clock with the system call. */
uint64_t tv_cpu_clock_resync(void);

/* Return the calling thread's CPU time, in nanoseconds. */
static inline uint64_t tv_cpu_clock_ns(void)
{
    struct tv_cpu_clock *self = &tv_cpu_clock_self;
    const struct tv_cpu_clock_rate *rate = &tv_cpu_clock_rate;
    if (!self->switches ||
        self->number != atomic_load_explicit(&rate->number, memory_order_acquire))
        return tv_cpu_clock_resync();
    /* Load the switches second: a thread that lost the processor before the first reading sees
     * it. */
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

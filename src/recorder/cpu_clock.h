/* SPDX-License-Identifier: Apache-2.0 */
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
#ifndef TV_RECORDER_CPU_CLOCK_H
#define TV_RECORDER_CPU_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "recorder/clock.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.h - samples of other processes by the kernel (perf_event_open): nothing becomes part of the
 * programs, none of their threads is stopped, and no signal is sent.
 *
 *     open.c     events on every thread and processor    -> rings the kernel writes into
 *     ring.c     records of all processors, in order      record.c  one record
 *     spaces.c   which file an address belongs to         collect.c records to samples
 *     names.c    places to names: ELF, /tmp/perf-PID.map, kallsyms
 *
 *     tv_perf_open - (the program starts) - tv_perf_wait ... - tv_perf_finish - tv_perf_close
 *
 * Times of samples are CLOCK_MONOTONIC.  A sample is taken whenever a thread has run for a period,
 * so a sample stands for that much CPU time, and threads that wait have none.
 */
#ifndef TV_PERF_PERF_H
#define TV_PERF_PERF_H

#include <sys/types.h>

#include "base/error.h"
#include "recorder/samples/samples.h"

#define TV_PERF_DEPTH 127u /* of stacks, unless the system says otherwise */

struct tv_perf_options {
    pid_t pid;
    bool is_running;    /* record its threads from now on; else from its next exec on */
    bool off_cpu;       /* record times off the processors too */
    uint32_t depth;     /* frames of a stack; 0: what the kernel takes */
    bool copies_stacks; /* unwind copies by tables, else the kernel follows frame pointers */
    uint64_t rate;      /* samples in a second of CPU time */
};

struct tv_perf;

/* TV_ERR_UNSUPPORTED: the system does not allow it, or has nothing of the kind; the message says
 * what to do about it. */
enum tv_status tv_perf_open(const struct tv_perf_options *options, struct tv_perf **perf,
                            struct tv_error *err) TV_MUST_CHECK;
void tv_perf_close(struct tv_perf *perf);

/* Can the kernel's part of the stacks be seen? */
bool tv_perf_sees_kernel(const struct tv_perf *perf);

/* Wait until there is something to read, `also` can be read (-1: nothing), a signal comes or the
 * time is over; then read.  True: `also` can be read. */
bool tv_perf_wait(struct tv_perf *perf, int also, int timeout_ms);

/* Stop, and fill *samples, which is empty; to be released. */
void tv_perf_finish(struct tv_perf *perf, struct tv_samples *samples);

#endif

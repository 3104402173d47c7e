/* SPDX-License-Identifier: Apache-2.0 */
/* perf.h - samples of other processes, taken by the kernel (perf_event_open): nothing is loaded
 * into the programs, none of their threads is stopped, and no signal is sent.
 *
 *     open.c      one event per thread and processor    --> the kernel writes into rings
 *     records.c   parses records, sorts those of all processors by time
 *     spaces.c    which file an address belongs to
 *     collect.c   records to samples with places
 *     names.c     places to names: ELF, symbol_list.c (/tmp/perf-PID.map, jitdump, kallsyms)
 *
 *     tv_perf_open - (the program starts) - tv_perf_wait ... - tv_perf_finish - tv_perf_close
 *
 * Sample times are CLOCK_MONOTONIC. A sample is taken whenever a thread has run for one period, so
 * a sample stands for that much CPU time, and waiting threads have no samples. */
#ifndef TV_PERF_PERF_H
#define TV_PERF_PERF_H

#include <sys/types.h>

#include "base/error.h"
#include "recorder/samples/samples.h"

#define TV_PERF_DEPTH 127u /* frames per stack, unless the system sets another limit */

struct tv_perf_options {
    pid_t pid;
    bool is_running;    /* record its threads now; false: from its next exec on */
    bool off_cpu;       /* record off-CPU times, too */
    uint32_t depth;     /* frames per stack; 0: the limit of the kernel */
    bool copies_stacks; /* unwind copied stacks with tables; false: the kernel follows frame
                           pointers */
    uint64_t rate;      /* samples per second of CPU time */
};

struct tv_perf;

/* Open the events. TV_ERR_UNSUPPORTED: the system does not allow or support them; the message says
 * what to do. */
enum tv_status tv_perf_open(const struct tv_perf_options *options, struct tv_perf **perf,
                            struct tv_error *err) TV_MUST_CHECK;
void tv_perf_close(struct tv_perf *perf);

/* May we see the kernel part of stacks? */
bool tv_perf_sees_kernel(const struct tv_perf *perf);

/* Wait until there are records, `also` is readable (-1: nothing), a signal comes or the time is
 * over; then read the records. True: `also` is readable. */
bool tv_perf_wait(struct tv_perf *perf, int also, int timeout_ms);

/* Stop recording and fill *samples, which must be empty; the caller releases it. */
void tv_perf_finish(struct tv_perf *perf, struct tv_samples *samples);

#endif

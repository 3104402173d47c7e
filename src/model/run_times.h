/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_times.h - CPU times of what a program tells, from what the kernel tells of its threads.
 *
 * A trace of a program beside that of the kernel (machines.h) may have no CPU clock: the CPU time
 * of its slices is then the time that their thread ran meanwhile (ftrace.md section 5).
 */
#ifndef TV_MODEL_RUN_TIMES_H
#define TV_MODEL_RUN_TIMES_H

#include "model/trace.h"

/* When threads and offsets of inputs are final.  Threads with a CPU clock of their own, and those
 * of which another input tells no states, stay as they are. */
void tv_trace_time_runs(struct tv_trace *trace);

#endif

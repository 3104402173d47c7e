/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - puts the clocks of several inputs against each other.
 *
 * One moment is marked in two inputs with one id (tables->clock_syncs).  The one that asked for the
 * mark knows when it asked and when it had the answer: the moment is taken to be in the middle, its
 * error is the time between.  Inputs that name the same clock (tv_input.clock) need no mark.  One
 * that counts from a zero of its own and is tied to none begins where the others do.
 */
#ifndef TV_MODEL_FINALIZE_H
#define TV_MODEL_FINALIZE_H

#include "model/trace.h"

/* Sets trace->offset of each input whose clock can be put against that of an earlier one, by the
 * way of the least error, and of those that none can be.  Counts TV_DIAGNOSTIC_CLOCK_EXTRA and
 * _UNTIED. */
void tv_trace_align_clocks(struct tv_trace *trace);

/*
 * machines.h - one process that several inputs tell of: a trace of the kernel beside that of a
 * program, on one machine and in one file.
 *
 * Inputs of one machine are known by their processes (tv_process.machine).  There, processes of one
 * id are one, and so are threads of one id in them; each keeps the tracks that any input gives it.
 * Ids that are no plain numbers, and the id 0 of what tells none, stay apart.
 */

/* Before the tables are sorted. Numbers of processes and threads change. */
void tv_trace_merge_machines(struct tv_trace *trace);

/*
 * known_names.h - what one input knows of the processes and threads of another: a list of
 * processes that was taken beside a trace.
 *
 * A reader fills tables->known_names; they are applied when all inputs are there, whichever came
 * first.  Of several rows for one id the last stands, and one of the same machine (machines.h)
 * before one of another.  They name what has no name of its own.  On their machine they also
 * replace what only the kernel says: it names a process by its first thread and cuts that to 15
 * bytes.  Of another machine only the whole name that begins or ends with those replaces them. What
 * processors ran is then called as the thread is.
 */

/* Whether `name` is what the kernel keeps of `whole`: its beginning, or on Android its end. */
bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole);

/* Gives threads without a process that which a row of their machine tells, made when missing.
 * Before tv_trace_merge_machines(). */
void tv_known_names_assign_processes(struct tv_trace *trace);

/* Behind it. */
void tv_known_names_apply(struct tv_trace *trace);

/*
 * run_times.h - CPU times of what a program tells, from what the kernel tells of its threads.
 *
 * A trace of a program beside that of the kernel (machines.h) may have no CPU clock: the CPU time
 * of its slices is then the time that their thread ran meanwhile (ftrace.md section 5).
 */

/* When threads and offsets of inputs are final.  Threads with a CPU clock of their own, and those
 * of which another input tells no states, stay as they are. */
void tv_trace_derive_cpu_times(struct tv_trace *trace);

#endif

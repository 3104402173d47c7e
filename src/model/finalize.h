/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalize.h - the steps of tv_trace_finalize that combine several inputs.
 *
 * Clocks: tv_trace_align_clocks.  Two inputs mark the same moment with one id
 * (tables->clock_syncs).  The input that requested the mark knows when it asked and when it got the
 * answer; the moment is taken to be in the middle, within half of that time.  Inputs that name the
 * same clock (tv_input.clock) need no mark.  An input that counts from a zero of its own and has no
 * tie begins where the others begin.
 *
 *     input A   ---asked----------answered---      time of the mark = middle
 *     input B   --------- mark --------------      offset of B = middle - mark
 */
#ifndef TV_MODEL_FINALIZE_H
#define TV_MODEL_FINALIZE_H

#include "model/trace.h"

/* Set trace->offset of each input whose clock can be aligned with an earlier one, along the path of
 * least error.  Count TV_DIAGNOSTIC_CLOCK_EXTRA and _UNTIED. */
void tv_trace_align_clocks(struct tv_trace *trace);

/*
 * Machines: one process may occur in several inputs, as in a kernel trace and in a trace of the
 * program from the same machine.
 *
 * tv_process.machine tells the machine.  On one machine, processes with equal ids are the same, and
 * so are threads with equal ids in them; each keeps the tracks from every input.  Ids that are not
 * plain numbers, and the id 0 of unknown, stay separate.
 */

/* Merge processes and threads of one machine, which renumbers them; call this before the tables are
 * sorted. `assigned`: threads got processes that other inputs have. */
void tv_trace_merge_machines(struct tv_trace *trace, bool assigned);

/*
 * Known names: one input names processes and threads of another, as a process list taken beside a
 * trace does.
 *
 * A reader fills tables->known_names; they apply once all inputs are read, whatever their order.
 * Of several rows for one id the last one counts, and a row of the same machine counts before one
 * of another.  They name what has no name.  On their own machine they also replace names from the
 * kernel, which names a process after its first thread and keeps 15 bytes; from another machine a
 * name replaces these only if it is the full form of the 15 bytes.  Slices of processors then take
 * the names of their threads.
 */

/* Return whether `name` is what the kernel keeps of `whole`: its first 15 bytes, or on Android its
 * last. */
bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole);

/* Give each thread without a process the one that a row of its machine names, adding it if needed,
 * or the one in which another input of its machine has a thread with the same tid.
 * Return whether any got one.  Call this before tv_trace_merge_machines. */
bool tv_known_names_assign_processes(struct tv_trace *trace);

/* Apply the names, after tv_trace_merge_machines. */
void tv_known_names_apply(struct tv_trace *trace);

/*
 * CPU times: a program's trace without a CPU clock, beside a kernel trace of the same machine,
 * takes the CPU time of each slice from the times in which its thread ran (ftrace.md section 5).
 */

/* Derive CPU times when threads and offsets are final.  Threads with a CPU clock, and threads
 * without states in another input, stay as they are. */
void tv_trace_derive_cpu_times(struct tv_trace *trace);

#endif

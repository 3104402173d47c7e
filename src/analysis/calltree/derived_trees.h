/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived_trees.h - call trees of samples and of threads, and compensation for the cost of
 * recording.
 */
#ifndef TV_ANALYSIS_CALLTREE_DERIVED_TREES_H
#define TV_ANALYSIS_CALLTREE_DERIVED_TREES_H

#include "analysis/calltree/call_tree.h"
#include "base/error.h"

/* ---- Samples ----
 *
 * The call tree of samples: how often each stack was seen, and its weight.
 */

/* Return the tree of the samples in a selection: samples with a time in the range, of the threads
 * of its tracks (NULL: all samples) or, if `threads` [head->thread_count] is given, of those
 * threads.  `calls` of a node counts the samples with it on their stacks, `wall` is their measure,
 * `cpu` is 0.  Samples without a stack count only in
 * the tree's figures. */
struct tv_call_tree *tv_sample_tree_of_trace(const struct tv_trace *trace,
                                             const struct tv_selection *selection,
                                             const bool *threads,
                                             const struct tv_sample_question *question);

/* No file has this weight: the smallest that is read is one more. */
#define TV_SAMPLE_LEFT_OUT INT64_MIN

/* Return the measure of each sample of the trace, by its row; TV_SAMPLE_LEFT_OUT if it is not in
 * that tree.  Free
 * it with tv_free. */
int64_t *tv_sample_measures(const struct tv_trace *trace, const struct tv_selection *selection,
                            const bool *threads, const struct tv_sample_question *question);

/* ---- Threads ----
 *
 * The call tree of a trace with a node for each thread under the root, as
 * tree_sink.c makes it without a trace.
 */

/* Return the call tree of a trace with a node for each thread under the root.  A thread's node
 * has the frame TV_THREAD_FRAME + thread and no cost of its own. */
struct tv_call_tree *tv_call_tree_by_thread(const struct tv_trace *trace,
                                            const struct tv_selection *selection, unsigned workers);

/* ---- Compensation ----
 *
 * Subtract the cost of recording from the times of calls.
 *
 * A file may state what reading its clocks costs (clock-call-overhead-nsec).  Each call was
 * recorded by two readings, and a recorded time is somewhere within its reading.  The rest of the
 * entry's reading and the beginning of the exit's are within the call, which makes one reading,
 * wherever that time is; the other halves, also one reading, are in the caller.  So subtract
 *
 *   from the own time of a path        its calls + the calls directly inside
 *   from the inclusive time of a path  its calls + 2 * all calls inside
 *
 * readings, on both clocks: reading a clock is work like any other.  Own times stop at 0, and an
 * inclusive time shrinks by exactly as much as the own times within it, so that sums remain sums.
 * Calls that a range cuts count as whole ones.
 */

/* Return the nanoseconds of one clock reading, the smallest that an input states; 0 if an input
 * states none or an impossible value. */
tv_ns tv_clock_cost(const struct tv_trace_info *head);

/* Find the cost by which a trace can be compensated; fail with the reason if it cannot. */
enum tv_status tv_compensation_find(const struct tv_trace_info *head, tv_ns *cost,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Subtract the cost from a tree that owns its costs and was neither compensated nor reduced to
 * some frames before.  The tree's `compensation` holds the total. */
void tv_call_tree_compensate(struct tv_call_tree *tree, tv_ns cost);

#endif

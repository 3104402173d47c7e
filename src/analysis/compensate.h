/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compensate.h - takes what recording itself cost off the times of calls.
 *
 * A file may state what reading its clocks cost (clock-call-overhead-nsec). Each call was recorded
 * by two readings. The time that a record tells stands somewhere within its reading: what of the
 * entry's comes after that point and what of the exit's comes before it lies within the call, and
 * makes one reading wherever the point is; the rest, also one reading, lies in the caller. So
 *
 *     own time of a path       less (its calls + the calls directly inside) readings
 *     inclusive time of a path less (its calls + 2 * all calls inside) readings
 *
 * by both clocks, for reading the clock is work like any other. No own time gets below 0, and an
 * inclusive time is less by exactly what its own times within are, so sums stay sums. Calls that a
 * range cuts count as whole ones.
 */
#ifndef TV_ANALYSIS_COMPENSATE_H
#define TV_ANALYSIS_COMPENSATE_H

#include "analysis/call_tree.h"
#include "base/error.h"

/* Nanoseconds that a reading of the clocks took: the smallest that is stated; 0: an input does not
 * say, or says what cannot be. */
tv_ns tv_clock_cost(const struct tv_trace_info *head);

/* The cost by which the times of a trace can be compensated; fails with the reason why they cannot.
 */
enum tv_status tv_compensation_find(const struct tv_trace_info *head, tv_ns *cost,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Takes the cost off the figures of a tree, which are its own and whole: none were compensated or
 * sifted before. What was taken off in all stands in the tree. */
void tv_call_tree_compensate(struct tv_call_tree *tree, tv_ns cost);

#endif

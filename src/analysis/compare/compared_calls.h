/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compared_calls.h - the single calls of some methods of a comparison: how their lengths are
 * distributed on each side, and which are the slowest.
 *
 *     trace of a run --> durations of each method --> added to the run's side
 *
 * Lengths are on the clock of the comparison; percentiles of a side are medians over its runs, as
 * those of the comparison.
 */
#ifndef TV_ANALYSIS_COMPARE_COMPARED_CALLS_H
#define TV_ANALYSIS_COMPARE_COMPARED_CALLS_H

#include "analysis/compare/comparison.h"
#include "analysis/states/statistics.h"

/* ---- What the calls of one run on each side can tell ----
 *
 * As how many independent calls they are as good, and how uncertain the change of their mean is
 * within these two traces.  Calls of one run depend on each other, so that thousands can be worth a
 * few dozen; and how much runs differ is not in them at all.  There is no p.
 */

/* Return as how many independent values the mean of `count` values, in the order of time, is as
 * good: by the initial positive sequence of their autocovariances (Geyer 1992).  At most `count`,
 * which it is for equal values. */
double tv_call_noise_effective(const double *values, size_t count);

/* The relative change of the mean, and the 95 % interval of a block bootstrap (circular blocks,
 * 1,000 drawings with a fixed seed). */
struct tv_call_noise {
    double effective[2]; /* of base and new */
    double mean[2];
    double change, low, high; /* NAN: a side has too few calls */
};

/* Minimum number of calls of each side for an interval. */
#define TV_MIN_NOISE_CALLS 20u

/* Compute it from the lengths of the calls of both sides, in the order of time. */
void tv_call_noise_of(const tv_ns *const lengths[2], const size_t counts[2],
                      struct tv_call_noise *noise);

/* ---- The calls of the rows of a comparison ---- */

/* Maximum number of rows with calls: the first of the comparison, which are the most certain. */
#define TV_COMPARED_CALLS_ROWS 50u

struct tv_compared_call {
    uint32_t run;   /* in the table */
    uint32_t track; /* string: name of its thread or track */
    tv_ns start;    /* on the axis of its trace */
    tv_ns length;
};

/* The calls of a row on one side. */
struct tv_side_calls {
    uint64_t count; /* of all runs */
    uint64_t buckets[TV_DURATION_BUCKETS];
    struct tv_compared_call slowest[TV_SLOWEST]; /* longest first; of equals the earlier run */
    uint32_t slowest_count;
    double median, p95, max; /* medians over the runs; NAN: unknown */
};

struct tv_calls_of_row {
    struct tv_side_calls side[2]; /* TV_RUN_BASE, TV_RUN_NEW */
    tv_ns *single[2];             /* with one run on each side: lengths one by one, until the end */
    size_t single_count[2];
    struct tv_call_noise noise; /* of these; mean[0] is 0 with more runs */
    double *lengths;            /* [runs][3]: median, p95 and max of each run; NAN: unknown */
};

struct tv_compared_calls {
    const struct tv_comparison *comparison;
    struct tv_interner *strings;
    struct tv_calls_of_row *rows; /* the first rows of the comparison */
    uint32_t count;
};

/* Begin without calls, for a comparison by method, which must outlive the result. */
void tv_compared_calls_init(struct tv_compared_calls *calls,
                            const struct tv_comparison *comparison);
void tv_compared_calls_release(struct tv_compared_calls *calls);

/* Add the calls of a run, which is a number in the table, from a selection of its trace. */
void tv_compared_calls_add(struct tv_compared_calls *calls, uint32_t run,
                           const struct tv_trace *trace, const struct tv_selection *selection);

/* After the last run: compute the percentiles of the sides. */
void tv_compared_calls_finish(struct tv_compared_calls *calls);

#endif

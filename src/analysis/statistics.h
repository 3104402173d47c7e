/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - how long the slices of each name take: count, sums, extremes, percentiles, and the
 * histogram of one name.
 *
 * A slice counts when it touches the range, and then with its whole length: a percentile of clipped
 * lengths would speak of the range, not of the program.  (The profile clips.)  Async tracks count
 * as well, unless tracks are chosen.
 *
 * Lengths are those on the trace's axis, or the CPU time of the slices: then those without one
 * count among the slices, and nowhere else.
 *
 * All figures are exact.  The median of an even count is the mean of the two in the middle, rounded
 * down; the 95th percentile is the smallest length that at least 95 of 100 slices do not exceed.
 */
#ifndef TV_ANALYSIS_STATISTICS_H
#define TV_ANALYSIS_STATISTICS_H

#include "analysis/calltree/call_tree.h"

struct tv_frame_statistics {
    uint32_t frame;
    uint64_t count;
    int64_t length;     /* sum, on the trace's axis */
    int64_t cpu;        /* sum over those that have CPU times */
    uint64_t cpu_count; /* how many have */
    /* By the clock that was asked for. */
    uint64_t measured; /* how many have a time */
    int64_t self;      /* sum less the times of the slices directly inside */
    tv_ns min, average, median, p95, max;
};

struct tv_statistics {
    struct tv_frame_statistics *frames; /* those that have slices, by frame */
    uint32_t count;
};

/* Needs 8 bytes for each of some millions of slices while it works, and passes over the trace again
 * for the next so many. */
struct tv_statistics *tv_statistics_of(const struct tv_trace *trace,
                                       const struct tv_selection *selection, bool by_cpu);
void tv_statistics_free(struct tv_statistics *statistics);

/* Ten buckets a power of ten, with whole bounds: 0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20 ... */
#define TV_DURATION_BUCKETS 188

/* The first length of a bucket; that of bucket TV_DURATION_BUCKETS is behind all. */
tv_ns tv_duration_bound(uint32_t bucket);
/* The bucket of a length; what is below 0 belongs to bucket 0. */
uint32_t tv_duration_bucket(tv_ns length);

#define TV_SLOWEST 10

struct tv_slow_slice {
    uint32_t row, index;
    tv_ns start, length; /* the length by the clock that was asked for */
};

struct tv_durations {
    struct tv_frame_statistics figures;
    uint64_t buckets[TV_DURATION_BUCKETS];
    struct tv_slow_slice slowest[TV_SLOWEST]; /* the longest first; of equals that in the row above,
                                               * then the earlier */
    uint32_t slowest_count;
};

/* The same figures of one frame, and how its lengths lie. */
void tv_durations_of(const struct tv_trace *trace, const struct tv_selection *selection,
                     uint32_t frame, bool by_cpu, struct tv_durations *durations);

/* The value that stands at place `rank` (from 0) when all are sorted; none is below 0. In time
 * proportional to their number whatever they are. */
tv_ns tv_statistics_select(const tv_ns *values, size_t count, size_t rank);

#endif

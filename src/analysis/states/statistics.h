/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.h - how long the slices of each name take: count, sum, extremes and percentiles, and
 * the histogram of one name.
 *
 * A slice counts if it touches the range, with the part within the range, as in a profile; `cut`
 * tells how many reach beyond it.  Asynchronous tracks count too, unless the selection names
 * tracks.
 *
 * Lengths are on the trace's axis, or CPU times; in that case slices without CPU time count as
 * slices, but nowhere else.
 *
 * All figures are exact.  The median of an even count is the mean of the middle two, rounded down;
 * the 95th percentile is the smallest length that at least 95 % of the slices do not exceed; the
 * 90th and the 99th likewise.
 */
#ifndef TV_ANALYSIS_STATES_STATISTICS_H
#define TV_ANALYSIS_STATES_STATISTICS_H

#include "analysis/calltree/call_tree.h"
#include "model/trace.h"

struct tv_frame_statistics {
    uint32_t frame;
    uint64_t count;
    int64_t length;     /* sum, on the trace's axis */
    int64_t cpu;        /* sum over slices with CPU time */
    uint64_t cpu_count; /* number of slices with CPU time */
    uint64_t cut;       /* number of slices that reach beyond the range */
    /* By the clock that was asked for: */
    uint64_t measured; /* number of slices with a time */
    int64_t self;      /* sum minus the times of direct children */
    tv_ns min, average, median, p90, p95, p99, max;
};

struct tv_statistics {
    struct tv_frame_statistics *frames; /* those with slices, by frame */
    uint32_t count;
};

/* Compute the statistics.  Needs 8 bytes for each of up to some millions of slices; for more
 * slices it passes over the trace again. */
struct tv_statistics *tv_statistics_of(const struct tv_trace *trace,
                                       const struct tv_selection *selection, bool by_cpu);
void tv_statistics_free(struct tv_statistics *statistics);

/* Ten buckets per power of ten, with whole bounds: 0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20 ... */
#define TV_DURATION_BUCKETS 188

/* Return the first length of a bucket; bucket TV_DURATION_BUCKETS is after all lengths. */
tv_ns tv_duration_bound(uint32_t bucket);
/* Return the bucket of a length; negative lengths are in bucket 0. */
uint32_t tv_duration_bucket(tv_ns length);

#define TV_SLOWEST 10

struct tv_slow_slice {
    uint32_t row, index;
    tv_ns start, length; /* length by the clock that was asked for */
};

struct tv_durations {
    struct tv_frame_statistics figures;
    uint64_t buckets[TV_DURATION_BUCKETS];
    struct tv_slow_slice slowest[TV_SLOWEST]; /* longest first; of equals the one in the upper row,
                                                 then the earlier */
    uint32_t slowest_count;
};

/* Compute the same figures for one frame, and the histogram of its lengths. */
void tv_durations_of(const struct tv_trace *trace, const struct tv_selection *selection,
                     uint32_t frame, bool by_cpu, struct tv_durations *durations);

/* Return the same lengths one by one: row by row, in the order of time.  Free the list with
 * tv_free.
 */
tv_ns *tv_durations_list(const struct tv_trace *trace, const struct tv_selection *selection,
                         uint32_t frame, bool by_cpu, size_t *count);

/* Return the value of rank `rank` (from 0) in sorted order; no value may be negative.  Takes
 * linear time for any values. */
tv_ns tv_statistics_select(const tv_ns *values, size_t count, size_t rank);

/* Return the median and the percentiles of at least one value, none of which may be negative, as
 * defined above; `percent` is 90, 95 or 99. */
tv_ns tv_statistics_median(const tv_ns *values, size_t count);
tv_ns tv_statistics_percentile(const tv_ns *values, size_t count, unsigned percent);

/* ---- Sums over all slices ----
 */

/* Sums over the slices of threads; the last three are of other tracks. */
struct tv_slice_sums {
    uint64_t slices;
    uint64_t unfinished; /* open at the end of the trace */
    int64_t length;      /* nanoseconds, of all */
    int64_t self;        /* nanoseconds: length minus that of the children */
    uint64_t async;      /* slices of asynchronous tracks */
    uint32_t cpus;       /* processors that have a track or are named by samples */
    uint64_t cpu_slices; /* slices of processors */
};

/* Compute the sums in one pass over all slices. */
struct tv_slice_sums tv_slice_sums_of(const struct tv_trace *trace);

#endif

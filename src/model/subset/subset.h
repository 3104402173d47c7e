/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset.h - creates a trace from selected slices of another one, nested anew, and from selected
 * rows of its tables.
 *
 * The parent of a slice is its nearest selected ancestor.  Flows and waits of a slice that is not
 * selected move to that ancestor, too.  The new trace is finished and immutable like any other; it
 * has the axis of the original and uses its trace info and its sources.
 *
 * A filter with a range clips everything to it and drops flows that lead outside.
 */
#ifndef TV_MODEL_SUBSET_SUBSET_H
#define TV_MODEL_SUBSET_SUBSET_H

#include "model/trace.h"

/* One bit for each slice of each set of columns: [columns_count], at row.first + index. */
struct tv_slice_set {
    uint64_t **bits;
    uint32_t columns_count;
};

void tv_slice_set_init(struct tv_slice_set *set, const struct tv_trace *trace); /* empty */
void tv_slice_set_release(struct tv_slice_set *set);

static inline bool tv_slice_set_has(const struct tv_slice_set *set, uint32_t columns, uint64_t at)
{
    return set->bits[columns][at / 64] >> (at % 64) & 1;
}

static inline void tv_slice_set_put(struct tv_slice_set *set, uint32_t columns, uint64_t at,
                                    bool there)
{
    uint64_t *word = &set->bits[columns][at / 64], bit = (uint64_t)1 << (at % 64);
    *word = there ? *word | bit : *word & ~bit;
}

/* The selection.  Arrays have one element per row of a table; NULL: everything. */
struct tv_subset_filter {
    struct tv_slice_set slices;
    bool *threads; /* [head->thread_count]: for contexts, wake-ups, blockings, and tracks without
                      slices */
    const bool *tracks; /* [track_count]: tracks that stay without slices */
    bool *frames; /* [head->frame_count]: for stacks of samples; a sample whose stack becomes empty
                     is dropped */
    bool *instants, *counters, *objects, *samples, *memory_dumps;
    /* Range [from, to) on the axis of the trace.  Slices are clipped to it, in whole ticks; the
     * arrays above decide about slices, and about rows with a single time.  NULL: everything. */
    const struct tv_subset_range *range;
    bool own_ends;    /* drop a flow when a slice at one of its ends is dropped */
    unsigned workers; /* 0: one per processor, where that helps */
};

struct tv_subset_range {
    tv_ns from, to;
};

/* Return whether the trace has no slices and no rows in tables of events. */
bool tv_trace_is_empty(const struct tv_trace *trace);

/* Free the slice set and the arrays of tables; the caller owns threads, tracks and frames. */
void tv_subset_filter_release(struct tv_subset_filter *filter);

/* Create the subset.  `trace` must live as long as the result. */
struct tv_trace *tv_trace_subset(const struct tv_trace *trace,
                                 const struct tv_subset_filter *filter);

/* Make the subset independent: it takes what it needs from the original trace, which is freed. */
void tv_trace_take_over(struct tv_trace *subset, struct tv_trace *from);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sift.h - a trace of some of the slices of another, nested anew, and of some rows of its tables.
 *
 * The parent of a slice is the nearest slice around it that is kept.  The new trace is finished and
 * immutable like any other, has the axis of the one it was made from, and uses its head and its
 * sources.  Arrows and waits of a slice that is not kept become those of its new parent.
 *
 * A filter with a range cuts what it keeps to it, and leaves arrows out that lead beyond.
 */
#ifndef TV_MODEL_SUBSET_SUBSET_H
#define TV_MODEL_SUBSET_SUBSET_H

#include "model/trace.h"

/* A bit for each slice of each of a trace's columns: [columns_count], at row.first + index. */
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

/* What is kept.  Arrays are by the number of a row; NULL: all. */
struct tv_subset_filter {
    struct tv_slice_set slices;
    bool *threads;      /* [head->thread_count]: of contexts, wake-ups and blockings, and of tracks
                         * that have no slices anyway */
    const bool *tracks; /* [track_count]: that stay without slices */
    bool *frames; /* [head->frame_count]: of the stacks of samples; a sample goes with the last
                   * frame of its stack */
    bool *instants, *counters, *objects, *samples, *memory_dumps;
    /* [from, to) of the trace's axis: what lasts is cut to it, in whole ticks; of the slices, and
     * of what has one time, the arrays above say whether they are kept.  NULL: all. */
    const struct tv_subset_range *range;
    bool own_ends;    /* an arrow goes with a slice at one of its ends */
    unsigned workers; /* threads that share the work; 0: one a processor, where that pays */
};

struct tv_subset_range {
    tv_ns from, to;
};

/* That it has nothing at all: no slices, and no rows in tables of what happened. */
bool tv_trace_is_empty(const struct tv_trace *trace);

/* Frees the slices and the arrays of tables; threads, tracks and frames are their maker's. */
void tv_subset_filter_release(struct tv_subset_filter *filter);

/* The trace must live as long as what is made of it. */
struct tv_trace *tv_trace_subset(const struct tv_trace *trace,
                                 const struct tv_subset_filter *filter);

/* Ends that: the subset trace takes over what it needs of the one it was made from, which is
 * freed. */
void tv_trace_take_over(struct tv_trace *subset, struct tv_trace *from);

#endif

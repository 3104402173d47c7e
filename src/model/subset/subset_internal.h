/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sift_tables.h - what of a trace's tables a filter keeps, and what they ask of the walk over its
 * slices: where one went.
 *
 * For the files of sift.h alone.
 */
#ifndef TV_MODEL_SUBSET_SUBSET_INTERNAL_H
#define TV_MODEL_SUBSET_SUBSET_INTERNAL_H

#include "model/subset/subset.h"

/* A slice that a table or a wait names, and where it went. */
struct tv_subset_ref {
    uint32_t row, index;
    uint32_t new_row, new_index; /* of itself or the nearest one around it; row TV_NONE: none */
    bool kept;                   /* itself */
};

/* Sorted by row and index, each once. */
struct tv_subset_refs {
    struct tv_subset_ref *rows;
    size_t count;
};

/* All that are named in a trace. */
void tv_subset_refs_collect(struct tv_subset_refs *refs, const struct tv_trace *trace);
void tv_subset_refs_release(struct tv_subset_refs *refs);

/* Those of a row: [*first, *end). */
void tv_subset_refs_of_row(const struct tv_subset_refs *refs, uint32_t row,
                           struct tv_subset_ref **first, struct tv_subset_ref **end);

/* Fills the tables of `to` and the waits of its tracks, when all refs are answered;
 * made[track] is the new track or TV_NONE. */
void tv_subset_tables(struct tv_trace *to, const struct tv_trace *from,
                      const struct tv_subset_filter *filter, const struct tv_subset_refs *refs,
                      const uint32_t *made);

#endif

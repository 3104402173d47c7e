/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_internal.h - references from tables to slices, shared by subset.c and subset_tables.c.
 *
 * Before the walks, all references (from flows, waits, extras) are collected and sorted by slice.
 * The second walk stores in each one where its slice went.
 */
#ifndef TV_MODEL_SUBSET_SUBSET_INTERNAL_H
#define TV_MODEL_SUBSET_SUBSET_INTERNAL_H

#include "model/subset/subset.h"

/* A reference to a slice, and where it went. */
struct tv_subset_ref {
    uint32_t row, index;
    uint32_t new_row,
        new_index; /* of the slice or its nearest selected ancestor; row TV_NONE: none */
    bool kept;     /* the slice itself is selected */
};

/* Sorted by row and index, without duplicates. */
struct tv_subset_refs {
    struct tv_subset_ref *rows;
    size_t count;
};

/* Collect all references in a trace. */
void tv_subset_refs_collect(struct tv_subset_refs *refs, const struct tv_trace *trace);
void tv_subset_refs_release(struct tv_subset_refs *refs);

/* Return the references to slices of a row: [*first, *end). */
void tv_subset_refs_of_row(const struct tv_subset_refs *refs, uint32_t row,
                           struct tv_subset_ref **first, struct tv_subset_ref **end);

/* Fill the tables of `to` and the waits of its tracks after all references are resolved;
 * made[track] is the new track or TV_NONE. */
void tv_subset_tables(struct tv_trace *to, const struct tv_trace *from,
                      const struct tv_subset_filter *filter, const struct tv_subset_refs *refs,
                      const uint32_t *made);

#endif

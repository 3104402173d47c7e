/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sift_tables.h - what of a trace's tables a sieve keeps, and what they ask of the walk over its
 * slices: where one went.
 *
 * For the files of sift.h alone.
 */
#ifndef TV_MODEL_SIFT_TABLES_H
#define TV_MODEL_SIFT_TABLES_H

#include "model/sift.h"

/* A slice that a table or a wait names, and where it went. */
struct tv_sift_spot {
    uint32_t row, index;
    uint32_t new_row, new_index; /* of itself or the nearest one around it; row TV_NONE: none */
    bool kept;                   /* itself */
};

/* Sorted by row and index, each once. */
struct tv_sift_spots {
    struct tv_sift_spot *rows;
    size_t count;
};

/* All that are named in a trace. */
void tv_sift_spots_gather(struct tv_sift_spots *spots, const struct tv_trace *trace);
void tv_sift_spots_release(struct tv_sift_spots *spots);

/* Those of a row: [*first, *end). */
void tv_sift_spots_of_row(const struct tv_sift_spots *spots, uint32_t row,
                          struct tv_sift_spot **first, struct tv_sift_spot **end);

/* Fills the tables of `to` and the waits of its tracks, when all spots are answered;
 * made[track] is the new track or TV_NONE. */
void tv_sift_tables(struct tv_trace *to, const struct tv_trace *from, const struct tv_sieve *sieve,
                    const struct tv_sift_spots *spots, const uint32_t *made);

#endif

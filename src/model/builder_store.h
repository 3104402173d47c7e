/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_store.h - the builder's columns: allocated by count, written where each slice stays.
 *
 * For the files of the builder and trace.c alone.
 */
#ifndef TV_MODEL_BUILDER_STORE_H
#define TV_MODEL_BUILDER_STORE_H

#include "model/trace.h"

/* Columns for `count` slices in `blocks` blocks with the clocks of an input. */
void tv_columns_init(struct tv_columns *columns, uint64_t count, uint64_t blocks, unsigned clocks);
void tv_columns_release(struct tv_columns *columns);

static inline uint32_t tv_blocks_for(uint32_t slices)
{
    return (slices + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
}

/* Where the next slice of a row goes. */
struct tv_place {
    uint64_t first;       /* of the row, in the columns */
    uint64_t first_block; /* the same */
    uint32_t next;        /* index in the row */
    uint32_t count;       /* of the row */
};

/* Writes the start of the slice at `place` and moves on. */
TV_INLINE uint64_t tv_place_start(struct tv_columns *columns, struct tv_place *place, int64_t wall,
                                  int64_t cpu, uint32_t path, unsigned flags)
{
    uint64_t at = place->first + place->next;
    if (TV_UNLIKELY(place->next % TV_BLOCK_SLICES == 0)) {
        struct tv_slice_block *block =
            &columns->blocks[place->first_block + place->next / TV_BLOCK_SLICES];
        block->wall_base = wall;
        block->cpu_base = cpu;
        block->wide = TV_NONE;
    }
    if (columns->start)
        columns->start[at] = (uint32_t)wall;
    if (columns->cpu_start)
        columns->cpu_start[at] = (uint32_t)cpu;
    columns->path[at] = path;
    columns->flags[at] = (uint8_t)flags;
    place->next++;
    return at;
}

/* Writes the lengths of a slice. */
TV_INLINE void tv_place_length(struct tv_columns *columns, uint64_t at, int64_t wall, int64_t cpu)
{
    if (columns->start)
        columns->length[at] = (uint32_t)wall;
    if (columns->cpu_start)
        columns->cpu_length[at] = (uint32_t)cpu;
}

/* For times that 32 bits may not hold: called after tv_place_start for the same slice, and instead of
 * tv_place_length with the slice's place and index.  Gives the block 64 bits when it needs them. */
void tv_place_wide_start(struct tv_columns *columns, const struct tv_place *place, int64_t wall,
                         int64_t cpu);
void tv_place_wide_length(struct tv_columns *columns, const struct tv_place *place, uint32_t index,
                          int64_t wall, int64_t cpu);

/* Counts parents and first children before each block of a row. */
void tv_columns_rank(struct tv_columns *columns, const struct tv_row *row);

#endif

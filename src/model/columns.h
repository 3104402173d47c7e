/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_store.h - the builder's columns: allocated by count, written where each slice stays.
 *
 * For the files of the builder, sift.c and trace.c alone.
 */
#ifndef TV_MODEL_COLUMNS_H
#define TV_MODEL_COLUMNS_H

#include "model/trace.h"

/* Columns for `count` slices in `blocks` blocks with the clocks of an input. */
void tv_columns_init(struct tv_columns *columns, uint64_t count, uint64_t blocks, unsigned clocks);
/* And columns for the places of their events, in an input of that many bytes. */
void tv_columns_add_offsets(struct tv_columns *columns, uint64_t input_bytes);
/* And those of a CPU clock, to be written before any slice is read. */
void tv_columns_add_cpu(struct tv_columns *columns);
/* All slices are written: gives back what wide times have no use for. */
void tv_columns_fit(struct tv_columns *columns);
void tv_columns_release(struct tv_columns *columns);

/* All times of a slice of a row, ticks. */
TV_INLINE struct tv_wide_time tv_columns_ticks(const struct tv_columns *c, const struct tv_row *row,
                                               uint32_t index)
{
    const struct tv_slice_block *block = &c->blocks[row->first_block + index / TV_BLOCK_SLICES];
    uint64_t at = row->first + index;
    struct tv_wide_time ticks = {0};
    if (TV_UNLIKELY(block->wide != TV_NONE))
        return c->wide[block->wide + index % TV_BLOCK_SLICES];
    if (c->start) {
        ticks.start = block->wall_base + (uint32_t)(c->start[at] - (uint32_t)block->wall_base);
        ticks.length = c->length[at];
    }
    if (c->cpu_start) {
        ticks.cpu_start =
            block->cpu_base + (uint32_t)(c->cpu_start[at] - (uint32_t)block->cpu_base);
        ticks.cpu_length = c->cpu_length[at];
    }
    return ticks;
}

static inline uint32_t tv_blocks_for(uint32_t slices)
{
    return (slices + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
}

/* Where the next slice of a row goes. */
struct tv_row_writer {
    uint64_t first;       /* of the row, in the columns */
    uint64_t first_block; /* the same */
    uint32_t next;        /* index in the row */
    uint32_t count;       /* of the row */
};

/* Slice `index`, the first of its block, begins at these times. */
void tv_row_start_block(struct tv_columns *columns, const struct tv_row_writer *place,
                        uint32_t index, int64_t wall, int64_t cpu);

/* Writes the lengths of a slice whose start is written, whatever they are. */
void tv_row_write_length(struct tv_columns *columns, const struct tv_row_writer *place,
                         uint32_t index, int64_t wall, int64_t cpu);

/* After the low halves of a slice's start (or its lengths) were written: gives the block 64 bits
 * when they need them. */
void tv_row_write_wide(struct tv_columns *columns, const struct tv_row_writer *place,
                       uint32_t index, int64_t wall, int64_t cpu, bool length);

/* All times of a slice, ticks. */
struct tv_slice_times {
    int64_t start, length, cpu_start, cpu_length;
};

/* Writes the times of the row's next slice. */
void tv_row_write_slice(struct tv_columns *columns, struct tv_row_writer *place,
                        const struct tv_slice_times *times);

/* Where the event of a slice stands in the input. */
void tv_columns_set_offset(struct tv_columns *columns, uint64_t slice, uint64_t offset);

/* Counts parents and first children before each block of a row. */
void tv_columns_rank(struct tv_columns *columns, const struct tv_row *row);

#endif

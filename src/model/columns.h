/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - writing the packed columns of a trace (trace.h describes the format).
 *
 * Columns are allocated for a known number of slices; writers then fill each row from front to
 * back, and different rows, or disjoint parts of one, in parallel.  For the files of the model
 * only.
 */
#ifndef TV_MODEL_COLUMNS_H
#define TV_MODEL_COLUMNS_H

#include "model/trace.h"

/* Allocate columns for `count` slices in `blocks` blocks with the clocks of an input. */
void tv_columns_init(struct tv_columns *columns, uint64_t count, uint64_t blocks, unsigned clocks);
/* Add columns for the offsets of events in an input of so many bytes. */
void tv_columns_add_offsets(struct tv_columns *columns, uint64_t input_bytes);
/* Add columns for a CPU clock; fill them before a slice is read. */
void tv_columns_add_cpu(struct tv_columns *columns);
/* Shrink the table of wide times after all slices are written. */
void tv_columns_fit(struct tv_columns *columns);
void tv_columns_release(struct tv_columns *columns);

/* Return all times of a slice of a row, in ticks. */
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

/* Position of the next slice in a row. */
struct tv_row_writer {
    uint64_t first;       /* first slice of the row in the columns */
    uint64_t first_block; /* first block of the row in the columns */
    uint32_t next;        /* index of the next slice in the row */
    uint32_t count;       /* slices in the row */
};

/* Start the block whose first slice is `index`, with these base times. */
void tv_row_start_block(struct tv_columns *columns, const struct tv_row_writer *place,
                        uint32_t index, int64_t wall, int64_t cpu);

/* Write the lengths of a slice whose start is written; any value is allowed. */
void tv_row_write_length(struct tv_columns *columns, const struct tv_row_writer *place,
                         uint32_t index, int64_t wall, int64_t cpu);

/* Called after the low halves of a slice's start (or lengths) were written: make the block wide if
 * they need more than 32 bits. */
void tv_row_write_wide(struct tv_columns *columns, const struct tv_row_writer *place,
                       uint32_t index, int64_t wall, int64_t cpu, bool length);

/* All times of a slice, ticks. */
struct tv_slice_times {
    int64_t start, length, cpu_start, cpu_length;
};

/* Write the times of the next slice of the row. */
void tv_row_write_slice(struct tv_columns *columns, struct tv_row_writer *place,
                        const struct tv_slice_times *times);

/* Store the offset of a slice's event in the input. */
void tv_columns_set_offset(struct tv_columns *columns, uint64_t slice, uint64_t offset);

/* Store the number of parents and first children before each block of a row, for tv_slice_parent
 * and tv_slice_children. */
void tv_columns_rank(struct tv_columns *columns, const struct tv_row *row);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c - allocation and writing of packed columns.
 *
 * A time takes 32 bits: the low half of the clock, decoded against the base of its block.
 *
 *     block        base 0x1_fffffff0        times 0x1_fffffff8, 0x2_00000004
 *     column       fffffff8 00000004        (a time below its base wrapped once: base + difference)
 *
 * A block whose times span more than 32 bits becomes wide: all its times move to a side table with
 * 64 bits, and `wide` of the block says where.  Columns keep the low halves, which are then
 * ignored. Until it is known which blocks are wide, a writer must write the low half first and
 * call tv_row_write_wide afterwards, which finds the times of earlier slices by decoding them.
 *
 * The side table grows while rows are written, so wide blocks are written by one thread only.
 */
#include "model/columns.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

static uint32_t *columns_alloc_u32(uint64_t count)
{
    return tv_pages_alloc(tv_size_mul((size_t)count, sizeof(uint32_t)));
}

void tv_columns_init(struct tv_columns *columns, uint64_t count, uint64_t blocks, unsigned clocks)
{
    memset(columns, 0, sizeof *columns);
    columns->count = count;
    columns->block_count = blocks;
    if (clocks & TV_CLOCK_WALL) {
        columns->start = columns_alloc_u32(count);
        columns->length = columns_alloc_u32(count);
    }
    if (clocks & TV_CLOCK_CPU) {
        columns->cpu_start = columns_alloc_u32(count);
        columns->cpu_length = columns_alloc_u32(count);
    }
    columns->path = columns_alloc_u32(count);
    columns->flags = tv_pages_alloc((size_t)count);
    columns->blocks = tv_pages_alloc(tv_size_mul((size_t)blocks, sizeof *columns->blocks));
}

void tv_columns_add_offsets(struct tv_columns *columns, uint64_t input_bytes)
{
    columns->offset = columns_alloc_u32(columns->count);
    if (input_bytes > UINT32_MAX)
        columns->offset_high = tv_pages_alloc((size_t)columns->count);
}

void tv_columns_add_cpu(struct tv_columns *columns)
{
    columns->cpu_start = columns_alloc_u32(columns->count);
    columns->cpu_length = columns_alloc_u32(columns->count);
    columns->wide_count = 0;
}

void tv_columns_fit(struct tv_columns *columns)
{
    assert(columns->wide_count <= columns->wide_capacity);
    if (columns->wide_capacity == columns->wide_count)
        return;
    columns->wide = tv_realloc(columns->wide, columns->wide_count, sizeof *columns->wide);
    columns->wide_capacity = columns->wide_count;
}

/* Free a column that may not exist. */
static void columns_free_u32(uint32_t *column, uint64_t count)
{
    if (column)
        tv_pages_free(column, (size_t)count * sizeof *column);
}

void tv_columns_release(struct tv_columns *columns)
{
    if (!columns->flags)
        return;
    columns_free_u32(columns->start, columns->count);
    columns_free_u32(columns->length, columns->count);
    columns_free_u32(columns->cpu_start, columns->count);
    columns_free_u32(columns->cpu_length, columns->count);
    columns_free_u32(columns->path, columns->count);
    columns_free_u32(columns->offset, columns->count);
    if (columns->offset_high)
        tv_pages_free(columns->offset_high, (size_t)columns->count);
    tv_pages_free(columns->flags, (size_t)columns->count);
    tv_pages_free(columns->blocks, (size_t)columns->block_count * sizeof *columns->blocks);
    tv_free(columns->wide);
    memset(columns, 0, sizeof *columns);
}

/* Return true when a distance from the base, or a length, can be kept in 32 bits. */
static bool time_fits_u32(int64_t distance)
{
    return distance >= 0 && distance <= UINT32_MAX;
}

/* Give the block of slice `index` 64-bit times, converting the 32-bit ones of slices before
 * `written`. */
static struct tv_wide_time *row_widen_block(struct tv_columns *columns,
                                            const struct tv_row_writer *place, uint32_t index,
                                            uint32_t written)
{
    assert(index < place->count);
    uint32_t first = index - index % TV_BLOCK_SLICES;
    struct tv_slice_block *block = &columns->blocks[place->first_block + index / TV_BLOCK_SLICES];
    if (block->wide != TV_NONE)
        return &columns->wide[block->wide + index % TV_BLOCK_SLICES];
    uint32_t size = place->count - first < TV_BLOCK_SLICES ? place->count - first : TV_BLOCK_SLICES;
    columns->wide = tv_array_reserve(columns->wide, &columns->wide_capacity,
                                     columns->wide_count + size, sizeof *columns->wide);
    struct tv_wide_time *wide = columns->wide + columns->wide_count;
    memset(wide, 0, size * sizeof *wide);
    block->wide = (uint32_t)columns->wide_count;
    columns->wide_count += size;
    for (uint32_t i = 0; i < written - first && i < size; i++) {
        uint64_t at = place->first + first + i;
        if (columns->start) {
            wide[i].start =
                block->wall_base + (uint32_t)(columns->start[at] - (uint32_t)block->wall_base);
            wide[i].length = columns->length[at];
        }
        if (columns->cpu_start) {
            wide[i].cpu_start =
                block->cpu_base + (uint32_t)(columns->cpu_start[at] - (uint32_t)block->cpu_base);
            wide[i].cpu_length = columns->cpu_length[at];
        }
    }
    return &wide[index - first];
}

void tv_row_start_block(struct tv_columns *columns, const struct tv_row_writer *place,
                        uint32_t index, int64_t wall, int64_t cpu)
{
    columns->blocks[place->first_block + index / TV_BLOCK_SLICES] =
        (struct tv_slice_block){.wall_base = wall, .cpu_base = cpu, .wide = TV_NONE};
}

void tv_row_write_wide(struct tv_columns *columns, const struct tv_row_writer *place,
                       uint32_t index, int64_t wall, int64_t cpu, bool length)
{
    const struct tv_slice_block *block =
        &columns->blocks[place->first_block + index / TV_BLOCK_SLICES];
    int64_t wall_base = length ? 0 : block->wall_base, cpu_base = length ? 0 : block->cpu_base;
    if (block->wide == TV_NONE && time_fits_u32(wall - wall_base) && time_fits_u32(cpu - cpu_base))
        return;
    struct tv_wide_time *time = row_widen_block(columns, place, index, place->next);
    *(length ? &time->length : &time->start) = wall;
    *(length ? &time->cpu_length : &time->cpu_start) = cpu;
}

void tv_row_write_length(struct tv_columns *columns, const struct tv_row_writer *place,
                         uint32_t index, int64_t wall, int64_t cpu)
{
    uint64_t at = place->first + index;
    if (columns->start)
        columns->length[at] = (uint32_t)wall;
    if (columns->cpu_start)
        columns->cpu_length[at] = (uint32_t)cpu;
    tv_row_write_wide(columns, place, index, wall, cpu, true);
}

/* Return whether the slice fits into a block of 32-bit times. */
static bool row_fits_block(const struct tv_slice_block *block, const struct tv_slice_times *times)
{
    return block->wide == TV_NONE && time_fits_u32(times->start - block->wall_base) &&
           time_fits_u32(times->cpu_start - block->cpu_base) && time_fits_u32(times->length) &&
           time_fits_u32(times->cpu_length);
}

void tv_row_write_slice(struct tv_columns *columns, struct tv_row_writer *place,
                        const struct tv_slice_times *times)
{
    assert(place->next < place->count);
    uint32_t index = place->next++;
    uint64_t at = place->first + index;
    if (index % TV_BLOCK_SLICES == 0)
        tv_row_start_block(columns, place, index, times->start, times->cpu_start);
    if (columns->start) {
        columns->start[at] = (uint32_t)times->start;
        columns->length[at] = (uint32_t)times->length;
    }
    if (columns->cpu_start) {
        columns->cpu_start[at] = (uint32_t)times->cpu_start;
        columns->cpu_length[at] = (uint32_t)times->cpu_length;
    }
    if (row_fits_block(&columns->blocks[place->first_block + index / TV_BLOCK_SLICES], times))
        return;
    tv_row_write_wide(columns, place, index, times->start, times->cpu_start, false);
    tv_row_write_wide(columns, place, index, times->length, times->cpu_length, true);
}

void tv_columns_set_offset(struct tv_columns *columns, uint64_t slice, uint64_t offset)
{
    assert(columns->offset != NULL && slice < columns->count);
    columns->offset[slice] = (uint32_t)offset;
    if (columns->offset_high)
        columns->offset_high[slice] = (uint8_t)(offset >> 32);
}

void tv_columns_rank(struct tv_columns *columns, const struct tv_row *row)
{
    const uint8_t *flags = columns->flags + row->first;
    uint32_t parents = 0, first_children = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        if (i % TV_BLOCK_SLICES == 0) {
            struct tv_slice_block *block = &columns->blocks[row->first_block + i / TV_BLOCK_SLICES];
            block->parents = parents;
            block->first_children = first_children;
        }
        parents += (flags[i] & TV_SLICE_HAS_CHILDREN) != 0;
        first_children += (flags[i] & TV_SLICE_FIRST_CHILD) != 0;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid.h - sums over runs of slices, so that drawing a screen costs as much as its pixels, not
 * as its calls (decision P3).
 *
 *   level 1            [   256 slices   ]        entry: first start, covered time,
 *   level 0      [16] [16] [16] ... [16]         longest slice and its frame
 *   slices       ||||||||||||||||||||||
 *
 * An entry of level 0 sums 16 slices, an entry of a higher level 16 entries of the level below; the
 * top level has at most 16.  An entry holds only what can be merged.  Its width is the distance to
 * the next entry's start, or to the row's end.  Times are ticks of the row's input, on its axis,
 * without the input's offset.
 *
 * Entries of level 0 are packed like the columns, against the base of their block of slices, except
 * in rows that have a block of 64-bit times.  16 bytes for 16 slices, 32 for 256, and so on: 1.14
 * bytes per slice.
 */
#ifndef TV_ANALYSIS_TIMELINE_PYRAMID_H
#define TV_ANALYSIS_TIMELINE_PYRAMID_H

#include "model/trace.h"

#define TV_PYRAMID_FAN 16u
#define TV_PYRAMID_LEVELS 7 /* 16^7 slices per entry, 16 of them: enough for any row */

struct tv_packed_entry {
    uint32_t start;   /* low half */
    uint32_t covered; /* saturates at UINT32_MAX */
    uint32_t longest;
    uint32_t frame;
};

struct tv_pyramid_entry {
    int64_t start;
    int64_t covered;
    int64_t longest;
    uint32_t frame;
    uint32_t zero; /* entries are stored: padding would take what lay on the stack into the file */
};
_Static_assert(sizeof(struct tv_pyramid_entry) == 3 * sizeof(int64_t) + 2 * sizeof(uint32_t),
               "no padding is stored");

struct tv_pyramid_row {
    uint64_t first[TV_PYRAMID_LEVELS]; /* first entry of each level in `entries`; of level 0 in
                                          `packed`, unless the row is wide */
    int64_t end;                       /* of the last slice */
    uint8_t levels;                    /* 0: the row has no slices */
    bool wide;
};

struct tv_pyramid {
    const struct tv_trace *trace; /* not owned */
    struct tv_pyramid_row *rows;  /* as the trace's */
    struct tv_packed_entry *packed;
    struct tv_pyramid_entry *entries;
    uint64_t packed_count, entry_count;
    bool lent;               /* packed and entries are in the sections of an index file */
    uint32_t *frame_of_path; /* denser in memory than the nodes of the path tree */
};

/* Build a pyramid with `workers` threads (0: one per processor), or take the one that is stored
 * along with the trace.  The trace must outlive it. */
struct tv_pyramid *tv_pyramid_new(const struct tv_trace *trace, unsigned workers);
void tv_pyramid_free(struct tv_pyramid *pyramid);

/* Write the entries to the index file of the trace. */
struct tv_sections_writer;
void tv_pyramid_store(const struct tv_pyramid *pyramid, struct tv_sections_writer *writer);

/* Return the number of entries of a level over `count` slices. */
static inline uint32_t tv_pyramid_level_size(uint32_t count, unsigned level)
{
    unsigned shift = 4 * (level + 1);
    return (uint32_t)(((uint64_t)count + (1u << shift) - 1) >> shift);
}

/* The columns of a row's time axis. */
struct tv_axis {
    const uint32_t *start, *length; /* from the row's first slice on */
    const struct tv_slice_block *blocks;
    int64_t tick;
    tv_ns offset;
    bool cpu;
};

static inline struct tv_axis tv_axis_of(const struct tv_trace *trace, uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    const struct tv_columns *c = &trace->columns[r->columns];
    bool cpu = c->start == NULL;
    return (struct tv_axis){(cpu ? c->cpu_start : c->start) + r->first,
                            (cpu ? c->cpu_length : c->length) + r->first,
                            c->blocks + r->first_block,
                            trace->head->inputs[r->input].tick_ns,
                            trace->offset[r->input],
                            cpu};
}

/* Return the full value of a packed start in a block, in ticks. */
static inline int64_t tv_axis_unpack(const struct tv_axis *axis, uint32_t block, uint32_t start)
{
    int64_t base = axis->cpu ? axis->blocks[block].cpu_base : axis->blocks[block].wall_base;
    return base + (uint32_t)(start - (uint32_t)base);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyramid.h - sums over runs of slices, so that a screen costs its pixels and not its calls
 * (decision P3).
 *
 * Over each row stand levels of entries.  An entry of level 0 sums 16 slices, one of a level above
 * 16 entries of the level below, up to a level of at most 16.  It holds what merges: first start,
 * covered time, length and frame of the longest slice.  Its width is the distance to the next
 * entry's start (the last one's: to the row's end).  Times are ticks of the row's input, on its
 * axis, without the input's offset.
 *
 * Entries of level 0 are packed as the columns are, against the base of their block of slices; rows
 * with a block of 64 bits have unpacked ones.  16 bytes for 16 slices, 32 for 256, ...: 1.14 bytes
 * a slice.
 */
#ifndef TV_ANALYSIS_PYRAMID_H
#define TV_ANALYSIS_PYRAMID_H

#include "model/trace.h"

#define TV_PYRAMID_FAN 16u
#define TV_PYRAMID_LEVELS 7 /* 16^7 slices an entry, 16 of them: all that fit a row */

struct tv_packed_entry {
    uint32_t start;   /* low half */
    uint32_t covered; /* at most UINT32_MAX */
    uint32_t longest;
    uint32_t frame;
};

struct tv_pyramid_entry {
    int64_t start;
    int64_t covered;
    int64_t longest;
    uint32_t frame;
};

struct tv_pyramid_row {
    uint64_t first[TV_PYRAMID_LEVELS]; /* of each level's entries in `entries`; of level 0 in
                                        * `packed` unless the row is wide */
    int64_t end;                       /* of the last slice */
    uint8_t levels;                    /* 0: the row has no entries, for it has no slices */
    bool wide;
};

struct tv_pyramid {
    const struct tv_trace *trace; /* not owned */
    struct tv_pyramid_row *rows;  /* as the trace's */
    struct tv_packed_entry *packed;
    struct tv_pyramid_entry *entries;
    uint64_t packed_count, entry_count;
    bool lent;               /* packed and entries lie in the sections of the trace */
    uint32_t *frame_of_path; /* closer together than the nodes of the path tree */
};

/* `workers` threads share the work (0: one a processor). The trace must live as long.  What was
 * kept with the trace is not worked out again. */
struct tv_pyramid *tv_pyramid_new(const struct tv_trace *trace, unsigned workers);
void tv_pyramid_free(struct tv_pyramid *pyramid);

/* Adds its entries to a file that the trace is written to. */
struct tv_sections_writer;
void tv_pyramid_keep(const struct tv_pyramid *pyramid, struct tv_sections_writer *writer);

/* Entries of a level of a row of `count` slices. */
static inline uint32_t tv_pyramid_level_size(uint32_t count, unsigned level)
{
    unsigned shift = 4 * (level + 1);
    return (uint32_t)(((uint64_t)count + (1u << shift) - 1) >> shift);
}

/* The columns that hold a row's axis. */
struct tv_axis {
    const uint32_t *start, *length; /* of the row's first slice on */
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

/* The whole of a packed start in a block, ticks. */
static inline int64_t tv_axis_unpack(const struct tv_axis *axis, uint32_t block, uint32_t start)
{
    int64_t base = axis->cpu ? axis->blocks[block].cpu_base : axis->blocks[block].wall_base;
    return base + (uint32_t)(start - (uint32_t)base);
}

#endif

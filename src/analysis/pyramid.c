/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pyramid.h"

#include "analysis/pyramid_kept.h"
#include "base/memory.h"
#include "base/workers.h"

#define FAN TV_PYRAMID_FAN

static bool has_wide_block(const struct tv_trace *trace, uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    const struct tv_slice_block *blocks = trace->columns[r->columns].blocks + r->first_block;
    for (uint32_t i = 0; (uint64_t)i * TV_BLOCK_SLICES < r->count; i++)
        if (blocks[i].wide != TV_NONE)
            return true;
    return false;
}

/* Gives each row its levels and their places. */
static void plan(struct tv_pyramid *pyramid)
{
    const struct tv_trace *trace = pyramid->trace;
    for (uint32_t i = 0; i < trace->row_count; i++) {
        struct tv_pyramid_row *row = &pyramid->rows[i];
        uint32_t count = trace->rows[i].count;
        if (count == 0)
            continue;
        row->wide = has_wide_block(trace, i);
        row->end = (tv_slice_end(trace, i, count - 1) - tv_axis_of(trace, i).offset) /
                   tv_axis_of(trace, i).tick;
        do {
            uint64_t *next =
                row->levels == 0 && !row->wide ? &pyramid->packed_count : &pyramid->entry_count;
            row->first[row->levels] = *next;
            *next += tv_pyramid_level_size(count, row->levels);
        } while (tv_pyramid_level_size(count, row->levels++) > FAN);
    }
}

static struct tv_packed_entry sum_packed(const struct tv_pyramid *pyramid, uint32_t row,
                                         const struct tv_axis *axis, uint32_t first, uint32_t count)
{
    const struct tv_row *r = &pyramid->trace->rows[row];
    uint32_t longest = 0;
    uint64_t covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = axis->length[first + i];
        covered += length;
        longest = length > axis->length[first + longest] ? i : longest;
    }
    uint32_t path = pyramid->trace->columns[r->columns].path[r->first + first + longest];
    return (struct tv_packed_entry){
        axis->start[first],
        covered < UINT32_MAX ? (uint32_t)covered : UINT32_MAX,
        axis->length[first + longest],
        pyramid->frame_of_path[path],
    };
}

static struct tv_pyramid_entry sum_wide(const struct tv_trace *trace, uint32_t row,
                                        const struct tv_axis *axis, uint32_t first, uint32_t count)
{
    struct tv_slice slices[FAN];
    struct tv_pyramid_entry entry = {.longest = -1};
    tv_slices_read(trace, row, first, count, slices);
    entry.start = (slices[0].start - axis->offset) / axis->tick;
    for (uint32_t i = 0; i < count; i++) {
        int64_t length = slices[i].length / axis->tick;
        entry.covered += length;
        if (length > entry.longest) {
            entry.longest = length;
            entry.frame = trace->paths.nodes[slices[i].path].frame;
        }
    }
    return entry;
}

/* Level 0 of a row, entries [first, end). */
static void sum_slices(struct tv_pyramid *pyramid, uint32_t row, uint32_t first, uint32_t end)
{
    const struct tv_trace *trace = pyramid->trace;
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    struct tv_axis axis = tv_axis_of(trace, row);
    for (uint32_t i = first; i < end; i++) {
        uint32_t left = trace->rows[row].count - i * FAN, count = left < FAN ? left : FAN;
        if (r->wide)
            pyramid->entries[r->first[0] + i] = sum_wide(trace, row, &axis, i * FAN, count);
        else
            pyramid->packed[r->first[0] + i] = sum_packed(pyramid, row, &axis, i * FAN, count);
    }
}

static struct tv_pyramid_entry entry_at(const struct tv_pyramid *pyramid, uint32_t row,
                                        const struct tv_axis *axis, unsigned level, uint32_t index)
{
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    if (level > 0 || r->wide)
        return pyramid->entries[r->first[level] + index];
    const struct tv_packed_entry *packed = &pyramid->packed[r->first[0] + index];
    int64_t start = tv_axis_unpack(axis, index / (TV_BLOCK_SLICES / FAN), packed->start);
    return (struct tv_pyramid_entry){start, packed->covered, packed->longest, packed->frame};
}

static struct tv_pyramid_entry sum_up(const struct tv_pyramid *pyramid, uint32_t row,
                                      unsigned level, uint32_t first, uint32_t end)
{
    struct tv_axis axis = tv_axis_of(pyramid->trace, row);
    struct tv_pyramid_entry sum = entry_at(pyramid, row, &axis, level, first);
    for (uint32_t i = first + 1; i < end; i++) {
        struct tv_pyramid_entry entry = entry_at(pyramid, row, &axis, level, i);
        sum.covered += entry.covered;
        if (entry.longest > sum.longest) {
            sum.longest = entry.longest;
            sum.frame = entry.frame;
        }
    }
    return sum;
}

/* The levels above 0 of a row. */
static void sum_entries(struct tv_pyramid *pyramid, uint32_t row)
{
    const struct tv_pyramid_row *r = &pyramid->rows[row];
    uint32_t slices = pyramid->trace->rows[row].count;
    for (unsigned level = 1; level < r->levels; level++) {
        uint32_t below = tv_pyramid_level_size(slices, level - 1);
        for (uint32_t i = 0; i < tv_pyramid_level_size(slices, level); i++) {
            uint32_t end = below - i * FAN < FAN ? below : (i + 1) * FAN;
            pyramid->entries[r->first[level] + i] = sum_up(pyramid, row, level - 1, i * FAN, end);
        }
    }
}

/* Sizes of memory: there are fewer entries than slices, whose columns fit. */
static size_t packed_size(const struct tv_pyramid *pyramid)
{
    return tv_size_mul((size_t)pyramid->packed_count, sizeof *pyramid->packed);
}

static size_t entries_size(const struct tv_pyramid *pyramid)
{
    return tv_size_mul((size_t)pyramid->entry_count, sizeof *pyramid->entries);
}

struct job {
    struct tv_pyramid *pyramid;
    unsigned workers;
    uint64_t leaves; /* entries of level 0, of all rows */
};

/* Each worker takes its share of all entries of level 0, laid end to end. */
static void sum_share(void *context, unsigned index)
{
    struct job *job = context;
    const struct tv_trace *trace = job->pyramid->trace;
    uint64_t first = job->leaves * index / job->workers,
             end = job->leaves * (index + 1) / job->workers;
    uint64_t at = 0;
    for (uint32_t row = 0; row < trace->row_count && at < end; row++) {
        uint32_t count = tv_pyramid_level_size(trace->rows[row].count, 0);
        uint64_t low = first > at ? first - at : 0, high = end - at < count ? end - at : count;
        at += count;
        if (low < high)
            sum_slices(job->pyramid, row, (uint32_t)low, (uint32_t)high);
    }
}

static void sum_rows(void *context, unsigned index)
{
    struct job *job = context;
    for (uint32_t row = index; row < job->pyramid->trace->row_count; row += job->workers)
        sum_entries(job->pyramid, row);
}

struct tv_pyramid *tv_pyramid_new(const struct tv_trace *trace, unsigned workers)
{
    struct tv_pyramid *pyramid = tv_alloc(1, sizeof *pyramid);
    pyramid->trace = trace;
    pyramid->rows = tv_alloc(trace->row_count, sizeof *pyramid->rows);
    plan(pyramid);
    pyramid->frame_of_path = tv_alloc(trace->paths.count, sizeof *pyramid->frame_of_path);
    for (uint32_t i = 0; i < trace->paths.count; i++)
        pyramid->frame_of_path[i] = trace->paths.nodes[i].frame;
    if (tv_pyramid_find_kept(pyramid))
        return pyramid;
    pyramid->packed = tv_pages_alloc(packed_size(pyramid));
    pyramid->entries = tv_pages_alloc(entries_size(pyramid));
    struct job job = {pyramid, workers ? workers : tv_workers_available(), 0};
    for (uint32_t i = 0; i < trace->row_count; i++)
        job.leaves += tv_pyramid_level_size(trace->rows[i].count, 0);
    tv_workers_run(job.workers, sum_share, &job);
    tv_workers_run(job.workers, sum_rows, &job);
    return pyramid;
}

void tv_pyramid_free(struct tv_pyramid *pyramid)
{
    if (!pyramid)
        return;
    if (!pyramid->lent) {
        tv_pages_free(pyramid->packed, packed_size(pyramid));
        tv_pages_free(pyramid->entries, entries_size(pyramid));
    }
    tv_free(pyramid->frame_of_path);
    tv_free(pyramid->rows);
    tv_free(pyramid);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_columns.c - checks every slice once, in parallel: paths exist, times increase, and flags
 * agree with the counts that find parents and children.
 *
 *     row     block 0        block 1        block 2 ...      1,024 slices each
 *             [-- stretch of 64 blocks, one worker --][-- next worker --
 *
 * Workers share nothing. A stretch therefore computes where the slice before it ends, without
 * knowing whether that block is valid; the worker of that block finds out. The counts in a block
 * (first_children, parents: how many slices before it have each flag) must continue from block to
 * block. The last block yields the sums of its row, and when all workers are done, neighbouring
 * rows are compared: as many first children in a row as parents in the row above.
 *
 * The check is the expensive part of opening an index, so its inner loops have no branches for
 * single slices: they gather faults with | and & and look once per block.
 */
#include <stdatomic.h>

#include "base/memory.h"
#include "base/workers.h"
#include "index/layout.h"

/* Number of blocks of a row that one worker checks at a time. */
#define STRETCH_BLOCKS 64u

/* Numbers of slices of a row that are the first child of their parent, and that have children. */
struct row_sums {
    uint32_t first_children, parents;
};

struct column_check {
    const struct tv_trace *trace;
    struct row_sums *sums; /* per row */
    uint32_t *depths;      /* per path */
    unsigned workers;
    atomic_bool wrong;
};

/* The columns of a row, from its first slice on. */
struct row_view {
    const struct tv_columns *columns;
    const struct tv_row *row;
    const struct tv_slice_block *blocks;
    const uint32_t *start, *length; /* on the axis; ticks, low 32 bits (model/trace.h) */
    const uint32_t *path;
    const uint8_t *flags;
    const struct tv_trace *trace;
    int64_t tick; /* ns */
    bool cpu;     /* the columns have no wall times, so the CPU clock is the axis */
};

static struct row_view row_view_of(const struct tv_trace *trace, const struct tv_row *row)
{
    const struct tv_columns *c = &trace->columns[row->columns];
    bool cpu = !c->start;
    return (struct row_view){
        .columns = c,
        .row = row,
        .blocks = c->blocks + row->first_block,
        .start = (cpu ? c->cpu_start : c->start) + row->first,
        .length = (cpu ? c->cpu_length : c->length) + row->first,
        .path = c->path + row->first,
        .flags = c->flags + row->first,
        .trace = trace,
        .tick = trace->head->inputs[row->input].tick_ns,
        .cpu = cpu,
    };
}

/* Return the depth of each path.  The path of a slice must be as deep as its row, because sums by
 * the parent's frame rely on that. */
static uint32_t *column_path_depths(const struct tv_paths *paths)
{
    uint32_t *depths = tv_alloc(paths->count, sizeof *depths);
    for (uint32_t i = 1; i < paths->count; i++)
        depths[i] = depths[paths->nodes[i].parent] + 1;
    return depths;
}

static bool column_paths_are_valid(const struct column_check *checking, const uint32_t *path,
                                   uint32_t count, uint32_t depth)
{
    uint32_t all = checking->trace->paths.count, wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        /* An unknown path counts as the root, whose depth 0 no slice has. */
        wrong |= checking->depths[path[i] < all ? path[i] : TV_ROOT_PATH] ^ depth;
    return !wrong;
}

static struct row_sums column_sum_flags(const uint8_t *flags, uint32_t count)
{
    struct row_sums sums = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        sums.first_children += (flags[i] & TV_SLICE_FIRST_CHILD) / TV_SLICE_FIRST_CHILD;
        sums.parents += (flags[i] & TV_SLICE_HAS_CHILDREN) / TV_SLICE_HAS_CHILDREN;
    }
    return sums;
}

/* Return whether the start times of a slice or a block are valid. */
static bool column_starts_are_valid(const struct row_view *view, int64_t wall, int64_t cpu)
{
    uint32_t input = view->row->input;
    return tv_index_are_ticks(cpu, view->tick) &&
           tv_index_is_tick_on_axis(view->trace, input, view->cpu ? cpu : wall);
}

static bool column_wide_time_is_valid(const struct row_view *view, const struct tv_wide_time *time)
{
    return column_starts_are_valid(view, time->start, time->cpu_start) &&
           tv_index_are_ticks(time->length, view->tick) && time->length >= 0 &&
           tv_index_are_ticks(time->cpu_length, view->tick) && time->cpu_length >= 0;
}

/* Check that the times of a block increase from *end on; *end becomes the last end. */
static bool column_wide_times_are_valid(const struct row_view *view,
                                        const struct tv_slice_block *block, uint32_t count,
                                        int64_t *end)
{
    if (!tv_index_is_range(block->wide, count, view->columns->wide_count))
        return false;
    const struct tv_wide_time *times = view->columns->wide + block->wide;
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = view->cpu ? times[i].cpu_start : times[i].start;
        if (!column_wide_time_is_valid(view, &times[i]) || start < *end)
            return false;
        *end = start + (view->cpu ? times[i].cpu_length : times[i].length);
    }
    return true;
}

/* Check that calls `first` to `first + count` follow one another: each starts no earlier than the
 * one before ends, the first no earlier than *end, which becomes the last one's end. The loop has
 * no branch, so that the compiler can keep it short; a block of wide times has its own check. */
static bool column_times_are_valid(const struct row_view *view, const struct tv_slice_block *block,
                                   uint32_t first, uint32_t count, int64_t *end)
{
    int64_t base = view->cpu ? block->cpu_base : block->wall_base;
    const uint32_t *start = view->start + first, *length = view->length + first;
    uint64_t last = 0;
    bool sorted = true;
    if (!column_starts_are_valid(view, block->wall_base, block->cpu_base))
        return false;
    if (block->wide != TV_NONE)
        return column_wide_times_are_valid(view, block, count, end);
    /* A column has the low 32 bits of a start. Their distance from the low bits of the base, modulo
     * 2^32, is the distance of the start from the base (tv_columns in model/trace.h). */
    if (base + (uint32_t)(start[0] - (uint32_t)base) < *end)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t from = (uint32_t)(start[i] - (uint32_t)base);
        sorted &= from >= last;
        last = from + length[i];
    }
    *end = base + (int64_t)last;
    return sorted;
}

/* Return the end of the slice before a block, in ticks; its block may not be checked yet. */
static int64_t column_end_before_block(const struct row_view *view, uint32_t block)
{
    if (block == 0)
        return INT64_MIN;
    const struct tv_slice_block *before = &view->blocks[block - 1];
    uint32_t index = block * TV_BLOCK_SLICES - 1;
    if (before->wide != TV_NONE) {
        uint64_t at = (uint64_t)before->wide + TV_BLOCK_SLICES - 1;
        if (at >= view->columns->wide_count ||
            !column_wide_time_is_valid(view, &view->columns->wide[at]))
            return INT64_MAX;
        const struct tv_wide_time *time = &view->columns->wide[at];
        return view->cpu ? time->cpu_start + time->cpu_length : time->start + time->length;
    }
    int64_t base = view->cpu ? before->cpu_base : before->wall_base;
    if (!column_starts_are_valid(view, before->wall_base, before->cpu_base))
        return INT64_MAX;
    return base + (uint32_t)(view->start[index] - (uint32_t)base) + view->length[index];
}

/* Check the blocks [first, end) of a row; the last block stores the sums of the row. */
static bool column_check_blocks(struct column_check *checking, uint32_t row, uint32_t first,
                                uint32_t end)
{
    const struct tv_row *r = &checking->trace->rows[row];
    struct row_view view = row_view_of(checking->trace, r);
    int64_t time = column_end_before_block(&view, first);
    for (uint32_t b = first; b < end; b++) {
        const struct tv_slice_block *block = &view.blocks[b];
        uint32_t at = b * TV_BLOCK_SLICES, left = r->count - at;
        uint32_t count = left < TV_BLOCK_SLICES ? left : TV_BLOCK_SLICES;
        struct row_sums sums = column_sum_flags(view.flags + at, count);
        sums.first_children += block->first_children;
        sums.parents += block->parents;
        if (!column_paths_are_valid(checking, view.path + at, count, r->depth + 1) ||
            !column_times_are_valid(&view, block, at, count, &time))
            return false;
        if (left <= TV_BLOCK_SLICES)
            checking->sums[row] = sums;
        else if (block[1].first_children != sums.first_children || block[1].parents != sums.parents)
            return false;
    }
    return true;
}

/* Distribute all groups of blocks to the workers in turn. */
static void column_worker_check(void *context, unsigned index)
{
    struct column_check *checking = context;
    const struct tv_trace *trace = checking->trace;
    uint64_t number = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        uint32_t blocks = (trace->rows[row].count + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
        for (uint32_t first = 0; first < blocks; first += STRETCH_BLOCKS, number++) {
            uint32_t left = blocks - first;
            if (number % checking->workers == index &&
                !column_check_blocks(checking, row, first,
                                     first + (left < STRETCH_BLOCKS ? left : STRETCH_BLOCKS)))
                atomic_store(&checking->wrong, true);
        }
    }
}

/* Check that every slice below the first row has a parent, and every parent has children. */
static bool column_rows_are_related(const struct column_check *checking, uint32_t row)
{
    const struct tv_trace *trace = checking->trace;
    const struct tv_row *r = &trace->rows[row];
    if (r->count == 0)
        return true;
    struct row_view view = row_view_of(trace, r);
    const struct tv_track *track = &trace->tracks[r->track];
    uint32_t children =
        r->depth + 1 < track->row_count ? checking->sums[row + 1].first_children : 0;
    return view.blocks[0].first_children == 0 && view.blocks[0].parents == 0 &&
           checking->sums[row].parents == children &&
           (r->depth == 0 ? checking->sums[row].first_children == 0
                          : (view.flags[0] & TV_SLICE_FIRST_CHILD) != 0);
}

const char *tv_index_check_columns(const struct tv_trace *trace)
{
    struct column_check checking = {.trace = trace, .workers = tv_workers_available()};
    checking.sums = tv_alloc(trace->row_count, sizeof *checking.sums);
    checking.depths = column_path_depths(&trace->paths);
    atomic_init(&checking.wrong, false);
    tv_workers_run(checking.workers, column_worker_check, &checking);
    bool wrong = atomic_load(&checking.wrong);
    for (uint32_t row = 0; row < trace->row_count && !wrong; row++)
        wrong = !column_rows_are_related(&checking, row);
    tv_free(checking.sums);
    tv_free(checking.depths);
    return wrong ? "its slices" : NULL;
}

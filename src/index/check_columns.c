/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_columns.c - every slice once, shared between the processors: paths that exist, times that
 * go up, and flags that agree with the counts by which parents and children are found.
 */
#include <stdatomic.h>

#include "base/memory.h"
#include "base/workers.h"
#include "index/check.h"

/* Slices of a row that are looked at in one go: whole blocks. */
#define STRETCH_BLOCKS 64u

struct row_sums {
    uint32_t first_children, parents;
};

struct checking {
    const struct tv_trace *trace;
    struct row_sums *sums; /* of each row */
    uint32_t *depths;      /* of each path */
    unsigned workers;
    atomic_bool wrong;
};

/* One row's columns, from its first slice on. */
struct row_view {
    const struct tv_columns *columns;
    const struct tv_row *row;
    const struct tv_slice_block *blocks;
    const uint32_t *start, *length; /* of the axis */
    const uint32_t *path;
    const uint8_t *flags;
    const struct tv_trace *trace;
    int64_t tick;
    bool cpu;
};

static struct row_view view_of(const struct tv_trace *trace, const struct tv_row *row)
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

/* How many nodes lie above each path: a slice's has one for each row above it, which is whom sums
 * of its parent's frame rely on. */
static uint32_t *find_depths(const struct tv_paths *paths)
{
    uint32_t *depths = tv_alloc(paths->count, sizeof *depths);
    for (uint32_t i = 1; i < paths->count; i++)
        depths[i] = depths[paths->nodes[i].parent] + 1;
    return depths;
}

static bool are_paths(const struct checking *checking, const uint32_t *path, uint32_t count,
                      uint32_t depth)
{
    uint32_t all = checking->trace->paths.count, wrong = 0;
    for (uint32_t i = 0; i < count; i++)
        wrong |= checking->depths[path[i] < all ? path[i] : TV_ROOT_PATH] ^ depth;
    return !wrong;
}

static struct row_sums sum_flags(const uint8_t *flags, uint32_t count)
{
    struct row_sums sums = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        sums.first_children += (flags[i] & TV_SLICE_FIRST_CHILD) / TV_SLICE_FIRST_CHILD;
        sums.parents += (flags[i] & TV_SLICE_HAS_CHILDREN) / TV_SLICE_HAS_CHILDREN;
    }
    return sums;
}

/* The times that a slice, or a block of them, begins at. */
static bool are_starts(const struct row_view *view, int64_t wall, int64_t cpu)
{
    uint32_t input = view->row->input;
    return tv_index_are_ticks(cpu, view->tick) &&
           tv_index_is_tick_on_axis(view->trace, input, view->cpu ? cpu : wall);
}

static bool is_wide_time(const struct row_view *view, const struct tv_wide_time *time)
{
    return are_starts(view, time->start, time->cpu_start) &&
           tv_index_are_ticks(time->length, view->tick) && time->length >= 0 &&
           tv_index_are_ticks(time->cpu_length, view->tick) && time->cpu_length >= 0;
}

/* Times of a block that go up, from *end on, which becomes the last end. */
static bool are_wide_times(const struct row_view *view, const struct tv_slice_block *block,
                           uint32_t count, int64_t *end)
{
    if (!tv_index_is_range(block->wide, count, view->columns->wide_count))
        return false;
    const struct tv_wide_time *times = view->columns->wide + block->wide;
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = view->cpu ? times[i].cpu_start : times[i].start;
        if (!is_wide_time(view, &times[i]) || start < *end)
            return false;
        *end = start + (view->cpu ? times[i].cpu_length : times[i].length);
    }
    return true;
}

static bool are_times(const struct row_view *view, const struct tv_slice_block *block,
                      uint32_t first, uint32_t count, int64_t *end)
{
    int64_t base = view->cpu ? block->cpu_base : block->wall_base;
    const uint32_t *start = view->start + first, *length = view->length + first;
    uint64_t last = 0;
    bool sorted = true;
    if (!are_starts(view, block->wall_base, block->cpu_base))
        return false;
    if (block->wide != TV_NONE)
        return are_wide_times(view, block, count, end);
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

/* Where the slice before a block ends, ticks, as far as can be told before it was looked at. */
static int64_t end_before(const struct row_view *view, uint32_t block)
{
    if (block == 0)
        return INT64_MIN;
    const struct tv_slice_block *before = &view->blocks[block - 1];
    uint32_t index = block * TV_BLOCK_SLICES - 1;
    if (before->wide != TV_NONE) {
        uint64_t at = (uint64_t)before->wide + TV_BLOCK_SLICES - 1;
        if (at >= view->columns->wide_count || !is_wide_time(view, &view->columns->wide[at]))
            return INT64_MAX;
        const struct tv_wide_time *time = &view->columns->wide[at];
        return view->cpu ? time->cpu_start + time->cpu_length : time->start + time->length;
    }
    int64_t base = view->cpu ? before->cpu_base : before->wall_base;
    if (!are_starts(view, before->wall_base, before->cpu_base))
        return INT64_MAX;
    return base + (uint32_t)(view->start[index] - (uint32_t)base) + view->length[index];
}

/* The blocks [first, end) of a row.  The last of the row leaves its sums. */
static bool check_blocks(struct checking *checking, uint32_t row, uint32_t first, uint32_t end)
{
    const struct tv_row *r = &checking->trace->rows[row];
    struct row_view view = view_of(checking->trace, r);
    int64_t time = end_before(&view, first);
    for (uint32_t b = first; b < end; b++) {
        const struct tv_slice_block *block = &view.blocks[b];
        uint32_t at = b * TV_BLOCK_SLICES, left = r->count - at;
        uint32_t count = left < TV_BLOCK_SLICES ? left : TV_BLOCK_SLICES;
        struct row_sums sums = sum_flags(view.flags + at, count);
        sums.first_children += block->first_children;
        sums.parents += block->parents;
        if (!are_paths(checking, view.path + at, count, r->depth + 1) ||
            !are_times(&view, block, at, count, &time))
            return false;
        if (left <= TV_BLOCK_SLICES)
            checking->sums[row] = sums;
        else if (block[1].first_children != sums.first_children || block[1].parents != sums.parents)
            return false;
    }
    return true;
}

/* Each worker takes every so-manieth stretch of all rows. */
static void check_share(void *context, unsigned index)
{
    struct checking *checking = context;
    const struct tv_trace *trace = checking->trace;
    uint64_t number = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        uint32_t blocks = (trace->rows[row].count + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
        for (uint32_t first = 0; first < blocks; first += STRETCH_BLOCKS, number++) {
            uint32_t left = blocks - first;
            if (number % checking->workers == index &&
                !check_blocks(checking, row, first,
                              first + (left < STRETCH_BLOCKS ? left : STRETCH_BLOCKS)))
                atomic_store(&checking->wrong, true);
        }
    }
}

/* Every slice below the first row is a child of one above, and every parent has children. */
static bool are_related(const struct checking *checking, uint32_t row)
{
    const struct tv_trace *trace = checking->trace;
    const struct tv_row *r = &trace->rows[row];
    if (r->count == 0)
        return true;
    struct row_view view = view_of(trace, r);
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
    struct checking checking = {.trace = trace, .workers = tv_workers_available()};
    checking.sums = tv_alloc(trace->row_count, sizeof *checking.sums);
    checking.depths = find_depths(&trace->paths);
    atomic_init(&checking.wrong, false);
    tv_workers_run(checking.workers, check_share, &checking);
    bool wrong = atomic_load(&checking.wrong);
    for (uint32_t row = 0; row < trace->row_count && !wrong; row++)
        wrong = !are_related(&checking, row);
    tv_free(checking.sums);
    tv_free(checking.depths);
    return wrong ? "its slices" : NULL;
}

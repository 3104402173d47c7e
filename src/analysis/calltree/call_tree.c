/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting a call tree is a histogram: for each slice of the selection, add one call and its times
 * to the slice's path.
 *
 *   rows      |aaa|bb|aa|c|...|     path column: node of each slice
 *             |  |    |  |
 *   cost[node]   += 1 call, length, cpu length
 *
 * Three things make it fast:
 *
 *   blocks    packed columns hold 32-bit lengths in ticks, which are summed without decoding
 *   workers   small trees: each worker has its own costs, added up at the end; large trees: each
 *             worker owns some depths, and as a path has one depth, no two write to one node
 *   range     only two slices per row are clipped; all others count as they are.  If most of the
 *             trace is selected, the rest is subtracted from the whole trace's tree instead
 *
 * Afterwards tv_call_tree_settle derives self times in one pass from the leaves to the root.
 */
#include "analysis/calltree/call_tree.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/tree_shape.h"
#include "analysis/subset/selection.h"
#include "base/memory.h"
#include "base/sections.h"
#include "base/workers.h"

/* Bytes of one node's costs; all nodes' costs are one allocation. */
#define COSTS_SIZE (sizeof(struct tv_path_cost) + 2 * sizeof(int64_t))

/* Sections of an index file. */
#define SECTION_COSTS TV_SECTION_TAG('t', 'r', 'e', 'e')
#define SECTION_WAITS TV_SECTION_TAG('t', 'r', 'e', 'w')
#define SECTION_RAISED TV_SECTION_TAG('t', 'r', 'e', 'r')

/*
 *     costs (calls, wall, cpu) of nodes 0 .. count-1 | self_wall of all | self_cpu of all
 *
 * One block: an index file stores it as one section, a cache lends it again, and clearing a tree is
 * one memset.  Counting touches the costs alone; the self times follow in one pass at the end.
 */

/* Lay a tree over `figures`: costs, then self times of either clock. */
static struct tv_call_tree *call_tree_over(struct tv_tree_shape *shape, void *figures)
{
    struct tv_call_tree *tree = tv_alloc(1, sizeof *tree);
    tree->head = shape->head;
    tree->clocks = tv_trace_info_clocks(shape->head);
    tree->count = shape->count;
    tree->shape = shape;
    tree->parent = shape->parent;
    tree->frame = shape->frame;
    tree->cost = figures;
    tree->self_wall = (int64_t *)(tree->cost + shape->count);
    tree->self_cpu = tree->self_wall + shape->count;
    return tree;
}

struct tv_call_tree *tv_call_tree_of_shape(struct tv_tree_shape *shape)
{
    return call_tree_over(shape, tv_pages_alloc(tv_size_mul(shape->count, COSTS_SIZE)));
}

size_t tv_call_tree_bytes(uint32_t count)
{
    return tv_size_mul(count, COSTS_SIZE + 2 * sizeof(uint32_t));
}

struct tv_call_tree *tv_call_tree_in(const struct tv_trace_info *head, uint32_t count, void *block)
{
    struct tv_tree_shape *shape = tv_alloc(1, sizeof *shape);
    shape->head = head;
    shape->count = count;
    shape->parent = (uint32_t *)((uint8_t *)block + count * COSTS_SIZE);
    shape->frame = shape->parent + count;
    struct tv_call_tree *tree = call_tree_over(shape, block);
    tree->owns_shape = true;
    tree->kept = true;
    tv_call_tree_touch(tree);
    return tree;
}

void tv_call_tree_store(const struct tv_call_tree *tree, struct tv_sections_writer *writer)
{
    tv_sections_add(writer, SECTION_COSTS, 0, COSTS_SIZE, tree->count, tree->cost);
    tv_sections_add(writer, SECTION_WAITS, 0, sizeof tree->waits, 1, &tree->waits);
    tv_sections_add(writer, SECTION_RAISED, 0, 1, 1, tree->raised ? "\1" : "");
}

/* Validate costs from an index file: each must be in the range of a count or time
 * (index/layout.h), and so must their sum, because children are added up when a range is
 * subtracted.
 */
static bool call_tree_costs_are_valid(const uint64_t *figures, uint64_t count)
{
    uint64_t all = 0, upper = 0;
    for (uint64_t i = 0; i < count; i++) {
        all |= figures[i];
        upper += figures[i] >> 32;
    }
    return all < (uint64_t)1 << 61 && upper + count < (uint64_t)1 << 30;
}

struct tv_call_tree *tv_call_tree_load_stored(struct tv_tree_shape *shape,
                                              const struct tv_trace *trace)
{
    uint64_t count, waits_count, raised_count;
    void *lent;
    if (!trace->sections)
        return NULL;
    const void *figures = tv_sections_find(trace->sections, SECTION_COSTS, 0, COSTS_SIZE, &count);
    const struct tv_path_cost *waits =
        tv_sections_find(trace->sections, SECTION_WAITS, 0, sizeof *waits, &waits_count);
    const uint8_t *raised =
        tv_sections_find(trace->sections, SECTION_RAISED, 0, sizeof *raised, &raised_count);
    if (!figures || count != shape->count || !waits || waits_count != 1 || !raised ||
        raised_count != 1 ||
        !call_tree_costs_are_valid(figures, count * (COSTS_SIZE / sizeof(uint64_t))))
        return NULL;
    memcpy(&lent, &figures, sizeof lent);
    struct tv_call_tree *tree = call_tree_over(shape, lent);
    tree->waits = *waits;
    tree->raised = *raised != 0;
    tree->lent = true;
    tree->counted = true;
    return tree;
}

struct tv_call_tree *tv_call_tree_new(const struct tv_trace_info *head,
                                      const struct tv_paths *paths)
{
    struct tv_call_tree *tree = tv_call_tree_of_shape(tv_tree_shape_new(head, paths));
    tree->owns_shape = true;
    return tree;
}

struct tv_call_tree *tv_call_tree_copy(const struct tv_call_tree *tree)
{
    struct tv_call_tree *copy = tv_call_tree_of_shape(tree->shape);
    memcpy(copy->cost, tree->cost, tree->count * COSTS_SIZE);
    copy->waits = tree->waits;
    copy->compensation = tree->compensation;
    copy->figures = tree->figures;
    copy->counted = tree->counted;
    copy->raised = tree->raised;
    return copy;
}

/* In depth-first order the subtree is one contiguous range. */
struct tv_call_tree *tv_call_tree_part(const struct tv_call_tree *tree, uint32_t node)
{
    assert(node < tree->count);
    const struct tv_tree_order *order = tv_tree_shape_order(tree->shape);
    uint32_t first = order->place[node], count = order->end[first] - first;
    struct tv_tree_shape *shape = tv_tree_shape_blank(tree->head, count + 1);
    struct tv_call_tree *part = tv_call_tree_of_shape(shape);
    part->clocks = tree->clocks;
    part->figures = tree->figures;
    part->owns_shape = true;
    shape->frame[TV_ROOT_PATH] = TV_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = order->node[first + i];
        shape->parent[i + 1] = i > 0 ? order->place[tree->parent[from]] - first + 1 : TV_ROOT_PATH;
        shape->frame[i + 1] = tree->frame[from];
        part->cost[i + 1] = tree->cost[from];
        part->self_wall[i + 1] = tree->self_wall[from];
        part->self_cpu[i + 1] = tree->self_cpu[from];
    }
    return part;
}

void tv_call_tree_touch(struct tv_call_tree *tree)
{
    memset(tree->cost, 0, tree->count * COSTS_SIZE);
}

void tv_call_tree_free(struct tv_call_tree *tree)
{
    if (!tree)
        return;
    /* `kept`: the caller owns the block.  `lent`: the block is a part of an index file. */
    if (tree->kept)
        tree->shape->parent = NULL;
    else if (!tree->lent)
        tv_pages_free(tree->cost, tv_size_mul(tree->count, COSTS_SIZE));
    if (tree->owns_shape)
        tv_tree_shape_free(tree->shape);
    tv_trace_info_free_extended(tree->own_head);
    tv_free(tree);
}

void tv_call_tree_expect(const struct tv_call_tree *tree, uint32_t block)
{
    uint32_t first = block * TV_TREE_READ_AHEAD, left = tree->count - first;
    uint32_t count = left < TV_TREE_READ_AHEAD ? left : TV_TREE_READ_AHEAD;
    tv_memory_prefetch(tree->cost + first, count * sizeof *tree->cost);
    tv_memory_prefetch(tree->self_wall + first, count * sizeof *tree->self_wall);
    tv_memory_prefetch(tree->self_cpu + first, count * sizeof *tree->self_cpu);
    tv_memory_prefetch(tree->parent + first, count * sizeof *tree->parent);
    tv_memory_prefetch(tree->frame + first, count * sizeof *tree->frame);
}

const uint8_t *tv_call_tree_recursion(const struct tv_call_tree *tree)
{
    return tv_tree_shape_recursion(tree->shape);
}

/* Go from the leaves to the root: before a node's own turn, its self time holds the sum of its
 * children. */
void tv_call_tree_settle(struct tv_call_tree *tree)
{
    assert(!tree->lent);
    tree->raised = false;
    /* A parent has a smaller number than its children, so they all have had their turn. */
    for (uint32_t i = tree->count; i-- > 1;) {
        if (i % TV_TREE_READ_AHEAD == TV_TREE_READ_AHEAD - 1 || i == tree->count - 1)
            tv_call_tree_expect(tree, i / TV_TREE_READ_AHEAD);
        if (tree->cost[i].calls == 0 && tree->self_wall[i] == 0 && tree->self_cpu[i] == 0)
            continue;
        uint32_t parent = tree->parent[i];
        /* A call whose CPU time is unknown ran at least as long as its children. */
        if (tree->cost[i].cpu < tree->self_cpu[i]) {
            tree->cost[i].cpu = tree->self_cpu[i];
            tree->raised = true;
        }
        int64_t wall = tree->cost[i].wall, cpu = tree->cost[i].cpu;
        tv_time_add(&tree->self_wall[parent], wall);
        tv_time_add(&tree->self_cpu[parent], cpu);
        wall -= tree->self_wall[i];
        cpu -= tree->self_cpu[i];
        /* Clocks of a file may contradict each other: children longer than their caller leave 0.
         * Weights of samples may be negative, as freed bytes are, and stay so. */
        tree->self_wall[i] = wall > 0 || tree->figures.sampled ? wall : 0;
        tree->self_cpu[i] = cpu > 0 ? cpu : 0;
    }
    tree->raised |=
        tree->self_wall[TV_ROOT_PATH] == INT64_MAX || tree->self_cpu[TV_ROOT_PATH] == INT64_MAX;
    tree->self_wall[TV_ROOT_PATH] = tree->self_cpu[TV_ROOT_PATH] = 0;
}

struct tree_job {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    struct tv_call_tree *tree;
    /* NULL: costs start at 0 and the selection is added.  Otherwise they start as the whole
     * trace's and everything outside of the selection is subtracted. */
    const struct tv_call_tree *whole;
    struct tv_slice_run
        *overlaps; /* by row, the slices that overlap the selection; NULL: found when needed */
    struct tv_slice_runs runs; /* slices to add or to subtract */
    unsigned workers;
    struct tv_path_cost **cost; /* by worker; the first is the tree's */
    uint32_t node_count;
    uint32_t *owner; /* by depth, the worker that counts it, if all workers write into the tree;
                        otherwise NULL */
};

/* Value of a slice: one call, and the nanoseconds of a tick; both negative to subtract. */
struct slice_unit {
    int64_t calls, tick;
};

/* `clocks` is a constant in every caller, so that each clock gets its own loop. */
TV_INLINE void call_tree_add_columns(struct tv_path_cost *cost, const struct tv_columns *c,
                                     uint64_t first, uint32_t count, struct slice_unit unit,
                                     unsigned clocks)
{
    /* The hottest loop of the program: 8 to 12 bytes read for a slice, and one node that is mostly
     * in the cache already.  Sums cannot overflow here, which call_tree_lengths_fit has checked. */
    const bool wall = clocks & TV_CLOCK_WALL, cpu = clocks & TV_CLOCK_CPU;
    const uint32_t *path = c->path + first;
    const uint32_t *length = wall ? c->length + first : NULL;
    const uint32_t *cpu_length = cpu ? c->cpu_length + first : NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct tv_path_cost *node = &cost[path[i]];
        node->calls += (uint64_t)unit.calls;
        if (wall)
            tv_time_add_fitting(&node->wall, length[i] * unit.tick);
        if (cpu)
            tv_time_add_fitting(&node->cpu, cpu_length[i] * unit.tick);
    }
}

/* Choose the loop for the clocks that the columns have. */
static void call_tree_add_packed(struct tv_path_cost *cost, const struct tv_columns *c,
                                 uint64_t first, uint32_t count, struct slice_unit unit)
{
    if (c->length && c->cpu_length)
        call_tree_add_columns(cost, c, first, count, unit, TV_CLOCK_WALL | TV_CLOCK_CPU);
    else if (c->length)
        call_tree_add_columns(cost, c, first, count, unit, TV_CLOCK_WALL);
    else
        call_tree_add_columns(cost, c, first, count, unit, TV_CLOCK_CPU);
}

/* Add a slice to its node.  Without a wall clock, its length is CPU time.  `times` is 1, or -1 to
 * subtract. */
static void call_tree_add_slice(struct tv_path_cost *cost, const struct tv_slice *slice,
                                bool has_wall, int64_t times)
{
    struct tv_path_cost *node = &cost[slice->path];
    node->calls += (uint64_t)times;
    if (has_wall)
        tv_time_add(&node->wall, slice->length * times);
    tv_time_add(&node->cpu, (has_wall ? slice->cpu_length : slice->length) * times);
}

/* Add slices of blocks with 64-bit times, decoding some at a time. */
static void call_tree_add_wide(struct tv_path_cost *cost, const struct tv_trace *trace,
                               const struct tv_slice_run *run, int64_t times)
{
    struct tv_slice slices[64];
    bool has_wall = tv_row_columns(trace, run->row)->start != NULL;
    for (uint32_t done = 0; done < run->count;) {
        uint32_t count = run->count - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, run->row, run->first + done, count, slices);
        for (uint32_t i = 0; i < count; i++)
            call_tree_add_slice(cost, &slices[i], has_wall, times);
        done += count;
    }
}

/* Return true if the sum of all slice lengths fits into 64 bits (checked by tv_trace_finalize). */
static bool call_tree_lengths_fit(const struct tv_trace *trace)
{
    return trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TIME_SATURATED].count == 0;
}

/* Add a run block by block: packed blocks are summed right in the columns. */
static void call_tree_add_blocks(struct tv_path_cost *cost, const struct tv_trace *trace,
                                 const struct tv_slice_run *run, int64_t times)
{
    const struct tv_row *row = &trace->rows[run->row];
    const struct tv_columns *columns = &trace->columns[row->columns];
    struct slice_unit unit = {times, trace->head->inputs[row->input].tick_ns * times};
    uint32_t end = run->first + run->count;
    bool fit = call_tree_lengths_fit(trace);
    for (uint32_t at = run->first; at < end;) {
        uint32_t block = at / TV_BLOCK_SLICES;
        uint32_t left_in_block = TV_BLOCK_SLICES - at % TV_BLOCK_SLICES;
        uint32_t count = end - at < left_in_block ? end - at : left_in_block;
        if (TV_LIKELY(fit && columns->blocks[row->first_block + block].wide == TV_NONE))
            call_tree_add_packed(cost, columns, row->first + at, count, unit);
        else
            call_tree_add_wide(cost, trace, &(struct tv_slice_run){run->row, at, count}, times);
        at += count;
    }
}

/* Slices that are read ahead of time: 256 KiB of each column.
 *
 * The columns of a trace from an index are a mapped file: without the hint,
 * each page that is not in memory would be waited for by itself. */
#define READ_AHEAD_SLICES (64 * TV_BLOCK_SLICES)

static void call_tree_expect_column(const uint32_t *column, uint64_t first, uint32_t count)
{
    if (column)
        tv_memory_prefetch(column + first, count * sizeof *column);
}

static void call_tree_add_run(struct tv_path_cost *cost, const struct tv_trace *trace,
                              const struct tv_slice_run *run, int64_t times)
{
    const struct tv_row *row = &trace->rows[run->row];
    const struct tv_columns *columns = &trace->columns[row->columns];
    for (uint32_t done = 0; done < run->count;) {
        uint32_t left = run->count - done,
                 count = left < READ_AHEAD_SLICES ? left : READ_AHEAD_SLICES;
        uint64_t first = row->first + run->first + done;
        call_tree_expect_column(columns->path, first, count);
        call_tree_expect_column(columns->length, first, count);
        call_tree_expect_column(columns->cpu_length, first, count);
        call_tree_add_blocks(cost, trace,
                             &(struct tv_slice_run){run->row, run->first + done, count}, times);
        done += count;
    }
}

/* Return 1 to add slices, or -1 to subtract them. */
static int64_t tree_job_sign(const struct tree_job *job)
{
    return job->whole ? -1 : 1;
}

/* All slices of a path have one depth, and one worker owns the depth: no two workers write to one
 * node. */
static void tree_job_add_depths(struct tree_job *job, unsigned index)
{
    for (uint32_t i = 0; i < job->runs.count; i++) {
        if (job->owner[job->trace->rows[job->runs.list[i].row].depth] == index)
            call_tree_add_run(job->cost[0], job->trace, &job->runs.list[i], tree_job_sign(job));
    }
}

struct tree_run_target {
    const struct tv_trace *trace;
    struct tv_path_cost *cost;
    int64_t times;
};

/* Adapt call_tree_add_run to tv_slice_runs_share. */
static void tree_job_add_run(void *context, const struct tv_slice_run *run)
{
    const struct tree_run_target *part = context;
    call_tree_add_run(part->cost, part->trace, run, part->times);
}

/* Count the share of one worker. */
static void tree_job_add_share(void *context, unsigned index)
{
    struct tree_job *job = context;
    struct tree_run_target part = {job->trace, job->cost[index], tree_job_sign(job)};
    if (job->owner)
        tree_job_add_depths(job, index);
    else
        tv_slice_runs_share(&job->runs, index, job->workers, tree_job_add_run, &part);
}

/* Add the costs of all workers up, for one share of the nodes. */
static void tree_job_merge_share(void *context, unsigned index)
{
    struct tree_job *job = context;
    uint32_t first = (uint32_t)((uint64_t)job->node_count * index / job->workers);
    uint32_t end = (uint32_t)((uint64_t)job->node_count * (index + 1) / job->workers);
    for (unsigned k = 1; k < job->workers; k++) {
        for (uint32_t i = first; i < end; i++) {
            job->cost[0][i].calls += job->cost[k][i].calls;
            tv_time_add(&job->cost[0][i].wall, job->cost[k][i].wall);
            tv_time_add(&job->cost[0][i].cpu, job->cost[k][i].cpu);
        }
    }
}

/* Add the part of a slice within the range; when subtracting, remove the whole slice first. */
static void tree_job_add_clipped(struct tree_job *job, uint32_t row, uint32_t index,
                                 const struct tv_range_ends *ends)
{
    struct tv_slice slice = tv_slice_get(job->trace, row, index);
    bool has_wall = tv_row_columns(job->trace, row)->start != NULL;
    if (job->whole)
        call_tree_add_slice(job->cost[0], &slice, has_wall, -1);
    tv_slice_clip(&slice, ends);
    call_tree_add_slice(job->cost[0], &slice, has_wall, 1);
}

static struct tv_slice_run tree_job_find_overlap(const struct tree_job *job, uint32_t row)
{
    uint32_t first, end;
    tv_row_overlap(job->trace, row, job->selection->from, job->selection->to, &first, &end);
    return (struct tv_slice_run){row, first, end - first};
}

/* Add the slices that the range cuts, at most two per row, and list the other ones inside (or
 * outside). */
static void tree_job_plan_row(struct tree_job *job, uint32_t row, const struct tv_range_ends *ends)
{
    assert(row < job->trace->row_count);
    const struct tv_selection *selection = job->selection;
    struct tv_slice_run overlap =
        job->overlaps ? job->overlaps[row] : tree_job_find_overlap(job, row);
    uint32_t first = overlap.first, end = first + overlap.count;
    if (job->whole) {
        tv_slice_runs_add(&job->runs, (struct tv_slice_run){row, 0, first});
        tv_slice_runs_add(&job->runs,
                          (struct tv_slice_run){row, end, job->trace->rows[row].count - end});
    }
    if (first < end && tv_slice_start(job->trace, row, first) < selection->from)
        tree_job_add_clipped(job, row, first++, ends);
    if (first < end && tv_slice_end(job->trace, row, end - 1) > selection->to)
        tree_job_add_clipped(job, row, --end, ends);
    if (!job->whole)
        tv_slice_runs_add(&job->runs, (struct tv_slice_run){row, first, end - first});
}

/* Plan all rows of a track, with the CPU times at the ends of the range. */
static void tree_job_plan_track(struct tree_job *job, uint32_t track)
{
    const struct tv_trace *trace = job->trace;
    const struct tv_track *t = &trace->tracks[track];
    struct tv_range_ends ends = tv_range_ends_of(trace, track, job->selection);
    for (uint32_t row = t->first_row; row < t->first_row + t->row_count; row++)
        tree_job_plan_row(job, row, &ends);
}

/* Add the waits of a track, clipped to the range. */
static void tree_job_add_waits(struct tree_job *job, uint32_t track, struct tv_path_cost *waits)
{
    const struct tv_track *t = &job->trace->tracks[track];
    int64_t tick = tv_track_tick(job->trace, track);
    tv_ns offset = job->trace->offset[t->input];
    for (uint32_t i = 0; i < t->wait_count; i++) {
        tv_ns start = t->waits[i].start * tick + offset, end = start + t->waits[i].length * tick;
        if (start < job->selection->from)
            start = job->selection->from;
        if (end > job->selection->to)
            end = job->selection->to;
        if (start >= end)
            continue;
        waits->calls++;
        tv_time_add(&waits->wall, end - start);
    }
}

/* With fewer slices than this, a second thread costs more than it saves. */
#define SLICES_A_WORKER 200000u

/* Up to this many nodes each worker has its own costs, which are added up at the end; with more,
 * touching and adding them would take longer than counting. */
#define NODES_OF_ITS_OWN 65536u

/* Assign depths to workers: neighbouring ones, with about the same number of slices each. */
static uint32_t *tree_job_assign_depths(const struct tree_job *job)
{
    uint32_t depths = 0;
    for (uint32_t i = 0; i < job->trace->row_count; i++)
        if (job->trace->rows[i].depth >= depths)
            depths = job->trace->rows[i].depth + 1;
    /* A depth goes to the worker in whose share of all slices its middle lies. */
    uint64_t *slices = tv_alloc(depths, sizeof *slices), before = 0;
    uint32_t *owner = tv_alloc(depths, sizeof *owner);
    for (uint32_t i = 0; i < job->runs.count; i++)
        slices[job->trace->rows[job->runs.list[i].row].depth] += job->runs.list[i].count;
    for (uint32_t depth = 0; depth < depths; depth++) {
        uint64_t middle = before + slices[depth] / 2;
        owner[depth] =
            middle < job->runs.slices ? (uint32_t)(middle * job->workers / job->runs.slices) : 0;
        before += slices[depth];
    }
    tv_free(slices);
    return owner;
}

/* Count with all workers. In small trees each has costs of its own, which are merged at the end; in
 * large ones workers share the costs, and each takes some depths of the tree. */
static void tree_job_run(struct tree_job *job)
{
    assert(job->workers >= 1 && job->cost[0] == job->tree->cost);
    size_t size = tv_size_mul(job->node_count, sizeof(struct tv_path_cost));
    bool own = job->workers > 1 && job->node_count < NODES_OF_ITS_OWN;
    if (job->workers > 1 && !own)
        job->owner = tree_job_assign_depths(job);
    for (unsigned k = 1; own && k < job->workers; k++)
        job->cost[k] = tv_pages_alloc(size);
    tv_workers_run(job->workers, tree_job_add_share, job);
    if (own)
        tv_workers_run(job->workers, tree_job_merge_share, job);
    for (unsigned k = 1; own && k < job->workers; k++)
        tv_pages_free(job->cost[k], size);
    tv_free(job->owner);
}

/* Clear only what is not 0: most ranges reach few nodes, and memory that was never written costs
 * next to nothing. */
static void call_tree_clear(struct tv_call_tree *tree)
{
    assert(!tree->lent);
    for (uint32_t i = 0; i < tree->count; i++) {
        if (i % TV_TREE_READ_AHEAD == 0)
            tv_call_tree_expect(tree, i / TV_TREE_READ_AHEAD);
        struct tv_path_cost *cost = &tree->cost[i];
        if (cost->calls != 0 || cost->wall != 0 || cost->cpu != 0)
            *cost = (struct tv_path_cost){0};
        if (tree->self_wall[i] != 0 || tree->self_cpu[i] != 0)
            tree->self_wall[i] = tree->self_cpu[i] = 0;
    }
}

/* Find the slices of each wanted row that overlap the selection. */
static void tree_job_find_overlaps(struct tree_job *job, const bool *wanted)
{
    const struct tv_selection *selection = job->selection;
    job->overlaps = tv_alloc(job->trace->row_count, sizeof *job->overlaps);
    for (uint32_t row = 0; row < job->trace->row_count; row++) {
        job->overlaps[row] = (struct tv_slice_run){row, 0, 0};
        if (wanted[job->trace->rows[row].track] && selection->from < selection->to)
            job->overlaps[row] = tree_job_find_overlap(job, row);
    }
}

/* Return true if subtracting from the whole trace's tree is less work.  Copying a node costs as
 * much as counting a slice. */
static bool tree_job_subtracting_pays(const struct tree_job *job, const bool *wanted,
                                      const struct tv_call_tree *whole)
{
    const struct tv_trace *trace = job->trace;
    uint64_t within = 0, outside = 0;
    /* Raised times are not sums any more, so nothing can be subtracted from them. */
    if (!whole || !whole->counted || whole->raised)
        return false;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        uint32_t track = trace->rows[row].track;
        if (tv_track_has_calls(&trace->tracks[track])) {
            within += job->overlaps[row].count;
            outside += trace->rows[row].count - job->overlaps[row].count;
        } else if (wanted[track]) {
            return false; /* the whole trace's tree has no such tracks */
        }
    }
    return outside + job->node_count < within;
}

/* Copy one worker's share of the whole trace's costs. */
static void tree_job_copy_share(void *context, unsigned index)
{
    struct tree_job *job = context;
    struct tv_call_tree *tree = job->tree;
    size_t first = (size_t)((uint64_t)tree->count * index / job->workers),
           count = (size_t)((uint64_t)tree->count * (index + 1) / job->workers) - first;
    memcpy(tree->cost + first, job->whole->cost + first, count * sizeof *tree->cost);
    memset(tree->self_wall + first, 0, count * sizeof *tree->self_wall);
    memset(tree->self_cpu + first, 0, count * sizeof *tree->self_cpu);
}

/* Set the costs to what counting starts from. */
static void tree_job_begin(struct tree_job *job, unsigned workers)
{
    assert(!job->whole || job->whole->count == job->tree->count);
    struct tv_call_tree *tree = job->tree;
    if (job->whole) {
        struct tv_slice_runs nodes = {.slices = tree->count};
        job->workers = tv_slice_runs_workers(&nodes, SLICES_A_WORKER, workers);
        tv_workers_run(job->workers, tree_job_copy_share, job);
    } else if (tree->counted) {
        call_tree_clear(tree);
    }
    tree->counted = true;
    tree->waits = (struct tv_path_cost){0};
}

/* List the runs of all tracks and add their waits. */
static void tree_job_plan(struct tree_job *job, const bool *wanted)
{
    const struct tv_trace *trace = job->trace;
    bool empty = job->selection->from >= job->selection->to;
    tv_slice_runs_init(&job->runs, trace->row_count * 2); /* before and after a range */
    for (uint32_t i = 0; i < trace->track_count && !empty; i++) {
        if (wanted[i] || (job->whole && tv_track_has_calls(&trace->tracks[i])))
            tree_job_plan_track(job, i);
        if (wanted[i])
            tree_job_add_waits(job, i, &job->tree->waits);
    }
}

/* Count the listed runs. */
static void tree_job_count(struct tree_job *job, unsigned workers)
{
    job->workers = tv_slice_runs_workers(&job->runs, SLICES_A_WORKER, workers);
    job->cost = tv_alloc(job->workers, sizeof *job->cost);
    job->cost[0] = job->tree->cost;
    tree_job_run(job);
    tv_free(job->cost);
    tv_slice_runs_release(&job->runs);
}

/* Return a job that adds a selection to the tree.  `first` points to the costs of the tree, to
 * which this thread alone adds while it plans. */
static struct tree_job tree_job_of(struct tv_call_tree *tree, const struct tv_trace *trace,
                                   const struct tv_selection *selection,
                                   struct tv_path_cost **first)
{
    assert(first[0] == tree->cost);
    return (struct tree_job){.trace = trace,
                             .selection = selection,
                             .tree = tree,
                             .cost = first,
                             .node_count = tree->count};
}

void tv_call_tree_add(struct tv_call_tree *tree, const struct tv_trace *trace,
                      const struct tv_selection *selection, unsigned workers)
{
    struct tv_path_cost *first[1] = {tree->cost};
    struct tree_job job = tree_job_of(tree, trace, selection, first);
    uint32_t rows = 0;
    if (selection->from >= selection->to)
        return;
    for (uint32_t i = 0; i < selection->track_count; i++)
        rows += trace->tracks[selection->tracks[i]].row_count;
    tv_slice_runs_init(&job.runs, rows);
    for (uint32_t i = 0; i < selection->track_count; i++) {
        tree_job_plan_track(&job, selection->tracks[i]);
        tree_job_add_waits(&job, selection->tracks[i], &tree->waits);
    }
    tree->counted = true;
    tree_job_count(&job, workers);
}

void tv_call_tree_count_within(struct tv_call_tree *tree, const struct tv_trace *trace,
                               const struct tv_selection *selection,
                               const struct tv_call_tree *whole, unsigned workers)
{
    bool *wanted = tv_selection_wanted(trace, selection);
    /* the slices that the range cuts are added while the rows are planned, by this thread alone */
    struct tv_path_cost *first[1] = {tree->cost};
    struct tree_job job = tree_job_of(tree, trace, selection, first);
    tree_job_find_overlaps(&job, wanted);
    job.whole = tree_job_subtracting_pays(&job, wanted, whole) ? whole : NULL;
    tree_job_begin(&job, workers);
    tree_job_plan(&job, wanted);
    tree_job_count(&job, workers);
    tv_call_tree_settle(tree);
    tv_free(job.overlaps);
    tv_free(wanted);
}

void tv_call_tree_count(struct tv_call_tree *tree, const struct tv_trace *trace,
                        const struct tv_selection *selection, unsigned workers)
{
    tv_call_tree_count_within(tree, trace, selection, NULL, workers);
}

struct tv_call_tree *tv_call_tree_of_trace(const struct tv_trace *trace,
                                           const struct tv_selection *selection, unsigned workers)
{
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &trace->paths);
    tv_call_tree_count(tree, trace, selection, workers);
    return tree;
}

void tv_call_tree_totals(const struct tv_call_tree *tree, int64_t *wall, int64_t *cpu)
{
    *wall = *cpu = 0;
    for (uint32_t node = 1; node < tree->count; node++) {
        if (tv_call_tree_is_call(tree, tree->parent[node]) || !tv_call_tree_is_call(tree, node) ||
            tree->cost[node].calls == 0)
            continue;
        tv_time_add(wall, tree->cost[node].wall);
        tv_time_add(cpu, tree->cost[node].cpu);
    }
    if (tree->figures.sampled)
        *wall = tree->figures.total;
}

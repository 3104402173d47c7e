/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/call_tree.h"

#include <string.h>

#include "analysis/runs.h"
#include "analysis/tree_shape.h"
#include "base/memory.h"
#include "base/sections.h"
#include "base/workers.h"

/* Bytes of one node's figures, which are one allocation. */
#define FIGURES_SIZE (sizeof(struct tv_path_cost) + 2 * sizeof(int64_t))

/* Their sections in a file that a trace lies in. */
#define KEPT_FIGURES TV_SECTION_TAG('t', 'r', 'e', 'e')
#define KEPT_WAITS TV_SECTION_TAG('t', 'r', 'e', 'w')
#define KEPT_RAISED TV_SECTION_TAG('t', 'r', 'e', 'r')

/* With figures that lie there: costs, then own times of either clock. */
static struct tv_call_tree *tree_with(struct tv_tree_shape *shape, void *figures)
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
    return tree_with(shape, tv_pages_alloc(tv_size_mul(shape->count, FIGURES_SIZE)));
}

void tv_call_tree_keep(const struct tv_call_tree *tree, struct tv_sections_writer *writer)
{
    tv_sections_add(writer, KEPT_FIGURES, 0, FIGURES_SIZE, tree->count, tree->cost);
    tv_sections_add(writer, KEPT_WAITS, 0, sizeof tree->waits, 1, &tree->waits);
    tv_sections_add(writer, KEPT_RAISED, 0, 1, 1, tree->raised ? "\1" : "");
}

/* All figures are counts or times, and as large as these can be (index/layout.h); together too, for
 * children are added up when a range is taken off them. */
static bool are_figures(const uint64_t *figures, uint64_t count)
{
    uint64_t all = 0, upper = 0;
    for (uint64_t i = 0; i < count; i++) {
        all |= figures[i];
        upper += figures[i] >> 32;
    }
    return all < (uint64_t)1 << 61 && upper + count < (uint64_t)1 << 30;
}

struct tv_call_tree *tv_call_tree_kept(struct tv_tree_shape *shape, const struct tv_trace *trace)
{
    uint64_t count, waits_count, raised_count;
    void *lent;
    if (!trace->sections)
        return NULL;
    const void *figures = tv_sections_find(trace->sections, KEPT_FIGURES, 0, FIGURES_SIZE, &count);
    const struct tv_path_cost *waits =
        tv_sections_find(trace->sections, KEPT_WAITS, 0, sizeof *waits, &waits_count);
    const uint8_t *raised =
        tv_sections_find(trace->sections, KEPT_RAISED, 0, sizeof *raised, &raised_count);
    if (!figures || count != shape->count || !waits || waits_count != 1 || !raised ||
        raised_count != 1 || !are_figures(figures, count * (FIGURES_SIZE / sizeof(uint64_t))))
        return NULL;
    memcpy(&lent, &figures, sizeof lent);
    struct tv_call_tree *tree = tree_with(shape, lent);
    tree->waits = *waits;
    tree->raised = *raised != 0;
    tree->lent = true;
    tree->counted = true;
    return tree;
}

struct tv_call_tree *tv_call_tree_new(const struct tv_trace_info *head, const struct tv_paths *paths)
{
    struct tv_call_tree *tree = tv_call_tree_of_shape(tv_tree_shape_new(head, paths));
    tree->owns_shape = true;
    return tree;
}

struct tv_call_tree *tv_call_tree_copy(const struct tv_call_tree *tree)
{
    struct tv_call_tree *copy = tv_call_tree_of_shape(tree->shape);
    memcpy(copy->cost, tree->cost, tree->count * FIGURES_SIZE);
    copy->waits = tree->waits;
    copy->compensation = tree->compensation;
    copy->counted = tree->counted;
    copy->raised = tree->raised;
    return copy;
}

/* Behind the root the nodes stand depth first. */
struct tv_call_tree *tv_call_tree_part(const struct tv_call_tree *tree, uint32_t node)
{
    const struct tv_tree_order *order = tv_tree_shape_order(tree->shape);
    uint32_t first = order->place[node], count = order->end[first] - first;
    struct tv_tree_shape *shape = tv_tree_shape_blank(tree->head, count + 1);
    struct tv_call_tree *part = tv_call_tree_of_shape(shape);
    part->clocks = tree->clocks;
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
    memset(tree->cost, 0, tree->count * FIGURES_SIZE);
}

void tv_call_tree_free(struct tv_call_tree *tree)
{
    if (!tree)
        return;
    if (!tree->lent)
        tv_pages_free(tree->cost, tv_size_mul(tree->count, FIGURES_SIZE));
    if (tree->owns_shape)
        tv_tree_shape_free(tree->shape);
    tv_free(tree);
}

void tv_call_tree_expect(const struct tv_call_tree *tree, uint32_t stretch)
{
    uint32_t first = stretch * TV_TREE_STRETCH, left = tree->count - first;
    uint32_t count = left < TV_TREE_STRETCH ? left : TV_TREE_STRETCH;
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

/* From the leaves to the root: until its turn comes, a node's self time holds the sum of its
 * children. */
void tv_call_tree_settle(struct tv_call_tree *tree)
{
    tree->raised = false;
    for (uint32_t i = tree->count; i-- > 1;) {
        if (i % TV_TREE_STRETCH == TV_TREE_STRETCH - 1 || i == tree->count - 1)
            tv_call_tree_expect(tree, i / TV_TREE_STRETCH);
        if (tree->cost[i].calls == 0 && tree->self_wall[i] == 0 && tree->self_cpu[i] == 0)
            continue;
        uint32_t parent = tree->parent[i];
        /* Calls whose CPU time is unknown ran at least as long as those that they made. */
        if (tree->cost[i].cpu < tree->self_cpu[i]) {
            tree->cost[i].cpu = tree->self_cpu[i];
            tree->raised = true;
        }
        int64_t wall = tree->cost[i].wall, cpu = tree->cost[i].cpu;
        tv_time_add(&tree->self_wall[parent], wall);
        tv_time_add(&tree->self_cpu[parent], cpu);
        wall -= tree->self_wall[i];
        cpu -= tree->self_cpu[i];
        tree->self_wall[i] = wall > 0 ? wall : 0;
        tree->self_cpu[i] = cpu > 0 ? cpu : 0;
    }
    tree->raised |=
        tree->self_wall[TV_ROOT_PATH] == INT64_MAX || tree->self_cpu[TV_ROOT_PATH] == INT64_MAX;
    tree->self_wall[TV_ROOT_PATH] = tree->self_cpu[TV_ROOT_PATH] = 0;
}

void tv_row_overlap(const struct tv_trace *trace, uint32_t row, tv_ns from, tv_ns to,
                    uint32_t *first, uint32_t *end)
{
    uint32_t ending = tv_row_find(trace, row, from), starting = tv_row_find_start(trace, row, from);
    *first = ending < starting ? ending : starting;
    *end = to == INT64_MAX ? trace->rows[row].count : tv_row_find_start(trace, row, to);
    if (*end < *first)
        *end = *first;
}

bool *tv_selection_wanted(const struct tv_trace *trace, const struct tv_selection *selection)
{
    bool *wanted = tv_alloc(trace->track_count, sizeof *wanted);
    for (uint32_t i = 0; i < trace->track_count; i++)
        wanted[i] = selection->tracks == NULL && tv_track_has_calls(&trace->tracks[i]);
    for (uint32_t i = 0; selection->tracks && i < selection->track_count; i++) {
        if (selection->tracks[i] < trace->track_count)
            wanted[selection->tracks[i]] = true;
    }
    return wanted;
}

struct job {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    struct tv_call_tree *tree;
    /* NULL: what lies within the selection is added to nothing.  Else what lies outside is taken
     * off the figures of the whole trace. */
    const struct tv_call_tree *whole;
    struct tv_run *overlaps; /* of each row what overlaps the selection; NULL: found row by row */
    struct tv_runs runs;     /* what is to be added, or taken off */
    unsigned workers;
    struct tv_path_cost **cost; /* of each worker; the first is the tree's */
    uint32_t node_count;
    uint32_t *owner; /* of each depth the worker, when all write into the tree; else NULL */
};

/* What a slice adds: a call and nanoseconds a tick; both below 0 to take it off. */
struct unit {
    int64_t calls, tick;
};

/* `clocks` is a constant where this is called. */
TV_INLINE void add_columns(struct tv_path_cost *cost, const struct tv_columns *c, uint64_t first,
                           uint32_t count, struct unit unit, unsigned clocks)
{
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

static void add_packed(struct tv_path_cost *cost, const struct tv_columns *c, uint64_t first,
                       uint32_t count, struct unit unit)
{
    if (c->length && c->cpu_length)
        add_columns(cost, c, first, count, unit, TV_CLOCK_WALL | TV_CLOCK_CPU);
    else if (c->length)
        add_columns(cost, c, first, count, unit, TV_CLOCK_WALL);
    else
        add_columns(cost, c, first, count, unit, TV_CLOCK_CPU);
}

/* What of a slice a cost takes: without a wall clock its length is CPU time. `times` is 1, or -1 to
 * take it off. */
static void add_slice(struct tv_path_cost *cost, const struct tv_slice *slice, bool has_wall,
                      int64_t times)
{
    struct tv_path_cost *node = &cost[slice->path];
    node->calls += (uint64_t)times;
    if (has_wall)
        tv_time_add(&node->wall, slice->length * times);
    tv_time_add(&node->cpu, (has_wall ? slice->cpu_length : slice->length) * times);
}

static void add_wide(struct tv_path_cost *cost, const struct tv_trace *trace,
                     const struct tv_run *run, int64_t times)
{
    struct tv_slice slices[64];
    bool has_wall = tv_row_columns(trace, run->row)->start != NULL;
    for (uint32_t done = 0; done < run->count;) {
        uint32_t count = run->count - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, run->row, run->first + done, count, slices);
        for (uint32_t i = 0; i < count; i++)
            add_slice(cost, &slices[i], has_wall, times);
        done += count;
    }
}

/* Return true when the sum of all slice lengths fits (checked by tv_trace_finalize). */
static bool lengths_fit(const struct tv_trace *trace)
{
    return trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TIME_SATURATED].count == 0;
}

/* Block by block: columns hold packed blocks' times as they are. */
static void add_stretch(struct tv_path_cost *cost, const struct tv_trace *trace,
                        const struct tv_run *run, int64_t times)
{
    const struct tv_row *row = &trace->rows[run->row];
    const struct tv_columns *columns = &trace->columns[row->columns];
    struct unit unit = {times, trace->head->inputs[row->input].tick_ns * times};
    uint32_t end = run->first + run->count;
    bool fit = lengths_fit(trace);
    for (uint32_t at = run->first; at < end;) {
        uint32_t block = at / TV_BLOCK_SLICES;
        uint32_t left_in_block = TV_BLOCK_SLICES - at % TV_BLOCK_SLICES;
        uint32_t count = end - at < left_in_block ? end - at : left_in_block;
        if (TV_LIKELY(fit && columns->blocks[row->first_block + block].wide == TV_NONE))
            add_packed(cost, columns, row->first + at, count, unit);
        else
            add_wide(cost, trace, &(struct tv_run){run->row, at, count}, times);
        at += count;
    }
}

/* What is read of each column at once: 256 KiB. */
#define STRETCH (64 * TV_BLOCK_SLICES)

static void expect(const uint32_t *column, uint64_t first, uint32_t count)
{
    if (column)
        tv_memory_prefetch(column + first, count * sizeof *column);
}

static void add_run(struct tv_path_cost *cost, const struct tv_trace *trace,
                    const struct tv_run *run, int64_t times)
{
    const struct tv_row *row = &trace->rows[run->row];
    const struct tv_columns *columns = &trace->columns[row->columns];
    for (uint32_t done = 0; done < run->count;) {
        uint32_t left = run->count - done, count = left < STRETCH ? left : STRETCH;
        uint64_t first = row->first + run->first + done;
        expect(columns->path, first, count);
        expect(columns->length, first, count);
        expect(columns->cpu_length, first, count);
        add_stretch(cost, trace, &(struct tv_run){run->row, run->first + done, count}, times);
        done += count;
    }
}

static int64_t times_of(const struct job *job)
{
    return job->whole ? -1 : 1;
}

/* A path has one depth, and the worker that owns the depth is the only one to count for it. */
static void add_depths(struct job *job, unsigned index)
{
    for (uint32_t i = 0; i < job->runs.count; i++) {
        if (job->owner[job->trace->rows[job->runs.list[i].row].depth] == index)
            add_run(job->cost[0], job->trace, &job->runs.list[i], times_of(job));
    }
}

struct part {
    const struct tv_trace *trace;
    struct tv_path_cost *cost;
    int64_t times;
};

static void add_part(void *context, const struct tv_run *run)
{
    const struct part *part = context;
    add_run(part->cost, part->trace, run, part->times);
}

static void add_share(void *context, unsigned index)
{
    struct job *job = context;
    struct part part = {job->trace, job->cost[index], times_of(job)};
    if (job->owner)
        add_depths(job, index);
    else
        tv_runs_share(&job->runs, index, job->workers, add_part, &part);
}

static void merge_share(void *context, unsigned index)
{
    struct job *job = context;
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

/* The CPU clock of a track at the range's ends. */
struct edges {
    tv_ns cpu_from, cpu_to;
};

static void add_clipped(struct job *job, uint32_t row, uint32_t index, const struct edges *edges)
{
    struct tv_slice slice = tv_slice_get(job->trace, row, index);
    tv_ns end = slice.start + slice.length, cpu_end = slice.cpu_start + slice.cpu_length;
    bool has_wall = tv_row_columns(job->trace, row)->start != NULL;
    if (job->whole)
        add_slice(job->cost[0], &slice, has_wall, -1);
    if (slice.start < job->selection->from) {
        slice.start = job->selection->from;
        slice.cpu_start = edges->cpu_from;
    }
    if (end > job->selection->to) {
        end = job->selection->to;
        cpu_end = edges->cpu_to;
    }
    slice.length = end - slice.start;
    slice.cpu_length = cpu_end > slice.cpu_start ? cpu_end - slice.cpu_start : 0;
    if (slice.flags & TV_SLICE_NO_CPU) /* it has none, however much of it is asked for */
        slice.cpu_length = 0;
    add_slice(job->cost[0], &slice, has_wall, 1);
}

static struct tv_run find_overlap(const struct job *job, uint32_t row)
{
    uint32_t first, end;
    tv_row_overlap(job->trace, row, job->selection->from, job->selection->to, &first, &end);
    return (struct tv_run){row, first, end - first};
}

/* Adds the slices that the range cuts, at most two, and notes the others, or those outside. */
static void plan_row(struct job *job, uint32_t row, const struct edges *edges)
{
    const struct tv_selection *selection = job->selection;
    struct tv_run overlap = job->overlaps ? job->overlaps[row] : find_overlap(job, row);
    uint32_t first = overlap.first, end = first + overlap.count;
    if (job->whole) {
        tv_runs_add(&job->runs, (struct tv_run){row, 0, first});
        tv_runs_add(&job->runs, (struct tv_run){row, end, job->trace->rows[row].count - end});
    }
    if (first < end && tv_slice_start(job->trace, row, first) < selection->from)
        add_clipped(job, row, first++, edges);
    if (first < end && tv_slice_end(job->trace, row, end - 1) > selection->to)
        add_clipped(job, row, --end, edges);
    if (!job->whole)
        tv_runs_add(&job->runs, (struct tv_run){row, first, end - first});
}

static void plan_track(struct job *job, uint32_t track)
{
    const struct tv_trace *trace = job->trace;
    const struct tv_track *t = &trace->tracks[track];
    struct edges edges = {0, 0};
    if (tv_track_has_wall(trace, track) && tv_track_has_cpu(trace, track)) {
        edges.cpu_from = tv_track_cpu_at(trace, track, job->selection->from);
        edges.cpu_to = tv_track_cpu_at(trace, track, job->selection->to);
    }
    for (uint32_t row = t->first_row; row < t->first_row + t->row_count; row++)
        plan_row(job, row, &edges);
}

static void add_waits(struct job *job, uint32_t track, struct tv_path_cost *waits)
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

/* Below so many slices a second thread costs more than it brings. */
#define SLICES_A_WORKER 200000u

/* Below so many nodes each worker has figures of its own, which are added up; above that, touching
 * and adding them takes longer than counting. */
#define NODES_OF_ITS_OWN 65536u

/* Deals the depths out: each worker gets neighbouring ones, with about the same number of slices.
 */
static uint32_t *deal_depths(const struct job *job)
{
    uint32_t depths = 0;
    for (uint32_t i = 0; i < job->trace->row_count; i++)
        if (job->trace->rows[i].depth >= depths)
            depths = job->trace->rows[i].depth + 1;
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

static void run_job(struct job *job)
{
    size_t size = tv_size_mul(job->node_count, sizeof(struct tv_path_cost));
    bool own = job->workers > 1 && job->node_count < NODES_OF_ITS_OWN;
    if (job->workers > 1 && !own)
        job->owner = deal_depths(job);
    for (unsigned k = 1; own && k < job->workers; k++)
        job->cost[k] = tv_pages_alloc(size);
    tv_workers_run(job->workers, add_share, job);
    if (own)
        tv_workers_run(job->workers, merge_share, job);
    for (unsigned k = 1; own && k < job->workers; k++)
        tv_pages_free(job->cost[k], size);
    tv_free(job->owner);
}

/* Writes only where there is something: most ranges reach few of the nodes, and memory that was
 * never written to costs next to nothing. */
static void clear(struct tv_call_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++) {
        if (i % TV_TREE_STRETCH == 0)
            tv_call_tree_expect(tree, i / TV_TREE_STRETCH);
        struct tv_path_cost *cost = &tree->cost[i];
        if (cost->calls != 0 || cost->wall != 0 || cost->cpu != 0)
            *cost = (struct tv_path_cost){0};
        if (tree->self_wall[i] != 0 || tree->self_cpu[i] != 0)
            tree->self_wall[i] = tree->self_cpu[i] = 0;
    }
}

/* What overlaps the selection, of each row of the tracks that are wanted. */
static void find_overlaps(struct job *job, const bool *wanted)
{
    const struct tv_selection *selection = job->selection;
    job->overlaps = tv_alloc(job->trace->row_count, sizeof *job->overlaps);
    for (uint32_t row = 0; row < job->trace->row_count; row++) {
        job->overlaps[row] = (struct tv_run){row, 0, 0};
        if (wanted[job->trace->rows[row].track] && selection->from < selection->to)
            job->overlaps[row] = find_overlap(job, row);
    }
}

/* Whether less is to be done from the tree of the whole trace, copying it included: that takes as
 * long for a node as counting for a slice. */
static bool pays(const struct job *job, const bool *wanted, const struct tv_call_tree *whole)
{
    const struct tv_trace *trace = job->trace;
    uint64_t within = 0, outside = 0;
    if (!whole || !whole->counted || whole->raised)
        return false;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        uint32_t track = trace->rows[row].track;
        if (tv_track_has_calls(&trace->tracks[track])) {
            within += job->overlaps[row].count;
            outside += trace->rows[row].count - job->overlaps[row].count;
        } else if (wanted[track]) {
            return false; /* the whole has none of these */
        }
    }
    return outside + job->node_count < within;
}

static void copy_share(void *context, unsigned index)
{
    struct job *job = context;
    struct tv_call_tree *tree = job->tree;
    size_t first = (size_t)((uint64_t)tree->count * index / job->workers),
           count = (size_t)((uint64_t)tree->count * (index + 1) / job->workers) - first;
    memcpy(tree->cost + first, job->whole->cost + first, count * sizeof *tree->cost);
    memset(tree->self_wall + first, 0, count * sizeof *tree->self_wall);
    memset(tree->self_cpu + first, 0, count * sizeof *tree->self_cpu);
}

/* What the figures begin with. */
static void begin(struct job *job, unsigned workers)
{
    struct tv_call_tree *tree = job->tree;
    if (job->whole) {
        struct tv_runs nodes = {.slices = tree->count};
        job->workers = tv_runs_workers(&nodes, SLICES_A_WORKER, workers);
        tv_workers_run(job->workers, copy_share, job);
    } else if (tree->counted) {
        clear(tree);
    }
    tree->counted = true;
    tree->waits = (struct tv_path_cost){0};
}

static void plan(struct job *job, const bool *wanted)
{
    const struct tv_trace *trace = job->trace;
    bool empty = job->selection->from >= job->selection->to;
    tv_runs_init(&job->runs, trace->row_count * 2); /* before and after a range */
    for (uint32_t i = 0; i < trace->track_count && !empty; i++) {
        if (wanted[i] || (job->whole && tv_track_has_calls(&trace->tracks[i])))
            plan_track(job, i);
        if (wanted[i])
            add_waits(job, i, &job->tree->waits);
    }
}

/* Counts what was planned. */
static void count_runs(struct job *job, unsigned workers)
{
    job->workers = tv_runs_workers(&job->runs, SLICES_A_WORKER, workers);
    job->cost = tv_alloc(job->workers, sizeof *job->cost);
    job->cost[0] = job->tree->cost;
    run_job(job);
    tv_free(job->cost);
    tv_runs_release(&job->runs);
}

void tv_call_tree_add(struct tv_call_tree *tree, const struct tv_trace *trace,
                      const struct tv_selection *selection, unsigned workers)
{
    struct tv_path_cost *first[1] = {tree->cost};
    struct job job = {.trace = trace,
                      .selection = selection,
                      .tree = tree,
                      .cost = first,
                      .node_count = tree->count};
    uint32_t rows = 0;
    if (selection->from >= selection->to)
        return;
    for (uint32_t i = 0; i < selection->track_count; i++)
        rows += trace->tracks[selection->tracks[i]].row_count;
    tv_runs_init(&job.runs, rows);
    for (uint32_t i = 0; i < selection->track_count; i++) {
        plan_track(&job, selection->tracks[i]);
        add_waits(&job, selection->tracks[i], &tree->waits);
    }
    tree->counted = true;
    count_runs(&job, workers);
}

void tv_call_tree_count_within(struct tv_call_tree *tree, const struct tv_trace *trace,
                               const struct tv_selection *selection,
                               const struct tv_call_tree *whole, unsigned workers)
{
    bool *wanted = tv_selection_wanted(trace, selection);
    struct tv_path_cost *first[1] = {tree->cost};
    struct job job = {.trace = trace,
                      .selection = selection,
                      .tree = tree,
                      .cost = first,
                      .node_count = tree->count};
    find_overlaps(&job, wanted);
    job.whole = pays(&job, wanted, whole) ? whole : NULL;
    begin(&job, workers);
    plan(&job, wanted);
    count_runs(&job, workers);
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

bool tv_trace_has_only_async(const struct tv_trace *trace)
{
    uint64_t async = 0;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (tv_track_has_calls(track) && track->slice_count > 0)
            return false;
        async += track->kind == TV_TRACK_ASYNC ? track->slice_count : 0;
    }
    return async > 0;
}

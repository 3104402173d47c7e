/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/call_tree.h"

#include "base/memory.h"
#include "base/workers.h"

/* Bytes of one node in all arrays of a tree, which are one allocation. */
#define NODE_SIZE (sizeof(struct tv_path_cost) + 2 * sizeof(int64_t) + 2 * sizeof(uint32_t))

struct tv_call_tree *tv_call_tree_new(const struct tv_head *head, const struct tv_paths *paths)
{
    struct tv_call_tree *tree = tv_alloc(1, sizeof *tree);
    uint32_t count = paths->count;
    tree->head = head;
    tree->clocks = tv_head_clocks(head);
    tree->count = count;
    tree->storage = tv_pages_alloc(tv_size_mul(count, NODE_SIZE));
    tree->cost = tree->storage;
    tree->self_wall = (int64_t *)(tree->cost + count);
    tree->self_cpu = tree->self_wall + count;
    uint32_t *parent = (uint32_t *)(tree->self_cpu + count);
    uint32_t *frame = parent + count;
    for (uint32_t i = 0; i < count; i++) {
        parent[i] = paths->nodes[i].parent;
        frame[i] = paths->nodes[i].frame;
    }
    tree->parent = parent;
    tree->frame = frame;
    return tree;
}

void tv_call_tree_free(struct tv_call_tree *tree)
{
    if (!tree)
        return;
    tv_pages_free(tree->storage, tv_size_mul(tree->count, NODE_SIZE));
    tv_free(tree);
}

/* From the leaves to the root: until its turn comes, a node's self time holds the sum of its
 * children. */
void tv_call_tree_settle(struct tv_call_tree *tree)
{
    for (uint32_t i = tree->count; i-- > 1;) {
        uint32_t parent = tree->parent[i];
        int64_t wall = tree->cost[i].wall, cpu = tree->cost[i].cpu;
        tree->self_wall[parent] += wall;
        tree->self_cpu[parent] += cpu;
        wall -= tree->self_wall[i];
        cpu -= tree->self_cpu[i];
        tree->self_wall[i] = wall > 0 ? wall : 0;
        tree->self_cpu[i] = cpu > 0 ? cpu : 0;
    }
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
        wanted[i] = selection->tracks == NULL;
    for (uint32_t i = 0; selection->tracks && i < selection->track_count; i++) {
        if (selection->tracks[i] < trace->track_count)
            wanted[selection->tracks[i]] = true;
    }
    return wanted;
}

/* Slices of one row that lie within the range. */
struct run {
    uint32_t row, first, count;
};

struct job {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    struct run *runs;
    uint32_t run_count;
    uint64_t slices; /* of all runs */
    unsigned workers;
    struct tv_path_cost **cost; /* of each worker; the first is the tree's */
    uint32_t node_count;
};

TV_INLINE void add_columns(struct tv_path_cost *cost, const struct tv_columns *c, uint64_t first,
                           uint32_t count, int64_t tick, bool wall, bool cpu)
{
    const uint32_t *path = c->path + first;
    const uint32_t *length = wall ? c->length + first : NULL;
    const uint32_t *cpu_length = cpu ? c->cpu_length + first : NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct tv_path_cost *node = &cost[path[i]];
        node->calls++;
        if (wall)
            node->wall += length[i] * tick;
        if (cpu)
            node->cpu += cpu_length[i] * tick;
    }
}

static void add_packed(struct tv_path_cost *cost, const struct tv_columns *c, uint64_t first,
                       uint32_t count, int64_t tick)
{
    if (c->length && c->cpu_length)
        add_columns(cost, c, first, count, tick, true, true);
    else if (c->length)
        add_columns(cost, c, first, count, tick, true, false);
    else
        add_columns(cost, c, first, count, tick, false, true);
}

/* What of a slice a cost takes: without a wall clock its length is CPU time. */
static void add_slice(struct tv_path_cost *cost, const struct tv_slice *slice, bool has_wall)
{
    struct tv_path_cost *node = &cost[slice->path];
    node->calls++;
    if (has_wall)
        node->wall += slice->length;
    node->cpu += has_wall ? slice->cpu_length : slice->length;
}

static void add_wide(struct tv_path_cost *cost, const struct tv_trace *trace, const struct run *run)
{
    struct tv_slice slices[64];
    bool has_wall = trace->columns[trace->rows[run->row].input].start != NULL;
    for (uint32_t done = 0; done < run->count;) {
        uint32_t count = run->count - done;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, run->row, run->first + done, count, slices);
        for (uint32_t i = 0; i < count; i++)
            add_slice(cost, &slices[i], has_wall);
        done += count;
    }
}

/* Block by block: columns hold packed blocks' times as they are. */
static void add_run(struct tv_path_cost *cost, const struct tv_trace *trace, const struct run *run)
{
    const struct tv_row *row = &trace->rows[run->row];
    const struct tv_columns *columns = &trace->columns[row->input];
    int64_t tick = trace->head->inputs[row->input].tick_ns;
    uint32_t end = run->first + run->count;
    for (uint32_t at = run->first; at < end;) {
        uint32_t block = at / TV_BLOCK_SLICES;
        uint32_t left_in_block = TV_BLOCK_SLICES - at % TV_BLOCK_SLICES;
        uint32_t count = end - at < left_in_block ? end - at : left_in_block;
        if (TV_LIKELY(columns->blocks[row->first_block + block].wide == TV_NONE))
            add_packed(cost, columns, row->first + at, count, tick);
        else
            add_wide(cost, trace, &(struct run){run->row, at, count});
        at += count;
    }
}

/* Each worker takes the slices of its share of all runs laid end to end: mostly whole tracks, so
 * that workers meet few paths in common. */
static void add_share(void *context, unsigned index)
{
    struct job *job = context;
    uint64_t first = job->slices * index / job->workers,
             end = job->slices * (index + 1) / job->workers;
    uint64_t at = 0;
    for (uint32_t i = 0; i < job->run_count && at < end; i++) {
        struct run run = job->runs[i];
        uint64_t low = first > at ? first - at : 0,
                 high = end - at < run.count ? end - at : run.count;
        at += run.count;
        if (low >= high)
            continue;
        run.first += (uint32_t)low;
        run.count = (uint32_t)(high - low);
        add_run(job->cost[index], job->trace, &run);
    }
}

static void merge_share(void *context, unsigned index)
{
    struct job *job = context;
    uint32_t first = (uint32_t)((uint64_t)job->node_count * index / job->workers);
    uint32_t end = (uint32_t)((uint64_t)job->node_count * (index + 1) / job->workers);
    for (unsigned k = 1; k < job->workers; k++) {
        for (uint32_t i = first; i < end; i++) {
            job->cost[0][i].calls += job->cost[k][i].calls;
            job->cost[0][i].wall += job->cost[k][i].wall;
            job->cost[0][i].cpu += job->cost[k][i].cpu;
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
    bool has_wall = job->trace->columns[job->trace->rows[row].input].start != NULL;
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
    add_slice(job->cost[0], &slice, has_wall);
}

/* Adds the slices that the range cuts, at most two, and notes the others as a run. */
static void plan_row(struct job *job, uint32_t row, const struct edges *edges)
{
    const struct tv_selection *selection = job->selection;
    struct run *run = &job->runs[job->run_count];
    uint32_t first, end;
    tv_row_overlap(job->trace, row, selection->from, selection->to, &first, &end);
    if (first < end && tv_slice_start(job->trace, row, first) < selection->from)
        add_clipped(job, row, first++, edges);
    if (first < end && tv_slice_end(job->trace, row, end - 1) > selection->to)
        add_clipped(job, row, --end, edges);
    if (first == end)
        return;
    *run = (struct run){row, first, end - first};
    job->slices += run->count;
    job->run_count++;
}

static void plan_track(struct job *job, uint32_t track)
{
    const struct tv_trace *trace = job->trace;
    const struct tv_track *t = &trace->tracks[track];
    struct edges edges = {0, 0};
    if (trace->columns[t->input].start && trace->columns[t->input].cpu_start) {
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
        waits->wall += end - start;
    }
}

/* Below so many slices a second thread costs more than it brings. */
#define SLICES_A_WORKER 200000u

static unsigned worker_count(const struct job *job, unsigned asked)
{
    uint64_t useful = job->slices / SLICES_A_WORKER + 1;
    unsigned workers = tv_workers_available();
    if (asked)
        return asked;
    return workers < useful ? workers : (unsigned)useful;
}

static void run_job(struct job *job)
{
    size_t size = tv_size_mul(job->node_count, sizeof(struct tv_path_cost));
    for (unsigned k = 1; k < job->workers; k++)
        job->cost[k] = tv_pages_alloc(size);
    tv_workers_run(job->workers, add_share, job);
    if (job->workers > 1)
        tv_workers_run(job->workers, merge_share, job);
    for (unsigned k = 1; k < job->workers; k++)
        tv_pages_free(job->cost[k], size);
}

struct tv_call_tree *tv_call_tree_of_trace(const struct tv_trace *trace,
                                           const struct tv_selection *selection, unsigned workers)
{
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &trace->paths);
    bool *wanted = tv_selection_wanted(trace, selection);
    struct job job = {.trace = trace, .selection = selection, .node_count = tree->count};
    struct tv_path_cost *first[1] = {tree->cost};
    job.cost = first;
    job.runs = tv_alloc(trace->row_count, sizeof *job.runs);
    for (uint32_t i = 0; i < trace->track_count && selection->from < selection->to; i++) {
        if (!wanted[i])
            continue;
        plan_track(&job, i);
        add_waits(&job, i, &tree->waits);
    }
    job.workers = worker_count(&job, workers);
    job.cost = tv_alloc(job.workers, sizeof *job.cost);
    job.cost[0] = tree->cost;
    run_job(&job);
    tv_call_tree_settle(tree);
    tv_free(job.cost);
    tv_free(job.runs);
    tv_free(wanted);
    return tree;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_binding.c - which slice or instant of a thread a flow event means.
 *
 *     thread   |---- A ----------|  |-- D --|
 *              |  B  ||   C   |
 *     event       ^ enclosing: B (the deepest around the time)
 *                 ^ next: C (the first that starts later, at any depth)
 *
 * Queries come in the order of time.  Each track keeps two cursors that only move forward: the path
 * of slices that enclose the last time, and the first slice in preorder after it.  So each thread
 * is gone through once, whatever the number of queries and the depth of its slices.
 */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/workers.h"
#include "readers/trace_event/join/flows.h"

/* At most so many overflow tracks are searched besides the thread's own. */
#define OVERFLOWS_MAX 7

/* At most so many slices that start at one time are told apart by their place in the file. */
#define TIES_MAX 64

/* A path from the top to a slice of a track: its index in each row. */
struct te_slice_path {
    uint32_t *indices;
    size_t depth, capacity;
};

struct te_binding_slice {
    uint32_t row, index;
    uint64_t offset;
};

/* Progress of the queries of a track. */
struct te_binding_track {
    uint32_t first_row, row_count;
    struct te_slice_path enclosing; /* the slices that enclose the last time */
    uint32_t *found;                /* [row_count] how far `enclosing` has come in each row */
    struct te_slice_path
        next;   /* the first slice, in preorder, that starts after the last time; empty: none */
    bool begun; /* `next` is valid */
    tv_ns tie_time;
    struct te_binding_slice ties[TIES_MAX]; /* the slices that start at tie_time */
    unsigned tie_count;
};

struct te_binding_thread {
    struct te_binding_track *tracks; /* the thread's track and its overflow tracks */
    uint32_t count;
};

/* Return how many tracks of the thread are searched.  Overflow tracks are after their thread's.
 */
static uint32_t te_binding_count_tracks(const struct tv_trace *trace, uint32_t track)
{
    uint32_t count = 1;
    if (track == TV_NONE)
        return 0;
    while (count <= OVERFLOWS_MAX && track + count < trace->track_count &&
           trace->tracks[track + count].kind == TV_TRACK_OVERFLOW)
        count++;
    return count;
}

static struct te_binding_thread te_binding_thread_init(const struct tv_trace *trace, uint32_t track)
{
    uint32_t count = te_binding_count_tracks(trace, track);
    struct te_binding_thread thread = {tv_alloc(count, sizeof *thread.tracks), count};
    for (uint32_t i = 0; i < count; i++) {
        thread.tracks[i].first_row = trace->tracks[track + i].first_row;
        thread.tracks[i].row_count = trace->tracks[track + i].row_count;
        thread.tracks[i].found = tv_alloc(thread.tracks[i].row_count, sizeof(uint32_t));
    }
    return thread;
}

static void te_binding_thread_release(struct te_binding_thread *thread)
{
    for (uint32_t i = 0; i < thread->count; i++) {
        tv_free(thread->tracks[i].found);
        tv_free(thread->tracks[i].enclosing.indices);
        tv_free(thread->tracks[i].next.indices);
    }
    tv_free(thread->tracks);
}

/* Extend a path by one row. */
static void te_slice_path_push(struct te_slice_path *path, uint32_t index)
{
    path->indices =
        tv_array_reserve(path->indices, &path->capacity, path->depth + 1, sizeof *path->indices);
    path->indices[path->depth++] = index;
}

/* True when the slice of the row below belongs under the end of the path.  Mostly the times decide:
 * slices of a row share at most their boundaries. */
static bool te_slice_path_is_parent(const struct tv_trace *trace,
                                    const struct te_binding_track *track,
                                    const struct te_slice_path *path, uint32_t index)
{
    if (path->depth == 0)
        return true;
    uint32_t row = track->first_row + (uint32_t)path->depth, over = path->indices[path->depth - 1];
    tv_ns start = tv_slice_start(trace, row, index), end = tv_slice_end(trace, row - 1, over);
    if (start > end)
        return false;
    if (start < end && start > tv_slice_start(trace, row - 1, over))
        return true;
    return tv_slice_parent(trace, row, index) == over;
}

/* Extend the path by the slice of the next row that touches the time, if there is one. */
static bool te_binding_descend(const struct tv_trace *trace, struct te_binding_track *track,
                               tv_ns time)
{
    uint32_t row = track->first_row + (uint32_t)track->enclosing.depth;
    if (track->enclosing.depth == track->row_count)
        return false;
    uint32_t *found = &track->found[track->enclosing.depth];
    uint32_t index = *found = tv_row_find_from(trace, row, *found, time - 1);
    if (index == trace->rows[row].count || tv_slice_start(trace, row, index) > time ||
        !te_slice_path_is_parent(trace, track, &track->enclosing, index))
        return false;
    te_slice_path_push(&track->enclosing, index);
    return true;
}

/* Move the path of enclosing slices to a time, which is not before the last one. */
static bool te_binding_find_enclosing(const struct tv_trace *trace, struct te_binding_track *track,
                                      tv_ns time, uint32_t *row, uint32_t *index)
{
    struct te_slice_path *path = &track->enclosing;
    while (path->depth > 0 && tv_slice_end(trace, track->first_row + (uint32_t)path->depth - 1,
                                           path->indices[path->depth - 1]) < time)
        path->depth--;
    while (te_binding_descend(trace, track, time))
        continue;
    if (path->depth == 0)
        return false;
    *row = track->first_row + (uint32_t)path->depth - 1;
    *index = path->indices[path->depth - 1];
    return true;
}

/* Answer from the thread's own track, or else from its overflow tracks. */
static void te_binding_answer_enclosing(const struct tv_trace *trace,
                                        struct te_binding_thread *thread, tv_ns time,
                                        struct tv_te_flow_event *query)
{
    for (uint32_t i = 0; i < thread->count; i++)
        if (te_binding_find_enclosing(trace, &thread->tracks[i], time, &query->row, &query->index))
            return;
}

/* Move to the next slice in preorder: parents before children, siblings in order.  That is the
 * order of their starts. */
static void te_binding_next_in_preorder(const struct tv_trace *trace,
                                        struct te_binding_track *track)
{
    assert(track->next.depth > 0);
    struct te_slice_path *path = &track->next;
    uint32_t first, count;
    uint32_t row = track->first_row + (uint32_t)path->depth - 1;
    tv_slice_children(trace, row, path->indices[path->depth - 1], &first, &count);
    if (count > 0) {
        te_slice_path_push(path, first);
        return;
    }
    while (path->depth > 0) {
        uint32_t next = path->indices[--path->depth] + 1;
        if (next < trace->rows[track->first_row + (uint32_t)path->depth].count &&
            te_slice_path_is_parent(trace, track, path, next)) {
            te_slice_path_push(path, next);
            return;
        }
    }
}

/* Return the slice at the end of the preorder path. */
static struct te_binding_slice te_binding_preorder_slice(const struct te_binding_track *track)
{
    assert(track->next.depth > 0);
    const struct te_slice_path *path = &track->next;
    return (struct te_binding_slice){track->first_row + (uint32_t)path->depth - 1,
                                     path->indices[path->depth - 1], 0};
}

/* Move after all slices that start at the time, and keep these as ties. */
static void te_binding_advance(const struct tv_trace *trace, struct te_binding_track *track,
                               tv_ns time)
{
    assert(track->tie_count <= TIES_MAX);
    if (!track->begun && track->row_count > 0)
        te_slice_path_push(&track->next, 0);
    else if (track->tie_time == time)
        return;
    track->begun = true;
    track->tie_time = time;
    track->tie_count = 0;
    for (; track->next.depth > 0; te_binding_next_in_preorder(trace, track)) {
        struct te_binding_slice slice = te_binding_preorder_slice(track);
        tv_ns start = tv_slice_start(trace, slice.row, slice.index);
        if (start > time)
            return;
        if (start < time || track->tie_count == TIES_MAX)
            continue;
        slice.offset = tv_slice_offset(trace, slice.row, slice.index);
        track->ties[track->tie_count++] = slice;
    }
}

/* Find the first slice at the time that is after `offset` in the file, or else the next one.
 */
static bool te_binding_find_next(const struct tv_trace *trace, struct te_binding_track *track,
                                 tv_ns time, uint64_t offset, struct te_binding_slice *found)
{
    const struct te_binding_slice *best = NULL;
    te_binding_advance(trace, track, time);
    for (unsigned i = 0; i < track->tie_count; i++)
        if (track->ties[i].offset > offset && track->ties[i].offset != TV_NO_OFFSET &&
            (best == NULL || track->ties[i].offset < best->offset))
            best = &track->ties[i];
    if (best == NULL && track->next.depth == 0)
        return false;
    *found = best != NULL ? *best : te_binding_preorder_slice(track);
    return true;
}

/* Answer with the earliest of all tracks. */
static void te_binding_answer_next(const struct tv_trace *trace, struct te_binding_thread *thread,
                                   tv_ns time, struct tv_te_flow_event *query)
{
    tv_ns earliest = INT64_MAX;
    for (uint32_t i = 0; i < thread->count; i++) {
        struct te_binding_slice slice;
        if (!te_binding_find_next(trace, &thread->tracks[i], time, query->offset, &slice))
            continue;
        tv_ns start = tv_slice_start(trace, slice.row, slice.index);
        if (start >= earliest)
            continue;
        earliest = start;
        query->row = slice.row;
        query->index = slice.index;
    }
}

/* ---- Thread beside thread ---- */

struct te_binding_run {
    const struct tv_assembly *assembly;
    const struct tv_trace *trace;
    const struct tv_te_binding_queries *queries;
    uint32_t *order; /* queries, grouped by thread, in the order of time */
    size_t *first;   /* [threads + 1] in `order` */
    uint32_t thread_count;
    _Atomic uint32_t next;
};

/* Answer all queries of a thread, in the order of time. */
static void te_binding_answer_thread(const struct te_binding_run *run, uint32_t number)
{
    const struct tv_trace *trace = run->trace;
    struct te_binding_thread thread =
        te_binding_thread_init(trace, tv_assembly_track(run->assembly, number));
    for (size_t i = run->first[number]; i < run->first[number + 1]; i++) {
        struct tv_te_flow_event *query = &run->queries->rows[run->order[i]];
        tv_ns time = query->time + run->queries->shift;
        if (query->next)
            te_binding_answer_next(trace, &thread, time, query);
        else
            te_binding_answer_enclosing(trace, &thread, time, query);
    }
    te_binding_thread_release(&thread);
}

/* Take threads from a shared counter until none is left; no two workers share a thread. */
static void te_binding_answer_worker(void *context, unsigned worker)
{
    struct te_binding_run *run = context;
    (void)worker;
    for (uint32_t i; (i = atomic_fetch_add(&run->next, 1)) < run->thread_count;)
        if (run->first[i] < run->first[i + 1])
            te_binding_answer_thread(run, i);
}

/* Group the queries by thread with a counting sort, which keeps the order of time. */
static void te_binding_sort_by_thread(struct te_binding_run *run)
{
    const struct tv_te_binding_queries *queries = run->queries;
    size_t *at = tv_alloc((size_t)run->thread_count + 1, sizeof *at);
    for (size_t i = 0; i < queries->count; i++)
        if (queries->rows[i].asks)
            run->first[queries->rows[i].of + 1]++;
    for (uint32_t i = 0; i < run->thread_count; i++)
        at[i + 1] = run->first[i + 1] += run->first[i];
    for (size_t i = 0; i < queries->count; i++) {
        uint32_t number = queries->order[i];
        if (queries->rows[number].asks)
            run->order[at[queries->rows[number].of]++] = number;
    }
    tv_free(at);
}

void tv_te_flows_bind(const struct tv_assembly *assembly, const struct tv_trace *trace,
                      const struct tv_te_binding_queries *queries, unsigned workers)
{
    struct te_binding_run run = {
        .assembly = assembly,
        .trace = trace,
        .queries = queries,
        .order = tv_alloc(queries->count, sizeof *run.order),
        .first = tv_alloc((size_t)trace->head->thread_count + 1, sizeof *run.first),
        .thread_count = trace->head->thread_count,
    };
    te_binding_sort_by_thread(&run);
    tv_workers_run(workers ? workers : tv_workers_available(), te_binding_answer_worker, &run);
    tv_free(run.order);
    tv_free(run.first);
}

/*
 * Instants.  Trace Viewer keeps the instants of a thread among its slices, as slices of no length.
 * Here they are a table, which is sorted by thread when a query needs it.
 */

struct te_thread_instant {
    uint32_t thread, number;
    tv_ns time; /* on the trace's axis */
    uint64_t offset;
};

struct te_thread_instants {
    struct te_thread_instant *rows;
    size_t count;
};

/* Sort by thread, time and place in the file. */
static int te_instants_compare(const void *left, const void *right)
{
    const struct te_thread_instant *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Return the instants of the input's threads, sorted by thread, time and place in the file. */
static struct te_thread_instants te_instants_collect(const struct tv_trace *trace, uint32_t input)
{
    size_t count = trace->tables.instants.count;
    struct te_thread_instants instants = {tv_alloc(count, sizeof *instants.rows), 0};
    for (size_t i = 0; i < count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->input == input && instant->scope == TV_SCOPE_THREAD)
            instants.rows[instants.count++] = (struct te_thread_instant){
                instant->of, (uint32_t)i, tv_trace_time(trace, input, instant->time),
                instant->offset};
    }
    if (instants.count > 0)
        qsort(instants.rows, instants.count, sizeof *instants.rows, te_instants_compare);
    return instants;
}

/* Return the first instant that is not before `wanted`. */
static size_t te_instants_lower_bound(const struct te_thread_instants *instants,
                                      const struct te_thread_instant *wanted)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, instants->count, i, te_instants_compare(&instants->rows[i], wanted) < 0);
    return low;
}

/* Return the last of several at one time, which Trace Viewer nests in the others. */
static const struct te_thread_instant *
te_instants_find_at(const struct te_thread_instants *instants, tv_ns time,
                    const struct tv_te_flow_event *query)
{
    struct te_thread_instant behind = {query->of, 0, time, UINT64_MAX};
    size_t i = te_instants_lower_bound(instants, &behind);
    if (i == 0 || instants->rows[i - 1].thread != query->of || instants->rows[i - 1].time != time)
        return NULL;
    return &instants->rows[i - 1];
}

/* Return the first instant after the event. */
static const struct te_thread_instant *
te_instants_find_next(const struct te_thread_instants *instants, tv_ns time,
                      const struct tv_te_flow_event *query)
{
    struct te_thread_instant wanted = {query->of, 0, time, query->offset};
    size_t i = te_instants_lower_bound(instants, &wanted);
    return i < instants->count && instants->rows[i].thread == query->of ? &instants->rows[i] : NULL;
}

/* True when an instant may be the answer: there is no enclosing slice, or one may come earlier. */
static bool te_binding_wants_instant(const struct tv_te_flow_event *query)
{
    return query->asks && (query->next || query->row == TV_NONE);
}

/* Let an instant replace the slice that was found, unless that slice starts no later. */
static void te_binding_answer_instant(const struct tv_trace *trace,
                                      const struct te_thread_instants *instants, tv_ns time,
                                      struct tv_te_flow_event *query)
{
    const struct te_thread_instant *instant = query->next
                                                  ? te_instants_find_next(instants, time, query)
                                                  : te_instants_find_at(instants, time, query);
    if (instant == NULL)
        return;
    if (query->row != TV_NONE && tv_slice_start(trace, query->row, query->index) <= instant->time)
        return;
    query->row = TV_NONE;
    query->index = instant->number;
}

void tv_te_flows_bind_instants(const struct tv_trace *trace, uint32_t input,
                               const struct tv_te_binding_queries *queries)
{
    struct te_thread_instants instants = {0};
    struct tv_te_flow_event *rows = queries->rows;
    size_t i = 0;
    while (i < queries->count && !te_binding_wants_instant(&rows[i]))
        i++;
    if (i < queries->count)
        instants = te_instants_collect(trace, input);
    for (; i < queries->count && instants.count > 0; i++)
        if (te_binding_wants_instant(&rows[i]))
            te_binding_answer_instant(trace, &instants, rows[i].time + queries->shift, &rows[i]);
    tv_free(instants.rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly.c - distributes the threads of an input to workers and adds the results to the trace.
 *
 * Each worker takes one thread at a time from gathered blocks to finished rows, so at most one
 * thread per worker is in memory in both forms.  Threads end in any order, but path numbers must
 * not depend on that: the path trees are merged in the order of the threads, by whichever worker
 * finds the next one done.
 *
 *     workers    | thread 0 | thread 3 ...      done[]   1 1 0 1 1 0
 *                | thread 1 | thread 2 ...      merged       ^ next to merge
 */
#include "model/assembly/assembly.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/assembly/assembly_internal.h"
#include "model/builder/builder_internal.h"

struct tv_assembly *tv_assembly_new(struct tv_builder *builder, uint32_t input)
{
    struct tv_assembly *assembly = tv_alloc(1, sizeof *assembly);
    assembly->trace = tv_builder_trace(builder);
    assembly->trace->head->inputs[input].assembled = true;
    tv_trace_reserve_offsets(assembly->trace);
    assert(input < assembly->trace->head->input_count);
    assembly->input = input;
    return assembly;
}

struct tv_trace *tv_assembly_trace(struct tv_assembly *assembly)
{
    return assembly->trace;
}

/* ---- Adding chunks ---- */

/* Make room for the threads that were added to the trace info since the last chunk. */
static void assembly_reserve_threads(struct tv_assembly *assembly)
{
    uint32_t count = assembly->trace->head->thread_count;
    if (count <= assembly->thread_count)
        return;
    assembly->threads = tv_realloc(assembly->threads, count, sizeof *assembly->threads);
    memset(assembly->threads + assembly->thread_count, 0,
           (count - assembly->thread_count) * sizeof *assembly->threads);
    assembly->thread_count = count;
}

/* Append the spans that one chunk has of a thread. They stay where they are until the thread is
 * built. */
static void assembly_add_thread_spans(struct assembly_thread *work, const struct tv_span_list *list,
                                      uint32_t chunk)
{
    work->lists = tv_array_reserve(work->lists, &work->list_capacity, work->list_count + 1,
                                   sizeof *work->lists);
    work->lists[work->list_count++] = (struct chunk_spans){list->first, list->count, chunk};
    work->count += list->count;
    if (work->count >= TV_NONE)
        tv_memory_exhausted();
}

void tv_assembly_add_chunk(struct tv_assembly *assembly, struct tv_gather *gather,
                           const uint32_t *threads, const uint32_t *frames)
{
    assert(gather != NULL && assembly->names == NULL); /* before the rows are built */
    size_t frame_count = gather->frame_count;
    assembly_reserve_threads(assembly);
    assembly->chunks = tv_array_reserve(assembly->chunks, &assembly->chunk_capacity,
                                        assembly->chunk_count + 1, sizeof *assembly->chunks);
    uint32_t *taken = tv_alloc(frame_count, sizeof *taken);
    if (frame_count)
        memcpy(taken, frames, frame_count * sizeof *frames);
    for (size_t i = 0; i < gather->thread_count; i++)
        if (gather->threads[i].count > 0)
            assembly_add_thread_spans(&assembly->threads[threads[i]], &gather->threads[i],
                                      (uint32_t)assembly->chunk_count);
    assembly->chunks[assembly->chunk_count++] = taken;
    tv_free(gather->threads);
    tv_free(gather);
}

/* ---- Before an idle gap ---- */

/* A thread that begins so many slices after the gap goes on; fewer are a tick of an idle thread. */
#define IDLE_MIN_LATER 16

/* Search for the last event before a gap, and for slices that reach across it. */
struct idle_scan {
    int64_t gap, last;
    int64_t ended;  /* after the gap: ends minus begins */
    uint64_t later; /* slices that begin after the gap */
    bool across;
};

/* Look at one span. An end after the gap without a begin there ends a slice from before the gap. */
static void idle_scan_span(struct idle_scan *lasting, const struct tv_span *span)
{
    unsigned kind = span->flags & (TV_SPAN_KIND | TV_SPAN_UNFINISHED);
    int64_t end = kind == TV_SPAN_WHOLE ? tv_span_end(span) : span->time;
    if (span->time >= lasting->gap) {
        lasting->ended += kind == TV_SPAN_END;
        lasting->ended -= kind == TV_SPAN_BEGIN;
        lasting->later += kind != TV_SPAN_END;
        return;
    }
    lasting->across |= end >= lasting->gap;
    lasting->last = end > lasting->last ? end : lasting->last;
}

/* Look at all spans of a thread, in the order in which they were gathered. */
static void idle_scan_thread(struct idle_scan *lasting, const struct assembly_thread *work)
{
    struct tv_cpu_times cpu;
    struct tv_span span;
    for (size_t i = 0; i < work->list_count; i++)
        for (const struct tv_span_block *block = work->lists[i].first; block; block = block->next) {
            struct tv_span_reader reader = {.block = block};
            while (tv_span_read(&reader, &span, &cpu))
                idle_scan_span(lasting, &span);
        }
    lasting->across |= lasting->ended > 0;
    lasting->ended = 0;
}

/* Find the last instant before the gap in each process; those of the whole trace say nothing about
 * a process. */
static void idle_scan_instants(const struct tv_assembly *assembly, int64_t gap, int64_t *lasts)
{
    const struct tv_trace_info *head = assembly->trace->head;
    for (size_t i = 0; i < assembly->trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &assembly->trace->tables.instants.rows[i];
        bool of_thread = instant->scope == TV_SCOPE_THREAD;
        if (instant->input != assembly->input || instant->time >= gap ||
            (!of_thread && instant->scope != TV_SCOPE_PROCESS))
            continue;
        uint32_t process = of_thread ? head->threads[instant->of].process : instant->of;
        if (process < head->process_count && instant->time > lasts[process])
            lasts[process] = instant->time;
    }
}

/* Set the end of each thread, or TV_NO_TIME when it goes on.  Raise the last time of each process.
 * Return false when a slice spans the gap. */
static bool idle_scan_threads(const struct tv_assembly *assembly, int64_t gap, int64_t *lasts,
                              int64_t *ends)
{
    const struct tv_trace_info *head = assembly->trace->head;
    for (uint32_t i = 0; i < assembly->thread_count; i++) {
        uint32_t process = head->threads[i].process;
        bool owned = process < head->process_count;
        struct idle_scan lasting = {.gap = gap, .last = owned ? lasts[process] : TV_NO_TIME};
        idle_scan_thread(&lasting, &assembly->threads[i]);
        if (lasting.across)
            return false;
        if (owned)
            lasts[process] = lasting.last;
        ends[i] = lasting.later < IDLE_MIN_LATER ? lasting.last : TV_NO_TIME;
    }
    return true;
}

int64_t *tv_assembly_idle_ends(const struct tv_assembly *assembly, int64_t gap, int64_t *lasts)
{
    const struct tv_trace_info *head = assembly->trace->head;
    int64_t *ends = tv_alloc(head->thread_count, sizeof *ends);
    idle_scan_instants(assembly, gap, lasts);
    if (!idle_scan_threads(assembly, gap, lasts, ends)) {
        tv_free(ends);
        return NULL;
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        bool goes_on = i < assembly->thread_count && ends[i] == TV_NO_TIME;
        if (!goes_on && head->threads[i].process < head->process_count)
            ends[i] = lasts[head->threads[i].process];
        else if (i >= assembly->thread_count)
            ends[i] = TV_NO_TIME;
    }
    return ends;
}

/* ---- All threads ---- */

struct assembly_job {
    struct tv_assembly *assembly;
    const struct tv_row_options *placing;
    _Atomic uint32_t next;
    /* Threads whose rows are done.  Paths are merged in the order of threads. */
    _Atomic bool *done; /* [threads] */
    atomic_flag merging;
    uint32_t merged; /* threads merged so far; owned by the holder of the flag */
};

static bool assembly_is_cancelled(const struct tv_row_options *placing)
{
    return placing->cancel && atomic_load_explicit(placing->cancel, memory_order_relaxed);
}

/* Add the paths of a thread to the tree of the trace, and change its column to the numbers there.
 */
static void assembly_merge_thread_paths(struct assembly_job *job, uint32_t thread)
{
    struct assembly_thread *work = &job->assembly->threads[thread];
    if (!work->placed)
        return;
    if (work->nesting.row_count > 0) {
        uint32_t *map = tv_alloc(work->nesting.node_count, sizeof *map);
        tv_paths_merge_nodes(&job->assembly->trace->paths, work->nesting.nodes,
                             work->nesting.node_count, map);
        for (uint64_t at = 0; at < work->columns.count; at++)
            work->columns.path[at] = map[work->columns.path[at]];
        tv_free(map);
    }
    tv_free(work->nesting.nodes);
    work->nesting.nodes = NULL;
}

/* Merge the threads that are done and next in order.  If another worker is merging, that one will
 * find them. */
static void assembly_merge_ready_paths(struct assembly_job *job)
{
    uint32_t count = job->assembly->thread_count, next;
    do {
        if (atomic_flag_test_and_set(&job->merging))
            return;
        for (; job->merged < count && atomic_load(&job->done[job->merged]); job->merged++)
            assembly_merge_thread_paths(job, job->merged);
        next = job->merged;
        atomic_flag_clear(&job->merging);
    } while (next < count && atomic_load(&job->done[next]));
}

/* Build the rows of one thread. The release order of `done` makes its rows visible to whoever
 * merges its paths. */
static void assembly_place_one(struct assembly_job *job, struct tv_span_scratch *scratch,
                               uint32_t thread)
{
    struct assembly_thread *work = &job->assembly->threads[thread];
    if (work->count > 0 && !assembly_is_cancelled(job->placing))
        tv_assembly_thread_build(job->assembly, job->placing, scratch, work);
    atomic_store(&job->done[thread], true);
    assembly_merge_ready_paths(job);
}

/* Work on threads until none is left.  The other job starts late: when most spans are freed
 * already, and while there is still work for the other workers. */
static void assembly_worker_run(void *context, unsigned worker)
{
    struct assembly_job *job = context;
    uint32_t count = job->assembly->thread_count, late = count - count / 4;
    struct tv_span_scratch scratch;
    (void)worker;
    tv_span_scratch_init(&scratch);
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) <= count;)
        if (i != late)
            assembly_place_one(job, &scratch, i < late ? i : i - 1);
        else if (job->placing->beside)
            job->placing->beside(job->placing->beside_context);
    tv_span_scratch_release(&scratch);
}

/* Count parents and first children of finished rows, on which tv_slice_parent relies (trace.c). */
static void assembly_worker_rank(void *context, unsigned worker)
{
    struct assembly_job *job = context;
    const struct tv_trace *trace = job->assembly->trace;
    (void)worker;
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) < job->assembly->thread_count;) {
        uint32_t t = job->assembly->threads[i].first_track;
        for (; t < trace->track_count && trace->tracks[t].thread == i; t++)
            for (uint32_t row = 0; row < trace->tracks[t].row_count; row++) {
                const struct tv_row *counted = &trace->rows[trace->tracks[t].first_row + row];
                tv_columns_rank(&trace->columns[counted->columns], counted);
            }
    }
}

/* Append the rows of a thread to the trace. Rows come lane by lane and from the outermost depth
 * down, so the rows of a track are neighbours. */
static void assembly_add_rows(struct tv_assembly *assembly, const struct assembly_thread *work,
                              uint32_t columns)
{
    struct tv_trace *trace = assembly->trace;
    uint64_t first = 0, first_block = 0;
    for (size_t i = 0; i < work->nesting.row_count; i++) {
        const struct tv_nested_row *nested = &work->nesting.rows[i];
        struct tv_track *track = &trace->tracks[work->first_track + nested->lane];
        if (track->row_count == 0)
            track->first_row = trace->row_count;
        trace->rows[trace->row_count++] = (struct tv_row){
            .first = first,
            .first_block = first_block,
            .count = nested->count,
            .track = work->first_track + nested->lane,
            .depth = nested->depth,
            .input = assembly->input,
            .columns = columns,
        };
        first += nested->count;
        first_block += tv_blocks_for(nested->count);
        track->row_count++;
        track->slice_count += nested->count;
        if (nested->depth + 1 > trace->max_depth)
            trace->max_depth = nested->depth + 1;
    }
}

/* Add a track for each lane of a thread. Lane 0 holds what nests; spans that overlap others are in
 * overflow tracks. */
static void assembly_add_thread_tracks(struct tv_assembly *assembly, uint32_t thread)
{
    struct assembly_thread *work = &assembly->threads[thread];
    struct tv_trace *trace = assembly->trace;
    struct tv_input *input = &trace->head->inputs[assembly->input];
    bool cpu = work->first_cpu <= work->last_cpu;
    if (cpu && work->last_cpu > input->last_cpu)
        input->last_cpu = work->last_cpu;
    work->first_track = trace->track_count;
    for (uint32_t lane = 0; lane < work->nesting.lane_count; lane++)
        trace->tracks[trace->track_count++] = (struct tv_track){
            .kind = lane ? TV_TRACK_OVERFLOW : TV_TRACK_THREAD,
            .process = trace->head->threads[thread].process,
            .lane = lane,
            .thread = thread,
            .input = assembly->input,
            .first_wall = work->first,
            .last_wall = work->last,
            .first_cpu = cpu ? work->first_cpu : 0,
            .last_cpu = cpu ? work->last_cpu : 0,
        };
}

/* Move the rare properties of slices to the trace. Until here their rows count from the first row
 * of the thread. */
static void assembly_add_slice_extras(struct tv_trace *trace, const struct assembly_thread *work)
{
    uint32_t first_row = trace->tracks[work->first_track].first_row;
    for (size_t i = 0; i < work->extras.count; i++) {
        struct tv_slice_extra *extra = tv_table_add(&trace->tables.slice_extras);
        *extra = work->extras.rows[i];
        extra->row += first_row;
    }
}

/* Add the diagnostics of a thread in the order of threads, so that the kept places do not depend on
 * the workers. */
static void assembly_add_diagnostics(struct tv_trace *trace, const struct assembly_thread *work)
{
    struct tv_diagnostics *all = &trace->head->diagnostics;
    int64_t idle_end =
        work->idle_end > 0 ? work->idle_end - trace->head->inputs[all->input].origin : 0;
    all->quiet = idle_end > all->quiet ? idle_end : all->quiet;
    for (size_t i = 0; i < work->noted.count; i++) {
        struct thread_diagnostic *kind = &work->noted.rows[i];
        tv_diagnostics_merge_kind(all, kind->kind, &kind->noted);
        if (kind->kind == TV_DIAGNOSTIC_UNMATCHED_EXIT)
            trace->unmatched_exits += kind->noted.count;
        if (kind->kind == TV_DIAGNOSTIC_OPEN_CALL)
            trace->open_calls += kind->noted.count;
        tv_free(kind->noted.places);
    }
}

/* Append everything of a thread to the trace: diagnostics, tracks, rows, extras. */
static void assembly_add_thread(struct tv_assembly *assembly, uint32_t thread)
{
    struct assembly_thread *work = &assembly->threads[thread];
    struct tv_trace *trace = assembly->trace;
    trace->head->diagnostics.input = trace->head->threads[thread].input;
    assembly_add_diagnostics(trace, work);
    if (work->nesting.row_count > 0) {
        assembly_add_thread_tracks(assembly, thread);
        trace->columns[trace->columns_count] = work->columns;
        assembly_add_rows(assembly, work, trace->columns_count++);
        assembly_add_slice_extras(trace, work);
        trace->slice_count += work->columns.count;
        trace->recorded_calls += work->columns.count;
    } else {
        /* The thread has only ends without a begin. */
        tv_columns_release(&work->columns);
        work->columns = (struct tv_columns){.count = 0};
        work->first_track = TV_NONE;
    }
    tv_free(work->nesting.rows);
    tv_free(work->extras.rows);
    tv_free(work->noted.rows);
}

/* Reserve tracks and rows for all threads. */
static void assembly_reserve_rows(struct tv_assembly *assembly)
{
    struct tv_trace *trace = assembly->trace;
    size_t tracks = trace->track_count, rows = trace->row_count, columns = trace->columns_count;
    for (uint32_t i = 0; i < assembly->thread_count; i++) {
        tracks += assembly->threads[i].nesting.lane_count;
        rows += assembly->threads[i].nesting.row_count;
        columns += assembly->threads[i].nesting.row_count > 0;
    }
    if (tracks >= TV_NONE || rows >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, tracks + 1, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, rows + 1, sizeof *trace->rows);
    trace->columns = tv_realloc(trace->columns, columns + 1, sizeof *trace->columns);
}

/* Free the frame tables of the chunks after all threads are built. */
static void assembly_release_chunks(struct tv_assembly *assembly)
{
    for (size_t i = 0; i < assembly->chunk_count; i++)
        tv_free(assembly->chunks[i]);
    assembly->chunk_count = 0;
}

static void assembly_copy_names(struct tv_assembly *assembly)
{
    const struct tv_trace_info *head = assembly->trace->head;
    assembly->names = tv_alloc(head->frame_count, sizeof *assembly->names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        assembly->names[i] = head->frames[i].name;
}

void tv_assembly_build_rows(struct tv_assembly *assembly, const struct tv_row_options *placing)
{
    unsigned workers = placing->workers ? placing->workers : tv_workers_available();
    assembly_reserve_threads(assembly);
    struct assembly_job job = {
        .assembly = assembly,
        .placing = placing,
        .done = tv_alloc(assembly->thread_count, sizeof *job.done),
        .merging = ATOMIC_FLAG_INIT,
    };
    assembly_copy_names(assembly);
    tv_workers_run(workers, assembly_worker_run, &job);
    assert(job.merged == assembly->thread_count);
    tv_free(assembly->names);
    assembly->names = NULL;
    tv_free(job.done);
    assembly_release_chunks(assembly);
    assembly_reserve_rows(assembly);
    for (uint32_t i = 0; i < assembly->thread_count; i++)
        if (assembly->threads[i].placed)
            assembly_add_thread(assembly, i);
        else
            assembly->threads[i].first_track = TV_NONE;
    atomic_store(&job.next, 0);
    tv_workers_run(workers, assembly_worker_rank, &job);
}

uint32_t tv_assembly_track(const struct tv_assembly *assembly, uint32_t thread)
{
    if (thread >= assembly->thread_count || !assembly->threads[thread].columns.flags)
        return TV_NONE;
    return assembly->threads[thread].first_track;
}

/* Return the first slice of a row that starts at or after a time. */
static uint32_t row_find_with_hint(const struct tv_trace *trace, struct tv_search_hint *near,
                                   uint32_t row, int64_t start)
{
    if (start > near->after && start <= near->until)
        return near->index;
    uint32_t index = tv_row_find_start_near(trace, row, start, near->index);
    bool last = index == trace->rows[row].count;
    *near = (struct tv_search_hint){
        .after = index == 0 ? INT64_MIN : tv_slice_start(trace, row, index - 1),
        .until = last ? INT64_MAX : tv_slice_start(trace, row, index),
        .index = index,
    };
    return index;
}

/* Find the slice of a row with a start and an offset. */
static bool row_find_slice(const struct tv_trace *trace, const struct tv_slice_query *sought,
                           uint32_t row, int64_t start, uint32_t *index)
{
    if (sought->near) {
        *index = row_find_with_hint(trace, &sought->near[row], row, start);
        if (sought->near[row].until != start)
            return false;
    } else {
        *index = tv_row_find_start(trace, row, start);
    }
    for (; *index < trace->rows[row].count && tv_slice_start(trace, row, *index) == start; ++*index)
        if (tv_slice_offset(trace, row, *index) == sought->offset)
            return true;
    return false;
}

bool tv_assembly_find_slice(const struct tv_assembly *assembly, const struct tv_slice_query *sought,
                            uint32_t *row, uint32_t *index)
{
    const struct tv_trace *trace = assembly->trace;
    int64_t start = sought->start + trace->offset[assembly->input];
    uint32_t track = tv_assembly_track(assembly, sought->thread);
    for (; track < trace->track_count && trace->tracks[track].thread == sought->thread; track++)
        for (uint32_t depth = 0; depth < trace->tracks[track].row_count; depth++) {
            *row = trace->tracks[track].first_row + depth;
            if (row_find_slice(trace, sought, *row, start, index))
                return true;
        }
    return false;
}

void tv_assembly_end(struct tv_assembly *assembly)
{
    for (uint32_t i = 0; i < assembly->thread_count; i++) {
        struct assembly_thread *work = &assembly->threads[i];
        for (size_t j = 0; j < work->list_count; j++) /* left after cancellation */
            for (struct tv_span_block *block = work->lists[j].first, *next; block; block = next) {
                next = block->next;
                tv_span_block_free(block);
            }
        tv_free(work->lists);
    }
    assembly_release_chunks(assembly);
    tv_free(assembly->chunks);
    tv_free(assembly->threads);
    tv_free(assembly);
}

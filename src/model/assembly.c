/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The assembly: threads are worked on side by side, each alone from its gathered blocks to its
 * rows, so that no more than one thread a worker exists twice.  Path numbers follow the order of
 * the threads, whichever worker came first.
 */
#include "model/assembly.h"

#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/assembly_state.h"
#include "model/builder_trace.h"

struct tv_assembly *tv_assembly_new(struct tv_builder *builder, uint32_t input)
{
    struct tv_assembly *assembly = tv_alloc(1, sizeof *assembly);
    assembly->trace = tv_builder_trace(builder);
    assembly->trace->head->inputs[input].assembled = true;
    tv_trace_reserve_offsets(assembly->trace);
    assembly->input = input;
    return assembly;
}

struct tv_trace *tv_assembly_trace(struct tv_assembly *assembly)
{
    return assembly->trace;
}

/* ---- Taking the parts ---- */

static void reserve_threads(struct tv_assembly *assembly)
{
    uint32_t count = assembly->trace->head->thread_count;
    if (count <= assembly->thread_count)
        return;
    assembly->threads = tv_realloc(assembly->threads, count, sizeof *assembly->threads);
    memset(assembly->threads + assembly->thread_count, 0,
           (count - assembly->thread_count) * sizeof *assembly->threads);
    assembly->thread_count = count;
}

static void add_piece(struct thread_work *work, const struct tv_span_list *list, uint32_t part)
{
    work->pieces = tv_array_reserve(work->pieces, &work->piece_capacity, work->piece_count + 1,
                                    sizeof *work->pieces);
    work->pieces[work->piece_count++] = (struct piece){list->first, list->count, part};
    work->count += list->count;
    if (work->count >= TV_NONE)
        tv_memory_exhausted();
}

void tv_assembly_take(struct tv_assembly *assembly, struct tv_gather *gather,
                      const uint32_t *threads, const uint32_t *frames)
{
    size_t frame_count = gather->frame_count;
    reserve_threads(assembly);
    assembly->parts = tv_array_reserve(assembly->parts, &assembly->part_capacity,
                                       assembly->part_count + 1, sizeof *assembly->parts);
    uint32_t *taken = tv_alloc(frame_count, sizeof *taken);
    if (frame_count)
        memcpy(taken, frames, frame_count * sizeof *frames);
    for (size_t i = 0; i < gather->thread_count; i++)
        if (gather->threads[i].count > 0)
            add_piece(&assembly->threads[threads[i]], &gather->threads[i],
                      (uint32_t)assembly->part_count);
    assembly->parts[assembly->part_count++] = taken;
    tv_free(gather->threads);
    tv_free(gather);
}

/* ---- Before a silence ---- */

struct lasting {
    int64_t silence, last;
    int64_t ended; /* behind the silence: ends without a beginning there */
    bool across;
};

static void look_at_span(struct lasting *lasting, const struct tv_span *span)
{
    unsigned kind = span->flags & (TV_SPAN_KIND | TV_SPAN_UNFINISHED);
    int64_t end = kind == TV_SPAN_WHOLE ? tv_span_end(span) : span->time;
    if (span->time >= lasting->silence) {
        lasting->ended += kind == TV_SPAN_END;
        lasting->ended -= kind == TV_SPAN_BEGIN;
        return;
    }
    lasting->across |= end >= lasting->silence;
    lasting->last = end > lasting->last ? end : lasting->last;
}

static void look_at_thread(struct lasting *lasting, const struct thread_work *work)
{
    struct tv_cpu_times cpu;
    struct tv_span span;
    for (size_t i = 0; i < work->piece_count; i++)
        for (const struct tv_span_block *block = work->pieces[i].first; block;
             block = block->next) {
            struct tv_span_reader reader = {.block = block};
            while (tv_span_read(&reader, &span, &cpu))
                look_at_span(lasting, &span);
        }
    lasting->across |= lasting->ended > 0;
    lasting->ended = 0;
}

static void look_at_instants(const struct tv_assembly *assembly, int64_t silence, int64_t *lasts)
{
    const struct tv_head *head = assembly->trace->head;
    for (size_t i = 0; i < assembly->trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &assembly->trace->tables.instants.rows[i];
        bool of_thread = instant->scope == TV_SCOPE_THREAD;
        if (instant->input != assembly->input || instant->time >= silence ||
            (!of_thread && instant->scope != TV_SCOPE_PROCESS))
            continue;
        uint32_t process = of_thread ? head->threads[instant->of].process : instant->of;
        lasts[process] = instant->time > lasts[process] ? instant->time : lasts[process];
    }
}

bool tv_assembly_lasts(const struct tv_assembly *assembly, int64_t silence, int64_t *lasts)
{
    struct lasting lasting = {.silence = silence};
    look_at_instants(assembly, silence, lasts);
    for (uint32_t i = 0; i < assembly->thread_count && !lasting.across; i++) {
        uint32_t process = assembly->trace->head->threads[i].process;
        lasting.last = lasts[process];
        look_at_thread(&lasting, &assembly->threads[i]);
        lasts[process] = lasting.last;
    }
    return !lasting.across;
}

/* ---- All threads ---- */

struct placing_job {
    struct tv_assembly *assembly;
    const struct tv_placing *placing;
    _Atomic uint32_t next;
    /* Paths are merged in the order of threads, by whichever worker finds the next ones done. */
    _Atomic bool *done; /* [threads] */
    atomic_flag merging;
    uint32_t merged; /* threads so far; of who has the flag */
};

static bool is_cancelled(const struct tv_placing *placing)
{
    return placing->cancel && atomic_load_explicit(placing->cancel, memory_order_relaxed);
}

static void merge_thread(struct placing_job *job, uint32_t thread)
{
    struct thread_work *work = &job->assembly->threads[thread];
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

/* Merges what is done and next in order, unless another worker is at it, who will find it. */
static void merge_paths(struct placing_job *job)
{
    uint32_t count = job->assembly->thread_count, next;
    do {
        if (atomic_flag_test_and_set(&job->merging))
            return;
        for (; job->merged < count && atomic_load(&job->done[job->merged]); job->merged++)
            merge_thread(job, job->merged);
        next = job->merged;
        atomic_flag_clear(&job->merging);
    } while (next < count && atomic_load(&job->done[next]));
}

static void place_one(struct placing_job *job, struct tv_spans_rooms *rooms, uint32_t thread)
{
    struct thread_work *work = &job->assembly->threads[thread];
    if (work->count > 0 && !is_cancelled(job->placing))
        tv_thread_work(job->assembly, job->placing, rooms, work);
    atomic_store(&job->done[thread], true);
    merge_paths(job);
}

/* What is to be done beside comes late: when most of the memory of spans has been given back, and
 * there are still threads for the others. */
static void place_threads(void *context, unsigned worker)
{
    struct placing_job *job = context;
    uint32_t count = job->assembly->thread_count, late = count - count / 4;
    struct tv_spans_rooms rooms;
    (void)worker;
    tv_spans_rooms_init(&rooms);
    for (uint32_t i; (i = atomic_fetch_add(&job->next, 1)) <= count;)
        if (i != late)
            place_one(job, &rooms, i < late ? i : i - 1);
        else if (job->placing->beside)
            job->placing->beside(job->placing->beside_context);
    tv_spans_rooms_release(&rooms);
}

static void count_children(void *context, unsigned worker)
{
    struct placing_job *job = context;
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

static void add_rows(struct tv_assembly *assembly, const struct thread_work *work, uint32_t columns)
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

static void add_tracks(struct tv_assembly *assembly, uint32_t thread)
{
    struct thread_work *work = &assembly->threads[thread];
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

static void add_extras(struct tv_trace *trace, const struct thread_work *work)
{
    uint32_t first_row = trace->tracks[work->first_track].first_row;
    for (size_t i = 0; i < work->extras.count; i++) {
        struct tv_slice_extra *extra = tv_table_add(&trace->tables.slice_extras);
        *extra = work->extras.rows[i];
        extra->row += first_row;
    }
}

static void add_diagnostics(struct tv_trace *trace, const struct thread_work *work)
{
    struct tv_diagnostics *all = &trace->head->diagnostics;
    int64_t quiet = work->quiet > 0 ? work->quiet - trace->head->inputs[all->input].origin : 0;
    all->quiet = quiet > all->quiet ? quiet : all->quiet;
    for (size_t i = 0; i < work->told.count; i++) {
        struct told_kind *kind = &work->told.rows[i];
        tv_diagnostics_merge_kind(all, kind->kind, &kind->told);
        if (kind->kind == TV_DIAGNOSTIC_UNMATCHED_EXIT)
            trace->unmatched_exits += kind->told.count;
        if (kind->kind == TV_DIAGNOSTIC_OPEN_CALL)
            trace->open_calls += kind->told.count;
        tv_free(kind->told.places);
    }
}

static void add_thread(struct tv_assembly *assembly, uint32_t thread)
{
    struct thread_work *work = &assembly->threads[thread];
    struct tv_trace *trace = assembly->trace;
    trace->head->diagnostics.input = trace->head->threads[thread].input;
    add_diagnostics(trace, work);
    if (work->nesting.row_count > 0) {
        add_tracks(assembly, thread);
        trace->columns[trace->columns_count] = work->columns;
        add_rows(assembly, work, trace->columns_count++);
        add_extras(trace, work);
        trace->slice_count += work->columns.count;
        trace->recorded_calls += work->columns.count;
    } else {
        /* Nothing but ends without a beginning. */
        tv_columns_release(&work->columns);
        work->columns = (struct tv_columns){.count = 0};
        work->first_track = TV_NONE;
    }
    tv_free(work->nesting.rows);
    tv_free(work->extras.rows);
    tv_free(work->told.rows);
}

/* Room for the tracks and rows of all threads. */
static void reserve_rows(struct tv_assembly *assembly)
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

/* Gives back what parts had in common, once all threads are placed. */
static void release_parts(struct tv_assembly *assembly)
{
    for (size_t i = 0; i < assembly->part_count; i++)
        tv_free(assembly->parts[i]);
    assembly->part_count = 0;
}

static void copy_names(struct tv_assembly *assembly)
{
    const struct tv_head *head = assembly->trace->head;
    assembly->names = tv_alloc(head->frame_count, sizeof *assembly->names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        assembly->names[i] = head->frames[i].name;
}

void tv_assembly_place(struct tv_assembly *assembly, const struct tv_placing *placing)
{
    unsigned workers = placing->workers ? placing->workers : tv_workers_available();
    reserve_threads(assembly);
    struct placing_job job = {
        .assembly = assembly,
        .placing = placing,
        .done = tv_alloc(assembly->thread_count, sizeof *job.done),
        .merging = ATOMIC_FLAG_INIT,
    };
    copy_names(assembly);
    tv_workers_run(workers, place_threads, &job);
    tv_free(assembly->names);
    tv_free(job.done);
    release_parts(assembly);
    reserve_rows(assembly);
    for (uint32_t i = 0; i < assembly->thread_count; i++)
        if (assembly->threads[i].placed)
            add_thread(assembly, i);
        else
            assembly->threads[i].first_track = TV_NONE;
    atomic_store(&job.next, 0);
    tv_workers_run(workers, count_children, &job);
}

uint32_t tv_assembly_track(const struct tv_assembly *assembly, uint32_t thread)
{
    if (thread >= assembly->thread_count || !assembly->threads[thread].columns.flags)
        return TV_NONE;
    return assembly->threads[thread].first_track;
}

/* The first slice of a row from a time on. */
static uint32_t find_near(const struct tv_trace *trace, struct tv_near *near, uint32_t row,
                          int64_t start)
{
    if (start > near->after && start <= near->until)
        return near->index;
    uint32_t index = tv_row_find_start_near(trace, row, start, near->index);
    bool last = index == trace->rows[row].count;
    *near = (struct tv_near){
        .after = index == 0 ? INT64_MIN : tv_slice_start(trace, row, index - 1),
        .until = last ? INT64_MAX : tv_slice_start(trace, row, index),
        .index = index,
    };
    return index;
}

/* The slice of a row with a start and an offset. */
static bool find_in_row(const struct tv_trace *trace, const struct tv_sought *sought, uint32_t row,
                        int64_t start, uint32_t *index)
{
    if (sought->near) {
        *index = find_near(trace, &sought->near[row], row, start);
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

bool tv_assembly_find(const struct tv_assembly *assembly, const struct tv_sought *sought,
                      uint32_t *row, uint32_t *index)
{
    const struct tv_trace *trace = assembly->trace;
    int64_t start = sought->start + trace->offset[assembly->input];
    uint32_t track = tv_assembly_track(assembly, sought->thread);
    for (; track < trace->track_count && trace->tracks[track].thread == sought->thread; track++)
        for (uint32_t depth = 0; depth < trace->tracks[track].row_count; depth++) {
            *row = trace->tracks[track].first_row + depth;
            if (find_in_row(trace, sought, *row, start, index))
                return true;
        }
    return false;
}

void tv_assembly_end(struct tv_assembly *assembly)
{
    for (uint32_t i = 0; i < assembly->thread_count; i++) {
        struct thread_work *work = &assembly->threads[i];
        for (size_t j = 0; j < work->piece_count; j++) /* after a cancelled placing */
            for (struct tv_span_block *block = work->pieces[j].first, *next; block; block = next) {
                next = block->next;
                tv_span_block_free(block);
            }
        tv_free(work->pieces);
    }
    release_parts(assembly);
    tv_free(assembly->parts);
    tv_free(assembly->threads);
    tv_free(assembly);
}

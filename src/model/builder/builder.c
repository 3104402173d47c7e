/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - two passes over each input, with stitching after each.
 *
 * The columns of a trace have no gaps and no slack: each row is an array of exactly as many slices
 * as the thread has calls at that depth.  So the size of every row must be known before the first
 * slice is written, and several workers must know where in a row their slices go.  That takes two
 * passes:
 *
 *     count pass    each chunk counts its calls by (thread, level), in parallel
 *     stitch        stitch.h finds the true stack at the start of each chunk; level + depth of the
 *                   start = depth in the row; sums over the chunks give the size of each row, and
 *                   the position in each row where each chunk begins to write
 *     write pass    each chunk writes its slices, with a path tree of its own, in parallel
 *     stitch        ends of calls that earlier chunks began; path trees merged into one; open calls
 *                   closed; parents and first children counted
 *
 *     row (thread 7, depth 2)   | supplied | chunk 0 ...   | chunk 1 ... | chunk 2 ...     |
 *                                           ^ tips of chunk 0             ^ tips of chunk 2
 *
 * Invariants: chunks write disjoint ranges of each row, so the write pass needs no locks.  A slice
 * is written by the chunk in which the call begins; if the call ends in a later chunk, that chunk
 * defers the end (struct tv_deferred).  Path numbers of a chunk follow the order of first
 * appearance, so merging the trees in the order of the chunks gives the same numbers as a serial
 * reading: the result does not depend on the number of workers.
 */
#include "model/builder/builder.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/builder/builder_internal.h"

struct tv_builder {
    struct tv_sink sink;
    struct tv_trace *trace;
    uint32_t input;
    uint32_t columns; /* index of this input's columns */
    unsigned chunk_count;
    struct tv_build_chunk *chunks;
    struct tv_stitch stitch;
    bool stitched;
    uint32_t first_track;      /* first one of this input */
    uint32_t *track_of;        /* [threads] track in this input, or TV_NONE */
    struct tv_depth_tip *tips; /* [chunks][tracks and rows of this input] */
};

static void builder_release_input(struct tv_builder *builder)
{
    for (unsigned i = 0; i < builder->chunk_count; i++)
        tv_chunk_release(&builder->chunks[i]);
    tv_free(builder->chunks);
    tv_free(builder->track_of);
    tv_free(builder->tips);
    if (builder->stitched)
        tv_stitch_release(&builder->stitch);
    builder->chunks = NULL;
    builder->chunk_count = 0;
    builder->track_of = NULL;
    builder->tips = NULL;
    builder->stitched = false;
}

static struct tv_builder *builder_of_sink(struct tv_sink *sink)
{
    return (struct tv_builder *)sink;
}

static void builder_begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input,
                          unsigned chunks)
{
    struct tv_builder *builder = builder_of_sink(sink);
    assert(head == builder->trace->head && chunks > 0);
    builder_release_input(builder);
    builder->input = input;
    builder->chunk_count = chunks;
    builder->chunks = tv_alloc(chunks, sizeof *builder->chunks);
    for (unsigned i = 0; i < chunks; i++) {
        struct tv_build_chunk *chunk = &builder->chunks[i];
        tv_walk_init(&chunk->walk, head, input, i == 0, &chunk->diagnostics);
        chunk->levels = tv_alloc(head->thread_count, sizeof *chunk->levels);
    }
}

static void builder_take(struct tv_sink *sink, unsigned pass, unsigned chunk,
                         const struct tv_batch *batch)
{
    struct tv_build_chunk *p = &builder_of_sink(sink)->chunks[chunk];
    if (pass == 0)
        tv_chunk_count_batch(p, batch);
    else
        tv_chunk_write_batch(p, batch);
}

/* ---- Between the passes ---- */

static struct tv_input *builder_input(const struct tv_builder *builder)
{
    return &builder->trace->head->inputs[builder->input];
}

/* Return the columns of the current input. */
static struct tv_columns *builder_columns(const struct tv_builder *builder)
{
    return &builder->trace->columns[builder->columns];
}

/* Return whether all distances between two times of a thread fit 32 bits. */
static bool builder_times_fit(const struct tv_builder *builder)
{
    for (uint32_t thread = 0; thread < builder->stitch.thread_count; thread++) {
        const struct tv_walk_start *last =
            tv_stitch_start(&builder->stitch, builder->chunk_count, thread);
        int64_t first_wall = builder->stitch.first_wall[thread];
        int64_t last_wall = tv_stitch_open_end(builder_input(builder), last->last_wall);
        if (last->seen && (last_wall - first_wall > UINT32_MAX ||
                           last->last_cpu - builder->stitch.first_cpu[thread] > UINT32_MAX))
            return false;
    }
    return true;
}

/* Return the number of calls of a thread at a depth in one chunk. */
static uint32_t builder_calls_at(const struct tv_builder *builder, unsigned chunk, uint32_t thread,
                                 uint32_t depth)
{
    int64_t level = (int64_t)depth - tv_stitch_start(&builder->stitch, chunk, thread)->depth;
    return tv_levels_get(&builder->chunks[chunk].levels[thread], level);
}

static uint32_t builder_row_size(const struct tv_builder *builder, uint32_t thread, uint32_t depth)
{
    uint32_t count = depth < builder->stitch.supplied[thread];
    for (unsigned chunk = 0; chunk < builder->chunk_count; chunk++)
        count += builder_calls_at(builder, chunk, thread, depth);
    return count;
}

static void builder_add_track(struct tv_builder *builder, uint32_t thread, size_t *row_capacity)
{
    struct tv_trace *trace = builder->trace;
    const struct tv_walk_start *last =
        tv_stitch_start(&builder->stitch, builder->chunk_count, thread);
    struct tv_track *track = &trace->tracks[trace->track_count];
    *track = (struct tv_track){
        .kind = TV_TRACK_THREAD,
        .process = trace->head->threads[thread].process,
        .thread = thread,
        .input = builder->input,
        .first_row = trace->row_count,
        .first_wall = builder->stitch.first_wall[thread],
        .first_cpu = builder->stitch.first_cpu[thread],
        .last_wall = last->last_wall,
        .last_cpu = last->last_cpu,
    };
    uint32_t count;
    for (uint32_t depth = 0; (count = builder_row_size(builder, thread, depth)) > 0; depth++) {
        struct tv_columns *columns = builder_columns(builder);
        trace->rows = tv_array_reserve(trace->rows, row_capacity, (size_t)trace->row_count + 1,
                                       sizeof *trace->rows);
        trace->rows[trace->row_count++] = (struct tv_row){
            .first = columns->count,
            .first_block = columns->block_count,
            .count = count,
            .track = trace->track_count,
            .depth = depth,
            .input = builder->input,
            .columns = builder->columns,
        };
        columns->count += count;
        columns->block_count += tv_blocks_for(count);
        track->row_count++;
        track->slice_count += count;
    }
    builder->track_of[thread] = trace->track_count++;
}

/* Create the tracks and rows of the input and allocate its columns. */
static void builder_lay_out(struct tv_builder *builder)
{
    struct tv_trace *trace = builder->trace;
    uint32_t threads = builder->stitch.thread_count;
    size_t row_capacity = trace->row_count;
    builder->columns = trace->columns_count++;
    trace->columns = tv_realloc(trace->columns, trace->columns_count, sizeof *trace->columns);
    memset(builder_columns(builder), 0, sizeof *trace->columns);
    trace->tracks = tv_realloc(trace->tracks,
                               (size_t)trace->track_count + builder->stitch.threads_with_events + 1,
                               sizeof *trace->tracks);
    builder->first_track = trace->track_count;
    builder->track_of = tv_alloc(threads, sizeof *builder->track_of);
    for (uint32_t thread = 0; thread < threads; thread++) {
        builder->track_of[thread] = TV_NONE;
        if (tv_stitch_start(&builder->stitch, builder->chunk_count, thread)->seen)
            builder_add_track(builder, thread, &row_capacity);
    }
    struct tv_columns *columns = builder_columns(builder);
    trace->slice_count += columns->count;
    tv_columns_init(columns, columns->count, columns->block_count, builder_input(builder)->clocks);
}

/* Add the paths of the thread's open calls to the chunk's own tree. */
static void chunk_start_paths(struct tv_builder *builder, struct tv_build_chunk *chunk,
                              const struct tv_walk_start *start, struct tv_depth_tip *tips)
{
    uint32_t path = TV_ROOT_PATH;
    tips[-1].path = path;
    tips[-1].hash = TV_ROOT_HASH;
    for (uint32_t i = 0; i < start->depth; i++) {
        uint32_t frame = start->stack[i].frame;
        if (frame == TV_ANY_FRAME)
            frame = tv_stitch_unknown_frame(builder->trace->head);
        path = tv_paths_child(&chunk->paths, path, frame);
        tips[i].path = path;
        tips[i].hash = chunk->paths.hashes[path];
    }
}

/* Give a chunk the open calls of a thread and its first free place in each row. */
static void chunk_start_thread(struct tv_builder *builder, unsigned number, uint32_t thread,
                               struct tv_depth_tip *tips)
{
    struct tv_build_chunk *chunk = &builder->chunks[number];
    const struct tv_walk_start *start = tv_stitch_start(&builder->stitch, number, thread);
    const struct tv_track *track = &builder->trace->tracks[builder->track_of[thread]];
    const struct tv_row *rows = &builder->trace->rows[track->first_row];
    tv_walk_begin_known(&chunk->walk, thread, start);
    chunk->walk.threads[thread].stack[-1].tag =
        1; /* calls of depth 0 have no parent that needs the flag */
    chunk_start_paths(builder, chunk, start, tips);
    chunk->tips[thread] = tips;
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t next = depth < builder->stitch.supplied[thread];
        for (unsigned before = 0; before < number; before++)
            next += builder_calls_at(builder, before, thread, depth);
        assert(next <= rows[depth].count);
        tips[depth].place = (struct tv_row_writer){rows[depth].first, rows[depth].first_block, next,
                                                   rows[depth].count};
    }
}

/* Prepare a chunk for the second pass. It starts with the true stacks, so it knows where each of
 * its slices goes, and chunks can be written in parallel. */
static void chunk_start_writing(struct tv_builder *builder, unsigned number,
                                struct tv_depth_tip *tips, bool wide)
{
    struct tv_build_chunk *chunk = &builder->chunks[number];
    struct tv_trace_info *head = builder->trace->head;
    uint32_t threads = builder->stitch.thread_count;
    tv_walk_release(&chunk->walk);
    tv_walk_init(&chunk->walk, head, builder->input, number == 0, NULL);
    tv_paths_init(&chunk->paths);
    chunk->columns = builder_columns(builder);
    chunk->walls[0] = chunk->columns->start;
    chunk->walls[1] = chunk->columns->length;
    chunk->cpus[0] = chunk->columns->cpu_start;
    chunk->cpus[1] = chunk->columns->cpu_length;
    chunk->tips = tv_alloc(threads, sizeof *chunk->tips);
    chunk->begun = tv_alloc(TV_BATCH_EVENTS + 1, sizeof *chunk->begun);
    chunk->wide = wide;
    for (uint32_t thread = 0; thread < threads; thread++) {
        if (builder->track_of[thread] == TV_NONE)
            continue;
        chunk_start_thread(builder, number, thread, tips + 1);
        tips += 1 + builder->trace->tracks[builder->track_of[thread]].row_count;
    }
}

/* Write the starts of calls that began before the trace: the first slice in each of their rows. */
static void builder_write_supplied(struct tv_builder *builder, uint32_t thread)
{
    struct tv_build_chunk *chunk = &builder->chunks[0];
    const struct tv_open *stack = chunk->walk.threads[thread].stack;
    for (uint32_t depth = 0; depth < builder->stitch.supplied[thread]; depth++) {
        const struct tv_depth_tip *tip = &chunk->tips[thread][depth];
        const struct tv_row_writer *place = &tip->place;
        struct tv_columns *columns = chunk->columns;
        tv_row_start_block(columns, place, 0, stack[depth].wall, stack[depth].cpu);
        if (columns->start)
            columns->start[place->first] = (uint32_t)stack[depth].wall;
        if (columns->cpu_start)
            columns->cpu_start[place->first] = (uint32_t)stack[depth].cpu;
        columns->path[place->first] = tip->path;
        columns->flags[place->first] = TV_SLICE_ENTERED_BEFORE | (depth ? TV_SLICE_FIRST_CHILD : 0);
    }
}

/* Between the passes: stitch the chunks, lay out rows for the counted slices, and give each chunk
 * its first place in each row. */
static enum tv_stitch_result builder_stitch_counts(struct tv_builder *builder)
{
    struct tv_walk *walks = tv_alloc(builder->chunk_count, sizeof *walks);
    for (unsigned i = 0; i < builder->chunk_count; i++) {
        tv_chunk_finish_count(&builder->chunks[i]);
        walks[i] = builder->chunks[i].walk;
    }
    enum tv_stitch_result stitch = tv_stitch_init(&builder->stitch, walks, builder->chunk_count);
    builder->stitched = stitch == TV_STITCH_DONE;
    bool wide = builder->stitched && !builder_times_fit(builder);
    if (wide && builder->chunk_count > 1) /* wide blocks must be written in order */
        stitch = TV_STITCH_SERIAL;
    if (stitch == TV_STITCH_DONE)
        tv_stitch_add_diagnostics(&builder->stitch, walks, builder->trace->head);
    tv_free(walks);
    if (stitch != TV_STITCH_DONE)
        return stitch;
    uint32_t rows_before = builder->trace->row_count;
    builder_lay_out(builder);
    size_t rows = builder->trace->row_count - rows_before;
    size_t tips = rows + (builder->trace->track_count - builder->first_track);
    builder->tips = tv_alloc(tv_size_mul(builder->chunk_count, tips), sizeof *builder->tips);
    for (unsigned i = 0; i < builder->chunk_count; i++)
        chunk_start_writing(builder, i, builder->tips + i * tips, wide);
    for (uint32_t thread = 0; thread < builder->stitch.thread_count; thread++)
        if (builder->track_of[thread] != TV_NONE)
            builder_write_supplied(builder, thread);
    return TV_STITCH_DONE;
}

/* ---- After the passes ---- */

/* Write the ends of calls that a later chunk ended. During the pass their slices belonged to
 * another worker. */
static void builder_apply_deferred(struct tv_builder *builder)
{
    struct tv_columns *columns = builder_columns(builder);
    const struct tv_build_chunk *last = &builder->chunks[builder->chunk_count - 1];
    for (unsigned i = 0; i < builder->chunk_count; i++)
        for (size_t j = 0; j < builder->chunks[i].deferred_count; j++) {
            const struct tv_deferred *deferred = &builder->chunks[i].deferred[j];
            const struct tv_row_writer *place =
                &last->tips[deferred->thread][deferred->depth].place;
            assert(deferred->index < place->next);
            columns->flags[place->first + deferred->index] |= (uint8_t)deferred->flags;
            tv_row_write_length(columns, place, deferred->index, deferred->wall, deferred->cpu);
        }
}

/* Give the calls that are open at the end of the input their lengths. */
static void builder_close_open_calls(struct tv_builder *builder)
{
    const struct tv_build_chunk *last = &builder->chunks[builder->chunk_count - 1];
    struct tv_columns *columns = builder_columns(builder);
    for (uint32_t thread = 0; thread < builder->stitch.thread_count; thread++) {
        const struct tv_walk_thread *t = &last->walk.threads[thread];
        int64_t end = tv_stitch_open_end(builder_input(builder), t->last_wall);
        for (uint32_t depth = 0; depth < t->depth; depth++) {
            const struct tv_row_writer *place = &last->tips[thread][depth].place;
            uint32_t parent = t->stack[depth].tag * TV_SLICE_HAS_CHILDREN;
            assert(place->next > 0); /* the open call has a slice */
            columns->flags[place->first + place->next - 1] |= (uint8_t)(TV_SLICE_OPEN | parent);
            tv_row_write_length(columns, place, place->next - 1, end - t->stack[depth].wall,
                                t->last_cpu - t->stack[depth].cpu);
        }
    }
}

/* Workers share the rows of the input and translate the path numbers of the chunks. */
struct path_renumbering {
    struct tv_builder *builder;
    uint32_t **maps; /* per chunk; NULL: its numbers are final */
};

/* Translate the paths of one row: the part of each chunk by the map of that chunk. */
static void builder_renumber_row(const struct path_renumbering *renaming, uint32_t thread,
                                 uint32_t depth)
{
    struct tv_builder *builder = renaming->builder;
    uint32_t *path = builder_columns(builder)->path;
    uint32_t from = 0; /* supplied calls use paths of chunk 0 */
    for (unsigned chunk = 0; chunk < builder->chunk_count; chunk++) {
        const struct tv_row_writer *place = &builder->chunks[chunk].tips[thread][depth].place;
        const uint32_t *map = renaming->maps[chunk];
        for (uint32_t i = from; map && i < place->next; i++)
            path[place->first + i] = map[path[place->first + i]];
        from = place->next;
    }
}

/* Translate the rows of one worker. Rows are dealt out by the number of their first block, which
 * scatters long rows. */
static void builder_worker_renumber(void *context, unsigned worker)
{
    const struct path_renumbering *renaming = context;
    struct tv_builder *builder = renaming->builder;
    struct tv_trace *trace = builder->trace;
    struct tv_columns *columns = builder_columns(builder);
    for (uint32_t track = builder->first_track; track < trace->track_count; track++)
        for (uint32_t depth = 0; depth < trace->tracks[track].row_count; depth++) {
            const struct tv_row *row = &trace->rows[trace->tracks[track].first_row + depth];
            if ((row->first_block + track) % builder->chunk_count != worker)
                continue;
            builder_renumber_row(renaming, trace->tracks[track].thread, depth);
            tv_columns_rank(columns, row);
        }
}

/* Merge the path trees of the chunks and translate the paths in columns and waits. */
static void builder_merge_paths(struct tv_builder *builder)
{
    struct tv_paths *paths = &builder->trace->paths;
    uint32_t **maps = tv_alloc(builder->chunk_count, sizeof *maps);
    for (unsigned i = 0; i < builder->chunk_count; i++) {
        struct tv_build_chunk *chunk = &builder->chunks[i];
        if (i == 0 && paths->count == 1) {
            struct tv_paths empty = *paths;
            *paths = chunk->paths;
            chunk->paths = empty;
            continue;
        }
        maps[i] = tv_alloc(chunk->paths.count, sizeof **maps);
        tv_paths_merge(paths, &chunk->paths, maps[i]);
        for (size_t j = 0; j < chunk->wait_count; j++)
            chunk->waits[j].wait.path = maps[i][chunk->waits[j].wait.path];
    }
    struct path_renumbering renaming = {builder, maps};
    tv_workers_run(builder->chunk_count, builder_worker_renumber, &renaming);
    for (unsigned i = 0; i < builder->chunk_count; i++)
        tv_free(maps[i]);
    tv_free(maps);
}

/* Count the waits of each track, or fill its table. */
static void builder_add_chunk_waits(struct tv_builder *builder, const struct tv_build_chunk *chunk,
                                    bool filling)
{
    for (size_t i = 0; i < chunk->wait_count; i++) {
        const struct tv_chunk_wait *wait = &chunk->waits[i];
        struct tv_track *track = &builder->trace->tracks[builder->track_of[wait->thread]];
        if (filling)
            track->waits[track->wait_count] = wait->wait;
        track->wait_count++;
    }
}

/* Move the waits of the chunks to their tracks, where they are in order of time because chunks
 * are. */
static void builder_collect_waits(struct tv_builder *builder)
{
    struct tv_trace *trace = builder->trace;
    for (unsigned i = 0; i < builder->chunk_count; i++)
        builder_add_chunk_waits(builder, &builder->chunks[i], false);
    for (uint32_t i = builder->first_track; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        track->waits = tv_alloc(track->wait_count, sizeof *track->waits);
        track->wait_count = 0;
    }
    for (unsigned i = 0; i < builder->chunk_count; i++)
        builder_add_chunk_waits(builder, &builder->chunks[i], true);
}

/* Finish a pass over the input (struct tv_sink_ops). */
static enum tv_stitch_result builder_stitch(struct tv_sink *sink, unsigned pass)
{
    struct tv_builder *builder = builder_of_sink(sink);
    struct tv_trace *trace = builder->trace;
    if (pass == 0)
        return builder_stitch_counts(builder);
    builder_close_open_calls(builder);
    builder_apply_deferred(builder);
    builder_merge_paths(builder);
    builder_collect_waits(builder);
    trace->recorded_calls += builder->stitch.entries;
    trace->unmatched_exits += builder->stitch.unmatched_exits;
    trace->open_calls += builder->stitch.open_calls;
    for (uint32_t thread = 0; thread < builder->stitch.thread_count; thread++)
        if (builder->stitch.max_depth[thread] > trace->max_depth)
            trace->max_depth = builder->stitch.max_depth[thread];
    return TV_STITCH_DONE;
}

static void builder_end(struct tv_sink *sink)
{
    builder_release_input(builder_of_sink(sink));
}

static const struct tv_sink_ops builder_ops = {
    .passes = 2,
    .begin = builder_begin,
    .take = builder_take,
    .stitch = builder_stitch,
    .end = builder_end,
};

struct tv_builder *tv_builder_new(struct tv_trace_info *head)
{
    struct tv_builder *builder = tv_alloc(1, sizeof *builder);
    builder->sink.ops = &builder_ops;
    builder->trace = tv_alloc(1, sizeof *builder->trace);
    builder->trace->head = head;
    tv_paths_init(&builder->trace->paths);
    return builder;
}

struct tv_sink *tv_builder_sink(struct tv_builder *builder)
{
    return &builder->sink;
}

struct tv_trace *tv_builder_trace(struct tv_builder *builder)
{
    return builder->trace;
}

struct tv_trace_info *tv_builder_trace_info(const struct tv_builder *builder)
{
    return builder->trace->head;
}

void tv_builder_sum_samples(struct tv_builder *builder, enum tv_sample_detail detail)
{
    assert(builder->trace->head->input_count == 0);
    builder->trace->tables.sample_sums.detail = detail;
}

struct tv_trace *tv_builder_finish(struct tv_builder *builder)
{
    struct tv_trace *trace = builder->trace;
    builder_release_input(builder);
    tv_trace_finalize(trace); /* may rename slices, which adds paths */
    tv_paths_finish(&trace->paths);
    tv_free(builder);
    tv_memory_trim(); /* memory that readers freed is between the tables */
    return trace;
}

void tv_builder_free(struct tv_builder *builder)
{
    if (!builder)
        return;
    /* Do not call finish: rows that were counted but not written cannot be read. */
    builder_release_input(builder);
    tv_trace_free(builder->trace);
    tv_free(builder);
}

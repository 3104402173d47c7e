/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder joins the two passes (count.c, place.c):
 *
 *     pass 0   every part counts its calls by (thread, level)
 *     splice   seam.h finds each part's true start; sums of the counts give every row its size and
 * every part its first free place in every row pass 1   every part writes its slices, with a path
 * tree of its own splice   what a part could not write itself (ends of calls of earlier parts),
 * path trees into one, open calls closed, flags counted
 *
 * A part's path numbers follow the order of first appearance, so merging the parts' trees in
 * order gives the numbers of a serial reading.
 */
#include "model/builder.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/builder_parts.h"
#include "model/builder_trace.h"

struct tv_builder {
    struct tv_sink sink;
    struct tv_trace *trace;
    uint32_t input;
    uint32_t columns; /* of this input */
    unsigned part_count;
    struct tv_part *parts;
    struct tv_seam seam;
    bool seamed;
    uint32_t first_track; /* of this input */
    uint32_t *track_of;   /* [threads] of this input, or TV_NONE */
    struct tv_tip *tips;  /* [parts][tracks and rows of this input] */
};

static void release_input(struct tv_builder *builder)
{
    for (unsigned i = 0; i < builder->part_count; i++)
        tv_part_release(&builder->parts[i]);
    tv_free(builder->parts);
    tv_free(builder->track_of);
    tv_free(builder->tips);
    if (builder->seamed)
        tv_seam_release(&builder->seam);
    builder->parts = NULL;
    builder->part_count = 0;
    builder->track_of = NULL;
    builder->tips = NULL;
    builder->seamed = false;
}

static struct tv_builder *of_sink(struct tv_sink *sink)
{
    return (struct tv_builder *)sink;
}

static void builder_begin(struct tv_sink *sink, struct tv_head *head, uint32_t input,
                          unsigned parts)
{
    struct tv_builder *builder = of_sink(sink);
    assert(head == builder->trace->head && parts > 0);
    release_input(builder);
    builder->input = input;
    builder->part_count = parts;
    builder->parts = tv_alloc(parts, sizeof *builder->parts);
    for (unsigned i = 0; i < parts; i++) {
        struct tv_part *part = &builder->parts[i];
        tv_walk_init(&part->walk, head, input, i == 0, &part->diagnostics);
        part->levels = tv_alloc(head->thread_count, sizeof *part->levels);
    }
}

static void builder_take(struct tv_sink *sink, unsigned pass, unsigned part,
                         const struct tv_batch *batch)
{
    struct tv_part *p = &of_sink(sink)->parts[part];
    if (pass == 0)
        tv_part_count(p, batch);
    else
        tv_part_place(p, batch);
}

/* ---- Between the passes ---- */

static struct tv_input *input_of(const struct tv_builder *builder)
{
    return &builder->trace->head->inputs[builder->input];
}

/* The columns of the present input. */
static struct tv_columns *columns_of(const struct tv_builder *builder)
{
    return &builder->trace->columns[builder->columns];
}

/* Whether every distance between two times of a thread fits 32 bits. */
static bool times_fit(const struct tv_builder *builder)
{
    for (uint32_t thread = 0; thread < builder->seam.thread_count; thread++) {
        const struct tv_walk_start *last =
            tv_seam_start(&builder->seam, builder->part_count, thread);
        int64_t first_wall = builder->seam.first_wall[thread];
        int64_t last_wall = tv_seam_open_end(input_of(builder), last->last_wall);
        if (last->seen && (last_wall - first_wall > UINT32_MAX ||
                           last->last_cpu - builder->seam.first_cpu[thread] > UINT32_MAX))
            return false;
    }
    return true;
}

/* Calls of a thread at a depth in one part. */
static uint32_t calls_at(const struct tv_builder *builder, unsigned part, uint32_t thread,
                         uint32_t depth)
{
    int64_t level = (int64_t)depth - tv_seam_start(&builder->seam, part, thread)->depth;
    return tv_levels_get(&builder->parts[part].levels[thread], level);
}

static uint32_t row_size(const struct tv_builder *builder, uint32_t thread, uint32_t depth)
{
    uint32_t count = depth < builder->seam.supplied[thread];
    for (unsigned part = 0; part < builder->part_count; part++)
        count += calls_at(builder, part, thread, depth);
    return count;
}

static void add_track(struct tv_builder *builder, uint32_t thread, size_t *row_capacity)
{
    struct tv_trace *trace = builder->trace;
    const struct tv_walk_start *last = tv_seam_start(&builder->seam, builder->part_count, thread);
    struct tv_track *track = &trace->tracks[trace->track_count];
    *track = (struct tv_track){
        .kind = TV_TRACK_THREAD,
        .process = trace->head->threads[thread].process,
        .thread = thread,
        .input = builder->input,
        .first_row = trace->row_count,
        .first_wall = builder->seam.first_wall[thread],
        .first_cpu = builder->seam.first_cpu[thread],
        .last_wall = last->last_wall,
        .last_cpu = last->last_cpu,
    };
    uint32_t count;
    for (uint32_t depth = 0; (count = row_size(builder, thread, depth)) > 0; depth++) {
        struct tv_columns *columns = columns_of(builder);
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

/* Makes the tracks and rows of the input and allocates its columns. */
static void lay_out(struct tv_builder *builder)
{
    struct tv_trace *trace = builder->trace;
    uint32_t threads = builder->seam.thread_count;
    size_t row_capacity = trace->row_count;
    builder->columns = trace->columns_count++;
    trace->columns = tv_realloc(trace->columns, trace->columns_count, sizeof *trace->columns);
    memset(columns_of(builder), 0, sizeof *trace->columns);
    trace->tracks = tv_realloc(trace->tracks,
                               (size_t)trace->track_count + builder->seam.threads_with_events + 1,
                               sizeof *trace->tracks);
    builder->first_track = trace->track_count;
    builder->track_of = tv_alloc(threads, sizeof *builder->track_of);
    for (uint32_t thread = 0; thread < threads; thread++) {
        builder->track_of[thread] = TV_NONE;
        if (tv_seam_start(&builder->seam, builder->part_count, thread)->seen)
            add_track(builder, thread, &row_capacity);
    }
    struct tv_columns *columns = columns_of(builder);
    trace->slice_count += columns->count;
    tv_columns_init(columns, columns->count, columns->block_count, input_of(builder)->clocks);
}

/* Gives a part the paths of the thread's open calls, in its own tree. */
static void start_paths(struct tv_builder *builder, struct tv_part *part,
                        const struct tv_walk_start *start, struct tv_tip *tips)
{
    uint32_t path = TV_ROOT_PATH;
    tips[-1].path = path;
    tips[-1].hash = TV_ROOT_HASH;
    for (uint32_t i = 0; i < start->depth; i++) {
        uint32_t frame = start->stack[i].frame;
        if (frame == TV_ANY_FRAME)
            frame = tv_seam_unknown_frame(builder->trace->head);
        path = tv_paths_child(&part->paths, path, frame);
        tips[i].path = path;
        tips[i].hash = part->paths.hashes[path];
    }
}

/* Gives a part the thread's open calls and its free places. */
static void start_thread(struct tv_builder *builder, unsigned number, uint32_t thread,
                         struct tv_tip *tips)
{
    struct tv_part *part = &builder->parts[number];
    const struct tv_walk_start *start = tv_seam_start(&builder->seam, number, thread);
    const struct tv_track *track = &builder->trace->tracks[builder->track_of[thread]];
    const struct tv_row *rows = &builder->trace->rows[track->first_row];
    tv_walk_begin_known(&part->walk, thread, start);
    part->walk.threads[thread].stack[-1].tag = 1; /* calls of depth 0 are nobody's children */
    start_paths(builder, part, start, tips);
    part->tips[thread] = tips;
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t next = depth < builder->seam.supplied[thread];
        for (unsigned before = 0; before < number; before++)
            next += calls_at(builder, before, thread, depth);
        tips[depth].place =
            (struct tv_place){rows[depth].first, rows[depth].first_block, next, rows[depth].count};
    }
}

static void start_part(struct tv_builder *builder, unsigned number, struct tv_tip *tips, bool wide)
{
    struct tv_part *part = &builder->parts[number];
    struct tv_head *head = builder->trace->head;
    uint32_t threads = builder->seam.thread_count;
    tv_walk_release(&part->walk);
    tv_walk_init(&part->walk, head, builder->input, number == 0, NULL);
    tv_paths_init(&part->paths);
    part->columns = columns_of(builder);
    part->walls[0] = part->columns->start;
    part->walls[1] = part->columns->length;
    part->cpus[0] = part->columns->cpu_start;
    part->cpus[1] = part->columns->cpu_length;
    part->tips = tv_alloc(threads, sizeof *part->tips);
    part->begun = tv_alloc(TV_BATCH_EVENTS + 1, sizeof *part->begun);
    part->wide = wide;
    for (uint32_t thread = 0; thread < threads; thread++) {
        if (builder->track_of[thread] == TV_NONE)
            continue;
        start_thread(builder, number, thread, tips + 1);
        tips += 1 + builder->trace->tracks[builder->track_of[thread]].row_count;
    }
}

/* Writes the starts of the calls that began before the trace: the first slice of each of their
 * rows. */
static void place_supplied(struct tv_builder *builder, uint32_t thread)
{
    struct tv_part *part = &builder->parts[0];
    const struct tv_open *stack = part->walk.threads[thread].stack;
    for (uint32_t depth = 0; depth < builder->seam.supplied[thread]; depth++) {
        const struct tv_tip *tip = &part->tips[thread][depth];
        const struct tv_place *place = &tip->place;
        struct tv_columns *columns = part->columns;
        tv_place_block(columns, place, 0, stack[depth].wall, stack[depth].cpu);
        if (columns->start)
            columns->start[place->first] = (uint32_t)stack[depth].wall;
        if (columns->cpu_start)
            columns->cpu_start[place->first] = (uint32_t)stack[depth].cpu;
        columns->path[place->first] = tip->path;
        columns->flags[place->first] = TV_SLICE_ENTERED_BEFORE | (depth ? TV_SLICE_FIRST_CHILD : 0);
    }
}

static enum tv_splice splice_counts(struct tv_builder *builder)
{
    struct tv_walk *walks = tv_alloc(builder->part_count, sizeof *walks);
    for (unsigned i = 0; i < builder->part_count; i++) {
        tv_part_counted(&builder->parts[i]);
        walks[i] = builder->parts[i].walk;
    }
    enum tv_splice splice = tv_seam_init(&builder->seam, walks, builder->part_count);
    builder->seamed = splice == TV_SPLICE_DONE;
    bool wide = builder->seamed && !times_fit(builder);
    if (wide && builder->part_count > 1) /* blocks of 64 bits are written in order */
        splice = TV_SPLICE_SERIAL;
    if (splice == TV_SPLICE_DONE)
        tv_seam_add_diagnostics(&builder->seam, walks, builder->trace->head);
    tv_free(walks);
    if (splice != TV_SPLICE_DONE)
        return splice;
    uint32_t rows_before = builder->trace->row_count;
    lay_out(builder);
    size_t rows = builder->trace->row_count - rows_before;
    size_t tips = rows + (builder->trace->track_count - builder->first_track);
    builder->tips = tv_alloc(tv_size_mul(builder->part_count, tips), sizeof *builder->tips);
    for (unsigned i = 0; i < builder->part_count; i++)
        start_part(builder, i, builder->tips + i * tips, wide);
    for (uint32_t thread = 0; thread < builder->seam.thread_count; thread++)
        if (builder->track_of[thread] != TV_NONE)
            place_supplied(builder, thread);
    return TV_SPLICE_DONE;
}

/* ---- After the passes ---- */

static void apply_deferred(struct tv_builder *builder)
{
    struct tv_columns *columns = columns_of(builder);
    const struct tv_part *last = &builder->parts[builder->part_count - 1];
    for (unsigned i = 0; i < builder->part_count; i++)
        for (size_t j = 0; j < builder->parts[i].deferred_count; j++) {
            const struct tv_deferred *deferred = &builder->parts[i].deferred[j];
            const struct tv_place *place = &last->tips[deferred->thread][deferred->depth].place;
            columns->flags[place->first + deferred->index] |= (uint8_t)deferred->flags;
            tv_place_length(columns, place, deferred->index, deferred->wall, deferred->cpu);
        }
}

static void close_open_calls(struct tv_builder *builder)
{
    const struct tv_part *last = &builder->parts[builder->part_count - 1];
    struct tv_columns *columns = columns_of(builder);
    for (uint32_t thread = 0; thread < builder->seam.thread_count; thread++) {
        const struct tv_walk_thread *t = &last->walk.threads[thread];
        int64_t end = tv_seam_open_end(input_of(builder), t->last_wall);
        for (uint32_t depth = 0; depth < t->depth; depth++) {
            const struct tv_place *place = &last->tips[thread][depth].place;
            uint32_t parent = t->stack[depth].tag * TV_SLICE_HAS_CHILDREN;
            columns->flags[place->first + place->next - 1] |= (uint8_t)(TV_SLICE_OPEN | parent);
            tv_place_length(columns, place, place->next - 1, end - t->stack[depth].wall,
                            t->last_cpu - t->stack[depth].cpu);
        }
    }
}

/* The rows of the input shared between workers, each renaming the paths that parts wrote. */
struct renaming {
    struct tv_builder *builder;
    uint32_t **maps; /* of each part; NULL: its numbers stand */
};

static void rename_thread(const struct renaming *renaming, uint32_t thread, uint32_t depth)
{
    struct tv_builder *builder = renaming->builder;
    uint32_t *path = columns_of(builder)->path;
    uint32_t from = 0; /* supplied calls have paths of part 0 */
    for (unsigned part = 0; part < builder->part_count; part++) {
        const struct tv_place *place = &builder->parts[part].tips[thread][depth].place;
        const uint32_t *map = renaming->maps[part];
        for (uint32_t i = from; map && i < place->next; i++)
            path[place->first + i] = map[path[place->first + i]];
        from = place->next;
    }
}

static void rename_rows(void *context, unsigned worker)
{
    const struct renaming *renaming = context;
    struct tv_builder *builder = renaming->builder;
    struct tv_trace *trace = builder->trace;
    struct tv_columns *columns = columns_of(builder);
    for (uint32_t track = builder->first_track; track < trace->track_count; track++)
        for (uint32_t depth = 0; depth < trace->tracks[track].row_count; depth++) {
            const struct tv_row *row = &trace->rows[trace->tracks[track].first_row + depth];
            if ((row->first_block + track) % builder->part_count != worker)
                continue;
            rename_thread(renaming, trace->tracks[track].thread, depth);
            tv_columns_rank(columns, row);
        }
}

/* Joins the parts' path trees; renames the paths in the columns and in the waits. */
static void merge_paths(struct tv_builder *builder)
{
    struct tv_paths *paths = &builder->trace->paths;
    uint32_t **maps = tv_alloc(builder->part_count, sizeof *maps);
    for (unsigned i = 0; i < builder->part_count; i++) {
        struct tv_part *part = &builder->parts[i];
        if (i == 0 && paths->count == 1) {
            struct tv_paths empty = *paths;
            *paths = part->paths;
            part->paths = empty;
            continue;
        }
        maps[i] = tv_alloc(part->paths.count, sizeof **maps);
        tv_paths_merge(paths, &part->paths, maps[i]);
        for (size_t j = 0; j < part->wait_count; j++)
            part->waits[j].wait.path = maps[i][part->waits[j].wait.path];
    }
    struct renaming renaming = {builder, maps};
    tv_workers_run(builder->part_count, rename_rows, &renaming);
    for (unsigned i = 0; i < builder->part_count; i++)
        tv_free(maps[i]);
    tv_free(maps);
}

/* Counts each track's waits, or puts them into its table. */
static void add_waits(struct tv_builder *builder, const struct tv_part *part, bool filling)
{
    for (size_t i = 0; i < part->wait_count; i++) {
        const struct tv_part_wait *wait = &part->waits[i];
        struct tv_track *track = &builder->trace->tracks[builder->track_of[wait->thread]];
        if (filling)
            track->waits[track->wait_count] = wait->wait;
        track->wait_count++;
    }
}

static void gather_waits(struct tv_builder *builder)
{
    struct tv_trace *trace = builder->trace;
    for (unsigned i = 0; i < builder->part_count; i++)
        add_waits(builder, &builder->parts[i], false);
    for (uint32_t i = builder->first_track; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        track->waits = tv_alloc(track->wait_count, sizeof *track->waits);
        track->wait_count = 0;
    }
    for (unsigned i = 0; i < builder->part_count; i++)
        add_waits(builder, &builder->parts[i], true);
}

static enum tv_splice builder_splice(struct tv_sink *sink, unsigned pass)
{
    struct tv_builder *builder = of_sink(sink);
    struct tv_trace *trace = builder->trace;
    if (pass == 0)
        return splice_counts(builder);
    close_open_calls(builder);
    apply_deferred(builder);
    merge_paths(builder);
    gather_waits(builder);
    trace->recorded_calls += builder->seam.entries;
    trace->unmatched_exits += builder->seam.unmatched_exits;
    trace->open_calls += builder->seam.open_calls;
    for (uint32_t thread = 0; thread < builder->seam.thread_count; thread++)
        if (builder->seam.max_depth[thread] > trace->max_depth)
            trace->max_depth = builder->seam.max_depth[thread];
    return TV_SPLICE_DONE;
}

static void builder_end(struct tv_sink *sink)
{
    release_input(of_sink(sink));
}

static const struct tv_sink_ops builder_ops = {
    .passes = 2,
    .begin = builder_begin,
    .take = builder_take,
    .splice = builder_splice,
    .end = builder_end,
};

struct tv_builder *tv_builder_new(struct tv_head *head)
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

struct tv_head *tv_builder_head(const struct tv_builder *builder)
{
    return builder->trace->head;
}

struct tv_trace *tv_builder_finish(struct tv_builder *builder)
{
    struct tv_trace *trace = builder->trace;
    release_input(builder);
    tv_trace_settle(trace); /* which may call slices otherwise: that takes paths */
    tv_paths_finish(&trace->paths);
    tv_free(builder);
    tv_memory_trim(); /* what readers had lies between the tables */
    return trace;
}

void tv_builder_free(struct tv_builder *builder)
{
    if (!builder)
        return;
    /* Not by way of finish: rows that were counted but never placed cannot be looked at. */
    release_input(builder);
    tv_trace_free(builder->trace);
    tv_free(builder);
}

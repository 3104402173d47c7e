/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_tracks.c - writes state tracks: one row of consecutive slices each.
 *
 * Workers write groups of tracks to columns of their own.  The path of a slice is only its frame
 * until all groups are written; then every frame in use becomes a path, in the order of frames.
 *
 *     slices, by time      0 2 1 0 2 2 1 ...             their state tracks
 *     counts               track 0: 2   1: 2   2: 3      so each row has its place before any is
 *     groups               [0 1] worker 0   [2] worker 1     written
 *
 * Each worker goes over all slices and takes those of its group, which keeps the order of time
 * within a row.
 *
 * Path numbers must not depend on the number of workers.  Frames in use are therefore noted by all,
 * numbered once, and only then written into the columns.
 */
#include "model/assembly/assembly.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/assembly/assembly_internal.h"

/* Consecutive state tracks, written to columns of their own by one worker. */
struct state_group {
    size_t first, end; /* state tracks [first, end) */
    struct tv_columns columns;
    bool *used; /* by frame: some slice has it */
};

struct tv_state_rows {
    struct tv_row_writer *places; /* per state track */
    size_t state_count, slice_count;
    struct state_group *groups;
    unsigned group_count;
};

/* ---- Writing ---- */

/* Give each state track of a group its place in the columns of the group. */
static void state_rows_lay_out(struct tv_state_rows *rows, struct state_group *group,
                               const uint32_t *counts, uint64_t input_bytes)
{
    uint64_t count = 0, blocks = 0;
    for (size_t i = group->first; i < group->end; i++) {
        rows->places[i] = (struct tv_row_writer){count, blocks, 0, counts[i]};
        count += counts[i];
        blocks += tv_blocks_for(counts[i]);
    }
    tv_columns_init(&group->columns, count, blocks, TV_CLOCK_WALL);
    tv_columns_add_offsets(&group->columns, input_bytes);
    rows->slice_count += count;
}

struct tv_state_rows *tv_state_rows_new(const struct tv_assembly *assembly,
                                        const struct tv_state_layout *layout)
{
    struct tv_state_rows *rows = tv_alloc(1, sizeof *rows);
    rows->state_count = layout->state_count;
    rows->group_count = layout->group_count;
    rows->places = tv_alloc(layout->state_count, sizeof *rows->places);
    rows->groups = tv_alloc(layout->group_count, sizeof *rows->groups);
    for (unsigned i = 0; i < layout->group_count; i++) {
        rows->groups[i].first = i ? layout->ends[i - 1] : 0;
        rows->groups[i].end = layout->ends[i];
        state_rows_lay_out(rows, &rows->groups[i], layout->counts,
                           assembly->trace->head->inputs[assembly->input].bytes);
    }
    if (rows->slice_count >= TV_NONE)
        tv_memory_exhausted();
    return rows;
}

/* Store frames as paths until all frames are known. */
uint32_t tv_state_rows_put(struct tv_state_rows *rows, unsigned group,
                           const struct tv_state_slice *slice)
{
    struct tv_columns *columns = &rows->groups[group].columns;
    struct tv_row_writer *place = &rows->places[slice->state_track];
    struct tv_slice_times times = {slice->start, slice->length, 0, 0};
    uint32_t index = place->next;
    uint64_t at = place->first + index;
    assert(index < place->count);
    columns->path[at] = slice->frame;
    columns->flags[at] = slice->flags;
    tv_columns_set_offset(columns, at, slice->offset);
    tv_row_write_slice(columns, place, &times);
    return index;
}

void tv_state_rows_rename(struct tv_state_rows *rows, unsigned group, size_t state, uint32_t index,
                          uint32_t frame)
{
    const struct tv_row_writer *place = &rows->places[state];
    assert(index < place->next);
    rows->groups[group].columns.path[place->first + index] = frame;
}

/* ---- Tracks ---- */

struct state_track_build {
    struct tv_trace *trace;
    uint32_t input;
    const struct tv_state_track *states;
    struct tv_state_rows *rows;
    uint32_t *paths; /* by frame; 0: no slice has it */
};

/* Return true when the track is shown: it has slices, or is known to have been idle. */
static bool state_row_is_track(const struct state_track_build *build, size_t state)
{
    return build->rows->places[state].count > 0 || build->states[state].known;
}

/* Set the first and last time of the track. */
static void state_track_set_bounds(struct tv_track *track, const struct tv_state_track *state,
                                   const struct tv_columns *columns, const struct tv_row *row)
{
    track->first_wall = track->last_wall = state->since;
    if (row->count == 0)
        return;
    struct tv_wide_time last = tv_columns_ticks(columns, row, row->count - 1);
    track->last_wall = last.start + last.length;
    if (!state->known)
        track->first_wall = tv_columns_ticks(columns, row, 0).start;
}

/* Add a track with its one row. */
static void state_add_track(struct state_track_build *build, size_t state,
                            const struct tv_columns *columns)
{
    struct tv_trace *trace = build->trace;
    const struct tv_state_track *s = &build->states[state];
    const struct tv_row_writer *place = &build->rows->places[state];
    struct tv_row *row = &trace->rows[trace->row_count];
    *row = (struct tv_row){
        .first = place->first,
        .first_block = place->first_block,
        .count = place->count,
        .track = trace->track_count,
        .input = build->input,
        .columns = trace->columns_count,
    };
    struct tv_track *track = &trace->tracks[trace->track_count++];
    *track = (struct tv_track){
        .kind = s->kind,
        .name = s->name,
        .process = s->process,
        .thread = s->thread,
        .input = build->input,
        .first_row = trace->row_count++,
        .row_count = 1,
        .slice_count = place->count,
    };
    state_track_set_bounds(track, s, columns, row);
}

/* Drop the columns when no track uses them. */
static void state_add_group_tracks(struct state_track_build *build, struct state_group *group)
{
    struct tv_trace *trace = build->trace;
    uint32_t tracks = trace->track_count;
    for (size_t i = group->first; i < group->end; i++)
        if (state_row_is_track(build, i))
            state_add_track(build, i, &group->columns);
    if (trace->track_count > tracks)
        trace->columns[trace->columns_count++] = group->columns;
    else
        tv_columns_release(&group->columns);
}

/* Make room for the tracks, rows and columns of all groups at once. */
static void state_reserve_tracks(struct state_track_build *build)
{
    struct tv_trace *trace = build->trace;
    size_t used = 0;
    for (size_t i = 0; i < build->rows->state_count; i++)
        used += state_row_is_track(build, i);
    if (used + trace->track_count >= TV_NONE || used + trace->row_count >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, trace->track_count + used + 1, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, trace->row_count + used + 1, sizeof *trace->rows);
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + build->rows->group_count,
                   sizeof *trace->columns);
}

/* Note the frames that a group uses. */
static void state_worker_note_frames(void *context, unsigned index)
{
    struct state_track_build *build = context;
    struct state_group *group = &build->rows->groups[index];
    group->used = tv_alloc(build->trace->head->frame_count, sizeof *group->used);
    for (size_t i = 0; i < group->columns.count; i++)
        group->used[group->columns.path[i]] = true;
}

/* In the order of frames, so that path numbers do not depend on the groups. */
static void state_find_paths(struct state_track_build *build)
{
    uint32_t count = build->trace->head->frame_count;
    build->paths = tv_alloc(count, sizeof *build->paths);
    for (uint32_t frame = 0; frame < count; frame++)
        for (unsigned i = 0; i < build->rows->group_count; i++)
            if (build->rows->groups[i].used[frame])
                build->paths[frame] = tv_paths_child(&build->trace->paths, 0, frame);
}

/* Replace the frames in the columns of a group by their paths. */
static void state_worker_write_paths(void *context, unsigned index)
{
    const struct state_track_build *build = context;
    const struct tv_columns *columns = &build->rows->groups[index].columns;
    for (size_t i = 0; i < columns->count; i++)
        columns->path[i] = build->paths[columns->path[i]];
}

static void state_rows_free(struct tv_state_rows *rows)
{
    for (unsigned i = 0; i < rows->group_count; i++)
        tv_free(rows->groups[i].used);
    tv_free(rows->groups);
    tv_free(rows->places);
    tv_free(rows);
}

void tv_assembly_add_state_rows(struct tv_assembly *assembly, const struct tv_state_track *states,
                                struct tv_state_rows *rows)
{
    struct state_track_build build = {assembly->trace, assembly->input, states, rows, NULL};
    state_reserve_tracks(&build);
    tv_workers_run(rows->group_count, state_worker_note_frames, &build);
    state_find_paths(&build);
    tv_workers_run(rows->group_count, state_worker_write_paths, &build);
    for (unsigned i = 0; i < rows->group_count; i++) {
        tv_columns_fit(&rows->groups[i].columns);
        state_add_group_tracks(&build, &rows->groups[i]);
    }
    assembly->trace->slice_count += rows->slice_count;
    tv_free(build.paths);
    state_rows_free(rows);
}

/* ---- From an array of slices ---- */

struct state_mixed_slices {
    const struct tv_state_slice *slices;
    size_t slice_count;
    struct tv_state_rows *rows;
};

/* Write the slices of one group, out of all slices in order of time. */
static void state_worker_write_group(void *context, unsigned index)
{
    const struct state_mixed_slices *mixed = context;
    const struct state_group *group = &mixed->rows->groups[index];
    for (size_t i = 0; i < mixed->slice_count; i++)
        if (mixed->slices[i].state_track >= group->first &&
            mixed->slices[i].state_track < group->end)
            tv_state_rows_put(mixed->rows, index, &mixed->slices[i]);
}

/* Give each group about the same number of slices. */
static void state_cut_groups(const struct tv_state_layout *layout, size_t slice_count, size_t *ends)
{
    size_t state = 0, before = 0;
    for (unsigned i = 0; i < layout->group_count; i++) {
        size_t until = slice_count / layout->group_count * (i + 1);
        bool last = i + 1 == layout->group_count;
        for (; state < layout->state_count && (last || before < until); state++)
            before += layout->counts[state];
        ends[i] = state;
    }
}

void tv_assembly_add_state_tracks(struct tv_assembly *assembly, const struct tv_state_track *states,
                                  size_t state_count, const struct tv_state_slice *slices,
                                  size_t slice_count, unsigned workers)
{
    uint32_t *counts = tv_alloc(state_count, sizeof *counts);
    if (slice_count >= TV_NONE)
        tv_memory_exhausted();
    if (slice_count < TV_STATE_GROUP_MIN)
        workers = 1;
    else if (workers == 0)
        workers = tv_workers_available();
    size_t *ends = tv_alloc(workers, sizeof *ends);
    for (size_t i = 0; i < slice_count; i++)
        counts[slices[i].state_track]++;
    struct tv_state_layout layout = {counts, state_count, ends, workers};
    state_cut_groups(&layout, slice_count, ends);
    struct state_mixed_slices mixed = {slices, slice_count, tv_state_rows_new(assembly, &layout)};
    tv_workers_run(workers, state_worker_write_group, &mixed);
    tv_assembly_add_state_rows(assembly, states, mixed.rows);
    tv_free(counts);
    tv_free(ends);
}

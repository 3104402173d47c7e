/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strips.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/assembly_state.h"

/* Strips that follow one another, written to columns of their own. */
struct group {
    size_t first, end; /* strips */
    struct tv_columns columns;
    bool *used; /* by frame: a slice has it */
};

struct tv_strip_rows {
    struct tv_place *places; /* by strip */
    size_t strip_count, slice_count;
    struct group *groups;
    unsigned group_count;
};

/* ---- Writing ---- */

static void lay_out(struct tv_strip_rows *rows, struct group *group, const uint32_t *counts,
                    uint64_t input_bytes)
{
    uint64_t count = 0, blocks = 0;
    for (size_t i = group->first; i < group->end; i++) {
        rows->places[i] = (struct tv_place){count, blocks, 0, counts[i]};
        count += counts[i];
        blocks += tv_blocks_for(counts[i]);
    }
    tv_columns_init(&group->columns, count, blocks, TV_CLOCK_WALL);
    tv_columns_add_offsets(&group->columns, input_bytes);
    rows->slice_count += count;
}

struct tv_strip_rows *tv_strip_rows_new(const struct tv_assembly *assembly,
                                        const struct tv_strip_layout *layout)
{
    struct tv_strip_rows *rows = tv_alloc(1, sizeof *rows);
    rows->strip_count = layout->strip_count;
    rows->group_count = layout->group_count;
    rows->places = tv_alloc(layout->strip_count, sizeof *rows->places);
    rows->groups = tv_alloc(layout->group_count, sizeof *rows->groups);
    for (unsigned i = 0; i < layout->group_count; i++) {
        rows->groups[i].first = i ? layout->ends[i - 1] : 0;
        rows->groups[i].end = layout->ends[i];
        lay_out(rows, &rows->groups[i], layout->counts,
                assembly->trace->head->inputs[assembly->input].bytes);
    }
    if (rows->slice_count >= TV_NONE)
        tv_memory_exhausted();
    return rows;
}

/* Paths are frames until all frames are known. */
uint32_t tv_strip_rows_put(struct tv_strip_rows *rows, unsigned group,
                           const struct tv_strip_slice *slice)
{
    struct tv_columns *columns = &rows->groups[group].columns;
    struct tv_place *place = &rows->places[slice->strip];
    struct tv_slice_times times = {slice->start, slice->length, 0, 0};
    uint32_t index = place->next;
    uint64_t at = place->first + index;
    assert(index < place->count);
    columns->path[at] = slice->frame;
    columns->flags[at] = slice->flags;
    tv_columns_set_offset(columns, at, slice->offset);
    tv_place_slice(columns, place, &times);
    return index;
}

void tv_strip_rows_rename(struct tv_strip_rows *rows, unsigned group, size_t strip, uint32_t index,
                          uint32_t frame)
{
    const struct tv_place *place = &rows->places[strip];
    assert(index < place->next);
    rows->groups[group].columns.path[place->first + index] = frame;
}

/* ---- Tracks ---- */

struct making {
    struct tv_trace *trace;
    uint32_t input;
    const struct tv_strip *strips;
    struct tv_strip_rows *rows;
    uint32_t *paths; /* by frame; 0: it is not on a strip */
};

static bool is_track(const struct making *making, size_t strip)
{
    return making->rows->places[strip].count > 0 || making->strips[strip].known;
}

/* From when to when something of it is told. */
static void set_bounds(struct tv_track *track, const struct tv_strip *strip,
                       const struct tv_columns *columns, const struct tv_row *row)
{
    track->first_wall = track->last_wall = strip->since;
    if (row->count == 0)
        return;
    struct tv_wide_time last = tv_columns_ticks(columns, row, row->count - 1);
    track->last_wall = last.start + last.length;
    if (!strip->known)
        track->first_wall = tv_columns_ticks(columns, row, 0).start;
}

static void add_track(struct making *making, size_t strip, const struct tv_columns *columns)
{
    struct tv_trace *trace = making->trace;
    const struct tv_strip *s = &making->strips[strip];
    const struct tv_place *place = &making->rows->places[strip];
    struct tv_row *row = &trace->rows[trace->row_count];
    *row = (struct tv_row){
        .first = place->first,
        .first_block = place->first_block,
        .count = place->count,
        .track = trace->track_count,
        .input = making->input,
        .columns = trace->columns_count,
    };
    struct tv_track *track = &trace->tracks[trace->track_count++];
    *track = (struct tv_track){
        .kind = s->kind,
        .name = s->name,
        .process = s->process,
        .thread = s->thread,
        .input = making->input,
        .first_row = trace->row_count++,
        .row_count = 1,
        .slice_count = place->count,
    };
    set_bounds(track, s, columns, row);
}

/* Columns without a track are nobody's. */
static void add_tracks(struct making *making, struct group *group)
{
    struct tv_trace *trace = making->trace;
    uint32_t tracks = trace->track_count;
    for (size_t i = group->first; i < group->end; i++)
        if (is_track(making, i))
            add_track(making, i, &group->columns);
    if (trace->track_count > tracks)
        trace->columns[trace->columns_count++] = group->columns;
    else
        tv_columns_release(&group->columns);
}

static void reserve(struct making *making)
{
    struct tv_trace *trace = making->trace;
    size_t used = 0;
    for (size_t i = 0; i < making->rows->strip_count; i++)
        used += is_track(making, i);
    if (used + trace->track_count >= TV_NONE || used + trace->row_count >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, trace->track_count + used + 1, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, trace->row_count + used + 1, sizeof *trace->rows);
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + making->rows->group_count,
                   sizeof *trace->columns);
}

static void note_frames(void *context, unsigned index)
{
    struct making *making = context;
    struct group *group = &making->rows->groups[index];
    group->used = tv_alloc(making->trace->head->frame_count, sizeof *group->used);
    for (size_t i = 0; i < group->columns.count; i++)
        group->used[group->columns.path[i]] = true;
}

/* In the order of the frames, whoever wrote them. */
static void find_paths(struct making *making)
{
    uint32_t count = making->trace->head->frame_count;
    making->paths = tv_alloc(count, sizeof *making->paths);
    for (uint32_t frame = 0; frame < count; frame++)
        for (unsigned i = 0; i < making->rows->group_count; i++)
            if (making->rows->groups[i].used[frame])
                making->paths[frame] = tv_paths_child(&making->trace->paths, 0, frame);
}

static void name_paths(void *context, unsigned index)
{
    const struct making *making = context;
    const struct tv_columns *columns = &making->rows->groups[index].columns;
    for (size_t i = 0; i < columns->count; i++)
        columns->path[i] = making->paths[columns->path[i]];
}

static void free_rows(struct tv_strip_rows *rows)
{
    for (unsigned i = 0; i < rows->group_count; i++)
        tv_free(rows->groups[i].used);
    tv_free(rows->groups);
    tv_free(rows->places);
    tv_free(rows);
}

void tv_assembly_strip_rows(struct tv_assembly *assembly, const struct tv_strip *strips,
                            struct tv_strip_rows *rows)
{
    struct making making = {assembly->trace, assembly->input, strips, rows, NULL};
    reserve(&making);
    tv_workers_run(rows->group_count, note_frames, &making);
    find_paths(&making);
    tv_workers_run(rows->group_count, name_paths, &making);
    for (unsigned i = 0; i < rows->group_count; i++) {
        tv_columns_fit(&rows->groups[i].columns);
        add_tracks(&making, &rows->groups[i]);
    }
    assembly->trace->slice_count += rows->slice_count;
    tv_free(making.paths);
    free_rows(rows);
}

/* ---- Mixed ---- */

struct mixed {
    const struct tv_strip_slice *slices;
    size_t slice_count;
    struct tv_strip_rows *rows;
};

static void write_group(void *context, unsigned index)
{
    const struct mixed *mixed = context;
    const struct group *group = &mixed->rows->groups[index];
    for (size_t i = 0; i < mixed->slice_count; i++)
        if (mixed->slices[i].strip >= group->first && mixed->slices[i].strip < group->end)
            tv_strip_rows_put(mixed->rows, index, &mixed->slices[i]);
}

/* Each group gets about as many slices as the others. */
static void cut_groups(const struct tv_strip_layout *layout, size_t slice_count, size_t *ends)
{
    size_t strip = 0, before = 0;
    for (unsigned i = 0; i < layout->group_count; i++) {
        size_t until = slice_count / layout->group_count * (i + 1);
        bool last = i + 1 == layout->group_count;
        for (; strip < layout->strip_count && (last || before < until); strip++)
            before += layout->counts[strip];
        ends[i] = strip;
    }
}

void tv_assembly_strips(struct tv_assembly *assembly, const struct tv_strip *strips,
                        size_t strip_count, const struct tv_strip_slice *slices, size_t slice_count,
                        unsigned workers)
{
    uint32_t *counts = tv_alloc(strip_count, sizeof *counts);
    if (slice_count >= TV_NONE)
        tv_memory_exhausted();
    if (slice_count < TV_STRIP_GROUP_LEAST)
        workers = 1;
    else if (workers == 0)
        workers = tv_workers_available();
    size_t *ends = tv_alloc(workers, sizeof *ends);
    for (size_t i = 0; i < slice_count; i++)
        counts[slices[i].strip]++;
    struct tv_strip_layout layout = {counts, strip_count, ends, workers};
    cut_groups(&layout, slice_count, ends);
    struct mixed mixed = {slices, slice_count, tv_strip_rows_new(assembly, &layout)};
    tv_workers_run(workers, write_group, &mixed);
    tv_assembly_strip_rows(assembly, strips, mixed.rows);
    tv_free(counts);
    tv_free(ends);
}

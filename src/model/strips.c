/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strips.h"

#include <string.h>

#include "base/memory.h"
#include "model/assembly_state.h"

struct making {
    struct tv_trace *trace;
    uint32_t input;
    const struct tv_strip *strips;
    uint32_t *counts;        /* of slices, by strip */
    uint32_t *rows;          /* of the trace, by strip; TV_NONE: it has no slices */
    struct tv_place *places; /* by strip */
};

static void add_track(struct making *making, size_t strip, struct tv_columns *columns,
                      uint64_t first)
{
    struct tv_trace *trace = making->trace;
    const struct tv_strip *s = &making->strips[strip];
    uint32_t count = making->counts[strip];
    making->rows[strip] = trace->row_count;
    making->places[strip] = (struct tv_place){first, columns->block_count, 0, count};
    trace->rows[trace->row_count] = (struct tv_row){
        .first = first,
        .first_block = columns->block_count,
        .count = count,
        .track = trace->track_count,
        .input = making->input,
        .columns = trace->columns_count - 1,
    };
    trace->tracks[trace->track_count++] = (struct tv_track){
        .kind = s->kind,
        .name = s->name,
        .process = s->process,
        .thread = s->thread,
        .input = making->input,
        .first_row = trace->row_count++,
        .row_count = 1,
        .slice_count = count,
    };
    columns->block_count += tv_blocks_for(count);
}

/* Tracks and rows of the strips that have slices, and columns for all. */
static struct tv_columns *add_tracks(struct making *making, size_t strip_count, size_t slice_count)
{
    struct tv_trace *trace = making->trace;
    size_t used = 0;
    for (size_t i = 0; i < strip_count; i++)
        used += making->counts[i] > 0;
    if (used + trace->track_count >= TV_NONE || used + trace->row_count >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, trace->track_count + used, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, trace->row_count + used, sizeof *trace->rows);
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + 1, sizeof *trace->columns);
    struct tv_columns *columns = &trace->columns[trace->columns_count++];
    memset(columns, 0, sizeof *columns);
    uint64_t first = 0;
    for (size_t i = 0; i < strip_count; i++) {
        making->rows[i] = TV_NONE;
        if (making->counts[i] == 0)
            continue;
        add_track(making, i, columns, first);
        first += making->counts[i];
    }
    tv_columns_init(columns, slice_count, columns->block_count, TV_CLOCK_WALL);
    tv_columns_add_offsets(columns, trace->head->inputs[making->input].bytes);
    return columns;
}

static void add_slice(struct making *making, struct tv_columns *columns,
                      const struct tv_strip_slice *slice)
{
    struct tv_trace *trace = making->trace;
    struct tv_place *place = &making->places[slice->strip];
    struct tv_track *track = &trace->tracks[trace->rows[making->rows[slice->strip]].track];
    struct tv_slice_times times = {slice->start, slice->length, 0, 0};
    uint64_t at = place->first + place->next;
    if (place->next == 0)
        track->first_wall = slice->start;
    track->last_wall = slice->start + slice->length;
    columns->path[at] = tv_paths_child(&trace->paths, 0, slice->frame);
    columns->flags[at] = slice->flags;
    tv_columns_set_offset(columns, at, slice->offset);
    tv_place_slice(columns, place, &times);
}

void tv_assembly_strips(struct tv_assembly *assembly, const struct tv_strip *strips,
                        size_t strip_count, const struct tv_strip_slice *slices, size_t slice_count)
{
    if (slice_count == 0)
        return;
    if (slice_count >= TV_NONE)
        tv_memory_exhausted();
    struct making making = {
        .trace = assembly->trace,
        .input = assembly->input,
        .strips = strips,
        .counts = tv_alloc(strip_count, sizeof *making.counts),
        .rows = tv_alloc(strip_count, sizeof *making.rows),
        .places = tv_alloc(strip_count, sizeof *making.places),
    };
    for (size_t i = 0; i < slice_count; i++)
        making.counts[slices[i].strip]++;
    struct tv_columns *columns = add_tracks(&making, strip_count, slice_count);
    for (size_t i = 0; i < slice_count; i++)
        add_slice(&making, columns, &slices[i]);
    making.trace->slice_count += slice_count;
    tv_free(making.counts);
    tv_free(making.rows);
    tv_free(making.places);
}

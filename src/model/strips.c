/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strips.h"

#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/assembly_state.h"

/* Fewer slices are written by one worker. */
#define LEAST_STRETCH 65536u

/* Strips that follow one another, written by one worker to columns of their own. */
struct stretch {
    size_t first, end; /* strips */
    size_t slice_count;
    uint32_t columns; /* of the trace; TV_NONE: it has no slices */
};

struct making {
    struct tv_trace *trace;
    uint32_t input;
    const struct tv_strip *strips;
    size_t strip_count;
    const struct tv_strip_slice *slices;
    size_t slice_count;
    uint32_t *counts;        /* of slices, by strip */
    uint32_t *tracks;        /* of the trace, by strip */
    struct tv_place *places; /* by strip */
    uint32_t *paths;         /* by frame; 0: it is not on a strip */
    struct stretch *stretches;
    unsigned stretch_count;
};

static void add_track(struct making *making, size_t strip, struct tv_columns *columns,
                      uint64_t first)
{
    struct tv_trace *trace = making->trace;
    const struct tv_strip *s = &making->strips[strip];
    uint32_t count = making->counts[strip];
    making->tracks[strip] = trace->track_count;
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

/* Tracks and rows of the strips that have slices, and columns for them. */
static void add_tracks(struct making *making, struct stretch *stretch)
{
    struct tv_trace *trace = making->trace;
    stretch->columns = TV_NONE;
    if (stretch->slice_count == 0)
        return;
    stretch->columns = trace->columns_count;
    struct tv_columns *columns = &trace->columns[trace->columns_count++];
    memset(columns, 0, sizeof *columns);
    uint64_t first = 0;
    for (size_t i = stretch->first; i < stretch->end; i++) {
        if (making->counts[i] == 0)
            continue;
        add_track(making, i, columns, first);
        first += making->counts[i];
    }
    tv_columns_init(columns, stretch->slice_count, columns->block_count, TV_CLOCK_WALL);
    tv_columns_add_offsets(columns, trace->head->inputs[making->input].bytes);
}

/* Counts the slices, and finds the paths in the order of their slices. */
static void count_slices(struct making *making)
{
    making->paths = tv_alloc(making->trace->head->frame_count, sizeof *making->paths);
    for (size_t i = 0; i < making->slice_count; i++) {
        const struct tv_strip_slice *slice = &making->slices[i];
        making->counts[slice->strip]++;
        if (making->paths[slice->frame] == 0)
            making->paths[slice->frame] = tv_paths_child(&making->trace->paths, 0, slice->frame);
    }
}

/* Each stretch gets about as many slices as the others. */
static void cut_stretches(struct making *making)
{
    size_t strip = 0, before = 0;
    making->stretches = tv_alloc(making->stretch_count, sizeof *making->stretches);
    for (unsigned i = 0; i < making->stretch_count; i++) {
        struct stretch *stretch = &making->stretches[i];
        size_t until = making->slice_count / making->stretch_count * (i + 1);
        bool last = i + 1 == making->stretch_count;
        stretch->first = strip;
        for (; strip < making->strip_count && (last || before < until); strip++) {
            stretch->slice_count += making->counts[strip];
            before += making->counts[strip];
        }
        stretch->end = strip;
    }
}

static void reserve(struct making *making)
{
    struct tv_trace *trace = making->trace;
    size_t used = 0;
    for (size_t i = 0; i < making->strip_count; i++)
        used += making->counts[i] > 0;
    if (used + trace->track_count >= TV_NONE || used + trace->row_count >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, trace->track_count + used, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, trace->row_count + used, sizeof *trace->rows);
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + making->stretch_count,
                   sizeof *trace->columns);
}

static void add_slice(struct making *making, struct tv_columns *columns,
                      const struct tv_strip_slice *slice)
{
    struct tv_place *place = &making->places[slice->strip];
    struct tv_track *track = &making->trace->tracks[making->tracks[slice->strip]];
    struct tv_slice_times times = {slice->start, slice->length, 0, 0};
    uint64_t at = place->first + place->next;
    if (place->next == 0)
        track->first_wall = slice->start;
    track->last_wall = slice->start + slice->length;
    columns->path[at] = making->paths[slice->frame];
    columns->flags[at] = slice->flags;
    tv_columns_set_offset(columns, at, slice->offset);
    tv_place_slice(columns, place, &times);
}

static void write_stretch(void *context, unsigned index)
{
    struct making *making = context;
    const struct stretch *stretch = &making->stretches[index];
    if (stretch->columns == TV_NONE)
        return;
    struct tv_columns *columns = &making->trace->columns[stretch->columns];
    size_t width = stretch->end - stretch->first;
    for (size_t i = 0; i < making->slice_count; i++)
        if (making->slices[i].strip - stretch->first < width)
            add_slice(making, columns, &making->slices[i]);
}

void tv_assembly_strips(struct tv_assembly *assembly, const struct tv_strip *strips,
                        size_t strip_count, const struct tv_strip_slice *slices, size_t slice_count,
                        unsigned workers)
{
    if (slice_count == 0)
        return;
    if (slice_count >= TV_NONE)
        tv_memory_exhausted();
    struct making making = {
        .trace = assembly->trace,
        .input = assembly->input,
        .strips = strips,
        .strip_count = strip_count,
        .slices = slices,
        .slice_count = slice_count,
        .counts = tv_alloc(strip_count, sizeof *making.counts),
        .tracks = tv_alloc(strip_count, sizeof *making.tracks),
        .places = tv_alloc(strip_count, sizeof *making.places),
        .stretch_count = 1,
    };
    if (slice_count >= LEAST_STRETCH)
        making.stretch_count = workers ? workers : tv_workers_available();
    count_slices(&making);
    cut_stretches(&making);
    reserve(&making);
    for (unsigned i = 0; i < making.stretch_count; i++)
        add_tracks(&making, &making.stretches[i]);
    tv_workers_run(making.stretch_count, write_stretch, &making);
    making.trace->slice_count += slice_count;
    tv_free(making.counts);
    tv_free(making.tracks);
    tv_free(making.places);
    tv_free(making.paths);
    tv_free(making.stretches);
}

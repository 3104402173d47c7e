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
    size_t track_count, slice_count;
    uint32_t columns; /* of the trace; TV_NONE: it has no tracks */
    bool *used;       /* by frame: a slice has it */
};

struct making {
    struct tv_trace *trace;
    uint32_t input;
    const struct tv_strip *strips;
    const struct tv_strip_list *lists; /* by strip */
    size_t strip_count, slice_count;
    struct tv_place *places; /* by strip */
    uint32_t *paths;         /* by frame; 0: it is not on a strip */
    struct stretch *stretches;
    unsigned stretch_count;
};

static bool is_track(const struct making *making, size_t strip)
{
    return making->lists[strip].count > 0 || making->strips[strip].known;
}

/* From when to when something of it is told. */
static void set_bounds(struct tv_track *track, const struct tv_strip *strip,
                       const struct tv_strip_list *list)
{
    track->first_wall = track->last_wall = strip->since;
    if (list->count == 0)
        return;
    const struct tv_strip_slice *last = &list->slices[list->count - 1];
    track->last_wall = last->start + last->length;
    if (!strip->known)
        track->first_wall = list->slices->start;
}

static void add_track(struct making *making, size_t strip, struct tv_columns *columns,
                      uint64_t first)
{
    struct tv_trace *trace = making->trace;
    const struct tv_strip *s = &making->strips[strip];
    const struct tv_strip_list *list = &making->lists[strip];
    uint32_t count = (uint32_t)list->count;
    making->places[strip] = (struct tv_place){first, columns->block_count, 0, count};
    trace->rows[trace->row_count] = (struct tv_row){
        .first = first,
        .first_block = columns->block_count,
        .count = count,
        .track = trace->track_count,
        .input = making->input,
        .columns = trace->columns_count - 1,
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
        .slice_count = count,
    };
    set_bounds(track, s, list);
    columns->block_count += tv_blocks_for(count);
}

/* Tracks and rows of the strips, and columns for them. */
static void add_tracks(struct making *making, struct stretch *stretch)
{
    struct tv_trace *trace = making->trace;
    stretch->columns = TV_NONE;
    if (stretch->track_count == 0)
        return;
    stretch->columns = trace->columns_count;
    struct tv_columns *columns = &trace->columns[trace->columns_count++];
    memset(columns, 0, sizeof *columns);
    uint64_t first = 0;
    for (size_t i = stretch->first; i < stretch->end; i++) {
        if (!is_track(making, i))
            continue;
        add_track(making, i, columns, first);
        first += making->lists[i].count;
    }
    tv_columns_init(columns, stretch->slice_count, columns->block_count, TV_CLOCK_WALL);
    tv_columns_add_offsets(columns, trace->head->inputs[making->input].bytes);
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
            stretch->slice_count += making->lists[strip].count;
            stretch->track_count += is_track(making, strip);
            before += making->lists[strip].count;
        }
        stretch->end = strip;
    }
}

static void reserve(struct making *making)
{
    struct tv_trace *trace = making->trace;
    size_t used = 0;
    for (size_t i = 0; i < making->strip_count; i++)
        used += is_track(making, i);
    if (used + trace->track_count >= TV_NONE || used + trace->row_count >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, trace->track_count + used, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, trace->row_count + used, sizeof *trace->rows);
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + making->stretch_count,
                   sizeof *trace->columns);
}

/* Paths are frames until all frames are known. */
static void write_strip(const struct making *making, const struct stretch *stretch, size_t strip)
{
    struct tv_columns *columns = &making->trace->columns[stretch->columns];
    struct tv_place *place = &making->places[strip];
    for (size_t i = 0; i < making->lists[strip].count; i++) {
        const struct tv_strip_slice *slice = &making->lists[strip].slices[i];
        struct tv_slice_times times = {slice->start, slice->length, 0, 0};
        uint64_t at = place->first + i;
        columns->path[at] = slice->frame;
        columns->flags[at] = slice->flags;
        stretch->used[slice->frame] = true;
        tv_columns_set_offset(columns, at, slice->offset);
        tv_place_slice(columns, place, &times);
    }
}

static void write_stretch(void *context, unsigned index)
{
    struct making *making = context;
    struct stretch *stretch = &making->stretches[index];
    stretch->used = tv_alloc(making->trace->head->frame_count, sizeof *stretch->used);
    for (size_t i = stretch->first; stretch->columns != TV_NONE && i < stretch->end; i++)
        write_strip(making, stretch, i);
}

/* In the order of the frames, whoever wrote them. */
static void find_paths(struct making *making)
{
    uint32_t count = making->trace->head->frame_count;
    making->paths = tv_alloc(count, sizeof *making->paths);
    for (uint32_t frame = 0; frame < count; frame++)
        for (unsigned i = 0; i < making->stretch_count; i++)
            if (making->stretches[i].used[frame])
                making->paths[frame] = tv_paths_child(&making->trace->paths, 0, frame);
}

static void name_paths(void *context, unsigned index)
{
    const struct making *making = context;
    const struct stretch *stretch = &making->stretches[index];
    if (stretch->columns == TV_NONE)
        return;
    uint32_t *paths = making->trace->columns[stretch->columns].path;
    for (size_t i = 0; i < stretch->slice_count; i++)
        paths[i] = making->paths[paths[i]];
}

void tv_assembly_strip_lists(struct tv_assembly *assembly, const struct tv_strip *strips,
                             const struct tv_strip_list *lists, size_t strip_count,
                             unsigned workers)
{
    struct making making = {
        .trace = assembly->trace,
        .input = assembly->input,
        .strips = strips,
        .lists = lists,
        .strip_count = strip_count,
        .stretch_count = 1,
    };
    bool any = false;
    for (size_t i = 0; i < strip_count; i++) {
        making.slice_count += lists[i].count;
        any |= is_track(&making, i);
    }
    if (!any)
        return;
    if (making.slice_count >= TV_NONE)
        tv_memory_exhausted();
    if (making.slice_count >= LEAST_STRETCH)
        making.stretch_count = workers ? workers : tv_workers_available();
    making.places = tv_alloc(strip_count, sizeof *making.places);
    cut_stretches(&making);
    reserve(&making);
    for (unsigned i = 0; i < making.stretch_count; i++)
        add_tracks(&making, &making.stretches[i]);
    tv_workers_run(making.stretch_count, write_stretch, &making);
    find_paths(&making);
    tv_workers_run(making.stretch_count, name_paths, &making);
    making.trace->slice_count += making.slice_count;
    for (unsigned i = 0; i < making.stretch_count; i++)
        tv_free(making.stretches[i].used);
    tv_free(making.places);
    tv_free(making.paths);
    tv_free(making.stretches);
}

void tv_assembly_strips(struct tv_assembly *assembly, const struct tv_strip *strips,
                        size_t strip_count, const struct tv_strip_slice *slices, size_t slice_count,
                        unsigned workers)
{
    struct tv_strip_list *lists = tv_alloc(strip_count, sizeof *lists);
    struct tv_strip_slice **next = tv_alloc(strip_count, sizeof *next);
    struct tv_strip_slice *sorted = tv_alloc(slice_count, sizeof *sorted), *place = sorted;
    for (size_t i = 0; i < slice_count; i++)
        lists[slices[i].strip].count++;
    for (size_t i = 0; i < strip_count; i++) {
        lists[i].slices = next[i] = place;
        place += lists[i].count;
    }
    for (size_t i = 0; i < slice_count; i++)
        *next[slices[i].strip]++ = slices[i];
    tv_assembly_strip_lists(assembly, strips, lists, strip_count, workers);
    tv_free(sorted);
    tv_free(next);
    tv_free(lists);
}

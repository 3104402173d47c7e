/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/te_binding.h"

#include "base/error.h"
#include "base/map.h"
#include "base/memory.h"

/* Overflow tracks that are looked at besides a thread's own. */
#define OVERFLOWS_MAX 7

/* Slices starting at one time that are told apart by their place in the file. */
#define TIES_MAX 64

/* A way from the top to a slice of a track: its index in each row. */
struct way {
    uint32_t *indices;
    size_t depth, capacity;
};

struct place {
    uint32_t row, index;
    uint64_t offset;
};

/* How far the questions about a track have come. */
struct progress {
    uint32_t first_row, row_count;
    struct way around; /* the slices around the last time */
    struct way next; /* in preorder the first slice that starts after the last time; empty: none */
    bool begun;      /* `next` means something */
    tv_ns tie_time;
    struct place ties[TIES_MAX]; /* slices that start at tie_time */
    unsigned tie_count;
};

struct thread {
    struct progress *tracks; /* its own and overflow tracks; made when asked for */
    uint32_t count;
};

struct tv_te_binding {
    const struct tv_trace *trace;
    const struct tv_assembly *assembly;
    struct tv_map numbers; /* thread -> index in threads */
    struct thread *threads;
    size_t count, capacity;
};

struct tv_te_binding *tv_te_binding_new(const struct tv_trace *trace,
                                        const struct tv_assembly *assembly)
{
    struct tv_te_binding *binding = tv_alloc(1, sizeof *binding);
    binding->trace = trace;
    binding->assembly = assembly;
    tv_map_init(&binding->numbers);
    return binding;
}

void tv_te_binding_free(struct tv_te_binding *binding)
{
    for (size_t i = 0; i < binding->count; i++) {
        for (uint32_t t = 0; t < binding->threads[i].count; t++) {
            tv_free(binding->threads[i].tracks[t].around.indices);
            tv_free(binding->threads[i].tracks[t].next.indices);
        }
        tv_free(binding->threads[i].tracks);
    }
    tv_free(binding->threads);
    tv_map_release(&binding->numbers);
    tv_free(binding);
}

static uint32_t count_tracks(const struct tv_trace *trace, uint32_t track)
{
    uint32_t count = 1;
    if (track == TV_NONE)
        return 0;
    while (count <= OVERFLOWS_MAX && track + count < trace->track_count &&
           trace->tracks[track + count].kind == TV_TRACK_OVERFLOW)
        count++;
    return count;
}

static struct thread *find_thread(struct tv_te_binding *binding, uint32_t thread)
{
    uint32_t number = tv_map_add(&binding->numbers, thread, (uint32_t)binding->count);
    if (number < binding->count)
        return &binding->threads[number];
    uint32_t track = thread == TV_NONE ? TV_NONE : tv_assembly_track(binding->assembly, thread);
    uint32_t count = count_tracks(binding->trace, track);
    binding->threads = tv_array_reserve(binding->threads, &binding->capacity, binding->count + 1,
                                        sizeof *binding->threads);
    struct thread *added = &binding->threads[binding->count++];
    *added = (struct thread){tv_alloc(count, sizeof *added->tracks), count};
    for (uint32_t i = 0; i < count; i++) {
        added->tracks[i].first_row = binding->trace->tracks[track + i].first_row;
        added->tracks[i].row_count = binding->trace->tracks[track + i].row_count;
    }
    return added;
}

static void push(struct way *way, uint32_t index)
{
    way->indices =
        tv_array_reserve(way->indices, &way->capacity, way->depth + 1, sizeof *way->indices);
    way->indices[way->depth++] = index;
}

/* Whether the slice of the row below the way's end belongs under it. */
static bool is_below(const struct tv_trace *trace, const struct progress *track,
                     const struct way *way, uint32_t index)
{
    return way->depth == 0 || tv_slice_parent(trace, track->first_row + (uint32_t)way->depth,
                                              index) == way->indices[way->depth - 1];
}

static bool go_down(const struct tv_trace *trace, struct progress *track, tv_ns time)
{
    uint32_t row = track->first_row + (uint32_t)track->around.depth;
    if (track->around.depth == track->row_count)
        return false;
    uint32_t index = tv_row_find(trace, row, time - 1);
    if (index == trace->rows[row].count || tv_slice_start(trace, row, index) > time ||
        !is_below(trace, track, &track->around, index))
        return false;
    push(&track->around, index);
    return true;
}

static bool find_around(const struct tv_trace *trace, struct progress *track, tv_ns time,
                        uint32_t *row, uint32_t *index)
{
    struct way *way = &track->around;
    while (way->depth > 0 && tv_slice_end(trace, track->first_row + (uint32_t)way->depth - 1,
                                          way->indices[way->depth - 1]) < time)
        way->depth--;
    while (go_down(trace, track, time))
        continue;
    if (way->depth == 0)
        return false;
    *row = track->first_row + (uint32_t)way->depth - 1;
    *index = way->indices[way->depth - 1];
    return true;
}

bool tv_te_binding_around(struct tv_te_binding *binding, uint32_t thread, tv_ns time, uint32_t *row,
                          uint32_t *index)
{
    struct thread *found = find_thread(binding, thread);
    for (uint32_t i = 0; i < found->count; i++)
        if (find_around(binding->trace, &found->tracks[i], time, row, index))
            return true;
    return false;
}

/* To the next slice in preorder: parents before children, siblings in order, which is the order of
 * starts. */
static void step(const struct tv_trace *trace, struct progress *track)
{
    struct way *way = &track->next;
    uint32_t first, count;
    uint32_t row = track->first_row + (uint32_t)way->depth - 1;
    tv_slice_children(trace, row, way->indices[way->depth - 1], &first, &count);
    if (count > 0) {
        push(way, first);
        return;
    }
    while (way->depth > 0) {
        uint32_t next = way->indices[--way->depth] + 1;
        if (next < trace->rows[track->first_row + (uint32_t)way->depth].count &&
            is_below(trace, track, way, next)) {
            push(way, next);
            return;
        }
    }
}

static struct place way_end(const struct progress *track)
{
    const struct way *way = &track->next;
    return (struct place){track->first_row + (uint32_t)way->depth - 1, way->indices[way->depth - 1],
                          0};
}

/* Goes behind all slices that start at the time, and keeps these. */
static void go_on(const struct tv_trace *trace, struct progress *track, tv_ns time)
{
    if (!track->begun && track->row_count > 0)
        push(&track->next, 0);
    else if (track->tie_time == time)
        return;
    track->begun = true;
    track->tie_time = time;
    track->tie_count = 0;
    for (; track->next.depth > 0; step(trace, track)) {
        struct place place = way_end(track);
        tv_ns start = tv_slice_start(trace, place.row, place.index);
        if (start > time)
            return;
        if (start < time || track->tie_count == TIES_MAX)
            continue;
        place.offset = tv_slice_offset(trace, place.row, place.index);
        track->ties[track->tie_count++] = place;
    }
}

/* Of the slices that start at the time the first behind the offset; else the next that starts. */
static bool find_next(const struct tv_trace *trace, struct progress *track, tv_ns time,
                      uint64_t offset, struct place *found)
{
    const struct place *best = NULL;
    go_on(trace, track, time);
    for (unsigned i = 0; i < track->tie_count; i++)
        if (track->ties[i].offset > offset && track->ties[i].offset != TV_NO_OFFSET &&
            (best == NULL || track->ties[i].offset < best->offset))
            best = &track->ties[i];
    if (best == NULL && track->next.depth == 0)
        return false;
    *found = best != NULL ? *best : way_end(track);
    return true;
}

bool tv_te_binding_next(struct tv_te_binding *binding, uint32_t thread, tv_ns time, uint64_t offset,
                        uint32_t *row, uint32_t *index)
{
    const struct tv_trace *trace = binding->trace;
    struct thread *asked = find_thread(binding, thread);
    tv_ns earliest = INT64_MAX;
    for (uint32_t i = 0; i < asked->count; i++) {
        struct place place;
        if (!find_next(trace, &asked->tracks[i], time, offset, &place))
            continue;
        tv_ns start = tv_slice_start(trace, place.row, place.index);
        if (start >= earliest)
            continue;
        earliest = start;
        *row = place.row;
        *index = place.index;
    }
    return earliest != INT64_MAX;
}

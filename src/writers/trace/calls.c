/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - a walk over the calls of a track without a stack of nodes.
 *
 * The rows of a track are sorted by time, and the children of a call are adjacent in the row
 * below: they are the next slices up to the next slice that is a first child. So the walk needs
 * one position per row:
 *
 *     depth 0   |------ a ------|  |-- d --|          open: a      next: d
 *     depth 1     |-b-|  |--c--|     |-e-|            open: b      next: c (not a first child)
 *
 * events: enter a, enter b, exit b, enter c, exit c, exit a, enter d, ...
 *
 * All tracks are merged through a binary heap of their next events.
 */
#include "writers/trace/calls.h"

#include <assert.h>

#include "base/memory.h"

/* Slices that are decoded at once. A trace may have many rows, so this is small. */
#define AHEAD 32u

struct call_row_cursor {
    struct tv_slice *ahead; /* [AHEAD] decoded slices, or NULL until the walk reaches the row */
    uint32_t first, count;  /* the range of decoded slices */
    uint32_t next;          /* the next slice to enter */
    struct tv_slice open;   /* the slice that is open */
    bool entered;           /* a child of the open slice has been returned */
};

struct tv_call_cursor {
    const struct tv_trace *trace;
    uint32_t track, depth; /* number of open calls */
    uint32_t first_row, row_count;
    const bool *frames; /* selected frames, or NULL: all */
    uint32_t kept;      /* number of open calls of selected frames */
    struct call_row_cursor *rows;
};

struct tv_call_cursor *tv_call_cursor_new(const struct tv_trace *trace, uint32_t track)
{
    struct tv_call_cursor *cursor = tv_alloc(1, sizeof *cursor);
    cursor->trace = trace;
    cursor->track = track;
    cursor->first_row = trace->tracks[track].first_row;
    cursor->row_count = trace->tracks[track].row_count;
    cursor->rows = tv_alloc(cursor->row_count, sizeof *cursor->rows);
    return cursor;
}

void tv_call_cursor_free(struct tv_call_cursor *cursor)
{
    for (uint32_t i = 0; i < cursor->row_count; i++)
        tv_free(cursor->rows[i].ahead);
    tv_free(cursor->rows);
    tv_free(cursor);
}

/* Return the next slice at a depth, or NULL. */
static const struct tv_slice *call_cursor_peek(struct tv_call_cursor *cursor, uint32_t depth)
{
    if (depth >= cursor->row_count)
        return NULL;
    struct call_row_cursor *row = &cursor->rows[depth];
    uint32_t number = cursor->first_row + depth, count = cursor->trace->rows[number].count;
    if (row->next >= count)
        return NULL;
    if (row->next >= row->first + row->count) {
        /* A damaged trace may have as many rows as calls, so allocate for few slices. */
        if (!row->ahead)
            row->ahead = tv_alloc(count < AHEAD ? count : AHEAD, sizeof *row->ahead);
        row->first = row->next;
        row->count = count - row->next < AHEAD ? count - row->next : AHEAD;
        tv_slices_read(cursor->trace, number, row->first, row->count, row->ahead);
    }
    return &row->ahead[row->next - row->first];
}

/* Return the next child of the deepest open call, or NULL; at depth 0 the next call of the
 * track. */
static const struct tv_slice *call_cursor_next_child(struct tv_call_cursor *cursor)
{
    uint32_t depth = cursor->depth;
    const struct tv_slice *slice = call_cursor_peek(cursor, depth);
    if (depth == 0 || !slice)
        return slice;
    const struct call_row_cursor *parent = &cursor->rows[depth - 1];
    if (!(parent->open.flags & TV_SLICE_HAS_CHILDREN))
        return NULL;
    return parent->entered && (slice->flags & TV_SLICE_FIRST_CHILD) ? NULL : slice;
}

/* Make the entry or the exit of the open call at a depth. */
static void call_cursor_make_event(struct tv_call_cursor *cursor, uint32_t depth, bool exit,
                                   struct tv_call_event *event)
{
    struct call_row_cursor *row = &cursor->rows[depth];
    const struct tv_slice *slice = &row->open;
    assert(depth < cursor->row_count && row->next > 0);
    *event = (struct tv_call_event){
        .exit = exit,
        .track = cursor->track,
        .depth = depth,
        .row = cursor->first_row + depth,
        .index = row->next - 1,
        .time = slice->start + (exit ? slice->length : 0),
        .cpu = slice->cpu_start + (exit ? slice->cpu_length : 0),
        .slice = slice,
    };
}

/* Return the next event: enter the next call below the open one, or leave that. */
static bool call_cursor_next_unfiltered(struct tv_call_cursor *cursor, struct tv_call_event *event)
{
    const struct tv_slice *slice = call_cursor_next_child(cursor);
    if (!slice && cursor->depth == 0)
        return false;
    if (!slice) {
        call_cursor_make_event(cursor, --cursor->depth, true, event);
        return true;
    }
    struct call_row_cursor *row = &cursor->rows[cursor->depth];
    if (cursor->depth > 0)
        cursor->rows[cursor->depth - 1].entered = true;
    row->open = *slice;
    row->entered = false;
    row->next++;
    call_cursor_make_event(cursor, cursor->depth++, false, event);
    return true;
}

void tv_call_cursor_select(struct tv_call_cursor *cursor, const bool *frames)
{
    assert(cursor->depth == 0);
    cursor->frames = frames;
}

bool tv_call_cursor_next(struct tv_call_cursor *cursor, struct tv_call_event *event)
{
    const struct tv_path_node *nodes = cursor->trace->paths.nodes;
    while (call_cursor_next_unfiltered(cursor, event)) {
        if (!cursor->frames)
            return true;
        if (!cursor->frames[nodes[event->slice->path].frame])
            continue;
        assert(!event->exit || cursor->kept > 0);
        event->depth = event->exit ? --cursor->kept : cursor->kept++;
        return true;
    }
    return false;
}

/* ---- All tracks ---- */

/* A track in the heap, which is ordered by the next events. */
struct call_merge_track {
    struct tv_call_cursor *cursor;
    struct tv_call_event event;
};

struct tv_call_merge {
    struct call_merge_track *heap;
    uint32_t count;
    bool given; /* the event at the top of the heap has been returned */
};

static bool call_merge_is_before(const struct call_merge_track *a, const struct call_merge_track *b)
{
    if (a->event.time != b->event.time)
        return a->event.time < b->event.time;
    return a->event.track < b->event.track;
}

/* Restore the order of the heap below a track whose time has changed. */
static void call_merge_sift_down(struct tv_call_merge *merge, uint32_t at)
{
    for (;;) {
        uint32_t least = at, child = 2 * at + 1;
        for (uint32_t i = child; i < merge->count && i <= child + 1; i++) {
            if (call_merge_is_before(&merge->heap[i], &merge->heap[least]))
                least = i;
        }
        if (least == at)
            return;
        struct call_merge_track moved = merge->heap[at];
        merge->heap[at] = merge->heap[least];
        merge->heap[least] = moved;
        at = least;
    }
}

struct tv_call_merge *tv_call_merge_new(const struct tv_trace *trace)
{
    return tv_call_merge_new_selected(trace, NULL);
}

struct tv_call_merge *tv_call_merge_new_selected(const struct tv_trace *trace,
                                                 const struct tv_subset *keep)
{
    struct tv_call_merge *merge = tv_alloc(1, sizeof *merge);
    merge->heap = tv_alloc(trace->track_count, sizeof *merge->heap);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct call_merge_track *waiting = &merge->heap[merge->count];
        if (keep && keep->tracks && !keep->tracks[i])
            continue;
        waiting->cursor = tv_call_cursor_new(trace, i);
        tv_call_cursor_select(waiting->cursor, keep ? keep->frames : NULL);
        if (tv_call_cursor_next(waiting->cursor, &waiting->event))
            merge->count++;
        else
            tv_call_cursor_free(waiting->cursor);
    }
    for (uint32_t i = merge->count / 2; i-- > 0;)
        call_merge_sift_down(merge, i);
    return merge;
}

void tv_call_merge_free(struct tv_call_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++)
        tv_call_cursor_free(merge->heap[i].cursor);
    tv_free(merge->heap);
    tv_free(merge);
}

/* Advance the track of the last event. Only now may the event's slice become invalid. */
static void call_merge_advance(struct tv_call_merge *merge)
{
    struct call_merge_track *top = &merge->heap[0];
    assert(merge->count > 0);
    if (!tv_call_cursor_next(top->cursor, &top->event)) {
        tv_call_cursor_free(top->cursor);
        *top = merge->heap[--merge->count];
    }
    call_merge_sift_down(merge, 0);
}

bool tv_call_merge_next(struct tv_call_merge *merge, struct tv_call_event *event)
{
    if (merge->given)
        call_merge_advance(merge);
    merge->given = merge->count > 0;
    if (merge->count > 0)
        *event = merge->heap[0].event;
    return merge->count > 0;
}

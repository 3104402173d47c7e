/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - rows are sorted and siblings stand together, so that a track is walked with one place a
 * row: the children of a call are the next slices of the row below up to the next one that is a
 * first child.
 */
#include "writers/calls.h"

#include "base/memory.h"

/* Slices decoded at once; rows may be many, so that it is few. */
#define AHEAD 32u

struct row_cursor {
    struct tv_slice *ahead; /* [AHEAD], or NULL until the row is reached */
    uint32_t first, count;  /* of what is decoded */
    uint32_t next;          /* the slice to come */
    struct tv_slice open;   /* the one that is open */
    bool entered;           /* a child of it has been given out */
};

struct tv_call_cursor {
    const struct tv_trace *trace;
    uint32_t track, depth; /* open calls */
    uint32_t first_row, row_count;
    const bool *frames; /* wanted, or NULL */
    uint32_t kept;      /* open calls of those */
    struct row_cursor *rows;
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

/* The slice to come at a depth, or NULL. */
static const struct tv_slice *peek(struct tv_call_cursor *cursor, uint32_t depth)
{
    if (depth >= cursor->row_count)
        return NULL;
    struct row_cursor *row = &cursor->rows[depth];
    uint32_t number = cursor->first_row + depth, count = cursor->trace->rows[number].count;
    if (row->next >= count)
        return NULL;
    if (row->next >= row->first + row->count) {
        /* A damaged trace may have as many rows as calls. */
        if (!row->ahead)
            row->ahead = tv_alloc(count < AHEAD ? count : AHEAD, sizeof *row->ahead);
        row->first = row->next;
        row->count = count - row->next < AHEAD ? count - row->next : AHEAD;
        tv_slices_read(cursor->trace, number, row->first, row->count, row->ahead);
    }
    return &row->ahead[row->next - row->first];
}

/* The next child of the deepest open call, or NULL; at depth 0 the next call of the track. */
static const struct tv_slice *next_child(struct tv_call_cursor *cursor)
{
    uint32_t depth = cursor->depth;
    const struct tv_slice *slice = peek(cursor, depth);
    if (depth == 0 || !slice)
        return slice;
    const struct row_cursor *parent = &cursor->rows[depth - 1];
    if (!(parent->open.flags & TV_SLICE_HAS_CHILDREN))
        return NULL;
    return parent->entered && (slice->flags & TV_SLICE_FIRST_CHILD) ? NULL : slice;
}

static void give_out(struct tv_call_cursor *cursor, uint32_t depth, bool exit,
                     struct tv_call_event *event)
{
    struct row_cursor *row = &cursor->rows[depth];
    const struct tv_slice *slice = &row->open;
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

static bool next_of_all(struct tv_call_cursor *cursor, struct tv_call_event *event)
{
    const struct tv_slice *slice = next_child(cursor);
    if (!slice && cursor->depth == 0)
        return false;
    if (!slice) {
        give_out(cursor, --cursor->depth, true, event);
        return true;
    }
    struct row_cursor *row = &cursor->rows[cursor->depth];
    if (cursor->depth > 0)
        cursor->rows[cursor->depth - 1].entered = true;
    row->open = *slice;
    row->entered = false;
    row->next++;
    give_out(cursor, cursor->depth++, false, event);
    return true;
}

void tv_call_cursor_keep(struct tv_call_cursor *cursor, const bool *frames)
{
    cursor->frames = frames;
}

bool tv_call_cursor_next(struct tv_call_cursor *cursor, struct tv_call_event *event)
{
    const struct tv_path_node *nodes = cursor->trace->paths.nodes;
    while (next_of_all(cursor, event)) {
        if (!cursor->frames)
            return true;
        if (!cursor->frames[nodes[event->slice->path].frame])
            continue;
        event->depth = event->exit ? --cursor->kept : cursor->kept++;
        return true;
    }
    return false;
}

/* ---- All tracks ---- */

/* A heap of tracks by their next event. */
struct waiting {
    struct tv_call_cursor *cursor;
    struct tv_call_event event;
};

struct tv_call_merge {
    struct waiting *heap;
    uint32_t count;
    bool given; /* the top's event has been given out */
};

static bool is_before(const struct waiting *a, const struct waiting *b)
{
    if (a->event.time != b->event.time)
        return a->event.time < b->event.time;
    return a->event.track < b->event.track;
}

static void sift_down(struct tv_call_merge *merge, uint32_t at)
{
    for (;;) {
        uint32_t least = at, child = 2 * at + 1;
        for (uint32_t i = child; i < merge->count && i <= child + 1; i++) {
            if (is_before(&merge->heap[i], &merge->heap[least]))
                least = i;
        }
        if (least == at)
            return;
        struct waiting moved = merge->heap[at];
        merge->heap[at] = merge->heap[least];
        merge->heap[least] = moved;
        at = least;
    }
}

struct tv_call_merge *tv_call_merge_new(const struct tv_trace *trace)
{
    return tv_call_merge_kept(trace, NULL);
}

struct tv_call_merge *tv_call_merge_kept(const struct tv_trace *trace, const struct tv_subset *keep)
{
    struct tv_call_merge *merge = tv_alloc(1, sizeof *merge);
    merge->heap = tv_alloc(trace->track_count, sizeof *merge->heap);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct waiting *waiting = &merge->heap[merge->count];
        if (keep && keep->tracks && !keep->tracks[i])
            continue;
        waiting->cursor = tv_call_cursor_new(trace, i);
        tv_call_cursor_keep(waiting->cursor, keep ? keep->frames : NULL);
        if (tv_call_cursor_next(waiting->cursor, &waiting->event))
            merge->count++;
        else
            tv_call_cursor_free(waiting->cursor);
    }
    for (uint32_t i = merge->count / 2; i-- > 0;)
        sift_down(merge, i);
    return merge;
}

void tv_call_merge_free(struct tv_call_merge *merge)
{
    for (uint32_t i = 0; i < merge->count; i++)
        tv_call_cursor_free(merge->heap[i].cursor);
    tv_free(merge->heap);
    tv_free(merge);
}

/* Steps behind the event that was given out last: only then its slice may go. */
static void step(struct tv_call_merge *merge)
{
    struct waiting *top = &merge->heap[0];
    if (!tv_call_cursor_next(top->cursor, &top->event)) {
        tv_call_cursor_free(top->cursor);
        *top = merge->heap[--merge->count];
    }
    sift_down(merge, 0);
}

bool tv_call_merge_next(struct tv_call_merge *merge, struct tv_call_event *event)
{
    if (merge->given)
        step(merge);
    merge->given = merge->count > 0;
    if (merge->count > 0)
        *event = merge->heap[0].event;
    return merge->count > 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Display frames that a trace tells of as such, in slices of asynchronous tracks.
 *
 * Frame timeline (readers/perfetto/frame_timeline.c): slices named after a token, of the category
 * "frame.expected" or "frame.actual".  Actual slices of one process and token, one for each layer,
 * are one frame.  A frame is late when it ended after the expected one, unless Android itself says
 * that it finished on time: it allows for small deviations.
 *
 * Chromium's PipelineReporter: a slice for each frame, through all stages up to the screen.  Stages
 * of several frames overlap, so its length says nothing; its argument `state` does.
 */
#include <string.h>

#include "analysis/findings/display_internal.h"
#include "base/bytes.h"
#include "base/memory.h"

enum display_kind { NO_FRAME, EXPECTED, ACTUAL, PIPELINE };

/* A frame of the timeline in the making: what is known of a process and token. */
struct timeline_frame {
    tv_ns expected_end;
    bool expected;
    uint32_t frame; /* in search->list; TV_NONE: none yet */
};

struct timeline_search {
    struct tv_display_search *search;
    uint8_t *kinds; /* [frames] enum display_kind */
    struct timeline_frame *tokens;
    size_t capacity;
    struct tv_out event;
};

/* Return kinds[frame]; NULL: no frame has one. */
static uint8_t *timeline_kinds(const struct tv_trace_info *head)
{
    uint8_t *kinds = tv_alloc(head->frame_count, sizeof *kinds);
    uint32_t expected = tv_interner_find(head->strings, TV_BYTES("frame.expected"));
    uint32_t actual = tv_interner_find(head->strings, TV_BYTES("frame.actual"));
    uint32_t pipeline = tv_interner_find(head->strings, TV_BYTES("PipelineReporter"));
    bool any = false;
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        kinds[i] = frame->category == actual     ? ACTUAL
                   : frame->category == expected ? EXPECTED
                   : frame->name == pipeline     ? PIPELINE
                                                 : NO_FRAME;
        any = any || kinds[i] != NO_FRAME;
    }
    if (any)
        return kinds;
    tv_free(kinds);
    return NULL;
}

/* ---- Tokens ---- */

struct token_key {
    uint64_t token;
    uint64_t process;
};

static struct tv_bytes timeline_key(struct token_key *key, uint32_t process, uint64_t token)
{
    *key = (struct token_key){token, process};
    return (struct tv_bytes){(const uint8_t *)key, sizeof *key};
}

/* Return what is known of the token that names a slice of a process; NULL: the name is none. */
static struct timeline_frame *timeline_token(struct timeline_search *timeline, uint32_t process,
                                             uint32_t name)
{
    struct tv_interner *tokens = timeline->search->tokens;
    struct token_key key;
    uint64_t token;
    if (!tv_parse_u64(tv_trace_info_text(timeline->search->trace->head, name), &token))
        return NULL;
    uint32_t known = tv_interner_count(tokens);
    uint32_t number = tv_interner_add(tokens, timeline_key(&key, process, token));
    timeline->tokens = tv_array_reserve(timeline->tokens, &timeline->capacity, (size_t)number + 1,
                                        sizeof *timeline->tokens);
    if (number == known)
        timeline->tokens[number] = (struct timeline_frame){.frame = TV_NONE};
    return &timeline->tokens[number];
}

uint32_t tv_display_search_token(const struct tv_display_search *search, uint32_t process,
                                 uint64_t token)
{
    struct token_key key;
    uint32_t number = tv_interner_find(search->tokens, timeline_key(&key, process, token));
    return number == TV_NONE ? TV_NONE : search->by_token[number];
}

/* ---- Slices ---- */

/* Add a frame of one slice. NULL: there are too many. */
static struct tv_display_frame *timeline_add(struct timeline_search *timeline, uint32_t row,
                                             uint32_t index, const struct tv_slice *slice)
{
    const struct tv_trace *trace = timeline->search->trace;
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    struct tv_display_frame *frame = tv_display_search_add(timeline->search);
    if (!frame)
        return NULL;
    frame->start = slice->start;
    frame->length = slice->length;
    frame->deadline = TV_NO_DEADLINE;
    frame->source = TV_DEADLINE_STATED;
    frame->row = row;
    frame->index = index;
    frame->name = trace->paths.nodes[slice->path].frame;
    frame->process = track->process;
    frame->thread = track->thread;
    frame->unfinished = slice->flags & TV_SLICE_OPEN;
    return frame;
}

/* Add a layer to a frame: the slice that ends last stands for it. */
static void timeline_merge(struct tv_display_frame *frame, uint32_t row, uint32_t index,
                           const struct tv_slice *slice)
{
    tv_ns start = slice->start < frame->start ? slice->start : frame->start;
    tv_ns end = frame->start + frame->length;
    if (slice->start + slice->length > end) {
        end = slice->start + slice->length;
        frame->row = row;
        frame->index = index;
    }
    frame->unfinished = frame->unfinished || slice->flags & TV_SLICE_OPEN;
    frame->start = start;
    frame->length = end - start;
}

/* Take what really happened. A frame may have several slices, one for each layer. */
static void timeline_take_actual(struct timeline_search *timeline, uint32_t row, uint32_t index,
                                 const struct tv_slice *slice)
{
    const struct tv_trace *trace = timeline->search->trace;
    uint32_t process = trace->tracks[trace->rows[row].track].process;
    uint32_t name = tv_path_frame(trace, slice->path)->name;
    struct timeline_frame *known = timeline_token(timeline, process, name);
    if (known && known->frame != TV_NONE) {
        timeline_merge(&timeline->search->list[known->frame], row, index, slice);
        return;
    }
    uint32_t number = (uint32_t)timeline->search->count;
    struct tv_display_frame *frame = timeline_add(timeline, row, index, slice);
    if (known && frame)
        known->frame = number;
}

/* Take the expected end of a frame, which is its deadline. */
static void timeline_take_expected(struct timeline_search *timeline, uint32_t row,
                                   const struct tv_slice *slice)
{
    const struct tv_trace *trace = timeline->search->trace;
    uint32_t process = trace->tracks[trace->rows[row].track].process;
    struct timeline_frame *known =
        timeline_token(timeline, process, tv_path_frame(trace, slice->path)->name);
    if (!known || slice->flags & TV_SLICE_OPEN)
        return;
    known->expected = true;
    known->expected_end = slice->start + slice->length;
}

/* ---- What the events say ---- */

static void timeline_set_reason(struct timeline_search *timeline, struct tv_display_frame *frame,
                                struct tv_bytes reason)
{
    if (reason.length > 0)
        frame->reason = tv_interner_add(timeline->search->reasons, reason);
}

/* A frame is late if the main thread's part, or all of it, never came to the screen in time. */
static void timeline_take_pipeline(struct timeline_search *timeline, uint32_t row, uint32_t index,
                                   const struct tv_slice *slice)
{
    struct tv_display_frame *frame = timeline_add(timeline, row, index, slice);
    if (!frame)
        return;
    tv_display_read_event(timeline->search->trace, row, index, &timeline->event);
    struct tv_bytes state = tv_display_argument(&timeline->event, "state");
    if (tv_bytes_equal(state, TV_BYTES("STATE_DROPPED"))) {
        frame->late = true;
        timeline_set_reason(timeline, frame, TV_BYTES("dropped"));
    } else if (tv_bytes_equal(state, TV_BYTES("STATE_PRESENTED_PARTIAL"))) {
        frame->late = true;
        timeline_set_reason(timeline, frame, TV_BYTES("presented in part"));
    }
}

/* Judge a frame.  One that was not seen to end may have been dropped. */
static void timeline_judge(struct timeline_search *timeline, const struct timeline_frame *known)
{
    struct tv_display_frame *frame = &timeline->search->list[known->frame];
    if (known->expected) {
        frame->deadline = known->expected_end - frame->start;
        frame->source = TV_DEADLINE_TIMELINE;
    }
    if (frame->unfinished || (known->expected && frame->length <= frame->deadline))
        return;
    tv_display_read_event(timeline->search->trace, frame->row, frame->index, &timeline->event);
    struct tv_bytes on_time = tv_display_argument(&timeline->event, "On time finish");
    frame->late = known->expected ? !tv_bytes_equal(on_time, TV_BYTES("true"))
                                  : tv_bytes_equal(on_time, TV_BYTES("false"));
    if (frame->late)
        timeline_set_reason(timeline, frame, tv_display_argument(&timeline->event, "Jank type"));
}

/* ---- Tracks ---- */

/* Take the slices of a row whose names say that they are about frames. */
static void timeline_take_row(struct timeline_search *timeline, uint32_t row)
{
    const struct tv_trace *trace = timeline->search->trace;
    const uint32_t *path = tv_row_columns(trace, row)->path + trace->rows[row].first;
    for (uint32_t i = 0; i < trace->rows[row].count; i++) {
        uint8_t kind = timeline->kinds[trace->paths.nodes[path[i]].frame];
        if (TV_LIKELY(kind == NO_FRAME))
            continue;
        struct tv_slice slice = tv_slice_get(trace, row, i);
        if (kind == EXPECTED)
            timeline_take_expected(timeline, row, &slice);
        else if (kind == ACTUAL)
            timeline_take_actual(timeline, row, i, &slice);
        else
            timeline_take_pipeline(timeline, row, i, &slice);
    }
}

/* Judge the frames, and note them by the number of their token. */
static void timeline_finish(struct timeline_search *timeline)
{
    struct tv_display_search *search = timeline->search;
    uint32_t count = tv_interner_count(search->tokens);
    search->by_token = tv_alloc(count, sizeof *search->by_token);
    search->by_token[TV_EMPTY_STRING] = TV_NONE;
    for (uint32_t i = TV_EMPTY_STRING + 1; i < count; i++) {
        search->by_token[i] = timeline->tokens[i].frame;
        if (search->by_token[i] != TV_NONE)
            timeline_judge(timeline, &timeline->tokens[i]);
    }
}

void tv_display_search_timeline(struct tv_display_search *search)
{
    const struct tv_trace *trace = search->trace;
    struct timeline_search timeline = {.search = search, .kinds = timeline_kinds(trace->head)};
    if (!timeline.kinds)
        return;
    tv_out_init_memory(&timeline.event);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_ASYNC || !search->wanted[i])
            continue;
        for (uint32_t row = track->first_row; row < track->first_row + track->row_count; row++)
            timeline_take_row(&timeline, row);
    }
    timeline_finish(&timeline);
    tv_out_release(&timeline.event);
    tv_free(timeline.kinds);
    tv_free(timeline.tokens);
}

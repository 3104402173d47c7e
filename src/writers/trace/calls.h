/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the entries and exits of a finished trace in order of time: of one track, or of all
 * tracks.
 */
#ifndef TV_WRITERS_CALLS_H
#define TV_WRITERS_CALLS_H

#include "analysis/subset/subset.h"

struct tv_call_event {
    bool exit;
    uint32_t track, row, index;
    uint32_t depth; /* among the returned calls */
    tv_ns time;     /* on the trace's axis */
    tv_ns cpu;
    const struct tv_slice *slice; /* the call; valid until the next step */
};

/* Walks over the calls of one track. */
struct tv_call_cursor;
struct tv_call_cursor *tv_call_cursor_new(const struct tv_trace *trace, uint32_t track);
void tv_call_cursor_free(struct tv_call_cursor *cursor);

/* Return calls of the selected frames only, with the depth among them; NULL: all frames. Call
 * this before the first event; the array must outlive the cursor. */
void tv_call_cursor_select(struct tv_call_cursor *cursor, const bool *frames);

/* Return the next event of the track; false after the last. */
bool tv_call_cursor_next(struct tv_call_cursor *cursor, struct tv_call_event *event);

/* Walks over all tracks in order of time. At equal times the lower track comes first. */
struct tv_call_merge;
struct tv_call_merge *tv_call_merge_new(const struct tv_trace *trace);
/* As above, for the selected tracks and frames; NULL: all. */
struct tv_call_merge *tv_call_merge_new_selected(const struct tv_trace *trace,
                                                 const struct tv_subset *keep);
void tv_call_merge_free(struct tv_call_merge *merge);

/* Return the next event of the trace; false after the last. */
bool tv_call_merge_next(struct tv_call_merge *merge, struct tv_call_event *event);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the entries and exits of a finished trace, one after the other: of one track, or of all
 * tracks in the order of time.
 */
#ifndef TV_WRITERS_CALLS_H
#define TV_WRITERS_CALLS_H

#include "analysis/subset/subset.h"

struct tv_call_event {
    bool exit;
    uint32_t track, row, index;
    uint32_t depth; /* among the calls that are given out */
    tv_ns time;     /* on the trace's axis */
    tv_ns cpu;
    const struct tv_slice *slice; /* the call; valid until the next step */
};

/* Walks one track. */
struct tv_call_cursor;
struct tv_call_cursor *tv_call_cursor_new(const struct tv_trace *trace, uint32_t track);
void tv_call_cursor_free(struct tv_call_cursor *cursor);

/* From the beginning on, calls of unwanted frames are passed over, not what they called; NULL:
 * none is.  The array must live as long. */
void tv_call_cursor_keep(struct tv_call_cursor *cursor, const bool *frames);

/* The next event of the track; false after the last. */
bool tv_call_cursor_next(struct tv_call_cursor *cursor, struct tv_call_event *event);

/* Walks all tracks: earlier events first, at equal times those of the earlier track. */
struct tv_call_merge;
struct tv_call_merge *tv_call_merge_new(const struct tv_trace *trace);
/* Of the wanted tracks and frames alone; NULL: of all. */
struct tv_call_merge *tv_call_merge_kept(const struct tv_trace *trace, const struct tv_subset *keep);
void tv_call_merge_free(struct tv_call_merge *merge);

/* The next event of the trace; false after the last. */
bool tv_call_merge_next(struct tv_call_merge *merge, struct tv_call_event *event);

#endif

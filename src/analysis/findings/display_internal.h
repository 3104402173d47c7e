/* SPDX-License-Identifier: Apache-2.0 */
/* display_internal.h - what the files of display_frames.h share. */
#ifndef TV_ANALYSIS_FINDINGS_DISPLAY_INTERNAL_H
#define TV_ANALYSIS_FINDINGS_DISPLAY_INTERNAL_H

#include "analysis/findings/display_frames.h"
#include "base/map.h"
#include "base/out.h"

/* Frames while they are being found. */
struct tv_display_search {
    const struct tv_trace *trace;
    const bool *wanted; /* [tracks] */
    struct tv_display_frame *list;
    size_t count, capacity;
    struct tv_display_part *parts;
    size_t part_count, part_capacity;
    /* Frames of the timeline by process and token: number of the key -> frame (TV_NONE: none). */
    struct tv_interner *tokens;
    uint32_t *by_token;
    struct tv_interner *reasons;
};

/* Append a frame and return it; it is valid until the next call.  NULL: there are too many. */
struct tv_display_frame *tv_display_search_add(struct tv_display_search *search);

/* Add the frames of timelines and pipelines. */
void tv_display_search_timeline(struct tv_display_search *search);

/* Return the frame of the timeline with this token in a process; TV_NONE: none. */
uint32_t tv_display_search_token(const struct tv_display_search *search, uint32_t process,
                                 uint64_t token);

/* Return intervals[input], of a trace that is no subset: a filter hides the events that tell them.
 * Free them with tv_free. */
struct tv_display_interval *tv_display_intervals_of(const struct tv_trace *trace);

/* ---- Arguments, read from the file again ---- */

/* Read the description of a slice's event into `room` again; empty if there is none. */
void tv_display_read_event(const struct tv_trace *trace, uint32_t row, uint32_t index,
                           struct tv_out *room);

/* Find the value of the first member with this key in a description, at any depth; data NULL: none.
 */
struct tv_bytes tv_display_argument(const struct tv_out *event, const char *key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_search.h - find the calls of one frame, or of a set of frames, by scanning the path columns,
 * at the speed of memory.
 *
 * The path tree tells at which depths the frames occur at all; other rows are skipped.
 */
#ifndef TV_ANALYSIS_SEARCH_CALL_SEARCH_H
#define TV_ANALYSIS_SEARCH_CALL_SEARCH_H

#include "analysis/calltree/call_tree.h"
#include "model/trace.h"

struct tv_call_search {
    const struct tv_trace *trace;
    uint64_t *nodes; /* bit set of paths: 1 if the path's frame is sought */
    bool *depths;    /* [depth_count] true if a frame sought occurs at that depth */
    uint32_t depth_count;
};

/* A frame that is not in the trace occurs nowhere. */
void tv_call_search_init(struct tv_call_search *search, const struct tv_trace *trace,
                         uint32_t frame);
/* Search for the frames whose byte in `frames` ([frame_count] of the trace) is not 0. */
void tv_call_search_init_frames(struct tv_call_search *search, const struct tv_trace *trace,
                                const uint8_t *frames);
void tv_call_search_release(struct tv_call_search *search);

/* Return true if a row may hold calls of the frame. */
bool tv_call_search_has_row(const struct tv_call_search *search, uint32_t row);

/* Return the first call of the frame in [first, end) of a row, or `end`. */
uint32_t tv_call_search_next(const struct tv_call_search *search, uint32_t row, uint32_t first,
                             uint32_t end);

/* Count the calls of the frame in [first, end) of a row. */
uint32_t tv_call_search_count(const struct tv_call_search *search, uint32_t row, uint32_t first,
                              uint32_t end);

/* Find the next call that starts after `time`, or the last one that starts before it if direction
 * < 0, in the tracks of `wanted` (see tv_selection_wanted).  Ties are broken by row.  Return false
 * if there is none. */
bool tv_call_search_step(const struct tv_call_search *search, const bool *wanted, tv_ns time,
                         int direction, uint32_t *row, uint32_t *index);

/* A place in the order of all calls: by start, then by row, then by index. */
struct tv_call_place {
    tv_ns start;
    uint32_t row, index;
};

/* Find the next call after a place, or the last one before it if direction < 0, in the tracks of
 * `wanted`.  The place need not be a call's.  Unlike tv_call_search_step, this visits every one of
 * the calls that start at the same time.  Return false if there is none. */
bool tv_call_search_next_place(const struct tv_call_search *search, const bool *wanted,
                               const struct tv_call_place *from, int direction,
                               struct tv_call_place *found);

/* Return the number of calls at or before a place, in the tracks of `wanted`; *of: of all calls. */
uint64_t tv_call_search_count_places(const struct tv_call_search *search, const bool *wanted,
                                     const struct tv_call_place *place, uint64_t *of);

/* Return the rank of a call among the frame's calls in its track, from 1, by start and row; *of:
 * how many there are. */
uint64_t tv_call_search_rank(const struct tv_call_search *search, uint32_t row, uint32_t index,
                             uint64_t *of);

/* ---- Extents ----
 *
 * Places of the calls of one frame in each track; neighbours nearer than a pixel are
 * joined.
 */

struct tv_extent {
    tv_ns start, end;
};

struct tv_track_extents {
    uint32_t count;
    size_t capacity;
    struct tv_extent *list; /* by start; at least a pixel apart */
};

struct tv_extents {
    uint32_t track_count;
    struct tv_track_extents *tracks; /* by track of the trace */
};

/* Find the calls that overlap the selection's range, unclipped.  A pixel is `pixel` nanoseconds
 * (at least 1); `workers` threads share the work (0: one per processor). */
struct tv_extents *tv_extents_of(const struct tv_trace *trace, uint32_t frame,
                                 const struct tv_selection *selection, tv_ns pixel,
                                 unsigned workers);
void tv_extents_free(struct tv_extents *extents);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the calls of one frame, found by reading path columns at the speed of memory.
 *
 * The path tree tells in which depths a frame occurs at all; other rows are not looked at.
 */
#ifndef TV_ANALYSIS_SEARCH_H
#define TV_ANALYSIS_SEARCH_H

#include "model/trace.h"

struct tv_search {
    const struct tv_trace *trace;
    uint64_t *nodes; /* a bit for each path: whether its frame is the one sought */
    bool *depths;    /* [depth_count] whether it occurs there */
    uint32_t depth_count;
};

/* A frame that is none of the trace occurs nowhere. */
void tv_search_init(struct tv_search *search, const struct tv_trace *trace, uint32_t frame);
void tv_search_release(struct tv_search *search);

/* Whether a row may hold calls of the frame. */
bool tv_search_in_row(const struct tv_search *search, uint32_t row);

/* The first call of the frame in [first, end) of a row, or `end`. */
uint32_t tv_search_next(const struct tv_search *search, uint32_t row, uint32_t first, uint32_t end);

/* How many there are in [first, end). */
uint32_t tv_search_count(const struct tv_search *search, uint32_t row, uint32_t first,
                         uint32_t end);

/* The next call that starts after `time`, or with direction below 0 the last that starts before it,
 * in the wanted tracks (as of tv_selection_wanted); ties by row. False when there is none. */
bool tv_search_step(const struct tv_search *search, const bool *wanted, tv_ns time, int direction,
                    uint32_t *row, uint32_t *index);

/* Which of the calls of the frame in its track a call is, from 1, by start and row; *of: of how
 * many. */
uint64_t tv_search_place(const struct tv_search *search, uint32_t row, uint32_t index,
                         uint64_t *of);

#endif

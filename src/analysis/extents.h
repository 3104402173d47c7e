/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extents.h - where in each track the calls of one frame lie, those nearer than a pixel joined.
 */
#ifndef TV_ANALYSIS_EXTENTS_H
#define TV_ANALYSIS_EXTENTS_H

#include "analysis/calltree/call_tree.h"

struct tv_extent {
    tv_ns start, end;
};

struct tv_track_extents {
    uint32_t count;
    size_t capacity;
    struct tv_extent *list; /* by start; apart by a pixel or more */
};

struct tv_extents {
    uint32_t track_count;
    struct tv_track_extents *tracks; /* of each track of the trace */
};

/* The calls that overlap the selection's range, whole; `pixel` nanoseconds are a pixel (at least
 * 1). `workers` threads share the work (0: one a processor). */
struct tv_extents *tv_extents_of(const struct tv_trace *trace, uint32_t frame,
                                 const struct tv_selection *selection, tv_ns pixel,
                                 unsigned workers);
void tv_extents_free(struct tv_extents *extents);

#endif

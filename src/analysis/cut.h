/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - from a trace the trace of a selection: a range, and what of it is wanted (keep.h).
 *
 * Slices are those that a profile of the selection counts, cut to the range in whole ticks, so that
 * a profile of the whole new trace is that of the selection.  What has one time is kept when that
 * lies in the range; of counters and snapshots also what holds where it begins.  Arrows stay when
 * both of their ends do.
 */
#ifndef TV_ANALYSIS_CUT_H
#define TV_ANALYSIS_CUT_H

#include "analysis/keep.h"

struct tv_cut {
    const struct tv_keep *keep;
    tv_ns from, to;   /* as in struct tv_selection */
    bool tracks_only; /* nothing but what belongs to the tracks to keep: no counters of theirs
                       * processes and the like */
};

/* Whether that is everything; then there is nothing to cut. */
bool tv_cut_is_all(const struct tv_trace *trace, const struct tv_cut *cut);

/* The range within the trace; false: all times are in it. */
bool tv_cut_range(const struct tv_trace *trace, const struct tv_cut *cut, tv_ns *from, tv_ns *to);

/* Arrows that are left out although one of their ends is kept. */
uint64_t tv_cut_lost_flows(const struct tv_trace *trace, const struct tv_cut *cut);

/* The trace must live as long as the new one, which has its axis. */
struct tv_trace *tv_cut_trace(const struct tv_trace *trace, const struct tv_cut *cut);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - from a trace and a filter the trace of what the filter wants (docs/filter.md).
 *
 * Each term is asked of all that has such a field, and all of them must hold.  Slices have all
 * fields; the time of a hidden one becomes self time of the nearest shown one around it.
 */
#ifndef TV_ANALYSIS_FILTER_H
#define TV_ANALYSIS_FILTER_H

#include "analysis/filter_text.h"
#include "model/subset/subset.h"

/* Terms about arguments read the events of the trace's files again. The trace must live as long as
 * the new one, see tv_trace_take_over. */
struct tv_trace *tv_filter_trace(const struct tv_trace *trace, const struct tv_filter *filter);

/* Whether a track of one trace is that of another, when both are made of one. */
bool tv_filter_same_track(const struct tv_track *a, const struct tv_track *b);

/* Which slice of a trace is this one of another, when both are made of one, or are one: same track,
 * start, length and frame, the n-th of those from the outside.  False: it has none. */
bool tv_filter_same_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                          const struct tv_trace *other, uint32_t *other_row, uint32_t *other_index);

#endif

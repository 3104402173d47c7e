/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense.h - the part of the axis that holds nearly all events.
 *
 * A stray event, such as a clock snapshot of the start of the machine, can make a trace a thousand
 * times longer than its data.  The viewer opens such a trace on its data.
 */
#ifndef TV_ANALYSIS_TIMELINE_DENSE_H
#define TV_ANALYSIS_TIMELINE_DENSE_H

#include "model/trace.h"

/* At least 99 of 100 events begin in the part, and it is at most a quarter of the trace. */
#define TV_DENSE_PERCENT 99u
#define TV_DENSE_SHARE 4

struct tv_dense {
    tv_ns from, to;
    uint64_t before, after; /* number of events that begin outside of it */
};

/* Find the shortest such part, to about 1/256 of its length, and grow it over events nearby. Events
 * are slices (except states of threads, which follow from others), instants, samples and samples of
 * counters, each at its start. Return false if there is no such part: the whole trace is worth
 * showing. */
bool tv_trace_find_dense(const struct tv_trace *trace, struct tv_dense *dense);

#endif

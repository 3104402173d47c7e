/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_index.h - ways into a trace's flows, so that a million of them answer at once: by the slice
 * at either end, by the time they span, by category.
 *
 * Made when somebody first asks for flows, 28 bytes a flow.
 */
#ifndef TV_VIEW_FLOW_INDEX_H
#define TV_VIEW_FLOW_INDEX_H

#include "base/map.h"
#include "base/workers.h"
#include "model/trace.h"

#define TV_FLOW_LEVELS 4

/* A flow of several categories ("a,b") counts in each. */
struct tv_flow_category {
    struct tv_bytes name;
    uint64_t count;
};

struct tv_flow_index {
    const struct tv_trace *trace;
    struct tv_lock lock;
    bool made;
    uint32_t count;
    uint32_t *by_from, *by_to; /* numbers of flows, by row and index of that end */
    uint32_t *by_start;        /* by the earlier of their two times */
    tv_ns *start;              /* those times */
    /* The later times, in the order of by_start: of each, then the greatest of 64, of 64 * 64 ...
     */
    tv_ns *latest[TV_FLOW_LEVELS];
    struct tv_interner *names;
    struct tv_flow_category *categories; /* by first use */
    uint32_t category_count;
};

struct tv_flow_index *tv_flow_index_new(const struct tv_trace *trace);
void tv_flow_index_free(struct tv_flow_index *index);

/* Makes what is not made yet; any number of threads may ask. */
const struct tv_flow_index *tv_flow_index_get(struct tv_flow_index *index);

/* The place in by_to (arriving) or by_from of the first flow at a slice. */
uint32_t tv_flow_index_at(const struct tv_flow_index *index, bool arriving, uint32_t row,
                          uint32_t slice);

/* The two times of a flow on the trace's axis. */
static inline tv_ns tv_flow_from(const struct tv_trace *trace, const struct tv_flow *flow)
{
    return tv_trace_time(trace, flow->input, flow->from.time);
}

static inline tv_ns tv_flow_to(const struct tv_trace *trace, const struct tv_flow *flow)
{
    return tv_trace_time(trace, flow->input, flow->to.time);
}

/* Flows that touch [from, to), by start: begin with `next` 0. TV_NONE: no more. */
struct tv_flow_walk {
    const struct tv_flow_index *index;
    tv_ns from, to;
    uint32_t next;
};
uint32_t tv_flow_walk_next(struct tv_flow_walk *walk);

/* One category after the other of a list with commas, as numbers of index->categories. */
bool tv_flow_index_category(const struct tv_flow_index *index, struct tv_bytes *list,
                            uint32_t *category);

#endif

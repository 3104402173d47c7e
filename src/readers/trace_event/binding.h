/* SPDX-License-Identifier: Apache-2.0 */
/*
 * binding.h - which slice or instant of a thread a flow event means: the one around its time,
 * or the next.
 *
 * Asked in the order of time, each thread is gone through once, whatever the number of queries
 * and however deep its slices are.
 */
#ifndef TV_READERS_TRACE_EVENT_BINDING_H
#define TV_READERS_TRACE_EVENT_BINDING_H

#include "model/assembly.h"
#include "readers/trace_event/flow_events.h"

/* Events of which some ask, of the threads that they are of.  The answer is a slice, or, row
 * TV_NONE, an instant, `index` in the table; or TV_NONE: nothing. */
struct tv_te_binding_queries {
    struct tv_te_flow_event *rows;
    const uint32_t *order; /* their numbers in the order of time */
    size_t count;
    int64_t shift; /* from the file's clock to the trace's axis */
};

/* Answers; several threads are worked on side by side.
 *
 * around  the deepest slice with start <= time <= end; at a shared boundary the earlier one
 * next    the first slice, at any depth, that starts after the time; or at it, when its event
 *         stands behind `offset` in the file */
void tv_te_flows_bind(const struct tv_assembly *assembly, const struct tv_trace *trace,
                const struct tv_te_binding_queries *queries, unsigned workers);

/* Then puts instants of the threads where they are meant.
 *
 * around  the last one at the time, where there is no slice
 * next    the first one, when it comes before the slice that was found */
void tv_te_flows_bind_instants(const struct tv_trace *trace, uint32_t input,
                         const struct tv_te_binding_queries *queries);

#endif

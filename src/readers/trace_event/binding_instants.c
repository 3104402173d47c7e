/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow events that mean an instant.  Trace Viewer keeps the instants of a thread among its slices,
 * as slices of no length; here they are a table, which is sorted by thread when a query needs
 * it.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "readers/trace_event/binding.h"

struct te_thread_instant {
    uint32_t thread, number;
    tv_ns time; /* on the trace's axis */
    uint64_t offset;
};

struct te_thread_instants {
    struct te_thread_instant *rows;
    size_t count;
};

static int te_instants_compare(const void *left, const void *right)
{
    const struct te_thread_instant *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct te_thread_instants te_instants_collect(const struct tv_trace *trace, uint32_t input)
{
    size_t count = trace->tables.instants.count;
    struct te_thread_instants instants = {tv_alloc(count, sizeof *instants.rows), 0};
    for (size_t i = 0; i < count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->input == input && instant->scope == TV_SCOPE_THREAD)
            instants.rows[instants.count++] =
                (struct te_thread_instant){instant->of, (uint32_t)i, tv_trace_time(trace, input, instant->time),
                              instant->offset};
    }
    if (instants.count > 0)
        qsort(instants.rows, instants.count, sizeof *instants.rows, te_instants_compare);
    return instants;
}

/* The first instant that is not before `wanted`. */
static size_t te_instants_lower_bound(const struct te_thread_instants *instants, const struct te_thread_instant *wanted)
{
    size_t low = 0, count = instants->count;
    while (count > 0) {
        size_t half = count / 2;
        if (te_instants_compare(&instants->rows[low + half], wanted) < 0) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Of several at one time the last, which Trace Viewer nests in the others. */
static const struct te_thread_instant *te_instants_find_at(const struct te_thread_instants *instants, tv_ns time,
                                  const struct tv_te_flow_event *query)
{
    struct te_thread_instant behind = {query->of, 0, time, UINT64_MAX};
    size_t i = te_instants_lower_bound(instants, &behind);
    if (i == 0 || instants->rows[i - 1].thread != query->of || instants->rows[i - 1].time != time)
        return NULL;
    return &instants->rows[i - 1];
}

static const struct te_thread_instant *te_instants_find_next(const struct te_thread_instants *instants, tv_ns time,
                                      const struct tv_te_flow_event *query)
{
    struct te_thread_instant wanted = {query->of, 0, time, query->offset};
    size_t i = te_instants_lower_bound(instants, &wanted);
    return i < instants->count && instants->rows[i].thread == query->of ? &instants->rows[i] : NULL;
}

static bool te_binding_wants_instant(const struct tv_te_flow_event *query)
{
    return query->asks && (query->next || query->row == TV_NONE);
}

static void te_binding_answer_instant(const struct tv_trace *trace, const struct te_thread_instants *instants, tv_ns time,
                   struct tv_te_flow_event *query)
{
    const struct te_thread_instant *instant =
        query->next ? te_instants_find_next(instants, time, query) : te_instants_find_at(instants, time, query);
    if (instant == NULL)
        return;
    if (query->row != TV_NONE &&
        tv_slice_start(trace, query->row, query->index) <= instant->time)
        return;
    query->row = TV_NONE;
    query->index = instant->number;
}

void tv_te_flows_bind_instants(const struct tv_trace *trace, uint32_t input,
                         const struct tv_te_binding_queries *queries)
{
    struct te_thread_instants instants = {0};
    struct tv_te_flow_event *rows = queries->rows;
    size_t i = 0;
    while (i < queries->count && !te_binding_wants_instant(&rows[i]))
        i++;
    if (i < queries->count)
        instants = te_instants_collect(trace, input);
    for (; i < queries->count && instants.count > 0; i++)
        if (te_binding_wants_instant(&rows[i]))
            te_binding_answer_instant(trace, &instants, rows[i].time + queries->shift, &rows[i]);
    tv_free(instants.rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow events that mean an instant.  Trace Viewer keeps the instants of a thread among its slices,
 * as slices of no length; here they are a table, which is sorted by thread when a question needs
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
    struct te_thread_instants marks = {tv_alloc(count, sizeof *marks.rows), 0};
    for (size_t i = 0; i < count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->input == input && instant->scope == TV_SCOPE_THREAD)
            marks.rows[marks.count++] =
                (struct te_thread_instant){instant->of, (uint32_t)i, tv_trace_time(trace, input, instant->time),
                              instant->offset};
    }
    if (marks.count > 0)
        qsort(marks.rows, marks.count, sizeof *marks.rows, te_instants_compare);
    return marks;
}

/* The first mark that is not before `wanted`. */
static size_t te_instants_lower_bound(const struct te_thread_instants *marks, const struct te_thread_instant *wanted)
{
    size_t low = 0, count = marks->count;
    while (count > 0) {
        size_t half = count / 2;
        if (te_instants_compare(&marks->rows[low + half], wanted) < 0) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Of several at one time the last, which Trace Viewer nests in the others. */
static const struct te_thread_instant *te_instants_find_at(const struct te_thread_instants *marks, tv_ns time,
                                  const struct tv_te_flow_event *question)
{
    struct te_thread_instant behind = {question->of, 0, time, UINT64_MAX};
    size_t i = te_instants_lower_bound(marks, &behind);
    if (i == 0 || marks->rows[i - 1].thread != question->of || marks->rows[i - 1].time != time)
        return NULL;
    return &marks->rows[i - 1];
}

static const struct te_thread_instant *te_instants_find_next(const struct te_thread_instants *marks, tv_ns time,
                                      const struct tv_te_flow_event *question)
{
    struct te_thread_instant wanted = {question->of, 0, time, question->offset};
    size_t i = te_instants_lower_bound(marks, &wanted);
    return i < marks->count && marks->rows[i].thread == question->of ? &marks->rows[i] : NULL;
}

static bool te_binding_wants_instant(const struct tv_te_flow_event *question)
{
    return question->asks && (question->next || question->row == TV_NONE);
}

static void te_binding_answer_instant(const struct tv_trace *trace, const struct te_thread_instants *marks, tv_ns time,
                   struct tv_te_flow_event *question)
{
    const struct te_thread_instant *mark =
        question->next ? te_instants_find_next(marks, time, question) : te_instants_find_at(marks, time, question);
    if (mark == NULL)
        return;
    if (question->row != TV_NONE &&
        tv_slice_start(trace, question->row, question->index) <= mark->time)
        return;
    question->row = TV_NONE;
    question->index = mark->number;
}

void tv_te_bind_instants(const struct tv_trace *trace, uint32_t input,
                         const struct tv_te_questions *questions)
{
    struct te_thread_instants marks = {0};
    struct tv_te_flow_event *rows = questions->rows;
    size_t i = 0;
    while (i < questions->count && !te_binding_wants_instant(&rows[i]))
        i++;
    if (i < questions->count)
        marks = te_instants_collect(trace, input);
    for (; i < questions->count && marks.count > 0; i++)
        if (te_binding_wants_instant(&rows[i]))
            te_binding_answer_instant(trace, &marks, rows[i].time + questions->shift, &rows[i]);
    tv_free(marks.rows);
}

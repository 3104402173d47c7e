/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flow events that mean an instant.  Trace Viewer keeps the instants of a thread among its slices,
 * as slices of no length; here they are a table, which is sorted by thread when a question needs
 * it.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "readers/trace_event/binding.h"

struct mark {
    uint32_t thread, number;
    tv_ns time; /* on the trace's axis */
    uint64_t offset;
};

struct marks {
    struct mark *rows;
    size_t count;
};

static int compare_marks(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct marks find_marks(const struct tv_trace *trace, uint32_t input)
{
    size_t count = trace->tables.instants.count;
    struct marks marks = {tv_alloc(count, sizeof *marks.rows), 0};
    for (size_t i = 0; i < count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->input == input && instant->scope == TV_SCOPE_THREAD)
            marks.rows[marks.count++] =
                (struct mark){instant->of, (uint32_t)i, tv_trace_time(trace, input, instant->time),
                              instant->offset};
    }
    if (marks.count > 0)
        qsort(marks.rows, marks.count, sizeof *marks.rows, compare_marks);
    return marks;
}

/* The first mark that is not before `wanted`. */
static size_t find_first(const struct marks *marks, const struct mark *wanted)
{
    size_t low = 0, count = marks->count;
    while (count > 0) {
        size_t half = count / 2;
        if (compare_marks(&marks->rows[low + half], wanted) < 0) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* Of several at one time the last, which Trace Viewer nests in the others. */
static const struct mark *mark_at(const struct marks *marks, tv_ns time,
                                  const struct tv_te_flow_event *question)
{
    struct mark behind = {question->of, 0, time, UINT64_MAX};
    size_t i = find_first(marks, &behind);
    if (i == 0 || marks->rows[i - 1].thread != question->of || marks->rows[i - 1].time != time)
        return NULL;
    return &marks->rows[i - 1];
}

static const struct mark *mark_behind(const struct marks *marks, tv_ns time,
                                      const struct tv_te_flow_event *question)
{
    struct mark wanted = {question->of, 0, time, question->offset};
    size_t i = find_first(marks, &wanted);
    return i < marks->count && marks->rows[i].thread == question->of ? &marks->rows[i] : NULL;
}

static bool needs_instant(const struct tv_te_flow_event *question)
{
    return question->asks && (question->next || question->row == TV_NONE);
}

static void answer(const struct tv_trace *trace, const struct marks *marks, tv_ns time,
                   struct tv_te_flow_event *question)
{
    const struct mark *mark =
        question->next ? mark_behind(marks, time, question) : mark_at(marks, time, question);
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
    struct marks marks = {0};
    struct tv_te_flow_event *rows = questions->rows;
    size_t i = 0;
    while (i < questions->count && !needs_instant(&rows[i]))
        i++;
    if (i < questions->count)
        marks = find_marks(trace, input);
    for (; i < questions->count && marks.count > 0; i++)
        if (needs_instant(&rows[i]))
            answer(trace, &marks, rows[i].time + questions->shift, &rows[i]);
    tv_free(marks.rows);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_chart.c - stacks over time.
 *
 * One pass over the samples finds the longest time that a sample of each thread may last, and one
 * pass for each grain draws.  A thread has a pending bar, the samples of one pixel, and open boxes,
 * one for each depth; a bar that follows without a gap extends the boxes whose call path it shares.
 * So the work on stacks grows with the pixels of a thread, not with its samples.
 *
 *     pixel      5    5    6         9
 *     samples    a>b  a>c  a>c       a>c
 *     bars       [a>b or a>c][a>c]   [a>c]     the longer sample of pixel 5 is shown
 *     boxes      a: 5..6             a: 9      a gap ends all boxes
 *
 * If there are more boxes than a page can show, the grain doubles and everything is drawn again:
 * pixels that are two, four, ... wide have fewer bars.  A stack may be thousands of frames deep, so
 * the frames that are visited are counted as well, and beyond a limit bars are left out.
 */
#include "analysis/timeline/sample_chart.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

#define GRAIN_MAX 64u

/* Limit on the frames that are visited: stacks may be thousands deep. */
#define STEP_LIMIT ((uint64_t)1 << 26)

/* The samples of a pixel. */
struct chart_bar {
    tv_ns start, end;
    int64_t pixel;
    tv_ns longest; /* duration of the sample whose stack is shown */
    uint32_t path;
    uint32_t samples; /* 0: there is no bar */
    size_t first;
};

struct chart_open {
    uint32_t node; /* of the path tree */
    uint32_t box;  /* index; TV_NONE: left out */
};

struct chart_thread {
    size_t last; /* row + 1 of the sample that waits for the next one; 0: none */
    tv_ns most;  /* that a sample lasts */
    tv_ns ends;  /* end of the open boxes */
    size_t gaps; /* number of distances, then their end in `gaps` of the drawing */
    struct chart_bar bar;
    struct chart_open *open; /* [TV_CHART_LEVELS] */
    uint32_t depth;          /* depth of `open` */
};

struct chart_drawing {
    const struct tv_trace *trace;
    const struct tv_chart_question *question;
    struct tv_chart *chart;
    uint32_t *slot; /* [thread_count] index in `threads` + 1; 0: not asked for */
    struct chart_thread *threads;
    struct chart_open *open;
    uint64_t steps;
};

/* Return the time of a sample on the axis of the trace. */
static tv_ns chart_time(const struct chart_drawing *d, size_t row)
{
    const struct tv_sample *sample = &d->trace->tables.samples.rows[row];
    return tv_trace_time(d->trace, sample->input, sample->time);
}

/* Return the thread of a sample that is drawn; NULL for all others. */
static struct chart_thread *chart_thread_of(const struct chart_drawing *d, size_t row)
{
    const struct tv_sample *sample = &d->trace->tables.samples.rows[row];
    if (sample->thread >= d->trace->head->thread_count || d->slot[sample->thread] == 0 ||
        tv_sample_title(&d->trace->tables, sample) != d->question->value)
        return NULL;
    return &d->threads[d->slot[sample->thread] - 1];
}

/* Return the time between two times, 0 if the second is earlier. */
static tv_ns chart_distance(tv_ns from, tv_ns to)
{
    uint64_t distance = (uint64_t)to - (uint64_t)from;
    return to <= from ? 0 : distance < TV_MOVE_MAX ? (tv_ns)distance : TV_MOVE_MAX;
}

/* Return the end of a sample, which must not overflow. */
static tv_ns chart_end(tv_ns start, tv_ns duration)
{
    return start > INT64_MAX - duration ? INT64_MAX : start + duration;
}

/* ---- How long samples last ---- */

/* Order distances. */
static int chart_compare(const void *a, const void *b)
{
    tv_ns x = *(const tv_ns *)a, y = *(const tv_ns *)b;
    return x < y ? -1 : x > y;
}

/* Return twice an interval. */
static tv_ns chart_twice(tv_ns interval)
{
    return interval > TV_MOVE_MAX / 2 ? TV_MOVE_MAX : 2 * interval;
}

/* Count the samples that follow another one of their thread, or store the distances. */
static void chart_each_gap(struct chart_drawing *d, tv_ns *gaps)
{
    for (uint32_t i = 0; i < d->question->thread_count; i++)
        d->threads[i].last = 0;
    for (size_t i = 0; i < d->trace->tables.samples.count; i++) {
        struct chart_thread *thread = chart_thread_of(d, i);
        if (!thread)
            continue;
        if (thread->last > 0 && !gaps)
            thread->gaps++;
        else if (thread->last > 0)
            gaps[thread->gaps++] =
                chart_distance(chart_time(d, thread->last - 1), chart_time(d, i));
        thread->last = i + 1;
    }
}

/* Find the longest duration of the samples of each thread. */
static void chart_find_durations(struct chart_drawing *d)
{
    const struct tv_tables *tables = &d->trace->tables;
    size_t count = 0;
    chart_each_gap(d, NULL);
    for (uint32_t i = 0; i < d->question->thread_count; i++) {
        size_t own = d->threads[i].gaps;
        d->threads[i].gaps = count;
        count += own;
    }
    tv_ns *gaps = tv_alloc(count + 1, sizeof *gaps);
    size_t begin = 0;
    chart_each_gap(d, gaps);
    for (uint32_t i = 0; i < d->question->thread_count; i++) {
        struct chart_thread *thread = &d->threads[i];
        size_t own = thread->gaps - begin;
        const struct tv_sample *last =
            thread->last > 0 ? &tables->samples.rows[thread->last - 1] : NULL;
        tv_ns stated = last ? tables->value_types.rows[last->type].interval : 0;
        if (own > 0)
            qsort(&gaps[begin], own, sizeof *gaps, chart_compare);
        thread->most = chart_twice(stated > 0 ? stated : own > 0 ? gaps[begin + own / 2] : 0);
        begin = thread->gaps;
    }
    tv_free(gaps);
}

/* ---- Boxes ---- */

/* Return the index of a new box; TV_NONE if there are too many. */
static uint32_t chart_add_box(struct chart_drawing *d, const struct chart_thread *thread,
                              uint32_t node, uint32_t depth)
{
    struct tv_chart *chart = d->chart;
    if (chart->count == TV_CHART_BOXES) {
        chart->left_out++;
        return TV_NONE;
    }
    chart->boxes = tv_array_reserve(chart->boxes, &chart->capacity, (size_t)chart->count + 1,
                                    sizeof *chart->boxes);
    chart->boxes[chart->count] = (struct tv_chart_box){
        .start = thread->bar.start,
        .end = thread->bar.end,
        .thread = d->question->threads[thread - d->threads],
        .depth = depth,
        .frame = d->trace->paths.nodes[node].frame,
        .samples = thread->bar.samples,
        .first = thread->bar.first,
    };
    return chart->count++;
}

/* Fill `nodes` with the path from its root and return its depth, at most TV_CHART_LEVELS. */
static uint32_t chart_unfold_path(struct chart_drawing *d, uint32_t path, uint32_t *nodes)
{
    const struct tv_path_node *all = d->trace->paths.nodes;
    uint32_t depth = 0, drawn;
    for (uint32_t at = path; at != TV_ROOT_PATH; at = all[at].parent)
        depth++;
    d->steps += 2 * (uint64_t)depth;
    drawn = depth < TV_CHART_LEVELS ? depth : TV_CHART_LEVELS;
    for (uint32_t at = path; at != TV_ROOT_PATH; at = all[at].parent)
        if (--depth < drawn)
            nodes[depth] = at;
    return drawn;
}

/* Draw a thread's bar: extend the boxes that it continues, end the others and begin new ones. */
static void chart_end_bar(struct chart_drawing *d, struct chart_thread *thread)
{
    struct chart_bar *bar = &thread->bar;
    uint32_t nodes[TV_CHART_LEVELS], depth, same = 0;
    if (bar->samples == 0)
        return;
    if (d->steps >= STEP_LIMIT) {
        d->chart->left_out++;
        bar->samples = 0;
        return;
    }
    depth = chart_unfold_path(d, bar->path, nodes);
    bool follows = bar->start <= thread->ends;
    while (follows && same < depth && same < thread->depth &&
           thread->open[same].node == nodes[same]) {
        if (thread->open[same].box != TV_NONE) {
            struct tv_chart_box *box = &d->chart->boxes[thread->open[same].box];
            box->end = bar->end;
            box->samples += bar->samples;
        }
        same++;
    }
    for (uint32_t i = same; i < depth; i++)
        thread->open[i] = (struct chart_open){nodes[i], chart_add_box(d, thread, nodes[i], i)};
    thread->depth = depth;
    thread->ends = bar->end;
    bar->samples = 0;
}

/* Add a sample to its thread's bar, or end that and begin another one. */
static void chart_put(struct chart_drawing *d, struct chart_thread *thread, size_t row,
                      tv_ns duration)
{
    const struct tv_chart_question *q = d->question;
    tv_ns start = chart_time(d, row), end = chart_end(start, duration);
    if (start >= q->to || (end <= q->from && start < q->from))
        return;
    double scale = (double)q->pixels / ((double)q->to - (double)q->from) / d->chart->grain;
    double at = ((double)start - (double)q->from) * scale;
    int64_t pixel = at < 0 ? -1 : (int64_t)at;
    struct chart_bar *bar = &thread->bar;
    uint32_t path = d->trace->tables.samples.rows[row].path;
    if (bar->samples > 0 && bar->pixel == pixel) {
        bar->samples++;
        bar->end = end > bar->end ? end : bar->end;
        if (duration > bar->longest) {
            bar->longest = duration;
            bar->path = path;
        }
        return;
    }
    chart_end_bar(d, thread);
    *bar = (struct chart_bar){start, end, pixel, duration, path, 1, row};
}

/* Put the sample that waits, which lasts until `next`. */
static void chart_put_last(struct chart_drawing *d, struct chart_thread *thread, tv_ns next)
{
    size_t row = thread->last - 1;
    tv_ns distance = chart_distance(chart_time(d, row), next);
    assert(thread->last > 0);
    chart_put(d, thread, row, distance < thread->most ? distance : thread->most);
}

/* Return the end of a thread's last sample: as the file says, or else after one interval. */
static tv_ns chart_last_end(const struct chart_drawing *d, const struct chart_thread *thread)
{
    size_t row = thread->last - 1;
    tv_ns length = tv_trace_last_sample_length(d->trace, &d->trace->tables.samples.rows[row]);
    return chart_end(chart_time(d, row), length >= 0 ? length : thread->most / 2);
}

/* Draw the bars of all threads.  A sample lasts until the next one of its thread, so each is drawn
 * when the next comes. */
static void chart_draw_all(struct chart_drawing *d)
{
    d->chart->count = 0;
    d->chart->left_out = 0;
    d->steps = 0;
    for (uint32_t i = 0; i < d->question->thread_count; i++) {
        struct chart_thread *thread = &d->threads[i];
        thread->last = 0;
        thread->ends = INT64_MIN;
        thread->depth = 0;
        thread->bar.samples = 0;
        thread->open = &d->open[(size_t)i * TV_CHART_LEVELS];
    }
    for (size_t i = 0; i < d->trace->tables.samples.count; i++) {
        struct chart_thread *thread = chart_thread_of(d, i);
        if (thread && thread->last > 0)
            chart_put_last(d, thread, chart_time(d, i));
        if (thread)
            thread->last = i + 1;
    }
    for (uint32_t i = 0; i < d->question->thread_count; i++) {
        struct chart_thread *thread = &d->threads[i];
        if (thread->last > 0)
            chart_put_last(d, thread, chart_last_end(d, thread));
        chart_end_bar(d, thread);
    }
}

void tv_chart_draw(const struct tv_trace *trace, const struct tv_chart_question *question,
                   struct tv_chart *chart)
{
    struct chart_drawing d = {.trace = trace, .question = question, .chart = chart};
    assert(question->thread_count <= TV_CHART_THREADS && question->to > question->from);
    *chart = (struct tv_chart){.grain = 1};
    d.slot = tv_alloc((size_t)trace->head->thread_count + 1, sizeof *d.slot);
    d.threads = tv_alloc((size_t)question->thread_count + 1, sizeof *d.threads);
    d.open = tv_alloc(((size_t)question->thread_count + 1) * TV_CHART_LEVELS, sizeof *d.open);
    for (uint32_t i = 0; i < question->thread_count; i++)
        d.slot[question->threads[i]] = i + 1;
    chart_find_durations(&d);
    chart_draw_all(&d);
    while (chart->left_out > 0 && chart->grain < GRAIN_MAX) {
        chart->grain *= 2;
        chart_draw_all(&d);
    }
    tv_free(d.slot);
    tv_free(d.threads);
    tv_free(d.open);
}

void tv_chart_release(struct tv_chart *chart)
{
    tv_free(chart->boxes);
    *chart = (struct tv_chart){0};
}

uint32_t *tv_chart_levels(const struct tv_trace *trace)
{
    const struct tv_paths *paths = &trace->paths;
    uint32_t threads = trace->head->thread_count;
    uint32_t *levels = tv_alloc((size_t)threads + 1, sizeof *levels);
    uint32_t *depth = tv_alloc((size_t)paths->count + 1, sizeof *depth);
    for (uint32_t i = 1; i < paths->count; i++) {
        uint32_t below = depth[paths->nodes[i].parent];
        depth[i] = below < TV_CHART_LEVELS ? below + 1 : below;
    }
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        if (sample->thread < threads && depth[sample->path] > levels[sample->thread])
            levels[sample->thread] = depth[sample->path];
    }
    tv_free(depth);
    return levels;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_chart.h - the stacks of sampled threads over time: a box for each run of neighbouring
 * samples that share a frame, and all frames below it.
 *
 *     samples   main>a   main>a>b   main>a>b        main>c
 *     depth 0   [main.............................] [main.]
 *     depth 1   [a................................] [c....]
 *     depth 2            [b.......................]
 *
 * Nobody knows what ran between two samples.  A sample lasts until the thread's next one of the
 * same value type, but at most twice the sampling interval: that of the file, else the median
 * distance of the thread's samples.  So a thread that slept has no boxes.
 */
#ifndef TV_ANALYSIS_TIMELINE_SAMPLE_CHART_H
#define TV_ANALYSIS_TIMELINE_SAMPLE_CHART_H

#include "model/trace.h"

#define TV_CHART_THREADS 64
#define TV_CHART_LEVELS 256u /* frames nearer to the leaf of a deeper stack are not drawn */
#define TV_CHART_BOXES 16384u

struct tv_chart_question {
    const uint32_t *threads; /* indices, at most TV_CHART_THREADS */
    uint32_t thread_count;
    uint32_t value; /* string: the name of a value type */
    tv_ns from, to; /* to > from */
    int64_t pixels; /* of the range, at least 1 */
};

struct tv_chart_box {
    tv_ns start, end; /* not clipped to the range */
    uint32_t thread;
    uint32_t depth;
    uint32_t frame;
    uint32_t samples;
    size_t first; /* row of its first sample */
};

struct tv_chart {
    struct tv_chart_box *boxes; /* by thread in no order, by start in each */
    uint32_t count;
    size_t capacity;
    uint32_t grain;    /* pixels whose samples were merged */
    uint64_t left_out; /* boxes beyond the limit */
};

/* Draw the samples that touch the range.  Those of a thread that begin in one pixel are merged and
 * show the stack that lasted longest.  If that makes more than TV_CHART_BOXES, those of 2, 4 ... 64
 * pixels are merged.  Free the chart with tv_chart_release. */
void tv_chart_draw(const struct tv_trace *trace, const struct tv_chart_question *question,
                   struct tv_chart *chart);
void tv_chart_release(struct tv_chart *chart);

/* Return the levels that each thread needs, at most TV_CHART_LEVELS: [thread_count], 0 for threads
 * without stacks.  Free it with tv_free. */
uint32_t *tv_chart_levels(const struct tv_trace *trace);

#endif

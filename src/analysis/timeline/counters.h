/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - what counters did in a range: the first and the last value of each series, its
 * extremes, its mean over time, how fast it changed; its value at a time, and its peaks and
 * troughs.
 *
 * A series is a step function: a value holds from its sample to the next sample of its counter.
 *
 *     value     4 |      ,---.
 *               2 |  ,---'   |       ,---
 *               0 |  :       '--- .. :          ..  a sample without a value for this series
 *                  --+---+---+---+---+---->
 *                  unknown       unknown
 *
 * A series has no value before its first sample, and none after a sample that has a value for
 * other series only.  The last value holds to the end of the range, the trace's end at the latest.
 *
 * A range is [from, to): the value that holds when it begins counts, that of a sample at its end
 * does not, unless the trace ends there, too.
 */
#ifndef TV_ANALYSIS_TIMELINE_COUNTERS_H
#define TV_ANALYSIS_TIMELINE_COUNTERS_H

#include <assert.h>

#include "model/trace.h"

/* A value of a series, and when it begins. */
struct tv_counter_point {
    tv_ns time;
    double value; /* NaN: the series has no value */
};

/* Return the time of a sample on the trace's axis. */
static inline tv_ns tv_counter_sample_time(const struct tv_trace *trace,
                                           const struct tv_counter *counter, uint32_t sample)
{
    assert(sample < counter->sample_count);
    return tv_trace_time(trace, counter->input,
                         trace->tables.counter_times[counter->first_sample + sample]);
}

/* Return the number of samples before a time, or with `with` also of those at it. */
uint32_t tv_counter_samples_before(const struct tv_trace *trace, const struct tv_counter *counter,
                                   tv_ns time, bool with);

/* Return the value of a series at a sample; NaN: the sample has none. */
static inline double tv_counter_sample_value(const struct tv_trace *trace,
                                             const struct tv_counter *counter, uint32_t sample,
                                             uint32_t series)
{
    assert(sample < counter->sample_count && series < counter->series_count);
    uint64_t at = counter->first_value + (uint64_t)sample * counter->series_count + series;
    return trace->tables.counter_values[at];
}

/* Figures of one series.  Without a value in the range all doubles are NaN, and times are 0. */
struct tv_series_figures {
    uint32_t counter, series; /* numbers of the counter, and of the series within it */
    uint64_t samples; /* values told in the range, without the one that holds at its start */
    tv_ns time;       /* part of the range in which it has a value, in nanoseconds */
    struct tv_counter_point first, last, low, high; /* times are not before the range; of several
                                                       equal extremes the earliest */
    double mean;                                    /* weighted by time; NaN when `time` is 0 */
    double change;                                  /* last minus first */
    double rate; /* change per second of `time`; NaN when that is 0 */
};

/* The figures of all series, by counter and series. */
struct tv_counter_figures {
    tv_ns from, to; /* the range, clamped to the trace */
    struct tv_series_figures *rows;
    size_t count;
};

struct tv_counters_question {
    tv_ns from, to;       /* on the trace's axis */
    const bool *counters; /* [tables.counters.count] the wanted ones; NULL: all */
};

/* Compute the figures of every series of the wanted counters, in one pass over their samples in the
 * range.  Free them with tv_counter_figures_free. */
struct tv_counter_figures *tv_counter_figures_of(const struct tv_trace *trace,
                                                 const struct tv_counters_question *question);
void tv_counter_figures_free(struct tv_counter_figures *figures);

enum tv_counter_order {
    TV_COUNTERS_AS_RECORDED, /* by counter and series */
    TV_COUNTERS_BY_NAME,     /* name, then series, byte by byte */
    TV_COUNTERS_BY_SAMPLES,
    TV_COUNTERS_BY_FIRST,
    TV_COUNTERS_BY_LAST,
    TV_COUNTERS_BY_MIN,
    TV_COUNTERS_BY_MEAN,
    TV_COUNTERS_BY_MAX,
    TV_COUNTERS_BY_CHANGE,
    TV_COUNTERS_BY_RATE,
};

/* Sort the rows: by name from the smallest, by a figure from the largest; rows without the figure
 * come last, equal rows stay as recorded. */
void tv_counter_figures_sort(struct tv_counter_figures *figures, const struct tv_trace *trace,
                             enum tv_counter_order order);

/* Return the value that a series has at a time, with the time of its sample. */
struct tv_counter_point tv_counter_value_at(const struct tv_trace *trace, uint32_t counter,
                                            uint32_t series, tv_ns time);

/* Stops of a step along a series: a change to another value; a peak or a trough, which is higher or
 * lower than the different values before and after it.  At an end of the series one of the two
 * suffices.  Samples without a value are skipped. */
enum tv_counter_stop {
    TV_STOP_CHANGE,
    TV_STOP_PEAK,
    TV_STOP_TROUGH,
};

struct tv_counter_step {
    uint32_t counter, series;
    tv_ns time; /* the stop must be after it, or with `back` before it */
    enum tv_counter_stop stop;
    bool back;
};

/* Find the nearest stop; false when there is none. */
bool tv_counter_find_stop(const struct tv_trace *trace, const struct tv_counter_step *step,
                          struct tv_counter_point *point);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - see counters.h.
 *
 * A counter is a step function: a sample holds until the next one.  The mean over a range is
 * therefore weighted by time, and the value at the start of the range comes from the sample
 * before:
 *
 *     value   ----.        .------        samples at the dots
 *                 '--------'
 *     range     [-------------)           mean = sum of value * time / length of the range
 *
 * NaN stands for "not known": a series may lack a value in some samples, which changes nothing.
 */
#include "analysis/timeline/counters.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"

#define SECOND_NS 1e9

/* ---- Samples ---- */

uint32_t tv_counter_samples_before(const struct tv_trace *trace, const struct tv_counter *counter,
                                   tv_ns time, bool with)
{
    uint32_t low = 0;
    TV_LOWER_BOUND(low, counter->sample_count, i,
                   with ? tv_counter_sample_time(trace, counter, i) <= time
                        : tv_counter_sample_time(trace, counter, i) < time);
    return low;
}

/* ---- Figures ---- */

/* Add a value that holds from `begin` to `end`; `mean` is the sum of values times nanoseconds until
 * counter_finish. */
static void counter_add_value(struct tv_series_figures *row, double value, tv_ns begin, tv_ns end)
{
    assert(begin <= end && !isnan(value));
    struct tv_counter_point point = {begin, value};
    if (isnan(row->first.value)) {
        row->first = row->low = row->high = point;
        row->mean = 0;
    }
    row->last = point;
    if (value < row->low.value)
        row->low = point;
    if (value > row->high.value)
        row->high = point;
    row->time += end - begin;
    if (end > begin)
        row->mean += value * (double)(end - begin);
}

/* Turn the sum into the mean, which rounding and overflow must not move beyond the extremes. */
static void counter_finish(struct tv_series_figures *row)
{
    row->change = row->last.value - row->first.value;
    if (row->time == 0) {
        row->mean = row->rate = NAN;
        return;
    }
    row->mean /= (double)row->time;
    if (row->mean < row->low.value)
        row->mean = row->low.value;
    if (row->mean > row->high.value)
        row->mean = row->high.value;
    row->rate = row->change / ((double)row->time / SECOND_NS);
}

/* Fill the rows of a counter, one for each series. */
static void counter_fill_rows(const struct tv_trace *trace, uint32_t number,
                              const struct tv_counter_figures *figures,
                              struct tv_series_figures *rows)
{
    const struct tv_counter *counter = &trace->tables.counters.rows[number];
    const struct tv_counter_point unknown = {0, NAN};
    for (uint32_t k = 0; k < counter->series_count; k++)
        rows[k] = (struct tv_series_figures){
            .counter = number,
            .series = k,
            .first = unknown,
            .last = unknown,
            .low = unknown,
            .high = unknown,
            .mean = NAN,
        };
    uint32_t first = tv_counter_samples_before(trace, counter, figures->from, false);
    uint32_t last =
        tv_counter_samples_before(trace, counter, figures->to, figures->to >= trace->end);
    bool holds = first > 0 && (first == counter->sample_count ||
                               tv_counter_sample_time(trace, counter, first) > figures->from);
    for (uint32_t i = first - holds; i < last; i++) {
        tv_ns begin = i < first ? figures->from : tv_counter_sample_time(trace, counter, i);
        tv_ns end = i + 1 < last ? tv_counter_sample_time(trace, counter, i + 1) : figures->to;
        for (uint32_t k = 0; k < counter->series_count; k++) {
            double value = tv_counter_sample_value(trace, counter, i, k);
            if (isnan(value))
                continue;
            rows[k].samples += i >= first;
            counter_add_value(&rows[k], value, begin, end);
        }
    }
    for (uint32_t k = 0; k < counter->series_count; k++)
        counter_finish(&rows[k]);
}

struct tv_counter_figures *tv_counter_figures_of(const struct tv_trace *trace,
                                                 const struct tv_counters_question *question)
{
    struct tv_counter_figures *figures = tv_alloc(1, sizeof *figures);
    const struct tv_tables *tables = &trace->tables;
    figures->from = question->from > trace->start ? question->from : trace->start;
    figures->to = question->to < trace->end ? question->to : trace->end;
    if (figures->to < figures->from)
        figures->to = figures->from;
    for (size_t i = 0; i < tables->counters.count; i++)
        if (!question->counters || question->counters[i])
            figures->count += tables->counters.rows[i].series_count;
    figures->rows = tv_alloc(figures->count, sizeof *figures->rows);
    size_t row = 0;
    for (size_t i = 0; i < tables->counters.count; i++) {
        if (question->counters && !question->counters[i])
            continue;
        counter_fill_rows(trace, (uint32_t)i, figures, figures->rows + row);
        row += tables->counters.rows[i].series_count;
    }
    assert(row == figures->count);
    return figures;
}

void tv_counter_figures_free(struct tv_counter_figures *figures)
{
    if (!figures)
        return;
    tv_free(figures->rows);
    tv_free(figures);
}

/* ---- Order ---- */

/* A row with what it is sorted by. */
struct sorted_series {
    double figure;
    struct tv_bytes name, series; /* empty unless sorted by name */
    struct tv_series_figures row;
};

/* Return the figure of a row that an order sorts by; 0 where names decide. */
static double counter_figure(const struct tv_series_figures *row, enum tv_counter_order order)
{
    switch (order) {
    case TV_COUNTERS_BY_SAMPLES:
        return (double)row->samples;
    case TV_COUNTERS_BY_FIRST:
        return row->first.value;
    case TV_COUNTERS_BY_LAST:
        return row->last.value;
    case TV_COUNTERS_BY_MIN:
        return row->low.value;
    case TV_COUNTERS_BY_MEAN:
        return row->mean;
    case TV_COUNTERS_BY_MAX:
        return row->high.value;
    case TV_COUNTERS_BY_CHANGE:
        return row->change;
    case TV_COUNTERS_BY_RATE:
        return row->rate;
    case TV_COUNTERS_AS_RECORDED:
    case TV_COUNTERS_BY_NAME:
        break;
    }
    return 0;
}

/* Order by figure, the largest first and unknown ones last, then by name, then as recorded. */
static int counter_compare(const void *left, const void *right)
{
    const struct sorted_series *a = left, *b = right;
    if (isnan(a->figure) != isnan(b->figure))
        return isnan(a->figure) ? 1 : -1;
    if (a->figure > b->figure || a->figure < b->figure)
        return a->figure > b->figure ? -1 : 1;
    int names = tv_bytes_compare(a->name, b->name);
    if (names == 0)
        names = tv_bytes_compare(a->series, b->series);
    if (names != 0)
        return names;
    if (a->row.counter != b->row.counter)
        return a->row.counter < b->row.counter ? -1 : 1;
    return (a->row.series > b->row.series) - (a->row.series < b->row.series);
}

void tv_counter_figures_sort(struct tv_counter_figures *figures, const struct tv_trace *trace,
                             enum tv_counter_order order)
{
    struct sorted_series *sorted = tv_alloc(figures->count, sizeof *sorted);
    for (size_t i = 0; i < figures->count; i++) {
        const struct tv_series_figures *row = &figures->rows[i];
        const struct tv_counter *counter = &trace->tables.counters.rows[row->counter];
        sorted[i] = (struct sorted_series){.figure = counter_figure(row, order), .row = *row};
        if (order != TV_COUNTERS_BY_NAME)
            continue;
        sorted[i].name = tv_trace_info_text(trace->head, counter->name);
        sorted[i].series = tv_trace_info_text(
            trace->head, trace->tables.series.rows[counter->first_series + row->series].name);
    }
    if (figures->count > 1)
        qsort(sorted, figures->count, sizeof *sorted, counter_compare);
    for (size_t i = 0; i < figures->count; i++)
        figures->rows[i] = sorted[i].row;
    tv_free(sorted);
}

/* ---- One value ---- */

struct tv_counter_point tv_counter_value_at(const struct tv_trace *trace, uint32_t counter,
                                            uint32_t series, tv_ns time)
{
    assert(counter < trace->tables.counters.count);
    const struct tv_counter *of = &trace->tables.counters.rows[counter];
    uint32_t sample = tv_counter_samples_before(trace, of, time, true);
    if (sample == 0)
        return (struct tv_counter_point){0, NAN};
    return (struct tv_counter_point){tv_counter_sample_time(trace, of, sample - 1),
                                     tv_counter_sample_value(trace, of, sample - 1, series)};
}

/* ---- Peaks and troughs ---- */

/* The values of one series, for a walk over its runs of equal values. */
struct series_walk {
    const struct tv_trace *trace;
    const struct tv_counter *counter;
    uint32_t series;
    enum tv_counter_stop stop;
};

/* Return the value of a sample; NaN for TV_NONE. */
static double walk_value(const struct series_walk *walk, uint32_t sample)
{
    return sample == TV_NONE
               ? NAN
               : tv_counter_sample_value(walk->trace, walk->counter, sample, walk->series);
}

/* Return the next sample before (step -1) or after (1) `sample`, from -1 on, whose value is known
 * and not `value` (NaN: any value), or TV_NONE. */
static uint32_t walk_to_other(const struct series_walk *walk, int64_t sample, int step,
                              double value)
{
    assert(sample >= -1 && (step == 1 || step == -1));
    for (int64_t i = sample + step; i >= 0 && i < walk->counter->sample_count; i += step) {
        double other = walk_value(walk, (uint32_t)i);
        if (!isnan(other) && (isnan(value) || other < value || other > value))
            return (uint32_t)i;
    }
    return TV_NONE;
}

/* Is the value a stop between its neighbours?  TV_NONE: there is none on that side. */
static bool walk_is_stop(const struct series_walk *walk, uint32_t before, uint32_t sample,
                         uint32_t after)
{
    double value = walk_value(walk, sample), a = walk_value(walk, before),
           b = walk_value(walk, after);
    switch (walk->stop) {
    case TV_STOP_PEAK:
        return !(a > value) && !(b > value) && (before != TV_NONE || after != TV_NONE);
    case TV_STOP_TROUGH:
        return !(a < value) && !(b < value) && (before != TV_NONE || after != TV_NONE);
    case TV_STOP_CHANGE:
        break;
    }
    return true;
}

/* Return the first stop that is after the time, as its first sample, or TV_NONE. */
static uint32_t walk_forward(const struct series_walk *walk, tv_ns time)
{
    uint32_t begin = tv_counter_samples_before(walk->trace, walk->counter, time, true);
    uint32_t before = begin == 0 ? TV_NONE : walk_to_other(walk, begin, -1, NAN);
    uint32_t sample = before == TV_NONE ? walk_to_other(walk, (int64_t)begin - 1, 1, NAN)
                                        : walk_to_other(walk, before, 1, walk_value(walk, before));
    while (sample != TV_NONE) {
        uint32_t after = walk_to_other(walk, sample, 1, walk_value(walk, sample));
        if (walk_is_stop(walk, before, sample, after))
            return sample;
        before = sample;
        sample = after;
    }
    return TV_NONE;
}

/* Return the last stop that is before the time, as its first sample, or TV_NONE. */
static uint32_t walk_back(const struct series_walk *walk, tv_ns time)
{
    uint32_t end = tv_counter_samples_before(walk->trace, walk->counter, time, false);
    uint32_t sample = walk_to_other(walk, end, -1, NAN), after = TV_NONE;
    if (sample != TV_NONE)
        after = walk_to_other(walk, sample, 1, walk_value(walk, sample));
    while (sample != TV_NONE) {
        uint32_t before = walk_to_other(walk, sample, -1, walk_value(walk, sample));
        /* The run begins at the first known sample after the one before. */
        uint32_t begin = walk_to_other(walk, before == TV_NONE ? -1 : (int64_t)before, 1, NAN);
        if (walk_is_stop(walk, before, sample, after))
            return begin;
        after = begin;
        sample = before;
    }
    return TV_NONE;
}

bool tv_counter_find_stop(const struct tv_trace *trace, const struct tv_counter_step *step,
                          struct tv_counter_point *point)
{
    assert(step->counter < trace->tables.counters.count);
    struct series_walk walk = {trace, &trace->tables.counters.rows[step->counter], step->series,
                               step->stop};
    uint32_t sample = step->back ? walk_back(&walk, step->time) : walk_forward(&walk, step->time);
    if (sample == TV_NONE)
        return false;
    *point = (struct tv_counter_point){tv_counter_sample_time(trace, walk.counter, sample),
                                       walk_value(&walk, sample)};
    return true;
}

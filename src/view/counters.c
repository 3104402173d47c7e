/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters: which there are, and their values in a range at the resolution of a screen.
 */
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/columns.h"
#include "view/state.h"

#define COUNTER_LIMIT 256      /* counters a question */
#define PIXEL_LIMIT 8192       /* pixels a question */
#define VALUE_LIMIT (1u << 18) /* pixels times series of all that are asked for */

static double value_of(const struct tv_tables *tables, const struct tv_counter *counter,
                       uint32_t sample, uint32_t series)
{
    uint64_t at = counter->first_value + (uint64_t)sample * counter->series_count + series;
    return tables->counter_values[at];
}

/* What a series adds to the stack: nothing where the event did not tell it. */
static double height_of(double value)
{
    return isfinite(value) ? value : 0;
}

static tv_ns time_of(const struct tv_trace *trace, const struct tv_counter *counter,
                     uint32_t sample)
{
    return tv_trace_time(trace, counter->input,
                         trace->tables.counter_times[counter->first_sample + sample]);
}

/* The lowest and the highest point of the stack in the whole trace, 0 among them. */
static void find_bounds(const struct tv_tables *tables, const struct tv_counter *counter,
                        double *low, double *high)
{
    *low = *high = 0;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < counter->series_count; k++) {
            sum += height_of(value_of(tables, counter, i, k));
            *low = sum < *low ? sum : *low;
            *high = sum > *high ? sum : *high;
        }
    }
}

/* The lowest and the highest value of one series, 0 among them; false: it never has a number. */
static bool find_series_bounds(const struct tv_tables *tables, const struct tv_counter *counter,
                               uint32_t series, double *low, double *high)
{
    bool any = false;
    *low = *high = 0;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        double value = value_of(tables, counter, i, series);
        any |= !isnan(value);
        value = height_of(value);
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
    return any;
}

/* JSON has no infinity. */
static void write_number(struct tv_out *out, const char *key, double value)
{
    tv_out_text(out, key);
    if (isfinite(value))
        tv_out_format(out, "%.17g", value);
    else
        tv_out_text(out, value > 0 ? "1.7e308" : "-1.7e308");
}

static void write_counter(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_counter *counter = &tables->counters.rows[number];
    bool of_process = counter->process < trace->head->process_count;
    double low, high;
    find_bounds(tables, counter, &low, &high);
    tv_out_format(out, "{\"counter\":%u,\"name\":", number);
    tv_out_json(out, tv_trace_info_text(trace->head, counter->name));
    tv_out_text(out, ",\"category\":");
    tv_out_json(out, tv_trace_info_text(trace->head, counter->category));
    tv_out_text(out, ",\"process\":");
    tv_out_i64(out, of_process ? (int64_t)counter->process : -1);
    tv_out_text(out, ",\"series\":[");
    for (uint32_t k = 0; k < counter->series_count; k++) {
        tv_out_text(out, k > 0 ? "," : "");
        tv_out_json(out,
                    tv_trace_info_text(trace->head, tables->series.rows[counter->first_series + k].name));
    }
    tv_out_format(out, "],\"samples\":%u", counter->sample_count);
    write_number(out, ",\"low\":", low);
    write_number(out, ",\"high\":", high);
    tv_out_text(out, ",\"bounds\":[");
    for (uint32_t k = 0; k < counter->series_count; k++) {
        tv_out_text(out, k > 0 ? "," : "");
        if (!find_series_bounds(tables, counter, k, &low, &high)) {
            tv_out_text(out, "null");
            continue;
        }
        write_number(out, "[", low);
        write_number(out, ",", high);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "],\"last_ns\":");
    tv_out_i64(out, counter->sample_count > 0 ? time_of(trace, counter, counter->sample_count - 1)
                                              : trace->start);
    tv_out_format(out, ",\"colour\":%u}", counter->colour);
}

enum tv_status tv_view_counters(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    (void)parameters, (void)err;
    tv_out_text(out, "{\"counters\":[");
    for (size_t i = 0; i < view->trace->tables.counters.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_counter(out, view->trace, (uint32_t)i);
    }
    tv_out_text(out, "]}");
    return TV_OK;
}

/* --- Values
 * ------------------------------------------------------------------------------------------ */

/* The samples of one counter that a screen shows: each by itself, or those of a pixel together. */
struct shown {
    const struct tv_trace *trace;
    const struct tv_counter *counter;
    tv_ns from, to;
    uint32_t pixels;
    uint32_t first, last;    /* samples [first, last) */
    uint32_t *begin, *count; /* [groups] samples of each */
    uint32_t groups;
    bool merged;
};

/* The first sample at or after a time. */
static uint32_t find_sample(const struct shown *shown, tv_ns time)
{
    uint32_t low = 0, high = shown->counter->sample_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time_of(shown->trace, shown->counter, middle) < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t pixel_at(const struct shown *shown, tv_ns time)
{
    return (uint32_t)((double)(time - shown->from) * shown->pixels /
                      (double)(shown->to - shown->from));
}

/* The sample that still holds where the range begins stands by itself. */
static void group_samples(struct shown *shown)
{
    uint32_t last_pixel = UINT32_MAX;
    shown->merged = shown->last - shown->first > shown->pixels + 1;
    for (uint32_t i = shown->first; i < shown->last; i++) {
        tv_ns time = time_of(shown->trace, shown->counter, i);
        uint32_t pixel = time < shown->from ? UINT32_MAX : pixel_at(shown, time);
        if (shown->merged && shown->groups > 0 && pixel == last_pixel) {
            shown->count[shown->groups - 1]++;
            continue;
        }
        shown->begin[shown->groups] = i;
        shown->count[shown->groups++] = 1;
        last_pixel = pixel;
    }
}

static void choose_samples(struct shown *shown)
{
    shown->first = find_sample(shown, shown->from);
    shown->last = find_sample(shown, shown->to);
    shown->first -= shown->first > 0;
    size_t most_groups = shown->last - shown->first;
    if (most_groups > (size_t)shown->pixels + 2)
        most_groups = (size_t)shown->pixels + 2;
    shown->begin = tv_alloc(most_groups + 1, sizeof *shown->begin);
    shown->count = tv_alloc(most_groups + 1, sizeof *shown->count);
    group_samples(shown);
}

enum of_group { FIRST, LAST, LOWEST, HIGHEST };

static double value_of_group(const struct shown *shown, uint32_t group, uint32_t series,
                             enum of_group what)
{
    const struct tv_tables *tables = &shown->trace->tables;
    uint32_t begin = shown->begin[group], count = shown->count[group];
    if (!shown->merged || what == FIRST)
        return value_of(tables, shown->counter, begin, series);
    if (what == LAST)
        return value_of(tables, shown->counter, begin + count - 1, series);
    double value = NAN;
    for (uint32_t i = 0; i < count; i++) {
        double other = value_of(tables, shown->counter, begin + i, series);
        if (isnan(value) || (what == LOWEST ? other < value : other > value))
            value = other;
    }
    return value;
}

static void write_samples(struct tv_out *out, const struct shown *shown, uint32_t number)
{
    struct tv_column column = tv_column_new(shown->groups);
    tv_out_le32(out, number);
    tv_out_le32(out, shown->counter->series_count);
    tv_out_le32(out, shown->groups);
    tv_out_le32(out, shown->merged);
    for (uint32_t i = 0; i < shown->groups; i++)
        column.times[i] = (double)time_of(shown->trace, shown->counter, shown->begin[i]);
    tv_column_write_times(out, &column);
    for (uint32_t k = 0; k < shown->counter->series_count; k++)
        for (int what = FIRST; what <= (shown->merged ? HIGHEST : FIRST); what++) {
            for (uint32_t i = 0; i < shown->groups; i++)
                column.times[i] = value_of_group(shown, i, k, (enum of_group)what);
            tv_column_write_times(out, &column);
        }
    tv_column_release(&column);
}

/* Many series share the values that an answer may have; 0: there are more series than values. */
static uint32_t limit_pixels(const struct tv_trace *trace, const uint32_t *numbers, uint32_t count,
                             int64_t pixels)
{
    uint64_t series = 1;
    for (uint32_t i = 0; i < count; i++)
        series += trace->tables.counters.rows[numbers[i]].series_count;
    uint64_t most = VALUE_LIMIT / series;
    if ((uint64_t)pixels < most)
        return (uint32_t)pixels;
    return (uint32_t)most;
}

/* "0,3,4": at most COUNTER_LIMIT of them. */
static enum tv_status read_numbers(const struct tv_parameters *parameters,
                                   const struct tv_trace *trace, uint32_t *numbers, uint32_t *count,
                                   struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "counters"), item;
    uint64_t number;
    *count = 0;
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &item);
        if (*count == COUNTER_LIMIT || !tv_parse_u64(item, &number) ||
            number >= trace->tables.counters.count)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "counters: expected at most %d numbers below %zu with commas",
                           COUNTER_LIMIT, trace->tables.counters.count);
        numbers[(*count)++] = (uint32_t)number;
    }
    return TV_OK;
}

enum tv_status tv_view_counter_values(const struct tv_view *view,
                                      const struct tv_parameters *parameters, struct tv_out *out,
                                      struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t numbers[COUNTER_LIMIT], count;
    struct tv_view_window window;
    enum tv_status status = tv_parameter_window(parameters, trace, PIXEL_LIMIT, &window, err);
    if (status == TV_OK)
        status = read_numbers(parameters, trace, numbers, &count, err);
    if (status != TV_OK)
        return status;
    uint32_t pixels = limit_pixels(trace, numbers, count, window.pixels);
    if (pixels == 0)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "counters: they have more than %d series; ask for fewer", (int)VALUE_LIMIT);
    tv_out_text(out, "TVC1");
    tv_out_le32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        struct shown shown = {.trace = trace, .from = window.from, .to = window.to};
        shown.pixels = pixels;
        shown.counter = &trace->tables.counters.rows[numbers[i]];
        choose_samples(&shown);
        write_samples(out, &shown, numbers[i]);
        tv_free(shown.begin);
        tv_free(shown.count);
    }
    return TV_OK;
}

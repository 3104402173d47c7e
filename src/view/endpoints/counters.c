/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - questions about counters: their list, their values in a range at
 * the resolution of a screen, figures of a range, and the way to the next
 * change, peak or trough.
 *
 * A counter has series that change together.  Samples are more than pixels in
 * most ranges; then those of one pixel become a group with four values:
 *
 *     samples   . ..:.   .      group: first, last    joins the lines of neighbouring pixels
 *     pixel     |     |         lowest, highest       no peak disappears
 *
 * The sample before the range is the first group, because its value still holds
 * where the range begins.
 */
#include <assert.h>
#include <math.h>

#include "analysis/timeline/counters.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "view/internal.h"
#include "writers/tables/tables.h"
#include "writers/text/names.h"

#define COUNTER_LIMIT 256      /* counters per question */
#define PIXEL_LIMIT 8192       /* pixels per question */
#define VALUE_LIMIT (1u << 18) /* pixels times series, of all counters asked for */

/* Return what a series adds to the stack: 0 if its event did not say. */
static double counter_height(double value)
{
    return isfinite(value) ? value : 0;
}

/* Find the lowest and the highest point of the stack in the whole trace, including 0. */
static void counter_find_bounds(const struct tv_trace *trace, const struct tv_counter *counter,
                                double *low, double *high)
{
    *low = *high = 0;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < counter->series_count; k++) {
            sum += counter_height(tv_counter_sample_value(trace, counter, i, k));
            *low = sum < *low ? sum : *low;
            *high = sum > *high ? sum : *high;
        }
    }
}

/* Find the lowest and the highest value of a series, including 0; false if it has no numbers. */
static bool counter_find_series_bounds(const struct tv_trace *trace,
                                       const struct tv_counter *counter, uint32_t series,
                                       double *low, double *high)
{
    bool any = false;
    *low = *high = 0;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        double value = tv_counter_sample_value(trace, counter, i, series);
        any |= !isnan(value);
        value = counter_height(value);
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
    return any;
}

/* JSON has no infinity. */
static void counter_write_number(struct tv_out *out, const char *key, double value)
{
    tv_out_text(out, key);
    if (isfinite(value))
        tv_out_format(out, "%.17g", value);
    else
        tv_out_text(out, value > 0 ? "1.7e308" : "-1.7e308");
}

/* Write the facts of a counter. */
static void counter_write(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_counter *counter = &tables->counters.rows[number];
    bool of_process = counter->process < trace->head->process_count;
    /* The bounds are those of the whole trace, so that the scale of a graph
     * does not move while somebody scrolls. */
    double low, high;
    counter_find_bounds(trace, counter, &low, &high);
    tv_out_format(out, "{\"counter\":%u,\"name\":", number);
    tv_out_json(out, tv_trace_info_text(trace->head, counter->name));
    tv_out_text(out, ",\"category\":");
    tv_out_json(out, tv_trace_info_text(trace->head, counter->category));
    tv_out_text(out, ",\"process\":");
    tv_out_i64(out, of_process ? (int64_t)counter->process : -1);
    tv_out_text(out, ",\"series\":[");
    for (uint32_t k = 0; k < counter->series_count; k++) {
        tv_out_text(out, k > 0 ? "," : "");
        tv_out_json(out, tv_trace_info_text(trace->head,
                                            tables->series.rows[counter->first_series + k].name));
    }
    tv_out_format(out, "],\"samples\":%u", counter->sample_count);
    counter_write_number(out, ",\"low\":", low);
    counter_write_number(out, ",\"high\":", high);
    tv_out_text(out, ",\"bounds\":[");
    for (uint32_t k = 0; k < counter->series_count; k++) {
        tv_out_text(out, k > 0 ? "," : "");
        if (!counter_find_series_bounds(trace, counter, k, &low, &high)) {
            tv_out_text(out, "null");
            continue;
        }
        counter_write_number(out, "[", low);
        counter_write_number(out, ",", high);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "],\"last_ns\":");
    tv_out_i64(out, counter->sample_count > 0
                        ? tv_counter_sample_time(trace, counter, counter->sample_count - 1)
                        : trace->start);
    tv_out_format(out, ",\"colour\":%u}", counter->colour);
}

/* Answer api/counters: every counter with its bounds, which takes a pass over
 * all samples. */
enum tv_status tv_view_counters(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    (void)parameters, (void)err;
    tv_out_text(out, "{\"counters\":[");
    for (size_t i = 0; i < view->trace->tables.counters.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        counter_write(out, view->trace, (uint32_t)i);
    }
    tv_out_text(out, "]}");
    return TV_OK;
}

/* ---- Values ---- */

/* The samples of a counter that a screen shows: one by one, or merged by pixel. */
struct shown_counter {
    const struct tv_trace *trace;
    const struct tv_counter *counter;
    tv_ns from, to;
    uint32_t pixels;
    uint32_t first, last;    /* range of samples */
    uint32_t *begin, *count; /* [groups] samples of each group */
    uint32_t groups;
    bool merged;
};

/* Return the pixel of a time in the range. */
static uint32_t counter_sample_pixel(const struct shown_counter *shown, tv_ns time)
{
    return (uint32_t)((double)(time - shown->from) * shown->pixels /
                      (double)(shown->to - shown->from));
}

/* The sample that is current when the range begins stands by itself. */
static void counter_group_samples(struct shown_counter *shown)
{
    uint32_t last_pixel = UINT32_MAX;
    shown->merged = shown->last - shown->first > shown->pixels + 1;
    for (uint32_t i = shown->first; i < shown->last; i++) {
        tv_ns time = tv_counter_sample_time(shown->trace, shown->counter, i);
        uint32_t pixel = time < shown->from ? UINT32_MAX : counter_sample_pixel(shown, time);
        if (shown->merged && shown->groups > 0 && pixel == last_pixel) {
            shown->count[shown->groups - 1]++;
            continue;
        }
        shown->begin[shown->groups] = i;
        shown->count[shown->groups++] = 1;
        last_pixel = pixel;
    }
}

/* Find the samples of the range and group them. */
static void counter_choose_samples(struct shown_counter *shown)
{
    assert(shown->pixels > 0);
    shown->first = tv_counter_samples_before(shown->trace, shown->counter, shown->from, false);
    shown->last = tv_counter_samples_before(shown->trace, shown->counter, shown->to, false);
    shown->first -= shown->first > 0;
    size_t most_groups = shown->last - shown->first;
    /* One group for each pixel, one for the sample before the range, and one
     * for rounding at its end. */
    if (most_groups > (size_t)shown->pixels + 2)
        most_groups = (size_t)shown->pixels + 2;
    shown->begin = tv_alloc(most_groups + 1, sizeof *shown->begin);
    shown->count = tv_alloc(most_groups + 1, sizeof *shown->count);
    counter_group_samples(shown);
}

enum counter_group_figure { FIRST, LAST, LOWEST, HIGHEST };

/* Return the first, last, lowest or highest value of a group. */
static double counter_group_value(const struct shown_counter *shown, uint32_t group,
                                  uint32_t series, enum counter_group_figure what)
{
    uint32_t begin = shown->begin[group], count = shown->count[group];
    if (!shown->merged || what == FIRST)
        return tv_counter_sample_value(shown->trace, shown->counter, begin, series);
    if (what == LAST)
        return tv_counter_sample_value(shown->trace, shown->counter, begin + count - 1, series);
    double value = NAN;
    for (uint32_t i = 0; i < count; i++) {
        double other = tv_counter_sample_value(shown->trace, shown->counter, begin + i, series);
        if (isnan(value) || (what == LOWEST ? other < value : other > value))
            value = other;
    }
    return value;
}

/* Write the samples of a counter, series by series. */
static void counter_write_samples(struct tv_out *out, const struct shown_counter *shown,
                                  uint32_t number)
{
    struct tv_answer_column column = tv_column_new(shown->groups);
    tv_out_le32(out, number);
    tv_out_le32(out, shown->counter->series_count);
    tv_out_le32(out, shown->groups);
    tv_out_le32(out, shown->merged);
    TV_COLUMN_OF_TIMES(out, &column, i,
                       tv_counter_sample_time(shown->trace, shown->counter, shown->begin[i]));
    for (uint32_t k = 0; k < shown->counter->series_count; k++)
        for (int what = FIRST; what <= (shown->merged ? HIGHEST : FIRST); what++) {
            for (uint32_t i = 0; i < shown->groups; i++)
                column.times[i] = counter_group_value(shown, i, k, (enum counter_group_figure)what);
            tv_column_write_times(out, &column);
        }
    tv_column_release(&column);
}

/* Return the pixels that keep the values of all series within the limit; 0: too many series. */
static uint32_t counter_limit_pixels(const struct tv_trace *trace, const uint32_t *numbers,
                                     uint32_t count, int64_t pixels)
{
    uint64_t series = 1;
    for (uint32_t i = 0; i < count; i++)
        series += trace->tables.counters.rows[numbers[i]].series_count;
    uint64_t most = VALUE_LIMIT / series;
    if ((uint64_t)pixels < most)
        return (uint32_t)pixels;
    return (uint32_t)most;
}

/* Read "0,3,4", at most COUNTER_LIMIT numbers. */
static enum tv_status counter_read_numbers(const struct tv_parameters *parameters,
                                           const struct tv_trace *trace, uint32_t *numbers,
                                           uint32_t *count, struct tv_error *err)
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

/* Answer api/counter_values in columns: for each counter a head, the times of
 * its groups, and one or four values for each group and series. */
enum tv_status tv_view_counter_values(const struct tv_view *view,
                                      const struct tv_parameters *parameters, struct tv_out *out,
                                      struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t numbers[COUNTER_LIMIT], count;
    struct tv_view_window window;
    enum tv_status status = tv_parameter_window(parameters, trace, PIXEL_LIMIT, &window, err);
    if (status == TV_OK)
        status = counter_read_numbers(parameters, trace, numbers, &count, err);
    if (status != TV_OK)
        return status;
    uint32_t pixels = counter_limit_pixels(trace, numbers, count, window.pixels);
    if (pixels == 0)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "counters: they have more than %d series; ask for fewer", (int)VALUE_LIMIT);
    tv_out_text(out, "TVC1");
    tv_out_le32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        struct shown_counter shown = {.trace = trace, .from = window.from, .to = window.to};
        shown.pixels = pixels;
        shown.counter = &trace->tables.counters.rows[numbers[i]];
        counter_choose_samples(&shown);
        counter_write_samples(out, &shown, numbers[i]);
        tv_free(shown.begin);
        tv_free(shown.count);
    }
    return TV_OK;
}

/* ---- Figures ---- */

static const struct tv_parameter_bounds any_time = {-((int64_t)1 << 61), (int64_t)1 << 61};

/* Read the counters as marks, which the caller frees; NULL: all. */
static enum tv_status counter_read_marks(const struct tv_parameters *parameters,
                                         const struct tv_trace *trace, bool **marks,
                                         struct tv_error *err)
{
    uint32_t numbers[COUNTER_LIMIT], count;
    *marks = NULL;
    if (!tv_parameter_text(parameters, "counters").data)
        return TV_OK;
    enum tv_status status = counter_read_numbers(parameters, trace, numbers, &count, err);
    if (status != TV_OK)
        return status;
    *marks = tv_alloc(trace->tables.counters.count, sizeof **marks);
    for (uint32_t i = 0; i < count; i++)
        (*marks)[numbers[i]] = true;
    return TV_OK;
}

/* Write the rows; `at` INT64_MIN: without the value at a time. */
static void counter_write_figures(struct tv_out *out, const struct tv_trace *trace,
                                  const struct tv_counter_figures *figures, tv_ns at)
{
    tv_member_number(out, "{\"from_ns\":", figures->from);
    tv_member_number(out, ",\"to_ns\":", figures->to);
    tv_out_text(out, ",\"rows\":[");
    for (size_t i = 0; i < figures->count; i++) {
        const struct tv_series_figures *row = &figures->rows[i];
        tv_member_number(out, i > 0 ? ",\n{\"counter\":" : "{\"counter\":", row->counter);
        tv_member_number(out, ",\"series\":", row->series);
        tv_out_char(out, ',');
        tv_counter_row_json(out, row);
        if (at != INT64_MIN) {
            tv_out_text(out, ",\"value\":");
            tv_json_put_double(out,
                               tv_counter_value_at(trace, row->counter, row->series, at).value);
        }
        tv_out_char(out, '}');
    }
    tv_out_text(out, "]}");
}

/* Answer api/counter_figures: what `traceview counters` prints about a range,
 * and the values at one time. */
enum tv_status tv_view_counter_figures(const struct tv_view *view,
                                       const struct tv_parameters *parameters, struct tv_out *out,
                                       struct tv_error *err)
{
    struct tv_selection selection;
    struct tv_counters_question question = {.counters = NULL};
    bool *marks = NULL;
    int64_t at;
    enum tv_status status = tv_parameter_integer(parameters, "at", any_time, INT64_MIN, &at, err);
    if (status == TV_OK)
        status = counter_read_marks(parameters, view->trace, &marks, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status == TV_OK) {
        question = (struct tv_counters_question){selection.from, selection.to, marks};
        tv_parameter_release_selection(&selection);
        struct tv_counter_figures *figures = tv_counter_figures_of(view->trace, &question);
        counter_write_figures(out, view->trace, figures, at);
        tv_counter_figures_free(figures);
    }
    tv_free(marks);
    return status;
}

/* ---- The next change, peak or trough ---- */

/* Read the parameters of api/counter_step. */
static enum tv_status counter_read_step(const struct tv_parameters *parameters,
                                        const struct tv_trace *trace, struct tv_counter_step *step,
                                        struct tv_error *err)
{
    static const char *const directions[] = {"1", "-1", NULL};
    static const char *const stops[] = {"change", "peak", "trough", NULL};
    struct tv_parameter_bounds counters = {0, (int64_t)trace->tables.counters.count - 1};
    int64_t counter, series;
    unsigned back, stop;
    enum tv_status status = tv_parameter_required(parameters, "counter", counters, &counter, err);
    if (status != TV_OK)
        return status;
    struct tv_parameter_bounds within = {
        0, (int64_t)trace->tables.counters.rows[counter].series_count - 1};
    status = tv_parameter_required(parameters, "series", within, &series, err);
    if (status == TV_OK)
        status = tv_parameter_required(parameters, "t", any_time, &step->time, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "direction", directions, &back, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "to", stops, &stop, err);
    if (status != TV_OK)
        return status;
    step->counter = (uint32_t)counter;
    step->series = (uint32_t)series;
    step->stop = (enum tv_counter_stop)stop;
    step->back = back;
    return TV_OK;
}

/* Answer api/counter_step: the next change, peak or trough of a series, or
 * null. */
enum tv_status tv_view_counter_step(const struct tv_view *view,
                                    const struct tv_parameters *parameters, struct tv_out *out,
                                    struct tv_error *err)
{
    struct tv_counter_step step;
    struct tv_counter_point point;
    enum tv_status status = counter_read_step(parameters, view->trace, &step, err);
    if (status != TV_OK)
        return status;
    if (!tv_counter_find_stop(view->trace, &step, &point)) {
        tv_out_text(out, "null");
        return TV_OK;
    }
    tv_member_number(out, "{\"time_ns\":", point.time);
    tv_out_text(out, ",\"value\":");
    tv_json_put_double(out, point.value);
    tv_out_char(out, '}');
    return TV_OK;
}

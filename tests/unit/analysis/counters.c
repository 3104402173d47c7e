/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of counters, of drawings of 1 ms a character: a digit is a sample with that value, '?' a
 * sample that has no value for the series, '-' and ' ' are no sample. */
#include "analysis/timeline/counters.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "fixture.h"
#include "unit.h"

enum { MS = 1000000, MOST = 64 };

/* Make a trace that lasts as long as the drawings, with one counter that has them as its series. */
static struct fixture draw_counter(const char *const *series, uint32_t count)
{
    static char line[MOST + 1];
    size_t length = strlen(series[0]);
    tv_ns times[MOST];
    uint64_t offsets[MOST];
    double values[MOST * 2];
    uint32_t names[2] = {0, 0};
    struct fixture_thread thread = {"main", NULL, {line}};
    memset(line, 'A', length);
    line[length] = 0;
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_counter counter = {.process = TV_NONE, .series_count = count};
    for (size_t i = 0; i < length; i++) {
        if (strchr("- ", series[0][i]))
            continue;
        uint32_t sample = counter.sample_count++;
        times[sample] = (tv_ns)i * MS;
        offsets[sample] = i;
        for (uint32_t k = 0; k < count; k++)
            values[sample * count + k] = series[k][i] == '?' ? NAN : series[k][i] - '0';
    }
    tv_tables_add_counter(&f.trace->tables, &counter, names, times, offsets, values);
    return f;
}

static struct tv_counter_figures *figures_of(const struct fixture *f, int64_t from, int64_t to)
{
    struct tv_counters_question question = {from * MS, to * MS, NULL};
    return tv_counter_figures_of(f->trace, &question);
}

/* Equal but for rounding. */
static void assert_near(double found, double expected)
{
    assert_true(fabs(found - expected) <= 1e-12 * fabs(expected));
}

static void assert_point(struct tv_counter_point point, int64_t ms, double value)
{
    assert_int_equal(point.time, ms * MS);
    assert_near(point.value, value);
}

/* From 3 to 12: 2 holds till 5, 6 till 8, nothing till 10, 1 till 12.
 * The mean is (2*2 + 6*3 + 1*2) / 7, the change 1 - 2 in 7 known ms. */
static void figures_are_those_of_the_step_function(void **state)
{
    (void)state;
    //                          0123456789abcdef
    const char *series[] = {"  2--6--?-1---9-"};
    struct fixture f = draw_counter(series, 1);
    struct tv_counter_figures *figures = figures_of(&f, 3, 12);
    assert_int_equal(figures->count, 1);
    const struct tv_series_figures *row = &figures->rows[0];
    assert_int_equal(row->samples, 2); /* 6 and 1; 2 was told before, '?' tells nothing */
    assert_int_equal(row->time, 7 * MS);
    assert_point(row->first, 3, 2);
    assert_point(row->last, 10, 1);
    assert_point(row->low, 10, 1);
    assert_point(row->high, 5, 6);
    assert_near(row->mean, 24.0 / 7);
    assert_near(row->change, -1);
    assert_near(row->rate, -1 / 0.007);
    tv_counter_figures_free(figures);
    fixture_free(&f);
}

static void missing_values_have_no_figure(void **state)
{
    (void)state;
    const char *series[] = {"  --5-?-", "  --??3-"};
    struct fixture f = draw_counter(series, 2);
    struct tv_counter_figures *figures = figures_of(&f, 0, 4);
    assert_int_equal(figures->rows[0].samples, 0);
    assert_int_equal(figures->rows[0].time, 0);
    assert_true(isnan(figures->rows[0].mean) && isnan(figures->rows[0].first.value) &&
                isnan(figures->rows[0].rate));
    tv_counter_figures_free(figures);
    figures = figures_of(&f, 0, 8);
    assert_int_equal(figures->rows[0].time, 2 * MS); /* 5, until a sample does not tell it */
    assert_int_equal(figures->rows[1].time, 2 * MS); /* 3, until the end of the trace */
    assert_point(figures->rows[1].last, 6, 3);
    tv_counter_figures_free(figures);
    fixture_free(&f);
}

/* A sample at the end of the range belongs to what follows; one at the trace's end is its last. */
static void the_last_sample_counts(void **state)
{
    (void)state;
    const char *series[] = {"1--3--"};
    struct fixture f = draw_counter(series, 1);
    f.trace->end = 3 * MS;
    struct tv_counter_figures *whole = figures_of(&f, 0, 100), *part = figures_of(&f, 0, 2);
    assert_int_equal(whole->to, 3 * MS);
    assert_point(whole->rows[0].high, 3, 3);
    assert_near(whole->rows[0].mean, 1); /* 3 holds for no time */
    assert_near(part->rows[0].high.value, 1);
    tv_counter_figures_free(whole);
    tv_counter_figures_free(part);
    fixture_free(&f);
}

/* The last of several samples at one time holds; a value that ends where the range begins is not in
 * it. */
static void samples_at_one_time(void **state)
{
    (void)state;
    const char *series[] = {"8-123-"};
    struct fixture f = draw_counter(series, 1);
    for (int i = 1; i < 4; i++)
        f.trace->tables.counter_times[i] = 2 * MS;
    struct tv_counter_figures *figures = figures_of(&f, 2, 6);
    assert_int_equal(figures->rows[0].samples, 3);
    assert_point(figures->rows[0].first, 2, 1);
    assert_point(figures->rows[0].last, 2, 3);
    assert_near(figures->rows[0].mean, 3);
    assert_point(tv_counter_value_at(f.trace, 0, 0, 2 * MS), 2, 3);
    assert_point(tv_counter_value_at(f.trace, 0, 0, 2 * MS - 1), 0, 8);
    tv_counter_figures_free(figures);
    fixture_free(&f);
}

/* Values whose sum is beyond what a double can hold have a mean between them nevertheless. */
static void huge_values_keep_the_mean_within(void **state)
{
    (void)state;
    const char *series[] = {"1-2-"};
    struct fixture f = draw_counter(series, 1);
    f.trace->tables.counter_values[0] = 1.6e308;
    f.trace->tables.counter_values[1] = 1.7e308;
    struct tv_counter_figures *figures = figures_of(&f, 0, 4);
    assert_true(figures->rows[0].mean >= 1.6e308 && figures->rows[0].mean <= 1.7e308);
    tv_counter_figures_free(figures);
    fixture_free(&f);
}

/* ---- Against a naive reference: a cell for each millisecond ---- */

static double cell(const char *series, int at)
{
    for (; at >= 0; at--)
        if (!strchr("- ", series[at]))
            return series[at] == '?' ? NAN : series[at] - '0';
    return NAN;
}

static void roll_drawing(char *series, int length, uint32_t *dice)
{
    for (int i = 0; i < length; i++) {
        uint32_t what = fixture_roll(dice, 10);
        series[i] = what < 4 ? (char)('0' + fixture_roll(dice, 5)) : what < 5 ? '?' : '-';
    }
    series[length] = 0;
}

static void figures_equal_those_of_cells(void **state)
{
    (void)state;
    uint32_t dice = 7;
    for (int round = 0; round < 200; round++) {
        char series[MOST + 1];
        const char *drawn[] = {series};
        int length = 10 + (int)fixture_roll(&dice, 40), known = 0;
        roll_drawing(series, length, &dice);
        struct fixture f = draw_counter(drawn, 1);
        int from = (int)fixture_roll(&dice, 5), to = 6 + (int)fixture_roll(&dice, 4);
        double sum = 0, low = NAN, high = NAN, first = NAN, last = NAN;
        for (int i = from; i < to; i++) {
            double value = cell(series, i);
            if (isnan(value))
                continue;
            known++;
            sum += value;
            low = isnan(low) || value < low ? value : low;
            high = isnan(high) || value > high ? value : high;
            first = isnan(first) ? value : first;
            last = value;
        }
        struct tv_counter_figures *figures = figures_of(&f, from, to);
        const struct tv_series_figures *row = &figures->rows[0];
        assert_int_equal(row->time, known * MS);
        assert_int_equal(isnan(row->mean), known == 0);
        if (known > 0) {
            assert_near(row->mean, sum / known);
            assert_near(row->low.value, low);
            assert_near(row->high.value, high);
            assert_near(row->first.value, first);
            assert_near(row->last.value, last);
            assert_near(row->rate, (last - first) / (known / 1000.0));
        }
        tv_counter_figures_free(figures);
        fixture_free(&f);
    }
}

/* ---- Peaks and troughs ---- */

/* Check that going on from one end finds the stops at these milliseconds, and no more. */
static void assert_stops(const char *series, enum tv_counter_stop stop, bool back,
                         const char *expected)
{
    const char *drawn[] = {series};
    struct fixture f = draw_counter(drawn, 1);
    struct tv_counter_step step = {.stop = stop, .back = back};
    struct tv_counter_point found;
    step.time = back ? INT64_MAX : INT64_MIN;
    size_t length = strlen(series);
    char marks[MOST + 1];
    memset(marks, ' ', length);
    marks[length] = 0;
    while (tv_counter_find_stop(f.trace, &step, &found)) {
        size_t at = (size_t)(found.time / MS);
        assert_in_range(at, 0, length - 1);
        assert_true(back ? found.time < step.time : found.time > step.time);
        assert_near(found.value, cell(series, (int)at));
        marks[at] = '^';
        step.time = found.time;
    }
    assert_string_equal(marks, expected);
    fixture_free(&f);
}

static void stops_are_found_from_both_sides(void **state)
{
    (void)state;
    static const struct {
        const char *series, *stops[3]; /* changes, peaks, troughs */
    } cases[] = {
        {"1-3-2-5-4", {"^ ^ ^ ^ ^", "  ^   ^  ", "^   ^   ^"}},
        {"1-33-2?2-3", {"^ ^  ^   ^", "  ^      ^", "^    ^    "}}, /* '?' is skipped */
        {"4-4-4", {"^    ", "     ", "     "}},                     /* a constant has no extremes */
        {"?-?", {"   ", "   ", "   "}},
        {"?7--", {" ^  ", "    ", "    "}},
        {"?5?1?", {" ^ ^ ", " ^   ", "   ^ "}},
        {"12345", {"^^^^^", "    ^", "^    "}},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        for (int back = 0; back < 2; back++)
            for (int stop = 0; stop < 3; stop++)
                assert_stops(cases[i].series, (enum tv_counter_stop)stop, back,
                             cases[i].stops[stop]);
}

/* ---- Order ---- */

static void rows_without_the_figure_come_last(void **state)
{
    (void)state;
    const char *series[] = {"??", "13"}, *other[] = {"4-", "2-"};
    struct fixture f = draw_counter(series, 2), g = draw_counter(other, 2);
    struct tv_counter counter = {.process = TV_NONE, .series_count = 2, .sample_count = 1};
    uint32_t names[] = {0, 0};
    tv_tables_add_counter(&f.trace->tables, &counter, names, g.trace->tables.counter_times,
                          g.trace->tables.counter_offsets, g.trace->tables.counter_values);
    struct tv_counter_figures *figures = figures_of(&f, 0, 2);
    tv_counter_figures_sort(figures, f.trace, TV_COUNTERS_BY_MEAN); /* -, 2, 4, 2 */
    static const uint32_t expected[][2] = {{1, 0}, {0, 1}, {1, 1}, {0, 0}};
    for (size_t i = 0; i < TV_COUNT(expected); i++) {
        assert_int_equal(figures->rows[i].counter, expected[i][0]);
        assert_int_equal(figures->rows[i].series, expected[i][1]);
    }
    tv_counter_figures_free(figures);
    fixture_free(&f);
    fixture_free(&g);
}

UNIT_TESTS(counters, cmocka_unit_test(figures_are_those_of_the_step_function),
           cmocka_unit_test(missing_values_have_no_figure),
           cmocka_unit_test(the_last_sample_counts), cmocka_unit_test(samples_at_one_time),
           cmocka_unit_test(huge_values_keep_the_mean_within),
           cmocka_unit_test(figures_equal_those_of_cells),
           cmocka_unit_test(stops_are_found_from_both_sides),
           cmocka_unit_test(rows_without_the_figure_come_last));

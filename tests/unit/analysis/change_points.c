/* SPDX-License-Identifier: Apache-2.0 */
/* Change points.  Statistics are SciPy's (mannwhitneyu, with its normal approximation); rates are
 * counted in simulated series, with fixed seeds. */
#include "unit.h"

#include <math.h>

#include "analysis/compare/change_points.h"
#include "base/memory.h"
#include "base/types.h"

static void assert_within(double found, double expected, double within)
{
    if (!(fabs(found - expected) <= within))
        fail_msg("found %.12g, expected %.12g", found, expected);
}

/* 12 values; the last 6 are above all others. U = 36 of 36: (36 - 18) / sqrt(36 * 13 / 12). */
static void statistic_of_a_step(void **state)
{
    static const double values[12] = {3, 1, 2, 5, 4, 6, 9, 7, 8, 12, 11, 10};
    uint32_t place;
    (void)state;
    assert_within(tv_change_statistic(values, 12, &place), 18 / sqrt(39), 1e-12);
    assert_int_equal(place, 6);
}

/* Equal values have no ranks: U is half of the pairs. */
static void statistic_of_equal_values(void **state)
{
    static const double values[12] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    uint32_t place;
    (void)state;
    assert_within(tv_change_statistic(values, 12, &place), 0, 1e-12);
}

static double points_uniform(uint64_t *chance)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return ((double)(*chance >> 11) + 0.5) * 0x1p-53;
}

static double points_normal(uint64_t *chance)
{
    double radius = sqrt(-2 * log(points_uniform(chance)));
    return radius * cos(6.283185307179586 * points_uniform(chance));
}

/* Fill a series whose neighbours are correlated, with this standard deviation. */
static void points_fill(double *values, uint32_t count, double correlation, double deviation,
                        uint64_t *chance)
{
    double value = points_normal(chance);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = deviation * value;
        value = correlation * value + sqrt(1 - correlation * correlation) * points_normal(chance);
    }
}

/* Of series without a change a tenth has a p below 0.1, and a hundredth one below 0.01. */
static void bounds_hold_in_simulation(void **state)
{
    static const struct {
        uint32_t count;
        double correlation;
    } cases[] = {{20, 0}, {50, 0.4}, {100, 0.2}};
    enum { SERIES = 1500 };
    double values[100];
    uint64_t chance = 12345;
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        unsigned tenth = 0, hundredth = 0;
        for (unsigned n = 0; n < SERIES; n++) {
            uint32_t place;
            points_fill(values, cases[i].count, cases[i].correlation, 1, &chance);
            double z = tv_change_statistic(values, cases[i].count, &place);
            double p = tv_change_statistic_p(z, cases[i].count, cases[i].correlation);
            tenth += p <= 0.1;
            hundredth += p <= 0.01;
        }
        if (tenth < 90 || tenth > 215 || hundredth > 32)
            fail_msg("%u values: %u and %u of %u", cases[i].count, tenth, hundredth, SERIES);
    }
}

enum { ROWS = 60, COLUMNS = 100 };

static double *points_make(double correlation, double wild, uint64_t *chance)
{
    double *logs = tv_alloc((size_t)ROWS * COLUMNS, sizeof *logs);
    for (uint32_t row = 0; row < ROWS; row++)
        points_fill(logs + (size_t)row * COLUMNS, COLUMNS,
                    row % 3 == 0 ? correlation : correlation / 2, 0.02, chance);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        if (points_uniform(chance) < wild)
            logs[i] -= 0.16 * log(points_uniform(chance));
    return logs;
}

/* Independent noise, noise that depends on its past (in a third of the rows twice as much), and 3 %
 * wild values: nothing changed, nothing is found. */
static void unchanged_series_have_no_change_point(void **state)
{
    static const double kinds[][2] = {{0, 0}, {0.5, 0}, {0, 0.03}};
    uint64_t chance = 777;
    (void)state;
    for (size_t i = 0; i < 3 * TV_COUNT(kinds); i++) {
        struct tv_change_points points;
        double *logs = points_make(kinds[i % 3][0], kinds[i % 3][1], &chance);
        tv_change_points_init(&points, logs, ROWS, COLUMNS);
        assert_int_equal(points.judged, ROWS);
        assert_int_equal(points.count, 0);
        tv_change_points_release(&points);
        tv_free(logs);
    }
}

/* A row goes up by 10 % and down again, another one lacks versions, a third is too short. */
static void steps_are_found(void **state)
{
    uint64_t chance = 99;
    double *logs = points_make(0, 0, &chance);
    struct tv_change_points points;
    (void)state;
    for (uint32_t i = 30; i < 70; i++)
        logs[7 * COLUMNS + i] += log(1.1);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        logs[9 * COLUMNS + i] = i % 2 ? NAN : logs[9 * COLUMNS + i] - (i >= 60 ? 0.3 : 0);
        logs[11 * COLUMNS + i] = i < 19 ? i > 9 : NAN;
    }
    tv_change_points_init(&points, logs, ROWS, COLUMNS);
    assert_int_equal(points.judged, ROWS - 1);
    assert_int_equal(points.count, 3);
    assert_int_equal(points.items[0].row, 9);
    assert_int_equal(points.items[0].column, 60);
    assert_within(points.items[0].difference, -0.3, 0.03);
    for (size_t i = 1; i < 3; i++) {
        bool up = points.items[i].difference > 0;
        assert_int_equal(points.items[i].row, 7);
        assert_in_range(points.items[i].column, up ? 28 : 68, up ? 32 : 72);
        assert_within(fabs(points.items[i].difference), log(1.1), 0.02);
    }
    tv_change_points_release(&points);
    tv_free(logs);
}

/* Steps below 3 % are no points, and nothing is judged without rows. */
static void small_steps_are_found_without_false_alarms(void **state)
{
    double logs[3 * 40];
    struct tv_change_points points;
    (void)state;
    for (uint32_t i = 0; i < 120; i++)
        logs[i] = (i % 40 >= 20 ? 0.025 : 0) + 0.0001 * (i * 7 % 11);
    tv_change_points_init(&points, logs, 3, 40);
    assert_int_equal(points.count, 0);
    tv_change_points_release(&points);
    tv_change_points_init(&points, logs, 0, 0);
    assert_int_equal(points.judged + points.count, 0);
    tv_change_points_release(&points);
}

UNIT_TESTS(change_points, cmocka_unit_test(statistic_of_a_step),
           cmocka_unit_test(statistic_of_equal_values), cmocka_unit_test(bounds_hold_in_simulation),
           cmocka_unit_test(unchanged_series_have_no_change_point),
           cmocka_unit_test(steps_are_found),
           cmocka_unit_test(small_steps_are_found_without_false_alarms));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_points.c - see change_points.h.
 *
 * Statistic.  At a place t of a series, and for w = 5, 10, 20, 30, U counts the pairs in which one
 * of the w values from t on is above one of the w values before it; near the ends there are fewer
 * values, but at least 5.  z = |U - its mean| / its standard deviation, for exchangeable values.
 * Single wild values move a rank, not a mean.
 *
 * Bounds.  The largest z over all t and w of 100,000 (of the longest 60,000) simulated Gaussian
 * series without a change: its upper points, by the length of the series and by the correlation of
 * neighbours.  Between and beyond them ln p is linear in z^2, as in the tail of a normal
 * distribution.
 *
 * Dependence.  The correlation of neighbours is estimated from what a running median leaves, so
 * that a step does not raise it.  It is drawn towards the median of all series, the more the
 * shorter the series is, and is never below it.
 */
#include "analysis/compare/change_points.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/changes.h"
#include "base/memory.h"
#include "base/types.h"

#define MIN_WINDOW 5u
#define LEVEL 20u          /* columns whose median is the level beside a point */
#define NEIGHBOURS 10u     /* of the running median, on either side */
#define MEDIAN_TAKES 0.1   /* the running median takes so much of the correlation off */
#define MIN_STEP 2.0       /* of z^2 between two bounds */
#define SHRINKAGE 50.0     /* values that the median of all dependences is worth */
#define MAX_DEPENDENCE 0.8 /* series that depend more drift: they are not judged */

/* ---- Statistic ---- */

static double points_rank_z(const double *values, uint32_t at, uint32_t before, uint32_t after)
{
    double above = 0;
    for (uint32_t i = at; i < at + after; i++) {
        uint32_t twice = 0;
        for (uint32_t k = at - before; k < at; k++)
            twice += (uint32_t)(values[i] > values[k]) + (uint32_t)(values[i] >= values[k]);
        above += twice / 2.0;
    }
    double pairs = (double)before * after;
    return fabs(above - pairs / 2) / sqrt(pairs * (before + after + 1) / 12);
}

double tv_change_statistic(const double *values, uint32_t count, uint32_t *place)
{
    static const uint32_t windows[] = {5, 10, 20, 30};
    double largest = 0;
    *place = 0;
    for (uint32_t at = MIN_WINDOW; at + MIN_WINDOW <= count; at++) {
        for (size_t i = 0; i < TV_COUNT(windows); i++) {
            uint32_t before = at < windows[i] ? at : windows[i];
            uint32_t after = count - at < windows[i] ? count - at : windows[i];
            double z = points_rank_z(values, at, before, after);
            if (z > largest) {
                largest = z;
                *place = at;
            }
        }
    }
    return largest;
}

/* ---- Bounds ---- */

#define BOUND_LENGTHS 3u
#define BOUND_DEPENDENCES 5u
#define BOUND_LEVELS 4u

static const uint32_t bound_length[BOUND_LENGTHS] = {20, 50, 200};
static const double bound_dependence[BOUND_DEPENDENCES] = {0, 0.2, 0.4, 0.6, 0.8};
static const double bound_level[BOUND_LEVELS] = {0.1, 0.01, 0.001, 0.0001};
static const double bound[BOUND_LENGTHS][BOUND_DEPENDENCES][BOUND_LEVELS] = {
    {{2.61, 3.05, 3.40, 3.70},
     {2.71, 3.30, 3.63, 3.76},
     {3.06, 3.55, 3.76, 3.78},
     {3.38, 3.76, 3.78, 3.78},
     {3.67, 3.78, 3.78, 3.78}},
    {{2.89, 3.48, 3.88, 4.31},
     {3.27, 3.88, 4.38, 4.80},
     {3.71, 4.43, 4.94, 5.31},
     {4.33, 5.10, 5.58, 5.88},
     {5.19, 5.85, 6.04, 6.06}},
    {{3.33, 3.81, 4.27, 4.61},
     {3.78, 4.40, 4.84, 5.30},
     {4.38, 5.04, 5.50, 5.99},
     {5.17, 5.87, 6.27, 6.52},
     {6.28, 6.62, 6.65, 6.65}},
};

/* Interpolate the bounds of a length and a dependence. */
static void points_find_bounds(uint32_t count, double dependence, double bounds[BOUND_LEVELS])
{
    double column =
        dependence / (bound_dependence[BOUND_DEPENDENCES - 1] / (BOUND_DEPENDENCES - 1));
    uint32_t left = column >= BOUND_DEPENDENCES - 1 ? BOUND_DEPENDENCES - 2 : (uint32_t)column;
    uint32_t upper = 0;
    while (upper + 2 < BOUND_LENGTHS && count > bound_length[upper + 1])
        upper++;
    double share = log((double)count / bound_length[upper]) /
                   log((double)bound_length[upper + 1] / bound_length[upper]);
    share = share > 1 ? 1 : share < 0 ? 0 : share;
    column -= left;
    for (uint32_t i = 0; i < BOUND_LEVELS; i++) {
        double short_one =
            bound[upper][left][i] * (1 - column) + bound[upper][left + 1][i] * column;
        double long_one =
            bound[upper + 1][left][i] * (1 - column) + bound[upper + 1][left + 1][i] * column;
        bounds[i] = short_one * (1 - share) + long_one * share;
        /* Short series have a largest possible statistic, which many reach. */
        if (i > 0 && bounds[i] * bounds[i] < bounds[i - 1] * bounds[i - 1] + MIN_STEP)
            bounds[i] = sqrt(bounds[i - 1] * bounds[i - 1] + MIN_STEP);
    }
}

double tv_change_statistic_p(double statistic, uint32_t count, double dependence)
{
    double bounds[BOUND_LEVELS];
    uint32_t level = 0;
    if (dependence > MAX_DEPENDENCE || count < TV_MIN_VERSIONS)
        return 1;
    points_find_bounds(count, dependence < 0 ? 0 : dependence, bounds);
    while (level + 2 < BOUND_LEVELS && statistic > bounds[level + 1])
        level++;
    double low = bounds[level] * bounds[level], high = bounds[level + 1] * bounds[level + 1];
    double logarithm =
        log(bound_level[level]) + (statistic * statistic - low) / (high - low) *
                                      log(bound_level[level + 1] / bound_level[level]);
    double p = exp(logarithm);
    if (count > bound_length[BOUND_LENGTHS - 1]) /* as several series of that length */
        p *= (double)count / bound_length[BOUND_LENGTHS - 1];
    return p > 1 ? 1 : p;
}

/* ---- Dependence ---- */

static int points_compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Return the median of values[from..end). */
static double points_level(const double *values, uint32_t from, uint32_t end)
{
    double some[2 * NEIGHBOURS + 1];
    assert(end - from <= TV_COUNT(some));
    memcpy(some, values + from, (end - from) * sizeof *some);
    return tv_changes_median(some, end - from);
}

/* Estimate the correlation of neighbours; `left` has room for the series. */
static double points_dependence(const double *values, uint32_t count, double *left)
{
    double squares = 0, products = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
        uint32_t end = i + NEIGHBOURS + 1 < count ? i + NEIGHBOURS + 1 : count;
        left[i] = values[i] - points_level(values, from, end);
        squares += left[i] * left[i];
    }
    double most = 3 * sqrt(squares / count);
    squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        left[i] = left[i] > most ? most : left[i] < -most ? -most : left[i];
        squares += left[i] * left[i];
        products += i > 0 ? left[i] * left[i - 1] : 0;
    }
    double dependence = squares > 0 ? products / squares + MEDIAN_TAKES : 0;
    return dependence > 0 ? dependence : 0;
}

/* ---- All series ---- */

/* A row without its unknown values. */
struct points_series {
    uint32_t row, count, place; /* place: of the largest statistic */
    double *values;
    uint32_t *columns;
    double statistic, dependence, p;
};

static struct points_series points_read_row(const double *logs, uint32_t row, uint32_t columns)
{
    struct points_series series = {.row = row, .p = 1};
    series.values = tv_alloc(columns, sizeof *series.values);
    series.columns = tv_alloc(columns, sizeof *series.columns);
    for (uint32_t i = 0; i < columns; i++) {
        double value = logs[(size_t)row * columns + i];
        if (isnan(value))
            continue;
        series.columns[series.count] = i;
        series.values[series.count++] = value;
    }
    return series;
}

static void points_release_row(struct points_series *series)
{
    tv_free(series->values);
    tv_free(series->columns);
}

/* Return the largest p with which a row counts as changed; 0: none does. */
static double points_limit(const struct points_series *series, uint32_t count)
{
    double *p = tv_alloc(count, sizeof *p), limit = 0;
    for (uint32_t i = 0; i < count; i++)
        p[i] = series[i].p;
    qsort(p, count, sizeof *p, points_compare_doubles);
    for (uint32_t i = 0; i < count; i++)
        if (p[i] <= TV_POINT_FALSE_RATE * (i + 1) / count)
            limit = p[i];
    tv_free(p);
    return limit;
}

/* Find the strongest point between two places, and then on either side of it. */
static void points_split(struct tv_change_points *points, const struct points_series *series,
                         uint32_t from, uint32_t end, double limit)
{
    /* At most one point for MIN_WINDOW values, so recursion is not deep; the larger part loops.
     */
    while (end - from >= 2 * MIN_WINDOW) {
        uint32_t place;
        double z = tv_change_statistic(series->values + from, end - from, &place);
        double p = tv_change_statistic_p(z, series->count, series->dependence);
        uint32_t at = from + place;
        if (p > limit || place == 0)
            return;
        uint32_t first = at - from > LEVEL ? at - LEVEL : from;
        uint32_t last = end - at > LEVEL ? at + LEVEL : end;
        double difference =
            points_level(series->values, at, last) - points_level(series->values, first, at);
        if (fabs(exp(difference) - 1) < TV_MIN_POINT)
            return;
        points->items = tv_array_reserve(points->items, &points->capacity, points->count + 1,
                                         sizeof *points->items);
        points->items[points->count++] =
            (struct tv_change_point){series->row, series->columns[at], difference, p};
        if (at - from < end - at) {
            points_split(points, series, from, at, limit);
            from = at;
        } else {
            points_split(points, series, at, end, limit);
            end = at;
        }
    }
}

/* Order the largest changes first.  The order is total, so that every C library's qsort gives the
 * same list. */
static int points_compare(const void *left, const void *right)
{
    const struct tv_change_point *a = left, *b = right;
    double x = fabs(a->difference), y = fabs(b->difference);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

/* Judge the rows that are long enough: statistic, dependence and p. */
static uint32_t points_judge(struct points_series *series, uint32_t rows, const double *logs,
                             uint32_t columns)
{
    double *left = tv_alloc((size_t)columns + rows, sizeof *left), *all = left + columns;
    uint32_t judged = 0;
    for (uint32_t row = 0; row < rows; row++) {
        struct points_series *one = &series[judged];
        *one = points_read_row(logs, row, columns);
        if (one->count < TV_MIN_VERSIONS) {
            points_release_row(one);
            continue;
        }
        one->statistic = tv_change_statistic(one->values, one->count, &one->place);
        one->dependence = points_dependence(one->values, one->count, left);
        all[judged++] = one->dependence;
    }
    double middle = judged > 0 ? tv_changes_median(all, judged) : 0;
    for (uint32_t i = 0; i < judged; i++) {
        double trust = series[i].count / (series[i].count + SHRINKAGE);
        if (series[i].dependence < middle)
            series[i].dependence = middle;
        series[i].dependence = middle + trust * (series[i].dependence - middle);
        series[i].p =
            tv_change_statistic_p(series[i].statistic, series[i].count, series[i].dependence);
    }
    tv_free(left);
    return judged;
}

void tv_change_points_init(struct tv_change_points *points, const double *logs, uint32_t rows,
                           uint32_t columns)
{
    struct points_series *series = tv_alloc(rows, sizeof *series);
    *points = (struct tv_change_points){.judged = points_judge(series, rows, logs, columns)};
    double limit = points_limit(series, points->judged);
    for (uint32_t i = 0; i < points->judged; i++) {
        if (series[i].p <= limit)
            points_split(points, &series[i], 0, series[i].count, limit);
        points_release_row(&series[i]);
    }
    if (points->count > 1)
        qsort(points->items, points->count, sizeof *points->items, points_compare);
    tv_free(series);
}

void tv_change_points_release(struct tv_change_points *points)
{
    tv_free(points->items);
}

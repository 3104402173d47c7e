/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_points.h - the versions since which a figure is another, in series of many methods.
 *
 *     logs   v1    v2    v3  ...          a row a method, a column a version; NAN: unknown
 *     parse  7.01  7.03  7.02  7.11  7.12 ...
 *                                ^ change point: +9 %
 *
 * At each version the ranks of up to 30 versions before and from it on are compared; the largest
 * rank statistic of a series is held against that of series without a change that depend on their
 * past as strongly (AR(1)), and Benjamini-Hochberg over all series keeps the promise: a fleet in
 * which nothing changed shows any point in at most 1 of 100 cases.
 */
#ifndef TV_ANALYSIS_COMPARE_CHANGE_POINTS_H
#define TV_ANALYSIS_COMPARE_CHANGE_POINTS_H

#include <stddef.h>
#include <stdint.h>

#define TV_MIN_VERSIONS 20u      /* shorter series are not judged */
#define TV_MIN_POINT 0.03        /* smaller changes of the median are no points */
#define TV_POINT_FALSE_RATE 0.01 /* of the promise */

struct tv_change_point {
    uint32_t row, column; /* the first column of the new level */
    double difference;    /* of the medians of up to 20 columns on either side, as logs */
    double p;             /* of the row's largest statistic as large, before Benjamini-Hochberg */
};

struct tv_change_points {
    struct tv_change_point *items; /* by the size of their change, the largest first */
    size_t count, capacity;
    uint32_t judged; /* rows with enough columns */
};

/* Find the change points of all rows. */
void tv_change_points_init(struct tv_change_points *points, const double *logs, uint32_t rows,
                           uint32_t columns);
void tv_change_points_release(struct tv_change_points *points);

/* ---- For tests ---- */

/* Return the largest rank statistic of a series, and its place. */
double tv_change_statistic(const double *values, uint32_t count, uint32_t *place);

/* Return the probability that a series of `count` values without a change, with this dependence of
 * neighbours, has a statistic as large. */
double tv_change_statistic_p(double statistic, uint32_t count, double dependence);

#endif

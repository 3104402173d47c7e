/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution.h - the special functions that comparing runs needs: polygamma functions, and the
 * tail and the quantiles of Student's t distribution.
 *
 * The C library has none of these functions; own ones also give equal output for equal input on
 * every machine.  Tests hold them against values of SciPy.
 */
#ifndef TV_ANALYSIS_COMPARE_DISTRIBUTION_H
#define TV_ANALYSIS_COMPARE_DISTRIBUTION_H

/* Return the derivatives 1, 2 and 3 of log gamma, for x > 0. */
double tv_digamma(double x);
double tv_trigamma(double x);
double tv_tetragamma(double x);

/* Return the x whose trigamma is y, for y > 0. */
double tv_trigamma_inverse(double y);

/* Return the probability that a t of `freedom` degrees (> 0, infinity allowed) is above `t`. */
double tv_student_tail(double t, double freedom);

/* Return the t that is exceeded with probability `tail`, 0 < tail < 0.5. */
double tv_student_quantile(double tail, double freedom);

#endif

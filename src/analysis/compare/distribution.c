/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distribution.c - special functions (distribution.h).
 *
 * The derivatives of log gamma: the recurrence psi(x) = psi(x + 1) - 1/x, and its like for the
 * higher ones, leads from any x to one of at least ASYMPTOTIC.  There the series in 1/x^2 with the
 * Bernoulli numbers is exact (Abramowitz and Stegun 6.3, 6.4).
 */
#include "analysis/compare/distribution.h"

#include <assert.h>
#include <math.h>

/* From here on the asymptotic series are exact to 15 digits. */
#define ASYMPTOTIC 12.0

double tv_digamma(double x)
{
    assert(x > 0);
    double sum = 0;
    for (; x < ASYMPTOTIC; x++)
        sum -= 1 / x;
    double square = 1 / (x * x);
    return sum + log(x) - 0.5 / x -
           square *
               (1.0 / 12 -
                square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square / 132))));
}

double tv_trigamma(double x)
{
    assert(x > 0);
    double sum = 0;
    for (; x < ASYMPTOTIC; x++)
        sum += 1 / (x * x);
    double square = 1 / (x * x);
    return sum + 1 / x + square / 2 +
           square / x *
               (1.0 / 6 -
                square * (1.0 / 30 - square * (1.0 / 42 - square * (1.0 / 30 - square * 5 / 66))));
}

double tv_tetragamma(double x)
{
    assert(x > 0);
    double sum = 0;
    for (; x < ASYMPTOTIC; x++)
        sum -= 2 / (x * x * x);
    double square = 1 / (x * x);
    return sum - square - square / x -
           square * square *
               (1.0 / 2 -
                square * (1.0 / 6 - square * (1.0 / 6 - square * (3.0 / 10 - square * 5 / 6))));
}

/* Newton's method on 1 / trigamma, which is nearly linear (Smyth 2004, appendix). */
double tv_trigamma_inverse(double y)
{
    assert(y > 0);
    if (y > 1e7)
        return 1 / sqrt(y);
    if (y < 1e-6)
        return 1 / y;
    double x = 0.5 + 1 / y;
    for (int i = 0; i < 30; i++) {
        double tri = tv_trigamma(x);
        x += tri * (1 - tri / y) / tv_tetragamma(x);
    }
    return x;
}

/* Return log gamma, by Stirling's series. */
static double distribution_log_gamma(double x)
{
    double product = 1;
    for (; x < ASYMPTOTIC; x++)
        product *= x;
    double square = 1 / (x * x);
    return (x - 0.5) * log(x) - x + 0.918938533204672742 - log(product) +
           (1.0 / 12 -
            square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188)))) /
               x;
}

/* Return the continued fraction of the incomplete beta function (modified Lentz's method). */
static double distribution_beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m <= 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        fraction *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        fraction *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return fraction;
}

/* Return the regularised incomplete beta function. */
static double distribution_beta(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    double front = exp(distribution_log_gamma(a + b) - distribution_log_gamma(a) -
                       distribution_log_gamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * distribution_beta_fraction(a, b, x) / a
                                     : 1 - front * distribution_beta_fraction(b, a, 1 - x) / b;
}

double tv_student_tail(double t, double freedom)
{
    assert(freedom > 0);
    if (isnan(t))
        return 1;
    double above = freedom > 1e9
                       ? erfc(fabs(t) / sqrt(2.0)) / 2
                       : distribution_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
    return t >= 0 ? above : 1 - above;
}

double tv_student_quantile(double tail, double freedom)
{
    assert(tail > 0 && tail < 0.5);
    double low = 0, high = 1;
    while (tv_student_tail(high, freedom) > tail && high < 1e100)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        double middle = low + (high - low) / 2;
        if (tv_student_tail(middle, freedom) > tail)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

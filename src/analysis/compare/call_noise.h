/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_noise.h - what the calls of one run on each side can tell: how many independent calls they
 * are as good as, and how uncertain the change of their mean is within these two traces.
 *
 * Calls of one run depend on each other, so that thousands can be worth a few dozen; and how much
 * runs differ is not in them at all.  There is no p.
 */
#ifndef TV_ANALYSIS_COMPARE_CALL_NOISE_H
#define TV_ANALYSIS_COMPARE_CALL_NOISE_H

#include "base/types.h"

/* Return as how many independent values the mean of `count` values, in the order of time, is as
 * good: by the initial positive sequence of their autocovariances (Geyer 1992).  At most `count`,
 * which it is for equal values. */
double tv_call_noise_effective(const double *values, size_t count);

/* The relative change of the mean, and the 95 % interval of a block bootstrap (circular blocks,
 * 1,000 drawings with a fixed seed). */
struct tv_call_noise {
    double effective[2]; /* of base and new */
    double mean[2];
    double change, low, high; /* NAN: a side has too few calls */
};

/* Minimum number of calls of each side for an interval. */
#define TV_MIN_NOISE_CALLS 20u

/* Compute it from the lengths of the calls of both sides, in the order of time. */
void tv_call_noise_of(const tv_ns *const lengths[2], const size_t counts[2],
                      struct tv_call_noise *noise);

#endif

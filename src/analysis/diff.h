/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - two method tables side by side.
 *
 * Methods are the same when class, name and signature are; frames of one table that differ in file
 * or line alone are added up first.
 */
#ifndef TV_ANALYSIS_DIFF_H
#define TV_ANALYSIS_DIFF_H

#include "analysis/profile.h"

/* A method with its figures in both tables: all 0, frame TV_NONE, in the one that lacks it. */
struct tv_diff_method {
    struct tv_method_cost a, b;
};

struct tv_diff {
    const struct tv_profile *a, *b; /* not owned */
    unsigned clocks;                /* that both have */
    uint32_t both, only_a, only_b;
    struct tv_diff_method
        *methods; /* those in both, then those in A alone, then those in B alone */
};

/* Sorted by tv_profile_default_order of the clocks that both have. The profiles must live as long.
 */
struct tv_diff *tv_diff_of(const struct tv_profile *a, const struct tv_profile *b);
void tv_diff_free(struct tv_diff *diff);

/* Within each of the three parts: the largest change of the figure first (in the parts of one table
 * that is the figure itself); ties, and TV_ORDER_NAME, by name. */
void tv_diff_sort(struct tv_diff *diff, enum tv_profile_order order);

/* Sort only the methods that both sides have. */
void tv_diff_sort_both(struct tv_diff *diff, enum tv_profile_order order);

/* b as a share of a: 1 when equal, also when both are 0; infinite when only a is 0. */
double tv_diff_ratio(int64_t a, int64_t b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - compare two method tables.
 *
 * Methods are the same if class, name and signature are; frames of one table that differ in file or
 * line only are added up first.
 */
#ifndef TV_ANALYSIS_CALLTREE_DIFF_H
#define TV_ANALYSIS_CALLTREE_DIFF_H

#include "analysis/calltree/profile.h"

/* A method with its costs in both tables; all 0, and frame TV_NONE, in a table that lacks it. */
struct tv_diff_method {
    struct tv_method_cost a, b;
};

struct tv_diff {
    const struct tv_profile *a, *b; /* not owned */
    unsigned clocks;                /* that both tables have */
    uint32_t both, only_a, only_b;
    struct tv_diff_method *methods; /* methods in both, then only in A, then only in B */
};

/* Compare; sorted by tv_profile_default_order of the common clocks.  The profiles must outlive
 * the result. */
struct tv_diff *tv_diff_of(const struct tv_profile *a, const struct tv_profile *b);
void tv_diff_free(struct tv_diff *diff);

/* Sort each of the three parts by the largest change of the figure (or by the figure itself, in
 * parts of one table); ties, and TV_ORDER_NAME, by name. */
void tv_diff_sort(struct tv_diff *diff, enum tv_profile_order order);

/* Sort only the methods that both tables have. */
void tv_diff_sort_both(struct tv_diff *diff, enum tv_profile_order order);

/* Return b / a: 1 if equal, even if both are 0; infinite if only a is 0. */
double tv_diff_ratio(int64_t a, int64_t b);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - radix sort by a number, and binary search in sorted rows.
 */
#ifndef TV_BASE_SORT_H
#define TV_BASE_SORT_H

#include "base/types.h"

struct tv_sort_key {
    uint64_t key;
    uint64_t index; /* the caller's number for this row */
};

/* Map a signed number to a key of the same order. */
static inline uint64_t tv_sort_signed(int64_t number)
{
    return (uint64_t)number ^ (uint64_t)1 << 63;
}

/* Sort by key.  The sort is stable: rows with equal keys keep their order. */
void tv_sort_keys(struct tv_sort_key *rows, size_t count);

/* Return the first index in [low, high) for which `is_before` is false, or `high`.  `is_before`
 * must be true for a prefix of the rows and false for all rows after it: "row < wanted" gives the
 * lower bound, "row <= wanted" the upper bound.  The compiler inlines a static `is_before`, so the
 * search costs as much as a loop written by hand. */
TV_INLINE size_t tv_lower_bound(size_t low, size_t high,
                                bool (*is_before)(const void *context, size_t index),
                                const void *context)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(context, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - radix sort by a number, merge sort of rows that are nearly in order, and binary search
 * in sorted rows.
 */
#ifndef TV_BASE_SORT_H
#define TV_BASE_SORT_H

#include <string.h>

#include "base/memory.h"
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

/*
 * Move `low` to the first index in [low, high) for which `is_before`, an expression of `i`, is
 * false; to `high` if there is none.  `is_before` must be true for a prefix of the rows and false
 * for all rows after it: "row < wanted" gives the lower bound, "row <= wanted" the upper bound.
 *
 *     size_t at = 0;
 *     TV_LOWER_BOUND(at, list->count, i, list->rows[i].start < start);
 *
 * This is a macro so that a search needs neither a callback nor a struct that carries what it
 * compares with, and costs as much as a loop written by hand.
 */
#define TV_LOWER_BOUND(low, high, i, is_before)                                                    \
    do {                                                                                           \
        for (__typeof__(low) tv_high = (high), i; (low) < tv_high;) {                              \
            i = (low) + (tv_high - (low)) / 2;                                                     \
            if (is_before)                                                                         \
                (low) = i + 1;                                                                     \
            else                                                                                   \
                tv_high = i;                                                                       \
        }                                                                                          \
    } while (0)

/* Sort numbers of any type by insertion, which is the fastest way for up to some dozens. */
#define TV_SORT_FEW(values, count)                                                                 \
    do {                                                                                           \
        for (size_t tv_i = 1; tv_i < (count); tv_i++) {                                            \
            __typeof__(*(values)) tv_value = (values)[tv_i];                                       \
            size_t tv_at = tv_i;                                                                   \
            for (; tv_at > 0 && (values)[tv_at - 1] > tv_value; tv_at--)                           \
                (values)[tv_at] = (values)[tv_at - 1];                                             \
            (values)[tv_at] = tv_value;                                                            \
        }                                                                                          \
    } while (0)

/*
 * Rows of several writers, each in order by itself, as the buffers of a kernel's processors are.
 *
 *     1 4 9 | 2 3 8 | 11 12 | 10 14        runs: each is in order
 *     1 [4 9 | 2 3] 8 ...                  only rows that overlap move, through a buffer
 *
 * Neighbouring runs are merged in pairs until one is left.  Two runs overlap at their border
 * only, so most of the work is to find the runs.
 */

/* Comparison of two rows, as for qsort. */
typedef int tv_compare_rows(const void *left, const void *right);

/* The rows, apart from the buffer: the compiler sees the size and the comparison as constants only
 * where no other function may have changed them. */
struct tv_run_rows {
    uint8_t *rows;
    size_t size; /* size of a row */
    tv_compare_rows *compare;
};

struct tv_run_buffer {
    uint8_t *rows;
    size_t capacity; /* in rows */
};

/* Return the first row of a run, [low, high), that is greater than `row`; with `equal` true also
 * one that equals it. */
TV_INLINE size_t tv_run_bound(const struct tv_run_rows *all, size_t low, size_t high,
                              const uint8_t *row, bool equal)
{
    TV_LOWER_BOUND(low, high, i, all->compare(all->rows + i * all->size, row) < (equal ? 0 : 1));
    return low;
}

/* Merge the neighbouring runs [low, middle) and [middle, high). */
TV_INLINE void tv_run_merge_two(const struct tv_run_rows *all, struct tv_run_buffer *buffer,
                                size_t low, size_t middle, size_t high)
{
    const size_t size = all->size;
    uint8_t *rows = all->rows;
    if (all->compare(rows + (middle - 1) * size, rows + middle * size) <= 0)
        return;
    low = tv_run_bound(all, low, middle, rows + middle * size, false);
    high = tv_run_bound(all, middle, high, rows + (middle - 1) * size, true);
    buffer->rows = (uint8_t *)tv_array_reserve(buffer->rows, &buffer->capacity, middle - low, size);
    memcpy(buffer->rows, rows + low * size, (middle - low) * size);
    const uint8_t *left = buffer->rows, *left_end = left + (middle - low) * size;
    const uint8_t *right = rows + middle * size, *right_end = rows + high * size;
    uint8_t *to = rows + low * size;
    for (; left < left_end && right < right_end; to += size) {
        bool later = all->compare(left, right) > 0;
        memcpy(to, later ? right : left, size);
        right += later ? size : 0;
        left += later ? 0 : size;
    }
    if (left < left_end)
        memcpy(to, left, (size_t)(left_end - left));
}

/* Sort `count` rows of `size` bytes that consist of runs.  The sort is stable.  It takes memory for
 * the runs, and for the rows that move at once: at most half of all.  Give constants for `size` and
 * `compare`: then the sort costs as much as one written for the type. */
TV_INLINE void tv_sort_runs(void *rows, size_t count, size_t size, tv_compare_rows *compare)
{
    const struct tv_run_rows all = {(uint8_t *)rows, size, compare};
    struct tv_run_buffer buffer = {NULL, 0};
    size_t *ends = NULL, run_count = 0, capacity = 0;
    for (size_t i = 1; i <= count; i++)
        if (i == count || compare(all.rows + (i - 1) * size, all.rows + i * size) > 0) {
            ends = (size_t *)tv_array_reserve(ends, &capacity, run_count + 1, sizeof *ends);
            ends[run_count++] = i;
        }
    while (run_count > 1) {
        size_t merged = 0;
        for (size_t i = 0; i < run_count; i += 2) {
            size_t low = i == 0 ? 0 : ends[i - 1], last = i + 1 < run_count ? i + 1 : i;
            if (last > i)
                tv_run_merge_two(&all, &buffer, low, ends[i], ends[last]);
            ends[merged++] = ends[last];
        }
        run_count = merged;
    }
    tv_free(buffer.rows);
    tv_free(ends);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - sorting by a number: digit after digit, so that time grows with the count alone.
 */
#ifndef TV_BASE_SORT_H
#define TV_BASE_SORT_H

#include "base/types.h"

struct tv_sort_key {
    uint64_t key;
    uint64_t index; /* what the caller knows it by */
};

/* A signed number as a key: the order is the same. */
static inline uint64_t tv_sort_signed(int64_t number)
{
    return (uint64_t)number ^ (uint64_t)1 << 63;
}

/* Sorts by key; rows of one key stay in their order. */
void tv_sort_keys(struct tv_sort_key *rows, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - least-significant-digit radix sort.
 *
 * Each pass distributes all rows by one 11-bit digit and is stable, so after the pass on the
 * highest digit the rows are sorted.  Digits that are equal in all keys are skipped: times of one
 * trace share about half of their bits.
 */
#include "base/sort.h"

#include <string.h>

#include "base/memory.h"

#define DIGIT_BITS 11u
#define DIGIT_VALUES ((size_t)1 << DIGIT_BITS)
#define DIGITS ((64u + DIGIT_BITS - 1) / DIGIT_BITS)

/* Below this number insertion sort is faster than counting digits. */
#define FEW 64u

static bool sort_keys_are_sorted(const struct tv_sort_key *rows, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (rows[i].key < rows[i - 1].key)
            return false;
    return true;
}

static void sort_insert_few(struct tv_sort_key *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct tv_sort_key row = rows[i];
        size_t at = i;
        for (; at > 0 && row.key < rows[at - 1].key; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

static size_t sort_digit_of(uint64_t key, unsigned digit)
{
    return (size_t)(key >> digit * DIGIT_BITS) & (DIGIT_VALUES - 1);
}

/* Turn the count of each digit value into the index of its first row. */
static void sort_counts_to_starts(size_t *counts)
{
    size_t sum = 0;
    for (size_t i = 0; i < DIGIT_VALUES; i++) {
        size_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}

static void sort_pass_by_digit(const struct tv_sort_key *from, struct tv_sort_key *to, size_t count,
                               unsigned digit)
{
    size_t *places = tv_alloc(DIGIT_VALUES, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[sort_digit_of(from[i].key, digit)]++;
    sort_counts_to_starts(places);
    for (size_t i = 0; i < count; i++)
        to[places[sort_digit_of(from[i].key, digit)]++] = from[i];
    tv_free(places);
}

/* Return the bits in which the keys differ. */
static uint64_t sort_differing_bits(const struct tv_sort_key *rows, size_t count)
{
    uint64_t bits = 0;
    for (size_t i = 1; i < count; i++)
        bits |= rows[i].key ^ rows[0].key;
    return bits;
}

void tv_sort_keys(struct tv_sort_key *rows, size_t count)
{
    if (sort_keys_are_sorted(rows, count))
        return;
    if (count <= FEW) {
        sort_insert_few(rows, count);
        return;
    }
    size_t size = tv_size_mul(count, sizeof *rows);
    struct tv_sort_key *spare = tv_pages_alloc(size), *from = rows, *to = spare;
    uint64_t bits = sort_differing_bits(rows, count);
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        if (sort_digit_of(bits, digit) == 0)
            continue;
        sort_pass_by_digit(from, to, count, digit);
        struct tv_sort_key *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != rows)
        memcpy(rows, from, size);
    tv_pages_free(spare, size);
}

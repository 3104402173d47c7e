/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - tests of base/sort.h.
 */
#include "unit.h"

#include "base/memory.h"
#include "base/sort.h"

static uint64_t state = 1;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Sorted by key, rows of one key by index, and each row still there. */
static void check(size_t count, uint64_t mask, unsigned shift)
{
    struct tv_sort_key *rows = tv_alloc(count, sizeof *rows);
    uint64_t *keys = tv_alloc(count, sizeof *keys);
    bool *seen = tv_alloc(count, sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        keys[i] = (next_random() & mask) << shift;
        rows[i] = (struct tv_sort_key){keys[i], i};
    }
    tv_sort_keys(rows, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].index < count && !seen[rows[i].index]);
        seen[rows[i].index] = true;
        assert_int_equal(rows[i].key, keys[rows[i].index]);
        if (i > 0) {
            assert_true(rows[i - 1].key <= rows[i].key);
            assert_true(rows[i - 1].key < rows[i].key || rows[i - 1].index < rows[i].index);
        }
    }
    tv_free(rows);
    tv_free(keys);
    tv_free(seen);
}

static void sorts_any_keys(void **unused)
{
    (void)unused;
    static const size_t counts[] = {0, 1, 2, 63, 64, 65, 1000, 20000};
    for (size_t i = 0; i < TV_COUNT(counts); i++) {
        check(counts[i], UINT64_MAX, 0);
        check(counts[i], 3, 0);
        check(counts[i], 0xffff, 48);
        check(counts[i], 1, 63);
        check(counts[i], 0xfff, 5);
    }
}

static void signed_numbers_keep_their_order(void **unused)
{
    (void)unused;
    static const int64_t numbers[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    for (size_t i = 1; i < TV_COUNT(numbers); i++)
        assert_true(tv_sort_signed(numbers[i - 1]) < tv_sort_signed(numbers[i]));
}

static void finds_lower_bounds(void **unused)
{
    (void)unused;
    static const int numbers[] = {1, 3, 3, 5, 9};
    for (int wanted = 0; wanted < 12; wanted++) {
        size_t found = 0, expected = 0;
        while (expected < TV_COUNT(numbers) && numbers[expected] < wanted)
            expected++;
        TV_LOWER_BOUND(found, TV_COUNT(numbers), i, numbers[i] < wanted);
        assert_int_equal(found, expected);
    }
    size_t empty = 0;
    uint32_t within = 2;
    TV_LOWER_BOUND(empty, 0, i, numbers[i] < 1);
    assert_int_equal(empty, 0);
    TV_LOWER_BOUND(within, 4, i, numbers[i] < 1);
    assert_int_equal(within, 2);
}

static int compare_keys(const void *left, const void *right)
{
    const struct tv_sort_key *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Rows in runs of `longest` at most, each in order, beside the same rows sorted by their keys. */
static void check_runs(size_t count, size_t longest, uint64_t step)
{
    struct tv_sort_key *rows = tv_alloc(count, sizeof *rows);
    struct tv_sort_key *expected = tv_alloc(count, sizeof *expected);
    uint64_t key = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % longest == 0)
            key = i + next_random() % (4 * longest);
        expected[i] = rows[i] = (struct tv_sort_key){key, i};
        key += next_random() % step;
    }
    tv_sort_keys(expected, count);
    tv_sort_runs(rows, count, sizeof *rows, compare_keys);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].key, expected[i].key);
        assert_int_equal(rows[i].index, expected[i].index);
    }
    tv_free(rows);
    tv_free(expected);
}

static void merges_runs_and_keeps_equal_rows_in_order(void **unused)
{
    (void)unused;
    static const size_t counts[] = {0, 1, 2, 3, 100, 4097};
    static const size_t lengths[] = {1, 2, 7, 64, 5000};
    for (size_t i = 0; i < TV_COUNT(counts); i++)
        for (size_t k = 0; k < TV_COUNT(lengths); k++) {
            check_runs(counts[i], lengths[k], 1); /* all of a run are equal */
            check_runs(counts[i], lengths[k], 2);
            check_runs(counts[i], lengths[k], 50);
        }
}

UNIT_TESTS(sort, cmocka_unit_test(sorts_any_keys),
           cmocka_unit_test(merges_runs_and_keeps_equal_rows_in_order),
           cmocka_unit_test(signed_numbers_keep_their_order), cmocka_unit_test(finds_lower_bounds));

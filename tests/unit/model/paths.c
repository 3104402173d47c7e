/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c - the hashes of call paths: equal ones share slots, which makes trees slow.
 */
#include "unit.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/paths.h"

#define PATHS 100000u

static int compare(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* Return the number of different hashes; sort them. */
static uint32_t count_different(uint32_t *hashes, uint32_t count)
{
    uint32_t different = 1;
    qsort(hashes, count, sizeof *hashes, compare);
    for (uint32_t i = 1; i < count; i++)
        different += hashes[i] != hashes[i - 1];
    return different;
}

/* A method that calls itself recursively, from the root and from others. */
static void tells_levels_of_recursion_apart(void **state)
{
    uint32_t *hashes = tv_alloc(PATHS, sizeof *hashes);
    (void)state;
    for (uint32_t frame = 0; frame < 12; frame++) {
        uint32_t hash = frame % 2 ? tv_path_hash(TV_ROOT_HASH, 1000) : TV_ROOT_HASH;
        for (uint32_t i = 0; i < PATHS; i++)
            hashes[i] = hash = tv_path_hash(hash, frame);
        assert_int_equal(count_different(hashes, PATHS), PATHS);
    }
    tv_free(hashes);
}

static void tells_callees_apart(void **state)
{
    uint32_t *hashes = tv_alloc(PATHS, sizeof *hashes);
    (void)state;
    for (uint32_t frame = 0; frame < PATHS; frame++)
        hashes[frame] = tv_path_hash(TV_ROOT_HASH, frame);
    assert_int_equal(count_different(hashes, PATHS), PATHS);
    tv_free(hashes);
}

/* Two methods that call each other and themselves: the lower bits, which choose the slots, differ
 * for as many paths as by chance. */
static void spreads_over_the_places(void **state)
{
    enum { COUNT = 1 << 16 };
    uint32_t *hashes = tv_alloc(COUNT, sizeof *hashes);
    (void)state;
    hashes[0] = TV_ROOT_HASH;
    for (uint32_t i = 1; i < COUNT; i++)
        hashes[i] = tv_path_hash(hashes[(i - 1) / 2], (i - 1) % 2);
    for (uint32_t i = 0; i < COUNT; i++)
        hashes[i] &= COUNT - 1;
    assert_true(count_different(hashes, COUNT) > COUNT / 100 * 60); /* chance: 63 % */
    tv_free(hashes);
}

UNIT_TESTS(paths, cmocka_unit_test(tells_levels_of_recursion_apart),
           cmocka_unit_test(tells_callees_apart), cmocka_unit_test(spreads_over_the_places));

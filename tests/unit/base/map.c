/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - tests of base/map.h.
 */
#include "unit.h"

#include "base/map.h"

#include <string.h>

static void empty_finds_nothing(void **state)
{
    (void)state;
    struct tv_map map;
    tv_map_init(&map);
    assert_int_equal(tv_map_find(&map, 0), TV_NONE);
    assert_int_equal(tv_map_find(&map, UINT64_MAX), TV_NONE);
    tv_map_release(&map);
    tv_map_release(&map);
}

/* No key is special. */
static void keys_at_the_ends(void **state)
{
    (void)state;
    static const uint64_t keys[] = {0, 1, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
    struct tv_map map;
    tv_map_init(&map);
    for (uint32_t i = 0; i < TV_COUNT(keys); i++) {
        assert_int_equal(tv_map_find(&map, keys[i]), TV_NONE);
        tv_map_set(&map, keys[i], i);
        assert_int_equal(tv_map_find(&map, keys[i]), i);
    }
    assert_int_equal(map.count, TV_COUNT(keys));
    tv_map_set(&map, 5, TV_NONE - 1);
    assert_int_equal(tv_map_find(&map, 5), TV_NONE - 1);
    tv_map_release(&map);
}

static void set_replaces_and_add_does_not(void **state)
{
    (void)state;
    struct tv_map map;
    tv_map_init(&map);
    assert_int_equal(tv_map_add(&map, 9, 1), 1);
    assert_int_equal(tv_map_add(&map, 9, 2), 1);
    assert_int_equal(tv_map_find(&map, 9), 1);
    tv_map_set(&map, 9, 3);
    assert_int_equal(tv_map_find(&map, 9), 3);
    assert_int_equal(tv_map_add(&map, 9, 4), 3);
    assert_int_equal(map.count, 1);
    tv_map_release(&map);
}

/* The keys of a direct table, spread over 64 bits without meeting (an odd factor is a bijection).
 */
#define DIRECT 400000
static uint32_t direct[DIRECT];

static void check_against_direct_table(uint64_t factor, unsigned shift, uint32_t keys)
{
    struct tv_map map;
    tv_map_init(&map);
    memset(direct, 0xff, sizeof direct);
    size_t count = 0;
    uint32_t random = 12345;
    for (uint32_t i = 0; i < 3 * keys; i++) {
        random = random * 1664525 + 1013904223;
        uint32_t slot = (uint32_t)((uint64_t)random * keys >> 32);
        uint64_t key = (slot * factor) << shift;
        if (direct[slot] == TV_NONE)
            count++;
        if (i % 2 == 0 || direct[slot] == TV_NONE)
            direct[slot] = i;
        if (i % 2 == 0)
            tv_map_set(&map, key, i);
        else
            assert_int_equal(tv_map_add(&map, key, i), direct[slot]);
    }
    assert_int_equal(map.count, count);
    assert_true(map.count <= (map.mask + 1) / 2);
    for (uint32_t slot = 0; slot < keys; slot++)
        assert_int_equal(tv_map_find(&map, (slot * factor) << shift), direct[slot]);
    tv_map_release(&map);
}

static void agrees_with_a_direct_table(void **state)
{
    (void)state;
    for (uint32_t keys = 1; keys < 40; keys++)
        check_against_direct_table(1, 0, keys);
    check_against_direct_table(1, 0, DIRECT); /* large enough for pages of its own */
    check_against_direct_table(1, 32, 30000);
    check_against_direct_table(UINT64_C(0x100000001), 0, 30000); /* both halves alike */
    check_against_direct_table(UINT64_C(6364136223846793005), 0, 30000);
}

/* Neighbouring keys, whichever of their bits count, begin at different places: by chance alone 39 %
 * of the places would be taken. */
static void neighbours_do_not_crowd(void **state)
{
    (void)state;
    static uint8_t taken[1 << 16];
    struct tv_map map = {.mask = 0xffff};
    for (unsigned shift = 0; shift <= 48; shift += 4) {
        memset(taken, 0, sizeof taken);
        size_t used = 0;
        for (uint64_t key = 0; key < 1 << 15; key++) {
            size_t place = tv_map_start(&map, key << shift);
            used += taken[place] == 0;
            taken[place] = 1;
        }
        assert_true(used > (size_t)(0.36 * (1 << 16)));
    }
}

UNIT_TESTS(map, cmocka_unit_test(empty_finds_nothing), cmocka_unit_test(keys_at_the_ends),
           cmocka_unit_test(set_replaces_and_add_does_not),
           cmocka_unit_test(neighbours_do_not_crowd), cmocka_unit_test(agrees_with_a_direct_table));

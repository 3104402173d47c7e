/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - tests of base/map.h.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"

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

/* ---- Intern ---- */

static void the_empty_string_is_there(void **state)
{
    (void)state;
    struct tv_interner *interner = tv_interner_new();
    assert_int_equal(tv_interner_count(interner), 1);
    assert_int_equal(tv_interner_add(interner, TV_BYTES("")), TV_EMPTY_STRING);
    assert_int_equal(tv_interner_add(interner, (struct tv_bytes){NULL, 0}), TV_EMPTY_STRING);
    assert_int_equal(tv_interner_find(interner, TV_BYTES("")), TV_EMPTY_STRING);
    assert_int_equal(tv_interner_get(interner, TV_EMPTY_STRING).length, 0);
    assert_int_equal(tv_interner_get(interner, TV_EMPTY_STRING).data[0], 0);
    assert_int_equal(tv_interner_count(interner), 1);
    tv_interner_free(interner);
    tv_interner_free(NULL);
}

static void each_string_once_in_order(void **state)
{
    (void)state;
    struct tv_interner *interner = tv_interner_new();
    assert_int_equal(tv_interner_find(interner, TV_BYTES("a")), TV_NONE);
    assert_int_equal(tv_interner_add(interner, TV_BYTES("a")), 1);
    assert_int_equal(tv_interner_add(interner, TV_BYTES("b")), 2);
    assert_int_equal(tv_interner_add(interner, TV_BYTES("a")), 1);
    /* Bytes count, not C strings. */
    assert_int_equal(tv_interner_add(interner, TV_BYTES("a\0")), 3);
    assert_int_equal(tv_interner_add(interner, TV_BYTES("a\0b")), 4);
    assert_int_equal(tv_interner_find(interner, TV_BYTES("a\0")), 3);
    assert_int_equal(tv_interner_find(interner, TV_BYTES("\0")), TV_NONE);
    assert_int_equal(tv_interner_count(interner), 5);
    assert_memory_equal(tv_interner_get(interner, 4).data, "a\0b\0", 4);
    tv_interner_free(interner);
}

static struct tv_bytes name(uint32_t i, char *buffer, size_t size)
{
    int length = snprintf(buffer, size, "com.example.%u.Class$%u", i % 7, i);
    return (struct tv_bytes){(const uint8_t *)buffer, (size_t)length};
}

static void many_strings_stay_where_they_are(void **state)
{
    (void)state;
    enum { STRINGS = 300000 }; /* some ten pairs share 32 bits of hash */
    struct tv_interner *interner = tv_interner_new();
    char buffer[64];
    const uint8_t *first = NULL;
    for (uint32_t i = 1; i <= STRINGS; i++) {
        assert_int_equal(tv_interner_add(interner, name(i, buffer, sizeof buffer)), i);
        if (i == 1)
            first = tv_interner_get(interner, 1).data;
    }
    assert_ptr_equal(tv_interner_get(interner, 1).data, first);
    assert_int_equal(tv_interner_count(interner), STRINGS + 1);
    for (uint32_t i = 1; i <= STRINGS; i++) {
        struct tv_bytes wanted = name(i, buffer, sizeof buffer);
        assert_int_equal(tv_interner_add(interner, wanted), i);
        assert_int_equal(tv_interner_find(interner, wanted), i);
        struct tv_bytes got = tv_interner_get(interner, i);
        assert_true(tv_bytes_equal(got, wanted));
        assert_int_equal(got.data[got.length], 0);
    }
    assert_int_equal(tv_interner_find(interner, name(STRINGS + 1, buffer, sizeof buffer)), TV_NONE);
    tv_interner_free(interner);
}

static void many_at_once_are_as_one_by_one(void **state)
{
    static const uint64_t ends[] = {0, 4, 9, 13};
    static const uint64_t twice[] = {0, 2, 4};
    struct tv_bytes texts = TV_BYTES("\0abc\0de\0f\0ghi\0"); /* one of them holds a NUL */
    (void)state;
    struct tv_interner *interner = tv_interner_from_texts(texts, ends, 4);
    assert_int_equal(tv_interner_count(interner), 4);
    assert_int_equal(tv_interner_find(interner, TV_BYTES("")), TV_EMPTY_STRING);
    assert_int_equal(tv_interner_find(interner, TV_BYTES("abc")), 1);
    assert_int_equal(tv_interner_find(interner, TV_BYTES("de\0f")), 2);
    assert_string_equal((const char *)tv_interner_get(interner, 3).data, "ghi");
    for (unsigned i = 4; i < 1000; i++) {
        char text[16];
        snprintf(text, sizeof text, "new %u", i);
        assert_int_equal(tv_interner_add(interner, tv_bytes_of(text)), i);
    }
    assert_int_equal(tv_interner_find(interner, TV_BYTES("ghi")), 3);
    tv_interner_free(interner);
    assert_null(tv_interner_from_texts(TV_BYTES("\0a\0a\0"), twice, 3));
    assert_null(tv_interner_from_texts(TV_BYTES("a\0"), twice + 1, 1));
    assert_null(tv_interner_from_texts(TV_BYTES(""), twice, 0));
}

/* Keys that lie close together get an array; the others, at both ends of 64 bits, none. */
static const struct {
    uint64_t keys[4];
    bool array;
} lookup_cases[] = {
    {{0, 1, 2, 15}, true},
    {{0, 1, 2, 16}, false},
    {{UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 15, UINT64_MAX - 7}, true},
    {{0, 5, 9, UINT64_MAX}, false},
};

static void a_lookup_finds_the_entries_of_its_map(void **state)
{
    (void)state;
    for (size_t i = 0; i < TV_COUNT(lookup_cases); i++) {
        struct tv_lookup lookup;
        tv_lookup_init(&lookup);
        for (uint32_t j = 0; j < 4; j++)
            tv_map_set(&lookup.map, lookup_cases[i].keys[j], 10 + j);
        tv_lookup_complete(&lookup);
        assert_int_equal(lookup.array != NULL, lookup_cases[i].array);
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(tv_lookup_find(&lookup, lookup_cases[i].keys[j]), 10 + j);
        assert_int_equal(tv_lookup_find(&lookup, 3), TV_NONE);
        assert_int_equal(tv_lookup_find(&lookup, UINT64_MAX - 3), TV_NONE);
        assert_int_equal(tv_lookup_find(&lookup, UINT64_C(1) << 63), TV_NONE);
        tv_lookup_release(&lookup);
    }
}

static void a_lookup_keeps_the_first_value_of_a_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < TV_COUNT(lookup_cases); i++) {
        struct tv_lookup lookup;
        uint64_t first = UINT64_MAX, last = 0;
        for (uint32_t j = 0; j < 4; j++) {
            first = lookup_cases[i].keys[j] < first ? lookup_cases[i].keys[j] : first;
            last = lookup_cases[i].keys[j] > last ? lookup_cases[i].keys[j] : last;
        }
        tv_lookup_init(&lookup);
        tv_lookup_expect(&lookup, first, last, 4);
        assert_int_equal(lookup.array != NULL, lookup_cases[i].array);
        for (uint32_t j = 0; j < 8; j++)
            tv_lookup_add(&lookup, lookup_cases[i].keys[j % 4], 10 + j);
        for (uint32_t j = 0; j < 4; j++)
            assert_int_equal(tv_lookup_find(&lookup, lookup_cases[i].keys[j]), 10 + j);
        assert_int_equal(tv_lookup_find(&lookup, 3), TV_NONE);
        tv_lookup_release(&lookup);
    }
}

static void an_empty_lookup_finds_nothing(void **state)
{
    struct tv_lookup lookup;
    (void)state;
    tv_lookup_init(&lookup);
    tv_lookup_complete(&lookup);
    assert_int_equal(tv_lookup_find(&lookup, 0), TV_NONE);
    tv_lookup_release(&lookup);
}

UNIT_TESTS(map, cmocka_unit_test(a_lookup_finds_the_entries_of_its_map),
           cmocka_unit_test(a_lookup_keeps_the_first_value_of_a_key),
           cmocka_unit_test(an_empty_lookup_finds_nothing), cmocka_unit_test(empty_finds_nothing),
           cmocka_unit_test(keys_at_the_ends), cmocka_unit_test(set_replaces_and_add_does_not),
           cmocka_unit_test(neighbours_do_not_crowd), cmocka_unit_test(agrees_with_a_direct_table),
           cmocka_unit_test(many_at_once_are_as_one_by_one),
           cmocka_unit_test(the_empty_string_is_there), cmocka_unit_test(each_string_once_in_order),
           cmocka_unit_test(many_strings_stay_where_they_are));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c - tests of base/intern.h.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/intern.h"

#include <stdio.h>

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
    struct tv_interner *interner = tv_interner_of(texts, ends, 4);
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
    assert_null(tv_interner_of(TV_BYTES("\0a\0a\0"), twice, 3));
    assert_null(tv_interner_of(TV_BYTES("a\0"), twice + 1, 1));
    assert_null(tv_interner_of(TV_BYTES(""), twice, 0));
}

UNIT_TESTS(intern, cmocka_unit_test(many_at_once_are_as_one_by_one),
           cmocka_unit_test(the_empty_string_is_there), cmocka_unit_test(each_string_once_in_order),
           cmocka_unit_test(many_strings_stay_where_they_are));

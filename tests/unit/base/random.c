/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random.c - tests of base/random.h.
 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/random.h"

static void draws_hexadecimal_digits(void **state)
{
    char text[TV_RANDOM_DIGITS + 1];
    struct tv_error err;
    (void)state;
    memset(text, 'x', sizeof text);
    assert_int_equal(tv_random_hex(text, 32, &err), TV_OK);
    assert_int_equal(strlen(text), 32);
    assert_int_equal(strspn(text, "0123456789abcdef"), 32);
}

/* Two of a thousand secrets of 64 bits are equal once in 4e13 runs. */
static void draws_new_digits_each_time(void **state)
{
    static char drawn[1000][17];
    struct tv_error err;
    (void)state;
    for (size_t i = 0; i < TV_COUNT(drawn); i++) {
        assert_int_equal(tv_random_hex(drawn[i], 16, &err), TV_OK);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(drawn[i], drawn[j]);
    }
}

static void compares_secrets(void **state)
{
    (void)state;
    assert_true(tv_secret_equal(tv_bytes_of("abc"), tv_bytes_of("abc")));
    assert_false(tv_secret_equal(tv_bytes_of("abc"), tv_bytes_of("abd")));
    assert_false(tv_secret_equal(tv_bytes_of("abc"), tv_bytes_of("ab")));
    assert_false(tv_secret_equal(tv_bytes_of(""), tv_bytes_of("a")));
    assert_true(tv_secret_equal(tv_bytes_of(""), tv_bytes_of("")));
}

UNIT_TESTS(random, cmocka_unit_test(draws_hexadecimal_digits),
           cmocka_unit_test(draws_new_digits_each_time), cmocka_unit_test(compares_secrets));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.c - tests of base/number.h.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>

#define US 1000
#define MS 1000000
#define S 1000000000

static void parses_u64(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_true(tv_parse_u64(TV_BYTES("0"), &value));
    assert_int_equal(value, 0);
    assert_true(tv_parse_u64(TV_BYTES("00012"), &value));
    assert_int_equal(value, 12);
    assert_true(tv_parse_u64(TV_BYTES("18446744073709551615"), &value));
    assert_true(value == UINT64_MAX);
    value = 7;
    static const char *const bad[] = {
        "",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1a",
        "0x1",
        "1.",
        "18446744073709551616",
        "18446744073709551620",
        "99999999999999999999",
        "100000000000000000000",
    };
    for (size_t i = 0; i < TV_COUNT(bad); i++)
        assert_false(tv_parse_u64(tv_bytes_of(bad[i]), &value));
    assert_false(tv_parse_u64(TV_BYTES("1\0"), &value));
    assert_false(tv_parse_u64((struct tv_bytes){NULL, 0}, &value));
    assert_int_equal(value, 7);
}

static void parses_i64(void **state)
{
    (void)state;
    int64_t value = 7;
    assert_true(tv_parse_i64(TV_BYTES("-0"), &value));
    assert_int_equal(value, 0);
    assert_true(tv_parse_i64(TV_BYTES("-12"), &value));
    assert_int_equal(value, -12);
    assert_true(tv_parse_i64(TV_BYTES("9223372036854775807"), &value));
    assert_true(value == INT64_MAX);
    assert_true(tv_parse_i64(TV_BYTES("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);
    value = 7;
    static const char *const bad[] = {"",
                                      "-",
                                      "--1",
                                      "-+1",
                                      "- 1",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551616"};
    for (size_t i = 0; i < TV_COUNT(bad); i++)
        assert_false(tv_parse_i64(tv_bytes_of(bad[i]), &value));
    assert_int_equal(value, 7);
}

static void parses_hex(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_true(tv_parse_hex(TV_BYTES("0"), &value));
    assert_int_equal(value, 0);
    assert_true(tv_parse_hex(TV_BYTES("0x7f8A"), &value));
    assert_int_equal(value, 0x7f8a);
    assert_true(tv_parse_hex(TV_BYTES("0XBEEF"), &value));
    assert_int_equal(value, 0xbeef);
    assert_true(tv_parse_hex(TV_BYTES("ffffffffffffffff"), &value));
    assert_true(value == UINT64_MAX);
    assert_true(tv_parse_hex(TV_BYTES("0x000000000000000000001"), &value));
    assert_int_equal(value, 1);
    value = 7;
    static const char *const bad[] = {"",
                                      "0x",
                                      "x1",
                                      "0x0x1",
                                      "1g",
                                      "-1",
                                      " 1",
                                      "@",
                                      "0x`",
                                      "1\x1a",
                                      "10000000000000000",
                                      "0xfffffffffffffffff"};
    for (size_t i = 0; i < TV_COUNT(bad); i++)
        assert_false(tv_parse_hex(tv_bytes_of(bad[i]), &value));
    assert_int_equal(value, 7);
}

static void parses_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tv_ns unit, value;
    } cases[] = {
        {"0", US, 0},
        {"5", US, 5000},
        {"5", 1, 5},
        {"5ns", MS, 5},
        {"5us", MS, 5000},
        {"1.5ms", 1, 1500000},
        {"2s", 1, 2 * (tv_ns)S},
        {"0.1", US, 100},
        {".5", US, 500},
        {"00.50", US, 500},
        {"1.9999", US, 1999}, /* down */
        {"0.9ns", S, 0},
        {"-0.9ns", S, -1}, /* down is away from zero here */
        {"-1.5ms", 1, -1500000},
        {"-0.0001", US, -1},
        {"-0.0010", US, -1},
        {"-0", US, 0},
        /* 2^53 + 1, which a double does not hold */
        {"9007199254740993", 1, INT64_C(9007199254740993)},
        {"9007199254740.993", US, INT64_C(9007199254740993)},
        {"1234567890.123456789", S, INT64_C(1234567890123456789)},
        {"1.00000000000000000000000000000000000000000000000000000009", S, S},
        {"0.99999999999999999999999999999999999999999999999999999999", S, S - 1},
        {"9223372036.854775807", S, INT64_MAX},
        {"-9223372036.854775808", S, INT64_MIN},
        {"9223372036854775807ns", S, INT64_MAX},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_ns value = 7;
        assert_true(tv_parse_time(tv_bytes_of(cases[i].text), cases[i].unit, &value));
        assert_true(value == cases[i].value);
    }
}

static void rejects_what_is_no_time(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "-",
        ".",
        "-.",
        "1.",
        "1.s",
        "s",
        "ms",
        "-s",
        ".s",
        "1..2",
        "1.2.3",
        "+1",
        "1e3",
        "1 ms",
        " 1",
        "1m",
        "1S",
        "1sms",
        "1.-5",
        "0x1",
        "1,5",
        "nan",
        "9223372036.854775808",
        "-9223372036.854775809",
        "-9223372036.8547758081",
        "18446744073.709551616",
        "18446744073709551616",
        "99999999999999999999999",
    };
    for (size_t i = 0; i < TV_COUNT(bad); i++) {
        tv_ns value = 7;
        assert_false(tv_parse_time(tv_bytes_of(bad[i]), S, &value));
        assert_int_equal(value, 7);
    }
    tv_ns value;
    assert_false(tv_parse_time((struct tv_bytes){NULL, 0}, 1, &value));
}

/* Three decimals of a microsecond are nanoseconds, whatever the number. */
static void times_are_exact_in_their_own_digits(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        int64_t ns = (int64_t)(random >> (1 + i % 60));
        char text[64];
        snprintf(text, sizeof text, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
        tv_ns value;
        assert_true(tv_parse_time(tv_bytes_of(text), US, &value));
        assert_true(value == ns);
    }
}

static void parses_sizes_and_seconds(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_true(tv_parse_size(TV_BYTES("4096"), &value) && value == 4096);
    assert_true(tv_parse_size(TV_BYTES("50G"), &value) && value == UINT64_C(53687091200));
    assert_true(tv_parse_size(TV_BYTES("16777215T"), &value));
    assert_true(tv_parse_size(TV_BYTES("256k"), &value) && value == 262144);
    assert_true(tv_parse_size(TV_BYTES("8m"), &value) && value == 8388608);
    assert_true(tv_parse_size(TV_BYTES("1.5M"), &value) && value == 1572864);
    assert_true(tv_parse_size(TV_BYTES("0.3k"), &value) && value == 307); /* of 307.2 */
    assert_true(tv_parse_size(TV_BYTES("16777215.5T"), &value) &&
                value == UINT64_MAX - (UINT64_C(1) << 39) + 1);
    assert_true(tv_parse_size(TV_BYTES("0K"), &value) && value == 0);
    assert_true(tv_parse_seconds(TV_BYTES("90"), &value) && value == 90);
    assert_true(tv_parse_seconds(TV_BYTES("90s"), &value) && value == 90);
    assert_true(tv_parse_seconds(TV_BYTES("30d"), &value) && value == 2592000);
    assert_true(tv_parse_seconds(TV_BYTES("2w"), &value) && value == 1209600);
    assert_true(tv_parse_seconds(TV_BYTES("1.5h"), &value) && value == 5400);
    value = 7;
    static const char *const bad[] = {"",          "G",     "1x",          "1GB", "-1G", " 1G",
                                      "16777216T", "d",     "16777216.5T", "1.",  "1.M", ".5M",
                                      "1.5",       "1.-5M", "1.5.5M",      "1.M5"};
    for (size_t i = 0; i < TV_COUNT(bad); i++)
        assert_false(tv_parse_size(tv_bytes_of(bad[i]), &value));
    static const char *const never[] = {"",     "d",   "1D", "1y", "18446744073709551615w",
                                        "1d2h", "1.5s"};
    for (size_t i = 0; i < TV_COUNT(never); i++)
        assert_false(tv_parse_seconds(tv_bytes_of(never[i]), &value));
    assert_int_equal(value, 7);
}

static tv_ns sum_of(tv_ns a, tv_ns b)
{
    tv_time_add(&a, b);
    return a;
}

static void adds_times_up_to_a_limit(void **state)
{
    (void)state;
    assert_int_equal(sum_of(3, 4), 7);
    assert_int_equal(sum_of(3, -4), -1);
    assert_true(sum_of(INT64_MAX - 4, 4) == INT64_MAX);
    assert_true(sum_of(INT64_MAX - 4, 5) == INT64_MAX);
    assert_true(sum_of(INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_true(sum_of(INT64_MIN + 4, -5) == INT64_MIN);
    assert_true(sum_of(INT64_MAX, INT64_MIN) == -1);
    assert_int_equal(tv_time_times(-3, 1000), -3000);
    assert_true(tv_time_times(INT64_MAX / 1000, 1000) == INT64_MAX / 1000 * 1000);
    assert_true(tv_time_times(INT64_MAX / 1000 + 1, 1000) == INT64_MAX);
    assert_true(tv_time_times(INT64_MIN / 2, 3) == INT64_MIN);
    assert_true(tv_time_times(INT64_MIN, -1) == INT64_MAX);
}

UNIT_TESTS(number, cmocka_unit_test(parses_u64), cmocka_unit_test(parses_i64),
           cmocka_unit_test(parses_hex), cmocka_unit_test(parses_times),
           cmocka_unit_test(rejects_what_is_no_time),
           cmocka_unit_test(times_are_exact_in_their_own_digits),
           cmocka_unit_test(parses_sizes_and_seconds), cmocka_unit_test(adds_times_up_to_a_limit));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - tests of base/bytes.h.
 */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

static void takes_little_endian(void **state)
{
    (void)state;
    struct tv_cursor cursor =
        tv_cursor_over(TV_BYTES("\x01\x02\xf3\x07\x08\x09\xfa\x0b\x0c\x0d\x0e\x0f\x10\x11\xf2"));
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    assert_true(tv_cursor_take_u8(&cursor, &u8));
    assert_true(tv_cursor_take_u16(&cursor, &u16));
    assert_true(tv_cursor_take_u32(&cursor, &u32));
    assert_int_equal(tv_cursor_position(&cursor), 7);
    assert_true(tv_cursor_take_u64(&cursor, &u64));
    assert_int_equal(u8, 0x01);
    assert_int_equal(u16, 0xf302);
    assert_int_equal(u32, 0xfa090807);
    assert_int_equal(u64, 0xf211100f0e0d0c0b);
    assert_int_equal(tv_cursor_left(&cursor), 0);
}

/* With one byte too few every take returns false, moves nothing and writes nothing. */
static void does_not_leave_the_bytes(void **state)
{
    (void)state;
    static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t length = 0; length <= 8; length++) {
        struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){bytes, length});
        uint8_t u8 = 0xaa;
        uint16_t u16 = 0xaa;
        uint32_t u32 = 0xaa;
        uint64_t u64 = 0xaa;
        struct tv_bytes part;
        struct tv_cursor again = cursor;
        assert_int_equal(tv_cursor_take_u8(&again, &u8), length >= 1);
        assert_int_equal(tv_cursor_position(&again), length >= 1 ? 1 : 0);
        again = cursor;
        assert_int_equal(tv_cursor_take_u16(&again, &u16), length >= 2);
        assert_int_equal(tv_cursor_position(&again), length >= 2 ? 2 : 0);
        again = cursor;
        assert_int_equal(tv_cursor_take_u32(&again, &u32), length >= 4);
        assert_int_equal(tv_cursor_position(&again), length >= 4 ? 4 : 0);
        again = cursor;
        assert_int_equal(tv_cursor_take_u64(&again, &u64), length >= 8);
        assert_int_equal(tv_cursor_position(&again), length >= 8 ? 8 : 0);
        again = cursor;
        assert_false(tv_cursor_take_bytes(&again, length + 1, &part));
        assert_false(tv_cursor_take_bytes(&again, SIZE_MAX, &part));
        assert_true(tv_cursor_take_bytes(&again, length, &part));
        assert_int_equal(tv_cursor_left(&again), 0);
        assert_int_equal(u64 == 0xaa, length < 8);
        assert_int_equal(u8 == 0xaa, length < 1);
    }
}

static void empty_bytes_have_nothing_to_take(void **state)
{
    (void)state;
    struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){NULL, 0});
    uint8_t u8;
    uint64_t number;
    int64_t signed_number;
    struct tv_bytes part;
    assert_int_equal(tv_cursor_left(&cursor), 0);
    assert_false(tv_cursor_take_u8(&cursor, &u8));
    assert_false(tv_cursor_take_uleb(&cursor, &number));
    assert_false(tv_cursor_take_sleb(&cursor, &signed_number));
    assert_false(tv_cursor_take_line(&cursor, &part));
    assert_true(tv_cursor_take_bytes(&cursor, 0, &part));
    assert_int_equal(part.length, 0);
}

/* The examples of the DWARF standard (7.6), and both ends of 64 bits. */
static void takes_uleb(void **state)
{
    (void)state;
    static const struct {
        struct tv_bytes bytes;
        uint64_t value;
    } cases[] = {
        {{(const uint8_t *)"\x00", 1}, 0},
        {{(const uint8_t *)"\x02", 1}, 2},
        {{(const uint8_t *)"\x7f", 1}, 127},
        {{(const uint8_t *)"\x80\x01", 2}, 128},
        {{(const uint8_t *)"\x81\x01", 2}, 129},
        {{(const uint8_t *)"\xb9\x64", 2}, 12857},
        {{(const uint8_t *)"\xe5\x8e\x26", 3}, 624485},
        {{(const uint8_t *)"\x80\x80\x00", 3}, 0}, /* longer than needed */
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9}, UINT64_MAX >> 1},
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10}, UINT64_MAX},
        {{(const uint8_t *)"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10}, 0},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_cursor cursor = tv_cursor_over(cases[i].bytes);
        uint64_t value = 1;
        assert_true(tv_cursor_take_uleb(&cursor, &value));
        assert_int_equal(value, cases[i].value);
        assert_int_equal(tv_cursor_left(&cursor), 0);
        /* A truncated number is invalid at every length. */
        for (size_t length = 0; length < cases[i].bytes.length; length++) {
            cursor = tv_cursor_over((struct tv_bytes){cases[i].bytes.data, length});
            assert_false(tv_cursor_take_uleb(&cursor, &value));
            assert_int_equal(tv_cursor_position(&cursor), 0);
        }
    }
}

static void takes_sleb(void **state)
{
    (void)state;
    static const struct {
        struct tv_bytes bytes;
        int64_t value;
    } cases[] = {
        {{(const uint8_t *)"\x00", 1}, 0},
        {{(const uint8_t *)"\x02", 1}, 2},
        {{(const uint8_t *)"\x7e", 1}, -2},
        {{(const uint8_t *)"\x3f", 1}, 63},
        {{(const uint8_t *)"\x40", 1}, -64},
        {{(const uint8_t *)"\xc0\x00", 2}, 64},
        {{(const uint8_t *)"\xff\x00", 2}, 127},
        {{(const uint8_t *)"\x81\x7f", 2}, -127},
        {{(const uint8_t *)"\x80\x01", 2}, 128},
        {{(const uint8_t *)"\x80\x7f", 2}, -128},
        {{(const uint8_t *)"\xff\x7e", 2}, -129},
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\x3f", 9}, INT64_MAX >> 1},
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9}, -1},
        {{(const uint8_t *)"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10}, INT64_MAX},
        {{(const uint8_t *)"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10}, INT64_MIN},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_cursor cursor = tv_cursor_over(cases[i].bytes);
        int64_t value = 1;
        assert_true(tv_cursor_take_sleb(&cursor, &value));
        assert_int_equal(value, cases[i].value);
        assert_int_equal(tv_cursor_left(&cursor), 0);
        for (size_t length = 0; length < cases[i].bytes.length; length++) {
            cursor = tv_cursor_over((struct tv_bytes){cases[i].bytes.data, length});
            assert_false(tv_cursor_take_sleb(&cursor, &value));
        }
    }
}

static void leb_must_end_within_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool is_uleb, is_sleb;
    } cases[] = {
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", false, false},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false, false},
        {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02 ", false, false}, /* bit 64 */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01 ", true, false},  /* sign and bit 63 differ */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7e ", false, false},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f ", false, true},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x40 ", false, false},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        struct tv_bytes bytes = {(const uint8_t *)cases[i].bytes, 11};
        struct tv_cursor cursor = tv_cursor_over(bytes);
        uint64_t value = 7;
        assert_int_equal(tv_cursor_take_uleb(&cursor, &value), cases[i].is_uleb);
        assert_int_equal(tv_cursor_position(&cursor), cases[i].is_uleb ? 10 : 0);
        cursor = tv_cursor_over(bytes);
        int64_t signed_value = 7;
        assert_int_equal(tv_cursor_take_sleb(&cursor, &signed_value), cases[i].is_sleb);
        assert_int_equal(tv_cursor_position(&cursor), cases[i].is_sleb ? 10 : 0);
    }
}

static size_t put_sleb(uint8_t *bytes, int64_t number)
{
    for (size_t size = 0;;) {
        uint8_t group = (uint8_t)(number & 0x7f);
        number = number < 0 ? ~(~number >> 7) : number >> 7;
        if ((number == 0 && group < 0x40) || (number == -1 && group >= 0x40)) {
            bytes[size++] = group;
            return size;
        }
        bytes[size++] = group | 0x80;
    }
}

static void assert_comes_back(int64_t number)
{
    uint8_t bytes[10];
    struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){bytes, put_sleb(bytes, number)});
    int64_t value;
    assert_true(tv_cursor_take_sleb(&cursor, &value));
    assert_true(value == number);
    assert_int_equal(tv_cursor_left(&cursor), 0);
}

/* Encode as defined and decode again: all lengths, both signs. */
static void leb_round_trip(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 63; bit++) {
        int64_t number = (int64_t)1 << bit;
        for (int64_t by = -1; by <= 1; by++) {
            assert_comes_back(number + by);
            assert_comes_back(-number - by);
        }
    }
}

static void takes_lines(void **state)
{
    (void)state;
    struct tv_cursor cursor = tv_cursor_over(TV_BYTES("one\n\ntwo\r\nlast"));
    static const char *const lines[] = {"one", "", "two\r", "last"};
    struct tv_bytes line;
    for (size_t i = 0; i < TV_COUNT(lines); i++) {
        assert_true(tv_cursor_take_line(&cursor, &line));
        assert_true(tv_bytes_equal(line, tv_bytes_of(lines[i])));
    }
    assert_false(tv_cursor_take_line(&cursor, &line));

    cursor = tv_cursor_over(TV_BYTES("a\n"));
    assert_true(tv_cursor_take_line(&cursor, &line));
    assert_false(tv_cursor_take_line(&cursor, &line));
}

static void splits(void **state)
{
    (void)state;
    struct tv_bytes rest = TV_BYTES("a\t\tbc");
    struct tv_bytes head;
    assert_true(tv_bytes_split(&rest, '\t', &head));
    assert_true(tv_bytes_equal(head, TV_BYTES("a")));
    assert_true(tv_bytes_split(&rest, '\t', &head));
    assert_int_equal(head.length, 0);
    assert_false(tv_bytes_split(&rest, '\t', &head));
    assert_true(tv_bytes_equal(head, TV_BYTES("bc")));
    assert_int_equal(rest.length, 0);
    assert_false(tv_bytes_split(&rest, '\t', &head));
    assert_int_equal(head.length, 0);

    rest = TV_BYTES("end,");
    assert_true(tv_bytes_split(&rest, ',', &head));
    assert_int_equal(head.length, 3);
    assert_int_equal(rest.length, 0);

    rest = (struct tv_bytes){NULL, 0};
    assert_false(tv_bytes_split(&rest, ',', &head));
}

static void compares(void **state)
{
    (void)state;
    struct tv_bytes none = {NULL, 0};
    /* In order; the last one sorts by unsigned bytes. */
    struct tv_bytes sorted[] = {none,           TV_BYTES("\0"), TV_BYTES("a"),   TV_BYTES("a\0"),
                                TV_BYTES("ab"), TV_BYTES("b"),  TV_BYTES("\x80")};
    for (size_t i = 0; i < TV_COUNT(sorted); i++) {
        for (size_t k = 0; k < TV_COUNT(sorted); k++) {
            int order = tv_bytes_compare(sorted[i], sorted[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
            assert_int_equal(tv_bytes_equal(sorted[i], sorted[k]), i == k);
        }
        assert_true(tv_bytes_starts_with(sorted[i], none));
        assert_true(tv_bytes_starts_with(sorted[i], sorted[i]));
    }
    assert_true(tv_bytes_starts_with(TV_BYTES("ab"), TV_BYTES("a")));
    assert_false(tv_bytes_starts_with(TV_BYTES("ab"), TV_BYTES("b")));
    assert_false(tv_bytes_starts_with(TV_BYTES("a"), TV_BYTES("ab")));
    assert_int_equal(tv_bytes_of("").length, 0);
    assert_int_equal(tv_bytes_of("abc").length, 3);
}

static void knows_beginnings_and_ends(void **state)
{
    (void)state;
    assert_true(tv_bytes_ends_with(TV_BYTES("a.key"), TV_BYTES(".key")));
    assert_true(tv_bytes_ends_with(TV_BYTES(".key"), TV_BYTES(".key")));
    assert_true(tv_bytes_ends_with((struct tv_bytes){NULL, 0}, TV_BYTES("")));
    assert_false(tv_bytes_ends_with(TV_BYTES("key"), TV_BYTES(".key")));
    assert_false(tv_bytes_ends_with(TV_BYTES("a.keys"), TV_BYTES(".key")));
    assert_true(tv_text_starts_with("trace.json", "trace"));
    assert_true(tv_text_starts_with("", ""));
    assert_false(tv_text_starts_with("tra", "trace"));
    assert_true(tv_text_ends_with("trace.json", ".json"));
    assert_true(tv_text_ends_with("", ""));
    assert_false(tv_text_ends_with("json", ".json"));
    assert_false(tv_text_ends_with("trace.jsonl", ".json"));
}

static void trims(void **state)
{
    (void)state;
    assert_true(tv_bytes_equal(tv_bytes_trim(TV_BYTES(" \t a b\t\r")), TV_BYTES("a b")));
    assert_true(tv_bytes_equal(tv_bytes_trim(TV_BYTES("\r\na\n")), TV_BYTES("a")));
    assert_int_equal(tv_bytes_trim(TV_BYTES(" \t\r ")).length, 0);
    assert_int_equal(tv_bytes_trim((struct tv_bytes){NULL, 0}).length, 0);
}

static void takes_base_names(void **state)
{
    (void)state;
    assert_true(
        tv_bytes_equal(tv_bytes_base_name(TV_BYTES("/data/app.trace")), TV_BYTES("app.trace")));
    assert_true(tv_bytes_equal(tv_bytes_base_name(TV_BYTES("app.trace")), TV_BYTES("app.trace")));
    assert_int_equal(tv_bytes_base_name(TV_BYTES("/data/")).length, 0);
    assert_int_equal(tv_bytes_base_name((struct tv_bytes){NULL, 0}).length, 0);
}

static void takes_words(void **state)
{
    (void)state;
    struct tv_bytes text = TV_BYTES(" \tone two\r");
    assert_true(tv_bytes_equal(tv_bytes_take_word(&text), TV_BYTES("one")));
    assert_true(tv_bytes_equal(text, TV_BYTES(" two\r")));
    assert_true(tv_bytes_equal(tv_bytes_take_word(&text), TV_BYTES("two")));
    assert_int_equal(tv_bytes_take_word(&text).length, 0);
    assert_int_equal(text.length, 0);
}

static void finds_control_characters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {
        {"\n", 1},           {"\x1b[", 1},    {"\x1f", 1},     {" ", 0},    {"~", 0},
        {"\x7f", 1},         {"\xc2\x80", 2},                               /* U+0080 */
        {"\xc2\x9f\x1b", 2}, {"\xc2\xa0", 0},                               /* U+009F, U+00A0 */
        {"\xc3\x9b", 0},     {"\xc2", 0},     {"\xc2\x1b", 0}, {"\x9b", 0}, /* in Latin-1 alone */
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_int_equal(tv_bytes_control(tv_bytes_of(cases[i].text)), cases[i].length);
    assert_int_equal(tv_bytes_control((struct tv_bytes){(const uint8_t *)"\xc2\x9b", 1}), 0);
    assert_int_equal(tv_bytes_control((struct tv_bytes){(const uint8_t *)"", 1}), 1);
}

/* ---- Number ---- */

#define US 1000
#define MS 1000000
#define S 1000000000

/* The examples of RFC 3629, section 7; then every character has the length that it is read with. */
static void writes_utf8(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        const char *text;
    } cases[] = {
        {0x41, "A"},
        {0x391, "\xce\x91"},
        {0x2262, "\xe2\x89\xa2"},
        {0xd55c, "\xed\x95\x9c"},
        {0x65e5, "\xe6\x97\xa5"},
        {0x233b4, "\xf0\xa3\x8e\xb4"},
    };
    uint8_t bytes[4];
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        size_t length = tv_utf8_put(bytes, cases[i].code);
        assert_int_equal(length, strlen(cases[i].text));
        assert_memory_equal(bytes, cases[i].text, length);
    }
    for (uint32_t code = 0; code < 0x110000; code++) {
        size_t length = tv_utf8_put(bytes, code);
        bool surrogate = code >= 0xd800 && code < 0xe000;
        assert_int_equal(tv_bytes_utf8((struct tv_bytes){bytes, length}), surrogate ? 0 : length);
    }
}

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

static void rejects_invalid_times(void **state)
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

UNIT_TESTS(bytes, cmocka_unit_test(takes_little_endian), cmocka_unit_test(does_not_leave_the_bytes),
           cmocka_unit_test(empty_bytes_have_nothing_to_take), cmocka_unit_test(takes_uleb),
           cmocka_unit_test(takes_sleb), cmocka_unit_test(leb_must_end_within_64_bits),
           cmocka_unit_test(leb_round_trip), cmocka_unit_test(takes_lines),
           cmocka_unit_test(splits), cmocka_unit_test(compares),
           cmocka_unit_test(knows_beginnings_and_ends), cmocka_unit_test(trims),
           cmocka_unit_test(takes_base_names), cmocka_unit_test(takes_words),
           cmocka_unit_test(finds_control_characters), cmocka_unit_test(writes_utf8),
           cmocka_unit_test(parses_u64), cmocka_unit_test(parses_i64), cmocka_unit_test(parses_hex),
           cmocka_unit_test(parses_times), cmocka_unit_test(rejects_invalid_times),
           cmocka_unit_test(times_are_exact_in_their_own_digits),
           cmocka_unit_test(parses_sizes_and_seconds), cmocka_unit_test(adds_times_up_to_a_limit));

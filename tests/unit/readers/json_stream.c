/* SPDX-License-Identifier: Apache-2.0 */
/* JSON read in one pass: numbers are exact, and what is wrong ends the stream or is skipped. */
#include "readers/json/stream.h"

#include "unit.h"

#include "base/bytes.h"
#include "base/out.h"

/* Read an array whose first element is the text, and whose second is 42, as numbers. */
static void assert_number(const char *text, unsigned digits, bool is_number, int64_t expected)
{
    struct tv_out out;
    int64_t value = 0, next = 0;
    tv_out_init_memory(&out);
    tv_out_format(&out, "[%s ,42]", text);
    struct tv_json_stream stream = tv_json_stream_over((struct tv_bytes){out.buffer, out.length});
    assert_true(tv_json_open(&stream, '['));
    assert_true(tv_json_take_element(&stream));
    if (tv_json_take_number(&stream, digits, &value) != is_number || value != expected)
        fail_msg("%s: %lld", text, (long long)value);
    assert_true(tv_json_take_element(&stream));
    assert_true(tv_json_take_number(&stream, 0, &next));
    assert_int_equal(next, 42);
    assert_false(tv_json_take_element(&stream));
    assert_false(stream.bad);
    tv_out_release(&out);
}

static void numbers_are_exact(void **state)
{
    static const struct {
        const char *text;
        unsigned digits;
        int64_t expected;
    } cases[] = {
        {"0", 0, 0},
        {"-7", 3, -7000},
        {"123456789012345", 3, 123456789012345000},
        {"1234567890123456", 0, 1234567890123456},
        /* Halves are rounded away from zero. */
        {"1.5", 0, 2},
        {"-1.5", 0, -2},
        {"12.345", 2, 1235},
        {"1.49999999999999999", 0, 1},
        {"5e-1", 0, 1},
        {"0.5e-18", 18, 1},
        /* The exponent moves the point. */
        {"1e3", 0, 1000},
        {"1E+3", 0, 1000},
        {"2.5e-1", 3, 250},
        {"0.00000000000000000000000001e26", 0, 1},
        {"92233720368547758070e-1", 0, INT64_MAX},
        {"9000000000000000000e-20", 0, 0},
        {"1e-99999999999999999999", 18, 0},
        {"0e99999999999999999999", 18, 0},
        /* Nanoseconds since 1970 have 19 digits. */
        {"1764371135123456789", 0, 1764371135123456789},
        {"1764371135.123456789", 9, 1764371135123456789},
        {"-1764371135123456789", 0, -1764371135123456789},
        {"0009223372036854775807", 0, INT64_MAX},
        {"9223372036854775807e-18", 0, 9},
        {"9500000000000000000e-18", 0, 10},
        {"9223372036854775807e-19", 0, 1},
        {"4999999999999999999e-19", 0, 0},
        {"5000000000000000000e-19", 0, 1},
        /* 64 bits cannot hold it. */
        {"9223372036854775807", 0, INT64_MAX},
        {"9223372036854775808", 0, INT64_MAX},
        {"-9223372036854775809", 0, -INT64_MAX},
        {"9223372036854775807", 1, INT64_MAX},
        {"10", 18, INT64_MAX},
        {"1e19", 0, INT64_MAX},
        {"-1e99999999999999999999", 0, -INT64_MAX},
        {"100000000000000000000000000000000000000000000000000", 0, INT64_MAX},
        {"999999999999999999.96", 1, INT64_MAX},
        {"900000000000000000.04", 1, 9000000000000000000},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_number(cases[i].text, cases[i].digits, true, cases[i].expected);
}

static void other_values_are_skipped(void **state)
{
    static const char *const texts[] = {"-",   "1e",   "1e+",      "1e5x",           "1.2.3", "--1",
                                        "1-2", "true", "\"1\"",    "[1,2]",          "{}",    "-e1",
                                        "-.",  "null", "\"\\\"\"", "[[{\"a\":[1]}]]"};
    (void)state;
    for (size_t i = 0; i < TV_COUNT(texts); i++)
        assert_number(texts[i], 0, false, 0);
}

static void walk_array(struct tv_json_stream *stream)
{
    while (tv_json_take_element(stream))
        tv_json_skip(stream);
}

/* Walk through an object and the arrays in it.  Return whether the text is JSON so far. */
static bool walk_is_sound(struct tv_bytes text)
{
    struct tv_json_stream stream = tv_json_stream_over(text);
    struct tv_bytes key;
    if (!tv_json_open(&stream, '{'))
        return false;
    while (tv_json_take_key(&stream, &key)) {
        if (tv_json_peek(&stream) == '[' && tv_json_open(&stream, '['))
            walk_array(&stream);
        else
            tv_json_skip(&stream);
    }
    return !stream.bad;
}

#define WHOLE "\xef\xbb\xbf {\"a\" : [1, \"x\\\"y\", {\"b\":[]}] ,\t\"\\u0063\":null}"

static void texts_end_where_they_are_wrong(void **state)
{
    static const char *const wrong[] = {
        "{\"a\" 1}", "{\"a\":}", "{a:1}", "{\"a\":]}", "{\"a\":\"}",
    };
    struct tv_bytes whole = TV_BYTES(WHOLE);
    (void)state;
    assert_true(walk_is_sound(whole));
    for (size_t length = 0; length < whole.length; length++)
        assert_false(walk_is_sound((struct tv_bytes){whole.data, length}));
    for (size_t i = 0; i < TV_COUNT(wrong); i++)
        if (walk_is_sound(tv_bytes_of(wrong[i])))
            fail_msg("%s is taken for JSON", wrong[i]);
}

UNIT_TESTS(json_stream, cmocka_unit_test(numbers_are_exact),
           cmocka_unit_test(other_values_are_skipped),
           cmocka_unit_test(texts_end_where_they_are_wrong));

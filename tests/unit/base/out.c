/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.c - tests of base/out.h.
 */
#include "unit.h"

#include "base/bytes.h"
#include "base/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define US 1000
#define MS 1000000
#define S 1000000000

static void assert_holds(struct tv_out *out, const char *text)
{
    struct tv_bytes held = {out->buffer, out->length};
    if (!tv_bytes_equal(held, tv_bytes_of(text)))
        fail_msg("expected '%s', found '%.*s'", text, (int)out->length, (const char *)out->buffer);
    out->length = 0;
}

/* Collects the output; fails from `limit` on. */
struct collector {
    uint8_t *bytes;
    size_t length, limit;
    unsigned calls;
};

static enum tv_status collect(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct collector *collector = context;
    collector->calls++;
    if (bytes.length > collector->limit - collector->length)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "full after %zu", collector->length);
    memcpy(collector->bytes + collector->length, bytes.data, bytes.length);
    collector->length += bytes.length;
    return TV_OK;
}

static struct collector new_collector(size_t limit)
{
    return (struct collector){.bytes = test_malloc(limit + 1), .limit = limit};
}

static void memory_keeps_everything(void **state)
{
    (void)state;
    struct tv_out out;
    struct tv_error err = {.status = TV_ERR_LIMIT};
    tv_out_init_memory(&out);
    assert_int_equal(tv_out_finish(&out, &err), TV_OK);
    assert_int_equal(err.status, TV_ERR_LIMIT); /* untouched */
    tv_out_bytes(&out, (struct tv_bytes){NULL, 0});
    tv_out_text(&out, "");
    tv_out_text(&out, "ab");
    tv_out_char(&out, 'c');
    tv_out_format(&out, "%s-%d", "de", 5);
    tv_out_format(&out, "%s", "");
    assert_int_equal(tv_out_finish(&out, &err), TV_OK);
    assert_holds(&out, "abcde-5");
    for (uint32_t i = 0; i < 300000; i++)
        tv_out_le32(&out, i);
    assert_int_equal(out.length, 1200000);
    assert_memory_equal(out.buffer + 4 * 70000, "\x70\x11\x01\x00", 4);
    assert_int_equal(out.total, 0);
    tv_out_release(&out);
    tv_out_release(&out);
}

/* The same pieces of all kinds and sizes, to memory and to a function. */
static void put_piece(struct tv_out *out, uint32_t i, const char *filler)
{
    switch (i % 8) {
    case 0:
        tv_out_u64(out, (uint64_t)i * i * i);
        break;
    case 1:
        tv_out_char(out, (char)('a' + i % 26));
        break;
    case 2:
        tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)filler, i % 5000});
        break;
    case 3:
        tv_out_format(out, "%u %s", i, "formatted");
        break;
    case 4:
        tv_out_json(out, (struct tv_bytes){(const uint8_t *)filler, i % 300});
        break;
    case 5:
        tv_out_time(out, (tv_ns)i * 1234567, MS, 6);
        break;
    case 6:
        tv_out_align(out, 8);
        tv_out_f64(out, i);
        break;
    default:
        /* Now and then larger than any buffer. */
        tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)filler, i % 400 == 7 ? 500000 : 3});
    }
}

static void written_bytes_equal_the_added_ones(void **state)
{
    (void)state;
    char *filler = test_malloc(500000);
    for (size_t i = 0; i < 500000; i++)
        filler[i] = (char)(32 + i % 95);
    struct collector collector = new_collector(20000000);
    struct tv_out memory, out;
    tv_out_init_memory(&memory);
    tv_out_init(&out, collect, &collector);
    for (uint32_t i = 0; i < 10000; i++) {
        put_piece(&memory, i, filler);
        put_piece(&out, i, filler);
        assert_int_equal(out.total + out.length, memory.length);
        assert_int_equal(out.total, collector.length);
    }
    assert_int_equal(tv_out_finish(&out, NULL), TV_OK);
    assert_int_equal(collector.length, memory.length);
    assert_memory_equal(collector.bytes, memory.buffer, memory.length);
    assert_true(collector.calls < 400); /* 20 MB: not in small pieces */
    tv_out_release(&out);
    tv_out_release(&memory);
    test_free(collector.bytes);
    test_free(filler);
}

static void an_empty_write_is_not_passed_on(void **state)
{
    (void)state;
    struct collector collector = new_collector(10);
    struct tv_out out;
    tv_out_init(&out, collect, &collector);
    tv_out_text(&out, "");
    assert_int_equal(tv_out_finish(&out, NULL), TV_OK);
    assert_int_equal(collector.calls, 0);
    tv_out_release(&out);
    test_free(collector.bytes);
}

static void the_first_error_sticks(void **state)
{
    (void)state;
    struct collector collector = new_collector(200000);
    struct tv_out out;
    tv_out_init(&out, collect, &collector);
    for (int i = 0; i < 400000; i++)
        tv_out_text(&out, "0123456789");
    unsigned calls = collector.calls;
    size_t length = collector.length;
    collector.limit = 200001; /* would have room again: too late */
    for (int i = 0; i < 400000; i++)
        tv_out_u64(&out, 1234567890);
    struct tv_error err = {0};
    assert_int_equal(tv_out_finish(&out, &err), TV_ERR_IO);
    assert_int_equal(err.status, TV_ERR_IO);
    assert_memory_equal(err.message, "full after ", 11);
    assert_int_equal(collector.calls, calls);
    assert_int_equal(collector.length, length);
    assert_int_equal(out.total, length);
    assert_int_equal(tv_out_finish(&out, NULL), TV_ERR_IO);
    tv_out_release(&out);
    test_free(collector.bytes);
}

static void an_error_at_the_end_is_seen(void **state)
{
    (void)state;
    struct collector collector = new_collector(5);
    struct tv_out out;
    tv_out_init(&out, collect, &collector);
    tv_out_text(&out, "sixsix");
    assert_int_equal(collector.calls, 0);
    struct tv_error err = {0};
    assert_int_equal(tv_out_finish(&out, &err), TV_ERR_IO);
    assert_string_equal(err.message, "full after 0");
    tv_out_release(&out);
    test_free(collector.bytes);
}

static void writes_integers(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    char text[64];
    uint64_t power = 1;
    for (int digits = 1; digits <= 20; digits++) {
        for (uint64_t by = 0; by < 3; by++) {
            uint64_t value = power + by - 1;
            snprintf(text, sizeof text, "%" PRIu64, value);
            tv_out_u64(&out, value);
            assert_holds(&out, text);
            snprintf(text, sizeof text, "%" PRId64, (int64_t)value);
            tv_out_i64(&out, (int64_t)value);
            assert_holds(&out, text);
            snprintf(text, sizeof text, "%" PRId64, (int64_t)(0 - value));
            tv_out_i64(&out, (int64_t)(0 - value));
            assert_holds(&out, text);
        }
        power *= digits < 20 ? 10 : 1;
    }
    tv_out_u64(&out, UINT64_MAX);
    assert_holds(&out, "18446744073709551615");
    tv_out_i64(&out, INT64_MIN);
    assert_holds(&out, "-9223372036854775808");
    tv_out_release(&out);
}

static void writes_times(void **state)
{
    (void)state;
    static const struct {
        tv_ns value, unit;
        int decimals;
        const char *text;
    } cases[] = {
        {0, 1, 0, "0"},
        {0, MS, 3, "0.000"},
        {1234567, 1, 0, "1234567"},
        {1234567, 1, 2, "1234567.00"},
        {1234567, US, 3, "1234.567"},
        {1234567, US, 0, "1235"},
        {1234499, US, 0, "1234"},
        {1234500, US, 0, "1235"}, /* half goes up */
        {-1234500, US, 0, "-1234"},
        {-1234501, US, 0, "-1235"},
        {-400, US, 0, "0"}, /* no "-0" */
        {-500, US, 0, "0"},
        {-501, US, 0, "-1"},
        {-1, MS, 3, "0.000"},
        {-1, US, 3, "-0.001"},
        {999999, MS, 3, "1.000"}, /* carried into the whole */
        {9999995, MS, 5, "10.00000"},
        {-999999, MS, 3, "-1.000"},
        {1, S, 9, "0.000000001"},
        {1, S, 12, "0.000000001000"},
        {1500000000, S, 1, "1.5"},
        {50, US, 1, "0.1"},
        {49, US, 1, "0.0"},
        {INT64_MAX, 1, 0, "9223372036854775807"},
        {INT64_MAX, S, 9, "9223372036.854775807"},
        {INT64_MAX, S, 0, "9223372037"},
        {INT64_MAX, US, 9, "9223372036854775.807000000"},
        {INT64_MIN, 1, 0, "-9223372036854775808"},
        {INT64_MIN, MS, 6, "-9223372036854.775808"},
        {INT64_MIN, MS, 2, "-9223372036854.78"},
        {INT64_C(3758096384), TV_OUT_UNIT_MAX, 2, "3.50"}, /* bytes as GiB */
        {TV_OUT_UNIT_MAX - 1, TV_OUT_UNIT_MAX, 9, "0.999999999"},
        {TV_OUT_UNIT_MAX - 1, TV_OUT_UNIT_MAX, 8, "1.00000000"},
        {INT64_MIN, TV_OUT_UNIT_MAX, 9, "-8589934592.000000000"},
    };
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_out_time(&out, cases[i].value, cases[i].unit, cases[i].decimals);
        assert_holds(&out, cases[i].text);
    }
    tv_out_release(&out);
}

/* floor(value / step + 1/2) by counting, for all values around zero. */
static void times_round_half_up(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    for (int value = -2600; value <= 2600; value++) {
        int tenths = -100; /* of a microsecond; 100 ns each */
        while ((tenths + 1) * 100 - 50 <= value)
            tenths++;
        char text[32];
        snprintf(text, sizeof text, "%s%d.%d", tenths < 0 ? "-" : "", abs(tenths) / 10,
                 abs(tenths) % 10);
        tv_out_time(&out, value, US, 1);
        assert_holds(&out, text);
    }
    tv_out_release(&out);
}

struct escape_case {
    struct tv_bytes text;
    const char *escaped;
};

#define CASE(text, escaped)                                                                        \
    {                                                                                              \
        {(const uint8_t *)("" text), sizeof(text) - 1}, escaped                                    \
    }
#define FFFD "\xef\xbf\xbd"

/* Valid and invalid UTF-8, by table 3-7 of the Unicode standard. */
static const struct escape_case utf8_cases[] = {
    CASE("", ""),
    CASE("plain text", "plain text"),
    CASE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
    CASE("\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf"),
    CASE("\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"),
    CASE("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
    CASE("a\x80z", "a" FFFD "z"),                  /* continuation alone */
    CASE("\xff\xfe", FFFD FFFD),                   /* never in UTF-8 */
    CASE("\xc0\x80\xc1\xbf", FFFD FFFD FFFD FFFD), /* overlong, 2 bytes */
    CASE("\xe0\x9f\xbf", FFFD FFFD FFFD),          /* overlong, 3 bytes */
    CASE("\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD), /* overlong, 4 bytes */
    CASE("\xed\xa0\x80", FFFD FFFD FFFD),          /* surrogate */
    CASE("\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD), /* above U+10FFFF */
    CASE("\xf5\x80\x80\x80", FFFD FFFD FFFD FFFD),
    CASE("\xc3", FFFD), /* cut off */
    CASE("\xe2\x82", FFFD FFFD),
    CASE("\xf0\x9f\x98", FFFD FFFD FFFD),
    CASE("\xe2\x82z\xc3z", FFFD FFFD "z" FFFD "z"), /* the next byte is kept */
    CASE("\xe2\xc3\xa9", FFFD "\xc3\xa9"),
    CASE("\xf0\x9f\x98\xc3\xa9", FFFD FFFD FFFD "\xc3\xa9"),
};

static void repairs_utf8(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(utf8_cases); i++) {
        char quoted[200];
        snprintf(quoted, sizeof quoted, "\"%s\"", utf8_cases[i].escaped);
        tv_out_json(&out, utf8_cases[i].text);
        assert_holds(&out, quoted);
        tv_out_xml(&out, utf8_cases[i].text);
        assert_holds(&out, utf8_cases[i].escaped);
    }
    /* The bytes that would complete the sequence lie beyond the end. */
    tv_out_xml(&out, (struct tv_bytes){(const uint8_t *)"\xe2\x82\xac", 2});
    assert_holds(&out, FFFD FFFD);
    tv_out_release(&out);
}

static void escapes_json(void **state)
{
    (void)state;
    static const struct escape_case cases[] = {
        CASE("a\"b\\c", "\"a\\\"b\\\\c\""),
        CASE("\n\r\t", "\"\\n\\r\\t\""),
        CASE("\0\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\\u007f\""),
        CASE("\xc2\x80\xc2\x9b\xc2\x9f", "\"\\u0080\\u009b\\u009f\""),
        CASE("\xc2\xa0\xc3\x9b", "\"\xc2\xa0\xc3\x9b\""),
        CASE("\xc2", "\"" FFFD "\""),
        CASE("<init>", "\"<init>\""),
        CASE("'&/", "\"'&/\""),
        CASE("\xef\xbf\xbf", "\"\xef\xbf\xbf\""),
    };
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_out_json(&out, cases[i].text);
        assert_holds(&out, cases[i].escaped);
    }
    tv_out_json(&out, (struct tv_bytes){NULL, 0});
    assert_holds(&out, "\"\"");
    tv_out_release(&out);
}

static void json_ends_no_html_element(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_json_in_html(&out, tv_bytes_of("</script>\"\n\x7f\xc2\x9b\xc3\xa4"));
    assert_holds(&out, "\"\\u003c/script\\u003e\\\"\\n\\u007f\\u009b\xc3\xa4\"");
    tv_out_release(&out);
}

static void escapes_xml(void **state)
{
    (void)state;
    static const struct escape_case cases[] = {
        CASE("a<b>&\"c\"'", "a&lt;b&gt;&amp;&quot;c&quot;&#39;"),
        CASE("\t\n\r\x7f", "&#9;&#10;&#13;&#127;"),
        CASE("\0\x01\x08\x0b\x1f", FFFD FFFD FFFD FFFD FFFD), /* no XML even as &#1; */
        CASE("\xef\xbf\xbe", FFFD FFFD FFFD),                 /* U+FFFE, not a Char of XML */
        CASE("\xef\xbf\xbd", FFFD),
        CASE("<init>", "&lt;init&gt;"),
    };
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_out_xml(&out, cases[i].text);
        assert_holds(&out, cases[i].escaped);
    }
    tv_out_release(&out);
}

static void quotes_csv(void **state)
{
    (void)state;
    static const struct escape_case cases[] = {
        CASE("", ""),
        CASE("plain", "plain"),
        CASE(" spaces stay ", " spaces stay "),
        CASE("a,b", "\"a,b\""),
        CASE("say \"x\"", "\"say \"\"x\"\"\""),
        CASE("\"", "\"\"\"\""),
        CASE("\"\"", "\"\"\"\"\"\""),
        CASE("two\nlines", "\"two\nlines\""),
        CASE("cr\r", "\"cr\r\""),
        CASE("semi;tab\t'", "semi;tab\t'"),
    };
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_out_csv(&out, cases[i].text);
        assert_holds(&out, cases[i].escaped);
    }
    tv_out_release(&out);
}

/* Each ASCII character is copied or escaped, as the rules of each format say. */
static void every_character_has_its_escape(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    for (int c = 0; c < 0x80; c++) {
        char plain[4] = {'a', (char)c, 'z', '\0'};
        struct tv_bytes text = {(const uint8_t *)plain, 3};
        struct tv_bytes whole = {(const uint8_t *)plain + 1, 1};
        tv_out_json(&out, text);
        assert_int_equal(out.length != 5, c < 0x20 || c == 0x7f || strchr("\"\\", c) != NULL);
        out.length = 0;
        tv_out_json_in_html(&out, text);
        assert_int_equal(out.length != 5, c < 0x20 || c == 0x7f || strchr("\"\\<>", c) != NULL);
        out.length = 0;
        tv_out_xml(&out, text);
        assert_int_equal(out.length != 3, c < 0x20 || c == 0x7f || strchr("&<>\"'", c) != NULL);
        out.length = 0;
        tv_out_csv(&out, whole);
        assert_int_equal(out.length != 1, c != 0 && strchr(",\"\r\n", c) != NULL);
        out.length = 0;
    }
    tv_out_release(&out);
}

static void writes_binary(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_align(&out, 8); /* 0 is a multiple */
    assert_int_equal(out.length, 0);
    tv_out_char(&out, 'x');
    tv_out_align(&out, 4);
    tv_out_le32(&out, 0xf1020304);
    tv_out_align(&out, 4);
    tv_out_f64(&out, -1.5); /* sign, exponent 1023, half of the fraction */
    assert_int_equal(out.length, 16);
    assert_memory_equal(out.buffer, "x\0\0\0\x04\x03\x02\xf1\0\0\0\0\0\0\xf8\xbf", 16);
    tv_out_release(&out);
}

static void format_takes_up_to_its_limit(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_format(&out, "%*d", 4095, 7);
    assert_int_equal(out.length, 4095);
    assert_int_equal(out.buffer[4094], '7');
    tv_out_release(&out);
}

static void words_fit_their_count(void **state)
{
    (void)state;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_counted(&out, 1, "slice|slices of threads becomes|become");
    assert_holds(&out, "1 slice of threads becomes");
    tv_out_counted(&out, 2, "slice|slices of threads becomes|become states");
    assert_holds(&out, "2 slices of threads become states");
    tv_out_counted(&out, 0, "box|boxes");
    assert_holds(&out, "0 boxes");
    tv_out_counted(&out, 7, "|more");
    assert_holds(&out, "7 more");
    tv_out_counted(&out, 7, "");
    assert_holds(&out, "7");
    assert_string_equal(tv_plural(1, "file", "files"), "file");
    assert_string_equal(tv_plural(0, "file", "files"), "files");
    tv_out_release(&out);
}

static void short_times_are_exact(void **state)
{
    (void)state;
    static const struct {
        tv_ns value, unit;
        const char *text;
    } cases[] = {
        {1000000000, MS, "1000"},
        {1500000, MS, "1.5"},
        {-1500000, MS, "-1.5"},
        {1, S, "0.000000001"},
        {-20, US, "-0.02"},
        {0, MS, "0"},
        {7, 1, "7"},
        {100, MS, "0.0001"},
        {INT64_MIN, S, "-9223372036.854775808"},
    };
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        tv_out_time_short(&out, cases[i].value, cases[i].unit);
        assert_holds(&out, cases[i].text);
    }
    tv_out_release(&out);
}

/* A limit is exact to the byte, whatever the pieces, and nothing beyond it is kept. */
static void memory_ends_at_its_limit(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= 5000; piece = piece * 3 + 1) {
        uint8_t *bytes = test_calloc(piece, 1);
        struct tv_out out;
        struct tv_error err = {0};
        tv_out_init_memory(&out);
        tv_out_set_limit(&out, 20 * piece);
        for (int i = 0; i < 20; i++)
            tv_out_bytes(&out, (struct tv_bytes){bytes, piece});
        assert_int_equal(tv_out_finish(&out, &err), TV_OK);
        assert_int_equal(out.length, 20 * piece);
        tv_out_char(&out, 'x');
        assert_int_equal(tv_out_finish(&out, &err), TV_ERR_LIMIT);
        assert_true(tv_out_has_failed(&out));
        for (int i = 0; i < 1000; i++) {
            tv_out_bytes(&out, (struct tv_bytes){bytes, piece});
            tv_out_format(&out, "%d", i);
        }
        assert_int_equal(tv_out_finish(&out, &err), TV_ERR_LIMIT);
        assert_int_equal(out.length, 0);
        assert_true(out.capacity < 80 * piece + ((size_t)4 * TV_OUT_ROOM));
        tv_out_release(&out);
        test_free(bytes);
    }
}

static void no_byte_after_the_limit_is_written(void **state)
{
    (void)state;
    struct collector collector = new_collector(1000000);
    struct tv_error err = {0};
    struct tv_out out;
    tv_out_init(&out, collect, &collector);
    tv_out_set_limit(&out, 300000);
    for (int i = 0; i < 300000; i++)
        tv_out_char(&out, 'a');
    assert_int_equal(tv_out_finish(&out, &err), TV_OK);
    assert_int_equal(collector.length, 300000);
    tv_out_char(&out, 'a');
    assert_int_equal(tv_out_finish(&out, &err), TV_ERR_LIMIT);
    assert_int_equal(collector.length, 300000);
    tv_out_release(&out);
    test_free(collector.bytes);
}

UNIT_TESTS(out, cmocka_unit_test(words_fit_their_count), cmocka_unit_test(memory_ends_at_its_limit),
           cmocka_unit_test(no_byte_after_the_limit_is_written),
           cmocka_unit_test(short_times_are_exact), cmocka_unit_test(memory_keeps_everything),
           cmocka_unit_test(written_bytes_equal_the_added_ones),
           cmocka_unit_test(an_empty_write_is_not_passed_on),
           cmocka_unit_test(the_first_error_sticks), cmocka_unit_test(an_error_at_the_end_is_seen),
           cmocka_unit_test(writes_integers), cmocka_unit_test(writes_times),
           cmocka_unit_test(times_round_half_up), cmocka_unit_test(repairs_utf8),
           cmocka_unit_test(escapes_json), cmocka_unit_test(json_ends_no_html_element),
           cmocka_unit_test(escapes_xml), cmocka_unit_test(quotes_csv),
           cmocka_unit_test(every_character_has_its_escape), cmocka_unit_test(writes_binary),
           cmocka_unit_test(format_takes_up_to_its_limit));

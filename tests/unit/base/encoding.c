/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/out.h"

static void decodes(const char *text, const char *expected, size_t expected_used)
{
    uint8_t bytes[64] = {0};
    struct tv_base64 state = {0};
    size_t used;
    size_t count = tv_base64_decode(&state, tv_bytes_of(text), bytes, &used);
    assert_int_equal(used, expected_used);
    assert_int_equal(count, strlen(expected));
    assert_memory_equal(bytes, expected, count);
}

/* The examples of RFC 4648, section 10. */
static void decodes_the_examples(void **context)
{
    (void)context;
    decodes("", "", 0);
    decodes("Zg==", "f", 4);
    decodes("Zm8=", "fo", 4);
    decodes("Zm9v", "foo", 4);
    decodes("Zm9vYg==", "foob", 8);
    decodes("Zm9vYmE=", "fooba", 8);
    decodes("Zm9vYmFy", "foobar", 8);
    decodes("+/+/", "\xfb\xff\xbf", 4);
}

static void passes_over_blanks(void **context)
{
    (void)context;
    decodes(" Zm\r\n9v\tYg = =\n", "foob", 15);
}

static void stops_at_other_bytes(void **context)
{
    (void)context;
    decodes("Zm9v!m9v", "foo", 4);
    decodes("Zg==Zg==", "f", 4); /* nothing comes after padding */
    decodes("Zm9", "", 3);       /* three digits and no padding: cut off */
}

static void carries_digits_over_calls(void **context)
{
    const char *text = "Zm9vYmE=";
    uint8_t bytes[64];
    struct tv_base64 state = {0};
    size_t count = 0, used;
    (void)context;
    for (size_t i = 0; i < strlen(text); i++) {
        struct tv_bytes one = {(const uint8_t *)text + i, 1};
        count += tv_base64_decode(&state, one, bytes + count, &used);
        assert_int_equal(used, 1);
    }
    assert_int_equal(count, 5);
    assert_memory_equal(bytes, "fooba", 5);
}

/* Encode in pieces of `step` bytes. */
static void encodes(const char *bytes, const char *expected, size_t step)
{
    struct tv_base64_encoder encoder = {.count = 0};
    struct tv_out out;
    tv_out_init_memory(&out);
    for (size_t at = 0; at < strlen(bytes); at += step) {
        size_t left = strlen(bytes) - at;
        struct tv_bytes piece = {(const uint8_t *)bytes + at, left < step ? left : step};
        tv_base64_encode(&encoder, piece, &out);
    }
    tv_base64_encode_finish(&encoder, &out);
    assert_int_equal(out.length, strlen(expected));
    if (out.length > 0)
        assert_memory_equal(out.buffer, expected, out.length);
    tv_out_release(&out);
}

/* The examples of RFC 4648, section 10, divided in every way. */
static void encodes_the_examples(void **context)
{
    (void)context;
    for (size_t step = 1; step < 8; step++) {
        encodes("", "", step);
        encodes("f", "Zg==", step);
        encodes("fo", "Zm8=", step);
        encodes("foo", "Zm9v", step);
        encodes("foob", "Zm9vYg==", step);
        encodes("fooba", "Zm9vYmE=", step);
        encodes("foobar", "Zm9vYmFy", step);
        encodes("\xfb\xff\xbf", "+/+/", step);
    }
}

/* Decoding restores more than one buffer of encoded data. */
static void decodes_what_it_encodes(void **context)
{
    (void)context;
    uint8_t bytes[10007], back[10007 + 3];
    struct tv_base64_encoder encoder = {.count = 0};
    struct tv_base64 state = {0};
    struct tv_out out;
    size_t used;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    tv_out_init_memory(&out);
    tv_base64_encode(&encoder, (struct tv_bytes){bytes, sizeof bytes}, &out);
    tv_base64_encode_finish(&encoder, &out);
    struct tv_bytes text = {out.buffer, out.length};
    assert_int_equal(tv_base64_decode(&state, text, back, &used), sizeof bytes);
    assert_memory_equal(back, bytes, sizeof bytes);
    tv_out_release(&out);
}

/* ---- Query ---- */

/* Parse a copy and return "name=value;name=value;", or "refused". */
static const char *shown(const char *text)
{
    static char shown[512];
    size_t length = strlen(text), used = 0;
    uint8_t *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    struct tv_query query;
    struct tv_error err = {0};
    shown[0] = '\0';
    if (tv_query_parse(&query, copy, length, &err) != TV_OK) {
        assert_int_equal(err.status, TV_ERR_USAGE);
        assert_true(err.message[0] != '\0');
        memcpy(shown, "refused", sizeof "refused");
    }
    for (size_t i = 0; err.status == TV_OK && i < query.count; i++) {
        struct tv_bytes name = query.items[i].name, value = query.items[i].value;
        memcpy(shown + used, name.data, name.length);
        used += name.length;
        shown[used++] = '=';
        memcpy(shown + used, value.data, value.length);
        used += value.length;
        shown[used++] = ';';
        shown[used] = '\0';
    }
    free(copy);
    return shown;
}

static void takes_parameters_apart(void **state)
{
    (void)state;
    assert_string_equal(shown(""), "");
    assert_string_equal(shown("a=1"), "a=1;");
    assert_string_equal(shown("from=5&to=10&tracks=0,3"), "from=5;to=10;tracks=0,3;");
    assert_string_equal(shown("a=1&"), "a=1;");
    assert_string_equal(shown("flag"), "flag=;");
    assert_string_equal(shown("a="), "a=;");
    assert_string_equal(shown("a=b=c"), "a=b=c;");
}

static void decodes_escapes(void **state)
{
    (void)state;
    assert_string_equal(shown("a=0%2C3"), "a=0,3;");
    assert_string_equal(shown("a=x%3dy%26z"), "a=x=y&z;");
    assert_string_equal(shown("a=one+two%20three%2Bfour"), "a=one two three+four;");
    assert_string_equal(shown("%61%62=c"), "ab=c;");
    assert_string_equal(shown("a=%C3%A9"), "a=\xc3\xa9;");
    assert_string_equal(shown("a=%2541"), "a=%41;"); /* decoded once */
}

static void refuses_broken_escapes(void **state)
{
    (void)state;
    assert_string_equal(shown("a=%"), "refused");
    assert_string_equal(shown("a=%4"), "refused");
    assert_string_equal(shown("a=%4&b=1"), "refused"); /* must not reach into the next parameter */
    assert_string_equal(shown("a=%g1"), "refused");
    assert_string_equal(shown("a=%1g"), "refused");
    assert_string_equal(shown("a=%-1"), "refused");
}

static void refuses_control_characters(void **state)
{
    (void)state;
    assert_string_equal(shown("a=%00"), "refused");
    assert_string_equal(shown("a%0a=1"), "refused");
    assert_string_equal(shown("a=%7F"), "refused");
    assert_string_equal(shown("a=\t"), "refused");
}

static void refuses_what_is_ambiguous(void **state)
{
    (void)state;
    assert_string_equal(shown("=1"), "refused");
    assert_string_equal(shown("&"), "refused");
    assert_string_equal(shown("a=1&&b=2"), "refused");
    assert_string_equal(shown("a=1&b=2&a=3"), "refused");
    assert_string_equal(shown("a=1&%61=3"), "refused");
}

static void bounds_the_number_of_parameters(void **state)
{
    (void)state;
    char text[4 * (TV_QUERY_PARAMETERS + 1) + 1] = "";
    for (size_t i = 0; i <= TV_QUERY_PARAMETERS; i++) {
        char one[] = {(char)('a' + i), '=', '1', '&'};
        memcpy(text + 4 * i, one, sizeof one);
    }
    assert_string_equal(shown(text), "refused");
    text[4 * TV_QUERY_PARAMETERS] = '\0';
    assert_string_not_equal(shown(text), "refused");
}

static void finds_by_whole_names(void **state)
{
    (void)state;
    uint8_t text[] = "from=1&to=2";
    struct tv_query query;
    assert_int_equal(tv_query_parse(&query, text, sizeof text - 1, NULL), TV_OK);
    assert_true(tv_bytes_equal(*tv_query_find(&query, "to"), TV_BYTES("2")));
    assert_null(tv_query_find(&query, "t"));
    assert_null(tv_query_find(&query, "from=1"));
    assert_null(tv_query_find(&query, "too"));
}

static void splits_the_target_once(void **state)
{
    (void)state;
    struct tv_bytes target = TV_BYTES("/x/api/trace?a=b?c");
    struct tv_bytes query = tv_query_split(&target);
    assert_true(tv_bytes_equal(target, TV_BYTES("/x/api/trace")));
    assert_true(tv_bytes_equal(query, TV_BYTES("a=b?c")));
    target = TV_BYTES("/x/%3Fa=1");
    query = tv_query_split(&target);
    assert_true(tv_bytes_equal(target, TV_BYTES("/x/%3Fa=1")));
    assert_int_equal(query.length, 0);
}

/* Decode a name in a path, or return "refused". */
static const char *name_of(const char *text)
{
    static char shown[64];
    uint8_t copy[64];
    struct tv_bytes name;
    struct tv_error err;
    memcpy(copy, text, strlen(text));
    if (tv_query_decode_name(copy, strlen(text), &name, &err) != TV_OK)
        return "refused";
    memcpy(shown, name.data, name.length);
    shown[name.length] = '\0';
    return shown;
}

static void decodes_names_in_paths(void **state)
{
    (void)state;
    assert_string_equal(name_of("app%20start.trace"), "app start.trace");
    assert_string_equal(name_of("a+b"), "a+b");
    assert_string_equal(name_of("..%2F..%2Fetc"), "../../etc"); /* text, never a path */
    assert_string_equal(name_of("a%0Ab"), "refused");
    assert_string_equal(name_of("a%0"), "refused");
}

UNIT_TESTS(encoding, cmocka_unit_test(decodes_the_examples), cmocka_unit_test(passes_over_blanks),
           cmocka_unit_test(stops_at_other_bytes), cmocka_unit_test(carries_digits_over_calls),
           cmocka_unit_test(encodes_the_examples), cmocka_unit_test(decodes_what_it_encodes),
           cmocka_unit_test(decodes_names_in_paths), cmocka_unit_test(takes_parameters_apart),
           cmocka_unit_test(decodes_escapes), cmocka_unit_test(refuses_broken_escapes),
           cmocka_unit_test(refuses_control_characters),
           cmocka_unit_test(refuses_what_is_ambiguous),
           cmocka_unit_test(bounds_the_number_of_parameters),
           cmocka_unit_test(finds_by_whole_names), cmocka_unit_test(splits_the_target_once));

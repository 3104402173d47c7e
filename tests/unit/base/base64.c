/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "base/bytes.h"
#include "base/out.h"
#include "unit.h"

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
    decodes("Zg==Zg==", "f", 4); /* nothing comes behind padding */
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

/* In pieces of `step` bytes. */
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

/* The examples of RFC 4648, section 10, whichever way they are cut. */
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

/* More than is put down in one go comes back as it was. */
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

UNIT_TESTS(base64, cmocka_unit_test(decodes_the_examples), cmocka_unit_test(passes_over_blanks),
           cmocka_unit_test(stops_at_other_bytes), cmocka_unit_test(carries_digits_over_calls),
           cmocka_unit_test(encodes_the_examples), cmocka_unit_test(decodes_what_it_encodes));

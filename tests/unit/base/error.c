/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.c - tests of base/error.h.
 */
#include "unit.h"

#include "base/error.h"

#include <string.h>

static void fills_and_returns_the_status(void **state)
{
    (void)state;
    struct tv_error err = {.context = 17};
    assert_int_equal(tv_fail(&err, TV_ERR_SYNTAX, 12, "expected %d, found '%c'", 3, 'x'),
                     TV_ERR_SYNTAX);
    assert_int_equal(err.status, TV_ERR_SYNTAX);
    assert_int_equal(err.offset, 12);
    assert_int_equal(err.context, 0);
    assert_string_equal(err.message, "expected 3, found 'x'");
}

static void status_without_an_error_to_fill(void **state)
{
    (void)state;
    assert_int_equal(tv_fail(NULL, TV_ERR_LIMIT, 0, "nobody listens"), TV_ERR_LIMIT);
}

static void text_has_the_offset_after_the_context(void **state)
{
    (void)state;
    struct tv_error err;
    char text[500];
    tv_fail(&err, TV_ERR_SYNTAX, 10432, "expected a tab: found 'x'");
    assert_string_equal(tv_error_text(&err, text, sizeof text),
                        "byte 10432: expected a tab: found 'x'");
    assert_int_equal(tv_error_prefix(&err, "%s table", "thread"), TV_ERR_SYNTAX);
    assert_int_equal(tv_error_prefix(&err, "app.trace"), TV_ERR_SYNTAX);
    assert_ptr_equal(tv_error_text(&err, text, sizeof text), text);
    assert_string_equal(text, "app.trace: thread table: byte 10432: expected a tab: found 'x'");
}

static void text_without_an_offset(void **state)
{
    (void)state;
    struct tv_error err;
    char text[500];
    tv_fail(&err, TV_ERR_IO, TV_NO_OFFSET, "cannot open");
    tv_error_prefix(&err, "a");
    assert_string_equal(tv_error_text(&err, text, sizeof text), "a: cannot open");
}

static void text_keeps_to_one_harmless_line(void **state)
{
    (void)state;
    struct tv_error err;
    char text[500];
    tv_fail(&err, TV_ERR_IO, TV_NO_OFFSET, "a\nb\x1b[31m\x7f\xc3\xa9\xc2\x9b");
    assert_string_equal(tv_error_text(&err, text, sizeof text), "a?b?[31m?\xc3\xa9??");
}

static void text_fits_the_buffer(void **state)
{
    (void)state;
    struct tv_error err;
    char text[8] = "1234567";
    tv_fail(&err, TV_ERR_IO, 5, "a long message");
    assert_string_equal(tv_error_text(&err, text, 6), "byte ");
    assert_string_equal(text + 6, "7");
}

static void an_argument_may_be_the_old_message(void **state)
{
    (void)state;
    struct tv_error err;
    tv_fail(&err, TV_ERR_IO, 1, "first");
    tv_fail(&err, TV_ERR_LIMIT, 2, "second after %s", err.message);
    assert_string_equal(err.message, "second after first");
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    char name[1001];
    for (size_t i = 0; i < 1000; i += 2)
        memcpy(name + i, "\xc3\xa9", 2);
    name[1000] = '\0';
    /* One byte in front, or none: the room ends inside of a character or after one. */
    for (int front = 0; front < 2; front++) {
        struct tv_error err;
        tv_fail(&err, TV_ERR_IO, 1, "%.*s%s", front, "x", name);
        size_t length = strlen(err.message);
        assert_true(length >= sizeof err.message - 3 && length < sizeof err.message);
        assert_memory_equal(err.message + length - 2, "\xc3\xa9", 2);
    }
}

/* Cutting takes only what is half: characters of 1 to 4 bytes that just fit stay. */
static void whole_characters_at_the_cut_stay(void **state)
{
    (void)state;
    static const char *const characters[] = {"z", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t i = 0; i < TV_COUNT(characters); i++) {
        struct tv_error err;
        size_t size = strlen(characters[i]);
        int front = (int)(sizeof err.message - 1 - size);
        tv_fail(&err, TV_ERR_IO, 1, "%*s%s more", front, "", characters[i]);
        assert_int_equal(strlen(err.message), sizeof err.message - 1);
        assert_string_equal(err.message + front, characters[i]);
        tv_fail(&err, TV_ERR_IO, 1, "%*s%s more", front + 1, "", characters[i]);
        assert_int_equal(strlen(err.message), front + 1);
    }
}

static void a_long_context_leaves_the_message(void **state)
{
    (void)state;
    char path[5001];
    memset(path, 'p', sizeof path - 1);
    path[5000] = '\0';
    struct tv_error err;
    char text[500];
    tv_fail(&err, TV_ERR_SYNTAX, 7, "what happened");
    tv_error_prefix(&err, "%s", path);
    assert_non_null(strstr(tv_error_text(&err, text, sizeof text), ": byte 7: what happened"));
}

static void endless_context_stays_inside(void **state)
{
    (void)state;
    struct tv_error err;
    char text[500];
    tv_fail(&err, TV_ERR_SYNTAX, 7, "what happened");
    for (int i = 0; i < 1000; i++) {
        tv_error_prefix(&err, "layer %d", i);
        assert_true(strlen(err.message) < sizeof err.message);
        assert_true(err.context <= strlen(err.message));
        assert_true(strlen(tv_error_text(&err, text, sizeof text)) < sizeof text);
    }
    assert_memory_equal(err.message, "layer 999: layer 998: ", 22);
}

UNIT_TESTS(error, cmocka_unit_test(fills_and_returns_the_status),
           cmocka_unit_test(status_without_an_error_to_fill),
           cmocka_unit_test(text_has_the_offset_after_the_context),
           cmocka_unit_test(text_without_an_offset),
           cmocka_unit_test(text_keeps_to_one_harmless_line),
           cmocka_unit_test(text_fits_the_buffer),
           cmocka_unit_test(an_argument_may_be_the_old_message),
           cmocka_unit_test(long_messages_are_cut_between_characters),
           cmocka_unit_test(whole_characters_at_the_cut_stay),
           cmocka_unit_test(a_long_context_leaves_the_message),
           cmocka_unit_test(endless_context_stays_inside));

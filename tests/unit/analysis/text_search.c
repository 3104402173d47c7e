/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "analysis/search/text_search.h"
#include "base/bytes.h"

/* Searching in text and in JSON as it is written. */

static bool plain(const char *search, const char *text, bool match_case)
{
    struct tv_text_search n;
    assert_true(tv_text_search_init(&n, tv_bytes_of(search), match_case));
    return tv_text_search_matches(&n, tv_bytes_of(text));
}

/* The place in JSON, or -1. */
static int written(const char *search, const char *text, bool match_case)
{
    struct tv_text_search n;
    struct tv_bytes bytes = tv_bytes_of(text);
    assert_true(tv_text_search_init(&n, tv_bytes_of(search), match_case));
    size_t at = tv_text_search_next(&n, bytes, 0, bytes.length);
    return at == bytes.length ? -1 : (int)at;
}

static void case_counts_when_it_is_to(void **state)
{
    (void)state;
    assert_true(plain("task", "RunTask", false));
    assert_false(plain("task", "RunTask", true));
    assert_true(plain("Task", "RunTask", true));
    assert_true(plain("TASK", "RunTask", false));
    assert_true(plain("\xc3\x89T\xc3\x89", "\xc3\xa9t\xc3\xa9", false)); /* ÉTÉ, été */
    assert_false(plain("\xc3\x89T\xc3\x89", "\xc3\xa9t\xc3\xa9", true));
    assert_true(
        plain("\xd0\x9c\xd0\x98\xd0\xa0", "\xd0\xbc\xd0\xb8\xd1\x80", false)); /* МИР, мир */
    assert_true(plain("\xcf\x89", "\xce\xa9", false));                         /* ω, Ω */
    assert_true(plain("\xd1\x91", "\xd0\x81", false));                         /* ё, Ё */
    assert_false(plain("\xc3\xb7", "\xc3\x97", false));                        /* ÷ is not ×'s */
    assert_false(plain("{", "[", false));
}

static void escapes_are_the_characters_that_they_mean(void **state)
{
    (void)state;
    assert_int_equal(written("a/b", "\"xa\\/b\"", true), 2);
    assert_int_equal(written("a/b", "\"xa/b\"", true), 2);
    assert_int_equal(written("say \"hi\"", "\"say \\\"hi\\\"\"", true), 1);
    assert_int_equal(written("\xc3\xa9t", "\"\\u00E9t\"", true), 1);
    assert_int_equal(written("\xc3\xa9t", "\"\\u00c9T\"", false), 1);
    assert_int_equal(written("\xc3\xa9t", "\"\\u00c9t\"", true), -1);
    assert_int_equal(written("\xc3\xa9t", "\"\xc3\xa9t\"", true), 1);
    assert_int_equal(written("abc", "\"\\u0061b\\u0063\"", true), 1);
    assert_int_equal(written("\xf0\x9f\x98\x80!", "\"\\ud83d\\ude00!\"", true), 1); /* a face */
    assert_int_equal(written("\xf0\x9f\x98\x80!", "\"\xf0\x9f\x98\x80!\"", true), 1);
    assert_int_equal(written("a\nb", "\"a\\nb\"", true), 1);
    assert_int_equal(written("C:\\x", "\"C:\\\\x\"", true), 1);
    assert_int_equal(written("<b>", "\"\\u003cb\\u003e\"", true), 1);
}

static void truncated_escapes_give_no_false_match(void **state)
{
    (void)state;
    assert_int_equal(written("ab", "\"a", true), -1);
    assert_int_equal(written("a\xc3\xa9", "\"a\\u00e", true), -1);
    assert_int_equal(written("\xef\xbf\xbdx", "\"\\ud83dx\"", true), 1); /* U+FFFD: half a pair */
    assert_int_equal(written("\xef\xbf\xbdx", "\"\xffx\"", true), 1);
    assert_int_equal(written("\\", "\\", true), 0);
}

/* The match may begin before `end` and go on after it. */
static void a_match_runs_over_the_end_of_the_starts(void **state)
{
    (void)state;
    struct tv_text_search n;
    assert_true(tv_text_search_init(&n, TV_BYTES("search"), true));
    struct tv_bytes bytes = TV_BYTES("a search, a search");
    assert_int_equal(tv_text_search_next(&n, bytes, 0, 3), 2);
    assert_int_equal(tv_text_search_next(&n, bytes, 0, 2), 2); /* none: the end */
    assert_int_equal(tv_text_search_next(&n, bytes, 3, bytes.length), 12);
    assert_int_equal(tv_text_search_next(&n, (struct tv_bytes){bytes.data, 17}, 3, 17), 17);
}

/* Inside of a string it is known where an escape begins. */
static void a_match_never_begins_inside_an_escape(void **state)
{
    (void)state;
    struct tv_text_search n;
    assert_true(tv_text_search_init(&n, TV_BYTES("\n"), true));
    assert_true(tv_text_search_find_in_string(&n, TV_BYTES("C:\\\\new")) == TV_TEXT_SEARCH_NONE);
    assert_int_equal(tv_text_search_find_in_string(&n, TV_BYTES("C:\\\\\\new")), 4);
    assert_int_equal(written("\n", "C:\\\\new", true), 3); /* outside it may be one */
}

static void a_search_text_has_a_maximum_length(void **state)
{
    (void)state;
    struct tv_text_search n;
    char text[TV_TEXT_SEARCH_LIMIT + 1];
    memset(text, 'x', sizeof text);
    assert_false(tv_text_search_init(&n, TV_BYTES(""), true));
    assert_true(
        tv_text_search_init(&n, (struct tv_bytes){(uint8_t *)text, TV_TEXT_SEARCH_LIMIT}, true));
    assert_false(tv_text_search_init(&n, (struct tv_bytes){(uint8_t *)text, sizeof text}, true));
}

UNIT_TESTS(text_search, cmocka_unit_test(case_counts_when_it_is_to),
           cmocka_unit_test(escapes_are_the_characters_that_they_mean),
           cmocka_unit_test(truncated_escapes_give_no_false_match),
           cmocka_unit_test(a_match_runs_over_the_end_of_the_starts),
           cmocka_unit_test(a_match_never_begins_inside_an_escape),
           cmocka_unit_test(a_search_text_has_a_maximum_length));

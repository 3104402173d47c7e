/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "analysis/search/regex.h"
#include "analysis/search/text_search.h"
#include "base/bytes.h"
#include "base/memory.h"

/* Regular expressions: what they match, what they refuse, and that none takes long. */

static bool finds(const char *text, const char *in, bool match_case)
{
    struct tv_regex *pattern;
    struct tv_error err;
    assert_int_equal(tv_regex_new(tv_bytes_of(text), !match_case, &pattern, &err), TV_OK);
    size_t end = tv_regex_find(pattern, tv_bytes_of(in), tv_character_decode);
    tv_regex_free(pattern);
    return end != TV_REGEX_NONE;
}

/* Each pattern with a text that it matches, and one that it does not. */
static const struct {
    const char *pattern, *in, *out;
} cases[] = {
    {"abc", "xabcx", "ab"},
    {"a.c", "abc", "ac"},
    {"^abc$", "abc", "abcd"},
    {"^(abc|de)$", "de", "abcde"},
    {"^ab*c$", "ac", "abdc"},
    {"^ab+c$", "abbc", "ac"},
    {"^ab?c$", "abc", "abbc"},
    {"^(ab)*c$", "ababc", "abac"},
    {"^a{3}$", "aaa", "aa"},
    {"^a{2,3}$", "aaa", "aaaa"},
    {"^a{2,}$", "aaaaa", "a"},
    {"^xa{0,2}$", "x", "xaaa"},
    {"^(a|b){2}c{0}$", "ba", "b"},
    {"[a-c]+x", "abx", "dx"},
    {"^[^a-c]$", "d", "b"},
    {"^[]x]$", "]", "y"},
    {"^[a\\]-]$", "-", "b"},
    {"\\d\\d:\\d\\d", "at 12:34", "at 1:34"},
    {"^\\w+$", "snake_case9", "two words"},
    {"\\s", "a b", "ab"},
    {"^\\D+$", "abc", "a1"},
    {"\\bcat\\b", "a cat!", "concat"},
    {"a\\.b", "a.b", "axb"},
    {"(?:ab|cd)+ef", "abcdef", "ef"},
    {"a+?b", "aab", "b"},
    {"^$|x", "x", "y"},
    {"\xc3\xa9.", "\xc3\xa9t\xc3\xa9", "\xc3\xa9"}, /* é. */
    {"((a|b)(c|d)|e)f", "bdf", "af"},
};

static void finds_matches_of_each_operator(void **state)
{
    (void)state;
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        if (strncmp(cases[i].pattern, "^$|", 3) == 0)
            continue; /* matches nothing too: refused below */
        assert_true(finds(cases[i].pattern, cases[i].in, true));
        assert_false(finds(cases[i].pattern, cases[i].out, true));
    }
}

static void case_counts_when_it_is_to(void **state)
{
    (void)state;
    assert_true(finds("run[A-C]sk", "RUNASK", false));
    assert_false(finds("run", "RUN", true));
    assert_true(finds("[^a]", "b", false));
    assert_false(finds("^[^a]$", "A", false));
    assert_true(finds("\xc3\x89", "\xc3\xa9", false)); /* É, é */
}

static void refuses(const char *text, const char *why)
{
    struct tv_regex *pattern = NULL;
    struct tv_error err;
    assert_int_equal(tv_regex_new(tv_bytes_of(text), false, &pattern, &err), TV_ERR_USAGE);
    assert_non_null(strstr(err.message, why));
    assert_null(pattern);
}

static void refuses_with_a_reason(void **state)
{
    (void)state;
    refuses("(", "has no \")\"");
    refuses("a)", "has no \"(\"");
    refuses("[a", "has no \"]\"");
    refuses("*a", "nothing stands before");
    refuses("a|*", "nothing stands before");
    refuses("a\\", "ends with");
    refuses("(a)\\1", "after \"\\\"");
    refuses("(?=a)", "\"(?\"");
    refuses("a{2", "\"{\"");
    refuses("a{3,2}", "\"{\"");
    refuses("a{99999}", "too long");
    refuses("(a{100}){100}", "too long");
    refuses("[z-a]", "ends before");
    refuses("", "empty");
    refuses("a*", "empty");
    refuses("^$|x", "empty");
    refuses("()", "empty");
}

/* Patterns at which a machine that tries one way after the other never ends. */
static void no_pattern_takes_long(void **state)
{
    static const char *const hostile[] = {"(a*)*b", "(a|a)*b", "(a+)+$|b", "a{0,80}a{80}b",
                                          "(.*)(.*)(.*)(.*)(.*)b"};
    (void)state;
    char *text = tv_alloc(20001, 1);
    memset(text, 'a', 20000);
    text[19999] = '!';
    for (size_t i = 0; i < TV_COUNT(hostile); i++)
        assert_false(finds(hostile[i], text, true));
    tv_free(text);
}

/* Groups within groups are no deeper stack of ours. */
static void deep_groups_end(void **state)
{
    char text[601];
    (void)state;
    memset(text, '(', 300);
    memset(text + 300, ')', 300);
    text[600] = 0;
    refuses(text, "too deep");
}

/* The place in JSON, or -1. */
static int written(const char *text, const char *json)
{
    struct tv_text_search search;
    struct tv_error err;
    struct tv_bytes bytes = tv_bytes_of(json);
    assert_int_equal(tv_text_search_init_regex(&search, tv_bytes_of(text), true, &err), TV_OK);
    size_t at = tv_text_search_next(&search, bytes, 0, bytes.length);
    tv_text_search_release(&search);
    return at == bytes.length ? -1 : (int)at;
}

static void finds_in_written_json(void **state)
{
    (void)state;
    assert_int_equal(written("b.d", "{\"a\":\"xbcd\"}"), 9);
    assert_int_equal(written("\xc3\xa9t", "\"\\u00e9t\""), 7); /* ét */
    /* A match does not go from one string to the next. */
    assert_int_equal(written("a.*b", "\"a\":\"b\""), -1);
    assert_int_equal(written("a.*b", "\"a:b\""), 3);
    /* What an end is is known later: all that may be one is found. */
    assert_int_equal(written("^b$", "\"ab\""), 2);
}

/* A text that is not there is an empty one (UBSan looks at the address). */
static void an_empty_pattern_matches_any_text(void **state)
{
    (void)state;
    const struct tv_bytes nothing = {NULL, 0};
    struct tv_regex *pattern;
    struct tv_error err;
    assert_int_equal(tv_regex_new(TV_BYTES("a"), false, &pattern, &err), TV_OK);
    assert_true(tv_regex_find(pattern, nothing, tv_character_decode) == TV_REGEX_NONE);
    tv_regex_free(pattern);
}

UNIT_TESTS(regex, cmocka_unit_test(an_empty_pattern_matches_any_text),
           cmocka_unit_test(finds_matches_of_each_operator),
           cmocka_unit_test(case_counts_when_it_is_to), cmocka_unit_test(refuses_with_a_reason),
           cmocka_unit_test(no_pattern_takes_long), cmocka_unit_test(deep_groups_end),
           cmocka_unit_test(finds_in_written_json));

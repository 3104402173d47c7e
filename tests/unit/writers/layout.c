/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "writers/text/layout.h"

static struct tv_layout screen = {.width = 80, .utf8 = true};

static void assert_fits(const char *name, uint32_t width, const char *want)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    out.layout = &screen;
    tv_layout_fit(&out, tv_bytes_of(name), width);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, want);
    tv_out_release(&out);
}

static void leaves_what_fits(void **state)
{
    (void)state;
    assert_fits("a.B.run (Ljava/lang/String;)V", 29, "a.B.run (Ljava/lang/String;)V");
    assert_fits("a.B.run (Ljava/lang/String;)V", 0, "a.B.run (Ljava/lang/String;)V");
    assert_fits("", 5, "");
}

static void empties_parameters_first(void **state)
{
    (void)state;
    assert_fits("a.B.run (Ljava/lang/String;)V", 28, "a.B.run (…)");
    assert_fits("com.ex.B.run (Ljava/lang/String;)V", 12, "com.ex.B.run");
    assert_fits("com.ex.B.run ()V", 14, "com.ex.B.run");
    assert_fits("a.B.<init> (Ljava/lang/String;)V", 20, "a.B.<init> (…)");
    assert_fits("f(int, std::map<int, int>&)", 20, "f(…)");
    assert_fits("std::map<int, std::pair<int, char> >::find(int const&)", 30,
                "std::map<…>::find(…)");
    assert_fits("(anonymous namespace)::Foo<Bar, Baz>::go(int, char)", 40,
                "(anonymous namespace)::Foo<…>::go(…)");
}

static void leaves_operators_and_odd_brackets(void **state)
{
    (void)state;
    assert_fits("ns::operator<<(std::ostream&, int)", 20, "ns::operator<<(…)");
    assert_fits("Box<Pointer>::operator->(int, int)", 22, "Box<…>::operator->(…)");
    assert_fits("a < b but never closed, so that it stays", 20, "a < b …that it stays");
}

static void cuts_the_middle_last(void **state)
{
    (void)state;
    assert_fits("com.example.application.Main.start", 16, "com.e…Main.start");
    /* Each of these characters takes two columns: five are left for seven, and no half ones. */
    assert_fits("\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d\xe5\x90\x8d", 7,
                "\xe5\x90\x8d…\xe5\x90\x8d\xe5\x90\x8d");
    assert_fits("abc", 1, "…");
}

static void counts_columns(void **state)
{
    (void)state;
    assert_int_equal(tv_layout_columns(TV_BYTES("abc")), 3);
    assert_int_equal(tv_layout_columns(TV_BYTES("\xc3\xa4\xe2\x80\xa6")), 2);
    assert_int_equal(tv_layout_columns(TV_BYTES("e\xcc\x81")), 1);
    assert_int_equal(tv_layout_columns(TV_BYTES("\xe5\x90\x8d\xf0\x9f\x98\x80")), 4);
    assert_int_equal(tv_layout_columns(TV_BYTES("\xff\xfe")), 2);
}

static void assert_wraps(const char *text, uint32_t width, const char *want)
{
    struct tv_layout narrow = {.width = width};
    struct tv_out out, held;
    tv_out_init_memory(&out);
    out.layout = &narrow;
    tv_layout_hold(&out, &held);
    tv_out_text(&held, text);
    tv_layout_release(&out, &held, 4);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, want);
    tv_out_release(&out);
}

static void breaks_long_lines(void **state)
{
    (void)state;
    assert_wraps("one two three\n", 0, "one two three\n");
    assert_wraps("one two three\n", 13, "one two three\n");
    assert_wraps("one two three\n\nfour\n", 12, "one two\n    three\n\nfour\n");
    assert_wraps("  one two three\n", 14, "  one two\n      three\n");
    /* After a label the rest stands below the text. */
    assert_wraps("a   one two three\n", 14, "a   one two\n    three\n");
    assert_wraps("one longerthantheline two\n", 12, "one\n    longerthantheline\n    two\n");
    assert_wraps("  one|two|three\n", 13, "  one|two|\n      three\n");
    /* Colours take no columns; a wide character takes two. */
    assert_wraps("\033[1mone\033[m two\n", 7, "\033[1mone\033[m two\n");
    assert_wraps("\xe5\x90\x8d\xe5\x90\x8d a\n", 5, "\xe5\x90\x8d\xe5\x90\x8d\na\n");
}

UNIT_TESTS(layout, cmocka_unit_test(leaves_what_fits), cmocka_unit_test(empties_parameters_first),
           cmocka_unit_test(leaves_operators_and_odd_brackets),
           cmocka_unit_test(cuts_the_middle_last), cmocka_unit_test(counts_columns),
           cmocka_unit_test(breaks_long_lines));

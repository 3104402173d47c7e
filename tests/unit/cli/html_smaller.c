/* SPDX-License-Identifier: Apache-2.0 */
/* How long slices are. */
#include "unit.h"

#include "cli/output/html_report.h"

static void steps_are_two_digits_of_a_length(void **state)
{
    (void)state;
    char text[16];
    tv_html_length_text(0, text);
    assert_string_equal(text, "10ns");
    tv_html_length_text(24, text);
    assert_string_equal(text, "100ns");
    tv_html_length_text(52, text);
    assert_string_equal(text, "1.5us");
    tv_html_length_text(TV_HTML_LENGTHS - 1, text);
    assert_string_equal(text, "910s");
}

/* Steps 0 and 1 do nothing; 2 and 3 leave 5 % of the time out, 4 leaves half of it. */
static void counts_what_costs_little(void **state)
{
    (void)state;
    struct tv_html_lengths lengths = {.slices = 100, .span = 1000000000};
    lengths.count[2] = 80;
    lengths.self[2] = 1;
    lengths.count[3] = 10;
    lengths.self[3] = 4;
    lengths.count[4] = 9;
    lengths.self[4] = 45;
    lengths.count[TV_HTML_LENGTHS] = 1;
    lengths.self[TV_HTML_LENGTHS] = 50;
    assert_int_equal(tv_html_lengths_idle(&lengths), 2);
    assert_int_equal(tv_html_lengths_covering(&lengths, 0.99), 3);
    assert_int_equal(tv_html_lengths_covering(&lengths, 0.95), 4);
    assert_int_equal(tv_html_lengths_covering(&lengths, 0.6), 4);
    lengths.span = 1100; /* a hundredth is 11 ns, the second step */
    assert_int_equal(tv_html_lengths_covering(&lengths, 0.6), 2);
}

static void tells_nothing_without_slices(void **state)
{
    (void)state;
    struct tv_html_lengths none = {.slices = 0};
    assert_int_equal(tv_html_lengths_covering(&none, 0.5), tv_html_lengths_idle(&none));
}

UNIT_TESTS(html_smaller, cmocka_unit_test(steps_are_two_digits_of_a_length),
           cmocka_unit_test(counts_what_costs_little),
           cmocka_unit_test(tells_nothing_without_slices));

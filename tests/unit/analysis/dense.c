/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the axis that holds nearly all events, in drawings of 1 ms a character. */
#include "unit.h"

#include <string.h>

#include "analysis/timeline/dense.h"
#include "fixture.h"

enum { LENGTH = 2000, MS = 1000000 };

/* Draw one thread: `early` slices of 1 ms from 0 on, and `late` ones up to the end. */
static struct fixture draw_two_bursts(unsigned early, unsigned late)
{
    static char line[LENGTH + 1];
    struct fixture_thread thread = {"main", NULL, {line}};
    memset(line, ' ', LENGTH);
    for (unsigned i = 0; i < early; i++)
        line[i] = i % 2 ? 'A' : 'B';
    for (unsigned i = 0; i < late; i++)
        line[LENGTH - 1 - i] = i % 2 ? 'A' : 'B';
    return fixture_draw(&thread, 1);
}

/* 1 of 101 events may lie outside, so the last 100 are the part: 1,900 to 2,000 ms. */
static void stray_event_is_left_out(void **state)
{
    (void)state;
    struct fixture f = draw_two_bursts(1, 100);
    struct tv_dense dense;
    assert_true(tv_trace_find_dense(f.trace, &dense));
    /* The part ends at the start of the last event, or up to 1/256 of its length later. */
    assert_in_range(dense.from, 1899 * (int64_t)MS, 1900 * (int64_t)MS);
    assert_in_range(dense.to, 1999 * (int64_t)MS, 2000 * (int64_t)MS);
    assert_int_equal(dense.before, 1);
    assert_int_equal(dense.after, 0);
    fixture_free(&f);
}

/* 2 of 102 events are more than 1 %; so are 1 of 51. */
static void two_bursts_are_both_shown(void **state)
{
    (void)state;
    static const unsigned bursts[][2] = {{2, 100}, {1, 50}, {300, 300}};
    for (size_t i = 0; i < TV_COUNT(bursts); i++) {
        struct fixture f = draw_two_bursts(bursts[i][0], bursts[i][1]);
        struct tv_dense dense;
        assert_false(tv_trace_find_dense(f.trace, &dense));
        fixture_free(&f);
    }
}

/* The late events fill 480 of 2,000 ms, less than a quarter, or 530 ms, more than that. */
static void part_is_at_most_a_quarter(void **state)
{
    (void)state;
    struct tv_dense dense;
    struct fixture quarter = draw_two_bursts(1, 480), more = draw_two_bursts(1, 530);
    assert_true(tv_trace_find_dense(quarter.trace, &dense));
    assert_false(tv_trace_find_dense(more.trace, &dense));
    fixture_free(&quarter);
    fixture_free(&more);
}

UNIT_TESTS(dense, cmocka_unit_test(stray_event_is_left_out),
           cmocka_unit_test(two_bursts_are_both_shown),
           cmocka_unit_test(part_is_at_most_a_quarter));

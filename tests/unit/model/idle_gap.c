/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_gap.c - detection of the idle gap: chunks count as the whole input does.
 */
#include "model/assembly/idle_gap.h"

#include <string.h>

#include "unit.h"

/* 30 events from `from` on, one every `step` ns, and one at `stray`. */
static bool is_silent(int64_t from, int64_t step, int64_t stray, int64_t *until)
{
    struct tv_idle_gap gap;
    tv_idle_gap_init(&gap);
    tv_idle_gap_count(&gap, stray);
    for (int i = 0; i < 30; i++)
        tv_idle_gap_count(&gap, from + i * step);
    return tv_idle_gap_find(&gap, until);
}

static void finds_stray_events(void **state)
{
    (void)state;
    int64_t until;
    assert_true(is_silent(1000, 100, 20000, &until));
    assert_true(until > 3900 && until <= 20000);
    assert_true(is_silent(-3000, 100, INT64_MAX / 2, &until));
    assert_true(is_silent(1700000000000000000, 1000000, 1700000091710000000, &until));
    /* The gap is no longer than the rest of the trace; and a stray first event makes no gap. */
    assert_false(is_silent(1000, 100, 6000, &until));
    assert_false(is_silent(1000, 100, -20000, &until));
    assert_false(is_silent(1000, 0, 1000, &until));
}

static void few_events_are_not_stray(void **state)
{
    (void)state;
    struct tv_idle_gap gap;
    int64_t until;
    tv_idle_gap_init(&gap);
    assert_false(tv_idle_gap_find(&gap, &until));
    for (int i = 0; i < 30; i++)
        tv_idle_gap_count(&gap, i);
    for (int i = 0; i < 3; i++) /* a tenth of all events before */
        tv_idle_gap_count(&gap, 1000 + i);
    assert_false(tv_idle_gap_find(&gap, &until));
}

/* Wherever the events are divided, and in whatever order the chunks come. */
static void parts_count_as_the_whole(void **state)
{
    (void)state;
    const int64_t times[] = {5, -7, 1000, 4, 123456789, -99, 64, 63, INT64_C(1) << 40, 8, 8, 0};
    const size_t count = sizeof times / sizeof *times;
    struct tv_idle_gap whole;
    tv_idle_gap_init(&whole);
    for (size_t i = 0; i < count; i++)
        tv_idle_gap_count(&whole, times[i]);
    for (size_t cut = 0; cut <= count; cut++) {
        struct tv_idle_gap all, parts[2];
        tv_idle_gap_init(&all);
        tv_idle_gap_init(&parts[0]);
        tv_idle_gap_init(&parts[1]);
        for (size_t i = 0; i < count; i++)
            tv_idle_gap_count(&parts[i >= cut], times[i]);
        tv_idle_gap_merge(&all, &parts[1]);
        tv_idle_gap_merge(&all, &parts[0]);
        assert_int_equal(all.shift, whole.shift);
        assert_true(all.first == whole.first && all.last == whole.last);
        assert_memory_equal(all.counts, whole.counts, sizeof whole.counts);
    }
}

UNIT_TESTS(idle_gap, cmocka_unit_test(finds_stray_events),
           cmocka_unit_test(few_events_are_not_stray), cmocka_unit_test(parts_count_as_the_whole));

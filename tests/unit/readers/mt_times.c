/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/records.h"

#include "unit.h"

#define WRAP TV_MT_WRAP

static void finds_the_first_time_after(void **context)
{
    (void)context;
    assert_int_equal(tv_mt_times_after(5, 0), 5);
    assert_int_equal(tv_mt_times_after(5, 5), 5);
    assert_int_equal(tv_mt_times_after(5, 6), WRAP + 5);
    assert_int_equal(tv_mt_times_after(5, WRAP + 5), WRAP + 5);
    assert_int_equal(tv_mt_times_after(5, WRAP + 6), 2 * WRAP + 5);
    assert_int_equal(tv_mt_times_after(WRAP - 1, 7 * WRAP), 8 * WRAP - 1);
    assert_int_equal(tv_mt_times_after(5, -100), 5);
}

static void finds_the_nearest_time(void **context)
{
    (void)context;
    assert_int_equal(tv_mt_times_near(WRAP - 1, 0), WRAP - 1); /* none is before 0 */
    assert_int_equal(tv_mt_times_near(10, WRAP - 10), WRAP + 10);
    assert_int_equal(tv_mt_times_near(WRAP - 10, WRAP + 10), WRAP - 10);
    assert_int_equal(tv_mt_times_near(1000, 3 * WRAP + WRAP / 4), 3 * WRAP + 1000);
}

/* Every sum of a time and wraps is found again from a time before that is not more than a wrap
 * away. */
static void unwraps_what_was_wrapped(void **context)
{
    int64_t time = 0;
    (void)context;
    for (int i = 0; i < 1000; i++) {
        int64_t later = time + (int64_t)i * 4000000;
        assert_int_equal(tv_mt_times_unwrap(false, later % WRAP, true, time, -1), later);
        assert_int_equal(tv_mt_times_unwrap(true, later % WRAP, true, 0, time), later);
        time = later;
    }
    assert_true(time > 400 * WRAP);
}

static void leaves_small_steps_back(void **context)
{
    (void)context;
    assert_int_equal(tv_mt_times_unwrap(false, 100, true, 100 + TV_MT_WRAP_SLACK, -1), 100);
    assert_int_equal(tv_mt_times_unwrap(false, 100, true, 101 + TV_MT_WRAP_SLACK, -1), WRAP + 100);
    assert_int_equal(tv_mt_times_unwrap(false, 100, false, 0, -1), 100);
}

UNIT_TESTS(mt_times, cmocka_unit_test(finds_the_first_time_after),
           cmocka_unit_test(finds_the_nearest_time), cmocka_unit_test(unwraps_what_was_wrapped),
           cmocka_unit_test(leaves_small_steps_back));

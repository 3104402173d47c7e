/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - tests of base/clock.h.
 */
#include "unit.h"

#include "base/clock.h"

static void monotonic_times_agree(void **state)
{
    (void)state;
    uint64_t before = tv_monotonic_ns();
    int64_t milliseconds = tv_monotonic_ms();
    struct timespec deadline = tv_monotonic_deadline(5250);
    uint64_t after = tv_monotonic_ns();
    assert_true(before <= after);
    assert_true((int64_t)(before / 1000000) <= milliseconds);
    assert_true(milliseconds <= (int64_t)(after / 1000000));
    uint64_t due = (uint64_t)deadline.tv_sec * 1000000000 + (uint64_t)deadline.tv_nsec;
    assert_true(deadline.tv_nsec < 1000000000);
    assert_true(before + 5250000000 <= due && due <= after + 5250000000);
}

UNIT_TESTS(clock, cmocka_unit_test(monotonic_times_agree));

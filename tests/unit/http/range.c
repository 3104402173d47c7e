/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "http/range.h"

/* By section 14.1.2 of RFC 9110. */
static void reads_one_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t size;
        enum tv_range_kind kind;
        uint64_t from, to;
    } cases[] = {
        {"bytes=0-499", 10000, TV_RANGE_PART, 0, 500},
        {"bytes=500-999", 10000, TV_RANGE_PART, 500, 1000},
        {"bytes=-500", 10000, TV_RANGE_PART, 9500, 10000},
        {"bytes=9500-", 10000, TV_RANGE_PART, 9500, 10000},
        {"bytes=0-0", 1, TV_RANGE_PART, 0, 1},
        {"bytes=0-", 0, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=-1", 0, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=-0", 10, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=10-", 10, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=0-18446744073709551615", 10, TV_RANGE_PART, 0, 10},
        {"bytes=18446744073709551615-", UINT64_MAX, TV_RANGE_OUTSIDE, 0, 0},
        {"bytes=0-18446744073709551616", 10, TV_RANGE_NONE, 0, 0},
        {NULL, 10, TV_RANGE_NONE, 0, 0},
        {"", 10, TV_RANGE_NONE, 0, 0},
        {"bytes", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=-", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=1", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=2-1", 10, TV_RANGE_NONE, 0, 0},
        {"bytes= 1-2", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=1-2,3-4", 10, TV_RANGE_NONE, 0, 0},
        {"bytes=--1", 10, TV_RANGE_NONE, 0, 0},
        {"chars=1-2", 10, TV_RANGE_NONE, 0, 0},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        uint64_t from = 0, to = 0;
        assert_int_equal(tv_range_read(cases[i].text, cases[i].size, &from, &to), cases[i].kind);
        if (cases[i].kind != TV_RANGE_PART)
            continue;
        assert_int_equal(from, cases[i].from);
        assert_int_equal(to, cases[i].to);
    }
}

UNIT_TESTS(range, cmocka_unit_test(reads_one_range));

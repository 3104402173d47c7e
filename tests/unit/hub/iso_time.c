/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iso_time.c - tests of hub/iso_time.h.
 */
#include "unit.h"

#include <stdlib.h>
#include <time.h>

#include "base/bytes.h"
#include "hub/iso_time.h"

/* Well-known seconds: `date -u -d @1000000000`. */
static void tells_and_reads_times(void **state)
{
    (void)state;
    char text[TV_ISO_TIME];
    int64_t seconds;
    assert_string_equal(tv_iso_time(0, text), "1970-01-01T00:00:00Z");
    assert_string_equal(tv_iso_time(1000000000, text), "2001-09-09T01:46:40Z");
    assert_true(tv_iso_parse(TV_BYTES("2001-09-09T01:46:40Z"), &seconds));
    assert_int_equal(seconds, 1000000000);
    assert_true(tv_iso_parse(TV_BYTES("1970-01-02"), &seconds));
    assert_int_equal(seconds, 86400);
}

/* Hours that are twice or never in these zones, and half hours; UTC by `date -u -d @SECONDS`. */
static void is_utc_in_every_zone(void **state)
{
    (void)state;
    static const char *const zones[] = {"America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
                                        "Pacific/Apia", "ABC-14"};
    static const struct {
        int64_t seconds;
        const char *text;
    } moments[] = {
        {1793511000, "2026-11-01T05:30:00Z"}, /* 01:30 in New York, for the first time */
        {1793514600, "2026-11-01T06:30:00Z"}, /* and for the second */
        {1805009400, "2027-03-14T07:30:00Z"},
        {1325239200, "2011-12-30T10:00:00Z"}, /* no such day in Apia */
    };
    char text[TV_ISO_TIME];
    int64_t seconds;
    for (size_t z = 0; z < TV_COUNT(zones); z++) {
        setenv("TZ", zones[z], 1);
        tzset();
        for (size_t i = 0; i < TV_COUNT(moments); i++) {
            assert_string_equal(tv_iso_time(moments[i].seconds, text), moments[i].text);
            assert_true(tv_iso_parse(tv_bytes_of(moments[i].text), &seconds));
            assert_int_equal(seconds, moments[i].seconds);
        }
    }
    unsetenv("TZ");
    tzset();
}

static void refuses_what_is_none(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026",
        "2026-1-2",
        "2026-11-2x",
        "2026-13-01",
        "2026-00-01",
        "2026-11-32",
        "2026-11-21T",
        "2026-11-21Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T10:11:12",
        "2026-11-21T10:11:12Zx",
        "-026-11-21",
        "+026-11-21",
    };
    int64_t seconds = 7;
    for (size_t i = 0; i < TV_COUNT(bad); i++)
        assert_false(tv_iso_parse(tv_bytes_of(bad[i]), &seconds));
    assert_int_equal(seconds, 7);
}

UNIT_TESTS(iso_time, cmocka_unit_test(tells_and_reads_times),
           cmocka_unit_test(is_utc_in_every_zone), cmocka_unit_test(refuses_what_is_none));

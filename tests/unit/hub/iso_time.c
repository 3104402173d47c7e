/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iso_time.c - tests of hub/iso_time.h.
 */
#include "unit.h"

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
           cmocka_unit_test(refuses_what_is_none));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - log lines, and times as text.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "upload/log.h"

/* Log a line about this name and check what follows the time. */
static void check_line(bool json, const char *name, const char *wanted)
{
    int ends[2];
    char text[512];
    assert_int_equal(pipe(ends), 0);
    const struct tv_log log = {.fd = ends[1], .json = json, .level = TV_LOG_INFO};
    struct tv_log_line line;
    tv_log_begin(&line, &log, TV_LOG_INFO, "upload.done");
    tv_log_text(&line, "name", name);
    tv_log_text(&line, "none", NULL);
    tv_log_number(&line, "bytes", 12);
    tv_log_end(&line);
    tv_log_begin(&line, &log, TV_LOG_DEBUG, "not.wanted");
    tv_log_text(&line, "name", name);
    tv_log_end(&line);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    assert_true(length > 0);
    text[length] = '\0';
    const char *behind = strstr(text, json ? "Z\"," : "Z ");
    assert_non_null(behind);
    assert_string_equal(behind + (json ? 3 : 2), wanted);
    close(ends[0]);
    close(ends[1]);
}

static void writes_logfmt(void **state)
{
    (void)state;
    check_line(false, "app.trace", "level=info event=upload.done name=app.trace bytes=12\n");
    check_line(false, "a b", "level=info event=upload.done name=\"a b\" bytes=12\n");
    check_line(false, "", "level=info event=upload.done name=\"\" bytes=12\n");
}

static void writes_json(void **state)
{
    (void)state;
    check_line(true, "a\"b",
               "\"level\":\"info\",\"event\":\"upload.done\",\"name\":\"a\\\"b\",\"bytes\":12}\n");
}

static void names_cannot_forge_lines(void **state)
{
    (void)state;
    check_line(false, "x\nlevel=error event=fire",
               "level=info event=upload.done name=\"x\\nlevel=error event=fire\" bytes=12\n");
    check_line(false, "x bytes=99\x1b[2J",
               "level=info event=upload.done name=\"x bytes=99\\u001b[2J\" bytes=12\n");
}

/* ---- Times ---- */

/* Well-known times, from `date -u -d @1000000000`. */
static void writes_and_reads_times(void **state)
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

/* Hours that occur twice or never in these zones, and half-hour zones; UTC from `date -u -d
 * @SECONDS`. */
static void is_utc_in_every_zone(void **state)
{
    (void)state;
    static const char *const zones[] = {"America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
                                        "Pacific/Apia", "ABC-14"};
    static const struct {
        int64_t seconds;
        const char *text;
    } moments[] = {
        {1793511000, "2026-11-01T05:30:00Z"}, /* 01:30 in New York, the first time */
        {1793514600, "2026-11-01T06:30:00Z"}, /* and the second */
        {1805009400, "2027-03-14T07:30:00Z"},
        {1325239200, "2011-12-30T10:00:00Z"}, /* this day does not exist in Apia */
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

static void refuses_malformed_times(void **state)
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

UNIT_TESTS(log, cmocka_unit_test(writes_logfmt), cmocka_unit_test(writes_json),
           cmocka_unit_test(names_cannot_forge_lines), cmocka_unit_test(writes_and_reads_times),
           cmocka_unit_test(is_utc_in_every_zone), cmocka_unit_test(refuses_malformed_times));

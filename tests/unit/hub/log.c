/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - tests of hub/log.h.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hub/log.h"

/* What a line about this name says behind its time. */
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

static void no_name_begins_another_line(void **state)
{
    (void)state;
    check_line(false, "x\nlevel=error event=fire",
               "level=info event=upload.done name=\"x\\nlevel=error event=fire\" bytes=12\n");
    check_line(false, "x bytes=99\x1b[2J",
               "level=info event=upload.done name=\"x bytes=99\\u001b[2J\" bytes=12\n");
}

UNIT_TESTS(log, cmocka_unit_test(writes_logfmt), cmocka_unit_test(writes_json),
           cmocka_unit_test(no_name_begins_another_line));

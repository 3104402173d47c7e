/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - traces within HTML pages: several in one page, cut pages, and pages that cannot be read.
 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "unpack/made_file.h"
#include "unpack/unpack.h"

/* Two traces of a report, each gzip in base64; the caller unpacks them again. */
#define REPORT                                                                                     \
    "<html><script data-of=\"manifest\">{\"files\":[{\"name\":\"a\",\"machine\":0},"               \
    "{\"name\":\"b\",\"machine\":0}],\"note\":\"part\"}</script>"                                  \
    "<script data-of=file0>H4sIAAAAAAACAyspSkxOVcjPS+UCAPSWySQKAAAA</script>"                      \
    "<script data-of=file1>H4sIAAAAAAACAyspSkxOVSgpz+cCAB82yUoKAAAA</script></html>"
#define TRACE_DATA "<html><script class=\"trace-data\" type=\"application/text\">"

static bool is_trace(void *context, struct tv_bytes head)
{
    (void)context;
    return tv_bytes_starts_with(head, TV_BYTES("trace")) ||
           tv_bytes_starts_with(head, TV_BYTES("\x1f\x8b"));
}

static struct made_file made_of(const char *text)
{
    struct made_file file = {.length = 0};
    made_file_append(&file, text, strlen(text));
    return file;
}

static enum tv_status unpack_page(const char *text, bool as_it_comes,
                                  struct tv_unpacked members[TV_UNPACK_MEMBERS], size_t *count,
                                  bool *cut_off)
{
    struct tv_unpack_question question = {.wanted = is_trace, .as_it_comes = as_it_comes};
    struct tv_source *source = tv_source_from_memory(tv_bytes_of(text), "page.html");
    struct tv_error err = {0};
    enum tv_status status = tv_unpack(source, &question, members, count, cut_off, &err);
    tv_source_free(source);
    return status;
}

static void a_report_has_several_traces(void **state)
{
    (void)state;
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    static const char *const names[] = {"page.html: a", "page.html: b"};
    for (int as_it_comes = 0; as_it_comes < 2; as_it_comes++) {
        size_t count;
        bool cut_off;
        assert_int_equal(unpack_page(REPORT, as_it_comes, members, &count, &cut_off), TV_OK);
        assert_int_equal(count, 2);
        for (size_t i = 0; i < count; i++) {
            char bytes[2];
            size_t got;
            assert_string_equal(tv_source_name(members[i].source), names[i]);
            assert_int_equal(tv_source_read(members[i].source, 0, bytes, sizeof bytes, &got, NULL),
                             TV_OK);
            assert_memory_equal(bytes, "\x1f\x8b", 2);
            assert_int_equal(tv_source_size(members[i].source), 30);
            tv_source_free(members[i].source);
        }
    }
}

/* Every cut of a page ends in an error or in traces that are said to be cut off. */
static void a_cut_page_is_said_to_be_cut(void **state)
{
    (void)state;
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    char text[sizeof REPORT];
    for (size_t length = 0; length < sizeof REPORT - 1; length++) {
        size_t count = 0;
        bool cut_off = false;
        memcpy(text, REPORT, length);
        text[length] = '\0';
        if (unpack_page(text, false, members, &count, &cut_off) != TV_OK)
            continue;
        assert_true(cut_off || count == 2 || length > sizeof REPORT - 100);
        for (size_t i = 0; i < count; i++)
            tv_source_free(members[i].source);
    }
}

static void an_open_block_is_cut_off(void **state)
{
    (void)state;
    struct made_file page = made_of(TRACE_DATA "\ntrace one\n"), expected = made_of("trace one\n");
    made_file_assert_unpacks(&page, is_trace, &expected, true);
    page = made_of(TRACE_DATA "\ntrace one\n</script></html>");
    made_file_assert_unpacks(&page, is_trace, &expected, false);
}

/* The second of two blocks without a name is named by its number. */
static void blocks_are_numbered(void **state)
{
    (void)state;
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    size_t count;
    bool cut_off;
    assert_int_equal(unpack_page(TRACE_DATA
                                 "trace one</script>"
                                 "<script class=\"trace-data\">trace two</script></html>",
                                 false, members, &count, &cut_off),
                     TV_OK);
    assert_int_equal(count, 2);
    assert_string_equal(tv_source_name(members[0].source), "page.html: block 1");
    assert_string_equal(tv_source_name(members[1].source), "page.html: block 2");
    for (size_t i = 0; i < count; i++)
        tv_source_free(members[i].source);
}

static void pages_that_cannot_be_read_are_errors(void **state)
{
    (void)state;
    struct made_file page = made_of(REPORT);
    made_file_assert_reports_breaks(&page, is_trace);
    page = made_of(TRACE_DATA "\ntrace one\n</script></html>");
    made_file_assert_reports_breaks(&page, is_trace);
    made_file_assert_unwanted(&page);
    page = made_of(REPORT);
    made_file_assert_unwanted(&page);
}

UNIT_TESTS(page, cmocka_unit_test(a_report_has_several_traces),
           cmocka_unit_test(a_cut_page_is_said_to_be_cut),
           cmocka_unit_test(an_open_block_is_cut_off), cmocka_unit_test(blocks_are_numbered),
           cmocka_unit_test(pages_that_cannot_be_read_are_errors));

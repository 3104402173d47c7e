/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the page of a report, on a page of one line. */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "report/report.h"

#define PAGE                                                                                       \
    "<meta script-src 'x'; connect-src 'self'; img-src 'self' data:><!-- @CARRIED@ -->\nrest"

static const struct tv_report_file files[] = {
    {NULL, "/home/me/</script>\xe2\x80\xa8.trace", 0, 0},
    {NULL, "b/", 7, INT64_MIN},
};

/* The report of the first `count` files, with a NUL after it. */
static enum tv_status write(const char *page, size_t count, const char *note, struct tv_out *out,
                            struct tv_error *err)
{
    struct tv_report_file given[TV_COUNT(files)];
    struct tv_source *source = tv_source_from_memory(TV_BYTES("slice"), "one");
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        given[i] = files[i];
        given[i].source = source;
    }
    const struct tv_report report = {given, count, note, 0};
    tv_out_init_memory(out);
    enum tv_status status = tv_report_write(tv_bytes_of(page), &report, out, err);
    tv_out_char(out, '\0');
    tv_source_free(source);
    return status;
}

static void has(const struct tv_out *out, const char *words)
{
    if (!strstr((const char *)out->buffer, words))
        fail_msg("%s is not in %s", words, (const char *)out->buffer);
}

static bool lacks_engine(void)
{
    if (!tv_report_is_available())
        print_message("# skipped: this build has no engine for pages\n");
    return !tv_report_is_available();
}

static void lists_files_and_lets_the_engine_run(void **state)
{
    (void)state;
    struct tv_out out;
    struct tv_error err = {0};
    if (lacks_engine())
        return;
    assert_int_equal(write(PAGE, 2, "a <b> & \"c\"", &out, &err), TV_OK);
    has(&out, "<meta script-src 'wasm-unsafe-eval' 'x'; connect-src 'none'; worker-src blob:; "
              "img-src data:><script type=\"application/json\" data-of=\"manifest\">");
    has(&out, ",{\"name\":\"b/\",\"machine\":7,\"offset_ns\":\"-9223372036854775808\"}]");
    has(&out, "data-of=\"engine\">H4sI"); /* gzip's first bytes: 1f 8b 08 */
    has(&out, "data-of=\"file0\">H4sI");
    has(&out, "data-of=\"file1\">H4sI");
    has(&out, "</script>\nrest");
    /* Names of folders stay here; what is packed may spell anything. */
    const char *home = strstr((const char *)out.buffer, "home");
    assert_true(!home || home > strstr((const char *)out.buffer, "data-of=\"engine\""));
    assert_null(strstr((const char *)out.buffer, "@CARRIED@"));
    tv_out_release(&out);
}

/* The list is text in an element that a browser ends at the next "</script". */
static void no_text_ends_the_list(void **state)
{
    (void)state;
    struct tv_out out;
    struct tv_error err = {0};
    if (lacks_engine())
        return;
    assert_int_equal(write(PAGE, 1, "</script><!--<script>", &out, &err), TV_OK);
    const char *list = strstr((const char *)out.buffer, "\"manifest\">");
    assert_non_null(list);
    list += strlen("\"manifest\">");
    const char *end = strchr(list, '<');
    assert_non_null(end);
    assert_memory_equal(end, "</script>\n", strlen("</script>\n"));
    assert_memory_equal(end - 2, "\"}", 2);
    tv_out_release(&out);
}

static void wants_its_places_in_the_page(void **state)
{
    (void)state;
    static const char *const pages[] = {"",
                                        "<meta script-src 'x'>",
                                        "connect-src 'self'; img-src 'self' data:",
                                        "script-src connect-src 'self'; img-src 'self' data:",
                                        "script-src",
                                        "script-srcs"};
    for (size_t i = 0; i < TV_COUNT(pages); i++) {
        struct tv_out out;
        struct tv_error err = {0};
        assert_int_equal(write(pages[i], 1, NULL, &out, &err), TV_ERR_UNSUPPORTED);
        tv_out_release(&out);
    }
}

UNIT_TESTS(report, cmocka_unit_test(lists_files_and_lets_the_engine_run),
           cmocka_unit_test(no_text_ends_the_list), cmocka_unit_test(wants_its_places_in_the_page));

/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a report: which there are, of which machine and time, and their text. */
#include "html/html_page.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "unit.h"

#define HEAD "<!doctype html><html>"
#define LIST(files) "<script data-of=\"manifest\">{\"files\":[" files "]}</script>"
#define PIECE(of, text) "<script type=\"x\" data-of=\"" of "\">" text "</script>"
#define ENGINE PIECE("engine", "H4sI")

/* One line a trace: name, machine, offset, text, with '?' where it is damaged; then what is told, a
 * line each; or the error. */
static void add_text(const struct tv_html_trace *trace, struct tv_source *source, char *result,
                     size_t *used)
{
    struct tv_html_text text;
    size_t got;
    tv_html_text_init(&text, source, trace->blocks, trace->count);
    do {
        assert_int_equal(tv_html_text_read(&text, (uint8_t *)result + *used, 64, &got, NULL),
                         TV_OK);
        *used += got;
    } while (got > 0);
    if (text.damaged)
        result[(*used)++] = '?';
    result[(*used)++] = '\n';
    tv_html_text_release(&text);
}

#define ROOM 4096

struct lines {
    char *result; /* ROOM bytes */
    size_t *used;
};

static void add_line(void *context, const char *text)
{
    struct lines *lines = context;
    *lines->used +=
        (size_t)snprintf(lines->result + *lines->used, ROOM - *lines->used, "%s\n", text);
}

static void assert_page(const char *page, const char *wanted)
{
    struct tv_source *source = tv_source_from_memory(tv_bytes_of(page), "page");
    struct tv_html_page found;
    struct tv_error err;
    char result[ROOM];
    size_t used = 0;
    struct lines lines = {result, &used};
    if (tv_html_page_find(&found, source, &err) == TV_OK) {
        for (size_t i = 0; i < found.count; i++) {
            const struct tv_html_trace *trace = &found.traces[i];
            assert_true(trace->machine == 0 || trace->machine < found.listed_count);
            used += (size_t)snprintf(result + used, ROOM - used, "%s,%u,%lld: ", trace->name,
                                     trace->machine, (long long)trace->offset);
            add_text(trace, source, result, &used);
        }
        tv_html_page_describe(&found, add_line, &lines);
        result[used] = '\0';
    } else {
        snprintf(result, ROOM, "byte %llu: %s", (unsigned long long)err.offset, err.message);
    }
    assert_string_equal(result, wanted);
    tv_html_page_release(&found);
    tv_source_free(source);
}

static void takes_files_together(void **state)
{
    (void)state;
    /* "one" in two pieces, the first with padding as any may have. */
    assert_page(HEAD LIST("{\"name\":\"a.trace\",\"machine\":0,\"offset_ns\":\"0\"},"
                          "{\"name\":\"b.json\",\"machine\":1,\"offset_ns\":\"-5000\"}")
                    ENGINE PIECE("file0", "b24=") PIECE("file0", "ZQ==") PIECE("file1", "dHdv"),
                "a.trace,0,0: one\nb.json,1,-5000: two\n");
    /* The page's own traces are of no list. */
    assert_page(HEAD LIST("") "<script class=trace-data>one</script>", ",0,0: one\n");
    /* A site has no files. */
    assert_page(HEAD "<script data-of=manifest>{\"files\":[],\"site\":true}</script>" ENGINE PIECE(
                    "example", "b24="),
                "");
}

static void survives_hostile_lists(void **state)
{
    (void)state;
    /* Control characters, those of two bytes too; numbers above their limits; other types. */
    assert_page(HEAD LIST("{\"name\":\"\\u001b[1m\\u009b\\u0000\\u00e9\",\"machine\":7,"
                          "\"offset_ns\":\"9223372036854775807\"},"
                          "{\"name\":[],\"machine\":-1,\"offset_ns\":{}},3") PIECE("file0", "b25l")
                    PIECE("file1", "dHdv") PIECE("file2", "dHdv"),
                "?[1m???\xc3\xa9,0,0: one\n,0,0: two\n,0,0: two\n");
    /* No list, a broken one, more pieces than it has; a second one. */
    assert_page(HEAD PIECE("file0", "b25l"), ",0,0: one\n");
    assert_page(HEAD "<script data-of=manifest>{\"files\":[{\"na</script>" PIECE("file9", "b25l"),
                ",0,0: one\nthe report ends at byte 115, before 1 of its 1 file\n");
    assert_page(HEAD LIST("") LIST("{\"name\":\"a\"}") PIECE("file0", "b25l"), ",0,0: one\n");
    /* Names of elements that are none of ours. */
    assert_page(HEAD PIECE("file", "b25l") PIECE("file0x", "b25l") PIECE("file4294967295", "b25l")
                    PIECE("File0", "b25l"),
                "");
}

static void tells_what_is_missing(void **state)
{
    (void)state;
    static const char both[] = HEAD LIST("{\"name\":\"a\"},{\"name\":\"b\"}");
    char page[256];
    snprintf(page, sizeof page, "%s", both);
    assert_page(page, "byte 94: the report ends before the first of its files");
    snprintf(page, sizeof page, "%s%s", both, "<script data-of=file0>b25ldH");
    assert_page(page,
                "a,0,0: one\nthe report ends at byte 122, within a, before 1 of its 2 files\n");
    snprintf(page, sizeof page, "%s%s", both,
             PIECE("file0", "b2*=") PIECE("file0", "b25l") PIECE("file1", "dHdv"));
    assert_page(page, "a,0,0: ?\nb,0,0: two\n");
    assert_page(HEAD "<script data-of=manifest>{\"files\":[],\"note\":\"A\\npart.\"}</script>",
                "the report says: A?part.\n");
}

static void limits_the_list(void **state)
{
    (void)state;
    size_t size = TV_HTML_LONGEST_MANIFEST + 256;
    char *page = test_calloc(size, 1);
    size_t head = (size_t)snprintf(page, size, "%s", HEAD "<script data-of=manifest>");
    for (size_t more = 0; more < 2; more++) {
        size_t blanks = TV_HTML_LONGEST_MANIFEST - 12 + more;
        memset(page + head, ' ', blanks);
        snprintf(page + head + blanks, size - head - blanks, "{\"files\":[]}</script>");
        assert_page(page,
                    more ? "byte 46: a report with a list of files longer than 1048576 bytes" : "");
    }
    test_free(page);
}

UNIT_TESTS(html_page, cmocka_unit_test(takes_files_together),
           cmocka_unit_test(survives_hostile_lists), cmocka_unit_test(tells_what_is_missing),
           cmocka_unit_test(limits_the_list));

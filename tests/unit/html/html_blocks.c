/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in HTML pages: what counts as one, and its text. */
#include "html/html_page.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "unit.h"

/* All texts of a page, each ended by '|'; '!' after one that the page ends in, '?' after damaged
 * base64. `step` bytes are asked for at a time. */
static void read_page(const char *page, size_t length, size_t step, char *result, size_t size)
{
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){(const uint8_t *)page, length}, "page");
    struct tv_html_scan scan;
    struct tv_html_block block;
    bool none = false;
    size_t used = 0;
    tv_html_scan_init(&scan, source);
    while (tv_html_scan_next(&scan, &block, &none, NULL) == TV_OK && !none) {
        struct tv_html_text text;
        size_t got;
        tv_html_text_init(&text, source, &block, 1);
        do {
            assert_true(size - used > step + 4);
            assert_int_equal(tv_html_text_read(&text, (uint8_t *)result + used, step, &got, NULL),
                             TV_OK);
            assert_true(got <= step);
            used += got;
        } while (got > 0);
        if (block.open)
            result[used++] = '!';
        if (text.damaged)
            result[used++] = '?';
        result[used++] = '|';
        tv_html_text_release(&text);
    }
    result[used] = '\0';
    tv_html_scan_release(&scan);
    tv_source_free(source);
}

static void assert_texts(const char *page, const char *texts)
{
    char result[4096];
    read_page(page, strlen(page), 64, result, sizeof result);
    assert_string_equal(result, texts);
    read_page(page, strlen(page), 1024, result, sizeof result);
    assert_string_equal(result, texts);
}

static void knows_pages(void **context)
{
    (void)context;
    assert_true(tv_html_begins(TV_BYTES("<!DOCTYPE html>\n<html>")));
    assert_true(tv_html_begins(TV_BYTES("<!doctype HTML PUBLIC \"x\">")));
    assert_true(tv_html_begins(TV_BYTES("\xef\xbb\xbf \n<!-- saved from x -->\n<html lang=en>")));
    assert_true(tv_html_begins(TV_BYTES("<HTML>")));
    assert_false(tv_html_begins(TV_BYTES("<!DOCTYPE svg>")));
    assert_false(tv_html_begins(TV_BYTES("<htmlx>")));
    assert_false(tv_html_begins(TV_BYTES("<!-- <html>")));
    assert_false(tv_html_begins(TV_BYTES("<")));
    assert_false(tv_html_begins(TV_BYTES("")));
}

static void takes_every_trace_data(void **context)
{
    (void)context;
    assert_texts("<html><!-- BEGIN TRACE -->\n"
                 "  <script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\nline\n"
                 "  </script>\n"
                 "<SCRIPT type='x' CLASS='a Trace-Data b'>PROCESS DUMP\n\tx</SCRIPT >\n"
                 "<script class=trace-data>\r\n\r\n{\"a\":1}</script>\n<!-- END TRACE --></html>",
                 "# tracer: nop\nline\n|PROCESS DUMP\n\tx|{\"a\":1}|");
    /* Spaces in front of the first line belong to it. */
    assert_texts("<html><script class=trace-data>\n  \n   sh-1 [000] 1.0: x: y\n  </script>",
                 "   sh-1 [000] 1.0: x: y\n|");
    /* What only looks like the end is data. */
    assert_texts("<html><script class=trace-data>\na </scripts <b </script",
                 "a </scripts <b </script!|");
    assert_texts("<html><script class=trace-data></script>", "|");
}

/* The viewer's own code has all the words, even as lines of their own. */
static void takes_nothing_of_the_viewer(void **context)
{
    (void)context;
    assert_texts(
        "<html><script>\nfunction f() {\n  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n\";\n}"
        "\n<script class=\"trace-data\">\n# tracer: js</script>"
        "<!-- <script class=trace-data># tracer: comment</script> -->"
        "<style>x</style><script src='a' >\nvar linuxPerfData = \"x\";</script>"
        "<script data-class=trace-data>x</script><script class=trace-datas>x</script>"
        "<scripts class=trace-data>x</script>",
        "");
    /* Browsers end no script within "<!-- <script", but do where "-->" came. */
    assert_texts("<html><script>'<!--<script class=trace-data>x' + '</script>';"
                 "</script><script class=trace-data>one</script>",
                 "one|");
    assert_texts("<html><script>'<!--<script>' --> </script><script class=trace-data>one</script>",
                 "one|");
    assert_texts("<html><script>'<!--' </script><script class=trace-data>one</script>", "one|");
    assert_texts("<html><!--><script class=trace-data>one</script>", "one|");
}

static void takes_strings_apart(void **context)
{
    (void)context;
    assert_texts(
        "<!DOCTYPE html><script>\n  'use strict';\n  // x\n /* y\n */"
        "  var linuxPerfData = \"\\\n# tracer: nop\\n\\\n"
        "a\\\"b\\\\c\\td\\x41\\u00e9\\u20ac\\q\\n\\\r\n \"unescaped\" x\\n\\\r\r\nlast\\n\";\n"
        "  </script></body>",
        "# tracer: nop\na\"b\\c\tdA\xc3\xa9\xe2\x82\xacq\n \"unescaped\" x\nlast\n|");
    /* Lines that nobody escaped, and no end of the string. */
    assert_texts(
        "<!DOCTYPE HTML><script>\n  var linuxPerfData = \"\\\n# tracer: nop\nB|1|\"hi\"\nx\n"
        "  </script>",
        "# tracer: nop\nB|1|\"hi\"\nx\n|");
    assert_texts("<html><script>var linuxPerfData=\"one\\n\" ; </script>", "one\n|");
    assert_texts("<html><script>var linuxPerfDatas=\"one\\n\" ; </script>", "");
    assert_texts("<html><script>var linuxPerfData = \"one\\", "one!|");
    assert_texts("<html><script>var linuxPerfData = \"\\u12\\xg\\u", "u12xgu!|");
}

/* Long stretches between the escapes cross every border of the buffer. */
static void takes_long_strings(void **context)
{
    (void)context;
    static const char letters[] = "aaaaaaaaaaaaaaaaaaaa";
    char page[4096], wanted[4096];
    int length = snprintf(page, sizeof page, "<html><script>var linuxPerfData = \"\\\n"), used = 0;
    for (int i = 0; i < 100; i++) {
        length += snprintf(page + length, sizeof page - (size_t)length, "%.*s\\u20ac\\n\\\n",
                           i % 20, letters);
        used += snprintf(wanted + used, sizeof wanted - (size_t)used, "%.*s\xe2\x82\xac\n", i % 20,
                         letters);
    }
    snprintf(page + length, sizeof page - (size_t)length, "\";</script>");
    snprintf(wanted + used, sizeof wanted - (size_t)used, "|");
    assert_texts(page, wanted);
}

static void decodes_base64(void **context)
{
    (void)context;
    assert_texts("<html><script id=\"viewer-data\" type=\"text/plain\">\nIyB0cmFjZXI6\nIG5vcA==\n"
                 "</script><script id='viewer-data' type='application/json'>{\"a\": [1]}</script>",
                 "# tracer: nop|{\"a\": [1]}|");
    assert_texts("<html><script id=viewer-data>IyB0cmFjZXI6</script>", "# tracer:|");
    /* Damage after what tells the form. */
    char page[16384] = "<html><script id=viewer-data>";
    size_t length = strlen(page);
    memset(page + length, 'A', 12000);
    memcpy(page + length + 12000, TV_BYTES("!AAAA</script>").data, sizeof "!AAAA</script>");
    char result[16384];
    read_page(page, strlen(page), 1024, result, sizeof result);
    assert_memory_equal(result + 9000, "?|", 3);
    /* Words in lines are no base64. */
    assert_texts("<html><script class=trace-data>\nPROCESS DUMP\nUSER PID\n</script>",
                 "PROCESS DUMP\nUSER PID\n|");
}

/* Whatever is cut off or changed, reading ends. */
static void survives_damage(void **context)
{
    (void)context;
    static const char page[] =
        "<!DOCTYPE html><!-- x --><script>a<!--<script></script>--></script>"
        "<script class='trace-data'>\none\n</script><script id=viewer-data>IyB0cmFjZXI6</script>"
        "<script>var linuxPerfData = \"\\\na\\n\\\n\";\n</script>";
    char changed[sizeof page], result[4096];
    for (size_t length = 0; length < sizeof page; length++)
        read_page(page, length, 64, result, sizeof result);
    for (size_t i = 0; i < sizeof page - 1; i++) {
        memcpy(changed, page, sizeof page);
        changed[i] = '<';
        read_page(changed, sizeof page - 1, 64, result, sizeof result);
        changed[i] = '"';
        read_page(changed, sizeof page - 1, 64, result, sizeof result);
    }
}

UNIT_TESTS(html_blocks, cmocka_unit_test(knows_pages), cmocka_unit_test(takes_every_trace_data),
           cmocka_unit_test(takes_nothing_of_the_viewer), cmocka_unit_test(takes_strings_apart),
           cmocka_unit_test(takes_long_strings), cmocka_unit_test(decodes_base64),
           cmocka_unit_test(survives_damage));

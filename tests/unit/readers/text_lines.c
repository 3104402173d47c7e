/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/text_lines.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unit.h"

static struct tv_text_line next(struct tv_text_lines *lines)
{
    struct tv_text_line line;
    struct tv_error err;
    assert_int_equal(tv_text_lines_next(lines, &line, &err), TV_OK);
    return line;
}

static void expect_line(struct tv_text_lines *lines, const char *text, uint64_t offset, bool ended)
{
    struct tv_text_line line = next(lines);
    assert_false(line.none);
    assert_false(line.too_long);
    assert_true(tv_bytes_equal(line.text, tv_bytes_of(text)));
    assert_int_equal(line.offset, offset);
    assert_int_equal(line.ended, ended);
}

static void splits_lines(void **context)
{
    struct tv_source *source = tv_source_from_memory(TV_BYTES("one\n\ntwo\r\n\r\nrest"), "test");
    struct tv_text_lines lines;
    (void)context;
    tv_text_lines_init(&lines, source, 0, UINT64_MAX);
    expect_line(&lines, "one", 0, true);
    expect_line(&lines, "", 4, true);
    expect_line(&lines, "two", 5, true);
    expect_line(&lines, "", 10, true);
    expect_line(&lines, "rest", 12, false);
    assert_true(next(&lines).none);
    assert_true(next(&lines).none);
    tv_text_lines_release(&lines);
    tv_source_free(source);
}

static void stays_within_its_stretch(void **context)
{
    struct tv_source *source = tv_source_from_memory(TV_BYTES("zero\none\ntwo\n"), "test");
    struct tv_text_lines lines;
    (void)context;
    tv_text_lines_init(&lines, source, 5, 11);
    expect_line(&lines, "one", 5, true);
    expect_line(&lines, "tw", 9, false);
    assert_true(next(&lines).none);
    tv_text_lines_release(&lines);
    tv_text_lines_init(&lines, source, 100, 200);
    assert_true(next(&lines).none);
    tv_text_lines_release(&lines);
    tv_source_free(source);
}

/* Lines that reach over windows; one too long is skipped to its end. */
static void reads_long_lines(void **context)
{
    size_t whole = TV_TEXT_LINE_LIMIT, longer = TV_TEXT_LINE_LIMIT + 1;
    size_t size = whole + 1 + longer + 1 + 3;
    uint8_t *bytes = tv_alloc(size, 1);
    (void)context;
    memset(bytes, 'x', size);
    bytes[whole] = bytes[whole + 1 + longer] = '\n';
    struct tv_source *source = tv_source_from_memory((struct tv_bytes){bytes, size}, "test");
    struct tv_text_lines lines;
    tv_text_lines_init(&lines, source, 0, size);
    struct tv_text_line line = next(&lines);
    assert_int_equal(line.text.length, whole);
    line = next(&lines);
    assert_true(line.too_long);
    assert_true(line.ended);
    assert_int_equal(line.text.length, 0);
    expect_line(&lines, "xxx", whole + 1 + longer + 1, false);
    tv_text_lines_release(&lines);
    tv_source_free(source);
    tv_free(bytes);
}

static void assert_bare(const char *line, const char *bare)
{
    struct tv_bytes text = tv_text_line_bare(tv_bytes_of(line));
    assert_int_equal(text.length, strlen(bare));
    assert_memory_equal(text.data, bare, text.length);
}

static void copied_lines_are_made_bare(void **state)
{
    (void)state;
    assert_bare("a: b", "a: b");
    assert_bare("a: b\r\r", "a: b");
    assert_bare("a: b\\n\\", "a: b");
    assert_bare("a: b\\n\\\r", "a: b");
    assert_bare("a: b\\n\";", "a: b");
    assert_bare("a: b\\n", "a: b\\n");
    assert_bare("\\n\\", "");
    assert_bare("\r", "");
    assert_bare("", "");
}

UNIT_TESTS(text_lines, cmocka_unit_test(copied_lines_are_made_bare), cmocka_unit_test(splits_lines),
           cmocka_unit_test(stays_within_its_stretch), cmocka_unit_test(reads_long_lines));

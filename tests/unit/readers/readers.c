/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/reader.h"

#include "base/bytes.h"
#include "base/out.h"
#include "model/builder/builder.h"
#include "unit.h"

/* The reader's name, or what the file is. */
static const char *found(struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    const struct tv_reader *reader = tv_readers_find(source, err);
    tv_source_free(source);
    return reader ? reader->name : err->message;
}

#define ASSERT_FOUND(literal, name) assert_string_equal(found(TV_BYTES(literal), &err), name)

static void knows_its_formats(void **context)
{
    struct tv_error err;
    (void)context;
    ASSERT_FOUND("*version\n3\n", "android-trace");
    ASSERT_FOUND("*version\r\n3\r\n", "android-trace");
    ASSERT_FOUND("SLOW\xf3\0 \0", "android-trace");
    ASSERT_FOUND("SLOW\5\0", "android-trace");
    ASSERT_FOUND("a;b 1\n", "collapsed");
    ASSERT_FOUND("a 0.25", "collapsed");
}

static void takes_no_text_for_stacks(void **context)
{
    struct tv_error err;
    (void)context;
    assert_memory_equal(found(TV_BYTES("12\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES("a;b 1\na;b\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES("a;b -1\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES("a;b 1 us\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES("chapter 1\nIt was\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES("a\0b 1\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES(" 1\n"), &err), "expected", 8);
    assert_memory_equal(found(TV_BYTES("\n\n"), &err), "expected", 8);
}

/* Lines that the prefix cuts do not count. */
static void looks_at_whole_lines_only(void **context)
{
    static uint8_t bytes[TV_SNIFF_SIZE + 10];
    struct tv_error err;
    (void)context;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)("a;b 1\n"[i % 6]);
    assert_string_equal(found((struct tv_bytes){bytes, sizeof bytes}, &err), "collapsed");
}

static void names_other_files(void **context)
{
    struct tv_error err;
    (void)context;
    ASSERT_FOUND("", "expected a trace in a format that is known, found an empty file");
    ASSERT_FOUND(" \n\t\r\n ",
                 "expected a trace in a format that is known, found an empty file (white space "
                 "only)");
    ASSERT_FOUND("\x1f\x8b\x08",
                 "expected a trace in a format that is known, found only the beginning of a gzip "
                 "file");
    assert_int_equal(err.offset, 3);
    ASSERT_FOUND("\x1f\x8b\x08\0\0\0\0\0\0\3.............",
                 "expected a trace in a format that is known, found only the beginning of a gzip "
                 "file");
    ASSERT_FOUND("It was a dark and stormy night; the rain fell in torrents\r\nx",
                 "expected a trace in a format that is known, found the text \"It was a dark and "
                 "stormy night; the rain\"");
    ASSERT_FOUND("caf\xc3\xa9",
                 "expected a trace in a format that is known, found the bytes 63 61 66 C3 A9");
    ASSERT_FOUND("BZh91AY", "expected a trace in a format that is known, found bzip2-compressed "
                            "data, which is not read yet: unpack it first, with \"bunzip2\"");
    ASSERT_FOUND("\n\1\2\3",
                 "expected a trace in a format that is known, found the bytes 0A 01 02 03");
    assert_int_equal(err.status, TV_ERR_UNSUPPORTED);
    assert_int_equal(err.offset, 0);
}

/* First members with the names of an event's, then so many letters, then two events. */
static uint64_t count_behind_letters(size_t letters)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"metadata\":{\"a\":\"");
    for (size_t i = 0; i < letters; i++)
        tv_out_char(&out, 'x');
    tv_out_text(&out, "\"},\"traceEvents\":[{\"name\":\"b\",\"ph\":\"X\",\"ts\":1,\"dur\":1},\n"
                      "{\"name\":\"c\",\"ph\":\"X\",\"ts\":2,\"dur\":1}],\"more\":1}");
    struct tv_bytes text = {out.buffer, out.length};
    struct tv_source *source = tv_source_from_memory(text, "test");
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_builder *builder = tv_builder_new(head);
    assert_int_equal(tv_readers_build(source, builder, &options, &err), TV_OK);
    uint64_t records = head->inputs[0].records;
    tv_builder_free(builder);
    tv_source_free(source);
    tv_out_release(&out);
    return records;
}

/* The object looks like an event but is none: within a window, after one, after 1 MiB. */
static void finds_events_behind_long_members(void **context)
{
    (void)context;
    assert_int_equal(count_behind_letters(1000), 2);
    assert_int_equal(count_behind_letters(300000), 2);
    assert_int_equal(count_behind_letters(3000000), 2);
}

UNIT_TESTS(readers, cmocka_unit_test(finds_events_behind_long_members),
           cmocka_unit_test(knows_its_formats), cmocka_unit_test(takes_no_text_for_stacks),
           cmocka_unit_test(looks_at_whole_lines_only), cmocka_unit_test(names_other_files));

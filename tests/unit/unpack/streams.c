/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of zlib: bare, after "TRACE:", with what terminals put in, cut and damaged. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/unpack.h"

#define TEXT_SIZE ((size_t)300000)

struct made {
    uint8_t *text, *packed, *file;
    size_t packed_size, file_size;
    char note[256];
};

static bool is_wanted(void *context, struct tv_bytes head)
{
    (void)context;
    return head.length > 0;
}

static void take_note(void *context, const char *text)
{
    struct made *made = context;
    snprintf(made->note, sizeof made->note, "%s", text);
}

/* Text that does not pack well, so that the stream has bytes of all values. */
static void make(struct made *made, const char *before, unsigned returns)
{
    uLongf size = compressBound(TEXT_SIZE);
    uint32_t random = 1;
    *made = (struct made){.text = tv_alloc(TEXT_SIZE, 1), .packed = tv_alloc(size, 1)};
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        random = random * 1103515245 + 12345;
        made->text[i] = (uint8_t)(random >> 16);
    }
    assert_int_equal(compress(made->packed, &size, made->text, TEXT_SIZE), Z_OK);
    made->packed_size = size;
    made->file = tv_alloc(strlen(before) + size * 3, 1);
    memcpy(made->file, before, strlen(before));
    made->file_size = strlen(before);
    for (size_t i = 0; i < size; i++) {
        for (unsigned r = 0; made->packed[i] == '\n' && r < returns; r++)
            made->file[made->file_size++] = '\r';
        made->file[made->file_size++] = made->packed[i];
    }
}

static void release(struct made *made)
{
    tv_free(made->text);
    tv_free(made->packed);
    tv_free(made->file);
}

/* How much of the text comes out; it must be its beginning. */
static size_t unpacked(struct made *made, uint64_t ceiling, enum tv_status wanted, bool *cut_off)
{
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_unpack_question question = {
        .wanted = is_wanted,
        .context = made,
        .ceiling = ceiling,
        .note = take_note,
    };
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){made->file, made->file_size}, "box");
    struct tv_error err = {0};
    size_t count, got = 0;
    assert_int_equal(tv_unpack(source, &question, members, &count, cut_off, &err), wanted);
    tv_source_free(source);
    if (wanted != TV_OK)
        return 0;
    uint8_t *bytes = tv_alloc(TEXT_SIZE + 1, 1);
    assert_int_equal(count, 1);
    assert_string_equal(tv_source_name(members[0].source), "box");
    assert_int_equal(tv_source_read(members[0].source, 0, bytes, TEXT_SIZE + 1, &got, NULL), TV_OK);
    assert_memory_equal(bytes, made->text, got);
    tv_source_free(members[0].source);
    tv_free(bytes);
    return got;
}

static void assert_whole(const char *before, unsigned returns, const char *note)
{
    struct made made;
    bool cut_off;
    make(&made, before, returns);
    assert_int_equal(unpacked(&made, 0, TV_OK, &cut_off), TEXT_SIZE);
    assert_false(cut_off);
    assert_string_equal(made.note, note);
    release(&made);
}

static void unpacks_all_forms(void **context)
{
    (void)context;
    assert_whole("", 0, "");
    assert_whole("TRACE:\n", 0, "");
    assert_whole("TRACE:\r\n", 1, "");
    assert_whole("TRACE:\r\r\n", 2, "");
    assert_whole("capturing trace... done\nTRACE:\n", 0,
                 "24 bytes before the line \"TRACE:\" are left out");
    assert_whole("a\r\nTRACE:\r\n", 1, "3 bytes before the line \"TRACE:\" are left out");
}

static void asks_for_more_than_two_bytes(void **context)
{
    (void)context;
    assert_false(tv_unpack_knows(TV_BYTES("x\x9c")));
    assert_false(tv_unpack_knows(TV_BYTES("x\x9c is text, too")));
    assert_false(tv_unpack_knows(TV_BYTES("TRACE:\n# tracer: nop\n")));
    assert_false(tv_unpack_knows(TV_BYTES("TRACE:\n")));
    assert_false(tv_unpack_knows(TV_BYTES("TRACE: x\x9c\x4b\x04\x00")));
    assert_true(tv_unpack_knows(TV_BYTES("x\x9c\x4b\x04\x00"))); /* "a", without a checksum */
}

static void keeps_what_comes_before_a_cut(void **context)
{
    (void)context;
    struct made made;
    bool cut_off;
    make(&made, "TRACE:\n", 0);
    size_t size = made.file_size;
    made.file_size = size - 4; /* the checksum alone */
    assert_int_equal(unpacked(&made, 0, TV_OK, &cut_off), TEXT_SIZE);
    assert_true(cut_off);
    made.file_size = size / 2;
    assert_in_range(unpacked(&made, 0, TV_OK, &cut_off), TEXT_SIZE / 3, TEXT_SIZE * 2 / 3);
    assert_true(cut_off);
    made.file_size = size;
    made.file[size - 1] ^= 1; /* a wrong checksum */
    assert_int_equal(unpacked(&made, 0, TV_OK, &cut_off), TEXT_SIZE);
    assert_true(cut_off);
    release(&made);
}

static void has_a_ceiling(void **context)
{
    (void)context;
    struct made made;
    bool cut_off;
    make(&made, "", 0);
    assert_int_equal(unpacked(&made, TEXT_SIZE, TV_OK, &cut_off), TEXT_SIZE);
    unpacked(&made, TEXT_SIZE - 1, TV_ERR_LIMIT, &cut_off);
    release(&made);
}

UNIT_TESTS(streams, cmocka_unit_test(unpacks_all_forms),
           cmocka_unit_test(asks_for_more_than_two_bytes),
           cmocka_unit_test(keeps_what_comes_before_a_cut), cmocka_unit_test(has_a_ceiling));

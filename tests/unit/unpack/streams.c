/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of zlib: bare, after "TRACE:", with what terminals put in, cut and damaged. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/made_file.h"
#include "unpack/member.h"
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

/* ---- Frames of zstd, as in RFC 8878, section 3.1 ---- */

#define RAW 0u
#define RLE 1u
#define RESERVED 3u

/* Append a header: magic, descriptor, and `fields` bytes of window, dictionary and content size. */
static void put_frame(struct made_file *to, uint8_t descriptor, size_t fields)
{
    static const uint8_t zeros[16];
    made_file_append(to, "\x28\xb5\x2f\xfd", 4);
    made_file_append(to, &descriptor, 1);
    made_file_append(to, zeros, fields);
}

/* Append a block.  One of RLE has one byte, whatever its size. */
static void put_block(struct made_file *to, bool last, unsigned type, unsigned size)
{
    uint32_t head = (uint32_t)last | type << 1 | size << 3;
    uint8_t bytes[3] = {(uint8_t)head, (uint8_t)(head >> 8), (uint8_t)(head >> 16)};
    made_file_append(to, bytes, 3);
    for (unsigned i = 0; i < (type == RLE ? 1 : size); i++)
        made_file_append(to, "x", 1);
}

/* Walk over the frames of a file whose bytes arrive in steps. */
static struct tv_zstd_frames zstd_frames_walk(const struct made_file *file, size_t step,
                                              uint64_t *end)
{
    struct tv_zstd_frames frames = {.at = 0};
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){file->bytes, file->length}, "frames");
    for (size_t limit = 0; limit < file->length;) {
        limit = limit + step < file->length ? limit + step : file->length;
        *end = tv_zstd_frames_end(&frames, source, limit);
    }
    tv_source_free(source);
    return frames;
}

/* The frames end at `end` when `after` follows them. */
static void assert_frames_end(struct made_file file, const char *after, size_t length, bool damaged)
{
    uint64_t expected = file.length, end;
    made_file_append(&file, after, length);
    for (size_t step = 1; step <= file.length; step++) {
        struct tv_zstd_frames frames = zstd_frames_walk(&file, step, &end);
        assert_int_equal(end, expected);
        assert_true(frames.ended);
        assert_int_equal(frames.damaged, damaged);
    }
}

/* Each descriptor has its number of bytes for window, dictionary and content size. */
static void finds_the_end_of_zstd_frames(void **context)
{
    (void)context;
    static const struct {
        uint8_t descriptor;
        size_t fields;
    } headers[] = {
        {0x00, 1},     /* window */
        {0x20, 1},     /* single segment: content size of 1 byte */
        {0x40, 1 + 2}, /* window, content size of 2 bytes */
        {0x80, 1 + 4}, {0xc0, 1 + 8}, {0xe0, 8},
        {0x01, 1 + 1}, /* window, dictionary of 1 byte */
        {0x02, 1 + 2}, {0x03, 1 + 4}, {0xe3, 4 + 8},
    };
    for (size_t i = 0; i < TV_COUNT(headers); i++)
        for (int summed = 0; summed < 2; summed++) {
            struct made_file file = {.length = 0};
            put_frame(&file, (uint8_t)(headers[i].descriptor | summed << 2), headers[i].fields);
            put_block(&file, false, RAW, 7);
            put_block(&file, false, RLE, 1000);
            put_block(&file, true, RAW, 0);
            made_file_append(&file, "sum!", summed ? 4 : 0);
            assert_frames_end(file, "\0\0\0\0\0\0\0\0\0", 9, false);
            assert_frames_end(file, "garbage after it", 16, true);
        }
}

static void steps_over_skippable_zstd_frames(void **context)
{
    (void)context;
    struct made_file file = {.length = 0};
    made_file_append(&file, "\x5f\x2a\x4d\x18\x05\0\0\0right", 13);
    put_frame(&file, 0x20, 1);
    put_block(&file, true, RLE, 9);
    made_file_append(&file, "\x50\x2a\x4d\x18\0\0\0\0", 8);
    assert_frames_end(file, "\0\0\0\0\0\0\0\0", 8, false);
}

/* Nothing is dropped when the walk cannot tell where a frame ends. */
static void leaves_unknown_zstd_frames_whole(void **context)
{
    (void)context;
    struct made_file file = {.length = 0};
    uint64_t end;
    put_frame(&file, 0x20, 1);
    put_block(&file, false, RESERVED, 4);
    made_file_append(&file, "garbage after it", 16);
    assert_true(zstd_frames_walk(&file, 1, &end).unknown);
    assert_int_equal(end, file.length);
}

/* ---- Files that cannot be read ---- */

static void reports_unreadable_bytes(void **context)
{
    (void)context;
    struct made_file file = {.length = 0}, noise = {.length = 0};
    uint8_t packed[MADE_FILE_ROOM];
    uLongf size = sizeof packed;
    made_file_append_noise(&noise, 7000);
    assert_int_equal(compress(packed, &size, noise.bytes, noise.length), Z_OK);
    made_file_append(&file, "TRACE:\n", 7);
    made_file_append(&file, packed, size);
    made_file_assert_reports_breaks(&file, is_wanted);
    made_file_assert_unwanted(&file);
}

UNIT_TESTS(streams, cmocka_unit_test(unpacks_all_forms),
           cmocka_unit_test(asks_for_more_than_two_bytes),
           cmocka_unit_test(keeps_what_comes_before_a_cut), cmocka_unit_test(has_a_ceiling),
           cmocka_unit_test(finds_the_end_of_zstd_frames),
           cmocka_unit_test(steps_over_skippable_zstd_frames),
           cmocka_unit_test(leaves_unknown_zstd_frames_whole),
           cmocka_unit_test(reports_unreadable_bytes));

/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto traces with compressed packets: whole, among plain ones, cut and damaged. */
#include "unit.h"

#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/made_file.h"
#include "unpack/unpack.h"

#define ZLIB 15
#define GZIP (15 + 16)

static void put_varint(struct made_file *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        made_file_append(to, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    made_file_append(to, &(uint8_t){(uint8_t)value}, 1);
}

/* Field 1 of the file, `packet`, whose payload is a text here. */
static void put_packet(struct made_file *to, const void *payload, size_t length)
{
    made_file_append(to, "\x0a", 1);
    put_varint(to, length);
    made_file_append(to, payload, length);
}

static void put_text(struct made_file *to, const char *text)
{
    put_packet(to, text, strlen(text));
}

static void compress_packets(struct made_file *packets, int window, struct made_file *stream)
{
    z_stream z = {.next_in = packets->bytes,
                  .avail_in = (uInt)packets->length,
                  .next_out = stream->bytes,
                  .avail_out = MADE_FILE_ROOM};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    stream->length = z.total_out;
    deflateEnd(&z);
}

/* A packet that has other fields first, then field 50, `compressed_packets`, whose size is said to
 * be `more` larger than it is. */
static void put_compressed(struct made_file *to, const char *fields, const struct made_file *stream,
                           size_t more)
{
    struct made_file payload = {.length = 0};
    made_file_append(&payload, fields, strlen(fields));
    made_file_append(&payload, "\x92\x03", 2); /* 50 << 3 | 2 */
    put_varint(&payload, stream->length + more);
    made_file_append(&payload, stream->bytes, stream->length);
    put_packet(to, payload.bytes, payload.length);
}

/* Packets "one", "two", ... of a text with spaces between, compressed. */
static void put_words(struct made_file *to, const char *words, int window)
{
    struct made_file packets = {.length = 0}, stream = {.length = 0};
    for (const char *end; *words != '\0'; words = *end == ' ' ? end + 1 : end) {
        end = words + strcspn(words, " ");
        put_packet(&packets, words, (size_t)(end - words));
    }
    compress_packets(&packets, window, &stream);
    put_compressed(to, "", &stream, 0);
}

static bool is_packet(void *context, struct tv_bytes head)
{
    (void)context;
    return head.length > 0 && head.data[0] == 0x0a;
}

static void assert_unpacks(const struct made_file *packed, const struct made_file *expected,
                           bool is_cut)
{
    made_file_assert_unpacks(packed, is_packet, expected, is_cut);
}

static void puts_packets_in_place_of_their_stream(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, expected = {.length = 0};
    put_words(&packed, "one two", ZLIB);
    put_text(&packed, "three");
    put_words(&packed, "four", GZIP);
    put_text(&packed, "five");
    put_text(&expected, "one");
    put_text(&expected, "two");
    put_text(&expected, "three");
    put_text(&expected, "four");
    put_text(&expected, "five");
    assert_unpacks(&packed, &expected, false);
}

/* The compressed field may follow others, and the first packets of a file may be plain. */
static void finds_the_stream_behind_other_fields(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, expected = {.length = 0}, packets = {.length = 0},
                     stream;
    put_text(&packets, "one");
    compress_packets(&packets, ZLIB, &stream);
    put_packet(&packed, "\x08\x05", 2);
    put_compressed(&packed, "\x50\x80\x01\x0d\x01\x02\x03\x04", &stream, 0);
    put_packet(&expected, "\x08\x05", 2);
    put_text(&expected, "one");
    assert_unpacks(&packed, &expected, false);
}

static void keeps_what_comes_before_a_cut(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, expected = {.length = 0};
    put_words(&packed, "one two", ZLIB);
    packed.length -= 4; /* the checksum */
    put_text(&expected, "one");
    put_text(&expected, "two");
    assert_unpacks(&packed, &expected, true);
}

/* A damaged stream costs the rest of its own packets alone. */
static void goes_on_behind_a_damaged_stream(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, expected = {.length = 0};
    put_words(&packed, "one two", ZLIB);
    packed.bytes[packed.length - 1] ^= 1; /* of the checksum */
    put_text(&packed, "three");
    put_text(&expected, "one");
    put_text(&expected, "two");
    put_text(&expected, "three");
    assert_unpacks(&packed, &expected, true);
}

static void leaves_damaged_frames_to_the_reader(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, expected = {.length = 0};
    put_words(&packed, "one", ZLIB);
    made_file_append(&packed,
                     "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                     "rest",
                     15);
    put_text(&expected, "one");
    made_file_append(&expected,
                     "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                     "rest",
                     15);
    assert_unpacks(&packed, &expected, false);
}

static void assert_unknown(const struct made_file *file)
{
    assert_false(made_file_is_known(file));
}

/* Plain packets, and frames that only look as if a stream were in them. */
static void is_not_misled(void **state)
{
    (void)state;
    struct made_file plain = {.length = 0}, large = {.length = 0}, text = {.length = 0},
                     blocked = {.length = 0}, ended = {.length = 0}, stream;
    struct made_file packets = {.length = 0};
    put_text(&packets, "one");
    compress_packets(&packets, ZLIB, &stream);
    put_packet(&plain, "\x08\x05", 2);
    assert_unknown(&plain);
    put_compressed(&large, "", &stream, 1); /* larger than its packet */
    assert_unknown(&large);
    memcpy(stream.bytes, "no zlib", 7);
    put_compressed(&text, "", &stream, 0);
    assert_unknown(&text);
    put_compressed(&blocked, "\x12\x01x", &stream, 0); /* a field of bytes comes first */
    assert_unknown(&blocked);
    put_packet(&ended, "\x92\x03", 2); /* without its size */
    assert_unknown(&ended);
    /* A stream of one byte, and beginnings that are neither those of zlib nor of gzip. */
    static const struct made_file streams[] = {
        {"\x78", 1}, {"\x78\x9d no", 5}, {"\x1f\x8a no", 5}, {"\x1e\x8b no", 5}};
    for (size_t i = 0; i < TV_COUNT(streams); i++) {
        struct made_file other = {.length = 0};
        put_compressed(&other, "", &streams[i], 0);
        assert_unknown(&other);
    }
}

static void knows_streams_with_a_gzip_header(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, expected = {.length = 0};
    put_words(&packed, "one two", GZIP);
    put_text(&expected, "one");
    put_text(&expected, "two");
    assert_unpacks(&packed, &expected, false);
    packed.length = 4; /* the header of the stream is cut off */
    assert_false(made_file_is_known(&packed));
}

static void reports_unreadable_bytes(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, noise = {.length = 0}, packets = {.length = 0}, stream;
    made_file_append_noise(&noise, 5000);
    put_packet(&packets, noise.bytes, noise.length);
    compress_packets(&packets, ZLIB, &stream);
    put_compressed(&packed, "", &stream, 0);
    put_packet(&packed, noise.bytes, 1000);
    made_file_assert_reports_breaks(&packed, is_packet);
}

/* A stream that is unpacked as it comes may be closed before its end. */
static void may_be_closed_early(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0}, noise = {.length = 0}, packets = {.length = 0}, stream;
    struct tv_unpack_question question = {.wanted = is_packet, .as_it_comes = true};
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_error err = {0};
    uint8_t byte;
    size_t count, got;
    bool cut_off;
    made_file_append_noise(&noise, 7000);
    put_packet(&packets, noise.bytes, noise.length);
    compress_packets(&packets, ZLIB, &stream);
    put_compressed(&packed, "", &stream, 0);
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){packed.bytes, packed.length}, "box");
    assert_int_equal(tv_unpack(source, &question, members, &count, &cut_off, &err), TV_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tv_source_read(members[0].source, 0, &byte, 1, &got, &err), TV_OK);
    assert_int_equal(got, 1);
    tv_source_free(members[0].source);
    tv_source_free(source);
}

static void refuses_unwanted_packets(void **state)
{
    (void)state;
    struct made_file packed = {.length = 0};
    put_words(&packed, "one", ZLIB);
    made_file_assert_unwanted(&packed);
}

UNIT_TESTS(packets, cmocka_unit_test(puts_packets_in_place_of_their_stream),
           cmocka_unit_test(finds_the_stream_behind_other_fields),
           cmocka_unit_test(keeps_what_comes_before_a_cut),
           cmocka_unit_test(goes_on_behind_a_damaged_stream),
           cmocka_unit_test(leaves_damaged_frames_to_the_reader), cmocka_unit_test(is_not_misled),
           cmocka_unit_test(knows_streams_with_a_gzip_header),
           cmocka_unit_test(reports_unreadable_bytes), cmocka_unit_test(may_be_closed_early),
           cmocka_unit_test(refuses_unwanted_packets));

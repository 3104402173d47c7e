/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - streams that libarchive does not handle well enough: the tail and the checksums of
 * gzip, the end of zstd frames, and zlib streams inside text. member.h tells what libarchive does
 * with each of them.
 *
 *     gzip   10 or more bytes of header | deflate data | u32 CRC-32 | u32 length modulo 2^32
 *            (RFC 1952; streams may follow each other)
 *     zstd   u32 0xfd2fb528 | descriptor and sizes | blocks | u32 checksum, if the descriptor says
 *            block: 24 bits: 1 last, 2 type, 21 size; then the data; type RLE has one byte
 *            (RFC 8878; a skippable frame is u32 0x184d2a5?, u32 size, data)
 *     zlib   "... output of adb ...\nTRACE:\n" | 0x78 0x9c | deflate data | u32 Adler-32 (RFC 1950)
 */
#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/member.h"
#include "wire/little_endian.h"

/* ---- gzip ---- */

#define PIECE ((size_t)64 * 1024)

/* zlib's largest window, and the flag for a gzip header. */
#define GZIP_WINDOW (15 + 16)

struct gzip_tail {
    struct tv_source *packed;
    z_stream stream;
    uint64_t offset; /* offset of the next packed byte to read */
    uint64_t skip;   /* unpacked bytes still to be dropped */
    uint8_t *buffer;
    size_t size, got; /* room in the buffer, bytes stored in it */
    uint8_t in[PIECE], out[PIECE];
};

/* Read more packed bytes. Return false at their end. */
static bool gzip_tail_feed(struct gzip_tail *tail)
{
    size_t count = 0;
    if (tail->stream.avail_in > 0)
        return true;
    if (tv_source_read(tail->packed, tail->offset, tail->in, PIECE, &count, NULL) != TV_OK)
        return false;
    tail->offset += count;
    tail->stream.next_in = tail->in;
    tail->stream.avail_in = (uInt)count;
    return count > 0;
}

/* Store what was unpacked, except the first `skip` bytes and what does not fit. */
static void gzip_tail_copy(struct gzip_tail *tail, size_t count)
{
    size_t skipped = count < tail->skip ? count : (size_t)tail->skip;
    size_t room = tail->size - tail->got, kept = count - skipped;
    assert(count <= PIECE && tail->got <= tail->size);
    tail->skip -= skipped;
    kept = kept < room ? kept : room;
    memcpy(tail->buffer + tail->got, tail->out + skipped, kept);
    tail->got += kept;
}

/* Run the decompressor once. Return false when it cannot continue. */
static bool gzip_tail_inflate(struct gzip_tail *tail)
{
    tail->stream.next_out = tail->out;
    tail->stream.avail_out = (uInt)PIECE;
    int result = inflate(&tail->stream, Z_NO_FLUSH);
    gzip_tail_copy(tail, PIECE - tail->stream.avail_out);
    if (result == Z_STREAM_END) /* another stream may follow */
        return inflateReset(&tail->stream) == Z_OK;
    return result == Z_OK || (result == Z_BUF_ERROR && tail->stream.avail_in == 0);
}

size_t tv_gzip_tail(struct tv_source *packed, uint64_t skip, uint8_t *buffer, size_t size)
{
    struct gzip_tail *tail = tv_alloc(1, sizeof *tail);
    tail->packed = packed;
    tail->skip = skip;
    tail->buffer = buffer;
    tail->size = size;
    if (inflateInit2(&tail->stream, GZIP_WINDOW) == Z_OK) {
        while (tail->got < size && gzip_tail_feed(tail) && gzip_tail_inflate(tail))
            continue;
        inflateEnd(&tail->stream);
    }
    size_t got = tail->got;
    tv_free(tail);
    return got;
}

/* Return true when another stream begins after the one that ended. */
static bool gzip_tail_stream_follows(struct gzip_tail *tail)
{
    uint8_t bytes[2];
    size_t got;
    return tv_source_read(tail->packed, tail->offset - tail->stream.avail_in, bytes, sizeof bytes,
                          &got, NULL) == TV_OK &&
           got == sizeof bytes && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

bool tv_gzip_is_sound(struct tv_source *packed)
{
    struct gzip_tail *tail = tv_alloc(1, sizeof *tail);
    bool sound = false;
    tail->packed = packed;
    if (inflateInit2(&tail->stream, GZIP_WINDOW) == Z_OK) {
        int result = Z_OK;
        while (!sound && result == Z_OK && gzip_tail_feed(tail)) {
            tail->stream.next_out = tail->out;
            tail->stream.avail_out = (uInt)PIECE;
            result = inflate(&tail->stream, Z_NO_FLUSH);
            if (result != Z_STREAM_END)
                continue;
            sound = !gzip_tail_stream_follows(tail);
            result = inflateReset(&tail->stream);
        }
        inflateEnd(&tail->stream);
    }
    tv_free(tail);
    return sound;
}

/* ---- zstd ---- */

#define MAGIC 0xfd2fb528u
#define SKIPPABLE 0x184d2a50u /* its last four bits are arbitrary */
#define SKIPPABLE_HEAD 8
#define BLOCK_HEAD 3
#define BLOCK_RLE 1
#define BLOCK_RESERVED 3
#define CHECKSUM 4

static size_t zstd_read_at(struct tv_source *packed, uint64_t at, uint8_t *bytes, size_t size)
{
    size_t got = 0;
    return tv_source_read(packed, at, bytes, size, &got, NULL) == TV_OK ? got : 0;
}

/* Return the size of a frame's header: magic, descriptor, window, dictionary ID and content
 * size. */
static uint64_t zstd_header_size(uint8_t descriptor)
{
    static const uint8_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    bool single = descriptor >> 5 & 1;
    uint64_t size = content[descriptor >> 6];
    return 5u + !single + dictionary[descriptor & 3] + (single && size == 0 ? 1 : size);
}

/* Step over a block. Return false when the deciding bytes have not come yet. */
static bool zstd_step_block(struct tv_zstd_frames *frames, struct tv_source *packed, uint64_t limit)
{
    uint8_t bytes[BLOCK_HEAD];
    if (frames->at + BLOCK_HEAD > limit)
        return false;
    frames->unknown = zstd_read_at(packed, frames->at, bytes, sizeof bytes) < sizeof bytes;
    if (frames->unknown)
        return false;
    /* A block of type RLE stores one byte, whatever its size says. */
    uint32_t head = tv_le_get_u24(bytes), type = head >> 1 & 3;
    frames->unknown = type == BLOCK_RESERVED;
    frames->at += BLOCK_HEAD + (type == BLOCK_RLE ? 1 : head >> 3);
    frames->inside = (head & 1) == 0;
    if (!frames->inside && frames->summed)
        frames->at += CHECKSUM;
    return !frames->unknown;
}

/* Step over the header of a frame, or a whole skippable frame. Return false at the end of the
 * frames, or when the deciding bytes have not come yet. */
static bool zstd_step_frame(struct tv_zstd_frames *frames, struct tv_source *packed, uint64_t limit)
{
    uint8_t bytes[SKIPPABLE_HEAD] = {0};
    if (frames->at >= limit)
        return false;
    size_t got = zstd_read_at(packed, frames->at, bytes, 4);
    uint32_t magic = tv_le_get_u32(bytes);
    bool skippable = (magic & ~0xfu) == SKIPPABLE;
    frames->ended = got < 4 || (magic != MAGIC && !skippable);
    frames->damaged = frames->ended && magic != 0;
    if (frames->ended || frames->at + SKIPPABLE_HEAD > limit)
        return false;
    frames->unknown = zstd_read_at(packed, frames->at, bytes, sizeof bytes) < sizeof bytes;
    if (frames->unknown)
        return false;
    frames->at += skippable ? SKIPPABLE_HEAD + (uint64_t)tv_le_get_u32(bytes + 4)
                            : zstd_header_size(bytes[4]);
    frames->summed = !skippable && (bytes[4] >> 2 & 1);
    frames->inside = !skippable;
    return true;
}

uint64_t tv_zstd_frames_end(struct tv_zstd_frames *frames, struct tv_source *packed, uint64_t limit)
{
    while (!frames->ended && !frames->unknown &&
           (frames->inside ? zstd_step_block(frames, packed, limit)
                           : zstd_step_frame(frames, packed, limit)))
        continue;
    return frames->ended && frames->at < limit ? frames->at : limit;
}

#define PIECE ((size_t)64 * 1024)
#define HEAD ((size_t)4096)

/* Maximum number of carriage returns that terminals put in front of a line feed: a terminal in raw
 * mode inside another one adds two. */
#define MAX_RETURNS 2

/* The place of the stream in the bytes. */
struct zlib_position {
    size_t start;
    unsigned returns; /* that precede each line feed */
};

struct zlib_stream {
    struct tv_source *packed;
    uint64_t offset;  /* offset of the next packed byte to read */
    unsigned returns; /* carriage returns in front of each line feed; 0 after the end */
    unsigned pending; /* carriage returns read, but not yet known to be a terminal's */
    z_stream stream;
    bool ended, cut_off; /* no more output; the stream was damaged or incomplete */
    struct tv_error error;
    uint8_t in[PIECE];
    uint8_t plain[PIECE + MAX_RETURNS]; /* without the terminals' carriage returns */
};

/* Find the bytes after a line "TRACE:". Return false when there is no such line. */
static bool zlib_find_marker(struct tv_bytes head, struct zlib_position *place)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        size_t returns = 0;
        while (line.length > 0 && returns < MAX_RETURNS && line.data[line.length - 1] == '\r') {
            line.length--;
            returns++;
        }
        if (tv_bytes_equal(line, TV_BYTES("TRACE:"))) {
            *place = (struct zlib_position){tv_cursor_position(&cursor), (unsigned)returns};
            return true;
        }
    }
    return false;
}

/* Check the header of RFC 1950: deflate, no dictionary, and a checksum of five bits. */
static bool zlib_is_header(const uint8_t *bytes)
{
    return (bytes[0] & 0x0f) == Z_DEFLATED && bytes[0] >> 4 <= 7 && (bytes[1] & 0x20) == 0 &&
           (bytes[0] << 8 | bytes[1]) % 31 == 0;
}

/* Remove the carriage returns that terminals put in front of line feeds. When there are more in
 * a row, the first ones belong to the stream. Those at the end of the bytes wait for the next
 * call. Return the number of bytes written. */
static size_t zlib_strip_returns(struct zlib_stream *inflating, const uint8_t *from, size_t count,
                                 uint8_t *to)
{
    size_t length = 0;
    assert(inflating->pending <= MAX_RETURNS);
    for (size_t i = 0; i < count; i++) {
        if (from[i] == '\r' && inflating->pending < inflating->returns) {
            inflating->pending++;
            continue;
        }
        if (from[i] == '\n')
            inflating->pending = 0;
        for (; from[i] != '\r' && inflating->pending > 0; inflating->pending--)
            to[length++] = '\r';
        to[length++] = from[i];
    }
    return length;
}

/* Provide input for zlib. Return false at the end of the packed bytes. */
static bool zlib_feed(struct zlib_stream *inflating)
{
    z_stream *stream = &inflating->stream;
    while (stream->avail_in == 0) {
        size_t count = 0;
        if (tv_source_read_some(inflating->packed, inflating->offset, inflating->in, PIECE, &count,
                                &inflating->error) != TV_OK)
            return false;
        inflating->offset += count;
        if (count == 0) { /* no line feed follows the carriage returns that wait */
            inflating->returns = 0;
            count = inflating->pending;
            memset(inflating->in, '\r', count);
            inflating->pending = 0;
        }
        if (count == 0)
            return false;
        stream->next_in = inflating->plain;
        stream->avail_in =
            (uInt)zlib_strip_returns(inflating, inflating->in, count, inflating->plain);
    }
    return true;
}

/* The read function of a tv_unpack_member. */
static enum tv_status zlib_read_member(void *context, uint8_t *buffer, size_t size, size_t *got,
                                       struct tv_error *err)
{
    struct zlib_stream *inflating = context;
    z_stream *stream = &inflating->stream;
    stream->next_out = buffer;
    stream->avail_out = (uInt)size;
    while (stream->avail_out > 0 && !inflating->ended) {
        int result = zlib_feed(inflating) ? inflate(stream, Z_NO_FLUSH) : Z_BUF_ERROR;
        inflating->cut_off = result != Z_OK && result != Z_STREAM_END;
        inflating->ended = result != Z_OK;
    }
    *got = size - stream->avail_out;
    if (inflating->error.status != TV_OK)
        *err = inflating->error;
    return inflating->error.status;
}

static struct zlib_stream *zlib_open(struct tv_source *packed, const struct zlib_position *place)
{
    struct zlib_stream *inflating = tv_alloc(1, sizeof *inflating);
    inflating->packed = packed;
    inflating->offset = place->start;
    inflating->returns = place->returns;
    inflating->ended = inflateInit(&inflating->stream) != Z_OK;
    return inflating;
}

/* Also the close function of a tv_unpack_member. */
static void zlib_close(void *context)
{
    struct zlib_stream *inflating = context;
    inflateEnd(&inflating->stream);
    tv_free(inflating);
}

/* The is_cut function of a tv_unpack_member. */
static bool zlib_was_cut(const void *context)
{
    const struct zlib_stream *inflating = context;
    return inflating->cut_off;
}

/* Return true when a stream begins there that unpacks to something. */
static bool zlib_try_place(struct tv_bytes head, const struct zlib_position *place)
{
    uint8_t out[16];
    size_t got = 0;
    struct tv_error err;
    if (head.length < place->start + 2 || !zlib_is_header(head.data + place->start))
        return false;
    struct tv_source *source = tv_source_from_memory(head, "");
    struct zlib_stream *inflating = zlib_open(source, place);
    bool good = zlib_read_member(inflating, out, sizeof out, &got, &err) == TV_OK && got > 0;
    zlib_close(inflating);
    tv_source_free(source);
    return good;
}

/* Find the stream: at the start of the bytes, or after the line "TRACE:". */
static bool zlib_find_place(struct tv_bytes head, struct zlib_position *place)
{
    *place = (struct zlib_position){0, 0};
    return zlib_try_place(head, place) ||
           (zlib_find_marker(head, place) && zlib_try_place(head, place));
}

bool tv_zlib_knows(struct tv_bytes head)
{
    struct zlib_position place;
    return zlib_find_place(head, &place);
}

enum tv_status tv_zlib_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                              bool *cut_off, struct tv_error *err)
{
    uint8_t bytes[HEAD];
    struct tv_bytes head = {bytes, 0};
    struct zlib_position place;
    enum tv_status status = tv_source_read(packed, 0, bytes, sizeof bytes, &head.length, err);
    if (status != TV_OK)
        return status;
    if (!zlib_find_place(head, &place))
        return tv_fail(err, TV_ERR_SYNTAX, 0, "damaged container: no zlib stream begins in it");
    size_t marker = place.start > 0 ? sizeof "TRACE:" + place.returns : 0;
    if (place.start > marker)
        tv_extraction_note(extraction, "%zu bytes before the line \"TRACE:\" are left out",
                           place.start - marker);
    struct zlib_stream *inflating = zlib_open(packed, &place);
    struct tv_unpack_member member = {
        .name = tv_source_name(packed),
        .read = zlib_read_member,
        .context = inflating,
    };
    bool grows = extraction->question->as_it_comes, taken;
    if (grows) {
        member.close = zlib_close;
        member.is_cut = zlib_was_cut;
    }
    status = tv_extraction_add(extraction, &member, &taken, err);
    if (grows && taken)
        return status;
    *cut_off = inflating->cut_off;
    zlib_close(inflating);
    return status;
}

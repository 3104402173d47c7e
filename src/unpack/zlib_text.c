/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/zlib_text.h"

#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"

#define PIECE ((size_t)64 * 1024)
#define HEAD ((size_t)4096)

/* A terminal in raw mode under another one in raw mode: "\r\r\n". */
#define MOST_RETURNS 2

/* Where the stream is. */
struct place {
    size_t start;
    unsigned returns; /* put in front of each line feed */
};

struct inflating {
    struct tv_source *packed;
    uint64_t offset; /* of what is read next */
    unsigned returns, pending;
    z_stream stream;
    bool ended, cut_off;
    struct tv_error error;
    uint8_t in[PIECE];
    uint8_t plain[PIECE + MOST_RETURNS]; /* without what a terminal put in */
};

/* The bytes behind a line "TRACE:", or those of the whole; false: there is no such line. */
static bool find_marker(struct tv_bytes head, struct place *place)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        size_t returns = 0;
        while (line.length > 0 && returns < MOST_RETURNS && line.data[line.length - 1] == '\r') {
            line.length--;
            returns++;
        }
        if (tv_bytes_equal(line, TV_BYTES("TRACE:"))) {
            *place = (struct place){tv_cursor_position(&cursor), (unsigned)returns};
            return true;
        }
    }
    return false;
}

/* RFC 1950: deflate, no dictionary, and a checksum of five bits. */
static bool is_header(const uint8_t *bytes)
{
    return (bytes[0] & 0x0f) == Z_DEFLATED && bytes[0] >> 4 <= 7 && (bytes[1] & 0x20) == 0 &&
           (bytes[0] << 8 | bytes[1]) % 31 == 0;
}

/* Takes out the carriage returns in front of line feeds, as many as were put in; of more in a row
 * the first ones are the stream's own.  Those at the end of the bytes are kept for the next call.
 * Returns how many bytes come out. */
static size_t strip_returns(struct inflating *inflating, const uint8_t *from, size_t count,
                            uint8_t *to)
{
    size_t length = 0;
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

/* False at the end of the packed bytes. */
static bool feed(struct inflating *inflating)
{
    z_stream *stream = &inflating->stream;
    while (stream->avail_in == 0) {
        size_t count = 0;
        if (tv_source_read_some(inflating->packed, inflating->offset, inflating->in, PIECE, &count,
                                &inflating->error) != TV_OK)
            return false;
        inflating->offset += count;
        if (count == 0) { /* no line feed follows those that are kept */
            inflating->returns = 0;
            count = inflating->pending;
            memset(inflating->in, '\r', count);
            inflating->pending = 0;
        }
        if (count == 0)
            return false;
        stream->next_in = inflating->plain;
        stream->avail_in = (uInt)strip_returns(inflating, inflating->in, count, inflating->plain);
    }
    return true;
}

/* As tv_member.read. */
static enum tv_status read_text(void *context, uint8_t *buffer, size_t size, size_t *got,
                                struct tv_error *err)
{
    struct inflating *inflating = context;
    z_stream *stream = &inflating->stream;
    stream->next_out = buffer;
    stream->avail_out = (uInt)size;
    while (stream->avail_out > 0 && !inflating->ended) {
        int result = feed(inflating) ? inflate(stream, Z_NO_FLUSH) : Z_BUF_ERROR;
        inflating->cut_off = result != Z_OK && result != Z_STREAM_END;
        inflating->ended = result != Z_OK;
    }
    *got = size - stream->avail_out;
    if (inflating->error.status != TV_OK)
        *err = inflating->error;
    return inflating->error.status;
}

static struct inflating *start(struct tv_source *packed, const struct place *place)
{
    struct inflating *inflating = tv_alloc(1, sizeof *inflating);
    inflating->packed = packed;
    inflating->offset = place->start;
    inflating->returns = place->returns;
    inflating->ended = inflateInit(&inflating->stream) != Z_OK;
    return inflating;
}

/* Also tv_member.close. */
static void stop(void *context)
{
    struct inflating *inflating = context;
    inflateEnd(&inflating->stream);
    tv_free(inflating);
}

/* tv_member.is_cut */
static bool was_cut(const void *context)
{
    const struct inflating *inflating = context;
    return inflating->cut_off;
}

/* Whether a stream begins there from which something comes. */
static bool try_place(struct tv_bytes head, const struct place *place)
{
    uint8_t out[16];
    size_t got = 0;
    struct tv_error err;
    if (head.length < place->start + 2 || !is_header(head.data + place->start))
        return false;
    struct tv_source *source = tv_source_from_memory(head, "");
    struct inflating *inflating = start(source, place);
    bool good = read_text(inflating, out, sizeof out, &got, &err) == TV_OK && got > 0;
    stop(inflating);
    tv_source_free(source);
    return good;
}

static bool find_place(struct tv_bytes head, struct place *place)
{
    *place = (struct place){0, 0};
    return try_place(head, place) || (find_marker(head, place) && try_place(head, place));
}

bool tv_zlib_knows(struct tv_bytes head)
{
    struct place place;
    return find_place(head, &place);
}

enum tv_status tv_zlib_unpack(struct tv_taking *taking, struct tv_source *packed, bool *cut_off,
                              struct tv_error *err)
{
    uint8_t bytes[HEAD];
    struct tv_bytes head = {bytes, 0};
    struct place place;
    enum tv_status status = tv_source_read(packed, 0, bytes, sizeof bytes, &head.length, err);
    if (status != TV_OK)
        return status;
    if (!find_place(head, &place))
        return tv_fail(err, TV_ERR_SYNTAX, 0, "damaged container: no zlib stream begins in it");
    size_t marker = place.start > 0 ? sizeof "TRACE:" + place.returns : 0;
    if (place.start > marker)
        tv_taking_note(taking, "%zu bytes before the line \"TRACE:\" are left out",
                       place.start - marker);
    struct inflating *inflating = start(packed, &place);
    struct tv_member member = {
        .name = tv_source_name(packed),
        .read = read_text,
        .context = inflating,
    };
    bool grows = taking->question->as_it_comes, taken;
    if (grows) {
        member.close = stop;
        member.is_cut = was_cut;
    }
    status = tv_taking_add(taking, &member, &taken, err);
    if (grows && taken)
        return status;
    *cut_off = inflating->cut_off;
    stop(inflating);
    return status;
}

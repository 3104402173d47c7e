/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/gzip_tail.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"

#define PIECE ((size_t)64 * 1024)

/* zlib's largest window, and the flag for a gzip header. */
#define GZIP_WINDOW (15 + 16)

struct gzip_tail {
    struct tv_source *packed;
    z_stream stream;
    uint64_t offset; /* of the next packed byte to read */
    uint64_t skip;   /* unpacked bytes still to be dropped */
    uint8_t *buffer;
    size_t size, got;
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

static void gzip_tail_copy(struct gzip_tail *tail, size_t count)
{
    size_t skipped = count < tail->skip ? count : (size_t)tail->skip;
    size_t room = tail->size - tail->got, kept = count - skipped;
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

/* Return true when another stream begins behind the one that ended. */
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

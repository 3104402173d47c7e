/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip_out.c - compresses an output while it is written.
 *
 *     writer --> plain, a buffer --full--> deflate --> target
 */
#include "cli/output/gzip_out.h"

#include <assert.h>
#include <zlib.h>

#include "base/memory.h"

/* zlib's flag for a gzip header and trailer instead of its own. */
#define GZIP_MEMBER 16
/* Memory that zlib uses for its tables; 8 is its default. */
#define MEMORY_LEVEL 8
#define PACKED_ROOM 65536

struct tv_gzip_out {
    struct tv_out plain;
    struct tv_out *target;
    z_stream stream;
    uint8_t packed[PACKED_ROOM];
};

/* Compress bytes; Z_FINISH also ends the member.  deflate cannot fail: the stream is valid and
 * always has room. */
static void gzip_out_deflate(struct tv_gzip_out *gzip, int flush)
{
    do {
        gzip->stream.next_out = gzip->packed;
        gzip->stream.avail_out = PACKED_ROOM;
        (void)deflate(&gzip->stream, flush);
        tv_out_bytes(gzip->target,
                     (struct tv_bytes){gzip->packed, PACKED_ROOM - gzip->stream.avail_out});
    } while (gzip->stream.avail_out == 0);
    assert(gzip->stream.avail_in == 0);
}

/* Take a full buffer. */
static enum tv_status gzip_out_write(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_gzip_out *gzip = context;
    while (bytes.length > 0) {
        size_t part = bytes.length < UINT32_MAX ? bytes.length : UINT32_MAX;
        gzip->stream.next_in = (Bytef *)(uintptr_t)bytes.data;
        gzip->stream.avail_in = (uInt)part;
        gzip_out_deflate(gzip, Z_NO_FLUSH);
        bytes.data += part;
        bytes.length -= part;
    }
    if (tv_out_has_failed(gzip->target))
        *err = gzip->target->error;
    return gzip->target->error.status;
}

struct tv_gzip_out *tv_gzip_out_new(struct tv_out *target)
{
    struct tv_gzip_out *gzip = tv_alloc(1, sizeof *gzip);
    gzip->target = target;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_MEMBER,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        tv_memory_exhausted();
    tv_out_init(&gzip->plain, gzip_out_write, gzip);
    return gzip;
}

struct tv_out *tv_gzip_out_plain(struct tv_gzip_out *gzip)
{
    return &gzip->plain;
}

enum tv_status tv_gzip_out_finish(struct tv_gzip_out *gzip, struct tv_error *err)
{
    enum tv_status status = tv_out_finish(&gzip->plain, err);
    gzip->stream.next_in = NULL;
    gzip->stream.avail_in = 0;
    gzip_out_deflate(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    tv_out_release(&gzip->plain);
    tv_free(gzip);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/carry.h"

#include <string.h>
#include <zlib.h>

#include "base/base64.h"
#include "base/memory.h"

#define PIECE ((size_t)256 * 1024)

/* Packed bytes in one element, a multiple of 3. */
#define ELEMENT ((size_t)3 * 1024 * 1024)

/* zlib's largest window, with a gzip header. */
#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8

struct elements {
    struct tv_out *out;
    const char *what;
    struct tv_base64_encoder encoder;
    size_t left; /* in the element that is open; 0: none is */
};

static void end_element(struct elements *elements)
{
    tv_base64_encode_finish(&elements->encoder, elements->out);
    tv_out_text(elements->out, "</script>\n");
    elements->left = 0;
}

static void put(struct elements *elements, struct tv_bytes packed)
{
    while (packed.length > 0) {
        if (elements->left == 0) {
            tv_out_format(elements->out,
                          "<script type=\"application/octet-stream\" data-of=\"%s\">",
                          elements->what);
            elements->left = ELEMENT;
        }
        size_t size = packed.length < elements->left ? packed.length : elements->left;
        tv_base64_encode(&elements->encoder, (struct tv_bytes){packed.data, size}, elements->out);
        packed.data += size;
        packed.length -= size;
        elements->left -= size;
        if (elements->left == 0)
            end_element(elements);
    }
}

static void end(struct elements *elements)
{
    if (elements->left > 0)
        end_element(elements);
}

void tv_carry_packed(struct tv_out *out, const char *what, struct tv_bytes packed)
{
    struct elements elements = {.out = out, .what = what};
    put(&elements, packed);
    end(&elements);
}

struct packer {
    z_stream stream;
    uint8_t in[PIECE], out[PIECE];
};

/* Packs what stream.next_in has; with Z_FINISH all that is left. */
static void pack(struct packer *packer, int flush, struct elements *elements)
{
    z_stream *stream = &packer->stream;
    do {
        stream->next_out = packer->out;
        stream->avail_out = (uInt)PIECE;
        deflate(stream, flush); /* cannot fail: the stream is sound, and there is room */
        put(elements, (struct tv_bytes){packer->out, PIECE - stream->avail_out});
    } while (stream->avail_out == 0);
}

static enum tv_status pack_source(struct packer *packer, struct tv_source *source,
                                  struct elements *elements, struct tv_error *err)
{
    uint64_t offset = 0;
    size_t got = 0;
    do {
        enum tv_status status = tv_source_read(source, offset, packer->in, PIECE, &got, err);
        if (status != TV_OK)
            return status;
        offset += got;
        packer->stream.next_in = packer->in;
        packer->stream.avail_in = (uInt)got;
        pack(packer, got > 0 ? Z_NO_FLUSH : Z_FINISH, elements);
    } while (got > 0 && elements->out->error.status == TV_OK);
    return TV_OK;
}

enum tv_status tv_carry_source(struct tv_out *out, const char *what, struct tv_source *source,
                               struct tv_error *err)
{
    struct elements elements = {.out = out, .what = what};
    struct packer *packer = tv_alloc(1, sizeof *packer);
    if (deflateInit2(&packer->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        tv_memory_exhausted();
    enum tv_status status = pack_source(packer, source, &elements, err);
    end(&elements);
    deflateEnd(&packer->stream);
    tv_free(packer);
    return status;
}

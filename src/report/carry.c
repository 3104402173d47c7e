/* SPDX-License-Identifier: Apache-2.0 */
#include "report/carry.h"

#include <string.h>
#include <zlib.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "base/workers.h"

/* Bytes that one worker packs at a time, and room for them where they do not get smaller. */
#define BLOCK ((size_t)1024 * 1024)
#define BLOCK_ROOM (BLOCK + BLOCK / 8 + 1024)
#define MOST_BLOCKS 16u

/* Packed bytes in one element, a multiple of 3. */
#define ELEMENT ((size_t)3 * 1024 * 1024)

/* As far as deflate looks back (RFC 1951), and what zlib takes unless told. */
#define WINDOW ((size_t)32 * 1024)
#define MEMORY 8

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

/* ---- Packing ---- */

/* One stream of gzip (RFC 1952) of blocks that each end at a byte (Z_SYNC_FLUSH), so that several
 * workers pack them: what was before a block is its dictionary.  The bytes do not depend on how
 * many there are. */
struct packer {
    struct tv_source *source;
    uint64_t offset; /* of what is read next */
    uint8_t *in;     /* WINDOW bytes of before, of which `before` are there, then the blocks */
    size_t before, length;
    struct block {
        z_stream stream;
        uint8_t *out;
        size_t packed;
    } blocks[MOST_BLOCKS];
    unsigned count; /* of blocks that are packed at once */
    uint32_t crc;
};

static void put_u32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void packer_init(struct packer *packer, struct tv_source *source, unsigned workers)
{
    packer->source = source;
    packer->count = workers > 0 ? workers : tv_workers_available();
    if (packer->count > MOST_BLOCKS)
        packer->count = MOST_BLOCKS;
    while (packer->count > 1 && tv_source_size(source) <= (packer->count - 1) * (uint64_t)BLOCK)
        packer->count--;
    packer->in = tv_alloc(WINDOW + packer->count * BLOCK, 1);
    packer->crc = (uint32_t)crc32(0, NULL, 0);
    for (unsigned i = 0; i < packer->count; i++) {
        if (deflateInit2(&packer->blocks[i].stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS,
                         MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
            tv_memory_exhausted();
        packer->blocks[i].out = tv_alloc(BLOCK_ROOM, 1);
    }
}

static void packer_release(struct packer *packer)
{
    for (unsigned i = 0; i < packer->count; i++) {
        deflateEnd(&packer->blocks[i].stream);
        tv_free(packer->blocks[i].out);
    }
    tv_free(packer->in);
}

/* Reads as many blocks as are packed at once; fewer bytes than that: it was the end. */
static enum tv_status read_blocks(struct packer *packer, struct tv_error *err)
{
    size_t most = packer->count * BLOCK, got;
    packer->length = 0;
    do {
        enum tv_status status =
            tv_source_read(packer->source, packer->offset, packer->in + WINDOW + packer->length,
                           most - packer->length, &got, err);
        if (status != TV_OK)
            return status;
        packer->offset += got;
        packer->length += got;
    } while (got > 0 && packer->length < most);
    return TV_OK;
}

/* As a job. */
static void pack_block(void *context, unsigned index)
{
    struct packer *packer = context;
    struct block *block = &packer->blocks[index];
    z_stream *stream = &block->stream;
    size_t left = packer->length - index * BLOCK, known = index > 0 ? WINDOW : packer->before;
    uint8_t *in = packer->in + WINDOW + index * BLOCK;
    deflateReset(stream); /* these cannot fail: the stream is sound, and there is room */
    if (known > 0)
        deflateSetDictionary(stream, in - known, (uInt)known);
    stream->next_in = in;
    stream->avail_in = (uInt)(left < BLOCK ? left : BLOCK);
    stream->next_out = block->out;
    stream->avail_out = (uInt)BLOCK_ROOM;
    deflate(stream, Z_SYNC_FLUSH);
    block->packed = BLOCK_ROOM - stream->avail_out;
}

static void pack_blocks(struct packer *packer, struct elements *elements)
{
    unsigned count = (unsigned)((packer->length + BLOCK - 1) / BLOCK);
    if (count == 0)
        return;
    tv_workers_run(count, pack_block, packer);
    for (unsigned i = 0; i < count; i++)
        put(elements, (struct tv_bytes){packer->blocks[i].out, packer->blocks[i].packed});
    packer->crc = (uint32_t)crc32_z(packer->crc, packer->in + WINDOW, packer->length);
    memmove(packer->in, packer->in + packer->length, WINDOW);
    packer->before = packer->length < WINDOW ? packer->length : WINDOW;
}

static enum tv_status pack_source(struct packer *packer, struct elements *elements,
                                  struct tv_error *err)
{
    static const uint8_t header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 /* Unix */};
    uint8_t end[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0}; /* the last block, which is empty; the sums */
    put(elements, (struct tv_bytes){header, sizeof header});
    do {
        enum tv_status status = read_blocks(packer, err);
        if (status != TV_OK)
            return status;
        pack_blocks(packer, elements);
    } while (packer->length == packer->count * BLOCK && elements->out->error.status == TV_OK);
    put_u32(end + 2, packer->crc);
    put_u32(end + 6, (uint32_t)packer->offset);
    put(elements, (struct tv_bytes){end, sizeof end});
    return TV_OK;
}

enum tv_status tv_carry_source(struct tv_out *out, const char *what, struct tv_source *source,
                               unsigned workers, struct tv_error *err)
{
    struct elements elements = {.out = out, .what = what};
    struct packer packer = {.source = NULL};
    packer_init(&packer, source, workers);
    enum tv_status status = pack_source(&packer, &elements, err);
    end(&elements);
    packer_release(&packer);
    return status;
}

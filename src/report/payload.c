/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.c - compressed bytes in elements of an HTML page.
 */
#include "report/report.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "base/encoding.h"
#include "base/memory.h"
#include "base/workers.h"

/* Bytes that one worker compresses at a time, and the room for them when they do not shrink. */
#define BLOCK ((size_t)1024 * 1024)
#define BLOCK_ROOM (BLOCK + BLOCK / 8 + 1024)
#define MAX_BLOCKS 16u

/* Compressed bytes in one element: a multiple of 3, so that base64 needs no padding inside a
 * file. */
#define ELEMENT ((size_t)3 * 1024 * 1024)

/* The window of deflate (RFC 1951), and the default memory level of zlib. */
#define WINDOW ((size_t)32 * 1024)
#define MEMORY 8

struct payload_elements {
    struct tv_out *out;
    const char *name;
    struct tv_base64_encoder encoder;
    size_t left; /* bytes that still fit in the open element; 0: no element is open */
};

static void payload_element_end(struct payload_elements *elements)
{
    tv_base64_encode_finish(&elements->encoder, elements->out);
    tv_out_text(elements->out, "</script>\n");
    elements->left = 0;
}

/* Write packed bytes in Base64, in elements of at most ELEMENT bytes. */
static void payload_write(struct payload_elements *elements, struct tv_bytes packed)
{
    assert(elements->left <= ELEMENT);
    while (packed.length > 0) {
        if (elements->left == 0) {
            tv_out_format(elements->out,
                          "<script type=\"application/octet-stream\" data-of=\"%s\">",
                          elements->name);
            elements->left = ELEMENT;
        }
        size_t size = packed.length < elements->left ? packed.length : elements->left;
        tv_base64_encode(&elements->encoder, (struct tv_bytes){packed.data, size}, elements->out);
        packed.data += size;
        packed.length -= size;
        elements->left -= size;
        if (elements->left == 0)
            payload_element_end(elements);
    }
}

static void payload_finish(struct payload_elements *elements)
{
    if (elements->left > 0)
        payload_element_end(elements);
}

void tv_payload_write_packed(struct tv_out *out, const char *name, struct tv_bytes packed)
{
    struct payload_elements elements = {.out = out, .name = name};
    payload_write(&elements, packed);
    payload_finish(&elements);
}

/* ---- Compression ---- */

/* Writes one gzip stream (RFC 1952) on several threads. Each block ends at a byte boundary
 * (Z_SYNC_FLUSH) and uses the bytes in front of it as its dictionary, so that blocks can be
 * compressed in parallel and the output does not depend on the number of threads:
 *
 *     header | block 0 | block 1 | ... | empty last block | CRC-32, length */
struct payload_packer {
    struct tv_source *source;
    uint64_t offset; /* offset of the next byte to read */
    uint8_t *in;     /* WINDOW bytes of history, the last `before` of which are valid, then the
                      * blocks */
    size_t before, length;
    struct payload_block {
        z_stream stream;
        uint8_t *out;
        size_t packed;
    } blocks[MAX_BLOCKS];
    unsigned count; /* of blocks that are compressed in parallel */
    uint32_t crc;
};

static void payload_put_u32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Make room for one block a worker.  A small source gets fewer, as an empty block would only cost
 * memory. */
static void payload_packer_init(struct payload_packer *packer, struct tv_source *source,
                                unsigned workers)
{
    packer->source = source;
    packer->count = workers > 0 ? workers : tv_workers_available();
    if (packer->count > MAX_BLOCKS)
        packer->count = MAX_BLOCKS;
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

static void payload_packer_release(struct payload_packer *packer)
{
    for (unsigned i = 0; i < packer->count; i++) {
        deflateEnd(&packer->blocks[i].stream);
        tv_free(packer->blocks[i].out);
    }
    tv_free(packer->in);
}

/* Read as many blocks as are compressed in parallel. Fewer bytes mean the end of the source. */
static enum tv_status payload_read_blocks(struct payload_packer *packer, struct tv_error *err)
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

/* Compress block `index`; runs on a worker thread. */
static void payload_pack_block(void *context, unsigned index)
{
    struct payload_packer *packer = context;
    struct payload_block *block = &packer->blocks[index];
    z_stream *stream = &block->stream;
    size_t left = packer->length - index * BLOCK, known = index > 0 ? WINDOW : packer->before;
    uint8_t *in = packer->in + WINDOW + index * BLOCK;
    assert(index < packer->count && index * BLOCK < packer->length);
    deflateReset(stream); /* the calls below cannot fail: the stream is valid, and the output has
                           * room */
    if (known > 0)
        deflateSetDictionary(stream, in - known, (uInt)known);
    stream->next_in = in;
    stream->avail_in = (uInt)(left < BLOCK ? left : BLOCK);
    stream->next_out = block->out;
    stream->avail_out = (uInt)BLOCK_ROOM;
    deflate(stream, Z_SYNC_FLUSH);
    block->packed = BLOCK_ROOM - stream->avail_out;
}

/* Pack the collected blocks at the same time. Each sees the bytes before it, so that the result is
 * as small as if they were packed in one go. */
static void payload_pack_blocks(struct payload_packer *packer, struct payload_elements *elements)
{
    unsigned count = (unsigned)((packer->length + BLOCK - 1) / BLOCK);
    assert(packer->before <= WINDOW && packer->length <= packer->count * BLOCK);
    if (count == 0)
        return;
    tv_workers_run(count, payload_pack_block, packer);
    for (unsigned i = 0; i < count; i++)
        payload_write(elements, (struct tv_bytes){packer->blocks[i].out, packer->blocks[i].packed});
    packer->crc = (uint32_t)crc32_z(packer->crc, packer->in + WINDOW, packer->length);
    memmove(packer->in, packer->in + packer->length, WINDOW);
    packer->before = packer->length < WINDOW ? packer->length : WINDOW;
}

/* Write a source as one gzip member. Blocks are compressed apart (several at once) and joined; a
 * block that is not full is the last. Errors of the output end the loop and stay in it. */
static enum tv_status payload_pack_source(struct payload_packer *packer,
                                          struct payload_elements *elements, struct tv_error *err)
{
    static const uint8_t header[] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 0, 3 /* Unix */};
    /* An empty last block; then CRC-32 and length. */
    uint8_t trailer[] = {3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    payload_write(elements, (struct tv_bytes){header, sizeof header});
    do {
        enum tv_status status = payload_read_blocks(packer, err);
        if (status != TV_OK)
            return status;
        payload_pack_blocks(packer, elements);
    } while (packer->length == packer->count * BLOCK && elements->out->error.status == TV_OK);
    payload_put_u32(trailer + 2, packer->crc);
    payload_put_u32(trailer + 6, (uint32_t)packer->offset);
    payload_write(elements, (struct tv_bytes){trailer, sizeof trailer});
    return TV_OK;
}

enum tv_status tv_payload_write_source(struct tv_out *out, const char *name,
                                       struct tv_source *source, unsigned workers,
                                       struct tv_error *err)
{
    struct payload_elements elements = {.out = out, .name = name};
    struct payload_packer packer = {.source = NULL};
    payload_packer_init(&packer, source, workers);
    enum tv_status status = payload_pack_source(&packer, &elements, err);
    payload_finish(&elements);
    payload_packer_release(&packer);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - see memory.h. */
#define _GNU_SOURCE
#include "recorder/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *tv_mmap_alloc(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void tv_mmap_free(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size);
}

void *tv_mmap_grow(void *pages, size_t old_size, size_t size)
{
    assert(size >= old_size);
    if (!pages)
        return tv_mmap_alloc(size);
    void *grown = mremap(pages, old_size, size, MREMAP_MAYMOVE);
    return grown == MAP_FAILED ? NULL : grown;
}

/* ---- Byte buffers ---- */

/* No class file comes near this limit: constants, methods and code are counted in 16 bits each. */
#define CEILING ((size_t)1 << 30)

/* Make room for more bytes. A failure sticks: all later writes are dropped. */
static bool byte_buffer_reserve(struct tv_byte_buffer *out, size_t more)
{
    assert(out->length <= out->room);
    if (out->failed)
        return false;
    if (more <= out->room - out->length)
        return true;
    if (more > CEILING - out->length) {
        out->failed = true;
        return false;
    }
    size_t room = (out->length + more) * 2;
    uint8_t *data = realloc(out->data, room);
    if (data == NULL) {
        out->failed = true;
        return false;
    }
    out->data = data;
    out->room = room;
    return true;
}

void tv_byte_buffer_put(struct tv_byte_buffer *out, const void *bytes, size_t length)
{
    if (length == 0 || !byte_buffer_reserve(out, length))
        return;
    memcpy(out->data + out->length, bytes, length);
    out->length += length;
}

void tv_byte_buffer_put_u8(struct tv_byte_buffer *out, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    tv_byte_buffer_put(out, &byte, 1);
}

void tv_byte_buffer_put_u16(struct tv_byte_buffer *out, unsigned value)
{
    uint8_t bytes[2] = {(uint8_t)(value >> 8), (uint8_t)value};
    tv_byte_buffer_put(out, bytes, sizeof bytes);
}

void tv_byte_buffer_put_u32(struct tv_byte_buffer *out, uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                        (uint8_t)value};
    tv_byte_buffer_put(out, bytes, sizeof bytes);
}

void tv_byte_buffer_set_u16(struct tv_byte_buffer *out, size_t offset, unsigned value)
{
    if (out->failed)
        return;
    assert(offset + 2 <= out->length);
    out->data[offset] = (uint8_t)(value >> 8);
    out->data[offset + 1] = (uint8_t)value;
}

void tv_byte_buffer_set_u32(struct tv_byte_buffer *out, size_t offset, uint32_t value)
{
    if (out->failed)
        return;
    assert(offset + 4 <= out->length);
    for (unsigned i = 0; i < 4; i++)
        out->data[offset + i] = (uint8_t)(value >> (24 - 8 * i));
}

void tv_byte_buffer_release(struct tv_byte_buffer *out)
{
    free(out->data);
    *out = (struct tv_byte_buffer){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory of the recorder.
 *
 * The event core maps memory straight from the system: the host's malloc may be the very function
 * that is recorded, and a thread that has just crashed may hold its lock.
 */
#ifndef TV_RECORDER_MEMORY_H
#define TV_RECORDER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Map zeroed memory, of which only touched pages cost anything; NULL: there is none. */
void *tv_mmap_alloc(size_t size);
void tv_mmap_free(void *pages, size_t size);

/* Extend a mapping with zeros; it may move.  NULL: no memory, and the old mapping stays.
 * `pages` may be NULL with an old size of 0. */
void *tv_mmap_grow(void *pages, size_t old_size, size_t size);

/*
 * Bytes that grow at their end, big-endian as in class files and binary hprof, in memory of malloc.
 *
 * When memory runs out or the limit is reached, `failed` is set for good and later bytes are
 * dropped. So a writer appends everything and checks once, at the end.
 */

struct tv_byte_buffer {
    uint8_t *data;
    size_t length;
    size_t room;
    bool failed;
};

/* Append bytes. */
void tv_byte_buffer_put(struct tv_byte_buffer *out, const void *bytes, size_t length);
/* Append the lowest 8 bits. */
void tv_byte_buffer_put_u8(struct tv_byte_buffer *out, unsigned value);
/* Append the lowest 16 bits. */
void tv_byte_buffer_put_u16(struct tv_byte_buffer *out, unsigned value);
/* Append 32 bits. */
void tv_byte_buffer_put_u32(struct tv_byte_buffer *out, uint32_t value);

/* Overwrite bytes at `offset`, which must have been appended unless out->failed. */
void tv_byte_buffer_set_u16(struct tv_byte_buffer *out, size_t offset, unsigned value);
void tv_byte_buffer_set_u32(struct tv_byte_buffer *out, size_t offset, uint32_t value);

void tv_byte_buffer_release(struct tv_byte_buffer *out);

#endif

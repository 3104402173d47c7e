/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - memory straight from the system: the host's malloc may be the very thing that is
 * recorded, and may be locked by a thread that has just crashed.
 */
#ifndef TV_RECORDER_MEMORY_H
#define TV_RECORDER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, and taken from the machine only where it is touched; NULL: there is none. */
void *tv_mmap_alloc(size_t size);
void tv_mmap_free(void *pages, size_t size);

/* The same bytes with more zeros behind them, perhaps elsewhere; NULL, and the old ones stay, when
 * there is no memory.  `pages` may be NULL with an old size of 0. */
void *tv_mmap_grow(void *pages, size_t old_size, size_t size);

/*
 * growing.h - bytes that grow at their end, big-endian as class files and binary hprof want them.
 *
 * When memory runs out or the ceiling is reached, `failed` is set and stays so; what is put after
 * that is dropped.  So a writer puts everything and asks once, at the end.
 */

struct tv_byte_buffer {
    uint8_t *data;
    size_t length;
    size_t room;
    bool failed;
};

/* Puts bytes at the end. */
void tv_byte_buffer_put(struct tv_byte_buffer *out, const void *bytes, size_t length);
/* The lowest 8 bits. */
void tv_byte_buffer_put_u8(struct tv_byte_buffer *out, unsigned value);
/* The lowest 16 bits. */
void tv_byte_buffer_put_u16(struct tv_byte_buffer *out, unsigned value);
/* All 32 bits. */
void tv_byte_buffer_put_u32(struct tv_byte_buffer *out, uint32_t value);

/* Overwrite what was put at `offset`; the bytes must be there unless out->failed. */
void tv_byte_buffer_set_u16(struct tv_byte_buffer *out, size_t offset, unsigned value);
void tv_byte_buffer_set_u32(struct tv_byte_buffer *out, size_t offset, uint32_t value);

void tv_byte_buffer_release(struct tv_byte_buffer *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the only place that asks the system for memory.
 *
 * No function here returns NULL.  When memory runs out, one line goes to standard error and the
 * program ends with exit code 1: a viewer cannot do anything useful then, and no caller has an
 * error path that is never tested.  Sizes are multiplied with an overflow check.
 */
#ifndef TV_BASE_MEMORY_H
#define TV_BASE_MEMORY_H

#include "base/types.h"

/* Return count * size zeroed bytes; free them with tv_free.  A count of 0 gives a valid pointer. */
void *tv_alloc(size_t count, size_t size);

/* Resize to count * size bytes as realloc does; new bytes are not zeroed. */
void *tv_realloc(void *memory, size_t count, size_t size);

/* Free memory of tv_alloc or tv_realloc.  NULL is allowed. */
void tv_free(void *memory);

/* Return zeroed memory for a big table: whole pages, huge ones where the system has them, which
 * take memory only once touched.  A size below 64 KiB comes from tv_alloc instead.  Free it with
 * tv_pages_free and the same size. */
void *tv_pages_alloc(size_t size);
void tv_pages_free(void *memory, size_t size);

/* Announce that these bytes are read next in order, so that swapped ones are loaded ahead.  The
 * range should fit into memory. */
void tv_memory_prefetch(const void *bytes, size_t size);

/* Grow an array of `size`-byte elements to at least `needed` elements: double *capacity and return
 * the array, which may have moved.  New elements are not zeroed. */
void *tv_array_reserve(void *array, size_t *capacity, size_t needed, size_t size);

/* Return free pages of the heap to the system.  Use it after freeing much memory between blocks
 * that stay; with less than a megabyte free it does nothing.  10 MB take about a millisecond. */
void tv_memory_trim(void);

/* Return a * b and end the program on overflow: only for sizes that are already bounded. */
size_t tv_size_mul(size_t a, size_t b);

/* End the program because memory, or the 32-bit numbers that name things in it, ran out. */
_Noreturn void tv_memory_exhausted(void);

/*
 * An arena is memory with one lifetime: a trace has one, and so has an answer.
 */

struct tv_arena_block;

struct tv_arena {
    struct tv_arena_block *blocks;
    uint8_t *next;
    size_t left;
    size_t total; /* bytes requested from the system */
};

/* Initialise an empty arena, which owns nothing until the first tv_arena_alloc. */
void tv_arena_init(struct tv_arena *arena);

/* Free everything at once. */
void tv_arena_release(struct tv_arena *arena);

/* Return count * size zeroed bytes, aligned to 16, valid until tv_arena_release. */
void *tv_arena_alloc(struct tv_arena *arena, size_t count, size_t size);

/* Return a copy of the bytes with a NUL after them. */
char *tv_arena_text(struct tv_arena *arena, struct tv_bytes text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the only place that asks the system for memory.
 *
 * None of these returns NULL: when the system has no memory left, one line goes to standard error
 * and the program ends with exit code 1.  Sizes are multiplied with a check.  Memory comes zeroed.
 */
#ifndef TV_BASE_MEMORY_H
#define TV_BASE_MEMORY_H

#include "base/types.h"

/* count * size zeroed bytes, to be given back with tv_free. A count of 0 gives a valid pointer. */
void *tv_alloc(size_t count, size_t size);

/* As realloc to count * size bytes; what is new is not zeroed. */
void *tv_realloc(void *memory, size_t count, size_t size);

/* Gives back memory of tv_alloc or tv_realloc. NULL is fine. */
void tv_free(void *memory);

/* Zeroed memory for the big tables: whole pages, huge ones where the system has them, touched only
 * when used (what is smaller than 64 KiB lies among other small things).  Give back with
 * tv_pages_free and the same size. */
void *tv_pages_alloc(size_t size);
void tv_pages_free(void *memory, size_t size);

/* That these bytes, as many as fit well into memory, are read next, one behind the other. */
void tv_memory_expect(const void *bytes, size_t size);

/* Makes room for `needed` elements of `size` bytes in a growing array: doubles *capacity and
 * returns the array (perhaps moved; what is new is not zeroed). */
void *tv_array_reserve(void *array, size_t *capacity, size_t needed, size_t size);

/* Return free pages of the heap to the system. For use after much was freed between blocks that
 * stay; does nothing while less than a megabyte is free. Takes about a millisecond for 10 MB. */
void tv_memory_give_back(void);

/* a * b, ending the program when it does not fit: only for sizes that are already bounded. */
size_t tv_size_mul(size_t a, size_t b);

/* The end when memory, or the numbers that name things in it, run out. */
_Noreturn void tv_memory_exhausted(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap.h - memory in a file, for traces that are larger than the memory they may take.
 *
 * Once begun, blocks from TV_SWAP_FROM on (memory.h asks for them) lie in an unlinked temporary
 * file that is mapped: the system writes their pages out and drops them when it needs memory.  A
 * thread keeps what the process has resident below a budget: it takes pages away, which come back
 * from the file when they are touched.  Files that are mapped to be read are kept so, too.
 *
 *     file    one part of equal size for each class of blocks, of 2^14, 2^15, 2^16... bytes
 *     part    blocks of its class one behind the other, so that an address tells class and number
 *
 * The file has holes wherever nothing was used, and room on the disk is taken before a block is
 * given: a disk that is full ends the program with one line, as memory that is used up does.  Low:
 * it knows the system alone, and takes what it needs for itself from the C library.  A platform
 * file: POSIX, not compiled for WebAssembly.
 */
#ifndef TV_BASE_SWAP_H
#define TV_BASE_SWAP_H

#include "base/error.h"
#include "base/types.h"

/* Smaller blocks lie in ordinary memory: they are as many as threads and rows, not as events. */
#define TV_SWAP_FROM ((size_t)16 * 1024)

/* The smallest budget: what small blocks, stacks and the program itself take, and as much again. */
#define TV_SWAP_LEAST (UINT64_C(128) << 20)

#ifdef __wasm__

/* There is no file: blocks never lie in one. */
static inline bool tv_swap_wants(size_t size)
{
    (void)size;
    return false;
}

static inline bool tv_swap_owns(const void *memory)
{
    (void)memory;
    return false;
}

static inline void *tv_swap_alloc(size_t size, bool zeros)
{
    (void)size, (void)zeros;
    return NULL;
}

static inline void *tv_swap_realloc(void *memory, size_t size)
{
    (void)size;
    return memory;
}

static inline void tv_swap_free(void *memory)
{
    (void)memory;
}

static inline void tv_swap_expect(struct tv_bytes bytes)
{
    (void)bytes;
}

#else

/* Put memory into a file from now on, until the program ends.  The file lies in TMPDIR, else
 * /var/tmp.  TV_ERR_USAGE: less than TV_SWAP_LEAST; TV_ERR_IO: there is no place for the file, or
 * only one in memory.  Once only, before there are other threads. */
enum tv_status tv_swap_begin(uint64_t budget, struct tv_error *err) TV_MUST_CHECK;

/* Start the thread that keeps what is resident below the budget.  Apart from tv_swap_begin because
 * Landlock holds a thread only when whoever started it was held before. */
enum tv_status tv_swap_start_thread(struct tv_error *err) TV_MUST_CHECK;

/* Whether a block of that size is to lie in the file. */
bool tv_swap_wants(size_t size);

/* A block, aligned to its size; of zeros if `zeros`.  Ends the program when there is no room. */
void *tv_swap_alloc(size_t size, bool zeros);

/* As realloc of a block that tv_swap_owns; what is new is not zeroed. */
void *tv_swap_realloc(void *memory, size_t size);

/* Whether it is a block of the file, not given back. */
bool tv_swap_owns(const void *memory);
void tv_swap_free(void *memory);

/* A file that was mapped to be read, whose pages may be taken away as well; and that it is about to
 * be mapped no longer. */
void tv_swap_watch(struct tv_bytes mapped);
void tv_swap_forget(struct tv_bytes mapped);

/* That all of these bytes are read next, wherever they lie: what is in a file comes into memory at
 * once, instead of page by page.  Nothing before tv_swap_begin. */
void tv_swap_expect(struct tv_bytes bytes);

#endif

#endif

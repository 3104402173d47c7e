/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swap.h - memory in a private swap file, for traces larger than the memory they may use.
 *
 * After tv_swap_begin, blocks of TV_SWAP_FROM bytes and more (memory.h asks for them) live in an
 * unlinked temporary file that is mapped; the system writes their pages out when it needs memory.
 * A thread keeps the resident size of the process below a budget: it evicts pages, which return
 * from the file when they are touched.  Mapped input files are evicted in the same way.
 *
 * The file is sparse, but disk space is reserved before a block is handed out, so a full disk ends
 * the program with a message, as memory exhaustion does, instead of SIGBUS.
 *
 * The module sits below memory.h: it uses the C library for its own tables.  A platform file:
 * POSIX, not compiled for WebAssembly.
 */
#ifndef TV_BASE_SWAP_H
#define TV_BASE_SWAP_H

#include "base/error.h"
#include "base/types.h"

/* Smaller blocks stay in ordinary memory: their number grows with threads and rows, not with
 * events. */
#define TV_SWAP_FROM ((size_t)16 * 1024)

/* Smallest budget: twice what small blocks, stacks and the program itself need. */
#define TV_SWAP_MIN (UINT64_C(128) << 20)

#ifdef __wasm__

/* WebAssembly has no files: no block is ever in one. */
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

static inline void tv_swap_leave(void)
{
}

static inline void tv_swap_prefetch(struct tv_bytes bytes)
{
    (void)bytes;
}

#else

/* Put large blocks into a file from now on, for the life of the process.  The file is in TMPDIR, or
 * else in /var/tmp.  Call this once, before there are other threads.  TV_ERR_USAGE: `budget` is
 * below TV_SWAP_MIN; TV_ERR_IO: no file can be created, or only one in memory. */
enum tv_status tv_swap_begin(uint64_t budget, struct tv_error *err) TV_MUST_CHECK;

/* Start the thread that evicts pages.  It is separate from tv_swap_begin because Landlock confines
 * only threads whose creator was confined before. */
enum tv_status tv_swap_start_thread(struct tv_error *err) TV_MUST_CHECK;

/* Take no further blocks from the file: for a copy of the process (fork), since both would take the
 * same ones.  Blocks from before stay readable. */
void tv_swap_leave(void);

/* Return whether a block of this size belongs into the file. */
bool tv_swap_wants(size_t size);

/* Return a block, aligned to its size, zeroed if `zeros`.  A full disk ends the program. */
void *tv_swap_alloc(size_t size, bool zeros);

/* Resize a block that tv_swap_owns as realloc does; new bytes are not zeroed. */
void *tv_swap_realloc(void *memory, size_t size);

/* Return whether the pointer is a live block of the file. */
bool tv_swap_owns(const void *memory);
void tv_swap_free(void *memory);

/* Register a mapped input file, whose pages may be evicted, too; unregister it before unmapping. */
void tv_swap_watch(struct tv_bytes mapped);
void tv_swap_forget(struct tv_bytes mapped);

/* Load these bytes ahead, in one go instead of page by page, because they are read next.  Does
 * nothing before tv_swap_begin. */
void tv_swap_prefetch(struct tv_bytes bytes);

#endif

#endif

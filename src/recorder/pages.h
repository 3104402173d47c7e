/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - memory straight from the system: the host's malloc may be the very thing that is
 * recorded, and may be locked by a thread that has just crashed.
 */
#ifndef TV_RECORDER_PAGES_H
#define TV_RECORDER_PAGES_H

#include <stddef.h>

/* Zeroed, and taken from the machine only where it is touched; NULL: there is none. */
void *tv_mmap_alloc(size_t size);
void tv_mmap_free(void *pages, size_t size);

/* The same bytes with more zeros behind them, perhaps elsewhere; NULL, and the old ones stay, when
 * there is no memory.  `pages` may be NULL with an old size of 0. */
void *tv_mmap_grow(void *pages, size_t old_size, size_t size);

#endif

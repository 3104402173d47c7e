/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - memory straight from the system.
 */
#define _GNU_SOURCE
#include "recorder/pages.h"

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
    if (!pages)
        return tv_mmap_alloc(size);
    void *grown = mremap(pages, old_size, size, MREMAP_MAYMOVE);
    return grown == MAP_FAILED ? NULL : grown;
}

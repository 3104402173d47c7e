/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - memory from the C library and, for the big tables, whole pages from the system; or
 * from a file (swap.h).
 */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __wasm__
#include <malloc.h>
#include <sys/mman.h>
#endif

#include "base/swap.h"

/* A growing array starts with this many elements. */
#define FIRST_CAPACITY 16

/* No atexit handlers: this may be any thread, with anything half done. */
void tv_memory_exhausted(void)
{
    fputs("traceview: out of memory\n", stderr);
    _Exit(1);
}

#ifdef __GLIBC__

/* What is larger than this goes back to the system when it is freed.  The C library would raise the
 * limit to 32 MiB with the first large array that is freed: then what comes later is cut from the
 * heap, which stays as long as anything above it does. */
#define LARGE (1024 * 1024)

__attribute__((constructor)) static void keep_limits(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE);
}

#endif

size_t tv_size_mul(size_t a, size_t b)
{
    if (b != 0 && a > SIZE_MAX / b)
        tv_memory_exhausted();
    return a * b;
}

void *tv_alloc(size_t count, size_t size)
{
    size_t bytes = tv_size_mul(count, size);
    if (tv_swap_wants(bytes))
        return tv_swap_alloc(bytes, true);
    void *memory = calloc(bytes == 0 ? 1 : bytes, 1);
    if (memory == NULL)
        tv_memory_exhausted();
    return memory;
}

/* Of a block of the C library. */
static size_t usable_size(void *memory)
{
#ifdef __wasm__
    (void)memory;
    return 0;
#else
    return malloc_usable_size(memory);
#endif
}

static void *move_to_file(void *memory, size_t bytes)
{
    void *moved = tv_swap_alloc(bytes, false);
    size_t used = memory ? usable_size(memory) : 0;
    if (used > 0)
        memcpy(moved, memory, used < bytes ? used : bytes);
    free(memory);
    return moved;
}

void *tv_realloc(void *memory, size_t count, size_t size)
{
    size_t bytes = tv_size_mul(count, size);
    if (tv_swap_owns(memory))
        return tv_swap_realloc(memory, bytes);
    if (tv_swap_wants(bytes))
        return move_to_file(memory, bytes);
    void *moved = realloc(memory, bytes == 0 ? 1 : bytes);
    if (moved == NULL)
        tv_memory_exhausted();
    return moved;
}

void tv_free(void *memory)
{
    if (tv_swap_owns(memory))
        tv_swap_free(memory);
    else
        free(memory);
}

void tv_memory_give_back(void)
{
#ifdef __GLIBC__
    /* Trimming returns every free page, and the next small trace would fetch them all again. */
    if (mallinfo2().fordblks >= LARGE)
        malloc_trim(0);
#endif
}

void *tv_array_reserve(void *array, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return array;
    size_t wanted = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : SIZE_MAX;
    if (wanted < FIRST_CAPACITY)
        wanted = FIRST_CAPACITY;
    if (wanted < needed)
        wanted = needed;
    array = tv_realloc(array, wanted, size);
    *capacity = wanted;
    return array;
}

void tv_memory_expect(const void *bytes, size_t size)
{
    tv_swap_expect((struct tv_bytes){bytes, size});
}

#ifdef __wasm__

void *tv_pages_alloc(size_t size)
{
    return tv_alloc(size, 1);
}

void tv_pages_free(void *memory, size_t size)
{
    (void)size;
    tv_free(memory);
}

#else

/* The size of a huge page on x86-64 and of the usual one on arm64. */
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* A multiple of every ordinary page size. */
#define SMALL_STEP ((size_t)64 * 1024)

static size_t pages_size(size_t size)
{
    size_t step = size >= HUGE_PAGE ? HUGE_PAGE : SMALL_STEP;
    if (size > SIZE_MAX - 2 * HUGE_PAGE)
        tv_memory_exhausted();
    return (size + step - 1) / step * step;
}

static void *map_pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        tv_memory_exhausted();
    return memory;
}

void *tv_pages_alloc(size_t size)
{
    if (size < SMALL_STEP) /* many small tables must not take a page each */
        return tv_alloc(size, 1);
    if (tv_swap_wants(size))
        return tv_swap_alloc(size, true);
    size = pages_size(size);
    if (size < HUGE_PAGE)
        return map_pages(size);

    /* Only an aligned stretch can be huge pages: ask for one page more, give back both ends. */
    uint8_t *mapped = map_pages(size + HUGE_PAGE);
    size_t before = (HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0)
        munmap(mapped, before);
    if (before < HUGE_PAGE)
        munmap(mapped + before + size, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(mapped + before, size, MADV_HUGEPAGE); /* a wish: small pages will do */
#endif
    return mapped + before;
}

void tv_pages_free(void *memory, size_t size)
{
    if (size < SMALL_STEP || tv_swap_owns(memory))
        tv_free(memory);
    else if (memory != NULL)
        munmap(memory, pages_size(size));
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - memory from the C library, whole pages for big tables, blocks of the swap file
 * (swap.h), and arenas.
 *
 *     tv_alloc(size)  --budget set and size >= 16 KiB-->  swap file
 *                     --else-------------------------->  calloc
 *     tv_pages_alloc  --size < 64 KiB----------------->  tv_alloc     (1 MiB: tv_memory_keep)
 *                     --else-------------------------->  mmap, huge pages from 2 MiB on
 *     tv_pages_free   --mmap, after tv_memory_keep---->  kept for a block of the same size
 */
#include "base/memory.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __wasm__
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#endif

#include "base/heap.h"
#include "base/swap.h"
#include "base/types.h"

/* Initial capacity of a growing array. */
#define FIRST_CAPACITY 16

/* Free bytes of the heap that a process keeps after tv_memory_keep. */
#define KEPT_BYTES (32 * 1024 * 1024)

/* Skip atexit handlers: any thread may be here, with any data structure half changed. */
void tv_memory_exhausted(void)
{
    fputs("traceview: out of memory\n", stderr);
    _Exit(1);
}

#ifdef __GLIBC__

/* A block above this size returns to the system when it is freed.  Without a fixed limit glibc
 * raises it to 32 MiB when the first large array is freed; later arrays then come from the heap,
 * which cannot shrink while anything above them is alive. */
#define LARGE_BLOCK (1024 * 1024)

/* Free bytes of the heap that tv_memory_trim leaves alone. */
static size_t trimmed_from = LARGE_BLOCK;

__attribute__((constructor)) static void memory_fix_malloc_limits(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BLOCK);
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

/* Return the size of a block of the C library. */
static size_t heap_usable_size(void *memory)
{
#ifdef __wasm__
    (void)memory;
    return 0;
#else
    return malloc_usable_size(memory);
#endif
}

static void *memory_move_to_swap(void *memory, size_t bytes)
{
    void *moved = tv_swap_alloc(bytes, false);
    size_t used = memory ? heap_usable_size(memory) : 0;
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
        return memory_move_to_swap(memory, bytes);
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

void tv_memory_trim(void)
{
    /* A sanitizer's heap is another, and mallinfo2 then sets glibc's up, without a lock. */
#if defined(__GLIBC__) && !TV_IS_SANITIZED
    /* malloc_trim returns every free page, and the next small trace would fault them all in again.
     */
    if (mallinfo2().fordblks >= trimmed_from)
        malloc_trim(0);
#endif
}

void *tv_array_reserve(void *array, size_t *capacity, size_t needed, size_t size)
{
    assert(size > 0 && (array != NULL || *capacity == 0));
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

void tv_memory_prefetch(const void *bytes, size_t size)
{
    tv_swap_prefetch((struct tv_bytes){bytes, size});
}

#ifdef __wasm__

void tv_memory_keep(void)
{
}

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

/* The huge page size of x86-64, and the usual one of arm64. */
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

/* A multiple of every ordinary page size. */
#define SMALL_STEP ((size_t)64 * 1024)

/* Smaller tables come from the heap: they must not take a page each. */
static size_t pages_from = SMALL_STEP;

/* Blocks of pages that were freed after tv_memory_keep.  Fresh pages would be cleared by the kernel
 * one by one, when they are touched; that takes longer than to clear a block that is there. */
#define MAX_KEPT_BLOCKS 64u
#define MAX_KEPT_PAGES ((size_t)64 * 1024 * 1024)

static struct {
    pthread_mutex_t lock;
    bool is_used;
    size_t count, total; /* bytes */
    struct {
        void *memory;
        size_t size;
    } blocks[MAX_KEPT_BLOCKS];
} kept_pages = {.lock = PTHREAD_MUTEX_INITIALIZER};

void tv_memory_keep(void)
{
    pages_from = (size_t)1024 * 1024;
    kept_pages.is_used = true;
#ifdef __GLIBC__
    trimmed_from = KEPT_BYTES;
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

/* Take a kept block of this size; NULL: there is none. */
static void *pages_take_kept(size_t size)
{
    void *memory = NULL;
    pthread_mutex_lock(&kept_pages.lock);
    for (size_t i = kept_pages.count; i-- > 0 && !memory;) {
        if (kept_pages.blocks[i].size != size)
            continue;
        memory = kept_pages.blocks[i].memory;
        kept_pages.blocks[i] = kept_pages.blocks[--kept_pages.count];
        kept_pages.total -= size;
    }
    pthread_mutex_unlock(&kept_pages.lock);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

/* Keep a block.  False: there is no room for it. */
static bool pages_keep(void *memory, size_t size)
{
    pthread_mutex_lock(&kept_pages.lock);
    bool fits = kept_pages.count < MAX_KEPT_BLOCKS && size <= MAX_KEPT_PAGES - kept_pages.total;
    if (fits) {
        kept_pages.blocks[kept_pages.count].memory = memory;
        kept_pages.blocks[kept_pages.count++].size = size;
        kept_pages.total += size;
    }
    pthread_mutex_unlock(&kept_pages.lock);
    return fits;
}

static size_t pages_round_up(size_t size)
{
    size_t step = size >= HUGE_PAGE ? HUGE_PAGE : SMALL_STEP;
    if (size > SIZE_MAX - 2 * HUGE_PAGE)
        tv_memory_exhausted();
    return (size + step - 1) / step * step;
}

static void *pages_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        tv_memory_exhausted();
    return memory;
}

void *tv_pages_alloc(size_t size)
{
    if (size < pages_from)
        return tv_alloc(size, 1);
    if (tv_swap_wants(size))
        return tv_swap_alloc(size, true);
    size = pages_round_up(size);
    void *kept = kept_pages.is_used ? pages_take_kept(size) : NULL;
    if (kept)
        return kept;
    if (size < HUGE_PAGE)
        return pages_map(size);

    /* Huge pages need an aligned range: map one huge page more and unmap both ends. */
    uint8_t *mapped = pages_map(size + HUGE_PAGE);
    size_t before = (HUGE_PAGE - (uintptr_t)mapped % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0)
        munmap(mapped, before);
    if (before < HUGE_PAGE)
        munmap(mapped + before + size, HUGE_PAGE - before);
#ifdef MADV_HUGEPAGE
    madvise(mapped + before, size, MADV_HUGEPAGE); /* a hint: small pages work, too */
#endif
    return mapped + before;
}

void tv_pages_free(void *memory, size_t size)
{
    if (size < pages_from || tv_swap_owns(memory))
        tv_free(memory);
    else if (memory != NULL && !(kept_pages.is_used && pages_keep(memory, pages_round_up(size))))
        munmap(memory, pages_round_up(size));
}

#endif

/*
 * ---- Arenas ----
 *
 * A list of blocks; each is filled from both ends, aligned memory from the front and texts from the
 * back:
 *
 *     | header | aligned ...  ->      free      <- ... texts |
 *                              ^next      left ^
 */

#define ARENA_ALIGNMENT ((size_t)16)

/* One block serves a small answer; doubling serves a big trace with few blocks. */
#define ARENA_FIRST_BLOCK ((size_t)4 * 1024)
#define ARENA_LARGEST_BLOCK ((size_t)1024 * 1024)

/* Blocks of this size use whole pages. */
#define ARENA_PAGES_FROM ((size_t)2 * 1024 * 1024)

struct tv_arena_block {
    struct tv_arena_block *next;
    size_t size; /* including this header */
};

/* Size of the block header, rounded up to the alignment. */
#define ARENA_HEAD_SIZE ARENA_ALIGNMENT
_Static_assert(sizeof(struct tv_arena_block) <= ARENA_HEAD_SIZE, "the head fits");

void tv_arena_init(struct tv_arena *arena)
{
    *arena = (struct tv_arena){0};
}

void tv_arena_release(struct tv_arena *arena)
{
    struct tv_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct tv_arena_block *next = block->next;
        if (block->size >= ARENA_PAGES_FROM)
            tv_pages_free(block, block->size);
        else
            tv_free(block);
        block = next;
    }
    *arena = (struct tv_arena){0};
}

static struct tv_arena_block *arena_block_new(struct tv_arena *arena, size_t size)
{
    struct tv_arena_block *block =
        size >= ARENA_PAGES_FROM ? tv_pages_alloc(size) : tv_alloc(size, 1);
    block->size = size;
    arena->total += size;
    return block;
}

/* Return `size` bytes when the current block has too little room. */
static void *arena_alloc_in_new_block(struct tv_arena *arena, size_t size)
{
    size_t wanted = arena->blocks == NULL ? ARENA_FIRST_BLOCK : arena->total;
    if (wanted > ARENA_LARGEST_BLOCK)
        wanted = ARENA_LARGEST_BLOCK;

    if (size > wanted / 4 && arena->blocks != NULL) {
        /* Give a large request a block of its own after the current one, which stays in use. */
        struct tv_arena_block *own = arena_block_new(arena, ARENA_HEAD_SIZE + size);
        own->next = arena->blocks->next;
        arena->blocks->next = own;
        return (uint8_t *)own + ARENA_HEAD_SIZE;
    }

    if (wanted < ARENA_HEAD_SIZE + size)
        wanted = ARENA_HEAD_SIZE + size;
    struct tv_arena_block *block = arena_block_new(arena, wanted);
    block->next = arena->blocks;
    arena->blocks = block;
    arena->next = (uint8_t *)block + ARENA_HEAD_SIZE + size;
    arena->left = wanted - ARENA_HEAD_SIZE - size;
    return (uint8_t *)block + ARENA_HEAD_SIZE;
}

void *tv_arena_alloc(struct tv_arena *arena, size_t count, size_t size)
{
    size_t bytes = tv_size_mul(count, size);
    size_t places = bytes / ARENA_ALIGNMENT + (bytes % ARENA_ALIGNMENT != 0) + (bytes == 0);
    /* Leave room for a header in the overflow check. */
    bytes = tv_size_mul(places + 1, ARENA_ALIGNMENT) - ARENA_ALIGNMENT;
    if (bytes > arena->left)
        return arena_alloc_in_new_block(arena, bytes);
    void *memory = arena->next;
    assert((uintptr_t)memory % ARENA_ALIGNMENT == 0);
    arena->next += bytes;
    arena->left -= bytes;
    return memory;
}

char *tv_arena_text(struct tv_arena *arena, struct tv_bytes text)
{
    char *copy;
    if (text.length < arena->left) {
        /* Texts come from the end of the block, where nothing needs alignment. */
        arena->left -= text.length + 1;
        copy = (char *)arena->next + arena->left;
    } else {
        copy = tv_arena_alloc(arena, text.length + 1, 1);
    }
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    return copy;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - a list of blocks, carved from both ends: what is aligned from the front, texts from the
 * back.
 */
#include "base/arena.h"

#include <string.h>

#include "base/memory.h"

#define ALIGNMENT ((size_t)16)

/* An answer to one request fits into the first block; a big trace does not need thousands. */
#define FIRST_BLOCK ((size_t)4 * 1024)
#define LARGEST_BLOCK ((size_t)1024 * 1024)

/* Blocks from this size on are whole pages. */
#define PAGES_FROM ((size_t)2 * 1024 * 1024)

struct tv_arena_block {
    struct tv_arena_block *next;
    size_t size; /* with this head */
};

/* What the head takes of a block. */
#define HEAD_SIZE ALIGNMENT
_Static_assert(sizeof(struct tv_arena_block) <= HEAD_SIZE, "the head fits");

void tv_arena_init(struct tv_arena *arena)
{
    *arena = (struct tv_arena){0};
}

void tv_arena_release(struct tv_arena *arena)
{
    struct tv_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct tv_arena_block *next = block->next;
        if (block->size >= PAGES_FROM)
            tv_pages_free(block, block->size);
        else
            tv_free(block);
        block = next;
    }
    *arena = (struct tv_arena){0};
}

static struct tv_arena_block *new_block(struct tv_arena *arena, size_t size)
{
    struct tv_arena_block *block = size >= PAGES_FROM ? tv_pages_alloc(size) : tv_alloc(size, 1);
    block->size = size;
    arena->total += size;
    return block;
}

/* Gives `size` bytes that the current block has no room for. */
static void *alloc_from_new_block(struct tv_arena *arena, size_t size)
{
    size_t wanted = arena->blocks == NULL ? FIRST_BLOCK : arena->total;
    if (wanted > LARGEST_BLOCK)
        wanted = LARGEST_BLOCK;

    if (size > wanted / 4 && arena->blocks != NULL) {
        /* A block of its own, behind the current one, whose rest stays in use. */
        struct tv_arena_block *own = new_block(arena, HEAD_SIZE + size);
        own->next = arena->blocks->next;
        arena->blocks->next = own;
        return (uint8_t *)own + HEAD_SIZE;
    }

    if (wanted < HEAD_SIZE + size)
        wanted = HEAD_SIZE + size;
    struct tv_arena_block *block = new_block(arena, wanted);
    block->next = arena->blocks;
    arena->blocks = block;
    arena->next = (uint8_t *)block + HEAD_SIZE + size;
    arena->left = wanted - HEAD_SIZE - size;
    return (uint8_t *)block + HEAD_SIZE;
}

void *tv_arena_alloc(struct tv_arena *arena, size_t count, size_t size)
{
    size_t bytes = tv_size_mul(count, size);
    size_t places = bytes / ALIGNMENT + (bytes % ALIGNMENT != 0) + (bytes == 0);
    /* With room for a head: what is too big for that is too big for everything. */
    bytes = tv_size_mul(places + 1, ALIGNMENT) - ALIGNMENT;
    if (bytes > arena->left)
        return alloc_from_new_block(arena, bytes);
    void *memory = arena->next;
    arena->next += bytes;
    arena->left -= bytes;
    return memory;
}

char *tv_arena_text(struct tv_arena *arena, struct tv_bytes text)
{
    char *copy;
    if (text.length < arena->left) {
        /* From the block's end, where it needs no alignment. */
        arena->left -= text.length + 1;
        copy = (char *)arena->next + arena->left;
    } else {
        copy = tv_arena_alloc(arena, text.length + 1, 1);
    }
    if (text.length > 0)
        memcpy(copy, text.data, text.length);
    return copy;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - memory that lives and dies together: one arena a trace, one an answer.
 */
#ifndef TV_BASE_ARENA_H
#define TV_BASE_ARENA_H

#include "base/types.h"

struct tv_arena_block;

struct tv_arena {
    struct tv_arena_block *blocks;
    uint8_t *next;
    size_t left;
    size_t total; /* bytes asked of the system */
};

/* An empty arena; owns nothing until the first tv_arena_alloc. */
void tv_arena_init(struct tv_arena *arena);

/* Gives everything back. */
void tv_arena_release(struct tv_arena *arena);

/* count * size zeroed bytes, aligned to 16, valid until tv_arena_release. */
void *tv_arena_alloc(struct tv_arena *arena, size_t count, size_t size);

/* A copy of the bytes with a NUL behind them. */
char *tv_arena_text(struct tv_arena *arena, struct tv_bytes text);

#endif

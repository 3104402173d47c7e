/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_uses.h - which entries of the tables of stack frames the events name: the tables may stand
 * behind them, so that what is not there is found out at the end.
 */
#ifndef TV_READERS_TE_USES_H
#define TV_READERS_TE_USES_H

#include "base/map.h"
#include "base/types.h"

struct tv_interner;

/* A key that events of one process name. */
struct tv_te_use {
    uint32_t process;
    uint32_t key;    /* of the text in the interner */
    uint64_t offset; /* of the first event */
    uint64_t count;
};

/* Zeroed at first. */
struct tv_te_uses {
    struct tv_interner *keys;
    struct tv_map index; /* (process, key) -> row */
    struct tv_te_use *rows;
    size_t count, capacity;
};

void tv_te_uses_release(struct tv_te_uses *uses);

/* Counts so many events more. */
void tv_te_uses_add(struct tv_te_uses *uses, uint32_t process, struct tv_bytes key, uint64_t offset,
                    uint64_t count);

#endif

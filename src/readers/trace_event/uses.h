/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uses.h - which entries of the tables of stack frames the events name: the tables may stand
 * behind them, so that what is not there is found out at the end.
 */
#ifndef TV_READERS_TRACE_EVENT_USES_H
#define TV_READERS_TRACE_EVENT_USES_H

#include "base/error.h"
#include "base/map.h"
#include "base/types.h"

struct tv_interner;

/* So many events of a key keep their place: most keys are known, and then nobody asks. */
#define TV_TE_STACK_USE_OFFSETS 8

/* A key that events of one process name. */
struct tv_te_stack_use {
    uint32_t process;
    uint32_t key; /* of the text in the interner */
    uint64_t count;
    uint64_t offsets[TV_TE_STACK_USE_OFFSETS]; /* of the first events */
};

/* Zeroed at first. */
struct tv_te_stack_uses {
    struct tv_interner *keys;
    struct tv_map index; /* (process, key) -> row */
    struct tv_te_stack_use *rows;
    size_t count, capacity;
};

void tv_te_stack_uses_release(struct tv_te_stack_uses *uses);

/* Counts one event more. */
void tv_te_stack_uses_add(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                    uint64_t offset);

/* Counts what one chunk counted of a key. */
void tv_te_stack_uses_merge(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                      const struct tv_te_stack_use *use);

/* The place of an event by its number, or TV_NO_OFFSET: it was not kept. */
static inline uint64_t tv_te_stack_use_offset(const struct tv_te_stack_use *use, uint64_t nth)
{
    return nth < TV_TE_STACK_USE_OFFSETS ? use->offsets[nth] : TV_NO_OFFSET;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - the tables of stack frames of a file: "stackFrames", and those that metadata events
 * give to processes.
 */
#ifndef TV_READERS_TRACE_EVENT_STACKS_H
#define TV_READERS_TRACE_EVENT_STACKS_H

#include "readers/trace_event/events.h"

struct tv_te_stacks {
    struct tv_te_context *context;
    struct tv_map numbers; /* (process or TV_NONE, string of the key) -> row of the trace's table */
};

/* Reads the tables into trace->tables.stack_frames, each entry with its path. */
void tv_te_stacks_init(struct tv_te_stacks *stacks, struct tv_te_context *context);
void tv_te_stacks_release(struct tv_te_stacks *stacks);

/* The path of an entry by its raw key: of the whole file, else of the process. TV_NONE: unknown. */
uint32_t tv_te_stacks_find(struct tv_te_stacks *stacks, struct tv_bytes key, uint32_t process);

/* Counts the events, of all but samples, whose entry no table has. */
void tv_te_stacks_check_uses(struct tv_te_stacks *stacks);

/* The path of a raw array of names, the root first. */
uint32_t tv_te_stacks_path(struct tv_te_stacks *stacks, struct tv_bytes array);

#endif

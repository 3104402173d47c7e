/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_parts.h - internal header of the class rewriter: the code of one method. */
#ifndef TV_RECORDER_AGENT_REWRITE_PARTS_H
#define TV_RECORDER_AGENT_REWRITE_PARTS_H

#include <assert.h>

#include "recorder/agent/classfile.h"
#include "recorder/memory.h"

/* In a map: no instruction starts here. */
#define TV_NOWHERE UINT32_MAX

/* A hook pushes the id (3 bytes) and calls the hook method (3 bytes). */
#define TV_HOOK_BYTES 6u

/* Constant pool indices of the constants that the rewriter adds. */
struct tv_rewrite_constants {
    unsigned enter;
    unsigned exit;
    unsigned unroll;
    unsigned caught;
    unsigned throwable;
    unsigned frames; /* "StackMapTable" */
    unsigned made;
    unsigned handled;
};

struct tv_rewrite_code {
    const struct tv_classfile *file;
    const struct tv_rewrite_constants *constants;
    bool is_constructor;

    unsigned max_stack;
    unsigned max_locals;
    const uint8_t *at; /* the instructions; not owned */
    uint32_t length;
    struct tv_class_cursor tables; /* the exception table, then the attributes */
    unsigned first_line;           /* 0: unknown */

    /* New place of each instruction and of the end (length + 1 entries); elsewhere TV_NOWHERE. */
    uint32_t *map;
    bool *catches;    /* for each old place: a handler starts there, so a caught hook precedes it */
    uint32_t handler; /* new place of the added handler, after all instructions */
    uint32_t
        guard_from;   /* old place where the added handler's range starts; `length`: no handler */
    uint32_t made_at; /* old place where a constructor calls the made hook; TV_NOWHERE: it has no
                         handlers after super() */
};

/* First pass: parse the code, choose the new place of each instruction and the range of the added
 * handler. Return false when the code is malformed, too long, or without memory. Call
 * tv_rewrite_code_release in either case. */
bool tv_rewrite_code_plan(struct tv_rewrite_code *code, struct tv_class_span attribute);
void tv_rewrite_code_release(struct tv_rewrite_code *code);

/* Second pass: write the contents of the Code attribute. `push` is the index of an Integer constant
 * with the id, or 0 if the id fits into sipush. Return false when a branch became too long or a
 * table is malformed; the caller must then discard what was written. */
bool tv_rewrite_code_put(struct tv_rewrite_code *code, uint32_t id, unsigned push,
                         struct tv_byte_buffer *out);

/* Return the new place of the instruction itself; `map` leads to the caught hook before it. */
static inline uint32_t tv_rewrite_code_place(const struct tv_rewrite_code *code, uint32_t at)
{
    assert(code->map[at] != TV_NOWHERE);
    return code->map[at] + (code->catches[at] ? TV_HOOK_BYTES : 0);
}

static inline bool tv_rewrite_code_is_guarded(const struct tv_rewrite_code *code)
{
    return code->guard_from < code->length;
}

/* Write the exception table, with the added handler if the code is guarded. */
bool tv_rewrite_handlers_put(const struct tv_rewrite_code *code, struct tv_class_cursor *tables,
                             struct tv_byte_buffer *out);

/* Write the attributes of the code. */
bool tv_rewrite_attributes_put(const struct tv_rewrite_code *code, struct tv_class_cursor *tables,
                               struct tv_byte_buffer *out);

/* Return the line of the method's first instruction, or 0. */
unsigned tv_rewrite_first_line(const struct tv_rewrite_code *code, struct tv_class_cursor tables);

/* The entries of a new StackMapTable (JVMS 4.7.4). Each entry has the long form of its type. `late`
 * tells that a constructor has an entry after guard_from in which `this` is uninitialized: then
 * the method must not be guarded. */
struct tv_rewrite_frames {
    struct tv_byte_buffer bytes; /* the entries, without their count */
    unsigned count;
    uint32_t last; /* new place of the last entry; TV_NOWHERE before the first */
    bool late;
};
bool tv_rewrite_frames_read(const struct tv_rewrite_code *code, struct tv_class_span table,
                            struct tv_rewrite_frames *frames);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_parts.h - what the files of the rewriter share: one method's code on its way. */
#ifndef TV_RECORDER_AGENT_REWRITE_PARTS_H
#define TV_RECORDER_AGENT_REWRITE_PARTS_H

#include "recorder/agent/classfile.h"
#include "recorder/memory.h"

/* No instruction starts here. */
#define TV_NOWHERE UINT32_MAX

/* Every hook is a push of the id (3 bytes) and a call (3 bytes). */
#define TV_HOOK_BYTES 6u

/* Indices of the constants that the rewriter adds. */
struct tv_rewrite_constants {
    unsigned enter;
    unsigned exit;
    unsigned unroll;
    unsigned caught;
    unsigned throwable;
    unsigned frames; /* the text "StackMapTable" */
    unsigned made;
    unsigned handled;
};

struct tv_rewrite_code {
    const struct tv_classfile *file;
    const struct tv_rewrite_constants *constants;
    bool is_constructor;

    unsigned max_stack;
    unsigned max_locals;
    const uint8_t *at; /* the instructions */
    uint32_t length;
    struct tv_class_cursor tables; /* behind them: handlers, then attributes */
    unsigned first_line;           /* 0 when not said */

    /* New place of each old one: of instructions, and of the end; else TV_NOWHERE. */
    uint32_t *map;
    bool *catches;       /* of each old place: a handler starts there, so a hook stands before it */
    uint32_t handler;    /* new place of the handler: the end of what is kept */
    uint32_t guard_from; /* old place from which on the handler covers; `length`: not at all */
    uint32_t made_at;    /* old place before which a constructor says that it is past super(); or
                            TV_NOWHERE: it has no handlers behind */
};

/*
 * Reads the code, decides where each instruction goes and how far the handler covers.  False: not
 * understood, too long or no memory.  Release in either case.
 */
bool tv_rewrite_code_plan(struct tv_rewrite_code *code, struct tv_class_span attribute);
void tv_rewrite_code_release(struct tv_rewrite_code *code);

/* Puts the attribute's bytes; `push` is the index of an integer constant, or 0: the id fits in 15
 * bits.  False: a jump became too long, or a table is not understood; what was put is then void. */
bool tv_rewrite_code_put(struct tv_rewrite_code *code, uint32_t id, unsigned push,
                         struct tv_byte_buffer *out);

/* Where the instruction itself goes that stands at `at`: the map leads to the hook of a handler
 * that starts with it. */
static inline uint32_t tv_rewrite_code_place(const struct tv_rewrite_code *code, uint32_t at)
{
    return code->map[at] + (code->catches[at] ? TV_HOOK_BYTES : 0);
}

static inline bool tv_rewrite_code_is_guarded(const struct tv_rewrite_code *code)
{
    return code->guard_from < code->length;
}

/* The handlers, with one more when the code is guarded. */
bool tv_rewrite_handlers_put(const struct tv_rewrite_code *code, struct tv_class_cursor *tables,
                             struct tv_byte_buffer *out);

/* The attributes of the code. */
bool tv_rewrite_attributes_put(const struct tv_rewrite_code *code, struct tv_class_cursor *tables,
                               struct tv_byte_buffer *out);

/* The first line that a table of lines names for the method's start, 0 when there is none. */
unsigned tv_rewrite_first_line(const struct tv_rewrite_code *code, struct tv_class_cursor tables);

/*
 * Frames (JVMS 4.7.4).  Puts each at its new place, in the long form of its kind.  *starts_late
 * says whether a constructor has a frame behind guard_from in which the object is not yet one: then
 * it may not be guarded.
 */
struct tv_rewrite_frames {
    struct tv_byte_buffer bytes; /* without the count */
    unsigned count;
    uint32_t last; /* new place of the last one, TV_NOWHERE before the first */
    bool late;
};
bool tv_rewrite_frames_read(const struct tv_rewrite_code *code, struct tv_class_span table,
                            struct tv_rewrite_frames *frames);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_frames.c - the frames of a StackMapTable at their new places.
 *
 * A frame stands at the one before plus its delta plus one, the first at its delta.  Short forms
 * have no room for longer deltas, so each becomes the long form of the same meaning.
 */
#include "recorder/agent/rewrite_parts.h"

enum {
    SAME_LAST = 63,
    SAME_WITH_STACK_LAST = 127,
    SAME_WITH_STACK_LONG = 247,
    CHOP_FIRST = 248,
    SAME_LONG = 251,
    APPEND_LAST = 254,
    FULL = 255,
};

enum { UNINITIALIZED_THIS = 6, OBJECT = 7, UNINITIALIZED = 8 };

/* Puts `count` types; a type "made at" names the place of its `new`. */
static bool stack_map_put_types(const struct tv_rewrite_code *code, struct tv_class_cursor *cursor,
                                unsigned count, struct tv_growing *out)
{
    for (; count > 0; count--) {
        unsigned type = tv_class_take_u8(cursor);
        unsigned more = type == OBJECT || type == UNINITIALIZED ? tv_class_take_u16(cursor) : 0;
        if (cursor->bad || type > UNINITIALIZED)
            return false;
        tv_growing_put_u8(out, type);
        if (type == OBJECT)
            tv_growing_put_u16(out, more);
        if (type != UNINITIALIZED)
            continue;
        if (more >= code->length || code->map[more] == TV_NOWHERE)
            return false;
        tv_growing_put_u16(out, tv_rewrite_code_place(code, more));
    }
    return true;
}

/* What stands between a frame's kind and its types. */
struct stack_map_frame_head {
    unsigned kind; /* in its long form */
    unsigned delta;
};

static struct stack_map_frame_head stack_map_read_frame_head(struct tv_class_cursor *cursor)
{
    unsigned kind = tv_class_take_u8(cursor);
    if (kind <= SAME_LAST)
        return (struct stack_map_frame_head){SAME_LONG, kind};
    if (kind <= SAME_WITH_STACK_LAST)
        return (struct stack_map_frame_head){SAME_WITH_STACK_LONG, kind - SAME_LAST - 1};
    if (kind < SAME_WITH_STACK_LONG)
        cursor->bad = true; /* reserved */
    return (struct stack_map_frame_head){kind, tv_class_take_u16(cursor)};
}

static bool stack_map_put_full_frame(const struct tv_rewrite_code *code,
                                     struct tv_class_cursor *cursor, struct tv_growing *out,
                                     bool *late)
{
    unsigned locals = tv_class_take_u16(cursor);
    /* The object itself is the first variable. */
    *late = locals > 0 && cursor->at < cursor->end && *cursor->at == UNINITIALIZED_THIS;
    tv_growing_put_u16(out, locals);
    if (!stack_map_put_types(code, cursor, locals, out))
        return false;
    unsigned stack = tv_class_take_u16(cursor);
    tv_growing_put_u16(out, stack);
    return stack_map_put_types(code, cursor, stack, out);
}

static bool stack_map_put_frame(const struct tv_rewrite_code *code, struct tv_class_cursor *cursor,
                                struct stack_map_frame_head head, struct tv_rewrite_frames *frames,
                                bool *late)
{
    if (head.kind == FULL)
        return stack_map_put_full_frame(code, cursor, &frames->bytes, late);
    if (head.kind == SAME_WITH_STACK_LONG)
        return stack_map_put_types(code, cursor, 1, &frames->bytes);
    if (head.kind > SAME_LONG && head.kind <= APPEND_LAST)
        return stack_map_put_types(code, cursor, head.kind - SAME_LONG, &frames->bytes);
    return true; /* same and chop have no types */
}

bool tv_rewrite_frames_read(const struct tv_rewrite_code *code, struct tv_class_span table,
                            struct tv_rewrite_frames *frames)
{
    struct tv_class_cursor cursor = {table.data, table.data + table.length, false};
    uint32_t at = TV_NOWHERE; /* so that the first delta lands on itself */
    bool late = code->is_constructor;
    for (unsigned i = tv_class_take_u16(&cursor); i > 0; i--) {
        struct stack_map_frame_head head = stack_map_read_frame_head(&cursor);
        at += head.delta + 1;
        if (cursor.bad || at >= code->length || code->map[at] == TV_NOWHERE)
            return false;
        tv_growing_put_u8(&frames->bytes, head.kind);
        tv_growing_put_u16(&frames->bytes, code->map[at] - frames->last - 1);
        frames->last = code->map[at];
        if (!stack_map_put_frame(code, &cursor, head, frames, &late))
            return false;
        frames->late = frames->late || (late && at >= code->guard_from);
        frames->count++;
    }
    return !cursor.bad && cursor.at == cursor.end;
}

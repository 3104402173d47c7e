/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_tables.c - class rewriting: the tables of a method's code.
 *
 * The exception table, LineNumberTable, LocalVariableTable, LocalVariableTypeTable and
 * StackMapTable name places in the code. Each place is looked up in the map of the first pass.
 *
 *     before                        after
 *     0  body                       0  enter hook
 *                                   h  body                      map[0] = h
 *     e  handler of `try`           e' caught hook, handler      map[e] = e'
 *                                   H  added handler: exit hook, throw again
 *
 * Ranges that begin at 0 for a debugger (lines, variables) also cover the enter hook.  Ranges of
 * exceptions do not: an exception in the hook is no exception of the method.
 *
 * The verifier of the JVM checks the result.  Whatever does not fit is therefore refused here, and
 * the method stays as it was: a class that cannot be loaded would end the program that is recorded.
 */
#include <assert.h>

#include "recorder/agent/rewrite_parts.h"

/* JVMS 4.10: class files need a StackMapTable from this version on. */
#define FIRST_WITH_FRAMES 50

#define FULL_FRAME 255
#define IS_OBJECT 7

/* Find the new place of an instruction, or of the end of the code. False: the table names a place
 * inside an instruction. */
static bool code_tables_place(const struct tv_rewrite_code *code, unsigned at, uint32_t *to)
{
    if (at > code->length || code->map[at] == TV_NOWHERE)
        return false;
    *to = code->map[at];
    return true;
}

/* A handler whose range starts at the handler itself (javac emits these for synchronized) must not
 * cover its caught hook: a StackOverflowError in the hook would enter the handler again, for ever.
 */
static bool code_tables_place_range(const struct tv_rewrite_code *code, unsigned at,
                                    unsigned handler, uint32_t *to)
{
    if (!code_tables_place(code, at, to))
        return false;
    if (at == handler)
        *to = tv_rewrite_code_place(code, at);
    return true;
}

bool tv_rewrite_handlers_put(const struct tv_rewrite_code *code, struct tv_class_cursor *tables,
                             struct tv_byte_buffer *out)
{
    assert(code->map != NULL);
    assert(code->guard_from <= code->length);
    bool guarded = tv_rewrite_code_is_guarded(code);
    unsigned count = tv_class_take_u16(tables);
    if (count + guarded > UINT16_MAX)
        return false;
    tv_byte_buffer_put_u16(out, count + guarded);
    for (unsigned i = 0; i < count; i++) {
        uint32_t from, to, target;
        unsigned start = tv_class_take_u16(tables);
        unsigned end = tv_class_take_u16(tables);
        unsigned handler = tv_class_take_u16(tables);
        if (!code_tables_place_range(code, start, handler, &from) ||
            !code_tables_place(code, end, &to) || !code_tables_place(code, handler, &target) ||
            target == code->handler)
            return false;
        tv_byte_buffer_put_u16(out, from);
        tv_byte_buffer_put_u16(out, to);
        tv_byte_buffer_put_u16(out, target);
        tv_byte_buffer_put_u16(out, tv_class_take_u16(tables));
    }
    if (guarded) {
        tv_byte_buffer_put_u16(out, code->map[code->guard_from]);
        tv_byte_buffer_put_u16(out, code->handler);
        tv_byte_buffer_put_u16(out, code->handler);
        tv_byte_buffer_put_u16(out, 0);
    }
    return !tables->bad;
}

/* A line or variable that starts at 0 also covers the enter hook. */
static bool code_tables_place_start(const struct tv_rewrite_code *code, unsigned at, uint32_t *to)
{
    if (!code_tables_place(code, at, to))
        return false;
    if (at == 0)
        *to = 0;
    return true;
}

/* Move the places of lines. */
static bool code_tables_put_lines(const struct tv_rewrite_code *code, struct tv_class_span table,
                                  struct tv_byte_buffer *out)
{
    struct tv_class_cursor cursor = {table.data, table.data + table.length, false};
    unsigned count = tv_class_take_u16(&cursor);
    tv_byte_buffer_put_u16(out, count);
    for (unsigned i = 0; i < count; i++) {
        uint32_t to;
        unsigned at = tv_class_take_u16(&cursor);
        if (at >= code->length || !code_tables_place_start(code, at, &to))
            return false;
        tv_byte_buffer_put_u16(out, to);
        tv_byte_buffer_put_u16(out, tv_class_take_u16(&cursor));
    }
    return !cursor.bad && cursor.at == cursor.end;
}

/* Move the ranges of local variables {start, length, 6 more bytes}.  A range of length 0 stays
 * empty. */
static bool code_tables_put_variables(const struct tv_rewrite_code *code,
                                      struct tv_class_span table, struct tv_byte_buffer *out)
{
    struct tv_class_cursor cursor = {table.data, table.data + table.length, false};
    unsigned count = tv_class_take_u16(&cursor);
    tv_byte_buffer_put_u16(out, count);
    for (unsigned i = 0; i < count; i++) {
        unsigned at = tv_class_take_u16(&cursor);
        unsigned length = tv_class_take_u16(&cursor);
        struct tv_class_span rest = tv_class_take(&cursor, 6);
        uint32_t from, to;
        if (cursor.bad || !code_tables_place_start(code, at, &from) ||
            !code_tables_place(code, at + length, &to))
            return false;
        tv_byte_buffer_put_u16(out, from);
        tv_byte_buffer_put_u16(out, length == 0 ? 0 : to - from);
        tv_byte_buffer_put(out, rest.data, rest.length);
    }
    return !cursor.bad && cursor.at == cursor.end;
}

/* Write a table of lines or variables with the length it had: places move, but none is added. */
static bool code_tables_put(const struct tv_rewrite_code *code, struct tv_class_attribute attribute,
                            bool lines, struct tv_byte_buffer *out)
{
    tv_byte_buffer_put_u16(out, attribute.name);
    tv_byte_buffer_put_u32(out, (uint32_t)attribute.bytes.length);
    return lines ? code_tables_put_lines(code, attribute.bytes, out)
                 : code_tables_put_variables(code, attribute.bytes, out);
}

/* Stack map entry of the added handler: no known variables, a Throwable on the stack. */
static void code_tables_add_handler_frame(const struct tv_rewrite_code *code,
                                          struct tv_rewrite_frames *frames)
{
    assert(frames->last == TV_NOWHERE || frames->last < code->handler);
    tv_byte_buffer_put_u8(&frames->bytes, FULL_FRAME);
    tv_byte_buffer_put_u16(&frames->bytes, code->handler - frames->last - 1);
    tv_byte_buffer_put_u16(&frames->bytes, 0);
    tv_byte_buffer_put_u16(&frames->bytes, 1);
    tv_byte_buffer_put_u8(&frames->bytes, IS_OBJECT);
    tv_byte_buffer_put_u16(&frames->bytes, code->constants->throwable);
    frames->count++;
}

/* Write the StackMapTable over the new places, with a frame for the handler that was added.  False:
 * it cannot be written, and the method stays as it was. */
static bool code_tables_put_frames(const struct tv_rewrite_code *code, struct tv_class_span table,
                                   struct tv_byte_buffer *out)
{
    struct tv_rewrite_frames frames = {.last = TV_NOWHERE};
    bool fine = tv_rewrite_frames_read(code, table, &frames) &&
                !(frames.late && tv_rewrite_code_is_guarded(code));
    if (tv_rewrite_code_is_guarded(code))
        code_tables_add_handler_frame(code, &frames);
    tv_byte_buffer_put_u16(out, code->constants->frames);
    tv_byte_buffer_put_u32(out, (uint32_t)frames.bytes.length + 2);
    tv_byte_buffer_put_u16(out, frames.count);
    tv_byte_buffer_put(out, frames.bytes.data, frames.bytes.length);
    fine = fine && !frames.bytes.failed && frames.count <= UINT16_MAX;
    tv_byte_buffer_release(&frames.bytes);
    return fine;
}

enum table_kind { OTHER, LINES, VARIABLES, FRAMES };

static enum table_kind code_tables_kind_of(const struct tv_classfile *file, unsigned name)
{
    if (tv_classfile_text_is(file, name, "LineNumberTable"))
        return LINES;
    if (tv_classfile_text_is(file, name, "StackMapTable"))
        return FRAMES;
    if (tv_classfile_text_is(file, name, "LocalVariableTable") ||
        tv_classfile_text_is(file, name, "LocalVariableTypeTable"))
        return VARIABLES;
    return OTHER;
}

bool tv_rewrite_attributes_put(const struct tv_rewrite_code *code, struct tv_class_cursor *tables,
                               struct tv_byte_buffer *out)
{
    static const uint8_t none[2] = {0, 0};
    struct tv_class_span frames = {none, sizeof none};
    bool has_frames = tv_rewrite_code_is_guarded(code) && code->file->major >= FIRST_WITH_FRAMES;
    unsigned kept = 0;
    size_t count_at = out->length;
    tv_byte_buffer_put_u16(out, 0);
    for (unsigned i = tv_class_take_u16(tables); i > 0; i--) {
        struct tv_class_attribute attribute = tv_class_take_attribute(tables);
        enum table_kind kind = code_tables_kind_of(code->file, attribute.name);
        if (tables->bad)
            return false;
        if (kind == FRAMES) {
            frames = attribute.bytes;
            has_frames = true;
        } else if (kind != OTHER) {
            kept++;
            if (!code_tables_put(code, attribute, kind == LINES, out))
                return false;
        }
    }
    if (has_frames && !code_tables_put_frames(code, frames, out))
        return false;
    tv_byte_buffer_set_u16(out, count_at, kept + has_frames);
    return tables->at == tables->end;
}

unsigned tv_rewrite_first_line(const struct tv_rewrite_code *code, struct tv_class_cursor tables)
{
    tv_class_take(&tables, (size_t)8 * tv_class_take_u16(&tables));
    for (unsigned i = tv_class_take_u16(&tables); i > 0 && !tables.bad; i--) {
        struct tv_class_attribute attribute = tv_class_take_attribute(&tables);
        if (!tables.bad && attribute.bytes.length >= 6 &&
            code_tables_kind_of(code->file, attribute.name) == LINES)
            return tv_class_get_u16(attribute.bytes.data + 4);
    }
    return 0;
}

/*
 * ---- StackMapTable ----
 *
 * The place of an entry is that of the previous entry plus its delta plus 1; the first entry is at
 * its delta. The hooks lengthen the deltas, which may not fit the short forms, so each entry takes
 * the long form of its type.
 */

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

/* Copy `count` verification types. An Uninitialized type names the place of its `new` instruction,
 * which moves. */
static bool stack_map_put_types(const struct tv_rewrite_code *code, struct tv_class_cursor *cursor,
                                unsigned count, struct tv_byte_buffer *out)
{
    for (; count > 0; count--) {
        unsigned type = tv_class_take_u8(cursor);
        unsigned more = type == OBJECT || type == UNINITIALIZED ? tv_class_take_u16(cursor) : 0;
        if (cursor->bad || type > UNINITIALIZED)
            return false;
        tv_byte_buffer_put_u8(out, type);
        if (type == OBJECT)
            tv_byte_buffer_put_u16(out, more);
        if (type != UNINITIALIZED)
            continue;
        if (more >= code->length || code->map[more] == TV_NOWHERE)
            return false;
        tv_byte_buffer_put_u16(out, tv_rewrite_code_place(code, more));
    }
    return true;
}

/* The type and delta of an entry. */
struct stack_map_frame_head {
    unsigned kind; /* the type of the long form */
    unsigned delta;
};

/* Read the type and the delta of an entry, whichever form it has. */
static struct stack_map_frame_head stack_map_read_frame_head(struct tv_class_cursor *cursor)
{
    unsigned kind = tv_class_take_u8(cursor);
    if (kind <= SAME_LAST)
        return (struct stack_map_frame_head){SAME_LONG, kind};
    if (kind <= SAME_WITH_STACK_LAST)
        return (struct stack_map_frame_head){SAME_WITH_STACK_LONG, kind - SAME_LAST - 1};
    if (kind < SAME_WITH_STACK_LONG)
        cursor->bad = true; /* types 128 to 246 are reserved */
    return (struct stack_map_frame_head){kind, tv_class_take_u16(cursor)};
}

static bool stack_map_put_full_frame(const struct tv_rewrite_code *code,
                                     struct tv_class_cursor *cursor, struct tv_byte_buffer *out,
                                     bool *late)
{
    unsigned locals = tv_class_take_u16(cursor);
    /* In a constructor, variable 0 is `this`. */
    *late = locals > 0 && cursor->at < cursor->end && *cursor->at == UNINITIALIZED_THIS;
    tv_byte_buffer_put_u16(out, locals);
    if (!stack_map_put_types(code, cursor, locals, out))
        return false;
    unsigned stack = tv_class_take_u16(cursor);
    tv_byte_buffer_put_u16(out, stack);
    return stack_map_put_types(code, cursor, stack, out);
}

/* Copy what follows the delta of an entry. *late becomes true while `this` of a constructor is not
 * initialised. */
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
    return true; /* same_frame and chop_frame have no types */
}

bool tv_rewrite_frames_read(const struct tv_rewrite_code *code, struct tv_class_span table,
                            struct tv_rewrite_frames *frames)
{
    struct tv_class_cursor cursor = {table.data, table.data + table.length, false};
    uint32_t at = TV_NOWHERE; /* -1, so that the first delta counts from 0 */
    bool late = code->is_constructor;
    for (unsigned i = tv_class_take_u16(&cursor); i > 0; i--) {
        struct stack_map_frame_head head = stack_map_read_frame_head(&cursor);
        at += head.delta + 1;
        if (cursor.bad || at >= code->length || code->map[at] == TV_NOWHERE)
            return false;
        tv_byte_buffer_put_u8(&frames->bytes, head.kind);
        tv_byte_buffer_put_u16(&frames->bytes, code->map[at] - frames->last - 1);
        frames->last = code->map[at];
        if (!stack_map_put_frame(code, &cursor, head, frames, &late))
            return false;
        frames->late = frames->late || (late && at >= code->guard_from);
        frames->count++;
    }
    return !cursor.bad && cursor.at == cursor.end;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_code.c - class rewriting: the instructions of one method, in two passes.
 *
 * The first pass (tv_rewrite_code_plan) walks the old instructions and fills the map from old to
 * new places. The second pass (tv_rewrite_code_put) writes the instructions to these places and
 * looks up each branch target in the map. One pass could not do it: a forward branch needs the
 * place of an instruction that has not been visited yet.
 *
 *     old place         0               5                  6                   9 (length)
 *     old code         [a           ] [return          ] [c, a handler     ]
 *     new code   enter [a           ] exit [return     ] caught [c         ] unroll, athrow
 *     map              ^6             ^11                ^18                 ^27 (handler)
 *
 * An entry of the map is the place of the hook that precedes an instruction, so a branch to a
 * return or a handler runs its hook. Two hooks are before the mapped place, and no branch reaches
 * them: enter and made. Places inside an instruction map to TV_NOWHERE, and a branch to one
 * makes the method stay as it is. A switch needs care: its padding depends on its place, so
 * its length changes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/agent/classfile.h"
#include "recorder/agent/rewrite_parts.h"

#define LONGEST_CODE 65535u
#define DEEPEST_STACK 65535u

/* Does the invokespecial call a constructor of this class or of its superclass? */
static bool code_calls_own_constructor(const struct tv_rewrite_code *code, const uint8_t *method,
                                       struct tv_class_span *called)
{
    const struct tv_classfile *file = code->file;
    struct tv_class_span own, parent = {NULL, 0};
    return tv_classfile_class_name(file, tv_class_get_u16(method), called) &&
           tv_classfile_class_name(file, file->this_class, &own) &&
           (file->super_class == 0 || tv_classfile_class_name(file, file->super_class, &parent)) &&
           ((called->length == own.length && memcmp(called->data, own.data, own.length) == 0) ||
            (called->length == parent.length && parent.length > 0 &&
             memcmp(called->data, parent.data, parent.length) == 0));
}

static const uint8_t *code_note_constructor_call(const struct tv_classfile *file, unsigned index)
{
    const uint8_t *method = tv_classfile_constant(file, index, TV_CONSTANT_METHOD);
    if (method == NULL)
        return NULL;
    const uint8_t *name =
        tv_classfile_constant(file, tv_class_get_u16(method + 2), TV_CONSTANT_NAME_AND_TYPE);
    bool is = name != NULL && tv_classfile_text_is(file, tv_class_get_u16(name), "<init>");
    return is ? method : NULL;
}

static void code_set_guard(struct tv_rewrite_code *code, uint32_t from)
{
    code->guard_from = from;
    if (from < code->length && memchr(code->catches + from, true, code->length - from) != NULL)
        code->made_at = from;
}

/* Find the call of this() or super(). Objects created for its arguments are counted: their
 * constructors are called first, so the call that remains is this() or super(). */
static void code_watch_constructor(struct tv_rewrite_code *code, uint32_t at, uint32_t bytes,
                                   uint32_t *made)
{
    struct tv_class_span called;
    if (code->guard_from < code->length)
        return;
    if (code->at[at] == TV_OP_NEW)
        ++*made;
    if (code->at[at] != TV_OP_INVOKESPECIAL)
        return;
    const uint8_t *method =
        code_note_constructor_call(code->file, tv_class_get_u16(code->at + at + 1));
    if (method == NULL)
        return;
    if (*made > 0)
        --*made;
    else if (code_calls_own_constructor(code, method, &called))
        code_set_guard(code, at + bytes);
}

/* Find the new place of each instruction: hooks go before the first one, before each that leaves
 * the method, at handlers, and in constructors after the call of super().  False: the code is
 * damaged, or would be too long for a method. */
static bool code_place_instructions(struct tv_rewrite_code *code)
{
    uint64_t to = TV_HOOK_BYTES;
    uint32_t made = 0;
    memset(code->map, 0xFF, ((size_t)code->length + 1) * sizeof code->map[0]);
    for (uint32_t at = 0; at < code->length;) {
        uint32_t bytes = tv_opcode_length(code->at, at, code->length);
        enum tv_opcode_kind kind = tv_opcode_kind(code->at[at]);
        if (bytes == 0)
            return false;
        if (at == code->made_at)
            to += TV_HOOK_BYTES;
        code->map[at] = (uint32_t)to;
        if (code->catches[at])
            to += TV_HOOK_BYTES;
        if (kind == TV_OP_LEAVE)
            to += TV_HOOK_BYTES;
        to += bytes;
        if (kind == TV_OP_SWITCH) { /* its padding depends on the place */
            uint32_t place = tv_rewrite_code_place(code, at);
            to += tv_opcode_switch_start(place) - place;
            to -= tv_opcode_switch_start(at) - at;
        }
        if (code->is_constructor)
            code_watch_constructor(code, at, bytes, &made);
        at += bytes;
    }
    /* The added handler: a hook and athrow. */
    if (to + TV_HOOK_BYTES + 1 > LONGEST_CODE)
        return false;
    code->handler = (uint32_t)to;
    code->map[code->length] = (uint32_t)to;
    return true;
}

/* Mark the places where handlers start. Return false when the exception table is malformed. */
static bool code_mark_handlers(struct tv_rewrite_code *code, struct tv_class_cursor tables)
{
    for (unsigned i = tv_class_take_u16(&tables); i > 0 && !tables.bad; i--) {
        tv_class_take(&tables, 4); /* start_pc, end_pc */
        unsigned handler = tv_class_take_u16(&tables);
        tv_class_take_u16(&tables);
        if (handler >= code->length)
            return false;
        code->catches[handler] = true;
    }
    return !tables.bad;
}

bool tv_rewrite_code_plan(struct tv_rewrite_code *code, struct tv_class_span attribute)
{
    struct tv_class_cursor cursor = {attribute.data, attribute.data + attribute.length, false};
    code->map = NULL;
    code->catches = NULL;
    code->max_stack = tv_class_take_u16(&cursor);
    code->max_locals = tv_class_take_u16(&cursor);
    code->length = tv_class_take_u32(&cursor);
    code->at = tv_class_take(&cursor, code->length).data;
    code->tables = cursor;
    if (cursor.bad || code->length == 0 || code->length > LONGEST_CODE ||
        code->max_stack >= DEEPEST_STACK)
        return false;
    code->guard_from = code->is_constructor ? code->length : 0;
    code->made_at = TV_NOWHERE;
    code->map = malloc(((size_t)code->length + 1) * sizeof code->map[0]);
    code->catches = calloc((size_t)code->length + 1, sizeof code->catches[0]);
    if (code->map == NULL || code->catches == NULL || !code_mark_handlers(code, cursor) ||
        !code_place_instructions(code))
        return false;
    code->first_line = tv_rewrite_first_line(code, cursor);
    return true;
}

void tv_rewrite_code_release(struct tv_rewrite_code *code)
{
    free(code->map);
    free(code->catches);
    code->map = NULL;
    code->catches = NULL;
}

static void code_put_hook(struct tv_byte_buffer *out, uint32_t id, unsigned push, unsigned hook)
{
    tv_byte_buffer_put_u8(out, push == 0 ? TV_OP_SIPUSH : TV_OP_LDC_W);
    tv_byte_buffer_put_u16(out, push == 0 ? id : push);
    tv_byte_buffer_put_u8(out, TV_OP_INVOKESTATIC);
    tv_byte_buffer_put_u16(out, hook);
}

/* Compute the new branch offset of the instruction at `from`. Return false when the old target is
 * no instruction. */
static bool code_move_jump(const struct tv_rewrite_code *code, uint32_t from, uint32_t new_from,
                           int64_t distance, int32_t *moved)
{
    assert(from < code->length && code->map[from] != TV_NOWHERE);
    int64_t to = (int64_t)from + distance;
    if (to < 0 || to >= code->length || code->map[to] == TV_NOWHERE)
        return false;
    *moved = (int32_t)((int64_t)code->map[to] - (int64_t)new_from);
    return true;
}

/* Write a jump over its new distance.  A short one that no longer reaches is not made a long one,
 * which would move everything after it: the method stays as it was. */
static bool code_put_jump(const struct tv_rewrite_code *code, uint32_t at, uint32_t to,
                          struct tv_byte_buffer *out)
{
    bool wide = tv_opcode_kind(code->at[at]) == TV_OP_WIDE_JUMP;
    int64_t distance = wide ? (int32_t)tv_class_get_u32(code->at + at + 1)
                            : (int16_t)tv_class_get_u16(code->at + at + 1);
    int32_t moved;
    if (!code_move_jump(code, at, to, distance, &moved))
        return false;
    if (!wide && (moved < INT16_MIN || moved > INT16_MAX))
        return false;
    tv_byte_buffer_put_u8(out, code->at[at]);
    if (wide)
        tv_byte_buffer_put_u32(out, (uint32_t)moved);
    else
        tv_byte_buffer_put_u16(out, (unsigned)moved & 0xFFFF);
    return true;
}

/* Write one target of the switch at `at`; `number` points to the old offset. */
static bool code_put_distance(const struct tv_rewrite_code *code, uint32_t at,
                              const uint8_t *number, struct tv_byte_buffer *out)
{
    int32_t moved;
    uint32_t place = tv_rewrite_code_place(code, at);
    if (!code_move_jump(code, at, place, (int32_t)tv_class_get_u32(number), &moved))
        return false;
    tv_byte_buffer_put_u32(out, (uint32_t)moved);
    return true;
}

/* Write a switch at its new place: the padding before its table changes with the place, and each
 * distance with the hooks in between. */
static bool code_put_switch(const struct tv_rewrite_code *code, uint32_t at, uint32_t bytes,
                            struct tv_byte_buffer *out)
{
    bool table = code->at[at] == TV_OP_TABLESWITCH;
    uint32_t to = tv_rewrite_code_place(code, at), start = tv_opcode_switch_start(at);
    const uint8_t *numbers = code->at + start, *end = code->at + at + bytes;
    tv_byte_buffer_put_u8(out, code->at[at]);
    for (uint32_t pad = to + 1; pad < tv_opcode_switch_start(to); pad++)
        tv_byte_buffer_put_u8(out, 0);
    if (!code_put_distance(code, at, numbers, out))
        return false;
    size_t head = table ? 8 : 4; /* low and high, or npairs */
    tv_byte_buffer_put(out, numbers + 4, head);
    for (numbers += 4 + head; numbers < end; numbers += 4) {
        if (!table) {
            tv_byte_buffer_put(out, numbers, 4);
            numbers += 4;
        }
        if (!code_put_distance(code, at, numbers, out))
            return false;
    }
    return true;
}

static bool code_put_instruction(const struct tv_rewrite_code *code, uint32_t at, uint32_t bytes,
                                 struct tv_byte_buffer *out)
{
    switch (tv_opcode_kind(code->at[at])) {
    case TV_OP_JUMP:
    case TV_OP_WIDE_JUMP:
        return code_put_jump(code, at, tv_rewrite_code_place(code, at), out);
    case TV_OP_SWITCH:
        return code_put_switch(code, at, bytes, out);
    case TV_OP_PLAIN:
    case TV_OP_LEAVE:
        tv_byte_buffer_put(out, code->at + at, bytes);
        return true;
    }
    return false;
}

/* Write the instructions with their hooks, as code_place_instructions has placed them.  False: a
 * jump does not reach its new target. */
static bool code_put_instructions(const struct tv_rewrite_code *code, uint32_t id, unsigned push,
                                  struct tv_byte_buffer *out)
{
    code_put_hook(out, id, push, code->constants->enter);
    for (uint32_t at = 0; at < code->length;) {
        uint32_t bytes = tv_opcode_length(code->at, at, code->length);
        if (at == code->made_at)
            code_put_hook(out, id, push, code->constants->made);
        if (code->catches[at])
            code_put_hook(out, id, push,
                          at >= code->made_at ? code->constants->handled : code->constants->caught);
        if (tv_opcode_kind(code->at[at]) == TV_OP_LEAVE)
            code_put_hook(out, id, push, code->constants->exit);
        if (!code_put_instruction(code, at, bytes, out))
            return false;
        at += bytes;
    }
    if (tv_rewrite_code_is_guarded(code)) {
        code_put_hook(out, id, push, code->constants->unroll);
        tv_byte_buffer_put_u8(out, TV_OP_ATHROW);
    }
    return true;
}

bool tv_rewrite_code_put(struct tv_rewrite_code *code, uint32_t id, unsigned push,
                         struct tv_byte_buffer *out)
{
    assert(id != 0);
    assert(code->map != NULL && code->map[code->length] == code->handler);
    struct tv_class_cursor tables = code->tables;
    /* The added handler pushes the id on top of the exception. */
    unsigned max_stack = code->max_stack < 1 ? 2 : code->max_stack + 1;
    tv_byte_buffer_put_u16(out, max_stack);
    tv_byte_buffer_put_u16(out, code->max_locals);
    tv_byte_buffer_put_u32(out, code->handler +
                                    (tv_rewrite_code_is_guarded(code) ? TV_HOOK_BYTES + 1 : 0));
    return code_put_instructions(code, id, push, out) &&
           tv_rewrite_handlers_put(code, &tables, out) &&
           tv_rewrite_attributes_put(code, &tables, out) && !out->failed;
}

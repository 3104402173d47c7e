/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a type as a list of operations, so that reading a value looks at no names.
 *
 *     jdk.ExecutionSample {long startTime, Thread sampledThread, StackTrace stackTrace, ...}
 *         VARINT -> slot 0, VARINT -> slot 1, VARINT -> slot 2, (VARINT)
 *
 * Fields of inlined structs follow in place.  An array is one operation and, after it, those of
 * one element.  The list ends for good reasons only: the number of operations, of fields looked at,
 * and the depth are limited, so a type in a circle or one that doubles at each level is unusable.
 */
#include <assert.h>
#include <string.h>

#include "readers/jfr/chunk.h"
#include "wire/little_endian.h"

#define MAX_OPS 4096u
#define MAX_FIELDS 65536u
#define MAX_INLINED 32u

struct jfr_compiler {
    const struct tv_jfr_chunk *chunk;
    const char *const *names;
    unsigned name_count;
    struct tv_jfr_program program;
    size_t capacity;
    uint32_t fields; /* looked at so far */
};

/* Append an operation. `noted` is the length of the list up to the last one that stores a value:
 * nothing after it has to be read. */
static void jfr_emit(struct jfr_compiler *c, struct tv_jfr_op op)
{
    struct tv_jfr_program *program = &c->program;
    if (program->count >= MAX_OPS) {
        program->unusable = true;
        return;
    }
    program->ops =
        tv_array_reserve(program->ops, &c->capacity, program->count + 1, sizeof *program->ops);
    program->ops[program->count++] = op;
    if (op.slot != TV_JFR_NO_SLOT)
        program->noted = program->count;
}

/* Return the slot of a field of the outermost type; TV_JFR_NO_SLOT: nobody wants it. */
static uint8_t jfr_slot_of(const struct jfr_compiler *c, struct tv_bytes name)
{
    for (unsigned i = 0; i < c->name_count; i++)
        if (c->names[i] && tv_bytes_equal(name, tv_bytes_of(c->names[i])))
            return (uint8_t)i;
    return TV_JFR_NO_SLOT;
}

static void jfr_compile_struct(struct jfr_compiler *c, uint32_t type, unsigned depth);

/* One value of a kind; a struct's fields follow. */
static void jfr_compile_value(struct jfr_compiler *c, uint32_t type, uint8_t kind, uint8_t slot,
                              unsigned depth)
{
    static const struct {
        uint8_t code, width, sign;
    } codes[] = {
        [TV_JFR_STRUCT] = {TV_JFR_OP_STRUCT, 0, 0}, [TV_JFR_BOOLEAN] = {TV_JFR_OP_RAW, 1, 0},
        [TV_JFR_BYTE] = {TV_JFR_OP_RAW, 1, 8},      [TV_JFR_CHAR] = {TV_JFR_OP_VARINT, 2, 0},
        [TV_JFR_SHORT] = {TV_JFR_OP_VARINT, 2, 16}, [TV_JFR_INT] = {TV_JFR_OP_VARINT, 4, 32},
        [TV_JFR_LONG] = {TV_JFR_OP_VARINT, 8, 0},   [TV_JFR_FLOAT] = {TV_JFR_OP_RAW, 4, 0},
        [TV_JFR_DOUBLE] = {TV_JFR_OP_RAW, 8, 0},    [TV_JFR_STRING] = {TV_JFR_OP_TEXT, 0, 0},
    };
    assert(kind < TV_COUNT(codes));
    if (kind == TV_JFR_STRUCT) {
        if (slot != TV_JFR_NO_SLOT)
            jfr_emit(c, (struct tv_jfr_op){.code = TV_JFR_OP_STRUCT, .slot = slot});
        jfr_compile_struct(c, type, depth + 1);
        return;
    }
    jfr_emit(c, (struct tv_jfr_op){.code = codes[kind].code,
                                   .width = codes[kind].width,
                                   .slot = slot,
                                   .sign = codes[kind].sign});
}

/* A constant is stored as its key, whatever its type; an unknown type has an unknown length. */
static void jfr_compile_element(struct jfr_compiler *c, const struct tv_jfr_field *field,
                                uint8_t slot, unsigned depth)
{
    if (field->constant)
        jfr_emit(c, (struct tv_jfr_op){.code = TV_JFR_OP_VARINT, .width = 8, .slot = slot});
    else if (field->type == TV_NONE)
        c->program.unusable = true;
    else
        jfr_compile_value(c, field->type, field->kind, slot, depth);
}

/* Append the operations of a field.  An array is followed by those of its element, whose number is
 * known only afterwards, so it is filled in then. */
static void jfr_compile_field(struct jfr_compiler *c, const struct tv_jfr_field *field,
                              unsigned depth)
{
    uint8_t slot = depth == 0 ? jfr_slot_of(c, field->name) : TV_JFR_NO_SLOT;
    if (!field->array) {
        jfr_compile_element(c, field, slot, depth);
        return;
    }
    uint32_t at = c->program.count;
    jfr_emit(c, (struct tv_jfr_op){.code = TV_JFR_OP_ARRAY, .slot = slot});
    jfr_compile_element(c, field, TV_JFR_NO_SLOT, depth + 1);
    if (at < c->program.count)
        c->program.ops[at].length = c->program.count - at - 1;
}

/* Compile the fields of a type. A type that contains itself, or has too many fields, is read in
 * another way. */
static void jfr_compile_struct(struct jfr_compiler *c, uint32_t type, unsigned depth)
{
    const struct tv_jfr_type *t = &c->chunk->types.rows[type];
    if (depth >= MAX_INLINED)
        c->program.unusable = true;
    for (uint32_t i = 0; i < t->field_count && !c->program.unusable; i++) {
        if (++c->fields > MAX_FIELDS)
            c->program.unusable = true;
        else
            jfr_compile_field(c, &c->chunk->fields.rows[t->first_field + i], depth);
    }
}

struct tv_jfr_program tv_jfr_compile(const struct tv_jfr_chunk *chunk, uint32_t type,
                                     const char *const *names, unsigned count)
{
    assert(type < chunk->types.count && count <= TV_JFR_SLOTS);
    struct jfr_compiler c = {.chunk = chunk, .names = names, .name_count = count};
    uint8_t kind = chunk->types.rows[type].kind;
    if (kind == TV_JFR_STRUCT)
        jfr_compile_struct(&c, type, 0);
    else
        jfr_compile_value(&c, type, kind, TV_JFR_NO_SLOT, 0);
    c.program.integers = !chunk->fixed && !c.program.unusable;
    for (uint32_t i = 0; i < c.program.noted; i++)
        c.program.integers &= c.program.ops[i].code == TV_JFR_OP_VARINT;
    return c.program;
}

void tv_jfr_program_release(struct tv_jfr_program *program)
{
    tv_free(program->ops);
    *program = (struct tv_jfr_program){.ops = NULL};
}

/* ---- Running ---- */

static bool jfr_run_op(const struct tv_jfr_chunk *chunk, const struct tv_jfr_op *op,
                       struct tv_jfr_cursor *cursor, uint64_t *value);

/* Return whether the elements of an array are varints alone, as the frames of a stack. */
static bool jfr_is_of_varints(const struct tv_jfr_op *array)
{
    for (uint32_t at = 1; at <= array->length; at++)
        if (array[at].code != TV_JFR_OP_VARINT)
            return false;
    return true;
}

/* Skip the elements of an array.  Each takes at least one byte, unless it has no operations, so
 * that the bytes left limit the work. */
static bool jfr_run_array(const struct tv_jfr_chunk *chunk, const struct tv_jfr_op *array,
                          struct tv_jfr_cursor *cursor)
{
    uint64_t count, value;
    if (!tv_jfr_take(cursor, 4, &count) || count > (uint64_t)(cursor->end - cursor->at))
        return array->length == 0;
    if (!cursor->fixed && jfr_is_of_varints(array))
        return tv_jfr_skip_varints(cursor, count * array->length);
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t at = 1; at <= array->length; at += 1 + array[at].length)
            if (!jfr_run_op(chunk, &array[at], cursor, &value))
                return false;
    return true;
}

/* Take an integer of an operation. */
TV_INLINE bool jfr_run_integer(const struct tv_jfr_op *op, struct tv_jfr_cursor *cursor,
                               uint64_t *value)
{
    if (!tv_jfr_take(cursor, op->width, value))
        return false;
    *value = tv_jfr_narrow(op, *value);
    return true;
}

/* Run one operation, with the elements if it is an array: these nest at most as deep as types. */
static bool jfr_run_op(const struct tv_jfr_chunk *chunk, const struct tv_jfr_op *op,
                       struct tv_jfr_cursor *cursor, uint64_t *value)
{
    struct tv_jfr_raw_text text;
    if (op->code == TV_JFR_OP_VARINT)
        return jfr_run_integer(op, cursor, value);
    if (op->code == TV_JFR_OP_RAW) {
        bool taken = tv_jfr_take_fixed(cursor, op->width, value);
        *value = taken ? tv_jfr_extend_sign(*value, op->sign) : 0;
        return taken;
    }
    *value = tv_jfr_place(chunk, cursor);
    return op->code == TV_JFR_OP_STRUCT ||
           (op->code == TV_JFR_OP_TEXT ? tv_jfr_take_text(cursor, &text)
                                       : jfr_run_array(chunk, op, cursor));
}

bool tv_jfr_program_note(const struct tv_jfr_chunk *chunk, const struct tv_jfr_program *program,
                         struct tv_jfr_cursor *cursor, uint64_t *slots)
{
    uint64_t value;
    if (program->unusable)
        return false;
    if (tv_jfr_note_integers(chunk, program, cursor, slots))
        return true;
    for (uint32_t at = 0; at < program->noted;) {
        const struct tv_jfr_op *op = &program->ops[at];
        at += 1 + op->length;
        if (TV_LIKELY(op->code == TV_JFR_OP_VARINT)) {
            if (!jfr_run_integer(op, cursor, &value))
                return false;
            if (op->slot != TV_JFR_NO_SLOT)
                slots[op->slot] = value;
            continue;
        }
        if (op->slot != TV_JFR_NO_SLOT && at >= program->noted && op->code != TV_JFR_OP_RAW) {
            slots[op->slot] = tv_jfr_place(chunk, cursor); /* the last one: no need to skip it */
            return cursor->at < cursor->end;
        }
        if (!jfr_run_op(chunk, op, cursor, &value))
            return false;
        if (op->slot != TV_JFR_NO_SLOT)
            slots[op->slot] = value;
    }
    return true;
}

bool tv_jfr_program_skip(const struct tv_jfr_chunk *chunk, const struct tv_jfr_program *program,
                         struct tv_jfr_cursor *cursor)
{
    uint64_t value;
    if (program->unusable)
        return false;
    for (uint32_t at = 0; at < program->count; at += 1 + program->ops[at].length)
        if (!jfr_run_op(chunk, &program->ops[at], cursor, &value))
            return false;
    return true;
}

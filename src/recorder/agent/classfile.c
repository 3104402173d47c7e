/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile.c - parser of class files and instructions (see classfile.h).
 *
 *     magic, version | constants | access, this, super | interfaces | fields | methods | attributes
 *                    ^           ^                                           ^         ^
 *                    constants[] constants_end                               methods   attributes
 *
 * One pass checks that every length lies within the file, and notes these places.  The rewriter
 * copies what lies between them and reads methods one by one.
 */
#include "recorder/agent/classfile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0xCAFEBABEu

/* Bytes after the tag (JVMS 4.4); 0: no such tag, or Utf8, whose length varies. */
static const uint8_t constant_bytes[] = {
    [3] = 4,  [4] = 4,  [5] = 8,  [6] = 8,  [7] = 2,  [8] = 2,  [9] = 4,  [10] = 4,
    [11] = 4, [12] = 4, [15] = 3, [16] = 2, [17] = 4, [18] = 4, [19] = 2, [20] = 2,
};

/* long and double occupy two indices */
#define IS_WIDE(tag) ((tag) == 5 || (tag) == 6)

unsigned tv_class_get_u16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

uint32_t tv_class_get_u32(const uint8_t *at)
{
    return (uint32_t)tv_class_get_u16(at) << 16 | tv_class_get_u16(at + 2);
}

struct tv_class_span tv_class_take(struct tv_class_cursor *cursor, size_t length)
{
    assert(cursor->at <= cursor->end);
    if (cursor->bad || length > (size_t)(cursor->end - cursor->at)) {
        cursor->bad = true;
        return (struct tv_class_span){NULL, 0};
    }
    struct tv_class_span span = {cursor->at, length};
    cursor->at += length;
    return span;
}

unsigned tv_class_take_u8(struct tv_class_cursor *cursor)
{
    struct tv_class_span span = tv_class_take(cursor, 1);
    return cursor->bad ? 0 : span.data[0];
}

unsigned tv_class_take_u16(struct tv_class_cursor *cursor)
{
    struct tv_class_span span = tv_class_take(cursor, 2);
    return cursor->bad ? 0 : tv_class_get_u16(span.data);
}

uint32_t tv_class_take_u32(struct tv_class_cursor *cursor)
{
    struct tv_class_span span = tv_class_take(cursor, 4);
    return cursor->bad ? 0 : tv_class_get_u32(span.data);
}

struct tv_class_attribute tv_class_take_attribute(struct tv_class_cursor *cursor)
{
    struct tv_class_attribute attribute = {0};
    attribute.name = tv_class_take_u16(cursor);
    uint32_t length = tv_class_take_u32(cursor);
    attribute.bytes = tv_class_take(cursor, length);
    return attribute;
}

/* Note where each constant is.  A long or a double takes two numbers, of which the second is none.
 */
static void classfile_read_constants(struct tv_classfile *file, struct tv_class_cursor *cursor)
{
    for (unsigned i = 1; i < file->constant_count && !cursor->bad; i++) {
        file->constants[i] = (uint32_t)(cursor->at - file->bytes);
        unsigned tag = tv_class_take_u8(cursor);
        size_t length = 0;
        if (tag == TV_CONSTANT_TEXT)
            length = tv_class_take_u16(cursor);
        else if (tag < sizeof constant_bytes && constant_bytes[tag] > 0)
            length = constant_bytes[tag];
        else
            cursor->bad = true;
        tv_class_take(cursor, length);
        i += IS_WIDE(tag) ? 1 : 0;
        if (i == file->constant_count)
            cursor->bad = true; /* the second index of a wide constant is missing */
    }
}

/* Skip the list of fields or methods. */
static void classfile_skip_members(struct tv_class_cursor *cursor)
{
    for (unsigned count = tv_class_take_u16(cursor); count > 0 && !cursor->bad; count--) {
        tv_class_take(cursor, 6);
        for (unsigned i = tv_class_take_u16(cursor); i > 0 && !cursor->bad; i--)
            tv_class_take_attribute(cursor);
    }
}

/* Read the attributes of the class, of which only the name of the source file matters. */
static void classfile_read_attributes(struct tv_classfile *file, struct tv_class_cursor *cursor)
{
    for (unsigned i = tv_class_take_u16(cursor); i > 0 && !cursor->bad; i--) {
        struct tv_class_attribute attribute = tv_class_take_attribute(cursor);
        if (!cursor->bad && attribute.bytes.length == 2 &&
            tv_classfile_text_is(file, attribute.name, "SourceFile"))
            file->source_file = tv_class_get_u16(attribute.bytes.data);
    }
}

bool tv_classfile_read(struct tv_classfile *file, const uint8_t *bytes, size_t length)
{
    struct tv_class_cursor cursor = {bytes, bytes + length, false};
    *file = (struct tv_classfile){.bytes = bytes, .length = length};
    if (length > INT32_MAX || tv_class_take_u32(&cursor) != MAGIC)
        return false;
    tv_class_take_u16(&cursor);
    file->major = tv_class_take_u16(&cursor);
    file->constant_count = tv_class_take_u16(&cursor);
    if (cursor.bad || file->constant_count == 0)
        return false;
    file->constants = calloc(file->constant_count, sizeof file->constants[0]);
    if (file->constants == NULL)
        return false;
    classfile_read_constants(file, &cursor);
    file->constants_end = (size_t)(cursor.at - bytes);
    tv_class_take_u16(&cursor);
    file->this_class = tv_class_take_u16(&cursor);
    file->super_class = tv_class_take_u16(&cursor);
    tv_class_take(&cursor, (size_t)2 * tv_class_take_u16(&cursor));
    classfile_skip_members(&cursor);
    file->methods = (size_t)(cursor.at - bytes);
    classfile_skip_members(&cursor);
    file->attributes = (size_t)(cursor.at - bytes);
    classfile_read_attributes(file, &cursor);
    if (!cursor.bad && cursor.at == cursor.end)
        return true;
    tv_classfile_release(file);
    return false;
}

void tv_classfile_release(struct tv_classfile *file)
{
    free(file->constants);
    *file = (struct tv_classfile){0};
}

const uint8_t *tv_classfile_constant(const struct tv_classfile *file, unsigned index, unsigned tag)
{
    if (index >= file->constant_count || file->constants[index] == 0)
        return NULL;
    const uint8_t *at = file->bytes + file->constants[index];
    return *at == tag ? at + 1 : NULL;
}

bool tv_classfile_text(const struct tv_classfile *file, unsigned index, struct tv_class_span *text)
{
    const uint8_t *at = tv_classfile_constant(file, index, TV_CONSTANT_TEXT);
    if (at == NULL)
        return false;
    *text = (struct tv_class_span){at + 2, tv_class_get_u16(at)};
    return true;
}

bool tv_classfile_text_is(const struct tv_classfile *file, unsigned index, const char *text)
{
    struct tv_class_span span;
    size_t length = strlen(text);
    return tv_classfile_text(file, index, &span) && span.length == length &&
           memcmp(span.data, text, length) == 0;
}

bool tv_classfile_class_name(const struct tv_classfile *file, unsigned index,
                             struct tv_class_span *name)
{
    const uint8_t *at = tv_classfile_constant(file, index, TV_CONSTANT_CLASS);
    return at != NULL && tv_classfile_text(file, tv_class_get_u16(at), name);
}

/* ---- instructions ---- */

#define LAST_OPCODE 201
#define WIDE 196
#define IINC 132

/* Instruction lengths, twenty opcodes to a line; 0: a switch or the wide prefix. */
static const uint8_t lengths[LAST_OPCODE + 1] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 2, 3, /*   0 nop .. ldc_w */
    3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /*  20 ldc2_w, iload .. aload */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, /*  40 .. istore .. astore */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /*  60 */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /*  80 */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* 100 */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, /* 120 .. iinc */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, /* 140 .. ifeq */
    3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 0, 1, 1, 1, 1, 1, 1, 3, 3, /* 160 .. ret, switches, returns */
    3, 3, 3, 3, 3, 5, 5, 3, 2, 3, 1, 1, 3, 3, 1, 1, 0, 4, 3, 3, /* 180 .. invokes, new .. ifnull */
    5, 5,                                                       /* 200 goto_w, jsr_w */
};

enum tv_opcode_kind tv_opcode_kind(uint8_t opcode)
{
    if ((opcode >= 153 && opcode <= 168) || opcode == 198 || opcode == 199)
        return TV_OP_JUMP;
    if (opcode == 170 || opcode == 171)
        return TV_OP_SWITCH;
    if (opcode >= 172 && opcode <= TV_OP_RETURN)
        return TV_OP_LEAVE;
    return opcode == 200 || opcode == LAST_OPCODE ? TV_OP_WIDE_JUMP : TV_OP_PLAIN;
}

/* Return the length of a switch with its padding and table; 0: it is damaged. */
static uint64_t switch_length(const uint8_t *code, uint32_t at, uint32_t length)
{
    uint32_t start = tv_opcode_switch_start(at);
    bool table = code[at] == TV_OP_TABLESWITCH;
    uint32_t head = table ? 12 : 8;
    if (start > length || length - start < head)
        return 0;
    int64_t low = (int32_t)tv_class_get_u32(code + start + 4);
    if (!table)
        return low < 0 ? 0 : start - at + head + (uint64_t)low * 8;
    int64_t high = (int32_t)tv_class_get_u32(code + start + 8);
    return high < low ? 0 : start - at + head + (uint64_t)(high - low + 1) * 4;
}

uint32_t tv_opcode_length(const uint8_t *code, uint32_t at, uint32_t length)
{
    assert(at < length);
    uint64_t bytes = 0;
    if (code[at] > LAST_OPCODE)
        return 0;
    if (code[at] == WIDE)
        bytes = length - at < 2 ? 0 : code[at + 1] == IINC ? 6 : 4;
    else if (tv_opcode_kind(code[at]) == TV_OP_SWITCH)
        bytes = switch_length(code, at, length);
    else
        bytes = lengths[code[at]];
    return bytes > length - at ? 0 : (uint32_t)bytes;
}

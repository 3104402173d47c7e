/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile.h - where the parts of a Java class file lie (JVMS, chapter 4).
 *
 * Nothing is copied: spans point into the bytes that were given.  Class files come from anywhere,
 * so every length and every index is checked before it is used.
 */
#ifndef TV_RECORDER_AGENT_CLASSFILE_H
#define TV_RECORDER_AGENT_CLASSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tags of constants that the rewriter makes or looks into. */
enum {
    TV_CONSTANT_TEXT = 1,
    TV_CONSTANT_INTEGER = 3,
    TV_CONSTANT_CLASS = 7,
    TV_CONSTANT_METHOD = 10,
    TV_CONSTANT_INTERFACE_METHOD = 11,
    TV_CONSTANT_NAME_AND_TYPE = 12,
};

/* Bytes inside the class file; text is modified UTF-8, without a NUL behind it. */
struct tv_class_span {
    const uint8_t *data;
    size_t length;
};

/* Takes big-endian numbers; after the first that is not there, `bad` is set and all are zero. */
struct tv_class_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

/* Each takes one number. */
unsigned tv_class_take_u8(struct tv_class_cursor *cursor);
/* See above. */
unsigned tv_class_take_u16(struct tv_class_cursor *cursor);
/* See above. */
uint32_t tv_class_take_u32(struct tv_class_cursor *cursor);

/* Takes `length` bytes; none when there are fewer. */
struct tv_class_span tv_class_take(struct tv_class_cursor *cursor, size_t length);

/* Numbers at an address of which the caller knows that they are there. */
unsigned tv_class_get_u16(const uint8_t *at);
uint32_t tv_class_get_u32(const uint8_t *at);

struct tv_classfile {
    const uint8_t *bytes;
    size_t length;
    unsigned major;
    unsigned constant_count; /* one more than the highest index */
    uint32_t *constants;     /* offset of each tag, 0 where an index names nothing */
    size_t constants_end;    /* offset of the access flags */
    unsigned this_class;
    unsigned super_class; /* 0 in java.lang.Object */
    size_t methods;       /* offset of the count of methods */
    size_t attributes;    /* offset of the count of the class's own attributes */
    unsigned source_file; /* index of its name, 0 when not said */
};

/* False: not a class file that is understood, or no memory; nothing is to be released then. */
bool tv_classfile_read(struct tv_classfile *file, const uint8_t *bytes, size_t length);
void tv_classfile_release(struct tv_classfile *file);

/* The address of a constant after its tag, NULL when the index does not name one of that tag. */
const uint8_t *tv_classfile_constant(const struct tv_classfile *file, unsigned index, unsigned tag);

/* False when the index names no text. */
bool tv_classfile_text(const struct tv_classfile *file, unsigned index, struct tv_class_span *text);
bool tv_classfile_text_is(const struct tv_classfile *file, unsigned index, const char *text);

/* The name of a class constant, as in java/lang/String. */
bool tv_classfile_class_name(const struct tv_classfile *file, unsigned index,
                             struct tv_class_span *name);

/* One attribute of a list: its name's index and its bytes. */
struct tv_class_attribute {
    unsigned name;
    struct tv_class_span bytes;
};
struct tv_class_attribute tv_class_take_attribute(struct tv_class_cursor *cursor);

/* opcodes.h - lengths and kinds of the JVM's instructions (JVMS, chapter 6). */

enum {
    TV_OP_SIPUSH = 17,
    TV_OP_LDC_W = 19,
    TV_OP_INVOKESPECIAL = 183,
    TV_OP_INVOKESTATIC = 184,
    TV_OP_NEW = 187,
    TV_OP_RETURN = 177,
    TV_OP_ATHROW = 191,
    TV_OP_TABLESWITCH = 170,
};

enum tv_opcode_kind {
    TV_OP_PLAIN,
    TV_OP_JUMP,      /* two bytes of distance follow */
    TV_OP_WIDE_JUMP, /* four */
    TV_OP_SWITCH,
    TV_OP_LEAVE, /* a return of any type */
};

/* TV_OP_PLAIN for what is no instruction: its length is 0. */
enum tv_opcode_kind tv_opcode_kind(uint8_t opcode);

/* Bytes of the instruction at `at`, 0 when there is none or it goes beyond `length`. */
uint32_t tv_opcode_length(const uint8_t *code, uint32_t at, uint32_t length);

/* Where the four-byte numbers of a switch begin: its padding depends on where it stands. */
static inline uint32_t tv_opcode_switch_start(uint32_t at)
{
    return (at + 4) & ~(uint32_t)3;
}

#endif

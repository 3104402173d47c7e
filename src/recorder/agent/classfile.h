/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile.h - parser of Java class files (JVMS chapter 4) and of bytecode instructions (chapter
 * 6).
 *
 * Nothing is copied: spans point into the caller's bytes. Class files are untrusted, so every
 * length and index is checked before use.
 */
#ifndef TV_RECORDER_AGENT_CLASSFILE_H
#define TV_RECORDER_AGENT_CLASSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Constant pool tags that the rewriter creates or reads. */
enum {
    TV_CONSTANT_TEXT = 1,
    TV_CONSTANT_INTEGER = 3,
    TV_CONSTANT_CLASS = 7,
    TV_CONSTANT_METHOD = 10,
    TV_CONSTANT_INTERFACE_METHOD = 11,
    TV_CONSTANT_NAME_AND_TYPE = 12,
};

/* A range of bytes in the class file. Text is modified UTF-8 without a NUL. */
struct tv_class_span {
    const uint8_t *data;
    size_t length;
};

/* A reader of big-endian numbers. A read past the end sets `bad`; from then on all results are 0.
 */
struct tv_class_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

/* Read one number and advance. */
unsigned tv_class_take_u8(struct tv_class_cursor *cursor);
unsigned tv_class_take_u16(struct tv_class_cursor *cursor);
uint32_t tv_class_take_u32(struct tv_class_cursor *cursor);

/* Read `length` bytes and advance. Return an empty span when there are fewer. */
struct tv_class_span tv_class_take(struct tv_class_cursor *cursor, size_t length);

/* Read a number at an address that the caller has checked. */
unsigned tv_class_get_u16(const uint8_t *at);
uint32_t tv_class_get_u32(const uint8_t *at);

struct tv_classfile {
    const uint8_t *bytes;
    size_t length;
    unsigned major;
    unsigned constant_count; /* highest index plus one */
    uint32_t *constants;     /* offset of each constant's tag; 0 for an unused index */
    size_t constants_end;    /* offset of the class's access flags */
    unsigned this_class;
    unsigned super_class; /* 0 for java.lang.Object */
    size_t methods;       /* offset of the method count */
    size_t attributes;    /* offset of the count of class attributes */
    unsigned source_file; /* constant with the source file name; 0: none */
};

/* Parse a class file. The result points into `bytes`; release it with tv_classfile_release. Return
 * false, with nothing to release, when the file is malformed or there is no memory. */
bool tv_classfile_read(struct tv_classfile *file, const uint8_t *bytes, size_t length);
void tv_classfile_release(struct tv_classfile *file);

/* Return the bytes of a constant after its tag, or NULL when the index does not name a constant
 * with this tag. */
const uint8_t *tv_classfile_constant(const struct tv_classfile *file, unsigned index, unsigned tag);

/* Read a Utf8 constant. Return false when the index names none. */
bool tv_classfile_text(const struct tv_classfile *file, unsigned index, struct tv_class_span *text);
bool tv_classfile_text_is(const struct tv_classfile *file, unsigned index, const char *text);

/* Read the name of a Class constant, in the form java/lang/String. Return false when the index
 * names none. */
bool tv_classfile_class_name(const struct tv_classfile *file, unsigned index,
                             struct tv_class_span *name);

/* An attribute: the constant with its name, and its contents. */
struct tv_class_attribute {
    unsigned name;
    struct tv_class_span bytes;
};
struct tv_class_attribute tv_class_take_attribute(struct tv_class_cursor *cursor);

/* ---- instructions ---- */

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
    TV_OP_JUMP,      /* a 2-byte branch offset follows */
    TV_OP_WIDE_JUMP, /* a 4-byte branch offset follows */
    TV_OP_SWITCH,
    TV_OP_LEAVE, /* a return instruction */
};

/* Return the kind of an opcode, TV_OP_PLAIN for an unknown one (which has length 0). */
enum tv_opcode_kind tv_opcode_kind(uint8_t opcode);

/* Return the length of the instruction at `at` in bytes, or 0 when it is unknown or ends beyond
 * `length`. */
uint32_t tv_opcode_length(const uint8_t *code, uint32_t at, uint32_t length);

/* Return the place of a switch's 4-byte operands: they are aligned to 4 bytes from the method's
 * start. */
static inline uint32_t tv_opcode_switch_start(uint32_t at)
{
    return (at + 4) & ~(uint32_t)3;
}

#endif

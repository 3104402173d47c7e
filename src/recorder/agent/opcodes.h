/* SPDX-License-Identifier: Apache-2.0 */
/* opcodes.h - lengths and kinds of the JVM's instructions (JVMS, chapter 6). */
#ifndef TV_RECORDER_AGENT_OPCODES_H
#define TV_RECORDER_AGENT_OPCODES_H

#include <stdint.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
/* opcodes.c - see opcodes.h. */
#include "recorder/agent/opcodes.h"

#include "recorder/agent/classfile.h"

#define LAST_OPCODE 201
#define WIDE 196
#define IINC 132

/* Twenty a row; 0: a switch or the wide prefix. */
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

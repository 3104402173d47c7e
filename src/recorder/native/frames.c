/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c - see frames.h. */
#include "recorder/native/frames.h"

#include <stdbool.h>
#include <stddef.h>

#include "recorder/area.h"
#include "recorder/native/code.h"

#define PROLOGUE 8u /* bytes in which a frame is made */
#define SEARCHED 16384u
#define PIECE 512u /* words */

/* A return address lies behind its call; the call is what the frame is in. */
static uint64_t word_of(uint64_t address)
{
    return TV_WORD_ADDRESS | address << 2;
}

/* The return address that the frames do not have; 0: there is none. */
static uint64_t find_missing(const struct tv_frame_registers *raw, uint64_t start)
{
    uint64_t called = raw->depth > 0 ? tv_code_call_target(raw->returns[0]) : 0;
    if (start == 0 || called == start)
        return 0;
    if (tv_code_call_target(raw->near[0]) == start)
        return raw->near[0];
    if (raw->pc - start <= PROLOGUE && tv_code_call_target(raw->near[1]) == start)
        return raw->near[1];
    /* Called by a pointer: then the frame must be that of the function it returns to. */
    bool fits = tv_code_call_target(raw->near[0]) == TV_CODE_INDIRECT && called > TV_CODE_INDIRECT &&
                called == tv_code_function_start(raw->near[0] - 1);
    return fits ? raw->near[0] : 0;
}

uint32_t tv_frames_from_registers(const struct tv_frame_registers *raw, uint64_t *words, uint32_t most)
{
    uint32_t depth = 0;
    words[depth++] = word_of(raw->pc);
    uint64_t missing = find_missing(raw, tv_code_function_start(raw->pc));
    if (missing != 0 && depth < most)
        words[depth++] = word_of(missing - 1);
    for (uint32_t i = 0; i < raw->depth && depth < most; i++) {
        if (tv_code_call_target(raw->returns[i]) == 0)
            break;
        words[depth++] = word_of(raw->returns[i] - 1);
    }
    return depth;
}

uint32_t tv_frames_scan_stack(uint64_t pc, uint64_t sp, uint64_t end, uint64_t *words, uint32_t most)
{
    uint64_t piece[PIECE];
    uint32_t depth = 0;
    uint64_t wanted = tv_code_function_start(pc);
    words[depth++] = word_of(pc);
    if (end - sp > SEARCHED)
        end = sp + SEARCHED;
    for (uint64_t at = sp; at < end && wanted != 0; at += sizeof piece) {
        size_t count = end - at < sizeof piece ? (size_t)(end - at) / 8 : PIECE;
        if (!tv_code_read_memory(at, piece, count * 8))
            break;
        for (size_t i = 0; i < count && depth < most; i++) {
            uint64_t called = tv_code_contains(piece[i]) ? tv_code_call_target(piece[i]) : 0;
            if (called != wanted && !tv_code_may_tail_call(called, wanted))
                continue;
            words[depth++] = word_of(piece[i] - 1);
            wanted = tv_code_function_start(piece[i] - 1);
        }
    }
    return depth;
}

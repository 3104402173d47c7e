/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - from what a signal handler, or the system, saw of a thread to its stack.
 */
#ifndef TV_RECORDER_NATIVE_FRAMES_H
#define TV_RECORDER_NATIVE_FRAMES_H

#include <stdint.h>

/* What a handler keeps: no more than what needs no looking up. */
struct tv_frame_registers {
    uint64_t pc, sp;
    /* Where the return address is of a function that has made no frame: on the stack, or in a
     * register. */
    uint64_t near[2];
    uint32_t depth;
    uint64_t *returns; /* as the frame pointers have it, innermost first */
};

/* The stack as words of samples; its depth.
 *
 * Compilers make no frame in functions that call nothing, even where they shall: then the first
 * frame is the caller's, and who called would be missing.  The word beside it is taken for the
 * return address when the call before it calls the very function that the thread is in. */
uint32_t tv_frames_from_registers(const struct tv_frame_registers *raw, uint64_t *words, uint32_t most);

/* The same of a thread that sleeps in the C library, which keeps no frame pointers: the stack from
 * `sp` to `end` is searched for return addresses behind a call of the function that is above. */
uint32_t tv_frames_scan_stack(uint64_t pc, uint64_t sp, uint64_t end, uint64_t *words, uint32_t most);

#endif

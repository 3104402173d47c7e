/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - what the loaded code says of itself, without debug information: where functions begin
 * (from the tables for exceptions, which static functions have too) and what a call calls.
 *
 * One thread at a time.  Nothing is read but by the system, so that code which is unloaded
 * meanwhile is an unknown one and not a fault.
 */
#ifndef TV_RECORDER_NATIVE_CODE_H
#define TV_RECORDER_NATIVE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Learns of what was loaded and unloaded since; cheap when nothing was: then false. */
bool tv_code_refresh(void);

/* Copies memory of this process; false: it is not there. */
bool tv_code_read_memory(uint64_t address, void *to, size_t size);

/* Is it within loaded code? */
bool tv_code_contains(uint64_t address);

/* Where the function around an address begins; 0: unknown. */
uint64_t tv_code_function_start(uint64_t address);

/* A call whose target depends on the moment. */
#define TV_CODE_INDIRECT UINT64_C(1)

/* Where the function begins that is called by the instruction which ends at `after`; 0: that is no
 * call. */
uint64_t tv_code_call_target(uint64_t after);

/* Can the function that begins at `start` end as that at `target`, by a jump instead of a call? */
bool tv_code_may_tail_call(uint64_t start, uint64_t target);

/*
 * frames.h - from what a signal handler, or the system, saw of a thread to its stack.
 */

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
uint32_t tv_frames_from_registers(const struct tv_frame_registers *raw, uint64_t *words,
                                  uint32_t most);

/* The same of a thread that sleeps in the C library, which keeps no frame pointers: the stack from
 * `sp` to `end` is searched for return addresses behind a call of the function that is above. */
uint32_t tv_frames_scan_stack(uint64_t pc, uint64_t sp, uint64_t end, uint64_t *words,
                              uint32_t most);

#endif

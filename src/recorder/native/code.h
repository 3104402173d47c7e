/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - what the loaded code tells without debug information: where functions begin, what a call
 * calls, and stacks that follow from it.
 *
 * One thread at a time.  Memory is read by system calls, so code that is being unloaded is unknown
 * and no fault.
 */
#ifndef TV_RECORDER_NATIVE_CODE_H
#define TV_RECORDER_NATIVE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Take note of modules that were loaded or unloaded.  Cheap and false when there are none. */
bool tv_code_refresh(void);

/* Copy memory of this process; false: it is not mapped. */
bool tv_code_read_memory(uint64_t address, void *to, size_t size);

/* Is the address within loaded code? */
bool tv_code_contains(uint64_t address);

/* Return the start of the function around an address; 0: unknown. */
uint64_t tv_code_function_start(uint64_t address);

/* The target of a call through a register or pointer. */
#define TV_CODE_INDIRECT UINT64_C(1)

/* Return the start of the function that is called by the instruction ending at `after`;
 * TV_CODE_INDIRECT, or 0: there is no call. */
uint64_t tv_code_call_target(uint64_t after);

/* Can the function that starts at `start` end with a jump to that at `target` (a tail call)? */
bool tv_code_may_tail_call(uint64_t start, uint64_t target);

/* The innermost part of a stack as a signal handler sees it.  It needs no look-up. */

/* The registers and return addresses of a thread. */
struct tv_frame_registers {
    uint64_t pc, sp;
    /* Candidates for the return address of a function without a frame: on the stack, or in a
     * register. */
    uint64_t near[2];
    uint32_t depth;
    uint64_t *returns; /* by frame pointers, innermost first */
};

/*
 * Turn them into words of samples; return the depth.
 *
 * Compilers make no frame in functions that call nothing, even when told to.  Then the first frame
 * is the caller's, and the caller itself would be missing:
 *
 *     stack:   near[0]: return into B     <- leaf C has no frame
 *              frame of B: return into A
 *     wanted:  C, B, A                    frame pointers give C, A
 *
 * A word in `near` is taken for the return address if the call in front of it calls the function
 * that the thread is in.
 */
uint32_t tv_frames_from_registers(const struct tv_frame_registers *raw, uint64_t *words,
                                  uint32_t most);

/* As above, for a thread that sleeps in the C library, which has no frame pointers: search the
 * stack from `sp` to `end` for return addresses of calls of the function above. */
uint32_t tv_frames_scan_stack(uint64_t pc, uint64_t sp, uint64_t end, uint64_t *words,
                              uint32_t most);

#endif

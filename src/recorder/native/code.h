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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* ---- Stacks ---- */
#ifndef TV_SYMBOLS_UNWIND_H
#define TV_SYMBOLS_UNWIND_H

#include "base/types.h"

/* The ELF files of one process, whose unwind tables (.eh_frame) find the callers of a function.
 * Programs without frame pointers have these tables too. */
struct tv_unwind;

/* A stopped thread: its registers and a copy of its stack. */
struct tv_unwind_thread {
    const uint64_t *registers; /* in DWARF's order for this machine */
    uint32_t register_count;
    uint64_t pc, sp;
    const uint8_t *stack; /* the bytes from sp upwards */
    size_t length;
};

/* Return NULL when this build cannot unwind. */
struct tv_unwind *tv_unwind_new(void);
void tv_unwind_free(struct tv_unwind *unwind);

/* Add a file whose byte `offset` is mapped at `start`. A file that cannot be read is ignored. */
void tv_unwind_add_file(struct tv_unwind *unwind, const char *path, uint64_t start,
                        uint64_t offset);

/* Store the innermost address, then the return addresses, at most `room`; return their number.
 * The walk ends where no table knows the caller, or at the end of the copied stack. */
uint32_t tv_unwind_walk(struct tv_unwind *unwind, const struct tv_unwind_thread *thread,
                        uint64_t *addresses, uint32_t room);

#endif

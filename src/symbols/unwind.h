/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.h - the callers on a stack that was copied, by the unwind tables of ELF files (.eh_frame),
 * which programs without frame pointers have too.
 *
 * unwind_none.c stands in where the program is built without libdw.
 */
#ifndef TV_SYMBOLS_UNWIND_H
#define TV_SYMBOLS_UNWIND_H

#include "base/types.h"

/* The files of one process. */
struct tv_unwind;

/* A thread as it stood. */
struct tv_unwind_thread {
    const uint64_t *registers; /* in the order that DWARF has for this machine */
    uint32_t register_count;
    uint64_t pc, sp;
    const uint8_t *stack; /* from sp upwards */
    size_t length;
};

/* NULL: this program cannot do it. */
struct tv_unwind *tv_unwind_new(void);
void tv_unwind_free(struct tv_unwind *unwind);

/* The place `offset` of the file lies at `start`.  A file that cannot be read is left out. */
void tv_unwind_add_file(struct tv_unwind *unwind, const char *path, uint64_t start,
                        uint64_t offset);

/* The innermost address, then those that calls return to; how many, `room` at most.  It ends where
 * no table says how to go on, or the copy ends. */
uint32_t tv_unwind_walk(struct tv_unwind *unwind, const struct tv_unwind_thread *thread,
                        uint64_t *addresses, uint32_t room);

#endif

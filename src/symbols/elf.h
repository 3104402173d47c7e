/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - the functions, files and lines of a native program's addresses, and the callers on a
 * copied stack, both from ELF files and their DWARF.
 *
 * Names are mangled (demangle.h). elf_none.c replaces elf.c and unwind.c in builds without
 * libdw.
 */
#ifndef TV_SYMBOLS_ELF_H
#define TV_SYMBOLS_ELF_H

#include "base/error.h"
#include "base/types.h"

/* One ELF file at the address where a process loaded it. */
struct tv_elf;

/* As `base`: addresses are those of the file itself. */
#define TV_ELF_UNMOVED UINT64_MAX

/* Open a file whose lowest segment was loaded at `base`. */
enum tv_status tv_elf_read(const char *path, uint64_t base, struct tv_elf **elf,
                           struct tv_error *err) TV_MUST_CHECK;
void tv_elf_free(struct tv_elf *elf);

/* Open the program with this build ID, or its debug file, from the usual folders
 * (debug_folders.h). NULL: none of them has it. */
struct tv_elf *tv_elf_read_by_build_id(struct tv_bytes id);

struct tv_elf_place {
    struct tv_bytes function; /* empty: unknown, as below */
    struct tv_bytes file;     /* with `line`: the source of the instruction, also of inlined code */
    int32_t line;             /* 0: unknown */
    struct tv_bytes declared; /* the file of the function itself, at all of its addresses */
};

/* Look up an address of the process. Return false when nothing is known about it. The texts live
 * as long as `elf`. Only one thread may use `elf` at a time. */
bool tv_elf_find(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place);

/* As above, for an address of the file itself, wherever the file was loaded. */
bool tv_elf_find_in_file(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place);

/* Store the functions at an address of the file itself, at most `room`, and return their number; 0:
 * nothing is known.  The last place is the function, and the ones before it were inlined into it,
 * the innermost first.  `file` is known of the first one alone; `line` of each is where its code is
 * there, or where it calls the function before. */
size_t tv_elf_find_frames(struct tv_elf *elf, uint64_t address, struct tv_elf_place *places,
                          size_t room);

/* Convert an offset in the file into an address of the file. Return false when that part of the
 * file is not loaded. */
bool tv_elf_address_of_offset(const struct tv_elf *elf, uint64_t offset, uint64_t *own);

/* A mapping of a file in a process. */
struct tv_elf_mapping {
    uint64_t offset, length;
};

/* Turn an offset in an executable mapping of the program, whose debug file `elf` may be, likewise.
 * A debug file does not tell where its segments are in the program, so the one is taken that is as
 * long as the mapping; false when there is none, or more than one. */
bool tv_elf_address_of_mapping(const struct tv_elf *elf, const struct tv_elf_mapping *mapping,
                               uint64_t offset, uint64_t *own);

/* Return the build ID, which identifies this version of the file; empty when it has none. */
struct tv_bytes tv_elf_build_id(const struct tv_elf *elf);

/* ---- Stacks ---- */

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

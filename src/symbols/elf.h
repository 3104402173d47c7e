/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - what stands at an address of a native program: function, file and line, from the symbols
 * and the DWARF of its ELF file.
 *
 * Names are those of the linker (demangle.h).  elf_none.c stands in where the
 * program is built without libdw.
 */
#ifndef TV_SYMBOLS_ELF_H
#define TV_SYMBOLS_ELF_H

#include "base/error.h"
#include "base/types.h"

/* One file as it lay in memory. */
struct tv_elf;

/* Addresses are those of the file itself. */
#define TV_ELF_UNMOVED UINT64_MAX

/* Reads a file whose lowest segment was loaded at `base`. */
enum tv_status tv_elf_read(const char *path, uint64_t base, struct tv_elf **elf,
                           struct tv_error *err) TV_MUST_CHECK;
void tv_elf_free(struct tv_elf *elf);

struct tv_elf_place {
    struct tv_bytes function; /* empty: unknown, as below */
    struct tv_bytes file;
    int32_t line; /* 0: unknown */
};

/* False: nothing is known there.  The texts live as long as the file.  One thread at a time. */
bool tv_elf_find(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place);

/* The same of an address of the file itself, wherever it was loaded. */
bool tv_elf_find_own(struct tv_elf *elf, uint64_t address, struct tv_elf_place *place);

/* The address that a place of the file has when it is loaded; false: it is not. */
bool tv_elf_address_of_offset(const struct tv_elf *elf, uint64_t offset, uint64_t *own);

/* Return the build id, by which the linker tells this file from others of the same name; empty: it
 * has none. */
struct tv_bytes tv_elf_build_id(const struct tv_elf *elf);

#endif

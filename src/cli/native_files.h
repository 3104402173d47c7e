/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_files.h - the ELF files that addresses of a recorded native program are in.  They are read
 * when they are asked for the first time; of those that cannot be, nothing is known.
 */
#ifndef TV_CLI_NATIVE_FILES_H
#define TV_CLI_NATIVE_FILES_H

#include "symbols/demangle.h"
#include "symbols/elf.h"

#define TV_NATIVE_FILES 256u

/* By their path as the recording has it. */
struct tv_native_files {
    char *paths[TV_NATIVE_FILES];
    struct tv_elf *elfs[TV_NATIVE_FILES]; /* NULL: not readable */
    size_t count;
    struct tv_demangler demangler;
};

/* What stands at an address of a file, as it is written: names of C++ are not those of the linker.
 */
struct tv_native_place {
    struct tv_bytes function;
    struct tv_bytes parameters; /* "(int)" of C++, else empty */
    struct tv_bytes file;       /* empty: unknown */
    int32_t line;               /* 0: unknown */
};

/* What stands at the address of the file of that path; false: unknown.  The texts are good until
 * the next call. */
bool tv_native_files_place(struct tv_native_files *files, struct tv_bytes path, uint64_t address,
                           struct tv_native_place *place);
void tv_native_files_release(struct tv_native_files *files);

#endif

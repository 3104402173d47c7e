/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_files.h - the ELF files that addresses of a recorded native program are in.
 */
#ifndef TV_CLI_NATIVE_FILES_H
#define TV_CLI_NATIVE_FILES_H

#include "symbols/elf.h"

#define TV_NATIVE_FILES 256u

/* By their path as the recording has it. */
struct tv_native_files {
    char *paths[TV_NATIVE_FILES];
    struct tv_elf *elfs[TV_NATIVE_FILES]; /* NULL: not readable */
    size_t count;
};

/* The file of that path, read when it is asked for the first time; NULL: it cannot be read, or
 * there are too many. */
struct tv_elf *tv_native_files_find(struct tv_native_files *files, struct tv_bytes path);
void tv_native_files_release(struct tv_native_files *files);

#endif

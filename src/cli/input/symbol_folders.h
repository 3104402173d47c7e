/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_folders.h - the folders that --symbols names: programs by build ID, by path, by name.
 *
 *     FOLDER/.build-id/ab/cdef....debug    as in /usr/lib/debug
 *     FOLDER/.build-id/ab/cdef.../elf      as in ~/.debug
 *     FOLDER/usr/lib/libshop.so            the path in the profile: a copy of the machine's files
 *     FOLDER/libshop.so, libshop.so.debug  the name alone
 *
 * A file counts only if it has the build ID of the profile, if that has one.  Folders are not
 * listed, so a sandboxed command asks for single files alone.
 */
#ifndef TV_CLI_INPUT_SYMBOL_FOLDERS_H
#define TV_CLI_INPUT_SYMBOL_FOLDERS_H

#include "base/bytes.h"
#include "base/map.h"
#include "symbols/elf.h"

/* A profile may name any number of files: so many are looked for and stay open, in the folders and,
 * apart from these, by build ID on this machine (symbols.c). */
#define TV_SYMBOL_FILES_SOUGHT 4096u
#define TV_SYMBOL_FILES_OPEN 128u

/* Folders, and the files that were looked for.  All zero: none. */
struct tv_symbol_folders {
    char **folders;
    size_t count, capacity;
    struct tv_map found;  /* hash of a path and a build ID -> number in `elfs` */
    struct tv_elf **elfs; /* NULL: no folder has it */
    size_t elf_count, elf_capacity, open;
};

/* Add a path, if it is that of a folder. */
bool tv_symbol_folders_add(struct tv_symbol_folders *folders, const char *path);

/* Return the file of a program with this path or name, and this build ID (empty: unknown); NULL:
 * there is none.  It belongs to the folders. */
struct tv_elf *tv_symbol_folders_find(struct tv_symbol_folders *folders, struct tv_bytes path,
                                      struct tv_bytes id);

void tv_symbol_folders_release(struct tv_symbol_folders *folders);

/* Return true for the folder itself, and for paths in it. */
bool tv_symbol_folder_has(const char *folder, const char *path);

#endif

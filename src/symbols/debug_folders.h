/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_folders.h - the usual places of programs and their debug files, by build ID.
 *
 *     ~/.debug/.build-id/ab/cdef.../elf      what `perf record` keeps of the files that it met
 *     /usr/lib/debug/.build-id/ab/cdef....debug                      packages of the distribution
 *     ~/.debug/.build-id/ab/cdef.../debug    what `perf` fetched from a debuginfod server
 */
#ifndef TV_SYMBOLS_DEBUG_FOLDERS_H
#define TV_SYMBOLS_DEBUG_FOLDERS_H

#include "base/types.h"

#define TV_DEBUG_FOLDER "/usr/lib/debug"

/* Sizes of a build ID, in bytes. */
#define TV_BUILD_ID_MIN 2
#define TV_BUILD_ID_MAX 64

enum tv_debug_place {
    TV_DEBUG_PERF_ELF, /* a whole program; the others may be debug files */
    TV_DEBUG_SYSTEM,
    TV_DEBUG_PERF_DEBUG,
    TV_DEBUG_PLACES,
};

/* Write the path of a build ID in this place. Return false when there is none: the ID has an
 * unusual size, HOME is not set, or the path does not fit. */
bool tv_debug_path(enum tv_debug_place place, struct tv_bytes id, char *path, size_t size);

/* Return true for paths that tv_debug_path writes, and for no other. */
bool tv_debug_path_is_usual(const char *path);

/* Return a number that changes when a file is added to these folders or removed. */
uint64_t tv_debug_folders_state(void);

#endif

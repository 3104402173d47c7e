/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_file.h - the file with the debug information of a stripped program, as gdb finds it:
 *
 *     /usr/lib/debug/.build-id/ab/cdef....debug   by the program's build id
 *     DIR/NAME  DIR/.debug/NAME  /usr/lib/debug/DIR/NAME   by its section .gnu_debuglink
 *
 * Files of the first kind have to have the build id, those of the second the checksum that the
 * program says, so that nothing is named from another version.
 */
#ifndef TV_SYMBOLS_DEBUG_FILE_H
#define TV_SYMBOLS_DEBUG_FILE_H

#include <libelf.h>

/* Open the debug file of the program at `path`, whose ELF file is open; -1: there is none. */
int tv_debug_file_open(Elf *elf, const char *path);

#endif

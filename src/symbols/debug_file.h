/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information of a stripped program is in a file of its own, which is found as gdb
 * finds it:
 *
 *     /usr/lib/debug/.build-id/ab/cdef....debug            by the program's build ID
 *     DIR/NAME  DIR/.debug/NAME  /usr/lib/debug/DIR/NAME   by its section .gnu_debuglink
 *
 * A file of the first kind must have the same build ID, one of the second kind the checksum that
 * the program states, so that no function gets the name of another version. */
#ifndef TV_SYMBOLS_DEBUG_FILE_H
#define TV_SYMBOLS_DEBUG_FILE_H

#include <libelf.h>

/* Open the debug file of the program at `path`, whose ELF file is open. Return -1 when there is
 * none. */
int tv_debug_file_open(Elf *elf, const char *path);

#endif

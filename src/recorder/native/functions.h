/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions.h - the functions of a file, by its symbols: for who looks for some by their names.
 *
 * A file is read by the system, piece by piece, as it may change meanwhile.  Memory is that of
 * pages.h.
 */
#ifndef TV_RECORDER_NATIVE_FUNCTIONS_H
#define TV_RECORDER_NATIVE_FUNCTIONS_H

#include <stdint.h>

/* Calls `take` for each function that the file has, by its address in the file; with its symbol,
 * and a second time with its qualified name where that is another.  A file that is stripped has the
 * exported ones.  One that cannot be read has none. */
void tv_symbols_read_functions(const char *path,
                       void (*take)(void *context, uint64_t address, const char *name),
                       void *context);

#endif

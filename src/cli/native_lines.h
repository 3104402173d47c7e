/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_lines.h - lines of methods of a .trace, whose addresses get names.
 */
#ifndef TV_CLI_NATIVE_LINES_H
#define TV_CLI_NATIVE_LINES_H

#include <stdio.h>

#include "cli/native_files.h"

/* Writes the line, which has its line end, as it is, or with the names of the address that it has
 * for a name. */
void tv_native_line_put(FILE *out, struct tv_bytes line, struct tv_native_files *files);

#endif

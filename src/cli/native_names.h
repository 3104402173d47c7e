/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_names.h - names and lines for the addresses of a recorded native program, after the fact.
 */
#ifndef TV_CLI_NATIVE_NAMES_H
#define TV_CLI_NATIVE_NAMES_H

#include "base/error.h"

/* Gives methods of a .trace that are called by their address in an ELF file, which stands as their
 * source file, the function's name and line.  What is not found stays as it is; a file of
 * another kind is left alone. */
enum tv_status tv_native_names_resolve(const char *path, struct tv_error *err) TV_MUST_CHECK;

#endif

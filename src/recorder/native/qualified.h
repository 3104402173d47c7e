/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qualified.h - the names of C++ and Rust functions as patterns have them: base::Server::handle.
 *
 * The library that is loaded into a program brings no demangler, and must not call that of
 * libstdc++ where any lock may be held.  A function's own name with its scopes is simple enough.
 */
#ifndef TV_RECORDER_NATIVE_QUALIFIED_H
#define TV_RECORDER_NATIVE_QUALIFIED_H

#include <stdbool.h>
#include <stddef.h>

/* From _ZN4base6Server6handleEi: without template arguments, parameters and the hash of Rust's
 * older names.  False: the symbol is no such name, or one of operators, substitutions or local
 * functions, or too long. */
bool tv_symbols_qualified_name(const char *symbol, char *name, size_t size);

#endif

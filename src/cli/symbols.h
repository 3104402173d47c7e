/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - --symbols: the files whose symbols name the addresses on stacks.
 */
#ifndef TV_CLI_SYMBOLS_H
#define TV_CLI_SYMBOLS_H

#include "cli/options.h"
#include "model/trace_info.h"

/* Opens the files that the words "ELF" or "ELF@BASE" name, of which the first that knows an address
 * is the one to answer; *namer is NULL without words. */
enum tv_status tv_symbols_open(const struct tv_words *words, struct tv_namer **namer,
                               struct tv_error *err) TV_MUST_CHECK;

/* The file that such a word names: what is behind the last '@' is the base, unless that is no
 * number.  False: it names none, or one whose name has `size` bytes and more. */
bool tv_symbols_path(const char *word, char *path, size_t size);

#endif

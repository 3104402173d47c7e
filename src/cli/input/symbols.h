/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.h - original names: of addresses by --symbols, of obfuscated methods by --mapping.
 */
#ifndef TV_CLI_INPUT_SYMBOLS_H
#define TV_CLI_INPUT_SYMBOLS_H

#include "cli/options.h"
#include "model/builder/sink.h"
#include "model/trace_info.h"
#include "symbols/mapping.h"

/* Open the files that the words "ELF", "ELF@BASE" or "FOLDER" name.  The first file that knows an
 * address names it.  Files in the usual folders are opened by build ID when a profile asks for
 * them. */
enum tv_status tv_symbols_open(const struct tv_words *words, struct tv_namer **namer,
                               struct tv_error *err) TV_MUST_CHECK;

/* Return the path in such a word.  The text after the last '@' is the base address if it is a
 * number, else part of the path.  False when there is no path, or when it does not fit into `size`
 * bytes. */
bool tv_symbols_path(const char *word, char *path, size_t size);

/* Return a word of --symbols, --base-symbols or --new-symbols by its number among all of them; NULL
 * after the last. */
const char *tv_symbols_word(const struct tv_settings *settings, size_t number);

/* A sink in front of another one that gives frames their original names before the first event. */
struct tv_naming_sink {
    struct tv_sink sink;
    struct tv_sink_ops ops;
    struct tv_sink *inner;
    const struct tv_mapping *mapping;
    uint32_t named; /* frames of the head that have been looked up */
};

/* Put the naming sink in front of `inner`, which receives everything that the naming sink receives.
 */
void tv_naming_sink_init(struct tv_naming_sink *naming, struct tv_sink *inner,
                         const struct tv_mapping *mapping);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - names for files that no reader knows, by their first bytes, and what one can do with
 * them.  docs/foreign.md lists them all.
 */
#ifndef TV_READERS_FOREIGN_H
#define TV_READERS_FOREIGN_H

#include "base/error.h"
#include "base/types.h"

struct tv_foreign {
    const char *name;   /* "a Perfetto trace (protobuf)" */
    const char *advice; /* "Perfetto's \"traceconv json\" makes ..."; NULL: there is none */
};

/* Whether there is nothing to read: no byte, or only white space. */
bool tv_foreign_is_nothing(struct tv_bytes head);

/* Return the format of a file that no reader knows, by its first bytes; NULL: unknown. */
const struct tv_foreign *tv_foreign_find(struct tv_bytes head);

#define TV_FOREIGN_EXPECTED "expected a trace in a format that is known"

/* Says what was found instead, and the advice. */
enum tv_status tv_foreign_fail(const struct tv_foreign *foreign, struct tv_error *err);

/* The Java heap dump, whose first bytes are those of a CPU profile. */
extern const struct tv_foreign tv_foreign_heap_dump;

/* ---- JSON (foreign_json.c) ---- */

/* The keys that distinguish JSON formats, a bit each: those of the outermost object (in a list, of
 * the objects in it) and those inside its values. */
struct tv_foreign_keys {
    uint64_t top, inside;
};

/* Adds the keys of as much of a JSON text as there is. */
void tv_foreign_scan_keys(struct tv_foreign_keys *keys, struct tv_bytes text);
/* Add the keys inside the value of a key of the outermost object. */
void tv_foreign_scan_value(struct tv_foreign_keys *keys, struct tv_bytes text);
/* Adds a key of the outermost object. */
void tv_foreign_add_key(struct tv_foreign_keys *keys, struct tv_bytes key);
/* The format of JSON with these keys; NULL: none that is known, or it may be a Trace Event file. */
const struct tv_foreign *tv_foreign_of_keys(const struct tv_foreign_keys *keys);
/* Return the JSON format of a file by its first bytes; NULL: unknown, or no JSON. */
const struct tv_foreign *tv_foreign_find_json(struct tv_bytes head);

/* ---- Text in lines (foreign_text.c) ---- */

/* The format of text with such lines; NULL: none that is known. */
const struct tv_foreign *tv_foreign_find_text(struct tv_bytes head);
/* Return true for the text of `perf script`, whose flat lines end like collapsed stacks. */
bool tv_foreign_is_perf_script(struct tv_bytes head);

#endif

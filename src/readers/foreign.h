/* SPDX-License-Identifier: Apache-2.0 */
/* foreign.h - naming files of formats that no reader reads, by their first bytes, with advice on
 * how to open them. docs/foreign.md lists all formats. */
#ifndef TV_READERS_FOREIGN_H
#define TV_READERS_FOREIGN_H

#include "base/error.h"
#include "base/types.h"

struct tv_foreign {
    const char *name;   /* "a Perfetto trace (protobuf)" */
    const char *advice; /* "Perfetto's \"traceconv json\" makes ..."; NULL: there is none */
};

/* Return true for no bytes, or only white space. */
bool tv_foreign_is_empty(struct tv_bytes prefix);

/* Return the format of a file that no reader reads, by its prefix; NULL: unknown. */
const struct tv_foreign *tv_foreign_find(struct tv_bytes prefix);

/* Return the format of an HTML page that is known, by its prefix; NULL: it may be any page. */
const struct tv_foreign *tv_foreign_find_page(struct tv_bytes prefix);

#define TV_FOREIGN_EXPECTED "expected a trace in a format that is known"

/* Fail with the name of the format and the advice. */
enum tv_status tv_foreign_fail(const struct tv_foreign *foreign, struct tv_error *err);

/* Name and advice of a format with two forms (foreign.c, foreign_json.c). */
#define TV_FOREIGN_XHPROF "a profile of XHProf", "the pages that come with XHProf show it"

/* The Java heap dump, whose first bytes are those of a CPU profile. */
extern const struct tv_foreign tv_foreign_heap_dump;

/* ---- JSON (foreign_json.c) ---- */

/* Keys that distinguish JSON formats, one bit each: those of the outermost object (or of the
 * objects in an outermost list), and those inside its values. */
struct tv_foreign_keys {
    uint64_t top, inside;
};

/* Add the keys of a JSON text, which may be cut. */
void tv_foreign_scan_keys(struct tv_foreign_keys *keys, struct tv_bytes text);
/* Add the keys inside the value of a key of the outermost object. */
void tv_foreign_scan_value(struct tv_foreign_keys *keys, struct tv_bytes text);
/* Add a key of the outermost object. */
void tv_foreign_add_key(struct tv_foreign_keys *keys, struct tv_bytes key);
/* Return the format of JSON with these keys; NULL: unknown, or it may be a Trace Event file. */
const struct tv_foreign *tv_foreign_of_keys(const struct tv_foreign_keys *keys);
/* Return the JSON format of a file by its first bytes; NULL: unknown, or no JSON. */
const struct tv_foreign *tv_foreign_find_json(struct tv_bytes prefix);

/* ---- Text in lines ---- */

/* Return the format of text with such lines; NULL: unknown. */
const struct tv_foreign *tv_foreign_find_text(struct tv_bytes prefix);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - the keys of a JSON text that may be cut anywhere, one after another.
 *
 * Formats in JSON are told apart by keys in the first bytes of a file.  The scan follows strings
 * and brackets only.  A text that is no JSON yields no keys, or a few by accident, so a format
 * whose key is a common word asks for a second one inside.
 *
 *     {"log": {"version": "1.2", ...
 *      ^       ^
 *      |       key "version", depth 2
 *      key "log", depth 1
 */
#ifndef TV_READERS_JSON_KEYS_H
#define TV_READERS_JSON_KEYS_H

#include <stdbool.h>

#include "base/types.h"

struct tv_json_keys {
    struct tv_bytes text;
    size_t at;      /* after the colon of the last key; never beyond the text */
    unsigned depth; /* number of brackets around `at` */
};

/* Begin at the first character of a text: after the byte order mark and white space. */
struct tv_json_keys tv_json_keys_of(struct tv_bytes text);

/* Find the next key, at any depth; it is the raw text between its quotes.  False: there is none. */
bool tv_json_keys_next(struct tv_json_keys *keys, struct tv_bytes *key);

/* Return the next character that is not white space, and stay there; '\0': the text ends. */
char tv_json_keys_peek(struct tv_json_keys *keys);

/* Take the string at which `peek` stopped.  False: its end is missing. */
bool tv_json_keys_take_string(struct tv_json_keys *keys, struct tv_bytes *string);

#endif

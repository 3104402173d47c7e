/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON text read leniently and without building a tree: for arguments, metadata, snapshots
 * and other texts that are rarely looked at.
 *
 * A value is its type and its raw text; a cursor goes over its members when somebody wants them.
 * Nothing is allocated and nothing recurses, so neither depth nor size of hostile text matters.
 *
 * Reading never fails.  It reports as faults what strict JSON does not allow, and reads on.
 * trace_event/text/values.h decodes the raw text of a value.
 *
 *     strict.c   checks strict JSON with a state machine and copies it: the common case, fast
 *     lenient.c  the lexer, the cursor and the writer for everything else
 */
#ifndef TV_READERS_JSON_JSON_H
#define TV_READERS_JSON_JSON_H

#include "base/out.h"

/* Deviations from RFC 8259, and how they are read. */
enum tv_json_fault {
    TV_JSON_FAULT_COMMA = 1 << 0,     /* too many commas, or one missing between two items */
    TV_JSON_FAULT_QUOTES = 1 << 1,    /* a string in single quotes */
    TV_JSON_FAULT_WORD = 1 << 2,      /* a bare word: a string, except 0x100: a number */
    TV_JSON_FAULT_INFINITE = 1 << 3,  /* NaN, Infinity, -Infinity: numbers */
    TV_JSON_FAULT_NUMBER = 1 << 4,    /* 007, .5, 5., +5: numbers */
    TV_JSON_FAULT_CONTROL = 1 << 5,   /* a raw control character in a string: itself */
    TV_JSON_FAULT_ESCAPE = 1 << 6,    /* an unknown escape: the character after the backslash */
    TV_JSON_FAULT_SURROGATE = 1 << 7, /* \ud800 alone: U+FFFD.  The grammar of RFC 8259 allows it */
    TV_JSON_FAULT_UTF8 = 1 << 8,      /* bytes that are not UTF-8: U+FFFD */
    TV_JSON_FAULT_COMMENT = 1 << 9, /* // or slash-star comments, or "..." and words: white space */
    TV_JSON_FAULT_MISSING = 1 << 10,  /* no key (read as empty), no colon, or no value (null) */
    TV_JSON_FAULT_BRACKET = 1 << 11,  /* a closing bracket of the wrong kind: closes all the same */
    TV_JSON_FAULT_CUT = 1 << 12,      /* the text ends too early: everything open ends there */
    TV_JSON_FAULT_TRAILING = 1 << 13, /* more text after the value: left out */
    TV_JSON_FAULT_DEPTH = 1 << 14,    /* nested deeper than TV_JSON_DEPTH: null */
};

#define TV_JSON_DEPTH 10000

enum tv_json_type {
    TV_JSON_NONE, /* missing; the raw text is empty */
    TV_JSON_NULL,
    TV_JSON_FALSE,
    TV_JSON_TRUE,
    TV_JSON_NUMBER, /* NaN and the infinities, too */
    TV_JSON_STRING, /* raw: with its quotes */
    TV_JSON_WORD,   /* any other bare word */
    TV_JSON_OBJECT,
    TV_JSON_ARRAY,
};

struct tv_json_value {
    enum tv_json_type type;
    struct tv_bytes
        raw; /* without space around it; cut strings, objects and arrays reach to the end */
};

/* Return the value that a text begins with. */
struct tv_json_value tv_json_value(struct tv_bytes text);

/* The state of going over the members of an object or the elements of an array. */
struct tv_json_cursor {
    const uint8_t *at, *end;
    unsigned faults; /* in the text passed so far, but not inside of strings */
    bool in_object, first;
};

/* Start before the first item of a raw value.  A value that is not an object or array has no items.
 */
struct tv_json_cursor tv_json_items(struct tv_bytes raw);

/* Return the next item in the order of the text, duplicates too; false: there are no more.  The key
 * is raw text (with quotes, if it has any), empty in arrays. */
bool tv_json_next(struct tv_json_cursor *cursor, struct tv_bytes *key, struct tv_json_value *value);

/* Return the member of an object by its key, whose escapes are resolved; of duplicates the last.
 * TV_JSON_NONE: there is none. */
struct tv_json_value tv_json_find(struct tv_bytes object, struct tv_bytes key);

/* Write the first value of a lenient text as strict and compact JSON.  Numbers keep their digits,
 * bare 0x100 becomes 256, NaN, infinities and other words become strings, a missing value becomes
 * null.  *faults (may be NULL) are all deviations. */
void tv_json_normalise(struct tv_bytes raw, struct tv_out *out, unsigned *faults);

/* Return how many bytes at the begin of the text are a JSON number (RFC 8259, section 6); 0: none.
 */
size_t tv_json_number_length(struct tv_bytes text);

/* Write a value on one line and without control characters.  Strict JSON only loses the space
 * between its tokens; anything else is written, and faults reported, as by tv_json_normalise. */
void tv_json_compact(struct tv_bytes raw, struct tv_out *out, unsigned *faults);

/* True when two values are the same text as strict JSON, so that 0x10 equals 16. */
bool tv_json_equal(struct tv_bytes a, struct tv_bytes b);

/* True when something in a value is nested deeper than TV_JSON_DEPTH and would be written as null.
 */
bool tv_json_is_too_deep(struct tv_bytes raw);

/* Check that a text is one value of strict JSON with white space around it, at most TV_JSON_DEPTH
 * deep.  *bad_offset is that of the first fault, or the length.  Either may be NULL. */
bool tv_json_check(struct tv_bytes raw, unsigned *faults, size_t *bad_offset);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON text as trees, for what is looked at rarely: arguments, metadata, snapshots.
 *
 * Nothing is parsed ahead: a value is its type and its raw text, and whoever wants to see inside
 * goes over its members.  Nothing is allocated and nothing recurses, whatever the depth.
 *
 * Reading is lenient, and says by faults what it had to forgive; no text stops it.
 * trace_event/values.h says what the raw text of a value means.
 */
#ifndef TV_READERS_JSON_JSON_H
#define TV_READERS_JSON_JSON_H

#include "base/out.h"

/* What is not as RFC 8259 wants it, and how it is read. */
enum tv_json_fault {
    TV_JSON_FAULT_COMMA = 1 << 0,     /* too many, or missing between two items */
    TV_JSON_FAULT_QUOTES = 1 << 1,    /* a string in single quotes */
    TV_JSON_FAULT_WORD = 1 << 2,      /* a bare word: a string; 0x100: a number */
    TV_JSON_FAULT_INFINITE = 1 << 3,  /* NaN, Infinity, -Infinity: numbers */
    TV_JSON_FAULT_NUMBER = 1 << 4,    /* 007, .5, 5., +5: numbers */
    TV_JSON_FAULT_CONTROL = 1 << 5,   /* a raw control character in a string stands for itself */
    TV_JSON_FAULT_ESCAPE = 1 << 6,    /* an unknown escape: the character behind the backslash */
    TV_JSON_FAULT_SURROGATE = 1 << 7, /* \ud800 alone: U+FFFD.  RFC 8259's grammar has it */
    TV_JSON_FAULT_UTF8 = 1 << 8,      /* bytes that are not UTF-8: U+FFFD */
    TV_JSON_FAULT_COMMENT = 1 << 9,   /* in // or slashes and stars, or ... words: white space */
    TV_JSON_FAULT_MISSING = 1 << 10,  /* no key (an empty one), no colon, no value (null) */
    TV_JSON_FAULT_BRACKET = 1 << 11,  /* a closing one of the wrong kind closes all the same */
    TV_JSON_FAULT_CUT = 1 << 12,      /* the text ends too early: all that is open ends there */
    TV_JSON_FAULT_TRAILING = 1 << 13, /* more behind the value: left out */
    TV_JSON_FAULT_DEPTH = 1 << 14,    /* deeper than TV_JSON_DEPTH: null */
};

#define TV_JSON_DEPTH 10000

enum tv_json_type {
    TV_JSON_NONE, /* missing; the raw text is empty */
    TV_JSON_NULL,
    TV_JSON_FALSE,
    TV_JSON_TRUE,
    TV_JSON_NUMBER, /* NaN and the infinities as well */
    TV_JSON_STRING, /* raw: with its quotes */
    TV_JSON_WORD,   /* anything else that is bare */
    TV_JSON_OBJECT,
    TV_JSON_ARRAY,
};

struct tv_json_value {
    enum tv_json_type type;
    struct tv_bytes raw; /* no space around it; cut strings, objects and arrays go to the end */
};

/* The value that a text begins with. */
struct tv_json_value tv_json_value(struct tv_bytes text);

/* Goes over the members of an object or the elements of an array. */
struct tv_json_cursor {
    const uint8_t *at, *end;
    unsigned faults; /* in what it passed over, but not those inside of strings */
    bool in_object, first;
};

/* Before the first item of a raw value; one that is no object and no array has none. */
struct tv_json_cursor tv_json_items(struct tv_bytes raw);

/* The next item, in the order of the text, each of duplicate keys; false: there are no more.  The
 * key is raw text (with its quotes, if it has some), empty in arrays. */
bool tv_json_next(struct tv_json_cursor *cursor, struct tv_bytes *key, struct tv_json_value *value);

/* The member of an object by its key, with escapes resolved; of duplicates the last. TV_JSON_NONE:
 * there is none. */
struct tv_json_value tv_json_find(struct tv_bytes object, struct tv_bytes key);

/* Writes the first value of a lenient text as strict and compact JSON: numbers keep their digits,
 * bare 0x100 becomes 256, NaN, infinities and other words strings, no value at all null.  *faults
 * (may be NULL): all that was forgiven. */
void tv_json_normalise(struct tv_bytes raw, struct tv_out *out, unsigned *faults);

/* How many bytes of the text's begin are a number of JSON (RFC 8259, section 6); 0: it begins with
 * none. */
size_t tv_json_number_length(struct tv_bytes text);

/* Writes a value on one line and without a control character: strict JSON as it stands, without the
 * space between tokens, and anything else as tv_json_normalise does, with its faults. */
void tv_json_compact(struct tv_bytes raw, struct tv_out *out, unsigned *faults);

/* Whether two values are written alike as strict JSON: 0x10 is 16. */
bool tv_json_equal(struct tv_bytes a, struct tv_bytes b);

/* Whether something in a value is nested deeper than TV_JSON_DEPTH, so that it is written as null.
 */
bool tv_json_is_too_deep(struct tv_bytes raw);

/* Whether a text is one value of strict JSON with white space around it, at most TV_JSON_DEPTH
 * deep. *bad_offset: of the first fault, or the length.  Either may be NULL. */
bool tv_json_check(struct tv_bytes raw, unsigned *faults, size_t *bad_offset);

#endif

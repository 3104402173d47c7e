/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - the tokens of lenient JSON text, for the files of this folder alone.
 *
 * All rules of leniency are here and in walk.c, so that whoever goes over a text finds the
 * same values in it.  No byte behind the end is read.
 */
#ifndef TV_READERS_JSON_WALK_H
#define TV_READERS_JSON_WALK_H

#include "readers/json/json.h"

struct tv_json_walk {
    const uint8_t *at, *end;
    const uint8_t *bad; /* the first place where the grammar is broken, or NULL */
    unsigned faults;
};

static inline struct tv_json_walk tv_json_walk_over(struct tv_bytes text)
{
    const uint8_t *end = text.length == 0 ? text.data : text.data + text.length;
    return (struct tv_json_walk){text.data, end, NULL, 0};
}

/* Notes a fault, and the place of the first. */
void tv_json_blame(struct tv_json_walk *walk, enum tv_json_fault fault, const uint8_t *place);

/* The next byte that is neither space nor comment nor "...", which stays; -1: there is none. */
int tv_json_look(struct tv_json_walk *walk);

/* A string or a bare word; *text is its raw text. At least one byte is there. */
void tv_json_take_string(struct tv_json_walk *walk, struct tv_bytes *text);
void tv_json_take_word(struct tv_json_walk *walk, struct tv_bytes *text);

/* Behind the end of the object or array that begins here. */
void tv_json_skip_nested(struct tv_json_walk *walk);

/* Goes to the next item of an object or array; false behind its end. */
bool tv_json_more(struct tv_json_walk *walk, bool in_object, bool first);

/* The key and the colon of a member. */
struct tv_bytes tv_json_take_key(struct tv_json_walk *walk);

/* Goes to a value: its first byte, or -1 if it is missing, which is blamed. */
int tv_json_look_value(struct tv_json_walk *walk);

/* What a bare word is; blames what RFC 8259 does not have. */
enum tv_json_type tv_json_judge_word(struct tv_json_walk *walk, struct tv_bytes word);

/* Blames what is inside a string. */
void tv_json_judge_string(struct tv_json_walk *walk, struct tv_bytes raw);

/* A word that is TV_JSON_NUMBER as strict JSON: all its digits; infinite ones are strings. */
void tv_json_number_write(struct tv_out *out, struct tv_bytes word);

#endif

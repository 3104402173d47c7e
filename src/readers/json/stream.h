/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - JSON of known structure, read in one pass without a tree: for profiles, whose text is
 * nearly all numbers.
 *
 * The reader says what it expects, and the stream moves on:
 *
 *     if (tv_json_open(&stream, '{'))
 *         while (tv_json_take_key(&stream, &key))
 *             if (is_count(key)) tv_json_take_number(&stream, 0, &count);
 *             else tv_json_skip(&stream);
 *
 * Every value must be taken or skipped.  A value of another type than expected is skipped whole.
 * Text that is not JSON ends the stream: it is `bad` from then on, and all loops end.  Nothing
 * recurses.  json.h reads texts that are not quite JSON; this one does not.
 */
#ifndef TV_READERS_JSON_STREAM_H
#define TV_READERS_JSON_STREAM_H

#include "base/error.h"
#include "base/types.h"

struct tv_json_stream {
    const uint8_t *start, *at, *end;
    bool bad; /* the text is not JSON at `at`, or ends there */
};

/* Return a stream that begins at the start of a text. */
struct tv_json_stream tv_json_stream_over(struct tv_bytes text);

/* Return the stream again at an offset of its text. */
struct tv_json_stream tv_json_stream_at(const struct tv_json_stream *stream, size_t offset);

static inline uint64_t tv_json_stream_offset(const struct tv_json_stream *stream)
{
    return (uint64_t)(stream->at - stream->start);
}

/* Return the first byte of the next value, without taking it; 0 at the end. */
uint8_t tv_json_peek(struct tv_json_stream *stream);

/* Enter an object ('{') or array ('['); false: the value is another one, and was skipped. */
bool tv_json_open(struct tv_json_stream *stream, char bracket);

/* Take the next key of an object with its colon, without its quotes and with its escapes; false,
 * after the bracket, when there is none. */
bool tv_json_take_key(struct tv_json_stream *stream, struct tv_bytes *key);

/* Move to the next element of an array; false, after the bracket, when there is none. */
bool tv_json_take_element(struct tv_json_stream *stream);

/* Take a value. */
void tv_json_skip(struct tv_json_stream *stream);

/* Take a value; return its raw text, strings with their quotes. */
struct tv_bytes tv_json_take_raw(struct tv_json_stream *stream);

/* Take a number multiplied by 10^`digits` (at most 18), exact from its decimal digits: halves are
 * rounded away from zero, and what 64 bits cannot hold saturates.  False: the value is not a
 * number, and was skipped. */
bool tv_json_take_number(struct tv_json_stream *stream, unsigned digits, int64_t *value);

/* Parse a raw number in the same way. */
bool tv_json_parse_number(struct tv_bytes raw, unsigned digits, int64_t *value);

/* A member of an object that a reader wants. */
struct tv_json_member {
    const char *key;
    uint64_t offset; /* of its value in the text; TV_NO_OFFSET: there is none.  The last counts */
};

/* Take an object, and find some of its members.  False: the value is no object. */
bool tv_json_find_members(struct tv_json_stream *stream, struct tv_json_member *members,
                          size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding.h - Base64 (RFC 4648) and the query part of a request target.
 *
 * The Base64 decoder skips blanks and line breaks.  Both directions work on a stream: the state
 * carries incomplete groups from one call to the next.
 */
#ifndef TV_BASE_ENCODING_H
#define TV_BASE_ENCODING_H

#include "base/error.h"
#include "base/types.h"

struct tv_out;

/* State of a decoder between two calls; starts as {0}. */
struct tv_base64 {
    uint32_t bits;
    unsigned digits; /* digits of an incomplete group in `bits`, 0 to 3 */
    bool padded;     /* '=' was seen: only padding may follow */
};

/* Decode `text` into `to`, which has room for 3/4 of its length plus 3 bytes.  Return the number of
 * bytes written.  *used is text.length, or the index of the first invalid character. */
size_t tv_base64_decode(struct tv_base64 *state, struct tv_bytes text, uint8_t *to, size_t *used);

/* State of an encoder between two calls: the bytes of an incomplete group; starts as {0}. */
struct tv_base64_encoder {
    uint8_t held[2];
    unsigned count; /* bytes in `held`, 0 to 2 */
};

/* Append the letters of all complete groups of three bytes.  `finish` appends the last incomplete
 * group with its padding and resets the encoder. */
void tv_base64_encode(struct tv_base64_encoder *encoder, struct tv_bytes bytes, struct tv_out *out);
void tv_base64_encode_finish(struct tv_base64_encoder *encoder, struct tv_out *out);

/*
 * The target of an HTTP request: "/TOKEN/api/profile?from=5&tracks=0%2C3".
 *
 * The server compares the path as it arrived and never decodes it, so no percent sign and no dot in
 * it has a meaning.  Only the names and values of parameters are decoded, in place.
 */

/* More than any request of the page needs. */
#define TV_QUERY_PARAMETERS 16

struct tv_query_parameter {
    struct tv_bytes name, value;
};

struct tv_query {
    struct tv_query_parameter items[TV_QUERY_PARAMETERS];
    size_t count;
};

/* Split at the first '?': *target becomes the path; return the query after it. */
struct tv_bytes tv_query_split(struct tv_bytes *target);

/* Parse "name=value&...", decoding "%41" and "+" in place: `text` changes, and the query points
 * into it.  TV_ERR_USAGE: an empty or repeated name, too many parameters, a '%' without two
 * hexadecimal digits, or a control character after decoding. */
enum tv_status tv_query_parse(struct tv_query *query, uint8_t *text, size_t length,
                              struct tv_error *err) TV_MUST_CHECK;

/* Decode the "%41" of one path segment in place; a '+' stays a '+'.  Errors as above. */
enum tv_status tv_query_decode_name(uint8_t *text, size_t length, struct tv_bytes *decoded,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Return the value of a parameter, or NULL when the request does not have it. */
const struct tv_bytes *tv_query_find(const struct tv_query *query, const char *name);

#endif

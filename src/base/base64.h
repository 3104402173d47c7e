/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - RFC 4648, with line breaks and blanks between.
 */
#ifndef TV_BASE_BASE64_H
#define TV_BASE_BASE64_H

#include "base/types.h"

struct tv_out;

/* What is carried from one call to the next; begins as {0}. */
struct tv_base64 {
    uint32_t bits;
    unsigned digits; /* in `bits`, 0 to 3 */
    bool padded;     /* '=' was seen: nothing but padding may follow */
};

/* Decodes `text` into `to`, which has room for three quarters of it and 3 more.  Returns how many
 * bytes; *used is text.length, or where a character stands that does not belong there. */
size_t tv_base64_decode(struct tv_base64 *state, struct tv_bytes text, uint8_t *to, size_t *used);

/* What stands between two calls of encoding: at most two bytes; begins as {0}. */
struct tv_base64_encoder {
    uint8_t held[2];
    unsigned count; /* of those that are held, 0 to 2 */
};

/* Adds the letters of all whole groups of three bytes; finish adds those that are left, with
 * padding, and begins anew. */
void tv_base64_encode(struct tv_base64_encoder *encoder, struct tv_bytes bytes, struct tv_out *out);
void tv_base64_encode_finish(struct tv_base64_encoder *encoder, struct tv_out *out);

#endif

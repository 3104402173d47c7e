/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disguise.h - a trace for those who may not know its names, or what its events say.
 *
 * Every text that a trace holds becomes a hash under a key, whatever it names: what must not be
 * told cannot be forgotten that way (docs/decisions/0016-every-text-a-hash.md).  Numbers stay.
 * What an event says stays in the file, and so does what the file says of itself.
 */
#ifndef TV_WRITERS_DISGUISE_H
#define TV_WRITERS_DISGUISE_H

#include "model/trace.h"

/* Bytes of a key, and of what is made of a text under it. */
#define TV_DISGUISE_KEY 32u

/* A letter, so that none looks like a number, and 60 bits in hexadecimal digits; with a NUL. */
#define TV_DISGUISE_ROOM 17u

/* A message authentication code: nobody without the key can tell whose it is. */
typedef void tv_disguise_mac(const uint8_t key[TV_DISGUISE_KEY], struct tv_bytes text,
                             uint8_t digest[TV_DISGUISE_KEY]);

struct tv_disguise_options {
    bool hash_names;
    bool strip_args;      /* else texts in them are hashed where names are */
    tv_disguise_mac *mac; /* HMAC-SHA-256 of a library that this room does not know */
    uint8_t key[TV_DISGUISE_KEY];
};

/* What stands in the place of a text; nothing in that of an empty one. */
void tv_disguise_text(const struct tv_disguise_options *options, struct tv_bytes text,
                      char hash[TV_DISGUISE_ROOM]);

struct tv_disguise;

/* The trace and the options must live as long. */
struct tv_disguise *tv_disguise_new(const struct tv_trace *trace,
                                    const struct tv_disguise_options *options);
void tv_disguise_free(struct tv_disguise *disguise);

/* The same trace with other texts, for those who write traces from the model. */
const struct tv_trace *tv_disguise_trace(const struct tv_disguise *disguise);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redaction.h - a trace without its names and without the arguments of its events, for readers
 * who may not know them.
 *
 * Every text of the trace is replaced by a keyed hash, whatever it names, so that no kind of
 * text can be forgotten (docs/decisions/0016-every-text-a-hash.md). Numbers stay. Arguments stay
 * in the source file and are redacted when they are read; the file's own metadata is dropped.
 */
#ifndef TV_WRITERS_REDACTION_H
#define TV_WRITERS_REDACTION_H

#include "model/trace.h"

/* Bytes of a key and of a digest. */
#define TV_REDACTION_KEY_SIZE 32u

/* Size of a hash with its NUL: a letter, so that no hash looks like a number, and 60 bits in
 * hexadecimal digits. */
#define TV_REDACTION_HASH_SIZE 17u

/* A message authentication code: without the key, nobody can find the text of a hash. */
typedef void tv_redaction_mac(const uint8_t key[TV_REDACTION_KEY_SIZE], struct tv_bytes text,
                              uint8_t digest[TV_REDACTION_KEY_SIZE]);

struct tv_redaction_options {
    bool hash_names;
    bool strip_args;       /* drop arguments; else hash their strings when names are hashed */
    tv_redaction_mac *mac; /* HMAC-SHA-256, from a library that this module may not use */
    uint8_t key[TV_REDACTION_KEY_SIZE];
};

/* Write the hash of a text; an empty text has an empty hash. */
void tv_redaction_hash(const struct tv_redaction_options *options, struct tv_bytes text,
                       char hash[TV_REDACTION_HASH_SIZE]);

struct tv_redaction;

/* Prepare a redacted view. The trace and the options must outlive it. */
struct tv_redaction *tv_redaction_new(const struct tv_trace *trace,
                                      const struct tv_redaction_options *options);
void tv_redaction_free(struct tv_redaction *redaction);

/* Return the same trace with other texts, for writers that write from the model. */
const struct tv_trace *tv_redaction_trace(const struct tv_redaction *redaction);

#endif

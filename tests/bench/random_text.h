/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_text.h - a file of made-up text, the same for the same seed: what the generators share.
 */
#ifndef TV_BENCH_RANDOM_TEXT_H
#define TV_BENCH_RANDOM_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_BLOCK (1u << 20)
#define TEXT_ROOM 1024u /* the longest piece, with its NUL */

struct random_text {
    FILE *file;
    uint64_t random;
    uint64_t written; /* to the file; `used` more bytes wait */
    size_t used;
    char block[TEXT_BLOCK + TEXT_ROOM];
};

/* To standard error; ends the program. */
_Noreturn void fail(const char *what);

/* Each fails where it cannot open or write. */
void text_open(struct random_text *text, const char *path, uint64_t seed);
void put(struct random_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_close(struct random_text *text);

static inline uint64_t text_length(const struct random_text *text)
{
    return text->written + text->used;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t next_random(struct random_text *text);

/* One of [0, limit). */
unsigned below(struct random_text *text, unsigned limit);

#endif

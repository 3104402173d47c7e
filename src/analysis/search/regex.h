/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex.h - regular expressions that are searched for in time linear in the text.
 *
 * Supported: . [a-z] [^a-z] \d \w \s \b (and \D \W \S), ^ $, groups, |, * + ? {m,n}, and "(?:" as a
 * group.  Back references and look-around are not: an expression compiles to an automaton of at
 * most TV_REGEX_STATES states, which reads each character once, so that no expression can take
 * exponential time.  The only question is whether a text has a match: greedy and lazy quantifiers
 * are the same.
 */
#ifndef TV_ANALYSIS_PATTERN_H
#define TV_ANALYSIS_PATTERN_H

#include "base/error.h"
#include "base/types.h"

#define TV_REGEX_STATES 1000
#define TV_REGEX_RANGES 1000

struct tv_regex;

/* Compile an expression; `fold` ignores case.  An expression that is malformed, too long or
 * matches the empty text is an error (TV_ERR_USAGE). */
enum tv_status tv_regex_new(struct tv_bytes text, bool fold, struct tv_regex **regex,
                            struct tv_error *err) TV_MUST_CHECK;
void tv_regex_free(struct tv_regex *regex);

/* Decode the first character of a text (length > 0); *length: its bytes. */
typedef uint32_t tv_character_decoder(struct tv_bytes bytes, size_t *length);

/* Return the end of the match that ends first, or TV_REGEX_NONE. */
#define TV_REGEX_NONE SIZE_MAX
size_t tv_regex_find(const struct tv_regex *regex, struct tv_bytes text,
                     tv_character_decoder *take);

/* Search raw JSON from `from` on, where the ends of texts are unknown: a quote ends a match, and
 * ^ $ \b hold everywhere.  Return the place of the last character of a possible match; false
 * matches occur, but none is missed. */
size_t tv_regex_find_in_json(const struct tv_regex *regex, struct tv_bytes bytes, size_t from,
                             tv_character_decoder *take);

#endif

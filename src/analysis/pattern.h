/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h - regular expressions that are searched for, in a time that no pattern can make long.
 *
 * Known are . [a-z] [^a-z] \d \w \s \b (and \D \W \S), ^ $, groups, |, * + ? {m,n}; what follows a
 * group's "(?:" is one too. References back and looking around are not: a pattern becomes a machine
 * of at most TV_PATTERN_STATES states, which reads each character once. The question is only
 * whether a text has a match, so that greedy and lazy are the same.
 */
#ifndef TV_ANALYSIS_PATTERN_H
#define TV_ANALYSIS_PATTERN_H

#include "base/error.h"
#include "base/types.h"

#define TV_PATTERN_STATES 1000
#define TV_PATTERN_RANGES 1000

struct tv_pattern;

/* A pattern that cannot be read, is too long or matches the empty text is an error. */
enum tv_status tv_pattern_new(struct tv_bytes text, bool fold, struct tv_pattern **pattern,
                              struct tv_error *err) TV_MUST_CHECK;
void tv_pattern_free(struct tv_pattern *pattern);

/* The character at the beginning of a text (length > 0), and how many bytes it takes. */
typedef uint32_t tv_pattern_take(struct tv_bytes bytes, size_t *length);

/* Where the first match that ends first has its end, or TV_PATTERN_NONE. */
#define TV_PATTERN_NONE SIZE_MAX
size_t tv_pattern_find(const struct tv_pattern *pattern, struct tv_bytes text,
                       tv_pattern_take *take);

/* The same from `from` on in written JSON, in which an end of a text is not known: a quote ends a
 * match, and ^ $ \b hold everywhere.  It gives the place of the last character of what may be a
 * match; what there is is found. */
size_t tv_pattern_find_loose(const struct tv_pattern *pattern, struct tv_bytes bytes, size_t from,
                             tv_pattern_take *take);

#endif

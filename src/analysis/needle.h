/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needle.h - a text that is searched for, in plain text and in JSON as it is written.
 *
 * Compared are characters, not bytes: in JSON an escape is the character that it stands for, so
 * that "é" finds \u00e9 and "/" finds \/.  Where case does not count, capital and small letters of
 * Latin (ASCII and Latin-1), Greek and Cyrillic are the same.
 */
#ifndef TV_ANALYSIS_NEEDLE_H
#define TV_ANALYSIS_NEEDLE_H

#include "analysis/pattern.h"
#include "base/types.h"

/* In characters. */
#define TV_NEEDLE_LIMIT 256
/* The longest way to write a character: two escapes of six bytes. */
#define TV_NEEDLE_WIDEST 12

struct tv_needle {
    uint32_t points[TV_NEEDLE_LIMIT]; /* small letters where case does not count */
    size_t count;
    bool fold;
    bool starts[256];           /* the bytes with which a match may begin in JSON */
    struct tv_pattern *pattern; /* instead of all that; NULL: there is none */
};

/* False: the text is empty or too long. Bytes that are not UTF-8 are U+FFFD. */
bool tv_needle_init(struct tv_needle *needle, struct tv_bytes text, bool match_case);

/* The same of a regular expression, to be given back with tv_needle_release; count stands for the
 * longest match that is found wherever what is read at once ends. */
enum tv_status tv_needle_init_pattern(struct tv_needle *needle, struct tv_bytes text,
                                      bool match_case, struct tv_error *err) TV_MUST_CHECK;
void tv_needle_release(struct tv_needle *needle);

/* Whether a text has it. */
bool tv_needle_in(const struct tv_needle *needle, struct tv_bytes text);

/* Where in what stands between the quotes of a JSON string the first match begins; TV_NEEDLE_NONE:
 * there is none; of a pattern it ends there. */
#define TV_NEEDLE_NONE SIZE_MAX
size_t tv_needle_in_string(const struct tv_needle *needle, struct tv_bytes inside);

/* Where in the written JSON the next match from `from` on begins, or `end`. Matches run up to
 * bytes.length.  As strings are not told from what is around them, what is found may be none; what
 * there is is found. */
size_t tv_needle_next(const struct tv_needle *needle, struct tv_bytes bytes, size_t from,
                      size_t end);

/* The same character in small and in capital letters, as far as they are known here. */
uint32_t tv_needle_small(uint32_t c);
uint32_t tv_needle_capital(uint32_t c);

/* The character at the beginning of plain text (length > 0), and how many bytes it takes. */
uint32_t tv_needle_take_plain(struct tv_bytes bytes, size_t *length);

/* The character at the beginning of written JSON (length > 0), and how many bytes it takes. */
uint32_t tv_needle_take(struct tv_bytes bytes, size_t *length);

#endif

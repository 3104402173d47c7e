/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_search.h - search for a text or a regular expression, in plain text and in raw JSON.
 *
 * Characters are compared, not bytes: an escape in JSON is the character that it stands for, so
 * that "é" finds \u00e9 and "/" finds \/.  When case is ignored, upper and lower case letters of
 * Latin (ASCII and Latin-1), Greek and Cyrillic are the same.
 */
#ifndef TV_ANALYSIS_NEEDLE_H
#define TV_ANALYSIS_NEEDLE_H

#include "analysis/search/regex.h"
#include "base/types.h"

/* Longest text, in characters. */
#define TV_TEXT_SEARCH_LIMIT 256
/* Longest spelling of one character in JSON: two escapes of six bytes each. */
#define TV_CHARACTER_JSON_MAX 12

struct tv_text_search {
    uint32_t points[TV_TEXT_SEARCH_LIMIT]; /* lower case if case is ignored */
    size_t count;
    bool fold;
    bool starts[256]; /* bytes that can begin a match in JSON */
    struct tv_regex
        *regex; /* if set, the text members above are unused; NULL: a substring search */
};

/* Prepare a substring search.  Return false if the text is empty or too long.  Bytes that are not
 * UTF-8 become U+FFFD. */
bool tv_text_search_init(struct tv_text_search *search, struct tv_bytes text, bool match_case);

/* Prepare a search for a regular expression; release it with tv_text_search_release.  `count` is
 * then the longest match, in characters, that is found across the border of two reads. */
enum tv_status tv_text_search_init_regex(struct tv_text_search *search, struct tv_bytes text,
                                         bool match_case, struct tv_error *err) TV_MUST_CHECK;
void tv_text_search_release(struct tv_text_search *search);

/* Return true if a plain text contains a match. */
bool tv_text_search_matches(const struct tv_text_search *search, struct tv_bytes text);

/* Return where the first match begins inside a JSON string (between its quotes), or
 * TV_TEXT_SEARCH_NONE.  For a regular expression, return where the match ends. */
#define TV_TEXT_SEARCH_NONE SIZE_MAX
size_t tv_text_search_find_in_string(const struct tv_text_search *search, struct tv_bytes inside);

/* Return where the next match at or after `from` begins in raw JSON, or `end`.  A match may
 * extend to bytes.length.  The scan does not tell strings from the JSON around them: it may report
 * false matches, but misses none. */
size_t tv_text_search_next(const struct tv_text_search *search, struct tv_bytes bytes, size_t from,
                           size_t end);

/* Change the case of a character, if its other case is known (see above). */
uint32_t tv_character_lower(uint32_t c);
uint32_t tv_character_upper(uint32_t c);

/* Decode the first character of a plain text (length > 0); *length: its bytes. */
uint32_t tv_character_decode(struct tv_bytes bytes, size_t *length);

/* Decode the first character of raw JSON (length > 0); *length: its bytes. */
uint32_t tv_character_decode_json(struct tv_bytes bytes, size_t *length);

#endif

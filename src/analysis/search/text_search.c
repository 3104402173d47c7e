/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Substring search that compares decoded characters.  In raw JSON, a table of the bytes with which
 * a match can begin (the first character in either case, or a backslash) skips most positions
 * without decoding.
 *
 * One text has several spellings in JSON: "\u00e9", "\u00E9" and the UTF-8 bytes are the same
 * character, and "\/" is "/".  Comparing decoded characters finds them all; searching for bytes
 * would not.  Positions are always byte offsets in the raw text, so that a match can be shown in
 * the file.
 */
#include "analysis/search/text_search.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

#define REPLACEMENT 0xfffdu

/* ---- Characters ---- */

uint32_t tv_character_lower(uint32_t c)
{
    if (c - 'A' < 26)
        return c + 32;
    if (c < 0xc0)
        return c;
    if ((c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3ab && c != 0x3a2) ||
        (c >= 0x410 && c <= 0x42f))
        return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

uint32_t tv_character_upper(uint32_t c)
{
    if (c >= 80 && tv_character_lower(c - 80) == c)
        return c - 80;
    return c >= 32 && tv_character_lower(c - 32) == c ? c - 32 : c;
}

/* Return true for the second and later bytes of a character, where no match can begin. */
static bool utf8_is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

uint32_t tv_character_decode(struct tv_bytes bytes, size_t *length)
{
    assert(bytes.length > 0);
    const uint8_t *b = bytes.data;
    *length = tv_bytes_utf8(bytes);
    switch (*length) {
    case 1:
        return b[0];
    case 2:
        return (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
    case 3:
        return (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
    case 4:
        return (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 | (b[3] & 0x3fu);
    default:
        *length = 1;
        return REPLACEMENT;
    }
}

/* Decode "\u00e9"; false if the bytes do not begin with such an escape. */
static bool json_take_hex_escape(struct tv_bytes bytes, uint32_t *value)
{
    *value = 0;
    if (bytes.length < 6 || bytes.data[0] != '\\' || bytes.data[1] != 'u')
        return false;
    for (size_t i = 2; i < 6; i++) {
        int digit = tv_hex_digit(bytes.data[i]);
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

/* Join "\ud83d\ude00" to one character. Half a pair, which JSON permits, is U+FFFD. */
static uint32_t json_take_surrogates(struct tv_bytes bytes, uint32_t first, size_t *length)
{
    uint32_t second;
    *length = 6;
    if (first < 0xd800 || first > 0xdfff)
        return first;
    struct tv_bytes rest = {bytes.data + 6, bytes.length - 6};
    if (first > 0xdbff || !json_take_hex_escape(rest, &second) || second < 0xdc00 ||
        second > 0xdfff)
        return REPLACEMENT;
    *length = TV_CHARACTER_JSON_MAX;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

uint32_t tv_character_decode_json(struct tv_bytes bytes, size_t *length)
{
    assert(bytes.length > 0);
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    uint32_t value;
    if (bytes.data[0] != '\\' || bytes.length == 1)
        return tv_character_decode(bytes, length);
    if (json_take_hex_escape(bytes, &value))
        return json_take_surrogates(bytes, value, length);
    const char *letter = memchr(letters, bytes.data[1], sizeof letters - 1);
    if (letter) {
        *length = 2;
        return (uint8_t)meanings[letter - letters];
    }
    value = tv_character_decode((struct tv_bytes){bytes.data + 1, bytes.length - 1}, length);
    *length += 1;
    return value;
}

/* ---- Searching ---- */

/* Return the first byte of a character in UTF-8. */
static uint8_t utf8_first_byte(uint32_t c)
{
    if (c < 0x80)
        return (uint8_t)c;
    if (c < 0x800)
        return (uint8_t)(0xc0 | c >> 6);
    return (uint8_t)(c < 0x10000 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
}

/* Fill the table of bytes with which a match can begin. */
static void text_search_set_first_bytes(struct tv_text_search *search)
{
    assert(search->count > 0 && !search->regex);
    uint32_t c = search->points[0];
    search->starts['\\'] = true;
    search->starts[utf8_first_byte(c)] = true;
    if (search->fold)
        search->starts[utf8_first_byte(tv_character_upper(c))] = true;
    /* Every byte that is not UTF-8 decodes to U+FFFD. */
    for (unsigned byte = 0x80; c == REPLACEMENT && byte < 256; byte++)
        search->starts[byte] = true;
}

enum tv_status tv_text_search_init_regex(struct tv_text_search *search, struct tv_bytes text,
                                         bool match_case, struct tv_error *err)
{
    memset(search, 0, sizeof *search);
    search->count = TV_TEXT_SEARCH_LIMIT;
    return tv_regex_new(text, !match_case, &search->regex, err);
}

void tv_text_search_release(struct tv_text_search *search)
{
    tv_regex_free(search->regex);
    search->regex = NULL;
}

bool tv_text_search_init(struct tv_text_search *search, struct tv_bytes text, bool match_case)
{
    memset(search, 0, sizeof *search);
    search->fold = !match_case;
    while (text.length > 0) {
        size_t length;
        uint32_t c = tv_character_decode(text, &length);
        if (search->count == TV_TEXT_SEARCH_LIMIT)
            return false;
        search->points[search->count++] = search->fold ? tv_character_lower(c) : c;
        text = (struct tv_bytes){text.data + length, text.length - length};
    }
    if (search->count == 0)
        return false;
    text_search_set_first_bytes(search);
    return true;
}

typedef uint32_t take_character(struct tv_bytes bytes, size_t *length);

/* Return true if a match begins right here. */
static bool text_search_matches_at(const struct tv_text_search *search, struct tv_bytes bytes,
                                   take_character *take)
{
    for (size_t i = 0; i < search->count; i++) {
        size_t length;
        if (bytes.length == 0)
            return false;
        uint32_t c = take(bytes, &length);
        if ((search->fold ? tv_character_lower(c) : c) != search->points[i])
            return false;
        bytes = (struct tv_bytes){bytes.data + length, bytes.length - length};
    }
    return true;
}

bool tv_text_search_matches(const struct tv_text_search *search, struct tv_bytes text)
{
    if (search->regex)
        return tv_regex_find(search->regex, text, tv_character_decode) != TV_REGEX_NONE;
    for (size_t i = 0; i < text.length; i++) {
        struct tv_bytes rest = {text.data + i, text.length - i};
        if (!utf8_is_continuation(text.data[i]) &&
            text_search_matches_at(search, rest, tv_character_decode))
            return true;
    }
    return false;
}

size_t tv_text_search_find_in_string(const struct tv_text_search *search, struct tv_bytes inside)
{
    if (search->regex) {
        size_t end = tv_regex_find(search->regex, inside, tv_character_decode_json);
        return end == TV_REGEX_NONE || end < inside.length ? end : inside.length;
    }
    for (size_t i = 0, length; i < inside.length; i += length) {
        struct tv_bytes rest = {inside.data + i, inside.length - i};
        if (text_search_matches_at(search, rest, tv_character_decode_json))
            return i;
        tv_character_decode_json(rest, &length);
    }
    return TV_TEXT_SEARCH_NONE;
}

size_t tv_text_search_next(const struct tv_text_search *search, struct tv_bytes bytes, size_t from,
                           size_t end)
{
    if (search->regex && from >= end)
        return end;
    if (search->regex) {
        size_t found = tv_regex_find_in_json(search->regex, bytes, from, tv_character_decode_json);
        return found == TV_REGEX_NONE ? end : found < end ? found : end - 1;
    }
    for (size_t i = from; i < end; i++) {
        if (TV_LIKELY(!search->starts[bytes.data[i]]))
            continue;
        if (text_search_matches_at(search, (struct tv_bytes){bytes.data + i, bytes.length - i},
                                   tv_character_decode_json))
            return i;
    }
    return end;
}

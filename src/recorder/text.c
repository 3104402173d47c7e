/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - see text.h. */
#include "recorder/text.h"

#include <stdint.h>
#include <string.h>

/* Match with backtracking to the last star only, so the time is at most the product of the
 * lengths. */
static bool wildcard_matches_length(const char *pattern, size_t length, const char *text)
{
    size_t at = 0, star = SIZE_MAX;
    const char *retry = NULL;
    while (*text != '\0') {
        if (at < length && pattern[at] == '*') {
            star = at++;
            retry = text;
        } else if (at < length && (pattern[at] == '?' || pattern[at] == *text)) {
            at++;
            text++;
        } else if (star != SIZE_MAX) {
            at = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (at < length && pattern[at] == '*')
        at++;
    return at == length;
}

bool tv_wildcard_matches(const char *pattern, const char *text)
{
    return wildcard_matches_length(pattern, strlen(pattern), text);
}

bool tv_wildcard_matches_any(const char *patterns, char between, const char *text)
{
    const char ends[] = {between, '\0'};
    for (;;) {
        size_t length = strcspn(patterns, ends);
        if (wildcard_matches_length(patterns, length, text))
            return true;
        if (patterns[length] == '\0')
            return false;
        patterns += length + 1;
    }
}

/* Decode one 16-bit code unit of modified UTF-8; return its bytes, 0 when it is malformed. */
static size_t jvm_text_take_unit(const uint8_t *at, size_t left, uint32_t *unit)
{
    if (at[0] < 0x80) {
        *unit = at[0];
        return 1;
    }
    if ((at[0] & 0xE0) == 0xC0 && left >= 2 && (at[1] & 0xC0) == 0x80) {
        *unit = (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
        return 2;
    }
    if ((at[0] & 0xF0) != 0xE0 || left < 3 || (at[1] & 0xC0) != 0x80 || (at[2] & 0xC0) != 0x80)
        return 0;
    *unit = (at[0] & 0xFu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    return 3;
}

static bool utf16_is_surrogate(uint32_t unit, uint32_t first)
{
    return (unit & 0xFC00) == first;
}

/* Take a character of the JVM's modified UTF-8, which writes one beyond U+FFFF as two surrogates of
 * three bytes each, and NUL as two bytes.  Anything malformed is "?". */
static size_t jvm_text_take_character(const uint8_t *at, size_t left, uint32_t *character)
{
    uint32_t second = 0;
    size_t length = jvm_text_take_unit(at, left, character);
    if (length == 0) {
        *character = '?';
        return 1;
    }
    if (*character == 0)
        *character = ' ';
    if (!utf16_is_surrogate(*character, 0xD800) && !utf16_is_surrogate(*character, 0xDC00))
        return length;
    size_t more = left > length ? jvm_text_take_unit(at + length, left - length, &second) : 0;
    if (utf16_is_surrogate(*character, 0xD800) && more > 0 && utf16_is_surrogate(second, 0xDC00)) {
        *character = 0x10000 + ((*character & 0x3FF) << 10 | (second & 0x3FF));
        return length + more;
    }
    *character = '?';
    return length;
}

/* Encode in UTF-8; return the number of bytes, 1 to 4. */
static size_t utf8_encode_character(uint32_t character, char bytes[4])
{
    if (character < 0x80) {
        bytes[0] = (char)character;
        return 1;
    }
    size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--, character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3F));
    bytes[0] = (char)(first[length] | character);
    return length;
}

void tv_text_from_jvm(char *out, size_t room, const void *text, size_t length,
                      const char from_to[2])
{
    const uint8_t *at = text;
    while (length > 0) {
        uint32_t character;
        char bytes[4];
        size_t taken = jvm_text_take_character(at, length, &character);
        if (from_to != NULL && character == (uint8_t)from_to[0])
            character = (uint8_t)from_to[1];
        size_t put = utf8_encode_character(character, bytes);
        if (put >= room)
            break;
        memcpy(out, bytes, put);
        out += put;
        room -= put;
        at += taken;
        length -= taken;
    }
    *out = '\0';
}

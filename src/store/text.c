/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - UTF-8 text from clients: which characters may be shown, and lower case.
 */
#include "store/internal.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

static const struct tv_bytes REPLACEMENT = {(const uint8_t *)"\xef\xbf\xbd", 3};

/* Decode a sequence of that many bytes. */
static uint32_t text_decode_utf8(const uint8_t *bytes, size_t length)
{
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3fu);
    return character;
}

static bool text_is_between(uint32_t character, uint32_t first, uint32_t last)
{
    return character >= first && character <= last;
}

/* Return true for control characters, line and paragraph separators, and marks that reverse the
 * direction of text, by which a name could be made to look like another. */
static bool text_is_hidden(uint32_t c)
{
    return c < 0x20 || text_is_between(c, 0x7f, 0x9f) || text_is_between(c, 0x200e, 0x200f) ||
           text_is_between(c, 0x2028, 0x202e) || text_is_between(c, 0x2066, 0x2069);
}

/* Return the length of the first character; 1 for a byte that is not UTF-8. */
static size_t text_next_character(struct tv_bytes text, bool *shown, uint32_t *character)
{
    size_t length = tv_bytes_utf8(text);
    *character = length > 0 ? text_decode_utf8(text.data, length) : 0;
    *shown = length > 0 && !text_is_hidden(*character);
    return length > 0 ? length : 1;
}

bool tv_store_text_is_clean(struct tv_bytes text)
{
    bool shown = true;
    uint32_t character;
    for (size_t at = 0; at < text.length && shown;)
        at += text_next_character((struct tv_bytes){text.data + at, text.length - at}, &shown,
                                  &character);
    return shown;
}

size_t tv_store_text_clean(struct tv_bytes text, bool lines, char *to, size_t size)
{
    assert(size > 0);
    size_t length = 0;
    for (size_t at = 0; at < text.length;) {
        bool shown;
        uint32_t c;
        struct tv_bytes rest = {text.data + at, text.length - at};
        struct tv_bytes piece = {rest.data, text_next_character(rest, &shown, &c)};
        at += piece.length;
        if (lines && c == '\r' && rest.length > 1 && rest.data[1] == '\n')
            continue;
        if (!shown && !(lines && (c == '\n' || c == '\t')))
            piece = REPLACEMENT;
        if (piece.length >= size - length)
            break;
        memcpy(to + length, piece.data, piece.length);
        length += piece.length;
    }
    to[length] = '\0';
    return length;
}

/* In Latin Extended-A, upper and lower case are neighbours. The upper case letter is even, except
 * in two ranges where it is odd. */
static uint32_t text_fold_latin_pair(uint32_t c)
{
    bool large_is_odd = text_is_between(c, 0x139, 0x148) || text_is_between(c, 0x179, 0x17e);
    if (c == 0x130 || c == 0x138 || c == 0x149 || c == 0x17f)
        return c;
    if (c == 0x178)
        return 0xff;
    return (c % 2 == 1) == large_is_odd ? c + 1 : c;
}

/* Return the lower case of a Greek letter; a final sigma counts as a sigma. */
static uint32_t text_fold_greek(uint32_t c)
{
    if (text_is_between(c, 0x391, 0x3ab) && c != 0x3a2)
        return c + 0x20;
    if (text_is_between(c, 0x388, 0x38a))
        return c + 0x25;
    if (text_is_between(c, 0x38e, 0x38f))
        return c + 0x3f;
    return c == 0x386 ? 0x3ac : c == 0x38c ? 0x3cc : c == 0x3c2 ? 0x3c3 : c;
}

/* Convert a character of two bytes in UTF-8; the result also has two bytes. */
static uint32_t text_fold_character(uint32_t c)
{
    if (text_is_between(c, 0xc0, 0xde))
        return c == 0xd7 ? c : c + 0x20;
    if (text_is_between(c, 0x100, 0x17f))
        return text_fold_latin_pair(c);
    if (text_is_between(c, 0x386, 0x3c2))
        return text_fold_greek(c);
    if (text_is_between(c, 0x400, 0x40f))
        return c + 0x50;
    return text_is_between(c, 0x410, 0x42f) ? c + 0x20 : c;
}

void tv_store_text_fold(struct tv_bytes text, char *to)
{
    for (size_t at = 0; at < text.length;) {
        const uint8_t *bytes = text.data + at;
        size_t length = tv_bytes_utf8((struct tv_bytes){bytes, text.length - at});
        length = length > 0 ? length : 1;
        if (length == 2) {
            uint32_t c = text_fold_character(text_decode_utf8(bytes, 2));
            to[at] = (char)(0xc0 | c >> 6);
            to[at + 1] = (char)(0x80 | (c & 0x3f));
        } else if (length == 1 && text_is_between(bytes[0], 'A', 'Z')) {
            to[at] = (char)(bytes[0] + ('a' - 'A'));
        } else {
            memmove(to + at, bytes, length);
        }
        at += length;
    }
}

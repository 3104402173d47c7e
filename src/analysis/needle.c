/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/needle.h"

#include <string.h>

#include "base/bytes.h"

#define UNKNOWN 0xfffdu

/* ---- Characters ---- */

uint32_t tv_needle_small(uint32_t c)
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

uint32_t tv_needle_capital(uint32_t c)
{
    if (c >= 80 && tv_needle_small(c - 80) == c)
        return c - 80;
    return c >= 32 && tv_needle_small(c - 32) == c ? c - 32 : c;
}

static bool is_tail(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

uint32_t tv_needle_take_plain(struct tv_bytes bytes, size_t *length)
{
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
        return UNKNOWN;
    }
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number of "\u00e9"; false: the bytes do not begin with one. */
static bool take_hex(struct tv_bytes bytes, uint32_t *value)
{
    *value = 0;
    if (bytes.length < 6 || bytes.data[0] != '\\' || bytes.data[1] != 'u')
        return false;
    for (size_t i = 2; i < 6; i++) {
        int digit = hex_digit(bytes.data[i]);
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

static uint32_t take_unicode(struct tv_bytes bytes, uint32_t first, size_t *length)
{
    uint32_t second;
    *length = 6;
    if (first < 0xd800 || first > 0xdfff)
        return first;
    struct tv_bytes rest = {bytes.data + 6, bytes.length - 6};
    if (first > 0xdbff || !take_hex(rest, &second) || second < 0xdc00 || second > 0xdfff)
        return UNKNOWN;
    *length = TV_NEEDLE_WIDEST;
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

uint32_t tv_needle_take(struct tv_bytes bytes, size_t *length)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    uint32_t value;
    if (bytes.data[0] != '\\' || bytes.length == 1)
        return tv_needle_take_plain(bytes, length);
    if (take_hex(bytes, &value))
        return take_unicode(bytes, value, length);
    const char *letter = memchr(letters, bytes.data[1], sizeof letters - 1);
    if (letter) {
        *length = 2;
        return (uint8_t)meanings[letter - letters];
    }
    value = tv_needle_take_plain((struct tv_bytes){bytes.data + 1, bytes.length - 1}, length);
    *length += 1;
    return value;
}

/* ---- The needle ---- */

static uint8_t first_byte(uint32_t c)
{
    if (c < 0x80)
        return (uint8_t)c;
    if (c < 0x800)
        return (uint8_t)(0xc0 | c >> 6);
    return (uint8_t)(c < 0x10000 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
}

static void set_starts(struct tv_needle *needle)
{
    uint32_t c = needle->points[0];
    needle->starts['\\'] = true;
    needle->starts[first_byte(c)] = true;
    if (needle->fold)
        needle->starts[first_byte(tv_needle_capital(c))] = true;
    /* What is not UTF-8 stands for it. */
    for (unsigned byte = 0x80; c == UNKNOWN && byte < 256; byte++)
        needle->starts[byte] = true;
}

enum tv_status tv_needle_init_pattern(struct tv_needle *needle, struct tv_bytes text,
                                      bool match_case, struct tv_error *err)
{
    memset(needle, 0, sizeof *needle);
    needle->count = TV_NEEDLE_LIMIT;
    return tv_pattern_new(text, !match_case, &needle->pattern, err);
}

void tv_needle_release(struct tv_needle *needle)
{
    tv_pattern_free(needle->pattern);
    needle->pattern = NULL;
}

bool tv_needle_init(struct tv_needle *needle, struct tv_bytes text, bool match_case)
{
    memset(needle, 0, sizeof *needle);
    needle->fold = !match_case;
    while (text.length > 0) {
        size_t length;
        uint32_t c = tv_needle_take_plain(text, &length);
        if (needle->count == TV_NEEDLE_LIMIT)
            return false;
        needle->points[needle->count++] = needle->fold ? tv_needle_small(c) : c;
        text = (struct tv_bytes){text.data + length, text.length - length};
    }
    if (needle->count == 0)
        return false;
    set_starts(needle);
    return true;
}

typedef uint32_t take_character(struct tv_bytes bytes, size_t *length);

static bool matches(const struct tv_needle *needle, struct tv_bytes bytes, take_character *take)
{
    for (size_t i = 0; i < needle->count; i++) {
        size_t length;
        if (bytes.length == 0)
            return false;
        uint32_t c = take(bytes, &length);
        if ((needle->fold ? tv_needle_small(c) : c) != needle->points[i])
            return false;
        bytes = (struct tv_bytes){bytes.data + length, bytes.length - length};
    }
    return true;
}

bool tv_needle_in(const struct tv_needle *needle, struct tv_bytes text)
{
    if (needle->pattern)
        return tv_pattern_find(needle->pattern, text, tv_needle_take_plain) != TV_PATTERN_NONE;
    for (size_t i = 0; i < text.length; i++) {
        struct tv_bytes rest = {text.data + i, text.length - i};
        if (!is_tail(text.data[i]) && matches(needle, rest, tv_needle_take_plain))
            return true;
    }
    return false;
}

size_t tv_needle_in_string(const struct tv_needle *needle, struct tv_bytes inside)
{
    if (needle->pattern) {
        size_t end = tv_pattern_find(needle->pattern, inside, tv_needle_take);
        return end == TV_PATTERN_NONE || end < inside.length ? end : inside.length;
    }
    for (size_t i = 0, length; i < inside.length; i += length) {
        struct tv_bytes rest = {inside.data + i, inside.length - i};
        if (matches(needle, rest, tv_needle_take))
            return i;
        tv_needle_take(rest, &length);
    }
    return TV_NEEDLE_NONE;
}

size_t tv_needle_next(const struct tv_needle *needle, struct tv_bytes bytes, size_t from,
                      size_t end)
{
    if (needle->pattern && from >= end)
        return end;
    if (needle->pattern) {
        size_t found = tv_pattern_find_loose(needle->pattern, bytes, from, tv_needle_take);
        return found == TV_PATTERN_NONE ? end : found < end ? found : end - 1;
    }
    for (size_t i = from; i < end; i++) {
        if (TV_LIKELY(!needle->starts[bytes.data[i]]))
            continue;
        if (matches(needle, (struct tv_bytes){bytes.data + i, bytes.length - i}, tv_needle_take))
            return i;
    }
    return end;
}

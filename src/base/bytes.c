/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.c - the parts of the cursor that are not worth a copy in every caller.
 */
#include "base/bytes.h"

/* 64 bits are nine groups of seven and one bit more. */
#define LEB_MAX 10

/* The bits of the LEB128 number at the cursor and how many bytes it takes; false as take_*. The
 * tenth byte is left to the caller to judge: *last is the byte that ended the number. */
static bool read_leb(const struct tv_cursor *cursor, uint64_t *bits, unsigned *size, uint8_t *last)
{
    size_t left = tv_cursor_left(cursor);
    unsigned most = left < LEB_MAX ? (unsigned)left : LEB_MAX;
    uint64_t value = 0;
    for (unsigned i = 0; i < most; i++) {
        uint8_t byte = cursor->at[i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *bits = value;
            *size = i + 1;
            *last = byte;
            return true;
        }
    }
    return false;
}

bool tv_cursor_take_long_uleb(struct tv_cursor *cursor, uint64_t *value)
{
    uint64_t bits;
    unsigned size;
    uint8_t last;
    if (!read_leb(cursor, &bits, &size, &last))
        return false;
    if (size == LEB_MAX && last > 1)
        return false;
    *value = bits;
    cursor->at += size;
    return true;
}

bool tv_cursor_take_long_sleb(struct tv_cursor *cursor, int64_t *value)
{
    uint64_t bits;
    unsigned size;
    uint8_t last;
    if (!read_leb(cursor, &bits, &size, &last))
        return false;
    /* Beyond bit 63 there may only be copies of it. */
    if (size == LEB_MAX && last != 0 && last != 0x7f)
        return false;
    if (size < LEB_MAX && (last & 0x40) != 0)
        bits |= UINT64_MAX << (7 * size);
    memcpy(value, &bits, sizeof bits);
    cursor->at += size;
    return true;
}

bool tv_cursor_take_line(struct tv_cursor *cursor, struct tv_bytes *line)
{
    size_t left = tv_cursor_left(cursor);
    if (left == 0)
        return false;
    const uint8_t *newline = memchr(cursor->at, '\n', left);
    size_t length = newline == NULL ? left : (size_t)(newline - cursor->at);
    *line = (struct tv_bytes){cursor->at, length};
    cursor->at += newline == NULL ? length : length + 1;
    return true;
}

bool tv_bytes_split(struct tv_bytes *bytes, uint8_t separator, struct tv_bytes *head)
{
    *head = *bytes;
    if (bytes->length == 0)
        return false;
    const uint8_t *found = memchr(bytes->data, separator, bytes->length);
    if (found == NULL) {
        *bytes = (struct tv_bytes){bytes->data + bytes->length, 0};
        return false;
    }
    head->length = (size_t)(found - bytes->data);
    *bytes = (struct tv_bytes){found + 1, bytes->length - head->length - 1};
    return true;
}

bool tv_bytes_equal(struct tv_bytes a, struct tv_bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

bool tv_bytes_starts_with(struct tv_bytes bytes, struct tv_bytes prefix)
{
    if (bytes.length < prefix.length)
        return false;
    return prefix.length == 0 || memcmp(bytes.data, prefix.data, prefix.length) == 0;
}

bool tv_bytes_ends_with(struct tv_bytes bytes, struct tv_bytes suffix)
{
    if (bytes.length < suffix.length)
        return false;
    size_t at = bytes.length - suffix.length;
    return suffix.length == 0 || memcmp(bytes.data + at, suffix.data, suffix.length) == 0;
}

int tv_bytes_compare(struct tv_bytes a, struct tv_bytes b)
{
    size_t common = a.length < b.length ? a.length : b.length;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    if (order != 0)
        return order;
    return (a.length > b.length) - (a.length < b.length);
}

size_t tv_bytes_utf8(struct tv_bytes bytes)
{
    uint8_t lead = bytes.data[0];
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (bytes.length < length)
        return 0;
    uint8_t lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes.data[1] < lowest || bytes.data[1] > highest)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((bytes.data[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

struct tv_bytes tv_bytes_trim(struct tv_bytes bytes)
{
    while (bytes.length > 0 && tv_is_blank(bytes.data[0])) {
        bytes.data++;
        bytes.length--;
    }
    while (bytes.length > 0 && tv_is_blank(bytes.data[bytes.length - 1]))
        bytes.length--;
    return bytes;
}

struct tv_bytes tv_bytes_take_word(struct tv_bytes *bytes)
{
    size_t length = 0;
    while (bytes->length > 0 && tv_is_blank(bytes->data[0])) {
        bytes->data++;
        bytes->length--;
    }
    while (length < bytes->length && !tv_is_blank(bytes->data[length]))
        length++;
    struct tv_bytes word = {bytes->data, length};
    if (length > 0)
        bytes->data += length;
    bytes->length -= length;
    return word;
}

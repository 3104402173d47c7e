/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - views of bytes, a bounds-checked cursor over them, and numbers from text.
 *
 * All input is untrusted, so every reader goes through this cursor: the tv_cursor_take_* functions
 * are the only code that moves a pointer through input.  Each returns false, and leaves the cursor
 * where it is, when too few bytes are left (or when a LEB128 number does not end within 64 bits).
 *
 *     start          at              end
 *       |  consumed   |   left        |
 */
#ifndef TV_BASE_BYTES_H
#define TV_BASE_BYTES_H

#include <string.h>

#include "base/types.h"

struct tv_cursor {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
};

static inline struct tv_cursor tv_cursor_over(struct tv_bytes bytes)
{
    /* An empty view may have a NULL pointer, and NULL + 0 is undefined in C. */
    const uint8_t *end = bytes.length == 0 ? bytes.data : bytes.data + bytes.length;
    return (struct tv_cursor){bytes.data, bytes.data, end};
}

static inline size_t tv_cursor_left(const struct tv_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* Return the number of bytes that were taken. */
static inline size_t tv_cursor_position(const struct tv_cursor *cursor)
{
    return (size_t)(cursor->at - cursor->start);
}

static inline bool tv_cursor_take_u8(struct tv_cursor *cursor, uint8_t *value)
{
    if (TV_UNLIKELY(cursor->at == cursor->end))
        return false;
    *value = *cursor->at++;
    return true;
}

/* Read little-endian numbers, here and below. */
static inline bool tv_cursor_take_u16(struct tv_cursor *cursor, uint16_t *value)
{
    const uint8_t *at = cursor->at;
    if (TV_UNLIKELY(tv_cursor_left(cursor) < 2))
        return false;
    *value = (uint16_t)((uint32_t)at[0] | (uint32_t)at[1] << 8);
    cursor->at += 2;
    return true;
}

static inline bool tv_cursor_take_u32(struct tv_cursor *cursor, uint32_t *value)
{
    const uint8_t *at = cursor->at;
    if (TV_UNLIKELY(tv_cursor_left(cursor) < 4))
        return false;
    *value = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    cursor->at += 4;
    return true;
}

static inline bool tv_cursor_take_u64(struct tv_cursor *cursor, uint64_t *value)
{
    const uint8_t *at = cursor->at;
    if (TV_UNLIKELY(tv_cursor_left(cursor) < 8))
        return false;
    *value = (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
             (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 |
             (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
    cursor->at += 8;
    return true;
}

/* Read a LEB128 number of any length; the inline functions below handle the one-byte case. */
bool tv_cursor_take_long_uleb(struct tv_cursor *cursor, uint64_t *value);
bool tv_cursor_take_long_sleb(struct tv_cursor *cursor, int64_t *value);

static inline bool tv_cursor_take_uleb(struct tv_cursor *cursor, uint64_t *value)
{
    if (TV_LIKELY(cursor->at != cursor->end && *cursor->at < 0x80)) {
        *value = *cursor->at++;
        return true;
    }
    return tv_cursor_take_long_uleb(cursor, value);
}

static inline bool tv_cursor_take_sleb(struct tv_cursor *cursor, int64_t *value)
{
    if (TV_LIKELY(cursor->at != cursor->end && *cursor->at < 0x80)) {
        /* Bit 6 is the sign. */
        int byte = *cursor->at++;
        *value = byte < 0x40 ? byte : byte - 0x80;
        return true;
    }
    return tv_cursor_take_long_sleb(cursor, value);
}

static inline bool tv_cursor_take_bytes(struct tv_cursor *cursor, size_t length,
                                        struct tv_bytes *bytes)
{
    if (TV_UNLIKELY(tv_cursor_left(cursor) < length))
        return false;
    *bytes = (struct tv_bytes){cursor->at, length};
    if (length > 0)
        cursor->at += length;
    return true;
}

/* Take the next line without its '\n'; a '\r' before it stays.  Return false at the end.  The last
 * line needs no '\n'. */
bool tv_cursor_take_line(struct tv_cursor *cursor, struct tv_bytes *line);

/* Split at the first `separator`: *head becomes the bytes before it, *bytes those after it.  Return
 * false when there is no separator; then *head is everything and *bytes is empty. */
bool tv_bytes_split(struct tv_bytes *bytes, uint8_t separator, struct tv_bytes *head);

/* Return whether both views hold the same bytes. */
bool tv_bytes_equal(struct tv_bytes a, struct tv_bytes b);

/* Return whether the bytes start with `prefix`.  Everything starts with the empty one. */
bool tv_bytes_starts_with(struct tv_bytes bytes, struct tv_bytes prefix);

/* Return whether the bytes end with `suffix`.  Everything ends with the empty one. */
static inline bool tv_bytes_ends_with(struct tv_bytes bytes, struct tv_bytes suffix)
{
    /* Inline: readers of text ask it of each line. */
    if (bytes.length < suffix.length)
        return false;
    return suffix.length == 0 ||
           memcmp(bytes.data + bytes.length - suffix.length, suffix.data, suffix.length) == 0;
}

/* Return whether a byte separates words within a line: a space, a tab, or the CR of a CR LF line
 * end. */
static inline bool tv_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Return whether a byte is white space of JSON and XML: a blank or a newline. */
static inline bool tv_is_space(uint8_t c)
{
    return tv_is_blank(c) || c == '\n';
}

/* Return the last part of a path, "app.trace" of "/data/app.trace"; empty after a final '/'. */
struct tv_bytes tv_bytes_base_name(struct tv_bytes path);

/* Return the bytes without white space at both ends. */
struct tv_bytes tv_bytes_trim(struct tv_bytes bytes);

/* Skip blanks, take the word up to the next blank, and leave the rest in *bytes.  The word is empty
 * when only blanks are left. */
struct tv_bytes tv_bytes_take_word(struct tv_bytes *bytes);

/* Compare as memcmp does; of two views with a common prefix the shorter one is smaller. */
int tv_bytes_compare(struct tv_bytes a, struct tv_bytes b);

/* Return the length of the UTF-8 sequence at the start of the bytes, or 0 when they start with
 * none.  There must be at least one byte.  Table 3-7 of the Unicode standard decides: no overlong
 * form, no surrogate, nothing above U+10FFFF. */
size_t tv_bytes_utf8(struct tv_bytes bytes);

/* Write a code point below 0x110000 as UTF-8 and return its length, 1 to 4.  The caller decides
 * about surrogates, which are written like any other. */
static inline size_t tv_utf8_put(uint8_t *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    unsigned tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    to[0] = (uint8_t)(0xf0U << (3 - tails) | code >> 6 * tails);
    for (unsigned i = 1; i <= tails; i++)
        to[i] = (uint8_t)(0x80 | (code >> 6 * (tails - i) & 0x3f));
    return tails + 1;
}

/* Return the length of the control character at the start of the bytes, or 0 when they start with
 * none.  There must be at least one byte.  Terminals obey these: C0 (below a space), DEL, and C1,
 * which UTF-8 encodes as U+0080 to U+009F; U+009B, for example, acts as ESC [. */
static inline size_t tv_bytes_control(struct tv_bytes bytes)
{
    const uint8_t *at = bytes.data;
    if (at[0] < 0x20 || at[0] == 0x7f)
        return 1;
    return bytes.length > 1 && at[0] == 0xc2 && (at[1] & 0xe0) == 0x80 ? 2 : 0;
}

/* Return a view of a C string, without its NUL. */
static inline struct tv_bytes tv_bytes_of(const char *text)
{
    return (struct tv_bytes){(const uint8_t *)text, strlen(text)};
}

/* As above, for C strings. */
static inline bool tv_text_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static inline bool tv_text_ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && memcmp(text + length - tail, suffix, tail) == 0;
}

/*
 * Numbers from text, exact and independent of the C library's locale.  Each function parses the
 * whole text and returns false for anything else, overflow included.
 */

bool tv_parse_u64(struct tv_bytes text, uint64_t *value); /* digits only */
bool tv_parse_i64(struct tv_bytes text, int64_t *value);  /* an optional '-' and digits */
/* Return the value of a hexadecimal digit, in either case, or -1. */
int tv_hex_digit(uint8_t c);

bool tv_parse_hex(struct tv_bytes text, uint64_t *value); /* with or without 0x */

/* Parse a decimal number with an optional fraction and an optional unit (ns, us, ms, s) into
 * nanoseconds, rounded down: "1.5ms" is 1500000 and "-.5ns" is -1.  `unit_ns` is the unit of a
 * number without one, from 1 ns to 1 s.  No step goes through double. */
bool tv_parse_time(struct tv_bytes text, tv_ns unit_ns, tv_ns *value);

/* Parse a number of bytes with an optional K, M, G or T (powers of 1024): "50G".  With a letter the
 * number may have a fraction, which is rounded down to bytes: "1.5M". */
bool tv_parse_size(struct tv_bytes text, uint64_t *bytes);

/* Parse a number of seconds with an optional s, m, h, d or w, in the same way: "30d", "1.5h". */
bool tv_parse_seconds(struct tv_bytes text, uint64_t *seconds);

#endif

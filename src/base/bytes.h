/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - a cursor over bytes that cannot leave them.
 *
 * The tv_cursor_take_* functions are the only code that moves a pointer through input.  Each
 * returns false and moves nothing when the bytes do not suffice (or, for LEB128, do not end within
 * 64 bits).
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
    /* No bytes may come as NULL, to which nothing may be added. */
    const uint8_t *end = bytes.length == 0 ? bytes.data : bytes.data + bytes.length;
    return (struct tv_cursor){bytes.data, bytes.data, end};
}

static inline size_t tv_cursor_left(const struct tv_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* Bytes already taken. */
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

/* Little-endian, as all below. */
static inline bool tv_cursor_take_u16(struct tv_cursor *cursor, uint16_t *value)
{
    const uint8_t *at = cursor->at;
    if (TV_UNLIKELY(tv_cursor_left(cursor) < 2))
        return false;
    *value = (uint16_t)((uint32_t)at[0] | (uint32_t)at[1] << 8);
    cursor->at += 2;
    return true;
}

static inline bool tv_cursor_take_u24(struct tv_cursor *cursor, uint32_t *value)
{
    const uint8_t *at = cursor->at;
    if (TV_UNLIKELY(tv_cursor_left(cursor) < 3))
        return false;
    *value = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
    cursor->at += 3;
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

/* What does not fit into one byte of LEB128. */
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

/* The next line without its '\n' (a '\r' before it stays). False at the end; a last line without
 * '\n' is a line. */
bool tv_cursor_take_line(struct tv_cursor *cursor, struct tv_bytes *line);

/* Splits at the first `separator`: *head gets what is before it, *bytes what is behind. False, with
 * all of *bytes in *head and *bytes empty, when there is none. */
bool tv_bytes_split(struct tv_bytes *bytes, uint8_t separator, struct tv_bytes *head);

/* Whether both are the same bytes. */
bool tv_bytes_equal(struct tv_bytes a, struct tv_bytes b);

/* Whether the first bytes are those of `prefix`; the empty one is in front of everything. */
bool tv_bytes_starts_with(struct tv_bytes bytes, struct tv_bytes prefix);

/* Return whether the bytes end with `suffix`.  Everything ends with the empty one. */
bool tv_bytes_ends_with(struct tv_bytes bytes, struct tv_bytes suffix);

/* What separates words within a line: a blank, a tab, or the CR that stands before its end. */
static inline bool tv_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Without the blanks at both ends. */
struct tv_bytes tv_bytes_trim(struct tv_bytes bytes);

/* The next word, up to a blank, without those before it; *bytes gets what is behind it.  Empty when
 * only blanks are left. */
struct tv_bytes tv_bytes_take_word(struct tv_bytes *bytes);

/* Below, at or above 0, as memcmp; of two that begin alike the shorter is first. */
int tv_bytes_compare(struct tv_bytes a, struct tv_bytes b);

/* Length of the UTF-8 sequence at the beginning of the bytes, of which there is at least one; 0:
 * none (table 3-7 of the Unicode standard: no overlong form, no surrogate, nothing above U+10FFFF).
 */
size_t tv_bytes_utf8(struct tv_bytes bytes);

/* Length of the control character at the beginning of the bytes, of which there is at least one; 0:
 * none.  Those are the ones that terminals obey: below a blank, DEL, and in UTF-8 U+0080 to U+009F,
 * of which U+009B is taken for ESC [. */
static inline size_t tv_bytes_control(struct tv_bytes bytes)
{
    const uint8_t *at = bytes.data;
    if (at[0] < 0x20 || at[0] == 0x7f)
        return 1;
    return bytes.length > 1 && at[0] == 0xc2 && (at[1] & 0xe0) == 0x80 ? 2 : 0;
}

/* The bytes of a C string, without its NUL. */
static inline struct tv_bytes tv_bytes_of(const char *text)
{
    return (struct tv_bytes){(const uint8_t *)text, strlen(text)};
}

/* The same two questions for C strings. */
static inline bool tv_text_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static inline bool tv_text_ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length >= tail && memcmp(text + length - tail, suffix, tail) == 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h - a cursor over the fields of a protobuf message.
 *
 * A message is a list of fields in any order.  A field is a key (number << 3 | wire type) and its
 * value.  Submessages, strings and packed lists of numbers all are bytes with a length in front:
 *
 *     08 96 01          field 1, number 150
 *     12 02 68 69       field 2, two bytes: "hi", or a message, or a packed list
 *
 *     struct tv_cursor cursor = tv_cursor_over(message);
 *     struct tv_protobuf_field field;
 *     while (tv_protobuf_next(&cursor, &field))
 *         switch (field.number) { ... }
 *     if (!tv_protobuf_is_sound(&cursor))
 *         ... the message is cut or damaged from tv_cursor_position(&cursor) on
 *
 * Nothing is copied or allocated, and nothing outside of the message is read.  Nesting is up to the
 * caller: a reader opens a cursor for each submessage that it knows, so input cannot make it
 * recurse.
 */
#ifndef TV_BASE_PROTOBUF_H
#define TV_BASE_PROTOBUF_H

#include "base/bytes.h"

enum tv_protobuf_wire {
    TV_PROTOBUF_VARINT = 0,
    TV_PROTOBUF_FIXED64 = 1,
    TV_PROTOBUF_BYTES = 2,
    TV_PROTOBUF_FIXED32 = 5, /* 3 and 4, groups, are long deprecated: damage */
};

struct tv_protobuf_field {
    uint32_t number; /* from 1 */
    enum tv_protobuf_wire wire;
    uint64_t value;        /* of a number, else 0; signed ones are two's complement */
    struct tv_bytes bytes; /* bytes of TV_PROTOBUF_BYTES, else empty */
};

/* Take a varint of up to ten bytes; bits beyond 64 are dropped, as protobuf's own parsers do: some
 * writers extend the sign of a negative number into them. */
static inline bool tv_protobuf_take_long_varint(struct tv_cursor *cursor, uint64_t *value)
{
    const uint8_t *at = cursor->at;
    uint64_t sum = 0;
    for (unsigned shift = 0; at < cursor->end && shift < 70; shift += 7) {
        uint8_t byte = *at++;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            cursor->at = at;
            *value = sum;
            return true;
        }
    }
    return false;
}

/* Take a varint of up to eight bytes without a loop, where eight are left: times have so many.
 * The last byte is the first one without its highest bit; pairs of groups of 7 bits are joined to
 * 14, then 28, then 56 bits. */
static inline bool tv_protobuf_take_wide_varint(struct tv_cursor *cursor, uint64_t *value)
{
    struct tv_cursor ahead = *cursor;
    uint64_t word;
    if (TV_UNLIKELY(!tv_cursor_take_u64(&ahead, &word)))
        return tv_protobuf_take_long_varint(cursor, value);
    uint64_t last = ~word & UINT64_C(0x8080808080808080);
    if (TV_UNLIKELY(last == 0))
        return tv_protobuf_take_long_varint(cursor, value);
    word &= last ^ (last - 1); /* the bytes up to the last one */
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    *value = (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
    cursor->at += ((unsigned)__builtin_ctzll(last) >> 3) + 1;
    return true;
}

/* Take a varint of 64 bits. */
TV_INLINE bool tv_protobuf_take_varint(struct tv_cursor *cursor, uint64_t *value)
{
    const uint8_t *at = cursor->at;
    size_t left = tv_cursor_left(cursor);
    if (TV_LIKELY(left >= 1 && at[0] < 0x80)) {
        *value = at[0];
        cursor->at += 1;
        return true;
    }
    if (TV_LIKELY(left >= 2 && at[1] < 0x80)) {
        *value = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        cursor->at += 2;
        return true;
    }
    return tv_protobuf_take_wide_varint(cursor, value);
}

/* Take the value after a key. */
TV_INLINE bool tv_protobuf_take_value(struct tv_cursor *cursor, struct tv_protobuf_field *field)
{
    uint32_t half;
    field->bytes = (struct tv_bytes){cursor->at, 0};
    switch (field->wire) {
    case TV_PROTOBUF_VARINT:
        return tv_protobuf_take_varint(cursor, &field->value);
    case TV_PROTOBUF_FIXED64:
        return tv_cursor_take_u64(cursor, &field->value);
    case TV_PROTOBUF_BYTES:
        if (!tv_protobuf_take_varint(cursor, &field->value) ||
            field->value > tv_cursor_left(cursor) ||
            !tv_cursor_take_bytes(cursor, (size_t)field->value, &field->bytes))
            return false;
        field->value = 0;
        return true;
    case TV_PROTOBUF_FIXED32:
        if (!tv_cursor_take_u32(cursor, &half))
            return false;
        field->value = half;
        return true;
    }
    return false;
}

/* Take the next field.  Return false at the end of the message, and at damage, which leaves the
 * cursor at the damaged field. */
TV_INLINE bool tv_protobuf_next(struct tv_cursor *cursor, struct tv_protobuf_field *field)
{
    const uint8_t *before = cursor->at;
    uint64_t key;
    if (cursor->at == cursor->end || !tv_protobuf_take_varint(cursor, &key))
        return false;
    field->number = (uint32_t)(key >> 3);
    field->wire = (enum tv_protobuf_wire)(key & 7);
    if (TV_LIKELY(key >> 32 == 0 && field->number != 0 && tv_protobuf_take_value(cursor, field)))
        return true;
    cursor->at = before;
    return false;
}

/* Return whether tv_protobuf_next, which has returned false, came to the end of the message. */
static inline bool tv_protobuf_is_sound(const struct tv_cursor *cursor)
{
    return cursor->at == cursor->end;
}

/*
 * A repeated field of varints is packed (one field of bytes), or one field each; writers may mix
 * both.  Loop over the numbers of one field in the same way:
 *
 *     struct tv_cursor list = tv_protobuf_numbers(&field);
 *     uint64_t number;
 *     while (tv_protobuf_next_number(&list, &field, &number)) ...
 *
 * A damaged list ends early, with bytes left in the cursor (tv_protobuf_is_sound).
 */
TV_INLINE struct tv_cursor tv_protobuf_numbers(const struct tv_protobuf_field *field)
{
    return tv_cursor_over(field->bytes);
}

/* Take the next number; a field that is not packed has exactly one. */
TV_INLINE bool tv_protobuf_next_number(struct tv_cursor *list,
                                       const struct tv_protobuf_field *field, uint64_t *number)
{
    if (TV_LIKELY(field->wire == TV_PROTOBUF_BYTES))
        return list->at != list->end && tv_protobuf_take_varint(list, number);
    if (list->start == NULL)
        return false;
    *number = field->value;
    *list = (struct tv_cursor){NULL, NULL, NULL};
    return true;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - a cursor over the fields of one protobuf message (docs/formats/perfetto.md section
 * 1).
 *
 *     tag (number << 3 | wire type), value, tag, value, ...
 *
 * Fields come in any order, unknown ones are stepped over, and a field that does not fit into the
 * message ends it: the cursor is `damaged` then, and what came before counts.
 */
#ifndef TV_READERS_PERFETTO_MESSAGE_H
#define TV_READERS_PERFETTO_MESSAGE_H

#include <string.h>

#include "base/types.h"

enum tv_pf_wire {
    TV_PF_VARINT = 0,
    TV_PF_FIXED64 = 1,
    TV_PF_BYTES = 2,
    TV_PF_FIXED32 = 5,
};

struct tv_pf_message {
    const uint8_t *at, *end;
    bool damaged; /* the last field did not fit, or has a wire type that no writer uses */
};

struct tv_pf_field {
    uint32_t number;
    uint8_t wire;          /* enum tv_pf_wire */
    uint64_t value;        /* of a number */
    struct tv_bytes bytes; /* TV_PF_BYTES: the content */
};

static inline struct tv_pf_message tv_pf_message_over(struct tv_bytes bytes)
{
    const uint8_t *end = bytes.length == 0 ? bytes.data : bytes.data + bytes.length;
    return (struct tv_pf_message){bytes.data, end, false};
}

/* Take a varint of any length; bits beyond 64 are dropped.  Return false when it does not end. */
static inline bool tv_pf_take_long_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *from = *at;
    uint64_t sum = 0;
    for (unsigned shift = 0; from < end && shift < 70; shift += 7) {
        uint8_t byte = *from++;
        sum |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (byte < 0x80) {
            *at = from;
            *value = sum;
            return true;
        }
    }
    return false;
}

TV_INLINE bool tv_pf_take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    if (TV_LIKELY(*at < end && **at < 0x80)) {
        *value = *(*at)++;
        return true;
    }
    return tv_pf_take_long_varint(at, end, value);
}

static inline uint64_t tv_pf_little_endian(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* Take a value of `size` bytes. */
static inline bool tv_pf_take_fixed(struct tv_pf_message *message, struct tv_pf_field *field,
                                    unsigned size)
{
    if ((size_t)(message->end - message->at) < size)
        return false;
    field->value = tv_pf_little_endian(message->at, size);
    message->at += size;
    return true;
}

/* Take a length and that many bytes. */
TV_INLINE bool tv_pf_take_bytes(struct tv_pf_message *message, struct tv_pf_field *field)
{
    uint64_t length;
    if (!tv_pf_take_varint(&message->at, message->end, &length) ||
        length > (size_t)(message->end - message->at))
        return false;
    field->bytes = (struct tv_bytes){message->at, (size_t)length};
    message->at += length;
    return true;
}

/* Take the value of a field whose number and wire type are known. */
TV_INLINE bool tv_pf_take_value(struct tv_pf_message *message, struct tv_pf_field *field)
{
    switch (field->wire) {
    case TV_PF_VARINT:
        return tv_pf_take_varint(&message->at, message->end, &field->value);
    case TV_PF_BYTES:
        return tv_pf_take_bytes(message, field);
    case TV_PF_FIXED64:
        return tv_pf_take_fixed(message, field, 8);
    case TV_PF_FIXED32:
        return tv_pf_take_fixed(message, field, 4);
    default:
        return false;
    }
}

/* Take the next field.  Return false at the end of the message, or where it is damaged. */
TV_INLINE bool tv_pf_next(struct tv_pf_message *message, struct tv_pf_field *field)
{
    uint64_t tag;
    if (message->at >= message->end)
        return false;
    field->bytes = (struct tv_bytes){NULL, 0};
    field->value = 0;
    if (TV_LIKELY(tv_pf_take_varint(&message->at, message->end, &tag)) && tag >> 3 != 0 &&
        tag >> 35 == 0) {
        field->number = (uint32_t)(tag >> 3);
        field->wire = tag & 7;
        if (TV_LIKELY(tv_pf_take_value(message, field)))
            return true;
    }
    message->damaged = true;
    message->at = message->end;
    return false;
}

/* Return the number of a field that may hold a double, a float or an integer. */
static inline double tv_pf_double(const struct tv_pf_field *field)
{
    double real;
    float small;
    uint32_t low = (uint32_t)field->value;
    if (field->wire == TV_PF_FIXED64) {
        memcpy(&real, &field->value, sizeof real);
        return real;
    }
    if (field->wire == TV_PF_FIXED32) {
        memcpy(&small, &low, sizeof small);
        return (double)small;
    }
    return (double)(int64_t)field->value;
}

/* A walk over the numbers of a repeated field, which may be packed or not. */
struct tv_pf_numbers {
    const uint8_t *at, *end;
    uint64_t single;
    uint8_t left; /* `single` is still to come */
    uint8_t size; /* of a packed number: 8 or 4 bytes; 0: varints */
};

static inline struct tv_pf_numbers tv_pf_numbers_of(const struct tv_pf_field *field, uint8_t size)
{
    if (field->wire == TV_PF_BYTES)
        return (struct tv_pf_numbers){field->bytes.data, field->bytes.data + field->bytes.length, 0,
                                      0, size};
    return (struct tv_pf_numbers){NULL, NULL, field->value, 1, size};
}

TV_INLINE bool tv_pf_numbers_next(struct tv_pf_numbers *numbers, uint64_t *value)
{
    if (numbers->left) {
        numbers->left = 0;
        *value = numbers->single;
        return true;
    }
    if (numbers->size == 0)
        return tv_pf_take_varint(&numbers->at, numbers->end, value);
    if ((size_t)(numbers->end - numbers->at) < numbers->size)
        return false;
    *value = tv_pf_little_endian(numbers->at, numbers->size);
    numbers->at += numbers->size;
    return true;
}

/* Return the last field of a number in a message, or one with wire type 7 when there is none. */
static inline struct tv_pf_field tv_pf_find(struct tv_bytes bytes, uint32_t number)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_pf_field field, found = {.number = 0, .wire = 7};
    while (tv_pf_next(&message, &field))
        if (field.number == number)
            found = field;
    return found;
}

#endif

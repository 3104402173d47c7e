/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - one protobuf message of a Perfetto trace (base/protobuf.h), which remembers damage.
 *
 * A field that does not fit into the message ends it: the message is `damaged` then, and the fields
 * before it count.
 */
#ifndef TV_READERS_PERFETTO_MESSAGE_H
#define TV_READERS_PERFETTO_MESSAGE_H

#include <string.h>

#include "base/protobuf.h"

struct tv_pf_message {
    const uint8_t *at, *end;
    bool damaged; /* the last field did not fit, or has a wire type that no writer uses */
};

static inline struct tv_pf_message tv_pf_message_over(struct tv_bytes bytes)
{
    const uint8_t *end = bytes.length == 0 ? bytes.data : bytes.data + bytes.length;
    return (struct tv_pf_message){bytes.data, end, false};
}

/* Take a varint from *at on. */
TV_INLINE bool tv_pf_take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    struct tv_cursor cursor = {*at, *at, end};
    bool taken = tv_protobuf_take_varint(&cursor, value);
    *at = cursor.at;
    return taken;
}

/* Take the value of a field whose number and wire type are known. */
TV_INLINE bool tv_pf_take_value(struct tv_pf_message *message, struct tv_protobuf_field *field)
{
    struct tv_cursor cursor = {message->at, message->at, message->end};
    bool taken = tv_protobuf_take_value(&cursor, field);
    message->at = cursor.at;
    return taken;
}

/* Take the next field.  Return false at the end of the message, or where it is damaged. */
TV_INLINE bool tv_pf_next(struct tv_pf_message *message, struct tv_protobuf_field *field)
{
    struct tv_cursor cursor = {message->at, message->at, message->end};
    if (TV_LIKELY(tv_protobuf_next(&cursor, field))) {
        message->at = cursor.at;
        if (field->wire != TV_PROTOBUF_BYTES)
            field->bytes.data = NULL; /* readers ask by it whether a text was given */
        return true;
    }
    message->damaged = message->damaged || !tv_protobuf_is_sound(&cursor);
    message->at = message->end;
    return false;
}

/* Return the number of a field that may hold a double, a float or an integer. */
static inline double tv_pf_double(const struct tv_protobuf_field *field)
{
    double real;
    float small;
    uint32_t low = (uint32_t)field->value;
    if (field->wire == TV_PROTOBUF_FIXED64) {
        memcpy(&real, &field->value, sizeof real);
        return real;
    }
    if (field->wire == TV_PROTOBUF_FIXED32) {
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

static inline struct tv_pf_numbers tv_pf_numbers_of(const struct tv_protobuf_field *field,
                                                    uint8_t size)
{
    if (field->wire == TV_PROTOBUF_BYTES)
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
    struct tv_protobuf_field field = {.wire = numbers->size == 8 ? TV_PROTOBUF_FIXED64
                                                                 : TV_PROTOBUF_FIXED32};
    struct tv_pf_message rest = {numbers->at, numbers->end, false};
    (void)tv_pf_take_value(&rest, &field);
    numbers->at = rest.at;
    *value = field.value;
    return true;
}

/* Wire type of a field that is not there; the format has no such type. */
#define TV_PF_MISSING ((enum tv_protobuf_wire)7)

/* Return the last field of a number in a message, or one with TV_PF_MISSING when there is none. */
static inline struct tv_protobuf_field tv_pf_find(struct tv_bytes bytes, uint32_t number)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field, found = {.number = 0, .wire = TV_PF_MISSING};
    while (tv_pf_next(&message, &field))
        if (field.number == number)
            found = field;
    return found;
}

#endif

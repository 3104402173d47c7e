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

/*
 * Fields in the form that writers give them, without the general walk.  The events of the kernel
 * and the packets of programs come by the million, always with the same few fields, whose keys are
 * one byte:
 *
 *     struct tv_pf_steps steps = tv_pf_steps_over(event);
 *     if (tv_pf_step_number(&steps, 1, &state) && tv_pf_step_number(&steps, 2, &cpu) &&
 *         tv_pf_steps_ended(&steps))
 *         ... all is read
 *     else
 *         ... another form, or damage: walk over the fields with tv_pf_next
 */
struct tv_pf_steps {
    const uint8_t *at, *end;
};

static inline struct tv_pf_steps tv_pf_steps_over(struct tv_bytes bytes)
{
    return (struct tv_pf_steps){bytes.data, bytes.data ? bytes.data + bytes.length : NULL};
}

static inline bool tv_pf_steps_ended(const struct tv_pf_steps *steps)
{
    return steps->at == steps->end;
}

/* Take a varint.  The address of `steps` goes to no function that is not inlined, so that its
 * members stay in registers. */
TV_INLINE bool tv_pf_step_varint(struct tv_pf_steps *steps, uint64_t *value)
{
    const uint8_t *at = steps->at;
    size_t left = (size_t)(steps->end - at);
    if (TV_LIKELY(left >= 1 && at[0] < 0x80)) {
        *value = at[0];
        steps->at = at + 1;
        return true;
    }
    if (TV_LIKELY(left >= 2 && at[1] < 0x80)) {
        *value = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        steps->at = at + 2;
        return true;
    }
    uint64_t wide = 0;
    bool taken = tv_pf_take_varint(&at, steps->end, &wide);
    *value = wide;
    steps->at = at;
    return taken;
}

/* Take the number of a field below 16. */
TV_INLINE bool tv_pf_step_number(struct tv_pf_steps *steps, unsigned number, uint64_t *value)
{
    if (steps->at == steps->end || *steps->at != (number << 3 | TV_PROTOBUF_VARINT))
        return false;
    steps->at++;
    return tv_pf_step_varint(steps, value);
}

/* Take the bytes of a field below 16, fewer than 128. */
TV_INLINE bool tv_pf_step_bytes(struct tv_pf_steps *steps, unsigned number, struct tv_bytes *bytes)
{
    size_t left = (size_t)(steps->end - steps->at);
    if (left < 2 || steps->at[0] != (number << 3 | TV_PROTOBUF_BYTES) || steps->at[1] >= 0x80 ||
        steps->at[1] > left - 2)
        return false;
    *bytes = (struct tv_bytes){steps->at + 2, steps->at[1]};
    steps->at += 2 + steps->at[1];
    return true;
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
    uint8_t size; /* size of a packed number: 8 or 4 bytes; 0: varints */
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

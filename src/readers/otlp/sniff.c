/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sniff.c - whether a file begins like OpenTelemetry profiles, or like spans.
 *
 * JSON has keys of its own.  Protobuf has no magic number, but messages in messages are not chance:
 *
 *     0a LEN (0a LEN (resource) 12 LEN (0a LEN (scope) 12 LEN (profile or span ...
 *
 * The first profile or span decides.  The prefix of a file ends inside of one of these messages, so
 * each of them is read as far as it goes.  A Perfetto trace begins with the same byte.
 */
#include "base/protobuf.h"
#include "readers/json/profile_kind.h"
#include "readers/otlp/messages.h"

/* Fields of ValueType, three numbers. */
#define LONGEST_VALUE_TYPE 24

/* Take a field of a message that may be cut: what is left of its bytes. */
static bool otlp_sniff_field(struct tv_cursor *cursor, struct tv_protobuf_field *field)
{
    const uint8_t *before = cursor->at;
    uint64_t key, length;
    if (tv_otlp_next(cursor, field))
        return true;
    cursor->at = before;
    if (!tv_protobuf_take_varint(cursor, &key) || (key & 7) != TV_PROTOBUF_BYTES || key >> 3 == 0 ||
        key >> 3 > 1000 || !tv_protobuf_take_varint(cursor, &length) ||
        length <= tv_cursor_left(cursor))
        return false;
    *field = (struct tv_protobuf_field){.number = (uint32_t)(key >> 3), .wire = TV_PROTOBUF_BYTES};
    return tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &field->bytes);
}

/* Return whether all fields of a message are bytes with numbers up to `most`. */
static bool otlp_sniff_bytes(struct tv_bytes message, uint32_t most)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (otlp_sniff_field(&cursor, &field))
        if (field.wire != TV_PROTOBUF_BYTES || field.number > most)
            return false;
    return true;
}

/* Return whether a message begins with the key of an attribute: plain text. */
static bool otlp_sniff_attribute(struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    if (!otlp_sniff_field(&cursor, &field) || field.number != OTLP_ATTRIBUTE_KEY ||
        field.wire != TV_PROTOBUF_BYTES || field.bytes.length == 0)
        return false;
    for (size_t i = 0; i < field.bytes.length; i++)
        if (field.bytes.data[i] < ' ' || field.bytes.data[i] > '~')
            return false;
    return true;
}

/* Return whether a resource begins with an attribute; false, with *other set, when it is none. */
static bool otlp_sniff_resource(struct tv_bytes message, bool *other)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    bool found = false;
    while (otlp_sniff_field(&cursor, &field)) {
        if (field.number == OTLP_RESOURCE_ATTRIBUTE && field.wire == TV_PROTOBUF_BYTES &&
            (field.bytes.length == 0 || otlp_sniff_attribute(field.bytes)))
            found |= field.bytes.length > 0;
        else
            *other |= field.number > 3 || field.number == OTLP_RESOURCE_ATTRIBUTE;
    }
    return found && !*other;
}

/* Return whether a profile begins with its value type, or with samples. */
static bool otlp_sniff_profile(struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field, part;
    while (otlp_sniff_field(&cursor, &field)) {
        if (field.number > OTLP_PROFILE_SAMPLE)
            return field.number == OTLP_PROFILE_TIME;
        if (field.wire != TV_PROTOBUF_BYTES ||
            (field.number == OTLP_PROFILE_SAMPLE_TYPE && field.bytes.length > LONGEST_VALUE_TYPE))
            return false;
        struct tv_cursor inside = tv_cursor_over(field.bytes);
        while (otlp_sniff_field(&inside, &part))
            if (part.number > OTLP_SAMPLE_TIMES + 1 ||
                (part.number == OTLP_SAMPLE_STACK && part.wire != TV_PROTOBUF_VARINT))
                return false;
    }
    return message.length > 0;
}

/* Return the wire type of a field of a span; -1: there is no such field. */
static int otlp_span_wire(uint32_t number)
{
    switch (number) {
    case OTLP_SPAN_START:
    case OTLP_SPAN_END:
        return TV_PROTOBUF_FIXED64;
    case OTLP_SPAN_KIND:
    case OTLP_SPAN_DROPPED_ATTRIBUTES:
    case OTLP_SPAN_DROPPED_EVENTS:
    case OTLP_SPAN_DROPPED_LINKS:
        return TV_PROTOBUF_VARINT;
    case OTLP_SPAN_FLAGS:
        return TV_PROTOBUF_FIXED32;
    default:
        return number <= OTLP_SPAN_STATUS ? TV_PROTOBUF_BYTES : -1;
    }
}

/* Return whether a message has the ids of a span, of 16 and 8 bytes, and a time unless it is cut
 * before. */
static bool otlp_sniff_span(struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    unsigned ids = 0;
    while (otlp_sniff_field(&cursor, &field)) {
        if ((int)field.wire != otlp_span_wire(field.number) ||
            (field.number == OTLP_SPAN_TRACE_ID && field.bytes.length != OTLP_LONGEST_ID) ||
            (field.number == OTLP_SPAN_ID && field.bytes.length != 8))
            return false;
        ids += field.number == OTLP_SPAN_TRACE_ID || field.number == OTLP_SPAN_ID;
    }
    return ids == 2;
}

/* Return how sure the first profile or span in a scope makes it; -1: the scope is cut before. */
static int otlp_sniff_scope(struct tv_bytes message, bool spans)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (otlp_sniff_field(&cursor, &field)) {
        if (field.number > 3 || field.wire != TV_PROTOBUF_BYTES ||
            (field.number == OTLP_SCOPE_PROFILES_SCOPE && !otlp_sniff_bytes(field.bytes, 3)))
            return 0;
        if (field.number != OTLP_SCOPE_PROFILES_PROFILE)
            continue;
        bool found = spans ? otlp_sniff_span(field.bytes) : otlp_sniff_profile(field.bytes);
        return found ? 95 : 0;
    }
    return -1;
}

/* Return how sure the first resource profiles, or resource spans, make it. */
static int otlp_sniff_resource_items(struct tv_bytes message, bool spans)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    int sure = 0, inside = -1;
    bool other = false;
    while (inside < 0 && otlp_sniff_field(&cursor, &field)) {
        if (field.number > 3 || field.wire != TV_PROTOBUF_BYTES)
            return 0;
        if (field.number == OTLP_RESOURCE_PROFILES_RESOURCE &&
            otlp_sniff_resource(field.bytes, &other))
            sure = 60;
        if (other)
            return 0;
        if (field.number == OTLP_RESOURCE_PROFILES_SCOPES)
            inside = otlp_sniff_scope(field.bytes, spans);
    }
    if (inside >= 0)
        return inside;
    return spans ? 0 : sure;
}

/* Return how sure a dictionary makes it: entry 0 of its tables is the empty one. */
static int otlp_sniff_dictionary(struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    if (!otlp_sniff_field(&cursor, &field) || field.wire != TV_PROTOBUF_BYTES ||
        field.number > OTLP_DICTIONARY_STACK || field.bytes.length != 0)
        return 0;
    return otlp_sniff_bytes(message, OTLP_DICTIONARY_STACK) ? 60 : 0;
}

int tv_otlp_sniff(struct tv_bytes prefix, bool spans)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_protobuf_field field;
    enum tv_json_profile kind = tv_json_profile_kind(prefix);
    if (kind == (spans ? TV_JSON_PROFILE_OTLP_SPANS : TV_JSON_PROFILE_OTLP))
        return TV_JSON_PROFILE_SURE;
    if (!otlp_sniff_field(&cursor, &field) || field.wire != TV_PROTOBUF_BYTES)
        return 0;
    if (field.number == OTLP_REQUEST_RESOURCE_PROFILES)
        return otlp_sniff_resource_items(field.bytes, spans);
    return field.number == OTLP_REQUEST_DICTIONARY && !spans ? otlp_sniff_dictionary(field.bytes)
                                                             : 0;
}

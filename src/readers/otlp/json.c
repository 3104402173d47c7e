/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - makes protobuf of OpenTelemetry profiles in JSON.
 *
 *     {"resourceProfiles": [{"scopeProfiles": [{"profiles": [{"samples": [{"stackIndex": 3, ...
 *         --> 0a LEN (12 LEN (12 LEN (12 LEN (08 03 ...
 *
 * The reader of the binary form does the rest, so that both forms have one reader. JSON is that of
 * the protobuf mapping: keys in camelCase, 64-bit numbers in quotes, ids in hexadecimal digits (an
 * exception of OTLP). A file may have several requests, one after the other or one a line.
 *
 * The members of the messages that the reader wants are in a table; all others are skipped.
 * Messages nest as the table says.  Only values of attributes can nest as deep as a file likes:
 * from OTLP_DEPTH on they stay JSON.  Lists of numbers become a field each.
 */
#include "readers/otlp/messages.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "readers/json/stream.h"
#include "readers/trace_event/text/values.h"

enum otlp_message {
    OTLP_REQUEST,
    OTLP_RESOURCE_PROFILES,
    OTLP_RESOURCE,
    OTLP_NAMED_ATTRIBUTE,
    OTLP_ANY_VALUE,
    OTLP_VALUE_LIST,
    OTLP_ATTRIBUTE_LIST,
    OTLP_SCOPE_PROFILES,
    OTLP_SCOPE,
    OTLP_PROFILE,
    OTLP_VALUE_TYPE,
    OTLP_SAMPLE,
    OTLP_DICTIONARY,
    OTLP_MAPPING,
    OTLP_LOCATION,
    OTLP_LINE,
    OTLP_FUNCTION,
    OTLP_LINK,
    OTLP_ATTRIBUTE,
    OTLP_STACK,
    OTLP_TEXT,   /* a string */
    OTLP_NUMBER, /* digits, with quotes or without */
    OTLP_FIXED,  /* the same, of eight bytes */
    OTLP_HEX,    /* bytes in hexadecimal digits */
    OTLP_VERBATIM,
};

static const struct otlp_member {
    enum otlp_message message;
    const char *key;
    uint32_t field;
    enum otlp_message value;
} otlp_members[] = {
    {OTLP_REQUEST, "resourceProfiles", OTLP_REQUEST_RESOURCE_PROFILES, OTLP_RESOURCE_PROFILES},
    {OTLP_REQUEST, "dictionary", OTLP_REQUEST_DICTIONARY, OTLP_DICTIONARY},
    {OTLP_RESOURCE_PROFILES, "resource", OTLP_RESOURCE_PROFILES_RESOURCE, OTLP_RESOURCE},
    {OTLP_RESOURCE_PROFILES, "scopeProfiles", OTLP_RESOURCE_PROFILES_SCOPES, OTLP_SCOPE_PROFILES},
    {OTLP_RESOURCE, "attributes", OTLP_RESOURCE_ATTRIBUTE, OTLP_NAMED_ATTRIBUTE},
    {OTLP_NAMED_ATTRIBUTE, "key", OTLP_ATTRIBUTE_KEY, OTLP_TEXT},
    {OTLP_NAMED_ATTRIBUTE, "value", OTLP_ATTRIBUTE_VALUE, OTLP_ANY_VALUE},
    {OTLP_ANY_VALUE, "stringValue", OTLP_VALUE_STRING, OTLP_TEXT},
    {OTLP_ANY_VALUE, "intValue", OTLP_VALUE_INT, OTLP_NUMBER},
    {OTLP_ANY_VALUE, "boolValue", OTLP_VALUE_JSON, OTLP_VERBATIM},
    {OTLP_ANY_VALUE, "doubleValue", OTLP_VALUE_JSON, OTLP_VERBATIM},
    {OTLP_ANY_VALUE, "bytesValue", OTLP_VALUE_JSON, OTLP_VERBATIM},
    {OTLP_ANY_VALUE, "arrayValue", OTLP_VALUE_ARRAY, OTLP_VALUE_LIST},
    {OTLP_ANY_VALUE, "kvlistValue", OTLP_VALUE_KEYS, OTLP_ATTRIBUTE_LIST},
    {OTLP_VALUE_LIST, "values", 1, OTLP_ANY_VALUE},
    {OTLP_ATTRIBUTE_LIST, "values", 1, OTLP_NAMED_ATTRIBUTE},
    {OTLP_SCOPE_PROFILES, "scope", OTLP_SCOPE_PROFILES_SCOPE, OTLP_SCOPE},
    {OTLP_SCOPE_PROFILES, "profiles", OTLP_SCOPE_PROFILES_PROFILE, OTLP_PROFILE},
    {OTLP_SCOPE, "name", OTLP_SCOPE_NAME, OTLP_TEXT},
    {OTLP_SCOPE, "version", OTLP_SCOPE_VERSION, OTLP_TEXT},
    {OTLP_PROFILE, "sampleType", OTLP_PROFILE_SAMPLE_TYPE, OTLP_VALUE_TYPE},
    {OTLP_PROFILE, "samples", OTLP_PROFILE_SAMPLE, OTLP_SAMPLE},
    {OTLP_PROFILE, "sample", OTLP_PROFILE_SAMPLE, OTLP_SAMPLE},
    {OTLP_PROFILE, "timeUnixNano", OTLP_PROFILE_TIME, OTLP_FIXED},
    {OTLP_PROFILE, "durationNano", OTLP_PROFILE_DURATION, OTLP_NUMBER},
    {OTLP_PROFILE, "periodType", OTLP_PROFILE_PERIOD_TYPE, OTLP_VALUE_TYPE},
    {OTLP_PROFILE, "period", OTLP_PROFILE_PERIOD, OTLP_NUMBER},
    {OTLP_PROFILE, "attributeIndices", OTLP_PROFILE_ATTRIBUTES, OTLP_NUMBER},
    {OTLP_VALUE_TYPE, "typeStrindex", 1, OTLP_NUMBER},
    {OTLP_VALUE_TYPE, "unitStrindex", 2, OTLP_NUMBER},
    {OTLP_SAMPLE, "stackIndex", OTLP_SAMPLE_STACK, OTLP_NUMBER},
    {OTLP_SAMPLE, "attributeIndices", OTLP_SAMPLE_ATTRIBUTES, OTLP_NUMBER},
    {OTLP_SAMPLE, "linkIndex", OTLP_SAMPLE_LINK, OTLP_NUMBER},
    {OTLP_SAMPLE, "values", OTLP_SAMPLE_VALUES, OTLP_NUMBER},
    {OTLP_SAMPLE, "timestampsUnixNano", OTLP_SAMPLE_TIMES, OTLP_FIXED},
    {OTLP_DICTIONARY, "mappingTable", OTLP_DICTIONARY_MAPPING, OTLP_MAPPING},
    {OTLP_DICTIONARY, "locationTable", OTLP_DICTIONARY_LOCATION, OTLP_LOCATION},
    {OTLP_DICTIONARY, "functionTable", OTLP_DICTIONARY_FUNCTION, OTLP_FUNCTION},
    {OTLP_DICTIONARY, "linkTable", OTLP_DICTIONARY_LINK, OTLP_LINK},
    {OTLP_DICTIONARY, "stringTable", OTLP_DICTIONARY_STRING, OTLP_TEXT},
    {OTLP_DICTIONARY, "attributeTable", OTLP_DICTIONARY_ATTRIBUTE, OTLP_ATTRIBUTE},
    {OTLP_DICTIONARY, "stackTable", OTLP_DICTIONARY_STACK, OTLP_STACK},
    {OTLP_MAPPING, "memoryStart", 1, OTLP_NUMBER},
    {OTLP_MAPPING, "memoryLimit", 2, OTLP_NUMBER},
    {OTLP_MAPPING, "fileOffset", 3, OTLP_NUMBER},
    {OTLP_MAPPING, "filenameStrindex", 4, OTLP_NUMBER},
    {OTLP_LOCATION, "mappingIndex", 1, OTLP_NUMBER},
    {OTLP_LOCATION, "address", 2, OTLP_NUMBER},
    {OTLP_LOCATION, "lines", 3, OTLP_LINE},
    {OTLP_LOCATION, "line", 3, OTLP_LINE},
    {OTLP_LINE, "functionIndex", 1, OTLP_NUMBER},
    {OTLP_LINE, "line", 2, OTLP_NUMBER},
    {OTLP_FUNCTION, "nameStrindex", 1, OTLP_NUMBER},
    {OTLP_FUNCTION, "systemNameStrindex", 2, OTLP_NUMBER},
    {OTLP_FUNCTION, "filenameStrindex", 3, OTLP_NUMBER},
    {OTLP_FUNCTION, "startLine", 4, OTLP_NUMBER},
    {OTLP_LINK, "traceId", OTLP_LINK_TRACE_ID, OTLP_HEX},
    {OTLP_LINK, "spanId", OTLP_LINK_SPAN_ID, OTLP_HEX},
    {OTLP_ATTRIBUTE, "keyStrindex", OTLP_ATTRIBUTE_KEY, OTLP_NUMBER},
    {OTLP_ATTRIBUTE, "value", OTLP_ATTRIBUTE_VALUE, OTLP_ANY_VALUE},
    {OTLP_ATTRIBUTE, "unitStrindex", OTLP_ATTRIBUTE_UNIT, OTLP_NUMBER},
    {OTLP_STACK, "locationIndices", OTLP_STACK_LOCATIONS, OTLP_NUMBER},
};

/* Maximum depth of messages: request, resource profiles, scope profiles, profile, sample, and an
 * attribute with lists in lists. */
#define OTLP_DEPTH 16

struct otlp_maker {
    struct tv_json_stream stream;
    struct tv_te_scratch scratch;
    struct tv_out messages[OTLP_DEPTH]; /* by depth; [0] is the whole, of all requests */
};

static const struct otlp_member *otlp_find_member(enum otlp_message message, struct tv_bytes key)
{
    for (size_t i = 0; i < TV_COUNT(otlp_members); i++)
        if (otlp_members[i].message == message &&
            tv_bytes_equal(key, tv_bytes_of(otlp_members[i].key)))
            return &otlp_members[i];
    return NULL;
}

/* Take a number: digits, in quotes where they may need more than 53 bits. */
static uint64_t otlp_take_number(struct otlp_maker *maker)
{
    struct tv_bytes raw = tv_json_take_raw(&maker->stream);
    int64_t number = 0;
    uint64_t large;
    if (raw.length >= 2 && raw.data[0] == '"')
        raw = (struct tv_bytes){raw.data + 1, raw.length - 2};
    if (tv_parse_u64(raw, &large))
        return large;
    return tv_json_parse_number(raw, 0, &number) ? (uint64_t)number : 0;
}

/* Write the bytes that hexadecimal digits stand for; nothing when they are none. */
static void otlp_put_hex(struct tv_out *out, uint32_t field, struct tv_bytes digits)
{
    struct tv_out bytes;
    tv_out_init_memory(&bytes);
    for (size_t i = 0; i + 1 < digits.length; i += 2) {
        int high = tv_hex_digit(digits.data[i]), low = tv_hex_digit(digits.data[i + 1]);
        if (high < 0 || low < 0)
            break;
        tv_out_char(&bytes, (char)(high << 4 | low));
    }
    tv_protobuf_put_message(out, field, &bytes);
    tv_out_release(&bytes);
}

/* Take a value that is no message. */
static void otlp_make_scalar(struct otlp_maker *maker, const struct otlp_member *member,
                             struct tv_out *out)
{
    if (member->value == OTLP_NUMBER) {
        tv_protobuf_put_number(out, member->field, otlp_take_number(maker));
    } else if (member->value == OTLP_FIXED) {
        tv_protobuf_put_fixed64(out, member->field, otlp_take_number(maker));
    } else {
        struct tv_bytes raw = tv_json_take_raw(&maker->stream);
        if (maker->stream.bad)
            return;
        if (member->value != OTLP_VERBATIM)
            raw = tv_te_is_string(raw) ? tv_te_decode_text(raw, &maker->scratch) : TV_BYTES("");
        if (member->value == OTLP_HEX)
            otlp_put_hex(out, member->field, raw);
        else
            tv_protobuf_put_bytes(out, member->field, raw);
    }
}

/* Take an object of the table into messages[depth]. */
static void otlp_make_message(struct otlp_maker *maker, enum otlp_message message, unsigned depth);

/* Append a value to the message around it. The length of a message precedes it, so an inner message
 * is complete in its own buffer before it is appended. */
static void otlp_make_value(struct otlp_maker *maker, const struct otlp_member *member,
                            unsigned depth)
{
    static const struct otlp_member too_deep = {.field = OTLP_VALUE_JSON, .value = OTLP_VERBATIM};
    /* A list needs three levels: itself, an attribute, and the value of that. */
    if ((member->value == OTLP_VALUE_LIST || member->value == OTLP_ATTRIBUTE_LIST) &&
        depth + 3 >= OTLP_DEPTH)
        member = &too_deep;
    if (member->value >= OTLP_TEXT) {
        otlp_make_scalar(maker, member, &maker->messages[depth]);
        return;
    }
    otlp_make_message(maker, member->value, depth + 1);
    tv_protobuf_put_message(&maker->messages[depth], member->field, &maker->messages[depth + 1]);
}

static void otlp_make_message(struct otlp_maker *maker, enum otlp_message message, unsigned depth)
{
    assert(depth < OTLP_DEPTH);
    struct tv_bytes key;
    if (!tv_json_open(&maker->stream, '{'))
        return;
    while (tv_json_take_key(&maker->stream, &key)) {
        const struct otlp_member *member = otlp_find_member(message, key);
        bool list = member && member->value != OTLP_VERBATIM &&
                    tv_json_peek(&maker->stream) == '[' && tv_json_open(&maker->stream, '[');
        if (!member)
            tv_json_skip(&maker->stream);
        else if (!list)
            otlp_make_value(maker, member, depth);
        while (list && tv_json_take_element(&maker->stream))
            otlp_make_value(maker, member, depth);
    }
}

/* Return whether an object follows; at the end of the text the stream is not bad. */
static bool otlp_has_request(struct tv_json_stream *stream)
{
    if (stream->bad)
        return false;
    while (stream->at < stream->end && memchr(" \t\r\n", *stream->at, 4))
        stream->at++;
    return stream->at < stream->end && *stream->at == '{';
}

void tv_otlp_make_requests(struct tv_otlp_file *file)
{
    struct otlp_maker maker = {.stream = tv_json_stream_over(file->text.bytes)};
    for (unsigned i = 0; i < OTLP_DEPTH; i++)
        tv_out_init_memory(&maker.messages[i]);
    while (otlp_has_request(&maker.stream)) {
        size_t start = maker.messages[0].length;
        otlp_make_message(&maker, OTLP_REQUEST, 0);
        file->requests = tv_array_reserve(file->requests, &file->capacity, file->count + 1,
                                          sizeof *file->requests);
        file->requests[file->count++] = (struct tv_bytes){NULL, maker.messages[0].length - start};
    }
    /* Data pointers are set at the end: the buffer has moved while it grew. */
    if (maker.stream.bad || maker.stream.at != maker.stream.end)
        file->damaged_at = tv_json_stream_offset(&maker.stream);
    tv_out_release(&file->made);
    file->made = maker.messages[0];
    file->bytes = (struct tv_bytes){file->made.buffer, file->made.length};
    const uint8_t *at = file->bytes.data;
    for (size_t i = 0; i < file->count; i++) {
        file->requests[i].data = at;
        if (file->requests[i].length > 0) /* else there may be no buffer */
            at += file->requests[i].length;
    }
    for (unsigned i = 1; i < OTLP_DEPTH; i++)
        tv_out_release(&maker.messages[i]);
    tv_te_scratch_release(&maker.scratch);
}

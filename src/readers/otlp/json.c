/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - makes protobuf of OpenTelemetry profiles and spans in JSON.
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
#include "base/encoding.h"
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
    OTLP_SPAN_REQUEST,
    OTLP_RESOURCE_SPANS,
    OTLP_SCOPE_SPANS,
    OTLP_SPAN,
    OTLP_SPAN_EVENT,
    OTLP_SPAN_LINK,
    OTLP_STATUS,
    OTLP_DICTIONARY,
    OTLP_MAPPING,
    OTLP_LOCATION,
    OTLP_LINE,
    OTLP_FUNCTION,
    OTLP_LINK,
    OTLP_ATTRIBUTE,
    OTLP_STACK,
    OTLP_TEXT,   /* a string */
    OTLP_NUMBER, /* digits, with quotes or without, or a name of `otlp_enums` */
    OTLP_FIXED,  /* the same, of eight bytes */
    OTLP_HEX,    /* bytes in hexadecimal digits, or in Base64, which some writers use */
    OTLP_VERBATIM,
};

/* Entries of a message stand together. */
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
    {OTLP_SPAN_REQUEST, "resourceSpans", OTLP_REQUEST_RESOURCE_PROFILES, OTLP_RESOURCE_SPANS},
    {OTLP_SPAN_REQUEST, "batches", OTLP_REQUEST_RESOURCE_PROFILES,
     OTLP_RESOURCE_SPANS}, /* Grafana Tempo */
    {OTLP_RESOURCE_SPANS, "resource", OTLP_RESOURCE_PROFILES_RESOURCE, OTLP_RESOURCE},
    {OTLP_RESOURCE_SPANS, "scopeSpans", OTLP_RESOURCE_PROFILES_SCOPES, OTLP_SCOPE_SPANS},
    {OTLP_RESOURCE_SPANS, "instrumentationLibrarySpans", OTLP_RESOURCE_PROFILES_SCOPES,
     OTLP_SCOPE_SPANS}, /* until opentelemetry-proto 0.15 */
    {OTLP_SCOPE_SPANS, "scope", OTLP_SCOPE_PROFILES_SCOPE, OTLP_SCOPE},
    {OTLP_SCOPE_SPANS, "instrumentationLibrary", OTLP_SCOPE_PROFILES_SCOPE, OTLP_SCOPE},
    {OTLP_SCOPE_SPANS, "spans", OTLP_SCOPE_PROFILES_PROFILE, OTLP_SPAN},
    {OTLP_SPAN, "traceId", OTLP_SPAN_TRACE_ID, OTLP_HEX},
    {OTLP_SPAN, "spanId", OTLP_SPAN_ID, OTLP_HEX},
    {OTLP_SPAN, "traceState", OTLP_SPAN_STATE, OTLP_TEXT},
    {OTLP_SPAN, "parentSpanId", OTLP_SPAN_PARENT, OTLP_HEX},
    {OTLP_SPAN, "name", OTLP_SPAN_NAME, OTLP_TEXT},
    {OTLP_SPAN, "kind", OTLP_SPAN_KIND, OTLP_NUMBER},
    {OTLP_SPAN, "startTimeUnixNano", OTLP_SPAN_START, OTLP_FIXED},
    {OTLP_SPAN, "endTimeUnixNano", OTLP_SPAN_END, OTLP_FIXED},
    {OTLP_SPAN, "attributes", OTLP_SPAN_ATTRIBUTES, OTLP_NAMED_ATTRIBUTE},
    {OTLP_SPAN, "droppedAttributesCount", OTLP_SPAN_DROPPED_ATTRIBUTES, OTLP_NUMBER},
    {OTLP_SPAN, "droppedEventsCount", OTLP_SPAN_DROPPED_EVENTS, OTLP_NUMBER},
    {OTLP_SPAN, "droppedLinksCount", OTLP_SPAN_DROPPED_LINKS, OTLP_NUMBER},
    {OTLP_SPAN, "events", OTLP_SPAN_EVENTS, OTLP_SPAN_EVENT},
    {OTLP_SPAN, "links", OTLP_SPAN_LINKS, OTLP_SPAN_LINK},
    {OTLP_SPAN, "status", OTLP_SPAN_STATUS, OTLP_STATUS},
    {OTLP_SPAN_EVENT, "timeUnixNano", OTLP_EVENT_TIME, OTLP_FIXED},
    {OTLP_SPAN_EVENT, "name", OTLP_EVENT_NAME, OTLP_TEXT},
    {OTLP_SPAN_EVENT, "attributes", OTLP_EVENT_ATTRIBUTES, OTLP_NAMED_ATTRIBUTE},
    {OTLP_SPAN_LINK, "traceId", OTLP_LINK_TRACE_ID, OTLP_HEX},
    {OTLP_SPAN_LINK, "spanId", OTLP_LINK_SPAN_ID, OTLP_HEX},
    {OTLP_SPAN_LINK, "traceState", OTLP_SPAN_LINK_STATE, OTLP_TEXT},
    {OTLP_SPAN_LINK, "attributes", OTLP_SPAN_LINK_ATTRIBUTES, OTLP_NAMED_ATTRIBUTE},
    {OTLP_STATUS, "message", OTLP_STATUS_MESSAGE, OTLP_TEXT},
    {OTLP_STATUS, "code", OTLP_STATUS_CODE, OTLP_NUMBER},
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

/* The value that a kind of span or a status has in protobuf; JSON may have its name. */
static const struct {
    const char *name;
    uint64_t value;
} otlp_enums[] = {
    {"SPAN_KIND_INTERNAL", 1}, {"SPAN_KIND_SERVER", 2},   {"SPAN_KIND_CLIENT", 3},
    {"SPAN_KIND_PRODUCER", 4}, {"SPAN_KIND_CONSUMER", 5}, {"STATUS_CODE_OK", 1},
    {"STATUS_CODE_ERROR", 2},
};

struct otlp_maker {
    struct tv_json_stream stream;
    uint64_t skipped, skipped_at; /* as in struct tv_otlp_file */
    struct tv_te_scratch scratch;
    size_t starts[OTLP_TEXT];           /* first entry of otlp_members of each message */
    struct tv_out messages[OTLP_DEPTH]; /* by depth; [0] is the whole, of all requests */
};

static void otlp_maker_init(struct otlp_maker *maker, struct tv_bytes text)
{
    *maker = (struct otlp_maker){.stream = tv_json_stream_over(text)};
    for (size_t i = TV_COUNT(otlp_members); i > 0; i--)
        maker->starts[otlp_members[i - 1].message] = i - 1;
    for (unsigned i = 0; i < OTLP_DEPTH; i++)
        tv_out_init_memory(&maker->messages[i]);
}

static void otlp_maker_release(struct otlp_maker *maker)
{
    for (unsigned i = 0; i < OTLP_DEPTH; i++)
        tv_out_release(&maker->messages[i]);
    tv_te_scratch_release(&maker->scratch);
}

static const struct otlp_member *otlp_find_member(const struct otlp_maker *maker,
                                                  enum otlp_message message, struct tv_bytes key)
{
    for (size_t i = maker->starts[message];
         i < TV_COUNT(otlp_members) && otlp_members[i].message == message; i++)
        if (tv_bytes_equal(key, tv_bytes_of(otlp_members[i].key)))
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
    for (size_t i = 0; i < TV_COUNT(otlp_enums); i++)
        if (tv_bytes_equal(raw, tv_bytes_of(otlp_enums[i].name)))
            return otlp_enums[i].value;
    return tv_json_parse_number(raw, 0, &number) ? (uint64_t)number : 0;
}

/* Write the bytes that hexadecimal digits stand for; false: they are not all of the text. */
static bool otlp_decode_hex(struct tv_out *out, struct tv_bytes digits)
{
    for (size_t i = 0; i + 1 < digits.length; i += 2) {
        int high = tv_hex_digit(digits.data[i]), low = tv_hex_digit(digits.data[i + 1]);
        if (high < 0 || low < 0)
            return false;
        tv_out_char(out, (char)(high << 4 | low));
    }
    return digits.length % 2 == 0;
}

/* Write an id.  Base64 of an id of 8 or 16 bytes ends with "=", which is no hexadecimal digit. */
static void otlp_put_hex(struct tv_out *out, uint32_t field, struct tv_bytes text)
{
    uint8_t id[OTLP_LONGEST_ID + 3];
    struct tv_base64 state = {.digits = 0};
    struct tv_out bytes;
    size_t used;
    tv_out_init_memory(&bytes);
    if (!otlp_decode_hex(&bytes, text) && text.length <= OTLP_LONGEST_ID * 4 / 3 + 3) {
        bytes.length = 0;
        tv_out_bytes(&bytes, (struct tv_bytes){id, tv_base64_decode(&state, text, id, &used)});
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

/* Make a protobuf message of a JSON object, by the table of its members.  A list gives one field
 * for each element, as repeated fields are.  Values below OTLP_DEPTH stay JSON (otlp_make_value),
 * so the input cannot deepen the recursion. */
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

/* Skip a member that the table does not have; at the top it may be another signal. */
static void otlp_skip_member(struct otlp_maker *maker, struct tv_bytes key, unsigned depth)
{
    if (depth == 0 && tv_bytes_starts_with(key, TV_BYTES("resource")) && maker->skipped++ == 0)
        maker->skipped_at = tv_json_stream_offset(&maker->stream);
    tv_json_skip(&maker->stream);
}

/* Say where a span or an event is: its offset is the place to read it again. */
static void otlp_put_place(struct otlp_maker *maker, enum otlp_message message, unsigned depth)
{
    if ((message == OTLP_SPAN || message == OTLP_SPAN_EVENT) && tv_json_peek(&maker->stream) == '{')
        tv_protobuf_put_number(&maker->messages[depth], OTLP_JSON_PLACE,
                               tv_json_stream_offset(&maker->stream));
}

static void otlp_make_message(struct otlp_maker *maker, enum otlp_message message, unsigned depth)
{
    assert(depth < OTLP_DEPTH);
    struct tv_bytes key;
    otlp_put_place(maker, message, depth);
    if (!tv_json_open(&maker->stream, '{'))
        return;
    while (tv_json_take_key(&maker->stream, &key)) {
        const struct otlp_member *member = otlp_find_member(maker, message, key);
        bool list = member && member->value != OTLP_VERBATIM &&
                    tv_json_peek(&maker->stream) == '[' && tv_json_open(&maker->stream, '[');
        if (!member)
            otlp_skip_member(maker, key, depth);
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
    struct otlp_maker maker;
    otlp_maker_init(&maker, file->text.bytes);
    while (otlp_has_request(&maker.stream)) {
        size_t start = maker.messages[0].length;
        otlp_make_message(&maker, file->content == TV_OTLP_SPANS ? OTLP_SPAN_REQUEST : OTLP_REQUEST,
                          0);
        file->requests = tv_array_reserve(file->requests, &file->capacity, file->count + 1,
                                          sizeof *file->requests);
        file->requests[file->count++] = (struct tv_bytes){NULL, maker.messages[0].length - start};
    }
    /* Data pointers are set at the end: the buffer has moved while it grew. */
    if (maker.stream.bad || maker.stream.at != maker.stream.end)
        file->damaged_at = tv_json_stream_offset(&maker.stream);
    file->skipped = maker.skipped;
    file->skipped_at = maker.skipped_at;
    tv_out_release(&file->made);
    file->made = maker.messages[0];
    tv_out_init_memory(&maker.messages[0]);
    file->bytes = (struct tv_bytes){file->made.buffer, file->made.length};
    const uint8_t *at = file->bytes.data;
    for (size_t i = 0; i < file->count; i++) {
        file->requests[i].data = at;
        if (file->requests[i].length > 0) /* else there may be no buffer */
            at += file->requests[i].length;
    }
    otlp_maker_release(&maker);
}

bool tv_otlp_make_span(struct tv_bytes text, bool event, struct tv_out *out)
{
    struct otlp_maker maker;
    otlp_maker_init(&maker, text);
    otlp_make_message(&maker, event ? OTLP_SPAN_EVENT : OTLP_SPAN, 0);
    bool whole = !maker.stream.bad;
    tv_out_bytes(out, (struct tv_bytes){maker.messages[0].buffer, maker.messages[0].length});
    otlp_maker_release(&maker);
    return whole;
}

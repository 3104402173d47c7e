/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jaeger_zipkin.c - makes OpenTelemetry's messages of spans in the JSON of Jaeger and of Zipkin.
 *
 *     Jaeger   {"data": [{"traceID": "5b8e", "spans": [{"spanID": "a1", "processID": "p1", ...}],
 *                         "processes": {"p1": {"serviceName": "shop", "tags": [...]}}}]}
 *     Zipkin   [{"traceId": "5b8e", "id": "a1", "localEndpoint": {"serviceName": "shop"}, ...}]
 *
 *         --> resource {service.name: "shop"}, scope {span, span, ...}
 *
 * spans.c does the rest, as for OTLP.  Spans of one process stand together in a request, so that
 * their resource is there once, however long it is: spans of all processes take turns in a file.
 *
 *     spans      |span|span|span|span|...   messages in the order of the file
 *     records     p1 --> p1   p2 --> p2     each has the number of the next one of its process
 *
 * Jaeger's processes follow the spans that name them, so a trace is read twice: to find its
 * members, then these.  Members of a span may come in any order, too.  A span that is cut off is
 * left out.
 */
#include "readers/otlp/messages.h"

#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "readers/json/profile_kind.h"
#include "readers/json/stream.h"
#include "readers/trace_event/text/values.h"

/* Digits of the id of a span; that of a trace may have twice as many. */
#define SPAN_DIGITS 16

/* Code of a failed operation. */
#define STATUS_ERROR 2

/* The end of a list of records. */
#define NO_RECORD SIZE_MAX

struct made_span {
    size_t at, length; /* of its message in `spans` */
    size_t next;       /* record of the same process */
};

struct made_process {
    size_t at, length; /* of its resource in `resources` */
    size_t first, last;
};

/* The process that a name stands for in a trace. */
struct named_process {
    size_t trace, process;
};

struct span_maker {
    struct tv_json_stream stream;
    struct tv_te_scratch scratch;
    struct tv_out value, attribute, status; /* messages that are being made */
    struct tv_out part;                     /* an event, a link or a resource */
    struct tv_out span;
    struct tv_out spans, resources;
    uint64_t status_code;
    struct tv_interner *names;     /* of processes in the file */
    size_t trace;                  /* number of the current one, from 1 */
    TV_TABLE(named_process) named; /* by name */
    TV_TABLE(made_process) processes;
    TV_TABLE(made_span) records;
};

static void maker_init(struct span_maker *maker, struct tv_bytes text)
{
    *maker = (struct span_maker){.stream = tv_json_stream_over(text), .trace = 1};
    struct tv_out *outs[] = {&maker->value, &maker->attribute, &maker->status,   &maker->part,
                             &maker->span,  &maker->spans,     &maker->resources};
    for (size_t i = 0; i < TV_COUNT(outs); i++)
        tv_out_init_memory(outs[i]);
    maker->names = tv_interner_new();
}

static void maker_release(struct span_maker *maker)
{
    struct tv_out *outs[] = {&maker->value, &maker->attribute, &maker->status,   &maker->part,
                             &maker->span,  &maker->spans,     &maker->resources};
    for (size_t i = 0; i < TV_COUNT(outs); i++)
        tv_out_release(outs[i]);
    tv_te_scratch_release(&maker->scratch);
    tv_interner_free(maker->names);
    tv_free(maker->named.rows);
    tv_free(maker->processes.rows);
    tv_free(maker->records.rows);
}

/* ---- Values ---- */

/* Move to the value of a member; false: there is none. */
static bool maker_enter(struct span_maker *maker, const struct tv_json_member *member)
{
    if (member->offset == TV_NO_OFFSET)
        return false;
    maker->stream = tv_json_stream_at(&maker->stream, (size_t)member->offset);
    return true;
}

/* Return the raw value of a member; empty: there is none. */
static struct tv_bytes maker_raw(const struct span_maker *maker,
                                 const struct tv_json_member *member)
{
    if (member->offset == TV_NO_OFFSET)
        return TV_BYTES("");
    struct tv_json_stream stream = tv_json_stream_at(&maker->stream, (size_t)member->offset);
    struct tv_bytes raw = tv_json_take_raw(&stream);
    return stream.bad ? TV_BYTES("") : raw;
}

/* Return the text of a raw string, which lasts until the next one; empty: it is none. */
static struct tv_bytes maker_text(struct span_maker *maker, struct tv_bytes raw)
{
    return tv_te_is_string(raw) ? tv_te_decode_text(raw, &maker->scratch) : TV_BYTES("");
}

/* Return the text of a key, which the stream gives without its quotes. */
static struct tv_bytes maker_key(struct span_maker *maker, struct tv_bytes key)
{
    return maker_text(maker, (struct tv_bytes){key.data - 1, key.length + 2});
}

/* Write an id with the leading zeros that old versions leave out.  An id that is not hexadecimal
 * digits is none. */
static void maker_put_id(struct span_maker *maker, struct tv_out *out, uint32_t field,
                         struct tv_bytes raw)
{
    struct tv_bytes digits = maker_text(maker, raw);
    uint8_t id[OTLP_LONGEST_ID] = {0};
    size_t length = digits.length <= SPAN_DIGITS ? SPAN_DIGITS / 2 : OTLP_LONGEST_ID;
    if (digits.length == 0 || digits.length > sizeof id * 2)
        return;
    for (size_t i = 0; i < digits.length; i++) {
        int digit = tv_hex_digit(digits.data[digits.length - 1 - i]);
        if (digit < 0)
            return;
        id[length - 1 - i / 2] |= (uint8_t)(digit << i % 2 * 4);
    }
    tv_protobuf_put_bytes(out, field, (struct tv_bytes){id, length});
}

/* Write an attribute whose key is in maker->attribute. */
static void maker_put_value(struct span_maker *maker, struct tv_out *out, uint32_t field,
                            struct tv_bytes raw)
{
    uint64_t number;
    if (tv_te_is_string(raw))
        tv_protobuf_put_bytes(&maker->value, OTLP_VALUE_STRING, maker_text(maker, raw));
    else if (tv_parse_u64(raw, &number) && number <= INT64_MAX)
        tv_protobuf_put_number(&maker->value, OTLP_VALUE_INT, number);
    else
        tv_protobuf_put_bytes(&maker->value, OTLP_VALUE_JSON,
                              raw.length > 0 ? raw : TV_BYTES("null"));
    tv_protobuf_put_message(&maker->attribute, OTLP_ATTRIBUTE_VALUE, &maker->value);
    tv_protobuf_put_message(out, field, &maker->attribute);
}

static void maker_put_attribute(struct span_maker *maker, const char *key, struct tv_bytes raw)
{
    if (raw.length == 0)
        return;
    tv_protobuf_put_bytes(&maker->attribute, OTLP_ATTRIBUTE_KEY, tv_bytes_of(key));
    maker_put_value(maker, &maker->span, OTLP_SPAN_ATTRIBUTES, raw);
}

/* Write the times of a span, in microseconds.  Without a duration it has not ended. */
static void maker_put_times(struct span_maker *maker, struct tv_bytes start_us,
                            struct tv_bytes duration_us)
{
    int64_t start, duration;
    if (!tv_te_parse_time(start_us, &start) || start <= 0)
        return;
    tv_protobuf_put_fixed64(&maker->span, OTLP_SPAN_START, (uint64_t)start);
    if (!tv_te_parse_time(duration_us, &duration))
        return;
    bool before = duration < 0 && start <= -duration; /* the epoch */
    tv_protobuf_put_fixed64(&maker->span, OTLP_SPAN_END,
                            before ? 1 : (uint64_t)start + (uint64_t)duration);
}

/* Write the place of the object that follows, to read it again. */
static void maker_put_place(struct span_maker *maker, struct tv_out *out)
{
    tv_protobuf_put_number(out, OTLP_JSON_PLACE, tv_json_stream_offset(&maker->stream));
}

static void maker_put_event_time(struct span_maker *maker, struct tv_bytes time_us)
{
    int64_t time;
    if (tv_te_parse_time(time_us, &time) && time > 0)
        tv_protobuf_put_fixed64(&maker->part, OTLP_EVENT_TIME, (uint64_t)time);
}

/* ---- Tags ---- */

static bool maker_same_letters(struct tv_bytes text, const char *lower)
{
    size_t i = 0;
    for (; i < text.length && lower[i] != '\0'; i++)
        if ((text.data[i] | 0x20) != lower[i])
            return false;
    return i == text.length && lower[i] == '\0';
}

/* Write the kind of a span, unless it is not one of these. */
static bool maker_put_kind(struct span_maker *maker, struct tv_bytes raw)
{
    static const char *const kinds[] = {"internal", "server", "client", "producer", "consumer"};
    struct tv_bytes kind = maker_text(maker, raw);
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (maker_same_letters(kind, kinds[i])) {
            tv_protobuf_put_number(&maker->span, OTLP_SPAN_KIND, i + 1);
            return true;
        }
    return false;
}

static bool maker_take_code(struct span_maker *maker, struct tv_bytes raw)
{
    static const char *const codes[] = {"ok", "error"};
    struct tv_bytes code = maker_text(maker, raw);
    for (size_t i = 0; i < TV_COUNT(codes); i++)
        if (maker_same_letters(code, codes[i])) {
            if (maker->status_code < i + 1)
                maker->status_code = i + 1;
            return true;
        }
    return false;
}

static bool maker_take_description(struct span_maker *maker, struct tv_bytes raw)
{
    struct tv_bytes text = maker_text(maker, raw);
    if (text.length == 0)
        return false;
    tv_protobuf_put_bytes(&maker->status, OTLP_STATUS_MESSAGE, text);
    return true;
}

/* Tags that are fields in OpenTelemetry.  A value that the field does not have stays a tag. */
static const struct {
    const char *key;
    bool (*take)(struct span_maker *maker, struct tv_bytes raw);
} field_tags[] = {
    {"span.kind", maker_put_kind},
    {"otel.status_code", maker_take_code},
    {"otel.status_description", maker_take_description},
};

/* Take a tag of a span, whose key is plain text. */
static void maker_put_tag(struct span_maker *maker, struct tv_bytes key, struct tv_bytes raw)
{
    for (size_t i = 0; i < TV_COUNT(field_tags); i++)
        if (tv_bytes_equal(key, tv_bytes_of(field_tags[i].key)) && field_tags[i].take(maker, raw))
            return;
    tv_protobuf_put_bytes(&maker->attribute, OTLP_ATTRIBUTE_KEY, maker_key(maker, key));
    maker_put_value(maker, &maker->span, OTLP_SPAN_ATTRIBUTES, raw);
}

static void maker_put_status(struct span_maker *maker)
{
    if (maker->status_code != 0)
        tv_protobuf_put_number(&maker->status, OTLP_STATUS_CODE, maker->status_code);
    if (maker->status.length > 0)
        tv_protobuf_put_message(&maker->span, OTLP_SPAN_STATUS, &maker->status);
    maker->status_code = 0;
}

/* ---- Processes ---- */

/* Return where the process of a name is noted, for this trace. */
static struct named_process *maker_find_name(struct span_maker *maker, struct tv_bytes name)
{
    uint32_t number = tv_interner_add(maker->names, name);
    while (maker->named.count <= number)
        *tv_table_add(&maker->named) = (struct named_process){.trace = 0};
    return &maker->named.rows[number];
}

/* Add the process whose resource is in maker->part. */
static void maker_add_process(struct span_maker *maker, struct named_process *named)
{
    named->trace = maker->trace;
    named->process = maker->processes.count;
    *tv_table_add(&maker->processes) =
        (struct made_process){maker->resources.length, maker->part.length, NO_RECORD, NO_RECORD};
    tv_out_bytes(&maker->resources, (struct tv_bytes){maker->part.buffer, maker->part.length});
    maker->part.length = 0;
}

static void maker_put_service(struct span_maker *maker, struct tv_bytes name)
{
    if (name.length == 0)
        return;
    tv_protobuf_put_bytes(&maker->attribute, OTLP_ATTRIBUTE_KEY, TV_BYTES("service.name"));
    tv_protobuf_put_bytes(&maker->value, OTLP_VALUE_STRING, name);
    tv_protobuf_put_message(&maker->attribute, OTLP_ATTRIBUTE_VALUE, &maker->value);
    tv_protobuf_put_message(&maker->part, OTLP_RESOURCE_ATTRIBUTE, &maker->attribute);
}

/* Add the span that was made to the process of a name.  One that is nowhere else is a service of
 * this name. */
static void maker_add_span(struct span_maker *maker, struct tv_bytes name)
{
    struct named_process *named = maker_find_name(maker, name);
    if (named->trace != maker->trace) {
        maker_put_service(maker, name);
        maker_add_process(maker, named);
    }
    struct made_process *process = &maker->processes.rows[named->process];
    size_t record = maker->records.count;
    if (process->first == NO_RECORD)
        process->first = record;
    else
        maker->records.rows[process->last].next = record;
    process->last = record;
    *tv_table_add(&maker->records) =
        (struct made_span){maker->spans.length, maker->span.length, NO_RECORD};
    tv_out_bytes(&maker->spans, (struct tv_bytes){maker->span.buffer, maker->span.length});
    maker->span.length = 0;
}

/* Write all processes with their spans as a request. */
static void maker_put_request(struct span_maker *maker, struct tv_out *out)
{
    struct tv_out scope, resource;
    tv_out_init_memory(&scope);
    tv_out_init_memory(&resource);
    for (size_t i = 0; i < maker->processes.count; i++) {
        const struct made_process *process = &maker->processes.rows[i];
        if (process->first == NO_RECORD)
            continue;
        if (process->length > 0) /* else there may be no buffer */
            tv_protobuf_put_bytes(
                &resource, OTLP_RESOURCE_PROFILES_RESOURCE,
                (struct tv_bytes){maker->resources.buffer + process->at, process->length});
        for (size_t at = process->first; at != NO_RECORD; at = maker->records.rows[at].next) {
            const struct made_span *span = &maker->records.rows[at];
            tv_protobuf_put_bytes(&scope, OTLP_SCOPE_PROFILES_PROFILE,
                                  (struct tv_bytes){maker->spans.buffer + span->at, span->length});
        }
        tv_protobuf_put_message(&resource, OTLP_RESOURCE_PROFILES_SCOPES, &scope);
        tv_protobuf_put_message(out, OTLP_REQUEST_RESOURCE_PROFILES, &resource);
    }
    tv_out_release(&scope);
    tv_out_release(&resource);
}

/* ---- Jaeger ---- */

/* Take a tag: {"key": "http.method", "type": "string", "value": "GET"}.  Return its key, as it is
 * in the file without quotes; false: it has none. */
static bool jaeger_take_tag(struct span_maker *maker, struct tv_bytes *key, struct tv_bytes *value)
{
    struct tv_json_member members[] = {{"key", 0}, {"value", 0}};
    if (!tv_json_find_members(&maker->stream, members, TV_COUNT(members)))
        return false;
    *key = maker_raw(maker, &members[0]);
    *value = maker_raw(maker, &members[1]);
    if (!tv_te_is_string(*key) || key->length < 2)
        return false;
    *key = (struct tv_bytes){key->data + 1, key->length - 2};
    return true;
}

/* Copy the tags of a span, each {key, type, value}.  The tag error=true, by convention, makes the
 * span fail; it is also kept as a tag. */
static void jaeger_put_tags(struct span_maker *maker)
{
    struct tv_bytes key, value;
    if (!tv_json_open(&maker->stream, '['))
        return;
    while (tv_json_take_element(&maker->stream))
        if (jaeger_take_tag(maker, &key, &value)) {
            if (tv_bytes_equal(key, TV_BYTES("error")) &&
                (tv_bytes_equal(value, TV_BYTES("true")) ||
                 tv_bytes_equal(value, TV_BYTES("\"true\""))))
                maker->status_code = STATUS_ERROR;
            maker_put_tag(maker, key, value);
        }
}

/* Write the fields of a log as attributes of an event.  "event" is its name, else "message". */
static void jaeger_put_fields(struct span_maker *maker)
{
    struct tv_bytes key, value, name = {NULL, 0}, message = TV_BYTES("\"log\"");
    if (!tv_json_open(&maker->stream, '['))
        return;
    while (tv_json_take_element(&maker->stream)) {
        if (!jaeger_take_tag(maker, &key, &value))
            continue;
        if (!name.data && tv_bytes_equal(key, TV_BYTES("event")) && tv_te_is_string(value)) {
            name = value;
            continue;
        }
        if (tv_bytes_equal(key, TV_BYTES("message")) && tv_te_is_string(value))
            message = value;
        tv_protobuf_put_bytes(&maker->attribute, OTLP_ATTRIBUTE_KEY, maker_key(maker, key));
        maker_put_value(maker, &maker->part, OTLP_EVENT_ATTRIBUTES, value);
    }
    tv_protobuf_put_bytes(&maker->part, OTLP_EVENT_NAME,
                          maker_text(maker, name.data ? name : message));
}

/* Take a log of a span into maker->part. */
static void jaeger_make_event(struct span_maker *maker)
{
    struct tv_json_member members[] = {{"timestamp", 0}, {"fields", 0}};
    maker_put_place(maker, &maker->part);
    if (!tv_json_find_members(&maker->stream, members, TV_COUNT(members)))
        return;
    struct tv_json_stream after = maker->stream;
    maker_put_event_time(maker, maker_raw(maker, &members[0]));
    if (maker_enter(maker, &members[1]))
        jaeger_put_fields(maker);
    maker->stream = after;
}

/* The first members of a span in both formats. */
enum span_member {
    SPAN_TRACE,
    SPAN_ID,
    SPAN_PARENT, /* in Jaeger of old versions */
    SPAN_NAME,
    SPAN_START,
    SPAN_DURATION,
    SPAN_MEMBERS,
};

/* Write the own ids, the name and the times of a span. */
static void maker_put_head(struct span_maker *maker, const struct tv_json_member *members)
{
    maker_put_id(maker, &maker->span, OTLP_SPAN_TRACE_ID, maker_raw(maker, &members[SPAN_TRACE]));
    maker_put_id(maker, &maker->span, OTLP_SPAN_ID, maker_raw(maker, &members[SPAN_ID]));
    tv_protobuf_put_bytes(&maker->span, OTLP_SPAN_NAME,
                          maker_text(maker, maker_raw(maker, &members[SPAN_NAME])));
    maker_put_times(maker, maker_raw(maker, &members[SPAN_START]),
                    maker_raw(maker, &members[SPAN_DURATION]));
}

/* Write the events of a list of objects. */
static void maker_put_event_list(struct span_maker *maker, void make_event(struct span_maker *))
{
    if (!tv_json_open(&maker->stream, '['))
        return;
    while (tv_json_take_element(&maker->stream)) {
        if (tv_json_peek(&maker->stream) != '{') {
            tv_json_skip(&maker->stream);
            continue;
        }
        make_event(maker);
        tv_protobuf_put_message(&maker->span, OTLP_SPAN_EVENTS, &maker->part);
    }
}

/* Write the first CHILD_OF of a trace as the parent, all other references as links. */
static bool jaeger_put_references(struct span_maker *maker, struct tv_bytes trace)
{
    struct tv_json_member members[] = {{"refType", 0}, {"traceID", 0}, {"spanID", 0}};
    bool parent = false;
    if (!tv_json_open(&maker->stream, '['))
        return false;
    while (tv_json_take_element(&maker->stream)) {
        if (!tv_json_find_members(&maker->stream, members, TV_COUNT(members)))
            continue;
        struct tv_bytes of = maker_raw(maker, &members[1]), id = maker_raw(maker, &members[2]);
        if (of.length == 0)
            of = trace;
        if (!parent && tv_bytes_equal(of, trace) &&
            tv_bytes_equal(maker_raw(maker, &members[0]), TV_BYTES("\"CHILD_OF\""))) {
            maker_put_id(maker, &maker->span, OTLP_SPAN_PARENT, id);
            parent = true;
            continue;
        }
        maker_put_id(maker, &maker->part, OTLP_LINK_TRACE_ID, of);
        maker_put_id(maker, &maker->part, OTLP_LINK_SPAN_ID, id);
        tv_protobuf_put_message(&maker->span, OTLP_SPAN_LINKS, &maker->part);
    }
    return parent;
}

enum jaeger_member {
    JAEGER_PROCESS = SPAN_MEMBERS,
    JAEGER_REFERENCES,
    JAEGER_TAGS,
    JAEGER_LOGS,
    JAEGER_WARNINGS,
    JAEGER_MEMBERS,
};

/* Take a span into maker->span.  Return the raw id of its process. */
static struct tv_bytes jaeger_make_span(struct span_maker *maker)
{
    struct tv_json_member members[JAEGER_MEMBERS] = {
        {"traceID", 0},   {"spanID", 0},   {"parentSpanID", 0}, {"operationName", 0},
        {"startTime", 0}, {"duration", 0}, {"processID", 0},    {"references", 0},
        {"tags", 0},      {"logs", 0},     {"warnings", 0}};
    maker_put_place(maker, &maker->span);
    if (!tv_json_find_members(&maker->stream, members, JAEGER_MEMBERS))
        return TV_BYTES("");
    struct tv_json_stream after = maker->stream;
    struct tv_bytes trace = maker_raw(maker, &members[SPAN_TRACE]);
    maker_put_head(maker, members);
    if (!maker_enter(maker, &members[JAEGER_REFERENCES]) || !jaeger_put_references(maker, trace))
        maker_put_id(maker, &maker->span, OTLP_SPAN_PARENT,
                     maker_raw(maker, &members[SPAN_PARENT]));
    if (maker_enter(maker, &members[JAEGER_TAGS]))
        jaeger_put_tags(maker);
    if (maker_enter(maker, &members[JAEGER_LOGS]))
        maker_put_event_list(maker, jaeger_make_event);
    if (maker_enter(maker, &members[JAEGER_WARNINGS]) && tv_json_peek(&maker->stream) == '[')
        maker_put_attribute(maker, "warnings", maker_raw(maker, &members[JAEGER_WARNINGS]));
    maker_put_status(maker);
    maker->stream = after;
    return maker_raw(maker, &members[JAEGER_PROCESS]);
}

/* Add a process of a trace: {"serviceName": "shop", "tags": [...]}. */
static void jaeger_add_process(struct span_maker *maker, struct tv_bytes name)
{
    struct tv_json_member members[] = {{"serviceName", 0}, {"tags", 0}};
    struct tv_bytes key, value;
    struct named_process *named = maker_find_name(maker, maker_key(maker, name));
    if (!tv_json_find_members(&maker->stream, members, TV_COUNT(members)))
        return;
    struct tv_json_stream after = maker->stream;
    maker_put_service(maker, maker_text(maker, maker_raw(maker, &members[0])));
    if (maker_enter(maker, &members[1]) && tv_json_open(&maker->stream, '['))
        while (tv_json_take_element(&maker->stream))
            if (jaeger_take_tag(maker, &key, &value)) {
                tv_protobuf_put_bytes(&maker->attribute, OTLP_ATTRIBUTE_KEY, maker_key(maker, key));
                maker_put_value(maker, &maker->part, OTLP_RESOURCE_ATTRIBUTE, value);
            }
    maker_add_process(maker, named);
    maker->stream = after;
}

static void jaeger_add_spans(struct span_maker *maker)
{
    if (!tv_json_open(&maker->stream, '['))
        return;
    while (tv_json_take_element(&maker->stream)) {
        if (tv_json_peek(&maker->stream) != '{') {
            tv_json_skip(&maker->stream);
            continue;
        }
        struct tv_bytes process = jaeger_make_span(maker);
        if (maker->stream.bad)
            maker->span.length = 0;
        else
            maker_add_span(maker, maker_text(maker, process));
    }
}

/* Add the spans of a trace.  They refer to processes by key, so "processes" is read first, wherever
 * it is in the object. */
static void jaeger_add_trace(struct span_maker *maker)
{
    struct tv_json_member members[] = {{"processes", 0}, {"spans", 0}};
    struct tv_bytes name;
    if (!tv_json_find_members(&maker->stream, members, TV_COUNT(members)))
        return;
    struct tv_json_stream after = maker->stream;
    maker->trace++;
    if (maker_enter(maker, &members[0]) && tv_json_open(&maker->stream, '{'))
        while (tv_json_take_key(&maker->stream, &name))
            jaeger_add_process(maker, name);
    if (maker_enter(maker, &members[1]))
        jaeger_add_spans(maker);
    maker->stream = after;
}

/* Add all traces of an answer of Jaeger's API or of its page: {"data": [trace, ...]}. */
static void jaeger_add_document(struct span_maker *maker)
{
    struct tv_bytes key;
    if (!tv_json_open(&maker->stream, '{'))
        return;
    while (tv_json_take_key(&maker->stream, &key)) {
        if (!tv_bytes_equal(key, TV_BYTES("data")))
            tv_json_skip(&maker->stream);
        else if (tv_json_open(&maker->stream, '['))
            while (tv_json_take_element(&maker->stream))
                jaeger_add_trace(maker);
    }
}

/* ---- Zipkin ---- */

/* Take an annotation of a span, {"timestamp": 1, "value": "ws"}, into maker->part. */
static void zipkin_make_event(struct span_maker *maker)
{
    struct tv_json_member members[] = {{"timestamp", 0}, {"value", 0}};
    maker_put_place(maker, &maker->part);
    if (!tv_json_find_members(&maker->stream, members, TV_COUNT(members)))
        return;
    maker_put_event_time(maker, maker_raw(maker, &members[0]));
    tv_protobuf_put_bytes(&maker->part, OTLP_EVENT_NAME,
                          maker_text(maker, maker_raw(maker, &members[1])));
}

/* Copy the tags of a span, {key: value}.  A tag "error" makes the span fail, whatever its text
 * says, except "false". */
static void zipkin_put_tags(struct span_maker *maker)
{
    struct tv_bytes key;
    if (!tv_json_open(&maker->stream, '{'))
        return;
    while (tv_json_take_key(&maker->stream, &key)) {
        struct tv_bytes raw = tv_json_take_raw(&maker->stream);
        if (maker->stream.bad)
            return;
        if (tv_bytes_equal(key, TV_BYTES("error")) && !tv_bytes_equal(raw, TV_BYTES("false")) &&
            !tv_bytes_equal(raw, TV_BYTES("\"false\"")))
            maker->status_code = STATUS_ERROR;
        maker_put_tag(maker, key, raw);
    }
}

enum zipkin_member {
    ZIPKIN_KIND = SPAN_MEMBERS,
    ZIPKIN_LOCAL,
    ZIPKIN_REMOTE,
    ZIPKIN_TAGS,
    ZIPKIN_ANNOTATIONS,
    ZIPKIN_SHARED,
    ZIPKIN_MEMBERS,
};

/* Take a span into maker->span.  Return the raw name of its service. */
static struct tv_bytes zipkin_make_span(struct span_maker *maker)
{
    struct tv_json_member members[ZIPKIN_MEMBERS] = {
        {"traceId", 0},        {"id", 0},       {"parentId", 0},    {"name", 0},
        {"timestamp", 0},      {"duration", 0}, {"kind", 0},        {"localEndpoint", 0},
        {"remoteEndpoint", 0}, {"tags", 0},     {"annotations", 0}, {"shared", 0}};
    struct tv_json_member service = {"serviceName", TV_NO_OFFSET};
    maker_put_place(maker, &maker->span);
    if (!tv_json_find_members(&maker->stream, members, ZIPKIN_MEMBERS))
        return TV_BYTES("");
    struct tv_json_stream after = maker->stream;
    maker_put_head(maker, members);
    maker_put_id(maker, &maker->span, OTLP_SPAN_PARENT, maker_raw(maker, &members[SPAN_PARENT]));
    if (!maker_put_kind(maker, maker_raw(maker, &members[ZIPKIN_KIND])))
        maker_put_attribute(maker, "kind", maker_raw(maker, &members[ZIPKIN_KIND]));
    if (tv_bytes_equal(maker_raw(maker, &members[ZIPKIN_SHARED]), TV_BYTES("true"))) {
        tv_protobuf_put_number(&maker->span, OTLP_SPAN_SHARED, 1);
        maker_put_attribute(maker, "shared", TV_BYTES("true"));
    }
    maker_put_attribute(maker, "localEndpoint", maker_raw(maker, &members[ZIPKIN_LOCAL]));
    maker_put_attribute(maker, "remoteEndpoint", maker_raw(maker, &members[ZIPKIN_REMOTE]));
    if (maker_enter(maker, &members[ZIPKIN_TAGS]))
        zipkin_put_tags(maker);
    if (maker_enter(maker, &members[ZIPKIN_ANNOTATIONS]))
        maker_put_event_list(maker, zipkin_make_event);
    if (maker_enter(maker, &members[ZIPKIN_LOCAL]))
        (void)tv_json_find_members(&maker->stream, &service, 1);
    maker_put_status(maker);
    maker->stream = after;
    return maker_raw(maker, &service);
}

/* Add a span, or those of a list within the list. */
static void zipkin_add_element(struct span_maker *maker, bool nested)
{
    uint8_t first = tv_json_peek(&maker->stream);
    if (first == '{') {
        struct tv_bytes service = zipkin_make_span(maker);
        if (maker->stream.bad)
            maker->span.length = 0;
        else
            maker_add_span(maker, maker_text(maker, service));
    } else if (first == '[' && !nested) {
        (void)tv_json_open(&maker->stream, '[');
        while (tv_json_take_element(&maker->stream))
            zipkin_add_element(maker, true);
    } else {
        tv_json_skip(&maker->stream);
    }
}

static void zipkin_add_document(struct span_maker *maker)
{
    if (!tv_json_open(&maker->stream, '['))
        return;
    while (tv_json_take_element(&maker->stream))
        zipkin_add_element(maker, false);
}

/* ---- Files ---- */

/* Skip white space, and return the next byte; 0 at the end. */
static uint8_t maker_look(struct tv_json_stream *stream)
{
    while (stream->at < stream->end && tv_is_space(*stream->at))
        stream->at++;
    return stream->at < stream->end ? *stream->at : 0;
}

void tv_otlp_make_foreign_requests(struct tv_otlp_file *file)
{
    struct span_maker maker;
    bool jaeger = file->content == TV_OTLP_JAEGER;
    maker_init(&maker, file->text.bytes);
    while (!maker.stream.bad && maker_look(&maker.stream) == (jaeger ? '{' : '['))
        (jaeger ? jaeger_add_document : zipkin_add_document)(&maker);
    if (maker.stream.bad || maker.stream.at != maker.stream.end)
        file->damaged_at = tv_json_stream_offset(&maker.stream);
    maker_put_request(&maker, &file->made);
    file->requests = tv_alloc(1, sizeof *file->requests);
    file->bytes = (struct tv_bytes){file->made.buffer, file->made.length};
    file->requests[file->count++] = file->bytes;
    maker_release(&maker);
}

bool tv_otlp_make_foreign_span(enum tv_otlp_content content, struct tv_bytes text, bool event,
                               struct tv_out *out)
{
    struct span_maker maker;
    maker_init(&maker, text);
    if (event)
        (content == TV_OTLP_JAEGER ? jaeger_make_event : zipkin_make_event)(&maker);
    else
        (void)(content == TV_OTLP_JAEGER ? jaeger_make_span : zipkin_make_span)(&maker);
    const struct tv_out *made = event ? &maker.part : &maker.span;
    bool whole = !maker.stream.bad;
    tv_out_bytes(out, (struct tv_bytes){made->buffer, made->length});
    maker_release(&maker);
    return whole;
}

/* ---- Detection ---- */

/* Return the set of keys that the object at a stream has, as far as it is there. */
static unsigned sniff_keys(struct tv_json_stream *stream, const char *const *keys, size_t count)
{
    struct tv_bytes key;
    unsigned found = 0;
    if (tv_json_peek(stream) != '{' || !tv_json_open(stream, '{'))
        return 0;
    while (tv_json_take_key(stream, &key)) {
        for (size_t i = 0; i < count; i++)
            if (tv_bytes_equal(key, tv_bytes_of(keys[i])))
                found |= 1u << i;
        tv_json_skip(stream);
    }
    return found;
}

/* The first trace of "data" has an id, spans or processes. */
static bool sniff_jaeger(struct tv_json_stream *stream)
{
    static const char *const keys[] = {"traceID", "spans", "processes"};
    struct tv_bytes key;
    if (!tv_json_open(stream, '{'))
        return false;
    while (tv_json_take_key(stream, &key)) {
        if (tv_bytes_equal(key, TV_BYTES("data")) && tv_json_peek(stream) == '[')
            return tv_json_open(stream, '[') && tv_json_take_element(stream) &&
                   sniff_keys(stream, keys, TV_COUNT(keys)) != 0;
        tv_json_skip(stream);
    }
    return false;
}

/* The first object has both ids and a third key of Zipkin's, and is no event of Trace Event. */
static bool sniff_zipkin(struct tv_json_stream *stream)
{
    static const char *const keys[] = {"ph",       "traceId", "id", "timestamp", "localEndpoint",
                                       "parentId", "duration"};
    if (!tv_json_open(stream, '[') || !tv_json_take_element(stream))
        return false;
    if (tv_json_peek(stream) == '[' &&
        (!tv_json_open(stream, '[') || !tv_json_take_element(stream)))
        return false;
    unsigned found = sniff_keys(stream, keys, TV_COUNT(keys));
    return (found & 7) == 6 && found > 7;
}

int tv_otlp_sniff_foreign(enum tv_otlp_content content, struct tv_bytes prefix)
{
    struct tv_json_stream stream = tv_json_stream_over(prefix);
    bool jaeger = content == TV_OTLP_JAEGER;
    if (maker_look(&stream) != (jaeger ? '{' : '['))
        return 0;
    return (jaeger ? sniff_jaeger : sniff_zipkin)(&stream) ? TV_JSON_PROFILE_SURE : 0;
}

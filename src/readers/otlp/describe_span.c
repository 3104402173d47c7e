/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe_span.c - the attributes of a span or an event as JSON, read again when somebody looks.
 *
 *     {"args": {"http.route": "/cart", "trace_id": "5b8efff798038103d269b633813fc60c",
 *               "span_id": "eee19b7ec3c1b174", "parent_span_id": "eee19b7ec3c1b173",
 *               "span.kind": "server", "otel.status_code": "ERROR",
 *               "links": [{"trace_id": "...", "span_id": "...", "attributes": {"why": 1}}]}}
 *
 * Only the span itself is read, from its offset in the file on.  In protobuf that is its key, which
 * tells a span from an event, then its length.  In JSON its end is found by reading on.
 */
#include "readers/otlp/messages.h"

#include "base/memory.h"
#include "base/protobuf.h"
#include "readers/json/stream.h"

/* Bytes of a span in JSON that are read first; four times as many when its end is not there. */
#define FIRST_READ ((size_t)4 << 10)

/* Maximum length of a key and a length in protobuf. */
#define LONGEST_HEADER 15

/* Maximum number of attributes, and of links, that are shown. */
#define SHOWN_ATTRIBUTES 1000

/* An object that is being written. */
struct span_object {
    struct tv_out *out;
    size_t count;
};

static void span_put_key(struct span_object *object, struct tv_bytes key)
{
    tv_out_text(object->out, object->count++ > 0 ? "," : "");
    tv_out_json(object->out, key);
    tv_out_char(object->out, ':');
}

static void span_put_text(struct span_object *object, const char *key, struct tv_bytes text)
{
    if (text.length == 0)
        return;
    span_put_key(object, tv_bytes_of(key));
    tv_out_json(object->out, text);
}

static void span_put_id(struct span_object *object, const char *key, struct tv_bytes id)
{
    if (id.length == 0)
        return;
    span_put_key(object, tv_bytes_of(key));
    tv_otlp_write_hex(object->out, id);
}

static void span_put_number(struct span_object *object, const char *key, uint64_t number)
{
    if (number == 0)
        return;
    span_put_key(object, tv_bytes_of(key));
    tv_out_u64(object->out, number);
}

/* Write the attributes of a message, which are its fields of a number. */
static void span_put_attributes(struct span_object *object, struct tv_bytes message,
                                uint32_t number)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (object->count < SHOWN_ATTRIBUTES && tv_otlp_next(&cursor, &field)) {
        if (field.number != number || field.wire != TV_PROTOBUF_BYTES)
            continue;
        struct tv_otlp_attribute attribute = tv_otlp_parse_attribute(field.bytes);
        span_put_key(object, attribute.name);
        tv_otlp_write_value(attribute.value, object->out);
    }
}

/* ---- Spans ---- */

/* Names of the Jaeger and Zipkin exporters of OpenTelemetry. */
static void span_put_kind(struct span_object *object, uint64_t kind)
{
    static const char *const names[] = {"", "internal", "server", "client", "producer", "consumer"};
    if (kind < TV_COUNT(names))
        span_put_text(object, "span.kind", tv_bytes_of(names[kind]));
    else
        span_put_number(object, "span.kind", kind);
}

static void span_put_status(struct span_object *object, struct tv_bytes status)
{
    static const char *const codes[] = {"", "OK", "ERROR"};
    struct tv_cursor cursor = tv_cursor_over(status);
    struct tv_protobuf_field field;
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number == OTLP_STATUS_MESSAGE)
            span_put_text(object, "otel.status_description", field.bytes);
        else if (field.number == OTLP_STATUS_CODE && field.value < TV_COUNT(codes))
            span_put_text(object, "otel.status_code", tv_bytes_of(codes[field.value]));
    }
}

/* Write a link as an object.  Attributes are an object of their own within it, since their keys are
 * the program's and could be "trace_id". */
static void span_put_link(struct tv_out *out, struct tv_bytes link)
{
    struct span_object object = {.out = out}, attributes = {.out = out};
    struct tv_cursor cursor = tv_cursor_over(link);
    struct tv_protobuf_field field;
    tv_out_char(out, '{');
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number == OTLP_LINK_TRACE_ID)
            span_put_id(&object, "trace_id", field.bytes);
        else if (field.number == OTLP_LINK_SPAN_ID)
            span_put_id(&object, "span_id", field.bytes);
        else if (field.number == OTLP_SPAN_LINK_STATE)
            span_put_text(&object, "trace_state", field.bytes);
    }
    span_put_key(&object, TV_BYTES("attributes"));
    tv_out_char(out, '{');
    span_put_attributes(&attributes, link, OTLP_SPAN_LINK_ATTRIBUTES);
    tv_out_text(out, "}}");
}

/* Write the links of a span as an array, unless it has none.  No more than SHOWN_ATTRIBUTES: the
 * answer stays short whatever the file says. */
static void span_put_links(struct span_object *object, struct tv_bytes span)
{
    struct tv_cursor cursor = tv_cursor_over(span);
    struct tv_protobuf_field field;
    size_t count = 0;
    while (count < SHOWN_ATTRIBUTES && tv_otlp_next(&cursor, &field)) {
        if (field.number != OTLP_SPAN_LINKS || field.wire != TV_PROTOBUF_BYTES)
            continue;
        if (count++ == 0) {
            span_put_key(object, TV_BYTES("links"));
            tv_out_char(object->out, '[');
        } else {
            tv_out_char(object->out, ',');
        }
        span_put_link(object->out, field.bytes);
    }
    tv_out_text(object->out, count > 0 ? "]" : "");
}

/* Write a field of a span that has a name of its own; attributes, events and links come after all
 * of these. */
static void span_put_field(struct span_object *object, const struct tv_protobuf_field *field)
{
    switch (field->number) {
    case OTLP_SPAN_TRACE_ID:
        span_put_id(object, "trace_id", field->bytes);
        break;
    case OTLP_SPAN_ID:
        span_put_id(object, "span_id", field->bytes);
        break;
    case OTLP_SPAN_PARENT:
        span_put_id(object, "parent_span_id", field->bytes);
        break;
    case OTLP_SPAN_STATE:
        span_put_text(object, "trace_state", field->bytes);
        break;
    case OTLP_SPAN_KIND:
        span_put_kind(object, field->value);
        break;
    case OTLP_SPAN_STATUS:
        span_put_status(object, field->bytes);
        break;
    case OTLP_SPAN_DROPPED_ATTRIBUTES:
        span_put_number(object, "otel.dropped_attributes_count", field->value);
        break;
    case OTLP_SPAN_DROPPED_EVENTS:
        span_put_number(object, "otel.dropped_events_count", field->value);
        break;
    case OTLP_SPAN_DROPPED_LINKS:
        span_put_number(object, "otel.dropped_links_count", field->value);
        break;
    default:
        break;
    }
}

static void span_write(struct tv_bytes message, bool event, struct tv_out *out)
{
    struct span_object object = {.out = out};
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    tv_out_text(out, "{\"args\":{");
    span_put_attributes(&object, message, event ? OTLP_EVENT_ATTRIBUTES : OTLP_SPAN_ATTRIBUTES);
    while (!event && tv_otlp_next(&cursor, &field))
        span_put_field(&object, &field);
    if (!event)
        span_put_links(&object, message);
    tv_out_text(out, "}}");
}

/* ---- Reading again ---- */

static enum tv_status span_fail(uint64_t offset, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_SYNTAX, offset, "expected a span or an event of one");
}

/* Read a field of protobuf at an offset: a span, or an event of one. */
static enum tv_status span_describe_field(struct tv_source *source, uint64_t offset,
                                          struct tv_out *out, struct tv_error *err)
{
    uint8_t header[LONGEST_HEADER];
    struct tv_bytes bytes = {header, 0};
    uint64_t key, length, size = tv_source_size(source);
    enum tv_status status =
        tv_source_read(source, offset, header, sizeof header, &bytes.length, err);
    if (status != TV_OK)
        return status;
    struct tv_cursor cursor = tv_cursor_over(bytes);
    if (!tv_protobuf_take_varint(&cursor, &key) || !tv_protobuf_take_varint(&cursor, &length))
        return span_fail(offset, err);
    uint64_t begin = offset + (uint64_t)(cursor.at - header);
    bool event = key >> 3 == OTLP_SPAN_EVENTS;
    if (begin > size || length > size - begin || length > SIZE_MAX / 2)
        return span_fail(offset, err);
    uint8_t *room = tv_alloc((size_t)length + TV_WINDOW_SLACK, 1);
    struct tv_bytes message = {room, 0};
    status = tv_source_read(source, begin, room, (size_t)length, &message.length, err);
    if (status == TV_OK)
        span_write(message, event, out);
    tv_free(room);
    return status;
}

/* Return whether an object of JSON is an event: it has a member that spans have not. */
static bool span_is_event(enum tv_otlp_content content, struct tv_bytes text)
{
    struct tv_json_stream stream = tv_json_stream_over(text);
    struct tv_json_member mark = {content == TV_OTLP_SPANS    ? "timeUnixNano"
                                  : content == TV_OTLP_JAEGER ? "timestamp"
                                                              : "value",
                                  0};
    return tv_json_find_members(&stream, &mark, 1) && mark.offset != TV_NO_OFFSET;
}

/* Make protobuf of a span, or an event of one; false: its end is not there. */
static bool span_make(enum tv_otlp_content content, struct tv_bytes text, bool event,
                      struct tv_out *out)
{
    return content == TV_OTLP_SPANS ? tv_otlp_make_span(text, event, out)
                                    : tv_otlp_make_foreign_span(content, text, event, out);
}

/* Read an object of JSON at an offset. */
static enum tv_status span_describe_object(struct tv_source *source, enum tv_otlp_content content,
                                           uint64_t offset, struct tv_out *out,
                                           struct tv_error *err)
{
    uint64_t size = tv_source_size(source), left = size > offset ? size - offset : 0;
    enum tv_status status = TV_OK;
    bool whole = false;
    struct tv_out made;
    tv_out_init_memory(&made);
    for (size_t want = FIRST_READ; status == TV_OK && !whole; want *= 4) {
        if (want > left)
            want = (size_t)left;
        uint8_t *room = tv_alloc(want + TV_WINDOW_SLACK, 1);
        struct tv_bytes text = {room, 0};
        made.length = 0;
        status = tv_source_read(source, offset, room, want, &text.length, err);
        bool event = status == TV_OK && span_is_event(content, text);
        whole = status == TV_OK && span_make(content, text, event, &made);
        if (whole)
            span_write((struct tv_bytes){made.buffer, made.length}, event, out);
        else if (status == TV_OK && (want == left || want > SIZE_MAX / 8))
            status = span_fail(offset, err);
        tv_free(room);
    }
    tv_out_release(&made);
    return status;
}

enum tv_status tv_otlp_describe_span(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                     uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[input].source;
    uint8_t first = 0;
    size_t got = 0;
    (void)end_offset;
    enum tv_status status = tv_source_read(source, offset, &first, 1, &got, err);
    if (status != TV_OK)
        return status;
    /* No field has a key that begins with a bracket: it would be a group, which is no longer in
     * use. */
    return first == '{' ? span_describe_object(source, TV_OTLP_SPANS, offset, out, err)
                        : span_describe_field(source, offset, out, err);
}

enum tv_status tv_otlp_describe_jaeger(const struct tv_trace *trace, uint32_t input,
                                       uint64_t offset, uint64_t end_offset, struct tv_out *out,
                                       struct tv_error *err)
{
    (void)end_offset;
    return span_describe_object(trace->head->inputs[input].source, TV_OTLP_JAEGER, offset, out,
                                err);
}

enum tv_status tv_otlp_describe_zipkin(const struct tv_trace *trace, uint32_t input,
                                       uint64_t offset, uint64_t end_offset, struct tv_out *out,
                                       struct tv_error *err)
{
    (void)end_offset;
    return span_describe_object(trace->head->inputs[input].source, TV_OTLP_ZIPKIN, offset, out,
                                err);
}

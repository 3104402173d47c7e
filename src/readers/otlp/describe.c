/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - the attributes of a sample as JSON, read again when somebody looks at it.
 *
 *     sample: attribute_indices [3, 5], link_index 1
 *         --> {"args": {"thread.name": "main", "http.request.size": "512 By",
 *                       "trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "..."}}
 *
 * The offset of a sample is that of its message in the bytes of the file, or, for JSON, in the
 * protobuf that json.c makes of it. The walk over all samples finds the message with this offset
 * again; its request has the dictionary that the indices refer to. Index 0 means none.
 */
#include "readers/otlp/messages.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "readers/json/json.h"

/* Maximum number of attributes of a sample that are shown, and values in a list. */
#define SHOWN_ATTRIBUTES 1000

/* Lists inside lists. */
#define SHOWN_DEPTH 8

void tv_otlp_write_hex(struct tv_out *out, struct tv_bytes bytes)
{
    tv_out_char(out, '"');
    for (size_t i = 0; i < bytes.length; i++)
        tv_out_format(out, "%02x", bytes.data[i]);
    tv_out_char(out, '"');
}

static void otlp_write_double(struct tv_out *out, uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value))
        tv_out_format(out, "%.17g", value);
    else
        tv_out_text(out, "null");
}

/* Write a value that holds no others. */
static void otlp_write_scalar(const struct tv_protobuf_field *field, struct tv_out *out)
{
    unsigned faults = 0;
    switch (field->number) {
    case OTLP_VALUE_STRING:
        tv_out_json(out, field->bytes);
        break;
    case OTLP_VALUE_BOOL:
        tv_out_text(out, field->value ? "true" : "false");
        break;
    case OTLP_VALUE_INT:
        tv_out_i64(out, (int64_t)field->value);
        break;
    case OTLP_VALUE_DOUBLE:
        otlp_write_double(out, field->value);
        break;
    case OTLP_VALUE_BYTES:
        tv_otlp_write_hex(out, field->bytes);
        break;
    case OTLP_VALUE_JSON:
        tv_json_compact(field->bytes, out, &faults);
        break;
    default:
        tv_out_text(out, "null");
        break;
    }
}

/* A list whose values are being written. */
struct otlp_shown_list {
    struct tv_cursor cursor;
    bool keys, any; /* an object, not an array; a value was written */
};

/* Begin what a value holds: write a scalar, or return true for a list. */
static bool otlp_open_value(struct tv_bytes message, struct tv_out *out,
                            struct otlp_shown_list *list)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    if (!tv_protobuf_next(&cursor, &field)) {
        tv_out_text(out, "null");
        return false;
    }
    bool keys = field.number == OTLP_VALUE_KEYS;
    if (!keys && field.number != OTLP_VALUE_ARRAY) {
        otlp_write_scalar(&field, out);
        return false;
    }
    tv_out_char(out, keys ? '{' : '[');
    *list = (struct otlp_shown_list){.cursor = tv_cursor_over(field.bytes), .keys = keys};
    return true;
}

/* Values nest (arrays, lists of keys): a stack of open lists replaces recursion, and what is nested
 * deeper than SHOWN_DEPTH is null. */
void tv_otlp_write_value(struct tv_bytes message, struct tv_out *out)
{
    struct otlp_shown_list lists[SHOWN_DEPTH];
    struct tv_protobuf_field field;
    size_t depth = otlp_open_value(message, out, &lists[0]);
    while (depth > 0) {
        struct otlp_shown_list *list = &lists[depth - 1];
        if (!tv_protobuf_next(&list->cursor, &field)) {
            tv_out_char(out, list->keys ? '}' : ']');
            depth--;
            continue;
        }
        if (field.number != 1 || field.wire != TV_PROTOBUF_BYTES)
            continue;
        struct tv_bytes value = field.bytes;
        tv_out_text(out, list->any ? "," : "");
        list->any = true;
        if (list->keys) {
            struct tv_otlp_attribute attribute = tv_otlp_parse_attribute(field.bytes);
            tv_out_json(out, attribute.name);
            tv_out_char(out, ':');
            value = attribute.value;
        }
        if (depth == SHOWN_DEPTH)
            tv_out_text(out, "null");
        else
            depth += otlp_open_value(value, out, &lists[depth]);
    }
}

/* ---- A sample read again ---- */

struct otlp_shown {
    struct {
        struct tv_bytes *entries;
        size_t count, capacity;
    } tables[OTLP_DICTIONARY_STACK]; /* links, strings and attributes; others stay empty */
    struct tv_out *out;
    size_t count;
};

/* Collect the entries of links, strings and attributes, as messages. */
static void otlp_read_tables(struct otlp_shown *shown, struct tv_bytes dictionary)
{
    struct tv_cursor cursor = tv_cursor_over(dictionary);
    struct tv_protobuf_field field;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number < OTLP_DICTIONARY_LINK || field.number > OTLP_DICTIONARY_ATTRIBUTE ||
            field.wire != TV_PROTOBUF_BYTES)
            continue;
        size_t *count = &shown->tables[field.number].count;
        shown->tables[field.number].entries = tv_array_reserve(
            shown->tables[field.number].entries, &shown->tables[field.number].capacity, *count + 1,
            sizeof *shown->tables[field.number].entries);
        shown->tables[field.number].entries[(*count)++] = field.bytes;
    }
}

/* Return an entry of a table; empty: there is none. */
static struct tv_bytes otlp_find_entry(const struct otlp_shown *shown, uint32_t table,
                                       uint64_t index)
{
    return index > 0 && index < shown->tables[table].count ? shown->tables[table].entries[index]
                                                           : (struct tv_bytes){NULL, 0};
}

static void otlp_put_key(struct otlp_shown *shown, struct tv_bytes key)
{
    tv_out_text(shown->out, shown->count++ > 0 ? "," : "");
    tv_out_json(shown->out, key);
    tv_out_char(shown->out, ':');
}

/* Write an attribute; one with a unit becomes a text of value and unit. */
static void otlp_put_attribute(struct otlp_shown *shown, uint64_t index)
{
    struct tv_bytes message = otlp_find_entry(shown, OTLP_DICTIONARY_ATTRIBUTE, index);
    if (!message.data || shown->count >= SHOWN_ATTRIBUTES)
        return;
    struct tv_otlp_attribute attribute = tv_otlp_parse_attribute(message);
    struct tv_bytes unit = otlp_find_entry(shown, OTLP_DICTIONARY_STRING, attribute.unit);
    otlp_put_key(shown, attribute.name.length > 0
                            ? attribute.name
                            : otlp_find_entry(shown, OTLP_DICTIONARY_STRING, attribute.key));
    if (attribute.unit == 0 || unit.length == 0) {
        tv_otlp_write_value(attribute.value, shown->out);
        return;
    }
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_otlp_write_value(attribute.value, &text);
    tv_out_char(&text, ' ');
    tv_out_bytes(&text, unit);
    tv_out_json(shown->out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

/* Write the id of a trace or a span in hexadecimal digits, as all tools of OpenTelemetry do. */
static void otlp_put_id(struct otlp_shown *shown, struct tv_bytes link, uint32_t number,
                        struct tv_bytes key)
{
    struct tv_cursor cursor = tv_cursor_over(link);
    struct tv_protobuf_field field;
    while (tv_protobuf_next(&cursor, &field))
        if (field.number == number && field.bytes.length > 0 &&
            field.bytes.length <= OTLP_LONGEST_ID) {
            otlp_put_key(shown, key);
            tv_otlp_write_hex(shown->out, field.bytes);
            return;
        }
}

/* Write the attributes that a message, a sample or a profile, refers to. */
static void otlp_put_attributes(struct otlp_shown *shown, struct tv_bytes message, uint32_t number)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    uint64_t index;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number != number)
            continue;
        struct tv_cursor list = tv_protobuf_numbers(&field);
        while (shown->count < SHOWN_ATTRIBUTES && tv_protobuf_next_number(&list, &field, &index))
            otlp_put_attribute(shown, index);
    }
}

/* Write attributes of the sample, and of its profile in versions where profiles have any. */
static void otlp_write_sample(struct otlp_shown *shown, const struct tv_otlp_walk *walk,
                              struct tv_otlp_sample_fields fields)
{
    struct tv_bytes sample = walk->messages[OTLP_LEVEL_SAMPLE];
    struct tv_cursor cursor = tv_cursor_over(sample);
    struct tv_protobuf_field field;
    tv_out_text(shown->out, "{\"args\":{");
    otlp_put_attributes(shown, sample, fields.attributes);
    if (fields.values == OTLP_SAMPLE_VALUES)
        otlp_put_attributes(shown, walk->messages[OTLP_LEVEL_PROFILE], OTLP_PROFILE_ATTRIBUTES);
    while (tv_protobuf_next(&cursor, &field))
        if (field.number == fields.link && field.wire == TV_PROTOBUF_VARINT && field.value > 0) {
            struct tv_bytes link = otlp_find_entry(shown, OTLP_DICTIONARY_LINK, field.value);
            otlp_put_id(shown, link, OTLP_LINK_TRACE_ID, TV_BYTES("trace_id"));
            otlp_put_id(shown, link, OTLP_LINK_SPAN_ID, TV_BYTES("span_id"));
        }
    tv_out_text(shown->out, "}}");
}

/* Find the sample at an offset of the file. */
static bool otlp_find_sample(const struct tv_otlp_file *file, uint64_t offset,
                             struct tv_otlp_walk *walk)
{
    for (size_t i = 0; i < file->count; i++) {
        tv_otlp_walk_begin(walk, file->requests[i], OTLP_LEVEL_SAMPLE);
        while (tv_otlp_walk_next(walk))
            if ((uint64_t)(walk->messages[OTLP_LEVEL_SAMPLE].data - file->bytes.data) == offset)
                return true;
    }
    return false;
}

/* Read the tables of a request. */
static void otlp_read_dictionary(struct otlp_shown *shown, struct tv_bytes request)
{
    struct tv_cursor cursor = tv_cursor_over(request);
    struct tv_protobuf_field field;
    while (tv_protobuf_next(&cursor, &field))
        if (field.number == OTLP_REQUEST_DICTIONARY)
            otlp_read_tables(shown, field.bytes);
}

enum tv_status tv_otlp_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_otlp_file file;
    struct tv_otlp_walk walk;
    struct otlp_shown shown = {.out = out};
    (void)end_offset;
    enum tv_status status = tv_otlp_file_read(trace->head->inputs[input].source, false, &file, err);
    if (status != TV_OK)
        return status;
    if (otlp_find_sample(&file, offset, &walk)) {
        otlp_read_dictionary(&shown, walk.messages[OTLP_LEVEL_REQUEST]);
        otlp_write_sample(&shown, &walk,
                          tv_otlp_find_sample_fields(&file, walk.messages[OTLP_LEVEL_REQUEST]));
    } else {
        status = tv_fail(err, TV_ERR_SYNTAX, offset, "expected a sample");
    }
    for (size_t i = 0; i < TV_COUNT(shown.tables); i++)
        tv_free(shown.tables[i].entries);
    tv_otlp_file_release(&file);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - the attributes of a sample as JSON, read again when somebody looks at it.
 *
 *     sample: attribute_indices [3, 5], link_index 1
 *         --> {"args": {"thread.name": "main", "http.request.size": "512 By",
 *                       "trace_id": "5b8efff798038103d269b633813fc60c", "span_id": "..."}}
 *
 * The offset of a sample is that of its message in the bytes of the file, or, for JSON, in the
 * protobuf that json.c makes of it. The file stays open with a list of its samples, and so do the
 * tables of the last request, which the indices refer to. Index 0 means none.
 */
#include "readers/otlp/messages.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "base/sort.h"
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
    if (!tv_otlp_next(&cursor, &field)) {
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
        if (!tv_otlp_next(&list->cursor, &field)) {
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
    while (tv_otlp_next(&cursor, &field)) {
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
    while (tv_otlp_next(&cursor, &field))
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
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number != number)
            continue;
        struct tv_cursor list = tv_protobuf_numbers(&field);
        while (shown->count < SHOWN_ATTRIBUTES && tv_protobuf_next_number(&list, &field, &index))
            otlp_put_attribute(shown, index);
    }
}

/* Write attributes of the sample, and of its profile in versions where profiles have any. */
static void otlp_write_sample(struct otlp_shown *shown, struct tv_bytes sample,
                              struct tv_bytes profile, struct tv_otlp_sample_fields fields)
{
    struct tv_cursor cursor = tv_cursor_over(sample);
    struct tv_protobuf_field field;
    tv_out_text(shown->out, "{\"args\":{");
    otlp_put_attributes(shown, sample, fields.attributes);
    if (fields.values == OTLP_SAMPLE_VALUES)
        otlp_put_attributes(shown, profile, OTLP_PROFILE_ATTRIBUTES);
    while (tv_otlp_next(&cursor, &field))
        if (field.number == fields.link && field.wire == TV_PROTOBUF_VARINT && field.value > 0) {
            struct tv_bytes link = otlp_find_entry(shown, OTLP_DICTIONARY_LINK, field.value);
            otlp_put_id(shown, link, OTLP_LINK_TRACE_ID, TV_BYTES("trace_id"));
            otlp_put_id(shown, link, OTLP_LINK_SPAN_ID, TV_BYTES("span_id"));
        }
    tv_out_text(shown->out, "}}");
}

/* ---- The file ---- */

/* A sample, and the messages around it that describe it. */
struct otlp_place {
    struct tv_bytes sample, profile;
    size_t request;
};

/* A file whose samples are read again: filters ask for one after another. */
struct otlp_reopened {
    struct tv_source *source; /* NULL: nothing is open */
    struct tv_otlp_file file;
    struct otlp_place *places; /* in the order of the file */
    size_t count, capacity;
    struct otlp_shown shown;             /* tables of a request */
    struct tv_otlp_sample_fields fields; /* of it */
    size_t request;                      /* its number; SIZE_MAX: none yet */
};

static void otlp_release_tables(struct otlp_shown *shown)
{
    for (size_t i = 0; i < TV_COUNT(shown->tables); i++)
        tv_free(shown->tables[i].entries);
    *shown = (struct otlp_shown){.out = NULL};
}

static void otlp_reopened_release(struct otlp_reopened *reopened)
{
    if (!reopened->source)
        return;
    otlp_release_tables(&reopened->shown);
    tv_free(reopened->places);
    tv_otlp_file_release(&reopened->file);
    tv_source_free(reopened->source);
    *reopened = (struct otlp_reopened){.source = NULL};
}

/* Open a file, unless it is the one that is open: collect its samples. */
static enum tv_status otlp_reopen(struct otlp_reopened *reopened, struct tv_source *source,
                                  struct tv_error *err)
{
    struct tv_otlp_walk walk;
    if (reopened->source == source)
        return TV_OK;
    otlp_reopened_release(reopened);
    enum tv_status status = tv_otlp_file_read(source, TV_OTLP_PROFILES, &reopened->file, err);
    if (status != TV_OK)
        return status;
    reopened->source = tv_source_ref(source);
    reopened->request = SIZE_MAX;
    for (size_t i = 0; i < reopened->file.count; i++) {
        tv_otlp_walk_begin(&walk, reopened->file.requests[i], OTLP_LEVEL_SAMPLE);
        while (tv_otlp_walk_next(&walk)) {
            reopened->places = tv_array_reserve(reopened->places, &reopened->capacity,
                                                reopened->count + 1, sizeof *reopened->places);
            reopened->places[reopened->count++] = (struct otlp_place){
                walk.messages[OTLP_LEVEL_SAMPLE], walk.messages[OTLP_LEVEL_PROFILE], i};
        }
    }
    return TV_OK;
}

/* Read the tables of a request. */
static void otlp_read_dictionary(struct otlp_shown *shown, struct tv_bytes request)
{
    struct tv_cursor cursor = tv_cursor_over(request);
    struct tv_protobuf_field field;
    while (tv_otlp_next(&cursor, &field))
        if (field.number == OTLP_REQUEST_DICTIONARY)
            otlp_read_tables(shown, field.bytes);
}

/* Return the sample at an offset, or NULL. */
static const struct otlp_place *otlp_find_place(const struct otlp_reopened *reopened,
                                                uint64_t offset)
{
    const uint8_t *start = reopened->file.bytes.data;
    size_t low = 0;
    TV_LOWER_BOUND(low, reopened->count, i,
                   (uint64_t)(reopened->places[i].sample.data - start) < offset);
    return low < reopened->count && (uint64_t)(reopened->places[low].sample.data - start) == offset
               ? &reopened->places[low]
               : NULL;
}

static enum tv_status otlp_describe_in(struct otlp_reopened *reopened, struct tv_source *source,
                                       uint64_t offset, struct tv_out *out, struct tv_error *err)
{
    enum tv_status status = otlp_reopen(reopened, source, err);
    if (status != TV_OK)
        return status;
    const struct otlp_place *place = otlp_find_place(reopened, offset);
    if (!place)
        return tv_fail(err, TV_ERR_SYNTAX, offset, "expected a sample");
    if (reopened->request != place->request) {
        struct tv_bytes request = reopened->file.requests[place->request];
        otlp_release_tables(&reopened->shown);
        otlp_read_dictionary(&reopened->shown, request);
        reopened->fields = tv_otlp_find_sample_fields(&reopened->file, request);
        reopened->request = place->request;
    }
    reopened->shown.out = out;
    reopened->shown.count = 0;
    otlp_write_sample(&reopened->shown, place->sample, place->profile, reopened->fields);
    return TV_OK;
}

/* The last file stays open, as that of a recording does (jfr/describe.c).  Whoever finds it in use
 * by another thread opens the file for itself. */
enum tv_status tv_otlp_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    static struct otlp_reopened last;
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    struct tv_source *source = trace->head->inputs[input].source;
    (void)end_offset;
    if (atomic_flag_test_and_set(&busy)) {
        struct otlp_reopened own = {.source = NULL};
        enum tv_status status = otlp_describe_in(&own, source, offset, out, err);
        otlp_reopened_release(&own);
        return status;
    }
    enum tv_status status = otlp_describe_in(&last, source, offset, out, err);
    atomic_flag_clear(&busy);
    return status;
}

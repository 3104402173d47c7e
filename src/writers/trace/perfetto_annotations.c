/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_annotations.c - arguments of events as debug annotations: a tree of named values.
 *
 * Names and texts are in each annotation instead of in a table of the sequence, so that a reader
 * can show one event without the packets before it.
 */
#include <math.h>

#include "base/source.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/values.h"
#include "writers/trace/perfetto_parts.h"

/* Fields of DebugAnnotation. */
enum {
    ANNOTATION_BOOL = 2,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_JSON = 9,
    ANNOTATION_NAME = 10,
    ANNOTATION_ENTRIES = 11,
    ANNOTATION_ELEMENTS = 12,
};

/* Field of TrackEvent. */
#define EVENT_ANNOTATIONS 4u

/* Deepest nesting of annotations; values further inside stay JSON. */
#define DEEPEST 16u

/* Write an annotation whose value is in `message` to the event. */
static void perfetto_end_annotation(struct tv_perfetto_writer *writer, struct tv_out *message)
{
    tv_protobuf_put_message(&writer->event, EVENT_ANNOTATIONS, message);
    tv_out_release(message);
}

static void perfetto_begin_annotation(struct tv_out *message, const char *name)
{
    tv_out_init_memory(message);
    tv_protobuf_put_bytes(message, ANNOTATION_NAME, tv_bytes_of(name));
}

void tv_perfetto_put_text(struct tv_perfetto_writer *writer, const char *name, struct tv_bytes text)
{
    struct tv_out message;
    if (text.length == 0)
        return;
    perfetto_begin_annotation(&message, name);
    tv_protobuf_put_bytes(&message, ANNOTATION_TEXT, text);
    perfetto_end_annotation(writer, &message);
}

void tv_perfetto_put_integer(struct tv_perfetto_writer *writer, const char *name, int64_t number)
{
    struct tv_out message;
    perfetto_begin_annotation(&message, name);
    tv_protobuf_put_number(&message, ANNOTATION_INT, (uint64_t)number);
    perfetto_end_annotation(writer, &message);
}

void tv_perfetto_put_flag(struct tv_perfetto_writer *writer, const char *name, bool set)
{
    struct tv_out message;
    if (!set)
        return;
    perfetto_begin_annotation(&message, name);
    tv_protobuf_put_number(&message, ANNOTATION_BOOL, 1);
    perfetto_end_annotation(writer, &message);
}

/* Write a number as an integer or a double, and one that neither can hold as text. */
static void perfetto_put_number(struct tv_out *message, struct tv_bytes raw)
{
    int64_t integer;
    double real;
    if (tv_te_parse_integer(raw, &integer))
        tv_protobuf_put_number(message, ANNOTATION_INT, (uint64_t)integer);
    else if (tv_te_parse_number(raw, &real) && isfinite(real))
        tv_protobuf_put_double(message, ANNOTATION_DOUBLE, real);
    else
        tv_protobuf_put_bytes(message, ANNOTATION_TEXT, raw);
}

/* Write a text without quotes and escapes. */
static void perfetto_put_decoded(struct tv_out *message, uint32_t field, struct tv_bytes raw)
{
    struct tv_te_scratch scratch = {NULL, 0};
    tv_protobuf_put_bytes(message, field, tv_te_decode_text(raw, &scratch));
    tv_te_scratch_release(&scratch);
}

static void perfetto_put_annotation(struct tv_out *out, uint32_t field, struct tv_bytes name,
                                    struct tv_json_value value, unsigned depth);

/* Write an object or an array.  An empty one has no other form than JSON. */
static void perfetto_put_items(struct tv_out *message, struct tv_json_value value, unsigned depth)
{
    struct tv_json_cursor cursor = tv_json_items(value.raw);
    struct tv_json_value item;
    struct tv_bytes key;
    uint32_t field = value.type == TV_JSON_OBJECT ? ANNOTATION_ENTRIES : ANNOTATION_ELEMENTS;
    bool any = false;
    while (depth < DEEPEST && tv_json_next(&cursor, &key, &item)) {
        perfetto_put_annotation(message, field, key, item, depth + 1);
        any = true;
    }
    if (!any)
        tv_protobuf_put_bytes(message, ANNOTATION_JSON, value.raw);
}

/* Write an annotation; `name` is raw text of JSON, empty for an element of an array. */
static void perfetto_put_annotation(struct tv_out *out, uint32_t field, struct tv_bytes name,
                                    struct tv_json_value value, unsigned depth)
{
    struct tv_out message;
    tv_out_init_memory(&message);
    if (name.length > 0)
        perfetto_put_decoded(&message, ANNOTATION_NAME, name);
    switch (value.type) {
    case TV_JSON_NONE:
    case TV_JSON_NULL: /* an annotation without a value */
        break;
    case TV_JSON_FALSE:
    case TV_JSON_TRUE:
        tv_protobuf_put_number(&message, ANNOTATION_BOOL, value.type == TV_JSON_TRUE);
        break;
    case TV_JSON_NUMBER:
        perfetto_put_number(&message, value.raw);
        break;
    case TV_JSON_STRING:
    case TV_JSON_WORD:
        perfetto_put_decoded(&message, ANNOTATION_TEXT, value.raw);
        break;
    case TV_JSON_OBJECT:
    case TV_JSON_ARRAY:
        perfetto_put_items(&message, value, depth);
        break;
    }
    tv_protobuf_put_message(out, field, &message);
    tv_out_release(&message);
}

/* Add the members of an object of arguments; anything else becomes one annotation. */
static void perfetto_put_arguments(struct tv_perfetto_writer *writer, struct tv_json_value args)
{
    struct tv_json_cursor cursor = tv_json_items(args.raw);
    struct tv_json_value value;
    struct tv_bytes key;
    if (args.type == TV_JSON_NONE)
        return;
    if (args.type != TV_JSON_OBJECT) {
        perfetto_put_annotation(&writer->event, EVENT_ANNOTATIONS, TV_BYTES("\"args\""), args, 0);
        return;
    }
    while (tv_json_next(&cursor, &key, &value))
        perfetto_put_annotation(&writer->event, EVENT_ANNOTATIONS, key, value, 0);
}

void tv_perfetto_describe(struct tv_perfetto_writer *writer, uint32_t input, uint64_t offset,
                          uint64_t end_offset)
{
    const struct tv_input *in = &writer->trace->head->inputs[input];
    struct tv_out description;
    if (!in->describe || !in->source || offset == TV_NO_OFFSET)
        return;
    tv_out_init_memory(&description);
    if (in->describe(writer->trace, input, offset, end_offset, &description, NULL) == TV_OK)
        perfetto_put_arguments(
            writer, tv_json_find((struct tv_bytes){description.buffer, description.length},
                                 TV_BYTES("args")));
    tv_out_release(&description);
}

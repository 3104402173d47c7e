/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c - requests, samples and attributes in OpenTelemetry's messages. */
#include "readers/otlp/messages.h"

#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "readers/json/profile_kind.h"

bool tv_otlp_next(struct tv_cursor *cursor, struct tv_protobuf_field *field)
{
    return tv_protobuf_next(cursor, field);
}

/* ---- The file ---- */

/* Return whether a text that begins like this is JSON. */
static bool otlp_is_json(enum tv_otlp_content content, struct tv_bytes prefix)
{
    enum tv_json_profile kind = tv_json_profile_kind(prefix);
    return kind == (content == TV_OTLP_SPANS ? TV_JSON_PROFILE_OTLP_SPANS : TV_JSON_PROFILE_OTLP);
}

enum tv_status tv_otlp_file_read(struct tv_source *source, enum tv_otlp_content content,
                                 struct tv_otlp_file *file, struct tv_error *err)
{
    *file = (struct tv_otlp_file){.content = content, .damaged_at = TV_NO_OFFSET};
    enum tv_status status = tv_profile_text_read(source, &file->text, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&file->made);
    struct tv_bytes prefix = file->text.bytes;
    if (prefix.length > TV_SNIFF_SIZE)
        prefix.length = TV_SNIFF_SIZE;
    bool foreign = content == TV_OTLP_JAEGER || content == TV_OTLP_ZIPKIN;
    file->json = foreign || otlp_is_json(content, prefix);
    if (foreign) {
        tv_otlp_make_foreign_requests(file);
    } else if (file->json) {
        tv_otlp_make_requests(file);
    } else {
        file->requests = tv_alloc(1, sizeof *file->requests);
        file->requests[file->count++] = file->bytes = file->text.bytes;
    }
    return TV_OK;
}

void tv_otlp_file_release(struct tv_otlp_file *file)
{
    tv_out_release(&file->made);
    tv_free(file->requests);
    tv_profile_text_release(&file->text);
}

void tv_otlp_file_warn(const struct tv_otlp_file *file, struct tv_profile_input *profile)
{
    if (file->damaged_at != TV_NO_OFFSET)
        tv_profile_warn(profile, TV_DIAGNOSTIC_TRUNCATED, file->damaged_at);
    for (uint64_t i = 0; i < file->skipped; i++)
        tv_profile_warn(profile, TV_DIAGNOSTIC_SKIPPED_SECTION, file->skipped_at);
}

/* ---- Samples ---- */

void tv_otlp_walk_begin(struct tv_otlp_walk *walk, struct tv_bytes request, unsigned level)
{
    *walk = (struct tv_otlp_walk){
        .messages = {request}, .cursors = {tv_cursor_over(request)}, .innermost = level};
}

bool tv_otlp_walk_next(struct tv_otlp_walk *walk)
{
    static const uint32_t inner_fields[] = {
        OTLP_REQUEST_RESOURCE_PROFILES,
        OTLP_RESOURCE_PROFILES_SCOPES,
        OTLP_SCOPE_PROFILES_PROFILE,
        OTLP_PROFILE_SAMPLE,
    };
    struct tv_protobuf_field field;
    while (true) {
        struct tv_cursor *cursor = &walk->cursors[walk->level];
        walk->field = cursor->at;
        if (!tv_protobuf_next(cursor, &field)) {
            if (!walk->damage && !tv_protobuf_is_sound(cursor))
                walk->damage = cursor->at;
            if (walk->level == OTLP_LEVEL_REQUEST)
                return false;
            walk->level--;
        } else if (field.number == inner_fields[walk->level] && field.wire == TV_PROTOBUF_BYTES) {
            walk->messages[walk->level + 1] = field.bytes;
            if (walk->level + 1 == walk->innermost)
                return true;
            walk->cursors[++walk->level] = tv_cursor_over(field.bytes);
        }
    }
}

/* Return whether a sample can only have the fields of now (1), or of 1.8 (-1); 0: it may have both.
 * Lists are bytes, the link is a number. */
static int otlp_sample_age(struct tv_bytes sample)
{
    struct tv_cursor cursor = tv_cursor_over(sample);
    struct tv_protobuf_field field;
    while (tv_otlp_next(&cursor, &field)) {
        bool list = field.wire == TV_PROTOBUF_BYTES;
        if (field.number == 3)
            return list ? -1 : 1;
        if (field.number == 4)
            return list ? 1 : -1;
    }
    return 0;
}

struct tv_otlp_sample_fields tv_otlp_find_sample_fields(const struct tv_otlp_file *file,
                                                        struct tv_bytes request)
{
    static const struct tv_otlp_sample_fields now = {OTLP_SAMPLE_ATTRIBUTES, OTLP_SAMPLE_LINK,
                                                     OTLP_SAMPLE_VALUES},
                                              before = {3, 4, 2};
    struct tv_otlp_walk walk;
    int age = file->json ? 1 : 0;
    bool timed = false;
    tv_otlp_walk_begin(&walk, request, OTLP_LEVEL_SAMPLE);
    while (age == 0 && tv_otlp_walk_next(&walk)) {
        struct tv_cursor cursor = tv_cursor_over(walk.messages[OTLP_LEVEL_SAMPLE]);
        struct tv_protobuf_field field;
        age = otlp_sample_age(walk.messages[OTLP_LEVEL_SAMPLE]);
        while (age == 0 && tv_otlp_next(&cursor, &field))
            timed |= field.number == OTLP_SAMPLE_TIMES;
    }
    /* With one list alone it is the values, unless the times say that it may be the attributes. */
    return age > 0 || (age == 0 && timed) ? now : before;
}

/* ---- Attributes ---- */

struct tv_otlp_attribute tv_otlp_parse_attribute(struct tv_bytes message)
{
    struct tv_otlp_attribute attribute = {.key = 0};
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number == OTLP_ATTRIBUTE_KEY) {
            attribute.key = field.value;
            attribute.name = field.bytes;
        } else if (field.number == OTLP_ATTRIBUTE_VALUE) {
            attribute.value = field.bytes;
        } else if (field.number == OTLP_ATTRIBUTE_UNIT) {
            attribute.unit = field.value;
        }
    }
    return attribute;
}

struct tv_bytes tv_otlp_parse_value(struct tv_bytes message, uint64_t *number)
{
    struct tv_bytes text = {NULL, 0};
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    *number = 0;
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number == OTLP_VALUE_STRING)
            text = field.bytes;
        else if (field.number == OTLP_VALUE_INT)
            *number = field.value;
    }
    return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - one event as JSON: {"args": {field: value ...}, "event": its type, "label": ...}.
 *
 *     {"args": {"startTime": "1700000000000000000 ns since 1970", "duration": "20500000 ns",
 *               "eventThread": "main", "monitorClass": "java.lang.Object"},
 *      "event": "jdk.JavaMonitorEnter", "label": "Java Monitor Blocked"}
 *
 * Types and constants are those of its chunk, which is opened again.  Constants are followed: a
 * class, thread or method shows its name, a stack the list of its frames, anything else the object
 * of its fields, to a depth that no real event reaches.
 */
#include "readers/jfr/events.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>

#include "readers/jfr/chunk.h"
#include "readers/profile_input.h"

#define MAX_NESTED 6
/* Elements of an array that are shown: a stack may have thousands of frames. */
#define MAX_ELEMENTS 256

static void jfr_describe_value(struct tv_out *out, struct tv_jfr_chunk *chunk,
                               const struct tv_jfr_value *value, unsigned depth);

/* ---- Numbers ---- */

static void jfr_describe_time(struct tv_out *out, int64_t ns)
{
    tv_out_char(out, '"');
    tv_out_i64(out, ns);
    tv_out_text(out, " ns\"");
}

static void jfr_describe_with_unit(struct tv_out *out, int64_t number, const char *unit)
{
    tv_out_char(out, '"');
    tv_out_i64(out, number);
    tv_out_format(out, " %s\"", unit);
}

/* Write an integer with the unit that an annotation of its field states. */
static void jfr_describe_integer(struct tv_out *out, const struct tv_jfr_chunk *chunk,
                                 const struct tv_jfr_value *value)
{
    static const char *const units[] = {
        [TV_JFR_NANOSECONDS] = "ns",
        [TV_JFR_MICROSECONDS] = "us",
        [TV_JFR_MILLISECONDS] = "ms",
        [TV_JFR_SECONDS] = "s",
        [TV_JFR_TIME_MILLISECONDS] = "ms since 1970",
        [TV_JFR_BYTES] = "bytes",
        [TV_JFR_BITS] = "bits",
        [TV_JFR_ADDRESS] = NULL,
    };
    unsigned unit = value->field->unit;
    if (value->field->kind == TV_JFR_BOOLEAN)
        tv_out_text(out, value->raw ? "true" : "false");
    else if (unit == TV_JFR_TICKS)
        jfr_describe_time(out, tv_jfr_length(chunk, (int64_t)value->raw));
    else if (unit == TV_JFR_TIME_TICKS)
        jfr_describe_with_unit(out, tv_jfr_time(chunk, value->raw), "ns since 1970");
    else if (unit == TV_JFR_ADDRESS)
        tv_out_format(out, "\"0x%llx\"", (unsigned long long)value->raw);
    else if (unit < TV_COUNT(units) && units[unit])
        jfr_describe_with_unit(out, (int64_t)value->raw, units[unit]);
    else if (value->field->is_unsigned)
        tv_out_u64(out, value->raw);
    else
        tv_out_i64(out, (int64_t)value->raw);
}

/* ---- Values ---- */

/* Read the element at the cursor, as a value of the field without its dimension. */
static bool jfr_describe_element(struct tv_out *out, struct tv_jfr_chunk *chunk,
                                 const struct tv_jfr_field *field, struct tv_jfr_cursor *cursor,
                                 unsigned depth)
{
    struct tv_jfr_field single = *field;
    struct tv_jfr_value value = {&single, tv_jfr_place(chunk, cursor)};
    struct tv_jfr_raw_text text;
    single.array = false;
    bool read;
    if (field->constant)
        read = tv_jfr_take(cursor, 8, &value.raw);
    else if (field->type == TV_NONE)
        read = false;
    else if (field->kind == TV_JFR_STRING)
        read = tv_jfr_take_text(cursor, &text);
    else
        read = tv_jfr_program_skip(chunk, tv_jfr_skipper(chunk, field->type), cursor);
    if (read)
        jfr_describe_value(out, chunk, &value, depth + 1);
    return read;
}

/* Write the elements up to the first that cannot be read. Arrays of plain
 * numbers are shown as empty. */
static void jfr_describe_array(struct tv_out *out, struct tv_jfr_chunk *chunk,
                               const struct tv_jfr_value *value, unsigned depth)
{
    struct tv_jfr_cursor cursor = tv_jfr_cursor_at(chunk, value->raw);
    uint64_t count = 0;
    tv_out_char(out, '[');
    if (!tv_jfr_take(&cursor, 4, &count))
        count = 0;
    for (uint64_t i = 0; i < count && i < MAX_ELEMENTS; i++) {
        const uint8_t *before = cursor.at;
        size_t length = out->length;
        if (i > 0)
            tv_out_char(out, ',');
        bool numbers = !value->field->constant && value->field->kind != TV_JFR_STRUCT &&
                       value->field->kind != TV_JFR_STRING;
        if (numbers || !jfr_describe_element(out, chunk, value->field, &cursor, depth) ||
            cursor.at == before) {
            out->length = length;
            break;
        }
    }
    tv_out_char(out, ']');
}

/* Write a value's fields as a JSON object. Fields that the type names but the event lacks are left
 * out. */
static void jfr_describe_fields(struct tv_out *out, struct tv_jfr_chunk *chunk, uint32_t type,
                                uint64_t at, unsigned depth)
{
    const struct tv_jfr_type *t = &chunk->types.rows[type];
    bool any = false;
    tv_out_char(out, '{');
    for (uint32_t i = 0; i < t->field_count; i++) {
        const struct tv_jfr_field *field = &chunk->fields.rows[t->first_field + i];
        struct tv_out name;
        tv_out_init_memory(&name);
        tv_out_bytes(&name, field->name);
        tv_out_char(&name, '\0');
        struct tv_jfr_value value = tv_jfr_get(chunk, type, at, (const char *)name.buffer);
        if (value.field) {
            tv_out_text(out, any ? "," : "");
            tv_out_json(out, field->name);
            tv_out_char(out, ':');
            jfr_describe_value(out, chunk, &value, depth + 1);
            any = true;
        }
        tv_out_release(&name);
    }
    tv_out_char(out, '}');
}

/* Write a value as JSON.  Objects nest up to MAX_NESTED: a damaged file may have objects that
 * contain themselves. */
static void jfr_describe_value(struct tv_out *out, struct tv_jfr_chunk *chunk,
                               const struct tv_jfr_value *value, unsigned depth)
{
    uint32_t type;
    uint64_t at;
    double number;
    if (value->field->array) {
        jfr_describe_array(out, chunk, value, depth);
        return;
    }
    if (tv_jfr_number(value, &number)) {
        if (value->field->kind >= TV_JFR_FLOAT && !isfinite(number))
            tv_out_text(out, "null");
        else if (value->field->kind >= TV_JFR_FLOAT)
            tv_out_format(out, "%.17g", number);
        else
            jfr_describe_integer(out, chunk, value);
        return;
    }
    struct tv_bytes text = tv_jfr_summary(chunk, value);
    if (text.length > 0 || (value->field->kind == TV_JFR_STRING && !value->field->constant))
        tv_out_json(out, text);
    else if (depth < MAX_NESTED && tv_jfr_follow(chunk, value, &type, &at))
        jfr_describe_fields(out, chunk, type, at, depth);
    else
        tv_out_text(out, "null");
}

/* ---- The event ---- */

static void jfr_describe_event(struct tv_out *out, struct tv_jfr_chunk *chunk, uint32_t type,
                               const struct tv_jfr_event *event)
{
    const struct tv_jfr_type *t = &chunk->types.rows[type];
    tv_out_text(out, "{\"args\":");
    jfr_describe_fields(out, chunk, type, tv_jfr_place(chunk, &event->fields), 0);
    tv_out_text(out, ",\"event\":");
    tv_out_json(out, t->name);
    if (t->label.length > 0) {
        tv_out_text(out, ",\"label\":");
        tv_out_json(out, t->label);
    }
    tv_out_char(out, '}');
}

/* ---- The chunk ---- */

/* A chunk that is open again, and the bytes of its file. */
struct jfr_reopened {
    struct tv_source *source; /* NULL: nothing is open */
    struct tv_profile_text text;
    struct tv_jfr_chunk chunk;
    uint64_t end; /* offset after the chunk */
    bool usable;  /* the types could be read */
};

static void jfr_reopened_release(struct jfr_reopened *reopened)
{
    if (!reopened->source)
        return;
    tv_jfr_chunk_release(&reopened->chunk);
    tv_profile_text_release(&reopened->text);
    tv_source_free(reopened->source);
    *reopened = (struct jfr_reopened){.source = NULL};
}

/* Open the chunk that holds an offset, unless it is the one that is open. */
static enum tv_status jfr_reopen(struct jfr_reopened *reopened, struct tv_source *source,
                                 uint64_t offset, struct tv_error *err)
{
    uint64_t at = 0;
    bool skipped;
    if (reopened->source == source && offset >= reopened->chunk.offset && offset < reopened->end)
        return TV_OK;
    jfr_reopened_release(reopened);
    enum tv_status status = tv_profile_text_read(source, &reopened->text, err);
    if (status != TV_OK)
        return status;
    reopened->source = tv_source_ref(source);
    while (
        tv_jfr_chunk_find(reopened->text.bytes, at, &reopened->chunk, &reopened->end, &skipped) &&
        offset >= reopened->end)
        at = reopened->end;
    reopened->usable = offset >= reopened->chunk.offset && offset < reopened->end &&
                       tv_jfr_chunk_open(&reopened->chunk);
    return TV_OK;
}

/* Describe the event at an offset of the file, with a chunk that may be open already. */
static enum tv_status jfr_describe_in(struct jfr_reopened *reopened, struct tv_source *source,
                                      uint64_t offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_jfr_event event;
    uint32_t type = TV_NONE;
    enum tv_status status = jfr_reopen(reopened, source, offset, err);
    if (status != TV_OK)
        return status;
    struct tv_jfr_chunk *chunk = &reopened->chunk;
    if (reopened->usable && tv_jfr_event_at(chunk, offset - chunk->offset, &event))
        type = tv_jfr_find_type(chunk, event.type);
    if (type == TV_NONE)
        return tv_fail(err, TV_ERR_SYNTAX, offset, "expected an event of a recording");
    jfr_describe_event(out, chunk, type, &event);
    return TV_OK;
}

/* Events are often described one after another (`dump`), so the last chunk stays open.  Whoever
 * finds it in use by another thread opens the chunk for itself. */
enum tv_status tv_jfr_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                               uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    static struct jfr_reopened last;
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    (void)end_offset;
    assert(input < trace->head->input_count);
    struct tv_source *source = trace->head->inputs[input].source;
    if (!source)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "the file is not there");
    if (atomic_flag_test_and_set(&busy)) {
        struct jfr_reopened own = {.source = NULL};
        enum tv_status status = jfr_describe_in(&own, source, offset, out, err);
        jfr_reopened_release(&own);
        return status;
    }
    enum tv_status status = jfr_describe_in(&last, source, offset, out, err);
    atomic_flag_clear(&busy);
    return status;
}

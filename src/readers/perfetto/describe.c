/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - packets as JSON by the names of their fields, and events read again.
 *
 * An event of the model has the offset of its packet (tag 0x0A), or of the kernel event (0x12) or
 * the compact message (0x22) within a bundle.  Names of debug annotations may be interned by
 * earlier packets: annotation_names.h.
 *
 *     {"timestamp":5,"track_event":{"type":"TYPE_SLICE_BEGIN","#77":"0x0102..."}}
 *
 * The schema (field_names.h) gives names and kinds.  A field that it lacks is still shown, with its
 * number: traces of a newer Perfetto lose nothing.  protobuf does not say whether bytes are a text,
 * a message or a packed array, so without the schema they stay bytes.
 *
 * The events are read again from the file when somebody asks.  Keeping the arguments of millions of
 * events would cost more memory than all their slices.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "readers/perfetto/annotation_names.h"
#include "readers/perfetto/field_names.h"
#include "readers/perfetto/perfetto.h"
#include "readers/perfetto/reading.h"

/* Messages nest no deeper in real packets; deeper ones are shown as bytes. */
#define DEEPEST 24

enum {
    EVENT_MESSAGE = 2,
    POWER_RAILS = 40,
    CLOCK_ID = 58,
    TRACK_DESCRIPTOR = 60,
    VULKAN_EVENT = 65,
    FRAME_TIMELINE = 76,
    STACK_SAMPLE = 135
};

/* ---- Messages as JSON ---- */

/* Write the name of a field; "#77" for one that the schema lacks. */
static void pf_write_key(struct tv_out *out, const struct tv_pf_member *member, uint32_t number)
{
    char text[16];
    if (member) {
        tv_out_json(out, tv_bytes_of(member->name));
    } else {
        int length = snprintf(text, sizeof text, "#%" PRIu32, number);
        tv_out_json(out, (struct tv_bytes){(uint8_t *)text, (size_t)length});
    }
    tv_out_char(out, ':');
}

/* Write a number with all of its digits. JSON has no infinity and no NaN. */
static void pf_write_real(struct tv_out *out, double value)
{
    if (value - value == 0)
        tv_out_format(out, "%.17g", value);
    else
        tv_out_text(out, "null");
}

/* Write bytes without a known form: as text when they are printable, else in hexadecimal. */
static void pf_write_blob(struct tv_out *out, struct tv_bytes bytes)
{
    size_t shown = bytes.length < 256 ? bytes.length : 256;
    bool text = true;
    for (size_t i = 0; i < bytes.length && text; i++)
        text = bytes.data[i] >= 0x20 && bytes.data[i] < 0x7f;
    if (text) {
        tv_out_json(out, bytes);
        return;
    }
    tv_out_text(out, "\"0x");
    for (size_t i = 0; i < shown; i++)
        tv_out_format(out, "%02x", bytes.data[i]);
    if (shown < bytes.length)
        tv_out_format(out, "... (%zu bytes)", bytes.length);
    tv_out_char(out, '"');
}

/* Write a number by its kind in the schema; a field that the schema lacks is unsigned. */
static void pf_write_number(struct tv_out *out, const struct tv_pf_member *member,
                            const struct tv_protobuf_field *field)
{
    unsigned kind = member ? member->kind : TV_PF_UNSIGNED;
    int64_t number = (int64_t)field->value;
    const char *name = NULL;
    if (kind == TV_PF_ENUM)
        name = tv_pf_enum_name(member->of, (int32_t)number);
    if (name)
        tv_out_json(out, tv_bytes_of(name));
    else if (kind == TV_PF_REAL)
        pf_write_real(out, tv_pf_double(field));
    else if (kind == TV_PF_BOOL)
        tv_out_text(out, field->value ? "true" : "false");
    else if (kind == TV_PF_SIGNED || kind == TV_PF_ENUM)
        tv_out_format(out, "%" PRId64, number);
    else if (kind == TV_PF_ZIGZAG)
        tv_out_format(out, "%" PRId64, (int64_t)(field->value >> 1) ^ -(number & 1));
    else
        tv_out_format(out, "%" PRIu64, field->value);
}

/* Write a packed array. */
static void pf_write_packed(struct tv_out *out, const struct tv_pf_member *member,
                            const struct tv_protobuf_field *field)
{
    struct tv_pf_numbers numbers =
        tv_pf_numbers_of(field, member->kind == TV_PF_REAL || field->number == 47 ? 8 : 0);
    struct tv_protobuf_field number = {.wire = TV_PROTOBUF_VARINT};
    bool any = false;
    if (numbers.size == 8)
        number.wire = TV_PROTOBUF_FIXED64;
    tv_out_char(out, '[');
    while (tv_pf_numbers_next(&numbers, &number.value)) {
        tv_out_text(out, any ? "," : "");
        pf_write_number(out, member, &number);
        any = true;
    }
    tv_out_char(out, ']');
}

static void pf_write_message(struct tv_out *out, uint32_t message, struct tv_bytes bytes,
                             unsigned depth);

/* Write a value by its kind in the schema.  Messages nest up to DEEPEST; a deeper one is shown as
 * bytes. */
static void pf_write_value(struct tv_out *out, const struct tv_pf_member *member,
                           const struct tv_protobuf_field *field, unsigned depth)
{
    if (field->wire != TV_PROTOBUF_BYTES)
        pf_write_number(out, member, field);
    else if (!member || member->kind == TV_PF_BLOB)
        pf_write_blob(out, field->bytes);
    else if (member->kind == TV_PF_TEXT)
        tv_out_json(out, field->bytes);
    else if (member->kind == TV_PF_MESSAGE && depth < DEEPEST)
        pf_write_message(out, member->of, field->bytes, depth + 1);
    else if (member->kind == TV_PF_MESSAGE)
        pf_write_blob(out, field->bytes);
    else
        pf_write_packed(out, member, field);
}

/* Write the fields of a message.  Values of one field that stand one after another become an array.
 */
static void pf_write_members(struct tv_out *out, uint32_t message, struct tv_bytes bytes,
                             unsigned depth)
{
    struct tv_pf_message walk = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint32_t last = 0;
    bool array = false;
    while (tv_pf_next(&walk, &field)) {
        const struct tv_pf_member *member = tv_pf_find_member(message, field.number);
        bool numbers = member && field.wire == TV_PROTOBUF_BYTES && member->kind < TV_PF_TEXT;
        bool repeated = member && member->repeated && !numbers;
        if (field.number == last && array) {
            tv_out_char(out, ',');
        } else {
            tv_out_text(out, array ? "]" : "");
            tv_out_text(out, last ? "," : "");
            pf_write_key(out, member, field.number);
            tv_out_text(out, repeated ? "[" : "");
            array = repeated;
        }
        last = field.number;
        pf_write_value(out, member, &field, depth);
    }
    tv_out_text(out, array ? "]" : "");
    if (walk.damaged)
        tv_out_text(out, last ? ",\"damaged\":true" : "\"damaged\":true");
}

static void pf_write_message(struct tv_out *out, uint32_t message, struct tv_bytes bytes,
                             unsigned depth)
{
    tv_out_char(out, '{');
    pf_write_members(out, message, bytes, depth);
    tv_out_char(out, '}');
}

void tv_pf_write_message(struct tv_out *out, const char *message, struct tv_bytes bytes)
{
    pf_write_message(out, tv_pf_find_message(message), bytes, 0);
}

void tv_pf_write_packet(struct tv_out *out, struct tv_bytes packet)
{
    pf_write_message(out, TV_PF_TRACE_PACKET, packet, 0);
}

/* ---- Debug annotations ---- */

/* Annotations of one packet. */
struct pf_describing {
    const struct tv_pf_annotation_list *list;
    uint32_t sequence;
    uint64_t offset;
    struct tv_out *out;
};

/* Write what a number stands for. */
static void pf_write_interned(const struct pf_describing *describing,
                              enum tv_pf_annotation_table table, uint64_t iid)
{
    struct tv_bytes text;
    if (tv_pf_annotation_list_find(describing->list, describing->sequence, table, iid,
                                   describing->offset, &text))
        tv_out_json(describing->out, text);
    else
        tv_out_format(describing->out, "\"[iid %" PRIu64 " unknown]\"", iid);
}

static void pf_write_annotation_value(struct pf_describing *describing, struct tv_bytes annotation,
                                      unsigned depth);

/* Write the name of an annotation as a key. */
static void pf_write_annotation_key(struct pf_describing *describing, struct tv_bytes annotation)
{
    struct tv_protobuf_field iid = tv_pf_find(annotation, 1);
    if (iid.number == 1)
        pf_write_interned(describing, TV_PF_ANNOTATION_NAMES, iid.value);
    else
        tv_out_json(describing->out, tv_pf_find(annotation, 10).bytes);
    tv_out_char(describing->out, ':');
}

/* Write the entries of a dictionary or an array: field 11 or 12. */
static void pf_write_annotation_list(struct pf_describing *describing, struct tv_bytes annotation,
                                     uint32_t number, unsigned depth)
{
    struct tv_pf_message walk = tv_pf_message_over(annotation);
    struct tv_protobuf_field field;
    bool any = false, dictionary = number == 11;
    tv_out_char(describing->out, dictionary ? '{' : '[');
    while (depth < DEEPEST && tv_pf_next(&walk, &field)) {
        if (field.number != number)
            continue;
        tv_out_text(describing->out, any ? "," : "");
        if (dictionary)
            pf_write_annotation_key(describing, field.bytes);
        pf_write_annotation_value(describing, field.bytes, depth + 1);
        any = true;
    }
    tv_out_char(describing->out, dictionary ? '}' : ']');
}

/* Write the value of a debug annotation.  The fields of its name (1, 10, 13, 16) are not the value.
 */
static void pf_write_annotation_value(struct pf_describing *describing, struct tv_bytes annotation,
                                      unsigned depth)
{
    struct tv_pf_message walk = tv_pf_message_over(annotation);
    struct tv_protobuf_field field, value = {.number = 0};
    struct tv_out *out = describing->out;
    while (tv_pf_next(&walk, &field))
        if (field.number != 1 && field.number != 10 && field.number != 13 && field.number != 16)
            value = field;
    switch (value.number) {
    case 0:
        tv_out_text(out, "null");
        break;
    case 2:
        tv_out_text(out, value.value ? "true" : "false");
        break;
    case 3:
        tv_out_format(out, "%" PRIu64, value.value);
        break;
    case 4:
        tv_out_format(out, "%" PRId64, (int64_t)value.value);
        break;
    case 5:
        pf_write_real(out, tv_pf_double(&value));
        break;
    case 7:
        tv_out_format(out, "\"0x%" PRIx64 "\"", value.value);
        break;
    case 11:
    case 12:
        pf_write_annotation_list(describing, annotation, value.number, depth);
        break;
    case 17:
        pf_write_interned(describing, TV_PF_ANNOTATION_TEXTS, value.value);
        break;
    default:
        tv_out_json(out, value.bytes);
    }
}

/* Write the annotations of a track event as members of an object. */
static void pf_write_annotations(struct pf_describing *describing, struct tv_bytes event)
{
    struct tv_pf_message walk = tv_pf_message_over(event);
    struct tv_protobuf_field field;
    bool any = false;
    tv_out_char(describing->out, '{');
    while (tv_pf_next(&walk, &field)) {
        if (field.number != 4)
            continue;
        tv_out_text(describing->out, any ? "," : "");
        pf_write_annotation_key(describing, field.bytes);
        pf_write_annotation_value(describing, field.bytes, 0);
        any = true;
    }
    tv_out_char(describing->out, '}');
}

/* ---- Stack samples ---- */

/* Contexts of tasks that are no threads nest no deeper. */
#define DEEPEST_ASYNC 16

/* Return a message of a sample that is in it, or interned under the number in the next field;
 * empty: neither. */
static struct tv_bytes pf_sample_message(const struct pf_describing *describing,
                                         struct tv_bytes sample, uint32_t number,
                                         enum tv_pf_annotation_table table)
{
    struct tv_protobuf_field inside = tv_pf_find(sample, number);
    struct tv_bytes found = {NULL, 0};
    if (inside.number == number)
        return inside.bytes;
    (void)tv_pf_annotation_list_find(describing->list, describing->sequence, table,
                                     tv_pf_find(sample, number + 1).value, describing->offset,
                                     &found);
    return found;
}

/* Write a member for a message, unless it is empty. */
static void pf_write_sample_part(const struct pf_describing *describing, const char *key,
                                 const char *message, struct tv_bytes bytes)
{
    if (bytes.length == 0)
        return;
    tv_out_format(describing->out, ",\"%s\":", key);
    tv_pf_write_message(describing->out, message, bytes);
}

/* Write the context of a task that is no thread, and those around it. */
static void pf_write_sample_asyncs(const struct pf_describing *describing, struct tv_bytes task)
{
    struct tv_bytes async;
    uint64_t iid = tv_pf_find(task, 4).value;
    unsigned count = 0;
    while (iid != 0 && count < DEEPEST_ASYNC &&
           tv_pf_annotation_list_find(describing->list, describing->sequence,
                                      TV_PF_ANNOTATION_ASYNCS, iid, describing->offset, &async)) {
        tv_out_text(describing->out, count++ == 0 ? ",\"async\":[" : ",");
        tv_out_text(describing->out, "{\"name\":");
        tv_out_json(describing->out, tv_pf_find(async, 2).bytes);
        tv_out_text(describing->out, ",\"kind\":");
        tv_out_json(describing->out, tv_pf_find(async, 3).bytes);
        tv_out_char(describing->out, '}');
        iid = tv_pf_find(async, 4).value;
    }
    tv_out_text(describing->out, count > 0 ? "]" : "");
}

/* Write what a stack sample and the packets before it tell of where it was taken. */
static void pf_write_sample_contexts(const struct pf_describing *describing, struct tv_bytes sample)
{
    struct tv_bytes task = pf_sample_message(describing, sample, 1, TV_PF_ANNOTATION_TASKS);
    struct tv_bytes source =
        tv_pf_find(tv_pf_annotation_list_defaults(describing->list, describing->sequence,
                                                  describing->offset),
                   1)
            .bytes;
    pf_write_sample_part(describing, "task", "StackSample.TaskContext", task);
    pf_write_sample_part(describing, "execution", "StackSample.ExecutionContext",
                         pf_sample_message(describing, sample, 3, TV_PF_ANNOTATION_EXECUTIONS));
    pf_write_sample_asyncs(describing, task);
    if (source.length > 0) {
        tv_out_text(describing->out, ",\"source\":");
        tv_out_json(describing->out, source);
    }
}

/* ---- Events ---- */

/* Read the message at an offset: a tag, a length, the message.  The tag becomes *number; the caller
 * frees *data, which has the bytes. */
static enum tv_status pf_read_again(struct tv_source *source, uint64_t offset, uint32_t *number,
                                    uint8_t **data, size_t *size, struct tv_error *err)
{
    uint8_t head[20];
    uint64_t tag, length;
    size_t got;
    enum tv_status status = tv_source_read(source, offset, head, sizeof head, &got, err);
    if (status != TV_OK)
        return status;
    const uint8_t *at = head;
    if (!tv_pf_take_varint(&at, head + got, &tag) || !tv_pf_take_varint(&at, head + got, &length) ||
        length > TV_PF_PACKET_MAX ||
        !tv_source_reaches(source, offset + (uint64_t)(at - head) + length))
        return tv_fail(err, TV_ERR_SYNTAX, offset, "no packet or event here");
    *data = tv_alloc((size_t)length + 1, 1);
    status =
        tv_source_read(source, offset + (uint64_t)(at - head), *data, (size_t)length, size, err);
    *number = (uint32_t)(tag >> 3);
    if (status != TV_OK)
        tv_free(*data);
    return status;
}

/* The fields of an event of the kernel, and the message that has their names. */
struct pf_kernel_fields {
    uint32_t message;
    struct tv_bytes bytes;
};

/* Find the fields of a kernel event: the only message in it, whose number is that of its type. */
static struct pf_kernel_fields pf_kernel_fields_of(struct tv_bytes event)
{
    struct tv_pf_message walk = tv_pf_message_over(event);
    struct tv_protobuf_field field;
    uint32_t events = tv_pf_find_message("FtraceEvent");
    while (tv_pf_next(&walk, &field)) {
        const struct tv_pf_member *member = tv_pf_find_member(events, field.number);
        if (field.wire == TV_PROTOBUF_BYTES)
            return (struct pf_kernel_fields){member ? member->of : TV_PF_NO_MESSAGE, field.bytes};
    }
    return (struct pf_kernel_fields){TV_PF_NO_MESSAGE, {event.data, 0}};
}

/* Fields of events of the kernel have numbers below this one: a bit each in a number. */
#define MAX_KERNEL_FIELD 64u

/* Return the fields of `message` whose names the fields of an event have too, a bit each.  A field
 * that stands in the event again is not compared again: a damaged event may repeat it endlessly. */
static uint64_t pf_find_shared_fields(const struct pf_kernel_fields *fields, uint32_t message)
{
    struct tv_pf_message walk = tv_pf_message_over(fields->bytes);
    struct tv_protobuf_field field;
    uint64_t seen = 0, shared = 0;
    while (tv_pf_next(&walk, &field)) {
        if (field.number >= MAX_KERNEL_FIELD || (seen >> field.number & 1))
            continue;
        seen |= UINT64_C(1) << field.number;
        const struct tv_pf_member *member = tv_pf_find_member(fields->message, field.number);
        for (uint32_t i = 1; member && i < MAX_KERNEL_FIELD; i++) {
            const struct tv_pf_member *other = tv_pf_find_member(message, i);
            if (other && strcmp(member->name, other->name) == 0)
                shared |= UINT64_C(1) << i;
        }
    }
    return shared;
}

/* Write the fields of the event that ended a slice, but those that the first event has, too. */
static void pf_write_end_fields(struct tv_out *out, const struct pf_kernel_fields *begin,
                                struct tv_bytes event)
{
    struct pf_kernel_fields end = pf_kernel_fields_of(event);
    struct tv_pf_message walk = tv_pf_message_over(end.bytes);
    struct tv_protobuf_field field;
    bool any = begin->bytes.length > 0;
    uint64_t shared = pf_find_shared_fields(begin, end.message);
    while (tv_pf_next(&walk, &field)) {
        const struct tv_pf_member *member = tv_pf_find_member(end.message, field.number);
        if (!member || (field.number < MAX_KERNEL_FIELD && (shared >> field.number & 1)))
            continue;
        tv_out_text(out, any ? "," : "");
        pf_write_key(out, member, field.number);
        pf_write_value(out, member, &field, 0);
        any = true;
    }
}

/* Write an event of the kernel, and what the one tells that ended its slice (empty: none). */
static void pf_describe_kernel_event(struct tv_out *out, struct tv_bytes event, struct tv_bytes end)
{
    struct pf_kernel_fields fields = pf_kernel_fields_of(event);
    tv_out_text(out, "{\"args\":{");
    pf_write_members(out, fields.message, fields.bytes, 0);
    pf_write_end_fields(out, &fields, end);
    tv_out_format(out, "},\"pid\":%" PRIu64 ",\"timestamp\":%" PRIu64 "}",
                  tv_pf_find(event, 2).value, tv_pf_find(event, 1).value);
}

/* Describe an event of the kernel, and the end of its slice if that is one, too. */
static enum tv_status pf_describe_kernel(struct tv_source *source, struct tv_out *out,
                                         struct tv_bytes event, uint64_t end_offset,
                                         struct tv_error *err)
{
    uint32_t number = 0;
    uint8_t *data = NULL;
    size_t size = 0;
    enum tv_status status = TV_OK;
    if (end_offset != TV_NO_OFFSET)
        status = pf_read_again(source, end_offset, &number, &data, &size, err);
    if (status != TV_OK)
        return status;
    pf_describe_kernel_event(out, event,
                             (struct tv_bytes){data, number == EVENT_MESSAGE ? size : 0});
    tv_free(data);
    return TV_OK;
}

/* Find or read the list of a file.  The lists of the last files are kept, because events are
 * described one after another, also events of several files in turn; each list keeps its file
 * open. */
static enum tv_status pf_open_annotations(struct tv_source *source,
                                          const struct tv_pf_annotation_list **found,
                                          struct tv_error *err)
{
    static struct tv_pf_annotation_list lists[4];
    static size_t next;
    struct tv_pf_annotation_list *list = NULL;
    for (size_t i = 0; i < TV_COUNT(lists) && !list; i++)
        if (lists[i].source == source)
            list = &lists[i];
    if (!list)
        list = &lists[next++ % TV_COUNT(lists)];
    *found = list;
    return tv_pf_annotation_list_open(list, source, err);
}

/* Write the arguments of a track event, or the contexts of a stack sample: what needs the list. */
static enum tv_status pf_describe_arguments(struct tv_source *source, struct tv_out *out,
                                            const struct tv_pf_packet *packet,
                                            const struct tv_protobuf_field *event,
                                            struct tv_error *err)
{
    static struct tv_lock lock = TV_LOCK_INITIAL; /* of the lists */
    struct pf_describing describing = {NULL, (uint32_t)tv_pf_find(packet->bytes, 10).value,
                                       packet->offset, out};
    tv_lock_enter(&lock);
    enum tv_status status = pf_open_annotations(source, &describing.list, err);
    if (status == TV_OK && event->number == STACK_SAMPLE) {
        pf_write_sample_contexts(&describing, event->bytes);
    } else if (status == TV_OK) {
        tv_out_text(out, "{\"args\":");
        pf_write_annotations(&describing, event->bytes);
    }
    tv_lock_leave(&lock);
    return status;
}

/* Write what Perfetto has as arguments of the process or thread that a descriptor describes. */
static void pf_write_task_arguments(struct tv_out *out, struct tv_bytes descriptor)
{
    struct tv_protobuf_field rank = tv_pf_find(descriptor, 12);
    struct tv_protobuf_field chrome = tv_pf_find(descriptor, 6);
    bool is_thread = tv_pf_find(descriptor, 4).number == 4;
    if (rank.number != 12) /* older: in the descriptor of the process or thread */
        rank = tv_pf_find(tv_pf_find(descriptor, is_thread ? 4 : 3).bytes, 3);
    if (chrome.number == 6) {
        tv_out_text(out, ",\"chrome\":");
        tv_pf_write_message(out, "ChromeProcessDescriptor", chrome.bytes);
    }
    if (rank.wire != TV_PF_MISSING)
        tv_out_format(out, ",\"%s_sort_index_hint\":%" PRId64, is_thread ? "thread" : "process",
                      (int64_t)rank.value);
}

/* Write the fields of vkQueueSubmit where Perfetto has them. */
static void pf_write_submit_arguments(struct tv_out *out, struct tv_bytes event)
{
    struct tv_bytes submit = tv_pf_find(event, 2).bytes;
    struct tv_pf_message message = tv_pf_message_over(submit);
    struct tv_protobuf_field field;
    uint64_t buffer;
    bool any = false;
    if (submit.length == 0)
        return;
    tv_out_format(out, ",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"command_buffers\":[",
                  tv_pf_find(submit, 2).value, tv_pf_find(submit, 3).value);
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        while (field.number == 5 && tv_pf_numbers_next(&numbers, &buffer)) {
            tv_out_format(out, "%s%" PRIu64, any ? "," : "", buffer);
            any = true;
        }
    }
    tv_out_char(out, ']');
}

/* Describe a packet: the arguments of a track event, else its payload. */
static enum tv_status pf_describe_packet(struct tv_source *source, struct tv_out *out,
                                         const struct tv_pf_packet *packet, struct tv_error *err)
{
    struct tv_protobuf_field event = tv_pf_find(packet->bytes, 11), payload;
    enum tv_status status = TV_OK;
    if (event.number == 11) {
        if (tv_pf_find(event.bytes, 4).number == 4)
            status = pf_describe_arguments(source, out, packet, &event, err);
        else
            tv_out_text(out, "{\"args\":{}");
        if (status != TV_OK)
            return status;
        tv_out_text(out, ",\"packet\":");
        tv_pf_write_packet(out, packet->bytes);
        tv_out_char(out, '}');
        return TV_OK;
    }
    const struct tv_pf_member *member =
        tv_pf_find_member(TV_PF_TRACE_PACKET, tv_pf_payload_of(packet->bytes, &payload));
    tv_out_text(out, "{\"args\":");
    if (payload.number == FRAME_TIMELINE)
        tv_pf_write_display_frame(out, payload.bytes);
    else if (member && member->kind == TV_PF_MESSAGE && payload.wire == TV_PROTOBUF_BYTES)
        pf_write_message(out, member->of, payload.bytes, 0);
    else
        tv_out_text(out, "{}");
    struct tv_protobuf_field time = tv_pf_find(packet->bytes, 8);
    if (payload.number == POWER_RAILS && time.number == 8 &&
        tv_pf_find(packet->bytes, CLOCK_ID).number != CLOCK_ID)
        tv_out_format(out, ",\"packet_ts\":%" PRIu64, time.value);
    else if (payload.number == TRACK_DESCRIPTOR)
        pf_write_task_arguments(out, payload.bytes);
    else if (payload.number == VULKAN_EVENT)
        pf_write_submit_arguments(out, payload.bytes);
    else if (payload.number == STACK_SAMPLE)
        status = pf_describe_arguments(source, out, packet, &payload, err);
    tv_out_char(out, '}');
    return status;
}

enum tv_status tv_pf_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[input].source;
    struct tv_pf_packet packet = {.offset = offset};
    uint32_t number = 0;
    uint8_t *data = NULL;
    size_t size = 0;
    enum tv_status status = pf_read_again(source, offset, &number, &data, &size, err);
    if (status != TV_OK)
        return status;
    packet.bytes = (struct tv_bytes){data, size};
    if (number == 1)
        status = pf_describe_packet(source, out, &packet, err);
    else if (number == EVENT_MESSAGE)
        status = pf_describe_kernel(source, out, packet.bytes, end_offset, err);
    else
        tv_out_text(out, "{\"args\":{}}");
    tv_free(data);
    return status;
}

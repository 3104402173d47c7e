/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the kernel as the text that the kernel would print, so that the handlers of ftrace text
 * take them: an event that is understood in one format is understood in both.
 *
 *     irq_handler_entry {irq: 7, name: "eth0"}
 *         form "irq=$a name=$b"       ->  irq=7 name=eth0      a: field 1, b: field 2
 *     softirq without a form          ->  field=value ...      names from the schema
 *
 * Frequent events (switches, wakings, marks) have handlers of their own and do not come here:
 * making text and parsing it again costs several times as much.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/fields.h"
#include "readers/perfetto/bundle.h"
#include "readers/perfetto/field_names.h"

#define KERNEL_SYMBOLS 26u
#define LONGEST_TEXT 1024u

enum { EVENT_SOFTIRQ_RAISE = 26, EVENT_GENERIC = 327, EVENT_KPROBE = 542 };

/* ---- Fields and names ---- */

void tv_pf_event_parse(struct tv_bytes bytes, struct tv_pf_event_fields *fields)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    memset(fields, 0, sizeof *fields);
    while (tv_pf_next(&message, &field))
        if (field.number < TV_PF_EVENT_FIELDS) {
            fields->numbers[field.number] = field.value;
            fields->texts[field.number] = field.bytes;
            fields->present |= (uint16_t)(1u << field.number);
        }
}

struct tv_bytes tv_pf_kernel_function(struct tv_pf_bundle *bundle, uint64_t value, char *text,
                                      size_t size)
{
    struct tv_pf_sequence *sequence = bundle->packet->sequence;
    if (value != 0 && sequence && sequence->interned.count > 0) {
        uint32_t entry = tv_map_find(&sequence->interned, value ^ (uint64_t)KERNEL_SYMBOLS << 56);
        if (entry != TV_NONE && value >> 56 == 0) {
            uint32_t blob = sequence->entries.rows[entry].blob;
            return tv_pf_find(tv_interner_get(bundle->reading->blobs, blob), 2).bytes;
        }
    }
    int length = snprintf(text, size, "0x%" PRIx64, value);
    return (struct tv_bytes){(uint8_t *)text, (size_t)length};
}

struct tv_bytes tv_pf_softirq_name(uint64_t vector)
{
    static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                        "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
    return vector < TV_COUNT(names) ? tv_bytes_of(names[vector]) : TV_BYTES("");
}

/* ---- Text ---- */

/* Texts of events whose handlers expect another form than "field=value ...": '$' and a letter is
 * the value of a field, its number from 'a' on; "$A" the same in hexadecimal. */
static const struct {
    uint32_t number;
    const char *form;
} pf_event_forms[] = {
    {14, "$a state=$b cpu_id=$c"},
    {15, "$a state=$b cpu_id=$c"},
    {16, "$a state=$b cpu_id=$c"},
    {21, "($a)"},
    {22, "($a)"},
    {36, "irq=$a name=$b"},
    {50, "transaction=$a dest_node=$b dest_proc=$c dest_thread=$d reply=$e flags=$G code=$F"},
    {51, "transaction=$a"},
    {57, "work struct $A: function $!b"},
    {58, "work struct $A: function $!b"},
    {113, "$a[$b] $c"},
    {404, "$a state=$B"},
    {405, "$a state=$B"},
};

struct pf_details {
    uint8_t text[LONGEST_TEXT];
    size_t length;
};

/* Append as much of a text as fits. */
static void pf_details_add(struct pf_details *details, struct tv_bytes text)
{
    size_t room = sizeof details->text - details->length;
    size_t length = text.length < room ? text.length : room;
    if (length > 0)
        memcpy(details->text + details->length, text.data, length);
    details->length += length;
}

/* Append a number. */
static void pf_details_add_number(struct pf_details *details, int64_t value, bool hex)
{
    uint8_t text[24] = "-";
    bool negative = value < 0 && !hex;
    size_t length;
    if (hex)
        length = (size_t)snprintf((char *)text + 1, sizeof text - 1, "0x%" PRIx64, value);
    else
        length = tv_digits_u64(text + 1, negative ? -(uint64_t)value : (uint64_t)value);
    pf_details_add(details, (struct tv_bytes){text + !negative, length + negative});
}

/* Write the value of one field. */
static void pf_details_add_value(struct pf_details *details, const struct tv_pf_member *member,
                                 const struct tv_protobuf_field *field)
{
    if (field->wire == TV_PROTOBUF_BYTES)
        pf_details_add(details, field->bytes);
    else if (member && member->kind == TV_PF_SIGNED)
        pf_details_add_number(details, (int64_t)field->value, false);
    else
        pf_details_add_number(details, (int64_t)field->value, member && field->value > INT64_MAX);
}

/* Append a form with the values of the fields. "$!b" is the name of the kernel function at an
 * address. */
static void pf_details_fill_form(struct tv_pf_bundle *bundle, struct pf_details *details,
                                 const char *form, const struct tv_pf_event_fields *fields)
{
    char text[24];
    for (; *form; form++) {
        if (*form != '$') {
            pf_details_add(details, (struct tv_bytes){(const uint8_t *)form, 1});
            continue;
        }
        bool symbol = *++form == '!';
        form += symbol;
        bool hex = *form < 'a';
        unsigned number = (unsigned)(*form - (hex ? 'A' : 'a')) + 1;
        assert(number < TV_PF_EVENT_FIELDS);
        if (fields->texts[number].data)
            pf_details_add(details, fields->texts[number]);
        else if (symbol)
            pf_details_add(
                details, tv_pf_kernel_function(bundle, fields->numbers[number], text, sizeof text));
        else
            pf_details_add_number(details, (int64_t)fields->numbers[number], hex);
    }
}

/* Write "field=value field=value". */
static void pf_details_list_fields(struct pf_details *details, uint32_t message,
                                   struct tv_bytes event)
{
    struct tv_pf_message walk = tv_pf_message_over(event);
    struct tv_protobuf_field field;
    while (tv_pf_next(&walk, &field)) {
        const struct tv_pf_member *member = tv_pf_find_member(message, field.number);
        if (details->length > 0)
            pf_details_add(details, TV_BYTES(" "));
        if (member)
            pf_details_add(details, tv_bytes_of(member->name));
        else
            pf_details_add_number(details, field.number, false);
        pf_details_add(details, TV_BYTES("="));
        pf_details_add_value(details, member, &field);
    }
}

/* Write the details of an event as the kernel prints them. */
static void pf_details_write(struct tv_pf_bundle *bundle, struct pf_details *details,
                             const struct tv_protobuf_field *event, uint32_t message)
{
    struct tv_pf_event_fields fields;
    details->length = 0;
    if (event->number == EVENT_SOFTIRQ_RAISE) {
        uint64_t vector = tv_pf_find(event->bytes, 1).value;
        pf_details_add(details, TV_BYTES("vec="));
        pf_details_add_number(details, (int64_t)vector, false);
        pf_details_add(details, TV_BYTES(" [action="));
        pf_details_add(details, tv_pf_softirq_name(vector));
        pf_details_add(details, TV_BYTES("]"));
        return;
    }
    for (size_t i = 0; i < TV_COUNT(pf_event_forms); i++)
        if (pf_event_forms[i].number == event->number) {
            tv_pf_event_parse(event->bytes, &fields);
            pf_details_fill_form(bundle, details, pf_event_forms[i].form, &fields);
            return;
        }
    pf_details_list_fields(details, message, event->bytes);
}

struct tv_bytes tv_pf_event_name(struct tv_pf_reading *reading,
                                 const struct tv_protobuf_field *event, char *text, size_t size)
{
    const struct tv_pf_member *member = tv_pf_find_member(TV_PF_FTRACE_EVENT, event->number);
    bool is_named = event->number == EVENT_GENERIC || event->number == EVENT_KPROBE;
    struct tv_bytes own = is_named ? tv_pf_find(event->bytes, 1).bytes : (struct tv_bytes){NULL, 0};
    if (own.length > 0)
        return own;
    if (member)
        return tv_bytes_of(member->name);
    uint32_t name = tv_map_find(&tv_pf_bundle_get_state(reading)->described, event->number);
    if (name != TV_NONE)
        return tv_interner_get(reading->chunk->texts, name);
    int length = snprintf(text, size, "ftrace #%" PRIu32, event->number);
    return (struct tv_bytes){(uint8_t *)text, (size_t)length};
}

void tv_pf_bundle_take_text(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, int64_t tid,
                            const struct tv_protobuf_field *event)
{
    char text[32];
    struct pf_details details;
    const struct tv_pf_member *member = tv_pf_find_member(TV_PF_FTRACE_EVENT, event->number);
    struct tv_bytes name = tv_pf_event_name(bundle->reading, event, text, sizeof text);
    if (!member)
        tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_EVENT_UNKNOWN, at->offset);
    pf_details_write(bundle, &details, event, member ? member->of : TV_PF_NO_MESSAGE);
    struct tv_ft_line line = {
        .tid = tid,
        .tgid = TV_FT_NO_ID,
        .cpu = at->cpu,
        .time = at->time,
        .event = name,
        .details = {details.text, details.length},
    };
    bundle->chunk->events--; /* counted again */
    tv_ft_chunk_take_event(bundle->chunk, &line, at->offset);
}

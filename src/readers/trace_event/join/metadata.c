/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c - metadata events (M), the members beside the events, and embedded traces.
 *
 *     {"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"main"}}
 *     {"ph":"M","pid":1,"name":"process_labels","args":{"labels":"tab one,tab two"}}
 *     {"ph":"M","pid":1,"name":"process_sort_index","args":{"sort_index":-5}}
 *
 * The table `kinds` lists the names that have a meaning; each sets a field of the process, the
 * thread or the trace.  When several events set one field, the last in the file counts, except for
 * labels, which add up, and the number of processors, of which the largest counts.  An event of
 * another name becomes metadata of the input and is diagnosed, except for V8's events about code
 * (v8.c).  Tables of stack frames stay among the rows for samples.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/embedded.h"
#include "readers/etw.h"
#include "readers/json/json.h"
#include "readers/readers.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/join/join.h"
#include "readers/trace_event/trace_event.h"

/* A longer value is replaced by its length and place: it can be read in the file. */
#define LONGEST_VALUE ((uint64_t)1 << 20)

struct te_metadata_target {
    struct tv_te_context *context;
    struct tv_trace_info *head;
    double cpus; /* the largest number seen; 0: none */
};

/* ---- Values as text ---- */

/* Add metadata of the input: strings as their text, other values as strict JSON. */
static void te_metadata_add(struct tv_te_context *context, struct tv_bytes key,
                            struct tv_bytes value)
{
    struct tv_te_scratch scratch = {NULL, 0};
    struct tv_trace_info *head = context->trace->head;
    uint32_t key_string = tv_trace_info_string(head, tv_te_decode_text(key, &scratch));
    key = tv_trace_info_text(head, key_string);
    if (tv_te_is_string(value)) {
        tv_trace_info_add_metadata(head, context->input, key, tv_te_decode_text(value, &scratch));
    } else {
        struct tv_out out;
        tv_out_init_memory(&out);
        /* Normalized, the same value is the same text however the file writes it. */
        tv_json_normalise(value, &out, NULL);
        tv_trace_info_add_metadata(head, context->input, key,
                                   (struct tv_bytes){out.buffer, out.length});
        tv_out_release(&out);
    }
    tv_te_scratch_release(&scratch);
}

/* Add a value that is too long, as its length and place. */
static void te_metadata_add_long(struct tv_te_context *context, struct tv_bytes key,
                                 struct tv_te_extent extent)
{
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_format(&out, "(%llu bytes at byte %llu)", (unsigned long long)extent.length,
                  (unsigned long long)extent.offset);
    struct tv_te_scratch scratch = {NULL, 0};
    tv_trace_info_add_metadata(context->trace->head, context->input,
                               tv_te_decode_text(key, &scratch),
                               (struct tv_bytes){out.buffer, out.length});
    tv_te_scratch_release(&scratch);
    tv_out_release(&out);
}

/* ---- Metadata events ---- */

static uint32_t te_metadata_string(struct te_metadata_target *applying, struct tv_bytes raw)
{
    return tv_trace_info_string(applying->head,
                                tv_te_decode_text(raw, &applying->context->scratch));
}

static bool te_metadata_name_process(struct te_metadata_target *applying,
                                     const struct tv_te_deferred *event, struct tv_bytes args)
{
    struct tv_bytes name = tv_te_member(args, "name");
    if (name.data)
        applying->head->processes[event->process].name = te_metadata_string(applying, name);
    return name.data;
}

static bool te_metadata_name_thread(struct te_metadata_target *applying,
                                    const struct tv_te_deferred *event, struct tv_bytes args)
{
    struct tv_bytes name = tv_te_member(args, "name");
    if (event->thread == TV_NONE) /* the file has changed since its first reading */
        return false;
    if (name.data)
        applying->head->threads[event->thread].name = te_metadata_string(applying, name);
    return name.data;
}

/* Append a label, separated by ", ", unless it is there. */
static void te_metadata_add_label(struct tv_out *labels, struct tv_bytes label)
{
    struct tv_bytes rest = {labels->buffer, labels->length}, known;
    bool more = labels->length > 0;
    while (more) {
        more = tv_bytes_split(&rest, ',', &known);
        if (tv_bytes_equal(tv_bytes_trim(known), label))
            return;
    }
    if (labels->length > 0)
        tv_out_text(labels, ", ");
    tv_out_bytes(labels, label);
}

/* Each label is compared with all before it. */
#define MAX_LABELS 1000u

/* Add labels to those of other events, without duplicates. */
static bool te_metadata_label_process(struct te_metadata_target *applying,
                                      const struct tv_te_deferred *event, struct tv_bytes args)
{
    struct tv_bytes raw = tv_te_member(args, "labels"), label;
    struct tv_process *process = &applying->head->processes[event->process];
    struct tv_out labels;
    if (!raw.data)
        return false;
    tv_out_init_memory(&labels);
    tv_out_bytes(&labels, tv_trace_info_text(applying->head, process->labels));
    struct tv_bytes text = tv_te_decode_text(raw, &applying->context->scratch);
    bool more = true;
    for (unsigned i = 0; more && i < MAX_LABELS && labels.length < LONGEST_VALUE; i++) {
        more = tv_bytes_split(&text, ',', &label);
        label = tv_bytes_trim(label);
        if (label.length > 0)
            te_metadata_add_label(&labels, label);
    }
    process->labels =
        tv_trace_info_string(applying->head, (struct tv_bytes){labels.buffer, labels.length});
    tv_out_release(&labels);
    return true;
}

/* Read a sort index; one of any size is accepted. */
static bool te_metadata_sort_index(struct tv_bytes args, int64_t *index)
{
    double number;
    struct tv_bytes raw = tv_te_member(args, "sort_index");
    if (tv_te_parse_integer(raw, index))
        return true;
    if (!tv_te_parse_number(raw, &number) || !(fabs(number) < 1e15))
        return false;
    *index = (int64_t)number;
    return true;
}

static bool te_metadata_order_process(struct te_metadata_target *applying,
                                      const struct tv_te_deferred *event, struct tv_bytes args)
{
    return te_metadata_sort_index(args, &applying->head->processes[event->process].sort_index);
}

static bool te_metadata_order_thread(struct te_metadata_target *applying,
                                     const struct tv_te_deferred *event, struct tv_bytes args)
{
    return event->thread != TV_NONE &&
           te_metadata_sort_index(args, &applying->head->threads[event->thread].sort_index);
}

#define NS_PER_S 1e9

/* Set the uptime, which the event has in seconds.  More than 1e9 s, which are 31 years, are
 * refused: the nanoseconds of an int64_t end at 9.2e9 s. */
static bool te_metadata_set_uptime(struct te_metadata_target *applying,
                                   const struct tv_te_deferred *event, struct tv_bytes args)
{
    double seconds;
    if (!tv_te_parse_number(tv_te_member(args, "uptime"), &seconds) || !(seconds >= 0) ||
        seconds > 1e9)
        return false;
    applying->head->processes[event->process].uptime = (tv_ns)(seconds * NS_PER_S);
    return true;
}

/* Keep the largest number of processors that any process reports. */
static bool te_metadata_count_cpus(struct te_metadata_target *applying,
                                   const struct tv_te_deferred *event, struct tv_bytes args)
{
    double number;
    (void)event;
    if (!tv_te_parse_number(tv_te_member(args, "number"), &number) || !isfinite(number))
        return false;
    if (number > applying->cpus)
        applying->cpus = number;
    return true;
}

static bool te_metadata_add_config(struct te_metadata_target *applying,
                                   const struct tv_te_deferred *event, struct tv_bytes args)
{
    struct tv_bytes value = tv_te_member(args, "value");
    (void)event;
    if (value.data)
        te_metadata_add(applying->context, TV_BYTES("\"TraceConfig\""), value);
    return value.data;
}

static const struct {
    struct tv_bytes name;
    bool (*apply)(struct te_metadata_target *applying, const struct tv_te_deferred *event,
                  struct tv_bytes args);
} kinds[] = {
#define KIND(name, apply)                                                                          \
    {                                                                                              \
        {(const uint8_t *)("\"" name "\""), sizeof(name) + 1}, apply                               \
    }
    KIND("process_name", te_metadata_name_process),
    KIND("thread_name", te_metadata_name_thread),
    KIND("process_labels", te_metadata_label_process),
    KIND("process_sort_index", te_metadata_order_process),
    KIND("thread_sort_index", te_metadata_order_thread),
    KIND("process_uptime_seconds", te_metadata_set_uptime),
    KIND("num_cpus", te_metadata_count_cpus),
    KIND("TraceConfig", te_metadata_add_config),
#undef KIND
};

/* Apply an event to its process or thread.  One of unknown name becomes metadata of the input. */
static void te_metadata_apply(struct te_metadata_target *applying,
                              const struct tv_te_deferred *event, const struct tv_te_fields *fields)
{
    struct tv_te_context *context = applying->context;
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (tv_bytes_equal(fields->name, kinds[i].name)) {
            if (!kinds[i].apply(applying, event, fields->args))
                tv_te_warn(context, TV_DIAGNOSTIC_METADATA_BAD, event->offset);
            return;
        }
    if (!tv_te_code_is_name(fields->name))
        tv_te_warn(context, TV_DIAGNOSTIC_METADATA_UNKNOWN, event->offset);
    struct tv_bytes name = fields->name.data ? fields->name : TV_BYTES("[No name]");
    if (fields->args.length > LONGEST_VALUE)
        te_metadata_add_long(context, name,
                             (struct tv_te_extent){event->offset, fields->args.length});
    else
        te_metadata_add(context, name, fields->args);
}

/* True for tables of stack frames, which samples.c reads. */
static bool te_metadata_is_frame_table(const struct tv_te_fields *fields)
{
    return tv_bytes_equal(fields->name, TV_BYTES("\"stackFrames\"")) ||
           tv_bytes_equal(fields->name, TV_BYTES("\"typeNames\""));
}

size_t tv_te_metadata_events(struct tv_te_context *context, struct tv_te_deferred *rows,
                             size_t count)
{
    struct te_metadata_target applying = {context, context->trace->head, 0};
    struct tv_te_fields fields;
    size_t tables = 0;
    for (size_t i = 0; i < count; i++) {
        if (!tv_te_event_read(context, rows[i].offset, &fields))
            continue;
        const struct tv_te_deferred row = rows[i];
        bool table = te_metadata_is_frame_table(&fields);
        if (table || tv_te_code_is_name(fields.name))
            rows[tables++] = row;
        if (!table)
            te_metadata_apply(&applying, &row, &fields);
    }
    if (applying.cpus > 0) {
        struct tv_out out;
        tv_out_init_memory(&out);
        tv_out_format(&out, "%.15g", applying.cpus);
        tv_trace_info_add_metadata(applying.head, context->input, TV_BYTES("num_cpus"),
                                   (struct tv_bytes){out.buffer, out.length});
        tv_out_release(&out);
    }
    return tables;
}

/* ---- Keys beside the events ---- */

/* Read "displayTimeUnit". */
static void te_metadata_set_unit(struct tv_te_context *context, struct tv_te_extent extent)
{
    static const char *const units[] = {"ms", "ns", "us"};
    struct tv_bytes raw = tv_te_extent_read(context, extent);
    struct tv_bytes text = tv_te_decode_text(raw, &context->scratch);
    for (size_t i = 0; i < TV_COUNT(units); i++)
        if (tv_te_is_string(raw) && tv_bytes_equal(text, tv_bytes_of(units[i]))) {
            context->trace->head->inputs[context->input].unit = units[i];
            if (units[i][0] == 'u') /* VizTracer writes "us"; Trace Viewer refuses such a file */
                tv_te_warn(context, TV_DIAGNOSTIC_ODD_UNIT, extent.offset);
            return;
        }
    if (text.length > 0)
        tv_te_warn(context, TV_DIAGNOSTIC_BAD_UNIT, extent.offset);
}

static bool te_metadata_member_is(const struct tv_te_top_member *member, const char *key)
{
    return tv_te_key_is((struct tv_bytes){(const uint8_t *)member->key, member->key_length}, key);
}

/* Add a member beside the events as metadata. */
static void te_metadata_add_member(struct tv_te_context *context,
                                   const struct tv_te_top_member *member)
{
    struct tv_bytes key = {(const uint8_t *)member->key, member->key_length};
    struct tv_te_extent value = member->value;
    if (te_metadata_member_is(member, "convertedFrom"))
        tv_te_file_ends_read(context, tv_te_extent_read(context, value));
    if (tv_te_embedded_is(member) || value.length > LONGEST_VALUE) {
        te_metadata_add_long(context, key, value);
    } else {
        struct tv_bytes text = tv_te_extent_read(context, value);
        if (tv_json_is_too_deep(text))
            tv_te_warn(context, TV_DIAGNOSTIC_TOO_NESTED, value.offset);
        te_metadata_add(context, key, text);
    }
}

/* Read what our recorder writes beside its samples: their interval, and that weights are times. */
static void te_metadata_read_sampling(struct tv_te_context *context,
                                      const struct tv_te_top_member *member)
{
    struct tv_input *input = &context->trace->head->inputs[context->input];
    struct tv_bytes data = tv_te_extent_read(context, member->value);
    struct tv_bytes unit = tv_te_member(data, "sample-weight-unit");
    struct tv_bytes interval = tv_te_member(data, "sampling-interval-ns");
    int64_t ns;
    if (!tv_bytes_equal(unit, TV_BYTES("\"ns\"")) || !tv_te_is_string(interval) ||
        !tv_parse_i64(tv_te_decode_text(interval, &context->scratch), &ns) || ns <= 0)
        return;
    input->figures = TV_FIGURES_SAMPLED;
    input->sampled_ns = ns;
}

void tv_te_metadata_members(struct tv_te_context *context, const struct tv_te_container *container)
{
    for (size_t i = 0; i < container->member_count; i++) {
        const struct tv_te_top_member *member = &container->members[i];
        if (te_metadata_member_is(member, "displayTimeUnit"))
            te_metadata_set_unit(context, member->value);
        else if (te_metadata_member_is(member, "stackFrames"))
            context->stacks.frames = member->value;
        else if (te_metadata_member_is(member, "samples"))
            context->stacks.samples = member->value;
        else
            te_metadata_add_member(context, member);
        if (te_metadata_member_is(member, "otherData") && member->value.length <= LONGEST_VALUE)
            te_metadata_read_sampling(context, member);
    }
}

static const char *const keys[] = {
    "systemTraceEvents",
    "powerTraceAsString",
    "androidProcessDump",
    "cgroupDump",
};

static struct tv_bytes te_embedded_key(const struct tv_te_top_member *member)
{
    return tv_te_key_unquote((struct tv_bytes){(const uint8_t *)member->key, member->key_length});
}

/* Machines of embedded traces with numbered keys begin here, far from those of files. */
#define MACHINES UINT32_C(0x80000000)

/* The key, perhaps with a number: "cgroupDump+2" is a second dump, "cgroupDump2" that of another
 * machine. */
bool tv_te_embedded_is(const struct tv_te_top_member *member)
{
    struct tv_bytes key = te_embedded_key(member);
    for (size_t i = 0; i < TV_COUNT(keys); i++) {
        size_t at = strlen(keys[i]);
        if (!tv_bytes_starts_with(key, tv_bytes_of(keys[i])))
            continue;
        at += at < key.length && key.data[at] == '+';
        while (at < key.length && key.data[at] >= '0' && key.data[at] <= '9')
            at++;
        if (at == key.length)
            return true;
    }
    return false;
}

/* Name the input after the file and the key. */
static void te_embedded_name_input(const struct tv_te_context *context,
                                   const struct tv_te_top_member *member, char *name, size_t size)
{
    struct tv_bytes key = te_embedded_key(member);
    snprintf(name, size, "%s: %.*s", tv_source_name(context->source), (int)key.length,
             (const char *)key.data);
}

/* ---- The text as a source ---- */

/* Open the string as a source "app.json: systemTraceEvents", with its escapes resolved; NULL: it
 * cannot be read. */
static struct tv_source *te_embedded_open(struct tv_te_context *context,
                                          const struct tv_te_top_member *member)
{
    struct tv_bytes raw = tv_te_extent_read(context, member->value);
    if (!tv_te_is_string(raw))
        return NULL;
    char name[1024];
    te_embedded_name_input(context, member, name, sizeof name);
    return tv_embedded_open(tv_te_decode_text(raw, &context->scratch), name);
}

/* ---- Reading the embedded traces ---- */

/* Accept formats that are assembled, but not JSON, so that no trace contains itself, and not
 * collapsed stacks: other text looks like them. */
static bool te_embedded_is_readable(struct tv_source *source)
{
    struct tv_error reason;
    const struct tv_reader *reader = tv_readers_find(source, &reason);
    return reader && reader->assemble && reader != &tv_reader_trace_event &&
           reader != &tv_reader_collapsed;
}

/* Read the object that Chrome on Windows writes. */
static bool te_embedded_read_etw(struct tv_te_context *context,
                                 const struct tv_te_top_member *member, struct tv_builder *builder)
{
    char name[1024];
    struct tv_bytes raw = tv_te_extent_read(context, member->value);
    struct tv_etw_place place = {name, context->input};
    te_embedded_name_input(context, member, name, sizeof name);
    return tv_etw_is(raw) && tv_etw_build(raw, &place, builder);
}

/* True when the key ends with a number that no '+' precedes. */
static bool te_embedded_is_other_machine(const struct tv_te_top_member *member)
{
    struct tv_bytes key = te_embedded_key(member);
    uint8_t last = key.data[key.length - 1];
    return last >= '0' && last <= '9' && !memchr(key.data, '+', key.length);
}

/* Put the inputs and processes from these numbers on, if they are of another machine, on a machine
 * of their own. */
static void te_embedded_set_machine(struct tv_te_context *context,
                                    const struct tv_te_top_member *member, uint32_t first_input,
                                    uint32_t first_process)
{
    struct tv_trace_info *head = context->trace->head;
    uint32_t machine = MACHINES + head->input_count;
    if (!te_embedded_is_other_machine(member))
        return;
    for (uint32_t i = first_input; i < head->input_count; i++)
        head->inputs[i].machine = machine;
    for (uint32_t i = first_process; i < head->process_count; i++)
        head->processes[i].machine = machine;
}

/* Read one embedded trace, if any reader knows its format. */
static enum tv_status te_embedded_read_member(struct tv_te_context *context,
                                              const struct tv_te_top_member *member,
                                              struct tv_builder *builder, struct tv_error *err)
{
    if (tv_bytes_equal(tv_te_extent_read(context, member->value), TV_BYTES("\"\"")))
        return TV_OK; /* nothing was recorded */
    if (te_embedded_read_etw(context, member, builder))
        return TV_OK;
    struct tv_source *source = te_embedded_open(context, member);
    if (!source || !te_embedded_is_readable(source)) {
        tv_te_warn(context, TV_DIAGNOSTIC_SUBTRACE_UNREAD, member->value.offset);
        tv_source_free(source);
        return TV_OK;
    }
    return tv_embedded_build(source, builder, context->trace, context->options, err);
}

enum tv_status tv_te_embedded_read(struct tv_te_context *context,
                                   const struct tv_te_container *container,
                                   struct tv_builder *builder, struct tv_error *err)
{
    for (size_t i = 0; i < container->member_count; i++) {
        if (!tv_te_embedded_is(&container->members[i]))
            continue;
        const struct tv_trace_info *head = context->trace->head;
        uint32_t first_input = head->input_count, first_process = head->process_count;
        enum tv_status status =
            te_embedded_read_member(context, &container->members[i], builder, err);
        te_embedded_set_machine(context, &container->members[i], first_input, first_process);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_labels.c - labels of a pprof sample: which thread and process it belongs to, when it was
 * taken, and, when somebody looks at the sample, all of them as JSON.
 *
 *     label {1 key "thread", 2 text "main"}                 --> thread named main
 *     label {1 key "tid", 3 number 4711}                    --> its id
 *     label {1 key "bytes", 3 number 512, 4 unit "bytes"}   --> {"args": {"bytes": "512 bytes"}}
 *
 * pprof has no threads, and each writer has keys of its own. A role is looked up once per string of
 * the file: roles[key] is 0 (other) for nearly all. If no string is a known key, labels are not
 * even parsed.
 *
 * A thread without an id is known by its name; without either, all samples of a process are in one
 * thread "all".
 */
#include "readers/pprof/sample_labels.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "base/sort.h"

/* Keys as the writers spell them: Go programs, async-profiler, Datadog, Pyroscope, traceview; and
 * OpenTelemetry's, with dots. */
static const struct {
    const char *key;
    enum tv_label_role role;
} known_labels[] = {
    {"thread", TV_LABEL_THREAD_NAME},      {"thread name", TV_LABEL_THREAD_NAME},
    {"thread_name", TV_LABEL_THREAD_NAME}, {"thread.name", TV_LABEL_THREAD_NAME},
    {"thread id", TV_LABEL_THREAD_ID},     {"thread_id", TV_LABEL_THREAD_ID},
    {"thread.id", TV_LABEL_THREAD_ID},     {"tid", TV_LABEL_THREAD_ID},
    {"process", TV_LABEL_PROCESS_NAME},    {"process.executable.name", TV_LABEL_PROCESS_NAME},
    {"process_id", TV_LABEL_PROCESS_ID},   {"process id", TV_LABEL_PROCESS_ID},
    {"process.pid", TV_LABEL_PROCESS_ID},  {"pid", TV_LABEL_PROCESS_ID},
    {"cpu.logical_number", TV_LABEL_CPU},  {"end_timestamp_ns", TV_LABEL_END_TIME},
};

#define LONGEST_KEY 23

enum tv_label_role tv_label_find_role(struct tv_bytes key)
{
    for (size_t i = 0; key.length <= LONGEST_KEY && i < TV_COUNT(known_labels); i++)
        if (tv_bytes_equal(key, tv_bytes_of(known_labels[i].key)))
            return known_labels[i].role;
    return TV_LABEL_OTHER;
}

void tv_sample_labels_init(struct tv_sample_labels *labels, const struct tv_bytes *strings,
                           size_t count)
{
    *labels = (struct tv_sample_labels){
        .strings = strings, .string_count = count, .last_thread = TV_NONE};
    tv_map_init(&labels->unnamed_threads);
    for (size_t i = 1; i < count; i++) {
        enum tv_label_role role = tv_label_find_role(strings[i]);
        if (role == TV_LABEL_OTHER)
            continue;
        if (!labels->roles)
            labels->roles = tv_alloc(count, 1);
        labels->roles[i] = (uint8_t)role;
        labels->has_times |= role == TV_LABEL_END_TIME;
    }
}

void tv_sample_labels_release(struct tv_sample_labels *labels)
{
    tv_map_release(&labels->unnamed_threads);
    tv_free(labels->roles);
}

void tv_sample_labels_begin(struct tv_sample_labels *labels)
{
    labels->tid = labels->pid = 0;
    labels->name = labels->process = (struct tv_bytes){NULL, 0};
    labels->cpu = TV_NONE;
    labels->end_time = 0;
    labels->has_tid = labels->timed = false;
}

/* A Label message. */
struct sample_label {
    uint64_t key, text, number, unit; /* strings of the file, but for the number */
};

/* Parse a label; false: it is damaged, and has the fields before the damage. */
static bool sample_label_parse(struct tv_bytes message, struct sample_label *label)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    *label = (struct sample_label){.key = 0};
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            label->key = field.value;
        else if (field.number == 2)
            label->text = field.value;
        else if (field.number == 3)
            label->number = field.value;
        else if (field.number == 4)
            label->unit = field.value;
    }
    return tv_protobuf_is_sound(&cursor);
}

static struct tv_bytes sample_labels_text(const struct tv_sample_labels *labels, uint64_t string)
{
    return string > 0 && string < labels->string_count ? labels->strings[string] : TV_BYTES("");
}

/* Return the number of an id, which may be a text. */
static bool sample_label_parse_id(struct tv_bytes text, uint64_t number, uint64_t *id)
{
    if (text.length > 0)
        return tv_parse_u64(text, id);
    *id = number;
    return true;
}

void tv_sample_labels_set(struct tv_sample_labels *labels, enum tv_label_role role,
                          struct tv_bytes text, uint64_t number)
{
    switch (role) {
    case TV_LABEL_OTHER:
        break;
    case TV_LABEL_THREAD_NAME:
        labels->name = text;
        break;
    case TV_LABEL_THREAD_ID:
        labels->has_tid = sample_label_parse_id(text, number, &labels->tid);
        if (!labels->has_tid && labels->name.length == 0)
            labels->name = text;
        break;
    case TV_LABEL_PROCESS_NAME:
        labels->process = text;
        break;
    case TV_LABEL_PROCESS_ID:
        sample_label_parse_id(text, number, &labels->pid);
        break;
    case TV_LABEL_CPU:
        labels->cpu = text.length == 0 && number < TV_NONE ? (uint32_t)number : TV_NONE;
        break;
    case TV_LABEL_END_TIME:
        labels->end_time = (tv_ns)number;
        labels->timed = true;
        break;
    }
}

void tv_sample_labels_take(struct tv_sample_labels *labels, struct tv_bytes message)
{
    struct sample_label label;
    if (!labels->roles)
        return;
    sample_label_parse(message, &label);
    if (label.key < labels->string_count)
        tv_sample_labels_set(labels, (enum tv_label_role)labels->roles[label.key],
                             sample_labels_text(labels, label.text), label.number);
}

static uint32_t sample_labels_find_thread(struct tv_sample_labels *labels,
                                          struct tv_profile_input *profile)
{
    uint32_t process = tv_profile_process(profile, labels->pid, labels->process);
    if (labels->has_tid)
        return tv_profile_thread(profile, process, labels->tid, labels->name);
    if (labels->name.length > 0)
        return tv_profile_named_thread(profile, process, labels->name);
    uint32_t thread = tv_map_find(&labels->unnamed_threads, process);
    if (thread == TV_NONE) {
        struct tv_thread all = {.name = tv_profile_string(profile, TV_BYTES("all")),
                                .process = process,
                                .input = profile->input,
                                .listed = true};
        thread = tv_trace_info_add_thread(profile->info, &all);
        tv_map_set(&labels->unnamed_threads, process, thread);
    }
    return thread;
}

/* Consecutive samples mostly have the same thread. Texts are views of the same strings, so their
 * addresses are compared. */
uint32_t tv_sample_labels_thread(struct tv_sample_labels *labels, struct tv_profile_input *profile)
{
    uint64_t key[] = {labels->has_tid ? labels->tid : UINT64_MAX, labels->pid,
                      (uintptr_t)labels->name.data, (uintptr_t)labels->process.data};
    if (labels->last_thread == TV_NONE || memcmp(key, labels->last_key, sizeof key) != 0) {
        labels->last_thread = sample_labels_find_thread(labels, profile);
        memcpy(labels->last_key, key, sizeof key);
    }
    return labels->last_thread;
}

/* ---- A sample read again ---- */

/* Maximum number of labels and values of a sample that are shown. */
#define SHOWN_LABELS 1000

/* A file whose samples are read again: filters ask for one after another. */
struct shown_profile {
    struct tv_source *source; /* NULL: nothing is open */
    struct tv_profile_text text;
    struct tv_bytes *strings, *samples; /* messages of samples, in the order of the file */
    size_t string_count, string_capacity, sample_count, sample_capacity;
};

/* Receives the labels of a sample. */
struct label_visitor {
    void (*take)(void *context, const struct tv_sample_label *label);
    void *context;
};

struct shown_sample {
    struct tv_out *out;
    size_t count;
    bool any;
};

static void shown_sample_put_key(struct shown_sample *shown, struct tv_bytes key)
{
    if (shown->any)
        tv_out_char(shown->out, ',');
    shown->any = true;
    tv_out_json(shown->out, key);
    tv_out_char(shown->out, ':');
}

/* Write "key": "text", or "key": number, or "key": "number unit". */
static void shown_sample_put_label(void *context, const struct tv_sample_label *label)
{
    struct shown_sample *shown = context;
    if (shown->count++ >= SHOWN_LABELS)
        return;
    shown_sample_put_key(shown, label->key);
    if (label->text.length > 0) {
        tv_out_json(shown->out, label->text);
    } else if (label->unit.length == 0) {
        tv_out_i64(shown->out, label->number);
    } else {
        struct tv_out text;
        tv_out_init_memory(&text);
        tv_out_i64(&text, label->number);
        tv_out_char(&text, ' ');
        tv_out_bytes(&text, label->unit);
        tv_out_json(shown->out, (struct tv_bytes){text.buffer, text.length});
        tv_out_release(&text);
    }
}

static void shown_profile_release(struct shown_profile *profile)
{
    if (!profile->source)
        return;
    tv_free(profile->strings);
    tv_free(profile->samples);
    tv_profile_text_release(&profile->text);
    tv_source_free(profile->source);
    *profile = (struct shown_profile){.source = NULL};
}

/* Open a file, unless it is the one that is open: collect its strings and samples. */
static enum tv_status shown_profile_open(struct shown_profile *profile, struct tv_source *source,
                                         struct tv_error *err)
{
    struct tv_protobuf_field field;
    if (profile->source == source)
        return TV_OK;
    shown_profile_release(profile);
    enum tv_status status = tv_profile_text_read(source, &profile->text, err);
    if (status != TV_OK)
        return status;
    profile->source = tv_source_ref(source);
    struct tv_cursor cursor = tv_cursor_over(profile->text.bytes);
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.wire != TV_PROTOBUF_BYTES || (field.number != 2 && field.number != 6))
            continue;
        bool sample = field.number == 2;
        struct tv_bytes **list = sample ? &profile->samples : &profile->strings;
        size_t *count = sample ? &profile->sample_count : &profile->string_count;
        size_t *capacity = sample ? &profile->sample_capacity : &profile->string_capacity;
        *list = tv_array_reserve(*list, capacity, *count + 1, sizeof **list);
        (*list)[(*count)++] = field.bytes;
    }
    return TV_OK;
}

/* Return the sample at an offset, or NULL. */
static const struct tv_bytes *shown_profile_find(const struct shown_profile *profile,
                                                 uint64_t offset)
{
    const uint8_t *start = profile->text.bytes.data;
    size_t low = 0;
    TV_LOWER_BOUND(low, profile->sample_count, i,
                   (uint64_t)(profile->samples[i].data - start) < offset);
    return low < profile->sample_count && (uint64_t)(profile->samples[low].data - start) == offset
               ? &profile->samples[low]
               : NULL;
}

/* Visit all labels of a sample. */
static void shown_profile_visit_labels(const struct shown_profile *profile, struct tv_bytes message,
                                       const struct label_visitor *visitor)
{
    const struct tv_sample_labels labels = {.strings = profile->strings,
                                            .string_count = profile->string_count};
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (tv_protobuf_next(&cursor, &field)) {
        struct sample_label parsed;
        if (field.number != 3 || field.wire != TV_PROTOBUF_BYTES)
            continue;
        (void)sample_label_parse(field.bytes, &parsed);
        const struct tv_sample_label label = {
            sample_labels_text(&labels, parsed.key), sample_labels_text(&labels, parsed.text),
            sample_labels_text(&labels, parsed.unit), (int64_t)parsed.number};
        visitor->take(visitor->context, &label);
    }
}

static enum tv_status shown_profile_visit(struct shown_profile *profile, struct tv_source *source,
                                          uint64_t offset, const struct label_visitor *visitor,
                                          struct tv_error *err)
{
    enum tv_status status = shown_profile_open(profile, source, err);
    if (status != TV_OK)
        return status;
    const struct tv_bytes *message = shown_profile_find(profile, offset);
    if (!message)
        return tv_fail(err, TV_ERR_SYNTAX, offset, "expected a sample");
    shown_profile_visit_labels(profile, *message, visitor);
    return TV_OK;
}

/* The last file stays open, as that of a recording does (jfr/describe.c).  Whoever finds it in use
 * by another thread opens the file for itself. */
enum tv_status tv_sample_labels_read(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                     void (*take)(void *context,
                                                  const struct tv_sample_label *label),
                                     void *context, struct tv_error *err)
{
    static struct shown_profile last;
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    struct tv_source *source = trace->head->inputs[input].source;
    const struct label_visitor visitor = {take, context};
    if (atomic_flag_test_and_set(&busy)) {
        struct shown_profile own = {.source = NULL};
        enum tv_status status = shown_profile_visit(&own, source, offset, &visitor, err);
        shown_profile_release(&own);
        return status;
    }
    enum tv_status status = shown_profile_visit(&last, source, offset, &visitor, err);
    atomic_flag_clear(&busy);
    return status;
}

enum tv_status tv_sample_labels_describe(const struct tv_trace *trace, uint32_t input,
                                         uint64_t offset, uint64_t end_offset, struct tv_out *out,
                                         struct tv_error *err)
{
    struct tv_out labels;
    struct shown_sample shown = {.out = &labels};
    (void)end_offset;
    tv_out_init_memory(&labels);
    enum tv_status status =
        tv_sample_labels_read(trace, input, offset, shown_sample_put_label, &shown, err);
    if (status == TV_OK) {
        tv_out_text(out, "{\"args\":{");
        tv_out_bytes(out, (struct tv_bytes){labels.buffer, labels.length});
        tv_out_text(out, "}}");
    }
    tv_out_release(&labels);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_samples.c - samples: phase P, and the array "samples" of the whole file (trace-event.md
 * section 3.9). What V8 writes is read by te_profile.c.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "readers/te_ids.h"
#include "readers/te_profile.h"
#include "readers/te_stacks.h"

struct joining {
    struct tv_te_context *context;
    struct tv_te_stacks stacks;
    struct tv_te_profiles *profiles;
    struct tv_map threads; /* string of a tid -> thread, of whatever process */
    struct tv_te_key text;
    bool threads_known;
};

/* The stack of an event: "sf" in the tables, or "stack" as it is; else its own name. */
static uint32_t event_path(struct joining *joining, const struct tv_te_loose *event,
                           const struct tv_te_fields *fields)
{
    struct tv_trace *trace = joining->context->trace;
    uint32_t path = TV_NONE;
    if (fields->sf.data != NULL) {
        path = tv_te_stacks_find(&joining->stacks, fields->sf, event->process);
        if (path == TV_NONE)
            tv_te_warn(joining->context, TV_DIAGNOSTIC_STACK_UNKNOWN, event->offset);
    } else if (fields->stack.data != NULL) {
        path = tv_te_stacks_path(&joining->stacks, fields->stack);
    }
    if (path == TV_NONE || path == TV_ROOT_PATH)
        path = tv_paths_child(&trace->paths, TV_ROOT_PATH, event->frame);
    return path;
}

/* V8's samples of old have addresses, the leaf first, or only a state ("gc"). */
static uint32_t v8_path(struct joining *joining, const struct tv_te_fields *fields)
{
    struct tv_trace *trace = joining->context->trace;
    struct tv_bytes data = tv_te_member(fields->args, "data");
    uint32_t path = tv_te_stacks_path_up(&joining->stacks, tv_te_member(data, "stack"));
    if (path != TV_ROOT_PATH)
        return path;
    struct tv_bytes state = tv_te_text(tv_te_member(data, "vm_state"), &joining->context->scratch);
    struct tv_frame frame = {.name = tv_head_string(trace->head, state)};
    return state.length == 0 ? TV_ROOT_PATH
                             : tv_paths_child(&trace->paths, TV_ROOT_PATH,
                                              tv_head_add_frame(trace->head, &frame));
}

static bool is_v8_sample(const struct tv_te_context *context, const struct tv_te_loose *event)
{
    const struct tv_head *head = context->trace->head;
    return tv_bytes_equal(tv_head_text(head, head->frames[event->frame].name),
                          TV_BYTES("V8Sample"));
}

static void take_event(struct joining *joining, const struct tv_te_loose *event)
{
    struct tv_te_context *context = joining->context;
    struct tv_te_fields fields;
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    if (tv_te_profiles_take(joining->profiles, event, &fields))
        return;
    bool v8 = is_v8_sample(context, event);
    uint32_t path = v8 ? v8_path(joining, &fields) : event_path(joining, event, &fields);
    struct tv_bytes title = v8 ? TV_BYTES("V8 Sample") : TV_BYTES("Trace Event Sample");
    struct tv_sample *sample = tv_table_add(&context->trace->tables.samples);
    *sample = (struct tv_sample){
        .time = event->time,
        .weight = 1,
        .offset = event->offset,
        .thread = event->thread,
        .cpu = TV_NONE,
        .path = path,
        .title = tv_head_string(context->trace->head, title),
        .input = context->input,
    };
}

/* Threads by their tid alone: the last of several counts. */
static void know_threads(struct joining *joining)
{
    struct tv_head *head = joining->context->trace->head;
    joining->threads_known = true;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->input != joining->context->input)
            continue;
        joining->text.length = 0;
        tv_te_key_add_tid(&joining->text, head, i);
        tv_map_set(&joining->threads, tv_head_string(head, tv_te_key_text(&joining->text)), i);
    }
}

/* The thread of a sample. When the file has no threads at all, its process has the same id. */
static uint32_t find_thread(struct joining *joining, struct tv_bytes tid, uint64_t offset)
{
    struct tv_te_context *context = joining->context;
    struct tv_bytes text = tv_te_text(tid, &context->scratch);
    if (!joining->threads_known)
        know_threads(joining);
    uint32_t string = tv_head_string(context->trace->head, text);
    uint32_t thread = tv_map_find(&joining->threads, string);
    if (thread != TV_NONE || tid.data == NULL || !context->nothing) {
        if (thread == TV_NONE)
            tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_THREAD, offset);
        return thread;
    }
    thread = tv_te_thread(&context->threads, tv_te_process(&context->threads, tid), tid, tid);
    tv_map_set(&joining->threads, string, thread);
    return thread;
}

static void take_sample(struct joining *joining, const struct tv_te_fields *fields, uint64_t offset)
{
    struct tv_te_context *context = joining->context;
    struct tv_sample sample = {.weight = 1, .offset = offset, .cpu = TV_NONE};
    int64_t cpu;
    if (!tv_te_time(fields->ts, &sample.time)) {
        tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
        return;
    }
    sample.thread = find_thread(joining, fields->tid, offset);
    sample.path = tv_te_stacks_find(&joining->stacks, fields->sf, TV_NONE);
    if (sample.path == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
        sample.path = TV_ROOT_PATH;
    }
    if (!tv_te_integer(fields->weight, &sample.weight))
        sample.weight = 1;
    if (tv_te_integer(fields->cpu, &cpu) && cpu >= 0 && cpu < TV_NONE)
        sample.cpu = (uint32_t)cpu;
    sample.title =
        tv_head_string(context->trace->head, tv_te_text(fields->name, &context->scratch));
    sample.input = context->input;
    *tv_table_add(&context->trace->tables.samples) = sample;
}

static void widen_to_samples(struct tv_te_context *context, size_t first)
{
    const struct tv_tables *tables = &context->trace->tables;
    for (size_t i = first; i < tables->samples.count; i++)
        tv_te_widen(context, tables->samples.rows[i].time);
}

static void take_samples(struct joining *joining)
{
    struct tv_te_context *context = joining->context;
    struct tv_bytes text = tv_te_stretch_read(context, context->samples), value;
    if (text.length == 0 || text.data[0] != '[')
        return;
    const uint8_t *at = text.data + 1, *end = text.data + text.length;
    while (tv_te_element_next(&at, end, &value)) {
        struct tv_te_fields fields;
        const uint8_t *behind;
        uint64_t offset = context->samples.offset + (uint64_t)(value.data - text.data);
        if (tv_te_fields_read(value.data, end, &fields, &behind) == TV_TE_READ)
            take_sample(joining, &fields, offset);
        else
            tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
    }
}

void tv_te_samples(struct tv_te_context *context)
{
    struct joining joining = {.context = context};
    size_t first = context->trace->tables.samples.count;
    tv_te_stacks_init(&joining.stacks, context);
    joining.profiles = tv_te_profiles_new(context);
    tv_map_init(&joining.threads);
    tv_te_profiles_begin(joining.profiles);
    for (size_t i = 0; i < context->loose_count; i++)
        if (context->loose[i].phase == 'P')
            take_event(&joining, &context->loose[i]);
    take_samples(&joining);
    widen_to_samples(context, first);
    tv_te_profiles_free(joining.profiles);
    tv_te_stacks_release(&joining.stacks);
    tv_map_release(&joining.threads);
    tv_te_key_release(&joining.text);
}

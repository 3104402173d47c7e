/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - samples: phase P, and the array "samples" of the whole file (trace-event.md
 * section 3.9). What V8 writes is read by profile.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "readers/trace_event/code.h"
#include "readers/trace_event/ids.h"
#include "readers/trace_event/profile.h"
#include "readers/trace_event/stacks.h"

/* A sample of V8's older kind. */
struct te_v8_sample {
    tv_ns time;
    size_t deferred;
};

struct te_samples_reading {
    struct tv_te_context *context;
    struct tv_te_code *code;
    TV_TABLE(te_v8_sample) v8;
    struct tv_te_stacks stacks;
    struct tv_te_profiles *profiles;
    struct tv_map threads; /* string of a tid -> thread, of whatever process */
    struct tv_te_id_key text;
    bool threads_known;
};

/* The stack of an event: "sf" in the tables, or "stack" as it is; else its own name. */
static uint32_t te_samples_event_path(struct te_samples_reading *reading, const struct tv_te_deferred *event,
                           const struct tv_te_fields *fields)
{
    struct tv_trace *trace = reading->context->trace;
    uint32_t path = TV_NONE;
    if (fields->sf.data != NULL) {
        path = tv_te_stacks_find(&reading->stacks, fields->sf, event->process);
        if (path == TV_NONE)
            tv_te_warn(reading->context, TV_DIAGNOSTIC_STACK_UNKNOWN, event->offset);
    } else if (fields->stack.data != NULL) {
        path = tv_te_stacks_path(&reading->stacks, fields->stack);
    }
    if (path == TV_NONE || path == TV_ROOT_PATH)
        path = tv_paths_child(&trace->paths, TV_ROOT_PATH, event->frame);
    return path;
}

/* What lies at an address, or the address; the leaf comes first. */
static uint32_t te_samples_address_path(struct te_samples_reading *reading, const struct tv_te_deferred *event,
                             struct tv_bytes stack)
{
    struct tv_te_context *context = reading->context;
    uint32_t *frames = NULL, path = TV_ROOT_PATH;
    size_t count = 0, capacity = 0;
    struct tv_bytes value;
    uint64_t address;
    if (stack.length == 0 || stack.data[0] != '[')
        return TV_ROOT_PATH;
    const uint8_t *at = stack.data + 1;
    while (tv_te_element_next(&at, stack.data + stack.length, &value)) {
        struct tv_bytes text = tv_te_decode_text(value, &context->scratch);
        frames = tv_array_reserve(frames, &capacity, count + 1, sizeof *frames);
        if (!tv_bytes_starts_with(text, TV_BYTES("0x")) || !tv_parse_hex(text, &address) ||
            !tv_te_code_find(reading->code, event->process, event->time, address, &frames[count])) {
            struct tv_frame frame = {.name = tv_head_string(context->trace->head, text)};
            frames[count] = tv_head_add_stack_frame(context->trace->head, &frame,
                                                    count > 0 ? TV_STACK_CALLER : TV_STACK_LEAF);
        }
        count++;
    }
    while (count-- > 0)
        path = tv_paths_child(&context->trace->paths, path, frames[count]);
    tv_free(frames);
    return path;
}

/* V8's samples of old have addresses, or only a state ("gc"). */
static uint32_t te_samples_v8_path(struct te_samples_reading *reading, const struct tv_te_deferred *event,
                        const struct tv_te_fields *fields)
{
    struct tv_trace *trace = reading->context->trace;
    struct tv_bytes data = tv_te_member(fields->args, "data");
    uint32_t path = te_samples_address_path(reading, event, tv_te_member(data, "stack"));
    if (path != TV_ROOT_PATH)
        return path;
    struct tv_bytes state = tv_te_decode_text(tv_te_member(data, "vm_state"), &reading->context->scratch);
    struct tv_frame frame = {.name = tv_head_string(trace->head, state)};
    return state.length == 0 ? TV_ROOT_PATH
                             : tv_paths_child(&trace->paths, TV_ROOT_PATH,
                                              tv_head_add_frame(trace->head, &frame));
}

static bool te_samples_is_v8(const struct tv_te_context *context, const struct tv_te_deferred *event)
{
    const struct tv_head *head = context->trace->head;
    return tv_bytes_equal(tv_head_text(head, head->frames[event->frame].name),
                          TV_BYTES("V8Sample"));
}

static void te_samples_add(struct tv_te_context *context, const struct tv_te_deferred *event,
                       uint32_t path, struct tv_bytes title)
{
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

static void te_samples_take_event(struct te_samples_reading *reading, size_t deferred)
{
    struct tv_te_context *context = reading->context;
    const struct tv_te_deferred *event = &context->deferred[deferred];
    struct tv_te_fields fields;
    if (te_samples_is_v8(context, event)) {
        *tv_table_add(&reading->v8) = (struct te_v8_sample){event->time, deferred};
        return;
    }
    if (!tv_te_event_read(context, event->offset, &fields) ||
        tv_te_profiles_take(reading->profiles, event, &fields))
        return;
    te_samples_add(context, event, te_samples_event_path(reading, event, &fields), TV_BYTES("Trace Event Sample"));
}

static int te_samples_compare_v8(const void *left, const void *right)
{
    const struct te_v8_sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->deferred > b->deferred) - (a->deferred < b->deferred);
}

/* By time, as code comes and goes. */
static void te_samples_take_v8(struct te_samples_reading *reading)
{
    struct tv_te_context *context = reading->context;
    struct tv_te_fields fields;
    if (reading->v8.count == 0)
        return;
    qsort(reading->v8.rows, reading->v8.count, sizeof *reading->v8.rows, te_samples_compare_v8);
    reading->code = tv_te_code_new(context);
    for (size_t i = 0; i < reading->v8.count; i++) {
        const struct tv_te_deferred *event = &context->deferred[reading->v8.rows[i].deferred];
        if (tv_te_event_read(context, event->offset, &fields))
            te_samples_add(context, event, te_samples_v8_path(reading, event, &fields), TV_BYTES("V8 Sample"));
    }
    tv_te_code_free(reading->code);
    tv_free(reading->v8.rows);
}

/* Threads by their tid alone: the last of several counts. */
static void te_samples_index_threads(struct te_samples_reading *reading)
{
    struct tv_head *head = reading->context->trace->head;
    reading->threads_known = true;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->input != reading->context->input)
            continue;
        reading->text.length = 0;
        tv_te_id_key_add_tid(&reading->text, head, i);
        tv_map_set(&reading->threads, tv_head_string(head, tv_te_id_key_text(&reading->text)), i);
    }
}

/* The process of a thread that no event has: the only one there is, else one of the same id. */
static uint32_t te_samples_process_of(struct tv_te_threads *threads, struct tv_bytes tid)
{
    return threads->process_count == 1 ? threads->first_process : tv_te_threads_add_process(threads, tid);
}

/* The thread of a sample, made when no event has it. */
static uint32_t te_samples_find_thread(struct te_samples_reading *reading, const struct tv_te_fields *fields,
                            uint64_t offset)
{
    struct tv_te_context *context = reading->context;
    struct tv_te_threads *threads = &context->threads;
    size_t known = threads->thread_count;
    uint32_t thread = TV_NONE;
    if (fields->tid.data != NULL && fields->pid.data != NULL) {
        thread =
            tv_te_threads_add_thread(threads, tv_te_threads_add_process(threads, fields->pid), fields->pid, fields->tid);
    } else if (fields->tid.data != NULL) {
        if (!reading->threads_known)
            te_samples_index_threads(reading);
        uint32_t string =
            tv_head_string(context->trace->head, tv_te_decode_text(fields->tid, &context->scratch));
        thread = tv_map_find(&reading->threads, string);
        if (thread == TV_NONE)
            thread =
                tv_te_threads_add_thread(threads, te_samples_process_of(threads, fields->tid), fields->tid, fields->tid);
        tv_map_set(&reading->threads, string, thread);
    }
    if (thread == TV_NONE || (threads->thread_count > known && !context->nothing))
        tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_THREAD, offset);
    return thread;
}

static void te_samples_take_element(struct te_samples_reading *reading, const struct tv_te_fields *fields, uint64_t offset)
{
    struct tv_te_context *context = reading->context;
    struct tv_sample sample = {.weight = 1, .offset = offset, .cpu = TV_NONE};
    int64_t cpu;
    if (!tv_te_parse_time(fields->ts, &sample.time)) {
        tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
        return;
    }
    sample.thread = te_samples_find_thread(reading, fields, offset);
    sample.path = tv_te_stacks_find(&reading->stacks, fields->sf, TV_NONE);
    if (sample.path == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
        sample.path = TV_ROOT_PATH;
    }
    if (!tv_te_parse_integer(fields->weight, &sample.weight))
        sample.weight = 1;
    if (tv_te_parse_integer(fields->cpu, &cpu) && cpu >= 0 && cpu < TV_NONE)
        sample.cpu = (uint32_t)cpu;
    sample.title =
        tv_head_string(context->trace->head, tv_te_decode_text(fields->name, &context->scratch));
    sample.input = context->input;
    *tv_table_add(&context->trace->tables.samples) = sample;
}

static void te_samples_widen_time(struct tv_te_context *context, size_t first)
{
    const struct tv_tables *tables = &context->trace->tables;
    for (size_t i = first; i < tables->samples.count; i++)
        tv_te_times_widen(context, tables->samples.rows[i].time);
}

static void te_samples_take_array(struct te_samples_reading *reading)
{
    struct tv_te_context *context = reading->context;
    struct tv_bytes text = tv_te_extent_read(context, context->samples), value;
    if (text.length == 0 || text.data[0] != '[')
        return;
    const uint8_t *at = text.data + 1, *end = text.data + text.length;
    while (tv_te_element_next(&at, end, &value)) {
        struct tv_te_fields fields;
        const uint8_t *behind;
        uint64_t offset = context->samples.offset + (uint64_t)(value.data - text.data);
        if (tv_te_fields_read(value.data, end, &fields, &behind) == TV_TE_READ)
            te_samples_take_element(reading, &fields, offset);
        else
            tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
    }
}

void tv_te_samples_read(struct tv_te_context *context)
{
    struct te_samples_reading reading = {.context = context};
    size_t first = context->trace->tables.samples.count;
    tv_te_stacks_init(&reading.stacks, context);
    tv_te_stacks_check_uses(&reading.stacks);
    reading.profiles = tv_te_profiles_new(context);
    tv_map_init(&reading.threads);
    tv_te_profiles_begin(reading.profiles);
    for (size_t i = 0; i < context->deferred_count; i++)
        if (context->deferred[i].phase == 'P')
            te_samples_take_event(&reading, i);
    te_samples_take_v8(&reading);
    te_samples_take_array(&reading);
    te_samples_widen_time(context, first);
    tv_te_profiles_free(reading.profiles);
    tv_te_stacks_release(&reading.stacks);
    tv_map_release(&reading.threads);
    tv_te_id_key_release(&reading.text);
}

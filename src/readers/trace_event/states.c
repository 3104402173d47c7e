/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states.c - states of threads: phase T with a length (trace-event.md section 3.6).
 *
 * They are what a scheduler tells, so they become what those of ftrace do: a track of states of
 * each thread, and one of each processor that an "args.cpu" names.  Letters stand for the states
 * that the kernel writes so.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/strips.h"
#include "readers/trace_event/ids.h"

/* Reserved colours: their ids of trace-event.md section 5, less 22. */
enum te_state_colour { BLOCKED = 1, IO = 2, RUNNING = 3, RUNNABLE = 4, SLEEPING = 5, UNKNOWN = 6 };

struct te_state_name {
    const char *written, *name;
    uint8_t colour;
};

static const struct te_state_name states[] = {
    {"Running", "Running", RUNNING},
    {"Runnable", "Runnable", RUNNABLE},
    {"R", "Runnable", RUNNABLE},
    {"Runnable (preempted)", "Runnable (preempted)", RUNNABLE},
    {"Runnable (Preempted)", "Runnable (preempted)", RUNNABLE},
    {"R+", "Runnable (preempted)", RUNNABLE},
    {"Sleeping", "Sleeping", SLEEPING},
    {"S", "Sleeping", SLEEPING},
    {"Sleeping (idle)", "Sleeping (idle)", SLEEPING},
    {"I", "Sleeping (idle)", SLEEPING},
    {"Parked", "Parked", SLEEPING},
    {"P", "Parked", SLEEPING},
    {"Uninterruptible Sleep", "Uninterruptible Sleep", BLOCKED},
    {"D", "Uninterruptible Sleep", BLOCKED},
    {"Uninterruptible Sleep (I/O)", "Uninterruptible Sleep (I/O)", IO},
    {"Uninterruptible Sleep | WakeKill", "Uninterruptible Sleep | WakeKill", BLOCKED},
    {"DK", "Uninterruptible Sleep | WakeKill", BLOCKED},
    {"Uninterruptible Sleep | Waking", "Uninterruptible Sleep | Waking", BLOCKED},
    {"Stopped", "Stopped", BLOCKED},
    {"T", "Stopped", BLOCKED},
    {"Traced", "Traced", BLOCKED},
    {"t", "Traced", BLOCKED},
    {"Zombie", "Zombie", BLOCKED},
    {"Z", "Zombie", BLOCKED},
    {"Exit Dead", "Exit Dead", BLOCKED},
    {"X", "Exit Dead", BLOCKED},
    {"Task Dead", "Task Dead", BLOCKED},
    {"Wake Kill", "Wake Kill", BLOCKED},
    {"Waking", "Waking", BLOCKED},
    {"Terminated", "Terminated", BLOCKED},
};

static const struct te_state_name in_io = {"", "Uninterruptible Sleep (I/O)", IO};

/* What belongs to one strip so far. */
struct te_state_track {
    uint32_t number; /* of the processor or the thread */
    uint32_t last;   /* its last slice */
};

struct te_state_tracks {
    TV_TABLE(tv_strip_slice) slices; /* their strips are indices of `rows` */
    struct te_state_track *rows;
    size_t count, capacity;
    struct tv_map numbers; /* of a processor or thread -> index of `rows` */
};

struct tv_te_states {
    struct te_state_tracks threads, processors;
};

/* ---- Reading ---- */

static uint32_t te_states_add_frame(struct tv_te_context *context, uint32_t name, struct tv_bytes args)
{
    struct tv_head *head = context->trace->head;
    struct tv_bytes text = tv_head_text(head, name);
    const struct te_state_name *known = NULL;
    for (size_t i = 0; i < TV_COUNT(states) && !known; i++)
        if (tv_bytes_equal(text, tv_bytes_of(states[i].written)))
            known = &states[i];
    if (known && known->colour == BLOCKED &&
        tv_bytes_equal(tv_bytes_of(known->name), TV_BYTES("Uninterruptible Sleep")) &&
        tv_te_is_true(tv_te_member(args, "io_wait")))
        known = &in_io;
    struct tv_frame frame = {
        .name = known ? tv_head_string(head, tv_bytes_of(known->name)) : name,
        .category = tv_head_string(head, TV_BYTES("thread state")),
    };
    uint32_t added = tv_head_add_frame(head, &frame);
    head->frames[added].colour = known ? known->colour : UNKNOWN;
    return added;
}

/* Slices come in the order of time.  One that is not over when the next begins ends there. */
static void te_states_add_interval(struct tv_te_context *context, struct te_state_tracks *strips, uint32_t number,
                      struct tv_strip_slice slice)
{
    uint32_t at = tv_map_add(&strips->numbers, number, (uint32_t)strips->count);
    if (at == strips->count) {
        strips->rows = tv_array_reserve(strips->rows, &strips->capacity, strips->count + 1,
                                        sizeof *strips->rows);
        strips->rows[strips->count++] = (struct te_state_track){number, TV_NONE};
    }
    struct te_state_track *strip = &strips->rows[at];
    if (strip->last != TV_NONE) {
        struct tv_strip_slice *last = &strips->slices.rows[strip->last];
        if (last->start + last->length > slice.start) {
            last->length = slice.start - last->start;
            tv_te_warn(context, TV_DIAGNOSTIC_STATE_OVERLAP, slice.offset);
        }
    }
    if (strips->slices.count >= TV_NONE)
        tv_memory_exhausted();
    strip->last = (uint32_t)strips->slices.count;
    slice.strip = at;
    *tv_table_add(&strips->slices) = slice;
}

/* What a processor shows of a thread. */
static uint32_t te_states_thread_frame(struct tv_te_context *context, uint32_t thread)
{
    struct tv_head *head = context->trace->head;
    char number[32];
    snprintf(number, sizeof number, "Thread %llu", (unsigned long long)head->threads[thread].id);
    struct tv_frame frame = {
        .name = head->threads[thread].name == TV_EMPTY_STRING
                    ? tv_head_string(head, tv_bytes_of(number))
                    : head->threads[thread].name,
        .category = tv_head_string(head, TV_BYTES("sched")),
    };
    return tv_head_add_frame(head, &frame);
}

/* Why the thread waits.  It is told with the state, but stands just behind its start: where one
 * state ends and the next begins it is that of the next. */
static void te_states_add_blocking(struct tv_te_context *context, const struct tv_te_deferred *event,
                         const struct tv_strip_slice *slice, struct tv_bytes args)
{
    struct tv_head *head = context->trace->head;
    struct tv_bytes caller = tv_te_member(args, "blocked_function");
    if (!caller.data || tv_bytes_equal(caller, TV_BYTES("null")))
        return;
    *tv_table_add(&context->trace->tables.blockings) = (struct tv_blocking){
        .time = slice->start + (slice->length > 1),
        .offset = event->offset,
        .thread = event->thread,
        .caller = tv_head_string(head, tv_te_decode_text(caller, &context->scratch)),
        .input = context->input,
        .io = head->frames[slice->frame].colour == IO,
    };
}

static void te_states_read_event(struct tv_te_context *context, const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    int64_t length, cpu;
    if (!tv_te_event_read(context, event->offset, &fields) || !tv_te_parse_time(fields.dur, &length))
        return;
    uint32_t name = context->trace->head->frames[event->frame].name;
    struct tv_strip_slice slice = {
        .start = event->time,
        .length = tv_te_state_length(event->time, length),
        .offset = event->offset & TV_OFFSET_MASK,
        .frame = te_states_add_frame(context, name, fields.args),
    };
    bool runs = context->trace->head->frames[slice.frame].colour == RUNNING;
    bool known = tv_te_parse_integer(tv_te_member(fields.args, "cpu"), &cpu);
    te_states_add_interval(context, &context->states->threads, event->thread, slice);
    te_states_add_blocking(context, event, &slice, fields.args);
    if (!runs || !known || cpu < 0 || cpu >= (int64_t)TV_NONE)
        return;
    slice.frame = te_states_thread_frame(context, event->thread);
    te_states_add_interval(context, &context->states->processors, (uint32_t)cpu, slice);
}

void tv_te_states_read(struct tv_te_context *context)
{
    struct tv_te_selection selection;
    if (tv_te_count_deferred(context, "T") == 0)
        return;
    context->states = tv_alloc(1, sizeof *context->states);
    tv_map_init(&context->states->threads.numbers);
    tv_map_init(&context->states->processors.numbers);
    tv_te_select(&selection, context, "T");
    for (size_t i = 0; i < selection.count; i++)
        te_states_read_event(context, &context->deferred[selection.deferred[selection.order[i]]]);
    tv_te_selection_release(&selection);
}

/* ---- Making the tracks ---- */

static int te_states_compare_keys(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Puts the strips into the order of their numbers. */
static void te_states_sort_tracks(struct te_state_tracks *strips)
{
    uint64_t *keys = tv_alloc(strips->count, sizeof *keys);
    uint32_t *places = tv_alloc(strips->count, sizeof *places);
    struct te_state_track *sorted = tv_alloc(strips->count, sizeof *sorted);
    for (size_t i = 0; i < strips->count; i++)
        keys[i] = (uint64_t)strips->rows[i].number << 32 | i;
    qsort(keys, strips->count, sizeof *keys, te_states_compare_keys);
    for (size_t i = 0; i < strips->count; i++) {
        places[(uint32_t)keys[i]] = (uint32_t)i;
        sorted[i] = strips->rows[(uint32_t)keys[i]];
    }
    for (size_t i = 0; i < strips->slices.count; i++)
        strips->slices.rows[i].strip = places[strips->slices.rows[i].strip];
    tv_free(strips->rows);
    strips->rows = sorted;
    tv_free(keys);
    tv_free(places);
}

static struct tv_strip te_states_make_track(struct tv_head *head, enum tv_track_kind kind, uint32_t number)
{
    char name[32];
    if (kind == TV_TRACK_STATES)
        return (struct tv_strip){.kind = kind,
                                 .name = head->threads[number].name,
                                 .process = head->threads[number].process,
                                 .thread = number};
    snprintf(name, sizeof name, "CPU %u", (unsigned)number);
    return (struct tv_strip){.kind = kind,
                             .name = tv_head_string(head, tv_bytes_of(name)),
                             .process = TV_NONE,
                             .thread = TV_NONE};
}

static void te_states_place_tracks(struct tv_te_context *context, struct te_state_tracks *strips, enum tv_track_kind kind)
{
    if (strips->count == 0)
        return;
    te_states_sort_tracks(strips);
    struct tv_strip *made = tv_alloc(strips->count, sizeof *made);
    for (size_t i = 0; i < strips->count; i++)
        made[i] = te_states_make_track(context->trace->head, kind, strips->rows[i].number);
    tv_assembly_strips(context->assembly, made, strips->count, strips->slices.rows,
                       strips->slices.count, context->options->parts);
    tv_free(made);
}

void tv_te_states_place(struct tv_te_context *context)
{
    if (!context->states)
        return;
    te_states_place_tracks(context, &context->states->processors, TV_TRACK_CPU);
    te_states_place_tracks(context, &context->states->threads, TV_TRACK_STATES);
    tv_te_states_free(context->states);
    context->states = NULL;
}

static void te_states_release_tracks(struct te_state_tracks *strips)
{
    tv_free(strips->slices.rows);
    tv_free(strips->rows);
    tv_map_release(&strips->numbers);
}

void tv_te_states_free(struct tv_te_states *plan)
{
    if (!plan)
        return;
    te_states_release_tracks(&plan->threads);
    te_states_release_tracks(&plan->processors);
    tv_free(plan);
}

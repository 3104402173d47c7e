/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_states.c - what a thread is in over time: scheduling states, phase T with a length
 * (trace-event.md section 3.6), and contexts, phases ( and ) (section 3.12).
 *
 * States come from a scheduler, so they become what the states of ftrace become: a track for each
 * thread, and one for each processor that an "args.cpu" names.  The kernel's letters get names.
 *
 *     {"ph":"T","name":"D","ts":5,"dur":9,"tid":7,"args":{"io_wait":true,"cpu":1}}
 *          thread 7     [Uninterruptible Sleep (I/O), 5..14)
 *     {"ph":"T","name":"Running","ts":14,"dur":3,"tid":7,"args":{"cpu":1}}
 *          thread 7     [Running, 14..17)         processor 1  [thread 7, 14..17)
 *
 * A thread is in one state at a time, and a processor runs one thread: an interval that is not over
 * when the next one begins is cut there, with a diagnostic.
 *
 * Events may be in any order in the file.  They are sorted by time first, so an interval only has
 * to be compared with the last one of its track.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/assembly/assembly.h"
#include "readers/trace_event/join/join.h"

/* Reserved colours: their ids in trace-event.md section 5, less 22. */
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
    {"Stopped", "Stopped", UNKNOWN},
    {"T", "Stopped", UNKNOWN},
    {"Traced", "Traced", UNKNOWN},
    {"t", "Traced", UNKNOWN},
    {"Zombie", "Zombie", UNKNOWN},
    {"Z", "Zombie", UNKNOWN},
    {"Exit Dead", "Exit Dead", UNKNOWN},
    {"X", "Exit Dead", UNKNOWN},
    {"Task Dead", "Task Dead", UNKNOWN},
    {"Wake Kill", "Wake Kill", UNKNOWN},
    {"Waking", "Waking", UNKNOWN},
    {"Terminated", "Terminated", UNKNOWN},
};

static const struct te_state_name in_io = {"", "Uninterruptible Sleep (I/O)", IO};

/* One state track. */
struct te_state_track {
    uint32_t number; /* number of the processor or the thread */
    uint32_t last;   /* the last interval */
};

struct te_state_tracks {
    TV_TABLE(tv_state_slice) slices; /* their tracks are indices of `rows` */
    struct te_state_track *rows;
    size_t count, capacity;
    struct tv_map numbers; /* numbers of a processor or thread -> index of `rows` */
};

struct tv_te_states {
    struct te_state_tracks threads, processors;
};

/* ---- Reading ---- */

/* Return the frame of a state: the name and colour of a known one, else its own name. */
static uint32_t te_states_add_frame(struct tv_te_context *context, uint32_t name,
                                    struct tv_bytes args)
{
    struct tv_trace_info *head = context->trace->head;
    struct tv_bytes text = tv_trace_info_text(head, name);
    const struct te_state_name *known = NULL;
    for (size_t i = 0; i < TV_COUNT(states) && !known; i++)
        if (tv_bytes_equal(text, tv_bytes_of(states[i].written)))
            known = &states[i];
    if (known && known->colour == BLOCKED &&
        tv_bytes_equal(tv_bytes_of(known->name), TV_BYTES("Uninterruptible Sleep")) &&
        tv_te_is_true(tv_te_member(args, "io_wait")))
        known = &in_io;
    struct tv_frame frame = {
        .name = known ? tv_trace_info_string(head, tv_bytes_of(known->name)) : name,
        .category = tv_trace_info_string(head, TV_BYTES("thread state")),
    };
    uint32_t added = tv_trace_info_add_frame(head, &frame);
    head->frames[added].colour = known ? known->colour : UNKNOWN;
    return added;
}

/* Add an interval.  They come in the order of time; one that is not over when the next begins ends
 * there. */
static void te_states_add_interval(struct tv_te_context *context, struct te_state_tracks *tracks,
                                   uint32_t number, struct tv_state_slice slice)
{
    uint32_t at = tv_map_add(&tracks->numbers, number, (uint32_t)tracks->count);
    if (at == tracks->count) {
        tracks->rows = tv_array_reserve(tracks->rows, &tracks->capacity, tracks->count + 1,
                                        sizeof *tracks->rows);
        tracks->rows[tracks->count++] = (struct te_state_track){number, TV_NONE};
    }
    struct te_state_track *track = &tracks->rows[at];
    if (track->last != TV_NONE) {
        struct tv_state_slice *last = &tracks->slices.rows[track->last];
        assert(last->start <= slice.start);
        if (last->start + last->length > slice.start) {
            last->length = slice.start - last->start;
            tv_te_warn(context, TV_DIAGNOSTIC_STATE_OVERLAP, slice.offset);
        }
    }
    if (tracks->slices.count >= TV_NONE)
        tv_memory_exhausted();
    track->last = (uint32_t)tracks->slices.count;
    slice.state_track = at;
    *tv_table_add(&tracks->slices) = slice;
}

/* Return the frame that the track of a processor shows for a thread. */
static uint32_t te_states_thread_frame(struct tv_te_context *context, uint32_t thread)
{
    struct tv_trace_info *head = context->trace->head;
    char number[32];
    snprintf(number, sizeof number, "Thread %llu", (unsigned long long)head->threads[thread].id);
    struct tv_frame frame = {
        .name = head->threads[thread].name == TV_EMPTY_STRING
                    ? tv_trace_info_string(head, tv_bytes_of(number))
                    : head->threads[thread].name,
        .category = tv_trace_info_string(head, TV_BYTES("sched")),
    };
    return tv_trace_info_add_frame(head, &frame);
}

/* Record why the thread waits.  The event stands with the state, but the reason goes just after
 * its start: at the boundary of two states it belongs to the second. */
static void te_states_add_blocking(struct tv_te_context *context,
                                   const struct tv_te_deferred *event,
                                   const struct tv_state_slice *slice, struct tv_bytes args)
{
    struct tv_trace_info *head = context->trace->head;
    struct tv_bytes caller = tv_te_member(args, "blocked_function");
    if (!caller.data || tv_bytes_equal(caller, TV_BYTES("null")))
        return;
    *tv_table_add(&context->trace->tables.blockings) = (struct tv_blocking){
        .time = slice->start + (slice->length > 1),
        .offset = event->offset,
        .thread = event->thread,
        .caller = tv_trace_info_string(head, tv_te_decode_text(caller, &context->scratch)),
        .input = context->input,
        .io = head->frames[slice->frame].colour == IO,
    };
}

/* Read a state into the track of its thread and, while it runs, into that of its processor. */
static void te_states_read_event(struct tv_te_context *context, const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    int64_t length, cpu;
    if (!tv_te_event_read(context, event->offset, &fields) ||
        !tv_te_parse_time(fields.dur, &length))
        return;
    uint32_t name = context->trace->head->frames[event->frame].name;
    struct tv_state_slice slice = {
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
        te_states_read_event(context, &context->deferred.rows[selection.rows[selection.order[i]]]);
    tv_te_selection_release(&selection);
}

/* ---- Making the tracks ---- */

/* Keys are (number of the track, index). */
static int te_states_compare_keys(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Sort the tracks by number. */
static void te_states_sort_tracks(struct te_state_tracks *tracks)
{
    uint64_t *keys = tv_alloc(tracks->count, sizeof *keys);
    uint32_t *places = tv_alloc(tracks->count, sizeof *places);
    struct te_state_track *sorted = tv_alloc(tracks->count, sizeof *sorted);
    for (size_t i = 0; i < tracks->count; i++)
        keys[i] = (uint64_t)tracks->rows[i].number << 32 | i;
    qsort(keys, tracks->count, sizeof *keys, te_states_compare_keys);
    for (size_t i = 0; i < tracks->count; i++) {
        places[(uint32_t)keys[i]] = (uint32_t)i;
        sorted[i] = tracks->rows[(uint32_t)keys[i]];
    }
    for (size_t i = 0; i < tracks->slices.count; i++)
        tracks->slices.rows[i].state_track = places[tracks->slices.rows[i].state_track];
    tv_free(tracks->rows);
    tracks->rows = sorted;
    tv_free(keys);
    tv_free(places);
}

/* Return the track of a thread, or that of a processor, which belongs to no process. */
static struct tv_state_track te_states_make_track(struct tv_trace_info *head,
                                                  enum tv_track_kind kind, uint32_t number)
{
    char name[32];
    if (kind == TV_TRACK_STATES)
        return (struct tv_state_track){.kind = kind,
                                       .name = head->threads[number].name,
                                       .process = head->threads[number].process,
                                       .thread = number};
    snprintf(name, sizeof name, "CPU %u", (unsigned)number);
    return (struct tv_state_track){.kind = kind,
                                   .name = tv_trace_info_string(head, tv_bytes_of(name)),
                                   .process = TV_NONE,
                                   .thread = TV_NONE};
}

/* Place all tracks of one kind. */
static void te_states_place_tracks(struct tv_te_context *context, struct te_state_tracks *tracks,
                                   enum tv_track_kind kind)
{
    if (tracks->count == 0)
        return;
    te_states_sort_tracks(tracks);
    struct tv_state_track *made = tv_alloc(tracks->count, sizeof *made);
    for (size_t i = 0; i < tracks->count; i++)
        made[i] = te_states_make_track(context->trace->head, kind, tracks->rows[i].number);
    tv_assembly_add_state_tracks(context->assembly, made, tracks->count, tracks->slices.rows,
                                 tracks->slices.count, context->options->parts);
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

static void te_states_release_tracks(struct te_state_tracks *tracks)
{
    tv_free(tracks->slices.rows);
    tv_free(tracks->rows);
    tv_map_release(&tracks->numbers);
}

void tv_te_states_free(struct tv_te_states *plan)
{
    if (!plan)
        return;
    te_states_release_tracks(&plan->threads);
    te_states_release_tracks(&plan->processors);
    tv_free(plan);
}

/*
 * Contexts.  Entering a context suspends the one of the same type that the thread is in; leaving it
 * resumes that one.  So a context may have several intervals, each a row.
 */

struct te_context_details {
    uint32_t key; /* string "pid:scope:id"; TV_NONE: left out */
    uint32_t id;  /* string */
};

/* A context that was entered and not left yet. */
struct te_context_entry {
    uint64_t offset;
    int64_t since; /* begin of the current interval */
    uint32_t key, id;
    uint32_t below; /* the context that it suspended, in `entered`; TV_NONE */
    bool has_row;   /* already */
};

/* The contexts of one type on one thread, a stack. */
struct te_context_stack {
    uint32_t thread, type;
    uint32_t top; /* in `entered`; TV_NONE */
};

struct te_context_pairing {
    struct tv_te_context *context;
    struct tv_te_id_key text;
    struct tv_map numbers; /* (thread, type) -> index in stacks */
    struct te_context_stack *stacks;
    struct te_context_entry *entered;
    size_t stack_count, stack_capacity, entered_count, entered_capacity;
};

/* Read what an event says; TV_NONE as key leaves it out. */
static void te_thread_context_read(struct te_context_pairing *pairing,
                                   const struct tv_te_deferred *event,
                                   struct te_context_details *details)
{
    struct tv_te_context *context = pairing->context;
    struct tv_trace_info *head = context->trace->head;
    struct tv_te_fields fields;
    struct tv_bytes raw;
    *details = (struct te_context_details){TV_NONE, TV_EMPTY_STRING};
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    pairing->text.length = 0;
    struct tv_te_link link = tv_te_link_of(event, &fields);
    if (!tv_te_id_key_add_event_id(&pairing->text, context, event, &link, TV_TE_ID_OWNED))
        return;
    details->key = tv_trace_info_string(head, tv_te_id_key_text(&pairing->text));
    tv_te_fields_id(&fields, &raw);
    details->id = tv_trace_info_string(head, tv_te_decode_text(raw, &context->scratch));
}

/* Return the stack of the event's thread and type; add it when new. */
static struct te_context_stack *te_thread_context_find_stack(struct te_context_pairing *pairing,
                                                             const struct tv_te_deferred *event)
{
    uint32_t type = pairing->context->trace->head->frames[event->frame].name;
    uint32_t number = tv_map_add(&pairing->numbers, (uint64_t)event->thread << 32 | type,
                                 (uint32_t)pairing->stack_count);
    if (number == pairing->stack_count) {
        pairing->stacks = tv_array_reserve(pairing->stacks, &pairing->stack_capacity,
                                           pairing->stack_count + 1, sizeof *pairing->stacks);
        pairing->stacks[pairing->stack_count++] =
            (struct te_context_stack){event->thread, type, TV_NONE};
    }
    return &pairing->stacks[number];
}

/* End the current interval of the innermost context. */
static void te_thread_context_end_interval(struct te_context_pairing *pairing,
                                           const struct te_context_stack *stack, int64_t time)
{
    assert(stack->top != TV_NONE);
    struct te_context_entry *entered = &pairing->entered[stack->top];
    struct tv_context *row;
    if (entered->has_row && time <= entered->since)
        return;
    row = tv_table_add(&pairing->context->trace->tables.contexts);
    *row = (struct tv_context){
        .start = entered->since,
        .end = time < entered->since ? entered->since : time,
        .offset = entered->offset,
        .thread = stack->thread,
        .type = stack->type,
        .id = entered->id,
        .input = pairing->context->input,
    };
    entered->has_row = true;
}

/* End a context that was never left: with the thread. */
static void te_thread_context_end_open(struct te_context_pairing *pairing,
                                       const struct te_context_stack *stack)
{
    const struct tv_te_context *context = pairing->context;
    tv_ns since = pairing->entered[stack->top].since;
    te_thread_context_end_interval(pairing, stack, tv_te_thread_end(context, stack->thread, since));
}

/* Enter a context; the one on top is suspended. */
static void te_thread_context_enter(struct te_context_pairing *pairing,
                                    const struct tv_te_deferred *event,
                                    const struct te_context_details *details)
{
    struct te_context_stack *stack = te_thread_context_find_stack(pairing, event);
    if (stack->top != TV_NONE)
        te_thread_context_end_interval(pairing, stack, event->time);
    pairing->entered = tv_array_reserve(pairing->entered, &pairing->entered_capacity,
                                        pairing->entered_count + 1, sizeof *pairing->entered);
    pairing->entered[pairing->entered_count] = (struct te_context_entry){
        event->offset, event->time, details->key, details->id, stack->top, false};
    stack->top = (uint32_t)pairing->entered_count++;
}

/* Leave a context, which must be on top; the one below resumes. */
static void te_thread_context_leave(struct te_context_pairing *pairing,
                                    const struct tv_te_deferred *event,
                                    const struct te_context_details *details)
{
    struct te_context_stack *stack = te_thread_context_find_stack(pairing, event);
    if (stack->top == TV_NONE || pairing->entered[stack->top].key != details->key) {
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_CONTEXT_UNMATCHED, event->offset);
        return;
    }
    te_thread_context_end_interval(pairing, stack, event->time);
    stack->top = pairing->entered[stack->top].below;
    if (stack->top != TV_NONE)
        pairing->entered[stack->top].since = event->time;
}

void tv_te_thread_contexts_read(struct tv_te_context *context)
{
    struct te_context_pairing pairing = {.context = context};
    struct tv_te_selection selection;
    tv_te_select(&selection, context, "()");
    struct te_context_details *details = tv_alloc(selection.count, sizeof *details);
    tv_map_init(&pairing.numbers);
    for (size_t i = 0; i < selection.count; i++)
        te_thread_context_read(&pairing, &context->deferred.rows[selection.rows[i]], &details[i]);
    for (size_t i = 0; i < selection.count; i++) {
        size_t next = selection.order[i];
        const struct tv_te_deferred *event = &context->deferred.rows[selection.rows[next]];
        if (details[next].key == TV_NONE)
            continue;
        if (event->phase == '(')
            te_thread_context_enter(&pairing, event, &details[next]);
        else
            te_thread_context_leave(&pairing, event, &details[next]);
    }
    for (size_t i = 0; i < pairing.stack_count; i++)
        if (pairing.stacks[i].top != TV_NONE)
            te_thread_context_end_open(&pairing, &pairing.stacks[i]);
    tv_free(details);
    tv_map_release(&pairing.numbers);
    tv_free(pairing.stacks);
    tv_free(pairing.entered);
    tv_te_id_key_release(&pairing.text);
    tv_te_selection_release(&selection);
}

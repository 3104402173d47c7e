/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contexts.c - contexts of threads: phases ( and ) (trace-event.md section 3.12).
 *
 * Entering a context sets that of the same type aside which the thread is in; leaving it goes back
 * to that one.  So a context may have several stretches of time, each a row.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/ids.h"

struct te_context_event {
    uint32_t key; /* string "pid:scope:id"; TV_NONE: left out */
    uint32_t id;  /* string */
};

/* A context that was entered and not left yet. */
struct te_context_entry {
    uint64_t offset;
    int64_t since; /* beginning of the stretch it is in */
    uint32_t key, id;
    uint32_t below; /* the one it set aside, in `entered`; TV_NONE */
    bool told;      /* has a row already */
};

/* Contexts of one type on one thread. */
struct te_context_stack {
    uint32_t thread, type;
    uint32_t top; /* in `entered`; TV_NONE */
};

struct te_context_pairing {
    struct tv_te_context *context;
    struct tv_te_key text;
    struct tv_map numbers; /* (thread, type) -> index in stacks */
    struct te_context_stack *stacks;
    struct te_context_entry *entered;
    size_t stack_count, stack_capacity, entered_count, entered_capacity;
};

static void te_thread_context_read(struct te_context_pairing *joining, const struct tv_te_loose *event, struct te_context_event *told)
{
    struct tv_te_context *context = joining->context;
    struct tv_head *head = context->trace->head;
    struct tv_te_fields fields;
    struct tv_bytes raw;
    *told = (struct te_context_event){TV_NONE, TV_EMPTY_STRING};
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    joining->text.length = 0;
    struct tv_te_link link = tv_te_link_of(event, &fields);
    if (!tv_te_key_add_event_id(&joining->text, context, event, &link, TV_TE_ID_OWNED))
        return;
    told->key = tv_head_string(head, tv_te_key_text(&joining->text));
    tv_te_id(&fields, &raw);
    told->id = tv_head_string(head, tv_te_text(raw, &context->scratch));
}

static struct te_context_stack *te_thread_context_find_stack(struct te_context_pairing *joining, const struct tv_te_loose *event)
{
    uint32_t type = joining->context->trace->head->frames[event->frame].name;
    uint32_t number = tv_map_add(&joining->numbers, (uint64_t)event->thread << 32 | type,
                                 (uint32_t)joining->stack_count);
    if (number == joining->stack_count) {
        joining->stacks = tv_array_reserve(joining->stacks, &joining->stack_capacity,
                                           joining->stack_count + 1, sizeof *joining->stacks);
        joining->stacks[joining->stack_count++] = (struct te_context_stack){event->thread, type, TV_NONE};
    }
    return &joining->stacks[number];
}

/* The thread is in the context of the stack no more, for now. */
static void te_thread_context_end_interval(struct te_context_pairing *joining, const struct te_context_stack *stack, int64_t time)
{
    struct te_context_entry *entered = &joining->entered[stack->top];
    struct tv_context *row;
    if (entered->told && time <= entered->since)
        return;
    row = tv_table_add(&joining->context->trace->tables.contexts);
    *row = (struct tv_context){
        .start = entered->since,
        .end = time < entered->since ? entered->since : time,
        .offset = entered->offset,
        .thread = stack->thread,
        .type = stack->type,
        .id = entered->id,
        .input = joining->context->input,
    };
    entered->told = true;
}

static void te_thread_context_end_open(struct te_context_pairing *joining, const struct te_context_stack *stack)
{
    const struct tv_te_context *context = joining->context;
    tv_ns since = joining->entered[stack->top].since;
    te_thread_context_end_interval(joining, stack, tv_te_end_of_thread(context, stack->thread, since));
}

static void te_thread_context_enter(struct te_context_pairing *joining, const struct tv_te_loose *event, const struct te_context_event *told)
{
    struct te_context_stack *stack = te_thread_context_find_stack(joining, event);
    if (stack->top != TV_NONE)
        te_thread_context_end_interval(joining, stack, event->time);
    joining->entered = tv_array_reserve(joining->entered, &joining->entered_capacity,
                                        joining->entered_count + 1, sizeof *joining->entered);
    joining->entered[joining->entered_count] =
        (struct te_context_entry){event->offset, event->time, told->key, told->id, stack->top, false};
    stack->top = (uint32_t)joining->entered_count++;
}

static void te_thread_context_leave(struct te_context_pairing *joining, const struct tv_te_loose *event, const struct te_context_event *told)
{
    struct te_context_stack *stack = te_thread_context_find_stack(joining, event);
    if (stack->top == TV_NONE || joining->entered[stack->top].key != told->key) {
        tv_te_warn(joining->context, TV_DIAGNOSTIC_CONTEXT_UNMATCHED, event->offset);
        return;
    }
    te_thread_context_end_interval(joining, stack, event->time);
    stack->top = joining->entered[stack->top].below;
    if (stack->top != TV_NONE)
        joining->entered[stack->top].since = event->time;
}

void tv_te_contexts(struct tv_te_context *context)
{
    struct te_context_pairing joining = {.context = context};
    struct tv_te_picked picked;
    tv_te_pick(&picked, context, "()");
    struct te_context_event *told = tv_alloc(picked.count, sizeof *told);
    tv_map_init(&joining.numbers);
    for (size_t i = 0; i < picked.count; i++)
        te_thread_context_read(&joining, &context->loose[picked.loose[i]], &told[i]);
    for (size_t i = 0; i < picked.count; i++) {
        size_t next = picked.order[i];
        const struct tv_te_loose *event = &context->loose[picked.loose[next]];
        if (told[next].key == TV_NONE)
            continue;
        if (event->phase == '(')
            te_thread_context_enter(&joining, event, &told[next]);
        else
            te_thread_context_leave(&joining, event, &told[next]);
    }
    for (size_t i = 0; i < joining.stack_count; i++)
        if (joining.stacks[i].top != TV_NONE)
            te_thread_context_end_open(&joining, &joining.stacks[i]);
    tv_free(told);
    tv_map_release(&joining.numbers);
    tv_free(joining.stacks);
    tv_free(joining.entered);
    tv_te_key_release(&joining.text);
    tv_te_picked_release(&picked);
}

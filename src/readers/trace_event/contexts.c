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

struct te_context_details {
    uint32_t key; /* string "pid:scope:id"; TV_NONE: left out */
    uint32_t id;  /* string */
};

/* A context that was entered and not left yet. */
struct te_context_entry {
    uint64_t offset;
    int64_t since; /* beginning of the stretch it is in */
    uint32_t key, id;
    uint32_t below; /* the one it set aside, in `entered`; TV_NONE */
    bool details;      /* has a row already */
};

/* Contexts of one type on one thread. */
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

static void te_thread_context_read(struct te_context_pairing *pairing, const struct tv_te_deferred *event, struct te_context_details *details)
{
    struct tv_te_context *context = pairing->context;
    struct tv_head *head = context->trace->head;
    struct tv_te_fields fields;
    struct tv_bytes raw;
    *details = (struct te_context_details){TV_NONE, TV_EMPTY_STRING};
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    pairing->text.length = 0;
    struct tv_te_link link = tv_te_link_of(event, &fields);
    if (!tv_te_id_key_add_event_id(&pairing->text, context, event, &link, TV_TE_ID_OWNED))
        return;
    details->key = tv_head_string(head, tv_te_id_key_text(&pairing->text));
    tv_te_fields_id(&fields, &raw);
    details->id = tv_head_string(head, tv_te_decode_text(raw, &context->scratch));
}

static struct te_context_stack *te_thread_context_find_stack(struct te_context_pairing *pairing, const struct tv_te_deferred *event)
{
    uint32_t type = pairing->context->trace->head->frames[event->frame].name;
    uint32_t number = tv_map_add(&pairing->numbers, (uint64_t)event->thread << 32 | type,
                                 (uint32_t)pairing->stack_count);
    if (number == pairing->stack_count) {
        pairing->stacks = tv_array_reserve(pairing->stacks, &pairing->stack_capacity,
                                           pairing->stack_count + 1, sizeof *pairing->stacks);
        pairing->stacks[pairing->stack_count++] = (struct te_context_stack){event->thread, type, TV_NONE};
    }
    return &pairing->stacks[number];
}

/* The thread is in the context of the stack no more, for now. */
static void te_thread_context_end_interval(struct te_context_pairing *pairing, const struct te_context_stack *stack, int64_t time)
{
    struct te_context_entry *entered = &pairing->entered[stack->top];
    struct tv_context *row;
    if (entered->details && time <= entered->since)
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
    entered->details = true;
}

static void te_thread_context_end_open(struct te_context_pairing *pairing, const struct te_context_stack *stack)
{
    const struct tv_te_context *context = pairing->context;
    tv_ns since = pairing->entered[stack->top].since;
    te_thread_context_end_interval(pairing, stack, tv_te_thread_end(context, stack->thread, since));
}

static void te_thread_context_enter(struct te_context_pairing *pairing, const struct tv_te_deferred *event, const struct te_context_details *details)
{
    struct te_context_stack *stack = te_thread_context_find_stack(pairing, event);
    if (stack->top != TV_NONE)
        te_thread_context_end_interval(pairing, stack, event->time);
    pairing->entered = tv_array_reserve(pairing->entered, &pairing->entered_capacity,
                                        pairing->entered_count + 1, sizeof *pairing->entered);
    pairing->entered[pairing->entered_count] =
        (struct te_context_entry){event->offset, event->time, details->key, details->id, stack->top, false};
    stack->top = (uint32_t)pairing->entered_count++;
}

static void te_thread_context_leave(struct te_context_pairing *pairing, const struct tv_te_deferred *event, const struct te_context_details *details)
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
        te_thread_context_read(&pairing, &context->deferred[selection.deferred[i]], &details[i]);
    for (size_t i = 0; i < selection.count; i++) {
        size_t next = selection.order[i];
        const struct tv_te_deferred *event = &context->deferred[selection.deferred[next]];
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

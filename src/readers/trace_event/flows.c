/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - arrows between slices or instants: phases s, t and f, and slices with a bind_id
 * (trace-event.md section 3.7).
 *
 * s t f   a start, steps and an end with one category, name and id (1 and "1" are two ids) make an
 *         arrow from each to the next.  One start may have many ends; a new start begins anew when
 *         the one before has had an end
 * bind_id a slice with flow_out is a producer, one with flow_in a consumer; arrows leave from the
 *         producer's end and arrive at the consumer's start
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/trace_event/binding.h"
#include "readers/trace_event/ids.h"

/* How far the events of a key have come. */
struct te_flow_state {
    uint32_t from; /* the number of the event that the next arrow leaves from; TV_NONE: none */
    bool arrived;  /* an end was there: another start may come */
};

/* A slice of an async track. */
struct te_flow_async_slice {
    uint64_t offset;
    uint32_t row, index;
};

struct tv_te_flow_plan {
    struct tv_te_context *context;
    struct tv_te_flow_list *events; /* those of slices with a bind_id among them */
    struct tv_te_flow_keys keys;
    uint32_t *order;            /* numbers of the events, by time, then by place in the file */
    struct te_flow_state *states;       /* [keys] */
    struct te_flow_async_slice *places; /* made when first asked for, by offset */
    size_t place_count, place_capacity;
    bool have_places;
};

static bool te_flow_is_event(const struct tv_te_flow_event *event)
{
    return event->phase == 's' || event->phase == 't' || event->phase == 'f';
}

/* ---- What the events tell ---- */

static bool te_flow_text_contains(struct tv_bytes text, struct tv_bytes part)
{
    for (size_t i = 0; i + part.length <= text.length; i++)
        if (memcmp(text.data + i, part.data, part.length) == 0)
            return true;
    return false;
}

/* What an f event without "bp" means depends on its category, as it came to be in Chrome: the slice
 * around it, or the next. */
static bool te_flow_binds_next(const struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    struct tv_head *head = plan->context->trace->head;
    struct tv_bytes category = tv_head_text(head, head->frames[event->frame].category);
    return !te_flow_text_contains(category, TV_BYTES("input")) && !te_flow_text_contains(category, TV_BYTES("ipc.flow"));
}

static uint32_t te_flow_add_key(struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    struct tv_te_flow_key key = {tv_te_flow_bits(event), event->frame, (uint8_t)event->form};
    return tv_te_flow_keys_add(&plan->keys, key);
}

static void te_flow_read_event(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    uint32_t key = TV_NONE;
    if (event->unsaid)
        event->next = te_flow_binds_next(plan, event);
    if (event->form & TV_TE_FLOW_NO_ID)
        tv_te_warn(plan->context, TV_DIAGNOSTIC_ID_MISSING, event->offset);
    else if (event->bad_point)
        tv_te_warn(plan->context, TV_DIAGNOSTIC_FLOW_BAD_BINDING, event->offset);
    else
        key = te_flow_add_key(plan, event);
    event->asks = key != TV_NONE;
    event->key = key;
    event->row = event->index = TV_NONE;
}

/* The slice with a bind_id; false: it has none, or one that says nothing. */
static bool te_flow_read_bound_slice(struct tv_te_flow_plan *plan, uint32_t deferred,
                             struct tv_te_flow_event *bound)
{
    struct tv_te_context *context = plan->context;
    const struct tv_te_deferred *event = &context->deferred[deferred];
    struct tv_te_fields fields;
    if (!tv_te_event_read(context, event->offset, &fields) || fields.bind_id.data == NULL)
        return false;
    struct tv_te_flow_id id = tv_te_flow_id_of(tv_te_decode_text(fields.bind_id, &context->scratch), false,
                                               &plan->events->longer);
    *bound = (struct tv_te_flow_event){
        .time = event->time,
        .offset = event->offset & TV_OFFSET_MASK,
        .phase = (uint8_t)event->phase,
        .form = id.form,
        .in = tv_te_is_true(fields.flow_in),
        .out = tv_te_is_true(fields.flow_out),
        .of = deferred,
    };
    if (!bound->in && !bound->out) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_DIRECTION, event->offset);
        return false;
    }
    bound->key =
        tv_te_flow_keys_add(&plan->keys, (struct tv_te_flow_key){id.bits, TV_NONE, id.form});
    return true;
}

/* Whether it may have a bind_id: such ones do not keep what they say. */
static bool te_flow_may_be_bound(const struct tv_te_deferred *event)
{
    return strchr("XBbn", event->phase) != NULL && !(event->kept & TV_TE_KEPT);
}

/* Puts a few events among the others, all in the order of the file. */
static void te_flow_merge_by_offset(struct tv_te_flow_list *events, const struct tv_te_flow_event *rows,
                      size_t count)
{
    size_t left = events->count, to = left + count;
    events->rows = tv_array_reserve(events->rows, &events->capacity, to, sizeof *events->rows);
    events->count = to;
    while (count > 0) {
        bool later = left > 0 && events->rows[left - 1].offset > rows[count - 1].offset;
        events->rows[--to] = later ? events->rows[--left] : rows[--count];
    }
}

static void te_flow_read_bound_slices(struct tv_te_flow_plan *plan)
{
    const struct tv_te_context *context = plan->context;
    struct tv_te_flow_list bound = {.rows = NULL};
    struct tv_te_flow_event event;
    for (size_t i = 0; i < context->deferred_count; i++)
        if (te_flow_may_be_bound(&context->deferred[i]) && te_flow_read_bound_slice(plan, (uint32_t)i, &event))
            *tv_table_add(&bound) = event;
    if (bound.count > 0)
        te_flow_merge_by_offset(plan->events, bound.rows, bound.count);
    tv_free(bound.rows);
}

static void te_flow_sort_events(struct tv_te_flow_plan *plan)
{
    size_t count = plan->events->count;
    size_t size = tv_size_mul(count, sizeof(struct tv_sort_key));
    struct tv_sort_key *dated = tv_pages_alloc(size);
    for (size_t i = 0; i < count; i++)
        dated[i] = (struct tv_sort_key){tv_sort_signed(plan->events->rows[i].time), i};
    tv_sort_keys(dated, count);
    plan->order = tv_alloc(count, sizeof *plan->order);
    for (size_t i = 0; i < count; i++)
        plan->order[i] = (uint32_t)dated[i].index;
    tv_pages_free(dated, size);
}

void tv_te_flows_read(struct tv_te_context *context)
{
    struct tv_te_flow_plan *plan = tv_alloc(1, sizeof *plan);
    context->flows = plan;
    plan->context = context;
    plan->events = &context->flow_events;
    if (context->deferred_count + plan->events->count >= TV_NONE)
        tv_memory_exhausted();
    te_flow_read_bound_slices(plan);
    te_flow_sort_events(plan); /* while there are few keys, as it takes as much memory as they do */
    for (size_t i = 0; i < plan->events->count; i++)
        if (te_flow_is_event(&plan->events->rows[i]))
            te_flow_read_event(plan, &plan->events->rows[i]);
    tv_te_flow_keys_freeze(&plan->keys);
}

/* ---- Arrows ---- */

/* The frame of the arrow that an event begins. */
static uint32_t te_flow_frame(const struct tv_te_flow_plan *plan,
                         const struct tv_te_flow_event *event)
{
    return te_flow_is_event(event) ? plan->keys.rows[event->key].frame
                          : plan->context->deferred[event->of].frame;
}

static struct tv_flow_end te_flow_arrival(const struct tv_te_flow_event *event)
{
    return (struct tv_flow_end){.time = event->time, .row = event->row, .index = event->index};
}

/* Where arrows leave: a slice with a bind_id is left at its end. */
static struct tv_flow_end te_flow_departure(const struct tv_te_flow_plan *plan,
                                   const struct tv_te_flow_event *event)
{
    const struct tv_te_context *context = plan->context;
    struct tv_flow_end end = te_flow_arrival(event);
    if (!te_flow_is_event(event))
        end.time = tv_slice_end(context->trace, end.row, end.index) -
                   context->trace->offset[context->input];
    return end;
}

/* Ids that no arrow has are not among the strings. */
static uint32_t te_flow_id_string(const struct tv_te_flow_plan *plan, uint32_t number)
{
    const struct tv_te_flow_key *key = &plan->keys.rows[number];
    struct tv_te_flow_id id = {key->bits, key->form};
    char room[TV_TE_FLOW_ROOM];
    return tv_head_string(plan->context->trace->head,
                          tv_te_flow_id_text(&id, plan->events->longer, room));
}

static void te_flow_add_arrow(struct tv_te_flow_plan *plan, const struct tv_te_flow_event *to)
{
    const struct tv_te_flow_event *from = &plan->events->rows[plan->states[to->key].from];
    struct tv_flow *flow = tv_table_add(&plan->context->trace->tables.flows);
    *flow = (struct tv_flow){
        .from = te_flow_departure(plan, from),
        .to = te_flow_arrival(to),
        .offset = from->offset,
        .end_offset = to->offset,
        .frame = te_flow_frame(plan, from),
        .id = te_flow_id_string(plan, to->key),
        .input = plan->context->input,
    };
}

static void te_flow_open(const struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    plan->states[event->key] = (struct te_flow_state){(uint32_t)(event - plan->events->rows), false};
}

static void te_flow_pair_event(struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    struct tv_te_context *context = plan->context;
    struct te_flow_state *state = &plan->states[event->key];
    bool open = state->from != TV_NONE;
    if (event->phase == 's' && open && !state->arrived) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_BEGUN_TWICE, event->offset);
        return;
    }
    if (event->phase != 's' && !open) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
        return;
    }
    if (event->index == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (event->phase != 's')
        te_flow_add_arrow(plan, event);
    if (event->phase == 'f')
        state->arrived = true;
    else
        te_flow_open(plan, event);
}

static int te_flow_compare_async(const void *left, const void *right)
{
    const struct te_flow_async_slice *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void te_flow_add_async_row(struct tv_te_flow_plan *plan, uint32_t row)
{
    const struct tv_trace *trace = plan->context->trace;
    uint32_t count = trace->rows[row].count;
    plan->places = tv_array_reserve(plan->places, &plan->place_capacity,
                                       plan->place_count + count, sizeof *plan->places);
    for (uint32_t i = 0; i < count; i++)
        plan->places[plan->place_count++] =
            (struct te_flow_async_slice){tv_slice_offset(trace, row, i), row, i};
}

static void te_flow_index_async(struct tv_te_flow_plan *plan)
{
    const struct tv_trace *trace = plan->context->trace;
    plan->have_places = true;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (trace->rows[row].input == plan->context->input &&
            trace->tracks[trace->rows[row].track].kind == TV_TRACK_ASYNC)
            te_flow_add_async_row(plan, row);
    if (plan->place_count > 0)
        qsort(plan->places, plan->place_count, sizeof *plan->places, te_flow_compare_async);
}

static bool te_flow_find_async(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    struct te_flow_async_slice wanted = {event->offset, 0, 0};
    const struct te_flow_async_slice *found;
    if (!plan->have_places)
        te_flow_index_async(plan);
    if (plan->place_count == 0)
        return false;
    found = bsearch(&wanted, plan->places, plan->place_count, sizeof wanted, te_flow_compare_async);
    if (found == NULL)
        return false;
    event->row = found->row;
    event->index = found->index;
    return true;
}

static bool te_flow_find_slice(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    const struct tv_te_context *context = plan->context;
    const struct tv_te_deferred *deferred = &context->deferred[event->of];
    uint32_t row, index;
    if (event->phase == 'b' || event->phase == 'n')
        return te_flow_find_async(plan, event);
    if (!tv_assembly_find(context->assembly,
                          &(struct tv_sought){deferred->thread, deferred->time, deferred->offset, NULL},
                          &row, &index))
        return false;
    event->row = row;
    event->index = index;
    return true;
}

static void te_flow_pair_bound_slice(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    struct tv_te_context *context = plan->context;
    if (!te_flow_find_slice(plan, event)) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (event->in && plan->states[event->key].from != TV_NONE)
        te_flow_add_arrow(plan, event);
    else if (event->in)
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
    if (event->out)
        te_flow_open(plan, event);
}

static void te_flow_bind_events(struct tv_te_flow_plan *plan)
{
    const struct tv_te_context *context = plan->context;
    struct tv_te_binding_queries queries = {
        .rows = plan->events->rows,
        .order = plan->order,
        .count = plan->events->count,
        .shift = context->trace->offset[context->input],
    };
    tv_te_flows_bind(context->assembly, context->trace, &queries, context->options->parts);
    tv_te_flows_bind_instants(context->trace, context->input, &queries);
}

static void te_flow_pair_all(struct tv_te_flow_plan *plan)
{
    plan->states = tv_alloc(plan->keys.count, sizeof *plan->states);
    for (size_t i = 0; i < plan->keys.count; i++)
        plan->states[i].from = TV_NONE;
    for (size_t i = 0; i < plan->events->count; i++) {
        struct tv_te_flow_event *event = &plan->events->rows[plan->order[i]];
        if (event->key == TV_NONE)
            continue;
        if (te_flow_is_event(event))
            te_flow_pair_event(plan, event);
        else
            te_flow_pair_bound_slice(plan, event);
    }
}

void tv_te_flows_pair(struct tv_te_context *context)
{
    te_flow_bind_events(context->flows);
    te_flow_pair_all(context->flows);
    tv_te_flows_free(context->flows);
    context->flows = NULL;
}

void tv_te_flows_free(struct tv_te_flow_plan *plan)
{
    if (!plan)
        return;
    tv_te_flow_list_release(plan->events);
    tv_te_flow_keys_release(&plan->keys);
    tv_free(plan->order);
    tv_free(plan->states);
    tv_free(plan->places);
    tv_free(plan);
}

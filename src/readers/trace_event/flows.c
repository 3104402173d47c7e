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
static bool te_flow_binds_next(const struct tv_te_flow_plan *joining, const struct tv_te_flow_event *event)
{
    struct tv_head *head = joining->context->trace->head;
    struct tv_bytes category = tv_head_text(head, head->frames[event->frame].category);
    return !te_flow_text_contains(category, TV_BYTES("input")) && !te_flow_text_contains(category, TV_BYTES("ipc.flow"));
}

static uint32_t te_flow_add_key(struct tv_te_flow_plan *joining, const struct tv_te_flow_event *event)
{
    struct tv_te_flow_key key = {tv_te_flow_bits(event), event->frame, (uint8_t)event->form};
    return tv_te_flow_keys_add(&joining->keys, key);
}

static void te_flow_read_event(struct tv_te_flow_plan *joining, struct tv_te_flow_event *event)
{
    uint32_t key = TV_NONE;
    if (event->unsaid)
        event->next = te_flow_binds_next(joining, event);
    if (event->form & TV_TE_FLOW_NO_ID)
        tv_te_warn(joining->context, TV_DIAGNOSTIC_ID_MISSING, event->offset);
    else if (event->bad_point)
        tv_te_warn(joining->context, TV_DIAGNOSTIC_FLOW_BAD_BINDING, event->offset);
    else
        key = te_flow_add_key(joining, event);
    event->asks = key != TV_NONE;
    event->key = key;
    event->row = event->index = TV_NONE;
}

/* The slice with a bind_id; false: it has none, or one that says nothing. */
static bool te_flow_read_bound_slice(struct tv_te_flow_plan *joining, uint32_t loose,
                             struct tv_te_flow_event *bound)
{
    struct tv_te_context *context = joining->context;
    const struct tv_te_loose *event = &context->loose[loose];
    struct tv_te_fields fields;
    if (!tv_te_event_read(context, event->offset, &fields) || fields.bind_id.data == NULL)
        return false;
    struct tv_te_flow_id id = tv_te_flow_id_of(tv_te_text(fields.bind_id, &context->scratch), false,
                                               &joining->events->longer);
    *bound = (struct tv_te_flow_event){
        .time = event->time,
        .offset = event->offset & TV_OFFSET_MASK,
        .phase = (uint8_t)event->phase,
        .form = id.form,
        .in = tv_te_truth(fields.flow_in),
        .out = tv_te_truth(fields.flow_out),
        .of = loose,
    };
    if (!bound->in && !bound->out) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_DIRECTION, event->offset);
        return false;
    }
    bound->key =
        tv_te_flow_keys_add(&joining->keys, (struct tv_te_flow_key){id.bits, TV_NONE, id.form});
    return true;
}

/* Whether it may have a bind_id: such ones do not keep what they say. */
static bool te_flow_may_be_bound(const struct tv_te_loose *event)
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

static void te_flow_read_bound_slices(struct tv_te_flow_plan *joining)
{
    const struct tv_te_context *context = joining->context;
    struct tv_te_flow_list bound = {.rows = NULL};
    struct tv_te_flow_event event;
    for (size_t i = 0; i < context->loose_count; i++)
        if (te_flow_may_be_bound(&context->loose[i]) && te_flow_read_bound_slice(joining, (uint32_t)i, &event))
            *tv_table_add(&bound) = event;
    if (bound.count > 0)
        te_flow_merge_by_offset(joining->events, bound.rows, bound.count);
    tv_free(bound.rows);
}

static void te_flow_sort_events(struct tv_te_flow_plan *joining)
{
    size_t count = joining->events->count;
    size_t size = tv_size_mul(count, sizeof(struct tv_sort_key));
    struct tv_sort_key *dated = tv_pages_alloc(size);
    for (size_t i = 0; i < count; i++)
        dated[i] = (struct tv_sort_key){tv_sort_signed(joining->events->rows[i].time), i};
    tv_sort_keys(dated, count);
    joining->order = tv_alloc(count, sizeof *joining->order);
    for (size_t i = 0; i < count; i++)
        joining->order[i] = (uint32_t)dated[i].index;
    tv_pages_free(dated, size);
}

void tv_te_flows_read(struct tv_te_context *context)
{
    struct tv_te_flow_plan *joining = tv_alloc(1, sizeof *joining);
    context->flows = joining;
    joining->context = context;
    joining->events = &context->flow_events;
    if (context->loose_count + joining->events->count >= TV_NONE)
        tv_memory_exhausted();
    te_flow_read_bound_slices(joining);
    te_flow_sort_events(joining); /* while there are few keys, as it takes as much memory as they do */
    for (size_t i = 0; i < joining->events->count; i++)
        if (te_flow_is_event(&joining->events->rows[i]))
            te_flow_read_event(joining, &joining->events->rows[i]);
    tv_te_flow_keys_rest(&joining->keys);
}

/* ---- Arrows ---- */

/* The frame of the arrow that an event begins. */
static uint32_t te_flow_frame(const struct tv_te_flow_plan *joining,
                         const struct tv_te_flow_event *event)
{
    return te_flow_is_event(event) ? joining->keys.rows[event->key].frame
                          : joining->context->loose[event->of].frame;
}

static struct tv_flow_end te_flow_arrival(const struct tv_te_flow_event *event)
{
    return (struct tv_flow_end){.time = event->time, .row = event->row, .index = event->index};
}

/* Where arrows leave: a slice with a bind_id is left at its end. */
static struct tv_flow_end te_flow_departure(const struct tv_te_flow_plan *joining,
                                   const struct tv_te_flow_event *event)
{
    const struct tv_te_context *context = joining->context;
    struct tv_flow_end end = te_flow_arrival(event);
    if (!te_flow_is_event(event))
        end.time = tv_slice_end(context->trace, end.row, end.index) -
                   context->trace->offset[context->input];
    return end;
}

/* Ids that no arrow has are not among the strings. */
static uint32_t te_flow_id_string(const struct tv_te_flow_plan *joining, uint32_t number)
{
    const struct tv_te_flow_key *key = &joining->keys.rows[number];
    struct tv_te_flow_id id = {key->bits, key->form};
    char room[TV_TE_FLOW_ROOM];
    return tv_head_string(joining->context->trace->head,
                          tv_te_flow_id_text(&id, joining->events->longer, room));
}

static void te_flow_add_arrow(struct tv_te_flow_plan *joining, const struct tv_te_flow_event *to)
{
    const struct tv_te_flow_event *from = &joining->events->rows[joining->states[to->key].from];
    struct tv_flow *flow = tv_table_add(&joining->context->trace->tables.flows);
    *flow = (struct tv_flow){
        .from = te_flow_departure(joining, from),
        .to = te_flow_arrival(to),
        .offset = from->offset,
        .end_offset = to->offset,
        .frame = te_flow_frame(joining, from),
        .id = te_flow_id_string(joining, to->key),
        .input = joining->context->input,
    };
}

static void te_flow_open(const struct tv_te_flow_plan *joining, const struct tv_te_flow_event *event)
{
    joining->states[event->key] = (struct te_flow_state){(uint32_t)(event - joining->events->rows), false};
}

static void te_flow_pair_event(struct tv_te_flow_plan *joining, const struct tv_te_flow_event *event)
{
    struct tv_te_context *context = joining->context;
    struct te_flow_state *state = &joining->states[event->key];
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
        te_flow_add_arrow(joining, event);
    if (event->phase == 'f')
        state->arrived = true;
    else
        te_flow_open(joining, event);
}

static int te_flow_compare_async(const void *left, const void *right)
{
    const struct te_flow_async_slice *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void te_flow_add_async_row(struct tv_te_flow_plan *joining, uint32_t row)
{
    const struct tv_trace *trace = joining->context->trace;
    uint32_t count = trace->rows[row].count;
    joining->places = tv_array_reserve(joining->places, &joining->place_capacity,
                                       joining->place_count + count, sizeof *joining->places);
    for (uint32_t i = 0; i < count; i++)
        joining->places[joining->place_count++] =
            (struct te_flow_async_slice){tv_slice_offset(trace, row, i), row, i};
}

static void te_flow_index_async(struct tv_te_flow_plan *joining)
{
    const struct tv_trace *trace = joining->context->trace;
    joining->have_places = true;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (trace->rows[row].input == joining->context->input &&
            trace->tracks[trace->rows[row].track].kind == TV_TRACK_ASYNC)
            te_flow_add_async_row(joining, row);
    if (joining->place_count > 0)
        qsort(joining->places, joining->place_count, sizeof *joining->places, te_flow_compare_async);
}

static bool te_flow_find_async(struct tv_te_flow_plan *joining, struct tv_te_flow_event *event)
{
    struct te_flow_async_slice wanted = {event->offset, 0, 0};
    const struct te_flow_async_slice *found;
    if (!joining->have_places)
        te_flow_index_async(joining);
    if (joining->place_count == 0)
        return false;
    found = bsearch(&wanted, joining->places, joining->place_count, sizeof wanted, te_flow_compare_async);
    if (found == NULL)
        return false;
    event->row = found->row;
    event->index = found->index;
    return true;
}

static bool te_flow_find_slice(struct tv_te_flow_plan *joining, struct tv_te_flow_event *event)
{
    const struct tv_te_context *context = joining->context;
    const struct tv_te_loose *loose = &context->loose[event->of];
    uint32_t row, index;
    if (event->phase == 'b' || event->phase == 'n')
        return te_flow_find_async(joining, event);
    if (!tv_assembly_find(context->assembly,
                          &(struct tv_sought){loose->thread, loose->time, loose->offset, NULL},
                          &row, &index))
        return false;
    event->row = row;
    event->index = index;
    return true;
}

static void te_flow_pair_bound_slice(struct tv_te_flow_plan *joining, struct tv_te_flow_event *event)
{
    struct tv_te_context *context = joining->context;
    if (!te_flow_find_slice(joining, event)) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (event->in && joining->states[event->key].from != TV_NONE)
        te_flow_add_arrow(joining, event);
    else if (event->in)
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
    if (event->out)
        te_flow_open(joining, event);
}

static void te_flow_bind_events(struct tv_te_flow_plan *joining)
{
    const struct tv_te_context *context = joining->context;
    struct tv_te_questions questions = {
        .rows = joining->events->rows,
        .order = joining->order,
        .count = joining->events->count,
        .shift = context->trace->offset[context->input],
    };
    tv_te_bind(context->assembly, context->trace, &questions, context->options->parts);
    tv_te_bind_instants(context->trace, context->input, &questions);
}

static void te_flow_pair_all(struct tv_te_flow_plan *joining)
{
    joining->states = tv_alloc(joining->keys.count, sizeof *joining->states);
    for (size_t i = 0; i < joining->keys.count; i++)
        joining->states[i].from = TV_NONE;
    for (size_t i = 0; i < joining->events->count; i++) {
        struct tv_te_flow_event *event = &joining->events->rows[joining->order[i]];
        if (event->key == TV_NONE)
            continue;
        if (te_flow_is_event(event))
            te_flow_pair_event(joining, event);
        else
            te_flow_pair_bound_slice(joining, event);
    }
}

void tv_te_flows(struct tv_te_context *context)
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

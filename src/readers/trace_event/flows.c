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
#include "readers/trace_event/binding.h"
#include "readers/trace_event/ids.h"

enum binding {
    AROUND, /* the slice around the event */
    NEXT,   /* the one that starts next */
    NEITHER,
};

struct told {
    uint32_t key; /* index in keys; TV_NONE: left out */
    uint8_t binding;
    bool in, out; /* of a slice with a bind_id */
};

struct key {
    uint32_t id; /* string, as shown */
    bool open;
    bool arrived; /* an end was there: another start may come */
    struct tv_flow_end from;
    uint64_t offset;
    uint32_t frame;
};

/* A slice of an async track. */
struct async_place {
    uint64_t offset;
    uint32_t row, index;
};

struct tv_te_flow_plan {
    struct tv_te_context *context;
    struct tv_te_picked picked;
    struct told *told; /* [picked.count] */
    struct tv_te_key text;
    struct tv_interner *ids; /* with their JSON type in front */
    struct tv_map numbers;   /* (frame, id) -> index in keys; frame TV_NONE: a bind_id */
    struct key *keys;
    size_t key_count, key_capacity;
    struct tv_te_question *questions; /* [picked.count] in the order of time */
    struct async_place *places;       /* made when first asked for, by offset */
    size_t place_count, place_capacity;
    bool have_places;
};

static uint32_t number_of(struct tv_te_flow_plan *joining, uint32_t frame, struct tv_bytes raw)
{
    struct tv_te_context *context = joining->context;
    bool typed = frame != TV_NONE && tv_te_is_string(raw);
    struct tv_bytes id = tv_te_text(raw, &context->scratch);
    joining->text.length = 0;
    tv_te_key_add(&joining->text, typed ? TV_BYTES("\"") : TV_BYTES(" "));
    tv_te_key_add(&joining->text, id);
    uint64_t key =
        (uint64_t)frame << 32 | tv_interner_add(joining->ids, tv_te_key_text(&joining->text));
    uint32_t number = tv_map_add(&joining->numbers, key, (uint32_t)joining->key_count);
    if (number < joining->key_count)
        return number;
    joining->keys = tv_array_reserve(joining->keys, &joining->key_capacity, joining->key_count + 1,
                                     sizeof *joining->keys);
    joining->keys[joining->key_count++] =
        (struct key){.id = tv_head_string(context->trace->head, id)};
    return number;
}

static bool contains(struct tv_bytes text, struct tv_bytes part)
{
    for (size_t i = 0; i + part.length <= text.length; i++)
        if (memcmp(text.data + i, part.data, part.length) == 0)
            return true;
    return false;
}

/* What an f event without "bp" means depends on its category, as it came to be in Chrome. */
static enum binding default_binding(struct tv_te_flow_plan *joining,
                                    const struct tv_te_loose *event)
{
    struct tv_head *head = joining->context->trace->head;
    struct tv_bytes category = tv_head_text(head, head->frames[event->frame].category);
    return contains(category, TV_BYTES("input")) || contains(category, TV_BYTES("ipc.flow"))
               ? AROUND
               : NEXT;
}

static enum binding find_binding(struct tv_te_flow_plan *joining, const struct tv_te_loose *event,
                                 const struct tv_te_link *link)
{
    if (event->phase != 'f')
        return AROUND;
    if (link->bp.data == NULL)
        return default_binding(joining, event);
    struct tv_bytes point = tv_te_text(link->bp, &joining->context->scratch);
    return tv_bytes_equal(point, TV_BYTES("e")) ? AROUND : NEITHER;
}

static void read_flow(struct tv_te_flow_plan *joining, const struct tv_te_loose *event,
                      struct told *told)
{
    struct tv_te_link link;
    if (!tv_te_link_read(joining->context, event, &link))
        return;
    enum binding binding = find_binding(joining, event, &link);
    told->binding = (uint8_t)binding;
    if (link.plain.data == NULL)
        tv_te_warn(joining->context, TV_DIAGNOSTIC_ID_MISSING, event->offset);
    else if (binding == NEITHER)
        tv_te_warn(joining->context, TV_DIAGNOSTIC_FLOW_BAD_BINDING, event->offset);
    else
        told->key = number_of(joining, event->frame, link.plain);
}

static void read_bound_slice(struct tv_te_flow_plan *joining, const struct tv_te_loose *event,
                             struct told *told)
{
    struct tv_te_fields fields;
    if (event->kept & TV_TE_KEPT) /* then it has no bind_id */
        return;
    if (!tv_te_event_read(joining->context, event->offset, &fields) || fields.bind_id.data == NULL)
        return;
    told->in = tv_te_truth(fields.flow_in);
    told->out = tv_te_truth(fields.flow_out);
    if (told->in || told->out)
        told->key = number_of(joining, TV_NONE, fields.bind_id);
    else
        tv_te_warn(joining->context, TV_DIAGNOSTIC_FLOW_NO_DIRECTION, event->offset);
}

static bool is_flow(const struct tv_te_loose *event)
{
    return event->phase == 's' || event->phase == 't' || event->phase == 'f';
}

static void read_event(struct tv_te_flow_plan *joining, const struct tv_te_loose *event,
                       struct told *told)
{
    *told = (struct told){.key = TV_NONE};
    if (is_flow(event))
        read_flow(joining, event, told);
    else
        read_bound_slice(joining, event, told);
}

static void add_arrow(struct tv_te_flow_plan *joining, const struct key *key, struct tv_flow_end to,
                      uint64_t end_offset)
{
    struct tv_flow *flow = tv_table_add(&joining->context->trace->tables.flows);
    *flow = (struct tv_flow){
        .from = key->from,
        .to = to,
        .offset = key->offset,
        .end_offset = end_offset,
        .frame = key->frame,
        .id = key->id,
        .input = joining->context->input,
    };
}

static void open_flow(struct key *key, const struct tv_te_loose *event, struct tv_flow_end from)
{
    key->open = true;
    key->arrived = false;
    key->from = from;
    key->offset = event->offset;
    key->frame = event->frame;
}

static struct tv_te_question ask(const struct tv_te_context *context,
                                 const struct tv_te_loose *event, const struct told *told)
{
    return (struct tv_te_question){
        .thread = told->key != TV_NONE && is_flow(event) ? event->thread : TV_NONE,
        .next = told->binding == NEXT,
        .time = event->time + context->trace->offset[context->input],
        .offset = event->offset,
    };
}

static void join_flow(struct tv_te_flow_plan *joining, const struct tv_te_loose *event,
                      const struct told *told, const struct tv_te_question *question)
{
    struct tv_te_context *context = joining->context;
    struct key *key = &joining->keys[told->key];
    struct tv_flow_end end = {.time = event->time, .row = question->row, .index = question->index};
    if (event->phase == 's' && key->open && !key->arrived) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_BEGUN_TWICE, event->offset);
        return;
    }
    if (event->phase != 's' && !key->open) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
        return;
    }
    if (question->index == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (event->phase != 's')
        add_arrow(joining, key, end, event->offset);
    if (event->phase == 'f')
        key->arrived = true;
    else
        open_flow(key, event, end);
}

static int compare_places(const void *left, const void *right)
{
    const struct async_place *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void add_places(struct tv_te_flow_plan *joining, uint32_t row)
{
    const struct tv_trace *trace = joining->context->trace;
    uint32_t count = trace->rows[row].count;
    joining->places = tv_array_reserve(joining->places, &joining->place_capacity,
                                       joining->place_count + count, sizeof *joining->places);
    for (uint32_t i = 0; i < count; i++)
        joining->places[joining->place_count++] =
            (struct async_place){tv_slice_offset(trace, row, i), row, i};
}

static void find_places(struct tv_te_flow_plan *joining)
{
    const struct tv_trace *trace = joining->context->trace;
    joining->have_places = true;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (trace->rows[row].input == joining->context->input &&
            trace->tracks[trace->rows[row].track].kind == TV_TRACK_ASYNC)
            add_places(joining, row);
    if (joining->place_count > 0)
        qsort(joining->places, joining->place_count, sizeof *joining->places, compare_places);
}

static bool find_async(struct tv_te_flow_plan *joining, uint64_t offset, uint32_t *row,
                       uint32_t *index)
{
    struct async_place wanted = {offset, 0, 0};
    const struct async_place *found;
    if (!joining->have_places)
        find_places(joining);
    if (joining->place_count == 0)
        return false;
    found = bsearch(&wanted, joining->places, joining->place_count, sizeof wanted, compare_places);
    if (found == NULL)
        return false;
    *row = found->row;
    *index = found->index;
    return true;
}

static void join_bound_slice(struct tv_te_flow_plan *joining, const struct tv_te_loose *event,
                             const struct told *told)
{
    struct tv_te_context *context = joining->context;
    struct key *key = &joining->keys[told->key];
    struct tv_flow_end end = {.time = event->time};
    bool async = event->phase == 'b' || event->phase == 'n';
    if (!(async ? find_async(joining, event->offset, &end.row, &end.index)
                : tv_assembly_find(
                      context->assembly,
                      &(struct tv_sought){event->thread, event->time, event->offset, NULL},
                      &end.row, &end.index))) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (told->in && key->open)
        add_arrow(joining, key, end, event->offset);
    else if (told->in)
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
    if (!told->out)
        return;
    end.time =
        tv_slice_end(context->trace, end.row, end.index) - context->trace->offset[context->input];
    open_flow(key, event, end);
}

/* What the texts of all events tell; they are in the order of the file. */
static void read_events(struct tv_te_flow_plan *joining)
{
    const struct tv_te_picked *picked = &joining->picked;
    joining->told = tv_alloc(picked->count, sizeof *joining->told);
    joining->ids = tv_interner_new();
    tv_map_init(&joining->numbers);
    for (size_t i = 0; i < picked->count; i++)
        read_event(joining, &joining->context->loose[picked->loose[i]], &joining->told[i]);
    tv_interner_free(joining->ids);
    tv_map_release(&joining->numbers);
    tv_te_key_release(&joining->text);
    joining->ids = NULL;
}

void tv_te_flows_read(struct tv_te_context *context)
{
    struct tv_te_flow_plan *joining = tv_alloc(1, sizeof *joining);
    joining->context = context;
    tv_te_pick(&joining->picked, context, "stfXBbn");
    read_events(joining);
    context->flows = joining;
}

static void find_slices(struct tv_te_flow_plan *joining)
{
    const struct tv_te_context *context = joining->context;
    const struct tv_te_picked *picked = &joining->picked;
    joining->questions = tv_alloc(picked->count, sizeof *joining->questions);
    for (size_t i = 0; i < picked->count; i++) {
        size_t next = picked->order[i];
        joining->questions[i] =
            ask(context, &context->loose[picked->loose[next]], &joining->told[next]);
    }
    tv_te_bind(context->assembly, context->trace, joining->questions, picked->count,
               context->options->parts);
    tv_te_bind_instants(context->trace, context->input, joining->questions, picked->count);
}

static void join_events(struct tv_te_flow_plan *joining)
{
    const struct tv_te_picked *picked = &joining->picked;
    for (size_t i = 0; i < picked->count; i++) {
        size_t next = picked->order[i];
        const struct tv_te_loose *event = &joining->context->loose[picked->loose[next]];
        if (joining->told[next].key == TV_NONE)
            continue;
        if (is_flow(event))
            join_flow(joining, event, &joining->told[next], &joining->questions[i]);
        else
            join_bound_slice(joining, event, &joining->told[next]);
    }
}

void tv_te_flows(struct tv_te_context *context)
{
    find_slices(context->flows);
    join_events(context->flows);
    tv_te_flows_free(context->flows);
    context->flows = NULL;
}

void tv_te_flows_free(struct tv_te_flow_plan *plan)
{
    if (!plan)
        return;
    tv_te_picked_release(&plan->picked);
    tv_free(plan->told);
    tv_free(plan->questions);
    tv_free(plan->keys);
    tv_free(plan->places);
    tv_free(plan);
}

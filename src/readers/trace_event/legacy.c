/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy.c - async slices of the old kind: phases S, T, p and F (trace-event.md section 3.6).
 *
 * Their key is name and id, without the category.  A step T lasts from its event to the next, a
 * step p from the event before to its own; one slice has steps of one kind.
 *
 * A T with a length is no step but the state of a thread: states.c.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/ids.h"

struct te_legacy_details {
    uint32_t key;  /* index in keys; TV_NONE: left out, or a thread's state */
    uint32_t step; /* string: its name */
    uint8_t colour;
    bool tells;
};

/* Events with one name and id. */
struct te_legacy_key {
    uint32_t id, group; /* as the slice has them */
    uint32_t name;      /* string */
    uint32_t slice;     /* that is open, in context->async; TV_NONE */
    uint32_t last_step; /* a T, open to the next event; TV_NONE */
    int64_t last;       /* time of the event before */
    char kind;          /* of its steps: T or p; 0: none yet; '!': both were there */
};

struct te_legacy_pairing {
    struct tv_te_context *context;
    struct tv_te_id_key text;
    struct tv_map numbers; /* (name, id) -> index in keys */
    struct tv_map latest;  /* (name, group of joined ids) -> index in keys: begun last */
    struct te_legacy_key *keys;
    size_t key_count, key_capacity;
};

static uint32_t te_legacy_add_key(struct te_legacy_pairing *pairing, uint32_t name)
{
    struct tv_head *head = pairing->context->trace->head;
    uint32_t id = tv_head_string(head, tv_te_id_key_text(&pairing->text));
    uint32_t number =
        tv_map_add(&pairing->numbers, (uint64_t)name << 32 | id, (uint32_t)pairing->key_count);
    if (number < pairing->key_count)
        return number;
    pairing->keys = tv_array_reserve(pairing->keys, &pairing->key_capacity, pairing->key_count + 1,
                                     sizeof *pairing->keys);
    pairing->keys[pairing->key_count++] = (struct te_legacy_key){
        .id = id,
        .group = tv_te_id_group(pairing->context, tv_te_id_key_text(&pairing->text)),
        .name = name,
        .slice = TV_NONE,
        .last_step = TV_NONE,
    };
    return number;
}

/* The name of a step: args.step, as text; else that of its event. */
static uint32_t te_legacy_step_name(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                          const struct tv_te_fields *fields)
{
    struct tv_head *head = pairing->context->trace->head;
    struct tv_bytes step = tv_te_member(fields->args, "step");
    if (step.data == NULL)
        return head->frames[event->frame].name;
    return tv_head_string(head, tv_te_decode_text(step, &pairing->context->scratch));
}

/* Steps have more than what is kept: their names, and lengths that make them states. */
static bool te_legacy_read_step(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                      struct tv_te_link *link, struct te_legacy_details *details)
{
    struct tv_te_fields fields;
    int64_t length;
    if (!tv_te_event_read(pairing->context, event->offset, &fields) ||
        (event->phase == 'T' && tv_te_parse_time(fields.dur, &length)))
        return false;
    *link = tv_te_link_of(event, &fields);
    details->step = te_legacy_step_name(pairing, event, &fields);
    return true;
}

static void te_legacy_read_event(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event, struct te_legacy_details *details)
{
    struct tv_te_context *context = pairing->context;
    uint32_t name = context->trace->head->frames[event->frame].name;
    bool step = event->phase == 'T' || event->phase == 'p';
    struct tv_te_link link;
    *details = (struct te_legacy_details){.key = TV_NONE, .step = TV_EMPTY_STRING};
    if (!(step ? te_legacy_read_step(pairing, event, &link, details) : tv_te_link_read(context, event, &link)))
        return;
    details->colour = link.colour;
    details->tells = link.tells;
    /* Marks of Chrome's clock, which clock.c reads; they have no id. */
    if (tv_bytes_starts_with(tv_head_text(context->trace->head, name), TV_BYTES("ClockSyncEvent.")))
        return;
    pairing->text.length = 0;
    if (!tv_te_id_key_add_event_id(&pairing->text, context, event, &link, TV_TE_ID_SHARED))
        return;
    details->key = te_legacy_add_key(pairing, name);
}

static uint32_t te_legacy_add_slice(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                          const struct te_legacy_details *details, int64_t start)
{
    struct tv_async_slice *slice = tv_table_add(&pairing->context->async);
    *slice = (struct tv_async_slice){
        .start = start,
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = event->offset,
        .end_offset = TV_NO_OFFSET,
        .frame = event->frame,
        .parent = TV_NONE,
        .start_thread = event->thread,
        .end_thread = event->thread,
        .process = TV_NONE,
        .id = TV_EMPTY_STRING,
        .group = TV_NONE,
        .colour = details->colour,
    };
    return (uint32_t)(pairing->context->async.count - 1);
}

static void te_legacy_begin(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event, const struct te_legacy_details *details)
{
    struct te_legacy_key *key = &pairing->keys[details->key];
    if (key->slice != TV_NONE) {
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_BEGUN_TWICE, event->offset);
        return;
    }
    key->slice = te_legacy_add_slice(pairing, event, details, event->time);
    key->last_step = TV_NONE;
    key->last = event->time;
    key->kind = 0;
    pairing->context->async.rows[key->slice].id = key->id;
    pairing->context->async.rows[key->slice].group = key->group;
    if (key->group != TV_NONE)
        tv_map_set(&pairing->latest, (uint64_t)key->name << 32 | key->group, details->key);
}

/* What is open under the event's name and id; else what an id that "=" joined to it began last. */
static struct te_legacy_key *te_legacy_find_open(struct te_legacy_pairing *pairing, const struct te_legacy_details *details)
{
    struct te_legacy_key *key = &pairing->keys[details->key];
    if (key->slice != TV_NONE || key->group == TV_NONE)
        return key;
    uint32_t other = tv_map_find(&pairing->latest, (uint64_t)key->name << 32 | key->group);
    return other == TV_NONE ? key : &pairing->keys[other];
}

static void te_legacy_end_step(struct te_legacy_pairing *pairing, struct te_legacy_key *key, int64_t time)
{
    if (key->last_step == TV_NONE)
        return;
    struct tv_async_slice *step = &pairing->context->async.rows[key->last_step];
    step->length = time - step->start;
    key->last_step = TV_NONE;
}

static void te_legacy_add_step(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                     const struct te_legacy_details *details, struct te_legacy_key *key)
{
    struct tv_te_context *context = pairing->context;
    struct tv_frame frame = context->trace->head->frames[event->frame];
    uint32_t number =
        te_legacy_add_slice(pairing, event, details, event->phase == 'T' ? event->time : key->last);
    struct tv_async_slice *step = &context->async.rows[number];
    frame.name = details->step;
    step->frame = tv_head_add_frame(context->trace->head, &frame);
    step->parent = key->slice;
    step->id = key->id;
    step->group = key->group;
    step->length = event->time - step->start;
    if (event->phase == 'T')
        key->last_step = number;
}

static void te_legacy_take_step(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                      const struct te_legacy_details *details)
{
    struct te_legacy_key *key = te_legacy_find_open(pairing, details);
    if (key->slice == TV_NONE) {
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_STRAY_STEP, event->offset);
        return;
    }
    te_legacy_end_step(pairing, key, event->time);
    if (key->kind == 0)
        key->kind = event->phase;
    if (key->kind == event->phase) {
        te_legacy_add_step(pairing, event, details, key);
    } else {
        key->kind = '!';
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_MIXED_STEPS, event->offset);
    }
    key->last = event->time;
}

static void te_legacy_end(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event, const struct te_legacy_details *details)
{
    struct te_legacy_key *key = te_legacy_find_open(pairing, details);
    if (key->slice == TV_NONE) {
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_STRAY_STEP, event->offset);
        return;
    }
    te_legacy_end_step(pairing, key, event->time);
    struct tv_async_slice *slice = &pairing->context->async.rows[key->slice];
    slice->length = event->time - slice->start;
    slice->end_thread = event->thread;
    if (details->tells)
        slice->end_offset = event->offset;
    key->slice = TV_NONE;
}

/* What has no F ends with its file. */
static void te_legacy_close_open(struct te_legacy_pairing *pairing)
{
    struct tv_te_context *context = pairing->context;
    for (size_t i = 0; i < pairing->key_count; i++) {
        struct te_legacy_key *key = &pairing->keys[i];
        if (key->slice == TV_NONE)
            continue;
        struct tv_async_slice *slice = &context->async.rows[key->slice];
        if (key->last_step != TV_NONE)
            context->async.rows[key->last_step].flags = TV_SLICE_OPEN;
        tv_ns end = tv_te_thread_end(context, slice->start_thread, key->last);
        te_legacy_end_step(pairing, key, end);
        slice->length = end - slice->start;
        slice->flags = TV_SLICE_OPEN;
        tv_te_warn(context, TV_DIAGNOSTIC_ASYNC_OPEN, slice->offset);
    }
}

static void te_legacy_pair_event(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                       const struct te_legacy_details *details)
{
    if (details->key == TV_NONE)
        return;
    if (event->phase == 'S')
        te_legacy_begin(pairing, event, details);
    else if (event->phase == 'F')
        te_legacy_end(pairing, event, details);
    else
        te_legacy_take_step(pairing, event, details);
}

void tv_te_async_pair_legacy(struct tv_te_context *context)
{
    struct te_legacy_pairing pairing = {.context = context};
    struct tv_te_selection selection;
    tv_te_select(&selection, context, "STpF");
    struct te_legacy_details *details = tv_alloc(selection.count, sizeof *details);
    tv_map_init(&pairing.numbers);
    tv_map_init(&pairing.latest);
    for (size_t i = 0; i < selection.count; i++)
        te_legacy_read_event(&pairing, &context->deferred[selection.deferred[i]], &details[i]);
    for (size_t i = 0; i < selection.count; i++) {
        size_t next = selection.order[i];
        te_legacy_pair_event(&pairing, &context->deferred[selection.deferred[next]], &details[next]);
    }
    te_legacy_close_open(&pairing);
    tv_free(details);
    tv_map_release(&pairing.numbers);
    tv_map_release(&pairing.latest);
    tv_free(pairing.keys);
    tv_te_id_key_release(&pairing.text);
    tv_te_selection_release(&selection);
}

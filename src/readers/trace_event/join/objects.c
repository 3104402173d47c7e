/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c - objects with their snapshots: phases N, O and D (trace-event.md section 3.8).
 *
 *     N ---- O ---- O ---- D      N ...
 *     created  snapshots   deleted, and the id may be used again
 *
 * An object is (process, scope, id) between its creation and its deletion.  A snapshot of an object
 * that was not created creates it.  An object inside a snapshot whose id is "Type/0x12" is a
 * snapshot of that object at the same time.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/trace.h"
#include "readers/trace_event/join/join.h"
#include "readers/trace_event/join/object_references.h"

/* The details of an event, or of an object inside a snapshot.  Strings of the head. */
struct te_object_details {
    uint64_t offset;
    uint32_t key; /* TV_NONE: left out */
    uint32_t id, scope, type, category;
    uint32_t base_type; /* empty: none is stated */
    uint32_t group;
};

/* A snapshot, before those of one object are together. */
struct te_object_snapshot {
    int64_t time;
    uint64_t offset;
    uint32_t object;
    uint32_t next; /* of the same object; TV_NONE */
    bool inner;
};

/* The snapshots of an object, as a list. */
struct te_object_life {
    uint32_t first_snapshot, last_snapshot; /* TV_NONE: none yet */
    uint64_t offset;                        /* offset of the event that created it */
};

struct te_object_joining {
    struct tv_te_context *context;
    struct tv_te_id_key text; /* scratch: the key being written */
    struct tv_map alive;      /* key -> object; a deleted object stays until the next one */
    struct te_object_details *details; /* of the events */
    size_t *inner_from;                /* by event: its inner snapshots begin here in `inner` */
    struct te_object_details *inner;
    size_t inner_count, inner_capacity;
    struct te_object_snapshot *snapshots;
    size_t snapshot_count, snapshot_capacity;
    struct te_object_life *lives; /* of the objects from first_object on */
    size_t life_capacity;
    size_t first_object;
    const struct tv_te_deferred *event; /* whose snapshot is being read */
    uint32_t category;                  /* category of that snapshot */
};

/* Decode a raw value, and return its string of the head. */
static uint32_t te_object_string(struct te_object_joining *joining, struct tv_bytes raw)
{
    struct tv_te_context *context = joining->context;
    return tv_trace_info_string(context->trace->head, tv_te_decode_text(raw, &context->scratch));
}

/* Return the offset in the input of a text of the event that was read last. */
static uint64_t te_object_text_offset(const struct tv_te_context *context, const uint8_t *at)
{
    const struct tv_window *window = &context->window;
    if (at < window->buffer || at >= window->buffer + window->length)
        return TV_NO_OFFSET;
    return window->offset + (uint64_t)(at - window->buffer);
}

/* Split "Type/0x12", the id of an object inside a snapshot, at its last slash. */
static bool te_object_split_id(struct te_object_joining *joining, struct tv_bytes raw,
                               uint32_t *type, uint32_t *id)
{
    struct tv_trace_info *head = joining->context->trace->head;
    struct tv_bytes text = tv_te_decode_text(raw, &joining->context->scratch), front = text;
    while (front.length > 0 && front.data[front.length - 1] != '/')
        front.length--;
    if (front.length < 2 || front.length == text.length)
        return false;
    text.data += front.length;
    text.length -= front.length;
    front.length--;
    *type = tv_trace_info_string(head, front);
    *id = tv_trace_info_string(head, text);
    return true;
}

/* Keep an object inside a snapshot as a snapshot of its own. */
static void te_object_take_inner(void *context, const struct tv_te_nested *nested)
{
    struct te_object_joining *joining = context;
    struct tv_trace_info *head = joining->context->trace->head;
    struct te_object_details details = {.offset =
                                            te_object_text_offset(joining->context, nested->at)};
    if (!te_object_split_id(joining, nested->id, &details.type, &details.id))
        return;
    details.scope = nested->scope.data == NULL ? tv_trace_info_string(head, TV_BYTES("ptr"))
                                               : te_object_string(joining, nested->scope);
    details.category =
        nested->cat.data == NULL ? joining->category : te_object_string(joining, nested->cat);
    details.base_type = te_object_string(joining, nested->base_type);
    joining->text.length = 0;
    tv_te_id_key_add_parts(&joining->text, head, joining->event->process,
                           tv_trace_info_text(head, details.scope),
                           tv_trace_info_text(head, details.id));
    details.key = tv_trace_info_string(head, tv_te_id_key_text(&joining->text));
    details.group = tv_te_id_group(joining->context, tv_te_id_key_text(&joining->text));
    joining->inner = tv_array_reserve(joining->inner, &joining->inner_capacity,
                                      joining->inner_count + 1, sizeof *joining->inner);
    joining->inner[joining->inner_count++] = details;
}

/* Read the snapshot of an O event and the objects inside of it. */
static void te_object_read_snapshot(struct te_object_joining *joining,
                                    const struct tv_te_deferred *event,
                                    const struct tv_te_fields *fields,
                                    struct te_object_details *details)
{
    struct tv_bytes snapshot = tv_te_member(fields->args, "snapshot");
    if (snapshot.data == NULL) {
        tv_te_warn(joining->context, TV_DIAGNOSTIC_SNAPSHOT_MISSING, event->offset);
        details->key = TV_NONE;
        return;
    }
    /* The format's text shows "cat" beside the snapshot, Trace Viewer reads it inside. */
    struct tv_bytes category = tv_te_member(snapshot, "cat");
    if (category.data == NULL)
        category = tv_te_member(fields->args, "cat");
    struct tv_bytes base_type = tv_te_member(snapshot, "base_type");
    if (tv_te_is_string(category))
        details->category = te_object_string(joining, category);
    if (tv_te_is_string(base_type))
        details->base_type = te_object_string(joining, base_type);
    joining->event = event;
    joining->category = details->category;
    tv_te_nested_visit_snapshots(snapshot, te_object_take_inner, joining);
}

/* Read what an event says; TV_NONE as key leaves it out. */
static void te_object_read_event(struct te_object_joining *joining,
                                 const struct tv_te_deferred *event,
                                 struct te_object_details *details)
{
    struct tv_te_context *context = joining->context;
    struct tv_trace_info *head = context->trace->head;
    struct tv_te_fields fields;
    struct tv_bytes raw;
    *details = (struct te_object_details){.key = TV_NONE};
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    joining->text.length = 0;
    struct tv_te_link link = tv_te_link_of(event, &fields);
    if (!tv_te_id_key_add_event_id(&joining->text, context, event, &link, TV_TE_ID_OWNED))
        return;
    tv_te_fields_id(&fields, &raw);
    *details = (struct te_object_details){
        .offset = event->offset,
        .key = tv_trace_info_string(head, tv_te_id_key_text(&joining->text)),
        .id = te_object_string(joining, raw),
        .scope = fields.scope.data == NULL ? tv_trace_info_string(head, TV_BYTES("ptr"))
                                           : te_object_string(joining, fields.scope),
        .type = head->frames[event->frame].name,
        .category = head->frames[event->frame].category,
        .base_type = TV_EMPTY_STRING,
        .group = tv_te_id_group(context, tv_te_id_key_text(&joining->text)),
    };
    if (event->phase == 'O')
        te_object_read_snapshot(joining, event, &fields, details);
}

/* Return an object of this input; the pointer is valid until the next one is created. */
static struct tv_object *te_object_at(struct te_object_joining *joining, uint32_t number)
{
    assert(number >= joining->first_object);
    return &joining->context->trace->tables.objects.rows[number];
}

/* Add an object, alive from this event on. */
static uint32_t te_object_create(struct te_object_joining *joining,
                                 const struct tv_te_deferred *event,
                                 const struct te_object_details *details, unsigned flags)
{
    struct tv_tables *tables = &joining->context->trace->tables;
    struct tv_object *object = tv_table_add(&tables->objects);
    uint32_t number = (uint32_t)(tables->objects.count - 1);
    size_t nth = number - joining->first_object;
    *object = (struct tv_object){
        .created = event->time,
        .deleted = event->time,
        .type = details->type,
        .base_type = details->base_type,
        .category = details->category,
        .id = details->id,
        .scope = details->scope,
        .process = event->process,
        .input = joining->context->input,
        .created_at = flags & TV_OBJECT_CREATED ? event->offset : TV_NO_OFFSET,
        .deleted_at = TV_NO_OFFSET,
        .group = details->group,
        .flags = (uint8_t)flags,
    };
    joining->lives =
        tv_array_reserve(joining->lives, &joining->life_capacity, nth + 1, sizeof *joining->lives);
    joining->lives[nth] = (struct te_object_life){TV_NONE, TV_NONE, event->offset};
    tv_map_set(&joining->alive, details->key, number);
    return number;
}

/* Return the living object of the key, or TV_NONE. */
static uint32_t te_object_find_alive(struct te_object_joining *joining, uint32_t key)
{
    uint32_t number = tv_map_find(&joining->alive, key);
    if (number == TV_NONE || (te_object_at(joining, number)->flags & TV_OBJECT_DELETED) != 0)
        return TV_NONE;
    return number;
}

/* An object may once turn out to be of a derived type: the snapshot that says so names the type it
 * was created as. */
static bool te_object_fits_type(struct tv_object *object, const struct te_object_details *details)
{
    if (details->type == object->type || details->type == object->base_type)
        return details->base_type == TV_EMPTY_STRING || details->base_type == object->base_type ||
               details->base_type == object->type;
    if (details->base_type == TV_EMPTY_STRING || object->base_type != TV_EMPTY_STRING ||
        details->base_type != object->type)
        return false;
    object->base_type = object->type;
    object->type = details->type;
    return true;
}

/* Count a type or category that differs from the object's. */
static void te_object_check_fit(struct te_object_joining *joining, uint32_t number,
                                const struct te_object_details *details)
{
    struct tv_object *object = te_object_at(joining, number);
    if (!te_object_fits_type(object, details) || details->category != object->category)
        tv_te_warn(joining->context, TV_DIAGNOSTIC_OBJECT_MISMATCH, details->offset);
}

/* Add a snapshot to its object.  A second one at the same time is counted and left out. */
static void te_object_add_snapshot(struct te_object_joining *joining,
                                   const struct tv_te_deferred *event,
                                   const struct te_object_details *details, bool inner)
{
    uint32_t object = te_object_find_alive(joining, details->key);
    if (object == TV_NONE)
        object = te_object_create(joining, event, details, 0);
    else
        te_object_check_fit(joining, object, details);
    struct te_object_life *life = &joining->lives[object - joining->first_object];
    if (life->last_snapshot != TV_NONE &&
        joining->snapshots[life->last_snapshot].time == event->time) {
        tv_te_warn(joining->context, TV_DIAGNOSTIC_SNAPSHOT_TWICE, details->offset);
        return;
    }
    uint32_t number = (uint32_t)joining->snapshot_count++;
    joining->snapshots = tv_array_reserve(joining->snapshots, &joining->snapshot_capacity,
                                          joining->snapshot_count, sizeof *joining->snapshots);
    joining->snapshots[number] =
        (struct te_object_snapshot){event->time, details->offset, object, TV_NONE, inner};
    if (life->last_snapshot == TV_NONE)
        life->first_snapshot = number;
    else
        joining->snapshots[life->last_snapshot].next = number;
    life->last_snapshot = number;
}

/* Create an object, unless it lives. */
static void te_object_take_creation(struct te_object_joining *joining,
                                    const struct tv_te_deferred *event,
                                    const struct te_object_details *details)
{
    if (te_object_find_alive(joining, details->key) == TV_NONE)
        te_object_create(joining, event, details, TV_OBJECT_CREATED);
    else
        tv_te_warn(joining->context, TV_DIAGNOSTIC_OBJECT_CREATED_TWICE, event->offset);
}

/* Delete an object.  One that was never created lives for no time. */
static void te_object_take_deletion(struct te_object_joining *joining,
                                    const struct tv_te_deferred *event,
                                    const struct te_object_details *details)
{
    uint32_t number = te_object_find_alive(joining, details->key);
    if (number == TV_NONE)
        number = te_object_create(joining, event, details, 0);
    else
        te_object_check_fit(joining, number, details);
    te_object_at(joining, number)->deleted = event->time;
    te_object_at(joining, number)->deleted_at = event->offset;
    te_object_at(joining, number)->flags |= TV_OBJECT_DELETED;
}

/* Apply all events in the order of time, each followed by its inner snapshots. */
static void te_objects_join_events(struct te_object_joining *joining,
                                   const struct tv_te_selection *selection)
{
    for (size_t i = 0; i < selection->count; i++) {
        size_t next = selection->order[i];
        const struct tv_te_deferred *event =
            &joining->context->deferred.rows[selection->rows[next]];
        const struct te_object_details *details = &joining->details[next];
        if (details->key == TV_NONE)
            continue;
        if (event->phase == 'N')
            te_object_take_creation(joining, event, details);
        else if (event->phase == 'D')
            te_object_take_deletion(joining, event, details);
        else
            te_object_add_snapshot(joining, event, details, false);
        for (size_t n = joining->inner_from[next]; n < joining->inner_from[next + 1]; n++)
            te_object_add_snapshot(joining, event, &joining->inner[n], true);
    }
}

/* Write the snapshots of each object together; what was not deleted lives to the end. */
static void te_objects_finish(struct te_object_joining *joining)
{
    struct tv_tables *tables = &joining->context->trace->tables;
    for (size_t i = joining->first_object; i < tables->objects.count; i++) {
        struct tv_object *object = &tables->objects.rows[i];
        object->first_snapshot = (uint32_t)tables->snapshots.count;
        uint32_t snapshot_number = joining->lives[i - joining->first_object].first_snapshot;
        for (; snapshot_number != TV_NONE;
             snapshot_number = joining->snapshots[snapshot_number].next) {
            struct tv_snapshot *snapshot = tv_table_add(&tables->snapshots);
            snapshot->time = joining->snapshots[snapshot_number].time;
            snapshot->offset = joining->snapshots[snapshot_number].offset;
            snapshot->inner = joining->snapshots[snapshot_number].inner;
            snapshot->object = (uint32_t)i;
            snapshot->input = joining->context->input;
        }
        object->snapshot_count = (uint32_t)tables->snapshots.count - object->first_snapshot;
        if ((object->flags & TV_OBJECT_DELETED) == 0)
            object->deleted = tv_te_process_end(joining->context, object->process, object->created);
    }
}

/* Return the id as those of async slices are shown: "category:scope:id". */
static uint32_t te_object_shown_id(struct te_object_joining *joining,
                                   const struct tv_object *object)
{
    struct tv_trace_info *head = joining->context->trace->head;
    joining->text.length = 0;
    tv_te_id_key_add(&joining->text, tv_trace_info_text(head, object->category));
    tv_te_id_key_add(&joining->text, TV_BYTES(":"));
    tv_te_id_key_add(&joining->text, tv_trace_info_text(head, object->scope));
    tv_te_id_key_add(&joining->text, TV_BYTES(":"));
    tv_te_id_key_add(&joining->text, tv_trace_info_text(head, object->id));
    return tv_trace_info_string(head, tv_te_id_key_text(&joining->text));
}

/* Add the lifetime of an object as an async slice. */
static void te_object_add_lifetime(struct te_object_joining *joining,
                                   const struct tv_object *object, uint64_t offset)
{
    struct tv_te_context *context = joining->context;
    struct tv_frame frame = {.name = object->type, .category = object->category};
    struct tv_async_slice *slice = tv_table_add(&context->async);
    *slice = tv_async_slice_of(object->created, offset, TV_NONE);
    slice->length = object->deleted - object->created;
    slice->frame = tv_trace_info_add_frame(context->trace->head, &frame);
    slice->process = object->process;
    slice->id = te_object_shown_id(joining, object);
    slice->group = object->group;
    slice->lifetime = true;
    slice->flags = object->flags & TV_OBJECT_DELETED ? 0 : TV_SLICE_OPEN;
}

/* Objects and async slices with joined ids are one tree, in which lifetimes are slices. */
static void te_objects_add_lifetimes(struct te_object_joining *joining)
{
    const struct tv_tables *tables = &joining->context->trace->tables;
    for (size_t i = joining->first_object; i < tables->objects.count; i++)
        if (tables->objects.rows[i].group != TV_NONE)
            te_object_add_lifetime(joining, &tables->objects.rows[i],
                                   joining->lives[i - joining->first_object].offset);
}

/* Events are read in the order of the file, which is fast, and applied in the order of time. */
void tv_te_objects_read(struct tv_te_context *context)
{
    struct te_object_joining joining = {.context = context};
    struct tv_te_selection selection;
    tv_te_select(&selection, context, "NOD");
    joining.first_object = context->trace->tables.objects.count;
    joining.details = tv_alloc(selection.count, sizeof *joining.details);
    joining.inner_from = tv_alloc(selection.count + 1, sizeof *joining.inner_from);
    tv_map_init(&joining.alive);
    for (size_t i = 0; i < selection.count; i++) {
        joining.inner_from[i] = joining.inner_count;
        te_object_read_event(&joining, &context->deferred.rows[selection.rows[i]],
                             &joining.details[i]);
    }
    joining.inner_from[selection.count] = joining.inner_count;
    te_objects_join_events(&joining, &selection);
    te_objects_finish(&joining);
    te_objects_add_lifetimes(&joining);
    tv_map_release(&joining.alive);
    tv_free(joining.details);
    tv_free(joining.inner_from);
    tv_free(joining.inner);
    tv_free(joining.snapshots);
    tv_free(joining.lives);
    tv_te_id_key_release(&joining.text);
    tv_te_selection_release(&selection);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c - objects with their snapshots: phases N, O and D (trace-event.md section 3.8).
 *
 * An object is (process, scope, id) between its creation and deletion; the id may be used again
 * afterwards.  A snapshot of what was not created creates it.  Objects inside a snapshot whose id
 * is "Type/0x12" are snapshots of that object.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/objects.h"
#include "readers/trace_event/ids.h"
#include "readers/trace_event/nested.h"

/* What an event, or an object inside a snapshot, tells. Strings of the head. */
struct te_object_event {
    uint64_t offset;
    uint32_t key; /* TV_NONE: left out */
    uint32_t id, scope, type, category;
    uint32_t base_type; /* empty: it tells none */
    uint32_t group;
};

/* A snapshot before those of one object are put together. */
struct te_object_snapshot {
    int64_t time;
    uint64_t offset;
    uint32_t object;
    uint32_t next; /* of the same object; TV_NONE */
    bool inner;
};

/* An object while it is alive. */
struct te_object_life {
    uint32_t first_shot, last_shot; /* TV_NONE: none yet */
    uint64_t offset;                /* of the event that created it */
};

struct te_object_joining {
    struct tv_te_context *context;
    struct tv_te_key text;
    struct tv_map alive; /* key -> object; an object that was deleted stays until the next */
    struct te_object_event *told;   /* of the events, then of inner snapshots */
    size_t *inner_from;  /* of each event: its inner ones begin here in `inner` */
    struct te_object_event *inner;
    size_t inner_count, inner_capacity;
    struct te_object_snapshot *shots;
    size_t shot_count, shot_capacity;
    struct te_object_life *lives; /* of objects from first_object on */
    size_t life_capacity;
    size_t first_object;
    const struct tv_te_loose *event; /* whose snapshot is walked */
    uint32_t category;               /* of it */
};

static uint32_t te_object_string(struct te_object_joining *joining, struct tv_bytes raw)
{
    struct tv_te_context *context = joining->context;
    return tv_head_string(context->trace->head, tv_te_text(raw, &context->scratch));
}

/* Where in the input a text lies that the last event is made of. */
static uint64_t te_object_text_offset(const struct tv_te_context *context, const uint8_t *at)
{
    const struct tv_window *window = &context->window;
    if (at < window->buffer || at >= window->buffer + window->length)
        return TV_NO_OFFSET;
    return window->offset + (uint64_t)(at - window->buffer);
}

/* "Type/0x12" of an object inside a snapshot: type and id stand before and behind the last slash.
 */
static bool te_object_split_id(struct te_object_joining *joining, struct tv_bytes raw, uint32_t *type, uint32_t *id)
{
    struct tv_head *head = joining->context->trace->head;
    struct tv_bytes text = tv_te_text(raw, &joining->context->scratch), front = text;
    while (front.length > 0 && front.data[front.length - 1] != '/')
        front.length--;
    if (front.length < 2 || front.length == text.length)
        return false;
    text.data += front.length;
    text.length -= front.length;
    front.length--;
    *type = tv_head_string(head, front);
    *id = tv_head_string(head, text);
    return true;
}

static void te_object_take_inner(void *context, const struct tv_te_nested *nested)
{
    struct te_object_joining *joining = context;
    struct tv_head *head = joining->context->trace->head;
    struct te_object_event told = {.offset = te_object_text_offset(joining->context, nested->at)};
    if (!te_object_split_id(joining, nested->id, &told.type, &told.id))
        return;
    told.scope = nested->scope.data == NULL ? tv_head_string(head, TV_BYTES("ptr"))
                                            : te_object_string(joining, nested->scope);
    told.category = nested->cat.data == NULL ? joining->category : te_object_string(joining, nested->cat);
    told.base_type = te_object_string(joining, nested->base_type);
    joining->text.length = 0;
    tv_te_key_add_parts(&joining->text, head, joining->event->process,
                        tv_head_text(head, told.scope), tv_head_text(head, told.id));
    told.key = tv_head_string(head, tv_te_key_text(&joining->text));
    told.group = tv_te_group(joining->context, tv_te_key_text(&joining->text));
    joining->inner = tv_array_reserve(joining->inner, &joining->inner_capacity,
                                      joining->inner_count + 1, sizeof *joining->inner);
    joining->inner[joining->inner_count++] = told;
}

static void te_object_read_snapshot(struct te_object_joining *joining, const struct tv_te_loose *event,
                          const struct tv_te_fields *fields, struct te_object_event *told)
{
    struct tv_bytes snapshot = tv_te_member(fields->args, "snapshot");
    if (snapshot.data == NULL) {
        tv_te_warn(joining->context, TV_DIAGNOSTIC_SNAPSHOT_MISSING, event->offset);
        told->key = TV_NONE;
        return;
    }
    /* The format's text shows it beside the snapshot, Trace Viewer reads it inside. */
    struct tv_bytes category = tv_te_member(snapshot, "cat");
    if (category.data == NULL)
        category = tv_te_member(fields->args, "cat");
    struct tv_bytes base_type = tv_te_member(snapshot, "base_type");
    if (tv_te_is_string(category))
        told->category = te_object_string(joining, category);
    if (tv_te_is_string(base_type))
        told->base_type = te_object_string(joining, base_type);
    joining->event = event;
    joining->category = told->category;
    tv_te_nested_find(snapshot, te_object_take_inner, joining);
}

static void te_object_read_event(struct te_object_joining *joining, const struct tv_te_loose *event, struct te_object_event *told)
{
    struct tv_te_context *context = joining->context;
    struct tv_head *head = context->trace->head;
    struct tv_te_fields fields;
    struct tv_bytes raw;
    *told = (struct te_object_event){.key = TV_NONE};
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    joining->text.length = 0;
    struct tv_te_link link = tv_te_link_of(event, &fields);
    if (!tv_te_key_add_event_id(&joining->text, context, event, &link, TV_TE_ID_OWNED))
        return;
    tv_te_id(&fields, &raw);
    *told = (struct te_object_event){
        .offset = event->offset,
        .key = tv_head_string(head, tv_te_key_text(&joining->text)),
        .id = te_object_string(joining, raw),
        .scope = fields.scope.data == NULL ? tv_head_string(head, TV_BYTES("ptr"))
                                           : te_object_string(joining, fields.scope),
        .type = head->frames[event->frame].name,
        .category = head->frames[event->frame].category,
        .base_type = TV_EMPTY_STRING,
        .group = tv_te_group(context, tv_te_key_text(&joining->text)),
    };
    if (event->phase == 'O')
        te_object_read_snapshot(joining, event, &fields, told);
}

static struct tv_object *te_object_at(struct te_object_joining *joining, uint32_t number)
{
    return &joining->context->trace->tables.objects.rows[number];
}

static uint32_t te_object_create(struct te_object_joining *joining, const struct tv_te_loose *event,
                       const struct te_object_event *told, unsigned flags)
{
    struct tv_tables *tables = &joining->context->trace->tables;
    struct tv_object *object = tv_table_add(&tables->objects);
    uint32_t number = (uint32_t)(tables->objects.count - 1);
    size_t nth = number - joining->first_object;
    *object = (struct tv_object){
        .created = event->time,
        .deleted = event->time,
        .type = told->type,
        .base_type = told->base_type,
        .category = told->category,
        .id = told->id,
        .scope = told->scope,
        .process = event->process,
        .input = joining->context->input,
        .created_at = flags & TV_OBJECT_CREATED ? event->offset : TV_NO_OFFSET,
        .deleted_at = TV_NO_OFFSET,
        .group = told->group,
        .flags = (uint8_t)flags,
    };
    joining->lives =
        tv_array_reserve(joining->lives, &joining->life_capacity, nth + 1, sizeof *joining->lives);
    joining->lives[nth] = (struct te_object_life){TV_NONE, TV_NONE, event->offset};
    tv_map_set(&joining->alive, told->key, number);
    return number;
}

/* The object of the key that is alive, or TV_NONE. */
static uint32_t te_object_find_alive(struct te_object_joining *joining, uint32_t key)
{
    uint32_t number = tv_map_find(&joining->alive, key);
    if (number == TV_NONE || (te_object_at(joining, number)->flags & TV_OBJECT_DELETED) != 0)
        return TV_NONE;
    return number;
}

/* An object may turn out to be of a derived type once: the snapshot that says so names the type
 * that it was created as. */
static bool te_object_fits_type(struct tv_object *object, const struct te_object_event *told)
{
    if (told->type == object->type || told->type == object->base_type)
        return told->base_type == TV_EMPTY_STRING || told->base_type == object->base_type ||
               told->base_type == object->type;
    if (told->base_type == TV_EMPTY_STRING || object->base_type != TV_EMPTY_STRING ||
        told->base_type != object->type)
        return false;
    object->base_type = object->type;
    object->type = told->type;
    return true;
}

static void te_object_check_fit(struct te_object_joining *joining, uint32_t number, const struct te_object_event *told)
{
    struct tv_object *object = te_object_at(joining, number);
    if (!te_object_fits_type(object, told) || told->category != object->category)
        tv_te_warn(joining->context, TV_DIAGNOSTIC_OBJECT_MISMATCH, told->offset);
}

static void te_object_add_snapshot(struct te_object_joining *joining, const struct tv_te_loose *event,
                     const struct te_object_event *told, bool inner)
{
    uint32_t object = te_object_find_alive(joining, told->key);
    if (object == TV_NONE)
        object = te_object_create(joining, event, told, 0);
    else
        te_object_check_fit(joining, object, told);
    struct te_object_life *life = &joining->lives[object - joining->first_object];
    if (life->last_shot != TV_NONE && joining->shots[life->last_shot].time == event->time) {
        tv_te_warn(joining->context, TV_DIAGNOSTIC_SNAPSHOT_TWICE, told->offset);
        return;
    }
    uint32_t number = (uint32_t)joining->shot_count++;
    joining->shots = tv_array_reserve(joining->shots, &joining->shot_capacity, joining->shot_count,
                                      sizeof *joining->shots);
    joining->shots[number] = (struct te_object_snapshot){event->time, told->offset, object, TV_NONE, inner};
    if (life->last_shot == TV_NONE)
        life->first_shot = number;
    else
        joining->shots[life->last_shot].next = number;
    life->last_shot = number;
}

static void te_object_take_creation(struct te_object_joining *joining, const struct tv_te_loose *event,
                          const struct te_object_event *told)
{
    if (te_object_find_alive(joining, told->key) == TV_NONE)
        te_object_create(joining, event, told, TV_OBJECT_CREATED);
    else
        tv_te_warn(joining->context, TV_DIAGNOSTIC_OBJECT_CREATED_TWICE, event->offset);
}

static void te_object_take_deletion(struct te_object_joining *joining, const struct tv_te_loose *event,
                          const struct te_object_event *told)
{
    uint32_t number = te_object_find_alive(joining, told->key);
    if (number == TV_NONE)
        number = te_object_create(joining, event, told, 0);
    else
        te_object_check_fit(joining, number, told);
    te_object_at(joining, number)->deleted = event->time;
    te_object_at(joining, number)->deleted_at = event->offset;
    te_object_at(joining, number)->flags |= TV_OBJECT_DELETED;
}

static void te_objects_join_events(struct te_object_joining *joining, const struct tv_te_picked *picked)
{
    for (size_t i = 0; i < picked->count; i++) {
        size_t next = picked->order[i];
        const struct tv_te_loose *event = &joining->context->loose[picked->loose[next]];
        const struct te_object_event *told = &joining->told[next];
        if (told->key == TV_NONE)
            continue;
        if (event->phase == 'N')
            te_object_take_creation(joining, event, told);
        else if (event->phase == 'D')
            te_object_take_deletion(joining, event, told);
        else
            te_object_add_snapshot(joining, event, told, false);
        for (size_t n = joining->inner_from[next]; n < joining->inner_from[next + 1]; n++)
            te_object_add_snapshot(joining, event, &joining->inner[n], true);
    }
}

/* Puts the snapshots of each object together; what was not deleted lives to the end. */
static void te_objects_finish(struct te_object_joining *joining)
{
    struct tv_tables *tables = &joining->context->trace->tables;
    for (size_t i = joining->first_object; i < tables->objects.count; i++) {
        struct tv_object *object = &tables->objects.rows[i];
        object->first_snapshot = (uint32_t)tables->snapshots.count;
        uint32_t shot = joining->lives[i - joining->first_object].first_shot;
        for (; shot != TV_NONE; shot = joining->shots[shot].next) {
            struct tv_snapshot *snapshot = tv_table_add(&tables->snapshots);
            snapshot->time = joining->shots[shot].time;
            snapshot->offset = joining->shots[shot].offset;
            snapshot->inner = joining->shots[shot].inner;
            snapshot->object = (uint32_t)i;
            snapshot->input = joining->context->input;
        }
        object->snapshot_count = (uint32_t)tables->snapshots.count - object->first_snapshot;
        if ((object->flags & TV_OBJECT_DELETED) == 0)
            object->deleted = tv_te_end(joining->context, object->process, object->created);
    }
}

/* As the ids of async slices are shown: "category:scope:id". */
static uint32_t te_object_shown_id(struct te_object_joining *joining, const struct tv_object *object)
{
    struct tv_head *head = joining->context->trace->head;
    joining->text.length = 0;
    tv_te_key_add(&joining->text, tv_head_text(head, object->category));
    tv_te_key_add(&joining->text, TV_BYTES(":"));
    tv_te_key_add(&joining->text, tv_head_text(head, object->scope));
    tv_te_key_add(&joining->text, TV_BYTES(":"));
    tv_te_key_add(&joining->text, tv_head_text(head, object->id));
    return tv_head_string(head, tv_te_key_text(&joining->text));
}

static void te_object_add_lifetime(struct te_object_joining *joining, const struct tv_object *object, uint64_t offset)
{
    struct tv_te_context *context = joining->context;
    struct tv_frame frame = {.name = object->type, .category = object->category};
    *tv_table_add(&context->async) = (struct tv_async_slice){
        .start = object->created,
        .length = object->deleted - object->created,
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = offset,
        .end_offset = TV_NO_OFFSET,
        .frame = tv_head_add_frame(context->trace->head, &frame),
        .parent = TV_NONE,
        .start_thread = TV_NONE,
        .end_thread = TV_NONE,
        .process = object->process,
        .id = te_object_shown_id(joining, object),
        .group = object->group,
        .lifetime = true,
        .flags = object->flags & TV_OBJECT_DELETED ? 0 : TV_SLICE_OPEN,
    };
}

/* Objects and async slices whose ids are joined are one tree, in which lifetimes are slices. */
static void te_objects_add_lifetimes(struct te_object_joining *joining)
{
    const struct tv_tables *tables = &joining->context->trace->tables;
    for (size_t i = joining->first_object; i < tables->objects.count; i++)
        if (tables->objects.rows[i].group != TV_NONE)
            te_object_add_lifetime(joining, &tables->objects.rows[i],
                         joining->lives[i - joining->first_object].offset);
}

void tv_te_objects(struct tv_te_context *context)
{
    struct te_object_joining joining = {.context = context};
    struct tv_te_picked picked;
    tv_te_pick(&picked, context, "NOD");
    joining.first_object = context->trace->tables.objects.count;
    joining.told = tv_alloc(picked.count, sizeof *joining.told);
    joining.inner_from = tv_alloc(picked.count + 1, sizeof *joining.inner_from);
    tv_map_init(&joining.alive);
    for (size_t i = 0; i < picked.count; i++) {
        joining.inner_from[i] = joining.inner_count;
        te_object_read_event(&joining, &context->loose[picked.loose[i]], &joining.told[i]);
    }
    joining.inner_from[picked.count] = joining.inner_count;
    te_objects_join_events(&joining, &picked);
    te_objects_finish(&joining);
    te_objects_add_lifetimes(&joining);
    tv_map_release(&joining.alive);
    tv_free(joining.told);
    tv_free(joining.inner_from);
    tv_free(joining.inner);
    tv_free(joining.shots);
    tv_free(joining.lives);
    tv_te_key_release(&joining.text);
    tv_te_picked_release(&picked);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c - objects with their snapshots and the contexts that refer to them.
 *
 *     process, type    lane 0   |--- 0x12 ---|   |-- 0x34 --|       an object is a bar
 *                               *    *  *        *                  a snapshot is a mark on it
 *                      lane 1       |----- 0x20 -----|
 *
 * The rows and lanes are those of the whole trace (struct tv_object_index), so
 * an object does not jump to another lane while somebody scrolls.  A lane is
 * free again when its object was deleted.
 *
 * Ids are the text of the file.  They have a meaning only together with a
 * process, a scope and a time, because programs reuse addresses.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/assembly/assembly.h"
#include "model/trace.h"
#include "view/internal.h"

/* An object with the keys by which it is sorted. */
struct sortable_object {
    const struct tv_trace *trace;
    const struct tv_object *object;
    tv_ns begin;
    uint32_t type, number;
};

/* Return the type that an object is drawn under. */
static uint32_t object_index_type(const struct tv_object *object)
{
    return object->base_type == TV_EMPTY_STRING ? object->type : object->base_type;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Sort by process, type name, creation and number. */
static int object_index_compare(const void *left, const void *right)
{
    const struct sortable_object *a = left, *b = right;
    const struct tv_trace_info *head = a->trace->head;
    int order = ORDER(a->object->process, b->object->process);
    if (order == 0 && a->type != b->type)
        order =
            tv_bytes_compare(tv_trace_info_text(head, a->type), tv_trace_info_text(head, b->type));
    if (order == 0)
        order = ORDER(a->begin, b->begin);
    return order ? order : ORDER(a->number, b->number);
}

struct tv_object_index *tv_object_index_new(const struct tv_trace *trace)
{
    struct tv_object_index *index = tv_alloc(1, sizeof *index);
    index->trace = trace;
    tv_lock_init(&index->lock);
    return index;
}

void tv_object_index_free(struct tv_object_index *index)
{
    if (!index)
        return;
    tv_lock_release(&index->lock);
    tv_free(index->rows);
    tv_free(index->order);
    tv_free(index->row_of);
    tv_free(index->lane);
    tv_free(index);
}

/* Return all objects in the order of the rows. */
static struct sortable_object *object_index_sort(const struct tv_trace *trace, size_t count)
{
    struct sortable_object *items = tv_alloc(count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        items[i] = (struct sortable_object){trace, object, tv_object_begin(trace, object),
                                            object_index_type(object), (uint32_t)i};
    }
    if (count > 1)
        qsort(items, count, sizeof *items, object_index_compare);
    return items;
}

/* Begin a row with the process and type of an object. */
static void object_index_add_row(struct tv_object_index *index, const struct sortable_object *item,
                                 uint32_t first)
{
    index->rows = tv_array_reserve(index->rows, &index->row_capacity, (size_t)index->row_count + 1,
                                   sizeof *index->rows);
    index->rows[index->row_count++] = (struct tv_object_row){
        .process = item->object->process, .type = item->type, .first = first};
}

/* An object without length occupies its lane for a moment. */
static void object_index_assign_lane(struct tv_object_index *index, struct tv_lanes *lanes,
                                     const struct sortable_object *item)
{
    assert(index->row_count > 0);
    struct tv_object_row *row = &index->rows[index->row_count - 1];
    tv_ns end = tv_object_end(index->trace, item->object);
    uint32_t lane = tv_lanes_claim(lanes, item->begin, end > item->begin ? end : item->begin + 1);
    if (lane >= TV_OBJECT_LANES)
        lane = TV_OBJECT_LANES - 1;
    if (lane >= row->lanes)
        row->lanes = lane + 1;
    row->count++;
    row->snapshots += item->object->snapshot_count;
    index->lane[item->number] = lane;
    index->row_of[item->number] = index->row_count - 1;
}

/* Assign all objects to rows and lanes. */
static void object_index_build(struct tv_object_index *index)
{
    size_t count = index->trace->tables.objects.count;
    struct sortable_object *items = object_index_sort(index->trace, count);
    struct tv_lanes lanes = {0};
    index->order = tv_alloc(count, sizeof *index->order);
    index->row_of = tv_alloc(count, sizeof *index->row_of);
    index->lane = tv_alloc(count, sizeof *index->lane);
    for (size_t i = 0; i < count; i++) {
        const struct sortable_object *item = &items[i];
        const struct tv_object_row *row =
            index->row_count > 0 ? &index->rows[index->row_count - 1] : NULL;
        if (!row || row->process != item->object->process || row->type != item->type) {
            tv_lanes_release(&lanes);
            object_index_add_row(index, item, (uint32_t)i);
        }
        index->order[i] = item->number;
        object_index_assign_lane(index, &lanes, item);
    }
    tv_lanes_release(&lanes);
    tv_free(items);
}

const struct tv_object_index *tv_object_index_get(struct tv_object_index *index)
{
    tv_lock_enter(&index->lock);
    if (!index->made)
        object_index_build(index);
    index->made = true;
    tv_lock_leave(&index->lock);
    return index;
}

/* ---- Objects ----
 */

#define ROW_LIMIT 64   /* rows per question */
#define LABEL_LIMIT 64 /* bytes of an id next to its bar */
#define JOINED_LIMIT 50

/* Objects and snapshots of the requested rows; an owner is a lane of a row. */
struct shown_objects {
    const struct tv_trace *trace;
    const struct tv_object_index *index;
    struct tv_pixels objects, snapshots;
};

/* Return the time of a snapshot on the axis of the trace. */
static tv_ns view_snapshot_time(const struct tv_trace *trace, uint32_t number)
{
    const struct tv_snapshot *snapshot = &trace->tables.snapshots.rows[number];
    return tv_trace_time(trace, snapshot->input, snapshot->time);
}

/* Return the first snapshot of an object after a time. */
static uint32_t view_object_find_snapshot(const struct tv_trace *trace,
                                          const struct tv_object *object, tv_ns time)
{
    uint32_t low = object->first_snapshot;
    TV_LOWER_BOUND(low, low + object->snapshot_count, i, view_snapshot_time(trace, i) <= time);
    return low;
}

/* Add snapshots; the one that is current when the range begins is included. */
static void view_objects_add_snapshots(struct shown_objects *shown, const struct tv_object *object,
                                       uint32_t owner)
{
    const struct tv_view_window *window = &shown->snapshots.window;
    uint32_t end = object->first_snapshot + object->snapshot_count;
    uint32_t first = view_object_find_snapshot(shown->trace, object, window->from);
    first -= first > object->first_snapshot;
    for (uint32_t i = first; i < end; i++) {
        tv_ns time = view_snapshot_time(shown->trace, i);
        if (time >= window->to)
            break;
        tv_pixels_add(&shown->snapshots, owner, i, time, time);
    }
}

/* Add the objects of a row that touch the window. */
static void view_objects_add_row(struct shown_objects *shown, uint32_t row, uint32_t place)
{
    const struct tv_object_row *r = &shown->index->rows[row];
    const struct tv_view_window *window = &shown->objects.window;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t number = shown->index->order[r->first + i];
        const struct tv_object *object = &shown->trace->tables.objects.rows[number];
        tv_ns begin = tv_object_begin(shown->trace, object);
        tv_ns end = tv_object_end(shown->trace, object);
        uint32_t owner = place * TV_OBJECT_LANES + shown->index->lane[number];
        if (begin >= window->to)
            break; /* they are sorted by creation */
        if (end < window->from)
            continue;
        tv_pixels_add(&shown->objects, owner, number, begin, end);
        view_objects_add_snapshots(shown, object, owner);
    }
}

/* [object, start, end, row, lane, count, flags, id]; merged ones have no flags and no id */
static void view_objects_write_bar(struct tv_out *out, const struct shown_objects *shown,
                                   const struct tv_pixel_row *row)
{
    const struct tv_object *object = &shown->trace->tables.objects.rows[row->number];
    struct tv_bytes id = tv_trace_info_text(shown->trace->head, object->id);
    if (id.length > LABEL_LIMIT)
        id.length = LABEL_LIMIT;
    tv_out_format(out, "[%u,", row->number);
    tv_out_i64(out, row->time);
    tv_out_char(out, ',');
    tv_out_i64(out, row->end);
    tv_out_format(out, ",%u,%u,%u,%u,", shown->index->row_of[row->number],
                  row->owner % TV_OBJECT_LANES, row->count, row->count > 1 ? 0u : object->flags);
    tv_out_json(out, row->count > 1 ? TV_BYTES("") : id);
    tv_out_char(out, ']');
}

/* [snapshot, time, object, row, lane, count] */
static void view_objects_write_mark(struct tv_out *out, const struct shown_objects *shown,
                                    const struct tv_pixel_row *row)
{
    uint32_t object = shown->trace->tables.snapshots.rows[row->number].object;
    tv_out_format(out, "[%u,", row->number);
    tv_out_i64(out, row->time);
    tv_out_format(out, ",%u,%u,%u,%u]", object, shown->index->row_of[object],
                  row->owner % TV_OBJECT_LANES, row->count);
}

/* Write objects and snapshots. */
static void view_objects_write(struct tv_out *out, const struct shown_objects *shown)
{
    tv_out_text(out, "{\"objects\":[");
    for (uint32_t i = 0; i < shown->objects.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        view_objects_write_bar(out, shown, &shown->objects.rows[i]);
    }
    tv_out_text(out, "],\n\"snapshots\":[");
    for (uint32_t i = 0; i < shown->snapshots.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        view_objects_write_mark(out, shown, &shown->snapshots.rows[i]);
    }
    tv_member_number(
        out, "],\"left_out\":", (int64_t)(shown->objects.left_out + shown->snapshots.left_out));
    tv_out_char(out, '}');
}

/* Answer api/objects: the bars and marks of some rows in a range. */
enum tv_status tv_view_objects(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    struct shown_objects shown = {.trace = view->trace,
                                  .index = tv_object_index_get(view->objects)};
    struct tv_view_window window;
    uint32_t rows[ROW_LIMIT], count = 0;
    enum tv_status status =
        tv_parameter_window(parameters, view->trace, TV_PIXEL_LIMIT, &window, err);
    if (status == TV_OK)
        status = tv_parameter_numbers(
            parameters, (struct tv_parameter_list){"rows", ROW_LIMIT, shown.index->row_count}, rows,
            &count, err);
    if (status != TV_OK)
        return status;
    tv_pixels_init(&shown.objects, &window, (size_t)count * TV_OBJECT_LANES);
    tv_pixels_init(&shown.snapshots, &window, (size_t)count * TV_OBJECT_LANES);
    for (uint32_t i = 0; i < count; i++)
        view_objects_add_row(&shown, rows[i], i);
    view_objects_write(out, &shown);
    tv_pixels_release(&shown.objects);
    tv_pixels_release(&shown.snapshots);
    return TV_OK;
}

/* Write the objects that "=" events joined with this one, as [object, type, id]. */
static void view_object_write_joined(struct tv_out *out, const struct tv_trace *trace,
                                     uint32_t number)
{
    const struct tv_object *own = &trace->tables.objects.rows[number];
    uint32_t written = 0;
    tv_out_text(out, ",\"joined\":[");
    for (size_t i = 0; own->group != TV_NONE && i < trace->tables.objects.count; i++) {
        const struct tv_object *other = &trace->tables.objects.rows[i];
        if (other->group != own->group || i == number || written == JOINED_LIMIT)
            continue;
        tv_member_number(out, written++ > 0 ? ",[" : "[", (int64_t)i);
        tv_member_text(out, ",", trace->head, other->type);
        tv_member_text(out, ",", trace->head, other->id);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

/* Write all facts of an object. */
static void view_object_write(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_object *object = &trace->tables.objects.rows[number];
    tv_member_number(out, "{\"object\":", number);
    tv_member_text(out, ",\"type\":", trace->head, object->type);
    tv_member_text(out, ",\"base_type\":", trace->head, object->base_type);
    tv_member_text(out, ",\"category\":", trace->head, object->category);
    tv_member_text(out, ",\"id\":", trace->head, object->id);
    tv_member_text(out, ",\"scope\":", trace->head, object->scope);
    tv_member_index(out, ",\"process\":", object->process);
    tv_member_number(out, ",\"created_ns\":", tv_object_begin(trace, object));
    tv_member_number(out, ",\"deleted_ns\":", tv_object_end(trace, object));
    tv_member_flag(out, ",\"created\":", object->flags & TV_OBJECT_CREATED);
    tv_member_flag(out, ",\"deleted\":", object->flags & TV_OBJECT_DELETED);
    tv_member_number(out, ",\"first_snapshot\":", object->first_snapshot);
    tv_member_number(out, ",\"snapshots\":", object->snapshot_count);
    view_object_write_joined(out, trace, number);
    tv_view_write_joins(out, trace, object->group);
    tv_out_char(out, '}');
}

/* Answer api/object: all facts of one object. */
enum tv_status tv_view_object(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_parameter_bounds all = {0, (int64_t)view->trace->tables.objects.count - 1};
    int64_t number;
    enum tv_status status = tv_parameter_required(parameters, "object", all, &number, err);
    if (status == TV_OK)
        view_object_write(out, view->trace, (uint32_t)number);
    return status;
}

/* Read the snapshot that the parameter names. */
static enum tv_status view_object_read_snapshot(const struct tv_trace *trace,
                                                const struct tv_parameters *parameters,
                                                uint32_t *number, struct tv_error *err)
{
    struct tv_parameter_bounds all = {0, (int64_t)trace->tables.snapshots.count - 1};
    int64_t value = 0;
    enum tv_status status = tv_parameter_required(parameters, "snapshot", all, &value, err);
    *number = (uint32_t)value;
    return status;
}

/* Answer api/snapshot: the state of an object, valid until the next snapshot or
 * the object's end. */
enum tv_status tv_view_snapshot(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t number;
    enum tv_status status = view_object_read_snapshot(trace, parameters, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_snapshot *snapshot = &trace->tables.snapshots.rows[number];
    const struct tv_object *object = &trace->tables.objects.rows[snapshot->object];
    uint32_t place = number - object->first_snapshot;
    bool last = place + 1 >= object->snapshot_count;
    tv_member_number(out, "{\"snapshot\":", number);
    tv_member_number(out, ",\"time_ns\":", view_snapshot_time(trace, number));
    tv_member_number(out, ",\"until_ns\":",
                     last ? tv_object_end(trace, object) : view_snapshot_time(trace, number + 1));
    tv_member_number(out, ",\"nth\":", (int64_t)place + 1);
    tv_member_flag(out, ",\"inner\":", snapshot->inner);
    tv_out_text(out, ",\"of\":");
    view_object_write(out, trace, snapshot->object);
    struct tv_view_event event = {snapshot->input, TV_NONE, snapshot->offset, TV_NO_OFFSET};
    tv_view_write_event(out, trace, &event);
    tv_out_char(out, '}');
    return TV_OK;
}

struct tv_bytes tv_view_process_name(const struct tv_trace_info *head, uint32_t process,
                                     char room[TV_PROCESS_ROOM])
{
    if (process >= head->process_count)
        return TV_BYTES("");
    if (head->processes[process].key != TV_EMPTY_STRING)
        return tv_trace_info_text(head, head->processes[process].key);
    int length =
        snprintf(room, TV_PROCESS_ROOM, "%llu", (unsigned long long)head->processes[process].id);
    return (struct tv_bytes){(const uint8_t *)room, (size_t)length};
}

/* Answer api/reference: the snapshot that an id inside a snapshot means; the
 * process may be named, else it is that of the snapshot. */
enum tv_status tv_view_reference(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t number;
    enum tv_status status = view_object_read_snapshot(trace, parameters, &number, err);
    if (status != TV_OK)
        return status;
    char room[TV_PROCESS_ROOM];
    const struct tv_snapshot *snapshot = &trace->tables.snapshots.rows[number];
    uint32_t process = trace->tables.objects.rows[snapshot->object].process;
    struct tv_bytes pid = tv_parameter_text(parameters, "pid");
    struct tv_object_reference reference = {
        .input = snapshot->input,
        .pid = pid.data ? pid : tv_view_process_name(trace->head, process, room),
        .scope = tv_parameter_text(parameters, "scope"),
        .id = tv_parameter_text(parameters, "id"),
        .time = snapshot->time,
    };
    tv_member_index(out, "{\"snapshot\":", tv_object_find_snapshot(trace, &reference));
    tv_out_char(out, '}');
    return TV_OK;
}

/* ---- Contexts ----
 *
 * The contexts that a thread was in when a slice began, as Trace Viewer records them.
 */

/* At equal times, the order in the file decides. */
static bool context_contains(const struct tv_context *context, tv_ns time, uint64_t offset)
{
    if (context->start == time)
        return offset == TV_NO_OFFSET || context->offset < offset;
    return context->start < time && time < context->end;
}

/* Return the thread's first context; contexts are sorted by thread and start. */
static size_t context_first(const struct tv_tables *tables, uint32_t thread)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, tables->contexts.count, i, tables->contexts.rows[i].thread < thread);
    return low;
}

/* Return the snapshot that a context's id refers to at that time; TV_NONE if there is none. */
static uint32_t context_snapshot(const struct tv_trace *trace, const struct tv_context *context,
                                 tv_ns time)
{
    char room[TV_PROCESS_ROOM];
    uint32_t process = trace->head->threads[context->thread].process;
    struct tv_object_reference reference = {
        .input = context->input,
        .pid = tv_view_process_name(trace->head, process, room),
        .id = tv_trace_info_text(trace->head, context->id),
        .time = time,
    };
    return tv_object_find_snapshot(trace, &reference);
}

/* [type, id, start, end, offset, snapshot] */
static void context_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_context *context, tv_ns time)
{
    tv_out_char(out, '[');
    tv_out_json(out, tv_trace_info_text(trace->head, context->type));
    tv_out_char(out, ',');
    tv_out_json(out, tv_trace_info_text(trace->head, context->id));
    tv_out_char(out, ',');
    tv_out_i64(out, tv_trace_time(trace, context->input, context->start));
    tv_out_char(out, ',');
    tv_out_i64(out, tv_trace_time(trace, context->input, context->end));
    tv_out_char(out, ',');
    tv_out_u64(out, context->offset);
    tv_member_index(out, ",", context_snapshot(trace, context, time));
    tv_out_char(out, ']');
}

void tv_view_write_contexts(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                            uint32_t index)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    if (tables->contexts.count == 0 || track->kind == TV_TRACK_ASYNC || track->thread == TV_NONE)
        return;
    tv_ns time = tv_slice_start(trace, row, index);
    uint64_t offset = tv_slice_offset(trace, row, index);
    bool any = false;
    for (size_t i = context_first(tables, track->thread); i < tables->contexts.count; i++) {
        const struct tv_context *context = &tables->contexts.rows[i];
        tv_ns own = time - trace->offset[context->input];
        if (context->thread != track->thread || context->start > own)
            break;
        if (!context_contains(context, own, offset))
            continue;
        tv_out_text(out, any ? ",\n" : ",\"contexts\":[");
        context_write(out, trace, context, own);
        any = true;
    }
    tv_out_text(out, any ? "]" : "");
}

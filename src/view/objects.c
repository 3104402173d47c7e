/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: those of a row and a range with their snapshots, and all about one object or snapshot.
 */
#include "model/trace.h"
#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/members.h"
#include "view/object_index.h"
#include "view/pixels.h"
#include "view/state.h"

#define ROW_LIMIT 64   /* rows a question */
#define LABEL_LIMIT 64 /* bytes of an id beside its bar */
#define JOINED_LIMIT 50

/* "0,3,4": at most ROW_LIMIT of them. */
static enum tv_status read_rows(const struct tv_parameters *parameters,
                                const struct tv_object_index *index, uint32_t *rows,
                                uint32_t *count, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "rows"), item;
    uint64_t number;
    *count = 0;
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &item);
        if (*count == ROW_LIMIT || !tv_parse_u64(item, &number) || number >= index->row_count)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "rows: expected at most %d numbers below %u with commas", ROW_LIMIT,
                           index->row_count);
        rows[(*count)++] = (uint32_t)number;
    }
    return TV_OK;
}

/* Objects and snapshots of the rows asked for; an owner is a lane of a row. */
struct shown {
    const struct tv_trace *trace;
    const struct tv_object_index *index;
    struct tv_pixels objects, snapshots;
};

static tv_ns snapshot_time(const struct tv_trace *trace, uint32_t number)
{
    const struct tv_snapshot *snapshot = &trace->tables.snapshots.rows[number];
    return tv_trace_time(trace, snapshot->input, snapshot->time);
}

/* The first snapshot of an object after a time. */
static uint32_t find_snapshot(const struct tv_trace *trace, const struct tv_object *object,
                              tv_ns time)
{
    uint32_t low = object->first_snapshot, count = object->snapshot_count;
    while (count > 0) {
        uint32_t half = count / 2;
        if (snapshot_time(trace, low + half) <= time) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* The snapshot that holds where the range begins is one of them. */
static void take_snapshots(struct shown *shown, const struct tv_object *object, uint32_t owner)
{
    const struct tv_view_window *window = &shown->snapshots.window;
    uint32_t end = object->first_snapshot + object->snapshot_count;
    uint32_t first = find_snapshot(shown->trace, object, window->from);
    first -= first > object->first_snapshot;
    for (uint32_t i = first; i < end; i++) {
        tv_ns time = snapshot_time(shown->trace, i);
        if (time >= window->to)
            break;
        tv_pixels_take(&shown->snapshots, owner, i, time, time);
    }
}

static void take_row(struct shown *shown, uint32_t row, uint32_t place)
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
            break; /* they stand by creation */
        if (end < window->from)
            continue;
        tv_pixels_take(&shown->objects, owner, number, begin, end);
        take_snapshots(shown, object, owner);
    }
}

/* [object, start, end, row, lane, count, flags, id]: of many neither flags nor id. */
static void write_object(struct tv_out *out, const struct shown *shown,
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
static void write_mark(struct tv_out *out, const struct shown *shown,
                       const struct tv_pixel_row *row)
{
    uint32_t object = shown->trace->tables.snapshots.rows[row->number].object;
    tv_out_format(out, "[%u,", row->number);
    tv_out_i64(out, row->time);
    tv_out_format(out, ",%u,%u,%u,%u]", object, shown->index->row_of[object],
                  row->owner % TV_OBJECT_LANES, row->count);
}

static void write_shown(struct tv_out *out, const struct shown *shown)
{
    tv_out_text(out, "{\"objects\":[");
    for (uint32_t i = 0; i < shown->objects.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_object(out, shown, &shown->objects.rows[i]);
    }
    tv_out_text(out, "],\n\"snapshots\":[");
    for (uint32_t i = 0; i < shown->snapshots.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_mark(out, shown, &shown->snapshots.rows[i]);
    }
    tv_member_number(
        out, "],\"left_out\":", (int64_t)(shown->objects.left_out + shown->snapshots.left_out));
    tv_out_char(out, '}');
}

enum tv_status tv_view_objects(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    struct shown shown = {.trace = view->trace, .index = tv_object_index_get(view->objects)};
    struct tv_view_window window;
    uint32_t rows[ROW_LIMIT], count = 0;
    enum tv_status status =
        tv_parameter_window(parameters, view->trace, TV_PIXEL_LIMIT, &window, err);
    if (status == TV_OK)
        status = read_rows(parameters, shown.index, rows, &count, err);
    if (status != TV_OK)
        return status;
    tv_pixels_init(&shown.objects, &window, (size_t)count * TV_OBJECT_LANES);
    tv_pixels_init(&shown.snapshots, &window, (size_t)count * TV_OBJECT_LANES);
    for (uint32_t i = 0; i < count; i++)
        take_row(&shown, rows[i], i);
    write_shown(out, &shown);
    tv_pixels_release(&shown.objects);
    tv_pixels_release(&shown.snapshots);
    return TV_OK;
}

/* Those that "=" made one with it, as [object, type, id]. */
static void write_joined(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
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

static void write_about(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
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
    write_joined(out, trace, number);
    tv_view_write_joins(out, trace, object->group);
    tv_out_char(out, '}');
}

enum tv_status tv_view_object(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_parameter_bounds all = {0, (int64_t)view->trace->tables.objects.count - 1};
    int64_t number;
    enum tv_status status = tv_parameter_required(parameters, "object", all, &number, err);
    if (status == TV_OK)
        write_about(out, view->trace, (uint32_t)number);
    return status;
}

/* The snapshot that the parameter names. */
static enum tv_status read_snapshot(const struct tv_trace *trace,
                                    const struct tv_parameters *parameters, uint32_t *number,
                                    struct tv_error *err)
{
    struct tv_parameter_bounds all = {0, (int64_t)trace->tables.snapshots.count - 1};
    int64_t value = 0;
    enum tv_status status = tv_parameter_required(parameters, "snapshot", all, &value, err);
    *number = (uint32_t)value;
    return status;
}

enum tv_status tv_view_snapshot(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t number;
    enum tv_status status = read_snapshot(trace, parameters, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_snapshot *snapshot = &trace->tables.snapshots.rows[number];
    const struct tv_object *object = &trace->tables.objects.rows[snapshot->object];
    uint32_t place = number - object->first_snapshot;
    bool last = place + 1 >= object->snapshot_count;
    tv_member_number(out, "{\"snapshot\":", number);
    tv_member_number(out, ",\"time_ns\":", snapshot_time(trace, number));
    tv_member_number(out, ",\"until_ns\":",
                     last ? tv_object_end(trace, object) : snapshot_time(trace, number + 1));
    tv_member_number(out, ",\"nth\":", (int64_t)place + 1);
    tv_member_flag(out, ",\"inner\":", snapshot->inner);
    tv_out_text(out, ",\"of\":");
    write_about(out, trace, snapshot->object);
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

enum tv_status tv_view_reference(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t number;
    enum tv_status status = read_snapshot(trace, parameters, &number, err);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - facts of any event, rows of the timeline beside tracks, joined
 * ids, and the input files.
 *
 * An event has a place: its kind and one or two numbers, whose meaning depends
 * on the kind (for a slice its row and index, for an instant its number in the
 * table).  Searches and the lookup by file offset answer with places; the facts
 * are what a list shows of each.
 *
 * Tables hold times in nanoseconds of their input's clock. tv_trace_time moves
 * them to the axis of the trace, which all answers use.
 */
#include <assert.h>

#include "analysis/search/event_lookup.h"
#include "analysis/timeline/sample_chart.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "model/trace.h"
#include "view/internal.h"
#include "writers/tables/check_report.h"

/* Set the track and the process of an event's thread. */
static void event_facts_set_thread(const struct tv_view *view, uint32_t thread,
                                   struct tv_event_facts *about)
{
    if (thread >= view->trace->head->thread_count)
        return;
    about->track = view->thread_track[thread];
    about->process = view->trace->head->threads[thread].process;
}

/* Set the facts that a slice has. */
static void event_facts_set_slice(const struct tv_view *view, uint32_t row, uint32_t index,
                                  struct tv_event_facts *about)
{
    const struct tv_trace *trace = view->trace;
    struct tv_slice slice = tv_slice_get(trace, row, index);
    about->time = slice.start;
    about->length = slice.length;
    about->track = trace->rows[row].track;
    about->process = trace->tracks[about->track].process;
    about->frame = trace->paths.nodes[slice.path].frame;
}

/* Set the facts of an instant; its scope says what it belongs to. */
static void event_facts_set_instant(const struct tv_view *view, const struct tv_instant *instant,
                                    struct tv_event_facts *about)
{
    about->time = tv_trace_time(view->trace, instant->input, instant->time);
    about->frame = instant->frame;
    if (instant->scope == TV_SCOPE_THREAD)
        event_facts_set_thread(view, instant->of, about);
    else if (instant->scope == TV_SCOPE_PROCESS)
        about->process = instant->of;
    else if (instant->scope == TV_SCOPE_TRACK)
        about->track = instant->of;
}

/* Set the facts of one sample of a counter. */
static void event_facts_set_counter(const struct tv_view *view, uint32_t number, uint32_t sample,
                                    struct tv_event_facts *about)
{
    const struct tv_tables *tables = &view->trace->tables;
    const struct tv_counter *counter = &tables->counters.rows[number];
    if (counter->sample_count > 0)
        about->time = tv_trace_time(view->trace, counter->input,
                                    tables->counter_times[counter->first_sample + sample]);
    about->process = counter->process;
    about->name = counter->name;
}

/* Set the facts of an object: its lifetime is its length. */
static void event_facts_set_object(const struct tv_view *view, uint32_t number,
                                   struct tv_event_facts *about)
{
    const struct tv_object *object = &view->trace->tables.objects.rows[number];
    about->time = tv_trace_time(view->trace, object->input, object->created);
    about->length = object->deleted - object->created;
    about->process = object->process;
    about->name = object->type;
}

/* Set the facts of a sample; its name is that of its value or event. */
static void event_facts_set_sample(const struct tv_view *view, const struct tv_sample *sample,
                                   struct tv_event_facts *about)
{
    about->time = tv_trace_time(view->trace, sample->input, sample->time);
    about->name = tv_sample_title(&view->trace->tables, sample);
    event_facts_set_thread(view, sample->thread, about);
}

/* A snapshot has type and process of its object, but no length. */
static void event_facts_set_snapshot(const struct tv_view *view, const struct tv_snapshot *snapshot,
                                     struct tv_event_facts *about)
{
    event_facts_set_object(view, snapshot->object, about);
    about->time = tv_trace_time(view->trace, snapshot->input, snapshot->time);
    about->length = 0;
}

/* The time of a flow's end is where its arrow begins or ends, which may be within the slice. */
static void event_facts_set_flow(const struct tv_view *view, const struct tv_flow *flow,
                                 bool at_end, struct tv_event_facts *about)
{
    const struct tv_flow_end *end = at_end ? &flow->to : &flow->from;
    if (tv_flow_end_is_instant(end))
        event_facts_set_instant(view, &view->trace->tables.instants.rows[end->index], about);
    else
        event_facts_set_slice(view, end->row, end->index, about);
    about->time = tv_trace_time(view->trace, flow->input, end->time);
    about->length = 0;
    about->frame = flow->frame;
}

/* Set the facts of a memory dump, whose name is its level of detail. */
static void event_facts_set_dump(const struct tv_view *view, const struct tv_memory_dump *dump,
                                 struct tv_event_facts *about)
{
    about->time = tv_trace_time(view->trace, dump->input, dump->time);
    about->process = dump->process;
    about->name = dump->level;
}

/* Facts without a time last from the beginning to the end of the trace. */
static void event_facts_set_lasting(const struct tv_view *view, const struct tv_event_place *place,
                                    struct tv_event_facts *about)
{
    const struct tv_trace_info *head = view->trace->head;
    about->time = view->trace->start;
    about->length = view->trace->end - view->trace->start;
    if (place->kind == TV_EVENT_METADATA) {
        about->name = head->metadata[place->a].key;
    } else if (place->kind == TV_EVENT_PROCESS) {
        about->name = head->processes[place->a].name;
        about->process = place->a;
    } else {
        about->name = head->threads[place->a].name;
        event_facts_set_thread(view, place->a, about);
    }
}

struct tv_event_facts tv_event_facts(const struct tv_view *view, const struct tv_event_place *place)
{
    const struct tv_tables *tables = &view->trace->tables;
    struct tv_event_facts about = {.track = TV_NONE, .process = TV_NONE, .frame = TV_NONE};
    switch (place->kind) {
    case TV_EVENT_SLICE:
        event_facts_set_slice(view, place->a, place->b, &about);
        break;
    case TV_EVENT_INSTANT:
        event_facts_set_instant(view, &tables->instants.rows[place->a], &about);
        break;
    case TV_EVENT_COUNTER:
        event_facts_set_counter(view, place->a, place->b, &about);
        break;
    case TV_EVENT_SNAPSHOT:
        event_facts_set_snapshot(view, &tables->snapshots.rows[place->a], &about);
        break;
    case TV_EVENT_OBJECT:
        event_facts_set_object(view, place->a, &about);
        break;
    case TV_EVENT_SAMPLE:
        event_facts_set_sample(view, &tables->samples.rows[place->a], &about);
        break;
    case TV_EVENT_FLOW:
        event_facts_set_flow(view, &tables->flows.rows[place->a], place->b > 0, &about);
        break;
    case TV_EVENT_MEMORY_DUMP:
        event_facts_set_dump(view, &tables->memory_dumps.rows[place->a], &about);
        break;
    case TV_EVENT_PROCESS:
    case TV_EVENT_THREAD:
    case TV_EVENT_METADATA:
        event_facts_set_lasting(view, place, &about);
        break;
    case TV_EVENT_NONE:
        break;
    }
    return about;
}

void tv_event_facts_write(struct tv_out *out, const struct tv_view *view,
                          const struct tv_event_place *place, const struct tv_event_facts *about)
{
    tv_member_index(out, "", place->kind);
    tv_member_index(out, ",", place->a);
    tv_member_index(out, ",", place->b);
    tv_out_char(out, ',');
    tv_out_i64(out, about->time);
    tv_out_char(out, ',');
    tv_out_i64(out, about->length);
    tv_member_index(out, ",", about->track);
    tv_member_index(out, ",", about->process);
    tv_member_index(out, ",", about->frame);
    tv_out_char(out, ',');
    if (about->frame == TV_NONE)
        tv_out_json(out, tv_trace_info_text(view->trace->head, about->name));
    else
        tv_out_text(out, "null");
}

/* ---- Rows of the timeline that are not tracks of slices ----
 *
 * Objects by type, samples, memory dumps, and threads that have only these or instants.
 */

/* Write the rows of objects, one for each type and process. */
static void view_rows_write_objects(struct tv_out *out, const struct tv_trace *trace,
                                    const struct tv_object_index *index)
{
    tv_out_text(out, "{\"objects\":[");
    for (uint32_t i = 0; i < index->row_count; i++) {
        const struct tv_object_row *row = &index->rows[i];
        tv_member_number(out, i > 0 ? ",\n{\"row\":" : "{\"row\":", i);
        tv_member_text(out, ",\"type\":", trace->head, row->type);
        tv_member_index(out, ",\"process\":", row->process);
        tv_member_number(out, ",\"objects\":", row->count);
        tv_member_number(out, ",\"snapshots\":", (int64_t)row->snapshots);
        tv_member_number(out, ",\"lanes\":", row->lanes);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* Return the process of a thread, or TV_NONE. */
static uint32_t view_thread_process(const struct tv_trace *trace, uint32_t thread)
{
    const struct tv_trace_info *head = trace->head;
    if (thread >= head->thread_count || head->threads[thread].process >= head->process_count)
        return TV_NONE;
    return head->threads[thread].process;
}

/* Number of events of each thread; the last entry is for events without a thread. */
struct thread_event_counts {
    uint64_t *samples, *instants; /* [threads + 1] */
    uint32_t *levels;             /* levels of stacks; NULL: the axis has no times */
};

/* Count the samples and instants of each thread. */
static struct thread_event_counts view_rows_count_by_thread(const struct tv_trace *trace)
{
    uint32_t threads = trace->head->thread_count;
    struct thread_event_counts counts;
    counts.samples = tv_alloc((size_t)threads + 1, sizeof *counts.samples);
    counts.instants = tv_alloc((size_t)threads + 1, sizeof *counts.instants);
    counts.levels = tv_trace_info_has_times(trace->head) ? tv_chart_levels(trace) : NULL;
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        uint32_t thread = trace->tables.samples.rows[i].thread;
        counts.samples[thread < threads ? thread : threads]++;
    }
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope == TV_SCOPE_THREAD && instant->of < threads)
            counts.instants[instant->of]++;
    }
    return counts;
}

/* Write how many samples each thread has; the last place counts those without a thread. */
static void view_rows_write_samples(struct tv_out *out, const struct tv_trace *trace,
                                    const struct thread_event_counts *counts)
{
    uint32_t threads = trace->head->thread_count, written = 0;
    tv_out_text(out, ",\"samples\":[");
    for (uint32_t i = 0; i <= threads; i++) {
        if (counts->samples[i] == 0)
            continue;
        tv_member_index(
            out, written++ > 0 ? ",\n{\"thread\":" : "{\"thread\":", i < threads ? i : TV_NONE);
        tv_member_index(out, ",\"process\":", view_thread_process(trace, i));
        tv_member_number(out, ",\"samples\":", (int64_t)counts->samples[i]);
        if (counts->levels && i < threads && counts->levels[i] > 0)
            tv_member_number(out, ",\"levels\":", counts->levels[i]);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* Write the threads that have samples or instants, but no track. */
static void view_rows_write_threads(struct tv_out *out, const struct tv_trace *trace,
                                    const struct thread_event_counts *counts)
{
    const struct tv_trace_info *head = trace->head;
    bool *drawn = tv_alloc((size_t)head->thread_count + 1, sizeof *drawn), any = false;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].thread < head->thread_count)
            drawn[trace->tracks[i].thread] = true;
    tv_out_text(out, ",\"threads\":[");
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (drawn[i] || counts->samples[i] + counts->instants[i] == 0)
            continue;
        tv_member_number(out, any ? ",\n{\"thread\":" : "{\"thread\":", i);
        tv_out_text(out, ",\"thread_id\":");
        tv_out_u64(out, thread->id);
        tv_member_text(out, ",\"name\":", head, thread->name);
        if (thread->key != TV_EMPTY_STRING)
            tv_member_text(out, ",\"key\":", head, thread->key);
        tv_member_index(out, ",\"process\":", view_thread_process(trace, i));
        tv_member_number(out, ",\"instants\":", (int64_t)counts->instants[i]);
        tv_out_char(out, '}');
        any = true;
    }
    tv_out_char(out, ']');
    tv_free(drawn);
}

/* Write how many memory dumps each process has; the last place counts those of no process. */
static void view_rows_write_memory(struct tv_out *out, const struct tv_trace *trace)
{
    uint32_t processes = trace->head->process_count, written = 0;
    uint64_t *dumps = tv_alloc((size_t)processes + 1, sizeof *dumps);
    for (size_t i = 0; i < trace->tables.memory_dumps.count; i++) {
        uint32_t process = trace->tables.memory_dumps.rows[i].process;
        dumps[process < processes ? process : processes]++;
    }
    tv_out_text(out, ",\"memory_dumps\":[");
    for (uint32_t i = 0; i <= processes; i++) {
        if (dumps[i] == 0)
            continue;
        tv_member_index(
            out, written++ > 0 ? ",\n{\"process\":" : "{\"process\":", i < processes ? i : TV_NONE);
        tv_member_number(out, ",\"dumps\":", (int64_t)dumps[i]);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
    tv_free(dumps);
}

/* Answer api/beside: which rows there are; api/objects, api/samples and others
 * draw them. */
enum tv_status tv_view_beside(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    (void)parameters, (void)err;
    struct thread_event_counts counts = view_rows_count_by_thread(trace);
    view_rows_write_objects(out, trace, tv_object_index_get(view->objects));
    view_rows_write_samples(out, trace, &counts);
    view_rows_write_memory(out, trace);
    tv_view_write_display_rows(out, view);
    view_rows_write_threads(out, trace, &counts);
    tv_out_char(out, '}');
    tv_free(counts.samples);
    tv_free(counts.instants);
    tv_free(counts.levels);
    return TV_OK;
}

/* ---- Joined ids: the "=" events of a group, and its objects ----
 */

#define LIST_LIMIT 50u

struct joined_ids {
    uint32_t strings[LIST_LIMIT];
    uint32_t count;
    bool more;
};

/* Add an id unless it is listed. */
static void joined_ids_add(struct joined_ids *ids, uint32_t string)
{
    assert(ids->count <= LIST_LIMIT);
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->strings[i] == string)
            return;
    if (ids->count < LIST_LIMIT)
        ids->strings[ids->count++] = string;
    else
        ids->more = true;
}

/* Write the ids that "=" events join, each once. */
static void joined_ids_write(struct tv_out *out, const struct tv_trace *trace, size_t first,
                             size_t count)
{
    struct joined_ids ids = {.count = 0};
    for (size_t i = first; i < first + count && !ids.more; i++) {
        joined_ids_add(&ids, trace->tables.joins.rows[i].id);
        joined_ids_add(&ids, trace->tables.joins.rows[i].linked);
    }
    tv_out_text(out, "\"ids\":[");
    for (uint32_t i = 0; i < ids.count; i++)
        tv_member_text(out, i > 0 ? "," : "", trace->head, ids.strings[i]);
    tv_member_flag(out, "],\"more_ids\":", ids.more);
}

/* Write the "=" events that join them, up to a limit. */
static void joined_events_write(struct tv_out *out, const struct tv_trace *trace, size_t first,
                                size_t count)
{
    size_t written = count < LIST_LIMIT ? count : LIST_LIMIT;
    tv_out_text(out, ",\"events\":[");
    for (size_t i = 0; i < written; i++) {
        const struct tv_join *join = &trace->tables.joins.rows[first + i];
        struct tv_view_event event = {join->input, TV_NONE, join->offset, TV_NO_OFFSET};
        tv_member_text(out, i > 0 ? ",{\"id\":" : "{\"id\":", trace->head, join->id);
        tv_member_text(out, ",\"linked_id\":", trace->head, join->linked);
        tv_view_write_event(out, trace, &event);
        tv_out_char(out, '}');
    }
    tv_member_number(out, "],\"more_events\":", (int64_t)(count - written));
}

/* Write the objects that have one of the joined ids. */
static void joined_objects_write(struct tv_out *out, const struct tv_trace *trace, uint32_t group)
{
    uint32_t written = 0;
    tv_out_text(out, ",\"objects\":[");
    for (size_t i = 0; i < trace->tables.objects.count && written < LIST_LIMIT; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        if (object->group != group)
            continue;
        tv_member_number(out, written++ > 0 ? ",[" : "[", (int64_t)i);
        tv_member_text(out, ",", trace->head, object->type);
        tv_member_text(out, ",", trace->head, object->id);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

void tv_view_write_joins(struct tv_out *out, const struct tv_trace *trace, uint32_t group)
{
    size_t first, count = tv_tables_joins(&trace->tables, group, &first);
    if (count == 0)
        return;
    tv_out_text(out, ",\"joins\":{");
    joined_ids_write(out, trace, first, count);
    joined_events_write(out, trace, first, count);
    joined_objects_write(out, trace, group);
    tv_out_char(out, '}');
}

/* ---- The input files: their problems, the event at an offset, their bytes ----
 */

#define MAX_BYTES 4096

/* Answer api/health: the problems of the inputs, as `traceview check` writes
 * them. */
enum tv_status tv_view_health(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace_info *head = view->trace->head;
    const struct tv_check_report report = {.trace = view->trace, .strict = true};
    bool any = false;
    (void)parameters, (void)err;
    tv_out_text(out, "{\"readable\":[");
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_text(out, head->inputs[i].source ? "true" : "false");
    }
    tv_out_char(out, ']');
    tv_out_text(out, ",\"diagnostics\":[");
    tv_check_write_json(out, &report, &any);
    tv_out_text(out, "\n]\n}");
    return TV_OK;
}

/* Read input (default 0) and offset. */
static enum tv_status view_file_read_place(const struct tv_parameters *parameters,
                                           const struct tv_trace *trace, uint32_t *input,
                                           uint64_t *offset, struct tv_error *err)
{
    int64_t number, place;
    enum tv_status status = tv_parameter_integer(
        parameters, "input", (struct tv_parameter_bounds){0, (int64_t)trace->head->input_count - 1},
        0, &number, err);
    if (status == TV_OK)
        status = tv_parameter_required(parameters, "offset",
                                       (struct tv_parameter_bounds){0, INT64_MAX}, &place, err);
    if (status != TV_OK)
        return status;
    *input = (uint32_t)number;
    *offset = (uint64_t)place;
    return TV_OK;
}

/* Answer api/at: the event at an offset, or the next one. */
enum tv_status tv_view_at(const struct tv_view *view, const struct tv_parameters *parameters,
                          struct tv_out *out, struct tv_error *err)
{
    struct tv_event_neighbours found;
    uint32_t input;
    uint64_t offset;
    enum tv_status status = view_file_read_place(parameters, view->trace, &input, &offset, err);
    if (status != TV_OK)
        return status;
    tv_event_lookup(view->trace, input, &offset, 1, &found);
    bool exact = found.at.kind != TV_EVENT_NONE && found.at.offset == offset;
    const struct tv_event_place *place =
        exact || found.after.kind == TV_EVENT_NONE ? &found.at : &found.after;
    tv_out_text(out, exact ? "{\"exact\":true,\"event\":" : "{\"exact\":false,\"event\":");
    if (place->kind == TV_EVENT_NONE) {
        tv_out_text(out, "null}");
        return TV_OK;
    }
    struct tv_event_facts about = tv_event_facts(view, place);
    tv_out_char(out, '[');
    tv_event_facts_write(out, view, place, &about);
    tv_out_text(out, "],\"offset\":");
    tv_out_u64(out, place->offset);
    tv_out_char(out, '}');
    return TV_OK;
}

/* Write bytes as hexadecimal digits. */
static void view_file_write_hex(struct tv_out *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        tv_out_char(out, digits[bytes[i] >> 4]);
        tv_out_char(out, digits[bytes[i] & 15]);
    }
}

/* Answer api/bytes: a few bytes of an input, for the view of a problem. */
enum tv_status tv_view_bytes(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_parameter_bounds lengths = {1, MAX_BYTES};
    uint8_t bytes[MAX_BYTES];
    uint32_t input;
    uint64_t offset;
    int64_t length;
    size_t got = 0;
    enum tv_status status = view_file_read_place(parameters, view->trace, &input, &offset, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "length", lengths, MAX_BYTES, &length, err);
    if (status != TV_OK)
        return status;
    struct tv_source *source = view->trace->head->inputs[input].source;
    if (!source)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the bytes of this file are not available");
    if (offset < tv_source_size(source))
        status = tv_source_read(source, offset, bytes, (size_t)length, &got, err);
    if (status != TV_OK)
        return status;
    tv_out_text(out, "{\"offset\":");
    tv_out_u64(out, offset);
    tv_out_text(out, ",\"size\":");
    tv_out_u64(out, tv_source_size(source));
    tv_out_text(out, ",\"hex\":\"");
    view_file_write_hex(out, bytes, got);
    tv_out_text(out, "\"}");
    return TV_OK;
}

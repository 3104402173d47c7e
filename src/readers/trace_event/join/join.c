/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.c - the order of the joins, and what all of them share: reading an event again, the link
 * that joins it, clocks and the end of time.
 *
 * While a file is read, slices go to the assembly; events of all other phases are kept as deferred
 * rows (phase, time, offset, process, frame). They are joined here when the whole file is known:
 *
 *     before placing   ids that are joined, clocks, samples, memory dumps, states of threads
 *     beside placing   async slices, objects, flows; in another thread, while the slices nest
 *     after placing    what names a slice by its row: states, async rows, contexts, flows
 *
 * A row holds what most events need (tv_te_link_keep). If an event has more, its text is read from
 * the file again: a file has few such events, and rows stay small.
 */
#include "readers/trace_event/join/join.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

void tv_te_join_before_placing(struct tv_te_context *context)
{
    assert(!context->states && !context->flows);
    tv_map_init(&context->joined);
    tv_te_id_groups_read(context);
    tv_te_clock_read(context);
    tv_te_samples_read(context);
    tv_te_memory_read(context);
    tv_te_states_read(context);
}

/* Runs at the same time as the assembly and must not touch its rows. */
void tv_te_join_beside_placing(void *of)
{
    struct tv_te_context *context = of;
    tv_te_async_pair(context);
    tv_te_async_pair_legacy(context);
    tv_te_objects_read(context);
    context->async_plan =
        tv_async_plan_new(context->trace->head, context->async.rows, context->async.count);
    tv_free(context->async.rows);
    context->async.rows = NULL;
    context->async.count = context->async.capacity = 0;
    tv_te_flows_read(context);
}

void tv_te_join_after_placing(struct tv_te_context *context)
{
    tv_te_states_place(context);
    tv_assembly_add_async(context->assembly, context->async_plan);
    context->async_plan = NULL;
    tv_paths_rest(&context->trace->paths);
    tv_te_thread_contexts_read(context);
    tv_te_flows_pair(context);
    tv_map_release(&context->joined);
}

/* Most events fit into the first window. */
#define FIRST_WANT ((size_t)4096)

/* Longer events were not taken in the first place (event_list.c). */
#define MAX_WANT ((size_t)128 << 20)

/* Fields are views of the window, valid until the next reading. A file that has changed meanwhile
 * gives false. */
bool tv_te_event_read(struct tv_te_context *context, uint64_t offset, struct tv_te_fields *fields)
{
    struct tv_bytes bytes;
    const uint8_t *end;
    struct tv_error reason;
    for (size_t want = FIRST_WANT; want <= MAX_WANT; want *= 4) {
        if (tv_window_at(&context->window, offset, want, &bytes, &reason) != TV_OK)
            return false;
        enum tv_te_read read =
            tv_te_fields_read(bytes.data, bytes.data + bytes.length, fields, &end);
        if (read == TV_TE_CUT && bytes.length < want && bytes.length > 0)
            read = tv_te_fields_close(bytes.data, bytes.data + bytes.length, fields, &end);
        if (read != TV_TE_CUT || bytes.length < want)
            return read == TV_TE_READ;
    }
    return false;
}

struct tv_bytes tv_te_extent_read(struct tv_te_context *context, struct tv_te_extent extent)
{
    struct tv_bytes bytes = {NULL, 0};
    struct tv_error reason;
    if (extent.length == 0 || extent.length > SIZE_MAX / 4 ||
        tv_window_at(&context->window, extent.offset, (size_t)extent.length, &bytes, &reason) !=
            TV_OK ||
        bytes.length < extent.length)
        return (struct tv_bytes){NULL, 0};
    bytes.length = (size_t)extent.length;
    return bytes;
}

void tv_te_warn(struct tv_te_context *context, enum tv_diagnostic_kind kind, uint64_t offset)
{
    tv_diagnostics_add(&context->trace->head->diagnostics, kind, offset);
}

uint32_t tv_te_value_type(struct tv_te_context *context, struct tv_bytes title)
{
    struct tv_trace_info *head = context->trace->head;
    bool timed = head->inputs[context->input].figures == TV_FIGURES_SAMPLED;
    if (title.length == 0)
        title = TV_BYTES("samples"); /* Hermes writes no names */
    return tv_tables_value_type(
        &context->trace->tables, context->input, tv_trace_info_string(head, title),
        tv_trace_info_string(head, timed ? TV_BYTES("ns") : TV_BYTES("samples")));
}

void tv_te_times_widen(struct tv_te_context *context, tv_ns time)
{
    if (context->times.none || time < context->times.first)
        context->times.first = time;
    if (context->times.none || time > context->times.last)
        context->times.last = time;
    context->times.none = false;
}

/* True when a row has room for everything that counts. */
static bool te_link_fits_row(const struct tv_te_fields *fields, enum tv_te_id_kind kind,
                             struct tv_bytes id)
{
    if (kind == TV_TE_ID_BAD || id.length > TV_TE_KEPT_ID)
        return false;
    return fields->scope.data == NULL && fields->cname.data == NULL && fields->tts.data == NULL &&
           fields->bind_id.data == NULL;
}

void tv_te_link_keep(struct tv_te_deferred *event, const struct tv_te_fields *fields)
{
    struct tv_bytes id;
    enum tv_te_id_kind kind = tv_te_fields_id(fields, &id);
    event->kept = 0;
    if (!te_link_fits_row(fields, kind, id))
        return;
    event->kept = (uint8_t)(TV_TE_KEPT | (fields->name.data ? TV_TE_KEPT_NAME : 0) |
                            (fields->cat.data ? TV_TE_KEPT_CATEGORY : 0) |
                            (tv_te_has_details(fields) ? TV_TE_KEPT_DETAILS : 0));
    event->id_kind = (uint8_t)kind;
    assert(id.length <= TV_TE_KEPT_ID);
    event->id_length = (uint8_t)id.length;
    if (id.length > 0)
        memcpy(event->id, id.data, id.length);
}

/* Return the link that a row keeps. */
static void te_link_from_row(const struct tv_te_deferred *event, struct tv_te_link *link)
{
    *link = (struct tv_te_link){
        .kind = (enum tv_te_id_kind)event->id_kind,
        .id = {event->id_kind == TV_TE_ID_NONE ? NULL : event->id, event->id_length},
        .cpu = TV_NO_TIME,
        .has_name = event->kept & TV_TE_KEPT_NAME,
        .has_category = event->kept & TV_TE_KEPT_CATEGORY,
        .has_details = event->kept & TV_TE_KEPT_DETAILS,
    };
}

struct tv_te_link tv_te_link_of(const struct tv_te_deferred *event,
                                const struct tv_te_fields *fields)
{
    struct tv_te_link link = {
        .scope = fields->scope,
        .colour = (uint8_t)tv_te_parse_colour(fields->cname),
        .has_name = fields->name.data != NULL,
        .has_category = fields->cat.data != NULL,
        .has_details = tv_te_has_details(fields),
    };
    link.kind = tv_te_fields_id(fields, &link.id);
    /* The beginning must ask for CPU times; an end's time is used when the beginning has one. */
    if ((event->phase != 'e' && !tv_te_is_true(fields->use_async_tts)) ||
        !tv_te_parse_time(fields->tts, &link.cpu))
        link.cpu = TV_NO_TIME;
    return link;
}

bool tv_te_link_read(struct tv_te_context *context, const struct tv_te_deferred *event,
                     struct tv_te_link *link)
{
    struct tv_te_fields fields;
    if (event->kept & TV_TE_KEPT) {
        te_link_from_row(event, link);
        return true;
    }
    if (!tv_te_event_read(context, event->offset, &fields))
        return false;
    *link = tv_te_link_of(event, &fields);
    return true;
}

/*
 * Marks that synchronize the clocks of several inputs: phase c, and the old "ClockSyncEvent.<id>"
 * of Chrome (trace-event.md section 3.12).  Marks are compared when all inputs are read
 * (model/finalize.h).
 */

static void te_clock_add_sync(struct tv_te_context *context, const struct tv_te_deferred *event,
                              struct tv_bytes id, int64_t asked)
{
    struct tv_clock_sync *mark = tv_table_add(&context->trace->tables.clock_syncs);
    mark->time = event->time;
    mark->asked = asked < event->time ? asked : event->time;
    mark->offset = event->offset;
    mark->id = tv_trace_info_string(context->trace->head, id);
    mark->input = context->input;
}

/* Read phase c: an id and, on the side that asked, the time of the question. */
static void te_clock_read_sync(struct tv_te_context *context, const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    int64_t asked;
    if (!tv_te_event_read(context, event->offset, &fields))
        return;
    struct tv_bytes id = tv_te_member(fields.args, "sync_id");
    if (id.data == NULL) {
        tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_NO_ID, event->offset);
        return;
    }
    if (!tv_te_parse_time(tv_te_member(fields.args, "issue_ts"), &asked))
        asked = event->time;
    te_clock_add_sync(context, event, tv_te_decode_text(id, &context->scratch), asked);
}

/* "ClockSyncEvent.<id>": S when Chrome asked for the time, F when it had the answer. */
static bool te_clock_is_legacy_sync(const struct tv_te_context *context,
                                    const struct tv_te_deferred *event, struct tv_bytes *id)
{
    static const struct tv_bytes prefix = {(const uint8_t *)"ClockSyncEvent.", 15};
    const struct tv_trace_info *head = context->trace->head;
    *id = tv_trace_info_text(head, head->frames[event->frame].name);
    if (!tv_bytes_starts_with(*id, prefix))
        return false;
    id->data += prefix.length;
    id->length -= prefix.length;
    return true;
}

/* Read all marks in the order of the file, as an old S belongs to the F after it. */
static void te_clock_read_syncs(struct tv_te_context *context)
{
    struct tv_bytes asked_id = {NULL, 0}, id;
    int64_t asked = 0;
    if (tv_te_count_deferred(context, "cSF") == 0)
        return;
    for (size_t i = 0; i < context->deferred.count; i++) {
        const struct tv_te_deferred *event = &context->deferred.rows[i];
        if (event->phase == 'c') {
            te_clock_read_sync(context, event);
        } else if (event->phase == 'S' && te_clock_is_legacy_sync(context, event, &id)) {
            asked_id = id;
            asked = event->time;
        } else if (event->phase == 'F' && te_clock_is_legacy_sync(context, event, &id)) {
            bool same = asked_id.data != NULL && tv_bytes_equal(id, asked_id);
            if (!same)
                tv_te_warn(context, TV_DIAGNOSTIC_CLOCK_NO_ID, event->offset);
            te_clock_add_sync(context, event, id, same ? asked : event->time);
        }
    }
}

/* Read the clock that the input names in its metadata. */
static void te_clock_read_domain(struct tv_te_context *context)
{
    struct tv_trace_info *head = context->trace->head;
    struct tv_bytes metadata = tv_trace_info_find_metadata(head, context->input, "metadata");
    if (metadata.data == NULL)
        return;
    /* Reading JSON needs slack after the text. */
    uint8_t *copy = tv_alloc(metadata.length + TV_WINDOW_SLACK, 1);
    memcpy(copy, metadata.data, metadata.length);
    struct tv_bytes name = tv_te_member((struct tv_bytes){copy, metadata.length}, "clock-domain");
    if (name.data != NULL)
        head->inputs[context->input].clock =
            tv_trace_info_string(head, tv_te_decode_text(name, &context->scratch));
    tv_free(copy);
}

void tv_te_clock_read(struct tv_te_context *context)
{
    te_clock_read_syncs(context);
    te_clock_read_domain(context);
}

/*
 * The end of time.  A slice that nobody ends lasts to the end of the trace, but of a file that was
 * rewritten from several (rewrite.h) only to the end of its own file: "convertedFrom" has an object
 * with "end" and "processes" for each.  When those files were rewritten ones themselves, the first
 * statement about a process comes from the inner one and counts.
 */

/* Note when the recording of a process ended, as the file says; the first statement counts. */
static void te_file_ends_add(struct tv_te_context *context, struct tv_bytes pid, int64_t end)
{
    assert(context->times.file_end_count <= context->trace->head->process_count);
    uint32_t process = tv_te_threads_find_process(&context->threads, pid);
    if (process == TV_NONE)
        return;
    if (process >= context->times.file_end_count) {
        size_t count = context->trace->head->process_count;
        context->times.file_ends =
            tv_realloc(context->times.file_ends, count, sizeof *context->times.file_ends);
        while (context->times.file_end_count < count)
            context->times.file_ends[context->times.file_end_count++] = TV_NO_TIME;
    }
    if (context->times.file_ends[process] == TV_NO_TIME)
        context->times.file_ends[process] = end;
}

/* Read the object of one file. */
static void te_file_ends_read_one(struct tv_te_context *context, struct tv_bytes object)
{
    struct tv_bytes processes, pid;
    int64_t end;
    if (object.length == 0 || object.data[0] != '{' ||
        !tv_te_parse_time(tv_te_member(object, "end"), &end))
        return;
    processes = tv_te_member(object, "processes");
    if (processes.length == 0 || processes.data[0] != '[')
        return;
    /* A file may end with lines that made no event. */
    if (!context->times.none && end > context->times.last)
        tv_te_times_widen(context, end);
    const uint8_t *at = processes.data + 1;
    while (tv_te_element_next(&at, processes.data + processes.length, &pid))
        te_file_ends_add(context, pid, end);
}

void tv_te_file_ends_read(struct tv_te_context *context, struct tv_bytes files)
{
    struct tv_bytes object;
    if (files.length == 0 || files.data[0] != '[')
        return;
    const uint8_t *at = files.data + 1;
    while (tv_te_element_next(&at, files.data + files.length, &object))
        te_file_ends_read_one(context, object);
}

/* Return where an open slice of the process ends: with its file, if that is known and not before
 * the slice began, else with the trace. */
tv_ns tv_te_process_end(const struct tv_te_context *context, uint32_t process, tv_ns start)
{
    tv_ns end =
        process < context->times.file_end_count ? context->times.file_ends[process] : TV_NO_TIME;
    return end != TV_NO_TIME && end >= start && end < context->times.last ? end
                                                                          : context->times.last;
}

/* If the last events lie far beyond the rest (idle_gap.h), what is open in a thread that does not
 * go on ends with the last event of its process before the gap. */
void tv_te_silence_find(struct tv_te_context *context)
{
    assert(!context->times.idle_ends);
    const struct tv_trace_info *head = context->trace->head;
    int64_t silence;
    if (!tv_idle_gap_find(&context->times.events, &silence))
        return;
    int64_t *lasts = tv_alloc(head->process_count, sizeof *lasts);
    for (uint32_t i = 0; i < head->process_count; i++)
        lasts[i] = TV_NO_TIME;
    for (size_t i = 0; i < context->deferred.count; i++) {
        const struct tv_te_deferred *event = &context->deferred.rows[i];
        if (event->time < silence && event->time > lasts[event->process])
            lasts[event->process] = event->time;
    }
    context->times.idle_end_count = head->thread_count;
    context->times.idle_ends = tv_assembly_idle_ends(context->assembly, silence, lasts);
    tv_free(lasts);
}

tv_ns tv_te_thread_end(const struct tv_te_context *context, uint32_t thread, tv_ns start)
{
    const struct tv_trace_info *head = context->trace->head;
    const struct tv_te_times *times = &context->times;
    uint32_t process = thread < head->thread_count ? head->threads[thread].process : TV_NONE;
    tv_ns end = tv_te_process_end(context, process, start);
    if (!times->idle_ends || thread >= times->idle_end_count)
        return end;
    tv_ns quiet = times->idle_ends[thread];
    return quiet != TV_NO_TIME && quiet >= start && quiet < end ? quiet : end;
}

int64_t *tv_te_thread_ends(const struct tv_te_context *context)
{
    const struct tv_trace_info *head = context->trace->head;
    if (context->times.file_end_count == 0)
        return NULL;
    int64_t *ends = tv_alloc(head->thread_count, sizeof *ends);
    for (uint32_t i = 0; i < head->thread_count; i++)
        ends[i] = tv_te_process_end(context, head->threads[i].process, INT64_MIN);
    return ends;
}

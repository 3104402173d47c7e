/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_selection.c - the events of a Trace Event file that belong to an excerpt of its trace.
 *
 * An event is selected when the excerpt contains the row that the reader made of it, which its
 * offset in the file identifies. If the excerpt was cut to a range and the row has another time
 * now, that time is written. Events for which the model has no rows are selected by their own
 * process, category and time.
 *
 * Order matters, because readers nest slices with equal times by their order in the file:
 *
 *     1. slices that touch the ends of the range, callers first: they all begin or end at one time
 *     2. the events of the file, in its order; a slice of two events is written as one
 *     3. samples of profiles, as events of their own
 *     4. async slices, in order of time
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/source.h"
#include "readers/trace_event/text/values.h"
#include "readers/trace_event/trace_event.h"
#include "writers/trace/calls.h"
#include "writers/trace/rewrite.h"

/* A slice of a thread, identified by the offset of its event. */
struct rewrite_slice {
    uint64_t offset;
    uint32_t row, index;
};

/* Any other row with a time, on the file's clock. */
struct rewrite_offset {
    uint64_t offset;
    tv_ns time;
};

struct rewrite_offsets {
    struct rewrite_offset *rows;
    size_t count, capacity;
};

struct tv_rewrite_selection {
    const struct tv_trace *trace;
    const struct tv_rewrite_excerpt *excerpt;
    uint32_t input;
    uint64_t bytes;              /* size of the input */
    tv_ns from, to;              /* the range, on the file's clock */
    struct tv_interner *pids;    /* of the selected processes, as texts */
    struct tv_interner *threads; /* of the selected threads: pid, a tab, tid */
    struct tv_te_scratch scratch, second;
    struct rewrite_slice *slices;
    size_t slice_count;
    struct rewrite_offsets others;     /* rows with one time, or that begin with their event */
    struct rewrite_offsets profiles;   /* events that contain many samples */
    struct rewrite_offsets flow_begin; /* events at which flows begin */
    struct rewrite_offsets flow_end;
    struct tv_te_rewrite *rewrite;
    struct tv_out text; /* of an event that is composed */
    enum tv_status status;
    struct tv_error error;
};

/* ---- Offsets ---- */

/* Note an event by its offset.  Rows without an event of their own have none, and are not written.
 */
static void rewrite_selection_add_place(struct rewrite_offsets *places, uint64_t offset, tv_ns time)
{
    if (offset == TV_NO_OFFSET)
        return;
    places->rows =
        tv_array_reserve(places->rows, &places->capacity, places->count + 1, sizeof *places->rows);
    places->rows[places->count++] = (struct rewrite_offset){offset, time};
}

/* Compare by offset, the first member of both kinds of rows and of the key of a search. */
static int rewrite_selection_compare_offsets(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void rewrite_selection_sort_places(struct rewrite_offsets *places)
{
    if (places->count > 0)
        qsort(places->rows, places->count, sizeof *places->rows, rewrite_selection_compare_offsets);
}

static const struct rewrite_offset *
rewrite_selection_find_place(const struct rewrite_offsets *places, uint64_t offset)
{
    if (places->count == 0)
        return NULL;
    return bsearch(&offset, places->rows, places->count, sizeof *places->rows,
                   rewrite_selection_compare_offsets);
}

static const struct rewrite_slice *
rewrite_selection_find_slice(const struct tv_rewrite_selection *selection, uint64_t offset)
{
    if (selection->slice_count == 0)
        return NULL;
    return bsearch(&offset, selection->slices, selection->slice_count, sizeof *selection->slices,
                   rewrite_selection_compare_offsets);
}

/* ---- Contents of the excerpt ---- */

/* Return true when the excerpt has anything of the process. */
static bool rewrite_selection_has_tracks_of(const struct tv_rewrite_selection *selection,
                                            uint32_t process)
{
    const struct tv_trace *trace = selection->trace;
    const struct tv_subset *keep = selection->excerpt->keep;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (tv_track_process(trace, i) == process)
            return true;
    for (uint32_t i = 0; keep->threads && i < trace->head->thread_count; i++)
        if (keep->threads[i] && tv_thread_process(trace->head, i) == process)
            return true;
    return false;
}

/* Return an ID as the reader shows it: a number or any other text. */
static struct tv_bytes rewrite_selection_id_text(const struct tv_trace_info *head, uint64_t id,
                                                 uint32_t key, char *number, size_t size)
{
    if (key != TV_EMPTY_STRING)
        return tv_trace_info_text(head, key);
    snprintf(number, size, "%llu", (unsigned long long)id);
    return tv_bytes_of(number);
}

/* Tell whether a process may have events in a file.  Files of one machine share its processes; a
 * process or a file without a machine is taken for any. */
static bool rewrite_selection_is_of_machine(const struct tv_process *process, uint32_t machine)
{
    return machine == TV_NONE || process->machine == TV_NONE || process->machine == machine;
}

/* Note the ids of the selected processes of this file's machine. */
static void rewrite_selection_note_pids(struct tv_rewrite_selection *selection, uint32_t machine)
{
    const struct tv_trace_info *head = selection->trace->head;
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        char number[24];
        if (rewrite_selection_is_of_machine(process, machine) &&
            tv_subset_has_process(selection->excerpt->keep, i) &&
            (!selection->excerpt->tracks_only || rewrite_selection_has_tracks_of(selection, i)))
            tv_interner_add(
                selection->pids,
                rewrite_selection_id_text(head, process->id, process->key, number, sizeof number));
    }
}

/* Return the number of the thread with these ids, which `add` adds; TV_NONE: it is not selected. */
static uint32_t rewrite_selection_find_thread(struct tv_interner *threads, struct tv_bytes pid,
                                              struct tv_bytes tid, bool add)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_bytes(&text, pid);
    tv_out_char(&text, '\t');
    tv_out_bytes(&text, tid);
    struct tv_bytes key = {text.buffer, text.length};
    uint32_t found = add ? tv_interner_add(threads, key) : tv_interner_find(threads, key);
    tv_out_release(&text);
    return found;
}

/* Note the ids of the selected threads. */
static void rewrite_selection_note_threads(struct tv_rewrite_selection *selection)
{
    const struct tv_trace_info *head = selection->trace->head;
    const bool *kept = selection->excerpt->keep->threads;
    for (uint32_t i = 0; kept && i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        uint32_t owner = tv_thread_process(head, i);
        char pid[24], tid[24];
        if (!kept[i] || owner == TV_NONE)
            continue;
        const struct tv_process *process = &head->processes[owner];
        rewrite_selection_find_thread(
            selection->threads,
            rewrite_selection_id_text(head, process->id, process->key, pid, sizeof pid),
            rewrite_selection_id_text(head, thread->id, thread->key, tid, sizeof tid), true);
    }
}

/* Tell whether a row has slices of this file.  Async slices are no part of it: they are written by
 * time. */
static bool rewrite_selection_is_own_row(const struct tv_rewrite_selection *selection, uint32_t row)
{
    const struct tv_trace *trace = selection->trace;
    return trace->rows[row].input == selection->input &&
           trace->tracks[trace->rows[row].track].kind != TV_TRACK_ASYNC;
}

/* Note the slices of this file, sorted by the offset of their events. */
static void rewrite_selection_note_slices(struct tv_rewrite_selection *selection)
{
    const struct tv_trace *trace = selection->trace;
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->row_count; i++)
        count += rewrite_selection_is_own_row(selection, i) ? trace->rows[i].count : 0;
    selection->slices = tv_alloc((size_t)count, sizeof *selection->slices);
    for (uint32_t i = 0; i < trace->row_count; i++)
        for (uint32_t j = 0; rewrite_selection_is_own_row(selection, i) && j < trace->rows[i].count;
             j++)
            selection->slices[selection->slice_count++] =
                (struct rewrite_slice){tv_slice_offset(trace, i, j), i, j};
    if (selection->slice_count > 0)
        qsort(selection->slices, selection->slice_count, sizeof *selection->slices,
              rewrite_selection_compare_offsets);
}

/* Note the events of the flows, by which both ends are found again. */
static void rewrite_selection_note_flows(struct tv_rewrite_selection *selection)
{
    for (size_t i = 0; i < selection->trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &selection->trace->tables.flows.rows[i];
        if (flow->input != selection->input)
            continue;
        rewrite_selection_add_place(&selection->flow_begin, flow->offset, flow->from.time);
        rewrite_selection_add_place(&selection->flow_end, flow->end_offset, flow->to.time);
    }
    rewrite_selection_sort_places(&selection->flow_begin);
    rewrite_selection_sort_places(&selection->flow_end);
}

#define NOTE_ROWS(selection, table, condition)                                                     \
    for (size_t i = 0; i < (selection)->trace->tables.table.count; i++)                            \
        if ((selection)->trace->tables.table.rows[i].input == (selection)->input && (condition))   \
    rewrite_selection_add_place(&(selection)->others,                                              \
                                (selection)->trace->tables.table.rows[i].offset,                   \
                                (selection)->trace->tables.table.rows[i].time)

/* Convert to the clock of the file, which the times of tables use. */
static tv_ns rewrite_selection_file_time(const struct tv_rewrite_selection *selection, tv_ns axis)
{
    return axis - selection->trace->offset[selection->input];
}

/* Note the samples of the counters. */
static void rewrite_selection_note_counters(struct tv_rewrite_selection *selection)
{
    const struct tv_tables *tables = &selection->trace->tables;
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        for (uint32_t j = 0; counter->input == selection->input && j < counter->sample_count; j++)
            rewrite_selection_add_place(&selection->others,
                                        tables->counter_offsets[counter->first_sample + j],
                                        tables->counter_times[counter->first_sample + j]);
    }
}

/* Note creations, deletions and snapshots. */
static void rewrite_selection_note_objects(struct tv_rewrite_selection *selection)
{
    const struct tv_tables *tables = &selection->trace->tables;
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        if (object->input != selection->input)
            continue;
        rewrite_selection_add_place(&selection->others, object->created_at, object->created);
        if (object->flags & TV_OBJECT_DELETED)
            rewrite_selection_add_place(&selection->others, object->deleted_at, object->deleted);
    }
    NOTE_ROWS(selection, snapshots, !selection->trace->tables.snapshots.rows[i].inner);
}

/* Note all rows but slices and flows. */
static void rewrite_selection_note_others(struct tv_rewrite_selection *selection)
{
    NOTE_ROWS(selection, instants, true);
    NOTE_ROWS(selection, samples, true);
    rewrite_selection_note_counters(selection);
    rewrite_selection_note_objects(selection);
    for (size_t i = 0; i < selection->trace->tables.contexts.count; i++)
        if (selection->trace->tables.contexts.rows[i].input == selection->input)
            rewrite_selection_add_place(&selection->others,
                                        selection->trace->tables.contexts.rows[i].offset,
                                        selection->from);
    rewrite_selection_sort_places(&selection->others);
}

struct tv_rewrite_selection *tv_rewrite_selection_new(const struct tv_trace *trace,
                                                      const struct tv_rewrite_excerpt *excerpt,
                                                      uint32_t input, uint32_t machine)
{
    struct tv_rewrite_selection *selection = tv_alloc(1, sizeof *selection);
    *selection =
        (struct tv_rewrite_selection){.trace = trace,
                                      .excerpt = excerpt,
                                      .input = input,
                                      .bytes = tv_source_size(trace->head->inputs[input].source),
                                      .pids = tv_interner_new(),
                                      .threads = tv_interner_new()};
    selection->from = rewrite_selection_file_time(selection, excerpt->from);
    selection->to = rewrite_selection_file_time(selection, excerpt->to);
    tv_out_init_memory(&selection->text);
    rewrite_selection_note_pids(selection, machine);
    rewrite_selection_note_threads(selection);
    rewrite_selection_note_slices(selection);
    rewrite_selection_note_flows(selection);
    rewrite_selection_note_others(selection);
    return selection;
}

void tv_rewrite_selection_free(struct tv_rewrite_selection *selection)
{
    if (!selection)
        return;
    tv_interner_free(selection->pids);
    tv_interner_free(selection->threads);
    tv_te_scratch_release(&selection->scratch);
    tv_te_scratch_release(&selection->second);
    tv_out_release(&selection->text);
    tv_free(selection->slices);
    tv_free(selection->others.rows);
    tv_free(selection->profiles.rows);
    tv_free(selection->flow_begin.rows);
    tv_free(selection->flow_end.rows);
    tv_free(selection);
}

/* ---- Fields of an event ---- */

/* An event without a pid belongs to process 0. */
static struct tv_bytes rewrite_selection_pid_of(struct tv_rewrite_selection *selection,
                                                const struct tv_te_fields *fields)
{
    return fields->pid.data ? tv_te_decode_text(fields->pid, &selection->scratch) : TV_BYTES("0");
}

static bool rewrite_selection_is_of_process(struct tv_rewrite_selection *selection,
                                            const struct tv_te_fields *fields)
{
    if (!selection->excerpt->keep->processes && !selection->excerpt->tracks_only)
        return true;
    return tv_interner_find(selection->pids, rewrite_selection_pid_of(selection, fields)) !=
           TV_NONE;
}

/* An event without a tid belongs to the main thread. */
static bool rewrite_selection_is_of_thread(struct tv_rewrite_selection *selection,
                                           const struct tv_te_fields *fields)
{
    if (!selection->excerpt->keep->threads)
        return true;
    struct tv_bytes pid = rewrite_selection_pid_of(selection, fields);
    struct tv_bytes tid =
        fields->tid.data ? tv_te_decode_text(fields->tid, &selection->second) : pid;
    return rewrite_selection_find_thread(selection->threads, pid, tid, false) != TV_NONE;
}

static bool rewrite_selection_is_of_category(struct tv_rewrite_selection *selection,
                                             const struct tv_te_fields *fields)
{
    return tv_subset_has_category(selection->excerpt->keep,
                                  tv_te_decode_text(fields->cat, &selection->scratch));
}

static bool rewrite_selection_is_in_range(const struct tv_rewrite_selection *selection,
                                          const struct tv_te_fields *fields)
{
    int64_t time;
    if (!selection->excerpt->ranged)
        return true;
    return tv_te_parse_time(fields->ts, &time) && time >= selection->from && time < selection->to;
}

static bool rewrite_selection_is_name(struct tv_rewrite_selection *selection,
                                      const struct tv_te_fields *fields, const char *name)
{
    return tv_bytes_starts_with(tv_te_decode_text(fields->name, &selection->scratch),
                                tv_bytes_of(name));
}

/* ---- Edits ---- */

/* Give the event the time of the model when that is later: the event began before the range. */
static void rewrite_selection_set_time(struct tv_te_rewrite_edit *edit,
                                       const struct tv_te_fields *fields, tv_ns time)
{
    int64_t own;
    edit->ts = time;
    edit->has_ts = tv_te_parse_time(fields->ts, &own) && own < time;
}

/* Remove the slice's flow members when its flows are not in the excerpt. */
static void rewrite_selection_drop_flows(const struct tv_rewrite_selection *selection,
                                         const struct tv_te_fields *fields, uint64_t offset,
                                         struct tv_te_rewrite_edit *edit)
{
    if (!fields->bind_id.data)
        return;
    edit->no_flow_out =
        fields->flow_out.data && !rewrite_selection_find_place(&selection->flow_begin, offset);
    edit->no_flow_in =
        fields->flow_in.data && !rewrite_selection_find_place(&selection->flow_end, offset);
    if (edit->no_flow_out && !fields->flow_in.data)
        edit->no_flow_in = true;
    if (edit->no_flow_in && !fields->flow_out.data)
        edit->no_flow_out = true;
}

/* Return true when the event's arguments are within the limits. */
static bool rewrite_selection_args_fit(const struct tv_rewrite_selection *selection,
                                       const struct tv_te_fields *fields, uint64_t offset)
{
    return tv_event_args_fit(selection->excerpt->limit, fields->args.length, offset,
                             selection->bytes);
}

/* Select an end or a step of a flow. A step with only one flow left becomes the flow's beginning
 * or end. */
static bool rewrite_selection_wants_flow(const struct tv_rewrite_selection *selection, char phase,
                                         uint64_t offset, struct tv_te_rewrite_edit *edit)
{
    bool leaves = rewrite_selection_find_place(&selection->flow_begin, offset) != NULL;
    bool arrives = rewrite_selection_find_place(&selection->flow_end, offset) != NULL;
    if (phase != 't')
        return phase == 's' ? leaves : arrives;
    edit->phase = leaves && arrives ? 0 : leaves ? 's' : 'f';
    edit->around = !leaves;
    return leaves || arrives;
}

/* ---- Slices ---- */

/* Tell whether a slice reaches an end of the range. Its callers were cut at the same time, so that
 * only the order in the file says which is inside. */
static bool rewrite_selection_touches_ends(const struct tv_rewrite_selection *selection,
                                           uint32_t row, uint32_t index)
{
    return selection->excerpt->ranged &&
           (tv_slice_start(selection->trace, row, index) <= selection->excerpt->from ||
            tv_slice_end(selection->trace, row, index) >= selection->excerpt->to);
}

/* Append zeros, because the parser reads a few bytes beyond the text. */
static struct tv_bytes rewrite_selection_finish_text(struct tv_out *text)
{
    size_t length = text->length;
    memset(tv_out_room(text, TV_WINDOW_SLACK), 0, TV_WINDOW_SLACK);
    return (struct tv_bytes){text->buffer, length};
}

/* Write a slice as one event, although the file may have two. Return false when the file cannot be
 * read. */
static bool rewrite_selection_write_slice(struct tv_rewrite_selection *selection, uint32_t row,
                                          uint32_t index)
{
    struct tv_te_fields fields;
    const uint8_t *end;
    struct tv_te_rewrite_edit edit = {0};
    assert(selection->rewrite);
    selection->text.length = 0;
    enum tv_status status =
        tv_te_describe_slice(selection->trace, row, index, &selection->text, &selection->error);
    if (status != TV_OK) {
        selection->status = status;
        return false;
    }
    struct tv_bytes text = rewrite_selection_finish_text(&selection->text);
    if (tv_te_fields_read(text.data, text.data + text.length, &fields, &end) == TV_TE_READ) {
        uint64_t offset = tv_slice_offset(selection->trace, row, index);
        rewrite_selection_drop_flows(selection, &fields, offset, &edit);
        edit.no_args = !rewrite_selection_args_fit(selection, &fields, offset);
    }
    tv_te_rewrite_event(selection->rewrite, text, &edit);
    return true;
}

/* Write the slices of a row that touch an end of the range: the first and last slices, and those
 * without length next to them. */
static void rewrite_selection_write_touching(struct tv_rewrite_selection *selection, uint32_t row)
{
    uint32_t count = selection->trace->rows[row].count, low = 0, high = count;
    assert(selection->excerpt->ranged);
    while (low < count && rewrite_selection_touches_ends(selection, row, low))
        rewrite_selection_write_slice(selection, row, low++);
    while (high > low && rewrite_selection_touches_ends(selection, row, high - 1))
        high--;
    while (high < count)
        rewrite_selection_write_slice(selection, row, high++);
}

/* Write the slices that touch the range, before all other events (a callback). */
static enum tv_status rewrite_selection_write_first(void *context, struct tv_te_rewrite *rewrite,
                                                    struct tv_error *err)
{
    struct tv_rewrite_selection *selection = context;
    selection->rewrite = rewrite;
    for (uint32_t i = 0; selection->excerpt->ranged && i < selection->trace->row_count; i++)
        if (rewrite_selection_is_own_row(selection, i) && selection->status == TV_OK)
            rewrite_selection_write_touching(selection, i);
    if (selection->status != TV_OK)
        *err = selection->error;
    return selection->status;
}

/* Select a slice. One that was made of two events, or whose end is not in its event, is written
 * anew. */
static bool rewrite_selection_wants_slice(struct tv_rewrite_selection *selection,
                                          const struct tv_te_list_event *event,
                                          struct tv_te_rewrite_edit *edit)
{
    const struct rewrite_slice *place = rewrite_selection_find_slice(selection, event->offset);
    if (!place || rewrite_selection_touches_ends(selection, place->row, place->index) ||
        selection->status != TV_OK)
        return false;
    uint32_t flags = tv_slice_get(selection->trace, place->row, place->index).flags;
    if (tv_te_fields_phase(event->fields) == 'B' || (flags & (TV_SLICE_CLIPPED | TV_SLICE_OPEN))) {
        rewrite_selection_write_slice(selection, place->row, place->index);
        return false;
    }
    rewrite_selection_drop_flows(selection, event->fields, event->offset, edit);
    edit->no_args = !rewrite_selection_args_fit(selection, event->fields, event->offset);
    return true;
}

/* ---- Rows with one time ---- */

/* Select an event by the row that the reader made of it. */
static bool rewrite_selection_wants_other(const struct tv_rewrite_selection *selection,
                                          const struct tv_te_list_event *event,
                                          struct tv_te_rewrite_edit *edit)
{
    const struct rewrite_offset *place =
        rewrite_selection_find_place(&selection->others, event->offset);
    if (place && selection->excerpt->ranged)
        rewrite_selection_set_time(edit, event->fields, place->time);
    if (strchr("iIR", tv_te_fields_phase(event->fields)))
        edit->no_args = !rewrite_selection_args_fit(selection, event->fields, event->offset);
    return place != NULL;
}

/* Select the end of a context. At the start of the range it would end nothing. */
static bool rewrite_selection_wants_leaving(struct tv_rewrite_selection *selection,
                                            const struct tv_te_fields *fields)
{
    int64_t time;
    return rewrite_selection_is_of_thread(selection, fields) &&
           rewrite_selection_is_in_range(selection, fields) &&
           (!selection->excerpt->ranged ||
            (tv_te_parse_time(fields->ts, &time) && time > selection->from));
}

/* Select an event for which the model has no row. */
static bool rewrite_selection_wants_rest(struct tv_rewrite_selection *selection,
                                         const struct tv_te_fields *fields)
{
    return !selection->excerpt->tracks_only && rewrite_selection_is_of_process(selection, fields) &&
           rewrite_selection_is_of_category(selection, fields) &&
           rewrite_selection_is_in_range(selection, fields);
}

/* Select the names of processes and threads of the excerpt. */
static bool rewrite_selection_wants_metadata(struct tv_rewrite_selection *selection,
                                             const struct tv_te_fields *fields)
{
    return rewrite_selection_is_of_process(selection, fields) &&
           (!rewrite_selection_is_name(selection, fields, "thread_") ||
            rewrite_selection_is_of_thread(selection, fields));
}

/* ---- Events of the file ---- */

/* T is a step of an async slice, or, with a duration, the state of a thread. */
static bool rewrite_selection_is_async(const struct tv_te_fields *fields, char phase)
{
    return strchr("bneSpF", phase) || (phase == 'T' && !fields->dur.data);
}

/* Return true for a snapshot or memory dump beyond the limits: without its arguments it is
 * useless. */
static bool rewrite_selection_exceeds_limit(const struct tv_rewrite_selection *selection,
                                            const struct tv_te_list_event *event)
{
    return strchr("OvV", tv_te_fields_phase(event->fields)) &&
           !rewrite_selection_args_fit(selection, event->fields, event->offset);
}

/* Decide about one event of the file, and what changes in it (a callback). */
static bool rewrite_selection_wants_event(void *context, const struct tv_te_list_event *event,
                                          struct tv_te_rewrite_edit *edit)
{
    struct tv_rewrite_selection *selection = context;
    const struct tv_te_fields *fields = event->fields;
    char phase = tv_te_fields_phase(fields);
    if (phase == 0 || rewrite_selection_exceeds_limit(selection, event))
        return false;
    if (phase == 'c') /* clock synchronisation concerns everything */
        return true;
    if (rewrite_selection_is_async(fields, phase))
        return strchr("SF", phase) &&
               rewrite_selection_is_name(selection, fields, "ClockSyncEvent.");
    if (strchr("BXT", phase))
        return rewrite_selection_wants_slice(selection, event, edit);
    if (strchr("stf", phase))
        return rewrite_selection_wants_flow(selection, phase, event->offset, edit);
    /* a profile's samples become separate events */
    if (phase == 'P' && rewrite_selection_is_name(selection, fields, "Profile")) {
        rewrite_selection_add_place(&selection->profiles, event->offset, 0);
        return false;
    }
    if (strchr("iIRCPNOD(", phase))
        return rewrite_selection_wants_other(selection, event, edit);
    switch (phase) {
    case 'E':
        return false;
    case 'M':
        return rewrite_selection_wants_metadata(selection, fields);
    case '=':
        return rewrite_selection_is_of_process(selection, fields);
    case ')':
        return rewrite_selection_wants_leaving(selection, fields);
    default:
        return rewrite_selection_wants_rest(selection, fields);
    }
}

static bool rewrite_selection_wants_sample(void *context, uint64_t offset)
{
    const struct tv_rewrite_selection *selection = context;
    return rewrite_selection_find_place(&selection->others, offset) != NULL;
}

/* ---- Async slices ---- */

/* The text of the event at an offset; an end without an event of its own uses the beginning's. */
struct rewrite_async_event {
    struct tv_te_event_text text;
    const struct tv_call_event *call;
    uint64_t offset; /* of the text */
    char phase;
};

/* Write the end of an async slice. */
static void rewrite_selection_write_end(struct tv_rewrite_selection *selection,
                                        const struct rewrite_async_event *event,
                                        uint64_t end_offset)
{
    const struct tv_slice *slice = event->call->slice;
    struct tv_te_rewrite_edit edit = {.phase = event->phase == 'S' ? 'F' : 'e', .has_ts = true};
    edit.ts = rewrite_selection_file_time(selection, event->call->time);
    edit.bare = end_offset == TV_NO_OFFSET && event->text.fields.ph.data && event->phase != 'e';
    edit.has_tts = event->text.fields.tts.data && !(slice->flags & TV_SLICE_NO_CPU) &&
                   tv_track_has_cpu(selection->trace, event->call->track);
    edit.tts = slice->cpu_start + slice->cpu_length;
    edit.no_args = !rewrite_selection_args_fit(selection, &event->text.fields, event->offset);
    tv_te_rewrite_event(selection->rewrite, event->text.object, &edit);
}

/* Write the beginning of an async slice: its own event, with the time that the slice has in the
 * excerpt. */
static void rewrite_selection_write_beginning(struct tv_rewrite_selection *selection,
                                              const struct rewrite_async_event *event)
{
    const struct tv_te_fields *fields = &event->text.fields;
    const struct tv_call_event *call = event->call;
    struct tv_te_rewrite_edit edit = {0};
    if (event->phase == 'e')
        edit.phase = 'b';
    rewrite_selection_drop_flows(selection, fields,
                                 tv_slice_offset(selection->trace, call->row, call->index), &edit);
    edit.ts = rewrite_selection_file_time(selection, call->time);
    int64_t own;
    edit.has_ts = !tv_te_parse_time(fields->ts, &own) || own != edit.ts;
    edit.has_tts = edit.has_ts && fields->tts.data && !(call->slice->flags & TV_SLICE_NO_CPU) &&
                   tv_track_has_cpu(selection->trace, call->track);
    edit.tts = call->slice->cpu_start;
    edit.no_args = !rewrite_selection_args_fit(selection, fields, event->offset);
    tv_te_rewrite_event(selection->rewrite, event->text.object, &edit);
}

/* Write the event for the beginning or the end of an async slice; a step has one event only. */
static void rewrite_selection_write_async_event(struct tv_rewrite_selection *selection,
                                                const struct rewrite_async_event *event,
                                                uint64_t end_offset)
{
    bool exit = event->call->exit;
    bool lasts = strchr("beSF", event->phase) != NULL;
    if (!exit ? event->phase != 'p' : event->phase == 'p')
        rewrite_selection_write_beginning(selection, event);
    else if (exit && lasts)
        rewrite_selection_write_end(selection, event, end_offset);
}

/* ---- Samples of profiles ---- */

/* Write a pid or a tid as it was in the file: a number, or a text. */
static void rewrite_selection_write_id(struct tv_out *out, const char *key, uint64_t id,
                                       uint32_t text, const struct tv_trace_info *head)
{
    tv_out_format(out, ",\"%s\":", key);
    if (text != TV_EMPTY_STRING)
        tv_out_json(out, tv_trace_info_text(head, text));
    else
        tv_out_format(out, "%llu", (unsigned long long)id);
}

/* Write a sample as an event of phase P with its whole stack, from the root on. */
static void rewrite_selection_write_sample(struct tv_rewrite_selection *selection,
                                           const struct tv_sample *sample)
{
    const struct tv_trace_info *head = selection->trace->head;
    const struct tv_thread *thread = &head->threads[sample->thread];
    uint32_t owner = tv_thread_process(head, sample->thread);
    struct tv_out *text = &selection->text;
    struct tv_te_rewrite_edit none = {0};
    size_t depth;
    uint32_t *frames = tv_path_frames(selection->trace, sample->path, &depth);
    text->length = 0;
    tv_out_text(text, "{\"ph\":\"P\",\"name\":");
    tv_out_json(text, tv_trace_info_text(head, tv_sample_title(&selection->trace->tables, sample)));
    if (owner != TV_NONE)
        rewrite_selection_write_id(text, "pid", head->processes[owner].id,
                                   head->processes[owner].key, head);
    rewrite_selection_write_id(text, "tid", thread->id, thread->key, head);
    tv_out_text(text, ",\"ts\":");
    tv_out_time(text, sample->time, 1000, 3);
    tv_out_text(text, ",\"stack\":[");
    for (size_t i = 0; i < depth; i++) {
        tv_out_text(text, i > 0 ? "," : "");
        tv_out_json(text, tv_trace_info_text(head, head->frames[frames[i]].name));
    }
    tv_out_text(text, "]}");
    tv_te_rewrite_event(selection->rewrite, rewrite_selection_finish_text(text), &none);
    tv_free(frames);
}

/* Write the samples of the profiles that wants_event has left out. */
static void rewrite_selection_write_samples(struct tv_rewrite_selection *selection)
{
    const struct tv_tables *tables = &selection->trace->tables;
    rewrite_selection_sort_places(&selection->profiles);
    for (size_t i = 0; selection->profiles.count > 0 && i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        if (sample->input == selection->input && sample->thread != TV_NONE &&
            rewrite_selection_find_place(&selection->profiles, sample->offset))
            rewrite_selection_write_sample(selection, sample);
    }
}

/* ---- Async slices in order of time ---- */

/* Return the offset of the event that ends an async slice; TV_NO_OFFSET at its beginning, and if it
 * has no such event. */
static uint64_t rewrite_selection_end_offset_of(const struct tv_trace *trace,
                                                const struct tv_call_event *call)
{
    const struct tv_slice_extra *extra =
        call->exit ? tv_tables_slice_extra(&trace->tables, call->row, call->index) : NULL;
    return extra ? extra->end_offset : TV_NO_OFFSET;
}

/* Write a beginning or an end as the merge of all async slices comes to it. */
static enum tv_status rewrite_selection_write_async(struct tv_rewrite_selection *selection,
                                                    const struct tv_call_event *call,
                                                    struct tv_error *err)
{
    const struct tv_trace *trace = selection->trace;
    struct tv_source *source = trace->head->inputs[selection->input].source;
    const struct tv_async_extra *extra =
        tv_tables_async_extra(&trace->tables, call->row, call->index);
    uint64_t begun = tv_slice_offset(trace, call->row, call->index);
    uint64_t ended = rewrite_selection_end_offset_of(trace, call);
    struct rewrite_async_event event = {.call = call, .offset = begun};
    assert(selection->trace->rows[call->row].input == selection->input);
    if (extra && extra->lifetime)
        return TV_OK;
    enum tv_status status = tv_te_event_text_read(&event.text, source, begun, err);
    if (status == TV_OK)
        event.phase = tv_te_fields_phase(&event.text.fields);
    if (status == TV_OK && ended != TV_NO_OFFSET)
        status = tv_te_event_text_read(&event.text, source, ended, err);
    if (status == TV_OK)
        rewrite_selection_write_async_event(selection, &event, ended);
    tv_free(event.text.bytes);
    return status;
}

/* Write samples and async slices, after all other events (a callback). */
static enum tv_status rewrite_selection_write_last(void *context, struct tv_te_rewrite *rewrite,
                                                   struct tv_error *err)
{
    struct tv_rewrite_selection *selection = context;
    const struct tv_trace *trace = selection->trace;
    struct tv_subset keep = {.tracks = tv_alloc(trace->track_count, sizeof *keep.tracks)};
    enum tv_status status = selection->status;
    struct tv_call_event event;
    (void)rewrite;
    if (status != TV_OK)
        *err = selection->error;
    for (uint32_t i = 0; i < trace->track_count; i++)
        keep.tracks[i] =
            trace->tracks[i].kind == TV_TRACK_ASYNC && trace->tracks[i].input == selection->input;
    rewrite_selection_write_samples(selection);
    struct tv_call_merge *merge = tv_call_merge_new_selected(trace, &keep);
    while (status == TV_OK && tv_call_merge_next(merge, &event))
        status = rewrite_selection_write_async(selection, &event, err);
    tv_call_merge_free(merge);
    tv_subset_release(&keep);
    return status;
}

struct tv_te_rewrite_selection tv_rewrite_selection_of(struct tv_rewrite_selection *selection)
{
    return (struct tv_te_rewrite_selection){
        .begin = rewrite_selection_write_first,
        .wanted = rewrite_selection_wants_event,
        .wanted_sample = rewrite_selection_wants_sample,
        .end = rewrite_selection_write_last,
        .context = selection,
    };
}

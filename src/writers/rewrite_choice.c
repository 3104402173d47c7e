/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite_choice.c - which events of a Trace Event file are in a part of its trace.
 *
 * An event is wanted when the part has what the reader made of it, by its place in the file; where
 * the part has it with another time, since it is cut to a range, that is written.  What the model
 * has no rows for goes by its own process, category and time.
 *
 * Slices of two events become one, in the place of the first.  Those that touch the ends of a range
 * stand before everything else, callers first: they begin or end at one time now, and the order of
 * the file is what is left to tell which lies in which.  Async slices stand behind the rest, in the
 * order of time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/source.h"
#include "readers/trace_event/trace_event.h"
#include "readers/trace_event/text/values.h"
#include "writers/calls.h"
#include "writers/rewrite.h"

/* A slice of a thread, by the place of its event in the file. */
struct slice_place {
    uint64_t offset;
    uint32_t row, index;
};

/* What else has a time, on the file's clock. */
struct place {
    uint64_t offset;
    tv_ns time;
};

struct places {
    struct place *rows;
    size_t count, capacity;
};

struct tv_rewrite_choice {
    const struct tv_trace *trace;
    const struct tv_rewrite_part *part;
    uint32_t input;
    uint64_t bytes;              /* of the input */
    tv_ns from, to;              /* of the range, on the file's clock */
    struct tv_interner *pids;    /* of the wanted processes, as texts */
    struct tv_interner *threads; /* of the wanted threads: pid, a tab, tid */
    struct tv_te_scratch scratch, second;
    struct slice_place *slices;
    size_t slice_count;
    struct places others;     /* of what has one time or begins with its event */
    struct places profiles;   /* of events that hold many samples */
    struct places flow_begin; /* events that arrows leave from */
    struct places flow_end;
    struct tv_te_rewrite *rewrite;
    struct tv_out text; /* of an event that is made */
    enum tv_status status;
    struct tv_error error;
};

/* ---- Places ---- */

static void add_place(struct places *places, uint64_t offset, tv_ns time)
{
    if (offset == TV_NO_OFFSET)
        return;
    places->rows =
        tv_array_reserve(places->rows, &places->capacity, places->count + 1, sizeof *places->rows);
    places->rows[places->count++] = (struct place){offset, time};
}

static int compare_offsets(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void sort_places(struct places *places)
{
    if (places->count > 0)
        qsort(places->rows, places->count, sizeof *places->rows, compare_offsets);
}

static const struct place *find_place(const struct places *places, uint64_t offset)
{
    if (places->count == 0)
        return NULL;
    return bsearch(&offset, places->rows, places->count, sizeof *places->rows, compare_offsets);
}

static const struct slice_place *find_slice(const struct tv_rewrite_choice *choice, uint64_t offset)
{
    if (choice->slice_count == 0)
        return NULL;
    return bsearch(&offset, choice->slices, choice->slice_count, sizeof *choice->slices,
                   compare_offsets);
}

/* ---- What is in the part ---- */

static bool has_tracks_of(const struct tv_rewrite_choice *choice, uint32_t process)
{
    const struct tv_trace *trace = choice->trace;
    const struct tv_keep *keep = choice->part->keep;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (tv_track_process(trace, i) == process)
            return true;
    for (uint32_t i = 0; keep->threads && i < trace->head->thread_count; i++)
        if (keep->threads[i] && tv_thread_process(trace->head, i) == process)
            return true;
    return false;
}

/* An id as the reader shows it: a number, or any other text. */
static struct tv_bytes id_text(const struct tv_head *head, uint64_t id, uint32_t key, char *number,
                               size_t size)
{
    if (key != TV_EMPTY_STRING)
        return tv_head_text(head, key);
    snprintf(number, size, "%llu", (unsigned long long)id);
    return tv_bytes_of(number);
}

static bool is_of_machine(const struct tv_process *process, uint32_t machine)
{
    return machine == TV_NONE || process->machine == TV_NONE || process->machine == machine;
}

static void note_pids(struct tv_rewrite_choice *choice, uint32_t machine)
{
    const struct tv_head *head = choice->trace->head;
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        char number[24];
        if (is_of_machine(process, machine) && tv_keep_process(choice->part->keep, i) &&
            (!choice->part->tracks_only || has_tracks_of(choice, i)))
            tv_interner_add(choice->pids,
                            id_text(head, process->id, process->key, number, sizeof number));
    }
}

static uint32_t find_thread(struct tv_interner *threads, struct tv_bytes pid, struct tv_bytes tid,
                            bool add)
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

static void note_threads(struct tv_rewrite_choice *choice)
{
    const struct tv_head *head = choice->trace->head;
    const bool *kept = choice->part->keep->threads;
    for (uint32_t i = 0; kept && i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        uint32_t owner = tv_thread_process(head, i);
        char pid[24], tid[24];
        if (!kept[i] || owner == TV_NONE)
            continue;
        const struct tv_process *process = &head->processes[owner];
        find_thread(choice->threads, id_text(head, process->id, process->key, pid, sizeof pid),
                    id_text(head, thread->id, thread->key, tid, sizeof tid), true);
    }
}

static bool is_own_row(const struct tv_rewrite_choice *choice, uint32_t row)
{
    const struct tv_trace *trace = choice->trace;
    return trace->rows[row].input == choice->input &&
           trace->tracks[trace->rows[row].track].kind != TV_TRACK_ASYNC;
}

static void note_slices(struct tv_rewrite_choice *choice)
{
    const struct tv_trace *trace = choice->trace;
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->row_count; i++)
        count += is_own_row(choice, i) ? trace->rows[i].count : 0;
    choice->slices = tv_alloc((size_t)count, sizeof *choice->slices);
    for (uint32_t i = 0; i < trace->row_count; i++)
        for (uint32_t j = 0; is_own_row(choice, i) && j < trace->rows[i].count; j++)
            choice->slices[choice->slice_count++] =
                (struct slice_place){tv_slice_offset(trace, i, j), i, j};
    if (choice->slice_count > 0)
        qsort(choice->slices, choice->slice_count, sizeof *choice->slices, compare_offsets);
}

static void note_flows(struct tv_rewrite_choice *choice)
{
    for (size_t i = 0; i < choice->trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &choice->trace->tables.flows.rows[i];
        if (flow->input != choice->input)
            continue;
        add_place(&choice->flow_begin, flow->offset, flow->from.time);
        add_place(&choice->flow_end, flow->end_offset, flow->to.time);
    }
    sort_places(&choice->flow_begin);
    sort_places(&choice->flow_end);
}

#define NOTE_ROWS(choice, table, condition)                                                        \
    for (size_t i = 0; i < (choice)->trace->tables.table.count; i++)                               \
        if ((choice)->trace->tables.table.rows[i].input == (choice)->input && (condition))         \
    add_place(&(choice)->others, (choice)->trace->tables.table.rows[i].offset,                     \
              (choice)->trace->tables.table.rows[i].time)

/* Times of tables are those of the file less where its clock began. */
static tv_ns file_time(const struct tv_rewrite_choice *choice, tv_ns axis)
{
    return axis - choice->trace->offset[choice->input];
}

static void note_counters(struct tv_rewrite_choice *choice)
{
    const struct tv_tables *tables = &choice->trace->tables;
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        for (uint32_t j = 0; counter->input == choice->input && j < counter->sample_count; j++)
            add_place(&choice->others, tables->counter_offsets[counter->first_sample + j],
                      tables->counter_times[counter->first_sample + j]);
    }
}

static void note_objects(struct tv_rewrite_choice *choice)
{
    const struct tv_tables *tables = &choice->trace->tables;
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        if (object->input != choice->input)
            continue;
        add_place(&choice->others, object->created_at, object->created);
        if (object->flags & TV_OBJECT_DELETED)
            add_place(&choice->others, object->deleted_at, object->deleted);
    }
    NOTE_ROWS(choice, snapshots, !choice->trace->tables.snapshots.rows[i].inner);
}

static void note_others(struct tv_rewrite_choice *choice)
{
    NOTE_ROWS(choice, instants, true);
    NOTE_ROWS(choice, samples, true);
    note_counters(choice);
    note_objects(choice);
    for (size_t i = 0; i < choice->trace->tables.contexts.count; i++)
        if (choice->trace->tables.contexts.rows[i].input == choice->input)
            add_place(&choice->others, choice->trace->tables.contexts.rows[i].offset, choice->from);
    sort_places(&choice->others);
}

struct tv_rewrite_choice *tv_rewrite_choice_new(const struct tv_trace *trace,
                                                const struct tv_rewrite_part *part, uint32_t input,
                                                uint32_t machine)
{
    struct tv_rewrite_choice *choice = tv_alloc(1, sizeof *choice);
    *choice = (struct tv_rewrite_choice){.trace = trace,
                                         .part = part,
                                         .input = input,
                                         .bytes = tv_source_size(trace->head->inputs[input].source),
                                         .pids = tv_interner_new(),
                                         .threads = tv_interner_new()};
    choice->from = file_time(choice, part->from);
    choice->to = file_time(choice, part->to);
    tv_out_init_memory(&choice->text);
    note_pids(choice, machine);
    note_threads(choice);
    note_slices(choice);
    note_flows(choice);
    note_others(choice);
    return choice;
}

void tv_rewrite_choice_free(struct tv_rewrite_choice *choice)
{
    if (!choice)
        return;
    tv_interner_free(choice->pids);
    tv_interner_free(choice->threads);
    tv_te_scratch_release(&choice->scratch);
    tv_te_scratch_release(&choice->second);
    tv_out_release(&choice->text);
    tv_free(choice->slices);
    tv_free(choice->others.rows);
    tv_free(choice->profiles.rows);
    tv_free(choice->flow_begin.rows);
    tv_free(choice->flow_end.rows);
    tv_free(choice);
}

/* ---- What an event says ---- */

/* An event without a process is of process 0. */
static struct tv_bytes pid_of(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    return fields->pid.data ? tv_te_decode_text(fields->pid, &choice->scratch) : TV_BYTES("0");
}

static bool is_of_process(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    if (!choice->part->keep->processes && !choice->part->tracks_only)
        return true;
    return tv_interner_find(choice->pids, pid_of(choice, fields)) != TV_NONE;
}

/* Without a tid it is the thread of the process. */
static bool is_of_thread(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    if (!choice->part->keep->threads)
        return true;
    struct tv_bytes pid = pid_of(choice, fields);
    struct tv_bytes tid = fields->tid.data ? tv_te_decode_text(fields->tid, &choice->second) : pid;
    return find_thread(choice->threads, pid, tid, false) != TV_NONE;
}

static bool is_of_category(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    return tv_keep_category(choice->part->keep, tv_te_decode_text(fields->cat, &choice->scratch));
}

static bool is_in_range(const struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    int64_t time;
    if (!choice->part->ranged)
        return true;
    return tv_te_parse_time(fields->ts, &time) && time >= choice->from && time < choice->to;
}

static bool is_name(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields,
                    const char *name)
{
    return tv_bytes_starts_with(tv_te_decode_text(fields->name, &choice->scratch), tv_bytes_of(name));
}

/* ---- Edits ---- */

/* A time of the model that is not that of the event. */
static void move_to(struct tv_te_rewrite_edit *edit, const struct tv_te_fields *fields, tv_ns time)
{
    int64_t own;
    edit->ts = time;
    edit->has_ts = tv_te_parse_time(fields->ts, &own) && own < time;
}

/* A slice without its arrows has no part in flows. */
static void unbind(const struct tv_rewrite_choice *choice, const struct tv_te_fields *fields,
                   uint64_t offset, struct tv_te_rewrite_edit *edit)
{
    if (!fields->bind_id.data)
        return;
    edit->no_flow_out = fields->flow_out.data && !find_place(&choice->flow_begin, offset);
    edit->no_flow_in = fields->flow_in.data && !find_place(&choice->flow_end, offset);
    if (edit->no_flow_out && !fields->flow_in.data)
        edit->no_flow_in = true;
    if (edit->no_flow_in && !fields->flow_out.data)
        edit->no_flow_out = true;
}

/* Whether what the event says is short enough. */
static bool says_little(const struct tv_rewrite_choice *choice, const struct tv_te_fields *fields,
                        uint64_t offset)
{
    return tv_event_args_fit(choice->part->limit, fields->args.length, offset, choice->bytes);
}

/* A step whose one arrow is gone begins or ends the flow. */
static bool keep_flow(const struct tv_rewrite_choice *choice, char phase, uint64_t offset,
                      struct tv_te_rewrite_edit *edit)
{
    bool leaves = find_place(&choice->flow_begin, offset) != NULL;
    bool arrives = find_place(&choice->flow_end, offset) != NULL;
    if (phase != 't')
        return phase == 's' ? leaves : arrives;
    edit->phase = leaves && arrives ? 0 : leaves ? 's' : 'f';
    edit->around = !leaves;
    return leaves || arrives;
}

/* ---- Slices ---- */

static bool touches_ends(const struct tv_rewrite_choice *choice, uint32_t row, uint32_t index)
{
    return choice->part->ranged &&
           (tv_slice_start(choice->trace, row, index) <= choice->part->from ||
            tv_slice_end(choice->trace, row, index) >= choice->part->to);
}

/* Room for reading behind the text. */
static struct tv_bytes finish_text(struct tv_out *text)
{
    size_t length = text->length;
    memset(tv_out_room(text, TV_WINDOW_SLACK), 0, TV_WINDOW_SLACK);
    return (struct tv_bytes){text->buffer, length};
}

static bool make_slice(struct tv_rewrite_choice *choice, uint32_t row, uint32_t index)
{
    struct tv_te_fields fields;
    const uint8_t *end;
    struct tv_te_rewrite_edit edit = {0};
    choice->text.length = 0;
    enum tv_status status =
        tv_te_describe_slice(choice->trace, row, index, &choice->text, &choice->error);
    if (status != TV_OK) {
        choice->status = status;
        return false;
    }
    struct tv_bytes text = finish_text(&choice->text);
    if (tv_te_fields_read(text.data, text.data + text.length, &fields, &end) == TV_TE_READ) {
        uint64_t offset = tv_slice_offset(choice->trace, row, index);
        unbind(choice, &fields, offset, &edit);
        edit.no_args = !says_little(choice, &fields, offset);
    }
    tv_te_rewrite_event(choice->rewrite, text, &edit);
    return true;
}

/* Of a row only its first slice and its last can touch an end, and those without length there. */
static void make_touching(struct tv_rewrite_choice *choice, uint32_t row)
{
    uint32_t count = choice->trace->rows[row].count, low = 0, high = count;
    while (low < count && touches_ends(choice, row, low))
        make_slice(choice, row, low++);
    while (high > low && touches_ends(choice, row, high - 1))
        high--;
    while (high < count)
        make_slice(choice, row, high++);
}

static enum tv_status begin(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err)
{
    struct tv_rewrite_choice *choice = context;
    choice->rewrite = rewrite;
    for (uint32_t i = 0; choice->part->ranged && i < choice->trace->row_count; i++)
        if (is_own_row(choice, i) && choice->status == TV_OK)
            make_touching(choice, i);
    if (choice->status != TV_OK)
        *err = choice->error;
    return choice->status;
}

/* One that two events made, or whose end is not its event's own, is made anew. */
static bool keep_slice(struct tv_rewrite_choice *choice, const struct tv_te_list_event *event,
                       struct tv_te_rewrite_edit *edit)
{
    const struct slice_place *place = find_slice(choice, event->offset);
    if (!place || touches_ends(choice, place->row, place->index) || choice->status != TV_OK)
        return false;
    uint32_t flags = tv_slice_get(choice->trace, place->row, place->index).flags;
    if (tv_te_fields_phase(event->fields) == 'B' || (flags & (TV_SLICE_CLIPPED | TV_SLICE_OPEN))) {
        make_slice(choice, place->row, place->index);
        return false;
    }
    unbind(choice, event->fields, event->offset, edit);
    edit->no_args = !says_little(choice, event->fields, event->offset);
    return true;
}

/* ---- What has one time ---- */

static bool keep_other(const struct tv_rewrite_choice *choice, const struct tv_te_list_event *event,
                       struct tv_te_rewrite_edit *edit)
{
    const struct place *place = find_place(&choice->others, event->offset);
    if (place && choice->part->ranged)
        move_to(edit, event->fields, place->time);
    if (strchr("iIR", tv_te_fields_phase(event->fields)))
        edit->no_args = !says_little(choice, event->fields, event->offset);
    return place != NULL;
}

/* Leaving what was left where the range begins says nothing. */
static bool keep_leaving(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    int64_t time;
    return is_of_thread(choice, fields) && is_in_range(choice, fields) &&
           (!choice->part->ranged || (tv_te_parse_time(fields->ts, &time) && time > choice->from));
}

/* What the model has no row for. */
static bool keep_rest(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    return !choice->part->tracks_only && is_of_process(choice, fields) &&
           is_of_category(choice, fields) && is_in_range(choice, fields);
}

static bool keep_metadata(struct tv_rewrite_choice *choice, const struct tv_te_fields *fields)
{
    return is_of_process(choice, fields) &&
           (!is_name(choice, fields, "thread_") || is_of_thread(choice, fields));
}

/* ---- Events of the file ---- */

/* T is a step of an async slice, or with a length the state of a thread. */
static bool is_async(const struct tv_te_fields *fields, char phase)
{
    return strchr("bneSpF", phase) || (phase == 'T' && !fields->dur.data);
}

/* Snapshots and memory dumps are nothing but what they say. */
static bool says_too_much(const struct tv_rewrite_choice *choice,
                          const struct tv_te_list_event *event)
{
    return strchr("OvV", tv_te_fields_phase(event->fields)) &&
           !says_little(choice, event->fields, event->offset);
}

static bool wanted(void *context, const struct tv_te_list_event *event, struct tv_te_rewrite_edit *edit)
{
    struct tv_rewrite_choice *choice = context;
    const struct tv_te_fields *fields = event->fields;
    char phase = tv_te_fields_phase(fields);
    if (phase == 0 || says_too_much(choice, event))
        return false;
    if (phase == 'c') /* the clocks are everybody's */
        return true;
    if (is_async(fields, phase))
        return strchr("SF", phase) && is_name(choice, fields, "ClockSyncEvent.");
    if (strchr("BXT", phase))
        return keep_slice(choice, event, edit);
    if (strchr("stf", phase))
        return keep_flow(choice, phase, event->offset, edit);
    /* The samples of a profile become events of their own. */
    if (phase == 'P' && is_name(choice, fields, "Profile")) {
        add_place(&choice->profiles, event->offset, 0);
        return false;
    }
    if (strchr("iIRCPNOD(", phase))
        return keep_other(choice, event, edit);
    switch (phase) {
    case 'E':
        return false;
    case 'M':
        return keep_metadata(choice, fields);
    case '=':
        return is_of_process(choice, fields);
    case ')':
        return keep_leaving(choice, fields);
    default:
        return keep_rest(choice, fields);
    }
}

static bool wanted_sample(void *context, uint64_t offset)
{
    const struct tv_rewrite_choice *choice = context;
    return find_place(&choice->others, offset) != NULL;
}

/* ---- Async slices ---- */

/* Of the event at an offset; without one of its own the end is like the beginning. */
struct async_event {
    struct tv_te_event_text text;
    const struct tv_call_event *call;
    uint64_t offset; /* of the text */
    char phase;
};

/* The end of an async slice where its own event tells nothing. */
static void make_end(struct tv_rewrite_choice *choice, const struct async_event *event,
                     uint64_t end_offset)
{
    const struct tv_slice *slice = event->call->slice;
    struct tv_te_rewrite_edit edit = {.phase = event->phase == 'S' ? 'F' : 'e', .has_ts = true};
    edit.ts = file_time(choice, event->call->time);
    edit.bare = end_offset == TV_NO_OFFSET && event->text.fields.ph.data && event->phase != 'e';
    edit.has_tts = event->text.fields.tts.data && !(slice->flags & TV_SLICE_NO_CPU) &&
                   tv_track_has_cpu(choice->trace, event->call->track);
    edit.tts = slice->cpu_start + slice->cpu_length;
    edit.no_args = !says_little(choice, &event->text.fields, event->offset);
    tv_te_rewrite_event(choice->rewrite, event->text.object, &edit);
}

static void make_beginning(struct tv_rewrite_choice *choice, const struct async_event *event)
{
    const struct tv_te_fields *fields = &event->text.fields;
    const struct tv_call_event *call = event->call;
    struct tv_te_rewrite_edit edit = {0};
    if (event->phase == 'e')
        edit.phase = 'b';
    unbind(choice, fields, tv_slice_offset(choice->trace, call->row, call->index), &edit);
    edit.ts = file_time(choice, call->time);
    int64_t own;
    edit.has_ts = !tv_te_parse_time(fields->ts, &own) || own != edit.ts;
    edit.has_tts = edit.has_ts && fields->tts.data && !(call->slice->flags & TV_SLICE_NO_CPU) &&
                   tv_track_has_cpu(choice->trace, call->track);
    edit.tts = call->slice->cpu_start;
    edit.no_args = !says_little(choice, fields, event->offset);
    tv_te_rewrite_event(choice->rewrite, event->text.object, &edit);
}

/* What of a slice is written where it begins and where it ends: a step is one event. */
static void make_async(struct tv_rewrite_choice *choice, const struct async_event *event,
                       uint64_t end_offset)
{
    bool exit = event->call->exit;
    bool lasts = strchr("beSF", event->phase) != NULL;
    if (!exit ? event->phase != 'p' : event->phase == 'p')
        make_beginning(choice, event);
    else if (exit && lasts)
        make_end(choice, event, end_offset);
}

/* ---- Samples of profiles ---- */

static void add_id(struct tv_out *out, const char *key, uint64_t id, uint32_t text,
                   const struct tv_head *head)
{
    tv_out_format(out, ",\"%s\":", key);
    if (text != TV_EMPTY_STRING)
        tv_out_json(out, tv_head_text(head, text));
    else
        tv_out_format(out, "%llu", (unsigned long long)id);
}

static void make_sample(struct tv_rewrite_choice *choice, const struct tv_sample *sample)
{
    const struct tv_head *head = choice->trace->head;
    const struct tv_thread *thread = &head->threads[sample->thread];
    uint32_t owner = tv_thread_process(head, sample->thread);
    struct tv_out *text = &choice->text;
    struct tv_te_rewrite_edit none = {0};
    size_t depth;
    uint32_t *frames = tv_path_frames(choice->trace, sample->path, &depth);
    text->length = 0;
    tv_out_text(text, "{\"ph\":\"P\",\"name\":");
    tv_out_json(text, tv_head_text(head, sample->title));
    if (owner != TV_NONE)
        add_id(text, "pid", head->processes[owner].id, head->processes[owner].key, head);
    add_id(text, "tid", thread->id, thread->key, head);
    tv_out_text(text, ",\"ts\":");
    tv_out_time(text, sample->time, 1000, 3);
    tv_out_text(text, ",\"stack\":[");
    for (size_t i = 0; i < depth; i++) {
        tv_out_text(text, i > 0 ? "," : "");
        tv_out_json(text, tv_head_text(head, head->frames[frames[i]].name));
    }
    tv_out_text(text, "]}");
    tv_te_rewrite_event(choice->rewrite, finish_text(text), &none);
    tv_free(frames);
}

static void make_samples(struct tv_rewrite_choice *choice)
{
    const struct tv_tables *tables = &choice->trace->tables;
    sort_places(&choice->profiles);
    for (size_t i = 0; choice->profiles.count > 0 && i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        if (sample->input == choice->input && sample->thread != TV_NONE &&
            find_place(&choice->profiles, sample->offset))
            make_sample(choice, sample);
    }
}

/* ---- Async slices, one after the other ---- */

static uint64_t end_offset_of(const struct tv_trace *trace, const struct tv_call_event *call)
{
    const struct tv_slice_extra *extra =
        call->exit ? tv_tables_slice_extra(&trace->tables, call->row, call->index) : NULL;
    return extra ? extra->end_offset : TV_NO_OFFSET;
}

static enum tv_status add_async(struct tv_rewrite_choice *choice, const struct tv_call_event *call,
                                struct tv_error *err)
{
    const struct tv_trace *trace = choice->trace;
    struct tv_source *source = trace->head->inputs[choice->input].source;
    const struct tv_async_extra *extra =
        tv_tables_async_extra(&trace->tables, call->row, call->index);
    uint64_t begun = tv_slice_offset(trace, call->row, call->index);
    uint64_t ended = end_offset_of(trace, call);
    struct async_event event = {.call = call, .offset = begun};
    if (extra && extra->lifetime)
        return TV_OK;
    enum tv_status status = tv_te_event_text_read(&event.text, source, begun, err);
    if (status == TV_OK)
        event.phase = tv_te_fields_phase(&event.text.fields);
    if (status == TV_OK && ended != TV_NO_OFFSET)
        status = tv_te_event_text_read(&event.text, source, ended, err);
    if (status == TV_OK)
        make_async(choice, &event, ended);
    tv_free(event.text.bytes);
    return status;
}

static enum tv_status end(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err)
{
    struct tv_rewrite_choice *choice = context;
    const struct tv_trace *trace = choice->trace;
    struct tv_keep keep = {.tracks = tv_alloc(trace->track_count, sizeof *keep.tracks)};
    enum tv_status status = choice->status;
    struct tv_call_event event;
    (void)rewrite;
    if (status != TV_OK)
        *err = choice->error;
    for (uint32_t i = 0; i < trace->track_count; i++)
        keep.tracks[i] =
            trace->tracks[i].kind == TV_TRACK_ASYNC && trace->tracks[i].input == choice->input;
    make_samples(choice);
    struct tv_call_merge *merge = tv_call_merge_kept(trace, &keep);
    while (status == TV_OK && tv_call_merge_next(merge, &event))
        status = add_async(choice, &event, err);
    tv_call_merge_free(merge);
    tv_keep_release(&keep);
    return status;
}

struct tv_te_rewrite_selection tv_rewrite_choice_of(struct tv_rewrite_choice *choice)
{
    return (struct tv_te_rewrite_selection){
        .begin = begin,
        .wanted = wanted,
        .wanted_sample = wanted_sample,
        .end = end,
        .context = choice,
    };
}

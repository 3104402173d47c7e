/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.c - Trace Event JSON from the model: processes, threads and slices.
 * trace_event_tables.c writes instants, counters, flows and samples.
 *
 * Order in the file: names of processes and threads; flows whose end has to bind to a slice that
 * begins at the same time, so that its event must come later; slices, merged by time; all tables,
 * with the other flows.
 *
 *     track of a thread      calls with classes: "X", category "method", facts as arguments
 *                            other slices:       "X", or "B" if still open; description as it was
 *     async track            "b" and "e" with an ID for the track; "S" if it lasts to the end
 *     states of a thread     "T" with a duration, which only our own reader knows
 *     processor              "X" in a process "Processors"; the tid is the track's number
 *
 * The caller decides what separates events and which pid a process has: inputs from several
 * machines may use one pid twice, and an excerpt of a JSON file puts events into a text of its own.
 */
#include "writers/trace/trace_event.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/source.h"
#include "readers/json/json.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"
#include "writers/trace/trace_event_parts.h"

#define US 1000

/* ---- Members ---- */

void tv_trace_events_us(const struct tv_trace_events *events, const char *key, tv_ns time)
{
    tv_out_format(events->out, ",\"%s\":", key);
    tv_out_time(events->out, time, US, 3);
}

void tv_trace_events_text(const struct tv_trace_events *events, const char *key, uint32_t string)
{
    tv_out_format(events->out, ",\"%s\":", key);
    tv_out_json(events->out, tv_trace_info_text(events->trace->head, string));
}

static bool trace_event_is_process(const struct tv_trace_events *events, uint32_t process)
{
    return process < events->trace->head->process_count;
}

void tv_trace_events_process(const struct tv_trace_events *events, uint32_t process, uint32_t input)
{
    const struct tv_trace_event_selection *selection = events->selection;
    assert(input == TV_NONE || input < events->trace->head->input_count);
    if (!trace_event_is_process(events, process) && process != TV_TRACE_EVENT_PROCESSORS)
        process = TV_TRACE_EVENT_NO_PROCESS;
    tv_out_format(events->out, ",\"pid\":%llu",
                  (unsigned long long)selection->pid(selection->context, process, input));
}

/* Write the pid and tid of a thread. A tid that is not a number is text. Lines of the kernel
 * have no IDs; their numbers start at 1, because 0 is the idle task of the same process. */
void tv_trace_events_thread(const struct tv_trace_events *events, uint32_t thread)
{
    const struct tv_thread *t = &events->trace->head->threads[thread];
    uint64_t id = t->line ? (uint64_t)thread + 1 : t->id;
    tv_trace_events_process(events, t->process, t->input);
    if (t->key != TV_EMPTY_STRING && !t->line)
        tv_trace_events_text(events, "tid", t->key);
    else
        tv_out_format(events->out, ",\"tid\":%llu", (unsigned long long)id);
}

/* Does the writer itself write a member of that name? */
static bool trace_event_writes(struct tv_bytes key)
{
    static const char *const names[] = {"ph",  "name", "cat",  "pid",   "tid", "ts",
                                        "dur", "tts",  "tdur", "cname", "id",  "s"};
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (key.length == length + 2 && memcmp(key.data + 1, names[i], length) == 0)
            return true;
    }
    return false;
}

/* Append the members of a description.  Those of another format may have the names that the event
 * has already, for example the thread id of a kernel event: of two, readers take the last. */
static void trace_event_add_members(const struct tv_trace_events *events,
                                    const struct tv_input *input, struct tv_bytes description)
{
    struct tv_json_cursor cursor = tv_json_items(description);
    struct tv_json_value value;
    struct tv_bytes key;
    if (input->verbatim) {
        tv_out_char(events->out, ',');
        tv_out_bytes(events->out, (struct tv_bytes){description.data + 1, description.length - 2});
        return;
    }
    while (tv_json_next(&cursor, &key, &value)) {
        if (trace_event_writes(key))
            continue;
        tv_out_char(events->out, ',');
        tv_out_bytes(events->out, key);
        tv_out_char(events->out, ':');
        tv_out_bytes(events->out, value.raw);
    }
}

/* Append the members of the object that describes the event. */
void tv_trace_events_describe(const struct tv_trace_events *events, uint32_t input, uint64_t offset,
                              uint64_t end_offset)
{
    const struct tv_input *in = &events->trace->head->inputs[input];
    struct tv_out description;
    if (!in->describe || !in->source || offset == TV_NO_OFFSET)
        return;
    tv_out_init_memory(&description);
    if (in->describe(events->trace, input, offset, end_offset, &description, NULL) == TV_OK &&
        description.length > 2 &&
        tv_event_args_fit(events->selection->limit, description.length, offset,
                          tv_source_size(in->source)))
        trace_event_add_members(events, in,
                                (struct tv_bytes){description.buffer, description.length});
    tv_out_release(&description);
}

/* ---- Processes and threads ---- */

/* Begin a metadata event, which names or orders processes and threads. */
static void trace_event_begin_metadata(const struct tv_trace_events *events, const char *name)
{
    events->selection->separate(events->selection->context);
    tv_out_format(events->out, "{\"ph\":\"M\",\"name\":\"%s\"", name);
}

static void trace_event_end_with_text(const struct tv_trace_events *events, const char *key,
                                      uint32_t string)
{
    tv_out_format(events->out, ",\"args\":{\"%s\":", key);
    tv_out_json(events->out, tv_trace_info_text(events->trace->head, string));
    tv_out_text(events->out, "}}");
}

static void trace_event_end_with_index(const struct tv_trace_events *events, int64_t index)
{
    tv_out_text(events->out, ",\"args\":{\"sort_index\":");
    tv_out_i64(events->out, index);
    tv_out_text(events->out, "}}");
}

/* Write the metadata of a process. */
static void trace_event_add_process(const struct tv_trace_events *events, uint32_t number)
{
    const struct tv_process *process = &events->trace->head->processes[number];
    if (process->name != TV_EMPTY_STRING) {
        trace_event_begin_metadata(events, "process_name");
        tv_trace_events_process(events, number, TV_NONE);
        tv_out_text(events->out, ",\"tid\":0");
        trace_event_end_with_text(events, "name", process->name);
    }
    if (process->labels != TV_EMPTY_STRING) {
        trace_event_begin_metadata(events, "process_labels");
        tv_trace_events_process(events, number, TV_NONE);
        trace_event_end_with_text(events, "labels", process->labels);
    }
    if (process->sort_index != 0) {
        trace_event_begin_metadata(events, "process_sort_index");
        tv_trace_events_process(events, number, TV_NONE);
        trace_event_end_with_index(events, process->sort_index);
    }
}

/* Write the metadata of a thread. */
static void trace_event_add_thread(const struct tv_trace_events *events, uint32_t number)
{
    const struct tv_thread *thread = &events->trace->head->threads[number];
    trace_event_begin_metadata(events, "thread_name");
    tv_trace_events_thread(events, number);
    trace_event_end_with_text(events, "name", thread->name);
    if (thread->sort_index != 0) {
        trace_event_begin_metadata(events, "thread_sort_index");
        tv_trace_events_thread(events, number);
        trace_event_end_with_index(events, thread->sort_index);
    }
}

/* The threads and processes that the selected inputs mention; the head does not say that for all
 * of them. */
struct trace_event_mentioned {
    bool *threads, *processes;
};

static void trace_event_mention_process(const struct tv_trace_events *events,
                                        struct trace_event_mentioned *spoken, uint32_t process)
{
    if (trace_event_is_process(events, process))
        spoken->processes[process] = true;
}

/* Mark the threads that events will name, and their processes. */
static void trace_event_mention_threads(const struct tv_trace_events *events,
                                        struct trace_event_mentioned *spoken)
{
    const struct tv_trace *trace = events->trace;
    const struct tv_trace_info *head = trace->head;
    const struct tv_subset *keep = events->selection->keep;
    for (uint32_t i = 0; i < head->thread_count; i++)
        spoken->threads[i] = tv_trace_events_has_input(events, head->threads[i].input) &&
                             (!keep->threads || keep->threads[i]);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].thread != TV_NONE &&
            tv_trace_events_has_input(events, trace->tracks[i].input))
            spoken->threads[trace->tracks[i].thread] = true;
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (spoken->threads[i])
            trace_event_mention_process(events, spoken, head->threads[i].process);
}

/* Return true when everything is written. Then processes of which only a name or a label is
 * known are written too. */
static bool trace_event_wants_all(const struct tv_trace_events *events)
{
    const struct tv_trace_info *head = events->trace->head;
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!tv_trace_events_has_input(events, i))
            return false;
    return !events->selection->keep->threads;
}

/* Find the processes and threads that need names; others would be rows without anything. */
static struct trace_event_mentioned trace_event_find_mentioned(const struct tv_trace_events *events)
{
    const struct tv_trace_info *head = events->trace->head;
    const struct tv_tables *tables = &events->trace->tables;
    struct trace_event_mentioned spoken = {tv_alloc(head->thread_count, sizeof *spoken.threads),
                                           tv_alloc(head->process_count, sizeof *spoken.processes)};
    bool all = trace_event_wants_all(events) || !events->selection->inputs;
    for (uint32_t i = 0; i < head->process_count; i++)
        spoken.processes[i] = all;
    trace_event_mention_threads(events, &spoken);
    for (size_t i = 0; i < tables->counters.count; i++)
        if (tv_trace_events_has_input(events, tables->counters.rows[i].input))
            trace_event_mention_process(events, &spoken, tables->counters.rows[i].process);
    for (size_t i = 0; i < tables->instants.count; i++)
        if (tv_trace_events_has_input(events, tables->instants.rows[i].input) &&
            tables->instants.rows[i].scope == TV_SCOPE_PROCESS)
            trace_event_mention_process(events, &spoken, tables->instants.rows[i].of);
    return spoken;
}

/* Write the names of the processes and threads that events mention. */
static void trace_event_add_names(const struct tv_trace_events *events)
{
    const struct tv_trace_info *head = events->trace->head;
    const struct tv_subset *keep = events->selection->keep;
    struct trace_event_mentioned spoken = trace_event_find_mentioned(events);
    for (uint32_t i = 0; i < head->process_count; i++)
        if (spoken.processes[i] && tv_subset_has_process(keep, i))
            trace_event_add_process(events, i);
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (spoken.threads[i] && tv_subset_has_process(keep, tv_thread_process(head, i)))
            trace_event_add_thread(events, i);
    tv_free(spoken.threads);
    tv_free(spoken.processes);
}

/* ---- Calls of formats with classes ---- */

/* Append an argument unless it is empty. *any tells whether a comma has to precede the next one. */
static void trace_event_add_text_arg(struct tv_out *out, const struct tv_trace_info *head,
                                     const char *key, uint32_t text, bool *any)
{
    if (text == TV_EMPTY_STRING)
        return;
    tv_out_format(out, "%s\"%s\":", *any ? "," : "", key);
    tv_out_json(out, tv_trace_info_text(head, text));
    *any = true;
}

static void trace_event_add_flag_arg(struct tv_out *out, const char *key, bool set, bool *any)
{
    if (!set)
        return;
    tv_out_format(out, "%s\"%s\":true", *any ? "," : "", key);
    *any = true;
}

/* Write the facts of a call that the format has no members for; readers show them as arguments. */
static void trace_event_add_args(struct tv_out *out, const struct tv_trace_info *head,
                                 const struct tv_frame *frame, uint32_t flags)
{
    bool any = false;
    tv_out_text(out, ",\"args\":{");
    trace_event_add_text_arg(out, head, "signature", frame->signature, &any);
    trace_event_add_text_arg(out, head, "file", frame->file, &any);
    if (frame->line > 0) {
        tv_out_format(out, "%s\"line\":%d", any ? "," : "", (int)frame->line);
        any = true;
    }
    trace_event_add_flag_arg(out, "unrolled", flags & TV_SLICE_UNROLLED, &any);
    trace_event_add_flag_arg(out, "entered_before", flags & TV_SLICE_ENTERED_BEFORE, &any);
    trace_event_add_flag_arg(out, "open", flags & TV_SLICE_OPEN, &any);
    trace_event_add_flag_arg(out, "missing_exit", flags & TV_SLICE_MISSING_EXIT, &any);
    tv_out_char(out, '}');
}

/* Write the name of a method with its class, as a JSON string. */
static void trace_event_add_name(struct tv_out *out, const struct tv_trace_info *head,
                                 const struct tv_frame *frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_method(&name, head, frame);
    tv_out_json(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* Write a call as {"ph": "X", "cat": "method", ...}. tts and tdur are written only beside a wall
 * clock; without one, ts and dur are CPU times. */
static void trace_event_add_call(const struct tv_trace_events *events,
                                 const struct tv_call_event *event)
{
    const struct tv_slice *slice = event->slice;
    const struct tv_trace *trace = events->trace;
    const struct tv_track *track = &trace->tracks[event->track];
    const struct tv_frame *frame = tv_path_frame(trace, slice->path);
    unsigned clocks = trace->head->inputs[track->input].clocks;
    events->selection->separate(events->selection->context);
    tv_out_text(events->out, "{\"ph\":\"X\",\"cat\":\"method\",\"name\":");
    trace_event_add_name(events->out, trace->head, frame);
    tv_trace_events_thread(events, track->thread);
    tv_trace_events_time(events, "ts", slice->start);
    tv_trace_events_us(events, "dur", slice->length);
    if ((clocks & TV_CLOCK_CPU) && (clocks & TV_CLOCK_WALL)) {
        tv_trace_events_us(events, "tts", slice->cpu_start);
        tv_trace_events_us(events, "tdur", slice->cpu_length);
    }
    trace_event_add_args(events->out, trace->head, frame, slice->flags);
    tv_out_char(events->out, '}');
}

/* ---- Slices of assembled inputs ---- */

/* Begin an event with the phase, and the name and category of its slice. */
static void trace_event_begin_slice(const struct tv_trace_events *events,
                                    const struct tv_call_event *event, const char *phase)
{
    const struct tv_frame *frame = tv_path_frame(events->trace, event->slice->path);
    events->selection->separate(events->selection->context);
    tv_out_format(events->out, "{\"ph\":\"%s\"", phase);
    tv_trace_events_text(events, "name", frame->name);
    tv_trace_events_text(events, "cat", frame->category);
}

/* Return the offset of the event that ended the slice, whose arguments are part of the
 * description. */
static uint64_t trace_event_end_offset(const struct tv_trace_events *events,
                                       const struct tv_call_event *event)
{
    const struct tv_slice_extra *extra =
        tv_tables_slice_extra(&events->trace->tables, event->row, event->index);
    return extra ? extra->end_offset : TV_NO_OFFSET;
}

/* Append what the file itself said about the slice, at its beginning and at its end. */
static void trace_event_describe_slice(const struct tv_trace_events *events,
                                       const struct tv_call_event *event)
{
    tv_trace_events_describe(events, events->trace->rows[event->row].input,
                             tv_slice_offset(events->trace, event->row, event->index),
                             trace_event_end_offset(events, event));
}

/* Return true when the slice can stay open in the file. In an excerpt its parent may end
 * earlier. */
static bool trace_event_stays_open(const struct tv_trace_events *events,
                                   const struct tv_call_event *event)
{
    return (event->slice->flags & TV_SLICE_OPEN) && !events->trace->is_subset;
}

/* Write a slice of a thread. An open slice becomes "B" without "E", so that readers close it at
 * the end of the trace. */
static void trace_event_add_slice(const struct tv_trace_events *events,
                                  const struct tv_call_event *event)
{
    const struct tv_slice *slice = event->slice;
    bool open = trace_event_stays_open(events, event);
    bool cpu = tv_track_has_cpu(events->trace, event->track) && !(slice->flags & TV_SLICE_NO_CPU);
    trace_event_begin_slice(events, event, open ? "B" : "X");
    tv_trace_events_thread(events, events->trace->tracks[event->track].thread);
    tv_trace_events_time(events, "ts", slice->start);
    if (!open)
        tv_trace_events_us(events, "dur", slice->length);
    if (cpu)
        tv_trace_events_us(events, "tts", slice->cpu_start);
    if (cpu && !open)
        tv_trace_events_us(events, "tdur", slice->cpu_length);
    trace_event_describe_slice(events, event);
    tv_out_char(events->out, '}');
}

/* Write the colour of a state (trace-event.md section 5), by its number in the model. */
static void trace_event_add_colour(const struct tv_trace_events *events,
                                   const struct tv_frame *frame)
{
    static const char *const names[] = {"uninterruptible", "iowait", "running", "runnable",
                                        "sleeping"};
    if (frame->colour > 0 && frame->colour <= TV_COUNT(names))
        tv_out_format(events->out, ",\"cname\":\"thread_state_%s\"", names[frame->colour - 1]);
}

/* Write the state of a thread as "T" with a duration, an extension that our own reader
 * understands. */
static void trace_event_add_state(const struct tv_trace_events *events,
                                  const struct tv_call_event *event)
{
    assert(!event->exit);
    trace_event_begin_slice(events, event, "T");
    tv_trace_events_thread(events, events->trace->tracks[event->track].thread);
    tv_trace_events_time(events, "ts", event->slice->start);
    tv_trace_events_us(events, "dur", event->slice->length);
    trace_event_add_colour(events, tv_path_frame(events->trace, event->slice->path));
    trace_event_describe_slice(events, event);
    tv_out_char(events->out, '}');
    events->losses->states++;
}

void tv_trace_events_processor(const struct tv_trace_events *events, uint32_t track)
{
    tv_trace_events_process(events, TV_TRACE_EVENT_PROCESSORS, events->trace->tracks[track].input);
    tv_out_format(events->out, ",\"tid\":%u", (unsigned)track);
}

/* Write what a processor ran. The processor is a thread whose tid is the track's number. */
static void trace_event_add_processor_slice(const struct tv_trace_events *events,
                                            const struct tv_call_event *event)
{
    assert(!event->exit);
    trace_event_begin_slice(events, event, "X");
    tv_trace_events_processor(events, event->track);
    tv_trace_events_time(events, "ts", event->slice->start);
    tv_trace_events_us(events, "dur", event->slice->length);
    trace_event_describe_slice(events, event);
    tv_out_char(events->out, '}');
    events->losses->processors++;
}

/* Return true when the slice lasts as long as its input: readers accept that for the older form
 * ("S"). An open "b" lasts until the last event of its ID. */
static bool trace_event_is_endless(const struct tv_trace *trace, const struct tv_call_event *event)
{
    uint32_t number = trace->tracks[event->track].input;
    const struct tv_input *input = &trace->head->inputs[number];
    const struct tv_slice *slice = event->slice;
    tv_ns end = tv_trace_time(trace, number, input->origin + input->last_wall);
    return trace->rows[event->row].depth == 0 && slice->start + slice->length >= end;
}

/* Write an end of an async slice. One ID for each track is enough, because slices of its rows do
 * not overlap. */
static void trace_event_add_async(const struct tv_trace_events *events,
                                  const struct tv_call_event *event)
{
    const struct tv_trace *trace = events->trace;
    const struct tv_async_extra *extra =
        tv_tables_async_extra(&trace->tables, event->row, event->index);
    uint32_t thread = trace->tracks[event->track].thread;
    if (event->exit && trace_event_stays_open(events, event))
        return;
    if (extra)
        thread =
            event->exit && extra->end_thread != TV_NONE ? extra->end_thread : extra->start_thread;
    bool endless = trace_event_stays_open(events, event) && trace_event_is_endless(trace, event);
    trace_event_begin_slice(events, event, endless ? "S" : event->exit ? "e" : "b");
    tv_out_format(events->out, ",\"id\":\"track %u\"", (unsigned)event->track);
    if (thread == TV_NONE)
        tv_trace_events_process(events, trace->tracks[event->track].process,
                                trace->tracks[event->track].input);
    else
        tv_trace_events_thread(events, thread);
    tv_trace_events_time(events, "ts", event->time);
    if (!event->exit)
        trace_event_describe_slice(events, event);
    tv_out_char(events->out, '}');
}

/* Choose the form of an event by the kind of its track. Only async slices have an event for
 * their end. */
static void trace_event_add_event(const struct tv_trace_events *events,
                                  const struct tv_call_event *event)
{
    const struct tv_track *track = &events->trace->tracks[event->track];
    if (track->kind == TV_TRACK_ASYNC)
        trace_event_add_async(events, event);
    else if (event->exit)
        return;
    else if (track->kind == TV_TRACK_STATES)
        trace_event_add_state(events, event);
    else if (track->kind == TV_TRACK_CPU)
        trace_event_add_processor_slice(events, event);
    else if (events->trace->head->inputs[track->input].assembled)
        trace_event_add_slice(events, event);
    else
        trace_event_add_call(events, event);
}

static void trace_event_name_processors_process(const struct tv_trace_events *events,
                                                uint32_t input)
{
    events->selection->separate(events->selection->context);
    tv_out_text(events->out, "{\"ph\":\"M\",\"name\":\"process_name\"");
    tv_trace_events_process(events, TV_TRACE_EVENT_PROCESSORS, input);
    tv_out_text(events->out, ",\"tid\":0,\"args\":{\"name\":\"Processors\"}}");
}

/* Name the threads that processors become. */
static void trace_event_name_processors(const struct tv_trace_events *events)
{
    const struct tv_subset *keep = events->selection->keep;
    uint32_t named = TV_NONE;
    for (uint32_t i = 0; i < events->trace->track_count; i++) {
        const struct tv_track *track = &events->trace->tracks[i];
        if (track->kind != TV_TRACK_CPU || !tv_trace_events_has_input(events, track->input) ||
            (keep->tracks && !keep->tracks[i]))
            continue;
        if (named != track->input)
            trace_event_name_processors_process(events, track->input);
        named = track->input;
        events->selection->separate(events->selection->context);
        tv_out_text(events->out, "{\"ph\":\"M\",\"name\":\"thread_name\"");
        tv_trace_events_process(events, TV_TRACE_EVENT_PROCESSORS, track->input);
        tv_out_format(events->out, ",\"tid\":%u,\"args\":{\"name\":", (unsigned)i);
        tv_out_json(events->out, tv_trace_info_text(events->trace->head, track->name));
        tv_out_text(events->out, "}}");
    }
}

/* Write the slices of all selected tracks. */
static void trace_event_add_slices(const struct tv_trace_events *events)
{
    struct tv_call_merge *merge =
        tv_call_merge_new_selected(events->trace, events->selection->keep);
    struct tv_call_event event;
    trace_event_name_processors(events);
    while (tv_call_merge_next(merge, &event))
        if (tv_trace_events_has_input(events, events->trace->rows[event.row].input))
            trace_event_add_event(events, &event);
    tv_call_merge_free(merge);
}

/* ---- The file ---- */

uint64_t tv_trace_event_count_namesakes(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    struct tv_interner *names = tv_interner_new();
    bool *seen = tv_alloc(head->frame_count, sizeof *seen);
    uint64_t count = 0;
    struct tv_out text;
    tv_out_init_memory(&text);
    for (uint32_t i = 1; i < trace->paths.count; i++) {
        uint32_t frame = trace->paths.nodes[i].frame;
        if (seen[frame] || head->frames[frame].category != TV_EMPTY_STRING)
            continue;
        seen[frame] = true;
        text.length = 0;
        tv_names_method(&text, head, &head->frames[frame]);
        struct tv_bytes name = {text.buffer, text.length};
        count += text.length > 0 && tv_interner_find(names, name) != TV_NONE;
        tv_interner_add(names, name);
    }
    tv_out_release(&text);
    tv_free(seen);
    tv_interner_free(names);
    return count;
}

void tv_trace_event_add(struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_trace_event_selection *selection,
                        struct tv_trace_event_losses *losses)
{
    struct tv_trace_events events = {out, trace, selection, losses};
    *losses = (struct tv_trace_event_losses){.namesakes = tv_trace_event_count_namesakes(trace)};
    trace_event_add_names(&events);
    tv_trace_events_flows(&events, true);
    trace_event_add_slices(&events);
    tv_trace_events_tables(&events);
    struct tv_error unread;
    if (out->error.status == TV_OK && tv_trace_check_sources(trace, &unread) != TV_OK)
        out->error = unread;
}

/* Write the metadata of the first input as "otherData". */
static void trace_event_add_other_data(struct tv_out *out, const struct tv_trace_info *head)
{
    tv_out_text(out, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{");
    for (uint32_t i = 0, any = 0; i < head->metadata_count; i++) {
        if (head->metadata[i].input != 0)
            continue;
        tv_out_text(out, any ? ",\n" : "\n");
        tv_out_json(out, tv_trace_info_text(head, head->metadata[i].key));
        tv_out_char(out, ':');
        tv_out_json(out, tv_trace_info_text(head, head->metadata[i].value));
        any = 1;
    }
    tv_out_text(out, "}}\n");
}

struct trace_event_file {
    struct tv_out *out;
    const struct tv_trace_info *head;
    bool any;
};

/* Return the pid that the trace has; what belongs to no process gets 0. */
static uint64_t trace_event_own_pid(void *context, uint32_t process, uint32_t input)
{
    const struct trace_event_file *whole = context;
    (void)input;
    return process >= whole->head->process_count ? 0 : whole->head->processes[process].id;
}

static void trace_event_separate(void *context)
{
    struct trace_event_file *whole = context;
    tv_out_text(whole->out, whole->any ? ",\n" : "\n");
    whole->any = true;
}

void tv_trace_event_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_subset *keep, struct tv_trace_event_losses *losses)
{
    struct trace_event_file whole = {.out = out, .head = trace->head};
    struct tv_trace_event_selection selection = {
        .keep = keep,
        .base = trace->head->inputs[0].assembled ? -trace->offset[0] : 0,
        .pid = trace_event_own_pid,
        .separate = trace_event_separate,
        .context = &whole,
    };
    tv_out_text(out, "{\"traceEvents\":[");
    tv_trace_event_add(out, trace, &selection, losses);
    trace_event_add_other_data(out, trace->head);
}

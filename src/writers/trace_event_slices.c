/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/memory.h"
#include "writers/calls.h"
#include "writers/names.h"
#include "writers/trace_event_parts.h"

/* ---- Calls of formats with classes ---- */

static void add_text_arg(struct tv_out *out, const struct tv_head *head, const char *key,
                         uint32_t text, bool *any)
{
    if (text == TV_EMPTY_STRING)
        return;
    tv_out_format(out, "%s\"%s\":", *any ? "," : "", key);
    tv_out_json(out, tv_head_text(head, text));
    *any = true;
}

static void add_flag_arg(struct tv_out *out, const char *key, bool set, bool *any)
{
    if (!set)
        return;
    tv_out_format(out, "%s\"%s\":true", *any ? "," : "", key);
    *any = true;
}

static void add_args(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame,
                     uint32_t flags)
{
    bool any = false;
    tv_out_text(out, ",\"args\":{");
    add_text_arg(out, head, "signature", frame->signature, &any);
    add_text_arg(out, head, "file", frame->file, &any);
    if (frame->line > 0) {
        tv_out_format(out, "%s\"line\":%d", any ? "," : "", (int)frame->line);
        any = true;
    }
    add_flag_arg(out, "unrolled", flags & TV_SLICE_UNROLLED, &any);
    add_flag_arg(out, "entered_before", flags & TV_SLICE_ENTERED_BEFORE, &any);
    add_flag_arg(out, "open", flags & TV_SLICE_OPEN, &any);
    add_flag_arg(out, "missing_exit", flags & TV_SLICE_MISSING_EXIT, &any);
    tv_out_char(out, '}');
}

static void add_name(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_method(&name, head, frame);
    tv_out_json(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

static void add_call(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    const struct tv_slice *slice = event->slice;
    const struct tv_trace *trace = events->trace;
    const struct tv_track *track = &trace->tracks[event->track];
    const struct tv_frame *frame = tv_path_frame(trace, slice->path);
    unsigned clocks = trace->head->inputs[track->input].clocks;
    events->choice->separate(events->choice->context);
    tv_out_text(events->out, "{\"ph\":\"X\",\"cat\":\"method\",\"name\":");
    add_name(events->out, trace->head, frame);
    tv_trace_events_thread(events, track->thread);
    tv_trace_events_time(events, "ts", slice->start);
    tv_trace_events_us(events, "dur", slice->length);
    if ((clocks & TV_CLOCK_CPU) && (clocks & TV_CLOCK_WALL)) {
        tv_trace_events_us(events, "tts", slice->cpu_start);
        tv_trace_events_us(events, "tdur", slice->cpu_length);
    }
    add_args(events->out, trace->head, frame, slice->flags);
    tv_out_char(events->out, '}');
}

/* ---- Slices of assembled inputs ---- */

static void begin(const struct tv_trace_events *events, const struct tv_call_event *event,
                  const char *phase)
{
    const struct tv_frame *frame = tv_path_frame(events->trace, event->slice->path);
    events->choice->separate(events->choice->context);
    tv_out_format(events->out, "{\"ph\":\"%s\"", phase);
    tv_trace_events_text(events, "name", frame->name);
    tv_trace_events_text(events, "cat", frame->category);
}

static uint64_t end_offset(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    const struct tv_slice_extra *extra =
        tv_tables_slice_extra(&events->trace->tables, event->row, event->index);
    return extra ? extra->end_offset : TV_NO_OFFSET;
}

static void describe(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    tv_trace_events_describe(events, events->trace->rows[event->row].input,
                             tv_slice_offset(events->trace, event->row, event->index),
                             end_offset(events, event));
}

/* An open one lasts until the end of whatever it is in; in a part that may come earlier. */
static bool stays_open(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    return (event->slice->flags & TV_SLICE_OPEN) && !events->trace->sifted;
}

static void add_slice(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    const struct tv_slice *slice = event->slice;
    bool open = stays_open(events, event);
    bool cpu = tv_track_has_cpu(events->trace, event->track) && !(slice->flags & TV_SLICE_NO_CPU);
    begin(events, event, open ? "B" : "X");
    tv_trace_events_thread(events, events->trace->tracks[event->track].thread);
    tv_trace_events_time(events, "ts", slice->start);
    if (!open)
        tv_trace_events_us(events, "dur", slice->length);
    if (cpu)
        tv_trace_events_us(events, "tts", slice->cpu_start);
    if (cpu && !open)
        tv_trace_events_us(events, "tdur", slice->cpu_length);
    describe(events, event);
    tv_out_char(events->out, '}');
}

/* The colours that states have (trace-event.md section 5), by their numbers in the model. */
static void add_colour(const struct tv_trace_events *events, const struct tv_frame *frame)
{
    static const char *const names[] = {"uninterruptible", "iowait", "running", "runnable",
                                        "sleeping"};
    if (frame->colour > 0 && frame->colour <= TV_COUNT(names))
        tv_out_format(events->out, ",\"cname\":\"thread_state_%s\"", names[frame->colour - 1]);
}

static void add_state(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    begin(events, event, "T");
    tv_trace_events_thread(events, events->trace->tracks[event->track].thread);
    tv_trace_events_time(events, "ts", event->slice->start);
    tv_trace_events_us(events, "dur", event->slice->length);
    add_colour(events, tv_path_frame(events->trace, event->slice->path));
    describe(events, event);
    tv_out_char(events->out, '}');
    events->losses->states++;
}

void tv_trace_events_processor(const struct tv_trace_events *events, uint32_t track)
{
    tv_trace_events_process(events, TV_TRACE_EVENT_PROCESSORS, events->trace->tracks[track].input);
    tv_out_format(events->out, ",\"tid\":%u", (unsigned)track);
}

static void add_run(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    begin(events, event, "X");
    tv_trace_events_processor(events, event->track);
    tv_trace_events_time(events, "ts", event->slice->start);
    tv_trace_events_us(events, "dur", event->slice->length);
    describe(events, event);
    tv_out_char(events->out, '}');
    events->losses->processors++;
}

/* Whether the slice is open as long as its input: the reader lets those of the older form be so. An
 * open "b" is so until the last event of its id. */
static bool is_endless(const struct tv_trace *trace, const struct tv_call_event *event)
{
    uint32_t number = trace->tracks[event->track].input;
    const struct tv_input *input = &trace->head->inputs[number];
    const struct tv_slice *slice = event->slice;
    tv_ns end = tv_trace_time(trace, number, input->origin + input->last_wall);
    return trace->rows[event->row].depth == 0 && slice->start + slice->length >= end;
}

/* One id a track, as in its rows nothing overlaps; and one for what is endless in it. */
static void add_async(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    const struct tv_trace *trace = events->trace;
    const struct tv_async_extra *extra =
        tv_tables_async_extra(&trace->tables, event->row, event->index);
    uint32_t thread = trace->tracks[event->track].thread;
    if (event->exit && stays_open(events, event))
        return;
    if (extra)
        thread =
            event->exit && extra->end_thread != TV_NONE ? extra->end_thread : extra->start_thread;
    bool endless = stays_open(events, event) && is_endless(trace, event);
    begin(events, event, endless ? "S" : event->exit ? "e" : "b");
    tv_out_format(events->out, ",\"id\":\"track %u\"", (unsigned)event->track);
    if (thread == TV_NONE)
        tv_trace_events_process(events, trace->tracks[event->track].process,
                                trace->tracks[event->track].input);
    else
        tv_trace_events_thread(events, thread);
    tv_trace_events_time(events, "ts", event->time);
    if (!event->exit)
        describe(events, event);
    tv_out_char(events->out, '}');
}

static void add_event(const struct tv_trace_events *events, const struct tv_call_event *event)
{
    const struct tv_track *track = &events->trace->tracks[event->track];
    if (track->kind == TV_TRACK_ASYNC)
        add_async(events, event);
    else if (event->exit)
        return;
    else if (track->kind == TV_TRACK_STATES)
        add_state(events, event);
    else if (track->kind == TV_TRACK_CPU)
        add_run(events, event);
    else if (events->trace->head->inputs[track->input].assembled)
        add_slice(events, event);
    else
        add_call(events, event);
}

static void name_process_of_processors(const struct tv_trace_events *events, uint32_t input)
{
    events->choice->separate(events->choice->context);
    tv_out_text(events->out, "{\"ph\":\"M\",\"name\":\"process_name\"");
    tv_trace_events_process(events, TV_TRACE_EVENT_PROCESSORS, input);
    tv_out_text(events->out, ",\"tid\":0,\"args\":{\"name\":\"Processors\"}}");
}

/* The threads that processors become. */
static void name_processors(const struct tv_trace_events *events)
{
    const struct tv_subset *keep = events->choice->keep;
    uint32_t named = TV_NONE;
    for (uint32_t i = 0; i < events->trace->track_count; i++) {
        const struct tv_track *track = &events->trace->tracks[i];
        if (track->kind != TV_TRACK_CPU || !tv_trace_events_of(events, track->input) ||
            (keep->tracks && !keep->tracks[i]))
            continue;
        if (named != track->input)
            name_process_of_processors(events, track->input);
        named = track->input;
        events->choice->separate(events->choice->context);
        tv_out_text(events->out, "{\"ph\":\"M\",\"name\":\"thread_name\"");
        tv_trace_events_process(events, TV_TRACE_EVENT_PROCESSORS, track->input);
        tv_out_format(events->out, ",\"tid\":%u,\"args\":{\"name\":", (unsigned)i);
        tv_out_json(events->out, tv_head_text(events->trace->head, track->name));
        tv_out_text(events->out, "}}");
    }
}

void tv_trace_events_slices(const struct tv_trace_events *events)
{
    struct tv_call_merge *merge = tv_call_merge_kept(events->trace, events->choice->keep);
    struct tv_call_event event;
    name_processors(events);
    while (tv_call_merge_next(merge, &event))
        if (tv_trace_events_of(events, events->trace->rows[event.row].input))
            add_event(events, &event);
    tv_call_merge_free(merge);
}

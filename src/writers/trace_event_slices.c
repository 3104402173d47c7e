/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/memory.h"
#include "writers/calls.h"
#include "writers/names.h"
#include "writers/trace_event_parts.h"

/* ---- Calls of formats with classes ---- */

static void trace_event_add_text_arg(struct tv_out *out, const struct tv_head *head,
                                     const char *key, uint32_t text, bool *any)
{
    if (text == TV_EMPTY_STRING)
        return;
    tv_out_format(out, "%s\"%s\":", *any ? "," : "", key);
    tv_out_json(out, tv_head_text(head, text));
    *any = true;
}

static void trace_event_add_flag_arg(struct tv_out *out, const char *key, bool set, bool *any)
{
    if (!set)
        return;
    tv_out_format(out, "%s\"%s\":true", *any ? "," : "", key);
    *any = true;
}

static void trace_event_add_args(struct tv_out *out, const struct tv_head *head,
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

static void trace_event_add_name(struct tv_out *out, const struct tv_head *head,
                                 const struct tv_frame *frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_method(&name, head, frame);
    tv_out_json(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

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

static void trace_event_begin_slice(const struct tv_trace_events *events,
                                    const struct tv_call_event *event, const char *phase)
{
    const struct tv_frame *frame = tv_path_frame(events->trace, event->slice->path);
    events->selection->separate(events->selection->context);
    tv_out_format(events->out, "{\"ph\":\"%s\"", phase);
    tv_trace_events_text(events, "name", frame->name);
    tv_trace_events_text(events, "cat", frame->category);
}

static uint64_t trace_event_end_offset(const struct tv_trace_events *events,
                                       const struct tv_call_event *event)
{
    const struct tv_slice_extra *extra =
        tv_tables_slice_extra(&events->trace->tables, event->row, event->index);
    return extra ? extra->end_offset : TV_NO_OFFSET;
}

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
    return (event->slice->flags & TV_SLICE_OPEN) && !events->trace->sifted;
}

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

static void trace_event_add_state(const struct tv_trace_events *events,
                                  const struct tv_call_event *event)
{
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

static void trace_event_add_processor_slice(const struct tv_trace_events *events,
                                            const struct tv_call_event *event)
{
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
    const struct tv_keep *keep = events->selection->keep;
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
        tv_out_json(events->out, tv_head_text(events->trace->head, track->name));
        tv_out_text(events->out, "}}");
    }
}

void tv_trace_events_slices(const struct tv_trace_events *events)
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

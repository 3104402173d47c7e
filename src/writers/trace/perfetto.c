/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c - Perfetto traces from the model: packets, names and slices.
 *
 *     packet   {sequence 1, state cleared}            once, so that readers accept what follows
 *     packet   {descriptor of a track}                of each process, thread, counter, ...
 *     packet   {time, event {begin, track, name 1}, interned {name 1: "draw"}}
 *     packet   {time, event {end, track}}
 *
 * A name is written with the first event that has it, and by its number from then on.  Slices are
 * in the order of time; instants and counters follow.  Readers sort by time and keep the order of
 * events at the same time.
 *
 * perfetto_tracks.c writes the descriptors, perfetto_annotations.c the arguments, and
 * perfetto_tables.c instants, counters and flows.
 */
#include "writers/trace/perfetto.h"

#include <assert.h>

#include "base/memory.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"
#include "writers/trace/perfetto_parts.h"
#include "writers/trace/trace_event.h"

/* Fields of TracePacket. */
enum {
    PACKET_TIME = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_FIRST = 87,
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* Fields of TrackEvent. */
enum {
    EVENT_CATEGORY_NUMBERS = 3,
    EVENT_TYPE = 9,
    EVENT_NAME_NUMBER = 10,
    EVENT_TRACK = 11,
    EVENT_CPU_TIME = 17,
    EVENT_NAME = 23,
};

/* Fields of InternedData. */
enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2 };

#define SEQUENCE 1u
#define US 1000

/* ---- Packets ---- */

void tv_perfetto_put_packet(struct tv_perfetto_writer *writer)
{
    tv_protobuf_put_number(&writer->packet, PACKET_SEQUENCE, SEQUENCE);
    tv_protobuf_put_message(writer->out, 1, &writer->packet);
}

static void perfetto_begin_sequence(struct tv_perfetto_writer *writer)
{
    tv_protobuf_put_number(&writer->packet, PACKET_FLAGS, STATE_CLEARED);
    tv_protobuf_put_number(&writer->packet, PACKET_FIRST, 1);
    tv_perfetto_put_packet(writer);
}

void tv_perfetto_begin_event(struct tv_perfetto_writer *writer, enum tv_perfetto_event_type type,
                             uint64_t track)
{
    assert(writer->event.length == 0);
    tv_protobuf_put_number(&writer->event, EVENT_TYPE, type);
    tv_protobuf_put_number(&writer->event, EVENT_TRACK, track);
}

void tv_perfetto_put_event(struct tv_perfetto_writer *writer, tv_ns time)
{
    assert(time + writer->base >= 0);
    tv_protobuf_put_number(&writer->packet, PACKET_TIME, (uint64_t)(time + writer->base));
    tv_protobuf_put_number(&writer->packet, PACKET_FLAGS, NEEDS_STATE);
    if (writer->interned.length > 0)
        tv_protobuf_put_message(&writer->packet, PACKET_INTERNED, &writer->interned);
    tv_protobuf_put_message(&writer->packet, PACKET_EVENT, &writer->event);
    tv_perfetto_put_packet(writer);
}

/* ---- Names ---- */

/* Return the number of a text; a new one is written with the next packet. */
static uint32_t perfetto_intern(struct tv_perfetto_writer *writer, struct tv_interner *texts,
                                uint32_t table, struct tv_bytes text)
{
    uint32_t count = tv_interner_count(texts);
    uint32_t number = tv_interner_add(texts, text);
    if (number == count) {
        struct tv_out entry;
        tv_out_init_memory(&entry);
        tv_protobuf_put_number(&entry, 1, number);
        tv_protobuf_put_bytes(&entry, 2, text);
        tv_protobuf_put_message(&writer->interned, table, &entry);
        tv_out_release(&entry);
    }
    return number;
}

/* Return the number of a frame's name; TV_EMPTY_STRING, 0, when it has none. */
static uint32_t perfetto_frame_name(struct tv_perfetto_writer *writer, uint32_t frame)
{
    const struct tv_trace_info *head = writer->trace->head;
    if (writer->frame_names[frame] == TV_NONE) {
        writer->text.length = 0;
        tv_names_method(&writer->text, head, &head->frames[frame]);
        writer->frame_names[frame] =
            perfetto_intern(writer, writer->names, INTERNED_NAMES,
                            (struct tv_bytes){writer->text.buffer, writer->text.length});
    }
    return writer->frame_names[frame];
}

void tv_perfetto_name_event(struct tv_perfetto_writer *writer, uint32_t frame)
{
    const struct tv_trace_info *head = writer->trace->head;
    uint32_t name = perfetto_frame_name(writer, frame);
    uint32_t category = perfetto_intern(writer, writer->categories, INTERNED_CATEGORIES,
                                        tv_trace_info_text(head, head->frames[frame].category));
    if (name != TV_EMPTY_STRING)
        tv_protobuf_put_number(&writer->event, EVENT_NAME_NUMBER, name);
    else /* 0 is no number of a text */
        tv_protobuf_put_bytes(&writer->event, EVENT_NAME, TV_BYTES(""));
    if (category != TV_EMPTY_STRING)
        tv_protobuf_put_number(&writer->event, EVENT_CATEGORY_NUMBERS, category);
}

/* ---- Slices ---- */

/* Return true when a slice has CPU times of its thread beside those of a wall clock. */
static bool perfetto_has_cpu(const struct tv_trace *trace, uint32_t track, unsigned flags)
{
    return !(flags & TV_SLICE_NO_CPU) && tv_track_has_calls(&trace->tracks[track]) &&
           tv_track_has_cpu(trace, track) && tv_track_has_wall(trace, track);
}

/* Readers let a slice without an end last until the last event.  In a subset its parent may end
 * earlier.  A CPU time needs the event that ends the slice. */
bool tv_perfetto_stays_open(const struct tv_perfetto_writer *writer, uint32_t row,
                            const struct tv_slice *slice)
{
    return (slice->flags & TV_SLICE_OPEN) && !writer->trace->is_subset && !writer->ends_open &&
           slice->start + slice->length >= writer->latest &&
           !perfetto_has_cpu(writer->trace, writer->trace->rows[row].track, slice->flags);
}

/* Add the CPU time of the thread. */
static void perfetto_put_cpu_time(struct tv_perfetto_writer *writer,
                                  const struct tv_call_event *event)
{
    if (!perfetto_has_cpu(writer->trace, event->track, event->slice->flags))
        return;
    tv_protobuf_put_number(&writer->event, EVENT_CPU_TIME, (uint64_t)(event->cpu / US));
    writer->losses->rounded += event->cpu % US != 0;
}

/* Add the facts of a call of a method trace for which slices have no fields. */
static void perfetto_put_call_facts(struct tv_perfetto_writer *writer, const struct tv_frame *frame,
                                    uint32_t flags)
{
    const struct tv_trace_info *head = writer->trace->head;
    tv_perfetto_put_text(writer, "signature", tv_trace_info_text(head, frame->signature));
    tv_perfetto_put_text(writer, "file", tv_trace_info_text(head, frame->file));
    if (frame->line > 0)
        tv_perfetto_put_integer(writer, "line", frame->line);
    tv_perfetto_put_flag(writer, "unrolled", flags & TV_SLICE_UNROLLED);
    tv_perfetto_put_flag(writer, "entered_before", flags & TV_SLICE_ENTERED_BEFORE);
    tv_perfetto_put_flag(writer, "missing_exit", flags & TV_SLICE_MISSING_EXIT);
}

/* Add what the file says about a call, as annotations. */
static void perfetto_put_facts(struct tv_perfetto_writer *writer, const struct tv_call_event *event)
{
    const struct tv_trace *trace = writer->trace;
    const struct tv_slice *slice = event->slice;
    uint32_t input = trace->rows[event->row].input;
    const struct tv_slice_extra *extra =
        tv_tables_slice_extra(&trace->tables, event->row, event->index);
    if (trace->head->inputs[input].assembled)
        tv_perfetto_describe(writer, input, tv_slice_offset(trace, event->row, event->index),
                             extra ? extra->end_offset : TV_NO_OFFSET);
    else
        perfetto_put_call_facts(writer, tv_path_frame(trace, slice->path), slice->flags);
    tv_perfetto_put_flag(writer, "open",
                         (slice->flags & TV_SLICE_OPEN) &&
                             !tv_perfetto_stays_open(writer, event->row, slice));
}

/* Count slices that become something else, by the kind of their track. */
static void perfetto_count_changed(struct tv_perfetto_writer *writer,
                                   const struct tv_call_event *event)
{
    const struct tv_async_extra *extra =
        tv_tables_async_extra(&writer->trace->tables, event->row, event->index);
    switch (writer->trace->tracks[event->track].kind) {
    case TV_TRACK_THREAD:
        break;
    case TV_TRACK_OVERFLOW:
        writer->losses->unnested++;
        break;
    case TV_TRACK_ASYNC:
        writer->losses->handed +=
            extra && extra->end_thread != TV_NONE && extra->end_thread != extra->start_thread;
        break;
    case TV_TRACK_CPU:
        writer->losses->processors++;
        break;
    case TV_TRACK_STATES:
        writer->losses->states++;
        break;
    }
}

/* Write the begin of a slice, with its name, flows and annotations. */
static void perfetto_put_slice_begin(struct tv_perfetto_writer *writer,
                                     const struct tv_call_event *event)
{
    const struct tv_trace *trace = writer->trace;
    tv_perfetto_begin_event(writer, TV_PERFETTO_BEGIN,
                            tv_perfetto_slice_track(writer, event->track));
    tv_perfetto_name_event(writer, trace->paths.nodes[event->slice->path].frame);
    perfetto_put_cpu_time(writer, event);
    tv_perfetto_put_flows(writer, event->row, event->index, false);
    perfetto_put_facts(writer, event);
    tv_perfetto_put_event(writer, event->time);
    perfetto_count_changed(writer, event);
}

/* Write the end of a slice; one that stays open has none. */
static void perfetto_put_slice_end(struct tv_perfetto_writer *writer,
                                   const struct tv_call_event *event)
{
    if (tv_perfetto_stays_open(writer, event->row, event->slice))
        return;
    tv_perfetto_begin_event(writer, TV_PERFETTO_END, tv_perfetto_slice_track(writer, event->track));
    perfetto_put_cpu_time(writer, event);
    tv_perfetto_put_flows(writer, event->row, event->index, true);
    tv_perfetto_put_event(writer, event->time);
}

/* Write all slices in order of time, as the format needs it for each track. */
static void perfetto_put_slices(struct tv_perfetto_writer *writer)
{
    struct tv_call_merge *merge = tv_call_merge_new(writer->trace);
    struct tv_call_event event;
    while (!tv_out_has_failed(writer->out) && tv_call_merge_next(merge, &event))
        if (event.exit)
            perfetto_put_slice_end(writer, &event);
        else
            perfetto_put_slice_begin(writer, &event);
    tv_call_merge_free(merge);
}

/* ---- The file ---- */

/* Find the times of the first and the last event to be written.  The end of a slice that is open at
 * the end of the trace is not written, unless tracing ended after the last event (a method trace
 * states how long it lasted): then the ends are the last events. */
static void perfetto_find_extent(struct tv_perfetto_writer *writer, tv_ns *earliest)
{
    const struct tv_trace *trace = writer->trace;
    const struct tv_tables *tables = &trace->tables;
    tv_ns latest = trace->start, latest_open = trace->start;
    *earliest = trace->start;
    for (uint32_t i = 0; i < trace->row_count; i++) {
        if (trace->rows[i].count == 0)
            continue;
        struct tv_slice last = tv_slice_get(trace, i, trace->rows[i].count - 1);
        tv_ns end = last.start + (last.flags & TV_SLICE_OPEN ? 0 : last.length);
        latest = end > latest ? end : latest;
        end = last.start + last.length;
        latest_open = end > latest_open ? end : latest_open;
    }
    for (size_t i = 0; i < tables->instants.count; i++) {
        tv_ns time =
            tv_trace_time(trace, tables->instants.rows[i].input, tables->instants.rows[i].time);
        latest = time > latest ? time : latest;
        *earliest = time < *earliest ? time : *earliest;
    }
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        if (counter->sample_count == 0)
            continue;
        const tv_ns *times = tables->counter_times + counter->first_sample;
        tv_ns first = tv_trace_time(trace, counter->input, times[0]);
        tv_ns last = tv_trace_time(trace, counter->input, times[counter->sample_count - 1]);
        latest = last > latest ? last : latest;
        *earliest = first < *earliest ? first : *earliest;
    }
    writer->ends_open = latest_open > latest;
    writer->latest = writer->ends_open ? latest_open : latest;
}

/* Choose the distance from the trace's axis to the times of the file: those of the first input, or
 * later ones when these are below 0. */
static void perfetto_choose_base(struct tv_perfetto_writer *writer)
{
    const struct tv_trace *trace = writer->trace;
    tv_ns earliest, moved, last;
    perfetto_find_extent(writer, &earliest);
    last = writer->latest > trace->end ? writer->latest : trace->end;
    writer->base =
        trace->head->input_count > 0 && trace->head->inputs[0].assembled ? -trace->offset[0] : 0;
    if (__builtin_add_overflow(writer->base, earliest, &moved) ||
        __builtin_add_overflow(writer->base, last, &moved) || earliest + writer->base < 0) {
        writer->losses->moved = true;
        writer->base = -earliest;
    }
}

/* Make the buffers, which are used again for each packet, and the tables of numbers. */
static void perfetto_init(struct tv_perfetto_writer *writer)
{
    const struct tv_trace_info *head = writer->trace->head;
    tv_out_init_memory(&writer->packet);
    tv_out_init_memory(&writer->event);
    tv_out_init_memory(&writer->interned);
    tv_out_init_memory(&writer->text);
    writer->names = tv_interner_new();
    writer->categories = tv_interner_new();
    writer->frame_names = tv_alloc(head->frame_count, sizeof *writer->frame_names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        writer->frame_names[i] = TV_NONE;
    writer->pids = tv_alloc(head->process_count, sizeof *writer->pids);
    writer->tids = tv_alloc(head->thread_count, sizeof *writer->tids);
    writer->has_process = tv_alloc(head->process_count, sizeof *writer->has_process);
    writer->has_thread = tv_alloc(head->thread_count, sizeof *writer->has_thread);
}

static void perfetto_release(struct tv_perfetto_writer *writer)
{
    tv_out_release(&writer->packet);
    tv_out_release(&writer->event);
    tv_out_release(&writer->interned);
    tv_out_release(&writer->text);
    tv_interner_free(writer->names);
    tv_interner_free(writer->categories);
    tv_free(writer->frame_names);
    tv_free(writer->pids);
    tv_free(writer->tids);
    tv_free(writer->has_process);
    tv_free(writer->has_thread);
    tv_free(writer->flow_ends);
}

void tv_perfetto_write(struct tv_out *out, const struct tv_trace *trace,
                       struct tv_perfetto_losses *losses)
{
    struct tv_perfetto_writer writer = {.out = out, .trace = trace, .losses = losses};
    struct tv_error unread;
    *losses = (struct tv_perfetto_losses){.namesakes = tv_trace_event_count_namesakes(trace)};
    perfetto_init(&writer);
    perfetto_choose_base(&writer);
    tv_perfetto_number_threads(&writer);
    tv_perfetto_collect_flows(&writer);
    perfetto_begin_sequence(&writer);
    tv_perfetto_put_tracks(&writer);
    perfetto_put_slices(&writer);
    tv_perfetto_put_tables(&writer);
    perfetto_release(&writer);
    if (out->error.status == TV_OK && tv_trace_check_sources(trace, &unread) != TV_OK)
        out->error = unread;
}

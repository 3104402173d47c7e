/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_jsonl.c - the model as JSON lines: the writers of members, then head,
 * tracks and slices. tables_jsonl.c writes the tables.
 *
 * Every line is an object whose first member is its type, in this order: trace,
 * inputs, metadata, processes, threads, frames, tracks, slices and waits,
 * tables, diagnostics.  A slice follows the slice that called it.  Numbers of
 * frames, threads and tracks are those of the whole trace, also when a
 * selection leaves some of them out.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "writers/dump/dump.h"
#include "writers/dump/jsonl.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"

/* ---- Members ---- */

void tv_jsonl_begin(struct tv_out *out, const char *type)
{
    tv_out_format(out, "{\"type\": \"%s\"", type);
}

void tv_jsonl_end(struct tv_out *out)
{
    tv_out_text(out, "}\n");
}

void tv_jsonl_frame(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    const struct tv_frame *frame)
{
    const struct tv_trace_info *head = trace->head;
    if (head->inputs[input].assembled) {
        tv_jsonl_text(out, "name", tv_trace_info_text(head, frame->name));
        tv_jsonl_text(out, "category", tv_trace_info_text(head, frame->category));
    } else {
        tv_jsonl_text(out, "class", tv_trace_info_text(head, frame->class_name));
        tv_jsonl_text(out, "method", tv_trace_info_text(head, frame->name));
    }
}

void tv_jsonl_event(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    uint64_t offset, uint64_t end_offset)
{
    const struct tv_input *in = &trace->head->inputs[input];
    if (offset == TV_NO_OFFSET)
        return;
    tv_out_format(out, ", \"offset\": %" PRIu64, offset);
    if (!in->describe || !in->source)
        return;
    struct tv_out event;
    tv_out_init_memory(&event);
    if (in->describe(trace, input, offset, end_offset, &event, NULL) == TV_OK) {
        tv_json_put_key(out, ", ", "event");
        tv_out_bytes(out, (struct tv_bytes){event.buffer, event.length});
    }
    tv_out_release(&event);
}

/* Add what an asynchronous slice has beyond others. */
static void jsonl_add_async(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_async_extra *extra)
{
    tv_jsonl_text(out, "async_id", tv_trace_info_text(trace->head, extra->id));
    tv_jsonl_index(out, "start_thread", extra->start_thread);
    tv_jsonl_index(out, "end_thread", extra->end_thread);
    if (extra->group != TV_NONE)
        tv_jsonl_number(out, "joined", extra->group);
    if (extra->lifetime)
        tv_out_text(out, ", \"lifetime\": true");
}

void tv_jsonl_slice_event(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                          uint32_t index)
{
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    const struct tv_async_extra *async = tv_tables_async_extra(&trace->tables, row, index);
    tv_jsonl_number(out, "row", row);
    tv_jsonl_number(out, "index", index);
    uint32_t frame = trace->paths.nodes[tv_slice_get(trace, row, index).path].frame;
    tv_jsonl_some_number(out, "colour", tv_slice_colour(trace, row, index, frame));
    if (async)
        jsonl_add_async(out, trace, async);
    tv_jsonl_event(out, trace, trace->rows[row].input, tv_slice_offset(trace, row, index),
                   extra ? extra->end_offset : TV_NO_OFFSET);
}

/* ---- The model ---- */

/* The first line: {"type": "trace", "axis": "real" or "cpu", "start_ns", "end_ns", "origin_ns",
 * "slices"}. */
static void model_jsonl_write_trace(struct tv_out *out, const struct tv_trace *trace)
{
    tv_jsonl_begin(out, "trace");
    tv_out_format(out, ", \"axis\": \"%s\"", trace->cpu_axis ? "cpu" : "real");
    tv_jsonl_number(out, "start_ns", trace->start);
    tv_jsonl_number(out, "end_ns", trace->end);
    tv_jsonl_some_number(out, "origin_ns", trace->origin);
    tv_jsonl_number(out, "slices", (int64_t)trace->slice_count);
    tv_jsonl_end(out);
}

/* Metadata lines follow the inputs, which they refer to by number. */
static void model_jsonl_write_inputs(struct tv_out *out, const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        tv_jsonl_begin(out, "input");
        tv_jsonl_number(out, "id", i);
        tv_jsonl_text(out, "name", tv_trace_info_text(head, input->name));
        tv_jsonl_text(out, "format", tv_bytes_of(input->format));
        tv_jsonl_text(out, "version", tv_trace_info_text(head, input->version));
        tv_jsonl_text(out, "clock", tv_bytes_of(tv_names_input_clocks(input)));
        tv_jsonl_number(out, "records", (int64_t)input->records);
        if (input->unit)
            tv_jsonl_text(out, "unit", tv_bytes_of(input->unit));
        tv_jsonl_end(out);
    }
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        tv_jsonl_begin(out, "metadata");
        tv_jsonl_number(out, "input", head->metadata[i].input);
        tv_jsonl_text(out, "key", tv_trace_info_text(head, head->metadata[i].key));
        tv_jsonl_text(out, "value", tv_trace_info_text(head, head->metadata[i].value));
        tv_jsonl_end(out);
    }
}

/* A process has a "key" when the file identifies it by a text instead of a pid. */
static void model_jsonl_write_process(struct tv_out *out, const struct tv_trace_info *head,
                                      uint32_t id)
{
    const struct tv_process *process = &head->processes[id];
    tv_jsonl_begin(out, "process");
    tv_jsonl_number(out, "id", id);
    tv_out_text(out, ", \"pid\": ");
    tv_out_u64(out, process->id);
    tv_jsonl_some_text(out, "key", tv_trace_info_text(head, process->key));
    tv_jsonl_text(out, "name", tv_trace_info_text(head, process->name));
    tv_jsonl_some_text(out, "labels", tv_trace_info_text(head, process->labels));
    tv_jsonl_some_number(out, "sort_index", process->sort_index);
    tv_jsonl_some_number(out, "uptime_ns", process->uptime);
    tv_jsonl_end(out);
}

/* Write a thread; "listed" is false if the file uses its id without naming it. */
static void model_jsonl_write_thread(struct tv_out *out, const struct tv_trace_info *head,
                                     uint32_t id)
{
    const struct tv_thread *thread = &head->threads[id];
    tv_jsonl_begin(out, "thread");
    tv_jsonl_number(out, "id", id);
    tv_out_text(out, ", \"tid\": ");
    tv_out_u64(out, thread->id);
    tv_jsonl_some_text(out, "key", tv_trace_info_text(head, thread->key));
    tv_jsonl_text(out, "name", tv_trace_info_text(head, thread->name));
    tv_jsonl_index(out, "process", thread->process);
    tv_jsonl_number(out, "input", thread->input);
    tv_jsonl_some_number(out, "sort_index", thread->sort_index);
    tv_out_format(out, ", \"listed\": %s", thread->listed ? "true" : "false");
    if (thread->line)
        tv_out_text(out, ", \"line\": true");
    tv_jsonl_end(out);
}

/* Write the selected processes, and the threads in them. */
static void model_jsonl_write_processes(struct tv_out *out, const struct tv_trace_info *head,
                                        const struct tv_subset *keep)
{
    for (uint32_t i = 0; i < head->process_count; i++)
        if (tv_subset_has_process(keep, i))
            model_jsonl_write_process(out, head, i);
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (tv_subset_has_process(keep, tv_thread_process(head, i)))
            model_jsonl_write_thread(out, head, i);
}

/* Write all frames: slices refer to them by number. */
static void model_jsonl_write_frames(struct tv_out *out, const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        tv_jsonl_begin(out, "frame");
        tv_jsonl_number(out, "id", i);
        tv_jsonl_text(out, "class", tv_trace_info_text(head, frame->class_name));
        tv_jsonl_text(out, "method", tv_trace_info_text(head, frame->name));
        tv_jsonl_text(out, "signature", tv_trace_info_text(head, frame->signature));
        tv_jsonl_text(out, "file", tv_trace_info_text(head, frame->file));
        tv_jsonl_number(out, "line", frame->line);
        tv_jsonl_some_text(out, "category", tv_trace_info_text(head, frame->category));
        tv_jsonl_end(out);
    }
}

/* Tracks that are not a thread's own have a process and a lane, which counts the tracks with the
 * same name and owner. Times of a clock that the input lacks are null. */
static void model_jsonl_write_tracks(struct tv_out *out, const struct tv_trace *trace,
                                     const struct tv_subset *keep)
{
    static const char *const kinds[] = {"thread", "overflow", "async", "cpu", "states"};
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        const struct tv_input *input = &trace->head->inputs[track->input];
        if (!tv_subset_has_process(keep, tv_track_process(trace, i)))
            continue;
        int64_t tick = input->tick_ns;
        bool wall = input->clocks & TV_CLOCK_WALL, cpu = input->clocks & TV_CLOCK_CPU;
        tv_jsonl_begin(out, "track");
        tv_jsonl_number(out, "id", i);
        tv_jsonl_text(out, "kind", tv_bytes_of(kinds[track->kind]));
        tv_jsonl_index(out, "thread", track->thread);
        if (track->kind != TV_TRACK_THREAD) {
            tv_jsonl_index(out, "process", track->process);
            tv_jsonl_number(out, "lane", track->lane);
        }
        tv_jsonl_some_text(out, "name", tv_trace_info_text(trace->head, track->name));
        tv_jsonl_number(out, "slices", (int64_t)track->slice_count);
        tv_jsonl_number(out, "levels", track->row_count);
        tv_jsonl_number_or_null(out, "first_real_ns", wall, track->first_wall * tick);
        tv_jsonl_number_or_null(out, "last_real_ns", wall, track->last_wall * tick);
        tv_jsonl_number_or_null(out, "first_cpu_ns", cpu, track->first_cpu * tick);
        tv_jsonl_number_or_null(out, "last_cpu_ns", cpu, track->last_cpu * tick);
        tv_jsonl_end(out);
    }
}

/* Write the names of the flags that are set, as an array. */
static void model_jsonl_write_flags(struct tv_out *out, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {TV_SLICE_UNROLLED, "unrolled"}, {TV_SLICE_ENTERED_BEFORE, "entered-before"},
        {TV_SLICE_OPEN, "open"},         {TV_SLICE_MISSING_EXIT, "missing-exit"},
        {TV_SLICE_CLIPPED, "clipped"},
    };
    bool any = false;
    tv_out_text(out, ", \"flags\": [");
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        if (!(flags & names[i].flag))
            continue;
        tv_out_format(out, "%s\"%s\"", any ? ", " : "", names[i].name);
        any = true;
    }
    tv_out_char(out, ']');
}

/* Write a slice. Slices are numbered in the order of the output; `above` holds the numbers of
 * the open slices. */
static void model_jsonl_write_slice(struct tv_out *out, const struct tv_trace *trace,
                                    const struct tv_call_event *event, const uint64_t *above)
{
    const struct tv_slice *slice = event->slice;
    const struct tv_track *track = &trace->tracks[event->track];
    const struct tv_frame *frame = tv_path_frame(trace, slice->path);
    bool cpu = tv_track_has_cpu(trace, event->track) && !(slice->flags & TV_SLICE_NO_CPU);
    assert(event->depth == 0 || above[event->depth] > above[event->depth - 1]);
    tv_jsonl_begin(out, "slice");
    tv_jsonl_number(out, "id", (int64_t)above[event->depth]);
    tv_jsonl_number(out, "track", event->track);
    tv_jsonl_number(out, "depth", event->depth);
    tv_jsonl_number_or_null(out, "parent", event->depth > 0,
                            event->depth > 0 ? (int64_t)above[event->depth - 1] : 0);
    tv_jsonl_number(out, "frame", trace->paths.nodes[slice->path].frame);
    tv_jsonl_frame(out, trace, track->input, frame);
    tv_jsonl_number(out, "start_ns", slice->start);
    tv_jsonl_number(out, "length_ns", slice->length);
    tv_jsonl_number_or_null(out, "cpu_start_ns", cpu, slice->cpu_start);
    tv_jsonl_number_or_null(out, "cpu_length_ns", cpu, slice->cpu_length);
    model_jsonl_write_flags(out, slice->flags);
    if (trace->head->inputs[track->input].assembled)
        tv_jsonl_slice_event(out, trace, event->row, event->index);
    tv_jsonl_end(out);
}

/* Write the slices of a track in the order of their starts. `above` is indexed by depth;
 * `number` counts over all tracks. */
static void model_jsonl_write_track_slices(struct tv_out *out, const struct tv_trace *trace,
                                           uint32_t track, const bool *frames, uint64_t *number)
{
    uint64_t *above = tv_alloc(trace->tracks[track].row_count, sizeof *above);
    struct tv_call_cursor *cursor = tv_call_cursor_new(trace, track);
    struct tv_call_event event;
    tv_call_cursor_select(cursor, frames);
    while (tv_call_cursor_next(cursor, &event)) {
        if (event.exit)
            continue;
        above[event.depth] = (*number)++;
        model_jsonl_write_slice(out, trace, &event, above);
    }
    tv_call_cursor_free(cursor);
    tv_free(above);
}

/* Waits are stored in ticks of the input; convert them to nanoseconds on the trace's axis. */
static void model_jsonl_write_waits(struct tv_out *out, const struct tv_trace *trace,
                                    uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    int64_t tick = tv_track_tick(trace, track);
    for (uint32_t i = 0; i < t->wait_count; i++) {
        tv_jsonl_begin(out, "wait");
        tv_jsonl_number(out, "track", track);
        tv_jsonl_number(out, "depth", t->waits[i].depth);
        tv_jsonl_number(out, "start_ns", t->waits[i].start * tick + trace->offset[t->input]);
        tv_jsonl_number(out, "length_ns", t->waits[i].length * tick);
        tv_jsonl_end(out);
    }
}

/* Each kind lists the first offsets at which it occurred. */
static void model_jsonl_write_diagnostics(struct tv_out *out, const struct tv_diagnostics *all)
{
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &all->kinds[i];
        if (one->count == 0)
            continue;
        tv_jsonl_begin(out, "diagnostic");
        tv_jsonl_text(out, "kind", tv_bytes_of(tv_diagnostic_name((enum tv_diagnostic_kind)i)));
        tv_jsonl_number(out, "count", (int64_t)one->count);
        tv_out_text(out, ", \"offsets\": [");
        for (uint32_t k = 0; k < one->offset_count; k++) {
            tv_out_text(out, k > 0 ? ", " : "");
            tv_out_u64(out, one->places->offsets[k]);
        }
        tv_out_char(out, ']');
        tv_jsonl_end(out);
    }
}

/* Events are read again while they are written; a file that has changed
 * meanwhile makes the output fail. */
void tv_model_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_subset *keep)
{
    static const struct tv_subset all = {.processes = NULL};
    uint64_t number = 0;
    keep = keep ? keep : &all;
    model_jsonl_write_trace(out, trace);
    model_jsonl_write_inputs(out, trace->head);
    model_jsonl_write_processes(out, trace->head, keep);
    model_jsonl_write_frames(out, trace->head);
    model_jsonl_write_tracks(out, trace, keep);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (keep->tracks && !keep->tracks[i])
            continue;
        model_jsonl_write_track_slices(out, trace, i, keep->frames, &number);
        if (!keep->frames)
            model_jsonl_write_waits(out, trace, i);
    }
    tv_tables_jsonl_write(out, trace, keep);
    model_jsonl_write_diagnostics(out, &trace->head->diagnostics);
    struct tv_error unread;
    if (out->error.status == TV_OK && tv_trace_check_sources(trace, &unread) != TV_OK)
        out->error = unread;
}

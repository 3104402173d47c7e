/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/model_jsonl.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/calls.h"
#include "writers/names.h"

static void add_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    tv_out_format(out, ", \"%s\": ", key);
    tv_out_json(out, text);
}

static void add_number(struct tv_out *out, const char *key, int64_t value)
{
    tv_out_format(out, ", \"%s\": ", key);
    tv_out_i64(out, value);
}

static void add_number_or_null(struct tv_out *out, const char *key, bool there, int64_t value)
{
    if (there)
        add_number(out, key, value);
    else
        tv_out_format(out, ", \"%s\": null", key);
}

static void begin_line(struct tv_out *out, const char *type)
{
    tv_out_format(out, "{\"type\": \"%s\"", type);
}

static void end_line(struct tv_out *out)
{
    tv_out_text(out, "}\n");
}

static void write_trace(struct tv_out *out, const struct tv_trace *trace)
{
    begin_line(out, "trace");
    tv_out_format(out, ", \"axis\": \"%s\"", trace->cpu_axis ? "cpu" : "real");
    add_number(out, "start_ns", trace->start);
    add_number(out, "end_ns", trace->end);
    add_number(out, "slices", (int64_t)trace->slice_count);
    end_line(out);
}

static void write_inputs(struct tv_out *out, const struct tv_head *head)
{
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        begin_line(out, "input");
        add_number(out, "id", i);
        add_text(out, "name", tv_head_text(head, input->name));
        add_text(out, "format", tv_bytes_of(input->format));
        add_text(out, "version", tv_head_text(head, input->version));
        add_text(out, "clock", tv_bytes_of(tv_names_clocks(input->clocks)));
        add_number(out, "records", (int64_t)input->records);
        end_line(out);
    }
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        begin_line(out, "metadata");
        add_number(out, "input", head->metadata[i].input);
        add_text(out, "key", tv_head_text(head, head->metadata[i].key));
        add_text(out, "value", tv_head_text(head, head->metadata[i].value));
        end_line(out);
    }
}

static void write_processes(struct tv_out *out, const struct tv_head *head)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        begin_line(out, "process");
        add_number(out, "id", i);
        tv_out_text(out, ", \"pid\": ");
        tv_out_u64(out, head->processes[i].id);
        add_text(out, "name", tv_head_text(head, head->processes[i].name));
        end_line(out);
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        begin_line(out, "thread");
        add_number(out, "id", i);
        tv_out_text(out, ", \"tid\": ");
        tv_out_u64(out, thread->id);
        add_text(out, "name", tv_head_text(head, thread->name));
        add_number(out, "process", thread->process);
        add_number(out, "input", thread->input);
        tv_out_format(out, ", \"listed\": %s", thread->listed ? "true" : "false");
        end_line(out);
    }
}

static void write_frames(struct tv_out *out, const struct tv_head *head)
{
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        begin_line(out, "frame");
        add_number(out, "id", i);
        add_text(out, "class", tv_head_text(head, frame->class_name));
        add_text(out, "method", tv_head_text(head, frame->name));
        add_text(out, "signature", tv_head_text(head, frame->signature));
        add_text(out, "file", tv_head_text(head, frame->file));
        add_number(out, "line", frame->line);
        end_line(out);
    }
}

static void write_tracks(struct tv_out *out, const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        const struct tv_input *input = &trace->head->inputs[track->input];
        int64_t tick = input->tick_ns;
        bool wall = input->clocks & TV_CLOCK_WALL, cpu = input->clocks & TV_CLOCK_CPU;
        begin_line(out, "track");
        add_number(out, "id", i);
        tv_out_text(out, ", \"kind\": \"thread\"");
        add_number(out, "thread", track->thread);
        add_number(out, "slices", (int64_t)track->slice_count);
        add_number(out, "levels", track->row_count);
        add_number_or_null(out, "first_real_ns", wall, track->first_wall * tick);
        add_number_or_null(out, "last_real_ns", wall, track->last_wall * tick);
        add_number_or_null(out, "first_cpu_ns", cpu, track->first_cpu * tick);
        add_number_or_null(out, "last_cpu_ns", cpu, track->last_cpu * tick);
        end_line(out);
    }
}

static void write_flags(struct tv_out *out, uint32_t flags)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {TV_SLICE_UNROLLED, "unrolled"},
        {TV_SLICE_ENTERED_BEFORE, "entered-before"},
        {TV_SLICE_OPEN, "open"},
        {TV_SLICE_MISSING_EXIT, "missing-exit"},
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

/* Slices are numbered as they are written; `above` holds the numbers of the open ones. */
static void write_slice(struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_call_event *event, const uint64_t *above)
{
    const struct tv_slice *slice = event->slice;
    const struct tv_track *track = &trace->tracks[event->track];
    const struct tv_frame *frame = tv_path_frame(trace, slice->path);
    bool cpu = trace->head->inputs[track->input].clocks & TV_CLOCK_CPU;
    begin_line(out, "slice");
    add_number(out, "id", (int64_t)above[event->depth]);
    add_number(out, "track", event->track);
    add_number(out, "depth", event->depth);
    add_number_or_null(out, "parent", event->depth > 0,
                       event->depth > 0 ? (int64_t)above[event->depth - 1] : 0);
    add_number(out, "frame", trace->paths.nodes[slice->path].frame);
    add_text(out, "class", tv_head_text(trace->head, frame->class_name));
    add_text(out, "method", tv_head_text(trace->head, frame->name));
    add_number(out, "start_ns", slice->start);
    add_number(out, "length_ns", slice->length);
    add_number_or_null(out, "cpu_start_ns", cpu, slice->cpu_start);
    add_number_or_null(out, "cpu_length_ns", cpu, slice->cpu_length);
    write_flags(out, slice->flags);
    end_line(out);
}

static void write_track_slices(struct tv_out *out, const struct tv_trace *trace, uint32_t track,
                               uint64_t *number)
{
    uint64_t *above = tv_alloc(trace->tracks[track].row_count, sizeof *above);
    struct tv_call_cursor *cursor = tv_call_cursor_new(trace, track);
    struct tv_call_event event;
    while (tv_call_cursor_next(cursor, &event)) {
        if (event.exit)
            continue;
        above[event.depth] = (*number)++;
        write_slice(out, trace, &event, above);
    }
    tv_call_cursor_free(cursor);
    tv_free(above);
}

static void write_waits(struct tv_out *out, const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    int64_t tick = tv_track_tick(trace, track);
    for (uint32_t i = 0; i < t->wait_count; i++) {
        begin_line(out, "wait");
        add_number(out, "track", track);
        add_number(out, "depth", t->waits[i].depth);
        add_number(out, "start_ns", t->waits[i].start * tick + trace->offset[t->input]);
        add_number(out, "length_ns", t->waits[i].length * tick);
        end_line(out);
    }
}

static void write_diagnostics(struct tv_out *out, const struct tv_diagnostics *all)
{
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &all->kinds[i];
        if (one->count == 0)
            continue;
        begin_line(out, "diagnostic");
        add_text(out, "kind", tv_bytes_of(tv_diagnostic_name((enum tv_diagnostic_kind)i)));
        add_number(out, "count", (int64_t)one->count);
        tv_out_text(out, ", \"offsets\": [");
        for (uint32_t k = 0; k < one->offset_count; k++) {
            tv_out_text(out, k > 0 ? ", " : "");
            tv_out_u64(out, one->offsets[k]);
        }
        tv_out_char(out, ']');
        end_line(out);
    }
}

void tv_model_jsonl_write(struct tv_out *out, const struct tv_trace *trace, const bool *wanted)
{
    uint64_t number = 0;
    write_trace(out, trace);
    write_inputs(out, trace->head);
    write_processes(out, trace->head);
    write_frames(out, trace->head);
    write_tracks(out, trace);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (wanted && !wanted[i])
            continue;
        write_track_slices(out, trace, i, &number);
        write_waits(out, trace, i);
    }
    write_diagnostics(out, &trace->head->diagnostics);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ft_made.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/ftrace/ftrace.h"
#include "unit.h"

static const char *text_of(const struct tv_trace *trace, uint32_t string)
{
    return (const char *)tv_trace_info_text(trace->head, string).data;
}

/* "cpu CPU 1:" "thread 7 main [3]:" then "  name start+length" in microseconds. */
static void write_track(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    static const char *const kinds[] = {"thread", "overflow", "async", "cpu", "states"};
    const struct tv_track *track = &trace->tracks[number];
    tv_out_format(out, "%s %s", kinds[track->kind], text_of(trace, track->name));
    if (track->thread != TV_NONE && track->kind != TV_TRACK_STATES)
        tv_out_format(out, "%s", text_of(trace, trace->head->threads[track->thread].name));
    if (track->process != TV_NONE)
        tv_out_format(out, " of %d", (int)trace->head->processes[track->process].id);
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        uint32_t row = track->first_row + depth;
        tv_out_format(out, "\n%.*s", (int)depth + 1, "      ");
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice slice = tv_slice_get(trace, row, i);
            tv_out_format(out, " %s %d+%d", text_of(trace, tv_path_frame(trace, slice.path)->name),
                          (int)(slice.start / 1000), (int)(slice.length / 1000));
            if (tv_row_columns(trace, row)->cpu_start)
                tv_out_format(out, "(%d)", (int)(slice.cpu_length / 1000));
            tv_out_text(out, slice.flags & TV_SLICE_OPEN             ? " open"
                             : slice.flags & TV_SLICE_ENTERED_BEFORE ? " entered"
                                                                     : "");
        }
    }
    tv_out_char(out, '\n');
}

static void write_counter(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_counter *counter)
{
    const struct tv_tables *tables = &trace->tables;
    const double *values = tables->counter_values + counter->first_value;
    tv_out_format(out, "counter %s", text_of(trace, counter->name));
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        tv_ns time =
            tv_trace_time(trace, counter->input, tables->counter_times[counter->first_sample + i]);
        tv_out_format(out, " %d:", (int)(time / 1000));
        for (uint32_t k = 0; k < counter->series_count; k++)
            tv_out_format(out, "%s%g", k ? "," : "", values[i * counter->series_count + k]);
    }
    tv_out_char(out, '\n');
}

static void write_row_name(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_flow_end *end)
{
    struct tv_slice slice = tv_slice_get(trace, end->row, end->index);
    const struct tv_track *track = &trace->tracks[trace->rows[end->row].track];
    tv_out_format(out, " %s %d@%d", text_of(trace, trace->head->threads[track->thread].name),
                  (int)(slice.start / 1000),
                  (int)(tv_trace_time(trace, track->input, end->time) / 1000));
}

/* "flow 17 a 0@0 b 5@5": thread, start of the slice, time of the end. */
static void write_flows(struct tv_out *out, const struct tv_trace *trace)
{
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        tv_out_format(out, "flow %s", text_of(trace, flow->id));
        write_row_name(out, trace, &flow->from);
        write_row_name(out, trace, &flow->to);
        tv_out_char(out, '\n');
    }
}

/* "stack kernel_stack of a 5: outer inner" */
static void write_samples(struct tv_out *out, const struct tv_trace *trace)
{
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        size_t count;
        uint32_t *frames = tv_path_frames(trace, sample->path, &count);
        tv_out_format(out,
                      "stack %s of %s %d:", text_of(trace, tv_sample_title(&trace->tables, sample)),
                      text_of(trace, trace->head->threads[sample->thread].name),
                      (int)(tv_trace_time(trace, sample->input, sample->time) / 1000));
        for (size_t k = 0; k < count; k++)
            tv_out_format(out, " %s", text_of(trace, trace->head->frames[frames[k]].name));
        tv_out_char(out, '\n');
        tv_free(frames);
    }
}

static void write_tables(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->counters.count; i++)
        write_counter(out, trace, &tables->counters.rows[i]);
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        tv_out_format(out, "instant %s of %s %d\n",
                      text_of(trace, trace->head->frames[instant->frame].name),
                      instant->scope == TV_SCOPE_GLOBAL ? "all"
                      : instant->scope == TV_SCOPE_TRACK
                          ? text_of(trace, trace->tracks[instant->of].name)
                          : text_of(trace, trace->head->threads[instant->of].name),
                      (int)(tv_trace_time(trace, instant->input, instant->time) / 1000));
    }
    for (size_t i = 0; i < tables->wakeups.count; i++) {
        const struct tv_wakeup *w = &tables->wakeups.rows[i];
        tv_out_format(out, "woken %s %d by %s\n",
                      text_of(trace, trace->head->threads[w->thread].name),
                      (int)(tv_trace_time(trace, w->input, w->time) / 1000),
                      w->by == TV_NONE ? "?" : text_of(trace, trace->head->threads[w->by].name));
    }
    write_flows(out, trace);
    write_samples(out, trace);
    for (int kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        if (trace->head->diagnostics.kinds[kind].count > 0)
            tv_out_format(out, "! %s %d\n", tv_diagnostic_name((enum tv_diagnostic_kind)kind),
                          (int)trace->head->diagnostics.kinds[kind].count);
}

/* Read the text in `parts` chunks, cut at multiples of `step`. The caller frees the result. */
static struct tv_trace *read_trace(struct tv_source *source, unsigned parts, uint64_t step)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    uint64_t starts[16];
    for (unsigned i = 0; i < 16; i++)
        starts[i] = step * (i + 1);
    struct tv_read_options options = {.parts = parts, .part_starts = starts};
    struct tv_error error;
    assert_int_equal(tv_reader_ftrace.assemble(source, builder, &options, &error), TV_OK);
    return tv_builder_finish(builder);
}

static char *read_text(const char *text, unsigned parts, uint64_t step)
{
    struct tv_source *source = tv_source_from_memory(tv_bytes_of(text), "x.txt");
    struct tv_trace *trace = read_trace(source, parts, step);
    struct tv_out out;
    tv_out_init_memory(&out);
    for (uint32_t i = 0; i < trace->track_count; i++)
        write_track(&out, trace, i);
    write_tables(&out, trace);
    tv_out_char(&out, '\0');
    char *result = strdup((const char *)out.buffer);
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
    return result;
}

unsigned clocks_of(const char *text)
{
    struct tv_source *source = tv_source_from_memory(tv_bytes_of(text), "x.txt");
    struct tv_trace *trace = read_trace(source, 1, 0);
    unsigned clocks = trace->head->inputs[0].clocks;
    tv_trace_free(trace);
    tv_source_free(source);
    return clocks;
}

void means(const char *text, const char *expected)
{
    char *one = read_text(text, 1, 0);
    assert_string_equal(one, expected);
    for (uint64_t step = 1; step < strlen(text); step += step < 40 ? 13 : 61) {
        char *several = read_text(text, 4, step);
        assert_string_equal(several, one);
        free(several);
    }
    free(one);
}

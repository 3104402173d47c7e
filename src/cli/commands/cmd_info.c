/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_info.c - `info` (facts about a trace) and `states` (what threads did, and
 * on which processor).
 *
 *     info      streams, no filter   records --> span sink --> profile sink --> counts, duration
 *               otherwise            the trace --> counts of the subset
 *     states    the trace --> times of threads and processors in the range
 *
 * Streaming needs no memory for the events, so `info` of a method trace of many
 * gigabytes is as cheap as reading it.
 */
#include <assert.h>
#include <stdio.h>

#include "analysis/calltree/profile.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "writers/tables/info.h"
#include "writers/tables/tables.h"

/* A sink in front of another that notes the earliest time of all records: the span of a trace,
 * without building the trace. */
struct span_sink {
    struct tv_sink sink;
    struct tv_sink_ops ops;
    struct tv_sink *inner;
    const struct tv_input *input; /* the input that is being read */
    int64_t *first;               /* [parts] in ticks */
    unsigned parts;
    tv_ns earliest[2]; /* wall, CPU: of all inputs so far; INT64_MAX without records */
};

/* The sink is the first member. */
static struct span_sink *span_sink_of(struct tv_sink *sink)
{
    return (struct span_sink *)sink;
}

/* Start an input: each part of it has its own earliest time, so parts need no lock. */
static void span_sink_begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input,
                            unsigned parts)
{
    struct span_sink *span = span_sink_of(sink);
    tv_free(span->first);
    span->input = &head->inputs[input];
    span->first = tv_alloc(parts, sizeof *span->first);
    span->parts = parts;
    for (unsigned i = 0; i < parts; i++)
        span->first[i] = INT64_MAX;
    span->inner->ops->begin(span->inner, head, input, parts);
}

/* Times are of the wall clock if the input has one, else of the CPU clock.
 * All records of an input have the same ticks, so these are compared. */
static void span_sink_take(struct tv_sink *sink, unsigned pass, unsigned part,
                           const struct tv_batch *batch)
{
    assert(part < span_sink_of(sink)->parts);
    struct span_sink *span = span_sink_of(sink);
    bool wall = span->input->clocks & TV_CLOCK_WALL;
    int64_t first = span->first[part];
    for (size_t i = 0; i < batch->count; i++) {
        int64_t time = wall ? batch->events[i].wall : batch->events[i].cpu;
        first = time < first ? time : first;
    }
    span->first[part] = first;
    span->inner->ops->take(span->inner, pass, part, batch);
}

/* Only the inner sink has something to stitch. */
static enum tv_stitch_result span_sink_stitch(struct tv_sink *sink, unsigned pass)
{
    struct tv_sink *inner = span_sink_of(sink)->inner;
    return inner->ops->stitch(inner, pass);
}

/* Finish an input: merge the earliest times of its parts. */
static void span_sink_end(struct tv_sink *sink)
{
    struct span_sink *span = span_sink_of(sink);
    tv_ns *earliest = &span->earliest[span->input->clocks & TV_CLOCK_WALL ? 0 : 1];
    for (unsigned i = 0; i < span->parts; i++) {
        if (span->first[i] != INT64_MAX && span->first[i] * span->input->tick_ns < *earliest)
            *earliest = span->first[i] * span->input->tick_ns;
    }
    span->inner->ops->end(span->inner);
}

/* Put the span sink in front of `inner`, which receives everything that the span sink receives. */
static void span_sink_init(struct span_sink *span, struct tv_sink *inner)
{
    *span = (struct span_sink){
        .ops = {.passes = inner->ops->passes,
                .writes = inner->ops->writes,
                .begin = span_sink_begin,
                .take = span_sink_take,
                .stitch = span_sink_stitch,
                .end = span_sink_end},
        .inner = inner,
        .earliest = {INT64_MAX, INT64_MAX},
    };
    span->sink.ops = &span->ops;
}

/* The inner sink belongs to the caller. */
static void span_sink_release(struct span_sink *span)
{
    tv_free(span->first);
}

/* Return the time from the earliest to the latest record, on the axis of the trace; 0 without
 * records. */
static tv_ns span_sink_get(const struct span_sink *span, const struct tv_trace_info *head)
{
    bool wall = tv_trace_info_clocks(head) & TV_CLOCK_WALL;
    tv_ns last = INT64_MIN, first = span->earliest[wall ? 0 : 1];
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        tv_ns time = (wall ? input->last_wall : input->last_cpu) * input->tick_ns;
        if (input->records > 0 && time > last)
            last = time;
    }
    return first == INT64_MAX || last < first ? 0 : last - first;
}

/* ---- info ---- */

static const struct tv_option info_options[] = {
    TV_OPTION("format", "text|json", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Open the output only now: a trace that cannot be read leaves an existing file
 * as it is. */
static enum tv_status cmd_info_write(const struct tv_settings *settings, const struct tv_info *info,
                                     struct tv_error *err)
{
    struct tv_output output;
    struct tv_out held;
    enum tv_status status =
        tv_output_open_text(&output, settings, settings->table.format == 0, err);
    if (status != TV_OK)
        return status;
    if (settings->table.format == 0) {
        tv_layout_hold(&output.out, &held);
        tv_info_write_text(&held, info);
        tv_layout_release(&output.out, &held, 2);
    } else {
        tv_info_write_json(&output.out, info);
    }
    return tv_output_close(&output, err);
}

/* Count the records of formats that stream, without building a trace. */
static enum tv_status cmd_info_of_stream(const struct tv_settings *settings,
                                         struct tv_loading *loading, struct tv_error *err)
{
    struct tv_info info = {.head = NULL};
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_profile_sink *sink = tv_profile_sink_new(NULL, NULL);
    struct span_sink span;
    span_sink_init(&span, tv_profile_sink_sink(sink));
    enum tv_status status = tv_load_stream(loading, head, &span.sink, NULL, err);
    tv_profile_sink_facts(sink, &info.counts.facts);
    tv_profile_free(tv_profile_sink_finish(sink, head));
    if (status == TV_OK) {
        tv_load_report(settings, head);
        info.head = head;
        info.counts.processes = head->process_count;
        for (uint32_t i = 0; i < head->thread_count; i++)
            info.counts.threads += !head->threads[i].late;
        info.span = span_sink_get(&span, head);
        status = cmd_info_write(settings, &info, err);
    }
    span_sink_release(&span);
    tv_trace_info_free(head);
    return status;
}

/* --filter needs no test here: files that are filtered do not stream
 * (tv_load_can_stream). */
static bool cmd_info_is_filtered(const struct tv_settings *settings)
{
    return settings->select.processes.count > 0 || settings->select.categories.count > 0;
}

/* Build the trace, for other formats and for filters, and count what the subset has. */
static enum tv_status cmd_info_of_trace(const struct tv_settings *settings,
                                        struct tv_loading *loading, struct tv_error *err)
{
    struct tv_trace *trace;
    struct tv_subset subset = {0};
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    tv_load_report(settings, trace->head);
    status = tv_subset_choose(settings, trace, &subset, err);
    if (status == TV_OK) {
        struct tv_info info = {
            .head = trace->head,
            .trace = trace,
            .selected = cmd_info_is_filtered(settings) || settings->select.filter,
            .counts = tv_counts_of(trace, &subset),
            .span = trace->end - trace->start,
        };
        status = cmd_info_write(settings, &info, err);
    }
    tv_subset_release(&subset);
    tv_trace_free(trace);
    return status;
}

/* Print the facts.  A whole method trace is read without building a trace, in bounded memory;
 * filters and other formats need one. */
static int cmd_info_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct tv_loading *loading;
    enum tv_status status =
        tv_load_open(settings, settings->files.items, settings->files.count, &loading, &err);
    if (status == TV_OK)
        status = tv_load_can_stream(loading) && !cmd_info_is_filtered(settings)
                     ? cmd_info_of_stream(settings, loading, &err)
                     : cmd_info_of_trace(settings, loading, &err);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_info = {
    .name = "info",
    .summary = "show format, clocks, duration, threads, counts and repairs",
    .arguments = "[OPTION]... FILE...",
    .details = "Several files are read as one trace.",
    .options = info_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_info_run,
};

/* ---- states ---- */

static const struct tv_option states_options[] = {
    TV_OPTION("format", "text|tsv|csv|json", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, table.limit, "show only the first N threads"),
    TV_OPTION_COLUMNS(TV_STATES_COLUMNS),
    TV_OPTION_THREADS,
    TV_OPTION("process", "NAME|ID", TV_OPTION_LIST, select.processes,
              "only this process; * matches any text (repeatable)"),
    TV_OPTION("cpu", "N", TV_OPTION_LIST, select.cpus,
              "only this processor and the threads that ran there (repeatable)"),
    TV_OPTION_RANGE,
    TV_OPTION_FILTER,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* The selected processors and threads. */
struct states_selection {
    bool *threads, *cpus; /* NULL: all */
};

/* Select the tracks of a processor; several traces can have a processor with this number. */
static enum tv_status cmd_states_choose_cpu(const struct tv_trace *trace, const char *word,
                                            bool *cpus, struct tv_error *err)
{
    uint64_t number;
    bool found = false;
    if (!tv_parse_u64(tv_bytes_of(word), &number))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--cpu: expected a number, found '%.60s'",
                       word);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_CPU || tv_cpu_number(trace, i) != number)
            continue;
        cpus[i] = true;
        found = true;
    }
    if (!found)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--cpu: the trace has no CPU %.20s", word);
    return TV_OK;
}

/* Mark the threads of --thread and --process. */
static void cmd_states_choose_threads(const struct tv_settings *settings,
                                      const struct tv_trace_info *head, bool *threads)
{
    for (uint32_t i = 0; i < head->thread_count; i++)
        threads[i] = tv_thread_is_selected(head, i, (void *)(uintptr_t)settings);
}

/* Select threads and processors, after checking that the words match something. */
static enum tv_status cmd_states_choose(const struct tv_settings *settings,
                                        const struct tv_trace *trace,
                                        struct states_selection *wanted, struct tv_error *err)
{
    enum tv_status status = tv_selection_check(settings, trace->head, &trace->tables, err);
    if (status == TV_OK && tv_threads_are_selected(settings)) {
        wanted->threads = tv_alloc(trace->head->thread_count, sizeof *wanted->threads);
        cmd_states_choose_threads(settings, trace->head, wanted->threads);
    }
    if (settings->select.cpus.count > 0)
        wanted->cpus = tv_alloc(trace->track_count, sizeof *wanted->cpus);
    for (size_t i = 0; status == TV_OK && i < settings->select.cpus.count; i++)
        status = cmd_states_choose_cpu(trace, settings->select.cpus.items[i], wanted->cpus, err);
    return status;
}

/* Print a note, except for text, which says so itself. */
static void cmd_states_note_no_states(const struct tv_settings *settings,
                                      const struct tv_trace *trace)
{
    if (settings->table.format != TV_STATES_TEXT && !settings->quiet && !tv_trace_has_states(trace))
        tv_message("%s: note: the trace has neither thread states nor processors",
                   settings->files.items[0]);
}

/* Write the table of the selected threads and processors in the range. */
static enum tv_status cmd_states_write_table(const struct tv_settings *settings,
                                             const struct tv_trace *trace,
                                             const struct states_selection *wanted,
                                             struct tv_error *err)
{
    struct tv_states_question question = {INT64_MIN, INT64_MAX, wanted->threads, wanted->cpus};
    enum tv_status status = tv_range_choose(settings, trace, &question.from, &question.to, err);
    struct tv_output output;
    if (status == TV_OK)
        status = tv_output_open_text(&output, settings, settings->table.format == 0, err);
    if (status != TV_OK)
        return status;
    cmd_states_note_no_states(settings, trace);
    struct tv_states *states = tv_states_of(trace, &question);
    tv_states_table_write(&output.out, trace, states, (enum tv_states_format)settings->table.format,
                          settings->table.limit);
    tv_states_free(states);
    return tv_output_close(&output, err);
}

/* The selection is freed here, also after an error. */
static enum tv_status cmd_states_write(const struct tv_settings *settings,
                                       const struct tv_trace *trace, struct tv_error *err)
{
    struct states_selection wanted = {NULL, NULL};
    enum tv_status status = cmd_states_choose(settings, trace, &wanted, err);
    if (status == TV_OK)
        status = cmd_states_write_table(settings, trace, &wanted, err);
    tv_free(wanted.threads);
    tv_free(wanted.cpus);
    return status;
}

static int cmd_states_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_states_write);
}

const struct tv_command tv_command_states = {
    .name = "states",
    .summary = "show thread states (running, runnable, sleeping, blocked) and processors",
    .arguments = "[OPTION]... FILE...",
    .details = "For traces with scheduler events.  Several files are read as one trace.",
    .options = states_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_states_run,
};

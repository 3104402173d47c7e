/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_convert.c - `convert` and `cut`: a trace, or part of one, as another
 * trace file.
 *
 *     convert   trace --> subset --> any format of trace_formats.h
 *     cut       trace --> subset, range, redaction --> excerpt --> method trace, JSON or Perfetto
 *
 * A format rarely holds all that a trace has.  Losses are collected while the
 * file is written and printed after it is complete, never in it.
 */
#include <string.h>

#include "analysis/calltree/sample_values.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/gzip_out.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "model/subset/subset.h"
#include "writers/tables/info.h"
#include "writers/trace/excerpt.h"
#include "writers/trace/rewrite.h"
#include "writers/trace/trace_formats.h"

static const struct tv_option convert_options[] = {
    TV_OPTION(
        "to", "default|" TV_TRACE_FORMAT_NAMES, TV_OPTION_CHOICE, to,
        "method trace version 1, 2, 3, streaming F2 or F3, Trace Event JSON, a Perfetto trace, or "
        "a profile for pprof, speedscope, the Firefox Profiler or the DevTools (default: by the "
        "ending of the output's name, else v3, or v2 if the trace has one clock)"),
    TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock,
              "clock to keep in v1, v2 and f2 (default: wall)"),
    TV_OPTION("value", "NAME", TV_OPTION_TEXT, stacks.value,
              "in a profile: only samples of this value type, without slices"),
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Return the format that the name of the output stands for, or NULL. */
static const struct tv_trace_format *cmd_output_format(const struct tv_settings *settings)
{
    return settings->output ? tv_trace_format_of_file(settings->output) : NULL;
}

/* Choose the format: --to, else the ending of the output, else the smallest version of a method
 * trace that holds both clocks. */
static const struct tv_trace_format *cmd_convert_choose(const struct tv_settings *settings,
                                                        const struct tv_trace *trace)
{
    const struct tv_trace_format *named = cmd_output_format(settings);
    if (settings->to != 0)
        return tv_trace_format_at(settings->to - 1);
    if (named)
        return named;
    bool both = tv_trace_info_clocks(trace->head) == (TV_CLOCK_WALL | TV_CLOCK_CPU);
    return tv_trace_format_named(both ? "v3" : "v2");
}

/* Binary files are not written to a terminal. */
static enum tv_status cmd_open_output(struct tv_output *output, const struct tv_settings *settings,
                                      bool binary, struct tv_error *err)
{
    return binary ? tv_output_open_binary(output, settings->output, settings->quiet, err)
                  : tv_output_open(output, settings->output, settings->quiet, err);
}

/* Write the file to an output, compressed if the format wants that or the file's name says so. */
static enum tv_status cmd_convert_write_to(const struct tv_settings *settings,
                                           const struct tv_trace_format *format,
                                           const struct tv_trace_conversion *conversion,
                                           struct tv_out *out, struct tv_out *losses,
                                           struct tv_error *err)
{
    if (!format->packed && !(settings->output && tv_text_ends_with(settings->output, ".gz")))
        return format->write(format, conversion, out, losses, err);
    struct tv_gzip_out *gzip = tv_gzip_out_new(out);
    enum tv_status status = format->write(format, conversion, tv_gzip_out_plain(gzip), losses, err);
    enum tv_status finished = tv_gzip_out_finish(gzip, status == TV_OK ? err : NULL);
    return status == TV_OK ? finished : status;
}

/* Write the file, and report losses after it is complete. A failed conversion leaves an existing
 * output file unchanged. */
static enum tv_status cmd_convert_write(const struct tv_settings *settings,
                                        const struct tv_trace_format *format,
                                        const struct tv_trace_conversion *conversion,
                                        struct tv_error *err)
{
    struct tv_output output;
    struct tv_out losses;
    enum tv_status status = cmd_open_output(&output, settings, format->binary, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&losses);
    status = cmd_convert_write_to(settings, format, conversion, &output.out, &losses, err);
    status = tv_output_finish(&output, status, err);
    if (status == TV_OK && !settings->quiet)
        tv_losses_print(settings->files.items[0], (struct tv_bytes){losses.buffer, losses.length});
    tv_out_release(&losses);
    return status;
}

/* Let the subset have only the samples of the value type that --value names. */
static enum tv_status cmd_convert_choose_value(const struct tv_settings *settings,
                                               const struct tv_trace_format *format,
                                               const struct tv_trace *trace,
                                               struct tv_subset *subset, struct tv_error *err)
{
    struct tv_sample_question question = {.measure = TV_SAMPLES_WEIGHT, .value = TV_NONE};
    if (!settings->stacks.value)
        return TV_OK;
    if (!format->profile)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--value: only --to pprof, speedscope, firefox and cpuprofile write the "
                       "samples of one value type");
    enum tv_status status =
        tv_sample_question_choose(trace, settings->stacks.value, &question, err);
    if (status != TV_OK)
        return status;
    size_t count = trace->tables.value_types.count;
    subset->types = tv_alloc(count, sizeof *subset->types);
    for (size_t i = 0; i < count; i++)
        subset->types[i] = trace->tables.value_types.rows[i].name == question.value;
    return TV_OK;
}

/* Return whether the subset has an event. */
static bool cmd_convert_has_events(const struct tv_trace *trace, const struct tv_subset *subset)
{
    struct tv_counts counts = tv_counts_of(trace, subset);
    uint64_t rows = counts.sums.slices + counts.sums.async + counts.sums.cpu_slices +
                    counts.thread_instants + counts.other_instants + counts.counters +
                    counts.objects + counts.samples + counts.memory_dumps;
    for (uint32_t i = 0; rows == 0 && i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_STATES && (!subset->tracks || subset->tracks[i]))
            rows += trace->tracks[i].slice_count;
    return rows > 0;
}

/* Refuse to write a file without events: readers refuse some, or show nothing of them. --filter has
 * made the trace a subset already. Only a method trace may be empty as a whole, and the text of a
 * file that is written again. */
static enum tv_status cmd_convert_check(const struct tv_trace_format *format,
                                        const struct tv_trace *trace,
                                        const struct tv_subset *subset, struct tv_error *err)
{
    static const struct tv_subset everything;
    if (cmd_convert_has_events(trace, subset))
        return TV_OK;
    if (trace->is_subset || cmd_convert_has_events(trace, &everything))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "nothing of the trace is in the selection");
    if (format->method_trace || tv_rewrite_keeps_text(trace) || !tv_trace_is_empty(trace))
        return TV_OK;
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "the trace has no events, and only a method trace may have none");
}

/* --clock matters to method traces alone. */
static enum tv_status cmd_convert_trace(const struct tv_settings *settings,
                                        const struct tv_trace *trace, struct tv_error *err)
{
    const struct tv_trace_format *format = cmd_convert_choose(settings, trace);
    struct tv_subset subset;
    struct tv_trace_conversion conversion = {.trace = trace, .keep = &subset};
    enum tv_status status = TV_OK;
    if (format->method_trace)
        status = tv_clock_choose(settings, tv_trace_info_clocks(trace->head), &conversion.cpu, err);
    if (status != TV_OK)
        return status;
    status = tv_subset_choose(settings, trace, &subset, err);
    if (status == TV_OK)
        status = cmd_convert_choose_value(settings, format, trace, &subset, err);
    if (status == TV_OK)
        status = cmd_convert_check(format, trace, &subset, err);
    if (status == TV_OK)
        status = cmd_convert_write(settings, format, &conversion, err);
    tv_subset_release(&subset);
    return status;
}

static int cmd_convert_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_convert_trace);
}

const struct tv_command tv_command_convert = {
    .name = "convert",
    .summary = "write a trace in another version or format",
    .arguments = "[OPTION]... FILE...",
    .details = "Standard error lists what the format cannot hold.  Several files become one trace.",
    .options = convert_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_convert_run,
};

/* ---- cut ---- */

static const struct tv_option cut_options[] = {
    TV_OPTION("to", "default|trace|json|perfetto", TV_OPTION_CHOICE, to,
              "Android method trace, Trace Event JSON or Perfetto trace (default: by the output's "
              "file name, else like the input)"),
    TV_OPTION_RANGE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTIONS_REDACTION,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Indices of the words of --to. */
enum cut_target {
    CUT_DEFAULT,
    CUT_TRACE,
    CUT_JSON,
    CUT_PERFETTO,
};

/* Choose the format: --to, else the ending of the output, else the format of the input. */
static enum cut_target cmd_cut_choose_target(const struct tv_settings *settings,
                                             struct tv_excerpt *excerpt)
{
    if (settings->to != CUT_DEFAULT)
        return (enum cut_target)settings->to;
    const char *output = settings->output ? settings->output : "";
    if (tv_text_ends_with(output, ".trace"))
        return CUT_TRACE;
    if (tv_text_ends_with(output, ".json"))
        return CUT_JSON;
    if (cmd_output_format(settings) == tv_trace_format_named("perfetto") ||
        tv_excerpt_is_perfetto(excerpt))
        return CUT_PERFETTO;
    return tv_excerpt_is_method_trace(excerpt) ? CUT_TRACE : CUT_JSON;
}

/* Write the excerpt, and lines about its losses. */
static enum tv_status cmd_cut_write_target(const struct tv_excerpt *excerpt, enum cut_target target,
                                           struct tv_out *out, struct tv_out *lines,
                                           struct tv_error *err)
{
    struct tv_excerpt_losses losses;
    struct tv_perfetto_losses perfetto;
    enum tv_status status;
    if (target == CUT_PERFETTO) {
        status = tv_excerpt_write_perfetto(excerpt, out, &perfetto, err);
        if (status == TV_OK)
            tv_losses_write_perfetto(lines, excerpt->trace, &perfetto);
        return status;
    }
    status = tv_excerpt_write(excerpt, target == CUT_TRACE, out, &losses, err);
    if (status == TV_OK)
        tv_losses_write_excerpt(lines, excerpt, target == CUT_TRACE, &losses);
    return status;
}

/* Write the excerpt and report its losses. */
static enum tv_status cmd_cut_write(const struct tv_settings *settings,
                                    const struct tv_excerpt *excerpt, enum cut_target target,
                                    struct tv_error *err)
{
    struct tv_output output;
    struct tv_out lines;
    enum tv_status status = cmd_open_output(&output, settings, target != CUT_JSON, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&lines);
    status = cmd_cut_write_target(excerpt, target, &output.out, &lines, err);
    status = tv_output_finish(&output, status, err);
    if (status == TV_OK && !settings->quiet)
        tv_losses_print(settings->files.items[0], (struct tv_bytes){lines.buffer, lines.length});
    tv_out_release(&lines);
    return status;
}

/* Make the excerpt of a subset, with range and redaction. */
static enum tv_status cmd_cut_subset(const struct tv_settings *settings,
                                     const struct tv_trace *trace, const struct tv_subset *subset,
                                     struct tv_error *err)
{
    struct tv_crop cut = {subset, INT64_MIN, INT64_MAX, settings->select.threads.count > 0};
    struct tv_excerpt excerpt;
    struct tv_redaction_options redaction;
    bool redacted;
    enum tv_status status = tv_redaction_choose(settings, &redaction, &redacted, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, trace, &cut.from, &cut.to, err);
    if (status != TV_OK)
        return status;
    tv_excerpt_make(&excerpt, trace, &cut);
    excerpt.redaction = redacted ? &redaction : NULL;
    /* Check before the output is opened, so that an existing file stays when there is nothing to
     * write. */
    enum cut_target target = cmd_cut_choose_target(settings, &excerpt);
    status = tv_excerpt_check(&excerpt, target == CUT_TRACE, err);
    if (status == TV_OK)
        status = cmd_cut_write(settings, &excerpt, target, err);
    tv_excerpt_release(&excerpt);
    return status;
}

/* The subset must outlive the excerpt, which refers to it. */
static enum tv_status cmd_cut_trace(const struct tv_settings *settings,
                                    const struct tv_trace *trace, struct tv_error *err)
{
    struct tv_subset subset;
    enum tv_status status = tv_subset_choose(settings, trace, &subset, err);
    if (status == TV_OK)
        status = cmd_cut_subset(settings, trace, &subset, err);
    tv_subset_release(&subset);
    return status;
}

static int cmd_cut_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_cut_trace);
}

const struct tv_command tv_command_cut = {
    .name = "cut",
    .summary = "write part of a trace: a time range, threads or categories",
    .arguments = "[OPTION]... FILE...",
    .details = "Calls are cut at the ends of the range, so the result has the same profile as the "
               "range.\nSeveral files become one trace.",
    .options = cut_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_cut_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_convert.c - `convert` and `cut`: a trace, or part of one, as another trace file. */
#include <assert.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "writers/stacks/pprof.h"
#include "writers/trace/excerpt.h"
#include "writers/trace/sample_files.h"

static const struct tv_option convert_options[] = {
    TV_OPTION(
        "to", "default|v1|v2|v3|f2|f3|json|pprof|perfetto|speedscope|firefox|cpuprofile",
        TV_OPTION_CHOICE, to,
        "method trace version 1, 2, 3, streaming F2 or F3, Trace Event JSON, a Perfetto trace, or "
        "a profile for pprof, speedscope, the Firefox Profiler or the DevTools (default: perfetto "
        "if "
        "the output's name ends so, else v3, or v2 if the trace has one clock)"),
    TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock,
              "clock to keep in v1, v2 and f2 (default: wall)"),
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

enum convert_target {
    CONVERT_DEFAULT,
    CONVERT_V1,
    CONVERT_V2,
    CONVERT_V3,
    CONVERT_F2,
    CONVERT_F3,
    CONVERT_JSON,
    CONVERT_PPROF,
    CONVERT_PERFETTO,
    CONVERT_SPEEDSCOPE,
    CONVERT_FIREFOX,
    CONVERT_CPUPROFILE,
};

static bool cmd_output_ends_with(const struct tv_settings *settings, const char *ending)
{
    size_t length = settings->output ? strlen(settings->output) : 0, end = strlen(ending);
    return length > end && strcmp(settings->output + length - end, ending) == 0;
}

static bool cmd_output_is_perfetto(const struct tv_settings *settings)
{
    return cmd_output_ends_with(settings, ".perfetto-trace") ||
           cmd_output_ends_with(settings, ".pftrace");
}

/* Choose the target by --to, else by the ending of a Perfetto trace, else the smallest version that
 * holds both clocks of the trace. */
static enum convert_target cmd_convert_choose_target(const struct tv_settings *settings,
                                                     const struct tv_trace *trace)
{
    if (settings->to != CONVERT_DEFAULT)
        return (enum convert_target)settings->to;
    if (cmd_output_is_perfetto(settings))
        return CONVERT_PERFETTO;
    return tv_trace_info_clocks(trace->head) == (TV_CLOCK_WALL | TV_CLOCK_CPU) ? CONVERT_V3
                                                                               : CONVERT_V2;
}

struct conversion {
    const struct tv_settings *settings;
    const struct tv_trace *trace;
    struct tv_subset subset;
    enum convert_target to;
    bool cpu;
    struct tv_out losses;
};

/* Write a method trace and collect what its version cannot hold. */
static enum tv_status cmd_convert_write_file(struct conversion *c, struct tv_output *output,
                                             struct tv_error *err)
{
    assert(c->to != CONVERT_DEFAULT && c->to < CONVERT_JSON);
    static const enum tv_trace_target targets[] = {
        [CONVERT_V1] = TV_TRACE_V1,       [CONVERT_V2] = TV_TRACE_V2,
        [CONVERT_V3] = TV_TRACE_V3,       [CONVERT_F2] = TV_TRACE_STREAM_1,
        [CONVERT_F3] = TV_TRACE_STREAM_2,
    };
    struct tv_trace_file_options file = {
        .target = targets[c->to], .cpu = c->cpu, .keep = &c->subset, .closed = c->trace->is_subset};
    struct tv_trace_file_losses losses;
    enum tv_status status = tv_trace_file_write(&output->out, c->trace, &file, &losses, err);
    if (status == TV_OK)
        tv_losses_write_method_trace(&c->losses, c->trace, targets[c->to], &losses);
    return status;
}

/* Write Trace Event JSON as an excerpt of the whole trace: inputs in that format keep the text of
 * their events. */
static enum tv_status cmd_convert_write_events(struct conversion *c, struct tv_output *output,
                                               struct tv_error *err)
{
    struct tv_crop cut = {&c->subset, INT64_MIN, INT64_MAX, false};
    struct tv_excerpt piece;
    struct tv_excerpt_losses losses;
    tv_excerpt_make(&piece, c->trace, &cut);
    enum tv_status status = tv_excerpt_write_events(&piece, &output->out, &losses, err);
    tv_excerpt_release(&piece);
    if (status == TV_OK)
        tv_losses_write_events(&c->losses, c->trace, &losses);
    return status;
}

/* Write a pprof profile of what is selected. */
static enum tv_status cmd_convert_write_pprof(struct conversion *c, struct tv_output *output)
{
    struct tv_crop cut = {&c->subset, INT64_MIN, INT64_MAX, false};
    struct tv_excerpt piece;
    struct tv_pprof_losses losses;
    tv_excerpt_make(&piece, c->trace, &cut);
    tv_pprof_write(&output->out, piece.made ? piece.made : c->trace, &losses);
    tv_excerpt_release(&piece);
    tv_pprof_losses_write(&c->losses, &losses);
    return TV_OK;
}

/* Write a Perfetto trace of what is selected. */
static enum tv_status cmd_convert_write_perfetto(struct conversion *c, struct tv_output *output)
{
    struct tv_crop cut = {&c->subset, INT64_MIN, INT64_MAX, false};
    struct tv_excerpt piece;
    struct tv_perfetto_losses losses;
    tv_excerpt_make(&piece, c->trace, &cut);
    tv_perfetto_write(&output->out, piece.made ? piece.made : c->trace, &losses);
    tv_excerpt_release(&piece);
    tv_losses_write_perfetto(&c->losses, c->trace, &losses);
    return TV_OK;
}

/* Write a profile for another viewer. */
static enum tv_status cmd_convert_write_samples(struct conversion *c, struct tv_output *output,
                                                struct tv_error *err)
{
    enum tv_sample_format format = c->to == CONVERT_SPEEDSCOPE ? TV_SAMPLES_SPEEDSCOPE
                                   : c->to == CONVERT_FIREFOX  ? TV_SAMPLES_FIREFOX
                                                               : TV_SAMPLES_CPUPROFILE;
    struct tv_sample_file_losses losses;
    enum tv_status status =
        tv_sample_file_write(&output->out, c->trace, &c->subset, format, &losses, err);
    if (status == TV_OK)
        tv_losses_write_samples(&c->losses, &losses);
    return status;
}

/* Write the target; a failed conversion leaves an existing output file unchanged. */
static enum tv_status cmd_convert_write(struct conversion *c, struct tv_error *err)
{
    const struct tv_settings *settings = c->settings;
    struct tv_output output;
    enum tv_status status =
        c->to < CONVERT_JSON || c->to == CONVERT_PERFETTO
            ? tv_output_open_binary(&output, settings->output, settings->quiet, err)
            : tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    if (c->to < CONVERT_JSON)
        status = cmd_convert_write_file(c, &output, err);
    else if (c->to == CONVERT_JSON)
        status = cmd_convert_write_events(c, &output, err);
    else if (c->to == CONVERT_PPROF)
        status = cmd_convert_write_pprof(c, &output);
    else if (c->to == CONVERT_PERFETTO)
        status = cmd_convert_write_perfetto(c, &output);
    else
        status = cmd_convert_write_samples(c, &output, err);
    return tv_output_finish(&output, status, err);
}

/* Convert a trace, and report losses after the output is complete. */
static enum tv_status cmd_convert_trace(const struct tv_settings *settings,
                                        const struct tv_trace *trace, struct tv_error *err)
{
    struct conversion c = {
        .settings = settings, .trace = trace, .to = cmd_convert_choose_target(settings, trace)};
    enum tv_status status = TV_OK;
    if (c.to < CONVERT_JSON)
        status = tv_clock_choose(settings, tv_trace_info_clocks(trace->head), &c.cpu, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&c.losses);
    status = tv_subset_choose(settings, trace, &c.subset, err);
    if (status == TV_OK)
        status = cmd_convert_write(&c, err);
    if (status == TV_OK && !settings->quiet)
        tv_losses_print(settings->files.items[0],
                        (struct tv_bytes){c.losses.buffer, c.losses.length});
    tv_out_release(&c.losses);
    tv_subset_release(&c.subset);
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

enum cut_target {
    CUT_DEFAULT,
    CUT_TRACE,
    CUT_JSON,
    CUT_PERFETTO,
};

/* Choose the format: --to, else the ending of the output, else the format of the input. */
static enum cut_target cmd_cut_choose_target(const struct tv_settings *settings,
                                             struct tv_excerpt *piece)
{
    if (settings->to != CUT_DEFAULT)
        return (enum cut_target)settings->to;
    if (cmd_output_ends_with(settings, ".trace"))
        return CUT_TRACE;
    if (cmd_output_ends_with(settings, ".json"))
        return CUT_JSON;
    if (cmd_output_is_perfetto(settings) || tv_excerpt_is_perfetto(piece))
        return CUT_PERFETTO;
    return tv_excerpt_is_method_trace(piece) ? CUT_TRACE : CUT_JSON;
}

/* Write the excerpt, and lines about its losses. */
static enum tv_status cmd_cut_write_target(const struct tv_excerpt *piece, enum cut_target target,
                                           struct tv_out *out, struct tv_out *lines,
                                           struct tv_error *err)
{
    struct tv_excerpt_losses losses;
    struct tv_perfetto_losses perfetto;
    enum tv_status status;
    if (target == CUT_PERFETTO) {
        status = tv_excerpt_write_perfetto(piece, out, &perfetto, err);
        if (status == TV_OK)
            tv_losses_write_perfetto(lines, piece->trace, &perfetto);
        return status;
    }
    status = tv_excerpt_write(piece, target == CUT_TRACE, out, &losses, err);
    if (status == TV_OK)
        tv_losses_write_excerpt(lines, piece, target == CUT_TRACE, &losses);
    return status;
}

/* Write the excerpt and report its losses. */
static enum tv_status cmd_cut_write(const struct tv_settings *settings,
                                    const struct tv_excerpt *piece, enum cut_target target,
                                    struct tv_error *err)
{
    struct tv_output output;
    struct tv_out lines;
    enum tv_status status =
        target == CUT_JSON ? tv_output_open(&output, settings->output, settings->quiet, err)
                           : tv_output_open_binary(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&lines);
    status = cmd_cut_write_target(piece, target, &output.out, &lines, err);
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
    struct tv_crop cut = {subset, INT64_MIN, INT64_MAX, settings->threads.count > 0};
    struct tv_excerpt piece;
    struct tv_redaction_options redaction;
    bool redacted;
    enum tv_status status = tv_redaction_choose(settings, &redaction, &redacted, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, trace, &cut.from, &cut.to, err);
    if (status != TV_OK)
        return status;
    tv_excerpt_make(&piece, trace, &cut);
    piece.redaction = redacted ? &redaction : NULL;
    /* Check before the output is opened, so that an existing file stays when there is nothing to
     * write. */
    enum cut_target target = cmd_cut_choose_target(settings, &piece);
    status = tv_excerpt_check(&piece, target == CUT_TRACE, err);
    if (status == TV_OK)
        status = cmd_cut_write(settings, &piece, target, err);
    tv_excerpt_release(&piece);
    return status;
}

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

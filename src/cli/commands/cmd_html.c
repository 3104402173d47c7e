/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_html.c - `html`: a trace with the viewer's page and engine as one HTML file.
 *
 *     nothing selected: the files as they are  --> too large for --max-size? --.
 *     a part selected:  what `cut` would write --> too large for --max-size? --+--> leave out
 *                                                                                   details
 */
#include <assert.h>
#include <stdio.h>

#include "analysis/subset/filter.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/html_report.h"
#include "cli/output/message.h"
#include "cli/output/output.h"

static const struct tv_option html_options[] = {
    TV_OPTION("max-size", "SIZE", TV_OPTION_SIZE, max_size,
              "omit details until the file is not larger than this: 5M"),
    TV_OPTION_RANGE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTIONS_REDACTION,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Copy a report to the output. */
static enum tv_status cmd_html_copy(struct tv_source *source, struct tv_out *out,
                                    struct tv_error *err)
{
    struct tv_window window;
    enum tv_status status = TV_OK;
    tv_window_init(&window, source);
    for (uint64_t at = 0; at < tv_source_size(source) && status == TV_OK;) {
        struct tv_bytes bytes;
        status = tv_window_at(&window, at, 0, &bytes, err);
        if (status == TV_OK)
            tv_out_bytes(out, bytes);
        at += status == TV_OK ? bytes.length : 0;
    }
    tv_window_release(&window);
    return status;
}

/* Copy the finished page to the output. The output is opened only now: a page that could not be
 * made replaces no file. Losses are told after it was written, never for a page that was not. */
static enum tv_status cmd_html_write_report(const struct tv_settings *settings,
                                            struct tv_html_output *made, struct tv_error *err)
{
    assert(made->spool);
    struct tv_output output;
    struct tv_out losses = made->losses;
    struct tv_source *source = tv_spool_finish(made->spool);
    made->spool = NULL;
    enum tv_status status = tv_output_open_binary(&output, settings->output, settings->quiet, err);
    if (status == TV_OK) {
        status = cmd_html_copy(source, &output.out, err);
        status = tv_output_finish(&output, status, err);
    }
    if (status == TV_OK && !settings->quiet)
        tv_losses_print(settings->files.items[0], (struct tv_bytes){losses.buffer, losses.length});
    tv_out_release(&losses);
    tv_source_free(source);
    return status;
}

/* Make a report of the unpacked files. */
static enum tv_status cmd_html_make_of_files(const struct tv_settings *settings,
                                             const struct tv_loading *loading,
                                             struct tv_html_output *made, struct tv_error *err)
{
    size_t count = tv_load_count(loading);
    struct tv_report_file *files = tv_alloc(count, sizeof *files);
    for (size_t i = 0; i < count; i++) {
        const struct tv_inputs_row *row = tv_load_input(loading, i);
        files[i] = (struct tv_report_file){row->source, tv_source_name(row->source), row->machine,
                                           row->offset};
    }
    struct tv_report report = {
        .files = files, .count = count, .workers = tv_settings_jobs(settings)};
    enum tv_status status = tv_html_make(settings, &report, made, err);
    tv_free(files);
    return status;
}

/* Make the page of what was selected. Without an output after the first try, the trace did not fit
 * into the limit and a smaller selection is made; when the whole trace is known to be too large,
 * the first try is spared. */
static enum tv_status cmd_html_make_of_selected(const struct tv_html_part *part,
                                                bool whole_is_too_large,
                                                struct tv_html_output *made, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (!whole_is_too_large)
        status = tv_html_make_part(part, made, err);
    if (status == TV_OK && !made->spool)
        status = tv_html_make_smaller(part, made, err);
    if (status != TV_OK)
        tv_html_output_release(made);
    return status;
}

/* Apply --filter here, not while loading: the report says how much of the whole trace it contains.
 */
static enum tv_status cmd_html_make_of_filtered(struct tv_html_part *part, bool whole_is_too_large,
                                                struct tv_html_output *made, struct tv_error *err)
{
    struct tv_filter filter;
    size_t column;
    const char *text = part->settings->select.filter;
    if (!text)
        return cmd_html_make_of_selected(part, whole_is_too_large, made, err);
    enum tv_status status = tv_filter_parse(tv_bytes_of(text), &filter, &column, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "--filter");
    struct tv_trace *filtered = tv_filter_trace(part->whole, &filter);
    part->trace = filtered;
    status = cmd_html_make_of_selected(part, whole_is_too_large, made, err);
    tv_trace_free(filtered);
    tv_filter_release(&filter);
    return status;
}

/* Make a report of a part of the trace. Takes ownership of what was loaded. */
static enum tv_status cmd_html_make_of_part(struct tv_html_part *part, struct tv_loading *loading,
                                            bool whole_is_too_large, struct tv_html_output *made,
                                            struct tv_error *err)
{
    struct tv_trace *trace = NULL;
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    tv_load_report(part->settings, trace->head);
    tv_trace_await(trace);
    part->whole = part->trace = trace;
    status = cmd_html_make_of_filtered(part, whole_is_too_large, made, err);
    tv_trace_free(trace);
    return status;
}

/* Read the files, so that nobody gets a report that shows only an error. Takes the loading over. */
static enum tv_status cmd_html_check_files(struct tv_loading *loading, struct tv_html_output *made,
                                           struct tv_error *err)
{
    struct tv_trace *trace;
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status == TV_OK)
        tv_trace_free(trace);
    else
        tv_html_output_release(made);
    return status;
}

/* Must the report contain a new trace instead of the files? Names that are restored or redacted are
 * not in the files. */
static bool cmd_html_is_part(const struct tv_settings *settings)
{
    return tv_html_is_chosen(settings) || settings->input.mapping ||
           settings->input.symbols.count > 0 || settings->redact.hash_names ||
           settings->redact.strip_args || settings->redact.salt;
}

/* Write the report: of the whole files, or where that is too large or not wanted, of a part of the
 * trace. */
static enum tv_status cmd_html_write(const struct tv_settings *settings, struct tv_error *err)
{
    struct tv_settings reading = *settings;
    struct tv_html_part part = {.settings = settings};
    struct tv_loading *loading = NULL;
    struct tv_html_output made = {.spool = NULL};
    reading.select.filter = NULL;
    /* A report of the whole trace contains the files themselves. */
    reading.input.no_cache = settings->input.no_cache || !cmd_html_is_part(settings);
    if (settings->max_size == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--max-size: expected a size above 0, such as 5M");
    enum tv_status status = tv_redaction_choose(settings, &part.redaction, &part.redacted, err);
    if (status == TV_OK)
        status =
            tv_load_open(&reading, settings->files.items, settings->files.count, &loading, err);
    if (status != TV_OK)
        return status;
    if (!cmd_html_is_part(settings))
        status = cmd_html_make_of_files(settings, loading, &made, err);
    if (status != TV_OK)
        tv_load_close(loading);
    else if (made.spool)
        status = cmd_html_check_files(loading, &made, err);
    else
        status = cmd_html_make_of_part(&part, loading, made.too_large, &made, err);
    return status == TV_OK ? cmd_html_write_report(settings, &made, err) : status;
}

static int cmd_html_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    return cmd_html_write(settings, &err) == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_html = {
    .name = "html",
    .summary = "write a trace and its viewer as one HTML file to share",
    .arguments = "[OPTION]... FILE...",
    .details = "The file opens in any browser, without a network.  It contains everything in the "
               "trace\nunless you select a part; file names lose their directories.",
    .options = html_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .is_there = tv_report_is_available,
    .reads_traces = true,
    .run = cmd_html_run,
};

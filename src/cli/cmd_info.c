/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_info.c - what a trace says about itself.
 */
#include "analysis/profile_sink.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "cli/span.h"
#include "writers/info.h"

static const struct tv_option info_options[] = {
    TV_OPTION("format", "text|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

static enum tv_status cmd_info_write(const struct tv_settings *settings, const struct tv_info *info,
                                 struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open_text(&output, settings, settings->format == 0, err);
    if (status != TV_OK)
        return status;
    if (settings->format == 0)
        tv_info_write_text(&output.out, info);
    else
        tv_info_write_json(&output.out, info);
    return tv_output_close(&output, err);
}

static enum tv_status cmd_info_of_stream(const struct tv_settings *settings, struct tv_loading *loading,
                                     struct tv_error *err)
{
    struct tv_info info = {.head = NULL};
    struct tv_head *head = tv_head_new();
    struct tv_profile_sink *sink = tv_profile_sink_new(NULL, NULL);
    struct tv_span_sink span;
    tv_span_sink_init(&span, tv_profile_sink_sink(sink));
    enum tv_status status = tv_load_stream(loading, head, &span.sink, NULL, err);
    tv_profile_sink_facts(sink, &info.counts.facts);
    tv_profile_free(tv_profile_sink_finish(sink, head));
    if (status == TV_OK) {
        tv_load_report(settings, head);
        info.head = head;
        info.counts.processes = head->process_count;
        for (uint32_t i = 0; i < head->thread_count; i++)
            info.counts.threads += !head->threads[i].late;
        info.span = tv_span_sink_get(&span, head);
        status = cmd_info_write(settings, &info, err);
    }
    tv_span_sink_release(&span);
    tv_head_free(head);
    return status;
}

static enum tv_status cmd_info_of_trace(const struct tv_settings *settings, struct tv_loading *loading,
                                    struct tv_error *err)
{
    struct tv_trace *trace;
    struct tv_keep keep = {0};
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    tv_load_report(settings, trace->head);
    status = tv_keep_make(settings, trace, &keep, err);
    if (status == TV_OK) {
        struct tv_info info = {
            .head = trace->head,
            .trace = trace,
            .counts = tv_counts_of(trace, &keep),
            .span = trace->end - trace->start,
        };
        status = cmd_info_write(settings, &info, err);
    }
    tv_keep_release(&keep);
    tv_trace_free(trace);
    return status;
}

static bool cmd_info_is_filtered(const struct tv_settings *settings)
{
    return settings->processes.count > 0 || settings->categories.count > 0;
}

static int cmd_info_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct tv_loading *loading;
    enum tv_status status =
        tv_load_open(settings, settings->files.items, settings->files.count, &loading, &err);
    if (status == TV_OK)
        status = tv_load_streams(loading) && !cmd_info_is_filtered(settings)
                     ? cmd_info_of_stream(settings, loading, &err)
                     : cmd_info_of_trace(settings, loading, &err);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_info = {
    .name = "info",
    .summary = "format, clocks, span, threads, counts, what was repaired",
    .arguments = "[OPTION]... FILE...",
    .details = "Several files are read as one trace.",
    .options = info_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_info_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_dump.c - every event on a line while the file is read, or the whole model.
 */
#include "base/memory.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/dump.h"
#include "writers/model_jsonl.h"

static const struct tv_option options[] = {
    TV_OPTION("format", "text|jsonl", TV_OPTION_CHOICE, format,
              "text: one line an event; jsonl: the model, one object a line (default: text)"),
    TV_OPTION("clock", "real|cpu", TV_OPTION_CHOICE, clock,
              "clock of the text (default: cpu where there is one)"),
    TV_OPTION_THREADS,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

static enum tv_status check_wishes(const struct tv_settings *settings, const struct tv_head *head,
                                   struct tv_error *err)
{
    bool cpu;
    enum tv_status status = tv_threads_check(head, &settings->threads, err);
    if (status == TV_OK && settings->clock != TV_CHOICE_ANY)
        status = tv_clock_choose(settings, tv_head_clocks(head), &cpu, err);
    if (status == TV_OK)
        tv_load_report(settings, head);
    return status;
}

static enum tv_status dump_stream(const struct tv_settings *settings, struct tv_loading *loading,
                                  struct tv_dump *dump, struct tv_error *err)
{
    struct tv_head *head = tv_head_new();
    struct tv_progress unseen = {
        0}; /* lines come while the file is read: the output's meter tells */
    enum tv_status status = tv_load_stream(loading, head, tv_dump_sink(dump), &unseen, err);
    if (status == TV_OK)
        status = check_wishes(settings, head, err);
    tv_dump_end(dump);
    tv_head_free(head);
    return status;
}

static enum tv_status dump_trace(const struct tv_settings *settings, struct tv_loading *loading,
                                 struct tv_dump *dump, struct tv_error *err)
{
    struct tv_trace *trace;
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    status = check_wishes(settings, trace->head, err);
    if (status == TV_OK)
        tv_dump_trace(dump, trace);
    tv_dump_end(dump);
    tv_trace_free(trace);
    return status;
}

static enum tv_status dump_text(const struct tv_settings *settings, struct tv_output *output,
                                struct tv_error *err)
{
    static const enum tv_dump_clock clocks[] = {TV_DUMP_REAL, TV_DUMP_CPU, TV_DUMP_FIRST};
    struct tv_settings own = *settings;
    struct tv_dump_options dump_options = {
        .clock = clocks[settings->clock],
        .wanted = settings->threads.count > 0 ? tv_thread_is_wanted : NULL,
        .context = &own,
    };
    struct tv_loading *loading;
    enum tv_status status =
        tv_load_open(settings, settings->files.items, settings->files.count, &loading, err);
    if (status != TV_OK)
        return status;
    struct tv_dump *dump = tv_dump_new(&output->out, &dump_options);
    status = tv_load_streams(loading) ? dump_stream(settings, loading, dump, err)
                                      : dump_trace(settings, loading, dump, err);
    tv_dump_free(dump);
    return status;
}

static enum tv_status dump_model(const struct tv_settings *settings, struct tv_output *output,
                                 struct tv_error *err)
{
    struct tv_trace *trace;
    enum tv_status status =
        tv_load_trace(settings, settings->files.items, settings->files.count, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    status = tv_threads_check(trace->head, &settings->threads, err);
    if (status == TV_OK) {
        bool *wanted = tv_alloc(trace->track_count, sizeof *wanted);
        for (uint32_t i = 0; i < trace->track_count; i++)
            wanted[i] =
                settings->threads.count == 0 ||
                (trace->tracks[i].thread != TV_NONE &&
                 tv_thread_is_named(trace->head, trace->tracks[i].thread, &settings->threads));
        tv_load_report(settings, trace->head);
        tv_model_jsonl_write(&output->out, trace, wanted);
        tv_free(wanted);
    }
    tv_trace_free(trace);
    return status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0}, late = {0};
    struct tv_output output;
    if (tv_output_open(&output, settings->output, settings->quiet, &err) != TV_OK)
        return tv_command_failed(command, &err);
    enum tv_status status = settings->format == 0 ? dump_text(settings, &output, &err)
                                                  : dump_model(settings, &output, &err);
    /* What was read before an error is printed all the same. */
    if (tv_output_close(&output, &late) != TV_OK && status == TV_OK) {
        err = late;
        status = late.status;
    }
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_dump = {
    .name = "dump",
    .summary = "every event on a line, or the whole model as JSON lines",
    .arguments = "[OPTION]... FILE",
    .options = options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .run = run,
};

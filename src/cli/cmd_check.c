/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_check.c - is the file as it should be?  Every diagnostic with its place; exit code 1 when
 * there are any.
 */
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "readers/te_check.h"
#include "readers/te_rewrite.h"
#include "writers/check_report.h"

static const struct tv_option options[] = {
    TV_OPTION("format", "text|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION("strict", NULL, TV_OPTION_FLAG, strict,
              "calls that began before the trace or are open at its end count as well"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Reading does not look into the arguments of Trace Event files: their faults are counted here. */
static enum tv_status check_texts(struct tv_trace *trace, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    bool counted = false;
    for (uint32_t i = 0; i < trace->head->input_count && status == TV_OK; i++) {
        const struct tv_input *input = &trace->head->inputs[i];
        if (!tv_te_is_input(input))
            continue;
        if (!counted)
            trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_JSON] = (struct tv_diagnostic){0};
        counted = true;
        status = tv_te_check_text(input->source, &trace->head->diagnostics, err);
    }
    return status;
}

static enum tv_status check(const struct tv_settings *settings, uint64_t *found,
                            struct tv_error *err)
{
    struct tv_trace *trace;
    struct tv_output output;
    enum tv_status status =
        tv_load_trace(settings, settings->files.items, settings->files.count, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    status = check_texts(trace, err);
    if (status == TV_OK)
        status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status == TV_OK) {
        *found = settings->format == 0 ? tv_check_write_text(&output.out, trace, settings->strict)
                                       : tv_check_write_json(&output.out, trace, settings->strict);
        status = tv_output_close(&output, err);
    }
    tv_trace_free(trace);
    return status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    uint64_t found = 0;
    if (check(settings, &found, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return found > 0 ? TV_EXIT_INPUT : TV_EXIT_OK;
}

const struct tv_command tv_command_check = {
    .name = "check",
    .summary = "what is wrong with a file, each fault with its place",
    .arguments = "[OPTION]... FILE",
    .details = "Exit code 0: nothing; 1: there are diagnostics, or the file could not be read.  "
               "What only\n"
               "began before the trace or is open at its end counts with --strict.",
    .options = options,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};

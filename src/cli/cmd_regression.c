/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_regression.c - `traceview -r`: everything as text, for scripts that compare.
 */
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "writers/regression.h"

static const struct tv_option regression_options[] = {
    TV_OPTION("r", NULL, TV_OPTION_FLAG, regression, "Traceview's regression text"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

static enum tv_status cmd_regression_write(const struct tv_settings *settings, const struct tv_trace *trace,
                                struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, tv_settings_jobs(settings));
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_regression_write(&output.out, trace, profile);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    return tv_output_close(&output, err);
}

static int cmd_regression_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_regression_write);
}

const struct tv_command tv_command_regression = {
    .name = "-r",
    .summary = "everything as text",
    .arguments = "[OPTION]... FILE",
    .options = regression_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_regression_run,
};

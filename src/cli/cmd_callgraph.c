/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_callgraph.c - who calls whom, for Graphviz.
 */
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/callgraph.h"

static const struct tv_option callgraph_options[] = {
    TV_OPTION("threshold", "P", TV_OPTION_PERCENT, threshold,
              "draw callees that take P percent of their caller's time (default: 20)"),
    TV_OPTION_CLOCK,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

static enum tv_status cmd_callgraph_write(const struct tv_settings *settings,
                                  const struct tv_call_tree *tree, struct tv_error *err)
{
    struct tv_callgraph_options graph = {.threshold = settings->threshold};
    struct tv_output output;
    enum tv_status status = tv_clock_choose(settings, tree->clocks, &graph.cpu, err);
    if (status == TV_OK)
        status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_callgraph_write(&output.out, tree, profile, &graph);
    tv_profile_free(profile);
    return tv_output_close(&output, err);
}

static int cmd_callgraph_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_measure_run(command, settings, 0, cmd_callgraph_write);
}

const struct tv_command tv_command_callgraph = {
    .name = "callgraph",
    .summary = "who calls whom, as a Graphviz graph",
    .arguments = "[OPTION]... FILE",
    .options = callgraph_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_callgraph_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tree.c - the call tree from the top, or from the methods that used the time.
 */
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/tree_text.h"

static const struct tv_option tree_options[] = {
    TV_OPTION("bottom-up", NULL, TV_OPTION_FLAG, bottom_up,
              "from the methods that used the time up to their callers"),
    TV_OPTION_CLOCK,
    TV_OPTION_ASYNC,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION_COMPENSATE,
    TV_OPTION("min-percent", "P", TV_OPTION_PERCENT, min_percent,
              "leave out what took less than P percent of all (default: 0.5)"),
    TV_OPTION("depth", "N", TV_OPTION_COUNT, depth, "only the first N levels"),
    TV_OPTION_COLUMNS(TV_TREE_COLUMNS),
    TV_OPTION("format", "text|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

#define MILLIONTHS 1e8 /* of one percent, in the whole */
#define DEFAULT_PERCENT 500000

static enum tv_status cmd_tree_write(const struct tv_settings *settings,
                                 const struct tv_call_tree *tree, struct tv_error *err)
{
    bool cpu = false;
    struct tv_output output;
    enum tv_status status = tv_clock_choose(settings, tree->clocks, &cpu, err);
    if (status == TV_OK)
        status = tv_output_open_text(&output, settings, settings->format == 0, err);
    if (status != TV_OK)
        return status;
    uint64_t least = settings->min_percent;
    struct tv_flame_options layout = {
        .clock = cpu ? TV_CLOCK_CPU : TV_CLOCK_WALL,
        .order = TV_FLAME_LEFT_HEAVY,
        .inverted = settings->bottom_up,
        .root = TV_ROOT_PATH,
        .min_share = (double)(least == UINT64_MAX ? DEFAULT_PERCENT : least) / MILLIONTHS,
        .totals = settings->bottom_up,
    };
    struct tv_tree_text_options text = {
        .depth = settings->depth,
        .json = settings->format == 1,
        .bottom_up = settings->bottom_up,
        .compensation = tree->compensation,
        .clocks = tree->clocks,
    };
    struct tv_flame *flame = tv_flame_of_tree(tree, &layout);
    tv_tree_text_write(&output.out, tree->head, flame, &text);
    tv_flame_free(flame);
    return tv_output_close(&output, err);
}

static int cmd_tree_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_measure_run(command, settings, 0, cmd_tree_write);
}

const struct tv_command tv_command_tree = {
    .name = "tree",
    .summary = "the call tree, top-down or bottom-up",
    .arguments = "[OPTION]... FILE",
    .options = tree_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_tree_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_collapse.c - one line a call chain, for flame graph tools.
 */
#include "analysis/sample_tree.h"
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/per_thread.h"
#include "cli/selection.h"
#include "writers/collapsed.h"

static const struct tv_option options[] = {
    TV_OPTION_CLOCK,
    TV_OPTION_SAMPLES,
    TV_OPTION_ASYNC,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION("split-threads", NULL, TV_OPTION_FLAG, split_threads,
              "a file for each thread, PREFIX.ID-NAME.collapsed; --output is the prefix"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* What the numbers of the lines are. */
struct counting {
    bool cpu;
    struct tv_collapsed_unit unit; /* nanoseconds, or samples, or their weight */
    unsigned workers;
};

static void write_stacks(struct tv_out *out, const struct tv_call_tree *tree, uint32_t thread,
                         void *context)
{
    const struct counting *counting = context;
    struct tv_name_tree_options names = {.cpu = counting->cpu, .thread = thread};
    struct tv_name_tree *stacks = tv_name_tree_new(tree, &names);
    tv_collapsed_write(out, stacks, counting->unit, counting->workers);
    tv_name_tree_free(stacks);
}

static enum tv_status write_all(const struct tv_settings *settings, const struct tv_call_tree *tree,
                                struct tv_error *err)
{
    bool times = settings->samples == TV_CHOICE_NO_SAMPLES || settings->samples == TV_SAMPLES_TIME;
    struct counting counting = {false, {1, false}, tv_settings_jobs(settings)};
    if (times)
        counting.unit = tv_collapsed_unit_of(tree->head);
    enum tv_status status = tv_clock_choose(settings, tree->clocks, &counting.cpu, err);
    if (status != TV_OK)
        return status;
    if (settings->split_threads)
        return tv_per_thread(settings, tree, "collapsed", write_stacks, &counting, err);
    struct tv_output output;
    status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    write_stacks(&output.out, tree, TV_NONE, &counting);
    return tv_output_close(&output, err);
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    unsigned flags = TV_MEASURE_FOLD_NAMES;
    if (settings->split_threads)
        flags |= TV_MEASURE_SPLIT_THREADS;
    return tv_measure_run(command, settings, flags, write_all);
}

const struct tv_command tv_command_collapse = {
    .name = "collapse",
    .summary = "collapsed stacks: one line a call chain with its self time",
    .arguments = "[OPTION]... FILE",
    .details = "Frames from the root joined by ';', a blank, self time in whole microseconds.",
    .options = options,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};

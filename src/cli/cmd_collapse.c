/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_collapse.c - one line a call chain, for flame graph tools.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/sample_tree.h"
#include "base/out.h"
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/message.h"
#include "cli/output.h"
#include "cli/per_thread.h"
#include "cli/selection.h"
#include "writers/collapsed.h"

static const struct tv_option collapse_options[] = {
    TV_OPTION_CLOCK,
    TV_OPTION_SAMPLES,
    TV_OPTION_ASYNC,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION("unit", "us|ns", TV_OPTION_CHOICE, unit,
              "times in whole microseconds, or in nanoseconds (default: us)"),
    TV_OPTION("split-threads", NULL, TV_OPTION_FLAG, split_threads,
              "a file for each thread, PREFIX.ID-NAME.collapsed; --output is the prefix"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* What the numbers of the lines are. */
struct collapse_counting {
    bool cpu;
    struct tv_collapsed_unit unit; /* nanoseconds, or samples, or their weight */
    unsigned workers;
    struct tv_collapsed_rest rest; /* of what was written */
};

/* --unit: its place among "us|ns". */
#define UNIT_NS 1u

static enum tv_status cmd_collapse_choose_unit(const struct tv_settings *settings, const struct tv_head *head,
                                  struct tv_collapsed_unit *unit, struct tv_error *err)
{
    bool times = settings->samples == TV_CHOICE_NO_SAMPLES || settings->samples == TV_SAMPLES_TIME;
    *unit = times ? tv_collapsed_unit_of(head) : (struct tv_collapsed_unit){1, false};
    if (settings->unit != UNIT_NS)
        return TV_OK;
    if (!times || tv_collapsed_is_counted(head))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--unit ns: the numbers are no times");
    *unit = (struct tv_collapsed_unit){1, false};
    return TV_OK;
}

static void cmd_collapse_write_stacks(struct tv_out *out, const struct tv_call_tree *tree, uint32_t thread,
                         void *context)
{
    struct collapse_counting *counting = context;
    struct tv_name_tree_options names = {.cpu = counting->cpu, .thread = thread};
    struct tv_name_tree *stacks = tv_name_tree_new(tree, &names);
    tv_collapsed_write(out, stacks, counting->unit, counting->workers);
    struct tv_collapsed_rest rest = tv_collapsed_find_rest(stacks, counting->unit);
    counting->rest.chains += rest.chains;
    tv_time_add(&counting->rest.ns, rest.ns);
    tv_name_tree_free(stacks);
}

/* The lines are whole numbers, which flame graph tools want: what that costs is told. */
static void cmd_collapse_report_rest(const struct tv_settings *settings, const struct tv_collapsed_rest *rest)
{
    struct tv_out time;
    if (rest->chains == 0 || settings->quiet)
        return;
    tv_out_init_memory(&time);
    tv_out_time_short(&time, rest->ns, 1000);
    tv_message("%s: note: %" PRIu64 " %s less than 1 us of self time, %.*s us in all: rounded to "
               "nothing and left out; --unit ns writes %s",
               settings->files.items[0], rest->chains,
               tv_plural(rest->chains, "chain has", "chains have"), (int)time.length,
               (const char *)time.buffer, tv_plural(rest->chains, "it", "them"));
    tv_out_release(&time);
}

static enum tv_status cmd_collapse_write_file(const struct tv_settings *settings,
                                       const struct tv_call_tree *tree, struct collapse_counting *counting,
                                       struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    cmd_collapse_write_stacks(&output.out, tree, TV_NONE, counting);
    return tv_output_close(&output, err);
}

static enum tv_status cmd_collapse_write(const struct tv_settings *settings, const struct tv_call_tree *tree,
                                struct tv_error *err)
{
    struct collapse_counting counting = {.workers = tv_settings_jobs(settings)};
    enum tv_status status = cmd_collapse_choose_unit(settings, tree->head, &counting.unit, err);
    if (status == TV_OK)
        status = tv_clock_choose(settings, tree->clocks, &counting.cpu, err);
    if (status == TV_OK)
        status = settings->split_threads
                     ? tv_per_thread(settings, tree, "collapsed", cmd_collapse_write_stacks, &counting, err)
                     : cmd_collapse_write_file(settings, tree, &counting, err);
    if (status == TV_OK)
        cmd_collapse_report_rest(settings, &counting.rest);
    return status;
}

static int cmd_collapse_run(const struct tv_command *command, const struct tv_settings *settings)
{
    unsigned flags = TV_MEASURE_FOLD_NAMES;
    if (settings->split_threads)
        flags |= TV_MEASURE_SPLIT_THREADS;
    return tv_measure_run(command, settings, flags, cmd_collapse_write);
}

const struct tv_command tv_command_collapse = {
    .name = "collapse",
    .summary = "collapsed stacks: one line a call chain with its self time",
    .arguments = "[OPTION]... FILE",
    .details = "Frames from the root joined by ';', a blank, self time in whole microseconds,\n"
               "or in nanoseconds with --unit ns.",
    .options = collapse_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_collapse_run,
};

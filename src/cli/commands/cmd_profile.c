/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_profile.c - `profile`, `tree` and `callgraph`: where the time of methods
 * went.
 *
 *     profile    figures of each method     one pass over the files, if no option needs more
 *                with its callers           needs the call tree
 *     tree       call paths with times      call tree --> merged paths, sorted by time
 *     callgraph  methods and their calls    call tree --> boxes and edges for Graphviz
 *
 * Options that the trace cannot fulfil, such as a clock that it lacks, are
 * errors before the output is opened: an existing file is then kept.
 */
#include <assert.h>

#include "cli/command.h"
#include "cli/input/measure.h"
#include "cli/input/selection.h"
#include "cli/output/output.h"
#include "writers/tables/callgraph.h"
#include "writers/tables/tables.h"

static const struct tv_option profile_options[] = {
    TV_OPTION("format", "text|csv|json|markdown", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION("sort", "default|name|calls|incl-wall|excl-wall|incl-cpu|excl-cpu", TV_OPTION_CHOICE,
              table.sort,
              "sort by this figure (default: incl-cpu, or incl-wall without a CPU clock)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, table.limit,
              "show only the first N methods; 0: all (default: all; on a terminal 40)"),
    TV_OPTION_COLUMNS(TV_PROFILE_COLUMNS),
    TV_OPTION_ASYNC,
    TV_OPTION_VALUE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION("callers-callees", NULL, TV_OPTION_FLAG, stacks.callers_callees,
              "show each method between its callers and callees (text or json)"),
    TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock,
              "clock of --callers-callees (default: cpu if there is one)"),
    TV_OPTION("context-switch", NULL, TV_OPTION_FLAG, stacks.context_switch,
              "add a row \"(context switch)\" for the time that threads waited"),
    TV_OPTION_COMPENSATE,
    TV_OPTIONS_TRANSFORMS,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* A profile, and the trace or tree that owns its names. */
struct profile_result {
    struct tv_measured measured; /* has a tree only if one is needed */
    struct tv_profile *profile;
};

/* Free the profile before the trace or tree that owns its names. */
static void cmd_profile_release_table(struct profile_result *table)
{
    tv_profile_free(table->profile);
    tv_measured_release(&table->measured);
}

/* Read the files into a profile. A tree is built only for --callers-callees, --compensate and
 * transforms, because streaming a profile is faster. */
static enum tv_status cmd_profile_make_table(const struct tv_settings *settings,
                                             struct profile_result *table, struct tv_error *err)
{
    *table = (struct profile_result){.profile = NULL};
    if (!settings->stacks.callers_callees && !settings->stacks.compensate &&
        settings->stacks.transforms.count == 0)
        return tv_measure_profile(settings, &table->measured, &table->profile, err);
    enum tv_status status = tv_measure_tree(settings, 0, &table->measured, err);
    if (status == TV_OK)
        table->profile = tv_profile_of_tree(table->measured.tree);
    return status;
}

/* Map --sort to an order of rows; the words of --sort are in the order of this table. */
static enum tv_profile_order cmd_profile_order(const struct tv_settings *settings,
                                               const struct tv_profile *profile)
{
    static const enum tv_profile_order orders[] = {
        TV_ORDER_NAME,      TV_ORDER_NAME,     TV_ORDER_CALLS,    TV_ORDER_INCL_WALL,
        TV_ORDER_EXCL_WALL, TV_ORDER_INCL_CPU, TV_ORDER_EXCL_CPU,
    };
    return settings->table.sort == 0 ? tv_profile_default_order(profile)
                                     : orders[settings->table.sort];
}

/* Check --sort and --clock against the clocks of the trace before the output is opened, then write
 * the table or the relations. */
static enum tv_status cmd_profile_write(const struct tv_settings *settings,
                                        struct profile_result *table, struct tv_error *err)
{
    assert(table->profile);
    struct tv_settings own = *settings;
    bool cpu = false;
    if (own.clock == TV_CHOICE_ANY && (table->profile->clocks & TV_CLOCK_CPU))
        own.clock = TV_CHOICE_CPU;
    enum tv_status status = tv_sort_check(settings, table->profile->clocks, err);
    if (status == TV_OK && settings->table.format == TV_TABLE_TEXT)
        status = tv_sort_check_calls(settings, table->profile->head, err);
    if (status == TV_OK)
        status = tv_clock_choose(&own, table->profile->clocks, &cpu, err);
    struct tv_output output;
    if (status == TV_OK)
        status =
            tv_output_open_text(&output, settings, settings->table.format == TV_TABLE_TEXT, err);
    if (status != TV_OK)
        return status;

    struct tv_profile_rows rows;
    struct tv_relations_options relations = {cpu, settings->table.format == TV_TABLE_JSON};
    tv_profile_rows_init(&rows, table->profile, cmd_profile_order(settings, table->profile),
                         settings->stacks.context_switch, tv_output_limit(&output, settings));
    if (settings->stacks.callers_callees)
        tv_relations_write(&output.out, table->measured.tree, table->profile, &rows, &relations);
    else
        tv_profile_table_write(&output.out, table->profile, &rows,
                               (enum tv_table_format)settings->table.format);
    tv_profile_rows_release(&rows);
    return tv_output_close(&output, err);
}

/* Options that contradict each other are refused before the files are read. */
static int cmd_profile_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct profile_result table;
    if (settings->clock != TV_CHOICE_ANY && !settings->stacks.callers_callees) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET,
                "--clock is only for --callers-callees: the table has both clocks (see --sort)");
        return tv_command_usage(command, &err);
    }
    if (settings->stacks.callers_callees && settings->table.format != TV_TABLE_TEXT &&
        settings->table.format != TV_TABLE_JSON) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "--callers-callees needs --format text or json");
        return tv_command_usage(command, &err);
    }
    enum tv_status status = cmd_profile_make_table(settings, &table, &err);
    if (status == TV_OK)
        status = cmd_profile_write(settings, &table, &err);
    cmd_profile_release_table(&table);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_profile = {
    .name = "profile",
    .summary = "list methods with calls, inclusive and exclusive times",
    .arguments = "[OPTION]... FILE...",
    .details = "Several files are read as one trace.  Tracing distorts absolute times:\n"
               "compare them with another trace, or use --compensate.",
    .options = profile_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_profile_run,
};

/* ---- tree ---- */

static const struct tv_option tree_options[] = {
    TV_OPTION("bottom-up", NULL, TV_OPTION_FLAG, stacks.bottom_up,
              "print from the methods that used the time up to their callers"),
    TV_OPTION_CLOCK,
    TV_OPTION_ASYNC,
    TV_OPTION_VALUE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION_COMPENSATE,
    TV_OPTIONS_TRANSFORMS,
    TV_OPTION("min-percent", "P", TV_OPTION_PERCENT, stacks.min_percent,
              "omit paths with less than P percent of all time (default: 0.5)"),
    TV_OPTION("depth", "N", TV_OPTION_COUNT, stacks.depth, "show only the first N levels"),
    TV_OPTION_COLUMNS(TV_TREE_COLUMNS),
    TV_OPTION("format", "text|json", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

#define MILLIONTHS 1e8 /* millionths of a percent in the whole */
#define DEFAULT_PERCENT 500000

/* Write the tree as a left-heavy flame layout: both need the same merged paths, sorted by time. */
static enum tv_status cmd_tree_write(const struct tv_settings *settings,
                                     const struct tv_call_tree *tree, struct tv_error *err)
{
    bool cpu = false;
    struct tv_output output;
    enum tv_status status = tv_clock_choose(settings, tree->clocks, &cpu, err);
    if (status == TV_OK)
        status = tv_output_open_text(&output, settings, settings->table.format == 0, err);
    if (status != TV_OK)
        return status;
    uint64_t least = settings->stacks.min_percent;
    struct tv_flame_options layout = {
        .clock = cpu ? TV_CLOCK_CPU : TV_CLOCK_WALL,
        .order = TV_FLAME_LEFT_HEAVY,
        .inverted = settings->stacks.bottom_up,
        .root = TV_ROOT_PATH,
        .min_share = (double)(least == UINT64_MAX ? DEFAULT_PERCENT : least) / MILLIONTHS,
        .whole = tree->figures.sampled ? tree->figures.total : 0,
        .totals = settings->stacks.bottom_up,
    };
    struct tv_tree_text_options text = {
        .depth = settings->stacks.depth,
        .json = settings->table.format == 1,
        .bottom_up = settings->stacks.bottom_up,
        .compensation = tree->compensation,
        .clocks = tree->clocks,
        .figures = tree->figures,
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
    .summary = "print the call tree, top-down or bottom-up",
    .arguments = "[OPTION]... FILE",
    .options = tree_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_tree_run,
};

/* ---- callgraph ---- */

static const struct tv_option callgraph_options[] = {
    TV_OPTION(
        "threshold", "P", TV_OPTION_PERCENT, threshold,
        "draw only callees that take at least P percent of their caller's time (default: 20)"),
    TV_OPTION_CLOCK,
    TV_OPTION_VALUE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Write the call graph, with the profile for the totals of its boxes. */
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
    .summary = "write the call graph for Graphviz",
    .arguments = "[OPTION]... FILE",
    .options = callgraph_options,
    .min_files = 1,
    .max_files = 1,
    .reads_traces = true,
    .run = cmd_callgraph_run,
};

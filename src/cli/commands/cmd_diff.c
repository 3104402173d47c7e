/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - `diff`: two traces side by side; groups of runs are compared in
 * cmd_compare.c.
 *
 *     A --> profile --.
 *                      > the clocks of both, the same kind of figures --> differences --> table
 *     B --> profile --'
 *
 * The two sides are read one after the other, each as if it were the only file,
 * so that every message names its file.  What can be checked without a trace is
 * checked before the first is read; what needs both, before the output is
 * opened.
 */
#include <assert.h>

#include "base/bytes.h"
#include "cli/command.h"
#include "cli/commands/cmd_compare.h"
#include "cli/input/measure.h"
#include "cli/input/selection.h"
#include "cli/output/output.h"
#include "writers/compare/compare_report.h"
#include "writers/tables/tables.h"

static const struct tv_option diff_options[] = {
    TV_OPTION(
        "format", "text|csv|json|markdown|junit|sarif|github|gitlab|svg|html", TV_OPTION_CHOICE,
        table.format,
        "output format (default: text); all but text, csv and json compare two files as groups"),
    TV_OPTION(
        "sort", "default|name|calls|incl-wall|excl-wall|incl-cpu|excl-cpu", TV_OPTION_CHOICE,
        table.sort,
        "sort by the change of this figure (default: each text table by a figure of its own)"),
    TV_OPTION(
        "limit", "N", TV_OPTION_COUNT, table.limit,
        "show only the first N methods of each part; 0: all (default: all; on a terminal 40)"),
    TV_OPTION_COLUMNS(TV_DIFF_COLUMNS "|" TV_COMPARE_COLUMNS),
    TV_OPTION_VALUE,
    TV_OPTION_COMPENSATE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION("range", "A:B", TV_OPTION_LIST, select.ranges,
              "only the time from A to B; a second --range applies to the second trace"),
    TV_OPTION("base", "FILE...", TV_OPTION_GROUP, compare.base,
              "the files that follow are runs of the base; a directory: all traces in it"),
    TV_OPTION("new", "FILE...", TV_OPTION_GROUP, compare.new,
              "the files that follow are runs of the new version"),
    TV_OPTION(
        "baseline-dir", "DIR", TV_OPTION_TEXT, compare.baseline_dir,
        "older runs of the base, which show how much runs vary; each subdirectory is a session"),
    TV_OPTION("by", "method|path|class|package|thread", TV_OPTION_CHOICE, compare.by,
              "groups: what a row is (default: method)"),
    TV_OPTION("no-fold", NULL, TV_OPTION_FLAG, compare.no_fold,
              "paths: keep each call of direct recursion as a path of its own (default: fold it)"),
    TV_OPTION("figure", "excl|incl|calls|mean|p50|p90|p95|p99|max", TV_OPTION_CHOICE,
              compare.figure, "groups: the figure to compare (default: excl)"),
    TV_OPTION("clock", "wall|cpu", TV_OPTION_CHOICE, clock,
              "groups: clock to use (default: cpu if all runs have it)"),
    TV_OPTION("scale", "none|common|total", TV_OPTION_CHOICE, compare.scale,
              "groups: show times as recorded (default), without the common factor, or as if all "
              "runs had one total"),
    TV_OPTION("names", "similar|exact|grouped", TV_OPTION_CHOICE, compare.names,
              "groups: match names regardless of generated numbers (default), exactly, or "
              "without any numbers"),
    TV_OPTION("rename", "FILE", TV_OPTION_TEXT, compare.rename,
              "groups: lines \"OLD = NEW\" of methods that were renamed"),
    TV_OPTION("base-mapping", "FILE", TV_OPTION_TEXT, compare.base_mapping,
              "the mapping file of the base runs"),
    TV_OPTION("new-mapping", "FILE", TV_OPTION_TEXT, compare.new_mapping,
              "the mapping file of the new runs"),
    TV_OPTION("base-symbols", "ELF[@BASE]", TV_OPTION_LIST, compare.base_symbols,
              "program or library of the base runs, asked before those of --symbols (repeatable)"),
    TV_OPTION("new-symbols", "ELF[@BASE]", TV_OPTION_LIST, compare.new_symbols,
              "program or library of the new runs, asked before those of --symbols (repeatable)"),
    TV_OPTION("base-range", "A:B", TV_OPTION_TEXT, compare.base_range,
              "only this time of the base runs"),
    TV_OPTION("new-range", "A:B", TV_OPTION_TEXT, compare.new_range,
              "only this time of the new runs"),
    TV_OPTION("fail-if", "RULE", TV_OPTION_LIST, compare.fail_if,
              "exit with 3 if the rule fires: 'excl(com.app.*) > +5% and p < 0.01' (repeatable)"),
    TV_OPTION("rules", "FILE", TV_OPTION_TEXT, compare.rules,
              "rules from a file, one per line: \"name: rule\"; # begins a comment"),
    TV_OPTION("allow-none", NULL, TV_OPTION_FLAG, compare.allow_none,
              "a rule whose pattern matches nothing does not fire (default: exit with 2)"),
    TV_OPTION("no-total", NULL, TV_OPTION_FLAG, compare.no_total,
              "do not test the total beside the rules"),
    TV_OPTION("alpha", "P", TV_OPTION_TEXT, compare.alpha,
              "probability of false alarms that --plan assumes (default: 0.01)"),
    TV_OPTION("min-share", "P", TV_OPTION_PERCENT, compare.min_share,
              "test only rows with this share of the total or more (default: 0.05%)"),
    TV_OPTION("plan", "RUNS", TV_OPTION_COUNT, compare.plan,
              "print the smallest change that this number of runs per side would detect"),
    TV_OPTION("width", "larger|base|new", TV_OPTION_CHOICE, compare.width,
              "svg, html: the side whose times are the widths of frames (default: the larger)"),
    TV_OPTION("title", "TEXT", TV_OPTION_TEXT, flame.title, "svg, html: title"),
    TV_OPTION("report", "FORMAT=FILE", TV_OPTION_LIST, compare.reports,
              "write another report, in any format of --format (repeatable)"),
    TV_OPTION("open", NULL, TV_OPTION_FLAG, compare.open, "compare in the viewer"),
    TV_OPTION("port", "N", TV_OPTION_COUNT, port, "with --open: port to listen on"),
    TV_OPTION("no-browser", NULL, TV_OPTION_FLAG, no_browser,
              "with --open: print the address, but do not open a browser"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* One of the two traces. */
struct diff_side {
    struct tv_measured measured;
    struct tv_profile *profile;
};

/* Read file `number` with the mapping and the range of its side. */
static enum tv_status cmd_diff_read_side(const struct tv_settings *settings, size_t number,
                                         struct diff_side *side, struct tv_error *err)
{
    assert(number < settings->files.count);
    struct tv_settings own = tv_compare_run_settings(settings, &settings->files.items[number],
                                                     number == 0 ? TV_RUN_BASE : TV_RUN_NEW);
    enum tv_status status = TV_OK;
    if (settings->stacks.compensate) {
        status = tv_measure_tree(&own, 0, &side->measured, err);
        side->profile = status == TV_OK ? tv_profile_of_tree(side->measured.tree) : NULL;
    } else {
        status = tv_measure_profile(&own, &side->measured, &side->profile, err);
    }
    if (status == TV_ERR_USAGE) /* other errors name the file already */
        tv_error_prefix(err, "%s", own.files.items[0]);
    return status;
}

/* Check the ranges before a large file is read. */
static enum tv_status cmd_diff_check_ranges(const struct tv_words *ranges, struct tv_error *err)
{
    tv_ns from, to;
    enum tv_status status = TV_OK;
    if (ranges->count > 2)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--range: expected one or two ranges, found %zu", ranges->count);
    for (size_t i = 0; i < ranges->count && status == TV_OK; i++)
        status = tv_range_parse(ranges->items[i], &from, &to, err);
    return status;
}

/* Free the profile before the trace that owns its names. */
static void cmd_diff_release_side(struct diff_side *side)
{
    tv_profile_free(side->profile);
    tv_measured_release(&side->measured);
}

/* Write the differences of two profiles; without --sort each text table has its own order. */
static enum tv_status cmd_diff_write(const struct tv_settings *settings, const struct diff_side *a,
                                     const struct diff_side *b, struct tv_error *err)
{
    static const enum tv_profile_order orders[] = {
        TV_ORDER_NAME,      TV_ORDER_NAME,     TV_ORDER_CALLS,    TV_ORDER_INCL_WALL,
        TV_ORDER_EXCL_WALL, TV_ORDER_INCL_CPU, TV_ORDER_EXCL_CPU,
    };
    struct tv_output output;
    enum tv_status status =
        tv_output_open_text(&output, settings, settings->table.format == 0, err);
    if (status != TV_OK)
        return status;
    struct tv_diff *diff = tv_diff_of(a->profile, b->profile);
    if (settings->table.sort != 0)
        tv_diff_sort(diff, orders[settings->table.sort]);
    struct tv_diff_table_options how = {
        .format = (enum tv_diff_format)settings->table.format,
        .limit = tv_output_limit(&output, settings),
        .sort_each = settings->table.sort == 0,
    };
    tv_diff_table_write(&output.out, diff, &how);
    tv_diff_free(diff);
    return tv_output_close(&output, err);
}

/* Check that both profiles have a clock in common, and count the same thing. */
static enum tv_status cmd_diff_check_kinds(const struct tv_settings *settings,
                                           const struct tv_profile *a, const struct tv_profile *b,
                                           struct tv_error *err)
{
    if (!(a->clocks & b->clocks))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the two traces have no clock in common: their times cannot be compared");
    if (a->figures.sampled != b->figures.sampled)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "one trace has calls and the other has samples: they cannot be compared");
    if (!a->figures.sampled)
        return TV_OK;
    return tv_figures_check_sides(settings, (const struct tv_trace_info *[]){a->head, b->head},
                                  (const struct tv_sample_figures *[]){&a->figures, &b->figures},
                                  err);
}

/* Read both traces, and compare them on the clocks that both have. */
static int cmd_diff_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    if (settings->compare.open)
        return tv_compare_open(command, settings);
    if (tv_compare_has_groups(settings))
        return tv_compare_run(command, settings);
    struct diff_side a = {.profile = NULL}, b = {.profile = NULL};
    enum tv_status status = cmd_diff_check_ranges(&settings->select.ranges, &err);
    if (status == TV_OK)
        status = cmd_diff_read_side(settings, 0, &a, &err);
    if (status == TV_OK)
        status = cmd_diff_read_side(settings, 1, &b, &err);
    if (status == TV_OK)
        status = cmd_diff_check_kinds(settings, a.profile, b.profile, &err);
    if (status == TV_OK)
        status = tv_sort_check(settings, a.profile->clocks & b.profile->clocks, &err);
    if (status == TV_OK && settings->table.format == TV_DIFF_TEXT)
        status = tv_sort_check_calls(settings, a.profile->head, &err);
    if (status == TV_OK && settings->table.format == TV_DIFF_TEXT)
        status = tv_sort_check_calls(settings, b.profile->head, &err);
    if (status == TV_OK)
        status = cmd_diff_write(settings, &a, &b, &err);
    cmd_diff_release_side(&a);
    cmd_diff_release_side(&b);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_diff = {
    .name = "diff",
    .summary = "compare the methods of two traces",
    .arguments = "[OPTION]... A B | --base FILE... --new FILE...",
    .details = "Tracing distorts absolute times, but two traces can be compared.  Groups of runs "
               "separate changes from noise.\nExit code of groups: 0: no rule fired.  1: a file "
               "cannot be read.  2: "
               "a rule cannot be judged.  3: a rule fired.",
    .options = diff_options,
    .min_files = 2,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .prepare = tv_compare_prepare,
    .run = cmd_diff_run,
};

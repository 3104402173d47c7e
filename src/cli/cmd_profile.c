/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_profile.c - the method table.
 */
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/relations_text.h"

static const struct tv_option profile_options[] = {
    TV_OPTION("format", "text|csv|json|markdown", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION("sort", "default|name|calls|incl-real|excl-real|incl-cpu|excl-cpu", TV_OPTION_CHOICE,
              sort, "by what (default: incl-cpu, or incl-real without a CPU clock)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, limit,
              "only the first N methods; 0: all (default: all, on a terminal 40)"),
    TV_OPTION_COLUMNS(TV_PROFILE_COLUMNS),
    TV_OPTION_ASYNC,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_RANGE,
    TV_OPTION("callers-callees", NULL, TV_OPTION_FLAG, callers_callees,
              "each method between its callers and callees (text or json)"),
    TV_OPTION("clock", "real|cpu", TV_OPTION_CHOICE, clock,
              "clock of --callers-callees (default: cpu where there is one)"),
    TV_OPTION("context-switch", NULL, TV_OPTION_FLAG, context_switch,
              "a row \"(context switch)\" for the time threads waited"),
    TV_OPTION_COMPENSATE,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* What is printed, and what it lives in. */
struct profile_result {
    struct tv_measured measured; /* with a tree only where one is needed */
    struct tv_profile *profile;
};

static void cmd_profile_release_table(struct profile_result *table)
{
    tv_profile_free(table->profile);
    tv_measured_release(&table->measured);
}

static enum tv_status cmd_profile_make_table(const struct tv_settings *settings, struct profile_result *table,
                                 struct tv_error *err)
{
    *table = (struct profile_result){.profile = NULL};
    if (!settings->callers_callees && !settings->compensate)
        return tv_measure_profile(settings, &table->measured, &table->profile, err);
    enum tv_status status = tv_measure_tree(settings, 0, &table->measured, err);
    if (status == TV_OK)
        table->profile = tv_profile_of_tree(table->measured.tree);
    return status;
}

static enum tv_profile_order cmd_profile_order(const struct tv_settings *settings,
                                      const struct tv_profile *profile)
{
    static const enum tv_profile_order orders[] = {
        TV_ORDER_NAME,      TV_ORDER_NAME,     TV_ORDER_CALLS,    TV_ORDER_INCL_WALL,
        TV_ORDER_EXCL_WALL, TV_ORDER_INCL_CPU, TV_ORDER_EXCL_CPU,
    };
    return settings->sort == 0 ? tv_profile_default_order(profile) : orders[settings->sort];
}

static enum tv_status cmd_profile_write(const struct tv_settings *settings, struct profile_result *table,
                                  struct tv_error *err)
{
    struct tv_settings own = *settings;
    bool cpu = false;
    if (own.clock == TV_CHOICE_ANY && (table->profile->clocks & TV_CLOCK_CPU))
        own.clock = TV_CHOICE_CPU;
    enum tv_status status = tv_sort_check(settings, table->profile->clocks, err);
    if (status == TV_OK && settings->format == TV_TABLE_TEXT)
        status = tv_sort_check_calls(settings, table->profile->head, err);
    if (status == TV_OK)
        status = tv_clock_choose(&own, table->profile->clocks, &cpu, err);
    struct tv_output output;
    if (status == TV_OK)
        status = tv_output_open_text(&output, settings, settings->format == TV_TABLE_TEXT, err);
    if (status != TV_OK)
        return status;

    struct tv_profile_rows rows;
    struct tv_relations_options relations = {cpu, settings->format == TV_TABLE_JSON};
    tv_profile_rows_init(&rows, table->profile, cmd_profile_order(settings, table->profile),
                         settings->context_switch, tv_output_limit(&output, settings));
    if (settings->callers_callees)
        tv_relations_write(&output.out, table->measured.tree, table->profile, &rows, &relations);
    else
        tv_profile_table_write(&output.out, table->profile, &rows,
                               (enum tv_table_format)settings->format);
    tv_profile_rows_release(&rows);
    return tv_output_close(&output, err);
}

static int cmd_profile_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct profile_result table;
    if (settings->clock != TV_CHOICE_ANY && !settings->callers_callees) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET,
                "--clock goes with --callers-callees: the table has both, see --sort");
        return tv_command_usage(command, &err);
    }
    if (settings->callers_callees && settings->format != TV_TABLE_TEXT &&
        settings->format != TV_TABLE_JSON) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "--callers-callees is text or json");
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
    .summary = "methods with inclusive and exclusive times and calls",
    .arguments = "[OPTION]... FILE...",
    .details =
        "Several files are read as one trace.  Tracing distorts absolute times: compare them\n"
        "with those of another trace, or let --compensate take off what the clock cost.",
    .options = profile_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_profile_run,
};

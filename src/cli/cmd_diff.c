/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - the methods of two traces side by side.
 */
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/diff_table.h"

static const struct tv_option diff_options[] = {
    TV_OPTION("format", "text|csv|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION("sort", "default|name|calls|incl-real|excl-real|incl-cpu|excl-cpu", TV_OPTION_CHOICE,
              sort, "by the change of what (default: each table of the text by its own)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, limit,
              "only the first N methods of each part; 0: all (default: all, on a terminal 40)"),
    TV_OPTION_COLUMNS(TV_DIFF_COLUMNS),
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION("range", "A:B", TV_OPTION_LIST, ranges,
              "only from time A to time B of both; given again, that is the range of the second"),
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

/* Reads file `number`, whose own range is the one of the same number. */
static enum tv_status cmd_diff_read_side(const struct tv_settings *settings, size_t number,
                                struct diff_side *side, struct tv_error *err)
{
    struct tv_settings own = *settings;
    const struct tv_words *ranges = &settings->ranges;
    own.files = (struct tv_words){&settings->files.items[number], 1, 1};
    if (ranges->count > 0)
        own.range = ranges->items[number < ranges->count ? number : 0];
    enum tv_status status = tv_measure_profile(&own, &side->measured, &side->profile, err);
    if (status == TV_ERR_USAGE) /* else the file is named already */
        tv_error_prefix(err, "%s", own.files.items[0]);
    return status;
}

/* Wrong ranges are told before a large file is read. */
static enum tv_status cmd_diff_check_ranges(const struct tv_words *ranges, struct tv_error *err)
{
    tv_ns from, to;
    enum tv_status status = TV_OK;
    if (ranges->count > 2)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--range: expected one for both files, or one for each, found %zu",
                       ranges->count);
    for (size_t i = 0; i < ranges->count && status == TV_OK; i++)
        status = tv_range_parse(ranges->items[i], &from, &to, err);
    return status;
}

static void cmd_diff_release_side(struct diff_side *side)
{
    tv_profile_free(side->profile);
    tv_measured_release(&side->measured);
}

static enum tv_status cmd_diff_write(const struct tv_settings *settings, const struct diff_side *a,
                                 const struct diff_side *b, struct tv_error *err)
{
    static const enum tv_profile_order orders[] = {
        TV_ORDER_NAME,      TV_ORDER_NAME,     TV_ORDER_CALLS,    TV_ORDER_INCL_WALL,
        TV_ORDER_EXCL_WALL, TV_ORDER_INCL_CPU, TV_ORDER_EXCL_CPU,
    };
    struct tv_output output;
    enum tv_status status = tv_output_open_text(&output, settings, settings->format == 0, err);
    if (status != TV_OK)
        return status;
    struct tv_diff *diff = tv_diff_of(a->profile, b->profile);
    if (settings->sort != 0)
        tv_diff_sort(diff, orders[settings->sort]);
    struct tv_diff_table_options how = {
        .format = (enum tv_diff_format)settings->format,
        .limit = tv_output_limit(&output, settings),
        .sort_each = settings->sort == 0,
    };
    tv_diff_table_write(&output.out, diff, &how);
    tv_diff_free(diff);
    return tv_output_close(&output, err);
}

static int cmd_diff_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct diff_side a = {.profile = NULL}, b = {.profile = NULL};
    enum tv_status status = cmd_diff_check_ranges(&settings->ranges, &err);
    if (status == TV_OK)
        status = cmd_diff_read_side(settings, 0, &a, &err);
    if (status == TV_OK)
        status = cmd_diff_read_side(settings, 1, &b, &err);
    if (status == TV_OK && !(a.profile->clocks & b.profile->clocks))
        status = tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "the two traces have no clock in common: their times cannot be compared");
    if (status == TV_OK)
        status = tv_sort_check(settings, a.profile->clocks & b.profile->clocks, &err);
    if (status == TV_OK && settings->format == TV_DIFF_TEXT)
        status = tv_sort_check_calls(settings, a.profile->head, &err);
    if (status == TV_OK && settings->format == TV_DIFF_TEXT)
        status = tv_sort_check_calls(settings, b.profile->head, &err);
    if (status == TV_OK)
        status = cmd_diff_write(settings, &a, &b, &err);
    cmd_diff_release_side(&a);
    cmd_diff_release_side(&b);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_diff = {
    .name = "diff",
    .summary = "methods of two traces side by side",
    .arguments = "[OPTION]... A B",
    .details =
        "Tracing distorts absolute times: to compare two traces is what the numbers are for.",
    .options = diff_options,
    .min_files = 2,
    .max_files = 2,
    .reads_traces = true,
    .run = cmd_diff_run,
};

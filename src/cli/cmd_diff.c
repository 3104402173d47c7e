/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_diff.c - the methods of two traces side by side.
 */
#include "cli/command.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/diff_table.h"

static const struct tv_option options[] = {
    TV_OPTION("format", "text|csv|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION("sort", "default|name|calls|incl-real|excl-real|incl-cpu|excl-cpu", TV_OPTION_CHOICE,
              sort, "by the change of what (default: incl-cpu, or incl-real)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, limit, "only the first N methods of each part"),
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* One of the two traces. */
struct side {
    struct tv_measured measured;
    struct tv_profile *profile;
};

static enum tv_status read_side(const struct tv_settings *settings, const char *file,
                                struct side *side, struct tv_error *err)
{
    struct tv_words files = {&file, 1, 1};
    return tv_measure_profile(settings, &files, &side->measured, &side->profile, err);
}

static void release_side(struct side *side)
{
    tv_profile_free(side->profile);
    tv_measured_release(&side->measured);
}

static enum tv_status write_diff(const struct tv_settings *settings, const struct side *a,
                                 const struct side *b, struct tv_error *err)
{
    static const enum tv_profile_order orders[] = {
        TV_ORDER_NAME,      TV_ORDER_NAME,     TV_ORDER_CALLS,    TV_ORDER_INCL_WALL,
        TV_ORDER_EXCL_WALL, TV_ORDER_INCL_CPU, TV_ORDER_EXCL_CPU,
    };
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    struct tv_diff *diff = tv_diff_of(a->profile, b->profile);
    if (settings->sort != 0)
        tv_diff_sort(diff, orders[settings->sort]);
    tv_diff_table_write(&output.out, diff, (enum tv_diff_format)settings->format, settings->limit);
    tv_diff_free(diff);
    return tv_output_close(&output, err);
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    struct side a = {.profile = NULL}, b = {.profile = NULL};
    enum tv_status status = read_side(settings, settings->files.items[0], &a, &err);
    if (status == TV_OK)
        status = read_side(settings, settings->files.items[1], &b, &err);
    if (status == TV_OK && !(a.profile->clocks & b.profile->clocks))
        status = tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "the two traces have no clock in common: their times cannot be compared");
    if (status == TV_OK)
        status = tv_sort_check(settings, a.profile->clocks & b.profile->clocks, &err);
    if (status == TV_OK)
        status = write_diff(settings, &a, &b, &err);
    release_side(&a);
    release_side(&b);
    return status == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_diff = {
    .name = "diff",
    .summary = "methods of two traces side by side",
    .arguments = "[OPTION]... A B",
    .details =
        "Tracing distorts absolute times: to compare two traces is what the numbers are for.",
    .options = options,
    .min_files = 2,
    .max_files = 2,
    .run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare_open.c - `diff --open`: the viewer on groups of runs (cmd_compare.h). */
#include "analysis/compare/comparison.h"
#include "base/memory.h"
#include "base/out.h"
#include "cli/commands/cmd_compare.h"
#include "viewer/viewer.h"

/* Return an option that the page does not have; NULL: it has all of them. */
static const char *compare_find_unshown(const struct tv_settings *settings)
{
    const struct tv_compare_settings *compare = &settings->compare;
    const struct {
        bool given;
        const char *option;
    } unshown[] = {
        {settings->table.format != 0, "--format"},
        {settings->output != NULL, "--output"},
        {compare->reports.count > 0, "--report"},
        {compare->fail_if.count > 0, "--fail-if"},
        {compare->rules != NULL, "--rules"},
        {compare->plan > 0, "--plan"},
        {compare->baseline_dir != NULL, "--baseline-dir"},
        {compare->rename != NULL, "--rename"},
        {compare->base_mapping || compare->new_mapping, "--base-mapping and --new-mapping"},
        {compare->base_symbols.count + compare->new_symbols.count > 0,
         "--base-symbols and --new-symbols"},
        {compare->base_range || compare->new_range || settings->select.ranges.count > 0, "ranges"},
        {compare->figure > TV_FIGURE_MEAN, "percentiles"},
        {compare->names != 0, "--names"},
        {compare->no_fold, "--no-fold"},
        {compare->scale != 0, "--scale"},
        {settings->stacks.value != NULL, "--value"},
        {settings->stacks.compensate, "--compensate"},
    };
    for (size_t i = 0; i < TV_COUNT(unshown); i++)
        if (unshown[i].given)
            return unshown[i].option;
    return NULL;
}

/* Write a parameter of the page's address: numbers of files, one for each run. */
static void compare_put_runs(struct tv_out *out, const char *name, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        tv_out_format(out, "%s%zu", i > first ? "/" : name, i);
}

int tv_compare_open(const struct tv_command *command, const struct tv_settings *settings)
{
    static const char *const by[] = {"method", "path", "class", "package", "thread"};
    static const char *const figures[] = {"excl", "incl", "calls", "mean"};
    static const char *const widths[] = {"larger", "base", "new"};
    const struct tv_compare_settings *compare = &settings->compare;
    const char *unshown = compare_find_unshown(settings);
    size_t fresh = compare->new.count, count = fresh + compare->base.count;
    struct tv_error err = {0};
    if (unshown)
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "--open: the page has no %s", unshown);
    else if (count > TV_OPEN_TRACES)
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET,
                "--open: expected at most %u runs, found %zu; --format html compares more",
                TV_OPEN_TRACES, count);
    if (err.status != TV_OK)
        return tv_command_failed(command, &err);
    struct tv_settings own = *settings;
    struct tv_words files = {NULL, 0, 0};
    struct tv_out place;
    for (size_t i = 0; i < fresh; i++)
        tv_words_add(&files, compare->new.items[i]); /* the page opens the first file */
    for (size_t i = 0; i < compare->base.count; i++)
        tv_words_add(&files, compare->base.items[i]);
    own.files = files;
    tv_out_init_memory(&place);
    tv_out_text(&place, "tab=compare");
    compare_put_runs(&place, "&base=", fresh, count);
    compare_put_runs(&place, "&new=", 1, fresh);
    tv_out_format(&place, "&compare=%s,%s",
                  compare->by == TV_ROWS_BY_PATH ? "flame" : by[compare->by],
                  figures[compare->figure]);
    if (compare->width != 0)
        tv_out_format(&place, ",width.%s", widths[compare->width]);
    tv_out_char(&place, '\0');
    int code = tv_command_run_viewer(command, &own, 1, (const char *)place.buffer);
    tv_out_release(&place);
    tv_free(files.items);
    return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_compare.c - compares the runs of both groups (cmd_compare.h).
 *
 *     before the sandbox   folders and patterns become files, which the broker then allows
 *     for each file        profile (or tree) --> run table (cmd_compare_runs.c)
 *     at the end           match, compare, judge the rules, write the reports
 *
 * Runs are read in the order of their names, so that the order of arguments does not matter.
 */
#include "cli/commands/cmd_compare.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "cli/commands/compare_rules.h"
#include "cli/input/expand.h"
#include "cli/input/measure.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "writers/compare/compare_report.h"
#include "writers/stacks/flame_svg.h"

/* Maximum bytes of two files that text and JSON read a second time, with all calls in memory. */
#define MAX_CALLS_BYTES ((uint64_t)1 << 28)

/* In the order of enum tv_compare_format. */
static const char *const compare_formats[] = {"text",  "csv",    "json",   "markdown", "junit",
                                              "sarif", "github", "gitlab", "svg",      "html"};

bool tv_compare_has_groups(const struct tv_settings *settings)
{
    const struct tv_compare_settings *compare = &settings->compare;
    return compare->base.count > 0 || compare->new.count > 0 || compare->baseline_dir != NULL;
}

/* ---- Before the sandbox ---- */

/* List the files of --baseline: those in it are one session, and each subdirectory is another. */
static enum tv_status compare_expand_baseline(struct tv_settings *settings, struct tv_error *err)
{
    struct tv_compare_settings *compare = &settings->compare;
    struct tv_words sessions = {NULL, 0, 0};
    if (!compare->baseline_dir)
        return TV_OK;
    enum tv_status status = tv_expand_list(settings, compare->baseline_dir, true, &sessions, err);
    struct tv_words loose = {NULL, 0, 0};
    if (status == TV_OK)
        status = tv_expand_list(settings, compare->baseline_dir, false, &loose, err);
    if (status == TV_OK && loose.count > 0)
        status = tv_expand_folder(settings, compare->baseline_dir, &compare->history, err);
    for (size_t i = 0; i < sessions.count && status == TV_OK; i++)
        status = tv_expand_folder(settings, sessions.items[i], &compare->history, err);
    if (status == TV_OK && compare->history.count == 0)
        tv_message("traceview: %s: no older runs yet", compare->baseline_dir);
    tv_free(loose.items);
    tv_free(sessions.items);
    return status;
}

static void compare_append_words(struct tv_words *to, const struct tv_words *from)
{
    for (size_t i = 0; i < from->count; i++)
        tv_words_add(to, from->items[i]);
}

/* Return the number of the format of "svg=FILE"; TV_COUNT(compare_formats): there is none. */
static size_t compare_find_format(const char *report)
{
    size_t length = strcspn(report, "="), format = 0;
    while (format < TV_COUNT(compare_formats) &&
           (strncmp(compare_formats[format], report, length) != 0 ||
            compare_formats[format][length] != '\0'))
        format++;
    return format;
}

/* Is any of the reports in this format? */
static bool compare_has_format(const struct tv_settings *settings, enum tv_compare_format format)
{
    bool found = settings->table.format == format;
    for (size_t i = 0; i < settings->compare.reports.count; i++)
        found = found || compare_find_format(settings->compare.reports.items[i]) == format;
    return found;
}

/* Is any of the reports one with a flame graph? */
static bool compare_has_picture(const struct tv_settings *settings)
{
    return compare_has_format(settings, TV_COMPARE_SVG) ||
           compare_has_format(settings, TV_COMPARE_HTML);
}

/* Let the files of --symbols name the addresses that those of a side do not know.  The page reads
 * both sides alike, with the files of --symbols alone. */
static void compare_add_symbols(struct tv_settings *settings)
{
    if (settings->compare.open)
        return;
    compare_append_words(&settings->compare.base_symbols, &settings->input.symbols);
    compare_append_words(&settings->compare.new_symbols, &settings->input.symbols);
}

/* Does an option choose rows or figures that only groups of runs have? */
static bool compare_asks_for_rows(const struct tv_settings *settings)
{
    const struct tv_compare_settings *compare = &settings->compare;
    return compare->by != 0 || compare->figure != 0 || compare->names != 0 || compare->scale != 0 ||
           compare->no_fold || compare->rename || settings->clock != TV_CHOICE_ANY ||
           compare->min_share != TV_DEFAULT_MIN_SHARE;
}

/* Does an option ask for verdicts that only groups of runs have? */
static bool compare_asks_for_verdicts(const struct tv_compare_settings *compare)
{
    return compare->fail_if.count > 0 || compare->rules || compare->allow_none ||
           compare->no_total || compare->alpha || compare->plan > 0;
}

/* Does an option ask for what only groups of runs have?  The table of two files would ignore it. */
static bool compare_asks_for_groups(const struct tv_settings *settings)
{
    return compare_asks_for_rows(settings) || compare_asks_for_verdicts(&settings->compare) ||
           settings->compare.open || settings->compare.reports.count > 0 ||
           settings->table.format > TV_COMPARE_JSON;
}

/* Give the second of two files its --range, and turn them into groups of one run each where only
 * groups can be shown. */
static void compare_pair(struct tv_settings *settings)
{
    struct tv_compare_settings *compare = &settings->compare;
    if (settings->select.ranges.count > 1 && !compare->new_range)
        compare->new_range = settings->select.ranges.items[1];
    if (!compare_asks_for_groups(settings))
        return;
    tv_words_add(&compare->base, settings->files.items[0]);
    tv_words_add(&compare->new, settings->files.items[1]);
}

/* Check that no file is several runs of one side: copies of a run vary less than runs do, and p
 * would be of nothing.  The list is sorted. */
static enum tv_status compare_check_once(const struct tv_words *files, struct tv_error *err)
{
    for (size_t i = 1; i < files->count; i++)
        if (strcmp(files->items[i - 1], files->items[i]) == 0)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "%s: given twice for one side, but a file is one run", files->items[i]);
    return TV_OK;
}

enum tv_status tv_compare_prepare(struct tv_settings *settings, struct tv_error *err)
{
    struct tv_compare_settings *compare = &settings->compare;
    compare_add_symbols(settings);
    if (!tv_compare_has_groups(settings) && settings->files.count == 2)
        compare_pair(settings);
    if (!tv_compare_has_groups(settings)) {
        if (settings->files.count > 2)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "expected two files, or groups: --base FILE... --new FILE...");
        return TV_OK;
    }
    if (settings->files.count > compare->base.count + compare->new.count)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s: put files after --base or --new",
                       settings->files.items[0]);
    enum tv_status status = tv_expand_words(settings, &compare->base, err);
    if (status == TV_OK)
        status = tv_expand_words(settings, &compare->new, err);
    if (status == TV_OK)
        status = compare_expand_baseline(settings, err);
    if (status == TV_OK)
        status = compare_check_once(&compare->base, err);
    if (status == TV_OK)
        status = compare_check_once(&compare->new, err);
    if (status != TV_OK)
        return status;
    if (compare->base.count == 0 || compare->new.count == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: expected at least one file",
                       compare->base.count == 0 ? "base" : "new");
    settings->files.count = 0;
    compare_append_words(&settings->files, &compare->base);
    compare_append_words(&settings->files, &compare->new);
    compare_append_words(&settings->files, &compare->history);
    return TV_OK;
}

/* ---- What the rules need ---- */

/* Return the tables of the threads that a rule is about. */
static struct tv_compare_tables *compare_tables_of_rule(struct tv_compare_tables *tables,
                                                        const struct tv_gate_rule *rule)
{
    if (rule->thread.length == 0)
        return tables;
    for (uint32_t i = 0; i < tables->thread_count; i++)
        if (tv_bytes_equal(tables->of_threads[i].thread, rule->thread))
            return &tables->of_threads[i];
    return NULL;
}

/* Make tables for the threads that rules are about, and tell what is needed of each. */
static void compare_plan_tables(const struct tv_settings *settings,
                                const struct tv_compare_rules *rules,
                                struct tv_compare_tables *tables)
{
    enum tv_rows_by by = tables->rows.by == TV_ROWS_BY_THREAD ? TV_ROWS_BY_METHOD : tables->rows.by;
    tables->has_lengths = settings->compare.figure >= TV_FIGURE_P50;
    tables->of_threads = tv_alloc(rules->count, sizeof *tables->of_threads);
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct tv_gate_rule *rule = &rules->rules[i];
        struct tv_compare_tables *own = compare_tables_of_rule(tables, rule);
        if (!own) {
            own = &tables->of_threads[tables->thread_count++];
            own->thread = rule->thread;
            own->has_lengths = tables->has_lengths;
            tv_run_table_init(&own->rows, by, tables->rows.names);
            tv_run_table_init(&own->paths, TV_ROWS_BY_PATH, tables->rows.names);
            own->rows.unfolded = own->paths.unfolded = settings->compare.no_fold;
        }
        own->has_paths = own->has_paths || rule->of_path;
        own->has_lengths =
            own->has_lengths || (rule->figure >= TV_GATE_P50 && rule->figure <= TV_GATE_MAX);
    }
}

/* Check that there can be rows for a rule. */
static enum tv_status compare_check_rule(const struct tv_settings *settings,
                                         const struct tv_gate_rule *rule, bool reads_files,
                                         struct tv_error *err)
{
    const char *reason = NULL;
    if (!reads_files && tv_gate_rule_needs_calls(rule))
        reason = "path: and thread: need the traces: use diff";
    else if (rule->of_path && rule->figure >= TV_GATE_P50 && rule->figure <= TV_GATE_MAX)
        reason = "p50, p90, p95, p99 and max are of all calls of a method: remove path:";
    else if (rule->thread.length > 0 && settings->select.threads.count > 0)
        reason = "thread: cannot be combined with --thread";
    if (!reason)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "rule \"%.*s\": %s", (int)rule->text.length,
                   (const char *)rule->text.data, reason);
}

/* Check that rows can have what rules and --figure ask for. */
static enum tv_status compare_check_tables(const struct tv_settings *settings,
                                           const struct tv_compare_rules *rules,
                                           const struct tv_compare_tables *tables,
                                           struct tv_error *err)
{
    bool lengths = tables->has_lengths;
    enum tv_status status = TV_OK;
    for (uint32_t i = 0; i < rules->count && status == TV_OK; i++)
        status = compare_check_rule(settings, &rules->rules[i], tables->reads_files, err);
    for (uint32_t i = 0; i < tables->thread_count; i++)
        lengths = lengths || tables->of_threads[i].has_lengths;
    if (!lengths || status != TV_OK)
        return status;
    const char *other = tables->rows.by != TV_ROWS_BY_METHOD     ? "--by"
                        : tables->rows.names == TV_NAMES_GROUPED ? "--names grouped"
                        : settings->select.filter                ? "--filter"
                        : settings->select.categories.count > 0  ? "--category"
                        : settings->stacks.value                 ? "--value"
                        : settings->stacks.compensate            ? "--compensate"
                                                                 : NULL;
    if (!other)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "p50, p90, p95, p99 and max are of all calls of a method: remove %s", other);
}

/* ---- Writing ---- */

/* Write a further report: "junit=report.xml". */
static enum tv_status compare_write_extra(const struct tv_settings *settings,
                                          const struct tv_compare_report *report, const char *extra,
                                          struct tv_error *err)
{
    const char *path = strchr(extra, '=');
    size_t format = compare_find_format(extra);
    assert(path && format < TV_COUNT(compare_formats)); /* compare_check_options */
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, path + 1, settings->quiet, err);
    if (status != TV_OK)
        return status;
    struct tv_compare_report own = *report;
    own.limit = 0;
    tv_compare_report_write(&output.out, &own, (enum tv_compare_format)format);
    return tv_output_close(&output, err);
}

static enum tv_status compare_write(const struct tv_settings *settings,
                                    struct tv_compare_report *report, struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status =
        tv_output_open_text(&output, settings, settings->table.format == TV_COMPARE_TEXT, err);
    if (status != TV_OK)
        return status;
    report->limit = tv_output_limit(&output, settings);
    tv_compare_report_write(&output.out, report, (enum tv_compare_format)settings->table.format);
    status = tv_output_close(&output, err);
    for (size_t i = 0; i < settings->compare.reports.count && status == TV_OK; i++)
        status = compare_write_extra(settings, report, settings->compare.reports.items[i], err);
    return status;
}

/* ---- Single calls ---- */

/* Read a run again and add its calls. */
static enum tv_status compare_add_calls(const struct tv_settings *settings, uint32_t run,
                                        struct tv_compared_calls *calls, struct tv_error *err)
{
    const struct tv_run *r = &calls->comparison->table->runs[run];
    struct tv_settings own = tv_compare_run_settings(settings, &r->name, r->side);
    struct tv_measured measured;
    struct tv_measured_calls selected;
    own.quiet = true; /* the first reading has told about it */
    enum tv_status status = tv_compare_check_regular(r->name, err);
    if (status == TV_OK)
        status = tv_measure_tree(&own, TV_MEASURE_TRACE, &measured, err);
    if (status != TV_OK)
        return status;
    status = tv_measured_calls_init(&selected, &own, &measured, err);
    if (status == TV_OK) {
        tv_compared_calls_add(calls, run, measured.trace, &selected.selection);
        tv_measured_calls_release(&selected);
    }
    tv_measured_release(&measured);
    return status;
}

/* Are the rows methods whose single calls the traces have, as a page shows them? */
static bool compare_has_calls(const struct tv_settings *settings,
                              const struct tv_comparison *comparison)
{
    const struct tv_run_table *table = comparison->table;
    return !comparison->weighs && table->by == TV_ROWS_BY_METHOD &&
           table->names != TV_NAMES_GROUPED && !settings->select.filter &&
           settings->select.categories.count == 0 && !settings->stacks.value &&
           !settings->stacks.compensate;
}

/* Does a report show single calls?  Text and JSON do for one run on each side. */
static bool compare_shows_calls(const struct tv_settings *settings,
                                const struct tv_comparison *comparison)
{
    bool is_text = compare_has_format(settings, TV_COMPARE_TEXT) && settings->compare.plan == 0;
    return compare_has_format(settings, TV_COMPARE_HTML) ||
           (tv_comparison_is_single(comparison) &&
            (is_text || compare_has_format(settings, TV_COMPARE_JSON)));
}

/* Are the files so large that only a page, which asks for single calls, should read them again? */
static bool compare_are_large(const struct tv_settings *settings,
                              const struct tv_comparison *comparison)
{
    struct stat info;
    uint64_t bytes = 0;
    for (uint32_t run = 0; run < comparison->table->run_count; run++)
        if (tv_file_stat(comparison->table->runs[run].name, &info) == 0 && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
    return bytes > MAX_CALLS_BYTES && !compare_has_format(settings, TV_COMPARE_HTML);
}

/* Read all runs again for the calls of the rows that have changed most certainly: only now these
 * rows are known, and the traces of all runs together can be larger than the memory.  A run that
 * cannot be read twice is named in *note, and then there are no calls. */
static void compare_read_calls(const struct tv_settings *settings, struct tv_compared_calls *calls,
                               struct tv_compare_report *report, struct tv_out *note)
{
    const struct tv_comparison *comparison = report->comparison;
    const struct tv_run_table *table = comparison->table;
    enum tv_status status = TV_OK;
    tv_compared_calls_init(calls, comparison);
    for (uint32_t run = 0; run < table->run_count && status == TV_OK; run++) {
        struct tv_error err = {0};
        if (table->runs[run].side == TV_RUN_HISTORY)
            continue;
        status = compare_add_calls(settings, run, calls, &err);
        if (status != TV_OK)
            tv_out_format(note, "Single calls are not shown: %s: %s", table->runs[run].name,
                          err.message);
    }
    tv_compared_calls_finish(calls);
    if (status == TV_OK)
        report->calls = calls;
    tv_out_char(note, '\0');
    report->calls_note = status == TV_OK ? NULL : (const char *)note->buffer;
}

/* Check what the option table cannot, before a file is read. */
static enum tv_status compare_check_options(const struct tv_settings *settings, double *alpha,
                                            struct tv_error *err)
{
    const struct tv_compare_settings *compare = &settings->compare;
    char *end = NULL;
    *alpha = compare->alpha ? strtod(compare->alpha, &end) : 0.01;
    if (compare->alpha && (end == compare->alpha || *end != '\0' || !(*alpha > 0 && *alpha < 0.5)))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--alpha: expected a probability below 0.5, found '%s'", compare->alpha);
    if (settings->table.sort != 0)
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "--sort: rows of groups have their own order, the most certain change first; "
            "--format csv can be sorted by other tools");
    for (size_t i = 0; i < compare->reports.count; i++) {
        const char *report = compare->reports.items[i], *path = strchr(report, '=');
        if (!path || !path[1] || compare_find_format(report) == TV_COUNT(compare_formats))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--report: expected FORMAT=FILE, with a FORMAT of --format, found '%s'",
                           report);
    }
    return TV_OK;
}

static struct tv_comparison_options compare_choose_options(const struct tv_settings *settings)
{
    struct tv_comparison_options options = {
        .figure = (enum tv_run_figure)settings->compare.figure,
        .least_share = (double)settings->compare.min_share / 1e8,
        .scale = (enum tv_compare_scale)settings->compare.scale,
        .jobs = tv_settings_workers(settings),
    };
    options.clock = settings->clock == TV_CHOICE_CPU    ? TV_COMPARE_CPU
                    : settings->clock == TV_CHOICE_WALL ? TV_COMPARE_WALL
                                                        : TV_COMPARE_BEST_CLOCK;
    return options;
}

/* Return the last part of a path. */
static const char *compare_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Write the title of pictures: --title, or the names of two files, or the numbers of runs. */
static void compare_put_title(struct tv_out *out, const struct tv_settings *settings)
{
    const struct tv_words *base = &settings->compare.base, *fresh = &settings->compare.new;
    const char *old = compare_file_name(base->items[0]), *new = compare_file_name(fresh->items[0]);
    bool same = strcmp(old, new) == 0;
    if (settings->flame.title)
        tv_out_text(out, settings->flame.title);
    else if (base->count == 1 && fresh->count == 1)
        tv_out_format(out, "%s -> %s", same ? base->items[0] : old, same ? fresh->items[0] : new);
    else
        tv_out_format(out, "What changed: %zu base and %zu new runs", base->count, fresh->count);
    tv_out_char(out, '\0');
}

/* Write the reports, with the calls of methods if one of them shows calls. */
static enum tv_status compare_write_with_calls(const struct tv_settings *settings,
                                               const struct tv_compare_tables *tables,
                                               struct tv_compare_report *report,
                                               struct tv_error *err)
{
    struct tv_compared_calls calls;
    struct tv_out note;
    if (!tables->reads_files || !compare_shows_calls(settings, report->comparison) ||
        !compare_has_calls(settings, report->comparison))
        return compare_write(settings, report, err);
    if (compare_are_large(settings, report->comparison)) {
        report->calls_note = "Single calls are not shown: the files are large; --format html "
                             "shows them";
        return compare_write(settings, report, err);
    }
    tv_out_init_memory(&note);
    compare_read_calls(settings, &calls, report, &note);
    enum tv_status status = compare_write(settings, report, err);
    tv_compared_calls_release(&calls);
    tv_out_release(&note);
    return status;
}

/* Compare the rows of tables, or their paths, unless that was done. */
static enum tv_status compare_make(const struct tv_settings *settings,
                                   struct tv_compare_tables *tables, bool of_paths,
                                   const struct tv_comparison **comparison, struct tv_error *err)
{
    struct tv_comparison_options options = compare_choose_options(settings);
    bool paths = of_paths && tables->rows.by != TV_ROWS_BY_PATH;
    bool *has = paths ? &tables->has_compared_paths : &tables->has_compared_rows;
    struct tv_comparison *made = paths ? &tables->compared_paths : &tables->compared_rows;
    if (paths && options.figure >= TV_FIGURE_P50) /* paths have none */
        options.figure = TV_FIGURE_EXCL;
    *comparison = made;
    if (*has)
        return TV_OK;
    enum tv_status status =
        tv_comparison_init(made, paths ? &tables->paths : &tables->rows, &options, err);
    *has = status == TV_OK;
    return status;
}

/* Compare what each rule is about. */
static enum tv_status compare_make_for_rules(const struct tv_settings *settings,
                                             const struct tv_compare_rules *rules,
                                             struct tv_compare_tables *tables,
                                             const struct tv_comparison **comparisons,
                                             struct tv_error *err)
{
    enum tv_status status = TV_OK;
    for (uint32_t i = 0; i < rules->count && status == TV_OK; i++) {
        const struct tv_gate_rule *rule = &rules->rules[i];
        status = compare_make(settings, compare_tables_of_rule(tables, rule), rule->of_path,
                              &comparisons[i], err);
    }
    return status;
}

/* Write the reports, with a flame graph if one is asked for. */
static enum tv_status compare_write_pictured(const struct tv_settings *settings,
                                             struct tv_compare_tables *tables,
                                             struct tv_compare_report *report, struct tv_error *err)
{
    const struct tv_comparison *by_path;
    struct tv_change_flame graph;
    struct tv_out title;
    if (!compare_has_picture(settings))
        return compare_write_with_calls(settings, tables, report, err);
    enum tv_status status = compare_make(settings, tables, true, &by_path, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&title);
    compare_put_title(&title, settings);
    tv_change_flame_init(&graph, by_path, (enum tv_change_width)settings->compare.width,
                         0.1 / TV_FLAME_SVG_INNER);
    report->graph = &graph;
    report->title = (const char *)title.buffer;
    status = compare_write_with_calls(settings, tables, report, err);
    tv_change_flame_release(&graph);
    tv_out_release(&title);
    return status;
}

/* Return the exit code of rules. */
static int compare_exit_code(const struct tv_gate_result *results, uint32_t count)
{
    int code = TV_EXIT_OK;
    for (uint32_t i = 0; i < count; i++)
        if (results[i].reason && code != TV_EXIT_FIRED)
            code = TV_EXIT_USAGE;
        else if (results[i].fired)
            code = TV_EXIT_FIRED;
    return code;
}

/* Compare, judge the rules, and write the report, which has the verdicts.  A rule may need a
 * comparison of its own, by another row or clock than the report's. */
static enum tv_status compare_judge_and_write(const struct tv_settings *settings,
                                              struct tv_compare_tables *tables,
                                              const struct tv_compare_rules *rules, double alpha,
                                              int *code, struct tv_error *err)
{
    const struct tv_comparison *comparison;
    const struct tv_comparison **of_rules = tv_alloc(rules->count, sizeof *of_rules);
    struct tv_gate_result *results = tv_alloc(rules->count, sizeof *results);
    enum tv_status status = compare_make(settings, tables, false, &comparison, err);
    if (status == TV_OK)
        status = compare_make_for_rules(settings, rules, tables, of_rules, err);
    if (status == TV_OK) {
        tv_gate_judge(of_rules, rules->rules, rules->count, settings->compare.allow_none, results);
        *code = compare_exit_code(results, rules->count);
        struct tv_compare_report report = {
            .comparison = comparison,
            .rules = rules->rules,
            .results = results,
            .rule_count = rules->count,
            .alpha = alpha,
            .plan_runs = (uint32_t)settings->compare.plan,
        };
        status = compare_write_pictured(settings, tables, &report, err);
    }
    tv_gate_results_release(results, rules->count);
    tv_free(results);
    tv_free((void *)(uintptr_t)of_rules);
    return status;
}

static void compare_tables_release(struct tv_compare_tables *tables)
{
    for (uint32_t i = 0; i < tables->thread_count; i++)
        compare_tables_release(&tables->of_threads[i]);
    tv_free(tables->of_threads);
    if (tables->has_compared_rows)
        tv_comparison_release(&tables->compared_rows);
    if (tables->has_compared_paths)
        tv_comparison_release(&tables->compared_paths);
    tv_run_table_release(&tables->rows);
    tv_run_table_release(&tables->paths);
}

/* Reads the runs of the command line into the tables. */
struct compare_source {
    const struct tv_settings *settings;
    struct tv_compare_tables *tables;
};

static enum tv_status compare_fill_from_files(void *context, struct tv_run_table *rows,
                                              bool has_lengths, struct tv_error *err)
{
    const struct compare_source *source = context;
    (void)rows; /* the first of the tables, which tell the lengths, too */
    (void)has_lengths;
    return tv_compare_read_runs(source->settings, source->tables, err);
}

/* Compare what `fill` puts into the first of the tables. */
static int compare_run_filled(const struct tv_command *command, const struct tv_settings *settings,
                              struct tv_compare_tables *tables, tv_compare_fill *fill,
                              void *context)
{
    struct tv_error err = {0};
    struct tv_compare_rules rules = {.rules = NULL};
    double alpha;
    int code = TV_EXIT_OK;
    enum tv_status status = compare_check_options(settings, &alpha, &err);
    if (status == TV_OK)
        status = tv_compare_rules_parse(settings, &rules, &err);
    if (status == TV_OK) {
        compare_plan_tables(settings, &rules, tables);
        status = compare_check_tables(settings, &rules, tables, &err);
    }
    if (status == TV_OK)
        status = fill(context, &tables->rows, tables->has_lengths, &err);
    if (status == TV_OK)
        status = compare_judge_and_write(settings, tables, &rules, alpha, &code, &err);
    tv_compare_rules_release(&rules);
    return status == TV_OK ? code : tv_command_failed(command, &err);
}

static const enum tv_names_match compare_names[] = {TV_NAMES_SIMILAR, TV_NAMES_EXACT,
                                                    TV_NAMES_GROUPED};

int tv_compare_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_compare_tables tables = {.reads_files = true,
                                       .has_paths = compare_has_picture(settings)};
    struct compare_source source = {settings, &tables};
    enum tv_names_match names = compare_names[settings->compare.names];
    tv_run_table_init(&tables.rows, (enum tv_rows_by)settings->compare.by, names);
    tv_run_table_init(&tables.paths, TV_ROWS_BY_PATH, names);
    tables.rows.unfolded = tables.paths.unfolded = settings->compare.no_fold;
    int code = compare_run_filled(command, settings, &tables, compare_fill_from_files, &source);
    compare_tables_release(&tables);
    return code;
}

int tv_compare_run_rows(const struct tv_command *command, const struct tv_settings *settings,
                        tv_compare_fill *fill, void *context)
{
    struct tv_compare_tables tables = {.reads_files = false};
    struct tv_error err = {0};
    if (compare_has_picture(settings)) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET,
                "--report: svg and html need the traces: use diff");
        return tv_command_failed(command, &err);
    }
    tv_run_table_init(&tables.rows, TV_ROWS_BY_METHOD, compare_names[settings->compare.names]);
    int code = compare_run_filled(command, settings, &tables, fill, context);
    compare_tables_release(&tables);
    return code;
}

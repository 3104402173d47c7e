/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_compare.c - reads the runs of both groups, one after the other, and compares them
 * (cmd_compare.h).
 *
 *     before the sandbox   folders and patterns become files, which the broker then allows
 *     for each file        profile (or tree) --> run table; the trace is freed
 *     at the end           match, compare, judge the rules, write the reports
 *
 * Runs are read in the order of their names, so that the order of arguments does not matter.
 */
#include "cli/commands/cmd_compare.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/out.h"
#include "cli/commands/compare_rules.h"
#include "cli/input/expand.h"
#include "cli/input/measure.h"
#include "cli/output/output.h"
#include "writers/compare/compare_report.h"
#include "writers/compare/described_run.h"
#include "writers/stacks/flame_svg.h"

/* In the order of enum tv_compare_format. */
static const char *const compare_formats[] = {"text",  "csv",    "json",   "markdown", "junit",
                                              "sarif", "github", "gitlab", "svg",      "html"};

bool tv_compare_has_groups(const struct tv_settings *settings)
{
    const struct tv_compare_settings *compare = &settings->compare;
    return compare->base.count > 0 || compare->new.count > 0 || compare->baseline_dir != NULL;
}

/* ---- Before the sandbox ---- */

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

/* Turn two files into groups of one run each. */
static void compare_pair(struct tv_settings *settings)
{
    struct tv_compare_settings *compare = &settings->compare;
    tv_words_add(&compare->base, settings->files.items[0]);
    tv_words_add(&compare->new, settings->files.items[1]);
    if (settings->select.ranges.count > 1)
        compare->new_range = settings->select.ranges.items[1];
}

enum tv_status tv_compare_prepare(struct tv_settings *settings, struct tv_error *err)
{
    struct tv_compare_settings *compare = &settings->compare;
    if (!tv_compare_has_groups(settings) && settings->files.count == 2 &&
        (compare_has_picture(settings) || compare->open))
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

/* ---- Reading the runs ---- */

static bool compare_is_in_folder(const struct tv_settings *settings, const char *file)
{
    for (size_t i = 0; i < settings->compare.in_folders.count; i++)
        if (settings->compare.in_folders.items[i] == file)
            return true;
    return false;
}

/* Settings for one run: its file, and the mapping and range of its side. */
static struct tv_settings compare_settings_of(const struct tv_settings *settings,
                                              const char *const *file, enum tv_run_side side)
{
    const struct tv_compare_settings *compare = &settings->compare;
    struct tv_settings own = *settings;
    const char *mapping = side == TV_RUN_NEW ? compare->new_mapping : compare->base_mapping;
    const char *range = side == TV_RUN_NEW ? compare->new_range : compare->base_range;
    own.files = (struct tv_words){(const char **)(uintptr_t)file, 1, 1};
    own.input.mapping = mapping ? mapping : settings->input.mapping;
    own.select.range = range                               ? range
                       : settings->select.ranges.count > 0 ? settings->select.ranges.items[0]
                                                           : NULL;
    return own;
}

/* The table of the rows that are asked for, and that of the call paths for the flame graph and for
 * rules about paths. */
struct compare_tables {
    struct tv_run_table rows, paths;
    bool reads_files; /* not only figures of methods, which have no paths and threads */
    bool has_paths;   /* `paths` is filled, unless `rows` are paths already */
    bool has_lengths; /* rows have the lengths of calls, for --figure or a rule */
    struct tv_tree_memory *memory;     /* of the runs' trees, while runs are read */
    struct tv_bytes thread;            /* only calls of threads with such names; empty: of all */
    struct compare_tables *of_threads; /* [thread_count] for each pattern of the rules */
    uint32_t thread_count;
    struct tv_comparison compared_rows, compared_paths; /* made when they are needed */
    bool has_compared_rows, has_compared_paths;
};

static bool compare_is_by_tree(const struct tv_run_table *table)
{
    return table->by == TV_ROWS_BY_PATH || table->by == TV_ROWS_BY_THREAD;
}

/* Add the lengths of a run's calls to its methods, on the clocks that it has. */
static enum tv_status compare_add_lengths(const struct tv_settings *settings,
                                          struct tv_run_table *table,
                                          const struct tv_measured *measured, struct tv_error *err)
{
    struct tv_statistics *by[2] = {NULL, NULL}; /* wall, CPU: of the same names */
    enum tv_status status = tv_measure_lengths(settings, measured, false, &by[0], err);
    if (status == TV_OK)
        status = tv_measure_lengths(settings, measured, true, &by[1], err);
    for (uint32_t i = 0; status == TV_OK && i < by[0]->count; i++) {
        const struct tv_frame_statistics *wall = &by[0]->frames[i], *cpu = &by[1]->frames[i];
        assert(by[1]->count == by[0]->count && cpu->frame == wall->frame);
        struct tv_run_lengths lengths = {
            .wall = {wall->median, wall->p90, wall->p95, wall->p99, wall->max},
            .cpu = {cpu->median, cpu->p90, cpu->p95, cpu->p99, cpu->max},
        };
        for (size_t k = 0; cpu->measured == 0 && k < TV_LENGTHS; k++)
            lengths.cpu[k] = -1;
        tv_run_table_add_lengths(table, measured->head, wall->frame, &lengths);
    }
    tv_statistics_free(by[0]);
    tv_statistics_free(by[1]);
    return status;
}

/* Add a run to the tables.  `profile` is NULL where the tree has all that is asked for. */
static void compare_add_measured(struct compare_tables *tables, struct tv_run *run,
                                 const struct tv_measured *measured,
                                 const struct tv_profile *profile)
{
    if (profile) {
        run->total_wall = profile->total_wall;
        run->total_cpu = profile->total_cpu;
    } else {
        tv_call_tree_totals(measured->tree, &run->total_wall, &run->total_cpu);
    }
    if (compare_is_by_tree(&tables->rows))
        tv_run_table_add_tree(&tables->rows, run, measured->tree);
    else
        tv_run_table_add_profile(&tables->rows, run, profile);
    if (tables->has_paths && tables->rows.by != TV_ROWS_BY_PATH)
        tv_run_table_add_tree(&tables->paths, run, measured->tree);
}

/* Add a run that lacks the threads of the tables: it has the same figures as the whole run, all
 * zero. */
static void compare_add_nothing(struct compare_tables *tables, const struct tv_run_table *whole)
{
    struct tv_run run = whole->runs[whole->run_count - 1];
    struct tv_bytes value = tv_run_text(whole, run.value), unit = tv_run_text(whole, run.unit);
    run.total_wall = run.total_cpu = 0;
    tv_run_table_begin_run(&tables->rows, &run, value, unit);
    if (tables->has_paths && tables->rows.by != TV_ROWS_BY_PATH)
        tv_run_table_begin_run(&tables->paths, &run, value, unit);
}

/* Do the tables need more of a run than the figures of its methods? */
static bool compare_needs_trees(const struct tv_settings *settings,
                                const struct compare_tables *tables)
{
    return compare_is_by_tree(&tables->rows) || tables->has_paths || tables->has_lengths ||
           settings->stacks.compensate;
}

/* Measure a run and add it to the tables.  The caller releases *measured after TV_OK. */
static enum tv_status compare_measure_run(const struct tv_settings *own, enum tv_run_side side,
                                          uint32_t session, struct compare_tables *tables,
                                          struct tv_measured *measured, struct tv_error *err)
{
    struct tv_profile *profile = NULL;
    const struct tv_run_table *table = &tables->rows;
    bool by_tree = compare_needs_trees(own, tables);
    unsigned flags = (table->by == TV_ROWS_BY_THREAD ? TV_MEASURE_SPLIT_THREADS : 0) |
                     (tables->has_lengths ? TV_MEASURE_TRACE : 0);
    enum tv_status status = by_tree
                                ? tv_measure_next_tree(own, flags, tables->memory, measured, err)
                                : tv_measure_profile(own, measured, &profile, err);
    if (status != TV_OK)
        return status;
    struct tv_run run = tv_run_describe(own->files.items[0], side, session, measured->head);
    /* Exact costs of functions, which only a trace can have, change the totals. */
    if (by_tree && (measured->trace || !compare_is_by_tree(table)))
        profile = tv_profile_of_tree(measured->tree);
    if (by_tree && measured->trace)
        tv_profile_use_function_costs(profile, measured->trace);
    compare_add_measured(tables, &run, measured, profile);
    if (tables->has_lengths && !profile->figures.sampled)
        status = compare_add_lengths(own, &tables->rows, measured, err);
    tv_profile_free(profile);
    if (status != TV_OK)
        tv_measured_release(measured);
    return status;
}

/* Check that a file can be read again. */
static enum tv_status compare_check_regular(const char *file, struct tv_error *err)
{
    struct stat info;
    if (strcmp(file, "-") != 0 && tv_file_stat(file, &info) == 0 && S_ISREG(info.st_mode))
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "not a regular file, so it was read once");
}

static bool compare_has_thread(const struct tv_trace_info *head, struct tv_bytes pattern)
{
    for (uint32_t thread = 0; thread < head->thread_count; thread++)
        if (tv_thread_matches(head, thread, pattern))
            return true;
    return false;
}

/* Read a run again for the calls of some threads. */
static enum tv_status compare_add_thread(const struct tv_settings *whole, enum tv_run_side side,
                                         uint32_t session, struct compare_tables *tables,
                                         struct tv_error *err)
{
    struct tv_settings own = *whole;
    struct tv_measured measured;
    char *word = tv_alloc(tables->thread.length + 1, 1);
    const char *words[] = {word};
    memcpy(word, tables->thread.data, tables->thread.length);
    own.select.threads = (struct tv_words){words, 1, 1};
    own.quiet = true; /* the first reading has told about it */
    enum tv_status status = compare_check_regular(own.files.items[0], err);
    if (status == TV_OK)
        status = compare_measure_run(&own, side, session, tables, &measured, err);
    if (status == TV_OK)
        tv_measured_release(&measured);
    tv_free(word);
    return status;
}

static enum tv_status compare_add_run(const struct tv_settings *settings, const char *const *file,
                                      enum tv_run_side side, uint32_t session,
                                      struct compare_tables *tables, struct tv_error *err)
{
    struct tv_settings own = compare_settings_of(settings, file, side);
    struct tv_measured measured;
    enum tv_status status = compare_measure_run(&own, side, session, tables, &measured, err);
    if (status != TV_OK)
        return status;
    bool *has = tv_alloc(tables->thread_count, sizeof *has);
    for (uint32_t i = 0; i < tables->thread_count; i++)
        has[i] = compare_has_thread(measured.head, tables->of_threads[i].thread);
    tv_measured_release(&measured);
    for (uint32_t i = 0; i < tables->thread_count && status == TV_OK; i++)
        if (has[i])
            status = compare_add_thread(&own, side, session, &tables->of_threads[i], err);
        else
            compare_add_nothing(&tables->of_threads[i], &tables->rows);
    tv_free(has);
    return status;
}

/* Return the length of a path's folder: the session of a run of the baseline. */
static size_t compare_folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static enum tv_status compare_read_side(const struct tv_settings *settings,
                                        const struct tv_words *files, enum tv_run_side side,
                                        struct compare_tables *tables, struct tv_error *err)
{
    uint32_t session = 0, read = 0;
    for (size_t i = 0; i < files->count; i++) {
        size_t folder = compare_folder_length(files->items[i]);
        if (i > 0 && (folder != compare_folder_length(files->items[i - 1]) ||
                      memcmp(files->items[i], files->items[i - 1], folder) != 0))
            session++;
        enum tv_status status =
            compare_add_run(settings, &files->items[i], side, session, tables, err);
        if (status == TV_ERR_UNSUPPORTED && compare_is_in_folder(settings, files->items[i])) {
            if (!settings->quiet)
                tv_message("%s: no trace, left out", files->items[i]);
            continue;
        }
        if (status == TV_ERR_USAGE)
            tv_error_prefix(err, "%s", files->items[i]);
        if (status != TV_OK)
            return status;
        read++;
    }
    if (read == 0 && side != TV_RUN_HISTORY)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: there is no trace among the files",
                       side == TV_RUN_BASE ? "base" : "new");
    return TV_OK;
}

/* Read the lines "OLD = NEW". The table's views point into *text. */
static enum tv_status compare_read_renames(const struct tv_settings *settings,
                                           struct tv_run_table *table, char **text,
                                           struct tv_error *err)
{
    size_t length, capacity = 0;
    *text = NULL;
    if (!settings->compare.rename)
        return TV_OK;
    enum tv_status status =
        tv_file_read_text(settings->compare.rename, TV_RULES_LARGEST_FILE, text, &length, err);
    if (status != TV_OK) {
        *text = NULL;
        return tv_error_prefix(err, "%s", settings->compare.rename);
    }
    struct tv_cursor cursor = tv_cursor_over((struct tv_bytes){(uint8_t *)*text, length});
    for (struct tv_bytes line, old; tv_cursor_take_line(&cursor, &line);) {
        line = tv_bytes_trim(line);
        if (line.length == 0 || line.data[0] == '#')
            continue;
        if (!tv_bytes_split(&line, '=', &old))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "%s: expected lines \"OLD = NEW\", found \"%.*s\"",
                           settings->compare.rename, (int)old.length, (const char *)old.data);
        table->renames = tv_array_reserve(table->renames, &capacity, table->rename_count + 2,
                                          sizeof *table->renames);
        table->renames[table->rename_count++] = tv_bytes_trim(old);
        table->renames[table->rename_count++] = tv_bytes_trim(line);
    }
    return TV_OK;
}

/* Return the tables of the threads that a rule is about. */
static struct compare_tables *compare_tables_of_rule(struct compare_tables *tables,
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
                                const struct tv_compare_rules *rules, struct compare_tables *tables)
{
    enum tv_rows_by by = tables->rows.by == TV_ROWS_BY_THREAD ? TV_ROWS_BY_METHOD : tables->rows.by;
    tables->has_lengths = settings->compare.figure >= TV_FIGURE_P50;
    tables->of_threads = tv_alloc(rules->count, sizeof *tables->of_threads);
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct tv_gate_rule *rule = &rules->rules[i];
        struct compare_tables *own = compare_tables_of_rule(tables, rule);
        if (!own) {
            own = &tables->of_threads[tables->thread_count++];
            own->thread = rule->thread;
            own->has_lengths = tables->has_lengths;
            tv_run_table_init(&own->rows, by, tables->rows.names);
            tv_run_table_init(&own->paths, TV_ROWS_BY_PATH, tables->rows.names);
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
                                           const struct compare_tables *tables,
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

/* Match the rows of the tables. */
static void compare_match(struct compare_tables *tables, const struct tv_run_table *renames)
{
    struct tv_run_table *const both[] = {&tables->rows, &tables->paths};
    for (size_t i = 0; i < TV_COUNT(both); i++) {
        both[i]->renames = renames->renames;
        both[i]->rename_count = renames->rename_count;
        tv_run_table_match(both[i]);
    }
    for (uint32_t i = 0; i < tables->thread_count; i++)
        compare_match(&tables->of_threads[i], renames);
}

/* Let all trees use one memory. */
static void compare_share_memory(struct compare_tables *tables, struct tv_tree_memory *memory)
{
    tables->memory = memory;
    for (uint32_t i = 0; i < tables->thread_count; i++)
        tables->of_threads[i].memory = memory;
}

static enum tv_status compare_read_runs(const struct tv_settings *settings,
                                        struct compare_tables *tables, struct tv_error *err)
{
    const struct tv_compare_settings *compare = &settings->compare;
    struct tv_run_table *rows = &tables->rows;
    struct tv_tree_memory *memory = tv_tree_memory_new();
    char *text;
    enum tv_status status = compare_read_renames(settings, rows, &text, err);
    compare_share_memory(tables, memory);
    if (status == TV_OK)
        status = compare_read_side(settings, &compare->base, TV_RUN_BASE, tables, err);
    if (status == TV_OK)
        status = compare_read_side(settings, &compare->new, TV_RUN_NEW, tables, err);
    if (status == TV_OK)
        status = compare_read_side(settings, &compare->history, TV_RUN_HISTORY, tables, err);
    tv_tree_memory_free(memory);
    if (status == TV_OK)
        compare_match(tables, rows);
    tv_free(rows->renames);
    tv_free(text);
    return status;
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

/* ---- The calls of the HTML report ---- */

/* Read a run again and add its calls. */
static enum tv_status compare_add_calls(const struct tv_settings *settings, uint32_t run,
                                        struct tv_compared_calls *calls, struct tv_error *err)
{
    const struct tv_run *r = &calls->comparison->table->runs[run];
    struct tv_settings own = compare_settings_of(settings, &r->name, r->side);
    struct tv_measured measured;
    struct tv_measured_calls selected;
    own.quiet = true; /* the first reading has told about it */
    enum tv_status status = compare_check_regular(r->name, err);
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
                                               struct tv_compare_report *report,
                                               struct tv_error *err)
{
    struct tv_compared_calls calls;
    struct tv_out note;
    if (!compare_has_format(settings, TV_COMPARE_HTML) ||
        !compare_has_calls(settings, report->comparison))
        return compare_write(settings, report, err);
    tv_out_init_memory(&note);
    compare_read_calls(settings, &calls, report, &note);
    enum tv_status status = compare_write(settings, report, err);
    tv_compared_calls_release(&calls);
    tv_out_release(&note);
    return status;
}

/* Compare the rows of tables, or their paths, unless that was done. */
static enum tv_status compare_make(const struct tv_settings *settings,
                                   struct compare_tables *tables, bool of_paths,
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
                                             struct compare_tables *tables,
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
                                             struct compare_tables *tables,
                                             struct tv_compare_report *report, struct tv_error *err)
{
    const struct tv_comparison *by_path;
    struct tv_change_flame graph;
    struct tv_out title;
    if (!compare_has_picture(settings))
        return compare_write(settings, report, err);
    enum tv_status status = compare_make(settings, tables, true, &by_path, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&title);
    compare_put_title(&title, settings);
    tv_change_flame_init(&graph, by_path, (enum tv_change_width)settings->compare.width,
                         0.1 / TV_FLAME_SVG_INNER);
    report->graph = &graph;
    report->title = (const char *)title.buffer;
    status = compare_write_with_calls(settings, report, err);
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

static enum tv_status compare_judge_and_write(const struct tv_settings *settings,
                                              struct compare_tables *tables,
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

static void compare_tables_release(struct compare_tables *tables)
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
struct compare_reading {
    const struct tv_settings *settings;
    struct compare_tables *tables;
};

static enum tv_status compare_fill_from_files(void *context, struct tv_run_table *rows,
                                              struct tv_error *err)
{
    const struct compare_reading *reading = context;
    (void)rows; /* the first of the tables */
    return compare_read_runs(reading->settings, reading->tables, err);
}

/* Compare what `fill` puts into the first of the tables. */
static int compare_run_filled(const struct tv_command *command, const struct tv_settings *settings,
                              struct compare_tables *tables, tv_compare_fill *fill, void *context)
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
        status = fill(context, &tables->rows, &err);
    if (status == TV_OK)
        status = compare_judge_and_write(settings, tables, &rules, alpha, &code, &err);
    tv_compare_rules_release(&rules);
    return status == TV_OK ? code : tv_command_failed(command, &err);
}

static const enum tv_names_match compare_names[] = {TV_NAMES_SIMILAR, TV_NAMES_EXACT,
                                                    TV_NAMES_GROUPED};

int tv_compare_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct compare_tables tables = {.reads_files = true,
                                    .has_paths = compare_has_picture(settings)};
    struct compare_reading reading = {settings, &tables};
    enum tv_names_match names = compare_names[settings->compare.names];
    tv_run_table_init(&tables.rows, (enum tv_rows_by)settings->compare.by, names);
    tv_run_table_init(&tables.paths, TV_ROWS_BY_PATH, names);
    int code = compare_run_filled(command, settings, &tables, compare_fill_from_files, &reading);
    compare_tables_release(&tables);
    return code;
}

int tv_compare_run_rows(const struct tv_command *command, const struct tv_settings *settings,
                        tv_compare_fill *fill, void *context)
{
    struct compare_tables tables = {.reads_files = false};
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

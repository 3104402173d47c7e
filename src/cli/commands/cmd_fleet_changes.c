/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_changes.c - `fleet changes`: the versions since which a method is slower or faster.
 *
 *     DuckDB --> medians by method, version, device and scenario
 *       --> without what all methods of a device and scenario have in common (changes.h)
 *       --> a series for each method: the mean over devices and scenarios
 *       --> change points (change_points.h)
 *       --> a query with these rows, for every --format
 */
#include "cli/commands/cmd_fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/compare/change_points.h"
#include "analysis/compare/changes.h"
#include "analysis/compare/gate.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "fleet/fleet.h"
#include "sql/values.h"

struct changes_names {
    struct tv_interner *strings;
    uint32_t *items;
    size_t count, capacity;
};

/* How a method is named: whole, its class, without its signature, and without its class, too. */
#define CHANGES_FORMS 4u

struct changes_cell {
    uint32_t group, row, column;
    double log;
};

struct changes_series {
    struct changes_names versions, methods; /* of `methods` CHANGES_FORMS names each */
    const struct tv_settings *settings;
    int64_t since;  /* points before this time are not reported */
    int64_t *began; /* [versions] microseconds since 1970 */
    size_t began_room;
    struct changes_cell *cells; /* sorted by group, row and column */
    size_t cell_count, cell_room;
    double *sums; /* [methods * versions] over groups; afterwards the means */
    uint32_t *counts;
};

static void changes_add_name(struct changes_names *names, struct tv_bytes name)
{
    names->items =
        tv_array_reserve(names->items, &names->capacity, names->count + 1, sizeof *names->items);
    names->items[names->count++] = tv_interner_add(names->strings, name);
}

static struct tv_bytes changes_text(const struct tv_sql_value *value)
{
    return value->kind == TV_SQL_IS_TEXT ? value->text : (struct tv_bytes){NULL, 0};
}

static enum tv_status changes_take_version(void *context, const struct tv_sql_value *values,
                                           struct tv_error *err)
{
    struct changes_series *series = context;
    (void)err;
    series->began = tv_array_reserve(series->began, &series->began_room, series->versions.count + 1,
                                     sizeof *series->began);
    series->began[series->versions.count] =
        values[1].kind == TV_SQL_IS_INTEGER ? values[1].integer : 0;
    changes_add_name(&series->versions, changes_text(&values[0]));
    return TV_OK;
}

static enum tv_status changes_take_method(void *context, const struct tv_sql_value *values,
                                          struct tv_error *err)
{
    struct changes_series *series = context;
    (void)err;
    for (size_t i = 0; i < CHANGES_FORMS; i++)
        changes_add_name(&series->methods, changes_text(&values[i]));
    return TV_OK;
}

static enum tv_status changes_take_cell(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct changes_series *series = context;
    (void)err;
    series->cells = tv_array_reserve(series->cells, &series->cell_room, series->cell_count + 1,
                                     sizeof *series->cells);
    series->cells[series->cell_count++] =
        (struct changes_cell){(uint32_t)values[0].integer, (uint32_t)values[1].integer,
                              (uint32_t)values[2].integer, values[3].real};
    return TV_OK;
}

/* ---- One device and scenario ---- */

/* The cells of a group as a matrix of its methods and versions. */
struct changes_group {
    const struct changes_cell *cells;
    size_t count;
    uint32_t *columns; /* [versions] place among those of the group; TV_NONE: not there */
    uint32_t column_count;
};

static void changes_list_columns(struct changes_group *group, uint32_t versions)
{
    for (uint32_t i = 0; i < versions; i++)
        group->columns[i] = TV_NONE;
    for (size_t i = 0; i < group->count; i++)
        group->columns[group->cells[i].column] = 0;
    for (uint32_t i = 0; i < versions; i++)
        if (group->columns[i] != TV_NONE)
            group->columns[i] = group->column_count++;
}

/* Return the number of cells of the row that begins at `first`. */
static size_t changes_row_length(const struct changes_group *group, size_t first)
{
    size_t end = first;
    while (end < group->count && group->cells[end].row == group->cells[first].row)
        end++;
    return end - first;
}

/* Add a row to the series: its cells less what all have in common (cleaned: that is off already),
 * around 0. */
static void changes_add_row(struct changes_series *series, const struct changes_group *group,
                            size_t first, const double *cleaned, const double *factor)
{
    size_t length = changes_row_length(group, first), versions = series->versions.count;
    double *values = tv_alloc(length, 2 * sizeof *values), *sorted = values + length;
    for (size_t i = 0; i < length; i++) {
        uint32_t column = group->columns[group->cells[first + i].column];
        values[i] = cleaned ? cleaned[column] : group->cells[first + i].log - factor[column];
        sorted[i] = values[i];
    }
    double middle = tv_changes_median(sorted, length);
    for (size_t i = 0; i < length; i++) {
        const struct changes_cell *cell = &group->cells[first + i];
        series->sums[cell->row * versions + cell->column] += values[i] - middle;
        series->counts[cell->row * versions + cell->column]++;
    }
    tv_free(values);
}

static void changes_add_group(struct changes_series *series, struct changes_group *group)
{
    changes_list_columns(group, (uint32_t)series->versions.count);
    double *whole = tv_alloc(group->count, sizeof *whole); /* rows that are in all its versions */
    double *factor = tv_alloc(group->column_count, sizeof *factor);
    uint32_t rows = 0, used = 0;
    for (size_t i = 0; i < group->count; i += changes_row_length(group, i)) {
        if (changes_row_length(group, i) != group->column_count)
            continue;
        for (uint32_t k = 0; k < group->column_count; k++)
            whole[(size_t)rows * group->column_count + k] = group->cells[i + k].log;
        rows++;
    }
    tv_changes_clean(whole, rows, group->column_count, factor);
    for (size_t i = 0; i < group->count; i += changes_row_length(group, i)) {
        bool is_whole = changes_row_length(group, i) == group->column_count;
        changes_add_row(series, group, i,
                        is_whole ? whole + (size_t)used * group->column_count : NULL, factor);
        used += is_whole;
    }
    tv_free(whole);
    tv_free(factor);
}

/* Make the series out of the cells: sums become means, NAN without a cell. */
static size_t changes_count_methods(const struct changes_series *series)
{
    return series->methods.count / CHANGES_FORMS;
}

static struct tv_bytes changes_method(const struct changes_series *series, size_t method,
                                      unsigned form)
{
    return tv_interner_get(series->methods.strings,
                           series->methods.items[method * CHANGES_FORMS + form]);
}

static void changes_make_series(struct changes_series *series)
{
    size_t versions = series->versions.count, size = versions * changes_count_methods(series);
    uint32_t *columns = tv_alloc(versions, sizeof *columns);
    series->sums = tv_alloc(size, sizeof *series->sums);
    series->counts = tv_alloc(size, sizeof *series->counts);
    for (size_t first = 0, end; first < series->cell_count; first = end) {
        for (end = first;
             end < series->cell_count && series->cells[end].group == series->cells[first].group;)
            end++;
        struct changes_group group = {series->cells + first, end - first, columns, 0};
        changes_add_group(series, &group);
    }
    for (size_t i = 0; i < size; i++)
        series->sums[i] = series->counts[i] > 0 ? series->sums[i] / series->counts[i] : NAN;
    tv_free(columns);
}

/* ---- Reading and writing ---- */

/* Run the first query, which makes tables of everything: a damaged file is met before there is any
 * row. */
static enum tv_status changes_read_versions(struct tv_fleet_store *store, const char *query,
                                            struct changes_series *series, struct tv_error *err)
{
    enum tv_status status;
    do {
        status = tv_sql_for_each_row(store->sql, query, 2, changes_take_version, series, err);
    } while (status != TV_OK && series->versions.count == 0 && tv_fleet_recover(store, err));
    return status;
}

/* Compute the cells of all series, and read the versions. */
static enum tv_status changes_ask_series(struct tv_fleet_store *store,
                                         const struct tv_fleet_question *question,
                                         struct changes_series *series, struct tv_error *err)
{
    struct tv_out query;
    tv_out_init_memory(&query);
    enum tv_status status = tv_fleet_ask_series(&query, question, TV_MIN_VERSIONS, err);
    tv_out_char(&query, '\0');
    if (status == TV_OK)
        status = changes_read_versions(store, (const char *)query.buffer, series, err);
    tv_out_release(&query);
    return status;
}

static enum tv_status changes_read(struct tv_fleet_store *store, struct changes_series *series,
                                   struct tv_error *err)
{
    const struct tv_settings *settings = store->settings;
    struct tv_fleet_question question = {
        .by = settings->fleet.by,
        .where = settings->fleet.where,
        .figure = tv_fleet_figure(settings),
    };
    struct tv_out files;
    enum tv_status status;
    tv_out_init_memory(&files);
    tv_fleet_find_prepared(store, &question, &files);
    do
        status = changes_ask_series(store, &question, series, err);
    while (status != TV_OK && series->versions.count == 0 &&
           tv_fleet_drop_prepared(store, &question, err));
    if (status == TV_OK)
        status = tv_sql_for_each_row(store->sql, tv_fleet_series_methods, CHANGES_FORMS,
                                     changes_take_method, series, err);
    if (status == TV_OK)
        status = tv_sql_for_each_row(store->sql, tv_fleet_series_cells, 4, changes_take_cell,
                                     series, err);
    tv_out_release(&files);
    if (status == TV_OK && series->versions.count < TV_MIN_VERSIONS)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "changes need at least %u versions; the fleet has %zu (regressions compares "
                       "two)",
                       TV_MIN_VERSIONS, series->versions.count);
    return status;
}

/* Append a SELECT that answers the points, of versions that began at `since` or later. */
static void changes_put_points(struct tv_out *sql, const struct changes_series *series,
                               const struct tv_change_points *points, int64_t since)
{
    /* The names stay in the database: with them, the statement could grow without bound. */
    tv_out_text(sql, "with point as (select * from (values (null, null, null, null, null)");
    for (size_t i = 0; i < points->count; i++) {
        const struct tv_change_point *point = &points->items[i];
        if (series->began[point->column] >= since)
            tv_out_format(sql, ", (%zu, %u, %u, %.4f::double, %.2g::double)", i, point->row,
                          point->column, exp(point->difference) - 1, point->p);
    }
    tv_out_format(sql,
                  ") as point(place, row, number, change, p)) select %s as method, "
                  "v.label as version, p.change, p.p, v.began from point p "
                  "join kept k on k.number = p.row join version v on v.number = p.number "
                  "order by p.place",
                  tv_fleet_series_name);
    tv_out_char(sql, '\0');
}

/* ---- Rules ---- */

/* Does a rule have more than a relative change and p? */
static bool changes_has_other_guards(const struct tv_gate_rule *rule)
{
    return rule->sum || rule->runs > 0 || !rule->change.is_change || !rule->change.is_relative ||
           rule->low.way != TV_GATE_NO_LIMIT || rule->share.way != TV_GATE_NO_LIMIT ||
           rule->time.way != TV_GATE_NO_LIMIT || rule->calls.way != TV_GATE_NO_LIMIT;
}

/* Parse a rule; it must be about the change of the figure that is looked at. */
static enum tv_status changes_parse_rule(const char *text, const char *figure,
                                         struct tv_gate_rule *rule, struct tv_error *err)
{
    static const char *const wall[] = {"excl", "incl", "calls", "", "p50", "", "p95", "p99", "max"};
    static const char *const cpu[] = {"excl_cpu", "incl_cpu", "", "", "", "", "", "", ""};
    enum tv_status status = tv_gate_rule_parse(tv_bytes_of(text), rule, err);
    if (status == TV_OK && tv_gate_rule_needs_calls(rule))
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "%s: path: and thread: need the traces: use diff", text);
    if (status != TV_OK)
        return status;
    bool is_same = rule->figure <= TV_GATE_MAX &&
                   ((rule->clock != TV_GATE_CPU && strcmp(wall[rule->figure], figure) == 0) ||
                    (rule->clock != TV_GATE_WALL && strcmp(cpu[rule->figure], figure) == 0));
    if (!is_same)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: changes looks at %s: choose another with --figure", text, figure);
    if (changes_has_other_guards(rule))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: change points have a change and p: '%s(*) > +5%% and p < 0.001'", text,
                       figure);
    return TV_OK;
}

static bool changes_matches(const struct changes_series *series, const struct tv_gate_rule *rule,
                            size_t method)
{
    if (rule->pattern.length == 0)
        return true;
    if (rule->of_class)
        return tv_glob_matches(changes_method(series, method, 1), rule->pattern);
    return tv_glob_matches(changes_method(series, method, 0), rule->pattern) ||
           tv_glob_matches(changes_method(series, method, 2), rule->pattern) ||
           tv_glob_matches(changes_method(series, method, 3), rule->pattern);
}

static bool changes_fires(const struct tv_gate_rule *rule, const struct tv_change_point *point)
{
    double change = exp(point->difference) - 1;
    if (rule->p > 0 && point->p >= rule->p)
        return false;
    switch (rule->change.way) {
    case TV_GATE_ABOVE:
        return change > rule->change.number;
    case TV_GATE_AT_LEAST:
        return change >= rule->change.number;
    default:
        return change < rule->change.number;
    }
}

/* Judge a rule of --fail-if; a point that makes it fire is told. */
static enum tv_status changes_judge(const struct changes_series *series, const char *text,
                                    const struct tv_change_points *points, int *code,
                                    struct tv_error *err)
{
    const struct tv_settings *settings = series->settings;
    struct tv_gate_rule rule;
    size_t matched = 0, count = changes_count_methods(series);
    enum tv_status status = changes_parse_rule(text, tv_fleet_figure(settings), &rule, err);
    if (status != TV_OK)
        return status;
    for (size_t i = 0; i < count && matched == 0; i++)
        matched += changes_matches(series, &rule, i);
    if (matched == 0 && !settings->compare.allow_none)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: its pattern matches nothing: correct the name, or say --allow-none",
                       text);
    for (size_t i = 0; i < points->count; i++) {
        const struct tv_change_point *point = &points->items[i];
        if (series->began[point->column] < series->since || !changes_fires(&rule, point) ||
            !changes_matches(series, &rule, point->row))
            continue;
        struct tv_bytes name = changes_method(series, point->row, 0);
        struct tv_bytes version =
            tv_interner_get(series->versions.strings, series->versions.items[point->column]);
        tv_message("traceview: FIRED: %s: %.*s %+.1f%% since %.*s", text, (int)name.length,
                   (const char *)name.data, 100 * (exp(point->difference) - 1), (int)version.length,
                   (const char *)version.data);
        *code = TV_EXIT_FIRED;
    }
    return TV_OK;
}

static enum tv_status changes_write(struct tv_fleet_store *store, struct changes_series *series,
                                    int *code, struct tv_error *err)
{
    const struct tv_settings *settings = store->settings;
    struct tv_change_points points;
    struct tv_out query;
    if (settings->fleet.since > 0 && settings->fleet.since < INT64_MAX / 1000000)
        series->since = ((int64_t)time(NULL) - (int64_t)settings->fleet.since) * 1000000;
    tv_change_points_init(&points, series->sums, (uint32_t)changes_count_methods(series),
                          (uint32_t)series->versions.count);
    if (!settings->quiet)
        tv_message("traceview: %u %s in %zu versions; without a change, any line is here in at "
                   "most 1 of 100 cases",
                   points.judged, tv_plural(points.judged, "method", "methods"),
                   series->versions.count);
    tv_out_init_memory(&query);
    changes_put_points(&query, series, &points, series->since);
    enum tv_status status = tv_fleet_write_answer(store, (const char *)query.buffer, err);
    for (size_t i = 0; i < settings->compare.fail_if.count && status == TV_OK; i++)
        status = changes_judge(series, settings->compare.fail_if.items[i], &points, code, err);
    tv_out_release(&query);
    tv_change_points_release(&points);
    return status;
}

enum tv_status tv_fleet_changes(const struct tv_command *command,
                                const struct tv_settings *settings, int *code, struct tv_error *err)
{
    struct changes_series series = {.settings = settings};
    struct tv_fleet_store store;
    (void)command;
    series.versions.strings = series.methods.strings = tv_interner_new();
    enum tv_status status = tv_fleet_open(&store, settings, err);
    for (size_t i = 0; i < settings->compare.fail_if.count && status == TV_OK; i++) {
        struct tv_gate_rule rule;
        status = changes_parse_rule(settings->compare.fail_if.items[i], tv_fleet_figure(settings),
                                    &rule, err);
    }
    if (status == TV_OK)
        status = changes_read(&store, &series, err);
    tv_fleet_stop_meter(&store);
    if (status == TV_OK) {
        changes_make_series(&series);
        status = changes_write(&store, &series, code, err);
    }
    tv_fleet_close(&store, code);
    tv_interner_free(series.versions.strings);
    tv_free(series.versions.items);
    tv_free(series.methods.items);
    tv_free(series.began);
    tv_free(series.cells);
    tv_free(series.sums);
    tv_free(series.counts);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_changes.c - `fleet changes`: the versions since which a method is slower or faster.
 *
 *     DuckDB --> values of all rows of methods
 *       --> medians of their logarithms by method, version, device and scenario
 *       --> without what all methods of a device and scenario have in common (changes.h)
 *       --> a series for each method: the mean over devices and scenarios
 *       --> change points (change_points.h)
 *       --> a query with these rows, for every --format
 */
#include "cli/commands/cmd_fleet.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/change_points.h"
#include "analysis/compare/changes.h"
#include "analysis/compare/gate.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "fleet/fleet.h"
#include "sql/values.h"

struct changes_names {
    struct tv_interner *strings;
    uint32_t *items;
    size_t count, capacity;
};

/* Forms of a method's name: whole, its class, without its signature, and without its class, too. */
#define CHANGES_FORMS 4u

struct changes_cell {
    uint32_t group, row, column;
    double log;
};

/* Maximum number of methods, those with the largest sums: their series are held in memory. */
#define MAX_SERIES 20000u

/* A method that has values. */
struct changes_method {
    uint64_t method;
    int64_t size;  /* sum of its values */
    uint32_t row;  /* among the series; TV_NONE: in too few versions, or too small */
    uint32_t seen; /* number of its versions */
};

/* Values that are held at once if there is no --max-memory: 1 GiB of them.  A fleet with more is
 * asked for its methods in parts. */
#define MAX_VALUES ((size_t)1 << 26)
/* Share of --max-memory that the values may take; DuckDB needs the rest. */
#define VALUES_SHARE 4u
#define MAX_PARTS 4096u

/* Bits of the parts of a key: the place of the method is above both. */
#define COLUMN_BITS 10u
#define GROUP_BITS 26u
#define METHOD_BITS 28u

struct changes_series {
    struct changes_names versions, names; /* of `names` CHANGES_FORMS for each series */
    const struct tv_settings *settings;
    int64_t since;  /* points before this time are not reported */
    int64_t *began; /* [versions] microseconds since 1970 */
    size_t began_room;
    struct tv_map method_index; /* method -> place */
    struct changes_method *methods;
    size_t method_count, method_room;
    uint32_t last;              /* place of the method of the last row; most rows have the same */
    struct tv_sort_key *values; /* key of changes_key, and the value */
    size_t value_count, value_room, max_values;
    bool is_full;               /* there are more values than max_values */
    bool is_prepared;           /* cells came in place of values */
    struct changes_cell *cells; /* in the end sorted by group, row and column */
    size_t cell_count, cell_room;
    uint64_t *rows; /* [row_count] the method of each series */
    uint32_t row_count;
    double *sums; /* [methods * versions] over groups; afterwards the means */
    uint32_t *counts;
};

static void changes_add_name(struct changes_names *names, struct tv_bytes name)
{
    names->items =
        tv_array_reserve(names->items, &names->capacity, names->count + 1, sizeof *names->items);
    names->items[names->count++] = tv_interner_add(names->strings, name);
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
    changes_add_name(&series->versions, tv_fleet_value_text(&values[0]));
    return TV_OK;
}

/* Take the names of a method that has a series. */
static enum tv_status changes_take_name(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct changes_series *series = context;
    (void)err;
    uint32_t place = tv_map_find(&series->method_index, tv_fleet_value_key(&values[0]));
    if (place == TV_NONE || series->methods[place].row == TV_NONE)
        return TV_OK;
    for (size_t i = 0; i < CHANGES_FORMS; i++)
        series->names.items[series->methods[place].row * CHANGES_FORMS + i] =
            tv_interner_add(series->names.strings, tv_fleet_value_text(&values[1 + i]));
    return TV_OK;
}

/* ---- Medians ---- */

/* Return the place of a method, which gets one if needed. */
static uint32_t changes_place_method(struct changes_series *series, uint64_t method)
{
    if (series->method_count > 0 && series->methods[series->last].method == method)
        return series->last;
    uint32_t place = tv_map_add(&series->method_index, method, (uint32_t)series->method_count);
    if (place == series->method_count) {
        series->methods = tv_array_reserve(series->methods, &series->method_room,
                                           series->method_count + 1, sizeof *series->methods);
        series->methods[series->method_count++] =
            (struct changes_method){.method = method, .row = TV_NONE};
    }
    series->last = place;
    return place;
}

static uint64_t changes_key(uint32_t high, unsigned bits, uint32_t middle, uint32_t column)
{
    return (uint64_t)high << (bits + COLUMN_BITS) | (uint64_t)middle << COLUMN_BITS | column;
}

static void changes_add_cell(struct changes_series *series, const struct changes_cell *cell)
{
    series->cells = tv_array_reserve(series->cells, &series->cell_room, series->cell_count + 1,
                                     sizeof *series->cells);
    series->cells[series->cell_count++] = *cell;
}

/* Take a row of tv_fleet_ask_values. */
static enum tv_status changes_take_value(void *context, const struct tv_sql_value *values,
                                         struct tv_error *err)
{
    struct changes_series *series = context;
    uint64_t group = tv_fleet_value_key(&values[0]);
    uint32_t place = changes_place_method(series, tv_fleet_value_key(&values[1]));
    uint32_t column = (uint32_t)values[2].integer;
    int64_t value = tv_fleet_value_integer(&values[3]);
    assert(column < TV_FLEET_MAX_VERSIONS);
    if (group >> GROUP_BITS > 0 || place >> METHOD_BITS > 0)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "the fleet has too many devices, scenarios or methods");
    tv_time_add(&series->methods[place].size, value);
    if (values[4].kind == TV_SQL_IS_REAL) {
        struct changes_cell cell = {(uint32_t)group, place, column, values[4].real};
        changes_add_cell(series, &cell);
        series->is_prepared = true;
        return TV_OK;
    }
    series->is_full = series->value_count == series->max_values;
    if (series->is_full)
        return tv_fail(
            err, TV_ERR_LIMIT, TV_NO_OFFSET,
            "a method has more figures than fit into memory: choose traces with --where, "
            "or raise --max-memory");
    series->values = tv_array_reserve(series->values, &series->value_room, series->value_count + 1,
                                      sizeof *series->values);
    series->values[series->value_count++] = (struct tv_sort_key){
        changes_key(place, GROUP_BITS, (uint32_t)group, column), (uint64_t)value};
    return TV_OK;
}

/* Return the median of the logarithms of these values, whose members `index` have room for them. */
static double changes_log_median(struct tv_sort_key *values, size_t count)
{
    /* The logarithm keeps the order, so one or two of them are enough. */
    for (size_t i = 0; i < count; i++)
        values[i].key = values[i].index;
    if (count > 64)
        tv_sort_keys(values, count);
    for (size_t i = 1; i < count && count <= 64; i++) {
        uint64_t value = values[i].key;
        size_t at = i;
        for (; at > 0 && values[at - 1].key > value; at--)
            values[at].key = values[at - 1].key;
        values[at].key = value;
    }
    double low = log((double)values[(count - 1) / 2].key),
           high = log((double)values[count / 2].key);
    return (low + high) / 2;
}

/* Turn the values of some methods into cells, whose rows are the places of the methods; they follow
 * the cells of methods before these. */
static void changes_make_cells(struct changes_series *series)
{
    tv_sort_keys(series->values, series->value_count);
    for (size_t first = 0, end; first < series->value_count; first = end) {
        uint64_t key = series->values[first].key;
        for (end = first; end < series->value_count && series->values[end].key == key;)
            end++;
        struct changes_cell cell = {
            .group = (uint32_t)(key >> COLUMN_BITS) & ((1u << GROUP_BITS) - 1),
            .row = (uint32_t)(key >> (GROUP_BITS + COLUMN_BITS)),
            .column = (uint32_t)key & ((1u << COLUMN_BITS) - 1),
            .log = changes_log_median(&series->values[first], end - first),
        };
        changes_add_cell(series, &cell);
    }
    series->value_count = 0;
}

/* ---- The methods that get a series ---- */

/* Sort the cells by two members and the column. */
#define SORT_CELLS(series, high, bits, middle)                                                     \
    do {                                                                                           \
        struct tv_sort_key *keys = tv_alloc((series)->cell_count, sizeof *keys);                   \
        struct changes_cell *sorted = tv_alloc((series)->cell_count, sizeof *sorted);              \
        for (size_t i = 0; i < (series)->cell_count; i++) {                                        \
            const struct changes_cell *cell = &(series)->cells[i];                                 \
            keys[i] = (struct tv_sort_key){                                                        \
                changes_key(cell->high, bits, cell->middle, cell->column), i};                     \
        }                                                                                          \
        tv_sort_keys(keys, (series)->cell_count);                                                  \
        for (size_t i = 0; i < (series)->cell_count; i++)                                          \
            sorted[i] = (series)->cells[keys[i].index];                                            \
        tv_free(keys);                                                                             \
        tv_free((series)->cells);                                                                  \
        (series)->cells = sorted;                                                                  \
        (series)->cell_room = (series)->cell_count;                                                \
    } while (0)

/* Count the versions of each method; its cells lie together. */
static void changes_count_versions(struct changes_series *series)
{
    uint32_t *latest = tv_alloc(TV_FLEET_MAX_VERSIONS, sizeof *latest); /* place + 1 */
    for (size_t i = 0; i < series->cell_count; i++) {
        const struct changes_cell *cell = &series->cells[i];
        series->methods[cell->row].seen += latest[cell->column] != cell->row + 1;
        latest[cell->column] = cell->row + 1;
    }
    tv_free(latest);
}

static int changes_compare_methods(const void *left, const void *right)
{
    const struct changes_method *const *a = left, *const *b = right;
    if ((*a)->size != (*b)->size)
        return (*a)->size > (*b)->size ? -1 : 1;
    return (*a)->method < (*b)->method ? -1 : (*a)->method > (*b)->method;
}

/* Give rows to the methods that enough versions have, the largest first. */
static void changes_rank_methods(struct changes_series *series)
{
    struct changes_method **ranked = tv_alloc(series->method_count, sizeof(*ranked));
    uint32_t count = 0;
    for (size_t i = 0; i < series->method_count; i++)
        if (series->methods[i].seen >= TV_MIN_VERSIONS)
            ranked[count++] = &series->methods[i];
    qsort(ranked, count, sizeof(*ranked), changes_compare_methods);
    series->row_count = count < MAX_SERIES ? count : MAX_SERIES;
    series->rows = tv_alloc(series->row_count, sizeof *series->rows);
    for (uint32_t i = 0; i < series->row_count; i++) {
        ranked[i]->row = i;
        series->rows[i] = ranked[i]->method;
    }
    tv_free(ranked);
}

/* Choose the methods, and keep their cells only, sorted by group, row and column. */
static void changes_choose_methods(struct changes_series *series)
{
    size_t kept = 0;
    tv_free(series->values);
    series->values = NULL;
    if (series->is_prepared) /* they come in the order of versions */
        SORT_CELLS(series, row, GROUP_BITS, group);
    changes_count_versions(series);
    changes_rank_methods(series);
    for (size_t i = 0; i < series->cell_count; i++) {
        struct changes_cell cell = series->cells[i];
        cell.row = series->methods[cell.row].row;
        if (cell.row != TV_NONE)
            series->cells[kept++] = cell;
    }
    series->cell_count = kept;
    SORT_CELLS(series, group, METHOD_BITS, row);
    series->names.items =
        tv_alloc((size_t)series->row_count * CHANGES_FORMS, sizeof *series->names.items);
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

static struct tv_bytes changes_name(const struct changes_series *series, size_t method,
                                    unsigned form)
{
    return tv_interner_get(series->names.strings,
                           series->names.items[method * CHANGES_FORMS + form]);
}

/* Make the series out of the cells: sums become means, NAN without a cell. */
static void changes_make_series(struct changes_series *series)
{
    size_t versions = series->versions.count, size = versions * series->row_count;
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

static void changes_init_series(struct changes_series *series, const struct tv_settings *settings)
{
    uint64_t memory = settings->input.max_memory;
    size_t most = memory == TV_ANY_MEMORY
                      ? MAX_VALUES
                      : (size_t)(memory / VALUES_SHARE / sizeof *series->values);
    *series = (struct changes_series){.settings = settings, .max_values = most};
    series->versions.strings = series->names.strings = tv_interner_new();
    tv_map_init(&series->method_index);
}

static void changes_release_series(struct changes_series *series)
{
    tv_interner_free(series->versions.strings);
    tv_map_release(&series->method_index);
    tv_free(series->versions.items);
    tv_free(series->names.items);
    tv_free(series->began);
    tv_free(series->methods);
    tv_free(series->values);
    tv_free(series->cells);
    tv_free(series->rows);
    tv_free(series->sums);
    tv_free(series->counts);
}

/* Ask for the values of some methods, and turn them into cells. */
static enum tv_status changes_ask_values(struct tv_fleet_store *store,
                                         const struct tv_fleet_question *question,
                                         struct changes_series *series, struct tv_error *err)
{
    struct tv_out values;
    tv_out_init_memory(&values);
    enum tv_status status = tv_fleet_ask_values(&values, question, err);
    if (status == TV_OK)
        status = tv_sql_for_each_row(store->sql, tv_sql_end(&values), TV_FLEET_VALUE_COLUMNS,
                                     changes_take_value, series, err);
    if (status == TV_OK)
        changes_make_cells(series);
    tv_out_release(&values);
    return status;
}

/* Ask for the versions, and then for the values in them. */
static enum tv_status changes_ask_series(struct tv_fleet_store *store,
                                         const struct tv_fleet_question *asked,
                                         struct changes_series *series, struct tv_error *err)
{
    struct tv_out versions;
    struct tv_fleet_question question = *asked;
    tv_out_init_memory(&versions);
    enum tv_status status = tv_fleet_ask_series(&versions, &question, err);
    if (status == TV_OK)
        status = tv_sql_for_each_row(store->sql, tv_sql_end(&versions), 2, changes_take_version,
                                     series, err);
    do {
        if (status == TV_OK)
            status = changes_ask_values(store, &question, series, err);
    } while (status == TV_OK && ++question.part < question.parts);
    tv_out_release(&versions);
    return status;
}

/* Read all values; if a file is damaged, again without it, and if they are too many, in parts. */
static enum tv_status changes_read_values(struct tv_fleet_store *store,
                                          struct changes_series *series, struct tv_error *err)
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
    for (;;) {
        status = changes_ask_series(store, &question, series, err);
        bool again = series->is_full && question.parts < MAX_PARTS;
        if (again)
            question.parts = question.parts > 0 ? 4 * question.parts : 4;
        if (status == TV_OK)
            break;
        /* Prepared files are about the traces of before. */
        bool recovers = !again && tv_fleet_recover(store, err);
        if (recovers)
            question.prepared = NULL;
        if (!again && !recovers && !tv_fleet_drop_prepared(store, &question, err))
            break;
        changes_release_series(series);
        changes_init_series(series, settings);
    }
    tv_out_release(&files);
    return status;
}

static enum tv_status changes_read(struct tv_fleet_store *store, struct changes_series *series,
                                   struct tv_error *err)
{
    enum tv_status status = changes_read_values(store, series, err);
    if (status == TV_OK && series->versions.count < TV_MIN_VERSIONS) {
        const struct tv_fleet_settings *fleet = &store->settings->fleet;
        const struct tv_fleet_question question = {.by = fleet->by, .where = fleet->where};
        tv_fleet_stop_meter(store);
        tv_fleet_tell_unlabelled(store, &question);
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "changes need at least %u %s%s; the fleet has %zu (regressions compares "
                       "two)",
                       TV_MIN_VERSIONS, fleet->by ? "values of " : "versions",
                       fleet->by ? fleet->by : "", series->versions.count);
    }
    if (status != TV_OK)
        return status;
    changes_choose_methods(series);
    return tv_sql_for_each_row(store->sql, tv_fleet_series_methods, 1 + CHANGES_FORMS,
                               changes_take_name, series, err);
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
            tv_out_format(sql, ", (%zu, %" PRIu64 "::ubigint, %u, %.4f::double, %.2g::double)", i,
                          series->rows[point->row], point->column, exp(point->difference) - 1,
                          point->p);
    }
    tv_out_format(sql,
                  ") as point(place, method, number, change, p)) select %s as method, "
                  "v.label as version, p.change, p.p, v.began from point p "
                  "left join method_name k using (method) join version v on v.number = p.number "
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
        return tv_glob_matches(changes_name(series, method, 1), rule->pattern);
    return tv_glob_matches(changes_name(series, method, 0), rule->pattern) ||
           tv_glob_matches(changes_name(series, method, 2), rule->pattern) ||
           tv_glob_matches(changes_name(series, method, 3), rule->pattern);
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
    size_t matched = 0, count = series->row_count;
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
        struct tv_bytes name = changes_name(series, point->row, 0);
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
    if (settings->fleet.since > 0)
        series->since = tv_fleet_time_before(settings->fleet.since);
    tv_change_points_init(&points, series->sums, (uint32_t)series->row_count,
                          (uint32_t)series->versions.count);
    if (!settings->quiet)
        tv_message("traceview: %u %s in %zu %s%s; without a change, any line is here in at "
                   "most 1 of 100 cases",
                   points.judged, tv_plural(points.judged, "method", "methods"),
                   series->versions.count, settings->fleet.by ? "values of " : "versions",
                   settings->fleet.by ? settings->fleet.by : "");
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
    struct changes_series series;
    struct tv_fleet_store store;
    (void)command;
    changes_init_series(&series, settings);
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
    changes_release_series(&series);
    return status;
}

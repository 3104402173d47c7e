/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet_compare.c - questions to a fleet whose answers need statistics: `fleet regressions`
 * and `fleet flamegraph`.
 *
 *     DuckDB --> rows of each trace --> run table --> comparison, rules, reports (cmd_compare.c)
 *
 * A trace of the fleet is a run, as a file is one for `diff --base --new`.
 */
#include <assert.h>
#include <string.h>

#include "analysis/compare/change_flame.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "cli/commands/cmd_compare.h"
#include "cli/commands/cmd_fleet.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "fleet/fleet.h"
#include "writers/compare/compare_report.h"
#include "writers/compare/described_run.h"
#include "writers/stacks/flame_svg.h"

/* ---- Regressions ---- */

/* A trace as a run; the table wants its methods directly after it. */
struct fleet_run {
    struct tv_run run;
    uint32_t value, unit;  /* strings */
    uint32_t name, format; /* strings with a NUL */
};

/* The names of a method, as strings of the comparison. */
struct fleet_named {
    uint32_t class_name, category, name, signature;
};

struct fleet_compared_path {
    uint64_t path, caller; /* caller 0: none */
    uint32_t named;        /* place of the names of its method */
    uint32_t row;          /* of the table + 1; 0: none yet, TV_NONE: its callers are not known */
    bool known;
};

/* The figures of a path in a trace. */
struct fleet_cell {
    uint32_t run, place;
    struct tv_run_figures figures;
};

struct fleet_comparing {
    const struct tv_settings *settings;
    struct tv_interner *strings; /* names of the runs, which the table does not own */
    struct fleet_run *runs;
    size_t count, capacity;
    struct fleet_named *names; /* names of methods; of `regressions` in their order in the answer */
    size_t name_count, name_room;
    struct tv_map name_index;          /* method -> place in `names` */
    struct fleet_compared_path *paths; /* the largest first */
    size_t path_count;
    struct tv_map path_index; /* path -> place in `paths` */
    struct fleet_cell *cells; /* of paths */
    size_t cell_count, cell_room;
    size_t begun; /* runs that the table has */
    size_t sides[2];
    struct tv_run_table *table;
    bool has_lengths; /* of calls */
    struct tv_fleet_store store;
};

/* Keep a text with a NUL, as texts of files do not have one. */
static uint32_t fleet_keep_text(struct fleet_comparing *comparing, struct tv_bytes text)
{
    struct tv_out copy;
    tv_out_init_memory(&copy);
    tv_out_bytes(&copy, text);
    tv_out_char(&copy, '\0');
    uint32_t string =
        tv_interner_add(comparing->strings, (struct tv_bytes){copy.buffer, copy.length});
    tv_out_release(&copy);
    return string;
}

/* Return such a text, which may move when others are added. */
static const char *fleet_kept_text(const struct fleet_comparing *comparing, uint32_t string)
{
    return (const char *)tv_interner_get(comparing->strings, string).data;
}

static enum tv_status fleet_take_run(void *context, const struct tv_sql_value *values,
                                     struct tv_error *err)
{
    struct fleet_comparing *comparing = context;
    (void)err;
    bool fresh = tv_fleet_value_integer(&values[0]) != 0;
    struct tv_bytes clocks = tv_fleet_value_text(&values[3]);
    bool cpu = tv_bytes_compare(clocks, TV_BYTES("thread-cpu")) == 0;
    bool dual = tv_bytes_compare(clocks, TV_BYTES("dual")) == 0;
    int64_t round = tv_fleet_value_integer(&values[9]);
    struct fleet_run run = {
        .run = {.side = fresh ? TV_RUN_NEW : TV_RUN_BASE,
                .recorded_us = tv_fleet_value_integer(&values[2]),
                .round = round > 0 && round < UINT32_MAX ? (uint32_t)round : 0,
                .recording = tv_run_hash_label(tv_fleet_value_text(&values[8])),
                .boot = tv_run_hash_label(tv_fleet_value_text(&values[10])),
                .total_wall = tv_fleet_value_integer(&values[12]),
                .total_cpu = tv_fleet_value_integer(&values[13]),
                .clocks = dual  ? TV_CLOCK_WALL | TV_CLOCK_CPU
                          : cpu ? TV_CLOCK_CPU
                                : TV_CLOCK_WALL,
                .sampled = tv_fleet_value_integer(&values[4]) != 0,
                .weighs = tv_fleet_value_integer(&values[5]) != 0,
                .no_calls = tv_fleet_value_integer(&values[5]) != 0 ||
                            tv_fleet_value_integer(&values[11]) == 0,
                .clock_cost = tv_fleet_value_integer(&values[15]),
                .interval = tv_fleet_value_integer(&values[16]),
                .obfuscated = tv_fleet_value_integer(&values[17]) != 0,
                .native = tv_fleet_value_integer(&values[18]) != 0},
        .value = tv_interner_add(comparing->strings, tv_fleet_value_text(&values[6])),
        .unit = tv_interner_add(comparing->strings, tv_fleet_value_text(&values[7])),
        .name = fleet_keep_text(comparing, tv_fleet_value_text(&values[1])),
        .format = fleet_keep_text(comparing, tv_fleet_value_text(&values[14])),
    };
    comparing->runs = tv_array_reserve(comparing->runs, &comparing->capacity, comparing->count + 1,
                                       sizeof *comparing->runs);
    comparing->runs[comparing->count++] = run;
    comparing->sides[fresh]++;
    return TV_OK;
}

/* Begin runs of the table up to a number. */
static void fleet_begin_runs(struct fleet_comparing *comparing, size_t end)
{
    while (comparing->begun < end && comparing->begun < comparing->count) {
        struct fleet_run *one = &comparing->runs[comparing->begun++];
        one->run.name = fleet_kept_text(comparing, one->name);
        one->run.format = fleet_kept_text(comparing, one->format);
        if (one->run.format[0] == '\0')
            one->run.format = NULL;
        tv_run_table_begin_run(comparing->table, &one->run,
                               tv_interner_get(comparing->strings, one->value),
                               tv_interner_get(comparing->strings, one->unit));
    }
}

/* ---- Names ---- */

/* Return the place of the names of a method, which may follow. */
static uint32_t fleet_place_name(struct fleet_comparing *comparing, uint64_t method)
{
    uint32_t place = tv_map_add(&comparing->name_index, method, (uint32_t)comparing->name_count);
    if (place == comparing->name_count) {
        comparing->names = tv_array_reserve(comparing->names, &comparing->name_room,
                                            comparing->name_count + 1, sizeof *comparing->names);
        comparing->names[comparing->name_count++] = (struct fleet_named){0};
    }
    return place;
}

/* Take the names of a method that has a place. */
static enum tv_status fleet_take_name(void *context, const struct tv_sql_value *values,
                                      struct tv_error *err)
{
    struct fleet_comparing *comparing = context;
    struct tv_interner *strings = comparing->strings;
    (void)err;
    uint32_t place = tv_map_find(&comparing->name_index, tv_fleet_value_key(&values[0]));
    if (place != TV_NONE)
        comparing->names[place] = (struct fleet_named){
            .class_name = tv_interner_add(strings, tv_fleet_value_text(&values[1])),
            .category = tv_interner_add(strings, tv_fleet_value_text(&values[2])),
            .name = tv_interner_add(strings, tv_fleet_value_text(&values[3])),
            .signature = tv_interner_add(strings, tv_fleet_value_text(&values[4])),
        };
    return TV_OK;
}

static enum tv_status fleet_take_new_name(void *context, const struct tv_sql_value *values,
                                          struct tv_error *err)
{
    (void)fleet_place_name(context, tv_fleet_value_key(&values[0]));
    return fleet_take_name(context, values, err);
}

/* Return a method of the table with these names, and without figures. */
static struct tv_run_method fleet_name_method(const struct fleet_comparing *comparing,
                                              uint32_t place)
{
    const struct tv_interner *strings = comparing->strings;
    const struct fleet_named *names = &comparing->names[place];
    return (struct tv_run_method){
        .class_name = tv_interner_get(strings, names->class_name),
        .category = tv_interner_get(strings, names->category),
        .name = tv_interner_get(strings, names->name),
        .signature = tv_interner_get(strings, names->signature),
    };
}

/* ---- Methods ---- */

static enum tv_status fleet_take_method(void *context, const struct tv_sql_value *values,
                                        struct tv_error *err)
{
    struct fleet_comparing *comparing = context;
    (void)err;
    fleet_begin_runs(comparing, (size_t)tv_fleet_value_integer(&values[0]) + 1);
    struct tv_run_lengths lengths = {.known = true};
    for (size_t i = 0; i < TV_LENGTHS; i++) {
        bool known = values[7 + i].kind != TV_SQL_IS_NULL;
        lengths.wall[i] = known ? tv_fleet_value_integer(&values[7 + i]) : -1;
        lengths.cpu[i] = -1;
    }
    uint32_t place = (uint32_t)tv_fleet_value_integer(&values[1]);
    assert(place < comparing->name_count);
    struct tv_run_method method = fleet_name_method(comparing, place);
    method.figures = (struct tv_run_figures){.incl_wall = tv_fleet_value_integer(&values[2]),
                                             .excl_wall = tv_fleet_value_integer(&values[3]),
                                             .incl_cpu = tv_fleet_value_integer(&values[4]),
                                             .excl_cpu = tv_fleet_value_integer(&values[5]),
                                             .calls = (uint64_t)tv_fleet_value_integer(&values[6]) &
                                                      TV_MAX_RUN_CALLS,
                                             .known = true};
    method.lengths = comparing->has_lengths ? &lengths : NULL;
    tv_run_table_add_method(comparing->table, &method);
    return TV_OK;
}

static enum tv_status fleet_read_methods(struct fleet_comparing *comparing, struct tv_error *err)
{
    struct tv_sql *sql = comparing->store.sql;
    enum tv_status status = tv_sql_for_each_row(sql, tv_fleet_run_names, TV_FLEET_NAME_COLUMNS,
                                                fleet_take_new_name, comparing, err);
    if (status != TV_OK)
        return status;
    return tv_sql_for_each_row(sql, tv_fleet_run_methods, TV_FLEET_METHOD_COLUMNS,
                               fleet_take_method, comparing, err);
}

/* ---- Call paths ---- */

/* Add the row of a path below that of its caller. */
static void fleet_add_path_row(struct fleet_comparing *comparing, struct fleet_compared_path *path,
                               uint32_t caller)
{
    struct tv_run_method method = fleet_name_method(comparing, path->named);
    path->row = tv_run_table_add_path(comparing->table, caller, &method) + 1;
}

/* Add the row of a path and those of its callers, which come first.  Paths that lack a caller, and
 * those of a damaged file that call themselves, get none.  `chain` has room for all paths. */
static void fleet_place_path(struct fleet_comparing *comparing, uint32_t place, uint32_t *chain)
{
    size_t count = 0;
    uint32_t caller = 0;
    for (uint32_t at = place; caller == 0;) {
        struct fleet_compared_path *path = &comparing->paths[at];
        if (path->row != 0) {
            caller = path->row;
            break;
        }
        if (count == comparing->path_count) {
            caller = TV_NONE;
            break;
        }
        chain[count++] = at;
        if (path->caller == 0)
            break;
        at = tv_map_find(&comparing->path_index, path->caller);
        if (at == TV_NONE)
            caller = TV_NONE;
    }
    while (count > 0) {
        struct fleet_compared_path *path = &comparing->paths[chain[--count]];
        if (caller == TV_NONE)
            path->row = TV_NONE;
        else
            fleet_add_path_row(comparing, path, caller);
        caller = path->row;
    }
}

static enum tv_status fleet_take_cell(void *context, const struct tv_sql_value *values,
                                      struct tv_error *err)
{
    struct fleet_comparing *comparing = context;
    struct fleet_cell cell = {
        .run = (uint32_t)tv_fleet_value_integer(&values[0]),
        .place = (uint32_t)tv_fleet_value_integer(&values[1]),
        .figures = {.calls = (uint64_t)tv_fleet_value_integer(&values[5]) & TV_MAX_RUN_CALLS,
                    .incl_wall = tv_fleet_value_integer(&values[6]),
                    .excl_wall = tv_fleet_value_integer(&values[7]),
                    .incl_cpu = tv_fleet_value_integer(&values[8]),
                    .excl_cpu = tv_fleet_value_integer(&values[9]),
                    .known = true}};
    (void)err;
    assert(cell.run < comparing->count && cell.place < TV_FLEET_MAX_PATHS);
    struct fleet_compared_path *path = &comparing->paths[cell.place];
    if (!path->known) {
        *path = (struct fleet_compared_path){
            .path = tv_fleet_value_key(&values[2]),
            .caller = tv_fleet_value_key(&values[3]),
            .named = fleet_place_name(comparing, tv_fleet_value_key(&values[4])),
            .known = true};
        tv_map_set(&comparing->path_index, path->path, cell.place);
        if (cell.place >= comparing->path_count)
            comparing->path_count = (size_t)cell.place + 1;
    }
    comparing->cells = tv_array_reserve(comparing->cells, &comparing->cell_room,
                                        comparing->cell_count + 1, sizeof *comparing->cells);
    comparing->cells[comparing->cell_count++] = cell;
    return TV_OK;
}

/* Add the rows of all paths, the largest first, and then the figures. */
static void fleet_place_paths(struct fleet_comparing *comparing)
{
    uint32_t *chain = tv_alloc(comparing->path_count, sizeof *chain);
    for (size_t i = 0; i < comparing->path_count; i++)
        fleet_place_path(comparing, (uint32_t)i, chain);
    tv_free(chain);
    fleet_begin_runs(comparing, comparing->count);
    for (size_t i = 0; i < comparing->cell_count; i++) {
        const struct fleet_cell *cell = &comparing->cells[i];
        uint32_t row = comparing->paths[cell->place].row;
        if (row != TV_NONE)
            tv_run_table_add_path_figures(comparing->table, row - 1, cell->run, &cell->figures);
    }
}

static enum tv_status fleet_read_paths(struct fleet_comparing *comparing, struct tv_error *err)
{
    struct tv_sql *sql = comparing->store.sql;
    struct tv_out query;
    tv_out_init_memory(&query);
    tv_fleet_ask_cells(&query);
    comparing->paths = tv_alloc(TV_FLEET_MAX_PATHS, sizeof *comparing->paths);
    enum tv_status status = tv_sql_for_each_row(sql, tv_sql_end(&query), TV_FLEET_CELL_COLUMNS,
                                                fleet_take_cell, comparing, err);
    tv_out_release(&query);
    if (status == TV_OK && comparing->path_count == 0)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                         "the fleet has no call paths of these traces: they were added with "
                         "--paths none");
    if (status == TV_OK)
        status = tv_sql_for_each_row(sql, tv_fleet_all_names, TV_FLEET_NAME_COLUMNS,
                                     fleet_take_name, comparing, err);
    if (status == TV_OK)
        fleet_place_paths(comparing);
    return status;
}

/* ---- Both ---- */

/* Read the traces, and then their methods or paths. */
static enum tv_status fleet_read_sides(struct fleet_comparing *comparing, const char *query,
                                       struct tv_error *err)
{
    const struct tv_fleet_settings *fleet = &comparing->settings->fleet;
    enum tv_status status = tv_sql_for_each_row(comparing->store.sql, query, TV_FLEET_RUN_COLUMNS,
                                                fleet_take_run, comparing, err);
    for (size_t side = 0; side < 2 && status == TV_OK; side++)
        if (comparing->sides[side] == 0)
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                             "--%s: the fleet has no trace of %s: `traceview fleet sql 'select "
                             "version, device, scenario, count(*) as traces from trace group by "
                             "all' --to %s` lists what it has",
                             side == 0 ? "base" : "new", side == 0 ? fleet->base : fleet->fresh,
                             fleet->to);
    if (status == TV_OK && comparing->table->by == TV_ROWS_BY_PATH)
        status = fleet_read_paths(comparing, err);
    else if (status == TV_OK)
        status = fleet_read_methods(comparing, err);
    fleet_begin_runs(comparing, comparing->count);
    return status;
}

/* Free what was read of both sides. */
static void fleet_release_sides(struct fleet_comparing *comparing)
{
    tv_map_release(&comparing->name_index);
    tv_map_release(&comparing->path_index);
    tv_interner_free(comparing->strings);
    tv_free(comparing->runs);
    tv_free(comparing->names);
    tv_free(comparing->paths);
    tv_free(comparing->cells);
}

static void fleet_begin_sides(struct fleet_comparing *comparing)
{
    comparing->strings = tv_interner_new();
    tv_map_init(&comparing->name_index);
    tv_map_init(&comparing->path_index);
}

/* Forget all that was read, to read it again. */
static void fleet_forget_sides(struct fleet_comparing *comparing)
{
    struct tv_run_table *table = comparing->table;
    const enum tv_rows_by by = table->by;
    const enum tv_names_match names = table->names;
    tv_run_table_release(table);
    tv_run_table_init(table, by, names);
    fleet_release_sides(comparing);
    *comparing = (struct fleet_comparing){.settings = comparing->settings,
                                          .table = table,
                                          .has_lengths = comparing->has_lengths,
                                          .store = comparing->store};
    fleet_begin_sides(comparing);
}

/* Read both sides; if a file is damaged, again without its traces. */
static enum tv_status fleet_ask_sides(struct fleet_comparing *comparing, struct tv_error *err)
{
    const struct tv_fleet_settings *fleet = &comparing->settings->fleet;
    struct tv_fleet_sides sides = {fleet->base, fleet->fresh, fleet->where,
                                   comparing->table->by == TV_ROWS_BY_PATH, comparing->has_lengths};
    struct tv_out query;
    tv_out_init_memory(&query);
    enum tv_status status = tv_fleet_ask_runs(&query, &sides, err);
    tv_out_char(&query, '\0');
    for (bool asks = status == TV_OK; asks;) {
        status = fleet_read_sides(comparing, (const char *)query.buffer, err);
        asks = status != TV_OK && tv_fleet_recover(&comparing->store, err);
        if (asks)
            fleet_forget_sides(comparing);
    }
    tv_out_release(&query);
    return status;
}

/* Fill the table of runs (tv_compare_fill). */
static enum tv_status fleet_fill_runs(void *context, struct tv_run_table *rows, bool has_lengths,
                                      struct tv_error *err)
{
    struct fleet_comparing *comparing = context;
    comparing->table = rows;
    comparing->has_lengths = has_lengths;
    enum tv_status status = tv_fleet_open(&comparing->store, comparing->settings, err);
    if (status == TV_OK)
        status = fleet_ask_sides(comparing, err);
    tv_fleet_stop_meter(&comparing->store);
    if (status == TV_OK)
        tv_run_table_match(rows);
    return status;
}

/* The settings of `diff` for the same question. */
static struct tv_settings fleet_settings_of_diff(const struct tv_settings *settings)
{
    /* In the order of FLEET_FORMATS and TV_FLEET_FIGURES. */
    static const enum tv_compare_format formats[] = {
        TV_COMPARE_TEXT,     TV_COMPARE_CSV,      TV_COMPARE_JSON,     TV_COMPARE_JSON,
        TV_COMPARE_MARKDOWN, TV_COMPARE_MARKDOWN, TV_COMPARE_MARKDOWN, TV_COMPARE_JUNIT,
        TV_COMPARE_SARIF,    TV_COMPARE_GITHUB,   TV_COMPARE_GITLAB,   TV_COMPARE_SVG};
    static const struct {
        enum tv_run_figure figure;
        enum tv_clock_choice clock;
    } figures[] = {
        {TV_FIGURE_EXCL, TV_CHOICE_ANY},  {TV_FIGURE_INCL, TV_CHOICE_ANY},
        {TV_FIGURE_EXCL, TV_CHOICE_CPU},  {TV_FIGURE_INCL, TV_CHOICE_CPU},
        {TV_FIGURE_CALLS, TV_CHOICE_ANY}, {TV_FIGURE_MAX, TV_CHOICE_WALL},
        {TV_FIGURE_P50, TV_CHOICE_WALL},  {TV_FIGURE_P95, TV_CHOICE_WALL},
        {TV_FIGURE_P99, TV_CHOICE_WALL},
    };
    struct tv_settings own = *settings;
    assert(settings->table.format < TV_COUNT(formats));
    own.table.format = formats[settings->table.format];
    if (settings->sql.max_rows > 0)
        own.table.limit = settings->sql.max_rows;
    own.compare.figure = figures[settings->fleet.figure].figure;
    own.clock = figures[settings->fleet.figure].clock;
    return own;
}

enum tv_status tv_fleet_regressions(const struct tv_command *command,
                                    const struct tv_settings *settings, int *code,
                                    struct tv_error *err)
{
    (void)err; /* told by the comparison */
    struct fleet_comparing comparing = {.settings = settings};
    struct tv_settings own = fleet_settings_of_diff(settings);
    fleet_begin_sides(&comparing);
    *code = tv_compare_run_rows(command, &own, fleet_fill_runs, &comparing);
    tv_fleet_close(&comparing.store, code);
    fleet_release_sides(&comparing);
    return TV_OK;
}

/* ---- The differential flame graph ---- */

/* Maximum number of frames in JSON, as in the viewer. */
#define FLEET_MAX_FRAMES 20000u

/* Write the graph of a matched table of paths. */
static enum tv_status fleet_write_graph(const struct fleet_comparing *comparing,
                                        struct tv_error *err)
{
    const struct tv_settings *settings = comparing->settings;
    const struct tv_settings own = fleet_settings_of_diff(settings);
    bool json = settings->table.format == TV_SQL_JSON;
    struct tv_comparison comparison;
    struct tv_change_flame graph;
    struct tv_output output;
    struct tv_out title;
    struct tv_comparison_options options = {
        .figure = own.compare.figure < TV_FIGURE_MEAN ? own.compare.figure : TV_FIGURE_EXCL,
        .least_share = (double)own.compare.min_share / 1e8,
        .clock = own.clock == TV_CHOICE_CPU ? TV_COMPARE_CPU : TV_COMPARE_BEST_CLOCK,
    };
    enum tv_status status = tv_comparison_init(&comparison, comparing->table, &options, err);
    if (status != TV_OK)
        return status;
    tv_change_flame_init_bounded(&graph, &comparison, TV_WIDTH_LARGER,
                                 json ? 0.0001 : 0.1 / TV_FLAME_SVG_INNER, FLEET_MAX_FRAMES);
    tv_out_init_memory(&title);
    tv_out_format(&title, "%s -> %s", settings->fleet.base, settings->fleet.fresh);
    tv_out_char(&title, '\0');
    struct tv_compare_report report = {.comparison = &comparison,
                                       .graph = &graph,
                                       .json_frames = json,
                                       .title = (const char *)title.buffer};
    status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status == TV_OK) {
        tv_compare_report_write(&output.out, &report, json ? TV_COMPARE_JSON : TV_COMPARE_SVG);
        status = tv_output_finish(&output, TV_OK, err);
    }
    tv_out_release(&title);
    tv_change_flame_release(&graph);
    tv_comparison_release(&comparison);
    return status;
}

enum tv_status tv_fleet_flamegraph(const struct tv_command *command,
                                   const struct tv_settings *settings, int *code,
                                   struct tv_error *err)
{
    struct fleet_comparing comparing = {.settings = settings};
    struct tv_run_table rows;
    (void)command;
    fleet_begin_sides(&comparing);
    tv_run_table_init(&rows, TV_ROWS_BY_PATH, TV_NAMES_SIMILAR);
    enum tv_status status = fleet_fill_runs(&comparing, &rows, false, err);
    if (status == TV_OK)
        status = fleet_write_graph(&comparing, err);
    tv_run_table_release(&rows);
    tv_fleet_close(&comparing.store, code);
    fleet_release_sides(&comparing);
    return status;
}

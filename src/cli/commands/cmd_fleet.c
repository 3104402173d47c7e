/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fleet.c - `fleet`: figures of many traces in a folder of Parquet files,
 * or in ClickHouse (docs/fleet.md).
 *
 *     add, rows           read traces, in the sandbox (cmd_fleet_add.c)
 *     sql, trend, ...     ask the folder with DuckDB, which may read the files in it alone;
 *                         cmd_fleet_compare.c and cmd_fleet_changes.c have those with statistics
 *
 *     add:  FILE --> hash of its bytes --> known: skipped
 *                                      '-> new: trace --> rows --> batch, written when full
 *
 * `add` makes the folder and lists the traces in it before it enters the
 * sandbox; the files of the folder are cmd_fleet_files.c's, and
 * cmd_fleet_server.h has what is done with a server.
 *
 * Actions are a table (fleet_actions): what arguments and options each takes,
 * and the function that does it.  Options that an action does not heed are left
 * out of its help, and refused.
 */
#include "cli/commands/cmd_fleet_server.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/input/expand.h"
#include "cli/output/output.h"
#include "fleet/fleet.h"
#include "sql/duckdb.h"
#include "sql/sql.h"
#include "writers/text/names.h"

#define LONGEST_FOLDER (PATH_MAX - 64)

/* The first ones in the order of enum tv_sql_format; then come those of `diff`. */
#define FLEET_SQL_FORMATS "table|csv|json|jsonl|markdown|parquet|chart"
#define FLEET_FORMATS FLEET_SQL_FORMATS "|junit|sarif|github|gitlab|svg|rowbinary"

#define FLEET_TABLES "trace|method|method_name|path|thread|sample|finding|frame|slice"

static const struct tv_option fleet_options[] = {
    TV_OPTION("to", "FOLDER|URL", TV_OPTION_TEXT, fleet.to,
              "the folder of the fleet (default: fleet, in the current folder), or a ClickHouse "
              "server: clickhouse+http://HOST:PORT/DATABASE"),
    TV_OPTION("label", "KEY=VALUE", TV_OPTION_LIST, fleet.labels,
              "add: a label of these traces: version, commit, device, scenario, side or any other "
              "(repeatable)"),
    TV_OPTION("labels-from", "FILE", TV_OPTION_TEXT, fleet.labels_from,
              "add, rows: labels from a CSV table: a column `file`, and one for each label"),
    TV_OPTION(
        "paths", "SHARE", TV_OPTION_TEXT, fleet.paths,
        "add, rows: leave out call paths beyond this share of a trace, or 'none' for no paths "
        "(default: 99.9%)"),
    TV_OPTION("names", "PATTERN", TV_OPTION_LIST, fleet.names,
              "add, rows: a row for each slice whose name matches, * being any text (repeatable)"),
    TV_OPTION("table", FLEET_TABLES, TV_OPTION_CHOICE, fleet.table,
              "rows: the table to write (default: trace)"),
    TV_OPTION("by", "LABEL", TV_OPTION_TEXT, fleet.by,
              "trend, trends, changes: one row for each value of this label (default: version)"),
    TV_OPTION("figure", TV_FLEET_FIGURES, TV_OPTION_CHOICE, fleet.figure,
              "of all but sql and which: what to compare, in ns or calls (default: excl)"),
    TV_OPTION("where", "KEY=VALUE...", TV_OPTION_TEXT, fleet.where,
              "of all questions but sql: only traces with these labels, with blanks between them"),
    TV_OPTION("base", "KEY=VALUE...", TV_OPTION_TEXT, fleet.base,
              "regressions, flamegraph: the traces to compare with, by their labels"),
    TV_OPTION("new", "KEY=VALUE...", TV_OPTION_TEXT, fleet.fresh,
              "regressions, flamegraph: the traces that may have changed"),
    TV_OPTION("since", "TIME", TV_OPTION_AGE, fleet.since,
              "changes: only since versions of this time, for example 90d (default: all)"),
    TV_OPTION("keep", "TIME", TV_OPTION_AGE, fleet.keep,
              "expire: traces that are not older than this, for example 180d"),
    TV_OPTION("fail-if", "RULE", TV_OPTION_LIST, compare.fail_if,
              "regressions, changes: exit with 3 if the rule fires, as in diff (repeatable)"),
    TV_OPTION("rules", "FILE", TV_OPTION_TEXT, compare.rules, "regressions: rules from a file"),
    TV_OPTION("allow-none", NULL, TV_OPTION_FLAG, compare.allow_none,
              "a rule whose pattern matches nothing does not fire (default: exit with 2)"),
    TV_OPTION("no-total", NULL, TV_OPTION_FLAG, compare.no_total,
              "do not test the total beside the rules"),
    TV_OPTION("min-share", "P", TV_OPTION_PERCENT, compare.min_share,
              "test only methods with this share of the total or more (default: 0.05%)"),
    TV_OPTION("report", "FORMAT=FILE", TV_OPTION_LIST, compare.reports,
              "regressions: write another report, in any of its formats (repeatable)"),
    TV_OPTION("format", FLEET_FORMATS, TV_OPTION_CHOICE, table.format,
              "output format (default: table; of rows: jsonl; of flamegraph: svg)"),
    TV_OPTION("max-rows", "N", TV_OPTION_COUNT, sql.max_rows,
              "write at most N rows (default: all)"),
    TV_OPTION("max-time", "TIME", TV_OPTION_SECONDS, sql.max_time,
              "stop a query that runs longer, for example 10s (default: never)"),
    TV_OPTIONS_SCREEN,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Names of the choices of --figure, in their order. */
static const char *const fleet_figures[] = {"excl", "incl", "excl_cpu", "incl_cpu", "calls",
                                            "max",  "p50",  "p95",      "p99"};

/* ---- Asking ---- */

const char *tv_fleet_figure(const struct tv_settings *settings)
{
    return fleet_figures[settings->fleet.figure];
}

const char *tv_fleet_figure_name(unsigned number)
{
    return number < TV_COUNT(fleet_figures) ? fleet_figures[number] : NULL;
}

/* Answer a query over the folder. */
static enum tv_status fleet_answer(const struct tv_settings *settings, const char *query, int *code,
                                   struct tv_error *err)
{
    struct tv_fleet_store store;
    enum tv_status status = tv_fleet_open(&store, settings, err);
    if (status == TV_OK)
        status = tv_fleet_write_answer(&store, query, err);
    tv_fleet_close(&store, code);
    return status;
}

/* sql: the query is the argument. */
static enum tv_status fleet_sql(const struct tv_command *command,
                                const struct tv_settings *settings, int *code, struct tv_error *err)
{
    (void)command;
    return fleet_answer(settings, settings->files.items[0], code, err);
}

/* Append a name to the list in the context. */
static enum tv_status fleet_take_name(void *context, const struct tv_sql_value *values,
                                      struct tv_error *err)
{
    struct tv_out *names = context;
    (void)err;
    tv_out_text(names, names->length > 0 ? " or " : "");
    tv_names_line(names, values[0].text);
    return TV_OK;
}

/* Does any trace of the fleet have the method? */
static bool fleet_has_method(struct tv_fleet_store *store, const char *method)
{
    struct tv_error ignored = {0}; /* the question itself was answered */
    struct tv_out query;
    uint64_t count;
    tv_out_init_memory(&query);
    tv_fleet_ask_named(&query, method);
    enum tv_status status = tv_fleet_read_number(store->sql, tv_sql_end(&query), &count, &ignored);
    tv_out_release(&query);
    return status == TV_OK && count > 0;
}

/* An answer about a method has no rows: its name may be misspelled, or no trace have the labels. */
static void fleet_tell_unknown_method(struct tv_fleet_store *store)
{
    const struct tv_settings *settings = store->settings;
    const char *where = settings->fleet.where, *method = settings->files.items[0];
    struct tv_error ignored = {0}; /* the question itself was answered */
    struct tv_out query, names;
    if (fleet_has_method(store, method)) {
        tv_message("traceview: the fleet has a method named '%s', but the answer has no trace "
                   "of it%s%s",
                   method, where ? ": none has " : "", where ? where : "");
        return;
    }
    tv_out_init_memory(&query);
    tv_out_init_memory(&names);
    tv_fleet_ask_similar(&query, method);
    enum tv_status status =
        tv_sql_for_each_row(store->sql, tv_sql_end(&query), 1, fleet_take_name, &names, &ignored);
    if (status == TV_OK && names.length > 0)
        tv_message("traceview: no trace%s%s has a method named '%s'; the fleet has %.*s",
                   where ? " with " : "", where ? where : "", method, (int)names.length,
                   (const char *)names.buffer);
    else
        tv_message("traceview: no trace%s%s has a method named '%s': `traceview fleet trends "
                   "--to %s` lists the largest ones",
                   where ? " with " : "", where ? where : "", method, settings->fleet.to);
    tv_out_release(&names);
    tv_out_release(&query);
}

/* Units, as "ns of 3 traces, bytes of 1 trace". */
struct fleet_units {
    struct tv_out text;
    size_t count;
};

/* Append a unit to the list in the context. */
static enum tv_status fleet_take_unit(void *context, const struct tv_sql_value *values,
                                      struct tv_error *err)
{
    struct fleet_units *units = context;
    uint64_t count = tv_fleet_value_key(&values[1]);
    (void)err;
    tv_out_text(&units->text, units->count++ > 0 ? ", " : "");
    tv_names_line(&units->text, values[0].text);
    tv_out_format(&units->text, " of %" PRIu64 " %s", count,
                  tv_plural((size_t)count, "trace", "traces"));
    return TV_OK;
}

/* Say that the figures of an answer have several units, such as times of calls and weights of
 * samples of one method: their median is no figure of either. */
static void fleet_tell_units(struct tv_fleet_store *store, const struct tv_fleet_question *question)
{
    struct tv_error ignored = {0}; /* the question itself was answered */
    struct fleet_units units = {.count = 0};
    struct tv_out query;
    uint64_t count = 0;
    tv_out_init_memory(&query);
    tv_out_init_memory(&units.text);
    enum tv_status status = tv_fleet_ask_all_units(&query, question, &ignored);
    if (status == TV_OK)
        status = tv_fleet_read_number(store->sql, tv_sql_end(&query), &count, &ignored);
    query.length = 0;
    if (status == TV_OK && count > 1)
        status = tv_fleet_ask_units(&query, question, &ignored);
    if (status == TV_OK && count > 1)
        status = tv_sql_for_each_row(store->sql, tv_sql_end(&query), 2, fleet_take_unit, &units,
                                     &ignored);
    if (status == TV_OK && units.count > 1)
        tv_message("traceview: these figures have several units: %.*s; ask for one with --where "
                   "'format=NAME', or for each with --by unit",
                   (int)units.text.length, (const char *)units.text.buffer);
    tv_out_release(&units.text);
    tv_out_release(&query);
}

/* May the figures of an answer have several units?  Numbers of calls have none, and these groups
 * part them. */
static bool fleet_may_mix_units(const struct tv_fleet_question *question)
{
    const char *grouped = question->by ? question->by : "version";
    return strcmp(question->figure, "calls") != 0 && strcmp(grouped, "unit") != 0 &&
           strcmp(grouped, "format") != 0;
}

/* Ask a question about a method, which `put` writes as SQL. */
static enum tv_status fleet_ask_question(const struct tv_settings *settings,
                                         enum tv_status (*put)(struct tv_out *,
                                                               const struct tv_fleet_question *,
                                                               struct tv_error *),
                                         int *code, struct tv_error *err)
{
    struct tv_fleet_question question = {
        .method = settings->files.count > 0 ? settings->files.items[0] : NULL,
        .by = settings->fleet.by,
        .where = settings->fleet.where,
        .figure = fleet_figures[settings->fleet.figure],
    };
    struct tv_fleet_store store;
    struct tv_out query;
    tv_out_init_memory(&query);
    enum tv_status status = put(&query, &question, err);
    if (status == TV_OK) {
        status = tv_fleet_open(&store, settings, err);
        if (status == TV_OK)
            status = tv_fleet_write_answer(&store, tv_sql_end(&query), err);
        if (status == TV_OK && store.rows == 0 && !settings->quiet)
            fleet_tell_unknown_method(&store);
        else if (status == TV_OK && !settings->quiet && fleet_may_mix_units(&question))
            fleet_tell_units(&store, &question);
        tv_fleet_close(&store, code);
    }
    tv_out_release(&query);
    return status;
}

/* trend: the figure of one method by a label. */
static enum tv_status fleet_trend(const struct tv_command *command,
                                  const struct tv_settings *settings, int *code,
                                  struct tv_error *err)
{
    (void)command;
    return fleet_ask_question(settings, tv_fleet_ask_trend, code, err);
}

void tv_fleet_tell_unlabelled(struct tv_fleet_store *store,
                              const struct tv_fleet_question *question)
{
    struct tv_error ignored = {0}; /* the question itself was answered */
    struct tv_out query;
    uint64_t count = 0;
    const char *label = question->by ? question->by : "version";
    tv_out_init_memory(&query);
    enum tv_status status = tv_fleet_ask_unlabelled(&query, question, &ignored);
    if (status == TV_OK)
        status = tv_fleet_read_number(store->sql, tv_sql_end(&query), &count, &ignored);
    if (status == TV_OK && count > 0 && !store->settings->quiet)
        tv_message("traceview: %" PRIu64 " %s no label '%s': add them with `--label %s=VALUE` to a "
                   "new fleet, or choose another label with --by",
                   count, tv_plural((size_t)count, "trace has", "traces have"), label, label);
    tv_out_release(&query);
}

static enum tv_status fleet_write_trends(struct tv_fleet_store *store,
                                         const struct tv_fleet_question *question,
                                         struct tv_error *err)
{
    struct tv_out query;
    tv_out_init_memory(&query);
    enum tv_status status = tv_fleet_ask_trends(&query, question, err);
    if (status == TV_OK)
        status = tv_fleet_write_answer(store, tv_sql_end(&query), err);
    tv_out_release(&query);
    return status;
}

/* trends: medians of the largest methods by a label. */
static enum tv_status fleet_trends(const struct tv_command *command,
                                   const struct tv_settings *settings, int *code,
                                   struct tv_error *err)
{
    struct tv_fleet_question question = {
        .by = settings->fleet.by,
        .where = settings->fleet.where,
        .figure = fleet_figures[settings->fleet.figure],
    };
    struct tv_fleet_store store;
    struct tv_out files;
    (void)command;
    tv_out_init_memory(&files);
    enum tv_status status = tv_fleet_open(&store, settings, err);
    if (status == TV_OK) {
        tv_fleet_find_prepared(&store, &question, &files);
        do
            status = fleet_write_trends(&store, &question, err);
        while (status != TV_OK && tv_fleet_drop_prepared(&store, &question, err));
        if (status == TV_OK && store.rows == 0)
            tv_fleet_tell_unlabelled(&store, &question);
    }
    tv_fleet_close(&store, code);
    tv_out_release(&files);
    return status;
}

/* outliers: traces in which a method is unusual. */
static enum tv_status fleet_outliers(const struct tv_command *command,
                                     const struct tv_settings *settings, int *code,
                                     struct tv_error *err)
{
    (void)command;
    return fleet_ask_question(settings, tv_fleet_ask_outliers, code, err);
}

static enum tv_status fleet_count_row(void *context, const struct tv_sql_value *values,
                                      struct tv_error *err)
{
    (void)values;
    (void)err;
    ++*(size_t *)context;
    return TV_OK;
}

/* Tell which conditions are about no method of the fleet: their pattern may be misspelled. */
static enum tv_status fleet_tell_unknown_patterns(struct tv_fleet_store *store,
                                                  struct tv_error *err)
{
    const struct tv_words *conditions = &store->settings->files;
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < conditions->count && status == TV_OK; i++) {
        struct tv_out query;
        size_t methods = 0;
        tv_out_init_memory(&query);
        status = tv_fleet_ask_condition_method(&query, conditions->items[i], err);
        if (status == TV_OK)
            status = tv_sql_for_each_row(store->sql, tv_sql_end(&query), 1, fleet_count_row,
                                         &methods, err);
        if (status == TV_OK && methods == 0)
            tv_message("traceview: %s: no trace has a method of this name: `traceview fleet "
                       "trends --to %s` lists the largest ones",
                       conditions->items[i], store->settings->fleet.to);
        tv_out_release(&query);
    }
    return status;
}

/* which: traces that meet all conditions, one in each argument. */
static enum tv_status fleet_which(const struct tv_command *command,
                                  const struct tv_settings *settings, int *code,
                                  struct tv_error *err)
{
    (void)command;
    struct tv_fleet_store store;
    struct tv_out query;
    tv_out_init_memory(&query);
    enum tv_status status = tv_fleet_ask_which(&query, settings->files.items, settings->files.count,
                                               settings->fleet.where, err);
    if (status == TV_OK) {
        status = tv_fleet_open(&store, settings, err);
        if (status == TV_OK)
            status = tv_fleet_write_answer(&store, tv_sql_end(&query), err);
        if (status == TV_OK && store.rows == 0 && !settings->quiet)
            status = fleet_tell_unknown_patterns(&store, err);
        tv_fleet_close(&store, code);
    }
    tv_out_release(&query);
    return status;
}

/* schema: tables and columns, as DuckDB sees them. */
static enum tv_status fleet_schema(const struct tv_command *command,
                                   const struct tv_settings *settings, int *code,
                                   struct tv_error *err)
{
    (void)command;
    return fleet_answer(
        settings,
        "select table_name as \"table\", column_name as \"column\", data_type as type "
        "from duckdb_columns() where table_name in ('trace', 'method', "
        "'method_name', 'path', 'thread', 'sample', 'finding', 'frame', 'slice', 'rollup') order "
        "by 1, column_index",
        code, err);
}

/* ---- The command ---- */

/* The chart of trends: a mark for the median of each version, then the last median.  Marks begin at
 * the smallest median, or at three quarters of the largest, so that noise does not look like a
 * change. */
static const char fleet_chart_of_trends[] =
    "select method, array_to_string(list_transform(string_split(medians, ','), lambda v: case when "
    "v = '' then ' ' else substr('\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588', 1 + "
    "round(7 * (v::double - bottom) / (largest - bottom))::int, 1) end), '') as course, last as "
    "latest from "
    "(select *, least(list_min(known), 0.75 * list_max(known)) as bottom, "
    "greatest(list_max(known), 1) as largest, known[-1] as last from (select *, "
    "list_filter(list_transform(string_split(medians, ','), lambda v: try_cast(v as bigint)), "
    "lambda v: v is not null) as known from answer))";

/* Arguments after the action's name. */
enum fleet_takes {
    FLEET_TAKES_TRACES,
    FLEET_TAKES_TEXT,
    FLEET_TAKES_TEXTS, /* at least one */
    FLEET_TAKES_NOTHING,
};

/* Options of every action, and those of actions whose answer is a table. */
#define FLEET_COMMON "to|max-memory|jobs|q|help"
#define FLEET_ANSWER "format|max-rows|max-time|wide|no-pager|output|o"

static const struct fleet_action {
    const char *name;
    enum fleet_takes takes;
    const char *text;          /* what its argument is */
    const char *const formats; /* those of --format */
    tv_fleet_action *run;
    const char *chart;   /* SELECT from `answer` for --format chart, which draws the last number;
                            NULL: the answer itself */
    const char *options; /* options beside FLEET_COMMON, with "|" between them */
} fleet_actions[] = {
    {"add", FLEET_TAKES_TRACES, "a file", "table", tv_fleet_add, NULL,
     "label|labels-from|paths|names|mapping|symbols|no-cache"},
    {"rows", FLEET_TAKES_TRACES, "a file", "table|jsonl|parquet|rowbinary", tv_fleet_rows, NULL,
     "label|labels-from|paths|names|table|mapping|symbols|no-cache|format|output|o"},
    {"sql", FLEET_TAKES_TEXT, "a query", FLEET_SQL_FORMATS, fleet_sql, NULL, FLEET_ANSWER},
    {"trend", FLEET_TAKES_TEXT, "a method", FLEET_SQL_FORMATS, fleet_trend,
     "select * exclude (low, median, high), low, high, median from answer",
     "by|figure|where|" FLEET_ANSWER},
    {"trends", FLEET_TAKES_NOTHING, "no argument", FLEET_SQL_FORMATS, fleet_trends,
     fleet_chart_of_trends, "by|figure|where|" FLEET_ANSWER},
    {"outliers", FLEET_TAKES_TEXT, "a method", FLEET_SQL_FORMATS, fleet_outliers,
     "select uri, label, ratio, figure from answer", "by|figure|where|" FLEET_ANSWER},
    {"which", FLEET_TAKES_TEXTS, "a condition such as 'p95(draw) > 16ms'", FLEET_SQL_FORMATS,
     fleet_which, "select uri, version, device, figure from answer", "where|" FLEET_ANSWER},
    {"regressions", FLEET_TAKES_NOTHING, "--base and --new",
     "table|csv|json|markdown|junit|sarif|github|gitlab", tv_fleet_regressions, NULL,
     "base|new|figure|where|fail-if|rules|allow-none|no-total|min-share|report|" FLEET_ANSWER},
    {"flamegraph", FLEET_TAKES_NOTHING, "--base and --new", "table|json|svg", tv_fleet_flamegraph,
     NULL, "base|new|figure|where|max-time|format|output|o"},
    {"changes", FLEET_TAKES_NOTHING, "no argument", FLEET_SQL_FORMATS, tv_fleet_changes,
     "select method, version, p, change from answer",
     "by|figure|where|since|fail-if|allow-none|" FLEET_ANSWER},
    {"prepare", FLEET_TAKES_NOTHING, "no argument", "table", tv_fleet_prepare, NULL, ""},
    {"compact", FLEET_TAKES_NOTHING, "no argument", "table", tv_fleet_compact, NULL, ""},
    {"expire", FLEET_TAKES_NOTHING, "no argument", "table", tv_fleet_expire, NULL, "keep"},
    {"migrate", FLEET_TAKES_NOTHING, "no argument", "table", tv_fleet_migrate, NULL, ""},
    {"check", FLEET_TAKES_NOTHING, "no argument", "table", tv_fleet_check, NULL, "output|o"},
    {"schema", FLEET_TAKES_NOTHING, "no argument", FLEET_SQL_FORMATS, fleet_schema, NULL,
     FLEET_ANSWER},
};

static const char *fleet_action_name(size_t index)
{
    return index < TV_COUNT(fleet_actions) ? fleet_actions[index].name : NULL;
}

/* Append "add, rows or sql". */
static void fleet_put_actions(struct tv_out *out)
{
    for (size_t i = 0; i < TV_COUNT(fleet_actions); i++)
        tv_out_format(out, "%s%s",
                      i == 0                             ? ""
                      : i + 1 == TV_COUNT(fleet_actions) ? " or "
                                                         : ", ",
                      fleet_actions[i].name);
    tv_out_char(out, '\0');
}

/* Return the action that is spelled almost like a word; NULL: none. */
static const char *fleet_near_action(const char *word)
{
    const char *near = NULL;
    unsigned least = UINT_MAX;
    for (size_t i = 0; i < TV_COUNT(fleet_actions); i++) {
        unsigned distance = tv_words_distance(word, fleet_actions[i].name);
        if (distance < least) {
            least = distance;
            near = fleet_actions[i].name;
        }
    }
    return near;
}

/* A word that is almost an action is a mistake of typing; any other gets the
 * list. */
static enum tv_status fleet_fail_action(const char *word, struct tv_error *err)
{
    struct tv_out names;
    const char *near = word ? fleet_near_action(word) : NULL;
    if (near)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "'%s' is no action. Did you mean '%s'?",
                       word, near);
    tv_out_init_memory(&names);
    fleet_put_actions(&names);
    enum tv_status status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                                    "expected %s as the first word", (const char *)names.buffer);
    tv_out_release(&names);
    return status;
}

/* NULL: there is no action with this name. */
static const struct fleet_action *fleet_find_action(const char *name)
{
    for (size_t i = 0; i < TV_COUNT(fleet_actions); i++)
        if (strcmp(fleet_actions[i].name, name) == 0)
            return &fleet_actions[i];
    return NULL;
}

/* Is a word in the list, "a|b"? */
static bool fleet_lists_word(const char *list, struct tv_bytes word)
{
    struct tv_bytes rest = tv_bytes_of(list), one;
    for (bool more = true; more;) {
        more = tv_bytes_split(&rest, '|', &one);
        if (tv_bytes_equal(one, word))
            return true;
    }
    return false;
}

const char *tv_fleet_chart(const struct tv_settings *settings)
{
    const struct fleet_action *action = fleet_find_action(settings->fleet.action);
    return settings->table.format == TV_SQL_CHART && action ? action->chart : NULL;
}

/* Does an action heed an option?  A callback of tv_options_help. */
static bool fleet_shows_option(const void *context, const char *name)
{
    const struct fleet_action *action = context;
    return fleet_lists_word(FLEET_COMMON, tv_bytes_of(name)) ||
           fleet_lists_word(action->options, tv_bytes_of(name));
}

/* Print the help of an action: its line, and the options that it heeds. */
static int cmd_fleet_help(const struct tv_command *command, const struct tv_settings *settings)
{
    const struct fleet_action *action = fleet_find_action(settings->files.items[0]);
    struct tv_output output;
    struct tv_error err = {0};
    if (!action) {
        fleet_fail_action(settings->files.items[0], &err);
        return tv_command_usage(command, &err);
    }
    if (tv_output_open(&output, NULL, true, &err) != TV_OK)
        return tv_command_failed(command, &err);
    const char *line = command->details;
    size_t length = strlen(action->name);
    while (strncmp(line + 2, action->name, length) != 0 || line[2 + length] != ' ') {
        line += strcspn(line, "\n") + 1;
        assert(strlen(line) > 2 + length); /* the details have a line for each action */
    }
    tv_out_format(&output.out, "usage: traceview fleet %s [OPTION]...\n\n%.*s\n", action->name,
                  (int)strcspn(line, "\n"), line);
    if (fleet_shows_option(action, "format"))
        tv_out_format(&output.out, "  --format: %s\n", action->formats);
    tv_out_text(&output.out, "\noptions:\n");
    tv_options_help(&output.out, command->options, fleet_shows_option, action);
    if (tv_output_close(&output, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return TV_EXIT_OK;
}

/* An option without effect would give the answer to another question. */
static enum tv_status fleet_check_options(const struct fleet_action *action, uint64_t given,
                                          struct tv_error *err)
{
    for (size_t i = 0; fleet_options[i].name; i++) {
        const char *name = fleet_options[i].name;
        if ((given >> i & 1) != 0 && !fleet_shows_option(action, name))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "'%s' has no option %s%s: `traceview fleet %s --help` shows those that "
                           "it has",
                           action->name, name[1] ? "--" : "-", name, action->name);
    }
    return TV_OK;
}

/* A label without a key could not be asked for. */
static enum tv_status fleet_check_labels(const struct tv_words *labels, struct tv_error *err)
{
    for (size_t i = 0; i < labels->count; i++) {
        const char *equals = strchr(labels->items[i], '=');
        if (!equals || equals == labels->items[i])
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--label: expected KEY=VALUE, not '%s'",
                           labels->items[i]);
    }
    return TV_OK;
}

/* Read --paths: the share of a trace whose paths have rows, as the largest share without a row. */
static enum tv_status fleet_read_paths(struct tv_fleet_settings *fleet, struct tv_error *err)
{
    tv_ns percent; /* millionths */
    struct tv_bytes word = tv_bytes_of(fleet->paths ? fleet->paths : "99.9%");
    if (tv_bytes_equal(word, TV_BYTES("none"))) {
        fleet->path_share = TV_FLEET_NO_PATHS;
        return TV_OK;
    }
    if (word.length > 1 && word.data[word.length - 1] == '%')
        word.length--;
    if (word.length == 0 || strspn((const char *)word.data, "0123456789.") < word.length ||
        !tv_parse_time(word, 1000000, &percent) || percent > 100000000)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--paths: expected a share such as 99.9%%, or 'none', not '%s'",
                       fleet->paths);
    fleet->path_share = (uint32_t)((100000000 - percent) / 100);
    return TV_OK;
}

/* Does an action write the format, the place of a word in FLEET_FORMATS? */
static enum tv_status fleet_check_format(const struct fleet_action *action, unsigned format,
                                         struct tv_error *err)
{
    struct tv_bytes all = tv_bytes_of(FLEET_FORMATS), word;
    for (unsigned i = 0; i <= format; i++)
        (void)tv_bytes_split(&all, '|', &word);
    if (fleet_lists_word(action->formats, word))
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--format: '%s' writes %s", action->name,
                   action->formats);
}

/* Call paths have no longest calls and no sketches. */
static enum tv_status fleet_check_figure(const struct fleet_action *action, unsigned figure,
                                         struct tv_error *err)
{
    static const char of_paths[] = "excl|incl|excl_cpu|incl_cpu|calls";
    if (action->run != tv_fleet_flamegraph ||
        fleet_lists_word(of_paths, tv_bytes_of(fleet_figures[figure])))
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--figure: 'flamegraph' draws %s, not %s",
                   of_paths, fleet_figures[figure]);
}

/* Is there one argument, which is not empty?  DuckDB says what an empty query is. */
static bool fleet_has_one_text(const struct fleet_action *action, const struct tv_words *words)
{
    return words->count == 1 && (action->run == fleet_sql || words->items[0][0] != '\0');
}

/* Check the arguments after the action's name. */
static enum tv_status fleet_check_arguments(const struct fleet_action *action,
                                            struct tv_settings *settings, struct tv_error *err)
{
    size_t count = settings->files.count;
    bool right = action->takes == FLEET_TAKES_TEXT ? fleet_has_one_text(action, &settings->files)
                 : action->takes == FLEET_TAKES_NOTHING ? count == 0
                                                        : count > 0;
    if (!right)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "'%s' expects %s%s", action->name,
                       action->takes == FLEET_TAKES_TEXT ? "one argument: " : "", action->text);
    if ((action->run == tv_fleet_regressions || action->run == tv_fleet_flamegraph) &&
        (!settings->fleet.base || !settings->fleet.fresh))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "'%s' expects --base KEY=VALUE and --new KEY=VALUE", action->name);
    if (action->run == tv_fleet_expire && settings->fleet.keep == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "'expire' expects --keep TIME, such as --keep 180d");
    return TV_OK;
}

/* Check all options that were given to an action. */
static enum tv_status fleet_check_settings(const struct fleet_action *action,
                                           struct tv_settings *settings, struct tv_error *err)
{
    enum tv_status status = fleet_check_options(action, settings->given, err);
    if (status == TV_OK)
        status = fleet_check_format(action, settings->table.format, err);
    if (status == TV_OK)
        status = fleet_check_figure(action, settings->fleet.figure, err);
    if (status == TV_OK && tv_fleet_is_server(settings->fleet.to))
        status = tv_fleet_server_check_target(settings->fleet.to, err);
    if (status == TV_OK)
        status = fleet_check_labels(&settings->fleet.labels, err);
    return status == TV_OK ? fleet_read_paths(&settings->fleet, err) : status;
}

/* Everything that can be wrong with the words is found here, before files are
 * read.  Actions that read traces do without DuckDB's library. */
static enum tv_status cmd_fleet_prepare(struct tv_settings *settings, struct tv_error *err)
{
    struct tv_words *files = &settings->files;
    const struct fleet_action *action =
        files->count > 0 ? fleet_find_action(files->items[0]) : NULL;
    if (!action)
        return fleet_fail_action(files->count > 0 ? files->items[0] : NULL, err);
    settings->fleet.action = action->name;
    if (!settings->fleet.to)
        settings->fleet.to = "fleet";
    settings->fleet.adds = action->run == tv_fleet_add && !tv_fleet_is_server(settings->fleet.to);
    memmove(files->items, files->items + 1, (files->count - 1) * sizeof *files->items);
    files->count--;
    if (strlen(settings->fleet.to) > LONGEST_FOLDER)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--to: the name is too long");
    enum tv_status status = fleet_check_settings(action, settings, err);
    if (status == TV_OK)
        status = fleet_check_arguments(action, settings, err);
    if (status == TV_OK && action->takes == FLEET_TAKES_TRACES)
        return tv_expand_words(settings, files, err);
    return status == TV_OK ? tv_duck_open(err) : status;
}

/* Actions that read traces do so in the same way for a folder and for a server. */
static int cmd_fleet_run(const struct tv_command *command, const struct tv_settings *settings)
{
    const struct fleet_action *action = fleet_find_action(settings->fleet.action);
    struct tv_error err = {0};
    int code = TV_EXIT_OK;
    assert(action);
    enum tv_status status =
        tv_fleet_is_server(settings->fleet.to) && action->takes != FLEET_TAKES_TRACES
            ? tv_fleet_server_run(command, settings, action->run, &code, &err)
            : action->run(command, settings, &code, &err);
    if (status != TV_OK)
        return tv_command_failed(command, &err);
    return code;
}

const struct tv_command tv_command_fleet = {
    .name = "fleet",
    .summary = "collect figures of many traces and ask for trends",
    .arguments = "ACTION [OPTION]... [ARGUMENT]...",
    .details = "  add FILE|FOLDER...   add traces to the fleet, except those that it already has\n"
               "  rows FILE...         write their rows, for other tools\n"
               "  sql QUERY            ask the fleet in SQL\n"
               "  trend METHOD         its figure by version\n"
               "  trends               medians of the largest methods by version\n"
               "  outliers METHOD      traces in which it is unusual, the farthest first\n"
               "  which CONDITION...   traces that meet all of them: 'p95(draw) > 16ms'\n"
               "  regressions          what changed between the traces of --base and of --new\n"
               "  flamegraph           the same call path by call path, as a picture\n"
               "  changes              methods and the versions since which they are slower or "
               "faster\n"
               "  prepare              compute medians, so that trends and changes answer fast\n"
               "  compact              join small batches, and remove what killed writers left\n"
               "  expire               replace traces older than --keep by sums\n"
               "  migrate              give old files the columns of this version\n"
               "  check                report files and rows that are damaged or not finished\n"
               "  schema               the tables and their columns\n"
               "'traceview fleet ACTION --help' shows the options of one action.\n"
               "Tables: docs/fleet.md.  All but add and rows need DuckDB's library: `make sql` "
               "fetches it.",
    .options = fleet_options,
    .min_files = 0, /* fleet_check_arguments */
    .max_files = TV_ANY_FILES,
    .prepare = cmd_fleet_prepare,
    .help = cmd_fleet_help,
    .action = fleet_action_name,
    .run = cmd_fleet_run,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * questions.c - the views of a fleet's folder, and the questions as SQL.
 *
 *     FOLDER/TABLE/BATCH.parquet --> TABLE_file --> TABLE --> question
 *                                    all rows       rows that count
 *
 * Files of a batch count when the batch's own file of traces is there: it is
 * written last.  Two writers may have added one trace at the same time; its
 * first batch counts.  The variables TABLE_files have the files of each table.
 * Files of older versions lack columns: a SELECT without rows, but with all
 * columns, is united with them by name.
 *
 * Texts of the user enter a statement only in quotes (statement.h), and as a name of a column only
 * if the column is one of ours (fleet_label_column).
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/compare/gate.h"
#include "base/bytes.h"
#include "fleet/batch.h"

const char *const tv_fleet_views[] = {
    /* The traces of the rollups: a row without a method lists them (tables.c). */
    "create view expired_trace as select unnest(counts) as trace, batch from rollup_file "
    "where method is null",
    "create view stored_trace as select * exclude (place) from (select *, "
    "row_number() over (partition by trace order by error is not null, added, batch) as place from "
    "trace_file f anti join expired_trace e on f.trace = e.trace) "
    "where place = 1",
    "create view trace as select * exclude (label_keys, label_values), "
    "map(label_keys, label_values) as labels from stored_trace",
    "create macro sketch_value(key) as case when key = 0 then 0 else 1.02 ** (key - 0.5) end",
    /* The bucket that holds percentile p of the calls in a sketch; NULL without calls.  The list
     * begins with the number of calls up to the percentile, from which each bucket is subtracted;
     * once they are used up, the value is the negative index of the bucket. */
    "create macro sketch_percentile(keys, counts, p) as round(sketch_value(keys[-list_reduce("
    "list_prepend(ceil(p * list_sum(counts))::bigint, counts::bigint[]), lambda rest, n, i: "
    "case when rest <= 0 then rest when rest <= n then 1 - i else rest - n end)]))::bigint",
    "create view method as select m.* exclude (batch), sketch_percentile(keys, counts, 0.5) as "
    "p50, "
    "sketch_percentile(keys, counts, 0.95) as p95, sketch_percentile(keys, counts, 0.99) as p99 "
    "from method_file m semi join trace t on m.trace = t.trace and m.batch = t.batch",
    "create view path as select p.* exclude (batch) "
    "from path_file p semi join trace t on p.trace = t.trace and p.batch = t.batch",
    "create view method_name as select distinct on (n.method) n.* exclude (batch) "
    "from method_name_file n semi join trace t on n.batch = t.batch order by n.method, n.batch",
#define FLEET_DETAIL_VIEW(name)                                                                    \
    "create view " name " as select d.* exclude (batch) from " name                                \
    "_file d semi join trace t on d.trace = t.trace and d.batch = t.batch"
    FLEET_DETAIL_VIEW("thread"),
    FLEET_DETAIL_VIEW("sample"),
    FLEET_DETAIL_VIEW("finding"),
    FLEET_DETAIL_VIEW("frame"),
    FLEET_DETAIL_VIEW("slice"),
    /* A rollup of an older version, which has the name of a batch, counts when the batch is gone.
     */
    "create view rollup as select r.* exclude (batch, label_keys, label_values), "
    "map(r.label_keys, r.label_values) as labels "
    "from rollup_file r anti join trace_file t on r.batch = t.batch where r.method is not null",
    NULL,
};

void tv_fleet_put_empty(struct tv_out *sql, enum tv_fleet_table table)
{
    static const char *const types[] = {
        [TV_PARQUET_BOOLEAN] = "boolean", [TV_PARQUET_UINT32] = "uinteger",
        [TV_PARQUET_INT64] = "bigint",    [TV_PARQUET_UINT64] = "ubigint",
        [TV_PARQUET_HUGE] = "hugeint",    [TV_PARQUET_REAL] = "double",
        [TV_PARQUET_TEXT] = "varchar"};
    size_t count;
    const struct tv_parquet_column *columns = tv_fleet_columns(table, &count);
    tv_out_text(sql, "(select ");
    for (size_t i = 0; i < count; i++)
        TV_DUCK_PUT(sql, "?null::?? as ?", TV_SQL_PLAIN(i > 0 ? ", " : ""),
                    TV_SQL_PLAIN(types[columns[i].type]), TV_SQL_PLAIN(columns[i].list ? "[]" : ""),
                    TV_SQL_NAME(columns[i].name));
    tv_out_text(sql, " where false)");
}

void tv_fleet_put_file_view(struct tv_out *sql, enum tv_fleet_table table, bool has_files)
{
    const char *name = tv_fleet_table_name(table);
    tv_out_format(sql, "create view %s_file as ", name);
    if (has_files)
        tv_out_format(sql,
                      "select * from read_parquet(getvariable('%s_files'), union_by_name = true) "
                      "union all by name ",
                      name);
    tv_fleet_put_empty(sql, table);
    tv_out_text(sql, "; ");
}

/* Return the column of `trace` that has a label; NULL: the label is in the lists. */
static const char *fleet_label_column(struct tv_bytes key)
{
    for (size_t i = 0; i < FLEET_DECLARED; i++)
        if (tv_bytes_equal(key, tv_bytes_of(tv_fleet_declared[i])))
            return tv_fleet_declared[i];
    return NULL;
}

/* Is a byte one of a key that may follow a blank?  Bytes from 128 on are of other letters. */
static bool fleet_is_key_byte(uint8_t byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z') ||
           byte >= 128 || (byte != 0 && strchr("_.-/", byte));
}

/* Does a label begin here, KEY= ? */
static bool fleet_is_label(struct tv_bytes left)
{
    size_t at = 0;
    while (at < left.length && fleet_is_key_byte(left.data[at]))
        at++;
    return at > 0 && at < left.length && left.data[at] == '=';
}

/* Return the length of a value without quotes, with the blanks after it. */
static size_t fleet_find_value_end(struct tv_bytes left)
{
    size_t at = 0;
    for (bool ends = false; !ends && at < left.length;) {
        while (at < left.length && !tv_is_blank(left.data[at]))
            at++;
        while (at < left.length && tv_is_blank(left.data[at]))
            at++;
        ends = fleet_is_label((struct tv_bytes){left.data + at, left.length - at});
    }
    return at;
}

/* Return the place of the quote that ends a value in quotes; 0: none does. */
static size_t fleet_find_quote(struct tv_bytes left)
{
    if (left.length == 0 || left.data[0] != '"')
        return 0;
    for (size_t i = 1; i < left.length; i++)
        if (left.data[i] == '"' && (i + 1 == left.length || tv_is_blank(left.data[i + 1])))
            return i;
    return 0;
}

enum tv_status tv_fleet_take_label(struct tv_bytes *left, struct tv_bytes *key,
                                   struct tv_bytes *value, struct tv_error *err)
{
    struct tv_bytes rest = *left, word = tv_bytes_take_word(&rest), start = word;
    *value = *key = (struct tv_bytes){NULL, 0};
    if (word.length == 0)
        return TV_OK;
    if (!tv_bytes_split(&start, '=', key) || key->length == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "expected KEY=VALUE, such as version=1.5, with blanks between several, not "
                       "'%.*s'",
                       (int)(word.length < 200 ? word.length : 200), (const char *)word.data);
    rest = (struct tv_bytes){start.data, start.length + rest.length};
    size_t quote = fleet_find_quote(rest);
    size_t length = quote > 0 ? quote + 1 : fleet_find_value_end(rest);
    *value = quote > 0 ? (struct tv_bytes){rest.data + 1, quote - 1}
                       : tv_bytes_trim((struct tv_bytes){rest.data, length});
    *left = (struct tv_bytes){rest.data + length, rest.length - length};
    return TV_OK;
}

/* The unit of a trace, which is `t` in DuckDB: a label may tell it, and calls are in ns. */
#define FLEET_UNIT "coalesce(nullif(t.unit, 'nanoseconds'), t.labels['unit'], 'ns')"
#define FLEET_SERVER_UNIT                                                                          \
    "multiIf(ifNull(unit, '') not in ('', 'nanoseconds'), unit, "                                  \
    "has(label_keys, 'unit'), label_values[indexOf(label_keys, 'unit')], 'ns')"

/* Append the label of a trace, which is `t` in DuckDB: a column, or an entry of the map or lists.
 */
static void fleet_put_label(struct tv_out *sql, enum tv_sql_dialect dialect, struct tv_bytes key)
{
    static const char *const columns[] = {"t.?", "?"};
    static const char *const entries[] = {"t.labels[?]", "label_values[indexOf(label_keys, ?)]"};
    static const char *const both[] = {
        "coalesce(t.?, t.labels[?])",
        "if(empty(?), label_values[indexOf(label_keys, ?)], ?)",
    };
    static const char *const units[] = {FLEET_UNIT, FLEET_SERVER_UNIT};
    static const char *const facts[] = {"program", "host", "format"};
    const char *column = fleet_label_column(key), *own = NULL;
    for (size_t i = 0; i < TV_COUNT(facts); i++)
        if (tv_bytes_equal(key, tv_bytes_of(facts[i])))
            own = facts[i];
    if (tv_bytes_equal(key, TV_BYTES("unit")))
        tv_out_text(sql, units[dialect]);
    else if (own) /* the trace itself tells it; else a label may */
        tv_sql_put(
            sql, dialect, both[dialect],
            (const struct tv_sql_word[]){TV_SQL_NAME(own), TV_SQL_TEXT(key), TV_SQL_NAME(own)},
            dialect == TV_SQL_DUCKDB ? 2 : 3);
    else if (column)
        TV_SQL_PUT(sql, dialect, columns[dialect], TV_SQL_NAME(column));
    else
        TV_SQL_PUT(sql, dialect, entries[dialect], TV_SQL_TEXT(key));
}

enum tv_status tv_fleet_put_where(struct tv_out *sql, enum tv_sql_dialect dialect,
                                  const char *where, struct tv_error *err)
{
    struct tv_bytes left = tv_bytes_of(where ? where : ""), key, value;
    for (;;) {
        enum tv_status status = tv_fleet_take_label(&left, &key, &value, err);
        if (status != TV_OK || key.length == 0)
            return status;
        tv_out_text(sql, " AND ");
        fleet_put_label(sql, dialect, key);
        TV_SQL_PUT(sql, dialect, " = ?", TV_SQL_TEXT(value));
    }
}

/* Append a condition for each KEY=VALUE of a question. */
static enum tv_status fleet_put_where(struct tv_out *sql, const char *where, struct tv_error *err)
{
    return tv_fleet_put_where(sql, TV_SQL_DUCKDB, where, err);
}

/* Append the label by which a question groups. */
static void fleet_put_group(struct tv_out *sql, const struct tv_fleet_question *question)
{
    fleet_put_label(sql, TV_SQL_DUCKDB, tv_bytes_of(question->by ? question->by : "version"));
    tv_out_text(sql, " as label from trace t where t.error is null");
}

enum tv_status tv_fleet_ask_unlabelled(struct tv_out *sql, const struct tv_fleet_question *question,
                                       struct tv_error *err)
{
    tv_out_text(sql, "select count(*) from (select ");
    fleet_put_group(sql, question);
    enum tv_status status = fleet_put_where(sql, question->where, err);
    tv_out_text(sql, ") where label is null");
    return status;
}

/* Append a figure of the rows of `m`.  Percentiles are computed here, not by the view `method`: it
 * would compute those of rows, too, that a later join leaves out. */
static void fleet_put_figure(struct tv_out *sql, const char *figure)
{
    if (figure[0] == 'p')
        tv_out_format(sql, "sketch_percentile(m.keys, m.counts, 0.%s)", figure + 1);
    else
        tv_out_format(sql, "m.%s", figure);
}

/* Append the rows of `method` that belong to the traces of a table with the columns trace and
 * batch.  DuckDB skips whole row groups by the list of batches; the keys of traces are spread over
 * all of them. */
static void fleet_put_rows_of(struct tv_out *sql, const char *table)
{
    tv_out_format(sql,
                  "from method_file m join %s r on r.trace = m.trace and r.batch = m.batch "
                  "where m.batch in (select distinct batch from %s) ",
                  table, table);
}

/* Append the condition of the rows of `method_name` that a question about a method means. */
static void fleet_put_named(struct tv_out *sql, const char *method)
{
    const struct tv_sql_word name = TV_SQL_TEXT(tv_bytes_of(method));
    TV_DUCK_PUT(sql,
                "(name = ? or class || '.' || name = ? or "
                "concat_ws(' ', concat_ws('.', class, name), signature) = ? or form = ?)",
                name, name, name, name);
}

/* Append the common table `runs`: a row for each trace of the question, with its figure. */
static enum tv_status fleet_put_runs(struct tv_out *sql, const struct tv_fleet_question *question,
                                     struct tv_error *err)
{
    tv_out_text(sql, "with methods as (select method from method_name where ");
    fleet_put_named(sql, question->method);
    tv_out_text(sql, "), run as (select "
                     "trace, batch, uri, coalesce(recorded, added) as began, ");
    fleet_put_group(sql, question);
    enum tv_status status = fleet_put_where(sql, question->where, err);
    tv_out_text(sql, "), runs as (select r.trace, any_value(r.uri) as uri, any_value(r.began) as "
                     "began, any_value(r.label) as label, ");
    tv_out_format(sql, "%s(",
                  question->figure[0] == 'p' || question->figure[0] == 'm' ? "max" : "sum");
    fleet_put_figure(sql, question->figure);
    tv_out_text(sql, ")::bigint as figure, arg_max(m.max_slice, m.max) as slice ");
    fleet_put_rows_of(sql, "run");
    tv_out_text(sql, "and m.method in (select method from methods) group by r.trace) ");
    return status;
}

void tv_fleet_ask_similar(struct tv_out *sql, const char *method)
{
    const struct tv_sql_word part = TV_SQL_TEXT(tv_bytes_of(method));
    TV_DUCK_PUT(
        sql,
        "select name from (select concat_ws('.', class, name) as name, "
        "min(least(damerau_levenshtein(lower(concat_ws('.', class, name)), lower(?)), "
        "damerau_levenshtein(lower(name), lower(?)))) as edits from method_name group by 1) "
        "where contains(lower(name), lower(?)) or edits <= least(2, length(?) // 3) "
        "order by length(name), name limit 3",
        part, part, part, part);
}

void tv_fleet_ask_named(struct tv_out *sql, const char *method)
{
    tv_out_text(sql, "select count(*) from method_name where ");
    fleet_put_named(sql, method);
}

enum tv_status tv_fleet_ask_all_units(struct tv_out *sql, const struct tv_fleet_question *question,
                                      struct tv_error *err)
{
    tv_out_text(sql, "select count(distinct " FLEET_UNIT ") from trace t where t.error is null");
    return fleet_put_where(sql, question->where, err);
}

enum tv_status tv_fleet_ask_units(struct tv_out *sql, const struct tv_fleet_question *question,
                                  struct tv_error *err)
{
    enum tv_status status = fleet_put_runs(sql, question, err);
    tv_out_text(sql, "select " FLEET_UNIT " as unit, count(*) from runs join trace t using (trace) "
                     "group by 1 order by 2 desc, 1");
    return status;
}

/* A trend has a row for each label: how many traces, and the middle and the
 * deciles of their figure, in the order in which the first trace of each label
 * began. */
enum tv_status tv_fleet_ask_trend(struct tv_out *sql, const struct tv_fleet_question *question,
                                  struct tv_error *err)
{
    enum tv_status status = fleet_put_runs(sql, question, err);
    TV_DUCK_PUT(sql,
                "select label as ?, count(*) as traces, quantile_cont(figure, 0.1)::bigint as low, "
                "median(figure)::bigint as median, quantile_cont(figure, 0.9)::bigint as high "
                "from runs group by label order by min(began), label",
                TV_SQL_NAME(question->by ? question->by : "version"));
    return status;
}

/* Append the tables `large` and `cell` of tv_fleet_ask_trends, from the rows of methods. */
static void fleet_put_cells(struct tv_out *sql, const char *figure)
{
    tv_out_text(sql, "kept as (select r.trace, r.batch, v.place from run r "
                     "join version v using (label)), large as (select m.method, sum((");
    fleet_put_figure(sql, figure);
    tv_out_text(sql, ")::hugeint) as size ");
    fleet_put_rows_of(sql, "kept");
    tv_out_format(sql,
                  "group by m.method order by size desc, m.method limit %d), cell as (select "
                  "m.method, r.place, median(",
                  TV_FLEET_TREND_METHODS);
    fleet_put_figure(sql, figure);
    tv_out_text(sql, ")::bigint as median ");
    fleet_put_rows_of(sql, "kept");
    tv_out_text(sql, "and m.method in (select method from large) group by all) ");
}

/* Append the rows of prepared files that a question needs, as `t`, with the number and the place of
 * their versions, as `v`. */
static enum tv_status fleet_put_prepared_rows(struct tv_out *sql,
                                              const struct tv_fleet_question *question,
                                              unsigned part, struct tv_error *err)
{
    tv_out_format(sql,
                  "from read_parquet([%s]) t join version v on v.label = t.version "
                  "where t.part = %u",
                  question->prepared, part);
    return fleet_put_where(sql, question->where, err);
}

/* Append the tables `large` and `cell` of tv_fleet_ask_trends, from prepared files. */
static enum tv_status fleet_put_prepared_cells(struct tv_out *sql,
                                               const struct tv_fleet_question *question,
                                               struct tv_error *err)
{
    tv_out_text(sql, "cell as materialized (select t.method, v.place, t.total, t.middle as "
                     "median ");
    enum tv_status status =
        fleet_put_prepared_rows(sql, question, tv_fleet_prepared_part(question->where), err);
    tv_out_format(sql,
                  "), large as (select method, sum(total::hugeint) as size from cell "
                  "group by method order by size desc, method limit %d) ",
                  TV_FLEET_TREND_METHODS);
    return status;
}

/* The common tables: `run` has the traces, `version` the latest labels, `kept`
 * the traces with them, `large` the methods with the largest sums, `cell` the
 * median of each method and label.  Prepared files have the medians of all methods. */
enum tv_status tv_fleet_ask_trends(struct tv_out *sql, const struct tv_fleet_question *question,
                                   struct tv_error *err)
{
    tv_out_text(sql, "with run as (select t.trace, t.batch, coalesce(t.recorded, t.added) as "
                     "began, ");
    fleet_put_group(sql, question);
    enum tv_status status = fleet_put_where(sql, question->where, err);
    tv_out_format(sql,
                  "), version as (select label, row_number() over (order by min(began) desc, "
                  "label desc) as place from run where label is not null group by label "
                  "qualify place <= %d), ",
                  TV_FLEET_TREND_VERSIONS);
    if (status == TV_OK && question->prepared)
        status = fleet_put_prepared_cells(sql, question, err);
    else
        fleet_put_cells(sql, question->figure);
    tv_out_text(sql,
                "select concat_ws(' ', concat_ws('.', any_value(n.class), any_value(n.name)), "
                "any_value(n.signature)) as method, string_agg(coalesce(c.median::varchar, ''), "
                "',' order by v.place desc) as medians from large l cross join version v "
                "left join cell c on c.method = l.method and c.place = v.place "
                "left join method_name n on n.method = l.method "
                "group by l.method, l.size order by l.size desc, l.method");
    return status;
}

/* A trace is compared with the median of all.  The deviation is a robust one:
 * 1.4826 times the median absolute deviation estimates the standard deviation
 * of a normal distribution, and a few outliers do not move it. */
enum tv_status tv_fleet_ask_outliers(struct tv_out *sql, const struct tv_fleet_question *question,
                                     struct tv_error *err)
{
    enum tv_status status = fleet_put_runs(sql, question, err);
    tv_out_text(sql, ", middle as (select median(figure) as m, mad(figure) as d from runs) "
                     "select uri, label, figure, round(figure / nullif(m, 0), 3) as ratio, "
                     "round((figure - m) / nullif(1.4826 * d, 0), 1) as deviations, slice "
                     "from runs, middle order by abs(figure - m) desc, uri");
    return status;
}

/* ---- Two groups of traces ---- */

/* Append the condition of the traces that have the labels of a side; `half` has both sides. */
static enum tv_status fleet_put_side(struct tv_out *sql, int side, const char *labels,
                                     struct tv_error *err)
{
    tv_out_format(sql, "(half.side = %d", side);
    enum tv_status status = fleet_put_where(sql, labels, err);
    tv_out_char(sql, ')');
    return status;
}

/* The rows of these traces are picked before anything is computed from them, by batches first
 * (fleet_put_rows_of). */
#define FLEET_OF_RUNS                                                                              \
    " semi join run r on r.trace = m.trace and r.batch = m.batch "                                 \
    "where m.batch in (select distinct batch from run)"

static void fleet_prepare_methods(struct tv_out *sql, bool has_lengths)
{
    static const char *const rows[] = {"null as max, null as keys, null as counts",
                                       "max, keys, counts"};
    static const char *const lengths[] = {
        "null::bigint as p50, null::bigint as p90, null::bigint as p95, null::bigint as p99",
        "sketch_percentile(m.keys, m.counts, 0.5) as p50, "
        "sketch_percentile(m.keys, m.counts, 0.9) as p90, "
        "sketch_percentile(m.keys, m.counts, 0.95) as p95, "
        "sketch_percentile(m.keys, m.counts, 0.99) as p99"};
    tv_out_format(
        sql,
        "create or replace temp table run_row as select trace, method, calls, incl, excl, "
        "incl_cpu, excl_cpu, %s from method_file m" FLEET_OF_RUNS
        "; create or replace temp table run_name as select method, row_number() over (order by "
        "class, name, "
        "signature, method) - 1 as place, class, category, name, signature from method_name "
        "where method in (select method from run_row); "
        "create or replace temp view run_method as select r.number, n.place, m.incl, m.excl, "
        "m.incl_cpu, "
        "m.excl_cpu, m.calls, %s, m.max::bigint as max "
        "from run r join run_row m on m.trace = r.trace join run_name n on n.method = m.method; ",
        rows[has_lengths], lengths[has_lengths]);
}

/* The temporary tables are those of the queries that follow on the same connection.  Totals of
 * methods are those of the table `run_row`; paths need no more of methods. */
enum tv_status tv_fleet_ask_runs(struct tv_out *sql, const struct tv_fleet_sides *sides,
                                 struct tv_error *err)
{
    tv_out_text(sql,
                "create or replace temp table run as select row_number() over (order by "
                "half.side, t.uri, t.trace) - 1 as number, half.side, t.trace, t.batch, t.uri, "
                "t.recorded, t.clocks, t.sampled_interval, t.value, t.unit, t.recording, t.round, "
                "t.boot, t.calls, t.format, t.clock_cost, t.value_interval, t.obfuscated, t.native "
                "from trace t, (values (0), (1)) half(side) "
                "where t.error is null and (");
    enum tv_status status = fleet_put_side(sql, 0, sides->base, err);
    tv_out_text(sql, " or ");
    if (status == TV_OK)
        status = fleet_put_side(sql, 1, sides->new, err);
    tv_out_char(sql, ')');
    if (status == TV_OK)
        status = fleet_put_where(sql, sides->where, err);
    tv_out_text(sql, "; ");
    if (!sides->by_path)
        fleet_prepare_methods(sql, sides->has_lengths);
    tv_out_format(
        sql,
        "select r.side::bigint, r.uri, r.recorded, r.clocks, "
        "r.sampled_interval is not null, r.value is not null, r.value, r.unit, "
        "r.recording, r.round, r.boot, r.calls, s.excl, s.excl_cpu, r.format, r.clock_cost, "
        "r.value_interval, r.obfuscated, r.native from run r left join "
        "(select m.trace, sum(m.excl)::bigint as excl, "
        "sum(m.excl_cpu)::bigint as excl_cpu from %s group by m.trace) s using (trace) "
        "order by number",
        sides->by_path ? "method_file m" FLEET_OF_RUNS : "run_row m");
    return status;
}

const char tv_fleet_run_names[] =
    "select method, class, category, name, signature from run_name order by place";

const char tv_fleet_all_names[] = "select method, class, category, name, signature "
                                  "from method_name";

const char tv_fleet_run_methods[] = "select * from run_method order by number, place";

/* A caller has at least the time of what it calls, so it is among the largest, too.  All rows are
 * in a common table: a temporary one would keep statistics of each column, too, and to read the
 * files twice would mean to unpack them twice. */
void tv_fleet_ask_cells(struct tv_out *sql)
{
    tv_out_format(
        sql,
        "with cell as materialized (select r.number, p.path, p.parent, p.method, p.calls, p.incl, "
        "p.self, p.incl_cpu, p.self_cpu from path_file p join run r on p.trace = r.trace and "
        "p.batch = r.batch where p.batch in (select distinct batch from run)), "
        "large as (select path, row_number() over (order by size desc, path) - 1 as place from "
        "(select path, sum(incl)::hugeint + sum(incl_cpu) as size from cell group by path "
        "order by size desc, path "
        "limit (select least(%d, %d // greatest(1, count(*))) from run))) "
        "select c.number, l.place, c.path, c.parent, c.method, c.calls, c.incl, c.self, "
        "c.incl_cpu, c.self_cpu from cell c join large l using (path)",
        TV_FLEET_MAX_PATHS, TV_FLEET_MAX_CELLS);
}

/* ---- Series ---- */

/* Versions are the latest 1000 at the maximum. */
enum tv_status tv_fleet_ask_series(struct tv_out *sql, const struct tv_fleet_question *question,
                                   struct tv_error *err)
{
    tv_out_text(
        sql, "create or replace temp table run as select t.trace, t.batch, t.device, t.scenario, "
             "dense_rank() over (order by t.device, t.scenario) as part, "
             "coalesce(t.recorded, t.added) as began, ");
    fleet_put_group(sql, question);
    enum tv_status status = fleet_put_where(sql, question->where, err);
    tv_out_format(sql,
                  "; create or replace temp table version as select label, min(began) as began, "
                  "row_number() over (order by min(began), label) - 1 as number from "
                  "(select * from run where label is not null) where label in "
                  "(select label from run where label is not null group by label "
                  "order by min(began) desc, label desc limit %u) group by label; "
                  "select label, began from version order by number",
                  TV_FLEET_MAX_VERSIONS);
    return status;
}

enum tv_status tv_fleet_ask_values(struct tv_out *sql, const struct tv_fleet_question *question,
                                   struct tv_error *err)
{
    if (!question->prepared) {
        tv_out_text(sql, "select * from (select r.part, m.method, v.number, ");
        fleet_put_figure(sql, question->figure);
        tv_out_text(sql, " as figure, null from run r join version v using (label) "
                         "join method_file m on m.trace = r.trace and m.batch = r.batch "
                         "where m.batch in (select distinct batch from run)");
        if (question->parts > 0)
            tv_out_format(sql, " and m.method %% %" PRIu32 " = %" PRIu32, question->parts,
                          question->part);
        tv_out_text(sql, ") where figure > 0");
        return TV_OK;
    }
    tv_out_text(sql, "select p.part, t.method, t.number, t.size, t.log from (select t.*, "
                     "v.number ");
    enum tv_status status = fleet_put_prepared_rows(sql, question, TV_FLEET_PREPARED_ALL, err);
    tv_out_text(sql, " and t.log is not null) t join (select distinct part, device, scenario from "
                     "run) p on p.device is not distinct from t.device and "
                     "p.scenario is not distinct from t.scenario");
    return status;
}

#define FLEET_SERIES_NAME "concat_ws(' ', concat_ws('.', k.class, k.name), k.signature)"
const char tv_fleet_series_name[] = FLEET_SERIES_NAME;

const char tv_fleet_series_methods[] =
    "select k.method, " FLEET_SERIES_NAME ", k.class, concat_ws('.', k.class, k.name), k.name "
    "from method_name k";

/* ---- Traces that meet conditions ---- */

/* Append the methods that a condition is about. */
static void fleet_put_pattern(struct tv_out *sql, const struct tv_gate_rule *rule)
{
    const struct tv_sql_word pattern = TV_SQL_LIKE(rule->pattern);
    if (rule->pattern.length == 0)
        tv_out_text(sql, "(select method from method_name where true)");
    else if (rule->of_class)
        TV_DUCK_PUT(sql, "(select method from method_name where class like ?)", pattern);
    else
        TV_DUCK_PUT(sql,
                    "(select method from method_name where concat_ws('.', class, name) like ? or "
                    "name like ? or "
                    "concat_ws(' ', concat_ws('.', class, name), signature) like ?)",
                    pattern, pattern, pattern);
}

/* Return the figure of a condition as SQL; NULL: traces have none. */
static const char *fleet_condition_figure(const struct tv_gate_rule *rule)
{
    static const char *const wall[] = {"excl",  "incl",
                                       "calls", "incl / nullif(calls, 0)",
                                       "p50",   "sketch_percentile(keys, counts, 0.9)",
                                       "p95",   "p99",
                                       "max",   "excl"};
    static const char *const cpu[] = {"excl_cpu", "incl_cpu", NULL, "incl_cpu / nullif(calls, 0)",
                                      NULL,       NULL,       NULL, NULL,
                                      NULL,       "excl_cpu"};
    if (rule->figure > TV_GATE_TOTAL)
        return NULL;
    return rule->clock == TV_GATE_CPU ? cpu[rule->figure] : wall[rule->figure];
}

/* Is a limit one on a figure itself, not on a change between two groups? */
static bool fleet_is_absolute(const struct tv_gate_limit *limit)
{
    return limit->way == TV_GATE_NO_LIMIT || (!limit->is_change && !limit->is_relative);
}

/* Append the comparison of a value with a limit; 17 digits give the same double
 * back. */
static void fleet_put_limit(struct tv_out *sql, const char *value,
                            const struct tv_gate_limit *limit)
{
    static const char *const ways[] = {
        [TV_GATE_ABOVE] = ">", [TV_GATE_AT_LEAST] = ">=", [TV_GATE_BELOW] = "<"};
    tv_out_format(sql, "%s %s %.17g", value, ways[limit->way], limit->number);
}

/* Return whether a condition needs the figures of one trace only. */
static bool fleet_is_condition(const struct tv_gate_rule *rule)
{
    return !tv_gate_rule_needs_calls(rule) && rule->p <= 0 && rule->runs == 0 &&
           rule->low.way == TV_GATE_NO_LIMIT && rule->share.way == TV_GATE_NO_LIMIT &&
           fleet_is_absolute(&rule->change) && fleet_is_absolute(&rule->time) &&
           fleet_is_absolute(&rule->calls);
}

/* Append a limit after another condition, if there is one. */
static void fleet_put_further_limit(struct tv_out *sql, const char *value,
                                    const struct tv_gate_limit *limit)
{
    if (limit->way == TV_GATE_NO_LIMIT)
        return;
    tv_out_text(sql, " and ");
    fleet_put_limit(sql, value, limit);
}

/* Append the traces that meet one condition, each with its figure and its longest call. */
static enum tv_status fleet_put_condition(struct tv_out *sql, const char *text,
                                          struct tv_error *err)
{
    static const struct tv_gate_limit none = {.way = TV_GATE_NO_LIMIT};
    struct tv_gate_rule rule;
    enum tv_status status = tv_gate_rule_parse(tv_bytes_of(text), &rule, err);
    if (status != TV_OK)
        return status;
    const char *figure = fleet_condition_figure(&rule);
    bool sum = rule.sum || rule.figure == TV_GATE_TOTAL;
    if (!figure || !fleet_is_condition(&rule))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: traces have figures, not changes: 'p95(draw) > 16ms and calls > 10'",
                       text);
    tv_out_format(sql,
                  "(select trace, %s(value)::bigint as figure, arg_max(max_slice, max) as "
                  "slice from (select *, %s as value from method) where method in ",
                  sum ? "sum" : "max", figure);
    fleet_put_pattern(sql, &rule);
    fleet_put_further_limit(sql, "value", sum ? &none : &rule.change);
    fleet_put_further_limit(sql, "excl", &rule.time);
    fleet_put_further_limit(sql, "calls", &rule.calls);
    tv_out_text(sql, " group by trace having true");
    fleet_put_further_limit(sql, "sum(value)", sum ? &rule.change : &none);
    tv_out_char(sql, ')');
    return TV_OK;
}

/* Each condition is a table of its own, with a row for each trace that meets
 * it; joining them all gives the traces that meet every condition.  The first
 * one has plain names, "figure" and "slice", the others a number behind. */
enum tv_status tv_fleet_ask_which(struct tv_out *sql, const char *const *conditions, size_t count,
                                  const char *where, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    tv_out_text(sql, "select t.uri, t.version, t.device");
    for (size_t i = 0; i < count; i++) {
        tv_out_format(sql, ", c%zu.figure as ", i);
        tv_out_format(sql, i > 0 ? "figure%zu" : "figure", i + 1);
        tv_out_format(sql, ", c%zu.slice as ", i);
        tv_out_format(sql, i > 0 ? "slice%zu" : "slice", i + 1);
    }
    tv_out_text(sql, ", t.trace from trace t");
    for (size_t i = 0; i < count && status == TV_OK; i++) {
        tv_out_text(sql, " join ");
        status = fleet_put_condition(sql, conditions[i], err);
        tv_out_format(sql, " c%zu on c%zu.trace = t.trace", i, i);
    }
    tv_out_text(sql, " where t.error is null");
    if (status == TV_OK)
        status = fleet_put_where(sql, where, err);
    tv_out_text(sql, " order by c0.figure desc, t.uri, t.trace");
    return status;
}

enum tv_status tv_fleet_ask_condition_method(struct tv_out *sql, const char *condition,
                                             struct tv_error *err)
{
    struct tv_gate_rule rule;
    enum tv_status status = tv_gate_rule_parse(tv_bytes_of(condition), &rule, err);
    if (status != TV_OK)
        return status;
    tv_out_text(sql, "select method from ");
    fleet_put_pattern(sql, &rule);
    tv_out_text(sql, " limit 1");
    return TV_OK;
}

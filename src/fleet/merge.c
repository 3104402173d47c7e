/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c - rows of a folder in a new batch or a rollup, and what is wrong with
 * a batch.
 *
 *     files of several batches --> DuckDB: SELECT ... ORDER BY --> rows --> our writer --> one file
 *
 * DuckDB reads the rows, in the order of the tables, and we write them: it may
 * not write files.  A list comes as a text, "LENGTH:VALUE" for each value, with
 * the length in bytes, so that no value needs to be escaped.
 *
 * A rollup sums up old traces of a batch, by labels and month, and lists them.
 * From the moment when its file is there, the sums count and the traces do not,
 * whatever batches they are in by then.
 *
 * The statements name files through the variable `folder`, and batches by their
 * numbers alone: no text of a file or of a user becomes part of a statement.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "fleet/batch.h"
#include "sql/values.h"

struct fleet_merging {
    struct tv_parquet *parquet;
    enum tv_fleet_table table;
    const struct tv_parquet_column *columns;
    size_t count;
    size_t batch; /* the column of that name */
    uint64_t number;
};

/* Append the files of some batches as a list. */
static void merge_put_files(struct tv_out *sql, enum tv_fleet_table table, const uint64_t *batches,
                            size_t count)
{
    tv_out_char(sql, '[');
    for (size_t i = 0; i < count; i++)
        tv_out_format(sql, "%sgetvariable('folder') || '/%s/%016" PRIx64 ".parquet'",
                      i > 0 ? ", " : "", tv_fleet_table_name(table), batches[i]);
    tv_out_char(sql, ']');
}

/* Append the rows of the files of some batches, with all columns of this version. */
static void merge_put_rows(struct tv_out *sql, enum tv_fleet_table table, const uint64_t *batches,
                           size_t count)
{
    tv_out_char(sql, '(');
    if (count > 0) {
        tv_out_text(sql, "select * from read_parquet(");
        merge_put_files(sql, table, batches, count);
        tv_out_text(sql, ", union_by_name = true) union all by name ");
    }
    tv_fleet_put_empty(sql, table);
    tv_out_char(sql, ')');
}

/* Append the traces of these batches: all that have not expired, each once, also those that count
 * as a trace of another batch.  That one may be joined at the same time, and its new batch may
 * leave them out for the sake of these. */
static void merge_put_traces(struct tv_out *sql, const struct tv_fleet_merge *merge)
{
    tv_out_text(sql, "(select * exclude (place) from (select f.*, row_number() over (partition by "
                     "f.trace order by f.error is not null, f.added, f.batch) as place from ");
    merge_put_rows(sql, TV_FLEET_TRACE, merge->batches, merge->count);
    tv_out_text(sql, " f anti join expired_trace e on f.trace = e.trace) where place = 1)");
}

/* Append the traces that a rollup is about. */
static void merge_put_old_traces(struct tv_out *sql, const struct tv_fleet_rollup *rollup)
{
    tv_out_format(sql,
                  "(select * from stored_trace where batch = %" PRIu64
                  " and coalesce(recorded, added) < %" PRId64 ")",
                  rollup->batch, rollup->edge);
}

void tv_fleet_ask_traces(struct tv_out *sql, const struct tv_fleet_merge *merge)
{
    tv_out_text(sql, "select trace, error is null from ");
    merge_put_traces(sql, merge);
    tv_out_text(sql, " order by trace");
}

void tv_fleet_ask_old_traces(struct tv_out *sql, const struct tv_fleet_rollup *rollup)
{
    tv_out_text(sql, "select trace, error is null from ");
    merge_put_old_traces(sql, rollup);
    tv_out_text(sql, " order by trace");
}

/* Append the columns of a table `r`, one value each. */
static void merge_put_columns(struct tv_out *sql, const struct fleet_merging *merging)
{
    for (size_t i = 0; i < merging->count; i++) {
        const char *name = merging->columns[i].name;
        tv_out_text(sql, i > 0 ? ", " : "");
        TV_DUCK_PUT(sql,
                    merging->columns[i].list ? "array_to_string(list_transform(r.?, lambda v: "
                                               "strlen(v::text) || ':' || v::text), '')"
                                             : "r.?",
                    TV_SQL_NAME(name));
    }
}

/* Append the SELECT of a table's rows, in the order in which a batch has them. */
static void merge_ask(struct tv_out *sql, const struct tv_fleet_merge *merge,
                      enum tv_fleet_table table, const struct fleet_merging *merging)
{
    static const char *const orders[TV_FLEET_TABLES] = {
        [TV_FLEET_METHOD_NAME] = "r.method",
        [TV_FLEET_METHOD] = "r.method, r.trace",
        [TV_FLEET_PATH] = "r.path, r.trace",
        [TV_FLEET_THREAD] = "r.trace, r.thread, r.process",
        [TV_FLEET_SAMPLE] = "r.trace, r.value, r.method",
        [TV_FLEET_FINDING] = "r.trace, r.rule",
        [TV_FLEET_FRAME] = "r.trace, r.process",
        [TV_FLEET_SLICE] = "r.trace, r.id",
        [TV_FLEET_TRACE] = "r.trace"};
    tv_out_text(sql, table == TV_FLEET_METHOD_NAME ? "select distinct on (r.method) " : "select ");
    merge_put_columns(sql, merging);
    tv_out_text(sql, " from ");
    if (table == TV_FLEET_TRACE) {
        merge_put_traces(sql, merge);
        tv_out_text(sql, " r");
    } else {
        merge_put_rows(sql, table, merge->with[table], merge->with_count[table]);
        tv_out_text(sql, " r");
        if (table != TV_FLEET_METHOD_NAME) {
            tv_out_text(sql, " semi join ");
            merge_put_traces(sql, merge);
            tv_out_text(sql, " t on r.trace = t.trace and r.batch = t.batch");
        }
    }
    tv_out_format(sql, " order by %s", orders[table]);
    tv_out_char(sql, '\0');
}

/* Write the values of a list that DuckDB returned as a text. */
static enum tv_status merge_put_list(struct fleet_merging *merging, size_t column,
                                     struct tv_bytes text, struct tv_error *err)
{
    while (text.length > 0) {
        const uint8_t *colon = memchr(text.data, ':', text.length);
        uint64_t length = 0, number = 0;
        size_t digits = colon ? (size_t)(colon - text.data) : 0;
        struct tv_bytes value = {text.data, digits};
        if (!colon || !tv_parse_u64(value, &length) || length > text.length - digits - 1)
            return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "a list of %s is damaged",
                           merging->columns[column].name);
        value = (struct tv_bytes){colon + 1, (size_t)length};
        if (merging->columns[column].type == TV_PARQUET_TEXT)
            tv_parquet_put_text(merging->parquet, column, value);
        else if (tv_parse_u64(value, &number))
            tv_parquet_put_integer(merging->parquet, column, (int64_t)number);
        text.length -= digits + 1 + (size_t)length;
        text.data = colon + 1 + length;
    }
    return TV_OK;
}

/* Write a value.  The number of the batch is the new one; a value that is NULL
 * is not put. */
static enum tv_status merge_put_value(struct fleet_merging *merging, size_t column,
                                      const struct tv_sql_value *value, struct tv_error *err)
{
    if (column == merging->batch)
        tv_parquet_put_integer(merging->parquet, column, (int64_t)merging->number);
    else if (merging->columns[column].list && value->kind == TV_SQL_IS_TEXT)
        return merge_put_list(merging, column, value->text, err);
    else if (value->kind == TV_SQL_IS_TEXT)
        tv_parquet_put_text(merging->parquet, column, value->text);
    else if (value->kind == TV_SQL_IS_HUGE) /* unsigned, of 64 bits */
        tv_parquet_put_integer(merging->parquet, column, (int64_t)value->low);
    else if (value->kind == TV_SQL_IS_INTEGER || value->kind == TV_SQL_IS_BOOLEAN)
        tv_parquet_put_integer(merging->parquet, column, value->integer);
    return TV_OK;
}

/* Write the row that DuckDB found. */
static enum tv_status merge_take_row(void *context, const struct tv_sql_value *values,
                                     struct tv_error *err)
{
    struct fleet_merging *merging = context;
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < merging->count && status == TV_OK; i++)
        status = merge_put_value(merging, i, &values[i], err);
    return status == TV_OK ? tv_parquet_end_row(merging->parquet, err) : status;
}

/* Write the rows of a query, which has the columns of the table, as a Parquet file. */
static enum tv_status merge_write(struct tv_sql *sql, struct fleet_merging *merging,
                                  const struct tv_out *query, struct tv_out *out,
                                  struct tv_error *err)
{
    while (strcmp(merging->columns[merging->batch].name, "batch") != 0)
        merging->batch++; /* every table has one */
    merging->parquet = tv_fleet_parquet_new(out, merging->table);
    enum tv_status status = tv_sql_for_each_row(sql, (const char *)query->buffer, merging->count,
                                                merge_take_row, merging, err);
    if (status == TV_OK)
        status = tv_parquet_finish(merging->parquet, err);
    tv_parquet_free(merging->parquet);
    return status;
}

enum tv_status tv_fleet_merge_write(struct tv_sql *sql, const struct tv_fleet_merge *merge,
                                    enum tv_fleet_table table, struct tv_out *out,
                                    struct tv_error *err)
{
    struct fleet_merging merging = {.table = table, .number = merge->number};
    struct tv_out query;
    assert(merge->count > 0);
    merging.columns = tv_fleet_columns(table, &merging.count);
    tv_out_init_memory(&query);
    merge_ask(&query, merge, table, &merging);
    enum tv_status status = merge_write(sql, &merging, &query, out, err);
    tv_out_release(&query);
    return status;
}

void tv_fleet_ask_columns(struct tv_out *sql, enum tv_fleet_table table, uint64_t batch)
{
    size_t count;
    const struct tv_parquet_column *columns = tv_fleet_columns(table, &count);
    tv_out_text(sql, "select count(distinct name) from parquet_schema(");
    merge_put_files(sql, table, &batch, 1);
    tv_out_text(sql, ") where name in (");
    for (size_t i = 0; i < count; i++)
        tv_out_format(sql, "%s'%s'", i > 0 ? ", " : "", columns[i].name);
    tv_out_char(sql, ')');
}

/* ---- Rollups ---- */

/* Append common tables: `old`, the traces with the number of their group, and `m`, their methods.
 */
static void merge_put_old(struct tv_out *sql, const struct tv_fleet_rollup *rollup)
{
    tv_out_text(sql, "with old as (select *, dense_rank() over (order by month, version, device, "
                     "scenario, side, label_keys, label_values, unit) as part from (select *, "
                     "strftime(make_timestamp(coalesce(recorded, added)), '%Y-%m') as month from ");
    merge_put_old_traces(sql, rollup);
    tv_out_text(sql, " where true");
    if (rollup->without_count > 0)
        TV_DUCK_PUT(sql, " and trace not in (?)",
                    TV_SQL_NUMBERS(rollup->without, rollup->without_count));
    tv_out_text(sql, ")), ");
    tv_out_text(sql, "m as (select r.*, old.part from ");
    merge_put_rows(sql, TV_FLEET_METHOD, &rollup->batch, 1);
    tv_out_text(sql, " r join old on r.trace = old.trace and r.batch = old.batch), ");
}

/* The statement is a chain of common tables:
 *
 *     old      traces of the batch, with the number of their group (month and labels)
 *     m        methods of these traces
 *     part     one row for each group
 *     bucket   the sketches of a group and method, added up by key
 *     sketch   the sums as two lists again
 *     total    the other figures, added up
 *     name     names of the methods
 *
 * The last row has no method; it lists the traces.
 */
enum tv_status tv_fleet_rollup_write(struct tv_sql *sql, const struct tv_fleet_rollup *rollup,
                                     struct tv_out *out, struct tv_error *err)
{
    struct fleet_merging merging = {.table = TV_FLEET_ROLLUP, .number = rollup->number};
    struct tv_out query;
    merging.columns = tv_fleet_columns(TV_FLEET_ROLLUP, &merging.count);
    tv_out_init_memory(&query);
    merge_put_old(&query, rollup);
    tv_out_text(&query,
                "part as (select distinct part, month, version, device, scenario, side, "
                "label_keys, label_values, unit from old), "
                "bucket as (select part, method, key, sum(n) as n from (select part, method, "
                "unnest(keys) as key, unnest(counts) as n from m) group by all), "
                "sketch as (select part, method, list(key order by key) as keys, "
                "list(n order by key) as counts from bucket group by all), "
                "total as (select part, method, count(*) as traces, "
                "sum(calls)::bigint as calls, sum(incl)::bigint as incl, sum(excl)::bigint as "
                "excl, sum(incl_cpu)::bigint as incl_cpu, sum(excl_cpu)::bigint as excl_cpu, "
                "max(max) as max from m group by all), name as (select "
                "distinct on (method) method, class, name, signature from ");
    merge_put_rows(&query, TV_FLEET_METHOD_NAME, &rollup->batch, 1);
    tv_out_text(&query, ") select ");
    merge_put_columns(&query, &merging);
    tv_out_text(&query,
                " from (select 0 as batch, * exclude (part) from total join part using (part) "
                "left join sketch using (part, method) left join name using (method) "
                "union all by name select 0 as batch, list(trace order by trace) as counts from ");
    merge_put_old_traces(&query, rollup);
    tv_out_text(&query, ") r order by r.month, r.method, r.version");
    tv_out_char(&query, '\0');
    enum tv_status status = merge_write(sql, &merging, &query, out, err);
    tv_out_release(&query);
    return status;
}

void tv_fleet_ask_faults(struct tv_out *sql, uint64_t batch)
{
    static const char *const names[TV_FLEET_TABLES] = {[TV_FLEET_METHOD_NAME] = "n",
                                                       [TV_FLEET_METHOD] = "m",
                                                       [TV_FLEET_PATH] = "p",
                                                       [TV_FLEET_TRACE] = "t"};
    for (int i = 0; i < TV_FLEET_TABLES; i++) {
        if (tv_fleet_is_detail((enum tv_fleet_table)i))
            continue;
        tv_out_format(sql, "%s%s as materialized ", i > 0 ? ", " : "with ", names[i]);
        merge_put_rows(sql, (enum tv_fleet_table)i, &batch, 1);
    }
    tv_out_text(sql,
                " select (select count(*) from m anti join t on m.trace = t.trace and m.batch = "
                "t.batch), (select count(*) from p anti join t on p.trace = t.trace and p.batch = "
                "t.batch), (select count(*) from m anti join n on m.method = n.method), (select "
                "count(*) from t where printf('%016x', trace) <> left(hash, 16)), (select count(*) "
                "from t)");
}

void tv_fleet_ask_strangers(struct tv_out *sql, enum tv_fleet_table table, uint64_t batch)
{
    tv_out_text(sql, "select count(*) from ");
    merge_put_rows(sql, table, &batch, 1);
    tv_out_text(sql, " d anti join ");
    merge_put_rows(sql, TV_FLEET_TRACE, &batch, 1);
    tv_out_text(sql, " t on d.trace = t.trace and d.batch = t.batch");
}

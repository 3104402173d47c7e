/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c - the rows of a fleet in ClickHouse that a question needs (clickhouse.h).
 *
 *     question --> SELECT of each table --> rows --> a folder of Parquet files --> questions.c
 *
 * The server filters as much as it can do cheaply and surely: by labels of
 * traces, names of methods, and columns.  It is never asked for the answer
 * itself.  So there is one implementation of every question, and this file only
 * decides how much travels.
 *
 * Labels and patterns are texts of the user.  They enter a statement in quotes (statement.h).
 */
#include "fleet/clickhouse.h"

#include <assert.h>
#include <string.h>

#include "analysis/compare/gate.h"
#include "base/bytes.h"
#include "fleet/batch.h"

/* ---- Traces with labels ---- */

/* Append the condition of the rows of `method`: those of the traces of the question. */
static enum tv_status fetch_put_traces(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                                       struct tv_error *err)
{
    if (!fetch->base && !fetch->where)
        return TV_OK;
    tv_out_text(sql, " AND trace IN (SELECT trace FROM " TV_FLEET_SERVER_PREFIX "trace WHERE ((1");
    enum tv_status status = tv_fleet_put_where(sql, TV_SQL_CLICKHOUSE, fetch->base, err);
    tv_out_text(sql, ") OR (1");
    if (status == TV_OK)
        status = tv_fleet_put_where(sql, TV_SQL_CLICKHOUSE, fetch->fresh, err);
    tv_out_text(sql, "))");
    if (status == TV_OK)
        status = tv_fleet_put_where(sql, TV_SQL_CLICKHOUSE, fetch->where, err);
    tv_out_char(sql, ')');
    return status;
}

/* ---- Methods ---- */

/* Texts by which a question may name a method; class and signature may be missing. */
static const char *const fetch_names[] = {
    "name",
    "concat(class, '.', name)",
    "concat(name, ' ', signature)",
    "concat(class, '.', name, ' ', signature)",
    "form",
    "class", /* only in conditions */
};

/* Append the methods that a condition may be about. */
static enum tv_status fetch_put_condition(struct tv_out *sql, const char *text,
                                          struct tv_error *err)
{
    struct tv_gate_rule rule;
    enum tv_status status = tv_gate_rule_parse(tv_bytes_of(text), &rule, err);
    if (status != TV_OK)
        return status;
    tv_out_text(sql, rule.pattern.length == 0 ? " OR 1" : "");
    for (size_t i = 0; i < TV_COUNT(fetch_names) && rule.pattern.length > 0; i++)
        TV_CLICKHOUSE_PUT(sql, " OR ? LIKE ?", TV_SQL_PLAIN(fetch_names[i]),
                          TV_SQL_LIKE(rule.pattern));
    return TV_OK;
}

/* Does a question name its methods? */
static bool fetch_names_methods(const struct tv_fleet_fetch *fetch)
{
    return fetch->method || fetch->condition_count > 0;
}

/* Append the condition of the rows of `method_name`. */
static enum tv_status fetch_put_names(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                                      struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (!fetch_names_methods(fetch)) {
        tv_out_char(sql, '1');
        return TV_OK;
    }
    tv_out_text(sql, "(0");
    for (size_t i = 0; i + 1 < TV_COUNT(fetch_names) && fetch->method; i++)
        TV_CLICKHOUSE_PUT(sql, " OR ? = ?", TV_SQL_PLAIN(fetch_names[i]),
                          TV_SQL_TEXT(tv_bytes_of(fetch->method)));
    for (size_t i = 0; i < fetch->condition_count && status == TV_OK; i++)
        status = fetch_put_condition(sql, fetch->conditions[i], err);
    tv_out_char(sql, ')');
    return status;
}

/* ---- Rows ---- */

/* Append the names: one row for each method, as if they were all of the first batch, because a
 * batch may have no name of its own for a method.  Rows of batches that do not count are left out.
 */
static enum tv_status fetch_put_method_names(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                                             struct tv_error *err)
{
    tv_out_text(sql, " FROM (SELECT * FROM " TV_FLEET_SERVER_PREFIX "method_name WHERE ");
    enum tv_status status = fetch_put_names(sql, fetch, err);
    tv_out_text(sql, " AND batch IN (SELECT batch FROM " TV_FLEET_SERVER_PREFIX
                     "trace) ORDER BY method, batch LIMIT 1 BY method)");
    return status;
}

/* Append the rows of `method`: those of the named methods, in the traces of the
 * question. */
static enum tv_status fetch_put_methods(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                                        struct tv_error *err)
{
    enum tv_status status = TV_OK;
    /* Copies of rows are left out.  FINAL does that while it reads in the order of methods, but it
     * reads all columns of rows that belong to other traces.  LIMIT BY reads `trace` first, and
     * keeps the keys of all rows in memory, so it is for few traces. */
    tv_out_format(sql, " FROM " TV_FLEET_SERVER_PREFIX "method %sWHERE 1",
                  fetch->base ? "" : "FINAL ");
    if (fetch_names_methods(fetch)) {
        tv_out_text(sql, " AND method IN (SELECT method FROM " TV_FLEET_SERVER_PREFIX
                         "method_name WHERE ");
        status = fetch_put_names(sql, fetch, err);
        tv_out_char(sql, ')');
    }
    if (status == TV_OK)
        status = fetch_put_traces(sql, fetch, err);
    if (fetch->base)
        tv_out_text(sql, " LIMIT 1 BY method, trace, batch");
    return status;
}

/* Append the rows of `path` of the two groups of traces. */
static enum tv_status fetch_put_paths(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                                      struct tv_error *err)
{
    assert(fetch->base && fetch->fresh);
    tv_out_text(sql, " FROM " TV_FLEET_SERVER_PREFIX "path WHERE 1");
    enum tv_status status = fetch_put_traces(sql, fetch, err);
    tv_out_text(sql, " LIMIT 1 BY trace, path, batch");
    return status;
}

/* Does a question need a column? */
static bool fetch_needs(const struct tv_fleet_fetch *fetch, enum tv_fleet_table table,
                        const struct tv_parquet_column *column)
{
    const char *name = column->name;
    if (fetch->by_path && table == TV_FLEET_METHOD && column->list)
        return false; /* the sketches are most of a row, and only its times are summed */
    if (!fetch->figure || table != TV_FLEET_METHOD || strcmp(name, "trace") == 0 ||
        strcmp(name, "batch") == 0 || strcmp(name, "method") == 0)
        return true;
    return fetch->figure[0] == 'p' ? column->list : strcmp(name, fetch->figure) == 0;
}

/* The statement is SELECT columns, then FROM with the conditions of the table,
 * then the format that tsv.c reads. */
size_t tv_fleet_put_fetch(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                          enum tv_fleet_table table,
                          struct tv_parquet_column columns[TV_FLEET_FETCH_COLUMNS],
                          struct tv_error *err)
{
    /* Over distributed tables FINAL needs the column `trace`, so the order names it. */
    static const char first_batch[] = "toUInt64((SELECT batch FROM " TV_FLEET_SERVER_PREFIX
                                      "trace FINAL ORDER BY added, trace LIMIT 1)) AS batch";
    size_t all, count = 0;
    enum tv_status status = TV_OK;
    const struct tv_parquet_column *from = tv_fleet_columns(table, &all);
    assert(all <= TV_FLEET_FETCH_COLUMNS);
    for (size_t i = 0; i < all; i++) {
        if (!fetch_needs(fetch, table, &from[i]))
            continue;
        tv_out_text(sql, count > 0 ? ", " : "SELECT ");
        if (table == TV_FLEET_METHOD_NAME && strcmp(from[i].name, "batch") == 0)
            tv_out_text(sql, first_batch);
        else
            TV_CLICKHOUSE_PUT(sql, "?", TV_SQL_NAME(from[i].name));
        columns[count++] = from[i];
    }
    if (table == TV_FLEET_METHOD_NAME)
        status = fetch_put_method_names(sql, fetch, err);
    else if (table == TV_FLEET_METHOD)
        status = fetch_put_methods(sql, fetch, err);
    else if (table == TV_FLEET_PATH)
        status = fetch_put_paths(sql, fetch, err);
    else
        tv_out_text(sql, " FROM " TV_FLEET_SERVER_PREFIX "trace FINAL");
    tv_out_text(sql, " FORMAT TabSeparatedWithNamesAndTypes");
    tv_out_char(sql, '\0');
    return status == TV_OK ? count : 0;
}

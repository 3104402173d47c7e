/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rowbinary.c - the tables of a fleet in ClickHouse (clickhouse.h).
 *
 * A row in RowBinary is its values, one after another, without names or a mark
 * between rows:
 *
 *     number          1, 4 or 8 bytes, little-endian
 *     text            length as a varint, bytes
 *     Nullable(X)     0 and the value, or 1
 *     Array(X)        number of values as a varint, values
 *
 * So every column must be written, in its order.  A row of a batch puts only
 * the values that it has, and rowbinary_skip_to fills the gaps.  The values of
 * a list wait in `list` until their number is known.
 *
 * The tables are ReplacingMergeTrees: a row with the same sorting key as
 * another one replaces it, at some later time.  An INSERT that is repeated
 * after a failure is therefore harmless.  Questions must leave the copies out
 * themselves (fetch.c).
 */
#include "fleet/clickhouse.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "fleet/batch.h"

/* ---- Columns ---- */

bool tv_fleet_has_month(enum tv_fleet_table table)
{
    return table != TV_FLEET_METHOD_NAME;
}

/* May a column be NULL?  `id` sorts the table of slices. */
static bool rowbinary_is_nullable(const struct tv_parquet_column *column)
{
    return !column->list &&
           (column->type == TV_PARQUET_INT64 || column->type == TV_PARQUET_BOOLEAN) &&
           strcmp(column->name, "id") != 0;
}

/* Append the definition of a column: name and type. */
static void rowbinary_put_column(struct tv_out *sql, const struct tv_parquet_column *column)
{
    static const char *const types[] = {
        [TV_PARQUET_BOOLEAN] = "UInt8", [TV_PARQUET_UINT32] = "UInt32",
        [TV_PARQUET_INT64] = "Int64",   [TV_PARQUET_UINT64] = "UInt64",
        [TV_PARQUET_TEXT] = "String",
    };
    const char *around = column->list ? "Array(" : rowbinary_is_nullable(column) ? "Nullable(" : "";
    assert(column->type < TV_COUNT(types) && types[column->type]);
    tv_out_format(sql, "`%s` %s%s%s", column->name, around, types[column->type],
                  around[0] ? ")" : "");
}

void tv_fleet_put_create(struct tv_out *sql, enum tv_fleet_table table)
{
    /* A row is identified by these columns.  The batch is one of them: copies of a row replace each
     * other only within a batch, because the rows of one batch count for each trace. */
    static const char *const orders[TV_FLEET_TABLES] = {
        [TV_FLEET_METHOD_NAME] = "method, batch",
        [TV_FLEET_METHOD] = "method, trace, batch",
        [TV_FLEET_PATH] = "trace, path, batch",
        [TV_FLEET_THREAD] = "trace, thread, process, batch",
        [TV_FLEET_SAMPLE] = "trace, value, unit, method, batch",
        [TV_FLEET_FINDING] = "trace, rule, severity, batch",
        [TV_FLEET_FRAME] = "trace, process, batch",
        [TV_FLEET_SLICE] = "trace, id, batch",
        [TV_FLEET_TRACE] = "trace, batch"};
    size_t count;
    const struct tv_parquet_column *columns = tv_fleet_columns(table, &count);
    tv_out_format(sql, "CREATE TABLE IF NOT EXISTS " TV_FLEET_SERVER_PREFIX "%s (",
                  tv_fleet_table_name(table));
    for (size_t i = 0; i < count; i++) {
        tv_out_text(sql, i > 0 ? ", " : "");
        rowbinary_put_column(sql, &columns[i]);
    }
    tv_out_format(sql, "%s) ENGINE = ReplacingMergeTree() %sORDER BY (%s)",
                  tv_fleet_has_month(table) ? ", month UInt32" : "",
                  tv_fleet_has_month(table) ? "PARTITION BY month " : "", orders[table]);
}

/* ---- Sums over traces that expired ---- */

void tv_fleet_put_create_rollup(struct tv_out *sql)
{
    size_t count;
    const struct tv_parquet_column *columns = tv_fleet_columns(TV_FLEET_ROLLUP, &count);
    tv_out_text(sql, "CREATE TABLE IF NOT EXISTS " TV_FLEET_SERVER_PREFIX "rollup (");
    for (size_t i = 0; i < count; i++) {
        tv_out_text(sql, i > 0 ? ", " : "");
        rowbinary_put_column(sql, &columns[i]);
    }
    tv_out_text(sql, ") ENGINE = ReplacingMergeTree() PARTITION BY batch ORDER BY (batch, method, "
                     "version, device, scenario, side, label_keys, label_values, unit)");
}

/* The statement reads the methods of the traces, which may be the largest part
 * of the table.  So the inner SELECT names the columns, and the month lets
 * ClickHouse skip all other partitions. */
void tv_fleet_put_roll_up(struct tv_out *sql, uint64_t batch, uint32_t month)
{
    /* The columns of the table in their order; a join has two sides only, so names come last. */
    static const char labels[] = "version, device, scenario, side, label_keys, label_values, unit";
    size_t count;
    const struct tv_parquet_column *columns = tv_fleet_columns(TV_FLEET_ROLLUP, &count);
    tv_out_text(sql, "INSERT INTO " TV_FLEET_SERVER_PREFIX "rollup (");
    for (size_t i = 0; i < count; i++)
        TV_CLICKHOUSE_PUT(sql, i > 0 ? ", ?" : "?", TV_SQL_NAME(columns[i].name));
    tv_out_format(sql,
                  ") SELECT toUInt64(%" PRIu64 "), '%04u-%02u', %s, method, class, name, "
                  "signature, traces, calls, incl, excl, incl_cpu, excl_cpu, longest, sketch.1, "
                  "sketch.2 FROM (SELECT method, %s, toInt64(count()) AS traces, sum(calls) AS "
                  "calls, sum(incl) AS incl, sum(excl) AS excl, sum(incl_cpu) AS incl_cpu, "
                  "sum(excl_cpu) AS excl_cpu, max(max) AS longest, sumMap(keys, counts) AS sketch ",
                  batch, month / 100, month % 100, labels, labels);
    tv_out_format(sql,
                  "FROM (SELECT trace, batch, method, calls, incl, excl, incl_cpu, excl_cpu, max, "
                  "keys, counts FROM " TV_FLEET_SERVER_PREFIX "method FINAL WHERE month = %u) "
                  "ANY INNER JOIN (SELECT trace, batch, %s FROM " TV_FLEET_SERVER_PREFIX
                  "trace FINAL WHERE month = %u AND trace IN (SELECT trace "
                  "FROM " TV_FLEET_SERVER_PREFIX "expired WHERE batch = %" PRIu64
                  ") ORDER BY added, batch LIMIT 1 BY trace) USING (trace, batch) ",
                  month, labels, month, batch);
    tv_out_format(sql,
                  "GROUP BY method, %s) ANY LEFT JOIN (SELECT method, class, name, signature "
                  "FROM " TV_FLEET_SERVER_PREFIX "method_name ORDER BY method, batch LIMIT 1 BY "
                  "method) USING (method)",
                  labels);
    tv_out_char(sql, '\0');
}

/* ---- Statements about any table ---- */

void tv_fleet_put_insert(struct tv_out *sql, enum tv_fleet_table table)
{
    size_t count;
    const struct tv_parquet_column *columns = tv_fleet_columns(table, &count);
    tv_out_format(sql, "INSERT INTO " TV_FLEET_SERVER_PREFIX "%s (", tv_fleet_table_name(table));
    for (size_t i = 0; i < count; i++)
        tv_out_format(sql, "%s`%s`", i > 0 ? ", " : "", columns[i].name);
    tv_out_format(sql, "%s) FORMAT RowBinary", tv_fleet_has_month(table) ? ", month" : "");
}

/* Has a list of lines this one? */
static bool rowbinary_has_line(struct tv_bytes lines, const char *line)
{
    struct tv_bytes one;
    for (bool more = true; more;) {
        more = tv_bytes_split(&lines, '\n', &one);
        if (tv_bytes_equal(one, tv_bytes_of(line)))
            return true;
    }
    return false;
}

bool tv_fleet_put_alter(struct tv_out *sql, enum tv_fleet_table table, struct tv_bytes names)
{
    size_t count;
    bool any = false;
    const struct tv_parquet_column *columns = tv_fleet_columns(table, &count);
    for (size_t i = 0; i < count; i++) {
        if (rowbinary_has_line(names, columns[i].name))
            continue;
        if (!any)
            tv_out_format(sql, "ALTER TABLE " TV_FLEET_SERVER_PREFIX "%s ",
                          tv_fleet_table_name(table));
        tv_out_text(sql, any ? ", ADD COLUMN " : "ADD COLUMN ");
        rowbinary_put_column(sql, &columns[i]);
        any = true;
    }
    return any;
}

/* Months are counted off from 1970; every fourth year until 2100 is a leap
 * year. */
uint32_t tv_fleet_month(int64_t time_us)
{
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t days = time_us / 86400000000;
    uint32_t year = 1970, month = 0;
    if (time_us < 0 || days >= 47482) /* the first day of 2100 */
        return 1;
    for (;; month = month == 11 ? 0 : month + 1, year += month == 0) {
        int64_t length = lengths[month] + (month == 1 && year % 4 == 0);
        if (days < length)
            return 100 * year + month + 1;
        days -= length;
    }
}

/* ---- Values ---- */

void tv_rowbinary_init(struct tv_rowbinary *to, struct tv_out *out,
                       const struct tv_parquet_column *columns, size_t count)
{
    *to = (struct tv_rowbinary){.out = out, .columns = columns, .count = count};
    tv_out_init_memory(&to->list);
    tv_out_init_memory(&to->text);
}

void tv_rowbinary_release(struct tv_rowbinary *to)
{
    tv_out_release(&to->list);
    tv_out_release(&to->text);
}

static void rowbinary_put_le(struct tv_out *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        tv_out_char(out, (char)(value >> 8 * i));
}

static void rowbinary_put_length(struct tv_out *out, uint64_t length)
{
    for (; length >= 128; length >>= 7)
        tv_out_char(out, (char)(length | 128));
    tv_out_char(out, (char)length);
}

/* Return the bytes of a number of a column's type. */
static size_t rowbinary_size(const struct tv_parquet_column *column)
{
    return column->type == TV_PARQUET_BOOLEAN ? 1 : column->type == TV_PARQUET_UINT32 ? 4 : 8;
}

/* Write the columns before one: lists with the values that they have, others as NULL. */
static void rowbinary_skip_to(struct tv_rowbinary *to, size_t column)
{
    for (; to->next < column; to->next++) {
        const struct tv_parquet_column *skipped = &to->columns[to->next];
        if (skipped->list) {
            rowbinary_put_length(to->out, to->list_count);
            tv_out_bytes(to->out, (struct tv_bytes){to->list.buffer, to->list.length});
            to->list.length = 0;
            to->list_count = 0;
        } else if (rowbinary_is_nullable(skipped)) {
            tv_out_char(to->out, 1);
        } else {
            rowbinary_put_le(to->out, 0,
                             skipped->type == TV_PARQUET_TEXT ? 1 : rowbinary_size(skipped));
        }
    }
}

/* Begin a value; return where it is written. */
static struct tv_out *rowbinary_begin(struct tv_rowbinary *to, size_t column)
{
    assert(column >= to->next && column < to->count);
    rowbinary_skip_to(to, column);
    if (to->columns[column].list) {
        to->list_count++;
        return &to->list;
    }
    if (rowbinary_is_nullable(&to->columns[column]))
        tv_out_char(to->out, 0);
    to->next++;
    return to->out;
}

void tv_rowbinary_put_integer(struct tv_rowbinary *to, size_t column, int64_t value)
{
    struct tv_out *out = rowbinary_begin(to, column);
    rowbinary_put_le(out, (uint64_t)value, rowbinary_size(&to->columns[column]));
}

void tv_rowbinary_put_text(struct tv_rowbinary *to, size_t column, struct tv_bytes text)
{
    struct tv_out *out = rowbinary_begin(to, column);
    to->text.length = 0;
    tv_parquet_clean_text(&to->text, text);
    rowbinary_put_length(out, to->text.length);
    tv_out_bytes(out, (struct tv_bytes){to->text.buffer, to->text.length});
}

void tv_rowbinary_end_row(struct tv_rowbinary *to, uint32_t month)
{
    rowbinary_skip_to(to, to->count);
    to->next = 0;
    if (month != 0)
        rowbinary_put_le(to->out, month, 4);
}

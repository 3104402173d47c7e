/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clickhouse.h - a fleet on a ClickHouse server: rows to it, and rows from it.
 *
 *     add         --> rowbinary.c --> INSERT in RowBinary
 *     a question  --> fetch.c     --> SELECT of the rows that it needs
 *     the answer  --> tsv.c       --> Parquet files, of which DuckDB is asked as of a folder
 *
 * cmd_fleet_server.h in src/cli/commands has the requests.
 */
#ifndef TV_FLEET_CLICKHOUSE_H
#define TV_FLEET_CLICKHOUSE_H

#include "fleet/fleet.h"
#include "parquet/parquet.h"

/* ---- rowbinary.c ----
 *
 * The tables of a fleet in ClickHouse: their columns, and rows in its format RowBinary.
 *
 * The columns are those of the folder, and `month` after them (202611), by which the tables are
 * partitioned.  Numbers that may be unknown are Nullable.  Texts and keys are not, because they
 * sort the tables: an empty text and the key 0 mean NULL.
 */

#define TV_FLEET_SERVER_PREFIX "tv1_" /* of the tables; 1 is the major number of the schema */

/* A writer of rows; zeros but for the columns and the output. */
struct tv_rowbinary {
    struct tv_out *out;
    const struct tv_parquet_column *columns;
    size_t count;
    size_t next;        /* the first column that was not written */
    struct tv_out list; /* the values of the list `next`, whose number comes before them */
    uint64_t list_count;
    struct tv_out text; /* the last text, which is UTF-8 as in a folder */
};

void tv_rowbinary_init(struct tv_rowbinary *to, struct tv_out *out,
                       const struct tv_parquet_column *columns, size_t count);
void tv_rowbinary_release(struct tv_rowbinary *to);

/* Write a value.  Columns come in their order; those that are left out are NULL or empty. */
void tv_rowbinary_put_integer(struct tv_rowbinary *to, size_t column, int64_t value);
void tv_rowbinary_put_text(struct tv_rowbinary *to, size_t column, struct tv_bytes text);

/* End a row with its month; 0: the table has none. */
void tv_rowbinary_end_row(struct tv_rowbinary *to, uint32_t month);

/* Return the month of a time in microseconds since 1970, as 202611; times before 1970 or after 2099
 * have month 1. */
uint32_t tv_fleet_month(int64_t time_us);

/* Do rows of a table have a month? */
bool tv_fleet_has_month(enum tv_fleet_table table);

/* Append the statement that makes a table. */
void tv_fleet_put_create(struct tv_out *sql, enum tv_fleet_table table);

/* Append the statement that makes the table of sums, which is partitioned by batch. */
void tv_fleet_put_create_rollup(struct tv_out *sql);

/* Append the INSERT of the sums over the traces that the table `expired` lists for a batch, all of
 * which are of this month. */
void tv_fleet_put_roll_up(struct tv_out *sql, uint64_t batch, uint32_t month);

/* Append the start of an INSERT in RowBinary, whose columns are named: the table of a later version
 * may have more. */
void tv_fleet_put_insert(struct tv_out *sql, enum tv_fleet_table table);

/* Append an ALTER TABLE that adds the columns that are not among `names`, each of which has a line;
 * false: there is none to add. */
bool tv_fleet_put_alter(struct tv_out *sql, enum tv_fleet_table table, struct tv_bytes names);

/* ---- fetch.c ----
 *
 * The rows of a fleet in ClickHouse that a question needs.
 *
 * A question is answered from a folder with these rows, by the SQL of questions.c, so that a server
 * and a folder give the same answers.  The conditions here may let more rows through than the
 * question uses, never fewer.
 */

#define TV_FLEET_FETCH_COLUMNS 64u

/* A question; what it does not have is NULL. */
struct tv_fleet_fetch {
    const char *method;            /* for trend and outliers */
    const char *const *conditions; /* of which */
    size_t condition_count;
    const char *base, *fresh; /* for regressions and flamegraph */
    bool by_path;             /* flamegraph */
    const char *where;
    const char *figure; /* for changes and trends, which need no other column of `method` */
};

/* Append the SELECT of a table's rows, METHOD_NAME, METHOD, PATH or TRACE, and fill in the columns
 * that they have; return their number, 0 after an error.  TV_ERR_USAGE when labels or a condition
 * are malformed. */
size_t tv_fleet_put_fetch(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                          enum tv_fleet_table table,
                          struct tv_parquet_column columns[TV_FLEET_FETCH_COLUMNS],
                          struct tv_error *err);

/* ---- tsv.c ----
 *
 * An answer of ClickHouse, in its format TabSeparatedWithNamesAndTypes, as a Parquet file.
 *
 *     name1 TAB name2 LF   UInt64 TAB Array(String) LF   1 TAB ['a','b'] LF ...
 *
 * The answer comes in parts of any length, and is not trusted.
 */

struct tv_fleet_tsv;

/* Begin a file, which is written to `out`.  With columns, which must outlive the reader, the answer
 * must have these; empty texts and the key 0 become NULL (see above).  NULL: the columns are
 * those of the answer; what is no number is a text. */
struct tv_fleet_tsv *tv_fleet_tsv_new(const struct tv_parquet_column *columns, size_t count,
                                      struct tv_out *out);
void tv_fleet_tsv_free(struct tv_fleet_tsv *tsv);

/* Take a part of the answer. */
enum tv_status tv_fleet_tsv_take(struct tv_fleet_tsv *tsv, struct tv_bytes bytes,
                                 struct tv_error *err) TV_MUST_CHECK;

/* End the file.  TV_ERR_SYNTAX when the answer ends within a row, or before its first one. */
enum tv_status tv_fleet_tsv_finish(struct tv_fleet_tsv *tsv, struct tv_error *err) TV_MUST_CHECK;

#endif

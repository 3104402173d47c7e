/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - the rows of a result: decoded, and in every format of `traceview sql`. */
#ifndef TV_SQL_VALUES_H
#define TV_SQL_VALUES_H

#include "sql/duckdb.h"
#include "sql/sql.h"

#define TV_SQL_MAX_COLUMNS 256

struct tv_sql_result_column {
    const char *name;
    int type;
    duck_type logical; /* of an ENUM or a decimal; else NULL */
    int decimal;       /* type of its integers, if `type` is that of reals; else 0 */
    double divisor;    /* of a decimal's integers */
    int enum_bytes;
    struct tv_bytes *enum_texts; /* by their numbers; data NULL: not asked for yet */
    uint32_t enum_count;
};

struct tv_sql_columns {
    struct tv_sql_result_column *items;
    uint64_t count;
};

/* Rows that are found one chunk after another: those of a result, or of an exported table. */
struct tv_sql_rows {
    duck_result *result;           /* NULL: */
    struct tv_sql_exporter *table; /* export.c */
};

/* Some rows; tv_sql_chunk_release them. */
struct tv_sql_chunk {
    duck_chunk chunk; /* NULL: not DuckDB's */
    uint64_t count;
    const void *data[TV_SQL_MAX_COLUMNS];
    const uint64_t *validity[TV_SQL_MAX_COLUMNS];
};

enum tv_sql_value_kind {
    TV_SQL_IS_NULL,
    TV_SQL_IS_BOOLEAN,
    TV_SQL_IS_INTEGER,
    TV_SQL_IS_HUGE, /* 128 bits: `integer` above `low` */
    TV_SQL_IS_REAL,
    TV_SQL_IS_TEXT,
};

struct tv_sql_value {
    enum tv_sql_value_kind kind;
    int64_t integer;
    uint64_t low;
    double real;
    struct tv_bytes text; /* of the chunk, or of an ENUM of the columns */
};

/* Can values of a type of DuckDB be decoded? */
bool tv_sql_is_written(int type);

/* List the columns of a result; release them, also after an error.  TV_ERR_USAGE for a type that
 * cannot be written. */
enum tv_status tv_sql_columns_list(struct tv_sql_columns *columns, const struct tv_sql_rows *from,
                                   struct tv_error *err) TV_MUST_CHECK;
void tv_sql_columns_release(struct tv_sql_columns *columns);

/* Fetch the next rows; false at the end, or after an error that the result then has. */
bool tv_sql_chunk_fetch(struct tv_sql_chunk *chunk, const struct tv_sql_rows *from,
                        uint64_t columns);
void tv_sql_chunk_release(struct tv_sql_chunk *chunk);

/* Decode the value of a column in a row of a chunk. */
struct tv_sql_value tv_sql_value_read(const struct tv_sql_result_column *column, const void *data,
                                      const uint64_t *validity, uint64_t row);

/* Decode the values of a row, one for each column.  Members that their kinds do not use are not
 * set. */
void tv_sql_row_read(const struct tv_sql_columns *columns, const struct tv_sql_chunk *chunk,
                     uint64_t row, struct tv_sql_value *values);

/* Write a value as a cell of a format. */
void tv_sql_put_value(struct tv_out *out, enum tv_sql_format format,
                      const struct tv_sql_value *value);

/* Return an integer of 128 bits as a real number. */
double tv_sql_huge_real(const struct tv_sql_value *number);

/* Write an integer of 128 bits in decimal. */
void tv_sql_put_huge(struct tv_out *out, const struct tv_sql_value *number);

/* Write some rows of a result as the answer of tv_sql_answer. (answer.c) */
enum tv_status tv_sql_write_answer(struct tv_out *out, duck_result *result,
                                   const struct tv_sql_bounds *bounds,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Take the rows of a result, as they are found. */
typedef enum tv_status tv_sql_take(void *context, duck_result *result, struct tv_error *err);

/* Take one row: a value for each column.  Texts are valid until it returns. */
typedef enum tv_status tv_sql_take_row(void *context, const struct tv_sql_value *values,
                                       struct tv_error *err);

/* Run the statements of a text, and let a function take the rows of the last one, which must have
 * `columns` columns. */
enum tv_status tv_sql_for_each_row(struct tv_sql *sql, const char *text, uint64_t columns,
                                   tv_sql_take_row *take, void *context,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Write the rows as bars.  TV_ERR_USAGE: no column has numbers. (chart.c) */
enum tv_status tv_sql_write_chart(struct tv_out *out, const struct tv_sql_columns *columns,
                                  const struct tv_sql_rows *from, struct tv_sql_output *output,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Write the rows in aligned columns for the screen that the output is laid out for. (screen.c) */
void tv_sql_write_screen(struct tv_out *out, const struct tv_sql_columns *columns,
                         const struct tv_sql_rows *from, struct tv_sql_output *output);

/* Write all rows. */
enum tv_status tv_sql_write_result(struct tv_out *out, const struct tv_sql_rows *rows,
                                   struct tv_sql_output *output,
                                   struct tv_error *err) TV_MUST_CHECK;

/* ---- Tables without DuckDB (export.c) ---- */

/* Begin to read one of tv_sql_exported. */
void tv_sql_exporter_begin(struct tv_sql_exporter *exporter, const char *table);

/* List its columns, and read its next rows; false at the end. */
void tv_sql_exporter_columns(struct tv_sql_exporter *exporter, struct tv_sql_columns *columns);
bool tv_sql_exporter_next(struct tv_sql_exporter *exporter, struct tv_sql_chunk *chunk);

#endif

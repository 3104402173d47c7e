/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.h - write a table as an Apache Parquet file (format version 1), compressed with zstd.
 *
 * Rows are given value by value, or many at once column by column.  Columns are held in memory
 * until a row group is full, and the file is written from the front to the back, so that a pipe or
 * an open descriptor is enough: a sandboxed command can write one.
 */
#ifndef TV_PARQUET_PARQUET_H
#define TV_PARQUET_PARQUET_H

#include "base/out.h"

enum tv_parquet_type {
    TV_PARQUET_BOOLEAN,
    TV_PARQUET_UINT32,
    TV_PARQUET_INT64,
    TV_PARQUET_UINT64,
    TV_PARQUET_HUGE, /* whole numbers of 128 bits: DECIMAL(38, 0) */
    TV_PARQUET_REAL,
    TV_PARQUET_TEXT, /* UTF-8; other bytes are replaced with U+FFFD */
};

struct tv_parquet_column {
    const char *name;
    enum tv_parquet_type type;
    bool list; /* each row has any number of values */
};

struct tv_parquet;

/* Begin a file.  The columns and their names must outlive the writer, which writes to `out`.  There
 * is at least one column. */
struct tv_parquet *tv_parquet_new(struct tv_out *out, const struct tv_parquet_column *columns,
                                  size_t count);

/* Add a note about the whole file to its metadata, which readers show as pairs of key and value.
 * Both texts must outlive the writer. */
#define TV_PARQUET_MAX_NOTES 4u
void tv_parquet_add_note(struct tv_parquet *parquet, const char *key, const char *value);

/* Free the writer; a file that was not finished is not valid. */
void tv_parquet_free(struct tv_parquet *parquet);

/* Add a value to the open row: one for each column, in any order of columns, or any number for a
 * list.  A column without a value is NULL, a list without one is empty. */
void tv_parquet_put_integer(struct tv_parquet *parquet, size_t column, int64_t value);
void tv_parquet_put_huge(struct tv_parquet *parquet, size_t column, int64_t high, uint64_t low);
void tv_parquet_put_real(struct tv_parquet *parquet, size_t column, double value);
void tv_parquet_put_text(struct tv_parquet *parquet, size_t column, struct tv_bytes text);

/* Add the values of a column, which is no list, to the next `count` rows: those whose bit in
 * `valid` is set, all if it is NULL.  Every column gets as many, then tv_parquet_end_rows ends
 * them.  Texts without data are NULL.  The texts of a call should have a few MiB at most. */
void tv_parquet_put_integers(struct tv_parquet *parquet, size_t column, const int64_t *values,
                             const uint64_t *valid, size_t count);
void tv_parquet_put_reals(struct tv_parquet *parquet, size_t column, const double *values,
                          const uint64_t *valid, size_t count);
void tv_parquet_put_texts(struct tv_parquet *parquet, size_t column, const struct tv_bytes *texts,
                          size_t count);
enum tv_status tv_parquet_end_rows(struct tv_parquet *parquet, size_t count,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Append text as a file has it: with U+FFFD for each byte that is not UTF-8. */
void tv_parquet_clean_text(struct tv_out *out, struct tv_bytes text);

/* End a row and begin the next.  TV_ERR_LIMIT when a text is too long for the format. */
enum tv_status tv_parquet_end_row(struct tv_parquet *parquet, struct tv_error *err) TV_MUST_CHECK;

/* Write what is left and the metadata.  Errors of `out` are left to tv_out_finish. */
enum tv_status tv_parquet_finish(struct tv_parquet *parquet, struct tv_error *err) TV_MUST_CHECK;

#endif

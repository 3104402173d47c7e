/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables that commands print: profile, relations, call tree, comparison, states
 * of threads, and Traceview's regression output; each as text and in formats for programs.
 *
 * Columns and keys are defined in traceview(1), under the command; those of CSV and JSON are a
 * contract. Times are milliseconds in text and nanoseconds elsewhere.
 */
#ifndef TV_WRITERS_PROFILE_TABLE_H
#define TV_WRITERS_PROFILE_TABLE_H

#include "analysis/profile.h"
#include "base/out.h"

enum tv_table_format {
    TV_TABLE_TEXT,
    TV_TABLE_CSV,
    TV_TABLE_JSON,
    TV_TABLE_MARKDOWN,
};

/* The rows of a method table: a row is a method or, with frame TV_NONE, the pseudo-method
 * "(context switch)". */
struct tv_profile_rows {
    struct tv_method_cost *rows;
    uint32_t count;
    uint32_t left_out; /* number of rows beyond the limit */
    enum tv_profile_order order;
};

/* List the methods in that order; with `waits`, the pseudo-method too, if the profile measures
 * waits. At most `limit` rows; 0: all. */
void tv_profile_rows_init(struct tv_profile_rows *rows, struct tv_profile *profile,
                          enum tv_profile_order order, bool waits, uint64_t limit);
void tv_profile_rows_release(struct tv_profile_rows *rows);

/* The columns of the text that --columns can name. */
#define TV_PROFILE_COLUMNS "incl-cpu|excl-cpu|incl-real|excl-real|calls|cpu-per-call|real-per-call"

/* Write the rows in a format. */
void tv_profile_table_write(struct tv_out *out, const struct tv_profile *profile,
                            const struct tv_profile_rows *rows, enum tv_table_format format);

/* Write a row's name: "class.method signature", or "(context switch)". */
void tv_profile_row_name(struct tv_out *out, const struct tv_head *head, uint32_t frame);

/* Write a row as JSON members, without the braces. */
void tv_profile_row_json(struct tv_out *out, const struct tv_profile *profile,
                         const struct tv_method_cost *row);

#endif

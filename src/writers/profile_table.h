/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_table.h - the method table as text, CSV, JSON and Markdown.
 *
 * Columns and keys are defined in traceview(1), profile; those of CSV and JSON are a contract.
 */
#ifndef TV_WRITERS_PROFILE_TABLE_H
#define TV_WRITERS_PROFILE_TABLE_H

#include "analysis/calltree/profile.h"
#include "base/out.h"

enum tv_table_format {
    TV_TABLE_TEXT,
    TV_TABLE_CSV,
    TV_TABLE_JSON,
    TV_TABLE_MARKDOWN,
};

/* A row: a method or, with frame TV_NONE, the pseudo-method "(context switch)". */
struct tv_profile_rows {
    struct tv_method_cost *rows;
    uint32_t count;
    uint32_t left_out; /* rows that the limit left out */
    enum tv_profile_order order;
};

/* The methods in that order; with `waits` the pseudo-method among them when the profile tells
 * waits.  At most `limit` rows, 0: all. */
void tv_profile_rows_init(struct tv_profile_rows *rows, struct tv_profile *profile,
                          enum tv_profile_order order, bool waits, uint64_t limit);
void tv_profile_rows_release(struct tv_profile_rows *rows);

/* The columns of the text that can be chosen. */
#define TV_PROFILE_COLUMNS "incl-cpu|excl-cpu|incl-real|excl-real|calls|cpu-per-call|real-per-call"

/* The rows in one of the formats. */
void tv_profile_table_write(struct tv_out *out, const struct tv_profile *profile,
                            const struct tv_profile_rows *rows, enum tv_table_format format);

/* A row's name: "class.method signature", "(context switch)". */
void tv_profile_row_name(struct tv_out *out, const struct tv_head *head, uint32_t frame);

/* One row as JSON members, without the braces. */
void tv_profile_row_json(struct tv_out *out, const struct tv_profile *profile,
                         const struct tv_method_cost *row);

#endif

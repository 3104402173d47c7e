/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_table.h - two method tables side by side, as text, CSV and JSON.
 *
 * Columns and keys are defined in traceview(1), diff; those of CSV and JSON are a contract.
 */
#ifndef TV_WRITERS_DIFF_TABLE_H
#define TV_WRITERS_DIFF_TABLE_H

#include "analysis/calltree/diff.h"
#include "base/out.h"

enum tv_diff_format {
    TV_DIFF_TEXT,
    TV_DIFF_CSV,
    TV_DIFF_JSON,
};

/* The columns of the text that can be chosen. */
#define TV_DIFF_COLUMNS "a|b|difference|ratio|calls-a|calls-b"

struct tv_diff_table_options {
    enum tv_diff_format format;
    uint64_t limit; /* methods of each part; 0: all */
    bool sort_each; /* text: each table of the methods in both by its own difference */
};

/* Sorts the methods in both anew where that is asked for. */
void tv_diff_table_write(struct tv_out *out, struct tv_diff *diff,
                         const struct tv_diff_table_options *options);

#endif

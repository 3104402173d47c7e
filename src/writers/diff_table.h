/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TV_WRITERS_DIFF_TABLE_H
#define TV_WRITERS_DIFF_TABLE_H

#include "analysis/diff.h"
#include "base/out.h"

enum tv_diff_format {
    TV_DIFF_TEXT,
    TV_DIFF_CSV,
    TV_DIFF_JSON,
};

/* The columns of the text that --columns can name. */
#define TV_DIFF_COLUMNS "a|b|difference|ratio|calls-a|calls-b"

struct tv_diff_table_options {
    enum tv_diff_format format;
    uint64_t limit; /* methods of each group; 0: all */
    bool sort_each; /* text: sort each table of the methods in both by its own difference */
};

/* Write the comparison. Sorts the methods in both again when options->sort_each is set. */
void tv_diff_table_write(struct tv_out *out, struct tv_diff *diff,
                         const struct tv_diff_table_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TV_WRITERS_TABLES_JSONL_H
#define TV_WRITERS_TABLES_JSONL_H

#include "analysis/keep.h"
#include "base/out.h"

/* tables_jsonl.c: write a line for every row of every table that is selected. */
void tv_tables_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_keep *keep);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables_jsonl.h - the tables beside the slices as JSON lines: a part of `dump --format jsonl`.
 */
#ifndef TV_WRITERS_TABLES_JSONL_H
#define TV_WRITERS_TABLES_JSONL_H

#include "analysis/subset/subset.h"
#include "base/out.h"

/* A line for every row of every table that is of the wanted processes and categories
 * (model_jsonl.h). */
void tv_tables_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_subset *keep);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- The whole model, one JSON object a line, which conformance tests read ----
 *
 * The types of lines and their keys are a contract, defined in traceview(1), dump.
 */
#ifndef TV_WRITERS_MODEL_JSONL_H
#define TV_WRITERS_MODEL_JSONL_H

#include "analysis/keep.h"
#include "base/out.h"

/* Write the slices of the selected tracks and frames, and all other rows of the selected
 * processes and categories; NULL: all. Threads that are not selected lose only their slices.
 * When categories are selected, rows that cannot have one are omitted. */
void tv_model_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_keep *keep);

#endif

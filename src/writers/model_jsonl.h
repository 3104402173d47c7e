/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_jsonl.h - the whole model of a trace, one JSON object a line: what conformance tests read.
 *
 * The kinds of lines and their keys are a contract, defined in traceview(1), dump.
 */
#ifndef TV_WRITERS_MODEL_JSONL_H
#define TV_WRITERS_MODEL_JSONL_H

#include "analysis/subset/subset.h"
#include "base/out.h"

/* Slices of the wanted tracks and frames, and everything else of the wanted processes and
 * categories; NULL: all.  Threads that are not wanted have no slices, but all the rest.  What can
 * have no category is not written where categories are chosen. */
void tv_model_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_subset *keep);

#endif

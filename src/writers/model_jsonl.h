/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_jsonl.h - the whole model of a trace, one JSON object a line: what conformance tests read.
 *
 * The kinds of lines and their keys are a contract, defined in traceview(1), dump.
 */
#ifndef TV_WRITERS_MODEL_JSONL_H
#define TV_WRITERS_MODEL_JSONL_H

#include "base/out.h"
#include "model/trace.h"

/* `wanted` [track_count] says whose slices are written; NULL: all. */
void tv_model_jsonl_write(struct tv_out *out, const struct tv_trace *trace, const bool *wanted);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - what a trace says about itself, as text and as JSON.
 *
 * The JSON keys are a contract, defined in traceview(1), info.
 */
#ifndef TV_WRITERS_INFO_H
#define TV_WRITERS_INFO_H

#include "base/out.h"
#include "writers/counts.h"

struct tv_info {
    const struct tv_trace_info *head;
    const struct tv_trace *trace; /* NULL: a stream of calls, which has nothing beside them */
    struct tv_counts counts;      /* without a trace only `processes`, `threads` and `facts` */
    tv_ns span;                   /* from the earliest record to the latest, on the trace's axis */
};

/* When the input was recorded as a JSON string, "2026-11-20T10:11:12.000345Z"; null: not said. */
void tv_info_write_recorded(struct tv_out *out, const struct tv_input *input);

/* For people. */
void tv_info_write_text(struct tv_out *out, const struct tv_info *info);

/* One object. */
void tv_info_write_json(struct tv_out *out, const struct tv_info *info);

#endif

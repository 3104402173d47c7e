/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Output ----
 */
#ifndef TV_WRITERS_INFO_H
#define TV_WRITERS_INFO_H

#include "base/out.h"
#include "writers/counts.h"

struct tv_info {
    const struct tv_head *head;
    const struct tv_trace *trace; /* NULL: a stream of calls, read without building a trace */
    struct tv_counts counts;      /* without a trace only `processes`, `threads` and `facts` */
    tv_ns span;                   /* from the earliest record to the latest, on the trace's axis */
};

/* Write the date of the input's recording as a JSON string, "2026-11-20T10:11:12.000345Z", or
 * null. */
void tv_info_write_recorded(struct tv_out *out, const struct tv_input *input);

/* Write the facts as text. */
void tv_info_write_text(struct tv_out *out, const struct tv_info *info);

/* Write the facts as one JSON object. */
void tv_info_write_json(struct tv_out *out, const struct tv_info *info);

#endif

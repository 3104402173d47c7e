/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - a sink in front of another that notes the earliest time of all records: a trace's span
 * without a trace.
 */
#ifndef TV_CLI_SPAN_H
#define TV_CLI_SPAN_H

#include "model/builder/sink.h"

struct tv_span_sink {
    struct tv_sink sink;
    struct tv_sink_ops ops;
    struct tv_sink *inner;
    const struct tv_input *input; /* the one that is read */
    int64_t *first;               /* [parts] in ticks */
    unsigned parts;
    tv_ns earliest[2]; /* real, CPU: of all inputs read; INT64_MAX without records */
};

/* `inner` gets everything that the span sink gets. */
void tv_span_sink_init(struct tv_span_sink *span, struct tv_sink *inner);
void tv_span_sink_release(struct tv_span_sink *span);

/* From the earliest record to the latest, on the axis of the trace; 0 without records. */
tv_ns tv_span_sink_get(const struct tv_span_sink *span, const struct tv_trace_info *head);

#endif

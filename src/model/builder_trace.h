/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder_trace.h - the trace that a builder is making, for the assembly, which adds to it.
 */
#ifndef TV_MODEL_BUILDER_TRACE_H
#define TV_MODEL_BUILDER_TRACE_H

#include "model/builder.h"

/* Owned by the builder until it finishes. */
struct tv_trace *tv_builder_trace(struct tv_builder *builder);

/* An offset of 0 for each input that has none yet. */
void tv_trace_reserve_offsets(struct tv_trace *trace);

/* What is found out when everything is there: the origin, the span, the order of the tables. */
void tv_trace_settle(struct tv_trace *trace);

#endif

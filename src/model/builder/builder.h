/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - the sink that makes a trace of call entries and exits.
 *
 * The builder reads each input twice, so that every slice is written once, at its final place: the
 * count pass counts the calls of each (thread, depth) and learns how the chunks fit together; the
 * write pass fills the columns.  builder.c explains the design.  Several inputs may follow one
 * another.
 */
#ifndef TV_MODEL_BUILDER_BUILDER_H
#define TV_MODEL_BUILDER_BUILDER_H

#include "model/builder/sink.h"
#include "model/trace.h"

struct tv_builder;

/* Create a builder and take `head` over; the reader must get the same trace info. */
struct tv_builder *tv_builder_new(struct tv_trace_info *head);

/* Return the sink to give to a reader. */
struct tv_sink *tv_builder_sink(struct tv_builder *builder);

/* Return the trace info given to tv_builder_new. */
struct tv_trace_info *tv_builder_trace_info(const struct tv_builder *builder);

/* Return the trace as far as it is built. */
struct tv_trace *tv_builder_trace(struct tv_builder *builder);

/* Let readers of profiles add up samples instead of keeping each.  Before the first input. */
void tv_builder_sum_samples(struct tv_builder *builder, enum tv_sample_detail detail);

/* Return the finished trace and free the builder. */
struct tv_trace *tv_builder_finish(struct tv_builder *builder);

/* Free the builder and its trace info without a trace. */
void tv_builder_free(struct tv_builder *builder);

#endif

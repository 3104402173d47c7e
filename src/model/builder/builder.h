/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - the sink that makes a trace.
 *
 * Rows are filled by counting: pass 0 counts the calls of each (thread, depth) and learns how the
 * chunks fit together, pass 1 writes each slice where it stays.  Several inputs may follow each
 * other.
 */
#ifndef TV_MODEL_BUILDER_H
#define TV_MODEL_BUILDER_H

#include "model/builder/sink.h"
#include "model/trace.h"

struct tv_builder;

/* Takes the head over; it must be the one given to the reader. */
struct tv_builder *tv_builder_new(struct tv_trace_info *head);

/* What a reader is given. */
struct tv_sink *tv_builder_sink(struct tv_builder *builder);

/* The head given to tv_builder_new. */
struct tv_trace_info *tv_builder_head(const struct tv_builder *builder);

/* The finished trace; the builder is gone. */
struct tv_trace *tv_builder_finish(struct tv_builder *builder);

/* Gives the builder and its head back instead. */
void tv_builder_free(struct tv_builder *builder);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonl.h - JSON lines: one object a line, with a "type" first. Internal to model_jsonl.c,
 * tables_jsonl.c and trace_event_tables.c.
 */
#ifndef TV_WRITERS_JSONL_H
#define TV_WRITERS_JSONL_H

#include "base/out.h"
#include "model/trace.h"

/* Begin a line with its type. */
void tv_jsonl_begin(struct tv_out *out, const char *type);
void tv_jsonl_end(struct tv_out *out); /* End the line. */

/* Write a member: ', "key": value'. */
void tv_jsonl_text(struct tv_out *out, const char *key, struct tv_bytes text);
void tv_jsonl_number(struct tv_out *out, const char *key, int64_t value);
/* The same, or null when the value is missing. */
void tv_jsonl_number_or_null(struct tv_out *out, const char *key, bool there, int64_t value);
void tv_jsonl_index(struct tv_out *out, const char *key, uint32_t index); /* null for TV_NONE */

/* Write a member unless it is empty or 0. */
void tv_jsonl_some_text(struct tv_out *out, const char *key, struct tv_bytes text);
void tv_jsonl_some_number(struct tv_out *out, const char *key, int64_t value);

/* Write a number with the fewest digits that reproduce it. An infinite number is the string
 * "Infinity" or "-Infinity"; NaN is null. */
void tv_jsonl_value(struct tv_out *out, double value);

/* Write "class" and "method", or "name" and "category" for inputs without classes. */
void tv_jsonl_frame(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    const struct tv_frame *frame);

/* Write "offset", an event's place in its input, and "event", its arguments. */
void tv_jsonl_event(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    uint64_t offset, uint64_t end_offset);

/* The same for a slice, with its "row" and "index", and the members of async slices. */
void tv_jsonl_slice_event(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                          uint32_t index);

#endif

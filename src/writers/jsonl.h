/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonl.h - the lines of `dump --format jsonl`: one JSON object each, with a "type" in front.
 *
 * For model_jsonl.c and tables_jsonl.c alone.
 */
#ifndef TV_WRITERS_JSONL_H
#define TV_WRITERS_JSONL_H

#include "base/out.h"
#include "model/trace.h"

/* A line, up to its type; its end. */
void tv_jsonl_begin(struct tv_out *out, const char *type);
void tv_jsonl_end(struct tv_out *out); /* the same */

/* A member: ', "key": value'. */
void tv_jsonl_text(struct tv_out *out, const char *key, struct tv_bytes text);
/* The same. */
void tv_jsonl_number(struct tv_out *out, const char *key, int64_t value);
/* The same, or null. */
void tv_jsonl_number_or_null(struct tv_out *out, const char *key, bool there, int64_t value);
void tv_jsonl_index(struct tv_out *out, const char *key, uint32_t index); /* null: TV_NONE */

/* Nothing when it is empty, or 0. */
void tv_jsonl_some_text(struct tv_out *out, const char *key, struct tv_bytes text);
void tv_jsonl_some_number(struct tv_out *out, const char *key, int64_t value);

/* A number in the fewest digits that give it back; an infinite one is the string "Infinity" or
 * "-Infinity", null when it is none. */
void tv_jsonl_value(struct tv_out *out, double value);

/* "class" and "method"; of assembled inputs "name" and "category". */
void tv_jsonl_frame(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    const struct tv_frame *frame);

/* "offset" of an event in its input, and "event": what it says beside. */
void tv_jsonl_event(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    uint64_t offset, uint64_t end_offset);

/* The same of a slice, with its "row" and "index", and what only async slices have. */
void tv_jsonl_slice_event(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                          uint32_t index);

#endif

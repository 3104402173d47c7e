/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonl.h - JSON lines: one object a line, with a "type" first. Internal to model_jsonl.c
 * and tables_jsonl.c.
 */
#ifndef TV_WRITERS_DUMP_JSONL_H
#define TV_WRITERS_DUMP_JSONL_H

#include "analysis/subset/subset.h"
#include "base/out.h"
#include "model/trace.h"
#include "writers/text/names.h"

/* Begin a line with its type. */
void tv_jsonl_begin(struct tv_out *out, const char *type);
/* End the line. */
void tv_jsonl_end(struct tv_out *out);

/* ---- Members of a line ---- */

static inline void tv_jsonl_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    tv_json_put_text(out, ", ", key, text);
}

static inline void tv_jsonl_number(struct tv_out *out, const char *key, int64_t value)
{
    tv_json_put_i64(out, ", ", key, value);
}

/* As above, or null when the value is missing. */
static inline void tv_jsonl_number_or_null(struct tv_out *out, const char *key, bool there,
                                           int64_t value)
{
    tv_json_put_some_i64(out, ", ", key, there, value);
}

/* As above, or null for TV_NONE. */
static inline void tv_jsonl_index(struct tv_out *out, const char *key, uint32_t index)
{
    tv_json_put_some_i64(out, ", ", key, index != TV_NONE, index);
}

/* Write a member unless it is empty or 0. */
static inline void tv_jsonl_some_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    if (text.length > 0)
        tv_jsonl_text(out, key, text);
}

static inline void tv_jsonl_some_number(struct tv_out *out, const char *key, int64_t value)
{
    if (value != 0)
        tv_jsonl_number(out, key, value);
}

/* Write "class" and "method", or "name" and "category" for inputs without classes. */
void tv_jsonl_frame(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    const struct tv_frame *frame);

/* Write "offset", an event's place in its input, and "event", its arguments. */
void tv_jsonl_event(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    uint64_t offset, uint64_t end_offset);

/* As above, for a slice, with its "row" and "index", and the members of async slices. */
void tv_jsonl_slice_event(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                          uint32_t index);

/* tables_jsonl.c: write a line for every row of every table that is selected. */
void tv_tables_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_subset *keep);

#endif

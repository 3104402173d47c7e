/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/jsonl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"

static void jsonl_add_key(struct tv_out *out, const char *key)
{
    tv_out_format(out, ", \"%s\": ", key);
}

void tv_jsonl_begin(struct tv_out *out, const char *type)
{
    tv_out_format(out, "{\"type\": \"%s\"", type);
}

void tv_jsonl_end(struct tv_out *out)
{
    tv_out_text(out, "}\n");
}

void tv_jsonl_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    jsonl_add_key(out, key);
    tv_out_json(out, text);
}

void tv_jsonl_number(struct tv_out *out, const char *key, int64_t value)
{
    jsonl_add_key(out, key);
    tv_out_i64(out, value);
}

void tv_jsonl_number_or_null(struct tv_out *out, const char *key, bool there, int64_t value)
{
    if (there)
        tv_jsonl_number(out, key, value);
    else
        tv_out_format(out, ", \"%s\": null", key);
}

void tv_jsonl_index(struct tv_out *out, const char *key, uint32_t index)
{
    tv_jsonl_number_or_null(out, key, index != TV_NONE, index);
}

void tv_jsonl_some_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    if (text.length > 0)
        tv_jsonl_text(out, key, text);
}

void tv_jsonl_some_number(struct tv_out *out, const char *key, int64_t value)
{
    if (value != 0)
        tv_jsonl_number(out, key, value);
}

void tv_jsonl_value(struct tv_out *out, double value)
{
    char text[40];
    if (isnan(value)) {
        tv_out_text(out, "null");
        return;
    }
    if (isinf(value)) { /* JSON has no infinite numbers */
        tv_out_text(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back >= value && back <= value)
            break;
    }
    tv_out_text(out, text);
}

void tv_jsonl_frame(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    const struct tv_frame *frame)
{
    const struct tv_head *head = trace->head;
    if (head->inputs[input].assembled) {
        tv_jsonl_text(out, "name", tv_head_text(head, frame->name));
        tv_jsonl_text(out, "category", tv_head_text(head, frame->category));
    } else {
        tv_jsonl_text(out, "class", tv_head_text(head, frame->class_name));
        tv_jsonl_text(out, "method", tv_head_text(head, frame->name));
    }
}

void tv_jsonl_event(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                    uint64_t offset, uint64_t end_offset)
{
    const struct tv_input *in = &trace->head->inputs[input];
    if (offset == TV_NO_OFFSET)
        return;
    tv_out_format(out, ", \"offset\": %" PRIu64, offset);
    if (!in->describe || !in->source)
        return;
    struct tv_out event;
    tv_out_init_memory(&event);
    if (in->describe(trace, input, offset, end_offset, &event, NULL) == TV_OK) {
        jsonl_add_key(out, "event");
        tv_out_bytes(out, (struct tv_bytes){event.buffer, event.length});
    }
    tv_out_release(&event);
}

static void jsonl_add_async(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_async_extra *extra)
{
    tv_jsonl_text(out, "async_id", tv_head_text(trace->head, extra->id));
    tv_jsonl_index(out, "start_thread", extra->start_thread);
    tv_jsonl_index(out, "end_thread", extra->end_thread);
    if (extra->group != TV_NONE)
        tv_jsonl_number(out, "joined", extra->group);
    if (extra->lifetime)
        tv_out_text(out, ", \"lifetime\": true");
}

void tv_jsonl_slice_event(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                          uint32_t index)
{
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    const struct tv_async_extra *async = tv_tables_async_extra(&trace->tables, row, index);
    tv_jsonl_number(out, "row", row);
    tv_jsonl_number(out, "index", index);
    uint32_t frame = trace->paths.nodes[tv_slice_get(trace, row, index).path].frame;
    tv_jsonl_some_number(out, "colour", tv_slice_colour(trace, row, index, frame));
    if (async)
        jsonl_add_async(out, trace, async);
    tv_jsonl_event(out, trace, trace->rows[row].input, tv_slice_offset(trace, row, index),
                   extra ? extra->end_offset : TV_NO_OFFSET);
}

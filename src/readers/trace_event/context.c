/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an event's text again. */
#include "base/bytes.h"
#include "readers/trace_event/events.h"

/* What most events fit into. */
#define FIRST_WANT ((size_t)4096)

/* Longer events were not read in the first place (list.c). */
#define MOST_WANT ((size_t)128 << 20)

bool tv_te_event_read(struct tv_te_context *context, uint64_t offset, struct tv_te_fields *fields)
{
    struct tv_bytes bytes;
    const uint8_t *end;
    struct tv_error reason;
    for (size_t want = FIRST_WANT; want <= MOST_WANT; want *= 4) {
        if (tv_window_at(&context->window, offset, want, &bytes, &reason) != TV_OK)
            return false;
        enum tv_te_read read =
            tv_te_fields_read(bytes.data, bytes.data + bytes.length, fields, &end);
        if (read == TV_TE_CUT && bytes.length < want && bytes.length > 0)
            read = tv_te_fields_close(bytes.data, bytes.data + bytes.length, fields, &end);
        if (read != TV_TE_CUT || bytes.length < want)
            return read == TV_TE_READ;
    }
    return false;
}

struct tv_bytes tv_te_extent_read(struct tv_te_context *context, struct tv_te_extent stretch)
{
    struct tv_bytes bytes = {NULL, 0};
    struct tv_error reason;
    if (stretch.length == 0 || stretch.length > SIZE_MAX / 4 ||
        tv_window_at(&context->window, stretch.offset, (size_t)stretch.length, &bytes, &reason) !=
            TV_OK ||
        bytes.length < stretch.length)
        return (struct tv_bytes){NULL, 0};
    bytes.length = (size_t)stretch.length;
    return bytes;
}

void tv_te_warn(struct tv_te_context *context, enum tv_diagnostic_kind kind, uint64_t offset)
{
    tv_diagnostics_add(&context->trace->head->diagnostics, kind, offset);
}

void tv_te_times_widen(struct tv_te_context *context, tv_ns time)
{
    if (context->nothing || time < context->first)
        context->first = time;
    if (context->nothing || time > context->last)
        context->last = time;
    context->nothing = false;
}

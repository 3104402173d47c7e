/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit.h - one event of a Trace Event file with another time, without its part in a flow or its
 * arguments: what is cut to a range, and what loses the other end of an arrow.
 */
#ifndef TV_READERS_TRACE_EVENT_EDIT_H
#define TV_READERS_TRACE_EVENT_EDIT_H

#include "base/out.h"
#include "model/trace.h"
#include "readers/trace_event/fields.h"

/* What becomes of an event; zeroed: nothing. Times are nanoseconds on the file's clock. */
struct tv_te_rewrite_edit {
    char phase; /* instead of its own */
    bool has_ts, has_dur, has_tts, has_tdur;
    bool no_flow_out, no_flow_in;
    bool around; /* the flow's end binds to the slice around it */
    bool no_args;
    bool bare; /* of its members only what says whose it is */
    tv_ns ts, dur, tts, tdur;
};

/* Whether anything becomes of it. */
bool tv_te_rewrite_edit_is_any(const struct tv_te_rewrite_edit *edit);

/* Writes the event, text from '{' to '}', as strict JSON. */
void tv_te_rewrite_edit_write(struct tv_bytes event, const struct tv_te_rewrite_edit *edit, struct tv_out *out);

/* An event of an input, read again. */
struct tv_te_event_text {
    uint8_t *bytes; /* to be freed */
    struct tv_te_fields fields;
    struct tv_bytes object; /* from '{' to '}', which may be missing */
};

/* Reads the one at an offset. */
enum tv_status tv_te_event_text_read(struct tv_te_event_text *event, struct tv_source *source,
                                     uint64_t offset, struct tv_error *err) TV_MUST_CHECK;

#endif

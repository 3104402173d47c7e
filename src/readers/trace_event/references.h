/* SPDX-License-Identifier: Apache-2.0 */
/*
 * references.h - the objects that an event's arguments refer to (trace-event.md section 3.8).
 */
#ifndef TV_READERS_TRACE_EVENT_REFERENCES_H
#define TV_READERS_TRACE_EVENT_REFERENCES_H

#include "base/out.h"
#include "model/trace.h"
#include "readers/trace_event/fields.h"

/* Writes ',"references":[...]' when anything in the arguments refers to an object that had a
 * snapshot at the event's time: for each such reference, once, what it says ("id_ref", "scope" and
 * "pid_ref" where given) and the numbers of the "object" and the "snapshot" in the tables. */
void tv_te_references_write(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                            const struct tv_te_fields *event, struct tv_bytes end_args);

#endif

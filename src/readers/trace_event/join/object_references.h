/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_references.h - objects inside of arguments that mean something: snapshots of their own
 * ({"id": "Type/0x12"}) and references to objects ({"id_ref": "0x12"}), trace-event.md section 3.8.
 */
#ifndef TV_READERS_TRACE_EVENT_JOIN_OBJECT_REFERENCES_H
#define TV_READERS_TRACE_EVENT_JOIN_OBJECT_REFERENCES_H

#include "base/out.h"
#include "base/types.h"
#include "model/trace.h"
#include "readers/trace_event/text/fields.h"

/* Raw texts; data NULL: absent. */
struct tv_te_nested {
    const uint8_t *at; /* of its '{' */
    struct tv_bytes id, cat, base_type, scope;
    struct tv_bytes id_ref, pid_ref; /* idRef and pidRef, too */
};

/* Visit every object inside the JSON text whose id has a slash that is neither its first nor its
 * last character, inner objects first.  The text itself does not count.  One pass over the text,
 * whatever its depth. */
void tv_te_nested_visit_snapshots(struct tv_bytes text,
                                  void (*take)(void *context, const struct tv_te_nested *nested),
                                  void *context);

/* Visit every object that has an id_ref; the text itself may be one. */
void tv_te_nested_visit_references(struct tv_bytes text,
                                   void (*take)(void *context, const struct tv_te_nested *nested),
                                   void *context);

/* Write ',"references":[...]' when the arguments refer to objects that had a snapshot at the
 * event's time.  Each reference is there once: its "id_ref", "scope" and "pid_ref" where given,
 * and the numbers of the "object" and the "snapshot" in the tables. */
void tv_te_references_write(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                            const struct tv_te_fields *event, struct tv_bytes end_args);

#endif

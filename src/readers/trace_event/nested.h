/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nested.h - objects inside of arguments that mean something: snapshots of their own
 * ({"id": "Type/0x12"}) and references to objects ({"id_ref": "0x12"}).
 */
#ifndef TV_READERS_TRACE_EVENT_NESTED_H
#define TV_READERS_TRACE_EVENT_NESTED_H

#include "base/types.h"

/* Raw texts; data NULL: absent. `id` has a slash that is neither its first nor its last character.
 */
struct tv_te_nested {
    const uint8_t *at; /* of its '{' */
    struct tv_bytes id, cat, base_type, scope;
    struct tv_bytes id_ref, pid_ref; /* idRef and pidRef as well */
};

/* Hands over every such object inside the JSON text, inner ones first; the text itself is none.
 * One walk over the text, whatever its depth. */
void tv_te_nested_visit_snapshots(struct tv_bytes text,
                       void (*take)(void *context, const struct tv_te_nested *nested),
                       void *context);

/* The same of every object that has an id_ref; the text itself may be one. */
void tv_te_nested_visit_references(struct tv_bytes text,
                             void (*take)(void *context, const struct tv_te_nested *nested),
                             void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h - metadata events (M) and the keys beside the events.
 */
#ifndef TV_READERS_TRACE_EVENT_METADATA_H
#define TV_READERS_TRACE_EVENT_METADATA_H

#include "readers/trace_event/container.h"
#include "readers/trace_event/events.h"

/* Gives processes and threads their names, labels and places in the order.  Those that are tables
 * of stack frames, or tell of code (code.h), are moved to the front of the rows; how many. */
size_t tv_te_metadata_events(struct tv_te_context *context, struct tv_te_deferred *rows, size_t count);

/* The unit of times, stack frames and samples; all else becomes metadata of the input. */
void tv_te_metadata_members(struct tv_te_context *context, const struct tv_te_container *container);

#endif

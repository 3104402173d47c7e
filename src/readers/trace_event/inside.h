/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - traces of other formats that stand beside the events, as strings: ftrace text
 * (systemTraceEvents; of Windows an object, etw.h), power samples (powerTraceAsString), lists of
 * processes and control groups (androidProcessDump, cgroupDump).
 */
#ifndef TV_READERS_TRACE_EVENT_INSIDE_H
#define TV_READERS_TRACE_EVENT_INSIDE_H

#include "readers/trace_event/container.h"
#include "readers/trace_event/events.h"

/* Whether the value of a key is such a trace. */
bool tv_te_embedded_is(const struct tv_te_top_member *member);

/* Reads each as an input of its own, behind the one of the context, whose assembly has ended.  What
 * no reader knows counts as TV_DIAGNOSTIC_SUBTRACE_UNREAD. */
enum tv_status tv_te_embedded_read(struct tv_te_context *context,
                                 const struct tv_te_container *container,
                                 struct tv_builder *builder, struct tv_error *err) TV_MUST_CHECK;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - one event of a Trace Event file, read again when somebody looks at it.
 */
#ifndef TV_READERS_TRACE_EVENT_DESCRIBE_H
#define TV_READERS_TRACE_EVENT_DESCRIBE_H

#include "model/trace.h"

/* As tv_describe says: "args" (those of the end added to those of the beginning, section 3.1),
 * "start_stack" and "end_stack" (names, the root first; of longer chains than TV_STACK_NAMES the
 * innermost, with "start_stack_cut": true) where there are such, every member of the
 * event that the model does not hold, and "references" (references.h).  Of a snapshot inside of
 * another: the object, as "args": {"snapshot": ...}. */
enum tv_status tv_te_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err);

/* Writes a slice of a thread as an event for another Trace Event file, with the times that it has
 * in the model: one that two events made ("B", "E") as one ("X") with the members of both.  One
 * that is open gets the end that it has here: what it lasted to may not come along. */
enum tv_status tv_te_describe_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                                    struct tv_out *out, struct tv_error *err);

#endif

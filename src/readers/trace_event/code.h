/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - the functions that V8 compiled while the trace ran: events JitCodeAdded and
 * JitCodeMoved (M, or I in older files) say which code lay where, so that the addresses of
 * V8Sample have names (trace-event.md sections 3.3, 3.9).
 */
#ifndef TV_READERS_TRACE_EVENT_CODE_H
#define TV_READERS_TRACE_EVENT_CODE_H

#include "readers/trace_event/events.h"

struct tv_te_code;

/* Reads all such events of the input. */
struct tv_te_code *tv_te_code_new(struct tv_te_context *context);
void tv_te_code_free(struct tv_te_code *code);

/* Whether metadata of this name (raw) is such an event. */
bool tv_te_code_is_name(struct tv_bytes name);

/* The frame of the code that lay at an address of a process at a time, which must not be earlier
 * than that of the question before.  False: none is known. */
bool tv_te_code_find(struct tv_te_code *code, uint32_t process, tv_ns time, uint64_t address,
                     uint32_t *frame);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - what reading a Trace Event file passes over: whether its text is JSON to the last
 * character, arguments and all, and what arguments do to each other.
 */
#ifndef TV_READERS_TRACE_EVENT_CHECK_H
#define TV_READERS_TRACE_EVENT_CHECK_H

#include "model/trace.h"

/* Counts every event, and every member beside the events, whose text is not strict JSON but for NaN
 * and the infinities (TV_DIAGNOSTIC_BAD_JSON), those that reading had to count included; and every
 * slice whose end has arguments that hide others of its beginning.  Reads the source again. */
enum tv_status tv_te_check_text(struct tv_trace *trace, uint32_t input,
                                struct tv_error *err) TV_MUST_CHECK;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.h - a finished trace as Trace Event Format JSON, for chrome://tracing, Perfetto and
 * others.
 *
 * Calls become complete events ("X") in the order of their starts, with ts and dur of the real
 * clock and tts and tdur of the CPU clock, in microseconds with three decimals.  What the format
 * has no place for stands in args.
 */
#ifndef TV_WRITERS_TRACE_EVENT_H
#define TV_WRITERS_TRACE_EVENT_H

#include "base/out.h"
#include "model/trace.h"

/* Without a real clock ts is each thread's CPU time: the caller should say so.  Async slices, which
 * belong to no thread alone, are left out; their number is returned for the caller to say. */
uint64_t tv_trace_event_write(struct tv_out *out, const struct tv_trace *trace);

#endif

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

#include "analysis/keep.h"
#include "base/out.h"

/* What the caller should say, and that without a real clock ts is each thread's CPU time. */
struct tv_trace_event_losses {
    uint64_t async;     /* slices that are no calls of a thread: left out */
    uint64_t namesakes; /* methods that differ from another only in what stands in args */
};

/* Writes all calls, or those to keep; *losses says what the format could not take. */
void tv_trace_event_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_keep *keep, struct tv_trace_event_losses *losses);

#endif

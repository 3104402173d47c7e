/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event_parts.h - what the files that write Trace Event JSON share.
 *
 * For trace_event.c, trace_event_slices.c and trace_event_tables.c alone.
 */
#ifndef TV_WRITERS_TRACE_EVENT_PARTS_H
#define TV_WRITERS_TRACE_EVENT_PARTS_H

#include "writers/trace_event.h"

struct tv_trace_events {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_trace_event_choice *choice;
    struct tv_trace_event_losses *losses;
};

static inline bool tv_trace_events_of(const struct tv_trace_events *events, uint32_t input)
{
    return !events->choice->inputs || events->choice->inputs[input];
}

/* ',"key":12.345': microseconds. */
void tv_trace_events_us(const struct tv_trace_events *events, const char *key, tv_ns time);

/* The same of a time on the trace's axis. */
static inline void tv_trace_events_time(const struct tv_trace_events *events, const char *key,
                                        tv_ns time)
{
    int64_t shifted;
    if (__builtin_add_overflow(time, events->choice->base, &shifted))
        shifted = time;
    tv_trace_events_us(events, key, shifted);
}

/* ',"key":"text"' */
void tv_trace_events_text(const struct tv_trace_events *events, const char *key, uint32_t string);

/* ',"pid":1,"tid":2' of a thread. */
void tv_trace_events_thread(const struct tv_trace_events *events, uint32_t thread);

/* ',"pid":1' of a process, or of what stands for none in the input. */
void tv_trace_events_process(const struct tv_trace_events *events, uint32_t process,
                             uint32_t input);

/* The same of a processor's track, which is a thread of a process that stands for all of the input.
 */
void tv_trace_events_processor(const struct tv_trace_events *events, uint32_t track);

/* ',"args":{...}' and what else an event said, read again from its input; nothing when it cannot
 * be read. */
void tv_trace_events_describe(const struct tv_trace_events *events, uint32_t input, uint64_t offset,
                              uint64_t end_offset);

/* Flows whose ends are found by the order of events, which stand before those of slices; or the
 * others. */
void tv_trace_events_flows(const struct tv_trace_events *events, bool before_slices);

/* Slices of all wanted tracks. */
void tv_trace_events_slices(const struct tv_trace_events *events);

/* Instants, counters, the other flows and samples; what else there is is counted. */
void tv_trace_events_tables(const struct tv_trace_events *events);

#endif

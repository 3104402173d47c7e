/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event_parts.h - shared by trace_event.c and trace_event_tables.c; internal.
 */
#ifndef TV_WRITERS_TRACE_EVENT_PARTS_H
#define TV_WRITERS_TRACE_EVENT_PARTS_H

#include "writers/trace/trace_event.h"

struct tv_trace_events {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_trace_event_selection *selection;
    struct tv_trace_event_losses *losses;
};

static inline bool tv_trace_events_has_input(const struct tv_trace_events *events, uint32_t input)
{
    return !events->selection->inputs || events->selection->inputs[input];
}

/* Write ',"key":12.345' in microseconds. */
void tv_trace_events_us(const struct tv_trace_events *events, const char *key, tv_ns time);

/* As above, for a time on the trace's axis. */
static inline void tv_trace_events_time(const struct tv_trace_events *events, const char *key,
                                        tv_ns time)
{
    int64_t shifted;
    if (__builtin_add_overflow(time, events->selection->base, &shifted))
        shifted = time;
    tv_trace_events_us(events, key, shifted);
}

/* Write ',"key":"text"'. */
void tv_trace_events_text(const struct tv_trace_events *events, const char *key, uint32_t string);

/* Write ',"pid":1,"tid":2' for a thread. */
void tv_trace_events_thread(const struct tv_trace_events *events, uint32_t thread);

/* Write ',"pid":1' for a process, or for a placeholder of the input. */
void tv_trace_events_process(const struct tv_trace_events *events, uint32_t process,
                             uint32_t input);

/* Write pid and tid for a processor's track: a thread of the process that stands for the input's
 * processors. */
void tv_trace_events_processor(const struct tv_trace_events *events, uint32_t track);

/* Write ',"args":{...}' and other members that are read again from the input; nothing when they
 * cannot be read. */
void tv_trace_events_describe(const struct tv_trace_events *events, uint32_t input, uint64_t offset,
                              uint64_t end_offset);

/* Write the flows that must precede the slices, because their ends bind to the next event; or
 * the others. */
void tv_trace_events_flows(const struct tv_trace_events *events, bool before_slices);

/* Write instants, counters, the other flows and samples, and count everything else. */
void tv_trace_events_tables(const struct tv_trace_events *events);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.h - events of the Trace Event Format from the model of a trace, for
 * chrome://tracing, Perfetto and others, for inputs that are not such files themselves.
 *
 * Calls become complete events ("X") in the order of their starts: ts and dur on the wall clock,
 * tts and tdur on the CPU clock, in microseconds with three decimals. Open slices stay
 * beginnings ("B"). Async slices become pairs ("b", "e"), instants "i", counters "C", flows "s"
 * and "f", samples "P", states of threads "T" with a duration; each processor becomes a thread.
 * Facts without a place in the format become arguments.
 */
#ifndef TV_WRITERS_TRACE_EVENT_H
#define TV_WRITERS_TRACE_EVENT_H

#include "analysis/subset/subset.h"
#include "base/out.h"

/* Placeholders for a process: for the threads and counters of an input that belong to none, and for
 * its processors. */
#define TV_TRACE_EVENT_NO_PROCESS TV_NONE
#define TV_TRACE_EVENT_PROCESSORS (TV_NONE - 1)

#define TV_EVENT_SHARES 64u

/* Limits that keep a file small. Arguments are written up to `sure` bytes, and up to `longest`
 * bytes in the first `share` / TV_EVENT_SHARES of the input; instants and flows only in the
 * first `instants` / TV_EVENT_SHARES of it; members beside the events up to `beside` bytes. */
struct tv_event_limit {
    uint64_t sure, longest, beside;
    uint32_t share, instants;
};

static inline bool tv_event_is_early(uint32_t share, uint64_t offset, uint64_t input_bytes)
{
    return share >= TV_EVENT_SHARES || offset < input_bytes / TV_EVENT_SHARES * share;
}

/* Return true when arguments of `length` bytes are within the limits; NULL: no limits. */
static inline bool tv_event_args_fit(const struct tv_event_limit *limit, uint64_t length,
                                     uint64_t offset, uint64_t input_bytes)
{
    if (!limit || length <= limit->sure)
        return true;
    return length <= limit->longest && tv_event_is_early(limit->share, offset, input_bytes);
}

/* The events to write, and how to write them. */
struct tv_trace_event_selection {
    const struct tv_subset *keep;
    const bool *inputs;                 /* selected inputs; NULL: all */
    const struct tv_event_limit *limit; /* NULL: no limits */
    tv_ns base;                         /* added to times on the trace's axis */
    /* Return the pid of a process, or of a placeholder above, in the new file. */
    uint64_t (*pid)(void *context, uint32_t process, uint32_t input);
    /* Called before each event. */
    void (*separate)(void *context);
    void *context;
};

/* Facts that the format could not represent, for the caller to report. Without a wall clock, ts is
 * each thread's CPU time. */
struct tv_trace_event_losses {
    uint64_t namesakes;  /* methods that differ from another one only in their arguments */
    uint64_t processors; /* slices of processors: now slices of threads */
    uint64_t states;     /* slices of states: now asynchronous */
    uint64_t wakeups;    /* who woke whom, and reasons for blocking: left out */
    uint64_t ownerless;  /* counters without a process: now of a new process */
    uint64_t flows;      /* with an end that is not selected: left out */
    uint64_t weights;    /* of samples, other than 1: without their unit */
    uint64_t others;     /* rows of other tables: left out */
};

/* Write the events of the selected inputs; *losses says what the format could not represent. */
void tv_trace_event_add(struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_trace_event_selection *choice,
                        struct tv_trace_event_losses *losses);

/* Write a complete file of the selected calls of inputs that contain nothing else. */
void tv_trace_event_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_subset *keep, struct tv_trace_event_losses *losses);

/* Count the frames with calls whose name is that of an earlier frame: events have no signatures. */
uint64_t tv_trace_event_count_namesakes(const struct tv_trace *trace);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.h - what a finished trace holds as events of the Trace Event Format, for
 * chrome://tracing, Perfetto and others: of inputs that are no such file themselves.
 *
 * Calls become complete events ("X") in the order of their starts, with ts and dur of the real
 * clock and tts and tdur of the CPU clock, in microseconds with three decimals; open slices stay
 * beginnings ("B").  Async slices become pairs ("b", "e"), instants "i", counters "C", flows "s"
 * and "f", samples "P", states of threads "T" with a length, what a processor ran a thread of its
 * own.  What the format has no place for stands in args.
 */
#ifndef TV_WRITERS_TRACE_EVENT_H
#define TV_WRITERS_TRACE_EVENT_H

#include "analysis/subset/subset.h"
#include "base/out.h"

/* Instead of a process: threads and counters of an input that belong to none; its processors. */
#define TV_TRACE_EVENT_NO_PROCESS TV_NONE
#define TV_TRACE_EVENT_PROCESSORS (TV_NONE - 1)

#define TV_EVENT_SHARES 64u

/* What of events is written: of what they say up to `sure` bytes of text, and in the first `share`
 * of TV_EVENT_SHARES of the input's bytes up to `longest`; of instants and arrows those of the
 * first `instants` of its bytes; of what stands beside the events up to `beside` bytes. */
struct tv_event_limit {
    uint64_t sure, longest, beside;
    uint32_t share, instants;
};

static inline bool tv_event_is_early(uint32_t share, uint64_t offset, uint64_t input_bytes)
{
    return share >= TV_EVENT_SHARES || offset < input_bytes / TV_EVENT_SHARES * share;
}

/* `limit` NULL: nothing is too long. */
static inline bool tv_event_args_fit(const struct tv_event_limit *limit, uint64_t length,
                                     uint64_t offset, uint64_t input_bytes)
{
    if (!limit || length <= limit->sure)
        return true;
    return length <= limit->longest && tv_event_is_early(limit->share, offset, input_bytes);
}

/* What is written, and where. */
struct tv_trace_event_choice {
    const struct tv_subset *keep;
    const bool *inputs;                 /* wanted; NULL: all */
    const struct tv_event_limit *limit; /* NULL: all */
    tv_ns base;                         /* added to times on the trace's axis */
    /* The pid of a process in the new file, or of what stands for none there. */
    uint64_t (*pid)(void *context, uint32_t process, uint32_t input);
    /* Before each event. */
    void (*separate)(void *context);
    void *context;
};

/* What the caller should say, and that without a real clock ts is each thread's CPU time. */
struct tv_trace_event_losses {
    uint64_t namesakes;  /* methods that differ from another only in what stands in args */
    uint64_t processors; /* slices of processors: now of threads */
    uint64_t states;     /* slices of states: now asynchronous */
    uint64_t wakeups;    /* who woke whom, and why somebody was blocked: left out */
    uint64_t ownerless;  /* counters of no process: now of one made for them */
    uint64_t flows;      /* with an end that is not wanted: left out */
    uint64_t others;     /* rows of other tables: left out */
};

/* Writes the events of the wanted inputs; *losses says what the format could not take. */
void tv_trace_event_add(struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_trace_event_choice *choice,
                        struct tv_trace_event_losses *losses);

/* A whole file of all calls, or those to keep, of inputs that have nothing else. */
void tv_trace_event_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_subset *keep, struct tv_trace_event_losses *losses);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stitch.h - fits the walked chunks of an input together.
 *
 * Each thread's exits that were set aside meet the calls left open by the chunks before.  Those
 * that meet none are of calls that began before the trace: for each, a call is supplied that
 * begins with the thread's first record and adopts what came before its exit (method-trace.md
 * section 8, rule 1).  The result is each thread's true stack at the start of each chunk: the
 * supplied calls at the bottom, so that depth counts from the thread's lowest point, and recorded
 * ones above.  The tag of a call in a start is the one it had in its chunk; a supplied call, or
 * one that a later chunk's walk said `had_child` of, has tag 1 when it made calls before.
 */
#ifndef TV_MODEL_SEAM_H
#define TV_MODEL_SEAM_H

#include "model/builder/sink.h"
#include "model/builder/walk.h"

struct tv_stitch {
    unsigned chunk_count;
    uint32_t thread_count;
    struct tv_walk_start
        *starts;         /* [chunk_count + 1][thread_count]; the last: what is open at the end */
    uint32_t *supplied;  /* [thread_count] calls supplied */
    uint32_t *max_depth; /* [thread_count] levels of recorded entries */
    int64_t *first_wall, *first_cpu; /* [thread_count] of its first record */
    uint64_t unmatched_exits, open_calls, entries;
    uint32_t threads_with_events;
    bool nameless; /* some supplied call's exit does not say of what it is */
};

/* Fit the chunks together.  TV_STITCH_SERIAL, with nothing to release, when the chunks cannot be
 * decided without reading in order. */
enum tv_stitch_result tv_stitch_init(struct tv_stitch *stitch, const struct tv_walk *chunks,
                                     unsigned chunk_count);
/* Add the diagnostics of the chunks, and of calls that are open at either end, to the head's. */
void tv_stitch_add_diagnostics(const struct tv_stitch *stitch, const struct tv_walk *chunks,
                               struct tv_trace_info *head);
void tv_stitch_release(struct tv_stitch *stitch);

static inline struct tv_walk_start *tv_stitch_start(const struct tv_stitch *stitch, unsigned chunk,
                                                    uint32_t thread)
{
    return &stitch->starts[(size_t)chunk * stitch->thread_count + thread];
}

/* Time between a thread's last record before a chunk and its first in the chunk; false when there
 * is none. */
bool tv_stitch_gap(const struct tv_walk_start *start, const struct tv_walk_thread *t, int64_t *wall,
                   int64_t *cpu);

/* Add the time from each thread's first record to its last one, nanoseconds: a bound of every sum
 * of own times. */
void tv_stitch_add_spans(const struct tv_stitch *stitch, int64_t tick, tv_ns *wall, tv_ns *cpu);

/* When the calls end, in wall ticks, that are open after a thread's last record: with it; in a
 * sampled trace with the trace, for a stack that did not change leaves no record: with tracing, or
 * with the last record of all where the buffer was full before. */
int64_t tv_stitch_open_end(const struct tv_input *input, int64_t last_wall);

/* The frame "(unknown)": of supplied calls whose exit does not say of what it is. */
uint32_t tv_stitch_unknown_frame(struct tv_trace_info *head);

#endif

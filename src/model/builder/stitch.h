/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stitch.h - chunk stitching: fits the chunks of an input together, which were walked in parallel.
 *
 * Every chunk was walked with empty stacks at its start (walk.h).  For each thread, stitching goes
 * through the chunks in order and matches the pending exits of a chunk with the calls that earlier
 * chunks left open:
 *
 *     chunk 0      enter a, enter b              leaves [a b] open
 *     chunk 1      exit b (pending), enter c     starts with [a b], leaves [a c]
 *     chunk 2      exit c, exit a, exit z        starts with [a c]; z matches nothing
 *
 * An exit that matches nothing belongs to a call that began before the trace.  Stitching supplies
 * this call: it starts with the first record of the thread and contains everything before its exit
 * (method-trace.md section 8, rule 1).  The result is the true stack of every thread at the start
 * of every chunk.  Supplied calls are at its bottom, so depth counts from the thread's lowest
 * point; recorded calls are above them.
 *
 * A call in a start keeps the tag that it had in its chunk.  A supplied call, or one for which a
 * later chunk reports `had_child`, has tag 1 when it made calls before.
 */
#ifndef TV_MODEL_BUILDER_STITCH_H
#define TV_MODEL_BUILDER_STITCH_H

#include "model/builder/sink.h"
#include "model/builder/walk.h"

struct tv_stitch {
    unsigned chunk_count;
    uint32_t thread_count;
    struct tv_walk_start
        *starts;         /* [chunk_count + 1][thread_count]; the last one: calls open at the end */
    uint32_t *supplied;  /* [thread_count] number of supplied calls */
    uint32_t *max_depth; /* [thread_count] levels of recorded entries */
    int64_t *first_wall, *first_cpu; /* [thread_count] first record */
    uint64_t unmatched_exits, open_calls, entries;
    uint32_t threads_with_events;
    bool nameless; /* the exit of some supplied call has no name */
};

/* Stitch the chunks.  TV_STITCH_SERIAL, with nothing to release: the input must be read again as
 * one chunk. */
enum tv_stitch_result tv_stitch_init(struct tv_stitch *stitch, const struct tv_walk *chunks,
                                     unsigned chunk_count);
/* Add the diagnostics of all chunks, and of calls that are open at either end, to those of the
 * trace info. */
void tv_stitch_add_diagnostics(const struct tv_stitch *stitch, const struct tv_walk *chunks,
                               struct tv_trace_info *head);
/* Do both for walks that are members of a sink's chunks: `first` is the walk of the first chunk,
 * and `stride` the size of a chunk. */
enum tv_stitch_result tv_stitch_chunks(struct tv_stitch *stitch, const struct tv_walk *first,
                                       size_t stride, unsigned chunk_count,
                                       struct tv_trace_info *head);
void tv_stitch_release(struct tv_stitch *stitch);

static inline struct tv_walk_start *tv_stitch_start(const struct tv_stitch *stitch, unsigned chunk,
                                                    uint32_t thread)
{
    return &stitch->starts[(size_t)chunk * stitch->thread_count + thread];
}

/* Compute the time between a thread's last record before a chunk and its first one in the chunk.
 * Return false when one of them does not exist. */
bool tv_stitch_gap(const struct tv_walk_start *start, const struct tv_walk_thread *t, int64_t *wall,
                   int64_t *cpu);

/* Add the time from each thread's first record to its last, nanoseconds: an upper bound of every
 * sum of self times. */
void tv_stitch_add_spans(const struct tv_stitch *stitch, int64_t tick, tv_ns *wall, tv_ns *cpu);

/* Return the end, in wall ticks, of calls that are open after a thread's last record.  In a sampled
 * trace an unchanged stack leaves no record, so they end with the recording, or with the last
 * record of all when the buffer was full; else they end with the thread's last record. */
int64_t tv_stitch_open_end(const struct tv_input *input, int64_t last_wall);

/* Return the frame "(unknown)", for supplied calls whose exit has no name. */
uint32_t tv_stitch_unknown_frame(struct tv_trace_info *head);

#endif

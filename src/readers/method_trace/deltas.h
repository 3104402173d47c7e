/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deltas.h - entries of format V2 (variant B) into events, as fast as can be.
 *
 * For blocks that are in order: whole records of listed threads and methods, whose times go on.
 * Everything else stops the work: the caller looks closer and begins again.
 */
#ifndef TV_READERS_METHOD_TRACE_DELTAS_H
#define TV_READERS_METHOD_TRACE_DELTAS_H

#include "model/builder/sink.h"
#include "readers/method_trace/fast.h"

/* A record is at most three numbers of ten bytes. */
#define TV_MT_LONGEST_DELTAS 30

struct tv_mt_deltas {
    const struct tv_mt_file *file;
    struct tv_mt_span *spans; /* by thread - first_thread */
    uint64_t unrolls;
    enum tv_mt_stop stop;
    /* Of the block that is being read. */
    struct tv_mt_carry last;
    struct tv_mt_span *span;
    uint32_t thread;
};

/* Bytes of a block that were not taken yet. */
struct tv_mt_deltas_left {
    struct tv_bytes bytes; /* TV_WINDOW_SLACK more are readable */
    bool all;              /* up to the block's end, else TV_MT_LONGEST_DELTAS or more */
};

/* `spans` has one for each thread of the file. */
void tv_mt_deltas_init(struct tv_mt_deltas *deltas, const struct tv_mt_file *file,
                       struct tv_mt_span *spans);

/* Goes to the start of a block, or stops. */
void tv_mt_deltas_seek(struct tv_mt_deltas *deltas, size_t unit);

/* Turns up to `count` records into events, and says how many bytes from where `left` begins each
 * lies; moves `left` on. Returns how many; 0 when there are no more or deltas->stop says why. */
size_t tv_mt_deltas_take(struct tv_mt_deltas *deltas, struct tv_mt_deltas_left *left, size_t count,
                         struct tv_event *events, uint32_t *distances);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast.h - records of fixed size into events, as fast as can be.
 *
 * For files whose ids keep their meaning and whose times do not wrap.  Everything else stops the
 * work: the caller looks closer and begins again.
 */
#ifndef TV_READERS_METHOD_TRACE_FAST_H
#define TV_READERS_METHOD_TRACE_FAST_H

#include "model/builder/sink.h"
#include "readers/method_trace/file.h"

/* Finds frames by method ids; all parts share one. */
struct tv_mt_frames {
    uint32_t *dense; /* by id >> 2, the last TV_NONE; or NULL */
    uint32_t dense_limit;
    struct tv_mt_place {
        uint32_t id, frame;
    } * places; /* open addressing; frame TV_NONE: free */
    uint32_t mask;
    uint32_t shift;
};

void tv_mt_frames_init(struct tv_mt_frames *frames, const struct tv_mt_file *file);
void tv_mt_frames_release(struct tv_mt_frames *frames);

/* A thread's first and last times in a part, ticks. */
struct tv_mt_span {
    bool seen;
    bool has_before;
    int64_t
        before; /* wall time of the record of whatever thread before its first one in this part */
    int64_t first_wall, first_cpu;
    int64_t last_wall, last_cpu;
    int64_t wall_epoch, cpu_epoch; /* what was added to the file's times last (part.c) */
};

/* What a part knows of a thread id. */
struct tv_mt_slot {
    uint32_t last_wall, last_cpu; /* one clock: the first of them */
    uint32_t met;                 /* index in the head + 1; 0: no record of it yet */
    uint32_t spare;
};

enum tv_mt_stop {
    TV_MT_GO_ON,
    TV_MT_SKIP,          /* the next record has an undefined action: it is to be skipped */
    TV_MT_STOP_UNLISTED, /* an id is not listed */
    TV_MT_STOP_WRAPS,    /* a step back in time that may be a wrap */
    TV_MT_STOP_ODD,      /* a block is not in order, as it was read (deltas.h) */
};

struct tv_mt_fast {
    const struct tv_mt_file *file;
    const struct tv_mt_frames *frames;
    struct tv_diagnostics *diagnostics;
    struct tv_mt_span *spans; /* by thread - first_thread */
    struct tv_mt_slot *slots; /* by tid */
    uint32_t slot_count;
    bool has_before;
    int64_t before; /* wall time of the last record */
    uint64_t unrolls;
    enum tv_mt_stop stop;
};

/* `spans` has one for each thread of the file. */
void tv_mt_fast_init(struct tv_mt_fast *fast, const struct tv_mt_file *file,
                     const struct tv_mt_frames *frames, struct tv_mt_span *spans,
                     struct tv_diagnostics *diagnostics);

/* Ends the spans. */
void tv_mt_fast_release(struct tv_mt_fast *fast);

/* Turns up to `count` records that lie at `at` (`offset` in the file) into events. Returns how
 * many; fast->stop says why not all. */
size_t tv_mt_fast_take(struct tv_mt_fast *fast, const uint8_t *at, uint64_t offset, size_t count,
                       struct tv_event *events);

#endif

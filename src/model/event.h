/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what readers hand on: the entries and exits of calls, in batches.
 *
 * The events of one thread come in their order and with times that never go back (the reader
 * unwraps, and sets a time that is earlier than the thread's previous one to that one, counting
 * it).  Events of different threads come in any order.
 */
#ifndef TV_MODEL_EVENT_H
#define TV_MODEL_EVENT_H

#include "base/types.h"

enum tv_action {
    TV_ENTER = 0,
    TV_EXIT = 1,
    TV_UNROLL = 2, /* exit by an exception */
};

struct tv_event {
    int64_t wall;    /* ticks of the input; 0 when it has no such clock */
    int64_t cpu;     /* the same */
    uint32_t thread; /* index in the head */
    uint32_t action : 2;
    uint32_t frame : 30; /* index in the head; TV_ANY_FRAME: an exit that does not say of what */
};

#define TV_ANY_FRAME ((1u << 30) - 1)
#define TV_FRAME_LIMIT TV_ANY_FRAME

#define TV_BATCH_EVENTS 1024

struct tv_batch {
    const struct tv_event *events;
    size_t count;
    uint64_t offset;         /* of the first event's bytes in the input */
    uint32_t stride;         /* bytes from one event to the next, when `offsets` is NULL */
    const uint32_t *offsets; /* else each event's distance from `offset` */
};

static inline uint64_t tv_batch_offset(const struct tv_batch *batch, size_t i)
{
    return batch->offset + (batch->offsets ? batch->offsets[i] : (uint64_t)i * batch->stride);
}

/* Up to `most` of the batch's events, from one of them on. */
static inline struct tv_batch tv_batch_slice(const struct tv_batch *batch, size_t from, size_t most)
{
    size_t left = batch->count - from;
    struct tv_batch slice = *batch;
    slice.events += from;
    slice.count = left < most ? left : most;
    if (batch->offsets)
        slice.offsets += from;
    else
        slice.offset += (uint64_t)from * batch->stride;
    return slice;
}

#endif

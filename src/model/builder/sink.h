/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.h - what readers hand on: the entries and exits of calls, in batches.
 *
 * The events of one thread come in their order and with times that never go back (the reader
 * unwraps, and sets a time that is earlier than the thread's previous one to that one, counting
 * it).  Events of different threads come in any order.
 */
#ifndef TV_MODEL_BUILDER_SINK_H
#define TV_MODEL_BUILDER_SINK_H

#include "base/types.h"
#include "model/trace_info.h"

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

/*
 * sink.h - who takes a reader's events: the builder (model), the streaming profile and call tree
 * (analysis), the dump (writers).
 *
 * For each input the reader calls
 *
 *     begin(chunks)
 *     for each pass in 0 .. passes - 1:
 *         take(pass, chunk, batch) ...     chunks run side by side, each in its own order
 *         splice(pass)                    one thread again
 *     end()
 *
 * A chunk is a stretch of the input; the chunks are consecutive.  With one chunk the reading is
 * serial.  What a chunk's walk cannot decide without knowing its start (walk.h) makes splice
 * answer TV_STITCH_SERIAL; the reader then calls begin again with one chunk.  A sink may ask for
 * that once more after one chunk, when it must do its work in another way.  The reader may also
 * call begin again by itself after it stopped half-way through pass 0 (it met a thread or method
 * that it had to add to the head).  A sink that cannot start afresh says `writes`: it gets one
 * chunk, and each event once.  When begin comes again for its input, the head has more threads and
 * frames behind those it had, and the events go on where they stopped.
 */

enum tv_stitch_result {
    TV_STITCH_DONE,
    TV_STITCH_SERIAL,
};

struct tv_sink;

struct tv_sink_ops {
    unsigned passes; /* 1 or 2 */
    bool writes;     /* output leaves while events come: cannot start afresh */
    void (*begin)(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input,
                  unsigned chunks);
    void (*take)(struct tv_sink *sink, unsigned pass, unsigned chunk, const struct tv_batch *batch);
    enum tv_stitch_result (*splice)(struct tv_sink *sink, unsigned pass);
    void (*end)(struct tv_sink *sink);
};

/* The first member of every sink. */
struct tv_sink {
    const struct tv_sink_ops *ops;
};

#endif

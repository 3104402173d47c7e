/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - the interface between readers and consumers of events: entries and exits of calls, in
 * batches.
 *
 * The events of one thread arrive in order, and their times never go back: the reader unwraps
 * clocks, and it sets a time that is earlier than the thread's previous one to that one and counts
 * it.  Events of different threads are interleaved in any order.
 */
#ifndef TV_MODEL_BUILDER_SINK_H
#define TV_MODEL_BUILDER_SINK_H

#include "base/types.h"
#include "model/trace_info.h"

enum tv_action {
    TV_ENTER = 0,
    TV_EXIT = 1,
    TV_UNROLL = 2, /* exit because of an exception */
};

struct tv_event {
    int64_t wall;    /* ticks of the input; 0 when it has no wall clock */
    int64_t cpu;     /* ticks of the input; 0 when it has no CPU clock */
    uint32_t thread; /* index in the trace info */
    uint32_t action : 2;
    uint32_t frame : 30; /* index in the trace info; TV_ANY_FRAME: an exit without a name */
};

#define TV_ANY_FRAME ((1u << 30) - 1)
#define TV_FRAME_LIMIT TV_ANY_FRAME

#define TV_BATCH_EVENTS 1024

struct tv_batch {
    const struct tv_event *events;
    size_t count;
    uint64_t offset;         /* position of the first event in the input */
    uint32_t stride;         /* bytes per event, when `offsets` is NULL */
    const uint32_t *offsets; /* distance of each event from `offset`, or NULL */
};

static inline uint64_t tv_batch_offset(const struct tv_batch *batch, size_t i)
{
    return batch->offset + (batch->offsets ? batch->offsets[i] : (uint64_t)i * batch->stride);
}

/* Return a sub-batch of at most `most` events from index `from` on. */
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
 * Sinks consume events: the builder (model), the streaming profile and call tree (analysis), the
 * dump (writers).  For each input the reader calls
 *
 *     begin(chunks)
 *     for each pass in 0 .. passes - 1:
 *         take(pass, chunk, batch) ...    chunks run in parallel, each in its own order
 *         stitch(pass)                    on one thread: stitch the chunks together
 *     end()
 *
 * The chunks of an input are consecutive ranges of it; one chunk means serial reading.
 *
 *     input   | chunk 0 | chunk 1 | chunk 2 | chunk 3 |
 *     worker       0         1         2         3
 *
 * A chunk is read without knowing the calls that are open at its start.  Sometimes that is not
 * enough to decide the meaning of an exit (walk.h).  Then stitch returns TV_STITCH_SERIAL, and the
 * reader calls begin again with one chunk.  A sink may ask for that once more after one chunk, when
 * it has to work in another way.  The reader itself may also restart within pass 0, when it meets a
 * thread or method that it has to add to the trace info.
 *
 * A sink that cannot restart sets `writes`: it gets one chunk, and every event once.  When begin
 * comes again for the same input, the trace info has more threads and frames after those it had,
 * and the events continue where they stopped.
 */

enum tv_stitch_result {
    TV_STITCH_DONE,
    TV_STITCH_SERIAL,
};

struct tv_sink;

struct tv_sink_ops {
    unsigned passes; /* 1 or 2 */
    bool writes;     /* output leaves while events arrive: cannot restart */
    void (*begin)(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input,
                  unsigned chunks);
    void (*take)(struct tv_sink *sink, unsigned pass, unsigned chunk, const struct tv_batch *batch);
    enum tv_stitch_result (*stitch)(struct tv_sink *sink, unsigned pass);
    void (*end)(struct tv_sink *sink);
};

/* First member of every sink. */
struct tv_sink {
    const struct tv_sink_ops *ops;
};

#endif

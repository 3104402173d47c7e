/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver.h - delivering the records of a walked file to a sink, in chunks read in parallel.
 *
 * A chunk is read without knowledge of the chunks before it, but for two things that are judged at
 * the borders afterwards: whether times go back there, and whether a 32-bit clock may have wrapped.
 * If so, all records are read again as one chunk.
 */
#ifndef TV_READERS_METHOD_TRACE_DELIVER_H
#define TV_READERS_METHOD_TRACE_DELIVER_H

#include "model/builder/sink.h"
#include "readers/method_trace/file.h"
#include "readers/reader.h"

/* Deliver all records.  The walk is done (or stopped on its way), and the head is complete but for
 * unlisted ids, which this function adds when it meets them. */
enum tv_status tv_mt_deliver(struct tv_mt_file *file, struct tv_sink *sink,
                             const struct tv_read_options *options,
                             struct tv_error *err) TV_MUST_CHECK;

/* ---- Shared by the fast ways ---- */

/* First and last times of a thread in a chunk, in ticks. */
struct tv_mt_thread_times {
    bool seen;
    bool has_before;
    int64_t before; /* wall time of the record before the thread's first one, of any thread */
    int64_t first_wall, first_cpu;
    int64_t last_wall, last_cpu;
    int64_t wall_epoch, cpu_epoch; /* last difference between extended and raw times (chunk.c) */
};

enum tv_mt_stop {
    TV_MT_GO_ON,
    TV_MT_SKIP,          /* the next record has an undefined action: skip it */
    TV_MT_STOP_UNLISTED, /* an id is not listed */
    TV_MT_STOP_WRAPS,    /* a step back in time that may be a wrap */
    TV_MT_STOP_ODD,      /* a block is out of order, as it was read */
};

/* ---- fast.c: records of fixed size ---- */

/* Frames by method ids, shared by all chunks. */
struct tv_mt_frames {
    uint32_t *dense; /* by id >> 2, the last TV_NONE; or NULL */
    uint32_t dense_limit;
    struct tv_mt_frame_slot {
        uint32_t id, frame;
    } * places; /* hash table with open addressing; frame TV_NONE: free */
    uint32_t mask;
    uint32_t shift;
};

void tv_mt_frames_init(struct tv_mt_frames *frames, const struct tv_mt_file *file);
void tv_mt_frames_release(struct tv_mt_frames *frames);

/* State of a thread id in a chunk. */
struct tv_mt_slot {
    uint32_t last_wall, last_cpu; /* with one clock: `last_wall` holds it */
    uint32_t met;                 /* index in the head + 1; 0: no record yet */
    uint32_t spare;               /* makes the size a power of two */
};

/* Decoder for files whose ids keep their meaning and whose times do not wrap.  Anything else stops
 * it. */
struct tv_mt_fast {
    const struct tv_mt_file *file;
    const struct tv_mt_frames *frames;
    struct tv_diagnostics *diagnostics;
    struct tv_mt_thread_times *thread_times; /* by thread - first_thread */
    struct tv_mt_slot *slots;                /* by tid */
    uint32_t slot_count;
    bool has_before;
    int64_t before; /* wall time of the last record */
    uint64_t unrolls;
    enum tv_mt_stop stop;
};

/* `thread_times` has a row for each thread of the file. */
void tv_mt_fast_init(struct tv_mt_fast *fast, const struct tv_mt_file *file,
                     const struct tv_mt_frames *frames, struct tv_mt_thread_times *thread_times,
                     struct tv_diagnostics *diagnostics);

/* Fill the last times of all threads, and free the slots. */
void tv_mt_fast_release(struct tv_mt_fast *fast);

/* Decode up to `count` records at `at`, which are at `offset` of the file.  Return the number of
 * events; when it is less, fast->stop is the reason. */
size_t tv_mt_fast_take(struct tv_mt_fast *fast, const uint8_t *at, uint64_t offset, size_t count,
                       struct tv_event *events);

/* ---- deltas.c: entries of format V2 (variant B) ---- */

/* Longest record: three numbers of ten bytes. */
#define TV_MT_LONGEST_DELTAS 30

/* Decoder for blocks in order: whole records of listed threads and methods, with times that do not
 * go back.  Anything else stops it. */
struct tv_mt_deltas {
    const struct tv_mt_file *file;
    struct tv_mt_thread_times *thread_times; /* by thread - first_thread */
    uint64_t unrolls;
    enum tv_mt_stop stop;
    /* State of the current block: */
    struct tv_mt_delta_base last;
    struct tv_mt_thread_times *times;
    uint32_t thread;
};

/* Bytes of a block that are not decoded yet. */
struct tv_mt_deltas_left {
    struct tv_bytes bytes; /* TV_WINDOW_SLACK more bytes are readable */
    bool all;              /* up to the end of the block; else at least TV_MT_LONGEST_DELTAS */
};

/* `thread_times` has a row for each thread of the file. */
void tv_mt_deltas_init(struct tv_mt_deltas *deltas, const struct tv_mt_file *file,
                       struct tv_mt_thread_times *thread_times);

/* Go to the start of a block, or set deltas->stop. */
void tv_mt_deltas_seek(struct tv_mt_deltas *deltas, size_t unit);

/* Decode up to `count` records and advance `left`.  distances[i] is the position of a record in the
 * bytes of `left`.  Return the number of events; 0 when there are no more, or deltas->stop is set.
 */
size_t tv_mt_deltas_take(struct tv_mt_deltas *deltas, struct tv_mt_deltas_left *left, size_t count,
                         struct tv_event *events, uint32_t *distances);

/* ---- chunk.c: a chunk of records, delivered to the sink ---- */

/* Position of a record: its unit, and its offset in that unit. */
struct tv_mt_position {
    size_t unit;
    uint64_t done;
};

/* Data that all chunks share. */
struct tv_mt_delivery {
    struct tv_mt_file *file;
    struct tv_sink *sink;
    struct tv_mt_frames frames;
    unsigned chunk_count;
    unsigned pass;
    bool fast;   /* read with fast.c */
    bool deltas; /* read with deltas.c */
    /* A sink that writes got this many events from earlier attempts, and must not get times that a
     * later survey may extend. */
    uint64_t had;
    bool writes;
    /* By thread of this input: 0: not known yet, TV_NONE: no track, else 1 + its track in the
     * sketch.  NULL: there is no sketch. */
    _Atomic uint32_t *sketched;
    _Atomic bool stop; /* a chunk stopped: the others need not continue */
};

struct tv_mt_chunk {
    struct tv_mt_delivery *delivery;
    unsigned index;
    struct tv_mt_position start, end;
    struct tv_mt_thread_times *thread_times; /* by thread - first_thread */
    struct tv_diagnostics diagnostics;
    bool has_events;
    int64_t first_wall, last_wall; /* of its first and last event */
    uint64_t records, unrolls;
    enum tv_mt_stop stop;
    enum tv_status status;
    struct tv_error error;
};

/* Read a chunk; the outcome is in `status` and `stop`. */
void tv_mt_chunk_read(struct tv_mt_chunk *chunk);

/* ---- block_sketch.c: the sketch of a file that is being unpacked ---- */

/* The reader's `sketch_block`. */
void tv_mt_block_sketch(struct tv_bytes block, struct tv_sketch *sketch, void **kept);

#endif

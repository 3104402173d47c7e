/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - everything that one chunk of the events says, with numbers of its own.
 *
 * event_list.c walks over the text and hands each event over here.  Worker threads fill one chunk
 * each and share nothing; trace_event.c merges the chunks and gives their processes, threads and
 * names the numbers of the trace.
 */
#ifndef TV_READERS_TRACE_EVENT_CHUNK_H
#define TV_READERS_TRACE_EVENT_CHUNK_H

#include "model/assembly/assembly.h"
#include "model/assembly/idle_gap.h"
#include "model/diagnostic.h"
#include "model/sketch.h"
#include "model/tables.h"
#include "readers/trace_event/join/join.h"
#include "readers/trace_event/tables.h"

/* ---- Counters ---- */

/* Counter events (C).  A counter is (process, name and category, id).  Its series are those that
 * any of its events names, in the order of the file; its samples are sorted by time. */
struct tv_te_counters;

struct tv_te_counters *tv_te_counters_new(void);
void tv_te_counters_free(struct tv_te_counters *counters);

struct tv_te_counter_event {
    uint32_t process, name; /* numbers of the chunk */
    struct tv_bytes id;     /* raw; data NULL: none */
    struct tv_bytes args;   /* raw */
    int64_t time;           /* ns on the file's clock */
    uint64_t offset;
    unsigned colour;
};

/* Add an event.  Values that are not numbers count in the diagnostics. */
void tv_te_counters_add(struct tv_te_counters *counters, const struct tv_te_counter_event *event,
                        struct tv_diagnostics *diagnostics);

/* The counters of one chunk, and the head's numbers of its processes and frames. */
struct tv_te_counters_chunk {
    const struct tv_te_counters *counters;
    const uint32_t *processes, *frames;
};

struct tv_trace_info;

/* Add the counters of all chunks, which are in the order of the file, to the tables. */
void tv_te_counters_merge(const struct tv_te_counters_chunk *chunks, size_t count,
                          struct tv_trace_info *head, uint32_t input, struct tv_tables *tables);

/* ---- The chunk ---- */

/* Events on their way into the preview (model/sketch.h), a batch at a time. */
struct tv_te_sketching {
    struct tv_sketch *sketch; /* or NULL: nobody watches */
    uint32_t *tracks;         /* [threads] numbers of the sketch */
    size_t track_count, track_capacity;
    struct tv_sketch_mark marks[128];
    size_t count;
};

/* The hash table of threads by the text of their ids; see chunk.c. */
struct tv_te_id_cache;

struct tv_te_deferred_list {
    struct tv_te_deferred *rows;
    size_t count, capacity;
};

struct tv_te_chunk {
    struct tv_gather *gather; /* spans: X, B and E */
    struct tv_te_names names;
    struct tv_te_threads threads;
    struct tv_te_counters *counters;
    struct tv_te_deferred_list deferred;
    struct tv_te_flow_list flows;
    struct tv_te_deferred_list metadata; /* phase M; `thread` TV_NONE: the event is of a process */
    TV_TABLE(tv_instant) instants;
    struct tv_diagnostics diagnostics;
    struct tv_idle_gap times;
    uint64_t events;
    uint64_t phases[128]; /* events by the letter of their phase; 0: none, or no ASCII */
    bool has_cpu;
    bool has_open; /* a slice without a length */
    struct tv_te_stack_uses uses;
    struct tv_te_id_cache *cache;
    struct tv_te_sketching sketching;
};

void tv_te_chunk_init(struct tv_te_chunk *chunk);
void tv_te_chunk_release(struct tv_te_chunk *chunk);

/* Add the event whose '{' is at `offset`.  TV_WINDOW_SLACK bytes after its texts are readable. */
void tv_te_chunk_take(struct tv_te_chunk *chunk, const struct tv_te_fields *fields,
                      uint64_t offset);

#endif

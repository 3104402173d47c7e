/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - what one chunk of the events of a Trace Event file says, with numbers of its own.
 *
 * list.c walks over the text and hands each event here; te_merge.c puts the chunks together.
 */
#ifndef TV_READERS_TRACE_EVENT_PART_H
#define TV_READERS_TRACE_EVENT_PART_H

#include "model/assembly.h"
#include "model/silence.h"
#include "model/sketch.h"
#include "readers/trace_event/counters.h"
#include "readers/trace_event/events.h"
#include "readers/trace_event/flow_events.h"
#include "readers/trace_event/names.h"
#include "readers/trace_event/threads.h"
#include "readers/trace_event/uses.h"

/* Some of the events for a sketch (model/sketch.h). */
struct tv_te_sketching {
    struct tv_sketch *sketch; /* or NULL */
    uint32_t *tracks;         /* [threads] in the sketch */
    size_t track_count, track_capacity;
    struct tv_sketch_mark marks[128];
    size_t count;
};

/* Threads by the text of their ids; see chunk.c. */
struct tv_te_id_cache;

struct tv_te_deferred_list {
    struct tv_te_deferred *rows;
    size_t count, capacity;
};

struct tv_te_chunk {
    struct tv_gather *gather;
    struct tv_te_names names;
    struct tv_te_threads threads;
    struct tv_te_counters *counters;
    struct tv_te_deferred_list deferred;
    struct tv_te_flow_list flows;
    struct tv_te_deferred_list metadata; /* phase 'M'; `thread` TV_NONE: it speaks of the process */
    TV_TABLE(tv_instant) instants;
    struct tv_diagnostics diagnostics;
    struct tv_silence times;
    uint64_t events;
    bool has_cpu;
    bool has_open;          /* a slice whose length is not told */
    struct tv_te_stack_uses uses; /* of stack frames */
    struct tv_te_id_cache *cache;
    struct tv_te_sketching sketching;
};

/* sketching.c: that an event of a thread was read. */
void tv_te_sketch_event(struct tv_te_chunk *chunk, uint32_t thread, int64_t time);

void tv_te_chunk_init(struct tv_te_chunk *chunk);
void tv_te_chunk_release(struct tv_te_chunk *chunk);

/* Takes in the event whose '{' is at `offset`. Its texts have TV_WINDOW_SLACK bytes behind them. */
void tv_te_chunk_take(struct tv_te_chunk *chunk, const struct tv_te_fields *fields, uint64_t offset);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - what one part of the events of a Trace Event file says, with numbers of its own.
 *
 * list.c walks over the text and hands each event here; te_merge.c puts the parts together.
 */
#ifndef TV_READERS_TRACE_EVENT_PART_H
#define TV_READERS_TRACE_EVENT_PART_H

#include "model/assembly/assembly.h"
#include "model/assembly/idle_gap.h"
#include "model/sketch.h"
#include "readers/trace_event/counters.h"
#include "readers/trace_event/events.h"
#include "readers/trace_event/flow_events.h"
#include "readers/trace_event/names.h"
#include "readers/trace_event/threads.h"
#include "readers/trace_event/uses.h"

/* Some of the events for a sketch (model/sketch.h). */
struct tv_te_marking {
    struct tv_sketch *sketch; /* or NULL */
    uint32_t *tracks;         /* [threads] in the sketch */
    size_t track_count, track_capacity;
    struct tv_sketch_mark marks[128];
    size_t count;
};

/* Threads by the text of their ids; see part.c. */
struct tv_te_id_cache;

struct tv_te_loose_list {
    struct tv_te_loose *rows;
    size_t count, capacity;
};

struct tv_te_part {
    struct tv_gather *gather;
    struct tv_te_names names;
    struct tv_te_threads threads;
    struct tv_te_counters *counters;
    struct tv_te_loose_list loose;
    struct tv_te_flow_list flows;
    struct tv_te_loose_list metadata; /* phase 'M'; `thread` TV_NONE: it speaks of the process */
    TV_TABLE(tv_instant) instants;
    struct tv_diagnostics diagnostics;
    struct tv_idle_gap times;
    uint64_t events;
    bool has_cpu;
    bool has_open;          /* a slice whose length is not told */
    struct tv_te_uses uses; /* of stack frames */
    struct tv_te_id_cache *cache;
    struct tv_te_marking marking;
};

/* marking.c: that an event of a thread was read. */
void tv_te_mark(struct tv_te_part *part, uint32_t thread, int64_t time);

void tv_te_part_init(struct tv_te_part *part);
void tv_te_part_release(struct tv_te_part *part);

/* Takes in the event whose '{' is at `offset`. Its texts have TV_WINDOW_SLACK bytes behind them. */
void tv_te_part_take(struct tv_te_part *part, const struct tv_te_fields *fields, uint64_t offset);

#endif

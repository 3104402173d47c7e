/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - counter events (C): one chunk's, then all chunks' together as counters of the
 * trace.
 *
 * A counter is (process, name and category, id).  Its series are those that any of its events
 * names, in the order of the file; its samples are sorted by time.
 */
#ifndef TV_READERS_TRACE_EVENT_COUNTERS_H
#define TV_READERS_TRACE_EVENT_COUNTERS_H

#include "base/arena.h"
#include "base/intern.h"
#include "model/diagnostic.h"
#include "model/tables.h"
#include "readers/trace_event/values.h"

struct tv_te_counters;

struct tv_te_counters *tv_te_counters_new(void);
void tv_te_counters_free(struct tv_te_counters *counters);

struct tv_te_counter_event {
    uint32_t process, name; /* numbers of the chunk */
    struct tv_bytes id;     /* raw; data NULL: none */
    struct tv_bytes args;   /* raw */
    int64_t time;
    uint64_t offset;
    unsigned colour;
};

/* Takes an event in; what cannot be read of it counts in the diagnostics. */
void tv_te_counters_add(struct tv_te_counters *counters, const struct tv_te_counter_event *event,
                        struct tv_diagnostics *diagnostics);

/* One chunk with what its numbers mean in the head. */
struct tv_te_counters_chunk {
    const struct tv_te_counters *counters;
    const uint32_t *processes, *frames;
};

/* Adds the counters of all chunks, in the order of the chunks, to the tables. */
struct tv_head;
void tv_te_counters_merge(const struct tv_te_counters_chunk *chunks, size_t count,
                          struct tv_head *head, uint32_t input, struct tv_tables *tables);

#endif

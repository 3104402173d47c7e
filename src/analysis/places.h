/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - which event stands at a place of a file.
 *
 * There is no index of offsets: it would be as large as half of the trace.  One pass over the
 * columns of offsets answers for any number of places at once.
 */
#ifndef TV_ANALYSIS_PLACES_H
#define TV_ANALYSIS_PLACES_H

#include "model/trace.h"

enum tv_event_kind {
    TV_EVENT_NONE,
    TV_EVENT_SLICE,       /* row, index; also where its end stands */
    TV_EVENT_INSTANT,     /* number */
    TV_EVENT_COUNTER,     /* counter, sample */
    TV_EVENT_SNAPSHOT,    /* number */
    TV_EVENT_SAMPLE,      /* number */
    TV_EVENT_FLOW,        /* number */
    TV_EVENT_MEMORY_DUMP, /* number */
    TV_EVENT_OBJECT,      /* number; it and those below have no place in a file */
    TV_EVENT_PROCESS,     /* number */
    TV_EVENT_THREAD,      /* number */
    TV_EVENT_METADATA,    /* number */
};

/* One thing of the model, and where an event that tells of it stands. */
struct tv_event_place {
    enum tv_event_kind kind;
    uint32_t a, b;
    uint64_t offset;
};

/* The last event that begins at or before a place, and the first one behind that. */
struct tv_neighbours {
    struct tv_event_place at, after; /* TV_EVENT_NONE: there is none */
};

/* Finds those of `count` offsets of an input, sorted upwards. Where several things stand at one
 * place it is the slice. */
void tv_places_find(const struct tv_trace *trace, uint32_t input, const uint64_t *offsets,
                    size_t count, struct tv_neighbours *found);

#endif

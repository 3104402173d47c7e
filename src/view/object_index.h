/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_index.h - the rows in which objects are drawn: one a process and type, with as many lanes
 * as live at once.
 *
 * Made when somebody first asks for objects, 12 bytes an object.
 */
#ifndef TV_VIEW_OBJECT_INDEX_H
#define TV_VIEW_OBJECT_INDEX_H

#include "base/workers.h"
#include "model/trace.h"

/* What finds no free one lies over others in the last. */
#define TV_OBJECT_LANES 16u

struct tv_object_row {
    uint32_t process;      /* index; TV_NONE: of none */
    uint32_t type;         /* string: the base type where there is one */
    uint32_t first, count; /* in `order` */
    uint32_t lanes;
    uint64_t snapshots;
};

struct tv_object_index {
    const struct tv_trace *trace;
    struct tv_lock lock;
    bool made;
    struct tv_object_row *rows; /* by process and name of the type */
    size_t row_capacity;
    uint32_t row_count;
    uint32_t *order;  /* objects by row, and in it by creation */
    uint32_t *row_of; /* [objects] */
    uint32_t *lane;   /* [objects] in their row */
};

struct tv_object_index *tv_object_index_new(const struct tv_trace *trace);
void tv_object_index_free(struct tv_object_index *index);

/* Makes what is not made yet; any number of threads may ask. */
const struct tv_object_index *tv_object_index_get(struct tv_object_index *index);

/* When an object began and ended on the trace's axis. */
static inline tv_ns tv_object_begin(const struct tv_trace *trace, const struct tv_object *object)
{
    return tv_trace_time(trace, object->input, object->created);
}

static inline tv_ns tv_object_end(const struct tv_trace *trace, const struct tv_object *object)
{
    return tv_trace_time(trace, object->input, object->deleted);
}

#endif

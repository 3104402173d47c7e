/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spans.h - the spans of one thread on their way to rows.
 *
 * For the files of the assembly alone: gather.c, span_sort.c, pair.c, nest.c, rooms.c, assembly.c.
 */
#ifndef TV_MODEL_SPANS_H
#define TV_MODEL_SPANS_H

#include "model/assembly.h"

/* What few spans have; tv_span.side is its index, or TV_NONE. */
struct tv_side {
    int64_t cpu_start, cpu_length; /* TV_NO_TIME: unknown */
    /* TV_SIDE_NO_OFFSET: no event of its own ended the span, or one that tells nothing. */
    uint64_t end_offset : 40;
    /* For a span without length: how many of the next spans without length it contains, because
     * they began after its beginning and before its end. */
    uint64_t inside : 24;
};

#define TV_SIDE_NO_OFFSET TV_OFFSET_MASK
#define TV_SIDE_MOST_INSIDE 0xffffffu

/* From where packed spans count. */
struct tv_span_bases {
    int64_t time, cpu;
    uint64_t offset;
    uint64_t length; /* of the next span alone */
};

/* Spans as they were gathered: records of one size (span_pack.h). */
struct tv_span_block {
    struct tv_span_block *next;
    uint32_t count, capacity; /* records */
    uint32_t since;           /* spans since the bases changed */
    bool packed;              /* else each record is a struct tv_span */
    bool timed;               /* each has CPU times behind it */
    struct tv_span_bases bases;
    uint8_t bytes[];
};

void tv_span_block_free(struct tv_span_block *block);

/* On its way through a block; the rest zeroed. */
struct tv_span_reader {
    const struct tv_span_block *block;
    uint32_t next;
    struct tv_span_bases bases;
};

/* The next span, whose `side` is TV_NONE; false: there are no more.  CPU times are those of a whole
 * one, TV_NO_TIME where they are not known. */
bool tv_span_read(struct tv_span_reader *reader, struct tv_span *span, struct tv_cpu_times *cpu);

/* One thread's blocks of one part. */
struct tv_span_list {
    struct tv_span_block *first, *last;
    uint64_t count;
};

struct tv_gather {
    struct tv_span_list *threads;
    size_t thread_count, thread_capacity;
    size_t frame_count; /* the spans mean frames below this number */
};

/* Memory that a worker uses for one thread after the other: fresh memory is slow. */
struct tv_room {
    void *memory;
    size_t size;
};

/* Room for `count` things of `size` bytes, which hold anything. */
void *tv_room_take(struct tv_room *room, size_t count, size_t size);

/* Nobody looks at it any more: gives it back when it is large. */
void tv_room_leave(struct tv_room *room);
void tv_room_release(struct tv_room *room);

struct tv_spans_rooms {
    struct tv_room spans, spare, row_of;
    struct tv_paths paths;
    struct tv_diagnostics *diagnostics; /* of the thread at hand: large, and mostly empty */
};

void tv_spans_rooms_init(struct tv_spans_rooms *rooms);
void tv_spans_rooms_release(struct tv_spans_rooms *rooms);

/* All spans of one thread. */
struct tv_spans {
    struct tv_spans_rooms *rooms;
    struct tv_span *spans;
    size_t count;
    struct tv_side *sides;
    size_t side_count, side_capacity;
    const uint32_t *names; /* of the head's frames: strings */
    struct tv_diagnostics *diagnostics;
};

static inline int64_t tv_span_end(const struct tv_span *span)
{
    return span->time + span->length;
}

/* Sorts by time; what has one time stays in its order. */
void tv_spans_sort_by_time(struct tv_spans *spans);

/* Sorts whole spans by start, the longest first. */
void tv_spans_sort_by_start(struct tv_spans *spans);

/* The times at which slices without an end are taken to end. */
struct tv_open_ends {
    int64_t end;
    int64_t quiet; /* of what began until then, or TV_NO_TIME */
};

/* Return the end of an open span.  An end before a silence is counted as a diagnostic. */
int64_t tv_open_end(const struct tv_open_ends *ends, const struct tv_span *span,
                    struct tv_diagnostics *diagnostics);

/* Joins beginnings and ends, sorted by time, to whole spans, which stay sorted by start. */
void tv_spans_pair(struct tv_spans *spans, const struct tv_open_ends *ends);

/* Where a span went. */
struct tv_nested_row {
    uint32_t lane;  /* 0: the thread's own rows; else an overflow track */
    uint32_t depth; /* in the lane */
    uint32_t count;
};

struct tv_nesting {
    uint32_t *row_of;           /* [spans] index in rows; in the worker's room */
    struct tv_nested_row *rows; /* by lane and depth */
    size_t row_count;
    uint32_t lane_count;
    /* Frames of the spans become paths of this tree. */
    struct tv_path_node *nodes;
    uint32_t node_count;
};

/* Finds the row of each whole span, sorted by start; turns `frame` into the path; sets flags; cuts
 * what overhangs by up to the tolerance. */
void tv_spans_nest(struct tv_spans *spans, int64_t tolerance, struct tv_nesting *nesting);

/* Lanes of which each is busy until a time: which is the first that is free? */
struct tv_lanes {
    int64_t *busy; /* a tree of minima; leaves from `leaves` on */
    size_t leaves, count;
};

/* The first lane that is free at `start` (a new one when none is), made busy until `end`. */
uint32_t tv_lanes_take(struct tv_lanes *lanes, int64_t start, int64_t end);
void tv_lanes_release(struct tv_lanes *lanes);

#endif

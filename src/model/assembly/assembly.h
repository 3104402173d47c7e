/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly.h - builds a trace from events in any order.
 *
 * Readers whose formats are not streams of entries and exits (Trace Event JSON, ftrace, ETW) use an
 * assembly instead of a sink.  For each input:
 *
 *     gather      while reading, each chunk by itself: store spans per thread, packed into 20 bytes
 *                 each, or 28 with CPU times (assembly_internal.h); threads and frames have numbers
 *                 of the chunk's own
 *     add         after reading, chunk after chunk: translate these numbers to those of the trace
 *     build rows  threads in parallel: sort by time, pair begins with ends (pair.c), nest (nest.c),
 *                 write rows; spans that do not nest go to an overflow track of the thread
 *     finish      add async slices and state tracks, then the tables (tables.h), because flows and
 *                 others refer to finished slices
 *
 * A span is a whole slice, or its begin, or its end.  Nesting and pairing follow trace-event.md
 * sections 3.1, 3.2 and 4.
 */
#ifndef TV_MODEL_ASSEMBLY_ASSEMBLY_H
#define TV_MODEL_ASSEMBLY_ASSEMBLY_H

#include <stdatomic.h>

#include "model/trace.h"

enum tv_span_flags {
    TV_SPAN_WHOLE = 0, /* `length` is known */
    TV_SPAN_BEGIN = 1,
    TV_SPAN_END = 2,
    TV_SPAN_KIND = 3,       /* mask of these three */
    TV_SPAN_UNFINISHED = 4, /* whole, but of unknown length: lasts to the thread's last time */
    TV_SPAN_TELLS = 8,      /* an end with more than its time (arguments, a colour) */
    TV_SPAN_NAMELESS =
        16, /* an end without a name: closes the innermost span; its frame is meaningless */
    TV_SPAN_KERNEL = 32,  /* by the kernel on behalf of the thread: paired separately */
    TV_SPAN_IF_OPEN = 64, /* an end implied by another begin: there may be nothing to end */
};

/* Per-event offsets have 40 bits, as those of slices do. */
#define TV_OFFSET_MASK ((UINT64_C(1) << 40) - 1)

/* A span takes 32 bytes while the rows of its thread are built. */
struct tv_span {
    int64_t time;         /* nanoseconds */
    int64_t length;       /* whole: not negative; begin or end: CPU time or TV_NO_TIME */
    uint64_t offset : 40; /* offset of the event's text in the input */
    uint64_t colour : 8;  /* as in struct tv_slice_extra */
    uint64_t flags : 8;
    uint64_t slice_flags : 8; /* enum tv_slice_flags; tv_gather_span expects 0 */
    uint32_t frame;
    uint32_t side; /* internal (struct tv_span_extra); tv_gather_span ignores it */
};

/* TV_NO_TIME: unknown. */
struct tv_cpu_times {
    int64_t start, length;
};

/* The spans of one chunk.  Only one thread may use it. */
struct tv_gather;

struct tv_gather *tv_gather_new(void);
void tv_gather_free(struct tv_gather *gather);

/* Add a span.  The caller numbers threads from 0 without gaps.  `cpu` belongs to a whole span;
 * NULL: unknown. */
void tv_gather_span(struct tv_gather *gather, uint32_t thread, const struct tv_span *span,
                    const struct tv_cpu_times *cpu);

struct tv_assembly;
struct tv_builder;

/* Begin an input of the trace info, whose size in bytes must be set.  Threads, frames and processes
 * may be added until tv_assembly_build_rows.  The caller may set trace->offset of the input to
 * align its clock with those of other inputs; the builder moves all inputs to the origin at the
 * end. */
struct tv_assembly *tv_assembly_new(struct tv_builder *builder, uint32_t input);

/* Return the unfinished trace; the caller may add to its tables and its path tree. */
struct tv_trace *tv_assembly_trace(struct tv_assembly *assembly);

/* Add the chunks in order; each call takes a gather over.  threads[] and frames[] translate its
 * numbers to those of the trace info. */
void tv_assembly_add_chunk(struct tv_assembly *assembly, struct tv_gather *gather,
                           const uint32_t *threads, const uint32_t *frames);

/* A time in which a thread ran.  The list of a thread is sorted and does not overlap; it gives CPU
 * times to slices without their own. */
struct tv_running {
    int64_t start, end;
    int64_t before; /* CPU time at `start` */
};

struct tv_running_clock {
    const struct tv_running *runs;
    size_t count;
};

/* Return the CPU time of a thread at a time.  Queries come nearly in order: *near is the position
 * of the previous one, 0 at first. */
int64_t tv_running_clock_at(const struct tv_running_clock *clock, int64_t time, size_t *near);

/* Before building rows: raise lasts[process], TV_NO_TIME at first, to the last time of the process
 * before the idle gap (idle_gap.h), as far as slices and instants tell.  Return the row option
 * `idle_ends` for each thread of the head, also those without slices; the caller frees it.  NULL: a
 * slice spans the gap, so that it is none. */
int64_t *tv_assembly_idle_ends(const struct tv_assembly *assembly, int64_t gap, int64_t *lasts);

struct tv_row_options {
    int64_t tolerance; /* a nested slice may end later than its parent by less than this; it is
                          clipped */
    int64_t end;       /* end of slices that never end: the latest time of the input */
    /* Per thread: a better `end` for a thread that does nothing later; or NULL. */
    const int64_t *ends;
    /* Per thread: its last activity outside of slices; or NULL. */
    const int64_t *lasts;
    /* Per thread: end of unfinished slices that began before the idle gap, the last time of the
     * process or, without one, of the thread before it.  TV_NO_TIME when the thread goes on after
     * the gap, whose slices the unfinished ones contain; NULL: the trace has no idle gap. */
    const int64_t *idle_ends;
    unsigned workers;                      /* 0: one per processor */
    const _Atomic bool *cancel;            /* or NULL */
    const struct tv_running_clock *clocks; /* per thread; NULL: none has one */
    /* Another job for one of the workers, or NULL.  It may add to the trace info, except threads
     * and processes, and must not touch the trace. */
    void (*beside)(void *context);
    void *beside_context;
};

/* Build the tracks and rows of all threads.  Diagnostics: unmatched ends, begins without an end,
 * mismatched titles, overlaps. */
void tv_assembly_build_rows(struct tv_assembly *assembly, const struct tv_row_options *placing);

/* Result of the last search in a row: slice `index` is the first one that starts at or after any
 * time in (after, until], and it starts at `until`.  All zeros: no search yet. */
struct tv_search_hint {
    int64_t after, until;
    uint32_t index;
};

/* A slice of a thread, identified by its start and by the offset of the event that began it. */
struct tv_slice_query {
    uint32_t thread;
    int64_t start;
    uint64_t offset;
    /* One hint per row of the trace makes searches in order of time fast; NULL: independent
     * searches. */
    struct tv_search_hint *near;
};

/* Find the row and index of a slice.  Return false when there is none. */
bool tv_assembly_find_slice(const struct tv_assembly *assembly, const struct tv_slice_query *sought,
                            uint32_t *row, uint32_t *index);

/* Return the track of a thread, or TV_NONE; its overflow tracks follow it. */
uint32_t tv_assembly_track(const struct tv_assembly *assembly, uint32_t thread);

struct tv_async_slice {
    int64_t start, length;
    int64_t cpu_start, cpu_length; /* TV_NO_TIME: unknown */
    uint64_t offset;     /* offset of the event that began it, or of its end when it has no begin */
    uint64_t end_offset; /* TV_NO_OFFSET: the end has nothing to add */
    uint32_t frame;
    uint32_t parent; /* index in the same array, smaller than its own; TV_NONE: a root */
    uint32_t start_thread, end_thread;
    uint32_t process; /* TV_NONE: that of start_thread, if there is one */
    uint32_t id;      /* string, as shown */
    uint32_t group;   /* as in struct tv_object */
    uint32_t track;   /* string: track of its process; TV_EMPTY_STRING: named after the slice */
    bool lifetime;    /* as in struct tv_async_extra */
    uint8_t flags;    /* TV_SLICE_ENTERED_BEFORE: no begin; TV_SLICE_OPEN: no end */
    uint8_t colour;
};

/* Return a slice of length 0 at the root, of a thread or of none (TV_NONE): without CPU times, and
 * with no more to say at its end.  Readers change what they know better. */
static inline struct tv_async_slice tv_async_slice_of(int64_t start, uint64_t offset,
                                                      uint32_t thread)
{
    return (struct tv_async_slice){
        .start = start,
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = offset,
        .end_offset = TV_NO_OFFSET,
        .parent = TV_NONE,
        .start_thread = thread,
        .end_thread = thread,
        .process = TV_NONE,
        .id = TV_EMPTY_STRING,
        .group = TV_NONE,
        .track = TV_EMPTY_STRING,
    };
}

/* The layout of all async slices in rows.  It may be computed while threads are worked on
 * (tv_row_options.beside); afterwards the array of slices is not needed any more. */
struct tv_async_plan;
struct tv_async_plan *tv_async_plan_new(const struct tv_trace_info *head,
                                        const struct tv_async_slice *slices, size_t count);

/* Free a plan that was not used.  NULL is allowed. */
void tv_async_plan_free(struct tv_async_plan *plan);

/* Add the async tracks of a plan, once, after tv_assembly_build_rows; takes the plan over.
 *
 * Roots with equal name and owner share a track, or as many lanes of it as they need not to
 * overlap.  The owner is the thread on which a root and all slices below begin and end, else the
 * process of its start.  A child that overlaps its siblings becomes a root.  Slices of one group
 * nest by time, whatever their ids and parents, and share the track of the earliest. */
void tv_assembly_add_async(struct tv_assembly *assembly, struct tv_async_plan *plan);

/* Finish the input and free the assembly. */
void tv_assembly_end(struct tv_assembly *assembly);

/* A set of lanes, each busy until some time. */
struct tv_lanes {
    int64_t *busy; /* tree of minima; the leaves start at `leaves` */
    size_t leaves, count;
};

/* Return the first lane that is free at `start`, or a new one, and make it busy until `end`. */
uint32_t tv_lanes_claim(struct tv_lanes *lanes, int64_t start, int64_t end);
void tv_lanes_release(struct tv_lanes *lanes);

/*
 * State tracks: one row of consecutive whole slices, for what a processor ran or the states of a
 * thread.
 */

/* Reserved colours of states: the ids of trace-event.md section 5 minus 22. */
enum tv_state_colour {
    TV_COLOUR_BLOCKED = 1, /* thread_state_uninterruptible */
    TV_COLOUR_IO = 2,      /* thread_state_iowait */
    TV_COLOUR_RUNNING = 3,
    TV_COLOUR_RUNNABLE = 4,
    TV_COLOUR_SLEEPING = 5,
    TV_COLOUR_OTHER = 6, /* thread_state_unknown: stopped, traced, dead, or not known */
};

struct tv_state_track {
    enum tv_track_kind kind;  /* TV_TRACK_CPU or TV_TRACK_STATES */
    uint32_t name;            /* string */
    uint32_t process, thread; /* TV_NONE: none */
    bool known;               /* the track exists even without slices */
    int64_t since;            /* then the track begins here */
};

struct tv_state_slice {
    int64_t start, length;
    uint64_t offset : 40; /* offset of the event that began it */
    uint64_t flags : 8;   /* enum tv_slice_flags */
    uint32_t frame;
    uint32_t state_track; /* number of its state track */
};

/* Rows of state tracks whose slices are written one at a time, each to its final place. */
struct tv_state_rows;

/* Number of slices of each state track, and the groups of tracks that one worker writes each:
 * tracks [0, ends[0]), [ends[0], ends[1]), and so on. */
struct tv_state_layout {
    const uint32_t *counts; /* per state track */
    size_t state_count;
    const size_t *ends; /* one per group; the last is state_count */
    unsigned group_count;
};

/* Create the rows for an input; they may be written before the rows of threads are built. */
struct tv_state_rows *tv_state_rows_new(const struct tv_assembly *assembly,
                                        const struct tv_state_layout *layout);

/* Write the next slice of its track, which follows the previous one, and return its index in the
 * row.  Only one thread may write to a group at a time. */
uint32_t tv_state_rows_put(struct tv_state_rows *rows, unsigned group,
                           const struct tv_state_slice *slice);

/* Change the frame of a slice that was written. */
void tv_state_rows_rename(struct tv_state_rows *rows, unsigned group, size_t state, uint32_t index,
                          uint32_t frame);

/* Add the state tracks, once, after tv_assembly_build_rows; takes the rows over.  A track without
 * slices is left out unless it is known. */
void tv_assembly_add_state_rows(struct tv_assembly *assembly, const struct tv_state_track *states,
                                struct tv_state_rows *rows);

/* Do all of this for an array of slices of all tracks.  The slices of one track are in order of
 * time and do not overlap.  `workers` threads share a large array (0: one per processor). */
void tv_assembly_add_state_tracks(struct tv_assembly *assembly, const struct tv_state_track *states,
                                  size_t state_count, const struct tv_state_slice *slices,
                                  size_t slice_count, unsigned workers);

/* Minimum number of slices for a second group. */
#define TV_STATE_GROUP_MIN 65536u

#endif

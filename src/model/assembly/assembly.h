/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly.h - how a reader of a format whose events come in any order makes a trace.
 *
 * Formats that are no streams of entries and exits (Trace Event JSON, ftrace) use this instead of a
 * sink.  For each input:
 *
 *     gather    while reading, each chunk of the input by itself: spans (whole slices or their
 *               beginnings and ends) of threads, mostly 20 bytes each, 28 with CPU times
 *               (span_pack.h); threads and frames have numbers of the chunk's own
 *     take      after reading, chunk after chunk: the numbers become those of the head
 *     place     threads side by side: sort by time, pair beginnings with ends (spans.h), nest,
 *               write rows.  What cannot nest goes to an overflow track of the thread
 *     then      async slices, and the tables (tables.h): flows and others need the placed slices
 *
 * Nesting and pairing are those of trace-event.md sections 3.1, 3.2 and 4.
 */
#ifndef TV_MODEL_ASSEMBLY_ASSEMBLY_H
#define TV_MODEL_ASSEMBLY_ASSEMBLY_H

#include <stdatomic.h>

#include "model/trace.h"

enum tv_span_flags {
    TV_SPAN_WHOLE = 0, /* `length` is there */
    TV_SPAN_BEGIN = 1,
    TV_SPAN_END = 2,
    TV_SPAN_KIND = 3,       /* mask of the three */
    TV_SPAN_UNFINISHED = 4, /* whole, but its length is unknown: to the thread's last time */
    TV_SPAN_TELLS = 8,      /* an end whose event has more to tell than its time */
    TV_SPAN_NAMELESS = 16,  /* an end that does not say of what; its frame means nothing */
    TV_SPAN_KERNEL = 32,    /* what the kernel did for the thread: paired by itself */
    TV_SPAN_IF_OPEN = 64,   /* an end that another beginning implies: there may be nothing to end */
};

#define TV_NO_TIME INT64_MIN

/* Offsets are kept in 40 bits wherever there is one for each event, as those of slices. */
#define TV_OFFSET_MASK ((UINT64_C(1) << 40) - 1)

/* 32 bytes while the events of a thread are placed. */
struct tv_span {
    int64_t time; /* nanoseconds */
    int64_t
        length; /* of a whole one, not negative; of a beginning or end: CPU time or TV_NO_TIME */
    uint64_t offset : 40; /* of the event's text in the input */
    uint64_t colour : 8;  /* as in struct tv_slice_extra */
    uint64_t flags : 8;
    uint64_t slice_flags : 8; /* enum tv_slice_flags; 0 when given to tv_gather_span */
    uint32_t frame;
    uint32_t side; /* of one that is placed, see spans.h; tv_gather_span does not look at it */
};

/* TV_NO_TIME: unknown. */
struct tv_cpu_times {
    int64_t start, length;
};

/* One chunk's spans. One thread uses it. */
struct tv_gather;

struct tv_gather *tv_gather_new(void);
void tv_gather_free(struct tv_gather *gather);

/* Threads are numbered from 0 without gaps, by the caller. `cpu` is that of a whole span; NULL:
 * unknown. */
void tv_gather_span(struct tv_gather *gather, uint32_t thread, const struct tv_span *span,
                    const struct tv_cpu_times *cpu);

struct tv_assembly;
struct tv_builder;

/* Begins an input that stands in the head, with its size in bytes. Threads, frames and processes
 * may be added until tv_assembly_build_rows. trace->offset of the input may be set to move its
 * clock against those of other inputs; the builder moves all to the origin when it finishes. */
struct tv_assembly *tv_assembly_new(struct tv_builder *builder, uint32_t input);

/* The trace being made: its tables and path tree may be added to. */
struct tv_trace *tv_assembly_trace(struct tv_assembly *assembly);

/* Takes a chunk over, in the order of the chunks. threads[] and frames[] give the head's numbers.
 */
void tv_assembly_add_chunk(struct tv_assembly *assembly, struct tv_gather *gather,
                           const uint32_t *threads, const uint32_t *frames);

/* When a thread ran: it gives the CPU time of slices that do not say it. Sorted, not overlapping.
 */
struct tv_run {
    int64_t start, end;
    int64_t before; /* CPU time at `start` */
};

struct tv_run_clock {
    const struct tv_run *runs;
    size_t count;
};

/* CPU time of a thread at a time.  Times come nearly in order: `near` is where the one before was
 * found, 0 at first. */
int64_t tv_run_clock_at(const struct tv_run_clock *clock, int64_t time, size_t *near);

/* Before placing: raises the last time of each process of the head in `lasts` to that of its slices
 * and instants before the silence.  False: a slice lasts across it, so that there is none. */
bool tv_assembly_last_times(const struct tv_assembly *assembly, int64_t silence, int64_t *lasts);

struct tv_row_options {
    int64_t tolerance; /* a nested slice may overhang by less than this: it is cut to fit */
    int64_t end;       /* slices that never end are open to here: the latest time of the input */
    /* For each thread of the head, in place of `end` where the thread does nothing later; NULL. */
    const int64_t *ends;
    /* Of each thread of the head, when it was last seen beside its slices; NULL: it was not. */
    const int64_t *lasts;
    /* One time for each process of the head, or NULL when the trace does not fall silent
     * (silence.h).  Slices that began before the silence and have no end last until this time, not
     * until `end`; TV_NO_TIME: the process has no such time. */
    const int64_t *idle_ends;
    unsigned workers;                  /* 0: one a processor */
    const _Atomic bool *cancel;        /* or NULL */
    const struct tv_run_clock *clocks; /* of each thread of the head; NULL: none has one */
    /* What else is to be done, by one of the workers, or NULL.  It may add to the head, but no
     * threads and processes, and must leave the trace alone. */
    void (*beside)(void *context);
    void *beside_context;
};

/* Makes the tracks and rows of all threads. Diagnostics: unmatched ends, beginnings without an end,
 * titles that do not match, overlaps. */
void tv_assembly_build_rows(struct tv_assembly *assembly, const struct tv_row_options *placing);

/* Where the search of a row ended: slice `index` is the first that starts at or behind any time
 * above `after`, up to `until`, where it starts.  Zeroed: there was no search. */
struct tv_search_hint {
    int64_t after, until;
    uint32_t index;
};

/* The slice of a thread that an event made: by the start and the offset of the event that began it.
 */
struct tv_slice_query {
    uint32_t thread;
    int64_t start;
    uint64_t offset;
    /* Of each row of the trace: what is sought in the order of time is found soon.  NULL: searches
     * have nothing in common. */
    struct tv_search_hint *near;
};

/* False: there is none. */
bool tv_assembly_find_slice(const struct tv_assembly *assembly, const struct tv_slice_query *sought,
                            uint32_t *row, uint32_t *index);

/* The track of a thread, or TV_NONE; overflow tracks follow it. */
uint32_t tv_assembly_track(const struct tv_assembly *assembly, uint32_t thread);

struct tv_async_slice {
    int64_t start, length;
    int64_t cpu_start, cpu_length; /* TV_NO_TIME: unknown */
    uint64_t offset;     /* of the event that began it; of its end, when it has no beginning */
    uint64_t end_offset; /* TV_NO_OFFSET: the end tells nothing more */
    uint32_t frame;
    uint32_t parent; /* index among those given, smaller than its own; TV_NONE: on top */
    uint32_t start_thread, end_thread;
    uint32_t process; /* when it has no thread; TV_NONE */
    uint32_t id;      /* string, as shown */
    uint32_t group;   /* as in struct tv_object */
    uint32_t track;   /* string: the name of its process's track; TV_EMPTY_STRING: its own */
    bool lifetime;    /* as in struct tv_async_extra */
    uint8_t flags;    /* TV_SLICE_ENTERED_BEFORE: no beginning; TV_SLICE_OPEN: no end */
    uint8_t colour;
};

/* Rows of async slices: may be made beside the placing of threads. The slices are needed no more
 * when it is made. */
struct tv_async_plan;
struct tv_async_plan *tv_async_plan_new(const struct tv_trace_info *head,
                                        const struct tv_async_slice *slices, size_t count);

/* Of a plan that is not carried out. NULL is fine. */
void tv_async_plan_free(struct tv_async_plan *plan);

/* Makes async tracks, once, after tv_assembly_build_rows; takes the plan over.  Slices on top with
 * one name and one owner share a track, or as many as it takes for none to overlap.  The owner is
 * the thread when a slice and all below it begin and end on it, else the process of its start.  A
 * child that overlaps its neighbours is laid out as if on top.  Slices of one group, whatever their
 * ids and parents, lie in each other by time and share the track of the earliest. */
void tv_assembly_add_async(struct tv_assembly *assembly, struct tv_async_plan *plan);

/* The input is done; the assembly is gone. */
void tv_assembly_end(struct tv_assembly *assembly);

/* Lanes of which each is busy until a time: which is the first that is free? */
struct tv_lanes {
    int64_t *busy; /* a tree of minima; leaves from `leaves` on */
    size_t leaves, count;
};

/* The first lane that is free at `start` (a new one when none is), made busy until `end`. */
uint32_t tv_lanes_claim(struct tv_lanes *lanes, int64_t start, int64_t end);
void tv_lanes_release(struct tv_lanes *lanes);

/*
 * states.h - tracks of one row of slices that are whole and follow one another: what a processor
 * ran, the states of a thread.
 */

/* Reserved colours of states: their ids of trace-event.md section 5, less 22. */
enum tv_state_colour {
    TV_COLOUR_BLOCKED = 1, /* thread_state_uninterruptible */
    TV_COLOUR_IO = 2,      /* thread_state_iowait */
    TV_COLOUR_RUNNING = 3,
    TV_COLOUR_RUNNABLE = 4,
    TV_COLOUR_SLEEPING = 5,
};

struct tv_state_track {
    enum tv_track_kind kind;  /* TV_TRACK_CPU or TV_TRACK_STATES */
    uint32_t name;            /* string */
    uint32_t process, thread; /* TV_NONE: of none */
    bool known;               /* it is a track even without slices, */
    int64_t since;            /* and begins then */
};

struct tv_state_slice {
    int64_t start, length;
    uint64_t offset : 40; /* of the event that began it */
    uint64_t flags : 8;   /* enum tv_slice_flags */
    uint32_t frame;
    uint32_t strip; /* which one it belongs to */
};

/* Rows of states whose slices are written one by one, each where it stays. */
struct tv_state_rows;

/* How many slices each strip has, and which states are written by one worker: those up to
 * ends[0], those from there up to ends[1], and so on. */
struct tv_state_layout {
    const uint32_t *counts; /* by strip */
    size_t state_count;
    const size_t *ends; /* of the groups; the last is state_count */
    unsigned group_count;
};

/* Rows of an input, which may be written before the threads are placed. */
struct tv_state_rows *tv_state_rows_new(const struct tv_assembly *assembly,
                                        const struct tv_state_layout *layout);

/* Writes the next slice of its strip, which follows the one before, and returns its index in the
 * row.  Strips of one group are written by one thread at a time. */
uint32_t tv_state_rows_put(struct tv_state_rows *rows, unsigned group,
                           const struct tv_state_slice *slice);

/* A slice that was written is of another frame. */
void tv_state_rows_rename(struct tv_state_rows *rows, unsigned group, size_t strip, uint32_t index,
                          uint32_t frame);

/* Makes the tracks, once, after tv_assembly_build_rows; takes the rows over.  A strip without
 * slices makes no track unless it is known. */
void tv_assembly_add_state_rows(struct tv_assembly *assembly, const struct tv_state_track *states,
                                struct tv_state_rows *rows);

/* All of it, of slices of all states, mixed: those of one strip are in the order of time and do not
 * overlap.  Many slices are written by `workers` threads (0: one a processor). */
void tv_assembly_add_state_tracks(struct tv_assembly *assembly, const struct tv_state_track *states,
                                  size_t state_count, const struct tv_state_slice *slices,
                                  size_t slice_count, unsigned workers);

/* Fewer slices are not worth a second group. */
#define TV_STATE_GROUP_LEAST 65536u

#endif

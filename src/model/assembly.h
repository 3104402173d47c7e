/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly.h - how a reader of a format whose events come in any order makes a trace.
 *
 * Formats that are no streams of entries and exits (Trace Event JSON, ftrace) use this instead of a
 * sink.  For each input:
 *
 *     gather    while reading, each part of the input by itself: spans (whole slices or their
 *               beginnings and ends) of threads, mostly 20 bytes each, 28 with CPU times
 *               (span_pack.h); threads and frames have numbers of the part's own
 *     take      after reading, part after part: the numbers become those of the head
 *     place     threads side by side: sort by time, pair beginnings with ends (spans.h), nest,
 *               write rows.  What cannot nest goes to an overflow track of the thread
 *     then      async slices, and the tables (tables.h): flows and others need the placed slices
 *
 * Nesting and pairing are those of trace-event.md sections 3.1, 3.2 and 4.
 */
#ifndef TV_MODEL_ASSEMBLY_H
#define TV_MODEL_ASSEMBLY_H

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

/* One part's spans. One thread uses it. */
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
 * may be added until tv_assembly_place. trace->offset of the input may be set to move its clock
 * against those of other inputs; the builder moves all to the origin when it finishes. */
struct tv_assembly *tv_assembly_new(struct tv_builder *builder, uint32_t input);

/* The trace being made: its tables and path tree may be added to. */
struct tv_trace *tv_assembly_trace(struct tv_assembly *assembly);

/* Takes a part over, in the order of the parts. threads[] and frames[] give the head's numbers. */
void tv_assembly_take(struct tv_assembly *assembly, struct tv_gather *gather,
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
bool tv_assembly_lasts(const struct tv_assembly *assembly, int64_t silence, int64_t *lasts);

struct tv_placing {
    int64_t tolerance; /* a nested slice may overhang by less than this: it is cut to fit */
    int64_t end;       /* slices that never end are open to here: the latest time of the input */
    /* For each thread of the head, in place of `end` where the thread does nothing later; NULL. */
    const int64_t *ends;
    /* Of each thread of the head, when it was last seen beside its slices; NULL: it was not. */
    const int64_t *lasts;
    /* One time for each process of the head, or NULL when the trace does not fall silent
     * (silence.h).  Slices that began before the silence and have no end last until this time, not
     * until `end`; TV_NO_TIME: the process has no such time. */
    const int64_t *quiets;
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
void tv_assembly_place(struct tv_assembly *assembly, const struct tv_placing *placing);

/* Where the search of a row ended: slice `index` is the first that starts at or behind any time
 * above `after`, up to `until`, where it starts.  Zeroed: there was no search. */
struct tv_near {
    int64_t after, until;
    uint32_t index;
};

/* The slice of a thread that an event made: by the start and the offset of the event that began it.
 */
struct tv_sought {
    uint32_t thread;
    int64_t start;
    uint64_t offset;
    /* Of each row of the trace: what is sought in the order of time is found soon.  NULL: searches
     * have nothing in common. */
    struct tv_near *near;
};

/* False: there is none. */
bool tv_assembly_find(const struct tv_assembly *assembly, const struct tv_sought *sought,
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
struct tv_async_plan *tv_async_plan_new(const struct tv_head *head,
                                        const struct tv_async_slice *slices, size_t count);

/* Of a plan that is not carried out. NULL is fine. */
void tv_async_plan_free(struct tv_async_plan *plan);

/* Makes async tracks, once, after tv_assembly_place; takes the plan over.  Slices on top with one
 * name and one owner share a track, or as many as it takes for none to overlap.  The owner is the
 * thread when a slice and all below it begin and end on it, else the process of its start.  A child
 * that overlaps its neighbours is laid out as if on top.  Slices of one group, whatever their ids
 * and parents, lie in each other by time and share the track of the earliest. */
void tv_assembly_async(struct tv_assembly *assembly, struct tv_async_plan *plan);

/* The input is done; the assembly is gone. */
void tv_assembly_end(struct tv_assembly *assembly);

#endif

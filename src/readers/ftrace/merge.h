/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - the parts of a file of ftrace text put together: numbers become those of the head,
 * rows stand in the order of time.
 *
 * The parts in their order say what one part would.
 */
#ifndef TV_READERS_FTRACE_MERGE_H
#define TV_READERS_FTRACE_MERGE_H

#include "readers/ftrace/text.h"

/* What the numbers of a part are in the head. */
struct tv_ft_numbers {
    uint32_t *threads; /* of tasks; TV_NONE: nothing stands on it */
    uint32_t *frames, *texts;
};

/* An end of an arrow: the slice of a thread that began there. */
struct tv_ft_flow_end {
    uint32_t thread;
    int64_t start, time;
    uint64_t offset;
};

struct tv_ft_flow {
    struct tv_ft_flow_end from, to;
    uint64_t offset, end_offset; /* of the events */
    uint32_t frame, id;          /* id: a string */
};

/* A slice whose end is told by an event of its own. */
struct tv_ft_slice_end {
    struct tv_ft_flow_end slice;
    uint64_t end_offset;
};

struct tv_ft_merge {
    struct tv_trace *trace;
    struct tv_assembly *assembly;
    uint32_t input;
    struct tv_ft_text *texts;
    size_t text_count;
    struct tv_ft_numbers *numbers; /* of each part */
    struct tv_map processes;       /* tgid -> process */
    uint32_t kernel;         /* process of the kernel's own lines; TV_NONE: there are none yet */
    TV_TABLE(tv_ft_odd) odd; /* texts of the head; until they are counted */
    bool shifted;            /* a mark has told the clock of a parent trace */
    int64_t first, last;     /* times; first > last: there are no events */
    /* Sorted by time; tasks are threads of the head, idle ones TV_NONE, frames and texts those of
     * the head. */
    TV_TABLE(tv_ft_switch) switches;
    TV_TABLE(tv_ft_wakeup) wakeups;
    TV_TABLE(tv_ft_async) asyncs; /* keys are numbers of distinct keys */
    uint32_t key_count;
    TV_TABLE(tv_async_slice) whole_asyncs; /* those that need no pairing */
    struct tv_async_plan *async_plan;      /* NULL: not made yet */
    struct tv_diagnostics *repeated;       /* that the plan tells; NULL: none */
    TV_TABLE(tv_ft_flow) flows;
    TV_TABLE(tv_ft_slice_end) slice_ends;
};

/* Threads, processes and frames, then the rows of all parts. Gives the gathered slices to the
 * assembly, instants, counters and clock marks to the tables. */
void tv_ft_merge(struct tv_ft_merge *merge);

/* Switches and wake-ups are needed no more. */
void tv_ft_merge_leave_rows(struct tv_ft_merge *merge);
void tv_ft_merge_release(struct tv_ft_merge *merge);

/* counts.c: the counters of all parts. */
void tv_ft_merge_counters(struct tv_ft_merge *merge);

/* The process with a tgid, added when there is none; the kernel's for TV_FT_NO_ID. */
uint32_t tv_ft_process(struct tv_ft_merge *merge, int64_t tgid);

/* stack.c: samples of the stacks below events. */
void tv_ft_merge_stacks(struct tv_ft_merge *merge);

/* async.c: beginnings and ends become async slices, and a plan of their rows.  Done beside the
 * placing of threads, so `context` is the struct tv_ft_merge. */
void tv_ft_plan_asyncs(void *context);

#endif

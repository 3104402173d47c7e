/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - combining the chunks of a file of ftrace text into one trace.
 *
 * Numbers of a chunk become numbers of the trace, and rows of all chunks are sorted by time.  The
 * chunks in their order give the same result as one chunk for the whole file.
 */
#ifndef TV_READERS_FTRACE_MERGE_H
#define TV_READERS_FTRACE_MERGE_H

#include "base/sort.h"
#include "model/assembly/assembly.h"
#include "readers/ftrace/chunk.h"

/* Numbers of the trace for the numbers of a chunk. */
struct tv_ft_numbers {
    uint32_t *threads; /* for tasks; TV_NONE: nothing refers to the task */
    uint32_t *frames, *texts;
};

/* Ways in which an end of an arrow names its slice (arrows.c). */
enum tv_ft_binding {
    TV_FT_BY_EVENT,  /* the slice or instant that the event at `offset` began */
    TV_FT_ENCLOSING, /* the deepest slice of the thread around `time` */
    TV_FT_NEXT,      /* the first slice of the thread that begins after `time` */
};

/* One end of an arrow. */
struct tv_ft_flow_end {
    uint32_t thread;     /* TV_NONE: the slice is on no thread */
    int64_t start, time; /* of the slice, and of the arrow's end in it */
    uint64_t offset;     /* offset of the event */
    enum tv_ft_binding binding;
};

struct tv_ft_flow {
    struct tv_ft_flow_end from, to;
    uint64_t offset, end_offset; /* of the events */
    uint32_t frame, id;          /* id: a string */
};

/* A slice whose end is an event of its own, which describe shows too. */
struct tv_ft_slice_end {
    struct tv_ft_flow_end slice;
    uint64_t end_offset;
};

struct tv_ft_merge {
    struct tv_trace *trace;
    struct tv_assembly *assembly;
    uint32_t input;
    struct tv_ft_chunk_reader *readers;
    size_t reader_count;
    struct tv_ft_numbers *numbers; /* numbers of each chunk */
    struct tv_map processes;       /* tgid -> process */
    uint32_t kernel;               /* process of the pseudo-threads; TV_NONE: none yet */
    TV_TABLE(tv_ft_bad_text) odd;  /* texts of the trace that are not UTF-8, until counted */
    bool shifted;                  /* a mark gave the clock of a parent trace */
    int64_t first, last;           /* times; first > last: there are no events */
    struct tv_idle_gap times;      /* how the events are spread over time */
    /* Sorted by time.  Tasks are threads of the trace (the idle task is TV_NONE), frames and texts
     * those of the trace. */
    TV_TABLE(tv_ft_switch) switches;
    TV_TABLE(tv_ft_wakeup) wakeups;
    TV_TABLE(tv_ft_async) asyncs; /* keys are numbered over all chunks */
    uint32_t key_count;
    TV_TABLE(tv_async_slice) whole_asyncs; /* async slices that need no pairing */
    struct tv_async_plan *async_plan;      /* NULL: not made yet */
    struct tv_diagnostics *repeated;       /* found while the plan is made; NULL: none */
    TV_TABLE(tv_ft_flow) flows;
    TV_TABLE(tv_ft_slice_end) slice_ends;
    struct tv_ft_counter_merge *counters; /* whose values are still in the chunks; NULL: none */
};

/* Merge all chunks: threads, processes and frames, then the rows.  The slices go to the assembly;
 * instants, counters and clock marks to the tables of the trace. */
void tv_ft_merge_chunks(struct tv_ft_merge *merge);

/* Free the switches and wake-ups once the schedule is built. */
void tv_ft_merge_release_sched(struct tv_ft_merge *merge);
void tv_ft_merge_release(struct tv_ft_merge *merge);

/* Return the process with a tgid, which is added when it is new; the kernel's for TV_FT_NO_ID. */
uint32_t tv_ft_merge_process(struct tv_ft_merge *merge, int64_t tgid);

/* Add a pseudo-thread or a frame to the trace. */
uint32_t tv_ft_merge_pseudo_thread(struct tv_ft_merge *merge, struct tv_bytes name);
uint32_t tv_ft_merge_frame(struct tv_ft_merge *merge, struct tv_bytes name, const char *category);

/* Add an async slice without CPU times that no thread began and no event ended.  The caller sets
 * frame, process, track and flags; the pointer is valid until the next slice is added. */
static inline struct tv_async_slice *tv_ft_merge_add_async(struct tv_ft_merge *merge, int64_t start,
                                                           int64_t length, uint64_t offset)
{
    struct tv_async_slice *slice = tv_table_add(&merge->whole_asyncs);
    *slice = tv_async_slice_of(start, offset, TV_NONE);
    slice->length = length;
    return slice;
}

/* Merge the counters of all chunks (counters.c).  The values of most of them stay in the chunks
 * until tv_ft_merge_move_counters. */
void tv_ft_merge_counters(struct tv_ft_merge *merge);
void tv_ft_merge_move_counters(struct tv_ft_merge *merge);

/* Make slices of the function_graph lines of all chunks, in the order of the file (graph.c). */
void tv_ft_merge_calls(struct tv_ft_merge *merge);

/* Order of rows: by time, then by the order of the file. */
static inline int tv_ft_compare_times(int64_t time_a, uint64_t offset_a, int64_t time_b,
                                      uint64_t offset_b)
{
    if (time_a != time_b)
        return time_a < time_b ? -1 : 1;
    return offset_a < offset_b ? -1 : offset_a > offset_b;
}

/* Define a static function ft_sort_NAME that sorts rows of a type with `time` and `offset`.  Most
 * texts are sorted already, and binary recordings consist of the buffers of processors, each of
 * which is. */
#define TV_FT_DEFINE_SORT(name, type)                                                              \
    static int ft_compare_##name(const void *left, const void *right)                              \
    {                                                                                              \
        const struct type *a = left, *b = right;                                                   \
        return tv_ft_compare_times(a->time, a->offset, b->time, b->offset);                        \
    }                                                                                              \
    static void ft_sort_##name(struct type *rows, size_t count)                                    \
    {                                                                                              \
        tv_sort_runs(rows, count, sizeof *rows, ft_compare_##name);                                \
    }

/* ---- Deferred events (deferred.c) ---- */

/* Replay the deferred events of all chunks in time order.  Call it before the assembly places the
 * slices. */
void tv_ft_merge_deferred(struct tv_ft_merge *merge);

/* Add the arrows between slices, and the events that end slices (arrows.c).  Call it after the
 * assembly has placed the slices.  An arrow whose slice is missing is left out and counted. */
void tv_ft_merge_flows(struct tv_ft_merge *merge);

/* Pair the begins and ends of async slices, and plan their rows.  This runs beside the placing of
 * threads, so `context` is the struct tv_ft_merge. */
void tv_ft_plan_asyncs(void *context);

/* Slices, instants and arrows that are found after the merge.  Threads and frames are those of the
 * trace. */
struct tv_ft_emitted {
    uint32_t thread, frame;
    int64_t start, length;
    uint64_t offset;
};

struct tv_ft_emitter {
    struct tv_ft_merge *merge;
    struct tv_gather *gather;
};

void tv_ft_emitter_init(struct tv_ft_emitter *emitter, struct tv_ft_merge *merge);

/* Add a slice of the kernel. */
void tv_ft_emit_slice(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted);

/* Add a slice that lasts until the end of the trace. */
void tv_ft_emit_open_slice(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted);
void tv_ft_emit_instant(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted);

/* Give the slices to the assembly. */
void tv_ft_emitter_finish(struct tv_ft_emitter *emitter);

/* Transactions of binder (binder.c).  Rows come in time order, with numbers of the trace. */
struct tv_ft_binder;
struct tv_ft_binder *tv_ft_binder_new(struct tv_ft_emitter *emitter);
void tv_ft_binder_take(struct tv_ft_binder *binder, const struct tv_ft_deferred *row);
void tv_ft_binder_finish(struct tv_ft_binder *binder); /* adds open slices; frees `binder` */

/* Pseudo-threads that show one thing at a time (gpu.c).  Rows as above. */
struct tv_ft_timelines;
struct tv_ft_timelines *tv_ft_timelines_new(struct tv_ft_emitter *emitter);
void tv_ft_timelines_take(struct tv_ft_timelines *lines, const struct tv_ft_deferred *row);
void tv_ft_timelines_finish(struct tv_ft_timelines *lines); /* adds open slices; frees `lines` */

/* ---- Schedule (sched.c; ftrace.md section 5) ---- */

/* Schedule: who ran on each processor, and the states of each thread.  The switches and wake-ups of
 * the whole file are sorted by time; tasks are threads of the trace, TV_NONE the idle task. */
struct tv_ft_schedule {
    struct tv_assembly *assembly;
    struct tv_trace_info *head;
    struct tv_tables *tables; /* gets the wake-ups and the reasons for blocking */
    uint32_t input;
    struct tv_ft_switch *switches;
    size_t switch_count;
    struct tv_ft_wakeup *wakeups;
    size_t wakeup_count;
    int64_t end;             /* the states that are open at the end of the file last until then */
    bool without_processors; /* the switches do not tell theirs: states of threads only */
    /* Results: */
    struct tv_state_track *strips; /* state tracks: of the processors, then of all threads */
    struct tv_state_rows *rows;    /* their slices.  NULL: there are none */
    size_t processor_count;
    int64_t *known_since;            /* by processor: the time of its first switch */
    struct tv_running *runs;         /* when threads ran, thread by thread */
    struct tv_running_clock *clocks; /* of each thread of the trace; NULL: no thread ever ran */
};

/* Build the schedule with that many workers.  Do nothing when there are neither switches nor
 * wake-ups. */
void tv_ft_schedule_build(struct tv_ft_schedule *schedule, unsigned workers);

/* Add the state tracks to the trace, after tv_assembly_build_rows.  Free the clocks of the threads,
 * which the assembly needs no more. */
void tv_ft_schedule_add_tracks(struct tv_ft_schedule *schedule);

/* Give the instants of processors, which so far have only the processor's number, their tracks.
 * Those of processors without a track become instants of the whole trace. */
void tv_ft_schedule_place_instants(const struct tv_ft_schedule *schedule, struct tv_trace *trace);
void tv_ft_schedule_release(struct tv_ft_schedule *schedule);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - what a sampling profiler keeps: threads that came and went, stacks and their counts.
 *
 * A tick shows every thread of its set (tv_samples_add_thread), says that it has shown all
 * (tv_samples_end_unseen_threads), then adds the stack of each.  Ids are those of Android's
 * profiler: threads from 200001, stacks from 300001, objects from 1.  A thread's START is when a
 * tick first shows it, its END when a tick no longer does; ids last over stops and starts.
 *
 * A recording that wants a time line sets `period_ns` first and adds its samples with
 * tv_samples_add_at: then each one is kept with its time, beside the counts.
 *
 * Everything returns false, or 0, when there is no memory; the sample is then lost, nothing else.
 */
#ifndef TV_RECORDER_SAMPLES_SAMPLES_H
#define TV_RECORDER_SAMPLES_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TV_SAMPLES_FIRST_THREAD 200001u
#define TV_SAMPLES_FIRST_TRACE 300001u

#define TV_SAMPLES_NATIVE_LINE (-2)
#define TV_SAMPLES_NO_LINE (-1)

#define TV_SAMPLES_PERMANENT UINT64_MAX

/* A place in a program. */
struct tv_sample_element {
    uint64_t method; /* what tells methods apart */
    int32_t line;
    char *class_name;
    char *name;
    char *file; /* NULL: unknown */
};

struct tv_sample_thread {
    char *name;
    char *group;   /* NULL: it had none any more */
    uint64_t tick; /* the last one that showed it; TV_SAMPLES_PERMANENT */
    uint32_t pid;  /* 0: that of this process */
    uint32_t tid;  /* 0: unknown, so its place in the list is shown */
    bool ended;
};

struct tv_sample_event {
    uint32_t thread; /* index */
    bool is_end;
};

struct tv_sample_trace {
    uint32_t thread; /* index */
    uint32_t start;  /* of its elements in `stacks` */
    uint32_t depth;
    uint64_t count;
};

/* The state of a thread when its stack was taken. */
enum tv_sample_state { TV_SAMPLE_STATE_UNKNOWN, TV_SAMPLE_RUNNING, TV_SAMPLE_WAITING };

#define TV_SAMPLE_NO_CPU UINT16_MAX

/* When a stack was taken. */
struct tv_sample_moment {
    uint64_t time_ns; /* of CLOCK_MONOTONIC */
    uint32_t trace;   /* index */
    uint16_t cpu;     /* TV_SAMPLE_NO_CPU: unknown */
    uint8_t state;    /* enum tv_sample_state */
    uint8_t no_padding;
};

/* A time in which a thread was on no processor. */
struct tv_sample_wait {
    uint64_t from_ns, to_ns;
    uint32_t thread;   /* index */
    uint32_t trace;    /* index of where it was; TV_SAMPLES_NO_TRACE: unknown */
    bool is_preempted; /* it would have run on */
};

#define TV_SAMPLES_NO_TRACE UINT32_MAX

/* A sampled allocation. */
struct tv_sample_allocation {
    uint64_t time_ns;
    uint64_t size;  /* of the object */
    uint64_t bytes; /* of all the objects that it stands for */
    uint32_t trace; /* index of its stack, whose innermost frame is the object's class */
    uint32_t no_padding;
};

enum tv_sample_lock_kind { TV_SAMPLE_MONITOR, TV_SAMPLE_PARK };

/* A time in which a thread waited for a lock. */
struct tv_sample_lock {
    uint64_t from_ns, to_ns;
    uint32_t thread;     /* index */
    uint32_t trace;      /* index of where it waited; TV_SAMPLES_NO_TRACE: unknown */
    uint32_t class_name; /* of the lock: an element's index plus one; 0: unknown */
    uint32_t owner;      /* the owner's name when the wait began, likewise */
    uint32_t hash;       /* the lock's identity hash code; 0: unknown */
    uint8_t kind;        /* enum tv_sample_lock_kind */
    bool is_open;        /* it waited on when the recording ended */
};

/* A table of `size` things, each `one` bytes. */
struct tv_sample_table {
    void *at;
    uint32_t count;
    uint32_t room;
};

/* From a hash to an index plus one. */
struct tv_sample_index {
    uint32_t *slots;
    uint32_t room; /* a power of two, or 0 */
};

struct tv_samples {
    uint64_t tick;
    uint64_t total;
    uint64_t period_ns;       /* from one sample to the next; 0: times are not kept */
    uint64_t untimed;         /* samples that are counted, and for whose time there was no room */
    uint64_t lost;            /* samples that the recorder knows to be missing */
    const char *clock;        /* what the samples are of: "cpu-clock"; NULL: "wall-clock" */
    bool classes_are_modules; /* the classes of elements are names of ELF files */
    uint64_t alloc_interval;  /* bytes between two sampled allocations; 0: none are */
    uint64_t lock_least_ns;   /* shorter waits for locks are left out */
    uint64_t short_locks;     /* so many were */
    uint64_t unasked_owners;  /* waits for monitors whose owners were not asked for */
    uint64_t dropped;         /* allocations and locks for which there was no room */
    struct tv_sample_table moments; /* in the order of their adding */
    struct tv_sample_table waits;
    struct tv_sample_table allocations;
    struct tv_sample_table locks;
    struct tv_sample_table elements;
    struct tv_sample_table threads;
    struct tv_sample_table events;
    struct tv_sample_table traces;
    struct tv_sample_table stacks; /* indices of elements */
    struct tv_sample_index element_index;
    struct tv_sample_index trace_index;
};

void tv_samples_release(struct tv_samples *samples);

/* Threads that are not shown from here on are gone. */
void tv_samples_begin_tick(struct tv_samples *samples);

/* A thread that is new; its id. */
uint32_t tv_samples_add_thread(struct tv_samples *samples, const char *name, const char *group);
/* One that was seen already; false: it had gone, so it is new again. */
bool tv_samples_mark_thread_seen(struct tv_samples *samples, uint32_t id);
/* From now on it is there whether or not ticks show it: one that is seen only while it runs. */
void tv_samples_keep_thread(struct tv_samples *samples, uint32_t id);
void tv_samples_end_unseen_threads(struct tv_samples *samples);
/* One that is gone, when no tick says so. */
bool tv_samples_end_thread(struct tv_samples *samples, uint32_t id);

/* The number of a place, plus one; 0: not known yet (add it), or no memory. */
uint32_t tv_samples_find_element(const struct tv_samples *samples, uint64_t method, int32_t line);
uint32_t tv_samples_add_element(struct tv_samples *samples,
                                const struct tv_sample_element *element);

/* Counts a stack, innermost first, of numbers as above.  An empty one is not counted. */
bool tv_samples_add(struct tv_samples *samples, uint32_t id, const uint32_t *stack, uint32_t depth);
/* The same as often as that. */
bool tv_samples_add_many(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, uint64_t count);

/* Counts it and keeps the moment, whose `trace` is filled in. */
bool tv_samples_add_at(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                       uint32_t depth, const struct tv_sample_moment *moment);
/* A time off the processors, and the stack that it was left with (depth 0: unknown); nothing is
 * counted.  `thread` and `trace` of the wait are filled in. */
bool tv_samples_add_wait(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, const struct tv_sample_wait *wait);

/* A sampled allocation; its class is the innermost of the stack's elements, one whose name is
 * empty. The stack counts as often as the sample has bytes.  `trace` is filled in. */
bool tv_samples_add_allocation(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                               uint32_t depth, const struct tv_sample_allocation *allocation);
/* A time that a thread waited for a lock; nothing is counted.  `thread` and `trace` are those of
 * tv_samples_resolve_lock. */
bool tv_samples_add_lock(struct tv_samples *samples, const struct tv_sample_lock *lock);
/* Fill in the thread and the trace of a lock. */
void tv_samples_resolve_lock(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                             uint32_t depth, struct tv_sample_lock *lock);

/* The system's numbers of a thread. */
void tv_samples_number_thread(struct tv_samples *samples, uint32_t id, uint32_t pid, uint32_t tid);
/* Another name for it; the older one stays when there is no memory. */
void tv_samples_rename_thread(struct tv_samples *samples, uint32_t id, const char *name);

/* Indices of traces by falling count, of equal ones by rising id, for free(). */
uint32_t *tv_samples_rank_traces(const struct tv_samples *samples);

/* hprof text as Android's profiler wrote it, or as the JDK's did. */
enum tv_hprof_dialect { TV_HPROF_ANDROID, TV_HPROF_JDK };
bool tv_hprof_text_write(const struct tv_samples *samples, enum tv_hprof_dialect dialect,
                         time_t now, FILE *to);

/* The binary form, 1.0.2; `depth` is the deepest stack that was asked for. */
bool tv_hprof_binary_write(const struct tv_samples *samples, uint32_t depth, uint64_t now_ms,
                           FILE *to);

/* Trace Event JSON: the moments as "samples" with time, thread, state and weight, their stacks as
 * "stackFrames", the waits and locks as slices, the allocations as instants and a counter.  The
 * weight of a sample is the period in nanoseconds. */
bool tv_sample_events_write(const struct tv_samples *samples, FILE *to);

/* Collapsed stacks: "main;parse;read 12", one line a stack. */
bool tv_sample_stacks_write(const struct tv_samples *samples, FILE *to);

enum tv_samples_form {
    TV_SAMPLES_ANDROID,
    TV_SAMPLES_JDK,
    TV_SAMPLES_BINARY,
    TV_SAMPLES_EVENTS,
    TV_SAMPLES_COLLAPSED,
};

/* One of the forms above; `depth` as in tv_hprof_binary_write. */
bool tv_samples_write(const struct tv_samples *samples, enum tv_samples_form form, uint32_t depth,
                      time_t now, FILE *to);

/*
 * stack_tree.h - the stacks of samples as one tree of frames, for the forms that write frames and
 * not places: two lines of a function are one frame.
 *
 *     traces:  read < parse < main        nodes:  1 main   2 parse   3 read   4 main's own write
 *              write < main                       parent 0      1         2        1
 *
 * Parents have smaller numbers than their children.
 */

struct tv_stack_node {
    uint32_t parent;  /* 0: it is outermost */
    uint32_t element; /* index of one with the frame's texts */
    uint64_t count;   /* samples with this frame innermost */
};

struct tv_stack_tree {
    struct tv_stack_node *nodes; /* from 1 on */
    uint32_t count;              /* the number behind the last */
    uint32_t *leaves;            /* [traces]: the innermost frame of each */
};

/* False: no memory.  To be released in either case. */
bool tv_stack_tree_init(struct tv_stack_tree *tree, const struct tv_samples *samples);
void tv_stack_tree_release(struct tv_stack_tree *tree);

#endif

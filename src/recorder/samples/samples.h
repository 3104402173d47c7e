/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - the data of a sampling profiler: threads that come and go, stacks and their counts;
 * and the formats that it is written in.
 *
 * A tick begins (tv_samples_begin_tick), names every thread of its set (tv_samples_add_thread or
 * tv_samples_mark_thread_seen), ends the others (tv_samples_end_unseen_threads) and adds the stack
 * of each.  Ids are those of Android's profiler: threads from 200001, traces from 300001, objects
 * from 1. They last over stops and starts.
 *
 *     threads ---- events: START, END
 *        ^
 *     traces (thread, start, depth, count) --> stacks: element, element, ... --> elements (places)
 *        ^
 *     moments, waits, allocations, locks: things with a time
 *
 * A recording with a time line sets `period_ns` first and adds its samples with tv_samples_add_at,
 * which keeps each one with its time besides counting it.
 *
 * Functions return false or 0 when there is no memory; then only that sample is lost.
 */
#ifndef TV_RECORDER_SAMPLES_SAMPLES_H
#define TV_RECORDER_SAMPLES_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "recorder/labels.h"

#define TV_SAMPLES_FIRST_THREAD 200001u
#define TV_SAMPLES_FIRST_TRACE 300001u

#define TV_SAMPLES_NATIVE_LINE (-2)
#define TV_SAMPLES_NO_LINE (-1)

#define TV_SAMPLES_PERMANENT UINT64_MAX

/* A place in a program. */
struct tv_sample_element {
    uint64_t method; /* identity of the method */
    int32_t line;
    char *class_name;
    char *name;
    char *file; /* NULL: unknown */
};

struct tv_sample_thread {
    char *name;
    char *group;   /* NULL: it has left its group */
    uint64_t tick; /* the last one that saw it, or TV_SAMPLES_PERMANENT */
    uint32_t pid;  /* 0: this process */
    uint32_t tid;  /* 0: unknown, its index is shown instead */
    bool ended;
};

struct tv_sample_event {
    uint32_t thread; /* index */
    bool is_end;
};

struct tv_sample_trace {
    uint32_t thread; /* index */
    uint32_t start;  /* start of its element numbers in `stacks` */
    uint32_t depth;
    uint64_t count;
};

/* The state of a thread when its stack was taken. */
enum tv_sample_state { TV_SAMPLE_STATE_UNKNOWN, TV_SAMPLE_RUNNING, TV_SAMPLE_WAITING };

#define TV_SAMPLE_NO_CPU UINT16_MAX

/* The time and circumstances of a sample. */
struct tv_sample_moment {
    uint64_t time_ns; /* of CLOCK_MONOTONIC */
    uint32_t trace;   /* index */
    uint16_t cpu;     /* TV_SAMPLE_NO_CPU: unknown */
    uint8_t state;    /* enum tv_sample_state */
    uint8_t no_padding;
};

/* A time that a thread spent off the processors. */
struct tv_sample_wait {
    uint64_t from_ns, to_ns;
    uint32_t thread;   /* index */
    uint32_t trace;    /* index of its stack; TV_SAMPLES_NO_TRACE: unknown */
    bool is_preempted; /* it was runnable */
};

#define TV_SAMPLES_NO_TRACE UINT32_MAX

/* A sampled allocation. */
struct tv_sample_allocation {
    uint64_t time_ns;
    uint64_t size;  /* size of the object */
    uint64_t bytes; /* bytes of all the objects that it represents */
    uint32_t trace; /* index of its stack, whose innermost frame is the object's class */
    uint32_t no_padding;
};

enum tv_sample_lock_kind { TV_SAMPLE_MONITOR, TV_SAMPLE_PARK };

/* A time that a thread spent waiting for a lock. */
struct tv_sample_lock {
    uint64_t from_ns, to_ns;
    uint32_t thread;     /* index */
    uint32_t trace;      /* index of its stack; TV_SAMPLES_NO_TRACE: unknown */
    uint32_t class_name; /* of the lock: number of an element; 0: unknown */
    uint32_t owner; /* name of the owner when the wait began: number of an element; 0: unknown */
    uint32_t hash;  /* identity hash code of the lock; 0: unknown */
    uint8_t kind;   /* enum tv_sample_lock_kind */
    bool is_open;   /* it still waited when the recording ended */
};

/* A growing array; the functions of samples.c know the type of its elements. */
struct tv_sample_table {
    void *at;
    uint32_t count;
    uint32_t room;
};

/* A hash table from content to index plus one. */
struct tv_sample_index {
    uint32_t *slots;
    uint32_t room; /* a power of two, or 0 */
};

struct tv_samples {
    uint64_t tick;
    uint64_t total;
    uint64_t period_ns;             /* from one sample to the next; 0: no times are kept */
    uint64_t untimed;               /* samples that are counted but had no room for their time */
    uint64_t lost;                  /* samples that the recorder knows to be missing */
    const char *clock;              /* clock of the samples: "cpu-clock"; NULL: "wall-clock" */
    bool classes_are_modules;       /* the classes of elements are names of ELF files */
    uint64_t alloc_interval;        /* bytes between two sampled allocations; 0: none are sampled */
    uint64_t lock_least_ns;         /* shorter waits for locks are left out */
    uint64_t short_locks;           /* number of those */
    uint64_t unasked_owners;        /* waits for monitors whose owners were not looked up */
    uint64_t dropped;               /* allocations and locks without room */
    char labels[TV_LABELS_SIZE];    /* of a run of a comparison */
    struct tv_sample_table moments; /* in the order of their adding */
    struct tv_sample_table waits;
    struct tv_sample_table allocations;
    struct tv_sample_table locks;
    struct tv_sample_table elements;
    struct tv_sample_table threads;
    struct tv_sample_table events;
    struct tv_sample_table traces;
    struct tv_sample_table stacks; /* element numbers: index plus one */
    struct tv_sample_index element_index;
    struct tv_sample_index trace_index;
};

void tv_samples_release(struct tv_samples *samples);

/* Begin a tick.  Threads that it does not see are ended by tv_samples_end_unseen_threads. */
void tv_samples_begin_tick(struct tv_samples *samples);

/* Add a new thread; return its id. */
uint32_t tv_samples_add_thread(struct tv_samples *samples, const char *name, const char *group);
/* Mark a thread as seen by this tick; false: it has ended, so it must be added anew. */
bool tv_samples_mark_thread_seen(struct tv_samples *samples, uint32_t id);
/* Keep a thread alive whether or not ticks see it: for threads that are seen only while they
 * run. */
void tv_samples_keep_thread(struct tv_samples *samples, uint32_t id);
void tv_samples_end_unseen_threads(struct tv_samples *samples);
/* End one thread, without a tick. */
bool tv_samples_end_thread(struct tv_samples *samples, uint32_t id);

/* Return the number of a place (index plus one); 0: unknown yet, or no memory. */
uint32_t tv_samples_find_element(const struct tv_samples *samples, uint64_t method, int32_t line);
uint32_t tv_samples_add_element(struct tv_samples *samples,
                                const struct tv_sample_element *element);

/* Count a stack of such numbers, innermost first.  An empty one is not counted. */
bool tv_samples_add(struct tv_samples *samples, uint32_t id, const uint32_t *stack, uint32_t depth);
/* Count it `count` times. */
bool tv_samples_add_many(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, uint64_t count);

/* Count it and keep the moment, whose `trace` is filled in. */
bool tv_samples_add_at(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                       uint32_t depth, const struct tv_sample_moment *moment);
/* Keep a time off the processors with the stack at its beginning (depth 0: unknown).  It is not
 * counted.  `thread` and `trace` are filled in. */
bool tv_samples_add_wait(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, const struct tv_sample_wait *wait);

/* Add a sampled allocation.  The innermost element is its class, with an empty name.  The
 * stack's count grows by the bytes.  `trace` is filled in. */
bool tv_samples_add_allocation(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                               uint32_t depth, const struct tv_sample_allocation *allocation);
/* Add a wait for a lock, whose thread and trace tv_samples_resolve_lock has filled in.  It is
 * not counted. */
bool tv_samples_add_lock(struct tv_samples *samples, const struct tv_sample_lock *lock);
/* Fill in the thread and the trace of a lock. */
void tv_samples_resolve_lock(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                             uint32_t depth, struct tv_sample_lock *lock);

/* Set the system's ids of a thread. */
void tv_samples_number_thread(struct tv_samples *samples, uint32_t id, uint32_t pid, uint32_t tid);
/* Rename a thread; without memory it keeps its name. */
void tv_samples_rename_thread(struct tv_samples *samples, uint32_t id, const char *name);

/* Return the indices of traces by falling count, equal ones by rising id; for free(). */
uint32_t *tv_samples_rank_traces(const struct tv_samples *samples);

/* hprof text, as Android's profiler or the JDK wrote it. */
enum tv_hprof_dialect { TV_HPROF_ANDROID, TV_HPROF_JDK };
bool tv_hprof_text_write(const struct tv_samples *samples, enum tv_hprof_dialect dialect,
                         time_t now, FILE *to);

/* Binary hprof, 1.0.2; `depth` is the largest depth that was asked for. */
bool tv_hprof_binary_write(const struct tv_samples *samples, uint32_t depth, uint64_t now_ms,
                           FILE *to);

/* Trace Event JSON: moments as "samples" with time, thread, state and weight (the period in
 * nanoseconds), their stacks as "stackFrames", waits and locks as slices, allocations as
 * instants and a counter. */
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

/* Write one of the formats above; `depth` as in tv_hprof_binary_write. */
bool tv_samples_write(const struct tv_samples *samples, enum tv_samples_form form, uint32_t depth,
                      time_t now, FILE *to);

/*
 * The stacks as one tree of frames, for formats that have frames and no places: two lines of a
 * function are one frame.
 *
 *     traces:  read < parse < main        nodes:  1 main   2 parse   3 read   4 write
 *              write < main               parent  0        1         2        1
 *
 * Parents have smaller numbers than their children.
 */

struct tv_stack_node {
    uint32_t parent;  /* 0: outermost */
    uint32_t element; /* index of an element with the frame's texts */
    uint64_t count;   /* samples whose innermost frame it is */
};

struct tv_stack_tree {
    struct tv_stack_node *nodes; /* [1 .. count - 1] */
    uint32_t count;              /* last number plus one */
    uint32_t *leaves;            /* [traces]: the innermost node of each */
};

/* Build the tree; false: no memory.  It must be released in either case. */
bool tv_stack_tree_init(struct tv_stack_tree *tree, const struct tv_samples *samples);
void tv_stack_tree_release(struct tv_stack_tree *tree);

#endif

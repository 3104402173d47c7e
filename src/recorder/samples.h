/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.h - what a sampling profiler keeps: threads that came and went, stacks and their counts.
 *
 * A tick shows every thread of its set (tv_samples_see), says that it has shown all
 * (tv_samples_seen_all), then adds the stack of each.  Ids are those of Android's profiler: threads
 * from 200001, stacks from 300001, objects from 1.  A thread's START is when a tick first shows it,
 * its END when a tick no longer does; ids last over stops and starts.
 *
 * Everything returns false, or 0, when there is no memory; the sample is then lost, nothing else.
 */
#ifndef TV_RECORDER_SAMPLES_H
#define TV_RECORDER_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define TV_SAMPLES_FIRST_THREAD 200001u
#define TV_SAMPLES_FIRST_TRACE 300001u

#define TV_SAMPLES_NATIVE_LINE (-2)
#define TV_SAMPLES_NO_LINE (-1)

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
    uint64_t tick; /* the last one that showed it */
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
uint32_t tv_samples_see(struct tv_samples *samples, const char *name, const char *group);
/* One that was seen already; false: it had gone, so it is new again. */
bool tv_samples_see_again(struct tv_samples *samples, uint32_t id);
void tv_samples_seen_all(struct tv_samples *samples);
/* One that is gone, when no tick says so. */
bool tv_samples_end(struct tv_samples *samples, uint32_t id);

/* The number of a place, plus one; 0: not known yet (add it), or no memory. */
uint32_t tv_samples_find_element(const struct tv_samples *samples, uint64_t method, int32_t line);
uint32_t tv_samples_add_element(struct tv_samples *samples,
                                const struct tv_sample_element *element);

/* Counts a stack, innermost first, of numbers as above.  An empty one is not counted. */
bool tv_samples_add(struct tv_samples *samples, uint32_t id, const uint32_t *stack, uint32_t depth);
/* The same as often as that. */
bool tv_samples_add_many(struct tv_samples *samples, uint32_t id, const uint32_t *stack,
                         uint32_t depth, uint64_t count);

/* Indices of traces by falling count, of equal ones by rising id, for free(). */
uint32_t *tv_samples_rank(const struct tv_samples *samples);

/* hprof text as Android's profiler wrote it, or as the JDK's did. */
enum tv_hprof_dialect { TV_HPROF_ANDROID, TV_HPROF_JDK };
bool tv_hprof_text_write(const struct tv_samples *samples, enum tv_hprof_dialect dialect,
                         time_t now, FILE *to);

/* The binary form, 1.0.2; `depth` is the deepest stack that was asked for. */
bool tv_hprof_binary_write(const struct tv_samples *samples, uint32_t depth, uint64_t now_ms,
                           FILE *to);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler.h - sampling profilers. Each has its own threads, stack depth, rate and samples.
 *
 * A profiler marks the threads it has seen in its own JVMTI environment. A thread begins with the
 * first tick that finds it alive and in the set, and ends with the first tick that does not.
 * Samples accumulate over stops and starts.
 */
#ifndef TV_RECORDER_AGENT_PROFILER_H
#define TV_RECORDER_AGENT_PROFILER_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "recorder/agent/agent.h"
#include "recorder/agent/options.h"
#include "recorder/samples/samples.h"

struct tv_profiler;

struct tv_profiler_options {
    /* Threads to sample: a dalvik.system.SamplingProfiler.ThreadSet, asked at every tick; or NULL,
     * for all threads that match `pattern` (tv_agent_thread_matches). */
    jobject set;
    jmethodID threads;
    const char *pattern; /* NULL: all threads; must outlive the profiler */
    int64_t depth;       /* most frames of a stack; below 1: keep no stacks */
    bool keeps_times;    /* keep each sample's time, for formats with a time line */
    /* Keep the outermost frames of a deeper stack too, with a placeholder in between. Otherwise
     * keep only the innermost frames, as Android does. */
    bool keeps_root;
    unsigned state; /* enum tv_agent_state: threads to count */
};

struct tv_profiler_counts {
    uint64_t samples;
    uint64_t late; /* ticks left out */
    uint64_t allocations, locks;
    uint64_t short_locks, unasked_owners, dropped; /* as in struct tv_samples */
    struct tv_agent_stack_counts stacks;
};

/* Create a profiler. Return NULL without memory or without a JVMTI environment. */
struct tv_profiler *tv_profiler_new(JNIEnv *jni, const struct tv_profiler_options *options);

/* Start sampling. Return values as for tv_ticker_start. */
int tv_profiler_start(struct tv_profiler *profiler, int64_t period_ns);

/* Stop sampling, and wait for the tick in progress. */
void tv_profiler_stop(struct tv_profiler *profiler);

/* Stop for good. The samples can still be written. */
void tv_profiler_shut_down(struct tv_profiler *profiler);

/* Announce allocation and lock events: mean bytes between two samples, and the shortest wait to
 * keep. */
void tv_profiler_set_events(struct tv_profiler *profiler, uint64_t alloc_interval,
                            uint64_t lock_least_ns);

struct tv_profiler_allocation {
    jclass class;
    uint64_t size;  /* bytes of the object */
    uint64_t bytes; /* allocated bytes that the sample represents */
};

/* Add an allocation of the calling thread, with its stack. */
void tv_profiler_keep_allocation(struct tv_profiler *profiler, JNIEnv *jni, jthread thread,
                                 const struct tv_profiler_allocation *allocation);

struct tv_profiler_lock {
    enum tv_sample_lock_kind kind;
    int64_t from_ns;
    jclass class;  /* class of the lock; NULL: unknown */
    jthread owner; /* NULL: none, or unknown */
    uint32_t hash;
    bool unasked; /* the owner was not looked up, see locks.c */
};

/* The calling thread starts to wait: keep its stack and the lock until the end of the wait. */
void tv_profiler_begin_lock(struct tv_profiler *profiler, JNIEnv *jni, jthread thread,
                            const struct tv_profiler_lock *lock);
/* The calling thread goes on: add the wait. Does nothing when its start was not seen. */
void tv_profiler_end_lock(struct tv_profiler *profiler, jthread thread, int64_t now_ns);
/* The recording ends: add the waits in progress, up to now. */
void tv_profiler_end_locks(struct tv_profiler *profiler);

/* Write all samples. Return 0, -EBUSY while sampling is on, or another negative errno. */
int tv_profiler_write(struct tv_profiler *profiler, enum tv_samples_form form, FILE *to,
                      struct tv_profiler_counts *counts);

void tv_profiler_free(struct tv_profiler *profiler);

/* VMDeath: no profiler starts a tick after this. */
void tv_profiler_end_all(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler.h - sampling profilers: each has a set of threads, a depth, a rate and samples of its
 * own.
 *
 * Threads are told apart by what hangs on them in a JVMTI environment that each profiler has for
 * itself.  A thread's START is the first tick that finds it in the set and alive, its END the first
 * that does not.  Samples last over stops and starts.
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
    /* Whom: an object of dalvik.system.SamplingProfiler.ThreadSet, which every tick asks; or,
     * without one, all threads that `pattern` lets through as option `threads` has it. */
    jobject set;
    jmethodID threads;
    const char *pattern; /* NULL: all; must outlive the profiler */
    int64_t depth;       /* of the stacks; of less than 1 nothing is kept */
    bool keeps_times;    /* for forms that have a time line */
    /* Keep the outermost frames of a deeper stack too, with a frame between that says so; else the
     * innermost ones alone, as Android does. */
    bool keeps_root;
    unsigned state; /* enum tv_agent_state: which threads count */
};

struct tv_profiler_counts {
    uint64_t samples;
    uint64_t late; /* ticks that were left out */
    uint64_t allocations, locks;
    uint64_t short_locks, unasked_owners, dropped; /* as struct tv_samples has them */
    struct tv_agent_stack_counts stacks;
};

/* NULL: no memory, or the machine gives no further environment. */
struct tv_profiler *tv_profiler_new(JNIEnv *jni, const struct tv_profiler_options *options);

/* See tv_ticker_start. */
int tv_profiler_start(struct tv_profiler *profiler, int64_t period_ns);

/* Waits for the tick in progress. */
void tv_profiler_stop(struct tv_profiler *profiler);

/* There is no start after it; what was sampled can still be written. */
void tv_profiler_shut_down(struct tv_profiler *profiler);

/* Allocations and locks are kept from here on: the bytes between two allocations, and the least
 * time of a wait. */
void tv_profiler_set_events(struct tv_profiler *profiler, uint64_t alloc_interval,
                            uint64_t lock_least_ns);

struct tv_profiler_allocation {
    jclass class;
    uint64_t size;  /* of the object */
    uint64_t bytes; /* that it stands for */
};

/* The calling thread has made an object. */
void tv_profiler_keep_allocation(struct tv_profiler *profiler, JNIEnv *jni, jthread thread,
                                 const struct tv_profiler_allocation *allocation);

struct tv_profiler_lock {
    enum tv_sample_lock_kind kind;
    int64_t from_ns;
    jclass class;  /* of the lock; NULL: unknown */
    jthread owner; /* NULL: none, or unknown */
    uint32_t hash;
    bool unasked; /* the owner was not asked for */
};

/* The calling thread begins to wait. */
void tv_profiler_begin_lock(struct tv_profiler *profiler, JNIEnv *jni, jthread thread,
                            const struct tv_profiler_lock *lock);
/* It goes on; nothing, if the begin was not seen. */
void tv_profiler_end_lock(struct tv_profiler *profiler, jthread thread, int64_t now_ns);
/* The recording ends, and with it what is seen of those that wait. */
void tv_profiler_end_locks(struct tv_profiler *profiler);

/* All samples so far.  0, -EBUSY: it is started; else they could not be written. */
int tv_profiler_write(struct tv_profiler *profiler, enum tv_samples_form form, FILE *to,
                      struct tv_profiler_counts *counts);

void tv_profiler_free(struct tv_profiler *profiler);

/* The machine dies: no profiler looks at it from here on. */
void tv_profiler_end_all(void);

#endif

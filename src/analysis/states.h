/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states.h - what threads did in a range: how long they ran, could have run, slept and were
 * blocked, and on which processors they ran.
 *
 * It is made from the tracks of states and of processors (trace.h), and from who woke whom and why
 * somebody was blocked (tables.h).  A slice of a processor and the running state of its thread are
 * two sides of one event: they begin at the same time and the same place of the file.
 */
#ifndef TV_ANALYSIS_STATES_H
#define TV_ANALYSIS_STATES_H

#include "model/trace.h"

enum tv_state {
    TV_STATE_RUNNING,
    TV_STATE_RUNNABLE,
    TV_STATE_PREEMPTED, /* runnable, for another took the processor */
    TV_STATE_SLEEPING,
    TV_STATE_UNINTERRUPTIBLE,
    TV_STATE_IO,    /* uninterruptible, and known to wait for I/O */
    TV_STATE_OTHER, /* stopped, traced, dead, unknown */
    TV_STATE_COUNT,
};

/* "running", "runnable", ...: for heads of columns and keys. */
const char *tv_state_name(enum tv_state state);

/* The state that a frame of a track of states stands for. */
enum tv_state tv_state_of_frame(const struct tv_trace_info *head, uint32_t frame);

static inline bool tv_state_is_wait(enum tv_state state)
{
    return state == TV_STATE_RUNNABLE || state == TV_STATE_PREEMPTED;
}

/* A slice of a row; row TV_NONE: there is none. */
struct tv_slice_place {
    uint32_t row, index;
};

/* A thread in the range; of processors without states (thread TV_NONE) only what is named so. */
struct tv_thread_states {
    uint32_t thread; /* TV_NONE: only a name is known, that of `frame` */
    uint32_t frame;
    tv_ns time[TV_STATE_COUNT];
    tv_ns total; /* of all states */
    tv_ns ran;   /* on the processors that are wanted */
    uint64_t wakeups;
    tv_ns longest_wait; /* for a processor: runnable or preempted, within the range */
    struct tv_slice_place longest;
    uint32_t first_run, run_count; /* of states->runs */
};

/* The time that one thread ran on one processor. */
struct tv_thread_run {
    uint32_t cpu; /* place in states->cpus */
    tv_ns time;
};

struct tv_cpu_use {
    uint32_t track;
    tv_ns busy;
    tv_ns unknown; /* before the first switch that is seen there, and behind its input's end */
};

/* So many processors are looked at, those with the lowest numbers: a file may name any number. */
#define TV_STATES_CPUS 1024u

struct tv_states {
    tv_ns from, to; /* the range within the trace */
    struct tv_thread_states *threads;
    uint32_t thread_count;
    struct tv_cpu_use *cpus; /* in the order of their numbers; of one number in that of tracks */
    uint32_t cpu_count;
    struct tv_thread_run *runs; /* thread by thread, in the order of the processors; only those that
                                 * it ran on, as threads times processors are too many to list */
};

struct tv_states_question {
    tv_ns from, to;      /* [from, to) on the trace's axis */
    const bool *threads; /* [head->thread_count] which are wanted; NULL: all */
    const bool *cpus;    /* [track_count] which processors' tracks; NULL: all.  Else only threads
                          * that ran there */
};

/* Return true when the trace has states of threads or runs of processors. */
bool tv_states_are_told(const struct tv_trace *trace);

/* Threads that ran longest come first; those of which the range has nothing are left out. */
struct tv_states *tv_states_of(const struct tv_trace *trace,
                               const struct tv_states_question *question);
void tv_states_free(struct tv_states *states);

/* How long a thread ran on a processor; both are places in `states`. */
tv_ns tv_states_ran(const struct tv_states *states, uint32_t thread, uint32_t cpu);

/* The number at the end of a track's name ("CPU 3"); TV_NONE: there is none. */
uint32_t tv_cpu_number(const struct tv_trace *trace, uint32_t track);

/* The track of a thread's states, or TV_NONE. */
uint32_t tv_states_track(const struct tv_trace *trace, uint32_t thread);

/* The slice of a track that begins as this one does, by time and by its place in the file. */
struct tv_slice_place tv_states_other_side(const struct tv_trace *trace, uint32_t track,
                                           struct tv_slice_place place);

/* The processor's slice of a running state. */
struct tv_slice_place tv_states_cpu_slice(const struct tv_trace *trace,
                                          struct tv_slice_place running);

/* The running state of a processor's slice. */
struct tv_slice_place tv_states_running(const struct tv_trace *trace, struct tv_slice_place ran);

/* What a thread was in at a time. */
struct tv_slice_place tv_states_at(const struct tv_trace *trace, uint32_t thread, tv_ns time);

/* The wake-up of a thread at a time, or NULL. */
const struct tv_wakeup *tv_states_wakeup(const struct tv_trace *trace, uint32_t thread, tv_ns time);

/* Why it was blocked: the first that is said in [from, to], or NULL. */
const struct tv_blocking *tv_states_blocking(const struct tv_trace *trace, uint32_t thread,
                                             tv_ns from, tv_ns to);

#endif

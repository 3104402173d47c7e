/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states.h - what threads did in a range: how long they ran, were runnable, slept or were
 * blocked, and on which processors they ran.
 *
 * Computed from the tracks of thread states and of processors (trace.h), and from wakeups and
 * blockings (tables.h).  A slice of a processor and the "running" state of its thread are two sides
 * of one event: they begin at the same time and the same offset in the file.
 */
#ifndef TV_ANALYSIS_STATES_STATES_H
#define TV_ANALYSIS_STATES_STATES_H

#include "model/trace.h"

enum tv_state {
    TV_STATE_RUNNING,
    TV_STATE_RUNNABLE,
    TV_STATE_PREEMPTED, /* runnable, because another thread took the processor */
    TV_STATE_SLEEPING,
    TV_STATE_UNINTERRUPTIBLE,
    TV_STATE_IO,    /* uninterruptible, known to wait for I/O */
    TV_STATE_OTHER, /* stopped, traced, dead or unknown */
    TV_STATE_COUNT,
};

/* Return "running", "runnable", ...: for table columns and JSON keys. */
const char *tv_state_name(enum tv_state state);

/* Return the state that a frame of a state track stands for. */
enum tv_state tv_state_of_frame(const struct tv_trace_info *head, uint32_t frame);

static inline bool tv_state_is_wait(enum tv_state state)
{
    return state == TV_STATE_RUNNABLE || state == TV_STATE_PREEMPTED;
}

/* A slice of a row; row TV_NONE: none. */
struct tv_slice_place {
    uint32_t row, index;
};

/* A thread in the range; of processors without states only a name (thread TV_NONE). */
struct tv_thread_states {
    uint32_t thread; /* TV_NONE: only a name is known, that of `frame` */
    uint32_t frame;
    tv_ns time[TV_STATE_COUNT];
    tv_ns total; /* total of all states */
    tv_ns ran;   /* on the wanted processors */
    uint64_t wakeups;
    tv_ns longest_wait; /* runnable or preempted, within the range */
    struct tv_slice_place longest;
    uint32_t first_run, run_count; /* in states->runs */
};

/* Time that one thread ran on one processor. */
struct tv_thread_run {
    uint32_t cpu; /* index in states->cpus */
    tv_ns time;
};

struct tv_cpu_use {
    uint32_t track;
    tv_ns busy;
    tv_ns unknown; /* before the first switch seen there, and after its input's end */
};

/* Only this many processors, those with the lowest numbers, are considered: a file may name any
 * number. */
#define TV_STATES_CPUS 1024u

struct tv_states {
    tv_ns from, to; /* the range, clamped to the trace */
    struct tv_thread_states *threads;
    uint32_t thread_count;
    struct tv_cpu_use *cpus; /* by number, then by track */
    uint32_t cpu_count;
    struct tv_thread_run *runs; /* by thread, then by processor; only pairs that occur, because
                                   threads times processors are too many */
};

struct tv_states_question {
    tv_ns from, to;      /* [from, to) on the trace's axis */
    const bool *threads; /* [head->thread_count] the wanted ones; NULL: all */
    const bool *cpus; /* [track_count] tracks of wanted processors; NULL: all.  If set, only threads
                         that ran there */
};

/* Return true if the trace has thread states or processors. */
bool tv_trace_has_states(const struct tv_trace *trace);

/* Compute the states; threads that ran longest come first, those without anything in the range
 * are left out. */
struct tv_states *tv_states_of(const struct tv_trace *trace,
                               const struct tv_states_question *question);
void tv_states_free(struct tv_states *states);

/* Return how long a thread ran on a processor; both are indices in `states`. */
tv_ns tv_states_ran(const struct tv_states *states, uint32_t thread, uint32_t cpu);

/* Return the number at the end of a track's name ("CPU 3"); TV_NONE if there is none. */
uint32_t tv_cpu_number(const struct tv_trace *trace, uint32_t track);

/* Return the track of a thread's states, or TV_NONE. */
uint32_t tv_states_track(const struct tv_trace *trace, uint32_t thread);

/* Return the slice of a track that begins at the same time and file offset as this one. */
struct tv_slice_place tv_states_other_side(const struct tv_trace *trace, uint32_t track,
                                           struct tv_slice_place place);

/* Return the processor's slice of a running state. */
struct tv_slice_place tv_states_cpu_slice(const struct tv_trace *trace,
                                          struct tv_slice_place running);

/* Return the running state of a processor's slice. */
struct tv_slice_place tv_states_running(const struct tv_trace *trace, struct tv_slice_place ran);

/* Return the state of a thread at a time. */
struct tv_slice_place tv_states_at(const struct tv_trace *trace, uint32_t thread, tv_ns time);

/* Return the wakeup of a thread at a time, or NULL. */
const struct tv_wakeup *tv_states_wakeup(const struct tv_trace *trace, uint32_t thread, tv_ns time);

/* Return the first reason in [from, to] why a thread was blocked, or NULL. */
const struct tv_blocking *tv_states_blocking(const struct tv_trace *trace, uint32_t thread,
                                             tv_ns from, tv_ns to);

#endif

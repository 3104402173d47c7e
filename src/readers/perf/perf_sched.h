/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_sched.h - who ran on each processor, and why threads did not run, from the scheduler's
 * tracepoints among the samples of perf.
 *
 *     perf script   text of the tracepoint after the event's name --.
 *     perf.data     raw fields, at the places that the file names ---+--> events --> schedule
 *
 * The schedule is that of ftrace (readers/ftrace/sched.c), so all of them show the same states.
 */
#ifndef TV_READERS_PERF_PERF_SCHED_H
#define TV_READERS_PERF_PERF_SCHED_H

#include "base/map.h"
#include "readers/profile_input.h"

enum tv_perf_sched_kind { TV_PERF_SCHED_SWITCH, TV_PERF_SCHED_WAKING, TV_PERF_SCHED_WAKEUP };

struct tv_perf_sched_event {
    tv_ns time;
    uint64_t offset;
    uint32_t cpu;  /* TV_NONE: unknown */
    uint32_t tid;  /* the thread that gets the processor, or is woken */
    uint32_t by;   /* the thread that leaves the processor, or wakes; TV_NONE: unknown */
    uint32_t name; /* of `tid`, a string */
    uint8_t kind;  /* enum tv_perf_sched_kind */
    uint8_t state; /* enum tv_ft_state of the thread that leaves */
};

/* The events of an input; all zero: none. */
struct tv_perf_sched {
    TV_TABLE(tv_perf_sched_event) events;
    bool one_process; /* the file tells no processes: all threads are in process 0 */
};

/* Return true for the names of the tracepoints ("sched:sched_switch"). */
bool tv_perf_sched_find_kind(struct tv_bytes event, enum tv_perf_sched_kind *kind);

/* Parse the text of a tracepoint of that kind: fill kind, tid and state, of a switch also `by`, and
 * give the name of `tid`.  False: it says nothing about the schedule. */
bool tv_perf_sched_parse(enum tv_perf_sched_kind kind, struct tv_bytes details,
                         struct tv_perf_sched_event *event, struct tv_bytes *name);

/* ---- Raw fields (sched_fields.c) ---- */

/* The place of a field in the raw data of a tracepoint; size 0: it has no such field. */
struct tv_perf_field {
    uint32_t offset, size;
};

/* The fields of a tracepoint, as the file describes them. */
struct tv_perf_sched_format {
    enum tv_perf_sched_kind kind;
    struct tv_perf_field tid, name, by, state, success;
    struct tv_bytes letters; /* text that names the bits of the state */
};

/* Find the format of a tracepoint ("sched:sched_switch") in the formats that the file brings.
 * False: it is none of the scheduler's, or not described. */
bool tv_perf_sched_find_format(struct tv_bytes formats, struct tv_bytes event,
                               struct tv_perf_sched_format *format);

/* Read the raw data of a tracepoint; otherwise as tv_perf_sched_parse. */
bool tv_perf_sched_decode(const struct tv_perf_sched_format *format, struct tv_bytes raw,
                          struct tv_perf_sched_event *event, struct tv_bytes *name);

/* ---- The schedule ---- */

/* Build the rows of the input, and add the tracks of processors and states.  A thread that only
 * others name is in the process that `processes` (thread -> process; NULL: none) has for it, else
 * in one of its own.  Nothing happens when there are no events. */
void tv_perf_sched_finish(struct tv_perf_sched *sched, struct tv_profile_input *profile,
                          const struct tv_map *processes, const struct tv_read_options *options);

void tv_perf_sched_release(struct tv_perf_sched *sched);

#endif

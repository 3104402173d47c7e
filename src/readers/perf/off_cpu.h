/* SPDX-License-Identifier: Apache-2.0 */
/*
 * off_cpu.h - how long threads were off their processor, in recordings of
 * "simpleperf record --trace-offcpu".
 *
 *     sample of sched:sched_switch   the thread leaves its processor, with this stack
 *     switch on, or its next sample  it is back: the time between is an off-CPU sample's weight
 *     switch on ... switch off       it runs: a slice "Running" on its track of states
 */
#ifndef TV_READERS_PERF_OFF_CPU_H
#define TV_READERS_PERF_OFF_CPU_H

#include "readers/profile_input.h"

/* Name of the event whose samples say that a thread leaves its processor. */
#define TV_OFF_CPU_EVENT TV_BYTES("sched:sched_switch")

struct off_cpu_event;

/* Samples and switches of all threads; all zero: none. */
struct tv_off_cpu {
    struct off_cpu_event *events;
    size_t count, capacity;
};

/* Note a sample that was added with the stack that was built last; `leaves`: of TV_OFF_CPU_EVENT.
 */
void tv_off_cpu_note_sample(struct tv_off_cpu *off, const struct tv_profile_input *profile,
                            const struct tv_sample *sample, bool leaves);

/* Note that a thread gets its processor (`on`), or leaves it. */
void tv_off_cpu_note_switch(struct tv_off_cpu *off, struct tv_profile_input *profile, bool on,
                            struct tv_sample at);

/* Add the off-CPU samples, build the rows of the input, and add the tracks of states.  Nothing
 * happens when nothing was noted. */
void tv_off_cpu_finish(struct tv_off_cpu *off, struct tv_profile_input *profile,
                       const struct tv_read_options *options);

void tv_off_cpu_release(struct tv_off_cpu *off);

#endif

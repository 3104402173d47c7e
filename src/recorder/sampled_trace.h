/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_trace.h - a .trace made of stacks that were looked at now and then, as Android's
 * startMethodTracingSampling makes it: what a thread's stack has lost since the last look was left,
 * what it has gained was entered, both at the time of the look.
 *
 *     tv_sampled_trace_begin_tick(trace, us);
 *     tv_sampled_trace_set_stack(trace, thread, stack, depth);     for each thread
 *     tv_sampled_trace_end_tick(trace);                       others have left all they were in
 *
 * Its clock is wall time, its version 2.  One caller at a time.  Errors are 0 or a negative errno.
 */
#ifndef TV_RECORDER_SAMPLED_TRACE_H
#define TV_RECORDER_SAMPLED_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/method_table.h"

struct tv_sampled_trace_options {
    const char *path;       /* it appears whole: written as PATH.part, then renamed */
    const char *vm;         /* what the file names as the machine */
    uint64_t buffer_bytes;  /* of the file's header and records, TV_RECORDING_BUFFER_LEAST and up */
    uint64_t start_us;      /* since 1970 */
    uint64_t interval_us;   /* from one look to the next */
    tv_address_namer namer; /* of the frames that tv_sampled_trace_set_stack is given */
};

struct tv_sampled_trace;

/* Opens the file now, so that a bad path is known now. */
int tv_sampled_trace_new(struct tv_sampled_trace **trace,
                         const struct tv_sampled_trace_options *options);

/* The thread's number, from 1 on; 0: there are too many, or no memory. */
uint32_t tv_sampled_trace_add_thread(struct tv_sampled_trace *trace, const char *name);
/* Another name for it. */
void tv_sampled_trace_name_thread(struct tv_sampled_trace *trace, uint32_t thread,
                                  const char *name);

/* Looks come in the order of time, which is microseconds since the start. */
void tv_sampled_trace_begin_tick(struct tv_sampled_trace *trace, uint64_t us);

/* What the thread is in, innermost first; no frame may be 0.  Without memory for it, it is as if
 * the thread had not been looked at. */
void tv_sampled_trace_set_stack(struct tv_sampled_trace *trace, uint32_t thread,
                                const uint64_t *frames, uint32_t depth);
/* The thread is in what it was in before: nobody knows better. */
void tv_sampled_trace_keep_stack(struct tv_sampled_trace *trace, uint32_t thread);
/* False: the buffer is full, or the time does not fit; nothing is recorded from here on. */
bool tv_sampled_trace_end_tick(struct tv_sampled_trace *trace);

/* Writes the file; what is open at that time stays open in it. */
int tv_sampled_trace_write(struct tv_sampled_trace *trace, uint64_t elapsed_us);

/* Without a write, the file is not there afterwards. */
void tv_sampled_trace_free(struct tv_sampled_trace *trace);

#endif

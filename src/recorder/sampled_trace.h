/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_trace.h - a .trace made of sampled stacks, as Android's startMethodTracingSampling makes
 * it. Calls that a thread's stack has lost since the last tick were left, calls that it has gained
 * were entered, both at the time of the tick.
 *
 *     tv_sampled_trace_begin_tick(trace, us);
 *     tv_sampled_trace_set_stack(trace, thread, stack, depth);   for each thread
 *     tv_sampled_trace_end_tick(trace);                          other threads have left all calls
 *
 * The clock is wall time, the version 2.  One caller at a time.  Errors are 0 or a negative errno.
 */
#ifndef TV_RECORDER_SAMPLED_TRACE_H
#define TV_RECORDER_SAMPLED_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/method_table.h"

struct tv_sampled_trace_options {
    const char *path;       /* it is written as PATH.part, then renamed */
    const char *vm;         /* the machine that the file names */
    uint64_t buffer_bytes;  /* of the file's header and records, at least TV_RECORDING_BUFFER_MIN */
    uint64_t start_us;      /* since 1970 */
    uint64_t interval_us;   /* from one tick to the next */
    tv_address_namer namer; /* of the frames that tv_sampled_trace_set_stack gets */
};

struct tv_sampled_trace;

/* Make a trace.  Opens the file now, so that a bad path is reported now. */
int tv_sampled_trace_new(struct tv_sampled_trace **trace,
                         const struct tv_sampled_trace_options *options);

/* Add a thread; return its number, from 1 on.  0: too many, or no memory. */
uint32_t tv_sampled_trace_add_thread(struct tv_sampled_trace *trace, const char *name);
/* Rename it. */
void tv_sampled_trace_name_thread(struct tv_sampled_trace *trace, uint32_t thread,
                                  const char *name);

/* Begin a tick at a time in microseconds since the start, which never decreases. */
void tv_sampled_trace_begin_tick(struct tv_sampled_trace *trace, uint64_t us);

/* Set the thread's stack, innermost first; no frame may be 0.  Without memory, the thread keeps
 * its last stack. */
void tv_sampled_trace_set_stack(struct tv_sampled_trace *trace, uint32_t thread,
                                const uint64_t *frames, uint32_t depth);
/* The thread's stack is unknown at this tick: keep the last one. */
void tv_sampled_trace_keep_stack(struct tv_sampled_trace *trace, uint32_t thread);
/* End the tick.  False: the buffer is full, or the time overflows; nothing more is recorded. */
bool tv_sampled_trace_end_tick(struct tv_sampled_trace *trace);

/* Write the file.  Calls that are open now have no exit in it. */
int tv_sampled_trace_write(struct tv_sampled_trace *trace, uint64_t elapsed_us);

/* Free the trace.  A file that was not written is removed. */
void tv_sampled_trace_free(struct tv_sampled_trace *trace);

#endif

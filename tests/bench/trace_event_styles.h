/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event_styles.h - other writers of Trace Event JSON than Chrome, as the generator imitates
 * them, and a file of counters alone.  Each writes a whole file of about `limit` bytes and returns
 * the number of its events.
 */
#ifndef TV_BENCH_TRACE_EVENT_STYLES_H
#define TV_BENCH_TRACE_EVENT_STYLES_H

#include "random_text.h"

/* PyTorch's profiler (Kineto): an event over six lines, nested operators of one training step after
 * the other, launches of kernels with an arrow to the kernel on its stream, names of C++ templates,
 * nanoseconds as decimals of a time since 1970.  Shares as in a real trace: 35 % operators, 31 %
 * arrows, 22 % calls of CUDA, 9 % kernels and copies. */
uint64_t write_pytorch(struct random_text *text, uint64_t limit);

/* Bazel's profile: an event a line, four blanks before it, actions on hundreds of evaluator threads
 * in microseconds since the start, counters written as strings. */
uint64_t write_bazel(struct random_text *text, uint64_t limit);

/* Values of 40 counters with two series each and nothing else, a value of both series every
 * microsecond from 0 on; the two series add up to a million. */
uint64_t write_counters(struct random_text *text, uint64_t limit);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.h - the same job on several threads.  On WebAssembly the jobs run one after the other.
 */
#ifndef TV_BASE_WORKERS_H
#define TV_BASE_WORKERS_H

#include "base/types.h"

#ifndef __wasm__
#include <pthread.h>

/* The stack of every thread that the program starts; the default of the C library is between 128 kB
 * (musl) and whatever the shell says.  Address space: what is not touched takes no memory. */
#define TV_THREAD_STACK ((size_t)4 << 20)

/* Start a thread with a stack of `stack` bytes, most often TV_THREAD_STACK.  An error number, or
 * 0.  Nothing else in the program calls pthread_create; the recorder, which lives in programs of
 * others, has its own (recorder/recording.h). */
int tv_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context);
#endif

/* Processors that this process may use (at least 1). */
unsigned tv_workers_available(void);

/* Calls job(context, 0) to job(context, count - 1), on as many threads (fewer when the system
 * refuses: no job may wait for another), and returns when all are done. */
void tv_workers_run(unsigned count, void (*job)(void *context, unsigned index), void *context);

/* Choose whether all jobs of this process run one after the other, in the thread that asks for
 * them. Tests that read thousands of small inputs want it: starting threads would take most of
 * their time. */
void tv_workers_run_inline(bool inline_jobs);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.h - the same job on several threads.  On WebAssembly the jobs run one after the other.
 */
#ifndef TV_BASE_WORKERS_H
#define TV_BASE_WORKERS_H

#include "base/types.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.h - the same job on several threads, and locks.  WebAssembly has one thread: jobs run in
 * turn and locks do nothing.
 */
#ifndef TV_BASE_WORKERS_H
#define TV_BASE_WORKERS_H

#include "base/types.h"

#ifndef __wasm__
#include <pthread.h>

/* Stack size of every thread of this program; defaults of C libraries range from 128 KiB (musl) to
 * the shell's limit.  This is address space: untouched pages take no memory. */
#define TV_THREAD_STACK ((size_t)4 << 20)

/* Start a thread with a stack of `stack` bytes, usually TV_THREAD_STACK.  Return 0 or an error
 * number.  Nothing else in the program calls pthread_create, except the recorder, which lives in
 * other programs (recorder/recording.h). */
int tv_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context);
#endif

/* Return the number of processors that this process may use (at least 1). */
unsigned tv_workers_available(void);

/* Call job(context, 0) to job(context, count - 1) on up to `count` threads and return when all are
 * done.  The system may refuse threads, so no job may wait for another one. */
void tv_workers_run(unsigned count, void (*job)(void *context, unsigned index), void *context);

/* Choose whether all jobs run in turn on the calling thread.  Tests that read thousands of small
 * inputs want this, because starting threads would take most of their time. */
void tv_workers_run_inline(bool inline_jobs);

/*
 * A lock: one thread at a time.
 */

#ifdef __wasm__

struct tv_lock {
    int unused;
};

#define TV_LOCK_INITIAL                                                                            \
    {                                                                                              \
        0                                                                                          \
    }

static inline void tv_lock_init(struct tv_lock *lock)
{
    lock->unused = 0;
}

static inline void tv_lock_release(struct tv_lock *lock)
{
    (void)lock;
}

static inline void tv_lock_enter(struct tv_lock *lock)
{
    (void)lock;
}

static inline void tv_lock_leave(struct tv_lock *lock)
{
    (void)lock;
}

#else

#include <pthread.h>

struct tv_lock {
    pthread_mutex_t mutex;
};

/* The value of a static lock, which needs neither tv_lock_init nor tv_lock_release. */
#define TV_LOCK_INITIAL                                                                            \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER                                                                  \
    }

/* None of these can fail: it is a plain mutex, and only the thread that entered leaves. */
static inline void tv_lock_init(struct tv_lock *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
}

static inline void tv_lock_release(struct tv_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

static inline void tv_lock_enter(struct tv_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

static inline void tv_lock_leave(struct tv_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

#endif

#endif

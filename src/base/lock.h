/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - one thread at a time. On WebAssembly there is one thread, and nothing to do.
 */
#ifndef TV_BASE_LOCK_H
#define TV_BASE_LOCK_H

#ifdef __wasm__

struct tv_lock {
    int unused;
};

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

/* None of these can fail: the mutex is of the plain kind, and whoever leaves has entered. */
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

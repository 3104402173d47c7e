/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - an attached thread that calls a function at a steady rate, between start and stop.
 *
 * The first start creates the thread, and it stays until the end, like that of java.util.Timer. A
 * late tick is not made up for: the next tick comes at the next multiple of the period. The tick
 * function may call every function of this header.
 */
#ifndef TV_RECORDER_AGENT_TICKER_H
#define TV_RECORDER_AGENT_TICKER_H

#include <jni.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tv_ticker {
    /* The tick; false ends the ticker. If a Java exception is pending then, it goes to the uncaught
     * exception handler. */
    bool (*tick)(void *context, JNIEnv *jni);
    void (*release)(void *context); /* frees `context`, after the thread is gone */
    void *context;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool made;    /* the thread has been created */
    bool started; /* ticks are due */
    bool ending;  /* the thread is to exit, or has; the ticker cannot start again */
    bool in_tick;
    bool gone;   /* the thread touches the ticker no more, except for `orphan` */
    bool orphan; /* tv_ticker_free has been called: the thread releases the ticker */
    int64_t period_ns;
    int64_t due_ns;
    uint64_t ticks;
    uint64_t late; /* ticks left out */
};

/* Initialize the members after the first three, which the caller has set. */
void tv_ticker_init(struct tv_ticker *ticker);

/* Tick now, then once every period. Return 0, -EALREADY when started, -ESHUTDOWN when ended, or the
 * negative errno of thread creation. */
int tv_ticker_start(struct tv_ticker *ticker, int64_t period_ns);

/* Stop, and wait for the tick in progress. Does nothing when stopped. */
void tv_ticker_stop(struct tv_ticker *ticker);

/* Stop for good. Wait for the tick in progress if `wait`. */
void tv_ticker_end(struct tv_ticker *ticker, bool wait);

/* Has it been started, and not stopped? */
bool tv_ticker_is_started(struct tv_ticker *ticker);

/* Stop for good and release the ticker and its context once the tick in progress is over. Does not
 * wait for that. */
void tv_ticker_free(struct tv_ticker *ticker);

#endif

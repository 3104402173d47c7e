/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticker.h - a thread of the machine that does something at a steady rate, between start and stop.
 *
 * The thread is made at the first start and stays until the end, as java.util.Timer's does.  A tick
 * that comes late is not made up for: the next one is the next whole period away.  All of it may be
 * called by the tick itself.
 */
#ifndef TV_RECORDER_AGENT_TICKER_H
#define TV_RECORDER_AGENT_TICKER_H

#include <jni.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tv_ticker {
    /* What is done; false: no more of it.  A Java exception that is pending then goes the way of
     * those that nobody catches. */
    bool (*tick)(void *context, JNIEnv *jni);
    void (*release)(void *context); /* of the whole, once its thread is gone */
    void *context;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool made;    /* there is a thread */
    bool started; /* it ticks */
    bool ending;  /* it is to leave, or has left; there is no start any more */
    bool in_tick;
    bool gone;   /* the thread is, but for what the machine does at its end */
    bool orphan; /* nobody needs the whole any more: the thread releases it */
    int64_t period_ns;
    int64_t due_ns;
    uint64_t ticks;
    uint64_t late; /* ticks that were left out */
};

/* Sets up what follows the three members that the caller has set. */
void tv_ticker_init(struct tv_ticker *ticker);

/* Ticks at once, then at every period.  0, -EALREADY: it is started; -ESHUTDOWN: it has ended; else
 * there is no thread for it. */
int tv_ticker_start(struct tv_ticker *ticker, int64_t period_ns);

/* Waits for the tick in progress; nothing when it is not started. */
void tv_ticker_stop(struct tv_ticker *ticker);

/* Stops for good; whether or not it waits for the tick in progress. */
void tv_ticker_end(struct tv_ticker *ticker, bool wait);

/* Is it started? */
bool tv_ticker_is_started(struct tv_ticker *ticker);

/* Stops for good and releases all, once the tick in progress is over; does not wait for that. */
void tv_ticker_free(struct tv_ticker *ticker);

#endif

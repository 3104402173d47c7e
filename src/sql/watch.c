/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - interrupt statements (watch.h).
 *
 *     statement  begins ......................... ends
 *     watch      waits max_seconds | interrupts, every INTERRUPT_MS | stuck()
 *                  or for cancel   |            TV_SQL_GRACE_MS     |
 */
#include "sql/watch.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/workers.h"

/* Time between two interruptions of a statement. */
#define INTERRUPT_MS 20

/* Fail a statement that was interrupted. */
static enum tv_status watch_fail(const struct tv_sql_watch *watch, bool cancelled,
                                 struct tv_error *err)
{
    if (cancelled)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, TV_SQL_CANCELLED);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, TV_SQL_NO_TIME " %llu s%s",
                   (unsigned long long)watch->max_seconds, watch->longer);
}

/* Interrupt the statement, and end the process if it did not heed earlier interruptions. */
static void watch_interrupt(struct tv_sql_watch *watch)
{
    int64_t now = tv_monotonic_ms();
    if (watch->interrupted_ms == 0)
        watch->interrupted_ms = now;
    tv_duck.interrupt(watch->connection);
    if (watch->stop)
        atomic_store(watch->stop, true);
    if (watch->stuck && now - watch->interrupted_ms > TV_SQL_GRACE_MS) {
        struct tv_error why;
        (void)watch_fail(watch, watch->cancelled, &why);
        watch->stuck(watch->stuck_context, &why);
    }
}

static void *watch_thread(void *argument)
{
    struct tv_sql_watch *watch = argument;
    pthread_mutex_lock(&watch->lock);
    while (!watch->ending) {
        if (!watch->running) {
            pthread_cond_wait(&watch->changed, &watch->lock);
        } else if (watch->expired || watch->cancelled) {
            /* A statement forgets an interruption that came before it began: repeat it. */
            watch_interrupt(watch);
            watch->deadline = tv_monotonic_deadline(INTERRUPT_MS);
            pthread_cond_timedwait(&watch->changed, &watch->lock, &watch->deadline);
        } else if (watch->max_seconds == 0) {
            pthread_cond_wait(&watch->changed, &watch->lock);
        } else if (pthread_cond_timedwait(&watch->changed, &watch->lock, &watch->deadline) ==
                   ETIMEDOUT) {
            watch->expired = watch->running;
        }
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

enum tv_status tv_sql_watch_start(struct tv_sql_watch *watch, duck_connection connection,
                                  const struct tv_sql_options *options, struct tv_error *err)
{
    pthread_condattr_t monotonic;
    if (options->max_seconds == 0 && !options->is_cancellable)
        return TV_OK;
    watch->connection = connection;
    watch->longer = options->longer ? options->longer : " (--max-time)";
    watch->stuck = options->stuck;
    watch->stuck_context = options->stuck_context;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&watch->lock, NULL);
    watch->max_seconds = options->max_seconds;
    watch->started = tv_thread_start(&watch->thread, TV_THREAD_STACK, watch_thread, watch) == 0;
    if (watch->started)
        return TV_OK;
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->changed);
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: no thread can be started");
}

void tv_sql_watch_end(struct tv_sql_watch *watch)
{
    if (!watch->started)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->ending = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->changed);
}

void tv_sql_watch_run(struct tv_sql_watch *watch, bool running)
{
    if (!watch->started)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->deadline = tv_monotonic_deadline(watch->max_seconds * 1000);
    watch->running = running;
    watch->interrupted_ms = 0;
    if (running)
        watch->expired = false;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

void tv_sql_watch_cancel(struct tv_sql_watch *watch, bool cancelled)
{
    assert(watch->started);
    pthread_mutex_lock(&watch->lock);
    watch->cancelled = cancelled;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

enum tv_status tv_sql_watch_explain(struct tv_sql_watch *watch, struct tv_error *err)
{
    if (!watch->started)
        return err->status;
    pthread_mutex_lock(&watch->lock); /* another thread may cancel at any time */
    bool cancelled = watch->cancelled, expired = watch->expired;
    pthread_mutex_unlock(&watch->lock);
    return cancelled || expired ? watch_fail(watch, cancelled, err) : err->status;
}

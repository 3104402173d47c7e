/* SPDX-License-Identifier: Apache-2.0 */
/* ticker.c - a thread that ticks at a steady rate (see ticker.h). */
#include "recorder/agent/ticker.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

#include "recorder/agent/agent.h"
#include "recorder/clock.h"

#define BILLION 1000000000

void tv_ticker_init(struct tv_ticker *ticker)
{
    assert(ticker->tick != NULL && ticker->release != NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&ticker->lock, NULL);
    pthread_cond_init(&ticker->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Wait until `due`, or until something changes.  From here on, the functions up to
 * ticker_tick_until_stopped need the lock. */
static void ticker_wait_until(struct tv_ticker *ticker, int64_t due)
{
    struct timespec until = {(time_t)(due / BILLION), (long)(due % BILLION)};
    pthread_cond_timedwait(&ticker->changed, &ticker->lock, &until);
}

/* Plan the next tick at its regular time; ticks that have been missed are counted, not made up for.
 */
static void ticker_plan_next(struct tv_ticker *ticker)
{
    assert(ticker->period_ns > 0);
    int64_t missed = ((int64_t)tv_clock_ns(CLOCK_MONOTONIC) - ticker->due_ns) / ticker->period_ns;
    ticker->late += (uint64_t)missed;
    ticker->due_ns += (missed + 1) * ticker->period_ns;
}

/* Run a tick without the lock, so that it can take long and may itself stop the ticker. */
static void ticker_tick_once(struct tv_ticker *ticker, JNIEnv *jni)
{
    assert(!ticker->in_tick);
    int64_t due = ticker->due_ns;
    ticker->in_tick = true;
    pthread_mutex_unlock(&ticker->lock);
    bool go_on = ticker->tick(ticker->context, jni);
    pthread_mutex_lock(&ticker->lock);
    ticker->in_tick = false;
    ticker->ticks++;
    ticker->ending = ticker->ending || !go_on;
    if (ticker->due_ns == due) /* else it was restarted meanwhile */
        ticker_plan_next(ticker);
    pthread_cond_broadcast(&ticker->changed);
}

static void ticker_tick_until_stopped(struct tv_ticker *ticker, JNIEnv *jni)
{
    pthread_mutex_lock(&ticker->lock);
    while (!ticker->ending) {
        if (!ticker->started)
            pthread_cond_wait(&ticker->changed, &ticker->lock);
        else if ((int64_t)tv_clock_ns(CLOCK_MONOTONIC) < ticker->due_ns)
            ticker_wait_until(ticker, ticker->due_ns);
        else
            ticker_tick_once(ticker, jni);
    }
    pthread_mutex_unlock(&ticker->lock);
}

static void ticker_release(struct tv_ticker *ticker)
{
    pthread_mutex_destroy(&ticker->lock);
    pthread_cond_destroy(&ticker->changed);
    ticker->release(ticker->context);
}

/* Tick until the end, as a thread of the JVM.  A ticker that was freed meanwhile is released here,
 * by its last user. */
static void *ticker_thread_main(void *arg)
{
    JNIEnv *jni;
    struct tv_ticker *ticker = arg;
    static char name[] = "SamplingProfiler";
    JavaVMAttachArgs attach = {JNI_VERSION_1_6, name, NULL};
    JavaVM *vm = tv_agent.vm;
    bool attached = (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&jni, &attach) == JNI_OK;
    if (attached)
        ticker_tick_until_stopped(ticker, jni);
    pthread_mutex_lock(&ticker->lock);
    ticker->ending = ticker->gone = true;
    bool orphan = ticker->orphan;
    pthread_mutex_unlock(&ticker->lock);
    if (orphan)
        ticker_release(ticker);
    if (attached)
        (*vm)->DetachCurrentThread(vm);
    return NULL;
}

/* Start the thread at the first start; later ones only wake it. */
static int ticker_start_thread(struct tv_ticker *ticker, int64_t period_ns)
{
    if (ticker->ending)
        return -ESHUTDOWN;
    if (ticker->started)
        return -EALREADY;
    ticker->period_ns = period_ns;
    ticker->due_ns = (int64_t)tv_clock_ns(CLOCK_MONOTONIC);
    int error =
        ticker->made ? 0 : tv_recorder_start_thread(&ticker->thread, ticker_thread_main, ticker);
    if (!ticker->made && error == 0)
        pthread_detach(ticker->thread);
    ticker->made = ticker->started = error == 0;
    pthread_cond_broadcast(&ticker->changed);
    return -error;
}

int tv_ticker_start(struct tv_ticker *ticker, int64_t period_ns)
{
    pthread_mutex_lock(&ticker->lock);
    int error = ticker_start_thread(ticker, period_ns);
    pthread_mutex_unlock(&ticker->lock);
    return error;
}

static bool ticker_is_self(const struct tv_ticker *ticker)
{
    return ticker->made && pthread_equal(ticker->thread, pthread_self());
}

/* Stop, and wait for the end of a tick that runs.  A tick that stops its own ticker must not wait
 * for itself. */
static void ticker_join_thread(struct tv_ticker *ticker, bool wait)
{
    uint64_t ticks = ticker->ticks;
    ticker->started = false;
    pthread_cond_broadcast(&ticker->changed);
    while (wait && !ticker_is_self(ticker) && ticker->in_tick && ticker->ticks == ticks)
        pthread_cond_wait(&ticker->changed, &ticker->lock);
}

void tv_ticker_stop(struct tv_ticker *ticker)
{
    pthread_mutex_lock(&ticker->lock);
    ticker_join_thread(ticker, true);
    pthread_mutex_unlock(&ticker->lock);
}

void tv_ticker_end(struct tv_ticker *ticker, bool wait)
{
    pthread_mutex_lock(&ticker->lock);
    ticker->ending = true;
    ticker_join_thread(ticker, wait);
    pthread_mutex_unlock(&ticker->lock);
}

bool tv_ticker_is_started(struct tv_ticker *ticker)
{
    pthread_mutex_lock(&ticker->lock);
    bool started = ticker->started;
    pthread_mutex_unlock(&ticker->lock);
    return started;
}

void tv_ticker_free(struct tv_ticker *ticker)
{
    pthread_mutex_lock(&ticker->lock);
    ticker->ending = true;
    ticker->started = false;
    ticker->orphan = ticker->made && !ticker->gone;
    bool left = !ticker->orphan;
    pthread_cond_broadcast(&ticker->changed);
    pthread_mutex_unlock(&ticker->lock);
    if (left)
        ticker_release(ticker);
}

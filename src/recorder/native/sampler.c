/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.c - a sampler from tvrec_sampler_new to tvrec_sampler_free, and its thread.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/native/sampler.h"
#include "recorder/state.h"

#define BILLION UINT64_C(1000000000)
#define RATE_MOST 10000
#define LIBRARY_SIGNALS 32

/* All of them.  A tick holds the lock, so that samplers take turns and a fork comes between ticks.
 */
static struct {
    pthread_mutex_t lock;
    struct tvrec_sampler *first;
} samplers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&samplers.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&samplers.lock);
}

/* The list stays the parent's; what the child makes itself starts a new one. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&samplers.lock, NULL);
    samplers.first = NULL;
}

static void look_after_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static void add_to_list(struct tvrec_sampler *sampler)
{
    pthread_once(&fork_once, look_after_forks);
    pthread_mutex_lock(&samplers.lock);
    sampler->other = samplers.first;
    samplers.first = sampler;
    pthread_mutex_unlock(&samplers.lock);
}

static void take_from_list(struct tvrec_sampler *sampler)
{
    pthread_mutex_lock(&samplers.lock);
    struct tvrec_sampler **link = &samplers.first;
    while (*link && *link != sampler)
        link = &(*link)->other;
    if (*link)
        *link = sampler->other;
    pthread_mutex_unlock(&samplers.lock);
}

bool tv_sampler_is_own(pid_t tid)
{
    for (struct tvrec_sampler *i = samplers.first; i; i = i->other)
        if (atomic_load(&i->tid) == tid)
            return true;
    return atomic_load(&tv_recorder.watcher) == tid;
}

static bool is_of_parent(const struct tvrec_sampler *sampler)
{
    return sampler->pid != (int)getpid();
}

static bool init(struct tvrec_sampler *sampler, int depth, struct tvrec_set *set)
{
    pthread_condattr_t attributes;
    uint32_t most = (uint32_t)depth < TV_STACK_DEPTH_MAX ? (uint32_t)depth : TV_STACK_DEPTH_MAX;
    sampler->stack_elements = calloc(most, sizeof *sampler->stack_elements);
    if (!sampler->stack_elements)
        return false;
    sampler->set = set;
    sampler->depth = most;
    sampler->pid = (int)getpid();
    pthread_mutex_init(&sampler->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sampler->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return true;
}

struct tvrec_sampler *tvrec_sampler_new(int depth, struct tvrec_set *set)
{
    tv_recorder_inside++;
    struct tvrec_sampler *sampler = depth > 0 && set ? calloc(1, sizeof *sampler) : NULL;
    if (!sampler || !init(sampler, depth, set)) {
        errno = depth > 0 && set ? ENOMEM : EINVAL;
        free(sampler);
        tv_thread_set_free(set);
        tv_recorder_inside--;
        return NULL;
    }
    add_to_list(sampler);
    tvrec_sampler_use(sampler, TVREC_STACK_AUTO, 0);
    tv_recorder_inside--;
    return sampler;
}

static void keep_stacks(struct tvrec_sampler *sampler, bool wanted)
{
    if (wanted && !sampler->keeps_stacks)
        tv_recorder_acquire_stacks();
    if (!wanted && sampler->keeps_stacks)
        tv_recorder_release_stacks();
    sampler->keeps_stacks = wanted;
}

/* Those between the old signals and SIGRTMIN are the C library's own. */
static bool is_usable(int number)
{
    return number >= 0 && number <= SIGRTMAX && number != SIGKILL && number != SIGSTOP &&
           (number < LIBRARY_SIGNALS || number >= SIGRTMIN);
}

int tvrec_sampler_use(struct tvrec_sampler *sampler, enum tvrec_stack stack, int signal_number)
{
    if ((unsigned)stack > TVREC_STACK_FP || !is_usable(signal_number))
        return -EINVAL;
    if (sampler->started)
        return -EALREADY;
    bool shadow =
        stack == TVREC_STACK_SHADOW || (stack == TVREC_STACK_AUTO && tv_code_is_instrumented());
    sampler->stack = stack;
    sampler->any_signal = signal_number == 0;
    sampler->signal_number = signal_number ? signal_number : SIGURG;
    sampler->unwinder = shadow ? &tv_unwinder_shadow : &tv_unwinder_signals;
    keep_stacks(sampler, shadow);
    return TV_SIGNALS_WORK || shadow || stack == TVREC_STACK_AUTO ? 0 : -ENOTSUP;
}

void tv_sampler_keep_times(struct tvrec_sampler *sampler)
{
    sampler->keeps_times = true;
}

/* Until `due`; false when the sampler is to stop. */
static bool wait_until(struct tvrec_sampler *sampler, uint64_t due)
{
    struct timespec until = {(time_t)(due / BILLION), (long)(due % BILLION)};
    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stopping && tv_clock_ns(CLOCK_MONOTONIC) < due)
        pthread_cond_timedwait(&sampler->wake, &sampler->lock, &until);
    bool goes_on = !sampler->stopping;
    pthread_mutex_unlock(&sampler->lock);
    return goes_on;
}

/* There is one tick at least, however short the program.  One that is late moves the ones after it
 * to where they would have been: none of them hurries.
 */
static void *run(void *argument)
{
    struct tvrec_sampler *sampler = argument;
    tv_recorder_inside = 1;
    prctl(PR_SET_NAME, "SamplingProfile");
    prctl(PR_SET_TIMERSLACK, 1UL);
    atomic_store(&sampler->tid, (pid_t)syscall(SYS_gettid));
    uint64_t due = tv_clock_ns(CLOCK_MONOTONIC);
    do {
        pthread_mutex_lock(&samplers.lock);
        tv_sampler_tick(sampler);
        pthread_mutex_unlock(&samplers.lock);
        uint64_t missed = (tv_clock_ns(CLOCK_MONOTONIC) - due) / sampler->period_ns;
        sampler->late += missed;
        due += (missed + 1) * sampler->period_ns;
    } while (wait_until(sampler, due));
    return NULL;
}

static int start_thread(struct tvrec_sampler *sampler)
{
    sigset_t all, old;
    sampler->stopping = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = tv_recorder_start_thread(&sampler->thread, run, sampler);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -failed;
}

int tvrec_sampler_start(struct tvrec_sampler *sampler, int per_second)
{
    if (per_second < 1 || per_second > RATE_MOST)
        return -EINVAL;
    if (sampler->ended || is_of_parent(sampler))
        return -ESHUTDOWN;
    if (sampler->started)
        return -EALREADY;
    sampler->period_ns = BILLION / (uint64_t)per_second;
    sampler->samples.period_ns = sampler->keeps_times ? sampler->period_ns : 0;
    int failed = sampler->unwinder->begin(sampler);
    if (failed != 0)
        return failed;
    tv_recorder_inside++;
    atomic_fetch_add(&tv_recorder.own_threads, 1);
    failed = start_thread(sampler);
    tv_recorder_inside--;
    sampler->started = failed == 0;
    if (failed != 0) {
        atomic_fetch_sub(&tv_recorder.own_threads, 1);
        sampler->unwinder->end(sampler);
    }
    return failed;
}

int tvrec_sampler_stop(struct tvrec_sampler *sampler)
{
    if (!sampler->started || is_of_parent(sampler))
        return 0;
    pthread_mutex_lock(&sampler->lock);
    sampler->stopping = true;
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->lock);
    pthread_join(sampler->thread, NULL);
    atomic_store(&sampler->tid, 0);
    atomic_fetch_sub(&tv_recorder.own_threads, 1);
    sampler->unwinder->end(sampler);
    sampler->started = false;
    return 0;
}

int tvrec_sampler_shutdown(struct tvrec_sampler *sampler)
{
    int failed = tvrec_sampler_stop(sampler);
    sampler->ended = true;
    return failed;
}

static bool is_busy(const struct tvrec_sampler *sampler)
{
    return sampler->started && !is_of_parent(sampler);
}

int tvrec_sampler_write(struct tvrec_sampler *sampler, FILE *to, enum tvrec_hprof form)
{
    time_t now = time(NULL);
    if (is_busy(sampler))
        return -EBUSY;
    if (!to || (unsigned)form > TVREC_HPROF_BINARY)
        return -EINVAL;
    enum tv_hprof_dialect dialect = form == TVREC_HPROF_JDK ? TV_HPROF_JDK : TV_HPROF_ANDROID;
    bool fine =
        form == TVREC_HPROF_BINARY
            ? tv_hprof_binary_write(&sampler->samples, sampler->depth, (uint64_t)now * 1000, to)
            : tv_hprof_text_write(&sampler->samples, dialect, now, to);
    return fine && fflush(to) == 0 ? 0 : -EIO;
}

int tvrec_sampler_tell(struct tvrec_sampler *sampler, struct tvrec_sampler_info *info)
{
    if (is_busy(sampler))
        return -EBUSY;
    if (!info || info->size < sizeof *info)
        return -EINVAL;
    *info = (struct tvrec_sampler_info){sizeof *info, sampler->ticks, sampler->late,
                                        sampler->samples.total, sampler->missed};
    return 0;
}

void tvrec_sampler_free(struct tvrec_sampler *sampler)
{
    if (!sampler)
        return;
    tvrec_sampler_shutdown(sampler);
    take_from_list(sampler);
    /* A child has not the parent's threads, nor what the parent has counted of them. */
    if (!is_of_parent(sampler))
        keep_stacks(sampler, false);
    for (size_t i = 0; i < sampler->count; i++)
        free(sampler->threads[i].words);
    free(sampler->threads);
    free(sampler->tids);
    free(sampler->stack_elements);
    tv_samples_release(&sampler->samples);
    tv_thread_set_free(sampler->set);
    free(sampler);
}

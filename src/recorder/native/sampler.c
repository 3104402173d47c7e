/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.c - a sampler from tvrec_sampler_new to tvrec_sampler_free, its thread, and sets of
 * threads.
 *
 *     sampler thread:  every period: lock all samplers, tick (sampler_tick.c), unlock
 *                      tick: list the set's threads -> unwinder takes stacks -> count them
 *
 * All samplers share one lock, so that two never interrupt the same thread at once, and a fork
 * never copies a lock in the middle of a tick.  A child has no sampler thread, so its list starts
 * empty.
 *
 * The regular times are fixed when the sampler starts.  A tick that comes late does not shift the
 * following ones, and those that it covers are counted as late and not made up for: samples in
 * quick succession would count the stack of that moment several times.
 *
 * The program decides how a stack is taken: code that calls our hooks has shadow stacks, which
 * every call must then keep; other code is unwound in a signal handler of the thread itself.
 */
#define _GNU_SOURCE
#include "recorder/native/sampler.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/state.h"

#define NS_PER_S UINT64_C(1000000000)
#define RATE_MAX 10000
#define LIBRARY_SIGNALS 32

/* All samplers.  A tick holds the lock, so samplers take turns and a fork comes between ticks. */
static struct {
    pthread_mutex_t lock;
    struct tvrec_sampler *first;
} samplers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* Let no tick run during a fork: the child would inherit its locks in the middle of their use. */
static void sampler_before_fork(void)
{
    pthread_mutex_lock(&samplers.lock);
}

static void sampler_after_fork(void)
{
    pthread_mutex_unlock(&samplers.lock);
}

/* The list stays with the parent; the child begins a new one. */
static void sampler_after_fork_in_child(void)
{
    pthread_mutex_init(&samplers.lock, NULL);
    samplers.first = NULL;
}

static void sampler_register_fork_handlers(void)
{
    pthread_atfork(sampler_before_fork, sampler_after_fork, sampler_after_fork_in_child);
}

/* Let ticks and forks know the sampler. */
static void sampler_list_add(struct tvrec_sampler *sampler)
{
    assert(sampler->set && sampler->depth > 0);
    pthread_once(&fork_once, sampler_register_fork_handlers);
    pthread_mutex_lock(&samplers.lock);
    sampler->next_sampler = samplers.first;
    samplers.first = sampler;
    pthread_mutex_unlock(&samplers.lock);
}

/* Forget the sampler. After that no tick of it runs, because a tick holds the lock. */
static void sampler_list_remove(struct tvrec_sampler *sampler)
{
    pthread_mutex_lock(&samplers.lock);
    struct tvrec_sampler **link = &samplers.first;
    while (*link && *link != sampler)
        link = &(*link)->next_sampler;
    if (*link)
        *link = sampler->next_sampler;
    pthread_mutex_unlock(&samplers.lock);
}

bool tv_sampler_is_own(pid_t tid)
{
    for (struct tvrec_sampler *i = samplers.first; i; i = i->next_sampler)
        if (atomic_load(&i->tid) == tid)
            return true;
    return atomic_load(&tv_recorder.watcher) == tid;
}

/* Tell whether the process is a forked child, which has a copy of the sampler but not its thread.
 */
static bool sampler_is_of_parent(const struct tvrec_sampler *sampler)
{
    return sampler->pid != (int)getpid();
}

/* Fill in a sampler.  Waiting is by the monotonic clock, which nobody sets. */
static bool sampler_init(struct tvrec_sampler *sampler, int depth, struct tvrec_set *set)
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
    if (!sampler || !sampler_init(sampler, depth, set)) {
        errno = depth > 0 && set ? ENOMEM : EINVAL;
        free(sampler);
        tv_thread_set_free(set);
        tv_recorder_inside--;
        return NULL;
    }
    sampler_list_add(sampler);
    tvrec_sampler_use(sampler, TVREC_STACK_AUTO, 0);
    tv_recorder_inside--;
    return sampler;
}

/* Have shadow stacks kept for this sampler, or no longer; they cost every call of the program
 * something. */
static void sampler_use_shadow_stacks(struct tvrec_sampler *sampler, bool wanted)
{
    if (wanted && !sampler->keeps_stacks)
        tv_recorder_acquire_stacks();
    if (!wanted && sampler->keeps_stacks)
        tv_recorder_release_stacks();
    sampler->keeps_stacks = wanted;
}

/* Signals between the classic ones and SIGRTMIN belong to the C library. */
static bool sampler_signal_is_usable(int number)
{
    return number >= 0 && number <= SIGRTMAX && number != SIGKILL && number != SIGSTOP &&
           (number < LIBRARY_SIGNALS || number >= SIGRTMIN);
}

int tvrec_sampler_use(struct tvrec_sampler *sampler, enum tvrec_stack stack, int signal_number)
{
    if ((unsigned)stack > TVREC_STACK_FP || !sampler_signal_is_usable(signal_number))
        return -EINVAL;
    if (sampler->started)
        return -EALREADY;
    bool shadow =
        stack == TVREC_STACK_SHADOW || (stack == TVREC_STACK_AUTO && tv_code_is_instrumented());
    sampler->stack = stack;
    sampler->any_signal = signal_number == 0;
    sampler->signal_number = signal_number ? signal_number : SIGURG;
    sampler->unwinder = shadow ? &tv_unwinder_shadow : &tv_unwinder_signals;
    sampler_use_shadow_stacks(sampler, shadow);
    return TV_SIGNALS_WORK || shadow || stack == TVREC_STACK_AUTO ? 0 : -ENOTSUP;
}

void tv_sampler_keep_times(struct tvrec_sampler *sampler)
{
    sampler->keeps_times = true;
}

/* Wait until `due`; false: the sampler is to stop. */
static bool sampler_wait_until(struct tvrec_sampler *sampler, uint64_t due)
{
    struct timespec until = {(time_t)(due / NS_PER_S), (long)(due % NS_PER_S)};
    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stopping && tv_clock_ns(CLOCK_MONOTONIC) < due)
        pthread_cond_timedwait(&sampler->wake, &sampler->lock, &until);
    bool goes_on = !sampler->stopping;
    pthread_mutex_unlock(&sampler->lock);
    return goes_on;
}

/* Run at least one tick, however short the program.  Ticks that a late one has missed are left
 * out; the next one comes at its regular time. */
static void *sampler_run(void *argument)
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
    } while (sampler_wait_until(sampler, due));
    return NULL;
}

/* Start the thread with all signals blocked, so that no handler of the program runs in it. */
static int sampler_start_thread(struct tvrec_sampler *sampler)
{
    sigset_t all, old;
    sampler->stopping = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = tv_recorder_start_thread(&sampler->thread, sampler_run, sampler);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -failed;
}

int tvrec_sampler_start(struct tvrec_sampler *sampler, int per_second)
{
    if (per_second < 1 || per_second > RATE_MAX)
        return -EINVAL;
    if (sampler->ended || sampler_is_of_parent(sampler))
        return -ESHUTDOWN;
    if (sampler->started)
        return -EALREADY;
    sampler->period_ns = NS_PER_S / (uint64_t)per_second;
    sampler->samples.period_ns = sampler->keeps_times ? sampler->period_ns : 0;
    int failed = sampler->unwinder->begin(sampler);
    if (failed != 0)
        return failed;
    tv_recorder_inside++;
    atomic_fetch_add(&tv_recorder.own_threads, 1);
    failed = sampler_start_thread(sampler);
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
    if (!sampler->started || sampler_is_of_parent(sampler))
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

/* Tell whether the sampler's thread changes the samples now. */
static bool sampler_is_busy(const struct tvrec_sampler *sampler)
{
    return sampler->started && !sampler_is_of_parent(sampler);
}

int tvrec_sampler_write(struct tvrec_sampler *sampler, FILE *to, enum tvrec_hprof form)
{
    time_t now = time(NULL);
    if (sampler_is_busy(sampler))
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
    if (sampler_is_busy(sampler))
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
    sampler_list_remove(sampler);
    /* A child has neither the parent's threads nor its hold on the shadow stacks. */
    if (!sampler_is_of_parent(sampler))
        sampler_use_shadow_stacks(sampler, false);
    for (size_t i = 0; i < sampler->count; i++)
        free(sampler->threads[i].words);
    free(sampler->threads);
    free(sampler->tids);
    free(sampler->stack_elements);
    tv_samples_release(&sampler->samples);
    tv_thread_set_free(sampler->set);
    free(sampler);
}

/* ---- Sets of threads: a fixed one, a group, or what a function returns ---- */

#define SET_FIRST_ROOM 64u
#define SET_THREADS_MAX ((size_t)1 << 22) /* the limit of Linux */

/* A set: `fill` asks the host; else `tids` is a fixed list; else all threads of the process, or
 * those of a group. */
struct tvrec_set {
    pid_t *tids; /* of a fixed set */
    size_t count;
    size_t (*fill)(pid_t *threads, size_t room, void *arg);
    void *arg;
    bool any_group;
    char group[TV_BUFFER_NAME];
};

/* Make room for as many threads; false: no memory, or more than Linux can have. */
static bool thread_set_reserve(pid_t **tids, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return true;
    size_t next = *room < SET_FIRST_ROOM ? SET_FIRST_ROOM : *room * 2;
    while (next < wanted)
        next *= 2;
    pid_t *more = wanted > SET_THREADS_MAX ? NULL : realloc(*tids, next * sizeof **tids);
    if (!more)
        return false;
    *tids = more;
    *room = next;
    return true;
}

struct tvrec_set *tvrec_set_array(const pid_t *threads, size_t count)
{
    struct tvrec_set *set = calloc(1, sizeof *set);
    size_t room = 0;
    if (!set || count > SET_THREADS_MAX || !thread_set_reserve(&set->tids, &room, count + 1)) {
        free(set);
        return NULL;
    }
    set->count = count;
    if (count > 0)
        memcpy(set->tids, threads, count * sizeof *threads);
    return set;
}

struct tvrec_set *tvrec_set_group(const char *group)
{
    struct tvrec_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->any_group = group == NULL;
    for (size_t i = 0; group && group[i] && i + 1 < sizeof set->group; i++)
        set->group[i] = group[i];
    return set;
}

struct tvrec_set *tvrec_set_function(size_t (*fill)(pid_t *threads, size_t room, void *arg),
                                     void *arg)
{
    struct tvrec_set *set = fill ? calloc(1, sizeof *set) : NULL;
    if (set) {
        set->fill = fill;
        set->arg = arg;
    }
    return set;
}

void tv_thread_set_free(struct tvrec_set *set)
{
    if (set)
        free(set->tids);
    free(set);
}

/* List the threads that the host names.  It returns how many there are, also when the room is too
 * small; then it is asked again with more. */
static size_t thread_set_ask_host(const struct tvrec_set *set, pid_t **tids, size_t *room)
{
    size_t count = 1;
    do {
        if (!thread_set_reserve(tids, room, count))
            return 0;
        count = set->fill(*tids, *room, set->arg);
    } while (count > *room);
    return count;
}

/* Tell whether a thread is of the set's group.  A thread without a group belongs to "main". */
static bool thread_set_contains(const struct tvrec_set *set, pid_t tid)
{
    char name[TV_BUFFER_NAME], group[TV_BUFFER_NAME];
    if (set->any_group)
        return true;
    tv_sampler_read_description(tid, name, group);
    return strcmp(group[0] ? group : "main", set->group) == 0;
}

/* List the threads of /proc/self/task. Without memory, the rest is left out of this tick. */
static size_t thread_set_scan_tasks(const struct tvrec_set *set, pid_t **tids, size_t *room)
{
    size_t count = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && (entry = readdir(tasks)) && thread_set_reserve(tids, room, count + 1)) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && thread_set_contains(set, tid))
            (*tids)[count++] = tid;
    }
    if (tasks)
        closedir(tasks);
    return count;
}

size_t tv_thread_set_list(struct tvrec_set *set, pid_t **tids, size_t *room)
{
    if (set->fill)
        return thread_set_ask_host(set, tids, room);
    if (!set->tids)
        return thread_set_scan_tasks(set, tids, room);
    if (set->count == 0 || !thread_set_reserve(tids, room, set->count))
        return 0;
    memcpy(*tids, set->tids, set->count * sizeof **tids);
    return set->count;
}

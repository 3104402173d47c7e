/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watcher.c - the file is also written when the process exits or is ended by a signal; forked
 * children.
 *
 *     deadly signal --> handler: asked = true, wake the watcher, wait for `done`, raise the default
 *     full buffer, slow call, memory needed, main thread gone --> wake the watcher
 *     watcher thread:  wait for the semaphore -> prefault, print notices, stop, finish
 *
 * A signal handler may do next to nothing, so a thread that was waiting all the time writes the
 * file for it.  It also does what events in handlers cannot do themselves.
 *
 * The thread waits for a semaphore and not for a descriptor, as some programs close all
 * descriptors.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/state.h"
#include "recorder/triggers.h"

#define HANDLER_WAIT_MS 10000
#define LAST_THREAD_POLL_NS 50000000L
#define SECOND_NS 1000000000L

static struct {
    sem_t event;
    _Atomic bool waits; /* the thread exists */
    pthread_t thread;
    _Atomic bool overflowed, asked, quit, done, main_ended;
    _Atomic uint32_t grown, told_growth; /* numbers of recordings */
    _Atomic int failed;                  /* 0, or a negative errno to report */
    _Atomic bool takes_signals;
    _Atomic bool left[_NSIG]; /* signals that another part of the recorder handles */
    _Atomic(void (*)(
        void)) finish; /* NULL, or what to do at the end besides stopping a recording */
    int finish_pid;
    _Atomic bool stays; /* the thread outlives recordings */
    bool follows;       /* the child that is being forked records */
} watch;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void watcher_wake(void)
{
    int saved = errno;
    if (atomic_load(&watch.waits))
        sem_post(&watch.event);
    errno = saved;
}

void tv_watcher_notify_prefault(void)
{
    watcher_wake();
}

void tv_watcher_notify_overflow(void)
{
    atomic_store(&watch.overflowed, true);
    watcher_wake();
}

void tv_watcher_notify_growth(void)
{
    uint32_t number = tv_recorder.generation;
    if (atomic_exchange(&watch.grown, number) != number)
        watcher_wake();
}

void tv_watcher_notify_slow_call(void)
{
    watcher_wake();
}

void tv_watcher_notify_failure(int error)
{
    atomic_store(&watch.failed, error);
    watcher_wake();
}

static void watcher_print_growth(void)
{
    char line[TV_BUFFER_PATH + 200];
    uint32_t grown = atomic_load(&watch.grown);
    if (grown == 0 || atomic_exchange(&watch.told_growth, grown) == grown)
        return;
    snprintf(line, sizeof line,
             "traceview: %s: more than %llu MB, the trace grows up to %llu MB in files without "
             "names beside it; --buffer sets another limit\n",
             tv_recorder.texts.path, (unsigned long long)tv_recorder.options.buffer_bytes >> 20,
             (unsigned long long)TV_RECORDING_BUFFER_LIMIT >> 20);
    tv_recorder_print_line(line);
}

/* Print what the threads of the recording have reported. */
static void watcher_give_notices(void)
{
    watcher_print_growth();
    int failed = atomic_exchange(&watch.failed, 0);
    if (atomic_exchange(&watch.overflowed, false))
        tv_recorder_notice(TV_RECORDING_OVERFLOWED, 0);
    if (failed != 0)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
}

/* Is this the last thread, but for a main thread that has ended? */
static bool watcher_is_last_thread(void)
{
    struct dirent *entry;
    uint32_t threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && (entry = readdir(tasks)))
        threads += entry->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return tasks && threads <= 2 + atomic_load(&tv_recorder.own_threads);
}

/* True: there is an event, or a signal came in between. */
static bool watcher_wait_briefly(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LAST_THREAD_POLL_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    return sem_timedwait(&watch.event, &until) == 0 || errno == EINTR;
}

/* False: nothing is left to wait for. */
static bool watcher_wait_for_event(void)
{
    bool woken = true;
    if (atomic_load(&watch.main_ended))
        woken = watcher_wait_briefly();
    else
        sem_wait(&watch.event);
    /* The events that arrived meanwhile are handled with this one. */
    while (sem_trywait(&watch.event) == 0)
        continue;
    return woken || !watcher_is_last_thread();
}

static void watcher_finish_all(void)
{
    void (*finish)(void) = atomic_exchange(&watch.finish, NULL);
    tv_recording_stop(NULL);
    if (finish && watch.finish_pid == (int)getpid())
        finish();
}

/* Prefault memory; a recording may begin or end meanwhile. */
static void watcher_prefault(void)
{
    pthread_mutex_lock(&tv_recorder.buffer_lock);
    if (tv_recorder.buffer.head)
        tv_trace_buffer_prefault(&tv_recorder.buffer);
    pthread_mutex_unlock(&tv_recorder.buffer_lock);
}

/* Write the file of a recording that a slow call has ended.  A thread that stops the recording
 * itself may be waiting for the watcher to end, so this must not wait for it. */
static void watcher_stop_after_slow_call(void)
{
    const struct timespec wait = {0, LAST_THREAD_POLL_NS / 10};
    bool (*stop)(void *arg) = tv_recorder.options.stop;
    if (!tv_slow_call_report())
        return;
    if (!stop)
        tv_recording_stop(NULL);
    while (stop && !atomic_load(&watch.quit) && !stop(tv_recorder.options.arg))
        nanosleep(&wait, NULL);
}

/* A process ends with its last thread.  That must not be this one, so it ends too when main has
 * left by pthread_exit and nobody else is there. */
static void *watcher_run(void *unused)
{
    (void)unused;
    tv_recorder_inside = 1;
    atomic_store(&tv_recorder.watcher, (int)syscall(SYS_gettid));
    prctl(PR_SET_NAME, "traceview");
    watcher_prefault();
    while (!atomic_load(&watch.quit) && watcher_wait_for_event()) {
        watcher_prefault();
        watcher_give_notices();
        watcher_stop_after_slow_call();
        if (!atomic_load(&watch.asked))
            continue;
        watcher_finish_all();
        atomic_store(&watch.done, true);
        break;
    }
    return NULL;
}

void tv_watcher_notify_main_ended(void)
{
    atomic_store(&watch.main_ended, true);
    watcher_wake();
}

static int signal_set_action(int number, const struct sigaction *action, struct sigaction *before)
{
    return tv_recorder.host.sigaction ? tv_recorder.host.sigaction(number, action, before)
                                      : sigaction(number, action, before);
}

static void signal_set_default(int signal_number)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};
    signal_set_action(signal_number, &normal, NULL);
}

/* Does its default end the process, and can it be caught? */
static bool signal_is_deadly(int number)
{
    static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU,
                                 SIGCONT, SIGCHLD, SIGURG,  SIGWINCH};
    bool is_other = false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        is_other = is_other || others[i] == number;
    return number > 0 && number < _NSIG && !is_other;
}

/* Have the watcher write the file before a deadly signal ends the process (a signal handler). */
static void watcher_on_signal(int signal_number)
{
    int saved = errno;
    if (tv_recorder.pid == (int)getpid() && atomic_load(&watch.waits)) {
        struct tv_recorder_thread *self = tv_recorder_self;
        /* The interrupted event never continues. */
        if (self)
            tv_recorder_clear_busy(self);
        atomic_store(&watch.asked, true);
        watcher_wake();
        for (int i = 0; i < HANDLER_WAIT_MS && !atomic_load(&watch.done); i++)
            poll(NULL, 0, 1);
    }
    signal_set_default(signal_number);
    raise(signal_number);
    errno = saved;
}

static bool action_is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static const struct sigaction ours = {.sa_handler = watcher_on_signal, .sa_flags = SA_ONSTACK};

void tv_watcher_replace_default(int signal_number, struct sigaction *action)
{
    if (signal_is_deadly(signal_number) && action_is_default(action) &&
        atomic_load(&watch.takes_signals) && !atomic_load(&watch.left[signal_number]) &&
        tv_recorder.pid == (int)getpid())
        *action = ours;
}

void tv_watcher_hide_handler(struct sigaction *action)
{
    if (action->sa_handler == watcher_on_signal)
        *action = (struct sigaction){.sa_handler = SIG_DFL};
}

/* Handle each deadly signal whose action is still the default. A program that has its own action
 * keeps it: the default is the only one that is known to end the process. */
static void watcher_take_signals(void)
{
    struct sigaction before;
    for (int i = 1; i < _NSIG; i++) {
        atomic_store(&watch.left[i], false);
        if (signal_is_deadly(i) && signal_set_action(i, NULL, &before) == 0 &&
            action_is_default(&before))
            signal_set_action(i, &ours, NULL);
    }
    atomic_store(&watch.takes_signals, true);
}

/* Give a signal its default action back - only while the action is still ours: a program may have
 * set its own since. */
static void watcher_restore_signal(int signal_number)
{
    assert(signal_number > 0 && signal_number < _NSIG);
    struct sigaction now;
    if (signal_set_action(signal_number, NULL, &now) == 0 && now.sa_handler == watcher_on_signal)
        signal_set_default(signal_number);
}

static void watcher_restore_signals(void)
{
    if (!atomic_exchange(&watch.takes_signals, false))
        return;
    for (int i = 1; i < _NSIG; i++)
        if (signal_is_deadly(i))
            watcher_restore_signal(i);
}

void tv_watcher_release_signal(int signal_number)
{
    if (!signal_is_deadly(signal_number) || !atomic_load(&watch.takes_signals))
        return;
    atomic_store(&watch.left[signal_number], true);
    watcher_restore_signal(signal_number);
}

int tv_recorder_child_path(const char *path, char *named, size_t size)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    int length = snprintf(named, size, "%.*s.%d%s", (int)stem, path, (int)getpid(), path + stem);
    return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

static void watcher_before_fork(void)
{
    if (!tv_recorder_inside++)
        pthread_mutex_lock(&tv_recorder.lock);
    watch.follows = tv_recorder.started && tv_recorder.options.follow_forks;
}

static void watcher_after_fork_in_parent(void)
{
    if (!--tv_recorder_inside)
        pthread_mutex_unlock(&tv_recorder.lock);
}

/* Reset the recorder in a child, and record it into a file of its own if that is wanted. */
static void watcher_after_fork_in_child(void)
{
    static char path[TV_BUFFER_PATH], spool[TV_BUFFER_PATH];
    struct tv_recording_options options = tv_recorder.options;
    tv_recorder_inside--;
    watcher_restore_signals();
    atomic_store(&watch.waits, false);
    atomic_store(&watch.finish, NULL);
    atomic_store(&watch.stays, false);
    tv_recorder_reset_after_fork();
    if (!watch.follows || tv_recorder_child_path(tv_recorder.texts.path, path, sizeof path) != 0)
        return;
    memcpy(spool, tv_recorder.texts.spool, sizeof spool);
    options.path = path;
    options.spool = spool[0] ? spool : NULL;
    int failed = tv_recording_start(&options);
    if (failed != 0)
        tv_recorder_notice(TV_RECORDING_FAILED, failed);
}

static void watcher_register_fork_handlers(void)
{
    pthread_atfork(watcher_before_fork, watcher_after_fork_in_parent, watcher_after_fork_in_child);
}

/* Start the thread.  `ends`: also handle exits and deadly signals. */
static void watcher_start_thread(bool ends)
{
    sigset_t all, old;
    pthread_once(&fork_once, watcher_register_fork_handlers);
    atomic_store(&watch.quit, false);
    atomic_store(&watch.asked, false);
    atomic_store(&watch.done, false);
    atomic_store(&watch.overflowed, false);
    atomic_store(&watch.failed, 0);
    sem_init(&watch.event, 0, 0);
    atomic_store(&watch.waits, true);
    atomic_store(&tv_recorder.watcher, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = tv_recorder_start_thread(&watch.thread, watcher_run, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failed != 0) {
        /* Without the thread the recording still works, and misses only the end by a signal. */
        atomic_store(&watch.waits, false);
        return;
    }
    /* A sampler must not take this thread for one of the program. */
    while (atomic_load(&tv_recorder.watcher) == 0)
        sched_yield();
    if (ends)
        watcher_take_signals();
}

int tv_watcher_begin(void)
{
    /* One thread serves a sampler and recordings. */
    if (!atomic_load(&watch.waits))
        watcher_start_thread(tv_recorder.options.finish_at_end);
    else if (tv_recorder.options.finish_at_end && !atomic_load(&watch.takes_signals))
        watcher_take_signals(); /* they were restored when a slow call ended the last recording */
    return 0;
}

void tv_watcher_run_at_exit(void (*finish)(void))
{
    tv_recorder_inside++;
    tv_recorder_register_thread();
    tv_recorder.pid = watch.finish_pid = (int)getpid();
    atomic_store(&watch.stays, true);
    atomic_store(&watch.finish, finish);
    if (!atomic_load(&watch.waits))
        watcher_start_thread(true);
    tv_recorder_inside--;
}

static void watcher_join_thread(void)
{
    if (!atomic_load(&watch.waits))
        return;
    watcher_restore_signals();
    /* The watcher itself stops the recording when a signal asks for it. */
    if (pthread_equal(pthread_self(), watch.thread))
        return;
    atomic_store(&watch.quit, true);
    watcher_wake();
    pthread_join(watch.thread, NULL);
    atomic_store(&watch.waits, false);
}

void tv_watcher_end(void)
{
    if (!atomic_load(&watch.stays))
        watcher_join_thread();
    /* Notices that the thread has not come to, or that there is no thread for. */
    watcher_give_notices();
    (void)tv_slow_call_report();
}

/* Called by exit() and the return from main. */
__attribute__((destructor)) static void watcher_at_exit(void)
{
    if (tv_recorder.options.finish_at_end && tv_recorder.pid == (int)getpid()) {
        if (tv_recorder.started)
            tv_recording_stop(NULL);
        /* The thread may still be writing the file, after a slow call or a signal. */
        watcher_join_thread();
    }
    if (!atomic_load(&watch.finish) || watch.finish_pid != (int)getpid())
        return;
    watcher_finish_all();
    watcher_join_thread();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - ends an attached recording when the command that ordered it is gone, also by SIGKILL.
 *
 * The command holds a lock on a file for as long as it lives, and the kernel takes that away from
 * it in any case.  A thread here waits for the same lock: that works between containers, which know
 * each other's processes by other numbers, and needs no looking again and again.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "recorder/agent/agent.h"

/* The recording that is watched; one that has been ended is no longer. */
static atomic_uint watched;

static bool watch_wait_for_lock(int file)
{
    int failed;
    while ((failed = flock(file, LOCK_SH)) != 0 && errno == EINTR)
        continue;
    return failed == 0;
}

/* The thread's argument, which the thread frees. */
struct watch {
    int file;
    unsigned number;
};

static void *watch_wait_for_command(void *context)
{
    struct watch watch = *(struct watch *)context;
    free(context);
    bool is_gone = watch_wait_for_lock(watch.file);
    close(watch.file);
    if (is_gone)
        tv_agent_end_lost(watch.number);
    return NULL;
}

/* Signals are for the program's threads. */
static int watch_start_thread(struct watch *watch)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = tv_recorder_start_thread(&thread, watch_wait_for_command, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

void tv_agent_watch_begin(void)
{
    const char *path = tv_agent.options.watch;
    unsigned number = atomic_fetch_add(&watched, 1) + 1;
    if (path == NULL)
        return;
    struct watch *watch = malloc(sizeof *watch);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int error = watch == NULL ? ENOMEM : file < 0 ? errno : 0;
    if (error == 0) {
        *watch = (struct watch){file, number};
        error = watch_start_thread(watch);
    }
    if (error == 0)
        return;
    tv_agent_say("%s: %s: the recording goes on when its command is killed", path, strerror(error));
    free(watch);
    if (file >= 0)
        close(file);
}

bool tv_agent_watch_is(unsigned number)
{
    return atomic_load(&watched) == number;
}

void tv_agent_watch_end(void)
{
    atomic_fetch_add(&watched, 1);
}

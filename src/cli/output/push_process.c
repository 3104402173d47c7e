/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push_process.c - `traceview push` as a child process, for the page's button
 * Send (push_process.h).
 *
 * The broker starts it, because the viewer's process is confined.  It reads the
 * address and the token from the user's file of options, so that neither ever
 * is in the viewer's process.  Both of its outputs go into one pipe, whose
 * other end the viewer reads without waiting.
 */
#define _GNU_SOURCE /* pipe2, environ */
#include "cli/output/push_process.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* Give the process the usual signals: the broker blocks those of the terminal. */
static bool push_process_set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGHUP);
    sigaddset(&usual, SIGPIPE);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &usual) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) ==
               0;
}

/* Start this program with other arguments; false if that fails. */
static bool push_process_spawn(char *const *words, int output, pid_t *process)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    if (posix_spawnattr_init(&attributes) != 0)
        return false;
    bool done = posix_spawn_file_actions_init(&files) == 0;
    if (done) {
        done =
            push_process_set_signals(&attributes) &&
            posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
            posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO) == 0 &&
            posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO) == 0 &&
            posix_spawn(process, "/proc/self/exe", &files, &attributes, words, environ) == 0;
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return done;
}

/* The process would wait for a pipe, and standard input is not its own. */
static bool push_process_is_regular(const char *path)
{
    struct stat info;
    return strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

/* One push at a time: *process is that of the last one, which is reaped here. */
int tv_push_process_start(const char *const *files, size_t count, pid_t *process)
{
    static const char *const begin[] = {"traceview", "push", "-q", "--"};
    assert(count > 0);
    int ends[2];
    for (size_t i = 0; i < count; i++)
        if (!push_process_is_regular(files[i]))
            return -1;
    if (*process > 0 && waitpid(*process, NULL, WNOHANG) == 0)
        return -1; /* it still runs */
    *process = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    char **words = tv_alloc(TV_COUNT(begin) + count + 1, sizeof *words);
    for (size_t i = 0; i < TV_COUNT(begin) + count; i++)
        words[i] = (char *)(uintptr_t)(i < TV_COUNT(begin) ? begin[i] : files[i - TV_COUNT(begin)]);
    bool started =
        fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && push_process_spawn(words, ends[1], process);
    tv_free(words);
    close(ends[1]);
    if (started)
        return ends[0];
    close(ends[0]);
    *process = 0;
    return -1;
}

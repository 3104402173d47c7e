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
#define _GNU_SOURCE /* pipe2 */
#include "cli/output/push_process.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"

/* Both outputs go into the pipe.  The signals are the usual ones: the broker blocks those of the
 * terminal. */
static int push_process_prepare(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files,
                                int pipe)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGHUP);
    sigaddset(&usual, SIGPIPE);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    if (error == 0)
        error =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, pipe, STDOUT_FILENO);
    return error == 0 ? posix_spawn_file_actions_adddup2(files, pipe, STDERR_FILENO) : error;
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
        fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 &&
        tv_program_start("/proc/self/exe", words, push_process_prepare, ends[1], process) == 0;
    tv_free(words);
    close(ends[1]);
    if (started)
        return ends[0];
    close(ends[0]);
    *process = 0;
    return -1;
}

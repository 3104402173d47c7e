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
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/program.h"

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
    const char **words = tv_alloc(TV_COUNT(begin) + count + 1, sizeof *words);
    for (size_t i = 0; i < TV_COUNT(begin) + count; i++)
        words[i] = i < TV_COUNT(begin) ? begin[i] : files[i - TV_COUNT(begin)];
    const struct tv_program push = {
        .name = TV_PROGRAM_ITSELF,
        .words = words,
        .fds = (const struct tv_program_fd[]){{0, -1}, {1, ends[1]}, {2, ends[1]}},
        .fd_count = 3};
    bool started =
        fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && tv_program_start(&push, process) == 0;
    tv_free(words);
    close(ends[1]);
    if (started)
        return ends[0];
    close(ends[0]);
    *process = 0;
    return -1;
}

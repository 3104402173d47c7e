/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - starts another program as a child process, and waits for its end (program.h).
 */
#define _GNU_SOURCE /* environ */
#include "base/program.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

int tv_program_start(const char *name, char *const *words, tv_program_prepare *prepare, int pipe,
                     pid_t *process)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_init(&files);
    if (error == 0) {
        error = prepare ? prepare(&attributes, &files, pipe) : 0;
        if (error == 0)
            error = posix_spawnp(process, name, &files, &attributes, words, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool tv_program_wait(pid_t process, int *code)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(process, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (code)
        *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return ended >= 0;
}

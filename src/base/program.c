/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - starts another program as a child process, and waits for its end (program.h).
 */
#define _GNU_SOURCE /* environ, posix_spawn_file_actions_addchdir_np */
#include "base/program.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals and process group. */
static int program_set_attributes(const struct tv_program *program, posix_spawnattr_t *attributes)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0 && program->own_group) {
        flags |= POSIX_SPAWN_SETPGROUP;
        error = posix_spawnattr_setpgroup(attributes, 0);
    }
    return error == 0 ? posix_spawnattr_setflags(attributes, flags) : error;
}

/* Descriptors and working directory. */
static int program_set_files(const struct tv_program *program, posix_spawn_file_actions_t *files)
{
    int error = 0;
    for (size_t i = 0; i < program->fd_count && error == 0; i++) {
        const struct tv_program_fd *fd = &program->fds[i];
        assert(fd->place >= 0 && fd->from >= -1);
        if (fd->from >= 0)
            error = posix_spawn_file_actions_adddup2(files, fd->from, fd->place);
        else
            error = posix_spawn_file_actions_addopen(
                files, fd->place, "/dev/null", fd->place == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
    }
    if (error == 0 && program->folder)
        error = posix_spawn_file_actions_addchdir_np(files, program->folder);
    return error;
}

int tv_program_start(const struct tv_program *program, pid_t *process)
{
    assert(program->name && program->words && program->words[0]);
    /* posix_spawn does not write to the words; its prototype is older than const */
    char *const *words = (char *const *)(uintptr_t)program->words;
    char *const *variables = (char *const *)(uintptr_t)program->environment;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_init(&files);
    if (error == 0) {
        error = program_set_attributes(program, &attributes);
        if (error == 0)
            error = program_set_files(program, &files);
        if (error == 0)
            error = posix_spawnp(process, program->name, &files, &attributes, words,
                                 variables ? variables : environ);
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

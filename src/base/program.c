/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - starts another program as a child process (program.h).
 */
#define _GNU_SOURCE /* environ */
#include "base/program.h"

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

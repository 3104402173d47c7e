/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - starts another program as a child process.
 */
#ifndef TV_BASE_PROGRAM_H
#define TV_BASE_PROGRAM_H

#include <spawn.h>
#include <sys/types.h>

/* Set the signals and the group of the new process, and its descriptors; `pipe` is the end of a
 * pipe for them, or -1.  Return 0 or an error number. */
typedef int tv_program_prepare(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files,
                               int pipe);

/* Start a program with our environment.  `name` is its path, or a name without slashes that is
 * searched in PATH.  Without `prepare`, the process has our signals, group and descriptors.  Return
 * 0 or an error number. */
int tv_program_start(const char *name, char *const *words, tv_program_prepare *prepare, int pipe,
                     pid_t *process);

#endif

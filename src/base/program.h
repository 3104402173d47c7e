/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - starts another program as a child process, and waits for its end.
 */
#ifndef TV_BASE_PROGRAM_H
#define TV_BASE_PROGRAM_H

#include <spawn.h>
#include <stdbool.h>
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

/* Wait for the end of a child process, whatever signals come meanwhile.  *code (or NULL) becomes
 * its exit code as in shells: 128 + N after signal N.  Return false, with code 0 and errno, if the
 * system does not tell how it ended, as for a program that was started with SIGCHLD ignored. */
bool tv_program_wait(pid_t process, int *code);

#endif

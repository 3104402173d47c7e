/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - starts another program as a child process, and waits for its end.
 *
 * The only place that calls posix_spawn.  Every child begins with the signals of a program that a
 * shell starts: none blocked, none ignored, whatever this process has set for itself.  Our own
 * descriptors are close-on-exec, so a child has 0, 1, 2 and those that are handed to it.
 */
#ifndef TV_BASE_PROGRAM_H
#define TV_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One descriptor of the child.  Descriptors are set in the order given, so a source must not be
 * the place of an earlier one. */
struct tv_program_fd {
    int place; /* the number in the child */
    int from;  /* ours, which stays open here; -1: /dev/null, to read at place 0, else to write */
};

struct tv_program {
    const char *name;               /* the path, or a name without slashes, searched in PATH */
    const char *const *words;       /* the arguments from its own name on, then NULL */
    const char *const *environment; /* NULL: ours */
    const char *folder;             /* the working directory; NULL: ours */
    const struct tv_program_fd *fds;
    size_t fd_count;
    bool own_group; /* Ctrl-C in our terminal does not reach it, and kill(-pid) ends its children */
};

/* The path of this program, for children that are traceview too. */
#define TV_PROGRAM_ITSELF "/proc/self/exe"

/* Start a program.  Return 0 or an error number. */
int tv_program_start(const struct tv_program *program, pid_t *process);

/* Wait for the end of a child process, whatever signals come meanwhile.  *code (or NULL) becomes
 * its exit code as in shells: 128 + N after signal N.  Return false, with code 0 and errno, if the
 * system does not tell how it ended, as for a program that was started with SIGCHLD ignored. */
bool tv_program_wait(pid_t process, int *code);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused.h - system calls of the engine, the n-th of which fails. refused.c defines functions with
 * their names, which the whole program uses: the server's side in the tests, or a child (child.c).
 */
#ifndef TV_TESTS_REFUSED_H
#define TV_TESTS_REFUSED_H

#include <stdbool.h>

/* One for each function; refused_name says which. */
enum refused_call {
    REFUSED_NONE,
    REFUSED_POLL,
    REFUSED_READ,
    REFUSED_WRITE,
    REFUSED_PIPE,
    REFUSED_SOCKETPAIR,
    REFUSED_MKDIR,
    REFUSED_OPEN,
    REFUSED_DUP,
    REFUSED_SENDMSG,
    REFUSED_RECVMSG,
    REFUSED_WAITPID,
    REFUSED_FSYNC,
    REFUSED_FSTAT,
    REFUSED_PRCTL,
    REFUSED_GETRLIMIT,
    REFUSED_CLOCK,
    REFUSED_THREAD,
    REFUSED_CALLS
};

const char *refused_name(enum refused_call call);

/* Make the `at`-th of these calls from now on, counted from 0, fail with this error number. */
void refused_arm(enum refused_call call, long at, int error);

/* Let all calls succeed again. Return whether one failed since refused_arm. */
bool refused_disarm(void);

#endif

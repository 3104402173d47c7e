/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - a process locks itself in, before it looks at what somebody sent.
 *
 *     limits     memory, processor time, size of a file, open files, processes, no core dumps
 *     Landlock   no file can be opened but in one scratch folder; no network, no signals to others
 *     seccomp    every call of the system that reading does not need ends the process
 *
 * The first is always there, the others where the kernel (and, for seccomp, the build) has them.
 */
#ifndef TV_ENGINE_SANDBOX_H
#define TV_ENGINE_SANDBOX_H

#include "base/error.h"

/* What holds the process. */
enum tv_sandbox_part {
    TV_SANDBOX_LIMITS = 1,
    TV_SANDBOX_SECCOMP = 2,
    TV_SANDBOX_LANDLOCK = 4,
};

struct tv_sandbox_options {
    uint64_t memory_bytes; /* of data: heap, tables and stacks (RLIMIT_DATA) */
    uint64_t file_bytes;   /* the largest file that it may write */
    uint64_t cpu_seconds;  /* the server may raise this one */
    int scratch;           /* the folder, open; it is closed */
};

/*
 * Locks this process in, with all of its threads where it has more than one; *parts tells by what.
 * An error: not even the limits could be set.
 *
 * Memory is limited by RLIMIT_DATA and not by RLIMIT_AS: that would count the file mappings of
 * libraries and the address space which the C library reserves for each thread without using it. In
 * a build with sanitizers it is not limited: their shadow would count.
 */
enum tv_status tv_sandbox_enter(const struct tv_sandbox_options *options, unsigned *parts,
                                struct tv_error *err) TV_MUST_CHECK;

/*
 * Locks the process of a command in, with all of its threads, for good: nothing that is called by
 * its name can be opened, looked at, made or removed, nothing connected to, no process started.
 * Open descriptors stay open; with `serves` clients may come in through sockets that listen.
 * Without limits, for the machine is the user's own.  Landlock holds only the calling thread and
 * those that it starts.  What the kernel has of it (enum tv_sandbox_part); nothing in a build with
 * sanitizers or for coverage, which write files of their own at the end.
 */
unsigned tv_sandbox_confine(bool serves);

/* Return the parts that tv_sandbox_confine would set up on this machine. */
unsigned tv_sandbox_available(void);

/* The list of calls of a command alone, or of one that serves clients: those that are not in it are
 * refused (ENOSYS) instead of being the end of the process.  False: see below. */
bool tv_sandbox_filter_command(bool serves);

/* Does this build have such lists? */
bool tv_sandbox_has_filter(void);

/* The list of calls alone, behind which there is no way back; `files`: opening and removing are
 * let through, for something else holds them.  False where the kernel or the build cannot do it
 * (seccomp.c, seccomp_none.c). */
bool tv_sandbox_filter_calls(bool files);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.h - confines a process before it reads untrusted bytes.
 *
 *     limits     memory, CPU time, file size, open files, processes, no core dumps (setrlimit)
 *     Landlock   files can be opened in one directory only; no network; no signals to others
 *     seccomp    a system call that is not on the list ends the process, or is refused
 *
 * Limits always work; Landlock and seccomp need support of the kernel, and seccomp of the build.
 * sandbox.c says how the layers work together.
 */
#ifndef TV_ENGINE_SANDBOX_H
#define TV_ENGINE_SANDBOX_H

#include "base/error.h"

/* The layers that are in force. */
enum tv_sandbox_part {
    TV_SANDBOX_LIMITS = 1,
    TV_SANDBOX_SECCOMP = 2,
    TV_SANDBOX_LANDLOCK = 4,
};

struct tv_sandbox_options {
    uint64_t memory_bytes; /* of data: heap, tables and stacks (RLIMIT_DATA) */
    uint64_t file_bytes;   /* of the largest file that it may write */
    uint64_t cpu_seconds;  /* soft limit, which the server may raise */
    int scratch;           /* descriptor of the directory; closed here */
};

/*
 * Confine this process, which may have threads already; *parts says by which layers.  An error: not
 * even the limits could be set.
 *
 * Memory is limited by RLIMIT_DATA and not by RLIMIT_AS, which would count file mappings of
 * libraries and the address space that the C library reserves for each thread without using it.
 * Builds with sanitizers have no memory limit, because their shadow memory would count.
 */
enum tv_status tv_sandbox_enter(const struct tv_sandbox_options *options, unsigned *parts,
                                struct tv_error *err) TV_MUST_CHECK;

/* Calls that a command needs beyond those of every command. */
enum tv_sandbox_use {
    TV_SANDBOX_SERVES = 1, /* listening sockets accept clients */
    TV_SANDBOX_FORKS = 2,  /* the process makes copies of itself, which are confined as it is */
};

/*
 * Confine the process of a command for good: no file can be opened, examined, made or removed by
 * name, no connection made and no process started, unless `uses` (enum tv_sandbox_use) says so.
 * Open descriptors stay usable.  There are no limits, since the machine belongs to the user.
 * Landlock confines only the calling thread and threads that it starts later; seccomp confines all.
 * Return the layers in force (enum tv_sandbox_part): 0 in builds with sanitizers or coverage, which
 * write files when they exit.
 */
unsigned tv_sandbox_confine(unsigned uses);

/* Limit the memory (RLIMIT_DATA) of the calling process for good, in the sandbox of
 * TV_SANDBOX_FORKS or outside of any.  Does nothing in builds with sanitizers. */
void tv_sandbox_limit_memory(uint64_t bytes);

/* Return the layers that tv_sandbox_confine would have on this machine. */
unsigned tv_sandbox_available(void);

/* ---- Landlock ---- */

/* Argument of landlock_create_ruleset: the rights that are taken away. */
struct tv_landlock_ruleset {
    uint64_t files, network, scopes;
};

/* Return all rights that this version of the interface (1 or more) can take away. */
struct tv_landlock_ruleset tv_landlock_all_rights(long version);

/* Return the bytes of the struct that this version knows; it refuses more. */
size_t tv_landlock_ruleset_size(long version);

/* ---- seccomp.c; all three return false without libseccomp ---- */

/* Install the list of system calls of a command (enum tv_sandbox_use).  Other calls are refused
 * with ENOSYS, and the process goes on. */
bool tv_sandbox_filter_command(unsigned uses);

/* Return true when this build has such lists. */
bool tv_sandbox_has_filter(void);

/* Install the list of system calls of a child, permanently.  Other calls end the process.  `files`:
 * allow opening and removing files by name, because Landlock already restricts them. */
bool tv_sandbox_filter_calls(bool files);

#endif

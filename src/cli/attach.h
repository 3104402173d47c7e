/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - orders to a running JVM, by HotSpot's attach protocol.
 *
 * A JVM that finds .attach_pidN in /tmp when SIGQUIT comes opens the socket .java_pidN there, which
 * takes one order a connection: a version, a word and three arguments.  /tmp and N are as the JVM
 * sees them: in a container both are others than ours (/proc/N/root, NSpid).  SIGQUIT ends what
 * does not handle it, so it is sent to a process that is known for a JVM, by its pidfd.
 *
 * Nothing is believed of the other side: a socket that belongs to another user is refused, answers
 * are cut and cleaned, and no wait is without end.
 */
#ifndef TV_CLI_ATTACH_H
#define TV_CLI_ATTACH_H

#include <sys/types.h>

#include "base/error.h"

/* An argument of an order, with its NUL, is to be no longer. */
#define TV_ATTACH_ARGUMENT 1024u

#define TV_JVM_PATH 4096u

struct tv_jvm {
    pid_t pid;       /* as we see it */
    pid_t inner_pid; /* as it does */
    int file;        /* a pidfd: readable when it has ended; -1: a kernel without */
    int signals;     /* a signalfd: readable when we are to end; waits end then too */
    uid_t uid;
    gid_t gid;
    bool other_files; /* its root is another, or another user's: what we name it may not reach */
};

/* Is the process a JVM, of any kind? */
bool tv_jvm_is_one(pid_t pid);

/* The process, if it is a JVM that we may attach to; else a sentence that says why not. */
enum tv_status tv_jvm_open(pid_t pid, int signals, struct tv_jvm *jvm,
                           struct tv_error *err) TV_MUST_CHECK;
void tv_jvm_close(struct tv_jvm *jvm);

/* Find a library of that name that is loaded into the JVM, as the JVM sees it, also when its file
 * is gone; false: none. */
bool tv_jvm_find_library(const struct tv_jvm *jvm, const char *name, char path[TV_JVM_PATH]);

/* Sends an order (a word and up to three arguments, NULL: empty) and reads what is answered: *code,
 * 0 for success, and text of `room` bytes at most, in which control characters are blanks. */
enum tv_status tv_jvm_order(const struct tv_jvm *jvm, const char *const words[4], int *code,
                            char *answer, size_t room, struct tv_error *err) TV_MUST_CHECK;

/* What is done until leave has the rights of the JVM's user, for files that it is to own or trust.
 */
void tv_jvm_enter_user(const struct tv_jvm *jvm);
void tv_jvm_leave_user(const struct tv_jvm *jvm);

/* Has it ended? */
bool tv_jvm_has_ended(const struct tv_jvm *jvm);

#endif

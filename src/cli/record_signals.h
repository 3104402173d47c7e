/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_signals.h - signals that end programs, while the command waits for one to end.
 *
 * Keys (Ctrl-C, Ctrl-\) send a signal to the program as well, and it is the kernel that sends it;
 * what another process sends is for the command alone, and passed on.  The command's file is still
 * to be finished in any case.
 *
 *     block - fork - unblock (in the child) | pass_on (in the parent) - wait - restore
 */
#ifndef TV_CLI_RECORD_SIGNALS_H
#define TV_CLI_RECORD_SIGNALS_H

#include <signal.h>
#include <sys/types.h>

#define TV_RECORD_SIGNALS 4u

struct tv_record_signal_state {
    sigset_t mask;
    struct sigaction actions[TV_RECORD_SIGNALS];
};

/* Hold the signals back, so that none comes between a fork and what follows. */
void tv_record_signals_block(struct tv_record_signal_state *before);

/* Let them come as before. */
void tv_record_signals_unblock(const struct tv_record_signal_state *before);

/* Pass them on to the child from now on. */
void tv_record_signals_pass_on(struct tv_record_signal_state *before, pid_t child);

/* Restore what they did before: the viewer, which the command may become, is ended by them. */
void tv_record_signals_restore(const struct tv_record_signal_state *before);

/* Block the signals that end the recording of a running process, and return a signalfd of them, to
 * be closed; -1: the system has no more files.  SIGHUP stays ignored where it is (nohup). */
int tv_record_signals_watch(sigset_t *blocked);

#endif

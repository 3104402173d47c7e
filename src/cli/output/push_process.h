/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push_process.h - `traceview push` as a process of its own, for "Send to server" in the viewer's
 * page.
 *
 * The viewer reads traces of strangers, so it must not know the token of the user's upload server.
 * Only the new process reads the user's file of options for `push`; the viewer reads its messages.
 */
#ifndef TV_CLI_OUTPUT_PUSH_PROCESS_H
#define TV_CLI_OUTPUT_PUSH_PROCESS_H

#include <sys/types.h>

#include "base/types.h"

/* Start `traceview push` with these files, which must be regular. Return a descriptor from which
 * its output and errors can be read, without blocking, until it ends; or -1. *process is that of
 * the last call, or 0: one that has ended is waited for. */
int tv_push_process_start(const char *const *files, size_t count, pid_t *process);

#endif

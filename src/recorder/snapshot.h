/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - what is in the ring of a recording that goes on.
 *
 * The program's threads wait at their next call while the buffer is copied, some milliseconds; the
 * copy is written while they go on.
 *
 * Another process asks for it over a socket in the abstract name space, which goes with the process
 * whatever ends it: it sends one byte with a descriptor of the file, and gets one line.  The
 * recorder answers to its own user and to root.
 */
#ifndef TV_RECORDER_SNAPSHOT_H
#define TV_RECORDER_SNAPSHOT_H

#include <stdint.h>

/* The socket's name behind the zero that begins it: with the number that the process has for
 * itself. */
#define TV_SNAPSHOT_NAME "traceview-record-%d"
#define TV_SNAPSHOT_REQUEST 'S'
#define TV_SNAPSHOT_ANSWER 256u /* "+RECORDS\n" or "-WHY\n" */

/* Writes a file, an empty one.  -ENOENT: there is no recording with a ring; else what the system
 * says. */
int tv_recorder_snapshot(int file, uint64_t *records);

/* Begin to listen for requests, with a thread; a recording without it goes on. */
void tv_snapshot_listen(void);
/* No request is under way afterwards. */
void tv_snapshot_stop_listening(void);
/* In a forked child: the socket is the parent's. */
void tv_snapshot_reset_after_fork(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - everything that commands print to standard error: messages, losses and progress.
 */
#ifndef TV_CLI_OUTPUT_MESSAGE_H
#define TV_CLI_OUTPUT_MESSAGE_H

#include "base/out.h"
#include "base/progress.h"
#include "base/types.h"

/* Print one line to standard error, and add the line end.  The text may contain names from files,
 * archives and servers: control characters and bytes that are not UTF-8 become '?', so that a name
 * can neither control the terminal nor forge a second line. */
void tv_message(const char *format, ...) TV_PRINTF(1, 2);

/* Keep what this thread has to tell in `out`, a memory buffer, instead of printing it; NULL: print
 * again.  Threads that work side by side do so, so that messages come in the order of the work. */
void tv_message_collect(struct tv_out *out);

/* Print what was kept, and empty the buffer. */
void tv_message_print(struct tv_out *kept);

/* Print each line as "NAME: loss: LINE" (writers/trace/excerpt.h); `name` is the input. */
void tv_losses_print(const char *name, struct tv_bytes lines);

/* A progress line on a terminal, for work that takes longer than a second. */
struct tv_meter;

/* Start a thread that draws the counters on standard error: bytes read of total_bytes or, when that
 * is 0, bytes written.  Return NULL, which tv_meter_stop accepts, when `quiet`, when standard error
 * is not a terminal, or while another meter draws. */
struct tv_meter *tv_meter_start(struct tv_progress *progress, bool quiet);

/* Stop the thread and erase the line. */
void tv_meter_stop(struct tv_meter *meter);

#endif

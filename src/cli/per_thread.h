/* SPDX-License-Identifier: Apache-2.0 */
/*
 * per_thread.h - --split-threads: a file for each thread, with a name that is safe whatever the
 * thread is called.
 */
#ifndef TV_CLI_PER_THREAD_H
#define TV_CLI_PER_THREAD_H

#include "analysis/calltree/call_tree.h"
#include "cli/options.h"

struct tv_out;

/* Writes what one thread's file holds.  The tree's node 1 is the thread, an index in its head, and
 * all others are on that. */
typedef void tv_per_thread_write(struct tv_out *out, const struct tv_call_tree *tree,
                                 uint32_t thread, void *context);

/* Writes PREFIX.ID-NAME.ENDING for each thread of a tree with split threads and prints the names to
 * standard output. PREFIX is --output, or the input's name without its folder and ".trace". */
enum tv_status tv_per_thread(const struct tv_settings *settings, const struct tv_call_tree *tree,
                             const char *ending, tv_per_thread_write *write_thread, void *context,
                             struct tv_error *err) TV_MUST_CHECK;

/* Is it a name that tv_per_thread may give a file, whatever the trace calls its threads? */
bool tv_per_thread_is_name(const struct tv_settings *settings, const char *path);

#endif

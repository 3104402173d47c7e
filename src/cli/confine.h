/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - a command locks itself in before it reads the first byte of a trace.
 *
 *     run_with           options are parsed, the output is checked
 *       tv_confine       forks the broker (broker.h), which keeps the user's rights; begins the
 *                        file for memory (--max-memory); locks the process in: no file can be
 *                        opened by its name any more, no process started, no connection made
 *                        (engine/sandbox.h), for good; starts the thread of that file
 *       command->run     opens its files through the broker
 *       tv_confine_end
 *
 * The viewer calls tv_confine itself, between listening and the first answer.
 *
 * The process stays the one that the shell knows: its exit code, signals, memory and standard
 * streams are its own.  Where the kernel has neither Landlock nor seccomp the broker opens the
 * files all the same, and nothing holds the process; `traceview --version` says so.
 */
#ifndef TV_CLI_CONFINE_H
#define TV_CLI_CONFINE_H

#include <sys/types.h>

#include "cli/input/index_cache.h"
#include "cli/output/atomic_file.h"

struct tv_settings;

struct tv_confine_options {
    const struct tv_settings *settings;
    /* The viewer's page, which the broker opens in the user's browser when it is asked to.  The
     * process then also answers clients of sockets that listen already.  NULL: no viewer. */
    const char *address;
};

/* Lock the process in, where the kernel can.  Called before there are other threads; the options
 * live until tv_confine_end.  Where no broker can be started the command opens its files itself,
 * and is not locked in.  An error: the bound on memory cannot be kept. */
enum tv_status tv_confine(const struct tv_confine_options *options,
                          struct tv_error *err) TV_MUST_CHECK;
/* Let the broker end, and wait for that. */
void tv_confine_end(void);

/* Is there a broker?  If so it does what the functions below are named after, in place of those
 * of their modules, which call them. */
bool tv_is_confined(void);

/* See tv_index_cache_make_key. */
bool tv_confined_make_key(struct tv_index_cache *cached);

/* See tv_cache_open, tv_cache_begin and tv_cache_end. */
int tv_confined_cache_open(struct tv_bytes key);
/* See above. */
bool tv_confined_cache_begin(struct tv_bytes key, struct tv_cache_file *file);
/* See above. */
void tv_confined_cache_end(struct tv_cache_file *file, bool whole);

/* See tv_atomic_file_open, tv_atomic_file_commit and tv_atomic_file_discard. */
enum tv_status tv_confined_file_open(struct tv_atomic_file *file, const char *path,
                                     struct tv_error *err);
/* See above. */
enum tv_status tv_confined_file_commit(struct tv_atomic_file *file, struct tv_error *err);
/* See above. */
void tv_confined_file_discard(struct tv_atomic_file *file);

/* See tv_browser_open; the broker removes the file at its end. */
bool tv_confined_browser_open(void);

/* A descriptor to write to, or -1. */
int tv_confined_pager_start(void);
/* Wait until the user has left the pager; the descriptor must be closed. */
void tv_confined_pager_finish(void);

#endif

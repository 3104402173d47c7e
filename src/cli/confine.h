/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - the sandbox of a command, entered before the first byte of a trace is read.
 *
 *     command_run_confined   options are parsed, the output is checked
 *       tv_confine           1. forks the broker (broker.h), which keeps the user's rights
 *                            2. creates the file for memory (--max-memory)
 *                            3. enters the sandbox for good (engine/sandbox.h): no file can be
 *                               opened by name, no program started, no connection made
 *                            4. starts the thread that serves the file for memory
 *       command->run         opens its files through the broker
 *       tv_confine_end       lets the broker end, and waits for it
 *
 * The viewer calls tv_confine itself, after it listens and before the first answer.
 *
 * The sandboxed process remains the one that the shell started: its exit code, signals, memory
 * limits and standard streams are its own. On a kernel without Landlock and seccomp the broker
 * opens the files all the same, but nothing restricts the process; `traceview --version` says so.
 */
#ifndef TV_CLI_CONFINE_H
#define TV_CLI_CONFINE_H

#include <sys/types.h>

#include "cli/input/index_cache.h"
#include "cli/output/atomic_file.h"

struct tv_settings;

struct tv_confine_options {
    const struct tv_settings *settings;
    /* Address of the viewer's page, which the broker opens in the user's browser on request. The
     * process may then also answer clients of sockets that listen already. NULL: not the viewer. */
    const char *address;
    bool forks;       /* the process makes copies of itself (viewer/sql_process.c) */
    bool opens_files; /* no broker and no sandbox: the user lets the command open any file */
};

/* Enter the sandbox, as far as the kernel supports it. Call this before there are other threads;
 * the options must live until tv_confine_end. If the broker cannot be started, the command opens
 * its files itself, without a sandbox. An error means that the memory limit cannot be kept. */
enum tv_status tv_confine(const struct tv_confine_options *options,
                          struct tv_error *err) TV_MUST_CHECK;
/* End the broker and wait for it. */
void tv_confine_end(void);

/* Is there a broker? If so, the functions that are named below call their tv_confined_
 * counterparts, and the broker does the work. */
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

/* See tv_browser_open; the broker removes the file when it ends. */
bool tv_confined_browser_open(void);

/* See tv_recent_files_remember. */
void tv_confined_remember(const char *path);

/* See tv_push_process_start. */
int tv_confined_push_start(const char *const *files, size_t count);

/* Start the pager; return a descriptor to write to, or -1. */
int tv_confined_pager_start(void);
/* Wait until the user leaves the pager; close the descriptor before. */
void tv_confined_pager_finish(void);

#endif

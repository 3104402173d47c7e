/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - the result of a command: to standard output, a file, a pager, or a file for each
 * thread.
 */
#ifndef TV_CLI_OUTPUT_OUTPUT_H
#define TV_CLI_OUTPUT_OUTPUT_H

#include <sys/types.h>

#include "analysis/calltree/call_tree.h"
#include "base/out.h"
#include "cli/options.h"
#include "cli/output/atomic_file.h"
#include "cli/output/message.h"
#include "writers/text/layout.h"

/* Text on a terminal.  It is held in memory until it is longer than the screen; then a pager is
 * started and gets all of it. */
struct tv_output_screen {
    struct tv_layout layout;
    struct tv_out held;
    uint32_t rows;           /* height of the screen; 0: never start a pager */
    uint32_t lines, columns; /* screen lines used so far, and columns of the last one */
    bool in_colour;          /* the text so far ends inside a colour sequence */
    pid_t pager;             /* 0: none */
};

struct tv_output {
    struct tv_out out;
    int descriptor;
    const char *path;           /* NULL: standard output */
    struct tv_atomic_file file; /* at that path */
    struct tv_progress progress;
    struct tv_meter *meter; /* shows how much has been written, or NULL */
    bool waits;             /* the meter shows work before the first write, and ends there */
    bool split_control;     /* the last write ended in the middle of a control character */
    struct tv_output_screen screen;
};

/* Open an output; `path` NULL or "-" is standard output.  On a terminal control characters but TAB
 * and ends of lines become blanks.  Unless `quiet`, and unless the output
 * itself goes to a terminal, a terminal at standard error shows the progress of writes that take
 * more than a second. */
enum tv_status tv_output_open(struct tv_output *output, const char *path, bool quiet,
                              struct tv_error *err) TV_MUST_CHECK;

/* Let a meter run until the first write to a terminal; take the meter over.  An output elsewhere
 * has its own meter. */
void tv_output_wait(struct tv_output *output, struct tv_meter *meter);

/* Open the output of --output.  With `text` the output is laid out for the terminal that it goes
 * to, and paged there. */
enum tv_status tv_output_open_text(struct tv_output *output, const struct tv_settings *settings,
                                   bool text, struct tv_error *err) TV_MUST_CHECK;

/* Return how many rows of a table to write: --limit; without it 40 on a terminal.  0: all. */
uint64_t tv_output_limit(const struct tv_output *output, const struct tv_settings *settings);

/* TV_ERR_USAGE when `path` is also an input that the settings name (a trace, the mapping or a
 * program with symbols, also through links): writing would destroy it before it is read. commands.c
 * checks
 * --output for every command. */
enum tv_status tv_output_check(const char *path, const struct tv_settings *settings,
                               struct tv_error *err) TV_MUST_CHECK;

/* Open an output for binary data, and refuse to send it to a terminal. */
enum tv_status tv_output_open_binary(struct tv_output *output, const char *path, bool quiet,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Write what is left and close the output.  `work` is the result of the work so far, whose error
 * `err` holds.  A file gets its name only when the work and all writes succeeded; otherwise an
 * older file stays as it was.  Return the first error. */
enum tv_status tv_output_finish(struct tv_output *output, enum tv_status work,
                                struct tv_error *err) TV_MUST_CHECK;

/* Finish an output whose writer cannot fail. */
enum tv_status tv_output_close(struct tv_output *output, struct tv_error *err) TV_MUST_CHECK;

/* ---- The pager, as git has it ---- */

/* Start the user's pager: TRACEVIEW_PAGER, PAGER, or less (with the options FRX unless LESS sets
 * others). *descriptor is where to write.  False: there is none, or an empty value or "cat"
 * switched it off. From here on Ctrl-C belongs to the pager, and writing to a pager that was left
 * fails with EPIPE. */
bool tv_pager_start(int *descriptor, pid_t *process);

/* Close the descriptor and wait until the user leaves the pager. */
void tv_pager_finish(int descriptor, pid_t process);

/* ---- --split-threads: a file for each thread ---- */

/* Write the file of one thread.  Node 1 of the tree is the thread, an index in its head; all other
 * nodes are below it. */
typedef void tv_per_thread_write(struct tv_out *out, const struct tv_call_tree *tree,
                                 uint32_t thread, void *context);

/* Write PREFIX.ID-NAME.ENDING for each thread of a tree that is split by thread, and print the
 * names to standard output.  PREFIX is --output, or the name of the input without its directory and
 * ".trace". */
enum tv_status tv_per_thread(const struct tv_settings *settings, const struct tv_call_tree *tree,
                             const char *ending, tv_per_thread_write *write_thread, void *context,
                             struct tv_error *err) TV_MUST_CHECK;

/* Could tv_per_thread give a file this name, whatever the trace calls its threads? */
bool tv_per_thread_is_name(const struct tv_settings *settings, const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - where a command's result goes: standard output or a file.
 */
#ifndef TV_CLI_OUTPUT_H
#define TV_CLI_OUTPUT_H

#include <sys/types.h>

#include "base/out.h"
#include "cli/atomic_file.h"
#include "cli/meter.h"
#include "cli/options.h"
#include "cli/terminal.h"

/* Text for people on a terminal.  It is held back until it is longer than the screen: then a pager
 * gets it (pager.h). */
struct tv_output_screen {
    struct tv_layout layout;
    struct tv_out held;
    uint32_t rows;           /* of the screen; 0: no pager will start */
    uint32_t lines, columns; /* of the screen that the text has taken so far */
    bool in_colour;          /* the text so far ends within a colour sequence */
    pid_t pager;             /* 0: none */
};

struct tv_output {
    struct tv_out out;
    int descriptor;
    const char *path;           /* NULL: standard output */
    struct tv_atomic_file file; /* at that path */
    struct tv_progress progress;
    struct tv_meter *meter; /* shows how much has been written, or NULL */
    struct tv_output_screen screen;
};

/* `path` NULL or "-": standard output.  Unless `quiet`, or the output itself goes to a terminal, a
 * terminal at standard error shows how much has been written once that takes more than a second. */
enum tv_status tv_output_open(struct tv_output *output, const char *path, bool quiet,
                              struct tv_error *err) TV_MUST_CHECK;

/* For the settings' --output.  Text for people (`text`) is laid out for the terminal that it goes
 * to, and paged there. */
enum tv_status tv_output_open_text(struct tv_output *output, const struct tv_settings *settings,
                                   bool text, struct tv_error *err) TV_MUST_CHECK;

/* How many rows of a table to write, 0: all.  That is --limit; without it, on a screen, as many as
 * a person reads. */
uint64_t tv_output_limit(const struct tv_output *output, const struct tv_settings *settings);

/* TV_ERR_USAGE: the output at `path` is a file that the settings name as an input, be it a trace,
 * the mapping or a program with symbols, also through links: it would be gone before it is read.
 * `path` NULL or "-": never.  Of --output commands need not ask: commands.c does for all. */
enum tv_status tv_output_check(const char *path, const struct tv_settings *settings,
                               struct tv_error *err) TV_MUST_CHECK;

/* As tv_output_open, but refuses to send bytes that are no text to a terminal. */
enum tv_status tv_output_open_binary(struct tv_output *output, const char *path, bool quiet,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Write what is left and close the output of work that ended with `work`, whose error `err` holds.
 * A file gets its name only when the work and all writing went well; otherwise an older one stays
 * as it was.  Returns the first error that happened. */
enum tv_status tv_output_finish(struct tv_output *output, enum tv_status work,
                                struct tv_error *err) TV_MUST_CHECK;

/* Finish an output whose writer cannot fail. */
enum tv_status tv_output_close(struct tv_output *output, struct tv_error *err) TV_MUST_CHECK;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - where a command's result goes: standard output or a file.
 */
#ifndef TV_CLI_OUTPUT_H
#define TV_CLI_OUTPUT_H

#include "base/out.h"
#include "cli/meter.h"
#include "cli/options.h"

struct tv_output {
    struct tv_out out;
    int descriptor;
    const char *path; /* NULL: standard output */
    struct tv_progress progress;
    struct tv_meter *meter; /* shows how much has been written, or NULL */
};

/* `path` NULL or "-": standard output.  Unless `quiet`, or the output itself goes to a terminal, a
 * terminal at standard error shows how much has been written once that takes more than a second. */
enum tv_status tv_output_open(struct tv_output *output, const char *path, bool quiet,
                              struct tv_error *err) TV_MUST_CHECK;

/* TV_ERR_USAGE: the output at `path` is a file that the settings name as an input, be it a trace,
 * the mapping or a program with symbols, also through links: it would be gone before it is read.
 * `path` NULL or "-": never.  Of --output commands need not ask: commands.c does for all. */
enum tv_status tv_output_check(const char *path, const struct tv_settings *settings,
                               struct tv_error *err) TV_MUST_CHECK;

/* As tv_output_open, but refuses to send bytes that are no text to a terminal. */
enum tv_status tv_output_open_binary(struct tv_output *output, const char *path, bool quiet,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Writes what is left and closes. The first error that happened. */
enum tv_status tv_output_close(struct tv_output *output, struct tv_error *err) TV_MUST_CHECK;

#endif

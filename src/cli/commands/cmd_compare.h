/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.h - `diff` for groups of runs: what changed, how sure that is, and rules for CI. */
#ifndef TV_CLI_COMMANDS_CMD_COMPARE_H
#define TV_CLI_COMMANDS_CMD_COMPARE_H

#include "analysis/compare/run_table.h"
#include "cli/command.h"

/* Did the command line name groups (--base, --new)? */
bool tv_compare_has_groups(const struct tv_settings *settings);

/* Replace folders and patterns among the groups by the files in them; also those of
 * --baseline-dir. */
enum tv_status tv_compare_prepare(struct tv_settings *settings, struct tv_error *err);

/* Compare the groups; return the exit code. */
int tv_compare_run(const struct tv_command *command, const struct tv_settings *settings);

/* Fill a table of rows by method, and match it. */
typedef enum tv_status tv_compare_fill(void *context, struct tv_run_table *rows,
                                       struct tv_error *err);

/* Compare runs that `fill` has from elsewhere than from files; return the exit code.  Reports with
 * a flame graph cannot be written. */
int tv_compare_run_rows(const struct tv_command *command, const struct tv_settings *settings,
                        tv_compare_fill *fill, void *context);

/* Open the viewer on the groups (--open).  Return the exit code. */
int tv_compare_open(const struct tv_command *command, const struct tv_settings *settings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.h - `diff` for groups of runs: what changed, how sure that is, and rules for CI. */
#ifndef TV_CLI_COMMANDS_CMD_COMPARE_H
#define TV_CLI_COMMANDS_CMD_COMPARE_H

#include "cli/command.h"

/* Did the command line name groups (--base, --new)? */
bool tv_compare_has_groups(const struct tv_settings *settings);

/* Replace folders and patterns among the groups by the files in them; also those of
 * --baseline-dir. */
enum tv_status tv_compare_prepare(struct tv_settings *settings, struct tv_error *err);

/* Compare the groups; return the exit code. */
int tv_compare_run(const struct tv_command *command, const struct tv_settings *settings);

/* Open the viewer on the groups (--open).  Return the exit code. */
int tv_compare_open(const struct tv_command *command, const struct tv_settings *settings);

#endif

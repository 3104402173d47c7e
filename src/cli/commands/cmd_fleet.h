/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fleet.h - what the files of the command `fleet` share. */
#ifndef TV_CLI_COMMANDS_CMD_FLEET_H
#define TV_CLI_COMMANDS_CMD_FLEET_H

#include "cli/command.h"
#include "sql/sql.h"

/* Open a database over the folder of the fleet. */
enum tv_status tv_fleet_open(const struct tv_settings *settings, struct tv_sql **sql,
                             struct tv_error *err) TV_MUST_CHECK;

/* Write the answer of a query in the format, and to the output, of the settings. */
enum tv_status tv_fleet_write_answer(const struct tv_settings *settings, struct tv_sql *sql,
                                     const char *query, struct tv_error *err) TV_MUST_CHECK;

/* Return the word of --figure. */
const char *tv_fleet_figure(const struct tv_settings *settings);

/* ---- Actions: they set the exit code, TV_EXIT_OK at first (cmd_fleet_compare.c,
 * cmd_fleet_changes.c) ---- */

typedef enum tv_status tv_fleet_action(const struct tv_command *command,
                                       const struct tv_settings *settings, int *code,
                                       struct tv_error *err);

tv_fleet_action tv_fleet_regressions;
tv_fleet_action tv_fleet_changes;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_fleet.h - what the files of the command `fleet` share. */
#ifndef TV_CLI_COMMANDS_CMD_FLEET_H
#define TV_CLI_COMMANDS_CMD_FLEET_H

#include "base/map.h"
#include "cli/command.h"
#include "fleet/fleet.h"
#include "sql/sql.h"

/* ---- The folder (cmd_fleet_folder.c) ---- */

/* Check the number of the schema in fleet.json, or make the folder a fleet. */
enum tv_status tv_fleet_init(const char *to, struct tv_error *err) TV_MUST_CHECK;

/* Add the numbers of the traces in the folder. */
void tv_fleet_read_known(const char *to, struct tv_map *known);

/* Write a table of a batch. */
typedef enum tv_status tv_fleet_put_table(void *context, enum tv_fleet_table table,
                                          struct tv_out *out, struct tv_error *err);

/* Write the files of a batch, that of the traces last, and the numbers of its traces. */
enum tv_status tv_fleet_write_files(const char *to, uint64_t batch, const struct tv_out *ids,
                                    tv_fleet_put_table *put, void *context,
                                    struct tv_error *err) TV_MUST_CHECK;

/* ---- Answers ---- */

/* Open a database over the folder of the fleet; `views`: tv_fleet_views, or NULL for none. */
enum tv_status tv_fleet_open(const struct tv_settings *settings, const char *const *views,
                             struct tv_sql **sql, struct tv_error *err) TV_MUST_CHECK;

/* Write the answer of a query in the format, and to the output, of the settings. */
enum tv_status tv_fleet_write_answer(const struct tv_settings *settings, struct tv_sql *sql,
                                     const char *query, struct tv_error *err) TV_MUST_CHECK;

/* Return the word of --figure. */
const char *tv_fleet_figure(const struct tv_settings *settings);

/* ---- Actions: they set the exit code, TV_EXIT_OK at first (cmd_fleet_compare.c,
 * cmd_fleet_changes.c, cmd_fleet_folder.c) ---- */

typedef enum tv_status tv_fleet_action(const struct tv_command *command,
                                       const struct tv_settings *settings, int *code,
                                       struct tv_error *err);

tv_fleet_action tv_fleet_regressions;
tv_fleet_action tv_fleet_changes;
tv_fleet_action tv_fleet_compact;
tv_fleet_action tv_fleet_check;

#endif

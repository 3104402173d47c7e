/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.h - the viewer, as other commands open it. */
#ifndef TV_CLI_COMMANDS_CMD_VIEW_H
#define TV_CLI_COMMANDS_CMD_VIEW_H

#include "cli/command.h"

/* Serve the viewer with the trace of the first `begin_count` files.  `place` is added to the
 * page's address after "#"; NULL: nothing.  Enter the sandbox; call it before there are threads.
 * Return the exit code. */
int tv_command_run_viewer(const struct tv_command *command, const struct tv_settings *settings,
                          size_t begin_count, const char *place);

#endif

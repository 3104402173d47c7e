/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - options from a file instead of the command line.
 *
 *     # what the team's server does
 *     store = /var/lib/traceview
 *     keep = 30d
 *     public-read
 */
#ifndef TV_CLI_CONFIG_H
#define TV_CLI_CONFIG_H

#include "cli/options.h"

/* Sets what the file at `path` says, but for what was given already: the command line is stronger.
 * "name = value" a line, "name" alone for what takes no value; lines that begin with '#' are
 * remarks.  *text is the file's, which the settings use: to be freed after them, also after an
 * error.  TV_ERR_USAGE names the line. */
enum tv_status tv_config_read(const struct tv_option *table, const char *path,
                              struct tv_settings *settings, char **text,
                              struct tv_error *err) TV_MUST_CHECK;

#endif

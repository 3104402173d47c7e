/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.h - what the tab key offers, for the shells' scripts in data.
 */
#ifndef TV_CLI_COMPLETE_H
#define TV_CLI_COMPLETE_H

#include "cli/command.h"

/* The argument before the words: an interface for those scripts, not for people. */
#define TV_COMPLETE_COMMAND "--complete"

/* Print what may stand in the place of the last of the words. The exit code. */
int tv_complete(int argc, char **argv);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent_files.h - the files that the user opened in the viewer last, for the page of a viewer that
 * is started without a file.
 *
 * The list is a text file, $XDG_STATE_HOME/traceview/recent, else ~/.local/state/traceview/recent:
 * absolute paths, one on a line, the latest first, readable by the user alone.  Several programs
 * may change it at once; one of the changes may be lost then.  Nothing here is an error: a list
 * that cannot be read or written is empty.
 */
#ifndef TV_CLI_INPUT_RECENT_FILES_H
#define TV_CLI_INPUT_RECENT_FILES_H

#include "cli/options.h"

/* Maximum number of files in the list. */
#define TV_RECENT_FILES 16u

/* Put a regular file at the head of the list.  Anything else (a pipe, a name with a line break) is
 * not remembered.  In the sandbox, the broker does it, for files of the command line only. */
void tv_recent_files_remember(const char *path);

/* Append those files of the list that still exist to `words`; the settings own the texts. */
void tv_recent_files_find(struct tv_settings *settings, struct tv_words *words);

#endif

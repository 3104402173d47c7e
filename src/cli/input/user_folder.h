/* SPDX-License-Identifier: Apache-2.0 */
/* user_folder.h - the folders in which the program keeps files of its user. */
#ifndef TV_CLI_INPUT_USER_FOLDER_H
#define TV_CLI_INPUT_USER_FOLDER_H

#include "base/types.h"

enum tv_user_folder {
    TV_USER_CACHE,  /* $XDG_CACHE_HOME, else ~/.cache */
    TV_USER_CONFIG, /* $XDG_CONFIG_HOME, else ~/.config */
    TV_USER_STATE,  /* $XDG_STATE_HOME, else ~/.local/state */
};

/* Write the path of the folder "traceview" in that folder of the user (XDG Base Directory
 * Specification).  False: the user has no such folder, or the path does not fit. */
bool tv_user_folder_find(enum tv_user_folder folder, char *path, size_t size);

/* Open that folder, with `make` also if it must be made; the user's home must exist.  Return -1 if
 * there is none that only the user can write to. */
int tv_user_folder_open(enum tv_user_folder folder, bool make);

#endif

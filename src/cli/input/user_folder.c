/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_folder.c - the user's folders for caches, options and state
 * (user_folder.h).
 *
 *     $XDG_CACHE_HOME/traceview     or  $HOME/.cache/traceview
 *     $XDG_CONFIG_HOME/traceview    or  $HOME/.config/traceview
 *     $XDG_STATE_HOME/traceview     or  $HOME/.local/state/traceview
 *
 * Relative paths in the variables are ignored, as the XDG Base Directory
 * Specification demands.  A folder that belongs to somebody else, or that
 * others may write, is not used: whoever can write there could make us read his
 * options or an index of his.
 */
#include "cli/input/user_folder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Write the path. Return the length of the part that must exist; 0: there is no such folder. */
static size_t user_folder_write(enum tv_user_folder folder, char *path, size_t size)
{
    static const struct {
        const char *variable, *usual;
    } places[] = {
        [TV_USER_CACHE] = {"XDG_CACHE_HOME", ".cache"},
        [TV_USER_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
        [TV_USER_STATE] = {"XDG_STATE_HOME", ".local/state"},
    };
    const char *given = getenv(places[folder].variable), *home = getenv("HOME");
    int length = -1;
    size_t there = 0;
    if (given && given[0] == '/') {
        length = snprintf(path, size, "%s/traceview", given);
        there = strlen(given) - 1; /* the folder itself may be made */
    } else if (home && home[0] == '/') {
        length = snprintf(path, size, "%s/%s/traceview", home, places[folder].usual);
        there = strlen(home);
    }
    return length > 0 && (size_t)length < size ? there + (there == 0) : 0;
}

bool tv_user_folder_find(enum tv_user_folder folder, char *path, size_t size)
{
    return user_folder_write(folder, path, size) > 0;
}

/* Folders above it are made as well, but never $HOME itself: without it, there
 * is no user to have folders. */
int tv_user_folder_open(enum tv_user_folder folder, bool make)
{
    char path[PATH_MAX];
    struct stat info;
    size_t there = user_folder_write(folder, path, sizeof path);
    if (there == 0)
        return -1;
    for (char *slash = make ? strchr(path + there + 1, '/') : NULL; slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    if (make)
        (void)mkdir(path, 0700);
    int opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0 && fstat(opened, &info) == 0 && info.st_uid == geteuid() &&
        (info.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return opened;
    if (opened >= 0)
        close(opened);
    return -1;
}

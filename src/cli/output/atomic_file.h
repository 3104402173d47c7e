/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_file.h - writes a file so that its name leads to the older content or to the whole new
 * one, never to a part, also when the disk is full, the program is killed or the machine stops.
 *
 * A regular file is written beside the one that it replaces, synced and renamed.  The new file has
 * no name until it is complete (O_TMPFILE), so that a killed program leaves nothing; file systems
 * that lack this get a hidden file, which SIGINT, SIGTERM, SIGHUP and SIGQUIT remove.  Symbolic
 * links are followed.  Written in place, because they cannot be replaced: devices, pipes, the
 * descriptors of /proc and /dev/fd, and files in a directory whose permissions allow no new file.
 */
#ifndef TV_CLI_ATOMIC_FILE_H
#define TV_CLI_ATOMIC_FILE_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/types.h"

struct tv_atomic_file {
    int descriptor; /* where the new content goes */
    bool in_place;  /* it goes to the file itself */
    bool replaces;  /* `older` describes a file that is there */
    struct stat older;
    char path[PATH_MAX];      /* links followed */
    char temporary[PATH_MAX]; /* "": the new file has no name yet */
};

/* The error of `open` when `path` cannot be written.  Does not touch what is there, unless it is
 * written in place. */
enum tv_status tv_atomic_file_open(struct tv_atomic_file *file, const char *path,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Open the same way, but never write in place: the older file is still being read. */
enum tv_status tv_atomic_file_open_to_replace(struct tv_atomic_file *file, const char *path,
                                              struct tv_error *err) TV_MUST_CHECK;

/* A stream that writes to the new content; it has to be closed before the file. NULL: errno says
 * why. */
FILE *tv_atomic_file_stream(const struct tv_atomic_file *file);

/* Give the new content the name, with the permissions and, where the system allows it, the owner
 * of the file that it replaces.  Closes the file, also after an error: then the older file is
 * unchanged. */
enum tv_status tv_atomic_file_commit(struct tv_atomic_file *file,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Close the file and drop the new content.  What was written in place stays. */
void tv_atomic_file_discard(struct tv_atomic_file *file);

#endif

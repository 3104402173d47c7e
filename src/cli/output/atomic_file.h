/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic_file.h - write a file so that its name always leads to the complete old or the complete
 * new contents, even if the disk is full, the program is killed or the machine stops.
 *
 *     open     O_TMPFILE beside the old file (or a hidden file)     name -> old contents
 *     write    through `descriptor`                                 name -> old contents
 *     commit   fsync, link under a temporary name, rename           name -> new contents
 *
 * The new file has no name until it is complete, so a killed program leaves nothing behind. File
 * systems without O_TMPFILE get a hidden file, which SIGINT, SIGTERM, SIGHUP and SIGQUIT remove.
 * Symbolic links are followed. Some files cannot be replaced and are written in place: devices,
 * pipes, the descriptors in /proc and /dev/fd, and files in a directory whose permissions allow no
 * new file.
 */
#ifndef TV_CLI_ATOMIC_FILE_H
#define TV_CLI_ATOMIC_FILE_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/types.h"

struct tv_atomic_file {
    int descriptor; /* receives the new contents */
    bool in_place;  /* the descriptor is the file itself */
    bool replaces;  /* `older` describes an existing file, which will be replaced */
    struct stat older;
    char path[PATH_MAX];      /* with symbolic links resolved */
    char temporary[PATH_MAX]; /* name of the new file; "": it has none yet */
};

/* Open the file at `path` for new contents; fails as open(2) would if it cannot be written. The
 * existing file is not touched, unless it is written in place. */
enum tv_status tv_atomic_file_open(struct tv_atomic_file *file, const char *path,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Open the same way, but never write in place, because the old file is still being read. */
enum tv_status tv_atomic_file_open_to_replace(struct tv_atomic_file *file, const char *path,
                                              struct tv_error *err) TV_MUST_CHECK;

/* Return a stream that writes the new contents; close it before the file. NULL: see errno. */
FILE *tv_atomic_file_stream(const struct tv_atomic_file *file);

/* Give the new contents the name, with the permissions and, if the system allows it, the owner of
 * the old file. Closes the file, also after an error: then the old file is unchanged. */
enum tv_status tv_atomic_file_commit(struct tv_atomic_file *file,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Close the file and drop the new contents. Data written in place stays. */
void tv_atomic_file_discard(struct tv_atomic_file *file);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache.h - the user's folder of files that may be missing at any time: found by a key, written
 * beside their place and renamed, the least recently used gone when they are too much.
 *
 * It is $XDG_CACHE_HOME/traceview, else ~/.cache/traceview.  A folder or a file that others could
 * write to is none.  Nothing here fails: what cannot be had is not there.
 */
#ifndef TV_CLI_CACHE_H
#define TV_CLI_CACHE_H

#include "base/types.h"

/* The file of the key, open for reading and marked as used now; -1: there is none.  The key stands
 * in the file's name as a sum: whoever reads it looks for the key itself inside. */
int tv_cache_open(struct tv_bytes key);

/* A file on its way. */
struct tv_cache_file {
    int folder, fd;
    uint64_t room; /* all files together may take so much */
    char name[48], temporary[96];
};

/* False: there is no place for it. */
bool tv_cache_begin(struct tv_bytes key, struct tv_cache_file *file);

/* Puts it in its place, and others out of theirs; or drops it. */
void tv_cache_end(struct tv_cache_file *file, bool whole);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - the bytes of traces, the engine's caches of them, and its folders for temporary files.
 *
 * Descriptors are the caller's to close, and are not handed to programs that he starts unless he
 * does so.
 */
#ifndef TV_STORE_FILES_H
#define TV_STORE_FILES_H

#include "store/store.h"

/* The original, for reading, from its first byte. */
enum tv_store_status tv_store_file_open(struct tv_store *store, const char *id, int *fd,
                                        uint64_t *bytes, struct tv_error *err) TV_MUST_CHECK;

/* The trace's cache, for reading; it counts as used now.  TV_STORE_NONE: it has none. */
enum tv_store_status tv_store_cache_open(struct tv_store *store, const char *id, int *fd,
                                         uint64_t *bytes, struct tv_error *err) TV_MUST_CHECK;

/* A cache in the making: an empty file, read and write, that nobody sees yet. */
struct tv_store_new_cache {
    struct tv_store_id trace;
    struct tv_store_id part; /* its name so far is made of both */
    int fd;
    uint64_t limit; /* it will be taken up to so many bytes */
};

/* Begins one.  TV_STORE_FULL: there is no room for any. */
enum tv_store_status tv_store_cache_begin(struct tv_store *store, const char *id,
                                          struct tv_store_new_cache *cache,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Closes it and, with keep, puts it in the place of the one before.  It may have been written by
 * somebody who is not trusted: its size is looked at, nothing else.  Not kept: no such trace any
 * more, or no room (older caches go for it, traces never). */
enum tv_store_status tv_store_cache_end(struct tv_store *store, struct tv_store_new_cache *cache,
                                        bool keep, struct tv_error *err) TV_MUST_CHECK;

/* Drops the trace's cache: it is damaged, or of another version.  None: nothing happens. */
void tv_store_cache_drop(struct tv_store *store, const char *id);

/* An empty folder for temporary files, as an absolute path in folder[0..size). */
enum tv_store_status tv_store_scratch_make(struct tv_store *store, char *folder, size_t size,
                                           struct tv_error *err) TV_MUST_CHECK;

/* Removes such a folder, whatever is in it now. */
void tv_store_scratch_remove(struct tv_store *store, const char *folder);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_cache.h - large files are indexed, so they open instantly the next time.
 *
 *     index_cache.c    key of the files -> the finished trace, as an index (index/index.h)
 *     cache_folder.c   the directory: files by key, at most as large as free disk space allows
 *
 * The key covers everything that the trace depends on: size, time and a hash of samples of each
 * file, its time offset, the mapping and symbol files, the ceiling of unpacked bytes, and this
 * program.  The names of the trace files are not part of it.  A renamed file is found, and its
 * inputs get the new name; for a file that kept its name the time of its last status change must be
 * the same, too.
 */
#ifndef TV_CLI_INPUT_INDEX_CACHE_H
#define TV_CLI_INPUT_INDEX_CACHE_H

#include <stdatomic.h>

#include "base/sections.h"
#include "base/types.h"
#include "cli/options.h"

struct tv_trace;
struct tv_view;

/* ---- The directory: $XDG_CACHE_HOME/traceview, else ~/.cache/traceview ----
 *
 * Its files may disappear at any time.  New files are written under a temporary name and renamed;
 * the least recently used ones are removed when all together are too large.  A directory or file
 * that other users could write to is ignored.  Nothing here is an error: the entry is just not
 * there. */

/* Open the file of the key for reading, and mark it as used; -1: there is none.  The file's name
 * has only a checksum of the key, so the reader compares the key inside the file. */
int tv_cache_open(struct tv_bytes key);

/* A file that is being written. */
struct tv_cache_file {
    int folder, fd;
    uint64_t room; /* size limit of all files together, in bytes */
    char name[48], temporary[96];
};

/* Begin a file; false when there is no place for it. */
bool tv_cache_begin(struct tv_bytes key, struct tv_cache_file *file);

/* Give a whole file its name and evict others to make room for it; remove an incomplete one. */
void tv_cache_end(struct tv_cache_file *file, bool whole);

/* ---- Traces in it ---- */

#define TV_INDEX_CACHE_FILES 64u

/* The files of one trace, and their key. */
struct tv_index_cache {
    const struct tv_settings *settings; /* must outlive the trace, as must the paths */
    const char *paths[TV_INDEX_CACHE_FILES];
    tv_ns offsets[TV_INDEX_CACHE_FILES];
    size_t count;
    uint8_t key[TV_SECTIONS_KEY];
    size_t key_length;
    uint8_t places[TV_SECTIONS_KEY]; /* names and times of change of the files */
    size_t places_length;
};

/* Look at the files and make the key.  False when their trace is never cached: --no-cache, a pipe,
 * a file that was modified just now, too many files.  The cached trace is the one without --filter.
 */
bool tv_index_cache_make_key(struct tv_index_cache *cache);

/* Read the trace; false when it is not in the cache or not valid. */
bool tv_index_cache_read(const struct tv_index_cache *cache, struct tv_trace **trace);

/* Will the cache be faster than reading the files, which took `ns`?  False when the files have
 * changed meanwhile. */
bool tv_index_cache_is_worth(const struct tv_index_cache *cache, const struct tv_trace *trace,
                             bool packed, uint64_t ns);

/* As above, for a command, which ends soon: only traces that took long to read. */
bool tv_index_cache_is_worth_waiting(const struct tv_index_cache *cache, uint64_t ns);

/* Was an input of the trace read by a reader that cannot stream (readers/reader.h)? */
bool tv_index_cache_is_assembled(const struct tv_trace *trace);

/* Write the trace to the cache in the background; tv_trace_free waits for the end. */
void tv_index_cache_write_behind(const struct tv_index_cache *cache, struct tv_trace *trace);

/* Write the trace to the cache, until `stop` is set.  This changes the calling thread for good: it
 * gets the lowest priority and blocks SIGXFSZ. */
void tv_index_cache_write(const struct tv_index_cache *cache, const struct tv_trace *trace,
                          const struct tv_view *view, const atomic_bool *stop);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cached.h - a trace out of the user's cache instead of its files, and into it (cache.h).
 *
 * The key is all that the trace depends on: for each file its size, time and a hash of samples of
 * its bytes, how its times are moved, the mapping and the symbols by their names beside, the
 * ceiling of unpacked bytes and the program itself.  A file that has another name now is found all
 * the same, and its trace called by that; of one that has its old name, the time of its change must
 * be the old one too.
 */
#ifndef TV_CLI_CACHED_H
#define TV_CLI_CACHED_H

#include <stdatomic.h>

#include "base/sections.h"
#include "cli/options.h"

struct tv_trace;
struct tv_view;

#define TV_CACHED_FILES 64u

/* What a trace is read from. */
struct tv_cached {
    const struct tv_settings *settings; /* live as long as the trace, and the paths too */
    const char *paths[TV_CACHED_FILES];
    tv_ns offsets[TV_CACHED_FILES];
    size_t count;
    uint8_t key[TV_SECTIONS_KEY];
    size_t key_length;
    uint8_t places[TV_SECTIONS_KEY]; /* the files' names and times of change */
    size_t places_length;
};

/* Looks at the files and makes the key.  False when such a trace is never cached: --no-cache, a
 * pipe, a file that was written to just now, too many files.  The trace is that without --filter.
 */
bool tv_cached_look(struct tv_cached *cached);

/* The trace from the cache; false when it is not there or not to be believed. */
bool tv_cached_read(const struct tv_cached *cached, struct tv_trace **trace);

/* Whether a trace that took so long to read comes sooner from the cache, and may: the files still
 * are what they were. */
bool tv_cached_is_worth(const struct tv_cached *cached, const struct tv_trace *trace, bool packed,
                        uint64_t ns);

/* The same for a command, which ends soon: only what took long is worth it. */
bool tv_cached_is_worth_waiting(const struct tv_cached *cached, uint64_t ns);

/* Whether the trace was read of files that cannot be streamed (readers/reader.h), or some of them.
 */
bool tv_cached_is_assembled(const struct tv_trace *trace);

/* Puts it there while the trace is used; tv_trace_free waits until it is done. */
void tv_cached_write_beside(const struct tv_cached *cached, struct tv_trace *trace);

/* Puts it there, unless `stop` is set meanwhile.  The thread is good for nothing else afterwards:
 * it has a low priority, and waits for no signal of file sizes. */
void tv_cached_write(const struct tv_cached *cached, const struct tv_trace *trace,
                     const struct tv_view *view, const atomic_bool *stop);

#endif

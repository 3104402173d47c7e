/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the store of the upload server: a directory with uploaded traces, and a SQLite
 * catalogue with what is known about them.
 *
 *     DIR/lock                one process per store
 *     DIR/catalogue.sqlite3   the catalogue (schema: catalogue.c)
 *     DIR/uploads/UID         the bytes of an upload that is not complete
 *     DIR/traces/ID           an original, written once and never changed
 *     DIR/cache/ID.index      an engine's index of a trace, so that it opens instantly
 *     DIR/scratch/NAME/       an engine's directory for temporary files
 *
 * uploads.h adds traces, traces.h reads, searches and changes what is known about them; this header
 * opens their files.  Everything may be called from any number of threads at once, between
 * tv_store_open and tv_store_close.
 *
 * Durability.  A killed process loses nothing that a function here has confirmed: the next start
 * resumes every upload at the end of its file, and cleans up what was half done.  After a power
 * loss, finished traces and changes to them are there; an upload resumes at the end of its last
 * chunk (or, within a chunk, at a multiple of 64 MiB), and one that has just begun may be gone.  A
 * trace is never there in part.
 *
 * No text from a client becomes part of a path: files are named by identifiers of 128 random bits.
 */
#ifndef TV_STORE_STORE_H
#define TV_STORE_STORE_H

#include "base/error.h"
#include "base/types.h"

struct tv_store;

/* The name of a trace or an upload: 32 lower-case hexadecimal digits.  Any other text that is
 * passed as an identifier yields TV_STORE_NOT_FOUND. */
#define TV_STORE_ID_DIGITS 32u
struct tv_store_id {
    char text[TV_STORE_ID_DIGITS + 1];
};

/* Times are milliseconds since 1970, UTC.  This one means that there is no time. */
#define TV_STORE_NEVER INT64_MIN

/* Results, with the matching HTTP statuses.  Unless it is TV_STORE_OK, *err has a sentence for
 * people, which reveals no path. */
enum tv_store_status {
    TV_STORE_OK = 0,
    TV_STORE_NOT_FOUND,    /* 404  no such upload, trace or file, or not any more */
    TV_STORE_WRONG_OFFSET, /* 409  the chunk does not begin, or the upload not end, at its bytes */
    TV_STORE_BUSY,         /* 423  another connection writes this upload */
    TV_STORE_TOO_LARGE,    /* 413  larger than an upload may be, or than was announced */
    TV_STORE_INVALID,      /* 422  an invalid name, label, note or query */
    TV_STORE_FULL,         /* 507  no space on the disk or below the cap; may be tried again */
    TV_STORE_FAILED,       /* 500  an error of the disk or the catalogue */
};

struct tv_store_options {
    uint64_t max_upload_bytes; /* 0: no limit */
    uint64_t max_store_bytes;  /* the cap on originals, caches and uploads together; 0: none */
    uint64_t reserve_bytes;    /* of the disk, left free; 0: 1/16 of the disk, from 1 to 16 MiB */
    int64_t keep_ms;         /* traces that are not pinned are deleted after this time; 0: never */
    int64_t upload_idle_ms;  /* uploads are deleted so long after their last byte; 0: 24 hours */
    uint32_t max_uploads;    /* in progress; 0: 4096 */
    uint32_t client_uploads; /* of one client; 0: an eighth of max_uploads, at least one */
    bool sync_caches;        /* fsync caches too; otherwise a power loss may cost some */
    /* Receives a line without a line end for each thing that was cleaned, dropped or evicted.  May
     * be called from any thread inside a function of the store, and must not call one. */
    void (*report)(void *context, const char *line);
    void *context;
};

/* Open the store in the directory, which is created if its parent exists, or is empty, or is a
 * store. Clean up what an earlier process left.  TV_ERR_IO: the directory cannot be used, or
 * another process uses it; TV_ERR_SYNTAX: the catalogue is damaged or not ours, and nothing was
 * changed; TV_ERR_UNSUPPORTED: a later version made it. */
enum tv_status tv_store_open(const char *folder, const struct tv_store_options *options,
                             struct tv_store **store, struct tv_error *err) TV_MUST_CHECK;

/* Close the store.  No other function may be running.  NULL is allowed. */
void tv_store_close(struct tv_store *store);

/* Return the present as milliseconds since 1970. */
int64_t tv_store_now(void);

/* Return milliseconds of a clock that nobody sets, and that runs while the machine sleeps. */
int64_t tv_store_steady_now(void);

/* Delete what is due: traces older than keep_ms, abandoned uploads and, above the cap, caches and
 * the oldest traces.  To be called about every minute.
 *
 * If the wall clock has jumped against the steady clock since the last call, nobody knows which of
 * its times was right.  Then nothing is deleted by age for TV_STORE_JUMP_HOLD_MS, so that people
 * can correct the clock, and the report says so.  A clock that jumps back ends that at once. */
#define TV_STORE_JUMP_MS INT64_C(600000) /* smaller corrections are no jump */
#define TV_STORE_JUMP_HOLD_MS INT64_C(86400000)
enum tv_store_status tv_store_expire(struct tv_store *store, int64_t now_ms, int64_t steady_ms,
                                     struct tv_error *err) TV_MUST_CHECK;

struct tv_store_totals {
    uint64_t traces;
    uint64_t trace_bytes; /* of their originals */
    uint64_t caches;
    uint64_t cache_bytes;
    uint64_t uploads;      /* in progress */
    uint64_t upload_bytes; /* received for these */
};

/* Return the totals.  They are counted all the time, so this is cheap. */
struct tv_store_totals tv_store_totals(struct tv_store *store);

/* ---- Files: originals, index caches, temporary files (files.c) ---- */

/* The caller closes descriptors.  They are close-on-exec. */

/* Open an original for reading. */
enum tv_store_status tv_store_file_open(struct tv_store *store, const char *id, int *fd,
                                        uint64_t *bytes, struct tv_error *err) TV_MUST_CHECK;

/* Open a trace's cache for reading, and count it as used now.  TV_STORE_NOT_FOUND: it has none. */
enum tv_store_status tv_store_cache_open(struct tv_store *store, const char *id, int *fd,
                                         uint64_t *bytes, struct tv_error *err) TV_MUST_CHECK;

/* A cache in the making: a file for reading and writing, empty at first and invisible to others. */
struct tv_store_new_cache {
    struct tv_store_id trace;
    struct tv_store_id part; /* temporary name, together with `trace` */
    int fd;
    uint64_t limit; /* maximum size with which it can be kept */
};

/* Begin a cache.  TV_STORE_FULL: there is no space for any. */
enum tv_store_status tv_store_cache_begin(struct tv_store *store, const char *id,
                                          struct tv_store_new_cache *cache,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Close a new cache and, with `keep`, replace the trace's previous one.  An untrusted process may
 * have written it, so only its size is examined.  It is not kept if the trace was deleted or there
 * is no space; older caches are dropped for it, traces never. */
enum tv_store_status tv_store_cache_end(struct tv_store *store, struct tv_store_new_cache *cache,
                                        bool keep, struct tv_error *err) TV_MUST_CHECK;

/* Drop a trace's cache, if there is one: it is damaged, or of another version. */
void tv_store_cache_drop(struct tv_store *store, const char *id);

/* Make an empty directory for temporary files; its absolute path goes to folder[0..size). */
enum tv_store_status tv_store_scratch_make(struct tv_store *store, char *folder, size_t size,
                                           struct tv_error *err) TV_MUST_CHECK;

/* Remove such a directory with all that it contains. */
void tv_store_scratch_remove(struct tv_store *store, const char *folder);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the store of the upload server: a folder with the traces that people sent, and a SQLite
 * catalogue of what is known of them.
 *
 *     DIR/lock                one process a store
 *     DIR/catalogue.sqlite3   what is known (schema: catalogue.c)
 *     DIR/uploads/UID         the bytes of an upload that is not complete
 *     DIR/traces/ID           an original, written once and never changed
 *     DIR/cache/ID.index      what the engine wrote to have a trace ready at once
 *     DIR/scratch/NAME/       an engine's folder for temporary files
 *
 * uploads.h puts traces in, traces.h asks and changes what is known of them, search.h lists them,
 * files.h opens the bytes.  Everything may be called from any number of threads at once, between
 * tv_store_open and tv_store_close.
 *
 * What survives.  A process that is killed loses nothing that a function here said is there: the
 * next start goes on with every upload at the byte where its file ends, and cleans what was left
 * half done.  When the power goes, traces that were finished and changes made to them are there;
 * an upload goes on from where its last piece ended (or, within a piece, from a multiple of 64 MiB)
 * or, if it had just begun, is not there.  A trace is never there in part.
 *
 * Nothing that a client says becomes a path: files are called by identifiers of 128 random bits.
 */
#ifndef TV_STORE_STORE_H
#define TV_STORE_STORE_H

#include "base/error.h"
#include "base/types.h"

struct tv_store;

/* Traces and uploads are named by 32 lower-case hexadecimal digits.  Whatever else is given for an
 * identifier is TV_STORE_NOT_FOUND. */
#define TV_STORE_ID_DIGITS 32u
struct tv_store_id {
    char text[TV_STORE_ID_DIGITS + 1];
};

/* Points in time are milliseconds since 1970, UTC; where there is none: */
#define TV_STORE_NEVER INT64_MIN

/* What a function here says, and what HTTP calls it.  Whenever it is not TV_STORE_OK, *err has a
 * sentence for people that tells no path. */
enum tv_store_status {
    TV_STORE_OK = 0,
    TV_STORE_NOT_FOUND,   /* 404  there is no such upload, trace or file (any more) */
    TV_STORE_WRONG_OFFSET, /* 409  the piece does not begin, or the upload not end, where its bytes do */
    TV_STORE_BUSY,   /* 423  somebody else is writing this upload */
    TV_STORE_TOO_LARGE, /* 413  more than an upload may have, or than was announced */
    TV_STORE_INVALID,       /* 422  a name, a label, a note or a question that cannot be taken */
    TV_STORE_FULL,      /* 507  no room, on the disk or below the cap; may be tried again */
    TV_STORE_FAILED,    /* 500  the disk or the catalogue does not work */
};

struct tv_store_options {
    uint64_t max_upload_bytes; /* 0: any */
    uint64_t max_store_bytes;  /* 0: any.  Originals, caches and the bytes of uploads together */
    uint64_t reserve_bytes;    /* of the disk, never taken; 0: a 16th of it, from 1 to 16 MiB */
    int64_t keep_ms;           /* traces that are not pinned go so long after they came; 0: never */
    int64_t upload_idle_ms;    /* uploads go so long after their last byte; 0: 24 hours */
    uint32_t max_uploads;      /* running at once; 0: 4096 */
    uint32_t client_uploads;   /* of one client; 0: an eighth of max_uploads, at least one */
    bool sync_caches;          /* fsync them as well; without, a cut of power may cost a cache */
    /* Is told each thing that was cleaned, dropped or evicted, one line without a line end.  May be
     * called from any thread that is inside a function of the store, and must not call one. */
    void (*report)(void *context, const char *line);
    void *context;
};

/* Opens the store in the folder, which is made (its parent must be there) or is empty, or is a
 * store.  Cleans what an earlier process left.  TV_ERR_IO: no such place, or it is in use by
 * another process; TV_ERR_SYNTAX: the catalogue is damaged or not ours (nothing was changed);
 * TV_ERR_UNSUPPORTED: a later version made it. */
enum tv_status tv_store_open(const char *folder, const struct tv_store_options *options,
                             struct tv_store **store, struct tv_error *err) TV_MUST_CHECK;

/* Nobody is inside another function any more.  NULL is fine. */
void tv_store_close(struct tv_store *store);

/* The present in the store's unit. */
int64_t tv_store_now(void);

/* Milliseconds of a clock that nobody sets, and that goes on while the machine sleeps. */
int64_t tv_store_steady_now(void);

/* Do what is due at this time: traces beyond --keep, uploads that nobody goes on with, and, when
 * there is more than the cap, caches and the oldest traces.  Call it every minute or so.
 *
 * When the wall clock has jumped against the steady one since the last call, nobody knows which of
 * its times was right.  Then nothing goes by its age for TV_STORE_JUMP_HOLD_MS, so that people can
 * set it right, and the report says so; a clock that comes back ends that at once. */
#define TV_STORE_JUMP_MS INT64_C(600000) /* clocks that are set by less are no jump */
#define TV_STORE_JUMP_HOLD_MS INT64_C(86400000)
enum tv_store_status tv_store_expire(struct tv_store *store, int64_t now_ms, int64_t steady_ms,
                                     struct tv_error *err) TV_MUST_CHECK;

struct tv_store_totals {
    uint64_t traces;      /* how many */
    uint64_t trace_bytes; /* of their originals */
    uint64_t caches;      /* how many */
    uint64_t cache_bytes;
    uint64_t uploads;      /* how many are not complete */
    uint64_t upload_bytes; /* that have come of them */
};

/* How much is in the store: counted all along, so it may be asked often. */
struct tv_store_totals tv_store_totals(struct tv_store *store);

/*
 * files.h - the bytes of traces, the engine's caches of them, and its folders for temporary files.
 *
 * Descriptors are the caller's to close, and are not handed to programs that he starts unless he
 * does so.
 */

/* The original, for reading, from its first byte. */
enum tv_store_status tv_store_file_open(struct tv_store *store, const char *id, int *fd,
                                        uint64_t *bytes, struct tv_error *err) TV_MUST_CHECK;

/* The trace's cache, for reading; it counts as used now.  TV_STORE_NOT_FOUND: it has none. */
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

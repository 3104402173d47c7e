/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the store, as the files of this module see it.
 *
 *     store.c         opens the directory; files by name below it
 *     catalogue.c     SQLite: transactions, statements, the schema
 *     recovery.c      repairs what a killed process or a power loss left
 *     uploads.c       rows of uploads: begin, finish, cancel
 *     chunks.c        bytes of uploads, and who may write them
 *     traces.c        rows of traces: read, change, delete, take the next one to read
 *     search.c        lists of traces
 *     files.c         originals, index caches, temporary directories
 *     eviction.c      counts bytes, frees space, expires old things
 *     text.c          cleans text from clients, and folds its case
 *
 * Lock order.  A lock may only be taken while locks above it are held, or none:
 *
 *     evict_lock              who frees space
 *     cache_lock              a cache and its trace appear and disappear together
 *     write.lock, read.lock   a transaction (one of the two, never both)
 *     claim_lock              who writes which upload
 *     totals_lock             the totals
 */
#ifndef TV_STORE_INTERNAL_H
#define TV_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/types.h"
#include "store/store.h"

struct tv_arena;
struct tv_store_trace;

/* ---- The database (catalogue.c) ---- */

/* A connection to SQLite, with a lock for one transaction at a time.
 *
 * The first failure within a transaction sticks: later statements do nothing and find no rows, and
 * tv_db_end reports the failure.  So a transaction needs no test after each statement.  Values are
 * bound to parameters and never become part of the SQL. */

/* Maximum number of different statements that are kept prepared. */
#define TV_DB_STATEMENTS 64u

struct tv_db {
    sqlite3 *handle;
    pthread_mutex_t lock;
    struct {
        const char *sql; /* a string literal, compared by address */
        sqlite3_stmt *statement;
    } kept[TV_DB_STATEMENTS];
    size_t kept_count;
    int code; /* SQLITE_OK, or the first failure of this transaction */
    bool no_room;
    bool durable; /* the present setting of PRAGMA synchronous */
    char message[160];
};

enum tv_db_kind {
    TV_DB_READ,    /* one consistent state of the catalogue, while others change it */
    TV_DB_QUICK,   /* changes survive the death of this process */
    TV_DB_DURABLE, /* changes are on disk when tv_db_end returns */
};

/* Open an existing file, which may be empty.  After an error there is nothing to close. */
enum tv_status tv_db_open(struct tv_db *db, const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Finalize the statements and close the connection.  No transaction may be open. */
void tv_db_close(struct tv_db *db);

/* Take the lock and begin a transaction.  tv_db_end must follow. */
void tv_db_begin(struct tv_db *db, enum tv_db_kind kind);

/* Commit if the status is TV_STORE_OK and nothing failed, else roll back; release the lock.  Return
 * the status, or that of the failure. */
enum tv_store_status tv_db_end(struct tv_db *db, enum tv_store_status status,
                               struct tv_error *err) TV_MUST_CHECK;

/* Prepare a statement for tv_db_row; NULL after a failure.  `types` has a letter for each value: i
 * int64_t; n int64_t that is ignored, bind NULL; z const char *, NULL binds NULL; t struct tv_bytes
 * as text; b struct tv_bytes as blob.  Texts must stay valid until the last row. */
sqlite3_stmt *tv_db_query(struct tv_db *db, const char *sql, const char *types, ...);

/* Step to the next row.  False: there is none, and the statement was reset. */
bool tv_db_row(struct tv_db *db, sqlite3_stmt *statement);

/* Reset a statement before its last row. */
void tv_db_reset(sqlite3_stmt *statement);

/* Run a statement without rows.  Return the number of rows that it changed. */
int tv_db_run(struct tv_db *db, const char *sql, const char *types, ...);

/* Return the first column of the first row; `otherwise` if there is none. */
int64_t tv_db_number(struct tv_db *db, int64_t otherwise, const char *sql, const char *types, ...);

/* Run constant SQL without values.  False after a failure. */
bool tv_db_script(struct tv_db *db, const char *sql);

/* Return a text or blob of the row, valid until the next row. */
struct tv_bytes tv_db_column_text(sqlite3_stmt *statement, int column);

/* ---- The store (store.c) ---- */

/* The exclusive right to change an upload: held by a chunk while it is written, and by whoever
 * finishes or cancels the upload.  See chunks.c. */
struct tv_store_claim {
    struct tv_store_claim *next;
    struct tv_store_id uid;
    bool can_be_taken;         /* held by a chunk: another connection may take it over */
    bool inside;               /* using the file right now: wait before taking over */
    uint64_t at;               /* of a chunk: offset of its next byte */
    enum tv_store_status lost; /* not OK: taken over, and what to tell the loser */
};

/* Movement of the wall clock against the steady clock: their difference in milliseconds.  Used by
 * the thread that calls tv_store_expire only. */
struct tv_store_clock {
    bool known;       /* there was an earlier call */
    bool holds;       /* it jumped, and is not trusted yet */
    int64_t ahead;    /* the difference when the clock was last trusted */
    int64_t jumped;   /* the difference since the jump */
    int64_t until_ms; /* steady time at which the new difference is trusted */
};

struct tv_store {
    struct tv_store_options options;
    struct tv_store_clock clock;
    char *path;                                        /* absolute */
    int folder, uploads, traces, cache, scratch, lock; /* descriptors; -1: not open yet */
    struct tv_db write, read;                          /* two connections to the catalogue */
    bool has_write, has_read;
    pthread_mutex_t evict_lock, cache_lock, claim_lock, totals_lock;
    pthread_cond_t claim_change;
    struct tv_store_claim *claims;
    struct tv_store_totals totals;
};

/* Report what happened to a file or a row, for the log. */
void tv_store_report(struct tv_store *store, const char *format, ...) TV_PRINTF(2, 3);

/* Digits of an identifier in the log.  Whoever knows a whole identifier can look at the trace. */
#define TV_STORE_ID_SHOWN 8

/* Return true for 32 lower-case hexadecimal digits. */
bool tv_store_is_id(const char *text);

/* Fail with TV_STORE_NOT_FOUND: "there is no such WHAT". */
enum tv_store_status tv_store_not_found(struct tv_error *err, const char *what);

/* Fail with TV_STORE_INVALID and this sentence. */
enum tv_store_status tv_store_invalid(struct tv_error *err, const char *sentence);

/* Fail with errno: TV_STORE_FULL if it says so, else TV_STORE_FAILED. */
enum tv_store_status tv_store_fail_errno(struct tv_error *err, const char *what);

/* Draw a random identifier. */
enum tv_store_status tv_store_new_id(struct tv_store_id *id, struct tv_error *err) TV_MUST_CHECK;

/* Open a regular file without following links.  Below 0: none, with errno. */
int tv_store_open_file(int folder, const char *name, int flags);

/* Get the size of a regular file.  False: there is none. */
bool tv_store_file_size(int folder, const char *name, uint64_t *bytes);

/* Call `each` for every name in a directory.  False, with errno: it cannot be read. */
bool tv_store_each_name(int folder, void (*each)(void *context, const char *name), void *context);

#define TV_STORE_CACHE_NAME (2 * TV_STORE_ID_DIGITS + 16)

/* Write the name of a cache: "ID.index", or "ID.PART" while it is incomplete. */
void tv_store_cache_name(char name[TV_STORE_CACHE_NAME], const char *id, const char *part);

/* Remove a cache by its name and update the totals; *bytes is its size.  False: there is none. Runs
 * under cache_lock (files.c). */
bool tv_store_remove_cache(struct tv_store *store, const char *name, uint64_t *bytes);

/* Open both connections to the catalogue, and create or check its tables (catalogue.c). */
enum tv_status tv_store_catalogue_open(struct tv_store *store, struct tv_error *err) TV_MUST_CHECK;

/* Repair what an earlier process left, and count what there is (recovery.c). */
enum tv_status tv_store_recover(struct tv_store *store, struct tv_error *err) TV_MUST_CHECK;

/* Remove everything from scratch/ and return the number of things removed (files.c). */
size_t tv_store_scratch_empty(struct tv_store *store);

/* ---- Space (eviction.c) ---- */

/* Add to one of store->totals; `by` may be negative. */
void tv_store_count(struct tv_store *store, uint64_t *count, int64_t by);

/* Reserve and count space for bytes of an upload, or of a cache.  To make room, drop caches and,
 * for uploads, evict traces.  TV_STORE_FULL: no room can be made.  No lock may be held. */
enum tv_store_status tv_store_reserve_bytes(struct tv_store *store, uint64_t bytes, bool cache,
                                            struct tv_error *err) TV_MUST_CHECK;

/* Check whether an upload of this size could ever fit. */
enum tv_store_status tv_store_can_fit(struct tv_store *store, uint64_t bytes,
                                      struct tv_error *err) TV_MUST_CHECK;

/* Return the maximum size of a new cache. */
uint64_t tv_store_cache_limit(struct tv_store *store);

/* Evict until the store is below its cap. */
enum tv_store_status tv_store_enforce_cap(struct tv_store *store,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Drop the least recently used cache.  False: there is none. */
bool tv_store_evict_oldest_cache(struct tv_store *store);

/* ---- Uploads (uploads.c, chunks.c) ---- */

/* Insert the row of a trace for an upload whose file is in traces/.  Within a transaction. */
void tv_store_insert_trace(struct tv_db *db, const char *uid, uint64_t bytes, int64_t now_ms);

/* Record the size of an upload.  The caller holds its claim. */
enum tv_store_status tv_store_upload_announce(struct tv_store *store, const char *uid,
                                              uint64_t bytes, struct tv_error *err) TV_MUST_CHECK;

/* Take the claim on an upload; the new claim is inside.  A chunk at offset *at (any offset, if `at`
 * is NULL) loses its claim and gets `verdict`.  TV_STORE_WRONG_OFFSET: that chunk is at another
 * offset, which *at is set to; TV_STORE_BUSY: the claim cannot be taken over. */
enum tv_store_status tv_store_claim_take(struct tv_store *store, struct tv_store_claim *claim,
                                         uint64_t *at, enum tv_store_status verdict);

/* Begin to use the file.  Return TV_STORE_OK, or the verdict if the claim was lost. */
enum tv_store_status tv_store_claim_enter(struct tv_store *store, struct tv_store_claim *claim);

/* End using the file; the next byte goes to offset `at`. */
void tv_store_claim_leave(struct tv_store *store, struct tv_store_claim *claim, uint64_t at);

/* Give the claim up, lost or not. */
void tv_store_claim_drop(struct tv_store *store, struct tv_store_claim *claim);

/* Return true while somebody has a claim on the upload. */
bool tv_store_is_claimed(struct tv_store *store, const char *uid);

/* ---- Traces (traces.c) ---- */

/* Columns for tv_store_read_trace, of a table with the alias t. */
#define TV_STORE_TRACE_COLUMNS                                                                     \
    "t.number, t.id, t.name, t.bytes, t.uploaded, t.seen, t.pinned, t.note, t.state, t.error,"     \
    " t.error_offset, t.remedy, t.format, t.version, t.length_ns, t.events, t.calls, t.warnings,"  \
    " t.findings, t.recorded"

/* Read a trace from a row, without facts, into the arena.  Within a transaction of store->read. */
void tv_store_read_trace(struct tv_store *store, sqlite3_stmt *row, struct tv_arena *arena,
                         struct tv_store_trace *trace);

/* Update the words by which search finds a trace.  Within a transaction. */
void tv_store_index_words(struct tv_db *db, int64_t number);

/* Check labels from a client: TV_STORE_INVALID. */
enum tv_store_status tv_store_check_labels(const struct tv_bytes *labels, size_t count,
                                           struct tv_error *err) TV_MUST_CHECK;

/* Append a label to those of a trace.  Within a transaction. */
void tv_store_add_label(struct tv_db *db, int64_t number, struct tv_bytes label);

/* Delete a trace without a report; *bytes is the size of its original.  With TV_DB_QUICK it may
 * reappear after a power loss, which is fine for what is deleted by age. */
enum tv_store_status tv_store_remove_trace(struct tv_store *store, const char *id,
                                           enum tv_db_kind kind, uint64_t *bytes,
                                           struct tv_error *err) TV_MUST_CHECK;

/* ---- Text (text.c) ---- */

/* Return true for UTF-8 without control characters and without marks that reverse the direction of
 * text. */
bool tv_store_text_is_clean(struct tv_bytes text);

/* Copy the text with a NUL to `to`, using at most size - 1 bytes, and return its length.  U+FFFD
 * replaces each byte that is not UTF-8 and each character that is not clean.  A cut never splits a
 * character.  With `lines`, line ends and tabs stay, and CR LF becomes LF. */
size_t tv_store_text_clean(struct tv_bytes text, bool lines, char *to, size_t size);

/* Copy the text in lower case (Latin, Greek, Cyrillic) to to[0..length).  The length stays the
 * same, so both may be the same memory. */
void tv_store_text_fold(struct tv_bytes text, char *to);

#endif

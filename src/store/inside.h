/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inside.h - the store as the files of this room see it.
 *
 * Locks, of which one is only taken while those before it in this list are held, or none:
 *
 *     evict_lock     who makes room
 *     cache_lock     a cache and its trace come and go as one
 *     write.lock, read.lock  a transaction (database.h); one of the two
 *     claim_lock     who writes which upload
 *     tally_lock     the counts
 */
#ifndef TV_STORE_INSIDE_H
#define TV_STORE_INSIDE_H

#include <pthread.h>

#include "store/database.h"
#include "store/store.h"

struct tv_arena;
struct tv_store_trace;

/* Somebody who has an upload to himself: a piece that is being written, or whoever finishes or
 * cancels it. */
struct tv_store_claim {
    struct tv_store_claim *next;
    struct tv_store_id uid;
    bool can_be_taken;         /* a piece */
    bool inside;               /* is at the file just now: to be waited for */
    uint64_t at;               /* of a piece: where its next byte goes */
    enum tv_store_status lost; /* why the claim is no longer good */
};

/* How the wall clock went beside the steady one: what the first is ahead, in milliseconds.  Of the
 * thread that calls tv_store_expire. */
struct tv_store_clock {
    bool known;       /* it was looked at before */
    bool holds;       /* it has jumped, and is not believed yet */
    int64_t ahead;    /* when it was believed last */
    int64_t jumped;   /* since it jumped */
    int64_t until_ms; /* of the steady clock */
};

struct tv_store {
    struct tv_store_options options;
    struct tv_store_clock clock;
    char *path;                                        /* absolute */
    int folder, uploads, traces, cache, scratch, lock; /* descriptors, -1 before they are open */
    struct tv_db write, read;
    bool has_write, has_read;
    pthread_mutex_t evict_lock, cache_lock, claim_lock, tally_lock;
    pthread_cond_t claim_change;
    struct tv_store_claim *claims;
    struct tv_store_totals totals;
};

/* What happened to a file or a row, for the log. */
void tv_store_say(struct tv_store *store, const char *format, ...) TV_PRINTF(2, 3);

/* An identifier in a line of the log: its beginning, for whoever has all of it can look. */
#define TV_STORE_SHOWN 8

/* Whether it is an identifier. */
bool tv_store_is_id(const char *text);

/* TV_STORE_NONE, as "there is no such WHAT". */
enum tv_store_status tv_store_none(struct tv_error *err, const char *what);

/* TV_STORE_FAILED, or TV_STORE_FULL if that is what errno says. */
enum tv_store_status tv_store_failed(struct tv_error *err, const char *what);

/* folder.c: files by their names in the folders of the store. */

/* An identifier that was never there. */
enum tv_store_status tv_store_new_id(struct tv_store_id *id, struct tv_error *err) TV_MUST_CHECK;

/* Opens a regular file; no link is followed.  Below 0: none. */
int tv_store_open_file(int folder, const char *name, int flags);

/* The size of a regular file; false when there is none. */
bool tv_store_file_size(int folder, const char *name, uint64_t *bytes);

/* Calls `each` for the name of everything in the folder; false with errno when it cannot be read.
 */
bool tv_store_each_name(int folder, void (*each)(void *context, const char *name), void *context);

#define TV_STORE_CACHE_NAME (2 * TV_STORE_ID_DIGITS + 16)

/* "ID.index", or "ID.PART" of one that is not complete. */
void tv_store_cache_name(char name[TV_STORE_CACHE_NAME], const char *id, const char *part);

/* catalogue.c: the tables.  Opens both connections. */
enum tv_status tv_store_catalogue_open(struct tv_store *store, struct tv_error *err) TV_MUST_CHECK;

/* recovery.c: puts in order what an earlier process left, and counts what there is. */
enum tv_status tv_store_recover(struct tv_store *store, struct tv_error *err) TV_MUST_CHECK;

/* room.c: the counts and the cap. */

/* Adds to a count, or takes from it. */
void tv_store_count(struct tv_store *store, uint64_t *count, int64_t by);

/* Takes room for so many bytes of an upload (a cache) and counts them; makes it by dropping caches
 * and, for uploads, evicting traces.  TV_STORE_FULL: there is none.  No lock is held. */
enum tv_store_status tv_store_take_room(struct tv_store *store, uint64_t bytes, bool cache,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Whether an upload of so many bytes could have room some day. */
enum tv_store_status tv_store_may_come(struct tv_store *store, uint64_t bytes,
                                       struct tv_error *err) TV_MUST_CHECK;

/* How many bytes a cache may have. */
uint64_t tv_store_cache_limit(struct tv_store *store);

/* Brings the store below its cap again. */
enum tv_store_status tv_store_keep_cap(struct tv_store *store, struct tv_error *err) TV_MUST_CHECK;

/* Drops the cache that was not used for the longest time, if there is one. */
bool tv_store_drop_oldest_cache(struct tv_store *store);

/* uploads.c */

/* The row of a trace for an upload whose bytes stand in traces/; within a transaction. */
void tv_store_insert_trace(struct tv_db *db, const char *uid, uint64_t bytes, int64_t now_ms);

/* Writes down how large an upload is; for who has its claim. */
enum tv_store_status tv_store_upload_announce(struct tv_store *store, const char *uid,
                                              uint64_t bytes, struct tv_error *err) TV_MUST_CHECK;

/* claims.c: who may write. */

/* Takes the upload.  A piece that stands at *at (any, when at is NULL) is taken over and hears
 * `verdict`; TV_STORE_OFFSET: it stands elsewhere, *at tells; TV_STORE_BUSY: somebody does not let
 * go.  The new claim is inside. */
enum tv_store_status tv_store_claim_take(struct tv_store *store, struct tv_store_claim *claim,
                                         uint64_t *at, enum tv_store_status verdict);

/* Goes to the file; what it says when the claim was lost, else TV_STORE_OK. */
enum tv_store_status tv_store_claim_enter(struct tv_store *store, struct tv_store_claim *claim);

/* Is away from the file, and stands at its byte `at`. */
void tv_store_claim_leave(struct tv_store *store, struct tv_store_claim *claim, uint64_t at);

/* Gives it back; a lost one as well. */
void tv_store_claim_drop(struct tv_store *store, struct tv_store_claim *claim);

/* Whether somebody has the upload. */
bool tv_store_is_claimed(struct tv_store *store, const char *uid);

/* traces.c: the columns that tv_store_read_trace takes, of a table called t. */
#define TV_STORE_TRACE_COLUMNS                                                                     \
    "t.number, t.id, t.name, t.bytes, t.uploaded, t.seen, t.pinned, t.note, t.state, t.error,"     \
    " t.error_offset, t.remedy, t.format, t.version, t.length_ns, t.events, t.calls, t.warnings,"  \
    " t.findings, t.recorded"

/* The trace of a row, without facts, into the arena; within a transaction of store->read. */
void tv_store_read_trace(struct tv_store *store, sqlite3_stmt *row, struct tv_arena *arena,
                         struct tv_store_trace *trace);

/* changes.c: the words that a trace is found by; within a transaction. */
void tv_store_index_words(struct tv_db *db, int64_t number);

/* Checks labels from a client: TV_STORE_BAD. */
enum tv_store_status tv_store_check_labels(const struct tv_bytes *labels, size_t count,
                                           struct tv_error *err) TV_MUST_CHECK;

/* Puts a label behind those that the trace has; within a transaction. */
void tv_store_add_label(struct tv_db *db, int64_t number, struct tv_bytes label);

/* Forgets a trace, saying nothing; *bytes are what its original had.  Of kind TV_DB_QUICK it may be
 * there again after the power went, or forgotten by the next start: for what goes by its age. */
enum tv_store_status tv_store_remove_trace(struct tv_store *store, const char *id,
                                           enum tv_db_kind kind, uint64_t *bytes,
                                           struct tv_error *err) TV_MUST_CHECK;

/* scratch.c: empties the folder of temporary files; how many things there were. */
size_t tv_store_scratch_empty(struct tv_store *store);

#endif

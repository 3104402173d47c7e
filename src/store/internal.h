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
#ifndef TV_STORE_INTERNAL_H
#define TV_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/types.h"
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
void tv_store_report(struct tv_store *store, const char *format, ...) TV_PRINTF(2, 3);

/* An identifier in a line of the log: its beginning, for whoever has all of it can look. */
#define TV_STORE_ID_SHOWN 8

/* Whether it is an identifier. */
bool tv_store_is_id(const char *text);

/* TV_STORE_NOT_FOUND, as "there is no such WHAT". */
enum tv_store_status tv_store_not_found(struct tv_error *err, const char *what);

/* TV_STORE_FAILED, or TV_STORE_FULL if that is what errno says. */
enum tv_store_status tv_store_fail_errno(struct tv_error *err, const char *what);

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
enum tv_store_status tv_store_reserve_bytes(struct tv_store *store, uint64_t bytes, bool cache,
                                        struct tv_error *err) TV_MUST_CHECK;

/* Whether an upload of so many bytes could have room some day. */
enum tv_store_status tv_store_can_fit(struct tv_store *store, uint64_t bytes,
                                       struct tv_error *err) TV_MUST_CHECK;

/* How many bytes a cache may have. */
uint64_t tv_store_cache_limit(struct tv_store *store);

/* Brings the store below its cap again. */
enum tv_store_status tv_store_enforce_cap(struct tv_store *store, struct tv_error *err) TV_MUST_CHECK;

/* Drops the cache that was not used for the longest time, if there is one. */
bool tv_store_evict_oldest_cache(struct tv_store *store);

/* uploads.c */

/* The row of a trace for an upload whose bytes stand in traces/; within a transaction. */
void tv_store_insert_trace(struct tv_db *db, const char *uid, uint64_t bytes, int64_t now_ms);

/* Writes down how large an upload is; for who has its claim. */
enum tv_store_status tv_store_upload_announce(struct tv_store *store, const char *uid,
                                              uint64_t bytes, struct tv_error *err) TV_MUST_CHECK;

/* claims.c: who may write. */

/* Takes the upload.  A piece that stands at *at (any, when at is NULL) is taken over and hears
 * `verdict`; TV_STORE_WRONG_OFFSET: it stands elsewhere, *at tells; TV_STORE_BUSY: somebody does not let
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

/* Checks labels from a client: TV_STORE_INVALID. */
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

/*
 * database.h - SQLite as this room uses it: transactions under a lock, statements that are prepared
 * once, values that are bound and never part of the SQL.
 *
 * The first failure within a transaction sticks: what comes after it does nothing and finds no
 * rows, and tv_db_end says what it was.  So a transaction is written down without a test at each
 * step.
 */

/* So many different statements are kept. */
#define TV_DB_STATEMENTS 64u

struct tv_db {
    sqlite3 *handle;
    pthread_mutex_t lock;
    struct {
        const char *sql; /* the literal itself: compared by its address */
        sqlite3_stmt *statement;
    } kept[TV_DB_STATEMENTS];
    size_t kept_count;
    int code; /* SQLITE_OK, or the first failure of this transaction */
    bool no_room;
    bool durable; /* how the connection stands */
    char message[160];
};

enum tv_db_kind {
    TV_DB_READ,    /* one state of the catalogue, whoever changes it meanwhile */
    TV_DB_QUICK,   /* changes that survive the end of this process */
    TV_DB_DURABLE, /* changes that are on the disk when tv_db_end comes back */
};

/* Opens the file, which is there (it may be empty).  A failure leaves nothing to close. */
enum tv_status tv_db_open(struct tv_db *db, const char *path, struct tv_error *err) TV_MUST_CHECK;

/* Gives everything back. */
void tv_db_close(struct tv_db *db);

/* Takes the lock and begins a transaction: tv_db_end is always to be called. */
void tv_db_begin(struct tv_db *db, enum tv_db_kind kind);

/* Commits when the status is TV_STORE_OK and nothing failed, else takes everything back; lets the
 * lock go.  The status, or that of the failure. */
enum tv_store_status tv_db_end(struct tv_db *db, enum tv_store_status status,
                               struct tv_error *err) TV_MUST_CHECK;

/* A statement, ready for tv_db_row; NULL after a failure.  A letter of `types` for each value: i
 * int64_t, n int64_t that is not known (null), z const char * (NULL is null), t struct tv_bytes as
 * text, b as a blob.  Texts must live until the last row was taken. */
sqlite3_stmt *tv_db_query(struct tv_db *db, const char *sql, const char *types, ...);

/* Goes to the next row; false: there is none, and the statement can be used again. */
bool tv_db_row(struct tv_db *db, sqlite3_stmt *statement);

/* Leaves a statement before its last row. */
void tv_db_reset(sqlite3_stmt *statement);

/* Runs a statement without rows; how many rows it changed. */
int tv_db_run(struct tv_db *db, const char *sql, const char *types, ...);

/* The first number of the first row; `otherwise` when there is none. */
int64_t tv_db_number(struct tv_db *db, int64_t otherwise, const char *sql, const char *types, ...);

/* Runs SQL of our own that has no values; false after a failure. */
bool tv_db_script(struct tv_db *db, const char *sql);

/* A text or blob of the row, valid until the next row. */
struct tv_bytes tv_db_column_text(sqlite3_stmt *statement, int column);

/*
 * text.h - what clients write, made fit to be shown, and compared whatever its case.
 */

/* Whether it is UTF-8 without control characters and without what turns the direction of a line. */
bool tv_store_text_is_clean(struct tv_bytes text);

/* Writes the text and a NUL to `to`, of which size - 1 bytes at most are used: U+FFFD for each byte
 * that is not UTF-8 and for each character that tv_store_text_is_clean has none of; cut between two
 * characters.  With `lines`, line ends and tabs stay (CR LF becomes LF).  How long it is. */
size_t tv_store_text_clean(struct tv_bytes text, bool lines, char *to, size_t size);

/* The same text in small letters (Latin, Greek, Cyrillic), as many bytes as it has, to
 * to[0..length).  Both may be one. */
void tv_store_text_fold(struct tv_bytes text, char *to);

#endif

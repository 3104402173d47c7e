/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - SQLite as this room uses it: transactions under a lock, statements that are prepared
 * once, values that are bound and never part of the SQL.
 *
 * The first failure within a transaction sticks: what comes after it does nothing and finds no
 * rows, and tv_db_end says what it was.  So a transaction is written down without a test at each
 * step.
 */
#ifndef TV_STORE_DATABASE_H
#define TV_STORE_DATABASE_H

#include <pthread.h>
#include <sqlite3.h>

#include "store/store.h"

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
void tv_db_leave(sqlite3_stmt *statement);

/* Runs a statement without rows; how many rows it changed. */
int tv_db_run(struct tv_db *db, const char *sql, const char *types, ...);

/* The first number of the first row; `otherwise` when there is none. */
int64_t tv_db_number(struct tv_db *db, int64_t otherwise, const char *sql, const char *types, ...);

/* Runs SQL of our own that has no values; false after a failure. */
bool tv_db_script(struct tv_db *db, const char *sql);

/* A text or blob of the row, valid until the next row. */
struct tv_bytes tv_db_text(sqlite3_stmt *statement, int column);

#endif

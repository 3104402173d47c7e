/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - one connection, its lock, and the first thing that went wrong.
 */
#include "store/database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Somebody with a shell on the catalogue may hold it for a moment. */
#define BUSY_MS 10000

/* Takes down a failure, if it is the first. */
static void note(struct tv_db *db, int code)
{
    if (db->code != SQLITE_OK || code == SQLITE_OK)
        return;
    int error = db->handle ? sqlite3_system_errno(db->handle) : 0;
    bool io = (code & 0xff) == SQLITE_IOERR;
    db->code = code;
    db->no_room = (code & 0xff) == SQLITE_FULL || (io && (error == ENOSPC || error == EDQUOT));
    snprintf(db->message, sizeof db->message, "%s",
             db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code));
}

enum tv_status tv_db_open(struct tv_db *db, const char *path, struct tv_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    *db = (struct tv_db){.durable = true};
    int code = sqlite3_open_v2(path, &db->handle, flags, NULL);
    if (code != SQLITE_OK) {
        tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot open the catalogue: %s",
                db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code));
        sqlite3_close(db->handle);
        return TV_ERR_IO;
    }
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_timeout(db->handle, BUSY_MS);
    pthread_mutex_init(&db->lock, NULL);
    return TV_OK;
}

void tv_db_close(struct tv_db *db)
{
    for (size_t i = 0; i < db->kept_count; i++)
        sqlite3_finalize(db->kept[i].statement);
    sqlite3_close(db->handle);
    pthread_mutex_destroy(&db->lock);
}

bool tv_db_script(struct tv_db *db, const char *sql)
{
    if (db->code == SQLITE_OK)
        note(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
    return db->code == SQLITE_OK;
}

void tv_db_begin(struct tv_db *db, enum tv_db_kind kind)
{
    bool durable = kind == TV_DB_DURABLE;
    pthread_mutex_lock(&db->lock);
    db->code = SQLITE_OK;
    db->no_room = false;
    if (kind != TV_DB_READ && durable != db->durable) {
        /* In WAL mode FULL syncs the log at each commit, NORMAL when it goes over into the file. */
        if (tv_db_script(db, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"))
            db->durable = durable;
    }
    tv_db_script(db, kind == TV_DB_READ ? "BEGIN" : "BEGIN IMMEDIATE");
}

static enum tv_store_status explain(const struct tv_db *db, struct tv_error *err)
{
    if (db->no_room) {
        tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "the disk has no room for the catalogue");
        return TV_STORE_FULL;
    }
    tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the catalogue does not work: %s", db->message);
    return TV_STORE_FAILED;
}

enum tv_store_status tv_db_end(struct tv_db *db, enum tv_store_status status, struct tv_error *err)
{
    if (status == TV_STORE_OK)
        tv_db_script(db, "COMMIT");
    if (db->code != SQLITE_OK)
        status = explain(db, err);
    if (!sqlite3_get_autocommit(db->handle))
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&db->lock);
    return status;
}

static sqlite3_stmt *prepare(struct tv_db *db, const char *sql)
{
    size_t i = 0;
    while (i < db->kept_count && db->kept[i].sql != sql)
        i++;
    if (i < db->kept_count)
        return db->kept[i].statement;
    if (i == TV_DB_STATEMENTS) {
        note(db, SQLITE_NOMEM);
        return NULL;
    }
    sqlite3_stmt *statement = NULL;
    note(db, sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    if (!statement)
        return NULL;
    db->kept[i].sql = sql;
    db->kept[i].statement = statement;
    db->kept_count++;
    return statement;
}

/* No bytes may come as NULL, which SQLite takes for null. */
static int bind_bytes(sqlite3_stmt *statement, int at, char type, struct tv_bytes bytes)
{
    const void *data = bytes.length > 0 ? (const void *)bytes.data : "";
    return type == 'b'
               ? sqlite3_bind_blob64(statement, at, data, bytes.length, SQLITE_STATIC)
               : sqlite3_bind_text64(statement, at, data, bytes.length, SQLITE_STATIC, SQLITE_UTF8);
}

static sqlite3_stmt *query(struct tv_db *db, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement = db->code == SQLITE_OK ? prepare(db, sql) : NULL;
    for (int at = 1; statement && types[at - 1]; at++) {
        char type = types[at - 1];
        int code = SQLITE_OK;
        if (type == 'i')
            code = sqlite3_bind_int64(statement, at, va_arg(values, int64_t));
        else if (type == 'z')
            code = sqlite3_bind_text(statement, at, va_arg(values, const char *), -1, NULL);
        else if (type == 'n')
            (void)va_arg(values, int64_t);
        else
            code = bind_bytes(statement, at, type, va_arg(values, struct tv_bytes));
        note(db, code);
    }
    return db->code == SQLITE_OK ? statement : NULL;
}

sqlite3_stmt *tv_db_query(struct tv_db *db, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = query(db, sql, types, values);
    va_end(values);
    return statement;
}

void tv_db_leave(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

bool tv_db_row(struct tv_db *db, sqlite3_stmt *statement)
{
    if (!statement)
        return false;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        note(db, code);
    tv_db_leave(statement);
    return false;
}

int tv_db_run(struct tv_db *db, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = query(db, sql, types, values);
    va_end(values);
    if (!statement)
        return 0;
    while (tv_db_row(db, statement))
        continue;
    return db->code == SQLITE_OK ? sqlite3_changes(db->handle) : 0;
}

int64_t tv_db_number(struct tv_db *db, int64_t otherwise, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = query(db, sql, types, values);
    va_end(values);
    if (!tv_db_row(db, statement))
        return otherwise;
    int64_t number = sqlite3_column_int64(statement, 0);
    tv_db_leave(statement);
    return number;
}

struct tv_bytes tv_db_text(sqlite3_stmt *statement, int column)
{
    const void *data = sqlite3_column_blob(statement, column);
    return (struct tv_bytes){data, (size_t)sqlite3_column_bytes(statement, column)};
}

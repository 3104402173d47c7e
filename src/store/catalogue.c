/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.c - the SQLite catalogue: transactions and statements, then its schema and its checks.
 *
 * The store has two connections. `write` changes the catalogue, one transaction at a time; `read`
 * runs beside it, because in WAL mode a reader sees the last committed state and blocks nobody.
 *
 *     TV_DB_QUICK      synchronous=NORMAL   survives a kill; the log is synced at checkpoints
 *     TV_DB_DURABLE    synchronous=FULL     survives a power loss; the log is synced at each commit
 *
 * The log is kept small, so that a full disk can still record a deletion.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"

/* Somebody may hold the catalogue for a moment, with the sqlite3 shell. */
#define BUSY_MS 10000

/* Record a failure if it is the first of this transaction. */
static void db_note_failure(struct tv_db *db, int code)
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
        db_note_failure(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
    return db->code == SQLITE_OK;
}

void tv_db_begin(struct tv_db *db, enum tv_db_kind kind)
{
    bool durable = kind == TV_DB_DURABLE;
    pthread_mutex_lock(&db->lock);
    db->code = SQLITE_OK;
    db->no_room = false;
    if (kind != TV_DB_READ && durable != db->durable) {
        /* in WAL mode FULL syncs the log at each commit, NORMAL only at checkpoints */
        if (tv_db_script(db, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"))
            db->durable = durable;
    }
    tv_db_script(db, kind == TV_DB_READ ? "BEGIN" : "BEGIN IMMEDIATE");
}

/* Turn the failure of a transaction into a status and a message. */
static enum tv_store_status db_explain_failure(const struct tv_db *db, struct tv_error *err)
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
    assert(db->handle != NULL);
    if (status == TV_STORE_OK)
        tv_db_script(db, "COMMIT");
    if (db->code != SQLITE_OK)
        status = db_explain_failure(db, err);
    if (!sqlite3_get_autocommit(db->handle))
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&db->lock);
    return status;
}

/* Return the statement for a text. Statements are kept and found by the address of their text,
 * which is therefore a string literal. */
static sqlite3_stmt *db_prepare(struct tv_db *db, const char *sql)
{
    assert(db->kept_count <= TV_DB_STATEMENTS);
    size_t i = 0;
    while (i < db->kept_count && db->kept[i].sql != sql)
        i++;
    if (i < db->kept_count)
        return db->kept[i].statement;
    if (i == TV_DB_STATEMENTS) {
        db_note_failure(db, SQLITE_NOMEM);
        return NULL;
    }
    sqlite3_stmt *statement = NULL;
    db_note_failure(
        db, sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    if (!statement)
        return NULL;
    db->kept[i].sql = sql;
    db->kept[i].statement = statement;
    db->kept_count++;
    return statement;
}

/* Bind bytes. An empty text must not be passed as NULL, which SQLite takes for SQL NULL. */
static int db_bind_bytes(sqlite3_stmt *statement, int at, char type, struct tv_bytes bytes)
{
    const void *data = bytes.length > 0 ? (const void *)bytes.data : "";
    return type == 'b'
               ? sqlite3_bind_blob64(statement, at, data, bytes.length, SQLITE_STATIC)
               : sqlite3_bind_text64(statement, at, data, bytes.length, SQLITE_STATIC, SQLITE_UTF8);
}

/* Prepare a statement and bind its values. `types` has a letter for each: i int64_t, t text and b
 * blob as struct tv_bytes, z C string or NULL, n nothing (SQL NULL, with an unused int64_t). */
static sqlite3_stmt *db_query(struct tv_db *db, const char *sql, const char *types, va_list values)
{
    sqlite3_stmt *statement = db->code == SQLITE_OK ? db_prepare(db, sql) : NULL;
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
            code = db_bind_bytes(statement, at, type, va_arg(values, struct tv_bytes));
        db_note_failure(db, code);
    }
    return db->code == SQLITE_OK ? statement : NULL;
}

sqlite3_stmt *tv_db_query(struct tv_db *db, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = db_query(db, sql, types, values);
    va_end(values);
    return statement;
}

void tv_db_reset(sqlite3_stmt *statement)
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
        db_note_failure(db, code);
    tv_db_reset(statement);
    return false;
}

int tv_db_run(struct tv_db *db, const char *sql, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = db_query(db, sql, types, values);
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
    sqlite3_stmt *statement = db_query(db, sql, types, values);
    va_end(values);
    if (!tv_db_row(db, statement))
        return otherwise;
    int64_t number = sqlite3_column_int64(statement, 0);
    tv_db_reset(statement);
    return number;
}

struct tv_bytes tv_db_column_text(sqlite3_stmt *statement, int column)
{
    const void *data = sqlite3_column_blob(statement, column);
    return (struct tv_bytes){data, (size_t)sqlite3_column_bytes(statement, column)};
}

/* ---- The schema ---- */

/* In `traces`, name_key and words are in lower case: name_key is for sorting, words for
 * searching (name, processes, labels and note, one per line). Facts have a table of their own,
 * so that a list does not read them. A finished upload is remembered beside its trace until it
 * expires. */

#define CATALOGUE "catalogue.sqlite3"

/* PRAGMA application_id of our files: "TVst". */
#define APPLICATION 0x54567374
#define VERSION 1

static const char SCHEMA[] =
    "CREATE TABLE store(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE uploads("
    " uid TEXT PRIMARY KEY, trace TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " bytes INTEGER,"                   /* as announced; NULL: not known */
    " labels TEXT NOT NULL,"            /* one per line */
    " held INTEGER NOT NULL DEFAULT 0," /* bytes on disk when this was written */
    " touched INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0) STRICT;"
    "CREATE INDEX uploads_touched ON uploads(done, touched);"
    "CREATE TABLE traces("
    " number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
    " name TEXT NOT NULL, name_key TEXT NOT NULL, words TEXT NOT NULL DEFAULT '',"
    " bytes INTEGER NOT NULL, uploaded INTEGER NOT NULL, seen INTEGER,"
    " pinned INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL DEFAULT '',"
    " state INTEGER NOT NULL DEFAULT 0, error TEXT, error_offset INTEGER, remedy TEXT,"
    " format TEXT, version TEXT, length_ns INTEGER NOT NULL DEFAULT -1,"
    " events INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,"
    " warnings INTEGER NOT NULL DEFAULT 0, findings INTEGER NOT NULL DEFAULT 0,"
    " recorded INTEGER) STRICT;"
    "CREATE INDEX traces_uploaded ON traces(uploaded, id);"
    "CREATE INDEX traces_name ON traces(name_key, id);"
    "CREATE INDEX traces_bytes ON traces(bytes, id);"
    "CREATE INDEX traces_length ON traces(length_ns, id);"
    "CREATE INDEX traces_state ON traces(state, uploaded);"
    /* the key comes first, because SQLite 3.40 otherwise checks the wrong columns for NULL */
    "CREATE TABLE labels("
    " trace INTEGER NOT NULL REFERENCES traces(number) ON DELETE CASCADE,"
    " label_key TEXT NOT NULL, place INTEGER NOT NULL, label TEXT NOT NULL,"
    " PRIMARY KEY(trace, label_key)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE processes("
    " trace INTEGER NOT NULL REFERENCES traces(number) ON DELETE CASCADE,"
    " place INTEGER NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,"
    " PRIMARY KEY(trace, place)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE facts("
    " trace INTEGER PRIMARY KEY REFERENCES traces(number) ON DELETE CASCADE,"
    " facts BLOB NOT NULL) STRICT;";

/* The client of each upload and of each trace that waits to be read. This table is temporary, on
 * the connection that writes, so nothing about clients outlives the server. */
static const char CLIENTS[] =
    "CREATE TEMP TABLE clients("
    " uid TEXT PRIMARY KEY, trace TEXT NOT NULL UNIQUE, client BLOB NOT NULL) STRICT;"
    "CREATE INDEX temp.clients_client ON clients(client);";

/* A log of 128 pages is checkpointed, because a small disk must have space for both. */
static const char SETTINGS[] = "PRAGMA journal_mode=WAL;"
                               "PRAGMA synchronous=FULL;"
                               "PRAGMA wal_autocheckpoint=128;"
                               "PRAGMA journal_size_limit=1048576;"
                               "PRAGMA foreign_keys=ON;"
                               "PRAGMA trusted_schema=OFF;"
                               "PRAGMA temp_store=MEMORY;";

/* Fail because the file is damaged, and say what can be done. */
static enum tv_status catalogue_fail_damaged(struct tv_error *err, const char *how)
{
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                   CATALOGUE
                   " is damaged (%s); nothing was changed. Put a copy of the whole folder "
                   "in its place, or rescue it with `sqlite3 " CATALOGUE " .recover`",
                   how);
}

/* Fail because a statement failed on a catalogue that is being opened. */
static enum tv_status catalogue_fail(const struct tv_db *db, struct tv_error *err)
{
    int code = db->code & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return catalogue_fail_damaged(err, db->message);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", CATALOGUE, db->message);
}

/* Run `PRAGMA quick_check`, which answers "ok" or describes the damage. */
static enum tv_status catalogue_check_soundness(struct tv_db *db, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    sqlite3_stmt *check = tv_db_query(db, "PRAGMA quick_check(1)", "");
    while (tv_db_row(db, check)) {
        struct tv_bytes text = tv_db_column_text(check, 0);
        if (text.length != 2 || memcmp(text.data, "ok", 2) != 0)
            status = catalogue_fail_damaged(err, (const char *)sqlite3_column_text(check, 0));
    }
    return db->code == SQLITE_OK ? status : catalogue_fail(db, err);
}

/* Check an existing catalogue: it must be ours, of a known version, and undamaged. */
static enum tv_status catalogue_check(struct tv_db *db, int64_t version, struct tv_error *err)
{
    if (tv_db_number(db, 0, "PRAGMA application_id", "") != APPLICATION)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       CATALOGUE " is a database of another program; nothing was changed");
    if (version > VERSION)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       CATALOGUE " was made by a later version of traceview (its tables are of "
                                 "version %d, this program knows up to %d)",
                       (int)version, VERSION);
    return catalogue_check_soundness(db, err);
}

/* Count a file; a callback. */
static void catalogue_count_name(void *context, const char *name)
{
    (void)name;
    ++*(size_t *)context;
}

/* Refuse to create a catalogue beside existing traces, which recovery would remove as orphans. */
static enum tv_status catalogue_check_no_traces(struct tv_store *store, struct tv_error *err)
{
    size_t count = 0;
    if (!tv_store_each_name(store->traces, catalogue_count_name, &count))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot look into traces/: %s",
                       strerror(errno));
    return count == 0 ? TV_OK : catalogue_fail_damaged(err, "it is empty, and there are traces");
}

/* Make the tables of a new store.  A folder that already has traces lost its catalogue, and is not
 * taken for a new one. */
static enum tv_status catalogue_make_tables(struct tv_store *store, struct tv_error *err)
{
    struct tv_db *db = &store->write;
    char last[100];
    if (catalogue_check_no_traces(store, err) != TV_OK)
        return err ? err->status : TV_ERR_SYNTAX;
    snprintf(last, sizeof last, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;",
             APPLICATION, VERSION);
    bool made = tv_db_script(db, SETTINGS) && tv_db_script(db, "BEGIN IMMEDIATE") &&
                tv_db_script(db, SCHEMA) && tv_db_script(db, last);
    return made ? TV_OK : catalogue_fail(db, err);
}

/* Open the catalogue for writing.  An empty file gets its tables; one of another version is
 * refused, not changed. */
static enum tv_status catalogue_open_writer(struct tv_store *store, const char *path,
                                            struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_status status = tv_db_open(db, path, err);
    if (status != TV_OK)
        return status;
    store->has_write = true;
    int64_t version = tv_db_number(db, 0, "PRAGMA user_version", "");
    int64_t tables = tv_db_number(db, 0, "SELECT count(*) FROM sqlite_schema", "");
    if (db->code != SQLITE_OK)
        return catalogue_fail(db, err);
    if (version == 0 && tables == 0)
        return catalogue_make_tables(store, err);
    status = catalogue_check(db, version, err);
    if (status == TV_OK && !tv_db_script(db, SETTINGS))
        status = catalogue_fail(db, err);
    return status;
}

static enum tv_status catalogue_make_client_table(struct tv_store *store, struct tv_error *err)
{
    return tv_db_script(&store->write, CLIENTS) ? TV_OK : catalogue_fail(&store->write, err);
}

static enum tv_status catalogue_open_reader(struct tv_store *store, const char *path,
                                            struct tv_error *err)
{
    enum tv_status status = tv_db_open(&store->read, path, err);
    if (status != TV_OK)
        return status;
    store->has_read = true;
    return tv_db_script(&store->read, "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF;"
                                      "PRAGMA temp_store=MEMORY;")
               ? TV_OK
               : catalogue_fail(&store->read, err);
}

enum tv_status tv_store_catalogue_open(struct tv_store *store, struct tv_error *err)
{
    assert(store->folder >= 0 && store->path != NULL);
    /* create the file ourselves, for its permissions; SQLite gives the same to its log */
    int fd = openat(store->folder, CATALOGUE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot open " CATALOGUE ": %s",
                       strerror(errno));
    fchmod(fd, 0600);
    close(fd);
    size_t size = strlen(store->path) + sizeof CATALOGUE + 1;
    char *path = tv_alloc(size, 1);
    snprintf(path, size, "%s/" CATALOGUE, store->path);
    enum tv_status status = catalogue_open_writer(store, path, err);
    if (status == TV_OK)
        status = catalogue_make_client_table(store, err);
    if (status == TV_OK)
        status = catalogue_open_reader(store, path, err);
    tv_free(path);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.c - the tables, and what a file must be to be taken for the catalogue.
 *
 * In `traces`, name_key and words are in small letters: the one orders, the other is searched
 * (name, processes, labels and note, a line each).  Facts lie apart, so that a list does not read
 * them.  A done upload is kept beside its trace until it expires.
 */
#include "store/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define CATALOGUE "catalogue.sqlite3"

/* "TVst": what PRAGMA application_id says of our files. */
#define APPLICATION 0x54567374
#define VERSION 1

static const char SCHEMA[] =
    "CREATE TABLE store(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE uploads("
    " uid TEXT PRIMARY KEY, trace TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " bytes INTEGER,"                   /* as announced; null: not known */
    " labels TEXT NOT NULL,"            /* a line each */
    " held INTEGER NOT NULL DEFAULT 0," /* bytes that were on the disk when this was written */
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
    /* The key comes first: SQLite 3.40 checks the wrong columns for null otherwise. */
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

/* The client of each upload and of each trace that waits to be read.  The table lives as long as
 * the server runs, on the connection that writes. */
static const char CLIENTS[] =
    "CREATE TEMP TABLE clients("
    " uid TEXT PRIMARY KEY, trace TEXT NOT NULL UNIQUE, client BLOB NOT NULL) STRICT;"
    "CREATE INDEX temp.clients_client ON clients(client);";

/* A log of 128 pages goes over into the file: a small disk must have room for both. */
static const char SETTINGS[] = "PRAGMA journal_mode=WAL;"
                               "PRAGMA synchronous=FULL;"
                               "PRAGMA wal_autocheckpoint=128;"
                               "PRAGMA journal_size_limit=1048576;"
                               "PRAGMA foreign_keys=ON;"
                               "PRAGMA trusted_schema=OFF;"
                               "PRAGMA temp_store=MEMORY;";

static enum tv_status damaged(struct tv_error *err, const char *how)
{
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                   CATALOGUE
                   " is damaged (%s); nothing was changed. Put a copy of the whole folder "
                   "in its place, or rescue it with `sqlite3 " CATALOGUE " .recover`",
                   how);
}

static enum tv_status explain(const struct tv_db *db, struct tv_error *err)
{
    int code = db->code & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return damaged(err, db->message);
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", CATALOGUE, db->message);
}

/* What `PRAGMA quick_check` has to say, if it is not "ok". */
static enum tv_status check_soundness(struct tv_db *db, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    sqlite3_stmt *check = tv_db_query(db, "PRAGMA quick_check(1)", "");
    while (tv_db_row(db, check)) {
        struct tv_bytes text = tv_db_text(check, 0);
        if (text.length != 2 || memcmp(text.data, "ok", 2) != 0)
            status = damaged(err, (const char *)sqlite3_column_text(check, 0));
    }
    return db->code == SQLITE_OK ? status : explain(db, err);
}

/* A catalogue that is there: ours, of this version, sound. */
static enum tv_status check_catalogue(struct tv_db *db, int64_t version, struct tv_error *err)
{
    if (tv_db_number(db, 0, "PRAGMA application_id", "") != APPLICATION)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                       CATALOGUE " is a database of another program; nothing was changed");
    if (version > VERSION)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       CATALOGUE " was made by a later version of traceview (its tables are of "
                                 "version %d, this program knows up to %d)",
                       (int)version, VERSION);
    return check_soundness(db, err);
}

static void count_name(void *context, const char *name)
{
    (void)name;
    ++*(size_t *)context;
}

/* A new catalogue beside traces would have them cleaned away as nobody's. */
static enum tv_status check_no_traces(struct tv_store *store, struct tv_error *err)
{
    size_t count = 0;
    if (!tv_store_each_name(store->traces, count_name, &count))
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot look into traces/: %s",
                       strerror(errno));
    return count == 0 ? TV_OK : damaged(err, "it is empty, and there are traces");
}

static enum tv_status make_tables(struct tv_store *store, struct tv_error *err)
{
    struct tv_db *db = &store->write;
    char last[100];
    if (check_no_traces(store, err) != TV_OK)
        return err ? err->status : TV_ERR_SYNTAX;
    snprintf(last, sizeof last, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT;",
             APPLICATION, VERSION);
    bool made = tv_db_script(db, SETTINGS) && tv_db_script(db, "BEGIN IMMEDIATE") &&
                tv_db_script(db, SCHEMA) && tv_db_script(db, last);
    return made ? TV_OK : explain(db, err);
}

static enum tv_status open_for_writing(struct tv_store *store, const char *path,
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
        return explain(db, err);
    if (version == 0 && tables == 0)
        return make_tables(store, err);
    status = check_catalogue(db, version, err);
    if (status == TV_OK && !tv_db_script(db, SETTINGS))
        status = explain(db, err);
    return status;
}

static enum tv_status make_client_table(struct tv_store *store, struct tv_error *err)
{
    return tv_db_script(&store->write, CLIENTS) ? TV_OK : explain(&store->write, err);
}

static enum tv_status open_for_reading(struct tv_store *store, const char *path,
                                       struct tv_error *err)
{
    enum tv_status status = tv_db_open(&store->read, path, err);
    if (status != TV_OK)
        return status;
    store->has_read = true;
    return tv_db_script(&store->read, "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF;"
                                      "PRAGMA temp_store=MEMORY;")
               ? TV_OK
               : explain(&store->read, err);
}

enum tv_status tv_store_catalogue_open(struct tv_store *store, struct tv_error *err)
{
    /* Made by us, with our permissions; SQLite gives the same to the files beside it. */
    int fd = openat(store->folder, CATALOGUE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "cannot open " CATALOGUE ": %s",
                       strerror(errno));
    fchmod(fd, 0600);
    close(fd);
    size_t size = strlen(store->path) + sizeof CATALOGUE + 1;
    char *path = tv_alloc(size, 1);
    snprintf(path, size, "%s/" CATALOGUE, store->path);
    enum tv_status status = open_for_writing(store, path, err);
    if (status == TV_OK)
        status = make_client_table(store, err);
    if (status == TV_OK)
        status = open_for_reading(store, path, err);
    tv_free(path);
    return status;
}

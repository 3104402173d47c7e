/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads.c - rows of uploads: begin, look up, finish, cancel.
 *
 * The order of writes makes every crash recoverable:
 *
 *     begin     create the file -> insert the row
 *     finish    fsync(file) -> rename to traces/ -> fsync(traces/) -> one durable transaction:
 *               insert the trace, mark the upload as done
 *     cancel    delete the row -> remove the file
 *
 * After a crash between two steps of finish, the upload's row still exists and names the trace, so
 * recovery.c finds the file in traces/ and inserts the trace. A crash in begin or cancel leaves a
 * file without a row, which recovery.c removes.
 */
#include "store/uploads.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "store/internal.h"

/* Size of the labels of an upload as text, one per line. */
#define LABELS_TEXT (TV_STORE_LABELS * (TV_STORE_LABEL + 1) + 1)

struct upload_row {
    bool found, done, known;
    uint64_t bytes, held;
    int64_t touched;
    struct tv_store_id trace;
};

/* Read what the catalogue knows about an upload. */
static enum tv_store_status upload_read_row(struct tv_store *store, const char *uid,
                                            struct upload_row *row, struct tv_error *err)
{
    struct tv_db *db = &store->read;
    *row = (struct upload_row){0};
    if (!tv_store_is_id(uid))
        return tv_store_not_found(err, "upload");
    tv_db_begin(db, TV_DB_READ);
    sqlite3_stmt *query = tv_db_query(
        db, "SELECT trace, bytes, held, touched, done FROM uploads WHERE uid=?", "z", uid);
    while (tv_db_row(db, query)) {
        row->found = true;
        snprintf(row->trace.text, sizeof row->trace.text, "%s",
                 (const char *)sqlite3_column_text(query, 0));
        row->known = sqlite3_column_type(query, 1) != SQLITE_NULL;
        row->bytes = row->known ? (uint64_t)sqlite3_column_int64(query, 1) : TV_STORE_SIZE_UNKNOWN;
        row->held = (uint64_t)sqlite3_column_int64(query, 2);
        row->touched = sqlite3_column_int64(query, 3);
        row->done = sqlite3_column_int(query, 4) != 0;
    }
    enum tv_store_status status = tv_db_end(db, TV_STORE_OK, err);
    return status != TV_STORE_OK || row->found ? status : tv_store_not_found(err, "upload");
}

/* Take the claim on an upload for finishing or cancelling it. */
static enum tv_store_status upload_claim(struct tv_store *store, const char *uid,
                                         struct tv_store_claim *claim, enum tv_store_status verdict,
                                         struct tv_error *err)
{
    if (!tv_store_is_id(uid))
        return tv_store_not_found(err, "upload");
    snprintf(claim->uid.text, sizeof claim->uid.text, "%s", uid);
    enum tv_store_status status = tv_store_claim_take(store, claim, NULL, verdict);
    if (status == TV_STORE_BUSY)
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "somebody is at this upload just now");
    return status;
}

/* ---- Dropping ---- */

static enum tv_store_status upload_delete_row(struct tv_store *store, const char *uid,
                                              struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, TV_DB_QUICK);
    if (tv_db_run(db, "DELETE FROM uploads WHERE uid=? AND done=0", "z", uid) == 0)
        status = tv_store_not_found(err, "upload");
    return tv_db_end(db, status, err);
}

/* Free the space of an upload's bytes, but keep its file. */
static void upload_truncate(struct tv_store *store, const char *uid)
{
    uint64_t held = 0;
    int fd = tv_store_open_file(store->uploads, uid, O_WRONLY);
    if (fd < 0)
        return;
    if (tv_store_file_size(store->uploads, uid, &held) && ftruncate(fd, 0) == 0)
        tv_store_count(store, &store->totals.upload_bytes, -(int64_t)held);
    close(fd);
}

/* Remove a cancelled upload: its row first, then its file, so that a crash between them leaves a
 * file without a row, which recovery removes. */
static enum tv_store_status upload_forget(struct tv_store *store, const char *uid,
                                          struct tv_error *err)
{
    uint64_t held = 0;
    enum tv_store_status status = upload_delete_row(store, uid, err);
    /* cancelling must work on a full disk */
    if (status == TV_STORE_FULL) {
        upload_truncate(store, uid);
        status = upload_delete_row(store, uid, err);
    }
    if (status != TV_STORE_OK)
        return status;
    if (tv_store_file_size(store->uploads, uid, &held))
        unlinkat(store->uploads, uid, 0);
    tv_store_count(store, &store->totals.upload_bytes, -(int64_t)held);
    tv_store_count(store, &store->totals.uploads, -1);
    return TV_STORE_OK;
}

static bool upload_is_empty(struct tv_store *store, const char *uid)
{
    uint64_t held = 1;
    return tv_store_file_size(store->uploads, uid, &held) && held == 0;
}

/* Find the oldest upload without bytes that nobody writes: any, if the total is at its maximum,
 * else one of this client. */
static bool upload_find_empty(struct tv_store *store, struct tv_bytes client,
                              struct tv_store_id *uid)
{
    struct tv_db *db = &store->write;
    bool found = false;
    tv_db_begin(db, TV_DB_QUICK);
    int64_t running = tv_db_number(db, 0, "SELECT count(*) FROM uploads WHERE done=0", "");
    bool any = running >= store->options.max_uploads;
    sqlite3_stmt *row = tv_db_query(db,
                                    "SELECT uid FROM uploads LEFT JOIN clients USING(uid)"
                                    " WHERE done=0 AND held=0 AND (? OR client=?)"
                                    " ORDER BY touched",
                                    "ib", (int64_t)any, client);
    while (tv_db_row(db, row)) {
        const char *text = (const char *)sqlite3_column_text(row, 0);
        if (found || tv_store_is_claimed(store, text) || !upload_is_empty(store, text))
            continue;
        found = true;
        snprintf(uid->text, sizeof uid->text, "%s", text);
    }
    return tv_db_end(db, TV_STORE_OK, NULL) == TV_STORE_OK && found;
}

/* Drop an upload without bytes to make room for another. False: all have bytes. */
static bool upload_forget_empty(struct tv_store *store, struct tv_bytes client)
{
    struct tv_store_claim claim = {0};
    struct tv_store_id uid;
    struct tv_error err;
    bool forgotten = false;
    if (!upload_find_empty(store, client, &uid) ||
        upload_claim(store, uid.text, &claim, TV_STORE_OK, &err) != TV_STORE_OK)
        return false;
    if (upload_is_empty(store, uid.text))
        forgotten = upload_forget(store, uid.text, &err) == TV_STORE_OK;
    tv_store_claim_drop(store, &claim);
    if (forgotten)
        tv_store_report(store, "dropped: upload %.*s, which had no bytes, for another one",
                        TV_STORE_ID_SHOWN, uid.text);
    return forgotten;
}

/* ---- Begin ---- */

static enum tv_store_status upload_check_size(const struct tv_store *store, uint64_t bytes,
                                              struct tv_error *err)
{
    uint64_t most = store->options.max_upload_bytes;
    if (most == 0 || most > INT64_MAX)
        most = INT64_MAX;
    if (bytes <= most)
        return TV_STORE_OK;
    tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "an upload may have at most %" PRIu64 " bytes", most);
    return TV_STORE_TOO_LARGE;
}

static void upload_join_labels(const struct tv_store_new_upload *upload, char text[LABELS_TEXT])
{
    assert(upload->label_count <= TV_STORE_LABELS);
    size_t length = 0;
    for (size_t i = 0; i < upload->label_count; i++) {
        memcpy(text + length, upload->labels[i].data, upload->labels[i].length);
        length += upload->labels[i].length;
        text[length++] = '\n';
    }
    text[length] = '\0';
}

/* Return true when one more upload would be too many. Within a transaction. */
static bool upload_are_too_many(struct tv_store *store, struct tv_bytes client,
                                struct tv_error *err)
{
    struct tv_db *db = &store->write;
    int64_t running = tv_db_number(db, 0, "SELECT count(*) FROM uploads WHERE done=0", "");
    if (running >= store->options.max_uploads) {
        tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "too many uploads are running");
        return true;
    }
    int64_t own = tv_db_number(db, 0,
                               "SELECT count(*) FROM clients JOIN uploads USING(uid)"
                               " WHERE done=0 AND client=?",
                               "b", client);
    if (client.length == 0 || own < store->options.client_uploads)
        return false;
    tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "too many uploads of this client are running");
    return true;
}

/* Add an upload, unless the client has too many in progress.  Count and insertion are one
 * transaction, so that two requests cannot both take the last place. */
static enum tv_store_status upload_insert_row(struct tv_store *store,
                                              const struct tv_store_new_upload *upload,
                                              const struct tv_store_id *uid,
                                              const struct tv_store_id *trace, struct tv_error *err)
{
    char name[TV_STORE_NAME + 1], labels[LABELS_TEXT];
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    bool known = upload->bytes != TV_STORE_SIZE_UNKNOWN;
    if (tv_store_text_clean(upload->name, false, name, sizeof name) == 0)
        snprintf(name, sizeof name, "trace");
    upload_join_labels(upload, labels);
    tv_db_begin(db, TV_DB_QUICK);
    if (upload_are_too_many(store, upload->client, err)) {
        status = TV_STORE_FULL;
    } else {
        tv_db_run(db, "INSERT INTO clients(uid, trace, client) VALUES(?, ?, ?)", "zzb", uid->text,
                  trace->text, upload->client);
        tv_db_run(db,
                  "INSERT INTO uploads(uid, trace, name, bytes, labels, touched)"
                  " VALUES(?, ?, ?, ?, ?, ?)",
                  known ? "zzzizi" : "zzznzi", uid->text, trace->text, name,
                  known ? (int64_t)upload->bytes : 0, labels, tv_store_now());
    }
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_upload_begin(struct tv_store *store,
                                           const struct tv_store_new_upload *upload,
                                           struct tv_store_id *uid, struct tv_error *err)
{
    struct tv_store_id made, trace;
    bool known = upload->bytes != TV_STORE_SIZE_UNKNOWN;
    enum tv_store_status status =
        known ? upload_check_size(store, upload->bytes, err) : TV_STORE_OK;
    if (status == TV_STORE_OK)
        status = tv_store_check_labels(upload->labels, upload->label_count, err);
    if (status == TV_STORE_OK)
        status = tv_store_can_fit(store, known ? upload->bytes : 0, err);
    if (status == TV_STORE_OK)
        status = tv_store_new_id(&made, err);
    if (status == TV_STORE_OK)
        status = tv_store_new_id(&trace, err);
    if (status != TV_STORE_OK)
        return status;
    /* the file comes before its row, because recovery forgets a row without a file */
    int fd = tv_store_open_file(store->uploads, made.text, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return tv_store_fail_errno(err, "the upload has no place");
    close(fd);
    status = upload_insert_row(store, upload, &made, &trace, err);
    if (status == TV_STORE_FULL && upload_forget_empty(store, upload->client))
        status = upload_insert_row(store, upload, &made, &trace, err);
    if (status != TV_STORE_OK) {
        unlinkat(store->uploads, made.text, 0);
        return status;
    }
    tv_store_count(store, &store->totals.uploads, 1);
    *uid = made;
    return TV_STORE_OK;
}

/* ---- Look up ---- */

enum tv_store_status tv_store_upload_get(struct tv_store *store, const char *uid,
                                         struct tv_store_upload *upload, struct tv_error *err)
{
    struct upload_row row;
    uint64_t held = 0;
    enum tv_store_status status = upload_read_row(store, uid, &row, err);
    if (status == TV_STORE_OK && !row.done && !tv_store_file_size(store->uploads, uid, &held)) {
        /* it was finished or cancelled between the two looks */
        status = upload_read_row(store, uid, &row, err);
        held = row.held;
    }
    if (status != TV_STORE_OK)
        return status;
    *upload = (struct tv_store_upload){.held = row.done ? row.bytes : held,
                                       .bytes = row.bytes,
                                       .done = row.done,
                                       .trace = row.trace,
                                       .expires_ms = row.touched + store->options.upload_idle_ms};
    return TV_STORE_OK;
}

enum tv_store_status tv_store_upload_announce(struct tv_store *store, const char *uid,
                                              uint64_t bytes, struct tv_error *err)
{
    struct upload_row row;
    uint64_t held = 0;
    struct tv_db *db = &store->write;
    enum tv_store_status status = upload_read_row(store, uid, &row, err);
    if (status == TV_STORE_OK)
        status = upload_check_size(store, bytes, err);
    if (status != TV_STORE_OK || (row.known && row.bytes == bytes))
        return status;
    if (row.known || (tv_store_file_size(store->uploads, uid, &held) && held > bytes)) {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "another size was announced, or more has come");
        return TV_STORE_WRONG_OFFSET;
    }
    tv_db_begin(db, TV_DB_QUICK);
    if (tv_db_run(db, "UPDATE uploads SET bytes=? WHERE uid=? AND bytes IS NULL AND done=0", "iz",
                  (int64_t)bytes, uid) == 0)
        status = tv_store_not_found(err, "upload");
    return tv_db_end(db, status, err);
}

/* ---- Finish ---- */

void tv_store_insert_trace(struct tv_db *db, const char *uid, uint64_t bytes, int64_t now_ms)
{
    char key[TV_STORE_NAME + 1] = "", labels[LABELS_TEXT] = "";
    struct tv_bytes name = {(const uint8_t *)key, 0};
    sqlite3_stmt *row = tv_db_query(db, "SELECT name, labels FROM uploads WHERE uid=?", "z", uid);
    while (tv_db_row(db, row)) {
        name.length = tv_store_text_clean(tv_db_column_text(row, 0), false, key, sizeof key);
        tv_store_text_fold(name, key);
        snprintf(labels, sizeof labels, "%s", (const char *)sqlite3_column_text(row, 1));
    }
    tv_db_run(db,
              "INSERT INTO traces(id, name, name_key, bytes, uploaded)"
              " SELECT trace, name, ?, ?, ? FROM uploads WHERE uid=?",
              "tiiz", name, (int64_t)bytes, now_ms, uid);
    int64_t number = tv_db_number(db, 0, "SELECT last_insert_rowid()", "");
    struct tv_bytes rest = tv_bytes_of(labels), label;
    while (tv_bytes_split(&rest, '\n', &label))
        tv_store_add_label(db, number, label);
    tv_store_index_words(db, number);
    tv_db_run(db, "UPDATE uploads SET done=1, bytes=?, held=?, touched=? WHERE uid=?", "iiiz",
              (int64_t)bytes, (int64_t)bytes, now_ms, uid);
}

static enum tv_store_status upload_commit_trace(struct tv_store *store, const char *uid,
                                                uint64_t bytes, struct tv_error *err)
{
    tv_db_begin(&store->write, TV_DB_DURABLE);
    tv_store_insert_trace(&store->write, uid, bytes, tv_store_now());
    return tv_db_end(&store->write, TV_STORE_OK, err);
}

/* Bring a complete upload to the disk, before the catalogue calls it a trace. */
static enum tv_store_status upload_sync_file(struct tv_store *store, const char *uid,
                                             uint64_t bytes, struct tv_error *err)
{
    uint64_t held = 0;
    enum tv_store_status status = TV_STORE_OK;
    int fd = tv_store_open_file(store->uploads, uid, O_RDONLY);
    if (fd < 0)
        return tv_store_not_found(err, "upload");
    if (!tv_store_file_size(store->uploads, uid, &held) || held != bytes) {
        tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%" PRIu64 " of %" PRIu64 " bytes are here", held,
                bytes);
        status = TV_STORE_WRONG_OFFSET;
    } else if (fsync(fd) != 0) {
        status = tv_store_fail_errno(err, "the disk does not take the upload");
    }
    close(fd);
    return status;
}

/* Move the file to traces/ and commit; if that fails, move it back. */
static enum tv_store_status upload_move_and_commit(struct tv_store *store, const char *uid,
                                                   const struct upload_row *row,
                                                   struct tv_error *err)
{
    assert(!row->done);
    enum tv_store_status status = TV_STORE_OK;
    const char *trace = row->trace.text;
    if (renameat(store->uploads, uid, store->traces, trace) != 0)
        return tv_store_fail_errno(err, "the upload cannot be moved to its place");
    if (fsync(store->traces) != 0)
        status = tv_store_fail_errno(err, "the disk does not take the upload");
    if (status == TV_STORE_OK)
        status = upload_commit_trace(store, uid, row->bytes, err);
    if (status != TV_STORE_OK) {
        renameat(store->traces, trace, store->uploads, uid);
        return status;
    }
    pthread_mutex_lock(&store->totals_lock);
    store->totals.uploads--;
    store->totals.upload_bytes -= row->bytes;
    store->totals.traces++;
    store->totals.trace_bytes += row->bytes;
    pthread_mutex_unlock(&store->totals_lock);
    return TV_STORE_OK;
}

/* Make a trace of a complete upload.  It may be called again after a crash: what is done already is
 * not done twice. */
static enum tv_store_status upload_finish(struct tv_store *store, const char *uid,
                                          struct tv_store_id *trace, struct tv_error *err)
{
    struct upload_row row;
    enum tv_store_status status = upload_read_row(store, uid, &row, err);
    if (status != TV_STORE_OK)
        return status;
    if (!row.done && !row.known && !tv_store_file_size(store->uploads, uid, &row.bytes))
        return tv_store_not_found(err, "upload");
    if (!row.done)
        status = upload_sync_file(store, uid, row.bytes, err);
    if (!row.done && status == TV_STORE_OK)
        status = upload_move_and_commit(store, uid, &row, err);
    if (status == TV_STORE_OK)
        *trace = row.trace;
    return status;
}

enum tv_store_status tv_store_upload_finish(struct tv_store *store, const char *uid,
                                            struct tv_store_id *trace, struct tv_error *err)
{
    struct tv_store_claim claim = {0};
    enum tv_store_status status = upload_claim(store, uid, &claim, TV_STORE_OK, err);
    if (status != TV_STORE_OK)
        return status;
    status = upload_finish(store, uid, trace, err);
    tv_store_claim_drop(store, &claim);
    return status;
}

/* ---- Cancel ---- */

enum tv_store_status tv_store_upload_cancel(struct tv_store *store, const char *uid,
                                            struct tv_error *err)
{
    struct tv_store_claim claim = {0};
    enum tv_store_status status = upload_claim(store, uid, &claim, TV_STORE_NOT_FOUND, err);
    if (status != TV_STORE_OK)
        return status;
    status = upload_forget(store, uid, err);
    tv_store_claim_drop(store, &claim);
    return status;
}

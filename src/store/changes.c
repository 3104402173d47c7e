/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - rows of traces, changed: by people, and by what engines find.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out.h"
#include "store/inside.h"
#include "store/text.h"
#include "store/traces.h"

/* A message, a remedy, a version or a process' name has at most so many bytes. */
#define SHORT_TEXT 1024

static enum tv_store_status bad(struct tv_error *err, const char *what)
{
    tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "%s", what);
    return TV_STORE_BAD;
}

/* The row's number within a transaction; 0: there is none. */
static int64_t find_number(struct tv_db *db, const char *id)
{
    return tv_db_number(db, 0, "SELECT number FROM traces WHERE id=?", "z", id);
}

/* Words. */

/* The rows' texts in small letters, a line each. */
static void add_words(struct tv_db *db, sqlite3_stmt *rows, struct tv_out *words)
{
    while (tv_db_row(db, rows)) {
        struct tv_bytes text = tv_db_text(rows, 0);
        tv_out_bytes(words, text);
        tv_out_char(words, '\n');
    }
}

void tv_store_index_words(struct tv_db *db, int64_t number)
{
    struct tv_out words;
    tv_out_init_memory(&words);
    add_words(db, tv_db_query(db, "SELECT name FROM traces WHERE number=?", "i", number), &words);
    add_words(db, tv_db_query(db, "SELECT name FROM processes WHERE trace=?", "i", number), &words);
    add_words(db, tv_db_query(db, "SELECT label FROM labels WHERE trace=?", "i", number), &words);
    add_words(db, tv_db_query(db, "SELECT note FROM traces WHERE number=?", "i", number), &words);
    struct tv_bytes text = {words.buffer, words.length};
    if (text.length > 0)
        tv_store_text_fold(text, (char *)words.buffer);
    tv_db_run(db, "UPDATE traces SET words=? WHERE number=?", "ti", text, number);
    tv_out_release(&words);
}

/* Labels. */

enum tv_store_status tv_store_check_labels(const struct tv_bytes *labels, size_t count,
                                           struct tv_error *err)
{
    if (count > TV_STORE_LABELS)
        return bad(err, "a trace has at most 32 labels");
    for (size_t i = 0; i < count; i++) {
        if (labels[i].length == 0 || labels[i].length > TV_STORE_LABEL)
            return bad(err, "a label has from 1 to 64 bytes");
        if (!tv_store_text_is_clean(labels[i]))
            return bad(err, "a label is UTF-8 text without control characters");
    }
    return TV_STORE_OK;
}

void tv_store_add_label(struct tv_db *db, int64_t number, struct tv_bytes label)
{
    char key[TV_STORE_LABEL];
    if (label.length > sizeof key)
        return;
    tv_store_text_fold(label, key);
    tv_db_run(db,
              "INSERT OR IGNORE INTO labels(trace, place, label, label_key)"
              " VALUES(?1, (SELECT count(*) FROM labels WHERE trace=?1), ?2, ?3)",
              "itt", number, label, ((struct tv_bytes){(const uint8_t *)key, label.length}));
}

/* What people change. */

static enum tv_store_status check_change(const struct tv_store_change *change, struct tv_error *err)
{
    if (change->name && change->name->length == 0)
        return bad(err, "a name must not be empty");
    if (change->note && change->note->length > TV_STORE_NOTE)
        return bad(err, "a note has at most 16384 bytes");
    return change->labels ? tv_store_check_labels(change->labels, change->label_count, err)
                          : TV_STORE_OK;
}

static void change_name(struct tv_db *db, int64_t number, struct tv_bytes wanted)
{
    char name[TV_STORE_NAME + 1], key[TV_STORE_NAME + 1];
    struct tv_bytes text = {(const uint8_t *)name,
                            tv_store_text_clean(wanted, false, name, sizeof name)};
    tv_store_text_fold(text, key);
    tv_db_run(db, "UPDATE traces SET name=?, name_key=? WHERE number=?", "tti", text,
              ((struct tv_bytes){(const uint8_t *)key, text.length}), number);
}

static void change_note(struct tv_db *db, int64_t number, struct tv_bytes wanted)
{
    /* A byte that is replaced takes three. */
    size_t size = 3 * TV_STORE_NOTE + 1;
    char *note = tv_alloc(size, 1);
    struct tv_bytes text = {(const uint8_t *)note, tv_store_text_clean(wanted, true, note, size)};
    tv_db_run(db, "UPDATE traces SET note=? WHERE number=?", "ti", text, number);
    tv_free(note);
}

static void change_row(struct tv_db *db, int64_t number, const struct tv_store_change *change)
{
    if (change->name)
        change_name(db, number, *change->name);
    if (change->note)
        change_note(db, number, *change->note);
    if (change->labels)
        tv_db_run(db, "DELETE FROM labels WHERE trace=?", "i", number);
    for (size_t i = 0; change->labels && i < change->label_count; i++)
        tv_store_add_label(db, number, change->labels[i]);
    if (change->pinned)
        tv_db_run(db, "UPDATE traces SET pinned=? WHERE number=?", "ii",
                  (int64_t)(*change->pinned ? 1 : 0), number);
    tv_store_index_words(db, number);
}

enum tv_store_status tv_store_trace_change(struct tv_store *store, const char *id,
                                           const struct tv_store_change *change,
                                           struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = check_change(change, err);
    if (status != TV_STORE_OK)
        return status;
    tv_db_begin(db, TV_DB_DURABLE);
    int64_t number = find_number(db, id);
    if (number == 0)
        status = tv_store_none(err, "trace");
    else
        change_row(db, number, change);
    return tv_db_end(db, status, err);
}

/* What engines find. */

/* A text, cleaned and cut, or null. */
static const char *shorten(struct tv_bytes text, char to[SHORT_TEXT])
{
    return tv_store_text_clean(text, false, to, SHORT_TEXT) > 0 ? to : NULL;
}

static int64_t at_most_int64(uint64_t number)
{
    return number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

static void set_processes(struct tv_db *db, int64_t number, const struct tv_store_found *found)
{
    char name[SHORT_TEXT], key[SHORT_TEXT];
    tv_db_run(db, "DELETE FROM processes WHERE trace=?", "i", number);
    for (size_t i = 0; i < found->process_count && i < TV_STORE_PROCESSES; i++) {
        struct tv_bytes text = {(const uint8_t *)name,
                                tv_store_text_clean(found->processes[i], false, name, SHORT_TEXT)};
        tv_store_text_fold(text, key);
        tv_db_run(db, "INSERT INTO processes(trace, place, name, name_key) VALUES(?, ?, ?, ?)",
                  "iitt", number, (int64_t)i, text,
                  ((struct tv_bytes){(const uint8_t *)key, text.length}));
    }
}

static void set_numbers(struct tv_db *db, int64_t number, const struct tv_store_found *found)
{
    bool recorded = found->recorded_ms != TV_STORE_NEVER;
    tv_db_run(db,
              "UPDATE traces SET state=?, length_ns=?, events=?, calls=?, warnings=?,"
              " findings=? WHERE number=?",
              "iiiiiii", (int64_t)found->state,
              found->length_ns < 0 ? INT64_C(-1) : found->length_ns, at_most_int64(found->events),
              at_most_int64(found->calls), (int64_t)found->warnings, (int64_t)found->findings,
              number);
    tv_db_run(db, "UPDATE traces SET recorded=iif(?, ?, NULL) WHERE number=?", "iii",
              (int64_t)recorded, found->recorded_ms, number);
}

static void set_texts(struct tv_db *db, int64_t number, const struct tv_store_found *found)
{
    char error[SHORT_TEXT], remedy[SHORT_TEXT], format[SHORT_TEXT], version[SHORT_TEXT];
    bool failed = found->state == TV_STORE_UNREADABLE;
    bool has_offset = failed && found->error_offset != TV_NO_OFFSET;
    tv_db_run(db,
              "UPDATE traces SET error=?, remedy=?, format=?, version=?,"
              " error_offset=iif(?, ?, NULL) WHERE number=?",
              "zzzziii", failed ? shorten(found->error, error) : NULL,
              failed ? shorten(found->remedy, remedy) : NULL, shorten(found->format, format),
              shorten(found->version, version), (int64_t)has_offset,
              at_most_int64(found->error_offset), number);
}

static enum tv_store_status set_found(struct tv_store *store, const char *id,
                                      const struct tv_store_found *found, struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, TV_DB_DURABLE);
    int64_t number = find_number(db, id);
    if (number == 0) {
        status = tv_store_none(err, "trace");
    } else {
        set_numbers(db, number, found);
        set_texts(db, number, found);
        set_processes(db, number, found);
        tv_db_run(db, "REPLACE INTO facts(trace, facts) VALUES(?, ?)", "ib", number, found->facts);
        tv_store_index_words(db, number);
    }
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_trace_set_found(struct tv_store *store, const char *id,
                                              const struct tv_store_found *found,
                                              struct tv_error *err)
{
    if (found->facts.length > TV_STORE_FACTS)
        return bad(err, "more facts than are kept");
    enum tv_store_status status = set_found(store, id, found, err);
    while (status == TV_STORE_FULL && tv_store_drop_oldest_cache(store))
        status = set_found(store, id, found, err);
    return status;
}

enum tv_store_status tv_store_trace_set_state(struct tv_store *store, const char *id,
                                              enum tv_store_state state, struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, TV_DB_QUICK);
    if (tv_db_run(db, "UPDATE traces SET state=? WHERE id=?", "iz", (int64_t)state, id) == 0)
        status = tv_store_none(err, "trace");
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_trace_take(struct tv_store *store, struct tv_store_id *id,
                                         struct tv_error *err)
{
    struct tv_db *db = &store->write;
    struct tv_store_id taken = {""};
    tv_db_begin(db, TV_DB_QUICK);
    /* A client of whom fewer are being read comes first.  Then each has the time that it came,
     * later by what reading it may take (10 MB a second): small ones overtake, large ones do not
     * starve. */
    sqlite3_stmt *row = tv_db_query(
        db,
        "SELECT id FROM traces LEFT JOIN clients ON trace=id WHERE state=0"
        " ORDER BY (SELECT count(*) FROM traces AS other JOIN clients AS theirs"
        "           ON theirs.trace=other.id WHERE other.state=1 AND theirs.client=clients.client),"
        " uploaded + bytes / 10000, number LIMIT 1",
        "");
    while (tv_db_row(db, row))
        snprintf(taken.text, sizeof taken.text, "%s", (const char *)sqlite3_column_text(row, 0));
    if (taken.text[0] != '\0')
        tv_db_run(db, "UPDATE traces SET state=1 WHERE id=?", "z", taken.text);
    enum tv_store_status status = tv_db_end(db, TV_STORE_OK, err);
    if (status == TV_STORE_OK && taken.text[0] == '\0')
        status = tv_store_none(err, "trace waiting");
    if (status == TV_STORE_OK)
        *id = taken;
    return status;
}

enum tv_store_status tv_store_trace_touch(struct tv_store *store, const char *id, int64_t now_ms,
                                          struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, TV_DB_QUICK);
    if (tv_db_run(db, "UPDATE traces SET seen=? WHERE id=?", "iz", now_ms, id) == 0)
        status = tv_store_none(err, "trace");
    return tv_db_end(db, status, err);
}

/* Deleting. */

/* The counts follow the file: it may go before its row. */
static bool remove_original(struct tv_store *store, const char *id)
{
    uint64_t bytes = 0;
    if (!tv_store_file_size(store->traces, id, &bytes) || unlinkat(store->traces, id, 0) != 0)
        return false;
    tv_store_count(store, &store->totals.trace_bytes, -(int64_t)bytes);
    return true;
}

/* The files of a trace whose row is gone. */
static void remove_files(struct tv_store *store, const char *id)
{
    char cache[TV_STORE_CACHE_NAME];
    uint64_t cache_bytes = 0;
    tv_store_cache_name(cache, id, NULL);
    pthread_mutex_lock(&store->cache_lock);
    bool cached = tv_store_file_size(store->cache, cache, &cache_bytes) &&
                  unlinkat(store->cache, cache, 0) == 0;
    if (cached) {
        tv_store_count(store, &store->totals.cache_bytes, -(int64_t)cache_bytes);
        tv_store_count(store, &store->totals.caches, -1);
    }
    pthread_mutex_unlock(&store->cache_lock);
    remove_original(store, id);
    tv_store_count(store, &store->totals.traces, -1);
}

static enum tv_store_status delete_row(struct tv_store *store, const char *id, enum tv_db_kind kind,
                                       uint64_t *bytes, struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, kind);
    *bytes = (uint64_t)tv_db_number(db, 0, "SELECT bytes FROM traces WHERE id=?", "z", id);
    tv_db_run(db, "DELETE FROM uploads WHERE trace=? AND done=1", "z", id);
    if (tv_db_run(db, "DELETE FROM traces WHERE id=?", "z", id) == 0)
        status = tv_store_none(err, "trace");
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_remove_trace(struct tv_store *store, const char *id,
                                           enum tv_db_kind kind, uint64_t *bytes,
                                           struct tv_error *err)
{
    enum tv_store_status status = delete_row(store, id, kind, bytes, err);
    /* To delete must be possible on a full disk: caches give their room, then the file that is to
     * go.  A row without one is cleaned at the next start. */
    while (status == TV_STORE_FULL && tv_store_drop_oldest_cache(store))
        status = delete_row(store, id, kind, bytes, err);
    if (status == TV_STORE_FULL && tv_store_is_id(id) && remove_original(store, id))
        status = delete_row(store, id, kind, bytes, err);
    if (status == TV_STORE_OK)
        remove_files(store, id);
    return status;
}

enum tv_store_status tv_store_trace_delete(struct tv_store *store, const char *id,
                                           struct tv_error *err)
{
    uint64_t bytes;
    return tv_store_remove_trace(store, id, TV_DB_DURABLE, &bytes, err);
}

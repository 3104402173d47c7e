/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.c - rows of traces: reads them, and changes them for users and engines.
 *
 *     traces      one row for each trace; columns in the order of TV_STORE_TRACE_COLUMNS
 *     labels      texts of users, in their order (place)
 *     processes   names from the trace, in their order
 *     facts       the engine's facts as JSON, which a list of traces does not read
 *
 * Texts with a key (name_key, label_key) keep a folded copy: searches and orders ignore case by
 * comparing it.  `words` is the folded text that a search looks through; whoever changes a name, a
 * label or a note calls tv_store_index_words in the same transaction.
 *
 * Everything that is read for an answer is in the caller's arena and ends with it.
 */
#include "store/traces.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/out.h"
#include "store/internal.h"

/* Return a text column in the arena; NULL for SQL NULL. */
static const char *trace_column_text(sqlite3_stmt *row, int column, struct tv_arena *arena)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return NULL;
    return tv_arena_text(arena, tv_db_column_text(row, column));
}

/* Return a number column; `otherwise` for SQL NULL. */
static int64_t trace_column_number(sqlite3_stmt *row, int column, int64_t otherwise)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? otherwise
                                                           : sqlite3_column_int64(row, column);
}

/* Read the first column of at most `count` rows into an array. Return the number of rows. */
static size_t trace_read_texts(struct tv_db *db, sqlite3_stmt *query, size_t count,
                               struct tv_arena *arena, const char *const **texts)
{
    const char **made = tv_arena_alloc(arena, count, sizeof *made);
    size_t got = 0;
    while (tv_db_row(db, query))
        if (got < count)
            made[got++] = tv_arena_text(arena, tv_db_column_text(query, 0));
    *texts = made;
    return got;
}

/* Read the labels of a trace. They are counted first, because an arena cannot grow an array. */
static void trace_read_labels(struct tv_db *db, int64_t number, struct tv_arena *arena,
                              struct tv_store_trace *trace)
{
    int64_t count = tv_db_number(db, 0, "SELECT count(*) FROM labels WHERE trace=?", "i", number);
    sqlite3_stmt *labels =
        tv_db_query(db, "SELECT label FROM labels WHERE trace=? ORDER BY place", "i", number);
    trace->label_count = trace_read_texts(db, labels, (size_t)count, arena, &trace->labels);
}

/* Read the names of the processes of a trace. */
static void trace_read_processes(struct tv_db *db, int64_t number, struct tv_arena *arena,
                                 struct tv_store_trace *trace)
{
    int64_t count =
        tv_db_number(db, 0, "SELECT count(*) FROM processes WHERE trace=?", "i", number);
    sqlite3_stmt *names =
        tv_db_query(db, "SELECT name FROM processes WHERE trace=? ORDER BY place", "i", number);
    trace->process_count = trace_read_texts(db, names, (size_t)count, arena, &trace->processes);
}

/* Read the columns that an engine filled, from number 8 of TV_STORE_TRACE_COLUMNS on. */
static void trace_read_facts_columns(sqlite3_stmt *row, struct tv_arena *arena,
                                     struct tv_store_trace *trace)
{
    trace->state = (enum tv_store_state)sqlite3_column_int(row, 8);
    trace->error = trace_column_text(row, 9, arena);
    trace->error_offset = sqlite3_column_type(row, 10) == SQLITE_NULL
                              ? TV_NO_OFFSET
                              : (uint64_t)sqlite3_column_int64(row, 10);
    trace->remedy = trace_column_text(row, 11, arena);
    trace->format = trace_column_text(row, 12, arena);
    trace->version = trace_column_text(row, 13, arena);
    trace->length_ns = sqlite3_column_int64(row, 14);
    trace->events = (uint64_t)sqlite3_column_int64(row, 15);
    trace->calls = (uint64_t)sqlite3_column_int64(row, 16);
    trace->warnings = (uint32_t)sqlite3_column_int64(row, 17);
    trace->findings = (uint32_t)sqlite3_column_int64(row, 18);
    trace->recorded_ms = trace_column_number(row, 19, TV_STORE_NEVER);
}

void tv_store_read_trace(struct tv_store *store, sqlite3_stmt *row, struct tv_arena *arena,
                         struct tv_store_trace *trace)
{
    int64_t number = sqlite3_column_int64(row, 0), keep = store->options.keep_ms;
    *trace = (struct tv_store_trace){0};
    snprintf(trace->id.text, sizeof trace->id.text, "%s",
             (const char *)sqlite3_column_text(row, 1));
    trace->name = tv_arena_text(arena, tv_db_column_text(row, 2));
    trace->bytes = (uint64_t)sqlite3_column_int64(row, 3);
    trace->uploaded_ms = sqlite3_column_int64(row, 4);
    trace->seen_ms = trace_column_number(row, 5, TV_STORE_NEVER);
    trace->pinned = sqlite3_column_int(row, 6) != 0;
    trace->expires_ms = keep > 0 && !trace->pinned ? trace->uploaded_ms + keep : TV_STORE_NEVER;
    trace->note = tv_arena_text(arena, tv_db_column_text(row, 7));
    trace_read_facts_columns(row, arena, trace);
    trace_read_labels(&store->read, number, arena, trace);
    trace_read_processes(&store->read, number, arena, trace);
}

/* Read the facts as JSON; empty before an engine has read the trace. */
static struct tv_bytes trace_read_facts_blob(struct tv_db *db, int64_t number,
                                             struct tv_arena *arena)
{
    struct tv_bytes facts = {0};
    sqlite3_stmt *row = tv_db_query(db, "SELECT facts FROM facts WHERE trace=?", "i", number);
    while (tv_db_row(db, row)) {
        facts = tv_db_column_text(row, 0);
        facts.data = (const uint8_t *)tv_arena_text(arena, facts);
    }
    return facts;
}

enum tv_store_status tv_store_trace_get(struct tv_store *store, const char *id,
                                        struct tv_arena *arena, struct tv_store_trace *trace,
                                        struct tv_error *err)
{
    struct tv_db *db = &store->read;
    struct tv_store_trace found = {0};
    int64_t number = 0;
    if (!tv_store_is_id(id))
        return tv_store_not_found(err, "trace");
    tv_db_begin(db, TV_DB_READ);
    sqlite3_stmt *row =
        tv_db_query(db, "SELECT " TV_STORE_TRACE_COLUMNS " FROM traces t WHERE t.id=?", "z", id);
    while (tv_db_row(db, row)) {
        number = sqlite3_column_int64(row, 0);
        tv_store_read_trace(store, row, arena, &found);
    }
    found.facts = trace_read_facts_blob(db, number, arena);
    enum tv_store_status status = tv_db_end(db, TV_STORE_OK, err);
    if (status == TV_STORE_OK && found.id.text[0] == '\0')
        status = tv_store_not_found(err, "trace");
    if (status == TV_STORE_OK)
        *trace = found;
    return status;
}

/* ---- Changes ---- */

/* Maximum size of a message, a remedy, a version or the name of a process. */
#define SHORT_TEXT 1024

/* Return a trace's row number, within a transaction; 0: there is none. */
static int64_t trace_find_number(struct tv_db *db, const char *id)
{
    return tv_db_number(db, 0, "SELECT number FROM traces WHERE id=?", "z", id);
}

/* ---- Words ---- */

/* Append the texts of the rows, one per line. */
static void trace_add_words(struct tv_db *db, sqlite3_stmt *rows, struct tv_out *words)
{
    while (tv_db_row(db, rows)) {
        struct tv_bytes text = tv_db_column_text(rows, 0);
        tv_out_bytes(words, text);
        tv_out_char(words, '\n');
    }
}

void tv_store_index_words(struct tv_db *db, int64_t number)
{
    struct tv_out words;
    tv_out_init_memory(&words);
    trace_add_words(db, tv_db_query(db, "SELECT name FROM traces WHERE number=?", "i", number),
                    &words);
    trace_add_words(db, tv_db_query(db, "SELECT name FROM processes WHERE trace=?", "i", number),
                    &words);
    trace_add_words(db, tv_db_query(db, "SELECT label FROM labels WHERE trace=?", "i", number),
                    &words);
    trace_add_words(db, tv_db_query(db, "SELECT note FROM traces WHERE number=?", "i", number),
                    &words);
    struct tv_bytes text = {words.buffer, words.length};
    if (text.length > 0)
        tv_store_text_fold(text, (char *)words.buffer);
    tv_db_run(db, "UPDATE traces SET words=? WHERE number=?", "ti", text, number);
    tv_out_release(&words);
}

/* ---- Labels ---- */

enum tv_store_status tv_store_check_labels(const struct tv_bytes *labels, size_t count,
                                           struct tv_error *err)
{
    if (count > TV_STORE_LABELS)
        return tv_store_invalid(err, "a trace has at most 32 labels");
    for (size_t i = 0; i < count; i++) {
        if (labels[i].length == 0 || labels[i].length > TV_STORE_LABEL)
            return tv_store_invalid(err, "a label has from 1 to 64 bytes");
        if (!tv_store_text_is_clean(labels[i]))
            return tv_store_invalid(err, "a label is UTF-8 text without control characters");
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

/* ---- Changes by users ---- */

/* Check everything before anything is changed, so that a change happens as a whole or not at
 * all. */
static enum tv_store_status trace_check_change(const struct tv_store_change *change,
                                               struct tv_error *err)
{
    if (change->name && change->name->length == 0)
        return tv_store_invalid(err, "a name must not be empty");
    if (change->note && change->note->length > TV_STORE_NOTE)
        return tv_store_invalid(err, "a note has at most 16384 bytes");
    return change->labels ? tv_store_check_labels(change->labels, change->label_count, err)
                          : TV_STORE_OK;
}

/* Set the name, and the folded copy by which lists are sorted. */
static void trace_change_name(struct tv_db *db, int64_t number, struct tv_bytes wanted)
{
    char name[TV_STORE_NAME + 1], key[TV_STORE_NAME + 1];
    struct tv_bytes text = {(const uint8_t *)name,
                            tv_store_text_clean(wanted, false, name, sizeof name)};
    tv_store_text_fold(text, key);
    tv_db_run(db, "UPDATE traces SET name=?, name_key=? WHERE number=?", "tti", text,
              ((struct tv_bytes){(const uint8_t *)key, text.length}), number);
}

/* Set the note. */
static void trace_change_note(struct tv_db *db, int64_t number, struct tv_bytes wanted)
{
    /* a byte that is not UTF-8 becomes three bytes */
    size_t size = 3 * TV_STORE_NOTE + 1;
    char *note = tv_alloc(size, 1);
    struct tv_bytes text = {(const uint8_t *)note, tv_store_text_clean(wanted, true, note, size)};
    tv_db_run(db, "UPDATE traces SET note=? WHERE number=?", "ti", text, number);
    tv_free(note);
}

/* Apply a checked change, within a transaction. */
static void trace_change_row(struct tv_db *db, int64_t number, const struct tv_store_change *change)
{
    assert(number > 0);
    if (change->name)
        trace_change_name(db, number, *change->name);
    if (change->note)
        trace_change_note(db, number, *change->note);
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
    enum tv_store_status status = trace_check_change(change, err);
    if (status != TV_STORE_OK)
        return status;
    tv_db_begin(db, TV_DB_DURABLE);
    int64_t number = trace_find_number(db, id);
    if (number == 0)
        status = tv_store_not_found(err, "trace");
    else
        trace_change_row(db, number, change);
    return tv_db_end(db, status, err);
}

/* ---- Results of engines ---- */

/* Clean and cut a text; NULL if it is empty. */
static const char *trace_shorten_text(struct tv_bytes text, char to[SHORT_TEXT])
{
    return tv_store_text_clean(text, false, to, SHORT_TEXT) > 0 ? to : NULL;
}

/* Return the number, or the largest one that SQLite holds: engines are not trusted. */
static int64_t trace_clamp_int64(uint64_t number)
{
    return number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

/* Replace the names of the processes. */
static void trace_set_processes(struct tv_db *db, int64_t number,
                                const struct tv_store_trace_facts *facts)
{
    char name[SHORT_TEXT], key[SHORT_TEXT];
    tv_db_run(db, "DELETE FROM processes WHERE trace=?", "i", number);
    for (size_t i = 0; i < facts->process_count && i < TV_STORE_PROCESSES; i++) {
        struct tv_bytes text = {(const uint8_t *)name,
                                tv_store_text_clean(facts->processes[i], false, name, SHORT_TEXT)};
        tv_store_text_fold(text, key);
        tv_db_run(db, "INSERT INTO processes(trace, place, name, name_key) VALUES(?, ?, ?, ?)",
                  "iitt", number, (int64_t)i, text,
                  ((struct tv_bytes){(const uint8_t *)key, text.length}));
    }
}

/* Set the figures that an engine found out. */
static void trace_set_numbers(struct tv_db *db, int64_t number,
                              const struct tv_store_trace_facts *facts)
{
    bool recorded = facts->recorded_ms != TV_STORE_NEVER;
    tv_db_run(db,
              "UPDATE traces SET state=?, length_ns=?, events=?, calls=?, warnings=?,"
              " findings=? WHERE number=?",
              "iiiiiii", (int64_t)facts->state,
              facts->length_ns < 0 ? INT64_C(-1) : facts->length_ns,
              trace_clamp_int64(facts->events), trace_clamp_int64(facts->calls),
              (int64_t)facts->warnings, (int64_t)facts->findings, number);
    tv_db_run(db, "UPDATE traces SET recorded=iif(?, ?, NULL) WHERE number=?", "iii",
              (int64_t)recorded, facts->recorded_ms, number);
}

/* Set the texts that an engine found out, cleaned and cut. */
static void trace_set_texts(struct tv_db *db, int64_t number,
                            const struct tv_store_trace_facts *facts)
{
    char error[SHORT_TEXT], remedy[SHORT_TEXT], format[SHORT_TEXT], version[SHORT_TEXT];
    bool failed = facts->state == TV_STORE_UNREADABLE;
    bool has_offset = failed && facts->error_offset != TV_NO_OFFSET;
    tv_db_run(db,
              "UPDATE traces SET error=?, remedy=?, format=?, version=?,"
              " error_offset=iif(?, ?, NULL) WHERE number=?",
              "zzzziii", failed ? trace_shorten_text(facts->error, error) : NULL,
              failed ? trace_shorten_text(facts->remedy, remedy) : NULL,
              trace_shorten_text(facts->format, format),
              trace_shorten_text(facts->version, version), (int64_t)has_offset,
              trace_clamp_int64(facts->error_offset), number);
}

/* Set everything that an engine found out in one transaction. */
static enum tv_store_status trace_set_facts(struct tv_store *store, const char *id,
                                            const struct tv_store_trace_facts *facts,
                                            struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, TV_DB_DURABLE);
    int64_t number = trace_find_number(db, id);
    if (number == 0) {
        status = tv_store_not_found(err, "trace");
    } else {
        trace_set_numbers(db, number, facts);
        trace_set_texts(db, number, facts);
        trace_set_processes(db, number, facts);
        tv_db_run(db, "REPLACE INTO facts(trace, facts) VALUES(?, ?)", "ib", number, facts->facts);
        tv_store_index_words(db, number);
    }
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_trace_set_facts(struct tv_store *store, const char *id,
                                              const struct tv_store_trace_facts *facts,
                                              struct tv_error *err)
{
    if (facts->facts.length > TV_STORE_FACTS)
        return tv_store_invalid(err, "more facts than are kept");
    enum tv_store_status status = trace_set_facts(store, id, facts, err);
    while (status == TV_STORE_FULL && tv_store_evict_oldest_cache(store))
        status = trace_set_facts(store, id, facts, err);
    return status;
}

enum tv_store_status tv_store_trace_set_state(struct tv_store *store, const char *id,
                                              enum tv_store_state state, struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, TV_DB_QUICK);
    if (tv_db_run(db, "UPDATE traces SET state=? WHERE id=?", "iz", (int64_t)state, id) == 0)
        status = tv_store_not_found(err, "trace");
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_trace_take_next(struct tv_store *store, struct tv_store_id *id,
                                              struct tv_error *err)
{
    struct tv_db *db = &store->write;
    struct tv_store_id taken = {""};
    tv_db_begin(db, TV_DB_QUICK);
    /* The order of the reading queue. First the client of whom the fewest traces are being read, so
     * that one client with many uploads does not delay others. Then by upload time plus the
     * expected reading time (10 MB/s): small traces overtake large ones, but a large one is
     * overtaken only for as long as reading it takes, so it does not starve. */
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
        status = tv_store_not_found(err, "trace waiting");
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
        status = tv_store_not_found(err, "trace");
    return tv_db_end(db, status, err);
}

/* ---- Deletion ---- */

/* Remove the original. The totals follow the file, which may be removed before its row. */
static bool trace_remove_original(struct tv_store *store, const char *id)
{
    uint64_t bytes = 0;
    if (!tv_store_file_size(store->traces, id, &bytes) || unlinkat(store->traces, id, 0) != 0)
        return false;
    tv_store_count(store, &store->totals.trace_bytes, -(int64_t)bytes);
    return true;
}

/* Remove the files of a trace whose row is gone. */
static void trace_remove_files(struct tv_store *store, const char *id)
{
    char cache[TV_STORE_CACHE_NAME];
    uint64_t cache_bytes;
    tv_store_cache_name(cache, id, NULL);
    pthread_mutex_lock(&store->cache_lock);
    (void)tv_store_remove_cache(store, cache, &cache_bytes);
    pthread_mutex_unlock(&store->cache_lock);
    trace_remove_original(store, id);
    tv_store_count(store, &store->totals.traces, -1);
}

/* Delete the row of a trace and the finished upload that it came from; *bytes is its size. */
static enum tv_store_status trace_delete_row(struct tv_store *store, const char *id,
                                             enum tv_db_kind kind, uint64_t *bytes,
                                             struct tv_error *err)
{
    struct tv_db *db = &store->write;
    enum tv_store_status status = TV_STORE_OK;
    tv_db_begin(db, kind);
    *bytes = (uint64_t)tv_db_number(db, 0, "SELECT bytes FROM traces WHERE id=?", "z", id);
    tv_db_run(db, "DELETE FROM uploads WHERE trace=? AND done=1", "z", id);
    if (tv_db_run(db, "DELETE FROM traces WHERE id=?", "z", id) == 0)
        status = tv_store_not_found(err, "trace");
    return tv_db_end(db, status, err);
}

enum tv_store_status tv_store_remove_trace(struct tv_store *store, const char *id,
                                           enum tv_db_kind kind, uint64_t *bytes,
                                           struct tv_error *err)
{
    enum tv_store_status status = trace_delete_row(store, id, kind, bytes, err);
    /* Deleting must work on a full disk: free space by dropping caches, then by removing the
     * original before its row. Recovery deletes a row without a file. */
    while (status == TV_STORE_FULL && tv_store_evict_oldest_cache(store))
        status = trace_delete_row(store, id, kind, bytes, err);
    if (status == TV_STORE_FULL && tv_store_is_id(id) && trace_remove_original(store, id))
        status = trace_delete_row(store, id, kind, bytes, err);
    if (status == TV_STORE_OK)
        trace_remove_files(store, id);
    return status;
}

enum tv_store_status tv_store_trace_delete(struct tv_store *store, const char *id,
                                           struct tv_error *err)
{
    uint64_t bytes;
    return tv_store_remove_trace(store, id, TV_DB_DURABLE, &bytes, err);
}

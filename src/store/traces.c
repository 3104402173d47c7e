/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.c - rows of traces, read.
 */
#include "store/traces.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/inside.h"

static const char *text_or_null(sqlite3_stmt *row, int column, struct tv_arena *arena)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        return NULL;
    return tv_arena_text(arena, tv_db_text(row, column));
}

static int64_t number_or(sqlite3_stmt *row, int column, int64_t otherwise)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? otherwise
                                                           : sqlite3_column_int64(row, column);
}

/* The first column of up to `count` rows, as an array; how many there are. */
static size_t read_texts(struct tv_db *db, sqlite3_stmt *query, size_t count,
                         struct tv_arena *arena, const char *const **texts)
{
    const char **made = tv_arena_alloc(arena, count, sizeof *made);
    size_t got = 0;
    while (tv_db_row(db, query))
        if (got < count)
            made[got++] = tv_arena_text(arena, tv_db_text(query, 0));
    *texts = made;
    return got;
}

static void read_labels(struct tv_db *db, int64_t number, struct tv_arena *arena,
                        struct tv_store_trace *trace)
{
    int64_t count = tv_db_number(db, 0, "SELECT count(*) FROM labels WHERE trace=?", "i", number);
    sqlite3_stmt *labels =
        tv_db_query(db, "SELECT label FROM labels WHERE trace=? ORDER BY place", "i", number);
    trace->label_count = read_texts(db, labels, (size_t)count, arena, &trace->labels);
}

static void read_processes(struct tv_db *db, int64_t number, struct tv_arena *arena,
                           struct tv_store_trace *trace)
{
    int64_t count =
        tv_db_number(db, 0, "SELECT count(*) FROM processes WHERE trace=?", "i", number);
    sqlite3_stmt *names =
        tv_db_query(db, "SELECT name FROM processes WHERE trace=? ORDER BY place", "i", number);
    trace->process_count = read_texts(db, names, (size_t)count, arena, &trace->processes);
}

static void read_found(sqlite3_stmt *row, struct tv_arena *arena, struct tv_store_trace *trace)
{
    trace->state = (enum tv_store_state)sqlite3_column_int(row, 8);
    trace->error = text_or_null(row, 9, arena);
    trace->error_offset = sqlite3_column_type(row, 10) == SQLITE_NULL
                              ? TV_NO_OFFSET
                              : (uint64_t)sqlite3_column_int64(row, 10);
    trace->remedy = text_or_null(row, 11, arena);
    trace->format = text_or_null(row, 12, arena);
    trace->version = text_or_null(row, 13, arena);
    trace->length_ns = sqlite3_column_int64(row, 14);
    trace->events = (uint64_t)sqlite3_column_int64(row, 15);
    trace->calls = (uint64_t)sqlite3_column_int64(row, 16);
    trace->warnings = (uint32_t)sqlite3_column_int64(row, 17);
    trace->findings = (uint32_t)sqlite3_column_int64(row, 18);
    trace->recorded_ms = number_or(row, 19, TV_STORE_NEVER);
}

void tv_store_read_trace(struct tv_store *store, sqlite3_stmt *row, struct tv_arena *arena,
                         struct tv_store_trace *trace)
{
    int64_t number = sqlite3_column_int64(row, 0), keep = store->options.keep_ms;
    *trace = (struct tv_store_trace){0};
    snprintf(trace->id.text, sizeof trace->id.text, "%s",
             (const char *)sqlite3_column_text(row, 1));
    trace->name = tv_arena_text(arena, tv_db_text(row, 2));
    trace->bytes = (uint64_t)sqlite3_column_int64(row, 3);
    trace->uploaded_ms = sqlite3_column_int64(row, 4);
    trace->seen_ms = number_or(row, 5, TV_STORE_NEVER);
    trace->pinned = sqlite3_column_int(row, 6) != 0;
    trace->expires_ms = keep > 0 && !trace->pinned ? trace->uploaded_ms + keep : TV_STORE_NEVER;
    trace->note = tv_arena_text(arena, tv_db_text(row, 7));
    read_found(row, arena, trace);
    read_labels(&store->read, number, arena, trace);
    read_processes(&store->read, number, arena, trace);
}

static struct tv_bytes read_facts(struct tv_db *db, int64_t number, struct tv_arena *arena)
{
    struct tv_bytes facts = {0};
    sqlite3_stmt *row = tv_db_query(db, "SELECT facts FROM facts WHERE trace=?", "i", number);
    while (tv_db_row(db, row)) {
        facts = tv_db_text(row, 0);
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
        return tv_store_none(err, "trace");
    tv_db_begin(db, TV_DB_READ);
    sqlite3_stmt *row =
        tv_db_query(db, "SELECT " TV_STORE_TRACE_COLUMNS " FROM traces t WHERE t.id=?", "z", id);
    while (tv_db_row(db, row)) {
        number = sqlite3_column_int64(row, 0);
        tv_store_read_trace(store, row, arena, &found);
    }
    found.facts = read_facts(db, number, arena);
    enum tv_store_status status = tv_db_end(db, TV_STORE_OK, err);
    if (status == TV_STORE_OK && found.id.text[0] == '\0')
        status = tv_store_none(err, "trace");
    if (status == TV_STORE_OK)
        *trace = found;
    return status;
}

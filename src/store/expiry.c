/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expiry.c - what is due: old traces, uploads that nobody goes on with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/inside.h"
#include "store/uploads.h"

/* Identifiers, and names, of rows that are due. */
struct due {
    struct due *next;
    const char *id, *name;
};

static enum tv_store_status find_due(struct tv_store *store, const char *sql, int64_t until,
                                     struct tv_arena *arena, struct due **first)
{
    struct tv_db *db = &store->read;
    tv_db_begin(db, TV_DB_READ);
    sqlite3_stmt *row = tv_db_query(db, sql, "i", until);
    while (tv_db_row(db, row)) {
        struct due *due = tv_arena_alloc(arena, 1, sizeof *due);
        *due = (struct due){*first, tv_arena_text(arena, tv_db_text(row, 0)),
                            tv_arena_text(arena, tv_db_text(row, 1))};
        *first = due;
    }
    return tv_db_end(db, TV_STORE_OK, NULL);
}

static enum tv_store_status expire_traces(struct tv_store *store, int64_t until,
                                          struct tv_arena *arena, struct tv_error *err)
{
    struct due *due = NULL;
    enum tv_store_status status = find_due(
        store, "SELECT id, name FROM traces WHERE pinned=0 AND uploaded<=?", until, arena, &due);
    for (; due && status == TV_STORE_OK; due = due->next) {
        uint64_t bytes;
        status = tv_store_remove_trace(store, due->id, TV_DB_QUICK, &bytes, err);
        if (status == TV_STORE_OK)
            tv_store_say(store, "expired: trace %.*s (%s)", TV_STORE_SHOWN, due->id, due->name);
        else if (status == TV_STORE_NONE) /* somebody was faster */
            status = TV_STORE_OK;
    }
    return status;
}

static enum tv_store_status expire_uploads(struct tv_store *store, int64_t until,
                                           struct tv_arena *arena, struct tv_error *err)
{
    struct due *due = NULL;
    enum tv_store_status status = find_due(
        store, "SELECT uid, name FROM uploads WHERE done=0 AND touched<=?", until, arena, &due);
    for (; due && status == TV_STORE_OK; due = due->next) {
        if (tv_store_is_claimed(store, due->id))
            continue;
        status = tv_store_upload_cancel(store, due->id, err);
        if (status == TV_STORE_OK)
            tv_store_say(store, "expired: upload %.*s (%s), nobody went on with it", TV_STORE_SHOWN,
                         due->id, due->name);
        else if (status == TV_STORE_NONE || status == TV_STORE_BUSY)
            status = TV_STORE_OK;
    }
    if (status != TV_STORE_OK)
        return status;
    tv_db_begin(&store->write, TV_DB_QUICK);
    tv_db_run(&store->write, "DELETE FROM uploads WHERE done=1 AND touched<=?", "i", until);
    tv_db_run(&store->write,
              "DELETE FROM clients WHERE uid NOT IN (SELECT uid FROM uploads WHERE done=0)"
              " AND trace NOT IN (SELECT id FROM traces WHERE state IN (0, 1))",
              "");
    return tv_db_end(&store->write, TV_STORE_OK, err);
}

static bool is_jump(int64_t from, int64_t to)
{
    return (from > to ? from - to : to - from) > TV_STORE_JUMP_MS;
}

static void begin_hold(struct tv_store *store, int64_t ahead, int64_t steady_ms)
{
    struct tv_store_clock *clock = &store->clock;
    int64_t by = ahead > clock->ahead ? ahead - clock->ahead : clock->ahead - ahead;
    clock->holds = true;
    clock->jumped = ahead;
    clock->until_ms = steady_ms + TV_STORE_JUMP_HOLD_MS;
    tv_store_say(store,
                 "the clock was set %s by %" PRId64
                 " minutes: nothing goes by its age for a day; set it right if it is wrong",
                 ahead > clock->ahead ? "forward" : "back", by / 60000);
}

/* Return true when the wall clock can be believed. */
static bool believe_clock(struct tv_store *store, int64_t now_ms, int64_t steady_ms)
{
    struct tv_store_clock *clock = &store->clock;
    int64_t ahead = now_ms - steady_ms;
    bool back = clock->known && !is_jump(clock->ahead, ahead);
    bool waited = clock->holds && !is_jump(clock->jumped, ahead) && steady_ms >= clock->until_ms;
    if (!clock->known || back || waited) {
        *clock = (struct tv_store_clock){.known = true, .ahead = ahead};
        return true;
    }
    if (!clock->holds || is_jump(clock->jumped, ahead))
        begin_hold(store, ahead, steady_ms);
    return false;
}

/* Drop what is too old by the wall clock. */
static enum tv_store_status expire_old(struct tv_store *store, int64_t now_ms, struct tv_error *err)
{
    struct tv_arena arena;
    int64_t keep = store->options.keep_ms;
    enum tv_store_status status = TV_STORE_OK;
    tv_arena_init(&arena);
    if (keep > 0)
        status = expire_traces(store, now_ms - keep, &arena, err);
    if (status == TV_STORE_OK)
        status = expire_uploads(store, now_ms - store->options.upload_idle_ms, &arena, err);
    tv_arena_release(&arena);
    return status;
}

enum tv_store_status tv_store_expire(struct tv_store *store, int64_t now_ms, int64_t steady_ms,
                                     struct tv_error *err)
{
    enum tv_store_status status = TV_STORE_OK;
    if (believe_clock(store, now_ms, steady_ms))
        status = expire_old(store, now_ms, err);
    return status == TV_STORE_OK ? tv_store_keep_cap(store, err) : status;
}

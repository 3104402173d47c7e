/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction.c - counts bytes, frees space for more, and deletes what is too old.
 *
 *     cap of the store:   drop caches, least recently used first; then the oldest unpinned traces
 *     full disk:          drop caches only
 *     age:                traces after keep_ms, uploads after upload_idle_ms
 *
 * Space is reserved before bytes are written: counted under totals_lock if they fit, else evict and
 * try again. So uploads never exceed the cap, however many of them run.
 */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/traces.h"
#include "store/uploads.h"

/* Space left free on the disk for the catalogue, which must still be able to record a deletion: its
 * log grows by half a megabyte. */
#define MIN_RESERVE ((uint64_t)1024 * 1024)
#define MAX_RESERVE ((uint64_t)16 * 1024 * 1024)

struct tv_store_totals tv_store_totals(struct tv_store *store)
{
    pthread_mutex_lock(&store->totals_lock);
    struct tv_store_totals totals = store->totals;
    pthread_mutex_unlock(&store->totals_lock);
    return totals;
}

void tv_store_count(struct tv_store *store, uint64_t *count, int64_t by)
{
    pthread_mutex_lock(&store->totals_lock);
    *count += (uint64_t)by;
    pthread_mutex_unlock(&store->totals_lock);
}

/* Return the bytes that count against the cap. */
static uint64_t eviction_sum_bytes(const struct tv_store_totals *totals)
{
    return totals->trace_bytes + totals->cache_bytes + totals->upload_bytes;
}

/* Return by how many bytes the store would exceed its cap with so many more. */
static uint64_t eviction_excess_bytes(const struct tv_store *store,
                                      const struct tv_store_totals *totals, uint64_t bytes)
{
    uint64_t cap = store->options.max_store_bytes, used = eviction_sum_bytes(totals);
    if (cap == 0)
        return 0;
    if (bytes > cap || used > cap - bytes)
        return bytes > UINT64_MAX - used ? UINT64_MAX : used + bytes - cap;
    return 0;
}

/* Count the bytes if they fit below the cap. */
static bool eviction_try_count(struct tv_store *store, uint64_t *count, uint64_t bytes)
{
    pthread_mutex_lock(&store->totals_lock);
    bool fits = eviction_excess_bytes(store, &store->totals, bytes) == 0;
    if (fits)
        *count += bytes;
    pthread_mutex_unlock(&store->totals_lock);
    return fits;
}

/* Return how many bytes may still be written to the disk; a large number if it does not tell. */
static uint64_t eviction_disk_room(struct tv_store *store)
{
    struct statvfs info;
    if (fstatvfs(store->uploads, &info) != 0 || info.f_frsize == 0 || info.f_blocks == 0)
        return INT64_MAX;
    uint64_t size = (uint64_t)info.f_blocks * info.f_frsize;
    uint64_t room = (uint64_t)info.f_bavail * info.f_frsize;
    uint64_t reserve = store->options.reserve_bytes;
    if (reserve == 0) {
        reserve = size / 16 < MAX_RESERVE ? size / 16 : MAX_RESERVE;
        reserve = reserve > MIN_RESERVE ? reserve : MIN_RESERVE;
    }
    return room > reserve ? room - reserve : 0;
}

/* Search for the cache that was used longest ago; opening a cache sets its time. */
struct oldest_cache {
    int folder;
    struct timespec used;
    char name[TV_STORE_CACHE_NAME];
};

/* Return true for the name of a finished cache, ID.index; unfinished ones have other endings. */
static bool eviction_is_cache_name(const char *name)
{
    char id[TV_STORE_ID_DIGITS + 1] = "";
    if (strlen(name) != TV_STORE_ID_DIGITS + strlen(".index"))
        return false;
    memcpy(id, name, TV_STORE_ID_DIGITS);
    return tv_store_is_id(id) && strcmp(name + TV_STORE_ID_DIGITS, ".index") == 0;
}

/* Keep the cache if it is older than the oldest one so far. */
static void eviction_compare_age(void *context, const char *name)
{
    struct oldest_cache *oldest = context;
    struct stat info;
    if (!eviction_is_cache_name(name) ||
        fstatat(oldest->folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (oldest->name[0] != '\0' && (info.st_mtim.tv_sec > oldest->used.tv_sec ||
                                    (info.st_mtim.tv_sec == oldest->used.tv_sec &&
                                     info.st_mtim.tv_nsec >= oldest->used.tv_nsec)))
        return;
    oldest->used = info.st_mtim;
    snprintf(oldest->name, sizeof oldest->name, "%s", name);
}

bool tv_store_evict_oldest_cache(struct tv_store *store)
{
    struct oldest_cache oldest = {.folder = store->cache};
    uint64_t bytes;
    pthread_mutex_lock(&store->cache_lock);
    bool found = tv_store_each_name(store->cache, eviction_compare_age, &oldest) &&
                 oldest.name[0] != '\0' && tv_store_remove_cache(store, oldest.name, &bytes);
    pthread_mutex_unlock(&store->cache_lock);
    if (found)
        tv_store_report(store, "to make room: dropped the cache of trace %.*s (%" PRIu64 " bytes)",
                        TV_STORE_ID_SHOWN, oldest.name, bytes);
    return found;
}

/* Fail because there is no room, and say where. */
static enum tv_store_status eviction_fail_full(struct tv_error *err, const char *where)
{
    tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "%s", where);
    return TV_STORE_FULL;
}

/* Delete the oldest trace that is not pinned. */
static enum tv_store_status eviction_drop_oldest_trace(struct tv_store *store, struct tv_error *err)
{
    struct tv_store_id id = {""};
    char name[TV_STORE_NAME + 1] = "";
    uint64_t bytes = 0;
    struct tv_db *db = &store->read;
    tv_db_begin(db, TV_DB_READ);
    sqlite3_stmt *row = tv_db_query(
        db, "SELECT id, name FROM traces WHERE pinned=0 ORDER BY uploaded, id LIMIT 1", "");
    while (tv_db_row(db, row)) {
        snprintf(id.text, sizeof id.text, "%s", (const char *)sqlite3_column_text(row, 0));
        snprintf(name, sizeof name, "%s", (const char *)sqlite3_column_text(row, 1));
    }
    enum tv_store_status status = tv_db_end(db, TV_STORE_OK, err);
    if (status != TV_STORE_OK)
        return status;
    if (id.text[0] == '\0')
        return eviction_fail_full(err,
                                  "the store is full, and what is in it is pinned or still coming");
    status = tv_store_remove_trace(store, id.text, TV_DB_QUICK, &bytes, err);
    if (status == TV_STORE_OK)
        tv_store_report(store, "to make room: deleted trace %.*s (%s, %" PRIu64 " bytes)",
                        TV_STORE_ID_SHOWN, id.text, name, bytes);
    return status == TV_STORE_NOT_FOUND ? TV_STORE_OK : status; /* somebody else deleted it */
}

/* Sum up the bytes of traces that may be evicted. */
static enum tv_store_status eviction_sum_unpinned(struct tv_store *store, uint64_t *bytes,
                                                  struct tv_error *err)
{
    tv_db_begin(&store->read, TV_DB_READ);
    *bytes = (uint64_t)tv_db_number(
        &store->read, 0, "SELECT coalesce(sum(bytes), 0) FROM traces WHERE pinned=0", "");
    return tv_db_end(&store->read, TV_STORE_OK, err);
}

/* Evict until so many more bytes fit. Runs under evict_lock. If even evicting everything would not
 * be enough, evict nothing. */
static enum tv_store_status eviction_make_room(struct tv_store *store, uint64_t bytes,
                                               bool traces_too, struct tv_error *err)
{
    uint64_t unpinned = 0;
    struct tv_store_totals totals = tv_store_totals(store);
    enum tv_store_status status =
        traces_too ? eviction_sum_unpinned(store, &unpinned, err) : TV_STORE_OK;
    if (status != TV_STORE_OK)
        return status;
    if (eviction_excess_bytes(store, &totals, bytes) > unpinned + totals.cache_bytes)
        return eviction_fail_full(err,
                                  "the store is full, and what is in it is pinned or still coming");
    while (eviction_excess_bytes(store, &totals, bytes) > 0 && status == TV_STORE_OK) {
        if (!tv_store_evict_oldest_cache(store))
            status = traces_too ? eviction_drop_oldest_trace(store, err)
                                : eviction_fail_full(err, "the store is full");
        totals = tv_store_totals(store);
    }
    return status;
}

/* Drop caches until the disk has room. False: all caches are gone, and it still has not. */
static bool eviction_make_disk_room(struct tv_store *store, uint64_t bytes)
{
    while (eviction_disk_room(store) < bytes)
        if (!tv_store_evict_oldest_cache(store))
            return false;
    return true;
}

enum tv_store_status tv_store_reserve_bytes(struct tv_store *store, uint64_t bytes, bool cache,
                                            struct tv_error *err)
{
    assert(cache || store->uploads >= 0);
    uint64_t *count = cache ? &store->totals.cache_bytes : &store->totals.upload_bytes;
    enum tv_store_status status = TV_STORE_OK;
    /* a cache is already on disk when it is counted */
    if (!cache && !eviction_make_disk_room(store, bytes))
        return eviction_fail_full(err, "the disk is full");
    while (status == TV_STORE_OK && !eviction_try_count(store, count, bytes)) {
        pthread_mutex_lock(&store->evict_lock);
        status = eviction_make_room(store, bytes, !cache, err);
        pthread_mutex_unlock(&store->evict_lock);
    }
    return status;
}

enum tv_store_status tv_store_can_fit(struct tv_store *store, uint64_t bytes, struct tv_error *err)
{
    uint64_t unpinned = 0;
    struct tv_store_totals totals = tv_store_totals(store);
    if (store->options.max_store_bytes == 0) {
        uint64_t room = eviction_disk_room(store);
        return bytes > totals.cache_bytes && bytes - totals.cache_bytes > room
                   ? eviction_fail_full(err, "the disk has no room for so many bytes")
                   : TV_STORE_OK;
    }
    enum tv_store_status status = eviction_sum_unpinned(store, &unpinned, err);
    if (status == TV_STORE_OK &&
        eviction_excess_bytes(store, &totals, bytes) > unpinned + totals.cache_bytes)
        status =
            eviction_fail_full(err, "so many bytes have no room in the store, whatever is deleted");
    return status;
}

uint64_t tv_store_cache_limit(struct tv_store *store)
{
    struct tv_store_totals totals = tv_store_totals(store);
    uint64_t cap = store->options.max_store_bytes, room = eviction_disk_room(store);
    uint64_t fixed = totals.trace_bytes + totals.upload_bytes;
    if (cap == 0)
        return room;
    uint64_t left = cap > fixed ? cap - fixed : 0;
    return left < room ? left : room;
}

enum tv_store_status tv_store_enforce_cap(struct tv_store *store, struct tv_error *err)
{
    struct tv_error full;
    struct tv_store_totals totals = tv_store_totals(store);
    enum tv_store_status status = TV_STORE_OK;
    pthread_mutex_lock(&store->evict_lock);
    while (eviction_excess_bytes(store, &totals, 0) > 0 && status == TV_STORE_OK) {
        if (!tv_store_evict_oldest_cache(store))
            status = eviction_drop_oldest_trace(store, &full);
        totals = tv_store_totals(store);
    }
    pthread_mutex_unlock(&store->evict_lock);
    if (status != TV_STORE_OK && status != TV_STORE_FULL && err)
        *err = full;
    return status == TV_STORE_FULL ? TV_STORE_OK
                                   : status; /* only pinned traces and uploads are left */
}

/* ---- Expiry ---- */

/* A row that is due. */
struct expiry_due {
    struct expiry_due *next;
    const char *id, *name;
};

/* List the rows that are due. They are deleted after the query has ended, because deleting needs
 * the other connection. */
static enum tv_store_status expiry_find_due(struct tv_store *store, const char *sql, int64_t until,
                                            struct tv_arena *arena, struct expiry_due **first)
{
    struct tv_db *db = &store->read;
    tv_db_begin(db, TV_DB_READ);
    sqlite3_stmt *row = tv_db_query(db, sql, "i", until);
    while (tv_db_row(db, row)) {
        struct expiry_due *due = tv_arena_alloc(arena, 1, sizeof *due);
        *due = (struct expiry_due){*first, tv_arena_text(arena, tv_db_column_text(row, 0)),
                                   tv_arena_text(arena, tv_db_column_text(row, 1))};
        *first = due;
    }
    return tv_db_end(db, TV_STORE_OK, NULL);
}

/* Delete the traces that were uploaded before a time. */
static enum tv_store_status expiry_drop_traces(struct tv_store *store, int64_t until,
                                               struct tv_arena *arena, struct tv_error *err)
{
    struct expiry_due *due = NULL;
    enum tv_store_status status = expiry_find_due(
        store, "SELECT id, name FROM traces WHERE pinned=0 AND uploaded<=?", until, arena, &due);
    for (; due && status == TV_STORE_OK; due = due->next) {
        uint64_t bytes;
        status = tv_store_remove_trace(store, due->id, TV_DB_QUICK, &bytes, err);
        if (status == TV_STORE_OK)
            tv_store_report(store, "expired: trace %.*s (%s)", TV_STORE_ID_SHOWN, due->id,
                            due->name);
        else if (status == TV_STORE_NOT_FOUND) /* somebody was faster */
            status = TV_STORE_OK;
    }
    return status;
}

/* Cancel uploads that nobody has touched since a time, and forget finished ones and their
 * clients. */
static enum tv_store_status expiry_drop_uploads(struct tv_store *store, int64_t until,
                                                struct tv_arena *arena, struct tv_error *err)
{
    struct expiry_due *due = NULL;
    enum tv_store_status status = expiry_find_due(
        store, "SELECT uid, name FROM uploads WHERE done=0 AND touched<=?", until, arena, &due);
    for (; due && status == TV_STORE_OK; due = due->next) {
        if (tv_store_is_claimed(store, due->id))
            continue;
        status = tv_store_upload_cancel(store, due->id, err);
        if (status == TV_STORE_OK)
            tv_store_report(store, "expired: upload %.*s (%s), nobody went on with it",
                            TV_STORE_ID_SHOWN, due->id, due->name);
        else if (status == TV_STORE_NOT_FOUND || status == TV_STORE_BUSY)
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

/* Return true when the wall clock moved so far against the steady clock that somebody set it. */
static bool clock_is_jump(int64_t from, int64_t to)
{
    return (from > to ? from - to : to - from) > TV_STORE_JUMP_MS;
}

/* Stop deleting by age for a while: a clock set forward by mistake would delete everything. */
static void clock_begin_hold(struct tv_store *store, int64_t ahead, int64_t steady_ms)
{
    assert(store->clock.known);
    struct tv_store_clock *clock = &store->clock;
    int64_t by = ahead > clock->ahead ? ahead - clock->ahead : clock->ahead - ahead;
    clock->holds = true;
    clock->jumped = ahead;
    clock->until_ms = steady_ms + TV_STORE_JUMP_HOLD_MS;
    tv_store_report(store,
                    "the clock was set %s by %" PRId64
                    " minutes: nothing goes by its age for a day; set it right if it is wrong",
                    ahead > clock->ahead ? "forward" : "back", by / 60000);
}

/* Return true when the wall clock can be trusted, see tv_store_expire. */
static bool clock_can_be_trusted(struct tv_store *store, int64_t now_ms, int64_t steady_ms)
{
    struct tv_store_clock *clock = &store->clock;
    int64_t ahead = now_ms - steady_ms;
    bool back = clock->known && !clock_is_jump(clock->ahead, ahead);
    bool waited =
        clock->holds && !clock_is_jump(clock->jumped, ahead) && steady_ms >= clock->until_ms;
    if (!clock->known || back || waited) {
        *clock = (struct tv_store_clock){.known = true, .ahead = ahead};
        return true;
    }
    if (!clock->holds || clock_is_jump(clock->jumped, ahead))
        clock_begin_hold(store, ahead, steady_ms);
    return false;
}

/* Delete what is too old by the wall clock. */
static enum tv_store_status expiry_drop_old(struct tv_store *store, int64_t now_ms,
                                            struct tv_error *err)
{
    struct tv_arena arena;
    int64_t keep = store->options.keep_ms;
    enum tv_store_status status = TV_STORE_OK;
    tv_arena_init(&arena);
    if (keep > 0)
        status = expiry_drop_traces(store, now_ms - keep, &arena, err);
    if (status == TV_STORE_OK)
        status = expiry_drop_uploads(store, now_ms - store->options.upload_idle_ms, &arena, err);
    tv_arena_release(&arena);
    return status;
}

enum tv_store_status tv_store_expire(struct tv_store *store, int64_t now_ms, int64_t steady_ms,
                                     struct tv_error *err)
{
    enum tv_store_status status = TV_STORE_OK;
    if (clock_can_be_trusted(store, now_ms, steady_ms))
        status = expiry_drop_old(store, now_ms, err);
    return status == TV_STORE_OK ? tv_store_enforce_cap(store, err) : status;
}

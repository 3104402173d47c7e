/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction.c - the cap of the store, what is evicted for it, and what expires.
 */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "place.h"

static bool is_there(struct tv_store *store, struct tv_store_id id)
{
    struct tv_arena arena;
    struct tv_store_trace trace;
    tv_arena_init(&arena);
    enum tv_store_status status = tv_store_trace_get(store, id.text, &arena, &trace, NULL);
    tv_arena_release(&arena);
    return status == TV_STORE_OK;
}

static void pin(struct tv_store *store, struct tv_store_id id)
{
    bool yes = true;
    struct tv_store_change change = {.pinned = &yes};
    assert_int_equal(tv_store_trace_change(store, id.text, &change, NULL), TV_STORE_OK);
}

static void put_cache(struct tv_store *store, struct tv_store_id id, size_t bytes)
{
    static const char zeros[4096];
    struct tv_store_new_cache cache;
    assert_int_equal(tv_store_cache_begin(store, id.text, &cache, NULL), TV_STORE_OK);
    assert_int_equal(write(cache.fd, zeros, bytes), bytes);
    assert_int_equal(tv_store_cache_end(store, &cache, true, NULL), TV_STORE_OK);
}

static void oldest_go_first(void **state)
{
    (void)state;
    struct place place = {.options = {.max_store_bytes = 10000}};
    struct tv_store_id ids[4];
    place_open(&place);
    for (size_t i = 0; i < 3; i++) {
        ids[i] = put_trace(place.store, "x", 1, 3000);
        place_wait_for_later();
    }
    pin(place.store, ids[0]);
    put_cache(place.store, ids[0], 400);
    put_cache(place.store, ids[1], 500);
    /* 9900 bytes are used; caches can free 900, so no trace is evicted */
    ids[3] = put_trace(place.store, "y", 1, 1000);
    assert_int_equal(tv_store_totals(place.store).cache_bytes, 0);
    assert_true(is_there(place.store, ids[1]));
    assert_int_equal(tv_store_totals(place.store).trace_bytes, 10000);
    assert_int_equal(tv_store_trace_delete(place.store, ids[3].text, NULL), TV_STORE_OK);
    /* now the oldest unpinned trace goes */
    place.said[0] = '\0';
    ids[3] = put_trace(place.store, "y", 1, 2500);
    assert_true(is_there(place.store, ids[0]));
    assert_false(is_there(place.store, ids[1]));
    assert_true(is_there(place.store, ids[2]));
    assert_non_null(strstr(place.said, "to make room: deleted trace"));
    assert_int_equal(place_count(&place, "traces"), 3);
    place_remove(&place);
}

static void least_used_cache_first(void **state)
{
    (void)state;
    struct place place = {.options = {.max_store_bytes = 10000}};
    struct tv_store_id a, b;
    int fd;
    uint64_t bytes;
    place_open(&place);
    a = put_trace(place.store, "a", 1, 3000);
    b = put_trace(place.store, "b", 1, 3000);
    put_cache(place.store, a, 1000);
    put_cache(place.store, b, 1000);
    place_age_cache(&place, a.text, 7200);
    place_age_cache(&place, b.text, 3600);
    assert_int_equal(tv_store_cache_open(place.store, a.text, &fd, &bytes, NULL), TV_STORE_OK);
    close(fd);
    put_trace(place.store, "c", 1, 2500);
    assert_int_equal(tv_store_cache_open(place.store, b.text, &fd, &bytes, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_cache_open(place.store, a.text, &fd, &bytes, NULL), TV_STORE_OK);
    close(fd);
    place_remove(&place);
}

static void cannot_be_made(void **state)
{
    (void)state;
    struct place place = {.options = {.max_store_bytes = 10000}};
    struct tv_store_new_upload upload = {.name = TV_BYTES("x"), .bytes = 7001};
    struct tv_store_id pinned, loose, uid;
    struct tv_error err = {0};
    uint64_t held;
    place_open(&place);
    pinned = put_trace(place.store, "x", 1, 3000);
    pin(place.store, pinned);
    loose = put_trace(place.store, "x", 1, 3000);
    /* refused before anything is deleted for it */
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, &err), TV_STORE_FULL);
    assert_int_equal(err.status, TV_ERR_LIMIT);
    assert_true(is_there(place.store, loose));
    upload.bytes = 7000;
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, &err), TV_STORE_OK);
    assert_int_equal(tv_store_upload_cancel(place.store, uid.text, &err), TV_STORE_OK);
    /* without an announced size it is accepted while there is room, keeps its bytes, and may go
     * on */
    uid = begin_upload(place.store, "x", TV_STORE_SIZE_UNKNOWN);
    assert_int_equal(put_piece(place.store, uid.text, 5, 0, 7500, &held), TV_STORE_FULL);
    assert_int_equal(held, 0);
    assert_true(is_there(place.store, loose));
    assert_int_equal(put_piece(place.store, uid.text, 5, 0, 7000, &held), TV_STORE_OK);
    assert_false(is_there(place.store, loose));
    assert_int_equal(put_piece(place.store, uid.text, 5, 7000, 1, &held), TV_STORE_FULL);
    assert_int_equal(held, 7000);
    assert_int_equal(tv_store_trace_delete(place.store, pinned.text, NULL), TV_STORE_OK);
    assert_int_equal(put_piece(place.store, uid.text, 5, 7000, 3000, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &loose, NULL), TV_STORE_OK);
    int fd;
    assert_int_equal(tv_store_file_open(place.store, loose.text, &fd, &held, NULL), TV_STORE_OK);
    assert_true(holds_seed(fd, 5, 10000));
    close(fd);
    place_remove(&place);
}

/* A new cache only evicts other caches. */
static void caches_evict_no_traces(void **state)
{
    (void)state;
    struct place place = {.options = {.max_store_bytes = 5000}};
    struct tv_store_new_cache cache;
    struct tv_store_id a, b;
    char zeros[1001] = "";
    place_open(&place);
    a = put_trace(place.store, "a", 1, 2000);
    b = put_trace(place.store, "b", 1, 2000);
    put_cache(place.store, a, 900);
    assert_int_equal(tv_store_cache_begin(place.store, b.text, &cache, NULL), TV_STORE_OK);
    assert_int_equal(cache.limit, 1000);
    assert_int_equal(write(cache.fd, zeros, 1001), 1001);
    assert_int_equal(tv_store_cache_end(place.store, &cache, true, NULL), TV_STORE_FULL);
    put_cache(place.store, b, 1000);
    assert_int_equal(tv_store_totals(place.store).caches, 1);
    assert_int_equal(place_count(&place, "cache"), 1);
    assert_int_equal(tv_store_totals(place.store).traces, 2);
    place_remove(&place);
}

/* With less than the reserve left on the disk, caches are dropped and nothing else. */
static void a_reserve_costs_caches(void **state)
{
    (void)state;
    struct place place = {.options = {.reserve_bytes = 1}};
    struct tv_store_new_upload upload = {.name = TV_BYTES("x"), .bytes = 1000};
    struct tv_store_new_cache cache;
    struct tv_store_id id, uid;
    struct tv_error err = {0};
    uint64_t held;
    place_open(&place);
    id = put_trace(place.store, "a", 1, 2000);
    uid = begin_upload(place.store, "b", TV_STORE_SIZE_UNKNOWN);
    put_cache(place.store, id, 900);
    place.options.reserve_bytes = UINT64_MAX;
    place_reopen(&place);
    assert_int_equal(place_count(&place, "cache"), 1);
    /* what is there can go before it is known whether that is enough */
    assert_int_equal(put_piece(place.store, uid.text, 5, 0, 7000, &held), TV_STORE_FULL);
    assert_int_equal(held, 0);
    assert_int_equal(place_count(&place, "cache"), 0);
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, &err), TV_STORE_FULL);
    assert_int_equal(tv_store_cache_begin(place.store, id.text, &cache, &err), TV_STORE_FULL);
    assert_true(is_there(place.store, id));
    place_remove(&place);
}

/* Only caches are taken for caches, and one of two with equal times goes. */
static void other_files_are_no_caches(void **state)
{
    (void)state;
    struct place place = {.options = {.max_store_bytes = 10000}};
    const struct timespec equal[2] = {{1000, 5}, {1000, 5}};
    char name[64], path[256];
    struct tv_store_id ids[2];
    place_open(&place);
    for (size_t i = 0; i < 2; i++) {
        ids[i] = put_trace(place.store, "a", 1, 2000);
        put_cache(place.store, ids[i], 900);
        snprintf(path, sizeof path, "%s/cache/%s.index", place.folder, ids[i].text);
        assert_int_equal(utimensat(AT_FDCWD, path, equal, 0), 0);
    }
    /* as long as a cache's name */
    snprintf(name, sizeof name, "cache/%s.other", ids[0].text);
    place_write(&place, name, "x");
    snprintf(name, sizeof name, "cache/%.31sg.index", ids[0].text);
    place_write(&place, name, "x");
    put_trace(place.store, "b", 1, 4500);
    assert_int_equal(tv_store_totals(place.store).caches, 1);
    assert_int_equal(place_count(&place, "cache"), 3);
    assert_true(is_there(place.store, ids[0]) && is_there(place.store, ids[1]));
    place_remove(&place);
}

static void old_traces_expire(void **state)
{
    (void)state;
    struct place place = {.options = {.keep_ms = 5000}};
    struct tv_store_id pinned, loose;
    place_open(&place);
    pinned = put_trace(place.store, "a", 1, 20);
    pin(place.store, pinned);
    loose = put_trace(place.store, "b", 1, 20);
    int64_t now = tv_store_now();
    assert_int_equal(tv_store_expire(place.store, now + 4000, now + 4000, NULL), TV_STORE_OK);
    assert_true(is_there(place.store, loose));
    assert_string_equal(place.said, "");
    assert_int_equal(tv_store_expire(place.store, now + 5001, now + 5001, NULL), TV_STORE_OK);
    assert_false(is_there(place.store, loose));
    assert_true(is_there(place.store, pinned));
    assert_non_null(strstr(place.said, "expired: trace"));
    place_remove(&place);
}

/* The cost of a wrong clock: traces are kept for 2 days, and the clock is set 10 days forward.
 * Times are those of the steady clock. */
static void a_jump_of_the_clock_costs_no_trace(void **state)
{
    (void)state;
    enum { HOUR = 3600000, DAY = 24 * HOUR };
    struct place place = {.options = {.keep_ms = 2 * DAY}};
    place_open(&place);
    struct tv_store_id trace = put_trace(place.store, "a", 1, 20);
    begin_upload(place.store, "b", 10);
    int64_t now = tv_store_now(), ahead = INT64_C(10) * DAY;
    assert_int_equal(tv_store_expire(place.store, now, 0, NULL), TV_STORE_OK);
    /* forward: nothing is deleted, and it is reported once */
    for (int64_t t = HOUR; t < DAY; t += HOUR)
        assert_int_equal(tv_store_expire(place.store, now + t + ahead, t, NULL), TV_STORE_OK);
    assert_true(is_there(place.store, trace));
    assert_int_equal(tv_store_totals(place.store).uploads, 1);
    const char *said = strstr(place.said, "forward by 14400 minutes");
    assert_non_null(said);
    assert_null(strstr(strchr(said, '\n'), "clock"));
    /* back within the day: as if nothing had happened */
    assert_int_equal(tv_store_expire(place.store, now + DAY, DAY, NULL), TV_STORE_OK);
    assert_true(is_there(place.store, trace));
    /* a clock that stays where it was set is trusted a day later */
    assert_int_equal(tv_store_expire(place.store, now + DAY + HOUR + ahead, DAY + HOUR, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_expire(place.store, now + 2 * DAY + ahead, 2 * DAY, NULL),
                     TV_STORE_OK);
    assert_true(is_there(place.store, trace));
    assert_int_equal(
        tv_store_expire(place.store, now + 2 * DAY + HOUR + ahead, 2 * DAY + HOUR, NULL),
        TV_STORE_OK);
    assert_false(is_there(place.store, trace));
    assert_int_equal(tv_store_totals(place.store).uploads, 0);
    place_remove(&place);
}

static void idle_uploads_expire(void **state)
{
    (void)state;
    struct place place = {.options = {.upload_idle_ms = 5000}};
    struct tv_store_upload upload;
    struct tv_store_chunk *piece;
    struct tv_store_id idle, busy, done, trace;
    uint64_t held;
    place_open(&place);
    idle = begin_upload(place.store, "a", 10);
    busy = begin_upload(place.store, "b", 10);
    done = begin_upload(place.store, "c", 0);
    assert_int_equal(put_piece(place.store, idle.text, 1, 0, 5, &held), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_begin(place.store, busy.text, 0, &piece, &held, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, done.text, &trace, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_upload_get(place.store, idle.text, &upload, NULL), TV_STORE_OK);
    assert_int_equal(
        tv_store_expire(place.store, upload.expires_ms - 1, upload.expires_ms - 1, NULL),
        TV_STORE_OK);
    assert_int_equal(tv_store_totals(place.store).uploads, 2);
    assert_int_equal(
        tv_store_expire(place.store, upload.expires_ms + 1000, upload.expires_ms + 1000, NULL),
        TV_STORE_OK);
    assert_int_equal(tv_store_upload_get(place.store, idle.text, &upload, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_upload_get(place.store, busy.text, &upload, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_upload_get(place.store, done.text, &upload, NULL),
                     TV_STORE_NOT_FOUND);
    assert_true(is_there(place.store, trace));
    assert_int_equal(tv_store_chunk_end(piece, &held, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_totals(place.store).upload_bytes, 0);
    place_remove(&place);
}

/* The store was made with a larger cap. */
static void a_smaller_cap(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_id first, last;
    place_open(&place);
    first = put_trace(place.store, "a", 1, 3000);
    place_wait_for_later();
    last = put_trace(place.store, "b", 1, 3000);
    place.options.max_store_bytes = 4000;
    place_reopen(&place);
    assert_int_equal(tv_store_expire(place.store, tv_store_now(), tv_store_now(), NULL),
                     TV_STORE_OK);
    assert_false(is_there(place.store, first));
    assert_true(is_there(place.store, last));
    /* nothing more can be evicted: that is no failure */
    pin(place.store, last);
    place.options.max_store_bytes = 10;
    place_reopen(&place);
    assert_int_equal(tv_store_expire(place.store, tv_store_now(), tv_store_now(), NULL),
                     TV_STORE_OK);
    assert_true(is_there(place.store, last));
    place_remove(&place);
}

UNIT_TESTS(eviction, cmocka_unit_test(oldest_go_first), cmocka_unit_test(least_used_cache_first),
           cmocka_unit_test(cannot_be_made), cmocka_unit_test(caches_evict_no_traces),
           cmocka_unit_test(a_reserve_costs_caches), cmocka_unit_test(other_files_are_no_caches),
           cmocka_unit_test(old_traces_expire), cmocka_unit_test(idle_uploads_expire),
           cmocka_unit_test(a_jump_of_the_clock_costs_no_trace), cmocka_unit_test(a_smaller_cap));

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.c - each call that a store makes to the disk fails once, in one process.
 *
 * crash.c does the same in processes that may die.  Here the store goes on after the failure: every
 * function returns a result, the next start finds what was confirmed, and can do everything again.
 */
#include "unit.h"

#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "faults.h"
#include "place.h"

#define BYTES 3000u
#define SEED 9u

/* Distance of the calls that fail: few where each process is slow. */
#ifdef SANITIZED
#define CALLS_APART 7
#else
#define CALLS_APART 1
#endif

/* Answers that the store has confirmed. */
struct confirmed {
    struct tv_store_id kept;    /* "": no trace */
    struct tv_store_id deleted; /* "": no trace was deleted */
    struct tv_store_id upload;  /* "": none */
    uint64_t held;              /* of `upload` */
    bool noted;                 /* the trace has its note */
};

static void upload_trace(struct tv_store *store, struct tv_store_id *trace)
{
    struct tv_store_new_upload upload = {.name = TV_BYTES("a.trace"), .bytes = BYTES};
    struct tv_store_id uid, made;
    uint64_t held;
    if (tv_store_upload_begin(store, &upload, &uid, NULL) == TV_STORE_OK &&
        put_piece(store, uid.text, SEED, 0, BYTES, &held) == TV_STORE_OK &&
        tv_store_upload_finish(store, uid.text, &made, NULL) == TV_STORE_OK)
        *trace = made;
}

/* Leave an upload half done, and drop another one. */
static void leave_uploads(struct tv_store *store, struct confirmed *confirmed)
{
    struct tv_store_new_upload upload = {.name = TV_BYTES("b"), .bytes = TV_STORE_SIZE_UNKNOWN};
    struct tv_store_id uid;
    struct tv_store_chunk *chunk;
    uint64_t held = 0;
    if (tv_store_upload_begin(store, &upload, &uid, NULL) == TV_STORE_OK)
        (void)!tv_store_upload_cancel(store, uid.text, NULL);
    if (tv_store_upload_begin(store, &upload, &uid, NULL) != TV_STORE_OK)
        return;
    if (tv_store_chunk_begin(store, uid.text, 0, &chunk, &held, NULL) == TV_STORE_OK) {
        (void)!tv_store_chunk_announce(chunk, BYTES, NULL);
        (void)!tv_store_chunk_end(chunk, &held, NULL);
    }
    held = 0;
    (void)!put_piece(store, uid.text, SEED, 0, BYTES / 2, &held);
    confirmed->upload = uid;
    confirmed->held = held;
}

static void change_trace(struct tv_store *store, struct confirmed *confirmed)
{
    const char *id = confirmed->kept.text;
    struct tv_bytes note = TV_BYTES("note"), label = TV_BYTES("label");
    struct tv_bytes process = TV_BYTES("process");
    struct tv_store_change change = {.note = &note, .labels = &label, .label_count = 1};
    struct tv_store_trace_facts facts = {.state = TV_STORE_READY,
                                         .format = TV_BYTES("format"),
                                         .recorded_ms = TV_STORE_NEVER,
                                         .error_offset = TV_NO_OFFSET,
                                         .processes = &process,
                                         .process_count = 1,
                                         .facts = TV_BYTES("{}")};
    struct tv_store_id next;
    confirmed->noted = tv_store_trace_change(store, id, &change, NULL) == TV_STORE_OK;
    (void)!tv_store_trace_take_next(store, &next, NULL);
    (void)!tv_store_trace_set_facts(store, id, &facts, NULL);
    (void)!tv_store_trace_set_state(store, id, TV_STORE_WAITING, NULL);
    (void)!tv_store_trace_touch(store, id, tv_store_now() + 3600000, NULL);
}

static void make_files(struct tv_store *store, const char *id)
{
    struct tv_store_new_cache cache;
    char folder[256];
    uint64_t bytes;
    int fd;
    for (int keep = 0; keep < 2; keep++)
        if (tv_store_cache_begin(store, id, &cache, NULL) == TV_STORE_OK) {
            assert_int_equal(write(cache.fd, "cache", 5), 5);
            (void)!tv_store_cache_end(store, &cache, keep == 1, NULL);
        }
    if (tv_store_cache_open(store, id, &fd, &bytes, NULL) == TV_STORE_OK)
        close(fd);
    if (tv_store_file_open(store, id, &fd, &bytes, NULL) == TV_STORE_OK)
        close(fd);
    if (tv_store_scratch_make(store, folder, sizeof folder, NULL) == TV_STORE_OK)
        tv_store_scratch_remove(store, folder);
    if (tv_store_scratch_make(store, folder, sizeof folder, NULL) == TV_STORE_OK)
        assert_int_equal(access(folder, W_OK), 0); /* the next start removes it */
}

/* Search by name, one trace on a page; pages are complete or an error. */
static void search_traces(struct tv_store *store)
{
    struct tv_arena arena;
    struct tv_store_page page;
    struct tv_store_query query = {.words = TV_BYTES("A.tr"), .sort = TV_STORE_BY_NAME, .limit = 1};
    struct tv_store_trace trace;
    tv_arena_init(&arena);
    if (tv_store_search(store, &query, &arena, &page, NULL) == TV_STORE_OK && page.count > 0) {
        query.after = tv_bytes_of(page.after != NULL ? page.after : "");
        (void)!tv_store_trace_get(store, page.traces[0].id.text, &arena, &trace, NULL);
        (void)!tv_store_search(store, &query, &arena, &page, NULL);
    }
    tv_arena_release(&arena);
}

/* Fill a store with a cap, so that caches and traces go, and let what is old expire. */
static void evict_from_store(struct tv_store *store, struct confirmed *confirmed)
{
    const int64_t day = INT64_C(86400000);
    struct tv_store_new_cache cache;
    struct tv_store_id evicted = {""};
    bool yes = true;
    struct tv_store_change pin = {.pinned = &yes};
    if (confirmed->kept.text[0] == '\0' ||
        tv_store_trace_change(store, confirmed->kept.text, &pin, NULL) != TV_STORE_OK)
        return;
    for (int i = 0; i < 4; i++) {
        upload_trace(store, &evicted);
        if (tv_store_cache_begin(store, evicted.text, &cache, NULL) == TV_STORE_OK)
            (void)!tv_store_cache_end(store, &cache, true, NULL);
    }
    confirmed->upload.text[0] = '\0'; /* nobody goes on with it */
    (void)!tv_store_expire(store, tv_store_now() + 2 * day, tv_store_steady_now() + 2 * day, NULL);
}

/* Do everything that a server does with its store. */
static void use_store(struct tv_store *store, struct confirmed *confirmed)
{
    struct tv_store_id other = {""};
    upload_trace(store, &confirmed->kept);
    upload_trace(store, &other);
    leave_uploads(store, confirmed);
    if (confirmed->kept.text[0] != '\0') {
        change_trace(store, confirmed);
        make_files(store, confirmed->kept.text);
    }
    search_traces(store);
    if (other.text[0] != '\0' && tv_store_trace_delete(store, other.text, NULL) == TV_STORE_OK)
        confirmed->deleted = other;
    (void)!tv_store_expire(store, tv_store_now(), tv_store_steady_now(), NULL);
}

static void use_and_evict(struct tv_store *store, struct confirmed *confirmed)
{
    use_store(store, confirmed);
    evict_from_store(store, confirmed);
}

static void check_confirmed(struct tv_store *store, const struct confirmed *confirmed)
{
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_store_upload upload;
    uint64_t bytes;
    int fd;
    tv_arena_init(&arena);
    if (confirmed->kept.text[0] != '\0') {
        assert_int_equal(tv_store_file_open(store, confirmed->kept.text, &fd, &bytes, NULL),
                         TV_STORE_OK);
        assert_true(bytes == BYTES && holds_seed(fd, SEED, BYTES));
        close(fd);
        assert_int_equal(tv_store_trace_get(store, confirmed->kept.text, &arena, &trace, NULL),
                         TV_STORE_OK);
        assert_true(!confirmed->noted || strcmp(trace.note, "note") == 0);
    }
    if (confirmed->deleted.text[0] != '\0')
        assert_int_equal(tv_store_trace_get(store, confirmed->deleted.text, &arena, &trace, NULL),
                         TV_STORE_NOT_FOUND);
    if (confirmed->upload.text[0] != '\0') {
        assert_int_equal(tv_store_upload_get(store, confirmed->upload.text, &upload, NULL),
                         TV_STORE_OK);
        assert_true(upload.held >= confirmed->held);
    }
    tv_arena_release(&arena);
}

/* Let the n-th call fail.  Return whether there was one. */
static bool fail_at(enum fault fault, long at)
{
    struct place place = {.options = {.max_store_bytes = 5 * BYTES, .keep_ms = 3600000}};
    struct confirmed confirmed = {0}, again = {0};
    place_open(&place);
    tv_store_close(place.store);
    place.store = NULL;
    faults_arm(fault, at);
    if (tv_store_open(place.folder, &place.options, &place.store, NULL) == TV_OK)
        use_and_evict(place.store, &confirmed);
    else
        place.store = NULL;
    tv_store_close(place.store);
    place.store = NULL;
    bool failed = faults_happened();
    faults_arm(FAULT_NONE, 0);
    place_open(&place);
    check_confirmed(place.store, &confirmed);
    use_store(place.store, &again);
    assert_true(again.kept.text[0] != '\0' && again.deleted.text[0] != '\0' && again.noted);
    assert_int_equal(again.held, BYTES / 2);
    place_remove(&place);
    return failed;
}

/* `apart`: how many calls apart the ones that fail are. */
static void fail_each(enum fault fault, long apart)
{
    long at = 0;
    while (fail_at(fault, at))
        at += apart * CALLS_APART;
    assert_true(at > 10);
    print_message("# %ld calls\n", at);
}

static void each_change_fails(void **state)
{
    (void)state;
    fail_each(FAULT_REFUSE, 1);
}

static void the_disk_fills_at_each_write(void **state)
{
    (void)state;
    fail_each(FAULT_FULL, 3); /* most are pages of the catalogue */
}

static void each_look_fails(void **state)
{
    (void)state;
    fail_each(FAULT_LOOK, 1);
}

UNIT_TESTS(failures, cmocka_unit_test(each_change_fails),
           cmocka_unit_test(the_disk_fills_at_each_write), cmocka_unit_test(each_look_fails));

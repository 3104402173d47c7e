/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c - opening: whose the directory is, what it contains, and what earlier processes left.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "place.h"

static enum tv_status try_open(struct place *place, struct tv_error *err)
{
    return tv_store_open(place->folder, &place->options, &place->store, err);
}

static void assert_refused(struct place *place, enum tv_status status, const char *because)
{
    struct tv_error err = {0};
    assert_int_equal(try_open(place, &err), status);
    if (!strstr(err.message, because))
        fail_msg("%s", err.message);
}

static mode_t mode_of(const struct place *place, const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", place->folder, name);
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 0777;
}

static void is_private(void **state)
{
    (void)state;
    static const char *const folders[] = {"", "uploads", "traces", "cache", "scratch"};
    struct place place = {0};
    mode_t mask = umask(0);
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "x", 1, 1);
    struct tv_store_id uid = begin_upload(place.store, "x", 1);
    char name[64];
    for (size_t i = 0; i < TV_COUNT(folders); i++)
        assert_int_equal(mode_of(&place, folders[i]), 0700);
    assert_int_equal(mode_of(&place, "catalogue.sqlite3"), 0600);
    assert_int_equal(mode_of(&place, "catalogue.sqlite3-wal"), 0600);
    assert_int_equal(mode_of(&place, "lock"), 0600);
    snprintf(name, sizeof name, "traces/%s", id.text);
    assert_int_equal(mode_of(&place, name), 0600);
    snprintf(name, sizeof name, "uploads/%s", uid.text);
    assert_int_equal(mode_of(&place, name), 0600);
    /* opened to others meanwhile */
    assert_int_equal(chmod(place.folder, 0755), 0);
    place_reopen(&place);
    assert_int_equal(mode_of(&place, ""), 0700);
    assert_non_null(strstr(place.said, "open to others"));
    umask(mask);
    place_remove(&place);
}

static void one_process(void **state)
{
    (void)state;
    struct place place = {0};
    char pid[32];
    place_open(&place);
    struct tv_store *first = place.store;
    snprintf(pid, sizeof pid, "(%ld)", (long)getpid());
    assert_refused(&place, TV_ERR_IO, pid);
    place.store = first;
    place_reopen(&place);
    place_remove(&place);
}

static void not_a_store(void **state)
{
    (void)state;
    struct place place = {0}, other = {0};
    place_open(&place);
    /* created, but not with its parents */
    snprintf(other.folder, sizeof other.folder, "%.40s/a/b", place.folder);
    assert_refused(&other, TV_ERR_IO, "cannot make the folder");
    snprintf(other.folder, sizeof other.folder, "%.40s/scratch", place.folder);
    place_write(&other, "letter.txt", "dear");
    assert_refused(&other, TV_ERR_IO, "is not a store");
    assert_true(place_has(&other, "letter.txt"));
    snprintf(other.folder, sizeof other.folder, "%.40s/lock", place.folder);
    assert_refused(&other, TV_ERR_IO, "cannot open the folder");
    place_remove(&place);
}

/* A first start was interrupted before the catalogue existed. An empty directory of such a name is
 * a leftover, a full one belongs to somebody. */
static void begun_and_cut_off(void **state)
{
    (void)state;
    struct place place = {0};
    char path[256];
    place_open(&place);
    tv_store_close(place.store);
    snprintf(path, sizeof path, "%s/catalogue.sqlite3", place.folder);
    assert_int_equal(unlink(path), 0);
    place_write(&place, "cache/letter.txt", "dear");
    assert_refused(&place, TV_ERR_IO, "is not a store");
    assert_true(place_has(&place, "cache/letter.txt"));
    snprintf(path, sizeof path, "%s/cache/letter.txt", place.folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(try_open(&place, NULL), TV_OK);
    put_trace(place.store, "x", 1, 1);
    place_remove(&place);
}

static void damaged(void **state)
{
    (void)state;
    struct place place = {0};
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "x", 1, 1);
    char name[64];
    snprintf(name, sizeof name, "traces/%s", id.text);
    tv_store_close(place.store);
    place.store = NULL;
    place_sql(&place, "PRAGMA user_version=2");
    assert_refused(&place, TV_ERR_UNSUPPORTED, "later version");
    place_sql(&place, "PRAGMA user_version=1; PRAGMA application_id=5");
    assert_refused(&place, TV_ERR_SYNTAX, "another program");
    /* not a database, a truncated one, and an empty one */
    char *junk = calloc(8193, 1);
    memset(junk, 'x', 8192);
    place_write(&place, "catalogue.sqlite3", junk);
    assert_refused(&place, TV_ERR_SYNTAX, "damaged");
    place_write(&place, "catalogue.sqlite3", "SQLite format 3");
    assert_refused(&place, TV_ERR_SYNTAX, "damaged");
    place_write(&place, "catalogue.sqlite3", "");
    assert_refused(&place, TV_ERR_SYNTAX, "damaged");
    assert_true(place_has(&place, name));
    free(junk);
    place_remove(&place);
}

/* A page in the middle of a good catalogue is overwritten. */
static void damaged_inside(void **state)
{
    (void)state;
    struct place place = {0};
    char path[256];
    place_open(&place);
    for (int i = 0; i < 60; i++)
        put_trace(place.store, "some name that takes a little room", 1, 1);
    tv_store_close(place.store);
    place.store = NULL;
    snprintf(path, sizeof path, "%s/catalogue.sqlite3", place.folder);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    /* all but the first page, which has the tables' names */
    uint64_t size = place_size(&place, "catalogue.sqlite3");
    assert_int_equal(fseek(file, 4096, SEEK_SET), 0);
    for (uint64_t at = 4096; at < size; at++)
        fputc('\x55', file);
    fclose(file);
    assert_refused(&place, TV_ERR_SYNTAX, "damaged");
    assert_int_equal(place_count(&place, "traces"), 60);
    place_remove(&place);
}

/* The leftovers of a process that was interrupted. */

static void move(const struct place *place, const char *from, const char *from_name, const char *to,
                 const char *to_name)
{
    char old[256], new[256];
    snprintf(old, sizeof old, "%s/%s/%s", place->folder, from, from_name);
    snprintf(new, sizeof new, "%s/%s/%s", place->folder, to, to_name);
    assert_int_equal(rename(old, new), 0);
}

static void finished_half(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_upload upload;
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_bytes label = TV_BYTES("cold");
    struct tv_store_new_upload new = {
        .name = TV_BYTES("app.trace"), .bytes = 5000, .labels = &label, .label_count = 1};
    struct tv_store_id uid;
    uint64_t held;
    int fd;
    tv_arena_init(&arena);
    place_open(&place);
    assert_int_equal(tv_store_upload_begin(place.store, &new, &uid, NULL), TV_STORE_OK);
    assert_int_equal(put_piece(place.store, uid.text, 8, 0, 5000, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_OK);
    move(&place, "uploads", uid.text, "traces", upload.trace.text);
    place_reopen(&place);
    assert_non_null(strstr(place.said, "was complete, is trace"));
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_OK);
    assert_true(upload.done);
    assert_int_equal(tv_store_trace_get(place.store, upload.trace.text, &arena, &trace, NULL),
                     TV_STORE_OK);
    assert_string_equal(trace.name, "app.trace");
    assert_string_equal(trace.labels[0], "cold");
    assert_int_equal(trace.state, TV_STORE_WAITING);
    assert_int_equal(tv_store_file_open(place.store, trace.id.text, &fd, &held, NULL), TV_STORE_OK);
    assert_true(holds_seed(fd, 8, 5000));
    close(fd);
    /* the transaction took effect after all, and the file was moved back */
    move(&place, "traces", upload.trace.text, "uploads", uid.text);
    place_reopen(&place);
    assert_non_null(strstr(place.said, "moved to its place"));
    assert_int_equal(tv_store_file_open(place.store, trace.id.text, &fd, &held, NULL), TV_STORE_OK);
    close(fd);
    assert_int_equal(tv_store_totals(place.store).traces, 1);
    assert_int_equal(tv_store_totals(place.store).uploads, 0);
    tv_arena_release(&arena);
    place_remove(&place);
}

static void leftovers_are_removed(void **state)
{
    (void)state;
    static const char *const files[] = {
        "uploads/00000000000000000000000000000001",     "uploads/x",
        "traces/00000000000000000000000000000002",      "traces/.hidden",
        "cache/00000000000000000000000000000003.index", "cache/y"};
    struct place place = {0};
    char name[160], cache[100];
    uint64_t held;
    place_open(&place);
    struct tv_store_id kept = put_trace(place.store, "kept", 1, 10);
    struct tv_store_id lost = put_trace(place.store, "lost", 1, 10);
    struct tv_store_id running = begin_upload(place.store, "running", 10);
    struct tv_store_id gone = begin_upload(place.store, "gone", 10);
    assert_int_equal(put_piece(place.store, running.text, 3, 0, 4, &held), TV_STORE_OK);
    for (size_t i = 0; i < TV_COUNT(files); i++)
        place_write(&place, files[i], "leftovers_are_removed");
    snprintf(cache, sizeof cache, "cache/%s.00000000000000000000000000000004", kept.text);
    place_write(&place, cache, "half a cache");
    snprintf(name, sizeof name, "%s/traces/%s", place.folder, lost.text);
    assert_int_equal(unlink(name), 0);
    snprintf(name, sizeof name, "%s/uploads/%s", place.folder, gone.text);
    assert_int_equal(unlink(name), 0);
    place_reopen(&place);
    for (size_t i = 0; i < TV_COUNT(files); i++) {
        assert_false(place_has(&place, files[i]));
        assert_non_null(strstr(place.said, files[i]));
    }
    assert_false(place_has(&place, cache));
    assert_non_null(strstr(place.said, "its file is not there"));
    assert_non_null(strstr(place.said, "has no bytes"));
    struct tv_store_totals totals = tv_store_totals(place.store);
    assert_int_equal(totals.traces, 1);
    assert_int_equal(totals.trace_bytes, 10);
    assert_int_equal(totals.uploads, 1);
    assert_int_equal(totals.upload_bytes, 4);
    assert_int_equal(totals.caches, 0);
    assert_int_equal(put_piece(place.store, running.text, 3, 4, 6, &held), TV_STORE_OK);
    place_reopen(&place);
    assert_string_equal(place.said, "");
    place_remove(&place);
}

/* After a power loss, bytes after the last chunk may be anything. */
static void another_boot(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_upload upload;
    char name[64];
    uint64_t held;
    place_open(&place);
    struct tv_store_id uid = begin_upload(place.store, "x", 100);
    assert_int_equal(put_piece(place.store, uid.text, 3, 0, 4, &held), TV_STORE_OK);
    snprintf(name, sizeof name, "uploads/%s", uid.text);
    place_write(&place, name, "0123456789");
    /* the same boot: a chunk was in progress */
    place_reopen(&place);
    assert_string_equal(place.said, "");
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_OK);
    assert_int_equal(upload.held, 10);
    tv_store_close(place.store);
    place.store = NULL;
    place_sql(&place, "UPDATE store SET value='another' WHERE key='boot'");
    place_open(&place);
    assert_non_null(strstr(place.said, "cut from 10 to the 4 bytes"));
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_OK);
    assert_int_equal(upload.held, 4);
    assert_int_equal(place_size(&place, name), 4);
    /* fewer than were known to be there */
    place_write(&place, name, "01");
    place_reopen(&place);
    assert_non_null(strstr(place.said, "only 2 of 4 bytes"));
    assert_int_equal(tv_store_totals(place.store).upload_bytes, 2);
    place_remove(&place);
}

static void changed_from_outside(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_store_trace trace;
    char name[64];
    tv_arena_init(&arena);
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "x", 1, 10);
    snprintf(name, sizeof name, "traces/%s", id.text);
    place_write(&place, name, "short");
    place_reopen(&place);
    assert_non_null(strstr(place.said, "has 5 bytes instead of 10"));
    assert_int_equal(tv_store_trace_get(place.store, id.text, &arena, &trace, NULL), TV_STORE_OK);
    assert_int_equal(trace.state, TV_STORE_UNREADABLE);
    assert_int_equal(tv_store_totals(place.store).trace_bytes, 5);
    tv_arena_release(&arena);
    place_remove(&place);
}

UNIT_TESTS(store, cmocka_unit_test(is_private), cmocka_unit_test(one_process),
           cmocka_unit_test(not_a_store), cmocka_unit_test(begun_and_cut_off),
           cmocka_unit_test(damaged), cmocka_unit_test(damaged_inside),
           cmocka_unit_test(finished_half), cmocka_unit_test(leftovers_are_removed),
           cmocka_unit_test(another_boot), cmocka_unit_test(changed_from_outside));

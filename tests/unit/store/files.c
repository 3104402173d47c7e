/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - originals, caches, and directories for temporary files.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "place.h"

static void opens_to_read(void **state)
{
    (void)state;
    struct place place = {0};
    int fd;
    uint64_t bytes;
    char name[128];
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "x", 4, 3000);
    assert_int_equal(tv_store_file_open(place.store, id.text, &fd, &bytes, NULL), TV_STORE_OK);
    assert_int_equal(bytes, 3000);
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    /* a link in its place is not followed, and a pipe not waited for */
    snprintf(name, sizeof name, "%s/traces/%s", place.folder, id.text);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(symlink("/etc/passwd", name), 0);
    assert_int_not_equal(tv_store_file_open(place.store, id.text, &fd, &bytes, NULL), TV_STORE_OK);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_not_equal(tv_store_file_open(place.store, id.text, &fd, &bytes, NULL), TV_STORE_OK);
    place_remove(&place);
}

static enum tv_store_status put_cache(struct tv_store *store, const char *id, const char *text)
{
    struct tv_store_new_cache cache;
    assert_int_equal(tv_store_cache_begin(store, id, &cache, NULL), TV_STORE_OK);
    assert_int_equal(write(cache.fd, text, strlen(text)), strlen(text));
    return tv_store_cache_end(store, &cache, true, NULL);
}

static void assert_cache(struct tv_store *store, const char *id, const char *text)
{
    int fd;
    uint64_t bytes;
    char got[64] = "";
    assert_int_equal(tv_store_cache_open(store, id, &fd, &bytes, NULL), TV_STORE_OK);
    assert_int_equal(bytes, strlen(text));
    assert_int_equal(read(fd, got, sizeof got), bytes);
    assert_string_equal(got, text);
    close(fd);
}

static void caches(void **state)
{
    (void)state;
    struct place place = {.options = {.sync_caches = true}};
    struct tv_store_new_cache cache;
    struct tv_store_totals totals;
    int fd;
    uint64_t bytes;
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "x", 4, 10);
    assert_int_equal(tv_store_cache_open(place.store, id.text, &fd, &bytes, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(put_cache(place.store, id.text, "first"), TV_STORE_OK);
    assert_cache(place.store, id.text, "first");
    /* an incomplete cache changes nothing */
    assert_int_equal(tv_store_cache_begin(place.store, id.text, &cache, NULL), TV_STORE_OK);
    assert_int_equal(write(cache.fd, "half", 4), 4);
    assert_cache(place.store, id.text, "first");
    assert_int_equal(tv_store_cache_end(place.store, &cache, false, NULL), TV_STORE_OK);
    assert_int_equal(place_count(&place, "cache"), 1);
    assert_int_equal(put_cache(place.store, id.text, "second one"), TV_STORE_OK);
    assert_cache(place.store, id.text, "second one");
    totals = tv_store_totals(place.store);
    assert_int_equal(totals.caches, 1);
    assert_int_equal(totals.cache_bytes, 10);
    place_reopen(&place);
    assert_string_equal(place.said, "");
    assert_cache(place.store, id.text, "second one");
    assert_int_equal(tv_store_totals(place.store).cache_bytes, 10);
    tv_store_cache_drop(place.store, id.text);
    tv_store_cache_drop(place.store, id.text);
    assert_int_equal(tv_store_cache_open(place.store, id.text, &fd, &bytes, NULL),
                     TV_STORE_NOT_FOUND);
    totals = tv_store_totals(place.store);
    assert_int_equal(totals.caches, 0);
    assert_int_equal(totals.cache_bytes, 0);
    place_remove(&place);
}

static void caches_go_with_traces(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_new_cache cache;
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "x", 4, 10);
    assert_int_equal(put_cache(place.store, id.text, "abc"), TV_STORE_OK);
    assert_int_equal(tv_store_cache_begin(place.store, id.text, &cache, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_trace_delete(place.store, id.text, NULL), TV_STORE_OK);
    /* an engine is still writing */
    assert_int_equal(tv_store_cache_end(place.store, &cache, true, NULL), TV_STORE_NOT_FOUND);
    assert_int_equal(place_count(&place, "cache"), 0);
    struct tv_store_totals totals = tv_store_totals(place.store);
    assert_int_equal(totals.caches, 0);
    assert_int_equal(totals.cache_bytes, 0);
    place_remove(&place);
}

/* Make a tree that is deeper than a path may be long, with a link out of it. */
static void fill_scratch(const char *folder, const char *outside)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(at >= 0);
    assert_int_equal(symlinkat(outside, at, "link"), 0);
    for (int depth = 0; depth < 1500; depth++) {
        int file = openat(at, "file", O_WRONLY | O_CREAT, 0);
        assert_true(file >= 0);
        close(file);
        assert_int_equal(mkdirat(at, "deep", 0700), 0);
        int below = openat(at, "deep", O_RDONLY | O_DIRECTORY);
        assert_true(below >= 0);
        if (depth == 700)
            fchmod(below, 0500);
        if (depth == 700)
            fchmod(below, 0700);
        close(at);
        at = below;
    }
    fchmod(at, 0);
    close(at);
}

static void scratch(void **state)
{
    (void)state;
    struct place place = {0};
    char one[200], two[200], outside[100], name[300];
    place_open(&place);
    assert_int_equal(tv_store_scratch_make(place.store, one, sizeof one, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_scratch_make(place.store, two, sizeof two, NULL), TV_STORE_OK);
    assert_int_not_equal(tv_store_scratch_make(place.store, name, 20, NULL), TV_STORE_OK);
    assert_string_not_equal(one, two);
    place_write(&place, "traces.keep", "keep me");
    snprintf(outside, sizeof outside, "%s", place.folder);
    fill_scratch(one, outside);
    fill_scratch(two, outside);
    tv_store_scratch_remove(place.store, one);
    assert_int_equal(access(one, F_OK), -1);
    assert_int_equal(place_count(&place, "scratch"), 1);
    assert_true(place_has(&place, "traces.keep"));
    /* other directories are left alone */
    tv_store_scratch_remove(place.store, place.folder);
    tv_store_scratch_remove(place.store, "..");
    snprintf(name, sizeof name, "%s/../traces", one);
    tv_store_scratch_remove(place.store, name);
    assert_true(place_has(&place, "traces"));
    /* a store that is closed leaves nothing to clean up, a killed one does */
    tv_store_close(place.store);
    assert_int_equal(place_count(&place, "scratch"), 0);
    place_open(&place);
    assert_null(strstr(place.said, "scratch/"));
    tv_store_close(place.store);
    place_write(&place, "scratch/left", "by a server that was killed");
    place_open(&place);
    assert_int_equal(place_count(&place, "scratch"), 0);
    assert_non_null(strstr(place.said, "scratch/"));
    assert_true(place_has(&place, "traces.keep"));
    place_remove(&place);
}

UNIT_TESTS(files, cmocka_unit_test(opens_to_read), cmocka_unit_test(caches),
           cmocka_unit_test(caches_go_with_traces), cmocka_unit_test(scratch));

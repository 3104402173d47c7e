/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads.c - uploads whole and in chunks, with every misuse that a client can think of.
 */
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "place.h"

static const char NOBODY[] = "00000000000000000000000000000000";

static uint64_t held_of(struct tv_store *store, const char *uid)
{
    struct tv_store_upload upload;
    assert_int_equal(tv_store_upload_get(store, uid, &upload, NULL), TV_STORE_OK);
    return upload.held;
}

static void assert_trace(struct tv_store *store, const char *id, uint32_t seed, uint64_t bytes)
{
    int fd;
    uint64_t size;
    assert_int_equal(tv_store_file_open(store, id, &fd, &size, NULL), TV_STORE_OK);
    assert_int_equal(size, bytes);
    assert_true(holds_seed(fd, seed, bytes));
    close(fd);
}

/* Resume where the bytes end, and announce the total size. */
static enum tv_store_status announce_length(struct tv_store *store, const char *uid, uint64_t bytes,
                                            struct tv_error *err)
{
    struct tv_store_chunk *piece;
    uint64_t held = 0;
    enum tv_store_status status = tv_store_chunk_begin(store, uid, 0, &piece, &held, err);
    if (status == TV_STORE_WRONG_OFFSET)
        status = tv_store_chunk_begin(store, uid, held, &piece, &held, err);
    if (status != TV_STORE_OK)
        return status;
    status = tv_store_chunk_announce(piece, bytes, err);
    assert_int_equal(tv_store_chunk_end(piece, &held, NULL), TV_STORE_OK);
    return status;
}

static void whole_upload(void **state)
{
    (void)state;
    struct place place = {0};
    place_open(&place);
    struct tv_store_id trace = put_trace(place.store, "app.trace", 1, 100000);
    assert_trace(place.store, trace.text, 1, 100000);
    assert_int_equal(place_count(&place, "uploads"), 0);
    assert_int_equal(place_count(&place, "traces"), 1);
    struct tv_store_totals totals = tv_store_totals(place.store);
    assert_int_equal(totals.traces, 1);
    assert_int_equal(totals.trace_bytes, 100000);
    assert_int_equal(totals.uploads, 0);
    assert_int_equal(totals.upload_bytes, 0);
    place_reopen(&place);
    assert_string_equal(place.said, "");
    assert_trace(place.store, trace.text, 1, 100000);
    assert_int_equal(tv_store_totals(place.store).trace_bytes, 100000);
    place_remove(&place);
}

static void pieces_go_on(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_upload upload;
    struct tv_store_id trace;
    uint64_t held;
    place_open(&place);
    struct tv_store_id uid = begin_upload(place.store, "a", 60000);
    assert_int_equal(held_of(place.store, uid.text), 0);
    assert_int_equal(put_piece(place.store, uid.text, 2, 0, 20000, &held), TV_STORE_OK);
    assert_int_equal(held, 20000);
    /* a wrong offset is refused with the right one */
    assert_int_equal(put_piece(place.store, uid.text, 2, 0, 10, &held), TV_STORE_WRONG_OFFSET);
    assert_int_equal(held, 20000);
    assert_int_equal(put_piece(place.store, uid.text, 2, 20001, 10, &held), TV_STORE_WRONG_OFFSET);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL),
                     TV_STORE_WRONG_OFFSET);
    /* another process resumes it */
    place_reopen(&place);
    assert_string_equal(place.said, "");
    assert_int_equal(held_of(place.store, uid.text), 20000);
    assert_int_equal(tv_store_totals(place.store).upload_bytes, 20000);
    assert_int_equal(put_piece(place.store, uid.text, 2, 20000, 40000, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_OK);
    assert_int_equal(upload.held, 60000);
    assert_false(upload.done);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL), TV_STORE_OK);
    assert_string_equal(trace.text, upload.trace.text);
    assert_trace(place.store, trace.text, 2, 60000);
    /* for a client that missed the answer */
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_OK);
    assert_true(upload.done);
    assert_int_equal(upload.held, 60000);
    struct tv_store_id again;
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &again, NULL), TV_STORE_OK);
    assert_string_equal(again.text, trace.text);
    assert_int_equal(tv_store_upload_cancel(place.store, uid.text, NULL), TV_STORE_NOT_FOUND);
    assert_int_equal(put_piece(place.store, uid.text, 2, 60000, 0, &held), TV_STORE_OK);
    assert_int_equal(put_piece(place.store, uid.text, 2, 60000, 1, &held), TV_STORE_TOO_LARGE);
    assert_int_equal(tv_store_totals(place.store).traces, 1);
    place_remove(&place);
}

static void unknown_size(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_id trace;
    uint64_t held;
    place_open(&place);
    struct tv_store_id uid = begin_upload(place.store, "a", TV_STORE_SIZE_UNKNOWN);
    struct tv_store_id other = begin_upload(place.store, "b", TV_STORE_SIZE_UNKNOWN);
    assert_int_equal(put_piece(place.store, uid.text, 3, 0, 5000, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL), TV_STORE_OK);
    assert_trace(place.store, trace.text, 3, 5000);
    assert_int_equal(put_piece(place.store, other.text, 3, 0, 50, &held), TV_STORE_OK);
    assert_int_equal(announce_length(place.store, other.text, 49, NULL), TV_STORE_WRONG_OFFSET);
    assert_int_equal(announce_length(place.store, other.text, 51, NULL), TV_STORE_OK);
    assert_int_equal(announce_length(place.store, other.text, 51, NULL), TV_STORE_OK);
    assert_int_equal(announce_length(place.store, other.text, 52, NULL), TV_STORE_WRONG_OFFSET);
    assert_int_equal(put_piece(place.store, other.text, 3, 50, 2, &held), TV_STORE_TOO_LARGE);
    assert_int_equal(held, 50);
    assert_int_equal(put_piece(place.store, other.text, 3, 50, 1, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, other.text, &trace, NULL), TV_STORE_OK);
    place_remove(&place);
}

static void too_large(void **state)
{
    (void)state;
    struct place place = {.options = {.max_upload_bytes = 1000}};
    struct tv_store_new_upload upload = {.name = TV_BYTES("x"), .bytes = 1001};
    struct tv_store_id uid;
    uint64_t held;
    struct tv_error err = {0};
    place_open(&place);
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, &err), TV_STORE_TOO_LARGE);
    assert_int_equal(err.status, TV_ERR_LIMIT);
    upload.bytes = UINT64_MAX - 1;
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, &err), TV_STORE_TOO_LARGE);
    uid = begin_upload(place.store, "x", TV_STORE_SIZE_UNKNOWN);
    assert_int_equal(announce_length(place.store, uid.text, 1001, &err), TV_STORE_TOO_LARGE);
    assert_int_equal(put_piece(place.store, uid.text, 1, 0, 1001, &held), TV_STORE_TOO_LARGE);
    assert_int_equal(put_piece(place.store, uid.text, 1, 0, 1000, &held), TV_STORE_OK);
    assert_int_equal(put_piece(place.store, uid.text, 1, 1000, 1, &held), TV_STORE_TOO_LARGE);
    assert_int_equal(held, 1000);
    /* the announced size counts as well */
    uid = begin_upload(place.store, "x", 10);
    assert_int_equal(put_piece(place.store, uid.text, 1, 0, 11, &held), TV_STORE_TOO_LARGE);
    assert_int_equal(held, 0);
    assert_int_equal(tv_store_totals(place.store).upload_bytes, 1000);
    place_remove(&place);
}

static void wrong_identifiers(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "../traces/x",
                                        "/etc/passwd",
                                        NOBODY,
                                        "0000000000000000000000000000000",
                                        "000000000000000000000000000000000",
                                        "0000000000000000000000000000000G",
                                        "0000000000000000000000000000000A",
                                        "................................",
                                        "../../../../../../../../etc/host",
                                        "' OR 1=1 --",
                                        "%"};
    struct place place = {0};
    struct tv_store_upload upload;
    struct tv_store_id id;
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_store_change change = {0};
    struct tv_store_chunk *piece;
    struct tv_store_new_cache cache;
    struct tv_error err = {0};
    uint64_t held;
    int fd;
    tv_arena_init(&arena);
    place_open(&place);
    put_trace(place.store, "x", 1, 10);
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        const char *n = names[i];
        assert_int_equal(tv_store_upload_get(place.store, n, &upload, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_chunk_begin(place.store, n, 0, &piece, &held, &err),
                         TV_STORE_NOT_FOUND);
        assert_int_equal(announce_length(place.store, n, 1, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_upload_finish(place.store, n, &id, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_upload_cancel(place.store, n, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_file_open(place.store, n, &fd, &held, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_cache_open(place.store, n, &fd, &held, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_cache_begin(place.store, n, &cache, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_trace_get(place.store, n, &arena, &trace, &err),
                         TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_trace_change(place.store, n, &change, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_trace_touch(place.store, n, 1, &err), TV_STORE_NOT_FOUND);
        assert_int_equal(tv_store_trace_delete(place.store, n, &err), TV_STORE_NOT_FOUND);
        tv_store_cache_drop(place.store, n);
        assert_int_equal(err.status, TV_ERR_USAGE);
    }
    assert_int_equal(tv_store_totals(place.store).traces, 1);
    tv_arena_release(&arena);
    place_remove(&place);
}

static void names_are_text(void **state)
{
    (void)state;
    char blocks[257];
    /* two bytes each, so that 255 falls within one */
    for (size_t i = 0; i < 256; i += 2)
        memcpy(blocks + i, "\xc3\xa4", 2);
    blocks[256] = '\0';
    const struct {
        struct tv_bytes name;
        const char *kept;
    } cases[] = {
        {TV_BYTES("../../etc/passwd"), "../../etc/passwd"},
        {TV_BYTES(""), "trace"},
        {TV_BYTES("a\0b"), "a\xef\xbf\xbd"
                           "b"},
        {TV_BYTES("a\n\x1b[31m\x7f"), "a\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd"},
        {TV_BYTES("\xff\xc3("), "\xef\xbf\xbd\xef\xbf\xbd("},
        {TV_BYTES("\xe2\x80\xae"
                  "gpj.exe"),
         "\xef\xbf\xbdgpj.exe"},
        {TV_BYTES("'); DROP TABLE traces; --"), "'); DROP TABLE traces; --"},
        {TV_BYTES("<script>alert(1)</script>"), "<script>alert(1)</script>"},
    };
    struct place place = {0};
    struct tv_arena arena;
    tv_arena_init(&arena);
    place_open(&place);
    for (size_t i = 0; i <= TV_COUNT(cases); i++) {
        bool is_long = i == TV_COUNT(cases);
        struct tv_store_new_upload upload = {.name = is_long ? tv_bytes_of(blocks) : cases[i].name};
        struct tv_store_id uid, id;
        struct tv_store_trace trace;
        assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, NULL), TV_STORE_OK);
        assert_int_equal(tv_store_upload_finish(place.store, uid.text, &id, NULL), TV_STORE_OK);
        assert_int_equal(tv_store_trace_get(place.store, id.text, &arena, &trace, NULL),
                         TV_STORE_OK);
        if (is_long)
            assert_int_equal(strlen(trace.name), 254);
        else
            assert_string_equal(trace.name, cases[i].kept);
    }
    tv_arena_release(&arena);
    place_remove(&place);
}

static void labels_of_uploads(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_store_id uid, id;
    struct tv_bytes labels[] = {TV_BYTES("cold start"), TV_BYTES("\xc3\x84pfel"),
                                TV_BYTES("Cold START")};
    struct tv_store_new_upload upload = {
        .name = TV_BYTES("x"), .labels = labels, .label_count = TV_COUNT(labels)};
    tv_arena_init(&arena);
    place_open(&place);
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &id, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_trace_get(place.store, id.text, &arena, &trace, NULL), TV_STORE_OK);
    assert_int_equal(trace.label_count, 2);
    assert_string_equal(trace.labels[0], "cold start");
    assert_string_equal(trace.labels[1], "\xc3\x84pfel");
    labels[1] = TV_BYTES("two\nlines");
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, NULL), TV_STORE_INVALID);
    labels[1] = TV_BYTES("");
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, NULL), TV_STORE_INVALID);
    assert_int_equal(place_count(&place, "uploads"), 0);
    tv_arena_release(&arena);
    place_remove(&place);
}

static void one_writer(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_chunk *old, *new;
    struct tv_store_id uid, trace;
    uint64_t held;
    place_open(&place);
    uid = begin_upload(place.store, "x", 6);
    assert_int_equal(tv_store_chunk_begin(place.store, uid.text, 0, &old, &held, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(old, TV_BYTES("abc"), NULL), TV_STORE_OK);
    assert_int_equal(held_of(place.store, uid.text), 3);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL), TV_STORE_BUSY);
    /* at another offset: the first connection is not disturbed */
    assert_int_equal(tv_store_chunk_begin(place.store, uid.text, 0, &new, &held, NULL),
                     TV_STORE_WRONG_OFFSET);
    assert_int_equal(held, 3);
    assert_int_equal(tv_store_chunk_write(old, TV_BYTES("d"), NULL), TV_STORE_OK);
    /* at its offset: taken over */
    assert_int_equal(tv_store_chunk_begin(place.store, uid.text, 4, &new, &held, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(old, TV_BYTES("X"), NULL), TV_STORE_BUSY);
    assert_int_equal(tv_store_chunk_write(new, TV_BYTES("ef"), NULL), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_end(old, &held, NULL), TV_STORE_BUSY);
    assert_int_equal(tv_store_chunk_end(new, &held, NULL), TV_STORE_OK);
    assert_int_equal(held, 6);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL), TV_STORE_OK);
    int fd;
    char text[7] = "";
    assert_int_equal(tv_store_file_open(place.store, trace.text, &fd, &held, NULL), TV_STORE_OK);
    assert_int_equal(read(fd, text, sizeof text), 6);
    assert_string_equal(text, "abcdef");
    close(fd);
    place_remove(&place);
}

static void cancelled(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_chunk *piece;
    struct tv_store_id uid;
    uint64_t held;
    struct tv_error err = {0};
    place_open(&place);
    uid = begin_upload(place.store, "x", 6);
    assert_int_equal(tv_store_chunk_begin(place.store, uid.text, 0, &piece, &held, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(piece, TV_BYTES("abc"), NULL), TV_STORE_OK);
    assert_int_equal(tv_store_upload_cancel(place.store, uid.text, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(piece, TV_BYTES("abc"), &err), TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_chunk_end(piece, &held, &err), TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_upload_cancel(place.store, uid.text, &err), TV_STORE_NOT_FOUND);
    assert_int_equal(place_count(&place, "uploads"), 0);
    assert_int_equal(tv_store_totals(place.store).upload_bytes, 0);
    assert_int_equal(tv_store_totals(place.store).uploads, 0);
    place_remove(&place);
}

static void so_many_uploads(void **state)
{
    (void)state;
    struct place place = {.options = {.max_uploads = 2}};
    struct tv_store_new_upload upload = {.name = TV_BYTES("x")};
    struct tv_store_id first, second, uid;
    uint64_t held;
    place_open(&place);
    first = begin_upload(place.store, "x", 2);
    second = begin_upload(place.store, "x", 2);
    assert_int_equal(put_piece(place.store, first.text, 1, 0, 1, &held), TV_STORE_OK);
    assert_int_equal(put_piece(place.store, second.text, 1, 0, 1, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, NULL), TV_STORE_FULL);
    assert_int_equal(place_count(&place, "uploads"), 2);
    assert_int_equal(tv_store_upload_cancel(place.store, first.text, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_upload_begin(place.store, &upload, &uid, NULL), TV_STORE_OK);
    place_remove(&place);
}

/* A client that begins uploads without sending anything keeps nobody out, even after a restart. */
static void empty_uploads_give_way(void **state)
{
    (void)state;
    struct place place = {.options = {.max_uploads = 4}};
    struct tv_store_id ids[4], uid;
    struct tv_store_upload upload;
    struct tv_store_chunk *piece;
    uint64_t held;
    place_open(&place);
    for (size_t i = 0; i < 4; i++)
        ids[i] = begin_upload(place.store, "x", 2);
    place_reopen(&place);
    assert_int_equal(put_piece(place.store, ids[0].text, 1, 0, 1, &held), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_begin(place.store, ids[1].text, 0, &piece, &held, NULL),
                     TV_STORE_OK);
    for (size_t i = 0; i < 20; i++)
        uid = begin_upload(place.store, "x", 2);
    assert_int_equal(place_count(&place, "uploads"), 4);
    assert_int_equal(tv_store_totals(place.store).uploads, 4);
    /* neither those with bytes, nor one that is being written */
    assert_int_equal(held_of(place.store, ids[0].text), 1);
    assert_int_equal(held_of(place.store, ids[1].text), 0);
    assert_int_equal(held_of(place.store, uid.text), 0);
    assert_int_equal(tv_store_upload_get(place.store, ids[2].text, &upload, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_upload_get(place.store, ids[3].text, &upload, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_chunk_end(piece, &held, NULL), TV_STORE_OK);
    place_remove(&place);
}

static enum tv_store_status begin_as(struct tv_store *store, const char *client,
                                     struct tv_store_id *uid)
{
    const struct tv_store_new_upload upload = {
        .name = TV_BYTES("x"), .bytes = 2, .client = tv_bytes_of(client)};
    return tv_store_upload_begin(store, &upload, uid, NULL);
}

static void a_client_has_so_many_uploads(void **state)
{
    (void)state;
    struct place place = {.options = {.max_uploads = 16}};
    struct tv_store_id other, ids[4];
    uint64_t held;
    place_open(&place);
    assert_int_equal(begin_as(place.store, "other", &other), TV_STORE_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(begin_as(place.store, "one", &ids[i]), TV_STORE_OK);
        assert_int_equal(put_piece(place.store, ids[i].text, 1, 0, 1, &held), TV_STORE_OK);
    }
    assert_int_equal(begin_as(place.store, "one", &ids[2]), TV_STORE_FULL);
    /* the client's own uploads are dropped, not those of others */
    assert_int_equal(held_of(place.store, other.text), 0);
    assert_int_equal(put_piece(place.store, ids[0].text, 1, 1, 1, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, ids[0].text, &ids[3], NULL), TV_STORE_OK);
    assert_int_equal(begin_as(place.store, "one", &ids[2]), TV_STORE_OK);
    assert_int_equal(begin_as(place.store, "one", &ids[3]), TV_STORE_OK);
    assert_int_equal(tv_store_totals(place.store).uploads, 3);
    place_remove(&place);
}

/* A size announced by somebody else does not make an upload endless. */
static void only_the_writer_announces(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_chunk *first, *second;
    struct tv_store_id uid, trace;
    uint64_t held;
    place_open(&place);
    uid = begin_upload(place.store, "x", TV_STORE_SIZE_UNKNOWN);
    assert_int_equal(tv_store_chunk_begin(place.store, uid.text, 0, &first, &held, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(first, TV_BYTES("hello"), NULL), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_begin(place.store, uid.text, 5, &second, &held, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_chunk_announce(first, 9, NULL), TV_STORE_BUSY);
    assert_int_equal(tv_store_chunk_announce(second, 4, NULL), TV_STORE_WRONG_OFFSET);
    assert_int_equal(tv_store_chunk_announce(second, 6, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(first, TV_BYTES("more"), NULL), TV_STORE_BUSY);
    assert_int_equal(tv_store_chunk_end(first, &held, NULL), TV_STORE_BUSY);
    assert_int_equal(tv_store_chunk_write(second, TV_BYTES("!"), NULL), TV_STORE_OK);
    assert_int_equal(tv_store_chunk_write(second, TV_BYTES("?"), NULL), TV_STORE_TOO_LARGE);
    assert_int_equal(tv_store_chunk_end(second, &held, NULL), TV_STORE_TOO_LARGE);
    assert_int_equal(held, 6);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &trace, NULL), TV_STORE_OK);
    place_remove(&place);
}

/* Many threads at once: each has its own uploads, and all compete for one. */

struct crowd {
    struct tv_store *store;
    struct tv_store_id shared;
    uint32_t seed;
    bool right;
};

#define SHARED_SIZE 200000u

static bool push_shared(struct crowd *crowd)
{
    struct tv_store_id trace;
    uint64_t held = 0;
    enum tv_store_status status = TV_STORE_OK;
    while (held < SHARED_SIZE &&
           (status == TV_STORE_OK || status == TV_STORE_WRONG_OFFSET || status == TV_STORE_BUSY)) {
        size_t part = SHARED_SIZE - held < 7000 ? (size_t)(SHARED_SIZE - held) : 7000;
        status = put_piece(crowd->store, crowd->shared.text, 99, held, part, &held);
    }
    do
        status = tv_store_upload_finish(crowd->store, crowd->shared.text, &trace, NULL);
    while (status == TV_STORE_BUSY || status == TV_STORE_WRONG_OFFSET);
    return status == TV_STORE_OK;
}

static void *push(void *context)
{
    struct crowd *crowd = context;
    crowd->right = push_shared(crowd);
    for (uint32_t i = 0; i < 5; i++) {
        struct tv_store_id id = put_trace(crowd->store, "own", crowd->seed + i, 30000 + i);
        int fd;
        uint64_t bytes;
        if (tv_store_file_open(crowd->store, id.text, &fd, &bytes, NULL) != TV_STORE_OK)
            return NULL;
        crowd->right = crowd->right && holds_seed(fd, crowd->seed + i, 30000 + i);
        close(fd);
    }
    return NULL;
}

static void a_crowd(void **state)
{
    (void)state;
    enum { THREADS = 12 };
    struct place place = {0};
    struct crowd crowds[THREADS];
    pthread_t threads[THREADS];
    struct tv_store_upload upload;
    place_open(&place);
    struct tv_store_id shared = begin_upload(place.store, "shared", SHARED_SIZE);
    for (uint32_t i = 0; i < THREADS; i++) {
        crowds[i] = (struct crowd){place.store, shared, 1000 * i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, push, &crowds[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(crowds[i].right);
    }
    assert_int_equal(tv_store_upload_get(place.store, shared.text, &upload, NULL), TV_STORE_OK);
    assert_trace(place.store, upload.trace.text, 99, SHARED_SIZE);
    struct tv_store_totals totals = tv_store_totals(place.store);
    place_reopen(&place);
    assert_string_equal(place.said, "");
    struct tv_store_totals counted = tv_store_totals(place.store);
    assert_memory_equal(&totals, &counted, sizeof totals);
    assert_int_equal(totals.traces, THREADS * 5 + 1);
    place_remove(&place);
}

UNIT_TESTS(uploads, cmocka_unit_test(whole_upload), cmocka_unit_test(pieces_go_on),
           cmocka_unit_test(unknown_size), cmocka_unit_test(too_large),
           cmocka_unit_test(wrong_identifiers), cmocka_unit_test(names_are_text),
           cmocka_unit_test(labels_of_uploads), cmocka_unit_test(one_writer),
           cmocka_unit_test(cancelled), cmocka_unit_test(so_many_uploads),
           cmocka_unit_test(empty_uploads_give_way), cmocka_unit_test(a_client_has_so_many_uploads),
           cmocka_unit_test(only_the_writer_announces), cmocka_unit_test(a_crowd));

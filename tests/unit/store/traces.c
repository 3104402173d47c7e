/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traces.c - what is known about a trace: changes by users and engines, and deletion.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "place.h"

static struct tv_store_trace get(struct tv_store *store, const char *id, struct tv_arena *arena)
{
    struct tv_store_trace trace;
    assert_int_equal(tv_store_trace_get(store, id, arena, &trace, NULL), TV_STORE_OK);
    return trace;
}

static void new_trace(void **state)
{
    (void)state;
    struct place place = {.options = {.keep_ms = 1000}};
    struct tv_arena arena;
    int64_t before = tv_store_now();
    tv_arena_init(&arena);
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "app.trace", 1, 77);
    struct tv_store_trace trace = get(place.store, id.text, &arena);
    assert_string_equal(trace.id.text, id.text);
    assert_string_equal(trace.name, "app.trace");
    assert_int_equal(trace.bytes, 77);
    assert_true(trace.uploaded_ms >= before && trace.uploaded_ms <= tv_store_now());
    assert_int_equal(trace.expires_ms, trace.uploaded_ms + 1000);
    assert_int_equal(trace.seen_ms, TV_STORE_NEVER);
    assert_int_equal(trace.state, TV_STORE_WAITING);
    assert_int_equal(trace.length_ns, -1);
    assert_int_equal(trace.recorded_ms, TV_STORE_NEVER);
    assert_int_equal(trace.error_offset, TV_NO_OFFSET);
    assert_null(trace.error);
    assert_null(trace.format);
    assert_string_equal(trace.note, "");
    assert_int_equal(trace.label_count, 0);
    assert_int_equal(trace.process_count, 0);
    assert_int_equal(trace.facts.length, 0);
    assert_false(trace.pinned);
    tv_arena_release(&arena);
    place_remove(&place);
}

static void changes(void **state)
{
    (void)state;
    struct place place = {.options = {.keep_ms = 1000}};
    struct tv_arena arena;
    struct tv_bytes name = TV_BYTES("new\x01"), note = TV_BYTES("one\r\ntwo\x02");
    struct tv_bytes labels[] = {TV_BYTES("b"), TV_BYTES("a"), TV_BYTES("B")};
    bool pinned = true;
    struct tv_store_change change = {&name, &note, labels, 3, &pinned};
    tv_arena_init(&arena);
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "old", 1, 1);
    assert_int_equal(tv_store_trace_change(place.store, id.text, &change, NULL), TV_STORE_OK);
    place_reopen(&place);
    struct tv_store_trace trace = get(place.store, id.text, &arena);
    assert_string_equal(trace.name, "new\xef\xbf\xbd");
    assert_string_equal(trace.note, "one\ntwo\xef\xbf\xbd");
    assert_int_equal(trace.label_count, 2);
    assert_string_equal(trace.labels[0], "b");
    assert_string_equal(trace.labels[1], "a");
    assert_true(trace.pinned);
    assert_int_equal(trace.expires_ms, TV_STORE_NEVER);
    /* NULL members stay unchanged */
    change = (struct tv_store_change){.labels = labels};
    assert_int_equal(tv_store_trace_change(place.store, id.text, &change, NULL), TV_STORE_OK);
    trace = get(place.store, id.text, &arena);
    assert_int_equal(trace.label_count, 0);
    assert_true(trace.pinned);
    assert_string_equal(trace.note, "one\ntwo\xef\xbf\xbd");
    tv_arena_release(&arena);
    place_remove(&place);
}

static void refuses(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_error err = {0};
    struct tv_bytes none = TV_BYTES(""), good = TV_BYTES("good"), many[TV_STORE_LABELS + 1];
    char *large = calloc(TV_STORE_NOTE + 1, 1);
    struct tv_bytes note = {(uint8_t *)large, TV_STORE_NOTE + 1};
    struct tv_bytes long_label = {(const uint8_t *)"0123456789012345678901234567890123456789"
                                                   "0123456789012345678901234",
                                  TV_STORE_LABEL + 1};
    tv_arena_init(&arena);
    place_open(&place);
    struct tv_store_id id = put_trace(place.store, "old", 1, 1);
    for (size_t i = 0; i < TV_COUNT(many); i++)
        many[i] = good;
    const struct tv_store_change wrong[] = {
        {.name = &none},
        {.name = &good, .note = &note},
        {.name = &good, .labels = many, .label_count = TV_COUNT(many)},
        {.name = &good, .labels = &none, .label_count = 1},
        {.name = &good, .labels = &long_label, .label_count = 1},
    };
    for (size_t i = 0; i < TV_COUNT(wrong); i++)
        assert_int_equal(tv_store_trace_change(place.store, id.text, &wrong[i], &err),
                         TV_STORE_INVALID);
    assert_string_equal(get(place.store, id.text, &arena).name, "old");
    /* just allowed: each of these bytes becomes three */
    note.length--;
    long_label.length--;
    struct tv_store_change fits = {.note = &note, .labels = &long_label, .label_count = 1};
    assert_int_equal(tv_store_trace_change(place.store, id.text, &fits, &err), TV_STORE_OK);
    assert_int_equal(strlen(get(place.store, id.text, &arena).note), 3 * TV_STORE_NOTE);
    free(large);
    tv_arena_release(&arena);
    place_remove(&place);
}

static void engines_find(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_bytes processes[300];
    struct tv_store_trace_facts found = {.state = TV_STORE_READY,
                                         .error = TV_BYTES("ignored"),
                                         .error_offset = 5,
                                         .format = TV_BYTES("method-trace"),
                                         .version = TV_BYTES("3"),
                                         .length_ns = INT64_MAX,
                                         .events = UINT64_MAX,
                                         .calls = 12,
                                         .warnings = 3,
                                         .findings = 4,
                                         .recorded_ms = -1,
                                         .processes = processes,
                                         .process_count = 300,
                                         .facts = TV_BYTES("{\"a\":\"\0\"}")};
    tv_arena_init(&arena);
    place_open(&place);
    for (size_t i = 0; i < 300; i++)
        processes[i] = i == 0 ? TV_BYTES("com.acme\n") : TV_BYTES("zygote");
    struct tv_store_id id = put_trace(place.store, "x", 1, 1);
    assert_int_equal(tv_store_trace_set_facts(place.store, id.text, &found, NULL), TV_STORE_OK);
    struct tv_store_trace trace = get(place.store, id.text, &arena);
    assert_int_equal(trace.state, TV_STORE_READY);
    assert_null(trace.error);
    assert_int_equal(trace.error_offset, TV_NO_OFFSET);
    assert_string_equal(trace.format, "method-trace");
    assert_string_equal(trace.version, "3");
    assert_int_equal(trace.length_ns, INT64_MAX);
    assert_int_equal(trace.events, INT64_MAX);
    assert_int_equal(trace.calls, 12);
    assert_int_equal(trace.warnings, 3);
    assert_int_equal(trace.findings, 4);
    assert_int_equal(trace.recorded_ms, -1);
    assert_int_equal(trace.process_count, TV_STORE_PROCESSES);
    assert_string_equal(trace.processes[0], "com.acme\xef\xbf\xbd");
    assert_string_equal(trace.processes[1], "zygote");
    assert_true(tv_bytes_equal(trace.facts, found.facts));
    /* the results of another engine replace all earlier ones */
    found = (struct tv_store_trace_facts){.state = TV_STORE_UNREADABLE,
                                          .error = TV_BYTES("cut\x1b off"),
                                          .remedy = TV_BYTES("send it again"),
                                          .error_offset = 0,
                                          .length_ns = -5,
                                          .recorded_ms = TV_STORE_NEVER};
    assert_int_equal(tv_store_trace_set_facts(place.store, id.text, &found, NULL), TV_STORE_OK);
    trace = get(place.store, id.text, &arena);
    assert_int_equal(trace.state, TV_STORE_UNREADABLE);
    assert_string_equal(trace.error, "cut\xef\xbf\xbd off");
    assert_string_equal(trace.remedy, "send it again");
    assert_int_equal(trace.error_offset, 0);
    assert_null(trace.format);
    assert_int_equal(trace.length_ns, -1);
    assert_int_equal(trace.recorded_ms, TV_STORE_NEVER);
    assert_int_equal(trace.process_count, 0);
    assert_int_equal(trace.facts.length, 0);
    found.facts.length = TV_STORE_FACTS + 1;
    assert_int_equal(tv_store_trace_set_facts(place.store, id.text, &found, NULL),
                     TV_STORE_INVALID);
    tv_arena_release(&arena);
    place_remove(&place);
}

static void waits_in_order(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_store_id ids[3], taken;
    tv_arena_init(&arena);
    place_open(&place);
    for (size_t i = 0; i < 3; i++)
        ids[i] = put_trace(place.store, "x", 1, 1);
    assert_int_equal(tv_store_trace_take_next(place.store, &taken, NULL), TV_STORE_OK);
    assert_string_equal(taken.text, ids[0].text);
    assert_int_equal(get(place.store, taken.text, &arena).state, TV_STORE_READING);
    /* after a restart it waits again, and is still the first */
    place_reopen(&place);
    assert_int_equal(get(place.store, ids[0].text, &arena).state, TV_STORE_WAITING);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tv_store_trace_take_next(place.store, &taken, NULL), TV_STORE_OK);
        assert_string_equal(taken.text, ids[i].text);
    }
    assert_int_equal(tv_store_trace_take_next(place.store, &taken, NULL), TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_trace_set_state(place.store, ids[1].text, TV_STORE_WAITING, NULL),
                     TV_STORE_OK);
    assert_int_equal(tv_store_trace_take_next(place.store, &taken, NULL), TV_STORE_OK);
    assert_string_equal(taken.text, ids[1].text);
    assert_int_equal(tv_store_trace_touch(place.store, ids[1].text, 123456, NULL), TV_STORE_OK);
    assert_int_equal(get(place.store, ids[1].text, &arena).seen_ms, 123456);
    tv_arena_release(&arena);
    place_remove(&place);
}

static struct tv_store_id put_as(struct tv_store *store, const char *client, size_t bytes)
{
    const struct tv_store_new_upload upload = {
        .name = TV_BYTES("x"), .bytes = bytes, .client = tv_bytes_of(client)};
    struct tv_store_id uid, trace;
    uint64_t held;
    assert_int_equal(tv_store_upload_begin(store, &upload, &uid, NULL), TV_STORE_OK);
    assert_int_equal(put_piece(store, uid.text, 1, 0, bytes, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(store, uid.text, &trace, NULL), TV_STORE_OK);
    return trace;
}

static void assert_takes(struct tv_store *store, const struct tv_store_id *id)
{
    struct tv_store_id taken;
    assert_int_equal(tv_store_trace_take_next(store, &taken, NULL), TV_STORE_OK);
    assert_string_equal(taken.text, id->text);
}

static void clients_take_turns(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_id many[4], few[2];
    place_open(&place);
    for (size_t i = 0; i < 4; i++)
        many[i] = put_as(place.store, "many", 1);
    for (size_t i = 0; i < 2; i++)
        few[i] = put_as(place.store, "few", 1);
    assert_takes(place.store, &many[0]);
    assert_takes(place.store, &few[0]);
    /* one of the first client is done, then one of the other */
    assert_int_equal(tv_store_trace_set_state(place.store, many[0].text, TV_STORE_READY, NULL),
                     TV_STORE_OK);
    assert_takes(place.store, &many[1]);
    assert_int_equal(tv_store_trace_set_state(place.store, few[0].text, TV_STORE_READY, NULL),
                     TV_STORE_OK);
    /* expiry forgets clients of due traces, but not of one that waits to be read */
    assert_int_equal(tv_store_expire(place.store, tv_store_now(), tv_store_now(), NULL),
                     TV_STORE_OK);
    assert_takes(place.store, &few[1]);
    assert_takes(place.store, &many[2]);
    place_remove(&place);
}

/* A megabyte counts as a tenth of a second. */
static void small_ones_overtake_a_little(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_store_id large, soon, late;
    char sql[400];
    place_open(&place);
    large = put_trace(place.store, "large", 1, 1000000);
    soon = put_trace(place.store, "soon", 1, 1);
    late = put_trace(place.store, "late", 1, 1);
    tv_store_close(place.store);
    snprintf(sql, sizeof sql,
             "UPDATE traces SET uploaded=1000 WHERE id='%s';"
             "UPDATE traces SET uploaded=1099 WHERE id='%s';"
             "UPDATE traces SET uploaded=1101 WHERE id='%s';",
             large.text, soon.text, late.text);
    place_sql(&place, sql);
    place.store = NULL;
    place_open(&place);
    assert_takes(place.store, &soon);
    assert_takes(place.store, &large);
    assert_takes(place.store, &late);
    place_remove(&place);
}

static void goes(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_store_trace trace;
    struct tv_store_upload upload;
    int fd;
    uint64_t bytes, held;
    struct tv_store_id id, uid;
    tv_arena_init(&arena);
    place_open(&place);
    uid = begin_upload(place.store, "x", 5000);
    assert_int_equal(put_piece(place.store, uid.text, 7, 0, 5000, &held), TV_STORE_OK);
    assert_int_equal(tv_store_upload_finish(place.store, uid.text, &id, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_file_open(place.store, id.text, &fd, &bytes, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_trace_delete(place.store, id.text, NULL), TV_STORE_OK);
    assert_true(holds_seed(fd, 7, 5000)); /* an open descriptor stays readable */
    close(fd);
    assert_int_equal(tv_store_trace_get(place.store, id.text, &arena, &trace, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_file_open(place.store, id.text, &fd, &bytes, NULL),
                     TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_upload_get(place.store, uid.text, &upload, NULL), TV_STORE_NOT_FOUND);
    assert_int_equal(tv_store_trace_delete(place.store, id.text, NULL), TV_STORE_NOT_FOUND);
    assert_int_equal(place_count(&place, "traces"), 0);
    struct tv_store_totals totals = tv_store_totals(place.store);
    assert_int_equal(totals.traces, 0);
    assert_int_equal(totals.trace_bytes, 0);
    tv_arena_release(&arena);
    place_remove(&place);
}

UNIT_TESTS(traces, cmocka_unit_test(new_trace), cmocka_unit_test(changes),
           cmocka_unit_test(refuses), cmocka_unit_test(engines_find),
           cmocka_unit_test(waits_in_order), cmocka_unit_test(clients_take_turns),
           cmocka_unit_test(small_ones_overtake_a_little), cmocka_unit_test(goes));

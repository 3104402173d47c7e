/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - lists, compared with a plain reference that looks at all traces one by one.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "place.h"

/* Return the list as the traces' names, each with a blank after it. */
static const char *list(struct tv_store *store, struct tv_store_query query)
{
    static char text[4096];
    struct tv_arena arena;
    struct tv_store_page page;
    struct tv_error err = {0};
    size_t length = 0;
    tv_arena_init(&arena);
    if (tv_store_search(store, &query, &arena, &page, &err) != TV_STORE_OK)
        fail_msg("%s", err.message);
    text[0] = '\0';
    for (size_t i = 0; i < page.count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s ", page.traces[i].name);
    tv_arena_release(&arena);
    return text;
}

static void describe(struct tv_store *store, const char *id, const char *process, const char *label,
                     const char *note)
{
    struct tv_bytes name = tv_bytes_of(process), text = tv_bytes_of(note), tag = tv_bytes_of(label);
    struct tv_store_trace_facts found = {.state = TV_STORE_READY,
                                         .length_ns = -1,
                                         .processes = &name,
                                         .process_count = 1,
                                         .recorded_ms = TV_STORE_NEVER};
    struct tv_store_change change = {.note = &text, .labels = &tag, .label_count = 1};
    assert_int_equal(tv_store_trace_set_facts(store, id, &found, NULL), TV_STORE_OK);
    assert_int_equal(tv_store_trace_change(store, id, &change, NULL), TV_STORE_OK);
}

static void fill(struct tv_store *store)
{
    struct tv_store_id id = put_trace(store, "Start.trace", 1, 30);
    describe(store, id.text, "com.acme.app", "cold", "after the fix");
    place_wait_for_later(); /* so that the order is known */
    id = put_trace(store, "100%_done", 1, 10);
    describe(store, id.text, "com.Acme.service", "WARM", "O'Reilly \"quoted\"\nsecond line");
    place_wait_for_later();
    id = put_trace(store, "\xc3\x84pfel", 1, 20);
    describe(store, id.text, "org.other", "cold start", "");
}

static void finds(void **state)
{
    (void)state;
    struct place place = {0};
    place_open(&place);
    fill(place.store);
    const struct {
        struct tv_bytes words, label, process;
        const char *names;
    } cases[] = {
        {TV_BYTES(""), TV_BYTES(""), TV_BYTES(""), "Start.trace 100%_done \xc3\x84pfel "},
        {TV_BYTES("start"), TV_BYTES(""), TV_BYTES(""),
         "Start.trace \xc3\x84pfel "}, /* by a label */
        {TV_BYTES("TRACE"), TV_BYTES(""), TV_BYTES(""), "Start.trace "},
        {TV_BYTES("\xc3\xa4PFEL"), TV_BYTES(""), TV_BYTES(""), "\xc3\x84pfel "},
        {TV_BYTES("ACME"), TV_BYTES(""), TV_BYTES(""), "Start.trace 100%_done "},
        {TV_BYTES("acme warm"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        {TV_BYTES("  fix\tacme "), TV_BYTES(""), TV_BYTES(""), "Start.trace "},
        {TV_BYTES("second"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        /* characters with a meaning in LIKE, GLOB or SQL are plain text */
        {TV_BYTES("%"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        {TV_BYTES("0%_d"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        {TV_BYTES("_"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        {TV_BYTES("s*"), TV_BYTES(""), TV_BYTES(""), ""},
        {TV_BYTES("o'reilly"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        {TV_BYTES("'"), TV_BYTES(""), TV_BYTES(""), "100%_done "},
        {TV_BYTES("\\"), TV_BYTES(""), TV_BYTES(""), ""},
        {TV_BYTES("\xff"), TV_BYTES(""), TV_BYTES(""), ""},
        {TV_BYTES(""), TV_BYTES("COLD"), TV_BYTES(""), "Start.trace "},
        {TV_BYTES(""), TV_BYTES("warm"), TV_BYTES(""), "100%_done "},
        {TV_BYTES(""), TV_BYTES("col"), TV_BYTES(""), ""},
        {TV_BYTES(""), TV_BYTES(""), TV_BYTES("acme.S"), "100%_done "},
        {TV_BYTES(""), TV_BYTES(""), TV_BYTES("cold"), ""},
        {TV_BYTES("fix"), TV_BYTES("cold"), TV_BYTES("acme"), "Start.trace "},
        {TV_BYTES("fix"), TV_BYTES("cold start"), TV_BYTES("acme"), ""},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_string_equal(list(place.store, (struct tv_store_query){.words = cases[i].words,
                                                                      .label = cases[i].label,
                                                                      .process = cases[i].process}),
                            cases[i].names);
    place_remove(&place);
}

static void orders(void **state)
{
    (void)state;
    struct place place = {0};
    place_open(&place);
    fill(place.store);
    struct tv_store_query query = {.sort = TV_STORE_BY_BYTES};
    assert_string_equal(list(place.store, query), "100%_done \xc3\x84pfel Start.trace ");
    query.descending = true;
    assert_string_equal(list(place.store, query), "Start.trace \xc3\x84pfel 100%_done ");
    query.sort = TV_STORE_BY_NAME;
    assert_string_equal(list(place.store, query), "\xc3\x84pfel Start.trace 100%_done ");
    query.sort = TV_STORE_BY_UPLOADED;
    assert_string_equal(list(place.store, query), "\xc3\x84pfel 100%_done Start.trace ");
    query = (struct tv_store_query){.has_since = true, .since_ms = tv_store_now() + 1000};
    assert_string_equal(list(place.store, query), "");
    query = (struct tv_store_query){.has_until = true, .until_ms = tv_store_now() + 1000};
    assert_string_equal(list(place.store, query), "Start.trace 100%_done \xc3\x84pfel ");
    query.until_ms = 1000;
    assert_string_equal(list(place.store, query), "");
    place_remove(&place);
}

/* Go through all pages, and count how often each of the names "0" to "29" occurs. */
static void page_through(struct tv_store *store, struct tv_store_query query, unsigned seen[30])
{
    struct tv_arena arena;
    struct tv_store_page page = {.after = ""};
    char last[1200];
    size_t pages = 0;
    tv_arena_init(&arena);
    while (page.after) {
        snprintf(last, sizeof last, "%s", page.after);
        query.after = tv_bytes_of(last);
        assert_int_equal(tv_store_search(store, &query, &arena, &page, NULL), TV_STORE_OK);
        assert_int_equal(page.total, 30);
        assert_true(page.count <= query.limit);
        for (size_t i = 0; i < page.count; i++)
            seen[(page.traces[i].name[0] - '0') * 10 + page.traces[i].name[1] - '0']++;
        assert_true(++pages <= 30);
    }
    tv_arena_release(&arena);
    assert_int_equal(pages, (30 + query.limit - 1) / query.limit);
}

static void pages(void **state)
{
    (void)state;
    struct place place = {0};
    char name[8];
    place_open(&place);
    for (unsigned i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "%02u", (i * 7) % 30);
        put_trace(place.store, name, 1, i / 5); /* several of the same size */
    }
    for (int sort = TV_STORE_BY_UPLOADED; sort <= TV_STORE_BY_LENGTH; sort++)
        for (uint32_t limit = 1; limit <= 30; limit += limit < 3 ? 1 : 9) {
            unsigned seen[30] = {0};
            struct tv_store_query query = {
                .sort = (enum tv_store_sort)sort, .limit = limit, .descending = limit % 2 == 0};
            page_through(place.store, query, seen);
            for (size_t i = 0; i < 30; i++)
                assert_int_equal(seen[i], 1);
        }
    place_remove(&place);
}

/* A trace disappears or appears between two pages. */
static void pages_stand_still(void **state)
{
    (void)state;
    struct place place = {0};
    struct tv_arena arena;
    struct tv_store_page page;
    struct tv_store_query query = {.sort = TV_STORE_BY_NAME, .limit = 2};
    struct tv_store_id b = {""};
    tv_arena_init(&arena);
    place_open(&place);
    put_trace(place.store, "a", 1, 1);
    b = put_trace(place.store, "b", 1, 1);
    put_trace(place.store, "d", 1, 1);
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_OK);
    assert_int_equal(page.count, 2);
    assert_non_null(page.after);
    assert_int_equal(tv_store_trace_delete(place.store, b.text, NULL), TV_STORE_OK);
    put_trace(place.store, "0", 1, 1);
    put_trace(place.store, "c", 1, 1);
    query.after = tv_bytes_of(page.after);
    assert_string_equal(list(place.store, query), "c d ");
    tv_arena_release(&arena);
    place_remove(&place);
}

static void refuses_ends(void **state)
{
    (void)state;
    static const char *const ends[] = {"x",
                                       "ua",
                                       "ua.",
                                       "ua.1",
                                       "ua.1.",
                                       "ua.1.zz",
                                       "ud.1.00000000000000000000000000000000",
                                       "na.1.00000000000000000000000000000000",
                                       "ua.1.0000000000000000000000000000000g",
                                       "ua.99999999999999999999.00000000000000000000000000000000",
                                       "ua.'.00000000000000000000000000000000",
                                       "ua..00000000000000000000000000000000"};
    struct place place = {0};
    struct tv_arena arena;
    struct tv_store_page page;
    char long_name[1200];
    tv_arena_init(&arena);
    place_open(&place);
    for (size_t i = 0; i < TV_COUNT(ends); i++) {
        struct tv_store_query query = {.after = tv_bytes_of(ends[i])};
        assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL),
                         TV_STORE_INVALID);
    }
    /* a name of 512 digits, two more than the longest possible */
    snprintf(long_name, sizeof long_name, "na.%0512d.%032d", 0, 0);
    struct tv_store_query query = {.sort = TV_STORE_BY_NAME, .after = tv_bytes_of(long_name)};
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_INVALID);
    snprintf(long_name, sizeof long_name, "na.%0510d.%032d", 0, 0);
    query.after = tv_bytes_of(long_name);
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_OK);
    /* too many words */
    memset(long_name, 'a', sizeof long_name);
    query = (struct tv_store_query){.words = {(uint8_t *)long_name, 129}};
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_INVALID);
    query = (struct tv_store_query){.label = {(uint8_t *)long_name, 65}};
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_INVALID);
    query = (struct tv_store_query){.words = TV_BYTES("1 2 3 4 5 6 7 8 9")};
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_INVALID);
    query = (struct tv_store_query){.words = TV_BYTES("1 2 3 4 5 6 7 8 ")};
    assert_int_equal(tv_store_search(place.store, &query, &arena, &page, NULL), TV_STORE_OK);
    tv_arena_release(&arena);
    place_remove(&place);
}

UNIT_TESTS(search, cmocka_unit_test(finds), cmocka_unit_test(orders), cmocka_unit_test(pages),
           cmocka_unit_test(pages_stand_still), cmocka_unit_test(refuses_ends));

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/search/event_lookup.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/out.h"
#include "fixture.h"

/* Which event stands at a place of a file. */

/* Instants at 100, 300 and 500 (the later ones first), a counter's samples at 200 and 300. */
static struct fixture made_up(void)
{
    const struct fixture_thread thread = {"main", NULL, {"AA B"}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_tables *tables = &f.trace->tables;
    const uint64_t places[] = {500, 100, 300, TV_NO_OFFSET};
    for (size_t i = 0; i < TV_COUNT(places); i++)
        *tv_table_add(&tables->instants) = (struct tv_instant){.offset = places[i]};
    const struct tv_counter counter = {.series_count = 1, .sample_count = 2};
    const uint32_t names[1] = {TV_EMPTY_STRING};
    const tv_ns times[2] = {1, 2};
    const uint64_t offsets[2] = {200, 300};
    const double values[2] = {1, 2};
    tv_tables_add_counter(tables, &counter, names, times, offsets, values);
    *tv_table_add(&tables->slice_extras) =
        (struct tv_slice_extra){.row = 0, .index = 1, .end_offset = 400};
    *tv_table_add(&tables->flows) = (struct tv_flow){.offset = 600, .end_offset = 700};
    return f;
}

#define assert_place(place, kind_, a_, b_, offset_)                                                \
    do {                                                                                           \
        struct tv_event_place p_ = (place);                                                        \
        assert_int_equal(p_.kind, kind_);                                                          \
        assert_int_equal(p_.a, a_);                                                                \
        assert_int_equal(p_.b, b_);                                                                \
        assert_true(p_.offset == (uint64_t)(offset_));                                             \
    } while (0)

static void finds_events_at_and_after_an_offset(void **state)
{
    (void)state;
    struct fixture f = made_up();
    const uint64_t offsets[] = {0, 100, 250, 300, 301, 450, 500, 650, 999};
    struct tv_event_neighbours found[TV_COUNT(offsets)];
    tv_event_lookup(f.trace, 0, offsets, TV_COUNT(offsets), found);
    assert_int_equal(found[0].at.kind, TV_EVENT_NONE);
    assert_place(found[0].after, TV_EVENT_INSTANT, 1, 0, 100);
    assert_place(found[1].at, TV_EVENT_INSTANT, 1, 0, 100);
    assert_place(found[1].after, TV_EVENT_COUNTER, 0, 0, 200);
    assert_place(found[2].at, TV_EVENT_COUNTER, 0, 0, 200);
    assert_place(found[2].after, TV_EVENT_INSTANT, 2, 0, 300);
    assert_place(found[3].at, TV_EVENT_INSTANT, 2, 0, 300); /* not the counter */
    assert_place(found[3].after, TV_EVENT_SLICE, 0, 1, 400);
    assert_place(found[4].at, TV_EVENT_INSTANT, 2, 0, 300);
    assert_place(found[5].at, TV_EVENT_SLICE, 0, 1, 400);
    assert_place(found[6].at, TV_EVENT_INSTANT, 0, 0, 500);
    assert_place(found[6].after, TV_EVENT_FLOW, 0, 0, 600);
    assert_place(found[7].after, TV_EVENT_FLOW, 0, 1, 700);
    assert_place(found[8].at, TV_EVENT_FLOW, 0, 1, 700);
    assert_int_equal(found[8].after.kind, TV_EVENT_NONE);
    fixture_free(&f);
}

static void another_input_has_none(void **state)
{
    (void)state;
    struct fixture f = made_up();
    const uint64_t offset = 300;
    struct tv_event_neighbours found;
    tv_event_lookup(f.trace, 1, &offset, 1, &found);
    assert_int_equal(found.at.kind, TV_EVENT_NONE);
    assert_int_equal(found.after.kind, TV_EVENT_NONE);
    tv_event_lookup(f.trace, 0, &offset, 0, &found);
    fixture_free(&f);
}

/*
 * The tokens of what a reader tells of an event: its arguments, and those that others hide.
 */

static void assert_tokens(struct tv_json_tokens *tokens, const char *expected)
{
    struct tv_json_token token;
    struct tv_out seen;
    tv_out_init_memory(&seen);
    while (tv_json_tokens_next(tokens, &token)) {
        tv_out_bytes(&seen, token.text);
        tv_out_char(&seen, ' ');
    }
    tv_out_char(&seen, '\0');
    assert_string_equal((const char *)seen.buffer, expected);
    tv_out_release(&seen);
}

static void finds_arguments_and_overwritten_ones(void **state)
{
    (void)state;
    struct tv_json_tokens tokens;
    struct tv_bytes told = TV_BYTES("{\"args\":{\"a\":[1]},\"overwritten\":{\"b\":\"x\"},"
                                    "\"overwritten_params\":{\"c\":2},\"id\":\"d\"}");
    assert_true(tv_json_tokens_of_arguments(&tokens, told));
    assert_tokens(&tokens, "{ a [ 1 ] } ");
    assert_true(tv_json_tokens_of_overridden(&tokens));
    assert_tokens(&tokens, "{ b x } ");
    assert_true(tv_json_tokens_of_overridden(&tokens));
    assert_tokens(&tokens, "{ c 2 } ");
    assert_false(tv_json_tokens_of_overridden(&tokens));
}

static void stops_at_the_last_event(void **state)
{
    (void)state;
    struct tv_json_tokens tokens;
    assert_false(tv_json_tokens_of_arguments(&tokens, TV_BYTES("{\"id\":1}")));
    assert_true(
        tv_json_tokens_of_arguments(&tokens, TV_BYTES("{\"args\":\"overwritten\",\"id\":1}")));
    assert_tokens(&tokens, "overwritten ");
    assert_false(tv_json_tokens_of_overridden(&tokens));
    assert_true(tv_json_tokens_of_arguments(&tokens, TV_BYTES("{\"args\":{}")));
    assert_tokens(&tokens, "{ } ");
    assert_false(tv_json_tokens_of_overridden(&tokens));
}

UNIT_TESTS(event_lookup, cmocka_unit_test(finds_events_at_and_after_an_offset),
           cmocka_unit_test(another_input_has_none),
           cmocka_unit_test(finds_arguments_and_overwritten_ones),
           cmocka_unit_test(stops_at_the_last_event));

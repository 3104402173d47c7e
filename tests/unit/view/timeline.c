/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "view/asked.h"
#include "view/internal.h"

/*
 * The colour of a name: the one that all its slices and instants have.
 */

static const struct fixture_thread drawing[] = {
    {"main", NULL, {"A B A B ", "C D C E "}},
    {"pool", NULL, {"D A     "}},
};

static void colour(struct tv_trace *trace, uint32_t row, uint32_t index, uint8_t number)
{
    *tv_table_add(&trace->tables.slice_extras) = (struct tv_slice_extra){
        .row = row, .index = index, .end_offset = TV_NO_OFFSET, .colour = number};
}

static void add_instant(struct tv_trace *trace, char frame, uint8_t number)
{
    *tv_table_add(&trace->tables.instants) =
        (struct tv_instant){.time = 1, .frame = FIXTURE_FRAME(frame), .colour = number};
}

/* Rows 0 and 1 of main, row 2 of pool. */
static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace *trace = asked->fixture.trace;
    colour(trace, 0, 0, 7); /* A, in all places */
    colour(trace, 0, 1, 8); /* B, two colours */
    colour(trace, 0, 2, 7);
    colour(trace, 0, 3, 9);
    colour(trace, 1, 0, 5); /* C, one of two slices */
    colour(trace, 1, 1, 6); /* D, all slices, not its instant */
    colour(trace, 1, 3, 4); /* E, and its instant */
    colour(trace, 2, 0, 6);
    colour(trace, 2, 1, 7);
    add_instant(trace, 'D', 0);
    add_instant(trace, 'E', 4);
    trace->head->frames[FIXTURE_FRAME('F')].colour = 3; /* as a reader says */
    trace->head->frames[FIXTURE_FRAME('F')].kind = TV_FRAME_JIT;
    asked->view = tv_view_new(trace);
    *state = asked;
    return 0;
}

static void gives_a_name_the_colour_of_all_it_stands_for(void **state)
{
    struct asked *asked = *state;
    const char *expected = "{\"frames\":[[\"demo.A\",\"a\",\"()V\",\"Demo.java\",1,1,\"\",7],\n"
                           "[\"demo.B\",\"b\",\"()V\",\"Demo.java\",2,2],\n"
                           "[\"demo.C\",\"c\",\"()V\",\"Demo.java\",3,3],\n"
                           "[\"demo.D\",\"d\",\"()V\",\"Demo.java\",4,4],\n"
                           "[\"demo.E\",\"e\",\"()V\",\"Demo.java\",5,5,\"\",4],\n"
                           "[\"demo.F\",\"f\",\"()V\",\"Demo.java\",6,0,\"\",3,\"\",4],";
    assert_int_equal(ask(asked, "frames"), TV_OK);
    assert_memory_equal(asked->out.buffer, expected, strlen(expected));
    tv_out_release(&asked->out);
}

static void leaves_the_readers_colours_where_no_event_names_one(void **state)
{
    struct asked *asked = *state;
    asked->fixture.trace->tables.slice_extras.count = 0;
    uint8_t *colours = tv_view_frame_colours(asked->fixture.trace);
    assert_int_equal(colours[FIXTURE_FRAME('A')], 0);
    assert_int_equal(colours[FIXTURE_FRAME('F')], 3);
    tv_free(colours);
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

UNIT_TESTS(timeline, asked_test(gives_a_name_the_colour_of_all_it_stands_for),
           asked_test(leaves_the_readers_colours_where_no_event_names_one));

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "view/asked.h"

/*
 * Questions with a filter: question, answer.
 */

/* B calls C in io as well. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAAAA BB", " CCC  CC "}},
    {"io", NULL, {"BBBB     ", " CC      "}},
};

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    asked->view = tv_view_new(asked->fixture.trace);
    *state = asked;
    return 0;
}

/* Whether the answer holds a text. */
static bool says(struct asked *asked, const char *question, const char *text)
{
    assert_int_equal(ask(asked, question), TV_OK);
    tv_out_char(&asked->out, 0);
    bool found = strstr((const char *)asked->out.buffer, text) != NULL;
    tv_out_release(&asked->out);
    return found;
}

static void answers_respect_the_filter(void **state)
{
    struct asked *asked = *state;
    assert_true(says(asked, "trace?filter=name:c", "\"filtered\":{\"slices\":3,\"of\":6}"));
    assert_false(says(asked, "trace", "\"filtered\""));
    assert_false(says(asked, "trace?filter=", "\"filtered\""));
    /* frame, calls, recursive, incl real, excl real, incl CPU, excl CPU */
    assert_true(
        says(asked, "profile?filter=thread:main -name:a", "\"rows\":[[1,1,0,2000000,1000000,"));
    assert_answer(asked, "step?frame=2&t=0&direction=1&filter=name:c", "[0,0]");
    /* who is hidden is not idle */
    assert_true(says(asked, "trace?filter=name:a", "\"idle_threads\":[]"));
}

static void ranks_stay(void **state)
{
    struct asked *asked = *state;
    assert_true(says(asked, "frames", "[\"demo.B\",\"b\",\"()V\",\"Demo.java\",2,2]"));
    assert_true(
        says(asked, "frames?filter=name:b", "[\"demo.B\",\"b\",\"()V\",\"Demo.java\",2,2]"));
}

static void a_slice_is_found_again(void **state)
{
    struct asked *asked = *state;
    assert_answer(asked, "same?row=1&index=1&filter=name:c", "{\"slice\":[0,1]}");
    assert_answer(asked, "same?row=0&index=1&was=name:c", "{\"slice\":[1,1]}");
    assert_answer(asked, "same?row=0&index=1&was=name:c&filter=depth>0", "{\"slice\":[0,1]}");
    assert_answer(asked, "same?row=0&index=0&filter=name:c", "{\"slice\":null}");
    assert_int_equal(ask(asked, "same?row=2&index=0&was=name:c"), TV_ERR_USAGE);
    tv_out_release(&asked->out);
}

static void a_wrong_filter_says_where(void **state)
{
    struct asked *asked = *state;
    assert_int_equal(ask(asked, "profile?filter=name:c dur>x"), TV_ERR_USAGE);
    assert_int_equal(asked->error.offset, 12);
    assert_non_null(strstr(asked->error.message, "column 12: expected a time"));
    assert_int_equal(asked->out.length, 0);
    tv_out_release(&asked->out);
    assert_int_equal(ask(asked, "profile?from=x&filter=name:c"), TV_ERR_USAGE);
    assert_int_equal(asked->error.offset, TV_NO_OFFSET);
    tv_out_release(&asked->out);
}

/* More filters than are kept, each asked again. */
static void filters_come_and_go(void **state)
{
    struct asked *asked = *state;
    for (int round = 0; round < 3; round++)
        for (char c = '0'; c < '9'; c++) {
            char question[] = "trace?filter=dur>=0ms";
            question[sizeof "trace?filter=dur>=" - 1] = c;
            assert_true(says(asked, question, "\"filtered\""));
        }
}

UNIT_TESTS(caches,
           cmocka_unit_test_setup_teardown(answers_respect_the_filter, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(ranks_stay, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(a_slice_is_found_again, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(a_wrong_filter_says_where, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(filters_come_and_go, set_up, asked_tear_down));

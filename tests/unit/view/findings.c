/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as the page gets them: every rule, with places of those that were told. */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/asked.h"

/* A frame of 17 ms and one of 16. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAAAAAAAAAAAAAAA aaaaaaaaaaaaaaaa"}},
    {"pool", NULL, {"B"}},
};

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace_info *head = asked->fixture.trace->head;
    head->inputs[0].format = "Android method trace";
    head->frames[0].class_name = tv_trace_info_string(head, TV_BYTES("android.view.Choreographer"));
    head->frames[0].name = tv_trace_info_string(head, TV_BYTES("doFrame"));
    tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OVERFLOW, TV_NO_OFFSET);
    asked->view = tv_view_new(asked->fixture.trace);
    *state = asked;
    return 0;
}

/* Whether the answer holds these bytes. */
static void assert_told(struct asked *asked, const char *question, const char *part, bool told)
{
    assert_int_equal(ask(asked, question), TV_OK);
    tv_out_char(&asked->out, 0);
    if ((strstr((const char *)asked->out.buffer, part) != NULL) != told)
        fail_msg("%s: %s", question, (const char *)asked->out.buffer);
    tv_out_release(&asked->out);
}

static void a_finding_has_its_places(void **state)
{
    assert_told(
        *state, "findings",
        "\"finding\":{\"count\":1,\"total\":17000000,\"figure\":\"length\",\"text\":\"1 frame "
        "later than the deadline: 17 ms in all, the longest 17 ms, of "
        "android.view.Choreographer.doFrame. The deadline is 16.667 ms, that of 60 Hz: the trace "
        "says nothing about its display.\",\"places\":[[0,0,0,17000000,0,0,17000000,1]],"
        "\"kinds\":[]}",
        true);
    assert_told(*state, "findings", "{\"looked_at\":34000000,", true);
    assert_told(*state, "findings", "\"kinds\":[[\"overflow\",1,\"the buffer was full: ", true);
}

static void ranges_and_tracks_choose(void **state)
{
    const char *slow = "\"figure\":\"length\"";
    assert_told(*state, "findings?from=16000000&to=20000000", "\"total\":1000000,", true);
    assert_told(*state, "findings?from=17000000", slow, false);
    assert_told(*state, "findings?tracks=0", slow, true);
    assert_told(*state, "findings?tracks=1", slow, false);
    assert_told(*state, "findings?tracks=1", "\"missing\":\"a main thread that is known\"", true);
    /* What was found while reading is said of the whole file. */
    assert_told(*state, "findings?tracks=1", "\"kinds\":[[\"overflow\"", true);
}

/* The frame of 17 ms is late; the median is that of 16 and 17. */
static void late_frames_have_figures(void **state)
{
    assert_told(*state, "display_frames",
                "{\"all\":[2,1,0,16500000,17000000,17000000,17000000],"
                "\"processes\":[[0,2,1,0,16500000,17000000,17000000,17000000]],"
                "\"deadlines\":[\"The deadline is 16.667 ms, that of 60 Hz: the trace says nothing "
                "about its display.\"],"
                "\"late\":[[0,0,0,17000000,16666667,0,0,0,17000000,0,0,17000000,false,\"\"]],"
                "\"left_out\":0}",
                true);
    assert_told(*state, "display_frames?from=17000000",
                "{\"all\":[1,0,0,16000000,16000000,16000000,16000000],", true);
    assert_told(*state, "display_frames?tracks=1", "\"late\":[],", true);
    assert_told(*state, "display_marks?pixels=100&from=0&to=34000000",
                "{\"on_time\":[[0,18000000,34000000,16666667,0,1,1]],"
                "\"late\":[[0,0,17000000,16666667,0,0,1]],\"left_out\":0}",
                true);
    assert_told(*state, "display_marks?pixels=100&from=18000000&to=34000000", "\"late\":[],", true);
    assert_told(*state, "beside", "\"display_frames\":[{\"process\":0,\"frames\":2,\"late\":1}],",
                true);
}

static void wrong_questions_are_refused(void **state)
{
    struct asked *asked = *state;
    static const char *const wrong[] = {
        "findings?from=x",         "findings?tracks=2",         "findings?to=-1e3",
        "display_frames?tracks=2", "display_marks?from=2&to=1", "display_marks?pixels=0",
    };
    for (size_t i = 0; i < TV_COUNT(wrong); i++) {
        assert_int_equal(ask(asked, wrong[i]), TV_ERR_USAGE);
        tv_out_release(&asked->out);
    }
}

UNIT_TESTS(findings,
           cmocka_unit_test_setup_teardown(a_finding_has_its_places, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(ranges_and_tracks_choose, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(late_frames_have_figures, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(wrong_questions_are_refused, set_up, asked_tear_down));

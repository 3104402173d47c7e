/* SPDX-License-Identifier: Apache-2.0 */
/* What people take away. The figures are those of the drawing, counted by hand. */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/asked.h"

/* A for 4 ms, of which C takes 1; then B for 2. In the pool B for 1. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAABB", " C"}},
    {"pool", NULL, {"B"}},
};

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace_info *head = asked->fixture.trace->head;
    head->inputs[0].format = "made";
    head->inputs[0].records = 8;
    tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OVERFLOW, TV_NO_OFFSET);
    asked->view = tv_view_new(asked->fixture.trace);
    *state = asked;
    return 0;
}

static void assert_has(struct asked *asked, const char *question, const char *part, bool has)
{
    assert_int_equal(ask(asked, question), TV_OK);
    tv_out_char(&asked->out, 0);
    if ((strstr((const char *)asked->out.buffer, part) != NULL) != has)
        fail_msg("%s: %s", question, (const char *)asked->out.buffer);
    tv_out_release(&asked->out);
}

static void stacks_are_of_all_or_one(void **state)
{
    assert_answer(*state, "collapsed",
                  "demo.A.a 3000\n"
                  "demo.A.a;demo.C.c 1000\n"
                  "demo.B.b 3000\n");
    assert_answer(*state, "collapsed?thread=0",
                  "demo.A.a 3000\n"
                  "demo.A.a;demo.C.c 1000\n"
                  "demo.B.b 2000\n");
    assert_answer(*state, "collapsed?thread=1", "demo.B.b 1000\n");
    assert_answer(*state, "collapsed?from=0&to=2000000&tracks=0",
                  "demo.A.a 1000\n"
                  "demo.A.a;demo.C.c 1000\n");
}

/* A trace with samples and without calls is downloaded as stacks of samples. */
static void samples_alone_have_stacks(void **state)
{
    struct asked *asked = *state;
    struct tv_trace *trace = asked->fixture.trace;
    uint32_t type = fixture_value_type(trace, "alloc_space", "bytes");
    trace->recorded_calls = 0;
    for (uint32_t thread = 0; thread < 2; thread++)
        *tv_table_add(&trace->tables.samples) = (struct tv_sample){.weight = 10 + 5 * thread,
                                                                   .offset = TV_NO_OFFSET,
                                                                   .thread = thread,
                                                                   .path = 1,
                                                                   .line_path = 1,
                                                                   .type = type};
    assert_answer(asked, "collapsed", "demo.A.a 25\n");
    assert_answer(asked, "collapsed?thread=1", "demo.A.a 15\n");
    assert_has(asked, "flamegraph", "25 bytes", true);
    assert_has(asked, "flamegraph?thread=0", "10 bytes", true);
}

static void a_thread_must_be_there(void **state)
{
    struct asked *asked = *state;
    assert_int_equal(ask(asked, "flamegraph?thread=2"), TV_ERR_USAGE);
    tv_out_release(&asked->out);
    assert_int_equal(ask(asked, "collapsed?thread=-1"), TV_ERR_USAGE);
    tv_out_release(&asked->out);
}

static void a_picture_has_title_and_frames(void **state)
{
    assert_has(*state, "flamegraph", "<svg ", true);
    assert_has(*state, "flamegraph?title=x<y.trace", "x&lt;y.trace", true);
    assert_has(*state, "flamegraph", "demo.C.c", true);
    assert_has(*state, "flamegraph?thread=1", "demo.C.c", false);
    assert_has(*state, "flamegraph?thread=1", "demo.B.b", true);
}

/* Overloads of a method are one box and one line, as in the commands. */
static void names_alone_count(void **state)
{
    struct asked *asked = *state;
    struct tv_trace_info *head = asked->fixture.trace->head;
    head->frames[FIXTURE_FRAME('B')].class_name = head->frames[FIXTURE_FRAME('A')].class_name;
    head->frames[FIXTURE_FRAME('B')].name = head->frames[FIXTURE_FRAME('A')].name;
    assert_answer(asked, "collapsed?thread=0",
                  "demo.A.a 5000\n"
                  "demo.A.a;demo.C.c 1000\n");
    assert_has(asked, "flamegraph?thread=0", "<title>demo.A.a\n6,000 us", true);
}

static void facts_are_those_of_the_page(void **state)
{
    struct asked *asked = *state;
    assert_has(asked, "facts", "{\"format\":\"made\",\"version\":", true);
    assert_has(asked, "facts", ",\"events\":8,\"length_ns\":6000000,\"calls\":4,", true);
    assert_has(asked, "facts", "{\"index\":0,\"name\":\"main\",\"id\":", true);
    assert_has(asked, "facts", "{\"index\":1,\"name\":\"pool\",\"id\":", true);
    assert_has(asked, "facts", ",\"calls\":3}", true);
    assert_has(asked, "facts", ",\"calls\":1}", true);
    assert_has(asked, "facts", "\"health\":[{\"kind\":\"overflow\",\"text\":\"", true);
    assert_has(asked, "facts", "\"severity\":\"error\",\"count\":1}]", true);
    /* The rule about what the reader found tells of the overflow too. */
    assert_has(asked, "facts", "\"findings\":[{\"name\":\"", true);
}

/* A name that no file would need to have twice makes answers longer than any is sent. */
static void answers_are_bounded(void **state)
{
    enum { MOST = 64 << 20 };
    struct asked *asked = *state;
    struct tv_trace_info *head = asked->fixture.trace->head;
    size_t length = 40 << 20;
    uint8_t *name = tv_alloc(length, 1);
    memset(name, 'n', length);
    head->frames[FIXTURE_FRAME('A')].name =
        tv_trace_info_string(head, (struct tv_bytes){name, length});
    tv_free(name);
    assert_int_equal(tv_view_bound(asked->view, TV_BYTES("collapsed")), MOST);
    assert_int_equal(ask(asked, "collapsed"), TV_ERR_LIMIT);
    assert_non_null(strstr(asked->error.message, "\"traceview collapse\" writes them all"));
    assert_int_equal(asked->out.length, 0);
    tv_out_release(&asked->out);
    assert_int_equal(ask(asked, "collapsed?thread=1"), TV_OK);
    tv_out_release(&asked->out);
    head->frames[FIXTURE_FRAME('B')].name = head->frames[FIXTURE_FRAME('A')].name;
    assert_int_equal(ask(asked, "frames"), TV_ERR_LIMIT);
    assert_non_null(strstr(asked->error.message, "more than 64 MiB"));
    assert_int_equal(asked->out.length, 0);
    tv_out_release(&asked->out);
    head->inputs[0].bytes = 2 << 20;
    assert_int_equal(tv_view_bound(asked->view, TV_BYTES("frames")), MOST + (32 << 20));
    assert_int_equal(tv_view_bound(asked->view, TV_BYTES("collapsed")), MOST + (128 << 20));
    assert_int_equal(ask(asked, "frames"), TV_OK);
    assert_true(asked->out.length > 80 << 20 && asked->out.length <= MOST + (32 << 20));
    tv_out_release(&asked->out);
    head->inputs[0].bytes = UINT64_MAX / 2;
    assert_int_equal(tv_view_bound(asked->view, TV_BYTES("frames")), 512 << 20);
}

static enum tv_status count_bytes(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    (void)err;
    *(uint64_t *)context += bytes.length;
    return TV_OK;
}

/* Ask as an engine does, which sends an answer while it is written; returns the bytes sent. */
static uint64_t ask_sending(struct asked *asked, const char *question, enum tv_status expected)
{
    uint64_t sent = 0;
    const struct tv_view_parameter as = {TV_BYTES("as"), TV_BYTES("json")};
    const struct tv_view_question asking = {tv_bytes_of(question), &as, 1};
    struct tv_out out;
    tv_out_init(&out, count_bytes, &sent);
    asked->error = (struct tv_error){0};
    assert_int_equal(tv_view_answer(asked->view, &asking, &out, &asked->error), expected);
    if (expected == TV_OK)
        assert_int_equal(tv_out_finish(&out, &asked->error), TV_OK);
    tv_out_release(&out);
    return sent;
}

/* A saved trace has the name of each call: B is called twice. */
static void an_oversized_answer_sends_no_byte(void **state)
{
    static const size_t lengths[] = {1, 3 << 20, 30 << 20};
    struct asked *asked = *state;
    struct tv_trace_info *head = asked->fixture.trace->head;
    uint8_t *name = tv_alloc(40 << 20, 1);
    memset(name, 'n', 40 << 20);
    for (size_t i = 0; i < TV_COUNT(lengths); i++) {
        head->frames[FIXTURE_FRAME('B')].name =
            tv_trace_info_string(head, (struct tv_bytes){name, lengths[i]});
        assert_int_equal(ask(asked, "save?as=json"), TV_OK);
        assert_true(asked->out.length > 2 * lengths[i]);
        assert_int_equal(ask_sending(asked, "save", TV_OK), asked->out.length);
        tv_out_release(&asked->out);
    }
    head->frames[FIXTURE_FRAME('B')].name =
        tv_trace_info_string(head, (struct tv_bytes){name, 40 << 20});
    tv_free(name);
    assert_int_equal(ask_sending(asked, "save", TV_ERR_LIMIT), 0);
    assert_non_null(strstr(asked->error.message, "\"traceview cut\" writes all of it"));
}

UNIT_TESTS(downloads, cmocka_unit_test_setup_teardown(answers_are_bounded, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(an_oversized_answer_sends_no_byte, set_up,
                                           asked_tear_down),
           cmocka_unit_test_setup_teardown(stacks_are_of_all_or_one, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(samples_alone_have_stacks, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(a_thread_must_be_there, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(a_picture_has_title_and_frames, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(names_alone_count, set_up, asked_tear_down),
           cmocka_unit_test_setup_teardown(facts_are_those_of_the_page, set_up, asked_tear_down));

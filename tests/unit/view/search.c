/* SPDX-License-Identifier: Apache-2.0 */
/* Searching in steps, the table by name, the file after the trace: on a made-up file whose events
 * are described by a reader of the test. */
#include "view/asked.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "unit.h"

/* B is made by A; a millisecond a column. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAA C", " BB   "}},
    {"pool", NULL, {"  DD  "}},
};

/* Events are lines; a line is what the event says.  The word before it is no part of that. */
static const char text[] = "A {\"args\":{\"url\":\"http:\\/\\/caf\\u00e9\",\"n\":17}}\n" /* 0 */
                           "needle {\"args\":{\"list\":[\"one\",{\"deep\":\"no\"}]}}\n"
                           "i {\"args\":{\"why\":\"a Needle, a needle\"}}\n"
                           "E {\"args\":{\"needle\":[1]}}\n"
                           "C {\"args\":{\"x\":0}}\n"
                           "D {\"args\":{}}\n";

static size_t line_at(size_t number)
{
    const char *at = text;
    while (number-- > 0)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

/* Write the text after the first blank of an event's line; the test's end events replace it.
 * As a reader does, it writes strict JSON without escapes that need not be. */
static enum tv_status describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                               uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    const char *at = strchr(text + (end_offset == TV_NO_OFFSET ? offset : end_offset), ' ') + 1;
    struct tv_bytes line = {(const uint8_t *)at, strcspn(at, "\n")};
    (void)trace, (void)input, (void)err;
    if (offset == 0)
        tv_out_text(out, "{\"args\":{\"url\":\"http://caf\xc3\xa9\",\"n\":17}}");
    else
        tv_out_bytes(out, line);
    return TV_OK;
}

/* An instant of frame E is line 2; C ends with line 3. */
static void give_places(struct tv_trace *trace)
{
    struct tv_columns *columns = &trace->columns[trace->rows[0].columns];
    columns->offset = tv_pages_alloc((size_t)columns->count * sizeof *columns->offset);
    const size_t lines[] = {0, 4, 1, 5}; /* of A, C; B; D */
    const uint32_t rows[] = {0, 0, 1, 2}, indices[] = {0, 1, 0, 0};
    for (size_t i = 0; i < TV_COUNT(lines); i++)
        columns->offset[trace->rows[rows[i]].first + indices[i]] = (uint32_t)line_at(lines[i]);
    *tv_table_add(&trace->tables.instants) = (struct tv_instant){
        .time = 1000000, .offset = line_at(2), .frame = FIXTURE_FRAME('E'), .of = 1};
    *tv_table_add(&trace->tables.slice_extras) =
        (struct tv_slice_extra){.row = 0, .index = 1, .end_offset = line_at(3)};
    *tv_table_add(&trace->tables.objects) =
        (struct tv_object){.created = 1,
                           .deleted = 5,
                           .type = tv_trace_info_string(trace->head, TV_BYTES("Demo.tree"))};
}

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace *trace = asked->fixture.trace;
    asked->source = tv_source_from_memory(tv_bytes_of(text), "made up");
    trace->head->inputs[0].source = asked->source;
    trace->head->inputs[0].describe = describe;
    trace->head->inputs[0].bytes = sizeof text - 1;
    give_places(trace);
    tv_diagnostics_add(&trace->head->diagnostics, TV_DIAGNOSTIC_BAD_EVENT, line_at(2));
    asked->view = tv_view_new(trace);
    *state = asked;
    return 0;
}

/* A lists [kind, a, b, time, length, track, process, frame, name, fields, excerpt].  The work is 4
 * slices of 8 and 193 bytes. */
static void names_come_first_and_then_arguments(void **state)
{
    /* "demo.D": the class is a part of the name; "Demo.tree" is an object */
    assert_answer(*state, "search?q=demo.D",
                  "{\"hits\":[[1,2,0,2000000,2000000,1,0,3,null,1,null]],\n"
                  "\"next\":\"a.0.0\",\"count\":1,\"done\":32,\"of\":225}");
    assert_answer(*state, "search?q=demo.tree&in=names",
                  "{\"hits\":[[8,0,0,1,4,-1,0,-1,\"Demo.tree\",1,null]],\n"
                  "\"next\":null,\"count\":1,\"done\":32,\"of\":32}");
    assert_answer(*state, "search?q=demo.tree&in=names&case=1",
                  "{\"hits\":[],\n\"next\":null,\"count\":0,\"done\":32,\"of\":32}");
}

static void arguments_are_found_where_they_are(void **state)
{
    /* in a name (line 1) and in the text of another event it does not count; B's is not there */
    assert_answer(*state, "search?q=needle",
                  "{\"hits\":[[2,0,0,1000000,0,1,0,4,null,4,\"why: a Needle, a needle\"],\n"
                  "[1,0,1,5000000,1000000,0,0,2,null,4,\"needle: [\xe2\x80\xa6]\"]],\n"
                  "\"next\":null,\"count\":2,\"done\":225,\"of\":225}");
    assert_answer(*state, "search?q=Needle&case=1&in=args",
                  "{\"hits\":[[2,0,0,1000000,0,1,0,4,null,4,\"why: a Needle, a needle\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
    /* written with an escape each */
    assert_answer(*state, "search?q=/CAF\xc3\x89",
                  "{\"hits\":[[1,0,0,0,4000000,0,0,0,null,4,\"url: http://caf\xc3\xa9\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
    assert_answer(*state, "search?q=17",
                  "{\"hits\":[[1,0,0,0,4000000,0,0,0,null,4,\"n: 17\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
}

static void an_answer_goes_on_where_the_one_before_ended(void **state)
{
    char next[64];
    snprintf(next, sizeof next, "search?q=demo&limit=2&in=names&after=s.1.0");
    assert_answer(*state, "search?q=demo&limit=2&in=names",
                  "{\"hits\":[[1,0,0,0,4000000,0,0,0,null,1,null],\n"
                  "[1,0,1,5000000,1000000,0,0,2,null,1,null]],\n"
                  "\"next\":\"s.1.0\",\"count\":2,\"done\":16,\"of\":32}");
    assert_answer(*state, next,
                  "{\"hits\":[[1,1,0,1000000,2000000,0,0,1,null,1,null],\n"
                  "[1,2,0,2000000,2000000,1,0,3,null,1,null]],\n"
                  "\"next\":\"i.0.0\",\"count\":2,\"done\":32,\"of\":32}");
    /* the second hit of the instant is no second line */
    assert_answer(*state, "search?q=needle&limit=1&after=a.0.0",
                  "{\"hits\":[[2,0,0,1000000,0,1,0,4,null,4,\"why: a Needle, a needle\"]],\n"
                  "\"next\":\"a.0.146\",\"count\":1,\"done\":178,\"of\":225}");
    assert_answer(*state, "search?q=needle&limit=1&after=a.0.146",
                  "{\"hits\":[[1,0,1,5000000,1000000,0,0,2,null,4,\"needle: [\xe2\x80\xa6]\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
    /* between the two matches of the instant: it was looked at before */
    assert_answer(*state, "search?q=needle&limit=1&after=a.0.120",
                  "{\"hits\":[[1,0,1,5000000,1000000,0,0,2,null,4,\"needle: [\xe2\x80\xa6]\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
}

static void a_search_keeps_to_range_and_tracks(void **state)
{
    assert_answer(*state, "search?q=demo&in=names&from=0&to=1000000",
                  "{\"hits\":[[1,0,0,0,4000000,0,0,0,null,1,null],\n"
                  "[8,0,0,1,4,-1,0,-1,\"Demo.tree\",1,null],\n"
                  "[9,0,0,0,6000000,-1,0,-1,\"demo\",1,null]],\n"
                  "\"next\":null,\"count\":3,\"done\":32,\"of\":32}");
    assert_answer(*state, "search?q=demo&in=names&tracks=1",
                  "{\"hits\":[[1,2,0,2000000,2000000,1,0,3,null,1,null],\n"
                  "[2,0,0,1000000,0,1,0,4,null,1,null]],\n"
                  "\"next\":null,\"count\":2,\"done\":32,\"of\":32}");
    assert_answer(*state, "search?q=needle&in=args&tracks=0",
                  "{\"hits\":[[1,0,1,5000000,1000000,0,0,2,null,4,\"needle: [\xe2\x80\xa6]\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
}

/* Texts of a sample may stand anywhere in a binary file, so samples are read one after another;
 * the two values of the first one are one sample.  Places in the file end at 193. */
static void samples_are_read_one_after_another(void **state)
{
    struct asked *asked = *state;
    struct tv_trace *trace = asked->fixture.trace;
    struct tv_tables *tables = &trace->tables;
    const size_t lines[] = {2, 2, 3, 5};
    *tv_table_add(&tables->value_types) = (struct tv_value_type){
        .name = tv_trace_info_string(trace->head, TV_BYTES("cpu")), .samples = 4};
    for (size_t i = 0; i < TV_COUNT(lines); i++)
        *tv_table_add(&tables->samples) = (struct tv_sample){.time = (tv_ns)i,
                                                             .weight = 1,
                                                             .offset = line_at(lines[i]),
                                                             .cpu = TV_NONE,
                                                             .path = TV_ROOT_PATH};
    trace->head->inputs[0].samples = 3;
    assert_answer(*state, "search?q=needle&in=args&after=a.0.193",
                  "{\"hits\":[[5,0,0,0,0,0,0,-1,\"cpu\",4,\"why: a Needle, a needle\"],\n"
                  "[5,2,0,2,0,0,0,-1,\"cpu\",4,\"needle: [\xe2\x80\xa6]\"]],\n"
                  "\"next\":null,\"count\":2,\"done\":225,\"of\":225}");
    assert_answer(*state, "search?q=needle&in=args&limit=1&after=a.0.193",
                  "{\"hits\":[[5,0,0,0,0,0,0,-1,\"cpu\",4,\"why: a Needle, a needle\"]],\n"
                  "\"next\":\"a.0.195\",\"count\":1,\"done\":225,\"of\":225}");
}

static void patterns_are_found_as_texts_are(void **state)
{
    /* what both kinds of places hold: a name, a key, a text with an escape */
    assert_answer(*state, "search?q=^demo\\.[Dd]\\b&re=1&in=names",
                  "{\"hits\":[[1,2,0,2000000,2000000,1,0,3,null,1,null]],\n"
                  "\"next\":null,\"count\":1,\"done\":32,\"of\":32}");
    assert_answer(*state, "search?q=^needle$&re=1&in=args",
                  "{\"hits\":[[1,0,1,5000000,1000000,0,0,2,null,4,\"needle: [\xe2\x80\xa6]\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
    assert_answer(*state, "search?q=caf.$&re=1&in=args",
                  "{\"hits\":[[1,0,0,0,4000000,0,0,0,null,4,\"url: http://caf\xc3\xa9\"]],\n"
                  "\"next\":null,\"count\":1,\"done\":225,\"of\":225}");
    assert_answer(*state, "search_frames?q=o\\.[AD]\\b&re=1&case=1", "{\"frames\":[0,3]}");
}

static void hits_are_counted_without_being_told(void **state)
{
    /* four slices, an instant, an object and the process */
    assert_answer(*state, "search?q=demo&in=names&count=1",
                  "{\"hits\":[],\n\"next\":null,\"count\":7,\"done\":32,\"of\":32}");
    assert_answer(*state, "search?q=needle&count=1&after=a.0.0",
                  "{\"hits\":[],\n\"next\":null,\"count\":2,\"done\":225,\"of\":225}");
}

/* A at 0, B at 1, D at 2, C at 5 ms; all are of the class demo. */
static void steps_go_from_call_to_call_in_time(void **state)
{
    assert_answer(*state, "search_step?q=demo&t=-1&direction=1",
                  "{\"call\":[0,0],\"nth\":1,\"of\":4,\"wrapped\":false}");
    assert_answer(*state, "search_step?q=demo&t=1000000&row=1&index=0&direction=1",
                  "{\"call\":[2,0],\"nth\":3,\"of\":4,\"wrapped\":false}");
    assert_answer(*state, "search_step?q=demo&t=5000000&row=0&index=1&direction=1",
                  "{\"call\":[0,0],\"nth\":1,\"of\":4,\"wrapped\":true}");
    assert_answer(*state, "search_step?q=demo&t=0&row=0&index=0&direction=-1",
                  "{\"call\":[0,1],\"nth\":4,\"of\":4,\"wrapped\":true}");
    assert_answer(*state, "search_step?q=demo&t=2000000&direction=-1",
                  "{\"call\":[1,0],\"nth\":2,\"of\":4,\"wrapped\":false}");
    assert_answer(*state, "search_step?q=demo\\.[AC]\\b&re=1&case=1&t=0&direction=1",
                  "{\"call\":[0,1],\"nth\":2,\"of\":2,\"wrapped\":false}");
    assert_answer(*state, "search_step?q=demo&t=0&direction=1&tracks=1",
                  "{\"call\":[2,0],\"nth\":1,\"of\":1,\"wrapped\":false}");
    assert_answer(*state, "search_step?q=nothing&t=0&direction=1",
                  "{\"call\":null,\"nth\":0,\"of\":0,\"wrapped\":false}");
}

static void the_table_by_name(void **state)
{
    assert_answer(*state, "statistics?tracks=0&from=0&to=3000000",
                  "{\"rows\":[[0,1,3000000,1000000,3000000,3000000,3000000,3000000,3000000,3000000,"
                  "1],\n[1,1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0]]}");
    assert_answer(*state, "statistics?frame=3",
                  "{\"row\":[3,1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0]"
                  ",\"bounds\":[2000000,2500000],\"counts\":[1],"
                  "\"slowest\":[[2,0,2000000,2000000,1]]}");
    assert_answer(*state, "statistics?frame=3&clock=cpu",
                  "{\"row\":[3,1,2000000,2000000,2000000,2000000,2000000,2000000,2000000,2000000,0]"
                  ",\"bounds\":[2000000,2500000],\"counts\":[1],"
                  "\"slowest\":[[2,0,2000000,2000000,1]]}");
    assert_answer(
        *state, "statistics?frame=25",
        "{\"row\":[25,0,0,0,null,0,0,0,0,0,0],\"bounds\":[],\"counts\":[],\"slowest\":[]}");
}

static void the_event_and_the_bytes_at_a_place(void **state)
{
    assert_answer(*state, "at?offset=0",
                  "{\"exact\":true,\"event\":[1,0,0,0,4000000,0,0,0,null],\"offset\":0}");
    assert_answer(*state, "at?offset=93",
                  "{\"exact\":false,\"event\":[2,0,0,1000000,0,1,0,4,null],\"offset\":94}");
    assert_answer(*state, "bytes?offset=0&length=3",
                  "{\"offset\":0,\"size\":193,\"hex\":\"41207b\"}");
    assert_answer(*state, "bytes?offset=192", "{\"offset\":192,\"size\":193,\"hex\":\"0a\"}");
    assert_answer(*state, "bytes?offset=9000", "{\"offset\":9000,\"size\":193,\"hex\":\"\"}");
    assert_answer(*state, "health",
                  "{\"readable\":[true],\"diagnostics\":[\n"
                  "  {\"file\": \"drawn\", \"kind\": \"bad-event\", \"severity\": \"error\", "
                  "\"text\": \"entries among the events that are not readable objects, left "
                  "out\", \"count\": 1, "
                  "\"places\": [\n    {\"offset\": 94, \"line\": 3, \"excerpt\": "
                  "\"i {\\\"args\\\":{\\\"why\\\":\\\"a Needle, a needle\\\"}}\"}]}\n]\n}");
}

static const char *const wrong_questions[] = {
    "search",
    "search?q=",
    "search?q=a&in=names,all",
    "search?q=a&limit=0",
    "search?q=a&limit=20001",
    "search?q=(&re=1",
    "search?q=a*&re=1",
    "search?q=a&re=2",
    "search_frames?q=[&re=1",
    "search?q=a&case=2",
    "search?q=a&after=",
    "search?q=a&after=x.1.2",
    "search?q=a&after=s.1",
    "search?q=a&after=s.-1.2",
    "search?q=a&tracks=9",
    "statistics?frame=26",
    "statistics?clock=wall",
    "statistics?frame=-1",
    "at",
    "at?offset=-1",
    "at?offset=1&input=1",
    "bytes?offset=0&length=0",
    "bytes?offset=0&length=4097",
};

static void wrong_questions_are_refused(void **state)
{
    struct asked *asked = *state;
    for (size_t i = 0; i < TV_COUNT(wrong_questions); i++) {
        assert_int_equal(ask(asked, wrong_questions[i]), TV_ERR_USAGE);
        assert_int_equal(asked->out.length, 0);
        tv_out_release(&asked->out);
    }
}

/* Wherever it is said to go on, the answer ends. */
static void any_cursor_has_an_answer(void **state)
{
    static const char *const cursors[] = {"f.1.0",  "m.1.0",  "t.99.0",         "d.9.0",
                                          "s.99.0", "s.0.99", "i.7.0",          "c.9.9",
                                          "o.5.0",  "a.9.0",  "a.0.4294967296", "a.0.99"};
    struct asked *asked = *state;
    for (size_t i = 0; i < TV_COUNT(cursors); i++) {
        char question[64];
        snprintf(question, sizeof question, "search?q=demo&after=%s", cursors[i]);
        assert_int_equal(ask(asked, question), TV_OK);
        tv_out_release(&asked->out);
    }
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

UNIT_TESTS(search, asked_test(names_come_first_and_then_arguments),
           asked_test(arguments_are_found_where_they_are),
           asked_test(an_answer_goes_on_where_the_one_before_ended),
           asked_test(a_search_keeps_to_range_and_tracks),
           asked_test(samples_are_read_one_after_another),
           asked_test(patterns_are_found_as_texts_are),
           asked_test(hits_are_counted_without_being_told),
           asked_test(steps_go_from_call_to_call_in_time), asked_test(the_table_by_name),
           asked_test(the_event_and_the_bytes_at_a_place), asked_test(wrong_questions_are_refused),
           asked_test(any_cursor_has_an_answer));

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/asked.h"

/*
 * Events that are not slices: counters, instants, flows.
 */

/* B is made by A; a millisecond a column. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAA C", " BB   "}},
    {"pool", NULL, {"  DD  "}},
};

/* "memory" of 2 series, the second missing once; "load" of one, many times in one millisecond;
 * another of the same name that never has a number. */
static void add_counters(struct tv_trace *trace)
{
    struct tv_tables *tables = &trace->tables;
    uint32_t names[2] = {tv_trace_info_string(trace->head, TV_BYTES("used")),
                         tv_trace_info_string(trace->head, TV_BYTES("free \"x\""))};
    const tv_ns times[3] = {1000000, 2000000, 3000000};
    const uint64_t offsets[3] = {10, 20, 30};
    const double values[6] = {5, 2, 1, NAN, 7, -9};
    struct tv_counter counter = {.name = tv_trace_info_string(trace->head, TV_BYTES("memory")),
                                 .process = 0,
                                 .series_count = 2,
                                 .sample_count = 3,
                                 .colour = 4};
    tv_tables_add_counter(tables, &counter, names, times, offsets, values);
    tv_ns many_times[100];
    uint64_t many_offsets[100] = {0};
    double many_values[100];
    for (int i = 0; i < 100; i++) {
        many_times[i] = 2000000 + i;
        many_values[i] = i == 40 ? 1000 : i == 60 ? -3 : i;
    }
    counter = (struct tv_counter){.name = tv_trace_info_string(trace->head, TV_BYTES("load")),
                                  .process = TV_NONE,
                                  .series_count = 1,
                                  .sample_count = 100};
    tv_tables_add_counter(tables, &counter, names, many_times, many_offsets, many_values);
    const double words[2] = {NAN, NAN};
    counter.sample_count = 2;
    tv_tables_add_counter(tables, &counter, names, times, offsets, words);
}

static void add_instant(struct tv_trace *trace, tv_ns time, enum tv_scope scope, uint32_t of)
{
    struct tv_instant *instant = tv_table_add(&trace->tables.instants);
    *instant = (struct tv_instant){.time = time,
                                   .offset = TV_NO_OFFSET,
                                   .frame = FIXTURE_FRAME('E'),
                                   .of = of,
                                   .scope = (uint8_t)scope};
}

static void add_flow(struct tv_trace *trace, struct tv_flow_end from, struct tv_flow_end to)
{
    struct tv_flow *flow = tv_table_add(&trace->tables.flows);
    *flow = (struct tv_flow){.from = from,
                             .to = to,
                             .frame = FIXTURE_FRAME('F'),
                             .id = tv_trace_info_string(trace->head, TV_BYTES("7"))};
}

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace *trace = asked->fixture.trace;
    add_counters(trace);
    add_instant(trace, 1000000, TV_SCOPE_THREAD, 1);
    add_instant(trace, 1000001, TV_SCOPE_THREAD, 1);
    add_instant(trace, 1000002, TV_SCOPE_PROCESS, 0);
    add_instant(trace, 3000000, TV_SCOPE_GLOBAL, TV_NONE);
    add_instant(trace, 3000000, TV_SCOPE_TRACK, 1);
    /* from A to D, from B to D, from D to C */
    add_flow(trace, (struct tv_flow_end){500000, 0, 0}, (struct tv_flow_end){2000000, 2, 0});
    add_flow(trace, (struct tv_flow_end){1500000, 1, 0}, (struct tv_flow_end){2000000, 2, 0});
    add_flow(trace, (struct tv_flow_end){4000000, 2, 0}, (struct tv_flow_end){5000000, 0, 1});
    asked->view = tv_view_new(trace);
    *state = asked;
    return 0;
}

static void lists_counters(void **state)
{
    /* the stack of memory is highest with 5 + 2, lowest with 7 - 9 */
    assert_answer(*state, "counters",
                  "{\"counters\":[{\"counter\":0,\"name\":\"memory\",\"category\":\"\",\"process\":"
                  "0,\"series\":[\"used\",\"free \\\"x\\\"\"],\"samples\":3,\"low\":-2,\"high\":7"
                  ",\"bounds\":[[0,7],[-9,2]],\"last_ns\":3000000,\"colour\":4},\n"
                  "{\"counter\":1,\"name\":\"load\",\"category\":\"\",\"process\":-1,\"series\":["
                  "\"used\"],\"samples\":100,\"low\":-3,\"high\":1000,\"bounds\":[[-3,1000]]"
                  ",\"last_ns\":2000099,\"colour\":0},\n"
                  "{\"counter\":2,\"name\":\"load\",\"category\":\"\",\"process\":-1,\"series\":["
                  "\"used\"],\"samples\":2,\"low\":0,\"high\":0,\"bounds\":[null]"
                  ",\"last_ns\":2000000,\"colour\":0}]}");
}

/* used is 5, 1 and 7 for 1, 1 and 3 ms; free is 2 for 1 ms, then unknown, then -9 for 3 ms. */
static void figures_of_a_counter(void **state)
{
    assert_answer(*state, "counter_figures?counters=0&at=2999999",
                  "{\"from_ns\":0,\"to_ns\":6000000,\"rows\":[{\"counter\":0,\"series\":0,"
                  "\"samples\": 3, \"known_ns\": 5000000, \"first\": 5, \"last\": 7, "
                  "\"change\": 2, \"rate_per_s\": 400, \"mean\": 5.4, \"min\": 1, "
                  "\"min_at_ns\": 2000000, \"max\": 7, \"max_at_ns\": 3000000,\"value\":1},\n"
                  "{\"counter\":0,\"series\":1,"
                  "\"samples\": 2, \"known_ns\": 4000000, \"first\": 2, \"last\": -9, "
                  "\"change\": -11, \"rate_per_s\": -2750, \"mean\": -6.25, \"min\": -9, "
                  "\"min_at_ns\": 3000000, \"max\": 2, \"max_at_ns\": 1000000,\"value\":null}]}");
    assert_answer(*state, "counter_figures?counters=2&from=1000000&to=2000000",
                  "{\"from_ns\":1000000,\"to_ns\":2000000,\"rows\":[{\"counter\":2,\"series\":0,"
                  "\"samples\": 0, \"known_ns\": 0, \"first\": null, \"last\": null, "
                  "\"change\": null, \"rate_per_s\": null, \"mean\": null, \"min\": null, "
                  "\"min_at_ns\": null, \"max\": null, \"max_at_ns\": null}]}");
}

/* Every series of every counter is a row, unless the question names counters. */
static void figures_of_all_counters(void **state)
{
    static const char row[] = "\"known_ns\"";
    struct asked *asked = *state;
    size_t rows = 0;
    assert_int_equal(ask(asked, "counter_figures"), TV_OK);
    tv_out_char(&asked->out, '\0');
    for (const char *at = (const char *)asked->out.buffer; (at = strstr(at, row)); at++)
        rows++;
    assert_int_equal(rows, 4);
    tv_out_release(&asked->out);
    assert_answer(asked,
                  "counter_figures?counters=", "{\"from_ns\":0,\"to_ns\":6000000,\"rows\":[]}");
}

/* load climbs from 0 to 1000 at 40 ns, falls to 41, climbs to 59, falls to -3 and climbs. */
static void steps_along_a_counter(void **state)
{
    assert_answer(*state, "counter_step?counter=1&series=0&t=0&direction=1&to=peak",
                  "{\"time_ns\":2000040,\"value\":1000}");
    assert_answer(*state, "counter_step?counter=1&series=0&t=2000040&direction=1&to=peak",
                  "{\"time_ns\":2000059,\"value\":59}");
    assert_answer(*state, "counter_step?counter=1&series=0&t=2000099&direction=-1&to=trough",
                  "{\"time_ns\":2000060,\"value\":-3}");
    assert_answer(*state, "counter_step?counter=1&series=0&t=2000060&direction=1&to=change",
                  "{\"time_ns\":2000061,\"value\":61}");
    assert_answer(*state, "counter_step?counter=1&series=0&t=2000099&direction=1&to=change",
                  "null");
}

static void wrong_counters_are_refused(void **state)
{
    static const char *const questions[] = {
        "counter_figures?counters=3",
        "counter_figures?at=x",
        "counter_step?counter=3&series=0&t=0",
        "counter_step?counter=1&series=1&t=0",
        "counter_step?counter=1&series=0&t=0&to=valley",
        "counter_step?counter=1&t=0",
    };
    struct asked *asked = *state;
    for (size_t i = 0; i < TV_COUNT(questions); i++) {
        assert_int_equal(ask(asked, questions[i]), TV_ERR_USAGE);
        tv_out_release(&asked->out);
    }
}

static uint32_t u32_at(const struct tv_out *out, size_t at)
{
    uint32_t value;
    assert_true(at + 4 <= out->length);
    memcpy(&value, out->buffer + at, 4);
    return value;
}

static void assert_numbers(const struct tv_out *out, size_t at, const double *expected,
                           size_t count)
{
    assert_true(at + count * 8 <= out->length);
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, out->buffer + at + i * 8, 8);
        assert_true(isnan(expected[i]) ? isnan(value) : value == expected[i]);
    }
}

static void few_samples_come_as_they_are(void **state)
{
    struct asked *asked = *state;
    /* times; series 0; series 1.  The sample before the range holds where it begins. */
    const double numbers[] = {1e6, 2e6, 5, 1, 2, NAN};
    assert_int_equal(ask(asked, "counter_values?from=1500000&to=3000000&counters=0"), TV_OK);
    assert_int_equal(asked->out.length, 8 + 16 + sizeof numbers);
    assert_memory_equal(asked->out.buffer, "TVC1", 4);
    assert_int_equal(u32_at(&asked->out, 4), 1);
    assert_int_equal(u32_at(&asked->out, 8), 0);
    assert_int_equal(u32_at(&asked->out, 12), 2);
    assert_int_equal(u32_at(&asked->out, 16), 2);
    assert_int_equal(u32_at(&asked->out, 20), 0);
    assert_numbers(&asked->out, 24, numbers, TV_COUNT(numbers));
    tv_out_release(&asked->out);
}

static void many_samples_are_merged_by_pixel(void **state)
{
    struct asked *asked = *state;
    /* two pixels of 50 ns: times, first, last, lowest, highest */
    const double numbers[] = {2000000, 2000050, 0, 50, 49, 99, 0, -3, 1000, 99};
    assert_int_equal(ask(asked, "counter_values?from=2000000&to=2000100&pixels=2&counters=1,0"),
                     TV_OK);
    assert_int_equal(u32_at(&asked->out, 4), 2);
    assert_int_equal(u32_at(&asked->out, 8), 1);
    assert_int_equal(u32_at(&asked->out, 16), 2);
    assert_int_equal(u32_at(&asked->out, 20), 1);
    assert_numbers(&asked->out, 24, numbers, TV_COUNT(numbers));
    /* after it the other one */
    assert_int_equal(u32_at(&asked->out, 24 + sizeof numbers), 0);
    tv_out_release(&asked->out);
}

static void instants_of_a_range(void **state)
{
    /* two of one thread and pixel together, other owners for themselves */
    assert_answer(*state, "instants?from=0&to=4000000&pixels=4",
                  "{\"instants\":[[0,1000000,4,0,1,2,0],\n[2,1000002,4,1,0,1,0],\n"
                  "[3,3000000,4,2,-1,1,0],\n[4,3000000,4,3,1,1,0]],\"left_out\":0}");
    assert_answer(*state, "instants?from=1000001&to=3000000",
                  "{\"instants\":[[1,1000001,4,0,1,1,0],\n[2,1000002,4,1,0,1,0]],\"left_out\":0}");
    assert_answer(*state, "instant?instant=3",
                  "{\"instant\":3,\"time_ns\":3000000,\"frame\":4,\"scope\":2,\"of\":-1}");
}

static void flows_of_a_slice(void **state)
{
    assert_answer(*state, "flows?row=2&index=0",
                  "{\"in\":[{\"flow\":0,\"frame\":5,\"id\":\"7\",\"from\":[0,0,500000,0,0],"
                  "\"to\":[2,0,2000000,1,3]},\n"
                  "{\"flow\":1,\"frame\":5,\"id\":\"7\",\"from\":[1,0,1500000,0,1],"
                  "\"to\":[2,0,2000000,1,3]}],\n"
                  "\"out\":[{\"flow\":2,\"frame\":5,\"id\":\"7\",\"from\":[2,0,4000000,1,3],"
                  "\"to\":[0,1,5000000,0,2]}],\"in_count\":2,\"out_count\":1}");
    assert_answer(*state, "flows?row=1&index=0",
                  "{\"in\":[],\n\"out\":[{\"flow\":1,\"frame\":5,\"id\":\"7\",\"from\":[1,0,1500000"
                  ",0,1],\"to\":[2,0,2000000,1,3]}],\"in_count\":0,\"out_count\":1}");
}

static const char *const wrong_questions[] = {
    "counter_values?counters=3",
    "counter_values?counters=0,,1",
    "counter_values?counters=-1",
    "counter_values?counters=0&pixels=0",
    "counter_values?counters=0&pixels=8193",
    "counter_values?counters=0&from=5&to=5",
    "instants?from=9&to=8",
    "instants?pixels=x",
    "instant",
    "instant?instant=5",
    "instant?instant=-1",
    "flows?row=0",
    "flows?row=3&index=0",
    "flows?row=0&index=2",
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

static void an_answer_is_bounded(void **state)
{
    struct asked *asked = *state;
    struct tv_trace *trace = asked->fixture.trace;
    for (int i = 0; i < 30000; i++)
        add_instant(trace, i * 100, TV_SCOPE_GLOBAL, TV_NONE);
    assert_int_equal(ask(asked, "instants?from=0&to=4000000&pixels=8192"), TV_OK);
    assert_true(asked->out.length < 8192 * 40);
    tv_out_release(&asked->out);
    for (int i = 0; i < 300; i++)
        add_flow(trace, (struct tv_flow_end){0, 0, 0}, (struct tv_flow_end){0, 0, 1});
    assert_int_equal(ask(asked, "flows?row=0&index=1"), TV_OK);
    tv_out_char(&asked->out, 0);
    assert_non_null(strstr((const char *)asked->out.buffer, "\"in_count\":301,"));
    assert_true(asked->out.length < 201 * 120);
    tv_out_release(&asked->out);
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

UNIT_TESTS(events, asked_test(lists_counters), asked_test(figures_of_a_counter),
           asked_test(figures_of_all_counters), asked_test(steps_along_a_counter),
           asked_test(wrong_counters_are_refused), asked_test(few_samples_come_as_they_are),
           asked_test(many_samples_are_merged_by_pixel), asked_test(instants_of_a_range),
           asked_test(flows_of_a_slice), asked_test(wrong_questions_are_refused),
           asked_test(an_answer_is_bounded));

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/asked.h"

/*
 * Arrows of a range: which there are, and which are one on a screen; contexts of a slice.
 */

/* A millisecond a column. Rows: 0 A C, 1 B, 2 D, 3 E. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAA C", " BB   "}},
    {"pool", NULL, {"  DD  ", "  E   "}},
};

static void add_flow(struct tv_trace *trace, char name, struct tv_flow_end from,
                     struct tv_flow_end to)
{
    struct tv_flow *flow = tv_table_add(&trace->tables.flows);
    *flow = (struct tv_flow){.from = from,
                             .to = to,
                             .offset = TV_NO_OFFSET,
                             .end_offset = TV_NO_OFFSET,
                             .frame = FIXTURE_FRAME(name),
                             .id = tv_trace_info_string(trace->head, TV_BYTES("7"))};
}

static void add_context(struct tv_trace *trace, uint32_t thread, const char *type, tv_ns start,
                        tv_ns end)
{
    struct tv_context *context = tv_table_add(&trace->tables.contexts);
    *context = (struct tv_context){.start = start,
                                   .end = end,
                                   .offset = (uint64_t)start / 1000,
                                   .thread = thread,
                                   .type = tv_trace_info_string(trace->head, tv_bytes_of(type)),
                                   .id = tv_trace_info_string(trace->head, TV_BYTES("0x1"))};
}

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace *trace = asked->fixture.trace;
    trace->head->frames[FIXTURE_FRAME('F')].category =
        tv_trace_info_string(trace->head, TV_BYTES("net, gpu"));
    trace->head->frames[FIXTURE_FRAME('G')].category =
        tv_trace_info_string(trace->head, TV_BYTES("gpu"));
    /* 0: A to D; 1: B to D; 2: D to C; 3: B back in time to A, without a category */
    add_flow(trace, 'F', (struct tv_flow_end){500000, 0, 0}, (struct tv_flow_end){2000000, 2, 0});
    add_flow(trace, 'F', (struct tv_flow_end){1500000, 1, 0}, (struct tv_flow_end){2000000, 2, 0});
    add_flow(trace, 'G', (struct tv_flow_end){4000000, 2, 0}, (struct tv_flow_end){5000000, 0, 1});
    add_flow(trace, 'H', (struct tv_flow_end){2500000, 1, 0}, (struct tv_flow_end){100000, 0, 0});
    add_context(trace, 0, "Frame", 0, 2000000);
    add_context(trace, 0, "Page", 500000, 6000000);
    add_context(trace, 1, "Frame", 1000000, 2000000);
    add_context(trace, 1, "Frame", 3000000, 4000000);
    asked->view = tv_view_new(trace);
    *state = asked;
    return 0;
}

/* The answer, to be given back with tv_out_release(&asked->out). */
static const char *answer_of(struct asked *asked, const char *question, enum tv_status expected)
{
    assert_int_equal(ask(asked, question), expected);
    tv_out_char(&asked->out, 0);
    return (const char *)asked->out.buffer;
}

/* "0 1x2 flows 3 left 0": the numbers of the arrows, with the count where it is not 1. */
static void assert_arrows(struct asked *asked, const char *question, const char *expected)
{
    char told[512];
    const char *at = answer_of(asked, question, TV_OK), *next;
    size_t length = 0;
    unsigned long long a, b;
    told[0] = 0;
    for (; (next = strstr(at, "{\"flow\":")) != NULL; at = next + 1) {
        assert_int_equal(sscanf(next, "{\"flow\":%llu", &a), 1);
        assert_int_equal(sscanf(strstr(next, "\"count\":"), "\"count\":%llu", &b), 1);
        length += (size_t)snprintf(told + length, sizeof told - length, "%llu", a);
        if (b != 1)
            length += (size_t)snprintf(told + length, sizeof told - length, "x%llu", b);
        length += (size_t)snprintf(told + length, sizeof told - length, " ");
        assert_true(length < sizeof told - 32);
    }
    assert_int_equal(sscanf(strstr(at, "\"flows\":"), "\"flows\":%llu,\"left_out\":%llu", &a, &b),
                     2);
    snprintf(told + length, sizeof told - length, "flows %llu left %llu", a, b);
    assert_string_equal(told, expected);
    tv_out_release(&asked->out);
}

static void arrows_of_a_range(void **state)
{
    /* by their earlier time: the one that goes back in time stands from 0.1 to 2.5 ms */
    assert_arrows(*state, "arrows", "3 0 1 2 flows 4 left 0");
    assert_arrows(*state, "arrows?from=2500001&to=3000000", "flows 0 left 0");
    assert_arrows(*state, "arrows?from=2500000&to=3000000", "3 flows 1 left 0");
    assert_arrows(*state, "arrows?from=0&to=500000", "3 flows 1 left 0");
    assert_arrows(*state, "arrows?from=0&to=500001", "3 0 flows 2 left 0");
    /* the arrow over the range, whose ends are both outside */
    assert_arrows(*state, "arrows?from=4200000&to=4300000", "2 flows 1 left 0");
    assert_arrows(*state, "arrows?from=5000001", "flows 0 left 0");
}

static void an_arrow_tells_both_ends(void **state)
{
    struct asked *asked = *state;
    assert_string_equal(
        answer_of(asked, "arrows?from=4000000", TV_OK),
        "{\"arrows\":[{\"flow\":2,\"frame\":6,\"id\":\"7\",\"from\":[2,0,4000000,1,3"
        "],\"to\":[0,1,5000000,0,2],\"count\":1}],\"flows\":1,\"left_out\":0}");
    tv_out_release(&asked->out);
}

static void a_flow_is_told_alone(void **state)
{
    struct asked *asked = *state;
    /* its events stand nowhere, so there is nothing to read again */
    assert_string_equal(answer_of(asked, "flow?flow=2", TV_OK),
                        "{\"flow\":2,\"frame\":6,\"id\":\"7\",\"from\":[2,0,4000000,1,3],"
                        "\"to\":[0,1,5000000,0,2]}");
    tv_out_release(&asked->out);
}

static void arrows_of_categories_and_tracks(void **state)
{
    struct asked *asked = *state;
    assert_string_equal(answer_of(asked, "flow_categories", TV_OK),
                        "{\"categories\":[[\"\",1],\n[\"net\",2],\n[\"gpu\",3]]}");
    tv_out_release(&asked->out);
    assert_arrows(asked, "arrows?categories=1", "0 1 flows 2 left 0");
    assert_arrows(asked, "arrows?categories=2", "0 1 2 flows 3 left 0");
    assert_arrows(asked, "arrows?categories=0,1", "3 0 1 flows 3 left 0");
    assert_arrows(asked, "arrows?categories=", "flows 0 left 0");
    assert_arrows(asked, "arrows?tracks=1", "0 1 2 flows 3 left 0");
    assert_arrows(asked, "arrows?tracks=1&categories=1", "0 1 flows 2 left 0");
}

static void arrows_of_one_pixel_are_one(void **state)
{
    /* two of 0 to 2 ms: A to D and B to D begin and end in one pixel, but not in one row */
    assert_arrows(*state, "arrows?from=0&to=8000000&pixels=4&categories=1", "0 1 flows 2 left 0");
    struct tv_trace *trace = ((struct asked *)*state)->fixture.trace;
    struct asked again = {.view = tv_view_new(trace)};
    add_flow(trace, 'F', (struct tv_flow_end){600000, 0, 0}, (struct tv_flow_end){2100000, 2, 0});
    assert_arrows(&again, "arrows?from=0&to=8000000&pixels=4&categories=1", "0x2 1 flows 3 left 0");
    assert_arrows(&again, "arrows?from=0&to=8000000&pixels=8&categories=1", "0x2 1 flows 3 left 0");
    /* 0.5 ms and 0.6 ms are two pixels where a pixel is 0.1 ms */
    assert_arrows(&again, "arrows?from=0&to=8000000&pixels=80&categories=1",
                  "0 4 1 flows 3 left 0");
    tv_view_free(again.view);
}

/* From the instant 1 of thread 1 to A, and on to the instant 0 of a thread that has no slices. */
static void instants_have_arrows(void **state)
{
    struct tv_trace *trace = ((struct asked *)*state)->fixture.trace;
    struct asked asked = {.view = NULL};
    uint32_t idle = tv_trace_info_add_thread(trace->head, &(struct tv_thread){.id = 99});
    *tv_table_add(&trace->tables.instants) =
        (struct tv_instant){.time = 3000000, .frame = FIXTURE_FRAME('D'), .of = idle};
    *tv_table_add(&trace->tables.instants) =
        (struct tv_instant){.time = 200000, .frame = FIXTURE_FRAME('C'), .of = 1};
    add_flow(trace, 'G', (struct tv_flow_end){200000, TV_NONE, 1},
             (struct tv_flow_end){500000, 0, 0});
    add_flow(trace, 'G', (struct tv_flow_end){500000, 0, 0},
             (struct tv_flow_end){3000000, TV_NONE, 0});
    asked.view = tv_view_new(trace);
    assert_string_equal(answer_of(&asked, "flows?instant=1", TV_OK),
                        "{\"in\":[],\n\"out\":[{\"flow\":4,\"frame\":6,\"id\":\"7\","
                        "\"from\":[-1,1,200000,-1,2,1],\"to\":[0,0,500000,0,0]}],"
                        "\"in_count\":0,\"out_count\":1}");
    tv_out_release(&asked.out);
    assert_arrows(&asked, "arrows?categories=2", "4 0 5 1 2 flows 5 left 0");
    assert_arrows(&asked, "arrows?tracks=1", "4 0 1 2 flows 4 left 0");
    assert_arrows(&asked, "arrows?tracks=0&to=300000", "3 4 flows 2 left 0");
    answer_of(&asked, "flows?instant=2", TV_ERR_USAGE);
    tv_out_release(&asked.out);
    tv_view_free(asked.view);
}

/* The counts of all arrows together, and how many arrows there are. */
static unsigned long long sum_of_counts(const char *answer, unsigned *arrows)
{
    unsigned long long sum = 0, count;
    *arrows = 0;
    for (const char *at = answer; (at = strstr(at, "\"count\":")) != NULL; at++) {
        assert_int_equal(sscanf(at, "\"count\":%llu", &count), 1);
        sum += count;
        ++*arrows;
    }
    return sum;
}

/* A great many random arrows: each answer is bounded and counts every arrow that touches. */
static void many_arrows_are_counted(void **state)
{
    struct asked *asked = *state;
    struct tv_trace *trace = asked->fixture.trace;
    uint32_t dice = 4711, spans[20000][2];
    trace->tables.flows.count = 0;
    for (unsigned i = 0; i < 20000; i++) {
        spans[i][0] = fixture_roll(&dice, 5900000);
        spans[i][1] = spans[i][0] + fixture_roll(&dice, i % 100 == 0 ? 100000 : 3000);
        add_flow(trace, 'F', (struct tv_flow_end){spans[i][0], 0, 0},
                 (struct tv_flow_end){spans[i][1], 2, 0});
    }
    for (unsigned step = 0; step < 60; step++) {
        uint32_t from = step * 100000,
                 to = from + 1 + fixture_roll(&dice, step < 30 ? 1000 : 3000000);
        unsigned arrows, touching = 0;
        char question[64];
        for (unsigned i = 0; i < 20000; i++)
            touching += spans[i][0] < to && spans[i][1] >= from;
        snprintf(question, sizeof question, "arrows?from=%u&to=%u", from, to);
        assert_int_equal(sum_of_counts(answer_of(asked, question, TV_OK), &arrows), touching);
        assert_true(arrows <= 2000 && (touching == 0 || arrows > 0));
        tv_out_release(&asked->out);
    }
}

/* Long arrows from anywhere to anywhere: some are left out, and those told are of all times. */
static void too_many_places_are_thinned(void **state)
{
    struct asked *asked = *state;
    struct tv_trace *trace = asked->fixture.trace;
    uint32_t dice = 815;
    unsigned arrows, late = 0;
    unsigned long long told, sum, left;
    trace->tables.flows.count = 0;
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t from = fixture_roll(&dice, 3000000);
        add_flow(trace, 'F', (struct tv_flow_end){from, 0, 0},
                 (struct tv_flow_end){from + fixture_roll(&dice, 3000000), 2, 0});
    }
    const char *answer = answer_of(asked, "arrows?from=0&to=6000000&pixels=8192", TV_OK);
    told = sum_of_counts(answer, &arrows);
    assert_int_equal(
        sscanf(strstr(answer, "\"flows\":"), "\"flows\":%llu,\"left_out\":%llu", &sum, &left), 2);
    assert_int_equal(sum, 20000);
    assert_int_equal(told + left, 20000);
    assert_true(left > 0 && arrows > 500 && arrows <= 2000);
    for (const char *at = answer; (at = strstr(at, "\"from\":[0,0,")) != NULL; at++) {
        unsigned long long time;
        assert_int_equal(sscanf(at, "\"from\":[0,0,%llu", &time), 1);
        late += time >= 2000000;
    }
    /* a third of them, give or take a sixth */
    assert_true(late > arrows / 6 && late < arrows / 2);
    tv_out_release(&asked->out);
}

static const char *const wrong_questions[] = {
    "arrows?categories=3", "arrows?categories=x", "arrows?categories=1,,2", "flow",
    "flow?flow=4",         "flow?flow=-1",        "arrows?from=5&to=5",     "arrows?pixels=0",
    "arrows?tracks=2",
};

static void wrong_questions_are_refused(void **state)
{
    struct asked *asked = *state;
    for (size_t i = 0; i < TV_COUNT(wrong_questions); i++) {
        answer_of(asked, wrong_questions[i], TV_ERR_USAGE);
        assert_int_equal(asked->out.length, 1);
        tv_out_release(&asked->out);
    }
}

static void assert_contexts(struct asked *asked, const char *question, const char *expected)
{
    const char *told = strstr(answer_of(asked, question, TV_OK), "\"contexts\":");
    if (!expected)
        assert_null(told);
    else if (!told || strncmp(told, expected, strlen(expected)) != 0)
        assert_string_equal(told ? told : "", expected);
    tv_out_release(&asked->out);
}

static void a_slice_tells_its_contexts(void **state)
{
    /* B begins at 1 ms, in both; C at 5 ms, in one; D at 2 ms, between two */
    assert_contexts(*state, "slice?row=1&index=0",
                    "\"contexts\":[[\"Frame\",\"0x1\",0,2000000,0,-1],\n"
                    "[\"Page\",\"0x1\",500000,6000000,500,-1]]");
    assert_contexts(*state, "slice?row=0&index=1",
                    "\"contexts\":[[\"Page\",\"0x1\",500000,6000000,500,-1]]");
    assert_contexts(*state, "slice?row=2&index=0", NULL);
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

UNIT_TESTS(flows, asked_test(arrows_of_a_range), asked_test(an_arrow_tells_both_ends),
           asked_test(a_flow_is_told_alone), asked_test(arrows_of_categories_and_tracks),
           asked_test(arrows_of_one_pixel_are_one), asked_test(instants_have_arrows),
           asked_test(many_arrows_are_counted), asked_test(too_many_places_are_thinned),
           asked_test(wrong_questions_are_refused), asked_test(a_slice_tells_its_contexts));

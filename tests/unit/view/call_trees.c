/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "view/asked.h"

/*
 * Lines of tree tables and the kinds of flame graphs: question, then the answer's bytes.
 */

/* A calls itself with C, then D; B calls C.  The pool runs half of its time. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAAAA BB", " AAA D C ", "  C      "}},
    {"pool", "555555555", {"   BB    "}},
};

static int set_up(void **state)
{
    struct asked *asked = tv_alloc(1, sizeof *asked);
    asked->fixture = fixture_draw(drawing, 2);
    struct tv_trace *trace = asked->fixture.trace;
    for (uint32_t i = 0; i < 3; i++) {
        /* one of the first node, two of the second, which is A in A */
        struct tv_sample *sample = tv_table_add(&trace->tables.samples);
        *sample = (struct tv_sample){.time = i * 1000000,
                                     .weight = 10,
                                     .offset = TV_NO_OFFSET,
                                     .path = i > 0 ? 2 : 1,
                                     .line_path = i > 0 ? 2 : 1,
                                     .type = fixture_value_type(trace, "tick", "count")};
    }
    asked->view = tv_view_new(trace);
    *state = asked;
    return 0;
}

static double f64_at(const struct tv_out *out, size_t at)
{
    double value;
    assert_true(at + 8 <= out->length);
    memcpy(&value, out->buffer + at, 8);
    return value;
}

static uint32_t u32_at(const struct tv_out *out, size_t at)
{
    uint32_t value;
    assert_true(at + 4 <= out->length);
    memcpy(&value, out->buffer + at, 4);
    return value;
}

/* "A<0 6/2 6/2 x1 +": frame, parent, inclusive/self of each clock in ms, calls, flags (+ has
 * children, - they are there); first the totals. */
static void describe_lines(const struct tv_out *out, char *text, size_t size)
{
    uint32_t n = u32_at(out, 4), opened = u32_at(out, 8), clocks = u32_at(out, 12);
    size_t columns = (clocks == 3 ? 4 : 2), calls = 32 + columns * n * 8, words = calls + n * 8;
    size_t stride = (n + 1) / 2 * 8;
    int at = snprintf(text, size, "%g %g\n", f64_at(out, 16) / 1e6, f64_at(out, 24) / 1e6);
    assert_memory_equal(out->buffer, "TVN1", 4);
    assert_int_equal(out->length, words + 4 * stride + (opened + 1) / 2 * 8);
    for (size_t i = 0; i < n; i++) {
        uint32_t flags = u32_at(out, words + 3 * stride + 4 * i);
        at += snprintf(text + at, size - (size_t)at, "%c<%u",
                       (char)('A' + u32_at(out, words + 4 * i)),
                       u32_at(out, words + 2 * stride + 4 * i));
        for (size_t k = 0; k < columns; k += 2)
            at += snprintf(text + at, size - (size_t)at, " %g/%g",
                           f64_at(out, 32 + (k * n + i) * 8) / 1e6,
                           f64_at(out, 32 + ((k + 1) * n + i) * 8) / 1e6);
        at += snprintf(text + at, size - (size_t)at, " x%g%s\n", f64_at(out, calls + 8 * i),
                       flags == 3   ? " -"
                       : flags == 1 ? " +"
                                    : "");
        assert_true((size_t)at < size);
    }
}

static void assert_lines(struct asked *asked, const char *question, const char *expected)
{
    char text[1000];
    assert_int_equal(ask(asked, question), TV_OK);
    describe_lines(&asked->out, text, sizeof text);
    assert_string_equal(text, expected);
    tv_out_release(&asked->out);
}

static void lines_of_calls(void **state)
{
    assert_lines(*state, "tree",
                 "10 9\n"
                 "A<0 6/2 6/2 x1 +\n"
                 "B<0 4/3 3/2 x2 +\n");
    assert_lines(*state, "tree?tracks=0&from=2000000&nodes=0,1",
                 "6 6\n"
                 "A<0 4/1 4/1 x1 +\n"
                 "B<0 2/1 2/1 x1 +\n"
                 "A<1 2/1 2/1 x1 +\n"
                 "D<1 1/1 1/1 x1\n");
    assert_lines(*state, "tree?nodes=1&below=1",
                 "10 9\n"
                 "A<0 3/2 3/2 x1 -\n"
                 "D<0 1/1 1/1 x1\n"
                 "C<1 1/1 1/1 x1\n");
}

static void lines_from_the_bottom_up(void **state)
{
    assert_lines(*state, "tree?bottom_up=1",
                 "10 9\n"
                 "A<0 6/4 6/4 x2 +\n"
                 "C<0 2/2 2/2 x2 +\n"
                 "D<0 1/1 1/1 x1 +\n"
                 "B<0 4/3 3/2 x2\n");
    /* C in A (node 3), then what calls A there, and A in A */
    assert_lines(*state, "tree?bottom_up=1&nodes=3,3.1,1",
                 "10 9\n"
                 "A<0 1/1 1/1 x1 +\n"
                 "B<0 1/1 1/1 x1\n"
                 "A<1 1/1 1/1 x1\n"
                 "A<2 3/2 3/2 x1\n");
}

static void the_way_to_a_frame(void **state)
{
    struct asked *asked = *state;
    assert_lines(asked, "tree?reveal=3",
                 "10 9\n"
                 "A<0 6/2 6/2 x1 +\n"
                 "B<0 4/3 3/2 x2 +\n"
                 "A<1 3/2 3/2 x1 +\n"
                 "D<1 1/1 1/1 x1\n");
    assert_int_equal(ask(asked, "tree?reveal=3"), TV_OK);
    assert_int_equal(u32_at(&asked->out, 8), 2); /* the root and A */
    assert_int_equal(u32_at(&asked->out, asked->out.length - 8), 0);
    assert_int_equal(u32_at(&asked->out, asked->out.length - 4), 1);
    tv_out_release(&asked->out);
}

static void lines_of_samples(void **state)
{
    /* A has all three, two of them in itself */
    assert_lines(*state, "sample_tree?below=1",
                 "3e-06 0\n"
                 "A<0 3e-06/1e-06 x3 -\n"
                 "A<1 2e-06/2e-06 x2\n");
    assert_lines(*state, "sample_tree?measure=weight&bottom_up=1",
                 "3e-05 0\n"
                 "A<0 3e-05/3e-05 x3 +\n");
}

/* "0A 0+6 x1": depth, frame, start, width in ms, calls. */
static void assert_flame(struct asked *asked, const char *question, const char *expected)
{
    char text[1000] = "";
    int at = 0;
    assert_int_equal(ask(asked, question), TV_OK);
    const struct tv_out *out = &asked->out;
    uint32_t n = u32_at(out, 4);
    size_t words = 24 + 3 * n * 8, stride = (n + 1) / 2 * 8;
    for (size_t i = 0; i < n; i++) {
        uint32_t frame = u32_at(out, words + stride + 4 * i);
        at += snprintf(
            text + at, sizeof text - (size_t)at, "%u%c %g+%g x%u\n", u32_at(out, words + 4 * i),
            (char)(frame >> 31 ? '0' + (frame & 15) : 'A' + frame), f64_at(out, 24 + i * 8) / 1e6,
            f64_at(out, 24 + (n + i) * 8) / 1e6, u32_at(out, words + 3 * stride + 4 * i));
        assert_true((size_t)at < sizeof text);
    }
    assert_string_equal(text, expected);
    tv_out_release(&asked->out);
}

static void flames_in_time_and_by_thread(void **state)
{
    assert_flame(*state, "flame?order=time&min=0&clock=cpu",
                 "00 0+8 x0\n"
                 "1A 0+6 x1\n"
                 "2A 0+3 x1\n"
                 "3C 0+1 x1\n"
                 "2D 3+1 x1\n"
                 "1B 6+2 x1\n"
                 "2C 6+1 x1\n"
                 "01 8+1 x0\n"
                 "1B 8+1 x1\n");
    assert_flame(*state, "flame?threads=apart&min=0&fold=1",
                 "00 0+8 x0\n"
                 "1A 0+6 x1\n"
                 "2C 0+1 x1\n"
                 "2D 1+1 x1\n"
                 "1B 6+2 x1\n"
                 "2C 6+1 x1\n"
                 "01 8+2 x0\n"
                 "1B 8+2 x1\n");
}

static void sides_of_a_frame(void **state)
{
    assert_flame(*state, "flame?frame=0&min=0",
                 "0A 0+6 x1\n"
                 "1A 0+3 x1\n"
                 "2C 0+1 x1\n"
                 "1D 3+1 x1\n");
    assert_flame(*state, "flame?frame=0&min=0&fold=1",
                 "0A 0+6 x1\n"
                 "1C 0+1 x1\n"
                 "1D 1+1 x1\n");
    assert_flame(*state, "flame?frame=2&side=callers&min=0",
                 "0C 0+2 x2\n"
                 "1A 0+1 x1\n"
                 "2A 0+1 x1\n"
                 "1B 1+1 x1\n");
    assert_flame(*state, "sample_flame?frame=0&side=callers&min=0", "0A 0+3e-06 x3\n");
    assert_flame(*state, "flame?frame=25", "");
}

static const char *const wrong_questions[] = {
    "tree?nodes=x",
    "tree?nodes=,1",
    "tree?nodes=1.",
    "tree?nodes=1.2.3",
    "tree?nodes=-1",
    "tree?nodes=4294967295",
    "tree?nodes=18446744073709551616",
    "tree?nodes=1.4294967295",
    "tree?bottom_up=2",
    "tree?below=yes",
    "tree?reveal=27",
    "tree?tracks=9",
    "sample_tree?measure=joy",
    "flame?order=time&inverted=1",
    "flame?order=time&frame=0",
    "flame?frame=27",
    "flame?frame=-1",
    "flame?side=left",
    "flame?threads=both",
    "tree?transforms=drop",
    "tree?transforms=drop:0:",
    "tree?transforms=drop:2:a",
    "tree?transforms=drop:1:adrop",
    "tree?transforms=fold:1:a",
    "profile?transforms=drop:4:none",
    "sample_profile?transforms=focus:4:none",
    "flame?order=time&transforms=drop:4:none",
    "sample_flame?order=time&transforms=drop:4:none",
    "flame?fold=2",
    "sample_flame?order=time&inverted=1",
};

static void assert_refused(struct asked *asked, const char *question)
{
    assert_int_equal(ask(asked, question), TV_ERR_USAGE);
    assert_int_equal(asked->out.length, 0);
    tv_out_release(&asked->out);
}

/* The drawing has 10 ms: 4 are B's, with C in it, and 6 are A's, of which 4 are its own. */
static void transforms_change_all_tables(void **state)
{
    struct asked *asked = *state;
    assert_lines(asked, "tree?transforms=drop:1:a",
                 "4 3\n"
                 "B<0 4/3 3/2 x2 +\n");
    assert_lines(asked, "tree?transforms=merge:1:a",
                 "6 5\n"
                 "C<0 1/1 1/1 x1\n"
                 "D<0 1/1 1/1 x1\n"
                 "B<0 4/3 3/2 x2 +\n");
    assert_lines(asked, "tree?transforms=callers:1:c",
                 "2 2\n"
                 "C<0 2/0 2/0 x2 +\n");
    assert_lines(asked, "tree?transforms=focus:1:adrop:1:c&nodes=0,1",
                 "5 5\n"
                 "A<0 5/2 5/2 x1 +\n"
                 "A<1 2/2 2/2 x1\n"
                 "D<1 1/1 1/1 x1\n");
    /* two of three samples are of A in A */
    assert_lines(asked, "sample_tree?transforms=merge:1:a", "0 0\n");
    assert_lines(asked, "tree?transforms=merge:1:a&tracks=1",
                 "2 1\n"
                 "B<0 2/2 1/1 x1\n");
    assert_flame(asked, "flame?transforms=merge:1:a&min=0&order=by-name",
                 "0B 0+4 x2\n"
                 "1C 0+1 x1\n"
                 "0C 4+1 x1\n"
                 "0D 5+1 x1\n");
    /* A, with A and D in it, is before B, by thread */
    assert_flame(asked, "flame?order=time&transforms=merge:1:a&min=0",
                 "00 0+4 x0\n"
                 "1C 0+1 x1\n"
                 "1D 1+1 x1\n"
                 "1B 2+2 x1\n"
                 "2C 2+1 x1\n"
                 "01 4+2 x0\n"
                 "1B 4+2 x1\n");
    assert_int_equal(ask(asked, "flame?transforms=merge:1:a"), TV_OK);
    assert_true(f64_at(&asked->out, 8) == 6e6); /* the total */
    tv_out_release(&asked->out);
}

static void wrong_questions_are_refused(void **state)
{
    char many[600] = "tree?nodes=";
    size_t at = strlen(many);
    for (size_t i = 0; i < TV_COUNT(wrong_questions); i++)
        assert_refused(*state, wrong_questions[i]);
    for (int i = 0; i < 257; i++) {
        many[at++] = '0';
        many[at++] = i < 256 ? ',' : 0;
    }
    assert_refused(*state, many);
}

/* Nodes that are none, in any number, have no lines; roots that are none no frames. */
static void numbers_out_of_range_have_no_lines(void **state)
{
    assert_lines(*state, "tree?nodes=4294967294,77.4294967294", "10 9\n");
    assert_lines(*state, "tree?bottom_up=1&below=1&nodes=4294967294,1.1,2.9", "10 9\n");
    assert_lines(*state, "tree?nodes=", "10 9\n");
    assert_flame(*state, "flame?order=time&root=4294967294", "");
    assert_flame(*state, "flame?frame=0&root=99", "");
}

/* A reading took 0.1 ms: each path loses one for each of its calls and each call directly inside,
 * the second B, in the pool, with the first. */
static void less_what_recording_cost(void **state)
{
    struct asked *asked = *state;
    assert_refused(asked, "tree?compensate=1");
    assert_refused(asked, "profile?compensate=1");
    assert_refused(asked, "relations?frame=0&compensate=1");
    assert_refused(asked, "flame?compensate=1");
    tv_trace_info_add_metadata(asked->fixture.trace->head, 0, TV_BYTES("clock-call-overhead-nsec"),
                               TV_BYTES("100000"));
    assert_refused(asked, "flame?order=time&compensate=1");
    assert_refused(asked, "tree?compensate=2");
    assert_lines(asked, "tree?compensate=1",
                 "8.9 7.9\n"
                 "A<0 5.3/1.7 5.3/1.7 x1 +\n"
                 "B<0 3.6/2.7 2.6/1.7 x2 +\n");
    assert_lines(asked, "tree?compensate=1&tracks=1",
                 "1.9 0.9\n"
                 "B<0 1.9/1.9 0.9/0.9 x1\n");
    assert_lines(asked, "tree?compensate=0",
                 "10 9\n"
                 "A<0 6/2 6/2 x1 +\n"
                 "B<0 4/3 3/2 x2 +\n");
    assert_lines(asked, "tree?compensate=1&nodes=1",
                 "8.9 7.9\n"
                 "A<0 2.7/1.8 2.7/1.8 x1 +\n"
                 "D<0 0.9/0.9 0.9/0.9 x1\n");
    assert_answer(asked, "relations?frame=2&compensate=1",
                  "{\"parents\":[[0,1,2,900000,900000],[1,1,2,900000,900000]],\n\"children\":[],\n"
                  "\"recursive_parents\":[],\n\"recursive_children\":[],\n"
                  "\"self\":[1800000,1800000],\"recursive_self\":[0,0]}");
    assert_int_equal(ask(asked, "profile?compensate=1"), TV_OK);
    tv_out_char(&asked->out, 0);
    assert_non_null(strstr((const char *)asked->out.buffer,
                           "{\"total_real_ns\":8900000,\"total_cpu_ns\":7900000,"
                           "\"compensated\":{\"cost_ns\":100000,\"real_ns\":1100000,"
                           "\"cpu_ns\":1100000},\"rows\":["
                           "[0,1,1,5300000,3500000,5300000,3500000],\n"
                           "[1,2,0,3600000,2700000,2600000,1700000],\n"
                           "[2,2,0,1800000,1800000,1800000,1800000],\n"
                           "[3,1,0,900000,900000,900000,900000]"));
    tv_out_release(&asked->out);
}

/* Samples: one in A, two in A called by A; each weighs 10 and lasts 1 ms.  A row is frame, samples
 * with A once, again in them, inclusive, self: A counts once a sample. */
static void a_profile_of_samples(void **state)
{
    struct asked *asked = *state;
    assert_answer(asked, "sample_profile?measure=count",
                  "{\"total_real_ns\":3,\"total_cpu_ns\":null,\"rows\":["
                  "[0,3,2,3,3,null,null]],\"waits\":null}");
    assert_answer(asked, "sample_profile?measure=weight&value=1",
                  "{\"total_real_ns\":30,\"total_cpu_ns\":null,\"rows\":["
                  "[0,3,2,30,30,null,null]],\"waits\":null}");
    assert_answer(asked, "sample_profile?measure=time&from=1000000&to=2000000",
                  "{\"total_real_ns\":1000000,\"total_cpu_ns\":null,\"rows\":["
                  "[0,1,1,1000000,1000000,null,null]],\"waits\":null}");
    assert_refused(asked, "sample_profile?measure=weight&value=2");
    assert_refused(asked, "sample_profile?measure=joy");
    /* The file's own cost of A, in 5 calls, stands instead of the sum over stacks. */
    struct tv_tables *tables = &asked->fixture.trace->tables;
    tables->value_types.rows[0].samples = tables->samples.count;
    *tv_table_add(&tables->function_costs) = (struct tv_function_cost){
        .calls = 5, .self = 40, .inclusive = 50, .with_recursion = 60, .frame = 0, .type = 0};
    assert_answer(asked, "sample_profile?measure=weight",
                  "{\"total_real_ns\":40,\"total_cpu_ns\":null,\"rows\":["
                  "[0,5,0,50,40,null,null]],\"waits\":null}");
    assert_answer(asked, "sample_profile?measure=count",
                  "{\"total_real_ns\":3,\"total_cpu_ns\":null,\"rows\":["
                  "[0,3,2,3,3,null,null]],\"waits\":null}");
}

/* In all 3 samples nothing is below A, and in 2 of them A is once more below A. */
static void relations_of_samples(void **state)
{
    struct asked *asked = *state;
    assert_answer(asked, "sample_relations?frame=0&measure=count",
                  "{\"parents\":[[-1,3,5,3,null]],\n\"children\":[[0,2,5,2,null]],\n"
                  "\"recursive_parents\":[[0,2,5,2,null]],\n\"recursive_children\":[],\n"
                  "\"self\":[1,null],\"recursive_self\":[2,null]}");
    assert_refused(asked, "sample_relations?measure=count");
    assert_refused(asked, "sample_relations?frame=99&measure=count");
    assert_refused(asked, "sample_relations?frame=0&measure=weight&value=9");
}

#define asked_test(f) cmocka_unit_test_setup_teardown(f, set_up, asked_tear_down)

UNIT_TESTS(call_trees, asked_test(lines_of_calls), asked_test(lines_from_the_bottom_up),
           asked_test(the_way_to_a_frame), asked_test(lines_of_samples),
           asked_test(a_profile_of_samples), asked_test(relations_of_samples),
           asked_test(flames_in_time_and_by_thread), asked_test(sides_of_a_frame),
           asked_test(wrong_questions_are_refused), asked_test(transforms_change_all_tables),
           asked_test(less_what_recording_cost), asked_test(numbers_out_of_range_have_no_lines));

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analysis/timeline/sample_chart.h"
#include "base/memory.h"
#include "fixture.h"

/* Only the threads and the paths count: main is A, A > B, A > B > C, then D. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAA D", " BB  ", "  C  "}},
    {"pool", NULL, {"AAA  "}},
};

/* Paths of the drawing, in the order in which it meets them. */
static uint32_t path_of(const struct tv_trace *trace, const char *letters)
{
    uint32_t path = TV_ROOT_PATH;
    for (; *letters; letters++)
        for (uint32_t i = 1; i < trace->paths.count; i++)
            if (trace->paths.nodes[i].parent == path &&
                trace->paths.nodes[i].frame == FIXTURE_FRAME(*letters)) {
                path = i;
                break;
            }
    return path;
}

struct taken {
    tv_ns time;
    const char *stack;
};

/* Make samples of a thread, of which `taken` ends with a NULL stack. */
static void add_samples(struct tv_trace *trace, uint32_t thread, const char *value,
                        const struct taken *taken)
{
    uint32_t type = fixture_value_type(trace, value, "count");
    for (; taken->stack; taken++) {
        struct tv_sample *sample = tv_table_add(&trace->tables.samples);
        *sample = (struct tv_sample){.time = taken->time,
                                     .weight = 1,
                                     .offset = TV_NO_OFFSET,
                                     .thread = thread,
                                     .cpu = TV_NONE,
                                     .path = path_of(trace, taken->stack),
                                     .type = type};
        sample->line_path = sample->path;
    }
}

/* One box a line: thread, depth, letter, start to end, samples. */
static void assert_chart(const struct tv_trace *trace, struct tv_chart_question question,
                         const char *expected)
{
    const uint32_t both[] = {0, 1};
    char text[1000] = "";
    size_t at = 0;
    struct tv_chart chart;
    question.threads = both;
    question.thread_count = 2;
    tv_chart_draw(trace, &question, &chart);
    for (uint32_t i = 0; i < chart.count; i++) {
        const struct tv_chart_box *box = &chart.boxes[i];
        at += (size_t)snprintf(text + at, sizeof text - at, "%u.%u %c %d-%d x%u\n", box->thread,
                               box->depth, (char)('A' + box->frame), (int)box->start, (int)box->end,
                               box->samples);
        assert_true(at < sizeof text);
    }
    assert_string_equal(text, expected);
    assert_int_equal(chart.left_out, 0);
    tv_chart_release(&chart);
}

/* Distances 10, 10, 10, 70, 10: the median is 10, a sample lasts 20 at most and the last one 10. */
static const struct taken of_main[] = {{100, "A"},   {110, "AB"}, {120, "ABC"}, {130, "ABC"},
                                       {200, "ABC"}, {210, "D"},  {0, NULL}};
static const struct taken of_pool[] = {{105, "A"}, {115, "A"}, {0, NULL}};

static void joins_neighbours_that_share_a_frame(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    add_samples(f.trace, 0, "cpu", of_main);
    add_samples(f.trace, 1, "cpu", of_pool);
    add_samples(f.trace, 1, "lock", of_main); /* of another type */
    uint32_t cpu = f.trace->tables.value_types.rows[0].name;
    struct tv_chart_question question = {.value = cpu, .from = 0, .to = 1000, .pixels = 1000};
    assert_chart(f.trace, question,
                 "0.0 A 100-150 x4\n" /* ends 20 after 130: it slept until 200 */
                 "0.1 B 110-150 x3\n"
                 "0.2 C 120-150 x2\n"
                 "0.0 A 200-210 x1\n"
                 "0.1 B 200-210 x1\n"
                 "0.2 C 200-210 x1\n"
                 "0.0 D 210-220 x1\n"
                 "1.0 A 105-125 x2\n");
    /* Boxes that touch the range are there, whole. */
    question.from = 145;
    question.to = 205;
    assert_chart(f.trace, question,
                 "0.0 A 130-150 x1\n"
                 "0.1 B 130-150 x1\n"
                 "0.2 C 130-150 x1\n"
                 "0.0 A 200-210 x1\n"
                 "0.1 B 200-210 x1\n"
                 "0.2 C 200-210 x1\n");
    fixture_free(&f);
}

static void uses_the_interval_of_the_file(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    add_samples(f.trace, 1, "cpu", of_pool);
    f.trace->tables.value_types.rows[0].interval = 3; /* so 6 at most, and the last one 3 */
    uint32_t cpu = f.trace->tables.value_types.rows[0].name;
    struct tv_chart_question question = {.value = cpu, .from = 0, .to = 1000, .pixels = 1000};
    assert_chart(f.trace, question, "1.0 A 105-111 x1\n1.0 A 115-118 x1\n");
    fixture_free(&f);
}

/* In pixels of 100, main's first four samples are one, with the stack that lasted longest. */
static void merges_the_samples_of_a_pixel(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    add_samples(f.trace, 0, "cpu", of_main);
    uint32_t cpu = f.trace->tables.value_types.rows[0].name;
    struct tv_chart_question question = {.value = cpu, .from = 0, .to = 1000, .pixels = 10};
    assert_chart(f.trace, question,
                 "0.0 A 100-150 x4\n"
                 "0.1 B 100-150 x4\n"
                 "0.2 C 100-150 x4\n"
                 "0.0 A 200-220 x2\n"
                 "0.1 B 200-220 x2\n"
                 "0.2 C 200-220 x2\n");
    fixture_free(&f);
}

/* A and AB in turn, in a pixel each, make a box each: pixels are merged until they fit. */
static void never_draws_more_than_the_limit(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    const uint32_t many = 4 * TV_CHART_BOXES;
    struct taken *taken = tv_alloc(many + 1, sizeof *taken);
    for (uint32_t i = 0; i < many; i++)
        taken[i] = (struct taken){i, i % 2 > 0 ? "D" : "A"};
    add_samples(f.trace, 0, "cpu", taken);
    const uint32_t first = 0;
    struct tv_chart_question question = {&first, 1, f.trace->tables.value_types.rows[0].name,
                                         0,      0, many};
    question.to = many;
    struct tv_chart chart;
    tv_chart_draw(f.trace, &question, &chart);
    assert_true(chart.count > 0 && chart.count <= TV_CHART_BOXES);
    assert_int_equal(chart.left_out, 0);
    uint64_t samples = 0;
    for (uint32_t i = 0; i < chart.count; i++)
        samples += chart.boxes[i].samples;
    assert_int_equal(samples, many);
    tv_chart_release(&chart);
    tv_free(taken);
    fixture_free(&f);
}

static void tells_the_levels_of_each_thread(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    add_samples(f.trace, 0, "cpu", of_main);
    uint32_t *levels = tv_chart_levels(f.trace);
    assert_int_equal(levels[0], 3);
    assert_int_equal(levels[1], 0);
    tv_free(levels);
    fixture_free(&f);
}

UNIT_TESTS(sample_chart, cmocka_unit_test(joins_neighbours_that_share_a_frame),
           cmocka_unit_test(uses_the_interval_of_the_file),
           cmocka_unit_test(merges_the_samples_of_a_pixel),
           cmocka_unit_test(never_draws_more_than_the_limit),
           cmocka_unit_test(tells_the_levels_of_each_thread));

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calltree/derived_trees.h"

#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "fixture.h"

#define MS 1000000

/* The paths of the samples are those of calls: A, B made by A, C and D. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAA C", " BB   "}},
    {"pool", NULL, {"  DD  "}},
};

static uint32_t path_of(const struct tv_trace *trace, uint32_t parent, char letter)
{
    for (uint32_t i = 1; i < trace->paths.count; i++)
        if (trace->paths.nodes[i].parent == parent &&
            trace->paths.nodes[i].frame == FIXTURE_FRAME(letter))
            return i;
    fail();
    return TV_ROOT_PATH;
}

static void add(struct tv_trace *trace, tv_ns time, uint32_t thread, uint32_t path, int64_t weight)
{
    struct tv_sample *sample = tv_table_add(&trace->tables.samples);
    *sample = (struct tv_sample){.time = time,
                                 .weight = weight,
                                 .offset = TV_NO_OFFSET,
                                 .thread = thread,
                                 .cpu = TV_NONE,
                                 .path = path};
}

struct sampled {
    struct fixture fixture;
    uint32_t a, b, c, d;
};

static int set_up(void **state)
{
    struct sampled *sampled = tv_alloc(1, sizeof *sampled);
    sampled->fixture = fixture_draw(drawing, 2);
    struct tv_trace *trace = sampled->fixture.trace;
    sampled->a = path_of(trace, TV_ROOT_PATH, 'A');
    sampled->b = path_of(trace, sampled->a, 'B');
    sampled->c = path_of(trace, TV_ROOT_PATH, 'C');
    sampled->d = path_of(trace, TV_ROOT_PATH, 'D');
    add(trace, 0, 0, sampled->a, 5);
    add(trace, 1 * MS, 0, sampled->b, 2);
    add(trace, 1 * MS, TV_NONE, TV_ROOT_PATH, 100); /* of no thread and without a stack */
    add(trace, 2 * MS, 1, sampled->d, 7);
    add(trace, 3 * MS, 0, sampled->a, -4);
    add(trace, 6 * MS, 0, sampled->c, 1);
    *state = sampled;
    return 0;
}

static int tear_down(void **state)
{
    struct sampled *sampled = *state;
    fixture_free(&sampled->fixture);
    tv_free(sampled);
    return 0;
}

/* Samples with a node in their stacks, their measure, and that of those that end with it. */
static void assert_node(const struct tv_call_tree *tree, uint32_t node, unsigned calls,
                        int64_t measure, int64_t self)
{
    assert_int_equal(tree->cost[node].calls, calls);
    assert_int_equal(tree->cost[node].wall, measure);
    assert_int_equal(tree->self_wall[node], self);
    assert_int_equal(tree->cost[node].cpu, 0);
}

static struct tv_call_tree *tree_of(const struct sampled *sampled, struct tv_selection selection,
                                    enum tv_sample_measure measure)
{
    return tv_sample_tree_of_trace(sampled->fixture.trace, &selection, NULL, measure);
}

static void counts_samples(void **state)
{
    const struct sampled *s = *state;
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 3, 3, 2);
    assert_node(tree, s->b, 1, 1, 1);
    assert_node(tree, s->c, 1, 1, 1);
    assert_node(tree, s->d, 1, 1, 1);
    assert_node(tree, TV_ROOT_PATH, 0, 0, 0);
    tv_call_tree_free(tree);
}

static void weighs_samples(void **state)
{
    /* a weight below 0 is none */
    const struct sampled *s = *state;
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_WEIGHT);
    assert_node(tree, s->a, 3, 7, 5);
    assert_node(tree, s->b, 1, 2, 2);
    assert_node(tree, s->c, 1, 1, 1);
    assert_node(tree, s->d, 1, 7, 7);
    tv_call_tree_free(tree);
}

static void measures_the_time_until_the_next(void **state)
{
    /* main: A for 1 ms, B for 2, A for 3, C as long as the one before it; pool has one sample */
    const struct sampled *s = *state;
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_TIME);
    assert_node(tree, s->a, 3, 6 * MS, 4 * MS);
    assert_node(tree, s->b, 1, 2 * MS, 2 * MS);
    assert_node(tree, s->c, 1, 3 * MS, 3 * MS);
    assert_node(tree, s->d, 1, 0, 0);
    tv_call_tree_free(tree);
}

static void takes_those_of_a_selection(void **state)
{
    const struct sampled *s = *state;
    const uint32_t second = 1;
    struct tv_selection range = {1 * MS, 3 * MS, NULL, 0};
    struct tv_selection pool = {INT64_MIN, INT64_MAX, &second, 1};
    struct tv_call_tree *tree = tree_of(s, range, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 1, 1, 0);
    assert_node(tree, s->b, 1, 1, 1);
    assert_node(tree, s->d, 1, 1, 1);
    assert_node(tree, s->c, 0, 0, 0);
    tv_call_tree_free(tree);
    tree = tree_of(s, pool, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 0, 0, 0);
    assert_node(tree, s->d, 1, 1, 1);
    tv_call_tree_free(tree);
}

static void weights_do_not_overflow(void **state)
{
    struct sampled *s = *state;
    for (int i = 0; i < 5; i++)
        add(s->fixture.trace, 7 * MS, 0, s->b, INT64_MAX);
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_WEIGHT);
    /* The fixture's own samples have small weights; b's stop where the sum of all does. */
    assert_true(tree->cost[s->a].wall >= tree->cost[s->b].wall);
    assert_true(tree->cost[s->b].wall > INT64_MAX - 1000);
    tv_call_tree_free(tree);
}

#define sampled_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

UNIT_TESTS(sample_tree, sampled_test(counts_samples), sampled_test(weighs_samples),
           sampled_test(measures_the_time_until_the_next), sampled_test(takes_those_of_a_selection),
           sampled_test(weights_do_not_overflow));

/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that is counted in: each path once, whatever its size; guesses that are right or 0. */
#include "unit.h"

#include "analysis/calltree/path_builder.h"

/* Node i, whose parent is (i - 1) / 3, calls the frames 0 to 2. */
#define NODES 50000u

/* The frame of the first stand-in. */
#define FIRST 0xC0000000u

static uint32_t frame_of(uint32_t node)
{
    return node % 3;
}

static uint32_t parent_of(uint32_t node)
{
    return (node - 1) / 3;
}

static void keeps_each_path_once(void **state)
{
    struct tv_path_builder builder;
    (void)state;
    tv_path_builder_init(&builder);
    for (unsigned turn = 0; turn < 2; turn++)
        for (uint32_t i = 1; i < NODES; i++)
            assert_int_equal(tv_path_builder_child(&builder, parent_of(i), frame_of(i)), i);
    assert_int_equal(builder.count, NODES);
    for (uint32_t i = 1; i < NODES; i++) {
        assert_int_equal(builder.nodes[i].parent, parent_of(i));
        assert_int_equal(builder.nodes[i].frame, frame_of(i));
        assert_int_equal(builder.nodes[i].calls, 0);
    }
    tv_path_builder_release(&builder);
}

static void keeps_figures_as_it_grows(void **state)
{
    struct tv_path_builder builder;
    (void)state;
    tv_path_builder_init(&builder);
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t node = tv_path_builder_child(&builder, parent_of(i), frame_of(i));
        builder.nodes[node].calls = i;
        builder.nodes[node].wall = -(int64_t)i;
    }
    for (uint32_t i = 1; i < NODES; i++) {
        assert_int_equal(builder.nodes[i].calls, i);
        assert_int_equal(builder.nodes[i].wall, -(int64_t)i);
        assert_int_equal(builder.nodes[i].cpu, 0);
    }
    tv_path_builder_release(&builder);
}

/* Half of the places are free: most nodes are found in the first two. */
static void guesses_most_nodes(void **state)
{
    struct tv_path_builder builder;
    uint32_t hits = 0;
    (void)state;
    tv_path_builder_init(&builder);
    for (uint32_t i = 1; i < NODES; i++)
        tv_path_builder_child(&builder, parent_of(i), frame_of(i));
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t guess = tv_path_builder_guess(&builder, builder.hashes[i]);
        assert_true(guess == i || guess == 0 || builder.hashes[guess] == builder.hashes[i]);
        hits += guess == i;
    }
    assert_true(hits > NODES / 4 * 3);
    tv_path_builder_release(&builder);
}

/* A method that calls itself on and on: no two of its paths may share all their places. */
static void spreads_recursion(void **state)
{
    (void)state;
    for (uint32_t frame = 0; frame < 40; frame++) {
        struct tv_path_builder builder;
        uint32_t node = TV_ROOT_PATH, hits = 0;
        tv_path_builder_init(&builder);
        for (uint32_t i = 0; i < 1000; i++)
            node = tv_path_builder_child(&builder, node, frame);
        for (uint32_t i = 1; i <= 1000; i++)
            hits += tv_path_builder_guess(&builder, builder.hashes[i]) == i;
        assert_true(hits > 500);
        tv_path_builder_release(&builder);
    }
}

/* Figures that tell a path from all others, in ticks of 1 us. */
static void cost(struct tv_path_builder *builder, uint32_t node, uint64_t calls)
{
    builder->nodes[node].calls += calls;
    builder->nodes[node].wall += 10 * (int64_t)calls;
    builder->nodes[node].cpu += 3 * (int64_t)calls;
}

static void assert_cost(const struct tv_path_builder *builder, uint32_t node, uint64_t calls, int64_t tick)
{
    assert_int_equal(builder->nodes[node].calls, calls);
    assert_int_equal(builder->nodes[node].wall, 10 * (int64_t)calls * tick);
    assert_int_equal(builder->nodes[node].cpu, 3 * (int64_t)calls * tick);
}

/* Stand-ins 0 and 2 are the root, 1 is a path of two calls: the same calls below 0 and 2 are one
 * path, and what is below 1 is one with a path from the root. */
static void attaches_to_prefixes(void **state)
{
    struct tv_path_builder builder;
    uint32_t prefix_nodes[3] = {0}, below[3];
    struct tv_prefix_tree prefixes = {.first = FIRST, .node = prefix_nodes};
    (void)state;
    tv_path_builder_init(&prefixes.paths);
    prefix_nodes[1] = tv_path_builder_child(&prefixes.paths, tv_path_builder_child(&prefixes.paths, TV_ROOT_PATH, 7), 8);
    tv_path_builder_init(&builder);
    for (uint32_t i = 0; i < 3; i++) {
        below[i] = tv_path_builder_child(&builder, TV_ROOT_PATH, FIRST + i);
        cost(&builder, below[i], 1 + i);
        cost(&builder, tv_path_builder_child(&builder, below[i], 9), i == 1 ? 1000 : 10 + i);
        cost(&builder, tv_path_builder_child(&builder, below[i], 10 + i), 100 + i);
    }
    uint32_t seven = tv_path_builder_child(&builder, below[2], 7);
    uint32_t eight = tv_path_builder_child(&builder, seven, 8);
    cost(&builder, tv_path_builder_child(&builder, eight, 9), 2000);
    tv_path_builder_attach(&builder, &prefixes, 1000);

    assert_int_equal(builder.count, 8); /* root, 7, 8, 9 twice, 10, 11, 12 */
    assert_cost(&builder, TV_ROOT_PATH, 1 + 3, 1000);
    seven = tv_path_builder_child(&builder, TV_ROOT_PATH, 7);
    eight = tv_path_builder_child(&builder, seven, 8);
    assert_cost(&builder, seven, 0, 1000);
    assert_cost(&builder, eight, 2, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, eight, 9), 1000 + 2000, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, eight, 11), 101, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, TV_ROOT_PATH, 9), 10 + 12, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, TV_ROOT_PATH, 10), 100, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, TV_ROOT_PATH, 12), 102, 1000);
    assert_int_equal(builder.count, 8);
    for (uint32_t i = 1; i < builder.count; i++)
        assert_true(builder.nodes[i].parent < i);
    tv_path_builder_release(&prefixes.paths);
    tv_path_builder_release(&builder);
}

/* More prefixes than there are paths on it, and than a new tree has room for. */
static void moves_behind_much_ground(void **state)
{
    enum { DEPTH = 3000 };
    struct tv_path_builder builder;
    uint32_t prefix_nodes[1] = {TV_ROOT_PATH};
    struct tv_prefix_tree prefixes = {.first = FIRST, .node = prefix_nodes};
    (void)state;
    tv_path_builder_init(&prefixes.paths);
    for (uint32_t i = 0; i < DEPTH; i++)
        prefix_nodes[0] = tv_path_builder_child(&prefixes.paths, prefix_nodes[0], i);
    tv_path_builder_init(&builder);
    uint32_t node = tv_path_builder_child(&builder, TV_ROOT_PATH, FIRST);
    for (uint32_t i = 1; i <= 400; i++)
        cost(&builder, node = tv_path_builder_child(&builder, node, i), i);
    tv_path_builder_attach(&builder, &prefixes, 1);
    assert_int_equal(builder.count, 1 + DEPTH + 400);
    node = TV_ROOT_PATH;
    for (uint32_t i = 0; i < DEPTH; i++)
        assert_cost(&builder, node = tv_path_builder_child(&builder, node, i), 0, 1);
    for (uint32_t i = 1; i <= 400; i++)
        assert_cost(&builder, node = tv_path_builder_child(&builder, node, i), i, 1);
    assert_int_equal(builder.count, 1 + DEPTH + 400);
    tv_path_builder_release(&prefixes.paths);
    tv_path_builder_release(&builder);
}

static void merges_trees(void **state)
{
    struct tv_path_builder one, other;
    (void)state;
    tv_path_builder_init(&one);
    tv_path_builder_init(&other);
    for (uint32_t i = 1; i < NODES; i++) {
        cost(&one, tv_path_builder_child(&one, parent_of(i), frame_of(i)), i);
        if (i % 3 != 1) /* the others are new, and so is all below them */
            cost(&other, tv_path_builder_child(&other, TV_ROOT_PATH, i), 2 * i);
    }
    cost(&other, tv_path_builder_child(&other, tv_path_builder_child(&other, TV_ROOT_PATH, 2), 1), 5);
    uint32_t common = tv_path_builder_child(&one, tv_path_builder_child(&one, TV_ROOT_PATH, 2), 1);
    tv_path_builder_merge(&one, &other);
    assert_int_equal(one.count, NODES + other.count - 1 - 2); /* "2" and "2 1" are in both */
    assert_cost(&one, tv_path_builder_child(&one, TV_ROOT_PATH, 2), 2 + 2 * 2, 1);
    assert_cost(&one, common, common + 5, 1);
    for (uint32_t i = 3; i < NODES; i++) {
        assert_int_equal(tv_path_builder_child(&one, parent_of(i), frame_of(i)), i);
        if (i % 3 != 1)
            assert_cost(&one, tv_path_builder_child(&one, TV_ROOT_PATH, i), 2 * i, 1);
    }
    tv_path_builder_release(&one);
    tv_path_builder_release(&other);
}

UNIT_TESTS(tally, cmocka_unit_test(keeps_each_path_once),
           cmocka_unit_test(keeps_figures_as_it_grows), cmocka_unit_test(guesses_most_nodes),
           cmocka_unit_test(spreads_recursion), cmocka_unit_test(attaches_to_prefixes),
           cmocka_unit_test(moves_behind_much_ground), cmocka_unit_test(merges_trees));

/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that is counted in: each path once, whatever its size; guesses that are right or 0. */
#include "unit.h"

#include "analysis/tally.h"

/* Node i, whose parent is (i - 1) / 2, calls frames of its own: numbers follow from the order. */
#define NODES 50000u

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
    struct tv_tally tally;
    (void)state;
    tv_tally_init(&tally);
    for (unsigned turn = 0; turn < 2; turn++)
        for (uint32_t i = 1; i < NODES; i++)
            assert_int_equal(tv_tally_child(&tally, parent_of(i), frame_of(i)), i);
    assert_int_equal(tally.count, NODES);
    for (uint32_t i = 1; i < NODES; i++) {
        assert_int_equal(tally.nodes[i].parent, parent_of(i));
        assert_int_equal(tally.nodes[i].frame, frame_of(i));
        assert_int_equal(tally.nodes[i].calls, 0);
    }
    tv_tally_release(&tally);
}

static void keeps_figures_as_it_grows(void **state)
{
    struct tv_tally tally;
    (void)state;
    tv_tally_init(&tally);
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t node = tv_tally_child(&tally, parent_of(i), frame_of(i));
        tally.nodes[node].calls = i;
        tally.nodes[node].wall = -(int64_t)i;
    }
    for (uint32_t i = 1; i < NODES; i++) {
        assert_int_equal(tally.nodes[i].calls, i);
        assert_int_equal(tally.nodes[i].wall, -(int64_t)i);
        assert_int_equal(tally.nodes[i].cpu, 0);
    }
    tv_tally_release(&tally);
}

/* Half of the places are free: most nodes are found in the first two. */
static void guesses_most_nodes(void **state)
{
    struct tv_tally tally;
    uint32_t hits = 0;
    (void)state;
    tv_tally_init(&tally);
    for (uint32_t i = 1; i < NODES; i++)
        tv_tally_child(&tally, parent_of(i), frame_of(i));
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t guess = tv_tally_guess(&tally, tally.hashes[i]);
        assert_true(guess == i || guess == 0 || tally.hashes[guess] == tally.hashes[i]);
        hits += guess == i;
    }
    assert_true(hits > NODES / 4 * 3);
    tv_tally_release(&tally);
}

/* A method that calls itself on and on: no two of its paths may share all their places. */
static void spreads_recursion(void **state)
{
    (void)state;
    for (uint32_t frame = 0; frame < 40; frame++) {
        struct tv_tally tally;
        uint32_t node = TV_ROOT_PATH, hits = 0;
        tv_tally_init(&tally);
        for (uint32_t i = 0; i < 1000; i++)
            node = tv_tally_child(&tally, node, frame);
        for (uint32_t i = 1; i <= 1000; i++)
            hits += tv_tally_guess(&tally, tally.hashes[i]) == i;
        assert_true(hits > 500);
        tv_tally_release(&tally);
    }
}

UNIT_TESTS(tally, cmocka_unit_test(keeps_each_path_once),
           cmocka_unit_test(keeps_figures_as_it_grows), cmocka_unit_test(guesses_most_nodes),
           cmocka_unit_test(spreads_recursion));

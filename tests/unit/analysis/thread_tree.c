/* SPDX-License-Identifier: Apache-2.0 */
/* Below a thread's node is what the tree of that thread alone has. */
#include "analysis/calltree/derived_trees.h"

#include "analysis/reference.h"
#include "analysis/calltree/call_tree.h"
#include "base/memory.h"
#include "unit.h"

static uint32_t child_of(const struct tv_call_tree *tree, uint32_t parent, uint32_t frame)
{
    uint32_t child = parent + 1;
    while (child < tree->count && (tree->parent[child] != parent || tree->frame[child] != frame))
        child++;
    assert_true(child < tree->count);
    return child;
}

/* The node below `root` for a node of the other tree. */
static uint32_t same_node(const struct tv_call_tree *tree, uint32_t root,
                          const struct tv_call_tree *other, uint32_t node)
{
    uint32_t chain[64], depth = 0;
    for (; node != TV_ROOT_PATH; node = other->parent[node])
        chain[depth++] = other->frame[node];
    while (depth > 0)
        root = child_of(tree, root, chain[--depth]);
    return root;
}

/* How many nodes have calls. */
static uint32_t assert_thread(const struct tv_trace *trace, const struct tv_call_tree *tree,
                              const struct tv_selection *selection, uint32_t thread,
                              struct tv_path_cost *waits)
{
    uint32_t *tracks = test_calloc(trace->track_count, sizeof *tracks), with_calls = 0;
    bool *wanted = tv_selection_wanted(trace, selection);
    struct tv_selection own = {selection->from, selection->to, tracks, 0};
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].thread == thread && wanted[i])
            tracks[own.track_count++] = i;
    struct tv_call_tree *alone = tv_call_tree_of_trace(trace, &own, 1);
    for (uint32_t i = 1; i < alone->count; i++) {
        if (alone->cost[i].calls == 0)
            continue;
        uint32_t root = child_of(tree, TV_ROOT_PATH, TV_THREAD_FRAME + thread);
        uint32_t node = same_node(tree, root, alone, i);
        assert_memory_equal(&tree->cost[node], &alone->cost[i], sizeof *alone->cost);
        assert_int_equal(tree->self_wall[node], alone->self_wall[i]);
        assert_int_equal(tree->self_cpu[node], alone->self_cpu[i]);
        with_calls++;
    }
    waits->calls += alone->waits.calls;
    waits->wall += alone->waits.wall;
    tv_call_tree_free(alone);
    tv_free(wanted);
    test_free(tracks);
    return with_calls;
}

static void assert_by_thread(const struct tv_trace *trace, const struct tv_selection *selection,
                             unsigned workers)
{
    struct tv_call_tree *tree = tv_call_tree_by_thread(trace, selection, workers);
    struct tv_path_cost waits = {0};
    uint32_t with_calls = 0;
    for (uint32_t thread = 0; thread < trace->head->thread_count; thread++)
        with_calls += assert_thread(trace, tree, selection, thread, &waits);
    for (uint32_t i = 1; i < tree->count; i++)
        with_calls -= tree->cost[i].calls > 0;
    assert_int_equal(with_calls, 0);
    assert_int_equal(tree->waits.calls, waits.calls);
    assert_int_equal(tree->waits.wall, waits.wall);
    tv_call_tree_free(tree);
}

/* Few slices a node, so that only the nodes that a thread reaches are gone over, and many. */
static const struct fixture_dice dice[] = {
    {1, 40, 9, 12, 900, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 0, 1, false},
    {2, 3, 2, 3, 3000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 3000, 3, false},
    {3, 7, 4, 6, 700, TV_CLOCK_WALL, 1000, 100, 2, false},
    {4, 5, 5, 8, 500, TV_CLOCK_CPU, 1000, 100, 1, false},
    {5, 4, 3, 5, 5000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 90000000000, 1, false},
};

static void equals_the_trees_of_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(dice); k++) {
        struct fixture f = fixture_random(&dice[k]);
        uint32_t seed = 9, tracks[3];
        tv_ns span = f.trace->end - f.trace->start;
        assert_by_thread(f.trace, &TV_SELECT_ALL, 1);
        for (int i = 0; i < 20; i++) {
            tv_ns from = f.trace->start + span / 100 * fixture_roll(&seed, 100);
            tv_ns to = from + span / 100 * fixture_roll(&seed, 60);
            for (int n = 0; n < 3; n++)
                tracks[n] = fixture_roll(&seed, f.trace->track_count);
            struct tv_selection selection = {from, to, i % 2 ? tracks : NULL, 3};
            assert_by_thread(f.trace, &selection, 1 + (unsigned)i % 3);
        }
        fixture_free(&f);
    }
}

UNIT_TESTS(thread_tree, cmocka_unit_test(equals_the_trees_of_threads));

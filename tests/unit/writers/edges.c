/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of all methods at once are those of each method alone (analysis/profile.h). */
#include "unit.h"

#include "analysis/profile.h"
#include "analysis/tree_sink.h"
#include "feed.h"
#include "writers/edges.h"

static void check_group(const struct tv_method_edges *all, uint32_t frame, enum tv_edge_group group,
                        const struct tv_edges *alone)
{
    uint32_t found = 0;
    for (size_t i = all->first[frame]; i < all->first[frame + 1]; i++) {
        const struct tv_method_edge *edge = &all->edges[i];
        if (edge->group != group)
            continue;
        assert_true(found < alone->count);
        assert_int_equal(edge->frame, alone->edges[found].frame);
        assert_int_equal(edge->calls, alone->edges[found].calls);
        assert_int_equal(edge->wall, alone->edges[found].wall);
        assert_int_equal(edge->cpu, alone->edges[found].cpu);
        found++;
    }
    assert_int_equal(found, alone->count);
}

static void equal_those_of_each_method(void **state)
{
    (void)state;
    static const struct feed_style style = {4000, 3, 6, 5, 5, 30, TV_CLOCK_WALL | TV_CLOCK_CPU};
    for (uint32_t seed = 1; seed < 20; seed++) {
        struct tv_tree_sink_options options = {.fold_names = false};
        size_t start = 0;
        struct feed *feed = feed_random(seed, &style);
        struct tv_head *head = feed_head(feed);
        struct tv_tree_sink *sink = tv_tree_sink_new(&options);
        feed_to(feed, head, tv_tree_sink_sink(sink), &start, 1);
        struct tv_call_tree *tree = tv_tree_sink_finish(sink, head);
        struct tv_method_edges all;
        tv_method_edges_init(&all, tree, false);
        for (uint32_t frame = 0; frame < head->frame_count; frame++) {
            struct tv_relations *alone = tv_relations_of(tree, frame);
            check_group(&all, frame, TV_EDGE_PARENT, &alone->parents);
            check_group(&all, frame, TV_EDGE_CHILD, &alone->children);
            check_group(&all, frame, TV_EDGE_RECURSIVE_PARENT, &alone->recursive_parents);
            check_group(&all, frame, TV_EDGE_RECURSIVE_CHILD, &alone->recursive_children);
            tv_relations_free(alone);
        }
        tv_method_edges_release(&all);
        tv_call_tree_free(tree);
        tv_head_free(head);
        feed_free(feed);
    }
}

UNIT_TESTS(edges, cmocka_unit_test(equal_those_of_each_method));

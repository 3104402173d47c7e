/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of all methods at once are those of each method alone (analysis/calltree/profile.h). */
#include "unit.h"

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/profile.h"
#include "feed.h"
#include "writers/tables/callgraph.h"

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

/* Names in the other direction than frames, so that the order by one is not that by the other. */
static void turn_names(struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->frame_count; i++) {
        uint8_t name = (uint8_t)('Z' - i % 26);
        head->frames[i].name = tv_trace_info_string(head, (struct tv_bytes){&name, 1});
    }
}

/* The largest first; of equal ones that of the first name; called from nowhere is the last. */
static unsigned check_order(const struct tv_method_edges *all)
{
    unsigned ties = 0;
    for (size_t i = 1; i < all->count; i++) {
        const struct tv_method_edge *a = &all->edges[i - 1], *b = &all->edges[i];
        if (a->context != b->context || a->group != b->group)
            continue;
        assert_true(a->wall >= b->wall);
        if (a->wall != b->wall)
            continue;
        assert_true(a->frame != TV_NONE);
        assert_true(b->frame == TV_NONE || a->frame > b->frame); /* names are turned */
        ties++;
    }
    return ties;
}

static void equal_those_of_each_method(void **state)
{
    (void)state;
    static const struct feed_style styles[] = {
        {4000, 3, 6, 5, 5, 30, TV_CLOCK_WALL | TV_CLOCK_CPU},
        {60, 3, 6, 5, 5, 1, TV_CLOCK_WALL | TV_CLOCK_CPU}, /* with equal times */
    };
    unsigned ties = 0;
    for (uint32_t seed = 1; seed < 20; seed++) {
        struct tv_tree_sink_options options = {.fold_names = false};
        size_t start = 0;
        struct feed *feed = feed_random(seed, &styles[seed % 2]);
        struct tv_trace_info *head = feed_head(feed);
        struct tv_tree_sink *sink = tv_tree_sink_new(&options);
        feed_to(feed, head, tv_tree_sink_sink(sink), &start, 1);
        struct tv_call_tree *tree = tv_tree_sink_finish(sink, head);
        struct tv_method_edges all;
        turn_names(head);
        tv_method_edges_init(&all, tree, false);
        ties += check_order(&all);
        for (uint32_t frame = 0; frame < head->frame_count; frame++) {
            struct tv_relations *alone = tv_relations_of_tree(tree, frame);
            check_group(&all, frame, TV_EDGE_PARENT, &alone->parents);
            check_group(&all, frame, TV_EDGE_CHILD, &alone->children);
            check_group(&all, frame, TV_EDGE_RECURSIVE_PARENT, &alone->recursive_parents);
            check_group(&all, frame, TV_EDGE_RECURSIVE_CHILD, &alone->recursive_children);
            tv_relations_free(alone);
        }
        tv_method_edges_release(&all);
        tv_call_tree_free(tree);
        tv_trace_info_free(head);
        feed_free(feed);
    }
    assert_true(ties > 0);
}

UNIT_TESTS(callgraph, cmocka_unit_test(equal_those_of_each_method));

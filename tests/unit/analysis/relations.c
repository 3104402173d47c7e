/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/calltree/profile.h"

#include "analysis/reference.h"

static struct tv_relations *relations_of(const struct tv_trace *trace, uint32_t frame)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, 1);
    struct tv_relations *relations = tv_relations_of_tree(tree, frame);
    tv_call_tree_free(tree);
    return relations;
}

#define assert_edge(list, at, frame_, calls_, total_, wall_)                                       \
    do {                                                                                           \
        assert_true((list).count > (at));                                                          \
        assert_int_equal((list).edges[at].frame, frame_);                                          \
        assert_int_equal((list).edges[at].calls, calls_);                                          \
        assert_int_equal((list).edges[at].total_calls, total_);                                    \
        assert_int_equal((list).edges[at].wall, (wall_)*1000000);                                  \
    } while (0)

static void splits_by_the_opened_activation(void **state)
{
    (void)state;
    /* A calls C and itself; the inner A calls C and D; B calls A */
    struct fixture_thread thread = {
        "main", NULL, {"AAAAAAAA BBB", "CCaaaaC  AA ", "  CDD  ", "         "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_relations *a = relations_of(f.trace, FIXTURE_FRAME('A'));
    assert_int_equal(a->parents.count, 2);
    assert_edge(a->parents, 0, TV_NONE, 1, 3, 8);
    assert_edge(a->parents, 1, FIXTURE_FRAME('B'), 1, 3, 2);
    assert_int_equal(a->recursive_parents.count, 1);
    assert_edge(a->recursive_parents, 0, FIXTURE_FRAME('A'), 1, 3, 4);
    assert_int_equal(a->children.count, 2);
    assert_edge(a->children, 0, FIXTURE_FRAME('A'), 1, 3, 4);
    assert_edge(a->children, 1, FIXTURE_FRAME('C'), 2, 3, 3);
    assert_int_equal(a->recursive_children.count, 2);
    assert_edge(a->recursive_children, 0, FIXTURE_FRAME('D'), 1, 1, 2);
    assert_edge(a->recursive_children, 1, FIXTURE_FRAME('C'), 1, 3, 1);
    assert_int_equal(a->self_wall, 1000000 + 2000000);
    assert_int_equal(a->recursive_self_wall, 1000000);
    tv_relations_free(a);
    struct tv_relations *c = relations_of(f.trace, FIXTURE_FRAME('C'));
    assert_edge(c->parents, 0, FIXTURE_FRAME('A'), 3, 3, 4);
    assert_int_equal(c->parents.count, 1);
    assert_int_equal(c->children.count + c->recursive_parents.count, 0);
    tv_relations_free(c);
    fixture_free(&f);
}

static void unknown_frame_has_none(void **state)
{
    (void)state;
    struct fixture_thread thread = {"main", NULL, {"AB"}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_relations *relations = relations_of(f.trace, TV_NONE);
    assert_int_equal(relations->parents.count + relations->children.count, 0);
    tv_relations_free(relations);
    fixture_free(&f);
}

static void without_a_wall_clock_cpu_decides_the_order(void **state)
{
    (void)state;
    const struct fixture_dice dice = {23, 1, 5, 2, 400, TV_CLOCK_CPU, 1000, 0, 1, true};
    struct fixture f = fixture_random(&dice);
    struct tv_relations *relations = relations_of(f.trace, 0);
    assert_int_equal(relations->children.count, dice.frames);
    for (uint32_t i = 1; i < relations->children.count; i++)
        assert_true(relations->children.edges[i - 1].cpu >= relations->children.edges[i].cpu);
    tv_relations_free(relations);
    fixture_free(&f);
}

struct sum {
    uint64_t calls;
    int64_t wall, cpu;
};

static struct sum sum_of(const struct tv_edges *edges)
{
    struct sum sum = {0, 0, 0};
    for (uint32_t i = 0; i < edges->count; i++) {
        sum.calls += edges->edges[i].calls;
        sum.wall += edges->edges[i].wall;
        sum.cpu += edges->edges[i].cpu;
    }
    return sum;
}

/* What the reference says of one method's list: kind 0 parents, 1 children. */
static struct tv_edge_cost expected_edge(const struct reference *r, uint32_t opened, uint32_t other,
                                         int kind, bool recursive)
{
    struct tv_edge_cost edge = {.frame = other};
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t parent = r->calls[i].parent;
        uint32_t parent_frame = parent == TV_NONE ? TV_NONE : r->calls[parent].frame;
        uint32_t mine = kind ? parent : i;
        if ((kind ? parent_frame : r->calls[i].frame) != opened ||
            (kind ? r->calls[i].frame : parent_frame) != other ||
            reference_is_recursive(r, mine) != recursive)
            continue;
        edge.calls++;
        edge.wall += r->calls[i].end - r->calls[i].start;
        edge.cpu += r->calls[i].cpu_end - r->calls[i].cpu_start;
    }
    return edge;
}

static void compare_list(const struct reference *r, const struct tv_edges *edges, uint32_t opened,
                         int kind, bool recursive)
{
    for (uint32_t i = 0; i < edges->count; i++) {
        struct tv_edge_cost e = expected_edge(r, opened, edges->edges[i].frame, kind, recursive);
        assert_true(e.calls > 0);
        assert_int_equal(edges->edges[i].calls, e.calls);
        assert_int_equal(edges->edges[i].wall, e.wall);
        assert_int_equal(edges->edges[i].cpu, e.cpu);
        if (i > 0)
            assert_true(edges->edges[i - 1].wall >= edges->edges[i].wall);
    }
}

static void random_traces_equal_the_reference(void **state)
{
    (void)state;
    const struct fixture_dice dice = {21,   2,  4, 12,   600, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 50, 1, false};
    struct fixture f = fixture_random(&dice);
    struct reference r = reference_of(&f);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *m = &profile->methods[i];
        struct tv_relations *relations = tv_relations_of_tree(tree, m->frame);
        compare_list(&r, &relations->parents, m->frame, 0, false);
        compare_list(&r, &relations->children, m->frame, 1, false);
        compare_list(&r, &relations->recursive_parents, m->frame, 0, true);
        compare_list(&r, &relations->recursive_children, m->frame, 1, true);
        /* nothing is missing */
        assert_int_equal(sum_of(&relations->parents).calls, m->calls);
        assert_int_equal(sum_of(&relations->parents).wall, m->incl_wall);
        assert_int_equal(sum_of(&relations->recursive_parents).calls, m->recursive_calls);
        assert_int_equal(sum_of(&relations->children).wall + relations->self_wall, m->incl_wall);
        assert_int_equal(sum_of(&relations->children).cpu + relations->self_cpu, m->incl_cpu);
        assert_int_equal(sum_of(&relations->recursive_children).wall +
                             relations->recursive_self_wall,
                         sum_of(&relations->recursive_parents).wall);
        assert_int_equal(relations->self_wall + relations->recursive_self_wall, m->excl_wall);
        tv_relations_free(relations);
    }
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    reference_release(&r);
    fixture_free(&f);
}

UNIT_TESTS(relations, cmocka_unit_test(splits_by_the_opened_activation),
           cmocka_unit_test(unknown_frame_has_none),
           cmocka_unit_test(without_a_wall_clock_cpu_decides_the_order),
           cmocka_unit_test(random_traces_equal_the_reference));

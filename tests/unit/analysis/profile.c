/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/calltree/profile.h"
#include "analysis/reference.h"
#include "base/memory.h"

static struct tv_profile *profile_of(const struct tv_trace *trace)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, 1);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_call_tree_free(tree);
    return profile;
}

static struct tv_method_cost method(const struct tv_profile *profile, char letter)
{
    for (uint32_t i = 0; i < profile->count; i++)
        if (profile->methods[i].frame == FIXTURE_FRAME(letter))
            return profile->methods[i];
    return (struct tv_method_cost){0};
}

#define assert_method(m, calls_, recursive_, incl_, excl_)                                         \
    do {                                                                                           \
        struct tv_method_cost m_ = (m);                                                            \
        assert_int_equal(m_.calls, calls_);                                                        \
        assert_int_equal(m_.recursive_calls, recursive_);                                          \
        assert_int_equal(m_.incl_wall, (incl_)*1000000);                                           \
        assert_int_equal(m_.excl_wall, (excl_)*1000000);                                           \
    } while (0)

/* A calls itself directly, and by way of B; B also stands alone. */
static const struct fixture_thread recursion = {
    "main", NULL, {"AAAAAAAA BB", "aaa BBB", " B  AA", "    B"}};

static void only_the_outermost_activation_is_inclusive(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&recursion, 1);
    struct tv_profile *p = profile_of(f.trace);
    assert_method(method(p, 'A'), 1, 2, 8, 2 + 2 + 1);
    /* B below A: [1,2) below a, [4,7) with a B of its own at [4,5); alone [9,11) */
    assert_method(method(p, 'B'), 3, 1, 1 + 3 + 2, 1 + (3 - 2) + 1 + 2);
    assert_int_equal(p->count, 2);
    assert_int_equal(p->total_wall, 10000000);
    assert_int_equal(p->total_cpu, 10000000);
    tv_profile_free(p);
    fixture_free(&f);
}

static void order_is_by_figure_then_name(void **state)
{
    (void)state;
    struct fixture_thread thread = {"main", "999999999999", {"DCBAACDCE"}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_profile *p = profile_of(f.trace);
    const struct {
        enum tv_profile_order order;
        const char *letters;
    } cases[] = {
        {TV_ORDER_NAME, "ABCDE"},
        {TV_ORDER_CALLS, "CDABE"},
        {TV_ORDER_INCL_WALL, "CADBE"},
        {TV_ORDER_EXCL_CPU, "CADBE"},
    };
    for (size_t k = 0; k < TV_COUNT(cases); k++) {
        tv_profile_sort(p, cases[k].order);
        for (uint32_t i = 0; i < p->count; i++)
            assert_int_equal(p->methods[i].frame, FIXTURE_FRAME(cases[k].letters[i]));
    }
    tv_profile_free(p);
    fixture_free(&f);
}

static void ranks_follow_inclusive_cpu(void **state)
{
    (void)state;
    /* A is longer, B used more CPU */
    struct fixture_thread thread = {"main", "11199", {"AAABB"}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_profile *p = profile_of(f.trace);
    uint32_t *rank = tv_profile_ranks(p);
    assert_int_equal(rank[FIXTURE_FRAME('A')], 2);
    assert_int_equal(rank[FIXTURE_FRAME('B')], 1);
    assert_int_equal(rank[FIXTURE_FRAME('C')], 0);
    tv_free(rank);
    tv_profile_free(p);
    fixture_free(&f);
}

static const struct fixture_dice profile_dice[] = {
    {11, 3, 4, 9, 700, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 0, 1, false},
    {12, 2, 2, 30, 700, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 3000, 2, false},
    {13, 2, 6, 12, 700, TV_CLOCK_CPU, 1000, 3000, 2, false},
};

static void random_traces_equal_the_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(profile_dice); k++) {
        struct fixture f = fixture_random(&profile_dice[k]);
        struct reference r = reference_of(&f);
        struct tv_profile *p = profile_of(f.trace);
        struct tv_method_cost expected[16] = {{0}};
        int64_t total_wall = 0, total_cpu = 0;
        for (uint32_t i = 0; i < r.count; i++) {
            struct tv_path_cost cost;
            assert_true(reference_cost(&r, i, INT64_MIN, INT64_MAX, &cost));
            struct tv_method_cost *m = &expected[r.calls[i].frame];
            bool recursive = reference_is_recursive(&r, i);
            m->calls += !recursive;
            m->recursive_calls += recursive;
            m->incl_wall += recursive ? 0 : cost.wall;
            m->incl_cpu += recursive ? 0 : cost.cpu;
            m->excl_wall += cost.wall;
            m->excl_cpu += cost.cpu;
            uint32_t parent = r.calls[i].parent;
            struct tv_method_cost *caller =
                parent == TV_NONE ? NULL : &expected[r.calls[parent].frame];
            *(caller ? &caller->excl_wall : &total_wall) += caller ? -cost.wall : cost.wall;
            *(caller ? &caller->excl_cpu : &total_cpu) += caller ? -cost.cpu : cost.cpu;
        }
        assert_int_equal(p->total_wall, total_wall);
        assert_int_equal(p->total_cpu, total_cpu);
        for (uint32_t i = 0; i < p->count; i++) {
            expected[i].frame = i;
            assert_memory_equal(&p->methods[i], &expected[p->methods[i].frame], sizeof *expected);
        }
        tv_profile_free(p);
        reference_release(&r);
        fixture_free(&f);
    }
}

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

/* Compute the edge of two methods from the plain calls: kind 0 parents, 1 children. */
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

static void relations_random_traces_equal_the_reference(void **state)
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

UNIT_TESTS(profile, cmocka_unit_test(only_the_outermost_activation_is_inclusive),
           cmocka_unit_test(order_is_by_figure_then_name),
           cmocka_unit_test(ranks_follow_inclusive_cpu),
           cmocka_unit_test(random_traces_equal_the_reference),
           cmocka_unit_test(splits_by_the_opened_activation),
           cmocka_unit_test(unknown_frame_has_none),
           cmocka_unit_test(without_a_wall_clock_cpu_decides_the_order),
           cmocka_unit_test(relations_random_traces_equal_the_reference));

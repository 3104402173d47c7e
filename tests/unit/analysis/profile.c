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

static const struct fixture_dice dice[] = {
    {11, 3, 4, 9, 700, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 0, 1, false},
    {12, 2, 2, 30, 700, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 3000, 2, false},
    {13, 2, 6, 12, 700, TV_CLOCK_CPU, 1000, 3000, 2, false},
};

static void random_traces_equal_the_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(dice); k++) {
        struct fixture f = fixture_random(&dice[k]);
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

UNIT_TESTS(profile, cmocka_unit_test(only_the_outermost_activation_is_inclusive),
           cmocka_unit_test(order_is_by_figure_then_name),
           cmocka_unit_test(ranks_follow_inclusive_cpu),
           cmocka_unit_test(random_traces_equal_the_reference));

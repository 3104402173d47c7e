/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording cost taken off: figures by hand, where a letter of a drawing is 1 ms and a reading
 * of the clock takes 0.1 ms.
 */
#include "unit.h"

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/profile.h"

#include "analysis/reference.h"
#include "base/bytes.h"

#define READING 100000 /* ns */
#define TENTHS 100000

static struct tv_call_tree *compensated(const struct tv_trace *trace, tv_ns cost)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, 1);
    tv_call_tree_compensate(tree, cost);
    return tree;
}

static const struct tv_method_cost *method(const struct tv_profile *profile, char letter)
{
    for (uint32_t i = 0; i < profile->count; i++)
        if (profile->methods[i].frame == FIXTURE_FRAME(letter))
            return &profile->methods[i];
    fail();
    return NULL;
}

#define assert_times(m, incl, excl)                                                                \
    do {                                                                                           \
        const struct tv_method_cost *m_ = (m);                                                     \
        assert_int_equal(m_->incl_wall, (incl)*TENTHS);                                            \
        assert_int_equal(m_->excl_wall, (excl)*TENTHS);                                            \
    } while (0)

/* A runs 6 ms with B twice, 1 ms each, and C in the second B's place below A: A's own time has one
 * reading of its own and one of each of the three calls inside. */
static void a_call_costs_one_reading_inside_and_one_outside(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAAAA D", " B B C  "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_call_tree *tree = compensated(f.trace, READING);
    struct tv_profile *p = tv_profile_of_tree(tree);
    assert_times(method(p, 'B'), 20 - 2, 20 - 2);
    assert_times(method(p, 'C'), 10 - 1, 10 - 1);
    assert_times(method(p, 'D'), 10 - 1, 10 - 1);
    assert_times(method(p, 'A'), 60 - 1 - 3 * 2, 30 - 1 - 3);
    assert_int_equal(p->total_wall, (60 - 7 + 10 - 1) * TENTHS);
    assert_int_equal(p->compensation.cost, READING);
    assert_int_equal(p->compensation.wall, 8 * TENTHS);
    tv_profile_free(p);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* A in A: the outermost's inclusive time loses the readings of all within it. */
static void recursion_loses_what_is_within(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAAAA", " aaaa ", "  AA  "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_call_tree *tree = compensated(f.trace, READING);
    struct tv_profile *p = tv_profile_of_tree(tree);
    assert_int_equal(method(p, 'A')->calls, 1);
    assert_int_equal(method(p, 'A')->recursive_calls, 2);
    assert_times(method(p, 'A'), 60 - 5, 60 - 5);
    tv_profile_free(p);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Readings of 3 ms: B has 2 ms and loses these; A has 3 ms of its own, and loses no more. */
static void nothing_gets_below_nothing(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAAA CCCCCCCC", " BB           "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_call_tree *tree = compensated(f.trace, 30 * TENTHS);
    struct tv_profile *p = tv_profile_of_tree(tree);
    assert_times(method(p, 'B'), 0, 0);
    assert_times(method(p, 'A'), 0, 0);
    assert_times(method(p, 'C'), 80 - 30, 80 - 30);
    assert_int_equal(p->total_wall, 50 * TENTHS);
    assert_int_equal(p->compensation.wall, (20 + 30 + 30) * TENTHS);
    tv_profile_free(p);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Whatever the trace: both clocks stay sums, and neither gets longer or negative. */
static void sums_stay_sums(void **state)
{
    (void)state;
    const struct fixture_dice dice = {7,    2, 6, 4,   3000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 0, 1, true};
    struct fixture f = fixture_random(&dice);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *before = tv_call_tree_of_trace(f.trace, &all, 1);
    struct tv_call_tree *after = tv_call_tree_copy(before);
    tv_call_tree_compensate(after, 700);
    int64_t wall = 0, cpu = 0, own_wall = 0, own_cpu = 0;
    for (uint32_t i = 1; i < after->count; i++) {
        assert_true(after->cost[i].wall >= after->self_wall[i] && after->self_wall[i] >= 0);
        assert_true(after->cost[i].cpu >= after->self_cpu[i] && after->self_cpu[i] >= 0);
        assert_true(after->self_wall[i] <= before->self_wall[i]);
        assert_int_equal(after->cost[i].calls, before->cost[i].calls);
        wall += before->self_wall[i] - after->self_wall[i];
        cpu += before->self_cpu[i] - after->self_cpu[i];
        if (after->parent[i] == TV_ROOT_PATH) {
            own_wall += before->cost[i].wall - after->cost[i].wall;
            own_cpu += before->cost[i].cpu - after->cost[i].cpu;
        }
    }
    assert_true(wall > 0 && cpu > 0);
    assert_int_equal(wall, after->compensation.wall);
    assert_int_equal(cpu, after->compensation.cpu);
    assert_int_equal(wall, own_wall);
    assert_int_equal(cpu, own_cpu);
    tv_call_tree_free(after);
    tv_call_tree_free(before);
    fixture_free(&f);
}

static void the_cost_must_be_stated_and_the_trace_not_sampled(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AB"}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_head *head = f.trace->head;
    struct tv_error err = {0};
    tv_ns cost;
    assert_int_equal(tv_compensation_find(head, &cost, &err), TV_ERR_USAGE);
    tv_head_add_metadata(head, 0, TV_BYTES("clock-call-overhead-nsec"), TV_BYTES("431"));
    assert_int_equal(tv_compensation_find(head, &cost, &err), TV_OK);
    assert_int_equal(cost, 431);
    head->inputs[0].figures = TV_FIGURES_SAMPLED;
    head->inputs[0].sampled_ns = 1000;
    assert_int_equal(tv_compensation_find(head, &cost, &err), TV_ERR_USAGE);
    fixture_free(&f);
}

static void a_cost_that_is_no_number_is_none(void **state)
{
    (void)state;
    const char *const texts[] = {"0", "-3", "x", "", "18446744073709551616"};
    const struct fixture_thread thread = {"main", NULL, {"AB"}};
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        struct fixture f = fixture_draw(&thread, 1);
        tv_head_add_metadata(f.trace->head, 0, TV_BYTES("clock-call-overhead-nsec"),
                             tv_bytes_of(texts[i]));
        assert_int_equal(tv_clock_cost(f.trace->head), 0);
        fixture_free(&f);
    }
}

UNIT_TESTS(compensate, cmocka_unit_test(a_call_costs_one_reading_inside_and_one_outside),
           cmocka_unit_test(recursion_loses_what_is_within),
           cmocka_unit_test(nothing_gets_below_nothing), cmocka_unit_test(sums_stay_sums),
           cmocka_unit_test(the_cost_must_be_stated_and_the_trace_not_sampled),
           cmocka_unit_test(a_cost_that_is_no_number_is_none));

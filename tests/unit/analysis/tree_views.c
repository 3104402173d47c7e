/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calltree/derived_trees.h"

#include "analysis/flame/flame.h"
#include "analysis/calltree/profile.h"
#include "base/memory.h"
#include "fixture.h"
#include "unit.h"

#define DEEPEST 64

/* The frames of a node, the outermost first. */
struct chain {
    uint32_t frames[DEEPEST], count;
};

static struct chain chain_of(const struct tv_call_tree *tree, uint32_t node)
{
    struct chain up = {.count = 0}, chain = {.count = 0};
    for (; node != TV_ROOT_PATH; node = tree->parent[node])
        up.frames[up.count++] = tree->frame[node];
    while (up.count > 0)
        chain.frames[chain.count++] = up.frames[--up.count];
    return chain;
}

static bool are_equal(const struct chain *a, const struct chain *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->frames[i] != b->frames[i])
            return false;
    return true;
}

static bool begins_with(const struct chain *chain, const struct chain *beginning)
{
    struct chain start = *chain;
    if (start.count < beginning->count)
        return false;
    start.count = beginning->count;
    return are_equal(&start, beginning);
}

static struct chain fold(struct chain chain)
{
    struct chain folded = {.count = 0};
    for (uint32_t i = 0; i < chain.count; i++)
        if (i == 0 || chain.frames[i] != chain.frames[i - 1])
            folded.frames[folded.count++] = chain.frames[i];
    return folded;
}

/* What is left of it from a frame on; nothing when it does not hold the frame. */
static struct chain from_frame(struct chain chain, uint32_t frame)
{
    struct chain rest = {.count = 0};
    for (uint32_t i = 0; i < chain.count; i++)
        if (rest.count > 0 || chain.frames[i] == frame)
            rest.frames[rest.count++] = chain.frames[i];
    return rest;
}

static struct chain reversed(struct chain chain)
{
    struct chain back = {.count = 0};
    while (chain.count > 0)
        back.frames[back.count++] = chain.frames[--chain.count];
    return back;
}

struct sums {
    uint64_t calls;
    int64_t wall, self_wall, self_cpu;
};

static void assert_sums(const struct tv_call_tree *tree, uint32_t node, const struct sums *sums)
{
    assert_int_equal(tree->cost[node].calls, sums->calls);
    assert_int_equal(tree->cost[node].wall, sums->wall);
    assert_int_equal(tree->self_wall[node], sums->self_wall);
    assert_int_equal(tree->self_cpu[node], sums->self_cpu);
}

static struct tv_call_tree *random_tree(struct fixture *f, uint32_t seed)
{
    const struct fixture_dice dice = {seed, 2,  3, 8,    500, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 50, 1, false};
    struct tv_selection all = TV_SELECT_ALL;
    *f = fixture_random(&dice);
    return tv_call_tree_of_trace(f->trace, &all, 1);
}

static void check_folded(const struct tv_call_tree *tree, const struct tv_call_tree *folded)
{
    for (uint32_t node = 1; node < folded->count; node++) {
        struct chain chain = chain_of(folded, node);
        struct sums sums = {0};
        for (uint32_t i = 1; i < tree->count; i++) {
            struct chain long_chain = chain_of(tree, i), short_chain = fold(long_chain);
            if (!are_equal(&short_chain, &chain))
                continue;
            sums.self_wall += tree->self_wall[i];
            sums.self_cpu += tree->self_cpu[i];
            if (tree->parent[i] != TV_ROOT_PATH && tree->frame[tree->parent[i]] == tree->frame[i])
                continue;
            sums.calls += tree->cost[i].calls;
            sums.wall += tree->cost[i].wall;
        }
        assert_sums(folded, node, &sums);
    }
}

static void check_callees(const struct tv_call_tree *tree, const struct tv_call_tree *callees,
                          uint32_t frame)
{
    for (uint32_t node = 1; node < callees->count; node++) {
        struct chain chain = chain_of(callees, node);
        struct sums sums = {0};
        for (uint32_t i = 1; i < tree->count; i++) {
            struct chain rest = from_frame(chain_of(tree, i), frame);
            if (!are_equal(&rest, &chain))
                continue;
            sums.calls += tree->cost[i].calls;
            sums.wall += tree->cost[i].wall;
            sums.self_wall += tree->self_wall[i];
            sums.self_cpu += tree->self_cpu[i];
        }
        assert_sums(callees, node, &sums);
    }
}

static void check_callers(const struct tv_call_tree *tree, const struct tv_call_tree *callers,
                          uint32_t frame)
{
    for (uint32_t node = 1; node < callers->count; node++) {
        struct chain chain = chain_of(callers, node);
        struct sums sums = {0};
        for (uint32_t i = 1; i < tree->count; i++) {
            struct chain up = reversed(chain_of(tree, i)), own = chain_of(tree, i);
            if (from_frame(own, frame).count != 1 || !begins_with(&up, &chain))
                continue; /* a call of the frame inside none of its own */
            sums.calls += tree->cost[i].calls;
            sums.wall += tree->cost[i].wall;
            if (!are_equal(&up, &chain))
                continue;
            sums.self_wall += tree->cost[i].wall;
            sums.self_cpu += tree->cost[i].cpu;
        }
        assert_sums(callers, node, &sums);
    }
}

static int64_t sum(const int64_t *figures, uint32_t count)
{
    int64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
        all += figures[i];
    return all;
}

/* Both sides of a method have its inclusive time. */
static void check_sides(const struct tv_call_tree *tree, const struct tv_method_cost *method)
{
    struct tv_call_tree *callees = tv_call_tree_callees(tree, method->frame);
    struct tv_path_cost left_out;
    struct tv_call_tree *callers = tv_call_tree_callers(tree, method->frame, &left_out);
    assert_true(left_out.calls == 0 && left_out.wall == 0 && left_out.cpu == 0);
    check_callees(tree, callees, method->frame);
    check_callers(tree, callers, method->frame);
    const struct tv_call_tree *const sides[] = {callees, callers};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sum(sides[i]->self_wall, sides[i]->count), method->incl_wall);
        assert_int_equal(sum(sides[i]->self_cpu, sides[i]->count), method->incl_cpu);
        assert_int_equal(sides[i]->frame[1], method->frame);
        assert_int_equal(sides[i]->cost[1].calls, method->calls);
    }
    tv_call_tree_free(callees);
    tv_call_tree_free(callers);
}

static void random_trees_equal_the_plain_sums(void **state)
{
    (void)state;
    for (uint32_t seed = 41; seed < 44; seed++) {
        struct fixture f;
        struct tv_call_tree *tree = random_tree(&f, seed);
        struct tv_call_tree *folded = tv_call_tree_fold(tree);
        struct tv_profile *profile = tv_profile_of_tree(tree);
        assert_true(folded->count < tree->count);
        check_folded(tree, folded);
        for (uint32_t i = 0; i < profile->count; i++)
            check_sides(tree, &profile->methods[i]);
        tv_profile_free(profile);
        tv_call_tree_free(folded);
        tv_call_tree_free(tree);
        fixture_free(&f);
    }
}

static void frames_that_are_not_called_have_no_sides(void **state)
{
    (void)state;
    const struct fixture_thread drawing = {"main", NULL, {"AAAA", " BB "}};
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    struct tv_call_tree *callees = tv_call_tree_callees(tree, FIXTURE_FRAME('Z'));
    struct tv_path_cost left_out;
    struct tv_call_tree *callers = tv_call_tree_callers(tree, FIXTURE_FRAME('Z'), &left_out);
    assert_int_equal(callees->count, 1);
    assert_int_equal(callers->count, 1);
    tv_call_tree_free(callees);
    tv_call_tree_free(callers);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* A with C in it, then B of the same class and name with C in it too, and a C of its own. */
static void names_fold_frames(void **state)
{
    (void)state;
    static const struct fixture_thread drawing = {"main", NULL, {"AABBBC", " C CC"}};
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_frame *frames = f.trace->head->frames;
    frames[FIXTURE_FRAME('B')].class_name = frames[FIXTURE_FRAME('A')].class_name;
    frames[FIXTURE_FRAME('B')].name = frames[FIXTURE_FRAME('A')].name;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    struct tv_call_tree *folded = tv_call_tree_fold_names(tree);
    assert_int_equal(tree->count, 6);
    assert_int_equal(folded->count, 4); /* the root, A, C in it, C */
    uint32_t a = 1;
    while (folded->frame[a] != FIXTURE_FRAME('A'))
        a++;
    assert_int_equal(folded->cost[a].calls, 2);
    assert_int_equal(folded->cost[a].wall, 5000000);
    assert_int_equal(folded->self_wall[a], 2000000);
    tv_call_tree_free(folded);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Frames 1 to `steps`, each called by the one before, and each calls frame 0 for a nanosecond: the
 * chains of callers of that one are some steps * steps / 2 frames, in a tree of twice `steps`. */
static struct tv_call_tree *ladder(struct tv_head *head, uint32_t steps)
{
    struct tv_paths paths;
    uint32_t at = TV_ROOT_PATH, leaf = 0;
    tv_paths_init(&paths);
    for (uint32_t i = 0; i <= steps; i++) {
        struct tv_frame frame = {.line = (int32_t)i};
        assert_int_equal(tv_head_add_frame(head, &frame), i);
    }
    for (uint32_t i = 1; i <= steps; i++) {
        at = tv_paths_child(&paths, at, i);
        leaf = tv_paths_child(&paths, at, 0);
    }
    struct tv_call_tree *tree = tv_call_tree_new(head, &paths);
    for (uint32_t i = 1; i <= leaf; i++) {
        tree->cost[i].calls = 1;
        tree->self_wall[i] = tree->frame[i] == 0;
        tree->cost[i].wall = tree->frame[i] == 0 ? 1 : steps - tree->frame[i] + 1;
    }
    tv_paths_release(&paths);
    return tree;
}

/* Every nanosecond is some frame's own, or left out. */
static void assert_cut(const struct tv_flame *flame, uint32_t count)
{
    int64_t own = flame->left_out;
    assert_int_equal(flame->count, count);
    for (uint32_t i = 0; i < flame->count; i++)
        own += flame->frames[i].self;
    assert_int_equal(own, flame->total);
    assert_true(flame->left_out > 0);
}

static void what_grows_with_the_square_is_cut(void **state)
{
    enum { STEPS = 1200 };
    (void)state;
    struct tv_head *head = tv_head_new();
    struct tv_call_tree *tree = ladder(head, STEPS);
    struct tv_path_cost left_out;
    struct tv_call_tree *callers = tv_call_tree_callers(tree, 0, &left_out);
    assert_in_range(callers->count, TV_CALLERS_NODES, TV_CALLERS_NODES + STEPS);
    assert_in_range(left_out.wall, 1, STEPS - 1);
    assert_int_equal(left_out.calls, left_out.wall);
    assert_int_equal(callers->cost[1].calls + left_out.calls, STEPS);
    assert_int_equal(sum(callers->self_wall, callers->count) + left_out.wall, STEPS);
    tv_call_tree_free(callers);
    struct tv_flame_options options = {.clock = TV_CLOCK_WALL, .inverted = true};
    struct tv_flame *flame = tv_flame_of_tree(tree, &options);
    assert_int_equal(flame->total, STEPS);
    assert_cut(flame, TV_FLAME_FRAMES);
    tv_flame_free(flame);
    tv_call_tree_free(tree);
    tv_head_free(head);
}

static void graphs_have_no_more_frames_than_anybody_can_see(void **state)
{
    (void)state;
    struct tv_head *head = tv_head_new();
    struct tv_call_tree *tree = ladder(head, TV_FLAME_FRAMES / 2 + 10);
    struct tv_flame_options options = {.clock = TV_CLOCK_WALL};
    struct tv_flame *flame = tv_flame_of_tree(tree, &options);
    assert_cut(flame, TV_FLAME_FRAMES);
    tv_flame_free(flame);
    tv_call_tree_free(tree);
    tv_head_free(head);
}

UNIT_TESTS(tree_views, cmocka_unit_test(what_grows_with_the_square_is_cut),
           cmocka_unit_test(graphs_have_no_more_frames_than_anybody_can_see),
           cmocka_unit_test(names_fold_frames), cmocka_unit_test(random_trees_equal_the_plain_sums),
           cmocka_unit_test(frames_that_are_not_called_have_no_sides));

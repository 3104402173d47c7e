/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calltree/tree_lines.h"

#include <stdio.h>
#include <string.h>

#include "analysis/calltree/profile.h"
#include "analysis/flame/flame.h"
#include "base/memory.h"
#include "fixture.h"
#include "unit.h"

static struct tv_call_tree *tree_of(const struct fixture *f)
{
    struct tv_selection all = TV_SELECT_ALL;
    return tv_call_tree_of_trace(f->trace, &all, 1);
}

static const struct tv_line_name root = {TV_ROOT_PATH, 0};

/* One line a line: "frame parent incl self calls/outer", times in ms; + has children, - opened. */
static void assert_lines(const struct tv_call_tree *tree, const struct tv_tree_question *question,
                         const char *expected)
{
    char text[1000] = "";
    size_t at = 0;
    struct tv_tree_lines *lines = tv_tree_lines_of(tree, question);
    for (uint32_t i = 0; i < lines->count; i++) {
        const struct tv_tree_line *l = &lines->lines[i];
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%c%s <%u incl %d self %d calls %d/%d\n", (char)('A' + l->frame),
                               l->opened         ? "-"
                               : l->has_children ? "+"
                                                 : "",
                               l->parent, (int)(l->incl_wall / 1000000),
                               (int)(l->self_wall / 1000000), (int)l->calls, (int)l->outer_calls);
        assert_true(at < sizeof text);
    }
    assert_string_equal(text, expected);
    tv_tree_lines_free(lines);
}

/* A calls B, which calls A again, which calls B; then B by itself. */
static const struct fixture_thread drawing = {
    "main", NULL, {"AAAAAA BB", " BBBB C  ", "  AA  ", "   B  "}};

static void lines_of_a_drawing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    struct tv_tree_question question = {&root, 1, false, false, 100};
    assert_lines(tree, &question,
                 "A+ <0 incl 6 self 2 calls 1/1\n"
                 "B <0 incl 2 self 2 calls 1/1\n");
    question.below = true;
    assert_lines(tree, &question,
                 "A- <0 incl 6 self 2 calls 1/1\n"
                 "B <0 incl 2 self 2 calls 1/1\n"
                 "B- <1 incl 4 self 2 calls 1/1\n"
                 "A- <3 incl 2 self 1 calls 1/1\n"
                 "B <4 incl 1 self 1 calls 1/1\n");
    question.limit = 3; /* a line opens as long as there are fewer */
    assert_lines(tree, &question,
                 "A- <0 incl 6 self 2 calls 1/1\n"
                 "B <0 incl 2 self 2 calls 1/1\n"
                 "B+ <1 incl 4 self 2 calls 1/1\n");
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Names of whose lines there are as many as anybody wants; those of the last one may be more. */
static void a_limit_cuts_the_opened_lines(void **state)
{
    (void)state;
    const struct tv_line_name names[] = {root, root, root};
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    for (int way = 1; way < 4; way++) {
        struct tv_tree_question question = {names, 3, way & 1, way & 2, 3};
        struct tv_tree_lines *lines = tv_tree_lines_of(tree, &question);
        assert_true(lines->cut);
        assert_in_range(lines->count, 3, 8);
        tv_tree_lines_free(lines);
        question.limit = 100;
        lines = tv_tree_lines_of(tree, &question);
        assert_false(lines->cut);
        tv_tree_lines_free(lines);
    }
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Opened lines may be lines of others, in any order. */
static void several_lines_are_opened_at_once(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    const struct tv_line_name names[] = {{2, 0}, {TV_ROOT_PATH, 0}, {1, 0}};
    struct tv_tree_question question = {names, 3, false, false, 100};
    assert_lines(tree, &question,
                 "A+ <0 incl 2 self 1 calls 1/1\n"
                 "A+ <1 incl 6 self 2 calls 1/1\n"
                 "B <1 incl 2 self 2 calls 1/1\n"
                 "B+ <2 incl 4 self 2 calls 1/1\n");
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void lines_from_the_bottom_up(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    struct tv_tree_question question = {&root, 1, true, false, 100};
    /* B: 4 in A, of which 1 is in A in it, and 2 by itself */
    assert_lines(tree, &question,
                 "A+ <0 incl 6 self 3 calls 2/1\n"
                 "B+ <0 incl 6 self 5 calls 3/2\n");
    struct tv_line_name b = {2, 0}; /* the node A;B */
    question.names = &b;
    /* called from A at two levels, of which the outer has 4 */
    assert_lines(tree, &question, "A+ <0 incl 4 self 3 calls 2/1\n");
    b.level = 1;
    assert_lines(tree, &question, "B+ <0 incl 1 self 1 calls 1/1\n");
    question.names = &root;
    question.below = true;
    assert_lines(tree, &question,
                 "A- <0 incl 6 self 3 calls 2/1\n"
                 "B- <0 incl 6 self 5 calls 3/2\n"
                 "B- <1 incl 2 self 1 calls 1/1\n"
                 "A- <2 incl 4 self 3 calls 2/1\n"
                 "A <3 incl 2 self 1 calls 1/1\n"
                 "B- <4 incl 1 self 1 calls 1/1\n"
                 "A <6 incl 1 self 1 calls 1/1\n");
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void wrong_names_have_no_lines(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    const struct tv_line_name names[] = {{tree->count, 0}, {TV_NONE, 0}, {TV_NONE, TV_NONE},
                                         {1, 1},           {2, 2},       {2, TV_NONE}};
    struct tv_tree_question question = {names, TV_COUNT(names), true, true, 100};
    assert_lines(tree, &question, "");
    question.bottom_up = false;
    question.name_count = 3;
    assert_lines(tree, &question, "");
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* --- Random trees ---------------------------------------------------------------------------- */

#define DEEPEST 64

/* The frames of a line, its own first, then those of the lines it lies under. */
static uint32_t chain_of(const struct tv_tree_lines *lines, uint32_t at, uint32_t *chain)
{
    uint32_t count = 0;
    for (;; at = lines->lines[at].parent - 1) {
        assert_true(count < DEEPEST);
        chain[count++] = lines->lines[at].frame;
        if (lines->lines[at].parent == 0)
            return count;
    }
}

/* Whether a node stands for a line: from the bottom up its chain of callers begins with the line's
 * frames, the last of the lines first. */
static bool stands_for(const struct tv_call_tree *tree, uint32_t node, const uint32_t *chain,
                       uint32_t count)
{
    for (uint32_t i = count; i-- > 0; node = tree->parent[node])
        if (node == TV_ROOT_PATH || tree->frame[node] != chain[i])
            return false;
    return true;
}

static struct tv_tree_line expect_up(const struct tv_call_tree *tree, const uint32_t *chain,
                                     uint32_t count)
{
    struct tv_tree_line sum = {0};
    for (uint32_t node = 1; node < tree->count; node++) {
        bool inner = false;
        if (tree->cost[node].calls == 0 || !stands_for(tree, node, chain, count))
            continue;
        for (uint32_t up = tree->parent[node]; up != TV_ROOT_PATH; up = tree->parent[up])
            inner |= stands_for(tree, up, chain, count);
        sum.calls += tree->cost[node].calls;
        sum.self_wall += tree->self_wall[node];
        sum.self_cpu += tree->self_cpu[node];
        sum.outer_calls += inner ? 0 : tree->cost[node].calls;
        sum.incl_wall += inner ? 0 : tree->cost[node].wall;
        sum.incl_cpu += inner ? 0 : tree->cost[node].cpu;
    }
    return sum;
}

static void assert_figures(const struct tv_tree_line *line, const struct tv_tree_line *expected)
{
    assert_int_equal(line->calls, expected->calls);
    assert_int_equal(line->outer_calls, expected->outer_calls);
    assert_int_equal(line->incl_wall, expected->incl_wall);
    assert_int_equal(line->self_wall, expected->self_wall);
    assert_int_equal(line->incl_cpu, expected->incl_cpu);
    assert_int_equal(line->self_cpu, expected->self_cpu);
}

static struct tv_call_tree *random_tree(struct fixture *f, uint32_t seed)
{
    const struct fixture_dice dice = {seed, 2,  4, 9,    700, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 50, 1, false};
    *f = fixture_random(&dice);
    return tree_of(f);
}

static void first_lines_from_the_bottom_are_the_profile(void **state)
{
    (void)state;
    struct fixture f;
    struct tv_call_tree *tree = random_tree(&f, 77);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    struct tv_tree_question question = {&root, 1, true, false, 100};
    struct tv_tree_lines *lines = tv_tree_lines_of(tree, &question);
    assert_int_equal(lines->count, profile->count);
    assert_int_equal(lines->total_wall, profile->total_wall);
    assert_int_equal(lines->total_cpu, profile->total_cpu);
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *method = &profile->methods[i];
        const struct tv_tree_line *line = lines->lines;
        while (line->frame != method->frame)
            line++;
        assert_int_equal(line->outer_calls, method->calls);
        assert_int_equal(line->calls, method->calls + method->recursive_calls);
        assert_int_equal(line->incl_wall, method->incl_wall);
        assert_int_equal(line->self_wall, method->excl_wall);
        assert_int_equal(line->incl_cpu, method->incl_cpu);
        assert_int_equal(line->self_cpu, method->excl_cpu);
    }
    tv_tree_lines_free(lines);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Every line by itself gives the lines that stand under it among all. */
static void check_openings(const struct tv_call_tree *tree, const struct tv_tree_lines *all,
                           bool bottom_up)
{
    for (uint32_t i = 0; i < all->count; i += 1 + i / 7) {
        uint32_t chain[DEEPEST], found = 0;
        struct tv_line_name name = {all->lines[i].node, chain_of(all, i, chain) - 1};
        struct tv_tree_question question = {&name, 1, bottom_up, false, 100};
        struct tv_tree_lines *lines = tv_tree_lines_of(tree, &question);
        for (uint32_t k = i + 1; k < all->count; k++) {
            if (all->lines[k].parent != i + 1)
                continue;
            assert_true(found < lines->count);
            assert_int_equal(lines->lines[found].frame, all->lines[k].frame);
            assert_int_equal(lines->lines[found].node, all->lines[k].node);
            assert_int_equal(lines->lines[found].has_children, all->lines[k].has_children);
            assert_figures(&lines->lines[found++], &all->lines[k]);
        }
        assert_int_equal(found, lines->count);
        assert_int_equal(found > 0, all->lines[i].has_children);
        tv_tree_lines_free(lines);
    }
}

static void random_trees_equal_the_plain_sums(void **state)
{
    (void)state;
    for (uint32_t seed = 5; seed < 8; seed++)
        for (int bottom_up = 0; bottom_up <= 1; bottom_up++) {
            struct fixture f;
            struct tv_call_tree *tree = random_tree(&f, seed);
            struct tv_tree_question question = {&root, 1, bottom_up, true, UINT32_MAX};
            struct tv_tree_lines *lines = tv_tree_lines_of(tree, &question);
            uint32_t called = 0;
            for (uint32_t i = 0; i < lines->count; i++) {
                const struct tv_tree_line *line = &lines->lines[i];
                uint32_t chain[DEEPEST], count = chain_of(lines, i, chain);
                assert_int_equal(line->opened, line->has_children);
                if (bottom_up) {
                    struct tv_tree_line expected = expect_up(tree, chain, count);
                    assert_figures(line, &expected);
                } else {
                    assert_int_equal(line->frame, tree->frame[line->node]);
                    assert_int_equal(line->incl_wall, tree->cost[line->node].wall);
                    assert_int_equal(line->self_cpu, tree->self_cpu[line->node]);
                }
            }
            for (uint32_t i = 1; i < tree->count; i++)
                called += tree->cost[i].calls > 0;
            if (!bottom_up)
                assert_int_equal(lines->count, called);
            check_openings(tree, lines, bottom_up);
            tv_tree_lines_free(lines);
            tv_call_tree_free(tree);
            fixture_free(&f);
        }
}

static void finds_the_longest_path_of_a_frame(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    uint32_t node = tv_tree_lines_longest(tree, FIXTURE_FRAME('B'));
    assert_int_equal(tree->frame[node], FIXTURE_FRAME('B'));
    assert_int_equal(tree->frame[tree->parent[node]], FIXTURE_FRAME('A'));
    assert_int_equal(tree->cost[node].wall, 4000000);
    assert_int_equal(tv_tree_lines_longest(tree, FIXTURE_FRAME('Z')), TV_ROOT_PATH);
    assert_int_equal(tv_tree_lines_longest(tree, TV_NONE), TV_ROOT_PATH);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* A difference of profiles: A -4, its child B -3, and samples of 5 without a stack.  Shares are of
 * 3 + 1 + 5, as in the profile. */
static void samples_below_zero_keep_their_signs(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_paths paths;
    tv_paths_init(&paths);
    uint32_t a = tv_paths_child(&paths, TV_ROOT_PATH, FIXTURE_FRAME('A'));
    uint32_t b = tv_paths_child(&paths, a, FIXTURE_FRAME('B'));
    struct tv_call_tree *tree = tv_call_tree_new(f.trace->head, &paths);
    tree->clocks = TV_CLOCK_WALL;
    tree->figures = (struct tv_sample_figures){.sampled = true, .sum = 1000000, .total = 9000000};
    tree->cost[a] = (struct tv_path_cost){2, -4000000, 0};
    tree->cost[b] = (struct tv_path_cost){1, -3000000, 0};
    tv_call_tree_settle(tree);
    struct tv_tree_question question = {&root, 1, false, true, 100};
    assert_lines(tree, &question,
                 "A- <0 incl -4 self -1 calls 2/2\n"
                 "B <1 incl -3 self -3 calls 1/1\n");
    struct tv_tree_lines *lines = tv_tree_lines_of(tree, &question);
    assert_int_equal(lines->total_wall, 9000000);
    tv_tree_lines_free(lines);
    assert_int_equal(tv_tree_lines_longest(tree, FIXTURE_FRAME('B')), b);
    tree->cost[b].wall = INT64_MIN; /* a saturated sum, whose amount has no number */
    assert_int_equal(tv_tree_lines_longest(tree, FIXTURE_FRAME('B')), b);
    tv_call_tree_free(tree);
    tv_paths_release(&paths);
    fixture_free(&f);
}

UNIT_TESTS(tree_lines, cmocka_unit_test(a_limit_cuts_the_opened_lines),
           cmocka_unit_test(lines_of_a_drawing), cmocka_unit_test(several_lines_are_opened_at_once),
           cmocka_unit_test(lines_from_the_bottom_up), cmocka_unit_test(wrong_names_have_no_lines),
           cmocka_unit_test(first_lines_from_the_bottom_are_the_profile),
           cmocka_unit_test(random_trees_equal_the_plain_sums),
           cmocka_unit_test(samples_below_zero_keep_their_signs),
           cmocka_unit_test(finds_the_longest_path_of_a_frame));

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/subset/subset.h"

#include "analysis/reference.h"
#include "base/bytes.h"
#include "base/memory.h"

static void names_fit_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *name, *pattern;
        bool fits;
    } cases[] = {
        {"main", "main", true},     {"main", "mai", false},    {"main", "ain", false},
        {"main", "*", true},        {"", "*", true},           {"", "", true},
        {"main", "", false},        {"main", "m*", true},      {"main", "*n", true},
        {"main", "*a*", true},      {"main", "m*x", false},    {"aab", "*ab", true},
        {"abcabd", "*abd", true},   {"abcabc", "a*bd", false}, {"a*b", "a*b", true},
        {"aXXbYYc", "a*b*c", true}, {"Main", "main", false},   {"main", "main*", true},
        {"main", "**", true},       {"main2", "main", false},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_int_equal(tv_glob_matches(tv_bytes_of(cases[i].name), tv_bytes_of(cases[i].pattern)),
                         cases[i].fits);
}

static void categories_are_a_list(void **state)
{
    (void)state;
    static const struct {
        const char *list, *pattern;
        bool fits;
    } cases[] = {
        {"cc,benchmark", "cc", true},
        {"cc, benchmark ", "benchmark", true},
        {"cc,benchmark", "c", false},
        {"cc,benchmark", "cc,benchmark", false},
        {"cc,benchmark", "b*", true},
        {"", "", true},
        {" ", "", true},
        {"cc", "", false},
        {"", "cc", false},
        {"", "*", true},
        {"cc,", "", false},
        {"a,,b", "", true},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_int_equal(
            tv_categories_match(tv_bytes_of(cases[i].list), tv_bytes_of(cases[i].pattern)),
            cases[i].fits);
}

static uint32_t find_node(const struct tv_call_tree *tree, uint32_t parent, char letter)
{
    for (uint32_t i = 1; i < tree->count; i++)
        if (tree->parent[i] == parent && tree->frame[i] == FIXTURE_FRAME(letter))
            return i;
    fail_msg("no node %c", letter);
    return 0;
}

/* Without B: what B called was called by A, and B's own millisecond is A's; calls of C from A and
 * from B become one node; the outermost B leaves its D to the root. */
static void sifting_hands_calls_up(void **state)
{
    (void)state;
    static const struct fixture_thread threads[] = {
        {"main", NULL, {"AAAAAA BBB", " CBBB   D ", "  CC      "}},
    };
    struct fixture f = fixture_draw(threads, 1);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    bool frames[26];
    for (uint32_t i = 0; i < 26; i++)
        frames[i] = i != FIXTURE_FRAME('B');
    struct tv_call_tree *sifted = tv_call_tree_of_frames(tree, frames);
    uint32_t a = find_node(sifted, TV_ROOT_PATH, 'A'), c = find_node(sifted, a, 'C');
    uint32_t d = find_node(sifted, TV_ROOT_PATH, 'D');
    assert_int_equal(sifted->count, 4);
    assert_int_equal(sifted->cost[a].wall, 6000000);
    assert_int_equal(sifted->cost[c].calls, 2);
    assert_int_equal(sifted->cost[c].wall, 3000000);
    assert_int_equal(sifted->self_wall[a], 3000000);
    assert_int_equal(sifted->self_cpu[a], 3000000);
    assert_int_equal(sifted->cost[d].wall, 1000000);
    tv_call_tree_free(sifted);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

UNIT_TESTS(keep, cmocka_unit_test(names_fit_patterns), cmocka_unit_test(categories_are_a_list),
           cmocka_unit_test(sifting_hands_calls_up));

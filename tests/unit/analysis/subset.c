/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/calltree/profile.h"
#include "analysis/calltree/tree_views.h"
#include "analysis/reference.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "fixture.h"
#include "model/subset/subset.h"

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
static void hidden_slices_pass_children_to_their_parent(void **state)
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
    struct tv_call_tree *sifted = tv_call_tree_of_frames(tree, frames, NULL);
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

/*
 * The profile of an excerpt is the profile of the selection in the whole trace.
 */

static struct tv_profile *profile_of(const struct tv_trace *trace,
                                     const struct tv_selection *selection)
{
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, selection, 1);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    tv_call_tree_free(tree);
    return profile;
}

static void assert_equal(const struct tv_profile *a, const struct tv_profile *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total_wall, b->total_wall);
    assert_int_equal(a->total_cpu, b->total_cpu);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_int_equal(a->methods[i].frame, b->methods[i].frame);
        for (int order = TV_ORDER_CALLS; order <= TV_ORDER_EXCL_CPU; order++)
            assert_int_equal(tv_method_figure(&a->methods[i], (enum tv_profile_order)order),
                             tv_method_figure(&b->methods[i], (enum tv_profile_order)order));
    }
}

/* Some tracks, in both ways of saying which. */
static uint32_t choose_tracks(const struct tv_trace *trace, uint32_t *dice, uint32_t *tracks,
                              bool *kept)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        kept[i] = fixture_roll(dice, 2) == 0;
        if (kept[i])
            tracks[count++] = i;
    }
    return count;
}

static void cut_one(const struct tv_trace *trace, uint32_t *dice)
{
    tv_ns span = trace->end - trace->start + 40;
    struct tv_selection selection = TV_SELECT_ALL, all = TV_SELECT_ALL;
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    struct tv_subset keep = {.tracks = tv_alloc(trace->track_count, sizeof *keep.tracks)};
    selection.from = trace->start - 20 + fixture_roll(dice, (uint32_t)span);
    selection.to = selection.from + fixture_roll(dice, (uint32_t)span);
    selection.tracks = tracks;
    selection.track_count = choose_tracks(trace, dice, tracks, keep.tracks);
    struct tv_crop cut = {&keep, selection.from, selection.to, true};
    struct tv_trace *piece = tv_crop_trace(trace, &cut);
    struct tv_profile *whole = profile_of(trace, &selection), *part = profile_of(piece, &all);
    assert_equal(whole, part);
    struct tv_trace *again =
        tv_crop_trace(piece, &(struct tv_crop){&(struct tv_subset){.tracks = NULL}, selection.from,
                                               selection.to, false});
    assert_int_equal(again->slice_count, piece->slice_count);
    tv_profile_free(part);
    part = profile_of(again, &all);
    assert_equal(whole, part);
    tv_profile_free(whole);
    tv_profile_free(part);
    tv_trace_free(again);
    tv_trace_free(piece);
    tv_subset_release(&keep);
    tv_free(tracks);
}

static void excerpts_have_the_profile_of_the_selection(void **state)
{
    (void)state;
    static const unsigned clocks[] = {TV_CLOCK_WALL | TV_CLOCK_CPU, TV_CLOCK_WALL, TV_CLOCK_CPU};
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct fixture_dice dice = {seed, 3, 5, 6, 300, clocks[seed % 3], 1, 100, 1, false};
        struct fixture fixture = fixture_random(&dice);
        uint32_t roll = seed;
        for (int i = 0; i < 12; i++)
            cut_one(fixture.trace, &roll);
        fixture_free(&fixture);
    }
}

/* Nobody may add beyond what times hold. */
static void ranges_may_be_anything(void **state)
{
    (void)state;
    static const tv_ns ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    struct fixture_dice dice = {7, 2, 4, 5, 100, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 50, 1, false};
    struct fixture fixture = fixture_random(&dice);
    struct tv_subset keep = {.tracks = NULL};
    for (size_t i = 0; i < TV_COUNT(ends); i++) {
        for (size_t j = 0; j < TV_COUNT(ends); j++) {
            struct tv_crop cut = {&keep, ends[i], ends[j], false};
            bool whole = ends[i] <= fixture.trace->start && ends[j] > fixture.trace->end;
            struct tv_trace *piece = tv_crop_trace(fixture.trace, &cut);
            assert_int_equal(tv_crop_is_everything(fixture.trace, &cut), whole);
            if (whole)
                assert_int_equal(piece->slice_count, fixture.trace->slice_count);
            else if (ends[j] <= fixture.trace->start || ends[i] > fixture.trace->end)
                assert_true(tv_trace_is_empty(piece));
            tv_trace_free(piece);
        }
    }
    fixture_free(&fixture);
}

/* What is cut begins and ends at the range; what is not stays open. */
static void open_calls_are_closed_where_they_are_cut(void **state)
{
    (void)state;
    static const struct fixture_thread drawing[] = {{"main", NULL, {"<AAA  BBB>", " C     D "}}};
    const unsigned ends = TV_SLICE_OPEN | TV_SLICE_ENTERED_BEFORE;
    struct fixture fixture = fixture_draw(drawing, 1);
    struct tv_subset keep = {.tracks = NULL};
    struct tv_crop middle = {&keep, 1500000, 7500000, false};
    struct tv_trace *piece = tv_crop_trace(fixture.trace, &middle);
    struct tv_slice a = tv_slice_get(piece, 0, 0), b = tv_slice_get(piece, 0, 1);
    assert_int_equal(piece->slice_count, 4);
    assert_int_equal(a.start, 1500000);
    assert_int_equal(a.start + a.length, 4000000);
    assert_int_equal(b.start, 6000000);
    assert_int_equal(b.start + b.length, 7500000);
    assert_int_equal((a.flags | b.flags) & ends, 0);
    tv_trace_free(piece);
    struct tv_crop back = {&keep, 1500000, INT64_MAX, false};
    piece = tv_crop_trace(fixture.trace, &back);
    assert_int_equal(tv_slice_get(piece, 0, 0).flags & ends, 0);
    assert_int_equal(tv_slice_get(piece, 0, 1).flags & ends, TV_SLICE_OPEN);
    tv_trace_free(piece);
    struct tv_crop front = {&keep, INT64_MIN, 7500000, false};
    piece = tv_crop_trace(fixture.trace, &front);
    assert_int_equal(tv_slice_get(piece, 0, 0).flags & ends, TV_SLICE_ENTERED_BEFORE);
    assert_int_equal(tv_slice_get(piece, 0, 1).flags & ends, 0);
    tv_trace_free(piece);
    fixture_free(&fixture);
}

UNIT_TESTS(subset, cmocka_unit_test(names_fit_patterns), cmocka_unit_test(categories_are_a_list),
           cmocka_unit_test(hidden_slices_pass_children_to_their_parent),
           cmocka_unit_test(excerpts_have_the_profile_of_the_selection),
           cmocka_unit_test(ranges_may_be_anything),
           cmocka_unit_test(open_calls_are_closed_where_they_are_cut));

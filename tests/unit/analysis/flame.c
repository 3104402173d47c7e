/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <stdio.h>

#include "analysis/flame/flame.h"

#include "base/memory.h"
#include "fixture.h"

static struct tv_call_tree *tree_of(const struct fixture *f)
{
    struct tv_selection all = TV_SELECT_ALL;
    return tv_call_tree_of_trace(f->trace, &all, 1);
}

/* One frame a line: depth, letter, start and width in ms, calls. */
static void describe(const struct tv_flame *flame, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct tv_flame_frame *f = &flame->frames[i];
        at += (size_t)snprintf(text + at, size - at, "%u%c %d+%d x%d\n", f->depth,
                               (char)('A' + f->frame), (int)(f->start / 1000000),
                               (int)(f->width / 1000000), (int)f->calls);
        assert_true(at < size);
    }
}

static void assert_flame(const struct tv_call_tree *tree, const struct tv_flame_options *options,
                         const char *expected)
{
    char text[1000];
    struct tv_flame *flame = tv_flame_of_tree(tree, options);
    describe(flame, text, sizeof text);
    assert_string_equal(text, expected);
    tv_flame_free(flame);
}

static const struct fixture_thread drawing = {"main", NULL, {"BBBBAAAaaa Cc", " DD EEDD    "}};

static void layouts_of_a_drawing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    struct tv_flame_options options = {
        TV_CLOCK_WALL, TV_FLAME_LEFT_HEAVY, false, TV_ROOT_PATH, 0, 0, false};
    assert_flame(tree, &options,
                 "0A 0+6 x2\n"
                 "1D 0+2 x2\n"
                 "1E 2+2 x1\n"
                 "0B 6+4 x1\n"
                 "1D 6+2 x1\n"
                 "0C 10+2 x2\n");
    options.order = TV_FLAME_BY_NAME;
    options.min_share = 0.2; /* 2.4 of 12 ms */
    assert_flame(tree, &options,
                 "0A 0+6 x2\n"
                 "0B 6+4 x1\n");
    options.inverted = true;
    options.min_share = 0;
    assert_flame(tree, &options,
                 "0A 0+2 x2\n"
                 "0B 2+2 x1\n"
                 "0C 4+2 x2\n"
                 "0D 6+4 x3\n"
                 "1A 6+2 x2\n"
                 "1B 8+2 x1\n"
                 "0E 10+2 x1\n"
                 "1A 10+2 x1\n");
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void narrow_frames_are_merged(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    for (int inverted = 0; inverted <= 1; inverted++) {
        struct tv_flame_options options = {
            TV_CLOCK_WALL, TV_FLAME_LEFT_HEAVY, inverted, TV_ROOT_PATH, 2.5 / 12, 0, false};
        struct tv_flame *flame = tv_flame_of_tree(tree, &options);
        assert_int_equal(flame->total, 12000000);
        /* the two D, E and C; inverted: all but D, and its callers */
        assert_int_equal(flame->left_out, (inverted ? 8 + 4 : 8) * 1000000);
        tv_flame_free(flame);
    }
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void root_and_options_are_checked(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    struct tv_call_tree *tree = tree_of(&f);
    const uint32_t roots[] = {tree->count, 4000000000u, TV_NONE};
    const double shares[] = {0, -1, 1e300, 0.0 / 0.0};
    for (size_t i = 0; i < TV_COUNT(roots); i++)
        for (size_t k = 0; k < TV_COUNT(shares); k++)
            for (int inverted = 0; inverted <= 1; inverted++) {
                struct tv_flame_options options = {
                    TV_CLOCK_CPU, TV_FLAME_BY_NAME, inverted, roots[i], shares[k], 0, false};
                struct tv_flame *flame = tv_flame_of_tree(tree, &options);
                if (!inverted)
                    assert_int_equal(flame->count, 0);
                tv_flame_free(flame);
            }
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* --- Random trees
 * ------------------------------------------------------------------------------------ */

/* Frames of a flame from the bottom to the one at `index`. */
static uint32_t chain_of(const struct tv_flame *flame, uint32_t index, uint32_t *chain)
{
    uint32_t depth = flame->frames[index].depth;
    for (uint32_t left = depth + 1; left-- > 0;) {
        while (flame->frames[index].depth != left)
            index--;
        chain[left] = flame->frames[index].frame;
    }
    return depth + 1;
}

/* Whether the frames of a node, from the root (or from the node, upwards), begin with the chain. */
static bool begins_with(const struct tv_call_tree *tree, uint32_t node, const uint32_t *chain,
                        uint32_t length, bool inverted)
{
    uint32_t frames[128], count = 0;
    for (; node != TV_ROOT_PATH; node = tree->parent[node])
        frames[count++] = tree->frame[node];
    for (uint32_t i = 0; i < length; i++)
        if (i >= count || chain[i] != frames[inverted ? i : count - 1 - i])
            return false;
    return true;
}

static int64_t expected_width(const struct tv_call_tree *tree, const uint32_t *chain,
                              uint32_t length, bool inverted)
{
    int64_t width = 0;
    for (uint32_t node = 1; node < tree->count; node++)
        if (begins_with(tree, node, chain, length, inverted))
            width += tree->self_wall[node];
    return width;
}

/* Frames lie on what is below them, in order, and do not overlap. */
static void check_places(const struct tv_flame *flame, const struct tv_flame_options *options)
{
    int64_t cursor[130] = {0}, end[130], last_width[130];
    end[0] = flame->total;
    last_width[0] = INT64_MAX;
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct tv_flame_frame *f = &flame->frames[i];
        assert_int_equal(f->start, cursor[f->depth]);
        assert_true(f->start + f->width <= end[f->depth]);
        if (options->order == TV_FLAME_LEFT_HEAVY)
            assert_true(f->width <= last_width[f->depth]);
        assert_true(f->width >= tv_flame_threshold(flame->total, options->min_share));
        cursor[f->depth] += f->width;
        last_width[f->depth] = f->width;
        cursor[f->depth + 1] = f->start;
        end[f->depth + 1] = f->start + f->width - f->self;
        last_width[f->depth + 1] = INT64_MAX;
    }
}

static void check_flame(const struct tv_call_tree *tree, const struct tv_flame_options *options)
{
    struct tv_flame *flame = tv_flame_of_tree(tree, options);
    int64_t drawn_self = 0;
    uint32_t levels = 0;
    for (uint32_t i = 0; i < flame->count; i++) {
        uint32_t chain[128], length = chain_of(flame, i, chain);
        assert_int_equal(flame->frames[i].width,
                         expected_width(tree, chain, length, options->inverted));
        drawn_self += flame->frames[i].self;
        levels = length > levels ? length : levels;
    }
    check_places(flame, options);
    assert_int_equal(flame->levels, levels);
    assert_int_equal(drawn_self + flame->left_out, flame->total);
    tv_flame_free(flame);
}

/* Each frame, taken as root, gives the graph that lies on it. */
static void check_roots(const struct tv_call_tree *tree, struct tv_flame_options options)
{
    struct tv_flame *whole = tv_flame_of_tree(tree, &options);
    for (uint32_t i = 0; i < whole->count; i += 1 + i / 5) {
        const struct tv_flame_frame *root = &whole->frames[i];
        options.root = root->path;
        struct tv_flame *part = tv_flame_of_tree(tree, &options);
        assert_true(part->count > 0);
        assert_int_equal(part->total, root->width);
        for (uint32_t k = 0; k < part->count; k++) {
            assert_int_equal(part->frames[k].depth + root->depth, root[k].depth);
            assert_int_equal(part->frames[k].start + root->start, root[k].start);
            assert_int_equal(part->frames[k].width, root[k].width);
            assert_int_equal(part->frames[k].frame, root[k].frame);
            assert_int_equal(part->frames[k].path, root[k].path);
        }
        tv_flame_free(part);
    }
    tv_flame_free(whole);
}

static void random_trees_equal_the_reference(void **state)
{
    (void)state;
    const struct fixture_dice dice = {31,   2,  4, 9,    1500, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 50, 1, false};
    const double shares[] = {0, 0.003, 0.05};
    struct fixture f = fixture_random(&dice);
    struct tv_call_tree *tree = tree_of(&f);
    for (int inverted = 0; inverted <= 1; inverted++)
        for (int order = 0; order <= 1; order++) {
            for (size_t k = 0; k < TV_COUNT(shares); k++) {
                struct tv_flame_options options = {
                    TV_CLOCK_WALL, (enum tv_flame_order)order, inverted, TV_ROOT_PATH, shares[k], 0,
                    false};
                check_flame(tree, &options);
            }
            struct tv_flame_options all = {
                TV_CLOCK_WALL, (enum tv_flame_order)order, inverted, TV_ROOT_PATH, 0, 0, false};
            check_roots(tree, all);
        }
    tv_call_tree_free(tree);
    fixture_free(&f);
}

UNIT_TESTS(flame, cmocka_unit_test(layouts_of_a_drawing),
           cmocka_unit_test(narrow_frames_are_merged),
           cmocka_unit_test(root_and_options_are_checked),
           cmocka_unit_test(random_trees_equal_the_reference));

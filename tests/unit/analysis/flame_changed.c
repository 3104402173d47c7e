/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms in chronological flame graphs. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/transforms.h"
#include "analysis/flame/flame.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "fixture.h"

/* The stacks that some transforms make of a tree. */
struct changed {
    struct tv_call_tree *tree;
    uint32_t *node;
};

static struct changed change(const struct tv_call_tree *from, const char *text)
{
    struct tv_transforms transforms;
    struct changed changed = {NULL, tv_alloc(from->count, sizeof *changed.node)};
    struct tv_error err;
    assert_int_equal(tv_transforms_parse(tv_bytes_of(text), &transforms, &err), TV_OK);
    assert_int_equal(tv_transforms_apply(&transforms, from, &changed.tree, changed.node, &err),
                     TV_OK);
    return changed;
}

static void release(struct changed *changed)
{
    tv_call_tree_free(changed->tree);
    tv_free(changed->node);
}

/* One frame a line: depth, letter (P: a package; of a thread its number), start and width in
 * `unit`, calls. */
static void assert_text(struct tv_flame *flame, uint32_t frames, int64_t unit, const char *expected)
{
    char text[1000] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct tv_flame_frame *frame = &flame->frames[i];
        char letter = frame->frame >= TV_THREAD_FRAME
                          ? (char)('0' + (frame->frame - TV_THREAD_FRAME))
                      : frame->frame >= frames ? 'P'
                                               : (char)('A' + frame->frame);
        at += (size_t)snprintf(text + at, sizeof text - at, "%u%c %d+%d x%d\n", frame->depth,
                               letter, (int)(frame->start / unit), (int)(frame->width / unit),
                               (int)frame->calls);
        assert_true(at < sizeof text);
    }
    assert_string_equal(text, expected);
    tv_flame_free(flame);
}

/* A calls C and B, then is called again and calls B; C alone; A with B; F calls itself and G. */
static const struct fixture_thread drawing[] = {
    {"main", NULL, {"AAAAaaa CC AA FFFFF", " CBBb      B  FFFF ", "               GG  "}},
    {"pool", NULL, {"  DDEEddd          "}},
};

static void assert_calls(const struct tv_selection *selection, const char *transforms, bool fold,
                         const char *expected)
{
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, selection, 1);
    struct changed changed = change(tree, transforms);
    struct tv_flame_time_options options = {
        .clock = TV_CLOCK_WALL, .fold = fold, .stacks = {changed.tree, changed.node}};
    assert_text(tv_flame_in_time(f.trace, selection, &options), f.trace->head->frame_count, 1000000,
                expected);
    release(&changed);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void calls_of_a_drawing(void **state)
{
    (void)state;
    const uint32_t main_track[] = {0};
    const struct tv_selection one = {INT64_MIN, INT64_MAX, main_track, 1}, all = TV_SELECT_ALL;
    /* Without C, three calls of A are neighbours, and so are their calls of B. */
    assert_calls(&one, "merge:1:c", false,
                 "0A 0+9 x3\n"
                 "1B 0+4 x3\n"
                 "0F 9+5 x1\n"
                 "1F 9+4 x1\n"
                 "2G 9+2 x1\n");
    /* A loses the time of B. */
    assert_calls(&one, "drop:1:b", false,
                 "0A 0+4 x2\n"
                 "1C 0+1 x1\n"
                 "0C 4+2 x1\n"
                 "0A 6+1 x1\n"
                 "0F 7+5 x1\n"
                 "1F 7+4 x1\n"
                 "2G 7+2 x1\n");
    assert_calls(&one, "focus:1:f", false,
                 "0F 0+5 x1\n"
                 "1F 0+4 x1\n"
                 "2G 0+2 x1\n");
    assert_calls(&one, "focus:1:f", true,
                 "0F 0+5 x1\n"
                 "1G 0+2 x1\n");
    /* The first call of C was made by A. */
    assert_calls(&one, "callers:1:c", false,
                 "0C 0+3 x2\n"
                 "1A 0+1 x1\n");
    /* One run for each call without a caller of the package: 4 + 3 + 2 + 2 + 5 ms. */
    assert_calls(&one, "collapse-package:4:demo", false, "0P 0+16 x5\n");
    assert_calls(&one, "merge:1:afocus:1:b", false, "0B 0+4 x3\n");
    assert_calls(&all, "drop:1:edrop:1:adrop:1:f", false,
                 "00 0+2 x0\n"
                 "1C 0+2 x1\n"
                 "01 2+5 x0\n"
                 "1D 2+5 x2\n");
}

static void changed_calls_are_clipped_to_the_range(void **state)
{
    (void)state;
    const uint32_t main_track[] = {0};
    const struct tv_selection part = {3000000, 17000000, main_track, 1};
    assert_calls(&part, "drop:1:b", false,
                 "0A 0+2 x2\n"
                 "0C 2+2 x1\n"
                 "0A 4+1 x1\n"
                 "0F 5+3 x1\n"
                 "1F 5+3 x1\n"
                 "2G 5+2 x1\n");
}

/* ---- Random traces: the same figures as the changed tree ---- */

/* Return the child of a node that has a frame. */
static uint32_t child_of(const struct tv_call_tree *tree, uint32_t node, uint32_t frame)
{
    for (uint32_t i = node + 1; i < tree->count; i++)
        if (tree->parent[i] == node && tree->frame[i] == frame)
            return i;
    fail_msg("the tree has no such stack");
    return 0;
}

/* Add up the own time of each stack in a graph; no node of the tree may differ. */
static void assert_sums(const struct tv_flame *flame, const struct tv_call_tree *tree, bool cpu)
{
    int64_t *self = tv_alloc(tree->count, sizeof *self), total = 0;
    uint64_t *calls = tv_alloc(tree->count, sizeof *calls);
    uint32_t stack[64] = {0};
    for (uint32_t i = 0; i < flame->count; i++) {
        const struct tv_flame_frame *frame = &flame->frames[i];
        bool thread = frame->frame >= TV_THREAD_FRAME;
        assert_true(frame->depth + 1 < TV_COUNT(stack));
        uint32_t node = thread ? 0 : child_of(tree, stack[frame->depth], frame->frame);
        stack[frame->depth + 1] = node;
        self[node] += frame->self;
        calls[node] += frame->calls;
    }
    for (uint32_t i = 1; i < tree->count; i++) {
        assert_int_equal(self[i], (cpu ? tree->self_cpu : tree->self_wall)[i]);
        assert_true(calls[i] <= tree->cost[i].calls); /* those without time are not drawn */
        total += self[i];
    }
    assert_int_equal(self[0], 0);
    assert_int_equal(flame->total, total);
    tv_free(self);
    tv_free(calls);
}

/* Each frame, taken as root, gives the graph that lies on it. */
static void assert_roots(const struct tv_trace *trace, const struct tv_selection *selection,
                         struct tv_flame_time_options options)
{
    struct tv_flame *whole = tv_flame_in_time(trace, selection, &options);
    for (uint32_t i = 0; i < whole->count; i += 1 + i / 4) {
        options.root = whole->frames[i].path;
        struct tv_flame *part = tv_flame_in_time(trace, selection, &options);
        assert_true(part->count > 0);
        assert_int_equal(part->total, whole->frames[i].width);
        for (uint32_t k = 0; k < part->count; k++) {
            assert_int_equal(part->frames[k].width, whole->frames[i + k].width);
            assert_int_equal(part->frames[k].path, whole->frames[i + k].path);
            assert_int_equal(part->frames[k].frame, whole->frames[i + k].frame);
        }
        tv_flame_free(part);
    }
    tv_flame_free(whole);
}

static const char *const random_transforms[] = {
    "merge:1:b",
    "drop:1:c",
    "focus:1:b",
    "callers:1:b",
    "merge:1:adrop:1:dmerge:1:c",
    "focus:1:acollapse-package:4:demo",
    "callers:1:cmerge:1:adrop:1:b",
    "merge:1:bcallers:1:afocus:1:c",
};

static void check_random(const struct fixture_dice *dice, bool cpu)
{
    struct fixture f = fixture_random(dice);
    struct tv_selection selection = TV_SELECT_ALL;
    for (size_t i = 0; i < 2 * TV_COUNT(random_transforms); i++) {
        if (i == TV_COUNT(random_transforms)) {
            selection.from = f.trace->start + (f.trace->end - f.trace->start) / 3;
            selection.to = f.trace->start + (f.trace->end - f.trace->start) / 2;
        }
        struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &selection, 1);
        struct changed changed = change(tree, random_transforms[i % TV_COUNT(random_transforms)]);
        struct tv_flame_time_options options = {.clock = cpu ? TV_CLOCK_CPU : TV_CLOCK_WALL,
                                                .stacks = {changed.tree, changed.node}};
        struct tv_flame *flame = tv_flame_in_time(f.trace, &selection, &options);
        assert_sums(flame, changed.tree, cpu);
        if (i % 3 == 0)
            assert_roots(f.trace, &selection, options);
        tv_flame_free(flame);
        release(&changed);
        tv_call_tree_free(tree);
    }
    fixture_free(&f);
}

static void the_figures_are_those_of_the_changed_tree(void **state)
{
    (void)state;
    const struct fixture_dice dice[] = {
        {21, 3, 4, 9, 1500, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 50, 1, false},
        {22, 1, 4, 9, 1500, TV_CLOCK_WALL, 1, 9000000, 1, true},
        {23, 2, 4, 6, 1500, TV_CLOCK_CPU, 1000, 50, 1, false},
    };
    for (size_t i = 0; i < TV_COUNT(dice); i++) {
        if (dice[i].clocks & TV_CLOCK_WALL)
            check_random(&dice[i], false);
        if (dice[i].clocks & TV_CLOCK_CPU)
            check_random(&dice[i], true);
    }
}

/* ---- Samples ---- */

static void add_sample(struct tv_trace *trace, uint32_t path, int64_t weight)
{
    struct tv_sample *sample = tv_table_add(&trace->tables.samples);
    *sample = (struct tv_sample){.time = (int64_t)trace->tables.samples.count * 1000,
                                 .weight = weight,
                                 .offset = TV_NO_OFFSET,
                                 .cpu = TV_NONE,
                                 .path = path,
                                 .line_path = path,
                                 .type = fixture_value_type(trace, "tick", "count")};
}

/* Return the path of the call at a place of the drawing below. */
static uint32_t path_of(const struct tv_trace *trace, const char *stack)
{
    uint32_t path = TV_ROOT_PATH;
    for (; *stack; stack++)
        for (uint32_t i = 1; i < trace->paths.count; i++)
            if (trace->paths.nodes[i].parent == path &&
                trace->paths.nodes[i].frame == FIXTURE_FRAME(*stack)) {
                path = i;
                break;
            }
    assert_true(path != TV_ROOT_PATH);
    return path;
}

static const struct fixture_thread stacks_of_samples[] = {
    {"main", NULL, {"AAAAAAAAAA CC", " BBBBBBBBB DD", "  BBBB CCC   "}},
};

static void assert_samples(const char *transforms, const char *expected)
{
    struct fixture f = fixture_draw(stacks_of_samples, 1);
    struct tv_selection all = TV_SELECT_ALL;
    add_sample(f.trace, path_of(f.trace, "AB"), 5);
    add_sample(f.trace, path_of(f.trace, "CD"), 1);
    add_sample(f.trace, path_of(f.trace, "ABB"), 2);
    add_sample(f.trace, path_of(f.trace, "ABC"), 3);
    struct tv_sample_question question = {TV_SAMPLES_WEIGHT, TV_NONE, true, false};
    struct tv_call_tree *tree = tv_sample_tree_of_trace(f.trace, &all, NULL, &question);
    struct changed changed = change(tree, transforms);
    struct tv_flame_samples_options options = {.question = question,
                                               .stacks = {changed.tree, changed.node}};
    assert_text(tv_flame_of_samples(f.trace, &all, &options), f.trace->head->frame_count, 1,
                expected);
    release(&changed);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void samples_of_a_drawing(void **state)
{
    (void)state;
    /* Dropping the second sample makes the first and the third neighbours. */
    assert_samples("drop:1:d", "0A 0+10 x3\n1B 0+10 x3\n2B 0+2 x1\n2C 2+3 x1\n");
    assert_samples("merge:1:b", "0A 0+5 x1\n0C 5+1 x1\n1D 5+1 x1\n0A 6+5 x2\n1C 6+3 x1\n");
    assert_samples("callers:1:c", "0C 0+4 x2\n1B 0+3 x1\n2A 0+3 x1\n");
    assert_samples("focus:1:c", "0C 0+4 x2\n1D 0+1 x1\n");
}

UNIT_TESTS(flame_changed, cmocka_unit_test(calls_of_a_drawing),
           cmocka_unit_test(changed_calls_are_clipped_to_the_range),
           cmocka_unit_test(the_figures_are_those_of_the_changed_tree),
           cmocka_unit_test(samples_of_a_drawing));

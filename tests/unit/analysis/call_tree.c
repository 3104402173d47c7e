/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/calltree/call_tree.h"

#include "analysis/reference.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/sections.h"

/* The node of a chain of letters, as "ABC". */
static uint32_t node_of(const struct tv_call_tree *tree, const char *letters)
{
    uint32_t node = TV_ROOT_PATH;
    for (; *letters; letters++) {
        uint32_t child = 1;
        while (tree->parent[child] != node || tree->frame[child] != FIXTURE_FRAME(*letters))
            assert_true(++child < tree->count);
        node = child;
    }
    return node;
}

#define assert_node(tree, letters, calls_, wall_, cpu_, self_wall_, self_cpu_)                     \
    do {                                                                                           \
        uint32_t node_ = node_of(tree, letters);                                                   \
        assert_int_equal((tree)->cost[node_].calls, calls_);                                       \
        assert_int_equal((tree)->cost[node_].wall, (wall_)*1000);                                  \
        assert_int_equal((tree)->cost[node_].cpu, (cpu_)*1000);                                    \
        assert_int_equal((tree)->self_wall[node_], (self_wall_)*1000);                             \
        assert_int_equal((tree)->self_cpu[node_], (self_cpu_)*1000);                               \
    } while (0)

static const struct fixture_thread two_threads[] = {
    {"main", "9999 0000 ", {"AAAAAA BBB", " CCD cc B "}},
    {"other", NULL, {"AAAA", "CCCC"}},
};

static void whole_trace(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(two_threads, 2);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    /* microseconds; main's CPU: 900 a column, 1000 in the blank fifth, then four of nothing, 1000
     */
    assert_node(tree, "A", 2, 10000, 3600 + 1000 + 4000, 2000, 900 + 1000);
    assert_node(tree, "AC", 3, 7000, 1800 + 0 + 4000, 7000, 5800);
    assert_node(tree, "AD", 1, 1000, 900, 1000, 900);
    assert_node(tree, "B", 1, 3000, 1000, 2000, 1000);
    assert_node(tree, "BB", 1, 1000, 0, 1000, 0);
    assert_int_equal(tree->count, 6);
    assert_int_equal(tree->clocks, TV_CLOCK_WALL | TV_CLOCK_CPU);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Nodes get other numbers, and their chains begin with the node. */
static void subtree_has_the_calls_of_a_node(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(two_threads, 2);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    struct tv_call_tree *a = tv_call_tree_part(tree, node_of(tree, "A"));
    struct tv_call_tree *bb = tv_call_tree_part(tree, node_of(tree, "BB"));
    tv_call_tree_free(tree);
    assert_int_equal(a->count, 4);
    assert_int_equal(node_of(a, "A"), 1);
    assert_node(a, "A", 2, 10000, 8600, 2000, 1900);
    assert_node(a, "AC", 3, 7000, 5800, 7000, 5800);
    assert_node(a, "AD", 1, 1000, 900, 1000, 900);
    assert_int_equal(a->frame[TV_ROOT_PATH], TV_NONE);
    assert_int_equal(a->clocks, TV_CLOCK_WALL | TV_CLOCK_CPU);
    assert_int_equal(bb->count, 2);
    assert_node(bb, "B", 1, 1000, 0, 1000, 0);
    tv_call_tree_free(bb);
    tv_call_tree_free(a);
    fixture_free(&f);
}

static void range_clips_and_counts_overlapping_calls(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(two_threads, 2);
    uint32_t main_track[] = {0, 17};
    /* from the middle of the second column to the middle of the fourth */
    struct tv_selection part = {1500000, 3500000, main_track, 2};
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &part, 1);
    assert_node(tree, "A", 1, 2000, 1800, 0, 0);
    assert_node(tree, "AC", 1, 1500, 1350, 1500, 1350);
    assert_node(tree, "AD", 1, 500, 450, 500, 450);
    assert_node(tree, "B", 0, 0, 0, 0, 0);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void empty_range_has_nothing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(two_threads, 2);
    struct tv_selection nothing[] = {{2000000, 2000000, NULL, 0}, {3000000, 1000000, NULL, 0}};
    for (size_t k = 0; k < TV_COUNT(nothing); k++) {
        struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &nothing[k], 2);
        for (uint32_t i = 0; i < tree->count; i++)
            assert_int_equal(tree->cost[i].calls, 0);
        tv_call_tree_free(tree);
    }
    fixture_free(&f);
}

static void waits_are_clipped(void **state)
{
    (void)state;
    /* 2 ms in which 0.2 ms ran: a wait of 1.8 ms in the middle of it, from 1.1 ms to 2.9 ms */
    struct fixture_thread thread = {"main", " 11   ", {"AAAAAA", "B  B  "}};
    struct fixture f = fixture_draw(&thread, 1);
    assert_int_equal(f.trace->tracks[0].wait_count, 1);
    struct tv_selection parts[] = {
        TV_SELECT_ALL, {2000000, 9000000, NULL, 0}, {3000000, 9000000, NULL, 0}};
    const int64_t calls[] = {1, 1, 0}, wall[] = {1800000, 900000, 0};
    for (size_t k = 0; k < TV_COUNT(parts); k++) {
        struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &parts[k], 1);
        assert_int_equal(tree->waits.calls, calls[k]);
        assert_int_equal(tree->waits.wall, wall[k]);
        tv_call_tree_free(tree);
    }
    fixture_free(&f);
}

/* --- Random traces
 * ----------------------------------------------------------------------------------- */

static void compare_with_reference(const struct reference *r, const struct tv_selection *selection,
                                   const struct tv_call_tree *tree)
{
    struct tv_path_cost *expected = tv_alloc(tree->count, sizeof *expected), cost;
    bool *wanted = tv_selection_wanted(r->fixture->trace, selection);
    for (uint32_t i = 0; i < r->count; i++) {
        /* every thread of a random trace has events: track and thread numbers agree */
        if (!wanted[r->calls[i].thread] ||
            !reference_cost(r, i, selection->from, selection->to, &cost))
            continue;
        struct tv_path_cost *sum = &expected[reference_node(r, tree, i)];
        sum->calls += cost.calls;
        sum->wall += cost.wall;
        sum->cpu += cost.cpu;
    }
    for (uint32_t i = 0; i < tree->count; i++) {
        assert_int_equal(tree->cost[i].calls, expected[i].calls);
        assert_int_equal(tree->cost[i].wall, expected[i].wall);
        assert_int_equal(tree->cost[i].cpu, expected[i].cpu);
    }
    tv_free(wanted);
    tv_free(expected);
}

static const struct fixture_dice dice[] = {
    {1, 3, 4, 6, 600, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 0, 1, false},
    {2, 2, 9, 20, 900, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 3000, 3, false},
    {3, 4, 3, 5, 500, TV_CLOCK_WALL, 1000, 100, 2, false},
    {4, 2, 5, 8, 500, TV_CLOCK_CPU, 1000, 100, 1, false},
    {7, 1, 2, 1, 40000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 210000000, 1,
     true}, /* some blocks of 64 bits */
    {5, 2, 3, 5, 5000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 90000000000, 1,
     false}, /* blocks of 64 bits */
};

static bool has_both_kinds_of_block(const struct tv_trace *trace)
{
    const struct tv_columns *columns = &trace->columns[0];
    uint64_t wide = 0;
    for (uint64_t i = 0; i < columns->block_count; i++)
        wide += columns->blocks[i].wide != TV_NONE;
    return wide > 0 && wide < columns->block_count;
}

static struct tv_selection roll_selection(uint32_t *state, const struct tv_trace *trace,
                                          uint32_t tracks[2])
{
    uint32_t span = 1000;
    tv_ns from = trace->start + (trace->end - trace->start) / span * fixture_roll(state, span + 1);
    tv_ns to = trace->start + (trace->end - trace->start) / span * fixture_roll(state, span + 1);
    if (fixture_roll(state, 2)) /* at a record */
        from = tv_slice_start(trace, 0, fixture_roll(state, trace->rows[0].count));
    tracks[0] = fixture_roll(state, trace->track_count);
    tracks[1] = fixture_roll(state, trace->track_count);
    return (struct tv_selection){from < to ? from : to, from < to ? to : from,
                                 fixture_roll(state, 2) ? tracks : NULL, 2};
}

static void random_ranges_equal_the_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(dice); k++) {
        struct fixture f = fixture_random(&dice[k]);
        struct reference r = reference_of(&f);
        uint32_t seed = 77, tracks[2];
        assert_int_equal(r.count, f.trace->slice_count);
        assert_true(dice[k].seed != 7 || has_both_kinds_of_block(f.trace));
        for (int i = 0; i < 40; i++) {
            struct tv_selection selection = TV_SELECT_ALL;
            if (i > 0)
                selection = roll_selection(&seed, f.trace, tracks);
            struct tv_call_tree *tree =
                tv_call_tree_of_trace(f.trace, &selection, 1 + (unsigned)i % 3);
            compare_with_reference(&r, &selection, tree);
            tv_call_tree_free(tree);
        }
        reference_release(&r);
        fixture_free(&f);
    }
}

static void adjacent_ranges_add_up(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice[1]);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *whole = tv_call_tree_of_trace(f.trace, &all, 2);
    uint32_t seed = 5;
    for (int i = 0; i < 50; i++) {
        tv_ns cut = f.trace->start + fixture_roll(&seed, (uint32_t)(f.trace->end - f.trace->start));
        struct tv_selection before = {INT64_MIN, cut, NULL, 0}, after = {cut, INT64_MAX, NULL, 0};
        struct tv_call_tree *a = tv_call_tree_of_trace(f.trace, &before, 1);
        struct tv_call_tree *b = tv_call_tree_of_trace(f.trace, &after, 1);
        for (uint32_t k = 0; k < whole->count; k++) {
            assert_int_equal(a->cost[k].wall + b->cost[k].wall, whole->cost[k].wall);
            assert_int_equal(a->cost[k].cpu + b->cost[k].cpu, whole->cost[k].cpu);
        }
        tv_call_tree_free(a);
        tv_call_tree_free(b);
    }
    tv_call_tree_free(whole);
    fixture_free(&f);
}

static void self_time_is_inclusive_minus_children(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice[0]);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &all, 1);
    for (uint32_t i = 1; i < tree->count; i++) {
        int64_t wall = tree->cost[i].wall, cpu = tree->cost[i].cpu;
        for (uint32_t k = 1; k < tree->count; k++) {
            wall -= tree->parent[k] == i ? tree->cost[k].wall : 0;
            cpu -= tree->parent[k] == i ? tree->cost[k].cpu : 0;
        }
        assert_int_equal(tree->self_wall[i], wall);
        assert_int_equal(tree->self_cpu[i], cpu);
    }
    tv_call_tree_free(tree);
    fixture_free(&f);
}

static void assert_trees_equal(const struct tv_call_tree *a, const struct tv_call_tree *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->cost, b->cost, a->count * sizeof *a->cost);
    assert_memory_equal(a->self_wall, b->self_wall, a->count * sizeof *a->self_wall);
    assert_memory_equal(a->self_cpu, b->self_cpu, a->count * sizeof *a->self_cpu);
    assert_memory_equal(&a->waits, &b->waits, sizeof a->waits);
}

/* Many paths: workers share one array, each with depths of its own. */
static void workers_agree_on_a_large_tree(void **state)
{
    (void)state;
    const struct fixture_dice large = {6,    3,    200, 12,  300000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                       1000, 3000, 2,   true};
    struct fixture f = fixture_random(&large);
    assert_true(f.trace->paths.count > 65536);
    struct tv_selection selections[] = {TV_SELECT_ALL,
                                        {f.trace->end / 3, f.trace->end / 2, NULL, 0},
                                        {0, f.trace->end / 9, NULL, 0}};
    for (size_t i = 0; i < TV_COUNT(selections); i++) {
        struct tv_call_tree *one = tv_call_tree_of_trace(f.trace, &selections[i], 1);
        for (unsigned workers = 2; workers < 9; workers += 3) {
            struct tv_call_tree *several = tv_call_tree_of_trace(f.trace, &selections[i], workers);
            assert_trees_equal(one, several);
            tv_call_tree_free(several);
        }
        tv_call_tree_free(one);
    }
    fixture_free(&f);
}

static void counting_again_starts_at_zero(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice[0]);
    struct tv_tree_shape *shape = tv_tree_shape_new(f.trace->head, &f.trace->paths);
    struct tv_call_tree *again = tv_call_tree_of_shape(shape);
    uint32_t seed = 8, tracks[2];
    for (int i = 0; i < 10; i++) {
        struct tv_selection selection = roll_selection(&seed, f.trace, tracks);
        struct tv_call_tree *fresh = tv_call_tree_of_trace(f.trace, &selection, 1);
        tv_call_tree_count(again, f.trace, &selection, 2);
        assert_trees_equal(fresh, again);
        tv_call_tree_free(fresh);
    }
    tv_call_tree_free(again);
    tv_tree_shape_free(shape);
    fixture_free(&f);
}

/* What is selected: all, nearly all at either side or around a middle, less, all of some tracks,
 * and nothing.  Ends lie within calls. */
static struct tv_selection roll_large_selection(uint32_t *seed, const struct tv_trace *trace,
                                                uint32_t *tracks)
{
    struct tv_selection selection = roll_selection(seed, trace, tracks);
    tv_ns span = trace->end - trace->start;
    selection.from = trace->start + span * fixture_roll(seed, 30) / 100;
    selection.to = trace->end - span * fixture_roll(seed, 30) / 100;
    return selection;
}

static void assert_ranges_are_right(const struct fixture *f, struct tv_tree_shape *shape,
                                    const struct tv_call_tree *whole)
{
    struct tv_call_tree *tree = tv_call_tree_of_shape(shape);
    uint32_t seed = 12, tracks[2];
    for (int i = 0; i < 40; i++) {
        struct tv_selection selection = roll_large_selection(&seed, f->trace, tracks);
        struct tv_call_tree *fresh = tv_call_tree_of_trace(f->trace, &selection, 1);
        tv_call_tree_count_within(tree, f->trace, &selection, whole, 1 + (unsigned)i % 3);
        assert_trees_equal(fresh, tree);
        tv_call_tree_free(fresh);
    }
    tv_call_tree_free(tree);
}

/* The trace's sections are the tree's and no others, until they are closed. */
static struct tv_call_tree *keep_and_read(struct tv_trace *trace, struct tv_tree_shape *shape,
                                          const struct tv_call_tree *tree, struct tv_out *out)
{
    static const struct tv_sections_id id = {"1", 1, {(const uint8_t *)"tree", 4}};
    struct tv_sections_writer writer;
    struct tv_error err;
    tv_out_init_memory(out);
    tv_sections_begin(&writer, &id, out);
    tv_call_tree_store(tree, &writer);
    tv_sections_end(&writer);
    struct tv_sections_memory memory = {.bytes = {out->buffer, out->length}};
    assert_int_equal(tv_sections_open(&memory, &id, 1, &trace->sections, &err), TV_OK);
    struct tv_call_tree *kept = tv_call_tree_load_stored(shape, trace);
    assert_non_null(kept);
    return kept;
}

static void assert_kept_helps(const struct fixture *f, struct tv_tree_shape *shape,
                              const struct tv_call_tree *whole)
{
    struct tv_out out;
    struct tv_call_tree *kept = keep_and_read(f->trace, shape, whole, &out);
    assert_trees_equal(whole, kept);
    assert_int_equal(kept->raised, whole->raised);
    assert_ranges_are_right(f, shape, kept);
    tv_call_tree_free(kept);
    tv_sections_close(f->trace->sections);
    f->trace->sections = NULL;
    tv_out_release(&out);
}

static void assert_whole_helps(const struct fixture_dice *roll, bool idle)
{
    struct fixture f = fixture_random(roll);
    for (uint32_t i = 0; idle && i < f.trace->rows[0].count; i++)
        f.trace->columns[0].cpu_length[f.trace->rows[0].first + i] = 0;
    struct tv_tree_shape *shape = tv_tree_shape_new(f.trace->head, &f.trace->paths);
    struct tv_call_tree *whole = tv_call_tree_of_shape(shape);
    tv_call_tree_count(whole, f.trace, &TV_SELECT_ALL, 2);
    assert_int_equal(whole->raised, idle);
    assert_ranges_are_right(&f, shape, whole);
    assert_kept_helps(&f, shape, whole);
    tv_call_tree_free(whole);
    tv_tree_shape_free(shape);
    fixture_free(&f);
}

static void large_ranges_equal_whole_minus_rest(void **state)
{
    (void)state;
    const struct fixture_dice clocks[] = {
        {6, 3, 4, 5, 9000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 3000, 2, true},
        {7, 3, 4, 5, 9000, TV_CLOCK_WALL, 1000, 300, 1, false},
        {8, 2, 4, 3, 9000, TV_CLOCK_CPU, 1000, 3000, 1, true},
        {9, 2, 3, 3, 9000, TV_CLOCK_WALL, 1, 90000000000, 1, false}, /* blocks of 64 bits */
        /* Every worker writes to the same figures. */
        {6, 3, 200, 12, 300000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 3000, 2, true},
    };
    for (size_t i = 0; i < TV_COUNT(clocks); i++)
        assert_whole_helps(&clocks[i], false);
    /* Outermost calls without CPU time get that of those they made: not theirs to take off. */
    assert_whole_helps(&clocks[0], true);
}

UNIT_TESTS(call_tree, cmocka_unit_test(whole_trace),
           cmocka_unit_test(subtree_has_the_calls_of_a_node),
           cmocka_unit_test(range_clips_and_counts_overlapping_calls),
           cmocka_unit_test(empty_range_has_nothing), cmocka_unit_test(waits_are_clipped),
           cmocka_unit_test(random_ranges_equal_the_reference),
           cmocka_unit_test(adjacent_ranges_add_up),
           cmocka_unit_test(self_time_is_inclusive_minus_children),
           cmocka_unit_test(workers_agree_on_a_large_tree),
           cmocka_unit_test(counting_again_starts_at_zero),
           cmocka_unit_test(large_ranges_equal_whole_minus_rest));

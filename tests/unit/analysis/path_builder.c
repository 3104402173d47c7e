/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/calltree/path_builder.h"

/* The tree that is counted in: each path once, whatever its size; guesses that are right or 0. */

/* Node i, whose parent is (i - 1) / 3, calls the frames 0 to 2. */
#define NODES 50000u

/* The frame of the first stand-in. */
#define FIRST 0xC0000000u

static uint32_t frame_of(uint32_t node)
{
    return node % 3;
}

static uint32_t parent_of(uint32_t node)
{
    return (node - 1) / 3;
}

static void keeps_each_path_once(void **state)
{
    struct tv_path_builder builder;
    (void)state;
    tv_path_builder_init(&builder);
    for (unsigned turn = 0; turn < 2; turn++)
        for (uint32_t i = 1; i < NODES; i++)
            assert_int_equal(tv_path_builder_child(&builder, parent_of(i), frame_of(i)), i);
    assert_int_equal(builder.count, NODES);
    for (uint32_t i = 1; i < NODES; i++) {
        assert_int_equal(builder.nodes[i].parent, parent_of(i));
        assert_int_equal(builder.nodes[i].frame, frame_of(i));
        assert_int_equal(builder.nodes[i].calls, 0);
    }
    tv_path_builder_release(&builder);
}

static void keeps_figures_as_it_grows(void **state)
{
    struct tv_path_builder builder;
    (void)state;
    tv_path_builder_init(&builder);
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t node = tv_path_builder_child(&builder, parent_of(i), frame_of(i));
        builder.nodes[node].calls = i;
        builder.nodes[node].wall = -(int64_t)i;
    }
    for (uint32_t i = 1; i < NODES; i++) {
        assert_int_equal(builder.nodes[i].calls, i);
        assert_int_equal(builder.nodes[i].wall, -(int64_t)i);
        assert_int_equal(builder.nodes[i].cpu, 0);
    }
    tv_path_builder_release(&builder);
}

/* Half of the places are free: most nodes are found in the first two. */
static void guesses_most_nodes(void **state)
{
    struct tv_path_builder builder;
    uint32_t hits = 0;
    (void)state;
    tv_path_builder_init(&builder);
    for (uint32_t i = 1; i < NODES; i++)
        tv_path_builder_child(&builder, parent_of(i), frame_of(i));
    for (uint32_t i = 1; i < NODES; i++) {
        uint32_t guess = tv_path_builder_guess(&builder, builder.hashes[i]);
        assert_true(guess == i || guess == 0 || builder.hashes[guess] == builder.hashes[i]);
        hits += guess == i;
    }
    assert_true(hits > NODES / 4 * 3);
    tv_path_builder_release(&builder);
}

/* A method that calls itself on and on: no two of its paths may share all their places. */
static void spreads_recursion(void **state)
{
    (void)state;
    for (uint32_t frame = 0; frame < 40; frame++) {
        struct tv_path_builder builder;
        uint32_t node = TV_ROOT_PATH, hits = 0;
        tv_path_builder_init(&builder);
        for (uint32_t i = 0; i < 1000; i++)
            node = tv_path_builder_child(&builder, node, frame);
        for (uint32_t i = 1; i <= 1000; i++)
            hits += tv_path_builder_guess(&builder, builder.hashes[i]) == i;
        assert_true(hits > 500);
        tv_path_builder_release(&builder);
    }
}

/* Figures that tell a path from all others, in ticks of 1 us. */
static void cost(struct tv_path_builder *builder, uint32_t node, uint64_t calls)
{
    builder->nodes[node].calls += calls;
    builder->nodes[node].wall += 10 * (int64_t)calls;
    builder->nodes[node].cpu += 3 * (int64_t)calls;
}

static void assert_cost(const struct tv_path_builder *builder, uint32_t node, uint64_t calls,
                        int64_t tick)
{
    assert_int_equal(builder->nodes[node].calls, calls);
    assert_int_equal(builder->nodes[node].wall, 10 * (int64_t)calls * tick);
    assert_int_equal(builder->nodes[node].cpu, 3 * (int64_t)calls * tick);
}

/* Stand-ins 0 and 2 are the root, 1 is a path of two calls: the same calls below 0 and 2 are one
 * path, and what is below 1 is one with a path from the root. */
static void attaches_to_prefixes(void **state)
{
    struct tv_path_builder builder;
    uint32_t prefix_nodes[3] = {0}, below[3];
    struct tv_prefix_tree prefixes = {.first = FIRST, .node = prefix_nodes};
    (void)state;
    tv_path_builder_init(&prefixes.paths);
    prefix_nodes[1] = tv_path_builder_child(
        &prefixes.paths, tv_path_builder_child(&prefixes.paths, TV_ROOT_PATH, 7), 8);
    tv_path_builder_init(&builder);
    for (uint32_t i = 0; i < 3; i++) {
        below[i] = tv_path_builder_child(&builder, TV_ROOT_PATH, FIRST + i);
        cost(&builder, below[i], 1 + i);
        cost(&builder, tv_path_builder_child(&builder, below[i], 9), i == 1 ? 1000 : 10 + i);
        cost(&builder, tv_path_builder_child(&builder, below[i], 10 + i), 100 + i);
    }
    uint32_t seven = tv_path_builder_child(&builder, below[2], 7);
    uint32_t eight = tv_path_builder_child(&builder, seven, 8);
    cost(&builder, tv_path_builder_child(&builder, eight, 9), 2000);
    tv_path_builder_attach(&builder, &prefixes, 1000);

    assert_int_equal(builder.count, 8); /* root, 7, 8, 9 twice, 10, 11, 12 */
    assert_cost(&builder, TV_ROOT_PATH, 1 + 3, 1000);
    seven = tv_path_builder_child(&builder, TV_ROOT_PATH, 7);
    eight = tv_path_builder_child(&builder, seven, 8);
    assert_cost(&builder, seven, 0, 1000);
    assert_cost(&builder, eight, 2, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, eight, 9), 1000 + 2000, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, eight, 11), 101, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, TV_ROOT_PATH, 9), 10 + 12, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, TV_ROOT_PATH, 10), 100, 1000);
    assert_cost(&builder, tv_path_builder_child(&builder, TV_ROOT_PATH, 12), 102, 1000);
    assert_int_equal(builder.count, 8);
    for (uint32_t i = 1; i < builder.count; i++)
        assert_true(builder.nodes[i].parent < i);
    tv_path_builder_release(&prefixes.paths);
    tv_path_builder_release(&builder);
}

/* More prefixes than there are paths on it, and than a new tree has room for. */
static void moves_nodes_after_a_large_prefix_tree(void **state)
{
    enum { DEPTH = 3000 };
    struct tv_path_builder builder;
    uint32_t prefix_nodes[1] = {TV_ROOT_PATH};
    struct tv_prefix_tree prefixes = {.first = FIRST, .node = prefix_nodes};
    (void)state;
    tv_path_builder_init(&prefixes.paths);
    for (uint32_t i = 0; i < DEPTH; i++)
        prefix_nodes[0] = tv_path_builder_child(&prefixes.paths, prefix_nodes[0], i);
    tv_path_builder_init(&builder);
    uint32_t node = tv_path_builder_child(&builder, TV_ROOT_PATH, FIRST);
    for (uint32_t i = 1; i <= 400; i++)
        cost(&builder, node = tv_path_builder_child(&builder, node, i), i);
    tv_path_builder_attach(&builder, &prefixes, 1);
    assert_int_equal(builder.count, 1 + DEPTH + 400);
    node = TV_ROOT_PATH;
    for (uint32_t i = 0; i < DEPTH; i++)
        assert_cost(&builder, node = tv_path_builder_child(&builder, node, i), 0, 1);
    for (uint32_t i = 1; i <= 400; i++)
        assert_cost(&builder, node = tv_path_builder_child(&builder, node, i), i, 1);
    assert_int_equal(builder.count, 1 + DEPTH + 400);
    tv_path_builder_release(&prefixes.paths);
    tv_path_builder_release(&builder);
}

static void merges_trees(void **state)
{
    struct tv_path_builder one, other;
    (void)state;
    tv_path_builder_init(&one);
    tv_path_builder_init(&other);
    for (uint32_t i = 1; i < NODES; i++) {
        cost(&one, tv_path_builder_child(&one, parent_of(i), frame_of(i)), i);
        if (i % 3 != 1) /* the others are new, and so is all below them */
            cost(&other, tv_path_builder_child(&other, TV_ROOT_PATH, i), 2 * i);
    }
    cost(&other, tv_path_builder_child(&other, tv_path_builder_child(&other, TV_ROOT_PATH, 2), 1),
         5);
    uint32_t common = tv_path_builder_child(&one, tv_path_builder_child(&one, TV_ROOT_PATH, 2), 1);
    tv_path_builder_merge(&one, &other);
    assert_int_equal(one.count, NODES + other.count - 1 - 2); /* "2" and "2 1" are in both */
    assert_cost(&one, tv_path_builder_child(&one, TV_ROOT_PATH, 2), 2 + 2 * 2, 1);
    assert_cost(&one, common, common + 5, 1);
    for (uint32_t i = 3; i < NODES; i++) {
        assert_int_equal(tv_path_builder_child(&one, parent_of(i), frame_of(i)), i);
        if (i % 3 != 1)
            assert_cost(&one, tv_path_builder_child(&one, TV_ROOT_PATH, i), 2 * i, 1);
    }
    tv_path_builder_release(&one);
    tv_path_builder_release(&other);
}

/* Guesses of a batch's paths: right where the events are ordinary, harmless where they are not. */

/* More than fit the first places of a tree. */
#define CHILDREN 40000u

struct walked {
    struct tv_trace_info head;
    struct tv_walk walk;
    struct tv_path_builder builder;
    struct tv_path_predictor predictor;
    struct tv_diagnostics diagnostics;
};

static uint32_t step(void *context, const struct tv_step *step)
{
    return tv_path_builder_child(&((struct walked *)context)->builder, step->caller->tag,
                                 step->frame);
}

static void first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    (void)context, (void)thread, (void)t;
}

static void below(void *context, uint32_t thread, struct tv_walk_thread *t,
                  struct tv_pending_exit *below)
{
    (void)context, (void)thread, (void)t, (void)below;
}

static void wait(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall,
                 int64_t cpu)
{
    (void)context, (void)thread, (void)t, (void)wall, (void)cpu;
}

static void walk(struct walked *walked, const struct tv_event *events, size_t count)
{
    static const struct tv_walk_calls calls = {step, first, below, wait};
    struct tv_batch batch = {.events = events, .count = count};
    tv_walk_batch(&walked->walk, &batch, &calls, walked);
}

static size_t look(struct walked *walked, const struct tv_event *events, size_t count)
{
    struct tv_batch batch = {.events = events, .count = count};
    return tv_path_predictor_run(&walked->predictor, &walked->walk, &walked->builder, &batch);
}

/* A thread of one root call, frame 0, with leaves of the frames 1 to CHILDREN below it. */
static void begin(struct walked *walked, uint32_t children)
{
    static struct tv_thread threads[2];
    static struct tv_input input = {.clocks = TV_CLOCK_WALL, .tick_ns = 1};
    *walked = (struct walked){.head = {.threads = threads, .thread_count = 2, .inputs = &input}};
    tv_walk_init(&walked->walk, &walked->head, 0, true, &walked->diagnostics);
    tv_path_builder_init(&walked->builder);
    tv_path_predictor_init(&walked->predictor, 2, NULL, 0);
    struct tv_event root = {.action = TV_ENTER, .frame = 0};
    walk(walked, &root, 1);
    for (uint32_t i = 1; i <= children; i++) {
        struct tv_event leaf[] = {{.action = TV_ENTER, .frame = i & TV_ANY_FRAME},
                                  {.action = TV_EXIT, .frame = i & TV_ANY_FRAME}};
        walk(walked, leaf, 2);
    }
}

static void end(struct walked *walked)
{
    tv_path_predictor_release(&walked->predictor);
    tv_path_builder_release(&walked->builder);
    tv_walk_release(&walked->walk);
    tv_diagnostics_clear(&walked->diagnostics);
}

static void guesses_known_paths(void **state)
{
    enum { CALLS = 500 };
    struct walked walked;
    struct tv_event events[2 * CALLS];
    uint32_t root, hits = 0;
    (void)state;
    begin(&walked, CHILDREN);
    root = tv_path_builder_child(&walked.builder, TV_ROOT_PATH, 0);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t frame = 1 + i * 79 % CHILDREN;
        events[2 * i] = (struct tv_event){.action = TV_ENTER, .frame = frame & TV_ANY_FRAME};
        events[2 * i + 1] = (struct tv_event){.action = TV_EXIT, .frame = frame & TV_ANY_FRAME};
    }
    assert_int_equal(look(&walked, events, 2 * CALLS), CALLS);
    for (uint32_t i = 0; i < CALLS; i++) {
        uint32_t child = tv_path_builder_child(&walked.builder, root, events[2 * i].frame);
        assert_true(walked.predictor.nodes[i] == 0 || walked.predictor.nodes[i] == child);
        hits += walked.predictor.nodes[i] == child;
    }
    assert_true(hits > CALLS / 4 * 3); /* others stand after the places that were looked at */
    end(&walked);
}

static void does_not_guess_new_paths(void **state)
{
    struct walked walked;
    (void)state;
    begin(&walked, CHILDREN);
    struct tv_event events[] = {{.action = TV_ENTER, .frame = CHILDREN + 1},
                                {.action = TV_ENTER, .frame = 1}};
    assert_int_equal(look(&walked, events, 2), 2);
    assert_int_equal(walked.predictor.nodes[0], 0);
    assert_int_equal(walked.predictor.nodes[1], 0);
    end(&walked);
}

/* Exits with nothing open; then exits that are ignored, which the guess takes for its own. */
static void puts_wrong_guesses_right(void **state)
{
    struct walked walked;
    struct tv_event exits[TV_BATCH_EVENTS], leaf = {.action = TV_ENTER, .frame = 2};
    (void)state;
    begin(&walked, CHILDREN);
    for (size_t i = 0; i < TV_BATCH_EVENTS; i++)
        exits[i] = (struct tv_event){.thread = 1, .action = TV_EXIT, .frame = 3};
    assert_int_equal(look(&walked, exits, TV_BATCH_EVENTS), 0);
    walk(&walked, exits, TV_BATCH_EVENTS);
    for (size_t i = 0; i < TV_BATCH_EVENTS; i++)
        exits[i] = (struct tv_event){.action = TV_EXIT, .frame = CHILDREN + 5};
    assert_int_equal(look(&walked, exits, TV_BATCH_EVENTS), 0);
    assert_int_equal(walked.predictor.threads[0].depth, 0);
    walk(&walked, exits, TV_BATCH_EVENTS);
    assert_int_equal(look(&walked, &leaf, 1), 1);
    assert_int_equal(walked.predictor.threads[0].depth, 2);
    assert_int_equal(walked.predictor.threads[0].hashes[1], tv_path_hash(TV_ROOT_HASH, 0));
    end(&walked);
}

/* As deep as entries go in a batch, from a stack that has no room for them. */
static void has_room_for_deep_stacks(void **state)
{
    struct walked walked;
    struct tv_event entries[TV_BATCH_EVENTS];
    (void)state;
    begin(&walked, CHILDREN);
    for (size_t i = 0; i < TV_BATCH_EVENTS; i++)
        entries[i] = (struct tv_event){.action = TV_ENTER, .frame = 7};
    for (unsigned i = 1; i <= 3; i++) {
        assert_int_equal(look(&walked, entries, TV_BATCH_EVENTS), TV_BATCH_EVENTS);
        assert_int_equal(walked.predictor.threads[0].depth, 1 + i * TV_BATCH_EVENTS);
        walk(&walked, entries, TV_BATCH_EVENTS);
    }
    end(&walked);
}

/* A thread with few events in every batch: its state must outlive the batch. */
static void keeps_little_of_short_stretches(void **state)
{
    struct walked walked;
    struct tv_event events[8];
    (void)state;
    begin(&walked, CHILDREN);
    for (size_t i = 0; i < TV_COUNT(events); i++)
        events[i] = (struct tv_event){.thread = i % 2, .action = TV_ENTER, .frame = 7};
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(look(&walked, events, TV_COUNT(events)), TV_COUNT(events));
        walk(&walked, events, TV_COUNT(events));
        for (uint32_t j = 0; j < 2; j++) {
            assert_int_equal(walked.predictor.threads[j].depth, 1 - j + 4 * i);
            assert_true(walked.predictor.threads[j].capacity < TV_BATCH_EVENTS / 16);
        }
    }
    end(&walked);
}

/* A thread that does not count: the guesses after its entries are of the next one's. */
static void passes_over_skipped_threads(void **state)
{
    struct walked walked;
    bool skip[2] = {false, true};
    struct tv_event events[] = {{.action = TV_ENTER, .frame = 3},
                                {.thread = 1, .action = TV_ENTER, .frame = 4},
                                {.action = TV_ENTER, .frame = 5},
                                {.thread = 1, .action = TV_EXIT, .frame = 4}};
    (void)state;
    begin(&walked, 8);
    walked.walk.skip = skip;
    assert_int_equal(look(&walked, events, TV_COUNT(events)), 2);
    assert_int_equal(
        walked.predictor.nodes[0],
        tv_path_builder_child(&walked.builder, walked.walk.threads[0].stack[0].tag, 3));
    assert_int_equal(walked.predictor.nodes[1], 0);
    assert_int_equal(walked.predictor.nodes[2], 0);
    end(&walked);
}

/* Frames that stand for one are one path. */
static void guesses_the_replacement_of_a_frame(void **state)
{
    struct walked walked;
    uint32_t fold[] = {0, 1, 2, 2};
    struct tv_event event = {.action = TV_ENTER, .frame = 3};
    (void)state;
    begin(&walked, 8);
    walked.predictor.fold = fold;
    walked.predictor.fold_count = TV_COUNT(fold);
    assert_int_equal(look(&walked, &event, 1), 1);
    assert_int_equal(
        walked.predictor.nodes[0],
        tv_path_builder_child(&walked.builder, walked.walk.threads[0].stack[0].tag, 2));
    end(&walked);
}

UNIT_TESTS(path_builder, cmocka_unit_test(keeps_each_path_once),
           cmocka_unit_test(keeps_figures_as_it_grows), cmocka_unit_test(guesses_most_nodes),
           cmocka_unit_test(spreads_recursion), cmocka_unit_test(attaches_to_prefixes),
           cmocka_unit_test(moves_nodes_after_a_large_prefix_tree), cmocka_unit_test(merges_trees),
           cmocka_unit_test(guesses_known_paths), cmocka_unit_test(does_not_guess_new_paths),
           cmocka_unit_test(puts_wrong_guesses_right), cmocka_unit_test(has_room_for_deep_stacks),
           cmocka_unit_test(keeps_little_of_short_stretches),
           cmocka_unit_test(passes_over_skipped_threads),
           cmocka_unit_test(guesses_the_replacement_of_a_frame));

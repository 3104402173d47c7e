/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses of a batch's paths: right where the events are ordinary, harmless where they are not. */
#include "unit.h"

#include "analysis/calltree/path_builder.h"

/* More than fit the first places of a tree. */
#define CHILDREN 40000u

struct walked {
    struct tv_head head;
    struct tv_walk walk;
    struct tv_path_builder builder;
    struct tv_path_predictor predictor;
    struct tv_diagnostics diagnostics;
};

static uint32_t step(void *context, const struct tv_step *step)
{
    return tv_path_builder_child(&((struct walked *)context)->builder, step->caller->tag, step->frame);
}

static void first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    (void)context, (void)thread, (void)t;
}

static void below(void *context, uint32_t thread, struct tv_walk_thread *t, struct tv_below *below)
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
    assert_true(hits > CALLS / 4 * 3); /* others stand behind the places that were looked at */
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

/* Of a thread of few events, in every batch: what it keeps is not a batch's. */
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

/* A thread that does not count: the guesses behind its entries are of the next one's. */
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
    assert_int_equal(walked.predictor.nodes[0],
                     tv_path_builder_child(&walked.builder, walked.walk.threads[0].stack[0].tag, 3));
    assert_int_equal(walked.predictor.nodes[1], 0);
    assert_int_equal(walked.predictor.nodes[2], 0);
    end(&walked);
}

/* Frames that stand for one are one path. */
static void guesses_what_stands_for_a_frame(void **state)
{
    struct walked walked;
    uint32_t fold[] = {0, 1, 2, 2};
    struct tv_event event = {.action = TV_ENTER, .frame = 3};
    (void)state;
    begin(&walked, 8);
    walked.predictor.fold = fold;
    walked.predictor.fold_count = TV_COUNT(fold);
    assert_int_equal(look(&walked, &event, 1), 1);
    assert_int_equal(walked.predictor.nodes[0],
                     tv_path_builder_child(&walked.builder, walked.walk.threads[0].stack[0].tag, 2));
    end(&walked);
}

UNIT_TESTS(ahead, cmocka_unit_test(guesses_known_paths), cmocka_unit_test(does_not_guess_new_paths),
           cmocka_unit_test(puts_wrong_guesses_right), cmocka_unit_test(has_room_for_deep_stacks),
           cmocka_unit_test(keeps_little_of_short_stretches),
           cmocka_unit_test(passes_over_skipped_threads),
           cmocka_unit_test(guesses_what_stands_for_a_frame));

/* SPDX-License-Identifier: Apache-2.0 */
/* The sinks that need no model, the model, and sums found the plain way: all three must agree, in
 * any split. */
#include "unit.h"

#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/profile.h"
#include "analysis/calltree/tree_shape.h"
#include "base/memory.h"
#include "feed.h"
#include "model/builder/builder.h"

#define BOTH (TV_CLOCK_WALL | TV_CLOCK_CPU)

static bool within_same_method(const struct feed_call *calls, uint32_t call)
{
    for (uint32_t at = calls[call].parent; at != TV_NONE; at = calls[at].parent)
        if (calls[at].frame == calls[call].frame)
            return true;
    return false;
}

/* costs[frame], nanoseconds. */
static struct tv_method_cost *plain_profile(const struct feed *feed)
{
    struct tv_method_cost *costs = tv_alloc(feed->frames, sizeof *costs);
    for (uint32_t thread = 0; thread < feed->threads; thread++) {
        uint32_t count;
        struct feed_call *calls = feed_calls(feed, thread, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct tv_method_cost *cost = &costs[calls[i].frame];
            int64_t wall =
                feed->clocks & TV_CLOCK_WALL ? (calls[i].end - calls[i].start) * 1000 : 0;
            int64_t cpu = (calls[i].cpu_end - calls[i].cpu_start) * 1000;
            bool recursive = within_same_method(calls, i);
            cost->calls += !recursive;
            cost->recursive_calls += recursive;
            cost->incl_wall += recursive ? 0 : wall;
            cost->incl_cpu += recursive ? 0 : cpu;
            cost->excl_wall += wall;
            cost->excl_cpu += cpu;
            if (calls[i].parent != TV_NONE) {
                costs[calls[calls[i].parent].frame].excl_wall -= wall;
                costs[calls[calls[i].parent].frame].excl_cpu -= cpu;
            }
        }
        tv_free(calls);
    }
    return costs;
}

static void assert_profile(const struct tv_profile *profile, const struct tv_method_cost *want,
                           uint32_t frames)
{
    uint32_t at = 0;
    for (uint32_t frame = 0; frame < frames; frame++) {
        if (!want[frame].calls && !want[frame].recursive_calls)
            continue;
        assert_in_range(at, 0, profile->count - 1);
        const struct tv_method_cost *got = &profile->methods[at++];
        assert_int_equal(got->frame, frame);
        assert_int_equal(got->calls, want[frame].calls);
        assert_int_equal(got->recursive_calls, want[frame].recursive_calls);
        assert_int_equal(got->incl_wall, want[frame].incl_wall);
        assert_int_equal(got->excl_wall, want[frame].excl_wall);
        assert_int_equal(got->incl_cpu, want[frame].incl_cpu);
        assert_int_equal(got->excl_cpu, want[frame].excl_cpu);
    }
    assert_int_equal(at, profile->count);
}

static struct tv_trace *build(const struct feed *feed)
{
    struct tv_builder *builder = tv_builder_new(feed_head(feed));
    feed_to(feed, tv_builder_trace_info(builder), tv_builder_sink(builder), NULL, 1);
    return tv_builder_finish(builder);
}

static void check_profile_sink(const struct feed *feed, const size_t *starts, unsigned parts,
                               const struct tv_method_cost *want, const struct tv_profile *model)
{
    struct tv_trace_info *head = feed_head(feed);
    struct tv_profile_sink *sink = tv_profile_sink_new(NULL, NULL);
    assert_int_not_equal(feed_to(feed, head, tv_profile_sink_sink(sink), starts, parts), 0);
    struct tv_profile *profile = tv_profile_sink_finish(sink, head);
    assert_profile(profile, want, feed->frames);
    assert_int_equal(profile->total_wall, model->total_wall);
    assert_int_equal(profile->total_cpu, model->total_cpu);
    assert_int_equal(profile->waits.calls, model->waits.calls);
    assert_int_equal(profile->waits.wall, model->waits.wall);
    tv_profile_free(profile);
    tv_trace_info_free(head);
}

/* Order-free fingerprint of a tree: each path by its frames, with its figures. */
static uint64_t fingerprint(const struct tv_call_tree *tree)
{
    uint64_t sum = 0;
    uint64_t *hash = tv_alloc(tree->count, sizeof *hash);
    for (uint32_t i = 1; i < tree->count; i++) {
        hash[i] = (hash[tree->parent[i]] * 31 + tree->frame[i] + 7) * UINT64_C(0x9E3779B97F4A7C15);
        if (tree->cost[i].calls)
            sum += hash[i] * (tree->cost[i].calls + 3 * (uint64_t)tree->cost[i].wall +
                              5 * (uint64_t)tree->cost[i].cpu + 7 * (uint64_t)tree->self_wall[i] +
                              11 * (uint64_t)tree->self_cpu[i] + 1);
    }
    tv_free(hash);
    return sum;
}

/* Return the number of nodes. */
static uint32_t check_tree_in(const struct feed *feed, const size_t *starts, unsigned parts,
                              const struct tv_call_tree *model, struct tv_tree_memory *memory)
{
    struct tv_trace_info *head = feed_head(feed);
    struct tv_tree_sink *sink = tv_tree_sink_new(&(struct tv_tree_sink_options){.memory = memory});
    assert_int_not_equal(feed_to(feed, head, tv_tree_sink_sink(sink), starts, parts), 0);
    struct tv_call_tree *tree = tv_tree_sink_finish(sink, head);
    assert_int_equal(fingerprint(tree), fingerprint(model));
    assert_int_equal(tree->waits.calls, model->waits.calls);
    assert_int_equal(tree->waits.wall, model->waits.wall);
    uint32_t count = tree->count;
    tv_call_tree_free(tree);
    tv_trace_info_free(head);
    return count;
}

/* A sink counts the same with an empty tree and with those of earlier files, whose paths are not in
 * the result. */
static void check_tree_sink(const struct feed *feed, const size_t *starts, unsigned parts,
                            const struct tv_call_tree *model)
{
    const size_t half[2] = {0, feed->count / 2};
    struct tv_tree_memory *memory = tv_tree_memory_new();
    struct tv_trace_info *head = feed_head(feed);
    struct tv_tree_sink *other =
        tv_tree_sink_new(&(struct tv_tree_sink_options){.split_threads = true, .memory = memory});
    feed_to(feed, head, tv_tree_sink_sink(other), half, 2);
    tv_call_tree_free(tv_tree_sink_finish(other, head));
    tv_trace_info_free(head);
    uint32_t count = check_tree_in(feed, starts, parts, model, NULL);
    assert_int_equal(check_tree_in(feed, starts, parts, model, memory), count);
    assert_int_equal(check_tree_in(feed, starts, parts, model, memory), count);
    tv_tree_memory_free(memory);
}

static void check(const struct feed_style *style, uint32_t seeds)
{
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct feed *feed = feed_random(seed, style);
        feed->sampled = seed % 4 == 0;
        struct tv_method_cost *want = plain_profile(feed);
        struct tv_trace *trace = build(feed);
        struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 1);
        struct tv_profile *model = tv_profile_of_tree(tree);
        assert_profile(model, want, feed->frames);
        for (unsigned parts = 1; parts <= 13; parts += 1 + seed % 3) {
            size_t starts[13] = {0};
            for (unsigned i = 1; i < parts; i++)
                starts[i] = feed->count * i / parts + (seed * 7 + i) % 5;
            check_profile_sink(feed, starts, parts, want, model);
            check_tree_sink(feed, starts, parts, tree);
        }
        tv_profile_free(model);
        tv_call_tree_free(tree);
        tv_trace_free(trace);
        tv_free(want);
        feed_free(feed);
    }
}

static void balanced_calls(void **state)
{
    (void)state;
    check(&(struct feed_style){600, 3, 5, 0, 0, 40, BOTH}, 30);
}

static void exits_without_entries(void **state)
{
    (void)state;
    check(&(struct feed_style){400, 3, 4, 60, 0, 300, BOTH}, 60);
}

static void mismatched_exits(void **state)
{
    (void)state;
    check(&(struct feed_style){400, 2, 4, 20, 60, 300, BOTH}, 40);
}

/* Calls that all began before the trace: each level is one exit's, and lasts to it.  Were the path
 * of each looked for from the root, this would take minutes. */
static void only_exits(void **state)
{
    enum { EXITS = 60000 };
    struct feed feed = {.count = EXITS,
                        .threads = 1,
                        .frames = 4,
                        .tick_ns = 1000,
                        .clocks = BOTH,
                        .elapsed = EXITS};
    size_t starts[3] = {0, EXITS / 3, EXITS / 2};
    (void)state;
    feed.events = tv_alloc(EXITS, sizeof *feed.events);
    for (uint32_t i = 0; i < EXITS; i++)
        feed.events[i] = (struct tv_event){i, i, 0, TV_EXIT, i & 3};
    for (unsigned parts = 1; parts <= 3; parts++) {
        struct tv_trace_info *head = feed_head(&feed);
        struct tv_tree_sink *sink = tv_tree_sink_new(&(struct tv_tree_sink_options){0});
        assert_int_equal(feed_to(&feed, head, tv_tree_sink_sink(sink), starts, parts), parts);
        struct tv_call_tree *tree = tv_tree_sink_finish(sink, head);
        assert_int_equal(tree->count, 1 + EXITS);
        for (uint32_t level = 1; level <= EXITS; level++) {
            uint32_t exit = EXITS - level;
            assert_int_equal(tree->shape->parent[level], level - 1);
            assert_int_equal(tree->shape->frame[level], exit % 4);
            assert_int_equal(tree->cost[level].calls, 1);
            assert_int_equal(tree->cost[level].wall, (int64_t)exit * 1000);
        }
        tv_call_tree_free(tree);
        tv_trace_info_free(head);
    }
    tv_free(feed.events);
}

/* Large enough that paths are guessed before they are walked (path_builder.h). */
static void trees_of_many_paths(void **state)
{
    (void)state;
    for (uint32_t mismatches = 0; mismatches <= 20; mismatches += 20) {
        struct feed *feed =
            feed_random(7, &(struct feed_style){150000, 3, 20, 10, mismatches, 40, BOTH});
        struct tv_trace *trace = build(feed);
        struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 1);
        size_t starts[2] = {0, feed->count / 3};
        assert_true(tree->count > 40000);
        check_tree_sink(feed, starts, 1, tree);
        check_tree_sink(feed, starts, 2, tree);
        tv_call_tree_free(tree);
        tv_trace_free(trace);
        feed_free(feed);
    }
}

static void one_clock_alone(void **state)
{
    (void)state;
    check(&(struct feed_style){300, 2, 4, 20, 0, 300, TV_CLOCK_CPU}, 12);
    check(&(struct feed_style){300, 2, 4, 20, 0, 300, TV_CLOCK_WALL}, 12);
}

static void exits_without_a_method(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct feed *feed = feed_random(seed, &(struct feed_style){300, 2, 4, 20, 0, 300, BOTH});
        struct feed *named = feed_random(seed, &(struct feed_style){300, 2, 4, 20, 0, 300, BOTH});
        struct tv_trace *trace = build(named);
        struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 1);
        for (size_t i = 0; i < feed->count; i++)
            if (feed->events[i].action != TV_ENTER)
                feed->events[i].frame = TV_ANY_FRAME;
        struct tv_trace_info *head = feed_head(feed);
        struct tv_profile_sink *sink = tv_profile_sink_new(NULL, NULL);
        size_t starts[2] = {0, feed->count / 2};
        assert_int_not_equal(feed_to(feed, head, tv_profile_sink_sink(sink), starts, 2), 0);
        struct tv_walk_facts facts;
        tv_profile_sink_facts(sink, &facts);
        assert_int_equal(facts.unmatched_exits, trace->unmatched_exits);
        assert_int_equal(facts.calls, trace->recorded_calls);
        assert_int_equal(facts.max_depth, trace->max_depth);
        tv_profile_free(tv_profile_sink_finish(sink, head));
        tv_trace_info_free(head);
        tv_call_tree_free(tree);
        tv_trace_free(trace);
        feed_free(feed);
        feed_free(named);
    }
}

/* Each thread calls A, and A calls B for the first half of its time.  All threads together take
 * longer than a number holds: 20 * 2^60 ns. */
static struct feed long_feed(int64_t tick_ns)
{
    enum { THREADS = 20 };
    int64_t whole = ((int64_t)1 << 60) / tick_ns;
    struct feed feed = {
        tv_alloc(4 * THREADS, sizeof *feed.events), 0, THREADS, 2, tick_ns, BOTH, whole, false};
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        const struct tv_event events[4] = {{0, 0, thread, TV_ENTER, 0},
                                           {0, 0, thread, TV_ENTER, 1},
                                           {whole / 2, whole / 2, thread, TV_EXIT, 1},
                                           {whole, whole, thread, TV_EXIT, 0}};
        memcpy(feed.events + feed.count, events, sizeof events);
        feed.count += TV_COUNT(events);
    }
    return feed;
}

static void assert_saturated(const struct tv_trace_info *head, const struct tv_profile *profile,
                             const struct tv_call_tree *tree)
{
    assert_int_equal(head->diagnostics.kinds[TV_DIAGNOSTIC_TIME_SATURATED].count, 1);
    for (uint32_t i = 0; profile && i < 2; i++) {
        assert_true(profile->methods[i].incl_wall == INT64_MAX);
        assert_true(profile->methods[i].incl_cpu == INT64_MAX);
        /* A self time after a sum that did not fit is a guess, but never negative. */
        assert_true(profile->methods[i].excl_wall >= 0 && profile->methods[i].excl_cpu >= 0);
    }
    if (profile)
        assert_true(profile->total_wall == INT64_MAX);
    for (uint32_t path = 1; tree && path < tree->count; path++)
        assert_true(tree->cost[path].wall == INT64_MAX && tree->cost[path].cpu == INT64_MAX);
}

static void check_long(const struct feed *feed, unsigned parts)
{
    const size_t starts[2] = {0, feed->count / 2 + 1};
    struct tv_trace_info *head = feed_head(feed);
    struct tv_profile_sink *profile_sink = tv_profile_sink_new(NULL, NULL);
    feed_to(feed, head, tv_profile_sink_sink(profile_sink), starts, parts);
    struct tv_profile *profile = tv_profile_sink_finish(profile_sink, head);
    assert_saturated(head, profile, NULL);
    assert_true(profile->methods[0].excl_wall == INT64_MAX);
    assert_true(profile->methods[1].excl_cpu == INT64_MAX);
    tv_profile_free(profile);
    tv_trace_info_free(head);
    head = feed_head(feed);
    struct tv_tree_sink *tree_sink = tv_tree_sink_new(&(struct tv_tree_sink_options){0});
    feed_to(feed, head, tv_tree_sink_sink(tree_sink), starts, parts);
    struct tv_call_tree *tree = tv_tree_sink_finish(tree_sink, head);
    assert_saturated(head, NULL, tree);
    assert_true(tree->self_wall[1] == INT64_MAX && tree->self_cpu[2] == INT64_MAX);
    tv_call_tree_free(tree);
    tv_trace_info_free(head);
}

/* Sums stop at the largest number, and it is said, once. */
static void times_beyond_64_bits(void **state)
{
    (void)state;
    for (int64_t tick = 1; tick <= 1000; tick *= 1000) {
        struct feed feed = long_feed(tick);
        check_long(&feed, 1);
        check_long(&feed, 2);
        struct tv_trace *trace = build(&feed);
        struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 1);
        struct tv_profile *profile = tv_profile_of_tree(tree);
        assert_saturated(trace->head, profile, tree);
        assert_true(tree->raised);
        tv_profile_free(profile);
        tv_call_tree_free(tree);
        tv_trace_free(trace);
        tv_free(feed.events);
    }
}

UNIT_TESTS(streaming, cmocka_unit_test(balanced_calls), cmocka_unit_test(exits_without_entries),
           cmocka_unit_test(mismatched_exits), cmocka_unit_test(trees_of_many_paths),
           cmocka_unit_test(only_exits), cmocka_unit_test(one_clock_alone),
           cmocka_unit_test(exits_without_a_method), cmocka_unit_test(times_beyond_64_bits));

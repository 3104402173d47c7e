/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "analysis/calltree/call_tree.h"
#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/profile.h"
#include "analysis/calltree/tree_views.h"
#include "analysis/flame/flame.h"
#include "analysis/reference.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "fixture.h"

/*
 * Trees without the cost of recording: figures by hand, where a letter of a drawing is 1 ms and a
 * reading of the clock takes 0.1 ms.
 */

#define READING 100000 /* ns */
#define TENTHS 100000

static struct tv_call_tree *compensated(const struct tv_trace *trace, tv_ns cost)
{
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, 1);
    tv_call_tree_compensate(tree, cost);
    return tree;
}

static const struct tv_method_cost *method(const struct tv_profile *profile, char letter)
{
    for (uint32_t i = 0; i < profile->count; i++)
        if (profile->methods[i].frame == FIXTURE_FRAME(letter))
            return &profile->methods[i];
    fail();
    return NULL;
}

#define assert_times(m, incl, excl)                                                                \
    do {                                                                                           \
        const struct tv_method_cost *m_ = (m);                                                     \
        assert_int_equal(m_->incl_wall, (incl)*TENTHS);                                            \
        assert_int_equal(m_->excl_wall, (excl)*TENTHS);                                            \
    } while (0)

/* A runs 6 ms with B twice, 1 ms each, and C in the second B's place below A: A's own time has one
 * reading of its own and one of each of the three calls inside. */
static void a_call_costs_one_reading_inside_and_one_outside(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAAAA D", " B B C  "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_call_tree *tree = compensated(f.trace, READING);
    struct tv_profile *p = tv_profile_of_tree(tree);
    assert_times(method(p, 'B'), 20 - 2, 20 - 2);
    assert_times(method(p, 'C'), 10 - 1, 10 - 1);
    assert_times(method(p, 'D'), 10 - 1, 10 - 1);
    assert_times(method(p, 'A'), 60 - 1 - 3 * 2, 30 - 1 - 3);
    assert_int_equal(p->total_wall, (60 - 7 + 10 - 1) * TENTHS);
    assert_int_equal(p->compensation.cost, READING);
    assert_int_equal(p->compensation.wall, 8 * TENTHS);
    tv_profile_free(p);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* A in A: the outermost's inclusive time loses the readings of all within it. */
static void recursion_subtracts_inner_costs(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAAAA", " aaaa ", "  AA  "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_call_tree *tree = compensated(f.trace, READING);
    struct tv_profile *p = tv_profile_of_tree(tree);
    assert_int_equal(method(p, 'A')->calls, 1);
    assert_int_equal(method(p, 'A')->recursive_calls, 2);
    assert_times(method(p, 'A'), 60 - 5, 60 - 5);
    tv_profile_free(p);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* Readings of 3 ms: B has 2 ms and loses these; A has 3 ms of its own, and loses no more. */
static void compensated_times_stay_above_zero(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAAA CCCCCCCC", " BB           "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_call_tree *tree = compensated(f.trace, 30 * TENTHS);
    struct tv_profile *p = tv_profile_of_tree(tree);
    assert_times(method(p, 'B'), 0, 0);
    assert_times(method(p, 'A'), 0, 0);
    assert_times(method(p, 'C'), 80 - 30, 80 - 30);
    assert_int_equal(p->total_wall, 50 * TENTHS);
    assert_int_equal(p->compensation.wall, (20 + 30 + 30) * TENTHS);
    tv_profile_free(p);
    tv_call_tree_free(tree);
    fixture_free(&f);
}

/* For any trace, both clocks stay sums, and neither gets longer or negative. */
static void compensated_sums_equal_their_parts(void **state)
{
    (void)state;
    const struct fixture_dice dice = {7,    2, 6, 4,   3000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 0, 1, true};
    struct fixture f = fixture_random(&dice);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_call_tree *before = tv_call_tree_of_trace(f.trace, &all, 1);
    struct tv_call_tree *after = tv_call_tree_copy(before);
    tv_call_tree_compensate(after, 700);
    int64_t wall = 0, cpu = 0, own_wall = 0, own_cpu = 0;
    for (uint32_t i = 1; i < after->count; i++) {
        assert_true(after->cost[i].wall >= after->self_wall[i] && after->self_wall[i] >= 0);
        assert_true(after->cost[i].cpu >= after->self_cpu[i] && after->self_cpu[i] >= 0);
        assert_true(after->self_wall[i] <= before->self_wall[i]);
        assert_int_equal(after->cost[i].calls, before->cost[i].calls);
        wall += before->self_wall[i] - after->self_wall[i];
        cpu += before->self_cpu[i] - after->self_cpu[i];
        if (after->parent[i] == TV_ROOT_PATH) {
            own_wall += before->cost[i].wall - after->cost[i].wall;
            own_cpu += before->cost[i].cpu - after->cost[i].cpu;
        }
    }
    assert_true(wall > 0 && cpu > 0);
    assert_int_equal(wall, after->compensation.wall);
    assert_int_equal(cpu, after->compensation.cpu);
    assert_int_equal(wall, own_wall);
    assert_int_equal(cpu, own_cpu);
    tv_call_tree_free(after);
    tv_call_tree_free(before);
    fixture_free(&f);
}

static void the_cost_must_be_stated_and_the_trace_not_sampled(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AB"}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_trace_info *head = f.trace->head;
    struct tv_error err = {0};
    tv_ns cost;
    assert_int_equal(tv_compensation_find(head, &cost, &err), TV_ERR_USAGE);
    tv_trace_info_add_metadata(head, 0, TV_BYTES("clock-call-overhead-nsec"), TV_BYTES("431"));
    assert_int_equal(tv_compensation_find(head, &cost, &err), TV_OK);
    assert_int_equal(cost, 431);
    head->inputs[0].figures = TV_FIGURES_SAMPLED;
    head->inputs[0].sampled_ns = 1000;
    assert_int_equal(tv_compensation_find(head, &cost, &err), TV_ERR_USAGE);
    fixture_free(&f);
}

static void an_invalid_cost_is_ignored(void **state)
{
    (void)state;
    const char *const texts[] = {"0", "-3", "x", "", "18446744073709551616"};
    const struct fixture_thread thread = {"main", NULL, {"AB"}};
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        struct fixture f = fixture_draw(&thread, 1);
        tv_trace_info_add_metadata(f.trace->head, 0, TV_BYTES("clock-call-overhead-nsec"),
                                   tv_bytes_of(texts[i]));
        assert_int_equal(tv_clock_cost(f.trace->head), 0);
        fixture_free(&f);
    }
}

#define MS 1000000

/* The paths of the samples are those of calls: A, B made by A, C and D. */
static const struct fixture_thread sample_drawing[] = {
    {"main", NULL, {"AAAA C", " BB   "}},
    {"pool", NULL, {"  DD  "}},
};

static uint32_t path_of(const struct tv_trace *trace, uint32_t parent, char letter)
{
    for (uint32_t i = 1; i < trace->paths.count; i++)
        if (trace->paths.nodes[i].parent == parent &&
            trace->paths.nodes[i].frame == FIXTURE_FRAME(letter))
            return i;
    fail();
    return TV_ROOT_PATH;
}

static void add(struct tv_trace *trace, tv_ns time, uint32_t thread, uint32_t path, int64_t weight)
{
    struct tv_sample *sample = tv_table_add(&trace->tables.samples);
    *sample = (struct tv_sample){.time = time,
                                 .weight = weight,
                                 .offset = TV_NO_OFFSET,
                                 .thread = thread,
                                 .cpu = TV_NONE,
                                 .path = path,
                                 .line_path = path,
                                 .type = fixture_value_type(trace, "tick", "count")};
}

struct sampled {
    struct fixture fixture;
    uint32_t a, b, c, d;
};

static int set_up(void **state)
{
    struct sampled *sampled = tv_alloc(1, sizeof *sampled);
    sampled->fixture = fixture_draw(sample_drawing, 2);
    struct tv_trace *trace = sampled->fixture.trace;
    sampled->a = path_of(trace, TV_ROOT_PATH, 'A');
    sampled->b = path_of(trace, sampled->a, 'B');
    sampled->c = path_of(trace, TV_ROOT_PATH, 'C');
    sampled->d = path_of(trace, TV_ROOT_PATH, 'D');
    add(trace, 0, 0, sampled->a, 5);
    add(trace, 1 * MS, 0, sampled->b, 2);
    add(trace, 1 * MS, TV_NONE, TV_ROOT_PATH, 100); /* of no thread and without a stack */
    add(trace, 2 * MS, 1, sampled->d, 7);
    add(trace, 3 * MS, 0, sampled->a, -4);
    add(trace, 6 * MS, 0, sampled->c, 1);
    *state = sampled;
    return 0;
}

static int tear_down(void **state)
{
    struct sampled *sampled = *state;
    fixture_free(&sampled->fixture);
    tv_free(sampled);
    return 0;
}

/* Samples with a node in their stacks, their measure, and that of those that end with it. */
static void assert_node(const struct tv_call_tree *tree, uint32_t node, unsigned calls,
                        int64_t measure, int64_t self)
{
    assert_int_equal(tree->cost[node].calls, calls);
    assert_int_equal(tree->cost[node].wall, measure);
    assert_int_equal(tree->self_wall[node], self);
    assert_int_equal(tree->cost[node].cpu, 0);
}

static struct tv_call_tree *tree_of(const struct sampled *sampled, struct tv_selection selection,
                                    enum tv_sample_measure measure)
{
    struct tv_sample_question question = {measure, TV_NONE, true, false};
    return tv_sample_tree_of_trace(sampled->fixture.trace, &selection, NULL, &question);
}

static void counts_samples(void **state)
{
    const struct sampled *s = *state;
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 3, 3, 2);
    assert_node(tree, s->b, 1, 1, 1);
    assert_node(tree, s->c, 1, 1, 1);
    assert_node(tree, s->d, 1, 1, 1);
    assert_node(tree, TV_ROOT_PATH, 0, 0, 0);
    tv_call_tree_free(tree);
}

static void weighs_samples(void **state)
{
    /* A is in 5, 2 and -4: a weight below 0, of a difference of profiles, counts as it is. */
    const struct sampled *s = *state;
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_WEIGHT);
    assert_node(tree, s->a, 3, 3, 1);
    assert_node(tree, s->b, 1, 2, 2);
    assert_node(tree, s->c, 1, 1, 1);
    assert_node(tree, s->d, 1, 7, 7);
    tv_call_tree_free(tree);
}

static void measures_the_time_until_the_next(void **state)
{
    /* main: A for 1 ms, B for 2, A for 3, C as long as the one before it; pool has one sample */
    const struct sampled *s = *state;
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_TIME);
    assert_node(tree, s->a, 3, 6 * MS, 4 * MS);
    assert_node(tree, s->b, 1, 2 * MS, 2 * MS);
    assert_node(tree, s->c, 1, 3 * MS, 3 * MS);
    assert_node(tree, s->d, 1, 0, 0);
    tv_call_tree_free(tree);
}

static void takes_those_of_a_selection(void **state)
{
    const struct sampled *s = *state;
    const uint32_t second = 1;
    struct tv_selection range = {1 * MS, 3 * MS, NULL, 0};
    struct tv_selection pool = {INT64_MIN, INT64_MAX, &second, 1};
    struct tv_call_tree *tree = tree_of(s, range, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 1, 1, 0);
    assert_node(tree, s->b, 1, 1, 1);
    assert_node(tree, s->d, 1, 1, 1);
    assert_node(tree, s->c, 0, 0, 0);
    tv_call_tree_free(tree);
    tree = tree_of(s, pool, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 0, 0, 0);
    assert_node(tree, s->d, 1, 1, 1);
    tv_call_tree_free(tree);
}

static void weights_do_not_overflow(void **state)
{
    struct sampled *s = *state;
    for (int i = 0; i < 5; i++)
        add(s->fixture.trace, 7 * MS, 0, s->b, INT64_MAX);
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_WEIGHT);
    /* The fixture's own samples have small weights; b's stop where the sum of all does. */
    assert_true(tree->cost[s->a].wall >= tree->cost[s->b].wall);
    assert_true(tree->cost[s->b].wall > INT64_MAX - 1000);
    tv_call_tree_free(tree);
}

/* Two stacks of one packet, each with two values, in any order: two input samples. */
static void counts_samples_of_one_packet_once(void **state)
{
    const struct sampled *s = *state;
    struct tv_trace *trace = s->fixture.trace;
    trace->tables.samples.count = 0;
    uint32_t bytes = fixture_value_type(trace, "space", "bytes");
    for (uint32_t i = 0; i < 4; i++) {
        add(trace, 1 * MS, 0, i % 2 ? s->a : s->c, 1);
        struct tv_sample *sample = &trace->tables.samples.rows[i];
        sample->offset = 50;
        sample->type = i < 2 ? bytes : 0;
    }
    tv_tables_finish(&trace->tables);
    struct tv_call_tree *tree = tree_of(s, TV_SELECT_ALL, TV_SAMPLES_COUNT);
    assert_node(tree, s->a, 1, 1, 1);
    assert_node(tree, s->c, 1, 1, 1);
    tv_call_tree_free(tree);
}

#define sampled_test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* Below a thread's node is what the tree of that thread alone has. */

static uint32_t child_of(const struct tv_call_tree *tree, uint32_t parent, uint32_t frame)
{
    uint32_t child = parent + 1;
    while (child < tree->count && (tree->parent[child] != parent || tree->frame[child] != frame))
        child++;
    assert_true(child < tree->count);
    return child;
}

/* The node below `root` for a node of the other tree. */
static uint32_t same_node(const struct tv_call_tree *tree, uint32_t root,
                          const struct tv_call_tree *other, uint32_t node)
{
    uint32_t chain[64], depth = 0;
    for (; node != TV_ROOT_PATH; node = other->parent[node])
        chain[depth++] = other->frame[node];
    while (depth > 0)
        root = child_of(tree, root, chain[--depth]);
    return root;
}

/* How many nodes have calls. */
static uint32_t assert_thread(const struct tv_trace *trace, const struct tv_call_tree *tree,
                              const struct tv_selection *selection, uint32_t thread,
                              struct tv_path_cost *waits)
{
    uint32_t *tracks = test_calloc(trace->track_count, sizeof *tracks), with_calls = 0;
    bool *wanted = tv_selection_wanted(trace, selection);
    struct tv_selection own = {selection->from, selection->to, tracks, 0};
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].thread == thread && wanted[i])
            tracks[own.track_count++] = i;
    struct tv_call_tree *alone = tv_call_tree_of_trace(trace, &own, 1);
    for (uint32_t i = 1; i < alone->count; i++) {
        if (alone->cost[i].calls == 0)
            continue;
        uint32_t root = child_of(tree, TV_ROOT_PATH, TV_THREAD_FRAME + thread);
        uint32_t node = same_node(tree, root, alone, i);
        assert_memory_equal(&tree->cost[node], &alone->cost[i], sizeof *alone->cost);
        assert_int_equal(tree->self_wall[node], alone->self_wall[i]);
        assert_int_equal(tree->self_cpu[node], alone->self_cpu[i]);
        with_calls++;
    }
    waits->calls += alone->waits.calls;
    waits->wall += alone->waits.wall;
    tv_call_tree_free(alone);
    tv_free(wanted);
    test_free(tracks);
    return with_calls;
}

static void assert_by_thread(const struct tv_trace *trace, const struct tv_selection *selection,
                             unsigned workers)
{
    struct tv_call_tree *tree = tv_call_tree_by_thread(trace, selection, workers);
    struct tv_path_cost waits = {0};
    uint32_t with_calls = 0;
    for (uint32_t thread = 0; thread < trace->head->thread_count; thread++)
        with_calls += assert_thread(trace, tree, selection, thread, &waits);
    for (uint32_t i = 1; i < tree->count; i++)
        with_calls -= tree->cost[i].calls > 0;
    assert_int_equal(with_calls, 0);
    assert_int_equal(tree->waits.calls, waits.calls);
    assert_int_equal(tree->waits.wall, waits.wall);
    tv_call_tree_free(tree);
}

/* Few slices a node, so that only the nodes that a thread reaches are gone over, and many. */
static const struct fixture_dice thread_dice[] = {
    {1, 40, 9, 12, 900, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 0, 1, false},
    {2, 3, 2, 3, 3000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 3000, 3, false},
    {3, 7, 4, 6, 700, TV_CLOCK_WALL, 1000, 100, 2, false},
    {4, 5, 5, 8, 500, TV_CLOCK_CPU, 1000, 100, 1, false},
    {5, 4, 3, 5, 5000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1, 90000000000, 1, false},
};

static void equals_the_trees_of_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(thread_dice); k++) {
        struct fixture f = fixture_random(&thread_dice[k]);
        uint32_t seed = 9, tracks[3];
        tv_ns span = f.trace->end - f.trace->start;
        assert_by_thread(f.trace, &TV_SELECT_ALL, 1);
        for (int i = 0; i < 20; i++) {
            tv_ns from = f.trace->start + span / 100 * fixture_roll(&seed, 100);
            tv_ns to = from + span / 100 * fixture_roll(&seed, 60);
            for (int n = 0; n < 3; n++)
                tracks[n] = fixture_roll(&seed, f.trace->track_count);
            struct tv_selection selection = {from, to, i % 2 ? tracks : NULL, 3};
            assert_by_thread(f.trace, &selection, 1 + (unsigned)i % 3);
        }
        fixture_free(&f);
    }
}

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

/* Return the rest of the path from a frame on; nothing when the frame is not on it. */
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

static void uncalled_frames_have_no_sandwich(void **state)
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
static struct tv_call_tree *ladder(struct tv_trace_info *head, uint32_t steps)
{
    struct tv_paths paths;
    uint32_t at = TV_ROOT_PATH, leaf = 0;
    tv_paths_init(&paths);
    for (uint32_t i = 0; i <= steps; i++) {
        struct tv_frame frame = {.line = (int32_t)i};
        assert_int_equal(tv_trace_info_add_frame(head, &frame), i);
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

static void quadratic_growth_is_cut(void **state)
{
    enum { STEPS = 1200 };
    (void)state;
    struct tv_trace_info *head = tv_trace_info_new();
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
    tv_trace_info_free(head);
}

static void graphs_have_a_bounded_number_of_frames(void **state)
{
    (void)state;
    struct tv_trace_info *head = tv_trace_info_new();
    struct tv_call_tree *tree = ladder(head, TV_FLAME_FRAMES / 2 + 10);
    struct tv_flame_options options = {.clock = TV_CLOCK_WALL};
    struct tv_flame *flame = tv_flame_of_tree(tree, &options);
    assert_cut(flame, TV_FLAME_FRAMES);
    tv_flame_free(flame);
    tv_call_tree_free(tree);
    tv_trace_info_free(head);
}

UNIT_TESTS(derived_trees, cmocka_unit_test(a_call_costs_one_reading_inside_and_one_outside),
           cmocka_unit_test(recursion_subtracts_inner_costs),
           cmocka_unit_test(compensated_times_stay_above_zero),
           cmocka_unit_test(compensated_sums_equal_their_parts),
           cmocka_unit_test(the_cost_must_be_stated_and_the_trace_not_sampled),
           cmocka_unit_test(an_invalid_cost_is_ignored), sampled_test(counts_samples),
           sampled_test(counts_samples_of_one_packet_once), sampled_test(weighs_samples),
           sampled_test(measures_the_time_until_the_next), sampled_test(takes_those_of_a_selection),
           sampled_test(weights_do_not_overflow), cmocka_unit_test(equals_the_trees_of_threads),
           cmocka_unit_test(quadratic_growth_is_cut),
           cmocka_unit_test(graphs_have_a_bounded_number_of_frames),
           cmocka_unit_test(names_fold_frames), cmocka_unit_test(random_trees_equal_the_plain_sums),
           cmocka_unit_test(uncalled_frames_have_no_sandwich));

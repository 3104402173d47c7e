/* SPDX-License-Identifier: Apache-2.0 */
/* Table by name: expected values are counted by hand on the drawings, in milliseconds. */
#include "unit.h"

#include "analysis/states/statistics.h"

#include "base/memory.h"
#include "fixture.h"

#define MS INT64_C(1000000)

/* A of 4, 2 and 1 ms; B inside of the first for 1 and 2 ms, and alone for 1; C inside of a B. */
static const struct fixture_thread drawing[] = {
    {"main", "9999999999", {"AAAA aa A", "B bb", "  C"}},
    {"pool", NULL, {"     B"}},
};

static struct tv_frame_statistics
figures_of(const struct tv_trace *trace, struct tv_selection selection, bool by_cpu, char letter)
{
    struct tv_statistics *all = tv_statistics_of(trace, &selection, by_cpu);
    struct tv_frame_statistics found = {0};
    for (uint32_t i = 0; i < all->count; i++)
        if (all->frames[i].frame == FIXTURE_FRAME(letter))
            found = all->frames[i];
    tv_statistics_free(all);
    return found;
}

static struct tv_frame_statistics statistics_of(const struct tv_trace *trace,
                                                struct tv_selection selection, char letter)
{
    return figures_of(trace, selection, false, letter);
}

static void sums_and_percentiles_of_a_drawing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_frame_statistics a = statistics_of(f.trace, TV_SELECT_ALL, 'A');
    assert_int_equal(a.count, 3);
    assert_int_equal(a.length, 7 * MS);
    assert_int_equal(a.self, (4 - 3 + 2 + 1) * MS);
    assert_int_equal(a.min, 1 * MS);
    assert_int_equal(a.average, 7 * MS / 3);
    assert_int_equal(a.median, 2 * MS);
    assert_int_equal(a.p95, 4 * MS);
    assert_int_equal(a.max, 4 * MS);
    assert_int_equal(a.cpu_count, 3);
    assert_int_equal(a.cpu, 7 * 900000); /* 0.9 ms a column */
    struct tv_frame_statistics b = statistics_of(f.trace, TV_SELECT_ALL, 'B');
    assert_int_equal(b.count, 3);
    assert_int_equal(b.length, 4 * MS);
    assert_int_equal(b.self, 3 * MS); /* C takes one */
    assert_int_equal(b.median, 1 * MS);
    assert_int_equal(b.max, 2 * MS);
    /* 6,999,998 ns of three: rounded, as the time per call of a profile. */
    a = statistics_of(f.trace, (struct tv_selection){2, 10 * MS, NULL, 0}, 'A');
    assert_int_equal(a.average, 2333333);
    fixture_free(&f);
}

/* The range cuts A, and the second B of the first thread: half a millisecond of each is inside, and
 * all of what is left of A lies in B. */
static void a_slice_counts_with_its_part_in_the_range(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_selection range = {3500000, 5 * MS, NULL, 0};
    struct tv_frame_statistics a = statistics_of(f.trace, range, 'A');
    assert_int_equal(a.count, 1);
    assert_int_equal(a.cut, 1);
    assert_int_equal(a.length, MS / 2);
    assert_int_equal(a.max, MS / 2);
    assert_int_equal(a.cpu, 450000); /* 0.9 ms a column */
    assert_int_equal(a.self, 0);
    struct tv_frame_statistics b = statistics_of(f.trace, range, 'B');
    assert_int_equal(b.count, 1);
    assert_int_equal(b.cut, 1);
    assert_int_equal(b.self, MS / 2);
    assert_int_equal(statistics_of(f.trace, range, 'C').count, 0);
    assert_int_equal(statistics_of(f.trace, TV_SELECT_ALL, 'A').cut, 0);
    fixture_free(&f);
}

/* The call tree counts by other code: the sums of a name are those of its nodes. */
static void sums_of_a_range_are_those_of_its_call_tree(void **state)
{
    (void)state;
    const struct fixture_dice dice = {31,   3,   6, 7,    20000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 500, 1, false};
    struct fixture f = fixture_random(&dice);
    tv_ns span = f.trace->end - f.trace->start;
    for (int part = 2; part < 40; part += 3) {
        struct tv_selection range = {f.trace->start + span / part,
                                     f.trace->start + span / part + span / 7, NULL, 0};
        struct tv_call_tree *tree = tv_call_tree_of_trace(f.trace, &range, 1);
        uint64_t cut = 0;
        for (char letter = 'A'; letter < 'G'; letter++) {
            struct tv_frame_statistics figures = statistics_of(f.trace, range, letter);
            int64_t self = 0, wall = 0, cpu = 0;
            for (uint32_t i = 1; i < tree->count; i++)
                if (tree->frame[i] == FIXTURE_FRAME(letter)) {
                    self += tree->self_wall[i];
                    wall += tree->cost[i].wall;
                    cpu += tree->cost[i].cpu;
                }
            assert_true(figures.count > 0);
            assert_int_equal(figures.length, wall);
            assert_int_equal(figures.self, self);
            assert_int_equal(figures.cpu, cpu);
            cut += figures.cut;
        }
        assert_true(cut > 0);
        assert_int_equal(cut, tv_selection_count_cut(f.trace, &range));
        tv_call_tree_free(tree);
    }
    fixture_free(&f);
}

static void only_chosen_tracks_count(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    const uint32_t pool = 1;
    struct tv_selection selection = {INT64_MIN, INT64_MAX, &pool, 1};
    struct tv_frame_statistics b = statistics_of(f.trace, selection, 'B');
    assert_int_equal(b.count, 1);
    assert_int_equal(b.length, 1 * MS);
    assert_int_equal(statistics_of(f.trace, selection, 'A').count, 0);
    fixture_free(&f);
}

/* 1 ms ten times, then 2 ms: of 11 the middle one is the 6th, the 95th percentile the 11th. */
static void an_even_count_has_two_in_the_middle(void **state)
{
    (void)state;
    const struct fixture_thread four = {"main", NULL, {"A aa AAA A"}};
    const struct fixture_thread many = {"main", NULL, {"AaAaAaAaAaAA"}};
    struct fixture f = fixture_draw(&four, 1);
    struct tv_frame_statistics a = statistics_of(f.trace, TV_SELECT_ALL, 'A');
    assert_int_equal(a.median, 3 * MS / 2);
    assert_int_equal(a.p95, 3 * MS);
    fixture_free(&f);
    f = fixture_draw(&many, 1);
    a = statistics_of(f.trace, TV_SELECT_ALL, 'A');
    assert_int_equal(a.count, 11);
    assert_int_equal(a.median, 1 * MS);
    assert_int_equal(a.p95, 2 * MS);
    fixture_free(&f);
}

static void one_frame_has_a_histogram_and_its_slowest(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_durations d;
    tv_durations_of(f.trace, &all, FIXTURE_FRAME('A'), false, &d);
    assert_int_equal(d.figures.count, 3);
    assert_int_equal(d.figures.self, 4 * MS);
    assert_int_equal(d.figures.p95, 4 * MS);
    assert_int_equal(d.buckets[tv_duration_bucket(1 * MS)], 1);
    assert_int_equal(d.buckets[tv_duration_bucket(2 * MS)], 1);
    assert_int_equal(d.buckets[tv_duration_bucket(4 * MS)], 1);
    assert_int_equal(d.slowest_count, 3);
    const tv_ns lengths[] = {4 * MS, 2 * MS, 1 * MS}, starts[] = {0, 5 * MS, 8 * MS};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(d.slowest[i].length, lengths[i]);
        assert_int_equal(d.slowest[i].start, starts[i]);
        assert_int_equal(d.slowest[i].index, i);
    }
    tv_durations_of(f.trace, &all, FIXTURE_FRAME('Z'), false, &d);
    assert_int_equal(d.figures.count, 0);
    assert_int_equal(d.figures.min, 0);
    fixture_free(&f);
}

static void the_ten_slowest_are_kept(void **state)
{
    (void)state;
    const struct fixture_thread thread = {
        "main", NULL, {"A aa AAA aaaa A aaa AA aaaaa A a A aaaaaa AAA a"}};
    const tv_ns expected[TV_SLOWEST] = {6, 5, 4, 3, 3, 3, 2, 2, 1, 1};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_durations d;
    tv_durations_of(f.trace, &all, FIXTURE_FRAME('A'), false, &d);
    assert_int_equal(d.figures.count, 14);
    assert_int_equal(d.slowest_count, TV_SLOWEST);
    for (uint32_t i = 0; i < TV_SLOWEST; i++)
        assert_int_equal(d.slowest[i].length, expected[i] * MS);
    assert_int_equal(d.slowest[3].index, 2); /* the earliest of equals */
    assert_int_equal(d.slowest[9].index, 4);
    fixture_free(&f);
}

static void a_bucket_holds_its_bound_and_not_the_next(void **state)
{
    (void)state;
    static const tv_ns known[] = {0,  1,  2,  3,  4,  5,  6,  8,  10,  13,
                                  16, 20, 25, 32, 40, 50, 63, 79, 100, 130};
    for (uint32_t i = 0; i < TV_COUNT(known); i++)
        assert_int_equal(tv_duration_bound(i), known[i]);
    assert_int_equal(tv_duration_bound(TV_DURATION_BUCKETS), INT64_MAX);
    for (uint32_t i = 0; i < TV_DURATION_BUCKETS; i++) {
        assert_true(tv_duration_bound(i) < tv_duration_bound(i + 1));
        assert_int_equal(tv_duration_bucket(tv_duration_bound(i)), i);
        assert_int_equal(tv_duration_bucket(tv_duration_bound(i + 1) - 1), i);
    }
    assert_int_equal(tv_duration_bucket(INT64_MAX), TV_DURATION_BUCKETS - 1);
    assert_int_equal(tv_duration_bucket(-5), 0);
}

static void selecting_equals_sorting(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    tv_ns *values = tv_alloc(COUNT, sizeof *values);
    uint32_t seed = 7;
    for (size_t count = 1; count <= COUNT; count = count * 3 + 1) {
        /* place i holds what stands at i when sorted, in a stirred order: i * 7919 mod 1009 is
         * another number for each i below 1009 */
        size_t at = 0;
        for (size_t i = 0; i < 1009; i++)
            if (i * 7919 % 1009 < count)
                values[at++] = (tv_ns)(i * 7919 % 1009 / 3) << 33;
        assert_int_equal(at, count);
        for (int i = 0; i < 20; i++) {
            size_t rank = fixture_roll(&seed, (uint32_t)count);
            assert_int_equal(tv_statistics_select(values, count, rank), (tv_ns)(rank / 3) << 33);
        }
    }
    tv_free(values);
}

/* Every way gives the same figures as all frames together. */
static void one_frame_equals_all_frames(void **state)
{
    (void)state;
    const struct fixture_dice dice = {77,   3,   6, 7,    20000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                      1000, 500, 1, false};
    struct fixture f = fixture_random(&dice);
    tv_ns span = f.trace->end - f.trace->start;
    struct tv_selection range = {f.trace->start + span / 3, f.trace->end - span / 3, NULL, 0};
    for (int i = 0; i < 12; i++) {
        char letter = (char)('A' + i % 6);
        bool by_cpu = i >= 6;
        struct tv_frame_statistics a = figures_of(f.trace, range, by_cpu, letter);
        struct tv_durations d;
        tv_durations_of(f.trace, &range, FIXTURE_FRAME(letter), by_cpu, &d);
        assert_true(a.count > 0);
        assert_memory_equal(&a, &d.figures, sizeof a);
        assert_int_equal(d.slowest[0].length, a.max);
    }
    fixture_free(&f);
}

/* CPU time of each column in tenths of a millisecond: A took 15, 11 and 8, B inside of it 9 and 5,
 * C inside of that 2. */
static void uses_the_given_clock(void **state)
{
    (void)state;
    const struct fixture_thread ran = {"main", "9123056780", {"AAAA aa A", "B bb", "  C"}};
    const tv_ns tenth = MS / 10;
    struct fixture f = fixture_draw(&ran, 1);
    struct tv_frame_statistics a = figures_of(f.trace, TV_SELECT_ALL, true, 'A');
    assert_int_equal(a.count, 3);
    assert_int_equal(a.measured, 3);
    assert_int_equal(a.length, 7 * MS); /* is what it is by any clock */
    assert_int_equal(a.cpu, 34 * tenth);
    assert_int_equal(a.self, (34 - 9 - 5) * tenth);
    assert_int_equal(a.min, 8 * tenth);
    assert_int_equal(a.average, 34 * tenth / 3);
    assert_int_equal(a.median, 11 * tenth);
    assert_int_equal(a.max, 15 * tenth);
    assert_int_equal(figures_of(f.trace, TV_SELECT_ALL, true, 'B').self, (14 - 2) * tenth);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_durations d;
    tv_durations_of(f.trace, &all, FIXTURE_FRAME('A'), true, &d);
    const tv_ns slowest[] = {15 * tenth, 11 * tenth, 8 * tenth};
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(d.slowest[i].length, slowest[i]);
    assert_int_equal(d.buckets[tv_duration_bucket(11 * tenth)], 1);
    fixture_free(&f);
}

/* A thread without a CPU clock beside one that has it: its slices count, and nothing more. */
static void slices_without_cpu_time_are_not_measured_by_it(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(drawing, 2);
    struct tv_frame_statistics b = figures_of(f.trace, TV_SELECT_ALL, true, 'B');
    assert_int_equal(b.count, 3);
    assert_int_equal(b.measured, b.cpu_count);
    assert_int_equal(b.max, 2 * 9 * MS / 10);
    fixture_free(&f);
}

UNIT_TESTS(statistics, cmocka_unit_test(sums_and_percentiles_of_a_drawing),
           cmocka_unit_test(a_slice_counts_with_its_part_in_the_range),
           cmocka_unit_test(sums_of_a_range_are_those_of_its_call_tree),
           cmocka_unit_test(only_chosen_tracks_count),
           cmocka_unit_test(an_even_count_has_two_in_the_middle),
           cmocka_unit_test(one_frame_has_a_histogram_and_its_slowest),
           cmocka_unit_test(the_ten_slowest_are_kept),
           cmocka_unit_test(a_bucket_holds_its_bound_and_not_the_next),
           cmocka_unit_test(uses_the_given_clock),
           cmocka_unit_test(slices_without_cpu_time_are_not_measured_by_it),
           cmocka_unit_test(selecting_equals_sorting),
           cmocka_unit_test(one_frame_equals_all_frames));

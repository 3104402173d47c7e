/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "analysis/reference.h"
#include "analysis/search/call_search.h"
#include "analysis/timeline/density.h"
#include "base/memory.h"

/* Searching, extents and activity: what is read straight from the rows. */

static const struct fixture_dice dice = {51,   3,   6, 7,    2000, TV_CLOCK_WALL | TV_CLOCK_CPU,
                                         1000, 500, 1, false};

static bool is_call_of(const struct tv_trace *trace, uint32_t row, uint32_t index, uint32_t frame)
{
    return trace->paths.nodes[tv_slice_get(trace, row, index).path].frame == frame;
}

static void expect_step(const struct tv_trace *trace, const bool *wanted, uint32_t frame,
                        tv_ns time, int direction, uint32_t *row, uint32_t *index)
{
    tv_ns best = 0;
    *row = *index = TV_NONE;
    for (uint32_t r = 0; r < trace->row_count; r++)
        for (uint32_t i = 0; wanted[trace->rows[r].track] && i < trace->rows[r].count; i++) {
            tv_ns start = tv_slice_start(trace, r, i);
            bool better = direction > 0 ? start > time && (*row == TV_NONE || start < best)
                                        : start < time && (*row == TV_NONE || start >= best);
            /* going back, of calls in one row that start together the last counts; else the upper
             * row */
            if (direction < 0 && *row != TV_NONE && start == best && r != *row)
                better = false;
            if (!better || !is_call_of(trace, r, i, frame))
                continue;
            best = start;
            *row = r;
            *index = i;
        }
}

static void steps_equal_the_reference(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice);
    uint32_t seed = 3;
    for (uint32_t frame = 0; frame <= dice.frames; frame++) { /* the last is none */
        struct tv_call_search search;
        tv_call_search_init(&search, f.trace, frame);
        for (int i = 0; i < 60; i++) {
            bool wanted[3] = {i % 2 == 0, true, i % 3 == 0};
            tv_ns time =
                f.trace->start + fixture_roll(&seed, (uint32_t)(f.trace->end - f.trace->start));
            uint32_t row, index, expected_row, expected_index;
            if (i % 4 == 0)
                time = tv_slice_start(f.trace, 0, fixture_roll(&seed, f.trace->rows[0].count));
            for (int direction = -1; direction <= 1; direction += 2) {
                expect_step(f.trace, wanted, frame, time, direction, &expected_row,
                            &expected_index);
                bool found = tv_call_search_step(&search, wanted, time, direction, &row, &index);
                assert_int_equal(found, expected_row != TV_NONE);
                assert_int_equal(row, expected_row);
                assert_int_equal(index, expected_index);
            }
        }
        tv_call_search_release(&search);
    }
    fixture_free(&f);
}

static void place_counts_the_calls_before(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice);
    for (uint32_t row = 0; row < f.trace->row_count; row += 2) {
        uint32_t index = f.trace->rows[row].count / 2;
        struct tv_slice call = tv_slice_get(f.trace, row, index);
        uint32_t frame = f.trace->paths.nodes[call.path].frame;
        uint64_t before = 0, all = 0, of;
        for (uint32_t r = 0; r < f.trace->row_count; r++)
            for (uint32_t i = 0; i < f.trace->rows[r].count; i++) {
                tv_ns start = tv_slice_start(f.trace, r, i);
                if (f.trace->rows[r].track != f.trace->rows[row].track ||
                    !is_call_of(f.trace, r, i, frame))
                    continue;
                all++;
                before += start < call.start ||
                          (start == call.start && (r < row || (r == row && i < index)));
            }
        struct tv_call_search search;
        tv_call_search_init(&search, f.trace, frame);
        assert_int_equal(tv_call_search_rank(&search, row, index, &of), before + 1);
        assert_int_equal(of, all);
        tv_call_search_release(&search);
    }
    fixture_free(&f);
}

/* --- Extents
 * ----------------------------------------------------------------------------------------- */

/* Whether a time lies in a call of the frame, or in a gap shorter than a pixel between two. */
static void check_track(const struct tv_trace *trace, uint32_t track, uint32_t frame,
                        const struct tv_selection *selection, tv_ns pixel,
                        const struct tv_track_extents *extents)
{
    uint32_t used = 0, next = 0;
    for (uint32_t i = 0; i < extents->count; i++) {
        assert_true(extents->list[i].start <= extents->list[i].end);
        if (i > 0)
            assert_true(extents->list[i].start - extents->list[i - 1].end >= pixel);
    }
    const struct tv_track *t = &trace->tracks[track];
    tv_ns covered = 0, extent = 0;
    for (uint32_t row = t->first_row; row < t->first_row + t->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice call = tv_slice_get(trace, row, i);
            tv_ns end = call.start + call.length;
            bool inside = end > selection->from && call.start < selection->to;
            if (call.length == 0)
                inside = call.start >= selection->from && call.start < selection->to;
            if (!inside || trace->paths.nodes[call.path].frame != frame)
                continue;
            used++;
            for (next = 0; next < extents->count && extents->list[next].end < call.start; next++)
                ;
            /* every call lies in one extent, */
            assert_true(next < extents->count && extents->list[next].start <= call.start &&
                        extents->list[next].end >= end);
            covered += call.length;
        }
    /* and an extent without gaps is no longer than the calls in it. */
    for (uint32_t i = 0; i < extents->count; i++)
        extent += extents->list[i].end - extents->list[i].start;
    if (pixel == 1)
        assert_true(extent <= covered);
    assert_int_equal(used > 0, extents->count > 0);
}

static void extents_hold_every_call(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice);
    tv_ns span = f.trace->end - f.trace->start;
    uint32_t two_tracks[] = {0, 2};
    for (uint32_t frame = 0; frame < dice.frames; frame++)
        for (unsigned k = 0; k < 6; k++) {
            struct tv_selection selection = TV_SELECT_ALL;
            tv_ns pixel = k % 2 ? 1 : span / 300;
            if (k >= 2)
                selection =
                    (struct tv_selection){f.trace->start + span / 5, f.trace->end - span / 3,
                                          k >= 4 ? two_tracks : NULL, 2};
            struct tv_extents *extents = tv_extents_of(f.trace, frame, &selection, pixel, 1 + k);
            assert_int_equal(extents->track_count, 3);
            for (uint32_t track = 0; track < 3; track++) {
                if (k >= 4 && track == 1)
                    assert_int_equal(extents->tracks[track].count, 0);
                else
                    check_track(f.trace, track, frame, &selection, pixel, &extents->tracks[track]);
            }
            tv_extents_free(extents);
        }
    fixture_free(&f);
}

static void extents_of_a_drawing(void **state)
{
    (void)state;
    struct fixture_thread thread = {"main", NULL, {"AAAABBAAxA    A", " A  A "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_selection all = TV_SELECT_ALL;
    struct tv_extents *extents = tv_extents_of(f.trace, FIXTURE_FRAME('A'), &all, 1500000, 2);
    /* 0 to 4, within it and touching it [4,5) below B; a gap of 1, a gap of 1, a gap of 4 */
    assert_int_equal(extents->tracks[0].count, 2);
    assert_int_equal(extents->tracks[0].list[0].start, 0);
    assert_int_equal(extents->tracks[0].list[0].end, 10000000);
    assert_int_equal(extents->tracks[0].list[1].start, 14000000);
    tv_extents_free(extents);
    fixture_free(&f);
}

/* --- Activity
 * ---------------------------------------------------------------------------------------- */

static void activity_of_a_drawing(void **state)
{
    (void)state;
    struct fixture_thread thread = {"main", NULL, {"AAAAAAAAAA          BbBb      C     "}};
    struct fixture f = fixture_draw(&thread, 1);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 1);
    uint8_t heights[5];
    /* buckets of 8 ms: 8, 2, 4, 1 of 8 covered, nothing behind the end */
    tv_activity_of_track(pyramid, 0, 0, 40000000, 5, heights);
    const uint8_t expected[] = {255, 64, 128, 32, 0};
    assert_memory_equal(heights, expected, 5);
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

/* Full where a long call covers the whole bucket, empty where there is nothing in reach. */
static void activity_is_full_and_empty_where_it_must(void **state)
{
    (void)state;
    const struct fixture_dice flat = {52, 3, 6, 1, 2000, TV_CLOCK_WALL, 1000, 500, 1, true};
    struct fixture f = fixture_random(&flat);
    struct reference r = reference_of(&f);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 1);
    enum { BUCKETS = 1500 };
    uint8_t heights[BUCKETS];
    uint32_t full = 0, empty = 0;
    tv_ns from = f.trace->start, span = f.trace->end - from, width = span / BUCKETS + 1;
    for (uint32_t track = 0; track < 3; track++) {
        tv_activity_of_track(pyramid, track, from, f.trace->end, BUCKETS, heights);
        for (int64_t i = 0; i < BUCKETS; i++) {
            tv_ns start = from + span * i / BUCKETS, end = start + width;
            bool covered = false, near = false;
            for (uint32_t c = 0; c < r.count; c++) {
                const struct reference_call *call = &r.calls[c];
                if (call->thread != track || call->depth > 0)
                    continue;
                covered |=
                    call->start <= start && call->end >= end && call->end - call->start > 2 * width;
                near |= call->start < end + width && call->end > start - width;
            }
            full += covered;
            empty += !near;
            if (covered)
                assert_int_equal(heights[i], 255);
            if (!near)
                assert_int_equal(heights[i], 0);
        }
    }
    assert_true(full > 100 && empty > 100);
    tv_pyramid_free(pyramid);
    reference_release(&r);
    fixture_free(&f);
}

UNIT_TESTS(call_search, cmocka_unit_test(steps_equal_the_reference),
           cmocka_unit_test(place_counts_the_calls_before),
           cmocka_unit_test(extents_hold_every_call), cmocka_unit_test(extents_of_a_drawing),
           cmocka_unit_test(activity_of_a_drawing),
           cmocka_unit_test(activity_is_full_and_empty_where_it_must));

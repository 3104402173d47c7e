/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "analysis/reference.h"
#include "analysis/search/call_search.h"
#include "analysis/search/signature.h"
#include "analysis/timeline/density.h"
#include "base/bytes.h"
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

/* The order of two places: by start, row and index. */
static int compare_places(const struct tv_call_place *a, const struct tv_call_place *b)
{
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Calls that a naive search finds beside a place: the nearest on one side, and numbers. */
struct expected_calls {
    struct tv_call_place nearest;
    uint64_t until, of;
};

static struct expected_calls expect_calls(const struct tv_trace *trace, const bool *wanted,
                                          const uint8_t *frames, const struct tv_call_place *from,
                                          int direction)
{
    struct expected_calls calls = {{0, TV_NONE, TV_NONE}, 0, 0};
    struct tv_call_place *best = &calls.nearest;
    for (uint32_t r = 0; r < trace->row_count; r++)
        for (uint32_t i = 0; wanted[trace->rows[r].track] && i < trace->rows[r].count; i++) {
            struct tv_call_place place = {tv_slice_start(trace, r, i), r, i};
            if (!frames[trace->paths.nodes[tv_slice_get(trace, r, i).path].frame])
                continue;
            calls.of++;
            calls.until += compare_places(&place, from) <= 0;
            if (compare_places(&place, from) * direction > 0 &&
                (best->row == TV_NONE || compare_places(&place, best) * direction < 0))
                *best = place;
        }
    return calls;
}

/* Roll a place: of a call, beside calls, or after all that begin at a time. */
static struct tv_call_place roll_place(const struct tv_trace *trace, uint32_t *seed, int i)
{
    struct tv_call_place place = {0, fixture_roll(seed, trace->row_count), 0};
    uint32_t count = trace->rows[place.row].count;
    place.index = fixture_roll(seed, count + 1);
    place.start = place.index < count ? tv_slice_start(trace, place.row, place.index)
                                      : trace->start + (tv_ns)fixture_roll(seed, 1000);
    if (i % 5 == 0)
        place.row = place.index = TV_NONE;
    return place;
}

static void next_places_equal_the_reference(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice);
    uint32_t seed = 11;
    for (int i = 0; i < 300; i++) {
        uint8_t *frames = tv_alloc(f.trace->head->frame_count, 1);
        for (uint32_t k = 0; k < f.trace->head->frame_count; k++)
            frames[k] = fixture_roll(&seed, 3) == 0;
        bool wanted[3] = {i % 3 > 0, true, i % 2 == 0};
        struct tv_call_place from = roll_place(f.trace, &seed, i), found;
        struct tv_call_search search;
        tv_call_search_init_frames(&search, f.trace, frames);
        for (int direction = -1; direction <= 1; direction += 2) {
            uint64_t of;
            struct expected_calls calls = expect_calls(f.trace, wanted, frames, &from, direction);
            bool any = tv_call_search_next_place(&search, wanted, &from, direction, &found);
            assert_int_equal(any, calls.nearest.row != TV_NONE);
            assert_int_equal(found.row, calls.nearest.row);
            assert_int_equal(found.index, calls.nearest.index);
            assert_int_equal(tv_call_search_count_places(&search, wanted, &from, &of), calls.until);
            assert_int_equal(of, calls.of);
        }
        tv_call_search_release(&search);
        tv_free(frames);
    }
    fixture_free(&f);
}

static void signatures_are_written_as_the_page_shows_them(void **state)
{
    static const char *const texts[][2] = {
        {"(Landroid/os/Bundle;I[[Z)V", "(Bundle, int, boolean[][]) void"},
        {"()Ljava/lang/String;", "() String"},
        {"(Lno.end)V", "(Lno.end)V"},
        {"(I)", "(I)"},
        {"(Q)V", "(Q)V"},
        {"(I)VV", "(I)VV"},
        {"([)V", "([)V"},
        {"int f(int)", "int f(int)"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        struct tv_out out;
        tv_out_init_memory(&out);
        tv_signature_write_readable(&out, tv_bytes_of(texts[i][0]));
        assert_int_equal(out.length, strlen(texts[i][1]));
        if (out.length > 0)
            assert_memory_equal(out.buffer, texts[i][1], out.length);
        tv_out_release(&out);
    }
}

static void position_counts_the_earlier_calls(void **state)
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
    /* buckets of 8 ms: 8, 2, 4, 1 of 8 covered, nothing after the end */
    tv_activity_of_track(pyramid, 0, 0, 40000000, 5, heights);
    const uint8_t expected[] = {255, 64, 128, 32, 0};
    assert_memory_equal(heights, expected, 5);
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

/* Full where a long call covers the whole bucket, empty where there is nothing in reach. */
static void activity_of_busy_and_idle_buckets(void **state)
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
           cmocka_unit_test(next_places_equal_the_reference),
           cmocka_unit_test(signatures_are_written_as_the_page_shows_them),
           cmocka_unit_test(position_counts_the_earlier_calls),
           cmocka_unit_test(extents_hold_every_call), cmocka_unit_test(extents_of_a_drawing),
           cmocka_unit_test(activity_of_a_drawing),
           cmocka_unit_test(activity_of_busy_and_idle_buckets));

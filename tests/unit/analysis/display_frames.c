/* SPDX-License-Identifier: Apache-2.0 */
/* Display frames of drawings, and of random traces against a plain look at every call. */
#include "unit.h"

#include "analysis/findings/display_frames.h"
#include "analysis/subset/selection.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "fixture.h"

#define MS INT64_C(1000000)

static void rename_frame(struct fixture *f, char letter, const char *name)
{
    struct tv_trace_info *head = f->trace->head;
    head->frames[FIXTURE_FRAME(letter)].class_name = TV_EMPTY_STRING;
    head->frames[FIXTURE_FRAME(letter)].name = tv_trace_info_string(head, tv_bytes_of(name));
}

static struct tv_display_frames *frames_of(const struct fixture *f, tv_ns from, tv_ns to)
{
    struct tv_selection selection = {from, to, NULL, 0};
    struct tv_display_frames *frames = tv_display_frames_of(f->trace, &selection, NULL);
    tv_display_frames_explain(frames, false);
    return frames;
}

/* ---- Frames ---- */

/* B draws inside A and lasts longer; the second B begins where A has ended, and is a frame of its
 * own.  Of the first frame C took 2 ms, and B 5. */
static void drawing_belongs_to_the_call_it_begins_in(void **state)
{
    (void)state;
    const struct fixture_thread threads[] = {
        {"main", NULL, {"AAAA      A", "CC"}},
        {"RenderThread", NULL, {"   BBBBB B "}},
    };
    struct fixture f = fixture_draw(threads, 2);
    rename_frame(&f, 'A', "Choreographer#doFrame");
    rename_frame(&f, 'B', "DrawFrame");
    f.trace->head->threads[0].process = f.trace->head->threads[1].process = TV_NONE;
    struct tv_display_frames *frames = frames_of(&f, INT64_MIN, INT64_MAX);
    assert_int_equal(frames->count, 4); /* of no process: nobody knows whose B is */
    tv_display_frames_free(frames);
    f.trace->head->threads[0].process = f.trace->head->threads[1].process = 0;
    frames = frames_of(&f, INT64_MIN, INT64_MAX);
    assert_int_equal(frames->count, 3);
    assert_int_equal(frames->list[0].length, 8 * MS);
    assert_int_equal(frames->list[0].main, 4 * MS);
    assert_int_equal(frames->list[0].render, 5 * MS);
    assert_int_equal(frames->list[0].cause, FIXTURE_FRAME('B'));
    assert_int_equal(frames->list[0].cause_time, 5 * MS);
    assert_int_equal(frames->list[1].start, 9 * MS);
    assert_int_equal(frames->list[1].main, 0);
    assert_int_equal(frames->list[2].cause, FIXTURE_FRAME('A'));
    tv_display_frames_free(frames);
    fixture_free(&f);
}

/* A frame counts if it touches the range, whole. */
static void a_range_chooses_frames(void **state)
{
    (void)state;
    const struct fixture_thread thread = {"main", NULL, {"AAAA AA AAA"}};
    struct fixture f = fixture_draw(&thread, 1);
    rename_frame(&f, 'A', "performTraversals");
    struct tv_display_frames *frames = frames_of(&f, 3 * MS, 7 * MS);
    assert_int_equal(frames->count, 2);
    assert_int_equal(frames->list[0].length, 4 * MS);
    assert_int_equal(frames->list[1].start, 5 * MS);
    tv_display_frames_free(frames);
    fixture_free(&f);
}

/* ---- Deadlines ---- */

/* The distances are 8, 8, 300 and 9 ms: the long one is a gap; the median of the rest is 8. */
static void the_deadline_is_the_median_distance_of_syncs(void **state)
{
    (void)state;
    const tv_ns app[] = {0, 8 * MS, 16 * MS, 316 * MS, 325 * MS};
    const tv_ns hardware[] = {0, 11 * MS, 22 * MS}, rare[] = {0, 400 * MS};
    const struct fixture_thread thread = {"main", NULL, {"AAAAAAAA AAAAAAAAA"}};
    struct fixture f = fixture_draw(&thread, 1);
    rename_frame(&f, 'A', "performTraversals");
    struct tv_display_frames *frames = frames_of(&f, INT64_MIN, INT64_MAX);
    assert_int_equal(frames->list[1].source, TV_DEADLINE_DEFAULT);
    assert_int_equal(frames->list[1].deadline, 16666667);
    tv_display_frames_free(frames);
    fixture_add_counter(&f, "VSYNC-sf-long", rare, 2);
    fixture_add_counter(&f, "HW_VSYNC_0", hardware, 3);
    frames = frames_of(&f, INT64_MIN, INT64_MAX);
    assert_int_equal(frames->list[1].deadline, 11 * MS);
    tv_display_frames_free(frames);
    fixture_add_counter(&f, "VSYNC-app", app, 5);
    frames = frames_of(&f, INT64_MIN, INT64_MAX);
    assert_int_equal(frames->list[1].source, TV_DEADLINE_VSYNC);
    assert_int_equal(frames->list[1].deadline, 8 * MS);
    assert_false(frames->list[0].late); /* 8 ms are in time */
    assert_true(frames->list[1].late);
    struct tv_display_interval interval = tv_display_frame_interval(frames, &frames->list[1]);
    assert_string_equal(tv_trace_info_text(f.trace->head, interval.name).data, "VSYNC-app");
    tv_display_frames_free(frames);
    fixture_free(&f);
}

/* ---- Random traces ---- */

static bool is_outermost(const struct tv_trace *trace, uint32_t path)
{
    if (trace->paths.nodes[path].frame != FIXTURE_FRAME('A'))
        return false;
    for (path = trace->paths.nodes[path].parent; path != TV_ROOT_PATH;
         path = trace->paths.nodes[path].parent)
        if (trace->paths.nodes[path].frame == FIXTURE_FRAME('A'))
            return false;
    return true;
}

/* Add the own times of a call and of what it calls, by frame. */
static void add_own(const struct tv_trace *trace, uint32_t row, uint32_t index, tv_ns own[26])
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    uint32_t first, count = 0;
    if (slice.flags & TV_SLICE_HAS_CHILDREN)
        tv_slice_children(trace, row, index, &first, &count);
    own[trace->paths.nodes[slice.path].frame] += slice.length;
    for (uint32_t i = 0; i < count; i++) {
        own[trace->paths.nodes[slice.path].frame] -= tv_slice_get(trace, row + 1, first + i).length;
        add_own(trace, row + 1, first + i, own);
    }
}

static void check_frame(const struct tv_trace *trace, const struct tv_display_frames *frames,
                        uint32_t row, uint32_t index)
{
    tv_ns own[26] = {0}, most = 0;
    uint32_t at = 0;
    while (at < frames->count && (frames->list[at].row != row || frames->list[at].index != index))
        at++;
    assert_true(at < frames->count);
    add_own(trace, row, index, own);
    for (unsigned i = 0; i < 26; i++)
        most = own[i] > most ? own[i] : most;
    assert_int_equal(frames->list[at].length, tv_slice_get(trace, row, index).length);
    assert_int_equal(frames->list[at].cause_time, most);
    if (most > 0)
        assert_int_equal(own[frames->list[at].cause], most);
}

static void random_traces_have_every_frame(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        struct fixture f = fixture_random(&(struct fixture_dice){.seed = seed,
                                                                 .threads = 3,
                                                                 .frames = 6,
                                                                 .depth = 6,
                                                                 .events = 4000,
                                                                 .tick_ns = 1000,
                                                                 .clocks = TV_CLOCK_WALL,
                                                                 .long_gap = 40000,
                                                                 .parts = 2});
        uint32_t count = 0;
        rename_frame(&f, 'A', "performTraversals");
        struct tv_display_frames *frames = frames_of(&f, INT64_MIN, INT64_MAX);
        for (uint32_t row = 0; row < f.trace->row_count; row++)
            for (uint32_t i = 0; i < f.trace->rows[row].count; i++)
                if (is_outermost(f.trace, tv_slice_get(f.trace, row, i).path)) {
                    check_frame(f.trace, frames, row, i);
                    count++;
                }
        assert_true(count > 0);
        assert_int_equal(frames->count, count);
        for (uint32_t i = 1; i < count; i++)
            assert_true(frames->list[i - 1].start <= frames->list[i].start);
        tv_display_frames_free(frames);
        fixture_free(&f);
    }
}

UNIT_TESTS(display_frames, cmocka_unit_test(drawing_belongs_to_the_call_it_begins_in),
           cmocka_unit_test(a_range_chooses_frames),
           cmocka_unit_test(the_deadline_is_the_median_distance_of_syncs),
           cmocka_unit_test(random_traces_have_every_frame));

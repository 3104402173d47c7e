/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sketch.c - the preview of a trace: any order of times gives the same result.
 */
#include "model/sketch.h"

#include <string.h>

#include "base/bytes.h"
#include "unit.h"

static void mark(struct tv_sketch *sketch, uint32_t track, int64_t time)
{
    struct tv_sketch_mark one = {time, track};
    tv_sketch_add(sketch, &one, 1);
}

static unsigned used(const struct tv_sketch_shown *shown, uint32_t track)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TV_SKETCH_BUCKETS; i++)
        count += shown->heights[track][i] > 0;
    return count;
}

static void shows_nothing_at_first(void **context)
{
    (void)context;
    struct tv_sketch *sketch = tv_sketch_new();
    struct tv_sketch_shown shown;
    tv_sketch_track(sketch, TV_BYTES("a"));
    tv_sketch_show(sketch, &shown);
    assert_int_equal(shown.track_count, 0);
    tv_sketch_free(sketch);
}

static void knows_tracks_by_name(void **context)
{
    (void)context;
    struct tv_sketch *sketch = tv_sketch_new();
    struct tv_sketch_shown shown;
    assert_int_equal(tv_sketch_track(sketch, TV_BYTES("a")), 0);
    assert_int_equal(tv_sketch_track(sketch, TV_BYTES("b")), 1);
    assert_int_equal(tv_sketch_track(sketch, TV_BYTES("a")), 0);
    for (unsigned i = 2; i < TV_SKETCH_TRACKS; i++) {
        uint8_t name = (uint8_t)(i + 128);
        assert_int_equal(tv_sketch_track(sketch, (struct tv_bytes){&name, 1}), i);
    }
    assert_int_equal(tv_sketch_track(sketch, TV_BYTES("one more")), TV_NONE);
    mark(sketch, TV_NONE, 5); /* a mark without a track does nothing */
    tv_sketch_show(sketch, &shown);
    assert_int_equal(shown.track_count, 0);
    mark(sketch, 1, 5);
    tv_sketch_show(sketch, &shown);
    assert_int_equal(shown.track_count, TV_SKETCH_TRACKS);
    assert_string_equal(shown.names[1], "b");
    assert_int_equal(used(&shown, 0), 0);
    assert_int_equal(used(&shown, 1), 1);
    tv_sketch_free(sketch);
}

/* Twice as many marks in the second half; both ends of the range are in use. */
static void adds_up(void **context)
{
    (void)context;
    struct tv_sketch *sketch = tv_sketch_new();
    struct tv_sketch_shown shown;
    const int64_t epoch = INT64_C(1700000000000000000), length = INT64_C(1) << 36;
    uint32_t track = tv_sketch_track(sketch, TV_BYTES("a"));
    for (int64_t i = 0; i < 10000; i++) {
        int64_t at = (i * 7919) % 10000; /* in no order */
        mark(sketch, track, epoch + length / 10000 * at);
        if (at >= 5000)
            mark(sketch, track, epoch + length / 10000 * at);
    }
    tv_sketch_show(sketch, &shown);
    assert_in_range(shown.length, length, 4 * length);
    assert_in_range(used(&shown, track), TV_SKETCH_BUCKETS / 4, TV_SKETCH_BUCKETS);
    unsigned first = 0, last = 0;
    for (unsigned i = 0; i < TV_SKETCH_BUCKETS; i++)
        if (shown.heights[track][i] > 0) {
            first = first ? first : i + 1;
            last = i;
        }
    assert_in_range(shown.heights[track][first + (last - first) / 4], 120, 136);
    assert_in_range(shown.heights[track][last - (last - first) / 4], 240, 255);
    tv_sketch_free(sketch);
}

static void bears_any_time(void **context)
{
    (void)context;
    static const int64_t times[] = {0, INT64_MAX, INT64_MIN, -1, 1, INT64_MAX, INT64_MIN};
    struct tv_sketch *sketch = tv_sketch_new();
    struct tv_sketch_shown shown;
    uint32_t track = tv_sketch_track(sketch, TV_BYTES("a"));
    for (size_t i = 0; i < TV_COUNT(times); i++)
        mark(sketch, track, times[i]);
    tv_sketch_show(sketch, &shown);
    assert_in_range(used(&shown, track), 3, 4);
    assert_true(shown.length == INT64_MAX);
    tv_sketch_free(sketch);
}

UNIT_TESTS(sketch, cmocka_unit_test(shows_nothing_at_first), cmocka_unit_test(knows_tracks_by_name),
           cmocka_unit_test(adds_up), cmocka_unit_test(bears_any_time));

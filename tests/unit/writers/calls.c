/* SPDX-License-Identifier: Apache-2.0 */
/* A finished trace walked again gives the calls that its events meant. */
#include "unit.h"

#include "base/memory.h"
#include "feed.h"
#include "model/builder/builder.h"
#include "writers/trace/calls.h"

static struct tv_trace *build(const struct feed *feed)
{
    size_t start = 0;
    struct tv_trace_info *head = feed_head(feed);
    struct tv_builder *builder = tv_builder_new(head);
    feed_to(feed, head, tv_builder_sink(builder), &start, 1);
    return tv_builder_finish(builder);
}

static const struct feed_style styles[] = {
    {3000, 3, 7, 0, 0, 30, TV_CLOCK_WALL | TV_CLOCK_CPU},
    {3000, 5, 9, 20, 0, 30, TV_CLOCK_WALL | TV_CLOCK_CPU},
    {3000, 2, 5, 10, 50, 3, TV_CLOCK_WALL | TV_CLOCK_CPU},
    {500, 1, 3, 60, 10, 0, TV_CLOCK_WALL | TV_CLOCK_CPU},
};

static void check_track(const struct feed *feed, const struct tv_trace *trace, uint32_t track)
{
    uint32_t count, at = 0, open = 0;
    struct feed_call *calls = feed_calls(feed, trace->tracks[track].thread, &count);
    struct tv_call_cursor *cursor = tv_call_cursor_new(trace, track);
    struct tv_call_event event;
    tv_ns last = INT64_MIN;
    while (tv_call_cursor_next(cursor, &event)) {
        assert_true(event.time >= last);
        last = event.time;
        assert_int_equal(event.depth, event.exit ? --open : open++);
        if (event.exit)
            continue;
        assert_true(at < count);
        assert_int_equal(event.depth, calls[at].depth);
        assert_int_equal(event.time, calls[at].start * feed->tick_ns);
        assert_int_equal(event.time + event.slice->length, calls[at].end * feed->tick_ns);
        assert_int_equal(trace->paths.nodes[event.slice->path].frame, calls[at].frame);
        at++;
    }
    assert_int_equal(at, count);
    assert_int_equal(open, 0);
    tv_call_cursor_free(cursor);
    tv_free(calls);
}

static void walks_each_track(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct feed *feed = feed_random(seed, &styles[seed % TV_COUNT(styles)]);
        struct tv_trace *trace = build(feed);
        for (uint32_t i = 0; i < trace->track_count; i++)
            check_track(feed, trace, i);
        tv_trace_free(trace);
        feed_free(feed);
    }
}

/* All tracks together: in the order of time, and of each track its own order. */
static void merges_by_time(void **state)
{
    (void)state;
    struct feed *feed = feed_random(5, &styles[1]);
    struct tv_trace *trace = build(feed);
    struct tv_call_merge *merge = tv_call_merge_new(trace);
    struct tv_call_cursor **cursors = tv_alloc(trace->track_count, sizeof *cursors);
    struct tv_call_event event, alone;
    tv_ns last = INT64_MIN;
    uint64_t count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++)
        cursors[i] = tv_call_cursor_new(trace, i);
    while (tv_call_merge_next(merge, &event)) {
        assert_true(event.time >= last);
        last = event.time;
        assert_true(tv_call_cursor_next(cursors[event.track], &alone));
        assert_int_equal(alone.row, event.row);
        assert_int_equal(alone.index, event.index);
        assert_int_equal(alone.exit, event.exit);
        count++;
    }
    assert_int_equal(count, 2 * trace->slice_count);
    for (uint32_t i = 0; i < trace->track_count; i++)
        tv_call_cursor_free(cursors[i]);
    tv_free(cursors);
    tv_call_merge_free(merge);
    tv_trace_free(trace);
    feed_free(feed);
}

UNIT_TESTS(calls, cmocka_unit_test(walks_each_track), cmocka_unit_test(merges_by_time));

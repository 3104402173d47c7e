/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.c - compares every call of the built trace with calls found in a simple way, for many
 * random inputs and splits.
 */
#include "unit.h"

#include "base/memory.h"
#include "feed.h"
#include "model/builder/builder.h"

/* *ended: number of chunks of the final reading. */
static struct tv_trace *build_parts(const struct feed *feed, const size_t *starts, unsigned parts,
                                    unsigned *ended)
{
    struct tv_builder *builder = tv_builder_new(feed_head(feed));
    *ended = feed_to(feed, tv_builder_trace_info(builder), tv_builder_sink(builder), starts, parts);
    assert_int_not_equal(*ended, 0);
    return tv_builder_finish(builder);
}

static struct tv_trace *build(const struct feed *feed)
{
    unsigned ended;
    return build_parts(feed, NULL, 1, &ended);
}

/* The chain of frames of a path must be that of the call's parents. */
static void assert_path(const struct tv_trace *trace, uint32_t path, const struct feed_call *calls,
                        uint32_t call)
{
    for (; call != TV_NONE; call = calls[call].parent) {
        assert_int_not_equal(path, TV_ROOT_PATH);
        assert_int_equal(trace->paths.nodes[path].frame, calls[call].frame);
        path = trace->paths.nodes[path].parent;
    }
    assert_int_equal(path, TV_ROOT_PATH);
}

static void assert_call(const struct feed *feed, const struct tv_trace *trace, uint32_t row,
                        uint32_t index, const struct feed_call *calls, uint32_t call)
{
    const struct feed_call *want = &calls[call];
    struct tv_slice slice = tv_slice_get(trace, row, index);
    bool wall = feed->clocks & TV_CLOCK_WALL;
    assert_int_equal(slice.start, (wall ? want->start : want->cpu_start) * feed->tick_ns);
    assert_int_equal(slice.length,
                     (wall ? want->end - want->start : want->cpu_end - want->cpu_start) *
                         feed->tick_ns);
    if (feed->clocks & TV_CLOCK_CPU) {
        assert_int_equal(slice.cpu_start, want->cpu_start * feed->tick_ns);
        assert_int_equal(slice.cpu_length, (want->cpu_end - want->cpu_start) * feed->tick_ns);
    }
    unsigned structure = TV_SLICE_FIRST_CHILD | TV_SLICE_HAS_CHILDREN;
    assert_int_equal(slice.flags & ~structure, want->flags);
    assert_int_equal((slice.flags & TV_SLICE_HAS_CHILDREN) != 0, want->children != 0);
    assert_path(trace, slice.path, calls, call);
}

/* place[call] is the index of each call in its row, to check parents and children. */
static void assert_family(const struct tv_trace *trace, const struct tv_track *track,
                          const struct feed_call *calls, uint32_t count, const uint32_t *place)
{
    for (uint32_t call = 0; call < count; call++) {
        uint32_t row = track->first_row + calls[call].depth;
        uint32_t parent = tv_slice_parent(trace, row, place[call]);
        uint32_t first, children;
        assert_int_equal(parent,
                         calls[call].parent == TV_NONE ? TV_NONE : place[calls[call].parent]);
        tv_slice_children(trace, row, place[call], &first, &children);
        assert_int_equal(children, calls[call].children);
        for (uint32_t i = call + 1; children && i < count; i++)
            if (calls[i].parent == call) {
                assert_int_equal(first, place[i]);
                break;
            }
    }
}

/* Members that are read alone, from some slice of the row to some other one. */
static void assert_members(const struct tv_trace *trace, uint32_t row, uint32_t first,
                           uint32_t count)
{
    tv_ns *found = tv_alloc((size_t)count + 1, sizeof *found);
    tv_slices_read_starts(trace, row, first, count, found);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(found[i], tv_slice_get(trace, row, first + i).start);
    tv_slices_read_lengths(trace, row, first, count, found);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(found[i], tv_slice_get(trace, row, first + i).length);
    if (tv_row_columns(trace, row)->cpu_start) {
        tv_slices_read_cpu_lengths(trace, row, first, count, found);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(found[i], tv_slice_get(trace, row, first + i).cpu_length);
    }
    tv_free(found);
}

static void assert_track(const struct feed *feed, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_track *track = &trace->tracks[number];
    uint32_t count;
    struct feed_call *calls = feed_calls(feed, track->thread, &count);
    uint32_t *next = tv_alloc(count + 1, sizeof *next), *place = tv_alloc(count + 1, sizeof *place);
    assert_int_equal(track->slice_count, count);
    for (uint32_t call = 0; call < count; call++) {
        assert_in_range(calls[call].depth, 0, track->row_count - 1);
        place[call] = next[calls[call].depth]++;
        assert_call(feed, trace, track->first_row + calls[call].depth, place[call], calls, call);
    }
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        assert_int_equal(trace->rows[track->first_row + depth].count, next[depth]);
        assert_members(trace, track->first_row + depth, 0, next[depth]);
        assert_members(trace, track->first_row + depth, next[depth] / 3, next[depth] / 2);
    }
    assert_family(trace, track, calls, count, place);
    tv_free(calls);
    tv_free(next);
    tv_free(place);
}

static void assert_trace(const struct feed *feed, const struct tv_trace *trace)
{
    for (uint32_t track = 0; track < trace->track_count; track++)
        assert_track(feed, trace, track);
}

static size_t random_below(uint32_t *state, size_t limit)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % limit;
}

static void split_at_random(uint32_t seed, size_t count, size_t *starts, unsigned parts)
{
    for (unsigned i = 1; i < parts; i++) {
        size_t at = random_below(&seed, count + 1);
        unsigned j = i;
        for (; j > 1 && starts[j - 1] > at; j--)
            starts[j] = starts[j - 1];
        starts[j] = at;
    }
}

static void check_random(const struct feed_style *style, uint32_t seeds)
{
    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct feed *feed = feed_random(seed, style);
        feed->sampled = seed % 3 == 0;
        for (unsigned parts = 1; parts <= 13; parts += 1 + seed % 4) {
            size_t starts[13] = {0};
            split_at_random(seed * 31 + parts, feed->count, starts, parts);
            unsigned ended;
            struct tv_trace *trace = build_parts(feed, starts, parts, &ended);
            assert_trace(feed, trace);
            if (!style->mismatches && style->longest_gap < 1000)
                assert_int_equal(ended, parts);
            tv_trace_free(trace);
        }
        feed_free(feed);
    }
}

#define BOTH (TV_CLOCK_WALL | TV_CLOCK_CPU)

static void balanced_calls_in_any_split(void **state)
{
    (void)state;
    check_random(&(struct feed_style){600, 3, 9, 0, 0, 40, BOTH}, 40);
}

static void exits_without_entries_in_any_split(void **state)
{
    (void)state;
    check_random(&(struct feed_style){400, 3, 5, 60, 0, 200, BOTH}, 60);
}

static void mismatched_exits_in_any_split(void **state)
{
    (void)state;
    check_random(&(struct feed_style){400, 2, 4, 20, 60, 200, BOTH}, 60);
}

static void one_clock_alone(void **state)
{
    (void)state;
    check_random(&(struct feed_style){300, 2, 4, 20, 0, 200, TV_CLOCK_CPU}, 12);
    check_random(&(struct feed_style){300, 2, 4, 20, 0, 200, TV_CLOCK_WALL}, 12);
}

static void times_beyond_32_bits(void **state)
{
    (void)state;
    check_random(&(struct feed_style){5000, 2, 4, 20, 10, INT64_C(3) << 31, BOTH}, 12);
}

static void many_blocks_a_row(void **state)
{
    (void)state;
    check_random(&(struct feed_style){20000, 2, 3, 1, 0, 40, BOTH}, 2);
}

/* The nine events of method-trace.md's synthetic files: E's exit has no entry. */
static void supplied_call_begins_with_the_thread(void **state)
{
    static const char *const threads[] = {"A....B....C....)....!....)", "...eD....)"};
    struct feed *feed = feed_draw(threads, 2);
    (void)state;
    struct tv_trace *trace = build(feed);
    assert_int_equal(trace->unmatched_exits, 1);
    assert_int_equal(trace->recorded_calls, 4);
    assert_int_equal(trace->max_depth, 3);
    const struct tv_track *worker = &trace->tracks[1];
    struct tv_slice e = tv_slice_get(trace, worker->first_row, 0);
    assert_int_equal(e.start, 3000);
    assert_int_equal(e.length, 0);
    assert_int_equal(e.flags, TV_SLICE_ENTERED_BEFORE);
    struct tv_slice d = tv_slice_get(trace, worker->first_row, 1);
    assert_int_equal(d.start, 4000);
    assert_int_equal(d.length, 5000);
    tv_trace_free(trace);
    feed_free(feed);
}

/* CPU time interpolated between the records around it, by looking at all records (each begins or
 * ends a call here: ignored exits leave none). */
static int64_t plain_cpu_at(const struct feed *feed, uint32_t thread, int64_t ns)
{
    const struct tv_event *before = NULL, *after = NULL;
    for (size_t i = 0; i < feed->count; i++) {
        const struct tv_event *event = &feed->events[i];
        if (event->thread != thread)
            continue;
        if (event->wall * 1000 <= ns)
            before = event;
        else if (!after)
            after = event;
    }
    if (!before)
        return after->cpu * 1000;
    if (!after)
        return before->cpu * 1000;
    int64_t part = ns - before->wall * 1000, whole = (after->wall - before->wall) * 1000;
    return before->cpu * 1000 + (after->cpu - before->cpu) * 1000 * part / whole;
}

static void cpu_time_at_any_wall_time(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 10; seed++) {
        struct feed *feed = feed_random(seed, &(struct feed_style){300, 2, 4, 20, 0, 50, BOTH});
        struct tv_trace *trace = build(feed);
        for (uint32_t track = 0; track < trace->track_count; track++)
            for (int64_t ns = -500; ns < trace->end + 1000; ns += 333)
                assert_int_equal(tv_track_cpu_at(trace, track, ns),
                                 plain_cpu_at(feed, trace->tracks[track].thread, ns));
        tv_trace_free(trace);
        feed_free(feed);
    }
}

static void finding_slices_by_time(void **state)
{
    (void)state;
    struct feed *feed = feed_random(7, &(struct feed_style){500, 1, 3, 0, 0, 9, BOTH});
    struct tv_trace *trace = build(feed);
    for (uint32_t row = 0; row < trace->row_count; row++)
        for (int64_t ns = 0; ns < trace->end; ns += 700) {
            uint32_t ends = 0, starts = 0;
            while (ends < trace->rows[row].count && tv_slice_end(trace, row, ends) <= ns)
                ends++;
            while (starts < trace->rows[row].count && tv_slice_start(trace, row, starts) < ns)
                starts++;
            assert_int_equal(tv_row_find(trace, row, ns), ends);
            assert_int_equal(tv_row_find_from(trace, row, 0, ns), ends);
            assert_int_equal(tv_row_find_from(trace, row, ends / 2, ns), ends);
            assert_int_equal(tv_row_find_from(trace, row, ends, ns), ends);
            assert_int_equal(tv_row_find_start(trace, row, ns), starts);
        }
    tv_trace_free(trace);
    feed_free(feed);
}

/* Start with the feed and stop after so many steps of a complete reading. */
static void give_up_after(const struct feed *feed, unsigned steps)
{
    struct tv_trace_info *head = feed_head(feed);
    struct tv_builder *builder = tv_builder_new(head);
    struct tv_sink *sink = tv_builder_sink(builder);
    struct tv_batch batch = {.events = feed->events, .count = feed->count};
    if (steps > 0)
        sink->ops->begin(sink, head, 0, 1);
    for (unsigned pass = 0; pass < 2; pass++) {
        if (steps > 1 + 2 * pass)
            sink->ops->take(sink, pass, 0, &batch);
        if (steps > 2 + 2 * pass)
            assert_int_equal(sink->ops->stitch(sink, pass), TV_STITCH_DONE);
    }
    tv_builder_free(builder);
}

/* A reading that is cancelled or fails. */
static void giving_up_half_way(void **state)
{
    (void)state;
    struct feed *feed = feed_random(3, &(struct feed_style){500, 3, 4, 0, 0, 9, BOTH});
    for (unsigned steps = 0; steps <= 5; steps++)
        give_up_after(feed, steps);
    feed_free(feed);
}

UNIT_TESTS(builder, cmocka_unit_test(balanced_calls_in_any_split),
           cmocka_unit_test(exits_without_entries_in_any_split),
           cmocka_unit_test(mismatched_exits_in_any_split), cmocka_unit_test(one_clock_alone),
           cmocka_unit_test(times_beyond_32_bits), cmocka_unit_test(many_blocks_a_row),
           cmocka_unit_test(supplied_call_begins_with_the_thread),
           cmocka_unit_test(cpu_time_at_any_wall_time), cmocka_unit_test(finding_slices_by_time),
           cmocka_unit_test(giving_up_half_way));

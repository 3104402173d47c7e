/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time between two pictures, by input:
 *
 *   1. the median distance of the changes of a counter that toggles with each vertical sync
 *   2. an argument of the events that begin a frame, as Chromium and Flutter write it
 *   3. that of 60 Hz
 *
 * Distances that no display has are left out: the signal is off while nothing moves.
 */
#include <string.h>

#include "analysis/findings/display_internal.h"
#include "analysis/search/call_search.h"
#include "analysis/search/event_lookup.h"
#include "analysis/states/statistics.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"

/* 500 to 20 Hz. */
#define SHORTEST_PERIOD INT64_C(2000000)
#define LONGEST_PERIOD INT64_C(50000000)

static bool display_is_period(tv_ns time)
{
    return time >= SHORTEST_PERIOD && time <= LONGEST_PERIOD;
}

/* ---- Counters ---- */

/* By preference: the signal for applications first, that of the hardware last. */
static const char *const vsync_counters[] = {"VSYNC-app*", "VSYNC", "VSYNC*", "*VSYNC*"};

/* Return the rank of a counter's name, TV_COUNT(vsync_counters) for others. */
static size_t display_vsync_rank(struct tv_bytes name)
{
    size_t rank = 0;
    while (rank < TV_COUNT(vsync_counters) &&
           !tv_glob_matches(name, tv_bytes_of(vsync_counters[rank])))
        rank++;
    return rank;
}

/* Return the median distance of the changes of a counter's first series; 0: there is none. */
static tv_ns display_vsync_period(const struct tv_tables *tables, const struct tv_counter *counter)
{
    const tv_ns *times = tables->counter_times + counter->first_sample;
    const double *values = tables->counter_values + counter->first_value;
    tv_ns *distances, changed = 0, period = 0;
    size_t count = 0;
    bool known = false;
    if (counter->sample_count < 2 || counter->series_count == 0)
        return 0;
    distances = tv_alloc(counter->sample_count, sizeof *distances);
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        if (i > 0 && values[(size_t)i * counter->series_count] ==
                         values[(size_t)(i - 1) * counter->series_count])
            continue;
        tv_ns distance = (tv_ns)((uint64_t)times[i] - (uint64_t)changed);
        if (known && display_is_period(distance))
            distances[count++] = distance;
        changed = times[i];
        known = true;
    }
    if (count > 0)
        period = tv_statistics_median(distances, count);
    tv_free(distances);
    return period;
}

/* Take the beat of the display from a vsync counter, the best known name first. */
static void display_take_counters(const struct tv_trace *trace,
                                  struct tv_display_interval *intervals)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t rank = 0; rank < TV_COUNT(vsync_counters); rank++)
        for (size_t i = 0; i < tables->counters.count; i++) {
            const struct tv_counter *counter = &tables->counters.rows[i];
            struct tv_display_interval *interval = &intervals[counter->input];
            if (interval->source == TV_DEADLINE_VSYNC ||
                display_vsync_rank(tv_trace_info_text(trace->head, counter->name)) != rank)
                continue;
            tv_ns period = display_vsync_period(tables, counter);
            if (period > 0)
                *interval = (struct tv_display_interval){period, TV_DEADLINE_VSYNC, counter->name};
        }
}

/* ---- Arguments ---- */

/* Events with an interval in an argument, or with the times of this picture and the next. */
static const struct {
    const char *event, *key, *minus; /* minus NULL: `key` is the interval */
    tv_ns unit;
} interval_arguments[] = {
    {"Scheduler::BeginFrame", "interval_us", NULL, 1000}, /* Chromium */
    {"Scheduler::BeginImplFrame", "interval_us", NULL, 1000},
    {"ExternalBeginFrameSource::OnBeginFrame", "interval", NULL, 1000},
    {"VsyncProcessCallback", "TargetTime", "StartTime", 1}, /* Flutter */
};

void tv_display_read_event(const struct tv_trace *trace, uint32_t row, uint32_t index,
                           struct tv_out *room)
{
    uint32_t number = trace->rows[row].input;
    const struct tv_input *input = &trace->head->inputs[number];
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    uint64_t offset = tv_slice_offset(trace, row, index);
    struct tv_error unused;
    room->length = 0;
    if (offset == TV_NO_OFFSET || !input->describe || !input->source)
        return;
    if (input->describe(trace, number, offset, extra ? extra->end_offset : TV_NO_OFFSET, room,
                        &unused) != TV_OK)
        room->length = 0;
}

struct tv_bytes tv_display_argument(const struct tv_out *event, const char *key)
{
    struct tv_json_tokens tokens = {event->buffer, event->buffer + event->length, 0, false};
    struct tv_json_token token;
    if (event->length == 0)
        return (struct tv_bytes){NULL, 0};
    while (tv_json_tokens_next(&tokens, &token))
        if (token.kind == TV_TOKEN_KEY && tv_bytes_equal(token.text, tv_bytes_of(key)) &&
            tv_json_tokens_next(&tokens, &token))
            return token.text;
    return (struct tv_bytes){NULL, 0};
}

/* Return the interval that an event states; 0: none. */
static tv_ns display_stated_period(const struct tv_out *event, size_t kind)
{
    tv_ns unit = interval_arguments[kind].unit, value, before = 0;
    const char *minus = interval_arguments[kind].minus;
    if (!tv_parse_time(tv_display_argument(event, interval_arguments[kind].key), unit, &value) ||
        (minus && !tv_parse_time(tv_display_argument(event, minus), unit, &before)))
        return 0;
    return value >= 0 && before >= 0 && display_is_period(value - before) ? value - before : 0;
}

/* Look at the first call of a frame in each input without an interval. */
static void display_take_argument(const struct tv_trace *trace, uint32_t frame, size_t kind,
                                  struct tv_display_interval *intervals)
{
    struct tv_call_search search;
    struct tv_out event;
    tv_out_init_memory(&event);
    tv_call_search_init(&search, trace, frame);
    for (uint32_t row = 0; row < trace->row_count; row++) {
        struct tv_display_interval *interval = &intervals[trace->rows[row].input];
        if (interval->source != TV_DEADLINE_DEFAULT || !tv_call_search_has_row(&search, row))
            continue;
        uint32_t first = tv_call_search_next(&search, row, 0, trace->rows[row].count);
        if (first == trace->rows[row].count)
            continue;
        tv_display_read_event(trace, row, first, &event);
        tv_ns period = display_stated_period(&event, kind);
        if (period > 0)
            *interval = (struct tv_display_interval){period, TV_DEADLINE_ARGUMENT,
                                                     trace->head->frames[frame].name};
    }
    tv_call_search_release(&search);
    tv_out_release(&event);
}

/* Frames of one name that are looked at: one for each category or input, as a rule. */
#define MAX_NAMESAKES 16

/* Look for the interval of the display in arguments of events that are known to have it. */
static void display_take_arguments(const struct tv_trace *trace,
                                   struct tv_display_interval *intervals)
{
    const struct tv_trace_info *head = trace->head;
    for (size_t kind = 0; kind < TV_COUNT(interval_arguments); kind++) {
        uint32_t name =
            tv_interner_find(head->strings, tv_bytes_of(interval_arguments[kind].event));
        uint32_t found = 0;
        for (uint32_t i = 0; name != TV_NONE && i < head->frame_count; i++)
            if (head->frames[i].name == name && found++ < MAX_NAMESAKES)
                display_take_argument(trace, i, kind, intervals);
    }
}

struct tv_display_interval *tv_display_intervals_of(const struct tv_trace *trace)
{
    struct tv_display_interval *intervals = tv_alloc(trace->head->input_count, sizeof *intervals);
    for (size_t i = 0; i < trace->head->input_count; i++)
        intervals[i] = (struct tv_display_interval){TV_DISPLAY_INTERVAL_NS, TV_DEADLINE_DEFAULT,
                                                    TV_EMPTY_STRING};
    display_take_counters(trace, intervals);
    display_take_arguments(trace, intervals);
    return intervals;
}

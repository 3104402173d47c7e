/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/places.h"

#include "base/error.h"
#include "base/memory.h"

/* The events behind an offset, up to and with the next one. */
struct interval {
    struct tv_event_place first, last;
};

struct finding {
    const uint64_t *offsets;
    size_t count;
    struct interval *intervals; /* [count + 1], the first before all offsets */
    size_t current; /* where the last event was: events stand together, so this is tried first */
};

/* How many of the offsets are below one. */
static size_t count_below(const struct finding *finding, uint64_t offset)
{
    size_t low = 0, count = finding->count;
    while (count > 0) {
        size_t half = count / 2;
        if (finding->offsets[low + half] < offset) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static bool is_in(const struct finding *finding, size_t interval, uint64_t offset)
{
    return (interval == 0 || finding->offsets[interval - 1] < offset) &&
           (interval == finding->count || finding->offsets[interval] >= offset);
}

/* Of things at one place the one that came first stays. */
static void take(struct finding *finding, struct tv_event_place place)
{
    if (place.offset == TV_NO_OFFSET)
        return;
    if (!is_in(finding, finding->current, place.offset))
        finding->current = count_below(finding, place.offset);
    struct interval *interval = &finding->intervals[finding->current];
    if (interval->first.kind == TV_EVENT_NONE || place.offset < interval->first.offset)
        interval->first = place;
    if (interval->last.kind == TV_EVENT_NONE || place.offset > interval->last.offset)
        interval->last = place;
}

static void take_slices(struct finding *finding, const struct tv_trace *trace, uint32_t input)
{
    const struct tv_tables *tables = &trace->tables;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (trace->rows[row].input != input || !tv_row_columns(trace, row)->offset)
            continue;
        for (uint32_t i = 0; i < trace->rows[row].count; i++)
            take(finding,
                 (struct tv_event_place){TV_EVENT_SLICE, row, i, tv_slice_offset(trace, row, i)});
    }
    for (size_t i = 0; i < tables->slice_extras.count; i++) {
        const struct tv_slice_extra *extra = &tables->slice_extras.rows[i];
        if (trace->rows[extra->row].input == input)
            take(finding, (struct tv_event_place){TV_EVENT_SLICE, extra->row, extra->index,
                                                  extra->end_offset});
    }
}

static void take_counters(struct finding *finding, const struct tv_tables *tables, uint32_t input)
{
    for (uint32_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        if (counter->input != input)
            continue;
        for (uint32_t k = 0; k < counter->sample_count; k++)
            take(finding,
                 (struct tv_event_place){TV_EVENT_COUNTER, i, k,
                                         tables->counter_offsets[counter->first_sample + k]});
    }
}

/* Rows of a table that have one place each. */
#define TAKE_ROWS(finding, table, event, of)                                                       \
    do                                                                                             \
        for (uint32_t i = 0; i < (table).count; i++)                                               \
            if ((table).rows[i].input == (of))                                                     \
                take((finding), (struct tv_event_place){(event), i, 0, (table).rows[i].offset});   \
    while (0)

static void take_all(struct finding *finding, const struct tv_trace *trace, uint32_t input)
{
    const struct tv_tables *tables = &trace->tables;
    take_slices(finding, trace, input);
    TAKE_ROWS(finding, tables->instants, TV_EVENT_INSTANT, input);
    take_counters(finding, tables, input);
    TAKE_ROWS(finding, tables->snapshots, TV_EVENT_SNAPSHOT, input);
    TAKE_ROWS(finding, tables->samples, TV_EVENT_SAMPLE, input);
    TAKE_ROWS(finding, tables->memory_dumps, TV_EVENT_MEMORY_DUMP, input);
    TAKE_ROWS(finding, tables->flows, TV_EVENT_FLOW, input);
    for (uint32_t i = 0; i < tables->flows.count; i++)
        if (tables->flows.rows[i].input == input)
            take(finding,
                 (struct tv_event_place){TV_EVENT_FLOW, i, 1, tables->flows.rows[i].end_offset});
}

void tv_places_find(const struct tv_trace *trace, uint32_t input, const uint64_t *offsets,
                    size_t count, struct tv_neighbours *found)
{
    const struct tv_event_place none = {TV_EVENT_NONE, 0, 0, TV_NO_OFFSET};
    struct finding finding = {.offsets = offsets, .count = count};
    struct tv_event_place last = none, next = none;
    finding.intervals = tv_alloc(count + 1, sizeof *finding.intervals);
    take_all(&finding, trace, input);
    for (size_t i = 0; i < count; i++) {
        if (finding.intervals[i].last.kind != TV_EVENT_NONE)
            last = finding.intervals[i].last;
        found[i].at = last;
    }
    for (size_t i = count; i-- > 0;) {
        if (finding.intervals[i + 1].first.kind != TV_EVENT_NONE)
            next = finding.intervals[i + 1].first;
        found[i].after = next;
    }
    tv_free(finding.intervals);
}

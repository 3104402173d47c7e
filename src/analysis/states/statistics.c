/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics.c - exact statistics without sorting.  A first pass counts, sums and finds extremes
 * for every name. Further passes collect the lengths of as many names as fit into memory, grouped
 * by name, and select percentiles in linear time.
 *
 * The self time of a slice is its length minus that of its children.  Children of a range of a row
 * are a range of the row below, so each row subtracts from its parents in one walk.
 *
 *     pass 1     count, sum, extremes of all names           the counts give each name its place
 *     pass 2     lengths   [ name a ...... | name b .. | name c ... ]     8 million at once
 *     pass 3     [ name d ........................................ ]      and so on
 *
 * Most traces need one further pass.  Sorting all lengths of a name would cost more than the pass:
 * a percentile needs the element of one rank, which a selection by bytes finds in at most eight
 * readings of the lengths, and in two or three when they are short.
 *
 * With the CPU clock a slice without CPU time counts, but is not measured: its time is unknown, not
 * zero, and its parent's self time cannot be reduced by it.
 */
#include <assert.h>
#include <string.h>

#include "analysis/search/call_search.h"
#include "analysis/states/states.h"
#include "analysis/states/statistics.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"

/* Lengths held at once, unless one frame has more. */
#define LENGTHS_AT_ONCE ((uint64_t)8 << 20)
#define READ_AT_ONCE 256u

/* ---- Buckets ---- */

static const uint8_t first_steps[] = {0, 1, 2, 3, 4, 5, 6, 8};
/* Bounds in each further power of ten: ten steps of equal ratio. */
static const uint8_t steps[10] = {10, 13, 16, 20, 25, 32, 40, 50, 63, 79};

tv_ns tv_duration_bound(uint32_t bucket)
{
    tv_ns scale = 1;
    if (bucket >= TV_DURATION_BUCKETS)
        return INT64_MAX;
    if (bucket < TV_COUNT(first_steps))
        return first_steps[bucket];
    bucket -= (uint32_t)TV_COUNT(first_steps);
    for (uint32_t i = 0; i < bucket / TV_COUNT(steps); i++)
        scale *= 10;
    return steps[bucket % TV_COUNT(steps)] * scale;
}

/* Return the last step that is not above a value, at least 0. */
static uint32_t duration_last_step(const uint8_t *list, uint32_t count, tv_ns value)
{
    uint32_t i = count - 1;
    while (i > 0 && list[i] > value)
        i--;
    return i;
}

uint32_t tv_duration_bucket(tv_ns length)
{
    uint32_t tens = 0;
    if (length < steps[0])
        return duration_last_step(first_steps, TV_COUNT(first_steps), length);
    for (; length >= 10 * steps[0]; tens++)
        length /= 10;
    return (uint32_t)TV_COUNT(first_steps) + tens * (uint32_t)TV_COUNT(steps) +
           duration_last_step(steps, TV_COUNT(steps), length);
}

/* ---- Percentiles ---- */

/* Radix selection: find the value byte by byte, from the highest, by counting the next byte of
 * all values that have the bytes found so far. */
static tv_ns statistics_select_many(const tv_ns *values, size_t count, size_t rank)
{
    uint64_t found = 0, known = 0, any = 0;
    int shift = 56;
    for (size_t i = 0; i < count; i++)
        any |= (uint64_t)values[i];
    while (shift > 0 && any >> shift == 0)
        shift -= 8;
    for (; shift >= 0; shift -= 8) {
        size_t counts[256] = {0};
        uint32_t byte = 0;
        for (size_t i = 0; i < count; i++)
            if (((uint64_t)values[i] & known) == found)
                counts[(uint64_t)values[i] >> shift & 255]++;
        for (; rank >= counts[byte]; byte++)
            rank -= counts[byte];
        found |= (uint64_t)byte << shift;
        known |= UINT64_C(255) << shift;
    }
    return (tv_ns)found;
}

tv_ns tv_statistics_select(const tv_ns *values, size_t count, size_t rank)
{
    assert(rank < count);
    tv_ns few[32];
    if (count > TV_COUNT(few))
        return statistics_select_many(values, count, rank);
    memcpy(few, values, count * sizeof *values);
    TV_SORT_FEW(few, count);
    return few[rank];
}

tv_ns tv_statistics_median(const tv_ns *values, size_t count)
{
    tv_ns middle = tv_statistics_select(values, count, count / 2);
    if (count % 2 == 1)
        return middle;
    tv_ns below = tv_statistics_select(values, count, count / 2 - 1);
    return below + (middle - below) / 2;
}

tv_ns tv_statistics_percentile(const tv_ns *values, size_t count, unsigned percent)
{
    assert(percent > 0 && percent < 100 && 100 % (100 - percent) == 0);
    return tv_statistics_select(values, count, count - count / (100 / (100 - percent)) - 1);
}

/* Select the percentiles of a frame from all its times, in any order. */
static void statistics_set_percentiles(struct tv_frame_statistics *frame, const tv_ns *lengths)
{
    size_t count = (size_t)frame->measured;
    frame->median = tv_statistics_median(lengths, count);
    frame->p90 = tv_statistics_percentile(lengths, count, 90);
    frame->p95 = tv_statistics_percentile(lengths, count, 95);
    frame->p99 = tv_statistics_percentile(lengths, count, 99);
}

/* Return sum / count, rounded to the nearest as the profile shows its time per call. */
static tv_ns statistics_average(int64_t sum, int64_t count)
{
    int64_t rest = sum % count, away = rest < 0 ? -rest : rest;
    return sum / count + (away >= count - away ? (rest < 0 ? -1 : 1) : 0);
}

/* Compute the figures that need all times of a frame. */
static void statistics_set_figures(struct tv_frame_statistics *frame, bool by_cpu,
                                   const tv_ns *lengths)
{
    int64_t sum = by_cpu ? frame->cpu : frame->length;
    if (sum == INT64_MAX && frame->self < 0) /* the sum saturated, and so did what was subtracted */
        frame->self = 0;
    if (frame->measured == 0) {
        frame->min = 0;
        return;
    }
    statistics_set_percentiles(frame, lengths);
    frame->average = statistics_average(sum, (int64_t)frame->measured);
}

/* ---- Passes over the rows ---- */

/* Return the statistics of a frame without slices. */
static struct tv_frame_statistics statistics_none(uint32_t frame)
{
    return (struct tv_frame_statistics){.frame = frame, .min = INT64_MAX};
}

/* The rows of a selection. */
struct selected_rows {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    bool *wanted;               /* [track] */
    struct tv_range_ends *ends; /* [track], of wanted ones */
    bool by_cpu;
};

/* List the rows of a selection: those of calls, and of async slices too when no tracks are chosen.
 */
static struct selected_rows statistics_rows(const struct tv_trace *trace,
                                            const struct tv_selection *selection, bool by_cpu)
{
    struct selected_rows rows = {
        .trace = trace,
        .selection = selection,
        .wanted = tv_selection_wanted(trace, selection),
        .ends = tv_alloc(trace->track_count, sizeof(struct tv_range_ends)),
        .by_cpu = by_cpu,
    };
    for (uint32_t i = 0; i < trace->track_count; i++) {
        rows.wanted[i] |= !selection->tracks && trace->tracks[i].kind == TV_TRACK_ASYNC;
        if (rows.wanted[i])
            rows.ends[i] = tv_range_ends_of(trace, i, selection);
    }
    return rows;
}

static void statistics_rows_release(struct selected_rows *rows)
{
    tv_free(rows->wanted);
    tv_free(rows->ends);
}

/* Find the slices of a row that overlap the range; false: there are none, or the row is not wanted.
 */
static bool statistics_row_range(const struct selected_rows *rows, uint32_t row, uint32_t range[2])
{
    if (!rows->wanted[rows->trace->rows[row].track])
        return false;
    tv_row_overlap(rows->trace, row, rows->selection->from, rows->selection->to, &range[0],
                   &range[1]);
    return range[0] < range[1];
}

/* Measuring of the slices of a track. */
struct slice_measure {
    const struct tv_trace *trace;
    const struct tv_range_ends *ends;
    bool by_cpu, has_cpu;
};

/* Return how the slices of a row are measured. */
static struct slice_measure statistics_measure(const struct selected_rows *rows, uint32_t row)
{
    uint32_t track = rows->trace->rows[row].track;
    return (struct slice_measure){rows->trace, &rows->ends[track], rows->by_cpu,
                                  tv_track_has_cpu(rows->trace, track)};
}

/* Get the time of a slice; false if it is unknown. */
static bool statistics_time(struct slice_measure measure, const struct tv_slice *slice, tv_ns *time)
{
    *time = measure.by_cpu ? slice->cpu_length : slice->length;
    return !measure.by_cpu || (measure.has_cpu && !(slice->flags & TV_SLICE_NO_CPU));
}

/* Add a slice to the statistics of its frame. */
static void statistics_add_slice(struct tv_frame_statistics *frame, const struct tv_slice *slice,
                                 struct slice_measure measure)
{
    tv_ns time;
    frame->count++;
    tv_time_add(&frame->length, slice->length);
    if (measure.has_cpu && !(slice->flags & TV_SLICE_NO_CPU)) {
        tv_time_add(&frame->cpu, slice->cpu_length);
        frame->cpu_count++;
    }
    if (!statistics_time(measure, slice, &time))
        return;
    frame->measured++;
    tv_time_add(&frame->self, time);
    frame->min = time < frame->min ? time : frame->min;
    frame->max = time > frame->max ? time : frame->max;
}

/* Return the frame of a slice. */
static uint32_t statistics_frame(const struct tv_trace *trace, const struct tv_slice *slice)
{
    return trace->paths.nodes[slice->path].frame;
}

/* Read the next slices of [first, end), clipped; return their number. */
static uint32_t statistics_read(const struct slice_measure *measure, uint32_t row, uint32_t first,
                                uint32_t end, struct tv_slice *slices)
{
    uint32_t count = end - first < READ_AT_ONCE ? end - first : READ_AT_ONCE;
    tv_slices_read(measure->trace, row, first, count, slices);
    for (uint32_t i = 0; i < count; i++)
        tv_slice_clip(&slices[i], measure->ends);
    return count;
}

/* Find the children of the slices in a range, a range of the row below; false if there are none. */
static bool statistics_child_range(const struct tv_trace *trace, uint32_t row,
                                   const uint32_t range[2], uint32_t inside[2])
{
    const uint8_t *flags = tv_row_columns(trace, row)->flags + trace->rows[row].first;
    uint32_t first = range[0], last = range[1], children;
    while (first < range[1] && !(flags[first] & TV_SLICE_HAS_CHILDREN))
        first++;
    if (first == range[1])
        return false;
    do
        last--;
    while (!(flags[last] & TV_SLICE_HAS_CHILDREN));
    tv_slice_children(trace, row, first, &inside[0], &children);
    tv_slice_children(trace, row, last, &inside[1], &children);
    inside[1] += children;
    return true;
}

/* Walks the parents of a range of children, in order. */
struct slice_parents {
    struct slice_measure measure;
    const uint8_t *flags;
    uint32_t next;
    bool known; /* the parent of the current child has a known time */
};

/* Begin a walk over the parents of a range of children. */
static struct slice_parents statistics_parents(const struct tv_trace *trace, uint32_t row,
                                               uint32_t first, struct slice_measure measure)
{
    const uint8_t *flags = tv_row_columns(trace, row)->flags + trace->rows[row].first;
    return (struct slice_parents){measure, flags, first, false};
}

/* Return what the next child takes from its parent's time. */
static tv_ns statistics_time_of_parent(struct slice_parents *around, const struct tv_slice *child)
{
    tv_ns time;
    if (child->flags & TV_SLICE_FIRST_CHILD) {
        while (!(around->flags[around->next] & TV_SLICE_HAS_CHILDREN))
            around->next++;
        around->known = !around->measure.by_cpu || !(around->flags[around->next] & TV_SLICE_NO_CPU);
        around->next++;
    }
    return statistics_time(around->measure, child, &time) && around->known ? time : 0;
}

/* Subtract times from the self times of the parents. */
static void statistics_subtract_children(const struct tv_trace *trace, uint32_t row,
                                         const uint32_t range[2], struct slice_parents *around,
                                         struct tv_frame_statistics *frames)
{
    struct tv_slice slices[READ_AT_ONCE];
    const struct tv_path_node *nodes = trace->paths.nodes;
    for (uint32_t at = range[0]; at < range[1];) {
        uint32_t count = statistics_read(&around->measure, row, at, range[1], slices);
        for (uint32_t i = 0; i < count; i++)
            tv_time_add(&frames[nodes[nodes[slices[i].path].parent].frame].self,
                        -statistics_time_of_parent(around, &slices[i]));
        at += count;
    }
}

/* Add the slices of a row, and subtract their children from them.  Rows are added from the first to
 * the last, but the order does not matter: sums are exact unless they saturate. */
static void statistics_add_row(const struct selected_rows *rows, uint32_t row,
                               const uint32_t range[2], struct tv_frame_statistics *frames)
{
    const struct tv_trace *trace = rows->trace;
    struct tv_slice slices[READ_AT_ONCE];
    struct slice_measure measure = statistics_measure(rows, row);
    struct slice_parents around = statistics_parents(trace, row, range[0], measure);
    uint32_t inside[2], cut[2];
    for (uint32_t at = range[0]; at < range[1];) {
        uint32_t count = statistics_read(&measure, row, at, range[1], slices);
        for (uint32_t i = 0; i < count; i++)
            statistics_add_slice(&frames[statistics_frame(trace, &slices[i])], &slices[i], measure);
        at += count;
    }
    for (uint32_t left = tv_row_cut(trace, row, rows->selection, range, cut); left > 0; left--) {
        struct tv_slice slice = tv_slice_get(trace, row, cut[left - 1]);
        frames[statistics_frame(trace, &slice)].cut++;
    }
    if (statistics_child_range(trace, row, range, inside))
        statistics_subtract_children(trace, row + 1, inside, &around, frames);
}

/* ---- All frames ---- */

/* First pass: count, sum and extremes of every frame. */
static struct tv_statistics *statistics_count_frames(const struct selected_rows *rows)
{
    const struct tv_trace *trace = rows->trace;
    struct tv_statistics *statistics = tv_alloc(1, sizeof *statistics);
    uint32_t range[2], count = 0;
    statistics->frames = tv_alloc(trace->head->frame_count, sizeof *statistics->frames);
    for (uint32_t i = 0; i < trace->head->frame_count; i++)
        statistics->frames[i] = statistics_none(i);
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (statistics_row_range(rows, row, range))
            statistics_add_row(rows, row, range, statistics->frames);
    for (uint32_t i = 0; i < trace->head->frame_count; i++)
        if (statistics->frames[i].count > 0)
            statistics->frames[count++] = statistics->frames[i];
    statistics->count = count;
    return statistics;
}

/* Frames whose lengths are collected in one pass. */
struct statistics_pass {
    struct tv_frame_statistics *frames;
    uint32_t count;
    uint64_t *place; /* [head->frame_count] where the frame's next length goes, or NOT_NOW */
    tv_ns *lengths;
};

#define NOT_NOW UINT64_MAX

/* Collect the lengths of a row's slices for the frames of this pass. */
static void statistics_collect_row(const struct selected_rows *rows, uint32_t row,
                                   const uint32_t range[2], struct statistics_pass *round)
{
    struct tv_slice slices[READ_AT_ONCE];
    struct slice_measure measure = statistics_measure(rows, row);
    tv_ns time;
    for (uint32_t at = range[0]; at < range[1];) {
        uint32_t count = statistics_read(&measure, row, at, range[1], slices);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t *place = &round->place[statistics_frame(rows->trace, &slices[i])];
            if (*place != NOT_NOW && statistics_time(measure, &slices[i], &time))
                round->lengths[(*place)++] = time;
        }
        at += count;
    }
}

/* Collect the times of the frames of a pass, and compute their figures.  The times of a frame lie
 * together, in the order in which the rows have them. */
static void statistics_round(const struct selected_rows *rows, struct statistics_pass *round)
{
    assert(round->count > 0);
    uint32_t range[2];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < round->count; i++) {
        round->place[round->frames[i].frame] = sum;
        sum += round->frames[i].measured;
    }
    round->lengths = tv_alloc((size_t)sum, sizeof *round->lengths);
    for (uint32_t row = 0; row < rows->trace->row_count; row++)
        if (statistics_row_range(rows, row, range))
            statistics_collect_row(rows, row, range, round);
    for (uint32_t i = 0; i < round->count; i++) {
        struct tv_frame_statistics *frame = &round->frames[i];
        statistics_set_figures(frame, rows->by_cpu,
                               round->lengths + round->place[frame->frame] - frame->measured);
        round->place[frame->frame] = NOT_NOW;
    }
    tv_free(round->lengths);
}

struct tv_statistics *tv_statistics_of(const struct tv_trace *trace,
                                       const struct tv_selection *selection, bool by_cpu)
{
    struct selected_rows rows = statistics_rows(trace, selection, by_cpu);
    struct tv_statistics *statistics = statistics_count_frames(&rows);
    struct statistics_pass round = {.place =
                                        tv_alloc(trace->head->frame_count, sizeof *round.place)};
    for (uint32_t i = 0; i < trace->head->frame_count; i++)
        round.place[i] = NOT_NOW;
    for (uint32_t done = 0; done < statistics->count; done += round.count) {
        uint64_t sum = 0;
        round.frames = statistics->frames + done;
        round.count = 0;
        do
            sum += round.frames[round.count++].measured;
        while (done + round.count < statistics->count &&
               sum + round.frames[round.count].measured <= LENGTHS_AT_ONCE);
        statistics_round(&rows, &round);
    }
    tv_free(round.place);
    statistics_rows_release(&rows);
    return statistics;
}

void tv_statistics_free(struct tv_statistics *statistics)
{
    if (!statistics)
        return;
    tv_free(statistics->frames);
    tv_free(statistics);
}

/* ---- One frame ---- */

/* Lengths of a frame's slices. */
struct length_list {
    tv_ns *list;
    size_t count, capacity;
};

/* Keep a slice if it is among the slowest. */
static void durations_add_slow(struct tv_durations *durations, const struct tv_slow_slice *slice)
{
    uint32_t at = durations->slowest_count;
    if (at == TV_SLOWEST && durations->slowest[at - 1].length >= slice->length)
        return;
    at -= at == TV_SLOWEST;
    for (; at > 0 && durations->slowest[at - 1].length < slice->length; at--)
        durations->slowest[at] = durations->slowest[at - 1];
    durations->slowest[at] = *slice;
    durations->slowest_count += durations->slowest_count < TV_SLOWEST;
}

/* Add up the times of direct children of the frame's slices in a range. */
static int64_t durations_children_time(const struct tv_trace *trace, uint32_t row,
                                       const uint32_t range[2], struct slice_measure measure,
                                       uint32_t frame)
{
    struct tv_slice slices[READ_AT_ONCE];
    const struct tv_path_node *nodes = trace->paths.nodes;
    struct slice_parents around = statistics_parents(trace, row, range[0], measure);
    uint32_t inside[2];
    int64_t sum = 0;
    if (!statistics_child_range(trace, row, range, inside))
        return 0;
    for (uint32_t at = inside[0]; at < inside[1];) {
        uint32_t count = statistics_read(&measure, row + 1, at, inside[1], slices);
        for (uint32_t i = 0; i < count; i++) {
            tv_ns time = statistics_time_of_parent(&around, &slices[i]);
            if (nodes[nodes[slices[i].path].parent].frame == frame)
                tv_time_add(&sum, time);
        }
        at += count;
    }
    return sum;
}

/* Add a time of the frame to its histogram, its slowest slices and its list. */
static void durations_add_time(struct tv_durations *durations, struct length_list *lengths,
                               const struct tv_slow_slice *slice)
{
    durations->buckets[tv_duration_bucket(slice->length)]++;
    durations_add_slow(durations, slice);
    lengths->list = tv_array_reserve(lengths->list, &lengths->capacity, lengths->count + 1,
                                     sizeof *lengths->list);
    lengths->list[lengths->count++] = slice->length;
}

/* Add the slices of one frame in a row; the search steps over all others. */
static void durations_add_row(const struct selected_rows *rows, const struct tv_call_search *search,
                              uint32_t row, const uint32_t range[2], struct tv_durations *durations,
                              struct length_list *lengths)
{
    const struct tv_trace *trace = rows->trace;
    struct slice_measure measure = statistics_measure(rows, row);
    struct tv_frame_statistics *figures = &durations->figures;
    uint32_t cut[2], cut_count = tv_row_cut(trace, row, rows->selection, range, cut);
    tv_ns time;
    for (uint32_t i = range[0]; (i = tv_call_search_next(search, row, i, range[1])) < range[1];
         i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        struct tv_slow_slice slow = {row, i, slice.start, 0};
        tv_slice_clip(&slice, measure.ends);
        statistics_add_slice(figures, &slice, measure);
        figures->cut += (cut_count > 0 && cut[0] == i) || (cut_count > 1 && cut[1] == i);
        if (statistics_time(measure, &slice, &time)) {
            slow.length = time;
            durations_add_time(durations, lengths, &slow);
        }
    }
    tv_time_add(&figures->self,
                -durations_children_time(trace, row, range, measure, figures->frame));
}

/* Add the lengths of the slices of a frame to a list, and to the sums of `durations`. */
static void durations_add_rows(const struct tv_trace *trace, const struct tv_selection *selection,
                               bool by_cpu, struct tv_durations *durations,
                               struct length_list *lengths)
{
    struct selected_rows rows = statistics_rows(trace, selection, by_cpu);
    struct tv_call_search search;
    uint32_t range[2];
    tv_call_search_init(&search, trace, durations->figures.frame);
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (tv_call_search_has_row(&search, row) && statistics_row_range(&rows, row, range))
            durations_add_row(&rows, &search, row, range, durations, lengths);
    tv_call_search_release(&search);
    statistics_rows_release(&rows);
}

void tv_durations_of(const struct tv_trace *trace, const struct tv_selection *selection,
                     uint32_t frame, bool by_cpu, struct tv_durations *durations)
{
    struct length_list lengths = {NULL, 0, 0};
    *durations = (struct tv_durations){.figures = statistics_none(frame)};
    durations_add_rows(trace, selection, by_cpu, durations, &lengths);
    statistics_set_figures(&durations->figures, by_cpu, lengths.list);
    tv_free(lengths.list);
}

tv_ns *tv_durations_list(const struct tv_trace *trace, const struct tv_selection *selection,
                         uint32_t frame, bool by_cpu, size_t *count)
{
    struct length_list lengths = {NULL, 0, 0};
    struct tv_durations durations = {.figures = statistics_none(frame)};
    durations_add_rows(trace, selection, by_cpu, &durations, &lengths);
    *count = lengths.count;
    return lengths.list;
}

/* Add the slices of a row of calls. */
static void slice_sums_add_row(const struct tv_trace *trace, uint32_t row,
                               struct tv_slice_sums *sums)
{
    struct tv_slice slices[64];
    int64_t length = 0;
    for (uint32_t first = 0, count; first < trace->rows[row].count; first += count) {
        count = trace->rows[row].count - first;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, row, first, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            length += slices[i].length; /* slices of a row do not overlap */
            sums->unfinished += (slices[i].flags & TV_SLICE_OPEN) != 0;
        }
    }
    sums->slices += trace->rows[row].count;
    tv_time_add(&sums->length, length);
    /* the length of a deeper slice is subtracted from its parent again */
    tv_time_add(&sums->self, trace->rows[row].depth == 0 ? length : 0);
}

/* Count the processors, including those that only samples name. */
static uint32_t slice_sums_count_cpus(const struct tv_trace *trace)
{
    struct tv_map numbers;
    uint32_t count = 0;
    tv_map_init(&numbers);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_CPU)
            continue;
        tv_map_set(&numbers, tv_cpu_number(trace, i), 0);
        count++;
    }
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        uint32_t cpu = trace->tables.samples.rows[i].cpu;
        if (cpu == TV_NONE || tv_map_find(&numbers, cpu) != TV_NONE)
            continue;
        tv_map_set(&numbers, cpu, 0);
        count++;
    }
    tv_map_release(&numbers);
    return count;
}

struct tv_slice_sums tv_slice_sums_of(const struct tv_trace *trace)
{
    struct tv_slice_sums sums = {0};
    for (uint32_t i = 0; i < trace->row_count; i++) {
        enum tv_track_kind kind = trace->tracks[trace->rows[i].track].kind;
        if (tv_track_has_calls(&trace->tracks[trace->rows[i].track]))
            slice_sums_add_row(trace, i, &sums);
        else if (kind == TV_TRACK_ASYNC)
            sums.async += trace->rows[i].count;
        else if (kind == TV_TRACK_CPU)
            sums.cpu_slices += trace->rows[i].count;
    }
    sums.cpus = slice_sums_count_cpus(trace);
    return sums;
}

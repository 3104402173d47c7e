/* SPDX-License-Identifier: Apache-2.0 */
/* finalize.c - what can be computed only when all inputs of a trace are read.
 *
 * tv_trace_finalize shows the order of the steps.  Each needs the results of those before it:
 * clocks are aligned first, then processes and threads of one machine become one (which renumbers
 * them), then names spread, tables are sorted, and times get their origin and extent.
 *
 *     input 0, a clock of its own     |=====|              offset[0] = distance from its zero
 *     input 1, an epoch                   |==========|     offset[1] = -origin of the trace
 *     axis of the trace               0 -------------->    = time of the input + offset[input]
 *
 * Epochs are so large that doubles and 32-bit halves would lose digits: hence the origin.  Times in
 * columns and tables stay as the file has them; whoever reads one adds the offset.
 *
 * Sums of times may exceed 64 bits in damaged files.  Analyses saturate, and the trace says so in a
 * diagnostic.  To know it for certain every slice would have to be read, so bounds come first: the
 * extent of a row for its wall times, the last reading of a thread for its CPU times.
 *
 * Derived CPU times: a program's trace has wall times, the kernel's trace of the same machine tells
 * when the thread ran.  Its CPU clock at a moment is the sum of its running times before; both ends
 * of each slice are read on it, and all its columns are written again. */
#include "model/finalize.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/assembly/assembly.h"
#include "model/builder/builder_internal.h"
#include "model/columns.h"
#include "model/trace.h"
#include <assert.h>

void tv_trace_reserve_offsets(struct tv_trace *trace)
{
    uint32_t count = trace->head->input_count;
    trace->offset = tv_realloc(trace->offset, count, sizeof *trace->offset);
    while (trace->offset_count < count)
        trace->offset[trace->offset_count++] = 0;
}

/* Return true when the input has times of its own that the axis must cover. */
static bool finalize_has_origin(const struct tv_input *input)
{
    return input->assembled && !input->eventless;
}

/* Epochs are huge numbers, so the time 0 of the trace is the earliest time of all assembled inputs.
 */
static void finalize_origin(struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    bool any = false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_ns origin = head->inputs[i].origin + trace->offset[i];
        if (finalize_has_origin(&head->inputs[i]) && (!any || origin < trace->origin))
            trace->origin = origin;
        any |= finalize_has_origin(&head->inputs[i]);
    }
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].assembled)
            trace->offset[i] -= trace->origin;
}

/* Range of times; empty while `any` is false. */
struct trace_extent {
    tv_ns start, end;
    bool any;
};

/* Extend the range so that it contains these times. */
static void extent_cover(struct trace_extent *span, tv_ns start, tv_ns end)
{
    if (!span->any || start < span->start)
        span->start = start;
    if (!span->any || end > span->end)
        span->end = end;
    span->any = true;
}

/* Extend from the first record of a track to its last one, or to the end of the last call. */
static void extent_cover_track(struct trace_extent *span, const struct tv_trace *trace,
                               const struct tv_track *track)
{
    const struct tv_input *input = &trace->head->inputs[track->input];
    bool wall = input->clocks & TV_CLOCK_WALL;
    tv_ns offset = trace->offset[track->input];
    tv_ns start = (wall ? track->first_wall : track->first_cpu) * input->tick_ns + offset;
    tv_ns end = (wall ? track->last_wall : track->last_cpu) * input->tick_ns + offset;
    uint32_t count = track->row_count > 0 ? trace->rows[track->first_row].count : 0;
    if (count > 0) {
        tv_ns last = tv_slice_end(trace, track->first_row, count - 1);
        end = last > end ? last : end;
    }
    extent_cover(span, start, end);
}

#define COVER_TABLE(span, trace, table, first, last)                                               \
    for (size_t i = 0; i < (trace)->tables.table.count; i++)                                       \
    extent_cover(span,                                                                             \
                 tv_trace_time(trace, (trace)->tables.table.rows[i].input,                         \
                               (trace)->tables.table.rows[i].first),                               \
                 tv_trace_time(trace, (trace)->tables.table.rows[i].input,                         \
                               (trace)->tables.table.rows[i].last))

/* Return the first sample after those of the input of sample `first`: samples are sorted by input.
 */
static size_t finalize_samples_end(const struct tv_tables *tables, size_t first)
{
    const struct tv_sample *rows = tables->samples.rows;
    size_t end = first;
    TV_LOWER_BOUND(end, tables->samples.count, i, rows[i].input <= rows[first].input);
    return end;
}

/* Cover the samples. On an axis of weights a sample reaches as far as its weight; else the last
 * sample of an input is the one that reaches furthest. */
static void extent_cover_samples(struct trace_extent *span, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t first = 0, end; first < tables->samples.count; first = end) {
        uint32_t input = tables->samples.rows[first].input;
        end = finalize_samples_end(tables, first);
        tv_ns last = tables->samples.rows[end - 1].time;
        for (size_t i = first; trace->head->inputs[input].weight_axis && i < end; i++) {
            tv_ns weight_end = tv_weight_end(&tables->samples.rows[i]);
            last = weight_end > last ? weight_end : last;
        }
        extent_cover(span, tv_trace_time(trace, input, tables->samples.rows[first].time),
                     tv_trace_time(trace, input, last));
    }
}

/* Cover everything that is not a slice. A table that is missing here could lie outside of the
 * timeline. */
static void extent_cover_tables(struct trace_extent *span, const struct tv_trace *trace)
{
    extent_cover_samples(span, trace);
    COVER_TABLE(span, trace, instants, time, time);
    COVER_TABLE(span, trace, wakeups, time, time);
    COVER_TABLE(span, trace, blockings, time, time);
    COVER_TABLE(span, trace, memory_dumps, time, time);
    COVER_TABLE(span, trace, objects, created, deleted);
    for (size_t i = 0; i < trace->tables.counters.count; i++) {
        const struct tv_counter *counter = &trace->tables.counters.rows[i];
        if (counter->sample_count == 0)
            continue;
        const tv_ns *times = trace->tables.counter_times + counter->first_sample;
        extent_cover(span, tv_trace_time(trace, counter->input, times[0]),
                     tv_trace_time(trace, counter->input, times[counter->sample_count - 1]));
    }
}

/* Return the range from the first record of the trace to the last one. */
static struct trace_extent extent_of_trace(const struct tv_trace *trace)
{
    struct trace_extent span = {0};
    for (uint32_t i = 0; i < trace->track_count; i++)
        extent_cover_track(&span, trace, &trace->tracks[i]);
    extent_cover_tables(&span, trace);
    return span;
}

/* Return where an input begins on the axis. */
static tv_ns finalize_input_begin(const struct tv_trace *trace, uint32_t input)
{
    const struct tv_input *in = &trace->head->inputs[input];
    return (in->assembled ? in->origin : 0) + trace->offset[input];
}

/* Apply the shifts that the user asked for.  If an input would begin before 0, all inputs move
 * right, so that the axis keeps its zero.  Return false when there is no shift, or sums could
 * overflow. */
static bool finalize_move_inputs(struct tv_trace *trace, const struct trace_extent *span)
{
    const struct tv_trace_info *head = trace->head;
    bool any = false;
    tv_ns first = 0;
    for (uint32_t i = 0; i < head->input_count; i++)
        any |= head->inputs[i].moved != 0;
    if (!any || span->start < -TV_MOVE_MAX || span->end > TV_MOVE_MAX)
        return false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        trace->offset[i] += head->inputs[i].moved;
        if (!head->inputs[i].eventless && finalize_input_begin(trace, i) < first)
            first = finalize_input_begin(trace, i);
    }
    for (uint32_t i = 0; i < head->input_count; i++)
        trace->offset[i] -= first;
    trace->origin += first;
    return true;
}

/* Mark inputs without calls, which need no CPU clock. */
static void finalize_mark_callless(struct tv_trace *trace)
{
    struct tv_input *inputs = trace->head->inputs;
    for (uint32_t i = 0; i < trace->head->input_count; i++)
        inputs[i].callless = inputs[i].assembled;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_CPU && track->kind != TV_TRACK_STATES && track->slice_count > 0)
            inputs[track->input].callless = false;
    }
}

/* Return an upper bound of the sum of CPU times in a row.  Records of a stream are in order, so the
 * thread's own total suffices; other inputs need a look at every slice. */
static tv_ns finalize_row_cpu_bound(const struct tv_trace *trace, uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    const struct tv_columns *columns = &trace->columns[r->columns];
    const struct tv_track *track = &trace->tracks[r->track];
    tv_ns sum = 0;
    if (!columns->cpu_start)
        return 0;
    if (!trace->head->inputs[r->input].assembled)
        return tv_time_times(track->last_cpu - track->first_cpu, tv_track_tick(trace, r->track));
    for (uint32_t i = 0; i < r->count; i++)
        tv_time_add(&sum, tv_slice_get(trace, row, i).cpu_length);
    return sum;
}

/* Slices of a row do not overlap, so its extent is an upper bound. */
static tv_ns finalize_row_wall_bound(const struct tv_trace *trace, uint32_t row)
{
    uint32_t count = trace->rows[row].count;
    return count > 0 ? tv_slice_end(trace, row, count - 1) - tv_slice_start(trace, row, 0) : 0;
}

/* Check whether sums of times can overflow.  Bounds settle this for most traces without a look at
 * each slice. */
static void finalize_check_saturation(const struct tv_trace *trace)
{
    tv_ns wall = 0, cpu = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        tv_time_add(&wall, finalize_row_wall_bound(trace, row));
        tv_time_add(&cpu, finalize_row_cpu_bound(trace, row));
    }
    if (wall < INT64_MAX && cpu < INT64_MAX)
        return;
    wall = cpu = 0;
    for (uint32_t row = 0; row < trace->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            struct tv_slice slice = tv_slice_get(trace, row, i);
            tv_time_add(&wall, slice.length);
            tv_time_add(&cpu, slice.cpu_length);
        }
    tv_trace_info_note_saturation(trace->head, wall, cpu);
}

/* Return whether the times between the samples of `threads` threads surely fit: those of a thread
 * are at most the time of all samples, and its last sample lasts no longer.  This settles it for
 * all but odd files without a look at each sample. */
static bool finalize_sample_times_fit(const struct tv_trace *trace, size_t threads)
{
    const struct tv_sample *rows = trace->tables.samples.rows;
    tv_ns start = INT64_MAX, end = INT64_MIN;
    for (size_t first = 0, next; first < trace->tables.samples.count; first = next) {
        const struct tv_input *input = &trace->head->inputs[rows[first].input];
        next = finalize_samples_end(&trace->tables, first);
        tv_ns last = rows[next - 1].time, input_end;
        if (rows[first].time < -TV_MOVE_MAX || last > TV_MOVE_MAX ||
            __builtin_add_overflow(input->origin, input->last_wall, &input_end) ||
            input_end > TV_MOVE_MAX)
            return false;
        last = input_end > last ? input_end : last;
        start = rows[first].time < start ? rows[first].time : start;
        end = last > end ? last : end;
    }
    return start > end || tv_time_times(end - start, 2 * (int64_t)threads) < INT64_MAX;
}

/* Return the sum of the times between single samples of a thread; the last sample as in
 * TV_SAMPLES_TIME (analysis/calltree/derived_trees.c). */
static tv_ns finalize_sum_sample_times(const struct tv_trace *trace, size_t threads)
{
    const struct tv_tables *tables = &trace->tables;
    struct {
        const struct tv_sample *last;
        tv_ns gap;
    } *of = tv_alloc(threads, sizeof *of);
    tv_ns times = 0;
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        size_t thread = sample->thread < threads - 1 ? sample->thread : threads - 1;
        if (of[thread].last && of[thread].last->time < sample->time) {
            uint64_t gap = (uint64_t)sample->time - (uint64_t)of[thread].last->time;
            of[thread].gap = gap < INT64_MAX ? (tv_ns)gap : INT64_MAX;
            tv_time_add(&times, of[thread].gap);
        }
        of[thread].last = sample;
    }
    for (size_t thread = 0; thread < threads; thread++) {
        tv_ns length = of[thread].last ? tv_trace_last_sample_length(trace, of[thread].last) : -1;
        tv_time_add(&times, length >= 0 ? length : of[thread].gap);
    }
    tv_free(of);
    return times;
}

/* Check whether sums of sample weights, or of the times between samples, can overflow. */
static void finalize_check_sample_saturation(const struct tv_trace *trace)
{
    size_t threads =
        (size_t)trace->head->thread_count + 1; /* the last one: samples without a thread */
    tv_ns times =
        finalize_sample_times_fit(trace, threads) ? 0 : finalize_sum_sample_times(trace, threads);
    tv_trace_info_note_saturation(trace->head, times, trace->tables.positive_weights);
}

void tv_trace_finalize(struct tv_trace *trace)
{
    tv_trace_reserve_offsets(trace);
    tv_trace_align_clocks(trace);
    bool assigned = tv_known_names_assign_processes(trace);
    tv_trace_merge_machines(trace, assigned);
    tv_known_names_apply(trace);
    tv_tables_finish(&trace->tables);
    tv_objects_index(trace);
    trace->cpu_axis = !(tv_trace_info_clocks(trace->head) & TV_CLOCK_WALL);
    finalize_origin(trace);
    struct trace_extent span = extent_of_trace(trace);
    if (finalize_move_inputs(trace, &span))
        span = extent_of_trace(trace);
    tv_trace_derive_cpu_times(trace);
    finalize_mark_callless(trace);
    assert(trace->offset_count == trace->head->input_count);
    trace->start = span.start;
    trace->end = span.end;
    finalize_check_saturation(trace);
    finalize_check_sample_saturation(trace);
}

/* Return for each thread the number of its state track plus 1, or 0; NULL when no thread has one.
 */
static uint32_t *derive_find_state_tracks(const struct tv_trace *trace)
{
    uint32_t threads = trace->head->thread_count;
    uint32_t *states = tv_alloc(threads, sizeof *states);
    bool any = false;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_STATES || track->thread >= threads)
            continue;
        states[track->thread] = i + 1;
        any = true;
    }
    if (any)
        return states;
    tv_free(states);
    return NULL;
}

/* Return the times in which the thread ran, on the axis of the trace. */
static struct tv_running *derive_read_runs(const struct tv_trace *trace, uint32_t row,
                                           size_t *count)
{
    uint32_t slices = trace->rows[row].count;
    struct tv_running *runs = tv_alloc(slices, sizeof *runs);
    int64_t before = 0;
    *count = 0;
    for (uint32_t i = 0; i < slices; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        if (tv_path_frame(trace, slice.path)->colour != TV_COLOUR_RUNNING)
            continue;
        runs[(*count)++] = (struct tv_running){slice.start, slice.start + slice.length, before};
        before += slice.length;
    }
    return runs;
}

/* The columns of a thread that get CPU times. */
struct cpu_derivation {
    struct tv_trace *trace;
    struct tv_running_clock clock;
    uint32_t first, end;      /* [first, end) */
    int64_t tick, offset;     /* of their input */
    size_t near;              /* position of the last query */
    struct tv_wide_time *was; /* of all slices */
};

/* Return the thread's CPU clock at a time of the input, in its ticks. */
static int64_t derive_cpu_at(struct cpu_derivation *t, int64_t time)
{
    return tv_running_clock_at(&t->clock, time * t->tick + t->offset, &t->near) / t->tick;
}

/* Write a row again with the CPU clock read at both ends of each slice. */
static void derive_row(struct cpu_derivation *t, struct tv_columns *columns,
                       const struct tv_row *row)
{
    struct tv_row_writer place = {row->first, row->first_block, 0, row->count};
    for (uint32_t i = 0; i < row->count; i++) {
        const struct tv_wide_time *was = &t->was[row->first + i];
        struct tv_slice_times times = {was->start, was->length, derive_cpu_at(t, was->start), 0};
        times.cpu_length = derive_cpu_at(t, was->start + was->length) - times.cpu_start;
        tv_row_write_slice(columns, &place, &times);
    }
    tv_columns_rank(columns, row);
}

/* Set the CPU times of the track, and note that the input has that clock now. */
static void derive_track(struct cpu_derivation *t, struct tv_track *track)
{
    struct tv_input *input = &t->trace->head->inputs[track->input];
    track->first_cpu = derive_cpu_at(t, track->first_wall);
    track->last_cpu = derive_cpu_at(t, track->last_wall);
    input->clocks |= TV_CLOCK_CPU;
    if (track->last_cpu > input->last_cpu)
        input->last_cpu = track->last_cpu;
}

/* Rewrite all rows of the thread's columns: 32 bits may not suffice any more. */
static void derive_columns(struct cpu_derivation *t)
{
    struct tv_columns *columns = &t->trace->columns[t->trace->rows[t->first].columns];
    t->was = tv_alloc((size_t)columns->count, sizeof *t->was);
    for (uint32_t row = t->first; row < t->end; row++) {
        const struct tv_row *r = &t->trace->rows[row];
        for (uint32_t i = 0; i < r->count; i++)
            t->was[r->first + i] = tv_columns_ticks(columns, r, i);
    }
    tv_columns_add_cpu(columns);
    for (uint32_t row = t->first; row < t->end; row++) {
        derive_row(t, columns, &t->trace->rows[row]);
        derive_track(t, &t->trace->tracks[t->trace->rows[row].track]);
    }
    tv_free(t->was);
}

/* The rows of a thread's tracks are consecutive and have columns of their own. */
static void derive_thread(struct tv_trace *trace, const struct tv_track *track, uint32_t states)
{
    size_t count;
    struct tv_running *runs = derive_read_runs(trace, trace->tracks[states].first_row, &count);
    struct cpu_derivation t = {
        .trace = trace,
        .clock = {runs, count},
        .first = track->first_row,
        .end = track->first_row,
        .tick = trace->head->inputs[track->input].tick_ns,
        .offset = trace->offset[track->input],
    };
    while (t.end < trace->row_count &&
           trace->rows[t.end].columns == trace->rows[track->first_row].columns)
        t.end++;
    if (count > 0)
        derive_columns(&t);
    tv_free(runs);
}

void tv_trace_derive_cpu_times(struct tv_trace *trace)
{
    uint32_t *states = trace->head->input_count > 1 ? derive_find_state_tracks(trace) : NULL;
    for (uint32_t i = 0; states && i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        bool calls = track->kind == TV_TRACK_THREAD || track->kind == TV_TRACK_OVERFLOW;
        if (!calls || track->slice_count == 0 || states[track->thread] == 0 ||
            tv_track_has_cpu(trace, i) || !tv_track_has_wall(trace, i))
            continue;
        uint32_t told = states[track->thread] - 1;
        if (trace->tracks[told].input != track->input)
            derive_thread(trace, track, told);
    }
    tv_free(states);
}

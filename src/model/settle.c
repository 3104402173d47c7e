/* SPDX-License-Identifier: Apache-2.0 */
/* What is found out about a trace when all its inputs are there. */
#include "base/memory.h"
#include "model/builder_trace.h"
#include "model/clocks.h"
#include "model/known_names.h"
#include "model/machines.h"
#include "model/objects.h"
#include "model/run_times.h"

void tv_trace_reserve_offsets(struct tv_trace *trace)
{
    uint32_t count = trace->head->input_count;
    trace->offset = tv_realloc(trace->offset, count, sizeof *trace->offset);
    while (trace->offset_count < count)
        trace->offset[trace->offset_count++] = 0;
}

static bool has_origin(const struct tv_input *input)
{
    return input->assembled && !input->eventless;
}

/* Epochs are large and far from 0: assembled inputs count from the first time of any of them. */
static void find_origin(struct tv_trace *trace)
{
    const struct tv_head *head = trace->head;
    bool any = false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_ns origin = head->inputs[i].origin + trace->offset[i];
        if (has_origin(&head->inputs[i]) && (!any || origin < trace->origin))
            trace->origin = origin;
        any |= has_origin(&head->inputs[i]);
    }
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].assembled)
            trace->offset[i] -= trace->origin;
}

struct span {
    tv_ns start, end;
    bool any;
};

static void cover(struct span *span, tv_ns start, tv_ns end)
{
    if (!span->any || start < span->start)
        span->start = start;
    if (!span->any || end > span->end)
        span->end = end;
    span->any = true;
}

/* From a track's first record to its last one or the last end of a call. */
static void cover_track(struct span *span, const struct tv_trace *trace,
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
    cover(span, start, end);
}

#define COVER_TABLE(span, trace, table, first, last)                                               \
    for (size_t i = 0; i < (trace)->tables.table.count; i++)                                       \
    cover(span,                                                                                    \
          tv_trace_time(trace, (trace)->tables.table.rows[i].input,                                \
                        (trace)->tables.table.rows[i].first),                                      \
          tv_trace_time(trace, (trace)->tables.table.rows[i].input,                                \
                        (trace)->tables.table.rows[i].last))

static void cover_tables(struct span *span, const struct tv_trace *trace)
{
    COVER_TABLE(span, trace, instants, time, time);
    COVER_TABLE(span, trace, samples, time, time);
    COVER_TABLE(span, trace, wakeups, time, time);
    COVER_TABLE(span, trace, blockings, time, time);
    COVER_TABLE(span, trace, memory_dumps, time, time);
    COVER_TABLE(span, trace, objects, created, deleted);
    for (size_t i = 0; i < trace->tables.counters.count; i++) {
        const struct tv_counter *counter = &trace->tables.counters.rows[i];
        const tv_ns *times = trace->tables.counter_times + counter->first_sample;
        if (counter->sample_count > 0)
            cover(span, tv_trace_time(trace, counter->input, times[0]),
                  tv_trace_time(trace, counter->input, times[counter->sample_count - 1]));
    }
}

static struct span cover_all(const struct tv_trace *trace)
{
    struct span span = {0};
    for (uint32_t i = 0; i < trace->track_count; i++)
        cover_track(&span, trace, &trace->tracks[i]);
    cover_tables(&span, trace);
    return span;
}

/* Where an input begins on the axis. */
static tv_ns begin_of(const struct tv_trace *trace, uint32_t input)
{
    const struct tv_input *in = &trace->head->inputs[input];
    return (in->assembled ? in->origin : 0) + trace->offset[input];
}

/* Moves the inputs that were asked to.  What would begin before 0 pushes all others back, so that
 * the axis keeps its zero.  False: none is, or the sums would not fit. */
static bool move_inputs(struct tv_trace *trace, const struct span *span)
{
    const struct tv_head *head = trace->head;
    bool any = false;
    tv_ns first = 0;
    for (uint32_t i = 0; i < head->input_count; i++)
        any |= head->inputs[i].moved != 0;
    if (!any || span->start < -TV_MOVE_MAX || span->end > TV_MOVE_MAX)
        return false;
    for (uint32_t i = 0; i < head->input_count; i++) {
        trace->offset[i] += head->inputs[i].moved;
        if (!head->inputs[i].eventless && begin_of(trace, i) < first)
            first = begin_of(trace, i);
    }
    for (uint32_t i = 0; i < head->input_count; i++)
        trace->offset[i] -= first;
    trace->origin += first;
    return true;
}

/* What tells no calls lacks no clock for them. */
static void find_callless(struct tv_trace *trace)
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

/* The length of a row by its CPU clock, at least: of threads whose records came in order it is that
 * of the thread, else it has to be looked up. */
static tv_ns cpu_bound(const struct tv_trace *trace, uint32_t row)
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

/* Slices of a row do not overlap. */
static tv_ns wall_bound(const struct tv_trace *trace, uint32_t row)
{
    uint32_t count = trace->rows[row].count;
    return count > 0 ? tv_slice_end(trace, row, count - 1) - tv_slice_start(trace, row, 0) : 0;
}

/* Finds whether lengths can be added up: few traces need a look at each of them. */
static void find_saturation(const struct tv_trace *trace)
{
    tv_ns wall = 0, cpu = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        tv_time_add(&wall, wall_bound(trace, row));
        tv_time_add(&cpu, cpu_bound(trace, row));
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
    tv_head_tell_saturation(trace->head, wall, cpu);
}

/* Find whether the weights of samples can be added up, and the times from each to the next of its
 * thread; the last lasts as long as the one before (analysis/calltree/derived_trees.c). */
static void find_sample_saturation(const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    size_t threads = (size_t)trace->head->thread_count + 1; /* the last: of no thread */
    struct {
        const struct tv_sample *last;
        tv_ns gap;
    } *of = tv_alloc(threads, sizeof *of);
    tv_ns weights = 0, times = 0;
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        size_t thread = sample->thread < threads - 1 ? sample->thread : threads - 1;
        tv_time_add(&weights, sample->weight > 0 ? sample->weight : 0);
        if (of[thread].last && of[thread].last->time < sample->time) {
            uint64_t gap = (uint64_t)sample->time - (uint64_t)of[thread].last->time;
            of[thread].gap = gap < INT64_MAX ? (tv_ns)gap : INT64_MAX;
            tv_time_add(&times, of[thread].gap);
        }
        of[thread].last = sample;
    }
    for (size_t thread = 0; thread < threads; thread++)
        tv_time_add(&times, of[thread].gap);
    tv_head_tell_saturation(trace->head, times, weights);
    tv_free(of);
}

void tv_trace_settle(struct tv_trace *trace)
{
    tv_trace_reserve_offsets(trace);
    tv_trace_tie_clocks(trace);
    tv_known_names_place(trace);
    tv_trace_join_machines(trace);
    tv_known_names_apply(trace);
    tv_tables_finish(&trace->tables);
    tv_objects_index(trace);
    trace->cpu_axis = !(tv_head_clocks(trace->head) & TV_CLOCK_WALL);
    find_origin(trace);
    struct span span = cover_all(trace);
    if (move_inputs(trace, &span))
        span = cover_all(trace);
    tv_trace_time_runs(trace);
    find_callless(trace);
    trace->start = span.start;
    trace->end = span.end;
    find_saturation(trace);
    find_sample_saturation(trace);
}

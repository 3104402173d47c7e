/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_tables.c - Perfetto track events from the tables of a trace.
 *
 * An arrow has an id of its own, which the events at its two ends carry.  Readers take the earlier
 * event for its beginning.  So an arrow to a slice that began before the other end is carried by
 * the event that ends this slice.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "writers/trace/perfetto_parts.h"

/* Fields of TrackEvent. */
enum {
    EVENT_COUNTER_INTEGER = 30,
    EVENT_COUNTER_REAL = 44,
    EVENT_FLOW = 47,
    EVENT_LAST_FLOW = 48,
};

/* ---- Flows ---- */

/* Return the time at which the slice or the instant of an end begins, on the trace's axis. */
static tv_ns perfetto_flow_start(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    if (!tv_flow_end_is_instant(end))
        return tv_slice_start(trace, end->row, end->index);
    const struct tv_instant *instant = &trace->tables.instants.rows[end->index];
    return tv_trace_time(trace, instant->input, instant->time);
}

/* Return true when readers see the beginning of `a` before that of `b`: it is earlier, or at the
 * same time and written earlier.  Slices are written in the order of their tracks and depths,
 * instants after them. */
static bool perfetto_begins_before(const struct tv_trace *trace, const struct tv_flow_end *a,
                                   const struct tv_flow_end *b)
{
    tv_ns a_start = perfetto_flow_start(trace, a), b_start = perfetto_flow_start(trace, b);
    if (a_start != b_start)
        return a_start < b_start;
    if (a->row != b->row)
        return a->row < b->row; /* TV_NONE, an instant, is the largest */
    return a->index < b->index;
}

static void perfetto_add_flow_end(struct tv_perfetto_writer *writer, const struct tv_flow_end *end,
                                  uint64_t id, bool terminates, bool with_end)
{
    writer->flow_ends = tv_array_reserve(writer->flow_ends, &writer->flow_end_capacity,
                                         writer->flow_end_count + 1, sizeof *writer->flow_ends);
    writer->flow_ends[writer->flow_end_count++] =
        (struct tv_perfetto_flow_end){end->row, end->index, with_end, terminates, id};
}

/* Return true when the slice of an end is written with an end later than the beginning of the
 * other. */
static bool perfetto_ends_after(const struct tv_perfetto_writer *writer,
                                const struct tv_flow_end *end, const struct tv_flow_end *other)
{
    if (tv_flow_end_is_instant(end))
        return false;
    struct tv_slice slice = tv_slice_get(writer->trace, end->row, end->index);
    return !tv_perfetto_stays_open(writer, end->row, &slice) &&
           slice.start + slice.length > perfetto_flow_start(writer->trace, other);
}

static int perfetto_compare_flow_ends(const void *left, const void *right)
{
    const struct tv_perfetto_flow_end *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void tv_perfetto_collect_flows(struct tv_perfetto_writer *writer)
{
    const struct tv_trace *trace = writer->trace;
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        struct tv_bytes name =
            tv_trace_info_text(trace->head, trace->head->frames[flow->frame].name);
        bool ordered = perfetto_begins_before(trace, &flow->from, &flow->to);
        if (!ordered && !perfetto_ends_after(writer, &flow->to, &flow->from)) {
            writer->losses->flows++;
            continue;
        }
        perfetto_add_flow_end(writer, &flow->from, i + 1, false, false);
        perfetto_add_flow_end(writer, &flow->to, i + 1, true, !ordered);
        writer->losses->flow_names += name.length > 0 && !tv_bytes_equal(name, TV_BYTES("flow"));
    }
    if (writer->flow_end_count > 0)
        qsort(writer->flow_ends, writer->flow_end_count, sizeof *writer->flow_ends,
              perfetto_compare_flow_ends);
}

static bool perfetto_flow_is_before(const struct tv_perfetto_flow_end *end, uint32_t row,
                                    uint32_t index)
{
    return end->row != row ? end->row < row : end->index < index;
}

void tv_perfetto_put_flows(struct tv_perfetto_writer *writer, uint32_t row, uint32_t index,
                           bool with_end)
{
    size_t at = 0;
    TV_LOWER_BOUND(at, writer->flow_end_count, i,
                   perfetto_flow_is_before(&writer->flow_ends[i], row, index));
    for (; at < writer->flow_end_count; at++) {
        const struct tv_perfetto_flow_end *end = &writer->flow_ends[at];
        if (end->row != row || end->index != index)
            break;
        if (end->with_end == with_end)
            tv_protobuf_put_fixed64(&writer->event, end->terminates ? EVENT_LAST_FLOW : EVENT_FLOW,
                                    end->id);
    }
}

/* ---- Instants ---- */

/* Return the track of an instant by its scope. */
static uint64_t perfetto_instant_track(const struct tv_perfetto_writer *writer,
                                       const struct tv_instant *instant)
{
    if (instant->of == TV_NONE)
        return tv_perfetto_global_track(writer);
    if (instant->scope == TV_SCOPE_THREAD)
        return tv_perfetto_thread_track(writer, instant->of);
    if (instant->scope == TV_SCOPE_PROCESS)
        return tv_perfetto_process_track(writer, instant->of);
    return tv_perfetto_slice_track(writer, instant->of);
}

static void perfetto_put_instant(struct tv_perfetto_writer *writer, uint32_t number)
{
    const struct tv_instant *instant = &writer->trace->tables.instants.rows[number];
    tv_perfetto_begin_event(writer, TV_PERFETTO_INSTANT, perfetto_instant_track(writer, instant));
    tv_perfetto_name_event(writer, instant->frame);
    tv_perfetto_put_flows(writer, TV_NONE, number, false);
    tv_perfetto_describe(writer, instant->input, instant->offset, TV_NO_OFFSET);
    tv_perfetto_put_event(writer, tv_trace_time(writer->trace, instant->input, instant->time));
}

/* ---- Counters ---- */

/* Whole numbers up to here are exact in a double. */
#define EXACT 9007199254740992.0

/* Write a value of a counter, as an integer where that is exact. */
static void perfetto_put_value(struct tv_perfetto_writer *writer, uint32_t series, double value,
                               tv_ns time)
{
    tv_perfetto_begin_event(writer, TV_PERFETTO_COUNTER, tv_perfetto_series_track(writer, series));
    bool whole = value >= -EXACT && value <= EXACT && value == (double)(int64_t)value;
    if (whole)
        tv_protobuf_put_number(&writer->event, EVENT_COUNTER_INTEGER, (uint64_t)(int64_t)value);
    else
        tv_protobuf_put_double(&writer->event, EVENT_COUNTER_REAL, value);
    tv_perfetto_put_event(writer, time);
}

/* Write the values of a counter; an event without a value for a series has NaN there. */
static void perfetto_put_counter(struct tv_perfetto_writer *writer,
                                 const struct tv_counter *counter)
{
    const struct tv_tables *tables = &writer->trace->tables;
    const double *values = tables->counter_values + counter->first_value;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        tv_ns time = tv_trace_time(writer->trace, counter->input,
                                   tables->counter_times[counter->first_sample + i]);
        for (uint32_t k = 0; k < counter->series_count; k++, values++)
            if (!isnan(*values))
                perfetto_put_value(writer, counter->first_series + k, *values, time);
    }
}

/* ---- All tables ---- */

/* Count what the writer has no packets for. */
static void perfetto_count_rest(struct tv_perfetto_writer *writer)
{
    const struct tv_tables *tables = &writer->trace->tables;
    struct tv_perfetto_losses *losses = writer->losses;
    losses->samples = tables->samples.count;
    losses->wakeups = tables->wakeups.count + tables->blockings.count;
    losses->metadata = writer->trace->head->metadata_count;
    losses->others = tables->objects.count + tables->memory_dumps.count + tables->contexts.count +
                     tables->clock_syncs.count + tables->function_costs.count;
    if (tables->samples.count == 0)
        losses->others += tables->stack_frames.count;
}

void tv_perfetto_put_tables(struct tv_perfetto_writer *writer)
{
    const struct tv_tables *tables = &writer->trace->tables;
    for (size_t i = 0; i < tables->instants.count; i++)
        perfetto_put_instant(writer, (uint32_t)i);
    for (size_t i = 0; i < tables->counters.count; i++)
        perfetto_put_counter(writer, &tables->counters.rows[i]);
    perfetto_count_rest(writer);
}

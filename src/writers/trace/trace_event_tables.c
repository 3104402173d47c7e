/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event_tables.c - Trace Event JSON from the tables of a trace: instants
 * (i), counters (C), flows (s, f) and samples (P). trace_event.c writes the
 * slices.
 *
 * A flow in this format has no reference to its slices: each end has a thread
 * and a time, and a reader binds it to the slice around that time or to the
 * next one.  So an end is written so that the reader finds the same slice:
 *
 *     |---- slice ----|           time inside       "bp":"e": the slice around it
 *           ^ end
 *       ^ end  |- slice -|        time before       without "bp": the next slice
 *              |- slice -|        same time         the end's event comes first in the file
 *              ^ end
 *
 * Some rows have no event in this format, and some lose a part; `losses` counts
 * both.
 */
#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "base/source.h"
#include "model/trace.h"
#include "writers/text/names.h"
#include "writers/trace/trace_event_parts.h"

/* Is an instant part of the excerpt? */
static bool trace_event_wants_instant(const struct tv_trace_events *events,
                                      const struct tv_instant *instant)
{
    return tv_trace_events_has_input(events, instant->input) &&
           tv_subset_has_instant(events->selection->keep, events->trace->head, instant);
}

/* Write an instant.  Its scope decides whose it is. */
static void trace_event_add_instant(const struct tv_trace_events *events,
                                    const struct tv_instant *instant)
{
    static const char *const scopes[] = {"t", "p", "g", "t"};
    const struct tv_frame *frame = &events->trace->head->frames[instant->frame];
    events->selection->separate(events->selection->context);
    tv_out_text(events->out, "{\"ph\":\"i\"");
    tv_trace_events_text(events, "name", frame->name);
    tv_trace_events_text(events, "cat", frame->category);
    if (instant->scope == TV_SCOPE_THREAD)
        tv_trace_events_thread(events, instant->of);
    else if (instant->scope == TV_SCOPE_PROCESS)
        tv_trace_events_process(events, instant->of, instant->input);
    else if (instant->scope == TV_SCOPE_TRACK)
        tv_trace_events_processor(events, instant->of);
    tv_trace_events_time(events, "ts", tv_trace_time(events->trace, instant->input, instant->time));
    tv_out_format(events->out, ",\"s\":\"%s\"", scopes[instant->scope]);
    tv_trace_events_describe(events, instant->input, instant->offset, TV_NO_OFFSET);
    tv_out_char(events->out, '}');
}

/* ---- Counters ---- */

/* Write the values of one sample of a counter; unknown ones are left out. */
static void trace_event_add_values(const struct tv_trace_events *events,
                                   const struct tv_counter *counter, const double *values)
{
    const struct tv_series *series = events->trace->tables.series.rows + counter->first_series;
    bool any = false;
    assert(counter->series_count > 0);
    tv_out_text(events->out, ",\"args\":{");
    for (uint32_t i = 0; i < counter->series_count; i++) {
        if (isnan(values[i]))
            continue;
        tv_out_text(events->out, any ? "," : "");
        any = true;
        tv_out_json(events->out, tv_trace_info_text(events->trace->head, series[i].name));
        tv_out_char(events->out, ':');
        tv_json_put_double(events->out, values[i]);
    }
    tv_out_text(events->out, "}}");
}

/* Write an event for each sample of a counter. */
static void trace_event_add_counter(const struct tv_trace_events *events,
                                    const struct tv_counter *counter)
{
    const struct tv_tables *tables = &events->trace->tables;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        tv_ns time = tables->counter_times[counter->first_sample + i];
        events->selection->separate(events->selection->context);
        tv_out_text(events->out, "{\"ph\":\"C\"");
        tv_trace_events_text(events, "name", counter->name);
        tv_trace_events_text(events, "cat", counter->category);
        tv_trace_events_process(events, counter->process, counter->input);
        tv_trace_events_time(events, "ts", tv_trace_time(events->trace, counter->input, time));
        trace_event_add_values(events, counter,
                               tables->counter_values + counter->first_value +
                                   (size_t)i * counter->series_count);
    }
    events->losses->ownerless += counter->process == TV_NONE;
}

/* Is a counter part of the excerpt? */
static bool trace_event_wants_counter(const struct tv_trace_events *events,
                                      const struct tv_counter *counter)
{
    return tv_trace_events_has_input(events, counter->input) &&
           tv_subset_has_counter(events->selection->keep, events->trace->head, counter);
}

/* ---- Flows ---- */

/* Return true when a flow can be bound to the end: a selected slice or instant of a thread. */
static bool trace_event_wants_flow_end(const struct tv_trace_events *events,
                                       const struct tv_flow_end *end)
{
    const struct tv_trace *trace = events->trace;
    const struct tv_subset *keep = events->selection->keep;
    uint32_t track = tv_flow_end_track(trace, end);
    if (track == TV_NONE)
        return tv_subset_has_instant(keep, trace->head, &trace->tables.instants.rows[end->index]);
    return tv_track_has_calls(&trace->tracks[track]) && (!keep->tracks || keep->tracks[track]) &&
           tv_subset_has_frame(keep, tv_flow_end_frame(trace, end));
}

/* The way in which a reader finds the slice or instant that an end touches. */
enum trace_event_binding {
    BINDING_AROUND, /* the innermost one around the end's time */
    BINDING_AHEAD,  /* the next one that begins later */
    BINDING_HERE,   /* the one that begins at that time, first after the end's event */
};

/* When two slices touch, the earlier one encloses the time at which the other begins. */
static enum trace_event_binding trace_event_binding_of(const struct tv_trace *trace, uint32_t input,
                                                       const struct tv_flow_end *end)
{
    tv_ns time = tv_trace_time(trace, input, end->time);
    if (tv_flow_end_is_instant(end))
        return trace->tables.instants.rows[end->index].time > end->time ? BINDING_AHEAD
                                                                        : BINDING_AROUND;
    tv_ns start = tv_slice_start(trace, end->row, end->index);
    uint32_t parent = tv_slice_parent(trace, end->row, end->index);
    if (start != time)
        return start > time ? BINDING_AHEAD : BINDING_AROUND;
    return parent == TV_NONE || tv_slice_start(trace, end->row - 1, parent) < time ? BINDING_HERE
                                                                                   : BINDING_AROUND;
}

/* Write one end of a flow. The ids are our own, because those of the file may be in use. */
static void trace_event_add_flow_end(const struct tv_trace_events *events, size_t number,
                                     const char *phase, const struct tv_flow_end *end, bool around)
{
    const struct tv_trace *trace = events->trace;
    const struct tv_flow *flow = &trace->tables.flows.rows[number];
    const struct tv_frame *frame = &trace->head->frames[flow->frame];
    events->selection->separate(events->selection->context);
    tv_out_format(events->out, "{\"ph\":\"%s\",\"id\":\"arrow %llu\"%s", phase,
                  (unsigned long long)number, around ? ",\"bp\":\"e\"" : "");
    tv_trace_events_text(events, "name", frame->name);
    tv_trace_events_text(events, "cat", frame->category);
    tv_trace_events_thread(events, tv_flow_end_thread(trace, end));
    tv_trace_events_time(events, "ts", tv_trace_time(trace, flow->input, end->time));
    tv_out_char(events->out, '}');
}

/* Write both ends of a flow if it belongs to this pass: before the slices, or
 * after them.  A flow with one end outside of the excerpt is a loss. */
static void trace_event_add_flow(const struct tv_trace_events *events, size_t number,
                                 bool before_slices)
{
    const struct tv_flow *flow = &events->trace->tables.flows.rows[number];
    bool from = trace_event_wants_flow_end(events, &flow->from),
         to = trace_event_wants_flow_end(events, &flow->to);
    enum trace_event_binding binding =
        trace_event_binding_of(events->trace, flow->input, &flow->to);
    if ((binding == BINDING_HERE) != before_slices)
        return;
    if (from && to) {
        trace_event_add_flow_end(events, number, "s", &flow->from, false);
        trace_event_add_flow_end(events, number, "f", &flow->to, binding == BINDING_AROUND);
    }
    events->losses->flows += from != to;
}

/* Is an event within the limit that keeps an excerpt small? */
static bool trace_event_is_early(const struct tv_trace_events *events, uint32_t input,
                                 uint64_t offset)
{
    const struct tv_event_limit *limit = events->selection->limit;
    struct tv_source *source = events->trace->head->inputs[input].source;
    return !limit || !source || offset == TV_NO_OFFSET ||
           tv_event_is_early(limit->instants, offset, tv_source_size(source));
}

void tv_trace_events_flows(const struct tv_trace_events *events, bool before_slices)
{
    const struct tv_tables *tables = &events->trace->tables;
    for (size_t i = 0; i < tables->flows.count; i++)
        if (tv_trace_events_has_input(events, tables->flows.rows[i].input) &&
            trace_event_is_early(events, tables->flows.rows[i].input, tables->flows.rows[i].offset))
            trace_event_add_flow(events, i, before_slices);
}

/* ---- Samples ---- */

/* Write the names of a stack, the outermost frame first. */
static void trace_event_add_stack(const struct tv_trace_events *events, uint32_t path)
{
    const struct tv_trace *trace = events->trace;
    uint32_t depth = 0;
    for (uint32_t node = path; node != TV_ROOT_PATH; node = trace->paths.nodes[node].parent)
        depth++;
    uint32_t *chain = tv_alloc(depth, sizeof *chain);
    for (uint32_t node = path, i = depth; i > 0; node = trace->paths.nodes[node].parent)
        chain[--i] = node;
    tv_out_text(events->out, ",\"stack\":[");
    for (uint32_t i = 0; i < depth; i++) {
        tv_out_text(events->out, i > 0 ? "," : "");
        tv_json_put_function(events->out, trace->head, tv_path_frame(trace, chain[i]));
    }
    tv_out_char(events->out, ']');
    tv_free(chain);
}

/* Return whether the samples of the value type have weights, and not each counts once. */
static bool trace_event_weighs(const struct tv_trace_events *events, const struct tv_sample *sample)
{
    const struct tv_value_type *type = &events->trace->tables.value_types.rows[sample->type];
    return type->counted || type->total < 0 || (uint64_t)type->total != type->samples;
}

/* Write a sample. Samples have no category, so none are written when categories are selected. */
static void trace_event_add_sample(const struct tv_trace_events *events,
                                   const struct tv_sample *sample)
{
    const struct tv_subset *keep = events->selection->keep;
    if (keep->category ||
        !tv_subset_has_process(keep, tv_thread_process(events->trace->head, sample->thread)))
        return;
    if (sample->thread == TV_NONE) {
        events->losses->others++;
        return;
    }
    events->selection->separate(events->selection->context);
    tv_out_text(events->out, "{\"ph\":\"P\"");
    tv_trace_events_text(events, "name", tv_sample_title(&events->trace->tables, sample));
    tv_trace_events_thread(events, sample->thread);
    tv_trace_events_time(events, "ts", tv_trace_time(events->trace, sample->input, sample->time));
    if (trace_event_weighs(events, sample)) {
        tv_out_format(events->out, ",\"weight\":%lld", (long long)sample->weight);
        events->losses->weights++;
    }
    trace_event_add_stack(events, sample->path);
    tv_out_char(events->out, '}');
}

/* ---- Losses ---- */

/* The macros add the rows of a table to a sum: those of the excerpt's inputs,
 * and of its threads. */
#define COUNT_ROWS(events, table, sum)                                                             \
    for (size_t i = 0; i < (events)->trace->tables.table.count; i++)                               \
    (sum) += tv_trace_events_has_input(events, (events)->trace->tables.table.rows[i].input)

#define COUNT_OF_THREADS(events, table, sum)                                                       \
    for (size_t i = 0; i < (events)->trace->tables.table.count; i++)                               \
    (sum) +=                                                                                       \
        tv_trace_events_has_input(events, (events)->trace->tables.table.rows[i].input) &&          \
        tv_subset_has_process((events)->selection->keep,                                           \
                              tv_thread_process((events)->trace->head,                             \
                                                (events)->trace->tables.table.rows[i].thread))

/* Count the rows for which the format has no events. */
static void trace_event_count_rest(const struct tv_trace_events *events)
{
    COUNT_OF_THREADS(events, wakeups, events->losses->wakeups);
    COUNT_OF_THREADS(events, blockings, events->losses->wakeups);
    COUNT_ROWS(events, objects, events->losses->others);
    COUNT_ROWS(events, memory_dumps, events->losses->others);
    COUNT_ROWS(events, contexts, events->losses->others);
    COUNT_ROWS(events, clock_syncs, events->losses->others);
    /* Samples have their stacks with them; slices do not. */
    if (events->trace->tables.samples.count == 0)
        COUNT_ROWS(events, stack_frames, events->losses->others);
}

void tv_trace_events_tables(const struct tv_trace_events *events)
{
    const struct tv_tables *tables = &events->trace->tables;
    for (size_t i = 0; i < tables->instants.count; i++)
        if (trace_event_wants_instant(events, &tables->instants.rows[i]) &&
            trace_event_is_early(events, tables->instants.rows[i].input,
                                 tables->instants.rows[i].offset))
            trace_event_add_instant(events, &tables->instants.rows[i]);
    for (size_t i = 0; i < tables->counters.count; i++)
        if (trace_event_wants_counter(events, &tables->counters.rows[i]))
            trace_event_add_counter(events, &tables->counters.rows[i]);
    tv_trace_events_flows(events, false);
    for (size_t i = 0; i < tables->samples.count; i++)
        if (tv_trace_events_has_input(events, tables->samples.rows[i].input))
            trace_event_add_sample(events, &tables->samples.rows[i]);
    trace_event_count_rest(events);
}

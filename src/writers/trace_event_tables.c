/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "writers/jsonl.h"
#include "writers/trace_event_parts.h"

static bool wants_instant(const struct tv_trace_events *events, const struct tv_instant *instant)
{
    const struct tv_keep *keep = events->choice->keep;
    uint32_t process = instant->scope == TV_SCOPE_THREAD
                           ? tv_thread_process(events->trace->head, instant->of)
                       : instant->scope == TV_SCOPE_PROCESS ? instant->of
                                                            : TV_NONE;
    return tv_trace_events_of(events, instant->input) && tv_keep_process(keep, process) &&
           tv_keep_frame(keep, instant->frame);
}

static void add_instant(const struct tv_trace_events *events, const struct tv_instant *instant)
{
    static const char *const scopes[] = {"t", "p", "g"};
    const struct tv_frame *frame = &events->trace->head->frames[instant->frame];
    events->choice->separate(events->choice->context);
    tv_out_text(events->out, "{\"ph\":\"i\"");
    tv_trace_events_text(events, "name", frame->name);
    tv_trace_events_text(events, "cat", frame->category);
    if (instant->scope == TV_SCOPE_THREAD)
        tv_trace_events_thread(events, instant->of);
    else if (instant->scope == TV_SCOPE_PROCESS)
        tv_trace_events_process(events, instant->of, instant->input);
    tv_trace_events_time(events, "ts", tv_trace_time(events->trace, instant->input, instant->time));
    tv_out_format(events->out, ",\"s\":\"%s\"", scopes[instant->scope]);
    tv_trace_events_describe(events, instant->input, instant->offset, TV_NO_OFFSET);
    tv_out_char(events->out, '}');
}

/* ---- Counters ---- */

static void add_values(const struct tv_trace_events *events, const struct tv_counter *counter,
                       const double *values)
{
    const struct tv_series *series = events->trace->tables.series.rows + counter->first_series;
    bool any = false;
    tv_out_text(events->out, ",\"args\":{");
    for (uint32_t i = 0; i < counter->series_count; i++) {
        if (isnan(values[i]))
            continue;
        tv_out_text(events->out, any ? "," : "");
        any = true;
        tv_out_json(events->out, tv_head_text(events->trace->head, series[i].name));
        tv_out_char(events->out, ':');
        if (isinf(values[i])) /* a string: JSON has no such number */
            tv_out_text(events->out, values[i] > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        else
            tv_jsonl_value(events->out, values[i]);
    }
    tv_out_text(events->out, "}}");
}

static void add_counter(const struct tv_trace_events *events, const struct tv_counter *counter)
{
    const struct tv_tables *tables = &events->trace->tables;
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        tv_ns time = tables->counter_times[counter->first_sample + i];
        events->choice->separate(events->choice->context);
        tv_out_text(events->out, "{\"ph\":\"C\"");
        tv_trace_events_text(events, "name", counter->name);
        tv_trace_events_text(events, "cat", counter->category);
        tv_trace_events_process(events, counter->process, counter->input);
        tv_trace_events_time(events, "ts", tv_trace_time(events->trace, counter->input, time));
        add_values(events, counter,
                   tables->counter_values + counter->first_value +
                       (size_t)i * counter->series_count);
    }
    events->losses->ownerless += counter->process == TV_NONE;
}

static bool wants_counter(const struct tv_trace_events *events, const struct tv_counter *counter)
{
    const struct tv_keep *keep = events->choice->keep;
    return tv_trace_events_of(events, counter->input) && tv_keep_process(keep, counter->process) &&
           tv_keep_category(keep, tv_head_text(events->trace->head, counter->category));
}

/* ---- What is left out ---- */

#define COUNT_ROWS(events, table, sum)                                                             \
    for (size_t i = 0; i < (events)->trace->tables.table.count; i++)                               \
    (sum) += tv_trace_events_of(events, (events)->trace->tables.table.rows[i].input)

static void count_rest(const struct tv_trace_events *events)
{
    COUNT_ROWS(events, wakeups, events->losses->wakeups);
    COUNT_ROWS(events, blockings, events->losses->wakeups);
    COUNT_ROWS(events, flows, events->losses->others);
    COUNT_ROWS(events, objects, events->losses->others);
    COUNT_ROWS(events, samples, events->losses->others);
    COUNT_ROWS(events, memory_dumps, events->losses->others);
    COUNT_ROWS(events, contexts, events->losses->others);
}

void tv_trace_events_tables(const struct tv_trace_events *events)
{
    const struct tv_tables *tables = &events->trace->tables;
    for (size_t i = 0; i < tables->instants.count; i++)
        if (wants_instant(events, &tables->instants.rows[i]))
            add_instant(events, &tables->instants.rows[i]);
    for (size_t i = 0; i < tables->counters.count; i++)
        if (wants_counter(events, &tables->counters.rows[i]))
            add_counter(events, &tables->counters.rows[i]);
    count_rest(events);
}

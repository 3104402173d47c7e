/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/counts.h"

#include "base/map.h"
#include "writers/calls.h"

/* ---- Slices ---- */

static void counts_add_call(struct tv_counts *counts, const struct tv_call_event *event)
{
    const struct tv_slice *slice = event->slice;
    bool open = slice->flags & TV_SLICE_OPEN, supplied = slice->flags & TV_SLICE_ENTERED_BEFORE;
    counts->sums.slices++;
    counts->sums.unfinished += open;
    tv_time_add(&counts->sums.length, slice->length);
    tv_time_add(&counts->sums.self, event->depth == 0 ? slice->length : 0);
    counts->facts.calls += !supplied;
    counts->facts.unmatched_exits += supplied;
    counts->facts.open_calls += open;
    if (!supplied && event->depth >= counts->facts.max_depth)
        counts->facts.max_depth = event->depth + 1;
}

static bool counts_is_thread(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    return t->kind == TV_TRACK_THREAD && !trace->head->threads[t->thread].line;
}

static void counts_add_track_calls(struct tv_counts *counts, const struct tv_trace *trace,
                                   uint32_t track, const struct tv_keep *keep)
{
    struct tv_call_cursor *cursor = tv_call_cursor_new(trace, track);
    struct tv_call_event event;
    uint64_t before = counts->sums.slices;
    tv_call_cursor_select(cursor, keep->frames);
    while (tv_call_cursor_next(cursor, &event))
        if (!event.exit)
            counts_add_call(counts, &event);
    tv_call_cursor_free(cursor);
    if (counts->sums.slices > before)
        counts->facts.threads_with_events += counts_is_thread(trace, track);
}

static uint64_t counts_async_slices(const struct tv_trace *trace, uint32_t track,
                                    const struct tv_keep *keep)
{
    const struct tv_track *t = &trace->tracks[track];
    uint64_t count = 0;
    if (!keep->frames)
        return t->slice_count;
    for (uint32_t row = t->first_row; row < t->first_row + t->row_count; row++)
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            uint32_t path = tv_slice_get(trace, row, i).path;
            count += keep->frames[trace->paths.nodes[path].frame];
        }
    return count;
}

static void counts_add_selected_slices(struct tv_counts *counts, const struct tv_trace *trace,
                                       const struct tv_keep *keep)
{
    counts->sums = (struct tv_slice_sums){0};
    counts->facts = (struct tv_walk_facts){0};
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (keep->tracks && !keep->tracks[i])
            continue;
        if (tv_track_has_calls(track))
            counts_add_track_calls(counts, trace, i, keep);
        else if (track->kind == TV_TRACK_ASYNC)
            counts->sums.async += counts_async_slices(trace, i, keep);
        else if (track->kind == TV_TRACK_CPU) {
            counts->sums.cpus++;
            counts->sums.cpu_slices += track->slice_count;
        }
    }
}

/* Count the threads that have slices of their own. */
static uint32_t counts_threads_with_events(const struct tv_trace *trace)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++)
        count += counts_is_thread(trace, i);
    return count;
}

static void counts_add_slices(struct tv_counts *counts, const struct tv_trace *trace,
                              const struct tv_keep *keep)
{
    if (keep->tracks || keep->frames) {
        counts_add_selected_slices(counts, trace, keep);
        return;
    }
    counts->sums = tv_slice_sums_of(trace);
    counts->facts.calls = trace->recorded_calls;
    counts->facts.unmatched_exits = trace->unmatched_exits;
    counts->facts.open_calls = trace->open_calls;
    counts->facts.threads_with_events = counts_threads_with_events(trace);
    counts->facts.max_depth = trace->max_depth;
}

/* ---- Tables ---- */

static void counts_add_instants_counters_flows(struct tv_counts *counts,
                                               const struct tv_trace *trace,
                                               const struct tv_keep *keep)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        bool of_thread = instant->scope == TV_SCOPE_THREAD;
        if (!tv_keep_instant(keep, trace->head, instant))
            continue;
        counts->thread_instants += of_thread;
        counts->other_instants += !of_thread;
    }
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        if (!tv_keep_counter(keep, trace->head, counter))
            continue;
        counts->counters++;
        counts->series += counter->series_count;
        counts->counter_samples += (uint64_t)counter->sample_count * counter->series_count;
    }
    for (size_t i = 0; i < tables->flows.count; i++)
        counts->flows += tv_keep_flow(keep, trace, &tables->flows.rows[i]);
}

static void counts_add_objects(struct tv_counts *counts, const struct tv_trace *trace,
                               const struct tv_keep *keep)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->objects.count; i++)
        counts->objects += tv_keep_object(keep, trace->head, &tables->objects.rows[i]);
    for (size_t i = 0; i < tables->snapshots.count; i++)
        counts->snapshots += tv_keep_object(
            keep, trace->head, &tables->objects.rows[tables->snapshots.rows[i].object]);
}

static void counts_add_memory_dumps(struct tv_counts *counts, const struct tv_tables *tables,
                                    const struct tv_keep *keep)
{
    struct tv_map ids;
    tv_map_init(&ids);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &tables->memory_dumps.rows[i];
        uint32_t next = (uint32_t)counts->memory_dumps;
        if (tv_keep_process(keep, dump->process))
            counts->memory_dumps +=
                tv_map_add(&ids, (uint64_t)dump->input << 32 | dump->id, next) == next;
    }
    tv_map_release(&ids);
}

static void counts_add_others(struct tv_counts *counts, const struct tv_trace *trace,
                              const struct tv_keep *keep)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_head *head = trace->head;
    counts->joins = tables->joins.count;
    for (size_t i = 0; i < tables->samples.count; i++)
        counts->samples +=
            tv_keep_process(keep, tv_thread_process(head, tables->samples.rows[i].thread));
    for (size_t i = 0; i < tables->contexts.count; i++)
        counts->contexts +=
            tv_keep_process(keep, tv_thread_process(head, tables->contexts.rows[i].thread));
    for (size_t i = 0; i < tables->stack_frames.count; i++)
        counts->stack_frames += tv_keep_stack_frame(keep, &tables->stack_frames.rows[i]);
}

struct tv_counts tv_counts_of(const struct tv_trace *trace, const struct tv_keep *keep)
{
    struct tv_counts counts = {0};
    const struct tv_head *head = trace->head;
    for (uint32_t i = 0; i < head->process_count; i++)
        counts.processes += tv_keep_process(keep, i);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        bool wanted = (!keep->threads || keep->threads[i]) && !head->threads[i].late;
        counts.threads += wanted && !head->threads[i].line;
        counts.lines += wanted && head->threads[i].line;
    }
    counts_add_slices(&counts, trace, keep);
    counts_add_instants_counters_flows(&counts, trace, keep);
    counts_add_objects(&counts, trace, keep);
    counts_add_memory_dumps(&counts, &trace->tables, keep);
    counts_add_others(&counts, trace, keep);
    return counts;
}

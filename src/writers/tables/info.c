/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - counts of everything in a trace, and the output of `info`.
 *
 * The counts of rows are listed once, in `info_rows`, for text and JSON.
 *
 * Without a selection the trace knows its counts, and info of a huge trace costs nothing.  With
 * one, all slices of the wanted tracks are walked.  Both ways must agree when everything is
 * selected.
 *
 * Several inputs lie side by side: their counts add up, and their times are the longest of all.
 */
#include "writers/tables/info.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"

/* ---- Counts of slices ---- */

/* A call that was entered before the trace is supplied by the model: it is an unmatched exit,
 * not a recorded call. */
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

/* Return whether a track is that of a thread proper, not a line of the kernel. */
static bool counts_is_thread(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    return t->kind == TV_TRACK_THREAD && !trace->head->threads[t->thread].line;
}

static void counts_add_track_calls(struct tv_counts *counts, const struct tv_trace *trace,
                                   uint32_t track, const struct tv_subset *keep)
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

/* Count the async slices of a track that the selection keeps. */
static uint64_t counts_async_slices(const struct tv_trace *trace, uint32_t track,
                                    const struct tv_subset *keep)
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

/* Count the slices of a selection by walking them. Without a selection the trace knows the
 * counts itself. */
static void counts_add_selected_slices(struct tv_counts *counts, const struct tv_trace *trace,
                                       const struct tv_subset *keep)
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
                              const struct tv_subset *keep)
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

/* ---- Counts of rows ---- */

/* Count the rows of the tables that the subset has.  A counter has as many samples as times, and as
 * many numbers as series times these. */
static void counts_add_instants_counters_flows(struct tv_counts *counts,
                                               const struct tv_trace *trace,
                                               const struct tv_subset *keep)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->instants.count; i++) {
        const struct tv_instant *instant = &tables->instants.rows[i];
        bool of_thread = instant->scope == TV_SCOPE_THREAD;
        if (!tv_subset_has_instant(keep, trace->head, instant))
            continue;
        counts->thread_instants += of_thread;
        counts->other_instants += !of_thread;
    }
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        if (!tv_subset_has_counter(keep, trace->head, counter))
            continue;
        counts->counters++;
        counts->series += counter->series_count;
        counts->counter_samples += (uint64_t)counter->sample_count * counter->series_count;
    }
    for (size_t i = 0; i < tables->flows.count; i++)
        counts->flows += tv_subset_has_flow(keep, trace, &tables->flows.rows[i]);
}

static void counts_add_objects(struct tv_counts *counts, const struct tv_trace *trace,
                               const struct tv_subset *keep)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->objects.count; i++)
        counts->objects += tv_subset_has_object(keep, trace->head, &tables->objects.rows[i]);
    for (size_t i = 0; i < tables->snapshots.count; i++)
        counts->snapshots += tv_subset_has_object(
            keep, trace->head, &tables->objects.rows[tables->snapshots.rows[i].object]);
}

/* Dumps of several processes at one time share an ID and count as one. */
static void counts_add_memory_dumps(struct tv_counts *counts, const struct tv_tables *tables,
                                    const struct tv_subset *keep)
{
    struct tv_map ids;
    tv_map_init(&ids);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &tables->memory_dumps.rows[i];
        uint32_t next = (uint32_t)counts->memory_dumps;
        if (tv_subset_has_process(keep, dump->process))
            counts->memory_dumps +=
                tv_map_add(&ids, (uint64_t)dump->input << 32 | dump->id, next) == next;
    }
    tv_map_release(&ids);
}

static void counts_add_others(struct tv_counts *counts, const struct tv_trace *trace,
                              const struct tv_subset *keep)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_trace_info *head = trace->head;
    counts->joins = tables->joins.count;
    for (size_t i = 0; i < tables->samples.count; i++)
        counts->samples +=
            tv_subset_has_process(keep, tv_thread_process(head, tables->samples.rows[i].thread));
    for (size_t i = 0; i < tables->contexts.count; i++)
        counts->contexts +=
            tv_subset_has_process(keep, tv_thread_process(head, tables->contexts.rows[i].thread));
    for (size_t i = 0; i < tables->stack_frames.count; i++)
        counts->stack_frames += tv_subset_has_stack_frame(keep, &tables->stack_frames.rows[i]);
}

struct tv_counts tv_counts_of(const struct tv_trace *trace, const struct tv_subset *keep)
{
    struct tv_counts counts = {0};
    const struct tv_trace_info *head = trace->head;
    for (uint32_t i = 0; i < head->process_count; i++)
        counts.processes += tv_subset_has_process(keep, i);
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

/* Totals over all inputs. */
struct info_sums {
    uint64_t records, unrolls, methods;
    bool overflow;
    bool calls;  /* some input has slices */
    bool buffer; /* some input is a method trace, which lists methods and may overflow its buffer */
    tv_ns last_wall, last_cpu;
    tv_ns elapsed; /* of the longest recording, as its file states it; 0: no file states it */
    unsigned clocks;
    uint32_t listed, late;
};

/* Sum up the inputs.  Counts add; times are the largest, as inputs lie side by side. */
static struct info_sums info_sum_inputs(const struct tv_trace_info *head)
{
    struct info_sums sums = {.clocks = tv_trace_info_clocks(head)};
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        tv_ns wall = input->last_wall * input->tick_ns, cpu = input->last_cpu * input->tick_ns;
        sums.records += input->records;
        sums.methods += input->methods;
        sums.unrolls += input->unrolls;
        sums.overflow |= input->overflow;
        sums.calls |= !input->callless;
        sums.buffer |= !input->assembled;
        sums.elapsed = input->elapsed_ns > sums.elapsed ? input->elapsed_ns : sums.elapsed;
        bool times = !input->weight_axis;
        sums.last_wall = times && wall > sums.last_wall ? wall : sums.last_wall;
        sums.last_cpu = cpu > sums.last_cpu ? cpu : sums.last_cpu;
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        sums.listed += thread->listed && !thread->late && !thread->line;
        sums.late += head->threads[i].late;
    }
    return sums;
}

/* ---- JSON ---- */

/* The text in front of a member of the outer object. */
#define NEXT ",\n  "

void tv_info_write_recorded(struct tv_out *out, const struct tv_input *input)
{
    if (input->recorded_us > 0) {
        tv_out_char(out, '"');
        tv_names_date(out, input->recorded_us);
        tv_out_char(out, '"');
    } else {
        tv_out_text(out, "null");
    }
}

/* Write one member for each key. When a key occurs several times, the last value counts. */
static void info_json_metadata(struct tv_out *out, const struct tv_trace_info *head, uint32_t input)
{
    struct tv_map last;
    bool any = false;
    tv_map_init(&last);
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        if (head->metadata[i].input == input)
            tv_map_set(&last, head->metadata[i].key, i);
    }
    tv_out_char(out, '{');
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        const struct tv_metadata *m = &head->metadata[i];
        if (m->input != input || tv_map_find(&last, m->key) != i)
            continue;
        tv_out_text(out, any ? ", " : "");
        tv_out_json(out, tv_trace_info_text(head, m->key));
        tv_out_text(out, ": ");
        tv_out_json(out, tv_trace_info_text(head, m->value));
        any = true;
    }
    tv_out_char(out, '}');
    tv_map_release(&last);
}

/* Write the facts of one input, as a member of "inputs". */
static void info_json_input(struct tv_out *out, const struct tv_trace_info *head, uint32_t index)
{
    const struct tv_input *input = &head->inputs[index];
    tv_out_text(out, "{\"name\": ");
    tv_out_json(out, tv_trace_info_text(head, input->name));
    tv_out_text(out, ", \"format\": ");
    tv_out_json(out, tv_bytes_of(input->format));
    tv_out_text(out, ", \"version\": ");
    tv_out_json(out, tv_trace_info_text(head, input->version));
    tv_out_format(out, ", \"clock\": \"%s\", \"recorded\": ", tv_names_input_clocks(input));
    tv_info_write_recorded(out, input);
    tv_out_text(out, ", \"bytes\": ");
    tv_out_u64(out, input->bytes);
    tv_out_text(out, ", \"records\": ");
    tv_out_u64(out, input->records);
    tv_out_text(out, ",\n     \"metadata\": ");
    info_json_metadata(out, head, index);
    tv_out_char(out, '}');
}

/* Write the diagnostics that occurred, by kind; the first place of a kind is null if the kind has
 * no place in the file. */
static void info_json_diagnostics(struct tv_out *out, const struct tv_diagnostics *all)
{
    bool any = false;
    tv_json_put_key(out, NEXT, "diagnostics");
    tv_out_char(out, '[');
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &all->kinds[i];
        if (one->count == 0)
            continue;
        tv_out_format(out, "%s\n    {\"kind\": \"%s\", \"severity\": \"%s\", \"count\": ",
                      any ? "," : "", tv_diagnostic_name((enum tv_diagnostic_kind)i),
                      tv_diagnostic_severity_name((enum tv_diagnostic_kind)i));
        tv_out_u64(out, one->count);
        tv_out_text(out, ", \"first_offset\": ");
        if (one->offset_count > 0)
            tv_out_u64(out, one->places->offsets[0]);
        else
            tv_out_text(out, "null");
        tv_out_char(out, '}');
        any = true;
    }
    tv_out_text(out, any ? "\n  ]" : "]");
}

#define COUNT_OF(field)                                                                            \
    offsetof(struct tv_counts, field), sizeof(((const struct tv_counts *)NULL)->field)

/* The counts of rows, for JSON and text. Those of samples and stack frames stand at different
 * places in the two, and so have a line for each. */
static const struct info_row {
    const char *key;   /* of JSON, or NULL */
    const char *label; /* of text, or NULL */
    size_t place;      /* in struct tv_counts */
    size_t size;       /* of the count, 4 or 8 bytes */
} info_rows[] = {
    {"async_slices", "async slices", COUNT_OF(sums.async)},
    {"thread_instants", "instants of threads", COUNT_OF(thread_instants)},
    {"instants", "other instants", COUNT_OF(other_instants)},
    {"counters", "counters", COUNT_OF(counters)},
    {"counter_series", "counter series", COUNT_OF(series)},
    {"counter_samples", "counter samples", COUNT_OF(counter_samples)},
    {"flows", "flows", COUNT_OF(flows)},
    {"joins", "joins of ids", COUNT_OF(joins)},
    {"objects", "objects", COUNT_OF(objects)},
    {"snapshots", "snapshots", COUNT_OF(snapshots)},
    {NULL, "samples", COUNT_OF(samples)},
    {"memory_dumps", "memory dumps", COUNT_OF(memory_dumps)},
    {"contexts", "contexts", COUNT_OF(contexts)},
    {NULL, "stack frames", COUNT_OF(stack_frames)},
    {"cpus", "processors", COUNT_OF(sums.cpus)},
    {"cpu_slices", "slices of processors", COUNT_OF(sums.cpu_slices)},
    {"stack_frames", NULL, COUNT_OF(stack_frames)},
};

/* Read a count of either size from its place. */
static uint64_t info_row_count(const struct tv_counts *counts, const struct info_row *row)
{
    const char *place = (const char *)counts + row->place;
    uint64_t count;
    uint32_t small;
    assert(row->size == sizeof small || row->size == sizeof count);
    if (row->size == sizeof count) {
        memcpy(&count, place, sizeof count);
        return count;
    }
    memcpy(&small, place, sizeof small);
    return small;
}

static void info_json_tables(struct tv_out *out, const struct tv_info *info)
{
    const struct tv_slice_sums *sums = &info->counts.sums;
    tv_json_put_i64(out, NEXT, "origin_ns", info->trace->origin);
    tv_json_put_u64(out, NEXT, "slices", sums->slices);
    tv_json_put_u64(out, NEXT, "unfinished_slices", sums->unfinished);
    tv_json_put_i64(out, NEXT, "sum_slice_ns", sums->length);
    tv_json_put_i64(out, NEXT, "sum_self_ns", sums->self);
    for (size_t i = 0; i < TV_COUNT(info_rows); i++)
        if (info_rows[i].key)
            tv_json_put_u64(out, NEXT, info_rows[i].key,
                            info_row_count(&info->counts, &info_rows[i]));
}

/* Return the unit of an axis of weights; empty when the value types have several. */
static struct tv_bytes info_weight_unit(const struct tv_info *info)
{
    return info->trace ? tv_weight_axis_unit(info->trace) : TV_BYTES("");
}

/* Write the facts of the first input. When inputs differ, "inputs" has the facts of each. */
static void info_json_first_input(struct tv_out *out, const struct tv_trace_info *head,
                                  unsigned clocks)
{
    const struct tv_input *input = &head->inputs[0];
    tv_out_text(out, "{\n  \"format\": ");
    tv_out_json(out, tv_bytes_of(input->format));
    tv_json_put_key(out, NEXT, "version");
    tv_out_json(out, tv_trace_info_text(head, input->version));
    tv_json_put_key(out, NEXT, "clock");
    tv_out_format(out, "\"%s\"", tv_trace_info_has_times(head) ? tv_names_clocks(clocks) : "none");
    tv_json_put_key(out, NEXT, "recorded");
    tv_info_write_recorded(out, input);
    tv_json_put_some_i64(out, NEXT, "boot_ns", input->boot_us > 0, input->boot_us * 1000);
    tv_json_put_some_i64(out, NEXT, "elapsed_ns", input->elapsed_ns >= 0, input->elapsed_ns);
    tv_json_put_some_i64(out, NEXT, "announced_records", input->announced >= 0, input->announced);
    tv_json_put_key(out, NEXT, "metadata");
    info_json_metadata(out, head, 0);
}

/* Write the length of the axis and what it is; the unit only of an axis of weights. */
static void info_json_axis(struct tv_out *out, const struct tv_info *info, unsigned clocks)
{
    bool times = tv_trace_info_has_times(info->head);
    struct tv_bytes unit = times ? TV_BYTES("") : info_weight_unit(info);
    tv_json_put_some_i64(out, NEXT, "span_ns", times, info->span);
    tv_json_put_text(out, NEXT, "axis",
                     tv_bytes_of(!times                   ? "weight"
                                 : clocks & TV_CLOCK_WALL ? "wall"
                                                          : "thread-cpu"));
    if (unit.length > 0)
        tv_json_put_text(out, NEXT, "axis_unit", unit);
    else
        tv_json_put_some_i64(out, NEXT, "axis_unit", false, 0);
}

static void info_json_counts(struct tv_out *out, const struct tv_info *info,
                             const struct info_sums *sums)
{
    const struct tv_trace_info *head = info->head;
    info_json_axis(out, info, sums->clocks);
    tv_json_put_u64(out, NEXT, "processes", info->counts.processes);
    tv_json_put_u64(out, NEXT, "threads", info->counts.threads);
    tv_json_put_u64(out, NEXT, "threads_listed", sums->listed);
    tv_json_put_u64(out, NEXT, "threads_late", sums->late);
    tv_json_put_u64(out, NEXT, "threads_with_events", info->counts.facts.threads_with_events);
    tv_json_put_u64(out, NEXT, "kernel_lines", info->counts.lines);
    tv_json_put_u64(out, NEXT, "methods", sums->methods);
    tv_json_put_u64(out, NEXT, "frames", head->frame_count);
    tv_json_put_u64(out, NEXT, "records", sums->records);
    tv_json_put_u64(out, NEXT, "calls", info->counts.facts.calls);
    tv_json_put_u64(out, NEXT, "unmatched_exits", info->counts.facts.unmatched_exits);
    tv_json_put_u64(out, NEXT, "open_calls", info->counts.facts.open_calls);
    tv_json_put_u64(out, NEXT, "unrolls", sums->unrolls);
    tv_json_put_u64(out, NEXT, "max_depth", info->counts.facts.max_depth);
}

/* ---- Samples ---- */

/* Return the number of input samples: as the formats count them, else as there are rows. */
static uint64_t info_count_samples(const struct tv_info *info)
{
    uint64_t counted = 0;
    for (uint32_t i = 0; i < info->head->input_count; i++)
        counted += info->head->inputs[i].samples;
    return counted > 0 && !info->selected ? counted : info->counts.samples;
}

static void info_json_value_types(struct tv_out *out, const struct tv_info *info)
{
    struct tv_sample_values values = {NULL, 0};
    if (info->trace)
        values = tv_sample_values_of(info->trace);
    for (size_t i = 0; i < values.count; i++) {
        const struct tv_sample_value *value = &values.list[i];
        tv_json_put_text(out, i > 0 ? ",\n    {" : "\n    {", "name",
                         tv_trace_info_text(info->head, value->name));
        tv_json_put_text(out, ", ", "unit", tv_trace_info_text(info->head, value->unit));
        tv_json_put_u64(out, ", ", "samples", value->samples);
        tv_json_put_i64(out, ", ", "total", value->total);
        tv_out_char(out, '}');
    }
    tv_out_text(out, values.count > 0 ? "\n  " : "");
    tv_sample_values_release(&values);
}

/* Write the events of all inputs by type; one name of several inputs is one type. */
static void info_json_event_types(struct tv_out *out, const struct tv_info *info)
{
    const struct tv_tables *tables = &info->trace->tables;
    struct tv_map sums;
    bool any = false;
    uint64_t *counts = tv_alloc(tables->event_types.count, sizeof *counts);
    tv_map_init(&sums);
    for (uint32_t i = 0; i < tables->event_types.count; i++)
        counts[tv_map_add(&sums, tables->event_types.rows[i].name, i)] +=
            tables->event_types.rows[i].count;
    for (uint32_t i = 0; i < tables->event_types.count; i++) {
        uint32_t name = tables->event_types.rows[i].name;
        if (tv_map_find(&sums, name) != i)
            continue;
        tv_out_text(out, any ? ", " : "");
        tv_out_json(out, tv_trace_info_text(info->head, name));
        tv_out_text(out, ": ");
        tv_out_u64(out, counts[i]);
        any = true;
    }
    tv_map_release(&sums);
    tv_free(counts);
}

static void info_json_samples(struct tv_out *out, const struct tv_info *info)
{
    tv_json_put_u64(out, NEXT, "samples", info_count_samples(info));
    tv_json_put_key(out, NEXT, "value_types");
    tv_out_char(out, '[');
    info_json_value_types(out, info);
    tv_out_char(out, ']');
    tv_json_put_key(out, NEXT, "event_types");
    tv_out_char(out, '{');
    if (info->trace)
        info_json_event_types(out, info);
    tv_out_char(out, '}');
}

static void info_json_figures(struct tv_out *out, const struct tv_trace_info *head)
{
    static const char *const names[] = {"calls", "sampled"};
    struct tv_sampling sampling = tv_trace_info_sampling(head);
    tv_json_put_key(out, NEXT, "figures");
    tv_out_format(out, "\"%s\"", names[tv_trace_info_figures(head)]);
    tv_json_put_key(out, NEXT, "sampled");
    if (sampling.interval > 0)
        tv_out_format(out, "{\"interval_ns\": %lld, \"inferred\": %s}",
                      (long long)sampling.interval, sampling.inferred ? "true" : "false");
    else
        tv_out_text(out, "null");
}

void tv_info_write_json(struct tv_out *out, const struct tv_info *info)
{
    const struct tv_trace_info *head = info->head;
    struct info_sums sums = info_sum_inputs(head);
    info_json_first_input(out, head, sums.clocks);
    info_json_counts(out, info, &sums);
    tv_json_put_key(out, NEXT, "overflow");
    tv_out_text(out, sums.overflow ? "true" : "false");
    info_json_figures(out, head);
    tv_json_put_some_i64(out, NEXT, "last_real_ns", true, sums.last_wall);
    tv_json_put_some_i64(out, NEXT, "last_cpu_ns", true, sums.last_cpu);
    if (info->trace)
        info_json_tables(out, info);
    info_json_samples(out, info);
    info_json_diagnostics(out, &head->diagnostics);
    tv_json_put_key(out, NEXT, "inputs");
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < head->input_count; i++) {
        tv_out_text(out, i > 0 ? ",\n    " : "\n    ");
        info_json_input(out, head, i);
    }
    tv_out_text(out, "\n  ]\n}\n");
}

/* ---- Text ---- */

static void info_text_styled_label(struct tv_out *out, enum tv_style style, const char *text)
{
    tv_layout_text(out, style, text);
    tv_out_format(out, "%*s", 22 - (int)strlen(text), "");
}

static void info_text_label(struct tv_out *out, const char *text)
{
    info_text_styled_label(out, TV_STYLE_TITLE, text);
}

static void info_text_number(struct tv_out *out, const char *text, uint64_t value)
{
    info_text_label(out, text);
    tv_out_u64(out, value);
    tv_out_char(out, '\n');
}

static void info_text_time(struct tv_out *out, const char *text, struct tv_figure_unit unit,
                           tv_ns value)
{
    info_text_label(out, text);
    tv_out_time(out, value, unit.ns, unit.decimals);
    tv_out_format(out, " %s\n", unit.name);
}

static void info_text_recorded(struct tv_out *out, const struct tv_input *input)
{
    if (input->recorded_us > 0) {
        info_text_label(out, "recorded");
        tv_names_date(out, input->recorded_us);
        tv_out_char(out, '\n');
    } else if (input->boot_us > 0) {
        info_text_label(out, "recorded");
        tv_out_time(out, input->boot_us * 1000, 1000000000, 3);
        tv_out_text(out, " s after the device had started\n");
    }
}

/* Write the kind of the input's figures: its clock, or samples. */
static void info_text_figures(struct tv_out *out, const struct tv_input *input)
{
    info_text_label(out, "clock");
    tv_out_format(out, "%s\n", tv_names_input_clocks(input));
    if (input->figures != TV_FIGURES_SAMPLED)
        return;
    info_text_label(out, "sampled");
    tv_out_text(out, "yes");
    if (input->sampled_ns > 0) {
        tv_out_text(out, input->sampling_inferred ? " (inferred), interval at most " : ", every ");
        tv_out_time(out, input->sampled_ns, 1000000, 3);
        tv_out_text(out, " ms");
    }
    tv_out_text(out, ": times are estimates, calls are not counted\n");
}

/* Write the facts of one file. */
static void info_text_input(struct tv_out *out, const struct tv_trace_info *head, uint32_t index)
{
    const struct tv_input *input = &head->inputs[index];
    info_text_label(out, "file");
    tv_names_line(out, tv_trace_info_text(head, input->name));
    tv_out_char(out, '\n');
    info_text_label(out, "format");
    tv_out_text(out, input->format);
    if (input->version != TV_EMPTY_STRING) {
        tv_out_text(out, ", version ");
        tv_names_line(out, tv_trace_info_text(head, input->version));
    }
    tv_out_char(out, '\n');
    info_text_recorded(out, input);
    info_text_figures(out, input);
}

/* Longest line of metadata in a file, where no screen limits it. */
#define METADATA_COLUMNS 200

/* Write "  key=value". A long value is truncated, with a hint how to see all of it. */
static void info_text_property(struct tv_out *out, const struct tv_trace_info *head,
                               const struct tv_metadata *metadata)
{
    uint32_t width = tv_layout_width(out) > 0 ? tv_layout_width(out) : METADATA_COLUMNS;
    struct tv_bytes value = tv_trace_info_text(head, metadata->value);
    char note[80];
    struct tv_out line;
    tv_out_init_memory(&line);
    tv_out_text(&line, "  ");
    tv_names_line(&line, tv_trace_info_text(head, metadata->key));
    tv_out_char(&line, '=');
    tv_names_line(&line, value);
    struct tv_bytes text = {line.buffer, line.length};
    if (tv_layout_columns(text) <= width) {
        tv_out_bytes(out, text);
    } else {
        uint32_t length = (uint32_t)snprintf(note, sizeof note,
                                             "... (%zu bytes in all: --format json)", value.length);
        text.length = tv_layout_prefix(text, width > length + 20 ? width - length : 20);
        tv_out_bytes(out, text);
        tv_layout_text(out, TV_STYLE_DIM, note);
    }
    tv_out_char(out, '\n');
    tv_out_release(&line);
}

/* Write the metadata, which may be long, after the facts. */
static void info_text_metadata(struct tv_out *out, const struct tv_trace_info *head)
{
    uint32_t input = TV_NONE;
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        const struct tv_metadata *metadata = &head->metadata[i];
        if (metadata->input != input) {
            input = metadata->input;
            tv_layout_text(out, TV_STYLE_TITLE, "metadata");
            tv_out_text(out, head->input_count > 1 ? " of " : "");
            if (head->input_count > 1)
                tv_names_line(out, tv_trace_info_text(head, head->inputs[input].name));
            tv_out_char(out, '\n');
        }
        info_text_property(out, head, metadata);
    }
}

static void info_text_diagnostics(struct tv_out *out, const struct tv_diagnostics *all)
{
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &all->kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (one->count == 0)
            continue;
        info_text_styled_label(out, tv_layout_style_of(tv_diagnostic_severity(kind)),
                               tv_diagnostic_severity_name(kind));
        tv_out_u64(out, one->count);
        tv_out_format(out, " %s: ", tv_diagnostic_name(kind));
        tv_diagnostics_write_text(out, all, kind);
        if (one->offset_count > 0)
            tv_out_format(out, " (first at byte %llu)",
                          (unsigned long long)one->places->offsets[0]);
        tv_out_char(out, '\n');
    }
}

/* Write a count unless it is 0. */
static void info_text_some(struct tv_out *out, const char *text, uint64_t value)
{
    if (value > 0)
        info_text_number(out, text, value);
}

/* Write a count that the format has, even if it is 0. */
static void info_text_known(struct tv_out *out, const char *text, bool known, uint64_t value)
{
    if (known || value > 0)
        info_text_number(out, text, value);
}

/* "cpu-clock             13 samples, 1.234 ms" */
static void info_text_value_types(struct tv_out *out, const struct tv_info *info)
{
    struct tv_sample_values values = tv_sample_values_of(info->trace);
    for (size_t i = 0; i < values.count; i++) {
        const struct tv_sample_value *value = &values.list[i];
        struct tv_sample_figures figures = {
            .sampled = true,
            .measure = value->counted ? TV_SAMPLES_COUNT : TV_SAMPLES_WEIGHT,
            .name = value->name,
            .unit = value->unit,
            .samples = value->samples,
            .sum = value->total,
            .total = value->total < 0 ? -(value->total + 1) : value->total,
        };
        info_text_label(out, i == 0 ? "value types" : "");
        tv_names_value(out, info->head, &figures);
    }
    tv_sample_values_release(&values);
}

/* Maximum number of event types that the text lists. */
#define EVENT_TYPES_SHOWN 5

/* "events                jdk.ExecutionSample 38, ..., and 12 more types" */
static void info_text_event_types(struct tv_out *out, const struct tv_info *info)
{
    const struct tv_tables *tables = &info->trace->tables;
    size_t count = tables->event_types.count, shown = 0;
    if (count == 0)
        return;
    info_text_label(out, "events");
    for (; shown < count && shown < EVENT_TYPES_SHOWN; shown++) {
        tv_out_text(out, shown > 0 ? ", " : "");
        tv_out_u64(out, tables->event_types.rows[shown].count);
        tv_out_char(out, ' ');
        tv_names_line(out, tv_trace_info_text(info->head, tables->event_types.rows[shown].name));
    }
    if (shown < count)
        tv_out_format(out, " and of %zu more %s", count - shown,
                      tv_plural(count - shown, "type", "types"));
    tv_out_char(out, '\n');
}

static void info_text_tables(struct tv_out *out, const struct tv_info *info)
{
    info_text_some(out, "unfinished slices", info->counts.sums.unfinished);
    for (size_t i = 0; i < TV_COUNT(info_rows); i++) {
        uint64_t count = info_row_count(&info->counts, &info_rows[i]);
        if (info_rows[i].place == offsetof(struct tv_counts, samples) && count > 0)
            count = info_count_samples(info); /* one with several values is several rows */
        if (info_rows[i].label)
            info_text_some(out, info_rows[i].label, count);
    }
}

/* Write the number of records, and figures of calls. Without slices they are shown only when they
 * are not 0, as diagnostics may be; so are records of formats that have none. */
static void info_text_calls(struct tv_out *out, const struct tv_info *info,
                            const struct info_sums *sums)
{
    info_text_known(out, "records", sums->buffer, sums->records);
    if (tv_figures_count_calls(info->head))
        info_text_known(out, "calls", sums->calls, info->counts.facts.calls);
    info_text_known(out, "unmatched exits", sums->calls, info->counts.facts.unmatched_exits);
    info_text_known(out, "open at the end", sums->calls, info->counts.facts.open_calls);
    info_text_known(out, "left by exceptions", sums->buffer, sums->unrolls);
    info_text_known(out, "deepest", sums->calls, info->counts.facts.max_depth);
}

/* Write the length of the recording: that of the records, and that stated by the file if it is
 * longer. */
static void info_text_times(struct tv_out *out, const struct tv_info *info,
                            const struct info_sums *sums)
{
    struct tv_figure_unit unit = tv_figures_unit(info->head);
    if (!tv_trace_info_has_times(info->head)) {
        info_text_label(out, "span");
        tv_out_text(out, "none: the samples have weights and no times\n");
        info_text_label(out, "axis");
        tv_names_weight_axis(out, info_weight_unit(info));
        tv_out_char(out, '\n');
        return;
    }
    info_text_time(out, "span", unit, info->span);
    if (sums->elapsed > info->span)
        info_text_time(out, "recording lasted", unit, sums->elapsed);
    if ((sums->clocks & TV_CLOCK_WALL))
        info_text_time(out, "last real time", unit, sums->last_wall);
    if ((sums->clocks & TV_CLOCK_CPU) && (sums->buffer || sums->last_cpu > 0))
        info_text_time(out, "last CPU time", unit, sums->last_cpu);
}

void tv_info_write_text(struct tv_out *out, const struct tv_info *info)
{
    const struct tv_trace_info *head = info->head;
    struct info_sums sums = info_sum_inputs(head);
    assert(info->head && (!info->trace || info->trace->head == info->head));
    for (uint32_t i = 0; i < head->input_count; i++)
        info_text_input(out, head, i);
    info_text_times(out, info, &sums);
    info_text_number(out, "processes", info->counts.processes);
    info_text_number(out, "threads", info->counts.threads);
    if (sums.late)
        info_text_number(out, "threads named at the end", sums.late);
    info_text_known(out, "threads with events", sums.calls, info->counts.facts.threads_with_events);
    info_text_some(out, "lines of the kernel", info->counts.lines);
    info_text_known(out, "methods", sums.buffer, sums.methods);
    info_text_calls(out, info, &sums);
    if (info->trace)
        info_text_tables(out, info);
    if (info->trace) {
        info_text_value_types(out, info);
        info_text_event_types(out, info);
    }
    if (sums.buffer || sums.overflow) {
        info_text_label(out, "overflow");
        tv_out_text(out, sums.overflow
                             ? "yes: the buffer was full, what came later was not recorded\n"
                             : "no\n");
    }
    info_text_diagnostics(out, &head->diagnostics);
    info_text_metadata(out, head);
}

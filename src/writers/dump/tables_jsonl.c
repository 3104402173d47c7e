/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables_jsonl.c - rows of the tables beside the slices, as JSON lines.
 *
 * Times are moved to the axis of the trace.  Owners are numbers of threads,
 * processes and tracks, as in the lines of model_jsonl.c.  A selection of
 * threads or processes leaves out the rows of others; one of categories leaves
 * out tables that have none.
 */
#include "writers/dump/jsonl.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "model/trace.h"

/* Return a text of the head by its number. */
static struct tv_bytes tables_jsonl_text_of(const struct tv_trace *trace, uint32_t string)
{
    return tv_trace_info_text(trace->head, string);
}

/* Write a time of a table, which is on the clock of its input, as a time on the trace's axis. */
static void tables_jsonl_add_time(struct tv_out *out, const char *key, const struct tv_trace *trace,
                                  uint32_t input, tv_ns time)
{
    assert(input < trace->head->input_count);
    tv_jsonl_number(out, key, tv_trace_time(trace, input, time));
}

/* Write an offset without the event, because one event may have made many rows. */
static void tables_jsonl_add_offset(struct tv_out *out, uint64_t offset)
{
    if (offset == TV_NO_OFFSET)
        return;
    tv_out_text(out, ", \"offset\": ");
    tv_out_u64(out, offset);
}

/* {"type": "instant", "id", "scope", "of", name and category, "time_ns", "colour", "offset",
 * "event"}; `of` is a thread, process or track, as the scope says. */
static void tables_jsonl_write_instants(struct tv_out *out, const struct tv_trace *trace,
                                        const struct tv_subset *keep)
{
    static const char *const scopes[] = {"thread", "process", "global", "track"};
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (!tv_subset_has_instant(keep, trace->head, instant))
            continue;
        tv_jsonl_begin(out, "instant");
        tv_jsonl_number(out, "id", (int64_t)i);
        tv_jsonl_text(out, "scope", tv_bytes_of(scopes[instant->scope]));
        tv_jsonl_index(out, "of", instant->of);
        tv_jsonl_frame(out, trace, instant->input, &trace->head->frames[instant->frame]);
        tables_jsonl_add_time(out, "time_ns", trace, instant->input, instant->time);
        tv_jsonl_some_number(out, "colour", instant->colour);
        tv_jsonl_event(out, trace, instant->input, instant->offset, TV_NO_OFFSET);
        tv_jsonl_end(out);
    }
}

/* {"type": "counter-sample", "counter", "time_ns", "values": [one a series], "offset"}. A series
 * without a value at that time has null. */
static void tables_jsonl_write_counter_samples(struct tv_out *out, const struct tv_trace *trace,
                                               size_t number)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_counter *counter = &tables->counters.rows[number];
    for (uint32_t i = 0; i < counter->sample_count; i++) {
        const double *values =
            tables->counter_values + counter->first_value + (size_t)i * counter->series_count;
        tv_jsonl_begin(out, "counter-sample");
        tv_jsonl_number(out, "counter", (int64_t)number);
        tables_jsonl_add_time(out, "time_ns", trace, counter->input,
                              tables->counter_times[counter->first_sample + i]);
        tv_out_text(out, ", \"values\": [");
        for (uint32_t k = 0; k < counter->series_count; k++) {
            tv_out_text(out, k > 0 ? ", " : "");
            tv_json_put_double(out, values[k]);
        }
        tv_out_char(out, ']');
        tables_jsonl_add_offset(out, tables->counter_offsets[counter->first_sample + i]);
        tv_jsonl_end(out);
    }
}

/* {"type": "counter", "id", "process", "name", "category", "series": [names]}, followed by its
 * samples. */
static void tables_jsonl_write_counters(struct tv_out *out, const struct tv_trace *trace,
                                        const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.counters.count; i++) {
        const struct tv_counter *counter = &trace->tables.counters.rows[i];
        if (!tv_subset_has_counter(keep, trace->head, counter))
            continue;
        tv_jsonl_begin(out, "counter");
        tv_jsonl_number(out, "id", (int64_t)i);
        tv_jsonl_index(out, "process", counter->process);
        tv_jsonl_text(out, "name", tables_jsonl_text_of(trace, counter->name));
        tv_jsonl_text(out, "category", tables_jsonl_text_of(trace, counter->category));
        tv_jsonl_some_number(out, "colour", counter->colour);
        tv_out_text(out, ", \"series\": [");
        for (uint32_t k = 0; k < counter->series_count; k++) {
            tv_out_text(out, k > 0 ? ", " : "");
            tv_out_json(out, tables_jsonl_text_of(
                                 trace, trace->tables.series.rows[counter->first_series + k].name));
        }
        tv_out_char(out, ']');
        tv_jsonl_end(out);
        tables_jsonl_write_counter_samples(out, trace, i);
    }
}

/* Write an end of a flow: the slice {"row", "index"} or the instant {"instant"} that it is bound
 * to, and its time. */
static void tables_jsonl_add_flow_end(struct tv_out *out, const struct tv_trace *trace,
                                      uint32_t input, const char *key,
                                      const struct tv_flow_end *end)
{
    bool is_instant = tv_flow_end_is_instant(end);
    tv_out_format(out, ", \"%s\": {\"%s\": %u", key, is_instant ? "instant" : "row",
                  is_instant ? end->index : end->row);
    if (!is_instant)
        tv_jsonl_number(out, "index", end->index);
    tables_jsonl_add_time(out, "time_ns", trace, input, end->time);
    tv_out_char(out, '}');
}

/* {"type": "flow", "flow_id", name and category, "from": {...}, "to": {...}, "offset", "event"}. */
static void tables_jsonl_write_flows(struct tv_out *out, const struct tv_trace *trace,
                                     const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        if (!tv_subset_has_flow(keep, trace, flow))
            continue;
        tv_jsonl_begin(out, "flow");
        tv_jsonl_text(out, "flow_id", tables_jsonl_text_of(trace, flow->id));
        tv_jsonl_frame(out, trace, flow->input, &trace->head->frames[flow->frame]);
        tables_jsonl_add_flow_end(out, trace, flow->input, "from", &flow->from);
        tables_jsonl_add_flow_end(out, trace, flow->input, "to", &flow->to);
        tv_jsonl_event(out, trace, flow->input, flow->offset, flow->end_offset);
        tv_jsonl_end(out);
    }
}

/* Objects first, because their snapshots refer to them by number. */
static void tables_jsonl_write_objects(struct tv_out *out, const struct tv_trace *trace,
                                       const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.objects.count; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        if (!tv_subset_has_object(keep, trace->head, &trace->tables.objects.rows[i]))
            continue;
        tv_jsonl_begin(out, "object");
        tv_jsonl_number(out, "id", (int64_t)i);
        tv_jsonl_index(out, "process", object->process);
        tv_jsonl_text(out, "object_type", tables_jsonl_text_of(trace, object->type));
        tv_jsonl_some_text(out, "base_type", tables_jsonl_text_of(trace, object->base_type));
        tv_jsonl_text(out, "category", tables_jsonl_text_of(trace, object->category));
        tv_jsonl_text(out, "scope", tables_jsonl_text_of(trace, object->scope));
        tv_jsonl_text(out, "object_id", tables_jsonl_text_of(trace, object->id));
        tables_jsonl_add_time(out, "created_ns", trace, object->input, object->created);
        tables_jsonl_add_time(out, "deleted_ns", trace, object->input, object->deleted);
        tv_out_format(out, ", \"created\": %s, \"deleted\": %s",
                      object->flags & TV_OBJECT_CREATED ? "true" : "false",
                      object->flags & TV_OBJECT_DELETED ? "true" : "false");
        if (object->group != TV_NONE)
            tv_jsonl_number(out, "joined", object->group);
        tv_jsonl_end(out);
    }
    for (size_t i = 0; i < trace->tables.snapshots.count; i++) {
        const struct tv_snapshot *snapshot = &trace->tables.snapshots.rows[i];
        if (!tv_subset_has_object(keep, trace->head, &trace->tables.objects.rows[snapshot->object]))
            continue;
        tv_jsonl_begin(out, "snapshot");
        tv_jsonl_number(out, "id", (int64_t)i);
        tv_jsonl_number(out, "object", snapshot->object);
        tables_jsonl_add_time(out, "time_ns", trace, snapshot->input, snapshot->time);
        if (snapshot->inner)
            tv_out_text(out, ", \"inner\": true");
        tv_jsonl_event(out, trace, snapshot->input, snapshot->offset, TV_NO_OFFSET);
        tv_jsonl_end(out);
    }
}

/* Joins tie IDs of objects and async slices together: "joined" is the number of the group. */
static void tables_jsonl_write_joins(struct tv_out *out, const struct tv_trace *trace)
{
    for (size_t i = 0; i < trace->tables.joins.count; i++) {
        const struct tv_join *join = &trace->tables.joins.rows[i];
        tv_jsonl_begin(out, "join");
        if (join->group != TV_NONE)
            tv_jsonl_number(out, "joined", join->group);
        tv_jsonl_text(out, "id", tables_jsonl_text_of(trace, join->id));
        tv_jsonl_text(out, "linked_id", tables_jsonl_text_of(trace, join->linked));
        tv_jsonl_event(out, trace, join->input, join->offset, TV_NO_OFFSET);
        tv_jsonl_end(out);
    }
}

/* Write the frames of a path by name, outermost first. Stack frames are written once as lines of
 * their own, with the numbers of their path and of its parent. */
static void tables_jsonl_add_stack(struct tv_out *out, const struct tv_trace *trace, uint32_t path)
{
    size_t depth;
    bool cut;
    uint32_t *frames = tv_path_innermost(trace, path, TV_STACK_NAMES, &depth, &cut);
    tv_jsonl_index(out, "path", path == TV_ROOT_PATH ? TV_NONE : path);
    tv_out_text(out, ", \"stack\": [");
    for (size_t i = 0; i < depth; i++) {
        tv_out_text(out, i > 0 ? ", " : "");
        tv_out_json(out, tables_jsonl_text_of(trace, trace->head->frames[frames[i]].name));
    }
    tv_out_char(out, ']');
    if (cut)
        tv_out_text(out, ", \"stack_cut\": true");
    tv_free(frames);
}

/* {"type": "sample", "thread", "cpu", "title", "time_ns", "weight", "path", "stack": [...],
 * "offset"}. */
static void tables_jsonl_write_samples(struct tv_out *out, const struct tv_trace *trace,
                                       const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        if (!tv_subset_has_process(keep, tv_thread_process(trace->head, sample->thread)))
            continue;
        tv_jsonl_begin(out, "sample");
        tv_jsonl_index(out, "thread", sample->thread);
        tv_jsonl_index(out, "cpu", sample->cpu);
        tv_jsonl_text(out, "title",
                      tables_jsonl_text_of(trace, tv_sample_title(&trace->tables, sample)));
        tables_jsonl_add_time(out, "time_ns", trace, sample->input, sample->time);
        tv_jsonl_number(out, "weight", sample->weight);
        tables_jsonl_add_stack(out, trace, sample->path);
        tables_jsonl_add_offset(out, sample->offset);
        tv_jsonl_end(out);
    }
}

/* Write the table of stack frames, each with the stack that it stands for. */
static void tables_jsonl_write_stack_frames(struct tv_out *out, const struct tv_trace *trace,
                                            const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.stack_frames.count; i++) {
        const struct tv_stack_frame *frame = &trace->tables.stack_frames.rows[i];
        if (!tv_subset_has_stack_frame(keep, frame))
            continue;
        tv_jsonl_begin(out, "stack-frame");
        tv_jsonl_text(out, "key", tables_jsonl_text_of(trace, frame->key));
        tv_jsonl_index(out, "process", frame->process);
        uint32_t above = trace->paths.nodes[frame->path].parent;
        tv_jsonl_index(out, "parent", above == TV_ROOT_PATH ? TV_NONE : above);
        tables_jsonl_add_stack(out, trace, frame->path);
        tv_jsonl_end(out);
    }
}

/* Write the figures of a memory dump; "of" names the allocator that a figure belongs to. */
static void tables_jsonl_write_figures(struct tv_out *out, const struct tv_trace *trace,
                                       const struct tv_memory_dump *dump)
{
    tv_out_text(out, ", \"figures\": [");
    for (uint32_t i = 0; i < dump->figure_count; i++) {
        const struct tv_memory_figure *figure =
            &trace->tables.memory_figures.rows[dump->first_figure + i];
        tv_out_text(out, i > 0 ? ", {\"of\": " : "{\"of\": ");
        tv_out_json(out, tables_jsonl_text_of(trace, figure->of));
        tv_jsonl_text(out, "name", tables_jsonl_text_of(trace, figure->name));
        tv_jsonl_text(out, "units", tables_jsonl_text_of(trace, figure->units));
        tv_out_text(out, ", \"value\": ");
        tv_json_put_double(out, figure->value);
        tv_out_char(out, '}');
    }
    tv_out_char(out, ']');
}

/* Write the memory dumps with all their figures. */
static void tables_jsonl_write_memory_dumps(struct tv_out *out, const struct tv_trace *trace,
                                            const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &trace->tables.memory_dumps.rows[i];
        if (!tv_subset_has_process(keep, dump->process))
            continue;
        tv_jsonl_begin(out, "memory-dump");
        tv_jsonl_index(out, "process", dump->process);
        tv_jsonl_text(out, "dump_id", tables_jsonl_text_of(trace, dump->id));
        tv_jsonl_text(out, "level", tables_jsonl_text_of(trace, dump->level));
        tables_jsonl_add_time(out, "time_ns", trace, dump->input, dump->time);
        tables_jsonl_write_figures(out, trace, dump);
        tables_jsonl_add_offset(out, dump->offset);
        tv_jsonl_end(out);
    }
}

/* Write the contexts of threads. */
static void tables_jsonl_write_contexts(struct tv_out *out, const struct tv_trace *trace,
                                        const struct tv_subset *keep)
{
    for (size_t i = 0; i < trace->tables.contexts.count; i++) {
        const struct tv_context *context = &trace->tables.contexts.rows[i];
        if (!tv_subset_has_process(keep, tv_thread_process(trace->head, context->thread)))
            continue;
        tv_jsonl_begin(out, "context");
        tv_jsonl_index(out, "thread", context->thread);
        tv_jsonl_text(out, "context_type", tables_jsonl_text_of(trace, context->type));
        tv_jsonl_text(out, "context_id", tables_jsonl_text_of(trace, context->id));
        tables_jsonl_add_time(out, "start_ns", trace, context->input, context->start);
        tables_jsonl_add_time(out, "end_ns", trace, context->input, context->end);
        tv_jsonl_event(out, trace, context->input, context->offset, TV_NO_OFFSET);
        tv_jsonl_end(out);
    }
}

/* Write the marks by which clocks of several inputs were aligned. */
static void tables_jsonl_write_clock_syncs(struct tv_out *out, const struct tv_trace *trace)
{
    for (size_t i = 0; i < trace->tables.clock_syncs.count; i++) {
        const struct tv_clock_sync *sync = &trace->tables.clock_syncs.rows[i];
        tv_jsonl_begin(out, "clock-sync");
        tv_jsonl_number(out, "input", sync->input);
        tv_jsonl_text(out, "sync_id", tables_jsonl_text_of(trace, sync->id));
        tables_jsonl_add_time(out, "time_ns", trace, sync->input, sync->time);
        tables_jsonl_add_time(out, "asked_ns", trace, sync->input, sync->asked);
        tables_jsonl_add_offset(out, sync->offset);
        tv_jsonl_end(out);
    }
}

void tv_tables_jsonl_write(struct tv_out *out, const struct tv_trace *trace,
                           const struct tv_subset *keep)
{
    tables_jsonl_write_clock_syncs(out, trace);
    tables_jsonl_write_instants(out, trace, keep);
    tables_jsonl_write_counters(out, trace, keep);
    tables_jsonl_write_flows(out, trace, keep);
    tables_jsonl_write_objects(out, trace, keep);
    tables_jsonl_write_joins(out, trace);
    if (keep->category) /* the other tables have no category */
        return;
    tables_jsonl_write_samples(out, trace, keep);
    tables_jsonl_write_stack_frames(out, trace, keep);
    tables_jsonl_write_memory_dumps(out, trace, keep);
    tables_jsonl_write_contexts(out, trace, keep);
}

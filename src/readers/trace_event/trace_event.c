/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/trace_event.h"

#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/describe.h"
#include "readers/trace_event/inside.h"
#include "readers/trace_event/metadata.h"
#include "readers/trace_event/records.h"

/* Nested slices may overhang by this: many writers round to microseconds (trace-event.md section
 * 4). */
#define TOLERANCE_NS 1000

static int te_reader_sniff(struct tv_bytes head, uint64_t size)
{
    (void)size;
    return tv_te_container_sniff(head);
}

/* ---- Putting the parts together ---- */

/* What a part's numbers are in the head. */
struct te_chunk_numbers {
    uint32_t *frames, *processes, *threads;
};

struct te_merge {
    struct tv_te_container *container;
    struct tv_te_context *context;
    struct tv_builder *builder;
    struct te_chunk_numbers *numbers; /* of each part */
    struct tv_te_loose_list loose, metadata;
    bool has_cpu, has_open;
};

static struct tv_te_part *te_merge_chunk_at(const struct te_merge *merging, size_t index)
{
    return &merging->container->lists.rows[index]->part;
}

/* Kind after kind, each in the order of the parts, so that all get the numbers that they would get
 * from one part. */
static void te_merge_number_chunks(struct te_merge *merging)
{
    size_t count = merging->container->lists.count;
    struct tv_te_threads *threads = &merging->context->threads;
    for (size_t i = 0; i < count; i++) {
        const struct tv_te_part *part = te_merge_chunk_at(merging, i);
        merging->numbers[i] = (struct te_chunk_numbers){
            tv_alloc(part->names.count, sizeof(uint32_t)),
            tv_alloc(part->threads.process_count, sizeof(uint32_t)),
            tv_alloc(part->threads.thread_count, sizeof(uint32_t)),
        };
        tv_te_names_merge(&part->names, threads->head, merging->numbers[i].frames);
    }
    for (size_t i = 0; i < count; i++)
        tv_te_threads_merge_processes(threads, &te_merge_chunk_at(merging, i)->threads,
                                      merging->numbers[i].processes);
    for (size_t i = 0; i < count; i++)
        tv_te_threads_merge(threads, &te_merge_chunk_at(merging, i)->threads, merging->numbers[i].processes,
                            merging->numbers[i].threads);
}

static void te_merge_renumber(struct tv_te_loose *rows, size_t count, const struct te_chunk_numbers *numbers)
{
    for (size_t i = 0; i < count; i++) {
        struct tv_te_loose *row = &rows[i];
        row->frame = row->frame == TV_NONE ? TV_NONE : numbers->frames[row->frame];
        row->process = numbers->processes[row->process];
        row->thread = row->thread == TV_NONE ? TV_NONE : numbers->threads[row->thread];
    }
}

/* Takes the rows over, their numbers those of the head. */
static void te_merge_move_deferred(struct tv_te_loose_list *all, struct tv_te_loose_list *own,
                       const struct te_chunk_numbers *numbers)
{
    if (own->count == 0)
        return;
    te_merge_renumber(own->rows, own->count, numbers);
    if (all->count == 0) { /* the first need not move */
        tv_free(all->rows);
        *all = *own;
    } else {
        all->rows =
            tv_array_reserve(all->rows, &all->capacity, all->count + own->count, sizeof *all->rows);
        memcpy(all->rows + all->count, own->rows, own->count * sizeof *all->rows);
        all->count += own->count;
        tv_free(own->rows);
    }
    *own = (struct tv_te_loose_list){NULL, 0, 0};
}

static void te_merge_move_instants(struct te_merge *merging, const struct tv_te_part *part,
                          const struct te_chunk_numbers *numbers)
{
    struct tv_tables *tables = &merging->context->trace->tables;
    for (size_t i = 0; i < part->instants.count; i++) {
        struct tv_instant instant = part->instants.rows[i];
        instant.frame = numbers->frames[instant.frame];
        instant.input = merging->context->input;
        if (instant.scope == TV_SCOPE_THREAD)
            instant.of = numbers->threads[instant.of];
        else if (instant.scope == TV_SCOPE_PROCESS)
            instant.of = numbers->processes[instant.of];
        *tv_table_add(&tables->instants) = instant;
    }
}

static void te_merge_move_stack_uses(struct tv_te_uses *all, const struct tv_te_uses *own,
                      const struct te_chunk_numbers *numbers)
{
    for (size_t i = 0; i < own->count; i++) {
        const struct tv_te_use *use = &own->rows[i];
        tv_te_uses_merge(all, numbers->processes[use->process],
                         tv_interner_get(own->keys, use->key), use);
    }
}

static void te_merge_take_chunk(struct te_merge *merging, size_t index)
{
    struct tv_te_context *context = merging->context;
    struct tv_te_part *part = te_merge_chunk_at(merging, index);
    const struct te_chunk_numbers *numbers = &merging->numbers[index];
    tv_assembly_take(context->assembly, part->gather, numbers->threads, numbers->frames);
    part->gather = NULL;
    te_merge_move_deferred(&merging->loose, &part->loose, numbers);
    tv_te_flow_list_take(&context->flow_events, &part->flows, numbers->threads, numbers->frames);
    te_merge_move_deferred(&merging->metadata, &part->metadata, numbers);
    te_merge_move_instants(merging, part, numbers);
    te_merge_move_stack_uses(&context->uses, &part->uses, numbers);
    tv_diagnostics_merge(&context->trace->head->diagnostics, &part->diagnostics);
    if (part->times.first <= part->times.last) {
        tv_te_widen(context, part->times.first);
        tv_te_widen(context, part->times.last);
    }
    tv_silence_merge(&context->times, &part->times);
    merging->has_cpu = merging->has_cpu || part->has_cpu;
    merging->has_open = merging->has_open || part->has_open;
    context->trace->head->inputs[context->input].records += part->events;
}

static void te_merge_take_counters(struct te_merge *merging)
{
    size_t count = merging->container->lists.count;
    struct tv_te_counters_part *parts = tv_alloc(count, sizeof *parts);
    for (size_t i = 0; i < count; i++)
        parts[i] =
            (struct tv_te_counters_part){te_merge_chunk_at(merging, i)->counters,
                                         merging->numbers[i].processes, merging->numbers[i].frames};
    tv_te_counters_merge(parts, count, merging->context->trace->head, merging->context->input,
                         &merging->context->trace->tables);
    tv_free(parts);
}

static void te_merge_chunks(struct te_merge *merging)
{
    size_t count = merging->container->lists.count;
    struct tv_te_context *context = merging->context;
    merging->numbers = tv_alloc(count, sizeof *merging->numbers);
    te_merge_number_chunks(merging);
    for (size_t i = 0; i < count; i++)
        te_merge_take_chunk(merging, i);
    te_merge_take_counters(merging);
    tv_diagnostics_merge(&context->trace->head->diagnostics, &merging->container->diagnostics);
    for (size_t i = 0; i < count; i++) {
        tv_free(merging->numbers[i].frames);
        tv_free(merging->numbers[i].processes);
        tv_free(merging->numbers[i].threads);
    }
    tv_free(merging->numbers);
}

/* ---- The whole ---- */

static void te_reader_fill_input(struct tv_te_context *context, bool has_cpu)
{
    struct tv_input *input = &context->trace->head->inputs[context->input];
    input->clocks = TV_CLOCK_WALL | (has_cpu ? (unsigned)TV_CLOCK_CPU : 0);
    input->eventless = context->nothing;
    input->origin = context->nothing ? 0 : context->first;
    input->last_wall = context->nothing ? 0 : context->last - context->first;
}

/* When each thread had its last instant, as an open slice lasts until then. */
static int64_t *te_reader_last_instants(const struct tv_trace *trace)
{
    int64_t *lasts = tv_alloc(trace->head->thread_count, sizeof *lasts);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        lasts[i] = INT64_MIN;
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope == TV_SCOPE_THREAD && instant->time > lasts[instant->of])
            lasts[instant->of] = instant->time;
    }
    return lasts;
}

static void te_reader_place_slices(struct tv_te_context *context, bool has_open)
{
    const struct tv_read_options *options = context->options;
    const char *unit = context->trace->head->inputs[context->input].unit;
    int64_t *ends = tv_te_ends_of_threads(context);
    int64_t *lasts = has_open ? te_reader_last_instants(context->trace) : NULL;
    struct tv_placing placing = {
        .tolerance = unit && strcmp(unit, "ns") == 0 ? 0 : TOLERANCE_NS,
        .end = context->nothing ? 0 : context->last,
        .ends = ends,
        .lasts = lasts,
        .quiets = context->quiets,
        .workers = options->parts,
        .cancel = options->progress ? &options->progress->cancel : NULL,
        .beside = tv_te_join_beside_placing,
        .beside_context = context,
    };
    tv_assembly_place(context->assembly, &placing);
    tv_free(ends);
    tv_free(lasts);
}

static bool te_reader_is_cancelled(const struct tv_read_options *options)
{
    return options->progress &&
           atomic_load_explicit(&options->progress->cancel, memory_order_relaxed);
}

static enum tv_status te_reader_build(struct te_merge *merging, struct tv_error *err)
{
    struct tv_te_context *context = merging->context;
    te_merge_chunks(merging);
    tv_te_lists_release(&merging->container->lists);
    merging->container->lists = (struct tv_te_lists){.rows = NULL};
    tv_te_metadata_members(context, merging->container);
    context->loose = merging->loose.rows;
    context->loose_count = merging->loose.count;
    for (size_t i = 0; i < context->loose_count; i++)
        context->loose_of[(uint8_t)context->loose[i].phase]++;
    context->frame_tables = merging->metadata.rows;
    context->frame_table_count =
        tv_te_metadata_events(context, merging->metadata.rows, merging->metadata.count);
    tv_te_join_before_placing(context);
    te_reader_fill_input(context, merging->has_cpu);
    tv_te_quiets_find(context);
    te_reader_place_slices(context, merging->has_open);
    if (te_reader_is_cancelled(context->options))
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    tv_te_join_after_placing(context);
    return TV_OK;
}

static void te_reader_add_input(struct tv_te_context *context, struct tv_builder *builder)
{
    struct tv_head *head = tv_builder_head(builder);
    context->input =
        tv_head_add_input(head, tv_source_name(context->source), tv_reader_trace_event.format);
    struct tv_input *input = &head->inputs[context->input];
    input->source = context->source;
    input->describe = tv_reader_trace_event.describe;
    input->verbatim = true;
    input->bytes = tv_source_size(context->source);
    context->assembly = tv_assembly_new(builder, context->input);
    context->trace = tv_assembly_trace(context->assembly);
    context->nothing = true;
    tv_silence_init(&context->times);
    tv_te_threads_init(&context->threads, head, context->input);
    tv_window_init(&context->window, context->source);
}

static enum tv_status te_reader_assemble(struct tv_source *source, struct tv_builder *builder,
                               const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_te_container container;
    struct tv_te_context context = {.source = source, .options = options};
    struct te_merge merging = {.container = &container, .context = &context, .builder = builder};
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = tv_te_container_read(&container, source, options, err);
    if (status == TV_OK) {
        tv_progress_join(options->progress, true);
        te_reader_add_input(&context, builder);
        status = te_reader_build(&merging, err);
        tv_assembly_end(context.assembly);
        if (status == TV_OK)
            status = tv_te_inside_read(&context, &container, builder, err);
        tv_te_threads_release(&context.threads);
        tv_te_scratch_release(&context.scratch);
        tv_free(context.async.rows); /* when it was cancelled */
        tv_async_plan_free(context.async_plan);
        tv_te_flows_free(context.flows);
        tv_te_flow_list_release(&context.flow_events);
        tv_te_states_free(context.states);
        tv_map_release(&context.joined);
        tv_te_uses_release(&context.uses);
        tv_free(context.ends);
        tv_free(context.quiets);
        tv_window_release(&context.window);
        tv_free(merging.loose.rows);
        tv_free(merging.metadata.rows);
    }
    tv_te_container_release(&container);
    return status;
}

const struct tv_reader tv_reader_trace_event = {
    .name = "trace-event",
    .summary = "Trace Event Format (JSON of Chrome, Node, Bazel, clang and others)",
    .sniff = te_reader_sniff,
    .assemble = te_reader_assemble,
    .tell = tv_te_records_tell,
    .format = "Trace Event Format",
    .describe = tv_te_describe,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.c - the reader: chunks merged, slices placed, events joined.
 *
 *     container   read by all processors, a chunk each; each chunk has numbers of its own
 *     merge       chunks in the order of the file get the numbers of the trace
 *     place       the assembly (model/assembly/assembly.h) sorts, pairs and nests the spans of each
 *                 thread
 *     join        everything that is not a slice (join/join.h): some before the spans are placed,
 *                 some meanwhile, some afterwards
 *     embedded    traces of other formats inside the file, each an input of its own
 *
 * B and E are not paired here.  A chunk gathers them as spans that begin or end; which end belongs
 * to which begin is known only when the spans of all chunks are in the order of time:
 *
 *     thread   B a   B b   E b   E a    by time; at one time by place in the file
 *     open     a     a b   a            an end closes the slice of its name and those above it
 *
 * In a thread with as many ends as beginnings each end closes a slice of its name, whatever lies
 * above it (docs/decisions/0004).  An end without a beginning began before the trace; a beginning
 * without an end lasts to the end of the trace, or of its file, or to the silence (join.c).
 */
#include "readers/trace_event/trace_event.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/join/join.h"

/* Nested slices may overhang by this much: many writers round to microseconds (trace-event.md
 * section 4). */
#define TOLERANCE_NS 1000

static int te_reader_sniff(struct tv_bytes head, uint64_t size)
{
    (void)size;
    return tv_te_container_sniff(head);
}

/* ---- Putting the chunks together ---- */

/* The head's numbers for those of a chunk. */
struct te_chunk_numbers {
    uint32_t *frames, *processes, *threads;
};

struct te_merge {
    struct tv_te_container *container;
    struct tv_te_context *context;
    struct tv_builder *builder;
    struct te_chunk_numbers *numbers; /* by chunk */
    struct tv_te_deferred_list deferred, metadata;
    bool has_cpu, has_open;
};

/* Return the chunk by its number. */
static struct tv_te_chunk *te_merge_chunk_at(const struct te_merge *merge, size_t index)
{
    return &merge->container->lists.rows[index]->chunk;
}

/* Number first the names of all chunks, then the processes, then the threads, each in the order of
 * the file.  So the numbers are those that a single chunk would give. */
static void te_merge_number_chunks(struct te_merge *merge)
{
    size_t count = merge->container->lists.count;
    struct tv_te_threads *threads = &merge->context->threads;
    for (size_t i = 0; i < count; i++) {
        const struct tv_te_chunk *chunk = te_merge_chunk_at(merge, i);
        merge->numbers[i] = (struct te_chunk_numbers){
            tv_alloc(chunk->names.count, sizeof(uint32_t)),
            tv_alloc(chunk->threads.process_count, sizeof(uint32_t)),
            tv_alloc(chunk->threads.thread_count, sizeof(uint32_t)),
        };
        tv_te_names_merge(&chunk->names, threads->head, merge->numbers[i].frames);
    }
    for (size_t i = 0; i < count; i++)
        tv_te_threads_merge_processes(threads, &te_merge_chunk_at(merge, i)->threads,
                                      merge->numbers[i].processes);
    for (size_t i = 0; i < count; i++)
        tv_te_threads_merge(threads, &te_merge_chunk_at(merge, i)->threads,
                            merge->numbers[i].processes, merge->numbers[i].threads);
}

/* Replace the numbers of a chunk by those of the trace. */
static void te_merge_renumber(struct tv_te_deferred *rows, size_t count,
                              const struct te_chunk_numbers *numbers)
{
    for (size_t i = 0; i < count; i++) {
        struct tv_te_deferred *row = &rows[i];
        row->frame = row->frame == TV_NONE ? TV_NONE : numbers->frames[row->frame];
        row->process = numbers->processes[row->process];
        row->thread = row->thread == TV_NONE ? TV_NONE : numbers->threads[row->thread];
    }
}

/* Move rows to the list of all chunks and give them the numbers of the head. */
static void te_merge_move_deferred(struct tv_te_deferred_list *all, struct tv_te_deferred_list *own,
                                   const struct te_chunk_numbers *numbers)
{
    if (own->count == 0)
        return;
    te_merge_renumber(own->rows, own->count, numbers);
    if (all->count == 0) { /* the first list is taken as it is */
        tv_free(all->rows);
        *all = *own;
    } else {
        all->rows =
            tv_array_reserve(all->rows, &all->capacity, all->count + own->count, sizeof *all->rows);
        memcpy(all->rows + all->count, own->rows, own->count * sizeof *all->rows);
        all->count += own->count;
        tv_free(own->rows);
    }
    *own = (struct tv_te_deferred_list){NULL, 0, 0};
}

/* Move the instants of a chunk to the table. */
static void te_merge_move_instants(struct te_merge *merge, const struct tv_te_chunk *chunk,
                                   const struct te_chunk_numbers *numbers)
{
    struct tv_tables *tables = &merge->context->trace->tables;
    for (size_t i = 0; i < chunk->instants.count; i++) {
        struct tv_instant instant = chunk->instants.rows[i];
        instant.frame = numbers->frames[instant.frame];
        instant.input = merge->context->input;
        if (instant.scope == TV_SCOPE_THREAD)
            instant.of = numbers->threads[instant.of];
        else if (instant.scope == TV_SCOPE_PROCESS)
            instant.of = numbers->processes[instant.of];
        *tv_table_add(&tables->instants) = instant;
    }
}

/* Add the uses of stack frames of a chunk. */
static void te_merge_move_stack_uses(struct tv_te_stack_uses *all,
                                     const struct tv_te_stack_uses *own,
                                     const struct te_chunk_numbers *numbers)
{
    for (size_t i = 0; i < own->count; i++) {
        const struct tv_te_stack_use *use = &own->rows[i];
        tv_te_stack_uses_merge(all, numbers->processes[use->process],
                               tv_interner_get(own->keys, use->key), use);
    }
}

/* Count the events of all chunks by phase, in the order of the letters: that of their first events
 * would depend on the chunks. */
static void te_merge_count_phases(struct te_merge *merge)
{
    struct tv_te_context *context = merge->context;
    for (uint8_t letter = '!'; letter < 127; letter++) {
        uint64_t count = 0;
        for (size_t i = 0; i < merge->container->lists.count; i++)
            count += te_merge_chunk_at(merge, i)->phases[letter];
        if (count > 0)
            tv_tables_count_events(
                &context->trace->tables, context->input,
                tv_trace_info_string(context->trace->head, (struct tv_bytes){&letter, 1}), count);
    }
}

/* Take everything from a chunk but its counters. */
static void te_merge_take_chunk(struct te_merge *merge, size_t index)
{
    assert(index < merge->container->lists.count);
    struct tv_te_context *context = merge->context;
    struct tv_te_chunk *chunk = te_merge_chunk_at(merge, index);
    const struct te_chunk_numbers *numbers = &merge->numbers[index];
    tv_assembly_add_chunk(context->assembly, chunk->gather, numbers->threads, numbers->frames);
    chunk->gather = NULL;
    te_merge_move_deferred(&merge->deferred, &chunk->deferred, numbers);
    tv_te_flow_list_take(&context->flow_events, &chunk->flows, numbers->threads, numbers->frames);
    te_merge_move_deferred(&merge->metadata, &chunk->metadata, numbers);
    te_merge_move_instants(merge, chunk, numbers);
    te_merge_move_stack_uses(&context->stacks.uses, &chunk->uses, numbers);
    tv_diagnostics_merge(&context->trace->head->diagnostics, &chunk->diagnostics);
    if (chunk->times.first <= chunk->times.last) {
        tv_te_times_widen(context, chunk->times.first);
        tv_te_times_widen(context, chunk->times.last);
    }
    tv_idle_gap_merge(&context->times.events, &chunk->times);
    merge->has_cpu = merge->has_cpu || chunk->has_cpu;
    merge->has_open = merge->has_open || chunk->has_open;
    context->trace->head->inputs[context->input].records += chunk->events;
}

/* Merge the counters of all chunks at once, as their columns depend on all of them. */
static void te_merge_take_counters(struct te_merge *merge)
{
    size_t count = merge->container->lists.count;
    struct tv_te_counters_chunk *chunks = tv_alloc(count, sizeof *chunks);
    for (size_t i = 0; i < count; i++)
        chunks[i] =
            (struct tv_te_counters_chunk){te_merge_chunk_at(merge, i)->counters,
                                          merge->numbers[i].processes, merge->numbers[i].frames};
    tv_te_counters_merge(chunks, count, merge->context->trace->head, merge->context->input,
                         &merge->context->trace->tables);
    tv_free(chunks);
}

/* Merge all chunks in the order of the file. */
static void te_merge_chunks(struct te_merge *merge)
{
    size_t count = merge->container->lists.count;
    struct tv_te_context *context = merge->context;
    merge->numbers = tv_alloc(count, sizeof *merge->numbers);
    te_merge_number_chunks(merge);
    for (size_t i = 0; i < count; i++)
        te_merge_take_chunk(merge, i);
    te_merge_count_phases(merge);
    te_merge_take_counters(merge);
    tv_diagnostics_merge(&context->trace->head->diagnostics, &merge->container->diagnostics);
    for (size_t i = 0; i < count; i++) {
        tv_free(merge->numbers[i].frames);
        tv_free(merge->numbers[i].processes);
        tv_free(merge->numbers[i].threads);
    }
    tv_free(merge->numbers);
}

/* ---- The whole ---- */

/* Fill in what the input says of its clocks and its range. */
static void te_reader_fill_input(struct tv_te_context *context, bool has_cpu)
{
    struct tv_input *input = &context->trace->head->inputs[context->input];
    input->clocks = TV_CLOCK_WALL | (has_cpu ? (unsigned)TV_CLOCK_CPU : 0);
    input->eventless = context->times.none;
    input->origin = context->times.none ? 0 : context->times.first;
    input->last_wall = context->times.none ? 0 : context->times.last - context->times.first;
}

/* Return when each thread had its last instant: an open slice lasts at least until then. */
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

/* Sort, pair and nest the spans of all threads; the joins beside that run at the same time. */
static void te_reader_place_slices(struct tv_te_context *context, bool has_open)
{
    const struct tv_read_options *options = context->options;
    const char *unit = context->trace->head->inputs[context->input].unit;
    int64_t *ends = tv_te_thread_ends(context);
    int64_t *lasts = has_open ? te_reader_last_instants(context->trace) : NULL;
    struct tv_row_options placing = {
        .tolerance = unit && strcmp(unit, "ns") == 0 ? 0 : TOLERANCE_NS,
        .end = context->times.none ? 0 : context->times.last,
        .ends = ends,
        .lasts = lasts,
        .idle_ends = context->times.idle_ends,
        .workers = options->parts,
        .cancel = options->progress ? &options->progress->cancel : NULL,
        .beside = tv_te_join_beside_placing,
        .beside_context = context,
    };
    tv_assembly_build_rows(context->assembly, &placing);
    tv_free(ends);
    tv_free(lasts);
}

/* Turn the chunks into a trace. */
static enum tv_status te_reader_build(struct te_merge *merge, struct tv_error *err)
{
    struct tv_te_context *context = merge->context;
    te_merge_chunks(merge);
    tv_te_lists_release(&merge->container->lists);
    merge->container->lists = (struct tv_te_lists){.rows = NULL};
    tv_te_metadata_members(context, merge->container);
    context->deferred.rows = merge->deferred.rows;
    context->deferred.count = merge->deferred.count;
    for (size_t i = 0; i < context->deferred.count; i++)
        context->deferred.count_of[(uint8_t)context->deferred.rows[i].phase]++;
    context->stacks.tables = merge->metadata.rows;
    context->stacks.table_count =
        tv_te_metadata_events(context, merge->metadata.rows, merge->metadata.count);
    tv_te_join_before_placing(context);
    te_reader_fill_input(context, merge->has_cpu);
    tv_te_silence_find(context);
    te_reader_place_slices(context, merge->has_open);
    if (tv_te_check_cancelled(context->options->progress, err) != TV_OK)
        return TV_ERR_CANCELLED;
    tv_te_join_after_placing(context);
    assert(!context->states && !context->flows && !context->async_plan);
    return TV_OK;
}

/* Add the input to the head, and make the assembly and tables. */
static void te_reader_add_input(struct tv_te_context *context, struct tv_builder *builder)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    context->input = tv_trace_info_add_input(head, tv_source_name(context->source),
                                             tv_reader_trace_event.format);
    struct tv_input *input = &head->inputs[context->input];
    input->source = context->source;
    input->describe = tv_reader_trace_event.describe;
    input->verbatim = true;
    input->bytes = tv_source_size(context->source);
    context->assembly = tv_assembly_new(builder, context->input);
    context->trace = tv_assembly_trace(context->assembly);
    context->times.none = true;
    tv_idle_gap_init(&context->times.events);
    tv_te_threads_init(&context->threads, head, context->input);
    tv_window_init(&context->window, context->source);
}

/* The reader's `assemble`: read, build, and read the traces inside. */
static enum tv_status te_reader_assemble(struct tv_source *source, struct tv_builder *builder,
                                         const struct tv_read_options *options,
                                         struct tv_error *err)
{
    struct tv_te_container container;
    struct tv_te_context context = {.source = source, .options = options};
    struct te_merge merge = {.container = &container, .context = &context, .builder = builder};
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = tv_te_container_read(&container, source, options, err);
    if (status == TV_OK) {
        tv_progress_join(options->progress, true);
        te_reader_add_input(&context, builder);
        status = te_reader_build(&merge, err);
        tv_assembly_end(context.assembly);
        if (status == TV_OK)
            status = tv_te_embedded_read(&context, &container, builder, err);
        tv_te_threads_release(&context.threads);
        tv_te_scratch_release(&context.scratch);
        tv_free(context.async.rows); /* left over when cancelled */
        tv_async_plan_free(context.async_plan);
        tv_te_flows_free(context.flows);
        tv_te_flow_list_release(&context.flow_events);
        tv_te_states_free(context.states);
        tv_map_release(&context.joined);
        tv_te_stack_uses_release(&context.stacks.uses);
        tv_free(context.times.file_ends);
        tv_free(context.times.idle_ends);
        tv_window_release(&context.window);
        tv_free(merge.deferred.rows);
        tv_free(merge.metadata.rows);
    }
    tv_te_container_release(&container);
    return status;
}

const struct tv_reader tv_reader_trace_event = {
    .name = "trace-event",
    .sniff = te_reader_sniff,
    .assemble = te_reader_assemble,
    .visit_records = tv_te_records_visit,
    .sketch_block = tv_te_block_sketch,
    .format = "Trace Event Format",
    .describe = tv_te_describe,
    .refuses_empty = true,
    .shows_all_events = true,
};

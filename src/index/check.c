/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - checks of a trace that was read from an index: info, paths, rows, tracks and tables.
 *
 * Checksums catch accidental damage, but not a file made to attack the program.  So every number
 * that later code uses as an index, a length or a time is checked here, once, and the rest of the
 * program may rely on it.
 *
 * The order matters, because a check may follow only references that were checked before:
 *
 *     strings --> inputs --> processes, threads, frames --> paths --> rows, tracks --> columns
 *                                                                                 --> tables
 *
 * Each table has one predicate, named index_check_TABLE_row: the list TV_INDEX_TABLES calls it by
 * that name, so a new table without a predicate does not compile.  Cost: one pass over every
 * element, without allocation except for one bool for each object.
 *
 * Three kinds of value need a check that is easy to forget: a bool, since any byte but 0 and 1 is
 * undefined behaviour; an enum that selects a case or indexes an array; and a time, since the
 * program subtracts times and adds clock offsets without looking for overflow. */
#include "index/layout.h"

#include "base/memory.h"

/* Return whether the time of the input's last record can be computed without overflow. */
static bool index_check_input_end(const struct tv_input *input, tv_ns offset)
{
    int64_t end;
    return !__builtin_add_overflow(input->origin, input->last_wall, &end) &&
           !__builtin_add_overflow(end, offset, &end);
}

/* An input without any clock would leave its slices without times, and a tick of 0 ns would divide
 * by zero. */
static bool index_check_input(const struct tv_trace *trace, const struct tv_input *input)
{
    uint32_t strings = tv_index_strings(trace);
    return input->name < strings && input->version < strings && input->clock < strings &&
           input->second_clock < strings && input->clocks != 0 &&
           (input->clocks & ~(unsigned)(TV_CLOCK_WALL | TV_CLOCK_CPU)) == 0 && input->tick_ns > 0 &&
           input->tick_ns <= TV_INDEX_TICK_MAX && tv_index_is_time(input->moved) &&
           input->figures <= TV_FIGURES_SAMPLED && tv_index_is_time(input->sampled_ns);
}

static bool index_check_process(const struct tv_process *process, uint32_t strings)
{
    return process->name < strings && process->key < strings && process->labels < strings &&
           tv_index_is_flag(&process->kernel_name);
}

/* Check a thread.  A bool with any byte but 0 and 1 would be undefined behaviour. */
static bool index_check_thread(const struct tv_trace_info *head, const struct tv_thread *thread,
                               uint32_t strings)
{
    return thread->name < strings && thread->key < strings &&
           tv_index_is_of(thread->process, head->process_count) &&
           thread->input < head->input_count && tv_index_is_flag(&thread->kernel_name) &&
           tv_index_is_flag(&thread->listed) && tv_index_is_flag(&thread->late) &&
           tv_index_is_flag(&thread->line);
}

/* Check a frame: numbers of strings, and enums within their bounds. */
static bool index_check_frame(const struct tv_frame *frame, uint32_t strings)
{
    return frame->class_name < strings && frame->name < strings && frame->signature < strings &&
           frame->file < strings && frame->category < strings && frame->module < strings &&
           frame->kind < TV_FRAME_KINDS && tv_index_is_flag(&frame->with_line);
}

/* Node 0 is the root, and parents come before their children.  So there are no cycles, and one pass
 * over the nodes in either direction visits the tree in order. */
static bool index_check_path_tree(const struct tv_trace *trace)
{
    const struct tv_path_node *nodes = trace->paths.nodes;
    uint32_t frames = trace->head->frame_count;
    if (trace->paths.count == 0 || nodes[0].parent != TV_ROOT_PATH || nodes[0].frame != TV_NONE)
        return false;
    for (uint32_t i = 1; i < trace->paths.count; i++)
        if (nodes[i].parent >= i || nodes[i].frame >= frames)
            return false;
    return true;
}

/* read.c has checked kinds and counts; here follow the inputs that the places name. */
static bool index_check_diagnostics(const struct tv_trace_info *head)
{
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        const struct tv_diagnostic *diagnostic = &head->diagnostics.kinds[kind];
        for (uint32_t i = 0; i < diagnostic->offset_count; i++)
            if (diagnostic->places->inputs[i] >= head->input_count)
                return false;
    }
    return true;
}

/* Check the inputs and their clocks.  Return the name of the first damaged part, or NULL. */
static const char *index_check_all_inputs(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    if (trace->offset_count != head->input_count)
        return "the offsets of its clocks";
    for (uint32_t i = 0; i < head->input_count; i++)
        if (!index_check_input(trace, &head->inputs[i]) ||
            !index_check_input_end(&head->inputs[i], trace->offset[i]))
            return "an input";
    return index_check_diagnostics(head) ? NULL : "its diagnostics";
}

/* Check the lists of the trace info.  Return the name of the first damaged part, or NULL. */
static const char *index_check_lists(const struct tv_trace_info *head, uint32_t strings)
{
    for (uint32_t i = 0; i < head->process_count; i++)
        if (!index_check_process(&head->processes[i], strings))
            return "a process";
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (!index_check_thread(head, &head->threads[i], strings))
            return "a thread";
    for (uint32_t i = 0; i < head->frame_count; i++)
        if (!index_check_frame(&head->frames[i], strings))
            return "a frame";
    for (uint32_t i = 0; i < head->metadata_count; i++)
        if (head->metadata[i].input >= head->input_count || head->metadata[i].key >= strings ||
            head->metadata[i].value >= strings)
            return "its metadata";
    return NULL;
}

const char *tv_index_check_head(const struct tv_trace *trace)
{
    const char *wrong = index_check_all_inputs(trace);
    if (!wrong)
        wrong = index_check_lists(trace->head, tv_index_strings(trace));
    if (wrong)
        return wrong;
    if (!tv_index_is_time(trace->start) || !tv_index_is_time(trace->end) ||
        trace->start > trace->end)
        return "its times";
    return index_check_path_tree(trace) ? NULL : "its call paths";
}

/* ---- Rows ---- */

/* A row's slices begin at a block's first slice, so the last block may be partly filled. */
static uint64_t index_check_blocks_of(uint32_t slices)
{
    return ((uint64_t)slices + TV_BLOCK_SLICES - 1) / TV_BLOCK_SLICES;
}

/* The slices and blocks of a row lie within its columns. A row without slices may have columns
 * without any memory. */
static bool index_check_row(const struct tv_trace *trace, const struct tv_row *row)
{
    if (row->track >= trace->track_count || row->input >= trace->head->input_count ||
        row->columns >= trace->columns_count)
        return false;
    const struct tv_columns *columns = &trace->columns[row->columns];
    return tv_index_is_range(row->first, row->count, columns->count) &&
           tv_index_is_range(row->first_block, index_check_blocks_of(row->count),
                             columns->block_count) &&
           (row->count == 0 || columns->flags);
}

/* The rows of a track are consecutive, by depth, and in the same columns. */
static bool index_check_track_rows(const struct tv_trace *trace, uint32_t number)
{
    const struct tv_track *track = &trace->tracks[number];
    uint64_t slices = 0;
    if (!tv_index_is_range(track->first_row, track->row_count, trace->row_count))
        return false;
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        const struct tv_row *row = &trace->rows[track->first_row + depth];
        if (row->track != number || row->depth != depth || row->input != track->input ||
            row->columns != trace->rows[track->first_row].columns)
            return false;
        slices += row->count;
    }
    return slices == track->slice_count;
}

/* Waits are drawn on the row of their depth, so the row must exist. */
static bool index_check_track_waits(const struct tv_trace *trace, const struct tv_track *track)
{
    int64_t tick = trace->head->inputs[track->input].tick_ns;
    for (uint32_t i = 0; i < track->wait_count; i++) {
        const struct tv_wait *wait = &track->waits[i];
        if (wait->path >= trace->paths.count || wait->depth >= track->row_count ||
            !tv_index_is_tick_on_axis(trace, track->input, wait->start) ||
            !tv_index_are_ticks(wait->length, tick))
            return false;
    }
    return true;
}

/* Check the ends and references of a track. A track with calls belongs to a thread, since
 * profiles and trees are sums by thread. */
static bool index_check_track(const struct tv_trace *trace, const struct tv_track *track)
{
    const struct tv_trace_info *head = trace->head;
    if (track->input >= head->input_count)
        return false;
    int64_t tick = head->inputs[track->input].tick_ns;
    return track->kind <= TV_TRACK_STATES && track->name < tv_index_strings(trace) &&
           tv_index_is_of(track->process, head->process_count) &&
           tv_index_is_of(track->thread, head->thread_count) &&
           (track->thread != TV_NONE || !tv_track_has_calls(track)) &&
           tv_index_is_tick_on_axis(trace, track->input, track->first_wall) &&
           tv_index_is_tick_on_axis(trace, track->input, track->last_wall) &&
           tv_index_are_ticks(track->first_cpu, tick) && tv_index_are_ticks(track->last_cpu, tick);
}

const char *tv_index_check_rows(const struct tv_trace *trace)
{
    uint64_t slices = 0, rows = 0;
    for (uint32_t i = 0; i < trace->row_count; i++)
        if (!index_check_row(trace, &trace->rows[i]))
            return "a row";
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (!index_check_track(trace, &trace->tracks[i]) || !index_check_track_rows(trace, i) ||
            !index_check_track_waits(trace, &trace->tracks[i]))
            return "a track";
        slices += trace->tracks[i].slice_count;
        rows += trace->tracks[i].row_count;
    }
    /* Each row names one track, so no row is counted twice, and equal sums mean that every row has
     * a track. */
    return slices == trace->slice_count && rows == trace->row_count ? NULL : "its tracks";
}

/* ---- Tables: one function per table ---- */

/* Number of items of each kind that tables refer to. */
struct table_counts {
    const struct tv_trace *trace;
    uint32_t strings, frames, paths, inputs, processes, threads, tracks;
};

/* Tables name a slice by its row and its index in the row. */
static bool table_slice_is_valid(const struct table_counts *counts, uint32_t row, uint32_t index)
{
    return row < counts->trace->row_count && index < counts->trace->rows[row].count;
}

static bool table_time_is_valid(const struct table_counts *counts, uint32_t input, tv_ns time)
{
    return tv_index_is_on_axis(counts->trace, input, time);
}

/* An end without a row is an instant, and `index` is its number in the table of instants. */
static bool table_flow_end_is_valid(const struct table_counts *counts, uint32_t input,
                                    const struct tv_flow_end *end)
{
    if (!table_time_is_valid(counts, input, end->time))
        return false;
    return end->row == TV_NONE ? end->index < counts->trace->tables.instants.count
                               : table_slice_is_valid(counts, end->row, end->index);
}

/* The scope decides which table `of` is a number in; a global instant does not use it. */
static bool index_check_instants_row(const struct table_counts *counts, const struct tv_instant *r)
{
    if (r->input >= counts->inputs || r->frame >= counts->frames ||
        !table_time_is_valid(counts, r->input, r->time))
        return false;
    switch (r->scope) {
    case TV_SCOPE_THREAD:
        return r->of < counts->threads;
    case TV_SCOPE_PROCESS:
        return r->of < counts->processes;
    case TV_SCOPE_TRACK:
        return r->of < counts->tracks;
    default:
        return r->scope == TV_SCOPE_GLOBAL;
    }
}

/* A counter has sample_count times and, for each time, one value per series. The product is
 * computed in 64 bits. */
static bool table_counter_facts_are_valid(const struct table_counts *counts,
                                          const struct tv_counter_facts *facts)
{
    return facts->unit < counts->strings && facts->type < counts->strings &&
           facts->description < counts->strings && facts->dimensions < counts->strings;
}

/* Check a counter, whose values are ranges of three shared arrays. */
static bool index_check_counters_row(const struct table_counts *counts, const struct tv_counter *r)
{
    const struct tv_tables *tables = &counts->trace->tables;
    return r->name < counts->strings && r->category < counts->strings &&
           r->input < counts->inputs && table_counter_facts_are_valid(counts, &r->facts) &&
           tv_index_is_of(r->process, counts->processes) &&
           tv_index_is_range(r->first_series, r->series_count, tables->series.count) &&
           tv_index_is_range(r->first_sample, r->sample_count, tables->counter_sample_count) &&
           tv_index_is_range(r->first_value, (uint64_t)r->sample_count * r->series_count,
                             tables->counter_value_count);
}

static bool index_check_series_row(const struct table_counts *counts, const struct tv_series *r)
{
    return r->name < counts->strings;
}

static bool index_check_flows_row(const struct table_counts *counts, const struct tv_flow *r)
{
    return r->input < counts->inputs && table_flow_end_is_valid(counts, r->input, &r->from) &&
           table_flow_end_is_valid(counts, r->input, &r->to) && r->frame < counts->frames &&
           r->id < counts->strings;
}

/* Check an object: every number must be one of its table, as nothing later tests it again. */
static bool index_check_objects_row(const struct table_counts *counts, const struct tv_object *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->created) &&
           table_time_is_valid(counts, r->input, r->deleted) && r->type < counts->strings &&
           r->base_type < counts->strings && r->category < counts->strings &&
           r->id < counts->strings && r->scope < counts->strings &&
           tv_index_is_of(r->process, counts->processes) &&
           tv_index_is_range(r->first_snapshot, r->snapshot_count,
                             counts->trace->tables.snapshots.count);
}

static bool index_check_snapshots_row(const struct table_counts *counts,
                                      const struct tv_snapshot *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->time) &&
           r->object < counts->trace->tables.objects.count && tv_index_is_flag(&r->inner);
}

/* An interval of 0 means that the profile does not state one. */
static bool index_check_value_types_row(const struct table_counts *counts,
                                        const struct tv_value_type *r)
{
    return r->input < counts->inputs && r->name < counts->strings && r->unit < counts->strings &&
           r->interval >= 0 && r->interval <= TV_INDEX_TIME_MAX &&
           tv_index_is_flag(&r->preferred) && tv_index_is_flag(&r->counted);
}

static bool index_check_event_types_row(const struct table_counts *counts,
                                        const struct tv_event_type *r)
{
    return r->input < counts->inputs && r->name < counts->strings;
}

static bool index_check_function_costs_row(const struct table_counts *counts,
                                           const struct tv_function_cost *r)
{
    return r->input < counts->inputs && r->frame < counts->frames &&
           r->type < counts->trace->tables.value_types.count;
}

static bool index_check_call_edges_row(const struct table_counts *counts,
                                       const struct tv_call_edge *r)
{
    return r->input < counts->inputs && r->caller < counts->frames && r->callee < counts->frames &&
           r->type < counts->trace->tables.value_types.count;
}

/* Weights may be negative (freed memory), within the bounds of a time. */
static bool index_check_samples_row(const struct table_counts *counts, const struct tv_sample *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->time) &&
           r->weight >= -TV_INDEX_TIME_MAX && r->weight <= TV_INDEX_TIME_MAX &&
           tv_index_is_of(r->thread, counts->threads) && r->path < counts->paths &&
           r->line_path < counts->paths && r->type < counts->trace->tables.value_types.count;
}

/* Check a memory dump and the range of its figures. */
static bool index_check_memory_dumps_row(const struct table_counts *counts,
                                         const struct tv_memory_dump *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->time) &&
           tv_index_is_of(r->process, counts->processes) && r->id < counts->strings &&
           r->level < counts->strings &&
           tv_index_is_range(r->first_figure, r->figure_count,
                             counts->trace->tables.memory_figures.count);
}

static bool index_check_memory_figures_row(const struct table_counts *counts,
                                           const struct tv_memory_figure *r)
{
    return r->of < counts->strings && r->name < counts->strings && r->units < counts->strings;
}

/* Check a context, which always has a thread. */
static bool index_check_contexts_row(const struct table_counts *counts, const struct tv_context *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->start) &&
           table_time_is_valid(counts, r->input, r->end) && r->thread < counts->threads &&
           r->type < counts->strings && r->id < counts->strings;
}

static bool index_check_joins_row(const struct table_counts *counts, const struct tv_join *r)
{
    return r->id < counts->strings && r->linked < counts->strings && r->input < counts->inputs;
}

static bool index_check_clock_syncs_row(const struct table_counts *counts,
                                        const struct tv_clock_sync *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->time) &&
           table_time_is_valid(counts, r->input, r->asked) && r->id < counts->strings;
}

static bool index_check_known_names_row(const struct table_counts *counts,
                                        const struct tv_known_name *r)
{
    return r->name < counts->strings && r->input < counts->inputs &&
           tv_index_is_flag(&r->is_thread);
}

static bool index_check_stack_frames_row(const struct table_counts *counts,
                                         const struct tv_stack_frame *r)
{
    return r->key < counts->strings && tv_index_is_of(r->process, counts->processes) &&
           r->path < counts->paths && r->input < counts->inputs;
}

static bool index_check_slice_extras_row(const struct table_counts *counts,
                                         const struct tv_slice_extra *r)
{
    return table_slice_is_valid(counts, r->row, r->index);
}

static bool index_check_async_extras_row(const struct table_counts *counts,
                                         const struct tv_async_extra *r)
{
    return table_slice_is_valid(counts, r->row, r->index) && r->id < counts->strings &&
           tv_index_is_of(r->start_thread, counts->threads) &&
           tv_index_is_of(r->end_thread, counts->threads) && tv_index_is_flag(&r->lifetime);
}

static bool index_check_wakeups_row(const struct table_counts *counts, const struct tv_wakeup *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->time) &&
           r->thread < counts->threads && tv_index_is_of(r->by, counts->threads);
}

static bool index_check_blockings_row(const struct table_counts *counts,
                                      const struct tv_blocking *r)
{
    return r->input < counts->inputs && table_time_is_valid(counts, r->input, r->time) &&
           r->thread < counts->threads && r->caller < counts->strings && tv_index_is_flag(&r->io);
}

/* Check a fact of a task, whose times may be unknown. */
static bool index_check_task_facts_row(const struct table_counts *counts,
                                       const struct tv_task_facts *r)
{
    return r->input < counts->inputs &&
           (r->start == TV_NO_TIME || table_time_is_valid(counts, r->input, r->start)) &&
           (r->end == TV_NO_TIME || table_time_is_valid(counts, r->input, r->end)) &&
           tv_index_is_of(r->process, counts->processes) &&
           tv_index_is_of(r->thread, counts->threads) &&
           tv_index_is_of(r->parent, counts->processes) && r->command < counts->strings;
}

/* Return whether the sample times of a counter are valid. */
static bool table_samples_are_valid(const struct table_counts *counts,
                                    const struct tv_counter *counter)
{
    const tv_ns *times = counts->trace->tables.counter_times + counter->first_sample;
    for (uint32_t i = 0; i < counter->sample_count; i++)
        if (!table_time_is_valid(counts, counter->input, times[i]))
            return false;
    return true;
}

/* Return whether the keys name each object exactly once.  They are a permutation, sorted for
 * searching; a search that finds a wrong object is harmless, one outside of the table is not. */
static bool table_object_keys_are_valid(const struct tv_tables *tables)
{
    size_t count = tables->objects.count, good = 0;
    bool *seen = tv_alloc(count, sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        uint32_t object = tables->object_keys[i].object;
        if (object >= count || seen[object])
            break;
        seen[object] = true;
        good++;
    }
    tv_free(seen);
    return good == count;
}

const char *tv_index_check_tables(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    const struct tv_tables *tables = &trace->tables;
    struct table_counts counts = {
        trace,
        tv_index_strings(trace),
        head->frame_count,
        trace->paths.count,
        head->input_count,
        head->process_count,
        head->thread_count,
        trace->track_count,
    };
#define CHECK_TABLE(table, ...)                                                                    \
    for (size_t i = 0; i < tables->table.count; i++)                                               \
        if (!index_check_##table##_row(&counts, &tables->table.rows[i]))                           \
            return "one of its " #table;
    TV_INDEX_TABLES(CHECK_TABLE)
#undef CHECK_TABLE
    for (size_t i = 0; i < tables->counters.count; i++)
        if (!table_samples_are_valid(&counts, &tables->counters.rows[i]))
            return "the values of its counters";
    return table_object_keys_are_valid(tables) ? NULL : "its objects";
}

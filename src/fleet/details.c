/* SPDX-License-Identifier: Apache-2.0 */
/*
 * details.c - rows of threads, value types of samples, findings, display
 * frames, and slices that were asked for by name.
 *
 * These tables are alike, so their rows have one form (struct fleet_detail): a
 * trace, up to three texts, perhaps a method, and up to seven numbers. tables.c
 * knows how many a table uses.  The enums here are the places of the numbers,
 * in the order of the table's columns.
 *
 * Each table has one row for a key within a trace, although a trace has many of
 * the things: threads of a pool, frames of one name, display frames of a
 * process.  A map from the key to the row finds it.  A number that a trace
 * cannot know stays FLEET_UNKNOWN, which is written as NULL: 0 would say that
 * nothing happened.
 */
#include "fleet/batch.h"

#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/profile.h"
#include "analysis/compare/run_table.h"
#include "analysis/findings/findings.h"
#include "analysis/states/states.h"
#include "analysis/subset/subset.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "writers/text/names.h"

#define SLICES_AT_ONCE 1024u

/* Append a row without texts, whose numbers are unknown.  The pointer is valid
 * until the next row is added. */
static struct fleet_detail *fleet_add_detail(struct tv_fleet_batch *batch,
                                             enum tv_fleet_table table, uint64_t trace)
{
    struct fleet_details *details = tv_fleet_details(batch, table);
    details->rows =
        tv_array_reserve(details->rows, &details->room, details->count + 1, sizeof *details->rows);
    struct fleet_detail *row = &details->rows[details->count];
    *row = (struct fleet_detail){.trace = trace, .order = details->count};
    for (size_t i = 0; i < TV_COUNT(row->numbers); i++)
        row->numbers[i] = FLEET_UNKNOWN;
    details->count++;
    return row;
}

/* Copy a text of the trace into the batch. */
static uint32_t fleet_copy_text(struct tv_fleet_batch *batch, const struct tv_trace_info *info,
                                uint32_t string)
{
    return tv_interner_add(batch->strings, tv_trace_info_text(info, string));
}

/* ---- Threads ---- */

/* Rows of the threads of a trace.  Threads of processes with one name, whose names differ only in
 * numbers, share a row. */
struct fleet_threads {
    struct tv_fleet_batch *batch;
    const struct tv_trace *trace;
    uint64_t number;
    uint32_t *rows;      /* [threads] row + 1 among those of the table; 0: none yet */
    struct tv_map index; /* process and name -> row */
};

/* Numbers of a row, in the order of its columns. */
enum { THREADS, THREAD_CALLS, THREAD_WALL, THREAD_CPU, THREAD_RAN, THREAD_WAITED, THREAD_SLEPT };

/* Return a thread's name with a placeholder for each number: "worker-#". */
static uint32_t fleet_thread_form(struct tv_fleet_batch *batch, const struct tv_trace_info *info,
                                  uint32_t thread)
{
    struct tv_out form;
    tv_out_init_memory(&form);
    tv_run_names_normal(&form, tv_trace_info_text(info, info->threads[thread].name),
                        TV_NAMES_GROUPED);
    uint32_t text = tv_interner_add(batch->strings, (struct tv_bytes){form.buffer, form.length});
    tv_out_release(&form);
    return text;
}

/* Return the name of a process, which may be unknown. */
static uint32_t fleet_process_name(struct tv_fleet_batch *batch, const struct tv_trace_info *info,
                                   uint32_t process)
{
    if (process >= info->process_count)
        return TV_EMPTY_STRING;
    return fleet_copy_text(batch, info, info->processes[process].name);
}

/* Find or add the row of a thread. */
static struct fleet_detail *fleet_find_thread(struct fleet_threads *threads, uint32_t thread)
{
    struct tv_fleet_batch *batch = threads->batch;
    const struct tv_trace_info *info = threads->trace->head;
    struct fleet_details *details = tv_fleet_details(batch, TV_FLEET_THREAD);
    if (threads->rows[thread] > 0)
        return &details->rows[threads->rows[thread] - 1];
    uint32_t name = fleet_thread_form(batch, info, thread);
    uint32_t process = fleet_process_name(batch, info, info->threads[thread].process);
    uint32_t row =
        tv_map_add(&threads->index, (uint64_t)process << 32 | name, (uint32_t)details->count);
    if (row == details->count) {
        struct fleet_detail *made = fleet_add_detail(batch, TV_FLEET_THREAD, threads->number);
        made->texts[0] = name;
        made->texts[1] = process;
        memset(made->numbers, 0, (THREAD_CPU + 1) * sizeof *made->numbers);
    }
    threads->rows[thread] = row + 1;
    details->rows[row].numbers[THREADS]++;
    return &details->rows[row];
}

/* Add the calls of each thread, and the times of its outermost calls, from the call tree.  A call
 * whose CPU time is unknown, or too small, ran at least as long as its children, which only the
 * tree knows. */
static void fleet_count_calls_of_tree(struct fleet_threads *threads)
{
    struct tv_call_tree *tree = tv_call_tree_by_thread(threads->trace, &TV_SELECT_ALL, 1);
    uint32_t *owner = tv_alloc(tree->count, sizeof *owner); /* thread + 1 */
    for (uint32_t node = 1; node < tree->count; node++) {
        uint32_t frame = tree->frame[node];
        bool is_thread = tree->parent[node] == TV_ROOT_PATH && frame >= TV_THREAD_FRAME;
        owner[node] = is_thread ? frame - TV_THREAD_FRAME + 1 : owner[tree->parent[node]];
        if (is_thread || owner[node] == 0 || !tv_call_tree_is_call(tree, node))
            continue;
        struct fleet_detail *row = fleet_find_thread(threads, owner[node] - 1);
        const struct tv_path_cost *cost = &tree->cost[node];
        row->numbers[THREAD_CALLS] += (int64_t)cost->calls;
        if (tv_call_tree_is_call(tree, tree->parent[node]))
            continue; /* its time is part of its caller's */
        tv_time_add(&row->numbers[THREAD_WALL], cost->wall);
        tv_time_add(&row->numbers[THREAD_CPU], cost->cpu);
    }
    tv_free(owner);
    tv_call_tree_free(tree);
}

/* Add what was counted of each thread.  Rows are in the order of the tracks, as in the tree. */
static void fleet_add_calls(struct fleet_threads *threads, struct fleet_thread_calls *calls)
{
    const struct tv_trace *trace = threads->trace;
    const unsigned clocks = tv_trace_info_clocks(trace->head);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        uint32_t thread = trace->tracks[i].thread;
        if (thread >= trace->head->thread_count || calls[thread].calls == 0)
            continue;
        struct fleet_detail *row = fleet_find_thread(threads, thread);
        row->numbers[THREAD_CALLS] += (int64_t)calls[thread].calls;
        if (clocks & TV_CLOCK_WALL)
            tv_time_add(&row->numbers[THREAD_WALL], calls[thread].wall);
        tv_time_add(&row->numbers[THREAD_CPU], calls[thread].cpu);
        calls[thread].calls = 0; /* the other tracks of the thread */
    }
}

/* Add a time of a state to a sum that is unknown so far, or not. */
static void fleet_add_state(int64_t *sum, tv_ns time)
{
    if (*sum == FLEET_UNKNOWN)
        *sum = 0;
    tv_time_add(sum, time);
}

/* Add the times of each thread's states, if the trace has them. */
static void fleet_add_states(struct fleet_threads *threads)
{
    struct tv_states_question question = {.from = INT64_MIN, .to = INT64_MAX};
    if (!tv_trace_has_states(threads->trace))
        return;
    struct tv_states *states = tv_states_of(threads->trace, &question);
    for (uint32_t i = 0; i < states->thread_count; i++) {
        const struct tv_thread_states *one = &states->threads[i];
        if (one->thread == TV_NONE)
            continue;
        struct fleet_detail *row = fleet_find_thread(threads, one->thread);
        fleet_add_state(&row->numbers[THREAD_RAN], one->time[TV_STATE_RUNNING]);
        fleet_add_state(&row->numbers[THREAD_WAITED], one->time[TV_STATE_RUNNABLE]);
        fleet_add_state(&row->numbers[THREAD_WAITED], one->time[TV_STATE_PREEMPTED]);
        fleet_add_state(&row->numbers[THREAD_SLEPT], one->time[TV_STATE_SLEEPING]);
        fleet_add_state(&row->numbers[THREAD_SLEPT], one->time[TV_STATE_UNINTERRUPTIBLE]);
        fleet_add_state(&row->numbers[THREAD_SLEPT], one->time[TV_STATE_IO]);
    }
    tv_states_free(states);
}

/* Add the rows of the threads that have calls or states. */
static void fleet_add_threads(struct tv_fleet_batch *batch, uint64_t number,
                              const struct tv_trace *trace, const struct tv_call_tree *tree,
                              struct fleet_thread_calls *calls)
{
    bool lacks_cpu = tree->raised;
    struct fleet_threads threads = {.batch = batch, .trace = trace, .number = number};
    threads.rows = tv_alloc((size_t)trace->head->thread_count + 1, sizeof *threads.rows);
    tv_map_init(&threads.index);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        lacks_cpu |= calls[i].lacks_cpu;
    if (lacks_cpu)
        fleet_count_calls_of_tree(&threads);
    else
        fleet_add_calls(&threads, calls);
    fleet_add_states(&threads);
    tv_map_release(&threads.index);
    tv_free(threads.rows);
}

/* ---- Samples ---- */

enum { SAMPLES, SAMPLE_INCL, SAMPLE_EXCL };

/* Add the rows of a value type: one for each method, as frames that have one name share a row. */
static void fleet_add_value(struct tv_fleet_batch *batch, const struct fleet_numbers *numbers,
                            const struct tv_trace *trace, const struct tv_sample_value *value)
{
    struct tv_sample_question question = {.measure = TV_SAMPLES_WEIGHT, .value = value->name};
    struct tv_call_tree *tree = tv_sample_tree_of_trace(trace, &TV_SELECT_ALL, NULL, &question);
    struct tv_profile *profile = tv_profile_of_tree(tree);
    struct fleet_details *details = tv_fleet_details(batch, TV_FLEET_SAMPLE);
    struct tv_map rows;
    tv_map_init(&rows);
    tv_profile_use_function_costs(profile, trace);
    uint32_t name = fleet_copy_text(batch, trace->head, value->name);
    uint32_t unit =
        tv_interner_add(batch->strings, tv_sample_figures_unit(tree->head, &profile->figures));
    for (uint32_t i = 0; i < profile->count; i++) {
        const struct tv_method_cost *cost = &profile->methods[i];
        if (cost->frame >= numbers->info->frame_count)
            continue;
        uint64_t method = tv_fleet_method_of(numbers, cost->frame);
        uint32_t place = tv_map_add(&rows, method, (uint32_t)details->count);
        if (place == details->count) {
            struct fleet_detail *made = fleet_add_detail(batch, TV_FLEET_SAMPLE, numbers->trace);
            made->texts[0] = name;
            made->texts[1] = unit;
            made->method = method;
            memset(made->numbers, 0, (SAMPLE_EXCL + 1) * sizeof *made->numbers);
            tv_fleet_add_name(batch, profile->head, &profile->head->frames[cost->frame], method);
        }
        struct fleet_detail *row = &details->rows[place];
        row->numbers[SAMPLES] += (int64_t)cost->calls; /* each sample counts once */
        tv_time_add(&row->numbers[SAMPLE_INCL], cost->incl_wall);
        tv_time_add(&row->numbers[SAMPLE_EXCL], cost->excl_wall);
    }
    tv_map_release(&rows);
    tv_profile_free(profile);
    tv_call_tree_free(tree);
}

/* Add the rows of every value type: one stack may have weighed bytes as well as
 * objects. */
static void fleet_add_samples(struct tv_fleet_batch *batch, const struct fleet_numbers *numbers,
                              const struct tv_trace *trace)
{
    struct tv_sample_values values = tv_sample_values_of(trace);
    for (size_t i = 0; i < values.count; i++)
        fleet_add_value(batch, numbers, trace, &values.list[i]);
    tv_sample_values_release(&values);
}

/* ---- Findings and display frames ---- */

enum { FRAMES, FRAMES_LATE, FRAMES_LONGEST, FRAMES_LATE_BY };

/* Count the display frames of each process. */
static void fleet_add_frames(struct tv_fleet_batch *batch, uint64_t number,
                             const struct tv_trace_info *info,
                             const struct tv_display_frames *frames)
{
    struct fleet_details *details = tv_fleet_details(batch, TV_FLEET_FRAME);
    struct tv_map index;
    tv_map_init(&index);
    for (uint32_t i = 0; i < frames->count; i++) {
        const struct tv_display_frame *one = &frames->list[i];
        uint32_t process = fleet_process_name(batch, info, one->process);
        uint32_t place = tv_map_add(&index, process, (uint32_t)details->count);
        if (place == details->count) {
            struct fleet_detail *made = fleet_add_detail(batch, TV_FLEET_FRAME, number);
            made->texts[0] = process;
            memset(made->numbers, 0, (FRAMES_LATE_BY + 1) * sizeof *made->numbers);
        }
        struct fleet_detail *row = &details->rows[place];
        row->numbers[FRAMES]++;
        row->numbers[FRAMES_LATE] += one->late;
        if (one->length > row->numbers[FRAMES_LONGEST])
            row->numbers[FRAMES_LONGEST] = one->length;
        if (one->late && one->deadline != TV_NO_DEADLINE && one->length > one->deadline) {
            tv_time_add(&row->numbers[FRAMES_LATE_BY], one->length);
            tv_time_add(&row->numbers[FRAMES_LATE_BY], -one->deadline);
        }
    }
    tv_map_release(&index);
}

enum { FINDING_COUNT, FINDING_TOTAL };

/* Add a row for each rule that found something, and those of display frames, which the rules need.
 */
static void fleet_add_findings(struct tv_fleet_batch *batch, uint64_t number,
                               const struct tv_trace *trace, const struct tv_call_tree *tree)
{
    struct tv_call_tree *calls = NULL;
    if (tree->figures.sampled) /* rules look at calls */
        calls = tv_call_tree_of_trace(trace, &TV_SELECT_ALL, 1);
    struct tv_findings *findings = tv_findings_of(trace, calls ? calls : tree, &TV_SELECT_ALL);
    fleet_add_frames(batch, number, trace->head, findings->frames);
    for (size_t i = 0; i < TV_RULES; i++) {
        const struct tv_finding *one = &findings->of[i];
        if (!one->found)
            continue;
        struct fleet_detail *row = fleet_add_detail(batch, TV_FLEET_FINDING, number);
        row->texts[0] = tv_interner_add(batch->strings, tv_bytes_of(tv_rules[i].name));
        row->texts[1] =
            tv_interner_add(batch->strings, tv_bytes_of(tv_severity_name(tv_rules[i].severity)));
        row->numbers[FINDING_COUNT] = (int64_t)one->count;
        row->numbers[FINDING_TOTAL] = one->total;
    }
    tv_findings_free(findings);
    tv_call_tree_free(calls);
}

/* ---- Slices ---- */

enum { SLICE_ID, SLICE_START, SLICE_LENGTH, SLICE_CPU, SLICE_UTID };

/* The slices of a trace that have rows. */
struct fleet_slices {
    struct tv_fleet_batch *batch;
    const struct tv_trace *trace;
    const struct fleet_numbers *numbers;
    bool has_cpu;   /* the slices of the row that is read have CPU times */
    bool *wanted;   /* [frames] */
    uint64_t count; /* number of wanted slices */
};

/* Return whether SQL's table `slice` has the slices of a track. */
static bool fleet_has_slices(const struct tv_track *track)
{
    return track->kind != TV_TRACK_CPU && track->kind != TV_TRACK_STATES;
}

/* Return whether a method's name, or its class and name, matches one of the patterns. */
static bool fleet_is_wanted(const struct tv_fleet_origin *origin, const struct tv_trace_info *info,
                            const struct tv_frame *frame, struct tv_out *scratch)
{
    struct tv_bytes name = tv_trace_info_text(info, frame->name);
    scratch->length = 0;
    tv_names_method(scratch, info, frame);
    struct tv_bytes whole = {scratch->buffer, scratch->length};
    for (size_t i = 0; i < origin->name_count; i++) {
        struct tv_bytes pattern = tv_bytes_of(origin->names[i]);
        if (tv_glob_matches(name, pattern) || tv_glob_matches(whole, pattern))
            return true;
    }
    return false;
}

/* Add the row of a slice; `id` is its number in SQL. */
static void fleet_add_slice(struct fleet_slices *slices, uint32_t thread, uint64_t id,
                            const struct tv_slice *slice)
{
    const struct tv_trace_info *info = slices->trace->head;
    const struct tv_path_node *path = &slices->trace->paths.nodes[slice->path];
    if (path->frame >= info->frame_count || !slices->wanted[path->frame] ||
        slices->count++ >= TV_FLEET_MAX_SLICES)
        return;
    struct fleet_detail *row =
        fleet_add_detail(slices->batch, TV_FLEET_SLICE, slices->numbers->trace);
    uint32_t above = slices->trace->paths.nodes[path->parent].frame;
    if (thread < info->thread_count) {
        row->texts[0] = fleet_copy_text(slices->batch, info, info->threads[thread].name);
        row->numbers[SLICE_UTID] = thread; /* as in SQL */
    }
    row->texts[1] = fleet_copy_text(slices->batch, info, info->frames[path->frame].name);
    if (path->parent != TV_ROOT_PATH && above < info->frame_count)
        row->texts[2] = fleet_copy_text(slices->batch, info, info->frames[above].name);
    row->method = tv_fleet_method_of(slices->numbers, path->frame);
    row->numbers[SLICE_ID] = (int64_t)id;
    row->numbers[SLICE_START] = slice->start;
    row->numbers[SLICE_LENGTH] = slice->length;
    if (slices->has_cpu && !(slice->flags & TV_SLICE_NO_CPU))
        row->numbers[SLICE_CPU] = slice->cpu_length;
    tv_fleet_add_name(slices->batch, info, &info->frames[path->frame], row->method);
}

/* Add the wanted slices of one row of the trace; `id` is the number of its first slice in SQL. */
static void fleet_read_slices(struct fleet_slices *slices, uint32_t row, uint64_t id)
{
    struct tv_slice some[SLICES_AT_ONCE];
    const struct tv_trace *trace = slices->trace;
    uint32_t count = trace->rows[row].count, got;
    uint32_t thread = trace->tracks[trace->rows[row].track].thread;
    slices->has_cpu = trace->columns[trace->rows[row].columns].cpu_start != NULL;
    for (uint32_t first = 0; first < count; first += got) {
        got = count - first < SLICES_AT_ONCE ? count - first : SLICES_AT_ONCE;
        tv_slices_read(trace, row, first, got, some);
        for (uint32_t i = 0; i < got; i++)
            fleet_add_slice(slices, thread, id + first + i, &some[i]);
    }
}

/* Add the rows of the wanted slices.  Return how many got none because there were too many. */
static uint64_t fleet_add_slices(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                                 const struct fleet_numbers *numbers, const struct tv_trace *trace)
{
    const struct tv_trace_info *info = trace->head;
    struct fleet_slices slices = {.batch = batch, .trace = trace, .numbers = numbers};
    struct tv_out scratch;
    uint64_t id = 0;
    if (origin->name_count == 0)
        return 0;
    slices.wanted = tv_alloc((size_t)info->frame_count + 1, sizeof *slices.wanted);
    tv_out_init_memory(&scratch);
    for (uint32_t i = 0; i < info->frame_count && i < numbers->info->frame_count; i++)
        slices.wanted[i] = fleet_is_wanted(origin, info, &info->frames[i], &scratch);
    for (uint32_t row = 0; row < trace->row_count; id += trace->rows[row++].count)
        if (fleet_has_slices(&trace->tracks[trace->rows[row].track]))
            fleet_read_slices(&slices, row, id);
    tv_out_release(&scratch);
    tv_free(slices.wanted);
    return slices.count > TV_FLEET_MAX_SLICES ? slices.count - TV_FLEET_MAX_SLICES : 0;
}

uint64_t tv_fleet_add_details(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                              const struct tv_trace *trace, const struct tv_call_tree *tree,
                              const struct fleet_numbers *numbers,
                              struct fleet_thread_calls *threads)
{
    fleet_add_threads(batch, numbers->trace, trace, tree, threads);
    fleet_add_samples(batch, numbers, trace);
    fleet_add_findings(batch, numbers->trace, trace, tree);
    return fleet_add_slices(batch, origin, numbers, trace);
}

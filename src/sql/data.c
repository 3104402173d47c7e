/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c - what all tables of a trace share (tables.h).
 *
 * The arrays here are made once when a trace is opened, so that a value of a
 * column is found without a search:
 *
 *     first_id[row]        id of the first slice of a row; the last element is the number of slices
 *     first_value[i]       number of the first value of a counter, over all counters
 *     track_of[thread]     the track with the slices of a thread, or with its instants alone
 *     facts_of_...         the row of the table of facts about a thread or process
 *     machine_of_input[i]  number of the machine of an input
 *     input_of_process[i]  number of the input that tells of a process
 *     dump_of_figure[i]    the memory dump that a figure is of
 *     name_of[frame]       number of a frame's name among the distinct names
 *
 * Many frames have the same name (the same function of several files or lines).
 * The column `name` is an ENUM of the distinct ones, so DuckDB groups and
 * compares names as small integers.  It orders them as such, too, and so the
 * names are sorted: ORDER BY name is alphabetical.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings/display_frames.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/out.h"
#include "sql/tables.h"

/* Copy a name as a C string: a NUL in it becomes "\\0". */
static uint32_t sql_intern_name(struct tv_interner *names, struct tv_bytes name)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] == '\0')
            tv_out_text(&text, "\\0");
        else
            tv_out_char(&text, (char)name.data[i]);
    uint32_t number = tv_interner_add(names, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return number;
}

/* A distinct name, its number in the interner, and its first bytes, which decide most comparisons.
 */
struct sql_name {
    uint64_t prefix; /* the first byte is the highest */
    const char *text;
    uint32_t number;
};

static int sql_compare_names(const void *a, const void *b)
{
    const struct sql_name *left = a, *right = b;
    if (left->prefix != right->prefix)
        return left->prefix < right->prefix ? -1 : 1;
    return strcmp(left->text, right->text);
}

static struct sql_name sql_name_read(const struct tv_interner *interner, uint32_t number)
{
    struct tv_bytes text = tv_interner_get(interner, number);
    struct sql_name name = {.text = (const char *)text.data, .number = number};
    for (size_t i = 0; i < sizeof name.prefix; i++)
        name.prefix = name.prefix << 8 | (i < text.length ? text.data[i] : 0);
    return name;
}

/* Sort the distinct names by their bytes, as DuckDB orders texts, and number the frames' anew. */
static void sql_sort_names(struct tv_sql_data *data)
{
    struct sql_name *sorted = tv_alloc(data->name_count, sizeof *sorted);
    uint32_t *place = tv_alloc(data->name_count, sizeof *place);
    for (uint32_t i = 0; i < data->name_count; i++)
        sorted[i] = sql_name_read(data->interner, i);
    qsort(sorted, data->name_count, sizeof *sorted, sql_compare_names);
    for (uint32_t i = 0; i < data->name_count; i++) {
        /* distinct and in order, or ORDER BY name and joins by name would be wrong */
        assert(i == 0 || strcmp(sorted[i - 1].text, sorted[i].text) < 0);
        data->names[i] = sorted[i].text;
        place[sorted[i].number] = i;
    }
    for (uint32_t i = 0; i < data->trace->head->frame_count; i++)
        data->name_of[i] = place[data->name_of[i]];
    tv_free(place);
    tv_free(sorted);
}

/* List the distinct names of all frames: those of an interner are numbered from 0, "". */
static void sql_list_names(struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    data->interner = tv_interner_new();
    data->name_of = tv_alloc((size_t)info->frame_count + 1, sizeof *data->name_of);
    for (uint32_t i = 0; i < info->frame_count; i++)
        data->name_of[i] =
            sql_intern_name(data->interner, tv_trace_info_text(info, info->frames[i].name));
    data->name_count = tv_interner_count(data->interner);
    data->names = tv_alloc(data->name_count, sizeof *data->names);
    sql_sort_names(data);
}

/* Note the first track of each thread: the list is walked from its end, and
 * earlier tracks replace later ones. */
static void sql_list_thread_tracks(struct tv_sql_data *data)
{
    const struct tv_trace *trace = data->trace;
    data->track_of = tv_alloc((size_t)trace->head->thread_count + 1, sizeof *data->track_of);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        data->track_of[i] = TV_NONE;
    for (uint32_t i = trace->track_count; i-- > 0;)
        if (trace->tracks[i].kind == TV_TRACK_THREAD && trace->tracks[i].thread != TV_NONE) {
            assert(trace->tracks[i].thread < trace->head->thread_count);
            data->track_of[trace->tracks[i].thread] = i;
        }
}

/* Give each thread that has instants alone a track, so that these are found by it as slices are.
 * Such tracks are not in the model. */
static void sql_list_bare_threads(struct tv_sql_data *data)
{
    const struct tv_trace *trace = data->trace;
    uint64_t next = (uint64_t)trace->track_count + trace->tables.series.count;
    data->bare_threads = tv_alloc((size_t)trace->head->thread_count + 1, sizeof(uint32_t));
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope != TV_SCOPE_THREAD || instant->of == TV_NONE ||
            data->track_of[instant->of] != TV_NONE)
            continue;
        /* once a thread: from here on it has a track */
        assert(data->bare_count < trace->head->thread_count);
        data->track_of[instant->of] = (uint32_t)(next + data->bare_count);
        data->bare_threads[data->bare_count++] = instant->of;
    }
}

/* List the facts about each thread and process: of several inputs the first one's. */
static void sql_list_facts(struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    const struct tv_tables *tables = &data->trace->tables;
    data->facts_of_thread = tv_alloc((size_t)info->thread_count + 1, sizeof *data->facts_of_thread);
    data->facts_of_process =
        tv_alloc((size_t)info->process_count + 1, sizeof *data->facts_of_process);
    /* Bytes of 0xff make TV_NONE. */
    memset(data->facts_of_thread, 0xff, info->thread_count * sizeof *data->facts_of_thread);
    memset(data->facts_of_process, 0xff, info->process_count * sizeof *data->facts_of_process);
    for (size_t i = tables->task_facts.count; i-- > 0;) {
        const struct tv_task_facts *facts = &tables->task_facts.rows[i];
        if (facts->thread != TV_NONE)
            data->facts_of_thread[facts->thread] = (uint32_t)i;
        if (facts->process != TV_NONE)
            data->facts_of_process[facts->process] = (uint32_t)i;
    }
}

/* Number the machines of the inputs: most traces are of one, 0. */
static void sql_list_machines(struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    uint32_t count = 0;
    data->machine_of_input =
        tv_alloc((size_t)info->input_count + 1, sizeof *data->machine_of_input);
    for (uint32_t i = 0; i < info->input_count; i++) {
        uint32_t same = 0;
        while (info->inputs[same].machine != info->inputs[i].machine)
            same++;
        data->machine_of_input[i] = same < i ? data->machine_of_input[same] : count++;
    }
}

/* Note the input of each process: that of its first thread, else the first one of its machine. */
static void sql_list_inputs_of_processes(struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    data->input_of_process =
        tv_alloc((size_t)info->process_count + 1, sizeof *data->input_of_process);
    for (uint32_t i = 0; i < info->process_count; i++) {
        uint32_t input = 0;
        while (input < info->input_count &&
               info->inputs[input].machine != info->processes[i].machine)
            input++;
        data->input_of_process[i] = input < info->input_count ? input : TV_NONE;
    }
    for (uint32_t i = info->thread_count; i-- > 0;)
        if (info->threads[i].process != TV_NONE)
            data->input_of_process[info->threads[i].process] = info->threads[i].input;
}

/* Find out whether the idle task is to be added to the threads and processes (tables.c). */
static void sql_find_idle(struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    bool perfetto = false;
    for (uint32_t i = 0; i < info->input_count; i++)
        perfetto = perfetto || strcmp(info->inputs[i].format, "Perfetto trace") == 0;
    data->adds_idle_thread = perfetto;
    for (uint32_t i = 0; i < info->thread_count; i++)
        data->adds_idle_thread = data->adds_idle_thread && !tv_sql_is_idle(info, &info->threads[i]);
    data->idle_process = perfetto ? info->process_count : TV_NONE;
    for (uint32_t i = info->process_count; perfetto && i-- > 0;)
        if (info->processes[i].id == 0)
            data->idle_process = i;
}

/* Note the dump of each figure: dumps are sorted by time, figures stand as they were read. */
static void sql_list_figures(struct tv_sql_data *data)
{
    const struct tv_tables *tables = &data->trace->tables;
    size_t count = tables->memory_figures.count;
    data->dump_of_figure = tv_alloc(count + 1, sizeof *data->dump_of_figure);
    memset(data->dump_of_figure, 0xff, count * sizeof *data->dump_of_figure);
    for (size_t i = 0; i < tables->memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &tables->memory_dumps.rows[i];
        assert(dump->first_figure + (uint64_t)dump->figure_count <= count);
        for (uint32_t j = 0; j < dump->figure_count; j++)
            data->dump_of_figure[dump->first_figure + j] = (uint32_t)i;
    }
}

void tv_sql_data_init(struct tv_sql_data *data, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    *data = (struct tv_sql_data){.trace = trace};
    data->first_id = tv_alloc((size_t)trace->row_count + 1, sizeof *data->first_id);
    for (uint32_t i = 0; i < trace->row_count; i++)
        data->first_id[i + 1] = data->first_id[i] + trace->rows[i].count;
    data->first_value = tv_alloc(tables->counters.count + 1, sizeof *data->first_value);
    for (size_t i = 0; i < tables->counters.count; i++)
        data->first_value[i + 1] =
            data->first_value[i] +
            (uint64_t)tables->counters.rows[i].sample_count * tables->counters.rows[i].series_count;
    data->display = tv_display_cache_new(trace, false);
    data->findings = tv_sql_findings_new();
    data->path_cache = tv_sql_path_cache_new();
    data->first_values = tv_sql_first_values_new();
    data->packets = tv_sql_packets_new();
    data->kernel = tv_sql_kernel_new();
    data->heap_graphs = tv_sql_heap_graphs_new();
    tv_sql_list_flag_words(data);
    sql_list_figures(data);
    sql_list_thread_tracks(data);
    sql_list_bare_threads(data);
    sql_list_facts(data);
    sql_list_machines(data);
    sql_list_inputs_of_processes(data);
    sql_find_idle(data);
    sql_list_names(data);
    if (!tv_duck.query)
        return; /* an export without DuckDB */
    data->name_type = tv_duck.create_enum_type(data->names, data->name_count);
    int internal = tv_duck.enum_internal_type(data->name_type);
    data->name_bytes = internal == DUCK_UTINYINT ? 1 : internal == DUCK_USMALLINT ? 2 : 4;
    /* the vectors of names hold the largest number */
    assert((data->name_count - 1) >> (8 * data->name_bytes - 1) <= 1);
}

void tv_sql_data_release(struct tv_sql_data *data)
{
    if (data->name_type)
        tv_duck.destroy_logical_type(&data->name_type);
    tv_display_cache_free(data->display);
    tv_sql_findings_free(data->findings);
    tv_sql_path_cache_free(data->path_cache);
    tv_sql_first_values_free(data->first_values);
    tv_sql_packets_free(data->packets);
    tv_sql_kernel_free(data->kernel);
    tv_sql_heap_graphs_free(data->heap_graphs);
    tv_free(data->dump_of_figure);
    tv_free(data->first_id);
    tv_free(data->first_value);
    tv_free(data->track_of);
    tv_free(data->bare_threads);
    tv_free(data->machine_of_input);
    tv_free(data->input_of_process);
    tv_free(data->facts_of_thread);
    tv_free(data->facts_of_process);
    tv_free(data->name_of);
    tv_free(data->names);
    tv_interner_free(data->interner);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the columns of every table (tables.h).
 *
 * Ids, but those of slices (slices.c), are numbers in the model's arrays.
 */
#include "sql/tables.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "model/diagnostic.h"
#include "writers/text/names.h"

static const struct tv_tables *sql_tables_of(const struct tv_sql_data *data)
{
    return &data->trace->tables;
}

/* ---- Threads, processes, tracks ---- */

static const struct tv_sql_column thread_columns[] = {
    {"utid", TV_SQL_INTEGER},    {"id", TV_SQL_INTEGER},
    {"tid", TV_SQL_INTEGER},     {"name", TV_SQL_TEXT},
    {"upid", TV_SQL_INTEGER},    {"is_main_thread", TV_SQL_BOOLEAN},
    {"is_idle", TV_SQL_BOOLEAN}, {"start_ts", TV_SQL_INTEGER},
    {"end_ts", TV_SQL_INTEGER},  {"machine_id", TV_SQL_INTEGER},
    {"input", TV_SQL_INTEGER},   {"arg_set_id", TV_SQL_INTEGER},
};

/* Put a time of a life, which may be before the trace; NULL: unknown. */
static void sql_put_fact_time(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                              uint64_t i, const struct tv_task_facts *facts, bool end)
{
    tv_ns time = !facts ? TV_NO_TIME : end ? facts->end : facts->start;
    if (time == TV_NO_TIME)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_integer(vector, i, tv_trace_time(data->trace, facts->input, time));
}

/* Return the facts about a process or a thread, by its number in `facts_of`; NULL: none. */
static const struct tv_task_facts *sql_facts(const struct tv_sql_data *data,
                                             const uint32_t *facts_of, uint64_t number)
{
    return facts_of[number] == TV_NONE ? NULL
                                       : &sql_tables_of(data)->task_facts.rows[facts_of[number]];
}

bool tv_sql_is_idle(const struct tv_trace_info *info, const struct tv_thread *thread)
{
    return thread->id == 0 &&
           tv_bytes_equal(tv_trace_info_text(info, thread->name), TV_BYTES("<idle>"));
}

/* Is it the idle task of a Perfetto trace?  Perfetto's queries know it by this name. */
static bool sql_is_swapper(const struct tv_trace_info *info, const struct tv_thread *thread)
{
    return strcmp(info->inputs[thread->input].format, "Perfetto trace") == 0 &&
           tv_sql_is_idle(info, thread);
}

/* Perfetto traces have the idle task as a thread, and its process, even if nothing tells of it:
 * Perfetto's trace processor lists both.  The model has them only as far as they show. */
static uint64_t sql_thread_count(const struct tv_sql_data *data)
{
    return data->trace->head->thread_count + (data->adds_idle_thread ? 1 : 0);
}

static void sql_put_idle_thread(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                struct tv_sql_vector *vector)
{
    if (column < 2)
        tv_sql_put_integer(vector, i, data->trace->head->thread_count);
    else if (column == 2)
        tv_sql_put_integer(vector, i, 0);
    else if (column == 3)
        tv_sql_put_text(vector, i, "swapper");
    else if (column == 4)
        tv_sql_put_integer(vector, i, data->idle_process);
    else if (column < 7)
        tv_sql_put_boolean(vector, i, true);
    else if (column == 9)
        tv_sql_put_integer(vector, i, 0);
    else
        tv_sql_put_null(vector, i);
}

/* Put the input (10) or the arguments of a thread. */
static void sql_put_thread_origin(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                  uint64_t thread, struct tv_sql_vector *vector)
{
    if (column == 10)
        tv_sql_put_integer(vector, i, data->trace->head->threads[thread].input);
    else
        tv_sql_put_thread_args(data, vector, i, thread);
}

static void sql_fill_thread(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    const struct tv_trace_info *info = data->trace->head;
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        if (first + i == info->thread_count) {
            sql_put_idle_thread(data, column, i, vector);
            continue;
        }
        const struct tv_thread *thread = &info->threads[first + i];
        if (column < 2)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 2)
            tv_sql_put_integer(vector, i, (int64_t)thread->id);
        else if (column == 3 && sql_is_swapper(info, thread))
            tv_sql_put_text(vector, i, "swapper");
        else if (column == 3)
            tv_sql_put_string(data, vector, i, thread->name);
        else if (column == 4)
            tv_sql_put_index(vector, i, thread->process);
        else if (column == 6)
            tv_sql_put_boolean(vector, i, tv_sql_is_idle(info, thread));
        else if (column == 9)
            tv_sql_put_index(vector, i, data->machine_of_input[thread->input]);
        else if (column > 9)
            sql_put_thread_origin(data, column, i, first + i, vector);
        else if (column > 6)
            sql_put_fact_time(data, vector, i, sql_facts(data, data->facts_of_thread, first + i),
                              column == 8);
        else if (thread->process == TV_NONE)
            tv_sql_put_null(vector, i);
        else
            tv_sql_put_boolean(vector, i, info->processes[thread->process].id == thread->id);
    }
}

static const struct tv_sql_column process_columns[] = {
    {"upid", TV_SQL_INTEGER},   {"id", TV_SQL_INTEGER},          {"pid", TV_SQL_INTEGER},
    {"name", TV_SQL_TEXT},      {"labels", TV_SQL_TEXT},         {"start_ts", TV_SQL_INTEGER},
    {"end_ts", TV_SQL_INTEGER}, {"parent_upid", TV_SQL_INTEGER}, {"uid", TV_SQL_INTEGER},
    {"cmdline", TV_SQL_TEXT},   {"machine_id", TV_SQL_INTEGER},  {"arg_set_id", TV_SQL_INTEGER},
    {"input", TV_SQL_INTEGER},
};

/* Return the number of a process's machine; TV_NONE: unknown. */
static uint32_t sql_machine_of_process(const struct tv_sql_data *data,
                                       const struct tv_process *process)
{
    const struct tv_trace_info *info = data->trace->head;
    for (uint32_t i = 0; i < info->input_count; i++)
        if (info->inputs[i].machine == process->machine)
            return data->machine_of_input[i];
    return TV_NONE;
}

/* Does a process stand for the kernel?  Readers make and name it. */
static bool sql_is_kernel(const struct tv_trace_info *info, const struct tv_process *process)
{
    return process->id == 0 &&
           tv_bytes_equal(tv_trace_info_text(info, process->name), TV_BYTES("Kernel"));
}

static uint64_t sql_process_count(const struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    return info->process_count + (data->idle_process == info->process_count ? 1 : 0);
}

static void sql_put_process_fact(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                 const struct tv_task_facts *facts, struct tv_sql_vector *vector)
{
    if (column < 7)
        sql_put_fact_time(data, vector, i, facts, column == 6);
    else if (!facts)
        tv_sql_put_null(vector, i);
    else if (column == 9)
        tv_sql_put_string(data, vector, i, facts->command);
    else
        tv_sql_put_index(vector, i, column == 7 ? facts->parent : facts->user);
}

/* Put the machine (10), the arguments (11), or the input of a process. */
static void sql_put_process_origin(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                   uint64_t process, struct tv_sql_vector *vector)
{
    if (column == 10)
        tv_sql_put_index(vector, i,
                         sql_machine_of_process(data, &data->trace->head->processes[process]));
    else if (column == 11)
        tv_sql_put_process_args(data, vector, i, process);
    else
        tv_sql_put_index(vector, i, data->input_of_process[process]);
}

static void sql_fill_process(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                             uint32_t column, uint64_t first, uint32_t count,
                             struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        if (first + i == data->trace->head->process_count) {
            if (column < 3 || column == 10)
                tv_sql_put_integer(vector, i, column < 2 ? (int64_t)(first + i) : 0);
            else
                tv_sql_put_null(vector, i);
            continue;
        }
        const struct tv_process *process = &data->trace->head->processes[first + i];
        if (column < 2)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 2)
            tv_sql_put_integer(vector, i, (int64_t)process->id);
        else if (column > 9)
            sql_put_process_origin(data, column, i, first + i, vector);
        else if (column > 4)
            sql_put_process_fact(data, column, i,
                                 sql_facts(data, data->facts_of_process, first + i), vector);
        else if (column == 3 && data->idle_process == first + i &&
                 sql_is_kernel(data->trace->head, process))
            tv_sql_put_null(vector, i); /* Perfetto's process 0 has no name */
        else
            tv_sql_put_string(data, vector, i, column == 3 ? process->name : process->labels);
    }
}

/* Put the process of a track or counter; NULL for the one that stands for the kernel, because what
 * belongs to it is of no process. */
static void sql_put_owner(const struct tv_sql_data *data, struct tv_sql_vector *vector, uint64_t i,
                          uint32_t process)
{
    const struct tv_trace_info *info = data->trace->head;
    bool is_kernel = process != TV_NONE && sql_is_kernel(info, &info->processes[process]);
    tv_sql_put_index(vector, i, is_kernel ? TV_NONE : process);
}

/* ---- Counters ---- */

static const struct tv_sql_column counter_track_columns[] = {
    {"id", TV_SQL_INTEGER},
    {"name", TV_SQL_TEXT},
    {"unit", TV_SQL_TEXT},
    {"upid", TV_SQL_INTEGER},
    {"series", TV_SQL_TEXT},
    {"category", TV_SQL_TEXT},
    {"type", TV_SQL_TEXT},
    {"description", TV_SQL_TEXT},
    {"dimension_arg_set_id", TV_SQL_INTEGER},
    {"machine_id", TV_SQL_INTEGER},
};

static uint64_t sql_series_count(const struct tv_sql_data *data)
{
    return sql_tables_of(data)->series.count;
}

/* Return the counter of a series: counters are in the order of their series. */
static const struct tv_counter *sql_counter_of_series(const struct tv_sql_data *data,
                                                      uint64_t series)
{
    const struct tv_tables *tables = sql_tables_of(data);
    size_t after = 1;
    TV_LOWER_BOUND(after, tables->counters.count, i,
                   tables->counters.rows[i].first_series <= series);
    return &tables->counters.rows[after - 1];
}

/* Return the kind of a counter: what the reader told, or what a name of Perfetto's counters tells;
 * NULL: unknown. */
static const char *sql_counter_type(const struct tv_sql_data *data,
                                    const struct tv_counter *counter)
{
    static const char *const types[][2] = {
        {"batt.", "battery_counter"}, {"battery_stats.", "battery_stats"}, {"mem.mm.", "mm_event"},
        {"mem.", "process_memory"},   {"oom_score_adj", "oom_score_adj"},
    };
    const struct tv_trace_info *info = data->trace->head;
    struct tv_bytes name = tv_trace_info_text(info, counter->name);
    bool is_cpu = tv_bytes_starts_with(name, TV_BYTES("CPU "));
    if (counter->facts.type != TV_EMPTY_STRING)
        return (const char *)tv_trace_info_text(info, counter->facts.type).data;
    if (is_cpu && tv_bytes_ends_with(name, TV_BYTES(" Clock Frequency")))
        return "cpu_frequency";
    if (is_cpu && tv_bytes_ends_with(name, TV_BYTES(" C-State")))
        return "cpu_idle";
    for (size_t i = 0; i < TV_COUNT(types); i++)
        if (strcmp(info->inputs[counter->input].format, "Perfetto trace") == 0 &&
            tv_bytes_starts_with(name, tv_bytes_of(types[i][0])))
            return types[i][1];
    return NULL;
}

static void sql_put_counter_track_column(const struct tv_sql_data *data, uint32_t column,
                                         uint64_t i, uint64_t series, struct tv_sql_vector *vector)
{
    const struct tv_counter *counter = sql_counter_of_series(data, series);
    switch (column) {
    case 0:
        tv_sql_put_integer(vector, i, (int64_t)(data->trace->track_count + series));
        break;
    case 3:
        sql_put_owner(data, vector, i, counter->process);
        break;
    case 6:
        if (sql_counter_type(data, counter))
            tv_sql_put_text(vector, i, sql_counter_type(data, counter));
        else
            tv_sql_put_null(vector, i);
        break;
    case 8:
        if (counter->facts.dimensions == TV_EMPTY_STRING)
            tv_sql_put_null(vector, i);
        else
            tv_sql_put_integer(vector, i, TV_SQL_SERIES_ARGS - (int64_t)series);
        break;
    case 9:
        tv_sql_put_index(vector, i, data->machine_of_input[counter->input]);
        break;
    default:
        tv_sql_put_string(data, vector, i,
                          column == 1   ? counter->name
                          : column == 2 ? counter->facts.unit
                          : column == 4 ? sql_tables_of(data)->series.rows[series].name
                          : column == 5 ? counter->category
                                        : counter->facts.description);
    }
}

static void sql_fill_counter_track(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                                   uint32_t column, uint64_t first, uint32_t count,
                                   struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++)
        sql_put_counter_track_column(data, column, i, first + i, vector);
}

/* The track of a disk has Perfetto's name of it: "block_io 45824". */
#define DISK_TRACK "block_io "

void tv_sql_write_series_arguments(const struct tv_sql_data *data, int64_t id, struct tv_out *out)
{
    const struct tv_trace *trace = data->trace;
    uint64_t series = (uint64_t)TV_SQL_SERIES_ARGS - (uint64_t)id, count = sql_series_count(data);
    if (id > TV_SQL_SERIES_ARGS || series >= count + trace->track_count)
        return;
    if (series < count) {
        tv_out_bytes(out, tv_trace_info_text(
                              trace->head, sql_counter_of_series(data, series)->facts.dimensions));
        return;
    }
    uint64_t device;
    struct tv_bytes name = tv_trace_info_text(trace->head, trace->tracks[series - count].name);
    if (tv_bytes_starts_with(name, TV_BYTES(DISK_TRACK)) &&
        tv_parse_u64((struct tv_bytes){name.data + sizeof DISK_TRACK - 1,
                                       name.length - (sizeof DISK_TRACK - 1)},
                     &device))
        tv_out_format(out, "{\"block_device\":%" PRIu64 "}", device);
}

/* ---- Tracks: of slices, of the series of counters, of threads with instants alone ---- */

static const struct tv_sql_column track_columns[] = {
    {"id", TV_SQL_INTEGER},         {"name", TV_SQL_TEXT},
    {"type", TV_SQL_TEXT},          {"utid", TV_SQL_INTEGER},
    {"upid", TV_SQL_INTEGER},       {"dimension_arg_set_id", TV_SQL_INTEGER},
    {"machine_id", TV_SQL_INTEGER},
};

static uint64_t sql_track_count(const struct tv_sql_data *data)
{
    return data->trace->track_count + sql_series_count(data) + data->bare_count;
}

/* Put a column of the track of a thread that has instants alone. */
static void sql_put_bare_track(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                               uint64_t number, struct tv_sql_vector *vector)
{
    const struct tv_trace_info *info = data->trace->head;
    uint32_t utid = data->bare_threads[number];
    if (column == 0)
        tv_sql_put_index(vector, i, data->track_of[utid]);
    else if (column == 2)
        tv_sql_put_text(vector, i, "thread_track");
    else if (column == 3)
        tv_sql_put_index(vector, i, utid);
    else if (column == 4)
        sql_put_owner(data, vector, i, info->threads[utid].process);
    else if (column == 6)
        tv_sql_put_index(vector, i, data->machine_of_input[info->threads[utid].input]);
    else
        tv_sql_put_null(vector, i);
}

/* Put a column of the track of a counter. */
static void sql_put_track_of_counter(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                     uint64_t series, struct tv_sql_vector *vector)
{
    static const uint32_t columns[] = {0, 1, 6, 0, 3, 8, 9}; /* of counter_track */
    const struct tv_counter *counter = sql_counter_of_series(data, series);
    if (column == 3)
        tv_sql_put_null(vector, i);
    else if (column == 2 && !sql_counter_type(data, counter))
        tv_sql_put_text(vector, i, "counter_track");
    else
        sql_put_counter_track_column(data, columns[column], i, series, vector);
}

/* Return the kind of a track: those of devices have the kind of their slices, as in Perfetto. */
static const char *sql_track_type(const struct tv_trace *trace, const struct tv_track *track)
{
    static const char *const types[] = {
        [TV_TRACK_THREAD] = "thread_track", [TV_TRACK_OVERFLOW] = "thread_track",
        [TV_TRACK_ASYNC] = "async_track",   [TV_TRACK_CPU] = "cpu_track",
        [TV_TRACK_STATES] = "state_track",
    };
    static const char *const kinds[] = {"block_io", "concurrent_tracing_sessions"};
    if (track->kind != TV_TRACK_ASYNC || track->row_count == 0 ||
        trace->rows[track->first_row].count == 0)
        return types[track->kind];
    struct tv_slice slice = tv_slice_get(trace, track->first_row, 0);
    const struct tv_frame *frame = &trace->head->frames[trace->paths.nodes[slice.path].frame];
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (tv_bytes_equal(tv_trace_info_text(trace->head, frame->category), tv_bytes_of(kinds[i])))
            return kinds[i];
    return types[track->kind];
}

/* Put what tells a track apart from others of its name; NULL: nothing does. */
static void sql_put_track_dimensions(const struct tv_sql_data *data, uint64_t i, uint64_t track,
                                     struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    struct tv_bytes name = tv_trace_info_text(trace->head, trace->tracks[track].name);
    if (tv_bytes_starts_with(name, TV_BYTES(DISK_TRACK)) &&
        strcmp(sql_track_type(trace, &trace->tracks[track]), "block_io") == 0)
        tv_sql_put_integer(vector, i,
                           TV_SQL_SERIES_ARGS - (int64_t)(sql_series_count(data) + track));
    else
        tv_sql_put_null(vector, i);
}

static void sql_fill_track(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                           uint32_t column, uint64_t first, uint32_t count,
                           struct tv_sql_vector *vector)
{
    (void)scratch;
    uint64_t bare = data->trace->track_count + sql_series_count(data);
    for (uint32_t i = 0; i < count; i++) {
        if (first + i >= bare) {
            sql_put_bare_track(data, column, i, first + i - bare, vector);
            continue;
        }
        if (first + i >= data->trace->track_count) {
            sql_put_track_of_counter(data, column, i, first + i - data->trace->track_count, vector);
            continue;
        }
        const struct tv_track *track = &data->trace->tracks[first + i];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_string(data, vector, i, track->name);
        else if (column == 2)
            tv_sql_put_text(vector, i, sql_track_type(data->trace, track));
        else if (column == 5)
            sql_put_track_dimensions(data, i, first + i, vector);
        else if (column == 6)
            tv_sql_put_index(vector, i, data->machine_of_input[track->input]);
        else if (column == 3)
            tv_sql_put_index(vector, i, track->thread);
        else
            sql_put_owner(data, vector, i, track->process);
    }
}

/* ---- Values of counters ---- */

static const struct tv_sql_column counter_columns[] = {
    {"id", TV_SQL_INTEGER}, {"ts", TV_SQL_INTEGER},         {"track_id", TV_SQL_INTEGER},
    {"value", TV_SQL_REAL}, {"arg_set_id", TV_SQL_INTEGER},
};

static uint64_t sql_value_count(const struct tv_sql_data *data)
{
    return data->first_value[sql_tables_of(data)->counters.count];
}

static void sql_fill_counter(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                             uint32_t column, uint64_t first, uint32_t count,
                             struct tv_sql_vector *vector)
{
    const struct tv_tables *tables = sql_tables_of(data);
    size_t after = 1;
    (void)scratch;
    TV_LOWER_BOUND(after, tables->counters.count, i, data->first_value[i] <= first);
    size_t at = after - 1;
    for (uint32_t i = 0; i < count; i++) {
        while (data->first_value[at + 1] <= first + i)
            at++;
        const struct tv_counter *counter = &tables->counters.rows[at];
        uint64_t value = first + i - data->first_value[at];
        uint64_t sample = value / counter->series_count;
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_integer(
                vector, i,
                tv_trace_time(data->trace, counter->input,
                              tables->counter_times[counter->first_sample + sample]));
        else if (column == 2)
            tv_sql_put_integer(vector, i,
                               (int64_t)(data->trace->track_count + counter->first_series +
                                         value % counter->series_count));
        else if (column == 4)
            tv_sql_put_integer(vector, i, tv_sql_value_args(data, first + i));
        else
            tv_sql_put_real(vector, i, tables->counter_values[counter->first_value + value]);
    }
}

/* ---- Samples, paths, frames ---- */

static const struct tv_sql_column sample_columns[] = {
    {"id", TV_SQL_INTEGER},       {"ts", TV_SQL_INTEGER},          {"utid", TV_SQL_INTEGER},
    {"cpu", TV_SQL_INTEGER},      {"callsite_id", TV_SQL_INTEGER}, {"value_type", TV_SQL_TEXT},
    {"unit", TV_SQL_TEXT},        {"weight", TV_SQL_INTEGER},      {"leaf", TV_SQL_NAME},
    {"first_id", TV_SQL_INTEGER}, {"arg_set_id", TV_SQL_INTEGER},
};

static uint64_t sql_sample_count(const struct tv_sql_data *data)
{
    return sql_tables_of(data)->samples.count;
}

/* Put the path of a sample (4), or the name of its innermost frame; NULL: it has no stack. */
static void sql_put_sample_stack(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                 const struct tv_sample *sample, struct tv_sql_vector *vector)
{
    if (sample->path == TV_ROOT_PATH)
        tv_sql_put_null(vector, i);
    else if (column == 4)
        tv_sql_put_index(vector, i, sample->path);
    else
        tv_sql_put_name(data, vector, i, data->trace->paths.nodes[sample->path].frame);
}

static void sql_fill_sample(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    const struct tv_tables *tables = sql_tables_of(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[first + i];
        const struct tv_value_type *type = &tables->value_types.rows[sample->type];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_integer(vector, i, tv_trace_time(data->trace, sample->input, sample->time));
        else if (column == 2 || column == 3)
            tv_sql_put_index(vector, i, column == 2 ? sample->thread : sample->cpu);
        else if (column == 5 || column == 6)
            tv_sql_put_string(data, vector, i, column == 5 ? type->name : type->unit);
        else if (column == 7)
            tv_sql_put_integer(vector, i, sample->weight);
        else if (column == 9)
            tv_sql_put_integer(vector, i, (int64_t)tv_sql_first_value(data, first + i));
        else if (column == 10)
            tv_sql_put_integer(vector, i, tv_sql_sample_args(data, first + i));
        else
            sql_put_sample_stack(data, column, i, sample, vector);
    }
}

static const struct tv_sql_column frame_columns[] = {
    {"id", TV_SQL_INTEGER},     {"name", TV_SQL_NAME},     {"class", TV_SQL_TEXT},
    {"signature", TV_SQL_TEXT}, {"category", TV_SQL_TEXT}, {"module", TV_SQL_TEXT},
    {"file", TV_SQL_TEXT},      {"line", TV_SQL_INTEGER},  {"kind", TV_SQL_TEXT},
};

static uint64_t sql_frame_count(const struct tv_sql_data *data)
{
    return data->trace->head->frame_count;
}

static void sql_fill_frame(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                           uint32_t column, uint64_t first, uint32_t count,
                           struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_frame *frame = &data->trace->head->frames[first + i];
        const uint32_t texts[] = {
            0, 0, frame->class_name, frame->signature, frame->category, frame->module, frame->file};
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_name(data, vector, i, (uint32_t)(first + i));
        else if (column < 7)
            tv_sql_put_string(data, vector, i, texts[column]);
        else if (column == 7 && frame->line > 0)
            tv_sql_put_integer(vector, i, frame->line);
        else if (column == 8 && frame->kind != TV_FRAME_UNKNOWN)
            tv_sql_put_text(vector, i, tv_names_frame_kind((enum tv_frame_kind)frame->kind));
        else
            tv_sql_put_null(vector, i);
    }
}

/* ---- Flows, wake-ups, diagnostics ---- */

static const struct tv_sql_column wakeup_columns[] = {
    {"id", TV_SQL_INTEGER},
    {"ts", TV_SQL_INTEGER},
    {"utid", TV_SQL_INTEGER},
    {"waker_utid", TV_SQL_INTEGER},
};

static uint64_t sql_wakeup_count(const struct tv_sql_data *data)
{
    return sql_tables_of(data)->wakeups.count;
}

static void sql_fill_wakeup(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_wakeup *wakeup = &sql_tables_of(data)->wakeups.rows[first + i];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_integer(vector, i, tv_trace_time(data->trace, wakeup->input, wakeup->time));
        else
            tv_sql_put_index(vector, i, column == 2 ? wakeup->thread : wakeup->by);
    }
}

static const struct tv_sql_column blocking_columns[] = {
    {"id", TV_SQL_INTEGER},      {"ts", TV_SQL_INTEGER},
    {"utid", TV_SQL_INTEGER},    {"blocked_function", TV_SQL_TEXT},
    {"io_wait", TV_SQL_BOOLEAN},
};

static uint64_t sql_blocking_count(const struct tv_sql_data *data)
{
    return sql_tables_of(data)->blockings.count;
}

static void sql_fill_blocking(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                              uint32_t column, uint64_t first, uint32_t count,
                              struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_blocking *blocking = &sql_tables_of(data)->blockings.rows[first + i];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_integer(vector, i,
                               tv_trace_time(data->trace, blocking->input, blocking->time));
        else if (column == 2)
            tv_sql_put_index(vector, i, blocking->thread);
        else if (column == 3)
            tv_sql_put_string(data, vector, i, blocking->caller);
        else
            tv_sql_put_boolean(vector, i, blocking->io);
    }
}

static const struct tv_sql_column flow_columns[] = {
    {"id", TV_SQL_INTEGER},         {"slice_out", TV_SQL_INTEGER}, {"slice_in", TV_SQL_INTEGER},
    {"trace_id", TV_SQL_INTEGER},   {"ts_out", TV_SQL_INTEGER},    {"ts_in", TV_SQL_INTEGER},
    {"arg_set_id", TV_SQL_INTEGER}, {"flow_id", TV_SQL_TEXT},
};

/* Put the id of a flow as a number: Perfetto traces write it in hexadecimal. */
static void sql_put_flow_number(const struct tv_sql_data *data, uint64_t i, uint32_t id,
                                struct tv_sql_vector *vector)
{
    struct tv_bytes text = tv_trace_info_text(data->trace->head, id);
    uint64_t number;
    int64_t decimal;
    if (tv_bytes_starts_with(text, TV_BYTES("0x")) && tv_parse_hex(text, &number))
        tv_sql_put_integer(vector, i, (int64_t)number);
    else if (tv_parse_i64(text, &decimal))
        tv_sql_put_integer(vector, i, decimal);
    else
        tv_sql_put_null(vector, i);
}

static uint64_t sql_flow_count(const struct tv_sql_data *data)
{
    return sql_tables_of(data)->flows.count;
}

static int64_t sql_flow_end_id(const struct tv_sql_data *data, const struct tv_flow_end *end)
{
    uint64_t first = tv_flow_end_is_instant(end) ? data->first_id[data->trace->row_count]
                                                 : data->first_id[end->row];
    return (int64_t)(first + end->index);
}

static void sql_fill_flow(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                          uint32_t column, uint64_t first, uint32_t count,
                          struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_flow *flow = &sql_tables_of(data)->flows.rows[first + i];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column < 3)
            tv_sql_put_integer(vector, i,
                               sql_flow_end_id(data, column == 1 ? &flow->from : &flow->to));
        else if (column == 3)
            sql_put_flow_number(data, i, flow->id, vector);
        else if (column == 7)
            tv_sql_put_string(data, vector, i, flow->id);
        else if (column == 6)
            tv_sql_put_null(vector, i); /* arguments belong to the slices of both ends */
        else
            tv_sql_put_integer(vector, i,
                               tv_trace_time(data->trace, flow->input,
                                             column == 4 ? flow->from.time : flow->to.time));
    }
}

static const struct tv_sql_column stats_columns[] = {
    {"name", TV_SQL_TEXT},        {"severity", TV_SQL_TEXT},        {"value", TV_SQL_INTEGER},
    {"description", TV_SQL_TEXT}, {"first_offset", TV_SQL_INTEGER}, /* of the first place, in its
                                                                       input */
    {"input", TV_SQL_INTEGER},
};

/* Put where a diagnostic occurred first. */
static void sql_put_diagnostic_place(const struct tv_diagnostic *diagnostic, uint32_t column,
                                     uint64_t i, struct tv_sql_vector *vector)
{
    if (diagnostic->offset_count == 0)
        tv_sql_put_null(vector, i);
    else if (column == 4)
        tv_sql_put_integer(vector, i, (int64_t)diagnostic->places->offsets[0]);
    else
        tv_sql_put_integer(vector, i, diagnostic->places->inputs[0]);
}

static uint64_t sql_stats_count(const struct tv_sql_data *data)
{
    (void)data;
    return TV_DIAGNOSTIC_COUNT;
}

static void sql_fill_stats(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                           uint32_t column, uint64_t first, uint32_t count,
                           struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)(first + i);
        if (column == 0)
            tv_sql_put_text(vector, i, tv_diagnostic_name(kind));
        else if (column == 1)
            tv_sql_put_text(vector, i, tv_severity_name(tv_diagnostic_severity(kind)));
        else if (column == 2)
            tv_sql_put_integer(vector, i,
                               (int64_t)data->trace->head->diagnostics.kinds[kind].count);
        else if (column == 3)
            tv_sql_put_text(vector, i, tv_diagnostic_text(kind));
        else
            sql_put_diagnostic_place(&data->trace->head->diagnostics.kinds[kind], column, i,
                                     vector);
    }
}

static const struct tv_sql_column bounds_columns[] = {
    {"start_ts", TV_SQL_INTEGER},
    {"end_ts", TV_SQL_INTEGER},
    {"origin", TV_SQL_INTEGER}, /* time 0 on the clock of the first input */
};

static uint64_t sql_bounds_count(const struct tv_sql_data *data)
{
    (void)data;
    return 1;
}

static void sql_fill_bounds(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    (void)scratch;
    (void)first;
    (void)count;
    const struct tv_trace *trace = data->trace;
    tv_sql_put_integer(vector, 0,
                       column == 0                     ? trace->start
                       : column == 1                   ? trace->end
                       : trace->head->input_count == 0 ? 0
                                                       : -tv_trace_time(trace, 0, 0));
}

/* ---- The table of tables ---- */

#define SQL_TABLE(named, counts, fills, has_columns)                                               \
    &(const struct tv_sql_table)                                                                   \
    {                                                                                              \
        .name = named, .count = counts, .fill = fills, .columns = has_columns,                     \
        .column_count = TV_COUNT(has_columns)                                                      \
    }

const struct tv_sql_table *const tv_sql_tables[] = {
    &tv_sql_slice_table,
    SQL_TABLE("thread", sql_thread_count, sql_fill_thread, thread_columns),
    SQL_TABLE("process", sql_process_count, sql_fill_process, process_columns),
    SQL_TABLE("track", sql_track_count, sql_fill_track, track_columns),
    SQL_TABLE("counter_track", sql_series_count, sql_fill_counter_track, counter_track_columns),
    SQL_TABLE("counter", sql_value_count, sql_fill_counter, counter_columns),
    SQL_TABLE("any_sample", sql_sample_count, sql_fill_sample, sample_columns),
    &tv_sql_path_table,
    SQL_TABLE("frame", sql_frame_count, sql_fill_frame, frame_columns),
    SQL_TABLE("wakeup", sql_wakeup_count, sql_fill_wakeup, wakeup_columns),
    SQL_TABLE("blocking", sql_blocking_count, sql_fill_blocking, blocking_columns),
    SQL_TABLE("flow", sql_flow_count, sql_fill_flow, flow_columns),
    &tv_sql_metadata_table,
    SQL_TABLE("diagnostic", sql_stats_count, sql_fill_stats, stats_columns),
    SQL_TABLE("trace_bounds", sql_bounds_count, sql_fill_bounds, bounds_columns),
    &tv_sql_display_table,
    &tv_sql_object_table,
    &tv_sql_snapshot_table,
    &tv_sql_memory_dump_table,
    &tv_sql_memory_figure_table,
    &tv_sql_finding_table,
    &tv_sql_packet_table,
    &tv_sql_sequence_table,
    &tv_sql_kernel_table,
    &tv_sql_heap_object_table,
    &tv_sql_heap_reference_table,
    &tv_sql_heap_class_table,
    &tv_sql_heap_node_table,
};
const size_t tv_sql_table_count = TV_COUNT(tv_sql_tables);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the columns of every table (tables.h).
 *
 * Ids.  The slices of the trace are numbered row after row, instants after them: id <-> (row,
 * index) is a binary search in first_id.  All other ids are numbers in the model's arrays.
 */
#include "sql/tables.h"

#include <assert.h>

#include "analysis/states/states.h"
#include "base/sort.h"
#include "model/diagnostic.h"

/* ---- Slices ---- */

static const struct tv_tables *sql_tables_of(const struct tv_sql_data *data)
{
    return &data->trace->tables;
}

uint32_t tv_sql_row_of(const struct tv_sql_data *data, uint64_t id)
{
    uint32_t after = 1, count = data->trace->row_count;
    assert(id < data->first_id[count]);
    TV_LOWER_BOUND(after, count, i, data->first_id[i] <= id);
    return after - 1;
}

/* Decode the slices of some ids. */
static void sql_decode_slices(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                              uint64_t first, uint32_t count)
{
    const struct tv_trace *trace = data->trace;
    uint64_t end = data->first_id[trace->row_count];
    if (scratch->first == first && scratch->count == count)
        return;
    scratch->first = first;
    scratch->count = count;
    for (uint32_t done = 0; done < count && first + done < end;) {
        uint32_t row = tv_sql_row_of(data, first + done);
        uint64_t left = data->first_id[row + 1] - (first + done);
        uint32_t here = left < count - done ? (uint32_t)left : count - done;
        uint32_t index = (uint32_t)(first + done - data->first_id[row]);
        tv_slices_read(trace, row, index, here, scratch->slices + done);
        for (uint32_t i = 0; i < here; i++) {
            scratch->rows[done + i] = row;
            scratch->indices[done + i] = index + i;
        }
        done += here;
    }
}

static uint64_t sql_slice_count(const struct tv_sql_data *data)
{
    return data->first_id[data->trace->row_count] + sql_tables_of(data)->instants.count;
}

enum {
    SLICE_ID,
    SLICE_TS,
    SLICE_DUR,
    SLICE_TRACK,
    SLICE_CATEGORY,
    SLICE_NAME,
    SLICE_DEPTH,
    SLICE_PARENT,
    SLICE_ARGS,
    SLICE_THREAD_TS,
    SLICE_THREAD_DUR,
    SLICE_UTID,
    SLICE_UPID,
    SLICE_SELF_DUR,
    SLICE_SELF_THREAD_DUR,
    SLICE_CLASS,
    SLICE_SIGNATURE,
    SLICE_FRAME,
    SLICE_PATH,
    SLICE_PARENT_NAME,
    SLICE_KIND,  /* enum tv_track_kind, or TV_SQL_KIND_INSTANT */
    SLICE_EVENT, /* offset of its event, which tells slices of one event */
    SLICE_FILE,
    SLICE_LINE,
    SLICE_WAKER, /* this and the next two: of thread states */
    SLICE_BLOCKED_FUNCTION,
    SLICE_IO_WAIT,
};

static const struct tv_sql_column slice_columns[] = {
    [SLICE_ID] = {"id", TV_SQL_INTEGER},
    [SLICE_TS] = {"ts", TV_SQL_INTEGER},
    [SLICE_DUR] = {"dur", TV_SQL_INTEGER},
    [SLICE_TRACK] = {"track_id", TV_SQL_INTEGER},
    [SLICE_CATEGORY] = {"category", TV_SQL_TEXT},
    [SLICE_NAME] = {"name", TV_SQL_NAME},
    [SLICE_DEPTH] = {"depth", TV_SQL_INTEGER},
    [SLICE_PARENT] = {"parent_id", TV_SQL_INTEGER},
    [SLICE_ARGS] = {"arg_set_id", TV_SQL_INTEGER},
    [SLICE_THREAD_TS] = {"thread_ts", TV_SQL_INTEGER},
    [SLICE_THREAD_DUR] = {"thread_dur", TV_SQL_INTEGER},
    [SLICE_UTID] = {"utid", TV_SQL_INTEGER},
    [SLICE_UPID] = {"upid", TV_SQL_INTEGER},
    [SLICE_SELF_DUR] = {"self_dur", TV_SQL_INTEGER},
    [SLICE_SELF_THREAD_DUR] = {"self_thread_dur", TV_SQL_INTEGER},
    [SLICE_CLASS] = {"class", TV_SQL_TEXT},
    [SLICE_SIGNATURE] = {"signature", TV_SQL_TEXT},
    [SLICE_FRAME] = {"frame_id", TV_SQL_INTEGER},
    [SLICE_PATH] = {"path_id", TV_SQL_INTEGER},
    [SLICE_PARENT_NAME] = {"parent_name", TV_SQL_NAME},
    [SLICE_KIND] = {"kind_id", TV_SQL_INTEGER},
    [SLICE_EVENT] = {"event", TV_SQL_INTEGER},
    [SLICE_FILE] = {"file", TV_SQL_TEXT},
    [SLICE_LINE] = {"line", TV_SQL_INTEGER},
    [SLICE_WAKER] = {"waker_utid", TV_SQL_INTEGER},
    [SLICE_BLOCKED_FUNCTION] = {"blocked_function", TV_SQL_TEXT},
    [SLICE_IO_WAIT] = {"io_wait", TV_SQL_BOOLEAN},
};

/* Return the length of a slice without that of its children. */
static int64_t sql_self_of(const struct tv_trace *trace, uint32_t row, uint32_t index,
                           const struct tv_slice *slice, bool cpu)
{
    struct tv_slice children[64];
    uint32_t first, count;
    int64_t self = cpu ? slice->cpu_length : slice->length;
    tv_slice_children(trace, row, index, &first, &count);
    for (uint32_t done = 0; done < count;) {
        uint32_t here = count - done < TV_COUNT(children) ? count - done : TV_COUNT(children);
        tv_slices_read(trace, row + 1, first + done, here, children);
        for (uint32_t i = 0; i < here; i++)
            self -= cpu ? children[i].cpu_length : children[i].length;
        done += here;
    }
    return self > 0 ? self : 0;
}

/* Put what a slice has from its frame. */
static void sql_put_frame_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                 uint32_t frame, struct tv_sql_vector *vector)
{
    const struct tv_frame *f = &data->trace->head->frames[frame];
    switch (column) {
    case SLICE_CATEGORY:
        tv_sql_put_string(data, vector, i, f->category);
        break;
    case SLICE_NAME:
        tv_sql_put_name(data, vector, i, frame);
        break;
    case SLICE_CLASS:
        tv_sql_put_string(data, vector, i, f->class_name);
        break;
    case SLICE_SIGNATURE:
        tv_sql_put_string(data, vector, i, f->signature);
        break;
    case SLICE_FRAME:
        tv_sql_put_integer(vector, i, frame);
        break;
    case SLICE_FILE:
        tv_sql_put_string(data, vector, i, f->file);
        break;
    default:
        assert(column == SLICE_LINE);
        if (f->line > 0)
            tv_sql_put_integer(vector, i, f->line);
        else
            tv_sql_put_null(vector, i);
    }
}

/* Put the id of an event as that of its arguments; NULL if its file has none. */
static void sql_put_args_id(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                            uint64_t i, uint32_t input, uint64_t id)
{
    if (data->trace->head->inputs[input].describe)
        tv_sql_put_integer(vector, i, (int64_t)id);
    else
        tv_sql_put_null(vector, i);
}

/* Put a column that depends on other slices. */
static void sql_put_related(const struct tv_sql_data *data, const struct tv_sql_scratch *scratch,
                            uint32_t column, uint32_t i, uint32_t parent_row,
                            struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_slice *slice = &scratch->slices[i];
    uint32_t row = scratch->rows[i], index = scratch->indices[i];
    if (column == SLICE_SELF_DUR || column == SLICE_SELF_THREAD_DUR) {
        bool cpu = column == SLICE_SELF_THREAD_DUR;
        if (cpu && !trace->columns[trace->rows[row].columns].cpu_start)
            tv_sql_put_null(vector, i);
        else
            tv_sql_put_integer(vector, i, sql_self_of(trace, row, index, slice, cpu));
        return;
    }
    uint32_t parent = tv_slice_parent(trace, row, index);
    if (parent == TV_NONE)
        tv_sql_put_null(vector, i);
    else if (column == SLICE_PARENT)
        tv_sql_put_integer(vector, i, (int64_t)(data->first_id[parent_row] + parent));
    else
        tv_sql_put_name(data, vector, i,
                        trace->paths.nodes[tv_slice_get(trace, parent_row, parent).path].frame);
}

static enum tv_state sql_state_of(const struct tv_trace *trace, uint32_t path)
{
    return tv_state_of_frame(trace->head, trace->paths.nodes[path].frame);
}

/* Return why a thread was blocked in a state, or NULL.  Kernels say so at the wakeup or shortly
 * after it, while the thread is runnable. */
static const struct tv_blocking *sql_find_blocking(const struct tv_trace *trace, uint32_t row,
                                                   uint32_t index, uint32_t thread)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    enum tv_state state = sql_state_of(trace, slice.path);
    tv_ns end = slice.start + slice.length;
    if (state != TV_STATE_UNINTERRUPTIBLE && state != TV_STATE_IO)
        return NULL;
    if (index + 1 < trace->rows[row].count) {
        struct tv_slice next = tv_slice_get(trace, row, index + 1);
        if (next.start == end && sql_state_of(trace, next.path) == TV_STATE_RUNNABLE)
            end += next.length;
    }
    return tv_states_blocking(trace, thread, slice.start, end);
}

/* Put who ended the wait before a state, or why the thread was blocked in it. */
static void sql_put_state_column(const struct tv_sql_data *data, uint32_t column, uint32_t i,
                                 struct tv_slice_place place, struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_track *track = &trace->tracks[trace->rows[place.row].track];
    const struct tv_wakeup *wakeup = NULL;
    const struct tv_blocking *blocking = NULL;
    if (track->kind == TV_TRACK_STATES && column == SLICE_WAKER)
        wakeup =
            tv_states_wakeup(trace, track->thread, tv_slice_start(trace, place.row, place.index));
    else if (track->kind == TV_TRACK_STATES)
        blocking = sql_find_blocking(trace, place.row, place.index, track->thread);
    if (wakeup)
        tv_sql_put_index(vector, i, wakeup->by);
    else if (blocking && column == SLICE_IO_WAIT)
        tv_sql_put_boolean(vector, i, blocking->io);
    else if (blocking && blocking->caller != TV_NONE)
        tv_sql_put_string(data, vector, i, blocking->caller);
    else
        tv_sql_put_null(vector, i);
}

static void sql_put_slice_column(const struct tv_sql_data *data,
                                 const struct tv_sql_scratch *scratch, uint32_t column, uint32_t i,
                                 struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_slice *slice = &scratch->slices[i];
    const struct tv_row *row = &trace->rows[scratch->rows[i]];
    const struct tv_track *track = &trace->tracks[row->track];
    bool has_cpu = trace->columns[row->columns].cpu_start && trace->columns[row->columns].start &&
                   !(slice->flags & TV_SLICE_NO_CPU);
    switch (column) {
    case SLICE_TS:
        tv_sql_put_integer(vector, i, slice->start);
        break;
    case SLICE_DUR:
        tv_sql_put_integer(vector, i, slice->flags & TV_SLICE_OPEN ? -1 : slice->length);
        break;
    case SLICE_TRACK:
        tv_sql_put_integer(vector, i, row->track);
        break;
    case SLICE_DEPTH:
        tv_sql_put_integer(vector, i, row->depth);
        break;
    case SLICE_THREAD_TS:
    case SLICE_THREAD_DUR:
        if (has_cpu)
            tv_sql_put_integer(vector, i,
                               column == SLICE_THREAD_TS ? slice->cpu_start : slice->cpu_length);
        else
            tv_sql_put_null(vector, i);
        break;
    case SLICE_UTID:
        tv_sql_put_index(vector, i, track->thread);
        break;
    case SLICE_UPID:
        tv_sql_put_index(vector, i,
                         track->thread != TV_NONE ? trace->head->threads[track->thread].process
                                                  : track->process);
        break;
    case SLICE_ARGS:
        sql_put_args_id(data, vector, i, row->input,
                        data->first_id[scratch->rows[i]] + scratch->indices[i]);
        break;
    case SLICE_PATH:
        tv_sql_put_integer(vector, i, slice->path);
        break;
    case SLICE_KIND:
        tv_sql_put_integer(vector, i, (int64_t)track->kind);
        break;
    case SLICE_EVENT:
        tv_sql_put_integer(vector, i,
                           (int64_t)tv_slice_offset(trace, scratch->rows[i], scratch->indices[i]));
        break;
    case SLICE_PARENT:
    case SLICE_PARENT_NAME:
    case SLICE_SELF_DUR:
    case SLICE_SELF_THREAD_DUR:
        sql_put_related(data, scratch, column, i, scratch->rows[i] - 1, vector);
        break;
    case SLICE_WAKER:
    case SLICE_BLOCKED_FUNCTION:
    case SLICE_IO_WAIT:
        sql_put_state_column(data, column, i,
                             (struct tv_slice_place){scratch->rows[i], scratch->indices[i]},
                             vector);
        break;
    default:
        sql_put_frame_column(data, column, i, trace->paths.nodes[slice->path].frame, vector);
    }
}

/* Instants are slices without length. */
static void sql_put_instant_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                   uint64_t number, struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    switch (column) {
    case SLICE_TS:
        tv_sql_put_integer(vector, i, tv_trace_time(trace, instant->input, instant->time));
        break;
    case SLICE_DUR:
    case SLICE_DEPTH:
    case SLICE_SELF_DUR:
        tv_sql_put_integer(vector, i, 0);
        break;
    case SLICE_ARGS:
        sql_put_args_id(data, vector, i, instant->input, data->first_id[trace->row_count] + number);
        break;
    case SLICE_UTID:
        tv_sql_put_index(vector, i, instant->scope == TV_SCOPE_THREAD ? instant->of : TV_NONE);
        break;
    case SLICE_UPID:
        tv_sql_put_index(vector, i,
                         instant->scope == TV_SCOPE_PROCESS ? instant->of
                         : instant->scope == TV_SCOPE_THREAD && instant->of != TV_NONE
                             ? trace->head->threads[instant->of].process
                             : TV_NONE);
        break;
    case SLICE_TRACK:
        tv_sql_put_index(vector, i, instant->scope == TV_SCOPE_TRACK ? instant->of : TV_NONE);
        break;
    case SLICE_KIND:
        tv_sql_put_integer(vector, i, TV_SQL_KIND_INSTANT);
        break;
    case SLICE_CATEGORY:
    case SLICE_NAME:
    case SLICE_CLASS:
    case SLICE_SIGNATURE:
    case SLICE_FRAME:
    case SLICE_FILE:
    case SLICE_LINE:
        sql_put_frame_column(data, column, i, instant->frame, vector);
        break;
    default:
        tv_sql_put_null(vector, i);
    }
}

static void sql_fill_slice(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                           uint32_t column, uint64_t first, uint32_t count,
                           struct tv_sql_vector *vector)
{
    uint64_t slices = data->first_id[data->trace->row_count];
    if (column != SLICE_ID)
        sql_decode_slices(data, scratch, first, count);
    for (uint32_t i = 0; i < count; i++)
        if (column == SLICE_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (first + i < slices)
            sql_put_slice_column(data, scratch, column, i, vector);
        else
            sql_put_instant_column(data, column, i, first + i - slices, vector);
}

/* ---- Threads, processes, tracks ---- */

static const struct tv_sql_column thread_columns[] = {
    {"utid", TV_SQL_INTEGER}, {"id", TV_SQL_INTEGER},   {"tid", TV_SQL_INTEGER},
    {"name", TV_SQL_TEXT},    {"upid", TV_SQL_INTEGER}, {"is_main_thread", TV_SQL_BOOLEAN},
};

static uint64_t sql_thread_count(const struct tv_sql_data *data)
{
    return data->trace->head->thread_count;
}

static void sql_fill_thread(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    const struct tv_trace_info *info = data->trace->head;
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_thread *thread = &info->threads[first + i];
        if (column < 2)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 2)
            tv_sql_put_integer(vector, i, (int64_t)thread->id);
        else if (column == 3)
            tv_sql_put_string(data, vector, i, thread->name);
        else if (column == 4)
            tv_sql_put_index(vector, i, thread->process);
        else if (thread->process == TV_NONE)
            tv_sql_put_null(vector, i);
        else
            tv_sql_put_boolean(vector, i, info->processes[thread->process].id == thread->id);
    }
}

static const struct tv_sql_column process_columns[] = {
    {"upid", TV_SQL_INTEGER}, {"id", TV_SQL_INTEGER},  {"pid", TV_SQL_INTEGER},
    {"name", TV_SQL_TEXT},    {"labels", TV_SQL_TEXT},
};

static uint64_t sql_process_count(const struct tv_sql_data *data)
{
    return data->trace->head->process_count;
}

static void sql_fill_process(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                             uint32_t column, uint64_t first, uint32_t count,
                             struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_process *process = &data->trace->head->processes[first + i];
        if (column < 2)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 2)
            tv_sql_put_integer(vector, i, (int64_t)process->id);
        else
            tv_sql_put_string(data, vector, i, column == 3 ? process->name : process->labels);
    }
}

static const struct tv_sql_column track_columns[] = {
    {"id", TV_SQL_INTEGER},   {"name", TV_SQL_TEXT},    {"type", TV_SQL_TEXT},
    {"utid", TV_SQL_INTEGER}, {"upid", TV_SQL_INTEGER},
};

static uint64_t sql_track_count(const struct tv_sql_data *data)
{
    return data->trace->track_count;
}

static void sql_fill_track(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                           uint32_t column, uint64_t first, uint32_t count,
                           struct tv_sql_vector *vector)
{
    static const char *const types[] = {
        [TV_TRACK_THREAD] = "thread_track", [TV_TRACK_OVERFLOW] = "thread_track",
        [TV_TRACK_ASYNC] = "async_track",   [TV_TRACK_CPU] = "cpu_track",
        [TV_TRACK_STATES] = "state_track",
    };
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_track *track = &data->trace->tracks[first + i];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_string(data, vector, i, track->name);
        else if (column == 2)
            tv_sql_put_text(vector, i, types[track->kind]);
        else
            tv_sql_put_index(vector, i, column == 3 ? track->thread : track->process);
    }
}

/* ---- Counters ---- */

static const struct tv_sql_column counter_track_columns[] = {
    {"id", TV_SQL_INTEGER},   {"name", TV_SQL_TEXT},   {"unit", TV_SQL_TEXT},
    {"upid", TV_SQL_INTEGER}, {"series", TV_SQL_TEXT}, {"category", TV_SQL_TEXT},
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

static void sql_fill_counter_track(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                                   uint32_t column, uint64_t first, uint32_t count,
                                   struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_counter *counter = sql_counter_of_series(data, first + i);
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_string(data, vector, i, counter->name);
        else if (column == 2)
            tv_sql_put_null(vector, i);
        else if (column == 3)
            tv_sql_put_index(vector, i, counter->process);
        else
            tv_sql_put_string(data, vector, i,
                              column == 4 ? sql_tables_of(data)->series.rows[first + i].name
                                          : counter->category);
    }
}

static const struct tv_sql_column counter_columns[] = {
    {"id", TV_SQL_INTEGER},
    {"ts", TV_SQL_INTEGER},
    {"track_id", TV_SQL_INTEGER},
    {"value", TV_SQL_REAL},
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
                               (int64_t)(counter->first_series + value % counter->series_count));
        else
            tv_sql_put_real(vector, i, tables->counter_values[counter->first_value + value]);
    }
}

/* ---- Samples, paths, frames ---- */

static const struct tv_sql_column sample_columns[] = {
    {"id", TV_SQL_INTEGER},  {"ts", TV_SQL_INTEGER},          {"utid", TV_SQL_INTEGER},
    {"cpu", TV_SQL_INTEGER}, {"callsite_id", TV_SQL_INTEGER}, {"value_type", TV_SQL_TEXT},
    {"unit", TV_SQL_TEXT},   {"weight", TV_SQL_INTEGER},      {"leaf", TV_SQL_NAME},
};

static uint64_t sql_sample_count(const struct tv_sql_data *data)
{
    return sql_tables_of(data)->samples.count;
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
        bool has_stack = sample->path != TV_ROOT_PATH;
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == 1)
            tv_sql_put_integer(vector, i, tv_trace_time(data->trace, sample->input, sample->time));
        else if (column == 2 || column == 3)
            tv_sql_put_index(vector, i, column == 2 ? sample->thread : sample->cpu);
        else if (column == 4)
            tv_sql_put_index(vector, i, has_stack ? sample->path : TV_NONE);
        else if (column == 5 || column == 6)
            tv_sql_put_string(data, vector, i, column == 5 ? type->name : type->unit);
        else if (column == 7)
            tv_sql_put_integer(vector, i, sample->weight);
        else if (has_stack)
            tv_sql_put_name(data, vector, i, data->trace->paths.nodes[sample->path].frame);
        else
            tv_sql_put_null(vector, i);
    }
}

static const struct tv_sql_column path_columns[] = {
    {"id", TV_SQL_INTEGER},
    {"parent_id", TV_SQL_INTEGER},
    {"frame_id", TV_SQL_INTEGER},
    {"name", TV_SQL_NAME},
};

/* The root has no frame and is no row; ids begin at 1. */
static uint64_t sql_path_count(const struct tv_sql_data *data)
{
    return data->trace->paths.count > 0 ? data->trace->paths.count - 1 : 0;
}

static void sql_fill_path(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                          uint32_t column, uint64_t first, uint32_t count,
                          struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_path_node *node = &data->trace->paths.nodes[first + i + 1];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i + 1));
        else if (column == 1)
            tv_sql_put_index(vector, i, node->parent == TV_ROOT_PATH ? TV_NONE : node->parent);
        else if (column == 2)
            tv_sql_put_integer(vector, i, node->frame);
        else
            tv_sql_put_name(data, vector, i, node->frame);
    }
}

static const struct tv_sql_column frame_columns[] = {
    {"id", TV_SQL_INTEGER},     {"name", TV_SQL_NAME},     {"class", TV_SQL_TEXT},
    {"signature", TV_SQL_TEXT}, {"category", TV_SQL_TEXT}, {"module", TV_SQL_TEXT},
    {"file", TV_SQL_TEXT},      {"line", TV_SQL_INTEGER},
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
        else if (frame->line > 0)
            tv_sql_put_integer(vector, i, frame->line);
        else
            tv_sql_put_null(vector, i);
    }
}

/* ---- Flows, wake-ups, metadata, diagnostics ---- */

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
    {"id", TV_SQL_INTEGER},    {"slice_out", TV_SQL_INTEGER}, {"slice_in", TV_SQL_INTEGER},
    {"trace_id", TV_SQL_TEXT}, {"ts_out", TV_SQL_INTEGER},    {"ts_in", TV_SQL_INTEGER},
};

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
            tv_sql_put_string(data, vector, i, flow->id);
        else
            tv_sql_put_integer(vector, i,
                               tv_trace_time(data->trace, flow->input,
                                             column == 4 ? flow->from.time : flow->to.time));
    }
}

static const struct tv_sql_column metadata_columns[] = {
    {"name", TV_SQL_TEXT},
    {"str_value", TV_SQL_TEXT},
    {"input", TV_SQL_INTEGER},
};

static uint64_t sql_metadata_count(const struct tv_sql_data *data)
{
    return data->trace->head->metadata_count;
}

static void sql_fill_metadata(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                              uint32_t column, uint64_t first, uint32_t count,
                              struct tv_sql_vector *vector)
{
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_metadata *metadata = &data->trace->head->metadata[first + i];
        if (column == 2)
            tv_sql_put_integer(vector, i, metadata->input);
        else
            tv_sql_put_bytes(vector, i,
                             tv_trace_info_text(data->trace->head,
                                                column == 0 ? metadata->key : metadata->value));
    }
}

static const struct tv_sql_column stats_columns[] = {
    {"name", TV_SQL_TEXT},
    {"severity", TV_SQL_TEXT},
    {"value", TV_SQL_INTEGER},
    {"description", TV_SQL_TEXT},
};

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
        else
            tv_sql_put_text(vector, i, tv_diagnostic_text(kind));
    }
}

static const struct tv_sql_column bounds_columns[] = {
    {"start_ts", TV_SQL_INTEGER},
    {"end_ts", TV_SQL_INTEGER},
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
    tv_sql_put_integer(vector, 0, column == 0 ? data->trace->start : data->trace->end);
}

/* ---- The table of tables ---- */

#define SQL_TABLE(name, counts, fills, columns)                                                    \
    &(const struct tv_sql_table)                                                                   \
    {                                                                                              \
        name, counts, false, fills, columns, TV_COUNT(columns)                                     \
    }

const struct tv_sql_table *const tv_sql_tables[] = {
    SQL_TABLE("any_slice", sql_slice_count, sql_fill_slice, slice_columns),
    SQL_TABLE("thread", sql_thread_count, sql_fill_thread, thread_columns),
    SQL_TABLE("process", sql_process_count, sql_fill_process, process_columns),
    SQL_TABLE("track", sql_track_count, sql_fill_track, track_columns),
    SQL_TABLE("counter_track", sql_series_count, sql_fill_counter_track, counter_track_columns),
    SQL_TABLE("counter", sql_value_count, sql_fill_counter, counter_columns),
    SQL_TABLE("any_sample", sql_sample_count, sql_fill_sample, sample_columns),
    SQL_TABLE("path", sql_path_count, sql_fill_path, path_columns),
    SQL_TABLE("frame", sql_frame_count, sql_fill_frame, frame_columns),
    SQL_TABLE("wakeup", sql_wakeup_count, sql_fill_wakeup, wakeup_columns),
    SQL_TABLE("blocking", sql_blocking_count, sql_fill_blocking, blocking_columns),
    SQL_TABLE("flow", sql_flow_count, sql_fill_flow, flow_columns),
    SQL_TABLE("metadata", sql_metadata_count, sql_fill_metadata, metadata_columns),
    SQL_TABLE("diagnostic", sql_stats_count, sql_fill_stats, stats_columns),
    SQL_TABLE("trace_bounds", sql_bounds_count, sql_fill_bounds, bounds_columns),
    &tv_sql_display_table,
};
const size_t tv_sql_table_count = TV_COUNT(tv_sql_tables);

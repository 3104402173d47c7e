/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c - the columns of any_slice: slices, thread states, what processors ran, and instants
 * (tables.h).
 *
 * Ids.  The slices of the trace are numbered row after row, instants behind them: id <-> (row,
 * index) is a binary search in first_id.
 */
#include "sql/tables.h"

#include <assert.h>

#include "analysis/states/states.h"
#include "base/sort.h"

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
    return data->first_id[data->trace->row_count] + data->trace->tables.instants.count;
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

const struct tv_sql_table tv_sql_slice_table = {
    .name = "any_slice",
    .count = sql_slice_count,
    .fill = sql_fill_slice,
    .columns = slice_columns,
    .column_count = TV_COUNT(slice_columns),
};

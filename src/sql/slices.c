/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c - the columns of any_slice: slices, thread states, what processors ran, and instants
 * (tables.h).
 *
 * Ids.  The slices of the trace are numbered row after row, instants after them: id <-> (row,
 * index) is a binary search in first_id.
 */
#include "sql/tables.h"

#include <assert.h>
#include <stdio.h>

#include "base/sort.h"

uint32_t tv_sql_row_of(const struct tv_sql_data *data, uint64_t id)
{
    uint32_t after = 1, count = data->trace->row_count;
    assert(id < data->first_id[count]);
    TV_LOWER_BOUND(after, count, i, data->first_id[i] <= id);
    return after - 1;
}

static uint64_t sql_slice_count(const struct tv_sql_data *data)
{
    return data->first_id[data->trace->row_count] + data->trace->tables.instants.count;
}

static const struct tv_sql_column slice_columns[] = {
    [TV_SQL_SLICE_ID] = {"id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_TS] = {"ts", TV_SQL_INTEGER},
    [TV_SQL_SLICE_DUR] = {"dur", TV_SQL_INTEGER},
    [TV_SQL_SLICE_TRACK] = {"track_id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_CATEGORY] = {"category", TV_SQL_TEXT},
    [TV_SQL_SLICE_NAME] = {"name", TV_SQL_NAME},
    [TV_SQL_SLICE_DEPTH] = {"depth", TV_SQL_INTEGER},
    [TV_SQL_SLICE_PARENT] = {"parent_id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_ARGS] = {"arg_set_id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_THREAD_TS] = {"thread_ts", TV_SQL_INTEGER},
    [TV_SQL_SLICE_THREAD_DUR] = {"thread_dur", TV_SQL_INTEGER},
    [TV_SQL_SLICE_UTID] = {"utid", TV_SQL_INTEGER},
    [TV_SQL_SLICE_UPID] = {"upid", TV_SQL_INTEGER},
    [TV_SQL_SLICE_SELF_DUR] = {"self_dur", TV_SQL_INTEGER},
    [TV_SQL_SLICE_SELF_THREAD_DUR] = {"self_thread_dur", TV_SQL_INTEGER},
    [TV_SQL_SLICE_CLASS] = {"class", TV_SQL_TEXT},
    [TV_SQL_SLICE_SIGNATURE] = {"signature", TV_SQL_TEXT},
    [TV_SQL_SLICE_FRAME] = {"frame_id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_PATH] = {"path_id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_PARENT_NAME] = {"parent_name", TV_SQL_NAME},
    [TV_SQL_SLICE_KIND] = {"kind_id", TV_SQL_INTEGER},
    [TV_SQL_SLICE_EVENT] = {"event", TV_SQL_INTEGER},
    [TV_SQL_SLICE_FILE] = {"file", TV_SQL_TEXT},
    [TV_SQL_SLICE_LINE] = {"line", TV_SQL_INTEGER},
    [TV_SQL_SLICE_METHOD] = {"method", TV_SQL_TEXT},
    [TV_SQL_SLICE_ROOT_NAME] = {"root_name", TV_SQL_NAME},
    [TV_SQL_SLICE_FLAGS] = {"flags", TV_SQL_TEXT},
    [TV_SQL_SLICE_LENGTH] = {"length", TV_SQL_INTEGER},
    [TV_SQL_SLICE_RECURSIVE] = {"is_recursive", TV_SQL_BOOLEAN},
    [TV_SQL_SLICE_WAKER] = {"waker_utid", TV_SQL_INTEGER},
    [TV_SQL_SLICE_BLOCKED_FUNCTION] = {"blocked_function", TV_SQL_TEXT},
    [TV_SQL_SLICE_IO_WAIT] = {"io_wait", TV_SQL_BOOLEAN},
    [TV_SQL_SLICE_STATE] = {"state", TV_SQL_TEXT},
    [TV_SQL_SLICE_END_STATE] = {"end_state", TV_SQL_TEXT},
    [TV_SQL_SLICE_CPU] = {"cpu", TV_SQL_INTEGER},
    [TV_SQL_SLICE_UCPU] = {"ucpu", TV_SQL_INTEGER},
    [TV_SQL_SLICE_PRIORITY] = {"priority", TV_SQL_INTEGER},
};

/* Put what a slice has from its frame. */
static void sql_put_frame_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                 uint32_t frame, struct tv_sql_vector *vector)
{
    const struct tv_frame *f = &data->trace->head->frames[frame];
    switch (column) {
    case TV_SQL_SLICE_CATEGORY:
        tv_sql_put_string(data, vector, i, f->category);
        break;
    case TV_SQL_SLICE_NAME:
        tv_sql_put_name(data, vector, i, frame);
        break;
    case TV_SQL_SLICE_CLASS:
        tv_sql_put_string(data, vector, i, f->class_name);
        break;
    case TV_SQL_SLICE_SIGNATURE:
        tv_sql_put_string(data, vector, i, f->signature);
        break;
    case TV_SQL_SLICE_FRAME:
        tv_sql_put_integer(vector, i, frame);
        break;
    case TV_SQL_SLICE_FILE:
        tv_sql_put_string(data, vector, i, f->file);
        break;
    case TV_SQL_SLICE_METHOD:
        tv_sql_put_string(data, vector, i,
                          f->class_name != TV_EMPTY_STRING ? f->name : TV_EMPTY_STRING);
        break;
    default:
        assert(column == TV_SQL_SLICE_LINE);
        if (f->line > 0)
            tv_sql_put_integer(vector, i, f->line);
        else
            tv_sql_put_null(vector, i);
    }
}

/* ---- Flags ---- */

/* As `traceview dump` names them. */
static const struct {
    uint8_t flag;
    const char *word;
} slice_flags[TV_SQL_FLAGS] = {
    {TV_SLICE_UNROLLED, "unrolled"}, {TV_SLICE_ENTERED_BEFORE, "entered-before"},
    {TV_SLICE_OPEN, "open"},         {TV_SLICE_MISSING_EXIT, "missing-exit"},
    {TV_SLICE_CLIPPED, "clipped"},
};

void tv_sql_list_flag_words(struct tv_sql_data *data)
{
    for (unsigned set = 0; set < TV_COUNT(data->flag_words); set++) {
        size_t length = 0;
        for (unsigned i = 0; i < TV_SQL_FLAGS; i++)
            if (set >> i & 1)
                length +=
                    (size_t)snprintf(data->flag_words[set] + length, TV_SQL_FLAG_WORDS - length,
                                     "%s%s", length > 0 ? "," : "", slice_flags[i].word);
        assert(length < TV_SQL_FLAG_WORDS);
    }
}

/* Put the words of the flags of a slice; NULL: none is set. */
static void sql_put_flags(const struct tv_sql_data *data, uint64_t i, uint32_t flags,
                          struct tv_sql_vector *vector)
{
    unsigned set = 0;
    for (unsigned j = 0; j < TV_SQL_FLAGS; j++)
        set |= (flags & slice_flags[j].flag ? 1u : 0u) << j;
    if (set == 0)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_text(vector, i, data->flag_words[set]);
}

/* ---- Columns of one slice ---- */

/* Put the id of an event as that of its arguments; NULL if its file has none. */
static void sql_put_args_id(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                            uint64_t i, uint32_t input, uint64_t id)
{
    if (data->trace->head->inputs[input].describe)
        tv_sql_put_integer(vector, i, (int64_t)id);
    else
        tv_sql_put_null(vector, i);
}

/* Put the name of the caller. */
static void sql_put_parent_name(const struct tv_sql_data *data, struct tv_slice_place place,
                                uint64_t i, struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    uint32_t parent = tv_slice_parent(trace, place.row, place.index);
    if (parent == TV_NONE)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_name(data, vector, i,
                        trace->paths.nodes[tv_slice_get(trace, place.row - 1, parent).path].frame);
}

/* Put a column that sql_fill_run does not fill. */
static void sql_put_slice_column(const struct tv_sql_data *data, const struct tv_slice *slice,
                                 struct tv_slice_place place, uint32_t column, uint64_t i,
                                 struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_row *row = &trace->rows[place.row];
    const struct tv_track *track = &trace->tracks[row->track];
    bool has_cpu =
        trace->columns[row->columns].cpu_start != NULL && !(slice->flags & TV_SLICE_NO_CPU);
    switch (column) {
    case TV_SQL_SLICE_THREAD_TS:
    case TV_SQL_SLICE_THREAD_DUR:
        if (has_cpu)
            tv_sql_put_integer(
                vector, i, column == TV_SQL_SLICE_THREAD_TS ? slice->cpu_start : slice->cpu_length);
        else
            tv_sql_put_null(vector, i);
        break;
    case TV_SQL_SLICE_UPID:
        tv_sql_put_index(vector, i,
                         track->thread != TV_NONE ? trace->head->threads[track->thread].process
                                                  : track->process);
        break;
    case TV_SQL_SLICE_ARGS:
        sql_put_args_id(data, vector, i, row->input, data->first_id[place.row] + place.index);
        break;
    case TV_SQL_SLICE_PATH:
        tv_sql_put_integer(vector, i, slice->path);
        break;
    case TV_SQL_SLICE_EVENT:
        tv_sql_put_integer(vector, i, (int64_t)tv_slice_offset(trace, place.row, place.index));
        break;
    case TV_SQL_SLICE_PARENT_NAME:
        sql_put_parent_name(data, place, i, vector);
        break;
    case TV_SQL_SLICE_FLAGS:
        sql_put_flags(data, i, slice->flags, vector);
        break;
    case TV_SQL_SLICE_UTID:
    case TV_SQL_SLICE_PARENT:
    case TV_SQL_SLICE_SELF_THREAD_DUR:
    case TV_SQL_SLICE_LENGTH:
        tv_sql_put_null(vector, i); /* sql_fill_run has those that are known */
        break;
    case TV_SQL_SLICE_WAKER:
    case TV_SQL_SLICE_BLOCKED_FUNCTION:
    case TV_SQL_SLICE_IO_WAIT:
    case TV_SQL_SLICE_STATE:
    case TV_SQL_SLICE_END_STATE:
    case TV_SQL_SLICE_CPU:
    case TV_SQL_SLICE_UCPU:
        tv_sql_put_state_column(data, column, i, place, vector);
        break;
    case TV_SQL_SLICE_PRIORITY:
        if (track->kind == TV_TRACK_CPU)
            tv_sql_put_priority(data, (int64_t)(data->first_id[place.row] + place.index), i,
                                vector);
        else
            tv_sql_put_null(vector, i);
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
    case TV_SQL_SLICE_TS:
        tv_sql_put_integer(vector, i, tv_trace_time(trace, instant->input, instant->time));
        break;
    case TV_SQL_SLICE_DUR:
    case TV_SQL_SLICE_DEPTH:
    case TV_SQL_SLICE_SELF_DUR:
    case TV_SQL_SLICE_LENGTH:
        tv_sql_put_integer(vector, i, 0);
        break;
    case TV_SQL_SLICE_ARGS:
        sql_put_args_id(data, vector, i, instant->input, data->first_id[trace->row_count] + number);
        break;
    case TV_SQL_SLICE_UTID:
        tv_sql_put_index(vector, i, instant->scope == TV_SCOPE_THREAD ? instant->of : TV_NONE);
        break;
    case TV_SQL_SLICE_UPID:
        tv_sql_put_index(vector, i,
                         instant->scope == TV_SCOPE_PROCESS ? instant->of
                         : instant->scope == TV_SCOPE_THREAD && instant->of != TV_NONE
                             ? trace->head->threads[instant->of].process
                             : TV_NONE);
        break;
    case TV_SQL_SLICE_TRACK:
        tv_sql_put_index(vector, i,
                         instant->scope == TV_SCOPE_TRACK ? instant->of
                         : instant->scope == TV_SCOPE_THREAD && instant->of != TV_NONE
                             ? data->track_of[instant->of]
                             : TV_NONE);
        break;
    case TV_SQL_SLICE_KIND:
        tv_sql_put_integer(vector, i, TV_SQL_KIND_INSTANT);
        break;
    case TV_SQL_SLICE_CATEGORY:
    case TV_SQL_SLICE_NAME:
    case TV_SQL_SLICE_CLASS:
    case TV_SQL_SLICE_SIGNATURE:
    case TV_SQL_SLICE_FRAME:
    case TV_SQL_SLICE_FILE:
    case TV_SQL_SLICE_LINE:
    case TV_SQL_SLICE_METHOD:
        sql_put_frame_column(data, column, i, instant->frame, vector);
        break;
    default:
        tv_sql_put_null(vector, i);
    }
}

/* ---- Columns of many slices ----
 *
 * The columns that most queries name are filled for all slices of a row at once, from the packed
 * columns themselves. */

/* Slices [index, index + count) of a row, which are [at, at + count) of the vector. */
struct sql_run {
    uint32_t row, index, count, at;
};

static void sql_fill_with(struct tv_sql_vector *vector, const struct sql_run *run, int64_t value)
{
    int64_t *put = (int64_t *)vector->data + run->at;
    for (uint32_t i = 0; i < run->count; i++)
        put[i] = value;
}

static const uint8_t *sql_flags_of(const struct tv_trace *trace, uint32_t row, uint32_t index)
{
    return tv_row_columns(trace, row)->flags + trace->rows[row].first + index;
}

static const uint32_t *sql_paths_of(const struct tv_trace *trace, const struct sql_run *run)
{
    return tv_row_columns(trace, run->row)->path + trace->rows[run->row].first + run->index;
}

static void sql_fill_dur(const struct tv_trace *trace, const struct sql_run *run, int64_t *put)
{
    const uint8_t *flags = sql_flags_of(trace, run->row, run->index);
    tv_slices_read_lengths(trace, run->row, run->index, run->count, put);
    for (uint32_t i = 0; i < run->count; i++)
        put[i] = flags[i] & TV_SLICE_OPEN ? -1 : put[i];
}

static void sql_fill_name(const struct tv_sql_data *data, const struct sql_run *run,
                          struct tv_sql_vector *vector)
{
    const struct tv_path_node *nodes = data->trace->paths.nodes;
    const uint32_t *paths = sql_paths_of(data->trace, run), *name_of = data->name_of;
    uint32_t count = run->count;
    if (vector->plain) {
        for (uint32_t i = 0; i < count; i++)
            tv_sql_put_name(data, vector, run->at + i, nodes[paths[i]].frame);
    } else if (vector->name_bytes == 1) {
        uint8_t *put = (uint8_t *)vector->data + run->at;
        for (uint32_t i = 0; i < count; i++)
            put[i] = (uint8_t)name_of[nodes[paths[i]].frame];
    } else if (vector->name_bytes == 2) {
        uint16_t *put = (uint16_t *)vector->data + run->at;
        for (uint32_t i = 0; i < count; i++)
            put[i] = (uint16_t)name_of[nodes[paths[i]].frame];
    } else {
        uint32_t *put = (uint32_t *)vector->data + run->at;
        for (uint32_t i = 0; i < count; i++)
            put[i] = name_of[nodes[paths[i]].frame];
    }
}

/* Fill what paths tell: the outermost caller, or whether a call is within one of its method. */
static void sql_fill_path_fact(const struct tv_sql_data *data, uint32_t column,
                               const struct sql_run *run, struct tv_sql_vector *vector)
{
    const struct tv_sql_path_facts facts = tv_sql_path_facts(data);
    const uint32_t *paths = sql_paths_of(data->trace, run);
    for (uint32_t i = 0; i < run->count; i++)
        if (column == TV_SQL_SLICE_ROOT_NAME)
            tv_sql_put_name(data, vector, run->at + i, facts.root[paths[i]]);
        else
            tv_sql_put_boolean(vector, run->at + i, facts.recursive[paths[i]]);
}

/* Lengths of calls in the row below, read one after another. */
struct sql_children {
    const struct tv_trace *trace;
    const uint8_t *flags;
    uint32_t row, row_count;
    uint32_t next;         /* index of the next child */
    uint32_t first, count; /* what `lengths` has */
    bool cpu;
    tv_ns lengths[256];
};

/* Return the lengths of the children of one call together; the next call's follow. */
static tv_ns sql_sum_children(struct sql_children *children)
{
    tv_ns sum = 0;
    assert(children->next < children->row_count);
    do {
        if (children->next >= children->first + children->count) {
            uint32_t left = children->row_count - children->next;
            uint32_t most = TV_COUNT(children->lengths);
            children->first = children->next;
            children->count = left < most ? left : most;
            (children->cpu ? tv_slices_read_cpu_lengths : tv_slices_read_lengths)(
                children->trace, children->row, children->first, children->count,
                children->lengths);
        }
        sum += children->lengths[children->next++ - children->first];
    } while (children->next < children->row_count &&
             !(children->flags[children->next] & TV_SLICE_FIRST_CHILD));
    return sum;
}

/* Fill lengths without those of the children.  The children of neighbours are neighbours, so the
 * first ones alone are searched for. */
static void sql_fill_self(const struct tv_trace *trace, const struct sql_run *run, bool cpu,
                          int64_t *put)
{
    const uint8_t *flags = sql_flags_of(trace, run->row, run->index);
    struct sql_children children;
    uint32_t i = 0, unused;
    (cpu ? tv_slices_read_cpu_lengths : tv_slices_read_lengths)(trace, run->row, run->index,
                                                                run->count, put);
    while (i < run->count && !(flags[i] & TV_SLICE_HAS_CHILDREN))
        i++;
    if (i == run->count)
        return;
    /* the calls inside are in the next row, which is of the same track */
    assert(run->row + 1 < trace->row_count &&
           trace->rows[run->row + 1].track == trace->rows[run->row].track);
    children.trace = trace;
    children.row = run->row + 1;
    children.row_count = trace->rows[children.row].count;
    children.flags = sql_flags_of(trace, children.row, 0);
    children.cpu = cpu;
    children.first = children.count = 0;
    tv_slice_children(trace, run->row, run->index + i, &children.next, &unused);
    for (; i < run->count; i++) {
        if (!(flags[i] & TV_SLICE_HAS_CHILDREN) || children.next >= children.row_count)
            continue;
        int64_t self = put[i] - sql_sum_children(&children);
        put[i] = self > 0 ? self : 0;
    }
}

/* Fill the callers: each first child belongs to the next one in the row above that has any. */
static void sql_fill_parent(const struct tv_sql_data *data, const struct sql_run *run, int64_t *put)
{
    const struct tv_trace *trace = data->trace;
    assert(run->row > 0);
    uint32_t above = run->row - 1;
    const uint8_t *flags = sql_flags_of(trace, run->row, run->index);
    const uint8_t *parents = sql_flags_of(trace, above, 0);
    uint32_t parent = tv_slice_parent(trace, run->row, run->index);
    for (uint32_t i = 0; i < run->count; i++) {
        if (i > 0 && flags[i] & TV_SLICE_FIRST_CHILD)
            do
                parent++;
            while (parent + 1 < trace->rows[above].count &&
                   !(parents[parent] & TV_SLICE_HAS_CHILDREN));
        put[i] = (int64_t)(data->first_id[above] + parent);
    }
}

/* Fill a column that is the same for all slices of a row; false: it is not one. */
static bool sql_fill_of_row(const struct tv_sql_data *data, uint32_t column,
                            const struct sql_run *run, struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_row *row = &trace->rows[run->row];
    const struct tv_track *track = &trace->tracks[row->track];
    if (column == TV_SQL_SLICE_TRACK)
        sql_fill_with(vector, run, row->track);
    else if (column == TV_SQL_SLICE_DEPTH)
        sql_fill_with(vector, run, row->depth);
    else if (column == TV_SQL_SLICE_KIND)
        sql_fill_with(vector, run, (int64_t)track->kind);
    else if (column == TV_SQL_SLICE_UTID && track->thread != TV_NONE)
        sql_fill_with(vector, run, track->thread);
    else
        return false;
    return true;
}

/* Fill a column for slices of a row; false: it is not one of those that are filled at once. */
static bool sql_fill_run(const struct tv_sql_data *data, uint32_t column, const struct sql_run *run,
                         struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    int64_t *integers = (int64_t *)vector->data + run->at;
    switch (column) {
    case TV_SQL_SLICE_TS:
        tv_slices_read_starts(trace, run->row, run->index, run->count, integers);
        return true;
    case TV_SQL_SLICE_DUR:
        sql_fill_dur(trace, run, integers);
        return true;
    case TV_SQL_SLICE_LENGTH:
        if (!tv_row_columns(trace, run->row)->start)
            return false;
        tv_slices_read_lengths(trace, run->row, run->index, run->count, integers);
        return true;
    case TV_SQL_SLICE_NAME:
        sql_fill_name(data, run, vector);
        return true;
    case TV_SQL_SLICE_ROOT_NAME:
    case TV_SQL_SLICE_RECURSIVE:
        sql_fill_path_fact(data, column, run, vector);
        return true;
    case TV_SQL_SLICE_SELF_DUR:
        sql_fill_self(trace, run, false, integers);
        return true;
    case TV_SQL_SLICE_SELF_THREAD_DUR:
        if (!tv_row_columns(trace, run->row)->cpu_start)
            return false;
        sql_fill_self(trace, run, true, integers);
        return true;
    case TV_SQL_SLICE_PARENT:
        if (trace->rows[run->row].depth == 0)
            return false;
        sql_fill_parent(data, run, integers);
        return true;
    default:
        return sql_fill_of_row(data, column, run, vector);
    }
}

/* Fill a column for slices of a row, one after another. */
static void sql_fill_each(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                          uint32_t column, const struct sql_run *run, struct tv_sql_vector *vector)
{
    struct tv_slice *slices = scratch->slices;
    uint64_t first = data->first_id[run->row] + run->index;
    if (scratch->first != first || scratch->count != run->count)
        tv_slices_read(data->trace, run->row, run->index, run->count, slices);
    scratch->first = first;
    scratch->count = run->count;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct tv_slice_place place = {run->row, run->index + i};
        sql_put_slice_column(data, &slices[i], place, column, run->at + i, vector);
    }
}

static void sql_fill_slice(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                           uint32_t column, uint64_t first, uint32_t count,
                           struct tv_sql_vector *vector)
{
    uint64_t slices = data->first_id[data->trace->row_count];
    uint32_t done = 0;
    assert(first + count <= sql_slice_count(data));
    if (column == TV_SQL_SLICE_ID) {
        for (uint32_t i = 0; i < count; i++)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        return;
    }
    while (done < count && first + done < slices) {
        uint32_t row = tv_sql_row_of(data, first + done);
        uint64_t left = data->first_id[row + 1] - (first + done);
        struct sql_run run = {.row = row,
                              .index = (uint32_t)(first + done - data->first_id[row]),
                              .count = left < count - done ? (uint32_t)left : count - done,
                              .at = done};
        assert(run.count > 0 && run.count <= TV_SQL_ROWS); /* `scratch` has room */
        if (!sql_fill_run(data, column, &run, vector))
            sql_fill_each(data, scratch, column, &run, vector);
        done += run.count;
    }
    for (; done < count; done++)
        sql_put_instant_column(data, column, done, first + done - slices, vector);
}

const struct tv_sql_table tv_sql_slice_table = {
    .name = "any_slice",
    .count = sql_slice_count,
    .fill = sql_fill_slice,
    .columns = slice_columns,
    .column_count = TV_COUNT(slice_columns),
};

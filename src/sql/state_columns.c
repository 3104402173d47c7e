/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_columns.c - the columns of any_slice that thread states alone have (tables.h).
 *
 * The model names states in words; Perfetto has the kernel's letters, so people's queries say
 * `state = 'R'`.
 */
#include "base/bytes.h"
#include "sql/tables.h"

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

/* ---- Letters ---- */

/* Return the letters of a state, as Perfetto has them; a state without letters is its name. */
static struct tv_bytes sql_state_letters(struct tv_bytes name)
{
    static const char *const letters[][2] = {
        {"Runnable", "R"},
        {"Runnable (preempted)", "R+"},
        {"Sleeping", "S"},
        {"Uninterruptible Sleep", "D"},
        {"Uninterruptible Sleep (I/O)", "D"},
        {"Uninterruptible Sleep | WakeKill", "DK"},
        {"Uninterruptible Sleep | Waking", "DW"},
        {"Stopped", "T"},
        {"Traced", "t"},
        {"Zombie", "Z"},
        {"Exit Dead", "X"},
        {"Task Dead", "x"},
        {"Wake Kill", "K"},
        {"Waking", "W"},
        {"Parked", "P"},
        {"Sleeping (idle)", "I"},
    };
    for (size_t i = 0; i < TV_COUNT(letters); i++)
        if (tv_bytes_equal(name, tv_bytes_of(letters[i][0])))
            return tv_bytes_of(letters[i][1]);
    return name;
}

/* Put the letters of the state with a path, whose frame is named after the
 * state. */
static void sql_put_letters(const struct tv_trace *trace, uint32_t path, uint64_t i,
                            struct tv_sql_vector *vector)
{
    uint32_t number = trace->head->frames[trace->paths.nodes[path].frame].name;
    struct tv_bytes name = tv_trace_info_text(trace->head, number);
    if (tv_bytes_equal(name, TV_BYTES("Unknown")))
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_bytes(vector, i, sql_state_letters(name));
}

/* Put the state that follows at once; none if it is Running again, on another processor. */
static void sql_put_end_state(const struct tv_trace *trace, struct tv_slice_place place, uint64_t i,
                              struct tv_sql_vector *vector)
{
    struct tv_slice slice = tv_slice_get(trace, place.row, place.index);
    if (place.index + 1 < trace->rows[place.row].count) {
        struct tv_slice next = tv_slice_get(trace, place.row, place.index + 1);
        if (next.start == slice.start + slice.length &&
            sql_state_of(trace, next.path) != TV_STATE_RUNNING) {
            sql_put_letters(trace, next.path, i, vector);
            return;
        }
    }
    tv_sql_put_null(vector, i);
}

/* ---- Processors ---- */

/* The tracks of processors are named "CPU 3" and the like; the model keeps no
 * number beside the name. */
int64_t tv_sql_cpu_of_track(const struct tv_trace *trace, uint32_t track)
{
    struct tv_bytes name = tv_trace_info_text(trace->head, trace->tracks[track].name);
    size_t digits = 0;
    uint64_t number;
    while (name.length > 0 && (name.data[0] < '0' || name.data[0] > '9'))
        name.data++, name.length--;
    while (digits < name.length && name.data[digits] >= '0' && name.data[digits] <= '9')
        digits++;
    return tv_parse_u64((struct tv_bytes){name.data, digits}, &number) && number <= INT64_MAX
               ? (int64_t)number
               : -1;
}

/* Does a processor begin to run something with the event of that offset? */
static bool sql_is_run_by(const struct tv_trace *trace, const struct tv_track *track, tv_ns start,
                          uint64_t event)
{
    for (uint32_t row = track->first_row; row < track->first_row + track->row_count; row++) {
        uint32_t index = tv_row_find_start(trace, row, start);
        for (; index < trace->rows[row].count && tv_slice_start(trace, row, index) == start;
             index++)
            if (tv_slice_offset(trace, row, index) == event)
                return true;
    }
    return false;
}

/* Return the processor on which a thread runs: the one whose slice is of the same event. */
static int64_t sql_find_cpu(const struct tv_trace *trace, struct tv_slice_place place)
{
    struct tv_slice slice = tv_slice_get(trace, place.row, place.index);
    uint64_t event = tv_slice_offset(trace, place.row, place.index);
    uint32_t input = trace->rows[place.row].input;
    if (sql_state_of(trace, slice.path) != TV_STATE_RUNNING)
        return -1;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind == TV_TRACK_CPU && track->input == input &&
            sql_is_run_by(trace, track, slice.start, event))
            return tv_sql_cpu_of_track(trace, i);
    }
    return -1;
}

/* ---- Columns ---- */

/* Put who ended the wait before a state, or why the thread was blocked in it. */
static void sql_put_reason(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                           struct tv_slice_place place, struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_track *track = &trace->tracks[trace->rows[place.row].track];
    const struct tv_wakeup *wakeup = NULL;
    const struct tv_blocking *blocking = NULL;
    if (column == TV_SQL_SLICE_WAKER)
        wakeup =
            tv_states_wakeup(trace, track->thread, tv_slice_start(trace, place.row, place.index));
    else
        blocking = sql_find_blocking(trace, place.row, place.index, track->thread);
    if (wakeup)
        tv_sql_put_index(vector, i, wakeup->by);
    else if (blocking && column == TV_SQL_SLICE_IO_WAIT)
        tv_sql_put_boolean(vector, i, blocking->io);
    else if (blocking && blocking->caller != TV_NONE &&
             !tv_bytes_starts_with(tv_trace_info_text(trace->head, blocking->caller),
                                   TV_BYTES("0x"))) /* no function: `blocking` has the address */
        tv_sql_put_string(data, vector, i, blocking->caller);
    else
        tv_sql_put_null(vector, i);
}

void tv_sql_put_state_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                             struct tv_slice_place place, struct tv_sql_vector *vector)
{
    const struct tv_trace *trace = data->trace;
    int64_t cpu;
    if (trace->tracks[trace->rows[place.row].track].kind != TV_TRACK_STATES) {
        tv_sql_put_null(vector, i);
        return;
    }
    switch (column) {
    case TV_SQL_SLICE_STATE:
        sql_put_letters(trace, tv_slice_get(trace, place.row, place.index).path, i, vector);
        break;
    case TV_SQL_SLICE_END_STATE:
        sql_put_end_state(trace, place, i, vector);
        break;
    case TV_SQL_SLICE_CPU:
    case TV_SQL_SLICE_UCPU:
        cpu = sql_find_cpu(trace, place);
        if (cpu < 0)
            tv_sql_put_null(vector, i);
        else if (column == TV_SQL_SLICE_CPU)
            tv_sql_put_integer(vector, i, cpu);
        else
            tv_sql_put_integer(vector, i, tv_sql_ucpu(data, trace->rows[place.row].input, cpu));
        break;
    default:
        sql_put_reason(data, column, i, place, vector);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One state of a thread: what it is called, which slice of a processor it is, who woke the thread.
 */
#include "analysis/states.h"
#include "base/bytes.h"
#include "model/assembly/assembly.h"

static const struct tv_slice_place nowhere = {TV_NONE, TV_NONE};

const char *tv_state_name(enum tv_state state)
{
    static const char *const names[TV_STATE_COUNT] = {
        "running", "runnable", "preempted", "sleeping", "uninterruptible", "io", "other",
    };
    return names[state];
}

enum tv_state tv_state_of_frame(const struct tv_trace_info *head, uint32_t frame)
{
    struct tv_bytes name = tv_trace_info_text(head, head->frames[frame].name);
    switch (head->frames[frame].colour) {
    case TV_COLOUR_RUNNING:
        return TV_STATE_RUNNING;
    case TV_COLOUR_RUNNABLE:
        return tv_bytes_equal(name, TV_BYTES("Runnable (preempted)")) ? TV_STATE_PREEMPTED
                                                                      : TV_STATE_RUNNABLE;
    case TV_COLOUR_SLEEPING:
        return TV_STATE_SLEEPING;
    case TV_COLOUR_IO:
        return TV_STATE_IO;
    case TV_COLOUR_BLOCKED:
        return tv_bytes_starts_with(name, TV_BYTES("Uninterruptible Sleep"))
                   ? TV_STATE_UNINTERRUPTIBLE
                   : TV_STATE_OTHER;
    default:
        return TV_STATE_OTHER;
    }
}

uint32_t tv_cpu_number(const struct tv_trace *trace, uint32_t track)
{
    struct tv_bytes name = tv_trace_info_text(trace->head, trace->tracks[track].name);
    size_t at = name.length;
    uint64_t number;
    while (at > 0 && name.data[at - 1] != ' ')
        at--;
    bool good = tv_parse_u64((struct tv_bytes){name.data + at, name.length - at}, &number);
    return good && number < TV_NONE ? (uint32_t)number : TV_NONE;
}

uint32_t tv_states_track(const struct tv_trace *trace, uint32_t thread)
{
    for (uint32_t i = 0; thread != TV_NONE && i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_STATES && trace->tracks[i].thread == thread)
            return i;
    return TV_NONE;
}

struct tv_slice_place tv_states_other_side(const struct tv_trace *trace, uint32_t track,
                                           struct tv_slice_place place)
{
    uint32_t row = trace->tracks[track].first_row;
    tv_ns start = tv_slice_start(trace, place.row, place.index);
    uint32_t index = tv_row_find(trace, row, start);
    if (index < trace->rows[row].count && tv_slice_start(trace, row, index) == start &&
        tv_slice_offset(trace, row, index) == tv_slice_offset(trace, place.row, place.index))
        return (struct tv_slice_place){row, index};
    return nowhere;
}

struct tv_slice_place tv_states_cpu_slice(const struct tv_trace *trace,
                                          struct tv_slice_place running)
{
    uint32_t input = trace->rows[running.row].input;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_CPU || trace->tracks[i].input != input)
            continue;
        struct tv_slice_place found = tv_states_other_side(trace, i, running);
        if (found.row != TV_NONE)
            return found;
    }
    return nowhere;
}

/* The thread that left at the same switch has a state that begins there too. */
struct tv_slice_place tv_states_running(const struct tv_trace *trace, struct tv_slice_place ran)
{
    uint32_t input = trace->rows[ran.row].input;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_STATES || trace->tracks[i].input != input)
            continue;
        struct tv_slice_place found = tv_states_other_side(trace, i, ran);
        if (found.row == TV_NONE)
            continue;
        uint32_t path = tv_slice_get(trace, found.row, found.index).path;
        uint32_t frame = trace->paths.nodes[path].frame;
        if (tv_state_of_frame(trace->head, frame) == TV_STATE_RUNNING)
            return found;
    }
    return nowhere;
}

struct tv_slice_place tv_states_at(const struct tv_trace *trace, uint32_t thread, tv_ns time)
{
    uint32_t track = tv_states_track(trace, thread);
    if (track == TV_NONE)
        return nowhere;
    uint32_t row = trace->tracks[track].first_row, index = tv_row_find(trace, row, time);
    if (index < trace->rows[row].count && tv_slice_start(trace, row, index) <= time)
        return (struct tv_slice_place){row, index};
    return nowhere;
}

const struct tv_wakeup *tv_states_wakeup(const struct tv_trace *trace, uint32_t thread, tv_ns time)
{
    const struct tv_tables *tables = &trace->tables;
    size_t low = 0, high = tables->wakeups.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tv_wakeup *wakeup = &tables->wakeups.rows[middle];
        tv_ns at = tv_trace_time(trace, wakeup->input, wakeup->time);
        if (wakeup->thread < thread || (wakeup->thread == thread && at < time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == tables->wakeups.count)
        return NULL;
    const struct tv_wakeup *found = &tables->wakeups.rows[low];
    bool same = found->thread == thread && tv_trace_time(trace, found->input, found->time) == time;
    return same ? found : NULL;
}

const struct tv_blocking *tv_states_blocking(const struct tv_trace *trace, uint32_t thread,
                                             tv_ns from, tv_ns to)
{
    const struct tv_tables *tables = &trace->tables;
    size_t low = 0, high = tables->blockings.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tv_blocking *blocking = &tables->blockings.rows[middle];
        tv_ns at = tv_trace_time(trace, blocking->input, blocking->time);
        if (blocking->thread < thread || (blocking->thread == thread && at < from))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == tables->blockings.count)
        return NULL;
    const struct tv_blocking *found = &tables->blockings.rows[low];
    bool fits = found->thread == thread && tv_trace_time(trace, found->input, found->time) <= to;
    return fits ? found : NULL;
}

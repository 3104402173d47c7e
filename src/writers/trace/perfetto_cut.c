/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_cut.c - an excerpt of a Perfetto trace in that format.
 *
 * A time range keeps the packets of the file (readers/perfetto/cut.h); the finished trace tells
 * which events begin and end the slices that cross an end of the range, and which ones give
 * counters the values that they have at its start.  All other selections are written from the
 * model.
 *
 *     trace: slices open at `from` or `to`  ->  marks (offset, time, what to do)  ->  cut.h
 *
 * Events that are moved to one time must stay in an order in which readers nest them: outer slices
 * first.  If the file has them the other way around, an earlier one gets a lead of some
 * nanoseconds.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/cut.h"
#include "readers/perfetto/perfetto.h"
#include "writers/trace/excerpt.h"

/* Return true when everything is selected but for a time range. */
static bool excerpt_keeps_all_tracks(const struct tv_excerpt *excerpt)
{
    const struct tv_subset *keep = excerpt->cut->keep;
    return !keep->processes && !keep->tracks && !keep->threads && !keep->frames &&
           !keep->category && !excerpt->cut->tracks_only && !excerpt->trace->is_subset &&
           !excerpt->redaction;
}

bool tv_excerpt_is_perfetto(const struct tv_excerpt *excerpt)
{
    const struct tv_trace_info *head = excerpt->trace->head;
    return head->input_count == 1 && !excerpt->redaction &&
           strcmp(head->inputs[0].format, tv_reader_perfetto.format) == 0;
}

/* Mark the events of the slice at a place in its row.  `marks`: of its begin. */
static void excerpt_mark_slice(const struct tv_trace *trace, struct tv_pf_cut *cut, uint32_t row,
                               uint32_t index, unsigned marks, unsigned lead)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    int64_t start = slice.start - trace->offset[0];
    if ((marks & TV_PF_CUT_CLOSE) && extra && extra->end_offset != TV_NO_OFFSET) {
        tv_pf_cut_mark(cut, extra->end_offset, start + slice.length, TV_PF_CUT_END, 0);
        marks &= ~(unsigned)TV_PF_CUT_CLOSE;
    }
    if (marks != 0)
        tv_pf_cut_mark(cut, tv_slice_offset(trace, row, index), start, marks, lead);
}

/* Return the slice of a row that is open at a time; TV_NONE: none is. */
static uint32_t excerpt_find_open(const struct tv_trace *trace, uint32_t row, tv_ns time)
{
    uint32_t index = tv_row_find(trace, row, time);
    bool open = index < trace->rows[row].count && tv_slice_start(trace, row, index) < time;
    return open ? index : TV_NONE;
}

/* Return the name of the state of a thread. */
static struct tv_bytes excerpt_state_name(const struct tv_trace *trace,
                                          const struct tv_track *track, uint32_t index)
{
    struct tv_slice slice = tv_slice_get(trace, track->first_row, index);
    return tv_trace_info_text(trace->head,
                              trace->head->frames[trace->paths.nodes[slice.path].frame].name);
}

/* Return a number for a slice. */
static uint64_t excerpt_slice_key(uint32_t row, uint32_t index)
{
    return (uint64_t)row << 32 | index;
}

/* Return whether a flow is a transaction of binder that has a slice. */
static bool excerpt_is_binder(const struct tv_trace *trace, const struct tv_flow *flow)
{
    const struct tv_frame *frame = &trace->head->frames[flow->frame];
    return flow->from.row != TV_NONE &&
           tv_bytes_equal(tv_trace_info_text(trace->head, frame->category), TV_BYTES("binder"));
}

/* Look at the transactions of binder that were sent before the range.  Mark the replies that are
 * received later: these end a wait.  Add to `early` the slices of calls which the file has after
 * the event that received them: without a lead they would be received before they are sent. */
static void excerpt_mark_transactions(const struct tv_trace *trace, struct tv_pf_cut *cut,
                                      struct tv_map *early)
{
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[i];
        if (flow->from.time >= cut->from || !excerpt_is_binder(trace, flow))
            continue;
        uint64_t slice = tv_slice_offset(trace, flow->from.row, flow->from.index);
        if (flow->to.time < cut->from && flow->end_offset < flow->offset)
            tv_map_set(early, excerpt_slice_key(flow->from.row, flow->from.index), 1);
        else if (flow->to.time >= cut->from && slice != flow->offset)
            tv_pf_cut_mark(cut, flow->offset, flow->from.time, TV_PF_CUT_BEGIN, 0);
    }
}

/* Mark the begins of the slices that reach into the range, the innermost first. */
static void excerpt_mark_begins(const struct tv_trace *trace, struct tv_pf_cut *cut,
                                const struct tv_track *track, tv_ns from,
                                const struct tv_map *early)
{
    unsigned lead = 0;
    uint64_t inner = UINT64_MAX;
    for (uint32_t i = track->row_count; i-- > 0;) {
        uint32_t row = track->first_row + i, index = excerpt_find_open(trace, row, from);
        if (index == TV_NONE)
            continue;
        uint64_t offset = tv_slice_offset(trace, row, index);
        /* The file has the inner one first, or the event that received the transaction. */
        bool late = offset > inner || tv_map_find(early, excerpt_slice_key(row, index)) != TV_NONE;
        lead += late && lead < TV_PF_CUT_LEAD_MAX;
        inner = offset;
        excerpt_mark_slice(trace, cut, row, index, TV_PF_CUT_BEGIN, lead);
    }
}

/* Mark the slices of a track that cross an end of the range: at most one of each row and end. */
static void excerpt_mark_track(const struct tv_trace *trace, struct tv_pf_cut *cut,
                               const struct tv_track *track, tv_ns from, tv_ns to,
                               const struct tv_map *early)
{
    if (track->kind == TV_TRACK_STATES || track->kind == TV_TRACK_CPU)
        return; /* excerpt_tell_states; the next switch ends them */
    excerpt_mark_begins(trace, cut, track, from, early);
    for (uint32_t i = 0; i < track->row_count; i++) {
        uint32_t row = track->first_row + i, open = excerpt_find_open(trace, row, to);
        if (open != TV_NONE)
            excerpt_mark_slice(trace, cut, row, open, TV_PF_CUT_CLOSE, 0);
        for (uint32_t at = tv_row_find_start(trace, row, from);
             at < trace->rows[row].count && tv_slice_end(trace, row, at) == from; at++)
            excerpt_mark_slice(trace, cut, row, at, TV_PF_CUT_EMPTY, 0);
    }
}

/* Return the processor of a track: "CPU 3". */
static uint32_t excerpt_cpu_of(const struct tv_trace *trace, const struct tv_track *track)
{
    struct tv_bytes name = tv_trace_info_text(trace->head, track->name);
    uint64_t cpu = TV_NONE;
    if (!tv_bytes_starts_with(name, TV_BYTES("CPU ")) ||
        !tv_parse_u64((struct tv_bytes){name.data + 4, name.length - 4}, &cpu))
        return TV_NONE;
    return cpu < TV_NONE ? (uint32_t)cpu : TV_NONE;
}

static void excerpt_name_task(const struct tv_trace *trace, uint32_t number,
                              struct tv_pf_cut_task *task)
{
    const struct tv_thread *thread = &trace->head->threads[number];
    task->tid = (int64_t)thread->id;
    task->name = tv_trace_info_text(trace->head, thread->name);
    if (thread->process != TV_NONE)
        task->pid = (int64_t)trace->head->processes[thread->process].id;
}

/* The event that began the open slice of a track identifies it: a switch begins the slice of a
 * processor and the state of the thread that runs there. */
static uint64_t excerpt_event_key(const struct tv_trace *trace, const struct tv_track *track,
                                  uint32_t open)
{
    return tv_hash_u64(tv_slice_offset(trace, track->first_row, open)) ^
           (uint64_t)tv_slice_start(trace, track->first_row, open);
}

/* Mark the event that told, before the range, why a thread waits. */
static void excerpt_mark_reason(const struct tv_trace *trace, struct tv_pf_cut *cut,
                                uint32_t thread)
{
    const struct tv_blocking *rows = trace->tables.blockings.rows;
    size_t next = 0;
    TV_LOWER_BOUND(next, trace->tables.blockings.count, at,
                   rows[at].thread < thread ||
                       (rows[at].thread == thread && rows[at].time < cut->from));
    while (next > 0 && rows[next - 1].thread == thread && !rows[next - 1].io)
        next--;
    if (next > 0 && rows[next - 1].thread == thread)
        tv_pf_cut_mark(cut, rows[next - 1].offset, rows[next - 1].time, TV_PF_CUT_VALUE, 0);
}

/* Map the events that began what runs at a time to the threads that run. */
static void excerpt_map_running(const struct tv_trace *trace, tv_ns time, struct tv_map *running)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        uint32_t open = track->kind == TV_TRACK_STATES
                            ? excerpt_find_open(trace, track->first_row, time)
                            : TV_NONE;
        if (open != TV_NONE &&
            tv_bytes_equal(excerpt_state_name(trace, track, open), TV_BYTES("Running")))
            tv_map_set(running, excerpt_event_key(trace, track, open), track->thread);
    }
}

/* Collect the threads that do not run at the start of the range. */
static void excerpt_tell_threads(const struct tv_trace *trace, struct tv_pf_cut *cut, tv_ns from)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        uint32_t open = track->kind == TV_TRACK_STATES
                            ? excerpt_find_open(trace, track->first_row, from)
                            : TV_NONE;
        if (open == TV_NONE)
            continue;
        struct tv_pf_cut_task task = {.state = excerpt_state_name(trace, track, open),
                                      .cpu = TV_NONE};
        if (tv_bytes_equal(task.state, TV_BYTES("Running")))
            continue;
        excerpt_name_task(trace, track->thread, &task);
        *tv_table_add(&cut->waiting) = task;
        if (tv_bytes_equal(task.state, TV_BYTES("Uninterruptible Sleep (I/O)")))
            excerpt_mark_reason(trace, cut, track->thread);
    }
}

/* Tell what a processor runs at a time.  Return false when the track is no processor's, or begins
 * later. */
static bool excerpt_find_running(const struct tv_trace *trace, const struct tv_track *track,
                                 tv_ns time, const struct tv_map *running,
                                 struct tv_pf_cut_task *task)
{
    if (track->kind != TV_TRACK_CPU ||
        tv_trace_time(trace, track->input, track->first_wall) >= time)
        return false;
    *task =
        (struct tv_pf_cut_task){.name = TV_BYTES("swapper"), .cpu = excerpt_cpu_of(trace, track)};
    uint32_t open = excerpt_find_open(trace, track->first_row, time), thread = TV_NONE;
    if (open != TV_NONE)
        thread = tv_map_find(running, excerpt_event_key(trace, track, open));
    if (thread != TV_NONE)
        excerpt_name_task(trace, thread, task);
    return task->cpu != TV_NONE;
}

/* Collect what each processor runs at the start of the range, and what all other threads do. */
static void excerpt_tell_states(const struct tv_trace *trace, struct tv_pf_cut *cut, tv_ns from)
{
    struct tv_map running;
    tv_map_init(&running);
    excerpt_map_running(trace, from, &running);
    excerpt_tell_threads(trace, cut, from);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_pf_cut_task task;
        if (excerpt_find_running(trace, &trace->tracks[i], from, &running, &task))
            *tv_table_add(&cut->running) = task;
    }
    tv_map_release(&running);
}

/* Return whether a row changes at a time: a slice begins or ends there. */
static bool excerpt_changes_at(const struct tv_trace *trace, uint32_t row, tv_ns time)
{
    uint32_t next = tv_row_find_start(trace, row, time);
    return (next < trace->rows[row].count && tv_slice_start(trace, row, next) == time) ||
           (next > 0 && tv_slice_end(trace, row, next - 1) == time);
}

/* Choose a processor whose switch to the idle task marks the end of the range: one that is idle
 * then, so that nothing changes there, or else the first.  Processors that switch at that very time
 * are left out: that switch is not in the range. */
static void excerpt_tell_end(const struct tv_trace *trace, struct tv_pf_cut *cut, tv_ns to)
{
    struct tv_map running;
    if (to >= trace->end)
        return;
    tv_map_init(&running);
    excerpt_map_running(trace, to, &running);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_pf_cut_task task;
        if (!excerpt_find_running(trace, &trace->tracks[i], to, &running, &task) ||
            (cut->has_last && task.tid != 0) ||
            excerpt_changes_at(trace, trace->tracks[i].first_row, to))
            continue;
        cut->last = task;
        cut->has_last = true;
        if (task.tid == 0)
            break;
    }
    tv_map_release(&running);
}

/* Mark the last value of each counter before the range. */
static void excerpt_mark_counters(const struct tv_trace *trace, struct tv_pf_cut *cut)
{
    const struct tv_tables *tables = &trace->tables;
    for (size_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        const tv_ns *times = tables->counter_times + counter->first_sample;
        size_t next = 0;
        TV_LOWER_BOUND(next, counter->sample_count, at, times[at] < cut->from);
        if (next > 0)
            tv_pf_cut_mark(cut, tables->counter_offsets[counter->first_sample + next - 1],
                           times[next - 1], TV_PF_CUT_VALUE, 0);
    }
}

/* Copy the packets of the range, after noting what must come along for them to mean the same. */
static enum tv_status excerpt_write_packets(const struct tv_excerpt *excerpt, struct tv_out *out,
                                            struct tv_error *err)
{
    const struct tv_trace *trace = excerpt->trace;
    struct tv_pf_cut cut = {.from = INT64_MIN, .to = INT64_MAX};
    tv_ns from, to;
    tv_map_init(&cut.marks);
    if (tv_crop_range(trace, excerpt->cut, &from, &to)) {
        cut.from = from - trace->offset[0];
        cut.to = to - trace->offset[0];
        struct tv_map early;
        tv_map_init(&early);
        excerpt_mark_transactions(trace, &cut, &early);
        for (uint32_t i = 0; i < trace->track_count; i++)
            excerpt_mark_track(trace, &cut, &trace->tracks[i], from, to, &early);
        tv_map_release(&early);
        excerpt_tell_states(trace, &cut, from);
        excerpt_tell_end(trace, &cut, to);
        excerpt_mark_counters(trace, &cut);
    }
    enum tv_status status = tv_pf_cut_write(trace->head->inputs[0].source, &cut, out, err);
    tv_map_release(&cut.marks);
    tv_free(cut.running.rows);
    tv_free(cut.waiting.rows);
    return status;
}

enum tv_status tv_excerpt_write_perfetto(const struct tv_excerpt *excerpt, struct tv_out *out,
                                         struct tv_perfetto_losses *losses, struct tv_error *err)
{
    memset(losses, 0, sizeof *losses);
    if (excerpt->redaction)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "names and arguments of a Perfetto trace cannot be hidden: write it as "
                       "JSON");
    if (tv_excerpt_is_perfetto(excerpt) && excerpt_keeps_all_tracks(excerpt) &&
        excerpt->trace->head->inputs[0].source)
        return excerpt_write_packets(excerpt, out, err);
    tv_perfetto_write(out, excerpt->made ? excerpt->made : excerpt->trace, losses);
    return TV_OK;
}

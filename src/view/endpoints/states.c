/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states.c - thread states and processor slices: tables of a selection, and
 * facts of one slice beyond those that every slice has.
 *
 *     thread      | sleeping | runnable | running |        one row of states
 *                            ^wakeup    ^switch
 *     processor   |   other thread      | thread  |        one row of what it ran
 *
 * A state and a processor's slice that begin with the same event belong
 * together.  A wait for a processor starts with a wakeup and ends with a run;
 * what ran meanwhile on that processor is "instead".
 */
#include <assert.h>

#include "analysis/states/states.h"
#include "base/memory.h"
#include "view/internal.h"

#define INSTEAD_LIMIT 200 /* slices that are listed */

/* Return the name of a thread. */
static struct tv_bytes view_thread_name(const struct tv_trace *trace, uint32_t thread)
{
    return tv_trace_info_text(trace->head, trace->head->threads[thread].name);
}

/* ---- Tables ---- */

/* The threads and processors that a selection's tracks stand for. */
struct wanted_states {
    bool *threads, *cpus; /* NULL: all */
};

/* Find the threads and processors of a selection's tracks. */
static struct wanted_states view_states_want(const struct tv_trace *trace,
                                             const struct tv_selection *selection)
{
    struct wanted_states wanted = {NULL, NULL};
    for (uint32_t i = 0; selection->tracks && i < selection->track_count; i++) {
        const struct tv_track *track = &trace->tracks[selection->tracks[i]];
        if (track->kind == TV_TRACK_CPU) {
            if (!wanted.cpus)
                wanted.cpus = tv_alloc(trace->track_count, sizeof *wanted.cpus);
            wanted.cpus[selection->tracks[i]] = true;
            continue;
        }
        if (!wanted.threads)
            wanted.threads = tv_alloc(trace->head->thread_count, sizeof *wanted.threads);
        if (track->thread != TV_NONE)
            wanted.threads[track->thread] = true;
    }
    return wanted;
}

/* Write a time per state. */
static void view_states_write_times(struct tv_out *out, const char *before,
                                    const tv_ns times[TV_STATE_COUNT])
{
    for (uint32_t i = 0; i < TV_STATE_COUNT; i++)
        tv_member_number(out, i > 0 ? "," : before, times[i]);
    tv_out_char(out, ']');
}

/* Write [processor, time] for each processor that a thread ran on. */
static void view_states_write_runs(struct tv_out *out, const struct tv_thread_run *runs,
                                   uint32_t count)
{
    tv_out_text(out, ",[");
    for (uint32_t i = 0; i < count; i++) {
        tv_member_number(out, i > 0 ? ",[" : "[", runs[i].cpu);
        tv_member_number(out, ",", runs[i].time);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

/* [thread, id, name, process, [times], wakeups, longest wait, its row, its index, [on CPUs]] */
static void view_states_write_thread(struct tv_out *out, const struct tv_trace *trace,
                                     const struct tv_states *states, uint32_t number)
{
    const struct tv_trace_info *head = trace->head;
    const struct tv_thread_states *row = &states->threads[number];
    const struct tv_thread *thread = row->thread == TV_NONE ? NULL : &head->threads[row->thread];
    tv_member_index(out, "[", row->thread);
    tv_member_number(out, ",", thread ? (int64_t)thread->id : 0);
    tv_member_text(out, ",", head, thread ? thread->name : head->frames[row->frame].name);
    tv_member_index(out, ",", thread ? thread->process : TV_NONE);
    view_states_write_times(out, ",[", row->time);
    tv_member_number(out, ",", (int64_t)row->wakeups);
    tv_member_number(out, ",", row->longest_wait);
    tv_member_index(out, ",", row->longest.row);
    tv_member_index(out, ",", row->longest.index);
    view_states_write_runs(out, states->runs + row->first_run, row->run_count);
    tv_out_char(out, ']');
}

/* Write the tables of processors and threads. */
static void view_states_write(struct tv_out *out, const struct tv_trace *trace,
                              const struct tv_states *states)
{
    tv_member_number(out, "{\"from_ns\":", states->from);
    tv_member_number(out, ",\"to_ns\":", states->to);
    for (int i = 0; i < TV_STATE_COUNT; i++)
        tv_out_format(out, "%s\"%s\"", i > 0 ? "," : ",\"states\":[",
                      tv_state_name((enum tv_state)i));
    tv_out_text(out, "],\"cpus\":[");
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        tv_member_number(out, i > 0 ? ",[" : "[", states->cpus[i].track);
        tv_member_index(out, ",", tv_cpu_number(trace, states->cpus[i].track));
        tv_member_number(out, ",", states->cpus[i].busy);
        tv_member_number(out, ",", states->cpus[i].unknown);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "],\"threads\":[");
    for (uint32_t i = 0; i < states->thread_count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        view_states_write_thread(out, trace, states, i);
    }
    tv_out_text(out, "]}");
}

/* Answer api/states: the times of threads and processors in a selection. */
enum tv_status tv_view_states(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_selection selection;
    enum tv_status status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct wanted_states wanted = view_states_want(view->trace, &selection);
    struct tv_states_question question = {selection.from, selection.to, wanted.threads,
                                          wanted.cpus};
    struct tv_states *states = tv_states_of(view->trace, &question);
    view_states_write(out, view->trace, states);
    tv_states_free(states);
    tv_free(wanted.threads);
    tv_free(wanted.cpus);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* ---- One state ---- */

/* Return which state a slice of a state track is. */
static enum tv_state view_state_at(const struct tv_trace *trace, struct tv_slice_place place)
{
    uint32_t path = tv_slice_get(trace, place.row, place.index).path;
    return tv_state_of_frame(trace->head, trace->paths.nodes[path].frame);
}

/* Write a slice as [row, index], or null. */
static void view_state_write_place(struct tv_out *out, const char *key, struct tv_slice_place place)
{
    tv_view_write_place(out, key, place.row != TV_NONE, place.row, place.index);
}

/* Write the number of the processor that a slice's track belongs to, or -1. */
static void view_state_write_cpu(struct tv_out *out, const char *key, const struct tv_trace *trace,
                                 struct tv_slice_place place)
{
    tv_member_index(out, key,
                    place.row == TV_NONE ? TV_NONE
                                         : tv_cpu_number(trace, trace->rows[place.row].track));
}

/* Return the wait for a processor that a state belongs to: the one after a sleep, the one before
 * a run, or the state itself. */
static struct tv_slice_place view_state_wait(const struct tv_trace *trace,
                                             struct tv_slice_place place)
{
    const struct tv_slice_place none = {TV_NONE, TV_NONE};
    enum tv_state state = view_state_at(trace, place);
    struct tv_slice_place wait = place;
    if (tv_state_is_wait(state))
        return place;
    if (state == TV_STATE_RUNNING && place.index == 0)
        return none;
    wait.index = state == TV_STATE_RUNNING ? place.index - 1 : place.index + 1;
    if (wait.index >= trace->rows[place.row].count || !tv_state_is_wait(view_state_at(trace, wait)))
        return none;
    return wait;
}

/* Return the run that ended a wait. */
static struct tv_slice_place view_state_run_after(const struct tv_trace *trace,
                                                  struct tv_slice_place wait)
{
    struct tv_slice_place run = {wait.row, wait.index + 1};
    if (wait.row != TV_NONE && run.index < trace->rows[wait.row].count &&
        view_state_at(trace, run) == TV_STATE_RUNNING)
        return run;
    return (struct tv_slice_place){TV_NONE, TV_NONE};
}

/* Write who woke the thread, where the waker ran, and how long the thread took to run. */
static void view_state_write_wakeup(struct tv_out *out, const struct tv_trace *trace,
                                    uint32_t thread, struct tv_slice_place wait,
                                    struct tv_slice_place run)
{
    const struct tv_wakeup *wakeup = NULL;
    tv_ns time = 0;
    if (wait.row != TV_NONE) {
        time = tv_slice_start(trace, wait.row, wait.index);
        wakeup = tv_states_wakeup(trace, thread, time);
    }
    tv_out_text(out, ",\"wakeup\":");
    if (!wakeup) {
        tv_out_text(out, "null");
        return;
    }
    struct tv_slice_place by = {TV_NONE, TV_NONE}, cpu = by;
    if (wakeup->by != TV_NONE)
        by = tv_states_at(trace, wakeup->by, time);
    if (by.row != TV_NONE && view_state_at(trace, by) == TV_STATE_RUNNING)
        cpu = tv_states_cpu_slice(trace, by);
    tv_member_number(out, "{\"time_ns\":", time);
    tv_member_index(out, ",\"by\":", wakeup->by);
    tv_out_text(out, ",\"name\":");
    tv_out_json(out, wakeup->by == TV_NONE ? TV_BYTES("") : view_thread_name(trace, wakeup->by));
    view_state_write_place(out, ",\"slice\":", by);
    view_state_write_cpu(out, ",\"cpu\":", trace, cpu);
    view_state_write_place(out, ",\"run\":", run);
    tv_member_number(out, ",\"latency_ns\":",
                     run.row == TV_NONE ? -1 : tv_slice_start(trace, run.row, run.index) - time);
    tv_out_char(out, '}');
}

/* Write why the thread was blocked; kernels say so at or shortly after the wakeup. */
static void view_state_write_blocking(struct tv_out *out, const struct tv_trace *trace,
                                      uint32_t thread, struct tv_slice_place place)
{
    enum tv_state state = view_state_at(trace, place);
    const struct tv_blocking *blocking = NULL;
    if (state == TV_STATE_UNINTERRUPTIBLE || state == TV_STATE_IO) {
        struct tv_slice_place wait = view_state_wait(trace, place);
        struct tv_slice_place last = wait.row == TV_NONE ? place : wait;
        blocking = tv_states_blocking(trace, thread, tv_slice_start(trace, place.row, place.index),
                                      tv_slice_end(trace, last.row, last.index));
    }
    tv_out_text(out, ",\"blocked\":");
    if (!blocking) {
        tv_out_text(out, "null");
        return;
    }
    tv_member_text(out, "{\"caller\":", trace->head, blocking->caller);
    tv_member_flag(out, ",\"io\":", blocking->io);
    tv_out_char(out, '}');
}

/* Write what ran on the processor while the thread waited for it: [row, index, frame, time]. */
static void view_state_write_instead(struct tv_out *out, const struct tv_trace *trace,
                                     struct tv_slice_place wait, struct tv_slice_place run)
{
    uint32_t first = 0, end = 0, shown = 0;
    struct tv_slice_place cpu = {TV_NONE, TV_NONE};
    if (run.row != TV_NONE)
        cpu = tv_states_cpu_slice(trace, run);
    tv_ns from = 0, to = 0;
    if (cpu.row != TV_NONE) {
        from = tv_slice_start(trace, wait.row, wait.index);
        to = tv_slice_end(trace, wait.row, wait.index);
        tv_row_overlap(trace, cpu.row, from, to, &first, &end);
    }
    view_state_write_cpu(out, ",\"instead_cpu\":", trace, cpu);
    tv_out_text(out, ",\"instead\":[");
    for (uint32_t i = first; i < end && shown < INSTEAD_LIMIT; i++) {
        struct tv_slice slice = tv_slice_get(trace, cpu.row, i);
        tv_ns a = slice.start > from ? slice.start : from;
        tv_ns b = slice.start + slice.length < to ? slice.start + slice.length : to;
        tv_member_number(out, shown++ > 0 ? ",[" : "[", cpu.row);
        tv_member_number(out, ",", i);
        tv_member_number(out, ",", trace->paths.nodes[slice.path].frame);
        tv_member_number(out, ",", b > a ? b - a : 0);
        tv_out_char(out, ']');
    }
    tv_member_number(out, "],\"instead_left_out\":", (int64_t)(end - first) - shown);
}

/* Return the next slice of a row, if there is one. */
static struct tv_slice_place view_state_next(const struct tv_trace *trace,
                                             struct tv_slice_place place)
{
    assert(place.row == TV_NONE || place.row < trace->row_count);
    if (place.row == TV_NONE || place.index + 1 >= trace->rows[place.row].count)
        return (struct tv_slice_place){TV_NONE, TV_NONE};
    return (struct tv_slice_place){place.row, place.index + 1};
}

/* Return the state of the thread that left the processor when `follows` began. */
static struct tv_slice_place view_state_switched_out(const struct tv_trace *trace,
                                                     struct tv_slice_place follows)
{
    struct tv_slice_place found = {TV_NONE, TV_NONE};
    if (follows.row == TV_NONE)
        return found;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_STATES ||
            trace->tracks[i].input != trace->rows[follows.row].input)
            continue;
        found = tv_states_other_side(trace, i, follows);
        if (found.row != TV_NONE && view_state_at(trace, found) != TV_STATE_RUNNING)
            return found;
    }
    return (struct tv_slice_place){TV_NONE, TV_NONE};
}

/* Write the following state: [row, index, frame, length]. */
static void view_state_write_then(struct tv_out *out, const struct tv_trace *trace,
                                  struct tv_slice_place place)
{
    tv_out_text(out, ",\"then\":");
    if (place.row == TV_NONE) {
        tv_out_text(out, "null");
        return;
    }
    struct tv_slice slice = tv_slice_get(trace, place.row, place.index);
    tv_member_number(out, "[", place.row);
    tv_member_number(out, ",", place.index);
    tv_member_number(out, ",", trace->paths.nodes[slice.path].frame);
    tv_member_number(out, ",", slice.length);
    tv_out_char(out, ']');
}

/* Answer for a state of a thread. */
static void view_state_answer(struct tv_out *out, const struct tv_trace *trace,
                              struct tv_slice_place place)
{
    uint32_t thread = trace->tracks[trace->rows[place.row].track].thread;
    struct tv_slice_place wait = view_state_wait(trace, place),
                          run = view_state_run_after(trace, wait);
    struct tv_slice_place cpu = {TV_NONE, TV_NONE};
    enum tv_state state = view_state_at(trace, place);
    if (state == TV_STATE_RUNNING)
        cpu = tv_states_cpu_slice(trace, place);
    tv_out_format(out, "{\"kind\":\"state\",\"state\":\"%s\"", tv_state_name(state));
    tv_member_index(out, ",\"thread\":", thread);
    view_state_write_cpu(out, ",\"cpu\":", trace, cpu);
    view_state_write_place(out, ",\"cpu_slice\":", cpu);
    view_state_write_wakeup(out, trace, thread, wait, run);
    view_state_write_blocking(out, trace, thread, place);
    view_state_write_instead(out, trace, wait, run);
    view_state_write_then(out, trace, view_state_next(trace, place));
    tv_out_char(out, '}');
}

/* A thread that came and left at the same time has no running state; the state in which it left
 * identifies it. */
static void view_state_answer_cpu(struct tv_out *out, const struct tv_trace *trace,
                                  struct tv_slice_place place)
{
    struct tv_slice_place running = tv_states_running(trace, place);
    struct tv_slice_place then = running.row == TV_NONE
                                     ? view_state_switched_out(trace, view_state_next(trace, place))
                                     : view_state_next(trace, running);
    uint32_t known = running.row == TV_NONE ? then.row : running.row;
    uint32_t thread = known == TV_NONE ? TV_NONE : trace->tracks[trace->rows[known].track].thread;
    tv_out_text(out, "{\"kind\":\"cpu\"");
    view_state_write_cpu(out, ",\"cpu\":", trace, place);
    tv_member_index(out, ",\"thread\":", thread);
    view_state_write_place(out, ",\"running\":", running);
    view_state_write_then(out, trace, then);
    tv_out_char(out, '}');
}

/* Write how long the thread was in each state during one of its slices. */
static void view_state_answer_slice(struct tv_out *out, const struct tv_trace *trace,
                                    struct tv_slice_place place, uint32_t thread)
{
    struct tv_slice slice = tv_slice_get(trace, place.row, place.index);
    uint32_t track = tv_states_track(trace, thread), first = 0, end = 0;
    tv_ns times[TV_STATE_COUNT] = {0}, to = slice.start + slice.length;
    if (track != TV_NONE)
        tv_row_overlap(trace, trace->tracks[track].first_row, slice.start, to, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        struct tv_slice_place at = {trace->tracks[track].first_row, i};
        struct tv_slice state = tv_slice_get(trace, at.row, i);
        tv_ns a = state.start > slice.start ? state.start : slice.start;
        tv_ns b = state.start + state.length < to ? state.start + state.length : to;
        times[view_state_at(trace, at)] += b > a ? b - a : 0;
    }
    tv_out_format(out, "{\"kind\":\"%s\"", track == TV_NONE ? "none" : "slice");
    view_states_write_times(out, ",\"times\":[", times);
    tv_out_char(out, '}');
}

/* Answer api/state: about a thread's state, a processor's slice, or the states
 * during any other slice. */
enum tv_status tv_view_state(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    struct tv_slice_place place;
    enum tv_status status =
        tv_parameter_slice(parameters, view->trace, &place.row, &place.index, err);
    if (status != TV_OK)
        return status;
    const struct tv_track *track = &view->trace->tracks[view->trace->rows[place.row].track];
    if (track->kind == TV_TRACK_STATES)
        view_state_answer(out, view->trace, place);
    else if (track->kind == TV_TRACK_CPU)
        view_state_answer_cpu(out, view->trace, place);
    else
        view_state_answer_slice(out, view->trace, place,
                                track->kind == TV_TRACK_ASYNC ? TV_NONE : track->thread);
    return TV_OK;
}

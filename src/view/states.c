/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of threads and slices of processors: the tables of a selection, and what there is to say
 * of one of them beside what every slice has.
 */
#include "analysis/states/states.h"

#include "base/memory.h"
#include "view/members.h"
#include "view/state.h"

#define INSTEAD_LIMIT 200 /* slices that are listed */

static struct tv_bytes thread_name(const struct tv_trace *trace, uint32_t thread)
{
    return tv_head_text(trace->head, trace->head->threads[thread].name);
}

/* ---- The tables ---- */

/* Which threads and processors the tracks of a selection mean. */
struct wanted {
    bool *threads, *cpus; /* NULL: all */
};

static struct wanted want(const struct tv_trace *trace, const struct tv_selection *selection)
{
    struct wanted wanted = {NULL, NULL};
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

static void write_times(struct tv_out *out, const char *before, const tv_ns times[TV_STATE_COUNT])
{
    for (uint32_t i = 0; i < TV_STATE_COUNT; i++)
        tv_member_number(out, i > 0 ? "," : before, times[i]);
    tv_out_char(out, ']');
}

/* [processor, time] of those that it ran on. */
static void write_runs(struct tv_out *out, const struct tv_thread_run *runs, uint32_t count)
{
    tv_out_text(out, ",[");
    for (uint32_t i = 0; i < count; i++) {
        tv_member_number(out, i > 0 ? ",[" : "[", runs[i].cpu);
        tv_member_number(out, ",", runs[i].time);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

/* [thread, id, name, process, [times], wake-ups, longest wait, its row, its index, [on CPUs]] */
static void write_thread(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_states *states, uint32_t number)
{
    const struct tv_head *head = trace->head;
    const struct tv_thread_states *row = &states->threads[number];
    const struct tv_thread *thread = row->thread == TV_NONE ? NULL : &head->threads[row->thread];
    tv_member_index(out, "[", row->thread);
    tv_member_number(out, ",", thread ? (int64_t)thread->id : 0);
    tv_member_text(out, ",", head, thread ? thread->name : head->frames[row->frame].name);
    tv_member_index(out, ",", thread ? thread->process : TV_NONE);
    write_times(out, ",[", row->time);
    tv_member_number(out, ",", (int64_t)row->wakeups);
    tv_member_number(out, ",", row->longest_wait);
    tv_member_index(out, ",", row->longest.row);
    tv_member_index(out, ",", row->longest.index);
    write_runs(out, states->runs + row->first_run, row->run_count);
    tv_out_char(out, ']');
}

static void write_states(struct tv_out *out, const struct tv_trace *trace,
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
        write_thread(out, trace, states, i);
    }
    tv_out_text(out, "]}");
}

enum tv_status tv_view_states(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    struct tv_selection selection;
    enum tv_status status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct wanted wanted = want(view->trace, &selection);
    struct tv_states_question question = {selection.from, selection.to, wanted.threads,
                                          wanted.cpus};
    struct tv_states *states = tv_states_of(view->trace, &question);
    write_states(out, view->trace, states);
    tv_states_free(states);
    tv_free(wanted.threads);
    tv_free(wanted.cpus);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

/* ---- One state ---- */

static enum tv_state state_of(const struct tv_trace *trace, struct tv_slice_place place)
{
    uint32_t path = tv_slice_get(trace, place.row, place.index).path;
    return tv_state_of_frame(trace->head, trace->paths.nodes[path].frame);
}

static void write_place(struct tv_out *out, const char *key, struct tv_slice_place place)
{
    tv_out_text(out, key);
    if (place.row == TV_NONE) {
        tv_out_text(out, "null");
        return;
    }
    tv_member_number(out, "[", place.row);
    tv_member_number(out, ",", place.index);
    tv_out_char(out, ']');
}

/* The number of the processor whose track a slice lies in, or -1. */
static void write_cpu(struct tv_out *out, const char *key, const struct tv_trace *trace,
                      struct tv_slice_place place)
{
    tv_member_index(out, key,
                    place.row == TV_NONE ? TV_NONE
                                         : tv_cpu_number(trace, trace->rows[place.row].track));
}

/* The wait for a processor that a state belongs to: what comes behind a sleep, what stands before a
 * run, or itself. */
static struct tv_slice_place wait_of(const struct tv_trace *trace, struct tv_slice_place place)
{
    const struct tv_slice_place none = {TV_NONE, TV_NONE};
    enum tv_state state = state_of(trace, place);
    struct tv_slice_place wait = place;
    if (tv_state_is_wait(state))
        return place;
    if (state == TV_STATE_RUNNING && place.index == 0)
        return none;
    wait.index = state == TV_STATE_RUNNING ? place.index - 1 : place.index + 1;
    if (wait.index >= trace->rows[place.row].count || !tv_state_is_wait(state_of(trace, wait)))
        return none;
    return wait;
}

/* The run that ended a wait. */
static struct tv_slice_place run_behind(const struct tv_trace *trace, struct tv_slice_place wait)
{
    struct tv_slice_place run = {wait.row, wait.index + 1};
    if (wait.row != TV_NONE && run.index < trace->rows[wait.row].count &&
        state_of(trace, run) == TV_STATE_RUNNING)
        return run;
    return (struct tv_slice_place){TV_NONE, TV_NONE};
}

/* Who woke the thread, where that one ran, and how long it took until this one did. */
static void write_wakeup(struct tv_out *out, const struct tv_trace *trace, uint32_t thread,
                         struct tv_slice_place wait, struct tv_slice_place run)
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
    if (by.row != TV_NONE && state_of(trace, by) == TV_STATE_RUNNING)
        cpu = tv_states_cpu_slice(trace, by);
    tv_member_number(out, "{\"time_ns\":", time);
    tv_member_index(out, ",\"by\":", wakeup->by);
    tv_out_text(out, ",\"name\":");
    tv_out_json(out, wakeup->by == TV_NONE ? TV_BYTES("") : thread_name(trace, wakeup->by));
    write_place(out, ",\"slice\":", by);
    write_cpu(out, ",\"cpu\":", trace, cpu);
    write_place(out, ",\"run\":", run);
    tv_member_number(out, ",\"latency_ns\":",
                     run.row == TV_NONE ? -1 : tv_slice_start(trace, run.row, run.index) - time);
    tv_out_char(out, '}');
}

/* Why it was blocked: said when it is woken, by some kernels a moment behind. */
static void write_blocking(struct tv_out *out, const struct tv_trace *trace, uint32_t thread,
                           struct tv_slice_place place)
{
    enum tv_state state = state_of(trace, place);
    const struct tv_blocking *blocking = NULL;
    if (state == TV_STATE_UNINTERRUPTIBLE || state == TV_STATE_IO) {
        struct tv_slice_place wait = wait_of(trace, place);
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

/* What ran on the processor while the thread waited for it: [row, index, frame, time]. */
static void write_instead(struct tv_out *out, const struct tv_trace *trace,
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
    write_cpu(out, ",\"instead_cpu\":", trace, cpu);
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

static struct tv_slice_place behind(const struct tv_trace *trace, struct tv_slice_place place)
{
    if (place.row == TV_NONE || place.index + 1 >= trace->rows[place.row].count)
        return (struct tv_slice_place){TV_NONE, TV_NONE};
    return (struct tv_slice_place){place.row, place.index + 1};
}

/* The state of the thread that left the processor when what follows there came. */
static struct tv_slice_place left_for(const struct tv_trace *trace, struct tv_slice_place follows)
{
    struct tv_slice_place found = {TV_NONE, TV_NONE};
    if (follows.row == TV_NONE)
        return found;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_STATES ||
            trace->tracks[i].input != trace->rows[follows.row].input)
            continue;
        found = tv_states_other_side(trace, i, follows);
        if (found.row != TV_NONE && state_of(trace, found) != TV_STATE_RUNNING)
            return found;
    }
    return (struct tv_slice_place){TV_NONE, TV_NONE};
}

/* The state that follows: [row, index, frame, length]. */
static void write_then(struct tv_out *out, const struct tv_trace *trace,
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

static void answer_state(struct tv_out *out, const struct tv_trace *trace,
                         struct tv_slice_place place)
{
    uint32_t thread = trace->tracks[trace->rows[place.row].track].thread;
    struct tv_slice_place wait = wait_of(trace, place), run = run_behind(trace, wait);
    struct tv_slice_place cpu = {TV_NONE, TV_NONE};
    enum tv_state state = state_of(trace, place);
    if (state == TV_STATE_RUNNING)
        cpu = tv_states_cpu_slice(trace, place);
    tv_out_format(out, "{\"kind\":\"state\",\"state\":\"%s\"", tv_state_name(state));
    tv_member_index(out, ",\"thread\":", thread);
    write_cpu(out, ",\"cpu\":", trace, cpu);
    write_place(out, ",\"cpu_slice\":", cpu);
    write_wakeup(out, trace, thread, wait, run);
    write_blocking(out, trace, thread, place);
    write_instead(out, trace, wait, run);
    write_then(out, trace, behind(trace, place));
    tv_out_char(out, '}');
}

/* Who came and left at one time has no state of running: then the state tells in which it left. */
static void answer_cpu(struct tv_out *out, const struct tv_trace *trace,
                       struct tv_slice_place place)
{
    struct tv_slice_place running = tv_states_running(trace, place);
    struct tv_slice_place then =
        running.row == TV_NONE ? left_for(trace, behind(trace, place)) : behind(trace, running);
    uint32_t known = running.row == TV_NONE ? then.row : running.row;
    uint32_t thread = known == TV_NONE ? TV_NONE : trace->tracks[trace->rows[known].track].thread;
    tv_out_text(out, "{\"kind\":\"cpu\"");
    write_cpu(out, ",\"cpu\":", trace, place);
    tv_member_index(out, ",\"thread\":", thread);
    write_place(out, ",\"running\":", running);
    write_then(out, trace, then);
    tv_out_char(out, '}');
}

/* How long the thread was in which state during one of its slices. */
static void answer_slice(struct tv_out *out, const struct tv_trace *trace,
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
        times[state_of(trace, at)] += b > a ? b - a : 0;
    }
    tv_out_format(out, "{\"kind\":\"%s\"", track == TV_NONE ? "none" : "slice");
    write_times(out, ",\"times\":[", times);
    tv_out_char(out, '}');
}

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
        answer_state(out, view->trace, place);
    else if (track->kind == TV_TRACK_CPU)
        answer_cpu(out, view->trace, place);
    else
        answer_slice(out, view->trace, place,
                     track->kind == TV_TRACK_ASYNC ? TV_NONE : track->thread);
    return TV_OK;
}

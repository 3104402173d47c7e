/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of thread states.  One pass over each wanted track adds clipped slices to rows, one row per
 * thread (or per name, for processors without thread states).  To know on which processor a thread
 * ran, the running states are matched with processor slices by their event: both begin at the same
 * offset of the same input.
 *
 *     offset in the file     120            180            260
 *     thread 7, states       | running 120  | sleeping 180 | running 260
 *     thread 9, states       | runnable     | running 180  |
 *     processor 0            | thread 7 120 | thread 9 180 |
 *     processor 1                                          | thread 7 260
 *
 * Times would not do as a key: two processors may switch in the same nanosecond.
 *
 * A file may have processors without states; then the name of a slice stands for a thread.  When
 * threads are asked for by number, such names cannot answer and get no rows.
 */
#include "analysis/states/states.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/assembly/assembly.h"

/* Time that one thread ran on one processor. */
struct states_run {
    uint32_t row; /* in states->threads */
    struct tv_thread_run run;
};

struct states_sums {
    const struct tv_trace *trace;
    const struct tv_states_question *question;
    struct tv_states *states;
    uint32_t *cpu_of_track;                 /* [track_count] index in states->cpus, or TV_NONE */
    uint32_t *row_of_thread, *row_of_frame; /* index in states->threads, or TV_NONE */
    struct states_run *cells;
    struct tv_map cell_of; /* (row, processor) -> index in `cells` */
    struct tv_map
        cpu_of_event; /* (input, offset) of a processor's slice -> index in states->cpus */
    bool *has_states; /* [input_count] */
    uint32_t cell_count;
    size_t thread_capacity, cell_capacity;
};

/* Return true when the question is about this thread or processor; NULL: about all. */
static bool states_is_wanted(const bool *wanted, uint32_t place)
{
    return !wanted || wanted[place];
}

/* Order processors by number, then by track, for traces of several machines. */
static int states_compare_cpus(const void *left, const void *right)
{
    const struct tv_cpu_use *a = left, *b = right;
    if (a->busy != b->busy) /* `busy` still holds the processor's number here */
        return a->busy < b->busy ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* Return how much of [from, to) is in the range. */
static tv_ns states_clip_times(const struct tv_states *states, tv_ns from, tv_ns to)
{
    from = from > states->from ? from : states->from;
    to = to < states->to ? to : states->to;
    return to > from ? to - from : 0;
}

/* Return how much of the range is before a processor is known, or after the end of its input. */
static tv_ns states_unknown_time(const struct states_sums *s, uint32_t number)
{
    const struct tv_trace *trace = s->trace;
    const struct tv_track *track = &trace->tracks[number];
    const struct tv_input *input = &trace->head->inputs[track->input];
    uint32_t row = track->first_row, count = trace->rows[row].count;
    tv_ns end = tv_trace_time(trace, track->input, input->origin + input->last_wall);
    tv_ns last = count > 0 ? tv_slice_end(trace, row, count - 1) : end;
    tv_ns known =
        tv_trace_time(trace, track->input, track->first_wall * tv_track_tick(trace, number));
    return states_clip_times(s->states, s->states->from, known) +
           states_clip_times(s->states, end > last ? end : last, s->states->to);
}

/* List the processors and the time that nothing is known about each of them. */
static void states_find_cpus(struct states_sums *s)
{
    const struct tv_trace *trace = s->trace;
    struct tv_states *states = s->states;
    states->cpus = tv_alloc(trace->track_count, sizeof *states->cpus);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU && states_is_wanted(s->question->cpus, i))
            states->cpus[states->cpu_count++] = (struct tv_cpu_use){i, tv_cpu_number(trace, i), 0};
    if (states->cpu_count > 0)
        qsort(states->cpus, states->cpu_count, sizeof *states->cpus, states_compare_cpus);
    if (states->cpu_count > TV_STATES_CPUS)
        states->cpu_count = TV_STATES_CPUS;
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        s->cpu_of_track[states->cpus[i].track] = i;
        states->cpus[i].busy = 0;
        states->cpus[i].unknown = states_unknown_time(s, states->cpus[i].track);
    }
}

/* Add a row for a thread or a name; return its index. */
static uint32_t states_add_row(struct states_sums *s, uint32_t thread, uint32_t frame)
{
    struct tv_states *states = s->states;
    uint32_t at = states->thread_count++;
    states->threads = tv_array_reserve(states->threads, &s->thread_capacity, states->thread_count,
                                       sizeof *states->threads);
    states->threads[at] =
        (struct tv_thread_states){.thread = thread, .frame = frame, .longest = {TV_NONE, TV_NONE}};
    return at;
}

/* Return the row of a thread. */
static uint32_t states_row_of_thread(struct states_sums *s, uint32_t thread)
{
    if (s->row_of_thread[thread] == TV_NONE)
        s->row_of_thread[thread] = states_add_row(s, thread, TV_NONE);
    return s->row_of_thread[thread];
}

/* Return the row of a name, which stands for a thread where processors are all that the file
 * has. */
static uint32_t states_row_of_frame(struct states_sums *s, uint32_t frame)
{
    if (s->row_of_frame[frame] == TV_NONE)
        s->row_of_frame[frame] = states_add_row(s, TV_NONE, frame);
    return s->row_of_frame[frame];
}

/* Return how much of a slice is in the range. */
static tv_ns states_clip(const struct tv_states *states, const struct tv_slice *slice)
{
    return states_clip_times(states, slice->start, slice->start + slice->length);
}

/* Add running time of a thread on a processor. */
static void states_add_run(struct states_sums *s, uint32_t row, uint32_t cpu, tv_ns time)
{
    assert(row < s->states->thread_count && cpu < s->states->cpu_count);
    uint32_t at = tv_map_add(&s->cell_of, (uint64_t)row << 32 | cpu, s->cell_count);
    if (at == s->cell_count) {
        s->cells = tv_array_reserve(s->cells, &s->cell_capacity, (size_t)s->cell_count + 1,
                                    sizeof *s->cells);
        s->cells[s->cell_count++] = (struct states_run){row, {cpu, 0}};
    }
    tv_time_add(&s->cells[at].run.time, time);
    tv_time_add(&s->states->threads[row].ran, time);
}

/* Identify an event.  One switch begins both the running state of a thread and the slice of its
 * processor. */
static uint64_t states_event_key(const struct states_sums *s, struct tv_slice_place place)
{
    uint64_t input = s->trace->rows[place.row].input;
    return input << 48 | tv_slice_offset(s->trace, place.row, place.index);
}

/* Add a running state to its processor, if that is known. */
static void states_add_running(struct states_sums *s, uint32_t row, struct tv_slice_place place,
                               tv_ns time)
{
    uint32_t cpu = tv_map_find(&s->cpu_of_event, states_event_key(s, place));
    if (cpu != TV_NONE)
        states_add_run(s, row, cpu, time);
}

/* Add a state to its thread's sums. */
static void states_add_state(struct states_sums *s, uint32_t row, struct tv_slice_place place,
                             const struct tv_slice *slice)
{
    const struct tv_trace *trace = s->trace;
    struct tv_thread_states *thread = &s->states->threads[row];
    uint32_t frame = trace->paths.nodes[slice->path].frame;
    enum tv_state state = tv_state_of_frame(trace->head, frame);
    tv_ns time = states_clip(s->states, slice);
    tv_time_add(&thread->time[state], time);
    tv_time_add(&thread->total, time);
    if (tv_state_is_wait(state) && time > thread->longest_wait) {
        thread->longest_wait = time;
        thread->longest = place;
    }
    if (state == TV_STATE_RUNNING)
        states_add_running(s, row, place, time);
}

/* Call `take` for each slice of a track that touches the range. */
static void states_each_slice(struct states_sums *s, uint32_t track,
                              void (*take)(struct states_sums *s, uint32_t track,
                                           struct tv_slice_place place,
                                           const struct tv_slice *slice))
{
    struct tv_slice slices[64];
    uint32_t row = s->trace->tracks[track].first_row, first, end;
    tv_row_overlap(s->trace, row, s->states->from, s->states->to, &first, &end);
    for (uint32_t count; first < end; first += count) {
        count = end - first < TV_COUNT(slices) ? end - first : (uint32_t)TV_COUNT(slices);
        tv_slices_read(s->trace, row, first, count, slices);
        for (uint32_t i = 0; i < count; i++)
            take(s, track, (struct tv_slice_place){row, first + i}, &slices[i]);
    }
}

/* Add a slice of a thread's states. */
static void states_take_state(struct states_sums *s, uint32_t track, struct tv_slice_place place,
                              const struct tv_slice *slice)
{
    states_add_state(s, states_row_of_thread(s, s->trace->tracks[track].thread), place, slice);
}

/* Add a slice of a processor to its busy time; idle time has no slice. */
static void states_take_busy(struct states_sums *s, uint32_t track, struct tv_slice_place place,
                             const struct tv_slice *slice)
{
    (void)place;
    tv_time_add(&s->states->cpus[s->cpu_of_track[track]].busy, states_clip(s->states, slice));
}

/* Add a slice of a processor whose threads have no states. */
static void states_take_named(struct states_sums *s, uint32_t track, struct tv_slice_place place,
                              const struct tv_slice *slice)
{
    states_take_busy(s, track, place, slice);
    states_add_run(s, states_row_of_frame(s, s->trace->paths.nodes[slice->path].frame),
                   s->cpu_of_track[track], states_clip(s->states, slice));
}

/* Return true if a moment is in the range.  A moment at its end belongs to what follows, except
 * at the end of the trace. */
static bool states_range_has(const struct states_sums *s, tv_ns time)
{
    const struct tv_states *states = s->states;
    return time >= states->from &&
           (time < states->to || (time == states->to && time == s->trace->end));
}

/* Count wakeups; a thread may be known from nothing else. */
static void states_count_wakeups(struct states_sums *s)
{
    const struct tv_tables *tables = &s->trace->tables;
    for (size_t i = 0; i < tables->wakeups.count; i++) {
        const struct tv_wakeup *wakeup = &tables->wakeups.rows[i];
        tv_ns time = tv_trace_time(s->trace, wakeup->input, wakeup->time);
        if (!states_range_has(s, time) || !states_is_wanted(s->question->threads, wakeup->thread))
            continue;
        uint32_t row = states_row_of_thread(s, wakeup->thread); /* may move the array */
        s->states->threads[row].wakeups++;
    }
}

/* Remember the processor of the event that began a slice. */
static void states_note_event(struct states_sums *s, uint32_t track, struct tv_slice_place place,
                              const struct tv_slice *slice)
{
    (void)slice;
    tv_map_set(&s->cpu_of_event, states_event_key(s, place), s->cpu_of_track[track]);
}

/* Walk all tracks. */
static void states_sum_all(struct states_sums *s)
{
    const struct tv_trace *trace = s->trace;
    for (uint32_t i = 0; i < s->states->cpu_count; i++)
        states_each_slice(s, s->states->cpus[i].track, states_note_event);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_STATES)
            continue;
        s->has_states[track->input] = true;
        if (states_is_wanted(s->question->threads, track->thread))
            states_each_slice(s, i, states_take_state);
    }
    for (uint32_t i = 0; i < s->states->cpu_count; i++) {
        uint32_t track = s->states->cpus[i].track;
        bool named = !s->question->threads && !s->has_states[trace->tracks[track].input];
        states_each_slice(s, track, named ? states_take_named : states_take_busy);
    }
    states_count_wakeups(s);
}

/* A row with its original position. */
struct ranked_states {
    struct tv_thread_states states;
    uint32_t at;
};

/* Order threads by running time, the longest first. */
static int states_compare_ran(const void *left, const void *right)
{
    const struct ranked_states *a = left, *b = right;
    tv_ns x = a->states.ran > 0 ? a->states.ran : a->states.time[TV_STATE_RUNNING];
    tv_ns y = b->states.ran > 0 ? b->states.ran : b->states.time[TV_STATE_RUNNING];
    if (x != y)
        return x > y ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Return true if the range has anything of a thread. */
static bool states_has_thread(const struct states_sums *s, const struct tv_thread_states *thread)
{
    return thread->ran > 0 || (!s->question->cpus && (thread->total > 0 || thread->wakeups > 0));
}

/* Order by row, then by processor. */
static int states_compare_runs(const void *left, const void *right)
{
    const struct states_run *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->run.cpu > b->run.cpu) - (a->run.cpu < b->run.cpu);
}

/* Make the runs of each row neighbours. */
static void states_group_runs(struct states_sums *s)
{
    struct tv_states *states = s->states;
    states->runs = tv_alloc(s->cell_count, sizeof *states->runs);
    if (s->cell_count > 0)
        qsort(s->cells, s->cell_count, sizeof *s->cells, states_compare_runs);
    for (uint32_t i = 0; i < s->cell_count; i++) {
        struct tv_thread_states *thread = &states->threads[s->cells[i].row];
        if (thread->run_count++ == 0)
            thread->first_run = i;
        states->runs[i] = s->cells[i].run;
    }
}

/* Sort the rows and drop empty ones. */
static void states_rank(struct states_sums *s)
{
    struct tv_states *states = s->states;
    uint32_t count = 0;
    struct ranked_states *ranked = tv_alloc(states->thread_count, sizeof *ranked);
    for (uint32_t i = 0; i < states->thread_count; i++)
        if (states_has_thread(s, &states->threads[i]))
            ranked[count++] = (struct ranked_states){states->threads[i], i};
    if (count > 0)
        qsort(ranked, count, sizeof *ranked, states_compare_ran);
    for (uint32_t i = 0; i < count; i++)
        states->threads[i] = ranked[i].states;
    states->thread_count = count;
    tv_free(ranked);
}

/* Return an array that assigns no row to anything yet. */
static uint32_t *states_none(uint32_t count)
{
    uint32_t *rows = tv_alloc(count, sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = TV_NONE;
    return rows;
}

bool tv_trace_has_states(const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        enum tv_track_kind kind = trace->tracks[i].kind;
        if (kind == TV_TRACK_CPU || kind == TV_TRACK_STATES)
            return true;
    }
    return false;
}

struct tv_states *tv_states_of(const struct tv_trace *trace,
                               const struct tv_states_question *question)
{
    struct tv_states *states = tv_alloc(1, sizeof *states);
    struct states_sums s = {
        .trace = trace,
        .question = question,
        .states = states,
        .cpu_of_track = states_none(trace->track_count),
        .row_of_thread = states_none(trace->head->thread_count),
        .row_of_frame = states_none(trace->head->frame_count),
        .has_states = tv_alloc(trace->head->input_count, sizeof(bool)),
    };
    states->from = question->from > trace->start ? question->from : trace->start;
    states->to = question->to < trace->end ? question->to : trace->end;
    if (states->to < states->from)
        states->to = states->from;
    states_find_cpus(&s);
    tv_map_init(&s.cell_of);
    tv_map_init(&s.cpu_of_event);
    states_sum_all(&s);
    states_group_runs(&s);
    states_rank(&s);
    tv_map_release(&s.cell_of);
    tv_map_release(&s.cpu_of_event);
    tv_free(s.has_states);
    tv_free(s.cells);
    tv_free(s.cpu_of_track);
    tv_free(s.row_of_thread);
    tv_free(s.row_of_frame);
    return states;
}

void tv_states_free(struct tv_states *states)
{
    if (!states)
        return;
    tv_free(states->threads);
    tv_free(states->cpus);
    tv_free(states->runs);
    tv_free(states);
}

tv_ns tv_states_ran(const struct tv_states *states, uint32_t thread, uint32_t cpu)
{
    assert(thread < states->thread_count);
    const struct tv_thread_states *row = &states->threads[thread];
    uint32_t low = row->first_run, end = low + row->run_count;
    TV_LOWER_BOUND(low, end, i, states->runs[i].cpu < cpu);
    return low < end && states->runs[low].cpu == cpu ? states->runs[low].time : 0;
}

/* ---- Single states ----
 */

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

/* The thread that was switched out at the same event also has a state that begins there; only the
 * running one is meant. */
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
    const struct tv_wakeup *rows = tables->wakeups.rows;
    size_t low = 0;
    TV_LOWER_BOUND(low, tables->wakeups.count, i,
                   rows[i].thread != thread
                       ? rows[i].thread < thread
                       : tv_trace_time(trace, rows[i].input, rows[i].time) < time);
    if (low == tables->wakeups.count)
        return NULL;
    const struct tv_wakeup *found = &rows[low];
    bool same = found->thread == thread && tv_trace_time(trace, found->input, found->time) == time;
    return same ? found : NULL;
}

const struct tv_blocking *tv_states_blocking(const struct tv_trace *trace, uint32_t thread,
                                             tv_ns from, tv_ns to)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_blocking *rows = tables->blockings.rows;
    size_t low = 0;
    TV_LOWER_BOUND(low, tables->blockings.count, i,
                   rows[i].thread != thread
                       ? rows[i].thread < thread
                       : tv_trace_time(trace, rows[i].input, rows[i].time) < from);
    if (low == tables->blockings.count)
        return NULL;
    const struct tv_blocking *found = &rows[low];
    bool fits = found->thread == thread && tv_trace_time(trace, found->input, found->time) <= to;
    return fits ? found : NULL;
}

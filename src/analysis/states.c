/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/states.h"

#include <stdlib.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"

/* The time that one row ran on one processor. */
struct cell {
    uint32_t row; /* of states->threads */
    struct tv_thread_run run;
};

struct summing {
    const struct tv_trace *trace;
    const struct tv_states_question *question;
    struct tv_states *states;
    uint32_t *cpu_of_track;                 /* [track_count] which of states->cpus; TV_NONE: none */
    uint32_t *row_of_thread, *row_of_frame; /* which of states->threads; TV_NONE: none yet */
    struct cell *cells;
    struct tv_map cell_of;      /* (row, processor) -> place in `cells` */
    struct tv_map cpu_of_event; /* (input, offset) of a slice of states->cpus -> which of them */
    bool *has_states;           /* [input_count] */
    uint32_t cell_count;
    size_t thread_capacity, cell_capacity;
};

static bool is_wanted(const bool *wanted, uint32_t place)
{
    return !wanted || wanted[place];
}

static int compare_cpus(const void *left, const void *right)
{
    const struct tv_cpu_use *a = left, *b = right;
    if (a->busy != b->busy) /* their numbers, as yet */
        return a->busy < b->busy ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* What of the range lies in [from, to). */
static tv_ns clip_times(const struct tv_states *states, tv_ns from, tv_ns to)
{
    from = from > states->from ? from : states->from;
    to = to < states->to ? to : states->to;
    return to > from ? to - from : 0;
}

/* What of the range lies before a processor is known, or behind the end of its input. */
static tv_ns unknown_of(const struct summing *s, uint32_t number)
{
    const struct tv_trace *trace = s->trace;
    const struct tv_track *track = &trace->tracks[number];
    const struct tv_input *input = &trace->head->inputs[track->input];
    uint32_t row = track->first_row, count = trace->rows[row].count;
    tv_ns end = tv_trace_time(trace, track->input, input->origin + input->last_wall);
    tv_ns last = count > 0 ? tv_slice_end(trace, row, count - 1) : end;
    tv_ns known =
        tv_trace_time(trace, track->input, track->first_wall * tv_track_tick(trace, number));
    return clip_times(s->states, s->states->from, known) +
           clip_times(s->states, end > last ? end : last, s->states->to);
}

static void find_cpus(struct summing *s)
{
    const struct tv_trace *trace = s->trace;
    struct tv_states *states = s->states;
    states->cpus = tv_alloc(trace->track_count, sizeof *states->cpus);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU && is_wanted(s->question->cpus, i))
            states->cpus[states->cpu_count++] = (struct tv_cpu_use){i, tv_cpu_number(trace, i), 0};
    if (states->cpu_count > 0)
        qsort(states->cpus, states->cpu_count, sizeof *states->cpus, compare_cpus);
    if (states->cpu_count > TV_STATES_CPUS)
        states->cpu_count = TV_STATES_CPUS;
    for (uint32_t i = 0; i < states->cpu_count; i++) {
        s->cpu_of_track[states->cpus[i].track] = i;
        states->cpus[i].busy = 0;
        states->cpus[i].unknown = unknown_of(s, states->cpus[i].track);
    }
}

/* The number of a new row for a thread or a name. */
static uint32_t add_row(struct summing *s, uint32_t thread, uint32_t frame)
{
    struct tv_states *states = s->states;
    uint32_t at = states->thread_count++;
    states->threads = tv_array_reserve(states->threads, &s->thread_capacity, states->thread_count,
                                       sizeof *states->threads);
    states->threads[at] =
        (struct tv_thread_states){.thread = thread, .frame = frame, .longest = {TV_NONE, TV_NONE}};
    return at;
}

static uint32_t row_for_thread(struct summing *s, uint32_t thread)
{
    if (s->row_of_thread[thread] == TV_NONE)
        s->row_of_thread[thread] = add_row(s, thread, TV_NONE);
    return s->row_of_thread[thread];
}

static uint32_t row_for_frame(struct summing *s, uint32_t frame)
{
    if (s->row_of_frame[frame] == TV_NONE)
        s->row_of_frame[frame] = add_row(s, TV_NONE, frame);
    return s->row_of_frame[frame];
}

static tv_ns clip(const struct tv_states *states, const struct tv_slice *slice)
{
    return clip_times(states, slice->start, slice->start + slice->length);
}

static void add_ran(struct summing *s, uint32_t row, uint32_t cpu, tv_ns time)
{
    uint32_t at = tv_map_add(&s->cell_of, (uint64_t)row << 32 | cpu, s->cell_count);
    if (at == s->cell_count) {
        s->cells = tv_array_reserve(s->cells, &s->cell_capacity, (size_t)s->cell_count + 1,
                                    sizeof *s->cells);
        s->cells[s->cell_count++] = (struct cell){row, {cpu, 0}};
    }
    tv_time_add(&s->cells[at].run.time, time);
    tv_time_add(&s->states->threads[row].ran, time);
}

/* One event, a switch, begins the running state of a thread and the slice of its processor. */
static uint64_t event_of(const struct summing *s, struct tv_slice_place place)
{
    uint64_t input = s->trace->rows[place.row].input;
    return input << 48 | tv_slice_offset(s->trace, place.row, place.index);
}

static void add_running(struct summing *s, uint32_t row, struct tv_slice_place place, tv_ns time)
{
    uint32_t cpu = tv_map_find(&s->cpu_of_event, event_of(s, place));
    if (cpu != TV_NONE)
        add_ran(s, row, cpu, time);
}

static void add_state(struct summing *s, uint32_t row, struct tv_slice_place place,
                      const struct tv_slice *slice)
{
    const struct tv_trace *trace = s->trace;
    struct tv_thread_states *thread = &s->states->threads[row];
    uint32_t frame = trace->paths.nodes[slice->path].frame;
    enum tv_state state = tv_state_of_frame(trace->head, frame);
    tv_ns time = clip(s->states, slice);
    tv_time_add(&thread->time[state], time);
    tv_time_add(&thread->total, time);
    if (tv_state_is_wait(state) && time > thread->longest_wait) {
        thread->longest_wait = time;
        thread->longest = place;
    }
    if (state == TV_STATE_RUNNING)
        add_running(s, row, place, time);
}

/* Calls `take` for each slice of a track that touches the range. */
static void each_slice(struct summing *s, uint32_t track,
                       void (*take)(struct summing *s, uint32_t track, struct tv_slice_place place,
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

static void take_state(struct summing *s, uint32_t track, struct tv_slice_place place,
                       const struct tv_slice *slice)
{
    add_state(s, row_for_thread(s, s->trace->tracks[track].thread), place, slice);
}

static void take_busy(struct summing *s, uint32_t track, struct tv_slice_place place,
                      const struct tv_slice *slice)
{
    (void)place;
    tv_time_add(&s->states->cpus[s->cpu_of_track[track]].busy, clip(s->states, slice));
}

/* Of a processor whose threads have no states. */
static void take_named(struct summing *s, uint32_t track, struct tv_slice_place place,
                       const struct tv_slice *slice)
{
    take_busy(s, track, place, slice);
    add_ran(s, row_for_frame(s, s->trace->paths.nodes[slice->path].frame), s->cpu_of_track[track],
            clip(s->states, slice));
}

/* A moment at the end of a range belongs to what follows, if anything does. */
static bool has_moment(const struct summing *s, tv_ns time)
{
    const struct tv_states *states = s->states;
    return time >= states->from &&
           (time < states->to || (time == states->to && time == s->trace->end));
}

/* A thread may be known by nothing else. */
static void count_wakeups(struct summing *s)
{
    const struct tv_tables *tables = &s->trace->tables;
    for (size_t i = 0; i < tables->wakeups.count; i++) {
        const struct tv_wakeup *wakeup = &tables->wakeups.rows[i];
        tv_ns time = tv_trace_time(s->trace, wakeup->input, wakeup->time);
        if (!has_moment(s, time) || !is_wanted(s->question->threads, wakeup->thread))
            continue;
        uint32_t row = row_for_thread(s, wakeup->thread); /* the table may move */
        s->states->threads[row].wakeups++;
    }
}

static void note_event(struct summing *s, uint32_t track, struct tv_slice_place place,
                       const struct tv_slice *slice)
{
    (void)slice;
    tv_map_set(&s->cpu_of_event, event_of(s, place), s->cpu_of_track[track]);
}

static void sum_all(struct summing *s)
{
    const struct tv_trace *trace = s->trace;
    for (uint32_t i = 0; i < s->states->cpu_count; i++)
        each_slice(s, s->states->cpus[i].track, note_event);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_STATES)
            continue;
        s->has_states[track->input] = true;
        if (is_wanted(s->question->threads, track->thread))
            each_slice(s, i, take_state);
    }
    for (uint32_t i = 0; i < s->states->cpu_count; i++) {
        uint32_t track = s->states->cpus[i].track;
        bool named = !s->question->threads && !s->has_states[trace->tracks[track].input];
        each_slice(s, track, named ? take_named : take_busy);
    }
    count_wakeups(s);
}

/* A row and where its times on processors stand. */
struct ranked {
    struct tv_thread_states states;
    uint32_t at;
};

static int compare_ran(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    tv_ns x = a->states.ran > 0 ? a->states.ran : a->states.time[TV_STATE_RUNNING];
    tv_ns y = b->states.ran > 0 ? b->states.ran : b->states.time[TV_STATE_RUNNING];
    if (x != y)
        return x > y ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Whether the range has anything of it. */
static bool is_there(const struct summing *s, const struct tv_thread_states *thread)
{
    return thread->ran > 0 || (!s->question->cpus && (thread->total > 0 || thread->wakeups > 0));
}

static int compare_cells(const void *left, const void *right)
{
    const struct cell *a = left, *b = right;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->run.cpu > b->run.cpu) - (a->run.cpu < b->run.cpu);
}

/* Puts the runs of each row side by side. */
static void settle_runs(struct summing *s)
{
    struct tv_states *states = s->states;
    states->runs = tv_alloc(s->cell_count, sizeof *states->runs);
    if (s->cell_count > 0)
        qsort(s->cells, s->cell_count, sizeof *s->cells, compare_cells);
    for (uint32_t i = 0; i < s->cell_count; i++) {
        struct tv_thread_states *thread = &states->threads[s->cells[i].row];
        if (thread->run_count++ == 0)
            thread->first_run = i;
        states->runs[i] = s->cells[i].run;
    }
}

/* Puts the rows into their order, without those of which there is nothing. */
static void rank(struct summing *s)
{
    struct tv_states *states = s->states;
    uint32_t count = 0;
    struct ranked *ranked = tv_alloc(states->thread_count, sizeof *ranked);
    for (uint32_t i = 0; i < states->thread_count; i++)
        if (is_there(s, &states->threads[i]))
            ranked[count++] = (struct ranked){states->threads[i], i};
    if (count > 0)
        qsort(ranked, count, sizeof *ranked, compare_ran);
    for (uint32_t i = 0; i < count; i++)
        states->threads[i] = ranked[i].states;
    states->thread_count = count;
    tv_free(ranked);
}

static uint32_t *no_rows(uint32_t count)
{
    uint32_t *rows = tv_alloc(count, sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = TV_NONE;
    return rows;
}

bool tv_states_are_told(const struct tv_trace *trace)
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
    struct summing s = {
        .trace = trace,
        .question = question,
        .states = states,
        .cpu_of_track = no_rows(trace->track_count),
        .row_of_thread = no_rows(trace->head->thread_count),
        .row_of_frame = no_rows(trace->head->frame_count),
        .has_states = tv_alloc(trace->head->input_count, sizeof(bool)),
    };
    states->from = question->from > trace->start ? question->from : trace->start;
    states->to = question->to < trace->end ? question->to : trace->end;
    if (states->to < states->from)
        states->to = states->from;
    find_cpus(&s);
    tv_map_init(&s.cell_of);
    tv_map_init(&s.cpu_of_event);
    sum_all(&s);
    settle_runs(&s);
    rank(&s);
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
    const struct tv_thread_states *row = &states->threads[thread];
    uint32_t low = row->first_run, high = low + row->run_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (states->runs[middle].cpu == cpu)
            return states->runs[middle].time;
        if (states->runs[middle].cpu < cpu)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

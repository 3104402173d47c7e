/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run_times.h"

#include "base/memory.h"
#include "model/assembly.h"
#include "model/builder_store.h"
#include "model/strips.h"

/* The number of a thread's track of states and 1; 0: it has none.  NULL: no thread has one. */
static uint32_t *find_states(const struct tv_trace *trace)
{
    uint32_t threads = trace->head->thread_count;
    uint32_t *states = tv_alloc(threads, sizeof *states);
    bool any = false;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_STATES || track->thread >= threads)
            continue;
        states[track->thread] = i + 1;
        any = true;
    }
    if (any)
        return states;
    tv_free(states);
    return NULL;
}

/* When the thread ran, on the trace's axis. */
static struct tv_run *read_runs(const struct tv_trace *trace, uint32_t row, size_t *count)
{
    uint32_t slices = trace->rows[row].count;
    struct tv_run *runs = tv_alloc(slices, sizeof *runs);
    int64_t before = 0;
    *count = 0;
    for (uint32_t i = 0; i < slices; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        if (tv_path_frame(trace, slice.path)->colour != TV_COLOUR_RUNNING)
            continue;
        runs[(*count)++] = (struct tv_run){slice.start, slice.start + slice.length, before};
        before += slice.length;
    }
    return runs;
}

/* Columns of a thread that get a CPU clock. */
struct timing {
    struct tv_trace *trace;
    struct tv_run_clock clock;
    uint32_t first, end;      /* rows */
    int64_t tick, offset;     /* of their input */
    size_t near;              /* where the clock was looked at last */
    struct tv_wide_time *was; /* of all slices */
};

/* The thread's CPU clock at a time of the input, in its ticks. */
static int64_t cpu_at(struct timing *t, int64_t time)
{
    return tv_run_clock_at(&t->clock, time * t->tick + t->offset, &t->near) / t->tick;
}

static void time_row(struct timing *t, struct tv_columns *columns, const struct tv_row *row)
{
    struct tv_place place = {row->first, row->first_block, 0, row->count};
    for (uint32_t i = 0; i < row->count; i++) {
        const struct tv_wide_time *was = &t->was[row->first + i];
        struct tv_slice_times times = {was->start, was->length, cpu_at(t, was->start), 0};
        times.cpu_length = cpu_at(t, was->start + was->length) - times.cpu_start;
        tv_place_slice(columns, &place, &times);
    }
    tv_columns_rank(columns, row);
}

static void time_track(struct timing *t, struct tv_track *track)
{
    struct tv_input *input = &t->trace->head->inputs[track->input];
    track->first_cpu = cpu_at(t, track->first_wall);
    track->last_cpu = cpu_at(t, track->last_wall);
    input->clocks |= TV_CLOCK_CPU;
    if (track->last_cpu > input->last_cpu)
        input->last_cpu = track->last_cpu;
}

/* All rows of the thread's columns are written anew: 32 bits may not do any more. */
static void time_columns(struct timing *t)
{
    struct tv_columns *columns = &t->trace->columns[t->trace->rows[t->first].columns];
    t->was = tv_alloc((size_t)columns->count, sizeof *t->was);
    for (uint32_t row = t->first; row < t->end; row++) {
        const struct tv_row *r = &t->trace->rows[row];
        for (uint32_t i = 0; i < r->count; i++)
            t->was[r->first + i] = tv_columns_ticks(columns, r, i);
    }
    tv_columns_add_cpu(columns);
    for (uint32_t row = t->first; row < t->end; row++) {
        time_row(t, columns, &t->trace->rows[row]);
        time_track(t, &t->trace->tracks[t->trace->rows[row].track]);
    }
    tv_free(t->was);
}

/* Rows of the thread's tracks stand behind one another, in columns of their own. */
static void time_thread(struct tv_trace *trace, const struct tv_track *track, uint32_t states)
{
    size_t count;
    struct tv_run *runs = read_runs(trace, trace->tracks[states].first_row, &count);
    struct timing t = {
        .trace = trace,
        .clock = {runs, count},
        .first = track->first_row,
        .end = track->first_row,
        .tick = trace->head->inputs[track->input].tick_ns,
        .offset = trace->offset[track->input],
    };
    while (t.end < trace->row_count &&
           trace->rows[t.end].columns == trace->rows[track->first_row].columns)
        t.end++;
    if (count > 0)
        time_columns(&t);
    tv_free(runs);
}

void tv_trace_time_runs(struct tv_trace *trace)
{
    uint32_t *states = trace->head->input_count > 1 ? find_states(trace) : NULL;
    for (uint32_t i = 0; states && i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        bool calls = track->kind == TV_TRACK_THREAD || track->kind == TV_TRACK_OVERFLOW;
        if (!calls || track->slice_count == 0 || states[track->thread] == 0 ||
            tv_track_has_cpu(trace, i) || !tv_track_has_wall(trace, i))
            continue;
        uint32_t told = states[track->thread] - 1;
        if (trace->tracks[told].input != track->input)
            time_thread(trace, track, told);
    }
    tv_free(states);
}

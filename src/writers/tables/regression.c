/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regression.c - the output of Traceview's option -r.
 *
 *     totals            totalCpuTime, totalRealTime
 *     Thread Times      first and last record of each thread, t: CPU time, g: wall time
 *     Call Times        each call, thread by thread
 *     Method Stats      the profile
 *     Time Records      calls and waits of all threads, by time
 *
 * Android's Traceview printed this for its own tests, and scripts read it.  So the columns and the
 * pseudo methods "(toplevel)" and "(context switch)" are those of that program; what a trace does
 * not have is "-".
 */
#include "writers/tables/tables.h"

#include <assert.h>

#include "base/memory.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"

#define US 1000

struct regression_clocks {
    bool wall, cpu;
};

struct regression_writer {
    struct tv_out *out;
    const struct tv_trace *trace;
    struct tv_name_cache names;
};

/* Return the clocks of the track's input; a table may mix inputs with different clocks. */
static struct regression_clocks regression_clocks_of(const struct tv_trace *trace, uint32_t track)
{
    unsigned clocks = trace->head->inputs[trace->tracks[track].input].clocks;
    return (struct regression_clocks){clocks & TV_CLOCK_WALL, clocks & TV_CLOCK_CPU};
}

/* Write a column of a time in microseconds, or "-". */
static void regression_add_time(struct tv_out *out, int width, bool there, tv_ns time)
{
    tv_out_char(out, ' ');
    if (there)
        tv_names_time_column(out, width, time, US, 0);
    else
        tv_out_format(out, "%*s", width, "-");
}

static void regression_write_totals(struct tv_out *out, const struct tv_profile *profile)
{
    tv_out_text(out, "totalCpuTime ");
    tv_out_time(out, profile->total_cpu, US, 0);
    tv_out_text(out, "us\ntotalRealTime ");
    tv_out_time(out, profile->total_wall, US, 0);
    tv_out_text(out, "us\n");
}

static void regression_add_id(struct tv_out *out, const struct tv_trace *trace, uint32_t track)
{
    tv_names_number_column(out, 2, trace->head->threads[trace->tracks[track].thread].id);
}

/* Write the last column of a line: the method of a call. */
static void regression_add_method(struct regression_writer *w, uint32_t path)
{
    tv_out_text(w->out, "  ");
    tv_out_bytes(w->out, tv_name_cache_get(&w->names, w->trace->paths.nodes[path].frame));
    tv_out_char(w->out, '\n');
}

/* ---- Thread Times ---- */

/* Return true for tracks with calls of one thread; async slices belong to no single thread. */
static bool regression_is_of_thread(const struct tv_trace *trace, uint32_t track)
{
    return tv_track_has_calls(&trace->tracks[track]);
}

/* Thread Times: the first and last record of each thread on both clocks. */
static void regression_write_threads(struct tv_out *out, const struct tv_trace *trace)
{
    tv_out_text(out, "\nThread Times\nid  t-start    t-end  g-start    g-end  name\n");
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_THREAD)
            continue;
        struct regression_clocks clocks = regression_clocks_of(trace, i);
        int64_t tick = tv_track_tick(trace, i);
        tv_ns offset = trace->offset[track->input];
        regression_add_id(out, trace, i);
        regression_add_time(out, 8, clocks.cpu, track->first_cpu * tick);
        regression_add_time(out, 8, clocks.cpu, track->last_cpu * tick);
        regression_add_time(out, 8, clocks.wall, track->first_wall * tick + offset);
        regression_add_time(out, 8, clocks.wall, track->last_wall * tick + offset);
        tv_out_text(out, "  ");
        tv_names_thread(out, trace->head, track->thread);
        tv_out_char(out, '\n');
    }
}

/* ---- Call Times ---- */

/* Return the time that exclusive and inclusive times are based on: CPU time, or wall time when
 * there is no CPU clock. */
static tv_ns regression_figure_of(const struct tv_trace *trace, uint32_t track,
                                  const struct tv_slice *slice)
{
    return regression_clocks_of(trace, track).cpu ? slice->cpu_length : slice->length;
}

/* Write a line of Call Times. */
static void regression_write_call(struct regression_writer *w, uint32_t track,
                                  const struct tv_slice *slice, tv_ns exclusive)
{
    struct tv_out *out = w->out;
    const struct tv_trace *trace = w->trace;
    struct regression_clocks clocks = regression_clocks_of(trace, track);
    regression_add_id(out, trace, track);
    regression_add_time(out, 8, clocks.cpu, slice->cpu_start);
    regression_add_time(out, 8, clocks.cpu, slice->cpu_start + slice->cpu_length);
    regression_add_time(out, 8, clocks.wall, slice->start);
    regression_add_time(out, 8, clocks.wall, slice->start + slice->length);
    regression_add_time(out, 8, true, exclusive);
    regression_add_time(out, 8, true, regression_figure_of(trace, track, slice));
    regression_add_method(w, slice->path);
}

/* Find the exclusive times of a track's calls. A call's exclusive time is known when it ends,
 * but its line is written where it begins; hence two walks, the second of which writes. */
static tv_ns *regression_find_exclusive(const struct tv_trace *trace, uint32_t track)
{
    const struct tv_track *t = &trace->tracks[track];
    tv_ns *exclusive = tv_alloc((size_t)t->slice_count, sizeof *exclusive);
    uint64_t *number = tv_alloc(t->row_count, sizeof *number);
    struct tv_call_cursor *cursor = tv_call_cursor_new(trace, track);
    struct tv_call_event event;
    uint64_t count = 0;
    while (tv_call_cursor_next(cursor, &event)) {
        tv_ns figure = regression_figure_of(trace, track, event.slice);
        if (event.exit)
            continue;
        number[event.depth] = count;
        tv_time_add(&exclusive[count++], figure);
        if (event.depth > 0)
            tv_time_add(&exclusive[number[event.depth - 1]], -figure);
    }
    tv_call_cursor_free(cursor);
    tv_free(number);
    return exclusive;
}

/* Write the calls of a track. */
static void regression_write_track_calls(struct regression_writer *w, uint32_t track)
{
    tv_ns *exclusive = regression_find_exclusive(w->trace, track);
    struct tv_call_cursor *cursor = tv_call_cursor_new(w->trace, track);
    struct tv_call_event event;
    uint64_t count = 0;
    while (tv_call_cursor_next(cursor, &event)) {
        if (event.exit)
            continue;
        tv_ns self = exclusive[count++];
        regression_write_call(w, track, event.slice, self > 0 ? self : 0);
    }
    tv_call_cursor_free(cursor);
    tv_free(exclusive);
}

/* Call Times: a line for each call, in the order of the starts within each thread. */
static void regression_write_calls(struct regression_writer *w)
{
    tv_out_text(w->out, "\nCall Times\n"
                        "id  t-start    t-end  g-start    g-end    excl.    incl.  method\n");
    for (uint32_t i = 0; i < w->trace->track_count; i++) {
        if (regression_is_of_thread(w->trace, i))
            regression_write_track_calls(w, i);
    }
}

/* ---- Method Stats ---- */

/* Method Stats: the method table in the profile's default order, with the row of the waits. */
static void regression_write_methods(struct tv_out *out, struct tv_profile *profile)
{
    bool wall = profile->clocks & TV_CLOCK_WALL, cpu = profile->clocks & TV_CLOCK_CPU;
    struct tv_profile_rows rows;
    struct tv_out calls;
    tv_out_text(out, "\nMethod Stats\n"
                     " Excl Cpu  Incl Cpu Excl Real Incl Real     Calls  Method\n");
    tv_profile_rows_init(&rows, profile, tv_profile_default_order(profile), true, 0);
    tv_out_init_memory(&calls);
    for (uint32_t i = 0; i < rows.count; i++) {
        const struct tv_method_cost *row = &rows.rows[i];
        /* Each time is preceded by the column's blank. */
        regression_add_time(out, 8, cpu, row->excl_cpu);
        regression_add_time(out, 9, cpu, row->incl_cpu);
        regression_add_time(out, 9, wall, row->excl_wall);
        regression_add_time(out, 9, wall, row->incl_wall);
        calls.length = 0;
        tv_out_u64(&calls, row->calls);
        tv_out_char(&calls, '+');
        tv_out_u64(&calls, row->recursive_calls);
        tv_out_format(out, " %9.*s  ", (int)calls.length, (const char *)calls.buffer);
        tv_profile_row_name(out, profile->head, row->frame);
        tv_out_char(out, '\n');
    }
    tv_out_release(&calls);
    tv_profile_rows_release(&rows);
}

/* ---- Time Records ---- */

struct regression_record {
    tv_ns start, end;
    const char *pseudo; /* the name of a record that is not a method's */
    uint32_t track, path;
};

static void regression_write_record(struct regression_writer *w,
                                    const struct regression_record *record)
{
    assert(record->track < w->trace->track_count);
    regression_add_id(w->out, w->trace, record->track);
    regression_add_time(w->out, 8, true, record->start);
    regression_add_time(w->out, 8, true, record->end);
    if (!record->pseudo) {
        regression_add_method(w, record->path);
        return;
    }
    tv_out_text(w->out, "  ");
    tv_out_text(w->out, record->pseudo);
    tv_out_char(w->out, '\n');
}

/* Write the waits of a track, from number *next on, that begin before `time`. */
static void regression_write_waits(struct regression_writer *w, uint32_t *next, uint32_t track,
                                   tv_ns time)
{
    const struct tv_track *t = &w->trace->tracks[track];
    int64_t tick = tv_track_tick(w->trace, track);
    for (; *next < t->wait_count; ++*next) {
        const struct tv_wait *wait = &t->waits[*next];
        tv_ns start = wait->start * tick + w->trace->offset[t->input];
        if (start >= time)
            return;
        regression_write_record(w, &(struct regression_record){start, start + wait->length * tick,
                                                               "(context switch)", track,
                                                               TV_ROOT_PATH});
    }
}

/* Write one record for the whole track in front of its first call, as Traceview's time line did. */
static void regression_write_toplevel(struct regression_writer *w, uint32_t track)
{
    const struct tv_trace *trace = w->trace;
    const struct tv_track *t = &trace->tracks[track];
    int64_t tick = tv_track_tick(trace, track);
    struct regression_clocks clocks = regression_clocks_of(trace, track);
    tv_ns offset = trace->offset[t->input];
    struct regression_record record = {.pseudo = "(toplevel)", .track = track};
    record.start = (clocks.wall ? t->first_wall : t->first_cpu) * tick + offset;
    record.end = (clocks.wall ? t->last_wall : t->last_cpu) * tick + offset;
    regression_write_record(w, &record);
}

/* Time Records: calls and waits of all threads in order of time, without their ends. */
static void regression_write_records(struct regression_writer *w)
{
    const struct tv_trace *trace = w->trace;
    uint32_t *waits = tv_alloc(trace->track_count, sizeof *waits);
    bool *begun = tv_alloc(trace->track_count, sizeof *begun);
    struct tv_call_merge *merge = tv_call_merge_new(trace);
    struct tv_call_event event;
    tv_out_text(w->out, "\nTime Records\nid    start      end  method\n");
    while (tv_call_merge_next(merge, &event)) {
        if (!regression_is_of_thread(trace, event.track))
            continue;
        if (!begun[event.track] && trace->tracks[event.track].kind == TV_TRACK_THREAD)
            regression_write_toplevel(w, event.track);
        begun[event.track] = true;
        regression_write_waits(w, &waits[event.track], event.track, event.time);
        if (event.exit)
            continue;
        regression_write_record(
            w, &(struct regression_record){event.time, event.time + event.slice->length, NULL,
                                           event.track, event.slice->path});
    }
    tv_call_merge_free(merge);
    tv_free(begun);
    tv_free(waits);
}

void tv_regression_write(struct tv_out *out, const struct tv_trace *trace,
                         struct tv_profile *profile)
{
    struct regression_writer w = {.out = out, .trace = trace};
    tv_name_cache_init(&w.names, trace->head);
    regression_write_totals(out, profile);
    regression_write_threads(out, trace);
    regression_write_calls(&w);
    regression_write_methods(out, profile);
    regression_write_records(&w);
    tv_name_cache_release(&w.names);
}

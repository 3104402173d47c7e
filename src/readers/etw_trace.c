/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etw_trace.c - from tables of Windows events (etw.h) to an input with tracks.
 *
 *     switches, by processor and time   a slice from each switch to the next of its processor
 *                                       --> tracks "CPU 0", "CPU 1", ...
 *     switches and wake-ups, by time    replay: what each thread is doing since when
 *                                       --> a track of states for each thread; wakeups
 *
 *     CPU 0   | tid 55        | idle  | tid 72 ...       switch at each bar
 *     tid 55  | Running       | Sleeping    | Runnable   state of the old thread; then a wake-up
 *
 * The events come from the same file as Chrome's, which became the input `place->beside`. Both
 * share a clock, and states are put on the threads of that input, so that a thread's slices and
 * states are one group on the screen. Threads that Chrome does not know are added here.
 *
 * Thread 0 is the idle thread of every processor: it has no slices, no states and no name.
 * Without a ClockSync there is no common clock, and nothing is added.
 */
#include "readers/etw.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/assembly/assembly.h"

struct etw_build {
    struct tv_etw *etw;
    const struct tv_etw_place *place;
    struct tv_trace_info *head;
    struct tv_assembly *assembly;
    uint32_t input;
    struct tv_map processes;         /* tid -> pid */
    struct tv_map images;            /* pid -> text of the events */
    struct tv_map thread_names;      /* tid -> string of the head */
    struct tv_map frames;            /* tid -> frame */
    struct tv_map threads;           /* tid -> thread of the head */
    struct tv_map state_strips;      /* thread of the head -> index in `strips` */
    TV_TABLE(tv_state_track) strips; /* processors first, then the states of threads */
    TV_TABLE(tv_state_slice) slices; /* of all tracks, in any order */
};

/* ---- Names ---- */

/* Collect processes and names of images. On Windows a thread's id is unique among all processes. */
static void etw_find_processes(struct etw_build *building)
{
    const struct tv_etw *etw = building->etw;
    struct tv_trace *trace = tv_assembly_trace(building->assembly);
    for (size_t i = 0; i < etw->threads.count; i++)
        if (etw->threads.rows[i].pid != TV_NONE)
            tv_map_set(&building->processes, etw->threads.rows[i].tid, etw->threads.rows[i].pid);
    for (size_t i = 0; i < etw->processes.count; i++) {
        const struct tv_etw_process *process = &etw->processes.rows[i];
        struct tv_bytes name = tv_interner_get(etw->texts, process->name);
        if (name.length == 0)
            continue;
        tv_map_set(&building->images, process->pid, process->name);
        *tv_table_add(&trace->tables.known_names) = (struct tv_known_name){
            .pid = process->pid,
            .name = tv_trace_info_string(building->head, name),
            .input = building->input,
        };
    }
}

/* Collect the thread names of the input beside. */
static void etw_find_thread_names(struct etw_build *building)
{
    const struct tv_trace_info *head = building->head;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->input == building->place->beside && thread->name != TV_EMPTY_STRING)
            tv_map_set(&building->thread_names, thread->id, thread->name);
    }
}

/* Return the name of a thread: "CrBrowserMain", "chrome.exe (tid 55)" or "tid 55". */
static uint32_t etw_thread_name(struct etw_build *building, uint32_t tid)
{
    uint32_t name = tv_map_find(&building->thread_names, tid);
    if (name != TV_NONE)
        return name;
    uint32_t pid = tv_map_find(&building->processes, tid);
    uint32_t image = pid == TV_NONE ? TV_NONE : tv_map_find(&building->images, pid);
    struct tv_out out;
    tv_out_init_memory(&out);
    if (image != TV_NONE)
        tv_out_bytes(&out, tv_interner_get(building->etw->texts, image));
    tv_out_format(&out, image == TV_NONE ? "tid %u" : " (tid %u)", tid);
    name = tv_trace_info_string(building->head, (struct tv_bytes){out.buffer, out.length});
    tv_out_release(&out);
    return name;
}

/* Return the frame that stands for a thread on the tracks of processors. */
static uint32_t etw_thread_frame(struct etw_build *building, uint32_t tid)
{
    uint32_t frame = tv_map_find(&building->frames, tid);
    if (frame == TV_NONE) {
        struct tv_frame named = {.name = etw_thread_name(building, tid)};
        frame = tv_trace_info_add_frame(building->head, &named);
        tv_map_set(&building->frames, tid, frame);
    }
    return frame;
}

/* ---- Processors ---- */

/* Order switches by processor, time and place in the file. */
static int etw_compare_by_cpu(const void *left, const void *right)
{
    const struct tv_etw_switch *a = left, *b = right;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static uint32_t etw_name_processor(struct etw_build *building, uint32_t cpu)
{
    char name[32];
    snprintf(name, sizeof name, "CPU %u", cpu);
    return tv_trace_info_string(building->head, tv_bytes_of(name));
}

static void etw_add_cpu_track(struct etw_build *building, uint32_t cpu)
{
    *tv_table_add(&building->strips) = (struct tv_state_track){
        .kind = TV_TRACK_CPU,
        .name = etw_name_processor(building, cpu),
        .process = TV_NONE,
        .thread = TV_NONE,
    };
}

/* Add a slice from a switch to the next one of the processor (NULL: to the end). Idle time is no
 * slice. */
static void etw_add_cpu_slice(struct etw_build *building, const struct tv_etw_switch *from,
                              const struct tv_etw_switch *to, tv_ns end)
{
    assert(building->strips.count > 0);
    if (to && to->from != from->to)
        tv_diagnostics_add(&building->head->diagnostics, TV_DIAGNOSTIC_SWITCH_MISSED, to->offset);
    if (from->to == 0)
        return;
    *tv_table_add(&building->slices) = (struct tv_state_slice){
        .start = from->time,
        .length = (to ? to->time : end) - from->time,
        .offset = from->offset & TV_OFFSET_MASK,
        .flags = to ? 0 : TV_SLICE_OPEN,
        .frame = etw_thread_frame(building, from->to),
        .state_track = (uint32_t)building->strips.count - 1,
    };
}

/* Add the tracks of processors; the switches are sorted by processor, then by time. */
static void etw_add_processors(struct etw_build *building, tv_ns end)
{
    struct tv_etw_switch *rows = building->etw->switches.rows;
    size_t count = building->etw->switches.count;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].cpu != rows[i - 1].cpu)
            etw_add_cpu_track(building, rows[i].cpu);
        bool last = i + 1 == count || rows[i + 1].cpu != rows[i].cpu;
        etw_add_cpu_slice(building, &rows[i], last ? NULL : &rows[i + 1], end);
    }
}

/* Let the tracks of processors begin with their first switches, those to idle, too. The tracks
 * exist, and the switches are sorted by time. */
static void etw_set_track_starts(struct etw_build *building)
{
    struct tv_trace *trace = tv_assembly_trace(building->assembly);
    const struct tv_etw *etw = building->etw;
    struct tv_map tracks; /* by names */
    tv_map_init(&tracks);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU && trace->tracks[i].input == building->input)
            tv_map_set(&tracks, trace->tracks[i].name, i);
    for (size_t i = etw->switches.count; i-- > 0;) {
        uint32_t name = etw_name_processor(building, etw->switches.rows[i].cpu);
        uint32_t track = tv_map_find(&tracks, name);
        if (track != TV_NONE)
            trace->tracks[track].first_wall = etw->switches.rows[i].time;
    }
    tv_map_release(&tracks);
}

/* ---- States of threads ---- */

enum etw_state { RUNNING, READY, TERMINATED, WAITING, UNKNOWN, STATES };

/* Reserved colours: the ids of trace-event.md section 5, minus 22. */
static const struct {
    const char *name;
    uint8_t colour;
} states[STATES] = {
    [RUNNING] = {"Running", 3},  [READY] = {"Runnable", 4},  [TERMINATED] = {"Terminated", 1},
    [WAITING] = {"Sleeping", 5}, [UNKNOWN] = {"Unknown", 1},
};

/* State of a thread from some time on. */
struct etw_thread_state {
    bool known; /* false: no event has named the thread yet */
    enum etw_state state;
    tv_ns since;
    uint64_t offset;
};

struct etw_replay_state {
    struct etw_build *building;
    TV_TABLE(etw_thread_state) threads; /* by state track */
    struct tv_map runs;                 /* processor -> tid of the running thread */
    uint32_t frames[STATES];
};

/* Map the KTHREAD_STATE of the previous thread: 1 ready, 3 standby, 4 terminated, 5 waiting, 7
 * deferred ready. */
static enum etw_state etw_parse_state(uint8_t from_state)
{
    switch (from_state) {
    case 1:
    case 2:
    case 3:
    case 7:
        return READY;
    case 4:
        return TERMINATED;
    case 5:
    case 6:
        return WAITING;
    default:
        return UNKNOWN;
    }
}

/* Return the thread of the input beside, which has the slices, or a new one. */
static uint32_t etw_find_thread(struct etw_build *building, uint32_t tid)
{
    uint32_t thread = tv_map_find(&building->threads, tid);
    if (thread != TV_NONE)
        return thread;
    struct tv_thread named = {
        .id = tid,
        .name = etw_thread_name(building, tid),
        .process = TV_NONE,
        .input = building->input,
        .listed = true,
    };
    thread = tv_trace_info_add_thread(building->head, &named);
    tv_map_set(&building->threads, tid, thread);
    return thread;
}

/* Make sure that every thread of an event exists, before tracks refer to threads by number. */
static void etw_find_threads(struct etw_build *building)
{
    const struct tv_trace_info *head = building->head;
    const struct tv_etw *etw = building->etw;
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (head->threads[i].input == building->place->beside)
            tv_map_add(&building->threads, head->threads[i].id, i);
    for (size_t i = 0; i < etw->switches.count; i++) {
        const struct tv_etw_switch *row = &etw->switches.rows[i];
        if (row->from != 0)
            etw_find_thread(building, row->from);
        if (row->to != 0)
            etw_find_thread(building, row->to);
    }
    for (size_t i = 0; i < etw->readies.count; i++)
        if (etw->readies.rows[i].tid != 0)
            etw_find_thread(building, etw->readies.rows[i].tid);
}

/* Return the state of a thread that etw_find_threads has seen, and add its track at the first time.
 * Entries of processors in `threads` stay unused. The pointer is valid until the next call. */
static struct etw_thread_state *etw_find_state(struct etw_replay_state *finding, uint32_t tid,
                                               uint32_t *state_track)
{
    struct etw_build *building = finding->building;
    uint32_t thread = tv_map_find(&building->threads, tid);
    *state_track = tv_map_add(&building->state_strips, thread, (uint32_t)building->strips.count);
    if (*state_track == building->strips.count)
        *tv_table_add(&building->strips) = (struct tv_state_track){
            .kind = TV_TRACK_STATES,
            .name = building->head->threads[thread].name,
            .process = building->head->threads[thread].process,
            .thread = thread,
        };
    while (finding->threads.count <= *state_track)
        tv_table_add(&finding->threads);
    return &finding->threads.rows[*state_track];
}

/* Add the slice of a state that ends. States of no length leave no slice. */
static void etw_end_state(struct etw_replay_state *finding, uint32_t state_track,
                          const struct etw_thread_state *doing, tv_ns end, unsigned flags)
{
    if (!doing->known || end <= doing->since)
        return;
    *tv_table_add(&finding->building->slices) = (struct tv_state_slice){
        .start = doing->since,
        .length = end - doing->since,
        .offset = doing->offset & TV_OFFSET_MASK,
        .flags = flags & 0xff,
        .frame = finding->frames[doing->state],
        .state_track = state_track,
    };
}

static void etw_change_state(struct etw_replay_state *finding, uint32_t tid,
                             const struct etw_thread_state *next)
{
    uint32_t state_track;
    if (tid == 0)
        return;
    struct etw_thread_state *doing = etw_find_state(finding, tid, &state_track);
    etw_end_state(finding, state_track, doing, next->since, 0);
    *doing = *next;
}

/* The event states what becomes of the thread that leaves; the one that enters is running. */
static void etw_take_switch(struct etw_replay_state *finding, const struct tv_etw_switch *row)
{
    etw_change_state(
        finding, row->from,
        &(struct etw_thread_state){true, etw_parse_state(row->from_state), row->time, row->offset});
    etw_change_state(finding, row->to,
                     &(struct etw_thread_state){true, RUNNING, row->time, row->offset});
    tv_map_set(&finding->runs, row->cpu, row->to);
}

/* Return the waking thread: the one that the event names, else the one that runs on its
 * processor; TV_NONE: unknown. */
static uint32_t etw_find_waker(struct etw_replay_state *finding, const struct tv_etw_ready *row)
{
    uint32_t tid = row->by;
    if (row->no_thread)
        return TV_NONE;
    if (tid == TV_NONE && row->cpu != TV_NONE)
        tid = tv_map_find(&finding->runs, row->cpu);
    return tid == TV_NONE || tid == 0 ? TV_NONE : tv_map_find(&finding->building->threads, tid);
}

/* Apply a wake-up; only the first of several changes the state. */
static void etw_take_ready(struct etw_replay_state *finding, const struct tv_etw_ready *row)
{
    struct etw_build *building = finding->building;
    uint32_t state_track;
    if (row->tid == 0)
        return;
    const struct etw_thread_state *doing = etw_find_state(finding, row->tid, &state_track);
    if (doing->known && (doing->state == RUNNING || doing->state == READY))
        return;
    etw_change_state(finding, row->tid,
                     &(struct etw_thread_state){true, READY, row->time, row->offset});
    *tv_table_add(&tv_assembly_trace(building->assembly)->tables.wakeups) = (struct tv_wakeup){
        .time = row->time,
        .offset = row->offset,
        .thread = tv_map_find(&building->threads, row->tid),
        .by = etw_find_waker(finding, row),
        .input = building->input,
    };
}

static int etw_compare_times(tv_ns time_a, uint64_t offset_a, tv_ns time_b, uint64_t offset_b)
{
    if (time_a != time_b)
        return time_a < time_b ? -1 : 1;
    return offset_a < offset_b ? -1 : offset_a > offset_b;
}

static int etw_compare_switch_times(const void *left, const void *right)
{
    const struct tv_etw_switch *a = left, *b = right;
    return etw_compare_times(a->time, a->offset, b->time, b->offset);
}

static int etw_compare_readies(const void *left, const void *right)
{
    const struct tv_etw_ready *a = left, *b = right;
    return etw_compare_times(a->time, a->offset, b->time, b->offset);
}

/* Merge two sorted tables: is switch i earlier than wake-up j? */
static bool etw_is_switch_first(const struct tv_etw *etw, size_t i, size_t j)
{
    if (i == etw->switches.count || j == etw->readies.count)
        return j == etw->readies.count;
    const struct tv_etw_switch *a = &etw->switches.rows[i];
    const struct tv_etw_ready *b = &etw->readies.rows[j];
    return etw_compare_times(a->time, a->offset, b->time, b->offset) < 0;
}

/* Replay all switches and wake-ups in time order. */
static void etw_replay(struct etw_replay_state *finding)
{
    assert(finding->threads.count == 0);
    const struct tv_etw *etw = finding->building->etw;
    size_t i = 0, j = 0;
    while (i < etw->switches.count || j < etw->readies.count) {
        if (etw_is_switch_first(etw, i, j))
            etw_take_switch(finding, &etw->switches.rows[i++]);
        else
            etw_take_ready(finding, &etw->readies.rows[j++]);
    }
}

static void etw_sort_by_time(struct tv_etw *etw)
{
    if (etw->switches.count > 0)
        qsort(etw->switches.rows, etw->switches.count, sizeof *etw->switches.rows,
              etw_compare_switch_times);
    if (etw->readies.count > 0)
        qsort(etw->readies.rows, etw->readies.count, sizeof *etw->readies.rows,
              etw_compare_readies);
}

/* Add the state tracks of all threads. */
static void etw_add_states(struct etw_build *building, tv_ns end)
{
    struct etw_replay_state finding = {.building = building};
    if (building->etw->switches.count == 0 && building->etw->readies.count == 0)
        return;
    etw_sort_by_time(building->etw);
    tv_map_init(&finding.runs);
    for (size_t i = 0; i < STATES; i++) {
        struct tv_frame frame = {
            .name = tv_trace_info_string(building->head, tv_bytes_of(states[i].name)),
            .category = tv_trace_info_string(building->head, TV_BYTES("thread state")),
        };
        finding.frames[i] = tv_trace_info_add_frame(building->head, &frame);
        building->head->frames[finding.frames[i]].colour = states[i].colour;
    }
    etw_replay(&finding);
    for (uint32_t i = 0; i < finding.threads.count; i++)
        etw_end_state(&finding, i, &finding.threads.rows[i], end, TV_SLICE_OPEN);
    tv_free(finding.threads.rows);
    tv_map_release(&finding.runs);
}

/* ---- Building the input ---- */

struct etw_range {
    tv_ns first, last; /* first > last: nothing happened */
};

static void etw_range_add(struct etw_range *range, tv_ns time)
{
    range->first = time < range->first ? time : range->first;
    range->last = time > range->last ? time : range->last;
}

static struct etw_range etw_find_range(const struct tv_etw *etw)
{
    struct etw_range range = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < etw->switches.count; i++)
        etw_range_add(&range, etw->switches.rows[i].time);
    for (size_t i = 0; i < etw->readies.count; i++)
        etw_range_add(&range, etw->readies.rows[i].time);
    return range;
}

/* Share the clock of the input beside. */
static void etw_share_clock(struct etw_build *building)
{
    struct tv_input *beside = &building->head->inputs[building->place->beside];
    if (beside->clock == TV_EMPTY_STRING)
        beside->clock = beside->name;
    building->head->inputs[building->input].clock = beside->clock;
}

static void etw_add_input(struct etw_build *building, struct tv_builder *builder, uint64_t bytes)
{
    building->head = tv_builder_trace_info(builder);
    building->input =
        tv_trace_info_add_input(building->head, building->place->name, "Event Tracing for Windows");
    building->assembly = tv_assembly_new(builder, building->input);
    struct tv_input *input = &building->head->inputs[building->input];
    input->bytes = bytes;
    input->clocks = TV_CLOCK_WALL;
    input->records = building->etw->events;
    etw_share_clock(building);
    tv_diagnostics_merge(&building->head->diagnostics, &building->etw->diagnostics);
}

/* Build the trace when all events are read. Switches are sorted by processor first: states of
 * threads come from who ran where, one processor at a time. */
static void etw_build_trace(struct etw_build *building)
{
    struct etw_range range = etw_find_range(building->etw);
    struct tv_input *input = &building->head->inputs[building->input];
    input->eventless = range.first > range.last;
    if (input->eventless)
        range = (struct etw_range){0, 0};
    input->origin = range.first;
    input->last_wall = range.last - range.first;
    if (building->etw->switches.count > 0)
        qsort(building->etw->switches.rows, building->etw->switches.count,
              sizeof *building->etw->switches.rows, etw_compare_by_cpu);
    etw_find_processes(building);
    etw_find_thread_names(building);
    etw_find_threads(building);
    etw_add_processors(building, range.last);
    etw_add_states(building, range.last);
    struct tv_row_options placing = {.end = range.last};
    tv_assembly_build_rows(building->assembly, &placing);
    tv_assembly_add_state_tracks(building->assembly, building->strips.rows, building->strips.count,
                                 building->slices.rows, building->slices.count, 1);
    etw_set_track_starts(building);
    tv_assembly_end(building->assembly);
}

bool tv_etw_build(struct tv_bytes json, const struct tv_etw_place *place,
                  struct tv_builder *builder)
{
    assert(place && builder);
    struct tv_etw etw;
    struct etw_build building = {.etw = &etw, .place = place};
    tv_etw_read(&etw, json);
    bool synced = etw.synced;
    if (synced) {
        tv_map_init(&building.processes);
        tv_map_init(&building.images);
        tv_map_init(&building.thread_names);
        tv_map_init(&building.frames);
        tv_map_init(&building.threads);
        tv_map_init(&building.state_strips);
        etw_add_input(&building, builder, json.length);
        etw_build_trace(&building);
        tv_map_release(&building.processes);
        tv_map_release(&building.images);
        tv_map_release(&building.thread_names);
        tv_map_release(&building.frames);
        tv_map_release(&building.threads);
        tv_map_release(&building.state_strips);
        tv_free(building.strips.rows);
        tv_free(building.slices.rows);
    }
    tv_etw_release(&etw);
    return synced;
}

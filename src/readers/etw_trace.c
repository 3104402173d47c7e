/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/etw_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/assembly/assembly.h"
#include "readers/etw.h"

struct building {
    struct tv_etw *etw;
    const struct tv_etw_place *place;
    struct tv_trace_info *head;
    struct tv_assembly *assembly;
    uint32_t input;
    struct tv_map processes;    /* tid -> pid */
    struct tv_map images;       /* pid -> text of the events */
    struct tv_map thread_names; /* tid -> string of the head */
    struct tv_map frames;       /* tid -> frame */
    struct tv_map threads;      /* tid -> thread of the head */
    struct tv_map state_strips; /* thread -> strip */
    TV_TABLE(tv_state_track) strips;
    TV_TABLE(tv_state_slice) slices;
};

/* ---- Names ---- */

/* On Windows a thread's id is unique among all processes. */
static void find_processes(struct building *building)
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

/* Those of the input beside. */
static void find_thread_names(struct building *building)
{
    const struct tv_trace_info *head = building->head;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->input == building->place->beside && thread->name != TV_EMPTY_STRING)
            tv_map_set(&building->thread_names, thread->id, thread->name);
    }
}

/* "CrBrowserMain", "chrome.exe (tid 55)" or "tid 55". */
static uint32_t name_thread(struct building *building, uint32_t tid)
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

static uint32_t frame_of(struct building *building, uint32_t tid)
{
    uint32_t frame = tv_map_find(&building->frames, tid);
    if (frame == TV_NONE) {
        struct tv_frame named = {.name = name_thread(building, tid)};
        frame = tv_trace_info_add_frame(building->head, &named);
        tv_map_set(&building->frames, tid, frame);
    }
    return frame;
}

/* ---- Processors ---- */

static int compare_switches(const void *left, const void *right)
{
    const struct tv_etw_switch *a = left, *b = right;
    if (a->cpu != b->cpu)
        return a->cpu < b->cpu ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static uint32_t name_processor(struct building *building, uint32_t cpu)
{
    char name[32];
    snprintf(name, sizeof name, "CPU %u", cpu);
    return tv_trace_info_string(building->head, tv_bytes_of(name));
}

static void add_strip(struct building *building, uint32_t cpu)
{
    *tv_table_add(&building->strips) = (struct tv_state_track){
        .kind = TV_TRACK_CPU,
        .name = name_processor(building, cpu),
        .process = TV_NONE,
        .thread = TV_NONE,
    };
}

/* From a switch to the next one of its processor (NULL: to the end); idle is no slice. */
static void add_slice(struct building *building, const struct tv_etw_switch *from,
                      const struct tv_etw_switch *to, tv_ns end)
{
    if (to && to->from != from->to)
        tv_diagnostics_add(&building->head->diagnostics, TV_DIAGNOSTIC_SWITCH_MISSED, to->offset);
    if (from->to == 0)
        return;
    *tv_table_add(&building->slices) = (struct tv_state_slice){
        .start = from->time,
        .length = (to ? to->time : end) - from->time,
        .offset = from->offset & TV_OFFSET_MASK,
        .flags = to ? 0 : TV_SLICE_OPEN,
        .frame = frame_of(building, from->to),
        .strip = (uint32_t)building->strips.count - 1,
    };
}

static void add_processors(struct building *building, tv_ns end)
{
    struct tv_etw_switch *rows = building->etw->switches.rows;
    size_t count = building->etw->switches.count;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i].cpu != rows[i - 1].cpu)
            add_strip(building, rows[i].cpu);
        bool last = i + 1 == count || rows[i + 1].cpu != rows[i].cpu;
        add_slice(building, &rows[i], last ? NULL : &rows[i + 1], end);
    }
}

/* Tracks of processors begin with their first switches, also those to idle.  After the strips were
 * made and the switches sorted by time. */
static void begin_tracks(struct building *building)
{
    struct tv_trace *trace = tv_assembly_trace(building->assembly);
    const struct tv_etw *etw = building->etw;
    struct tv_map tracks; /* by names */
    tv_map_init(&tracks);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU && trace->tracks[i].input == building->input)
            tv_map_set(&tracks, trace->tracks[i].name, i);
    for (size_t i = etw->switches.count; i-- > 0;) {
        uint32_t name = name_processor(building, etw->switches.rows[i].cpu);
        uint32_t track = tv_map_find(&tracks, name);
        if (track != TV_NONE)
            trace->tracks[track].first_wall = etw->switches.rows[i].time;
    }
    tv_map_release(&tracks);
}

/* ---- States of threads ---- */

enum state { RUNNING, READY, TERMINATED, WAITING, UNKNOWN, STATES };

/* Reserved colours: their ids of trace-event.md section 5, less 22. */
static const struct {
    const char *name;
    uint8_t colour;
} states[STATES] = {
    [RUNNING] = {"Running", 3},  [READY] = {"Runnable", 4},  [TERMINATED] = {"Terminated", 1},
    [WAITING] = {"Sleeping", 5}, [UNKNOWN] = {"Unknown", 1},
};

/* What a thread does from some time on. */
struct doing {
    bool known;
    enum state state;
    tv_ns since;
    uint64_t offset;
};

struct state_finding {
    struct building *building;
    TV_TABLE(doing) threads; /* by strip */
    struct tv_map runs;      /* processor -> tid of who runs there */
    uint32_t frames[STATES];
};

/* KTHREAD_STATE of who left: 1 ready, 3 standby, 4 terminated, 5 waiting, 7 ready but deferred. */
static enum state state_of(uint8_t from_state)
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

/* That of the input beside, which has the slices, or one of our own. */
static uint32_t thread_of(struct building *building, uint32_t tid)
{
    uint32_t thread = tv_map_find(&building->threads, tid);
    if (thread != TV_NONE)
        return thread;
    struct tv_thread named = {
        .id = tid,
        .name = name_thread(building, tid),
        .process = TV_NONE,
        .input = building->input,
        .listed = true,
    };
    thread = tv_trace_info_add_thread(building->head, &named);
    tv_map_set(&building->threads, tid, thread);
    return thread;
}

static void know_threads(struct building *building)
{
    const struct tv_trace_info *head = building->head;
    const struct tv_etw *etw = building->etw;
    for (uint32_t i = 0; i < head->thread_count; i++)
        if (head->threads[i].input == building->place->beside)
            tv_map_add(&building->threads, head->threads[i].id, i);
    for (size_t i = 0; i < etw->switches.count; i++) {
        const struct tv_etw_switch *row = &etw->switches.rows[i];
        if (row->from != 0)
            thread_of(building, row->from);
        if (row->to != 0)
            thread_of(building, row->to);
    }
    for (size_t i = 0; i < etw->readies.count; i++)
        if (etw->readies.rows[i].tid != 0)
            thread_of(building, etw->readies.rows[i].tid);
}

static struct doing *doing_of(struct state_finding *finding, uint32_t tid, uint32_t *strip)
{
    struct building *building = finding->building;
    uint32_t thread = tv_map_find(&building->threads, tid);
    *strip = tv_map_add(&building->state_strips, thread, (uint32_t)building->strips.count);
    if (*strip == building->strips.count)
        *tv_table_add(&building->strips) = (struct tv_state_track){
            .kind = TV_TRACK_STATES,
            .name = building->head->threads[thread].name,
            .process = building->head->threads[thread].process,
            .thread = thread,
        };
    while (finding->threads.count <= *strip)
        tv_table_add(&finding->threads);
    return &finding->threads.rows[*strip];
}

static void end_state(struct state_finding *finding, uint32_t strip, const struct doing *doing,
                      tv_ns end, unsigned flags)
{
    if (!doing->known || end <= doing->since)
        return;
    *tv_table_add(&finding->building->slices) = (struct tv_state_slice){
        .start = doing->since,
        .length = end - doing->since,
        .offset = doing->offset & TV_OFFSET_MASK,
        .flags = flags & 0xff,
        .frame = finding->frames[doing->state],
        .strip = strip,
    };
}

static void turn(struct state_finding *finding, uint32_t tid, const struct doing *next)
{
    uint32_t strip;
    if (tid == 0)
        return;
    struct doing *doing = doing_of(finding, tid, &strip);
    end_state(finding, strip, doing, next->since, 0);
    *doing = *next;
}

static void take_switch(struct state_finding *finding, const struct tv_etw_switch *row)
{
    turn(finding, row->from,
         &(struct doing){true, state_of(row->from_state), row->time, row->offset});
    turn(finding, row->to, &(struct doing){true, RUNNING, row->time, row->offset});
    tv_map_set(&finding->runs, row->cpu, row->to);
}

/* The thread that the event names, else the one that runs where it was readied; TV_NONE: none. */
static uint32_t waker_of(struct state_finding *finding, const struct tv_etw_ready *row)
{
    uint32_t tid = row->by;
    if (row->no_thread)
        return TV_NONE;
    if (tid == TV_NONE && row->cpu != TV_NONE)
        tid = tv_map_find(&finding->runs, row->cpu);
    return tid == TV_NONE || tid == 0 ? TV_NONE : tv_map_find(&finding->building->threads, tid);
}

/* Only the first of several wake-ups wakes. */
static void take_ready(struct state_finding *finding, const struct tv_etw_ready *row)
{
    struct building *building = finding->building;
    uint32_t strip;
    if (row->tid == 0)
        return;
    const struct doing *doing = doing_of(finding, row->tid, &strip);
    if (doing->known && (doing->state == RUNNING || doing->state == READY))
        return;
    turn(finding, row->tid, &(struct doing){true, READY, row->time, row->offset});
    *tv_table_add(&tv_assembly_trace(building->assembly)->tables.wakeups) = (struct tv_wakeup){
        .time = row->time,
        .offset = row->offset,
        .thread = tv_map_find(&building->threads, row->tid),
        .by = waker_of(finding, row),
        .input = building->input,
    };
}

static int compare_places(tv_ns time_a, uint64_t offset_a, tv_ns time_b, uint64_t offset_b)
{
    if (time_a != time_b)
        return time_a < time_b ? -1 : 1;
    return offset_a < offset_b ? -1 : offset_a > offset_b;
}

static int compare_times(const void *left, const void *right)
{
    const struct tv_etw_switch *a = left, *b = right;
    return compare_places(a->time, a->offset, b->time, b->offset);
}

static int compare_readies(const void *left, const void *right)
{
    const struct tv_etw_ready *a = left, *b = right;
    return compare_places(a->time, a->offset, b->time, b->offset);
}

static bool switch_first(const struct tv_etw *etw, size_t i, size_t j)
{
    if (i == etw->switches.count || j == etw->readies.count)
        return j == etw->readies.count;
    const struct tv_etw_switch *a = &etw->switches.rows[i];
    const struct tv_etw_ready *b = &etw->readies.rows[j];
    return compare_places(a->time, a->offset, b->time, b->offset) < 0;
}

/* All switches and wake-ups in the order of time. */
static void take_all(struct state_finding *finding)
{
    const struct tv_etw *etw = finding->building->etw;
    size_t i = 0, j = 0;
    while (i < etw->switches.count || j < etw->readies.count) {
        if (switch_first(etw, i, j))
            take_switch(finding, &etw->switches.rows[i++]);
        else
            take_ready(finding, &etw->readies.rows[j++]);
    }
}

static void sort_rows(struct tv_etw *etw)
{
    if (etw->switches.count > 0)
        qsort(etw->switches.rows, etw->switches.count, sizeof *etw->switches.rows, compare_times);
    if (etw->readies.count > 0)
        qsort(etw->readies.rows, etw->readies.count, sizeof *etw->readies.rows, compare_readies);
}

/* Sorts what happened on all processors by time. */
static void add_states(struct building *building, tv_ns end)
{
    struct state_finding finding = {.building = building};
    if (building->etw->switches.count == 0 && building->etw->readies.count == 0)
        return;
    sort_rows(building->etw);
    tv_map_init(&finding.runs);
    for (size_t i = 0; i < STATES; i++) {
        struct tv_frame frame = {
            .name = tv_trace_info_string(building->head, tv_bytes_of(states[i].name)),
            .category = tv_trace_info_string(building->head, TV_BYTES("thread state")),
        };
        finding.frames[i] = tv_trace_info_add_frame(building->head, &frame);
        building->head->frames[finding.frames[i]].colour = states[i].colour;
    }
    take_all(&finding);
    for (uint32_t i = 0; i < finding.threads.count; i++)
        end_state(&finding, i, &finding.threads.rows[i], end, TV_SLICE_OPEN);
    tv_free(finding.threads.rows);
    tv_map_release(&finding.runs);
}

/* ---- The whole ---- */

struct range {
    tv_ns first, last; /* first > last: nothing happened */
};

static void cover(struct range *range, tv_ns time)
{
    range->first = time < range->first ? time : range->first;
    range->last = time > range->last ? time : range->last;
}

static struct range find_range(const struct tv_etw *etw)
{
    struct range range = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < etw->switches.count; i++)
        cover(&range, etw->switches.rows[i].time);
    for (size_t i = 0; i < etw->readies.count; i++)
        cover(&range, etw->readies.rows[i].time);
    return range;
}

/* Its times are on the clock of the input beside, whatever that is called. */
static void share_clock(struct building *building)
{
    struct tv_input *beside = &building->head->inputs[building->place->beside];
    if (beside->clock == TV_EMPTY_STRING)
        beside->clock = beside->name;
    building->head->inputs[building->input].clock = beside->clock;
}

static void add_input(struct building *building, struct tv_builder *builder, uint64_t bytes)
{
    building->head = tv_builder_trace_info(builder);
    building->input =
        tv_trace_info_add_input(building->head, building->place->name, "Event Tracing for Windows");
    building->assembly = tv_assembly_new(builder, building->input);
    struct tv_input *input = &building->head->inputs[building->input];
    input->bytes = bytes;
    input->clocks = TV_CLOCK_WALL;
    input->records = building->etw->events;
    share_clock(building);
    tv_diagnostics_merge(&building->head->diagnostics, &building->etw->diagnostics);
}

static void build(struct building *building)
{
    struct range range = find_range(building->etw);
    struct tv_input *input = &building->head->inputs[building->input];
    input->eventless = range.first > range.last;
    if (input->eventless)
        range = (struct range){0, 0};
    input->origin = range.first;
    input->last_wall = range.last - range.first;
    if (building->etw->switches.count > 0)
        qsort(building->etw->switches.rows, building->etw->switches.count,
              sizeof *building->etw->switches.rows, compare_switches);
    find_processes(building);
    find_thread_names(building);
    know_threads(building);
    add_processors(building, range.last);
    add_states(building, range.last);
    struct tv_row_options placing = {.end = range.last};
    tv_assembly_build_rows(building->assembly, &placing);
    tv_assembly_add_state_tracks(building->assembly, building->strips.rows, building->strips.count,
                       building->slices.rows, building->slices.count, 1);
    begin_tracks(building);
    tv_assembly_end(building->assembly);
}

bool tv_etw_build(struct tv_bytes json, const struct tv_etw_place *place,
                  struct tv_builder *builder)
{
    struct tv_etw etw;
    struct building building = {.etw = &etw, .place = place};
    tv_etw_read(&etw, json);
    bool synced = etw.synced;
    if (synced) {
        tv_map_init(&building.processes);
        tv_map_init(&building.images);
        tv_map_init(&building.thread_names);
        tv_map_init(&building.frames);
        tv_map_init(&building.threads);
        tv_map_init(&building.state_strips);
        add_input(&building, builder, json.length);
        build(&building);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_sched.c - the schedule from switches and wake-ups of perf (perf_sched.h).
 *
 * A switch names its threads by their ids alone, and the process of a thread may be known from a
 * later sample.  So the events are gathered first; when all samples are there, ids become threads
 * of the trace, and the rows go to ftrace's schedule.
 */
#include "readers/perf/perf_sched.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/workers.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/fields.h"
#include "readers/ftrace/merge.h"

/* Fewer events are not worth a worker. */
#define MIN_SHARE ((size_t)1 << 16)

#define MAX_CPU UINT32_C(0xffff)

bool tv_perf_sched_find_kind(struct tv_bytes event, enum tv_perf_sched_kind *kind)
{
    static const struct {
        const char *name;
        enum tv_perf_sched_kind kind;
    } names[] = {
        {"switch", TV_PERF_SCHED_SWITCH},
        {"waking", TV_PERF_SCHED_WAKING},
        {"wakeup", TV_PERF_SCHED_WAKEUP},
        {"wakeup_new", TV_PERF_SCHED_WAKEUP},
    };
    struct tv_bytes prefix = TV_BYTES("sched:sched_");
    if (!tv_bytes_starts_with(event, prefix))
        return false;
    struct tv_bytes rest = {event.data + prefix.length, event.length - prefix.length};
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        *kind = names[i].kind;
        if (tv_bytes_equal(rest, tv_bytes_of(names[i].name)))
            return true;
    }
    return false;
}

bool tv_perf_sched_parse(enum tv_perf_sched_kind kind, struct tv_bytes details,
                         struct tv_perf_sched_event *event, struct tv_bytes *name)
{
    struct tv_ft_decoded_switch decoded;
    int64_t tid;
    event->kind = (uint8_t)kind;
    if (kind == TV_PERF_SCHED_SWITCH) {
        if (!tv_ft_parse_switch(details, &decoded))
            return false;
        event->by = (uint32_t)decoded.from;
        event->state = (uint8_t)decoded.state;
        event->tid = (uint32_t)decoded.to;
        *name = decoded.to_name;
        return true;
    }
    if (!tv_ft_wakes(details) || !tv_ft_parse_wakeup(details, &tid, name))
        return false;
    event->tid = (uint32_t)tid;
    return true;
}

/* ---- The schedule ---- */

/* State of building the schedule. */
struct perf_schedule {
    struct tv_profile_input *profile;
    const struct tv_map *processes; /* may be NULL */
    struct tv_map threads;          /* id -> thread of the trace */
    struct tv_map frames;           /* string of a name -> frame */
    TV_TABLE(tv_ft_switch) switches;
    TV_TABLE(tv_ft_wakeup) wakeups;
    bool has_processors; /* all switches name theirs */
    bool one_process;
};

TV_FT_DEFINE_SORT(perf_switches, tv_ft_switch)
TV_FT_DEFINE_SORT(perf_wakeups, tv_ft_wakeup)

/* Find the threads that have samples, which know their processes. */
static void perf_schedule_list_threads(struct perf_schedule *schedule)
{
    const struct tv_trace_info *info = schedule->profile->info;
    for (uint32_t i = 0; i < info->thread_count; i++)
        if (info->threads[i].input == schedule->profile->input)
            tv_map_set(&schedule->threads, info->threads[i].id, i);
}

/* Return the process of a thread that no sample has. */
static uint32_t perf_schedule_process(struct perf_schedule *schedule, uint32_t tid)
{
    uint32_t pid = schedule->processes ? tv_map_find(schedule->processes, tid) : TV_NONE;
    if (pid == TV_NONE)
        pid = schedule->one_process ? 0 : tid;
    return tv_profile_process(schedule->profile, pid, TV_BYTES(""));
}

/* Return the thread of an id; TV_NONE for the idle task.  `name` is a string, for threads that
 * have none. */
static uint32_t perf_schedule_thread(struct perf_schedule *schedule, uint32_t tid, uint32_t name)
{
    struct tv_trace_info *info = schedule->profile->info;
    if (tid == 0 || tid == TV_NONE)
        return TV_NONE;
    uint32_t thread = tv_map_find(&schedule->threads, tid);
    if (thread == TV_NONE) {
        thread = tv_profile_thread(schedule->profile, perf_schedule_process(schedule, tid), tid,
                                   TV_BYTES(""));
        tv_map_set(&schedule->threads, tid, thread);
    }
    if (info->threads[thread].name == TV_EMPTY_STRING)
        info->threads[thread].name = name;
    return thread;
}

/* Return the frame of a slice on a processor: the name of the thread. */
static uint32_t perf_schedule_frame(struct perf_schedule *schedule, uint32_t name)
{
    uint32_t frame = tv_map_find(&schedule->frames, name);
    struct tv_frame made = {.name = name,
                            .category = tv_profile_string(schedule->profile, TV_BYTES("sched"))};
    if (frame != TV_NONE)
        return frame;
    frame = tv_trace_info_add_frame(schedule->profile->info, &made);
    tv_map_set(&schedule->frames, name, frame);
    return frame;
}

/* Make a row of an event. */
static void perf_schedule_take(struct perf_schedule *schedule,
                               const struct tv_perf_sched_event *event)
{
    static const enum tv_ft_wake wakes[] = {
        [TV_PERF_SCHED_WAKING] = TV_FT_WAKE_ASKED,
        [TV_PERF_SCHED_WAKEUP] = TV_FT_WAKE_DONE,
    };
    uint32_t to = perf_schedule_thread(schedule, event->tid, event->name);
    uint32_t from = perf_schedule_thread(schedule, event->by, TV_EMPTY_STRING);
    tv_ns time = tv_move_within(event->time);
    tv_profile_reach(schedule->profile, time);
    if (event->kind == TV_PERF_SCHED_SWITCH) {
        schedule->has_processors = schedule->has_processors && event->cpu <= MAX_CPU;
        *tv_table_add(&schedule->switches) = (struct tv_ft_switch){
            .time = time,
            .offset = event->offset & TV_OFFSET_MASK,
            .cpu = event->cpu & MAX_CPU,
            .state = event->state,
            .from = from,
            .to = to,
            .frame = perf_schedule_frame(schedule, event->name),
        };
    } else if (to != TV_NONE) {
        *tv_table_add(&schedule->wakeups) = (struct tv_ft_wakeup){
            .time = time,
            .offset = event->offset & TV_OFFSET_MASK,
            .cpu = event->cpu & MAX_CPU,
            .kind = wakes[event->kind],
            .task = to,
            .by = from,
        };
    }
}

/* Build the schedule of the rows, and add its tracks. */
static void perf_schedule_build(struct perf_schedule *schedule,
                                const struct tv_read_options *options)
{
    struct tv_profile_input *profile = schedule->profile;
    size_t shares = (schedule->switches.count + schedule->wakeups.count) / MIN_SHARE + 1;
    unsigned workers = options->parts ? options->parts : tv_workers_available();
    struct tv_ft_schedule built = {
        .assembly = profile->assembly,
        .head = profile->info,
        .tables = &profile->trace->tables,
        .input = profile->input,
        .switches = schedule->switches.rows,
        .switch_count = schedule->switches.count,
        .wakeups = schedule->wakeups.rows,
        .wakeup_count = schedule->wakeups.count,
        .end = profile->last,
        .without_processors = !schedule->has_processors,
    };
    tv_ft_schedule_build(&built, workers < shares ? workers : (unsigned)shares);
    tv_profile_input_build_rows(profile, options);
    tv_ft_schedule_add_tracks(&built);
    tv_ft_schedule_release(&built);
}

void tv_perf_sched_finish(struct tv_perf_sched *sched, struct tv_profile_input *profile,
                          const struct tv_map *processes, const struct tv_read_options *options)
{
    struct perf_schedule schedule = {
        .profile = profile,
        .processes = processes,
        .has_processors = true,
        .one_process = sched->one_process,
    };
    if (sched->events.count == 0)
        return;
    tv_map_init(&schedule.threads);
    tv_map_init(&schedule.frames);
    perf_schedule_list_threads(&schedule);
    for (size_t i = 0; i < sched->events.count; i++)
        perf_schedule_take(&schedule, &sched->events.rows[i]);
    tv_perf_sched_release(sched);
    ft_sort_perf_switches(schedule.switches.rows, schedule.switches.count);
    ft_sort_perf_wakeups(schedule.wakeups.rows, schedule.wakeups.count);
    perf_schedule_build(&schedule, options);
    tv_map_release(&schedule.threads);
    tv_map_release(&schedule.frames);
    tv_free(schedule.switches.rows);
    tv_free(schedule.wakeups.rows);
}

void tv_perf_sched_release(struct tv_perf_sched *sched)
{
    tv_free(sched->events.rows);
    *sched = (struct tv_perf_sched){.events = {.rows = NULL}};
}

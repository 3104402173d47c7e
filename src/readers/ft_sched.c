/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ft_sched.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"

/* Reserved colours: their ids of trace-event.md section 5, less 22. */
enum colour {
    STATE_BLOCKED = 1, /* thread_state_uninterruptible */
    STATE_IO = 2,      /* thread_state_iowait */
    STATE_RUNNING = 3,
    STATE_RUNNABLE = 4,
    STATE_SLEEPING = 5,
};

static const struct {
    const char *name;
    uint8_t colour;
} states[TV_FT_STATES] = {
    [TV_FT_RUNNING] = {"Running", STATE_RUNNING},
    [TV_FT_RUNNABLE] = {"Runnable", STATE_RUNNABLE},
    [TV_FT_PREEMPTED] = {"Runnable (preempted)", STATE_RUNNABLE},
    [TV_FT_SLEEPING] = {"Sleeping", STATE_SLEEPING},
    [TV_FT_BLOCKED] = {"Uninterruptible Sleep", STATE_BLOCKED},
    [TV_FT_BLOCKED_IO] = {"Uninterruptible Sleep (I/O)", STATE_IO},
    [TV_FT_BLOCKED_KILLABLE] = {"Uninterruptible Sleep | WakeKill", STATE_BLOCKED},
    [TV_FT_BLOCKED_WAKING] = {"Uninterruptible Sleep | Waking", STATE_BLOCKED},
    [TV_FT_STOPPED] = {"Stopped", STATE_BLOCKED},
    [TV_FT_TRACED] = {"Traced", STATE_BLOCKED},
    [TV_FT_ZOMBIE] = {"Zombie", STATE_BLOCKED},
    [TV_FT_EXIT_DEAD] = {"Exit Dead", STATE_BLOCKED},
    [TV_FT_TASK_DEAD] = {"Task Dead", STATE_BLOCKED},
    [TV_FT_WAKE_KILL] = {"Wake Kill", STATE_BLOCKED},
    [TV_FT_WAKING] = {"Waking", STATE_BLOCKED},
    [TV_FT_PARKED] = {"Parked", STATE_SLEEPING},
    [TV_FT_IDLE] = {"Sleeping (idle)", STATE_SLEEPING},
    [TV_FT_UNKNOWN] = {"Unknown", STATE_BLOCKED},
};

/* What a processor runs. */
struct processor {
    bool known;      /* a switch was seen */
    uint32_t thread; /* TV_NONE: idle */
    uint32_t frame;
    int64_t since;
    uint64_t offset;
};

/* What a thread does. */
struct doing {
    bool known;
    enum tv_ft_state state;
    int64_t since;
    uint64_t offset;
    size_t blocked; /* 1 + the place in states of the sleep that it was woken from; 0: none */
    bool io_told;   /* a reason came before the switch that it tells of */
};

struct finding {
    struct tv_ft_schedule *schedule;
    struct processor *processors;
    struct doing *threads;
    TV_TABLE(tv_wakeup) wakeups;     /* in the order of time */
    TV_TABLE(tv_blocking) blockings; /* the same */
    uint32_t frames[TV_FT_STATES];
};

static void end_run(struct finding *f, size_t cpu, int64_t time, unsigned flags)
{
    struct processor *p = &f->processors[cpu];
    if (!p->known || p->thread == TV_NONE || time < p->since)
        return;
    *tv_table_add(&f->schedule->runs_on) = (struct tv_strip_slice){
        .start = p->since,
        .length = time - p->since,
        .offset = p->offset & TV_FT_OFFSET,
        .flags = flags & 0xff,
        .frame = p->frame,
        .strip = (uint32_t)cpu,
    };
}

static bool is_blocked(enum tv_ft_state state)
{
    return state >= TV_FT_BLOCKED && state <= TV_FT_BLOCKED_WAKING;
}

/* The thread leaves its state for another. */
static void turn(struct finding *f, uint32_t thread, const struct doing *next, unsigned flags)
{
    struct doing *doing = &f->threads[thread];
    bool takes_time = doing->known && next->since > doing->since;
    bool wakes = takes_time && is_blocked(doing->state) && next->state == TV_FT_RUNNABLE;
    bool io = doing->io_told && is_blocked(next->state);
    if (takes_time)
        *tv_table_add(&f->schedule->states) = (struct tv_strip_slice){
            .start = doing->since,
            .length = next->since - doing->since,
            .offset = doing->offset & TV_FT_OFFSET,
            .flags = flags & 0xff,
            .frame = f->frames[doing->state],
            .strip = thread,
        };
    *doing = *next;
    doing->blocked = wakes ? f->schedule->states.count : 0;
    if (io)
        doing->state = TV_FT_BLOCKED_IO;
}

static void take_switch(struct finding *f, const struct tv_ft_switch *s)
{
    struct processor *p = &f->processors[s->cpu];
    if (!p->known)
        f->schedule->known_since[s->cpu] = s->time;
    else if (p->thread != s->from)
        tv_diagnostics_add(&f->schedule->head->diagnostics, TV_DIAGNOSTIC_SWITCH_MISSED, s->offset);
    end_run(f, s->cpu, s->time, 0);
    *p = (struct processor){true, s->to, s->frame, s->time, s->offset};
}

static void turn_both(struct finding *f, const struct tv_ft_switch *s)
{
    if (s->from != TV_NONE)
        turn(f, s->from,
             &(struct doing){.known = true,
                             .state = (enum tv_ft_state)s->state,
                             .since = s->time,
                             .offset = s->offset},
             0);
    if (s->to != TV_NONE)
        turn(f, s->to,
             &(struct doing){
                 .known = true, .state = TV_FT_RUNNING, .since = s->time, .offset = s->offset},
             0);
}

/* A reason belongs to the last sleep until the thread runs again; while it runs, to the sleep that
 * follows at once. */
static void take_reason(struct finding *f, struct doing *doing)
{
    if (doing->known && is_blocked(doing->state))
        doing->state = TV_FT_BLOCKED_IO;
    else if (doing->blocked > 0)
        f->schedule->states.rows[doing->blocked - 1].frame = f->frames[TV_FT_BLOCKED_IO];
    else
        doing->io_told = true;
}

/* Only the first of several wake-ups wakes. */
static void take_wakeup(struct finding *f, const struct tv_ft_wakeup *w)
{
    struct tv_ft_schedule *schedule = f->schedule;
    struct doing *doing = &f->threads[w->task];
    if (w->kind == TV_FT_WAKE_BLOCKED) {
        if (w->io)
            take_reason(f, doing);
        *tv_table_add(&f->blockings) =
            (struct tv_blocking){w->time, w->offset, w->task, w->by, schedule->input, w->io};
        return;
    }
    if (doing->known && doing->state <= TV_FT_PREEMPTED)
        return;
    turn(f, w->task,
         &(struct doing){
             .known = true, .state = TV_FT_RUNNABLE, .since = w->time, .offset = w->offset},
         0);
    *tv_table_add(&f->wakeups) =
        (struct tv_wakeup){w->time, w->offset, w->task, w->by, schedule->input};
}

/* Whether switch i comes before wake-up j: by time, then by the order of the file. */
static bool switch_first(const struct tv_ft_schedule *s, size_t i, size_t j)
{
    if (i == s->switch_count || j == s->wakeup_count)
        return j == s->wakeup_count;
    const struct tv_ft_switch *a = &s->switches[i];
    const struct tv_ft_wakeup *b = &s->wakeups[j];
    return a->time < b->time || (a->time == b->time && a->offset < b->offset);
}

static void find_runs(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    f->processors = tv_alloc(s->processor_count, sizeof *f->processors);
    s->known_since = tv_alloc(s->processor_count, sizeof *s->known_since);
    for (size_t i = 0; i < s->switch_count; i++)
        take_switch(f, &s->switches[i]);
    for (size_t cpu = 0; cpu < s->processor_count; cpu++)
        end_run(f, cpu, s->end, TV_SLICE_OPEN);
    tv_free(f->processors);
}

static void find_states(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    size_t i = 0, j = 0;
    f->threads = tv_alloc(s->head->thread_count, sizeof *f->threads);
    while (i < s->switch_count || j < s->wakeup_count) {
        if (switch_first(s, i, j))
            turn_both(f, &s->switches[i++]);
        else if (s->wakeups[j].task == TV_NONE)
            j++;
        else
            take_wakeup(f, &s->wakeups[j++]);
    }
    struct doing gone = {.since = s->end};
    for (uint32_t thread = 0; thread < s->head->thread_count; thread++)
        turn(f, thread, &gone, TV_SLICE_OPEN);
    tv_free(f->threads);
}

static void make_strips(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    char name[32];
    s->strips = tv_alloc(s->processor_count + s->head->thread_count, sizeof *s->strips);
    for (size_t cpu = 0; cpu < s->processor_count; cpu++) {
        snprintf(name, sizeof name, "CPU %u", (unsigned)cpu);
        s->strips[cpu] = (struct tv_strip){TV_TRACK_CPU, tv_head_string(s->head, tv_bytes_of(name)),
                                           TV_NONE, TV_NONE};
    }
    for (uint32_t thread = 0; thread < s->head->thread_count; thread++)
        s->strips[s->processor_count + thread] =
            (struct tv_strip){TV_TRACK_STATES, s->head->threads[thread].name,
                              s->head->threads[thread].process, thread};
}

/* The clocks of the threads, from the slices in which they run. */
static void make_clocks(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    uint32_t threads = s->head->thread_count;
    size_t total = 0;
    s->clocks = tv_alloc(threads, sizeof *s->clocks);
    for (size_t i = 0; i < s->states.count; i++)
        if (s->states.rows[i].frame == f->frames[TV_FT_RUNNING])
            s->clocks[s->states.rows[i].strip].count++;
    for (uint32_t i = 0; i < threads; i++)
        total += s->clocks[i].count;
    s->runs = tv_alloc(total, sizeof *s->runs);
    struct tv_run **next = tv_alloc(threads, sizeof *next);
    struct tv_run *place = s->runs;
    for (uint32_t i = 0; i < threads; i++) {
        s->clocks[i].runs = next[i] = place;
        place += s->clocks[i].count;
    }
    for (size_t i = 0; i < s->states.count; i++) {
        const struct tv_strip_slice *slice = &s->states.rows[i];
        if (slice->frame != f->frames[TV_FT_RUNNING])
            continue;
        struct tv_run *run = next[slice->strip]++;
        int64_t before =
            run == s->clocks[slice->strip].runs ? 0 : run[-1].before + run[-1].end - run[-1].start;
        *run = (struct tv_run){slice->start, slice->start + slice->length, before};
    }
    tv_free(next);
}

/* Rows of threads go to a table by threads, each one's in the order of time: as they are wanted. */
#define DEFINE_MOVE(name)                                                                          \
    static void move_##name(struct finding *f)                                                     \
    {                                                                                              \
        struct tv_ft_schedule *s = f->schedule;                                                    \
        size_t *next = tv_alloc((size_t)s->head->thread_count + 1, sizeof *next);                  \
        size_t first = s->tables->name.count, count = f->name.count;                               \
        for (size_t i = 0; i < count; i++)                                                         \
            next[f->name.rows[i].thread + 1]++;                                                    \
        for (uint32_t i = 0; i < s->head->thread_count; i++)                                       \
            next[i + 1] += next[i];                                                                \
        s->tables->name.rows = tv_array_reserve(s->tables->name.rows, &s->tables->name.capacity,   \
                                                first + count, sizeof *s->tables->name.rows);      \
        for (size_t i = 0; i < count; i++)                                                         \
            s->tables->name.rows[first + next[f->name.rows[i].thread]++] = f->name.rows[i];        \
        s->tables->name.count = first + count;                                                     \
        tv_free(next);                                                                             \
        tv_free(f->name.rows);                                                                     \
    }

DEFINE_MOVE(wakeups)
DEFINE_MOVE(blockings)

static void make_frames(struct finding *f)
{
    struct tv_head *head = f->schedule->head;
    for (size_t i = 0; i < TV_FT_STATES; i++) {
        struct tv_frame frame = {
            .name = tv_head_string(head, tv_bytes_of(states[i].name)),
            .category = tv_head_string(head, TV_BYTES("thread state")),
        };
        f->frames[i] = tv_head_add_frame(head, &frame);
        head->frames[f->frames[i]].colour = states[i].colour;
    }
}

/* What processors ran and what threads did are found side by side: the one writes diagnostics, the
 * other tables. */
static void find_half(void *context, unsigned index)
{
    struct finding *f = context;
    if (index == 0) {
        find_states(f);
        move_wakeups(f);
        move_blockings(f);
        make_clocks(f);
    } else {
        find_runs(f);
    }
}

void tv_ft_schedule_find(struct tv_ft_schedule *schedule, bool alone)
{
    struct finding f = {.schedule = schedule};
    if (schedule->switch_count == 0 && schedule->wakeup_count == 0)
        return;
    for (size_t i = 0; i < schedule->switch_count; i++)
        if (schedule->switches[i].cpu >= schedule->processor_count)
            schedule->processor_count = (size_t)schedule->switches[i].cpu + 1;
    make_frames(&f);
    if (alone) {
        find_half(&f, 0);
        find_half(&f, 1);
    } else {
        tv_workers_run(2, find_half, &f);
    }
    make_strips(&f);
}

/* By processor; TV_NONE: it ran nothing. */
static uint32_t *find_tracks(const struct tv_ft_schedule *schedule, const struct tv_trace *trace)
{
    uint32_t *tracks = tv_alloc(schedule->processor_count, sizeof *tracks);
    for (size_t cpu = 0; cpu < schedule->processor_count; cpu++)
        tracks[cpu] = TV_NONE;
    size_t cpu = 0;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_CPU || track->input != schedule->input)
            continue;
        while (cpu < schedule->processor_count && schedule->strips[cpu].name != track->name)
            cpu++;
        if (cpu < schedule->processor_count)
            tracks[cpu] = i;
    }
    return tracks;
}

void tv_ft_schedule_tracks(const struct tv_ft_schedule *schedule, struct tv_trace *trace)
{
    uint32_t *tracks = find_tracks(schedule, trace);
    for (size_t cpu = 0; cpu < schedule->processor_count; cpu++)
        if (tracks[cpu] != TV_NONE)
            trace->tracks[tracks[cpu]].first_wall = schedule->known_since[cpu];
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope != TV_SCOPE_TRACK || instant->input != schedule->input)
            continue;
        instant->of = instant->of < schedule->processor_count ? tracks[instant->of] : TV_NONE;
        if (instant->of == TV_NONE)
            instant->scope = TV_SCOPE_GLOBAL;
    }
    tv_free(tracks);
}

void tv_ft_schedule_release(struct tv_ft_schedule *schedule)
{
    tv_free(schedule->strips);
    tv_free(schedule->known_since);
    tv_free(schedule->runs_on.rows);
    tv_free(schedule->states.rows);
    tv_free(schedule->runs);
    tv_free(schedule->clocks);
}

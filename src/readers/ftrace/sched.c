/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/sched.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"

static const struct {
    const char *name;
    uint8_t colour;
} states[TV_FT_STATES] = {
    [TV_FT_RUNNING] = {"Running", TV_COLOUR_RUNNING},
    [TV_FT_RUNNABLE] = {"Runnable", TV_COLOUR_RUNNABLE},
    [TV_FT_PREEMPTED] = {"Runnable (preempted)", TV_COLOUR_RUNNABLE},
    [TV_FT_SLEEPING] = {"Sleeping", TV_COLOUR_SLEEPING},
    [TV_FT_BLOCKED] = {"Uninterruptible Sleep", TV_COLOUR_BLOCKED},
    [TV_FT_BLOCKED_IO] = {"Uninterruptible Sleep (I/O)", TV_COLOUR_IO},
    [TV_FT_BLOCKED_KILLABLE] = {"Uninterruptible Sleep | WakeKill", TV_COLOUR_BLOCKED},
    [TV_FT_BLOCKED_WAKING] = {"Uninterruptible Sleep | Waking", TV_COLOUR_BLOCKED},
    [TV_FT_STOPPED] = {"Stopped", TV_COLOUR_BLOCKED},
    [TV_FT_TRACED] = {"Traced", TV_COLOUR_BLOCKED},
    [TV_FT_ZOMBIE] = {"Zombie", TV_COLOUR_BLOCKED},
    [TV_FT_EXIT_DEAD] = {"Exit Dead", TV_COLOUR_BLOCKED},
    [TV_FT_TASK_DEAD] = {"Task Dead", TV_COLOUR_BLOCKED},
    [TV_FT_WAKE_KILL] = {"Wake Kill", TV_COLOUR_BLOCKED},
    [TV_FT_WAKING] = {"Waking", TV_COLOUR_BLOCKED},
    [TV_FT_PARKED] = {"Parked", TV_COLOUR_SLEEPING},
    [TV_FT_IDLE] = {"Sleeping (idle)", TV_COLOUR_SLEEPING},
    [TV_FT_UNKNOWN] = {"Unknown", TV_COLOUR_BLOCKED},
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
    struct tv_strip_slice *blocked; /* the sleep that it was woken from; NULL: none */
    bool io_told;                   /* a reason came before the switch that it tells of */
};

/* Processors have numbers of 16 bits. */
#define MOST_PROCESSORS ((size_t)1 << 16)

/* The work of one worker: counts a stretch of the rows, then does all for threads that follow one
 * another. */
struct stretch {
    uint32_t *by_cpu, *by_thread; /* how many slices the rows make at most */
    uint32_t first, end;          /* threads */
    TV_TABLE(tv_wakeup) wakeups;  /* of the threads, in the order of time */
    TV_TABLE(tv_blocking) blockings;
    size_t first_wakeup, first_blocking; /* where those of the threads begin in the tables */
};

struct finding {
    struct tv_ft_schedule *schedule;
    struct doing *threads;
    struct tv_strip_slice **ends; /* by strip: behind its last slice */
    uint32_t *running;            /* by thread: how often it ran */
    uint32_t frames[TV_FT_STATES];
    struct stretch *stretches;
    unsigned stretch_count;
};

/* ---- What processors run ---- */

static void end_run(struct finding *f, const struct processor *p, size_t cpu, int64_t time,
                    unsigned flags)
{
    if (!p->known || p->thread == TV_NONE || time < p->since)
        return;
    *f->ends[cpu]++ = (struct tv_strip_slice){
        .start = p->since,
        .length = time - p->since,
        .offset = p->offset & TV_FT_OFFSET,
        .flags = flags & 0xff,
        .frame = p->frame,
        .strip = (uint32_t)cpu,
    };
}

static void find_runs(struct finding *f)
{
    struct tv_ft_schedule *schedule = f->schedule;
    struct processor *processors = tv_alloc(schedule->processor_count, sizeof *processors);
    schedule->known_since = tv_alloc(schedule->processor_count, sizeof *schedule->known_since);
    for (size_t i = 0; i < schedule->switch_count; i++) {
        const struct tv_ft_switch *s = &schedule->switches[i];
        struct processor *p = &processors[s->cpu];
        if (!p->known)
            schedule->known_since[s->cpu] = s->time;
        else if (p->thread != s->from)
            tv_diagnostics_add(&schedule->head->diagnostics, TV_DIAGNOSTIC_SWITCH_MISSED,
                               s->offset);
        end_run(f, p, s->cpu, s->time, 0);
        *p = (struct processor){true, s->to, s->frame, s->time, s->offset};
    }
    for (size_t cpu = 0; cpu < schedule->processor_count; cpu++)
        end_run(f, &processors[cpu], cpu, schedule->end, TV_SLICE_OPEN);
    tv_free(processors);
}

/* ---- What threads do ---- */

static bool is_blocked(enum tv_ft_state state)
{
    return state >= TV_FT_BLOCKED && state <= TV_FT_BLOCKED_WAKING;
}

/* The thread leaves its state for another. */
static void turn(struct finding *f, uint32_t thread, const struct doing *next, unsigned flags)
{
    struct doing *doing = &f->threads[thread];
    struct tv_strip_slice *left = NULL;
    bool io = doing->io_told && is_blocked(next->state);
    if (doing->known && next->since > doing->since) {
        size_t strip = f->schedule->processor_count + thread;
        left = f->ends[strip]++;
        *left = (struct tv_strip_slice){
            .start = doing->since,
            .length = next->since - doing->since,
            .offset = doing->offset & TV_FT_OFFSET,
            .flags = flags & 0xff,
            .frame = f->frames[doing->state],
            .strip = (uint32_t)strip,
        };
        f->running[thread] += doing->state == TV_FT_RUNNING;
    }
    bool wakes = left && is_blocked(doing->state) && next->state == TV_FT_RUNNABLE;
    *doing = *next;
    doing->blocked = wakes ? left : NULL;
    if (io)
        doing->state = TV_FT_BLOCKED_IO;
}

/* Nor is TV_NONE one of them. */
static bool has_thread(const struct stretch *stretch, uint32_t thread)
{
    return thread - stretch->first < stretch->end - stretch->first;
}

static void turn_both(struct finding *f, const struct stretch *stretch,
                      const struct tv_ft_switch *s)
{
    if (has_thread(stretch, s->from))
        turn(f, s->from,
             &(struct doing){.known = true,
                             .state = (enum tv_ft_state)s->state,
                             .since = s->time,
                             .offset = s->offset},
             0);
    if (has_thread(stretch, s->to))
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
    else if (doing->blocked)
        doing->blocked->frame = f->frames[TV_FT_BLOCKED_IO];
    else
        doing->io_told = true;
}

/* Only the first of several wake-ups wakes. */
static void take_wakeup(struct finding *f, struct stretch *stretch, const struct tv_ft_wakeup *w)
{
    uint32_t input = f->schedule->input;
    struct doing *doing = &f->threads[w->task];
    if (w->kind == TV_FT_WAKE_BLOCKED) {
        if (w->io)
            take_reason(f, doing);
        *tv_table_add(&stretch->blockings) = (struct tv_blocking){.time = w->time,
                                                                  .offset = w->offset,
                                                                  .thread = w->task,
                                                                  .caller = w->by,
                                                                  .input = input,
                                                                  .io = w->io};
        return;
    }
    if (doing->known && doing->state <= TV_FT_PREEMPTED)
        return;
    turn(f, w->task,
         &(struct doing){
             .known = true, .state = TV_FT_RUNNABLE, .since = w->time, .offset = w->offset},
         0);
    *tv_table_add(&stretch->wakeups) = (struct tv_wakeup){
        .time = w->time, .offset = w->offset, .thread = w->task, .by = w->by, .input = input};
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

static void find_states(struct finding *f, struct stretch *stretch)
{
    const struct tv_ft_schedule *s = f->schedule;
    size_t i = 0, j = 0;
    while (i < s->switch_count || j < s->wakeup_count) {
        if (switch_first(s, i, j)) {
            turn_both(f, stretch, &s->switches[i++]);
            continue;
        }
        if (has_thread(stretch, s->wakeups[j].task))
            take_wakeup(f, stretch, &s->wakeups[j]);
        j++;
    }
    struct doing gone = {.since = s->end};
    for (uint32_t thread = stretch->first; thread < stretch->end; thread++)
        turn(f, thread, &gone, TV_SLICE_OPEN);
}

/* ---- Room ---- */

/* Each switch and wake-up ends no more than one slice of its processor and its threads. */
static void count_rows(void *context, unsigned index)
{
    const struct finding *f = context;
    const struct tv_ft_schedule *s = f->schedule;
    struct stretch *stretch = &f->stretches[index];
    size_t switches = s->switch_count / f->stretch_count,
           wakeups = s->wakeup_count / f->stretch_count;
    bool last = index + 1 == f->stretch_count;
    size_t switch_end = last ? s->switch_count : switches * (index + 1);
    size_t wakeup_end = last ? s->wakeup_count : wakeups * (index + 1);
    stretch->by_cpu = tv_alloc(MOST_PROCESSORS, sizeof *stretch->by_cpu);
    stretch->by_thread = tv_alloc(s->head->thread_count, sizeof *stretch->by_thread);
    for (size_t i = switches * index; i < switch_end; i++) {
        stretch->by_cpu[s->switches[i].cpu]++;
        if (s->switches[i].from != TV_NONE)
            stretch->by_thread[s->switches[i].from]++;
        if (s->switches[i].to != TV_NONE)
            stretch->by_thread[s->switches[i].to]++;
    }
    for (size_t i = wakeups * index; i < wakeup_end; i++)
        if (s->wakeups[i].kind != TV_FT_WAKE_BLOCKED && s->wakeups[i].task != TV_NONE)
            stretch->by_thread[s->wakeups[i].task]++;
}

static void add_up(struct finding *f)
{
    struct stretch *all = &f->stretches[0];
    for (unsigned i = 1; i < f->stretch_count; i++) {
        const struct stretch *other = &f->stretches[i];
        for (size_t cpu = 0; cpu < MOST_PROCESSORS; cpu++)
            all->by_cpu[cpu] += other->by_cpu[cpu];
        for (uint32_t thread = 0; thread < f->schedule->head->thread_count; thread++)
            all->by_thread[thread] += other->by_thread[thread];
    }
    for (size_t cpu = 0; cpu < MOST_PROCESSORS; cpu++)
        if (all->by_cpu[cpu] > 0)
            f->schedule->processor_count = cpu + 1;
}

/* Gives each strip the room that it may need. */
static void lay_out(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    const struct stretch *all = &f->stretches[0];
    uint32_t threads = s->head->thread_count;
    size_t count = 0, at = 0;
    for (size_t cpu = 0; cpu < s->processor_count; cpu++)
        count += all->by_cpu[cpu];
    for (uint32_t i = 0; i < threads; i++)
        count += all->by_thread[i];
    s->slices_size = tv_size_mul(count, sizeof *s->slices);
    s->slices = tv_pages_alloc(s->slices_size);
    s->lists = tv_alloc(s->processor_count + threads, sizeof *s->lists);
    f->ends = tv_alloc(s->processor_count + threads, sizeof *f->ends);
    for (size_t i = 0; i < s->processor_count + threads; i++) {
        s->lists[i].slices = f->ends[i] = s->slices + at;
        at += i < s->processor_count ? all->by_cpu[i] : all->by_thread[i - s->processor_count];
    }
}

/* Threads of about as many slices for each worker. */
static void share_threads(struct finding *f)
{
    const uint32_t *counts = f->stretches[0].by_thread;
    uint32_t threads = f->schedule->head->thread_count, thread = 0;
    uint64_t total = 0, before = 0;
    for (uint32_t i = 0; i < threads; i++)
        total += counts[i];
    for (unsigned i = 0; i < f->stretch_count; i++) {
        struct stretch *stretch = &f->stretches[i];
        stretch->first = thread;
        while (thread < threads &&
               (i + 1 == f->stretch_count || before < total / f->stretch_count * (i + 1)))
            before += counts[thread++];
        stretch->end = thread;
    }
}

/* ---- Tables by threads ---- */

/* The clock of a thread, from the slices in which it runs. */
static void make_clock(struct finding *f, uint32_t thread)
{
    const struct tv_ft_schedule *s = f->schedule;
    const struct tv_strip_list *list = &s->lists[s->processor_count + thread];
    struct tv_run *runs = s->runs + (s->clocks[thread].runs - s->runs);
    int64_t before = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct tv_strip_slice *slice = &list->slices[i];
        if (slice->frame != f->frames[TV_FT_RUNNING])
            continue;
        *runs++ = (struct tv_run){slice->start, slice->start + slice->length, before};
        before += slice->length;
    }
}

/* Rows of threads go to a table by threads, each one's in the order of time: as they are wanted. */
#define DEFINE_MOVE(name, first_row)                                                               \
    static void move_##name(struct tv_ft_schedule *s, struct stretch *stretch)                     \
    {                                                                                              \
        size_t *next = tv_alloc((size_t)(stretch->end - stretch->first) + 1, sizeof *next);        \
        size_t count = stretch->name.count;                                                        \
        for (size_t i = 0; i < count; i++)                                                         \
            next[stretch->name.rows[i].thread - stretch->first + 1]++;                             \
        next[0] = stretch->first_row;                                                              \
        for (uint32_t i = 0; i < stretch->end - stretch->first; i++)                               \
            next[i + 1] += next[i];                                                                \
        for (size_t i = 0; i < count; i++)                                                         \
            s->tables->name.rows[next[stretch->name.rows[i].thread - stretch->first]++] =          \
                stretch->name.rows[i];                                                             \
        tv_free(next);                                                                             \
        tv_free(stretch->name.rows);                                                               \
    }

DEFINE_MOVE(wakeups, first_wakeup)
DEFINE_MOVE(blockings, first_blocking)

#define RESERVE(table, first_row)                                                                  \
    do {                                                                                           \
        size_t end_ = s->tables->table.count;                                                      \
        for (unsigned i_ = 0; i_ < f->stretch_count; i_++) {                                       \
            f->stretches[i_].first_row = end_;                                                     \
            end_ += f->stretches[i_].table.count;                                                  \
        }                                                                                          \
        s->tables->table.rows =                                                                    \
            tv_array_reserve(s->tables->table.rows, &s->tables->table.capacity, end_,              \
                             sizeof *s->tables->table.rows);                                       \
        s->tables->table.count = end_;                                                             \
    } while (0)

static void reserve_tables(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    uint32_t threads = s->head->thread_count;
    size_t total = 0;
    RESERVE(wakeups, first_wakeup);
    RESERVE(blockings, first_blocking);
    for (size_t i = 0; i < s->processor_count + threads; i++)
        s->lists[i].count = (size_t)(f->ends[i] - s->lists[i].slices);
    for (uint32_t i = 0; i < threads; i++)
        total += f->running[i];
    s->clocks = tv_alloc(threads, sizeof *s->clocks);
    s->runs = tv_alloc(total, sizeof *s->runs);
    total = 0;
    for (uint32_t i = 0; i < threads; i++) {
        s->clocks[i] = (struct tv_run_clock){s->runs + total, f->running[i]};
        total += f->running[i];
    }
}

static void fill_tables(void *context, unsigned index)
{
    struct finding *f = context;
    struct stretch *stretch = &f->stretches[index];
    move_wakeups(f->schedule, stretch);
    move_blockings(f->schedule, stretch);
    for (uint32_t thread = stretch->first; thread < stretch->end; thread++)
        make_clock(f, thread);
}

static void make_strips(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    char name[32];
    s->strips = tv_alloc(s->processor_count + s->head->thread_count, sizeof *s->strips);
    for (size_t cpu = 0; cpu < s->processor_count; cpu++) {
        snprintf(name, sizeof name, "CPU %u", (unsigned)cpu);
        s->strips[cpu] = (struct tv_strip){
            .kind = TV_TRACK_CPU,
            .name = tv_head_string(s->head, tv_bytes_of(name)),
            .process = TV_NONE,
            .thread = TV_NONE,
            .known = f->stretches[0].by_cpu[cpu] > 0,
            .since = s->known_since[cpu],
        };
    }
    for (uint32_t thread = 0; thread < s->head->thread_count; thread++)
        s->strips[s->processor_count + thread] = (struct tv_strip){
            .kind = TV_TRACK_STATES,
            .name = s->head->threads[thread].name,
            .process = s->head->threads[thread].process,
            .thread = thread,
        };
}

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

/* What processors ran is found beside what threads did: the one writes diagnostics, the other
 * tables. */
static void find_part(void *context, unsigned index)
{
    struct finding *f = context;
    if (index < f->stretch_count)
        find_states(f, &f->stretches[index]);
    else
        find_runs(f);
}

static void release(struct finding *f)
{
    for (unsigned i = 0; i < f->stretch_count; i++) {
        tv_free(f->stretches[i].by_cpu);
        tv_free(f->stretches[i].by_thread);
    }
    tv_free(f->stretches);
    tv_free(f->threads);
    tv_free(f->ends);
    tv_free(f->running);
}

void tv_ft_schedule_find(struct tv_ft_schedule *schedule, unsigned workers)
{
    uint32_t threads = schedule->head->thread_count;
    if (schedule->switch_count == 0 && schedule->wakeup_count == 0)
        return;
    struct finding f = {
        .schedule = schedule,
        .threads = tv_alloc(threads, sizeof *f.threads),
        .running = tv_alloc(threads, sizeof *f.running),
        .stretches = tv_alloc(workers, sizeof *f.stretches),
        .stretch_count = workers,
    };
    make_frames(&f);
    tv_workers_run(workers, count_rows, &f);
    add_up(&f);
    lay_out(&f);
    share_threads(&f);
    if (workers == 1) {
        find_part(&f, 0);
        find_part(&f, 1);
    } else {
        tv_workers_run(workers + 1, find_part, &f);
    }
    reserve_tables(&f);
    tv_workers_run(workers, fill_tables, &f);
    make_strips(&f);
    release(&f);
}

/* By processor; TV_NONE: nothing is known of it. */
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
    tv_free(schedule->lists);
    tv_pages_free(schedule->slices, schedule->slices_size);
    tv_free(schedule->runs);
    tv_free(schedule->clocks);
}

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
    uint32_t blocked; /* the sleep that it was woken from; TV_NONE: none */
    bool io_told;     /* a reason came before the switch that it tells of */
};

/* How much a thread has; then, while that is written, where the next goes. */
struct amount {
    size_t runs, wakeups, blockings;
};

/* Processors have numbers of 16 bits. */
#define MOST_PROCESSORS ((size_t)1 << 16)

/* The work of one worker: counts a stretch of the rows, then does all for threads that follow one
 * another. */
struct stretch {
    bool *switched;      /* by processor: a row is of it */
    uint32_t *by_thread; /* how many slices the rows make at most */
    uint32_t first, end; /* threads */
    unsigned group;      /* of their strips */
};

/* All is gone through twice: to count, so that all has its place, and to write it there. */
struct finding {
    struct tv_ft_schedule *schedule;
    struct processor *processors;
    struct doing *threads;
    uint32_t *counts; /* by strip: its slices */
    struct amount *amounts;
    uint32_t frames[TV_FT_STATES];
    struct stretch *stretches;
    unsigned stretch_count;
    bool writing;
};

/* ---- What processors run ---- */

static void end_run(struct finding *f, const struct processor *p, size_t cpu, int64_t time,
                    unsigned flags)
{
    if (!p->known || p->thread == TV_NONE || time < p->since)
        return;
    if (!f->writing) {
        f->counts[cpu]++;
        return;
    }
    tv_state_rows_put(f->schedule->rows, 0,
                      &(struct tv_state_slice){
                          .start = p->since,
                          .length = time - p->since,
                          .offset = p->offset & TV_OFFSET_MASK,
                          .flags = flags & 0xff,
                          .frame = p->frame,
                          .strip = (uint32_t)cpu,
                      });
}

/* The first switch of a processor, or one after others. */
static void note_switch(struct finding *f, const struct processor *p, const struct tv_ft_switch *s)
{
    if (f->writing)
        return;
    if (!p->known)
        f->schedule->known_since[s->cpu] = s->time;
    else if (p->thread != s->from)
        tv_diagnostics_add(&f->schedule->head->diagnostics, TV_DIAGNOSTIC_SWITCH_MISSED, s->offset);
}

static void find_runs(struct finding *f)
{
    const struct tv_ft_schedule *schedule = f->schedule;
    struct processor *processors = f->processors;
    memset(processors, 0, schedule->processor_count * sizeof *processors);
    for (size_t i = 0; i < schedule->switch_count; i++) {
        const struct tv_ft_switch *s = &schedule->switches[i];
        struct processor *p = &processors[s->cpu];
        note_switch(f, p, s);
        end_run(f, p, s->cpu, s->time, 0);
        *p = (struct processor){true, s->to, s->frame, s->time, s->offset};
    }
    for (size_t cpu = 0; cpu < schedule->processor_count; cpu++)
        end_run(f, &processors[cpu], cpu, schedule->end, TV_SLICE_OPEN);
}

/* ---- What threads do ---- */

static bool is_blocked(enum tv_ft_state state)
{
    return state >= TV_FT_BLOCKED && state <= TV_FT_BLOCKED_WAKING;
}

/* The thread ran: its clock stands where the run before it ended. */
static void add_run(struct finding *f, uint32_t thread, int64_t start, int64_t end)
{
    struct tv_ft_schedule *s = f->schedule;
    struct tv_running *run = &s->runs[f->amounts[thread].runs++];
    bool first = run == s->clocks[thread].runs;
    *run = (struct tv_running){start, end, first ? 0 : run[-1].before + run[-1].end - run[-1].start};
}

/* The thread was in its state until then: the index of that in its strip. */
static uint32_t end_state(struct finding *f, const struct stretch *stretch, uint32_t thread,
                          int64_t until, unsigned flags)
{
    const struct doing *doing = &f->threads[thread];
    size_t strip = f->schedule->processor_count + thread;
    if (!f->writing) {
        f->amounts[thread].runs += doing->state == TV_FT_RUNNING;
        return f->counts[strip]++;
    }
    if (doing->state == TV_FT_RUNNING)
        add_run(f, thread, doing->since, until);
    return tv_state_rows_put(f->schedule->rows, stretch->group,
                             &(struct tv_state_slice){
                                 .start = doing->since,
                                 .length = until - doing->since,
                                 .offset = doing->offset & TV_OFFSET_MASK,
                                 .flags = flags & 0xff,
                                 .frame = f->frames[doing->state],
                                 .strip = (uint32_t)strip,
                             });
}

/* The thread leaves its state for another. */
static void turn(struct finding *f, const struct stretch *stretch, uint32_t thread,
                 const struct doing *next)
{
    struct doing *doing = &f->threads[thread];
    uint32_t left = TV_NONE;
    bool io = doing->io_told && is_blocked(next->state);
    if (doing->known && next->since > doing->since)
        left = end_state(f, stretch, thread, next->since, next->known ? 0 : TV_SLICE_OPEN);
    bool wakes = is_blocked(doing->state) && next->state == TV_FT_RUNNABLE;
    *doing = *next;
    doing->blocked = wakes ? left : TV_NONE;
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
    struct doing next = {.known = true, .since = s->time, .offset = s->offset};
    next.state = (enum tv_ft_state)s->state;
    if (has_thread(stretch, s->from))
        turn(f, stretch, s->from, &next);
    next.state = TV_FT_RUNNING;
    if (has_thread(stretch, s->to))
        turn(f, stretch, s->to, &next);
}

/* A reason belongs to the last sleep until the thread runs again; while it runs, to the sleep that
 * follows at once. */
static void take_reason(struct finding *f, const struct stretch *stretch, uint32_t thread)
{
    const struct tv_ft_schedule *s = f->schedule;
    struct doing *doing = &f->threads[thread];
    if (doing->known && is_blocked(doing->state))
        doing->state = TV_FT_BLOCKED_IO;
    else if (!doing->known || doing->blocked == TV_NONE)
        doing->io_told = true;
    else if (f->writing)
        tv_state_rows_rename(s->rows, stretch->group, s->processor_count + thread, doing->blocked,
                             f->frames[TV_FT_BLOCKED_IO]);
}

static void take_blocking(struct finding *f, const struct tv_ft_wakeup *w)
{
    size_t place = f->amounts[w->task].blockings++;
    if (f->writing)
        f->schedule->tables->blockings.rows[place] = (struct tv_blocking){
            .time = w->time,
            .offset = w->offset,
            .thread = w->task,
            .caller = w->by,
            .input = f->schedule->input,
            .io = w->io,
        };
}

/* Only the first of several wake-ups wakes. */
static void take_wakeup(struct finding *f, const struct stretch *stretch,
                        const struct tv_ft_wakeup *w)
{
    const struct doing *doing = &f->threads[w->task];
    if (doing->known && doing->state <= TV_FT_PREEMPTED)
        return;
    turn(f, stretch, w->task,
         &(struct doing){
             .known = true, .state = TV_FT_RUNNABLE, .since = w->time, .offset = w->offset});
    size_t place = f->amounts[w->task].wakeups++;
    if (f->writing)
        f->schedule->tables->wakeups.rows[place] = (struct tv_wakeup){
            .time = w->time,
            .offset = w->offset,
            .thread = w->task,
            .by = w->by,
            .input = f->schedule->input,
        };
}

static void take(struct finding *f, const struct stretch *stretch, const struct tv_ft_wakeup *w)
{
    if (w->kind != TV_FT_WAKE_BLOCKED) {
        take_wakeup(f, stretch, w);
        return;
    }
    if (w->io)
        take_reason(f, stretch, w->task);
    take_blocking(f, w);
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

static void find_states(struct finding *f, const struct stretch *stretch)
{
    const struct tv_ft_schedule *s = f->schedule;
    size_t i = 0, j = 0;
    memset(f->threads + stretch->first, 0, (stretch->end - stretch->first) * sizeof *f->threads);
    while (i < s->switch_count || j < s->wakeup_count) {
        if (switch_first(s, i, j)) {
            turn_both(f, stretch, &s->switches[i++]);
            continue;
        }
        if (has_thread(stretch, s->wakeups[j].task))
            take(f, stretch, &s->wakeups[j]);
        j++;
    }
    struct doing gone = {.since = s->end};
    for (uint32_t thread = stretch->first; thread < stretch->end; thread++)
        turn(f, stretch, thread, &gone);
}

/* ---- Room ---- */

/* Each switch and wake-up ends no more than one slice of each of its threads. */
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
    stretch->switched = tv_alloc(MOST_PROCESSORS, sizeof *stretch->switched);
    stretch->by_thread = tv_alloc(s->head->thread_count, sizeof *stretch->by_thread);
    for (size_t i = switches * index; i < switch_end; i++) {
        stretch->switched[s->switches[i].cpu] = true;
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
            all->switched[cpu] |= other->switched[cpu];
        for (uint32_t thread = 0; thread < f->schedule->head->thread_count; thread++)
            all->by_thread[thread] += other->by_thread[thread];
    }
    for (size_t cpu = 0; cpu < MOST_PROCESSORS; cpu++)
        if (all->switched[cpu])
            f->schedule->processor_count = cpu + 1;
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

/* ---- Places ---- */

static void lay_out_strips(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    size_t strips = s->processor_count + s->head->thread_count, slices = 0;
    size_t *ends = tv_alloc((size_t)f->stretch_count + 1, sizeof *ends);
    struct tv_state_layout layout = {f->counts, strips, ends, 1};
    for (size_t i = 0; i < strips; i++)
        slices += f->counts[i];
    ends[0] = strips;
    if (f->stretch_count > 1 && slices >= TV_STATE_GROUP_LEAST) {
        ends[0] = s->processor_count;
        for (unsigned i = 0; i < f->stretch_count; i++) {
            f->stretches[i].group = i + 1;
            ends[i + 1] = s->processor_count + f->stretches[i].end;
        }
        layout.group_count = f->stretch_count + 1;
    }
    s->rows = tv_state_rows_new(s->assembly, &layout);
    tv_free(ends);
}

/* Makes room for *first rows more and tells where they begin. */
#define RESERVE(table, first)                                                                      \
    do {                                                                                           \
        size_t begin_ = (table)->count;                                                            \
        (table)->count += *(first);                                                                \
        (table)->rows = tv_array_reserve((table)->rows, &(table)->capacity, (table)->count,        \
                                         sizeof *(table)->rows);                                   \
        *(first) = begin_;                                                                         \
    } while (0)

/* What threads have stands in the order of the threads, each one's in the order of time: as it is
 * wanted. */
static void lay_out(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    uint32_t threads = s->head->thread_count;
    struct amount next = {0};
    for (uint32_t i = 0; i < threads; i++) {
        next.runs += f->amounts[i].runs;
        next.wakeups += f->amounts[i].wakeups;
        next.blockings += f->amounts[i].blockings;
    }
    if (next.runs > 0) {
        s->clocks = tv_alloc(threads, sizeof *s->clocks);
        s->runs = tv_alloc(next.runs, sizeof *s->runs);
    }
    RESERVE(&s->tables->wakeups, &next.wakeups);
    RESERVE(&s->tables->blockings, &next.blockings);
    next.runs = 0;
    for (uint32_t i = 0; i < threads; i++) {
        struct amount has = f->amounts[i];
        if (s->clocks)
            s->clocks[i] = (struct tv_running_clock){s->runs + next.runs, has.runs};
        f->amounts[i] = next;
        next.runs += has.runs;
        next.wakeups += has.wakeups;
        next.blockings += has.blockings;
    }
    lay_out_strips(f);
}

static void make_strips(struct finding *f)
{
    struct tv_ft_schedule *s = f->schedule;
    char name[32];
    s->strips = tv_alloc(s->processor_count + s->head->thread_count, sizeof *s->strips);
    for (size_t cpu = 0; cpu < s->processor_count; cpu++) {
        snprintf(name, sizeof name, "CPU %u", (unsigned)cpu);
        s->strips[cpu] = (struct tv_state_track){
            .kind = TV_TRACK_CPU,
            .name = tv_trace_info_string(s->head, tv_bytes_of(name)),
            .process = TV_NONE,
            .thread = TV_NONE,
            .known = f->stretches[0].switched[cpu],
            .since = s->known_since[cpu],
        };
    }
    for (uint32_t thread = 0; thread < s->head->thread_count; thread++)
        s->strips[s->processor_count + thread] = (struct tv_state_track){
            .kind = TV_TRACK_STATES,
            .name = s->head->threads[thread].name,
            .process = s->head->threads[thread].process,
            .thread = thread,
        };
}

static void make_frames(struct finding *f)
{
    struct tv_trace_info *head = f->schedule->head;
    for (size_t i = 0; i < TV_FT_STATES; i++) {
        struct tv_frame frame = {
            .name = tv_trace_info_string(head, tv_bytes_of(states[i].name)),
            .category = tv_trace_info_string(head, TV_BYTES("thread state")),
        };
        f->frames[i] = tv_trace_info_add_frame(head, &frame);
        head->frames[f->frames[i]].colour = states[i].colour;
    }
}

/* What processors ran is found beside what threads did: the one tells diagnostics, the other
 * writes tables. */
static void find_part(void *context, unsigned index)
{
    struct finding *f = context;
    if (index < f->stretch_count)
        find_states(f, &f->stretches[index]);
    else
        find_runs(f);
}

/* Slices of one group are written by one worker. */
static void find_all(struct finding *f)
{
    if (f->stretch_count > 1 && (!f->writing || f->stretches[0].group > 0)) {
        tv_workers_run(f->stretch_count + 1, find_part, f);
        return;
    }
    for (unsigned i = 0; i <= f->stretch_count; i++)
        find_part(f, i);
}

static void release(struct finding *f)
{
    for (unsigned i = 0; i < f->stretch_count; i++) {
        tv_free(f->stretches[i].switched);
        tv_free(f->stretches[i].by_thread);
    }
    tv_free(f->stretches);
    tv_free(f->processors);
    tv_free(f->threads);
    tv_free(f->counts);
    tv_free(f->amounts);
}

void tv_ft_schedule_find(struct tv_ft_schedule *schedule, unsigned workers)
{
    uint32_t threads = schedule->head->thread_count;
    if (schedule->switch_count == 0 && schedule->wakeup_count == 0)
        return;
    if (schedule->switch_count + schedule->wakeup_count >= TV_NONE)
        tv_memory_exhausted();
    struct finding f = {
        .schedule = schedule,
        .threads = tv_alloc(threads, sizeof *f.threads),
        .amounts = tv_alloc(threads, sizeof *f.amounts),
        .stretches = tv_alloc(workers, sizeof *f.stretches),
        .stretch_count = workers,
    };
    make_frames(&f);
    tv_workers_run(workers, count_rows, &f);
    add_up(&f);
    f.processors = tv_alloc(schedule->processor_count, sizeof *f.processors);
    f.counts = tv_alloc(schedule->processor_count + threads, sizeof *f.counts);
    schedule->known_since = tv_alloc(schedule->processor_count, sizeof *schedule->known_since);
    share_threads(&f);
    find_all(&f);
    lay_out(&f);
    f.writing = true;
    find_all(&f);
    make_strips(&f);
    release(&f);
}

void tv_ft_schedule_place(struct tv_ft_schedule *schedule)
{
    tv_free(schedule->runs);
    tv_free(schedule->clocks);
    schedule->runs = NULL;
    schedule->clocks = NULL;
    if (schedule->rows)
        tv_assembly_add_state_rows(schedule->assembly, schedule->strips, schedule->rows);
    schedule->rows = NULL;
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
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that ran on each processor, and the states of each thread, from all switches and
 * wake-ups in time order.
 *
 *     switches  --.                       .-- slices of processors     (1 worker)
 *                  > replay, two passes --|
 *     wake-ups  --'                       '-- states of threads 0..k   (worker 1)
 *                                         '-- states of threads k..n   (worker 2) ...
 *
 * Every worker replays all rows but handles only its own threads, so the workers share nothing. The
 * first pass counts slices, runs and wake-ups of each thread; then everything has its final place,
 * and the second pass writes it there.  Both passes take the same decisions: `writing` must not
 * influence the states.
 *
 * An example.  Thread 7 sleeps uninterruptibly, is woken by thread 3, and runs again:
 *
 *   row                              thread 7                       slice that ends
 *   switch 7 -> 3, state D           Uninterruptible Sleep          Running
 *   blocked_reason 7, iowait=1       Uninterruptible Sleep (I/O)    - (the sleep gets this name)
 *   wake-up of 7 by 3                Runnable                       Uninterruptible Sleep (I/O)
 *   switch 3 -> 7                    Running                        Runnable
 *
 * A blocked_reason may stand before the switch, within the sleep, or after the wake-up.  In the
 * last case the slice of the sleep is written already; `blocked` remembers which one it is.  The
 * Running slices of a thread, one after the other, are also its CPU clock.
 */
#include "readers/ftrace/merge.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "readers/ftrace/decoded.h"

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
    [TV_FT_STOPPED] = {"Stopped", TV_COLOUR_OTHER},
    [TV_FT_TRACED] = {"Traced", TV_COLOUR_OTHER},
    [TV_FT_ZOMBIE] = {"Zombie", TV_COLOUR_OTHER},
    [TV_FT_EXIT_DEAD] = {"Exit Dead", TV_COLOUR_OTHER},
    [TV_FT_TASK_DEAD] = {"Task Dead", TV_COLOUR_OTHER},
    [TV_FT_WAKE_KILL] = {"Wake Kill", TV_COLOUR_OTHER},
    [TV_FT_WAKING] = {"Waking", TV_COLOUR_OTHER},
    [TV_FT_PARKED] = {"Parked", TV_COLOUR_SLEEPING},
    [TV_FT_IDLE] = {"Sleeping (idle)", TV_COLOUR_SLEEPING},
    [TV_FT_UNKNOWN] = {"Unknown", TV_COLOUR_OTHER},
    [TV_FT_CREATED] = {"Created", TV_COLOUR_SLEEPING},
};

enum tv_ft_state tv_ft_find_state(struct tv_bytes name)
{
    for (unsigned i = 0; i < TV_FT_CREATED; i++)
        if (tv_bytes_equal(name, tv_bytes_of(states[i].name)))
            return (enum tv_ft_state)i;
    return TV_FT_UNKNOWN;
}

/* State of a processor while the switches are replayed. */
struct ft_sched_cpu {
    bool known;      /* there was a switch */
    uint32_t thread; /* TV_NONE: idle */
    uint32_t frame;
    int64_t since;
    uint64_t offset;
};

/* State of a thread while switches and wake-ups are replayed. */
struct ft_sched_state {
    bool known;
    enum tv_ft_state state;
    int64_t since;
    uint64_t offset;
    uint32_t blocked; /* the last sleep, from which it was woken; TV_NONE: none */
    bool io_told;     /* the reason for blocking came before the switch to the blocked state */
};

/* Number of rows of a thread in the first pass; position of its next row in the second. */
struct ft_sched_amount {
    size_t runs, wakeups, blockings;
};

/* The tables store a processor in 16 bits. */
#define MAX_PROCESSORS ((size_t)1 << 16)

/* Share of one worker: it counts a range of the rows, then replays all rows for a range of
 * threads. */
struct ft_sched_share {
    bool *switched;      /* by processor: true when a switch names it */
    uint32_t *by_thread; /* upper bound of the thread's slices */
    uint32_t first, end; /* threads */
    unsigned group;      /* group of the threads' state tracks in the layout */
};

/* State of both passes: the first counts the rows of each thread, so that the second can write
 * them to their final place, in parallel. */
struct ft_sched_pass {
    struct tv_ft_schedule *schedule;
    struct ft_sched_cpu *processors;
    struct ft_sched_state *threads;
    uint32_t *counts; /* by state track: the number of its slices */
    struct ft_sched_amount *amounts;
    uint32_t frames[TV_FT_STATES];
    struct ft_sched_share *stretches;
    unsigned stretch_count;
    bool tells_states; /* events tell states themselves: TV_FT_WAKE_STATE */
    bool writing;
};

/* ---- Processors ---- */

/* End the slice of a processor: count it in the first pass, write it in the second. Idle time
 * has no slice. */
static void ft_sched_end_cpu_slice(struct ft_sched_pass *f, const struct ft_sched_cpu *p,
                                   size_t cpu, int64_t time, unsigned flags)
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
                          .state_track = (uint32_t)cpu,
                      });
}

/* Note the first switch of a processor, and count a switch whose previous task is not the
 * running one. */
static void ft_sched_note_switch(struct ft_sched_pass *f, const struct ft_sched_cpu *p,
                                 const struct tv_ft_switch *s)
{
    if (f->writing)
        return;
    if (!p->known)
        f->schedule->known_since[s->cpu] = s->time;
    else if (p->thread != s->from)
        tv_diagnostics_add(&f->schedule->head->diagnostics, TV_DIAGNOSTIC_SWITCH_MISSED, s->offset);
}

/* Replay all switches for the processors. */
static void ft_sched_find_cpu_slices(struct ft_sched_pass *f)
{
    const struct tv_ft_schedule *schedule = f->schedule;
    struct ft_sched_cpu *processors = f->processors;
    memset(processors, 0, schedule->processor_count * sizeof *processors);
    if (schedule->without_processors)
        return;
    for (size_t i = 0; i < schedule->switch_count; i++) {
        const struct tv_ft_switch *s = &schedule->switches[i];
        struct ft_sched_cpu *p = &processors[s->cpu];
        ft_sched_note_switch(f, p, s);
        ft_sched_end_cpu_slice(f, p, s->cpu, s->time, 0);
        *p = (struct ft_sched_cpu){true, s->to, s->frame, s->time, s->offset};
    }
    for (size_t cpu = 0; cpu < schedule->processor_count; cpu++)
        ft_sched_end_cpu_slice(f, &processors[cpu], cpu, schedule->end, TV_SLICE_OPEN);
}

/* ---- Threads ---- */

/* Return true for the states of uninterruptible sleep, which a blocked_reason may turn into I/O. */
static bool ft_sched_is_blocked(enum tv_ft_state state)
{
    return state >= TV_FT_BLOCKED && state <= TV_FT_BLOCKED_WAKING;
}

/* Add a time for which the thread ran; its CPU clock continues where the last run ended. */
static void ft_sched_add_cpu_run(struct ft_sched_pass *f, uint32_t thread, int64_t start,
                                 int64_t end)
{
    assert(f->writing && start <= end);
    struct tv_ft_schedule *s = f->schedule;
    struct tv_running *run = &s->runs[f->amounts[thread].runs++];
    bool first = run == s->clocks[thread].runs;
    *run =
        (struct tv_running){start, end, first ? 0 : run[-1].before + run[-1].end - run[-1].start};
}

/* End the state of a thread. Return the index of the slice in its state track. */
static uint32_t ft_sched_end_state(struct ft_sched_pass *f, const struct ft_sched_share *stretch,
                                   uint32_t thread, int64_t until, unsigned flags)
{
    assert(thread >= stretch->first && thread < stretch->end);
    const struct ft_sched_state *doing = &f->threads[thread];
    size_t state_track = f->schedule->processor_count + thread;
    if (!f->writing) {
        f->amounts[thread].runs += doing->state == TV_FT_RUNNING;
        return f->counts[state_track]++;
    }
    if (doing->state == TV_FT_RUNNING)
        ft_sched_add_cpu_run(f, thread, doing->since, until);
    return tv_state_rows_put(f->schedule->rows, stretch->group,
                             &(struct tv_state_slice){
                                 .start = doing->since,
                                 .length = until - doing->since,
                                 .offset = doing->offset & TV_OFFSET_MASK,
                                 .flags = flags & 0xff,
                                 .frame = f->frames[doing->state],
                                 .state_track = (uint32_t)state_track,
                             });
}

/* Change the state of a thread. */
static void ft_sched_change_state(struct ft_sched_pass *f, const struct ft_sched_share *stretch,
                                  uint32_t thread, const struct ft_sched_state *next)
{
    struct ft_sched_state *doing = &f->threads[thread];
    uint32_t left = TV_NONE;
    bool io = doing->io_told && ft_sched_is_blocked(next->state);
    bool lasts = next->since > doing->since || (f->tells_states && !next->known);
    if (doing->known && lasts)
        left = ft_sched_end_state(f, stretch, thread, next->since, next->known ? 0 : TV_SLICE_OPEN);
    bool wakes = ft_sched_is_blocked(doing->state) && next->state == TV_FT_RUNNABLE;
    *doing = *next;
    doing->blocked = wakes ? left : TV_NONE;
    if (io)
        doing->state = TV_FT_BLOCKED_IO;
}

/* Return true when the thread belongs to this worker's share. TV_NONE belongs to none, by
 * unsigned wrap-around. */
static bool ft_sched_has_thread(const struct ft_sched_share *stretch, uint32_t thread)
{
    return thread - stretch->first < stretch->end - stretch->first;
}

/* Apply a switch to both of its threads, as far as they belong to this worker's share. */
static void ft_sched_take_switch(struct ft_sched_pass *f, const struct ft_sched_share *stretch,
                                 const struct tv_ft_switch *s)
{
    struct ft_sched_state next = {.known = true, .since = s->time, .offset = s->offset};
    next.state = (enum tv_ft_state)s->state;
    if (ft_sched_has_thread(stretch, s->from))
        ft_sched_change_state(f, stretch, s->from, &next);
    next.state = TV_FT_RUNNING;
    if (ft_sched_has_thread(stretch, s->to))
        ft_sched_change_state(f, stretch, s->to, &next);
}

/* Apply a reason for blocking: to the last sleep until the thread runs again; while it runs, to
 * the sleep that follows at once. */
static void ft_sched_take_reason(struct ft_sched_pass *f, const struct ft_sched_share *stretch,
                                 uint32_t thread)
{
    const struct tv_ft_schedule *s = f->schedule;
    struct ft_sched_state *doing = &f->threads[thread];
    if (doing->known && ft_sched_is_blocked(doing->state))
        doing->state = TV_FT_BLOCKED_IO;
    else if (!doing->known || doing->blocked == TV_NONE)
        doing->io_told = true;
    else if (f->writing)
        tv_state_rows_rename(s->rows, stretch->group, s->processor_count + thread, doing->blocked,
                             f->frames[TV_FT_BLOCKED_IO]);
}

/* Count a reason for blocking in the first pass; write its row in the second. */
static void ft_sched_take_blocking(struct ft_sched_pass *f, const struct tv_ft_wakeup *w)
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

/* Apply a wake-up; only the first of several changes the state. */
static void ft_sched_take_wakeup(struct ft_sched_pass *f, const struct ft_sched_share *stretch,
                                 const struct tv_ft_wakeup *w)
{
    const struct ft_sched_state *doing = &f->threads[w->task];
    if (doing->known && doing->state <= TV_FT_PREEMPTED)
        return;
    ft_sched_change_state(
        f, stretch, w->task,
        &(struct ft_sched_state){
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

/* Apply a wake-up, a reason for blocking, or a state that an event tells. All kinds are in one
 * table, because they belong to one thread and must be replayed in time order. */
static void ft_sched_take_wake_row(struct ft_sched_pass *f, const struct ft_sched_share *stretch,
                                   const struct tv_ft_wakeup *w)
{
    if (w->kind == TV_FT_WAKE_STATE) {
        ft_sched_change_state(f, stretch, w->task,
                              &(struct ft_sched_state){.known = true,
                                                       .state = (enum tv_ft_state)w->by,
                                                       .since = w->time,
                                                       .offset = w->offset});
        return;
    }
    if (w->kind != TV_FT_WAKE_BLOCKED) {
        ft_sched_take_wakeup(f, stretch, w);
        return;
    }
    if (w->io)
        ft_sched_take_reason(f, stretch, w->task);
    ft_sched_take_blocking(f, w);
}

/* Return true when switch i comes before wake-up j: by time, then by the order of the file. */
static bool ft_sched_is_switch_first(const struct tv_ft_schedule *s, size_t i, size_t j)
{
    if (i == s->switch_count || j == s->wakeup_count)
        return j == s->wakeup_count;
    const struct tv_ft_switch *a = &s->switches[i];
    const struct tv_ft_wakeup *b = &s->wakeups[j];
    return a->time < b->time || (a->time == b->time && a->offset < b->offset);
}

/* Replay all switches and wake-ups for a share of the threads. */
static void ft_sched_find_states(struct ft_sched_pass *f, const struct ft_sched_share *stretch)
{
    const struct tv_ft_schedule *s = f->schedule;
    size_t i = 0, j = 0;
    memset(f->threads + stretch->first, 0, (stretch->end - stretch->first) * sizeof *f->threads);
    while (i < s->switch_count || j < s->wakeup_count) {
        if (ft_sched_is_switch_first(s, i, j)) {
            ft_sched_take_switch(f, stretch, &s->switches[i++]);
            continue;
        }
        if (ft_sched_has_thread(stretch, s->wakeups[j].task))
            ft_sched_take_wake_row(f, stretch, &s->wakeups[j]);
        j++;
    }
    struct ft_sched_state gone = {.since = s->end};
    for (uint32_t thread = stretch->first; thread < stretch->end; thread++)
        ft_sched_change_state(f, stretch, thread, &gone);
}

/* ---- Counting ---- */

/* Count, for a range of the rows, the slices of each thread: a row ends at most one slice of
 * each of its threads. */
static void ft_sched_count_rows(void *context, unsigned index)
{
    const struct ft_sched_pass *f = context;
    const struct tv_ft_schedule *s = f->schedule;
    struct ft_sched_share *stretch = &f->stretches[index];
    size_t switches = s->switch_count / f->stretch_count,
           wakeups = s->wakeup_count / f->stretch_count;
    bool last = index + 1 == f->stretch_count;
    size_t switch_end = last ? s->switch_count : switches * (index + 1);
    size_t wakeup_end = last ? s->wakeup_count : wakeups * (index + 1);
    stretch->switched = tv_alloc(MAX_PROCESSORS, sizeof *stretch->switched);
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

/* Sum the counts of all workers into those of the first. */
static void ft_sched_sum_counts(struct ft_sched_pass *f)
{
    assert(f->stretch_count > 0);
    struct ft_sched_share *all = &f->stretches[0];
    for (unsigned i = 1; i < f->stretch_count; i++) {
        const struct ft_sched_share *other = &f->stretches[i];
        for (size_t cpu = 0; cpu < MAX_PROCESSORS; cpu++)
            all->switched[cpu] |= other->switched[cpu];
        for (uint32_t thread = 0; thread < f->schedule->head->thread_count; thread++)
            all->by_thread[thread] += other->by_thread[thread];
    }
    for (size_t cpu = 0; cpu < MAX_PROCESSORS && !f->schedule->without_processors; cpu++)
        if (all->switched[cpu])
            f->schedule->processor_count = cpu + 1;
}

/* Give each worker threads with about the same number of slices in total. */
static void ft_sched_share_threads(struct ft_sched_pass *f)
{
    const uint32_t *counts = f->stretches[0].by_thread;
    uint32_t threads = f->schedule->head->thread_count, thread = 0;
    uint64_t total = 0, before = 0;
    for (uint32_t i = 0; i < threads; i++)
        total += counts[i];
    for (unsigned i = 0; i < f->stretch_count; i++) {
        struct ft_sched_share *stretch = &f->stretches[i];
        stretch->first = thread;
        while (thread < threads &&
               (i + 1 == f->stretch_count || before < total / f->stretch_count * (i + 1)))
            before += counts[thread++];
        stretch->end = thread;
    }
}

/* ---- Layout ---- */

/* Lay out the state tracks: one group for the processors and one per worker, or a single group
 * if there are few slices. */
static void ft_sched_lay_out_tracks(struct ft_sched_pass *f)
{
    struct tv_ft_schedule *s = f->schedule;
    size_t strips = s->processor_count + s->head->thread_count, slices = 0;
    size_t *ends = tv_alloc((size_t)f->stretch_count + 1, sizeof *ends);
    struct tv_state_layout layout = {f->counts, strips, ends, 1};
    for (size_t i = 0; i < strips; i++)
        slices += f->counts[i];
    ends[0] = strips;
    if (f->stretch_count > 1 && slices >= TV_STATE_GROUP_MIN) {
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

/* Reserve *first more rows and set *first to the index of the first of them. */
#define RESERVE(table, first)                                                                      \
    do {                                                                                           \
        size_t begin_ = (table)->count;                                                            \
        (table)->count += *(first);                                                                \
        (table)->rows = tv_array_reserve((table)->rows, &(table)->capacity, (table)->count,        \
                                         sizeof *(table)->rows);                                   \
        *(first) = begin_;                                                                         \
    } while (0)

/* Lay out the rows thread by thread, in time order within each: the order in which the model
 * wants them. */
static void ft_sched_lay_out_rows(struct ft_sched_pass *f)
{
    struct tv_ft_schedule *s = f->schedule;
    uint32_t threads = s->head->thread_count;
    struct ft_sched_amount next = {0};
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
        struct ft_sched_amount has = f->amounts[i];
        if (s->clocks)
            s->clocks[i] = (struct tv_running_clock){s->runs + next.runs, has.runs};
        f->amounts[i] = next;
        next.runs += has.runs;
        next.wakeups += has.wakeups;
        next.blockings += has.blockings;
    }
    ft_sched_lay_out_tracks(f);
}

/* Fill the names and owners of the state tracks. */
static void ft_sched_name_tracks(struct ft_sched_pass *f)
{
    assert(f->writing); /* both passes are done */
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

static void ft_sched_add_state_frames(struct ft_sched_pass *f)
{
    struct tv_trace_info *head = f->schedule->head;
    for (size_t i = 0; i < (f->tells_states ? TV_FT_STATES : TV_FT_CREATED); i++) {
        struct tv_frame frame = {
            .name = tv_trace_info_string(head, tv_bytes_of(states[i].name)),
            .category = tv_trace_info_string(head, TV_BYTES("thread state")),
        };
        f->frames[i] = tv_trace_info_add_frame(head, &frame);
        head->frames[f->frames[i]].colour = states[i].colour;
    }
}

/* Run one worker of a pass. The worker for the processors runs beside those for the threads: it
 * adds diagnostics, they write tables. */
static void ft_sched_run_worker(void *context, unsigned index)
{
    struct ft_sched_pass *f = context;
    if (index < f->stretch_count)
        ft_sched_find_states(f, &f->stretches[index]);
    else
        ft_sched_find_cpu_slices(f);
}

/* A group of state tracks must have a single writer, so a small layout (one group) runs on one
 * thread. */
static void ft_sched_run_pass(struct ft_sched_pass *f)
{
    if (f->stretch_count > 1 && (!f->writing || f->stretches[0].group > 0)) {
        tv_workers_run(f->stretch_count + 1, ft_sched_run_worker, f);
        return;
    }
    for (unsigned i = 0; i <= f->stretch_count; i++)
        ft_sched_run_worker(f, i);
}

static void ft_sched_release(struct ft_sched_pass *f)
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

void tv_ft_schedule_build(struct tv_ft_schedule *schedule, unsigned workers)
{
    assert(!schedule->strips && !schedule->rows && workers > 0);
    uint32_t threads = schedule->head->thread_count;
    if (schedule->switch_count == 0 && schedule->wakeup_count == 0)
        return;
    if (schedule->switch_count + schedule->wakeup_count >= TV_NONE)
        tv_memory_exhausted();
    struct ft_sched_pass f = {
        .schedule = schedule,
        .threads = tv_alloc(threads, sizeof *f.threads),
        .amounts = tv_alloc(threads, sizeof *f.amounts),
        .stretches = tv_alloc(workers, sizeof *f.stretches),
        .stretch_count = workers,
    };
    for (size_t i = 0; i < schedule->wakeup_count && !f.tells_states; i++)
        f.tells_states = schedule->wakeups[i].kind == TV_FT_WAKE_STATE;
    ft_sched_add_state_frames(&f);
    tv_workers_run(workers, ft_sched_count_rows, &f);
    ft_sched_sum_counts(&f);
    f.processors = tv_alloc(schedule->processor_count, sizeof *f.processors);
    f.counts = tv_alloc(schedule->processor_count + threads, sizeof *f.counts);
    schedule->known_since = tv_alloc(schedule->processor_count, sizeof *schedule->known_since);
    ft_sched_share_threads(&f);
    ft_sched_run_pass(&f);
    ft_sched_lay_out_rows(&f);
    f.writing = true;
    ft_sched_run_pass(&f);
    ft_sched_name_tracks(&f);
    ft_sched_release(&f);
}

void tv_ft_schedule_add_tracks(struct tv_ft_schedule *schedule)
{
    tv_free(schedule->runs);
    tv_free(schedule->clocks);
    schedule->runs = NULL;
    schedule->clocks = NULL;
    if (schedule->rows)
        tv_assembly_add_state_rows(schedule->assembly, schedule->strips, schedule->rows);
    schedule->rows = NULL;
}

/* Return the track of each processor; TV_NONE where it has none. The caller frees the result. */
static uint32_t *ft_sched_find_tracks(const struct tv_ft_schedule *schedule,
                                      const struct tv_trace *trace)
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

void tv_ft_schedule_place_instants(const struct tv_ft_schedule *schedule, struct tv_trace *trace)
{
    uint32_t *tracks = ft_sched_find_tracks(schedule, trace);
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

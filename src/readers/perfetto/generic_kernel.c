/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generic_kernel.c - what the schedulers of kernels other than Linux tell
 * (docs/formats/perfetto.md section 7).
 *
 *     117 task state    {1 cpu, 2 name, 3 tid, 4 state, 5 priority}   one thread's new state
 *     118 frequency     {1 cpu, 2 Hz}                                 counter, as of ftrace
 *     120 rename        {1 tid, 2 name}
 *     122 process tree  {1 process {1 pid, 2 parent, 3 command line},
 *                        2 thread {1 tid, 2 pid, 3 name}}
 *
 * A thread that begins to run takes the place of the one that ran there, whose own state comes in
 * a packet of its own at the same time, or later, or never:
 *
 *     state of a thread                      becomes
 *     Running                                switch of its processor to it
 *     another one                            change of state; while it runs, also a switch of its
 *                                            processor to idle
 *
 * Packets of several processors are not in the order of time, so all are collected first.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/reading.h"

/* Processors above are not believed. */
#define MAX_CPU 4095u

/* Return whether threads can have an id: the keys of tasks that are no threads are above 2^62. */
static bool pf_generic_is_tid(int64_t tid)
{
    return tid > 0 && (uint64_t)tid >> 32 != UINT64_C(1) << 30;
}

static enum tv_ft_state pf_generic_state(uint64_t state)
{
    static const enum tv_ft_state states[] = {
        TV_FT_UNKNOWN, TV_FT_CREATED, TV_FT_RUNNABLE, TV_FT_RUNNING,   TV_FT_SLEEPING,
        TV_FT_BLOCKED, TV_FT_STOPPED, TV_FT_ZOMBIE,   TV_FT_EXIT_DEAD,
    };
    return state < TV_COUNT(states) ? states[state] : TV_FT_UNKNOWN;
}

/* Keep a thread's new state. */
static void pf_take_generic_state(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                  struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_pf_generic_state row = {.time = at->time, .offset = at->offset & TV_OFFSET_MASK};
    uint64_t state = 0, cpu = 0;
    int64_t tid = 0;
    row.name = TV_EMPTY_STRING;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            cpu = field.value;
        else if (field.number == 2)
            row.name = tv_pf_text(reading, field.bytes);
        else if (field.number == 3)
            tid = (int64_t)field.value;
        else if (field.number == 4)
            state = field.value;
    }
    row.state = pf_generic_state(state);
    if (!pf_generic_is_tid(tid) || cpu > MAX_CPU) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, at->offset);
        return;
    }
    row.tid = tid;
    row.cpu = (uint16_t)cpu;
    row.task = tv_ft_chunk_task(reading->chunk, tid);
    tv_ft_chunk_note(reading->chunk, at->time);
    if (row.state == TV_FT_CREATED)
        tv_pf_note_start(reading, tid, TV_FT_NO_ID, at->time);
    else if (row.state == TV_FT_EXIT_DEAD)
        tv_pf_note_end(reading, tid, TV_FT_NO_ID, at->time);
    *tv_table_add(&reading->generic.states) = row;
}

static void pf_take_generic_rename(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                   struct tv_bytes bytes)
{
    int64_t tid = (int64_t)tv_pf_find(bytes, 1).value;
    if (!pf_generic_is_tid(tid)) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, at->offset);
        return;
    }
    tv_ft_chunk_note(reading->chunk, at->time);
    *tv_table_add(&reading->generic.states) = (struct tv_pf_generic_state){
        .time = at->time,
        .offset = at->offset & TV_OFFSET_MASK,
        .tid = tid,
        .task = tv_ft_chunk_task(reading->chunk, tid),
        .name = tv_pf_text(reading, tv_pf_find(bytes, 2).bytes),
        .renames = true,
    };
}

/* Take a tree of processes {1: id, parent, command} and threads {2: id, process, name}. */
static void pf_take_generic_tree(struct tv_pf_reading *reading, struct tv_bytes tree)
{
    struct tv_pf_message message = tv_pf_message_over(tree);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        int64_t id = (int64_t)tv_pf_find(field.bytes, 1).value;
        struct tv_protobuf_field second = tv_pf_find(field.bytes, 2);
        struct tv_bytes name = tv_pf_find(field.bytes, 3).bytes;
        if (!pf_generic_is_tid(id) || (field.number != 1 && field.number != 2))
            continue;
        if (field.number == 1) {
            *tv_table_add(&reading->generic.processes) = (struct tv_pf_generic_process){id};
            tv_pf_note_parent(reading, id, (int64_t)second.value);
            tv_pf_note_command(reading, id, name);
        } else if (second.value > 0 && pf_generic_is_tid((int64_t)second.value)) {
            tv_pf_set_process(reading, id, (int64_t)second.value);
            tv_pf_name_thread(reading, id, tv_pf_text(reading, name), 2);
        }
    }
}

bool tv_pf_take_generic_kernel(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                               const struct tv_protobuf_field *payload)
{
    uint64_t cpu = tv_pf_find(payload->bytes, 1).value;
    switch (payload->number) {
    case 117:
        pf_take_generic_state(reading, at, payload->bytes);
        return true;
    case 118:
        tv_ft_chunk_note(reading->chunk, at->time);
        if (cpu <= MAX_CPU)
            tv_ft_take_cpu_frequency(reading->chunk, at, (uint32_t)cpu,
                                     (double)(int64_t)tv_pf_find(payload->bytes, 2).value / 1000);
        else
            tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, at->offset);
        return true;
    case 120:
        pf_take_generic_rename(reading, at, payload->bytes);
        return true;
    case 122:
        pf_take_generic_tree(reading, payload->bytes);
        return true;
    default:
        return false;
    }
}

/* ---- Switches, once all states are known ---- */

/* The last state of a task. */
struct pf_generic_last {
    int64_t time;
    enum tv_ft_state state; /* unknown: another thread took its processor */
    bool any, is_gone;      /* gone: dead, and its id may be used again */
};

/* Tasks and the processors they run on, while the states are replayed. */
struct pf_generic_replay {
    struct tv_pf_reading *reading;
    struct pf_generic_last *last; /* by task */
    uint32_t *cpu_of;             /* by task: the processor it runs on; TV_NONE: none */
    uint32_t *state_on;           /* by processor: index of the state that runs; TV_NONE: idle */
};

/* Turn a processor to a thread, or to idle (NULL). */
static void pf_generic_switch(struct pf_generic_replay *replay, uint32_t cpu,
                              const struct tv_pf_generic_state *to,
                              const struct tv_pf_generic_state *event, enum tv_ft_state left)
{
    struct tv_pf_reading *reading = replay->reading;
    const struct tv_interner *texts = reading->chunk->texts;
    uint32_t before = replay->state_on[cpu];
    struct tv_ft_decoded_switch decoded = {.state = left};
    if (before != TV_NONE) {
        const struct tv_pf_generic_state *from = &reading->generic.states.rows[before];
        decoded.from = from->tid;
        replay->cpu_of[from->task] = TV_NONE;
        if (to)
            replay->last[from->task] =
                (struct pf_generic_last){.time = event->time, .state = TV_FT_UNKNOWN, .any = true};
    }
    if (to) {
        decoded.to = to->tid;
        decoded.to_name = tv_interner_get(texts, reading->chunk->tasks.rows[to->task].name);
        replay->cpu_of[to->task] = cpu;
    }
    replay->state_on[cpu] = to ? (uint32_t)(to - reading->generic.states.rows) : TV_NONE;
    tv_ft_take_switch(reading->chunk,
                      &(struct tv_ft_at){.time = event->time, .offset = event->offset, .cpu = cpu},
                      &decoded);
}

/* Count a state that cannot follow the one before: a new thread that is known, a life after death,
 * a second Running, or two states at one time.  One that tells how a thread left its processor,
 * which another one took at that time, belongs to that switch. */
static void pf_generic_check_order(struct pf_generic_replay *replay,
                                   const struct tv_pf_generic_state *row)
{
    struct pf_generic_last *last = &replay->last[row->task];
    bool is_wrong = last->any && last->time == row->time && last->state != TV_FT_UNKNOWN;
    bool ends = row->state == TV_FT_EXIT_DEAD;
    if (row->state == TV_FT_CREATED)
        is_wrong = last->any && !last->is_gone;
    else if (last->any && !ends)
        is_wrong = is_wrong || last->state == TV_FT_ZOMBIE ||
                   (row->state == TV_FT_RUNNING && last->state == TV_FT_RUNNING);
    if (is_wrong)
        tv_pf_warn(replay->reading, TV_DIAGNOSTIC_TASK_STATE_ORDER, row->offset);
    *last = (struct pf_generic_last){row->time, row->state, true, ends};
}

/* Apply an event in the order of time.  A task that begins to run takes the processor from another;
 * any other state of a task that ran ends its slice. */
static void pf_generic_apply(struct pf_generic_replay *replay,
                             const struct tv_pf_generic_state *row)
{
    if (!row->renames)
        pf_generic_check_order(replay, row);
    struct tv_ft_chunk *chunk = replay->reading->chunk;
    uint32_t runs_on = replay->cpu_of[row->task];
    tv_ft_chunk_set_task_name(chunk, row->task, tv_interner_get(chunk->texts, row->name));
    if (row->renames || (row->state == TV_FT_RUNNING && runs_on == row->cpu))
        return;
    if (runs_on != TV_NONE)
        pf_generic_switch(replay, runs_on, NULL, row,
                          row->state == TV_FT_RUNNING ? TV_FT_UNKNOWN : row->state);
    if (row->state == TV_FT_RUNNING)
        pf_generic_switch(replay, row->cpu, row, row, TV_FT_UNKNOWN);
    else
        *tv_table_add(&chunk->wakeups) = (struct tv_ft_wakeup){
            .time = row->time,
            .offset = row->offset,
            .kind = TV_FT_WAKE_STATE,
            .task = row->task,
            .by = row->state,
        };
}

void tv_pf_end_generic_kernel(struct tv_pf_reading *reading)
{
    size_t count = reading->generic.states.count;
    if (count == 0)
        return;
    (void)tv_ft_chunk_task(reading->chunk, 0); /* the idle task, before tasks are counted */
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    struct pf_generic_replay replay = {
        .reading = reading,
        .last = tv_alloc(reading->chunk->tasks.count, sizeof *replay.last),
        .cpu_of = tv_alloc(reading->chunk->tasks.count, sizeof *replay.cpu_of),
        .state_on = tv_alloc(MAX_CPU + 1, sizeof *replay.state_on),
    };
    for (size_t i = 0; i < reading->chunk->tasks.count; i++)
        replay.cpu_of[i] = TV_NONE;
    for (uint32_t i = 0; i <= MAX_CPU; i++)
        replay.state_on[i] = TV_NONE;
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(reading->generic.states.rows[i].time), i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        pf_generic_apply(&replay, &reading->generic.states.rows[keys[i].index]);
    tv_free(keys);
    tv_free(replay.last);
    tv_free(replay.cpu_of);
    tv_free(replay.state_on);
}

void tv_pf_add_generic_processes(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < reading->generic.processes.count; i++)
        (void)tv_ft_merge_process(merge, reading->generic.processes.rows[i].pid);
}

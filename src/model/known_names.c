/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"

/* Bytes of a thread's name in the kernel, without the NUL. */
#define KERNEL_NAME 15

/* Ids that the kernel has. */
static bool fits(uint64_t id)
{
    return id < TV_NONE;
}

bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole)
{
    return name.length == KERNEL_NAME && whole.length > KERNEL_NAME &&
           (memcmp(whole.data, name.data, KERNEL_NAME) == 0 ||
            memcmp(whole.data + whole.length - KERNEL_NAME, name.data, KERNEL_NAME) == 0);
}

/* ---- Rows by what they are about ---- */

#define ANY_MACHINE (UINT64_C(1) << 32) /* no other number of a machine has so many bits */
#define NO_TID TV_NONE                  /* of a process */

struct key {
    uint64_t machine;
    uint32_t id[2]; /* of a process: pid, NO_TID; of a thread that is to be named: pid, tid; to be
                     * placed: NO_TID, tid */
};

struct known {
    struct key key;
    uint32_t at; /* in the table */
    uint32_t pid, name;
};

struct knowledge {
    struct known *rows;
    size_t count, capacity;
};

static int compare_keys(const struct key *a, const struct key *b)
{
    if (a->machine != b->machine)
        return a->machine < b->machine ? -1 : 1;
    if (a->id[0] != b->id[0])
        return a->id[0] < b->id[0] ? -1 : 1;
    return (a->id[1] > b->id[1]) - (a->id[1] < b->id[1]);
}

/* What stands later in the table comes first. */
static int compare_known(const void *left, const void *right)
{
    const struct known *a = left, *b = right;
    int order = compare_keys(&a->key, &b->key);
    return order ? order : (a->at < b->at) - (a->at > b->at);
}

static void add(struct knowledge *all, uint64_t machine, uint32_t first, uint32_t second,
                struct known known)
{
    known.key = (struct key){machine, {first, second}};
    all->rows = tv_array_reserve(all->rows, &all->capacity, all->count + 1, sizeof *all->rows);
    all->rows[all->count++] = known;
}

static void know(struct knowledge *all, const struct tv_trace *trace, uint32_t at)
{
    const struct tv_known_name *row = &trace->tables.known_names.rows[at];
    uint64_t machine = trace->head->inputs[row->input].machine;
    if (!fits(row->pid) || (row->is_thread && !fits(row->tid)))
        return;
    uint32_t pid = (uint32_t)row->pid, tid = row->is_thread ? (uint32_t)row->tid : NO_TID;
    struct known known = {.at = at, .pid = pid, .name = row->name};
    add(all, machine, pid, tid, known);
    add(all, ANY_MACHINE, pid, tid, known);
    /* A process is its first thread's. */
    add(all, machine, NO_TID, row->is_thread ? tid : pid, known);
}

static struct knowledge know_all(const struct tv_trace *trace)
{
    struct knowledge all = {NULL, 0, 0};
    for (size_t i = 0; i < trace->tables.known_names.count && i < TV_NONE; i++)
        know(&all, trace, (uint32_t)i);
    if (all.count > 0)
        qsort(all.rows, all.count, sizeof *all.rows, compare_known);
    return all;
}

/* NULL: nothing is known. */
static const struct known *find(const struct knowledge *all, uint64_t machine, uint32_t first,
                                uint32_t second)
{
    struct key key = {machine, {first, second}};
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&all->rows[middle].key, &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < all->count && compare_keys(&all->rows[low].key, &key) == 0;
    return found ? &all->rows[low] : NULL;
}

/* ---- Names ---- */

/* Puts a better name, if one is known, in the place of the one there. */
static void rename_it(const struct tv_head *head, const struct knowledge *all,
                      const struct key *key, uint32_t *name, bool *kernel_name)
{
    const struct known *known = find(all, key->machine, key->id[0], key->id[1]);
    bool better = *name == TV_EMPTY_STRING || (known && *kernel_name);
    if (!known)
        known = find(all, ANY_MACHINE, key->id[0], key->id[1]);
    if (!known || (!better && !tv_known_name_is_cut(tv_head_text(head, *name),
                                                    tv_head_text(head, known->name))))
        return;
    *name = known->name;
    *kernel_name = false;
}

static void name_processes(struct tv_head *head, const struct knowledge *all)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        struct tv_process *process = &head->processes[i];
        struct key key = {process->machine, {(uint32_t)process->id, NO_TID}};
        if (process->key == TV_EMPTY_STRING && fits(process->id))
            rename_it(head, all, &key, &process->name, &process->kernel_name);
    }
}

static void name_threads(struct tv_head *head, const struct knowledge *all)
{
    for (uint32_t i = 0; i < head->thread_count; i++) {
        struct tv_thread *thread = &head->threads[i];
        if (thread->process >= head->process_count)
            continue;
        const struct tv_process *process = &head->processes[thread->process];
        struct key key = {process->machine, {(uint32_t)process->id, (uint32_t)thread->id}};
        if (thread->key == TV_EMPTY_STRING && process->key == TV_EMPTY_STRING && fits(thread->id) &&
            fits(process->id))
            rename_it(head, all, &key, &thread->name, &thread->kernel_name);
    }
}

/* Its states are called as the thread is. */
static void name_states(struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        if (track->kind == TV_TRACK_STATES && track->thread != TV_NONE)
            track->name = trace->head->threads[track->thread].name;
    }
}

/* ---- What processors ran ---- */

/* thread_state_running, as a colour: its id of trace-event.md section 5, less 22. */
#define RUNNING_COLOUR 3

struct processors {
    uint32_t *rows; /* of all inputs */
    uint32_t count;
    uint32_t last; /* most threads stay where they ran last */
};

static struct processors find_processors(const struct tv_trace *trace)
{
    struct processors found = {.rows = tv_alloc(trace->track_count, sizeof *found.rows)};
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU)
            found.rows[found.count++] = trace->tracks[i].first_row;
    return found;
}

/* Whether the slice that begins with the running state, at one place of one file, is in the row:
 * then it is called so. */
static bool name_run(struct tv_trace *trace, uint32_t row, struct tv_flow_end running,
                     uint32_t name)
{
    const struct tv_row *ran = &trace->rows[row];
    uint32_t index = tv_row_find(trace, row, running.time);
    if (ran->input != trace->rows[running.row].input || index >= ran->count ||
        tv_slice_start(trace, row, index) != running.time ||
        tv_slice_offset(trace, row, index) != tv_slice_offset(trace, running.row, running.index))
        return false;
    uint32_t *path = &trace->columns[ran->columns].path[ran->first + index];
    struct tv_frame frame = *tv_path_frame(trace, *path);
    if (frame.name != name) {
        frame.name = name;
        *path = tv_paths_child(&trace->paths, TV_ROOT_PATH, tv_head_add_frame(trace->head, &frame));
    }
    return true;
}

static bool name_run_anywhere(struct tv_trace *trace, struct processors *processors,
                              struct tv_flow_end running, uint32_t name)
{
    for (uint32_t i = 0; i < processors->count; i++) {
        uint32_t at = (processors->last + i) % processors->count;
        if (!name_run(trace, processors->rows[at], running, name))
            continue;
        processors->last = at;
        return true;
    }
    return false;
}

/* Inputs that tell states alone have none of them. */
#define MOST_MISSES 16

static void name_runs_of(struct tv_trace *trace, struct processors *processors, uint32_t row,
                         uint32_t name)
{
    uint32_t misses = 0;
    for (uint32_t i = 0; i < trace->rows[row].count && misses < MOST_MISSES; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        struct tv_flow_end running = {slice.start, row, i};
        if (tv_path_frame(trace, slice.path)->colour == RUNNING_COLOUR)
            misses += !name_run_anywhere(trace, processors, running, name);
    }
}

/* The kernel called their slices by its own names, which others know better. */
static void name_runs(struct tv_trace *trace)
{
    struct processors processors = find_processors(trace);
    for (uint32_t i = 0; processors.count > 0 && i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_STATES || track->thread == TV_NONE)
            continue;
        const struct tv_thread *thread = &trace->head->threads[track->thread];
        if (!thread->kernel_name && thread->name != TV_EMPTY_STRING)
            name_runs_of(trace, &processors, track->first_row, thread->name);
    }
    tv_free(processors.rows);
}

void tv_known_names_apply(struct tv_trace *trace)
{
    struct knowledge all = know_all(trace);
    name_processes(trace->head, &all);
    name_threads(trace->head, &all);
    name_states(trace);
    name_runs(trace);
    tv_free(all.rows);
}

/* ---- Threads without a process ---- */

/* That of a pid on a machine. */
static uint32_t process_of(struct tv_head *head, struct tv_map *by_id, uint32_t machine,
                           uint32_t pid)
{
    uint64_t key = (uint64_t)machine << 32 | pid;
    uint32_t number = tv_map_find(by_id, key);
    if (number != TV_NONE)
        return number;
    number = tv_head_add_process(head, pid, (struct tv_bytes){NULL, 0});
    head->processes[number].machine = machine;
    tv_map_set(by_id, key, number);
    return number;
}

static void index_processes(const struct tv_head *head, struct tv_map *by_id)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        if (process->key == TV_EMPTY_STRING && fits(process->id))
            tv_map_add(by_id, (uint64_t)process->machine << 32 | process->id, i);
    }
}

/* Whether it has a process now. */
static bool place_thread(struct tv_head *head, const struct knowledge *all, struct tv_map *by_id,
                         struct tv_thread *thread)
{
    uint32_t machine = head->inputs[thread->input].machine;
    bool lost = thread->process == TV_NONE && thread->key == TV_EMPTY_STRING && fits(thread->id);
    const struct known *known = lost ? find(all, machine, NO_TID, (uint32_t)thread->id) : NULL;
    if (!known)
        return false;
    thread->process = process_of(head, by_id, machine, known->pid);
    struct tv_process *process = &head->processes[thread->process];
    if (thread->id == process->id && process->name == TV_EMPTY_STRING) {
        process->name = thread->name;
        process->kernel_name = thread->kernel_name;
    }
    return true;
}

void tv_known_names_place(struct tv_trace *trace)
{
    struct tv_head *head = trace->head;
    struct tv_map by_id;
    bool any = false;
    if (trace->tables.known_names.count == 0)
        return;
    struct knowledge all = know_all(trace);
    tv_map_init(&by_id);
    index_processes(head, &by_id);
    for (uint32_t i = 0; i < head->thread_count; i++)
        any |= place_thread(head, &all, &by_id, &head->threads[i]);
    for (uint32_t i = 0; any && i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        if (track->thread != TV_NONE && track->process == TV_NONE)
            track->process = head->threads[track->thread].process;
    }
    tv_map_release(&by_id);
    tv_free(all.rows);
}

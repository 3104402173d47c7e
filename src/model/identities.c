/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identities.c - which processes and threads of several inputs are the same, and their best names.
 *
 * Two files of one machine name the same process by the same pid, so its rows belong together:
 *
 *   input 0 (systrace)   process 812 "app"          thread 812 "app", 840 "RenderThread"
 *   input 1 (.trace)     process 812 "com.x.app"    thread 812 "main"
 *                        ------------------------------------------------
 *   merged               process 812 "com.x.app"    thread 812 "main": two tracks, 840
 *
 * Merging renumbers: equal rows get the number of the first one, the others move up, and every
 * table that refers to a process or thread is translated (RENUMBER).  A new table with such a
 * column needs a line there.
 *
 * Afterwards names spread: what one input knows about a pid or tid names those of other inputs
 * that have no name, or only the kernel's, which is cut to 15 bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/finalize.h"

/* New numbers by old ones. */
struct machine_numbers {
    uint32_t *to;
    uint32_t old_count, count;
};

/* Return the new number; TV_NONE, and other values that are no number, stay. */
static uint32_t machine_renumber(const struct machine_numbers *r, uint32_t number)
{
    return number < r->old_count ? r->to[number] : number;
}

/* Give each of `count` items the number of the first one with its key; an item with key 0 is
 * unique.  Free the keys.  Return whether any two items merged. */
static bool machine_number_by_key(struct machine_numbers *r, uint64_t *keys, uint32_t count)
{
    struct tv_map known;
    tv_map_init(&known);
    *r = (struct machine_numbers){.to = tv_alloc(count, sizeof *r->to), .old_count = count};
    for (uint32_t i = 0; i < count; i++) {
        r->to[i] = keys[i] ? tv_map_add(&known, keys[i], r->count) : r->count;
        r->count += r->to[i] == r->count;
    }
    assert(r->count <= r->old_count);
    tv_map_release(&known);
    tv_free(keys);
    return r->count < count;
}

/* Combine two 32-bit ids into a key; return 0 when that is not possible. */
static uint64_t machine_key(uint64_t of, uint64_t id, uint32_t text)
{
    return id > 0 && id < TV_NONE && text == TV_EMPTY_STRING ? (of << 32) | id : 0;
}

struct machine_name {
    uint32_t *text; /* string */
    bool *kernel;   /* the kernel gave it */
};

/* A name from a program beats one from the kernel; otherwise the first one wins. */
static void machine_merge_names(const struct tv_trace_info *head, struct machine_name first,
                                struct machine_name other)
{
    if (*other.text == TV_EMPTY_STRING)
        return;
    bool more = *first.text == TV_EMPTY_STRING || (*first.kernel && !*other.kernel) ||
                tv_known_name_is_cut(tv_trace_info_text(head, *first.text),
                                     tv_trace_info_text(head, *other.text));
    if (!more)
        return;
    *first.text = *other.text;
    *first.kernel = *other.kernel;
}

#define RENUMBER(trace, table, member, r)                                                          \
    for (size_t i = 0; i < (trace)->tables.table.count; i++)                                       \
    (trace)->tables.table.rows[i].member = machine_renumber(r, (trace)->tables.table.rows[i].member)

/* Translate the owners of instants with this scope. */
static void machine_renumber_scopes(struct tv_trace *trace, enum tv_scope scope,
                                    const struct machine_numbers *r)
{
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope == scope)
            instant->of = machine_renumber(r, instant->of);
    }
}

/* ---- Processes ---- */

/* Move each process to its new number, or merge it into the one there. A new number is never above
 * the old one, so one pass in place suffices. */
static void machine_compact_processes(struct tv_trace_info *head, const struct machine_numbers *r)
{
    for (uint32_t i = 0, next = 0; i < head->process_count; i++) {
        struct tv_process from = head->processes[i];
        struct tv_process *to = &head->processes[r->to[i]];
        if (r->to[i] == next) {
            *to = from;
            next++;
            continue;
        }
        machine_merge_names(head, (struct machine_name){&to->name, &to->kernel_name},
                            (struct machine_name){&from.name, &from.kernel_name});
        to->labels = to->labels == TV_EMPTY_STRING ? from.labels : to->labels;
        to->sort_index = to->sort_index ? to->sort_index : from.sort_index;
        to->uptime = to->uptime ? to->uptime : from.uptime;
    }
    head->process_count = r->count;
}

/* Translate everything that refers to a process. */
static void machine_renumber_processes(struct tv_trace *trace, const struct machine_numbers *r)
{
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        trace->head->threads[i].process = machine_renumber(r, trace->head->threads[i].process);
    for (uint32_t i = 0; i < trace->track_count; i++)
        trace->tracks[i].process = machine_renumber(r, trace->tracks[i].process);
    machine_renumber_scopes(trace, TV_SCOPE_PROCESS, r);
    RENUMBER(trace, counters, process, r);
    RENUMBER(trace, objects, process, r);
    RENUMBER(trace, memory_dumps, process, r);
    RENUMBER(trace, stack_frames, process, r);
    RENUMBER(trace, task_facts, process, r);
    RENUMBER(trace, task_facts, parent, r);
}

/* Merge the processes with one pid on one machine. Return whether any were merged. */
static bool machine_merge_processes(struct tv_trace *trace)
{
    struct tv_trace_info *head = trace->head;
    struct machine_numbers r;
    uint64_t *keys = tv_alloc(head->process_count, sizeof *keys);
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        keys[i] = process->machine == TV_NONE
                      ? 0
                      : machine_key(process->machine, process->id, process->key);
    }
    bool any = machine_number_by_key(&r, keys, head->process_count);
    if (any) {
        machine_compact_processes(head, &r);
        machine_renumber_processes(trace, &r);
    }
    tv_free(r.to);
    return any;
}

/* ---- Threads ---- */

/* Move each thread to its new number, or merge it into the one there. */
static void machine_compact_threads(struct tv_trace_info *head, const struct machine_numbers *r)
{
    for (uint32_t i = 0, next = 0; i < head->thread_count; i++) {
        struct tv_thread from = head->threads[i];
        struct tv_thread *to = &head->threads[r->to[i]];
        if (r->to[i] == next) {
            *to = from;
            next++;
            continue;
        }
        machine_merge_names(head, (struct machine_name){&to->name, &to->kernel_name},
                            (struct machine_name){&from.name, &from.kernel_name});
        to->sort_index = to->sort_index ? to->sort_index : from.sort_index;
        to->listed |= from.listed;
        to->late &= from.late;
    }
    head->thread_count = r->count;
}

/* Translate everything that refers to a thread. */
static void machine_renumber_threads(struct tv_trace *trace, const struct machine_numbers *r)
{
    for (uint32_t i = 0; i < trace->track_count; i++)
        trace->tracks[i].thread = machine_renumber(r, trace->tracks[i].thread);
    machine_renumber_scopes(trace, TV_SCOPE_THREAD, r);
    RENUMBER(trace, samples, thread, r);
    RENUMBER(trace, contexts, thread, r);
    RENUMBER(trace, async_extras, start_thread, r);
    RENUMBER(trace, async_extras, end_thread, r);
    RENUMBER(trace, wakeups, thread, r);
    RENUMBER(trace, wakeups, by, r);
    RENUMBER(trace, blockings, thread, r);
    RENUMBER(trace, task_facts, thread, r);
}

/* Merge the threads with one tid in one process. The processes have their new numbers already. */
static bool machine_merge_threads(struct tv_trace *trace)
{
    struct tv_trace_info *head = trace->head;
    struct machine_numbers r;
    uint64_t *keys = tv_alloc(head->thread_count, sizeof *keys);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->process < head->process_count &&
            head->processes[thread->process].machine != TV_NONE)
            keys[i] = machine_key(thread->process, thread->id, thread->key);
    }
    bool any = machine_number_by_key(&r, keys, head->thread_count);
    if (any) {
        machine_compact_threads(head, &r);
        machine_renumber_threads(trace, &r);
    }
    tv_free(r.to);
    return any;
}

/* ---- Tracks ---- */

/* Calls of another input do not nest with those of the first, so they get lanes of their own. */
static void machine_assign_lanes(struct tv_trace *trace, uint32_t *lanes)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        if (track->thread == TV_NONE || !tv_track_has_calls(track))
            continue;
        track->lane = lanes[track->thread]++;
        track->kind = track->lane == 0 ? TV_TRACK_THREAD : TV_TRACK_OVERFLOW;
    }
}

/* Move the tracks of each thread after its first one. */
static void machine_order_tracks(struct tv_trace *trace)
{
    uint32_t count = trace->track_count;
    uint32_t *next = tv_alloc(count, sizeof *next), *to = tv_alloc(count, sizeof *to);
    uint32_t *last = tv_alloc(trace->head->thread_count, sizeof *last), place = 0;
    struct tv_track *tracks = tv_alloc(count, sizeof *tracks);
    memset(last, 0xFF, trace->head->thread_count * sizeof *last);
    memset(to, 0xFF, count * sizeof *to);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t thread = trace->tracks[i].thread;
        next[i] = TV_NONE;
        if (thread == TV_NONE)
            continue;
        if (last[thread] != TV_NONE)
            next[last[thread]] = i;
        last[thread] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i; k != TV_NONE && to[k] == TV_NONE; k = next[k])
            to[k] = place++;
    for (uint32_t i = 0; i < count; i++)
        tracks[to[i]] = trace->tracks[i];
    for (uint32_t i = 0; i < trace->row_count; i++)
        trace->rows[i].track = to[trace->rows[i].track];
    tv_free(trace->tracks);
    trace->tracks = tracks;
    tv_free(next);
    tv_free(to);
    tv_free(last);
}

void tv_trace_merge_machines(struct tv_trace *trace, bool assigned)
{
    /* Threads can be equal only in a process that got threads of another input. */
    if ((!machine_merge_processes(trace) && !assigned) || !machine_merge_threads(trace))
        return;
    machine_order_tracks(trace);
    uint32_t *lanes = tv_alloc(trace->head->thread_count, sizeof *lanes);
    machine_assign_lanes(trace, lanes);
    tv_free(lanes);
}

/* ---- Known names ---- */

/* The kernel keeps this many bytes of the name of a thread, without the NUL. */
#define KERNEL_NAME 15

/* Ids above 32 bits are not the kernel's. */
static bool kernel_id_is_valid(uint64_t id)
{
    return id < TV_NONE;
}

bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole)
{
    return name.length == KERNEL_NAME && whole.length > KERNEL_NAME &&
           (memcmp(whole.data, name.data, KERNEL_NAME) == 0 ||
            memcmp(whole.data + whole.length - KERNEL_NAME, name.data, KERNEL_NAME) == 0);
}

/* ---- Rows by key ---- */

#define ANY_MACHINE (UINT64_C(1) << 32) /* larger than any number of a machine */
#define NO_TID TV_NONE                  /* key of a process */

struct known_key {
    uint64_t machine;
    uint32_t
        id[2]; /* process: pid, NO_TID; thread to name: pid, tid; thread to assign: NO_TID, tid */
};

struct known_row {
    struct known_key key;
    uint32_t at; /* row in the table */
    uint32_t pid, name;
};

struct known_rows {
    struct known_row *rows;
    size_t count, capacity;
};

/* Order by machine, then by ids. */
static int known_compare_keys(const struct known_key *a, const struct known_key *b)
{
    if (a->machine != b->machine)
        return a->machine < b->machine ? -1 : 1;
    if (a->id[0] != b->id[0])
        return a->id[0] < b->id[0] ? -1 : 1;
    return (a->id[1] > b->id[1]) - (a->id[1] < b->id[1]);
}

/* Later rows of the table come first. */
static int known_compare_rows(const void *left, const void *right)
{
    const struct known_row *a = left, *b = right;
    int order = known_compare_keys(&a->key, &b->key);
    return order ? order : (a->at < b->at) - (a->at > b->at);
}

/* Add a row under one key. */
static void known_add(struct known_rows *all, uint64_t machine, uint32_t first, uint32_t second,
                      struct known_row known)
{
    known.key = (struct known_key){machine, {first, second}};
    all->rows = tv_array_reserve(all->rows, &all->capacity, all->count + 1, sizeof *all->rows);
    all->rows[all->count++] = known;
}

/* Add a known name under the three keys by which it is looked up: on its machine, on any machine,
 * and, to find the process of a thread, by tid alone. */
static void known_add_row(struct known_rows *all, const struct tv_trace *trace, uint32_t at)
{
    const struct tv_known_name *row = &trace->tables.known_names.rows[at];
    uint64_t machine = trace->head->inputs[row->input].machine;
    if (!kernel_id_is_valid(row->pid) || (row->is_thread && !kernel_id_is_valid(row->tid)))
        return;
    uint32_t pid = (uint32_t)row->pid, tid = row->is_thread ? (uint32_t)row->tid : NO_TID;
    struct known_row known = {.at = at, .pid = pid, .name = row->name};
    known_add(all, machine, pid, tid, known);
    known_add(all, ANY_MACHINE, pid, tid, known);
    /* The first thread of a process has its id. */
    known_add(all, machine, NO_TID, row->is_thread ? tid : pid, known);
}

/* Return all known names, sorted by key. The caller frees the rows. */
static struct known_rows known_collect(const struct tv_trace *trace)
{
    struct known_rows all = {NULL, 0, 0};
    for (size_t i = 0; i < trace->tables.known_names.count && i < TV_NONE; i++)
        known_add_row(&all, trace, (uint32_t)i);
    if (all.count > 0)
        qsort(all.rows, all.count, sizeof *all.rows, known_compare_rows);
    return all;
}

/* Return NULL when nothing is known. */
static const struct known_row *known_find(const struct known_rows *all, uint64_t machine,
                                          uint32_t first, uint32_t second)
{
    struct known_key key = {machine, {first, second}};
    size_t low = 0;
    TV_LOWER_BOUND(low, all->count, i, known_compare_keys(&all->rows[i].key, &key) < 0);
    bool found = low < all->count && known_compare_keys(&all->rows[low].key, &key) == 0;
    return found ? &all->rows[low] : NULL;
}

/* ---- Names ---- */

/* Replace a name if a better one is known. */
static void known_rename(const struct tv_trace_info *head, const struct known_rows *all,
                         const struct known_key *key, uint32_t *name, bool *kernel_name)
{
    const struct known_row *known = known_find(all, key->machine, key->id[0], key->id[1]);
    bool better = *name == TV_EMPTY_STRING || (known && *kernel_name);
    if (!known)
        known = known_find(all, ANY_MACHINE, key->id[0], key->id[1]);
    if (!known || (!better && !tv_known_name_is_cut(tv_trace_info_text(head, *name),
                                                    tv_trace_info_text(head, known->name))))
        return;
    *name = known->name;
    *kernel_name = false;
}

/* Name the processes; those with a key instead of a pid are not the kernel's. */
static void known_name_processes(struct tv_trace_info *head, const struct known_rows *all)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        struct tv_process *process = &head->processes[i];
        struct known_key key = {process->machine, {(uint32_t)process->id, NO_TID}};
        if (process->key == TV_EMPTY_STRING && kernel_id_is_valid(process->id))
            known_rename(head, all, &key, &process->name, &process->kernel_name);
    }
}

/* Name the threads by pid and tid: tids are used again, in another process usually. */
static void known_name_threads(struct tv_trace_info *head, const struct known_rows *all)
{
    for (uint32_t i = 0; i < head->thread_count; i++) {
        struct tv_thread *thread = &head->threads[i];
        if (thread->process >= head->process_count)
            continue;
        const struct tv_process *process = &head->processes[thread->process];
        struct known_key key = {process->machine, {(uint32_t)process->id, (uint32_t)thread->id}};
        if (thread->key == TV_EMPTY_STRING && process->key == TV_EMPTY_STRING &&
            kernel_id_is_valid(thread->id) && kernel_id_is_valid(process->id))
            known_rename(head, all, &key, &thread->name, &thread->kernel_name);
    }
}

/* A state track has the name of its thread. */
static void known_name_state_tracks(struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        if (track->kind == TV_TRACK_STATES && track->thread != TV_NONE)
            track->name = trace->head->threads[track->thread].name;
    }
}

/* ---- Slices of processors ---- */

/* thread_state_running as a colour: its id of trace-event.md section 5 minus 22. */
#define RUNNING_COLOUR 3

struct cpu_rows {
    uint32_t *rows; /* rows of all processors, of all inputs */
    uint32_t count;
    uint32_t last; /* most threads stay on the processor where they ran last */
};

static struct cpu_rows known_find_cpu_rows(const struct tv_trace *trace)
{
    struct cpu_rows found = {.rows = tv_alloc(trace->track_count, sizeof *found.rows)};
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_CPU)
            found.rows[found.count++] = trace->tracks[i].first_row;
    return found;
}

/* If the row has the slice that begins together with this running state, at the same place of the
 * same file, name it after the thread and return true. */
static bool known_name_run(struct tv_trace *trace, uint32_t row, struct tv_flow_end running,
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
        *path = tv_paths_child(&trace->paths, TV_ROOT_PATH,
                               tv_trace_info_add_frame(trace->head, &frame));
    }
    return true;
}

/* Rename the run on the processor that it was on; the last one is tried first, because threads
 * stay. */
static bool known_name_run_on_any_cpu(struct tv_trace *trace, struct cpu_rows *processors,
                                      struct tv_flow_end running, uint32_t name)
{
    for (uint32_t i = 0; i < processors->count; i++) {
        uint32_t at = (processors->last + i) % processors->count;
        if (!known_name_run(trace, processors->rows[at], running, name))
            continue;
        processors->last = at;
        return true;
    }
    return false;
}

/* Give up on a thread after so many misses: inputs with states only have no such slices. */
#define MAX_MISSES 16

static void known_name_runs_of_thread(struct tv_trace *trace, struct cpu_rows *processors,
                                      uint32_t row, uint32_t name)
{
    uint32_t misses = 0;
    for (uint32_t i = 0; i < trace->rows[row].count && misses < MAX_MISSES; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        struct tv_flow_end running = {slice.start, row, i};
        if (tv_path_frame(trace, slice.path)->colour == RUNNING_COLOUR)
            misses += !known_name_run_on_any_cpu(trace, processors, running, name);
    }
}

/* The kernel named these slices; other inputs know the threads better. */
static void known_name_runs(struct tv_trace *trace)
{
    struct cpu_rows processors = known_find_cpu_rows(trace);
    for (uint32_t i = 0; processors.count > 0 && i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (track->kind != TV_TRACK_STATES || track->thread == TV_NONE)
            continue;
        const struct tv_thread *thread = &trace->head->threads[track->thread];
        if (!thread->kernel_name && thread->name != TV_EMPTY_STRING)
            known_name_runs_of_thread(trace, &processors, track->first_row, thread->name);
    }
    tv_free(processors.rows);
}

void tv_known_names_apply(struct tv_trace *trace)
{
    struct known_rows all = known_collect(trace);
    known_name_processes(trace->head, &all);
    known_name_threads(trace->head, &all);
    known_name_state_tracks(trace);
    known_name_runs(trace);
    tv_free(all.rows);
}

/* ---- Threads without a process ---- */

/* Return the process with a pid on a machine, adding it if needed. */
static uint32_t known_process_of(struct tv_trace_info *head, struct tv_map *by_id, uint32_t machine,
                                 uint32_t pid)
{
    uint64_t key = (uint64_t)machine << 32 | pid;
    uint32_t number = tv_map_find(by_id, key);
    if (number != TV_NONE)
        return number;
    number = tv_trace_info_add_process(head, pid, (struct tv_bytes){NULL, 0});
    head->processes[number].machine = machine;
    tv_map_set(by_id, key, number);
    return number;
}

/* Map machine and pid to processes. */
static void known_index_processes(const struct tv_trace_info *head, struct tv_map *by_id)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        if (process->key == TV_EMPTY_STRING && kernel_id_is_valid(process->id))
            tv_map_add(by_id, (uint64_t)process->machine << 32 | process->id, i);
    }
}

/* Return whether a kernel trace has the thread without its process. */
static bool known_thread_is_lost(const struct tv_thread *thread)
{
    return thread->process == TV_NONE && thread->key == TV_EMPTY_STRING &&
           kernel_id_is_valid(thread->id);
}

#define MANY_PROCESSES (TV_NONE - 1)

/* Map machine and tid to the process of a thread that has one.  One machine has a tid once, so the
 * tid is enough; MANY_PROCESSES when threads of two processes have it: their ids are not the
 * kernel's.  Id 0 is that of idle processors. */
static void known_index_threads(const struct tv_trace_info *head, struct tv_map *by_tid)
{
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->process >= head->process_count || thread->key != TV_EMPTY_STRING ||
            !kernel_id_is_valid(thread->id) || thread->id == 0)
            continue;
        const struct tv_process *process = &head->processes[thread->process];
        if (process->machine == TV_NONE || process->key != TV_EMPTY_STRING)
            continue;
        uint64_t key = (uint64_t)process->machine << 32 | thread->id;
        uint32_t found = tv_map_add(by_tid, key, thread->process);
        if (found == MANY_PROCESSES || head->processes[found].id != process->id)
            tv_map_set(by_tid, key, MANY_PROCESSES);
    }
}

/* Return whether the thread has got a process. */
static bool known_assign_process(struct tv_trace_info *head, const struct known_rows *all,
                                 struct tv_map *by_id, const struct tv_map *by_tid,
                                 struct tv_thread *thread)
{
    uint32_t machine = head->inputs[thread->input].machine;
    if (!known_thread_is_lost(thread))
        return false;
    const struct known_row *known = known_find(all, machine, NO_TID, (uint32_t)thread->id);
    uint32_t found = known ? known_process_of(head, by_id, machine, known->pid)
                           : tv_map_find(by_tid, (uint64_t)machine << 32 | thread->id);
    if (found == TV_NONE || found == MANY_PROCESSES)
        return false;
    thread->process = found;
    struct tv_process *process = &head->processes[thread->process];
    if (thread->id == process->id && process->name == TV_EMPTY_STRING) {
        process->name = thread->name;
        process->kernel_name = thread->kernel_name;
    }
    return true;
}

bool tv_known_names_assign_processes(struct tv_trace *trace)
{
    struct tv_trace_info *head = trace->head;
    struct tv_map by_id, by_tid;
    bool any = false;
    for (uint32_t i = 0; !any && i < head->thread_count; i++)
        any = known_thread_is_lost(&head->threads[i]);
    if (!any)
        return false;
    struct known_rows all = known_collect(trace);
    tv_map_init(&by_id);
    tv_map_init(&by_tid);
    known_index_processes(head, &by_id);
    known_index_threads(head, &by_tid);
    any = false;
    for (uint32_t i = 0; i < head->thread_count; i++)
        any |= known_assign_process(head, &all, &by_id, &by_tid, &head->threads[i]);
    for (uint32_t i = 0; any && i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        if (track->thread != TV_NONE && track->process == TV_NONE)
            track->process = head->threads[track->thread].process;
    }
    tv_map_release(&by_id);
    tv_map_release(&by_tid);
    tv_free(all.rows);
    return any;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/machines.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "model/known_names.h"

/* New numbers by old ones. */
struct renumbering {
    uint32_t *to;
    uint32_t old_count, count;
};

static uint32_t renumber(const struct renumbering *r, uint32_t number)
{
    return number < r->old_count ? r->to[number] : number;
}

/* Gives each of `count` things the number of the first with its key; keys of 0 are nobody else's.
 * The keys are freed.  Whether any two are one. */
static bool number_by_key(struct renumbering *r, uint64_t *keys, uint32_t count)
{
    struct tv_map known;
    tv_map_init(&known);
    *r = (struct renumbering){.to = tv_alloc(count, sizeof *r->to), .old_count = count};
    for (uint32_t i = 0; i < count; i++) {
        r->to[i] = keys[i] ? tv_map_add(&known, keys[i], r->count) : r->count;
        r->count += r->to[i] == r->count;
    }
    tv_map_release(&known);
    tv_free(keys);
    return r->count < count;
}

/* Two ids of at most 32 bits as one key, else 0. */
static uint64_t key_of(uint64_t of, uint64_t id, uint32_t text)
{
    return id > 0 && id < TV_NONE && text == TV_EMPTY_STRING ? (of << 32) | id : 0;
}

struct name {
    uint32_t *text; /* string */
    bool *kernel;   /* said by the kernel */
};

/* What a program says goes before what the kernel does, what is said first before the other. */
static void join_names(const struct tv_head *head, struct name first, struct name other)
{
    if (*other.text == TV_EMPTY_STRING)
        return;
    bool more =
        *first.text == TV_EMPTY_STRING || (*first.kernel && !*other.kernel) ||
        tv_known_name_is_cut(tv_head_text(head, *first.text), tv_head_text(head, *other.text));
    if (!more)
        return;
    *first.text = *other.text;
    *first.kernel = *other.kernel;
}

#define RENUMBER(trace, table, member, r)                                                          \
    for (size_t i = 0; i < (trace)->tables.table.count; i++)                                       \
    (trace)->tables.table.rows[i].member = renumber(r, (trace)->tables.table.rows[i].member)

static void renumber_scopes(struct tv_trace *trace, enum tv_scope scope,
                            const struct renumbering *r)
{
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope == scope)
            instant->of = renumber(r, instant->of);
    }
}

/* ---- Processes ---- */

static void move_processes(struct tv_head *head, const struct renumbering *r)
{
    for (uint32_t i = 0, next = 0; i < head->process_count; i++) {
        struct tv_process from = head->processes[i];
        struct tv_process *to = &head->processes[r->to[i]];
        if (r->to[i] == next) {
            *to = from;
            next++;
            continue;
        }
        join_names(head, (struct name){&to->name, &to->kernel_name},
                   (struct name){&from.name, &from.kernel_name});
        to->labels = to->labels == TV_EMPTY_STRING ? from.labels : to->labels;
        to->sort_index = to->sort_index ? to->sort_index : from.sort_index;
        to->uptime = to->uptime ? to->uptime : from.uptime;
    }
    head->process_count = r->count;
}

static void renumber_processes(struct tv_trace *trace, const struct renumbering *r)
{
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        trace->head->threads[i].process = renumber(r, trace->head->threads[i].process);
    for (uint32_t i = 0; i < trace->track_count; i++)
        trace->tracks[i].process = renumber(r, trace->tracks[i].process);
    renumber_scopes(trace, TV_SCOPE_PROCESS, r);
    RENUMBER(trace, counters, process, r);
    RENUMBER(trace, objects, process, r);
    RENUMBER(trace, memory_dumps, process, r);
    RENUMBER(trace, stack_frames, process, r);
}

static bool join_processes(struct tv_trace *trace)
{
    struct tv_head *head = trace->head;
    struct renumbering r;
    uint64_t *keys = tv_alloc(head->process_count, sizeof *keys);
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        keys[i] =
            process->machine == TV_NONE ? 0 : key_of(process->machine, process->id, process->key);
    }
    bool any = number_by_key(&r, keys, head->process_count);
    if (any) {
        move_processes(head, &r);
        renumber_processes(trace, &r);
    }
    tv_free(r.to);
    return any;
}

/* ---- Threads ---- */

static void move_threads(struct tv_head *head, const struct renumbering *r)
{
    for (uint32_t i = 0, next = 0; i < head->thread_count; i++) {
        struct tv_thread from = head->threads[i];
        struct tv_thread *to = &head->threads[r->to[i]];
        if (r->to[i] == next) {
            *to = from;
            next++;
            continue;
        }
        join_names(head, (struct name){&to->name, &to->kernel_name},
                   (struct name){&from.name, &from.kernel_name});
        to->sort_index = to->sort_index ? to->sort_index : from.sort_index;
        to->listed |= from.listed;
        to->late &= from.late;
    }
    head->thread_count = r->count;
}

static void renumber_threads(struct tv_trace *trace, const struct renumbering *r)
{
    for (uint32_t i = 0; i < trace->track_count; i++)
        trace->tracks[i].thread = renumber(r, trace->tracks[i].thread);
    renumber_scopes(trace, TV_SCOPE_THREAD, r);
    RENUMBER(trace, samples, thread, r);
    RENUMBER(trace, contexts, thread, r);
    RENUMBER(trace, async_extras, start_thread, r);
    RENUMBER(trace, async_extras, end_thread, r);
    RENUMBER(trace, wakeups, thread, r);
    RENUMBER(trace, wakeups, by, r);
    RENUMBER(trace, blockings, thread, r);
}

static bool join_threads(struct tv_trace *trace)
{
    struct tv_head *head = trace->head;
    struct renumbering r;
    uint64_t *keys = tv_alloc(head->thread_count, sizeof *keys);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->process < head->process_count &&
            head->processes[thread->process].machine != TV_NONE)
            keys[i] = key_of(thread->process, thread->id, thread->key);
    }
    bool any = number_by_key(&r, keys, head->thread_count);
    if (any) {
        move_threads(head, &r);
        renumber_threads(trace, &r);
    }
    tv_free(r.to);
    return any;
}

/* ---- Tracks ---- */

/* Calls of another input do not nest with those of the first. */
static void set_apart(struct tv_trace *trace, uint32_t *lanes)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        struct tv_track *track = &trace->tracks[i];
        if (track->thread == TV_NONE || !tv_track_has_calls(track))
            continue;
        track->lane = lanes[track->thread]++;
        track->kind = track->lane == 0 ? TV_TRACK_THREAD : TV_TRACK_OVERFLOW;
    }
}

/* The tracks of a thread stand behind its first one. */
static void move_tracks(struct tv_trace *trace)
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

void tv_trace_join_machines(struct tv_trace *trace)
{
    if (!join_processes(trace) || !join_threads(trace))
        return;
    move_tracks(trace);
    uint32_t *lanes = tv_alloc(trace->head->thread_count, sizeof *lanes);
    set_apart(trace, lanes);
    tv_free(lanes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model/known_names.h"

#include <string.h>

#include "base/bytes.h"
#include "base/map.h"

/* Bytes of a thread's name in the kernel, without the NUL. */
#define KERNEL_NAME 15

/* Ids that these maps can hold: those of all systems. */
static bool fits(uint64_t id)
{
    return id < TV_NONE;
}

static uint64_t thread_key(uint64_t pid, uint64_t tid)
{
    return pid << 32 | tid;
}

bool tv_known_name_is_cut(struct tv_bytes name, struct tv_bytes whole)
{
    return name.length == KERNEL_NAME && whole.length > KERNEL_NAME &&
           (memcmp(whole.data, name.data, KERNEL_NAME) == 0 ||
            memcmp(whole.data + whole.length - KERNEL_NAME, name.data, KERNEL_NAME) == 0);
}

static void name_processes(struct tv_head *head, const struct tv_map *names)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        struct tv_process *process = &head->processes[i];
        uint32_t name = process->key == TV_EMPTY_STRING && fits(process->id)
                            ? tv_map_find(names, process->id)
                            : TV_NONE;
        if (name != TV_NONE &&
            (process->name == TV_EMPTY_STRING ||
             tv_known_name_is_cut(tv_head_text(head, process->name), tv_head_text(head, name))))
            process->name = name;
    }
}

static void name_threads(struct tv_head *head, const struct tv_map *names)
{
    for (uint32_t i = 0; i < head->thread_count; i++) {
        struct tv_thread *thread = &head->threads[i];
        if (thread->process >= head->process_count)
            continue;
        const struct tv_process *process = &head->processes[thread->process];
        if (thread->name != TV_EMPTY_STRING || thread->key != TV_EMPTY_STRING ||
            process->key != TV_EMPTY_STRING || !fits(thread->id) || !fits(process->id))
            continue;
        uint32_t name = tv_map_find(names, thread_key(process->id, thread->id));
        if (name != TV_NONE)
            thread->name = name;
    }
}

void tv_known_names_apply(struct tv_trace *trace)
{
    struct tv_map processes, threads;
    tv_map_init(&processes);
    tv_map_init(&threads);
    for (size_t i = 0; i < trace->tables.known_names.count; i++) {
        const struct tv_known_name *known = &trace->tables.known_names.rows[i];
        if (!fits(known->pid))
            continue;
        if (!known->is_thread)
            tv_map_set(&processes, known->pid, known->name);
        else if (fits(known->tid))
            tv_map_set(&threads, thread_key(known->pid, known->tid), known->name);
    }
    name_processes(trace->head, &processes);
    name_threads(trace->head, &threads);
    tv_map_release(&processes);
    tv_map_release(&threads);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - the state of all threads, and the collected samples (collect.h).
 *
 * Records come in time order. An off-CPU time is put together from three of them:
 *
 *     SAMPLE of the switch event   keep the stack in the task; no sample
 *     SWITCH, out                  off_ns = time; preempted = the scheduler took the processor
 *     SWITCH, in                   a wait from off_ns to now, with the kept stack
 *
 * A thread id may be used again after its thread has ended. FORK and EXIT remove the task of the
 * old thread, so that the next thread with the id gets an id of its own in the samples. A thread
 * without any sample or wait does not appear in them. */
#include "perf/collect.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define TASK_NAME_SIZE 64u

/* A thread that was seen in records. */
struct tv_perf_task {
    uint32_t tid, pid;
    uint32_t id; /* the id in the samples; 0: none yet */
    char name[TASK_NAME_SIZE];
    uint64_t off_ns; /* when it left its processor; 0: it is running */
    bool preempted;
    uint32_t *stack; /* the stack at that time */
    size_t stack_capacity;
    uint32_t depth; /* frames in `stack`; 0: no stack is kept */
};

/* ---- Threads ---- */

/* Return the index of the first task whose tid is not lower: its place, or where to insert it. */
static size_t perf_task_place(const struct tv_perf_collector *c, uint32_t tid)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, c->task_count, i, c->tasks[i].tid < tid);
    return low;
}

static struct tv_perf_task *perf_task_find(const struct tv_perf_collector *c, uint32_t tid)
{
    size_t place = perf_task_place(c, tid);
    return place < c->task_count && c->tasks[place].tid == tid ? &c->tasks[place] : NULL;
}

/* Return the task of the thread. A thread that no record has named yet gets the name of its process
 * leader. The pointer is valid until the next task is added or removed. */
static struct tv_perf_task *perf_task_find_or_add(struct tv_perf_collector *c, uint32_t pid,
                                                  uint32_t tid)
{
    struct tv_perf_task *found = perf_task_find(c, tid);
    if (found)
        return found;
    size_t place = perf_task_place(c, tid);
    c->tasks = tv_array_reserve(c->tasks, &c->task_capacity, c->task_count + 1, sizeof *c->tasks);
    struct tv_perf_task *task = &c->tasks[place];
    memmove(task + 1, task, (c->task_count++ - place) * sizeof *task);
    *task = (struct tv_perf_task){.tid = tid, .pid = pid};
    const struct tv_perf_task *leader = perf_task_find(c, pid);
    if (leader && leader != task)
        memcpy(task->name, leader->name, TASK_NAME_SIZE);
    return task;
}

/* Return the id of the thread in the samples; 0: out of memory. */
static uint32_t perf_task_sample_id(struct tv_perf_collector *c, struct tv_perf_task *task)
{
    if (task->id == 0) {
        task->id = tv_samples_add_thread(&c->samples, task->name[0] ? task->name : "?", "main");
        if (task->id != 0)
            tv_samples_number_thread(&c->samples, task->id, task->pid, task->tid);
    }
    return task->id;
}

/* Set the name, also of samples that the thread has already. */
static void perf_task_rename(struct tv_perf_collector *c, struct tv_perf_task *task,
                             const char *name)
{
    size_t length = strnlen(name, TASK_NAME_SIZE - 1);
    memcpy(task->name, name, length);
    task->name[length] = '\0';
    if (task->id != 0)
        tv_samples_rename_thread(&c->samples, task->id, task->name);
}

static bool perf_has_threads(const struct tv_perf_collector *c, uint32_t pid)
{
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].pid == pid)
            return true;
    return false;
}

/* Remove an ended thread; the address space of a process goes with its last thread. */
static void perf_task_forget(struct tv_perf_collector *c, uint32_t pid, uint32_t tid)
{
    struct tv_perf_task *task = perf_task_find(c, tid);
    if (!task)
        return;
    if (task->id != 0)
        (void)tv_samples_end_thread(&c->samples, task->id);
    tv_free(task->stack);
    size_t place = (size_t)(task - c->tasks);
    memmove(task, task + 1, (--c->task_count - place) * sizeof *task);
    if (!perf_has_threads(c, pid))
        tv_perf_spaces_clear(&c->spaces, pid);
}

/* ---- Stacks ---- */

/* Return the number of the element for a place; 0: out of memory. */
static uint32_t perf_element_of(struct tv_perf_collector *c, uint32_t file, uint64_t place)
{
    static char none[] = "";
    struct tv_sample_element element = {place, (int32_t)file, none, none, NULL};
    uint32_t known = tv_samples_find_element(&c->samples, place, element.line);
    return known != 0 ? known : tv_samples_add_element(&c->samples, &element);
}

/* Return the element of a frame; 0: omit the frame. All addresses of a chain except the innermost
 * one are return addresses, which may be the start of the next function: so look one byte before
 * them. */
static uint32_t perf_frame_element(struct tv_perf_collector *c, uint32_t pid, uint64_t address,
                                   bool kernel, bool innermost)
{
    uint64_t at = address -= !innermost;
    uint32_t file = TV_PERF_KERNEL_FILE;
    if (!kernel)
        file = tv_perf_spaces_find(&c->spaces, pid, address, &at);
    /* Without kernel symbols, all frames of the kernel are one element, shown once per stack. */
    else if (!c->names_kernel)
        at = 0;
    if (kernel && !c->names_kernel && !innermost)
        return 0;
    /* An address outside of every file comes from a register that held no frame pointer. */
    if (file == TV_PERF_NO_FILE && !innermost)
        return 0;
    return perf_element_of(c, file, file == TV_PERF_NO_FILE ? 0 : at);
}

/* Copy the registers of a sample in DWARF order. */
static void perf_read_registers(const struct tv_perf_record *record, uint64_t *registers,
                                struct tv_unwind_thread *thread)
{
    assert(record->sample.registers);
    uint64_t from[TV_PERF_REGISTER_COUNT + 1];
    memcpy(from, record->sample.registers, TV_PERF_REGISTER_COUNT * sizeof *from);
#if defined(__x86_64__)
    /* From ax bx cx dx si di bp sp ip r8..r15 to ax dx cx bx si di bp sp r8..r15 ip. */
    static const uint8_t places[] = {0, 2, 3, 1, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 8};
    for (size_t i = 0; i < sizeof places; i++)
        registers[i] = from[places[i]];
    *thread = (struct tv_unwind_thread){.register_count = 17, .pc = from[8], .sp = from[7]};
#elif defined(__aarch64__)
    memcpy(registers, from, 32 * sizeof *from);
    *thread = (struct tv_unwind_thread){.register_count = 32, .pc = from[32], .sp = from[31]};
#else
    *thread = (struct tv_unwind_thread){.pc = 0};
#endif
    thread->registers = registers;
    thread->stack = record->sample.stack;
    thread->length = record->sample.stack_length;
}

/* Append the user part of a copied stack to c->stack. Return the new depth. */
static uint32_t perf_add_copied_stack(struct tv_perf_collector *c,
                                      const struct tv_perf_record *record, uint32_t depth)
{
    uint64_t registers[TV_PERF_REGISTER_COUNT + 1];
    struct tv_unwind_thread thread;
    if (!record->sample.registers)
        return depth;
    perf_read_registers(record, registers, &thread);
    uint32_t count =
        tv_perf_spaces_unwind(&c->spaces, record->pid, &thread, c->addresses, TV_PERF_UNWOUND);
    if (count == 0) {
        c->addresses[0] = thread.pc;
        count = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t element = perf_frame_element(c, record->pid, c->addresses[i], false, i == 0);
        if (element != 0)
            c->stack[depth++] = element;
    }
    return depth;
}

/* Read the stack of a sample into c->stack. Return the number of frames. */
static uint32_t perf_read_stack(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    uint32_t depth = 0;
    bool kernel = false, innermost = true;
    c->stack =
        tv_array_reserve(c->stack, &c->stack_capacity,
                         (size_t)record->sample.depth + TV_PERF_UNWOUND + 1, sizeof *c->stack);
    for (uint32_t i = 0; i < record->sample.depth; i++) {
        uint64_t address = tv_perf_record_address(record, i);
        if (address >= TV_PERF_FIRST_CONTEXT) {
            kernel = address == (uint64_t)PERF_CONTEXT_KERNEL;
            innermost = true;
            continue;
        }
        /* A marker says that kernel or user addresses follow, the innermost of that part first. */
        uint32_t element = perf_frame_element(c, record->pid, address, kernel, innermost);
        innermost = false;
        if (element != 0)
            c->stack[depth++] = element;
    }
    return perf_add_copied_stack(c, record, depth);
}

/* ---- Records ---- */

/* Keep a copy of the stack until the thread runs again. */
static void perf_task_keep_stack(struct tv_perf_task *task, const uint32_t *stack, uint32_t depth)
{
    assert(stack);
    task->stack =
        tv_array_reserve(task->stack, &task->stack_capacity, depth + 1, sizeof *task->stack);
    memcpy(task->stack, stack, depth * sizeof *stack);
    task->depth = depth;
}

/* Add a sample; or, from a switch event, keep its stack for the wait that begins. */
static void perf_collect_sample(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    assert(record->type == PERF_RECORD_SAMPLE);
    /* An ending thread has lost its id already. */
    if (record->tid == UINT32_MAX) {
        c->samples.lost++;
        return;
    }
    struct tv_perf_task *task = perf_task_find_or_add(c, record->pid, record->tid);
    uint32_t depth = perf_read_stack(c, record);
    if (tv_map_find(&c->switches, record->event) != TV_NONE) {
        perf_task_keep_stack(task, c->stack, depth);
        return;
    }
    struct tv_sample_moment moment = {
        .time_ns = record->time_ns,
        .cpu = record->cpu < TV_SAMPLE_NO_CPU ? (uint16_t)record->cpu : TV_SAMPLE_NO_CPU,
        .state = TV_SAMPLE_RUNNING,
    };
    /* CPU time without a known stack still counts: it gets one element "[unknown]". */
    if (depth == 0) {
        c->stack[0] = perf_element_of(c, TV_PERF_NO_FILE, 0);
        depth = c->stack[0] != 0;
    }
    if (!tv_samples_add_at(&c->samples, perf_task_sample_id(c, task), c->stack, depth, &moment))
        c->samples.lost++;
}

/* End the off-CPU time of a thread with the stack that it had when it left the processor. */
static void perf_task_end_wait(struct tv_perf_collector *c, struct tv_perf_task *task, uint64_t now)
{
    if (task->off_ns != 0 && now > task->off_ns)
        (void)tv_samples_add_wait(&c->samples, perf_task_sample_id(c, task), task->stack,
                                  task->depth,
                                  &(struct tv_sample_wait){
                                      .from_ns = task->off_ns,
                                      .to_ns = now,
                                      .is_preempted = task->preempted,
                                  });
    task->off_ns = 0;
    task->depth = 0;
}

/* A thread leaves or enters a processor. */
static void perf_collect_switch(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    assert(record->type == PERF_RECORD_SWITCH);
    struct tv_perf_task *task = perf_task_find_or_add(c, record->pid, record->tid);
    if (!(record->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
        perf_task_end_wait(c, task, record->time_ns);
        return;
    }
    task->off_ns = record->time_ns;
    task->preempted = (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
}

/* A new thread or process inherits the name, and a process also the mappings, of its parent. */
static void perf_collect_fork(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    const struct tv_perf_task *parent = perf_task_find(c, record->fork.parent_tid);
    char name[TASK_NAME_SIZE] = "";
    if (parent)
        memcpy(name, parent->name, TASK_NAME_SIZE);
    if (record->pid != record->fork.parent_pid)
        tv_perf_spaces_fork(&c->spaces, record->fork.parent_pid, record->pid);
    /* Remove an ended thread with the same id whose EXIT was lost. As pid, 0 is no process, so no
     * address space is cleared. */
    perf_task_forget(c, 0, record->tid);
    perf_task_rename(c, perf_task_find_or_add(c, record->pid, record->tid), name);
}

/* A thread gets a name; after an exec the mappings are gone. */
static void perf_collect_name(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
        tv_perf_spaces_clear(&c->spaces, record->pid);
    perf_task_rename(c, perf_task_find_or_add(c, record->pid, record->tid), record->name);
}

void tv_perf_collector_add(void *collector, const struct tv_perf_record *record)
{
    struct tv_perf_collector *c = collector;
    if (record->time_ns > c->last_ns)
        c->last_ns = record->time_ns;
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        perf_collect_sample(c, record);
        break;
    case PERF_RECORD_MMAP2:
        tv_perf_spaces_map(&c->spaces, record->pid, &record->mapping);
        break;
    case PERF_RECORD_COMM:
        perf_collect_name(c, record);
        break;
    case PERF_RECORD_FORK:
        perf_collect_fork(c, record);
        break;
    case PERF_RECORD_EXIT:
        perf_task_forget(c, record->pid, record->tid);
        break;
    case PERF_RECORD_SWITCH:
        perf_collect_switch(c, record);
        break;
    default: /* PERF_RECORD_LOST and PERF_RECORD_LOST_SAMPLES */
        c->kernel_lost += record->lost;
        break;
    }
}

void tv_perf_collector_add_thread(struct tv_perf_collector *collector, uint32_t pid, uint32_t tid,
                                  const char *name)
{
    perf_task_rename(collector, perf_task_find_or_add(collector, pid, tid), name);
}

void tv_perf_collector_end(struct tv_perf_collector *collector)
{
    for (size_t i = 0; i < collector->task_count; i++)
        perf_task_end_wait(collector, &collector->tasks[i], collector->last_ns);
}

void tv_perf_collector_init(struct tv_perf_collector *collector, uint64_t period_ns)
{
    *collector = (struct tv_perf_collector){.samples = {.clock = "cpu-clock"}};
    collector->samples.period_ns = period_ns;
    collector->samples.classes_are_modules = true;
    tv_map_init(&collector->switches);
    tv_perf_spaces_init(&collector->spaces);
}

void tv_perf_collector_release(struct tv_perf_collector *collector)
{
    for (size_t i = 0; i < collector->task_count; i++)
        tv_free(collector->tasks[i].stack);
    tv_free(collector->tasks);
    tv_free(collector->stack);
    tv_map_release(&collector->switches);
    tv_perf_spaces_release(&collector->spaces);
    tv_samples_release(&collector->samples);
}

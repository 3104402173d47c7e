/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - see collect.h. */
#include "perf/collect.h"

#include <string.h>

#include "base/memory.h"

#define NAME 64u

/* A thread. */
struct tv_perf_task {
    uint32_t tid, pid;
    uint32_t id; /* in the samples; 0: it has none yet */
    char name[NAME];
    uint64_t off_ns; /* when it left its processor; 0: it did not */
    bool preempted;
    uint32_t *stack; /* where it was then */
    size_t stack_capacity;
    uint32_t depth;
};

/* ---- Threads ---- */

static size_t task_place(const struct tv_perf_collector *c, uint32_t tid)
{
    size_t low = 0, high = c->task_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->tasks[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct tv_perf_task *find_task(const struct tv_perf_collector *c, uint32_t tid)
{
    size_t place = task_place(c, tid);
    return place < c->task_count && c->tasks[place].tid == tid ? &c->tasks[place] : NULL;
}

static struct tv_perf_task *find_or_add_task(struct tv_perf_collector *c, uint32_t pid,
                                             uint32_t tid)
{
    struct tv_perf_task *found = find_task(c, tid);
    if (found)
        return found;
    size_t place = task_place(c, tid);
    c->tasks = tv_array_reserve(c->tasks, &c->task_capacity, c->task_count + 1, sizeof *c->tasks);
    struct tv_perf_task *task = &c->tasks[place];
    memmove(task + 1, task, (c->task_count++ - place) * sizeof *task);
    *task = (struct tv_perf_task){.tid = tid, .pid = pid};
    const struct tv_perf_task *leader = find_task(c, pid);
    if (leader && leader != task)
        memcpy(task->name, leader->name, NAME);
    return task;
}

/* The id of its samples; 0: no memory. */
static uint32_t sample_id(struct tv_perf_collector *c, struct tv_perf_task *task)
{
    if (task->id == 0) {
        task->id = tv_samples_add_thread(&c->samples, task->name[0] ? task->name : "?", "main");
        if (task->id != 0)
            tv_samples_number_thread(&c->samples, task->id, task->pid, task->tid);
    }
    return task->id;
}

static void name_task(struct tv_perf_collector *c, struct tv_perf_task *task, const char *name)
{
    size_t length = strnlen(name, NAME - 1);
    memcpy(task->name, name, length);
    task->name[length] = '\0';
    if (task->id != 0)
        tv_samples_rename_thread(&c->samples, task->id, task->name);
}

static bool has_threads(const struct tv_perf_collector *c, uint32_t pid)
{
    for (size_t i = 0; i < c->task_count; i++)
        if (c->tasks[i].pid == pid)
            return true;
    return false;
}

static void forget_task(struct tv_perf_collector *c, uint32_t pid, uint32_t tid)
{
    struct tv_perf_task *task = find_task(c, tid);
    if (!task)
        return;
    if (task->id != 0)
        (void)tv_samples_end_thread(&c->samples, task->id);
    tv_free(task->stack);
    size_t place = (size_t)(task - c->tasks);
    memmove(task, task + 1, (--c->task_count - place) * sizeof *task);
    if (!has_threads(c, pid))
        tv_perf_spaces_clear(&c->spaces, pid);
}

/* ---- Stacks ---- */

/* The number of a place, 0: no memory. */
static uint32_t element_of(struct tv_perf_collector *c, uint32_t file, uint64_t place)
{
    static char none[] = "";
    struct tv_sample_element element = {place, (int32_t)file, none, none, NULL};
    uint32_t known = tv_samples_find_element(&c->samples, place, element.line);
    return known != 0 ? known : tv_samples_add_element(&c->samples, &element);
}

/* The element of a frame; 0: it is to be left out.  All but the innermost addresses of a kind are
 * where calls return to, which may be the start of the next function. */
static uint32_t frame_element(struct tv_perf_collector *c, uint32_t pid, uint64_t address,
                              bool kernel, bool innermost)
{
    uint64_t at = address -= !innermost;
    uint32_t file = TV_PERF_KERNEL_FILE;
    if (!kernel)
        file = tv_perf_spaces_find(&c->spaces, pid, address, &at);
    else if (!c->names_kernel)
        at = 0;
    if (kernel && !c->names_kernel && !innermost)
        return 0;
    /* An address in no file comes from a register that held no frame pointer. */
    if (file == TV_PERF_NO_FILE && !innermost)
        return 0;
    return element_of(c, file, file == TV_PERF_NO_FILE ? 0 : at);
}

/* The registers of a sample in the order of DWARF. */
static void read_registers(const struct tv_perf_record *record, uint64_t *registers,
                           struct tv_unwind_thread *thread)
{
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

/* Adds the user's part, where the kernel has copied it, to the stack at hand. */
static uint32_t add_copied_stack(struct tv_perf_collector *c, const struct tv_perf_record *record,
                                 uint32_t depth)
{
    uint64_t registers[TV_PERF_REGISTER_COUNT + 1];
    struct tv_unwind_thread thread;
    if (!record->sample.registers)
        return depth;
    read_registers(record, registers, &thread);
    uint32_t count =
        tv_perf_spaces_unwind(&c->spaces, record->pid, &thread, c->addresses, TV_PERF_UNWOUND);
    if (count == 0) {
        c->addresses[0] = thread.pc;
        count = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t element = frame_element(c, record->pid, c->addresses[i], false, i == 0);
        if (element != 0)
            c->stack[depth++] = element;
    }
    return depth;
}

/* The number of frames in c->stack. */
static uint32_t read_stack(struct tv_perf_collector *c, const struct tv_perf_record *record)
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
        uint32_t element = frame_element(c, record->pid, address, kernel, innermost);
        innermost = false;
        if (element != 0)
            c->stack[depth++] = element;
    }
    return add_copied_stack(c, record, depth);
}

/* ---- Records ---- */

static void keep_stack(struct tv_perf_task *task, const uint32_t *stack, uint32_t depth)
{
    task->stack =
        tv_array_reserve(task->stack, &task->stack_capacity, depth + 1, sizeof *task->stack);
    memcpy(task->stack, stack, depth * sizeof *stack);
    task->depth = depth;
}

static void take_sample(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    /* A thread in the last moments of its end has no number any more. */
    if (record->tid == UINT32_MAX) {
        c->samples.lost++;
        return;
    }
    struct tv_perf_task *task = find_or_add_task(c, record->pid, record->tid);
    uint32_t depth = read_stack(c, record);
    if (tv_map_find(&c->switches, record->event) != TV_NONE) {
        keep_stack(task, c->stack, depth);
        return;
    }
    struct tv_sample_moment moment = {
        .time_ns = record->time_ns,
        .cpu = record->cpu < TV_SAMPLE_NO_CPU ? (uint16_t)record->cpu : TV_SAMPLE_NO_CPU,
        .state = TV_SAMPLE_RUNNING,
    };
    if (depth == 0) {
        c->stack[0] = element_of(c, TV_PERF_NO_FILE, 0);
        depth = c->stack[0] != 0;
    }
    if (!tv_samples_add_at(&c->samples, sample_id(c, task), c->stack, depth, &moment))
        c->samples.lost++;
}

static void end_wait(struct tv_perf_collector *c, struct tv_perf_task *task, uint64_t now)
{
    if (task->off_ns != 0 && now > task->off_ns)
        (void)tv_samples_add_wait(&c->samples, sample_id(c, task), task->stack, task->depth,
                                  &(struct tv_sample_wait){
                                      .from_ns = task->off_ns,
                                      .to_ns = now,
                                      .is_preempted = task->preempted,
                                  });
    task->off_ns = 0;
    task->depth = 0;
}

static void take_switch(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    struct tv_perf_task *task = find_or_add_task(c, record->pid, record->tid);
    if (!(record->misc & PERF_RECORD_MISC_SWITCH_OUT)) {
        end_wait(c, task, record->time_ns);
        return;
    }
    task->off_ns = record->time_ns;
    task->preempted = (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
}

static void take_fork(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    const struct tv_perf_task *parent = find_task(c, record->fork.parent_tid);
    char name[NAME] = "";
    if (parent)
        memcpy(name, parent->name, NAME);
    if (record->pid != record->fork.parent_pid)
        tv_perf_spaces_fork(&c->spaces, record->fork.parent_pid, record->pid);
    forget_task(c, 0, record->tid);
    name_task(c, find_or_add_task(c, record->pid, record->tid), name);
}

static void take_name(struct tv_perf_collector *c, const struct tv_perf_record *record)
{
    if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
        tv_perf_spaces_clear(&c->spaces, record->pid);
    name_task(c, find_or_add_task(c, record->pid, record->tid), record->name);
}

void tv_perf_collector_take(void *collector, const struct tv_perf_record *record)
{
    struct tv_perf_collector *c = collector;
    if (record->time_ns > c->last_ns)
        c->last_ns = record->time_ns;
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        take_sample(c, record);
        break;
    case PERF_RECORD_MMAP2:
        tv_perf_spaces_map(&c->spaces, record->pid, &record->mapping);
        break;
    case PERF_RECORD_COMM:
        take_name(c, record);
        break;
    case PERF_RECORD_FORK:
        take_fork(c, record);
        break;
    case PERF_RECORD_EXIT:
        forget_task(c, record->pid, record->tid);
        break;
    case PERF_RECORD_SWITCH:
        take_switch(c, record);
        break;
    default: /* of lost records */
        c->kernel_lost += record->lost;
        break;
    }
}

void tv_perf_collector_know(struct tv_perf_collector *collector, uint32_t pid, uint32_t tid,
                            const char *name)
{
    name_task(collector, find_or_add_task(collector, pid, tid), name);
}

void tv_perf_collector_end(struct tv_perf_collector *collector)
{
    for (size_t i = 0; i < collector->task_count; i++)
        end_wait(collector, &collector->tasks[i], collector->last_ns);
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

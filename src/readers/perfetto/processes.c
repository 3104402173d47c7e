/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.c - names of processes and threads, and the packages that processes belong to
 * (docs/formats/perfetto.md section 9).
 *
 * Several packets name the same thread, in any order. A name has a priority, and one of the same or
 * a higher priority replaces it:
 *
 *     1  type of a Chrome process     3  type of a Chrome thread
 *     2  process tree (threads)       4  descriptors of tracks; process tree (processes)
 *        process descriptor
 *
 *     process tree {1 process {1 pid, 2 parent, 3 command line, 5 user}, 2 thread {1 tid, 2 name,
 *                                                                                  3 process}}
 *
 * A package of Android belongs to a user id; a process is of the package that it is named after,
 * or of the only one of its user. The package becomes the label of the process.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/perfetto/reading.h"

/* ---- Names ---- */

/* Set the name of an id, unless it has one of a higher priority. */
static void pf_set_name(struct tv_map *index, struct tv_pf_name **rows, size_t *count,
                        size_t *capacity, const struct tv_pf_name *name)
{
    uint32_t number = tv_map_add(index, name->id, (uint32_t)*count);
    if (number == *count) {
        *rows = tv_array_reserve(*rows, capacity, *count + 1, sizeof **rows);
        (*rows)[(*count)++] = *name;
    } else if (name->priority >= (*rows)[number].priority) {
        (*rows)[number] = *name;
    }
}

void tv_pf_name_thread(struct tv_pf_reading *reading, int64_t tid, uint32_t name, uint8_t priority)
{
    if (name != TV_EMPTY_STRING)
        pf_set_name(&reading->processes.thread_name_index, &reading->processes.thread_names.rows,
                    &reading->processes.thread_names.count,
                    &reading->processes.thread_names.capacity,
                    &(struct tv_pf_name){(uint64_t)tid, name, priority});
}

void tv_pf_name_process(struct tv_pf_reading *reading, int64_t pid, uint32_t name, uint8_t priority)
{
    if (name != TV_EMPTY_STRING)
        pf_set_name(&reading->processes.process_name_index, &reading->processes.process_names.rows,
                    &reading->processes.process_names.count,
                    &reading->processes.process_names.capacity,
                    &(struct tv_pf_name){(uint64_t)pid, name, priority});
}

/* Name the threads and processes of the trace. */
void tv_pf_add_names(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    struct tv_trace_info *head = merge->trace->head;
    const uint32_t *texts = merge->numbers[0].texts;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        struct tv_thread *thread = &head->threads[i];
        uint32_t number = thread->input == merge->input && !thread->line
                              ? tv_map_find(&reading->processes.thread_name_index, thread->id)
                              : TV_NONE;
        if (number == TV_NONE)
            continue;
        const struct tv_pf_name *name = &reading->processes.thread_names.rows[number];
        if (name->priority < 3 && thread->name != TV_EMPTY_STRING)
            continue; /* the kernel's name of the thread is from the trace itself */
        thread->name = texts[name->name];
        thread->kernel_name = name->priority < 3;
    }
    for (size_t i = 0; i < reading->processes.process_names.count; i++) {
        const struct tv_pf_name *name = &reading->processes.process_names.rows[i];
        uint32_t process = tv_map_find(&merge->processes, name->id);
        if (process == TV_NONE)
            continue;
        head->processes[process].name = texts[name->name];
        head->processes[process].kernel_name = false;
    }
}

/* ---- Lives, parents, users, command lines ---- */

static struct tv_pf_facts *pf_facts_of(struct tv_pf_facts_table *table, int64_t id)
{
    uint32_t number = tv_map_add(&table->index, (uint64_t)id, (uint32_t)table->list.count);
    if (number == table->list.count)
        *tv_table_add(&table->list) = (struct tv_pf_facts){
            .id = (uint64_t)id,
            .start = TV_NO_TIME,
            .end = TV_NO_TIME,
            .last_start = TV_NO_TIME,
            .boot_start = TV_NO_TIME,
            .parent = TV_FT_NO_ID,
            .user = TV_NONE,
            .command = TV_EMPTY_STRING,
        };
    return &table->list.rows[number];
}

/* Events of several processors do not come in the order of time. */
static void pf_facts_note_start(struct tv_pf_facts *facts, int64_t time)
{
    if (facts->start == TV_NO_TIME || time < facts->start)
        facts->start = time;
    if (time > facts->last_start)
        facts->last_start = time;
}

void tv_pf_note_start(struct tv_pf_reading *reading, int64_t tid, int64_t pid, int64_t time)
{
    pf_facts_note_start(pf_facts_of(&reading->processes.thread_facts, tid), time);
    if (tid == pid)
        pf_facts_note_start(pf_facts_of(&reading->processes.process_facts, pid), time);
}

void tv_pf_note_end(struct tv_pf_reading *reading, int64_t tid, int64_t pid, int64_t time)
{
    struct tv_pf_facts *facts = pf_facts_of(&reading->processes.thread_facts, tid);
    facts->end = time > facts->end ? time : facts->end;
    if (tid == pid) {
        facts = pf_facts_of(&reading->processes.process_facts, pid);
        facts->end = time > facts->end ? time : facts->end;
    }
}

void tv_pf_note_parent(struct tv_pf_reading *reading, int64_t pid, int64_t parent)
{
    if (parent >= 0)
        pf_facts_of(&reading->processes.process_facts, pid)->parent = parent;
}

/* Return the bytes before the first of two characters. */
static struct tv_bytes pf_bytes_before(struct tv_bytes text, char a, char b)
{
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == a || text.data[i] == b)
            text.length = i;
    return text;
}

void tv_pf_note_command(struct tv_pf_reading *reading, int64_t pid, struct tv_bytes command)
{
    if (command.length == 0)
        return;
    pf_facts_of(&reading->processes.process_facts, pid)->command = tv_pf_text(reading, command);
    tv_pf_name_process(reading, pid, tv_pf_text(reading, pf_bytes_before(command, ' ', ' ')), 4);
}

/* Return a time that the model can add to others; TV_NO_TIME when there is none. */
static int64_t pf_fact_time(int64_t time)
{
    return time >= -TV_MOVE_MAX && time <= TV_MOVE_MAX ? time : TV_NO_TIME;
}

/* Return the parent of a process; the kernel's process stands for that of the idle task, 0. */
static uint32_t pf_parent_of(struct tv_ft_merge *merge, const struct tv_pf_facts *facts)
{
    if (facts->parent > 0)
        return tv_map_find(&merge->processes, (uint64_t)facts->parent);
    return facts->parent == 0 ? tv_ft_merge_process(merge, TV_FT_NO_ID) : TV_NONE;
}

/* Add a row of facts, unless nothing is known. */
static void pf_add_facts_row(struct tv_pf_reading *reading, struct tv_ft_merge *merge,
                             const struct tv_pf_facts *facts, uint32_t process, uint32_t thread)
{
    int64_t start = facts->start;
    if (start == TV_NO_TIME && facts->boot_start != TV_NO_TIME) {
        start = facts->boot_start;
        if (!tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_BOOTTIME, &start))
            start = TV_NO_TIME;
    }
    struct tv_task_facts row = {
        .start = pf_fact_time(start),
        .end = facts->end >= facts->last_start ? pf_fact_time(facts->end) : TV_NO_TIME,
        .process = process,
        .thread = thread,
        .parent = pf_parent_of(merge, facts),
        .user = facts->user,
        .command = merge->numbers[0].texts[facts->command],
        .input = merge->input,
    };
    if (row.start != TV_NO_TIME || row.end != TV_NO_TIME || row.parent != TV_NONE ||
        row.user != TV_NONE || row.command != TV_EMPTY_STRING)
        *tv_table_add(&merge->trace->tables.task_facts) = row;
}

void tv_pf_add_facts(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    const struct tv_trace_info *head = merge->trace->head;
    const struct tv_pf_facts_table *processes = &reading->processes.process_facts;
    const struct tv_pf_facts_table *threads = &reading->processes.thread_facts;
    for (size_t i = 0; i < processes->list.count; i++) {
        uint32_t process = tv_map_find(&merge->processes, processes->list.rows[i].id);
        if (process != TV_NONE)
            pf_add_facts_row(reading, merge, &processes->list.rows[i], process, TV_NONE);
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        uint32_t number = thread->input == merge->input && !thread->line
                              ? tv_map_find(&threads->index, thread->id)
                              : TV_NONE;
        if (number != TV_NONE)
            pf_add_facts_row(reading, merge, &threads->list.rows[number], TV_NONE, i);
    }
}

/* ---- Process trees ---- */

/* Process of which all threads of the kernel are children. */
#define KTHREADD 2u

/* A process of a tree. */
struct pf_tree_process {
    int64_t pid, parent, user; /* user -1: unknown */
    int64_t boot_start;
    struct tv_bytes command;
    unsigned arguments;
    bool kernel; /* it is a thread of the kernel */
    bool named;  /* the command is the name of its thread */
};

/* Parse Process; only the first argument of the command line is a name. */
static struct pf_tree_process pf_tree_process_parse(struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct pf_tree_process process = {
        .pid = TV_FT_NO_ID, .parent = TV_FT_NO_ID, .user = -1, .boot_start = TV_NO_TIME};
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            process.pid = (int32_t)field.value;
            break;
        case 2:
            process.parent = (int32_t)field.value;
            process.kernel |= field.value == KTHREADD;
            break;
        case 3:
            if (process.arguments++ == 0)
                process.command = field.bytes;
            break;
        case 5:
            process.user = (int32_t)field.value;
            break;
        case 7:
            process.boot_start = (int64_t)field.value;
            break;
        case 8:
            process.kernel |= field.value != 0;
            break;
        case 9:
            process.named = field.value != 0;
            break;
        default:
            break;
        }
    return process;
}

/* Return the text of a whole command line: its arguments, with blanks between them. */
static uint32_t pf_command_line(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_out line;
    tv_out_init_memory(&line);
    while (tv_pf_next(&message, &field))
        if (field.number == 3) {
            if (line.length > 0)
                tv_out_char(&line, ' ');
            tv_out_bytes(&line, field.bytes);
        }
    uint32_t text = tv_pf_text(reading, (struct tv_bytes){line.buffer, line.length});
    tv_out_release(&line);
    return text;
}

/* A tree that comes later knows a program that was started in the process since. */
static void pf_note_tree_facts(struct tv_pf_reading *reading, const struct pf_tree_process *process,
                               struct tv_bytes bytes)
{
    struct tv_pf_facts *facts = pf_facts_of(&reading->processes.process_facts, process->pid);
    facts->parent = process->parent >= 0 ? process->parent : facts->parent;
    facts->user = process->user >= 0 ? (uint32_t)process->user : facts->user;
    facts->boot_start = process->boot_start;
    if (process->arguments > 0)
        facts->command = pf_command_line(reading, bytes);
}

/* Take a process of a tree, with its name from the command line. */
static void pf_add_tree_process(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct pf_tree_process process = pf_tree_process_parse(bytes);
    struct tv_bytes command = process.command;
    if (process.pid <= 0)
        return;
    tv_pf_set_process(reading, process.pid, process.pid);
    pf_note_tree_facts(reading, &process, bytes);
    /* A single argument may be a whole command line ("/system/bin/x --y") of one that rewrote it.
     */
    if (process.arguments == 1)
        command = pf_bytes_before(command, ' ', ' ');
    if (process.kernel && tv_bytes_starts_with(command, TV_BYTES("kworker/")))
        command = pf_bytes_before(command, '-', '+'); /* what it works on now */
    if (command.length == 0)
        return;
    uint32_t name = tv_pf_text(reading, command);
    tv_pf_name_process(reading, process.pid, name, 4);
    if (process.named)
        tv_pf_name_thread(reading, process.pid, name, 2);
}

/* Take a thread of a tree {1 tid, 2 name, 3 tgid}. */
static void pf_add_tree_thread(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    int64_t tid = TV_FT_NO_ID, pid = TV_FT_NO_ID;
    uint32_t name = TV_EMPTY_STRING;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            tid = (int32_t)field.value;
        else if (field.number == 2)
            name = tv_pf_text(reading, field.bytes);
        else if (field.number == 3)
            pid = (int32_t)field.value;
    }
    if (tid <= 0 || pid <= 0)
        return;
    tv_pf_set_process(reading, tid, pid);
    tv_pf_name_thread(reading, tid, name, 2);
}

void tv_pf_add_process_tree(struct tv_pf_reading *reading, struct tv_bytes tree)
{
    struct tv_pf_message message = tv_pf_message_over(tree);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            pf_add_tree_process(reading, field.bytes);
        else if (field.number == 2)
            pf_add_tree_thread(reading, field.bytes);
    }
}

/* ---- Packages ---- */

/* User ids of one app that runs for several users differ by a multiple of this. */
#define USER_RANGE 100000u

/* Maximum number of packages of one user that are compared with the name of a process. */
#define SHARED_MAX 256u

/* Add PackageInfo {1 name, 2 uid, 3 debuggable, 4 profileable, 5 version}, linked to the packages
 * of its user. */
static void pf_add_package(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_pf_package package = {.next = TV_NONE};
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            package.name = tv_pf_text(reading, field.bytes);
            break;
        case 2:
            package.user = (uint32_t)(field.value % USER_RANGE);
            break;
        case 3:
            package.debuggable = field.value != 0;
            break;
        case 4:
            package.profileable = field.value != 0;
            break;
        case 5:
            package.version = (int64_t)field.value;
            break;
        default:
            break;
        }
    uint32_t number = (uint32_t)reading->processes.packages.count;
    if (package.name == TV_EMPTY_STRING ||
        tv_map_add(&reading->processes.package_names, package.name, number) != number)
        return; /* the list is written again at the end of a recording */
    uint32_t first = tv_map_find(&reading->processes.user_packages, package.user);
    package.next = first;
    tv_map_set(&reading->processes.user_packages, package.user, number);
    *tv_table_add(&reading->processes.packages) = package;
}

void tv_pf_take_packages(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == 1)
            pf_add_package(reading, field.bytes);
}

/* Return true when a process is named after a package: "PACKAGE" or "PACKAGE:service". */
static bool pf_is_named_after(struct tv_bytes process, struct tv_bytes package)
{
    return tv_bytes_starts_with(process, package) &&
           (process.length == package.length || process.data[package.length] == ':');
}

/* Return the package of a process: of those of its user the one that it is named after, else the
 * only one; NULL when there is none. */
static struct tv_pf_package *pf_find_package(const struct tv_pf_reading *reading,
                                             const struct tv_trace_info *head,
                                             const struct tv_process *process)
{
    const struct tv_pf_facts_table *facts = &reading->processes.process_facts;
    uint32_t number = tv_map_find(&facts->index, process->id);
    uint32_t user = number == TV_NONE ? TV_NONE : facts->list.rows[number].user;
    uint32_t first = user == TV_NONE
                         ? TV_NONE
                         : tv_map_find(&reading->processes.user_packages, user % USER_RANGE);
    struct tv_bytes name = tv_interner_get(head->strings, process->name);
    unsigned steps = 0;
    for (uint32_t i = first; i != TV_NONE && steps++ < SHARED_MAX;
         i = reading->processes.packages.rows[i].next) {
        struct tv_pf_package *package = &reading->processes.packages.rows[i];
        if (pf_is_named_after(name, tv_interner_get(reading->chunk->texts, package->name)))
            return package;
    }
    return first != TV_NONE && reading->processes.packages.rows[first].next == TV_NONE
               ? &reading->processes.packages.rows[first]
               : NULL;
}

static void pf_add_package_row(const struct tv_pf_reading *reading, struct tv_ft_merge *merge,
                               const struct tv_pf_package *package)
{
    char key[200], value[96];
    struct tv_bytes name = tv_interner_get(reading->chunk->texts, package->name);
    int key_length = snprintf(key, sizeof key, "package %.*s",
                              name.length < 180 ? (int)name.length : 180, (const char *)name.data);
    int length =
        snprintf(value, sizeof value, "uid %" PRIu32 ", version %" PRId64 "%s%s", package->user,
                 package->version, package->debuggable ? ", debuggable" : "",
                 package->profileable ? ", profileable" : "");
    tv_trace_info_add_metadata(merge->trace->head, merge->input,
                               (struct tv_bytes){(const uint8_t *)key, (size_t)key_length},
                               (struct tv_bytes){(const uint8_t *)value, (size_t)length});
}

void tv_pf_add_packages(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    struct tv_trace_info *head = merge->trace->head;
    char count[24];
    if (reading->processes.packages.count == 0)
        return;
    int length = snprintf(count, sizeof count, "%zu", reading->processes.packages.count);
    tv_trace_info_add_metadata(head, merge->input, TV_BYTES("packages"),
                               (struct tv_bytes){(const uint8_t *)count, (size_t)length});
    for (uint32_t i = 0; i < head->process_count; i++) {
        struct tv_process *process = &head->processes[i];
        if (tv_map_find(&merge->processes, process->id) != i)
            continue; /* of another input */
        struct tv_pf_package *package = pf_find_package(reading, head, process);
        if (!package)
            continue;
        struct tv_bytes name = tv_interner_get(reading->chunk->texts, package->name);
        if (!tv_bytes_equal(name, tv_interner_get(head->strings, process->name)))
            process->labels = tv_trace_info_string(head, name);
        if (!package->told)
            pf_add_package_row(reading, merge, package);
        package->told = true;
    }
}

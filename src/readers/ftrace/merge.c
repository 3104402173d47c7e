/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "readers/ftrace/graph.h"
#include "readers/ftrace/later.h"

#define KERNEL "Kernel"
#define IDLE "<idle>"

/* ---- Numbers ---- */

uint32_t tv_ft_process(struct tv_ft_merge *merge, int64_t tgid)
{
    struct tv_trace_info *head = merge->trace->head;
    if (tgid == TV_FT_NO_ID) {
        if (merge->kernel == TV_NONE)
            merge->kernel = tv_trace_info_add_process(head, 0, TV_BYTES(KERNEL));
        return merge->kernel;
    }
    uint32_t number = tv_map_find(&merge->processes, (uint64_t)tgid);
    if (number == TV_NONE) {
        number = tv_trace_info_add_process(head, (uint64_t)tgid, (struct tv_bytes){NULL, 0});
        tv_map_set(&merge->processes, (uint64_t)tgid, number);
    }
    return number;
}

/* What all parts say of a task. */
struct known_task {
    int64_t tid, tgid;
    uint32_t name, seen_name; /* strings of the head */
    bool used;
    uint32_t thread;
};

struct tasks {
    struct tv_ft_merge *merge;
    TV_TABLE(known_task) rows;
    struct tv_map by_key;
    uint32_t **numbers; /* of each part: in rows */
};

/* Ids below, names of the kernel's lines above. */
static uint64_t key_of(const struct tv_ft_task *task, const uint32_t *texts)
{
    return task->tid == TV_FT_NO_ID ? UINT64_C(1) << 62 | texts[task->name] : (uint64_t)task->tid;
}

/* The name that its own lines say first. */
static void see_task(struct tasks *tasks, struct known_task *known, const struct tv_ft_task *task,
                     const struct tv_ft_part *part)
{
    if (known->seen_name != TV_EMPTY_STRING || task->seen_name == TV_EMPTY_STRING)
        return;
    known->seen_name = tv_trace_info_string(tasks->merge->trace->head,
                                      tv_interner_get(part->seen_names, task->seen_name));
    if (task->seen_odd)
        *tv_table_add(&tasks->merge->odd) = (struct tv_ft_odd){task->seen_at, known->seen_name};
}

static void know_task(struct tasks *tasks, size_t part, size_t index, uint32_t *number)
{
    const struct tv_ft_part *of = &tasks->merge->texts[part].part;
    const uint32_t *texts = tasks->merge->numbers[part].texts;
    const struct tv_ft_task *task = &of->tasks.rows[index];
    *number = tv_map_add(&tasks->by_key, key_of(task, texts), (uint32_t)tasks->rows.count);
    if (*number == tasks->rows.count)
        *tv_table_add(&tasks->rows) =
            (struct known_task){.tid = task->tid, .tgid = TV_FT_NO_ID, .thread = TV_NONE};
    struct known_task *known = &tasks->rows.rows[*number];
    known->used |= task->used;
    if (task->tgid != TV_FT_NO_ID)
        known->tgid = task->tgid;
    else if (known->tgid == TV_FT_NO_ID)
        known->tgid = task->marked_tgid;
    if (task->name != TV_EMPTY_STRING)
        known->name = texts[task->name];
    see_task(tasks, known, task, of);
}

/* A task that is named as the process of others is its main thread. */
static void find_main_threads(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->rows.count; i++) {
        int64_t tgid = tasks->rows.rows[i].tgid;
        uint32_t main = tgid > 0 ? tv_map_find(&tasks->by_key, (uint64_t)tgid) : TV_NONE;
        if (main != TV_NONE && tasks->rows.rows[main].tgid == TV_FT_NO_ID)
            tasks->rows.rows[main].tgid = tgid;
    }
}

static uint32_t process_of(struct tasks *tasks, const struct known_task *task)
{
    if (task->tid == TV_FT_NO_ID || task->tid == 0)
        return tv_ft_process(tasks->merge, TV_FT_NO_ID);
    return task->tgid > 0 ? tv_ft_process(tasks->merge, task->tgid) : TV_NONE;
}

static void add_thread(struct tasks *tasks, struct known_task *task)
{
    struct tv_trace_info *head = tasks->merge->trace->head;
    if (task->tid == 0 && !task->used)
        return; /* the idle task runs where none does */
    uint32_t name = task->name != TV_EMPTY_STRING ? task->name : task->seen_name;
    if (task->tid == 0)
        name = tv_trace_info_string(head, TV_BYTES(IDLE));
    struct tv_thread thread = {
        .id = task->tid == TV_FT_NO_ID ? 0 : (uint64_t)task->tid,
        .key = task->tid == TV_FT_NO_ID ? name : TV_EMPTY_STRING,
        .name = name,
        .process = process_of(tasks, task),
        .input = tasks->merge->input,
        .kernel_name = true,
        .listed = true,
        .line = task->tid == TV_FT_NO_ID,
    };
    task->thread = tv_trace_info_add_thread(head, &thread);
    if (task->tid == task->tgid && head->processes[thread.process].name == TV_EMPTY_STRING) {
        head->processes[thread.process].name = name;
        head->processes[thread.process].kernel_name = true;
    }
}

/* Numbers of texts come first: tasks and frames have some. */
static void number_texts(struct tv_ft_merge *merge, size_t part)
{
    const struct tv_interner *texts = merge->texts[part].part.texts;
    uint32_t count = tv_interner_count(texts);
    uint32_t *numbers = merge->numbers[part].texts = tv_alloc(count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = tv_trace_info_string(merge->trace->head, tv_interner_get(texts, i));
}

static void number_frames(struct tv_ft_merge *merge, size_t part)
{
    const struct tv_ft_part *p = &merge->texts[part].part;
    const uint32_t *texts = merge->numbers[part].texts;
    uint32_t *numbers = merge->numbers[part].frames = tv_alloc(p->frames.count, sizeof *numbers);
    for (size_t i = 0; i < p->frames.count; i++) {
        struct tv_frame frame = {.name = texts[p->frames.rows[i].name],
                                 .category = texts[p->frames.rows[i].category]};
        numbers[i] = tv_trace_info_add_frame(merge->trace->head, &frame);
    }
}

static void number_tasks(struct tv_ft_merge *merge)
{
    struct tasks tasks = {.merge = merge};
    tasks.numbers = tv_alloc(merge->text_count, sizeof *tasks.numbers);
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_part *part = &merge->texts[i].part;
        tasks.numbers[i] = tv_alloc(part->tasks.count, sizeof **tasks.numbers);
        for (size_t k = 0; k < part->tasks.count; k++)
            know_task(&tasks, i, k, &tasks.numbers[i][k]);
    }
    find_main_threads(&tasks);
    for (size_t i = 0; i < tasks.rows.count; i++)
        add_thread(&tasks, &tasks.rows.rows[i]);
    for (size_t i = 0; i < merge->text_count; i++) {
        size_t count = merge->texts[i].part.tasks.count;
        uint32_t *threads = merge->numbers[i].threads = tv_alloc(count, sizeof *threads);
        for (size_t k = 0; k < count; k++)
            threads[k] = tasks.rows.rows[tasks.numbers[i][k]].thread;
        tv_free(tasks.numbers[i]);
    }
    tv_free(tasks.numbers);
    tv_free(tasks.rows.rows);
    tv_map_release(&tasks.by_key);
}

/* ---- Rows ---- */

/* The idle task's thread is no thread that is scheduled. */
static uint32_t scheduled(const struct tv_ft_part *part, const uint32_t *threads, uint32_t task)
{
    return part->tasks.rows[task].tid == 0 ? TV_NONE : threads[task];
}

/* Where the rows of each part begin in the tables of all. */
struct moving {
    struct tv_ft_merge *merge;
    size_t *switches, *wakeups, *instants;
};

static void move_switches(struct tv_ft_merge *merge, size_t index, size_t first)
{
    struct tv_ft_part *part = &merge->texts[index].part;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    for (size_t i = 0; i < part->switches.count; i++) {
        struct tv_ft_switch *to = &merge->switches.rows[first + i];
        if (index > 0) /* those of the first part are there */
            *to = part->switches.rows[i];
        to->from = scheduled(part, numbers->threads, to->from);
        to->to = scheduled(part, numbers->threads, to->to);
        to->frame = numbers->frames[to->frame];
    }
    tv_free(part->switches.rows);
    part->switches.rows = NULL;
}

static void move_wakeups(struct tv_ft_merge *merge, size_t index, size_t first)
{
    struct tv_ft_part *part = &merge->texts[index].part;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    for (size_t i = 0; i < part->wakeups.count; i++) {
        struct tv_ft_wakeup *to = &merge->wakeups.rows[first + i];
        if (index > 0)
            *to = part->wakeups.rows[i];
        to->task = scheduled(part, numbers->threads, to->task);
        to->by = to->kind == TV_FT_WAKE_BLOCKED ? numbers->texts[to->by]
                                                : scheduled(part, numbers->threads, to->by);
    }
    tv_free(part->wakeups.rows);
    part->wakeups.rows = NULL;
}

static void move_instants(struct tv_ft_merge *merge, size_t index, size_t first)
{
    struct tv_ft_part *part = &merge->texts[index].part;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    for (size_t i = 0; i < part->instants.count; i++) {
        struct tv_instant *to = &merge->trace->tables.instants.rows[first + i];
        *to = part->instants.rows[i];
        to->frame = numbers->frames[to->frame];
        to->of = to->scope == TV_SCOPE_THREAD ? numbers->threads[to->of] : to->of;
        to->input = merge->input;
    }
    tv_free(part->instants.rows);
    part->instants.rows = NULL;
}

static void move_rows(void *context, unsigned index)
{
    struct moving *moving = context;
    move_switches(moving->merge, index, moving->switches[index]);
    move_wakeups(moving->merge, index, moving->wakeups[index]);
    move_instants(moving->merge, index, moving->instants[index]);
}

/* The first part's table becomes that of all. */
#define TAKE_TABLE(table, part)                                                                    \
    do {                                                                                           \
        (table)->rows = (part)->rows;                                                              \
        (table)->count = (part)->count;                                                            \
        (table)->capacity = (part)->capacity;                                                      \
        (part)->rows = NULL;                                                                       \
    } while (0)

/* Makes room for the rows of all parts and tells where those of each begin. */
#define LAY_OUT(table, part_table, from)                                                           \
    do {                                                                                           \
        size_t end_ = (from);                                                                      \
        for (size_t i_ = 0; i_ < merge->text_count; i_++) {                                        \
            moving.part_table[i_] = end_;                                                          \
            end_ += merge->texts[i_].part.part_table.count;                                        \
        }                                                                                          \
        (table)->rows =                                                                            \
            tv_array_reserve((table)->rows, &(table)->capacity, end_, sizeof *(table)->rows);      \
        (table)->count = end_;                                                                     \
    } while (0)

/* The largest tables, part beside part. */
static void move_all_rows(struct tv_ft_merge *merge)
{
    struct moving moving = {
        .merge = merge,
        .switches = tv_alloc(merge->text_count, sizeof *moving.switches),
        .wakeups = tv_alloc(merge->text_count, sizeof *moving.wakeups),
        .instants = tv_alloc(merge->text_count, sizeof *moving.instants),
    };
    TAKE_TABLE(&merge->switches, &merge->texts[0].part.switches);
    TAKE_TABLE(&merge->wakeups, &merge->texts[0].part.wakeups);
    LAY_OUT(&merge->switches, switches, 0);
    LAY_OUT(&merge->wakeups, wakeups, 0);
    LAY_OUT(&merge->trace->tables.instants, instants, merge->trace->tables.instants.count);
    tv_workers_run((unsigned)merge->text_count, move_rows, &moving);
    tv_free(moving.switches);
    tv_free(moving.wakeups);
    tv_free(moving.instants);
}

static void move_asyncs(struct tv_ft_merge *merge, size_t index, struct tv_interner *keys)
{
    struct tv_ft_part *part = &merge->texts[index].part;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    uint32_t *key_of_part = tv_alloc(part->keys.count, sizeof *key_of_part);
    for (size_t i = 0; i < part->keys.count; i++) {
        const struct tv_ft_key *key = &part->keys.rows[i];
        uint64_t words[3] = {(uint64_t)key->tgid,
                             (uint64_t)numbers->texts[key->what] << 32 | numbers->texts[key->first],
                             numbers->texts[key->second]};
        struct tv_bytes bytes = {(const uint8_t *)words, sizeof words};
        key_of_part[i] = tv_interner_add(keys, bytes) - 1;
    }
    for (size_t i = 0; i < part->asyncs.count; i++) {
        struct tv_ft_async *to = tv_table_add(&merge->asyncs);
        *to = part->asyncs.rows[i];
        to->key = key_of_part[to->key];
        to->id = numbers->texts[to->id];
        to->track = numbers->texts[to->track];
        to->frame = numbers->frames[to->frame];
        to->task = numbers->threads[to->task];
    }
    tv_free(part->asyncs.rows);
    part->asyncs.rows = NULL;
    tv_free(key_of_part);
}

static void move_marks(struct tv_ft_merge *merge, size_t index)
{
    struct tv_ft_part *part = &merge->texts[index].part;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    struct tv_tables *tables = &merge->trace->tables;
    for (size_t i = 0; i < part->marks.count; i++) {
        struct tv_clock_sync mark = part->marks.rows[i];
        mark.input = merge->input;
        /* One without a name tells the clock of a parent trace: the first of them counts. */
        if (mark.id != TV_EMPTY_STRING) {
            mark.id = numbers->texts[mark.id];
            *tv_table_add(&tables->clock_syncs) = mark;
        } else if (!merge->shifted && mark.asked != 0) {
            merge->shifted = true;
            merge->trace->offset[merge->input] = mark.asked - mark.time;
        }
    }
}

/* The first that any part tells. */
static void move_wall_clock(struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_part *part = &merge->texts[i].part;
        if (part->wall_clock == TV_EMPTY_STRING)
            continue;
        tv_trace_info_add_metadata(merge->trace->head, merge->input, TV_BYTES("realtime_ts"),
                             tv_interner_get(part->texts, part->wall_clock));
        return;
    }
}

static void move_comments(struct tv_ft_merge *merge, const struct tv_ft_text *text)
{
    struct tv_trace_info *head = merge->trace->head;
    for (size_t i = 0; i < text->comments.count; i++) {
        struct tv_bytes key = tv_interner_get(text->part.texts, text->comments.rows[i].key);
        struct tv_bytes value = tv_interner_get(text->part.texts, text->comments.rows[i].value);
        uint64_t kept, written;
        tv_trace_info_add_metadata(head, merge->input, key, value);
        if (tv_bytes_starts_with(key, TV_BYTES("entries")) &&
            tv_ft_entries(value, &kept, &written) && written > kept)
            tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OVERWRITTEN, TV_NO_OFFSET);
    }
}

static bool names_buffer(const struct tv_ft_text *text, struct tv_bytes name)
{
    for (uint32_t i = 0; i < text->buffer_count; i++)
        if (tv_bytes_equal(tv_interner_get(text->part.texts, text->buffers[i]), name))
            return true;
    return false;
}

/* Each buffer once, though many stretches name it. */
static void move_buffers(struct tv_ft_merge *merge, size_t text)
{
    const struct tv_ft_text *texts = merge->texts;
    for (uint32_t i = 0; i < texts[text].buffer_count; i++) {
        struct tv_bytes name = tv_interner_get(texts[text].part.texts, texts[text].buffers[i]);
        bool known = false;
        for (size_t earlier = 0; earlier < text && !known; earlier++)
            known = names_buffer(&texts[earlier], name);
        if (!known)
            tv_trace_info_add_metadata(merge->trace->head, merge->input, TV_BYTES("buffer"), name);
    }
}

/* Lines at the beginning of a part that are no events belong to what was printed before, or are
 * bad. */
static void judge_strays(struct tv_ft_merge *merge)
{
    bool continues = false;
    struct tv_diagnostics *diagnostics = &merge->trace->head->diagnostics;
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_text *text = &merge->texts[i];
        if (!continues)
            tv_diagnostics_merge(diagnostics, &text->strays);
        tv_diagnostics_merge(diagnostics, &text->part.diagnostics);
        continues = text->any ? text->continues : continues;
    }
}

static int compare_times(int64_t time_a, uint64_t offset_a, int64_t time_b, uint64_t offset_b)
{
    if (time_a != time_b)
        return time_a < time_b ? -1 : 1;
    return offset_a < offset_b ? -1 : offset_a > offset_b;
}

#define DEFINE_SORT(name, type)                                                                    \
    static int compare_##name(const void *left, const void *right)                                 \
    {                                                                                              \
        const struct type *a = left, *b = right;                                                   \
        return compare_times(a->time, a->offset, b->time, b->offset);                              \
    }                                                                                              \
    static void sort_##name(struct type *rows, size_t count)                                       \
    {                                                                                              \
        for (size_t i = 1; i < count; i++)                                                         \
            if (rows[i].time < rows[i - 1].time) {                                                 \
                qsort(rows, count, sizeof *rows, compare_##name);                                  \
                return;                                                                            \
            }                                                                                      \
    }

/* Text is sorted but for that of some buffers put together by hand. */
DEFINE_SORT(switches, tv_ft_switch)
DEFINE_SORT(wakeups, tv_ft_wakeup)
DEFINE_SORT(asyncs, tv_ft_async)

/* ---- All ---- */

static int compare_odd(const void *left, const void *right)
{
    const struct tv_ft_odd *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Each once, where it stands first. */
static void count_odd_texts(struct tv_ft_merge *merge)
{
    struct tv_map seen;
    tv_map_init(&seen);
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_part *part = &merge->texts[i].part;
        for (size_t k = 0; k < part->odd.count; k++)
            *tv_table_add(&merge->odd) = (struct tv_ft_odd){
                part->odd.rows[k].offset, merge->numbers[i].texts[part->odd.rows[k].text]};
    }
    if (merge->odd.count > 0)
        qsort(merge->odd.rows, merge->odd.count, sizeof *merge->odd.rows, compare_odd);
    for (size_t i = 0; i < merge->odd.count; i++) {
        uint32_t count = (uint32_t)seen.count;
        if (tv_map_add(&seen, merge->odd.rows[i].text, count) == count)
            tv_diagnostics_add(&merge->trace->head->diagnostics, TV_DIAGNOSTIC_NOT_UTF8,
                               merge->odd.rows[i].offset);
    }
    tv_map_release(&seen);
    tv_free(merge->odd.rows);
    merge->odd.rows = NULL;
}

static void number_parts(struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < merge->text_count; i++)
        number_texts(merge, i);
    number_tasks(merge);
    count_odd_texts(merge);
    for (size_t i = 0; i < merge->text_count; i++)
        number_frames(merge, i);
}

static void take_gathered(struct tv_ft_merge *merge, size_t index)
{
    struct tv_ft_part *part = &merge->texts[index].part;
    tv_assembly_add_chunk(merge->assembly, part->gather, merge->numbers[index].threads,
                     merge->numbers[index].frames);
    part->gather = NULL;
    merge->first = part->first < merge->first ? part->first : merge->first;
    merge->last = part->last > merge->last ? part->last : merge->last;
    merge->trace->head->inputs[merge->input].records += part->events;
}

/* What the end of the file says has its time. */
static void date_the_end(struct tv_ft_merge *merge)
{
    struct tv_tables *tables = &merge->trace->tables;
    for (size_t i = tables->instants.count; i-- > 0;)
        if (tables->instants.rows[i].input == merge->input &&
            tables->instants.rows[i].time == TV_FT_AT_END)
            tables->instants.rows[i].time = merge->last < 0 ? 0 : merge->last;
}

void tv_ft_merge(struct tv_ft_merge *merge)
{
    struct tv_interner *keys = tv_interner_new();
    merge->first = INT64_MAX;
    merge->last = INT64_MIN;
    merge->kernel = TV_NONE;
    merge->numbers = tv_alloc(merge->text_count, sizeof *merge->numbers);
    number_parts(merge);
    move_all_rows(merge);
    for (size_t i = 0; i < merge->text_count; i++) {
        move_asyncs(merge, i, keys);
        move_marks(merge, i);
        move_comments(merge, &merge->texts[i]);
        move_buffers(merge, i);
        take_gathered(merge, i);
    }
    move_wall_clock(merge);
    judge_strays(merge);
    tv_ft_merge_stacks(merge);
    tv_ft_place_calls(merge);
    tv_ft_tell_later(merge);
    date_the_end(merge);
    merge->key_count = tv_interner_count(keys) - 1;
    tv_interner_free(keys);
    sort_switches(merge->switches.rows, merge->switches.count);
    sort_wakeups(merge->wakeups.rows, merge->wakeups.count);
    sort_asyncs(merge->asyncs.rows, merge->asyncs.count);
    tv_ft_merge_counters(merge);
}

void tv_ft_merge_leave_rows(struct tv_ft_merge *merge)
{
    tv_free(merge->switches.rows);
    tv_free(merge->wakeups.rows);
    merge->switches.rows = NULL;
    merge->wakeups.rows = NULL;
    merge->switches.count = merge->switches.capacity = 0;
    merge->wakeups.count = merge->wakeups.capacity = 0;
}

void tv_ft_merge_release(struct tv_ft_merge *merge)
{
    for (size_t i = 0; merge->numbers && i < merge->text_count; i++) {
        tv_free(merge->numbers[i].threads);
        tv_free(merge->numbers[i].frames);
        tv_free(merge->numbers[i].texts);
    }
    tv_free(merge->numbers);
    tv_ft_merge_leave_rows(merge);
    tv_free(merge->asyncs.rows);
    tv_free(merge->whole_asyncs.rows);
    if (merge->repeated)
        tv_diagnostics_clear(merge->repeated);
    tv_free(merge->repeated);
    tv_free(merge->flows.rows);
    tv_free(merge->slice_ends.rows);
    tv_map_release(&merge->processes);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging chunks in three steps:
 *
 *   1. Numbers: texts, then tasks, then frames of each chunk get numbers of the trace, in the order
 *      of the chunks.  A task is one thread however many chunks have it; facts that come from the
 *      first line (seen_name) or from the last (tgid, name) are combined in that order, too.
 *   2. Rows: the large tables (switches, wake-ups, instants) are moved by one worker per chunk into
 *      tables of the final size; the small ones follow one after the other.
 *   3. Sorting by time, and everything that needs events of other chunks: stacks, function_graph,
 *      deferred events, counters.
 *
 * The order of the steps matters: tasks need the numbers of texts (their keys are names for
 * pseudo-threads), frames need those of texts, rows need those of tasks and frames.  Stacks come
 * before function_graph and deferred events, which may add frames and threads of their own.
 *
 * Every merged number depends on the chunks' contents and order only, never on which worker was
 * faster.  Splitting a file differently therefore gives the same trace.
 */
#include "readers/ftrace/merge.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "readers/ftrace/chunk.h"

#define KERNEL "Kernel"
#define IDLE "<idle>"

/* ---- Numbers of the trace ---- */

uint32_t tv_ft_merge_process(struct tv_ft_merge *merge, int64_t tgid)
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

/* A task, combined from all chunks. */
struct ft_known_task {
    int64_t tid, tgid;
    uint32_t name, seen_name; /* strings of the head */
    bool used;
    uint32_t thread;
};

struct ft_task_table {
    struct tv_ft_merge *merge;
    TV_TABLE(ft_known_task) rows;
    struct tv_map by_key;
    uint32_t **numbers; /* by chunk and task: an index of `rows` */
};

/* Return the key of a task: its tid, or a value above all tids for a pseudo-thread. */
static uint64_t ft_merge_task_key(const struct tv_ft_task *task, const uint32_t *texts)
{
    return task->tid == TV_FT_NO_ID ? UINT64_C(1) << 62 | texts[task->name] : (uint64_t)task->tid;
}

/* Keep the name that the first of the task's own lines shows. */
static void ft_merge_see_task_name(struct ft_task_table *tasks, struct ft_known_task *known,
                                   const struct tv_ft_task *task, const struct tv_ft_chunk *chunk)
{
    if (known->seen_name != TV_EMPTY_STRING || task->seen_name == TV_EMPTY_STRING)
        return;
    known->seen_name = tv_trace_info_string(tasks->merge->trace->head,
                                            tv_interner_get(chunk->seen_names, task->seen_name));
    if (task->seen_odd)
        *tv_table_add(&tasks->merge->odd) =
            (struct tv_ft_bad_text){task->seen_at, known->seen_name};
}

/* Merge a task of a chunk into the table of all tasks. Facts from later chunks win, except for
 * seen_name and marked_tgid. */
static void ft_merge_add_task(struct ft_task_table *tasks, size_t chunk, size_t index,
                              uint32_t *number)
{
    const struct tv_ft_chunk *of = &tasks->merge->readers[chunk].chunk;
    const uint32_t *texts = tasks->merge->numbers[chunk].texts;
    const struct tv_ft_task *task = &of->tasks.rows[index];
    *number =
        tv_map_add(&tasks->by_key, ft_merge_task_key(task, texts), (uint32_t)tasks->rows.count);
    if (*number == tasks->rows.count)
        *tv_table_add(&tasks->rows) =
            (struct ft_known_task){.tid = task->tid, .tgid = TV_FT_NO_ID, .thread = TV_NONE};
    struct ft_known_task *known = &tasks->rows.rows[*number];
    known->used |= task->used;
    if (task->tgid != TV_FT_NO_ID)
        known->tgid = task->tgid;
    else if (known->tgid == TV_FT_NO_ID)
        known->tgid = task->marked_tgid;
    if (task->name != TV_EMPTY_STRING)
        known->name = texts[task->name];
    ft_merge_see_task_name(tasks, known, task, of);
}

/* A task whose tid is the tgid of others is their main thread. */
static void ft_merge_find_main_threads(struct ft_task_table *tasks)
{
    for (size_t i = 0; i < tasks->rows.count; i++) {
        int64_t tgid = tasks->rows.rows[i].tgid;
        uint32_t main = tgid > 0 ? tv_map_find(&tasks->by_key, (uint64_t)tgid) : TV_NONE;
        if (main != TV_NONE && tasks->rows.rows[main].tgid == TV_FT_NO_ID)
            tasks->rows.rows[main].tgid = tgid;
    }
}

/* Return the process of a task; TV_NONE when no line shows its tgid. */
static uint32_t ft_merge_task_process(struct ft_task_table *tasks, const struct ft_known_task *task)
{
    if (task->tid == TV_FT_NO_ID || task->tid == 0)
        return tv_ft_merge_process(tasks->merge, TV_FT_NO_ID);
    return task->tgid > 0 ? tv_ft_merge_process(tasks->merge, task->tgid) : TV_NONE;
}

/* Add the thread of a task to the trace. The main thread also names its process, as the kernel
 * does. */
static void ft_merge_add_thread(struct ft_task_table *tasks, struct ft_known_task *task)
{
    struct tv_trace_info *head = tasks->merge->trace->head;
    if (task->tid == 0 && !task->used)
        return; /* the idle task is no thread; it only fills idle processors */
    uint32_t name = task->name != TV_EMPTY_STRING ? task->name : task->seen_name;
    if (task->tid == 0)
        name = tv_trace_info_string(head, TV_BYTES(IDLE));
    struct tv_thread thread = {
        .id = task->tid == TV_FT_NO_ID ? 0 : (uint64_t)task->tid,
        .key = task->tid == TV_FT_NO_ID ? name : TV_EMPTY_STRING,
        .name = name,
        .process = ft_merge_task_process(tasks, task),
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

/* Number the texts of a chunk. This comes before tasks and frames, which refer to texts. */
static void ft_merge_number_texts(struct tv_ft_merge *merge, size_t chunk)
{
    const struct tv_interner *texts = merge->readers[chunk].chunk.texts;
    uint32_t count = tv_interner_count(texts);
    uint32_t *numbers = merge->numbers[chunk].texts = tv_alloc(count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = tv_trace_info_string(merge->trace->head, tv_interner_get(texts, i));
}

/* Number the frames of a chunk. */
static void ft_merge_number_frames(struct tv_ft_merge *merge, size_t chunk)
{
    assert(merge->numbers[chunk].texts); /* frames refer to texts */
    const struct tv_ft_chunk *p = &merge->readers[chunk].chunk;
    const uint32_t *texts = merge->numbers[chunk].texts;
    uint32_t *numbers = merge->numbers[chunk].frames = tv_alloc(p->frames.count, sizeof *numbers);
    for (size_t i = 0; i < p->frames.count; i++) {
        struct tv_frame frame = {.name = texts[p->frames.rows[i].name],
                                 .category = texts[p->frames.rows[i].category]};
        numbers[i] = tv_trace_info_add_frame(merge->trace->head, &frame);
    }
}

/* Number the tasks of all chunks: merge them, add their threads, then store the thread of each
 * task. */
static void ft_merge_number_tasks(struct tv_ft_merge *merge)
{
    struct ft_task_table tasks = {.merge = merge};
    tasks.numbers = tv_alloc(merge->reader_count, sizeof *tasks.numbers);
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        tasks.numbers[i] = tv_alloc(chunk->tasks.count, sizeof **tasks.numbers);
        for (size_t k = 0; k < chunk->tasks.count; k++)
            ft_merge_add_task(&tasks, i, k, &tasks.numbers[i][k]);
    }
    ft_merge_find_main_threads(&tasks);
    for (size_t i = 0; i < tasks.rows.count; i++)
        ft_merge_add_thread(&tasks, &tasks.rows.rows[i]);
    for (size_t i = 0; i < merge->reader_count; i++) {
        size_t count = merge->readers[i].chunk.tasks.count;
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

/* Return the thread of a task for the schedule, where the idle task is TV_NONE. */
static uint32_t ft_merge_scheduled_thread(const struct tv_ft_chunk *chunk, const uint32_t *threads,
                                          uint32_t task)
{
    assert(task < chunk->tasks.count);
    return chunk->tasks.rows[task].tid == 0 ? TV_NONE : threads[task];
}

/* First row of each chunk in the merged tables. */
struct ft_move {
    struct tv_ft_merge *merge;
    size_t *switches, *wakeups, *instants;
};

/* Move the switches of a chunk to their place in the merged table. */
static void ft_merge_move_switches(struct tv_ft_merge *merge, size_t index, size_t first)
{
    struct tv_ft_chunk *chunk = &merge->readers[index].chunk;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    for (size_t i = 0; i < chunk->switches.count; i++) {
        struct tv_ft_switch *to = &merge->switches.rows[first + i];
        if (index > 0) /* the rows of the first chunk are in place */
            *to = chunk->switches.rows[i];
        to->from = ft_merge_scheduled_thread(chunk, numbers->threads, to->from);
        to->to = ft_merge_scheduled_thread(chunk, numbers->threads, to->to);
        to->frame = numbers->frames[to->frame];
    }
    tv_free(chunk->switches.rows);
    chunk->switches.rows = NULL;
}

/* Move the wake-ups of a chunk. `by` of a reason for blocking is a text (the caller), not a task.
 */
static void ft_merge_move_wakeups(struct tv_ft_merge *merge, size_t index, size_t first)
{
    struct tv_ft_chunk *chunk = &merge->readers[index].chunk;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    for (size_t i = 0; i < chunk->wakeups.count; i++) {
        struct tv_ft_wakeup *to = &merge->wakeups.rows[first + i];
        if (index > 0)
            *to = chunk->wakeups.rows[i];
        to->task = ft_merge_scheduled_thread(chunk, numbers->threads, to->task);
        if (to->kind == TV_FT_WAKE_BLOCKED)
            to->by = numbers->texts[to->by];
        else if (to->kind != TV_FT_WAKE_STATE)
            to->by = ft_merge_scheduled_thread(chunk, numbers->threads, to->by);
    }
    tv_free(chunk->wakeups.rows);
    chunk->wakeups.rows = NULL;
}

/* Move the instants of a chunk behind those that the trace already has from other inputs. */
static void ft_merge_move_instants(struct tv_ft_merge *merge, size_t index, size_t first)
{
    struct tv_ft_chunk *chunk = &merge->readers[index].chunk;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    for (size_t i = 0; i < chunk->instants.count; i++) {
        struct tv_instant *to = &merge->trace->tables.instants.rows[first + i];
        *to = chunk->instants.rows[i];
        to->frame = numbers->frames[to->frame];
        to->of = to->scope == TV_SCOPE_THREAD ? numbers->threads[to->of] : to->of;
        to->input = merge->input;
    }
    tv_free(chunk->instants.rows);
    chunk->instants.rows = NULL;
}

/* Move all rows of one chunk; the job of a worker. Workers write to disjoint rows. */
static void ft_merge_move_rows(void *context, unsigned index)
{
    assert(index < ((struct ft_move *)context)->merge->reader_count);
    struct ft_move *moving = context;
    ft_merge_move_switches(moving->merge, index, moving->switches[index]);
    ft_merge_move_wakeups(moving->merge, index, moving->wakeups[index]);
    ft_merge_move_instants(moving->merge, index, moving->instants[index]);
}

/* The table of the first chunk becomes the merged table. */
#define TAKE_TABLE(table, chunk)                                                                   \
    do {                                                                                           \
        (table)->rows = (chunk)->rows;                                                             \
        (table)->count = (chunk)->count;                                                           \
        (table)->capacity = (chunk)->capacity;                                                     \
        (chunk)->rows = NULL;                                                                      \
    } while (0)

/* Reserve the rows of all chunks and set the first row of each. */
#define LAY_OUT(table, part_table, from)                                                           \
    do {                                                                                           \
        size_t end_ = (from);                                                                      \
        for (size_t i_ = 0; i_ < merge->reader_count; i_++) {                                      \
            moving.part_table[i_] = end_;                                                          \
            end_ += merge->readers[i_].chunk.part_table.count;                                     \
        }                                                                                          \
        (table)->rows =                                                                            \
            tv_array_reserve((table)->rows, &(table)->capacity, end_, sizeof *(table)->rows);      \
        (table)->count = end_;                                                                     \
    } while (0)

/* Merge the largest tables with one worker per chunk. */
static void ft_merge_move_all_rows(struct tv_ft_merge *merge)
{
    struct ft_move moving = {
        .merge = merge,
        .switches = tv_alloc(merge->reader_count, sizeof *moving.switches),
        .wakeups = tv_alloc(merge->reader_count, sizeof *moving.wakeups),
        .instants = tv_alloc(merge->reader_count, sizeof *moving.instants),
    };
    TAKE_TABLE(&merge->switches, &merge->readers[0].chunk.switches);
    TAKE_TABLE(&merge->wakeups, &merge->readers[0].chunk.wakeups);
    LAY_OUT(&merge->switches, switches, 0);
    LAY_OUT(&merge->wakeups, wakeups, 0);
    LAY_OUT(&merge->trace->tables.instants, instants, merge->trace->tables.instants.count);
    tv_workers_run((unsigned)merge->reader_count, ft_merge_move_rows, &moving);
    tv_free(moving.switches);
    tv_free(moving.wakeups);
    tv_free(moving.instants);
}

/* Move the async rows of a chunk. Keys are compared by the texts of the trace, so that begin and
 * end match across chunks. */
static void ft_merge_move_asyncs(struct tv_ft_merge *merge, size_t index, struct tv_interner *keys)
{
    struct tv_ft_chunk *chunk = &merge->readers[index].chunk;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    uint32_t *key_of_part = tv_alloc(chunk->keys.count, sizeof *key_of_part);
    for (size_t i = 0; i < chunk->keys.count; i++) {
        const struct tv_ft_key *key = &chunk->keys.rows[i];
        uint64_t words[3] = {(uint64_t)key->tgid,
                             (uint64_t)numbers->texts[key->what] << 32 | numbers->texts[key->first],
                             numbers->texts[key->second]};
        struct tv_bytes bytes = {(const uint8_t *)words, sizeof words};
        key_of_part[i] = tv_interner_add(keys, bytes) - 1;
    }
    for (size_t i = 0; i < chunk->asyncs.count; i++) {
        struct tv_ft_async *to = tv_table_add(&merge->asyncs);
        *to = chunk->asyncs.rows[i];
        to->key = key_of_part[to->key];
        to->id = numbers->texts[to->id];
        to->track = numbers->texts[to->track];
        to->frame = numbers->frames[to->frame];
        to->task = numbers->threads[to->task];
        to->process = to->global ? tv_ft_merge_process(merge, TV_FT_NO_ID) : TV_NONE;
    }
    tv_free(chunk->asyncs.rows);
    chunk->asyncs.rows = NULL;
    tv_free(key_of_part);
}

/* Move the marks of a chunk that tie clocks together. */
static void ft_merge_move_marks(struct tv_ft_merge *merge, size_t index)
{
    struct tv_ft_chunk *chunk = &merge->readers[index].chunk;
    const struct tv_ft_numbers *numbers = &merge->numbers[index];
    struct tv_tables *tables = &merge->trace->tables;
    for (size_t i = 0; i < chunk->marks.count; i++) {
        struct tv_clock_sync mark = chunk->marks.rows[i];
        mark.input = merge->input;
        /* A mark without a name gives the clock of a parent trace; the first one counts. */
        if (mark.id != TV_EMPTY_STRING) {
            mark.id = numbers->texts[mark.id];
            *tv_table_add(&tables->clock_syncs) = mark;
        } else if (!merge->shifted && mark.asked != 0) {
            merge->shifted = true;
            merge->trace->offset[merge->input] = mark.asked - mark.time;
        }
    }
}

/* Keep the first realtime_ts of the file as metadata. */
static void ft_merge_move_wall_clock(struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        if (chunk->wall_clock == TV_EMPTY_STRING)
            continue;
        tv_trace_info_add_metadata(merge->trace->head, merge->input, TV_BYTES("realtime_ts"),
                                   tv_interner_get(chunk->texts, chunk->wall_clock));
        return;
    }
}

/* Add the comments of a chunk as metadata, and count overwritten events if the ring buffer was
 * too small. */
static void ft_merge_move_comments(struct tv_ft_merge *merge,
                                   const struct tv_ft_chunk_reader *reader)
{
    struct tv_trace_info *head = merge->trace->head;
    for (size_t i = 0; i < reader->comments.count; i++) {
        struct tv_bytes key = tv_interner_get(reader->chunk.texts, reader->comments.rows[i].key);
        struct tv_bytes value =
            tv_interner_get(reader->chunk.texts, reader->comments.rows[i].value);
        uint64_t kept, written;
        tv_trace_info_add_metadata(head, merge->input, key, value);
        if (tv_bytes_starts_with(key, TV_BYTES("entries")) &&
            tv_ft_parse_entries(value, &kept, &written) && written > kept)
            tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OVERWRITTEN, TV_NO_OFFSET);
    }
}

/* Return true when a chunk has lines of the buffer (instance) with this name. */
static bool ft_reader_names_buffer(const struct tv_ft_chunk_reader *reader, struct tv_bytes name)
{
    for (uint32_t i = 0; i < reader->buffer_count; i++)
        if (tv_bytes_equal(tv_interner_get(reader->chunk.texts, reader->buffers[i]), name))
            return true;
    return false;
}

/* Add each buffer's name once, although many chunks have it. */
static void ft_merge_move_buffers(struct tv_ft_merge *merge, size_t index)
{
    const struct tv_ft_chunk_reader *readers = merge->readers;
    for (uint32_t i = 0; i < readers[index].buffer_count; i++) {
        struct tv_bytes name =
            tv_interner_get(readers[index].chunk.texts, readers[index].buffers[i]);
        bool known = false;
        for (size_t earlier = 0; earlier < index && !known; earlier++)
            known = ft_reader_names_buffer(&readers[earlier], name);
        if (!known)
            tv_trace_info_add_metadata(merge->trace->head, merge->input, TV_BYTES("buffer"), name);
    }
}

/* Stray lines at the beginning of a chunk continue the text above, or are errors. */
static void ft_merge_count_strays(struct tv_ft_merge *merge)
{
    bool continues = false;
    struct tv_diagnostics *diagnostics = &merge->trace->head->diagnostics;
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk_reader *reader = &merge->readers[i];
        if (!continues)
            tv_diagnostics_merge(diagnostics, &reader->strays);
        tv_diagnostics_merge(diagnostics, &reader->chunk.diagnostics);
        continues = reader->any ? reader->continues : continues;
    }
}

TV_FT_DEFINE_SORT(switches, tv_ft_switch)
TV_FT_DEFINE_SORT(wakeups, tv_ft_wakeup)
TV_FT_DEFINE_SORT(asyncs, tv_ft_async)

/* ---- Stacks ---- */

/* Lines "=> function" below an event are the stack at it: they become a sample of its thread.  The
 * next chunk may continue such a stack. */
struct ft_pending_stack {
    bool any;
    struct tv_ft_stack stack; /* task and title are numbers of the trace */
    TV_TABLE(tv_ft_symbol) symbols;
};

/* Add the sample. `symbols` begins with the innermost function, a path with the outermost. */
static void ft_stack_add_sample(struct tv_ft_merge *merge, struct ft_pending_stack *pending)
{
    struct tv_trace *trace = merge->trace;
    uint32_t path = TV_ROOT_PATH;
    if (!pending->any || pending->symbols.count == 0)
        return;
    for (size_t i = pending->symbols.count; i-- > 0;)
        path = tv_paths_child(&trace->paths, path, pending->symbols.rows[i].frame);
    *tv_table_add(&trace->tables.samples) = (struct tv_sample){
        .time = pending->stack.time,
        .weight = 1,
        .offset = pending->stack.offset,
        .thread = pending->stack.task,
        .cpu = pending->stack.cpu,
        .path = path,
        .line_path = path,
        .type = tv_tables_value_type(&trace->tables, merge->input, pending->stack.title,
                                     tv_trace_info_string(trace->head, TV_BYTES("samples"))),
        .input = merge->input,
    };
}

/* Add the sample of the stack so far, and begin the stack of another event. */
static void ft_stack_begin(struct tv_ft_merge *merge, struct ft_pending_stack *pending,
                           const struct tv_ft_numbers *numbers, const struct tv_ft_stack *stack)
{
    ft_stack_add_sample(merge, pending);
    pending->any = true;
    pending->stack = *stack;
    pending->stack.task = numbers->threads[stack->task];
    pending->stack.title = numbers->texts[stack->title];
    pending->symbols.count = 0;
}

/* Append the functions that a chunk has for the pending stack. */
static void ft_stack_add_symbols(struct ft_pending_stack *pending, const struct tv_ft_chunk *chunk,
                                 const struct tv_ft_numbers *numbers,
                                 const struct tv_ft_stack *stack)
{
    for (uint32_t i = 0; i < stack->count; i++)
        tv_table_add(&pending->symbols)->frame =
            numbers->frames[chunk->symbols.rows[stack->first + i].frame];
}

/* Add the samples of all stacks, in the order of the file. */
static void ft_merge_stacks(struct tv_ft_merge *merge)
{
    struct ft_pending_stack pending = {.any = false};
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk_reader *reader = &merge->readers[i];
        const struct tv_ft_chunk *chunk = &reader->chunk;
        for (size_t k = 0; k < chunk->stacks.count; k++) {
            const struct tv_ft_stack *stack = &chunk->stacks.rows[k];
            if (!stack->goes_on)
                ft_stack_begin(merge, &pending, &merge->numbers[i], stack);
            ft_stack_add_symbols(&pending, chunk, &merge->numbers[i], stack);
        }
        /* The next chunk may begin with the stack of the last event. */
        if (reader->has_last && !reader->in_stack)
            ft_stack_begin(merge, &pending, &merge->numbers[i], &reader->last);
    }
    ft_stack_add_sample(merge, &pending);
    tv_free(pending.symbols.rows);
}

/* ---- All chunks ---- */

/* Order by offset, so that the reported place of a text is its first one. */
static int ft_compare_bad_texts(const void *left, const void *right)
{
    const struct tv_ft_bad_text *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Count each text that is not UTF-8 once, at its first line. */
static void ft_merge_count_bad_texts(struct tv_ft_merge *merge)
{
    struct tv_map seen;
    tv_map_init(&seen);
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        for (size_t k = 0; k < chunk->odd.count; k++)
            *tv_table_add(&merge->odd) = (struct tv_ft_bad_text){
                chunk->odd.rows[k].offset, merge->numbers[i].texts[chunk->odd.rows[k].text]};
    }
    if (merge->odd.count > 0)
        qsort(merge->odd.rows, merge->odd.count, sizeof *merge->odd.rows, ft_compare_bad_texts);
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

/* Give the texts, tasks and frames of all chunks their numbers in the trace. */
static void ft_merge_number_chunks(struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < merge->reader_count; i++)
        ft_merge_number_texts(merge, i);
    ft_merge_number_tasks(merge);
    ft_merge_count_bad_texts(merge);
    for (size_t i = 0; i < merge->reader_count; i++)
        ft_merge_number_frames(merge, i);
}

/* Give the slices of a chunk to the assembly, and extend the range of the trace. */
static void ft_merge_add_slices(struct tv_ft_merge *merge, size_t index)
{
    assert(merge->readers[index].chunk.gather); /* given away only once */
    struct tv_ft_chunk *chunk = &merge->readers[index].chunk;
    tv_assembly_add_chunk(merge->assembly, chunk->gather, merge->numbers[index].threads,
                          merge->numbers[index].frames);
    chunk->gather = NULL;
    merge->first = chunk->first < merge->first ? chunk->first : merge->first;
    merge->last = chunk->last > merge->last ? chunk->last : merge->last;
    tv_idle_gap_merge(&merge->times, &chunk->times);
    merge->trace->head->inputs[merge->input].records += chunk->events;
}

/* Give losses at the end of the file the time of the last event. */
static void ft_merge_date_end(struct tv_ft_merge *merge)
{
    struct tv_tables *tables = &merge->trace->tables;
    for (size_t i = tables->instants.count; i-- > 0;)
        if (tables->instants.rows[i].input == merge->input &&
            tables->instants.rows[i].time == TV_FT_AT_END)
            tables->instants.rows[i].time = merge->last < 0 ? 0 : merge->last;
}

void tv_ft_merge_chunks(struct tv_ft_merge *merge)
{
    assert(merge->reader_count > 0 && merge->trace && merge->assembly);
    struct tv_interner *keys = tv_interner_new();
    merge->first = INT64_MAX;
    merge->last = INT64_MIN;
    tv_idle_gap_init(&merge->times);
    merge->kernel = TV_NONE;
    merge->numbers = tv_alloc(merge->reader_count, sizeof *merge->numbers);
    ft_merge_number_chunks(merge);
    ft_merge_move_all_rows(merge);
    for (size_t i = 0; i < merge->reader_count; i++) {
        ft_merge_move_asyncs(merge, i, keys);
        ft_merge_move_marks(merge, i);
        ft_merge_move_comments(merge, &merge->readers[i]);
        ft_merge_move_buffers(merge, i);
        ft_merge_add_slices(merge, i);
    }
    ft_merge_move_wall_clock(merge);
    ft_merge_count_strays(merge);
    ft_merge_stacks(merge);
    tv_ft_merge_calls(merge);
    tv_ft_merge_deferred(merge);
    ft_merge_date_end(merge);
    merge->key_count = tv_interner_count(keys) - 1;
    tv_interner_free(keys);
    ft_sort_switches(merge->switches.rows, merge->switches.count);
    ft_sort_wakeups(merge->wakeups.rows, merge->wakeups.count);
    ft_sort_asyncs(merge->asyncs.rows, merge->asyncs.count);
    tv_ft_merge_counters(merge);
}

void tv_ft_merge_release_sched(struct tv_ft_merge *merge)
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
    for (size_t i = 0; merge->numbers && i < merge->reader_count; i++) {
        tv_free(merge->numbers[i].threads);
        tv_free(merge->numbers[i].frames);
        tv_free(merge->numbers[i].texts);
    }
    tv_free(merge->numbers);
    tv_ft_merge_release_sched(merge);
    tv_free(merge->asyncs.rows);
    tv_free(merge->whole_asyncs.rows);
    if (merge->repeated)
        tv_diagnostics_clear(merge->repeated);
    tv_free(merge->repeated);
    tv_free(merge->flows.rows);
    tv_free(merge->slice_ends.rows);
    tv_map_release(&merge->processes);
}

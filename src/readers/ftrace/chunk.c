/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.c - the tables of a chunk, and the dispatch of its events to their handlers.
 *
 *     a line --> task, event name --> handler of the name --> slices   (gather, paired later)
 *                                          |                  counters, async slices, switches
 *                                          |                  deferred events (deferred.c)
 *                                          '-- none, or it refuses --> an instant
 *
 * A chunk is what one worker reads. It shares nothing with other chunks: texts, frames, tasks and
 * counters have numbers of its own, which merge.c translates. It does not know what was open
 * before its first line, so it never pairs: it only notes beginnings and ends.
 *
 * Perfetto's reader fills a chunk, too (ftrace/decoded.h), which is why events that it decodes
 * itself enter behind the parsing of lines.
 *
 * All of this runs once per line of files with many millions of lines. Hence the small caches by a
 * few bytes or by the address of a constant, in front of the hash tables.
 */
#include "readers/ftrace/chunk.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/fields.h"

/* Keys of pseudo-threads in the task index; tids stay below. */
#define KERNEL_LINE_KEY (UINT64_C(1) << 62)

void tv_ft_chunk_init(struct tv_ft_chunk *chunk)
{
    memset(chunk, 0, sizeof *chunk);
    chunk->gather = tv_gather_new();
    chunk->texts = tv_interner_new();
    chunk->counter_keys = tv_interner_new();
    chunk->key_index = tv_interner_new();
    chunk->seen_names = tv_interner_new();
    chunk->event_names.texts = tv_interner_new();
    chunk->first = INT64_MAX;
    chunk->last = INT64_MIN;
    tv_idle_gap_init(&chunk->times);
}

/* Return true when all of the text is UTF-8. */
static bool ft_is_utf8(struct tv_bytes text)
{
    while (text.length > 0) {
        size_t length = tv_bytes_utf8(text);
        if (length == 0)
            return false;
        text.data += length;
        text.length -= length;
    }
    return true;
}

/* Test the texts that were added since the last call; `offset` is that of the line with them. */
void tv_ft_chunk_check_utf8(struct tv_ft_chunk *chunk, uint64_t offset)
{
    uint32_t count = tv_interner_count(chunk->texts);
    for (; chunk->checked < count; chunk->checked++)
        if (!ft_is_utf8(tv_interner_get(chunk->texts, chunk->checked)))
            *tv_table_add(&chunk->odd) = (struct tv_ft_bad_text){offset, chunk->checked};
}

void tv_ft_chunk_release(struct tv_ft_chunk *chunk)
{
    if (chunk->gather)
        tv_gather_free(chunk->gather);
    tv_diagnostics_clear(&chunk->diagnostics);
    tv_interner_free(chunk->texts);
    tv_interner_free(chunk->counter_keys);
    tv_interner_free(chunk->key_index);
    tv_interner_free(chunk->seen_names);
    tv_interner_free(chunk->event_names.texts);
    tv_map_release(&chunk->frame_index);
    tv_map_release(&chunk->task_index);
    tv_free(chunk->odd.rows);
    tv_free(chunk->frames.rows);
    tv_free(chunk->tasks.rows);
    tv_free(chunk->switches.rows);
    tv_free(chunk->wakeups.rows);
    tv_free(chunk->counters.rows);
    while (chunk->values.first)
        tv_ft_values_drop_block(&chunk->values);
    tv_free(chunk->keys.rows);
    tv_free(chunk->asyncs.rows);
    tv_free(chunk->deferred.rows);
    tv_free(chunk->graph.rows);
    tv_free(chunk->stacks.rows);
    tv_free(chunk->symbols.rows);
    tv_free(chunk->instants.rows);
    tv_free(chunk->marks.rows);
    tv_free(chunk->event_names.rows);
    tv_map_release(&chunk->cpu_counters);
    tv_map_release(&chunk->cpu_lines);
}

/* Return the number of the task with this key; add `task` when the key is new. */
static uint32_t ft_chunk_intern_task(struct tv_ft_chunk *chunk, uint64_t key,
                                     const struct tv_ft_task *task)
{
    uint32_t number = tv_map_add(&chunk->task_index, key, (uint32_t)chunk->tasks.count);
    if (number == chunk->tasks.count)
        *tv_table_add(&chunk->tasks) = *task;
    return number;
}

uint32_t tv_ft_chunk_add_task(struct tv_ft_chunk *chunk, int64_t tid)
{
    struct tv_ft_task task = {
        .tid = tid, .tgid = TV_FT_NO_ID, .marked_tgid = TV_FT_NO_ID, .frame = TV_NONE};
    return ft_chunk_intern_task(chunk, (uint64_t)tid, &task);
}

/* A row for something that is no thread, such as a clock or a driver's queue. */
uint32_t tv_ft_chunk_pseudo_thread(struct tv_ft_chunk *chunk, struct tv_bytes name, uint32_t cpu)
{
    char text[96];
    int length = (int)(name.length < 64 ? name.length : 64);
    length = cpu == TV_NONE
                 ? snprintf(text, sizeof text, "%.*s", length, (const char *)name.data)
                 : snprintf(text, sizeof text, "%.*s cpu %u", length, (const char *)name.data, cpu);
    struct tv_ft_task task = {.tid = TV_FT_NO_ID,
                              .tgid = TV_FT_NO_ID,
                              .marked_tgid = TV_FT_NO_ID,
                              .used = true,
                              .frame = TV_NONE};
    task.name = tv_ft_chunk_string(chunk, (struct tv_bytes){(uint8_t *)text, (size_t)length});
    return ft_chunk_intern_task(chunk, KERNEL_LINE_KEY | task.name, &task);
}

/* Note the name that a line shows for its own task; the first one counts. It is less sure than that
 * of an event, since it may be cut or "<...>". */
void tv_ft_chunk_see_task_name(struct tv_ft_chunk *chunk, uint32_t task, struct tv_bytes name,
                               uint64_t offset)
{
    assert(task < chunk->tasks.count);
    struct tv_ft_task *known = &chunk->tasks.rows[task];
    if (known->seen_name != TV_EMPTY_STRING || known->tid == 0 || !tv_ft_is_task_name(name))
        return;
    known->seen_name = tv_interner_add(chunk->seen_names, name);
    known->seen_at = offset;
    known->seen_odd = !ft_is_utf8(name);
}

/* Set the name that an event gives to a task (sched_switch, task_rename); the last one counts. */
void tv_ft_chunk_set_task_name(struct tv_ft_chunk *chunk, uint32_t task, struct tv_bytes name)
{
    assert(task < chunk->tasks.count);
    struct tv_ft_task *known = &chunk->tasks.rows[task];
    if (!tv_ft_is_task_name(name) ||
        tv_bytes_equal(tv_interner_get(chunk->texts, known->name), name))
        return;
    known->name = tv_ft_chunk_string(chunk, name);
    known->frame = TV_NONE;
}

/* Return the text of a category. Categories are string constants, so the address finds it
 * without a hash. */
static uint32_t ft_chunk_category(struct tv_ft_chunk *chunk, const char *category)
{
    size_t place = ((uintptr_t)category >> 2) % TV_FT_RECENT;
    if (chunk->categories.names[place] != category) {
        chunk->categories.names[place] = category;
        chunk->categories.texts[place] = tv_ft_chunk_string(chunk, tv_bytes_of(category));
    }
    return chunk->categories.texts[place];
}

static uint32_t ft_chunk_intern_frame(struct tv_ft_chunk *chunk, struct tv_ft_frame frame)
{
    uint64_t key = (uint64_t)frame.name << 32 | frame.category;
    uint32_t number = tv_map_add(&chunk->frame_index, key, (uint32_t)chunk->frames.count);
    if (number == chunk->frames.count)
        *tv_table_add(&chunk->frames) = frame;
    return number;
}

uint32_t tv_ft_chunk_frame(struct tv_ft_chunk *chunk, struct tv_bytes name, const char *category)
{
    uint32_t text = ft_chunk_category(chunk, category);
    return ft_chunk_intern_frame(chunk,
                                 (struct tv_ft_frame){tv_ft_chunk_string(chunk, name), text});
}

uint32_t tv_ft_chunk_frame_in(struct tv_ft_chunk *chunk, struct tv_bytes name,
                              struct tv_bytes category)
{
    struct tv_ft_frame frame = {tv_ft_chunk_string(chunk, name),
                                tv_ft_chunk_string(chunk, category)};
    return ft_chunk_intern_frame(chunk, frame);
}

uint32_t tv_ft_chunk_async_key(struct tv_ft_chunk *chunk, const char *what, int64_t tgid,
                               struct tv_bytes first, struct tv_bytes second)
{
    struct tv_ft_key key = {tgid, tv_ft_chunk_string(chunk, tv_bytes_of(what)),
                            tv_ft_chunk_string(chunk, first), tv_ft_chunk_string(chunk, second)};
    uint64_t words[3] = {(uint64_t)tgid, (uint64_t)key.what << 32 | key.first, key.second};
    struct tv_bytes bytes = {(const uint8_t *)words, sizeof words};
    uint32_t number = tv_interner_add(chunk->key_index, bytes) - 1;
    if (number == chunk->keys.count)
        *tv_table_add(&chunk->keys) = key;
    return number;
}

/* Add the begin or the end of a slice. The assembly pairs them when all chunks are read. */
static void ft_chunk_add_half_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                    uint32_t task, uint32_t frame, unsigned flags)
{
    assert(task < chunk->tasks.count);
    struct tv_span span = {.time = at->time,
                           .length = TV_NO_TIME,
                           .offset = at->offset & TV_OFFSET_MASK,
                           .flags = flags & 0xff,
                           .frame = frame};
    chunk->tasks.rows[task].used = true;
    tv_gather_span(chunk->gather, task, &span, NULL);
}

void tv_ft_chunk_begin_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t frame)
{
    ft_chunk_add_half_slice(chunk, at, at->task, frame, TV_SPAN_BEGIN);
}

void tv_ft_chunk_end_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, bool tells)
{
    unsigned flags = TV_SPAN_END | TV_SPAN_NAMELESS | (tells ? TV_SPAN_TELLS : 0);
    ft_chunk_add_half_slice(chunk, at, at->task, TV_NONE, flags);
}

void tv_ft_chunk_begin_kernel(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t task,
                              uint32_t frame)
{
    ft_chunk_add_half_slice(chunk, at, task, frame, TV_SPAN_BEGIN | TV_SPAN_KERNEL);
}

void tv_ft_chunk_end_kernel(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t task,
                            uint32_t frame)
{
    unsigned nameless = frame == TV_NONE ? TV_SPAN_NAMELESS : 0;
    ft_chunk_add_half_slice(chunk, at, task, frame,
                            TV_SPAN_END | TV_SPAN_KERNEL | TV_SPAN_TELLS | nameless);
}

void tv_ft_chunk_switch_kernel(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t task,
                               uint32_t frame)
{
    ft_chunk_add_half_slice(chunk, at, task, TV_NONE,
                            TV_SPAN_END | TV_SPAN_KERNEL | TV_SPAN_TELLS | TV_SPAN_NAMELESS |
                                TV_SPAN_IF_OPEN);
    ft_chunk_add_half_slice(chunk, at, task, frame, TV_SPAN_BEGIN | TV_SPAN_KERNEL);
}

void tv_ft_chunk_add_kernel_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                  uint32_t task, uint32_t frame, int64_t length)
{
    assert(task < chunk->tasks.count && length >= 0);
    struct tv_span span = {.time = at->time,
                           .length = length,
                           .offset = at->offset & TV_OFFSET_MASK,
                           .flags = TV_SPAN_WHOLE | TV_SPAN_KERNEL,
                           .frame = frame};
    chunk->tasks.rows[task].used = true;
    tv_gather_span(chunk->gather, task, &span, NULL);
}

void tv_ft_chunk_add_instant(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t frame)
{
    assert(at->task < chunk->tasks.count);
    chunk->tasks.rows[at->task].used = true;
    *tv_table_add(&chunk->instants) = (struct tv_instant){
        .time = at->time,
        .offset = at->offset,
        .frame = frame,
        .of = at->task,
        .scope = TV_SCOPE_THREAD,
    };
}

void tv_ft_chunk_add_async(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                           const struct tv_ft_async *async)
{
    assert(at->task < chunk->tasks.count && async->key < chunk->keys.count);
    struct tv_ft_async *added = tv_table_add(&chunk->asyncs);
    *added = *async;
    added->time = at->time;
    added->offset = at->offset & TV_OFFSET_MASK;
    added->task = at->task;
    chunk->tasks.rows[at->task].used = true;
}

uint32_t tv_ft_chunk_counter(struct tv_ft_chunk *chunk, const struct tv_ft_counter *counter)
{
    const struct tv_counter_facts *facts = &counter->facts;
    uint64_t key[] = {(uint64_t)counter->tgid, (uint64_t)counter->name << 32 | counter->category,
                      counter->series, (uint64_t)facts->unit << 32 | facts->type,
                      (uint64_t)facts->description << 32 | facts->dimensions};
    /* Few counters have facts: the short key is quicker. */
    struct tv_bytes bytes = {(const uint8_t *)key, key[3] || key[4] ? sizeof key : 3 * sizeof *key};
    uint32_t number = tv_interner_add(chunk->counter_keys, bytes) - 1;
    if (number == chunk->counters.count)
        *tv_table_add(&chunk->counters) = *counter;
    return number;
}

/* Bytes of the first block of values, and of the largest: a huge page. */
#define VALUES_FIRST_BLOCK ((size_t)16 * 1024)
#define VALUES_LARGEST_BLOCK ((size_t)2 * 1024 * 1024)

static size_t ft_values_block_size(const struct tv_ft_value_block *block)
{
    return sizeof *block + block->capacity * sizeof block->rows[0];
}

/* Add a block of values, each twice as large as the one before. Blocks instead of one array: values
 * are never copied while they grow, and can be freed one by one while they are merged. */
static TV_NOINLINE void ft_values_add_block(struct tv_ft_values *values)
{
    size_t size = VALUES_FIRST_BLOCK;
    if (values->last)
        size = ft_values_block_size(values->last) * 2 < VALUES_LARGEST_BLOCK
                   ? ft_values_block_size(values->last) * 2
                   : VALUES_LARGEST_BLOCK;
    size_t capacity = (size - sizeof(struct tv_ft_value_block)) / sizeof *values->last->rows;
    size = sizeof(struct tv_ft_value_block) + capacity * sizeof *values->last->rows;
    struct tv_ft_value_block *block = tv_pages_alloc(size);
    block->capacity = capacity;
    if (values->last)
        values->last->next = block;
    else
        values->first = block;
    values->last = block;
}

void tv_ft_values_drop_block(struct tv_ft_values *values)
{
    struct tv_ft_value_block *block = values->first;
    values->first = block->next;
    if (!values->first)
        values->last = NULL;
    tv_pages_free(block, ft_values_block_size(block));
}

static struct tv_ft_packed_value *ft_values_add_record(struct tv_ft_values *values)
{
    if (TV_UNLIKELY(!values->last || values->last->count == values->last->capacity))
        ft_values_add_block(values);
    return &values->last->rows[values->last->count++];
}

/* Values of other processors may be earlier than the one that set the bases, by this many ns. */
#define VALUES_EARLIER ((int64_t)1 << 29)

static TV_NOINLINE void ft_values_set_bases(struct tv_ft_values *values, const struct tv_ft_at *at)
{
    struct tv_ft_packed_value *row = ft_values_add_record(values);
    values->time = at->time < INT64_MIN + VALUES_EARLIER ? INT64_MIN : at->time - VALUES_EARLIER;
    values->offset = at->offset;
    row->counter = TV_NONE;
    row->bases.time = values->time;
    row->bases.offset = values->offset;
}

void tv_ft_chunk_add_value(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t counter,
                           double value)
{
    assert(counter < chunk->counters.count && counter != TV_NONE);
    struct tv_ft_values *values = &chunk->values;
    uint64_t time = (uint64_t)at->time - (uint64_t)values->time;
    uint64_t offset = at->offset - values->offset;
    if (TV_UNLIKELY((time | offset) >> 32 != 0 || !values->last)) {
        ft_values_set_bases(values, at);
        time = (uint64_t)at->time - (uint64_t)values->time;
        offset = 0;
    }
    struct tv_ft_packed_value *row = ft_values_add_record(values);
    row->counter = counter;
    row->time = (uint32_t)time;
    row->offset = (uint32_t)offset;
    row->value = value;
}

void tv_ft_chunk_count(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                       const struct tv_ft_counter *counter, double value)
{
    tv_ft_chunk_add_value(chunk, at, tv_ft_chunk_counter(chunk, counter), value);
}

/* Category of instants that have no handler. */
#define CATEGORY "ftrace"

static const struct tv_ft_event *const families[] = {
    tv_ft_sched_events,   tv_ft_mark_events, tv_ft_kernel_events,
    tv_ft_counter_events, tv_ft_disk_events, tv_ft_binder_events,
    tv_ft_gpu_events,     tv_ft_mali_events, tv_ft_power_events,
};

static const struct tv_ft_event no_meaning = {.name = ""};

/* Return the handler of an event name; one without a function for all other names. */
static const struct tv_ft_event *ft_events_find_handler(struct tv_bytes name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const struct tv_ft_event *event = families[i]; event->name; event++)
            if (tv_bytes_equal(name, tv_bytes_of(event->name)))
                return event;
    if (tv_bytes_starts_with(name, tv_bytes_of(tv_ft_mali_slot.name)))
        return &tv_ft_mali_slot;
    if (tv_bytes_starts_with(name, tv_bytes_of(tv_ft_mali_other.name)))
        return &tv_ft_mali_other;
    /* Drivers have events of their own for marks: "sde_tracing_mark_write". */
    if (tv_bytes_ends_with(name, tv_bytes_of(tv_ft_mark_events[0].name)))
        return &tv_ft_mark_events[0];
    return &no_meaning;
}

/* Look up the handler of a new event name.  Later events of the name find it in the rows. */
static void ft_events_add_name(struct tv_ft_chunk *chunk, struct tv_bytes name, uint32_t number)
{
    struct tv_ft_event_names *names = &chunk->event_names;
    size_t capacity = names->capacity;
    names->rows = tv_array_reserve(names->rows, &capacity, (size_t)number + 1, sizeof *names->rows);
    memset(names->rows + names->capacity, 0, (capacity - names->capacity) * sizeof *names->rows);
    names->capacity = capacity;
    names->rows[number] = (struct tv_ft_event_name){ft_events_find_handler(name),
                                                    tv_ft_chunk_frame(chunk, name, CATEGORY),
                                                    tv_ft_event_continues(name)};
}

/* Return what is known of an event name. The cache by a few of its bytes hits for nearly all
 * lines. */
static const struct tv_ft_event_name *ft_events_find_name(struct tv_ft_chunk *chunk,
                                                          struct tv_bytes name)
{
    struct tv_ft_event_names *names = &chunk->event_names;
    size_t place =
        (name.length * 7 + name.data[name.length / 2] + name.data[name.length - 1] * 5u) %
        TV_FT_RECENT;
    struct tv_ft_recent *recent = &names->recent[place];
    if (tv_bytes_equal(recent->name, name))
        return &names->rows[recent->number];
    uint32_t number = tv_interner_add(names->texts, name);
    *recent = (struct tv_ft_recent){tv_interner_get(names->texts, number), number};
    if (number >= names->capacity || names->rows[number].event == NULL)
        ft_events_add_name(chunk, name, number);
    return &names->rows[number];
}

/* Return the task of the line, and note the tgid and the name that the line shows. */
static uint32_t ft_events_find_task(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                    uint64_t offset)
{
    uint32_t number = tv_ft_chunk_task(chunk, line->tid);
    struct tv_ft_task *task = &chunk->tasks.rows[number];
    if (line->tgid > 0)
        task->tgid = line->tgid;
    if (TV_UNLIKELY(task->seen_name == TV_EMPTY_STRING))
        tv_ft_chunk_see_task_name(chunk, number, line->task, offset);
    return number;
}

/* trace-cmd writes lines of function_graph as events: "funcgraph_entry: 1.382 us | kfree();".
 * Return false when the line is another event. */
static bool ft_events_take_call(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                const struct tv_ft_at *at)
{
    struct tv_ft_graph_line call;
    if (!tv_bytes_starts_with(line->event, TV_BYTES("funcgraph_")) ||
        !tv_ft_graph_parse_event(line->details, &call))
        return false;
    call.has_time = true;
    call.time = line->time;
    call.cpu = line->cpu;
    call.task = line->task;
    call.tid = line->tid;
    tv_ft_graph_add(chunk, &call, at->offset);
    chunk->events--; /* tv_ft_graph_add counted it, too */
    return true;
}

/* Handle one event: call its handler, or make an instant of it. */
static void ft_events_take_one(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                               const struct tv_ft_at *at)
{
    if (line->event.length == 0) {
        /* The function tracer writes "function <-parent". */
        uint32_t frame = tv_ft_chunk_frame(chunk, tv_ft_first_word(line->details), "function");
        chunk->last_event.title = chunk->frames.rows[frame].name;
        chunk->last_event.continues = false;
        tv_ft_chunk_add_instant(chunk, at, frame);
        return;
    }
    const struct tv_ft_event_name *known = ft_events_find_name(chunk, line->event);
    const struct tv_ft_event *event = known->event;
    uint32_t frame = known->frame;
    chunk->last_event.continues = known->continues;
    chunk->last_event.title = chunk->frames.rows[frame].name;
    if (event->handle == NULL && ft_events_take_call(chunk, line, at))
        return;
    enum tv_ft_taken taken = event->handle ? event->handle(chunk, line, at, event) : TV_FT_INSTANT;
    if (TV_LIKELY(taken == TV_FT_TAKEN))
        return;
    if (taken == TV_FT_MALFORMED)
        tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_BAD_FIELDS, at->offset);
    tv_ft_chunk_add_instant(chunk, at, frame);
}

void tv_ft_chunk_take_event(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                            uint64_t offset)
{
    struct tv_ft_at at = {line->time, offset, line->cpu, ft_events_find_task(chunk, line, offset)};
    size_t marks = chunk->marks.count;
    chunk->last_event.task = at.task;
    chunk->events++;
    ft_events_take_one(chunk, line, &at);
    /* Clock marks are often written with a nonsense time, so they do not extend the chunk's
     * range. */
    if (chunk->marks.count > marks)
        return;
    tv_ft_chunk_note_time(chunk, line->time);
}

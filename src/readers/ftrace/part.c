/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/part.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* Keys of the task index above all ids. */
#define KERNEL_LINE_KEY (UINT64_C(1) << 62)

void tv_ft_part_init(struct tv_ft_part *part)
{
    memset(part, 0, sizeof *part);
    part->gather = tv_gather_new();
    part->texts = tv_interner_new();
    part->counter_keys = tv_interner_new();
    part->key_index = tv_interner_new();
    part->seen_names = tv_interner_new();
    part->event_names = tv_interner_new();
    part->first = INT64_MAX;
    part->last = INT64_MIN;
}

static bool is_utf8(struct tv_bytes text)
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

void tv_ft_check_texts(struct tv_ft_part *part, uint64_t offset)
{
    uint32_t count = tv_interner_count(part->texts);
    for (; part->checked < count; part->checked++)
        if (!is_utf8(tv_interner_get(part->texts, part->checked)))
            *tv_table_add(&part->odd) = (struct tv_ft_odd){offset, part->checked};
}

void tv_ft_part_release(struct tv_ft_part *part)
{
    if (part->gather)
        tv_gather_free(part->gather);
    tv_diagnostics_clear(&part->diagnostics);
    tv_interner_free(part->texts);
    tv_interner_free(part->counter_keys);
    tv_interner_free(part->key_index);
    tv_interner_free(part->seen_names);
    tv_interner_free(part->event_names);
    tv_map_release(&part->frame_index);
    tv_map_release(&part->task_index);
    tv_free(part->odd.rows);
    tv_free(part->frames.rows);
    tv_free(part->tasks.rows);
    tv_free(part->switches.rows);
    tv_free(part->wakeups.rows);
    tv_free(part->counters.rows);
    tv_free(part->values.rows);
    tv_free(part->keys.rows);
    tv_free(part->asyncs.rows);
    tv_free(part->laters.rows);
    tv_free(part->graph.rows);
    tv_free(part->stacks.rows);
    tv_free(part->symbols.rows);
    tv_free(part->instants.rows);
    tv_free(part->marks.rows);
    tv_free(part->known);
    tv_map_release(&part->cpu_counters);
    tv_map_release(&part->cpu_lines);
}

static uint32_t find_task(struct tv_ft_part *part, uint64_t key, const struct tv_ft_task *task)
{
    uint32_t number = tv_map_add(&part->task_index, key, (uint32_t)part->tasks.count);
    if (number == part->tasks.count)
        *tv_table_add(&part->tasks) = *task;
    return number;
}

uint32_t tv_ft_task(struct tv_ft_part *part, int64_t tid)
{
    struct tv_ft_task task = {
        .tid = tid, .tgid = TV_FT_NO_ID, .marked_tgid = TV_FT_NO_ID, .frame = TV_NONE};
    return find_task(part, (uint64_t)tid, &task);
}

size_t tv_ft_title(char *to, size_t size, const char *title, struct tv_bytes text)
{
    size_t length = 0;
    for (; *title; title++) {
        const uint8_t *from = *title == '*' ? text.data : (const uint8_t *)title;
        size_t count = *title == '*' ? text.length : 1;
        count = count < size - 1 - length ? count : size - 1 - length;
        if (count > 0)
            memcpy(to + length, from, count);
        length += count;
    }
    to[length] = '\0';
    return length;
}

uint32_t tv_ft_kernel_line(struct tv_ft_part *part, struct tv_bytes name, uint32_t cpu)
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
    task.name = tv_ft_text(part, (struct tv_bytes){(uint8_t *)text, (size_t)length});
    return find_task(part, KERNEL_LINE_KEY | task.name, &task);
}

void tv_ft_see_task(struct tv_ft_part *part, uint32_t task, struct tv_bytes name, uint64_t offset)
{
    struct tv_ft_task *known = &part->tasks.rows[task];
    if (known->seen_name != TV_EMPTY_STRING || known->tid == 0 || !tv_ft_is_name(name))
        return;
    known->seen_name = tv_interner_add(part->seen_names, name);
    known->seen_at = offset;
    known->seen_odd = !is_utf8(name);
}

void tv_ft_name_task(struct tv_ft_part *part, uint32_t task, struct tv_bytes name)
{
    struct tv_ft_task *known = &part->tasks.rows[task];
    if (!tv_ft_is_name(name) || tv_bytes_equal(tv_interner_get(part->texts, known->name), name))
        return;
    known->name = tv_ft_text(part, name);
    known->frame = TV_NONE;
}

static uint32_t category_text(struct tv_ft_part *part, const char *category)
{
    size_t place = ((uintptr_t)category >> 2) % TV_FT_RECENT;
    if (part->categories[place] != category) {
        part->categories[place] = category;
        part->category_texts[place] = tv_ft_text(part, tv_bytes_of(category));
    }
    return part->category_texts[place];
}

static uint32_t find_frame(struct tv_ft_part *part, struct tv_ft_frame frame)
{
    uint64_t key = (uint64_t)frame.name << 32 | frame.category;
    uint32_t number = tv_map_add(&part->frame_index, key, (uint32_t)part->frames.count);
    if (number == part->frames.count)
        *tv_table_add(&part->frames) = frame;
    return number;
}

uint32_t tv_ft_frame(struct tv_ft_part *part, struct tv_bytes name, const char *category)
{
    uint32_t text = category_text(part, category);
    return find_frame(part, (struct tv_ft_frame){tv_ft_text(part, name), text});
}

uint32_t tv_ft_frame_in(struct tv_ft_part *part, struct tv_bytes name, struct tv_bytes category)
{
    struct tv_ft_frame frame = {tv_ft_text(part, name), tv_ft_text(part, category)};
    return find_frame(part, frame);
}

uint32_t tv_ft_key(struct tv_ft_part *part, const char *what, int64_t tgid, struct tv_bytes first,
                   struct tv_bytes second)
{
    struct tv_ft_key key = {tgid, tv_ft_text(part, tv_bytes_of(what)), tv_ft_text(part, first),
                            tv_ft_text(part, second)};
    uint64_t words[3] = {(uint64_t)tgid, (uint64_t)key.what << 32 | key.first, key.second};
    struct tv_bytes bytes = {(const uint8_t *)words, sizeof words};
    uint32_t number = tv_interner_add(part->key_index, bytes) - 1;
    if (number == part->keys.count)
        *tv_table_add(&part->keys) = key;
    return number;
}

static void add_half(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                     uint32_t frame, unsigned flags)
{
    struct tv_span span = {.time = at->time,
                           .length = TV_NO_TIME,
                           .offset = at->offset & TV_OFFSET_MASK,
                           .flags = flags & 0xff,
                           .frame = frame};
    part->tasks.rows[task].used = true;
    tv_gather_span(part->gather, task, &span, NULL);
}

void tv_ft_begin(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t frame)
{
    add_half(part, at, at->task, frame, TV_SPAN_BEGIN);
}

void tv_ft_end(struct tv_ft_part *part, const struct tv_ft_at *at, bool tells)
{
    unsigned flags = TV_SPAN_END | TV_SPAN_NAMELESS | (tells ? TV_SPAN_TELLS : 0);
    add_half(part, at, at->task, TV_NONE, flags);
}

void tv_ft_kernel_begin(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                        uint32_t frame)
{
    add_half(part, at, task, frame, TV_SPAN_BEGIN | TV_SPAN_KERNEL);
}

void tv_ft_kernel_end(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                      uint32_t frame)
{
    unsigned nameless = frame == TV_NONE ? TV_SPAN_NAMELESS : 0;
    add_half(part, at, task, frame, TV_SPAN_END | TV_SPAN_KERNEL | TV_SPAN_TELLS | nameless);
}

void tv_ft_kernel_turn(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                       uint32_t frame)
{
    add_half(part, at, task, TV_NONE,
             TV_SPAN_END | TV_SPAN_KERNEL | TV_SPAN_TELLS | TV_SPAN_NAMELESS | TV_SPAN_IF_OPEN);
    add_half(part, at, task, frame, TV_SPAN_BEGIN | TV_SPAN_KERNEL);
}

void tv_ft_slice(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task, uint32_t frame,
                 int64_t length)
{
    struct tv_span span = {.time = at->time,
                           .length = length,
                           .offset = at->offset & TV_OFFSET_MASK,
                           .flags = TV_SPAN_WHOLE | TV_SPAN_KERNEL,
                           .frame = frame};
    part->tasks.rows[task].used = true;
    tv_gather_span(part->gather, task, &span, NULL);
}

void tv_ft_instant(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t frame)
{
    part->tasks.rows[at->task].used = true;
    *tv_table_add(&part->instants) = (struct tv_instant){
        .time = at->time,
        .offset = at->offset,
        .frame = frame,
        .of = at->task,
        .scope = TV_SCOPE_THREAD,
    };
}

void tv_ft_add_async(struct tv_ft_part *part, const struct tv_ft_at *at,
                     const struct tv_ft_async *async)
{
    struct tv_ft_async *added = tv_table_add(&part->asyncs);
    *added = *async;
    added->time = at->time;
    added->offset = at->offset & TV_OFFSET_MASK;
    added->task = at->task;
    part->tasks.rows[at->task].used = true;
}

uint32_t tv_ft_find_counter(struct tv_ft_part *part, const struct tv_ft_counter *counter)
{
    uint64_t key[3] = {(uint64_t)counter->tgid, (uint64_t)counter->name << 32 | counter->category,
                       counter->series};
    struct tv_bytes bytes = {(const uint8_t *)key, sizeof key};
    uint32_t number = tv_interner_add(part->counter_keys, bytes) - 1;
    if (number == part->counters.count)
        *tv_table_add(&part->counters) = *counter;
    return number;
}

void tv_ft_add_value(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t counter,
                     double value)
{
    *tv_table_add(&part->values) = (struct tv_ft_value){at->time, at->offset, value, counter};
}

void tv_ft_count(struct tv_ft_part *part, const struct tv_ft_at *at,
                 const struct tv_ft_counter *counter, double value)
{
    tv_ft_add_value(part, at, tv_ft_find_counter(part, counter), value);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/sink.h"

void tv_mt_file_init(struct tv_mt_file *file, struct tv_source *source, struct tv_trace_info *head)
{
    *file = (struct tv_mt_file){.source = source, .head = head};
    file->other_thread = TV_NONE;
    file->other_frame = TV_NONE;
    tv_map_init(&file->threads);
    tv_map_init(&file->methods);
    tv_map_init(&file->proxies);
    file->input = tv_trace_info_add_input(head, tv_source_name(source), "Android method trace");
    file->process = tv_trace_info_add_process(head, 0, TV_BYTES(""));
    file->first_thread = head->thread_count;
    struct tv_input *input = tv_mt_input(file);
    if (!tv_source_has_size(source, &input->bytes))
        input->bytes = 0;
    input->tick_ns = 1000;
}

void tv_mt_file_release(struct tv_mt_file *file)
{
    if (file->walk)
        file->walk->free(file->walk);
    tv_free(file->units);
    tv_free(file->latest_start);
    tv_free(file->carries);
    tv_free(file->switches);
    tv_map_release(&file->threads);
    tv_map_release(&file->methods);
    tv_map_release(&file->proxies);
}

uint64_t tv_mt_file_record_bytes(const struct tv_mt_file *file)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < file->unit_count; i++)
        bytes += file->units[i].size;
    return bytes;
}

void tv_mt_file_plan_pass(struct tv_mt_file *file)
{
    if (!file->open)
        atomic_fetch_add_explicit(&file->progress->total_bytes, tv_mt_file_record_bytes(file),
                                  memory_order_relaxed);
}

struct tv_mt_unit *tv_mt_add_unit(struct tv_mt_file *file, uint64_t offset, uint64_t size)
{
    file->units = tv_array_reserve(file->units, &file->unit_capacity, file->unit_count + 1,
                                   sizeof *file->units);
    struct tv_mt_unit *unit = &file->units[file->unit_count++];
    *unit = (struct tv_mt_unit){.offset = offset, .size = size, .carry = TV_NONE};
    return unit;
}

/* Whole records alone: what is left of one is a diagnostic. */
static uint64_t size_from(struct tv_mt_file *file, uint64_t first)
{
    uint64_t size = tv_source_size(file->source);
    uint64_t left = first < size ? size - first : 0;
    uint64_t rest = left % file->record_size;
    if (first > size || rest > 0)
        tv_mt_warn(file, TV_DIAGNOSTIC_TRUNCATED, size - rest);
    return left - rest;
}

void tv_mt_add_last_unit(struct tv_mt_file *file, uint64_t first)
{
    uint64_t size, most = UINT64_MAX - first, start = TV_MT_SHORT_BYTES + file->record_size;
    file->open = file->early && !tv_source_has_size(file->source, &size) &&
                 tv_source_reaches(file->source, first + start);
    size = file->open ? most - most % file->record_size : size_from(file, first);
    if (size > 0)
        tv_mt_add_unit(file, first, size);
}

void tv_mt_end_open(struct tv_mt_file *file)
{
    if (!file->open)
        return;
    struct tv_mt_unit *unit = &file->units[file->unit_count - 1];
    file->open = false;
    unit->size = size_from(file, unit->offset);
    tv_mt_input(file)->bytes = tv_source_size(file->source);
}

/* An id that `map` has as something else means `index` from the next unit on. */
static void add_switch(struct tv_mt_file *file, struct tv_map *map, uint64_t id, uint32_t index)
{
    file->switches = tv_array_reserve(file->switches, &file->switch_capacity,
                                      file->switch_count + 1, sizeof *file->switches);
    file->switches[file->switch_count++] = (struct tv_mt_switch){
        .unit = file->unit_count,
        .id = id,
        .before = tv_map_find(map, id),
        .after = index,
        .method = map == &file->methods,
    };
    file->switched = file->switch_count;
    tv_map_set(map, id, index);
}

static struct tv_map *map_of(struct tv_mt_file *file, const struct tv_mt_switch *change)
{
    return change->method ? &file->methods : &file->threads;
}

void tv_mt_switch_to(struct tv_mt_file *file, size_t unit)
{
    while (file->switched > 0 && file->switches[file->switched - 1].unit > unit) {
        const struct tv_mt_switch *change = &file->switches[--file->switched];
        tv_map_set(map_of(file, change), change->id, change->before);
    }
    while (file->switched < file->switch_count && file->switches[file->switched].unit <= unit) {
        const struct tv_mt_switch *change = &file->switches[file->switched++];
        tv_map_set(map_of(file, change), change->id, change->after);
    }
}

static uint32_t new_thread(struct tv_mt_file *file, uint64_t id, struct tv_bytes name, bool listed)
{
    struct tv_thread thread = {
        .id = id,
        .name = tv_trace_info_string(file->head, name),
        .process = file->process,
        .input = file->input,
        .listed = listed,
    };
    if (id > file->greatest_tid)
        file->greatest_tid = id;
    return tv_trace_info_add_thread(file->head, &thread);
}

void tv_mt_add_thread(struct tv_mt_file *file, uint64_t id, struct tv_bytes name,
                      enum tv_mt_again again, uint64_t at)
{
    uint32_t known = tv_map_find(&file->threads, id);
    if (known == TV_NONE) {
        known = new_thread(file, id, name, true);
        file->head->threads[known].late = again == TV_MT_FINAL;
        tv_map_set(&file->threads, id, known);
        return;
    }
    if (again != TV_MT_FINAL)
        tv_mt_warn(file, TV_DIAGNOSTIC_DUPLICATE_THREAD, at);
    if (again == TV_MT_RECYCLED)
        add_switch(file, &file->threads, id, new_thread(file, id, name, true));
    else
        file->head->threads[known].name = tv_trace_info_string(file->head, name);
}

uint32_t tv_mt_add_method(struct tv_mt_file *file, uint64_t id, const struct tv_frame *frame,
                          enum tv_mt_again again, uint64_t at)
{
    uint32_t known = tv_map_find(&file->methods, id);
    uint32_t index = tv_trace_info_add_recorded_frame(file->head, frame);
    if (known == index)
        return index;
    if (known == TV_NONE) {
        tv_map_set(&file->methods, id, index);
        file->listed_methods++;
        tv_mt_input(file)->methods++;
        if (id > file->greatest_method)
            file->greatest_method = id;
        return index;
    }
    tv_mt_warn(file, TV_DIAGNOSTIC_DUPLICATE_METHOD, at);
    if (again == TV_MT_RECYCLED)
        add_switch(file, &file->methods, id, index);
    else
        tv_map_set(&file->methods, id, index);
    return index;
}

void tv_mt_add_unlisted_thread(struct tv_mt_file *file, uint64_t id)
{
    char name[32];
    snprintf(name, sizeof name, "[%" PRIu64 "]", id);
    tv_map_set(&file->threads, id, new_thread(file, id, tv_bytes_of(name), false));
}

void tv_mt_add_unlisted_method(struct tv_mt_file *file, uint64_t id, uint32_t frame)
{
    tv_map_set(&file->methods, id, frame);
    if (id > file->greatest_method)
        file->greatest_method = id;
}

/* Dalvik writes a/b/C for a.b.C. */
static uint32_t class_string(struct tv_mt_file *file, struct tv_bytes name)
{
    if (name.length == 0 || memchr(name.data, '/', name.length) == NULL)
        return tv_trace_info_string(file->head, name);
    uint8_t *dotted = tv_alloc(name.length, 1);
    for (size_t i = 0; i < name.length; i++)
        dotted[i] = name.data[i] == '/' ? '.' : name.data[i];
    uint32_t string = tv_trace_info_string(file->head, (struct tv_bytes){dotted, name.length});
    tv_free(dotted);
    return string;
}

/* -1 is an unknown line, -2 a native method. */
static int32_t parse_line_number(struct tv_bytes text)
{
    int64_t line;
    if (!tv_parse_i64(text, &line) || line < -2 || line > INT32_MAX || line == -1)
        return 0;
    return (int32_t)line;
}

#define MAX_FIELDS 5

bool tv_mt_parse_method(struct tv_mt_file *file, struct tv_bytes fields, struct tv_frame *frame)
{
    struct tv_trace_info *head = file->head;
    struct tv_bytes field[MAX_FIELDS];
    size_t count = 0;
    bool more = true;
    while (more && count < MAX_FIELDS)
        more = tv_bytes_split(&fields, '\t', &field[count++]);
    if (count == 1 && field[0].length == 0)
        return false;

    *frame = (struct tv_frame){0};
    if (count == 1) {
        frame->name = tv_trace_info_string(head, field[0]);
        return true;
    }
    bool signature = count > 3 || (count == 3 && field[2].length > 0 && field[2].data[0] == '(');
    if (count == 3 && !signature) {
        /* How native programs were traced: name, file and line. */
        frame->name = tv_trace_info_string(head, field[0]);
        frame->file = tv_trace_info_string(head, field[1]);
        frame->line = parse_line_number(field[2]);
        return true;
    }
    frame->class_name = class_string(file, field[0]);
    frame->name = tv_trace_info_string(head, field[1]);
    if (count > 2)
        frame->signature = tv_trace_info_string(head, field[2]);
    if (count > 3)
        frame->file = tv_trace_info_string(head, field[3]);
    if (count > 4)
        frame->line = parse_line_number(field[4]);
    return true;
}

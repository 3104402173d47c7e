/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.c - units, threads and methods of a method trace; file.h describes the struct.
 *
 * An id may mean something else later in the file: a writer that reuses the id of an ended thread
 * lists the new one where it appears (TV_MT_RECYCLED).  The maps from ids to threads and methods
 * hold one meaning at a time, and a list remembers how they differ along the file:
 *
 *     unit:           0         1         2           3           4
 *     id 7 means:     main -------------- worker-1 -------------- worker-2
 *     changes:                            ^ unit 2                ^ unit 4
 *
 * tv_mt_file_apply_id_changes moves the maps to a unit in either direction, by undoing changes with
 * their `before` or redoing them with their `after`.  So units can be read in any order,
 * at the cost of the changes in between.
 */
#include "readers/method_trace/file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/builder/sink.h"

void tv_mt_file_init(struct tv_mt_file *file, struct tv_source *source, struct tv_trace_info *head)
{
    *file = (struct tv_mt_file){.source = source, .head = head};
    file->ids.other_thread = TV_NONE;
    file->ids.other_frame = TV_NONE;
    tv_map_init(&file->ids.threads);
    tv_map_init(&file->ids.methods);
    tv_map_init(&file->ids.proxies);
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
    tv_free(file->delta.bases);
    tv_free(file->ids.id_changes);
    tv_map_release(&file->ids.threads);
    tv_map_release(&file->ids.methods);
    tv_map_release(&file->ids.proxies);
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
    assert(file->unit_count == 0 || offset >= file->units[file->unit_count - 1].offset);
    file->units = tv_array_reserve(file->units, &file->unit_capacity, file->unit_count + 1,
                                   sizeof *file->units);
    struct tv_mt_unit *unit = &file->units[file->unit_count++];
    *unit = (struct tv_mt_unit){.offset = offset, .size = size, .base = TV_NONE};
    return unit;
}

/* Return the size of the whole records from `first` on.  A record that the end of the file cuts is
 * a diagnostic at its offset. */
static uint64_t mt_file_whole_size(struct tv_mt_file *file, uint64_t first)
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
    assert(file->layout == TV_MT_FIXED && file->record_size > 0);
    uint64_t size, most = UINT64_MAX - first, start = TV_MT_SHORT_BYTES + file->record_size;
    file->open = file->early && !tv_source_has_size(file->source, &size) &&
                 tv_source_reaches(file->source, first + start);
    size = file->open ? most - most % file->record_size : mt_file_whole_size(file, first);
    if (size > 0)
        tv_mt_add_unit(file, first, size);
}

void tv_mt_file_close_unit(struct tv_mt_file *file)
{
    if (!file->open)
        return;
    struct tv_mt_unit *unit = &file->units[file->unit_count - 1];
    file->open = false;
    unit->size = mt_file_whole_size(file, unit->offset);
    tv_mt_input(file)->bytes = tv_source_size(file->source);
}

/* Let the id mean `index` from the next unit on. */
static void mt_file_add_id_change(struct tv_mt_file *file, struct tv_map *map, uint64_t id,
                                  uint32_t index)
{
    file->ids.id_changes =
        tv_array_reserve(file->ids.id_changes, &file->ids.id_change_capacity,
                         file->ids.id_change_count + 1, sizeof *file->ids.id_changes);
    file->ids.id_changes[file->ids.id_change_count++] = (struct tv_mt_id_change){
        .unit = file->unit_count,
        .id = id,
        .before = tv_map_find(map, id),
        .after = index,
        .method = map == &file->ids.methods,
    };
    file->ids.applied_changes = file->ids.id_change_count;
    tv_map_set(map, id, index);
}

/* Return the map whose meaning the change is about. */
static struct tv_map *mt_file_id_map(struct tv_mt_file *file, const struct tv_mt_id_change *change)
{
    return change->method ? &file->ids.methods : &file->ids.threads;
}

void tv_mt_file_apply_id_changes(struct tv_mt_file *file, size_t unit)
{
    while (file->ids.applied_changes > 0 &&
           file->ids.id_changes[file->ids.applied_changes - 1].unit > unit) {
        const struct tv_mt_id_change *change = &file->ids.id_changes[--file->ids.applied_changes];
        tv_map_set(mt_file_id_map(file, change), change->id, change->before);
    }
    while (file->ids.applied_changes < file->ids.id_change_count &&
           file->ids.id_changes[file->ids.applied_changes].unit <= unit) {
        const struct tv_mt_id_change *change = &file->ids.id_changes[file->ids.applied_changes++];
        tv_map_set(mt_file_id_map(file, change), change->id, change->after);
    }
}

/* The greatest id is noted because fast.c sizes its table of threads by it. */
static uint32_t mt_file_new_thread(struct tv_mt_file *file, uint64_t id, struct tv_bytes name,
                                   bool listed)
{
    struct tv_thread thread = {
        .id = id,
        .name = tv_trace_info_string(file->head, name),
        .process = file->process,
        .input = file->input,
        .listed = listed,
    };
    if (id > file->ids.greatest_tid)
        file->ids.greatest_tid = id;
    return tv_trace_info_add_thread(file->head, &thread);
}

void tv_mt_add_thread(struct tv_mt_file *file, uint64_t id, struct tv_bytes name,
                      enum tv_mt_again again, uint64_t at)
{
    uint32_t known = tv_map_find(&file->ids.threads, id);
    if (known == TV_NONE) {
        known = mt_file_new_thread(file, id, name, true);
        file->head->threads[known].late = again == TV_MT_FINAL;
        tv_map_set(&file->ids.threads, id, known);
        return;
    }
    if (again != TV_MT_FINAL)
        tv_mt_warn(file, TV_DIAGNOSTIC_DUPLICATE_THREAD, at);
    if (again == TV_MT_RECYCLED)
        mt_file_add_id_change(file, &file->ids.threads, id,
                              mt_file_new_thread(file, id, name, true));
    else
        file->head->threads[known].name = tv_trace_info_string(file->head, name);
}

uint32_t tv_mt_add_method(struct tv_mt_file *file, uint64_t id, const struct tv_frame *frame,
                          enum tv_mt_again again, uint64_t at)
{
    uint32_t known = tv_map_find(&file->ids.methods, id);
    uint32_t index = tv_trace_info_add_recorded_frame(file->head, frame);
    if (known == index)
        return index;
    if (known == TV_NONE) {
        tv_map_set(&file->ids.methods, id, index);
        file->ids.listed_methods++;
        tv_mt_input(file)->methods++;
        if (id > file->ids.greatest_method)
            file->ids.greatest_method = id;
        return index;
    }
    tv_mt_warn(file, TV_DIAGNOSTIC_DUPLICATE_METHOD, at);
    if (again == TV_MT_RECYCLED)
        mt_file_add_id_change(file, &file->ids.methods, id, index);
    else
        tv_map_set(&file->ids.methods, id, index);
    return index;
}

void tv_mt_add_unlisted_thread(struct tv_mt_file *file, uint64_t id)
{
    char name[32];
    snprintf(name, sizeof name, "[%" PRIu64 "]", id);
    tv_map_set(&file->ids.threads, id, mt_file_new_thread(file, id, tv_bytes_of(name), false));
}

void tv_mt_add_unlisted_method(struct tv_mt_file *file, uint64_t id, uint32_t frame)
{
    tv_map_set(&file->ids.methods, id, frame);
    if (id > file->ids.greatest_method)
        file->ids.greatest_method = id;
}

/* Return the class name as Java writes it: Dalvik writes a/b/C for a.b.C. */
static uint32_t mt_file_class_name(struct tv_mt_file *file, struct tv_bytes name)
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

/* Parse a line number; 0 when it is unknown (-1 in the file). -2 marks a native method. */
static int32_t mt_parse_line_number(struct tv_bytes text)
{
    int64_t line;
    if (!tv_parse_i64(text, &line) || line < -2 || line > INT32_MAX || line == -1)
        return 0;
    return (int32_t)line;
}

#define MAX_FIELDS 5

bool tv_mt_file_parse_method(struct tv_mt_file *file, struct tv_bytes fields,
                             struct tv_frame *frame)
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
        /* Native programs were traced with name, file and line. */
        frame->name = tv_trace_info_string(head, field[0]);
        frame->file = tv_trace_info_string(head, field[1]);
        frame->line = mt_parse_line_number(field[2]);
        return true;
    }
    frame->class_name = mt_file_class_name(file, field[0]);
    frame->name = tv_trace_info_string(head, field[1]);
    if (count > 2)
        frame->signature = tv_trace_info_string(head, field[2]);
    if (count > 3)
        frame->file = tv_trace_info_string(head, field[3]);
    if (count > 4)
        frame->line = mt_parse_line_number(field[4]);
    return true;
}

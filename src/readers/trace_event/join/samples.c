/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - stacks and samples: phase P, and the array "samples" of the whole file
 * (trace-event.md section 3.9).
 *
 * Tables of stack frames are trees by parent ids: "stackFrames" of the file, and those that
 * metadata events give to processes.  Each entry becomes a path of the model.  What V8 writes is in
 * v8.c.
 *
 *     "stackFrames": {"7": {"name": "read", "parent": "3"}, "3": {"name": "main"}}
 *
 *     climb from 7    way = 7, 3, then the root
 *     and down        3 = child of the root named main, 7 = child of 3 named read
 *
 * Entries may come in any order, and parents may be missing or form a circle.  Each entry that was
 * climbed has its path afterwards, so the next climb stops at it: together the climbs visit each
 * entry once.  A circle or a missing parent makes its entry a root, with a diagnostic.
 *
 * A key is a number or a string in the file, and both are compared as text.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/trace_event/join/join.h"

struct te_stacks {
    struct tv_te_context *context;
    struct tv_map numbers; /* (process or TV_NONE, string of the key) -> row of the trace's table */
};

/* An entry while its table is read. */
struct te_stack_entry {
    struct tv_frame frame;
    uint32_t parent_key; /* string; TV_NONE: it is a root */
    uint32_t row;
    bool is_parent; /* others are called from it */
};

struct te_stack_table {
    struct te_stacks *stacks;
    uint32_t process;
    uint64_t offset; /* offset of the table, for diagnostics */
    struct te_stack_entry *entries;
    size_t count, capacity;
    size_t first_row; /* of this table; its entries have rows in their order */
};

/* The key of an entry: of a process, or of the whole file (TV_NONE). */
static uint64_t te_stacks_key(uint32_t process, uint32_t string)
{
    return (uint64_t)process << 32 | string;
}

/* Return the string of the model for a JSON value, decoded if it is a string. */
static uint32_t te_stacks_string(struct tv_te_context *context, struct tv_bytes raw)
{
    return tv_trace_info_string(context->trace->head, tv_te_decode_text(raw, &context->scratch));
}

/* Read {name, category, parent}; the parent may be a number or a string. */
static struct te_stack_entry te_stacks_read_entry(struct tv_te_context *context,
                                                  struct tv_bytes value)
{
    struct tv_bytes parent = tv_te_member(value, "parent");
    return (struct te_stack_entry){
        .frame = {.name = te_stacks_string(context, tv_te_member(value, "name")),
                  .category = te_stacks_string(context, tv_te_member(value, "category"))},
        .parent_key = parent.data == NULL ? TV_NONE : te_stacks_string(context, parent),
    };
}

/* Add an entry.  Of several with one key the last counts. */
static void te_stacks_add_entry(struct te_stack_table *reading, struct tv_bytes key,
                                struct tv_bytes value)
{
    struct tv_te_context *context = reading->stacks->context;
    struct tv_tables *tables = &context->trace->tables;
    uint32_t string = te_stacks_string(context, key);
    uint32_t row = (uint32_t)tables->stack_frames.count;
    uint32_t found =
        tv_map_add(&reading->stacks->numbers, te_stacks_key(reading->process, string), row);
    struct te_stack_entry entry = te_stacks_read_entry(context, value);
    entry.row = found;
    if (found < row && found >= reading->first_row) {
        reading->entries[found - reading->first_row] = entry;
        return;
    }
    if (found < row) { /* of another table of the process */
        tv_map_set(&reading->stacks->numbers, te_stacks_key(reading->process, string), row);
        entry.row = row;
    }
    struct tv_stack_frame *added = tv_table_add(&tables->stack_frames);
    *added = (struct tv_stack_frame){string, reading->process, TV_NONE, context->input};
    reading->entries = tv_array_reserve(reading->entries, &reading->capacity, reading->count + 1,
                                        sizeof *reading->entries);
    reading->entries[reading->count++] = entry;
}

/* Return the row of an entry's parent, or TV_NONE. */
static uint32_t te_stacks_find_parent(struct te_stack_table *reading,
                                      const struct te_stack_entry *entry)
{
    uint32_t row;
    if (entry->parent_key == TV_NONE)
        return TV_NONE;
    row =
        tv_map_find(&reading->stacks->numbers, te_stacks_key(reading->process, entry->parent_key));
    if (row == TV_NONE)
        tv_te_warn(reading->stacks->context, TV_DIAGNOSTIC_STACK_NO_PARENT, reading->offset);
    return row;
}

/* Marks the paths on the way up: meeting one again is a cycle. */
#define SOUGHT (TV_NONE - 1)

/* Go up from an entry to one whose path is known, and note the way.  Return that path. */
static uint32_t te_stacks_climb(struct te_stack_table *reading, uint32_t row, uint32_t *way,
                                size_t *depth)
{
    struct tv_stack_frame *rows = reading->stacks->context->trace->tables.stack_frames.rows;
    while (row != TV_NONE && rows[row].path == TV_NONE) {
        assert(row >= reading->first_row && row - reading->first_row < reading->count);
        rows[row].path = SOUGHT;
        way[(*depth)++] = row;
        row = te_stacks_find_parent(reading, &reading->entries[row - reading->first_row]);
    }
    if (row == TV_NONE)
        return TV_ROOT_PATH;
    if (rows[row].path != SOUGHT)
        return rows[row].path;
    tv_te_warn(reading->stacks->context, TV_DIAGNOSTIC_STACK_CIRCLE, reading->offset);
    return TV_ROOT_PATH;
}

/* Mark the entries that are parents: as callers their addresses are return addresses. */
static void te_stacks_mark_parents(struct te_stack_table *reading)
{
    for (size_t i = 0; i < reading->count; i++) {
        uint64_t key = te_stacks_key(reading->process, reading->entries[i].parent_key);
        uint32_t row = tv_map_find(&reading->stacks->numbers, key);
        if (reading->entries[i].parent_key != TV_NONE && row != TV_NONE &&
            row >= reading->first_row)
            reading->entries[row - reading->first_row].is_parent = true;
    }
}

/* Return the frame of an entry. If its name is an address, that of a caller is a return address. */
static uint32_t te_stacks_frame(struct te_stack_table *reading, const struct te_stack_entry *entry)
{
    return tv_trace_info_add_stack_frame(reading->stacks->context->trace->head, &entry->frame,
                                         entry->is_parent ? TV_STACK_CALLER : TV_STACK_LEAF);
}

/* Find the path of each entry.  Going up and down again takes linear time for the whole table. */
static void te_stacks_find_paths(struct te_stack_table *reading)
{
    struct tv_trace *trace = reading->stacks->context->trace;
    uint32_t *way = tv_alloc(reading->count, sizeof *way);
    te_stacks_mark_parents(reading);
    for (size_t i = 0; i < reading->count; i++) {
        size_t depth = 0;
        uint32_t path = te_stacks_climb(reading, (uint32_t)(reading->first_row + i), way, &depth);
        while (depth-- > 0) {
            const struct te_stack_entry *entry = &reading->entries[way[depth] - reading->first_row];
            path = tv_paths_child(&trace->paths, path, te_stacks_frame(reading, entry));
            trace->tables.stack_frames.rows[way[depth]].path = path;
        }
    }
    tv_free(way);
}

/* Read one table of stack frames. */
static void te_stacks_read_table(struct te_stacks *stacks, struct tv_bytes table, uint32_t process,
                                 uint64_t offset)
{
    struct te_stack_table reading = {
        .stacks = stacks,
        .process = process,
        .offset = offset,
        .first_row = stacks->context->trace->tables.stack_frames.count,
    };
    struct tv_bytes key, value;
    if (table.length == 0 || table.data[0] != '{')
        return;
    const uint8_t *at = table.data + 1;
    while (tv_te_member_next(&at, table.data + table.length, &key, &value))
        te_stacks_add_entry(&reading, key, value);
    te_stacks_find_paths(&reading);
    tv_free(reading.entries);
}

/* Read all tables: that of the file, then those of processes. */
static void te_stacks_init(struct te_stacks *stacks, struct tv_te_context *context)
{
    stacks->context = context;
    tv_map_init(&stacks->numbers);
    te_stacks_read_table(stacks, tv_te_extent_read(context, context->stacks.frames), TV_NONE,
                         context->stacks.frames.offset);
    for (size_t i = 0; i < context->stacks.table_count; i++) {
        const struct tv_te_deferred *event = &context->stacks.tables[i];
        struct tv_te_fields fields;
        if (tv_te_event_read(context, event->offset, &fields))
            te_stacks_read_table(stacks, tv_te_member(fields.args, "stackFrames"), event->process,
                                 event->offset);
    }
}

static void te_stacks_release(struct te_stacks *stacks)
{
    tv_map_release(&stacks->numbers);
}

/* Return the path of an entry of the file's table or of the process's; TV_NONE: there is none. */
static uint32_t te_stacks_find(struct te_stacks *stacks, struct tv_bytes key, uint32_t process)
{
    struct tv_te_context *context = stacks->context;
    uint32_t string =
        tv_interner_find(context->trace->head->strings, tv_te_decode_text(key, &context->scratch));
    if (string == TV_NONE)
        return TV_NONE;
    uint32_t row = tv_map_find(&stacks->numbers, te_stacks_key(TV_NONE, string));
    if (row == TV_NONE)
        row = tv_map_find(&stacks->numbers, te_stacks_key(process, string));
    return row == TV_NONE ? TV_NONE : context->trace->tables.stack_frames.rows[row].path;
}

/* Diagnose ids that events use and no table defines. */
static void te_stacks_check_uses(struct te_stacks *stacks)
{
    struct tv_te_context *context = stacks->context;
    const struct tv_interner *strings = context->trace->head->strings;
    for (size_t i = 0; i < context->stacks.uses.count; i++) {
        const struct tv_te_stack_use *use = &context->stacks.uses.rows[i];
        uint32_t key =
            tv_interner_find(strings, tv_interner_get(context->stacks.uses.keys, use->key));
        if (key != TV_NONE &&
            (tv_map_find(&stacks->numbers, te_stacks_key(TV_NONE, key)) != TV_NONE ||
             tv_map_find(&stacks->numbers, te_stacks_key(use->process, key)) != TV_NONE))
            continue;
        for (uint64_t k = 0; k < use->count; k++)
            tv_te_warn(context, TV_DIAGNOSTIC_STACK_UNKNOWN, tv_te_stack_use_offset(use, k));
    }
}

/* Read the frames that an array names; the caller frees them. */
static uint32_t *te_stacks_read_names(struct te_stacks *stacks, struct tv_bytes array,
                                      size_t *count)
{
    struct tv_te_context *context = stacks->context;
    uint32_t *frames = NULL;
    size_t capacity = 0;
    struct tv_bytes value;
    *count = 0;
    if (array.length == 0 || array.data[0] != '[')
        return NULL;
    const uint8_t *at = array.data + 1;
    bool more = tv_te_element_next(&at, array.data + array.length, &value);
    while (more) {
        struct tv_frame frame = {.name = te_stacks_string(context, value)};
        more = tv_te_element_next(&at, array.data + array.length, &value);
        frames = tv_array_reserve(frames, &capacity, *count + 1, sizeof *frames);
        frames[(*count)++] = tv_trace_info_add_stack_frame(context->trace->head, &frame,
                                                           more ? TV_STACK_CALLER : TV_STACK_LEAF);
    }
    return frames;
}

/* Return the path of a stack that an event has as an array of names, root first. */
static uint32_t te_stacks_path(struct te_stacks *stacks, struct tv_bytes array)
{
    uint32_t path = TV_ROOT_PATH;
    size_t count;
    uint32_t *frames = te_stacks_read_names(stacks, array, &count);
    for (size_t i = 0; i < count; i++)
        path = tv_paths_child(&stacks->context->trace->paths, path, frames[i]);
    tv_free(frames);
    return path;
}

/* A sample of V8's older kind. */
struct te_v8_sample {
    tv_ns time;
    size_t deferred;
};

struct te_samples_reading {
    struct tv_te_context *context;
    struct tv_te_code *code;
    TV_TABLE(te_v8_sample) v8;
    struct te_stacks stacks;
    struct tv_te_profiles *profiles;
    struct tv_map threads; /* string of a tid -> thread, of any process */
    struct tv_te_id_key text;
    bool threads_known;
};

/* Return the stack of an event: "sf" in the tables, "stack" as it is, or else its own name. */
static uint32_t te_samples_event_path(struct te_samples_reading *reading,
                                      const struct tv_te_deferred *event,
                                      const struct tv_te_fields *fields)
{
    struct tv_trace *trace = reading->context->trace;
    uint32_t path = TV_NONE;
    if (fields->sf.data != NULL) {
        path = te_stacks_find(&reading->stacks, fields->sf, event->process);
        if (path == TV_NONE)
            tv_te_warn(reading->context, TV_DIAGNOSTIC_STACK_UNKNOWN, event->offset);
    } else if (fields->stack.data != NULL) {
        path = te_stacks_path(&reading->stacks, fields->stack);
    }
    if (path == TV_NONE || path == TV_ROOT_PATH)
        path = tv_paths_child(&trace->paths, TV_ROOT_PATH, event->frame);
    return path;
}

/* Return the path of a stack of addresses: the function that is there, or the address.  The leaf
 * comes first. */
static uint32_t te_samples_address_path(struct te_samples_reading *reading,
                                        const struct tv_te_deferred *event, struct tv_bytes stack)
{
    struct tv_te_context *context = reading->context;
    uint32_t *frames = NULL, path = TV_ROOT_PATH;
    size_t count = 0, capacity = 0;
    struct tv_bytes value;
    uint64_t address;
    if (stack.length == 0 || stack.data[0] != '[')
        return TV_ROOT_PATH;
    const uint8_t *at = stack.data + 1;
    while (tv_te_element_next(&at, stack.data + stack.length, &value)) {
        struct tv_bytes text = tv_te_decode_text(value, &context->scratch);
        frames = tv_array_reserve(frames, &capacity, count + 1, sizeof *frames);
        if (!tv_bytes_starts_with(text, TV_BYTES("0x")) || !tv_parse_hex(text, &address) ||
            !tv_te_code_find(reading->code, event->process, event->time, address, &frames[count])) {
            struct tv_frame frame = {.name = tv_trace_info_string(context->trace->head, text)};
            frames[count] = tv_trace_info_add_stack_frame(
                context->trace->head, &frame, count > 0 ? TV_STACK_CALLER : TV_STACK_LEAF);
        }
        count++;
    }
    while (count-- > 0)
        path = tv_paths_child(&context->trace->paths, path, frames[count]);
    tv_free(frames);
    return path;
}

/* Older samples of V8 have addresses, or only a state ("gc"). */
static uint32_t te_samples_v8_path(struct te_samples_reading *reading,
                                   const struct tv_te_deferred *event,
                                   const struct tv_te_fields *fields)
{
    struct tv_trace *trace = reading->context->trace;
    struct tv_bytes data = tv_te_member(fields->args, "data");
    uint32_t path = te_samples_address_path(reading, event, tv_te_member(data, "stack"));
    if (path != TV_ROOT_PATH)
        return path;
    struct tv_bytes state =
        tv_te_decode_text(tv_te_member(data, "vm_state"), &reading->context->scratch);
    struct tv_frame frame = {.name = tv_trace_info_string(trace->head, state)};
    return state.length == 0 ? TV_ROOT_PATH
                             : tv_paths_child(&trace->paths, TV_ROOT_PATH,
                                              tv_trace_info_add_frame(trace->head, &frame));
}

/* True for V8's samples of the older kind. */
static bool te_samples_is_v8(const struct tv_te_context *context,
                             const struct tv_te_deferred *event)
{
    const struct tv_trace_info *head = context->trace->head;
    return tv_bytes_equal(tv_trace_info_text(head, head->frames[event->frame].name),
                          TV_BYTES("V8Sample"));
}

static struct tv_sample *te_samples_add(struct tv_te_context *context,
                                        const struct tv_te_deferred *event, uint32_t path,
                                        struct tv_bytes title)
{
    struct tv_sample *sample = tv_table_add(&context->trace->tables.samples);
    *sample = (struct tv_sample){
        .time = event->time,
        .weight = 1,
        .offset = event->offset,
        .thread = event->thread,
        .cpu = TV_NONE,
        .path = path,
        .line_path = path,
        .type = tv_te_value_type(context, title),
        .input = context->input,
    };
    return sample;
}

/* Add a sample of an event with a stack.  With a weight the name of the event is that of the value,
 * as in "samples"; our own writer gives weights. */
static void te_samples_add_event(struct tv_te_context *context, const struct tv_te_deferred *event,
                                 uint32_t path, const struct tv_te_fields *fields)
{
    int64_t weight;
    bool weighs = tv_te_parse_integer(fields->weight, &weight);
    struct tv_bytes title = TV_BYTES("Trace Event Sample");
    if (weighs)
        title = tv_te_decode_text(fields->name, &context->scratch);
    struct tv_sample *sample = te_samples_add(context, event, path, title);
    if (weighs)
        sample->weight = weight;
}

/* Take an event of phase P: of V8's older kind, of a profile, or with its own stack. */
static void te_samples_take_event(struct te_samples_reading *reading, size_t deferred)
{
    struct tv_te_context *context = reading->context;
    const struct tv_te_deferred *event = &context->deferred.rows[deferred];
    struct tv_te_fields fields;
    if (te_samples_is_v8(context, event)) {
        *tv_table_add(&reading->v8) = (struct te_v8_sample){event->time, deferred};
        return;
    }
    if (!tv_te_event_read(context, event->offset, &fields) ||
        tv_te_profiles_take(reading->profiles, event, &fields))
        return;
    te_samples_add_event(context, event, te_samples_event_path(reading, event, &fields), &fields);
}

static int te_samples_compare_v8(const void *left, const void *right)
{
    const struct te_v8_sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->deferred > b->deferred) - (a->deferred < b->deferred);
}

/* Take V8's samples by time, as code comes and goes. */
static void te_samples_take_v8(struct te_samples_reading *reading)
{
    assert(!reading->code);
    struct tv_te_context *context = reading->context;
    struct tv_te_fields fields;
    if (reading->v8.count == 0)
        return;
    qsort(reading->v8.rows, reading->v8.count, sizeof *reading->v8.rows, te_samples_compare_v8);
    reading->code = tv_te_code_new(context);
    for (size_t i = 0; i < reading->v8.count; i++) {
        const struct tv_te_deferred *event = &context->deferred.rows[reading->v8.rows[i].deferred];
        if (tv_te_event_read(context, event->offset, &fields))
            te_samples_add(context, event, te_samples_v8_path(reading, event, &fields),
                           TV_BYTES("V8 Sample"));
    }
    tv_te_code_free(reading->code);
    tv_free(reading->v8.rows);
}

/* Index the threads by their tid alone; of several the last counts. */
static void te_samples_index_threads(struct te_samples_reading *reading)
{
    struct tv_trace_info *head = reading->context->trace->head;
    reading->threads_known = true;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        if (thread->input != reading->context->input)
            continue;
        reading->text.length = 0;
        tv_te_id_key_add_tid(&reading->text, head, i);
        tv_map_set(&reading->threads, tv_trace_info_string(head, tv_te_id_key_text(&reading->text)),
                   i);
    }
}

/* Return the process of a thread that no event has: the only one there is, or one with the tid as
 * pid. */
static uint32_t te_samples_process_of(struct tv_te_threads *threads, struct tv_bytes tid)
{
    return threads->process_count == 1 ? threads->first_process
                                       : tv_te_threads_add_process(threads, tid);
}

/* Find the thread of a sample; add it when no event has it. */
static uint32_t te_samples_find_thread(struct te_samples_reading *reading,
                                       const struct tv_te_fields *fields, uint64_t offset)
{
    struct tv_te_context *context = reading->context;
    struct tv_te_threads *threads = &context->threads;
    size_t known = threads->thread_count;
    uint32_t thread = TV_NONE;
    if (fields->tid.data != NULL && fields->pid.data != NULL) {
        thread = tv_te_threads_add_thread(threads, tv_te_threads_add_process(threads, fields->pid),
                                          fields->pid, fields->tid);
    } else if (fields->tid.data != NULL) {
        if (!reading->threads_known)
            te_samples_index_threads(reading);
        uint32_t string = tv_trace_info_string(context->trace->head,
                                               tv_te_decode_text(fields->tid, &context->scratch));
        thread = tv_map_find(&reading->threads, string);
        if (thread == TV_NONE)
            thread = tv_te_threads_add_thread(threads, te_samples_process_of(threads, fields->tid),
                                              fields->tid, fields->tid);
        tv_map_set(&reading->threads, string, thread);
    }
    if (thread == TV_NONE || (threads->thread_count > known && !context->times.none))
        tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_THREAD, offset);
    return thread;
}

/* Take an element of "samples". */
static void te_samples_take_element(struct te_samples_reading *reading,
                                    const struct tv_te_fields *fields, uint64_t offset)
{
    struct tv_te_context *context = reading->context;
    struct tv_sample sample = {.weight = 1, .offset = offset, .cpu = TV_NONE};
    int64_t cpu;
    if (!tv_te_parse_time(fields->ts, &sample.time)) {
        tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
        return;
    }
    sample.thread = te_samples_find_thread(reading, fields, offset);
    sample.path = te_stacks_find(&reading->stacks, fields->sf, TV_NONE);
    if (sample.path == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
        sample.path = TV_ROOT_PATH;
    }
    if (!tv_te_parse_integer(fields->weight, &sample.weight))
        sample.weight = 1;
    if (tv_te_parse_integer(fields->cpu, &cpu) && cpu >= 0 && cpu < TV_NONE)
        sample.cpu = (uint32_t)cpu;
    sample.line_path = sample.path;
    sample.type = tv_te_value_type(context, tv_te_decode_text(fields->name, &context->scratch));
    sample.input = context->input;
    *tv_table_add(&context->trace->tables.samples) = sample;
}

/* Let the trace reach to all samples. */
static void te_samples_widen_time(struct tv_te_context *context, size_t first)
{
    const struct tv_tables *tables = &context->trace->tables;
    for (size_t i = first; i < tables->samples.count; i++)
        tv_te_times_widen(context, tables->samples.rows[i].time);
}

/* Weights other than 1 are no numbers of samples; what they are, the format does not say. */
static void te_samples_settle_units(struct tv_te_context *context, size_t first)
{
    const struct tv_tables *tables = &context->trace->tables;
    if (first == tables->samples.count)
        return;
    uint32_t samples = tv_trace_info_string(context->trace->head, TV_BYTES("samples"));
    for (size_t i = first; i < tables->samples.count; i++) {
        struct tv_value_type *type = &tables->value_types.rows[tables->samples.rows[i].type];
        if (type->unit == samples && tables->samples.rows[i].weight != 1)
            type->unit = TV_EMPTY_STRING;
    }
}

/* Take the array "samples". */
static void te_samples_take_array(struct te_samples_reading *reading)
{
    struct tv_te_context *context = reading->context;
    struct tv_bytes text = tv_te_extent_read(context, context->stacks.samples), value;
    if (text.length == 0 || text.data[0] != '[')
        return;
    const uint8_t *at = text.data + 1, *end = text.data + text.length;
    while (tv_te_element_next(&at, end, &value)) {
        struct tv_te_fields fields;
        const uint8_t *behind;
        uint64_t offset = context->stacks.samples.offset + (uint64_t)(value.data - text.data);
        if (tv_te_fields_read(value.data, end, &fields, &behind) == TV_TE_READ)
            te_samples_take_element(reading, &fields, offset);
        else
            tv_te_warn(context, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
    }
}

void tv_te_samples_read(struct tv_te_context *context)
{
    struct te_samples_reading reading = {.context = context};
    size_t first = context->trace->tables.samples.count;
    te_stacks_init(&reading.stacks, context);
    te_stacks_check_uses(&reading.stacks);
    reading.profiles = tv_te_profiles_new(context);
    tv_map_init(&reading.threads);
    tv_te_profiles_begin(reading.profiles);
    for (size_t i = 0; i < context->deferred.count; i++)
        if (context->deferred.rows[i].phase == 'P')
            te_samples_take_event(&reading, i);
    tv_te_profiles_end(reading.profiles);
    te_samples_take_v8(&reading);
    te_samples_take_array(&reading);
    te_samples_widen_time(context, first);
    te_samples_settle_units(context, first);
    tv_te_profiles_free(reading.profiles);
    te_stacks_release(&reading.stacks);
    tv_map_release(&reading.threads);
    tv_te_id_key_release(&reading.text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/stacks.h"

#include <string.h>

#include "base/bytes.h"
#include "base/intern.h"
#include "base/memory.h"

/* An entry while its table is read. */
struct te_stack_entry {
    struct tv_frame frame;
    uint32_t parent_key; /* string; TV_NONE: it is a root */
    uint32_t row;
    bool is_parent; /* others are called from it */
};

struct te_stack_table {
    struct tv_te_stacks *stacks;
    uint32_t process;
    uint64_t offset; /* of the table, for diagnostics */
    struct te_stack_entry *entries;
    size_t count, capacity;
    size_t first_row; /* of this table; entries have rows in their order */
};

static uint64_t te_stacks_key(uint32_t process, uint32_t string)
{
    return (uint64_t)process << 32 | string;
}

static uint32_t te_stacks_string(struct tv_te_context *context, struct tv_bytes raw)
{
    return tv_head_string(context->trace->head, tv_te_decode_text(raw, &context->scratch));
}

/* {name, category, parent}; the parent may be a number or a string. */
static struct te_stack_entry te_stacks_read_entry(struct tv_te_context *context, struct tv_bytes value)
{
    struct tv_bytes parent = tv_te_member(value, "parent");
    return (struct te_stack_entry){
        .frame = {.name = te_stacks_string(context, tv_te_member(value, "name")),
                  .category = te_stacks_string(context, tv_te_member(value, "category"))},
        .parent_key = parent.data == NULL ? TV_NONE : te_stacks_string(context, parent),
    };
}

/* The last of several with one key counts. */
static void te_stacks_add_entry(struct te_stack_table *reading, struct tv_bytes key, struct tv_bytes value)
{
    struct tv_te_context *context = reading->stacks->context;
    struct tv_tables *tables = &context->trace->tables;
    uint32_t string = te_stacks_string(context, key);
    uint32_t row = (uint32_t)tables->stack_frames.count;
    uint32_t found = tv_map_add(&reading->stacks->numbers, te_stacks_key(reading->process, string), row);
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

/* The row of an entry's parent, or TV_NONE. */
static uint32_t te_stacks_find_parent(struct te_stack_table *reading, const struct te_stack_entry *entry)
{
    uint32_t row;
    if (entry->parent_key == TV_NONE)
        return TV_NONE;
    row = tv_map_find(&reading->stacks->numbers, te_stacks_key(reading->process, entry->parent_key));
    if (row == TV_NONE)
        tv_te_warn(reading->stacks->context, TV_DIAGNOSTIC_STACK_NO_PARENT, reading->offset);
    return row;
}

/* A path that is being looked for: who comes back to it goes in a circle. */
#define SOUGHT (TV_NONE - 1)

/* Goes up from an entry to one whose path is known, noting the way; returns that path. */
static uint32_t te_stacks_climb(struct te_stack_table *reading, uint32_t row, uint32_t *way, size_t *depth)
{
    struct tv_stack_frame *rows = reading->stacks->context->trace->tables.stack_frames.rows;
    while (row != TV_NONE && rows[row].path == TV_NONE) {
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

static uint32_t te_stacks_frame(struct te_stack_table *reading, const struct te_stack_entry *entry)
{
    return tv_head_add_stack_frame(reading->stacks->context->trace->head, &entry->frame,
                                   entry->is_parent ? TV_STACK_CALLER : TV_STACK_LEAF);
}

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

static void te_stacks_read_table(struct tv_te_stacks *stacks, struct tv_bytes table, uint32_t process,
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

void tv_te_stacks_init(struct tv_te_stacks *stacks, struct tv_te_context *context)
{
    stacks->context = context;
    tv_map_init(&stacks->numbers);
    te_stacks_read_table(stacks, tv_te_extent_read(context, context->stack_frames), TV_NONE,
               context->stack_frames.offset);
    for (size_t i = 0; i < context->frame_table_count; i++) {
        const struct tv_te_deferred *event = &context->frame_tables[i];
        struct tv_te_fields fields;
        if (tv_te_event_read(context, event->offset, &fields))
            te_stacks_read_table(stacks, tv_te_member(fields.args, "stackFrames"), event->process,
                       event->offset);
    }
}

void tv_te_stacks_release(struct tv_te_stacks *stacks)
{
    tv_map_release(&stacks->numbers);
}

uint32_t tv_te_stacks_find(struct tv_te_stacks *stacks, struct tv_bytes key, uint32_t process)
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

void tv_te_stacks_check_uses(struct tv_te_stacks *stacks)
{
    struct tv_te_context *context = stacks->context;
    const struct tv_interner *strings = context->trace->head->strings;
    for (size_t i = 0; i < context->uses.count; i++) {
        const struct tv_te_stack_use *use = &context->uses.rows[i];
        uint32_t key = tv_interner_find(strings, tv_interner_get(context->uses.keys, use->key));
        if (key != TV_NONE && (tv_map_find(&stacks->numbers, te_stacks_key(TV_NONE, key)) != TV_NONE ||
                               tv_map_find(&stacks->numbers, te_stacks_key(use->process, key)) != TV_NONE))
            continue;
        for (uint64_t k = 0; k < use->count; k++)
            tv_te_warn(context, TV_DIAGNOSTIC_STACK_UNKNOWN, tv_te_stack_use_offset(use, k));
    }
}

/* The frames that an array names; to be given back with tv_free. */
static uint32_t *te_stacks_read_names(struct tv_te_stacks *stacks, struct tv_bytes array, size_t *count)
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
        frames[(*count)++] = tv_head_add_stack_frame(context->trace->head, &frame,
                                                     more ? TV_STACK_CALLER : TV_STACK_LEAF);
    }
    return frames;
}

uint32_t tv_te_stacks_path(struct tv_te_stacks *stacks, struct tv_bytes array)
{
    uint32_t path = TV_ROOT_PATH;
    size_t count;
    uint32_t *frames = te_stacks_read_names(stacks, array, &count);
    for (size_t i = 0; i < count; i++)
        path = tv_paths_child(&stacks->context->trace->paths, path, frames[i]);
    tv_free(frames);
    return path;
}

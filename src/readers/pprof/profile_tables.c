/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_tables.c - the tables that pprof and OpenTelemetry profiles share (profile_tables.h).
 *
 *                   pprof                            OpenTelemetry ("indexed")
 *     an entry is   named by an id in its field 1    named by its place in the table
 *     fields        from 2 on                        the same from 1 on: tables_take_entry shifts
 *     entry 0       an entry like others             means "none"
 *
 *     locations of a stack --> step --> step --> step
 *                                        '-- path, line_path, depth: pushed once
 *
 * A step is a prefix of a stack, from the root. It is found by (step of the caller, location), so a
 * stack that shares its outer part with an earlier one costs a lookup per location and no more.
 *
 * References are resolved after all entries were read, since an entry may refer to later ones. A
 * reference to nothing gives "[unknown]" and a diagnostic; a damaged entry counts with the fields
 * before the damage.
 */
#include "readers/pprof/profile_tables.h"

#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"

void tv_profile_tables_init(struct tv_profile_tables *tables, struct tv_profile_input *profile,
                            const uint8_t *file, bool indexed)
{
    *tables = (struct tv_profile_tables){.profile = profile, .file = file, .indexed = indexed};
    tv_lookup_init(&tables->function_ids);
    tv_lookup_init(&tables->location_ids);
    tv_lookup_init(&tables->mapping_ids);
    tv_map_init(&tables->step_places);
}

void tv_profile_tables_release(struct tv_profile_tables *tables)
{
    tv_free(tables->strings);
    tv_free(tables->string_numbers);
    tv_free(tables->function_messages);
    tv_free(tables->functions);
    tv_free(tables->locations);
    tv_free(tables->lines);
    tv_free(tables->steps);
    tv_lookup_release(&tables->function_ids);
    tv_lookup_release(&tables->location_ids);
    tv_lookup_release(&tables->mapping_ids);
    tv_map_release(&tables->step_places);
    tv_address_map_release(&tables->mappings);
}

static void tables_warn(struct tv_profile_tables *tables, enum tv_diagnostic_kind kind,
                        const uint8_t *at)
{
    uint64_t offset = tables->file ? (uint64_t)(at - tables->file) : TV_NO_OFFSET;
    tv_profile_warn(tables->profile, kind, offset);
}

/* ---- Strings ---- */

struct tv_bytes tv_profile_tables_text(struct tv_profile_tables *tables, uint64_t index)
{
    if (index > 0 && index >= tables->string_count)
        tv_profile_warn(tables->profile, TV_DIAGNOSTIC_BAD_REFERENCE, TV_NO_OFFSET);
    /* String 0 is the empty one, whatever is there. */
    return index > 0 && index < tables->string_count ? tables->strings[index] : TV_BYTES("");
}

/* Return the number in the trace of a string of the file. */
static uint32_t tables_string_number(struct tv_profile_tables *tables, uint64_t index)
{
    struct tv_bytes text = tv_profile_tables_text(tables, index);
    if (text.length == 0)
        return TV_EMPTY_STRING;
    uint32_t *number = &tables->string_numbers[index];
    if (*number == TV_NONE)
        *number = tv_profile_string(tables->profile, text);
    return *number;
}

/* ---- Entries ---- */

bool tv_profile_take_numbers(struct tv_bytes message, uint64_t *values, uint32_t count)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    memset(values, 0, count * sizeof *values);
    while (tv_protobuf_next(&cursor, &field))
        if (field.number < count && field.wire == TV_PROTOBUF_VARINT)
            values[field.number] = field.value;
    return tv_protobuf_is_sound(&cursor);
}

/* Collect the numbers of an entry: values[i] becomes what is field i in pprof. */
static bool tables_take_entry(const struct tv_profile_tables *tables, struct tv_bytes message,
                              uint64_t *values, uint32_t count)
{
    values[0] = 0;
    return tables->indexed ? tv_profile_take_numbers(message, values + 1, count - 1)
                           : tv_profile_take_numbers(message, values, count);
}

void tv_profile_tables_check(struct tv_profile_tables *tables, bool sound, struct tv_bytes message)
{
    if (!sound)
        tables_warn(tables, TV_DIAGNOSTIC_BAD_PACKET, message.data);
}

/* Give an id to a table entry.  The last one of an id stands. */
static void tables_name_entry(struct tv_profile_tables *tables, struct tv_map *ids,
                              struct tv_bytes message, size_t number)
{
    uint64_t fields[2];
    tv_profile_tables_check(tables, tv_profile_take_numbers(message, fields, 2), message);
    uint64_t id = tables->indexed ? number : fields[1];
    if (tables->indexed && number == 0)
        return;
    if (tv_map_find(ids, id) != TV_NONE)
        tables_warn(tables, TV_DIAGNOSTIC_DUPLICATE_ID, message.data);
    tv_map_set(ids, id, (uint32_t)number);
}

void tv_profile_tables_add_function(struct tv_profile_tables *tables, struct tv_bytes message)
{
    if (message.length == 0 && !tables->indexed)
        return;
    tables->function_messages =
        tv_array_reserve(tables->function_messages, &tables->function_capacity,
                         tables->function_count + 1, sizeof *tables->function_messages);
    tables_name_entry(tables, &tables->function_ids.map, message, tables->function_count);
    tables->function_messages[tables->function_count++] = message;
}

void tv_profile_tables_add_location(struct tv_profile_tables *tables, struct tv_bytes message)
{
    if (message.length == 0 && !tables->indexed)
        return;
    tables->locations = tv_array_reserve(tables->locations, &tables->location_capacity,
                                         tables->location_count + 1, sizeof *tables->locations);
    tables_name_entry(tables, &tables->location_ids.map, message, tables->location_count);
    tables->locations[tables->location_count++] = (struct tv_profile_location){.message = message};
}

/* Keep a mapping; its texts are strings of the file until all of these are known. */
void tv_profile_tables_add_mapping(struct tv_profile_tables *tables, struct tv_bytes message)
{
    uint64_t fields[7];
    tables_name_entry(tables, &tables->mapping_ids.map, message, tables->mappings.count);
    /* The next field of OpenTelemetry's is no build id. */
    fields[6] = 0;
    tables_take_entry(tables, message, fields, tables->indexed ? 6 : 7);
    struct tv_mapped_file file = {
        .start = fields[2],
        .limit = fields[3],
        .offset = fields[4],
        .name = {NULL, fields[5] > SIZE_MAX ? SIZE_MAX : (size_t)fields[5]},
        .build_id = {NULL, fields[6] > SIZE_MAX ? SIZE_MAX : (size_t)fields[6]},
    };
    tv_address_map_add(&tables->mappings, &file);
}

void tv_profile_tables_add_string(struct tv_profile_tables *tables, struct tv_bytes text)
{
    tables->strings = tv_array_reserve(tables->strings, &tables->string_capacity,
                                       tables->string_count + 1, sizeof *tables->strings);
    tables->strings[tables->string_count++] = text;
}

/* ---- Locations ---- */

/* Return the frame of a function in a module (string). */
static uint32_t tables_function_frame(struct tv_profile_tables *tables, uint32_t number,
                                      uint32_t module, bool inlined)
{
    struct tv_profile_function *function = &tables->functions[number];
    if (function->frame == TV_NONE || function->module != module) {
        struct tv_frame frame = {
            .name = function->name,
            .file = function->file,
            .line = function->line,
            .module = module,
            .kind = inlined ? TV_FRAME_INLINED : TV_FRAME_UNKNOWN,
        };
        function->frame = tv_trace_info_add_native_frame(tables->profile->info, &frame);
        function->module = module;
    }
    return function->frame;
}

static void tables_add_line(struct tv_profile_tables *tables, uint32_t frame, int32_t line)
{
    if (tables->line_count == UINT32_MAX)
        tv_memory_exhausted();
    tables->lines = tv_array_reserve(tables->lines, &tables->line_capacity, tables->line_count + 1,
                                     sizeof *tables->lines);
    tables->lines[tables->line_count++] = (struct tv_profile_line){frame, line};
}

/* Add the frame of a Line message; `inlined`: it is not the last one of its location. */
static void tables_take_line(struct tv_profile_tables *tables, struct tv_bytes message,
                             uint32_t module, bool inlined)
{
    uint64_t fields[3];
    tv_profile_tables_check(tables, tv_profile_take_numbers(message, fields, 3), message);
    uint32_t function = tv_lookup_find(&tables->function_ids, fields[1]);
    if (function == TV_NONE)
        tables_warn(tables, TV_DIAGNOSTIC_BAD_REFERENCE, message.data);
    uint32_t frame = function == TV_NONE ? tables->unknown_frame
                                         : tables_function_frame(tables, function, module, inlined);
    tables_add_line(tables, frame, fields[2] > INT32_MAX ? 0 : (int32_t)fields[2]);
}

static const struct tv_mapped_file *tables_find_mapping(struct tv_profile_tables *tables,
                                                        uint64_t id, struct tv_bytes message)
{
    uint32_t number = id == 0 ? TV_NONE : tv_lookup_find(&tables->mapping_ids, id);
    if (number >= tables->mappings.count) {
        if (id != 0)
            tables_warn(tables, TV_DIAGNOSTIC_BAD_REFERENCE, message.data);
        return NULL;
    }
    return &tables->mappings.files[number];
}

/* Put the frames of a location, which are innermost first in the file, in order of their calls. */
static void tables_reverse_lines(struct tv_profile_tables *tables, size_t first)
{
    for (size_t low = first, high = tables->line_count; low + 1 < high; low++) {
        struct tv_profile_line line = tables->lines[low];
        tables->lines[low] = tables->lines[--high];
        tables->lines[high] = line;
    }
}

/* Add what is at the address of a location without lines. */
static void tables_add_address(struct tv_profile_tables *tables, const struct tv_mapped_file *file,
                               uint64_t address)
{
    struct tv_address_frame frames[TV_ADDRESS_PLACES];
    size_t count = tv_address_frames(tables->profile, file, address, frames);
    for (size_t i = 0; i < count; i++)
        tables_add_line(tables, frames[i].frame, frames[i].line);
}

/* Make the frames of a location when its first sample comes: those of its lines, of which the last
 * is the function itself and the others are inlined into it; without lines, its address. */
static void tables_expand_location(struct tv_profile_tables *tables,
                                   struct tv_profile_location *location)
{
    uint64_t fields[4];
    tables_take_entry(tables, location->message, fields, 4);
    const struct tv_mapped_file *file = tables_find_mapping(tables, fields[2], location->message);
    uint32_t module =
        file ? tv_profile_string(tables->profile, file->name) : (uint32_t)TV_EMPTY_STRING;
    struct tv_cursor cursor = tv_cursor_over(location->message);
    struct tv_protobuf_field field;
    struct tv_bytes line = {NULL, 0}; /* the one before; the last is no inlined one */
    uint32_t line_field = tables->indexed ? 3 : 4;
    size_t first = tables->line_count;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number != line_field || field.wire != TV_PROTOBUF_BYTES ||
            tables->line_count - first == TV_PROFILE_DEPTH)
            continue;
        if (line.data)
            tables_take_line(tables, line, module, true);
        line = field.bytes;
    }
    if (line.data)
        tables_take_line(tables, line, module, false);
    else
        tables_add_address(tables, file, fields[3]);
    tables_reverse_lines(tables, first);
    location->first = (uint32_t)first;
    location->count = (uint32_t)(tables->line_count - first);
}

/* ---- Stacks ---- */

/* Add a step and return its number; step 0 is the empty stack. */
static uint32_t tables_add_step(struct tv_profile_tables *tables, uint32_t path, uint32_t line_path,
                                size_t depth)
{
    if (tables->step_count == UINT32_MAX)
        tv_memory_exhausted();
    tables->steps = tv_array_reserve(tables->steps, &tables->step_capacity, tables->step_count + 1,
                                     sizeof *tables->steps);
    tables->steps[tables->step_count] =
        (struct tv_profile_step){.path = path, .line_path = line_path, .depth = (uint32_t)depth};
    return (uint32_t)tables->step_count++;
}

/* Push the frames of a location onto the stack of a step. */
static uint32_t tables_make_step(struct tv_profile_tables *tables, uint32_t caller, uint32_t number)
{
    struct tv_profile_input *profile = tables->profile;
    struct tv_profile_step step = tables->steps[caller];
    profile->path = step.path;
    profile->line_path = step.line_path;
    profile->depth = step.depth;
    if (number == TV_NONE) {
        tv_profile_stack_push(profile, tables->unknown_frame, 0);
    } else {
        struct tv_profile_location *location = &tables->locations[number];
        if (location->count == 0)
            tables_expand_location(tables, location);
        for (uint32_t i = 0; i < location->count; i++) {
            struct tv_profile_line line = tables->lines[location->first + i];
            tv_profile_stack_push(profile, line.frame, line.line);
        }
    }
    return tables_add_step(tables, profile->path, profile->line_path, profile->depth);
}

uint32_t tv_profile_tables_step(struct tv_profile_tables *tables, uint32_t caller,
                                uint32_t location)
{
    /* The last callee of each step is remembered: samples come in runs with the same outer frames.
     */
    struct tv_profile_step *step = &tables->steps[caller];
    if (step->last_step != 0 && step->last_location == location)
        return step->last_step;
    if (step->depth > TV_PROFILE_DEPTH)
        return caller;
    uint64_t key = (uint64_t)caller << 32 | location;
    uint32_t found = tv_map_find(&tables->step_places, key);
    if (found == TV_NONE) {
        found = tables_make_step(tables, caller, location);
        tv_map_set(&tables->step_places, key, found);
    }
    tables->steps[caller].last_location = location;
    tables->steps[caller].last_step = found;
    return found;
}

/* ---- References ---- */

void tv_profile_tables_resolve(struct tv_profile_tables *tables)
{
    tv_lookup_complete(&tables->function_ids);
    tv_lookup_complete(&tables->location_ids);
    tv_lookup_complete(&tables->mapping_ids);
    tables->string_numbers = tv_alloc(tables->string_count, sizeof *tables->string_numbers);
    memset(tables->string_numbers, 0xff, tables->string_count * sizeof *tables->string_numbers);
    for (size_t i = 0; i < tables->mappings.count; i++) {
        struct tv_mapped_file *file = &tables->mappings.files[i];
        file->name = tv_profile_tables_text(tables, file->name.length);
        file->build_id = tv_profile_tables_text(tables, file->build_id.length);
    }
    tables->functions = tv_alloc(tables->function_count, sizeof *tables->functions);
    for (size_t i = 0; i < tables->function_count; i++) {
        uint64_t fields[6];
        tables_take_entry(tables, tables->function_messages[i], fields, 6);
        uint32_t name = tables_string_number(tables, fields[2]);
        tables->functions[i] = (struct tv_profile_function){
            .name = name != TV_EMPTY_STRING ? name : tables_string_number(tables, fields[3]),
            .file = tables_string_number(tables, fields[4]),
            .line = fields[5] > INT32_MAX ? 0 : (int32_t)fields[5],
            .frame = TV_NONE,
        };
    }
    struct tv_frame unknown = {.name = tv_profile_string(tables->profile, TV_BYTES("[unknown]"))};
    tables->unknown_frame = tv_trace_info_add_frame(tables->profile->info, &unknown);
    tables_add_step(tables, TV_ROOT_PATH, TV_ROOT_PATH, 0);
}

uint32_t tv_profile_tables_location(struct tv_profile_tables *tables, uint64_t id,
                                    const uint8_t *at)
{
    uint32_t location = tv_lookup_find(&tables->location_ids, id);
    if (TV_UNLIKELY(location == TV_NONE))
        tables_warn(tables, TV_DIAGNOSTIC_BAD_REFERENCE, at);
    return location;
}

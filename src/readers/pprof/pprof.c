/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - reader of pprof profiles.
 *
 * A file is one protobuf message, whose fields come in any order.  So there are two passes over its
 * top level:
 *
 *     tables     strings, functions, locations, mappings, value types, and the header
 *     samples    each a list of locations (leaf first), a value for each type, and labels
 *
 * Ids are any 64-bit numbers: maps translate them to places in the tables.  A location becomes
 * frames once, when the first sample has it.  Stacks become paths by steps: (step of the caller,
 * location)
 * -> (path, path with lines).  So a location costs one look-up a sample, however many functions
 * were inlined there.
 */
#include "readers/pprof/pprof.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "readers/pprof/address_map.h"
#include "readers/pprof/sample_labels.h"
#include "readers/profile_input.h"

/* Fields of Profile. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DROP_FRAMES = 7,
    PROFILE_KEEP_FRAMES = 8,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    PROFILE_DOC_URL = 15,
};

/* Comments that metadata lists. */
#define LISTED_COMMENTS 100

struct pprof_value_type {
    uint64_t name, unit; /* strings of the file */
};

struct pprof_function {
    uint32_t name, file; /* strings of the trace */
    int32_t line;
    uint32_t frame, module; /* its frame, TV_NONE at first, and the module of that */
};

/* A location, and the frames that it stands for, once a sample has it. */
struct pprof_location {
    struct tv_bytes message;
    uint32_t first, count; /* in `lines`, from the caller to the innermost; count 0: not yet */
};

struct pprof_line {
    uint32_t frame;
    int32_t line;
};

/* The stack that ends with a location called from another step.  Step 0 is the root. */
struct pprof_step {
    uint32_t path, line_path;
    uint32_t depth;                    /* frames */
    uint32_t last_location, last_step; /* the callee that was looked up last; 0: none */
};

struct pprof_header {
    uint64_t drop_frames, keep_frames, doc_url, default_type; /* strings of the file */
    int64_t time_ns, duration_ns, period;
    struct pprof_value_type period_type;
};

struct pprof {
    struct tv_profile_input profile;
    struct tv_profile_text text;
    struct pprof_header header;
    struct pprof_value_type *types;
    struct tv_bytes *strings;
    uint32_t *string_numbers; /* strings of the trace; TV_NONE: not added yet */
    struct tv_bytes *function_messages;
    struct pprof_function *functions;
    struct pprof_location *locations;
    struct pprof_line *lines;
    struct pprof_step *steps;
    uint64_t *comments;
    size_t type_count, type_capacity, string_count, string_capacity;
    size_t function_count, function_capacity, location_count, location_capacity;
    size_t line_count, line_capacity, step_count, step_capacity, comment_count, comment_capacity;
    struct tv_lookup function_ids, location_ids, mapping_ids; /* id -> number */
    struct tv_map step_places;      /* caller's step << 32 | location -> step */
    struct tv_address_map mappings; /* in the order of the file */
    struct tv_sample_labels labels;
    uint32_t *stack; /* locations of the current sample, leaf first */
    int64_t *values;
    size_t stack_capacity;
    uint32_t *value_types; /* of the trace */
    uint32_t unknown_frame;
    bool timed; /* every sample has an end_timestamp_ns */
};

static uint64_t pprof_offset(const struct pprof *pprof, const uint8_t *at)
{
    return (uint64_t)(at - pprof->text.bytes.data);
}

/* ---- Strings ---- */

/* Return a string of the file; it is empty, with a diagnostic, when there is none. */
static struct tv_bytes pprof_string(struct pprof *pprof, uint64_t index)
{
    if (index > 0 && index >= pprof->string_count)
        tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_BAD_REFERENCE, TV_NO_OFFSET);
    /* String 0 is the empty one, whatever stands there. */
    return index > 0 && index < pprof->string_count ? pprof->strings[index] : TV_BYTES("");
}

/* Return the number in the trace of a string of the file. */
static uint32_t pprof_string_number(struct pprof *pprof, uint64_t index)
{
    struct tv_bytes text = pprof_string(pprof, index);
    if (text.length == 0)
        return TV_EMPTY_STRING;
    uint32_t *number = &pprof->string_numbers[index];
    if (*number == TV_NONE)
        *number = tv_profile_string(&pprof->profile, text);
    return *number;
}

/* ---- The tables ---- */

/* Collect the numbers of a small message: values[i] becomes field i, a nested message is skipped.
 */
static bool pprof_take_numbers(struct tv_bytes message, uint64_t *values, uint32_t count)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    memset(values, 0, count * sizeof *values);
    while (tv_protobuf_next(&cursor, &field))
        if (field.number < count && field.wire == TV_PROTOBUF_VARINT)
            values[field.number] = field.value;
    return tv_protobuf_is_sound(&cursor);
}

static void pprof_check_message(struct pprof *pprof, bool sound, struct tv_bytes message)
{
    if (!sound)
        tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_BAD_PACKET,
                        pprof_offset(pprof, message.data));
}

static struct pprof_value_type pprof_take_value_type(struct pprof *pprof, struct tv_bytes message)
{
    uint64_t fields[3];
    pprof_check_message(pprof, pprof_take_numbers(message, fields, 3), message);
    return (struct pprof_value_type){fields[1], fields[2]};
}

/* Give an id to a table entry.  The last one of an id stands. */
static void pprof_name_entry(struct pprof *pprof, struct tv_map *ids, struct tv_bytes message,
                             size_t number)
{
    uint64_t fields[2];
    pprof_check_message(pprof, pprof_take_numbers(message, fields, 2), message);
    if (tv_map_find(ids, fields[1]) != TV_NONE)
        tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_DUPLICATE_ID,
                        pprof_offset(pprof, message.data));
    tv_map_set(ids, fields[1], (uint32_t)number);
}

static void pprof_take_function(struct pprof *pprof, struct tv_bytes message)
{
    if (message.length == 0)
        return;
    pprof->function_messages =
        tv_array_reserve(pprof->function_messages, &pprof->function_capacity,
                         pprof->function_count + 1, sizeof *pprof->function_messages);
    pprof_name_entry(pprof, &pprof->function_ids.map, message, pprof->function_count);
    pprof->function_messages[pprof->function_count++] = message;
}

static void pprof_take_location(struct pprof *pprof, struct tv_bytes message)
{
    if (message.length == 0)
        return;
    pprof->locations = tv_array_reserve(pprof->locations, &pprof->location_capacity,
                                        pprof->location_count + 1, sizeof *pprof->locations);
    pprof_name_entry(pprof, &pprof->location_ids.map, message, pprof->location_count);
    pprof->locations[pprof->location_count++] = (struct pprof_location){.message = message};
}

/* Keep a mapping; its texts are strings of the file until all of these are known. */
static void pprof_take_mapping(struct pprof *pprof, struct tv_bytes message)
{
    uint64_t fields[7];
    pprof_name_entry(pprof, &pprof->mapping_ids.map, message, pprof->mappings.count);
    if (!pprof_take_numbers(message, fields, 7))
        return;
    struct tv_mapped_file file = {
        .start = fields[2],
        .limit = fields[3],
        .offset = fields[4],
        .name = {NULL, fields[5] > SIZE_MAX ? SIZE_MAX : (size_t)fields[5]},
        .build_id = {NULL, fields[6] > SIZE_MAX ? SIZE_MAX : (size_t)fields[6]},
    };
    tv_address_map_add(&pprof->mappings, &file);
}

static void pprof_take_type(struct pprof *pprof, struct tv_bytes message)
{
    pprof->types = tv_array_reserve(pprof->types, &pprof->type_capacity, pprof->type_count + 1,
                                    sizeof *pprof->types);
    pprof->types[pprof->type_count++] = pprof_take_value_type(pprof, message);
}

static void pprof_take_string(struct pprof *pprof, struct tv_bytes text)
{
    pprof->strings = tv_array_reserve(pprof->strings, &pprof->string_capacity,
                                      pprof->string_count + 1, sizeof *pprof->strings);
    pprof->strings[pprof->string_count++] = text;
}

static void pprof_take_comment(struct pprof *pprof, uint64_t string)
{
    if (pprof->comment_count == LISTED_COMMENTS)
        return;
    pprof->comments = tv_array_reserve(pprof->comments, &pprof->comment_capacity,
                                       pprof->comment_count + 1, sizeof *pprof->comments);
    pprof->comments[pprof->comment_count++] = string;
}

static void pprof_take_number(struct pprof *pprof, uint32_t field, uint64_t value)
{
    struct pprof_header *header = &pprof->header;
    switch (field) {
    case PROFILE_DROP_FRAMES:
        header->drop_frames = value;
        break;
    case PROFILE_KEEP_FRAMES:
        header->keep_frames = value;
        break;
    case PROFILE_TIME:
        header->time_ns = (int64_t)value;
        break;
    case PROFILE_DURATION:
        header->duration_ns = (int64_t)value;
        break;
    case PROFILE_PERIOD:
        header->period = (int64_t)value;
        break;
    case PROFILE_DEFAULT_TYPE:
        header->default_type = value;
        break;
    case PROFILE_DOC_URL:
        header->doc_url = value;
        break;
    default:
        break;
    }
}

static void pprof_take_message(struct pprof *pprof, const struct tv_protobuf_field *field)
{
    switch (field->number) {
    case PROFILE_SAMPLE_TYPE:
        pprof_take_type(pprof, field->bytes);
        break;
    case PROFILE_MAPPING:
        pprof_take_mapping(pprof, field->bytes);
        break;
    case PROFILE_LOCATION:
        pprof_take_location(pprof, field->bytes);
        break;
    case PROFILE_FUNCTION:
        pprof_take_function(pprof, field->bytes);
        break;
    case PROFILE_STRING:
        pprof_take_string(pprof, field->bytes);
        break;
    case PROFILE_PERIOD_TYPE:
        pprof->header.period_type = pprof_take_value_type(pprof, field->bytes);
        break;
    default:
        break;
    }
}

/* Read everything but the samples. */
static void pprof_read_tables(struct pprof *pprof)
{
    struct tv_cursor cursor = tv_cursor_over(pprof->text.bytes);
    struct tv_protobuf_field field;
    uint64_t number;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == PROFILE_SAMPLE)
            continue;
        if (field.number == PROFILE_COMMENT) {
            struct tv_cursor list = tv_protobuf_numbers(&field);
            while (tv_protobuf_next_number(&list, &field, &number))
                pprof_take_comment(pprof, number);
        } else if (field.wire == TV_PROTOBUF_BYTES) {
            pprof_take_message(pprof, &field);
        } else {
            pprof_take_number(pprof, field.number, field.value);
        }
    }
    if (!tv_protobuf_is_sound(&cursor))
        tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_TRUNCATED, tv_cursor_position(&cursor));
}

/* Translate what refers to strings, now that all of these are known. */
static void pprof_resolve_tables(struct pprof *pprof)
{
    tv_lookup_complete(&pprof->function_ids);
    tv_lookup_complete(&pprof->location_ids);
    tv_lookup_complete(&pprof->mapping_ids);
    pprof->string_numbers = tv_alloc(pprof->string_count, sizeof *pprof->string_numbers);
    memset(pprof->string_numbers, 0xff, pprof->string_count * sizeof *pprof->string_numbers);
    for (size_t i = 0; i < pprof->mappings.count; i++) {
        struct tv_mapped_file *file = &pprof->mappings.files[i];
        file->name = pprof_string(pprof, file->name.length);
        file->build_id = pprof_string(pprof, file->build_id.length);
    }
    pprof->functions = tv_alloc(pprof->function_count, sizeof *pprof->functions);
    for (size_t i = 0; i < pprof->function_count; i++) {
        uint64_t fields[6];
        pprof_take_numbers(pprof->function_messages[i], fields, 6);
        uint32_t name = pprof_string_number(pprof, fields[2]);
        pprof->functions[i] = (struct pprof_function){
            .name = name != TV_EMPTY_STRING ? name : pprof_string_number(pprof, fields[3]),
            .file = pprof_string_number(pprof, fields[4]),
            .line = fields[5] > INT32_MAX ? 0 : (int32_t)fields[5],
            .frame = TV_NONE,
        };
    }
    struct tv_frame unknown = {.name = tv_profile_string(&pprof->profile, TV_BYTES("[unknown]"))};
    pprof->unknown_frame = tv_trace_info_add_frame(pprof->profile.info, &unknown);
}

/* ---- Header ---- */

static bool pprof_is_same_type(struct pprof *pprof, struct pprof_value_type a,
                               struct pprof_value_type b)
{
    return tv_bytes_equal(pprof_string(pprof, a.name), pprof_string(pprof, b.name)) &&
           tv_bytes_equal(pprof_string(pprof, a.unit), pprof_string(pprof, b.unit));
}

/* Return the type that is shown first: the default type if there is one with this name, else the
 * last. */
static size_t pprof_find_preferred(struct pprof *pprof)
{
    struct tv_bytes name = pprof_string(pprof, pprof->header.default_type);
    for (size_t i = 0; name.length > 0 && i < pprof->type_count; i++)
        if (tv_bytes_equal(pprof_string(pprof, pprof->types[i].name), name))
            return i;
    return pprof->type_count - 1;
}

static void pprof_add_value_types(struct pprof *pprof)
{
    struct tv_profile_input *profile = &pprof->profile;
    if (pprof->type_count > TV_TYPES_MAX)
        pprof->type_count = TV_TYPES_MAX;
    pprof->value_types = tv_alloc(pprof->type_count, sizeof *pprof->value_types);
    pprof->values = tv_alloc(pprof->type_count, sizeof *pprof->values);
    if (pprof->type_count == 0)
        return;
    size_t preferred = pprof_find_preferred(pprof);
    for (size_t i = 0; i < pprof->type_count; i++) {
        struct pprof_value_type type = pprof->types[i];
        uint32_t number = tv_profile_value_type(profile, pprof_string(pprof, type.name),
                                                pprof_string(pprof, type.unit));
        struct tv_value_type *added = &profile->trace->tables.value_types.rows[number];
        pprof->value_types[i] = number;
        if (pprof->header.period > 0 &&
            pprof_is_same_type(pprof, type, pprof->header.period_type) &&
            tv_bytes_equal(pprof_string(pprof, type.unit), TV_BYTES("nanoseconds")))
            added->interval = pprof->header.period;
        added->preferred = i == preferred;
    }
}

static void pprof_add_text(struct pprof *pprof, struct tv_bytes key, struct tv_bytes value)
{
    if (value.length > 0)
        tv_trace_info_add_metadata(pprof->profile.info, pprof->profile.input, key, value);
}

static void pprof_add_period(struct pprof *pprof)
{
    struct tv_out text;
    if (pprof->header.period == 0)
        return;
    tv_out_init_memory(&text);
    tv_out_i64(&text, pprof->header.period);
    pprof_add_text(pprof, TV_BYTES("period"), (struct tv_bytes){text.buffer, text.length});
    text.length = 0;
    tv_out_bytes(&text, pprof_string(pprof, pprof->header.period_type.name));
    tv_out_char(&text, '/');
    tv_out_bytes(&text, pprof_string(pprof, pprof->header.period_type.unit));
    pprof_add_text(pprof, TV_BYTES("period type"), (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

static void pprof_add_header(struct pprof *pprof)
{
    struct pprof_header *header = &pprof->header;
    struct tv_input *input = &pprof->profile.info->inputs[pprof->profile.input];
    input->recorded_us = header->time_ns / 1000;
    if (header->duration_ns > 0)
        input->elapsed_ns = header->duration_ns;
    pprof_add_period(pprof);
    pprof_add_text(pprof, TV_BYTES("default value type"),
                   pprof_string(pprof, header->default_type));
    pprof_add_text(pprof, TV_BYTES("drop_frames"), pprof_string(pprof, header->drop_frames));
    pprof_add_text(pprof, TV_BYTES("keep_frames"), pprof_string(pprof, header->keep_frames));
    pprof_add_text(pprof, TV_BYTES("documentation"), pprof_string(pprof, header->doc_url));
    for (size_t i = 0; i < pprof->comment_count; i++)
        pprof_add_text(pprof, TV_BYTES("comment"), pprof_string(pprof, pprof->comments[i]));
    tv_address_map_list(&pprof->mappings, &pprof->profile);
}

/* ---- Locations ---- */

static void pprof_warn_reference(struct pprof *pprof, struct tv_bytes message)
{
    tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_BAD_REFERENCE,
                    pprof_offset(pprof, message.data));
}

/* Return the frame of a function in a module (string). */
static uint32_t pprof_function_frame(struct pprof *pprof, uint32_t number, uint32_t module,
                                     bool inlined)
{
    struct pprof_function *function = &pprof->functions[number];
    if (function->frame == TV_NONE || function->module != module) {
        struct tv_frame frame = {
            .name = function->name,
            .file = function->file,
            .line = function->line,
            .module = module,
            .kind = inlined ? TV_FRAME_INLINED : TV_FRAME_UNKNOWN,
        };
        function->frame = tv_trace_info_add_frame(pprof->profile.info, &frame);
        function->module = module;
    }
    return function->frame;
}

static void pprof_add_line(struct pprof *pprof, uint32_t frame, int32_t line)
{
    if (pprof->line_count == UINT32_MAX)
        tv_memory_exhausted();
    pprof->lines = tv_array_reserve(pprof->lines, &pprof->line_capacity, pprof->line_count + 1,
                                    sizeof *pprof->lines);
    pprof->lines[pprof->line_count++] = (struct pprof_line){frame, line};
}

/* Add the frame of a Line message; `inlined`: it is not the last one of its location. */
static void pprof_take_line(struct pprof *pprof, struct tv_bytes message, uint32_t module,
                            bool inlined)
{
    uint64_t fields[3];
    pprof_check_message(pprof, pprof_take_numbers(message, fields, 3), message);
    uint32_t function = tv_lookup_find(&pprof->function_ids, fields[1]);
    if (function == TV_NONE)
        pprof_warn_reference(pprof, message);
    uint32_t frame = function == TV_NONE ? pprof->unknown_frame
                                         : pprof_function_frame(pprof, function, module, inlined);
    pprof_add_line(pprof, frame, fields[2] > INT32_MAX ? 0 : (int32_t)fields[2]);
}

static const struct tv_mapped_file *pprof_find_mapping(struct pprof *pprof, uint64_t id,
                                                       struct tv_bytes message)
{
    uint32_t number = id == 0 ? TV_NONE : tv_lookup_find(&pprof->mapping_ids, id);
    if (number >= pprof->mappings.count) {
        if (id != 0)
            pprof_warn_reference(pprof, message);
        return NULL;
    }
    return &pprof->mappings.files[number];
}

/* Put the frames of a location, which are innermost first in the file, in order of their calls. */
static void pprof_reverse_lines(struct pprof *pprof, size_t first)
{
    for (size_t low = first, high = pprof->line_count; low + 1 < high; low++) {
        struct pprof_line line = pprof->lines[low];
        pprof->lines[low] = pprof->lines[--high];
        pprof->lines[high] = line;
    }
}

static void pprof_expand_location(struct pprof *pprof, struct pprof_location *location)
{
    uint64_t fields[4];
    pprof_take_numbers(location->message, fields, 4);
    const struct tv_mapped_file *file = pprof_find_mapping(pprof, fields[2], location->message);
    uint32_t module =
        file ? tv_profile_string(&pprof->profile, file->name) : (uint32_t)TV_EMPTY_STRING;
    struct tv_cursor cursor = tv_cursor_over(location->message);
    struct tv_protobuf_field field;
    struct tv_bytes line = {NULL, 0}; /* the one before; the last is no inlined one */
    size_t first = pprof->line_count;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number != 4 || field.wire != TV_PROTOBUF_BYTES ||
            pprof->line_count - first == TV_PROFILE_DEPTH)
            continue;
        if (line.data)
            pprof_take_line(pprof, line, module, true);
        line = field.bytes;
    }
    if (line.data)
        pprof_take_line(pprof, line, module, false);
    else
        pprof_add_line(pprof, tv_address_frame(&pprof->profile, file, fields[3]), 0);
    pprof_reverse_lines(pprof, first);
    location->first = (uint32_t)first;
    location->count = (uint32_t)(pprof->line_count - first);
}

/* ---- Stacks ---- */

static uint32_t pprof_add_step(struct pprof *pprof, uint32_t path, uint32_t line_path, size_t depth)
{
    if (pprof->step_count == UINT32_MAX)
        tv_memory_exhausted();
    pprof->steps = tv_array_reserve(pprof->steps, &pprof->step_capacity, pprof->step_count + 1,
                                    sizeof *pprof->steps);
    pprof->steps[pprof->step_count] =
        (struct pprof_step){.path = path, .line_path = line_path, .depth = (uint32_t)depth};
    return (uint32_t)pprof->step_count++;
}

/* Push the frames of a location onto the stack of a step. */
static uint32_t pprof_make_step(struct pprof *pprof, uint32_t caller, uint32_t number)
{
    struct tv_profile_input *profile = &pprof->profile;
    struct pprof_step step = pprof->steps[caller];
    profile->path = step.path;
    profile->line_path = step.line_path;
    profile->depth = step.depth;
    if (number == TV_NONE) {
        tv_profile_stack_push(profile, pprof->unknown_frame, 0);
    } else {
        struct pprof_location *location = &pprof->locations[number];
        if (location->count == 0)
            pprof_expand_location(pprof, location);
        for (uint32_t i = 0; i < location->count; i++) {
            struct pprof_line line = pprof->lines[location->first + i];
            tv_profile_stack_push(profile, line.frame, line.line);
        }
    }
    return pprof_add_step(pprof, profile->path, profile->line_path, profile->depth);
}

/* Return the step of a location (TV_NONE: unknown) that was called from another step. */
static uint32_t pprof_find_step(struct pprof *pprof, uint32_t caller, uint32_t location)
{
    struct pprof_step *step = &pprof->steps[caller];
    if (step->last_step != 0 && step->last_location == location)
        return step->last_step;
    if (step->depth > TV_PROFILE_DEPTH)
        return caller;
    uint64_t key = (uint64_t)caller << 32 | location;
    uint32_t found = tv_map_find(&pprof->step_places, key);
    if (found == TV_NONE) {
        found = pprof_make_step(pprof, caller, location);
        tv_map_set(&pprof->step_places, key, found);
    }
    pprof->steps[caller].last_location = location;
    pprof->steps[caller].last_step = found;
    return found;
}

/* ---- Samples ---- */

/* A sample while it is read. */
struct pprof_sample {
    size_t depth;       /* locations in pprof->stack */
    size_t value_count; /* also those beyond the value types */
    bool damaged;
};

static void pprof_take_stack(struct pprof *pprof, const struct tv_protobuf_field *field,
                             struct pprof_sample *sample)
{
    struct tv_cursor list = tv_protobuf_numbers(field);
    uint64_t id;
    /* A number has a byte at least. */
    size_t most = sample->depth + (field->bytes.length > 0 ? field->bytes.length : 1);
    pprof->stack =
        tv_array_reserve(pprof->stack, &pprof->stack_capacity, most, sizeof *pprof->stack);
    while (tv_protobuf_next_number(&list, field, &id)) {
        uint32_t location = tv_lookup_find(&pprof->location_ids, id);
        if (TV_UNLIKELY(location == TV_NONE))
            tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_BAD_REFERENCE,
                            pprof_offset(pprof, field->bytes.data));
        pprof->stack[sample->depth++] = location;
    }
    sample->damaged |= !tv_protobuf_is_sound(&list);
}

static void pprof_take_values(struct pprof *pprof, const struct tv_protobuf_field *field,
                              struct pprof_sample *sample)
{
    struct tv_cursor list = tv_protobuf_numbers(field);
    uint64_t value;
    while (tv_protobuf_next_number(&list, field, &value)) {
        if (sample->value_count < pprof->type_count)
            pprof->values[sample->value_count] = (int64_t)value;
        sample->value_count++;
    }
    sample->damaged |= !tv_protobuf_is_sound(&list);
}

static void pprof_parse_sample(struct pprof *pprof, struct tv_bytes message,
                               struct pprof_sample *sample)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    *sample = (struct pprof_sample){.depth = 0};
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            pprof_take_stack(pprof, &field, sample);
        else if (field.number == 2)
            pprof_take_values(pprof, &field, sample);
        else if (field.number == 3 && field.wire == TV_PROTOBUF_BYTES)
            tv_sample_labels_take(&pprof->labels, field.bytes);
    }
    sample->damaged |= !tv_protobuf_is_sound(&cursor);
}

static void pprof_add_sample(struct pprof *pprof, struct tv_bytes message)
{
    struct tv_profile_input *profile = &pprof->profile;
    struct pprof_sample parsed;
    uint64_t offset = pprof_offset(pprof, message.data);
    tv_sample_labels_begin(&pprof->labels);
    pprof_parse_sample(pprof, message, &parsed);
    pprof_check_message(pprof, !parsed.damaged, message);
    if (parsed.value_count != pprof->type_count)
        tv_profile_warn(profile, TV_DIAGNOSTIC_VALUE_COUNT, offset);
    uint32_t step = 0;
    for (size_t i = parsed.depth; i-- > 0;)
        step = pprof_find_step(pprof, step, pprof->stack[i]);
    struct tv_sample sample = {
        .time = pprof->labels.end_time,
        .offset = offset,
        .thread = tv_sample_labels_thread(&pprof->labels, profile),
        .cpu = TV_NONE,
    };
    struct pprof_step stack = pprof->steps[step];
    profile->info->inputs[profile->input].samples++;
    for (size_t i = 0; i < pprof->type_count && i < parsed.value_count; i++) {
        if (pprof->values[i] == 0)
            continue;
        sample.type = pprof->value_types[i];
        sample.weight = pprof->values[i];
        tv_profile_add_sample_at(profile, sample, stack.path, stack.line_path);
    }
}

/* Return whether the profile has samples and each has an end_timestamp_ns. */
static bool pprof_is_timed(struct pprof *pprof)
{
    struct tv_cursor cursor = tv_cursor_over(pprof->text.bytes);
    struct tv_protobuf_field field, part;
    uint64_t samples = 0;
    if (!pprof->labels.has_times)
        return false;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number != PROFILE_SAMPLE || field.wire != TV_PROTOBUF_BYTES)
            continue;
        struct tv_cursor inside = tv_cursor_over(field.bytes);
        tv_sample_labels_begin(&pprof->labels);
        while (tv_protobuf_next(&inside, &part))
            if (part.number == 3 && part.wire == TV_PROTOBUF_BYTES)
                tv_sample_labels_take(&pprof->labels, part.bytes);
        if (!pprof->labels.timed)
            return false;
        samples++;
    }
    return samples > 0;
}

/* Samples between two looks at the clock of the user. */
#define SAMPLES_A_CHECK 4096

static enum tv_status pprof_read_samples(struct pprof *pprof, const struct tv_read_options *options,
                                         struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(pprof->text.bytes);
    struct tv_protobuf_field field;
    enum tv_status status = TV_OK;
    size_t before = 0;
    uint64_t samples = 0;
    pprof_add_step(pprof, TV_ROOT_PATH, TV_ROOT_PATH, 0);
    while (status == TV_OK && tv_protobuf_next(&cursor, &field)) {
        if (field.number != PROFILE_SAMPLE || field.wire != TV_PROTOBUF_BYTES)
            continue;
        pprof_add_sample(pprof, field.bytes);
        if (++samples % SAMPLES_A_CHECK == 0) {
            size_t at = tv_cursor_position(&cursor);
            status = tv_reader_add_progress(options->progress, at - before, err);
            before = at;
        }
    }
    tv_tables_count_events(&pprof->profile.trace->tables, pprof->profile.input,
                           tv_profile_string(&pprof->profile, TV_BYTES("sample")), samples);
    return status;
}

/* ---- The file ---- */

static void pprof_release(struct pprof *pprof)
{
    tv_free(pprof->types);
    tv_free(pprof->strings);
    tv_free(pprof->string_numbers);
    tv_free(pprof->function_messages);
    tv_free(pprof->functions);
    tv_free(pprof->locations);
    tv_free(pprof->lines);
    tv_free(pprof->steps);
    tv_free(pprof->comments);
    tv_free(pprof->stack);
    tv_free(pprof->values);
    tv_free(pprof->value_types);
    tv_lookup_release(&pprof->function_ids);
    tv_lookup_release(&pprof->location_ids);
    tv_lookup_release(&pprof->mapping_ids);
    tv_map_release(&pprof->step_places);
    tv_address_map_release(&pprof->mappings);
    tv_sample_labels_release(&pprof->labels);
    tv_profile_text_release(&pprof->text);
    tv_free(pprof);
}

static enum tv_status pprof_assemble(struct tv_source *source, struct tv_builder *builder,
                                     const struct tv_read_options *options, struct tv_error *err)
{
    struct pprof *pprof = tv_alloc(1, sizeof *pprof);
    enum tv_status status = tv_profile_text_read(source, &pprof->text, err);
    if (status != TV_OK) {
        tv_free(pprof);
        return status;
    }
    tv_lookup_init(&pprof->function_ids);
    tv_lookup_init(&pprof->location_ids);
    tv_lookup_init(&pprof->mapping_ids);
    tv_map_init(&pprof->step_places);
    tv_profile_input_begin(&pprof->profile, source, builder, TV_SAMPLE_LABELS_FORMAT);
    struct tv_input *input = &pprof->profile.info->inputs[pprof->profile.input];
    input->describe = tv_sample_labels_describe;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, pprof->text.bytes.length,
                                  memory_order_relaxed);
    pprof_read_tables(pprof);
    pprof_resolve_tables(pprof);
    pprof_add_value_types(pprof);
    pprof_add_header(pprof);
    tv_sample_labels_init(&pprof->labels, pprof->strings, pprof->string_count);
    pprof->profile.info->inputs[pprof->profile.input].weight_axis = !pprof_is_timed(pprof);
    status = pprof_read_samples(pprof, options, err);
    tv_profile_input_end(&pprof->profile, options);
    pprof_release(pprof);
    return status;
}

/* ---- Is it one? ---- */

/* The wire types of the fields of pprof's Profile, from field 1 on. */
static const uint8_t pprof_wires[] = {
    0,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_BYTES,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_VARINT,
    TV_PROTOBUF_VARINT,
};
#define PPROF_MESSAGES (1u << 2 | 1u << 4 | 1u << 5) /* samples, locations, functions */
/* A ValueType holds two numbers. */
#define PPROF_VALUE_TYPE 12u
/* Number of valid fields in a row that cannot be chance. */
#define PPROF_SURE 8

static bool pprof_is_field(uint64_t tag)
{
    uint64_t field = tag >> 3, wire = tag & 7;
    return field > 0 && field < TV_COUNT(pprof_wires) &&
           (wire == pprof_wires[field] || (field == 13 && wire == TV_PROTOBUF_BYTES));
}

/* Skip a field that later versions or other tools added. Its tag has two bytes, so that plain
 * text has none. */
static bool pprof_skip_later_field(struct tv_cursor *cursor, uint64_t tag)
{
    uint64_t length = 0, wire = tag & 7;
    struct tv_bytes bytes;
    if (tag >> 3 < 16 || tag > UINT32_MAX)
        return false;
    if (wire == TV_PROTOBUF_VARINT)
        return tv_cursor_take_uleb(cursor, &length) || tv_cursor_left(cursor) == 0;
    if (wire == TV_PROTOBUF_BYTES && !tv_cursor_take_uleb(cursor, &length))
        return tv_cursor_left(cursor) == 0;
    if (wire == TV_PROTOBUF_FIXED64 || wire == TV_PROTOBUF_FIXED32)
        length = wire == TV_PROTOBUF_FIXED64 ? 8 : 4;
    else if (wire != TV_PROTOBUF_BYTES)
        return false;
    if (!tv_cursor_take_bytes(cursor, length > SIZE_MAX ? SIZE_MAX : (size_t)length, &bytes))
        tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &bytes);
    return true;
}

/* Fields of pprof's Profile that begin a file. */
struct pprof_sniffed {
    unsigned seen, count;
};

/* Take a field. Return false when it is not one of pprof's. */
static bool pprof_sniff_field(struct pprof_sniffed *fields, struct tv_cursor *cursor, uint64_t tag)
{
    uint64_t value;
    struct tv_bytes bytes;
    if (!pprof_is_field(tag))
        return pprof_skip_later_field(cursor, tag);
    if (!tv_cursor_take_uleb(cursor, &value))
        return true;
    bool packed = (tag & 7) == TV_PROTOBUF_BYTES;
    if (packed && tag >> 3 == 1 && value > PPROF_VALUE_TYPE)
        return false;
    fields->seen |= 1u << (tag >> 3);
    fields->count++;
    if (packed &&
        !tv_cursor_take_bytes(cursor, value > SIZE_MAX ? SIZE_MAX : (size_t)value, &bytes))
        tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &bytes);
    return true;
}

/* Return true when every field is one of pprof's Profile or a later one, and there are samples,
 * locations or functions: two kinds of them, because one may be chance (text may begin with a
 * quote). A long list of samples may fill the prefix. */
static bool pprof_is_prefix(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct pprof_sniffed fields = {0, 0};
    uint64_t tag;
    while (tv_cursor_take_uleb(&cursor, &tag))
        if (!pprof_sniff_field(&fields, &cursor, tag))
            return false;
    unsigned messages = fields.seen & PPROF_MESSAGES;
    return messages & (messages - 1) || (messages && fields.count > PPROF_SURE);
}

/* A file has no magic number, but its first fields are not chance. */
static int pprof_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return pprof_is_prefix(prefix) ? 90 : 0;
}

const struct tv_reader tv_reader_pprof = {
    .name = "pprof",
    .summary = "pprof profiles (profile.proto), of Go and many other profilers",
    .sniff = pprof_sniff,
    .assemble = pprof_assemble,
    .format = TV_SAMPLE_LABELS_FORMAT,
    .describe = tv_sample_labels_describe,
};

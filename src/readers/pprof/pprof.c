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
 *     1 sample_type {1 type "cpu", 2 unit "nanoseconds"}                          --> value type
 *     2 sample {1 locations [7, 3], 2 values [20000000], 3 label {1 "thread", 2 "main"}}
 *     4 location {1 id 7, 2 mapping 1, 3 address, 4 line {1 function 5, 2 line 12}}
 *     5 function {1 id 5, 2 name "parse", 4 file name}
 *     6 string, in the order of their numbers; all texts above are numbers of strings
 *
 * profile_tables.h has the tables, and what makes frames and paths of the locations.  When only
 * sums are wanted, several threads add up the samples of a part of the file each (sample_scan.h).
 *
 * Labels decide the thread, and, if every sample has an end_timestamp_ns, the time. Otherwise the
 * axis is the weight. A message that is cut gives all fields before the cut; a sample that is
 * damaged itself counts with what could be read. proto/profile.proto of google/pprof is the
 * specification.
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/protobuf.h"
#include "base/workers.h"
#include "readers/pprof/profile_tables.h"
#include "readers/pprof/sample_labels.h"
#include "readers/pprof/sample_scan.h"
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

struct pprof_header {
    uint64_t drop_frames, keep_frames, doc_url, default_type; /* strings of the file */
    int64_t time_ns, duration_ns, period;
    struct pprof_value_type period_type;
};

/* A stack as in the file, packed locations, and its step. */
struct pprof_known_stack {
    struct tv_bytes locations;
    uint32_t step;
};

/* Stacks of earlier samples.  Many samples have the same stack: comparing its bytes is faster than
 * looking up a step for each location. */
struct pprof_known_stacks {
    struct tv_map places; /* hash of the locations -> row */
    struct pprof_known_stack *rows;
    size_t count, capacity;
};

struct pprof {
    struct tv_profile_input profile;
    struct tv_profile_text text;
    struct pprof_header header;
    struct pprof_value_type *types; /* in the order of the values */
    uint64_t *comments;
    size_t type_count, type_capacity, comment_count, comment_capacity;
    struct tv_profile_tables tables;
    struct tv_sample_labels labels;
    struct pprof_known_stacks stacks;
    uint32_t *stack; /* locations of the current sample, leaf first */
    int64_t *values; /* of the current sample, one per type */
    size_t stack_capacity;
    uint32_t *value_types;       /* of the trace */
    struct tv_pprof_scan *scans; /* of the parts of the file, in order */
    unsigned part_count;
    struct tv_pprof_scan_tables scan_tables;
    uint64_t sample_count;
};

static uint64_t pprof_offset(const struct pprof *pprof, const uint8_t *at)
{
    return (uint64_t)(at - pprof->text.bytes.data);
}

/* ---- The tables ---- */

static struct pprof_value_type pprof_take_value_type(struct pprof *pprof, struct tv_bytes message)
{
    uint64_t fields[3];
    tv_profile_tables_check(&pprof->tables, tv_profile_take_numbers(message, fields, 3), message);
    return (struct pprof_value_type){fields[1], fields[2]};
}

static void pprof_take_type(struct pprof *pprof, struct tv_bytes message)
{
    pprof->types = tv_array_reserve(pprof->types, &pprof->type_capacity, pprof->type_count + 1,
                                    sizeof *pprof->types);
    pprof->types[pprof->type_count++] = pprof_take_value_type(pprof, message);
}

static void pprof_take_comment(struct pprof *pprof, uint64_t string)
{
    if (pprof->comment_count == LISTED_COMMENTS)
        return;
    pprof->comments = tv_array_reserve(pprof->comments, &pprof->comment_capacity,
                                       pprof->comment_count + 1, sizeof *pprof->comments);
    pprof->comments[pprof->comment_count++] = string;
}

/* Note a number of the header.  Some are numbers of strings that may follow later in the file, so
 * none is looked up here. */
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
        tv_profile_tables_add_mapping(&pprof->tables, field->bytes);
        break;
    case PROFILE_LOCATION:
        tv_profile_tables_add_location(&pprof->tables, field->bytes);
        break;
    case PROFILE_FUNCTION:
        tv_profile_tables_add_function(&pprof->tables, field->bytes);
        break;
    case PROFILE_STRING:
        tv_profile_tables_add_string(&pprof->tables, field->bytes);
        break;
    case PROFILE_PERIOD_TYPE:
        pprof->header.period_type = pprof_take_value_type(pprof, field->bytes);
        break;
    default:
        break;
    }
}

/* Let part number `part` begin at a field, and the one before it end there. */
static void pprof_begin_part(struct pprof *pprof, unsigned part, const uint8_t *at)
{
    struct tv_pprof_scan *scans = pprof->scans;
    const uint8_t *end = pprof->text.bytes.data + pprof->text.bytes.length;
    assert(part < pprof->part_count);
    if (part > 0)
        scans[part - 1].part.length = (size_t)(at - scans[part - 1].part.data);
    scans[part].part = (struct tv_bytes){at, (size_t)(end - at)};
}

/* Read everything but the samples, and find where the parts of the file begin. Fields of an unknown
 * number or wire type are skipped, as protobuf demands. */
static void pprof_read_tables(struct pprof *pprof)
{
    struct tv_cursor cursor = tv_cursor_over(pprof->text.bytes);
    struct tv_protobuf_field field;
    uint64_t number;
    size_t share = pprof->text.bytes.length / pprof->part_count;
    unsigned part = 1;
    pprof_begin_part(pprof, 0, pprof->text.bytes.data);
    while (tv_protobuf_next(&cursor, &field)) {
        if (part < pprof->part_count && tv_cursor_position(&cursor) >= part * share)
            pprof_begin_part(pprof, part++, cursor.at);
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
    pprof->part_count = part;
    if (!tv_protobuf_is_sound(&cursor))
        tv_profile_warn(&pprof->profile, TV_DIAGNOSTIC_TRUNCATED, tv_cursor_position(&cursor));
}

/* ---- Header ---- */

static bool pprof_is_same_type(struct pprof *pprof, struct pprof_value_type a,
                               struct pprof_value_type b)
{
    return tv_bytes_equal(tv_profile_tables_text(&pprof->tables, a.name),
                          tv_profile_tables_text(&pprof->tables, b.name)) &&
           tv_bytes_equal(tv_profile_tables_text(&pprof->tables, a.unit),
                          tv_profile_tables_text(&pprof->tables, b.unit));
}

/* Return the type that is shown first: the default type if there is one with this name, else the
 * last. */
static size_t pprof_find_preferred(struct pprof *pprof)
{
    struct tv_bytes name = tv_profile_tables_text(&pprof->tables, pprof->header.default_type);
    for (size_t i = 0; name.length > 0 && i < pprof->type_count; i++)
        if (tv_bytes_equal(tv_profile_tables_text(&pprof->tables, pprof->types[i].name), name))
            return i;
    return pprof->type_count - 1;
}

/* Add the value types of the profile.  The period is the sampling interval of the type that it
 * names, and of no other; only nanoseconds are an interval of time. */
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
        uint32_t number =
            tv_profile_value_type(profile, tv_profile_tables_text(&pprof->tables, type.name),
                                  tv_profile_tables_text(&pprof->tables, type.unit));
        struct tv_value_type *added = &profile->trace->tables.value_types.rows[number];
        pprof->value_types[i] = number;
        if (pprof->header.period > 0 &&
            pprof_is_same_type(pprof, type, pprof->header.period_type) &&
            tv_bytes_equal(tv_profile_tables_text(&pprof->tables, type.unit),
                           TV_BYTES("nanoseconds")))
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
    tv_out_bytes(&text, tv_profile_tables_text(&pprof->tables, pprof->header.period_type.name));
    tv_out_char(&text, '/');
    tv_out_bytes(&text, tv_profile_tables_text(&pprof->tables, pprof->header.period_type.unit));
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
                   tv_profile_tables_text(&pprof->tables, header->default_type));
    pprof_add_text(pprof, TV_BYTES("drop_frames"),
                   tv_profile_tables_text(&pprof->tables, header->drop_frames));
    pprof_add_text(pprof, TV_BYTES("keep_frames"),
                   tv_profile_tables_text(&pprof->tables, header->keep_frames));
    pprof_add_text(pprof, TV_BYTES("documentation"),
                   tv_profile_tables_text(&pprof->tables, header->doc_url));
    for (size_t i = 0; i < pprof->comment_count; i++)
        pprof_add_text(pprof, TV_BYTES("comment"),
                       tv_profile_tables_text(&pprof->tables, pprof->comments[i]));
    tv_address_map_list(&pprof->tables.mappings, &pprof->profile);
}

/* ---- Samples ---- */

/* A sample while it is read. */
struct pprof_sample {
    struct tv_protobuf_field packed; /* the locations if one field has all of them, else no bytes */
    size_t depth;                    /* locations in pprof->stack; 0 while `packed` has them */
    size_t value_count;              /* also those beyond the value types */
    bool damaged;
    bool unknown; /* the file lacks one of its locations */
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
        uint32_t location = tv_profile_tables_location(&pprof->tables, id, field->bytes.data);
        sample->unknown |= location == TV_NONE;
        pprof->stack[sample->depth++] = location;
    }
    sample->damaged |= !tv_protobuf_is_sound(&list);
}

/* Take locations.  Those of the first packed field stay packed, for pprof_find_step. */
static void pprof_take_locations(struct pprof *pprof, const struct tv_protobuf_field *field,
                                 struct pprof_sample *sample)
{
    struct tv_protobuf_field before = sample->packed;
    if (field->wire == TV_PROTOBUF_BYTES && before.bytes.length == 0 && sample->depth == 0) {
        sample->packed = *field;
        return;
    }
    sample->packed.bytes.length = 0;
    if (before.bytes.length > 0)
        pprof_take_stack(pprof, &before, sample);
    pprof_take_stack(pprof, field, sample);
}

/* Take values, which are one packed field or a field each. */
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

/* Take a sample apart.  A sample that is damaged keeps what came before the damage, and says so. */
static void pprof_parse_sample(struct pprof *pprof, struct tv_bytes message,
                               struct pprof_sample *sample)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    *sample = (struct pprof_sample){.depth = 0};
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == 1)
            pprof_take_locations(pprof, &field, sample);
        else if (field.number == 2)
            pprof_take_values(pprof, &field, sample);
        else if (field.number == 3 && field.wire == TV_PROTOBUF_BYTES)
            tv_sample_labels_take(&pprof->labels, field.bytes);
    }
    sample->damaged |= !tv_protobuf_is_sound(&cursor);
}

static uint32_t pprof_make_step(struct pprof *pprof, const struct pprof_sample *sample)
{
    uint32_t step = 0;
    for (size_t i = sample->depth; i-- > 0;)
        step = tv_profile_tables_step(&pprof->tables, step, pprof->stack[i]);
    return step;
}

/* Return the step of a sample's stack.  A stack that cannot be read, or has a location that the
 * file lacks, is read again for each sample, so that each sample counts in the diagnostics. */
static uint32_t pprof_find_step(struct pprof *pprof, struct pprof_sample *sample)
{
    struct pprof_known_stacks *stacks = &pprof->stacks;
    struct tv_bytes locations = sample->packed.bytes;
    if (locations.length == 0)
        return pprof_make_step(pprof, sample);
    uint64_t hash = tv_hash_bytes(locations);
    uint32_t row = tv_map_find(&stacks->places, hash);
    if (row != TV_NONE && tv_bytes_equal(stacks->rows[row].locations, locations))
        return stacks->rows[row].step;
    struct pprof_sample stack = {.depth = 0};
    pprof_take_stack(pprof, &sample->packed, &stack);
    sample->damaged |= stack.damaged;
    uint32_t step = pprof_make_step(pprof, &stack);
    if (row != TV_NONE || stack.damaged || stack.unknown || stacks->count >= TV_NONE - 1)
        return step;
    stacks->rows =
        tv_array_reserve(stacks->rows, &stacks->capacity, stacks->count + 1, sizeof *stacks->rows);
    stacks->rows[stacks->count] = (struct pprof_known_stack){locations, step};
    tv_map_set(&stacks->places, hash, (uint32_t)stacks->count++);
    return step;
}

/* Add a sample for each value that is not 0.  Return the step of its stack. */
static uint32_t pprof_add_sample(struct pprof *pprof, struct tv_bytes message)
{
    struct tv_profile_input *profile = &pprof->profile;
    struct pprof_sample parsed;
    uint64_t offset = pprof_offset(pprof, message.data);
    tv_sample_labels_begin(&pprof->labels);
    pprof_parse_sample(pprof, message, &parsed);
    uint32_t step = pprof_find_step(pprof, &parsed);
    tv_profile_tables_check(&pprof->tables, !parsed.damaged, message);
    if (parsed.value_count != pprof->type_count)
        tv_profile_warn(profile, TV_DIAGNOSTIC_VALUE_COUNT, offset);
    struct tv_sample sample = {
        .time = pprof->labels.end_time,
        .offset = offset,
        .thread = tv_sample_labels_thread(&pprof->labels, profile),
        .cpu = TV_NONE,
    };
    struct tv_profile_step stack = pprof->tables.steps[step];
    profile->info->inputs[profile->input].samples++;
    for (size_t i = 0; i < pprof->type_count && i < parsed.value_count; i++) {
        if (pprof->values[i] == 0)
            continue;
        sample.type = pprof->value_types[i];
        sample.weight = pprof->values[i];
        tv_profile_add_sample_at(profile, sample, stack.path, stack.line_path);
    }
    pprof->sample_count++;
    return step;
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

/* Number of samples between two checks for cancellation. */
#define SAMPLES_A_CHECK 4096

/* Add all samples one by one. */
static enum tv_status pprof_add_samples(struct pprof *pprof, struct tv_progress *progress,
                                        struct tv_error *err)
{
    struct tv_cursor cursor = tv_cursor_over(pprof->text.bytes);
    struct tv_protobuf_field field;
    enum tv_status status = TV_OK;
    size_t before = 0;
    while (status == TV_OK && tv_protobuf_next(&cursor, &field)) {
        if (field.number != PROFILE_SAMPLE || field.wire != TV_PROTOBUF_BYTES)
            continue;
        pprof_add_sample(pprof, field.bytes);
        if (pprof->sample_count % SAMPLES_A_CHECK == 0) {
            size_t at = tv_cursor_position(&cursor);
            status = tv_reader_add_progress(progress, at - before, err);
            before = at;
        }
    }
    return status;
}

/* ---- Sums of samples ---- */

/* Smaller parts are not worth a thread. */
#define PPROF_MIN_PART ((size_t)1 << 20)
#define PPROF_MAX_PARTS 64

/* Return the number of parts that are scanned at the same time. */
static unsigned pprof_count_parts(const struct tv_read_options *options, size_t size)
{
    unsigned parts = options->parts ? options->parts : tv_workers_available();
    if (!options->parts && size / PPROF_MIN_PART + 1 < parts)
        parts = (unsigned)(size / PPROF_MIN_PART) + 1;
    return parts < PPROF_MAX_PARTS ? parts : PPROF_MAX_PARTS;
}

static void pprof_scan_job(void *context, unsigned index)
{
    struct pprof *pprof = context;
    tv_pprof_scan_part(&pprof->scans[index], &pprof->scan_tables);
}

/* Add the sums of a stack to those of the trace. */
static void pprof_add_sums(struct pprof *pprof, const struct tv_pprof_scan *scan, size_t stack,
                           uint32_t step)
{
    struct tv_profile_input *profile = &pprof->profile;
    struct tv_sample_sums *to = &profile->trace->tables.sample_sums;
    const struct tv_pprof_sum *sums = scan->sums + stack * pprof->type_count;
    struct tv_profile_step at = pprof->tables.steps[step];
    for (size_t i = 0; i < pprof->type_count; i++)
        if (sums[i].samples > 0 || sums[i].weight != 0)
            tv_sample_sums_add(to, to->detail == TV_SAMPLES_BY_LINES ? at.line_path : at.path,
                               pprof->value_types[i], sums[i].samples, sums[i].weight);
    profile->info->inputs[profile->input].samples += scan->stacks[stack].samples;
    pprof->sample_count += scan->stacks[stack].samples;
}

/* Add what a scan left, and with the first sample of each stack the sums of all others. */
static void pprof_add_scan(struct pprof *pprof, const struct tv_pprof_scan *scan)
{
    struct tv_protobuf_field field;
    size_t next = 0;
    for (size_t i = 0; i < scan->left.count; i++) {
        struct tv_pprof_range range = scan->left.rows[i];
        struct tv_cursor cursor =
            tv_cursor_over((struct tv_bytes){range.begin, (size_t)(range.end - range.begin)});
        while (tv_protobuf_next(&cursor, &field)) {
            uint32_t step = pprof_add_sample(pprof, field.bytes);
            if (next < scan->stack_count && scan->stacks[next].locations.data < cursor.at)
                pprof_add_sums(pprof, scan, next++, step);
        }
    }
    assert(next == scan->stack_count);
}

/* Scan the parts of the file at the same time, and add them to the trace in order. */
static enum tv_status pprof_sum_samples(struct pprof *pprof, struct tv_progress *progress,
                                        struct tv_error *err)
{
    enum tv_status status = TV_OK;
    pprof->scan_tables = (struct tv_pprof_scan_tables){
        .locations = &pprof->tables.location_ids,
        .labels = &pprof->labels,
        .trace_types = pprof->profile.trace->tables.value_types.rows,
        .types = pprof->value_types,
        .type_count = pprof->type_count,
        .progress = progress,
    };
    tv_workers_run(pprof->part_count, pprof_scan_job, pprof);
    for (unsigned i = 0; i < pprof->part_count; i++) {
        struct tv_pprof_scan *scan = &pprof->scans[i];
        if (status == TV_OK && scan->status != TV_OK)
            *err = scan->err;
        if (status == TV_OK)
            status = scan->status;
        if (status == TV_OK)
            pprof_add_scan(pprof, scan);
        tv_pprof_scan_release(scan);
    }
    return status;
}

static enum tv_status pprof_read_samples(struct pprof *pprof, struct tv_progress *progress,
                                         struct tv_error *err)
{
    bool sums = pprof->profile.trace->tables.sample_sums.detail != TV_SAMPLES_SINGLE;
    enum tv_status status = sums && pprof->type_count > 0 ? pprof_sum_samples(pprof, progress, err)
                                                          : pprof_add_samples(pprof, progress, err);
    tv_tables_count_events(&pprof->profile.trace->tables, pprof->profile.input,
                           tv_profile_string(&pprof->profile, TV_BYTES("sample")),
                           pprof->sample_count);
    return status;
}

/* ---- The file ---- */

static void pprof_release(struct pprof *pprof)
{
    tv_free(pprof->types);
    tv_free(pprof->comments);
    tv_free(pprof->stack);
    tv_free(pprof->stacks.rows);
    tv_map_release(&pprof->stacks.places);
    tv_free(pprof->values);
    tv_free(pprof->value_types);
    tv_free(pprof->scans);
    tv_profile_tables_release(&pprof->tables);
    tv_sample_labels_release(&pprof->labels);
    tv_profile_text_release(&pprof->text);
    tv_free(pprof);
}

/* Read a profile in two passes over its top level: tables, then samples, which need all of them. */
static enum tv_status pprof_assemble(struct tv_source *source, struct tv_builder *builder,
                                     const struct tv_read_options *options, struct tv_error *err)
{
    struct pprof *pprof = tv_alloc(1, sizeof *pprof);
    enum tv_status status = tv_profile_text_read(source, &pprof->text, err);
    if (status != TV_OK) {
        tv_free(pprof);
        return status;
    }
    tv_profile_input_begin(&pprof->profile, source, builder, TV_SAMPLE_LABELS_FORMAT);
    struct tv_input *input = &pprof->profile.info->inputs[pprof->profile.input];
    input->describe = tv_sample_labels_describe;
    tv_map_init(&pprof->stacks.places);
    tv_profile_tables_init(&pprof->tables, &pprof->profile, pprof->text.bytes.data, false);
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, pprof->text.bytes.length,
                                  memory_order_relaxed);
    pprof->part_count = pprof_count_parts(options, pprof->text.bytes.length);
    pprof->scans = tv_alloc(pprof->part_count, sizeof *pprof->scans);
    pprof_read_tables(pprof);
    tv_profile_tables_resolve(&pprof->tables);
    pprof_add_value_types(pprof);
    pprof_add_header(pprof);
    tv_sample_labels_init(&pprof->labels, pprof->tables.strings, pprof->tables.string_count);
    pprof->profile.info->inputs[pprof->profile.input].weight_axis = !pprof_is_timed(pprof);
    status = pprof_read_samples(pprof, options->progress, err);
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
#define PPROF_EMPTY (1u << 1 | 1u << 6)              /* value types, strings */
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
    bool begins_empty; /* the first string, as pprof demands */
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
    if (tag >> 3 == 6 && !(fields->seen & 1u << 6))
        fields->begins_empty = packed && value == 0;
    fields->seen |= 1u << (tag >> 3);
    fields->count++;
    if (packed &&
        !tv_cursor_take_bytes(cursor, value > SIZE_MAX ? SIZE_MAX : (size_t)value, &bytes))
        tv_cursor_take_bytes(cursor, tv_cursor_left(cursor), &bytes);
    return true;
}

/* Return true when every field is one of pprof's Profile or a later one, and there are samples,
 * locations or functions: two kinds of them, because one may be chance (text may begin with a
 * quote). A long list of samples may fill the prefix. A profile without samples, as Go writes when
 * no lock was contended, or whose samples have no frames, has value types, and strings of which the
 * first is empty. */
static bool pprof_is_prefix(struct tv_bytes prefix)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct pprof_sniffed fields = {0, 0, false};
    uint64_t tag;
    while (tv_cursor_take_uleb(&cursor, &tag))
        if (!pprof_sniff_field(&fields, &cursor, tag))
            return false;
    unsigned messages = fields.seen & PPROF_MESSAGES;
    if ((fields.seen & PPROF_EMPTY) == PPROF_EMPTY && fields.begins_empty)
        return true;
    return messages != 0 && ((messages & (messages - 1)) != 0 || fields.count > PPROF_SURE);
}

/* A file has no magic number, but its first fields are not chance. */
static int pprof_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return pprof_is_prefix(prefix) ? 90 : 0;
}

const struct tv_reader tv_reader_pprof = {
    .name = "pprof",
    .sniff = pprof_sniff,
    .assemble = pprof_assemble,
    .refuses_empty = true,
    .format = TV_SAMPLE_LABELS_FORMAT,
    .describe = tv_sample_labels_describe,
};

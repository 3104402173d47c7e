/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.c - reader of OpenTelemetry profiles.
 *
 * messages.h has the messages.  A request is read in three steps:
 *
 *     dictionary   its tables; strings, mappings, locations and functions are those of pprof
 *     survey       which version the samples have, and whether all of them have times
 *     samples      stack, thread and values of each
 *
 *     resource_profiles --> process (attributes process.pid, service.name)
 *       scope_profiles --> metadata
 *         profile --> value type, period
 *           sample: stack 3, values [10], times [t] --> sample of weight 10 at t
 *
 * A stack becomes a path once, when the first sample has it. Entry 0 of each table means "none".
 * The survey comes before all requests, because the axis (time or weight) is that of the input.
 *
 * A file that is cut gives every sample before the cut, with a diagnostic. References outside of
 * their tables are diagnosed, and treated as 0.
 */
#include "readers/readers.h"

#include <string.h>

#include "base/memory.h"
#include "base/protobuf.h"
#include "readers/otlp/messages.h"
#include "readers/pprof/profile_tables.h"
#include "readers/pprof/sample_labels.h"

#define OTLP_FORMAT "OpenTelemetry profiles"

/* The role of an attribute for the thread of a sample, and its text if there is any. */
struct otlp_role {
    enum tv_label_role role;
    struct tv_bytes text;
    uint64_t number;
};

struct otlp {
    struct tv_profile_input profile;
    struct tv_otlp_file file;
    struct tv_sample_labels labels;
    uint64_t samples;
    struct tv_otlp_origin origin; /* of the current sample */
    /* The current request: */
    struct tv_profile_tables tables;
    struct tv_otlp_sample_fields fields;
    struct otlp_role *roles; /* of the attributes */
    struct tv_bytes *stacks; /* messages, until their first use */
    uint32_t *stack_steps;   /* TV_NONE: not yet */
    size_t role_count, role_capacity, stack_count, stack_capacity;
    /* The current profile and sample: */
    const uint8_t *profile_message; /* begin of the message: names it */
    uint32_t type;
    int64_t *values; /* of the sample, as many as times if it has both */
    tv_ns *times;
    size_t value_count, value_capacity, time_count, time_capacity;
    uint32_t *locations;
    size_t location_capacity;
};

/* Return where a diagnostic is: nowhere in JSON, whose offsets are lost. */
static uint64_t otlp_place(const struct otlp *otlp, const uint8_t *at)
{
    return otlp->file.json ? TV_NO_OFFSET : (uint64_t)(at - otlp->file.bytes.data);
}

static void otlp_warn(struct otlp *otlp, enum tv_diagnostic_kind kind, const uint8_t *at)
{
    tv_profile_warn(&otlp->profile, kind, otlp_place(otlp, at));
}

/* ---- Dictionary ---- */

static void otlp_take_attribute(struct otlp *otlp, struct tv_bytes message)
{
    otlp->roles = tv_array_reserve(otlp->roles, &otlp->role_capacity, otlp->role_count + 1,
                                   sizeof *otlp->roles);
    /* The key is looked up when all strings are known. */
    otlp->roles[otlp->role_count++] = (struct otlp_role){.text = message};
}

static void otlp_take_stack(struct otlp *otlp, struct tv_bytes message)
{
    otlp->stacks = tv_array_reserve(otlp->stacks, &otlp->stack_capacity, otlp->stack_count + 1,
                                    sizeof *otlp->stacks);
    otlp->stacks[otlp->stack_count++] = message;
}

static void otlp_take_entry(struct otlp *otlp, uint32_t table, struct tv_bytes entry)
{
    switch (table) {
    case OTLP_DICTIONARY_MAPPING:
        tv_profile_tables_add_mapping(&otlp->tables, entry);
        break;
    case OTLP_DICTIONARY_LOCATION:
        tv_profile_tables_add_location(&otlp->tables, entry);
        break;
    case OTLP_DICTIONARY_FUNCTION:
        tv_profile_tables_add_function(&otlp->tables, entry);
        break;
    case OTLP_DICTIONARY_STRING:
        tv_profile_tables_add_string(&otlp->tables, entry);
        break;
    case OTLP_DICTIONARY_ATTRIBUTE:
        otlp_take_attribute(otlp, entry);
        break;
    case OTLP_DICTIONARY_STACK:
        otlp_take_stack(otlp, entry);
        break;
    default:
        break;
    }
}

/* Find out what each attribute says about a thread; the message in `text` becomes the value. */
static void otlp_resolve_roles(struct otlp *otlp)
{
    for (size_t i = 1; i < otlp->role_count; i++) {
        struct otlp_role *role = &otlp->roles[i];
        struct tv_otlp_attribute attribute = tv_otlp_parse_attribute(role->text);
        struct tv_bytes key = attribute.name.length > 0
                                  ? attribute.name
                                  : tv_profile_tables_text(&otlp->tables, attribute.key);
        role->role = tv_label_find_role(key);
        role->text = tv_otlp_parse_value(attribute.value, &role->number);
    }
}

/* Read the tables of a request; they end with it. Mappings are listed as metadata of the first
 * request only: the requests of a file are of one program. */
static void otlp_read_dictionary(struct otlp *otlp, struct tv_bytes request)
{
    struct tv_cursor cursor = tv_cursor_over(request);
    struct tv_protobuf_field field, entry;
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number != OTLP_REQUEST_DICTIONARY || field.wire != TV_PROTOBUF_BYTES)
            continue;
        struct tv_cursor inside = tv_cursor_over(field.bytes);
        while (tv_otlp_next(&inside, &entry))
            if (entry.wire == TV_PROTOBUF_BYTES)
                otlp_take_entry(otlp, entry.number, entry.bytes);
        if (!tv_protobuf_is_sound(&inside))
            otlp_warn(otlp, TV_DIAGNOSTIC_TRUNCATED, inside.at);
    }
    tv_profile_tables_resolve(&otlp->tables);
    otlp_resolve_roles(otlp);
    otlp->stack_steps = tv_alloc(otlp->stack_count, sizeof *otlp->stack_steps);
    memset(otlp->stack_steps, 0xff, otlp->stack_count * sizeof *otlp->stack_steps);
    struct tv_address_map mappings = otlp->tables.mappings;
    if (request.data == otlp->file.bytes.data && mappings.count > 1) {
        mappings.files++; /* entry 0 says nothing */
        mappings.count--;
        tv_address_map_list(&mappings, &otlp->profile);
    }
}

static void otlp_release_dictionary(struct otlp *otlp)
{
    tv_profile_tables_release(&otlp->tables);
    tv_free(otlp->roles);
    tv_free(otlp->stacks);
    tv_free(otlp->stack_steps);
    otlp->roles = NULL;
    otlp->stacks = NULL;
    otlp->stack_steps = NULL;
    otlp->role_count = otlp->role_capacity = otlp->stack_count = otlp->stack_capacity = 0;
}

/* ---- Survey ---- */

/* Return whether a profile has the fields of the versions before the table of stacks: its third one
 * was a list of locations, and is the time now. */
static bool otlp_is_old(struct tv_bytes profile)
{
    struct tv_cursor cursor = tv_cursor_over(profile);
    struct tv_protobuf_field field;
    while (tv_otlp_next(&cursor, &field))
        if (field.number == OTLP_PROFILE_TIME)
            return field.wire == TV_PROTOBUF_BYTES;
    return false;
}

static bool otlp_is_timed_sample(struct tv_bytes sample)
{
    struct tv_cursor cursor = tv_cursor_over(sample);
    struct tv_protobuf_field field;
    while (tv_protobuf_next(&cursor, &field))
        if (field.number == OTLP_SAMPLE_TIMES)
            return field.wire == TV_PROTOBUF_FIXED64 || field.bytes.length > 0;
    return false;
}

/* Find out whether all samples have times.  Fail for versions that are not read. */
static enum tv_status otlp_survey(struct otlp *otlp, bool *timed, struct tv_error *err)
{
    struct tv_otlp_walk walk;
    const uint8_t *profile = NULL;
    *timed = true;
    for (size_t i = 0; i < otlp->file.count; i++) {
        tv_otlp_walk_begin(&walk, otlp->file.requests[i], OTLP_LEVEL_SAMPLE);
        while (tv_otlp_walk_next(&walk)) {
            struct tv_bytes outer = walk.messages[OTLP_LEVEL_PROFILE];
            if (outer.data != profile && otlp_is_old(outer))
                return tv_fail(err, TV_ERR_UNSUPPORTED, otlp_place(otlp, outer.data),
                               "expected OpenTelemetry profiles with a table of stacks "
                               "(opentelemetry-proto 1.8 or later), found older ones");
            profile = outer.data;
            *timed = *timed && otlp_is_timed_sample(walk.messages[OTLP_LEVEL_SAMPLE]);
        }
    }
    return TV_OK;
}

/* ---- Profiles ---- */

/* The numbers of a profile. */
struct otlp_profile {
    struct tv_bytes type, period_type; /* messages */
    uint64_t time, duration, period;
};

/* Return the fields of a profile that describe its samples.  Of a field that comes twice the last
 * counts, as in all of protobuf. */
static struct otlp_profile otlp_parse_profile(struct tv_bytes message)
{
    struct otlp_profile parsed = {.time = 0};
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    while (tv_otlp_next(&cursor, &field)) {
        if (field.number == OTLP_PROFILE_SAMPLE_TYPE)
            parsed.type = field.bytes;
        else if (field.number == OTLP_PROFILE_PERIOD_TYPE)
            parsed.period_type = field.bytes;
        else if (field.number == OTLP_PROFILE_TIME)
            parsed.time = field.value;
        else if (field.number == OTLP_PROFILE_DURATION)
            parsed.duration = field.value;
        else if (field.number == OTLP_PROFILE_PERIOD)
            parsed.period = field.value;
    }
    return parsed;
}

/* Let the input begin with its first profile and end with its last. */
static void otlp_add_times(struct otlp *otlp, const struct otlp_profile *parsed)
{
    struct tv_input *input = &otlp->profile.info->inputs[otlp->profile.input];
    if (parsed->time == 0 || parsed->time > INT64_MAX)
        return;
    int64_t start_us = (int64_t)(parsed->time / 1000);
    uint64_t duration = parsed->duration > INT64_MAX ? INT64_MAX : parsed->duration;
    if (input->recorded_us == 0 || start_us < input->recorded_us)
        input->recorded_us = start_us;
    if (duration > 0 && (int64_t)duration > input->elapsed_ns)
        input->elapsed_ns = (int64_t)duration;
}

/* List the period as metadata. If it is of the value type itself, in nanoseconds, it is the
 * sampling interval. */
static void otlp_add_period(struct otlp *otlp, const struct otlp_profile *parsed,
                            const uint64_t *type)
{
    uint64_t period_type[3];
    struct tv_out text;
    tv_profile_take_numbers(parsed->period_type, period_type, 3);
    struct tv_bytes name = tv_profile_tables_text(&otlp->tables, period_type[1]);
    struct tv_bytes unit = tv_profile_tables_text(&otlp->tables, period_type[2]);
    tv_out_init_memory(&text);
    tv_out_i64(&text, (int64_t)parsed->period);
    tv_out_char(&text, ' ');
    tv_out_bytes(&text, unit);
    tv_out_text(&text, name.length > 0 ? " of " : "");
    tv_out_bytes(&text, name);
    tv_otlp_add_metadata(&otlp->origin, TV_BYTES("period"),
                         (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    if (period_type[1] == type[1] && period_type[2] == type[2] &&
        tv_bytes_equal(unit, TV_BYTES("nanoseconds")) && parsed->period <= INT64_MAX)
        otlp->profile.trace->tables.value_types.rows[otlp->type].interval = (tv_ns)parsed->period;
}

static void otlp_begin_profile(struct otlp *otlp, struct tv_bytes message)
{
    struct otlp_profile parsed = otlp_parse_profile(message);
    uint64_t type[3];
    otlp->profile_message = message.data;
    tv_profile_tables_check(&otlp->tables, tv_profile_take_numbers(parsed.type, type, 3), message);
    struct tv_bytes name = tv_profile_tables_text(&otlp->tables, type[1]);
    struct tv_bytes unit = tv_profile_tables_text(&otlp->tables, type[2]);
    otlp->type = tv_profile_value_type(&otlp->profile, name.length > 0 ? name : TV_BYTES("samples"),
                                       unit.length > 0 ? unit : TV_BYTES("count"));
    otlp_add_times(otlp, &parsed);
    if (parsed.period > 0)
        otlp_add_period(otlp, &parsed, type);
}

/* ---- Samples ---- */

/* Return the step of a stack, whose locations are leaf first. */
static uint32_t otlp_find_stack(struct otlp *otlp, uint64_t index, const uint8_t *at)
{
    if (index == 0 || index >= otlp->stack_count) {
        if (index > 0)
            otlp_warn(otlp, TV_DIAGNOSTIC_BAD_REFERENCE, at);
        return 0;
    }
    if (otlp->stack_steps[index] != TV_NONE)
        return otlp->stack_steps[index];
    struct tv_cursor cursor = tv_cursor_over(otlp->stacks[index]);
    struct tv_protobuf_field field;
    size_t depth = 0;
    uint32_t step = 0;
    uint64_t id;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number != OTLP_STACK_LOCATIONS)
            continue;
        struct tv_cursor list = tv_protobuf_numbers(&field);
        /* A number has a byte at least. */
        otlp->locations = tv_array_reserve(otlp->locations, &otlp->location_capacity,
                                           depth + field.bytes.length + 1, sizeof *otlp->locations);
        while (tv_protobuf_next_number(&list, &field, &id))
            otlp->locations[depth++] =
                tv_profile_tables_location(&otlp->tables, id, otlp->stacks[index].data);
        tv_profile_tables_check(&otlp->tables, tv_protobuf_is_sound(&list), otlp->stacks[index]);
    }
    while (depth-- > 0)
        step = tv_profile_tables_step(&otlp->tables, step, otlp->locations[depth]);
    otlp->stack_steps[index] = step;
    return step;
}

static void otlp_take_attributes(struct otlp *otlp, const struct tv_protobuf_field *field)
{
    struct tv_cursor list = tv_protobuf_numbers(field);
    uint64_t index;
    while (tv_protobuf_next_number(&list, field, &index)) {
        if (index >= otlp->role_count)
            otlp_warn(otlp, TV_DIAGNOSTIC_BAD_REFERENCE, field->bytes.data);
        else
            tv_sample_labels_set(&otlp->labels, otlp->roles[index].role, otlp->roles[index].text,
                                 otlp->roles[index].number);
    }
}

/* A list of numbers is one field (packed) or one field a number; both kinds append. */
static void otlp_take_values(struct otlp *otlp, const struct tv_protobuf_field *field)
{
    struct tv_cursor list = tv_protobuf_numbers(field);
    uint64_t value;
    otlp->values =
        tv_array_reserve(otlp->values, &otlp->value_capacity,
                         otlp->value_count + field->bytes.length + 1, sizeof *otlp->values);
    while (tv_protobuf_next_number(&list, field, &value))
        otlp->values[otlp->value_count++] = (int64_t)value;
}

/* Take a time, or a list of them: eight bytes each. */
static void otlp_take_times(struct otlp *otlp, const struct tv_protobuf_field *field)
{
    struct tv_cursor list = tv_cursor_over(field->bytes);
    uint64_t time = field->value;
    bool more = field->wire == TV_PROTOBUF_FIXED64 || tv_cursor_take_u64(&list, &time);
    otlp->times =
        tv_array_reserve(otlp->times, &otlp->time_capacity,
                         otlp->time_count + field->bytes.length / 8 + 1, sizeof *otlp->times);
    for (; more; more = tv_cursor_take_u64(&list, &time))
        otlp->times[otlp->time_count++] = time > INT64_MAX ? INT64_MAX : (tv_ns)time;
}

/* Read a sample into labels, values and times; return its stack. */
static uint64_t otlp_parse_sample(struct otlp *otlp, struct tv_bytes message)
{
    struct tv_cursor cursor = tv_cursor_over(message);
    struct tv_protobuf_field field;
    uint64_t stack = 0;
    tv_sample_labels_begin(&otlp->labels);
    otlp->labels.pid = otlp->origin.pid;
    otlp->labels.process = otlp->origin.name;
    otlp->value_count = otlp->time_count = 0;
    while (tv_protobuf_next(&cursor, &field)) {
        if (field.number == OTLP_SAMPLE_STACK)
            stack = field.value;
        else if (field.number == otlp->fields.attributes)
            otlp_take_attributes(otlp, &field);
        else if (field.number == otlp->fields.values)
            otlp_take_values(otlp, &field);
        else if (field.number == OTLP_SAMPLE_TIMES)
            otlp_take_times(otlp, &field);
    }
    tv_profile_tables_check(&otlp->tables, tv_protobuf_is_sound(&cursor), message);
    return stack;
}

/* Add a sample: one for each time, of the value beside it or of 1; without times one for each
 * value.
 */
static void otlp_add_sample(struct otlp *otlp, struct tv_bytes message)
{
    struct tv_profile_input *profile = &otlp->profile;
    uint64_t stack = otlp_parse_sample(otlp, message);
    uint32_t step = otlp_find_stack(otlp, stack, message.data);
    struct tv_profile_step place = otlp->tables.steps[step];
    struct tv_sample sample = {
        .offset = (uint64_t)(message.data - otlp->file.bytes.data),
        .thread = tv_sample_labels_thread(&otlp->labels, profile),
        .cpu = otlp->labels.cpu,
        .type = otlp->type,
    };
    if (otlp->time_count > 0 && otlp->value_count > 0 && otlp->time_count != otlp->value_count)
        otlp_warn(otlp, TV_DIAGNOSTIC_VALUE_COUNT, message.data);
    size_t count = otlp->time_count > otlp->value_count ? otlp->time_count : otlp->value_count;
    profile->info->inputs[profile->input].samples++;
    for (size_t i = 0; i < count; i++) {
        sample.weight = otlp->value_count == 0 ? 1 : i < otlp->value_count ? otlp->values[i] : 0;
        if (i < otlp->time_count)
            sample.time = otlp->times[i];
        if (sample.weight != 0)
            tv_profile_add_sample_at(profile, sample, place.path, place.line_path);
    }
}

/* Begin the messages around a sample that the sample before was not in. */
static void otlp_begin_messages(struct otlp *otlp, const struct tv_otlp_walk *walk)
{
    tv_otlp_origin_move(&otlp->origin, walk);
    if (walk->messages[OTLP_LEVEL_PROFILE].data != otlp->profile_message)
        otlp_begin_profile(otlp, walk->messages[OTLP_LEVEL_PROFILE]);
}

/* Number of samples between two checks for cancellation. */
#define SAMPLES_A_CHECK 4096

/* Add the samples of one request.  Numbers of fields are found out first
 * (tv_otlp_find_sample_fields): they differ between versions of the format. */
static enum tv_status otlp_read_samples(struct otlp *otlp, struct tv_bytes request,
                                        const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_otlp_walk walk;
    enum tv_status status = TV_OK;
    otlp->fields = tv_otlp_find_sample_fields(&otlp->file, request);
    tv_otlp_walk_begin(&walk, request, OTLP_LEVEL_SAMPLE);
    while (status == TV_OK && tv_otlp_walk_next(&walk)) {
        otlp_begin_messages(otlp, &walk);
        otlp_add_sample(otlp, walk.messages[OTLP_LEVEL_SAMPLE]);
        if (++otlp->samples % SAMPLES_A_CHECK == 0)
            status = tv_reader_check_cancel(options->progress, err);
    }
    if (walk.damage)
        otlp_warn(otlp, TV_DIAGNOSTIC_TRUNCATED, walk.damage);
    return status == TV_OK ? tv_reader_add_progress(options->progress, request.length, err)
                           : status;
}

static enum tv_status otlp_read_requests(struct otlp *otlp, const struct tv_read_options *options,
                                         struct tv_error *err)
{
    enum tv_status status = TV_OK;
    tv_sample_labels_init(&otlp->labels, NULL, 0);
    tv_otlp_origin_init(&otlp->origin, &otlp->profile);
    for (size_t i = 0; status == TV_OK && i < otlp->file.count; i++) {
        const uint8_t *start = otlp->file.json ? NULL : otlp->file.bytes.data;
        tv_profile_tables_init(&otlp->tables, &otlp->profile, start, true);
        otlp_read_dictionary(otlp, otlp->file.requests[i]);
        status = otlp_read_samples(otlp, otlp->file.requests[i], options, err);
        otlp_release_dictionary(otlp);
    }
    tv_otlp_file_warn(&otlp->file, &otlp->profile);
    tv_tables_count_events(&otlp->profile.trace->tables, otlp->profile.input,
                           tv_profile_string(&otlp->profile, TV_BYTES("sample")), otlp->samples);
    tv_sample_labels_release(&otlp->labels);
    tv_otlp_origin_release(&otlp->origin);
    return status;
}

/* ---- The file ---- */

/* Read a file in two passes: the survey finds out whether samples have times, which decides the
 * axis, then the samples are added.  The input ends properly also after an error, with what was
 * read. */
static enum tv_status otlp_assemble(struct tv_source *source, struct tv_builder *builder,
                                    const struct tv_read_options *options, struct tv_error *err)
{
    struct otlp *otlp = tv_alloc(1, sizeof *otlp);
    bool timed = false;
    enum tv_status status = tv_otlp_file_read(source, TV_OTLP_PROFILES, &otlp->file, err);
    if (status != TV_OK) {
        tv_free(otlp);
        return status;
    }
    tv_profile_input_begin(&otlp->profile, source, builder, OTLP_FORMAT);
    struct tv_input *input = &otlp->profile.info->inputs[otlp->profile.input];
    input->describe = tv_otlp_describe;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, otlp->file.bytes.length,
                                  memory_order_relaxed);
    status = otlp_survey(otlp, &timed, err);
    input->weight_axis = !timed;
    if (status == TV_OK)
        status = otlp_read_requests(otlp, options, err);
    tv_profile_input_end(&otlp->profile, options);
    tv_free(otlp->values);
    tv_free(otlp->times);
    tv_free(otlp->locations);
    tv_otlp_file_release(&otlp->file);
    tv_free(otlp);
    return status;
}

static int otlp_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_otlp_sniff(prefix, false);
}

const struct tv_reader tv_reader_otlp = {
    .name = "otlp",
    .sniff = otlp_sniff,
    .assemble = otlp_assemble,
    .refuses_empty = true,
    .format = OTLP_FORMAT,
    .describe = tv_otlp_describe,
};

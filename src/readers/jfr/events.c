/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - the events of a chunk into the trace.
 *
 * For each event type a plan says what its events become and which fields that takes:
 *
 *     event --> plan of its type --> slots (time, length, thread, stack, weight ...)
 *                                      |-- sample, one row for each value type
 *                                      |-- slice on its thread, or on the track of its kind
 *                                      |-- instant
 *                                      |-- sample of a counter
 *                                      '-- metadata
 *
 * The other fields stay in the file and are read again when somebody looks (describe.c).
 *
 * A plan lives as long as its chunk, because ids of types and places of constants change with each.
 * Counters, tracks and metadata are collected for the whole recording: a counter must be sorted by
 * time as one, and a setting that each chunk repeats is one line.
 *
 * Samples are the hot path: recordings have millions, and most repeat a stack. If nobody asks for
 * single samples (sample_sums), each stack's samples are added up in an array by the stack's place
 * in its pool, and only at the end of the chunk each sum becomes a path.
 */
#include "readers/jfr/events.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/sort.h"

/* Destination of one event. */
struct jfr_moment {
    struct tv_jfr_recording *recording;
    struct tv_jfr_chunk *chunk;
    struct tv_jfr_scan *scan;
    struct tv_jfr_plan *plan;
    uint64_t slots[TV_JFR_SLOTS];
    uint64_t at;     /* in the chunk */
    uint64_t fields; /* place of the first field */
    uint64_t offset; /* in the file */
    tv_ns time;
    uint32_t thread;
};

void tv_jfr_recording_init(struct tv_jfr_recording *recording, struct tv_profile_input *profile,
                           const struct tv_progress *progress)
{
    *recording = (struct tv_jfr_recording){.profile = profile, .progress = progress};
    tv_jfr_names_init(&recording->names, profile);
    tv_map_init(&recording->counter_places);
    tv_map_init(&recording->facts);
    tv_map_init(&recording->tracks);
}

static struct tv_trace_info *jfr_info(const struct tv_jfr_recording *recording)
{
    return recording->profile->info;
}

/* ---- Plans ---- */

/* Give a plan the names of its type in the trace. */
static void jfr_plan_name(struct tv_jfr_recording *recording, const struct tv_jfr_chunk *chunk,
                          struct tv_jfr_plan *plan)
{
    const struct tv_jfr_type *type = &chunk->types.rows[plan->type];
    if (TV_LIKELY(plan->named))
        return;
    plan->named = true;
    plan->name = tv_profile_string(recording->profile, type->name);
    plan->category = tv_profile_string(recording->profile, type->category);
}

static struct tv_jfr_value jfr_moment_value(const struct jfr_moment *moment,
                                            enum tv_jfr_event_slot slot)
{
    return (struct tv_jfr_value){moment->plan->fields[slot], moment->slots[slot]};
}

/* Read any other field of the event. */
static struct tv_jfr_value jfr_moment_get(const struct jfr_moment *moment, const char *name)
{
    return tv_jfr_get(moment->chunk, moment->plan->type, moment->fields, name);
}

static int64_t jfr_moment_amount(const struct jfr_moment *moment, enum tv_jfr_event_slot slot)
{
    struct tv_jfr_value value = jfr_moment_value(moment, slot);
    return tv_jfr_amount(moment->chunk, &value);
}

/* ---- Samples ---- */

static uint32_t jfr_value_type(const struct jfr_moment *moment, const char *unit)
{
    struct tv_profile_input *profile = moment->recording->profile;
    return tv_tables_value_type(&profile->trace->tables, profile->input, moment->plan->name,
                                tv_profile_string(profile, tv_bytes_of(unit)));
}

/* Return the type of the second weight: "jdk.OldObjectSample.objectSize". */
static uint32_t jfr_more_type(const struct jfr_moment *moment)
{
    struct tv_profile_input *profile = moment->recording->profile;
    const struct tv_jfr_event_kind *kind = moment->plan->kind;
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_out_bytes(&name, tv_trace_info_text(profile->info, moment->plan->name));
    tv_out_format(&name, ".%s", kind->more);
    uint32_t type = tv_profile_value_type(profile, (struct tv_bytes){name.buffer, name.length},
                                          tv_bytes_of(kind->more_unit));
    tv_out_release(&name);
    return type;
}

/* Return the stack of an event; the root's path if it has none. */
static struct tv_jfr_stack jfr_moment_stack(const struct jfr_moment *moment)
{
    const struct tv_jfr_field *field = moment->plan->fields[TV_JFR_SLOT_STACK];
    if (!field || !field->constant)
        return (struct tv_jfr_stack){TV_ROOT_PATH, TV_ROOT_PATH, false};
    return tv_jfr_names_stack(&moment->recording->names, field->type,
                              moment->slots[TV_JFR_SLOT_STACK], moment->offset);
}

static void jfr_add_sample(const struct jfr_moment *moment, const struct tv_jfr_stack *stack,
                           uint32_t type, int64_t weight)
{
    struct tv_sample sample = {
        .time = moment->time,
        .weight = weight,
        .offset = moment->offset,
        .thread = moment->thread,
        .cpu = TV_NONE,
        .type = type,
    };
    tv_profile_add_sample_at(moment->recording->profile, sample, stack->path, stack->line_path);
}

/* Count a sample once, however many value types it has. */
static void jfr_count_sample(const struct jfr_moment *moment, const struct tv_jfr_stack *stack)
{
    struct tv_profile_input *profile = moment->recording->profile;
    profile->info->inputs[profile->input].samples++;
    if (stack->cut)
        tv_profile_warn(profile, TV_DIAGNOSTIC_STACK_CUT, moment->offset);
}

/* Number of sums that are fetched ahead of time. */
#define FETCH_SUMS 16u

/* Add the sum of a stack in a chunk to that of its path in the trace. */
static void jfr_add_sum(struct tv_jfr_recording *recording, const struct tv_jfr_plan *plan,
                        uint64_t place, uint32_t path)
{
    struct tv_profile_input *profile = recording->profile;
    struct tv_jfr_stack_sum *sum = &plan->sums[place];
    if (sum->samples == 0)
        return;
    tv_sample_sums_add(&profile->trace->tables.sample_sums, path, plan->value_type, sum->samples,
                       sum->weight);
    profile->info->inputs[profile->input].samples += sum->samples;
    *sum = (struct tv_jfr_stack_sum){.samples = 0};
}

/* Return the path of a stack in the sums, by its place. */
static uint32_t jfr_sum_path(struct tv_jfr_recording *recording, const struct tv_jfr_chunk *chunk,
                             uint64_t place)
{
    uint64_t key = chunk->pools[chunk->stack_type].first + place;
    struct tv_jfr_stack stack =
        tv_jfr_names_stack(&recording->names, chunk->stack_type, key, TV_NO_OFFSET);
    bool lines = recording->profile->trace->tables.sample_sums.detail == TV_SAMPLES_BY_LINES;
    return lines ? stack.line_path : stack.path;
}

/* Add the sums of a type: most are of leaves, whose paths lie one after another. */
static void jfr_add_sums(struct tv_jfr_recording *recording, const struct tv_jfr_chunk *chunk,
                         const struct tv_jfr_scan *scan, const struct tv_jfr_plan *plan)
{
    if (!plan->sums)
        return;
    for (size_t i = 0; i < scan->leaves.count; i++) {
        if (i + FETCH_SUMS < scan->leaves.count)
            TV_PREFETCH(&plan->sums[scan->leaves.rows[i + FETCH_SUMS].place]);
        jfr_add_sum(recording, plan, scan->leaves.rows[i].place, scan->leaves.rows[i].path);
    }
    for (uint64_t i = 0; i < chunk->pools[chunk->stack_type].span; i++)
        if (plan->sums[i].samples > 0)
            jfr_add_sum(recording, plan, i, jfr_sum_path(recording, chunk, i));
}

/* Return the sum of the sample's stack; NULL where single samples are kept. */
static struct tv_jfr_stack_sum *jfr_moment_sum(const struct jfr_moment *moment)
{
    if (moment->recording->profile->trace->tables.sample_sums.detail == TV_SAMPLES_SINGLE)
        return NULL;
    return tv_jfr_scan_sum(moment->scan, moment->chunk, moment->plan,
                           moment->slots[TV_JFR_SLOT_STACK]);
}

/* Add a sample to the sum of its stack, or as a row. The first sample of a stack looks whether the
 * stack is known and whole; the later ones need only its bit. */
static void jfr_take_sample(const struct jfr_moment *moment)
{
    struct tv_jfr_plan *plan = moment->plan;
    const struct tv_jfr_event_kind *kind = plan->kind;
    if (plan->value_type == TV_NONE)
        plan->value_type = jfr_value_type(moment, kind->unit ? kind->unit : "count");
    int64_t weight =
        plan->fields[TV_JFR_SLOT_WEIGHT] ? jfr_moment_amount(moment, TV_JFR_SLOT_WEIGHT) : 1;
    struct tv_jfr_stack stack = jfr_moment_stack(moment);
    struct tv_jfr_stack_sum *sum = jfr_moment_sum(moment);
    if (sum && stack.path != TV_ROOT_PATH && !stack.cut) {
        tv_jfr_sum_add(sum, weight);
        return;
    }
    jfr_add_sample(moment, &stack, plan->value_type, weight);
    jfr_count_sample(moment, &stack);
    if (!plan->fields[TV_JFR_SLOT_MORE])
        return;
    if (plan->more_type == TV_NONE)
        plan->more_type = jfr_more_type(moment);
    jfr_add_sample(moment, &stack, plan->more_type, jfr_moment_amount(moment, TV_JFR_SLOT_MORE));
}

/* ---- Slices and instants ---- */

/* Return the name of an event on the time line: its title if it has one, else its type. */
static uint32_t jfr_moment_frame(const struct jfr_moment *moment)
{
    struct tv_jfr_plan *plan = moment->plan;
    struct tv_trace_info *info = jfr_info(moment->recording);
    struct tv_frame frame = {.name = plan->name, .category = plan->category};
    if (plan->fields[TV_JFR_SLOT_TITLE]) {
        struct tv_jfr_value title = jfr_moment_value(moment, TV_JFR_SLOT_TITLE);
        uint32_t text = tv_jfr_names_text(&moment->recording->names, &title);
        frame.name = text == TV_EMPTY_STRING ? plan->name : text;
        return tv_trace_info_add_frame(info, &frame);
    }
    if (plan->frame == TV_NONE)
        plan->frame = tv_trace_info_add_frame(info, &frame);
    return plan->frame;
}

/* Return the track with a name: a line of the process that is no thread. */
static uint32_t jfr_track(struct tv_jfr_recording *recording, struct tv_bytes name)
{
    struct tv_trace_info *info = jfr_info(recording);
    uint32_t text = tv_profile_string(recording->profile, name);
    uint64_t place = (uint64_t)recording->names.process << 32 | text;
    uint32_t track = tv_map_find(&recording->tracks, place);
    if (track != TV_NONE)
        return track;
    struct tv_thread thread = {
        .key = text,
        .name = text,
        .process = recording->names.process,
        .input = recording->profile->input,
        .listed = true,
        .line = true,
    };
    track = tv_trace_info_add_thread(info, &thread);
    tv_map_set(&recording->tracks, place, track);
    return track;
}

/* Add a slice: to the track of its kind (pauses of the collector concern all threads), to its
 * thread, or else to a track with the name of its category. */
static void jfr_add_slice(const struct jfr_moment *moment, tv_ns length)
{
    struct tv_jfr_recording *recording = moment->recording;
    const struct tv_jfr_plan *plan = moment->plan;
    uint32_t thread = moment->thread;
    if (plan->kind->track) {
        thread = jfr_track(recording, tv_bytes_of(plan->kind->track));
    } else if (thread == TV_NONE) {
        struct tv_bytes category = tv_trace_info_text(jfr_info(recording), plan->category);
        thread = jfr_track(recording, category.length > 0 ? category : TV_BYTES("Events"));
    }
    struct tv_span span = {
        .time = moment->time,
        .length = length,
        .offset = moment->offset & TV_OFFSET_MASK,
        .flags = TV_SPAN_WHOLE,
        .frame = jfr_moment_frame(moment),
    };
    tv_profile_add_slice(recording->profile, thread, &span);
}

static void jfr_add_instant(const struct jfr_moment *moment)
{
    struct tv_instant instant = {
        .time = moment->time,
        .offset = moment->offset,
        .frame = jfr_moment_frame(moment),
        .of = moment->thread,
        .scope = TV_SCOPE_THREAD,
    };
    if (moment->thread == TV_NONE) {
        instant.scope = TV_SCOPE_PROCESS;
        instant.of = moment->recording->names.process;
    }
    tv_profile_add_instant(moment->recording->profile, instant);
}

/* An event that the rule decides, or a thread that waits. */
static void jfr_take_span(const struct jfr_moment *moment)
{
    struct tv_jfr_plan *plan = moment->plan;
    tv_ns length = 0;
    if (plan->fields[TV_JFR_SLOT_DURATION])
        length = plan->fields[TV_JFR_SLOT_DURATION]->unit == TV_JFR_PLAIN
                     ? tv_jfr_length(moment->chunk, (int64_t)moment->slots[TV_JFR_SLOT_DURATION])
                     : jfr_moment_amount(moment, TV_JFR_SLOT_DURATION);
    if (length > 0)
        jfr_add_slice(moment, length);
    else
        jfr_add_instant(moment);
    if (!plan->fields[TV_JFR_SLOT_DURATION] || !plan->fields[TV_JFR_SLOT_STACK] ||
        (length <= 0 && plan->kind->role != TV_JFR_BLOCKED))
        return;
    if (plan->value_type == TV_NONE)
        plan->value_type = jfr_value_type(moment, "nanoseconds");
    struct tv_jfr_stack stack = jfr_moment_stack(moment);
    jfr_add_sample(moment, &stack, plan->value_type, length > 0 ? length : 0);
    jfr_count_sample(moment, &stack);
}

/* ---- Counters ---- */

/* Find a value by its name, "a.b" for the field of a struct; false: there is none. */
static bool jfr_counter_find(const struct jfr_moment *moment, const char *series,
                             struct tv_jfr_value *value)
{
    char outer[64];
    const char *dot = strchr(series, '.');
    if (!dot) {
        *value = jfr_moment_get(moment, series);
        return true;
    }
    size_t length = (size_t)(dot - series);
    assert(length < sizeof outer);
    memcpy(outer, series, length);
    outer[length] = '\0';
    uint32_t type;
    uint64_t at;
    struct tv_jfr_value in = jfr_moment_get(moment, outer);
    if (!tv_jfr_follow(moment->chunk, &in, &type, &at))
        return false;
    *value = tv_jfr_get(moment->chunk, type, at, dot + 1);
    return true;
}

/* Read a number by its name; NaN when there is none. */
static double jfr_counter_value(const struct jfr_moment *moment, const char *series)
{
    struct tv_jfr_value value;
    double number;
    if (!jfr_counter_find(moment, series, &value) || !tv_jfr_number(&value, &number))
        return (double)NAN;
    return value.field->unit == TV_JFR_PERCENTAGE ? number * 100 : number;
}

/* Return the unit that all series of an event's counter have; NULL: none, or several. */
static const char *jfr_counter_unit(const struct jfr_moment *moment, unsigned series_count)
{
    const char *unit = NULL;
    for (unsigned i = 0; i < series_count; i++) {
        struct tv_jfr_value value;
        double number;
        if (!jfr_counter_find(moment, moment->plan->kind->series[i], &value) ||
            !tv_jfr_number(&value, &number))
            continue;
        const char *own = value.field->unit == TV_JFR_BYTES        ? "bytes"
                          : value.field->unit == TV_JFR_PERCENTAGE ? "%"
                                                                   : NULL;
        if (!own || (unit && strcmp(unit, own) != 0))
            return NULL;
        unit = own;
    }
    return unit;
}

/* Return the name of an event's counter: its type, and what tells several apart. */
static uint32_t jfr_counter_name(const struct jfr_moment *moment)
{
    const struct tv_jfr_plan *plan = moment->plan;
    struct tv_profile_input *profile = moment->recording->profile;
    if (!plan->kind->key)
        return plan->name;
    struct tv_out name;
    struct tv_jfr_value key = jfr_moment_get(moment, plan->kind->key);
    tv_out_init_memory(&name);
    tv_out_bytes(&name, tv_trace_info_text(profile->info, plan->name));
    tv_out_char(&name, '[');
    tv_out_bytes(&name, tv_jfr_summary(moment->chunk, &key));
    tv_out_char(&name, ']');
    uint32_t text = tv_profile_string(profile, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    return text;
}

/* Return the counter of an event, adding it. The pointer is valid until the next one is added. */
static struct tv_jfr_counter *jfr_counter_of(const struct jfr_moment *moment)
{
    struct tv_jfr_recording *recording = moment->recording;
    uint32_t name = jfr_counter_name(moment), process = recording->names.process;
    uint32_t next = (uint32_t)recording->counters.count;
    uint32_t place = tv_map_add(&recording->counter_places, (uint64_t)process << 32 | name, next);
    if (place == next) {
        struct tv_jfr_counter *added = tv_table_add(&recording->counters);
        added->kind = moment->plan->kind;
        added->name = name;
        added->category = moment->plan->category;
        added->process = process;
        while (added->series_count < TV_JFR_SERIES_MAX && added->kind->series[added->series_count])
            added->series_count++;
        added->unit = jfr_counter_unit(moment, added->series_count);
    }
    return &recording->counters.rows[place];
}

static void jfr_take_counter(const struct jfr_moment *moment)
{
    struct tv_jfr_counter *counter = jfr_counter_of(moment);
    size_t at = counter->count++;
    counter->times =
        tv_array_reserve(counter->times, &counter->time_capacity, at + 1, sizeof *counter->times);
    counter->offsets = tv_array_reserve(counter->offsets, &counter->offset_capacity, at + 1,
                                        sizeof *counter->offsets);
    counter->values = tv_array_reserve(counter->values, &counter->value_capacity,
                                       (at + 1) * counter->series_count, sizeof *counter->values);
    counter->times[at] = tv_move_within(moment->time);
    counter->offsets[at] = moment->offset;
    for (unsigned i = 0; i < counter->series_count; i++)
        counter->values[at * counter->series_count + i] =
            jfr_counter_value(moment, counter->kind->series[i]);
}

/* Sort the samples of a counter by time, and add it to the trace. Threads flush their buffers when
 * these are full, so events of a recording are only roughly in order. */
static void jfr_counter_add(struct tv_jfr_recording *recording, struct tv_jfr_counter *counter)
{
    struct tv_profile_input *profile = recording->profile;
    size_t count = counter->count, width = counter->series_count;
    struct tv_sort_key *order = tv_alloc(count, sizeof *order);
    tv_ns *times = tv_alloc(count, sizeof *times);
    uint64_t *offsets = tv_alloc(count, sizeof *offsets);
    double *values = tv_alloc(count, width * sizeof *values);
    uint32_t series[TV_JFR_SERIES_MAX];
    for (size_t i = 0; i < count; i++)
        order[i] = (struct tv_sort_key){tv_sort_signed(counter->times[i]), i};
    tv_sort_keys(order, count);
    for (size_t i = 0; i < count; i++) {
        times[i] = counter->times[order[i].index];
        offsets[i] = counter->offsets[order[i].index];
        memcpy(&values[i * width], &counter->values[order[i].index * width],
               width * sizeof *values);
    }
    for (size_t i = 0; i < width; i++)
        series[i] = tv_profile_string(profile, tv_bytes_of(counter->kind->series[i]));
    struct tv_counter row = {
        .name = counter->name,
        .category = counter->category,
        .process = counter->process,
        .input = profile->input,
        .series_count = (uint32_t)width,
        .sample_count = (uint32_t)count,
    };
    if (counter->unit)
        row.facts.unit = tv_profile_string(profile, tv_bytes_of(counter->unit));
    tv_tables_add_counter(&profile->trace->tables, &row, series, times, offsets, values);
    tv_free(order);
    tv_free(times);
    tv_free(offsets);
    tv_free(values);
}

/* ---- Metadata ---- */

/* Add metadata, unless the recording has said the same before. */
static void jfr_add_fact(struct tv_jfr_recording *recording, struct tv_bytes key,
                         struct tv_bytes value)
{
    struct tv_profile_input *profile = recording->profile;
    uint64_t place =
        (uint64_t)tv_profile_string(profile, key) << 32 | tv_profile_string(profile, value);
    uint32_t next = (uint32_t)recording->facts.count;
    if (tv_map_add(&recording->facts, place, next) == next)
        tv_trace_info_add_metadata(profile->info, profile->input, key, value);
}

/* Write any value in one line. */
static void jfr_write_value(struct tv_out *out, struct tv_jfr_chunk *chunk,
                            const struct tv_jfr_value *value)
{
    double number;
    if (!tv_jfr_number(value, &number))
        tv_out_bytes(out, tv_jfr_summary(chunk, value));
    else if (value->field->kind == TV_JFR_BOOLEAN)
        tv_out_text(out, value->raw ? "true" : "false");
    else if (value->field->kind >= TV_JFR_FLOAT)
        tv_out_format(out, "%.17g", number);
    else if (value->field->is_unsigned)
        tv_out_u64(out, value->raw);
    else
        tv_out_i64(out, (int64_t)value->raw);
}

/* "10 ms" as time; 0 when it is none. */
static tv_ns jfr_parse_period(struct tv_bytes text)
{
    uint8_t joined[32];
    size_t length = 0;
    tv_ns time;
    for (size_t i = 0; i < text.length && length < sizeof joined; i++)
        if (text.data[i] != ' ')
            joined[length++] = text.data[i];
    return tv_parse_time((struct tv_bytes){joined, length}, 1, &time) && time > 0 ? time : 0;
}

/* Remember a setting that tells how often samples of a type are taken. */
static void jfr_note_interval(struct tv_jfr_recording *recording, struct tv_bytes type,
                              struct tv_bytes name, struct tv_bytes value)
{
    bool wall = tv_bytes_equal(name, TV_BYTES("wall"));
    if (!wall && !tv_bytes_equal(name, TV_BYTES("period")) &&
        !tv_bytes_equal(name, TV_BYTES("interval")))
        return;
    tv_ns interval = jfr_parse_period(value);
    if (interval > 0)
        *tv_table_add(&recording->intervals) = (struct tv_jfr_interval){
            tv_profile_string(recording->profile,
                              wall ? TV_BYTES("profiler.WallClockSample") : type),
            interval};
}

/* jdk.ActiveSetting: "jdk.ExecutionSample#period" = "20 ms". */
static void jfr_take_setting(const struct jfr_moment *moment)
{
    struct tv_jfr_chunk *chunk = moment->chunk;
    struct tv_jfr_recording *recording = moment->recording;
    struct tv_jfr_value id = jfr_moment_get(moment, "id"),
                        title = jfr_moment_value(moment, TV_JFR_SLOT_TITLE),
                        value = jfr_moment_get(moment, "value");
    struct tv_bytes name = tv_jfr_get_text(chunk, &title),
                    type = tv_trace_info_text(jfr_info(recording), moment->plan->name);
    uint32_t of = id.field ? tv_jfr_find_type(chunk, id.raw) : TV_NONE;
    struct tv_out key, text;
    if (of != TV_NONE)
        type = chunk->types.rows[of].name;
    tv_out_init_memory(&key);
    tv_out_init_memory(&text);
    tv_out_bytes(&key, type);
    tv_out_char(&key, '#');
    tv_out_bytes(&key, name);
    jfr_write_value(&text, chunk, &value);
    struct tv_bytes written = {text.buffer, text.length};
    jfr_add_fact(recording, (struct tv_bytes){key.buffer, key.length}, written);
    jfr_note_interval(recording, type, name, written);
    tv_out_release(&key);
    tv_out_release(&text);
}

static bool jfr_is_common_field(struct tv_bytes name)
{
    return tv_bytes_equal(name, TV_BYTES("startTime")) ||
           tv_bytes_equal(name, TV_BYTES("duration")) ||
           tv_bytes_equal(name, TV_BYTES("eventThread")) ||
           tv_bytes_equal(name, TV_BYTES("stackTrace"));
}

/* Fields whose names are longer are left out of metadata; they stay readable in the event. */
#define LONGEST_NAME 128

/* Make metadata of all fields of an event: "jdk.JVMInformation.jvmVersion". */
static void jfr_take_facts(const struct jfr_moment *moment)
{
    struct tv_jfr_chunk *chunk = moment->chunk;
    const struct tv_jfr_type *type = &chunk->types.rows[moment->plan->type];
    for (uint32_t i = 0; i < type->field_count; i++) {
        struct tv_bytes name = chunk->fields.rows[type->first_field + i].name;
        char field[LONGEST_NAME + 1];
        if (name.length == 0 || name.length > LONGEST_NAME || jfr_is_common_field(name))
            continue;
        memcpy(field, name.data, name.length);
        field[name.length] = '\0';
        struct tv_out key, text;
        struct tv_jfr_value value = jfr_moment_get(moment, field);
        tv_out_init_memory(&key);
        tv_out_init_memory(&text);
        tv_out_bytes(&key, type->name);
        tv_out_format(&key, ".%s", field);
        jfr_write_value(&text, chunk, &value);
        jfr_add_fact(moment->recording, (struct tv_bytes){key.buffer, key.length},
                     (struct tv_bytes){text.buffer, text.length});
        tv_out_release(&key);
        tv_out_release(&text);
    }
}

/* ---- The JVM of a chunk ---- */

/* Starts of one JVM, as two recorders tell them, differ by less. */
#define SAME_START_MS 10000

/* Return the process of a JVM. A recording may be put together from several JVMs, and a pid may
 * belong to one after the other; only pid and start together name it. */
static uint32_t jfr_find_jvm(struct tv_jfr_recording *recording, int64_t pid, int64_t started)
{
    for (size_t i = 0; i < recording->jvms.count; i++) {
        struct tv_jfr_jvm *jvm = &recording->jvms.rows[i];
        int64_t apart;
        if (__builtin_sub_overflow(jvm->started_ms, started, &apart))
            continue;
        if (jvm->pid == pid && apart < SAME_START_MS && apart > -SAME_START_MS)
            return jvm->process;
    }
    struct tv_jfr_jvm *added = tv_table_add(&recording->jvms);
    *added = (struct tv_jfr_jvm){
        pid, started,
        tv_trace_info_add_process(jfr_info(recording), (uint64_t)pid, (struct tv_bytes){NULL, 0})};
    return added->process;
}

/* Return the process of a chunk: that of its JVMInformation, else that of the chunk before. */
static uint32_t jfr_chunk_process(struct tv_jfr_recording *recording, struct tv_jfr_chunk *chunk)
{
    struct tv_jfr_event event;
    uint32_t wanted = TV_NONE;
    for (uint32_t i = 0; i < chunk->types.count && wanted == TV_NONE; i++)
        if (tv_bytes_ends_with(chunk->types.rows[i].name, TV_BYTES("jdk.JVMInformation")))
            wanted = i;
    uint64_t at = wanted == TV_NONE ? chunk->bytes.length : TV_JFR_HEADER_SIZE;
    for (; tv_jfr_event_at(chunk, at, &event); at += event.size) {
        if (event.type != chunk->types.rows[wanted].id)
            continue;
        uint64_t fields = tv_jfr_place(chunk, &event.fields);
        struct tv_jfr_value pid = tv_jfr_get(chunk, wanted, fields, "pid"),
                            started = tv_jfr_get(chunk, wanted, fields, "jvmStartTime");
        return jfr_find_jvm(recording, tv_jfr_signed(&pid), tv_jfr_signed(&started));
    }
    if (recording->jvms.count == 0)
        return jfr_find_jvm(recording, 0, 0);
    return recording->jvms.rows[recording->jvms.count - 1].process;
}

/* ---- All events of a chunk ---- */

/* Add an event as what its type becomes (struct tv_jfr_event_kind).  A loss is counted and drawn,
 * so that the gap has a reason on the screen. */
static void jfr_take_event(const struct jfr_moment *moment)
{
    switch (moment->plan->kind->role) {
    case TV_JFR_SAMPLE:
        jfr_take_sample(moment);
        break;
    case TV_JFR_COUNTER:
        jfr_take_counter(moment);
        break;
    case TV_JFR_SETTING:
        jfr_take_setting(moment);
        break;
    case TV_JFR_FACTS:
        jfr_take_facts(moment);
        break;
    case TV_JFR_LOSS:
        tv_profile_warn(moment->recording->profile, TV_DIAGNOSTIC_EVENTS_LOST, moment->offset);
        jfr_take_span(moment);
        break;
    case TV_JFR_BY_RULE:
    case TV_JFR_BLOCKED:
        jfr_take_span(moment);
        break;
    }
}

/* Read the fields that the plan wants, and take the event. */
static void jfr_read_event(struct jfr_moment *moment, const struct tv_jfr_event *event)
{
    struct tv_jfr_recording *recording = moment->recording;
    struct tv_jfr_chunk *chunk = moment->chunk;
    struct tv_jfr_plan *plan = moment->plan;
    struct tv_jfr_cursor cursor = event->fields;
    moment->at = event->at;
    moment->fields = tv_jfr_place(chunk, &event->fields);
    moment->offset = chunk->offset + event->at;
    moment->thread = TV_NONE;
    memset(moment->slots, 0, sizeof moment->slots);
    plan->count++;
    jfr_plan_name(recording, chunk, plan);
    if (!tv_jfr_program_note(chunk, &plan->program, &cursor, moment->slots)) {
        tv_profile_warn(recording->profile, TV_DIAGNOSTIC_BAD_EVENT, moment->offset);
        return;
    }
    moment->time = plan->fields[TV_JFR_SLOT_START]
                       ? tv_jfr_time(chunk, moment->slots[TV_JFR_SLOT_START])
                       : chunk->start_ns;
    const struct tv_jfr_field *thread = plan->fields[TV_JFR_SLOT_THREAD];
    if (thread && thread->constant)
        moment->thread = tv_jfr_names_thread(&recording->names, thread->type,
                                             moment->slots[TV_JFR_SLOT_THREAD], moment->offset);
    tv_profile_reach(recording->profile, moment->time);
    jfr_take_event(moment);
}

/* Tell why the events end where they do. */
static void jfr_warn_of_end(struct tv_jfr_recording *recording, const struct tv_jfr_chunk *chunk,
                            uint64_t at)
{
    if (chunk->unfinished)
        tv_profile_warn(recording->profile, TV_DIAGNOSTIC_UNFINISHED_CHUNK, chunk->offset);
    else if (chunk->cut)
        tv_profile_warn(recording->profile, TV_DIAGNOSTIC_TRUNCATED, chunk->offset + at);
    else if (at < chunk->bytes.length)
        tv_profile_warn(recording->profile, TV_DIAGNOSTIC_BAD_EVENT, chunk->offset + at);
}

/* Add what the scan found out without the trace. */
static void jfr_add_scanned(struct tv_jfr_recording *recording, const struct tv_jfr_chunk *chunk,
                            const struct tv_jfr_scan *scan)
{
    struct tv_profile_input *profile = recording->profile;
    if (scan->first_time <= scan->last_time) {
        tv_profile_reach(profile, scan->first_time);
        tv_profile_reach(profile, scan->last_time);
    }
    for (size_t i = 0; i < chunk->types.count; i++) {
        jfr_add_sums(recording, chunk, scan, &scan->plans[i]);
        if (scan->plans[i].count > 0)
            tv_tables_count_events(&profile->trace->tables, profile->input, scan->plans[i].name,
                                   scan->plans[i].count);
    }
}

/* Number of events between two checks for cancellation. */
#define EVENTS_BETWEEN_LOOKS 65536

/* Take the events of a range; *end becomes the place after the last one. */
static enum tv_status jfr_take_range(struct jfr_moment *moment, struct tv_jfr_range range,
                                     uint64_t *end, struct tv_error *err)
{
    struct tv_jfr_chunk *chunk = moment->chunk;
    struct tv_jfr_recording *recording = moment->recording;
    enum tv_status status = TV_OK;
    struct tv_jfr_event event;
    uint64_t at = range.begin, events = 0;
    for (; at < range.end && tv_jfr_event_at(chunk, at, &event); at += event.size) {
        if (++events % EVENTS_BETWEEN_LOOKS == 0 &&
            (status = tv_reader_check_cancel(recording->progress, err)) != TV_OK)
            break;
        if (event.type == TV_JFR_METADATA || event.type == TV_JFR_CHECKPOINT)
            continue;
        uint32_t type = tv_jfr_find_type(chunk, event.type);
        if (type == TV_NONE) {
            tv_profile_warn(recording->profile, TV_DIAGNOSTIC_UNKNOWN_EVENT, chunk->offset + at);
            continue;
        }
        moment->plan = tv_jfr_scan_plan(moment->scan, chunk, type);
        jfr_read_event(moment, &event);
    }
    *end = at;
    return status;
}

/* Make the paths of the stacks that the scan met before a place, from the next leaf on. */
static void jfr_take_leaves(const struct jfr_moment *moment, size_t *next, uint64_t before)
{
    struct tv_jfr_scan *scan = moment->scan;
    struct tv_jfr_names *names = &moment->recording->names;
    for (; *next < scan->leaves.count && scan->leaves.rows[*next].met < before; ++*next) {
        struct tv_jfr_leaf *leaf = &scan->leaves.rows[*next];
        uint32_t node = scan->nodes.leaves ? scan->nodes.leaves[leaf->place] : 0;
        leaf->path = node == 0 ? TV_NONE : tv_jfr_names_node_path(names, node);
        if (leaf->path == TV_NONE)
            leaf->path = jfr_sum_path(moment->recording, moment->chunk, leaf->place);
    }
}

enum tv_status tv_jfr_events_add(struct tv_jfr_recording *recording, struct tv_jfr_chunk *chunk,
                                 struct tv_jfr_scan *scan, struct tv_error *err)
{
    enum tv_status status = tv_reader_check_cancel(recording->progress, err);
    struct jfr_moment moment = {.recording = recording, .chunk = chunk, .scan = scan};
    uint64_t end = scan->end;
    size_t leaf = 0;
    tv_jfr_names_enter(&recording->names, chunk, &scan->nodes, jfr_chunk_process(recording, chunk));
    for (size_t i = 0; i < scan->left.count && status == TV_OK; i++) {
        jfr_take_leaves(&moment, &leaf, scan->left.rows[i].begin);
        status = jfr_take_range(&moment, scan->left.rows[i], &end, err);
        end = end > scan->end ? end : scan->end;
    }
    jfr_take_leaves(&moment, &leaf, UINT64_MAX);
    if (status == TV_OK) {
        jfr_warn_of_end(recording, chunk, end);
        jfr_add_scanned(recording, chunk, scan);
    }
    tv_jfr_names_leave(&recording->names);
    return status;
}

/* ---- The end ---- */

/* Give value types their sampling intervals. */
static void jfr_set_intervals(struct tv_jfr_recording *recording)
{
    struct tv_tables *tables = &recording->profile->trace->tables;
    for (size_t i = 0; i < recording->intervals.count; i++)
        for (size_t j = 0; j < tables->value_types.count; j++)
            if (tables->value_types.rows[j].input == recording->profile->input &&
                tables->value_types.rows[j].name == recording->intervals.rows[i].name)
                tables->value_types.rows[j].interval = recording->intervals.rows[i].interval;
}

/* Recordings hold samples of many kinds in an arbitrary order.  Show those of running code first,
 * if there are any: the first of these kinds that the recording has. */
static void jfr_prefer_running(struct tv_jfr_recording *recording)
{
    static const char *const kinds[] = {"jdk.ExecutionSample", "jdk.CPUTimeSample",
                                        "datadog.ExecutionSample", "com.oracle.jdk.ExecutionSample",
                                        "profiler.WallClockSample"};
    const struct tv_trace *trace = recording->profile->trace;
    struct tv_value_type *rows = trace->tables.value_types.rows;
    for (size_t kind = 0; kind < TV_COUNT(kinds); kind++)
        for (size_t i = 0; i < trace->tables.value_types.count; i++)
            if (rows[i].input == recording->profile->input &&
                tv_bytes_equal(tv_trace_info_text(trace->head, rows[i].name),
                               tv_bytes_of(kinds[kind]))) {
                rows[i].preferred = true;
                return;
            }
}

void tv_jfr_recording_finish(struct tv_jfr_recording *recording)
{
    for (size_t i = 0; i < recording->counters.count; i++) {
        struct tv_jfr_counter *counter = &recording->counters.rows[i];
        jfr_counter_add(recording, counter);
        tv_free(counter->times);
        tv_free(counter->offsets);
        tv_free(counter->values);
    }
    jfr_set_intervals(recording);
    jfr_prefer_running(recording);
    tv_free(recording->counters.rows);
    tv_free(recording->intervals.rows);
    tv_free(recording->jvms.rows);
    tv_map_release(&recording->counter_places);
    tv_map_release(&recording->facts);
    tv_map_release(&recording->tracks);
    tv_jfr_names_release(&recording->names);
}

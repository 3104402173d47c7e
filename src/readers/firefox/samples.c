/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.c - the samples of a thread in a Firefox profile, and its allocations.
 *
 *     stack            7     7     9     null       number in the table of stacks; null: idle
 *     time             1.0   2.0   3.1   4.0        or timeDeltas, from which times are summed up
 *     weight           1     1     1     1          absent: 1; bytes in a table of allocations
 *     threadCPUDelta   null  0.9   0.2   0          CPU time since the sample before
 *
 * A row becomes a sample of the value type of its weight, and a second one of CPU time if it has
 * some, so that the table of functions can be asked for either.
 */
#include "readers/firefox/firefox.h"

#include <string.h>

#include "base/bytes.h"

enum { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_DELTA, SAMPLE_WEIGHT, SAMPLE_CPU, SAMPLE_COLUMNS };
static const struct tv_firefox_column sample_columns[SAMPLE_COLUMNS] = {
    [SAMPLE_STACK] = TV_FIREFOX_COLUMN("stack", INTEGER),
    [SAMPLE_TIME] = TV_FIREFOX_COLUMN("time", MS),
    [SAMPLE_DELTA] = TV_FIREFOX_COLUMN("timeDeltas", MS),
    [SAMPLE_WEIGHT] = TV_FIREFOX_COLUMN("weight", INTEGER),
    [SAMPLE_CPU] = TV_FIREFOX_COLUMN("threadCPUDelta", INTEGER),
};

/* Multiply, and saturate: a weight from the file may be any number. */
static int64_t firefox_multiply(int64_t value, int64_t factor)
{
    if (value > INT64_MAX / factor || value < -(INT64_MAX / factor))
        return value < 0 ? -INT64_MAX : INT64_MAX;
    return value * factor;
}

static void firefox_add_sample(struct tv_firefox *file, const struct tv_firefox_thread *thread,
                               struct tv_sample sample, int64_t stack)
{
    uint32_t path = tv_firefox_number(&thread->stacks->paths, stack, TV_ROOT_PATH);
    uint32_t line_path = tv_firefox_number(&thread->stacks->line_paths, stack, TV_ROOT_PATH);
    tv_profile_add_sample_at(&file->profile, sample, path, line_path);
}

void tv_firefox_read_samples(struct tv_firefox *file, const struct tv_firefox_thread *thread,
                             uint64_t offset, const struct tv_firefox_weights *weights)
{
    struct tv_firefox_column columns[SAMPLE_COLUMNS] = {{0}};
    struct tv_profile_input *profile = &file->profile;
    struct tv_firefox_column model[SAMPLE_COLUMNS];
    memcpy(model, sample_columns, sizeof model);
    model[SAMPLE_WEIGHT].kind = weights->kind;
    tv_firefox_read_table(file, offset, columns, model, SAMPLE_COLUMNS);
    tv_firefox_need_column(file, offset, &columns[SAMPLE_STACK], &columns[SAMPLE_STACK]);
    tv_firefox_need_column(file, offset, &columns[SAMPLE_TIME], &columns[SAMPLE_DELTA]);
    uint32_t type = TV_NONE, cpu = TV_NONE;
    size_t count = columns[SAMPLE_TIME].count;
    int64_t now = file->start - file->base;
    if (columns[SAMPLE_STACK].count > count)
        count = columns[SAMPLE_STACK].count;
    if (count > 0) /* threads that have only markers have no value type */
        type = tv_profile_value_type(profile, weights->type, weights->unit);
    for (size_t i = 0; i < count; i++) {
        struct tv_sample sample = {
            .offset = offset, .thread = thread->number, .cpu = TV_NONE, .type = type};
        int64_t stack = tv_firefox_value(&columns[SAMPLE_STACK], (int64_t)i);
        int64_t weight = tv_firefox_value(&columns[SAMPLE_WEIGHT], (int64_t)i);
        int64_t used = tv_firefox_value(&columns[SAMPLE_CPU], (int64_t)i);
        if (!tv_firefox_row_time(file, &columns[SAMPLE_TIME], &columns[SAMPLE_DELTA], i, &now)) {
            tv_profile_warn(profile, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
            continue;
        }
        sample.time = now;
        sample.weight = weight == TV_FIREFOX_ABSENT ? 1 : weight;
        if (stack != TV_FIREFOX_ABSENT && (uint64_t)stack >= thread->stacks->paths.count)
            tv_profile_warn(profile, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
        firefox_add_sample(file, thread, sample, stack);
        if (used == TV_FIREFOX_ABSENT || used == 0)
            continue;
        if (cpu == TV_NONE)
            cpu = tv_profile_value_type(profile, TV_BYTES("CPU"), tv_bytes_of(file->cpu_unit));
        sample.type = cpu;
        sample.weight = firefox_multiply(used, file->cpu_factor);
        firefox_add_sample(file, thread, sample, stack);
    }
    profile->info->inputs[profile->input].samples += count;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, tv_bytes_of(weights->event)), count);
    tv_firefox_release_table(columns, SAMPLE_COLUMNS);
}

/* Return the meaning of the weights of a weightType. */
static struct tv_firefox_weights firefox_find_weights(struct tv_bytes type)
{
    if (tv_bytes_equal(type, TV_BYTES("tracing-ms")))
        return (struct tv_firefox_weights){TV_BYTES("tracing-ms"), TV_BYTES("nanoseconds"),
                                           TV_FIREFOX_MS, "samples"};
    if (tv_bytes_equal(type, TV_BYTES("bytes")))
        return (struct tv_firefox_weights){TV_BYTES("bytes"), TV_BYTES("bytes"), TV_FIREFOX_INTEGER,
                                           "samples"};
    return (struct tv_firefox_weights){TV_BYTES("samples"), TV_BYTES("count"), TV_FIREFOX_INTEGER,
                                       "samples"};
}

/* A file of ours also has the name of the value type, and its unit, of which the weightType knows
 * only times and bytes. */
struct tv_firefox_weights tv_firefox_weights_of(struct tv_firefox *file, uint64_t offset)
{
    struct tv_json_member members[] = {{"weightType", 0}, {"valueType", 0}, {"valueUnit", 0}};
    struct tv_json_stream stream;
    struct tv_bytes type = {NULL, 0};
    if (!tv_firefox_at(file, offset, &stream) ||
        !tv_json_find_members(&stream, members, TV_COUNT(members)))
        return firefox_find_weights(type);
    if (tv_firefox_at(file, members[0].offset, &stream))
        type = tv_firefox_take_text(file, &stream);
    struct tv_firefox_weights weights = firefox_find_weights(type);
    uint32_t own = tv_firefox_string_at(file, members[1].offset);
    if (own == TV_EMPTY_STRING)
        return weights;
    weights.type = tv_trace_info_text(file->profile.info, own);
    uint32_t unit = tv_firefox_string_at(file, members[2].offset);
    if (unit != TV_EMPTY_STRING && tv_bytes_equal(weights.unit, TV_BYTES("count")))
        weights.unit = tv_trace_info_text(file->profile.info, unit);
    return weights;
}

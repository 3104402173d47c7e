/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - the counters of a process in a Firefox profile.
 *
 *     counters[i].samples                    {time or timeDeltas, count}
 *     counters[i].sampleGroups[0].samples    older files: the first of a list of groups,
 *     counters[i].sample_groups.samples      or one group, under either name
 *
 * Numbers of a counter of memory are differences, since Firefox learns of allocations and not of
 * sizes; they are summed up here.  Numbers of all others are values.
 */
#include "readers/firefox/firefox.h"

#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"

enum { COUNTER_TIME, COUNTER_DELTA, COUNTER_COUNT, COUNTER_COLUMNS };
static const struct tv_firefox_column counter_columns[COUNTER_COLUMNS] = {
    [COUNTER_TIME] = TV_FIREFOX_COLUMN("time", MS),
    [COUNTER_DELTA] = TV_FIREFOX_COLUMN("timeDeltas", MS),
    [COUNTER_COUNT] = TV_FIREFOX_COLUMN("count", OFFSET),
};

enum {
    COUNTERS_NAME,
    COUNTERS_CATEGORY,
    COUNTERS_PID,
    COUNTERS_SAMPLES,
    COUNTERS_GROUPS,
    COUNTERS_OLD_GROUPS,
    COUNTERS_DESCRIPTION,
    COUNTERS_OWN_CATEGORY, /* of our own files (writers/trace/firefox_counters.c) */
    COUNTERS_UNIT,
    COUNTERS_MEMBERS
};

static const char *const counter_keys[COUNTERS_MEMBERS] = {
    "name",          "category",    "pid",           "samples",  "sampleGroups",
    "sample_groups", "description", "valueCategory", "valueUnit"};

/* Return the table of a counter: older files have it within a group, or in a list of groups. */
static uint64_t firefox_counter_table(const struct tv_firefox *file,
                                      const struct tv_json_member *members)
{
    struct tv_json_member samples = {"samples", 0};
    struct tv_json_stream stream;
    uint64_t group = members[COUNTERS_GROUPS].offset != TV_NO_OFFSET
                         ? members[COUNTERS_GROUPS].offset
                         : members[COUNTERS_OLD_GROUPS].offset;
    if (members[COUNTERS_SAMPLES].offset != TV_NO_OFFSET)
        return members[COUNTERS_SAMPLES].offset;
    if (!tv_firefox_at(file, group, &stream))
        return TV_NO_OFFSET;
    if (tv_json_peek(&stream) == '[' && tv_json_open(&stream, '[') &&
        !tv_json_take_element(&stream))
        return TV_NO_OFFSET;
    return tv_json_find_members(&stream, &samples, 1) ? samples.offset : TV_NO_OFFSET;
}

/* Read a count, which may have a fraction. */
static bool firefox_read_count(const struct tv_firefox *file, int64_t offset, double *value)
{
    struct tv_json_stream stream;
    return offset != TV_FIREFOX_ABSENT && tv_firefox_at(file, (uint64_t)offset, &stream) &&
           tv_te_parse_number(tv_json_take_raw(&stream), value) && isfinite(*value);
}

/* Add a counter.  Memory is told as differences; everything else as it is shown. */
static void firefox_add_counter(struct tv_firefox *file, const struct tv_json_member *members,
                                const struct tv_firefox_column *columns)
{
    struct tv_trace *trace = file->profile.trace;
    size_t count = columns[COUNTER_COUNT].count, used = 0;
    tv_ns *times = tv_alloc(count, sizeof *times);
    uint64_t *offsets = tv_alloc(count, sizeof *offsets);
    double *values = tv_alloc(count, sizeof *values), sum = 0;
    int64_t now = file->start - file->base;
    uint32_t category = tv_firefox_string_at(file, members[COUNTERS_CATEGORY].offset);
    uint32_t name = tv_firefox_string_at(file, members[COUNTERS_NAME].offset), series = name;
    uint32_t pid = tv_firefox_string_at(file, members[COUNTERS_PID].offset);
    uint32_t own = tv_firefox_string_at(file, members[COUNTERS_OWN_CATEGORY].offset);
    bool sums =
        tv_bytes_equal(tv_trace_info_text(file->profile.info, category), TV_BYTES("Memory"));
    for (size_t i = 0; i < count; i++) {
        double value;
        if (!firefox_read_count(file, columns[COUNTER_COUNT].rows[i], &value) ||
            !tv_firefox_row_time(file, &columns[COUNTER_TIME], &columns[COUNTER_DELTA], i, &now) ||
            (used > 0 && now < times[used - 1])) {
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_COUNTER, TV_NO_OFFSET);
            continue;
        }
        sum = sums ? sum + value : value;
        times[used] = now, offsets[used] = TV_NO_OFFSET, values[used++] = sum;
        tv_profile_reach(&file->profile, now);
    }
    struct tv_counter counter = {
        .name = name,
        .category = own != TV_EMPTY_STRING ? own : category,
        .process = tv_firefox_process(file, pid, (struct tv_bytes){NULL, 0}),
        .input = file->profile.input,
        .series_count = 1,
        .sample_count = (uint32_t)used,
        .facts = {.unit = tv_firefox_string_at(file, members[COUNTERS_UNIT].offset),
                  .description = tv_firefox_string_at(file, members[COUNTERS_DESCRIPTION].offset)}};
    if (used > 0)
        tv_tables_add_counter(&trace->tables, &counter, &series, times, offsets, values);
    tv_free(times);
    tv_free(offsets);
    tv_free(values);
}

void tv_firefox_read_counters(struct tv_firefox *file, uint64_t offset)
{
    struct tv_json_member members[COUNTERS_MEMBERS];
    struct tv_json_stream stream;
    struct tv_firefox_column columns[COUNTER_COLUMNS] = {{0}};
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    for (size_t i = 0; i < COUNTERS_MEMBERS; i++)
        members[i].key = counter_keys[i];
    while (tv_json_take_element(&stream)) {
        if (!tv_json_find_members(&stream, members, COUNTERS_MEMBERS))
            continue;
        tv_firefox_read_table(file, firefox_counter_table(file, members), columns, counter_columns,
                              COUNTER_COLUMNS);
        firefox_add_counter(file, members, columns);
    }
    tv_firefox_release_table(columns, COUNTER_COLUMNS);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* markers.c - the markers of a thread in a Firefox profile. */
#include "readers/firefox/firefox.h"

#include "base/bytes.h"

enum {
    MARKER_NAME,
    MARKER_TIME,
    MARKER_START,
    MARKER_END,
    MARKER_PHASE,
    MARKER_CATEGORY,
    MARKER_DATA,
    MARKER_COLUMNS
};
static const struct tv_firefox_column marker_columns[MARKER_COLUMNS] = {
    [MARKER_NAME] = TV_FIREFOX_COLUMN("name", INTEGER),
    [MARKER_TIME] = TV_FIREFOX_COLUMN("time", MS),
    [MARKER_START] = TV_FIREFOX_COLUMN("startTime", MS),
    [MARKER_END] = TV_FIREFOX_COLUMN("endTime", MS),
    [MARKER_PHASE] = TV_FIREFOX_COLUMN("phase", INTEGER),
    [MARKER_CATEGORY] = TV_FIREFOX_COLUMN("category", INTEGER),
    [MARKER_DATA] = TV_FIREFOX_COLUMN("data", OFFSET),
};

enum { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

/* A marker while it is read. */
struct firefox_marker {
    int64_t start, end; /* nanoseconds of its process, or TV_FIREFOX_ABSENT */
    int64_t phase;
    uint64_t offset;
    uint32_t frame;
};

/* Old markers have one time; their data may tell the rest. */
static void firefox_complete_marker(struct tv_firefox *file, struct firefox_marker *marker)
{
    struct tv_json_member members[] = {{"startTime", 0}, {"endTime", 0}, {"interval", 0}};
    struct tv_json_stream stream;
    marker->phase = PHASE_INSTANT;
    if (!tv_firefox_at(file, marker->offset, &stream) ||
        !tv_json_find_members(&stream, members, TV_COUNT(members)))
        return;
    int64_t start = tv_firefox_ms_at(file, members[0].offset);
    int64_t end = tv_firefox_ms_at(file, members[1].offset);
    if (start != TV_FIREFOX_ABSENT && end != TV_FIREFOX_ABSENT) {
        marker->start = start, marker->end = end;
        marker->phase = PHASE_INTERVAL;
    } else if (tv_firefox_at(file, members[2].offset, &stream)) {
        struct tv_bytes side = tv_firefox_take_text(file, &stream);
        marker->end = marker->start;
        if (tv_bytes_equal(side, TV_BYTES("start")))
            marker->phase = PHASE_START;
        else if (tv_bytes_equal(side, TV_BYTES("end")))
            marker->phase = PHASE_END;
    }
}

/*
 * The old developer tools moved the samples of a recording to its start, and their own list of
 * markers as well, but not the markers inside of the profile, which count from the start of the
 * process.  Both lists have every garbage collection of the thread, so the first one tells by how
 * much the markers of the profile are late.
 */
static void firefox_note_collection(struct tv_firefox_collections *collections, int64_t start)
{
    if (start == TV_FIREFOX_ABSENT)
        return;
    if (collections->count++ == 0)
        collections->first = start;
}

void tv_firefox_read_recording(struct tv_firefox *file, uint64_t offset)
{
    struct tv_json_member members[] = {{"name", 0}, {"start", 0}};
    struct tv_json_stream stream, name;
    file->recorded = (struct tv_firefox_collections){.count = 0};
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream))
        if (tv_json_find_members(&stream, members, TV_COUNT(members)) &&
            tv_firefox_at(file, members[0].offset, &name) &&
            tv_bytes_equal(tv_firefox_take_text(file, &name), TV_BYTES("MinorGC")))
            firefox_note_collection(&file->recorded, tv_firefox_ms_at(file, members[1].offset));
}

/* Return the shift of a thread's markers in a recording; 0 if the lists do not agree. */
static int64_t firefox_find_marker_shift(struct tv_firefox *file,
                                         const struct tv_firefox_thread *thread,
                                         const struct tv_firefox_column *columns)
{
    struct tv_firefox_collections own = {.count = 0};
    if (file->recorded.count == 0)
        return 0;
    for (size_t i = 0; i < columns[MARKER_NAME].count; i++) {
        uint32_t name = tv_firefox_number(&thread->stacks->strings, columns[MARKER_NAME].rows[i],
                                          TV_EMPTY_STRING);
        if (tv_bytes_equal(tv_trace_info_text(file->profile.info, name), TV_BYTES("GCMinor"))) {
            int64_t data = tv_firefox_value(&columns[MARKER_DATA], (int64_t)i);
            struct firefox_marker marker = {
                .start = tv_firefox_value(&columns[MARKER_TIME], (int64_t)i),
                .offset = data == TV_FIREFOX_ABSENT ? TV_NO_OFFSET : (uint64_t)data};
            firefox_complete_marker(file, &marker);
            firefox_note_collection(&own, marker.start);
        }
    }
    return own.count == file->recorded.count ? tv_move_add(file->recorded.first, -own.first) : 0;
}

/* Add a marker: an instant, or an interval, whose two ends may also be two markers that the
 * assembly pairs.  A marker without the time that its phase needs is counted and skipped. */
static void firefox_add_marker(struct tv_firefox *file, uint32_t thread,
                               const struct firefox_marker *marker)
{
    int64_t move = tv_move_add(file->start - file->base, file->marker_shift);
    int64_t time = marker->phase == PHASE_END ? marker->end : marker->start;
    if (time == TV_FIREFOX_ABSENT || marker->phase < PHASE_INSTANT || marker->phase > PHASE_END ||
        (marker->phase == PHASE_INTERVAL && marker->end == TV_FIREFOX_ABSENT)) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_EVENT, marker->offset);
        return;
    }
    time = tv_move_add(time, move);
    if (marker->phase == PHASE_INSTANT) {
        struct tv_instant instant = {.time = time,
                                     .offset = marker->offset,
                                     .frame = marker->frame,
                                     .of = thread,
                                     .scope = TV_SCOPE_THREAD};
        tv_profile_add_instant(&file->profile, instant);
        return;
    }
    struct tv_span span = {.time = time,
                           .length = TV_NO_TIME,
                           .offset = marker->offset & TV_OFFSET_MASK,
                           .flags = marker->phase == PHASE_START ? TV_SPAN_BEGIN : TV_SPAN_END,
                           .frame = marker->frame};
    if (marker->phase == PHASE_INTERVAL) {
        int64_t end = tv_move_add(marker->end, move);
        span.flags = TV_SPAN_WHOLE;
        span.length = end > time ? end - time : 0;
        if (end < time)
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_NEGATIVE_DURATION, marker->offset);
    }
    tv_profile_add_slice(&file->profile, thread, &span);
}

void tv_firefox_read_markers(struct tv_firefox *file, const struct tv_firefox_thread *thread,
                             uint64_t offset)
{
    struct tv_firefox_column columns[MARKER_COLUMNS] = {{0}};
    struct tv_profile_input *profile = &file->profile;
    tv_firefox_read_table(file, offset, columns, marker_columns, MARKER_COLUMNS);
    size_t count = columns[MARKER_NAME].count;
    file->marker_shift = firefox_find_marker_shift(file, thread, columns);
    for (size_t i = 0; i < count; i++) {
        int64_t row = (int64_t)i, name = columns[MARKER_NAME].rows[i];
        int64_t data = tv_firefox_value(&columns[MARKER_DATA], row);
        struct tv_frame frame = {
            .name = tv_firefox_number(&thread->stacks->strings, name, TV_EMPTY_STRING),
            .category = tv_firefox_number(&file->categories,
                                          tv_firefox_value(&columns[MARKER_CATEGORY], row),
                                          TV_EMPTY_STRING)};
        struct firefox_marker marker = {.start = tv_firefox_value(&columns[MARKER_START], row),
                                        .end = tv_firefox_value(&columns[MARKER_END], row),
                                        .phase = tv_firefox_value(&columns[MARKER_PHASE], row),
                                        .offset =
                                            data == TV_FIREFOX_ABSENT ? offset : (uint64_t)data,
                                        .frame = tv_trace_info_add_frame(profile->info, &frame)};
        if (marker.phase == TV_FIREFOX_ABSENT) {
            marker.start = tv_firefox_value(&columns[MARKER_TIME], row);
            firefox_complete_marker(file, &marker);
        }
        firefox_add_marker(file, thread->number, &marker);
    }
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, TV_BYTES("markers")), count);
    tv_firefox_release_table(columns, MARKER_COLUMNS);
}

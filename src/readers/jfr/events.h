/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - the events of a recording into the trace.
 */
#ifndef TV_READERS_JFR_EVENTS_H
#define TV_READERS_JFR_EVENTS_H

#include "readers/jfr/names.h"
#include "readers/jfr/scan.h"

/* A counter that grows while events are read. */
struct tv_jfr_counter {
    const struct tv_jfr_event_kind *kind;
    uint32_t name, category, process; /* strings, and a process */
    unsigned series_count;
    const char *unit; /* unit of all series; NULL: unknown */
    tv_ns *times;
    uint64_t *offsets;
    double *values;
    size_t count, time_capacity, offset_capacity, value_capacity;
};

/* Sampling interval that a setting tells of an event type. */
struct tv_jfr_interval {
    uint32_t name; /* string */
    tv_ns interval;
};

/* A JVM whose chunks are in the recording. */
struct tv_jfr_jvm {
    int64_t pid, started_ms;
    uint32_t process;
};

struct tv_jfr_recording {
    struct tv_profile_input *profile;
    const struct tv_progress *progress; /* or NULL */
    struct tv_jfr_names names;
    TV_TABLE(tv_jfr_counter) counters;
    TV_TABLE(tv_jfr_interval) intervals;
    TV_TABLE(tv_jfr_jvm) jvms;
    struct tv_map counter_places; /* process << 32 | name -> counter */
    struct tv_map facts;          /* key << 32 | value of metadata -> 0: told already */
    struct tv_map tracks;         /* process << 32 | name -> thread that is a line */
};

void tv_jfr_recording_init(struct tv_jfr_recording *recording, struct tv_profile_input *profile,
                           const struct tv_progress *progress);

/* Add what all chunks together know, and free everything. */
void tv_jfr_recording_finish(struct tv_jfr_recording *recording);

/* Add the events of a chunk that is open and scanned. */
enum tv_status tv_jfr_events_add(struct tv_jfr_recording *recording, struct tv_jfr_chunk *chunk,
                                 struct tv_jfr_scan *scan, struct tv_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - a recording into the trace: names from the constants of each chunk, then its events.
 */
#ifndef TV_READERS_JFR_EVENTS_H
#define TV_READERS_JFR_EVENTS_H

#include "model/trace.h"
#include "readers/jfr/scan.h"
#include "readers/jfr/stacks.h"
#include "readers/profile_input.h"

/* ---- names.c ----
 *
 * Frames, threads, stacks and texts of the trace from the constants of a chunk.
 *
 * Each constant is translated once: its number stays in tv_jfr_constant.made.
 */

/* A stack as paths of the trace. */
struct tv_jfr_stack {
    uint32_t path, line_path;
    bool cut; /* the recorder kept no more frames */
};

struct tv_jfr_names {
    struct tv_profile_input *profile;
    /* For all chunks: */
    struct tv_map line_frames; /* frame << 32 | line -> the frame at that line */
    struct tv_map threads;     /* process << 32 | number of the key -> thread */
    struct tv_map thread_keys; /* id, with bit 63 for those of the operating system -> number */
    uint32_t unnamed;          /* virtual threads without a name so far */
    uint32_t *frames;          /* frames of the stack that is being read, from the leaf */
    uint32_t *frames_at_lines;
    size_t depth, capacity, line_capacity;
    /* For this chunk: */
    struct tv_jfr_chunk *chunk;
    uint32_t process;
    struct tv_jfr_program stack, frame;
    const struct tv_jfr_stack_nodes *nodes;
    uint32_t *node_paths;              /* by node; 0: not known yet */
    uint32_t frame_type;               /* the type jdk.types.StackFrame, or TV_NONE */
    const struct tv_jfr_field *method; /* field of a frame; NULL: it has none */
};

void tv_jfr_names_init(struct tv_jfr_names *names, struct tv_profile_input *profile);
void tv_jfr_names_release(struct tv_jfr_names *names);

/* Turn to the constants of another chunk, of a process; `nodes` are of some of its stacks. */
void tv_jfr_names_enter(struct tv_jfr_names *names, struct tv_jfr_chunk *chunk,
                        const struct tv_jfr_stack_nodes *nodes, uint32_t process);
void tv_jfr_names_leave(struct tv_jfr_names *names);

/* Return the thread with a key in the constants of a type; TV_NONE for none. */
uint32_t tv_jfr_names_thread(struct tv_jfr_names *names, uint32_t type, uint64_t key,
                             uint64_t offset);

/* Return the stack with a key; no stack is the root. */
struct tv_jfr_stack tv_jfr_names_stack(struct tv_jfr_names *names, uint32_t type, uint64_t key,
                                       uint64_t offset);

/* Return the path of a node, adding it if needed; TV_NONE: a method has no frame yet, and needs one
 * as tv_jfr_names_stack makes it. */
uint32_t tv_jfr_names_node_path(struct tv_jfr_names *names, uint32_t node);

/* Return the text of any value, as a string of the trace. */
uint32_t tv_jfr_names_text(struct tv_jfr_names *names, const struct tv_jfr_value *value);

/* ---- events.c ----
 *
 * The events of a recording into the trace.
 */

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

/* ---- describe.c ----
 *
 * The fields of one event of a recording, read again from the file.
 */

/* Write the event at an offset as one JSON object; `end_offset` has no meaning here. */
enum tv_status tv_jfr_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                               uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif

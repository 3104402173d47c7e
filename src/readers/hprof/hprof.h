/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof.h - the reader of CPU profiles in hprof files, as text or binary, by the JDK's hprof agent
 * (up to JDK 8) and Android's SamplingProfiler.  docs/formats/hprof.md describes the format.
 *
 * Such a file has stacks with their numbers of samples, for each thread or for all together, but
 * neither the time of a sample nor the sampling interval: each row of its table is a sample without
 * a time.  A profile in milliseconds (cpu=times) has sums of time instead of numbers of samples.
 */
#ifndef TV_READERS_HPROF_HPROF_H
#define TV_READERS_HPROF_HPROF_H

#include "base/map.h"
#include "readers/profile_input.h"
#include "readers/reader.h"

extern const struct tv_reader tv_reader_hprof;

/* Tables that the text form and the binary form share: threads, stacks ("traces") and samples,
 * collected from anywhere in the file. */

/* A frame of the trace info, and the line in it; 0: unknown. */
struct tv_hprof_frame {
    uint32_t frame;
    int32_t line;
};

/* A stack; its frames are in hprof->frames, the innermost first. */
struct tv_hprof_stack {
    uint64_t offset;
    uint32_t thread; /* thread of the head; TV_NONE: not in the file */
    uint32_t depth;
    size_t first;
};

struct tv_hprof_row {
    uint64_t stack; /* number of the stack in the file */
    uint64_t offset;
    uint64_t weight; /* number of samples, or nanoseconds */
    uint32_t leaf;   /* string: the innermost method as the row has it; may be empty */
};

struct tv_hprof {
    struct tv_profile_input profile;
    struct tv_source *source;
    struct tv_trace_info *head;   /* that of the profile */
    struct tv_progress *progress; /* or NULL */
    uint32_t input;
    uint32_t process;
    struct tv_map threads; /* number in the file -> thread of the head */
    struct tv_map numbers; /* numbers of a stack in the file -> index in `stacks` */
    struct tv_hprof_stack *stacks;
    uint32_t stack_count;
    size_t stack_capacity;
    struct tv_hprof_frame *frames;
    size_t frame_count, frame_capacity;
    struct tv_hprof_row *rows; /* rows of the last table of the file */
    size_t row_count, row_capacity;
    bool has_table;
    bool times; /* the weights are times, not counts of samples */
    bool heap;  /* the file has a heap dump, which is skipped */
};

/* Return the thread with a number; a new one is unlisted. */
uint32_t tv_hprof_thread(struct tv_hprof *hprof, uint64_t number, uint64_t offset);

/* Add a listed thread with its name and group. If the number exists, its name changes. */
void tv_hprof_list_thread(struct tv_hprof *hprof, uint64_t number, struct tv_bytes name,
                          struct tv_bytes group, uint64_t offset);

/* Begin a stack, to which the next frames are added. It replaces a stack with the same number. */
void tv_hprof_begin_stack(struct tv_hprof *hprof, uint64_t number, uint32_t thread,
                          uint64_t offset);
void tv_hprof_add_frame(struct tv_hprof *hprof, struct tv_hprof_frame frame);

/* Begin the table of samples. The rows of an earlier table are dropped, with a diagnostic. */
void tv_hprof_begin_table(struct tv_hprof *hprof, bool times, uint64_t offset);
void tv_hprof_add_row(struct tv_hprof *hprof, const struct tv_hprof_row *row);

static inline void tv_hprof_diagnose(struct tv_hprof *hprof, enum tv_diagnostic_kind kind,
                                     uint64_t offset)
{
    tv_diagnostics_add(&hprof->head->diagnostics, kind, offset);
}

/* Return the version after "JAVA PROFILE ": "1.0.1". */
struct tv_bytes tv_hprof_version(struct tv_bytes head);

/* Read the whole source into the tables above. */
enum tv_status tv_hprof_read_text(struct tv_hprof *hprof, struct tv_error *err);
enum tv_status tv_hprof_read_binary(struct tv_hprof *hprof, struct tv_error *err);

/* Parse "java.lang.Long.parseLong(Long.java:433)" as a frame. `text` is not empty. (text.c) */
struct tv_hprof_frame tv_hprof_parse_frame(struct tv_hprof *hprof, struct tv_bytes text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - what the text and the binary form of hprof have in common: threads, stacks ("traces")
 * and the table of samples, gathered from anywhere in the file.
 */
#ifndef TV_READERS_HPROF_PARTS_H
#define TV_READERS_HPROF_PARTS_H

#include "base/map.h"
#include "readers/reader.h"

/* A stack: its frames lie in hprof->frames, from where the thread was to the root. */
struct tv_hprof_stack {
    uint64_t offset;
    uint32_t thread; /* of the head; TV_NONE: the file does not say */
    uint32_t depth;
    size_t first;
};

struct tv_hprof_row {
    uint64_t stack; /* its number in the file */
    uint64_t offset;
    tv_ns weight;
    uint32_t leaf; /* string: the method where the thread was, as the row has it; may be empty */
};

struct tv_hprof {
    struct tv_source *source;
    struct tv_trace_info *head;
    struct tv_progress *progress; /* or NULL */
    uint32_t input;
    uint32_t process;
    struct tv_map threads; /* number in the file -> thread of the head */
    struct tv_map numbers; /* of a stack in the file -> index in `stacks` */
    struct tv_hprof_stack *stacks;
    uint32_t stack_count;
    size_t stack_capacity;
    uint32_t *frames;
    size_t frame_count, frame_capacity;
    struct tv_hprof_row *rows; /* the last table of the file */
    size_t row_count, row_capacity;
    bool has_table;
    bool times; /* the weights are times, not counts of samples */
    bool heap;  /* there is a dump of the heap, which is skipped */
};

/* The thread of a number in the file, added when it is new: unlisted then. */
uint32_t tv_hprof_thread(struct tv_hprof *hprof, uint64_t number, uint64_t offset);

/* A thread that the file lists, with its name and group; one of that number has been there: its
 * name changes. */
void tv_hprof_list_thread(struct tv_hprof *hprof, uint64_t number, struct tv_bytes name,
                          struct tv_bytes group, uint64_t offset);

/* Begins a stack, to which frames are added next; one of that number is replaced. */
void tv_hprof_begin_stack(struct tv_hprof *hprof, uint64_t number, uint32_t thread,
                          uint64_t offset);
void tv_hprof_add_frame(struct tv_hprof *hprof, uint32_t frame);

/* Begins the table of samples; what an earlier one held is given up, and that is said. */
void tv_hprof_begin_table(struct tv_hprof *hprof, bool times, uint64_t offset);
void tv_hprof_add_row(struct tv_hprof *hprof, const struct tv_hprof_row *row);

/* Bytes that were gone over; false: it was asked to stop, and *err says so. */
bool tv_hprof_pass(struct tv_hprof *hprof, uint64_t bytes, struct tv_error *err);

static inline void tv_hprof_diagnose(struct tv_hprof *hprof, enum tv_diagnostic_kind kind,
                                     uint64_t offset)
{
    tv_diagnostics_add(&hprof->head->diagnostics, kind, offset);
}

/* What stands between "JAVA PROFILE " and the end of the version: "1.0.1". */
struct tv_bytes tv_hprof_version(struct tv_bytes head);

/* Read the whole source into the tables above. */
enum tv_status tv_hprof_read_text(struct tv_hprof *hprof, struct tv_error *err);
enum tv_status tv_hprof_read_binary(struct tv_hprof *hprof, struct tv_error *err);

/* "java.lang.Long.parseLong(Long.java:433)" as a frame; `text` is not empty.  (text.c) */
uint32_t tv_hprof_frame_of(struct tv_hprof *hprof, struct tv_bytes text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* sample_files_internal.h - what the writers of profiles for other viewers share. */
#ifndef TV_WRITERS_TRACE_SAMPLE_FILES_INTERNAL_H
#define TV_WRITERS_TRACE_SAMPLE_FILES_INTERNAL_H

#include "writers/text/names.h"
#include "writers/trace/sample_files.h"

/* The selected samples of one thread and value type, in order of time. */
struct sample_group {
    size_t first, count; /* in `order` */
    uint32_t thread, type;
};

struct sample_file {
    struct tv_out *out;
    const struct tv_trace *trace;
    const struct tv_subset *keep;
    struct tv_sample_file_losses *losses;
    uint32_t *order; /* [order_count] selected samples, by thread, type and time */
    size_t order_count;
    struct sample_group *groups;
    size_t group_count, group_capacity;
    struct tv_firefox_threads threads; /* threads that were begun */
    bool *shared_names; /* [threads] in a format without ids: another thread has the same name */
    bool lines;         /* stacks are written with the sampled line of each frame */
    uint32_t *numbers;  /* numbers of the written frames or paths; TV_NONE: not written */
};

/* Return a sample by its position in `order`. */
const struct tv_sample *tv_sample_file_row(const struct sample_file *file, size_t at);

/* Return true when the thread is selected; no thread belongs to no selection. */
bool tv_sample_file_has_thread(const struct sample_file *file, uint32_t thread);

/* Return a text of the trace. */
struct tv_bytes tv_sample_file_text(const struct sample_file *file, uint32_t string);

/* Return the value type of a group. */
const struct tv_value_type *tv_sample_group_type(const struct sample_file *file,
                                                 const struct sample_group *group);

/* Return the kind of unit that the weights of a group have.  Times are written in nanoseconds, and
 * sizes in bytes: *times is what they are multiplied by. */
enum tv_unit_kind tv_sample_group_unit(const struct sample_file *file,
                                       const struct sample_group *group, int64_t *times);

/* Write the name of a thread as a JSON string, with the value type when the thread has several. */
void tv_sample_file_write_name(const struct sample_file *file, uint32_t thread,
                               const struct sample_group *group);

/* Write the members with the name of a group's value type and the unit that is written. */
void tv_sample_file_write_type(const struct sample_file *file, const struct sample_group *group);

/* Return true for a track of calls of a selected thread. */
bool tv_sample_file_has_track(const struct sample_file *file, const struct tv_track *track);

/* Number the paths that stacks of [first, first + count) contain, in `numbers`; parents come before
 * children.  Return how many there are. */
uint32_t tv_sample_file_number_paths(struct sample_file *file, size_t first, size_t count);

/* Write a processed profile of Firefox: what threads share, then a thread for each group of samples
 * and for each track with slices. */
void tv_firefox_file_write(struct sample_file *file);

#endif

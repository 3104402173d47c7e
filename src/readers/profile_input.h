/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_input.h - what the readers of profiles share: one input of a trace, whose samples, slices
 * and instants may come in any order.
 *
 *     reader --> stack (frames with lines, from the root) --.
 *            --> value types, threads ----------------------+--> samples --> tables
 *            --> slices --> assembly --> rows of the threads
 *
 * A trace may be wanted for the sums of its samples alone (tv_builder_sum_samples): then they go
 * into these instead of a row each.
 *
 * A reader begins the input, adds to it, and ends it.  Times are nanoseconds on the clock of the
 * file; the first one becomes the origin.  Samples without times lie one after another for each
 * thread and value type, each as wide as its weight (tv_input.weight_axis).
 */
#ifndef TV_READERS_PROFILE_INPUT_H
#define TV_READERS_PROFILE_INPUT_H

#include "base/map.h"
#include "model/assembly/assembly.h"
#include "readers/reader.h"

struct tv_profile_input {
    struct tv_trace *trace;
    struct tv_trace_info *info;
    uint32_t input; /* number of the input */
    struct tv_assembly *assembly;
    struct tv_gather *gather;
    struct tv_map processes;  /* pid -> process */
    struct tv_map thread_ids; /* tid -> a number, which with the process is a key of `threads` */
    struct tv_map threads;
    struct tv_map named_threads;  /* process << 32 | name -> thread without an id */
    struct tv_map gather_threads; /* thread -> its number in the gather */
    uint32_t *gathered;           /* the reverse */
    size_t gathered_count, gathered_capacity;
    struct tv_map places; /* thread << 32 | value type -> place in `ends` */
    tv_ns *ends;          /* of the last sample without a time */
    size_t end_count, end_capacity;
    tv_ns first, last;        /* first > last: nothing has a time */
    bool built;               /* the rows of its threads */
    bool with_lines;          /* false: sampled lines are not asked for, line_path is path */
    uint32_t path, line_path; /* of the stack that is being built */
    size_t depth;
};

/* Deepest stack; deeper ones are cut, with a diagnostic, at their leaf. */
#define TV_PROFILE_DEPTH 16384

/* All bytes of a source, and TV_WINDOW_SLACK zero bytes after them. */
struct tv_profile_text {
    struct tv_bytes bytes;
    uint8_t *data;
    size_t size;
};

/* Read a whole source.  After an error there is nothing to release. */
enum tv_status tv_profile_text_read(struct tv_source *source, struct tv_profile_text *text,
                                    struct tv_error *err) TV_MUST_CHECK;
void tv_profile_text_release(struct tv_profile_text *text);

/* Begin an input of that format ("Java Flight Recorder") in the trace of the builder. */
void tv_profile_input_begin(struct tv_profile_input *profile, struct tv_source *source,
                            struct tv_builder *builder, const char *format);

/* Return the string, process, thread, value type or frame, adding it if needed. */
uint32_t tv_profile_string(struct tv_profile_input *profile, struct tv_bytes text);

/* A name that is not empty replaces the one before. */
uint32_t tv_profile_process(struct tv_profile_input *profile, uint64_t pid, struct tv_bytes name);
uint32_t tv_profile_thread(struct tv_profile_input *profile, uint32_t process, uint64_t tid,
                           struct tv_bytes name);

/* Return the thread of a process that is known by its name alone, adding it if needed.  Its id is
 * its number among such threads. */
uint32_t tv_profile_named_thread(struct tv_profile_input *profile, uint32_t process,
                                 struct tv_bytes name);

/* Return the value type of a name and a unit, adding it if needed. */
uint32_t tv_profile_value_type(struct tv_profile_input *profile, struct tv_bytes name,
                               struct tv_bytes unit);

/* Return the value type "samples", whose weights are numbers of samples. */
uint32_t tv_profile_count_type(struct tv_profile_input *profile);

/* Return a weight, at most TV_MOVE_MAX: a larger one is diagnosed. */
int64_t tv_profile_fit_weight(struct tv_profile_input *profile, uint64_t weight, uint64_t offset);

/* Build a stack from the root to the leaf.  `frame` is a function, without a sampled line; `line`
 * is the sampled line in it, 0 when it is unknown. */
void tv_profile_stack_begin(struct tv_profile_input *profile);
void tv_profile_stack_push(struct tv_profile_input *profile, uint32_t frame, int32_t line);

/* Return the frame of a function at a sampled line. */
uint32_t tv_profile_line_frame(struct tv_profile_input *profile, uint32_t function, int32_t line);

/* Add a sample with the stack that was built last (none after tv_profile_stack_begin), or, with the
 * function below, with paths that were taken from profile->path and line_path before.  Readers set
 * time (unless the axis is weight), weight, offset, thread, cpu and type. */
void tv_profile_add_sample(struct tv_profile_input *profile, struct tv_sample sample);
void tv_profile_add_sample_at(struct tv_profile_input *profile, struct tv_sample sample,
                              uint32_t path, uint32_t line_path);

/* Add a slice to a thread; slices that do not nest go to further rows. */
void tv_profile_add_slice(struct tv_profile_input *profile, uint32_t thread,
                          const struct tv_span *span);

/* Add an instant; its scope, owner and frame are set by the reader. */
void tv_profile_add_instant(struct tv_profile_input *profile, struct tv_instant instant);

/* Let the input reach to a time. */
void tv_profile_reach(struct tv_profile_input *profile, tv_ns time);

/* Count a diagnostic of the input. */
void tv_profile_warn(struct tv_profile_input *profile, enum tv_diagnostic_kind kind,
                     uint64_t offset);

/* Build the rows of its threads, before tv_profile_input_end does: for a reader that adds tracks to
 * profile->assembly, or looks for slices.  Nothing else may be added afterwards. */
void tv_profile_input_build_rows(struct tv_profile_input *profile,
                                 const struct tv_read_options *options);

/* Finish the input: build the rows of its threads if they are not yet.  Release what it used, also
 * after an error of the reader: what was added stays. */
void tv_profile_input_end(struct tv_profile_input *profile, const struct tv_read_options *options);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_labels.h - labels of pprof samples, and attributes of OpenTelemetry's: which of them name
 * threads, processors and times.  Labels of pprof are arguments when somebody looks at a sample.
 */
#ifndef TV_READERS_PPROF_SAMPLE_LABELS_H
#define TV_READERS_PPROF_SAMPLE_LABELS_H

#include "readers/profile_input.h"

/* tv_input.format of pprof inputs. */
#define TV_SAMPLE_LABELS_FORMAT "pprof profile"

/* Meaning of a label by its key. */
enum tv_label_role {
    TV_LABEL_OTHER,
    TV_LABEL_THREAD_NAME,
    TV_LABEL_THREAD_ID,
    TV_LABEL_PROCESS_NAME,
    TV_LABEL_PROCESS_ID,
    TV_LABEL_CPU,
    TV_LABEL_END_TIME,
};

/* Return what labels with a key say. */
enum tv_label_role tv_label_find_role(struct tv_bytes key);

struct tv_sample_labels {
    const struct tv_bytes *strings; /* of the file; not owned */
    size_t string_count;
    uint8_t *roles; /* per string: enum tv_label_role of a label with that key; NULL: none */
    bool has_times; /* a key is "end_timestamp_ns" */
    struct tv_map unnamed_threads; /* process -> thread of samples that name none */
    /* For the current sample: */
    uint64_t tid, pid;
    struct tv_bytes name, process; /* empty: none */
    uint32_t cpu;                  /* TV_NONE: unknown */
    tv_ns end_time;
    bool has_tid, timed;
    uint64_t last_key[4]; /* tid, pid, name and process of the sample before, and its thread */
    uint32_t last_thread;
};

/* Find the keys that have a meaning among the strings of a file, which must outlive the labels. */
void tv_sample_labels_init(struct tv_sample_labels *labels, const struct tv_bytes *strings,
                           size_t count);
void tv_sample_labels_release(struct tv_sample_labels *labels);

/* Forget the labels of the sample before. */
void tv_sample_labels_begin(struct tv_sample_labels *labels);

/* Take what a label of the current sample says, in text or, when that is empty, as a number. */
void tv_sample_labels_set(struct tv_sample_labels *labels, enum tv_label_role role,
                          struct tv_bytes text, uint64_t number);

/* Take a Label message of the current sample. */
void tv_sample_labels_take(struct tv_sample_labels *labels, struct tv_bytes message);

/* Return the thread that the labels of the current sample name, or the one for all others. */
uint32_t tv_sample_labels_thread(struct tv_sample_labels *labels, struct tv_profile_input *profile);

/* A label of pprof. */
struct tv_sample_label {
    struct tv_bytes key, text,
        unit; /* `text` is empty: the label is a number, with a unit or not */
    int64_t number;
};

/* Read the sample at an offset of a pprof input again, and call `take` for each of its labels, in
 * the order of the file. */
enum tv_status tv_sample_labels_read(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                     void (*take)(void *context,
                                                  const struct tv_sample_label *label),
                                     void *context, struct tv_error *err) TV_MUST_CHECK;

/* Read the labels and values of the sample at an offset again. */
enum tv_status tv_sample_labels_describe(const struct tv_trace *trace, uint32_t input,
                                         uint64_t offset, uint64_t end_offset, struct tv_out *out,
                                         struct tv_error *err);

#endif

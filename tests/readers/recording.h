/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - a sink that keeps all events, for tests of readers, and prints what a reader made
 * of an input.  Readers of samples build a trace instead.
 */
#ifndef TV_TESTS_RECORDING_H
#define TV_TESTS_RECORDING_H

#include "base/out.h"
#include "model/trace.h"
#include "readers/reader.h"

struct recorded {
    uint64_t offset;
    struct tv_event event;
};

struct recording {
    struct tv_sink sink;
    struct tv_sink_ops ops;
    struct tv_trace_info *head;
    struct tv_trace *trace; /* of a reader that builds one: it owns `head`; else NULL */
    enum tv_status status;
    struct tv_error error;
    unsigned parts; /* of the last begin */
    unsigned begins;
    unsigned passes_differ; /* the second pass brought other events */
    struct recorded_part {
        struct recorded *events;
        size_t count, capacity;
        size_t again; /* events of the second pass so far */
    } * part;
};

enum recording_style {
    RECORDING_PLAIN,
    RECORDING_WRITES,   /* a sink that cannot start afresh */
    RECORDING_AT_ONCE,  /* the same, with a head of what is listed */
    RECORDING_AT_LAST,  /* the same, when all was looked over */
    RECORDING_TWO_PASS, /* a sink that wants everything twice */
};

/* Reads the source.  `starts` as in struct tv_read_options. */
struct recording *recording_read(struct tv_source *source, unsigned parts, const uint64_t *starts,
                                 enum recording_style style);
void recording_free(struct recording *recording);

size_t recording_count(const struct recording *recording);

/* Return the events of all chunks, one after the other, and their number in *count. Free them
 * with tv_free. */
struct recorded *recording_all(const struct recording *recording, size_t *count);

/* The head, the events or samples, and the diagnostics as lines, or the error. */
void recording_print(const struct recording *recording, struct tv_out *out);

/* The same with each thread's events for themselves, in which readings in different parts must
 * agree. */
void recording_print_by_thread(const struct recording *recording, struct tv_out *out);

#endif
